"""Quadratic programs over the simplex, by an active-set method that starts where the last one ended.

    max  b'x - 1/2 x'G x    s.t.  x >= 0,  1'x = 1

The directions of Newton's method on a face lead to the first bound that is met, which leaves the face, or to the face's maximum, which the
entry of the largest gradient then joins. x is optimal up to max_k g_k - g'x, g = b - G x, and feasible all the time.

Source: P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976), with a linear term.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dposv

from equimargin.formulations.numeric.arrays import Array

DAMPINGS = tuple(10.0**k for k in range(-14, 1, 2))
"""Added to the diagonal of a face's matrix, over itself, until it has a factor; a step that was damped is repeated."""
SMALLEST = 1e-6
"""The diagonal counts as that much of its largest entry at least."""
STEPS = 20
"""Steps at most, and as many more as there are unknowns."""


def maximum(G: Array, b: Array, x: Array, enough: float, out_of_time: Callable[[], bool]) -> Array:
    """Where the active-set method ends.

    Parameters
    ----------
    G : (k, k) positive semidefinite.  b : (k,).  x : (k,) feasible.  enough : how far from the optimum is near enough.
    out_of_time : whether to end before that, asked before every face.

    Returns
    -------
    x : (k,) >= 0 with sum 1 up to rounding, of no smaller objective.
    """
    x, inside, before = x.copy(), x > 0, np.inf
    for _ in range(STEPS + len(x)):
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
    """To the maximum on a face, or on what bounds leave of it, in place."""
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
    """d with sum 0 that maximises g'd - 1/2 d'G d, (k,): the entry r follows from the others."""
    others = np.delete(np.arange(len(g)), r)
    d = np.zeros(len(g))
    if not len(others):
        return d
    M = G[np.ix_(others, others)] - G[others, r][:, None] - G[r, others] + G[r, r]
    diagonal = M.diagonal().copy()
    ridge = np.maximum(diagonal, SMALLEST * float(diagonal.max())) if diagonal.max() > 0 else np.ones(len(others))
    for damping in DAMPINGS:
        M.flat[:: len(others) + 1] = diagonal + damping * ridge
        _, step, wrong = dposv(M.T, g[others] - g[r])
        if not wrong:
            break
    d[others], d[r] = step, -float(step.sum())
    return d
