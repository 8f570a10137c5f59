"""What is decided before the first step of Newton's method: which problems suit it, with which unknowns, and where it starts.

Its steps visit all rows at once, in a product with the features, where other solvers
visit rows one by one. "auto" therefore asks it first where points are many and features
are few, where pairs are many, and where the problem is stiff.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.newton.base import Unknowns
from equimargin.solvers.newton.in_features import Weights
from equimargin.solvers.newton.in_kernel import Coefficients
from equimargin.solvers.solution import Limits, Solution

MOST_POINTS = 1000
"""Points up to which a kernel without explicit features gets features computed from its Gram matrix, by its eigenvectors."""
FEWEST_ROWS = 1000
"""Points below which every solver is fast enough if the problem is not stiff.

Rows count in place of points where each point has many.
"""
MIN_STIFFNESS = 3e4
"""Stiffness, without a unit, above which steps on single rows are slower than Newton's.

Both take 10 to 100 ms there, for 40 to 900 points of 5 to 20 features. At 1e8 Newton's
method takes as long as before, and the other solvers take minutes.
"""
POINTS_PER_FEATURE = 2
"""Points for each feature that make features few beside points: the Hessian, features x features, then costs no more than K would."""
FEW_FEATURES = 2000
"""Features up to which the Hessian is cheap to factorise."""
ROWS_PER_POINT = 3
"""Rows for each point that make rows many, whatever the kernel: only labelled pairs are as many."""
SUBSAMPLE_DIVISOR = 20
"""A subsample has at least a twentieth of the points: a smaller one would hardly save time, and would lead less far."""
SUBSAMPLE_GAP = 0.03
"""Largest relative gap to which a subsample is solved: its optimum is no nearer to that of all points."""


class Subsample(NamedTuple):
    """When a solver first solves a part of the points, and how large that part is.

    Parameters
    ----------
    entries : int
        entries of the features from which on a part pays.
    points_per_feature : int
        How many points for each feature the part has.
    """

    entries: int
    points_per_feature: int


def in_features(problem: MarginProblem) -> bool:
    """Whether steps are in features of f: where the kernel has some, or where they can be computed because the points are few."""
    return problem.explicit is not None or problem.m <= MOST_POINTS


def unsuited_bias(problem: MarginProblem) -> Refusal | None:
    """A bias is not taken beside many points of a kernel that has no explicit features."""
    if in_features(problem) or not problem.bias:
        return None
    points = f"{problem.m:,} points of a kernel without explicit features"
    return Refusal(f"a bias beside {points}, more than {MOST_POINTS:,}", too_large=True)


def few_features(problem: MarginProblem) -> bool:
    """Whether features are few, by themselves and beside the points: a step of Newton's method then costs little."""
    Z = problem.explicit
    return Z is not None and Z.q <= FEW_FEATURES and Z.m >= POINTS_PER_FEATURE * Z.q


def tall(problem: MarginProblem) -> bool:
    """Whether a problem has many points and few features, or many rows on each point."""
    many_points = few_features(problem) and problem.m >= FEWEST_ROWS
    return many_points or problem.p >= max(FEWEST_ROWS, ROWS_PER_POINT * problem.m)


def stiff(problem: MarginProblem) -> bool:
    """Return True if the losses curve the objective of w much more than the norm of w does.

    The measure is P(0) mean K_ii / mean t_r^2. Columns in large units and a large C both increase
    it, and a step on a single row then moves w little. Problems of many features are left out:
    functions of small norm meet their rows.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    Z, rows = problem.explicit, problem.rows
    if Z is None or not few_features(problem):
        return False
    square = float(np.mean(rows.t**2)) if isinstance(rows, Tube) else 1.0
    return bool(problem.scale * float(Z.squares.mean()) >= MIN_STIFFNESS * square)


def suits_newton(problem: MarginProblem) -> bool:
    """Return True if "auto" asks Newton's method before solvers that visit single rows.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    """
    return tall(problem) or stiff(problem)


def unknowns_for(problem: MarginProblem, by_row: bool) -> Unknowns:
    """Features of f where there are some, coefficients otherwise.

    Parameters
    ----------
    problem : MarginProblem
        One that meets the REQUIREMENTS of newton or huber.
    by_row : bool
        Whether pairs of labels are looked at one by one.
    """
    return (Weights if in_features(problem) else Coefficients).of(problem, by_row)


def on_a_part(
    problem: MarginProblem,
    run: Callable[[MarginProblem, Limits, Point | None], Solution],
    limits: Limits,
    subsample: Subsample,
) -> Point | None:
    """A function to start from: a rough solution on some of the points, at a larger cost. None where the points are few.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    run : Callable[[MarginProblem, Limits, Point | None], Solution]
        The solver.
    limits : Limits
        Of the whole run; their time holds for the part, too.
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
    few = replace(problem, X=problem.X[points], rows=rows, C=C, weights=weights)
    found = run(few, Limits(min(SUBSAMPLE_GAP, 3 * Z.q / size), None, limits.time_limit), None)
    return few.own_point(found.point).with_multipliers(None)
