"""A table column by column, as readers hand it on."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import MISSING, number, pointed, shown

Entries = Sequence[str] | NDArray[Any]
"""A column: text as in a file, or an array of int64 or of float64, in which NaN is a missing entry."""


@dataclass(frozen=True, eq=False)
class Columns:
    """A table column by column.

    Parameters
    ----------
    where : str
        How sentences call the table.
    names : tuple[str, ...]
        Of the columns.
    entries : tuple[Entries, ...]
        As many columns.
    unit, numbers
        How sentences call the rows: "line" 7, or "row" 3.
    header : bool | None
        Whether the names are the first row of a text; None of what is no text.
    in_python : bool
        Whether the table can only come from Python, so that options are keyword
        arguments.
    decimal : str
        The decimal point of text.
    na : tuple[str, ...]
        The words that stand for a missing entry, in lower case.
    notes : tuple[str, ...]
        How the text was read.
    """

    where: str
    names: tuple[str, ...]
    entries: tuple[Entries, ...]
    unit: str
    numbers: Sequence[int]
    header: bool | None = None
    in_python: bool = False
    decimal: str = "."
    na: tuple[str, ...] = MISSING
    notes: tuple[str, ...] = ()

    def number(self, text: str) -> float | None:
        """The number that an entry is, or None."""
        return number(pointed(text) if self.decimal == "," else text)

    def gaps(self, at: int) -> NDArray[np.bool_]:
        """Which entries of a column are missing, (m,): NaN, one of the words, or a number that is one of them."""
        entries = self.entries[at]
        values = [
            value
            for word in self.na
            if (value := self.number(word)) is not None and not math.isnan(value)
        ]
        if isinstance(entries, np.ndarray):
            missing = np.isnan(entries)
            return np.asarray(missing | np.isin(entries, values) if values else missing)
        absent = {
            entry
            for entry in set(entries)
            if entry.lower() in self.na or (values and self.number(entry) in values)
        }
        return np.array([entry in absent for entry in entries], dtype=np.bool_)

    def place(self, row: int, column: int) -> str:
        """Where an entry stands, in words."""
        return f"{self.where}, {self.unit} {self.numbers[row]}, column {shown(self.names[column])}"

    def option(self, name: str, value: str) -> str:
        """An option as it is written on the command line, or in Python."""
        if self.in_python:
            return f"{name}={[value]!r}" if name in ("drop", "na") else f"{name}={value!r}"
        return f"--{name} {shlex.quote(value)}"

    def are_words(self, entries: set[str]) -> bool:
        """Return True if there are entries, and none is a number."""
        return bool(entries) and all(self.number(entry) is None for entry in entries)

    def absent_among_words(self, at: int) -> list[str]:
        """Return the entries of a column that stand for missing ones where all others are words, which they might be as well."""
        entries = self.entries[at]
        if isinstance(entries, np.ndarray):
            return []
        absent = {entry for entry, gap in zip(entries, self.gaps(at).tolist(), strict=True) if gap}
        return sorted(absent) if self.are_words(set(entries) - absent) else []
