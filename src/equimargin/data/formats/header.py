"""Whether the first row of a table holds the names of the columns, or data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from equimargin.data.words import is_finite


def has_header(columns: Sequence[tuple[str, ...]], na: Sequence[str]) -> bool | None:
    """Tell names from data by what stands below them; None where that does not tell.

    columns : the fields with the first row, decimal points for commas.  na : the words that stand for a missing entry.

    A word above numbers is a name.  A word that comes again below is a label.  Numbers are names (years, wavelengths, doses, places) only
    where they rise or fall from left to right.
    """
    numbers = [column for column in columns if is_finite(column[0])]
    words = [column for column in columns if not is_finite(column[0]) and column[0].lower() not in na]
    if len(columns[0]) == 1:
        return len(words) > len(numbers)
    labels = [column for column in words if column[0] in column[1:]]
    names = [column for column in words if column[0] not in column[1:] and is_finite(_below(column, na))]
    values = [float(column[0]) for column in numbers]
    ordered = len(set(values)) == len(values) and values in (sorted(values), sorted(values, reverse=True))
    if len(names) > len(numbers) or (names and ordered and not labels):
        return True
    if not names:
        counted = len(values) > 1 and values in ([float(k + by) for k in range(len(values))] for by in (0, 1))  # as programs name columns
        missing = len(words) + len(numbers) < len(columns)
        if labels or missing or not ordered or any(len(set(column[1:])) == 1 for column in words):
            return False
        if words and (counted or all(min(Counter(column[1:]).values()) > 1 for column in words)):  # the one word that stands once
            return True
        if not words and not counted and any(_within(column) for column in numbers):
            return False
    return None


def _below(column: tuple[str, ...], na: Sequence[str]) -> str:
    """The first entry below the first row that is not missing."""
    return next((entry for entry in column[1:] if entry.lower() not in na), "")


def _within(column: tuple[str, ...]) -> bool:
    """Whether the first number is neither smaller nor larger than all below."""
    rest = [float(entry) for entry in column[1:] if is_finite(entry)]
    return bool(rest) and min(rest) <= float(column[0]) <= max(rest)
