"""Coq files of `rocq` for theorems about certificates, compiled at their first use.

The compiled files are stored in the user's cache.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from equimargin.proofs.theorems import read_theory

MOST_SECONDS = 1800
"""Maximum seconds of Coq for one file.

A certificate of a megabyte takes about one minute with a linear kernel.
"""
ROOT = "checker/certificate"
"""File of `rocq` that a theorem imports, with its own imports."""


class NotProved(Exception):
    """Coq has not checked a theorem, or a program is missing or has failed.

    The message has the reason.
    """


def refuse_pipe(certificate: Path) -> None:
    """Raise NotProved if a certificate is a pipe, which has been read already.

    Parameters
    ----------
    certificate : Path
        Path of the certificate.
    """
    if certificate.exists() and not certificate.is_file():
        raise NotProved(
            "a pipe can be read only once, and checker.py has read it; write it to a file for a "
            "second checker"
        )


def cache() -> Path | None:
    """Return the folder of the user's cache; None if it cannot be written."""
    # Imported here: this imports numba, which no other function here needs.
    from equimargin.formulations.numeric.jit import cache_directory

    kernels = cache_directory()
    return None if kernels is None else kernels.parent


def run(
    title: str, command: Sequence[str | Path], folder: Path | None = None, limit: int = MOST_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Return the status and the output of a command.

    Parameters
    ----------
    title : str
        Subject of the message if the command takes too long.
    command : sequence of str or Path
        Program and arguments.
    folder : Path, optional
        Folder in which the command runs.
    limit : int, default MOST_SECONDS
        Maximum wall seconds.

    Raises
    ------
    NotProved
        If the command takes longer.
    """
    try:
        return subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        raise NotProved(f"{title} takes longer than {limit:,} seconds") from None


@contextmanager
def library(announce: Callable[[str], object] = lambda said: None) -> Iterator[Path]:
    """Yield the folder of the compiled files that a theorem needs.

    If the user's cache can be written, the files are compiled once and stored in it.

    Parameters
    ----------
    announce : callable, optional
        Called with a sentence before the files are compiled, which takes minutes.

    Raises
    ------
    NotProved
        If Coq does not compile them, for example without mathcomp.
    """
    names = needed(ROOT)
    version = run("Coq", ["coqc", "--version"]).stdout
    digest = hashlib.sha256("".join([version, *map(read_theory, names)]).encode()).hexdigest()[:16]
    within = cache()
    kept = None if within is None else within / f"rocq-{digest}"
    if kept is not None and kept.exists():
        yield kept
        return
    announce(f"building the theorems{', once' if kept else ''}: about two minutes")
    with tempfile.TemporaryDirectory(dir=within) as folder:
        made = Path(folder) / "rocq"
        for name in names:
            file = made / f"{name}.v"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(read_theory(name), encoding="utf-8")
            coqc(file, made)
        if kept is not None:
            # An error means that another process was faster; its folder is complete.
            with suppress(OSError):
                made = made.rename(kept)
        yield made


def needed(name: str) -> list[str]:
    """Return the files of `rocq` that a file needs, in the order of compilation.

    The file itself is the last.

    Parameters
    ----------
    name : str
        Name of the file without suffix.
    """
    files = []
    for folder, names in re.findall(
        r"^From equimargin(\.checker)? Require Import ([\w ]+)\.", read_theory(name), re.MULTILINE
    ):
        for other in names.split():
            files += needed(f"checker/{other}" if folder else other)
    return list(dict.fromkeys([*files, name]))


def coqc(file: Path, compiled: Path) -> str:
    """Compile a Coq file, and return the output of Coq.

    Parameters
    ----------
    file : Path
        Coq file.
    compiled : Path
        Folder of the compiled files that the file imports.

    Raises
    ------
    NotProved
        If Coq does not accept the file, or takes too long.
    """
    command = ["coqc", "-w", "none", "-Q", str(compiled), "equimargin", file.name]
    answer = run("Coq", command, file.parent)
    output = answer.stdout + answer.stderr
    if answer.returncode:
        raise NotProved(
            f"Coq ends with status {answer.returncode}: {' '.join(output.split())[-300:]}"
        )
    return output
