"""Scales of pictures: linear, logarithmic, and logarithmic on both sides of 0."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_TICKS = 6
"""Maximum number of ticks of a scale; more would overlap."""
CLEAR = 34.0
"""Minimum distance from the tick 0 on a two-sided scale, in picture units."""
FINEST, COARSEST = -17, 1
"""Exponents of ten of the smallest and the largest difference that is drawn.

Smaller ones are below the resolution of float64.
"""


@dataclass(frozen=True)
class Scale(ABC):
    """Scale of a picture.

    Parameters
    ----------
    low, high : float
        Values at its ends, or their exponents of ten.
    start, end : float
        Positions of its ends in the picture.
    """

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the position of a value; one outside is moved to the nearer end.

        Parameters
        ----------
        value : float
            Value.

        Returns
        -------
        float
            Position in picture units.
        """
        return self.start + min(max(self._share(value), 0.0), 1.0) * (self.end - self.start)

    @abstractmethod
    def _share(self, value: float) -> float:
        """Return the fraction of the scale below a value."""

    @abstractmethod
    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield positions and labels of the ticks."""


class LinearScale(Scale):
    """Linear scale with round numbers as ticks."""

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
    """Logarithmic scale of positive numbers between two exponents of ten."""

    @classmethod
    def of(cls, values: Iterable[float], start: float, end: float) -> LogarithmicScale:
        """Return the scale in whole decades of all positive, finite values.

        Parameters
        ----------
        values : iterable of float
            Values to show.
        start, end : float
            Positions of its ends.

        Returns
        -------
        LogarithmicScale
            Scale.
        """
        shown = [math.log10(value) for value in values if 0 < value < math.inf] or [0.0]
        low, high = math.floor(min(shown)), math.ceil(max(shown))
        return cls(low, max(high, low + 1), start, end)

    def _share(self, value: float) -> float:
        return ((math.log10(value) if value > 0 else -math.inf) - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, str]]:
        for exponent in _exponents(self.low, self.high + 1, self.high - self.low):
            yield self.place(10.0**exponent), _power(exponent)


class SignedScale(Scale):
    """Scale from -10^high to 10^high, logarithmic but linear from -10^low to 10^low."""

    @classmethod
    def of(cls, least: int, most: int, start: float, end: float) -> SignedScale:
        """Return the scale between two exponents of ten, within the range that is drawn.

        Parameters
        ----------
        least, most : int
            Exponents of the smallest and the largest difference.
        start, end : float
            Positions of its ends.
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
    """Return exponents between two, spaced for few ticks."""
    step = max(math.ceil(decades / MOST_TICKS), 1)
    return range(int(first), int(last), step if first < last else -step)


def _power(exponent: int) -> str:
    """Return a power of ten as text; one near 1 is written out."""
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent}"
