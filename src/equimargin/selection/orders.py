"""The orders of points along a segment on which g is linear, and where two of them change places."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import jit

Knots = tuple[Array, Array]
"""Lambdas (k,), falling, and the scores (k,) there; a step has two knots at one lambda."""

LAMBDA_RESOLUTION = 1e-9
"""Relative difference of two lambdas below which they count as one: the path itself is not known more accurately."""
SCORE_ROUNDING = 1e-12
"""Difference of two values of g, over the largest |g|, up to which they count as equal: it is made by rounding."""


def beyond(near: Array, far: Array, query: Index) -> tuple[Index, Index]:
    """The points by query and by g just beyond its values `near`, on the way to `far`: their order, and ranks in it, (n,) each."""
    order = np.lexsort((far, near, query))
    new = np.zeros(len(order), dtype=np.int64)
    for key in (query, near, far):
        new[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty_like(new)
    ranks[order] = np.cumsum(new)
    return order, ranks


def levelled(g: Array) -> Array:
    """g, (n,), with values that only rounding tells apart made equal."""
    order = np.argsort(g)
    new = np.append(True, np.diff(g[order]) > SCORE_ROUNDING * np.abs(g).max())
    level = np.empty_like(g)
    level[order] = g[order][new][np.cumsum(new) - 1]
    return level


def exchanges(
    a: float, b: float, ga: Array, gb: Array, query: Index, y: Array
) -> tuple[Index, Index, Index, Index, Array]:
    """Return the exchanges of places in the queries on the way from a down to b, on which g goes from ga to gb.

    Returns
    -------
    Ranks just below a and just above b, (n,) each; of every two points of different y that change places the one that was below, and the
    one that was above, (k,) each; and the lambdas at which they do, (k,).
    """
    ga, gb = levelled(ga), levelled(gb)
    order, first = beyond(ga, gb, query)
    last = beyond(gb, ga, query)[1]
    i, j = inversions(order, last, y)
    before, after = ga[j] - ga[i], gb[j] - gb[i]
    return first, last, i, j, a + (b - a) * (before / (before - after))


def pieces_between(a: float, b: float, lams: Array) -> tuple[Index, Array, NDArray[np.bool_]]:
    """The pieces between events at lambdas (k,) on the way from a down to b.

    Returns
    -------
    The order of the events, (k,); the ends of the pieces, (k + 2,); and which pieces are wide, (k + 1,): lambdas that count as one leave
    no wide piece between them.
    """
    order = np.argsort(-lams, kind="stable")
    ends = np.concatenate([[a], lams[order], [b]])
    return order, ends, (ends[:-1] - ends[1:] > LAMBDA_RESOLUTION * a) | (a == b)


def steps(a: float, b: float, lams: Array, first: int, gains: Index) -> tuple[Array, Index]:
    """Knots of a count that starts with `first` and changes by `gains` at lambdas; lambdas that count as one make a single step."""
    order, ends, wide = pieces_between(a, b, lams)
    counts = first + np.concatenate([[0], np.cumsum(gains[order])])
    return np.stack([ends[:-1][wide], ends[1:][wide]], axis=1).ravel(), np.repeat(counts[wide], 2)


@jit
def inversions(order: Index, ranks: Index, y: Array) -> tuple[Index, Index]:
    """All pairs (i, j) with i before j in `order`, i after j in `ranks`, and y_i != y_j: (k,) and (k,), in O(n + inversions)."""
    i, j = np.empty(16, np.int64), np.empty(16, np.int64)
    count = 0
    now = order.copy()
    for place in range(1, now.size):
        moved = now[place]
        k = place
        while k > 0 and ranks[now[k - 1]] > ranks[moved]:
            now[k] = now[k - 1]
            k -= 1
            if y[now[k]] != y[moved]:
                if count == i.size:
                    i, j = np.append(i, np.empty_like(i)), np.append(j, np.empty_like(j))
                i[count], j[count] = now[k], moved
                count += 1
        now[k] = moved
    return i[:count], j[:count]
