"""All pairs of one query with different relevance: counted from the labels, and listed only where that is asked for.

Slacks at a decision f, and sums over them, are in `pair_slacks.py`; multipliers of pairs that are not listed in `pair_multipliers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import LISTED_PAIRS, Pairs
from equimargin.formulations.rows.pair_multipliers import MixedMultipliers, PairSubset
from equimargin.formulations.rows.pair_slacks import PairCurvature, PairSlacks
from equimargin.formulations.rows.pair_sweeps import Level

MANY = 1_000_000
"""The largest number of pairs that are looked at one by one where that proves more."""
POINTS_OF_A_QUERY = 10
"""The fewest points of a query that stand for all of them; where there would be fewer, some queries stand for all."""


class LabelledPairs(Pairs):
    """Ranking by relevance: f(x_i) - f(x_j) >= 1 for every i and j of one query with y_i > y_j (document K's orientation).

    Parameters
    ----------
    y : (m,) relevances.  query : (m,) queries 0, 1, ..., or None for a single one.

    p : how many pairs there are, exactly.  pairs_of : (groups,) how many of them every query has.
    active : (n,) the points that are in some pair, by query and level.
    queries : (k,) the queries that have pairs.  starts : (k + 1,) where the points of each begin in `active`.  levels : (k,) of each.
    level : (m,) the level of every point in its query, from 0.  place : (m,) where its query is among `queries`, -1 if it has no pairs.
    """

    query: Index

    def __init__(self, y: Array, query: Index | None) -> None:
        self.y, self.m = np.asarray(y, dtype=np.float64), len(y)
        self.query: Index = np.zeros(self.m, dtype=np.int64) if query is None else np.asarray(query, dtype=np.int64)
        order = np.argsort(self.y, kind="stable") if query is None else np.lexsort((self.y, self.query))
        q, levels = self.query[order], self.y[order]
        first = np.arange(self.m) == 0
        new_query = first | (q != np.roll(q, 1))
        new_level = new_query | (levels != np.roll(levels, 1))
        queries = int(q[-1]) + 1 if self.m else 0
        sizes, ties = np.bincount(q, minlength=queries), np.diff(np.append(np.flatnonzero(new_level), self.m))
        tied = np.zeros(queries, dtype=np.int64)
        np.add.at(tied, q[new_level], ties * (ties - 1) // 2)
        self.pairs_of: Index = sizes * (sizes - 1) // 2 - tied
        self.p = int(self.pairs_of.sum())
        kept = self.pairs_of[q] > 0
        self.active = order[kept]
        self.queries = np.flatnonzero(self.pairs_of > 0)
        self.starts = np.append(0, np.cumsum(sizes[self.queries]))
        levels_of = np.bincount(q[new_level], minlength=queries)
        self.levels: Index = levels_of[self.queries]
        place = np.cumsum(new_level) - 1
        self.level: Level = np.zeros(self.m, dtype=np.int32)
        self.level[order] = place - place[np.flatnonzero(new_query)][np.cumsum(new_query) - 1]
        position = np.full(queries, -1)
        position[self.queries] = np.arange(len(self.queries))
        self.place: Index = position[self.query]

    @property
    def many(self) -> bool:
        return self.p > MANY

    @cached_property
    def _listed(self) -> tuple[Index, Index]:  # type: ignore[override]
        if self.p > LISTED_PAIRS:
            raise ValueError(f"{self.p:,} preference pairs are more than the {LISTED_PAIRS:,} that are listed one by one")
        preferred, other = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            points = self.active[start:stop]
            i, j = np.nonzero(self.level[points][:, None] > self.level[points][None, :])
            preferred.append(points[i])
            other.append(points[j])
        i, j = np.concatenate(preferred), np.concatenate(other)
        order = np.lexsort((j, i))
        return i[order], j[order]

    @property
    def touched(self) -> Index:
        return np.sort(self.active)

    @property
    def groups(self) -> int:
        return len(self.pairs_of)

    def spread(self, values: Array) -> Array:
        return np.asarray(values[self.query[self.preferred]])

    def used(self, values: Array) -> Array:
        return np.where(self.pairs_of > 0, values, 0.0)

    def scale(self, squared: bool, costs: Array) -> float:
        return float(costs @ self.pairs_of) or 1.0

    def total_loss(self, squared: bool, costs: Array, f: Array, b: float, signed: bool) -> float:
        if not self.many:
            return super().total_loss(squared, costs, f, b, signed)
        slacks = self.slacks(f, costs)
        return slacks.squared_hinge() if squared else slacks.hinge()

    def weight(self, D: Any) -> float:
        return D.weight() if isinstance(D, PairCurvature) else super().weight(D)

    def hess_vec(self, D: Any, v: Array) -> Array:
        return D.hess_vec(v) if isinstance(D, PairCurvature) else super().hess_vec(D, v)

    def gram_weighted(self, Z: Explicit, D: Any) -> Array:
        return D.gram(Z) if isinstance(D, PairCurvature) else super().gram_weighted(Z, D)

    def mixed(self, mu: Array, subsets: Sequence[PairSubset], costs: Array) -> MixedMultipliers:
        return MixedMultipliers(self, mu, subsets, costs)

    def part(self, points: Index) -> tuple[Any, Any]:
        part = LabelledPairs(self.y[points], self.query[points])
        return part, slice(part.groups)

    def same(self, other: Rows) -> bool:
        """Whether these are the same pairs."""
        if self is other or not isinstance(other, LabelledPairs):
            return self is other
        return np.array_equal(self.y, other.y) and np.array_equal(self.query, other.query)

    def spaced(self, stride: int) -> Index:
        if len(self.active) >= POINTS_OF_A_QUERY * stride * len(self.queries):
            return np.asarray(self.active[stride // 2 :: stride])
        chosen = np.arange(len(self.queries)) % stride == 0
        return np.asarray(self.active[np.repeat(chosen, np.diff(self.starts))])

    def listed(self) -> Pairs:
        """The same pairs one by one."""
        return Pairs(self.preferred, self.other, self.m)

    def slacks(self, f: Array, costs: Array) -> PairSlacks:
        """What losses make of the slacks at f.

        Parameters
        ----------
        f : (m,) decision values.  costs : (queries,) c of the pairs of a query.
        """
        return PairSlacks(self, f, costs)
