"""Sparse matrices and vectors of rational numbers, multiplied in integers.

row i of M = integers[i] / units[i]
x = numerators / denominator
(M x)_i = integers[i] . numerators / (units[i] denominator)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

Vector = tuple[Fraction, ...]
"""Vector of rational numbers."""
Row = Mapping[int, Fraction]
"""Row of a matrix: its nonzero entries, by column."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """Sparse matrix of rational numbers.

    Parameters
    ----------
    rows : tuple of Row
        Nonzero entries of each row, by column.
    width : int
        Number of columns.
    """

    rows: tuple[Row, ...]
    width: int

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @cached_property
    def transposed(self) -> Matrix:
        """Transpose of the matrix."""
        columns: list[dict[int, Fraction]] = [{} for _ in range(self.width)]
        for i, row in enumerate(self.rows):
            for j, entry in row.items():
                columns[j][i] = entry
        return Matrix(tuple(columns), self.height)

    @property
    def symmetric(self) -> bool:
        """True if the matrix is square and equal to its transpose."""
        return self.height == self.width and all(
            a == b for a, b in zip(self.rows, self.transposed.rows, strict=True)
        )

    @cached_property
    def integers(self) -> list[tuple[list[tuple[int, int]], int]]:
        """Integers of every row, with columns, and the row's common denominator."""
        result = []
        for row in self.rows:
            unit = lcm(*{entry.denominator for entry in row.values()})
            result.append(
                (
                    [
                        (j, entry.numerator * (unit // entry.denominator))
                        for j, entry in row.items()
                    ],
                    unit,
                )
            )
        return result

    def times(self, x: Sequence[Fraction]) -> list[Fraction]:
        """Return M x.

        Parameters
        ----------
        x : sequence of Fraction
            Vector, of length width.
        """
        numerators, denominator = over_common_denominator(x)
        return [
            Fraction(sum(a * numerators[j] for j, a in entries), unit * denominator)
            for entries, unit in self.integers
        ]

    def part(self, rows: Iterable[int]) -> Matrix:
        """Return the matrix of selected rows, in the given order.

        Parameters
        ----------
        rows : iterable of int
            Row indices.
        """
        return Matrix(tuple(self.rows[i] for i in rows), self.width)


def over_common_denominator(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return rational numbers as integers and their smallest common denominator.

    Parameters
    ----------
    values : sequence of Fraction
        Rational numbers.
    """
    denominator = lcm(*{value.denominator for value in values})
    return [value.numerator * (denominator // value.denominator) for value in values], denominator


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """Return x'y.

    Parameters
    ----------
    x, y : sequence of Fraction
        Vectors of one length.
    """
    (a, over_a), (b, over_b) = over_common_denominator(x), over_common_denominator(y)
    return Fraction(sum(v * w for v, w in zip(a, b, strict=True)), over_a * over_b)


def negative(x: Iterable[Fraction]) -> list[Fraction]:
    """Return -x.

    Parameters
    ----------
    x : iterable of Fraction
        Vector.
    """
    return [-v for v in x]


def mixture(share: Fraction, x: Sequence[Fraction], y: Sequence[Fraction]) -> list[Fraction]:
    """Return (1 - share) x + share y.

    Parameters
    ----------
    share : Fraction
        Coefficient of y.
    x, y : sequence of Fraction
        Vectors of one length.
    """
    return [v + share * (w - v) for v, w in zip(x, y, strict=True)]


def shift_columns(row: Row, places: int) -> Row:
    """Return a row with its entries so many columns further to the right.

    Parameters
    ----------
    row : Row
        Nonzero entries, by column.
    places : int
        Number of columns.
    """
    return {j + places: entry for j, entry in row.items()}
