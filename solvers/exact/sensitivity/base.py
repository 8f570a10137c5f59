"""An optimum as its derivatives need it, all numbers rational, and the bias at which a direction is followed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from equimargin.solvers.exact.active_set import Ends
from equimargin.solvers.exact.numbers import Fractions, IntegerProblem
from equimargin.solvers.exact.sensitivity.direction import ZERO, Direction

Rows = NDArray[np.int64]
"""Indices of rows."""


@dataclass(frozen=True, eq=False)
class SensitivityBase:
    """An optimum.

    Parameters
    ----------
    numbers : IntegerProblem
        The problem in integers.
    squared : bool
        Whether the loss is squared.
    c : Fractions of shape (p,)
        Costs, finite.
    alpha : Fractions of shape (p,)
    beta : Fractions of shape (m,)
        A'alpha.
    f : Fractions of shape (m,)
        K beta.
    bias : Ends
        The ends of all optimal b.
    """

    numbers: IntegerProblem
    squared: bool
    c: Fractions
    alpha: Fractions
    beta: Fractions
    f: Fractions
    bias: Ends

    def slacks(self, b: Fraction) -> Fractions:
        """t - A f - b s, (p,)."""
        return np.asarray(self.numbers.targets - self.numbers.dot(self.f) - b * self.numbers.s)


def followed_bias(base: SensitivityBase, way: Direction) -> tuple[Fraction, Fraction, bool]:
    """The bias at which a direction is followed, the derivative of the losses there, and whether no other bias is optimal.

    Among the optimal b those count first whose sum of c'_r loss(u_r) is least: along the direction they are the optimal ones. They are an
    interval, whose middle is returned.

    Parameters
    ----------
    base : SensitivityBase
        The optimum.
    way : Direction
        The direction.
    """
    low, high = base.bias
    if not base.numbers.biased or (low is not None and low == high):
        b = low or ZERO
        return b, _loss_slope(base, way, b), True
    kinks = {
        b for b in _kinks(base, way) if (low is None or low < b) and (high is None or b < high)
    }
    kinks |= {end for end in (low, high) if end is not None} or {ZERO}
    least, most = min(kinks), max(kinks)
    kinks |= ({least - 1} if low is None else set()) | ({most + 1} if high is None else set())
    slopes = {b: _loss_slope(base, way, b) for b in kinks}
    slope = min(slopes.values())
    best = sorted(b for b, value in slopes.items() if value == slope)
    return (best[0] + best[-1]) / 2, slope, False


def _kinks(base: SensitivityBase, way: Direction) -> list[Fraction]:
    """Where rows that cost nothing as yet are just met: of the others no kink is between two optimal b."""
    rows = np.flatnonzero((base.c == 0) & (way.c != 0))
    return list(base.slacks(ZERO)[rows] * base.numbers.s[rows])


def _loss_slope(base: SensitivityBase, way: Direction, b: Fraction) -> Fraction:
    """sum_r c'_r loss(u_r) at a bias."""
    u = base.slacks(b)
    rows = np.flatnonzero((u > 0) & (way.c != 0))
    return sum((way.c[r] * u[r] ** (2 if base.squared else 1) for r in rows), ZERO)
