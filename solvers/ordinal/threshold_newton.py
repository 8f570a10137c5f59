"""Newton's method for margin problems with thresholds, on w and all thresholds."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.kernels.features import explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.levels import Levels
from equimargin.solvers.ordinal.machine import STEPS, with_all_thresholds
from equimargin.solvers.ordinal.newton import newton
from equimargin.solvers.progress import ConvergenceMonitor
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements, without_levels
from equimargin.solvers.solution import Limits, Solution

MOST_FEATURES = 2000
"""Maximum number of features; the Hessian has a row and a column for each."""


def _many_features(problem: MarginProblem) -> Refusal | None:
    if not isinstance(problem.rows, Levels):
        return without_levels(problem)
    if problem.explicit is not None and problem.explicit.q > MOST_FEATURES:
        return Refusal(
            f"{problem.explicit.q:,} features, more than the {MOST_FEATURES:,} of a dense Hessian",
            too_large=True,
        )
    return None


@solver(
    "threshold_newton",
    "ord.implicit",
    "ord.implicit_l2",
    algorithm="Newton's method on w and the thresholds, hinges smoothed around their multipliers",
    requires=Requirements(
        MarginProblem,
        losses=("hinge", "squared_hinge"),
        bias="and thresholds are what this method is for",
        no_hard_rows="whose loss has no derivative",
        linear=True,
        single_entries=True,
        thresholds=np.inf,
        also=_many_features,
    ),
)
def _solve(problem: MarginProblem, limits: Limits) -> Solution | Point:
    """Minimise over w and b, starting at 0, on the points of positive cost."""
    kept = np.flatnonzero(problem.group_costs)
    if not len(kept):
        return problem.origin
    Z, y, run = (
        explicit(problem.kernel, problem.X[kept]),
        np.asarray(problem.rows.y)[kept],
        _ThresholdMonitor(problem, kept, limits),
    )
    assert Z is not None, "a kernel without explicit features is refused before"
    newton(with_all_thresholds(Z, y, problem.group_costs[kept], problem.T, problem.squared), run)
    return run.judge.solution()


class _ThresholdMonitor:
    """Monitor of a run on the points `kept`; converts b to the sign of f(x) + b."""

    def __init__(self, problem: MarginProblem, kept: Index, limits: Limits) -> None:
        self.problem, self.kept = problem, kept
        self.judge = ConvergenceMonitor(
            "threshold_newton", problem, limits, limits.max_iter or STEPS
        )

    def over(
        self, G: Array, w: Array, b: Array, values: tuple[float, float], iterations: int
    ) -> bool:
        """Record a point; return True if the run is over.

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
        alpha = np.zeros((self.problem.T, self.problem.m))
        alpha[:, self.kept] = np.abs(G).T
        point = Point(w=w, b=-b if self.problem.T > 1 else -float(b[0]), alpha=alpha.ravel())
        # A dual value of -inf was not computed because hinges are still smoothed. The
        # step counts as progress.
        return self.judge.weigh(point, *values, iterations, moved=not np.isfinite(values[1]))
