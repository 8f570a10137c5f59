"""Interpretation of a program's floats as rational numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isfinite, ulp
from typing import Literal

Reading = Literal["exact", "fractions"]
"""Interpretation of floats: as dyadic numbers, or as simple fractions close to them."""
READINGS: dict[Reading, str] = {
    "exact": "every float is read as the dyadic number that it is",
    "fractions": "a float within 4 units in the last place of a simple fraction (denominator up to "
    "10,000, not 0) is read as that fraction",
}
"""Description of every interpretation, for reports."""
LARGEST_DENOMINATOR = 10_000
"""Maximum denominator of a simple fraction.

1 / (nu m) is such a fraction for every number m of points that tests sample.
"""
NEAR_ULPS = 4
"""Maximum distance of a float from its fraction, in units in the last place.

It allows for a few roundings.
"""


def read(value: float | int | Fraction, reading: Reading = "exact") -> Fraction:
    """Return the rational number that a number of a program denotes.

    Parameters
    ----------
    value : float or int or Fraction
        Finite number; integers and fractions are taken literally.
    reading : Reading
        Key of READINGS, relevant for floats only.

    Raises
    ------
    ValueError
        If the number is not finite, or the interpretation is unknown.
    """
    if reading not in READINGS:
        raise ValueError(f"unknown reading {reading!r}; known: {', '.join(READINGS)}")
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"the numbers of a program must be finite, not {value}")
    return (
        _near_fraction(float(value))
        if isinstance(value, float) and reading == "fractions"
        else Fraction(value)
    )


@lru_cache(maxsize=100_000)
def _near_fraction(value: float) -> Fraction:
    """Return the simple fraction close to a float, or the float itself.

    Results are cached, because tables repeat their numbers.
    """
    number = Fraction(value)
    simple = number.limit_denominator(LARGEST_DENOMINATOR)
    return (
        simple
        if simple != 0 and abs(simple - number) <= NEAR_ULPS * Fraction(ulp(value))
        else number
    )
