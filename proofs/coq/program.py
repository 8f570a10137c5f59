"""Checker that is proved in Coq, as a program: extracted to OCaml, and compiled once.

The program is stored in the user's cache. A claim that it accepts is true by
`extraction.accepted_sound`, if Coq's extraction, the operations of integers that
`rocq/checker/extraction.v` names, OCaml and Zarith are correct. `python -m
equimargin.proofs.coq` builds it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from equimargin.proofs.coq.compiled import (
    MOST_SECONDS,
    NotProved,
    cache,
    coqc,
    library,
    needed,
    refuse_pipe,
    run,
)
from equimargin.proofs.coq.theorem import INSTALL
from equimargin.proofs.theorems import FOLDER, read_theory

EXTRACTION = "checker/extraction"
"""File of `rocq` from which Coq extracts the OCaml code."""
WRITTEN_BY_HAND = ("bigint.ml", "program.ml")
"""OCaml files that are not extracted: one compiled before, one after the extracted code."""
INSTALL_OCAML = f"{INSTALL} ocaml-findlib libzarith-ocaml-dev"
"""Command that installs all tools of the build."""


class CheckerAnswer(Enum):
    """Answer of the program for a file."""

    ACCEPTED = "accepted"
    """The claim of the certificate is true."""
    REJECTED = "rejected"
    """The certificate has wrong digests, or its claim does not follow from its points."""
    UNREAD = "unread"
    """The file is no certificate that this checker can read."""


def built() -> Path | None:
    """Return the path of the program built from the present sources; None if not built."""
    within = cache()
    path = None if within is None else within / _name()
    return path if path is not None and path.exists() else None


def build() -> Path:
    """Build the program unless it is built, and return its path.

    Raises
    ------
    NotProved
        If Coq, OCaml or Zarith is missing or fails, or the user's cache cannot be
        written.
    """
    if (there := built()) is not None:
        return there
    within = cache()
    if within is None:
        raise NotProved("no folder can store the program; set XDG_CACHE_HOME to a writable folder")
    if missing := [name for name in ("coqc", "ocamlfind") if shutil.which(name) is None]:
        raise NotProved(
            f"there is no {' and no '.join(missing)} to build the program: {INSTALL_OCAML}"
        )
    with tempfile.TemporaryDirectory(dir=within) as name:
        folder = Path(name)
        source = folder / "extraction.v"
        source.write_text(read_theory(EXTRACTION), encoding="utf-8")
        with library() as compiled:
            coqc(source, compiled)
        for file in WRITTEN_BY_HAND:
            (folder / file).write_text(_by_hand(file), encoding="utf-8")
        first, last = WRITTEN_BY_HAND
        _ocaml(folder, first, "verified.mli", "verified.ml", last)
        os.replace(folder / "program", within / _name())
    return within / _name()


def answer(program: Path, certificate: Path) -> CheckerAnswer:
    """Return the answer of the program for a file.

    Parameters
    ----------
    program : Path
        Path of the program, from `built` or `build`.
    certificate : Path
        File to check.

    Raises
    ------
    NotProved
        If the program gives no answer, for example because memory is exhausted.
    """
    return answers(program, [certificate])[0]


def answers(program: Path, certificates: Sequence[Path]) -> list[CheckerAnswer]:
    """Return the answers of the program for files, which it reads one after the other.

    Parameters
    ----------
    program : Path
        Path of the program, from `built` or `build`.
    certificates : sequence of Path
        Files to check.

    Raises
    ------
    NotProved
        If the program does not answer for each of them, or one is no regular file.
    """
    for certificate in certificates:
        refuse_pipe(certificate)
    # The program has a standard input of its own: /dev/stdin is passed as the file behind it.
    files = [certificate.resolve() for certificate in certificates]
    try:
        ended = run(
            "the program that is proved",
            [program, *files],
            limit=MOST_SECONDS * len(files),
        )
    except OSError as reason:
        raise NotProved(
            f"the program that is proved cannot be started: {reason}; delete {program} and "
            f"build it again"
        ) from None
    words = ended.stdout.split()
    try:
        return [CheckerAnswer(word) for _, word in zip(files, words, strict=True)]
    except ValueError:
        why = " ".join(ended.stderr.split())[-300:]
        raise NotProved(
            f"the program that is proved ends with status {ended.returncode}: {why}"
        ) from None


def _name() -> str:
    """Return the file name of the program, with a digest of its sources and their imports."""
    sources = [*map(read_theory, needed(EXTRACTION)), *map(_by_hand, WRITTEN_BY_HAND)]
    return f"verified-checker-{hashlib.sha256(''.join(sources).encode()).hexdigest()[:16]}"


def _by_hand(file: str) -> str:
    return (FOLDER / "checker" / file).read_text(encoding="utf-8")


def _ocaml(folder: Path, *files: str) -> None:
    command = ["ocamlfind", "ocamlopt", "-O3", "-w", "-a", "-package", "zarith", "-linkpkg"]
    ended = run("OCaml", [*command, *files, "-o", "program"], folder)
    if ended.returncode:
        output = " ".join((ended.stdout + ended.stderr).split())[-300:]
        raise NotProved(
            f"OCaml ends with status {ended.returncode}: {output}; what it needs: {INSTALL_OCAML}"
        )
