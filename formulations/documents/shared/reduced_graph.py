"""Reduced preference graph of document P: O(n) preferences instead of O(n^2).

Its loss bounds the loss of all pairs.

A level is all points of a query with one relevance. Every level but the highest has one
point that is called its maximum. The maximum is preferred to the rest of its level, and
every point of the next higher level is preferred to the maximum. With L levels of n_1,
..., n_L points, n in all, these are (n - n_1) + (n - n_L - (L - 1)) edges: 199 instead
of 10,000 for two levels of 100 points.

The reduced problem is not equivalent to the full one, because it orders points of equal
relevance. It bounds the full one. From a point i of level b there is a path down to a
point j of a lower level a: from i to the maximum of level b - 1, to the maxima of all
levels down to a, and from there to j. If the path has k edges, the margins of its edges
add up to that of the pair,

    u_ij = 1 - f_i + f_j = sum over the path of u_e - (k - 1),
    so that    (u_ij)_+ <= sum over the path of (u_e)_+.

The congestion of an edge is the number of pairs whose path contains it. N_l is the
number of points in the levels up to l, and M_l the number of points in the levels above
l. The congestion is

    from the maximum of l to a point of the rest of l:       M_l
    from a point of l + 1 to the maximum of l:               N_l
    from the maximum of l + 1 to the maximum of l:           N_l (1 + M_(l+1))

The largest congestion is kappa, and L_full(f) <= kappa L_reduced(f) for every f. With
two levels of n+ and n- points kappa = max(n+, n-).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import check_choice
from equimargin.formulations.numeric.arrays import Index
from equimargin.formulations.problem.choices import LOSSES, LossName
from equimargin.formulations.problem.labels import numbers, queries, relevances


def reduced_preferences(
    y: ArrayLike, qid: ArrayLike | None = None, maximum: ArrayLike | None = None
) -> Index:
    """Return the reduced preference graph, as pairs for `ranking_from_pairs`.

    The document does not specify the maximum of a level, and the choice matters. Take
    one positive point at 2 and two negative points at 0 and 3 on a line, C = 1. All
    pairs give w = 1/2. The reduced pairs give w = 1/3 if the maximum is the point 3. If
    it is the point 0 they give w = -1/3, which reverses the ranking.

    Parameters
    ----------
    y : array-like of shape (m,)
        Relevances, higher is better.
    qid : array-like of shape (m,), or None
        Queries; None for a single one.
    maximum : array-like of shape (m,), or None
        Scores; the maximum of a level is the first of its points with the largest
        score. None for its first point.

    Returns
    -------
    ndarray of shape (p, 2)
        Pairs (preferred, other), sorted.

    Raises
    ------
    ValueError
        If shapes do not fit, or numbers are not finite.

    References
    ----------
    P, section 4 and Figure 3; p of Table 1.
    """
    graph = _levels(y, qid, maximum)
    rest = ~graph.first & ~graph.top[graph.level]
    above = ~graph.bottom[graph.level]
    heads = graph.order[graph.first]
    down = np.stack([heads[graph.level[rest]], graph.order[rest]], axis=1)
    up = np.stack([graph.order[above], heads[graph.level[above] - 1]], axis=1)
    edges = np.concatenate([down, up])
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def reduction_factor(y: ArrayLike, qid: ArrayLike | None = None, loss: LossName = "hinge") -> int:
    """Return kappa such that L_full(f) <= kappa L_reduced(f) at every f.

    The losses are those of all pairs and of the reduced ones. The optimum over all
    pairs at cost C is therefore at most the optimum over the reduced pairs at cost
    kappa C. If the reduced loss is 0, so is the full loss. There is no bound in the
    other direction, because the reduced pairs also order points of one level. For the
    squared hinge the bound is L times larger: the square of a sum of k terms is at most
    k times the sum of their squares, and no path has more edges than there are levels.

    Parameters
    ----------
    y : array-like of shape (m,)
        Relevances, higher is better.
    qid : array-like of shape (m,), or None
        Queries; None for a single one.
    loss : {'hinge', 'squared_hinge'}
        Loss of a pair.

    Returns
    -------
    int
        Largest congestion, times L for the squared hinge, and at least 1. It is max(n+,
        n-) for the hinge and two levels, if the lower one has more than one point, and
        1 if the reduced pairs are all pairs.

    Raises
    ------
    ValueError
        If shapes do not fit, numbers are not finite, or the loss is unknown.

    References
    ----------
    P, section 4, for the graph; the bound is proven above.
    """
    check_choice(loss, "loss", LOSSES)
    graph = _levels(y, qid, None)
    sizes = np.bincount(graph.level)
    query = np.cumsum(graph.bottom) - 1
    total = np.bincount(query, sizes).astype(np.int64)
    points_up_to = np.cumsum(sizes) - np.append(0, np.cumsum(total)[:-1])[query]
    points_above = total[query] - points_up_to
    within = np.where(sizes > 1, points_above, 0)
    across = np.where(graph.top, 0, points_up_to * (1 + np.append(points_above[1:], 0)))
    length = np.bincount(query)[query] if loss == "squared_hinge" else 1
    return int((length * np.maximum(within, across)).max(initial=1))


class _Levels(NamedTuple):
    """Points by query and level, the maximum of a level first.

    Parameters
    ----------
    order : ndarray of shape (m,)
        Indices of the points.
    level : ndarray of shape (m,)
        Numbers of levels over all queries.
    first : ndarray of bool of shape (m,)
        True for the maximum of a level.
    bottom, top : ndarray of bool
        True for the lowest and for the highest level of a query.
    """

    order: Index
    level: Index
    first: NDArray[np.bool_]
    bottom: NDArray[np.bool_]
    top: NDArray[np.bool_]


def _levels(y: ArrayLike, qid: ArrayLike | None, maximum: ArrayLike | None) -> _Levels:
    m = len(np.atleast_1d(np.asarray(y)))
    relevance = relevances(y, m, "y")
    query = np.zeros(m, dtype=np.int64) if qid is None else queries(qid, m)[1]
    height = np.zeros(m) if maximum is None else numbers(maximum, m, "maximum")
    # The sort is stable: the first of equal points stays first.
    order = np.lexsort((-height, relevance, query))
    q, r = query[order], relevance[order]
    new_query = np.append(True, q[1:] != q[:-1])[:m]
    first = new_query | np.append(True, r[1:] != r[:-1])[:m]
    bottom = new_query[first]
    return _Levels(
        order, np.cumsum(first) - 1, first, bottom, np.append(bottom[1:], True)[: len(bottom)]
    )
