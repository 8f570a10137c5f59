"""Texts and tables in Markdown, as GitHub, GitLab and MyST read them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

SPECIAL = re.compile(r"[\\`*\[\]<|~$&#@]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
"""Characters with a meaning in Markdown, and those before an issue or a user.

An underscore within a word, as in column_generation, is shown.
"""
START = re.compile(r"^(\d*)([-+.)](?:[ +-]|$)|[>%])")
"""Start of a text that would make it a list, a line, a quotation or, in MyST, a comment."""


def escaped(text: str) -> str:
    """Return a text in one line, of which Markdown shows every character.

    Parameters
    ----------
    text : str
        Text, of which spaces and line breaks become one space each.
    """
    return START.sub(r"\1\\\2", SPECIAL.sub(r"\\\g<0>", " ".join(text.split())))


def markdown_text(statement: str, notes: Iterable[str], *tables: str) -> str:
    """Return a statement, tables, and notes as a list.

    Parameters
    ----------
    statement : str
        Sentence above the tables.
    notes : iterable of str
        Sentences below the tables.
    *tables : str
        Tables as Markdown text.
    """
    listed = "".join(f"* {escaped(note)}\n" for note in notes)
    return "\n".join(filter(None, (f"{escaped(statement)}\n", *tables, listed)))


def markdown_table(
    names: Sequence[str], rows: Iterable[Sequence[str]], words: Container[str]
) -> str:
    """Return a table with a header.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    rows : iterable of sequence of str
        Texts of the cells, one per column.
    words : container of str
        Names of the columns of text, on the left; the others have figures, on the right.
    """
    lines = [
        [escaped(name) for name in names],
        ["---" if name in words else "---:" for name in names],
        *([escaped(text) for text in row] for row in rows),
    ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
