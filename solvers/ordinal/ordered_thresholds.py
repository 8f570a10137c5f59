"""Newton's method for the two families of the documents whose thresholds must be in order: `ord.explicit` and `ord.sum`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from equimargin.formulations.documents.ordered_thresholds import weights_of
from equimargin.formulations.documents.sum_of_margins import unbounded
from equimargin.formulations.drawing import Data
from equimargin.formulations.kernels.kernel import linear
from equimargin.formulations.program_problem import ProgramProblem
from equimargin.solvers.interrupt import seconds_left
from equimargin.solvers.ordinal.chain import Neighbours, SumOfMargins
from equimargin.solvers.ordinal.machine import OrdinalFit, OrdinalProblem, OrdinalRun
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits, Status

CLOSE = 1e-8
"""Relative gap that the points of Newton's method have at most: they are made exactly feasible, and worth an exact value."""
ASKED = 1e-12
"""Relative gap that Newton's method is asked for: gaps are relative to P(0) where that is much larger than the optimum, and its last steps
are the fastest.
"""


@solver(
    "ord.explicit.newton",
    "ord.explicit",
    algorithm="Newton's method, hinges and the order smoothed around their multipliers",
    reference=False,
)
def explicit_newton(problem: ProgramProblem) -> Data:
    """Return the optimal w and thresholds."""
    return solved(problem.data, Neighbours)


@solver("ord.sum.newton", "ord.sum", algorithm="Newton's method, hinges and the order smoothed around their multipliers", reference=False)
def by_newton(problem: ProgramProblem) -> Any:
    """Return the optimal w and ends; -inf where an end goes to infinity."""
    d = problem.data
    if unbounded(d):
        return -np.inf
    found = solved(d, SumOfMargins)
    return {"w": found["w"], "a": found["b"][::2], "b": found["b"][1::2]}


def solved(d: Data, kind: Callable[..., OrdinalProblem]) -> Data:
    """Return the w and the thresholds of Newton's method on the points that have a weight.

    Raises
    ------
    TimeoutError : a run that its time limit ended, which is that of the caller who waits for it.
    ValueError : another run that ended before it reached its accuracy.
    """
    kept = np.flatnonzero(weights_of(d))
    X, y = np.asarray(d["X"])[kept], np.asarray(d["y"], dtype=np.int64)
    machine = kind(X, y[kept], d["C"] * weights_of(d)[kept], linear(), levels=int(y.max()) + 1)
    run = OrdinalRun(machine, Limits(ASKED, time_limit=seconds_left()))
    newton(machine, run)
    fit = _reached(run.fit())
    return {"w": fit.w, "b": fit.b}


def _reached(fit: OrdinalFit) -> OrdinalFit:
    """Return the fit, if it has reached its accuracy."""
    if fit.gap <= CLOSE:
        return fit
    if fit.status is Status.TIME_LIMIT:
        raise TimeoutError(f"no accurate point within {fit.seconds:.3g} s; the relative gap is {fit.gap:.2g}")
    raise ValueError(f"{fit.status.sentence} {fit.reason}; the relative gap is {fit.gap:.2g}")
