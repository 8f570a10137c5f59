"""Multipliers on a dyadic grid, which float64 adds without rounding.

All are integer multiples of one power of two.
"""

from __future__ import annotations

import math

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import brief, in_numpy, jit
from equimargin.formulations.numeric.rounding import SMALLEST


def round_to_dyadic_grid(alpha: Array, box: Array, s: Array) -> Array:
    """Return multipliers on a dyadic grid with 0 <= alpha <= box and s'alpha = 0.

    Both hold exactly, and the grid is so coarse that any sum of the multipliers is
    exact in float64.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Multipliers; entries that are not finite count as 0.
    box : ndarray of shape (p,)
        Upper bounds.
    s : ndarray of shape (p,)
        Signs in {-1, 0, 1}.

    Returns
    -------
    ndarray of shape (p,)
        Multipliers; zeros if the equality is infeasible.
    """
    steps, ends = np.empty(len(alpha)), np.empty(len(alpha))
    unit, excess = _steps(np.ascontiguousarray(alpha, np.float64), box, s, steps, ends)
    if excess:
        steps -= _balance(steps, ends, s, excess)
    return steps * unit if float(steps @ s) == 0 else np.zeros(len(alpha))


def on_grid_by_threshold(alpha: Array, box: Array, s: Array, k: Index, T: int) -> Array:
    """Return multipliers on a dyadic grid with s'alpha = 0 for each threshold.

    The sum is over the rows of the threshold. Multipliers of a threshold that cannot be
    balanced are 0.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Multipliers; entries that are not finite count as 0.
    box : ndarray of shape (p,)
        Upper bounds.
    s : ndarray of shape (p,)
        Signs in {-1, 0, 1}.
    k : ndarray of int of shape (p,)
        Threshold of each row, below T.
    T : int
        Number of thresholds.

    Returns
    -------
    ndarray of shape (p,)
        Multipliers.
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


def _steps_in_numpy(
    alpha: Array, box: Array, s: Array, steps: Array, ends: Array
) -> tuple[float, float]:
    inside = (alpha > 0.0) & (alpha < math.inf)
    steps[:], ends[:] = np.where(inside, np.minimum(alpha, box), 0.0), 0.0
    # The total of a loop: `sum` adds in another order.
    total = float(np.cumsum(steps)[-1]) if steps.size else 0.0
    if not 0.0 < total < math.inf:
        steps[:] = 0.0
        return 1.0, 0.0
    unit = max(math.ldexp(1.0, math.frexp(total)[1] - 51), SMALLEST)
    # A NaN is no bound.
    ends[:] = np.fmin(np.floor(box / unit), np.floor(4.0 * (steps.max() / unit)))
    steps[:] = np.minimum(np.rint(steps / unit), ends)
    excess = float(steps @ s)
    if excess != 0.0:
        # A NaN is no distance.
        distance = np.fmax(np.where(s != 0.0, np.minimum(steps, ends - steps), -1.0), -1.0)
        row = int(distance.argmax())
        if not distance[row] < abs(excess):
            steps[row] -= excess * s[row]
            excess = 0.0
    return unit, excess


@brief
@in_numpy(_steps_in_numpy)
@jit
def _steps(alpha: Array, box: Array, s: Array, steps: Array, ends: Array) -> tuple[float, float]:
    """Compute multipliers and upper bounds as integers; return their unit and s'steps.

    A nonzero s'steps is subtracted from the row with the largest distance to both
    bounds, if that distance suffices; s'steps is then returned as 0. All steps are 0 if
    the sum of the multipliers is 0 or outside the float64 range.
    """
    top, total = 0.0, 0.0
    for r in range(alpha.size):
        value = 0.0 if not 0.0 < alpha[r] < math.inf else alpha[r] if alpha[r] < box[r] else box[r]
        top, total, steps[r], ends[r] = value if value > top else top, total + value, value, 0.0
    if not 0.0 < total < math.inf:
        for r in range(alpha.size):
            steps[r] = 0.0
        return 1.0, 0.0
    # The sum is below 2^51 units, and below 2^53 after any balancing.
    unit = max(math.ldexp(1.0, math.frexp(total)[1] - 51), SMALLEST)
    max_steps, excess = 4.0 * (top / unit), 0.0
    for r in range(alpha.size):
        end, step = np.floor(box[r] / unit), np.rint(steps[r] / unit)
        ends[r] = end if end < max_steps else np.floor(max_steps)
        steps[r] = step if step < ends[r] else ends[r]
        excess += steps[r] * s[r]
    if excess == 0.0:
        return unit, excess
    # Find the row with the largest distance to the nearer bound.
    widest, row = -1.0, 0
    for r in range(alpha.size):
        distance = steps[r] if 2.0 * steps[r] < ends[r] else ends[r] - steps[r]
        if s[r] != 0.0 and distance > widest:
            widest, row = distance, r
    if widest < abs(excess):
        return unit, excess
    steps[row] -= excess * s[row]
    return unit, 0.0


def _balance(steps: Array, ends: Array, s: Array, excess: float) -> Array:
    """Return the part to subtract from `steps` for s'steps = 0.

    It is subtracted first from the rows with the largest distance to both bounds.

    Parameters
    ----------
    steps, ends : ndarray of shape (p,)
        Integers whose sums are exact in float64.
    s : ndarray of shape (p,)
        Signs.
    excess : float
        s'steps, not 0.
    """
    direction = math.copysign(1.0, excess)
    distance = np.where(s == direction, steps, np.where(s == -direction, ends - steps, 0.0))
    order = np.argsort(-np.minimum(steps, ends - steps))
    sorted_distance = distance[order]
    taken = np.zeros_like(steps)
    taken[order] = np.minimum(
        np.maximum(abs(excess) - (np.cumsum(sorted_distance) - sorted_distance), 0.0),
        sorted_distance,
    )
    return taken * (s * direction)
