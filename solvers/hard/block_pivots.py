"""Block principal pivoting for the hard dual of rows with a positive definite Gram matrix: many rows change sides at once.

    max over alpha >= 0    1'alpha - 1/2 alpha'G alpha

The pairs of neighbours of a strict order imply all other pairs, so that a kernel's
total order has no more rows than points. At the start all rows are active; those with
alpha_r < 0, and inactive ones whose margin is below 1, change sides. Where that does
not help for three rounds only the last of them does, which is sure to end.

Source: L. F. Portugal, J. J. Judice, L. N. Vicente, A comparison of block pivoting and
interior-point algorithms for linear least squares problems with nonnegative variables
(1994).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import UNIT

MOST_ROWS = 4000
"""Rows, at most, whose Gram matrix is factorised as a whole: a factorisation takes 0.5 s then."""
TRIES = 3
"""Rounds in which all wrong rows change sides without becoming fewer, before only one of them does."""
ROUNDS = 300
"""Rounds, at most: a good start is all that is asked for."""
TOO_LITTLE = 1e-9
"""Shortfall of an inactive row's margin, whose unit is 1, up to which it counts as met: the method that goes on from here is exact."""
RIDGES = (0.0, 1e2, 1e4, 1e6)
"""What is added to the diagonal of G, in units of its rounding, one after the other, until it can be factorised."""


def solve_by_block_pivots(
    G: Array, scale: float, out_of_time: Callable[[], bool]
) -> tuple[Index, Array]:
    """Return the active rows, (s,), at the optimum, and their multipliers, (s,); no row where even a ridge leaves G without a factor.

    Parameters
    ----------
    G : ndarray of shape (k, k)
        A K A' of the rows.
    scale : float
        The largest K_ii.
    """
    for ridge in (share * UNIT * scale for share in RIDGES):
        alpha = _multipliers(G + ridge * np.eye(len(G)) if ridge else G, out_of_time)
        if alpha is not None:
            active = np.flatnonzero(alpha > 0.0)
            return active, alpha[active]
    return np.zeros(0, dtype=np.int64), np.zeros(0)


def _multipliers(G: Array, out_of_time: Callable[[], bool]) -> Array | None:
    """alpha, (k,), of the last round; None where active rows have no Cholesky factor."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    active, fewest, tries, alpha = np.ones(len(G), dtype=bool), len(G) + 1, TRIES, np.zeros(len(G))
    for _ in range(ROUNDS):
        if out_of_time():
            break
        inside = np.flatnonzero(active)
        alpha = np.zeros(len(G))
        try:
            alpha[inside] = cho_solve(
                cho_factor(G[np.ix_(inside, inside)], check_finite=False), np.ones(len(inside))
            )
        except LinAlgError:
            return None
        wrong = np.where(active, alpha < 0.0, G @ alpha < 1.0 - TOO_LITTLE)
        count = int(wrong.sum())
        if count == 0:
            break
        tries = TRIES if count < fewest else tries - 1
        fewest = min(count, fewest)
        active = (
            active ^ wrong
            if tries > 0
            else active ^ (np.arange(len(G)) == np.flatnonzero(wrong)[-1])
        )
    return alpha
