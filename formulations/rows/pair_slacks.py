"""The slacks u_ij = 1 - f_i + f_j of all pairs of labels at a decision f.

The points are sorted by f once. Sums over all pairs within a threshold then come from
counts and prefix sums of f (`pair_sweeps.py`). A loss with two kinks is a difference of
two squared hinges, so that it needs the sums within two thresholds, high = 1 + width
and low = high - top / slope:

    phi'(u) = slope ((high - m)_+ - (low - m)_+),      phi(u) = slope / 2 ((high - m)_+^2 - (low - m)_+^2),      m = f_i - f_j

Source: document K, section 3.2, (3.17)-(3.18), for the squared hinge.
"""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import (
    UNIT,
    gamma_n,
    multiply_rounded,
    round_toward,
    sum_rounded,
)
from equimargin.formulations.rows.counted import WIDEST_THRESHOLD, CountedPairs, PairSums
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.pair_multipliers import PairMultipliers, PairSubset
from equimargin.formulations.rows.pair_sweeps import (
    GATHERED_ROWS,
    PairGraph,
    laplacian_gram,
    laplacian_gram_by_buckets,
    laplacian_product,
)
from equimargin.formulations.rows.slacks import Curvature, Expansion, Line, Slacks

POINTS_BY_BUCKETS = 20_000
"""Points of a query, on average, from which on a Hessian is formed by buckets: for more points a tree of vectors leaves the cache."""

BLAS_SPEED = 5.0
"""Multiplications of a product of matrices in the time that one feature of one point takes in the two products X v and X'v, measured."""
TREE_COLUMNS = 5.0
"""The time of one feature in the tree of vectors of a Hessian, in units of the time that it takes in X v and X'v, measured."""
SWEEP_COLUMNS = 20.0
"""The time of a visit to one node of a tree of numbers, in units of the time that one feature takes in X v and X'v, measured."""


class PairSlacks(PairSums, Slacks):
    """The slacks of all pairs at decision values f.

    Parameters
    ----------
    As in PairSums.
    """

    def __init__(self, rows: CountedPairs, f: Array, costs: Array) -> None:
        super().__init__(rows, f, costs)
        self._expanded: dict[Loss, Expansion] = {}

    def at_costs(self, costs: Array) -> Self:
        slacks = super().at_costs(costs)
        slacks._expanded = {}
        return slacks

    def hinge(self) -> float:
        return float(self.costs @ self.within(self.on_grid(1.0)).total)

    def squared_hinge(self) -> float:
        """sum of c (u)_+^2."""
        return float(self.costs @ self.within(self.on_grid(1.0)).square)

    def expanded(self, phi: Loss) -> Expansion:
        if phi not in self._expanded:
            alpha = PairMultipliers(self, phi)
            loss = alpha.loss()
            self._expanded[phi] = Expansion(
                loss, alpha.sum() - float(alpha.pull() @ self.f) - loss, alpha, PairCurvature(alpha)
            )
        return self._expanded[phi]

    def violated(self) -> PairSubset:
        one = self.on_grid(1.0)
        sums = self.within(one)
        return PairSubset(
            self.rows, one, self.scattered(self.points.z), self.scattered(sums.balance), sums.pairs
        )

    def along(self, h: Array) -> Line:
        return _PairLine(self, h)

    def loss_bound(self, squared: bool, error: float, way: float) -> float:
        """A bound of sum of c loss(u), from above for way = 1, from below for way = -1.

        Parameters
        ----------
        squared : bool
            Which hinge.
        error : float
            Of an entry of f, at most.
        """
        off = 2.02 * (error + 4 * UNIT * self.reach + self.unit)
        if (
            not 1.0 + off + 2 * self.unit <= WIDEST_THRESHOLD
        ):  # f is hardly known, so every pair is taken to be as bad as it can be
            if way < 0:
                return 0.0
            most = round_toward(1.0 + off + 2.02 * self.reach, way)
            worst = sum_rounded(
                multiply_rounded(self.costs, self.rows.pairs_of[self.rows.queries], way), way
            )
            return float(
                multiply_rounded(multiply_rounded(worst, most, way), most, way)
                if squared
                else multiply_rounded(worst, most, way)
            )
        steps = 1 + int(np.ceil(off / self.unit))
        if squared and self._near(steps):
            return self._squares_near(steps, way)
        tau = self.on_grid(1.0) + int(way) * steps
        sums = self.within(tau)
        size = (sums.square if squared else sums.total) * (
            1 + way * gamma_n(16)
        )  # of the sums over a query, u and u^2 >= 0
        value = sum_rounded(multiply_rounded(self.costs, size, way), way)
        value += way * self.square_error(tau) if squared else 0.0
        return float(np.maximum(round_toward(value, way), 0.0))

    def _near(self, steps: int) -> bool:
        """Whether an error of `steps` units in every u changes the sums of squares by less than their own rounding does."""
        every = self.costs @ self.rows.pairs_of[self.rows.queries]
        return bool((steps * self.unit) ** 2 * every <= self.square_error(self.on_grid(1.0)))

    def _squares_near(self, steps: int, way: float) -> float:
        """A bound of sum of c (u)_+^2 where every u is off by at most `steps` units. It uses the sums at 1, and needs no other sweep.

        |(u + delta)_+^2 - (u)_+^2| <= 2 |delta| (u)_+ + delta^2
        """
        one, delta = self.on_grid(1.0), steps * self.unit
        sums = self.within(one)
        change = 2 * delta * sums.total + delta**2 * self.rows.pairs_of[self.rows.queries]
        size = np.maximum(
            sums.square * (1 + way * gamma_n(16)) + way * change * (1 + gamma_n(32)), 0.0
        )
        value = sum_rounded(
            multiply_rounded(self.costs, round_toward(size, way), way), way
        ) + way * self.square_error(one)
        return float(np.maximum(round_toward(value, way), 0.0))


class _PairLine(Line):
    """The slacks at decision values f + t h. Those at the last t are kept, because the next step usually goes there."""

    def __init__(self, start: PairSlacks, h: Array) -> None:
        self.start, self.h = start, h
        self._last = 0.0, start

    def slope(self, phi: Loss, t: float) -> float:
        return -float(self.to(t).expanded(phi).alpha.pull() @ self.h)

    def curvature(self, phi: Loss, t: float) -> float:
        return float(
            phi.slope * (self.h @ self.start.rows.hess_vec(self.to(t).expanded(phi).D, self.h))
        )

    def to(self, t: float) -> PairSlacks:
        if t != self._last[0]:
            start = self.start
            self._last = t, PairSlacks(start.rows, start.f + t * self.h, start.all_costs)
        return self._last[1]


class PairCurvature(Curvature):
    """D of the Hessian A' D A, D_ij = c where phi'' is `slope` and 0 elsewhere.

    Parameters
    ----------
    As in PairMultipliers.
    """

    def __init__(self, alpha: PairMultipliers) -> None:
        self.slacks, self.phi, self.high, self.low = alpha.slacks, alpha.phi, alpha.high, alpha.low
        self.degree = self.slacks.within(self.high).degree - self.slacks.within(self.low).degree

    def weight(self) -> float:
        return float(self.slacks.point_costs @ self.degree)

    @cached_property
    def graph(self) -> PairGraph:
        """The pairs where D is not 0."""
        return PairGraph(self.slacks.points, self.high, self.low, self.degree)

    def hess_vec(self, v: Array) -> Array:
        slacks = self.slacks
        if not len(slacks.order):
            return np.zeros(slacks.rows.m)
        return np.asarray(
            laplacian_product(self.graph, slacks.order, slacks.costs, np.ascontiguousarray(v))
        )

    def gram(self, Z: Explicit, single: bool = False) -> Array:
        """Z' A' D A Z, (q, q); an approximation of it where queries have POINTS_BY_BUCKETS points or more.

        Parameters
        ----------
        Z : Explicit of shape (m, q)
            features.
        single : bool
            Whether sums of float32 are good enough.
        """
        slacks, H = self.slacks, np.zeros((Z.q, Z.q))
        if not len(slacks.order):
            return H
        X, precision = Z.dense, np.float32 if single else np.float64
        A, S = np.empty((GATHERED_ROWS, Z.d), precision), np.empty((GATHERED_ROWS, Z.d), precision)
        if len(slacks.order) >= POINTS_BY_BUCKETS * len(slacks.costs):
            H[: Z.d, : Z.d] = laplacian_gram_by_buckets(
                X, X.mean(axis=0), slacks.order, slacks.costs, self.graph, A, S
            )
        else:
            H[: Z.d, : Z.d] = laplacian_gram(X, slacks.order, slacks.costs, self.graph, A, S)
        return H

    def gram_over_product(self, q: int) -> int:
        """About how many times as long as a product with a vector `gram` takes, for q features."""
        nodes = 2 + float(np.log2(self.slacks.rows.levels.max(initial=1)))
        return int(q * (q / BLAS_SPEED + TREE_COLUMNS) / (q + SWEEP_COLUMNS * nodes))
