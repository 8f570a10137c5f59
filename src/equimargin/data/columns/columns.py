"""Table column by column, the common result of all readers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.data.words import MISSING, number, pointed, shown

Entries = Sequence[str] | NDArray[Any]
"""Column: text as in a file, or an array of int64, or of float64 with NaN for missing."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Table column by column.

    Parameters
    ----------
    where : str
        Name of the table in messages.
    names : tuple of str
        Names of the columns.
    entries : tuple of Entries
        Entries of the columns.
    unit, numbers : str, sequence of int
        Name and numbers of the rows in messages: "line" 7, or "row" 3.
    header : bool or None
        True if the names are the first row of a text; None for other formats.
    decimal : str
        Decimal point of text.
    na : tuple of str
        Words for a missing entry, in lower case.
    notes : tuple of str
        Sentences on how the text was read.
    orders : mapping of int to tuple of str
        Categories from the lowest to the highest, by index of an ordered column.
    """

    where: str
    names: tuple[str, ...]
    entries: tuple[Entries, ...]
    unit: str
    numbers: Sequence[int]
    header: bool | None = None
    decimal: str = "."
    na: tuple[str, ...] = MISSING
    notes: tuple[str, ...] = ()
    orders: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def number(self, text: str) -> float | None:
        """Parse an entry as a number; None if it is none.

        Parameters
        ----------
        text : str
            Entry of the table.

        Returns
        -------
        float or None
            Number, or None.
        """
        return number(pointed(text) if self.decimal == "," else text)

    def gaps(self, at: int) -> NDArray[np.bool_]:
        """Return a mask of the missing entries of a column.

        An entry is missing if it is NaN, one of the words, or a number equal to one of
        them.

        Parameters
        ----------
        at : int
            Index of the column.

        Returns
        -------
        ndarray of shape (m,)
            True for missing entries.
        """
        entries = self.entries[at]
        # Words that are numbers, such as -999, are compared as numbers.
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
        """Return the position of an entry as text.

        Parameters
        ----------
        row : int
            Index of the row.
        column : int
            Index of the column.

        Returns
        -------
        str
            Table, row and column for a message.
        """
        return f"{self.where}, {self.unit} {self.numbers[row]}, column {shown(self.names[column])}"

    def are_words(self, entries: set[str]) -> bool:
        """Return True if there are entries, and none is a number.

        Parameters
        ----------
        entries : set of str
            Distinct entries of a column.
        """
        return bool(entries) and all(self.number(entry) is None for entry in entries)

    def absent_among_words(self, at: int) -> list[str]:
        """Return the missing entries of a column that otherwise holds words.

        Such an entry, for example none, may be a word, too.

        Parameters
        ----------
        at : int
            Index of the column.

        Returns
        -------
        list of str
            Distinct missing entries, sorted.
        """
        entries = self.entries[at]
        if isinstance(entries, np.ndarray):
            return []
        absent = {entry for entry, gap in zip(entries, self.gaps(at).tolist(), strict=True) if gap}
        return sorted(absent) if self.are_words(set(entries) - absent) else []
