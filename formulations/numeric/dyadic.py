"""Multipliers on a dyadic grid: all of them are integer multiples of one power of two, so that float64 adds them without rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import SMALLEST


def on_grid(alpha: Array, box: Array, s: Array) -> Array:
    """Multipliers with 0 <= alpha <= box and s'alpha = 0 exactly, on a dyadic grid so coarse that any sum of them is exact in float64.

    Parameters
    ----------
    alpha : (p,) any numbers; what is not finite counts as 0.  box : (p,) upper ends.  s : (p,) signs in {-1, 0, 1}.
    """
    p = len(alpha)
    alpha = np.clip(np.nan_to_num(alpha, nan=0.0, posinf=0.0, neginf=0.0), 0.0, box)
    with np.errstate(over="ignore"):
        top, total = float(alpha.max(initial=0.0)), float(alpha.sum())
        if not 0 < total < np.inf:
            return np.zeros(p)
        unit = max(2.0 ** (np.floor(np.log2(total)) - 50), SMALLEST)  # the total is below 2^51 units, and below 2^53 after any balancing
        ends = np.floor(np.minimum(box / unit, 4 * (top / unit))).astype(np.int64)
    steps = np.clip(np.rint(alpha / unit).astype(np.int64), 0, ends)
    signs = s.astype(np.int64)
    steps -= _balance(steps, ends, signs)
    return steps * unit if int(steps @ signs) == 0 else np.zeros(p)


def _balance(steps: NDArray[np.int64], ends: NDArray[np.int64], s: NDArray[np.int64]) -> NDArray[np.int64]:
    """What to take from `steps` so that s'steps = 0, from the rows with most room on both sides first."""
    excess = int(steps @ s)
    if excess == 0:
        return np.zeros_like(steps)
    direction = int(np.sign(excess))
    room = np.where(s == direction, steps, np.where(s == -direction, ends - steps, 0))
    order = np.argsort(-np.minimum(steps, ends - steps), kind="stable")
    taken = np.zeros_like(steps)
    before = np.concatenate([[0], np.cumsum(room[order])[:-1]])
    taken[order] = np.clip(abs(excess) - before, 0, room[order])
    return taken * s * direction
