"""Ordinal regression in arrays, as Newton's method has it, and the clock of a run whose thresholds must be in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit, explicit
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.solvers.solution import Limits, Status, relative_gap

Levels = NDArray[np.int64]
STEPS = 500
"""Newton steps of a run without a limit of its own: 10 are usual for squared slacks, 60 for hinges."""


class OrdinalProblem:
    """An instance: points, a kernel, and thresholds b_0, ..., b_{T-1}; a row (i, k) asks s_ik (f(x_i) - b_k) >= margin - xi_ik.

        min over f, b    1/2 |f|^2 + push'b + sum_ik c_ik loss(margin - s_ik (f(x_i) - b_k))

    X : (n, d) features.  kernel : of f, with explicit features.
    S : (n, T) the sides s_ik.  C : (n, T) finite costs c_ik, 0 where there is no row.  squared : whether slacks are squared.
    margin : at least 0.  push : (T,) costs of the thresholds themselves.  ordered : whether b_0 <= b_1 <= ... is asked for.
    """

    X: Features
    kernel: Kernel
    S: Array
    C: Array
    push: Array
    squared: bool = False
    margin: float = 1.0
    ordered: bool = False

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
        return Gram(self.kernel, self.X)

    @cached_property
    def features(self) -> Explicit | None:
        """The points as features."""
        return explicit(self.kernel, self.X)

    @property
    def at_0(self) -> float:
        """What slacks of 1 cost: with a margin of 1, the value P(0) at f = 0 and b = 0."""
        return float(self.C.sum())

    def balanced(self, G: Array) -> Array:
        """Signed multipliers G (n, T) as a point of the dual has them, where that is easily made of them."""
        return G


class LinearOrdinalProblem(OrdinalProblem):
    """An instance with all thresholds between levels: a row for every point and threshold.

    Parameters
    ----------
    X, kernel, squared : as in `OrdinalProblem`.  y : (n,) levels in {0, ..., T}.  cost : (n,) finite c_i > 0, of all rows of a point.
    thresholds : T.
    """

    def __init__(self, X: Features, y: Array, cost: Array, kernel: Kernel, thresholds: int, squared: bool = False) -> None:
        self.X, self.cost, self.kernel, self.squared = X, cost, kernel, squared
        self.S = np.where(y[:, None] > np.arange(thresholds), 1.0, -1.0)
        self.C, self.push = np.broadcast_to(cost[:, None], self.S.shape), np.zeros(thresholds)

    @property
    def ridge(self) -> Array:
        """(n,) what squared slacks add to the diagonal of the dual's quadratic term: 1 / (2 c_i); 0 of other slacks."""
        return 0.5 / self.cost if self.squared else np.zeros(self.n)

    def balanced(self, G: Array) -> Array:
        """Signed multipliers with the heavier side of every column scaled down, so that it sums to 0."""
        up, down = np.maximum(G, 0.0).sum(axis=0), np.maximum(-G, 0.0).sum(axis=0)
        least = np.minimum(up, down)
        scale = [np.divide(least, side, out=np.zeros_like(side), where=side > 0) for side in (up, down)]
        return np.asarray(np.where(G > 0, G * scale[0], G * scale[1]))


@dataclass(frozen=True, eq=False)
class OrdinalFit:
    """A point and how its run ended.

    w : (q,) f = w.x.  b : (T,) thresholds.  gap : primal minus dual, relative as everywhere.
    iterations, seconds, status, reason : of the run.
    """

    w: Array
    b: Array
    gap: float
    iterations: int
    seconds: float
    status: Status
    reason: str


class OrdinalRun:
    """The clock, the gap and the best point of a run whose thresholds must be in order."""

    def __init__(self, machine: OrdinalProblem, limits: Limits) -> None:
        self.at_0, self.limits, self.most = machine.at_0, limits, limits.max_iter or STEPS
        self.started = run_seconds()
        self.best: tuple[Array, Array, float, int] | None = None
        self.status, self.reason = Status.NUMERICAL_FAILURE, "no step changes the point in double precision"

    def over(self, G: Array, w: Array, b: Array, values: tuple[float, float], iterations: int) -> bool:
        """Judge a point; true if the run is over."""
        gap, seconds = relative_gap(*values, self.at_0), run_seconds() - self.started
        if self.best is None or gap < self.best[2]:
            self.best = w, b, gap, iterations
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
        return OrdinalFit(*self.best, run_seconds() - self.started, self.status, self.reason)
