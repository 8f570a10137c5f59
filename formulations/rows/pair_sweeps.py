"""Sums over the implicit pairs of a query within a threshold, in O(n log k).

n is the number of points of a query, and k the number of its levels. A pair (i, j) has
i on a higher level than j, and lies within the threshold tau if z_i - z_j < tau. Sort
the points of a query by z. The points j with z_j > z_i - tau are then a final segment,
which grows as z_i decreases. A Fenwick tree stores their counts and sums by level, and
a second sweep does so for the points i that belong to every j. z and tau are integers,
in a unit so large that no sum overflows. Counts and sums are therefore exact, even
where values tie.

A tree of very many levels exceeds the cache. Neighbouring levels are then grouped in
blocks. One sweep sums over the pairs of different blocks, as if every block were a
level; another sums over the pairs within blocks, as if every block were a query. The
size of both trees is about the square root of the number of levels.

With few pairs per point, sums go over the pairs one by one. The points then need no
sort: they stay in the order of their levels.

References
----------
Document K (Kuo, Lee and Lin, Large-scale Kernel RankSVM), (3.17)-(3.18), for the
counts l+ and l-.
P. M. Fenwick, A new data structure for cumulative frequency tables (1994).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import brief, brief_for, fast, jit

Level = NDArray[np.int32]
Count = NDArray[np.int32]
"""Numbers of points: `CountedPairs` takes fewer than 2^31."""

GATHERED_ROWS = 256
"""Rows of features that are gathered for one matrix product, few enough for the cache.

An approximate Hessian groups as many points of neighbouring z, and uses the z of the
middle point for all of them.
"""
LEVEL_BUCKETS = 256
"""Number of level buckets of an approximate Hessian.

The Hessian is then accurate enough for Newton's method.
"""


class OrderedPoints(NamedTuple):
    """Points of all queries, in an order by queries.

    Points of a query are sorted by z, or by level for sums that go pair by pair.

    Parameters
    ----------
    z, level : ndarray of int of shape (n,)
        Decision values in units of the grid, and levels.
    starts : ndarray of int of shape (queries + 1,)
        Index of the first point of every query.
    levels : ndarray of int of shape (queries,)
        Number of levels of every query.
    """

    z: Index
    level: Level
    starts: Index
    levels: Index


class ThresholdSums(NamedTuple):
    """Sums over the pairs with z_i - z_j < tau and slacks u_ij = tau - z_i + z_j > 0.

    `degree`, `balance` and `pull` are exact and in the order of the points.

    Parameters
    ----------
    degree : ndarray of int32 of shape (n,)
        Number of pairs of each point, l+ + l- of (3.17)-(3.18).
    balance : ndarray of int32 of shape (n,)
        A'1, l- - l+.
    pull : ndarray of int of shape (n,)
        A'u.
    total, square : ndarray of shape (queries,)
        Sums of u and of u^2.
    pairs : ndarray of int of shape (queries,)
        Numbers of pairs.
    """

    degree: Count
    balance: Count
    pull: Index
    total: Array
    square: Array
    pairs: Index


class Blocks(NamedTuple):
    """Points of all queries by blocks of 2^shift neighbouring levels.

    Parameters
    ----------
    shift : int
        Binary logarithm of the levels per block.
    first : ndarray of int of shape (queries + 1,)
        First block of every query.
    starts : ndarray of int of shape (blocks + 1,)
        Index of the first point of every block.
    place : ndarray of int of shape (n,)
        Index, among the points by blocks, of every point of `OrderedPoints`. Points of
        a block are sorted by z.
    """

    shift: int
    first: Index
    starts: Index
    place: Level


class PairGraph(NamedTuple):
    """Graph of the pairs with low <= z_i - z_j < high.

    Parameters
    ----------
    points : OrderedPoints
        Points.
    high, low : int
        Thresholds in units of the grid.
    degree : ndarray of int32 of shape (n,)
        Number of these pairs of each point: the diagonal of the graph's Laplacian.
    """

    points: OrderedPoints
    high: int
    low: int
    degree: Count


def _pairs_at_most(points: OrderedPoints) -> float:
    """Return an upper bound of the number of pairs."""
    return float(np.sum(np.diff(points.starts).astype(np.float64) ** 2))


@brief
def least_margins(
    points: Index, level: Level, starts: Index, f: Array, pairs: Index, margins: Array
) -> None:
    """Find the pair (i, j) of minimum margin f_i - f_j of every query, in O(n).

    Parameters
    ----------
    points : ndarray of int of shape (n,)
        Points of all queries, sorted by query and level.
    level : ndarray of int of shape (m,)
        Level of every point.
    starts : ndarray of int of shape (queries + 1,)
        Index of the first point of every query.
    f : ndarray of shape (m,)
        Decision values.
    pairs : ndarray of int of shape (queries, 2)
        Output: the pairs. The row of a query without a comparable pair is unchanged.
    margins : ndarray of shape (queries,)
        Output: the margins.
    """
    for q in range(starts.size - 1):
        # The maximum f over the lower levels, against the minimum f of each level.
        highest, j, start = -np.inf, -1, starts[q]
        while start < starts[q + 1]:
            lowest, i, top, k, end = np.inf, -1, -np.inf, -1, start
            while end < starts[q + 1] and level[points[end]] == level[points[start]]:
                z = f[points[end]]
                if z < lowest:
                    lowest, i = z, points[end]
                if z > top:
                    top, k = z, points[end]
                end += 1
            if i >= 0 and j >= 0 and lowest - highest < margins[q]:
                margins[q], pairs[q, 0], pairs[q, 1] = lowest - highest, i, j
            if top > highest:
                highest, j = top, k
            start = end


@brief
def list_pairs(
    points: Index, level: Level, starts: Index, rows: Index, preferred: Index, other: Index
) -> None:
    """List the pairs, ordered by preferred and other point, in O(pairs).

    Parameters
    ----------
    points : ndarray of int of shape (n,)
        Points of all queries, sorted by query, level and index.
    level : ndarray of int of shape (m,)
        Level of every point.
    starts : ndarray of int of shape (queries + 1,)
        Index of the first point of every query.
    rows : ndarray of int of shape (m,)
        Index of the first pair of every preferred point.
    preferred, other : ndarray of int of shape (p,)
        Output: points of the pairs.
    """
    lower = np.empty(points.size, np.int64)
    for q in range(starts.size - 1):
        start, size = starts[q], 0
        while start < starts[q + 1]:
            end = start + 1
            while end < starts[q + 1] and level[points[end]] == level[points[start]]:
                end += 1
            for s in range(start, end):
                row = rows[points[s]]
                for t in range(size):
                    preferred[row + t], other[row + t] = points[s], lower[t]
            # Merge the level into the lower ones, which stay sorted by index.
            s, t = end - 1, size - 1
            size += end - start
            for k in range(size - 1, -1, -1):
                if s < start:
                    break
                if t >= 0 and lower[t] > points[s]:
                    lower[k] = lower[t]
                    t -= 1
                else:
                    lower[k] = points[s]
                    s -= 1
            start = end


@brief
def by_query(order: Index, query: Count, starts: Index, out: Index) -> None:
    """Sort points by query, stably, and drop points of query -1.

    Parameters
    ----------
    order : ndarray of int of shape (m,)
        Points.
    query : ndarray of int32 of shape (m,)
        Query of every point.
    starts : ndarray of int of shape (queries + 1,)
        Index of the first point of every query.
    out : ndarray of int of shape (n,)
        Output: the points by query.
    """
    place = starts[:-1].copy()
    for i in order:
        q = query[i]
        if q >= 0:
            out[place[q]] = i
            place[q] += 1


@brief
def middles(order: Index, f: Array, starts: Index, middle: Array) -> float:
    """Find the f of the middle point of every query; return the maximum distance from it.

    It is the median if the points are sorted by f.

    Parameters
    ----------
    order : ndarray of int of shape (n,)
        Points by query.
    f : ndarray of shape (m,)
        Decision values.
    starts : ndarray of int of shape (queries + 1,)
        Index of the first point of every query.
    middle : ndarray of shape (queries,)
        Output: f of the middle points.
    """
    largest = 0.0
    for q in range(starts.size - 1):
        a, b = starts[q], starts[q + 1]
        middle[q] = f[order[(a + b) // 2]]
        for t in range(a, b):
            largest = max(largest, abs(f[order[t]] - middle[q]))
    return largest


@brief
def gathered(
    order: Index,
    f: Array,
    level: Level,
    starts: Index,
    middle: Array,
    unit: float,
    z: Index,
    levels: Level,
) -> None:
    """Compute (f - middle) / unit, rounded, and the levels, both in the order of `order`.

    Parameters
    ----------
    order : ndarray of int of shape (n,)
        Points by query.
    f : ndarray of shape (m,)
        Decision values.
    level : ndarray of int of shape (m,)
        Level of every point.
    starts : ndarray of int of shape (queries + 1,)
        Index of the first point of every query.
    middle : ndarray of shape (queries,)
        f of the middle point of every query.
    unit : float
        Unit of the grid.
    z : ndarray of int of shape (n,)
        Output: decision values in units of the grid.
    levels : ndarray of int of shape (n,)
        Output: levels.
    """
    for q in range(starts.size - 1):
        for t in range(starts[q], starts[q + 1]):
            z[t] = np.int64(np.rint((f[order[t]] - middle[q]) / unit))
            levels[t] = level[order[t]]


@brief
def within(points: OrderedPoints, tau: int, sums: ThresholdSums) -> None:
    """Sum over the pairs within tau.

    Sums of u^2 are approximate; all other sums are exact up to a final rounding.

    Parameters
    ----------
    points : OrderedPoints
        Points sorted by query and z.
    tau : int
        Threshold in units of the grid.
    sums : ThresholdSums
        Output.
    """
    z, level, starts, levels = points.z, points.level, points.starts, points.levels
    degree, balance, pull = sums.degree, sums.balance, sums.pull
    T = np.zeros((_largest(levels) + 2, 2), np.int64)
    for q in range(levels.size):
        a, b, k = starts[q], starts[q + 1], levels[q]
        T[: k + 1] = 0
        # Descending z: T holds count and sum of z by level, over points with z_j > z_i
        # - tau.
        p, number, all_u, lost = b - 1, 0, 0.0, 0.0
        for t in range(b - 1, a - 1, -1):
            edge = z[t] - tau
            while p >= a and z[p] > edge:
                r = np.int64(level[p]) + 1
                while r <= k:
                    T[r, 0] += 1
                    T[r, 1] += z[p]
                    r += r & -r
                p -= 1
            r, c, s = np.int64(level[t]), 0, 0
            while r > 0:
                c += T[r, 0]
                s += T[r, 1]
                r -= r & -r
            u = (tau - z[t]) * c + s
            degree[t], balance[t], pull[t] = c, c, u
            number += c
            all_u, lost = _added(all_u, lost, np.float64(u))
        T[: k + 1] = 0
        # Ascending z: T holds count and sum of z by reversed level, over points with z_i
        # < z_j + tau.
        p, squares, lost = a, 0.0, 0.0
        for t in range(a, b):
            while p < b and z[p] - tau < z[t]:
                r = k - np.int64(level[p])
                while r <= k:
                    T[r, 0] += 1
                    T[r, 1] += z[p]
                    r += r & -r
                p += 1
            r, c, s = k - 1 - np.int64(level[t]), 0, 0
            while r > 0:
                c += T[r, 0]
                s += T[r, 1]
                r -= r & -r
            degree[t] += c
            balance[t] -= c
            pull[t] -= (tau + z[t]) * c - s
            squares, lost = _added(squares, lost, np.float64(z[t]) * np.float64(pull[t]))
        # sum u^2 = tau sum u - sum_t z_t (A'u)_t.
        sums.total[q], sums.square[q], sums.pairs[q] = (
            all_u,
            max(tau * all_u - squares, 0.0),
            number,
        )


@brief_for(lambda points, tau, sums: _pairs_at_most(points))
def within_by_pairs(points: OrderedPoints, tau: int, sums: ThresholdSums) -> None:
    """Sum over the pairs within tau, pair by pair, as `within` does.

    Counts and A'u are the same; sums of u and u^2 are added in another order.

    Parameters
    ----------
    points : OrderedPoints
        Points sorted by query and level, in any order of z.
    tau : int
        Threshold in units of the grid.
    sums : ThresholdSums
        Output, initially 0.
    """
    z, level, starts = points.z, points.level, points.starts
    degree, balance, pull = sums.degree, sums.balance, sums.pull
    for q in range(starts.size - 1):
        a, b = starts[q], starts[q + 1]
        number, all_u, lost, low = 0, 0.0, 0.0, a
        for t in range(a, b):
            # Points of lower levels are from a to low.
            if t > a and level[t] != level[t - 1]:
                low = t
            if low > a:
                c, u = _with_lower(z[a:low], z[t] - tau, balance[a:low], pull[a:low])
                degree[t], pull[t] = c, u
                number += c
                all_u, lost = _added(all_u, lost, np.float64(u))
        squares, lost = 0.0, 0.0
        for t in range(a, b):
            c, o = degree[t], -balance[t]
            degree[t], balance[t] = c + o, c - o
            squares, lost = _added(squares, lost, np.float64(z[t]) * np.float64(pull[t]))
        # sum u^2 = tau sum u - sum_t z_t (A'u)_t.
        sums.total[q], sums.square[q], sums.pairs[q] = (
            all_u,
            max(tau * all_u - squares, 0.0),
            number,
        )


@jit
def put_in_blocks(points: OrderedPoints, blocks: Blocks) -> None:
    """Fill `starts`, which must be 0, and `place` of the blocks.

    Parameters
    ----------
    points : OrderedPoints
        Points sorted by query and z.
    blocks : Blocks
        Blocks, also the output.
    """
    level, starts, first, own, place = (
        points.level,
        points.starts,
        blocks.first,
        blocks.starts,
        blocks.place,
    )
    for q in range(starts.size - 1):
        for t in range(starts[q], starts[q + 1]):
            own[first[q] + (level[t] >> blocks.shift) + 1] += 1
    for block in range(1, own.size):
        own[block] += own[block - 1]
    filled = own[:-1].copy()
    for q in range(starts.size - 1):
        for t in range(starts[q], starts[q + 1]):
            block = first[q] + (level[t] >> blocks.shift)
            place[t] = filled[block]
            filled[block] += 1


@jit
def split(points: OrderedPoints, blocks: Blocks, coarse: Level, inner: OrderedPoints) -> None:
    """Split the points into a problem with blocks as levels and a problem per block.

    Parameters
    ----------
    points : OrderedPoints
        Points sorted by query and z.
    blocks : Blocks
        Blocks of levels.
    coarse : ndarray of int of shape (n,)
        Output: the block of every point in its query.
    inner : OrderedPoints
        Output: z, level and levels of the points by blocks.
    """
    shift, last = blocks.shift, np.int32((1 << blocks.shift) - 1)
    for t in range(coarse.size):
        coarse[t] = points.level[t] >> shift
        inner.z[blocks.place[t]] = points.z[t]
        inner.level[blocks.place[t]] = points.level[t] & last
    for q in range(points.levels.size):
        for block in range(blocks.first[q], blocks.first[q + 1]):
            inner.levels[block] = min(
                points.levels[q] - ((block - blocks.first[q]) << shift), 1 << shift
            )


@jit
def add_inner(inner: ThresholdSums, blocks: Blocks, sums: ThresholdSums) -> None:
    """Add the sums over the pairs within blocks to those over the pairs of two blocks.

    Parameters
    ----------
    inner : ThresholdSums
        Sums within blocks.
    blocks : Blocks
        Blocks of levels.
    sums : ThresholdSums
        Sums over pairs of two blocks, also the output.
    """
    for t in range(blocks.place.size):
        own = blocks.place[t]
        sums.degree[t] += inner.degree[own]
        sums.balance[t] += inner.balance[own]
        sums.pull[t] += inner.pull[own]
    for q in range(sums.total.size):
        total, lost, square, lost_square = sums.total[q], 0.0, sums.square[q], 0.0
        for block in range(blocks.first[q], blocks.first[q + 1]):
            total, lost = _added(total, lost, inner.total[block])
            square, lost_square = _added(square, lost_square, inner.square[block])
            sums.pairs[q] += inner.pairs[block]
        sums.total[q], sums.square[q] = total, square


@brief
def laplacian_product(graph: PairGraph, order: Index, costs: Array, values: Array) -> Array:
    """Return L v for the Laplacian L of the graph, each query's part times its cost.

    Parameters
    ----------
    graph : PairGraph
        Pairs.
    order : ndarray of int of shape (n,)
        Points of the graph; L v is 0 at all other points.
    costs : ndarray of shape (queries,)
        Costs of the queries.
    values : ndarray of shape (m,)
        Vector v.

    Returns
    -------
    ndarray of shape (m,)
        Product L v.
    """
    z, level, starts, levels = (
        graph.points.z,
        graph.points.level,
        graph.points.starts,
        graph.points.levels,
    )
    high, low = graph.high, graph.low
    T = np.zeros(_largest(levels) + 2)
    v = np.empty(order.size)
    for t in range(order.size):
        v[t] = values[order[t]]
    Lv, out = graph.degree * v, np.zeros(values.size)
    for q in range(levels.size):
        a, b, k = starts[q], starts[q + 1], levels[q]
        T[: k + 1] = 0.0
        # T holds the sums of v by level over z_t - high < z_p <= z_t - low.
        p = taken = b - 1
        for t in range(b - 1, a - 1, -1):
            while p >= a and z[p] > z[t] - high:
                _add(T, np.int64(level[p]) + 1, k, v[p])
                p -= 1
            while taken > p and z[taken] > z[t] - low:
                _add(T, np.int64(level[taken]) + 1, k, -v[taken])
                taken -= 1
            Lv[t] -= _sum(T, np.int64(level[t]))
        T[: k + 1] = 0.0
        # T holds the sums of v over the preferred points, by reversed level.
        p = taken = a
        for t in range(a, b):
            while p < b and z[p] - high < z[t]:
                _add(T, k - np.int64(level[p]), k, v[p])
                p += 1
            while taken < p and z[taken] - low < z[t]:
                _add(T, k - np.int64(level[taken]), k, -v[taken])
                taken += 1
            out[order[t]] = costs[q] * (Lv[t] - _sum(T, k - 1 - np.int64(level[t])))
    return out


@brief_for(lambda graph, order, costs, values: _pairs_at_most(graph.points))
def laplacian_product_by_pairs(
    graph: PairGraph, order: Index, costs: Array, values: Array
) -> Array:
    """Return `laplacian_product`, pair by pair, of points sorted by query and level.

    Parameters
    ----------
    graph : PairGraph
        Pairs.
    order : ndarray of int of shape (n,)
        Points of the graph; L v is 0 at all other points.
    costs : ndarray of shape (queries,)
        Costs of the queries.
    values : ndarray of shape (m,)
        Vector v.

    Returns
    -------
    ndarray of shape (m,)
        Product L v.
    """
    z, level, starts = graph.points.z, graph.points.level, graph.points.starts
    v = np.empty(order.size)
    for t in range(order.size):
        v[t] = values[order[t]]
    Lv, out = graph.degree * v, np.zeros(values.size)
    for q in range(starts.size - 1):
        a, low = starts[q], starts[q]
        for t in range(a, starts[q + 1]):
            if t > a and level[t] != level[t - 1]:
                low = t
            if low > a:
                above, below = z[t] - graph.high, z[t] - graph.low
                Lv[t] -= _from_lower(z[a:low], above, below, v[a:low], v[t], Lv[a:low])
        for t in range(a, starts[q + 1]):
            out[order[t]] = costs[q] * Lv[t]
    return out


@brief
def laplacian_gram(
    X: Array, order: Index, costs: Array, graph: PairGraph, A: Array, S: Array
) -> Array:
    """Return X' L X for the Laplacian L of the graph, each query's part times its cost.

    It is computed as follows, m_i being the sum of the x_j over the pairs (i, j). Nodes
    of the tree hold d numbers.

        X'diag(degree)X - M - M',    M = sum_i x_i m_i'

    L maps constants to 0. The points of a query are therefore taken relative to its
    first one: far from 0, rounding could hide their differences.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features.
    order : ndarray of int of shape (n,)
        Points of the graph, sorted by query and z.
    costs : ndarray of shape (queries,)
        Costs of the queries.
    graph : PairGraph
        Pairs.
    A, S : ndarray of shape (GATHERED_ROWS, d)
        Workspace; products and sums over a query have its precision.

    Returns
    -------
    ndarray of shape (d, d)
        Symmetric matrix.
    """
    z, level, starts, levels = (
        graph.points.z,
        graph.points.level,
        graph.points.starts,
        graph.points.levels,
    )
    high, low, degree = graph.high, graph.low, graph.degree
    d = X.shape[1]
    T, differences = (
        np.zeros((_largest(levels) + 2, d), A.dtype),
        np.empty((_largest(starts[1:] - starts[:-1]), d), A.dtype),
    )
    H, filled = np.zeros((d, d)), 0
    for q in range(levels.size):
        a, b, k = starts[q], starts[q + 1], levels[q]
        if costs[q] == 0.0:
            continue
        T[: k + 1] = 0.0
        _take_from_first(X, order[a:b], differences)
        # T holds the sums of x by level over z_t - high < z_p <= z_t - low.
        p = taken = b - 1
        for t in range(b - 1, a - 1, -1):
            while p >= a and z[p] > z[t] - high:
                _add_row(T, np.int64(level[p]) + 1, k, differences[p - a])
                p -= 1
            while taken > p and z[taken] > z[t] - low:
                _take_row(T, np.int64(level[taken]) + 1, k, differences[taken - a])
                taken -= 1
            if degree[t] == 0:
                continue
            own, left, right = differences[t - a], A[filled], S[filled]
            cost, half = costs[q], 0.5 * degree[t]
            for e in range(d):
                left[e], right[e] = cost * own[e], half * own[e]
            _subtract_sum(T, np.int64(level[t]), right)
            filled += 1
            if filled == GATHERED_ROWS:
                H += A.T @ S
                filled = 0
    H += A[:filled].T @ S[:filled]
    return H + H.T


@jit
def laplacian_gram_by_buckets(
    X: Array, centre: Array, order: Index, costs: Array, graph: PairGraph, A: Array, S: Array
) -> Array:
    """Approximate `laplacian_gram` with buckets of levels and groups of near values z.

    z is a decision value in units of the grid. The thresholds are applied to the middle
    z of a group, for all its points. About 1 / LEVEL_BUCKETS + (GATHERED_ROWS / n)^2 of
    all pairs are counted wrongly. The approximate L does not map constants to 0, so that
    X is taken relative to its centre.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features.
    centre : ndarray of shape (d,)
        Mean of the features.
    order : ndarray of int of shape (n,)
        Points of the graph, sorted by query and z.
    costs : ndarray of shape (queries,)
        Costs of the queries.
    graph : PairGraph
        Pairs.
    A, S : ndarray of shape (GATHERED_ROWS, d)
        Workspace; products and sums have its precision.

    Returns
    -------
    ndarray of shape (d, d)
        Symmetric matrix.
    """
    z, level, starts, levels = (
        graph.points.z,
        graph.points.level,
        graph.points.starts,
        graph.points.levels,
    )
    high, low, degree = graph.high, graph.low, graph.degree
    d = X.shape[1]
    cells, sums = np.zeros((LEVEL_BUCKETS, d), A.dtype), np.zeros((LEVEL_BUCKETS + 1, d), A.dtype)
    H, bucket = np.zeros((d, d)), np.empty(z.size, np.int32)
    for q in range(levels.size):
        a, b, k, cost = starts[q], starts[q + 1], levels[q], costs[q]
        if cost == 0.0:
            continue
        whole = k <= LEVEL_BUCKETS
        for t in range(a, b):
            bucket[t] = level[t] if whole else np.int64(level[t]) * LEVEL_BUCKETS // k
        cells[:] = 0.0
        # A cell holds the sum of x over one bucket, `sums` the sums over all lower
        # buckets.
        p, taken, stop = b - 1, b - 1, b
        while stop > a:
            start = max(a, stop - GATHERED_ROWS)
            middle = z[(start + stop - 1) // 2]
            while p >= a and z[p] > middle - high:
                x, cell = X[order[p]], cells[bucket[p]]
                for e in range(d):
                    cell[e] += x[e] - centre[e]
                p -= 1
            while taken > p and z[taken] > middle - low:
                x, cell = X[order[taken]], cells[bucket[taken]]
                for e in range(d):
                    cell[e] -= x[e] - centre[e]
                taken -= 1
            for c in range(LEVEL_BUCKETS):
                below, cell, above = sums[c], cells[c], sums[c + 1]
                for e in range(d):
                    above[e] = below[e] + cell[e]
            for t in range(start, stop):
                x, half, at_bucket = X[order[t]], 0.5 * degree[t], np.int64(bucket[t])
                left, right = A[t - start], S[t - start]
                below, above = sums[at_bucket], sums[at_bucket if whole else at_bucket + 1]
                for e in range(d):
                    difference = x[e] - centre[e]
                    left[e] = cost * difference
                    right[e] = half * difference - 0.5 * (below[e] + above[e])
            H += A[: stop - start].T @ S[: stop - start]
            stop = start
    return H + H.T


@jit
def _largest(levels: Index) -> Any:
    """Return the maximum of integers.

    `levels.max()` would take five times as long to compile.
    """
    largest = levels[0]
    for k in levels:
        largest = max(largest, k)
    return largest


@jit
def _with_lower(z: Index, edge: int, balance: Count, pull: Index) -> tuple[int, int]:
    """Return number and sum of the u = z - edge > 0; subtract them from the points' sums."""
    count, total = 0, 0
    for j in range(z.size):
        u = max(z[j] - edge, 0)
        one = 1 if u > 0 else 0
        count += one
        total += u
        balance[j] -= one
        pull[j] -= u
    return count, total


@fast
def _from_lower(z: Index, above: int, below: int, v: Array, own: float, Lv: Array) -> float:
    """Return the sum of v over z in (above, below]; subtract the own v from their Lv."""
    total = 0.0
    for j in range(z.size):
        inside = (z[j] > above) & (z[j] <= below)
        total += v[j] if inside else 0.0
        Lv[j] -= own if inside else 0.0
    return total


@jit
def _added(total: float, lost: float, v: float) -> tuple[float, float]:
    """Return total + v and the part lost in rounding, by Kahan's summation."""
    exactly = v - lost
    larger = total + exactly
    return larger, (larger - total) - exactly


@jit
def _add(T: Array, r: Any, k: Any, v: float) -> None:
    """Add v to entry r of a Fenwick tree of k entries."""
    while r <= k:
        T[r] += v
        r += r & -r


@jit
def _sum(T: Array, r: Any) -> float:
    """Return the sum of the first r entries."""
    s = 0.0
    while r > 0:
        s += T[r]
        r -= r & -r
    return s


@jit
def _add_row(T: Array, r: Any, k: Any, x: Array) -> None:
    """Add x to entry r of a Fenwick tree of vectors."""
    while r <= k:
        node = T[r]
        for e in range(x.size):
            node[e] += x[e]
        r += r & -r


@jit
def _take_row(T: Array, r: Any, k: Any, x: Array) -> None:
    """Subtract x from entry r of a Fenwick tree of vectors."""
    while r <= k:
        node = T[r]
        for e in range(x.size):
            node[e] -= x[e]
        r += r & -r


@jit
def _subtract_sum(T: Array, r: Any, v: Array) -> None:
    """Subtract the sum of the first r entries of a Fenwick tree of vectors from v."""
    while r > 0:
        node = T[r]
        for e in range(v.size):
            v[e] -= node[e]
        r -= r & -r


@jit
def _take_from_first(X: Array, points: Index, out: Array) -> None:
    """Compute the differences of points and the first of them, (points, d)."""
    first = X[points[0]]
    for t in range(points.size):
        x, own = X[points[t]], out[t]
        for e in range(first.size):
            own[e] = x[e] - first[e]
