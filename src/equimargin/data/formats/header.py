"""Whether the first row of a table holds the names of the columns, or data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from equimargin.data.words import is_finite

YEARS: Final = (1800, 2100)
"""First and last year that is the name of a column."""

MIN_YEARS: Final = 3
"""Years name at least so many columns; two numbers are always in equal steps."""


def has_header(columns: Sequence[tuple[str, ...]], na: Sequence[str]) -> bool | None:
    """Tell names from data by what stands below them; None where that does not tell.

    A word above numbers is a name.  A word that comes again below is a label.  Numbers are names
    (years, wavelengths, doses, places) only where they rise or fall from left to right. Years in
    equal steps are names above columns that hold other numbers than years.

    Parameters
    ----------
    columns : Sequence[tuple[str, ...]]
        Sequence of tuple of str The fields with the first row, decimal points for
        commas.
    na : Sequence[str]
        Sequence of str The words that stand for a missing entry.
    """
    numbers = [column for column in columns if is_finite(column[0])]
    words = [
        column for column in columns if not is_finite(column[0]) and column[0].lower() not in na
    ]
    if len(columns[0]) == 1:
        return len(words) > len(numbers)
    labels = [column for column in words if column[0] in column[1:]]
    names = [
        column for column in words if column[0] not in column[1:] and is_finite(_below(column, na))
    ]
    values = [float(column[0]) for column in numbers]
    ordered = len(set(values)) == len(values) and values in (
        sorted(values),
        sorted(values, reverse=True),
    )
    if len(names) > len(numbers) or (names and ordered and not labels):
        return True
    if (
        not labels
        and are_years(values)
        and not any(all(map(_is_year, _numbers_below(column))) for column in numbers)
    ):
        return True
    if not names:
        # as programs name columns
        counted = len(values) > 1 and values in (
            [float(k + by) for k in range(len(values))] for by in (0, 1)
        )
        missing = len(words) + len(numbers) < len(columns)
        if labels or missing or not ordered or any(len(set(column[1:])) == 1 for column in words):
            return False
        # the one word that stands once
        if words and (counted or all(min(Counter(column[1:]).values()) > 1 for column in words)):
            return True
        if not words and not counted and any(_within(column) for column in numbers):
            return False
    return None


def _below(column: tuple[str, ...], na: Sequence[str]) -> str:
    """The first entry below the first row that is not missing."""
    return next((entry for entry in column[1:] if entry.lower() not in na), "")


def _numbers_below(column: tuple[str, ...]) -> list[float]:
    return [float(entry) for entry in column[1:] if is_finite(entry)]


def _is_year(value: float) -> bool:
    return value % 1 == 0 and YEARS[0] <= value <= YEARS[1]


def are_years(values: Sequence[float]) -> bool:
    """Return True if three numbers or more are years in equal steps."""
    steps = {after - before for before, after in pairwise(values)}
    return (
        len(values) >= MIN_YEARS
        and len(steps) == 1
        and steps != {0.0}
        and all(map(_is_year, values))
    )


def _within(column: tuple[str, ...]) -> bool:
    """Whether the first number is neither smaller nor larger than all below."""
    rest = _numbers_below(column)
    return bool(rest) and min(rest) <= float(column[0]) <= max(rest)
