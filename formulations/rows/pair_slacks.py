"""Slacks u_ij = 1 - f_i + f_j of all label pairs at decision values f.

Sums over all pairs within a threshold come from `pair_sweeps.py`. A loss with two
breakpoints is a difference of two squared hinges, so that it needs the sums within two
thresholds, high = 1 + width and low = high - top / slope. With the margin m = f_i - f_j,

    phi'(u) = slope ((high - m)_+ - (low - m)_+)
    phi(u) = slope / 2 ((high - m)_+^2 - (low - m)_+^2)

References
----------
Document K (Kuo, Lee and Lin, Large-scale Kernel RankSVM), section 3.2,
(3.17)-(3.18), for the squared hinge.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import (
    UNIT,
    gamma_n,
    multiply_rounded,
    round_toward,
    sum_rounded,
)
from equimargin.formulations.rows.counted import (
    BELOW_ALL_PAIRS,
    WIDEST_THRESHOLD,
    PairSums,
)
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.pair_multipliers import PairMultipliers, PairSubset
from equimargin.formulations.rows.pair_sweeps import (
    GATHERED_ROWS,
    PairGraph,
    laplacian_gram,
    laplacian_gram_by_buckets,
    laplacian_product,
    laplacian_product_by_pairs,
)
from equimargin.formulations.rows.slacks import Curvature, Expansion, Line, Slacks

POINTS_BY_BUCKETS = 20_000
"""Average points per query from which a Hessian is approximated by buckets of levels.

With more points a Fenwick tree of vectors exceeds the cache.
"""

BLAS_SPEED = 5.0
"""Measured multiplications of a matrix product per unit of time.

The unit is the time that one feature of one point takes in X v and X'v together.
"""
TREE_COLUMNS = 5.0
"""Time of a feature in a Fenwick tree of vectors, in the unit of `BLAS_SPEED`."""
SWEEP_COLUMNS = 20.0
"""Time of a visit to a node of a Fenwick tree of numbers, in the unit of `BLAS_SPEED`."""


class PairSlacks(PairSums, Slacks):
    """Slacks of all pairs at decision values f.

    Parameters
    ----------
    rows : CountedPairs
        Pairs.
    f : ndarray of shape (m,)
        Decision values.
    costs : ndarray of shape (queries,)
        Costs c of the pairs of a query.
    """

    def hinge(self) -> float:
        return float(self.costs @ self.within(self.on_grid(1.0)).total)

    def squared_hinge(self) -> float:
        """Return the sum of c (u)_+^2."""
        return float(self.costs @ self.within(self.on_grid(1.0)).square)

    def expanded(self, phi: Loss) -> Expansion:
        alpha = PairMultipliers(self, phi)
        loss = alpha.loss()
        conjugate = alpha.sum() - float(alpha.pull() @ self.f) - loss
        return Expansion(loss, conjugate, alpha, PairCurvature(alpha))

    def violated(self) -> PairSubset:
        one = self.on_grid(1.0)
        sums = self.within(one)
        return PairSubset(
            self.rows, one, self.scattered(self.points.z), self.scattered(sums.balance), sums.pairs
        )

    def along(self, h: Array) -> Line:
        return _PairLine(self, h)

    def loss_bound(self, squared: bool, error: float, way: float) -> float:
        """Return a bound of the sum of c loss(u).

        Parameters
        ----------
        squared : bool
            True for the squared hinge, False for the hinge.
        error : float
            Maximum error of an entry of f.
        way : float
            1 for an upper bound, -1 for a lower bound.
        """
        slack_error = 2.02 * (error + 4 * UNIT * self.reach + self.unit)
        # The error of f is too large for a sweep: assume the worst slack for every
        # pair.
        if not 1.0 + slack_error + 2 * self.unit <= WIDEST_THRESHOLD:
            if way < 0:
                return 0.0
            max_slack = round_toward(1.0 + slack_error + 2.02 * self.reach, way)
            worst = sum_rounded(
                multiply_rounded(self.costs, self.rows.pairs_of[self.rows.queries], way), way
            )
            return float(
                multiply_rounded(multiply_rounded(worst, max_slack, way), max_slack, way)
                if squared
                else multiply_rounded(worst, max_slack, way)
            )
        steps = 1 + int(np.ceil(slack_error / self.unit))
        if squared and self._near(steps):
            return self._squares_near(steps, way)
        tau = self.on_grid(1.0) + int(way) * steps
        sums = self.within(tau)
        # Error of the sums over a query, in which u and u^2 are >= 0.
        size = (sums.square if squared else sums.total) * (1 + way * gamma_n(16))
        value = sum_rounded(multiply_rounded(self.costs, size, way), way)
        value += way * self.square_error(tau) if squared else 0.0
        return float(np.maximum(round_toward(value, way), 0.0))

    def _near(self, steps: int) -> bool:
        """Return True if errors of `steps` units in u are below rounding error.

        Compared are the sum of c delta^2 over all pairs, delta being this error of u,
        and the bound on the rounding of the sum of c u^2.
        """
        every = self.costs @ self.rows.pairs_of[self.rows.queries]
        return bool((steps * self.unit) ** 2 * every <= self.square_error(self.on_grid(1.0)))

    def _squares_near(self, steps: int, way: float) -> float:
        """Return a bound of the sum of c (u)_+^2 for errors of u up to `steps` units.

        Only the sums at threshold 1 are used:

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
    """Slacks at decision values f + t h.

    The slacks at the last t are cached, because the next step usually starts there.
    """

    def __init__(self, start: PairSlacks, h: Array) -> None:
        self.start, self.h = start, h
        self._last = 0.0, start

    def slope(self, phi: Loss, t: float) -> float:
        return -float(PairMultipliers(self.to(t), phi).pull() @ self.h)

    def curvature(self, phi: Loss, t: float) -> float:
        D = PairCurvature(PairMultipliers(self.to(t), phi))
        return float(phi.slope * (self.h @ D.hess_vec(self.h)))

    def to(self, t: float) -> PairSlacks:
        if t != self._last[0]:
            start = self.start
            # Drop the slacks of the last t before those of this one are computed.
            self._last = 0.0, start
            self._last = t, PairSlacks(start.rows, start.f + t * self.h, start.all_costs)
        return self._last[1]


class PairCurvature(Curvature):
    """Diagonal D of the Hessian A' D A: D_ij = c where phi'' is `slope`, 0 elsewhere.

    Parameters
    ----------
    alpha : PairMultipliers
        Multipliers of the smooth loss.
    """

    def __init__(self, alpha: PairMultipliers) -> None:
        self.slacks, self.phi, self.high, self.low = alpha.slacks, alpha.phi, alpha.high, alpha.low
        degree = self.slacks.within(self.high).degree
        if self.low > BELOW_ALL_PAIRS:
            degree = degree - self.slacks.within(self.low).degree
        self.degree = degree

    def weight(self) -> float:
        high, low = self.slacks.within(self.high), self.slacks.within(self.low)
        return 2.0 * float(self.slacks.costs @ (high.pairs - low.pairs))

    @cached_property
    def graph(self) -> PairGraph:
        """Pairs with nonzero D, as a graph."""
        return PairGraph(self.slacks.points, self.high, self.low, self.degree)

    @cached_property
    def ascending(self) -> tuple[Index, PairGraph]:
        """Points sorted by query and f, and the graph of these points."""
        slacks = self.slacks
        if not slacks.by_pairs:
            return slacks.order, self.graph
        order, points = slacks.ascending
        degree = slacks.scattered(self.degree)[order]
        return order, PairGraph(points, self.high, self.low, degree)

    def hess_vec(self, v: Array) -> Array:
        slacks = self.slacks
        if not len(slacks.order):
            return np.zeros(slacks.rows.m)
        product = laplacian_product_by_pairs if slacks.by_pairs else laplacian_product
        return np.asarray(product(self.graph, slacks.order, slacks.costs, np.ascontiguousarray(v)))

    def gram(self, Z: Explicit, single: bool = False) -> Array:
        # It is approximate if queries have POINTS_BY_BUCKETS points or more on average.
        slacks, H = self.slacks, np.zeros((Z.q, Z.q))
        if not len(slacks.order):
            return H
        X, precision = Z.dense, np.float32 if single else np.float64
        A, S = np.empty((GATHERED_ROWS, Z.d), precision), np.empty((GATHERED_ROWS, Z.d), precision)
        order, graph = self.ascending
        if len(slacks.order) >= POINTS_BY_BUCKETS * len(slacks.costs):
            H[: Z.d, : Z.d] = laplacian_gram_by_buckets(
                X, X.mean(axis=0), order, slacks.costs, graph, A, S
            )
        else:
            H[: Z.d, : Z.d] = laplacian_gram(X, order, slacks.costs, graph, A, S)
        return H

    def gram_over_product(self, q: int) -> int:
        """Return the approximate time of `gram` over that of a product with a vector.

        Parameters
        ----------
        q : int
            Number of features.
        """
        nodes = 2 + float(np.log2(self.slacks.rows.levels.max(initial=1)))
        return int(q * (q / BLAS_SPEED + TREE_COLUMNS) / (q + SWEEP_COLUMNS * nodes))
