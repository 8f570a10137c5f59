"""Exact optimum to differentiate, and its bias that stays optimal along a direction."""

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
    """Exact optimum.

    Parameters
    ----------
    numbers : IntegerProblem
        Problem in integers.
    squared : bool
        True if the loss is squared.
    c : Fractions of shape (p,)
        Finite costs.
    alpha : Fractions of shape (p,)
        Optimal multipliers.
    beta : Fractions of shape (m,)
        Coefficients A'alpha.
    f : Fractions of shape (m,)
        Function values K beta.
    bias : Ends
        Endpoints of all optimal b.
    """

    numbers: IntegerProblem
    squared: bool
    c: Fractions
    alpha: Fractions
    beta: Fractions
    f: Fractions
    bias: Ends

    def slacks(self, b: Fraction) -> Fractions:
        """Return t - A f - b s, (p,).

        Parameters
        ----------
        b : Fraction
            Bias.
        """
        return np.asarray(self.numbers.targets - self.numbers.dot(self.f) - b * self.numbers.s)


def followed_bias(base: SensitivityBase, way: Direction) -> tuple[Fraction, Fraction, bool]:
    """Return the bias that stays optimal along a direction, and the losses' slope there.

    Of the optimal b only those of minimum sum of c'_r loss(u_r) stay optimal along the
    direction. They are an interval, whose midpoint is returned.

    Parameters
    ----------
    base : SensitivityBase
        Optimum.
    way : Direction
        Direction.

    Returns
    -------
    b : Fraction
        Bias.
    slope : Fraction
        Derivative of the losses at b.
    unique : bool
        True if no other bias is optimal.
    """
    low, high = base.bias
    if not base.numbers.biased or (low is not None and low == high):
        b = low or ZERO
        return b, _loss_slope(base, way, b), True
    kinks = {
        b for b in _kinks(base, way) if (low is None or low < b) and (high is None or b < high)
    }
    kinks |= {end for end in (low, high) if end is not None} or {ZERO}
    # The minimum slope is attained at a breakpoint or an end; one further b represents
    # each infinite end.
    least, most = min(kinks), max(kinks)
    kinks |= ({least - 1} if low is None else set()) | ({most + 1} if high is None else set())
    slopes = {b: _loss_slope(base, way, b) for b in kinks}
    slope = min(slopes.values())
    best = sorted(b for b, value in slopes.items() if value == slope)
    return (best[0] + best[-1]) / 2, slope, False


def _kinks(base: SensitivityBase, way: Direction) -> list[Fraction]:
    """Return the breakpoints b of the rows with c_r = 0 and c'_r != 0.

    Other rows have no breakpoint between two optimal b.
    """
    rows = np.flatnonzero((base.c == 0) & (way.c != 0))
    return list(base.slacks(ZERO)[rows] * base.numbers.s[rows])


def _loss_slope(base: SensitivityBase, way: Direction, b: Fraction) -> Fraction:
    """Return sum_r c'_r loss(u_r) at a bias."""
    u = base.slacks(b)
    rows = np.flatnonzero((u > 0) & (way.c != 0))
    return sum((way.c[r] * u[r] ** (2 if base.squared else 1) for r in rows), ZERO)
