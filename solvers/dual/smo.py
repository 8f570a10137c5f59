"""Sequential minimal optimisation for margin problems of one entry a row, with a bias.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2    s.t.  lower <= a <= upper,  1'a = 0

There is one number a_i a point (`smo_problem.py`), so that classification and the
regression tube are one problem. Pair steps a_i += delta, a_j -= delta are taken on a
working set whose kernel block stays in the processor's cache (`working_set.py`), first
in float32. From time to time Newton's method on the free points (`newton_on_face.py`)
finishes what would take many pair steps. The gradients of all points go through tiles
of K that are never kept. The gap is that of f = K a computed anew in float64. Where
float32 makes no more progress, the same method goes on in float64.

A run is a `_Descent`: the problem, the iterate, what the slopes say of it, the working
set, what the run aims at, and what it has spent. Each round takes pair steps and then
perhaps Newton steps. The true gap is computed when the estimated one is small enough.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order
information, JMLR 6 (2005), WSS 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.bounds.intervals import interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.workspace import Workspace, borrow_workspace
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.dual.newton_on_face import (
    SMALL_FACE,
    count_affordable_factorisations,
    maximise_on_face,
)
from equimargin.solvers.dual.smo_problem import Index, OptimalityState, PointProblem, ProblemScaling
from equimargin.solvers.dual.working_set import WorkingSet, pair_steps
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
"""Smallest curvature of a pair in each precision, over the mean diagonal of K: that of two equal points is rounding, or 0."""
KEPT_MARGIN = 0.1
"""Over half the range of z: points that are further than this inside their margin keep their f of the run when the gap is computed."""
MIN_POINTS_FLOAT32 = 256
"""Points above which pair steps begin in float32. Of fewer points one block of K in float64 serves the steps and the gap, and takes less
time than a block in float32 and rows in float64.
"""
NEWTON_GAP = 0.003
"""Relative gap above which Newton's method is left out: the free points are not yet those of the optimum."""
MAX_NEWTON_POINTS = 4000
"""Free points above which Newton's method is left out: a factorisation of their matrix takes seconds."""
ROUND_STEPS_PER_POINT = 5
"""Pair steps of a round for every point of the working set, at least: the gradients outside of the set cost as much as several of them."""
FEWEST_ROUND_STEPS = 1000
"""Pair steps that a round may always take, however small its working set is."""
FEWEST_STEPS_AT_ONCE = 100
"""Pair steps between two looks at the clock, at least, however large the working set is."""
DEEPEST_ROUND = 0.03
"""Share of the violation at its start below which a round does not go on, even where the gap has to fall further."""
DEEPEST_WHOLE_ROUND = 0.0003
"""The same of a round on all points: no gradient waits for its end, and one round to the end is less work than several on the way."""
SHALLOWEST_ROUND = 0.5
"""Share of the violation at its start above which a round goes on, even where the gap has to fall by less."""
PAIR_STEP_WORK = 600
"""Work that a pair step costs beside its two passes over the working set, in the units of `WorkCounter`, as measured."""
FACE_WORK = 600_000
"""Work that a try of Newton's method costs beside its matrix and its factorisations, in the units of `WorkCounter`, as measured."""
FACTORISATION_WORK = 200_000
"""Work that a factorisation costs beside what grows with the number of points, in the units of `WorkCounter`, as measured."""
CUBE_PER_WORK = 36
"""Ratio of n^3 to the work of a factorisation of n points, in the units of `WorkCounter`, as measured."""
WORK_PER_MULTIPLICATION = 8
"""Work, in the units of `WorkCounter`, of one multiplication in `count_affordable_factorisations`: pair steps are vectorised."""
FACTORISATIONS_EXPECTED = 3
"""Factorisations whose price is compared with that of the pair steps ahead."""
FACTORISATIONS_ALLOWED = 8
"""Factorisations that a try of Newton's method may spend once it has been found worth trying."""
SLOWEST_PACE = 0.05
"""Fall of the logarithm of the gap in a round, at least, that the pair steps ahead are estimated with: a stalled round says little."""
FIRST_VIOLATION = 1e-3
"""Violation, over half the range of z, at which the true gap is computed first where it cannot be estimated."""
ROUGH_STEPS_PER_POINT = 100
"""Pair steps for every point up to the first true gap: a problem that needs more is one for Newton's method in float64."""
STALLED_ROUNDS = 6
"""Rounds without progress after which the true gap is computed, and float32 is given up."""
HARD_OPTIMUM_LIMIT = 1e16
"""Optimum of hard rows, in units of spread^2 / mean K_ii, above which the margin is too small for double precision: no f meets the rows."""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge", "squared_hinge"),
    bias="so that no pair has to be moved together",
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
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """The optimum of one problem."""
    with one_thread(), borrow_workspace() as memory:
        return _descend(
            _Descent.of(problem, warm_start, limits, memory), limits, warm_start is not None
        )


def _solve_grid(problems: Iterable[MarginProblem], limits: Limits) -> Iterator[Solution]:
    """The optima of problems that differ in C and weights, each from the one before where only C differs; blocks of K are kept."""
    descent: _Descent | None = None
    with borrow_workspace() as memory:
        for problem in problems:
            with one_thread():
                descent = (
                    _Descent.of(problem, None, limits, memory)
                    if descent is None
                    else descent.turned_to(problem, limits)
                )
                solution = _descend(descent, limits, False)
            yield solution


def _descend(descent: _Descent, limits: Limits, watched: bool) -> Solution:
    """Rounds of pair steps and of Newton's method until the true gap is small enough.

    Parameters
    ----------
    descent : _Descent
        Where to start.
    limits : Limits
        Of the run.
    watched : bool
        Whether the true gap of the start is computed, too; with a callback that of
        every round is.
    """
    margin = descent.problem.margin
    progress = DualConvergenceMonitor(
        "smo", margin, limits, limits.max_iter or 10_000_000 + 1000 * margin.p, descent.product
    )
    watched = watched or limits.callback is not None
    while True:
        if (
            watched
            or descent.ready
            or progress.out_of_time
            or descent.effort.steps >= progress.max_iter
        ):
            before, stuck = progress.gap, descent.stuck
            over = progress.show(
                descent.problem.multipliers(descent.at.a),
                descent.effort.steps,
                descent.look.violation,
            )
            descent.take(progress.shown.f)
            if over:
                break
            descent.look_again()
            if descent.ended(progress):
                break
            if stuck or descent.ready or progress.gap > 0.1 * before:
                descent.correct(progress)
            watched = limits.callback is not None
        descent.pair_round(progress)
        descent.newton_round(progress)
    return progress.solution()


@dataclass
class SmoIterate:
    """The point of a run.

    Parameters
    ----------
    a : ndarray of shape (m,)
    G : ndarray of shape (m,)
        The gradient K a - z.
    drift : float
        Sum of |changes of a| since K a was computed in float64 at every point; it is
        infinite while that has not been done.
    """

    a: Array
    G: Array
    drift: float


@dataclass
class GapTarget:
    """When the true gap is computed, and whether the rounds still lead there.

    Parameters
    ----------
    goal : float
        The estimated relative gap, and eps : the violation, at which the true gap is
        computed.
    tightening : float
        What the next tightening of the hard rows is multiplied by.
    best : float
        The smallest estimated relative gap, or violation where there is no estimate.
    reached : float
        The largest estimated dual value.
    idle : int
        Rounds since one of both was improved.  All three count from the last time that
        the true gap was found too large.
    narrowed : bool
        Whether it has been found too large.
    """

    goal: float
    eps: float
    narrowed: bool = False
    tightening: float = 1.0
    best: float = np.inf
    reached: float = -np.inf
    idle: int = 0

    def note(self, look: OptimalityState, most_dual: float) -> None:
        """Count a round; most_dual : a larger dual value is rounding, after which nothing can be hoped for."""
        estimated = math.isfinite(look.gap)
        measure = look.relative_gap if estimated else look.violation
        better = measure < 0.9 * self.best or (
            estimated and has_increased(look.dual, self.reached, 0.01 * look.gap, abs(look.dual))
        )
        self.idle = STALLED_ROUNDS if look.dual > most_dual else 0 if better else self.idle + 1
        self.best, self.reached = min(self.best, measure), max(self.reached, look.dual)

    def narrow(self, tol: float, gap: float) -> None:
        """Ask for more after the true gap was found to be `gap`, above tol, and count rounds from now."""
        self.eps *= float(np.clip(0.3 * tol / gap, 0.01, 0.5)) if np.isfinite(gap) else 0.1
        self.goal = max(0.5 * self.goal, 1e-3 * tol)
        self.best, self.reached, self.idle, self.narrowed = np.inf, -np.inf, 0, True


@dataclass
class WorkCounter:
    """What a run has spent.

    Parameters
    ----------
    steps : int
        Pair steps.
    work : int
        Since Newton's method was last tried, in units of what a pass of a pair step
        spends on a point, as measured.
    price, pace
        The work of the last round of pair steps, and by how much it lowered the
        logarithm of the estimated gap.
    spent : int
        The work that the last try of Newton's method took.
    """

    steps: int = 0
    work: int = 0
    price: int = 0
    pace: float = 0.0
    spent: int = 0


@dataclass
class _Descent:
    """The state of a run.

    Parameters
    ----------
    problem : PointProblem
        What is minimised.
    at : SmoIterate
        The iterate, and look : what the slopes say of it.
    working : WorkingSet
        The working set.
    aim : GapTarget
        When the true gap is computed next.
    effort : WorkCounter
        What has been spent.
    """

    problem: PointProblem
    at: SmoIterate
    look: OptimalityState
    working: WorkingSet
    aim: GapTarget
    effort: WorkCounter

    @classmethod
    def of(
        cls, problem: MarginProblem, start: Point | None, limits: Limits, memory: Workspace
    ) -> _Descent:
        """At 0, or at the multipliers of a start."""
        units = ProblemScaling.of(problem)
        points = PointProblem.of(problem, units)
        at = SmoIterate(np.zeros(problem.m), -points.z, 0.0)
        if start is not None:
            at = SmoIterate(points.numbers(initial_multipliers(start, problem)), -points.z, np.inf)
        return cls._starting(
            points, at, WorkingSet.of(problem.gram, units.unit, limits.n_jobs, memory), limits
        )

    def turned_to(self, problem: MarginProblem, limits: Limits) -> _Descent:
        """At the same problem of another C, with the multipliers and f multiplied by the ratio; with other weights at 0."""
        margin, f = self.problem.margin, self.at.G + self.problem.z
        ratio = problem.C / margin.C if problem.weights is margin.weights else 0.0
        points = PointProblem.of(problem, self.problem.units)
        a = np.clip(ratio * self.at.a, points.sides.lower, points.sides.upper)
        return self._starting(
            points, SmoIterate(a, ratio * f - points.z, ratio * self.at.drift), self.working, limits
        )

    @classmethod
    def _starting(
        cls, problem: PointProblem, at: SmoIterate, working: WorkingSet, limits: Limits
    ) -> _Descent:
        """At a point, nothing spent: in float32 where an estimate of the gap says when it has led astray."""
        working.work_in(
            working.single
            if problem.has_estimate and working.m > MIN_POINTS_FLOAT32
            else working.exact
        )
        aim = GapTarget(goal=0.9 * limits.tol, eps=max(FIRST_VIOLATION, limits.tol))
        descent = cls(problem, at, problem.look(at.a, at.G), working, aim, WorkCounter())
        aim.note(descent.look, problem.most_dual)
        return descent

    @property
    def ready(self) -> bool:
        """Whether it is time to compute the true gap: by the estimate, or where there is none by the violation; or for want of progress."""
        close = (
            self.look.relative_gap <= self.aim.goal
            if self.problem.has_estimate
            else self.look.violation <= self.aim.eps
        )
        return close or self.look.violation <= 0 or self.stuck

    @property
    def rough(self) -> bool:
        """Whether the estimate of the gap has not been found wrong yet: float32 is in use in this time only."""
        return self.problem.has_estimate and not self.aim.narrowed

    @property
    def stuck(self) -> bool:
        """Whether pair steps have ceased to make progress, or would be too many."""
        too_many = self.rough and self.effort.steps > ROUGH_STEPS_PER_POINT * self.working.m
        return self.aim.idle >= STALLED_ROUNDS or too_many

    def product(self, beta: Array) -> Array:
        """K beta in float64, (m,), of the coefficients beta = A'alpha that belong to the iterate.

        Points with a_i = 0 keep their value of the run where it is closer to the truth than to their margin at the best bias. Their loss is
        0 either way, so that the gap is that of values all computed anew. Where rows are hard, K beta is computed as the referee computes
        it, to the last bit, so that everybody finds the rows met.
        """
        problem, units, exact = self.problem, self.problem.units, self.working.exact
        if problem.any_hard:
            return problem.margin.gram @ beta
        support = np.flatnonzero(beta)
        if self.working.in_float64_whole:
            self.at.drift = 0.0
            return self.working.product(support, beta[support] * units.unit)
        f, error = (
            (self.at.G + problem.z) * units.spread,
            self.at.drift * exact.resolution * units.spread,
        )
        fresh = np.zeros(units.m, dtype=bool)
        inside = (
            np.minimum(self.look.rise - self.look.level, self.look.level - self.look.fall)
            * units.spread
        )
        unsure = (self.at.a != 0) | (inside <= error + KEPT_MARGIN * units.spread)
        while unsure.any():
            fresh |= unsure
            f[unsure] = exact.product(support, beta[support] * units.unit, np.flatnonzero(unsure))
            slack = units.largest(problem.margin.slack(f, problem.margin.bias_at(f)))
            unsure = ~fresh & (slack >= -error)
        if fresh.all():
            self.at.drift = 0.0
        return f

    def take(self, f: Array) -> None:
        """Take the gradient of f, (m,), as it has just been computed."""
        self.at.G = f / self.problem.units.spread - self.problem.z

    def look_again(self) -> None:
        """See what the slopes say of the iterate as it now is."""
        self.look = self.problem.look(self.at.a, self.at.G)
        self.aim.note(self.look, self.problem.most_dual)

    def ended(self, progress: DualConvergenceMonitor) -> bool:
        """Whether there is nothing more to find: no optimum, or none that could be told from a stationary point."""
        margin = self.problem.margin
        if self.problem.any_hard and margin.convex and self._unbounded(progress):
            progress.end(
                Status.INFEASIBLE,
                f"no f meets the hard rows: the dual has no bound (above "
                f"{_ray_value(progress, self.problem.units):.0e})",
            )
        elif not margin.convex and self.look.violation <= progress.limits.tol:
            progress.end(
                Status.STATIONARY,
                f"the optimality conditions hold to {max(self.look.violation, 0.0):.2e}",
            )
        return progress.status is not None

    def _unbounded(self, progress: DualConvergenceMonitor) -> bool:
        """Whether the multipliers are a ray along which the hard dual has no end, as far as double precision can tell."""
        units, alpha = self.problem.units, self.problem.multipliers(self.at.a)
        beyond = _ray_value(progress, units) * units.scale > HARD_OPTIMUM_LIMIT * units.spread
        return bool(beyond and np.isinf(interval(self.problem.margin, Point(alpha=alpha)).upper))

    def correct(self, progress: DualConvergenceMonitor) -> None:
        """Go on in float64, to a smaller estimate of the gap; from 0 where rounding has led to a dual value below that of 0."""
        problem, tol = self.problem, progress.limits.tol
        if self.working.in_float32:
            self.working.work_in(self.working.exact)
        if problem.margin.convex and progress.dual < 0.0:
            self.at = SmoIterate(np.zeros(problem.units.m), -problem.z, 0.0)
        self.aim.narrow(tol, progress.gap)
        if problem.margin.convex and np.isinf(progress.primal):
            self._tighten(0.25 * tol * progress.dual)
        self.look_again()

    def _tighten(self, cost: float) -> None:
        """Ask more of the hard rows, so that f meets them exactly where it now does up to rounding.

        The first time this raises the optimum by `cost`, and each further time by four times more.
        """
        problem = self.problem
        total = float(problem.multipliers(self.at.a)[problem.hard].sum())
        if total <= 0 or cost <= 0:
            return
        more = self.aim.tightening * cost / total
        self.aim.tightening *= 4.0
        self.aim.eps = min(self.aim.eps, more / problem.units.spread)
        self.problem = problem.tightened(more)
        self.at.G = self.at.G + problem.z - self.problem.z

    def pair_round(self, progress: DualConvergenceMonitor) -> None:
        """Pair steps on a working set, until its violation has fallen as far as the estimated gap has to fall."""
        effort, look, goal = self.effort, self.look, self.aim.goal
        effort.work += self.working.choose(look)
        W, K = self.working.points, self.working.K
        a, G = self.at.a[W], (self.at.G[W] - look.level).astype(K.dtype)
        sides = self.problem.sides if self.working.whole else self.problem.sides.of(W)
        deepest = (
            DEEPEST_WHOLE_ROUND
            if self.working.whole and self.problem.has_estimate
            else DEEPEST_ROUND
        )
        eps = look.violation * min(
            max(0.5 * goal / max(look.relative_gap, goal), deepest), SHALLOWEST_ROUND
        )
        limit = max(
            ROUND_STEPS_PER_POINT * len(W),
            FEWEST_ROUND_STEPS,
            effort.steps // 2 if self.rough else 0,
        )
        done = 0
        while done < limit and effort.steps < progress.max_iter and not progress.out_of_time:
            chunk = min(
                max(FEWEST_STEPS_AT_ONCE, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // len(W)),
                limit - done,
                progress.max_iter - effort.steps,
            )
            steps, violation = pair_steps(K, G, a, sides, PAIR_CURVATURE_FLOOR[K.dtype], eps, chunk)
            done, effort.steps = done + steps, effort.steps + steps
            if violation <= eps or steps < chunk:
                break
        effort.price = done * (2 * len(W) + PAIR_STEP_WORK) + self._move(W, a)
        effort.work += effort.price
        after = self.look.relative_gap
        effort.pace = (
            float(np.log(look.relative_gap / after))
            if 0.0 < after < look.relative_gap < np.inf
            else 0.0
        )

    def newton_round(self, progress: DualConvergenceMonitor) -> None:
        """Newton's method on the free points, where it is no dearer than the pair steps that seem to be left."""
        if not self.problem.margin.convex:
            return
        free = np.flatnonzero(self.look.free)
        most = self._affordable(len(free))
        if not most:
            return
        a, sides = self.at.a[free], self.problem.sides.of(free)
        H = self.working.face(free)
        H[np.diag_indices(len(free))] += np.where(a > 0, sides.ridge[1], sides.ridge[0]).astype(
            H.dtype
        )
        lower, upper = np.where(a > 0, 0.0, sides.lower), np.where(a < 0, 0.0, sides.upper)
        g = self.look.level - self.look.rise[free]
        new = maximise_on_face(H, g, a, lower, upper, True, most, lambda: progress.out_of_time)
        self.effort.spent, self.effort.work = self._move(free, new) + 4 * len(free) ** 2, 0

    def _affordable(self, n: int) -> int:
        """How many factorisations of n free points are worth trying now: those that cost less than the pair steps that seem to be left.

        Their matrix and the change of the gradient cost `once`, a factorisation costs `each`, and pair steps cost `ahead` if they go on at
        the price and the pace of the last round.
        """
        effort, look, goal, working = self.effort, self.look, self.aim.goal, self.working
        if not self.rough and n <= SMALL_FACE:
            return count_affordable_factorisations(n, effort.work // WORK_PER_MULTIPLICATION)
        if (
            not 2 <= n <= MAX_NEWTON_POINTS
            or look.relative_gap > NEWTON_GAP
            or effort.work < 2 * effort.spent
        ):
            return 0
        once = FACE_WORK + 8 * n**2 + (0 if working.whole else 4 * n * working.m)
        each = FACTORISATION_WORK + 8 * n**2 + n**3 // CUBE_PER_WORK
        ahead = (
            effort.price
            * float(np.log(max(look.relative_gap, goal) / goal))
            / max(effort.pace, SLOWEST_PACE)
        )
        return FACTORISATIONS_ALLOWED if once + FACTORISATIONS_EXPECTED * each < ahead else 0

    def _move(self, points: Index, a: Array) -> int:
        """Put new numbers of some points in place, let the gradient and the slopes follow, and return the work outside of the block."""
        change = a - self.at.a[points]
        self.at.drift += float(np.abs(change).sum())
        self.at.a[points] = a
        work = self.working.follow(points, change, self.at.G)
        self.look_again()
        return work


def _ray_value(progress: DualConvergenceMonitor, units: ProblemScaling) -> float:
    """The dual value of the best multiple of the multipliers, (t'alpha)^2 / (2 |A'alpha|_K^2)."""
    norm2 = progress.shown.norm2
    gain = max(progress.dual + norm2 / 2, 0.0)
    return gain * (gain / max(2 * norm2, 1e-300 + 1e-32 * gain * units.unit))
