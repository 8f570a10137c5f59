"""Logarithmic scales of pictures: of positive numbers, and of numbers of both signs around 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_TICKS = 6
"""Ticks, at most, of a scale: more would be written over each other."""
CLEAR = 34.0
"""Units around 0 of a scale with two sides in which no other tick is written."""


@dataclass(frozen=True)
class Linear:
    """A linear scale.

    low, high : the values at its ends.  start, end : their places in the picture.
    """

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where a value stands; one outside stands at the nearer end."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Places and words of the ticks: round numbers."""
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / MOST_TICKS))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (factor * step) <= MOST_TICKS)
        for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            yield self.place(k * step), f"{k * step:.10g}"


@dataclass(frozen=True)
class Logarithmic:
    """A logarithmic scale of positive numbers.

    low, high : the exponents of ten at its ends.  start, end : their places in the picture.
    """

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def of(cls, values: Iterable[float], start: float, end: float) -> Logarithmic:
        """The scale of whole decades that holds all the values that are positive and finite."""
        shown = [math.log10(value) for value in values if 0 < value < math.inf] or [0.0]
        low, high = math.floor(min(shown)), math.ceil(max(shown))
        return cls(low, max(high, low + 1), start, end)

    def place(self, value: float) -> float:
        """Where a value stands; one outside stands at the nearer end."""
        exponent = math.log10(value) if value > 0 else -math.inf
        share = (exponent - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Places and words of the ticks: powers of ten."""
        for exponent in range(self.low, self.high + 1, _step(self.high - self.low)):
            yield self.place(10.0**exponent), _power(exponent)


@dataclass(frozen=True)
class Signed:
    """A scale around 0 that is logarithmic on both sides, and linear only between -10^least and 10^least.

    least, most : exponents of ten.  start, end : the places of -10^most and 10^most in the picture.
    """

    least: int
    most: int
    start: float
    end: float

    def place(self, value: float) -> float:
        """Where a value stands; one outside stands at the nearer end."""
        decades = self.most - self.least + 1
        size = abs(value)
        away = size / 10.0**self.least if size <= 10.0**self.least else 1.0 + math.log10(size) - self.least
        share = math.copysign(min(away, decades) / decades, value)
        return (self.start + self.end) / 2 + share * (self.end - self.start) / 2

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Places and words of the ticks: 0, and powers of ten on both sides."""
        yield self.place(0.0), "0"
        for exponent in range(self.most, self.least, -_step(2 * (self.most - self.least))):
            if self.place(10.0**exponent) - self.place(0.0) >= CLEAR:
                yield self.place(10.0**exponent), _power(exponent)
                yield self.place(-(10.0**exponent)), f"-{_power(exponent)}"


def _step(decades: int) -> int:
    """How many decades are between two ticks."""
    return max(math.ceil(decades / MOST_TICKS), 1)


def _power(exponent: int) -> str:
    """A power of ten as a word; those near 1 as people write them."""
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"
