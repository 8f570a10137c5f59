"""Ordinal regression: ranks as intervals of the utility that a ranking problem learns.

    h(x) = the rank k with theta_(k-1) <= f(x) < theta_k,
    theta_k between the utilities of ranks k and k + 1

If f separates two neighbouring ranks, theta is the midpoint of their two closest
utilities, one of each rank. This is the large margin rank boundary. If their utilities
overlap, theta is the midpoint of two neighbouring utilities that minimises the number
of training points of all ranks on the wrong side,

    E_k(theta) = #{ y <= k, f >= theta } + #{ y > k, f < theta }.

Among minimisers the lowest is taken. The thresholds minimise the sum over training
points of |h(x_i) - y_i|, counted in ranks. They never decrease, because E_(k+1) - E_k
decreases in theta. A threshold may be -inf or inf; the ranks beyond it are then never
predicted. Pairs with a margin of at least 1 would not suffice to define
thresholds: if f separates ranks by less, such thresholds can be out of order and make
errors. Utilities 0, 0.9 of one rank and 1, 1.95 of the next would be cut at 1/2.

References
----------
Document O, section 1: "modeling ranks as intervals on the real line", "large margin rank
boundaries"; its text prints no formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.labels import numbers
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.solvers import Solution

__all__ = ["RankBoundaries", "boundaries_between", "most_rank_errors", "rank_boundaries"]


@dataclass(frozen=True, eq=False)
class RankBoundaries:
    """Thresholds between the utilities of neighbouring ranks.

    Parameters
    ----------
    ranks : ndarray of shape (L,)
        Ranks of the training points, ascending; no other is ever predicted.
    thresholds : ndarray of shape (L - 1,)
        Non-decreasing thresholds.
    """

    ranks: Array
    thresholds: Array

    def rank(self, f: ArrayLike) -> Array:
        """Return the ranks of utilities; a utility on a threshold has the higher rank.

        Parameters
        ----------
        f : array-like of shape (n,)
            Utilities.

        Returns
        -------
        ndarray of shape (n,)
            Ranks.

        Raises
        ------
        ValueError
            If a utility is NaN.
        """
        utility = np.asarray(f, dtype=np.float64)
        if np.isnan(utility).any():
            raise ValueError(f"f holds NaN at row {int(np.flatnonzero(np.isnan(utility))[0])}")
        return np.asarray(self.ranks[np.searchsorted(self.thresholds, utility, side="right")])


def rank_boundaries(solution: Solution) -> RankBoundaries:
    """Return the rank boundaries of a solved ranking problem, from its training points.

    Points of all queries count, because f is one function of x, although no pair
    compares two queries.

    Parameters
    ----------
    solution : Solution
        Solution of a problem of `ranking`, `one_norm_ranking` or
        `ranking_vector_machine`.

    Returns
    -------
    RankBoundaries
        L - 1 thresholds for L ranks of training points.

    Raises
    ------
    ValueError
        If the problem has other labels or pairs, which have no ranks, or the solution
        has no point.

    References
    ----------
    Document O, section 1.
    """
    problem = solution.problem
    if not isinstance(problem.rows, LabelledPairs):
        raise ValueError("rank boundaries need a ranking problem with a relevance for every point")
    return boundaries_between(problem.rows.y, solution.decision_function(problem.X))


def boundaries_between(y: ArrayLike, f: ArrayLike) -> RankBoundaries:
    """Return thresholds between given utilities, in O(n log n + n L) for L ranks.

    Parameters
    ----------
    y : array-like of shape (n,)
        Ranks.
    f : array-like of shape (n,)
        Utilities.

    Returns
    -------
    RankBoundaries
        L - 1 thresholds for L ranks.

    Raises
    ------
    ValueError
        If shapes do not fit, there is no point, or numbers are not finite.

    References
    ----------
    Document O, section 1.
    """
    n = np.asarray(y).size
    if n == 0:
        raise ValueError("y is empty: rank boundaries need one point at least")
    rank, utility = numbers(y, n, "y"), numbers(f, n, "f")
    values, group = np.unique(utility, return_inverse=True)
    edges = np.concatenate([[-np.inf], _between(values[:-1], values[1:]), [np.inf]])
    ranks = np.unique(rank)
    return RankBoundaries(
        ranks,
        np.array(
            [edges[np.argmin(_errors(rank > k, group, len(values)))] for k in ranks[:-1]],
            dtype=np.float64,
        ),
    )


def most_rank_errors(y: ArrayLike, f: ArrayLike) -> int:
    """Bound the rank errors of the best thresholds by the misordered pairs.

    The bound of sum_i |h(x_i) - y_i|, counted in ranks, is

        sum over thresholds k of floor((sqrt(8 Q_k + 1) - 1) / 2),
        Q_k = #{ y_i > k >= y_j, f_i <= f_j }

    The best threshold k makes E_k errors, and E_k (E_k + 1) / 2 <= Q_k: E_k is the
    largest number of misordered pairs without a common point (König), and the
    neighbours of these points are nested. The utilities + - + - attain it.

    Parameters
    ----------
    y : array-like of shape (n,)
        Ranks.
    f : array-like of shape (n,)
        Utilities.

    Returns
    -------
    int
        Upper bound.

    Raises
    ------
    ValueError
        If shapes do not fit, or numbers are not finite.
    """
    n = np.asarray(y).size
    rank, utility = numbers(y, n, "y"), numbers(f, n, "f")
    bound = 0
    for k in np.unique(rank)[:-1]:
        low = np.sort(utility[rank <= k])
        misordered = int((len(low) - np.searchsorted(low, utility[rank > k])).sum())
        bound += (isqrt(8 * misordered + 1) - 1) // 2
    return bound


def _errors(above: NDArray[np.bool_], group: NDArray[np.int64], groups: int) -> Array:
    """Return the errors of every threshold: below the first sorted value and after each.

    The shape is (groups + 1,).
    """
    change = np.bincount(group, np.where(above, 1.0, -1.0), groups)
    return np.append(0.0, np.cumsum(change)) + float((~above).sum())


def _between(low: Array, high: Array) -> Array:
    """Return the midpoints of low < high, rounded into (low, high]."""
    middle = low / 2 + high / 2
    return np.where(middle > low, np.minimum(middle, high), high)
