"""Margin problems whose margin rho is a variable: nu-SVC, nu-SVR and the one-class SVM.

    min over f, b, rho    1/2 |f|^2 + sum_r c_r (t_r + rho - (A f)_r - s_r b)_+ - N rho
    max over alpha        t'alpha - 1/2 |A'alpha|_K^2
                          0 <= alpha <= c,    s'alpha = 0,    1'alpha = N

N is nu times the sum of the costs of all points. Classes have t = 0 and rho >= 0, and
1'alpha >= N has the same optimum. A tube has its targets at width 0 and rho = -epsilon
<= 0, and 1'alpha <= N. Without a bias, s'alpha = 0 is absent. At a given rho this is a
`MarginProblem` minus N rho, whose interval bounds the optimum from above; alpha bounds
it from below.

The sum of exactly feasible alpha may miss N by a rounding error d. The optimum is a
concave function of N with the slope -rho, so that the bound then decreases by d |rho|,
for any bound of an optimal |rho|:

* classes: an alpha below its cost in each sign gives two rows with s f + s b >= rho, so
  that rho <= max |f| <= N max K_ii;
* a tube: N epsilon is at most the optimum, which is at most N times half the range of y,
  by f = 0.

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

    Parameters
    ----------
    problem : MarginProblem
        Problem of finite costs, at any margin.
    nu : float
        Share of the costs.
    """
    weights = problem.unit_weights[: problem.m]
    return Fraction(nu) * Fraction(problem.C) * _total(weights)


def size_of_variable_margin(problem: MarginProblem, nu: float) -> float:
    """Return the unit of relative errors near the optimum 0.

    It is the objective at f = 0 and epsilon = 0 of a tube, and of classes the size of the
    dual objective if all points were equal, N^2 mean |K_ii| / 2.

    Parameters
    ----------
    problem : MarginProblem
        Problem at any margin.
    nu : float
        Share of the costs.
    """
    if isinstance(problem.rows, Tube):
        return set_margin(problem, 0.0).scale
    return float(sum_multipliers(problem, nu)) ** 2 * problem.gram.mean_diagonal / 2


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
        infinite if the multipliers are at their costs and their sum is rounded.
    """
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
        return float(round_toward((float(rows.y.max()) - float(rows.y.min())) / 2, 1.0))
    share = total / 2 if problem.bias else total
    signs = (1.0, -1.0) if problem.bias else (1.0,)
    weights = problem.unit_weights
    if any(Fraction(problem.C) * _total(weights[rows.s == sign]) <= share for sign in signs):
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
