"""Solution of a problem whose points lie in partitions, with its proven interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.solution import AnySolution, Status


@dataclass(frozen=True, eq=False)
class PartitionedSolution(AnySolution):
    """Solution with w, b, and the interval that the sums over all partitions prove.

    Parameters
    ----------
    w : ndarray of shape (d,)
        Weights.
    bias : float
        b, 0 without an intercept.
    interval : Interval
        Proven interval of the optimum.
    solver, status, reason, iterations, seconds
        As in `Solution`.
    rounds : int
        Number of requests to all partitions.
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
        """True if the requested accuracy was reached."""
        return self.status is Status.OPTIMAL

    def decision_function(self, X: Any) -> Any:
        """Return f(x) + b, shape (n,); a Dask array for Dask points.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, of numpy or of Dask.
        """
        return X @ self.w + self.bias
