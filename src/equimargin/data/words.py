"""The error of bad data, and how its sentences show numbers, values and lists."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

MISSING: Final = ("", "?", "na", "n/a", "nan", "null", "none", "-", ".")
"""Entries of a table that stand for a missing value in any of its columns, in lower case, unless a list of others is given."""

NUMBER_WITH_COMMA: Final = re.compile(r"[-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?")
"""A field in which a comma may be the decimal point."""

COMMA_FOR_POINT: Final = str.maketrans(",.", ".,")
"""A decimal comma becomes a point, and a point, which then only groups digits, a comma, which no number has."""


class DataError(ValueError):
    """Data that cannot be used: one sentence with the place, the reason and what to do."""


def number(text: str) -> float | None:
    """The number that a text is in plain digits, infinities and NaN included, or None."""
    if (
        "_" in text or not text.isascii()
    ):  # float() also takes 1_000 and the digits of other scripts
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_finite(text: str) -> bool:
    """Whether a text is a finite number."""
    value = number(text)
    return value is not None and math.isfinite(value)


def integer(text: str) -> int | None:
    """The integer of 64 bits that a text is, or None."""
    if not re.fullmatch(r"[-+]?[0-9]{1,19}", text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def exact_integer(text: str) -> int | None:
    """Return the integer that a text is in digits, or None.

    Parameters
    ----------
    text : str
        7 and 7.0 are integers, 1e23 and what is beyond float64 are none.
    """
    match = re.fullmatch(r"([-+]?[0-9]{1,309})(?:\.0*)?", text)
    return None if match is None else int(match[1])


def whole_number(text: str) -> int | None:
    """The integer of 64 bits that a text is, or None: 7.0 is one, too."""
    return integer(re.sub(r"\.0*$", "", text))


def pointed(text: str) -> str:
    """A number with a decimal comma as one with a point; any other text as it is."""
    return text.translate(COMMA_FOR_POINT) if NUMBER_WITH_COMMA.fullmatch(text) else text


def format_label(value: float | str) -> str:
    """A label as people write it: all digits of a number, and no ".0" behind a whole one."""
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def shown(value: object) -> str:
    """A value as a message shows it, 40 characters at most."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}...{text[-1]}"


def listed(values: Sequence[object]) -> str:
    """The first twelve values, and how many more there are."""
    text = ", ".join(shown(value) for value in values[:12])
    return text if len(values) <= 12 else f"{text} and {len(values) - 12} more"


def one_line(error: Exception) -> str:
    """The message of an error without line breaks."""
    return " ".join(str(error).split())
