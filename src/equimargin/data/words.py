"""Error of unusable data, and the format of numbers, values and lists in its messages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

MISSING: Final = ("", "?", "na", "n/a", "nan", "null", "none", "-", ".")
"""Default entries that denote a missing value in any column, in lower case."""

NUMBER_WITH_COMMA: Final = re.compile(r"[-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?")
"""Field in which a comma may be the decimal point."""

COMMA_FOR_POINT: Final = str.maketrans(",.", ".,")
"""Exchange of comma and point, for decimal commas.

A point, which only groups digits there, becomes a comma, which no number contains.
"""


NO_PAIRS: Final = (
    "No preference pairs: within every query all rows have the same label, so there is nothing "
    "to rank."
)
"""Message for a ranking without pairs."""


class DataError(ValueError):
    """Error of unusable data: one sentence with the place, the reason and a remedy."""


def number(text: str) -> float | None:
    """Parse a number in plain digits, including infinities and NaN; None if it is none.

    Parameters
    ----------
    text : str
        Text to parse.

    Returns
    -------
    float or None
        Number, or None.
    """
    # `float` also accepts 1_000 and the digits of other scripts.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def is_finite(text: str) -> bool:
    """Return True if a text is a finite number.

    Parameters
    ----------
    text : str
        Text to parse.
    """
    value = number(text)
    return value is not None and math.isfinite(value)


def integer(text: str) -> int | None:
    """Parse an integer of 64 bits; None if the text is none.

    Parameters
    ----------
    text : str
        Text to parse.

    Returns
    -------
    int or None
        Integer, or None.
    """
    if not re.fullmatch(r"[-+]?[0-9]{1,19}", text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def exact_integer(text: str) -> int | None:
    """Parse an integer written in digits; None if the text is none.

    Parameters
    ----------
    text : str
        Text to parse: 7 and 7.0 are integers, 1e23 and numbers outside the float64
        range are not.

    Returns
    -------
    int or None
        Integer, or None.
    """
    match = re.fullmatch(r"([-+]?[0-9]{1,309})(?:\.0*)?", text)
    return None if match is None else int(match[1])


def whole_number(text: str) -> int | None:
    """Parse an integer of 64 bits, including 7.0; None if the text is none.

    Parameters
    ----------
    text : str
        Text to parse.

    Returns
    -------
    int or None
        Integer, or None.
    """
    return integer(re.sub(r"\.0*$", "", text))


def pointed(text: str) -> str:
    """Replace the decimal comma of a number by a point; return any other text unchanged.

    Parameters
    ----------
    text : str
        Field of a table.

    Returns
    -------
    str
        Text with a decimal point.
    """
    return text.translate(COMMA_FOR_POINT) if NUMBER_WITH_COMMA.fullmatch(text) else text


def format_label(value: float | str) -> str:
    """Format a label with all its digits, and without ".0" after a whole number.

    Parameters
    ----------
    value : float or str
        Label.

    Returns
    -------
    str
        Text of the label.
    """
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def shown(value: object) -> str:
    """Format a value for a message, in at most 40 characters.

    Parameters
    ----------
    value : object
        Value of any type.

    Returns
    -------
    str
        Text of the value.
    """
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:36]}...{text[-1]}"


def listed(values: Sequence[Any], form: Callable[[Any], str] = shown) -> str:
    """List the first twelve values, and the number of further ones.

    Parameters
    ----------
    values : sequence of object
        Values of any type.
    form : callable, optional
        Format of a value; by default that of messages.

    Returns
    -------
    str
        Text separated by commas.
    """
    text = ", ".join(form(value) for value in values[:12])
    return text if len(values) <= 12 else f"{text} and {len(values) - 12} more"


def one_line(error: Exception) -> str:
    """Return the message of an error without line breaks.

    Parameters
    ----------
    error : Exception
        Error of a library.

    Returns
    -------
    str
        Message on one line.
    """
    return " ".join(str(error).split())
