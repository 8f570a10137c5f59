"""Linear problems of few points with many features, solved through their Gram matrix.

    f = sum_i beta_i x_i,    f at the points = K beta,    K = X X'

An optimal f is a combination of the m points, so that m coefficients replace the d
weights. K costs one product of X with itself, and from then on a product with K takes
m^2 multiplications, where one with X and one with X' take 2 m d.

K has rounded entries: with large costs, or points far from the origin, products with K
lose digits that products with X keep. Such problems are solved in the features. For all
others the gap is computed again with X, and if it is too large, or K allowed no further
progress, the run continues in the features, from the point of the coefficients.

References
----------
Document K (Kuo, Lee and Lin), section 3.3, for l << n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from equimargin.formulations.bounds.evaluate import relative_rounding_error
from equimargin.formulations.kernels.kernel import precomputed
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.solution import Limits, Solution

MOST_POINTS = 1000
"""Maximum number of points of a problem that is solved through its Gram matrix, 8 MB.

A matrix of this size is factorised in tens of milliseconds by any solver.
"""
ENTRIES_PER_PAIR = 4
"""Minimum number of stored entries of X per entry of K at which features are many."""

Run = Callable[[MarginProblem, Limits, Point | None], Solution]


def through_gram(run: Run) -> Run:
    """Make a solver solve problems of few points and many features by their Gram matrix.

    Parameters
    ----------
    run : callable
        Solver of margin problems, called with a problem, limits and a start.

    Returns
    -------
    callable
        Solver of the same problems; its point has the weights of the features.
    """

    @wraps(run)
    def solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
        start = warm_start or Point()
        # A run in coefficients cannot begin at weights alone.
        in_weights_alone = start.w is not None and start.beta is None and start.alpha is None
        if (
            in_weights_alone
            or not has_few_points(problem)
            or relative_rounding_error(problem) > limits.tol
        ):
            return run(problem, limits, warm_start)
        reduced = replace(
            problem,
            X=problem.gram.dense,
            kernel=precomputed(),
            shift=0.0,
            feature_names=None,
        )
        found = run(reduced, limits, replace(start, w=None) if warm_start else None)
        point = _in_weights(problem, reduced.own_point(found.point))
        found = replace(found, problem=problem, point=point)
        if found.relative_gap <= limits.tol or limits.ended(found.status):
            return found
        again = run(problem, limits.left(found.seconds, found.iterations or 0), point)
        return replace(
            again,
            iterations=(found.iterations or 0) + (again.iterations or 0),
            seconds=found.seconds + again.seconds,
            trajectory=found.trajectory + again.trajectory,
        )

    return solve


def has_few_points(problem: MarginProblem) -> bool:
    """Return True if products with K are cheaper than those with X.

    Problems with hard rows are excluded: a proof that no function satisfies them needs
    the features.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    Z, m = problem.explicit, problem.m
    return (
        Z is not None
        and m <= MOST_POINTS
        and Z.entries >= ENTRIES_PER_PAIR * m**2
        and not problem.hard.any()
    )


def _in_weights(problem: MarginProblem, point: Point) -> Point:
    """Return a point of coefficients as one of weights w = Z'beta."""
    if point.beta is None or problem.explicit is None:
        return point
    return replace(point, w=problem.explicit.rdot(point.beta), beta=None)
