"""Which rational number a float of a program stands for."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite, ulp
from typing import Literal

Reading = Literal["exact", "fractions"]
"""Reading of floats: each as the dyadic number that it is, or a float near a simple
fraction as that fraction.
"""
READINGS: dict[Reading, str] = {
    "exact": "every float is read as the dyadic number that it is",
    "fractions": "a float within 4 units in the last place of a simple fraction (denominator up to "
    "10,000, not 0) is read as that fraction",
}
"""The sentence that says how floats were read, for whatever is reported."""
LARGEST_DENOMINATOR = 10_000
"""The largest denominator of a simple fraction: 1 / (nu m) is one for all numbers of
points that are drawn in tests.
"""
NEAR_ULPS = 4
"""Largest distance of a float from its fraction in units in the last place: a few
roundings.
"""


def read(value: float | int | Fraction, reading: Reading = "exact") -> Fraction:
    """The rational number that a number of a program stands for.

    Parameters
    ----------
    value : float | int | Fraction
        A finite number; integers and fractions stand for themselves.
    reading : Reading
        A key of READINGS, which matters for floats alone.

    Raises
    ------
    ValueError
        A number that is not finite, or an unknown reading.
    """
    if reading not in READINGS:
        raise ValueError(f"unknown reading {reading!r}; known: {', '.join(READINGS)}")
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"the numbers of a program are finite, and one is {value}")
    return (
        _near_fraction(float(value))
        if isinstance(value, float) and reading == "fractions"
        else Fraction(value)
    )


@lru_cache(maxsize=100_000)
def _near_fraction(value: float) -> Fraction:
    """Return the simple fraction near a float, or the float; tables repeat their numbers."""
    number = Fraction(value)
    simple = number.limit_denominator(LARGEST_DENOMINATOR)
    return (
        simple
        if simple != 0 and abs(simple - number) <= NEAR_ULPS * Fraction(ulp(value))
        else number
    )
