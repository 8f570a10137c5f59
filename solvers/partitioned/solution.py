"""What is handed back for a problem whose points lie in partitions: w, b, and the interval that the sums over all partitions prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.solution import AnySolution, Status


@dataclass(frozen=True, eq=False)
class PartitionedSolution(AnySolution):
    """A solver's answer.

    Parameters
    ----------
    w : ndarray of shape (d,)
        weights.
    bias : float
        b, 0 where there is none.
    interval : Interval
        Proven to hold the optimum.
    rounds : int
        How often all partitions were asked.
    solver, status, reason, iterations, seconds
        As in `Solution`.
    """

    w: Array
    bias: float
    interval: Interval
    solver: str
    status: Status
    reason: str
    iterations: int
    rounds: int
    seconds: float

    @property
    def lower(self) -> float:
        """Proven lower bound of the optimum."""
        return self.interval.lower

    @property
    def upper(self) -> float:
        """Proven upper bound of the optimum, and of the objective at (w, b)."""
        return self.interval.upper

    @property
    def ok(self) -> bool:
        """Whether the requested accuracy was reached."""
        return self.status is Status.OPTIMAL

    def decision_function(self, X: Any) -> Any:
        """f(x) + b, (n,), for points X (n, d) of numpy or of Dask, whose answer is then a Dask array."""
        return X @ self.w + self.bias
