"""Bounds as decimal text, rounded outward."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


def format_bounds(least: float, most: float, digits: int) -> str:
    """Return a lower and an upper bound as text, rounded outward.

    Parameters
    ----------
    least, most : float
        Bounds.
    digits : int
        Number of digits, at most 15.
    """
    return f"{format_lower(least, digits)} to {format_upper(most, digits)}"


def format_range(least: float, most: float, digits: int) -> str:
    """Return one number if both ends round to it, otherwise both ends, rounded outward.

    Parameters
    ----------
    least, most, digits
        As in `format_bounds`.
    """
    if (number := f"{least:.{digits}g}") == f"{most:.{digits}g}":
        return number
    return f"between {format_lower(least, digits)} and {format_upper(most, digits)}"


def format_lower(value: float, digits: int) -> str:
    """Return a lower bound as text, rounded down.

    Parameters
    ----------
    value : float
        Bound.
    digits : int
        Number of digits, at most 15.
    """
    return _rounded(value, digits, ROUND_FLOOR)


def format_upper(value: float, digits: int) -> str:
    """Return an upper bound as text, rounded up.

    Parameters
    ----------
    value, digits
        As in `format_lower`.
    """
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, direction: str) -> str:
    """Return a number as text of that many digits, rounded in that direction."""
    rounded = Context(prec=digits, rounding=direction).create_decimal_from_float(value)
    text = f"{float(rounded):.{digits}g}"
    # Floats below the normal ones have fewer digits, and there is none above the largest.
    return text if Decimal(text) == rounded else f"{rounded:g}"
