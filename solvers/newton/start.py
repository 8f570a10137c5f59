"""Setup of Newton's method: applicability, choice of variables, initial point.

Its steps visit all rows at once, in a product with the features; other solvers visit
rows one by one. "auto" therefore prefers it for many points with few features, for many
pairs, and for stiff problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.solvers.newton.base import Unknowns
from equimargin.solvers.newton.in_features import Weights
from equimargin.solvers.newton.in_kernel import Coefficients
from equimargin.solvers.solution import Limits, Solution

MOST_POINTS = 1000
"""Largest problem, in points, for which features are computed from the Gram matrix.

They are computed by its eigenvectors, if the kernel has no explicit ones.
"""
FEWEST_ROWS = 1000
"""Problem size, in points, below which any solver is fast unless the problem is stiff.

Rows are counted instead of points if there are many per point.
"""
FEWEST_SWEPT_POINTS = 2000
"""Points of a classification without a bias below which sweeps of single rows are fast."""
MIN_STIFFNESS = 3e4
"""Stiffness, without a unit, above which steps on single rows are slower than Newton's.

At this value both take 10 to 100 ms, for 40 to 900 points of 5 to 20 features. At 1e8
Newton's method takes no longer, and the other solvers take minutes.
"""
MIN_TUBE_STIFFNESS = 30.0
"""Value of MIN_STIFFNESS for a tube without a bias, whose sweeps visit two rows a point.

Below it both take about 1 ms, for 40 to 900 points of 3 to 100 features, and sweeps to a
gap of 1e-12 were at most 500. From 200 on they can be more than 1,000, the default limit
of `LinearSVR`.
"""
POINTS_PER_FEATURE = 2
"""Minimum ratio of points to features at which features count as few.

The Hessian, features x features, then costs no more than K would.
"""
FEW_FEATURES = 2000
"""Maximum number of features of a Hessian that is cheap to factorise."""
ROWS_PER_POINT = 3
"""Minimum ratio of rows to points at which rows count as many, for any kernel.

Only pairs of labels reach it.
"""
SUBSAMPLE_DIVISOR = 20
"""Maximum ratio of all points to those of a subsample.

A smaller subsample would barely save time, and its solution would be less useful.
"""
SUBSAMPLE_GAP = 0.03
"""Maximum relative gap of a subsample: its optimum is no closer to that of all points."""


class Subsample(NamedTuple):
    """Condition for solving a subsample first, and the size of that subsample.

    Parameters
    ----------
    entries : int
        Minimum number of entries of the features.
    points_per_feature : int
        Number of points per feature in the subsample.
    """

    entries: int
    points_per_feature: int


def in_features(problem: MarginProblem) -> bool:
    """Return True if steps are in features of f.

    The kernel has explicit ones, or they are computed because the points are few.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    return problem.explicit is not None or problem.m <= MOST_POINTS


def unsuited_bias(problem: MarginProblem) -> Refusal | None:
    """Return the refusal of a bias with many points and no explicit features, or None.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    if in_features(problem) or not problem.bias:
        return None
    points = f"{problem.m:,} points of a kernel without explicit features"
    return Refusal(f"a bias with {points}, more than {MOST_POINTS:,}", too_large=True)


def few_features(problem: MarginProblem) -> bool:
    """Return True if features are few, also relative to the points.

    A step of Newton's method is then cheap.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    Z = problem.explicit
    return Z is not None and Z.q <= FEW_FEATURES and Z.m >= POINTS_PER_FEATURE * Z.q


def tall(problem: MarginProblem) -> bool:
    """Return True if points are many and features few, or rows per point are many.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    swept = isinstance(problem.rows, Signed) and not problem.bias
    fewest = FEWEST_SWEPT_POINTS if swept else FEWEST_ROWS
    many_points = few_features(problem) and problem.m >= fewest
    return many_points or problem.p >= max(FEWEST_ROWS, ROWS_PER_POINT * problem.m)


def stiff(problem: MarginProblem) -> bool:
    """Return True if the losses curve the objective of w much more than its norm does.

    The measure is P(0) mean K_ii / mean t_r^2, with P(0) the objective at f = 0.
    Columns in large units and a large C both increase it, and a step on a single row
    then moves w little. Problems of many features are excluded: functions of small norm
    satisfy their rows.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    Z, rows = problem.explicit, problem.rows
    if Z is None or not few_features(problem):
        return False
    square, least = 1.0, MIN_STIFFNESS
    if isinstance(rows, Tube):
        square = float(np.mean(rows.t**2))
        least = MIN_STIFFNESS if problem.bias else MIN_TUBE_STIFFNESS
    return bool(problem.scale * float(Z.squares.mean()) >= least * square)


def suits_newton(problem: MarginProblem) -> bool:
    """Return True if "auto" prefers Newton's method to solvers that visit single rows.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    return tall(problem) or stiff(problem)


def unknowns_for(problem: MarginProblem, by_row: bool) -> Unknowns:
    """Return features of f as variables if there are any, and coefficients otherwise.

    Parameters
    ----------
    problem : MarginProblem
        Problem that satisfies the REQUIREMENTS of newton or huber.
    by_row : bool
        True to evaluate pairs of labels one by one.
    """
    return (Weights if in_features(problem) else Coefficients).of(problem, by_row)


def on_a_part(
    problem: MarginProblem,
    run: Callable[[MarginProblem, Limits, Point | None], Solution],
    limits: Limits,
    subsample: Subsample,
) -> Point | None:
    """Return an initial function from an approximate solution on a subsample.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    run : callable
        Solver, called with a problem, limits and None.
    limits : Limits
        Limits of the whole run; its time limit applies to the subsample.
    subsample : Subsample
        Condition and size of the subsample.

    Returns
    -------
    Point or None
        Solution with C scaled up by the ratio of the rows; None if the points are few.
    """
    Z = problem.explicit
    if Z is None or Z.m * Z.q < subsample.entries:
        return None
    size = max(subsample.points_per_feature * Z.q, Z.m // SUBSAMPLE_DIVISOR)
    stride = Z.m // size
    if stride < 2:
        return None
    points = problem.rows.spaced(stride)
    rows, index = problem.rows.part(points)
    weights = None if problem.weights is None else problem.weights[index]
    C = problem.C * (problem.p / max(rows.p, 1))
    if not np.isfinite(C):
        return None
    part = replace(problem, X=problem.X[points], rows=rows, C=C, weights=weights)
    solution = run(part, Limits(min(SUBSAMPLE_GAP, 3 * Z.q / size), None, limits.time_limit), None)
    return part.own_point(solution.point).with_multipliers(None)
