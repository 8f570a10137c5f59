"""Quadratic programs over the simplex, by an active-set method that can start from any feasible point.

    max  b'x - 1/2 x'G x    s.t.  x >= 0,  1'x = 1

A face is a set of entries that may differ from 0. A Newton step on a face ends at the
first bound that it meets, and the entry there leaves the face; or it ends at the
maximum over the face, and the entry of the largest gradient joins the face. With
g = b - G x the objective is at most max_k g_k - g'x below the optimum. x is feasible
all the time.

Source: P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11
(1976), with a linear term.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.dual.damped_cholesky import damped_factor

SIMPLEX_DAMPINGS = tuple(10.0**k for k in range(-14, 1, 2))
"""What is added to the diagonal of a face's matrix, relative to that diagonal, until the matrix has a factor."""
SMALLEST_DAMPED_DIAGONAL = 1e-6
"""Smallest entry of the diagonal that dampings are relative to, over its largest entry: an entry of 0 would never be damped."""
EXTRA_FACES = 20
"""Faces that are tried beyond one for every unknown: where G is nearly singular an entry may leave a face and join it again."""


def maximum(G: Array, b: Array, x: Array, enough: float, out_of_time: Callable[[], bool]) -> Array:
    """Solve the quadratic program.

    Parameters
    ----------
    G : ndarray of shape (k, k)
        Positive semidefinite.
    b : ndarray of shape (k,)
    x : ndarray of shape (k,)
        A feasible start.
    enough : float
        How far the objective may stay below the optimum.
    out_of_time : Callable[[], bool]
        Whether the run has to end, asked before every face.

    Returns
    -------
    x
        (k,) >= 0 with sum 1 up to rounding, where the objective is no smaller than at
        the start.
    """
    x, inside, before = x.copy(), x > 0, np.inf
    for _ in range(EXTRA_FACES + len(x)):
        g = b - G @ x
        best = int(np.argmax(g))
        short = float(g[best] - g @ x)
        if short <= enough or (inside[best] and short > 0.5 * before) or out_of_time():
            break
        before = short if inside[best] else np.inf
        inside[best] = True
        _climb(G, b, x, inside)
    return x


def _climb(G: Array, b: Array, x: Array, inside: np.ndarray) -> None:
    """Move x to the maximum on a face, or on the part of it that is left when entries meet their bounds, in place."""
    while True:
        face = np.flatnonzero(inside)
        d = _direction(G[np.ix_(face, face)], (b - G @ x)[face], int(np.argmax(x[face])))
        falling = d < 0
        room = np.full(len(face), np.inf)
        np.divide(x[face], -d, out=room, where=falling)
        t = min(1.0, float(room.min(initial=np.inf)))
        moved = np.where(room <= t, 0.0, x[face] + t * d)
        x[face] = np.maximum(moved, 0.0)
        x /= x.sum()
        if t == 1.0 and not (room <= 1.0).any():
            return
        inside[face[room <= t]] = False
        if not inside.any():
            inside[face[int(np.argmax(x[face]))]] = True


def _direction(G: Array, g: Array, r: int) -> Array:
    """The d (k,) with sum 0 that maximises g'd - 1/2 d'G d; the others are solved for, and the entry r makes the sum 0."""
    others = np.delete(np.arange(len(g)), r)
    d = np.zeros(len(g))
    if not len(others):
        return d
    M = G[np.ix_(others, others)] - G[others, r][:, None] - G[r, others] + G[r, r]
    diagonal = M.diagonal().copy()
    unit = (
        np.maximum(diagonal, SMALLEST_DAMPED_DIAGONAL * float(diagonal.max()))
        if diagonal.max() > 0
        else np.ones(len(others))
    )
    factor = damped_factor(lambda: M.copy().T, diagonal, unit, SIMPLEX_DAMPINGS)
    if factor is not None:
        d[others] = factor.solve(g[others] - g[r])
        d[r] = -float(d[others].sum())
    return d
