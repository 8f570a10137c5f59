"""The Coq files of `rocq` that a theorem about a certificate needs, compiled at their first use and kept in the user's cache."""

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
"""Seconds that Coq may take for one file: a certificate of a megabyte takes about one minute by a linear kernel."""
ROOT = "checker/certificate"
"""The file of `rocq` that a theorem needs, with all those that it needs itself."""


class NotProved(Exception):
    """Coq has not checked a theorem, or the program that is proved is not there or gives no answer; the message says why."""


def cache() -> Path | None:
    """The folder of the user's cache; None if there is none that can be written."""
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
        Subject of the sentence if the time is over.
    command : Sequence[str | Path]
        Sequence of str or Path Program and arguments.
    folder : Path, optional
        Where the command runs.
    limit : int, default MOST_SECONDS
        Wall seconds.

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
    """The folder of the compiled files that a theorem needs: in the user's cache where that can be written, compiled at the first time.

    Parameters
    ----------
    announce : callable, optional
        Called with a sentence before they are compiled, which takes minutes.

    Raises
    ------
    NotProved
        Coq does not compile them, as without mathcomp.
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
    """The files of `rocq` that one of them needs, each before those that need it, itself last.

    Parameters
    ----------
    name : str
        The file without its ending.
    """
    found = []
    for folder, names in re.findall(
        r"^From equimargin(\.checker)? Require Import ([\w ]+)\.", read_theory(name), re.MULTILINE
    ):
        for other in names.split():
            found += needed(f"checker/{other}" if folder else other)
    return list(dict.fromkeys([*found, name]))


def coqc(file: Path, compiled: Path) -> str:
    """What Coq says of a file that it accepts.

    Parameters
    ----------
    file : Path
        The Coq file.
    compiled : Path
        The folder of the compiled files that it needs.

    Raises
    ------
    NotProved
        Coq does not accept it, or takes too long.
    """
    command = ["coqc", "-w", "none", "-Q", str(compiled), "equimargin", file.name]
    answer = run("Coq", command, file.parent)
    said = answer.stdout + answer.stderr
    if answer.returncode:
        raise NotProved(
            f"Coq ends with status {answer.returncode}: {' '.join(said.split())[-300:]}"
        )
    return said
