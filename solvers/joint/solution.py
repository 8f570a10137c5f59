"""Solution of the multiclass machine of Crammer and Singer, with its proven interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.joint.problem import JointPoint, JointProblem
from equimargin.solvers.solution import IntervalSolution, Status, relative_gap


@dataclass(frozen=True, eq=False)
class JointSolution(IntervalSolution):
    """Best point of a run.

    Parameters
    ----------
    problem : JointProblem
        Problem that was solved.
    point : JointPoint
        Point of smallest gap.
    solver, status, reason, iterations, seconds
        As in `Solution`; iterations are sweeps over the points.
    """

    problem: JointProblem
    point: JointPoint
    solver: str
    status: Status
    reason: str
    iterations: int
    seconds: float

    @property
    def w(self) -> Array:
        """Weights, a row for every class, shape (k, q)."""
        return self.point.W.T

    @property
    def dual(self) -> Array:
        """Multipliers T, shape (m, k)."""
        return self.problem.multipliers(self.point.S)

    @cached_property
    def interval(self) -> Interval:
        """Interval of the optimum that the point proves."""
        return self.problem.interval(self.point.S, self.point.W)

    @property
    def relative_gap(self) -> float:
        """|primal - dual| over S = max(|primal|, |dual|, 1e-4 P(0)), float64."""
        return relative_gap(self.point.primal, self.point.dual, self.problem.scale)
