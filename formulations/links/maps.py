"""Maps between the points and the problems of related formulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.bounds.complete import Completion, OneNormCompletion
from equimargin.formulations.kernels.kernel import Intercept, Linear, precomputed
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    ranking_from_pairs,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint, Point
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs, Signed


def to_x(problem: OneNormProblem, point: OneNormPoint) -> OneNormPoint:
    """Return the variables x of a linear program, without its multipliers.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the point.
    point : OneNormPoint
        Point with x.

    Returns
    -------
    OneNormPoint
        Point with x alone.
    """
    return OneNormPoint(x=OneNormCompletion(problem, point).x)


def to_u(problem: OneNormProblem, point: OneNormPoint) -> OneNormPoint:
    """Return the multipliers u of a linear program, without its variables.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the point.
    point : OneNormPoint
        Point with u.

    Returns
    -------
    OneNormPoint
        Point with u alone.
    """
    return OneNormPoint(u=OneNormCompletion(problem, point).u)


def to_function(problem: MarginProblem, point: Point) -> Point:
    """Return the point's f and b; without f, return f = A'alpha with the best b.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with a function or multipliers.

    Returns
    -------
    Point
        Point without multipliers.
    """
    completed = Completion(problem, point)
    if isinstance(problem.kernel, Linear):
        return Point(w=completed.w, b=completed.b)
    return Point(beta=completed.beta, b=completed.b)


def to_multipliers(problem: MarginProblem, point: Point) -> Point:
    """Return the point's multipliers; without any, return those computed from f.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with a function or multipliers.

    Returns
    -------
    Point
        Point with multipliers alone.
    """
    return Point(alpha=Completion(problem, point).alpha)


def critical_cost(problem: MarginProblem, point: Point) -> float:
    """Return C* = min { max alpha_r / weight_r : alpha optimal for the hard dual }.

    The soft margin has the hard optimum exactly for C >= C*, which is the optimum of

        min C   s.t.   sum_r alpha_r A_r phi = w,  s'alpha = 0,  0 <= alpha_r <= C weight_r
                       over the rows on the margin.

    Parameters
    ----------
    problem : MarginProblem
        Feasible hard problem.
    point : Point
        Accurate optimum of the problem.

    Returns
    -------
    float
        C*.

    Raises
    ------
    ValueError
        If the point is too inaccurate to determine the rows on the margin.
    """
    # Imported here: no other function of the module needs scipy.optimize.
    from scipy.optimize import linprog

    completed = Completion(problem, point)
    features = problem.features()
    margin = np.flatnonzero(completed.u > -1e-6)
    rows = problem.rows.matrix[margin] @ features
    span = dense(rows).T
    k = len(margin)
    slack = 1e-6 * max(float(np.abs(completed.w).max(initial=0.0)), 1e-300)
    balance = np.append(problem.bias_signs[margin], 0.0)[None, :]
    equal = np.hstack([span, np.zeros((len(completed.w), 1))])
    limits = np.vstack(
        [np.hstack([np.eye(k), -problem.unit_weights[margin][:, None]]), equal, -equal]
    )
    ends = np.concatenate([np.zeros(k), completed.w + slack, slack - completed.w])
    result = linprog(
        np.append(np.zeros(k), 1.0), limits, ends, balance, np.zeros(1), method="highs"
    )
    if result.status != 0:
        raise ValueError("the point is too inaccurate to determine the rows on the margin")
    return float(result.x[-1])


def given_multipliers(alpha: Array | None) -> Array:
    """Return the multipliers of a point that must have some.

    Parameters
    ----------
    alpha : ndarray of shape (p,), or None
        Multipliers.

    Returns
    -------
    ndarray of shape (p,)
        Multipliers.

    Raises
    ------
    ValueError
        If alpha is None.
    """
    if alpha is None:
        raise ValueError("the point has no multipliers")
    return alpha


def levels_of_one_query(problem: MarginProblem) -> int:
    """Return the number of relevance grades of a ranking of one query.

    It is 0 without pairs or labels, for several queries and for weighted pairs.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.

    Returns
    -------
    int
        Number of grades.
    """
    rows = problem.rows
    if (
        not isinstance(rows, Pairs)
        or rows.y is None
        or problem.weights is not None
        or (rows.query is not None and rows.query.max(initial=0) > 0)
    ):
        return 0
    return len(np.unique(rows.y))


def as_classification(problem: MarginProblem) -> MarginProblem:
    """Return the classification of a ranking with two levels.

    Parameters
    ----------
    problem : MarginProblem
        Ranking; its highest level becomes the class +1.

    Returns
    -------
    MarginProblem
        Classification at the same cost.
    """
    y = np.where(problem.rows.y == problem.rows.y.max(), 1.0, -1.0)
    return classification(problem.X, y, problem.C, problem.kernel, problem.loss)


def of_two_levels(problem: MarginProblem) -> MarginProblem:
    """Return the weighted classification that equals an ordinal regression of two levels.

    Parameters
    ----------
    problem : MarginProblem
        Ordinal regression with the levels 0 and 1.

    Returns
    -------
    MarginProblem
        Classification.
    """
    return replace(problem, rows=Signed(2 * np.asarray(problem.rows.y) - 1))


def pairs_of_levels(problem: MarginProblem) -> MarginProblem:
    """Return the ranking of all points by their levels.

    It has the cost of the problem, and no weights.

    Parameters
    ----------
    problem : MarginProblem
        Ordinal regression.

    Returns
    -------
    MarginProblem
        Ranking.
    """
    return replace(
        problem, rows=LabelledPairs(np.asarray(problem.rows.y), None), bias=False, weights=None
    )


def halved(problem: MarginProblem, point: Point, factor: float) -> Point:
    """Return f times a factor.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with a function or multipliers.
    factor : float
        Factor of f.

    Returns
    -------
    Point
        Point without a bias.
    """
    function = to_function(problem, point)
    return Point(
        w=None if function.w is None else factor * function.w,
        beta=None if function.beta is None else factor * function.beta,
        b=None,
    )


def without_bias(problem: MarginProblem) -> MarginProblem:
    """Return the no-bias problem of the kernel k + 1.

    Parameters
    ----------
    problem : MarginProblem
        Problem with a penalised bias.

    Returns
    -------
    MarginProblem
        Problem without a bias.
    """
    return replace(problem, kernel=Intercept(problem.kernel), bias=False)


def into_intercept(problem: MarginProblem, point: Point) -> Point:
    """Return the function A'alpha of the kernel k + 1, which is f + b at an optimum.

    Its coefficients then sum to b. alpha is that of the point, or is computed from f.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with a function or multipliers.

    Returns
    -------
    Point
        Point of `without_bias(problem)`.
    """
    return Point(beta=problem.rows.rdot(Completion(problem, point).alpha))


def out_of_intercept(problem: MarginProblem, point: Point) -> Point:
    """Return the f of kernel k with equal coefficients, and b as their sum.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point of `without_bias(problem)`.

    Returns
    -------
    Point
        Point of the problem with a bias.
    """
    beta = Completion(without_bias(problem), point).beta
    if isinstance(problem.kernel, Linear):
        return Point(w=problem.X.T @ beta, b=float(beta.sum()))
    return Point(beta=beta, b=float(beta.sum()))


def symmetrised(problem: MarginProblem) -> MarginProblem:
    """Return the classification of phi_ij as class 1 and -phi_ij as class -1, at C / 2.

    Parameters
    ----------
    problem : MarginProblem
        Ranking with a linear kernel.

    Returns
    -------
    MarginProblem
        Classification of 2 p points.
    """
    A = problem.rows.matrix
    D = dense(A @ problem.X)
    y = np.concatenate([np.ones(len(D)), -np.ones(len(D))])
    weights = None if problem.weights is None else np.tile(problem.unit_weights, 2)
    return classification(
        np.vstack([D, -D]), y, problem.C / 2, problem.kernel, problem.loss, sample_weight=weights
    )


def adjacent(problem: MarginProblem) -> MarginProblem:
    """Return the ranking by the pairs of neighbours in the order of the labels.

    Parameters
    ----------
    problem : MarginProblem
        Ranking of one query whose labels are all different.

    Returns
    -------
    MarginProblem
        Ranking with m - 1 pairs.
    """
    order = np.argsort(problem.rows.y)
    return ranking_from_pairs(
        problem.X, np.column_stack([order[1:], order[:-1]]), problem.C, problem.kernel, problem.loss
    )


def pairs_as_points(problem: OneNormProblem) -> OneNormProblem:
    """Return the classification of the differences phi_ij as points of class +1.

    It has the Gram matrix A K A' and no bias.

    Parameters
    ----------
    problem : OneNormProblem
        Ranking.

    Returns
    -------
    OneNormProblem
        Classification of p points.
    """
    return one_norm_classification(
        _gram_of_pairs(problem),
        np.ones(problem.p),
        problem.C,
        precomputed(),
        bias=False,
        sample_weight=None if problem.weights is None else problem.unit_weights,
    )


def symmetrised_pairs(problem: OneNormProblem) -> OneNormProblem:
    """Return the classification of phi_ij as class 1 and -phi_ij as class -1, at C / 2.

    It has the Gram matrix of the differences and a bias.

    Parameters
    ----------
    problem : OneNormProblem
        Ranking.

    Returns
    -------
    OneNormProblem
        Classification of 2 p points.
    """
    Q = _gram_of_pairs(problem)
    signs = np.concatenate([np.ones(problem.p), -np.ones(problem.p)])
    return one_norm_classification(
        np.block([[Q, -Q], [-Q, Q]]),
        signs,
        problem.C / 2,
        precomputed(),
        sample_weight=None if problem.weights is None else np.tile(problem.unit_weights, 2),
    )


def shared_by_signs(problem: OneNormProblem, point: OneNormPoint) -> OneNormPoint:
    """Return half of x and of u of a pair for its difference, and half for the negative.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the point.
    point : OneNormPoint
        Point of the ranking.

    Returns
    -------
    OneNormPoint
        Point of `symmetrised_pairs(problem)`.
    """
    x, u = (
        None if part is None else np.concatenate([part, part]) / 2 for part in (point.x, point.u)
    )
    return OneNormPoint(x, u, 0.0)


def summed_over_signs(problem: OneNormProblem, point: OneNormPoint) -> OneNormPoint:
    """Return x and u of the pairs, each summed over a difference and its negative.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the point.
    point : OneNormPoint
        Point of `symmetrised_pairs(problem)`.

    Returns
    -------
    OneNormPoint
        Point of the ranking.
    """
    x, u = (
        None if part is None else part[: problem.p] + part[problem.p :]
        for part in (point.x, point.u)
    )
    return OneNormPoint(x, u)


def _gram_of_pairs(problem: OneNormProblem) -> Array:
    """Return A K A', (p, p), symmetric."""
    A = problem.rows.matrix
    Q: Array = np.asarray(A @ (A @ problem.gram.dense).T)
    return np.asarray((Q + Q.T) / 2)
