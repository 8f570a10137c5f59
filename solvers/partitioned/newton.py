"""Newton's method that uses only sums over the points, computed partition by partition.

    min over v = (w, b)   1/2 |w|^2 + C sum_r phi(u_r)
    (R + C slope Z'DZ) s = -gradient,    R = diag(1, ..., 1, 0)

phi is the squared hinge, or a hinge with decreasing smoothing, as in `huber.py`. Every
sum takes a round, a request to all partitions. A step takes two rounds: one for the
matrix, and one for the full step, whose gradient also gives the derivative along the
step. If that derivative is not small enough, each further evaluation costs a round. The
matrix of the previous step is reused if one more step with it is expected to suffice.
Every evaluation proves an interval, and the run ends when the intersection of the
intervals is narrow enough.

For the squared hinge, the method is that of `newton.py` without its start on a subset
of the points. The smoothed hinge of a classification is centred at the multipliers of
the last minimum. For a ranking, whose multipliers of pairs are not stored, the
smoothing interval shrinks around 0 instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.formulations.partitions.smooth_loss import SQUARED_HINGE, SmoothLoss, smoothed_hinge
from equimargin.formulations.partitions.view import PointBounds, bound_at_point
from equimargin.formulations.partitions.whole import GlobalStats
from equimargin.solvers.dual.damped_cholesky import CholeskyFactor, damped_factor
from equimargin.solvers.partitioned.solution import PartitionedSolution
from equimargin.solvers.partitioned.sums import Lost, PartitionSums
from equimargin.solvers.solution import Limits, Status, counted

MOST_STEPS = 500
"""Newton steps after which a run ends, unless its limits say otherwise.

Fewer than a hundred are usual.
"""
STALE_STEPS = 25
"""Steps in a row that end a run if none has narrowed the interval by a twentieth."""
SEARCH_ROUNDS = 30
"""Maximum number of evaluations along one direction; one is usual."""
SLOPE_LEFT = 0.3
"""Maximum derivative along a direction after a line search, relative to the initial one.

Each evaluation takes a round, so that an exact line search does not pay off.
"""
DAMPINGS = (0.0, *(10.0**k for k in range(-13, 1)))
"""Relative additions to the diagonal of the matrix, tried until Cholesky succeeds.

Rounding may have made the matrix indefinite.
"""
STALENESS = 64.0
"""Assumed factor by which the reduction of the gradient worsens if a matrix is reused.

Reductions are those of `System.left`; factors of 10 to 50 were observed.
"""
GRADIENT_LEFT = 0.25
"""Maximum part of the gradient in the gap after a reused matrix, over the requested gap."""
FLAT_BIAS_CURVATURE = 1e-12
"""Minimum curvature in a free bias, relative to its curvature if all rows contribute.

The curvature is 0 if every row is on a straight piece of the loss.
"""
FARTHEST = 1e100
"""Maximum size of decision values, and of the width of a smoothed hinge.

Squares must not overflow in the proof of an interval.
"""
FIRST_SLOPE = 0.4
"""Slope of the first smoothed hinge, whose curved piece is |u| < 1.25.

At f = 0, where u = 1, all rows are on it.
"""
STIFFEST_START = 1e3
"""Maximum of initial slope x C x mean square of the features.

Huge costs do not imply huge multipliers.
"""
SLOPE_GROWTH = 2.0
"""Minimum factor of the slope from one minimum to the next."""
MOST_GROWTH = 8.0
"""Maximum factor of the slope from one minimum to the next, for pairs.

Then few steps lead from one minimum to the next.
"""
SMOOTHING_LEFT = 0.5
"""Fraction of the requested gap that the smoothing of pairs may leave."""


@dataclass(frozen=True, eq=False)
class PartitionedResult:
    """Best point and proven interval of a run.

    Parameters
    ----------
    best : PointBounds
        Evaluation with the smallest upper bound.
    proven : Interval
        Intersection of the intervals of all evaluations.
    rounds : int
        Requests to all partitions.
    steps : int
        Newton steps.
    stale : int
        Steps since `narrowest` was last reduced by a twentieth.
    narrowest : float
        Relative width after that step.
    """

    best: PointBounds
    proven: Interval
    rounds: int
    steps: int = 0
    stale: int = 0
    narrowest: float = math.inf

    def seen(self, look: PointBounds) -> PartitionedResult:
        """Return the result with one more evaluation.

        Parameters
        ----------
        look : PointBounds
            Evaluation.
        """
        best = look if look.interval.upper < self.best.interval.upper else self.best
        return replace(
            self, best=best, proven=self.proven.intersected(look.interval), rounds=self.rounds + 1
        )

    def stepped(self) -> PartitionedResult:
        """Return the result with one more step."""
        width = self.proven.relative_width
        better = width < 0.95 * self.narrowest
        return replace(
            self,
            steps=self.steps + 1,
            stale=0 if better else self.stale + 1,
            narrowest=width if better else self.narrowest,
        )


@dataclass(frozen=True, eq=False)
class System:
    """Newton's matrix at a point and its factor, which the next point may reuse.

    Parameters
    ----------
    loss : SmoothLoss
        Loss.
    diagonal : ndarray of shape (q,)
        Diagonal of the matrix.
    factor : CholeskyFactor | None
        Cholesky factor; None if Cholesky failed with all DAMPINGS.
    left : float
        Gradient's part of the gap after the last step with this matrix, over that
        before.
    """

    loss: SmoothLoss
    diagonal: Array
    factor: CholeskyFactor | None
    left: float = math.inf

    def direction(self, gradient: Array) -> Array:
        """Return Newton's direction; without a factor, -gradient / diagonal.

        Parameters
        ----------
        gradient : ndarray of shape (q,)
            Gradient.
        """
        return -gradient / self.diagonal if self.factor is None else self.factor.solve(-gradient)


class PartitionedRun:
    """One run, with its requests to the partitions and its proven interval.

    Parameters
    ----------
    sums : PartitionSums
        Partitions.
    whole : GlobalStats
        Statistics common to all partitions.
    limits : Limits
        Tolerance and limits.
    """

    def __init__(self, sums: PartitionSums, whole: GlobalStats, limits: Limits) -> None:
        self.sums, self.whole, self.limits = sums, whole, limits
        self.started = run_seconds()
        self.R = np.ones(len(whole.top))
        self.R[whole.columns :] = 0.0
        self.progress: PartitionedResult | None = None
        self.system: System | None = None

    def look(self, v: Array, loss: SmoothLoss) -> PointBounds:
        """Evaluate the sums and bounds at v.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Point (w, b).
        loss : SmoothLoss
            Loss.
        """
        seen = bound_at_point(self.whole, v, loss, self.sums.total("look", self.whole, v, loss))
        rounds_of_statistics_and_here = 2
        self.progress = (
            PartitionedResult(seen, seen.interval, rounds_of_statistics_and_here)
            if self.progress is None
            else self.progress.seen(seen)
        )
        return seen

    @property
    def so_far(self) -> PartitionedResult:
        """Result of the run; available after the first evaluation."""
        assert self.progress is not None
        return self.progress

    def step(self, at: PointBounds) -> PointBounds:
        """Go approximately to the minimum along Newton's direction.

        Parameters
        ----------
        `at` : PointBounds
            Current point.
        """
        system = self._system(at)
        s = system.direction(at.gradient)
        first = float(at.gradient @ s)
        low, below, high, above, t, reached = 0.0, first, math.inf, math.inf, 1.0, at
        for look in range(SEARCH_ROUNDS):
            v = at.v + t * s
            if not self.whole.reach(v) <= FARTHEST:
                break
            seen = self.look(v, at.loss)
            slope = float(seen.gradient @ s)
            if abs(slope) <= SLOPE_LEFT * abs(first):
                reached = seen
                break
            if slope < 0:
                low, below, reached = t, slope, seen
            else:
                high, above = t, slope
            # Secant of the derivative within the bracket; every third step bisects.
            secant = low - below * (high - low) / (above - below) if high < math.inf else 2 * low
            t = (low + high) / 2 if look % 3 == 2 and high < math.inf else secant
        self.progress = self.so_far.stepped()
        before = _gradient_share(self.whole, at)
        self.system = replace(
            system, left=_gradient_share(self.whole, reached) / before if before > 0 else math.inf
        )
        return reached

    def _system(self, at: PointBounds) -> System:
        """Return Newton's matrix, or that of the previous step.

        It is computed from features rounded to integers, so that it is bit for bit
        independent of the partitions.
        """
        whole, slope, last = self.whole, at.loss.slope, self.system
        wanted = GRADIENT_LEFT * self.limits.tol * at.interval.upper
        if (
            last is not None
            and last.loss is at.loss
            and STALENESS * last.left * _gradient_share(whole, at) <= wanted
        ):
            return last
        halves = self.sums.total("hessian", whole, at.v, at.loss)[0]
        self.progress = replace(self.so_far, rounds=self.so_far.rounds + 1)
        scale = whole.integer_scale()
        H = whole.C * slope * ((halves[0] + halves[1]) / scale / scale[:, None] / (1 + whole.ranks))
        flat = np.where(self.R == 0.0, slope * FLAT_BIAS_CURVATURE * whole.at_0, self.R)
        diagonal = H.diagonal() + flat
        return System(
            at.loss,
            diagonal,
            damped_factor(lambda: np.array(H, order="F"), diagonal, diagonal, DAMPINGS),
        )

    def verdict(self) -> tuple[Status, str] | None:
        """Return the status and reason to stop, or None."""
        run, limits = self.so_far, self.limits
        width = run.proven.relative_width
        reached = f"proven relative width {width:.2e} after {counted(run.steps, 'iteration')}"
        most = limits.max_iter or MOST_STEPS
        if width <= limits.tol:
            return Status.OPTIMAL, f"{reached}, {limits.tol:.2g} was requested"
        if limits.time_limit is not None and run_seconds() - self.started > limits.time_limit:
            return Status.TIME_LIMIT, f"the time limit of {limits.time_limit:g} s: {reached}"
        if run.steps >= most:
            return Status.ITERATION_LIMIT, f"the limit of {counted(most, 'iteration')}: {reached}"
        if run.stale >= STALE_STEPS:
            return (
                Status.NUMERICAL_FAILURE,
                f"no progress in {STALE_STEPS} iterations: {reached}, "
                f"{limits.tol:.2g} was requested",
            )
        return None

    def solution(self, status: Status, reason: str) -> PartitionedSolution:
        """Return the best point, with the reason to stop.

        Parameters
        ----------
        status : Status
            Final status.
        reason : str
            Sentence for the user.
        """
        run, d = self.so_far, self.whole.columns
        name = "newton" if self.whole.loss == "squared_hinge" else "huber"
        w, bias = run.best.v[:d], float(run.best.v[d:].sum())
        seconds = run_seconds() - self.started
        return PartitionedSolution(
            w, bias, run.proven, name, status, reason, run.steps, run.rounds, seconds
        )


# A point that overflows proves nothing, and ends the run.
@np.errstate(over="ignore", invalid="ignore")
def solve_partitions(
    sums: PartitionSums, whole: GlobalStats, limits: Limits
) -> PartitionedSolution:
    """Solve a problem whose points lie in partitions.

    Parameters
    ----------
    sums : PartitionSums
        Partitions.
    whole : GlobalStats
        Statistics common to all partitions.
    limits : Limits
        Limits; tol is a proven relative width. A callback and threads are not used.

    Returns
    -------
    PartitionedSolution
        Solution; it depends on the points alone, bit for bit, not on the partitions.

    Raises
    ------
    Lost
        If the partitions were gone before the first evaluation.
    """
    run = PartitionedRun(sums, whole, limits)
    try:
        at = run.look(np.zeros(len(whole.top)), _first(whole))
        while (over := run.verdict()) is None:
            if not at.loss.squared and _gradient_share(whole, at) <= at.smoothing_share:
                at = run.look(at.v, _sharper(whole, at, limits.tol))
            at = run.step(at)
        return run.solution(*over)
    except Lost as gone:
        if run.progress is None:
            raise
        return run.solution(Status.NUMERICAL_FAILURE, f"{gone}; the best point so far is returned")


def _first(whole: GlobalStats) -> SmoothLoss:
    """Return the loss at the start."""
    if whole.loss == "squared_hinge":
        return SQUARED_HINGE
    # A uniformly distributed column has a mean square of a third of its squared
    # maximum.
    stiffness = whole.C * float(whole.top @ whole.top) / 3
    least = STIFFEST_START / stiffness if stiffness > 0 and not whole.ranks else FIRST_SLOPE
    return smoothed_hinge(min(max(least, 1 / FARTHEST), FIRST_SLOPE))


def _gradient_share(whole: GlobalStats, at: PointBounds) -> float:
    """Return the contribution of the gradient to the gap.

    It is half the squared gradient in w, plus |gradient| in a free bias times an
    assumed slack of 1.
    """
    G, d = at.gradient, whole.columns
    return float(G[:d] @ G[:d]) / 2 + float(np.abs(G[d:]).sum())


def _sharper(whole: GlobalStats, at: PointBounds, tol: float) -> SmoothLoss:
    """Return the next loss.

    For pairs, the smoothing's contribution to the gap decreases with the square of its
    width, which determines the required width.
    """
    loss = at.loss
    if not whole.ranks:
        return replace(
            loss, slope=SLOPE_GROWTH * loss.slope, centres=(*loss.centres, (at.v, loss.slope))
        )
    wanted = SMOOTHING_LEFT * tol * at.interval.upper
    growth = math.sqrt(at.smoothing_share / wanted) if wanted > 0 else MOST_GROWTH
    return smoothed_hinge(min(max(growth, SLOPE_GROWTH), MOST_GROWTH) * loss.slope)
