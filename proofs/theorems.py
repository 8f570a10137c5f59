"""Machine-checked theorems as text: the files of `rocq/`, and the line of each theorem."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files as resources

FOLDER = resources("equimargin.proofs") / "rocq"
"""Folder of the files."""


def names_of_files() -> list[str]:
    """Return the names of the files without their ending, in alphabetical order."""
    return sorted(
        path.name.removesuffix(".v") for path in FOLDER.iterdir() if path.name.endswith(".v")
    )


@cache
def read_theory(file: str) -> str:
    """Return the text of a file.

    Parameters
    ----------
    file : str
        Name of the file without its ending.
    """
    return (FOLDER / f"{file}.v").read_text(encoding="utf-8")


def without_comments(file: str) -> str:
    """Return the text of a file without its comments.

    Parameters
    ----------
    file : str
        Name of the file without its ending.
    """
    return re.sub(r"\(\*.*?\*\)", "", read_theory(file), flags=re.DOTALL)


def statement(theorem: str) -> str:
    """Return a theorem from its name to its proof, in the lines of its file.

    Parameters
    ----------
    theorem : str
        Theorem, as file.name.

    Raises
    ------
    LookupError
        If there is no such theorem.
    """
    file, name = theorem.split(".")
    statements = re.findall(
        rf"^Theorem ({re.escape(name)}\b.*?)\.\s+Proof\.",
        without_comments(file),
        re.DOTALL | re.MULTILINE,
    )
    if len(statements) != 1:
        raise LookupError(f"{len(statements)} theorems are called {theorem}")
    return str(statements[0])


def find_line(theorem: str) -> int:
    """Return the line of its file, from 1, in which a theorem begins.

    Parameters
    ----------
    theorem : str
        Theorem, as file.name.

    Raises
    ------
    LookupError
        If there is no such theorem.
    """
    file, name = theorem.split(".")
    before, match, _ = read_theory(file).partition(f"\nTheorem {name}")
    if not match:
        raise LookupError(f"no theorem is called {theorem}")
    return before.count("\n") + 2
