"""Sparse matrices and vectors of rational numbers, multiplied in integers.

row i of M = integers[i] / units[i],   x = numerators / denominator,   (M x)_i = integers[i] . numerators / (units[i] denominator)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

Vector = tuple[Fraction, ...]
"""A vector of rational numbers."""
Row = Mapping[int, Fraction]
"""A row of a matrix: its entries that are not 0, by their columns."""


@dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse matrix of rational numbers.

    Parameters
    ----------
    rows : tuple[Row, ...]
        The entries of each row that are not 0.
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
        """The transposed matrix."""
        columns: list[dict[int, Fraction]] = [{} for _ in range(self.width)]
        for i, row in enumerate(self.rows):
            for j, entry in row.items():
                columns[j][i] = entry
        return Matrix(tuple(columns), self.height)

    @property
    def symmetric(self) -> bool:
        """Whether the matrix is square and equal to its transpose."""
        return self.height == self.width and all(
            a == b for a, b in zip(self.rows, self.transposed.rows, strict=True)
        )

    @cached_property
    def integers(self) -> list[tuple[list[tuple[int, int]], int]]:
        """Every row as integers by their columns, over a unit of its own."""
        found = []
        for row in self.rows:
            unit = lcm(*{entry.denominator for entry in row.values()})
            found.append(
                (
                    [
                        (j, entry.numerator * (unit // entry.denominator))
                        for j, entry in row.items()
                    ],
                    unit,
                )
            )
        return found

    def times(self, x: Sequence[Fraction]) -> list[Fraction]:
        """M x, (height,), for x (width,)."""
        numerators, denominator = over_common_denominator(x)
        return [
            Fraction(sum(a * numerators[j] for j, a in entries), unit * denominator)
            for entries, unit in self.integers
        ]

    def part(self, rows: Iterable[int]) -> Matrix:
        """The matrix of some of the rows, in the given order."""
        return Matrix(tuple(self.rows[i] for i in rows), self.width)


def over_common_denominator(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Integers and their smallest common denominator."""
    denominator = lcm(*{value.denominator for value in values})
    return [value.numerator * (denominator // value.denominator) for value in values], denominator


def dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """x'y."""
    (a, over_a), (b, over_b) = over_common_denominator(x), over_common_denominator(y)
    return Fraction(sum(v * w for v, w in zip(a, b, strict=True)), over_a * over_b)


def negative(x: Iterable[Fraction]) -> list[Fraction]:
    """-x."""
    return [-v for v in x]


def mixture(share: Fraction, x: Sequence[Fraction], y: Sequence[Fraction]) -> list[Fraction]:
    """(1 - share) x + share y."""
    return [v + share * (w - v) for v, w in zip(x, y, strict=True)]
