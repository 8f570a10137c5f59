"""The reduced preference graph of document P: O(n) preferences in the place of O(n^2), and what is left of the full problem.

In every query each level but the top one has a maximum. It is preferred to the rest of its level, and every point of the next level is
preferred to it: (n - n_1) + (n - n_L - (L - 1)) edges for L levels of n_1, ..., n_L points, 199 instead of 10,000 for two of 100.

An approximation, not an equivalent: it orders points of equal relevance. What holds is a bound. From i of level b down to j of level a
< b there is a path of k edges, i, the maximum of b - 1, ..., that of a, j, and margins add up along it,

    u_ij = 1 - f_i + f_j = sum over the path of u_e - (k - 1)    so that    (u_ij)_+ <= sum over the path of (u_e)_+.

An edge is on the paths of so many pairs, its congestion; N_l points are in levels up to l, M_l in levels above:

    from the maximum of l to the rest of l:      M_l
    from a point of l + 1 to the maximum of l:   N_l, and N_l (1 + M_(l+1)) from the maximum of l + 1

so that L_full(f) <= kappa L_reduced(f) for every f, kappa the largest congestion: max(n+, n-) for two levels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import choice
from equimargin.formulations.problem.choices import LOSSES, Loss
from equimargin.formulations.problem.labels import Index, numbers, queries


def reduced_preferences(y: ArrayLike, qid: ArrayLike | None = None, maximum: ArrayLike | None = None) -> Index:
    """The reduced preference graph, as pairs for `ranking_from_pairs`.

    Which point is the maximum of its level the document leaves open, and it matters: with positive 2 and negatives 0 and 3 on a line,
    C = 1, all pairs give w = 1/2, and these pairs w = -1/3, the ranking reversed, for the maximum 0, but w = 1/3 for the maximum 3.

    Parameters
    ----------
    y : (m,) relevances, higher is better.  qid : (m,) queries; None: a single one.
    maximum : (m,) numbers; the maximum of a level is the first of its points where they are largest. None: its first point.

    Returns
    -------
    (p, 2) pairs (preferred, other), sorted.

    Raises
    ------
    ValueError : shapes that do not fit, numbers that are not finite.

    Source: P, section 4 and Figure 3; p of Table 1.
    """
    graph = _levels(y, qid, maximum)
    rest = ~graph.first & ~graph.top[graph.level]
    above = ~graph.bottom[graph.level]
    heads = graph.order[graph.first]
    down = np.stack([heads[graph.level[rest]], graph.order[rest]], axis=1)
    up = np.stack([graph.order[above], heads[graph.level[above] - 1]], axis=1)
    edges = np.concatenate([down, up])
    return edges[np.lexsort((edges[:, 1], edges[:, 0]))]


def reduction_factor(y: ArrayLike, qid: ArrayLike | None = None, loss: Loss = "hinge") -> int:
    """kappa such that L_full(f) <= kappa L_reduced(f) for the losses of all pairs and of the reduced ones at every f.

    The optimum over all pairs at cost C is thus at most that over the reduced ones at cost kappa C, and no reduced loss means no loss at
    all. There is no bound the other way: points of one level, which no pair orders, have a reduced loss. For the squared hinge
    (sum of k terms)^2 <= k times the sum of their squares makes it L times as much, a path having no more edges than there are levels.

    Parameters
    ----------
    y : (m,) relevances.  qid : (m,) queries; None: a single one.  loss : "hinge" or "squared_hinge".

    Returns
    -------
    The largest congestion, times L for the squared hinge; max(n+, n-) for a hinge and two levels, the lower of more than one point; 1
    at least, and where the reduced pairs are all pairs of two levels.

    Raises
    ------
    ValueError : shapes that do not fit, numbers that are not finite, an unknown loss.

    Source: for the graph P, section 4; the bound is proven above.
    """
    choice(loss, "loss", LOSSES)
    graph = _levels(y, qid, None)
    sizes = np.bincount(graph.level)
    query = np.cumsum(graph.bottom) - 1
    total = np.bincount(query, sizes).astype(np.int64)
    upto = np.cumsum(sizes) - np.append(0, np.cumsum(total)[:-1])[query]
    beyond = total[query] - upto
    within = np.where(sizes > 1, beyond, 0)
    across = np.where(graph.top, 0, upto * (1 + np.append(beyond[1:], 0)))
    length = np.bincount(query)[query] if loss == "squared_hinge" else 1
    return int((length * np.maximum(within, across)).max(initial=1))


class _Levels(NamedTuple):
    """Points by query and level, the maximum of a level first.

    order : (m,) the points.  level : (m,) numbers of levels over all queries.  first : (m,) whether the maximum.
    bottom, top : of every level, whether the lowest or highest of its query.
    """

    order: Index
    level: Index
    first: NDArray[np.bool_]
    bottom: NDArray[np.bool_]
    top: NDArray[np.bool_]


def _levels(y: ArrayLike, qid: ArrayLike | None, maximum: ArrayLike | None) -> _Levels:
    m = len(np.atleast_1d(np.asarray(y)))
    relevance = numbers(y, m, "y")
    query = np.zeros(m, dtype=np.int64) if qid is None else queries(qid, m)[1]
    height = np.zeros(m) if maximum is None else numbers(maximum, m, "maximum")
    order = np.lexsort((-height, relevance, query))  # stable: the first of equals stays first
    q, r = query[order], relevance[order]
    new_query = np.append(True, q[1:] != q[:-1])[:m]
    first = new_query | np.append(True, r[1:] != r[:-1])[:m]
    bottom = new_query[first]
    return _Levels(order, np.cumsum(first) - 1, first, bottom, np.append(bottom[1:], True)[: len(bottom)])
