"""The rows A of a margin problem: what a formulation asks of f, one row an inequality.

    u_r = t_r - (A f)_r - b s_r          the slack that row r needs at (f, b)

Signed (classification), Tube (epsilon-SVR) and Pairs (ranking) differ in A, t and s only. Each has s = A 1, so that a bias is a constant
added to f; with a smooth loss and g = f + b, all that an optimiser sees of the rows (`slacks.py`) is

    sum_r c_r phi(u_r),    its gradient -A' alpha in g,  alpha_r = c_r phi'(u_r),    and its Hessian A' D A,  D_rr = c_r phi''(u_r).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.features import Explicit
from equimargin.formulations.slacks import RowSlacks, Slacks

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Rows(ABC):
    """Rows A (p, m) with targets t (p,) and bias signs s (p,) in {-1, 0, +1}; y (m,) is what the data call the labels, if they have any."""

    y: Any
    m: int
    p: int
    t: Array
    s: Array

    @property
    def many(self) -> bool:
        """Whether the rows are too many to be looked at one by one."""
        return False

    @property
    def groups(self) -> int:
        """Into how many groups the rows fall whose costs are the same: as many as rows, or queries."""
        return self.p

    def spread(self, values: Array) -> Array:
        """A value per group, (groups,), row by row, (p,)."""
        return values

    @property
    def touched(self) -> Index:
        """The points that are in some row."""
        return np.arange(self.m)

    @property
    def invariant(self) -> bool:
        """Whether a constant added to f changes nothing."""
        return False

    def weight(self, D: Any) -> float:
        """sum over the rows and their points of D: |A|'D 1."""
        return float(D.sum())

    def used(self, values: Array) -> Array:
        """A value per group, (groups,), 0 where a group has no rows."""
        return values

    @cached_property
    def largest_target(self) -> float:
        """max |t_r|, or 1 where that is 0."""
        return float(np.abs(self.t).max(initial=0.0)) or 1.0

    def scale(self, squared: bool, costs: Array) -> float:
        """sum_r c_r loss(t_r), the loss at f = 0, b = 0; finite costs (groups,), `squared` which hinge.

        Where it is 0 (a tube that holds 0, no row that costs anything) the optimum is 0 too and leaves no unit to measure answers
        in: that is what targets of size |t_r| would cost, of size 1 if all are 0, or 1 if no row costs anything.
        """
        for size in (np.positive, np.abs, np.ones_like):
            violated = np.maximum(size(self.t), 0.0)
            value = float(costs @ (violated**2 if squared else violated))
            if value > 0:
                return value
        return 1.0

    def total_loss(self, squared: bool, costs: Array, f: Array, b: float, signed: bool) -> float:
        """sum_r c_r loss(u_r) at f (m,) and b, which counts where `signed`; costs (groups,); inf where a hard row is violated."""
        u = self.t - self.dot(f)
        if signed:
            u -= b * self.s
        return float(weighed(self.spread(costs), u, squared).sum())

    def gain(self, alpha: Any) -> float:
        """t'alpha, for multipliers (p,)."""
        return float(self.t @ alpha)

    def ridge(self, alpha: Any, costs: Array) -> float:
        """sum_r alpha_r^2 / (4 c_r), for multipliers (p,) and costs (groups,)."""
        return float(ridge(alpha, self.spread(costs)).sum())

    @abstractmethod
    def dot(self, f: Array) -> Array:
        """A f, (p,), for f (m,)."""

    @abstractmethod
    def rdot(self, alpha: Any) -> Array:
        """A' alpha, (m,), for alpha (p,)."""

    @abstractmethod
    def absolute_dot(self, f: Array) -> Array:
        """|A| f, (p,), for f (m,)."""

    @cached_property
    @abstractmethod
    def matrix(self) -> Any:
        """A as a scipy CSR array, (p, m)."""

    @abstractmethod
    def gram_weighted(self, Z: Explicit, D: Any) -> Array:
        """Z' A' D A Z, (q, q), for features Z (m, q) and the diagonal D (p,) of either sign."""

    @abstractmethod
    def take(self, Z: Explicit, index: Index) -> Any:
        """A[index] Z, (k, q), dense or CSR as Z is: the features of some of the rows."""

    def gram_product(self, Z: Explicit, D: Any, v: Array) -> Array:
        """Z' A' D A Z v, (q,), for features Z (m, q), the diagonal D (p,) and v (q,)."""
        return Z.rdot(self.hess_vec(D, Z @ v))

    @abstractmethod
    def part(self, points: Index) -> tuple[Rows, Index]:
        """The rows of these points alone, and which rows of the whole they are."""

    def slack(self, g: Array) -> Array:
        """u = t - A g, (p,), for decision values g = f + b (m,)."""
        return np.asarray(self.t - self.dot(g))

    def slacks(self, g: Array, costs: Array) -> Slacks:
        """What losses make of the slacks at decision values g = f + b, (m,); costs (groups,)."""
        return self.slacks_by_row(g, costs)

    def slacks_by_row(self, g: Array, costs: Array) -> RowSlacks:
        """As `slacks`, with arrays of one number a row."""
        return RowSlacks(self.dot, self.slack(g), self.spread(costs))

    def spaced(self, stride: int) -> Index:
        """About one point in `stride`, whose rows are like all rows."""
        return np.arange(0, self.m, stride)

    def mixed(self, mu: Array, subsets: Sequence[Any], costs: Array) -> Any:
        """alpha_r = c_r times the sum of mu_k over the subsets k with row r, (p,): feasible for the hinge if mu >= 0 sums to 1 at most.

        Parameters
        ----------
        mu : (k,).  subsets : k of `Slacks.violated`.  costs : (groups,).
        """
        alpha = np.zeros(self.p)
        for weight, subset in zip(mu.tolist(), subsets, strict=True):
            alpha += weight * subset
        return self.spread(costs) * alpha

    def hess_vec(self, D: Any, v: Array) -> Array:
        """A' D A v, (m,), for the diagonal D (p,) and v (m,)."""
        return self.rdot(D * self.dot(v))


class Signed(Rows):
    """Classification: y_i (f(x_i) + b) >= 1, one row a point.

    Parameters
    ----------
    y : (m,) labels in {-1, +1}.
    """

    def __init__(self, y: Array) -> None:
        self.y = np.asarray(y, dtype=np.float64)
        self.m = self.p = len(self.y)
        self.t, self.s = np.ones(self.p), self.y

    def dot(self, f: Array) -> Array:
        return np.asarray(self.y * f)

    def rdot(self, alpha: Any) -> Array:
        return np.asarray(self.y * alpha)

    def absolute_dot(self, f: Array) -> Array:
        return f

    @cached_property
    def matrix(self) -> Any:
        from scipy import sparse

        return sparse.diags_array(self.y).tocsr()

    def gram_weighted(self, Z: Explicit, D: Any) -> Array:
        return _gram(Z, D)

    def gram_product(self, Z: Explicit, D: Any, v: Array) -> Array:
        return Z.product(D, v)

    def take(self, Z: Explicit, index: Index) -> Any:
        return _signed(Z.rows(index), self.y[index])

    def part(self, points: Index) -> tuple[Rows, Index]:
        return Signed(self.y[points]), points


class Tube(Rows):
    """Epsilon-SVR: -epsilon <= y_i - f(x_i) - b <= epsilon, first the m rows of y - f - b <= epsilon, then the m of f + b - y <= epsilon.

    Parameters
    ----------
    y : (m,) targets.  epsilon : half the width of the tube, in the units of y.
    """

    def __init__(self, y: Array, epsilon: float) -> None:
        self.y, self.epsilon = np.asarray(y, dtype=np.float64), epsilon
        self.m, self.p = len(self.y), 2 * len(self.y)
        self.t = np.concatenate([self.y - epsilon, -self.y - epsilon])
        self.s = np.concatenate([np.ones(self.m), -np.ones(self.m)])

    def dot(self, f: Array) -> Array:
        return np.concatenate([f, -f])

    def rdot(self, alpha: Any) -> Array:
        beta: Array = alpha[: self.m] - alpha[self.m :]
        return beta

    def absolute_dot(self, f: Array) -> Array:
        return np.concatenate([f, f])

    @cached_property
    def matrix(self) -> Any:
        from scipy import sparse

        identity = sparse.eye_array(self.m)
        return sparse.vstack([identity, -identity]).tocsr()

    def gram_weighted(self, Z: Explicit, D: Any) -> Array:
        return _gram(Z, D[: self.m] + D[self.m :])

    def gram_product(self, Z: Explicit, D: Any, v: Array) -> Array:
        return Z.product(D[: self.m] + D[self.m :], v)

    def take(self, Z: Explicit, index: Index) -> Any:
        return _signed(Z.rows(index % self.m), self.s[index])

    def part(self, points: Index) -> tuple[Rows, Index]:
        return Tube(self.y[points], self.epsilon), np.concatenate([points, self.m + points])


class Pairs(Rows):
    """Ranking: f(x_i) - f(x_j) >= 1 for every i preferred to j, ordered lexicographically by (preferred, other).

    Parameters
    ----------
    preferred, other : (p,) indices of points.  m : number of points.

    query : (m,) queries that pairs of labels come from, None where the pairs were given one by one.
    """

    query: Index | None = None
    largest_target = 1.0

    def __init__(self, preferred: Index, other: Index, m: int) -> None:
        self.y = None
        order = np.lexsort((other, preferred))
        self._listed = np.asarray(preferred)[order], np.asarray(other)[order]
        self.m, self.p = m, len(preferred)

    @property
    def invariant(self) -> bool:
        return True

    def weight(self, D: Any) -> float:
        return 2 * float(D.sum())

    @property
    def preferred(self) -> Index:
        """(p,) the points that are to come first."""
        return self._listed[0]

    @property
    def other(self) -> Index:
        """(p,) the points that they are preferred to."""
        return self._listed[1]

    @property
    def touched(self) -> Index:
        return np.unique(np.concatenate([self.preferred, self.other]))

    @cached_property
    def t(self) -> Array:  # type: ignore[override]
        """Ones, (p,)."""
        return np.ones(self.p)

    @cached_property
    def s(self) -> Array:  # type: ignore[override]
        """Zeros, (p,): a constant cancels."""
        return np.zeros(self.p)

    def dot(self, f: Array) -> Array:
        difference: Array = f[self.preferred] - f[self.other]
        return difference

    def rdot(self, alpha: Any) -> Array:
        return np.asarray(np.bincount(self.preferred, alpha, self.m) - np.bincount(self.other, alpha, self.m), dtype=np.float64)

    def absolute_dot(self, f: Array) -> Array:
        total: Array = f[self.preferred] + f[self.other]
        return total

    @cached_property
    def matrix(self) -> Any:
        from scipy import sparse

        r = np.arange(self.p)
        entries = np.concatenate([np.ones(self.p), -np.ones(self.p)])
        where = np.concatenate([r, r]), np.concatenate([self.preferred, self.other])
        return sparse.csr_array((entries, where), shape=(self.p, self.m))

    def gram_weighted(self, Z: Explicit, D: Any) -> Array:
        from scipy import sparse

        rows = np.flatnonzero(D)
        A = self.matrix[rows]
        laplacian = (A.T @ sparse.diags_array(D[rows]) @ A).tocsr()
        points = np.unique(A.indices)
        touched = Z.rows(points)
        H = touched.T @ (laplacian[points][:, points] @ touched)
        return np.asarray(H.toarray() if hasattr(H, "toarray") else H)

    def take(self, Z: Explicit, index: Index) -> Any:
        return Z.rows(self.preferred[index]) - Z.rows(self.other[index])

    def part(self, points: Index) -> tuple[Rows, Index]:
        place = np.full(self.m, -1)
        place[points] = np.arange(len(points))
        kept = np.flatnonzero((place[self.preferred] >= 0) & (place[self.other] >= 0))
        return Pairs(place[self.preferred[kept]], place[self.other[kept]], len(points)), kept


def _gram(Z: Explicit, D: Array) -> Array:
    """Z' D Z, (q, q), for a diagonal D (m,) of either sign."""
    index = np.flatnonzero(D != 0.0)
    return Z.gram(index, D[index])


def _signed(Z: Any, s: Array) -> Any:
    """diag(s) Z for some rows of features."""
    return Z.multiply(s[:, None]).tocsr() if hasattr(Z, "tocsr") else s[:, None] * Z


def weighed(costs: Array, u: Array, squared: bool) -> Array:
    """c_r loss(u_r), (p,), for costs (p,) and slacks u (p,); inf where a row of infinite cost is violated."""
    violated = np.maximum(u, 0.0)
    cost = np.zeros(len(u))
    np.multiply(costs, violated, out=cost, where=violated > 0)
    return cost * violated if squared else cost  # c u first: u^2 underflows where c u^2 does not


def ridge(alpha: Array, costs: Array) -> Array:
    """alpha_r^2 / (4 c_r), (p,), 0 where a row costs nothing; alpha, costs : (p,)."""
    out = np.zeros(len(costs))
    np.divide(alpha, costs, out=out, where=costs > 0)  # first: alpha^2 underflows where alpha^2 / c does not
    return 0.25 * out * alpha
