"""Preference pairs of points of one query with different relevance, and sums over them.

The pairs are counted by query and relevance grade, and never listed. A sum over their
slacks u_ij = 1 - f_i + f_j comes from counts and prefix sums of f (`pair_sweeps.py`).
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import SMALLEST, gamma_n, round_toward
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import LISTED_PAIRS, Pairs
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.pair_sweeps import (
    Blocks,
    Count,
    Level,
    OrderedPoints,
    ThresholdSums,
    add_inner,
    by_query,
    gathered,
    least_margins,
    list_pairs,
    middles,
    put_in_blocks,
    split,
    within,
    within_by_pairs,
)

POINTS_OF_A_QUERY = 10
"""Minimum average number of points per query in a subsample.

A smaller subsample consists of some of the queries, with all their points.
"""
WIDEST_THRESHOLD = 8.0
"""Maximum threshold tau for margins f_i - f_j < tau, in units of f.

The grid of f is chosen so that no sum over such pairs overflows.
"""
LEVELS_IN_CACHE = 1_000_000
"""Maximum levels of a query for sums in a single Fenwick tree.

With four times as many levels such a tree takes twice as long as blocks of levels.
"""
MAX_POINTS = 2**31 - 1
"""Maximum number of points, whose pairs are counted in 32 bits."""
BELOW_ALL_PAIRS = -(2**62)
"""Threshold below all margins, in units of the grid of f."""
CACHED_THRESHOLDS = 5
"""Number of thresholds whose sums are cached: those of two smooth losses, and 1.

A run compares its present loss with the one before.
"""
PAIRS_PER_POINT = 50
"""Maximum pairs per point for sums pair by pair, for which points are not sorted.

With up to 46 they took .75 to 1 of the time of a whole solution by sorted points.
"""


class CountedPairs(Pairs):
    """Implicit pairs (i, j) of one query with y_i > y_j.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Relevance grades.
    query : ndarray of int of shape (m,), or None
        Queries 0, 1, ..., or None for a single query.

    Attributes
    ----------
    p : int
        Exact number of pairs.
    pairs_of : ndarray of int of shape (groups,)
        Number of pairs of every query.
    active : ndarray of int of shape (n,)
        Points used by a pair, sorted by query and level.
    queries : ndarray of int of shape (k,)
        Queries that have pairs.
    starts : ndarray of int of shape (k + 1,)
        Index in `active` of the first point of each query.
    levels : ndarray of int of shape (k,)
        Number of levels of each query: of different grades of its points.
    level : ndarray of int32 of shape (m,)
        Rank of every point's grade among the grades of its query, from 0.
    place : ndarray of int32 of shape (m,)
        Index in `queries` of the point's query, -1 if it has no pairs.
    """

    query: Index

    def __init__(self, y: Array, query: Index | None) -> None:
        self.y, self.m = np.asarray(y, dtype=np.float64), len(y)
        if self.m > MAX_POINTS:
            raise ValueError(
                f"there are {self.m:,} points; pairs of at most {MAX_POINTS:,} are counted"
            )
        self.query: Index = (
            np.zeros(self.m, dtype=np.int64) if query is None else np.asarray(query, dtype=np.int64)
        )
        order = (
            np.argsort(self.y, kind="stable") if query is None else np.lexsort((self.y, self.query))
        )
        q, levels = self.query[order], self.y[order]
        new_query, new_level = np.ones(self.m, dtype=bool), np.ones(self.m, dtype=bool)
        np.not_equal(q[1:], q[:-1], out=new_query[1:])
        np.not_equal(levels[1:], levels[:-1], out=new_level[1:])
        new_level |= new_query
        queries = int(q[-1]) + 1 if self.m else 0
        sizes, first_levels = np.bincount(q, minlength=queries), np.flatnonzero(new_level)
        ties, of_level = np.diff(np.append(first_levels, self.m)), q[first_levels]
        tied = np.zeros(queries, dtype=np.int64)
        np.add.at(tied, of_level, ties * (ties - 1) // 2)
        self.pairs_of: Index = sizes * (sizes - 1) // 2 - tied
        self.p = int(self.pairs_of.sum())
        self.active = order[np.repeat(self.pairs_of > 0, sizes)]
        self.queries = np.flatnonzero(self.pairs_of > 0)
        self.starts = np.append(0, np.cumsum(sizes[self.queries]))
        levels_of = np.bincount(of_level, minlength=queries)
        self.levels: Index = levels_of[self.queries]
        self.level: Level = np.empty(self.m, dtype=np.int32)
        place = np.cumsum(new_level, dtype=np.int32)
        place -= np.repeat(np.cumsum(levels_of) - levels_of + 1, sizes).astype(np.int32)
        self.level[order] = place
        position = np.full(queries, -1, dtype=np.int32)
        position[self.queries] = np.arange(len(self.queries), dtype=np.int32)
        self.place: Count = position[self.query]

    @cached_property
    def _listed(self) -> tuple[Index, Index]:  # type: ignore[override]
        if self.p > LISTED_PAIRS:
            raise ValueError(
                f"{self.p:,} preference pairs are more than the {LISTED_PAIRS:,} that can "
                f"be listed explicitly"
            )
        level, place = self.level[self.active], np.arange(len(self.active))
        # Index of the first point of each point's query.
        first = np.repeat(self.starts[:-1], np.diff(self.starts))
        is_new = (place == first) | np.append(True, level[1:] != level[:-1])
        # Number of points of lower levels in each point's query.
        below = np.maximum.accumulate(np.where(is_new, place, 0)) - first
        # Rows are ordered by the preferred point: index of the first row of every point.
        rows_of = np.zeros(self.m, dtype=np.int64)
        rows_of[self.active] = below
        preferred, other = np.empty((2, self.p), dtype=np.int64)
        list_pairs(
            self.active, self.level, self.starts, np.cumsum(rows_of) - rows_of, preferred, other
        )
        return preferred, other

    @cached_property
    def no_sums(self) -> ThresholdSums:
        """Sums over no pairs."""
        return make_empty_sums(len(self.active), len(self.queries))

    @property
    def touched(self) -> Index:
        return np.sort(self.active)

    @property
    def groups(self) -> int:
        return len(self.pairs_of)

    def spread(self, values: Array) -> Array:
        if len(values) and (values == values[0]).all():
            return np.full(self.p, values[0])
        return np.asarray(values[self.query[self.preferred]])

    def used(self, values: Array) -> Array:
        return np.where(self.pairs_of > 0, values, 0.0)

    def scale(self, phi: Loss, costs: Array) -> float:
        return float(costs @ self.pairs_of) or 1.0

    def same(self, other: Rows) -> bool:
        """Return True if both consist of the same pairs.

        Parameters
        ----------
        other : Rows
            Rows to compare.
        """
        if self is other or not isinstance(other, CountedPairs):
            return self is other
        return np.array_equal(self.y, other.y) and np.array_equal(self.query, other.query)

    def spaced(self, stride: int) -> Index:
        if len(self.active) >= POINTS_OF_A_QUERY * stride * len(self.queries):
            return np.asarray(self.active[stride // 2 :: stride])
        chosen = np.arange(len(self.queries)) % stride == 0
        return np.asarray(self.active[np.repeat(chosen, np.diff(self.starts))])

    def least_margins(self, f: Array) -> tuple[Index, Array]:
        """Return the pair with the minimum margin f_i - f_j of every query, in O(m).

        Parameters
        ----------
        f : ndarray of shape (m,)
            Decision values, no NaN.

        Returns
        -------
        pairs : ndarray of int of shape (k, 2)
            Pair of every query that has pairs.
        margins : ndarray of shape (k,)
            Minimum margins.
        """
        pairs, margins = (
            np.zeros((len(self.queries), 2), dtype=np.int64),
            np.full(len(self.queries), np.inf),
        )
        least_margins(
            self.active,
            self.level,
            self.starts,
            np.ascontiguousarray(f, dtype=np.float64),
            pairs,
            margins,
        )
        return pairs, margins

    def least_margin(self, f: Array, chosen: NDArray[np.bool_]) -> float:
        """Return the minimum margin f_i - f_j over the chosen queries.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Decision values, no NaN.
        chosen : ndarray of bool of shape (queries,)
            True for the chosen queries.

        Returns
        -------
        float
            Margin; inf if the queries have no pairs.
        """
        return (
            float(self.least_margins(f)[1][chosen[self.queries]].min(initial=np.inf))
            if chosen.any()
            else np.inf
        )

    def listed(self) -> Pairs:
        """Return the pairs as explicit rows."""
        return Pairs(self.preferred, self.other, self.m)


def make_empty_sums(points: int, queries: int) -> ThresholdSums:
    """Return sums over an empty set of pairs, to be filled.

    Parameters
    ----------
    points : int
        Number of points.
    queries : int
        Number of queries.
    """
    return ThresholdSums(
        np.zeros(points, dtype=np.int32),
        np.zeros(points, dtype=np.int32),
        np.zeros(points, dtype=np.int64),
        np.zeros(queries),
        np.zeros(queries),
        np.zeros(queries, dtype=np.int64),
    )


class PairSums:
    """Sums over all pairs at decision values f.

    The points are in the order of their levels if sums go pair by pair, and otherwise
    sorted by f once.

    f minus that of one point of its query is rounded to a multiple of `unit`, so that
    sums over a query's points are exact.

    Parameters
    ----------
    rows : CountedPairs
        Pairs.
    f : ndarray of shape (m,)
        Decision values.
    costs : ndarray of shape (queries,)
        Costs c of the pairs of a query.
    """

    def __init__(self, rows: CountedPairs, f: Array, costs: Array) -> None:
        self.rows, self.f = rows, np.ascontiguousarray(f, dtype=np.float64)
        self.all_costs, self.costs = costs, costs[rows.queries]
        self.by_pairs = rows.p <= PAIRS_PER_POINT * len(rows.active)
        self.order: Index = rows.active if self.by_pairs else self._sorted()
        self._middle = np.empty(len(rows.queries))
        self.reach: float = middles(self.order, self.f, rows.starts, self._middle)
        largest = 2 * (self.reach + WIDEST_THRESHOLD) * float(np.diff(rows.starts).max(initial=1))
        self.unit = 2.0 ** (np.ceil(np.log2(largest)) - 62)
        self.points = self._gathered(self.order)
        self._within: dict[int, ThresholdSums] = {}
        self._pulled: tuple[tuple[int, int, float], Array] | None = None

    def _sorted(self) -> Index:
        """Return the points sorted by query and f."""
        rows, order = self.rows, np.empty(len(self.rows.active), dtype=np.int64)
        by_query(np.argsort(self.f), rows.place, rows.starts, order)
        return order

    def _gathered(self, order: Index) -> OrderedPoints:
        """Return the points on the grid, in an order by queries."""
        rows, n = self.rows, len(order)
        z, level = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32)
        gathered(order, self.f, rows.level, rows.starts, self._middle, self.unit, z, level)
        return OrderedPoints(z, level, rows.starts, rows.levels)

    @cached_property
    def ascending(self) -> tuple[Index, OrderedPoints]:
        """Points sorted by query and f, and their numbers on the grid."""
        if not self.by_pairs:
            return self.order, self.points
        order = self._sorted()
        return order, self._gathered(order)

    def on_grid(self, tau: float) -> int:
        """Return a threshold in units of the grid, rounded.

        Parameters
        ----------
        tau : float
            Threshold; -inf becomes -2^62, below all margins.

        Raises
        ------
        ValueError
            If |tau| exceeds WIDEST_THRESHOLD.
        """
        if tau == -np.inf:
            return BELOW_ALL_PAIRS
        if not abs(tau) <= WIDEST_THRESHOLD:
            raise ValueError(
                f"a threshold of implicit pairs must be at most {WIDEST_THRESHOLD:g}, not {tau:g}"
            )
        return int(np.rint(tau / self.unit))

    def within(self, tau: int) -> ThresholdSums:
        """Return the sums of u = tau - f_i + f_j over the pairs with f_i - f_j < tau.

        Parameters
        ----------
        tau : int
            Threshold in units of the grid.
        """
        if tau <= BELOW_ALL_PAIRS:
            return self.rows.no_sums
        # The sums of the last thresholds are cached, the last one at the end.
        sums = self._within.pop(tau, None) or self._summed(tau)
        self._within[tau] = sums
        return sums

    def _summed(self, tau: int) -> ThresholdSums:
        """Return the sums at a threshold; drop those that were used longest ago."""
        # Another thread may drop the same ones.
        cached = list(self._within)
        for longest_ago in cached[: max(len(cached) - CACHED_THRESHOLDS + 1, 0)]:
            self._within.pop(longest_ago, None)
        sums = make_empty_sums(len(self.order), len(self.costs))
        if len(self.order):
            self._sweep(tau, sums)
            np.multiply(sums.total, self.unit, out=sums.total)
            np.multiply(sums.square, self.unit**2, out=sums.square)
        return sums

    def _sweep(self, tau: int, found: ThresholdSums) -> None:
        """Sum over the pairs of margin below tau, in one sweep or by blocks of levels."""
        points, levels = self.points, self.rows.levels
        if self.by_pairs:
            within_by_pairs(points, tau, found)
            return
        if levels.max() <= LEVELS_IN_CACHE:
            within(points, tau, found)
            return
        blocks = self._blocks
        coarse, count = np.empty_like(points.level), len(blocks.starts) - 1
        inner = OrderedPoints(
            np.empty_like(points.z),
            np.empty_like(points.level),
            blocks.starts,
            np.empty(count, dtype=np.int64),
        )
        split(points, blocks, coarse, inner)
        within(OrderedPoints(points.z, coarse, points.starts, np.diff(blocks.first)), tau, found)
        inside = make_empty_sums(len(points.z), count)
        within(inner, tau, inside)
        add_inner(inside, blocks, found)

    @cached_property
    def _blocks(self) -> Blocks:
        """Blocks of about as many levels as there are blocks."""
        points, levels = self.points, self.rows.levels
        shift = int(levels.max()).bit_length() // 2
        first = np.append(0, np.cumsum(((levels - 1) >> shift) + 1))
        blocks = Blocks(
            shift,
            first,
            np.zeros(int(first[-1]) + 1, dtype=np.int64),
            np.empty(len(points.z), dtype=np.int32),
        )
        put_in_blocks(points, blocks)
        return blocks

    def scattered(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values in the order of `order` (n,) at their points.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Values in the order of `order`.

        Returns
        -------
        ndarray of shape (m,)
            Values of the points, 0 if in no pair.
        """
        out = np.zeros(self.rows.m, values.dtype)
        out[self.order] = values
        return out

    def pulled(self, high: int, low: int, slope: float) -> Array:
        """Return A'alpha for alpha_ij = c slope ((high - m)_+ - (low - m)_+), m = f_i - f_j.

        The last result is cached. Multipliers refer to the sums, so that a cache of these
        would be a reference cycle, whose memory stays until a garbage collection.

        Parameters
        ----------
        high, low : int
            Thresholds in units of the grid.
        slope : float
            Slope.

        Returns
        -------
        ndarray of shape (m,)
            A'alpha.
        """
        key, cached = (high, low, slope), self._pulled
        if cached is None or cached[0] != key:
            pull = self.within(high).pull
            if low > BELOW_ALL_PAIRS:
                pull = pull - self.within(low).pull
            product = self.unit * pull
            product *= slope
            product *= np.repeat(self.costs, np.diff(self.rows.starts))
            self._pulled = cached = key, self.scattered(product)
        return cached[1]

    def at_costs(self, costs: Array) -> Self:
        """Return a copy with other costs, which shares f and the sums without costs.

        Parameters
        ----------
        costs : ndarray of shape (groups,)
            Costs c.
        """
        sums = copy(self)
        sums.all_costs, sums.costs, sums._pulled = costs, costs[self.rows.queries], None
        return sums

    def square_error(self, tau: int) -> float:
        """Return a bound on the error of the sum of c u^2 at threshold tau.

        The sum is computed as tau sum u - sum z A'u, with compensated sums.

        Parameters
        ----------
        tau : int
            Threshold in units of the grid.
        """
        widest = abs(tau) * self.unit + 2 * float(self.reach)
        return float(
            round_toward(
                gamma_n(32)
                * widest
                * widest
                * (self.costs @ self.within(tau).pairs + len(self.costs) * SMALLEST),
                1,
            )
        )
