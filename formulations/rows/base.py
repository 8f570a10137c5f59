"""The interface of the rows of a margin problem: the operator A, groups of equal cost, sums of losses, and multipliers.

    u_r = t_r - (A f)_r - (S b)_r                                                            the slack that row r needs at (f, b)
    L(alpha) = t'alpha - 1/2 |A'alpha|_K^2 - sum_r alpha_r^2 / (2 slope c_r) + width sum_r alpha_r      the dual value of multipliers

slope and width are those of the loss (`loss.py`). Classification, epsilon-SVR, ranking
and ordinal regression differ only in A, t and S. With one threshold S is s = A 1, so
that a bias b is a constant that is added to f. With a smooth loss phi and g = f + b, an
optimiser needs three things of the rows (`slacks.py`):

    sum_r c_r phi(u_r),    its gradient -A' alpha in g,  alpha_r = c_r phi'(u_r),    and its Hessian A' D A,  D_rr = c_r phi''(u_r).
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


class Operator(ABC):
    """A (p, m), its targets t (p,) and its bias signs s (p,) in {-1, 0, +1}.

    Each row has one threshold at most. S (p, T) is therefore kept as s and k: s_r is in the column k_r.
    """

    m: int
    p: int
    t: Array
    s: Array
    T: int = 1
    """Number of thresholds, where there is a bias at all."""
    k: Index | None = None
    """(p,) the threshold of each row; None where all rows have the only one."""

    def offset(self, b: Any) -> Array:
        """S b, (p,), for a bias b, or thresholds b (T,) where there are more than one."""
        return np.asarray((b if self.k is None else b[self.k]) * self.s)

    @abstractmethod
    def dot(self, f: Array) -> Array:
        """A f, (p,), for f (m,)."""

    @abstractmethod
    def combined(self, v: Array) -> Array:
        """A'v, (m,), for v (p,)."""

    @abstractmethod
    def absolute_dot(self, f: Array) -> Array:
        """|A| f, (p,), for f (m,)."""

    @cached_property
    @abstractmethod
    def matrix(self) -> Any:
        """A as a scipy CSR array, (p, m)."""

    @abstractmethod
    def take(self, Z: Explicit, index: Index) -> Any:
        """A[index] Z, (k, q), dense or CSR as Z is: the features of some of the rows."""

    @abstractmethod
    def part(self, points: Index) -> tuple[Self, Any]:
        """The rows of these points alone, and which groups of the whole they are, for indexing."""

    @property
    def touched(self) -> Index:
        """The points that are in some row."""
        return np.arange(self.m)

    @property
    def invariant(self) -> bool:
        """Whether a constant added to f changes nothing."""
        return False

    @cached_property
    def largest_target(self) -> float:
        """max |t_r|, or 1 where that is 0."""
        return float(np.abs(self.t).max(initial=0.0)) or 1.0

    def bounded_targets(self, way: float) -> Array:
        """t, (p,), from above for way = 1, from below for way = -1: the same where no target is rounded."""
        return self.t

    def spaced(self, stride: int) -> Index:
        """About m / stride points, chosen evenly, whose rows represent all rows."""
        return np.arange(0, self.m, stride)

    @abstractmethod
    def gram_of_rows(self, Z: Explicit, D: Array, single: bool = False) -> Array:
        """Z' A' D A Z, (q, q), for features Z (m, q) and an array D (p,) of either sign; single : as in `gram_weighted`."""

    def product_of_rows(self, Z: Explicit, D: Array, v: Array) -> Array:
        """Z' A' D A Z v, (q,), for features Z (m, q), an array D (p,) and v (q,)."""
        return Z.rdot(self.combined(D * self.dot(Z @ v)))

    def points_of_rows(self, D: Array) -> float:
        """The sum of D_r over all rows r and all points that are in r, for an array D (p,)."""
        return float(D.sum())

    def curvature(self, D: Array | Curvature) -> Curvature:
        """The diagonal D of a Hessian A' D A, from an array (p,) or from what stands for one."""
        return (
            RowCurvature(self, D) if isinstance(D, np.ndarray) else D
        )  # a test of an abstract class would take longer

    def gram_weighted(self, Z: Explicit, D: Array | Curvature, single: bool = False) -> Array:
        """Z' A' D A Z, (q, q), for features Z (m, q) and the diagonal D (p,) of either sign.

        Parameters
        ----------
        single : bool
            Whether sums of float32 are good enough.
        """
        return self.curvature(D).gram(Z, single)

    def gram_product(self, Z: Explicit, D: Array | Curvature, v: Array) -> Array:
        """Z' A' D A Z v, (q,), for features Z (m, q), the diagonal D (p,) and v (q,)."""
        return self.curvature(D).gram_product(Z, v)

    def hess_vec(self, D: Array | Curvature, v: Array) -> Array:
        """A' D A v, (m,), for the diagonal D (p,) and v (m,)."""
        return self.curvature(D).hess_vec(v)

    def weight(self, D: Array | Curvature) -> float:
        """The sum of D_r over all rows r and all points that are in r."""
        return self.curvature(D).weight()


class RowCurvature(Curvature):
    """The diagonal D of a Hessian in an array.

    Parameters
    ----------
    rows : Operator
        A.
    D : ndarray of shape (p,)
        Of either sign.
    """

    def __init__(self, rows: Operator, D: Array) -> None:
        self.rows, self.D = rows, D

    def hess_vec(self, v: Array) -> Array:
        return self.rows.combined(self.D * self.rows.dot(v))

    def gram(self, Z: Explicit, single: bool = False) -> Array:
        return self.rows.gram_of_rows(Z, self.D, single)

    def gram_product(self, Z: Explicit, v: Array) -> Array:
        return self.rows.product_of_rows(Z, self.D, v)

    def weight(self) -> float:
        return self.rows.points_of_rows(self.D)


class RowGroups(ABC):
    """Groups of rows whose costs are equal: the pairs of a query, the rows of a point with a level, or else every row alone."""

    p: int

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return self.p

    def spread(self, values: Array) -> Array:
        """A value per group, (groups,), row by row, (p,)."""
        return values

    def used(self, values: Array) -> Array:
        """A value per group, (groups,), 0 where a group has no rows."""
        return values


class GroupedRows(Operator, RowGroups):
    """Rows as their multipliers need them: the operator and the groups, without the losses."""


class Multipliers(ABC):
    """One multiplier a row, (p,)."""

    @abstractmethod
    def gain(self) -> float:
        """t'alpha."""

    @abstractmethod
    def ridge(self, costs: Array) -> float:
        """Return sum_r alpha_r^2 / (4 c_r) at costs (groups,), what a squared hinge subtracts in the dual."""

    @abstractmethod
    def pull(self) -> Array:
        """A'alpha, (m,)."""

    @abstractmethod
    def feasible(
        self, rows: GroupedRows, phi: Loss, costs: Array, biased: bool
    ) -> Array | Multipliers:
        """Return multipliers close to these with 0 <= alpha <= c top, and S'alpha = 0 if `biased`.

        The multiplier of a row that costs nothing is 0. For the multipliers returned, A'alpha is exact in float64, or `pull_error` bounds
        its error.

        Parameters
        ----------
        rows : GroupedRows
            Of the problem.
        phi : Loss
            Its loss.
        costs : ndarray of shape (groups,)
            c.
        """

    @abstractmethod
    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        """Return (t + width)'alpha and the ridge of feasible multipliers, each rounded so that the difference of the two is a bound.

        Parameters
        ----------
        phi : Loss
            The loss; of the hinge the ridge is 0.
        costs : tuple[Array, Array]
            Least and largest c, (groups,) each.
        way : float
            1 for a difference from below, -1 from above.
        """

    @abstractmethod
    def pull_error(self) -> float:
        """A bound on the sum over the points of the error of `pull`, for feasible multipliers."""


class RowMultipliers(Multipliers):
    """Multipliers in an array.

    Parameters
    ----------
    rows : GroupedRows
        A and t.
    alpha : ndarray of shape (p,)
    """

    def __init__(self, rows: GroupedRows, alpha: Array) -> None:
        self.rows, self.alpha = rows, alpha

    def gain(self) -> float:
        return float(self.rows.t @ self.alpha)

    def ridge(self, costs: Array) -> float:
        return float(ridge(self.alpha, self.rows.spread(costs)).sum())

    def pull(self) -> Array:
        return self.rows.combined(self.alpha)

    def feasible(self, rows: GroupedRows, phi: Loss, costs: Array, biased: bool) -> Array:
        box = phi.box(rows.spread(costs))
        if biased and rows.k is not None:
            return on_grid_by_threshold(self.alpha, box, rows.s, rows.k, rows.T)
        return round_to_dyadic_grid(self.alpha, box, rows.s if biased else np.zeros(rows.p))

    def proven(self, phi: Loss, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        t = self.rows.bounded_targets(-way)
        gain = sum_rounded(
            multiply_rounded(
                add_rounded(t, phi.width, -way) if phi.shifts else t, self.alpha, -way
            ),
            -way,
        )
        if not phi.is_smooth:
            return gain, 0.0
        least, most = costs
        factor = 0.25 if phi.slope == 2.0 else divide_rounded(0.5, phi.slope, way)
        shares = multiply_rounded(
            factor,
            divide_rounded(self.alpha, self.rows.spread(least if way > 0 else most), way),
            way,
        )
        return gain, sum_rounded(multiply_rounded(shares, self.alpha, way), way)

    def pull_error(self) -> float:
        return 0.0


class Rows(GroupedRows):
    """Rows A with their groups, and sums of losses over them; y (m,) is what the data call the labels, if they have any."""

    y: Any

    @property
    def many(self) -> bool:
        """Whether the rows are too many for sums over them to be taken row by row."""
        return False

    def multipliers(self, alpha: ArrayLike | Multipliers) -> Multipliers:
        """Multipliers of the rows, from an array (p,) or from what stands for one."""
        if isinstance(
            alpha, np.ndarray
        ):  # first: a test of an abstract class takes longer than some products
            return RowMultipliers(self, alpha)
        return alpha if isinstance(alpha, Multipliers) else RowMultipliers(self, np.asarray(alpha))

    def rdot(self, alpha: ArrayLike | Multipliers) -> Array:
        """A'alpha, (m,), for multipliers (p,)."""
        return (
            self.combined(alpha)
            if isinstance(alpha, np.ndarray)
            else self.multipliers(alpha).pull()
        )

    def scale(self, phi: Loss, costs: Array) -> float:
        """sum_r c_r loss(t_r), the loss at f = 0, b = 0, or a substitute where that is 0.

        The loss at 0 is 0 if every target lies in the tube around 0, or if no row costs anything. The optimum is then 0 as well, and gives
        no unit in which to measure answers. The substitute is the loss with |t_r| for t_r. If that is 0 too, it is the loss with 1 for
        t_r, and 1 if no row costs anything.

        Parameters
        ----------
        phi : Loss
            The loss.
        costs : ndarray of shape (groups,)
            finite.
        """
        for size in (np.positive, np.abs, np.ones_like):
            value = float(self.spread(costs) @ phi.value(size(self.t)))
            if value > 0:
                return value
        return 1.0

    def total_loss(self, phi: Loss, costs: Array, f: Array, b: Any, signed: bool) -> float:
        """sum_r c_r loss(u_r) at f (m,) and b, which counts where `signed`; costs (groups,); inf where a hard row is violated."""
        u = self.t - self.dot(f)
        if signed:
            u -= self.offset(b)
        return float(phi.weighed(u, self.spread(costs)).sum())

    def slack(self, g: Array) -> Array:
        """u = t - A g, (p,), for decision values g = f + b (m,)."""
        return np.asarray(self.t - self.dot(g))

    def slacks(self, g: Array, costs: Array) -> Slacks:
        """The slacks at decision values g = f + b, (m,), with costs (groups,)."""
        return self.slacks_by_row(g, costs)

    def slacks_by_row(self, g: Array, costs: Array) -> RowSlacks:
        """As `slacks`, with arrays of one number a row."""
        return RowSlacks(self.dot, self.slack(g), self.spread(costs))

    def mixed(self, mu: Array, subsets: Sequence[Any], costs: Array) -> Any:
        """alpha_r = c_r times the sum of mu_k over the subsets k with row r, (p,): feasible for the hinge if mu >= 0 sums to 1 at most.

        Parameters
        ----------
        mu : ndarray of shape (k,)
        subsets : Sequence[Any]
            k of `Slacks.violated`.
        costs : ndarray of shape (groups,)
        """
        alpha = np.zeros(self.p)
        for weight, subset in zip(mu.tolist(), subsets, strict=True):
            alpha += weight * subset
        return self.spread(costs) * alpha


def ridge(alpha: Array, costs: Array) -> Array:
    """alpha_r^2 / (4 c_r), (p,), 0 where a row costs nothing; alpha, costs : (p,)."""
    out = np.zeros(len(costs))
    np.divide(
        alpha, costs, out=out, where=costs > 0
    )  # first: alpha^2 underflows where alpha^2 / c does not
    return 0.25 * out * alpha
