"""Partition of a ranking: whole queries, with implicit pairs as rows.

The pairs are those of points of a query with different relevance.

    u_ij = tau - z_i + z_j
    sum_ij u_ij = sum_t (tau deg_t / 2 - z_t bal_t)
    sum_ij u_ij^2 = tau sum_ij u_ij - sum_t z_t pull_t

The sums go over the pairs with u_ij > 0, z are decision values, and the degree,
balance and pull of a point are integers (`pair_sweeps.py`). The unit in which z and tau
are integers depends on all partitions. The terms of a point therefore depend on no
partition and on no order of points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.formulations.partitions.order_free import SummationGrid, cut_in_two, folded_rows
from equimargin.formulations.partitions.partition import Partition
from equimargin.formulations.partitions.smooth_loss import SmoothLoss
from equimargin.formulations.partitions.whole import BLOCK_PAIR_ROWS, GlobalStats, PartitionStats
from equimargin.formulations.problem.labels import queries
from equimargin.formulations.rows.counted import BELOW_ALL_PAIRS, CountedPairs
from equimargin.formulations.rows.pair_sweeps import (
    OrderedPoints,
    PairGraph,
    ThresholdSums,
    _add_row,
    _take_row,
    by_query,
    gathered,
    middles,
    within,
)

BELOW_ONE = 1 - 2.0**-50
"""Factor by which a rounded number of units stays below its exact value."""


class RankedPartition(Partition):
    """Partition with points of whole queries.

    Parameters
    ----------
    number : int
        Number of the partition, from 0, for error messages.
    X : array-like of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Relevance grades.
    qid : array-like of shape (n,)
        Queries.
    """

    def __init__(self, number: int, X: Any, y: Any, qid: Any) -> None:
        self._qid = qid
        super().__init__(number, X, y, bias=False)

    def _read(self) -> None:
        self.queries, query = queries(self._qid, len(self.y))
        del self._qid
        self.pairs = CountedPairs(self.y, query)

    def facts(self) -> PartitionStats:
        sizes = np.diff(self.pairs.starts)
        return PartitionStats(
            len(self.y), self.pairs.p, int(sizes.max(initial=1)), self.top, self.queries
        )

    def look(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        ordered = self._sorted(whole, v)
        numbers, columns = whole.grids(v, loss)
        thresholds = *ordered.thresholds(loss), ordered.one
        sums, beta = np.zeros((2, 2)), self.memory.array("beta", self.y.shape)
        beta[:] = 0.0
        within = tuple(ordered.within(tau) for tau in thresholds)
        scale = np.array([loss.slope, ordered.unit])
        _fold(
            ordered.order,
            ordered.points.z,
            within,
            np.array(thresholds),
            scale,
            whole.loss == "squared_hinge",
            numbers,
            beta,
            sums,
        )
        return [sums, folded_rows(self.X, beta, columns)]

    def hessian(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        ordered, q = self._sorted(whole, v), len(v)
        high, low = ordered.thresholds(loss)
        H = np.zeros((2, q, q))
        if len(ordered.order):
            degree = self.memory.array("degree", ordered.order.shape, np.int32)
            np.subtract(ordered.within(high).degree, ordered.within(low).degree, out=degree)
            graph = PairGraph(ordered.points, high, low, degree)
            _integer_laplacian(self.X, ordered.order, whole.integer_scale(), graph, H)
        return [H]

    def _sorted(self, whole: GlobalStats, v: Array) -> SortedQueries:
        return self.kept(
            "sorted",
            v.tobytes(),
            lambda: SortedQueries.of(self.pairs, self.values(v), whole.unit(v), self.memory),
        )


@dataclass(frozen=True, eq=False)
class SortedQueries:
    """Points of all queries, sorted by decision value.

    Parameters
    ----------
    order : ndarray of int of shape (n,)
        Points.
    points : OrderedPoints
        Their decision values, in multiples of `unit`.
    unit : float
        Unit of the decision values, a power of two.
    memory : Workspace
        Workspace of all arrays.
    """

    order: Index
    points: OrderedPoints
    unit: float
    memory: Workspace
    _within: dict[int, ThresholdSums] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: CountedPairs, f: Array, unit: float, memory: Workspace) -> SortedQueries:
        """Sort decision values relative to the median of their query.

        Parameters
        ----------
        pairs : CountedPairs
            Pairs, with the points of each query.
        f : ndarray of shape (m,)
            Decision values.
        unit : float
            Unit of the decision values, a power of two.
        memory : Workspace
            Workspace of all arrays.
        """
        n, starts = len(pairs.active), pairs.starts
        order, middle = memory.array("order", (n,), np.int64), np.empty(len(pairs.queries))
        z, level = memory.array("z", (n,), np.int64), memory.array("level", (n,), np.int32)
        if n:
            by_query(np.argsort(f), pairs.place, starts, order)
            middles(order, f, starts, middle)
            gathered(order, f, pairs.level, starts, middle, unit, z, level)
        return cls(order, OrderedPoints(z, level, starts, pairs.levels), unit, memory)

    @property
    def one(self) -> int:
        """Margin 1 in units; the unit is a power of two."""
        return int(1.0 / self.unit)

    def thresholds(self, loss: SmoothLoss) -> tuple[int, int]:
        """Return the margins z_i - z_j, in units, at which phi' becomes 0 and `top`.

        The second is rounded so that no multiplier exceeds `top`.

        Parameters
        ----------
        loss : SmoothLoss
            Smooth loss.
        """
        high = int(np.rint((1.0 + loss.width) / self.unit))
        return high, BELOW_ALL_PAIRS if loss.squared else high - int(
            np.floor(loss.top / loss.slope / self.unit * BELOW_ONE)
        )

    def within(self, tau: int) -> ThresholdSums:
        """Return the sums over the pairs with a margin z_i - z_j below a threshold.

        Parameters
        ----------
        tau : int
            Threshold in units.
        """
        if tau not in self._within:
            n, k = len(self.order), len(self.points.levels)
            name = f"within threshold {len(self._within)}"
            counts = self.memory.array(f"{name}, counts", (2, n), np.int32)
            pull = self.memory.array(f"{name}, sums", (n,), np.int64)
            degree, balance = counts
            sums = ThresholdSums(
                degree, balance, pull, np.zeros(k), np.zeros(k), np.zeros(k, dtype=np.int64)
            )
            if n and tau > BELOW_ALL_PAIRS:
                within(self.points, tau, sums)
            else:
                counts[:], pull[:] = 0, 0
            self._within[tau] = sums
        return self._within[tau]


@jit
def _fold(
    order: Index,
    z: Index,
    within: tuple[ThresholdSums, ...],
    thresholds: Index,
    scale: Array,
    squared: bool,
    cut: SummationGrid,
    beta: Array,
    sums: Array,
) -> None:
    """Compute A'a in beta, and add up coarse and fine sums of a and of the loss.

    Parameters
    ----------
    within, thresholds : tuple of ThresholdSums
        Sums below, and values of, three thresholds: the margins at which phi' becomes 0
        and `top`, and 1, the threshold of the problem's own loss.
    scale : ndarray of shape (2,)
        Slope and unit.
    """
    above, below, own = within
    high, low, one = thresholds
    slope, unit = scale
    for t in range(order.size):
        beta[order[t]] = np.float64(above.pull[t] - below.pull[t]) * (slope * unit)
        twice = (high * above.degree[t] - 2 * z[t] * above.balance[t]) - (
            low * below.degree[t] - 2 * z[t] * below.balance[t]
        )
        a = np.float64(twice) * (slope * unit / 2)
        loss = np.float64(one * own.degree[t] - 2 * z[t] * own.balance[t]) * (unit / 2)
        if squared:
            loss -= (np.float64(z[t]) * unit) * (np.float64(own.pull[t]) * unit)
        for k, term in enumerate((a, loss)):
            rough, rest = cut_in_two(term, cut.coarse[k], cut.fine[k])
            sums[0, k] += rough
            sums[1, k] += rest


@jit
def _integer_laplacian(X: Array, order: Index, scale: Array, graph: PairGraph, H: Array) -> None:
    """Add high and low parts of A'S + S'A = 2 Z' L Z to H (2, d, d).

    A is Z = rint(X diag(scale)), and L the graph's Laplacian. Row t of S is deg_t Z_t -
    2 sum of Z_j over the pairs (t, j), as in `laplacian_gram`. All numbers are
    integers, and exact.
    """
    z, level, starts, levels = (
        graph.points.z,
        graph.points.level,
        graph.points.starts,
        graph.points.levels,
    )
    high, low, degree = graph.high, graph.low, graph.degree
    d, max_points, max_levels = X.shape[1], 0, 0
    for q in range(levels.size):
        max_points, max_levels = (
            max(max_points, starts[q + 1] - starts[q]),
            max(max_levels, levels[q]),
        )
    T, integers = np.zeros((max_levels + 2, d)), np.empty((max_points, d))
    A, S, filled = np.empty((BLOCK_PAIR_ROWS, d)), np.empty((BLOCK_PAIR_ROWS, d)), 0
    for q in range(levels.size):
        a, b, k = starts[q], starts[q + 1], levels[q]
        T[: k + 1] = 0.0
        for t in range(a, b):
            x = X[order[t]]
            for e in range(d):
                integers[t - a, e] = np.rint(x[e] * scale[e])
        # T has the sums by level of Z_p over the p with z_t - high < z_p <= z_t - low.
        p = taken = b - 1
        for t in range(b - 1, a - 1, -1):
            while p >= a and z[p] > z[t] - high:
                _add_row(T, np.int64(level[p]) + 1, k, integers[p - a])
                p -= 1
            while taken > p and z[taken] > z[t] - low:
                _take_row(T, np.int64(level[taken]) + 1, k, integers[taken - a])
                taken -= 1
            if degree[t] == 0:
                continue
            left, right, weight = A[filled], S[filled], np.float64(degree[t])
            for e in range(d):
                left[e], right[e] = integers[t - a, e], weight * integers[t - a, e]
            r = np.int64(level[t])
            while r > 0:
                node = T[r]
                for e in range(d):
                    right[e] -= 2.0 * node[e]
                r -= r & -r
            filled += 1
            if filled == BLOCK_PAIR_ROWS:
                _add_halves(A.T @ S, H)
                filled = 0
    _add_halves(A[:filled].T @ S[:filled], H)


@jit
def _add_halves(B: Array, H: Array) -> None:
    """Add integers B (d, d) and their transpose to the high and low parts H (2, d, d)."""
    push = 1.5 * 2.0**52 * 2.0**30
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            high = (B[i, j] + push) - push
            H[0, i, j] += high
            H[0, j, i] += high
            H[1, i, j] += B[i, j] - high
            H[1, j, i] += B[i, j] - high
