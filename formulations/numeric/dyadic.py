"""Multipliers on a dyadic grid: all of them are integer multiples of one power of two, so that float64 adds them without rounding."""

from __future__ import annotations

import math

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import brief
from equimargin.formulations.numeric.rounding import SMALLEST


def round_to_dyadic_grid(alpha: Array, box: Array, s: Array) -> Array:
    """Multipliers with 0 <= alpha <= box and s'alpha = 0 exactly, on a dyadic grid so coarse that any sum of them is exact in float64.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Any numbers; what is not finite counts as 0.
    box : ndarray of shape (p,)
        Upper ends.
    s : ndarray of shape (p,)
        Signs in {-1, 0, 1}.
    """
    steps, ends = np.empty(len(alpha)), np.empty(len(alpha))
    unit, excess = _steps(np.ascontiguousarray(alpha, np.float64), box, s, steps, ends)
    if excess:
        steps -= _balance(steps, ends, s, excess)
    return steps * unit if float(steps @ s) == 0 else np.zeros(len(alpha))


def on_grid_by_threshold(alpha: Array, box: Array, s: Array, k: Index, T: int) -> Array:
    """Return multipliers as `round_to_dyadic_grid` makes them, for which s'alpha = 0 holds over the rows of each threshold.

    Multipliers of a threshold that cannot be balanced are 0.

    Parameters
    ----------
    k : Index of shape (p,)
        The threshold of each row, below T.
    """
    steps, ends = np.empty(len(alpha)), np.empty(len(alpha))
    unit, _ = _steps(
        np.ascontiguousarray(alpha, np.float64), box, np.zeros(len(alpha)), steps, ends
    )
    for threshold in range(T):
        rows = np.flatnonzero(k == threshold)
        part, signs = steps[rows], s[rows]
        excess = float(part @ signs)
        if excess:
            part -= _balance(part, ends[rows], signs, excess)
        steps[rows] = part if float(part @ signs) == 0 else 0.0
    return steps * unit


@brief
def _steps(alpha: Array, box: Array, s: Array, steps: Array, ends: Array) -> tuple[float, float]:
    """The multipliers in units, and the largest ones that are allowed, whole numbers both; the unit, and s'steps where it is not 0.

    What s'steps is above 0 or below is taken from the row with most room on both sides, if that row has as much; else it is what is left.
    All are 0 where the multipliers add up to 0 or to more than float64 holds.
    """
    top, total = 0.0, 0.0
    for r in range(alpha.size):
        value = 0.0 if not 0.0 < alpha[r] < math.inf else alpha[r] if alpha[r] < box[r] else box[r]
        top, total, steps[r], ends[r] = value if value > top else top, total + value, value, 0.0
    if not 0.0 < total < math.inf:
        for r in range(alpha.size):
            steps[r] = 0.0
        return 1.0, 0.0
    unit = max(
        math.ldexp(1.0, math.frexp(total)[1] - 51), SMALLEST
    )  # the total is below 2^51 units, and below 2^53 after any balancing
    most, excess = 4.0 * (top / unit), 0.0
    for r in range(alpha.size):
        end, step = np.floor(box[r] / unit), np.rint(steps[r] / unit)
        ends[r] = end if end < most else np.floor(most)
        steps[r] = step if step < ends[r] else ends[r]
        excess += steps[r] * s[r]
    if excess == 0.0:
        return unit, excess
    widest, found = -1.0, 0
    for r in range(alpha.size):
        room = steps[r] if 2.0 * steps[r] < ends[r] else ends[r] - steps[r]
        if s[r] != 0.0 and room > widest:
            widest, found = room, r
    if widest < abs(excess):
        return unit, excess
    steps[found] -= excess * s[found]
    return unit, 0.0


def _balance(steps: Array, ends: Array, s: Array, excess: float) -> Array:
    """What to take from `steps` so that s'steps = 0, from the rows with most room on both sides first.

    Parameters
    ----------
    steps, ends : ndarray of shape (p,)
        Whole numbers whose sums float64 has exactly.
    s : ndarray of shape (p,)
        signs.
    excess : float
        s'steps, not 0.
    """
    direction = math.copysign(1.0, excess)
    room = np.where(s == direction, steps, np.where(s == -direction, ends - steps, 0.0))
    order = np.argsort(-np.minimum(steps, ends - steps))
    there = room[order]
    taken = np.zeros_like(steps)
    taken[order] = np.minimum(np.maximum(abs(excess) - (np.cumsum(there) - there), 0.0), there)
    return taken * (s * direction)
