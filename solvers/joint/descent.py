"""Dual decomposition for the multiclass machine of Crammer and Singer.

1. Sweeps visit the points in random order and maximise over all shares of one point
   (`sweeps.py`). Pairs of a point and a class that stay at 0 are skipped for a while.
2. An interior point method (`interior.py`) follows as soon as the sweeps have cost as
   much as it will, or stall. It needs few weights, and any data.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.solvers.dual.sweeps import OVER_RELAXATION, ROW_CURVATURE_FLOOR, shuffle
from equimargin.solvers.joint.interior import STEPS, count_work, follow_central_path
from equimargin.solvers.joint.problem import JointPoint, JointProblem
from equimargin.solvers.joint.solution import JointSolution
from equimargin.solvers.joint.sweeps import ActivePairs, PointArrays, sweep
from equimargin.solvers.products.swept_rows import swept_rows
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    ROUNDED_GAP,
    STALE_CHECKS,
    has_increased,
)
from equimargin.solvers.solution import Limits, Status, counted, relative_gap

NAME = "crammer_singer.decomposition"
"""Name of the solver."""
MAX_SWEEPS = 100_000
"""Default maximum number of sweeps."""
SWEEPS_BETWEEN_GAPS = 10
"""Number of sweeps after which the gap is computed at the latest."""
SHRINKING_SHARE = 0.5
"""Share of a sweep's largest violation by which the next sweep shrinks classes."""
SETTLED_VIOLATION = 0.01
"""Share of the first sweep's largest violation at which the gap is computed."""
SWEEP_SPEED = 10
"""Multiplications of a sweep in the time of one multiplication of a factorisation."""
SEED = 0
"""Seed of the random orders, so that runs are repeatable."""


# Overflow shows in the gap of the point.
@np.errstate(all="ignore")
def minimise_jointly(problem: JointProblem, limits: Limits) -> JointSolution:
    """Sweep, and follow the central path, until the gap is small or a limit ends it.

    Parameters
    ----------
    problem : JointProblem
        Problem to solve.
    limits : Limits
        Limits; iterations are sweeps.
    """
    run = _JointRun(problem, limits)
    # T = 0: all of a cost is the share of the own class.
    point = problem.evaluate(np.where(problem.own, problem.costs[:, None], 0.0))
    affordable = count_work(problem) / SWEEP_SPEED
    while not run.is_over(point):
        S, W = point.S.copy(), point.W.copy()
        run.sweep_on(S, W)
        point = problem.evaluate(S)
        stalls = affordable < np.inf and run.stale >= STALE_CHECKS // 2
        if (stalls or run.work >= affordable) and not run.is_over(point):
            affordable = np.inf
            point = run.follow_path()
    return run.solution()


class _JointRun:
    """Data for the sweeps of a run, its best point, and its limits.

    Parameters
    ----------
    problem : JointProblem
        Problem to solve.
    limits : Limits
        Limits.
    """

    def __init__(self, problem: JointProblem, limits: Limits) -> None:
        self.problem, self.limits = problem, limits
        squares = problem.features.squares
        curvatures = np.maximum(squares, ROW_CURVATURE_FLOOR * (float(squares.mean()) or 1.0))
        self.points = PointArrays(problem.codes, problem.costs, curvatures)
        self.X = swept_rows(problem.features)
        self.movable: Index = np.flatnonzero(problem.costs > 0)
        self.point_work = 4 * problem.k * (problem.features.entries // len(squares) + 1)
        self.most = limits.max_iter or MAX_SWEEPS
        self.random = np.random.default_rng(SEED)
        self.started, self.sweeps, self.work = run_seconds(), 0, 0
        self.best: JointPoint | None = None
        self.gap, self.dual, self.stale = np.inf, -np.inf, 0
        self.status, self.reason = Status.NUMERICAL_FAILURE, ""

    @property
    def seconds(self) -> float:
        """Wall time since the start in seconds, without compilation."""
        return run_seconds() - self.started

    def is_late(self) -> bool:
        """Return True if the time limit has passed."""
        return self.limits.time_limit is not None and self.seconds > self.limits.time_limit

    def is_over(self, point: JointPoint) -> bool:
        """Keep the point of smallest gap; return True, with status and reason, at the end.

        Parameters
        ----------
        point : JointPoint
            Point of the run.
        """
        if self.reason:
            return True
        limits = self.limits
        gap = relative_gap(point.primal, point.dual, self.problem.scale)
        # Below the rounding level, only a gap that halves is progress.
        progresses = gap < (0.5 if self.gap <= ROUNDED_GAP else 0.95) * self.gap
        rise = min(0.01 * (point.primal - point.dual), 1e-6 * abs(self.dual))
        rises = has_increased(point.dual, self.dual, rise, abs(point.dual))
        self.stale = 0 if progresses or rises else self.stale + 1
        if gap < self.gap or self.best is None:
            self.best, self.gap = point, gap
        self.dual = max(self.dual, point.dual)
        reached = f"relative gap {self.gap:.2e} after {counted(self.sweeps, 'iteration')}"
        requested = f"{reached}, {limits.tol:.2g} was requested"
        if gap <= limits.tol:
            self.status, self.reason = Status.OPTIMAL, requested
        elif self.is_late():
            limit = f"the time limit of {limits.time_limit:g} s"
            self.status, self.reason = Status.TIME_LIMIT, f"{limit}: {reached}"
        elif self.sweeps >= self.most:
            limit = f"the limit of {counted(self.most, 'iteration')}"
            self.status, self.reason = Status.ITERATION_LIMIT, f"{limit}: {reached}"
        elif self.stale >= STALE_CHECKS:
            self.reason = f"no progress in {STALE_CHECKS} checks: {requested}"
        return bool(self.reason)

    def sweep_on(self, S: Array, W: Array) -> None:
        """Sweep until the gap should be computed: first all points, then those not shrunk.

        Parameters
        ----------
        S : ndarray of shape (m, k)
            Shares, changed in place.
        W : ndarray of shape (q, k)
            Weights, changed in place.
        """
        m, k = S.shape
        pairs = ActivePairs(
            np.tile(np.arange(k, dtype=np.int32), (m, 1)), np.full(m, k, dtype=np.int32)
        )
        order, margin, first = self.movable.copy(), np.inf, 0.0
        for _ in range(SWEEPS_BETWEEN_GAPS):
            order, violation, share = self._sweep(order, margin, pairs, S, W)
            self.sweeps, margin = self.sweeps + 1, SHRINKING_SHARE * violation
            first = first or violation
            enough = self.limits.tol * abs(self.dual)
            if (
                share <= enough
                or violation <= SETTLED_VIOLATION * first
                or self.sweeps >= self.most
                or self.is_late()
            ):
                break

    def follow_path(self) -> JointPoint:
        """Evaluate points of the interior point method; return that of the best shares."""
        problem, rows = self.problem, self.movable
        part = problem
        if len(rows) < len(problem.codes):
            data = {"X": problem.X, "codes": problem.codes, "weights": problem.weights}
            part = replace(problem, **{name: values[rows] for name, values in data.items()})
        S = np.zeros((len(problem.codes), problem.k))
        # Its first steps have larger gaps than the sweeps.
        self.stale = -STEPS
        for shares, W in follow_central_path(part):
            self.sweeps += 1
            S[rows] = shares
            if self.is_over(problem.evaluate(S.copy(), W)):
                break
        self.stale = max(self.stale, 0)
        assert self.best is not None
        return problem.evaluate(self.best.S)

    def _sweep(
        self, order: Index, margin: float, pairs: ActivePairs, S: Array, W: Array
    ) -> tuple[Index, float, float]:
        """Sweep once in random order; the clock is checked from time to time."""
        shuffle(order, int(self.random.integers(2**31)))
        kept, violation, share = [order[:0]], 0.0, 0.0
        size = max(1, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // self.point_work)
        for start in range(0, len(order), size):
            part = order[start : start + size]
            count, largest, more = sweep(
                part, margin, OVER_RELAXATION, self.points, self.X, pairs, S, W
            )
            kept.append(part[:count])
            violation, share = max(violation, largest), share + more
            self.work += self.point_work * len(part)
            if self.is_late():
                break
        return np.concatenate(kept), violation, share

    def solution(self) -> JointSolution:
        """Return the best point, with the status and reason of the run."""
        assert self.best is not None
        return JointSolution(
            self.problem, self.best, NAME, self.status, self.reason, self.sweeps, self.seconds
        )
