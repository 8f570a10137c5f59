"""The checker that is proved in Coq as a program: extracted to OCaml, compiled once, and kept in the user's cache.

What it accepts is true by `extraction.accepted_sound`, if Coq's extraction, the
operations of integers that `rocq/checker/extraction.v` names, OCaml and Zarith do what
they say. `python -m equimargin.proofs.coq` builds it.
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
    run,
)
from equimargin.proofs.coq.theorem import INSTALL
from equimargin.proofs.theorems import FOLDER, read_theory

EXTRACTION = "checker/extraction"
"""The file of `rocq` that writes the program."""
WRITTEN_BY_HAND = ("bigint.ml", "program.ml")
"""Other files, not extracted, in the order that OCaml needs; the extracted ones go between
them.
"""
INSTALL_OCAML = f"{INSTALL} ocaml-findlib libzarith-ocaml-dev"
"""What installs all that the program is made with."""


class CheckerAnswer(Enum):
    """What the program says of a file."""

    ACCEPTED = "accepted"
    """The claim is true."""
    REJECTED = "rejected"
    """The file is read, and its digests are wrong or its claim does not follow from its points."""
    UNREAD = "unread"
    """The file is no certificate that this checker reads."""


def built() -> Path | None:
    """The program of exactly these sources; None if it is not built."""
    within = cache()
    path = None if within is None else within / _name()
    return path if path is not None and path.exists() else None


def build() -> Path:
    """Build the program, or find it built.

    Returns
    -------
    Its path.

    Raises
    ------
    NotProved
        Coq, OCaml or Zarith is missing or refuses, or there is no folder where the
        program can be kept.
    """
    if (there := built()) is not None:
        return there
    within = cache()
    if within is None:
        raise NotProved(
            "there is no folder where the program can be kept; set XDG_CACHE_HOME to one "
            "that can be written"
        )
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
    """What the program says of a file.

    Parameters
    ----------
    program : Path
        Its path, from `built` or `build`.
    certificate : Path
        The file.

    Raises
    ------
    NotProved
        The program gives no answer, as when its memory does not suffice.
    """
    return answers(program, [certificate])[0]


def answers(program: Path, certificates: Sequence[Path]) -> list[CheckerAnswer]:
    """What the program says of files, of which it reads one after the other.

    Parameters
    ----------
    program : Path
        Its path, from `built` or `build`.
    certificates : Sequence[Path]
        The files.

    Raises
    ------
    NotProved
        The program does not answer for each of them.
    """
    try:
        ended = run(
            "the program that is proved",
            [program, *certificates],
            limit=MOST_SECONDS * len(certificates),
        )
    except OSError as reason:
        raise NotProved(
            f"the program that is proved cannot be started: {reason}; delete {program} and "
            f"build it anew"
        ) from None
    said = ended.stdout.split()
    try:
        return [CheckerAnswer(word) for _, word in zip(certificates, said, strict=True)]
    except ValueError:
        why = " ".join(ended.stderr.split())[-300:]
        raise NotProved(
            f"the program that is proved ends with status {ended.returncode}: {why}"
        ) from None


def _name() -> str:
    """The program's name, which changes with its sources and with those of what it checks."""
    sources = [*map(read_theory, needed(EXTRACTION)), *map(_by_hand, WRITTEN_BY_HAND)]
    return f"verified-checker-{hashlib.sha256(''.join(sources).encode()).hexdigest()[:16]}"


def _by_hand(file: str) -> str:
    return (FOLDER / "checker" / file).read_text(encoding="utf-8")


def _ocaml(folder: Path, *files: str) -> None:
    command = [
        "ocamlfind",
        "ocamlopt",
        "-O3",
        "-w",
        "-a",
        "-package",
        "zarith",
        "-linkpkg",
        *files,
        "-o",
        "program",
    ]
    ended = run("OCaml", command, folder)
    if ended.returncode:
        said = " ".join((ended.stdout + ended.stderr).split())[-300:]
        raise NotProved(
            f"OCaml ends with status {ended.returncode}: {said}; what it needs: {INSTALL_OCAML}"
        )
