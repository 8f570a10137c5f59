"""The judge of a run: it computes the gap of every point that an iterative solver shows, keeps the best one, and says when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equimargin.formulations.bounds.evaluate import relative_rounding_error
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.solvers.solution import Limits, Solution, Status, counted, relative_gap

Product = Callable[[Array], Array]

STALE_CHECKS = 25
"""Checks in a row without progress that end a run, unless its solver names a larger number and the gap is above ROUNDED_GAP."""
SLOW_CHECKS = 4
"""Multiple of the checks without progress that end a run.

A run with a successor halves its gap within as many checks, or ends.
"""
ROUNDED_GAP = 1e-12
"""Relative gap that sums of thousands of rounded terms hardly tell from 0: below it only a gap that halves is progress."""
MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS = 10_000_000
"""Multiplications of a compiled loop, about 10 ms, after which it comes back: inside it neither the clock nor an interrupt is noticed."""
LARGEST_PROVEN_GAP = 1e-4
"""Proven relative gap above which a small gap of float64 is taken for rounding.

Bounds on rounding are larger than rounding. In the tests of the solvers, where C K
leaves few digits of margins, the proven gap is below 2e-5, or the point proves nothing.
"""
VALUE_ROUNDING = 1e-15
"""Relative rise of a value that is no more than its own rounding."""


def has_increased(dual: float, best: float, rise: float, size: float) -> bool:
    """Whether a dual value is above the best one so far by more than `rise`, and by more than the rounding of values of this size."""
    return dual > best + max(rise, VALUE_ROUNDING * size)


class ConvergenceMonitor:
    """The judge of one run: it keeps the point of the smallest gap and says when to stop.

    Parameters
    ----------
    solver : str
        The name of the solver.
    problem, limits
        Of the run.
    max_iter : int
        Its iteration limit.
    iterations, primal, dual, gap
        Of the last point.
    status, reason
        Why to stop; the status is None while there is no reason.
    """

    problem: Problem

    def __init__(
        self,
        solver: str,
        problem: Problem,
        limits: Limits,
        max_iter: int,
        patience: int = STALE_CHECKS,
    ) -> None:
        self.solver, self.problem, self.limits, self.max_iter = solver, problem, limits, max_iter
        self.iterations, self.primal, self.dual, self.gap = 0, np.inf, -np.inf, np.inf
        self.status: Status | None = None
        self.reason = ""
        self._start = run_seconds()
        self._record = _Record(patience, problem.origin)

    @property
    def seconds(self) -> float:
        """Seconds of wall time since the start, without those in which kernels were compiled."""
        return run_seconds() - self._start

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.limits.time_limit is not None and self.seconds > self.limits.time_limit

    def weigh(
        self,
        point: CanonicalPoint,
        primal: float,
        dual: float,
        iterations: int,
        moved: bool = False,
    ) -> bool:
        """Judge a point whose values are known; true if the run is over.

        Parameters
        ----------
        point : CanonicalPoint
            With a function and multipliers.
        primal, dual : float
            Its values, -inf for multipliers that are not feasible.
        iterations : int
            So far.
        moved : bool
            Whether what the solver itself lowers or raises has moved by more than
            rounding since the last point.
        """
        self.iterations = iterations
        self.primal, self.dual = primal, dual
        self.gap = relative_gap(primal, dual, self.problem.scale) if self.problem.convex else np.inf
        if (
            self.gap <= self.limits.tol and self._cancels
        ):  # the gap is then computed a second time, as the solution will compute it
            self.gap = max(self.gap, self._found(point, Status.OPTIMAL).relative_gap)
        self._record.note(point, primal, dual, self.gap, moved)
        self._judge(point)
        return self.status is not None

    def end(self, status: Status, reason: str) -> None:
        """Stop for a reason of the solver's own."""
        self.status, self.reason = status, reason

    def solution(self) -> Solution:
        """The best point, and why the run stopped."""
        return self._found(self._record.point, self.status or Status.NUMERICAL_FAILURE)

    def _found(self, point: CanonicalPoint, status: Status) -> Solution:
        return Solution(
            self.problem, self.solver, point, status, self.reason, self.iterations, self.seconds
        )

    def _reached(self, point: CanonicalPoint, reached: str) -> None:
        """Stop where the gap is as small as asked.

        Where both values are rounding, their difference may be small by chance. The proven gap
        shows that, and the run has failed.
        """
        tol = self.limits.tol
        proven = 0.0
        if self._cancels:
            found = self._found(point, Status.OPTIMAL)
            proven = relative_gap(found.upper, found.lower, self.problem.scale)
        if proven > max(tol, LARGEST_PROVEN_GAP):
            self.end(
                Status.NUMERICAL_FAILURE,
                f"float64 cannot tell the gap: {reached}, and {proven:.2e} by proven bounds",
            )
        else:
            self.end(Status.OPTIMAL, f"{reached}, {tol:.0e} was asked")

    @cached_property
    def _cancels(self) -> bool:
        """Whether C K leaves so few digits of margins in float64 that two ways to compute a gap may differ by the tolerance."""
        return relative_rounding_error(self.problem) > 0.1 * self.limits.tol

    def _judge(self, point: CanonicalPoint) -> None:
        limits, record = self.limits, self._record
        reached = f"relative gap {record.gap:.2e} after {counted(self.iterations, 'iteration')}"
        bounds = (self.dual, self.primal) if self.problem.convex else (-np.inf, np.inf)
        asked = limits.callback is not None and bool(
            limits.callback(self.iterations, *bounds, point)
        )
        if self.gap <= limits.tol:
            self._reached(point, reached)
        elif asked:
            self.end(Status.ITERATION_LIMIT, f"the callback ended the run: {reached}")
        elif self.out_of_time:
            self.end(Status.TIME_LIMIT, f"the time limit of {limits.time_limit:g} s: {reached}")
        elif self.iterations >= self.max_iter:
            self.end(
                Status.ITERATION_LIMIT,
                f"the limit of {counted(self.max_iter, 'iteration')}: {reached}",
            )
        elif record.stale >= record.patience:
            self.end(
                Status.NUMERICAL_FAILURE,
                f"no progress in {record.patience} checks: {reached}, {limits.tol:.0e} was asked",
            )
        elif limits.has_successor and record.slow >= SLOW_CHECKS * record.most_stale:
            slow = f"slow progress in {record.slow} checks"
            self.end(Status.NUMERICAL_FAILURE, f"{slow}: {reached}, {limits.tol:.0e} was asked")


@dataclass
class _Record:
    """Best figures of the points of a run.

    Attributes
    ----------
    most_stale : int
        Checks in a row without progress that end the run, while float64 can resolve its gap.
    point : CanonicalPoint
        Point of the smallest gap; the last one while none has a gap.
    gap : float
        Smallest gap.
    dual, least_primal : float
        Largest dual value, and smallest primal value.
    violation : float
        Smallest violation of the solver's own conditions.
    stale : int
        Checks without progress since the last one with progress.
    apart : float
        Difference of the two values when it was last halved.
    slow : int
        Checks since then.
    """

    most_stale: int
    point: CanonicalPoint
    gap: float = np.inf
    dual: float = -np.inf
    least_primal: float = np.inf
    violation: float = np.inf
    stale: int = 0
    apart: float = np.inf
    slow: int = 0

    def note(
        self, point: CanonicalPoint, primal: float, dual: float, gap: float, moved: bool
    ) -> None:
        """Keep the point if it is the best one, and count whether there was progress; moved : whether the solver says so."""
        self.least_primal = min(self.least_primal, primal)
        dual = min(
            dual, self.least_primal
        )  # a dual value above a primal one proves nothing: either is rounding, and so is its rise
        rise = min(0.01 * (primal - self.dual), 1e-6 * abs(self.dual))
        size = abs(self.least_primal if np.isfinite(self.least_primal) else self.dual)
        falls = gap < (0.5 if self.rounded else 0.95) * self.gap
        self.stale = (
            0 if falls or moved or has_increased(dual, self.dual, rise, size) else self.stale + 1
        )
        if gap < self.gap or not np.isfinite(self.gap):
            self.point = point
        self.gap = min(self.gap, gap)
        self.dual = min(max(self.dual, dual), self.least_primal)
        apart = self.least_primal - self.dual
        halved = not apart > 0.5 * self.apart
        self.apart, self.slow = (apart, 0) if halved else (self.apart, self.slow + 1)

    def violates_less(self, violation: float) -> bool:
        """Whether a violation is below nine tenths of the smallest one so far; one below 0 counts as 0."""
        violation = max(violation, 0.0)
        less, self.violation = violation < 0.9 * self.violation, min(self.violation, violation)
        return less

    @property
    def rounded(self) -> bool:
        """Whether the smallest gap is one that float64 hardly tells from 0."""
        return self.gap <= ROUNDED_GAP

    @property
    def patience(self) -> int:
        """Checks in a row without progress that end the run now."""
        return min(self.most_stale, STALE_CHECKS) if self.rounded else self.most_stale


class DualIterate(NamedTuple):
    """A point that a solver has shown, its function computed anew.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Its multipliers, repaired.
    f : ndarray of shape (m,)
        The values of its function without the bias b.
    w : Array | None of shape (q,)
        Of a kernel with explicit features, else None.
    norm2 : float
        An upper bound of |A'alpha|_K^2.
    """

    alpha: Array
    f: Array
    w: Array | None
    b: float
    norm2: float


class DualConvergenceMonitor(ConvergenceMonitor):
    """The judge of a run in the dual of a margin problem.

    Parameters
    ----------
    product : Product | None
        beta -> K beta, (m,): the Gram operator's own unless the solver has a faster
        one.
    shown : DualIterate
        The last point shown.
    """

    problem: MarginProblem
    shown: DualIterate

    def __init__(
        self,
        solver: str,
        problem: MarginProblem,
        limits: Limits,
        max_iter: int,
        product: Product | None = None,
    ) -> None:
        super().__init__(solver, problem, limits, max_iter)
        self.product = product or problem.gram.__matmul__

    def show(self, alpha: Array, iterations: int, violation: float = np.inf) -> bool:
        """Judge a point; true if the run is over.

        The function is that of the repaired multipliers. Where the kernel has no explicit features it is that of the multipliers as they
        are shown: the grid of a repair is too coarse for an f that is to be good to ten digits. Hard rows keep to the grid, on which
        coefficients of equal points add up exactly.

        Parameters
        ----------
        alpha : ndarray of shape (p,)
            multipliers.
        iterations : int
            So far.
        violation : float
            Of the solver's own optimality conditions; that it falls is progress.
        """
        problem, repaired = self.problem, self.problem.repaired(alpha)
        beta = problem.rows.rdot(repaired)
        if problem.explicit is not None:
            w = problem.explicit.rdot(beta)
            norm2 = float(w @ w)
            f = problem.explicit @ w
            self.shown = DualIterate(repaired, f, w, problem.bias_at(f), norm2)
            point = Point(w=w, b=self.shown.b, alpha=repaired)
        else:
            on_grid, soft = beta, not np.isinf(problem.group_costs).any()
            beta = problem.rows.rdot(alpha) if soft else on_grid
            f = self.product(beta)
            norm2 = float(beta @ f)
            self.shown = DualIterate(
                repaired, f, None, problem.bias_at(f), norm2 + self._rise(on_grid - beta, f)
            )
            point = Point(beta=beta, b=self.shown.b, alpha=repaired)
        values = problem.primal(f, norm2, self.shown.b), problem.dual(repaired, self.shown.norm2)
        return self.weigh(point, *values, iterations, self._record.violates_less(violation))

    def _rise(self, delta: Array, f: Array) -> float:
        """How much larger |f|^2 is at most where the coefficients are larger by delta, (m,): 2 delta'f + (sum_i |delta_i| sqrt(K_ii))^2."""
        return float(
            2 * delta @ f + (np.abs(delta) @ np.sqrt(np.abs(self.problem.gram.diagonal))) ** 2
        )


def initial_multipliers(start: Point, problem: MarginProblem) -> Array:
    """The multipliers to start from, (p,); zeros where the point has none."""
    return np.zeros(problem.p) if start.alpha is None else np.asarray(start.alpha)


def initial_function(start: Point, problem: MarginProblem) -> Array:
    """The function to start from: w (q,) where the kernel has explicit features, beta (m,) otherwise.

    It is the point's own function; where it has none, that of its multipliers, A'alpha; where it has neither, 0. What is not finite counts
    as 0.
    """
    Z = problem.explicit
    if Z is not None and start.w is not None:
        return _finite(start.w)
    if start.beta is None and start.alpha is None:
        return np.zeros(problem.m if Z is None else Z.q)
    beta = (
        problem.rows.rdot(problem.repaired(initial_multipliers(start, problem)))
        if start.beta is None
        else _finite(start.beta)
    )
    return np.asarray(beta if Z is None else Z.rdot(beta))


def _finite(v: Array) -> Array:
    """The numbers of a start, 0 where they are not finite."""
    return np.where(np.isfinite(v), v, 0.0)
