"""Machine-checked theorems as text: the Coq files of `rocq/`, and each theorem's line."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files as resources

FOLDER = resources("equimargin.proofs") / "rocq"
"""Folder of the files."""


def names_of_files() -> list[str]:
    """Return the names of the files without suffix, in alphabetical order."""
    return sorted(
        path.name.removesuffix(".v") for path in FOLDER.iterdir() if path.name.endswith(".v")
    )


@cache
def read_theory(file: str) -> str:
    """Return the text of a file.

    Parameters
    ----------
    file : str
        Name of the file without suffix.
    """
    return (FOLDER / f"{file}.v").read_text(encoding="utf-8")


def without_comments(file: str) -> str:
    """Return the text of a file without its comments.

    Parameters
    ----------
    file : str
        Name of the file without suffix.
    """
    return re.sub(r"\(\*.*?\*\)", "", read_theory(file), flags=re.DOTALL)


def statement(theorem: str) -> str:
    """Return the statement of a theorem from its name on, with the line breaks of the file.

    Parameters
    ----------
    theorem : str
        File without suffix, a dot, and the theorem's name.

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
    """Return the number, counted from 1, of the line in its file where a theorem begins.

    Parameters
    ----------
    theorem : str
        File without suffix, a dot, and the theorem's name.

    Raises
    ------
    LookupError
        If there is no such theorem.
    """
    file, name = theorem.split(".")
    text = read_theory(file)
    match = re.search(rf"^Theorem {re.escape(name)}\b", text, re.MULTILINE)
    if match is None:
        raise LookupError(f"no theorem is called {theorem}")
    return text.count("\n", 0, match.start()) + 1
