"""Result of a run for a `SparseWeightProblem`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.solvers.solution import IntervalSolution, Status, relative_gap
from equimargin.solvers.sparse_weights.problem import SparseWeightProblem


@dataclass(frozen=True, eq=False)
class SparseWeightSolution(IntervalSolution):
    """Result of a run for a `SparseWeightProblem`.

    Parameters
    ----------
    problem : SparseWeightProblem
        Problem that was solved.
    solver : str
        Name of the solver.
    point : OneNormPoint
        Best point: weights w as `x` and multipliers a as `u`.
    status : Status
        Reason to stop.
    reason : str
        Reason to stop, as text.
    iterations : int
        Sweeps.
    seconds : float
        Wall time in seconds.
    """

    problem: SparseWeightProblem
    solver: str
    point: OneNormPoint
    status: Status
    reason: str
    iterations: int
    seconds: float

    @property
    def w(self) -> Array:
        """Weights, shape (d,)."""
        assert self.point.x is not None
        return self.point.x

    @property
    def dual(self) -> Array:
        """Multipliers a of the rows, shape (m,); a multiple of them is feasible."""
        assert self.point.u is not None
        return self.point.u

    @cached_property
    def interval(self) -> Interval:
        """Interval of the optimum that the point proves."""
        return self.problem.interval(self.point)

    @property
    def relative_gap(self) -> float:
        """|primal - dual| over max(|primal|, |dual|, 1e-4 P(0)), float64."""
        return relative_gap(*self.problem.values(self.point), self.problem.scale)
