"""Bounds proven by the sums over all partitions at a point (w, b), rounding included.

    U(w, b) = 1/2 |w|^2 + C sum loss(u_r)
    L(a) = C sum a_r - 1/2 |pull_w|^2 - C sum a_r^2 / 4 - |pull_b| B
    pull = C sum a_r z_r

U is the primal objective and L the dual one. The quadratic term, sum a_r^2 / 4, occurs
for a squared hinge only, where it is the loss, as a_r = 2 (u_r)_+. With a free bias
some optimum has |b| <= B = 1 + sqrt(2 U) max |x_i|: as a function of b the loss is
minimal between its first and last breakpoints b = y_i - w.x_i, and 1/2 |w|^2 <= U. L is
the dual of the problem with |b| <= B, so that pull_b need not be 0.

A computed u_r has an error of at most e. From (u + e)_+ <= (u)_+ + e follow the bounds
of the loss at the exact u.

References
----------
Weak duality; N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002),
section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import UNIT, gamma_n
from equimargin.formulations.partitions.smooth_loss import SmoothLoss
from equimargin.formulations.partitions.whole import GlobalStats

ROUNDINGS_OF_A_TERM = 64
"""Maximum roundings of a row's term before it is on the grid, relative to its bound.

Counted in the code they are fewer than 30.
"""


@dataclass(frozen=True, eq=False)
class PointBounds:
    """Point with its sums over all partitions, and the interval they prove.

    Parameters
    ----------
    v : ndarray of shape (q,)
        Weights, and the bias if there is one.
    loss : SmoothLoss
        Smooth loss.
    gain : float
        C sum a_r.
    total : float
        C sum of the problem's own loss.
    pull : ndarray of shape (q,)
        C sum a_r z_r.
    gradient : ndarray of shape (q,)
        Gradient of 1/2 |w|^2 + C sum phi(u_r).
    interval : Interval
        Proven interval of the optimum.
    """

    v: Array
    loss: SmoothLoss
    gain: float
    total: float
    pull: Array
    gradient: Array
    interval: Interval

    @property
    def smoothing_share(self) -> float:
        """Contribution of a smoothed hinge to the gap: C sum (u_r)_+ - a_r u_r."""
        return self.total - self.gain + float(self.pull @ self.v)


# Overflow gives infinite bounds, which hold trivially.
@np.errstate(over="ignore", invalid="ignore")
def bound_at_point(
    whole: GlobalStats, v: Array, loss: SmoothLoss, sums: Sequence[Array]
) -> PointBounds:
    """Return the bounds that sums of `Partition.look` prove.

    Parameters
    ----------
    whole : GlobalStats
        Statistics of all partitions.
    v : ndarray of shape (q,)
        Point of the sums.
    loss : SmoothLoss
        Smooth loss of the sums.
    sums : sequence of ndarray
        Arrays (2, 2) and (2, q), summed over all partitions.
    """
    numbers, columns = sums[0].sum(axis=0), sums[1].sum(axis=0)
    gain, total, pull = whole.C * float(numbers[0]), whole.C * float(numbers[1]), whole.C * columns
    gradient = -pull
    gradient[: whole.columns] += v[: whole.columns]
    return PointBounds(
        v, loss, gain, total, pull, gradient, _interval(whole, v, loss, gain, total, pull)
    )


def _interval(
    whole: GlobalStats, v: Array, loss: SmoothLoss, gain: float, total: float, pull: Array
) -> Interval:
    numbers, columns = whole.grids(v, loss)
    widest, d = whole.widest(v, loss), whole.columns
    error = ROUNDINGS_OF_A_TERM * UNIT * whole.rows
    gain_error = whole.C * (float(numbers.lost[0]) + error * loss.slope * widest) + 4 * UNIT * abs(
        gain
    )
    total_error = whole.C * (float(numbers.lost[1]) + error * widest * widest) + 4 * UNIT * abs(
        total
    )
    pull_error = whole.C * columns.lost + 8 * UNIT * (
        whole.top * (abs(gain) + gain_error) + np.abs(pull)
    )
    size = np.abs(pull) + pull_error
    slack = whole.slack_error(v)
    if whole.loss == "squared_hinge":
        moved, ridge = slack * (gain + gain_error) + slack * slack * whole.at_0, total + total_error
    else:
        moved, ridge = slack * whole.at_0, 0.0
    rounded = 1 + gamma_n(len(v) + 64)
    upper = (float(v[:d] @ v[:d]) / 2 + total + total_error + moved) * rounded
    subtracted = (
        gain_error
        + float(size[:d] @ size[:d]) / 2
        + ridge
        + float(size[d:].sum()) * _largest_bias(whole, upper)
    ) * rounded
    lower = gain - subtracted - 4 * UNIT * (abs(gain) + subtracted)
    return Interval(
        lower if math.isfinite(lower) else -math.inf,
        upper if math.isfinite(upper) else math.inf,
        whole.at_0,
    )


def _largest_bias(whole: GlobalStats, upper: float) -> float:
    """Return the bound B of the bias, from an upper bound of the optimum."""
    top = whole.top[: whole.columns]
    return (1.0 + math.sqrt(2 * max(upper, 0.0)) * float(np.linalg.norm(top))) * (1 + 1e-10)
