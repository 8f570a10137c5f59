"""Cell of a sortable table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from equimargin.formulations.numeric.decimals import format_upper


@dataclass(frozen=True)
class Cell:
    """Cell of a sortable table."""

    text: str
    """Text of the cell."""
    key: float | str
    """Sort key, a number or a text; an empty text is always last."""
    kind: str = "figure"
    """"figure", "word", "long" for a sentence, or the agreement or verdict in the cell."""

    @classmethod
    def word(cls, text: str, kind: str = "word") -> Self:
        """Return a cell that is sorted by its text.

        Parameters
        ----------
        text : str
            Text of the cell.
        kind : str, default "word"
            Kind of the cell.

        Returns
        -------
        Cell
            Cell.
        """
        return cls(text, text, kind)

    @classmethod
    def of(cls, value: float | None, form: str) -> Self:
        """Return a cell that is sorted by its figure; empty for None.

        Parameters
        ----------
        value : float or None
            Figure.
        form : str
            Format specification.

        Returns
        -------
        Cell
            Cell.
        """
        return (
            cls("", "")
            if value is None
            else cls(format(value, form), "" if math.isnan(value) else value)
        )

    @classmethod
    def at_most(cls, bound: float | None) -> Self:
        """Return a cell of an upper bound in two digits, rounded up; empty for None.

        Parameters
        ----------
        bound : float or None
            Upper bound.

        Returns
        -------
        Cell
            Cell.
        """
        return cls("", "") if bound is None else cls(format_upper(bound, 2), bound)
