"""Dual active-set method for hard margins without a bias, over the most violated rows.

    min 1/2 |f|^2   s.t.   A f >= 1          max 1'alpha - 1/2 |A'alpha|_K^2,  alpha >= 0

A round computes f at all points and adds the most violated rows to a pool
(`pricing.py`). The method of Goldfarb and Idnani (`ascent.py`) continues from the last
active rows until f satisfies the pool. At the optimum of a pool 1'alpha = |f|^2. If m
is the minimum margin of f, f / m satisfies all rows, so that the relative gap is
1 - m^2: a minimum margin of 1 - 5e-7 proves 1e-6.

The rows are infeasible if and only if they have a ray, sum_r a_r A_r phi = 0 with
a >= 0. A ray found in floats is proved in rational numbers, or for an RBF kernel by a
cycle of the preferences (`exact_ray.py`).

With an RBF kernel and no cycle the rows are feasible, but |f|^2 may exceed double
precision: 2,000 ordered points at gamma = 0.1 have a Gram matrix whose small
eigenvalues are below rounding. The run then ends with a proven lower bound. A finite
upper bound would need the smallest eigenvalue. The bounds that follow from the
distances of points decrease like exp(-1 / (gamma distance^2)) and would be useless.

References
----------
D. Goldfarb, A. Idnani. A numerically stable dual method for solving strictly convex
quadratic programs. 1983.

Document T (84)-(85).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equimargin.formulations.bounds.intervals import interval
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.solvers.hard.ascent import Ascent
from equimargin.solvers.hard.block_pivots import MOST_ROWS, solve_by_block_pivots
from equimargin.solvers.hard.exact_ray import contradiction, decides_by_cycles, exact_ray
from equimargin.solvers.hard.face import KernelFace
from equimargin.solvers.hard.pricing import (
    HardRows,
    LabelledRows,
    ListedRows,
    can_price_rows,
    hard_rows,
)
from equimargin.solvers.hard.spaces import (
    ActivePool,
    KernelSpace,
    Space,
    factor_that_meets,
    make_space,
    norm2,
    scaled,
    values,
)
from equimargin.solvers.progress import ConvergenceMonitor
from equimargin.solvers.ray import FarkasRay
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status, counted

STEP_LIMIT = 1_000_000
"""Maximum number of rows that enter, if the caller sets no limit."""
NEW_ROWS = 300
"""Maximum number of rows added to the pool per round."""
LARGEST_POOL = 3000
"""Size above which a pool is reduced to its active rows."""
SHARE_OF_POOL = 0.125
"""Fraction of the tolerance to which the rows of a pool are satisfied.

The remaining gap is then due to other rows.
"""
TOO_LARGE = (
    "the multipliers are so large that the rounding of kernel values moves margins by more "
    "than the tolerance; "
    "the rows are feasible, because their points differ and the preferences have no cycle"
)
"""Reason why double precision reaches no smaller gap, and what is known nevertheless."""
ROUNDED = 0.1
"""Fraction of the tolerance above which the rounding of margins matters.

The gap is then computed from a proven interval.
"""


def _soft_rows(problem: MarginProblem) -> Refusal | None:
    if not can_price_rows(problem):
        return Refusal("its rows are neither classified points nor pairs")
    if ((problem.group_costs > 0) & np.isfinite(problem.group_costs)).any():
        return Refusal("some rows are soft; this method needs hard rows only")
    return None


REQUIREMENTS = Requirements(
    MarginProblem,
    # With a finite C, too, every row is hard if every weight is infinite.
    losses=("hinge", "squared_hinge"),
    no_bias="which is free, and not part of the norm",
    convex=True,
    also=_soft_rows,
)


class ActiveSetRound(NamedTuple):
    """Result of a round.

    Parameters
    ----------
    steps : int
        Rows that have entered so far.
    pool : int
        Number of rows in the pool.
    active : int
        Number of active rows.
    lower, upper : float
        Bounds on the optimum.
    """

    steps: int
    pool: int
    active: int
    lower: float
    upper: float


@solver(
    "dual_active_set",
    "rank.hard",
    "svm.nobias_hard",
    algorithm="the dual active-set method of Goldfarb and Idnani on the most violated rows, "
    "for hard margins",
    requires=REQUIREMENTS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Add the most violated rows in rounds until all are satisfied or a ray is found."""
    judge = ConvergenceMonitor("dual_active_set", problem, limits, limits.max_iter or STEP_LIMIT)
    rows = hard_rows(problem)
    ray = contradiction(problem, rows) if decides_by_cycles(problem.kernel) else None
    if ray is not None:
        return _infeasible(judge, rows, ray, [])
    return _Run(problem, rows, judge).solved(warm_start)


class _Run:
    """One run of the rounds."""

    def __init__(self, problem: MarginProblem, rows: HardRows, judge: ConvergenceMonitor) -> None:
        self.problem, self.rows, self.judge = problem, rows, judge
        self.space: Space = make_space(problem, rows)
        self.steps = 0
        self.trajectory: list[ActiveSetRound] = []

    def solved(self, warm_start: Point | None) -> Solution:
        """Run rounds until the monitor or the rows end the run."""
        judge, tol = self.judge, self.judge.limits.tol
        pool, alpha = self._start(warm_start)
        state = Ascent(pool.face, alpha)
        while judge.status is None:
            state.climb(SHARE_OF_POOL * tol, judge.max_iter, lambda: judge.out_of_time)
            self.steps = state.steps
            if state.ray is not None:
                return self._with_ray(pool, state)
            function = self.space.function(pool, state.alpha)
            f = values(self.problem, function)
            if self._weighed(
                function, f, pool, np.asarray(pool.face.S, dtype=np.int64), state.alpha
            ):
                break
            new = np.setdiff1d(
                self.rows.violated(f, 1.0 - 2 * SHARE_OF_POOL * tol, NEW_ROWS), pool.keys
            )
            if not len(new):
                judge.end(
                    Status.NUMERICAL_FAILURE,
                    f"{_reached(judge)}, and double precision satisfies the active rows no better",
                )
                break
            if len(pool.keys) > max(LARGEST_POOL, 2 * len(pool.face.S)):
                pool = self.space.pool(pool.active)
                state.alpha = self.space.begun(pool, list(range(len(pool.keys))))
            pool = self.space.pool(new, pool)
            state = Ascent(pool.face, state.alpha, state.steps)
        return replace(judge.solution(), trajectory=tuple(self.trajectory))

    def _start(self, warm_start: Point | None) -> tuple[ActivePool, Array]:
        """Return the initial pool and its multipliers.

        They come from a warm start, or from block pivots if a kernel has few rows, or
        are empty. If the rows are known to have no ray, the point of the block pivots
        is assessed as well. The run ends there if the point is good enough, or if its
        multipliers are so large that the rounding of K moves margins by more than the
        tolerance.
        """
        if warm_start is not None and warm_start.alpha is not None:
            keys, _ = self.rows.support(warm_start.alpha)
            pool = self.space.pool(keys[:LARGEST_POOL])
            return pool, self.space.begun(pool, list(range(len(pool.keys))))
        keys = self._whole()
        if not isinstance(self.space, KernelSpace) or not 0 < len(keys) <= MOST_ROWS:
            return self.space.pool(keys[:0]), np.zeros(0)
        pool = self.space.pool(keys)
        assert isinstance(pool.face, KernelFace)
        active, alpha = solve_by_block_pivots(
            pool.face.G, self.space.scale, lambda: self.judge.out_of_time
        )
        if decides_by_cycles(self.problem.kernel):
            function = self.space.of_multipliers(pool.taken[active], alpha)
            self._weighed(function, values(self.problem, function), pool, active, alpha)
            if self.judge.status is None and self.space.rounding(alpha) > self.judge.limits.tol:
                self.judge.end(Status.NUMERICAL_FAILURE, f"{_reached(self.judge)}, and {TOO_LARGE}")
        return pool, np.zeros(0) if self.judge.status else self.space.begun(pool, active.tolist())

    def _whole(self) -> Index:
        """Return the keys of rows that imply all others; none if unknown.

        These are all explicit rows, or the pairs of neighbours of strict orders.
        """
        if isinstance(self.rows, ListedRows):
            return self.rows.keys
        assert isinstance(self.rows, LabelledRows)
        return self.rows.neighbours() if self.rows.strict else np.zeros(0, dtype=np.int64)

    def _weighed(
        self, function: Point, f: Array, pool: ActivePool, active: Index, alpha: Array
    ) -> bool:
        """Record a function scaled to satisfy all rows; return True if the run is over.

        alpha are the multipliers of the rows `active` of the pool.
        """
        space, tol = self.space, self.judge.limits.tol
        own = space.of_multipliers(pool.taken[active], alpha)
        lower = float(alpha.sum()) - norm2(own, f) / 2
        least, square = self.rows.least_margin(f), norm2(function, f)
        factor, upper = 1.0, np.inf
        if least > 0:
            # Scaling to a least margin of 1 makes f feasible, at |factor f|^2 / 2.
            factor = max(1.0 / least, 1.0)
            if factor * (factor * square) / 2 - lower <= tol * lower:
                factor = factor_that_meets(self.rows, function, factor)
            upper = factor * (factor * square) / 2
        point = replace(
            scaled(function, factor), alpha=self.rows.multipliers(pool.keys[active], alpha)
        )
        if (
            np.isfinite(upper)
            and upper - lower <= tol * upper
            and space.rounding(alpha) > ROUNDED * tol
        ):
            proven = interval(self.problem, point)
            lower, upper = proven.lower, proven.upper
        self.trajectory.append(
            ActiveSetRound(self.steps, len(pool.keys), len(active), lower, upper)
        )
        return self.judge.weigh(point, upper, lower, self.steps)

    def _with_ray(self, pool: ActivePool, state: Ascent) -> Solution:
        """Return the solution at a float ray: infeasible if proved, else undecided."""
        assert state.ray is not None
        chosen = np.asarray(state.ray.rows, dtype=np.int64)
        unproved = "which is not proved"
        try:
            ray = exact_ray(self.problem, pool.taken[chosen], state.ray.weights)
        except ImportError as missing:
            ray, unproved = None, f"{unproved} ({missing})"
        if ray is not None:
            return _infeasible(self.judge, self.rows, ray, self.trajectory)
        multipliers = self.rows.multipliers(pool.keys[chosen], state.ray.weights)
        reason = (
            f"the rows are dependent in double precision, {unproved}: no function satisfies "
            f"them, or only a very large one"
        )
        self.judge.end(Status.NUMERICAL_FAILURE, reason)
        point = self.problem.point(np.zeros(self.problem.m), multipliers, 0.0)
        return replace(
            self.judge.solution(),
            point=point,
            iterations=state.steps,
            trajectory=tuple(self.trajectory),
        )


def _infeasible(
    judge: ConvergenceMonitor, rows: HardRows, ray: FarkasRay, trajectory: list[ActiveSetRound]
) -> Solution:
    """Return the solution of hard rows with an exact ray and the ray's multipliers."""
    problem = judge.problem
    assert isinstance(problem, MarginProblem)
    rows_text = "this hard row" if len(ray) == 1 else f"these {len(ray)} hard rows together"
    judge.end(Status.INFEASIBLE, f"no function satisfies {rows_text}: {ray.reason}")
    keys = np.array([row[0] if len(row) == 1 else row[0] * problem.m + row[1] for row in ray.rows])
    largest = max(ray.weights)
    alpha = rows.multipliers(keys, np.array([weight / largest for weight in ray.weights]))
    point = problem.point(np.zeros(problem.m), alpha, 0.0)
    return replace(judge.solution(), point=point, ray=ray, trajectory=tuple(trajectory))


def _reached(judge: ConvergenceMonitor) -> str:
    return (
        f"relative gap {judge.gap:.2e} after {counted(judge.iterations, 'iteration')}, "
        f"{judge.limits.tol:.2g} was requested"
    )
