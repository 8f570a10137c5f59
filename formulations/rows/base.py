"""Rows of a margin problem: operator A, cost groups, sums of losses, and multipliers.

Row r has a target t_r, a cost c_r and a row of S, by which the bias b or the thresholds
b enter. Its slack at (f, b) is

    u_r = t_r - (A f)_r - (S b)_r

and the dual value of multipliers alpha is

    L(alpha) = t'alpha - 1/2 |A'alpha|_K^2
               - sum_r alpha_r^2 / (2 slope c_r) + width sum_r alpha_r

slope and width are those of the loss (`loss.py`). Classification, epsilon-SVR, ranking
and ordinal regression differ only in A, t and S. With one threshold S is s = A 1: a
bias b is a constant added to f. With a smooth loss phi and g = f + b, an
optimiser needs three quantities of the rows (`slacks.py`): the loss, its gradient in g,
and its Hessian.

    sum_r c_r phi(u_r)
    -A' alpha,   alpha_r = c_r phi'(u_r)
    A' D A,      D_rr = c_r phi''(u_r)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.dyadic import on_grid_by_threshold, round_to_dyadic_grid
from equimargin.formulations.numeric.rounding import (
    add_rounded,
    divide_rounded,
    multiply_rounded,
    sum_rounded,
)
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.slacks import Curvature, RowSlacks, Slacks


class Rows(ABC):
    """Row operator A (p, m), with targets t (p,), bias signs s (p,) in {-1, 0, +1} and groups.

    Each row has one threshold at most. S (p, T) is therefore stored as s and k: its
    row r is s_r in column k_r, and 0 elsewhere. The rows of a group have one cost: the
    pairs of a query in ranking, or the rows of a point in ordinal regression; otherwise
    every row is a group.
    """

    m: int
    p: int
    t: Array
    s: Array
    T: int = 1
    """Number of thresholds, if there is a bias at all."""
    k: Index | None = None
    """Threshold of each row, (p,); None if there is only one threshold."""
    y: Any
    """Labels of the data, (m,), if there are any."""

    def offset(self, b: Any) -> Array:
        """Return S b.

        Parameters
        ----------
        b : float or ndarray of shape (T,)
            Bias, or one threshold per column of S if there are several.

        Returns
        -------
        ndarray of shape (p,)
            Offsets of the rows.
        """
        return np.asarray((b if self.k is None else b[self.k]) * self.s)

    @abstractmethod
    def dot(self, f: Array) -> Array:
        """Return A f.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.

        Returns
        -------
        ndarray of shape (p,)
            Values of the rows.
        """

    @abstractmethod
    def combined(self, v: Array) -> Array:
        """Return A'v.

        Parameters
        ----------
        v : ndarray of shape (p,)
            Coefficients of the rows.

        Returns
        -------
        ndarray of shape (m,)
            Coefficients of the points.
        """

    @abstractmethod
    def absolute_dot(self, f: Array) -> Array:
        """Return |A| f.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.

        Returns
        -------
        ndarray of shape (p,)
            Values of the rows.
        """

    @cached_property
    @abstractmethod
    def matrix(self) -> Any:
        """A as a scipy CSR array, shape (p, m)."""

    @abstractmethod
    def take(self, Z: Explicit, index: Index) -> Any:
        """Return A[index] Z, the features of selected rows.

        Parameters
        ----------
        Z : Explicit of shape (m, q)
            Features of the points.
        index : ndarray of int of shape (k,)
            Row indices.

        Returns
        -------
        ndarray or CSR array of shape (k, q)
            Features, dense or sparse as Z is.
        """

    @abstractmethod
    def part(self, points: Index) -> tuple[Self, Any]:
        """Return the rows of some points, and the index of their groups.

        Parameters
        ----------
        points : ndarray of int
            Point indices.

        Returns
        -------
        rows : Rows
            Rows of these points alone.
        groups : index
            Index into arrays of shape (groups,).
        """

    @property
    def touched(self) -> Index:
        """Points used by a row."""
        return np.arange(self.m)

    @property
    def invariant(self) -> bool:
        """True if adding a constant to f has no effect."""
        return False

    @cached_property
    def largest_target(self) -> float:
        """max |t_r|, or 1 if that is 0."""
        return float(np.abs(self.t).max(initial=0.0)) or 1.0

    def bounded_targets(self, way: float) -> Array:
        """Return bounds on the exact targets; t itself if its entries are exact.

        Parameters
        ----------
        way : float
            1 for upper bounds, -1 for lower bounds.

        Returns
        -------
        ndarray of shape (p,)
            Bounds.
        """
        return self.t

    def spaced(self, stride: int) -> Index:
        """Return a subsample of evenly spaced points, or of whole queries.

        Parameters
        ----------
        stride : int
            Ratio of all points to chosen points.

        Returns
        -------
        ndarray of int
            About m / stride point indices.
        """
        return np.arange(0, self.m, stride)

    @abstractmethod
    def gram_of_rows(self, Z: Explicit, D: Array, single: bool = False) -> Array:
        """Return Z' A' D A Z.

        Parameters
        ----------
        Z : Explicit of shape (m, q)
            Features of the points.
        D : ndarray of shape (p,)
            Diagonal, of either sign.
        single : bool
            True if float32 sums are accurate enough.

        Returns
        -------
        ndarray of shape (q, q)
            Symmetric matrix.
        """

    def product_of_rows(self, Z: Explicit, D: Array, v: Array) -> Array:
        """Return Z' A' D A Z v.

        Parameters
        ----------
        Z : Explicit of shape (m, q)
            Features of the points.
        D : ndarray of shape (p,)
            Diagonal.
        v : ndarray of shape (q,)
            Vector.

        Returns
        -------
        ndarray of shape (q,)
            Product.
        """
        return Z.rdot(self.combined(D * self.dot(Z @ v)))

    def points_of_rows(self, D: Array) -> float:
        """Return sum_r D_r n_r, n_r being the number of points that row r uses.

        Parameters
        ----------
        D : ndarray of shape (p,)
            Diagonal.
        """
        return float(D.sum())

    def curvature(self, D: Array | Curvature) -> Curvature:
        """Return a diagonal D as a `Curvature` of the Hessian A' D A.

        Parameters
        ----------
        D : ndarray of shape (p,), or Curvature
            Array, or an implicit diagonal, which is returned as is.
        """
        # `isinstance` of an abstract class would take longer.
        return RowCurvature(self, D) if isinstance(D, np.ndarray) else D

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.p

    def spread(self, values: Array) -> Array:
        """Expand a value per group to a value per row.

        Parameters
        ----------
        values : ndarray of shape (groups,)
            Values of the groups.

        Returns
        -------
        ndarray of shape (p,)
            Values of the rows.
        """
        return values

    def used(self, values: Array) -> Array:
        """Set the values of groups without rows to 0.

        Parameters
        ----------
        values : ndarray of shape (groups,)
            Values of the groups.

        Returns
        -------
        ndarray of shape (groups,)
            Values, 0 if a group has no rows.
        """
        return values

    @property
    def many(self) -> bool:
        """True if there are too many rows to sum row by row."""
        return False

    def multipliers(self, alpha: ArrayLike | Multipliers) -> Multipliers:
        """Return a `Multipliers` object of the rows.

        Parameters
        ----------
        alpha : array-like of shape (p,), or Multipliers
            Array, or an object, which is returned as is.
        """
        # ndarray is tested first: `isinstance` of an abstract class takes longer than some
        # products.
        if isinstance(alpha, np.ndarray):
            return RowMultipliers(self, alpha)
        return alpha if isinstance(alpha, Multipliers) else RowMultipliers(self, np.asarray(alpha))

    def rdot(self, alpha: ArrayLike | Multipliers) -> Array:
        """Return A'alpha.

        Parameters
        ----------
        alpha : array-like of shape (p,), or Multipliers
            Multipliers of the rows.

        Returns
        -------
        ndarray of shape (m,)
            Coefficients of the points.
        """
        return (
            self.combined(alpha)
            if isinstance(alpha, np.ndarray)
            else self.multipliers(alpha).pull()
        )

    def scale(self, phi: Loss, costs: Array) -> float:
        """Return sum_r c_r loss(t_r), the loss at f = 0 and b = 0, or a substitute.

        The loss at 0 is 0 if every target lies in the tube around 0, or if no row costs
        anything. The optimum is then 0 as well, and gives no unit for relative errors.
        The substitute is the loss with |t_r| for t_r. If that is 0 too, it is the loss
        with 1 for t_r, and 1 if no row costs anything.

        Parameters
        ----------
        phi : Loss
            Loss.
        costs : ndarray of shape (groups,)
            Costs c.
        """
        for size in (np.positive, np.abs, np.ones_like):
            value = float(self.spread(costs) @ phi.value(size(self.t)))
            if value > 0:
                return value
        return 1.0

    def total_loss(self, phi: Loss, costs: Array, f: Array, b: Any, signed: bool) -> float:
        """Return sum_r c_r loss(u_r); inf if a hard row is violated.

        Parameters
        ----------
        phi : Loss
            Loss.
        costs : ndarray of shape (groups,)
            Costs c.
        f : ndarray of shape (m,)
            Values at the points.
        b : float or ndarray of shape (T,)
            Bias, or one threshold per column of S.
        signed : bool
            True to include the bias b.
        """
        u = self.t - self.dot(f)
        if signed:
            u -= self.offset(b)
        return float(phi.weighed(u, self.spread(costs)).sum())

    def slack(self, g: Array) -> Array:
        """Return the slacks u = t - A g.

        Parameters
        ----------
        g : ndarray of shape (m,)
            Decision values f + b.

        Returns
        -------
        ndarray of shape (p,)
            Slacks.
        """
        return np.asarray(self.t - self.dot(g))

    def slacks(self, g: Array, costs: Array) -> Slacks:
        """Return the slacks at decision values, for sums of a smooth loss.

        Parameters
        ----------
        g : ndarray of shape (m,)
            Decision values f + b.
        costs : ndarray of shape (groups,)
            Costs c.
        """
        return self.slacks_by_row(g, costs)

    def slacks_by_row(self, g: Array, costs: Array) -> RowSlacks:
        """Return the slacks at decision values, stored as one number per row.

        Parameters
        ----------
        g : ndarray of shape (m,)
            Decision values f + b.
        costs : ndarray of shape (groups,)
            Costs c.
        """
        return RowSlacks(self.dot, self.slack(g), self.spread(costs))

    def mixed(self, mu: Array, subsets: Sequence[Any], costs: Array) -> Any:
        """Return alpha_r = c_r times the sum of mu_k over the subsets k of row r.

        These multipliers are feasible for the hinge if mu >= 0 sums to 1 at most.

        Parameters
        ----------
        mu : ndarray of shape (k,)
            Weights of the subsets.
        subsets : sequence of length k
            Subsets as returned by `Slacks.violated`.
        costs : ndarray of shape (groups,)
            Costs c.

        Returns
        -------
        ndarray or implicit multipliers of shape (p,)
            Multipliers.
        """
        alpha = np.zeros(self.p)
        for weight, subset in zip(mu.tolist(), subsets, strict=True):
            alpha += weight * subset
        return self.spread(costs) * alpha


class RowCurvature(Curvature):
    """Diagonal D of a Hessian A' D A, stored in an array.

    Parameters
    ----------
    rows : Rows
        Row operator A.
    D : ndarray of shape (p,)
        Diagonal, of either sign.
    """

    def __init__(self, rows: Rows, D: Array) -> None:
        self.rows, self.D = rows, D

    def hess_vec(self, v: Array) -> Array:
        return self.rows.combined(self.D * self.rows.dot(v))

    def gram(self, Z: Explicit, single: bool = False) -> Array:
        return self.rows.gram_of_rows(Z, self.D, single)

    def gram_product(self, Z: Explicit, v: Array) -> Array:
        return self.rows.product_of_rows(Z, self.D, v)

    def weight(self) -> float:
        return self.rows.points_of_rows(self.D)


class Multipliers(ABC):
    """Dual multipliers alpha of the rows, (p,)."""

    @abstractmethod
    def gain(self) -> float:
        """Return t'alpha."""

    @abstractmethod
    def ridge(self, costs: Array) -> float:
        """Return sum_r alpha_r^2 / (4 c_r), the quadratic dual term of a squared hinge.

        Parameters
        ----------
        costs : ndarray of shape (groups,)
            Costs c.
        """

    @abstractmethod
    def pull(self) -> Array:
        """Return A'alpha, (m,)."""

    @abstractmethod
    def feasible(self, rows: Rows, phi: Loss, costs: Array, biased: bool) -> Array | Multipliers:
        """Return multipliers close to these that are dual feasible.

        They satisfy 0 <= alpha <= c top, and S'alpha = 0 if `biased`. The multiplier of
        a row that costs nothing is 0. For the multipliers returned, A'alpha is exact in
        float64, or `pull_error` bounds its error.

        Parameters
        ----------
        rows : Rows
            Rows of the problem.
        phi : Loss
            Loss of the problem.
        costs : ndarray of shape (groups,)
            Costs c.
        biased : bool
            True if the problem has a bias.
        """

    @abstractmethod
    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        """Return (t + width)'alpha and the quadratic dual term of feasible multipliers.

        Each is rounded so that their difference is a bound. Of multipliers that are not
        stored, the first number may be the difference, and the second 0.

        Parameters
        ----------
        phi : Loss
            Loss; the quadratic dual term of the hinge is 0.
        costs : tuple of ndarray
            Lower and upper bounds of c, (groups,) each.
        way : float
            1 for a lower bound of the difference, -1 for an upper bound.

        Returns
        -------
        linear, ridge : float
            Linear and quadratic dual term.
        """

    @abstractmethod
    def pull_error(self) -> float:
        """Return a bound on the total error of `pull` over the points.

        The multipliers must be feasible.
        """


class RowMultipliers(Multipliers):
    """Multipliers stored in an array.

    Parameters
    ----------
    rows : Rows
        Rows with operator A and targets t.
    alpha : ndarray of shape (p,)
        Multipliers.
    """

    def __init__(self, rows: Rows, alpha: Array) -> None:
        self.rows, self.alpha = rows, alpha

    def gain(self) -> float:
        return float(self.rows.t @ self.alpha)

    def ridge(self, costs: Array) -> float:
        return float(ridge(self.alpha, self.rows.spread(costs)).sum())

    def pull(self) -> Array:
        return self.rows.combined(self.alpha)

    def feasible(self, rows: Rows, phi: Loss, costs: Array, biased: bool) -> Array:
        box = phi.box(rows.spread(costs))
        if biased and rows.k is not None:
            return on_grid_by_threshold(self.alpha, box, rows.s, rows.k, rows.T)
        return round_to_dyadic_grid(self.alpha, box, rows.s if biased else np.zeros(rows.p))

    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        t = self.rows.bounded_targets(-way)
        t = add_rounded(t, phi.width, -way) if phi.shifts else t
        # A factor of 1 needs no rounding.
        gains = self.alpha if (t == 1.0).all() else multiply_rounded(t, self.alpha, -way)
        gain = sum_rounded(gains, -way)
        if not phi.is_smooth:
            return gain, 0.0
        least, most = costs
        factor = 0.25 if phi.slope == 2.0 else divide_rounded(0.5, phi.slope, way)
        used = self.alpha != 0
        alpha, cost = self.alpha[used], self.rows.spread(least if way > 0 else most)[used]
        shares = multiply_rounded(factor, divide_rounded(alpha, cost, way), way)
        return gain, sum_rounded(multiply_rounded(shares, alpha, way), way)

    def pull_error(self) -> float:
        return 0.0


def ridge(alpha: Array, costs: Array) -> Array:
    """Return alpha_r^2 / (4 c_r) of every row, 0 if a row costs nothing.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Multipliers.
    costs : ndarray of shape (p,)
        Costs c of the rows.

    Returns
    -------
    ndarray of shape (p,)
        Quadratic dual term per row.
    """
    out = np.zeros(len(costs))
    # Divide first: alpha^2 may underflow where alpha^2 / c does not.
    np.divide(alpha, costs, out=out, where=costs > 0)
    return 0.25 * out * alpha
