"""Sums over the preference pairs of a query that lie within a margin, in O(n log k) for n points of k levels: no pair is ever listed.

A pair (i, j), the level of i above that of j, lies within tau where z_i - z_j < tau. With the points of a query sorted by z, those j with
z_j > z_i - tau are a final segment that grows as z_i falls; counts and sums of them by level are kept in a Fenwick tree, and likewise of
the i for every j. z and tau are integers, multiples of a unit so large that no sum overflows: counts and sums are exact, ties included.

Source: document K, (3.17)-(3.18), for the counts l+ and l-; P. M. Fenwick, A new data structure for cumulative frequency tables (1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit

Index = NDArray[np.int64]
Level = NDArray[np.int32]

ROWS = 256
"""Rows of features gathered at a time for a matrix product."""


@jit
def by_query(order: Index, query: Index, starts: Index, out: Index) -> None:
    """The points `order` by query, stable, into `out`; points of query -1 are left out.

    starts : (queries + 1,) where the points of every query begin.
    """
    place = starts[:-1].copy()
    for i in order:
        q = query[i]
        if q >= 0:
            out[place[q]] = i
            place[q] += 1


@jit
def middles(order: Index, f: Array, starts: Index, middle: Array) -> float:
    """The middle value of every query into `middle`, (queries,); the largest distance from it."""
    largest = 0.0
    for q in range(starts.size - 1):
        a, b = starts[q], starts[q + 1]
        middle[q] = f[order[(a + b) // 2]]
        largest = max(largest, f[order[b - 1]] - middle[q], middle[q] - f[order[a]])
    return largest


@jit
def gathered(order: Index, f: Array, level: Level, starts: Index, middle: Array, unit: float, z: Index, levels: Level) -> None:
    """z = (f - middle) / unit, rounded, and levels, both in sorted order."""
    for q in range(starts.size - 1):
        for t in range(starts[q], starts[q + 1]):
            z[t] = np.int64(np.rint((f[order[t]] - middle[q]) / unit))
            levels[t] = level[order[t]]


@jit
def within(
    z: Index,
    level: Level,
    starts: Index,
    levels: Index,
    tau: int,
    count: Index,
    balance: Index,
    pull: Index,
    total: Array,
    square: Array,
    pairs: Index,
) -> None:
    """The pairs within tau, with u_ij = tau - z_i + z_j > 0.

    Parameters
    ----------
    z, level : (n,) sorted by (query, z).  starts : (queries + 1,).  levels : (queries,) how many every query has.
    count : (n,) becomes the number of pairs of a point, l+ + l-.  balance : (n,) A'1, l- - l+.  pull : (n,) A'u.
    total, square, pairs : (queries,) sums of u and of u^2, nearly, and of 1.
    """
    T = np.zeros((levels.max() + 2, 2), np.int64)
    for q in range(levels.size):
        a, b, k = starts[q], starts[q + 1], levels[q]
        T[: k + 1] = 0
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
            count[t], balance[t], pull[t] = c, c, u
            number += c
            all_u, lost = _added(all_u, lost, np.float64(u))
        T[: k + 1] = 0
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
            count[t] += c
            balance[t] -= c
            pull[t] -= (tau + z[t]) * c - s
            squares, lost = _added(squares, lost, np.float64(z[t]) * np.float64(pull[t]))
        total[q], square[q], pairs[q] = all_u, max(tau * all_u - squares, 0.0), number


@jit
def laplacian_product(z: Index, level: Level, starts: Index, levels: Index, high: int, low: int, count: Index, v: Array) -> Array:
    """L v, (n,): L the Laplacian of the graph of the pairs with low <= z_i - z_j < high, count its diagonal, v (n,) in sorted order."""
    T = np.zeros(levels.max() + 2)
    out = count * v
    for q in range(levels.size):
        a, b, k = starts[q], starts[q + 1], levels[q]
        T[: k + 1] = 0.0
        p = taken = b - 1
        for t in range(b - 1, a - 1, -1):
            while p >= a and z[p] > z[t] - high:
                _add(T, np.int64(level[p]) + 1, k, v[p])
                p -= 1
            while taken > p and z[taken] > z[t] - low:
                _add(T, np.int64(level[taken]) + 1, k, -v[taken])
                taken -= 1
            out[t] -= _sum(T, np.int64(level[t]))
        T[: k + 1] = 0.0
        p = taken = a
        for t in range(a, b):
            while p < b and z[p] - high < z[t]:
                _add(T, k - np.int64(level[p]), k, v[p])
                p += 1
            while taken < p and z[taken] - low < z[t]:
                _add(T, k - np.int64(level[taken]), k, -v[taken])
                taken += 1
            out[t] -= _sum(T, k - 1 - np.int64(level[t]))
    return out


@jit
def laplacian_gram(
    X: Array, z: Index, level: Level, order: Index, starts: Index, levels: Index, costs: Array, high: int, low: int, count: Index
) -> Array:
    """X' L X, (d, d), with L as in `laplacian_product`, the part of a query times its cost: X'diag(count)X - M - M', M = sum_i x_i m_i'.

    m_i is the sum of the x_j over the pairs (i, j); the nodes of the tree hold d numbers.
    """
    d = X.shape[1]
    T = np.zeros((levels.max() + 2, d))
    H, A, S = np.zeros((d, d)), np.empty((ROWS, d)), np.empty((ROWS, d))
    filled = 0
    for q in range(levels.size):
        a, b, k, cost = starts[q], starts[q + 1], levels[q], costs[q]
        if cost == 0.0:
            continue
        T[: k + 1] = 0.0
        p = taken = b - 1
        for t in range(b - 1, a - 1, -1):
            while p >= a and z[p] > z[t] - high:
                _add_row(T, np.int64(level[p]) + 1, k, 1.0, X[order[p]])
                p -= 1
            while taken > p and z[taken] > z[t] - low:
                _add_row(T, np.int64(level[taken]) + 1, k, -1.0, X[order[taken]])
                taken -= 1
            if count[t] == 0:
                continue
            x, half = X[order[t]], 0.5 * count[t]
            for e in range(d):
                A[filled, e] = cost * x[e]
                S[filled, e] = half * x[e]
            r = np.int64(level[t])
            while r > 0:
                for e in range(d):
                    S[filled, e] -= T[r, e]
                r -= r & -r
            filled += 1
            if filled == ROWS:
                H += A.T @ S
                filled = 0
    H += A[:filled].T @ S[:filled]
    return H + H.T


@jit
def laplacian_gram_by_buckets(
    X: Array,
    centre: Array,
    z: Index,
    level: Level,
    order: Index,
    starts: Index,
    levels: Index,
    costs: Array,
    high: int,
    low: int,
    count: Index,
    buckets: int,
    rows: int,
) -> Array:
    """As `laplacian_gram`, nearly: levels put together in buckets, and rows of neighbouring z compared at their middle.

    The pairs that are counted wrongly are about 1 / buckets + (rows / n)^2 of all. The approximate L does not take constants to 0, so
    that X is taken from its centre (d,).
    """
    d = X.shape[1]
    cells, sums = np.zeros((buckets, d)), np.zeros((buckets + 1, d))
    H, A, S = np.zeros((d, d)), np.empty((rows, d)), np.empty((rows, d))
    bucket = np.empty(z.size, np.int32)
    for q in range(levels.size):
        a, b, k, cost = starts[q], starts[q + 1], levels[q], costs[q]
        if cost == 0.0:
            continue
        whole = k <= buckets
        for t in range(a, b):
            bucket[t] = level[t] if whole else np.int64(level[t]) * buckets // k
        cells[:] = 0.0
        p, taken, stop = b - 1, b - 1, b
        while stop > a:
            start = max(a, stop - rows)
            at = z[(start + stop - 1) // 2]
            while p >= a and z[p] > at - high:
                x, cell = X[order[p]], cells[bucket[p]]
                for e in range(d):
                    cell[e] += x[e] - centre[e]
                p -= 1
            while taken > p and z[taken] > at - low:
                x, cell = X[order[taken]], cells[bucket[taken]]
                for e in range(d):
                    cell[e] -= x[e] - centre[e]
                taken -= 1
            for c in range(buckets):
                for e in range(d):
                    sums[c + 1, e] = sums[c, e] + cells[c, e]
            for t in range(start, stop):
                x, half, c = X[order[t]], 0.5 * count[t], bucket[t]
                for e in range(d):
                    here = x[e] - centre[e]
                    below = sums[c, e] if whole else 0.5 * (sums[c, e] + sums[c + 1, e])
                    A[t - start, e] = cost * here
                    S[t - start, e] = half * here - below
            H += A[: stop - start].T @ S[: stop - start]
            stop = start
    return H + H.T


@jit
def _added(total: float, lost: float, v: float) -> tuple[float, float]:
    """Kahan's sum: total + v, and what rounding left out of it."""
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
    """The sum of the first r entries."""
    s = 0.0
    while r > 0:
        s += T[r]
        r -= r & -r
    return s


@jit
def _add_row(T: Array, r: Any, k: Any, sign: float, x: Array) -> None:
    """Add sign x to entry r of a Fenwick tree of vectors."""
    while r <= k:
        for e in range(x.size):
            T[r, e] += sign * x[e]
        r += r & -r
