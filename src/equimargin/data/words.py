"""The error of bad data, and how its sentences show numbers, values and lists."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

MISSING: Final = ("", "?", "na", "n/a", "nan", "null", "none", "-", ".")
"""Entries of a table that stand for a missing value, in lower case."""


class DataError(ValueError):
    """Data that cannot be used: one sentence with the place, the reason and what to do."""


def number(text: str) -> float | None:
    """The number that a text is in plain digits, infinities and NaN included, or None."""
    if "_" in text or not text.isascii():  # float() also takes 1_000 and the digits of other scripts
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
