"""Newton's method for problems with squared hinge or huberised hinge.

    min over (w, b)   1/2 |w|^2 + sum_r c_r phi(u_r),    u = t - A Z (w, b)

The objective is piecewise quadratic: once the pieces are right the next step ends at
the optimum, and alpha_r = c_r phi'(u_r) are its multipliers. Steps are in the features
of f if there are any (`in_features.py`), and otherwise in the kernel's norm
(`in_kernel.py`).

References
----------
O. L. Mangasarian. A finite Newton method for classification. Optimization Methods and
Software 17 (2002).

S. S. Keerthi, D. DeCoste. A modified finite Newton method for fast solution of large
scale linear SVMs. JMLR 6 (2005).

R. H. Byrd, G. M. Chin, W. Neveitt, J. Nocedal. On the use of stochastic Hessian
information in optimization methods for machine learning. SIAM Journal on Optimization
21 (2011), for the Hessian of a part of the rows.
"""

from __future__ import annotations

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.newton.base import step
from equimargin.solvers.newton.start import (
    Subsample,
    few_features,
    on_a_part,
    suits_newton,
    unknowns_for,
    unsuited_bias,
)
from equimargin.solvers.products.few_points import through_gram
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution

SQUARED_HINGE_SUBSAMPLE = Subsample(entries=1_000_000, points_per_feature=100)
"""Subsample of the points that is solved first for a squared hinge.

Few steps are needed from any start: only large problems gain.
"""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("squared_hinge", "huberised_hinge"),
    why={"hinge": "has a kink"},
    no_hard_rows="whose loss has no derivative",
    convex=True,
    also=unsuited_bias,
)


def _cheap(problem: MarginProblem) -> bool:
    """Return True if a step is cheap relative to the sweeps of other solvers.

    For few labelled pairs other solvers return the multipliers as an array, which is
    more convenient than the implicit multipliers of this one.
    """
    return (few_features(problem) and not isinstance(problem.rows, Pairs)) or suits_newton(problem)


@solver(
    "newton",
    "svm.l2",
    "svm.nobias_l2",
    "svr.l2",
    "rank.l2",
    "svm.huberised_hinge",
    algorithm="finite Newton method in the features of f, for smooth losses",
    requires=REQUIREMENTS,
    first=_cheap,
)
@through_gram
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Take Newton steps until the gap is small enough."""
    progress = DualConvergenceMonitor("newton", problem, limits, limits.max_iter or 1000)
    start = warm_start or on_a_part(problem, _solve, limits, SQUARED_HINGE_SUBSAMPLE) or Point()
    unknowns = unknowns_for(problem, by_row=False)
    seen = unknowns.look(unknowns.start(start), problem.phi)
    stops = unknowns.show(seen, progress)
    while not stops:
        seen = unknowns.look(step(unknowns, seen, progress), problem.phi)
        stops = unknowns.show(seen, progress)
    return progress.solution()
