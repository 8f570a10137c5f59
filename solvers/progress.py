"""What an iterative solver has reached: the gap of every point it shows, the best of them, and whether to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

import numpy as np

from equimargin.formulations.bounds.evaluate import arithmetic
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.solvers.solution import Limits, Solution, Status, relative_gap

Product = Callable[[Array], Array]

STALE_CHECKS = 25
"""Checks in a row without progress that end a run, unless its solver names another number; below a gap of ROUNDED they always do."""
ROUNDED = 1e-12
"""Relative gap that sums of thousands of rounded terms hardly tell from 0: below it only a gap that halves is progress."""
WORK_BETWEEN_CLOCKS = 10_000_000
"""Multiplications of a compiled loop, about 10 ms, after which it comes back: inside it neither the clock nor an interrupt is noticed."""
RESOLUTION = 1e-15
"""A value that rises by less, over itself, has not risen: its own rounding is as large."""


def risen(dual: float, best: float, rise: float, size: float) -> bool:
    """Whether a dual value is above the best one so far by more than a rise worth the name, and than the rounding of values of a size."""
    return dual > best + max(rise, RESOLUTION * size)


class Judge:
    """The judge of one run: it keeps the point of the smallest gap and says when to stop.

    problem, limits : of the run.  solver : its name.  max_iter : its iteration limit.  patience : checks in a row without progress.
    primal, dual, gap : of the last point.  status, reason : why to stop; None while there is no reason.
    """

    problem: Problem

    def __init__(self, solver: str, problem: Problem, limits: Limits, max_iter: int, patience: int = STALE_CHECKS) -> None:
        self.solver, self.problem, self.limits, self.max_iter, self.patience = solver, problem, limits, max_iter, patience
        self.status: Status | None = None
        self.reason = ""
        self.iterations = 0
        self.primal, self.dual, self.gap = np.inf, -np.inf, np.inf
        self._start = time.perf_counter()
        self._best_gap = np.inf
        self._best_dual, self._least_primal = -np.inf, np.inf
        self._best: CanonicalPoint = problem.origin
        self._stale = 0

    @property
    def seconds(self) -> float:
        """Of wall time, since the start."""
        return time.perf_counter() - self._start

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.limits.time_limit is not None and self.seconds > self.limits.time_limit

    def weigh(self, point: CanonicalPoint, primal: float, dual: float, iterations: int, moved: bool = False) -> bool:
        """Judge a point whose values are known; true if the run is over.

        Parameters
        ----------
        point : with a function and multipliers.  primal, dual : its values, -inf for multipliers that are not feasible.
        iterations : so far.  moved : whether what the solver itself lowers or raises has moved by more than rounding since the last point.
        """
        self.iterations = iterations
        self.primal, self.dual = primal, dual
        self.gap = relative_gap(primal, dual, self.problem.scale) if self.problem.convex else np.inf
        if self.gap <= self.limits.tol and self._cancels:  # a gap that is reached is computed once more
            self.gap = max(self.gap, self._found(point, Status.OPTIMAL).relative_gap)
        self._note(point, moved)
        self._judge()
        return self.status is not None

    def end(self, status: Status, reason: str) -> None:
        """Stop for a reason of the solver's own."""
        self.status, self.reason = status, reason

    def solution(self) -> Solution:
        """The best point, and why the run stopped."""
        return self._found(self._best, self.status or Status.NUMERICAL_FAILURE)

    def _found(self, point: CanonicalPoint, status: Status) -> Solution:
        return Solution(self.problem, self.solver, point, status, self.reason, self.iterations, self.seconds)

    @cached_property
    def _cancels(self) -> bool:
        """Whether C K leaves so little of margins in float64 that gaps depend on who computes them."""
        return arithmetic(self.problem) > 0.1 * self.limits.tol

    def _note(self, point: CanonicalPoint, moved: bool) -> None:
        """Keep the point of the smallest gap (the last one while none has a gap), and what counts as progress."""
        self._least_primal = min(self._least_primal, self.primal)
        dual = min(self.dual, self._least_primal)  # above a primal value it proves nothing: one of both is rounding, and so is its rise
        rise = min(0.01 * (self.primal - self._best_dual), 1e-6 * abs(self._best_dual))
        size = abs(self._least_primal if np.isfinite(self._least_primal) else self._best_dual)
        falls = self.gap < (0.5 if self._rounded else 0.95) * self._best_gap
        moving = falls or moved or risen(dual, self._best_dual, rise, size)
        self._stale = 0 if moving else self._stale + 1
        if self.gap < self._best_gap or not np.isfinite(self._best_gap):
            self._best = point
        self._best_gap = min(self._best_gap, self.gap)
        self._best_dual = min(max(self._best_dual, dual), self._least_primal)

    @property
    def _rounded(self) -> bool:
        """Whether the best gap is one that float64 hardly tells from 0."""
        return self._best_gap <= ROUNDED

    def _judge(self) -> None:
        limits, reached = self.limits, f"relative gap {self._best_gap:.2e} after {self.iterations:,} iterations"
        bounds = (self.dual, self.primal) if self.problem.convex else (-np.inf, np.inf)
        asked = limits.callback is not None and bool(limits.callback(self.iterations, *bounds))
        if self.gap <= limits.tol:
            self.end(Status.OPTIMAL, f"{reached}, {limits.tol:.0e} was asked")
        elif asked:
            self.end(Status.ITERATION_LIMIT, f"the callback ended the run: {reached}")
        elif self.out_of_time:
            self.end(Status.TIME_LIMIT, f"the time limit of {limits.time_limit:g} s: {reached}")
        elif self.iterations >= self.max_iter:
            self.end(Status.ITERATION_LIMIT, f"the limit of {self.max_iter:,} iterations: {reached}")
        elif self._stale >= (patience := min(self.patience, STALE_CHECKS) if self._rounded else self.patience):
            self.end(Status.NUMERICAL_FAILURE, f"no progress in {patience} checks: {reached}, {limits.tol:.0e} was asked")


class Progress(Judge):
    """The judge of a run in the dual of a margin problem.

    product : beta -> K beta, (m,): the Gram operator's own unless the solver has a faster one.
    alpha, f, b : the last point shown: its multipliers repaired, and f (m,) freshly computed, of the multipliers as they were shown where
        the kernel has no explicit features: the grid of a repair is too coarse for an f that is to be good to ten digits. Hard rows keep
        to the grid, on which coefficients of equal points add up exactly.
    w : (q,) of a kernel with explicit features, else None.  norm2 : |A'alpha|_K^2, at most.
    """

    problem: MarginProblem

    def __init__(self, solver: str, problem: MarginProblem, limits: Limits, max_iter: int, product: Product | None = None) -> None:
        super().__init__(solver, problem, limits, max_iter)
        self.product = product or problem.gram.__matmul__
        self._least_violation = np.inf

    def show(self, alpha: Array, iterations: int, violation: float = np.inf) -> bool:
        """Judge a point; true if the run is over.

        Parameters
        ----------
        alpha : (p,) multipliers.  iterations : so far.  violation : of the solver's own optimality conditions, a second sign of progress.
        """
        problem, Z = self.problem, self.problem.explicit
        self.alpha = problem.repaired(alpha)
        beta = problem.rows.rdot(self.alpha)
        if Z is None:
            on_grid, soft = beta, not np.isinf(problem.group_costs).any()
            self.w, beta = None, problem.rows.rdot(alpha) if soft else on_grid
            self.f = self.product(beta)
            norm2 = float(beta @ self.f)
            self.norm2 = norm2 + self._rise(on_grid - beta)
        else:
            self.w = Z.rdot(beta)
            self.f = Z @ self.w
            norm2 = self.norm2 = float(self.w @ self.w)
        self.b = problem.bias_at(self.f)
        point = Point(w=self.w, beta=beta if Z is None else None, b=self.b, alpha=self.alpha)
        violation = max(violation, 0.0)  # below 0 there is no progress
        moved, self._least_violation = violation < 0.9 * self._least_violation, min(self._least_violation, violation)
        return self.weigh(point, problem.primal(self.f, norm2, self.b), problem.dual(self.alpha, self.norm2), iterations, moved)

    def _rise(self, delta: Array) -> float:
        """How much larger |f|^2 is at most where the coefficients are larger by delta, (m,): 2 delta'f + (sum_i |delta_i| sqrt(K_ii))^2."""
        return float(2 * delta @ self.f + (np.abs(delta) @ np.sqrt(np.abs(self.problem.gram.diagonal))) ** 2)


def multipliers(start: Point, problem: MarginProblem) -> Array:
    """The multipliers to start from; zeros where the point has none."""
    if start.alpha is None:
        return np.zeros(problem.p)
    if start.alpha.shape != (problem.p,):
        raise ValueError(f"the warm start has {start.alpha.shape[0]} multipliers, the problem {problem.p} rows")
    return start.alpha
