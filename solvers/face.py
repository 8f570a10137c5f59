"""Newton's method on a face of the box: the rows strictly inside it, the others held at their bounds.

    max  g'd - 1/2 d'H d    s.t.  lower <= x + d <= upper,  [ 1'd = 0 ]

The direction solves the equality-constrained system over the rows still inside; the step goes at least to where the first row meets its
bound, and on along the path bent at the bounds while that is better; rows at their bounds are then held. Every step raises the objective,
so that a first-order method may call it at any time and go on from where it ends.

Source: J. Nocedal, S. Wright, Numerical Optimization, section 16.5, without the release of constraints, which is left to the caller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from equimargin.formulations.kernels import Array

DAMPING = 1e-13
"""Added to the diagonal of H, over its mean: H is singular wherever points outnumber dimensions."""


MOST_ROWS = 2000
"""Larger faces are left to the caller's own steps."""
SMALL_FACE, SMALL_SOLVES = 500, 50
"""Faces of up to so many rows are worth so many factorisations, whatever was done before."""


def worth(n: int, work: int) -> int:
    """How many factorisations of n free rows cost no more than `work` multiplications in a first-order method's loops, as measured."""
    if not 2 <= n <= MOST_ROWS:
        return 0
    return (SMALL_SOLVES if n <= SMALL_FACE else 0) + 180 * work // n**3


def climb(H: Array, g: Array, x: Array, lower: Array, upper: Array, balanced: bool, most: int, out_of_time: Callable[[], bool]) -> Array:
    """Where Newton's method on the face ends.

    Parameters
    ----------
    H : (n, n) positive semidefinite.  g : (n,) gradient at x.  x : (n,) strictly inside its bounds.
    lower, upper : (n,) the bounds, possibly infinite.  balanced : whether 1'd = 0.  most : factorisations of H to spend.
    out_of_time : whether to end before that, asked before each of them.

    Returns
    -------
    x : (n,) within its bounds, those that were met exactly; 1'x as it was, up to rounding.
    """
    x, g = x.copy(), g.copy()
    free = np.arange(len(x))
    for _ in range(most):
        if len(free) <= balanced or out_of_time():
            break
        inside = H[np.ix_(free, free)]
        d, low, high = _direction(inside, g[free], balanced), lower[free] - x[free], upper[free] - x[free]
        room = np.full(len(free), np.inf)
        np.divide(np.where(d > 0, high, low), d, out=room, where=d != 0)
        step = min(1.0, float(room.min()))
        move = step * d if step == 1.0 else _bent(inside, g[free], d, step, low, high, balanced)
        x[free] += move
        g -= H[:, free] @ move
        if step == 1.0:
            break
        x[free] = np.where((move >= high) | (room <= step) & (d > 0), upper[free], x[free])
        x[free] = np.where((move <= low) | (room <= step) & (d < 0), lower[free], x[free])
        free = free[(x[free] > lower[free]) & (x[free] < upper[free])]
    return np.clip(x, lower, upper)


def _bent(H: Array, g: Array, d: Array, step: float, low: Array, high: Array, balanced: bool) -> Array:
    """step d, or the best of twice, four times, ... as far with the rows that meet their bounds left there, while the objective rises."""
    best = step * d
    value = float(g @ best - best @ H @ best / 2)
    while step < 1.0:
        step *= 2.0
        move = np.clip(step * d, low, high)
        if balanced:
            inner = (move > low) & (move < high)
            move[inner] -= move.sum() / max(int(inner.sum()), 1)
            if (move > high).any() or (move < low).any() or not inner.any():
                break
        new = float(g @ move - move @ H @ move / 2)
        if new <= value:
            break
        best, value = move, new
    return best


def _direction(H: Array, g: Array, balanced: bool) -> Array:
    """argmax g'd - 1/2 d'(H + damping I)d, [1'd = 0]."""
    mean = float(H.diagonal().mean())
    damping = DAMPING * (mean or 1.0)
    while True:
        damped = H.copy()
        damped[np.diag_indices(len(g))] += damping
        try:
            factor = cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)
            break
        except LinAlgError:
            damping *= 10.0
    d: Array = cho_solve(factor, g, check_finite=False)
    if balanced:
        normal = cho_solve(factor, np.ones(len(g)), check_finite=False)
        d -= d.sum() / normal.sum() * normal
        d -= d.mean()
    return d
