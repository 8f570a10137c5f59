"""Decision whether the first row of a table holds column names or data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from equimargin.data.words import is_finite

YEARS: Final = (1800, 2100)
"""First and last year that can name a column."""

MIN_YEARS: Final = 3
"""Minimum number of years that name columns; two have only one step."""


def has_header(columns: Sequence[tuple[str, ...]], na: Sequence[str]) -> bool | None:
    """Return True if the first row holds names, False if data, None if undecidable.

    A word above numbers is a name. A word that recurs below is a label. Numbers are
    names (years, wavelengths, doses, places) only if they increase or decrease from
    left to right. Years in equal steps are names above columns that hold numbers other
    than years.

    Parameters
    ----------
    columns : sequence of tuple of str
        Fields including the first row, with decimal points.
    na : sequence of str
        Words for a missing entry.

    Returns
    -------
    bool or None
        Decision.
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
        # Programs name columns 0, 1, ... or 1, 2, ...
        counted = len(values) > 1 and values in (
            [float(k + by) for k in range(len(values))] for by in (0, 1)
        )
        missing = len(words) + len(numbers) < len(columns)
        if labels or missing or not ordered or any(len(set(column[1:])) == 1 for column in words):
            return False
        # A word that occurs once above words that recur is a name.
        if words and (counted or all(min(Counter(column[1:]).values()) > 1 for column in words)):
            return True
        if not words and not counted and any(_within(column) for column in numbers):
            return False
    return None


def _below(column: tuple[str, ...], na: Sequence[str]) -> str:
    """Return the first entry below the first row that is not missing."""
    return next((entry for entry in column[1:] if entry.lower() not in na), "")


def _numbers_below(column: tuple[str, ...]) -> list[float]:
    return [float(entry) for entry in column[1:] if is_finite(entry)]


def _is_year(value: float) -> bool:
    return value % 1 == 0 and YEARS[0] <= value <= YEARS[1]


def are_years(values: Sequence[float]) -> bool:
    """Return True if three numbers or more are years in equal steps.

    Parameters
    ----------
    values : sequence of float
        Numbers of the first row.
    """
    steps = {after - before for before, after in pairwise(values)}
    return (
        len(values) >= MIN_YEARS
        and len(steps) == 1
        and steps != {0.0}
        and all(map(_is_year, values))
    )


def _within(column: tuple[str, ...]) -> bool:
    """Return True if the first number lies between the minimum and maximum of those below."""
    rest = _numbers_below(column)
    return bool(rest) and min(rest) <= float(column[0]) <= max(rest)
