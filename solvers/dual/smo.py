"""Sequential minimal optimisation (SMO) for margin problems with a bias.

Every row involves one point, as in classification and the regression tube.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2
    s.t. lower <= a <= upper,  1'a = 0

There is one variable a_i per point (`smo_problem.py`). A run alternates two kinds of
rounds:

1. pair steps a_i += delta, a_j -= delta on a working set, whose block of K fits the
   processor's cache (`working_set.py`), first in float32;
2. Newton steps on the free points (`newton_on_face.py`), if they are estimated to be
   cheaper than the remaining pair steps.

The gradient at the other points is updated by tiles of K, computed on demand. When the
estimated gap is below its target, the true gap is computed in float64. If float32 stops
making progress, the run continues in float64.

References
----------
R.-E. Fan, P.-H. Chen, C.-J. Lin. Working set selection using second order information
for training support vector machines. JMLR 6 (2005), 1889-1918, rule WSS 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.intervals import interval
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import SMALLEST, UNIT
from equimargin.formulations.numeric.workspace import Workspace, borrow_workspace
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.dual.newton_on_face import (
    SMALL_FACE,
    count_affordable_factorisations,
    maximise_on_face,
)
from equimargin.solvers.dual.smo_problem import OptimalityState, PointProblem, ProblemScaling
from equimargin.solvers.dual.working_set import WorkingSet
from equimargin.solvers.products.few_points import through_gram
from equimargin.solvers.products.tiles import FLOAT32_UNIT
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    DualConvergenceMonitor,
    has_increased,
    initial_multipliers,
)
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status
from equimargin.solvers.threads import one_thread

PAIR_CURVATURE_FLOOR = {np.dtype(np.float32): 1e-10, np.dtype(np.float64): 1e-12}
"""Lower bound of a pair's curvature, relative to the mean of diag K.

The computed curvature of two equal points is 0 or rounding error.
"""
AMPLE = 1.1
"""Factor of the error of f below which the distance of a point from the margin is small.

Above 1, so that a small change of the bias by the recomputed f requires f at no
further points.
"""
MOST_CHANGE = 2.0
"""Sum of |changes of beta| over |beta|_1 above which f is computed from 0 again.

Its rounding error is then at most twice that of one product.
"""
MIN_POINTS_FLOAT32 = 256
"""Number of points above which pair steps start in float32.

For fewer points, one float64 block of K for both the steps and the gap is faster.
"""
NEWTON_GAP = 0.003
"""Relative gap above which Newton steps are skipped.

The free points are then not yet those of the optimum.
"""
FEWEST_ROUND_STEPS = 1000
"""Pair steps that a round may always take, however small the working set."""
FEWEST_STEPS_AT_ONCE = 100
"""Minimum number of pair steps between two checks of the clock."""
DEEPEST_ROUND = 0.03
"""Fraction of its initial violation at which a round stops at the latest.

Applies even if the target gap requires a smaller violation.
"""
DEEPEST_WHOLE_ROUND = 0.0003
"""Value of DEEPEST_ROUND if the working set is all points.

No outside gradient needs an update then, so one long round is cheaper than several.
"""
SHALLOWEST_ROUND = 0.5
"""Fraction of its initial violation above which a round never stops.

Applies even if the target gap permits a larger violation.
"""
WORK_PER_MULTIPLICATION = 8
"""Work of a multiplication of `count_affordable_factorisations`, in `WorkCounter` units.

Larger than 1 because the loops of pair steps are vectorised.
"""
FACTORISATIONS_EXPECTED = 3
"""Factorisations assumed when a Newton attempt is compared with pair steps."""
FACTORISATIONS_ALLOWED = 8
"""Maximum number of factorisations of a Newton attempt."""
SLOWEST_PACE = 0.05
"""Minimum decrease of log(gap) per round assumed for the remaining pair steps.

A single stalled round is a poor predictor.
"""
FIRST_VIOLATION = 1e-3
"""Violation, in `ProblemScaling.spread` units, at which the true gap is first computed.

Used if the gap cannot be estimated.
"""
ROUGH_STEPS_PER_POINT = 100
"""Maximum number of pair steps per point before the first true gap.

Problems that need more are left to Newton steps in float64.
"""
STALLED_ROUNDS = 6
"""Consecutive rounds without progress after which the true gap is computed.

The run then continues in float64.
"""
HARD_OPTIMUM_LIMIT = 1e16
"""Optimum above which hard rows, of infinite cost, count as infeasible.

In units of spread^2 / mean K_ii. The margin is then below double precision.
"""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge", "squared_hinge"),
    bias="whose sum-to-zero constraint this method needs",
    single_entries=True,
)


@solver(
    "smo",
    "svm.hard",
    "svm.soft",
    "svm.l2",
    "svr",
    algorithm="sequential minimal optimisation, second-order working sets: one entry a row, with a "
    "bias",
    requires=REQUIREMENTS,
)
@through_gram
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Solve one problem."""
    with one_thread(), borrow_workspace() as memory:
        return descend(
            Descent.of(problem, warm_start, limits, memory), limits, warm_start is not None
        )


def solve_in_turn(
    problems: Iterable[MarginProblem], limits: Limits, begin: Beginning
) -> Iterator[Solution]:
    """Yield the solutions of problems that differ in C and weights.

    Problems that differ in C alone start from the previous solution. All share the
    blocks of K.

    Parameters
    ----------
    problems : iterable of MarginProblem
        Problems.
    limits : Limits
        Limits of every run.
    begin : callable
        Returns the initial state of the first problem: `Descent.of`, or that of a
        device.
    """
    descent: Descent | None = None
    with borrow_workspace() as memory:
        for problem in problems:
            with one_thread():
                descent = (
                    begin(problem, None, limits, memory)
                    if descent is None
                    else descent.turned_to(problem, limits)
                )
                solution = descend(descent, limits, False)
            yield solution


def descend(descent: Descent, limits: Limits, watched: bool) -> Solution:
    """Alternate pair and Newton rounds until the true gap meets the tolerance.

    Parameters
    ----------
    descent : Descent
        Initial state, modified in place.
    limits : Limits
        Limits of the run.
    watched : bool
        True to compute the true gap of the initial point. With a callback, the true gap
        of every round is computed.

    Returns
    -------
    Solution
        Best point of the run.
    """
    progress = descent.monitor(limits)
    try:
        _run_rounds(descent, progress, watched or limits.callback is not None)
    except MemoryError as problem:
        # The last point that was checked is the best one that is consistent.
        progress.end(Status.TOO_LARGE, f"memory ran out ({problem})")
    return progress.solution()


def _run_rounds(descent: Descent, progress: DualConvergenceMonitor, watched: bool) -> None:
    """Run rounds until the monitor has a status."""
    while not descent.check(progress, watched):
        watched = progress.limits.callback is not None
        descent.pair_round(progress)
        descent.newton_round(progress)


@dataclass
class SmoIterate:
    """Current point and its gradient.

    Parameters
    ----------
    a : ndarray of shape (m,)
        Variables.
    G : ndarray of shape (m,)
        Gradient K a - z.
    drift : float
        Sum of |changes of a| since K a was last computed in float64 at every point; inf
        if it never was.
    """

    a: Array
    G: Array
    drift: float


@dataclass(frozen=True)
class KnownFunction:
    """Function whose values in float64 are known at some points.

    Parameters
    ----------
    beta : ndarray of shape (m,)
        Coefficients.
    f : ndarray of shape (m,)
        Values.
    fresh : ndarray of bool of shape (m,)
        True where the values are those of float64.
    change : float
        Sum of |changes of beta| from 0 by which the values were updated.
    """

    beta: Array
    f: Array
    fresh: NDArray[np.bool_]
    change: float

    @classmethod
    def zero(cls, m: int) -> KnownFunction:
        """Return the function 0.

        Parameters
        ----------
        m : int
            Number of points.
        """
        return cls(np.zeros(m), np.zeros(m), np.ones(m, dtype=bool), 0.0)


@dataclass
class GapTarget:
    """Target at which the true gap is computed next, and progress towards it.

    Parameters
    ----------
    goal : float
        Estimated relative gap at which the true gap is computed.
    eps : float
        Violation at which the true gap is computed.
    narrowed : bool
        True once the true gap has been found too large.
    tightening : float
        Factor of the next tightening of the hard rows.
    best : float
        Estimated relative gap, or violation if there is no estimate, of the last round
        that made progress; inf after a narrowing.
    reached : float
        Largest estimated dual value of the rounds up to that one; -inf after a narrowing.
    idle : int
        Rounds since that one.
    """

    goal: float
    eps: float
    narrowed: bool = False
    tightening: float = 1.0
    best: float = np.inf
    reached: float = -np.inf
    idle: int = 0

    def note(self, look: OptimalityState, most_dual: float) -> None:
        """Record a round, and whether there was progress since the last that made some.

        Progress is a gap or violation smaller by 10 %, or a dual value larger by 1 % of
        the gap. With many points one round moves few of them: many small rounds count
        together.

        Parameters
        ----------
        look : OptimalityState
            Violation and estimated gap after the round.
        most_dual : float
            Largest dual value that is not rounding error; beyond it no progress is
            possible.
        """
        estimated = math.isfinite(look.gap)
        # Rounding makes a gap negative, which is not below itself by 10 %.
        measure = max(look.relative_gap, 0.0) if estimated else look.violation
        better = measure < 0.9 * self.best or (
            estimated and has_increased(look.dual, self.reached, 0.01 * look.gap, abs(look.dual))
        )
        self.idle = STALLED_ROUNDS if look.dual > most_dual else 0 if better else self.idle + 1
        if better:
            self.best, self.reached = min(self.best, measure), max(self.reached, look.dual)

    def narrow(self, tol: float, gap: float, close: bool) -> None:
        """Lower the targets because the true gap is still above the tolerance.

        Parameters
        ----------
        tol : float
            Relative tolerance.
        gap : float
            True relative gap.
        close : bool
            True if the estimated gap is below the goal. Otherwise the goal stays: the
            true gap was computed because the run stalled, or float32 misled it.
        """
        self.eps *= float(np.clip(0.3 * tol / gap, 0.01, 0.5)) if np.isfinite(gap) else 0.1
        if close:
            self.goal = max(0.5 * self.goal, 1e-3 * tol, SMALLEST)
        self.best, self.reached, self.idle, self.narrowed = np.inf, -np.inf, 0, True


@dataclass
class WorkCounter:
    """Work done by a run.

    The unit of work is the time that a pair step spends per point in one pass over the
    working set (measured).

    Parameters
    ----------
    steps : int
        Pair steps.
    work : int
        Work since the last Newton attempt.
    price : int
        Work of the last round of pair steps.
    pace : float
        Decrease of log(estimated gap) in that round.
    spent : int
        Work of the last Newton attempt.
    """

    steps: int = 0
    work: int = 0
    price: int = 0
    pace: float = 0.0
    spent: int = 0


@dataclass
class Descent:
    """State of a run of SMO.

    Parameters
    ----------
    problem : PointProblem
        Problem in one variable per point.
    at : SmoIterate
        Current point.
    look : OptimalityState
        Violation, level and estimated gap at the current point.
    working : WorkingSet
        Working set and its block of K.
    aim : GapTarget
        Target of the next true gap.
    effort : WorkCounter
        Work done.
    known : KnownFunction
        Function of the last true gap, 0 before the first.
    """

    problem: PointProblem
    at: SmoIterate
    look: OptimalityState
    working: WorkingSet
    aim: GapTarget
    effort: WorkCounter
    known: KnownFunction

    @classmethod
    def of(
        cls, problem: MarginProblem, start: Point | None, limits: Limits, memory: Workspace
    ) -> Descent:
        """Return the initial state, at 0 or at the multipliers of a warm start.

        Parameters
        ----------
        problem : MarginProblem
            Problem to solve.
        start : Point or None
            Warm start.
        limits : Limits
            Limits of the run.
        memory : Workspace
            Memory of the working set's block.
        """
        points = PointProblem.of(problem, ProblemScaling.of(problem))
        working = WorkingSet.of(problem.gram, points.units.unit, limits.n_jobs, memory)
        return cls.starting(points, working, start, limits)

    @classmethod
    def starting(
        cls, points: PointProblem, working: WorkingSet, start: Point | None, limits: Limits
    ) -> Descent:
        """Return the initial state of a scaled problem.

        Parameters
        ----------
        points : PointProblem
            Scaled problem.
        working : WorkingSet
            Empty working set.
        start : Point or None
            Warm start.
        limits : Limits
            Limits of the run.
        """
        at = SmoIterate(np.zeros_like(points.z), -points.z, 0.0)
        if start is not None:
            a = points.numbers(initial_multipliers(start, points.margin))
            at = SmoIterate(a, -points.z, np.inf)
        return cls.placed_at(points, at, working, limits)

    def turned_to(self, problem: MarginProblem, limits: Limits) -> Descent:
        """Return the initial state for the same data at other costs.

        It is the current point scaled by the ratio of the costs if only C differs, and
        0 otherwise.

        Parameters
        ----------
        problem : MarginProblem
            Problem at other costs.
        limits : Limits
            Limits of the run.
        """
        margin, f = self.problem.margin, self.at.G + self.problem.z
        ratio = problem.C / margin.C if problem.weights is margin.weights else 0.0
        points = self.problem.at_costs(problem)
        a = np.clip(ratio * self.at.a, points.sides.lower, points.sides.upper)
        return self.placed_at(
            points, SmoIterate(a, ratio * f - points.z, ratio * self.at.drift), self.working, limits
        )

    @classmethod
    def placed_at(
        cls, problem: PointProblem, at: SmoIterate, working: WorkingSet, limits: Limits
    ) -> Descent:
        """Return the state at a point, with no work done.

        Large problems use float32 if the gap can be estimated: the estimate shows when
        float32 fails.

        Parameters
        ----------
        problem : PointProblem
            Scaled problem.
        at : SmoIterate
            Point.
        working : WorkingSet
            Working set.
        limits : Limits
            Limits of the run.
        """
        working.work_in(
            working.single
            if problem.has_estimate and working.m > MIN_POINTS_FLOAT32
            else working.exact
        )
        aim = GapTarget(goal=0.9 * limits.tol, eps=max(FIRST_VIOLATION, limits.tol))
        look, known = problem.look(at.a, at.G), KnownFunction.zero(problem.units.m)
        descent = cls(problem, at, look, working, aim, WorkCounter(), known)
        aim.note(descent.look, problem.most_dual)
        return descent

    @property
    def close(self) -> bool:
        """True if the estimated gap, or the violation without an estimate, meets its target."""
        if self.problem.has_estimate:
            return self.look.relative_gap <= self.aim.goal
        return self.look.violation <= self.aim.eps

    @property
    def ready(self) -> bool:
        """True if the true gap should be computed."""
        return self.close or self.look.violation <= 0 or self.stuck

    @property
    def rough(self) -> bool:
        """True until a true gap is too large; False without an estimate.

        float32 is in use only while this is true.
        """
        return self.problem.has_estimate and not self.aim.narrowed

    @property
    def stuck(self) -> bool:
        """True if pair steps make no progress, or have been too many while `rough`."""
        too_many = self.rough and self.effort.steps > ROUGH_STEPS_PER_POINT * self.working.m
        return self.aim.idle >= STALLED_ROUNDS or too_many

    def monitor(self, limits: Limits) -> DualConvergenceMonitor:
        """Return the convergence monitor of a run that begins now.

        Parameters
        ----------
        limits : Limits
            Limits of the run.
        """
        margin = self.problem.margin
        most = limits.max_iter or 10_000_000 + 1000 * margin.p
        product = (
            None
            if self._is_noisy(limits.tol)
            else partial(self.product, everywhere=limits.callback is not None)
        )
        return DualConvergenceMonitor("smo", margin, limits, most, product)

    def _is_noisy(self, tol: float) -> bool:
        """Return True if errors of the tiles in float64 may exceed a tenth of the tolerance.

        The product is then that of the referee, as with hard rows. RBF tiles expand the
        square of a distance, whose errors `relative_rounding_error` does not include.
        """
        margin, units = self.problem.margin, self.problem.units
        finite = margin.group_costs[np.isfinite(margin.group_costs)]
        error = float(self.working.exact.resolution.max(initial=0.0)) * UNIT / FLOAT32_UNIT
        size = units.unit * float(finite.max(initial=0.0)) / margin.rows.largest_target
        return error * size > 0.1 * tol

    def product(self, beta: Array, everywhere: bool = False) -> Array:
        """Return K beta in float64, recomputed where the gap depends on it.

        A point at a bound contributes nothing to the gap while its loss has the sign of
        its multiplier: 0 if a_i = 0, and positive at the cost of its row. There the f of
        the run is reused if its error is smaller than the distance from the other sign,
        at the optimal bias. With hard rows, K beta is computed bit for bit as in the
        referee, so that both find the rows satisfied.

        Parameters
        ----------
        beta : ndarray of shape (m,)
            Coefficients A'alpha of the current point.
        everywhere : bool
            True to recompute f at every point, for accurate primal and dual values; their
            difference does not need it.

        Returns
        -------
        ndarray of shape (m,)
            K beta.
        """
        problem, units = self.problem, self.problem.units
        if problem.any_hard:
            return problem.margin.gram @ beta
        if self.working.has_fast_product:
            self.at.drift = 0.0
            support = np.flatnonzero(beta)
            return self.working.product(support, beta[support] * units.unit)
        f = (self.at.G + problem.z) * units.spread
        error = self.at.drift * self.working.exact.resolution * units.spread
        look, fresh = self.look, np.zeros(units.m, dtype=bool)
        distance = np.minimum(look.rise - look.level, look.level - look.fall) * units.spread
        # `not >` includes a NaN: the bound of an unknown f where K_ii = 0.
        inexact = ~(distance > AMPLE * error) | everywhere
        change = self.known.change + float(np.abs(beta - self.known.beta).sum())
        if change > MOST_CHANGE * np.abs(beta).sum():
            self.known, change = KnownFunction.zero(units.m), float(np.abs(beta).sum())
        # A recomputed f changes the optimal bias, and so the points of positive loss.
        while inexact.any():
            fresh |= inexact
            f[inexact] = self._recomputed(beta, inexact)
            inexact = ~fresh & self._undecided(f, error)
        self.known = KnownFunction(beta, f, fresh, change)
        if fresh.all():
            self.at.drift = 0.0
        return f

    def _recomputed(self, beta: Array, points: NDArray[np.bool_]) -> Array:
        """Return K beta at some points in float64, from the known values of the last beta."""
        known, f = self.known, np.zeros_like(beta)
        f[known.fresh] = known.f[known.fresh]
        for part, start in ((known.fresh, known.beta), (~known.fresh, 0.0)):
            at = np.flatnonzero(points & part)
            if len(at):
                change = beta - start
                moved = np.flatnonzero(change)
                coefficients = change[moved] * self.problem.units.unit
                f[at] += self.working.exact.product(moved, coefficients, at)
        return f[points]

    def _undecided(self, f: Array, error: Array) -> NDArray[np.bool_]:
        """Return where the sign of a row's loss may not be that of its multiplier."""
        margin, units = self.problem.margin, self.problem.units
        slack = margin.slack(f, margin.bias_at(f))
        active = margin.rows.s * self.at.a[units.point] > 0
        return units.largest(np.where(active, -slack, slack)) >= -error

    def take(self, f: Array) -> None:
        """Replace the gradient by that of a recomputed f.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Function values.
        """
        self.at.G[:] = self.working.placed(f) / self.problem.units.spread - self.problem.z

    def look_again(self) -> None:
        """Recompute violation, level and estimated gap."""
        self.look = self.problem.look(self.at.a, self.at.G)

    def note_round(self) -> None:
        """Recompute violation, level and estimated gap, and record the round."""
        self.look_again()
        self.aim.note(self.look, self.problem.most_dual)

    def check(self, progress: DualConvergenceMonitor, watched: bool = False) -> bool:
        """Compute the true gap if its estimate is small, or if the run must end.

        Parameters
        ----------
        progress : DualConvergenceMonitor
            Convergence monitor.
        watched : bool
            True to compute it in any case.

        Returns
        -------
        bool
            True if the run has ended.
        """
        limit_reached = progress.out_of_time or self.effort.steps >= progress.max_iter
        if not (watched or self.ready or limit_reached):
            return False
        previous_gap, was_ready, was_stuck = progress.gap, self.ready, self.stuck
        stops = progress.show(
            self.problem.multipliers(self.at.a), self.effort.steps, self.look.violation
        )
        self.take(progress.shown.f)
        if stops:
            return True
        self.look_again()
        if self.ended(progress):
            return True
        # The estimate misled if it was small, and the true gap is not.
        misled = was_ready and progress.gap > 0.1 * previous_gap
        if was_stuck or self.ready or misled:
            self.correct(progress)
        return False

    def ended(self, progress: DualConvergenceMonitor) -> bool:
        """Stop an infeasible or stationary run; return True if it has stopped.

        Parameters
        ----------
        progress : DualConvergenceMonitor
            Convergence monitor, whose status is set.

        Returns
        -------
        bool
            True if the monitor has a status.
        """
        margin = self.problem.margin
        if self.problem.any_hard and margin.has_gap and self._unbounded(progress):
            progress.end(
                Status.INFEASIBLE,
                f"no f satisfies the hard rows: the dual is unbounded (above "
                f"{_ray_value(progress, self.problem.units):.0e})",
            )
        elif not margin.has_gap and self.look.violation <= progress.limits.tol:
            progress.end(
                Status.STATIONARY,
                f"the optimality conditions hold to {max(self.look.violation, 0.0):.2e}",
            )
        return progress.status is not None

    def _unbounded(self, progress: DualConvergenceMonitor) -> bool:
        """Return True if the dual increases without bound along alpha, in double precision."""
        units, alpha = self.problem.units, self.problem.multipliers(self.at.a)
        is_large = _ray_value(progress, units) * units.scale > HARD_OPTIMUM_LIMIT * units.spread
        return bool(is_large and np.isinf(interval(self.problem.margin, Point(alpha=alpha)).upper))

    def correct(self, progress: DualConvergenceMonitor) -> None:
        """Continue in float64 towards a smaller estimated gap.

        Restarts from a = 0 if rounding has led to a dual value below 0, that of a = 0.

        Parameters
        ----------
        progress : DualConvergenceMonitor
            Convergence monitor with the true gap of the current point.
        """
        problem, tol = self.problem, progress.limits.tol
        if self.working.in_float32:
            self.working.work_in(self.working.exact)
        if problem.margin.has_gap and progress.dual < 0.0:
            self.at.a[:], self.at.G[:], self.at.drift = 0.0, -problem.z, 0.0
        self.aim.narrow(tol, progress.gap, self.close)
        if problem.margin.has_gap and np.isinf(progress.primal):
            self._tighten(0.25 * tol * progress.dual)
        self.note_round()

    def _tighten(self, cost: float) -> None:
        """Raise the targets of hard rows, so that f satisfies them despite rounding.

        The first call raises the optimum by `cost`, each later one by four times more.
        """
        problem = self.problem
        hard_sum = float(problem.multipliers(self.at.a)[problem.hard].sum())
        if hard_sum <= 0 or cost <= 0:
            return
        increase = self.aim.tightening * cost / hard_sum
        self.aim.tightening *= 4.0
        self.aim.eps = min(self.aim.eps, increase / problem.units.spread)
        # G = K a - z and z depends on the targets.
        self.problem = problem.tightened(increase)
        self.at.G = self.at.G + problem.z - self.problem.z

    def pair_round(self, progress: DualConvergenceMonitor) -> None:
        """Take pair steps on a working set until its violation meets its target.

        Parameters
        ----------
        progress : DualConvergenceMonitor
            Convergence monitor, for the iteration and time limits.
        """
        effort, before = self.effort, self.look
        effort.work += self.working.choose(before)
        W, K = self.working.points, self.working.K
        a, G = self.at.a[W], (self.at.G[W] - before.level).astype(self.working.tiles.dtype)
        sides = self.problem.sides if self.working.whole else self.problem.sides.of(W)
        eps, left = self.target(len(W))
        taken = 0
        while (most := self.steps_at_once(len(W), left - taken, progress)) > 0:
            steps, violation = self.working.pair_steps(
                G, a, sides, PAIR_CURVATURE_FLOOR[K.dtype], eps, most
            )
            taken, effort.steps = taken + steps, effort.steps + steps
            if violation <= eps or steps < most:
                break
        self.note_pair_steps(taken, len(W), self._move(W, a), before)

    def target(self, size: int) -> tuple[float, int]:
        """Return the violation at which a round of pair steps ends, and its most steps.

        Parameters
        ----------
        size : int
            Points of the working set.
        """
        look, goal = self.look, self.aim.goal
        whole = self.working.whole and self.problem.has_estimate
        deepest = DEEPEST_WHOLE_ROUND if whole else DEEPEST_ROUND
        # Assume that gap and violation decrease in proportion; 0.5 is a margin.
        eps = look.violation * min(
            max(0.5 * goal / max(look.relative_gap, goal), deepest), SHALLOWEST_ROUND
        )
        most = max(
            self.working.costs.steps_per_point * size,
            FEWEST_ROUND_STEPS,
            self.effort.steps // 2 if self.rough else 0,
        )
        return eps, most

    def steps_at_once(self, size: int, left: int, progress: DualConvergenceMonitor) -> int:
        """Return the pair steps until the clock is checked again; 0 at a limit.

        Parameters
        ----------
        size : int
            Points of the working set.
        left : int
            Steps that the round may still take.
        progress : DualConvergenceMonitor
            Convergence monitor, for the iteration and time limits.
        """
        if progress.out_of_time:
            return 0
        at_once = max(FEWEST_STEPS_AT_ONCE, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // size)
        return max(min(at_once, left, progress.max_iter - self.effort.steps), 0)

    def note_pair_steps(
        self, taken: int, size: int, outside_work: int, before: OptimalityState
    ) -> None:
        """Record the work and the pace of a round of pair steps.

        Parameters
        ----------
        taken : int
            Steps.
        size : int
            Points of the working set.
        outside_work : int
            Work outside of the set's block of K.
        before : OptimalityState
            State before the round.
        """
        effort, old, new = self.effort, before.relative_gap, self.look.relative_gap
        effort.price = taken * (2 * size + self.working.costs.pair_step) + outside_work
        effort.work += effort.price
        effort.pace = float(np.log(old / new)) if 0.0 < new < old < np.inf else 0.0

    def newton_round(self, progress: DualConvergenceMonitor) -> None:
        """Take Newton steps on the free points if cheaper than further pair steps.

        Parameters
        ----------
        progress : DualConvergenceMonitor
            Convergence monitor, for the time limit.
        """
        # The free points are counted only where their number matters.
        if not self.problem.margin.has_gap or (self.rough and self.look.relative_gap > NEWTON_GAP):
            return
        free = np.flatnonzero(self.look.free)
        max_factorisations = self._affordable(len(free))
        if not max_factorisations:
            return
        a, sides = self.at.a[free], self.problem.sides.of(free)
        # The separable part adds its ridge on the side of 0 where a_i lies.
        H = self.working.face(free, np.where(a > 0, sides.ridge[1], sides.ridge[0]))
        lower, upper = np.where(a > 0, 0.0, sides.lower), np.where(a < 0, 0.0, sides.upper)
        g = self.look.level - self.look.rise[free]
        solution = maximise_on_face(
            H,
            g,
            a,
            lower,
            upper,
            True,
            max_factorisations,
            lambda: progress.out_of_time,
            self.working.factor,
        )
        spent = self.working.newton_work_done(len(free))
        self.effort.spent, self.effort.work = self._move(free, solution) + spent, 0

    def _affordable(self, n: int) -> int:
        """Return how many factorisations of n free points may be tried now.

        Unless `rough`, a small face may have factorisations of as much work as the pair
        steps since the last. Otherwise the number is 0 unless factorisations are
        estimated to cost less than the remaining pair steps:

            once + FACTORISATIONS_EXPECTED * each < ahead

        with `once` the work of the matrix and the gradient update, `each` that of a
        factorisation (`WorkingSet.newton_work`), and `ahead` that of pair steps at the
        price and pace of the last round.
        """
        effort, look, goal = self.effort, self.look, self.aim.goal
        if not self.rough and n <= SMALL_FACE:
            return count_affordable_factorisations(n, effort.work // WORK_PER_MULTIPLICATION)
        if n < 2 or look.relative_gap > NEWTON_GAP or effort.work < 2 * effort.spent:
            return 0
        once, each = self.working.newton_work(n)
        ahead = (
            effort.price
            * float(np.log(max(look.relative_gap, goal) / goal))
            / max(effort.pace, SLOWEST_PACE)
        )
        return FACTORISATIONS_ALLOWED if once + FACTORISATIONS_EXPECTED * each < ahead else 0

    def _move(self, points: Index, a: Array) -> int:
        """Assign variables, update gradient and estimate; return work outside the block."""
        change = a - self.at.a[points]
        self.at.drift += float(np.abs(change).sum())
        self.at.a[points] = a
        outside_work = self.working.follow(points, change, self.at.G)
        self.note_round()
        return outside_work


def _ray_value(progress: DualConvergenceMonitor, units: ProblemScaling) -> float:
    """Return the dual value of the best multiple of the current multipliers.

    That is (t'alpha)^2 / (2 |A'alpha|_K^2).
    """
    norm2 = progress.shown.norm2
    gain = max(progress.dual + norm2 / 2, 0.0)
    return gain * (gain / max(2 * norm2, 1e-300 + 1e-32 * gain * units.unit))


Beginning = Callable[[MarginProblem, Point | None, Limits, Workspace], Descent]
"""Function that returns the initial state of a run."""
