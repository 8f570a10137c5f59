"""Quadratic programs over the simplex, by an active-set method with warm starts.

    max  b'x - 1/2 x'G x    s.t.  x >= 0,  1'x = 1

A face is a set of entries that may differ from 0. A Newton step on a face ends at the
first bound that it reaches, and the entry there leaves the face; or it ends at the
maximum over the face, and the entry of the largest gradient enters the face. With g = b
- G x the objective is at most max_k g_k - g'x below the optimum. x is always feasible;
a run may start from any feasible point.

References
----------
P. Wolfe. Finding the nearest point in a polytope. Mathematical Programming 11 (1976),
here with a linear term.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.dual.damped_cholesky import damped_factor

SIMPLEX_DAMPINGS = tuple(10.0**k for k in range(-14, 1, 2))
"""Relative increases of the diagonal of a face's matrix, tried until a factor exists."""
SMALLEST_DAMPED_DIAGONAL = 1e-6
"""Minimum damping of an entry, relative to the largest: an entry 0 would have none."""
EXTRA_FACES = 20
"""Maximum number of faces in addition to one per variable.

If G is nearly singular an entry may leave a face and enter it again.
"""


def maximum(G: Array, b: Array, x: Array, enough: float, out_of_time: Callable[[], bool]) -> Array:
    """Solve the quadratic program.

    Parameters
    ----------
    G : ndarray of shape (k, k)
        Positive semidefinite matrix.
    b : ndarray of shape (k,)
        Linear term.
    x : ndarray of shape (k,)
        Feasible initial point.
    enough : float
        Permitted distance of the objective from the optimum.
    out_of_time : callable
        Returns True if the run must end; called before every face.

    Returns
    -------
    ndarray of shape (k,)
        x >= 0 with sum 1, within rounding error, whose objective is at least that of
        the initial point.
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
    """Move x in place to the maximum on its face; entries that reach 0 leave the face."""
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
    """Return the d (k,) with sum 0 that maximises g'd - 1/2 d'G d.

    The entry r is eliminated: it makes the sum 0.
    """
    others = np.delete(np.arange(len(g)), r)
    d = np.zeros(len(g))
    if not len(others):
        return d
    # d_r = -sum of the others: M = G_oo - G_or 1' - 1 G_ro + G_rr, right side g_o - g_r.
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
