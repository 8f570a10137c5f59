"""Orders of points by g = lambda f on a segment of a path, and their exchanges.

g is linear in lambda on a segment.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import jit

Knots = tuple[Array, Array]
"""Lambdas of shape (k,), decreasing, and scores; a step has one lambda twice."""

LAMBDA_RESOLUTION = 1e-9
"""Relative difference below which two lambdas are equal.

The path itself is not known more accurately.
"""
SCORE_ROUNDING = 1e-12
"""Rounding error of g, relative to the largest |g|; closer values are equal."""


def _beyond(near: Array, far: Array, query: Index) -> tuple[Index, Index]:
    """Sort points by query and by g just beyond its values `near`, towards `far`.

    Return the order of the points, and their ranks in it; all have the shape (n,).
    """
    order = np.lexsort((far, near, query))
    new = np.zeros(len(order), dtype=np.int64)
    for key in (query, near, far):
        new[1:] |= key[order[1:]] != key[order[:-1]]
    ranks = np.empty_like(new)
    ranks[order] = np.cumsum(new)
    return order, ranks


def _levelled(g: Array) -> Array:
    """Return g with values equal within rounding error made equal, to the smallest of them."""
    order = np.argsort(g)
    new = np.append(True, np.diff(g[order]) > SCORE_ROUNDING * np.abs(g).max())
    level = np.empty_like(g)
    level[order] = g[order][new][np.cumsum(new) - 1]
    return level


def exchanges(
    a: float, b: float, ga: Array, gb: Array, query: Index, y: Array
) -> tuple[Index, Index, Index, Index, Array]:
    """Return the points of a query that change places on the way from a to b.

    Parameters
    ----------
    a, b : float
        Lambdas at the ends of a segment, b <= a.
    ga, gb : ndarray of shape (n,)
        g at the ends.
    query : ndarray of shape (n,)
        Query numbers.
    y : ndarray of shape (n,)
        Labels; exchanges of points of equal y are excluded.

    Returns
    -------
    tuple of ndarray
        Ranks just below a and just above b, (n,) each; of every exchange the point that
        was below and the point that was above, (k,) each; and the lambdas of the
        exchanges, (k,).
    """
    ga, gb = _levelled(ga), _levelled(gb)
    order, first = _beyond(ga, gb, query)
    last = _beyond(gb, ga, query)[1]
    i, j = _inversions(order, last, y)
    before, after = ga[j] - ga[i], gb[j] - gb[i]
    return first, last, i, j, a + (b - a) * (before / (before - after))


def pieces_between(a: float, b: float, lams: Array) -> tuple[Index, Array, NDArray[np.bool_]]:
    """Return the segments between events on the way from a down to b.

    Parameters
    ----------
    a, b : float
        Lambdas at the ends, b <= a.
    lams : ndarray of shape (k,)
        Lambdas of the events.

    Returns
    -------
    tuple of ndarray
        Order of the events, (k,); ends of the segments, (k + 2,); and True for the wide
        segments, (k + 1,): lambdas that count as equal leave no wide segment between
        them.
    """
    order = np.argsort(-lams, kind="stable")
    ends = np.concatenate([[a], lams[order], [b]])
    return order, ends, (ends[:-1] - ends[1:] > LAMBDA_RESOLUTION * a) | (a == b)


def steps(a: float, b: float, lams: Array, first: int, gains: Index) -> tuple[Array, Index]:
    """Return the breakpoints of a count that changes at given lambdas.

    Lambdas that count as equal make a single step.

    Parameters
    ----------
    a, b : float
        Lambdas at the ends, b <= a.
    lams : ndarray of shape (k,)
        Lambdas of the changes.
    first : int
        Count just below a.
    gains : ndarray of shape (k,)
        Changes of the count.

    Returns
    -------
    tuple of ndarray
        Lambdas and counts of the breakpoints.
    """
    order, ends, wide = pieces_between(a, b, lams)
    counts = first + np.concatenate([[0], np.cumsum(gains[order])])
    return np.stack([ends[:-1][wide], ends[1:][wide]], axis=1).ravel(), np.repeat(counts[wide], 2)


@jit
def _inversions(order: Index, ranks: Index, y: Array) -> tuple[Index, Index]:
    """Find the pairs (i, j) in opposite order in `order` and `ranks`, with y_i != y_j.

    i is before j in `order` and after j in `ranks`; both arrays have the shape (k,).
    Insertion sort, O(n + inversions).
    """
    i, j = np.empty(16, np.int64), np.empty(16, np.int64)
    count = 0
    now = order.copy()
    for place in range(1, now.size):
        moved = now[place]
        k = place
        # Invariant: now[:place] is sorted by rank, so every shift is one inversion.
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
