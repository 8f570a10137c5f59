"""Newton's method on a face of the box: the rows strictly inside it, the others held at their bounds.

    max  g'd - 1/2 d'H d    s.t.  lower <= x + d <= upper,  [ 1'd = 0 ]

The direction solves the equality-constrained system over the rows still inside; those that it would carry out of the box are set at their
bounds and the others solved for again. An exact line search, or where even that does not rise the step of the first system up to the first
bound, makes every step raise the objective, so that a first-order method may call it at any time and go on from where it ends.

Source: J. Nocedal, S. Wright, Numerical Optimization, sections 16.5, without the release of constraints, and 16.7.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from equimargin.formulations.numeric.arrays import Array

DAMPINGS = {
    np.dtype(np.float32): tuple(10.0**k for k in range(-6, 2)),
    np.dtype(np.float64): tuple(10.0**k for k in range(-13, 2)),
}
"""Added to the diagonal of H, over its mean size, until H has a factor: it is singular wherever points outnumber dimensions, and where
kernel values are large beside their differences rounding may even have made its diagonal negative."""
MOST_ROWS = 2000
"""Larger faces are left to the caller's own steps."""
SMALL_FACE, SMALL_SOLVES = 500, 50
"""Faces of up to so many rows are worth so many factorisations, whatever was done before."""


def worth(n: int, work: int) -> int:
    """How many factorisations of n free rows cost no more than `work` multiplications in a first-order method's loops, as measured."""
    if not 2 <= n <= MOST_ROWS:
        return 0
    return (SMALL_SOLVES if n <= SMALL_FACE else 0) + 180 * work // n**3


def climb(
    H: NDArray[Any], g: Array, x: Array, lower: Array, upper: Array, balanced: bool, most: int, out_of_time: Callable[[], bool]
) -> Array:
    """Where Newton's method on the face ends.

    Parameters
    ----------
    H : (n, n) positive semidefinite, in the precision to work in.  g : (n,) gradient at x.  x : (n,) strictly inside its bounds.
    lower, upper : (n,) the bounds, possibly infinite.  balanced : whether 1'd = 0.  most : factorisations of H to spend.
    out_of_time : whether to end before that, asked before each of them.

    Returns
    -------
    x : (n,) within its bounds, those that were met exactly; 1'x as it was, up to rounding.
    """
    x, g = x.copy(), g.copy()
    free = np.arange(len(x))
    while most > 0 and len(free) > balanced and not out_of_time():
        inside = H if len(free) == len(x) else H[np.ix_(free, free)]
        low, high = lower[free] - x[free], upper[free] - x[free]
        first, move, spent = _moves(inside, g[free], low, high, balanced, most, out_of_time)
        most -= spent
        full = spent == 1 and move is first
        if not full:
            move = max(
                (_best_step(inside, g[free], move) * move, _bent(inside, g[free], first, low, high, balanced)),
                key=lambda d: float(g[free] @ d - d @ (inside @ d) / 2),
            )
        move = np.clip(move, low, high)
        x[free] = np.where(move >= high, upper[free], np.where(move <= low, lower[free], x[free] + move))
        if full:
            break
        g -= H[:, free] @ move
        free = free[(x[free] > lower[free]) & (x[free] < upper[free])]
    return np.clip(x, lower, upper)


def _moves(
    H: NDArray[Any], g: Array, low: Array, high: Array, balanced: bool, most: int, out_of_time: Callable[[], bool]
) -> tuple[Array, Array, int]:
    """The Newton direction, one within low .. high with the rows it carries out set at their ends, and the factorisations spent."""
    inside, move, spent = np.ones(len(g), dtype=bool), np.zeros(len(g)), 0
    first = move
    while True:
        rest = np.flatnonzero(inside)
        held = -float(move[~inside].sum()) if balanced else None
        if spent == 0:
            move = first = _direction(H, g, held, out_of_time)
        else:
            right = g[rest] - H[np.ix_(rest, np.flatnonzero(~inside))] @ move[~inside]
            move[rest] = _direction(H[np.ix_(rest, rest)], right, held, out_of_time)
        spent += 1
        out = inside & ((move < low) | (move > high))
        if not out.any():
            return first, move, spent
        if spent == most or np.count_nonzero(inside & ~out) <= balanced or out_of_time():
            return first, _room(move, low, high) * move, spent
        move = np.where(out, np.clip(move, low, high), move)
        inside &= ~out


def _room(d: Array, low: Array, high: Array) -> float:
    """How much of d stays within low .. high, at most all of it."""
    room = np.full(len(d), np.inf)
    np.divide(np.where(d > 0, high, low), d, out=room, where=d != 0)
    return min(1.0, float(room.min()))


def _best_step(H: NDArray[Any], g: Array, d: Array) -> float:
    """argmax over 0 <= step <= 1 of step g'd - step^2 / 2 d'H d; 0 where d does not rise."""
    slope, curvature = float(g @ d), float(d @ (H @ d))
    if slope <= 0.0:
        return 0.0
    return slope / curvature if slope < curvature else 1.0


def _bent(H: NDArray[Any], g: Array, d: Array, low: Array, high: Array, balanced: bool) -> Array:
    """d up to the first bound, or the best of twice, four times, ... as far with the rows that meet their bounds left there."""
    step = _room(d, low, high)
    best = step * d
    value = float(g @ best - best @ (H @ best) / 2)
    while step < 1.0:
        step *= 2.0
        move = np.clip(step * d, low, high)
        if balanced:
            inner = (move > low) & (move < high)
            move[inner] -= move.sum() / max(int(inner.sum()), 1)
            if (move > high).any() or (move < low).any() or not inner.any():
                break
        new = float(g @ move - move @ (H @ move) / 2)
        if not new > value:
            break
        best, value = move, new
    return best


def _direction(H: NDArray[Any], g: Array, total: float | None, out_of_time: Callable[[], bool]) -> Array:
    """argmax g'd - 1/2 d'(H + damping I)d, [1'd = total]; the least such d where rounding has left nothing of H, or when time is out."""
    factor = _factor(H, out_of_time)
    d = np.zeros(len(g)) if factor is None else _solved(factor, g)
    if total is not None:
        if factor is not None:
            normal = _solved(factor, np.ones(len(g)))
            d += (total - d.sum()) / normal.sum() * normal
        d += (total - d.sum()) / len(d)
    return d


def _solved(factor: NDArray[Any], v: Array) -> Array:
    """The solution for a right-hand side (n,), by Cholesky's factor, in its precision."""
    d: Array = cho_solve((factor, True), v.astype(factor.dtype), check_finite=False).astype(np.float64)
    return d


def _factor(H: NDArray[Any], out_of_time: Callable[[], bool]) -> NDArray[Any] | None:
    """Cholesky's factor of H + damping I for the first damping that allows one; None if none does, or when time is out."""
    size, diagonal = float(np.abs(H.diagonal()).mean()) or 1.0, np.diag_indices(len(H))
    for damping in DAMPINGS[H.dtype]:
        damped = H.copy()
        damped[diagonal] += damping * size
        with suppress(LinAlgError):
            factor: NDArray[Any] = cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)[0]
            if np.isfinite(factor.diagonal()).all():  # what is no number makes a factor of such
                return factor
        if out_of_time():
            break
    return None
