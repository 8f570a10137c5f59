"""A user-defined solver
=====================

Dual coordinate ascent for the hinge without a bias, checked against its formulations.

    max  t'alpha - 1/2 alpha'Q alpha    s.t.  0 <= alpha_r <= c_r        Q = A K A'

A step maximises over one multiplier: alpha_r + (t - Q alpha)_r / Q_rr, clipped to its
bounds.
Run it: ``python examples/solvers/own_solver.py``. A fault (try Q_rr / 2) is reported.
"""

import numpy as np

from equimargin.formulations import MarginProblem, Point
from equimargin.solvers import Limits, Requirements, Solution, solver
from equimargin.solvers.progress import DualConvergenceMonitor, initial_multipliers
from equimargin.testing import check_solver

SMALLEST_CURVATURE = 1e-300
"""Value that replaces Q_rr = 0, so that the multiplier moves to one of its bounds."""


@solver(
    "ascent",
    "svm.nobias",
    algorithm="dual coordinate ascent, one row after the other",
    requires=Requirements(
        MarginProblem,
        losses=("hinge",),
        why={"squared_hinge": "has no box in its dual"},
        no_bias="so that multipliers cannot move one by one",
        no_hard_rows="whose multipliers have no bound",
        single_entries=True,
        convex=True,
        most_points=2000,
    ),
)
def ascent(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Sweep over all rows; compute the gap after each sweep."""
    progress = DualConvergenceMonitor("ascent", problem, limits, limits.max_iter or 10_000)
    A, t, c = problem.rows.matrix, problem.rows.t, problem.costs
    Q = A @ problem.gram.dense @ A.T
    alpha = np.clip(initial_multipliers(warm_start or Point(), problem), 0.0, c)
    sweeps = 0
    while not progress.show(alpha, sweeps):
        slope = t - Q @ alpha
        for r in range(problem.p):
            newton = slope[r] / max(Q[r, r], SMALLEST_CURVATURE)
            step = np.clip(alpha[r] + newton, 0.0, c[r]) - alpha[r]
            alpha[r] += step
            slope -= step * Q[r]
        sweeps += 1
    return progress.solution()


if __name__ == "__main__":
    check_solver("ascent")
    print("ascent conforms")
