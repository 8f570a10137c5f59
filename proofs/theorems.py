"""The machine-checked theorems as text: the files of `rocq/`, and where each theorem is stated."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files as resources

FOLDER = resources("equimargin.proofs") / "rocq"
"""Where the files are."""


def names_of_files() -> list[str]:
    """The files, without their ending, in alphabetical order."""
    return sorted(
        path.name.removesuffix(".v") for path in FOLDER.iterdir() if path.name.endswith(".v")
    )


@cache
def read_theory(file: str) -> str:
    """A file as it is.

    Parameters
    ----------
    file : str
        Its name without the ending.
    """
    return (FOLDER / f"{file}.v").read_text(encoding="utf-8")


def without_comments(file: str) -> str:
    """A file without its comments."""
    return re.sub(r"\(\*.*?\*\)", "", read_theory(file), flags=re.DOTALL)


def statement(theorem: str) -> str:
    """A theorem from its name to its proof, in the lines of its file.

    Parameters
    ----------
    theorem : str
        file.name.

    Raises
    ------
    LookupError
        There is no such theorem.
    """
    file, name = theorem.split(".")
    found = re.findall(
        rf"^Theorem ({re.escape(name)}\b.*?)\.\s+Proof\.",
        without_comments(file),
        re.DOTALL | re.MULTILINE,
    )
    if len(found) != 1:
        raise LookupError(f"{len(found)} theorems are called {theorem}")
    return str(found[0])


def find_line(theorem: str) -> int:
    """The line of its file, from 1, in which a theorem begins.

    Parameters
    ----------
    theorem : str
        file.name.
    """
    file, name = theorem.split(".")
    before, found, _ = read_theory(file).partition(f"\nTheorem {name}")
    if not found:
        raise LookupError(f"no theorem is called {theorem}")
    return before.count("\n") + 2
