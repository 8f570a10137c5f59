"""Scales of pictures: linear, logarithmic, and logarithmic on both sides of 0."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_TICKS = 6
"""Ticks, at most, of a scale: more would be written over each other."""
CLEAR = 34.0
"""Units around 0 of a scale with two sides in which no other tick is written."""
FINEST, COARSEST = -17, 1
"""Exponents of ten of the smallest and the largest difference that is drawn; float64 tells no smaller ones from the optimum."""


@dataclass(frozen=True)
class Scale(ABC):
    """A scale of a picture.

    Attributes
    ----------
    low, high : float
        Values at its ends, or their exponents of ten.
    start, end : float
        Places of its ends in the picture.
    """

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the place of a value; one outside stands at the nearer end."""
        return self.start + min(max(self._share(value), 0.0), 1.0) * (self.end - self.start)

    @abstractmethod
    def _share(self, value: float) -> float:
        """Return the share of the scale that is below a value."""

    @abstractmethod
    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield places and words of the ticks."""


class LinearScale(Scale):
    """A linear scale, with round numbers as ticks."""

    def _share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / MOST_TICKS))
        step *= next(
            factor
            for factor in (1, 2, 5, 10)
            if (self.high - self.low) / (factor * step) <= MOST_TICKS
        )
        for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1):
            yield self.place(k * step), f"{k * step:.10g}"


class LogarithmicScale(Scale):
    """A logarithmic scale of positive numbers between two exponents of ten."""

    @classmethod
    def of(cls, values: Iterable[float], start: float, end: float) -> LogarithmicScale:
        """Return the scale of whole decades of all positive, finite values."""
        shown = [math.log10(value) for value in values if 0 < value < math.inf] or [0.0]
        low, high = math.floor(min(shown)), math.ceil(max(shown))
        return cls(low, max(high, low + 1), start, end)

    def _share(self, value: float) -> float:
        return ((math.log10(value) if value > 0 else -math.inf) - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        for exponent in _exponents(self.low, self.high + 1, self.high - self.low):
            yield self.place(10.0**exponent), _power(exponent)


class SignedScale(Scale):
    """A scale from -10^high to 10^high, logarithmic but linear from -10^low to 10^low."""

    @classmethod
    def of(cls, least: int, most: int, start: float, end: float) -> SignedScale:
        """Return the scale between two exponents of ten, as far as differences are drawn.

        Parameters
        ----------
        least, most : int
            Exponents.
        start, end : float
            Places of its ends.
        """
        low = min(max(least, FINEST), COARSEST - 1)
        return cls(low, min(max(most, low + 1), COARSEST), start, end)

    def _share(self, value: float) -> float:
        decades, size = self.high - self.low + 1, abs(value)
        away = (
            size / 10.0**self.low if size <= 10.0**self.low else 1.0 + math.log10(size) - self.low
        )
        return 0.5 + math.copysign(min(away, decades) / decades, value) / 2

    def ticks(self) -> Iterator[tuple[float, str]]:
        yield self.place(0.0), "0"
        for exponent in _exponents(self.high, self.low, 2 * (self.high - self.low)):
            if self.place(10.0**exponent) - self.place(0.0) >= CLEAR:
                yield self.place(10.0**exponent), _power(exponent)
                yield self.place(-(10.0**exponent)), f"-{_power(exponent)}"


def _exponents(first: float, last: float, decades: float) -> range:
    """Return exponents from one towards another, for few ticks on some decades."""
    step = max(math.ceil(decades / MOST_TICKS), 1)
    return range(int(first), int(last), step if first < last else -step)


def _power(exponent: int) -> str:
    """Return a power of ten as a word; one near 1 is written out."""
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"
