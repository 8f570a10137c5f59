"""Multiclass machine of Crammer and Singer as a maximisation over simplices.

    min over W  1/2 |W|^2 + sum_i c_i max_r (h_ir - h_{i y_i}),   h_ir = w_r.x_i + [r != y_i]
    max over S  sum_i sum_r S_ir [r != y_i] - 1/2 |X'T|^2,        T_ir = c_i [r = y_i] - S_ir
    s.t.        S >= 0, every row of S sums to c_i

W = X'T at the optimum, and the derivative of the dual objective with respect to S_ir is
h_ir. S is the share of the classes in the cost of a point.

References
----------
K. Crammer, Y. Singer, On the algorithmic implementation of multiclass kernel-based
vector machines, JMLR 2 (2001), (7) and (15).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.kernels.kernel import linear
from equimargin.formulations.numeric.arguments import check_weights
from equimargin.formulations.numeric.arrays import (
    Array,
    Features,
    Index,
    Mask,
    canonical,
    is_sparse,
)
from equimargin.formulations.numeric.rounding import (
    bound_products,
    divide_rounded,
    gamma_n,
    multiply_rounded,
    round_toward,
    sum_rounded,
)
from equimargin.formulations.problem.limits import (
    check_finite_costs,
    check_kernel_range,
    largest_entry,
)


@dataclass(frozen=True, eq=False)
class JointPoint:
    """Point of a run: shares, weights, and both objectives in float64.

    Parameters
    ----------
    S : ndarray of shape (m, k)
        Shares of the classes in the costs.
    W : ndarray of shape (q, k)
        Weights, a column for every class.
    primal : float
        Primal objective at W.
    dual : float
        Dual objective at S.
    """

    S: Array
    W: Array
    primal: float
    dual: float


@dataclass(frozen=True, eq=False)
class JointProblem:
    """Data of the machine.

    Parameters
    ----------
    X : ndarray or CSR array of shape (m, q)
        Points.
    codes : ndarray of shape (m,)
        Class of every point, in 0, ..., k - 1.
    k : int
        Number of classes, at least 2.
    C : float
        Cost per unit of loss, above 0 and finite.
    weights : ndarray of shape (m,)
        Factors of C, at least 0 and finite.

    Raises
    ------
    ValueError
        If a cost is not finite, or squares of features are outside the float64 range.
    """

    X: Features
    codes: Index
    k: int
    C: float
    weights: Array

    def __post_init__(self) -> None:
        check_weights(self.weights, len(self.codes), "weights")
        # Bounds of rounding errors count every column of a sparse row once.
        X = canonical(self.X) if is_sparse(self.X) else np.ascontiguousarray(self.X)
        object.__setattr__(self, "X", X)
        check_kernel_range(X, linear(), largest_entry(X))
        check_finite_costs(self.costs)

    @cached_property
    def costs(self) -> Array:
        """Costs c, rounded to float64, shape (m,)."""
        with np.errstate(over="ignore"):
            return np.asarray(self.C * self.weights)

    @cached_property
    def features(self) -> Explicit:
        """Points as an operator."""
        return Explicit(self.X, False)

    @cached_property
    def own(self) -> Mask:
        """True at the class of every point, shape (m, k)."""
        return np.asarray(np.arange(self.k) == self.codes[:, None])

    @property
    def scale(self) -> float:
        """P(0), the objective at W = 0."""
        return float(self.costs.sum())

    def multipliers(self, S: Array) -> Array:
        """Return T, whose rows sum to 0, from shares.

        Parameters
        ----------
        S : ndarray of shape (m, k)
            Shares.
        """
        others = np.where(self.own, 0.0, S)
        return np.where(self.own, others.sum(axis=1, keepdims=True), -others)

    def combine(self, S: Array) -> Array:
        """Return X'T, shape (q, k).

        Parameters
        ----------
        S : ndarray of shape (m, k)
            Shares.
        """
        return np.asarray(self.X.T @ self.multipliers(S))

    def derivatives(self, W: Array) -> Array:
        """Return h, shape (m, k).

        Parameters
        ----------
        W : ndarray of shape (q, k)
            Weights.
        """
        return np.asarray(self.X @ W) + ~self.own

    def evaluate(self, S: Array, W: Array | None = None) -> JointPoint:
        """Return a point with both objectives, recomputed.

        Parameters
        ----------
        S : ndarray of shape (m, k)
            Shares.
        W : ndarray of shape (q, k) or None
            Weights; by default X'T.
        """
        combined = self.combine(S)
        W = combined if W is None else W
        h = self.derivatives(W)
        loss = float(self.costs @ (h.max(axis=1) - h[self.own]))
        primal = float(np.vdot(W, W)) / 2 + loss
        dual = float(S[~self.own].sum()) - float(np.vdot(combined, combined)) / 2
        return JointPoint(S, W, primal, dual)

    @np.errstate(all="ignore")  # A bound that overflows is infinite.
    def interval(self, S: Array, W: Array) -> Interval:
        """Return the interval of the optimum that a point proves, for the exact costs.

        Every operation is rounded outward. The dual bound needs the shares of the other
        classes alone, as long as their sum is at most the cost.

        Parameters
        ----------
        S : ndarray of shape (m, k)
            Shares.
        W : ndarray of shape (q, k)
            Weights.
        """
        least, most = bound_products(np.full_like(self.weights, self.C), self.weights)
        others, own = self._feasible(np.where(self.own, 0.0, np.maximum(S, 0.0)), least)
        combined, errors = self._combination(others, own)
        largest = round_toward(np.abs(combined) + errors, 1)
        half = sum_rounded(multiply_rounded(largest, largest, 1).ravel(), 1) / 2
        dual = round_toward(sum_rounded(others.ravel(), -1) - half, -1)
        loss = sum_rounded(multiply_rounded(most, self._slacks(W), 1), 1)
        square = sum_rounded(multiply_rounded(W, W, 1).ravel(), 1)
        primal = round_toward(loss + round_toward(square / 2, 1), 1)
        return Interval(max(float(dual), 0.0), float(primal), self.scale)

    def _feasible(self, others: Array, least: Array) -> tuple[Array, Array]:
        """Return shares of the other classes that sum to at most the costs, and the sums."""
        n = 1 + gamma_n(self.k)
        factor = divide_rounded(least, round_toward(others.sum(axis=1) * n, 1), -1)
        # A factor near 1 is lowered: the product with it is rounded once more.
        factor = np.where(factor >= 1.0, 1.0, factor * (1 - 4 * np.finfo(np.float64).eps))
        others = others * factor[:, None]
        return others, others.sum(axis=1)

    def _combination(self, others: Array, own: Array) -> tuple[Array, Array]:
        """Return X'T and a bound on its error."""
        W, errors = np.empty((self.X.shape[1], self.k)), np.empty((self.X.shape[1], self.k))
        for r in range(self.k):
            sums = np.where(self.own[:, r], own, 0.0)
            W[:, r], errors[:, r] = self.features.combination(sums - others[:, r])
            # The sums themselves have rounding errors.
            rounded = self.features.absolute_rdot(sums) * (2 * gamma_n(self.k))
            errors[:, r] = round_toward(errors[:, r] + round_toward(rounded, 1), 1)
        return W, errors

    def _slacks(self, W: Array) -> Array:
        """Return upper bounds of max_r (h_ir - h_{i y_i})."""
        upper, own = np.full(self.features.m, -np.inf), np.empty(self.features.m)
        for r in range(self.k):
            f, error = self.features.values(np.ascontiguousarray(W[:, r]))
            mine = self.own[:, r]
            own[mine] = round_toward(f - error, -1)[mine]
            above = round_toward(round_toward(f + error, 1) + 1.0, 1)
            upper = np.where(mine, upper, np.fmax(upper, above))
        return np.asarray(np.maximum(round_toward(upper - own, 1), 0.0))
