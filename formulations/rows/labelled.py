"""All pairs of one query with different relevance: counted, summed over and differentiated without being listed.

    Slacks of a decision f:   u_ij = 1 - f_i + f_j          every sum over pairs from counts and prefix sums of f (`pair_sweeps.py`)

A loss with two kinks is a difference of two squared hinges, so that it takes the pairs within two thresholds, high = 1 + width and
low = high - top / slope:

    phi'(u) = slope ((high - m)_+ - (low - m)_+),      phi(u) = slope / 2 ((high - m)_+^2 - (low - m)_+^2),      m = f_i - f_j

Source: document K, section 3.2, (3.17)-(3.18), for the squared hinge.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import SMALLEST, UNIT, gamma_n, product, rounded, total
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.rows.losses import Smooth
from equimargin.formulations.rows.pair_sweeps import (
    Index,
    Level,
    by_query,
    gathered,
    laplacian_gram,
    laplacian_gram_by_buckets,
    laplacian_product,
    middles,
    within,
)
from equimargin.formulations.rows.slacks import Expansion, Line, Slacks

LISTED = 10_000_000
"""Pairs are listed one by one up to this many."""
MANY = 1_000_000
"""Up to this many they are looked at one by one where that proves more."""
FEW = 10
"""Points of a query that stand for all of them; where these would be fewer, some queries stand for all."""
WIDEST, BELOW_ALL = 8.0, -(2**62)
"""Thresholds of implicit pairs, at most, and the one in units that no pair is within."""
BUCKETS, NEIGHBOURS = 256, 256
"""A Hessian is good enough for Newton's method with so many buckets of levels and so many points compared at their middle,"""
BUCKETED = 20_000
"""in queries of so many points on average, where a tree of vectors would leave the cache."""


class LabelledPairs(Pairs):
    """Ranking by relevance: f(x_i) - f(x_j) >= 1 for every i and j of one query with y_i > y_j (document K's orientation).

    Parameters
    ----------
    y : (m,) relevances.  query : (m,) queries 0, 1, ..., or None for a single one.

    active : (l,) the points that are in some pair, by query and level.  p : how many pairs, exactly.
    pairs_of : (queries,) how many pairs every query has.
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
        self._queries = np.flatnonzero(self.pairs_of > 0)
        self._starts = np.append(0, np.cumsum(sizes[self._queries]))
        levels_of = np.bincount(q[new_level], minlength=queries)
        self._levels: Index = levels_of[self._queries]
        place = np.cumsum(new_level) - 1
        self._level: Level = np.zeros(self.m, dtype=np.int32)
        self._level[order] = place - place[np.flatnonzero(new_query)][np.cumsum(new_query) - 1]
        position = np.full(queries, -1)
        position[self._queries] = np.arange(len(self._queries))
        self._place: Index = position[self.query]

    @property
    def many(self) -> bool:
        return self.p > MANY

    @cached_property
    def _listed(self) -> tuple[Index, Index]:  # type: ignore[override]
        if self.p > LISTED:
            raise ValueError(f"{self.p:,} preference pairs are more than the {LISTED:,} that are listed one by one")
        preferred, other = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for start, stop in zip(self._starts[:-1], self._starts[1:], strict=True):
            points = self.active[start:stop]
            i, j = np.nonzero(self._level[points][:, None] > self._level[points][None, :])
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

    def rdot(self, alpha: Any) -> Array:
        return alpha.rmatvec() if isinstance(alpha, ImplicitMultipliers) else super().rdot(alpha)

    def gain(self, alpha: Any) -> float:
        return alpha.sum() if isinstance(alpha, ImplicitMultipliers) else super().gain(alpha)

    def ridge(self, alpha: Any, costs: Array) -> float:
        return alpha.ridge() if isinstance(alpha, ImplicitMultipliers) else super().ridge(alpha, costs)

    def mixed(self, mu: Array, subsets: Sequence[PairSubset], costs: Array) -> MixedMultipliers:
        return MixedMultipliers(self, mu, subsets, costs)

    def part(self, points: Index) -> tuple[Rows, Any]:
        part = LabelledPairs(self.y[points], self.query[points])
        return part, slice(part.groups)

    def same(self, other: Rows) -> bool:
        """Whether these are the same pairs."""
        if self is other or not isinstance(other, LabelledPairs):
            return self is other
        return np.array_equal(self.y, other.y) and np.array_equal(self.query, other.query)

    def spaced(self, stride: int) -> Index:
        if len(self.active) >= FEW * stride * len(self._queries):
            return np.asarray(self.active[stride // 2 :: stride])
        chosen = np.arange(len(self._queries)) % stride == 0
        return np.asarray(self.active[np.repeat(chosen, np.diff(self._starts))])

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


@dataclass(frozen=True, eq=False)
class Within:
    """The pairs within a threshold at some f, and their slacks u_ij = tau - f_i + f_j > 0.

    count, balance : (n,) pairs of a point, l+ + l- of K (3.17)-(3.18), and A'1, l- - l+.  pull : (n,) A'u, over the unit.  All exact and
    in sorted order.
    total, square, pairs : (queries,) sums of u, of u^2 and of 1, of the queries that have pairs.
    """

    count: Index
    balance: Index
    pull: Index
    total: Array
    square: Array
    pairs: Index


class PairSlacks(Slacks):
    """The slacks of all pairs at decision values f, sorted once.

    f is taken to a grid on which sums over a query's points are exact: relative to the middle of its query, in multiples of `unit`.

    Parameters
    ----------
    rows : the pairs.  f : (m,) decision values.  costs : (queries,) c of the pairs of a query.
    """

    def __init__(self, rows: LabelledPairs, f: Array, costs: Array) -> None:
        self.rows, self.f = rows, np.ascontiguousarray(f, dtype=np.float64)
        self.all_costs, self.costs = costs, costs[rows._queries]
        n, sizes = len(rows.active), np.diff(rows._starts)
        self.order: Index = np.empty(n, dtype=np.int64)
        by_query(np.argsort(self.f), rows._place, rows._starts, self.order)
        middle = np.empty(len(sizes))
        self.reach: float = middles(self.order, self.f, rows._starts, middle) if n else 0.0
        largest = 2 * (self.reach + WIDEST) * float(sizes.max(initial=1))
        self.unit = 2.0 ** (np.ceil(np.log2(largest)) - 62)
        self.z, self.level = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32)
        gathered(self.order, self.f, rows._level, rows._starts, middle, self.unit, self.z, self.level)
        self._within: dict[int, Within] = {}
        self._expanded: dict[Smooth, Expansion] = {}

    def on_grid(self, tau: float) -> int:
        """A threshold over the unit, rounded; -2^62, below all margins, for -inf."""
        if tau == -np.inf:
            return BELOW_ALL
        if not abs(tau) <= WIDEST:
            raise ValueError(f"a threshold of implicit pairs must be at most {WIDEST:g}, not {tau:g}")
        return int(np.rint(tau / self.unit))

    def within(self, tau: int) -> Within:
        """The pairs with f_i - f_j < tau, and sums of u = tau - f_i + f_j over them; tau in units."""
        if tau not in self._within:
            rows, n, queries = self.rows, len(self.z), len(self.costs)
            count, balance, pull = (np.zeros(n, dtype=np.int64) for _ in range(3))
            total, square, pairs = np.zeros(queries), np.zeros(queries), np.zeros(queries, dtype=np.int64)
            if n and tau > BELOW_ALL:
                within(self.z, self.level, rows._starts, rows._levels, tau, count, balance, pull, total, square, pairs)
            self._within[tau] = Within(count, balance, pull, total * self.unit, square * self.unit**2, pairs)
        return self._within[tau]

    def hinge(self) -> float:
        return float(self.costs @ self.within(self.on_grid(1.0)).total)

    def squared_hinge(self) -> float:
        """sum of c (u)_+^2."""
        return float(self.costs @ self.within(self.on_grid(1.0)).square)

    def expanded(self, phi: Smooth) -> Expansion:
        if phi not in self._expanded:
            alpha = PairMultipliers(self, phi)
            loss = alpha.loss()
            self._expanded[phi] = Expansion(loss, alpha.sum() - float(alpha.rmatvec() @ self.f) - loss, alpha, PairCurvature(alpha))
        return self._expanded[phi]

    def violated(self) -> PairSubset:
        one = self.on_grid(1.0)
        sums = self.within(one)
        return PairSubset(self.rows, one, self.scattered(self.z), self.scattered(sums.balance), sums.pairs)

    def along(self, h: Array) -> Line:
        return _PairLine(self, h)

    def scattered(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values in sorted order, (n,), back at their points, (m,)."""
        out = np.zeros(self.rows.m, values.dtype)
        out[self.order] = values
        return out

    @cached_property
    def point_costs(self) -> Array:
        """c of the query of every point, (n,), in sorted order."""
        return np.repeat(self.costs, np.diff(self.rows._starts))

    def at_costs(self, costs: Array) -> PairSlacks:
        """The same slacks, and what has been summed of them, at other costs (queries,)."""
        slacks = copy(self)
        slacks.all_costs, slacks.costs, slacks._expanded = costs, costs[self.rows._queries], {}
        slacks.__dict__.pop("point_costs", None)
        return slacks

    def square_error(self, tau: int) -> float:
        """A bound on the error of sum of c u^2 within tau: of tau sum u - sum z A'u, whose sums are compensated."""
        widest = abs(tau) * self.unit + 2 * float(self.reach)
        return float(rounded(gamma_n(32) * widest * widest * (self.costs @ self.within(tau).pairs + len(self.costs) * SMALLEST), 1))

    def loss_bound(self, squared: bool, error: float, way: float) -> float:
        """A bound of sum of c loss(u), from above for way = 1, from below for way = -1.

        Parameters
        ----------
        squared : which hinge.  error : of an entry of f, at most.
        """
        off = 2.02 * (error + 4 * UNIT * self.reach + self.unit)
        if not 1.0 + off + 2 * self.unit <= WIDEST:  # f is hardly known: all pairs are as far apart as they can be
            if way < 0:
                return 0.0
            most = rounded(1.0 + off + 2.02 * self.reach, way)
            worst = total(product(self.costs, self.rows.pairs_of[self.rows._queries], way), way)
            return float(product(product(worst, most, way), most, way) if squared else product(worst, most, way))
        tau = self.on_grid(1.0) + int(way) * (1 + int(np.ceil(off / self.unit)))
        sums = self.within(tau)
        size = (sums.square if squared else sums.total) * (1 + way * gamma_n(16))  # of the sums over a query, u and u^2 >= 0
        value = total(product(self.costs, size, way), way)
        value += way * self.square_error(tau) if squared else 0.0
        return float(np.maximum(rounded(value, way), 0.0))


class ImplicitMultipliers(ABC):
    """Multipliers of all pairs that are never stored: what the dual asks of them, with bounds on the rounding of every sum."""

    rows: LabelledPairs

    @property
    def shape(self) -> tuple[int]:
        """(p,)."""
        return (self.rows.p,)

    @abstractmethod
    def within_box(self, squared: bool, costs: Array) -> ImplicitMultipliers:
        """Multipliers like these that are feasible at costs (queries,), for the squared hinge or for the hinge."""

    @abstractmethod
    def sum(self) -> float:
        """sum of alpha."""

    @abstractmethod
    def ridge(self) -> float:
        """sum of alpha^2 / (4 c), what a squared hinge takes from the dual."""

    @abstractmethod
    def rmatvec(self) -> Array:
        """A'alpha, (m,)."""

    @abstractmethod
    def rmatvec_error(self) -> float:
        """A bound on sum over the points of the error of `rmatvec`."""

    @abstractmethod
    def dual_bound(self, squared: bool, way: float) -> float:
        """A bound of sum alpha [ - sum alpha^2 / (4 c) ], from below for way = 1, from above for way = -1; the latter for `squared`."""

    @abstractmethod
    def to_array(self) -> Array:
        """alpha, (p,), in the order of explicit pairs.

        Raises
        ------
        ValueError : more pairs than are listed one by one.
        """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_array() if dtype is None else self.to_array().astype(dtype)


class PairMultipliers(ImplicitMultipliers):
    """alpha_ij = c phi'(u_ij) of all pairs at some f, for a smooth loss phi: feasible by construction, and never stored.

    Parameters
    ----------
    slacks : of the pairs at f.  phi : the loss.

    high, low : in units of the slacks' grid, low so that no multiplier exceeds c top.
    """

    def __init__(self, slacks: PairSlacks, phi: Smooth) -> None:
        if isinstance(phi.width, np.ndarray):
            raise ValueError("the loss of implicit pairs has one width for all")
        self.rows, self.slacks, self.phi = slacks.rows, slacks, phi
        self.high = slacks.on_grid(1.0 + phi.width)
        self.low = BELOW_ALL if phi.top == np.inf else self.high - int(np.floor(phi.top / phi.slope / slacks.unit))

    def within_box(self, squared: bool, costs: Array) -> PairMultipliers:
        slacks, phi = self.slacks, self.phi
        if not np.array_equal(costs[slacks.rows._queries], slacks.costs):
            slacks = slacks.at_costs(costs)
        elif squared or phi.top <= 1.0:
            return self
        return PairMultipliers(slacks, phi if squared else replace(phi, top=min(phi.top, 1.0)))

    def loss(self) -> float:
        """sum of c phi(u)."""
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        return float(self.phi.slope / 2 * (self.slacks.costs @ (high.square - low.square)))

    def sum(self) -> float:
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        return float(self.phi.slope * (self.slacks.costs @ (high.total - low.total)))

    def sumsq(self) -> float:
        """sum of alpha^2."""
        return self._squares(self.slacks.costs**2)

    def ridge(self) -> float:
        return self._squares(self.slacks.costs) / 4

    def _squares(self, weights: Array) -> float:
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        beyond = 2 * (self.high - self.low) * self.slacks.unit * low.total if self.low > BELOW_ALL else 0.0
        return float(self.phi.slope**2 * (weights @ (high.square - low.square - beyond)))

    def rmatvec(self) -> Array:
        return self._pulled

    @cached_property
    def _pulled(self) -> Array:
        pull = self.slacks.within(self.high).pull
        if self.low > BELOW_ALL:
            pull = pull - self.slacks.within(self.low).pull
        return self.slacks.scattered(self.slacks.point_costs * (self.phi.slope * (self.slacks.unit * pull)))

    def rmatvec_error(self) -> float:
        return float(rounded(8 * UNIT * np.abs(self._pulled).sum() + len(self._pulled) * SMALLEST, 1))

    def dual_bound(self, squared: bool, way: float) -> float:
        slacks, slope = self.slacks, self.phi.slope
        high, low = (float(slacks.costs @ slacks.within(tau).total) for tau in (self.high, self.low))
        off = gamma_n(len(slacks.costs) + 32) * slope * (high + low)
        value = self.sum()
        if squared:
            off += slope**2 * (slacks.square_error(self.high) + slacks.square_error(self.low)) + 32 * UNIT * self.ridge()
            value -= self.ridge()
        underflow = 4 * (1 + slope) ** 2 * (len(slacks.costs) + 4) * SMALLEST  # of a product with a cost, times what it is multiplied by
        return float(rounded(value - way * (off + 16 * UNIT * abs(value) + underflow), -way))

    def at(self, preferred: int, other: int) -> float:
        """alpha of one pair.

        Raises
        ------
        ValueError : points of which the first is not preferred to the other.
        """
        rows = self.slacks.rows
        if rows.query[preferred] != rows.query[other] or not rows._level[preferred] > rows._level[other]:
            raise ValueError(f"point {preferred} is not preferred to point {other}")
        u = 1.0 - self.slacks.f[preferred] + self.slacks.f[other]
        cost = self.slacks.costs[rows._place[preferred]]
        return float(cost * self.phi.derivative(np.array([u]))[0])

    def to_array(self) -> Array:
        rows, f = self.slacks.rows, self.slacks.f
        i, j = rows.preferred, rows.other
        return np.asarray(self.slacks.costs[rows._place[i]] * self.phi.derivative(1.0 - f[i] + f[j]))


@dataclass(frozen=True, eq=False)
class PairSubset:
    """The pairs within a margin of 1 at some f.

    one : the margin and z : (m,) f without the middle value of its query, on the grid.  balance : (m,) A'1, exact.
    pairs : (queries,) how many, of those that have pairs.
    """

    rows: LabelledPairs
    one: int
    z: Index
    balance: Index
    pairs: Index

    def listed(self) -> NDArray[np.bool_]:
        """Which pairs, (p,), by the same comparison as in the sweeps."""
        return np.asarray(self.z[self.rows.preferred] - self.one < self.z[self.rows.other])


class MixedMultipliers(ImplicitMultipliers):
    """alpha_ij = c times the sum of mu_k over the subsets k with the pair: the multipliers of K (2.8), feasible for the hinge.

    Parameters
    ----------
    rows : the pairs.  mu : (k,) >= 0, of a sum that is 1 at most, made so where rounding has it otherwise.
    subsets : k subsets.  costs : (queries,) c of the pairs of a query.
    """

    def __init__(self, rows: LabelledPairs, mu: Array, subsets: Sequence[PairSubset], costs: Array) -> None:
        total = math.fsum(mu.tolist())
        self.rows, self.subsets, self.all_costs = rows, subsets, costs
        self.mu = mu if total < 1.0 else mu * ((1 - 8 * UNIT) / total)

    def within_box(self, squared: bool, costs: Array) -> MixedMultipliers:
        return self if np.array_equal(costs, self.all_costs) else MixedMultipliers(self.rows, self.mu, self.subsets, costs)

    def sum(self) -> float:
        costs = self.all_costs[self.rows._queries]
        return float(sum(mu * float(costs @ subset.pairs) for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True)))

    def ridge(self) -> float:
        return self.rows.ridge(self.to_array(), self.all_costs)

    def rmatvec(self) -> Array:
        return self._pulled

    @cached_property
    def _pulled(self) -> Array:
        pull = np.zeros(self.rows.m)
        for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True):
            pull += mu * subset.balance
        return pull * self.all_costs[self.rows.query]

    def rmatvec_error(self) -> float:
        products = len(self.mu) * float(self.all_costs.max(initial=0.0)) + 2
        rounding = gamma_n(len(self.mu) + 8) * 2.02 * self.sum()
        return float(rounded(rounding + 4 * (self.rows.m + len(self.all_costs)) * products * SMALLEST, 1))

    def dual_bound(self, squared: bool, way: float) -> float:
        if squared and self.rows.p > LISTED:
            return -way * np.inf
        gain, ridge = self.sum(), self.ridge() if squared else 0.0
        added = len(self.mu) + len(self.rows._queries) + (self.rows.p if squared else 0)
        underflow = 4 * (added + 4) * (1 + float(self.all_costs.max(initial=0.0))) * SMALLEST
        return float(rounded(gain - ridge - way * (gamma_n(added + 16) * (gain + ridge) + underflow), -way))

    def to_array(self) -> Array:
        alpha = np.zeros(self.rows.p)
        for mu, subset in zip(self.mu.tolist(), self.subsets, strict=True):
            alpha += mu * subset.listed()
        return self.rows.spread(self.all_costs) * alpha


class _PairLine(Line):
    """The decision values f + t h; the slacks that were looked at last are kept for a step there."""

    def __init__(self, start: PairSlacks, h: Array) -> None:
        self.start, self.h = start, h
        self._last = 0.0, start

    def slope(self, phi: Smooth, t: float) -> float:
        return -float(self.to(t).expanded(phi).alpha.rmatvec() @ self.h)

    def curvature(self, phi: Smooth, t: float) -> float:
        return float(phi.slope * (self.h @ self.to(t).expanded(phi).D.hess_vec(self.h)))

    def to(self, t: float) -> PairSlacks:
        if t != self._last[0]:
            start = self.start
            self._last = t, PairSlacks(start.rows, start.f + t * self.h, start.all_costs)
        return self._last[1]


class PairCurvature:
    """D of the Hessian A' D A, D_ij = c where phi'' is `slope` and 0 elsewhere.

    Parameters
    ----------
    As in PairMultipliers.
    """

    def __init__(self, alpha: PairMultipliers) -> None:
        self.slacks, self.high, self.low = alpha.slacks, alpha.high, alpha.low
        self.count = self.slacks.within(self.high).count - self.slacks.within(self.low).count

    def weight(self) -> float:
        """sum of D over the pairs, twice."""
        return float(self.slacks.point_costs @ self.count)

    def hess_vec(self, v: Array) -> Array:
        """A' D A v, (m,), for v (m,)."""
        slacks, rows = self.slacks, self.slacks.rows
        if not len(slacks.z):
            return np.zeros(rows.m)
        Lv = laplacian_product(
            slacks.z, slacks.level, rows._starts, rows._levels, self.high, self.low, self.count, np.ascontiguousarray(v)[slacks.order]
        )
        return slacks.scattered(slacks.point_costs * Lv)

    def gram(self, Z: Explicit) -> Array:
        """Z' A' D A Z, (q, q); nearly, where a query has very many points."""
        slacks, rows = self.slacks, self.slacks.rows
        H = np.zeros((Z.q, Z.q))
        if not len(slacks.z):
            return H
        sorted_pairs = slacks.z, slacks.level, slacks.order, rows._starts, rows._levels, slacks.costs, self.high, self.low, self.count
        X = Z.dense
        if len(slacks.z) >= BUCKETED * len(slacks.costs):
            H[: Z.d, : Z.d] = laplacian_gram_by_buckets(X, X.mean(axis=0), *sorted_pairs, BUCKETS, NEIGHBOURS)
        else:
            H[: Z.d, : Z.d] = laplacian_gram(X, *sorted_pairs)
        return H
