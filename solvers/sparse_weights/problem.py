"""Problem in weights w alone: their 1-norm, and squared hinge losses.

    min over w      |w|_1 + sum_i c_i max(0, 1 - y_i x_i.w)^2
    max over a      sum_i a_i - sum_i a_i^2 / (4 c_i)   s.t.   |X'(y a)|_j <= 1,  a >= 0

At an optimum a_i = 2 c_i max(0, 1 - y_i x_i.w). Its family is `one_norm_svm_l2`. The
class of that family's problems copies its data and converts them to rational numbers;
this class is for X of any size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from equimargin.formulations.bounds.intervals import INWARD, OUTWARD, Interval
from equimargin.formulations.kernels.kernel import linear
from equimargin.formulations.numeric.arrays import Array, Features, Index, canonical, is_sparse
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    add_rounded,
    bound_products,
    divide_rounded,
    gamma_n,
    max_or_inf,
    multiply_rounded,
    multiply_with_depth,
    round_toward,
    sum_rounded,
)
from equimargin.formulations.problem.limits import (
    check_finite_costs,
    check_kernel_range,
    largest_entry,
)
from equimargin.formulations.problem.point import OneNormPoint


@dataclass(frozen=True, eq=False, repr=False)
class SparseWeightProblem:
    """Problem min |w|_1 + sum_i c_i max(0, 1 - y_i x_i.w)^2.

    Parameters
    ----------
    X : ndarray in Fortran order or CSC array, of shape (m, d)
        Features, as `by_columns` returns them. An intercept is the weight of a constant
        feature.
    y : ndarray of shape (m,)
        Classes, -1.0 or 1.0.
    C : float
        Cost per unit of loss, finite.
    weights : ndarray of shape (m,)
        Factors of C, at least 0: the costs c are the exact products C x weight.

    Raises
    ------
    ValueError
        If a cost is not finite.
    """

    X: Features
    y: Array
    C: float
    weights: Array

    has_gap = True

    def __post_init__(self) -> None:
        check_finite_costs(self.costs)

    @cached_property
    def costs(self) -> Array:
        """Costs c of the rows in float64, shape (m,)."""
        with np.errstate(over="ignore"):
            return self.C * self.weights

    @cached_property
    def scale(self) -> float:
        """P(0), the sum of all costs; C if that is 0."""
        return float(self.costs.sum()) or self.C

    @property
    def origin(self) -> OneNormPoint:
        """Point w = 0 and a = 0."""
        m, d = self.X.shape
        return OneNormPoint(np.zeros(d), np.zeros(m))

    def restricted(self, columns: Index) -> Self:
        """Return the problem with the weights of some features alone.

        Parameters
        ----------
        columns : ndarray of int
            Features, ascending.
        """
        return self if len(columns) == self.X.shape[1] else replace(self, X=self.X[:, columns])

    def of_rows(self, rows: Index) -> Self:
        """Return the problem with some rows alone.

        Parameters
        ----------
        rows : ndarray of int
            Rows, ascending.
        """
        return replace(self, X=by_columns(self.X[rows]), y=self.y[rows], weights=self.weights[rows])

    def residuals(self, w: Array) -> Array:
        """Return y - X w, shape (m,).

        Parameters
        ----------
        w : ndarray of shape (d,)
            Weights.
        """
        support = np.flatnonzero(w)
        return np.asarray(self.y - self.X[:, support] @ w[support])

    def slacks(self, residuals: Array) -> Array:
        """Return max(0, 1 - y_i x_i.w), shape (m,).

        Parameters
        ----------
        residuals : ndarray of shape (m,)
            y - X w; 1 - y_i x_i.w is y_i times it.
        """
        return np.maximum(self.y * residuals, 0.0)

    def prices(self, a: Array) -> Array:
        """Return X'(y a), shape (d,).

        Parameters
        ----------
        a : ndarray of shape (m,)
            Multipliers.
        """
        return np.asarray(self.X.T @ (self.y * a))

    @np.errstate(all="ignore")  # A value that overflows gives an infinite gap.
    def values(self, point: OneNormPoint) -> tuple[float, float]:
        """Return primal and dual objective in float64.

        Parameters
        ----------
        point : OneNormPoint
            Weights w as `x` and multipliers a as `u`.
        """
        assert point.x is not None
        assert point.u is not None
        slacks = self.slacks(self.residuals(point.x))
        return self.primal(point.x, slacks), self.dual(point.u, self.prices(point.u))

    def primal(self, w: Array, slacks: Array) -> float:
        """Return |w|_1 + sum_i c_i slack_i^2.

        Parameters
        ----------
        w : ndarray of shape (d,)
            Weights.
        slacks : ndarray of shape (m,)
            Slacks of w.
        """
        return float(np.abs(w).sum() + self.costs @ slacks**2)

    def dual(self, a: Array, prices: Array) -> float:
        """Return the largest dual objective of feasible multiples of a.

        Parameters
        ----------
        a : ndarray of shape (m,)
            Multipliers, at least 0, and 0 in rows without a cost.
        prices : ndarray of shape (d,)
            X'(y a).
        """
        linear, quadratic = float(a.sum()), float((a * a) @ self._conjugates)
        factor = _best_factor(linear, quadratic, float(np.abs(prices).max(initial=0.0)))
        return factor * linear - factor**2 * quadratic

    @cached_property
    def _conjugates(self) -> Array:
        """1 / (4 c_i), and 0 for rows without a cost, shape (m,)."""
        costs = self.costs
        return np.divide(0.25, costs, out=np.zeros(len(costs)), where=costs > 0)

    @np.errstate(all="ignore")  # Overflow and NaN are covered by the bounds.
    def interval(self, point: OneNormPoint) -> Interval:
        """Return the interval that a point proves, every rounding error included.

        Parameters
        ----------
        point : OneNormPoint
            Weights w as `x` and multipliers a as `u`.
        """
        assert point.x is not None
        assert point.u is not None
        return Interval(self._lower(point.u), self._upper(point.x), self.scale)

    def _upper(self, w: Array) -> float:
        """Return an upper bound of the primal objective at w."""
        support = np.flatnonzero(w)
        f, error = _product(self.X[:, support], w[support])
        slacks = np.maximum(
            add_rounded(round_toward(1.0 - self.y * f, OUTWARD), error, OUTWARD), 0.0
        )
        squares = multiply_rounded(slacks, slacks, OUTWARD)
        losses = multiply_rounded(
            bound_products(np.array(self.C), self.weights)[1], squares, OUTWARD
        )
        return float(
            add_rounded(sum_rounded(np.abs(w), OUTWARD), sum_rounded(losses, OUTWARD), OUTWARD)
        )

    def _lower(self, a: Array) -> float:
        """Return a lower bound of the dual objective at a feasible multiple of a."""
        costs = bound_products(np.array(self.C), self.weights)[0]
        a = np.where((costs > 0) & (a > 0) & np.isfinite(a), a, 0.0)
        prices, error = _product(self.X.T, self.y * a)
        limit = max_or_inf(add_rounded(np.abs(prices), error, OUTWARD))
        linear = sum_rounded(a, INWARD)
        terms = divide_rounded(multiply_rounded(a, a, OUTWARD), 4 * costs, OUTWARD)
        quadratic = sum_rounded(terms, OUTWARD)
        # The next float below, so that factor x limit <= 1 holds exactly.
        factor = np.nextafter(_best_factor(linear, quadratic, limit), 0.0)
        gain = multiply_rounded(factor, linear, INWARD)
        loss = multiply_rounded(multiply_rounded(factor, factor, OUTWARD), quadratic, OUTWARD)
        lower = float(add_rounded(gain, -loss, INWARD))
        # a = 0 proves 0.
        return lower if lower > 0.0 else 0.0


def by_columns(X: Features) -> Features:
    """Return features in the layout of `SparseWeightProblem`, column after column.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Features.

    Raises
    ------
    ValueError
        If squares of features are outside the float64 range; the message names a row.
    """
    check_kernel_range(X, linear(), largest_entry(X))
    return canonical(X).tocsc() if is_sparse(X) else np.asfortranarray(X, dtype=np.float64)


def _best_factor(linear: float, quadratic: float, price: float) -> float:
    """Return the s that maximises s linear - s^2 quadratic subject to s price <= 1."""
    free = linear / (2 * quadratic) if quadratic > 0 else 1.0
    return min(free, 1.0 / price) if price > 0 else free


def _product(A: Features, v: Array) -> tuple[Array, Array]:
    """Return A v and bounds of its rounding errors."""
    product, depth = multiply_with_depth(A, v)
    # |fl(A v) - A v| <= gamma_k |A||v| + n eta, and |A||v| is rounded in the same way.
    # gamma_k / (1 - gamma_k) <= gamma_2k; four more operations round the bound itself.
    size = abs(A) @ np.abs(v)
    error = gamma_n(2 * max(depth, len(v)) + 4) * size + (4 * len(v) + 1) * SMALLEST
    return product, np.asarray(round_toward(error, OUTWARD))
