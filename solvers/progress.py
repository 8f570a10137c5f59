"""Convergence monitor: duality gap, best iterate and stopping rule of a run.

An iterative solver passes its iterates to `DualConvergenceMonitor.show` (dual solvers)
or `ConvergenceMonitor.weigh` (points of known value). The monitor computes the duality
gap in float64, keeps the iterate of smallest gap and sets `ConvergenceMonitor.status`
when the run should stop.
"""

from __future__ import annotations

import logging
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

LOG = logging.getLogger(__name__)
"""Logger of every check of the gap, at level DEBUG."""
CHECK = (
    "%(solver)s: iteration %(iterations)d, primal %(primal).10g, dual %(dual).10g, relative gap "
    "%(gap).2e of %(tol).2g, %(seconds).3f s"
)
"""Message of a check; a handler reads the figures in the arguments of its record."""
Product = Callable[[Array], Array]

STALE_CHECKS = 25
"""Number of consecutive checks without progress that end a run.

A solver may set a larger number, which holds while the gap is above ROUNDED_GAP.
"""
SLOW_CHECKS = 4
"""Multiple of `patience`: within so many checks a run must halve its gap.

Otherwise the next solver of "auto", if there is one, continues.
"""
ROUNDED_GAP = 1e-12
"""Relative gap at the rounding level of sums over thousands of terms.

Below it, only a gap that halves counts as progress.
"""
MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS = 10_000_000
"""Multiplications of a compiled loop between two checks of the clock.

About 10 ms. A compiled loop notices neither the time limit nor an interrupt.
"""
LARGEST_PROVEN_GAP = 1e-4
"""Proven relative gap above which a small float64 gap counts as rounding.

A proven gap includes bounds on rounding errors, which exceed the errors. If C K is so
large that margins have few correct digits, the proven gap in the tests of the solvers
is below 2e-5, or the point proves no useful bounds.
"""
VALUE_ROUNDING = 1e-15
"""Relative increase of an objective value that counts as rounding."""


def has_increased(dual: float, best: float, rise: float, size: float) -> bool:
    """Return True if a dual value exceeds the best one by more than rounding.

    Parameters
    ----------
    dual : float
        New dual value.
    best : float
        Largest dual value so far.
    rise : float
        Smallest increase that counts, in units of the objective.
    size : float
        Magnitude of the values, which determines their rounding error.

    Returns
    -------
    bool
        True if `dual` is larger by more than `rise` and by more than rounding.
    """
    return dual > best + max(rise, VALUE_ROUNDING * size)


class ConvergenceMonitor:
    """Convergence monitor of one run.

    Keeps the point of smallest duality gap and decides when to stop.

    Parameters
    ----------
    solver : str
        Name of the solver.
    problem : Problem
        Problem being solved.
    limits : Limits
        Tolerance, time limit and callback.
    max_iter : int
        Iteration limit.
    patience : int
        Number of consecutive checks without progress that end the run.

    Attributes
    ----------
    iterations : int
        Iterations at the last point.
    primal, dual, gap : float
        Objective values and relative gap of the last point.
    status : Status or None
        Reason to stop; None while the run should continue.
    reason : str
        Reason to stop, as a sentence.
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
        """Wall time since the start in seconds, without compilation."""
        return run_seconds() - self._start

    @property
    def out_of_time(self) -> bool:
        """True if the time limit has passed."""
        return self.limits.time_limit is not None and self.seconds > self.limits.time_limit

    def weigh(
        self,
        point: CanonicalPoint,
        primal: float,
        dual: float,
        iterations: int,
        moved: bool = False,
    ) -> bool:
        """Record a point of known objective values; return True if the run should stop.

        Parameters
        ----------
        point : CanonicalPoint
            Point with a function and multipliers.
        primal : float
            Primal objective.
        dual : float
            Dual objective; -inf if the multipliers are infeasible.
        iterations : int
            Iterations so far.
        moved : bool
            True if the solver's own merit function has changed by more than rounding
            since the last point, which counts as progress.

        Returns
        -------
        bool
            True if the run should stop.
        """
        self.iterations = iterations
        self.primal, self.dual = primal, dual
        self.gap = (
            relative_gap(primal, dual, self.problem.scale) if self.problem.has_gap else np.inf
        )
        if self.gap <= self.limits.tol and self._cancels:
            # With large C K margins have few correct digits. Compute the gap as
            # `Solution` does, so that both agree on whether the tolerance is satisfied.
            self.gap = max(self.gap, self._found(point, Status.OPTIMAL).relative_gap)
        self._record.note(point, primal, dual, self.gap, moved)
        self._judge(point)
        if LOG.isEnabledFor(logging.DEBUG):
            figures = ("solver", "iterations", "primal", "dual", "gap", "seconds")
            LOG.debug(
                CHECK, {name: getattr(self, name) for name in figures} | {"tol": self.limits.tol}
            )
        return self.status is not None

    def end(self, status: Status, reason: str) -> None:
        """Stop the run for a reason of the solver.

        Parameters
        ----------
        status : Status
            Final status.
        reason : str
            Sentence for the user.
        """
        self.status, self.reason = status, reason

    def solution(self) -> Solution:
        """Return the best point with the status and reason of the run."""
        return self._found(self._record.point, self.status or Status.NUMERICAL_FAILURE)

    def _found(self, point: CanonicalPoint, status: Status) -> Solution:
        """Return the solution at a point."""
        return Solution(
            self.problem, self.solver, point, status, self.reason, self.iterations, self.seconds
        )

    def _proven_gap(self, point: CanonicalPoint) -> float:
        """Return the proven relative gap of a point; 0 if its rounding errors are small."""
        if not self._cancels:
            return 0.0
        solution = self._found(point, Status.OPTIMAL)
        return relative_gap(solution.upper, solution.lower, self.problem.scale)

    @cached_property
    def _cancels(self) -> bool:
        """True if rounding errors of C K may exceed a tenth of the gap's tolerance."""
        return relative_rounding_error(self.problem) > 0.1 * self.limits.tol

    def _judge(self, point: CanonicalPoint) -> None:
        """Set the status if a stopping criterion holds at the last point."""
        limits, record = self.limits, self._record
        reached = f"relative gap {record.gap:.2e} after {counted(self.iterations, 'iteration')}"
        bounds = (self.dual, self.primal) if self.problem.has_gap else (-np.inf, np.inf)
        callback_stops = limits.callback is not None and bool(
            limits.callback(self.iterations, *bounds, point)
        )
        within = self.gap <= limits.tol
        proven = self._proven_gap(point) if within else np.inf
        # If rounding errors dominate both values, a small difference proves nothing,
        # and the proven gap is large.
        if proven <= max(limits.tol, LARGEST_PROVEN_GAP):
            self.end(Status.OPTIMAL, f"{reached}, {limits.tol:.2g} was requested")
        elif callback_stops:
            self.end(Status.CALLBACK, f"the callback ended the run: {reached}")
        elif within:
            self.end(
                Status.NUMERICAL_FAILURE,
                f"float64 cannot resolve the gap: {reached}, and {proven:.2e} by proven bounds",
            )
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
                f"no progress in {record.patience} checks: {reached}, "
                f"{limits.tol:.2g} was requested",
            )
        elif limits.has_successor and record.slow >= SLOW_CHECKS * record.most_stale:
            slow = f"slow progress in {record.slow} checks"
            self.end(Status.NUMERICAL_FAILURE, f"{slow}: {reached}, {limits.tol:.2g} was requested")


@dataclass
class _Record:
    """Best values of a run, and the number of checks since the last progress.

    Parameters
    ----------
    most_stale : int
        Consecutive checks without progress that end the run, above ROUNDED_GAP.
    point : CanonicalPoint
        Point of smallest gap; the last one while no gap is finite.
    gap : float
        Smallest relative gap.
    dual : float
        Largest dual value.
    least_primal : float
        Smallest primal value.
    violation : float
        Violation of the solver's own optimality conditions when it last decreased.
    progressed : float
        Smallest relative gap at the last progress.
    stale : int
        Checks since the last progress.
    apart : float
        Best primal minus best dual value when that difference was last halved.
    slow : int
        Checks since `apart` was last halved.
    """

    most_stale: int
    point: CanonicalPoint
    gap: float = np.inf
    dual: float = -np.inf
    least_primal: float = np.inf
    violation: float = np.inf
    progressed: float = np.inf
    stale: int = 0
    apart: float = np.inf
    slow: int = 0

    def note(
        self, point: CanonicalPoint, primal: float, dual: float, gap: float, moved: bool
    ) -> None:
        """Update the best values, and count the check as progress or as stale.

        Progress is a gap smaller by 5 % than at the last progress (by half below
        ROUNDED_GAP), however many checks that took, a dual value larger by 1 % of the gap
        (by half below ROUNDED_GAP) or 1e-6 of the value, or `moved`.
        """
        self.least_primal = min(self.least_primal, primal)
        # By weak duality a dual value above a primal one is rounding error.
        dual = min(dual, self.least_primal)
        # A dual increase counts above the smaller of 1 % of the gap and 1e-6 of the
        # value; at rounding level, above half of the gap.
        share = 0.5 if self.rounded else 0.01
        smallest_rise = min(share * (primal - self.dual), 1e-6 * abs(self.dual))
        size = abs(self.least_primal if np.isfinite(self.least_primal) else self.dual)
        gap_decreases = gap < (0.5 if self.rounded else 0.95) * self.progressed
        progresses = gap_decreases or moved or has_increased(dual, self.dual, smallest_rise, size)
        if gap < self.gap or not np.isfinite(self.gap):
            self.point = point
        self.gap = min(self.gap, gap)
        if progresses:
            self.progressed, self.stale = self.gap, 0
        else:
            self.stale += 1
        self.dual = min(max(self.dual, dual), self.least_primal)
        apart = self.least_primal - self.dual
        halved = not apart > 0.5 * self.apart
        self.apart, self.slow = (apart, 0) if halved else (self.apart, self.slow + 1)

    def violates_less(self, violation: float) -> bool:
        """Return True if a violation is below 90 % of that when this was last true.

        Negative violations count as 0.
        """
        violation = max(violation, 0.0)
        decreases = violation < 0.9 * self.violation
        if decreases:
            self.violation = violation
        return decreases

    @property
    def rounded(self) -> bool:
        """True if the smallest gap is at rounding level."""
        return self.gap <= ROUNDED_GAP

    @property
    def patience(self) -> int:
        """Number of consecutive checks without progress that now end the run."""
        return min(self.most_stale, STALE_CHECKS) if self.rounded else self.most_stale


class DualIterate(NamedTuple):
    """Iterate of a dual solver, with its function recomputed.

    Parameters
    ----------
    alpha : ndarray of shape (p,)
        Feasible multipliers close to the iterate, on a dyadic grid.
    f : ndarray of shape (m,)
        Function values at the points, without the bias.
    w : ndarray of shape (q,), or None
        Weights, if the kernel has explicit features.
    b : float
        Optimal bias for f.
    norm2 : float
        Upper bound of |A'alpha|_K^2.
    """

    alpha: Array
    f: Array
    w: Array | None
    b: float
    norm2: float


class DualConvergenceMonitor(ConvergenceMonitor):
    """Convergence monitor of a dual solver for margin problems.

    Parameters
    ----------
    solver : str
        Name of the solver.
    problem : MarginProblem
        Problem being solved.
    limits : Limits
        Tolerance, time limit and callback.
    max_iter : int
        Iteration limit.
    product : callable, optional
        Maps beta, shape (m,), to K beta. By default the product of `problem.gram`.

    Attributes
    ----------
    shown : DualIterate
        Last point passed to `show`.
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
        """Evaluate the iterate alpha; return True if the run should stop.

        The gap is computed at feasible multipliers close to alpha, on a dyadic grid. If
        the kernel has no explicit features and no row is hard, f is computed from the
        unrounded alpha: the grid would limit its accuracy to fewer than ten digits.
        Hard rows need the grid, on which coefficients of equal points add without
        rounding.

        Parameters
        ----------
        alpha : ndarray of shape (p,)
            Multipliers.
        iterations : int
            Iterations so far.
        violation : float
            Violation of the solver's own optimality conditions; a decrease is progress.

        Returns
        -------
        bool
            True if the run should stop.
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
            on_grid, all_soft = beta, not np.isinf(problem.group_costs).any()
            beta = problem.rows.rdot(alpha) if all_soft else on_grid
            f = self.product(beta)
            norm2 = float(beta @ f)
            # f has coefficients beta, but the dual value needs the norm for on_grid.
            self.shown = DualIterate(
                repaired, f, None, problem.bias_at(f), norm2 + self._rise(on_grid - beta, f)
            )
            point = Point(beta=beta, b=self.shown.b, alpha=repaired)
        objectives = (
            problem.primal(f, norm2, self.shown.b),
            problem.dual(repaired, self.shown.norm2),
        )
        return self.weigh(point, *objectives, iterations, self._record.violates_less(violation))

    def _rise(self, delta: Array, f: Array) -> float:
        """Return an upper bound of |f + g|^2 - |f|^2, where g has coefficients delta.

        The bound is 2 delta'f + (sum_i |delta_i| sqrt(K_ii))^2.
        """
        return float(
            2 * delta @ f + (np.abs(delta) @ np.sqrt(np.abs(self.problem.gram.diagonal))) ** 2
        )


def initial_multipliers(start: Point, problem: MarginProblem) -> Array:
    """Return the initial multipliers of a warm start.

    Parameters
    ----------
    start : Point
        Warm start.
    problem : MarginProblem
        Problem to solve.

    Returns
    -------
    ndarray of shape (p,)
        The start's multipliers; zeros if it has none.
    """
    return np.zeros(problem.p) if start.alpha is None else np.asarray(start.alpha)


def initial_function(start: Point, problem: MarginProblem) -> Array:
    """Return the initial function of a warm start.

    The start's own function or, if it has none, A'alpha of its multipliers, or else 0.
    Nonfinite entries count as 0.

    Parameters
    ----------
    start : Point
        Warm start.
    problem : MarginProblem
        Problem to solve.

    Returns
    -------
    ndarray
        w, shape (q,), if the kernel has explicit features; otherwise beta, shape (m,).
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
    """Return the array with nonfinite entries replaced by 0."""
    return np.where(np.isfinite(v), v, 0.0)
