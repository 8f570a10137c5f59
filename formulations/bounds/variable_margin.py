"""Margin problems whose margin rho is a variable: nu-SVC, nu-SVR and the one-class SVM.

    min over f, b, rho    1/2 |f|^2 + sum_r c_r (t_r + rho - (A f)_r - s_r b)_+ - N rho
    max over alpha        t'alpha - 1/2 |A'alpha|_K^2
                          0 <= alpha <= c,    s'alpha = 0,    1'alpha = N

N is nu times the sum of the costs of all points, less a rounding error of nu that makes
N infeasible. Classes have t = 0 and rho >= 0, and 1'alpha >= N has the same optimum. A
tube has its targets at width 0 and rho = -epsilon <= 0, and 1'alpha <= N. Without a
bias, s'alpha = 0 is absent. At a given rho this is a `MarginProblem` minus N rho, whose
interval bounds the optimum from above; alpha bounds it from below.

The sum of exactly feasible alpha may miss N by a rounding error d. The optimum is a
concave function of N with the slope -rho, so that the bound then decreases by d |rho|,
for any bound of an optimal |rho|:

* classes: the losses of each sign have a best level at or below the largest s f of its
  rows, unless N is infeasible, so that rho <= max |f| <= N max K_ii;
* a tube: N epsilon is at most the optimum, which is at most N times half the range of y,
  or N max |y| without a bias, by f = 0.

References
----------
B. Schölkopf, A. Smola, R. Williamson, P. Bartlett, New support vector algorithms,
Neural Computation 12 (2000); C.-C. Chang and C.-J. Lin, Training nu-support vector
classifiers, Neural Computation 13 (2001).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import cast

import numpy as np

from equimargin.formulations.bounds.intervals import OUTWARD, Interval, dual_value, interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import (
    add_rounded,
    multiply_rounded,
    round_toward,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import Signed, Tube

ROUNDED_NU = Fraction(1, 2**50)
"""Relative rounding error of a nu that a user has computed."""
EQUAL = 1e-14
"""Mean square distance of points, relative to mean |K_ii|, that is rounding error."""


def set_margin(problem: MarginProblem, rho: float) -> MarginProblem:
    """Return a classification or regression with the margin rho.

    Parameters
    ----------
    problem : MarginProblem
        Problem with rows of classes or of a tube.
    rho : float
        Margin: the target of classes, minus the half width of a tube.
    """
    rows: Signed | Tube = (
        Tube(problem.rows.y, -rho)
        if isinstance(problem.rows, Tube)
        else Signed(problem.rows.y, rho)
    )
    return replace(problem, rows=rows)


def read_margin(problem: MarginProblem) -> float:
    """Return the margin rho of a problem.

    Parameters
    ----------
    problem : MarginProblem
        Problem with rows of classes or of a tube.
    """
    rows = problem.rows
    return -rows.epsilon if isinstance(rows, Tube) else cast(Signed, rows).target


def sum_multipliers(problem: MarginProblem, nu: float) -> Fraction:
    """Return N, nu times the sum of the costs C x weight of all points, without rounding.

    An N that is above `largest_sum` by a rounding error of nu is `largest_sum`.

    Parameters
    ----------
    problem : MarginProblem
        Problem of finite costs, at any margin.
    nu : float
        Share of the costs.
    """
    total = Fraction(nu) * Fraction(problem.C) * _total(problem.unit_weights[: problem.m])
    most = largest_sum(problem)
    return most if most < total <= most * (1 + ROUNDED_NU) else total


def largest_sum(problem: MarginProblem) -> Fraction:
    """Return the largest feasible N, without rounding.

    Parameters
    ----------
    problem : MarginProblem
        Problem of finite costs, at any margin.
    """
    weights, s = problem.unit_weights, problem.rows.s
    sums = [_total(weights[s > 0]), _total(weights[s < 0])]
    return Fraction(problem.C) * (2 * min(sums) if problem.bias else sums[0] + sums[1])


def size_of_variable_margin(problem: MarginProblem, nu: float) -> float:
    """Return the unit of relative errors near the optimum 0.

    It is the objective at f = 0 and epsilon = 0 of a tube, and of classes N^2 / 2 times
    the mean square of the points' norms in the space of the kernel; with a bias, which
    makes the origin arbitrary, of their distances from the first.

    Parameters
    ----------
    problem : MarginProblem
        Problem at any margin.
    nu : float
        Share of the costs.
    """
    if isinstance(problem.rows, Tube):
        return set_margin(problem, 0.0).scale
    total = np.float64(sum_multipliers(problem, nu))
    return float(total * total * _mean_square(problem) / 2)


def _mean_square(problem: MarginProblem) -> float:
    """Return the mean square of the points' norms, or with a bias of their distances."""
    gram = problem.gram
    if not problem.bias:
        return gram.mean_diagonal
    row = gram.block(np.array([0]), np.arange(problem.m))[0]
    distance = float(np.abs(gram.diagonal + gram.diagonal[0] - 2.0 * row).mean())
    # Points at rounding distances have no other unit.
    return distance if distance > EQUAL * gram.mean_diagonal else gram.mean_diagonal


# Overflow and NaN are covered by the bounds.
@np.errstate(all="ignore")
def variable_margin_interval(problem: MarginProblem, nu: float, point: Point) -> Interval:
    """Return the proven interval of the optimum over f, b and rho.

    Parameters
    ----------
    problem : MarginProblem
        Problem at the margin of the point.
    nu : float
        Share of the costs.
    point : Point
        Multipliers and bias; without a bias the best one is taken.

    Returns
    -------
    Interval
        Bounds; infinite without a positive semidefinite kernel. The lower bound is also
        infinite if N is infeasible.
    """
    problem = problem.proven
    total, rho = sum_multipliers(problem, nu), read_margin(problem)
    alpha = np.asarray(point.alpha)
    at_rho = interval(problem, Point(beta=problem.rows.rdot(alpha), b=point.b)).upper
    # total is positive: round it so that -total rho is rounded up.
    upper = add_rounded(at_rho, multiply_rounded(-_rounded(total, -np.sign(rho)), rho, 1.0), 1.0)
    lower = _lower(set_margin(problem, 0.0), total, alpha) if problem.convex else -inf
    return Interval(lower, float(upper), size_of_variable_margin(problem, nu))


def _lower(problem: MarginProblem, total: Fraction, alpha: Array) -> float:
    """Return a lower bound by multipliers, for the problem at rho = 0."""
    feasible = problem.repaired(alpha)
    value = dual_value(problem, problem.rows.multipliers(feasible), OUTWARD)
    short = total - _total(feasible)
    if isinstance(problem.rows, Tube):
        short = -short
    if short <= 0:
        return value
    loss = multiply_rounded(_rounded(short, 1.0), _largest_margin(problem, total), 1.0)
    return float(add_rounded(value, -loss, -1.0))


def _largest_margin(problem: MarginProblem, total: Fraction) -> float:
    """Return an upper bound of an optimal |rho|; inf if none is known."""
    rows = problem.rows
    if isinstance(rows, Tube):
        ends = float(rows.y.max()), float(rows.y.min())
        middle = (ends[0] - ends[1]) / 2 if problem.bias else max(map(abs, ends))
        return float(round_toward(middle, 1.0))
    if largest_sum(problem) < total:
        return inf
    return float(multiply_rounded(_rounded(total, 1.0), problem.gram.diagonal_bound, 1.0))


def _total(values: Array) -> Fraction:
    """Return the exact sum of numbers."""
    different, counts = np.unique(values, return_counts=True)
    terms = (Fraction(v) * n for v, n in zip(different.tolist(), counts.tolist(), strict=True) if v)
    return sum(terms, Fraction(0))


def _rounded(value: Fraction, way: float) -> float:
    """Return the next float of a fraction towards way x inf; nearest if way is 0."""
    nearest = float(value)
    exact = Fraction(nearest) == value or way == 0
    return nearest if exact else float(np.nextafter(nearest, way * inf))
