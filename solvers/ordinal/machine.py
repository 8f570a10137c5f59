"""The problem of ordinal regression in arrays, the best thresholds of a function, and what a point of it proves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.kernels.features import Explicit, explicit
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.numeric.dyadic import on_grid
from equimargin.formulations.numeric.jit import seconds_at_work
from equimargin.formulations.numeric.rounding import product, rounded, total
from equimargin.solvers.solution import Limits, Status, relative_gap

Levels = NDArray[np.int64]
AT_MOST = 1 + 1e-9
"""Times this, a sum of up to a million sizes in float64 is no less than the sum."""


class AnyMachine:
    """An instance: points, a kernel, and thresholds b_0, ..., b_{T-1}; a row (i, k) asks s_ik (f(x_i) - b_k) >= margin - xi_ik.

        min over f, b    1/2 |f|^2 + push'b + sum_ik c_ik loss(margin - s_ik (f(x_i) - b_k))

    X : (n, d) features, or the (n, n) Gram matrix where the kernel is precomputed.  kernel : of f, positive semidefinite.
    S : (n, T) the sides s_ik.  C : (n, T) finite costs c_ik, 0 where there is no row.  squared : whether slacks are squared.
    margin : at least 0.  push : (T,) costs of the thresholds themselves.  ordered : whether b_0 <= b_1 <= ... is asked for.
    shift : added to the diagonal of a Gram matrix.
    """

    X: Features
    kernel: Kernel
    S: Array
    C: Array
    push: Array
    squared: bool = False
    margin: float = 1.0
    ordered: bool = False
    shift: float = 0.0

    @property
    def n(self) -> int:
        """The number of points."""
        return int(self.S.shape[0])

    @property
    def thresholds(self) -> int:
        """T."""
        return int(self.S.shape[1])

    @cached_property
    def gram(self) -> Gram:
        """The Gram matrix of the points."""
        return Gram(self.kernel, self.X, self.shift)

    @cached_property
    def features(self) -> Explicit | None:
        """The points as features, where the kernel is linear."""
        return explicit(self.kernel, self.X)

    @property
    def at_0(self) -> float:
        """What slacks of 1 cost: with a margin of 1, the value P(0) at f = 0 and b = 0."""
        return float(self.C.sum())

    def losses(self, f: Array, b: Array) -> float:
        """sum_ik c_ik loss(margin - s_ik (f_i - b_k))."""
        short = np.maximum(self.margin - self.S * (f[:, None] - b), 0.0)
        return float((self.C * (short**2 if self.squared else short)).sum())

    def balanced(self, G: Array) -> Array:
        """Signed multipliers G (n, T) as a point of the dual has them, where that is easily made of them."""
        return G

    def proven(self, fit: OrdinalFit, ulps: int = 0) -> Interval:
        """The interval that a fit proves of the optimum: any, unless a kind of machine knows a better one.

        Parameters
        ----------
        fit : OrdinalFit
            Of this machine.
        ulps : int, default 0
            Units in the last place: the interval holds for all features and costs that differ
            from those of the machine by at most this.
        """
        return Interval(-np.inf, np.inf, self.at_0)


class Machine(AnyMachine):
    """An instance with all thresholds between levels: a row for every point and threshold.

    Parameters
    ----------
    X, kernel, squared, shift : as in `AnyMachine`.  y : (n,) levels in {0, ..., L - 1}.
    cost : (n,) finite c_i > 0, of all rows of a point.  levels : L; by default the largest level is taken.
    """

    def __init__(
        self, X: Features, y: Levels, cost: Array, kernel: Kernel, squared: bool = False, levels: int | None = None, shift: float = 0.0
    ) -> None:
        self.X, self.y, self.cost, self.kernel, self.squared, self.shift = X, y, cost, kernel, squared, shift
        thresholds = int(y.max()) if levels is None else levels - 1
        self.S = np.where(y[:, None] > np.arange(thresholds), 1.0, -1.0)
        self.C, self.push = np.broadcast_to(cost[:, None], self.S.shape), np.zeros(thresholds)

    @property
    def ridge(self) -> Array:
        """(n,) what squared slacks add to the diagonal of the dual's quadratic term: 1 / (2 c_i); 0 of other slacks."""
        return 0.5 / self.cost if self.squared else np.zeros(self.n)

    def best_thresholds(self, f: Array) -> tuple[Array, Array]:
        """The least and the largest best b_k of given values f, (L - 1,) each.

        What a threshold costs is convex in b, and changes at the points f_i + 1 of the levels up to k, and f_i - 1 of those above: its
        slope is that of the weights on both sides of b, or of their distances where slacks are squared.
        """
        low, high = np.empty(self.thresholds), np.empty(self.thresholds)
        weight = self.cost / self.cost.max()
        for k in range(self.thresholds):
            ends = f - self.S[:, k]
            order = np.argsort(ends, kind="stable")
            ends, c, above = ends[order], weight[order], self.S[order, k] > 0
            if self.squared:
                low[k] = high[k] = _balanced(ends, np.where(above, c, 0.0), np.where(above, 0.0, c))
                continue
            passed, half = np.cumsum(c), float(c[~above].sum())
            low[k] = ends[min(int(np.searchsorted(passed, half)), self.n - 1)] if half else -np.inf
            at = int(np.searchsorted(passed, half, side="right"))
            high[k] = ends[at] if at < self.n else np.inf
        return low, np.maximum(low, high)

    def thresholds_of(self, f: Array) -> Array:
        """Best thresholds of given values f, (L - 1,): the middle of what is best, or its finite end."""
        low, high = self.best_thresholds(f)
        middle = np.where(np.isfinite(low) & np.isfinite(high), (low + high) / 2, np.where(np.isfinite(low), low, high))
        return np.maximum.accumulate(middle)

    def values(self, square: float, f: Array, b: Array, G: Array) -> tuple[float, float]:
        """(primal, dual) in float64, of f with |f|^2 = square and thresholds b, and of signed multipliers G (n, L - 1)."""
        beta = G.sum(axis=1)
        curved = float(beta @ (self.gram @ beta)) + float(self.ridge @ (G * G).sum(axis=1))
        return square / 2 + self.losses(f, b), float(np.abs(G).sum()) - curved / 2

    def balanced(self, G: Array) -> Array:
        """Signed multipliers with the heavier side of every column scaled down, so that it sums to 0."""
        up, down = np.maximum(G, 0.0).sum(axis=0), np.maximum(-G, 0.0).sum(axis=0)
        least = np.minimum(up, down)
        scale = [np.divide(least, side, out=np.zeros_like(side), where=side > 0) for side in (up, down)]
        return np.asarray(np.where(G > 0, G * scale[0], G * scale[1]))

    def proven(self, fit: OrdinalFit, ulps: int = 0) -> Interval:
        """The interval that a fit proves of the optimum, every rounding counted.

        The multipliers are put on a grid on which they are exactly feasible, and all their sums exact.
        """
        if ulps and fit.w is None:
            return super().proven(fit)
        e = ulps * float(np.finfo(np.float64).eps)
        G = _on_grids(fit.G, np.inf if self.squared else self.cost * (1 - 2 * e), self.S)
        beta = G.sum(axis=1)
        ridge = self.ridge[:, None] * (1 + 1e-15 + 2 * e)
        curved = [self._square(beta, e), product(ridge, product(G, G, 1), 1).ravel()]
        lower = rounded(total(np.abs(G).ravel(), -1) - rounded(total(np.concatenate(curved), 1) / 2, 1), -1)
        if fit.w is not None and self.features is not None:
            f, error = self.features.values(fit.w)
            if e:  # entries of X that differ by a share e move w.x_i by e |w|'|x_i|
                error = rounded(error + e * AT_MOST * (abs(self.X) @ np.abs(fit.w)), 1)
            square = product(fit.w, fit.w, 1)
        else:
            f, error = self._product(fit.beta)
            square = self._square(fit.beta)
        apart = np.where(self.S > 0, rounded(f[:, None] - fit.b, -1), rounded(fit.b - f[:, None], -1))
        margins = rounded(apart - error[:, None], -1)
        short = np.maximum(rounded(1 - margins, 1), 0.0)
        cost = self.cost[:, None] * (1 + 2 * e)
        slacks = product(cost, product(short, short, 1) if self.squared else short, 1)
        upper = rounded(rounded(total(square, 1) / 2, 1) + total(slacks.ravel(), 1), 1)
        return Interval(float(lower), float(upper), self.at_0)

    def _square(self, beta: Array, e: float = 0.0) -> Array:
        """Terms whose sum is at least beta'K beta, of all features within shares e."""
        if self.features is None:
            return _quadratic(*self._product(beta), beta)
        w, error = self.features.combination(beta)
        if e:
            error = rounded(error + e * AT_MOST * (abs(self.X).T @ np.abs(beta)), 1)
        size = rounded(np.abs(w) + error, 1)
        return np.asarray(product(size, size, 1))

    def _product(self, beta: Array) -> tuple[Array, Array]:
        return self.gram.product(beta) if self.features is None else self.features.kernel_product(beta)


@dataclass(frozen=True, eq=False)
class OrdinalFit:
    """A point and how its run ended.

    machine : the instance.  G : (n, L - 1) signed multipliers s_ik a_ik, balanced in every column.  beta : (n,) f = sum_i beta_i k(x_i, .).
    w : (d,) f = w.x of a linear kernel in features, or None.  b : (L - 1,) thresholds.  primal, dual : float64 values.
    iterations, seconds, status, reason : of the run.
    """

    machine: AnyMachine
    G: Array
    beta: Array
    w: Array | None
    b: Array
    primal: float
    dual: float
    iterations: int
    seconds: float
    status: Status
    reason: str

    @property
    def gap(self) -> float:
        """Primal minus dual, relative as everywhere."""
        return relative_gap(self.primal, self.dual, self.machine.at_0)

    @cached_property
    def interval(self) -> Interval:
        """What the point proves of the optimum."""
        return self.machine.proven(self)


class Run:
    """The clock, the gap and the best point of one run."""

    def __init__(self, machine: AnyMachine, limits: Limits, most: int) -> None:
        self.machine, self.limits, self.most = machine, limits, limits.max_iter or most
        self.started, self.gap = seconds_at_work(), np.inf
        self.best: OrdinalFit | None = None
        self.status, self.reason = Status.NUMERICAL_FAILURE, "no step changes the point in double precision"

    def over(self, G: Array, w: Array | None, b: Array, values: tuple[float, float], iterations: int) -> bool:
        """Judge a point; true if the run is over."""
        gap, seconds = relative_gap(*values, self.machine.at_0), seconds_at_work() - self.started
        if self.best is None or gap < self.gap:
            self.gap = gap
            self.best = OrdinalFit(self.machine, G.copy(), G.sum(axis=1), w, b, *values, iterations, seconds, self.status, self.reason)
        if gap <= self.limits.tol:
            return self._ended(Status.OPTIMAL, f"the relative gap is at most {self.limits.tol:g}")
        if self.limits.time_limit is not None and seconds > self.limits.time_limit:
            return self._ended(Status.TIME_LIMIT, f"the time limit of {self.limits.time_limit:g} s")
        return iterations >= self.most and self._ended(Status.ITERATION_LIMIT, f"the limit of {self.most} iterations")

    def _ended(self, status: Status, reason: str) -> bool:
        self.status, self.reason = status, reason
        return True

    def fit(self) -> OrdinalFit:
        """The best point, with how the run ended."""
        assert self.best is not None
        parts = {**vars(self.best), "status": self.status, "reason": self.reason, "seconds": seconds_at_work() - self.started}
        return OrdinalFit(**parts)


def _balanced(ends: Array, above: Array, below: Array) -> float:
    """The b at which sum above (b - end)_+ = sum below (end - b)_+, for ends in ascending order."""
    left = np.cumsum(above) * ends - np.cumsum(above * ends)
    right = np.cumsum((below * ends)[::-1])[::-1] - np.cumsum(below[::-1])[::-1] * ends
    slope = left - right  # it never decreases along the ends
    at = int(np.searchsorted(slope, 0.0))
    if at == len(ends) or at == 0 or slope[at] == 0:
        return float(ends[min(at, len(ends) - 1)])
    share = -slope[at - 1] / (slope[at] - slope[at - 1])
    return float(ends[at - 1] + share * (ends[at] - ends[at - 1]))


def _quadratic(f: Array, error: Array, beta: Array) -> Array:
    """Terms whose sum is at least beta'K beta, for f = K beta with a bound on its error: (2 n,)."""
    return np.concatenate([product(np.asarray(f, dtype=np.float64), beta, 1), product(error, np.abs(beta), 1)])


def _on_grids(G: Array, cost: Array | float, S: Array) -> Array:
    """Multipliers of one dyadic grid, in their boxes, whose columns sum to 0 exactly."""
    size = np.abs(G)
    if not size.sum() > 0:
        return np.zeros_like(G)
    unit = 2.0 ** (np.floor(np.log2(size.sum())) - 50)
    boxes = np.floor(np.broadcast_to(np.minimum(cost, 4 * size.max()), len(G)) / unit) * unit
    steps = np.floor(np.minimum(size, boxes[:, None]) / unit) * unit
    return np.stack([s * on_grid(a, boxes, s) for a, s in zip(steps.T, S.T, strict=True)], axis=1)
