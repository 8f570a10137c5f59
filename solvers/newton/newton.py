"""Newton's method for margin problems with the squared hinge.

    min over (w, b)   1/2 |w|^2 + sum_r c_r (u_r)_+^2,    u = t - A Z (w, b)

The objective is piecewise quadratic: once the pieces are right the next step ends at the optimum, and alpha_r = 2 c_r (u_r)_+ are its
multipliers. Steps are in the features of f where there are some (`in_features.py`), in the norm of the kernel's space where there are
none (`in_kernel.py`).

Source: O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002); S. S. Keerthi,
D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 6 (2005); R. H. Byrd, G. M. Chin,
W. Neveitt, J. Nocedal, On the use of stochastic Hessian information in optimization methods for machine learning, SIAM Journal on
Optimization 21 (2011), for the Hessian of a part of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.losses import SQUARED_HINGE
from equimargin.solvers.needs import Needs
from equimargin.solvers.newton.base import Descent
from equimargin.solvers.newton.in_features import FeatureDescent
from equimargin.solvers.newton.in_kernel import KernelDescent
from equimargin.solvers.newton.tall import tall
from equimargin.solvers.progress import Progress
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits, Solution

MOST_POINTS = 1000
"""A kernel without explicit features is taken up to so many points, whose Gram matrix is factorised."""
WORTH = 1_000_000
"""For features of so many entries a start is sought on some of the points: Newton's method takes few steps anyway."""
PART, ROUGH, STAGE = 100, 0.03, 20
"""It is sought on so many points a column, or one in so many, to such a gap, or to a few columns over these points."""


def unsuited_bias(problem: MarginProblem) -> Refusal | None:
    """A bias is not taken beside many points of a kernel that has no explicit features."""
    if problem.explicit is not None or problem.m <= MOST_POINTS or not problem.bias:
        return None
    points = f"{problem.m:,} points of a kernel without explicit features"
    return Refusal(f"a bias beside {points}, more than {MOST_POINTS:,}", too_large=True)


NEEDS = Needs(MarginProblem, no_hinge="has a kink", no_hard_rows="whose loss has no derivative", convex=True, also=unsuited_bias)


@solver(
    "newton",
    algorithm="finite Newton method in the features of f, for the squared hinge",
    families=("svm.l2", "svm.nobias_l2", "svr.l2", "rank.l2"),
    needs=NEEDS,
    first=tall,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Newton steps until the gap is small enough."""
    progress = Progress("newton", problem, limits, limits.max_iter or 1000)
    descent = descent_for(problem, warm_start or on_a_part(problem, _solve, limits, WORTH, PART), by_row=False)
    over = descent.show(progress, SQUARED_HINGE)
    while not over:
        descent.step(SQUARED_HINGE, progress)
        over = descent.show(progress, SQUARED_HINGE)
    return progress.solution()


def descent_for(problem: MarginProblem, start: Point | None, by_row: bool) -> Descent:
    """In the features of f where it has some or few points, in the norm of its space otherwise; the parameters are those of Descent."""
    kind = FeatureDescent if problem.explicit is not None or problem.m <= MOST_POINTS else KernelDescent
    return kind(problem, start, by_row)


def on_a_part(
    problem: MarginProblem, run: Callable[[MarginProblem, Limits, Point | None], Solution], limits: Limits, worth: int, part: int
) -> Point | None:
    """A function to start from: a rough solution on some of the points at a larger cost, where points are many; None where they are few.

    Parameters
    ----------
    problem : any margin problem.  run : the solver.  limits : of which the time counts.  worth : entries of features that make it pay.
    part : points a column to solve on.
    """
    Z = problem.explicit
    if Z is None or Z.m * Z.q < worth:
        return None
    size = max(part * Z.q, Z.m // STAGE)
    stride = Z.m // size
    if stride < 2:
        return None
    points = problem.rows.spaced(stride)
    rows, index = problem.rows.part(points)
    weights = None if problem.weights is None else problem.weights[index]
    C = problem.C * (problem.p / max(rows.p, 1))
    if not np.isfinite(C):
        return None
    few = replace(problem, X=problem.X[points], rows=rows, C=C, weights=weights)
    found = run(few, Limits(min(ROUGH, 3 * Z.q / size), None, limits.time_limit), None)
    return few.own_point(found.point).with_multipliers(None)
