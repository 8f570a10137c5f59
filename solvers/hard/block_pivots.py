"""Block principal pivoting for the hard dual of rows with a nonsingular Gram matrix.

    max over alpha >= 0    1'alpha - 1/2 alpha'G alpha

For a total order of the points the pairs of neighbours imply all other pairs, so that
there are no more rows than points. At the start all rows are active. The wrong rows of
a round are the active ones with alpha_r < 0 and the inactive ones with a margin below
1. All of them are exchanged at once: active ones become inactive, and vice versa. After
three rounds without fewer wrong rows only the last wrong row is exchanged, which
guarantees termination.

References
----------
L. F. Portugal, J. J. Judice, L. N. Vicente. A comparison of block pivoting and
interior-point algorithms for linear least squares problems with nonnegative variables.
1994.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import UNIT

MOST_ROWS = 4000
"""Maximum number of rows whose whole Gram matrix is factorised, in 0.5 s."""
TRIES = 3
"""Attempts without fewer wrong rows after which a round exchanges only one row."""
ROUNDS = 300
"""Maximum number of rounds; the result serves as an initial point, optimal or not."""
TOO_LITTLE = 1e-9
"""Shortfall up to which an inactive row's margin of 1 counts as satisfied.

The active-set method that continues from the result satisfies such rows.
"""
RIDGES = (0.0, 1e2, 1e4, 1e6)
"""Shifts of the diagonal of G, in units of its rounding, tried until Cholesky succeeds."""


def solve_by_block_pivots(
    G: Array, scale: float, out_of_time: Callable[[], bool]
) -> tuple[Index, Array]:
    """Return the active rows at the optimum, and their multipliers.

    Parameters
    ----------
    G : ndarray of shape (k, k)
        Matrix A K A' of the rows.
    scale : float
        Largest K_ii.
    out_of_time : callable
        Returns True after the time limit.

    Returns
    -------
    active : ndarray of shape (s,)
        Active rows; none if even a shifted G has no factor.
    alpha : ndarray of shape (s,)
        Their multipliers.
    """
    for ridge in (share * UNIT * scale for share in RIDGES):
        alpha = _multipliers(G + ridge * np.eye(len(G)) if ridge else G, out_of_time)
        if alpha is not None:
            active = np.flatnonzero(alpha > 0.0)
            return active, alpha[active]
    return np.zeros(0, dtype=np.int64), np.zeros(0)


def _multipliers(G: Array, out_of_time: Callable[[], bool]) -> Array | None:
    """Return alpha (k,) of the last round; None if active rows have no Cholesky factor."""
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
