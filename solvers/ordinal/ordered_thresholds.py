"""Newton's method for families with ordered thresholds, `ord.explicit` and `ord.sum`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.documents.ordered_thresholds import get_weights
from equimargin.formulations.documents.sum_of_margins import unbounded
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.interrupt import seconds_left
from equimargin.solvers.ordinal.machine import (
    STEPS,
    Levels,
    OrdinalProblem,
    with_intervals,
    with_neighbours,
)
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import relative_gap

CLOSE = 1e-8
"""Largest relative gap of an accepted point of Newton's method.

The referee then makes the point exactly feasible and computes its exact objective.
"""
ASKED = 1e-12
"""Relative gap requested of Newton's method.

It is this small because gaps are relative to P(0), the objective at f = 0, if that is
much larger than the optimum, and because Newton's last steps converge fastest.
"""


@solver(
    "ord.explicit.newton",
    "ord.explicit",
    algorithm="Newton's method, hinges and the order smoothed around their multipliers",
    reference=False,
)
def explicit_newton(problem: ProgramProblem) -> Data:
    """Return the optimal w and thresholds.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family `ord.explicit`.
    """
    return solved(problem.data, with_neighbours)


@solver(
    "ord.sum.newton",
    "ord.sum",
    algorithm="Newton's method, hinges and the order smoothed around their multipliers",
    reference=False,
)
def by_newton(problem: ProgramProblem) -> Any:
    """Return the optimal w and interval endpoints; -inf if an endpoint diverges.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family `ord.sum`.
    """
    d = problem.data
    if unbounded(d):
        return -np.inf
    point = solved(d, with_intervals)
    return {"w": point["w"], "a": point["b"][::2], "b": point["b"][1::2]}


class OrderedRun:
    """Best point of a run, which ends at the gap ASKED, after STEPS, or out of time.

    Parameters
    ----------
    machine : OrdinalProblem
        Problem being solved.

    Attributes
    ----------
    w : ndarray of shape (q,)
        Weights.
    b : ndarray of shape (T,)
        Ordered thresholds.
    gap : float
        Relative gap.
    """

    def __init__(self, machine: OrdinalProblem) -> None:
        self.at_0, self.gap = float(machine.C.sum()), np.inf
        self.w = self.b = np.zeros(0)

    def over(
        self, G: Array, w: Array, b: Array, values: tuple[float, float], iterations: int
    ) -> bool:
        """Keep a point if it is the best one; return True if the run is over.

        Parameters
        ----------
        G : ndarray of shape (n, T)
            Signed multipliers.
        w : ndarray of shape (q,)
            Weights.
        b : ndarray of shape (T,)
            Ordered thresholds.
        values : tuple[float, float]
            Primal and dual objective.
        iterations : int
            Iterations so far.
        """
        gap = relative_gap(*values, self.at_0)
        if gap < self.gap or not iterations:
            self.w, self.b, self.gap = w, b, gap
        return gap <= ASKED or iterations >= STEPS or _late()


def solved(d: Data, kind: Callable[[Explicit, Levels, Array, int], OrdinalProblem]) -> Data:
    """Return Newton's w and thresholds for the points of positive weight.

    Parameters
    ----------
    d : Data
        Data of the family.
    kind : callable
        Constructor of the problem: `with_neighbours` or `with_intervals`.

    Raises
    ------
    TimeoutError
        If the caller's time limit ended the run.
    ValueError
        If the run ended otherwise before it reached its accuracy.
    """
    kept = np.flatnonzero(get_weights(d))
    X, y = np.asarray(d["X"])[kept], np.asarray(d["y"], dtype=np.int64)
    machine = kind(Explicit(X, False), y[kept], d["C"] * get_weights(d)[kept], int(y.max()))
    run = OrderedRun(machine)
    newton(machine, run)
    if run.gap <= CLOSE:
        return {"w": run.w, "b": run.b}
    if _late():
        raise TimeoutError(f"time ran out; the relative gap is {run.gap:.2g}")
    raise ValueError(
        f"no accurate point in {STEPS} steps of Newton's method; the relative gap is {run.gap:.2g}"
    )


def _late() -> bool:
    """Return True if the caller's time limit has passed."""
    left = seconds_left()
    return left is not None and left < 0
