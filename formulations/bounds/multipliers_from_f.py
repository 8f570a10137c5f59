"""Multipliers from a function, for published formulations without multipliers.

These formulations are (3.12)-(3.15) of Kuo, Lee and Lin (2014), for instance.

At the optimum alpha_r = c_r loss'(u_r) if the loss has a derivative there. The squared
hinge and the huberised hinge have one everywhere. For the hinge alpha_r = c_r where
u_r > 0, and alpha_r = 0 where u_r < 0. The multipliers alpha_M of the rows on the
margin, u_r = 0, are those that reproduce f,

    min over 0 <= alpha_M <= c_M   | f - A'alpha |_K,   S'alpha = 0.

These multipliers may narrow the interval of a family. The answer whose f they come from
is never judged by them, because an f that is almost optimal can give
multipliers that are far from optimal.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.bounds.evaluate import evaluate
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import LISTED_PAIRS

MARGIN_WIDTHS = (1e-8, 1e-6, 1e-4)
"""Maximum |u_r| of a row on the margin.

All are tried, and the multipliers with the best dual value are taken.
"""
MOST_MARGIN_ROWS = 1_500
"""Maximum rows on the margin for least squares, which needs a dense matrix of that size."""
MOST_POINTS_OF_A_GRAM = 3_000
"""Maximum points whose Gram matrix is decomposed to recover multipliers.

The decomposition takes some 10 s; explicit features need none.
"""


def recover_multipliers(problem: MarginProblem, point: Point) -> Array | None:
    """Recover feasible multipliers from a point's f and b.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    point : Point
        Point with w or beta; the best b is taken if it has none.

    Returns
    -------
    ndarray of shape (p,), or None
        Multipliers with 0 <= alpha <= box and S'alpha = 0 exactly; None if too many rows
        lie on the margin, or there are too many rows.

    References
    ----------
    Documents T (23)-(28) and K (3.13), the stationarity conditions;
    proofs/catalogue.md, "Multipliers made from a function".
    """
    if problem.p > LISTED_PAIRS:
        return None
    f = evaluate(problem, point).f
    b = problem.bias_at(f) if point.b is None else point.b
    u = problem.slack(f, b)
    if problem.phi.is_smooth and np.isfinite(problem.costs).all():
        return np.asarray(problem.repaired(problem.costs * problem.phi.derivative(u)))
    candidates = [
        alpha
        for width in MARGIN_WIDTHS
        if (alpha := _hinge_multipliers(problem, point, u, width)) is not None
    ]
    return max(candidates, key=lambda alpha: _dual_value(problem, alpha), default=None)


def _hinge_multipliers(
    problem: MarginProblem, point: Point, u: Array, width: float
) -> Array | None:
    # Imported here: no other function of the module needs scipy.optimize.
    from scipy.optimize import lsq_linear

    hard = np.isinf(problem.costs)
    alpha = np.where((u > width) & ~hard, problem.costs, 0.0)
    margin = np.flatnonzero(((np.abs(u) <= width) | (hard & (u > -width))) & (problem.costs > 0))
    if len(margin) > MOST_MARGIN_ROWS or (
        problem.explicit is None and problem.m > MOST_POINTS_OF_A_GRAM
    ):
        return None
    if len(margin):
        features = problem.features()
        rows = problem.rows.matrix[margin]
        span = np.asarray(
            (rows @ features).T
            if isinstance(features, np.ndarray)
            else (rows @ features).toarray().T
        )
        target = _in_features(problem, point) - np.asarray(features.T @ problem.rows.rdot(alpha))
        weight = max(float(np.abs(span).max(initial=0.0)), 1e-300)
        system = np.vstack([span, weight * problem.S[margin].toarray().T])
        right_side = np.append(target, -weight * (problem.S.T @ alpha))
        method = "bvls" if len(margin) < 200 else "trf"
        alpha[margin] = lsq_linear(
            system,
            right_side,
            (0.0, problem.box[margin]),
            method=method,
            tol=1e-14,
            lsmr_tol="auto",
        ).x
    return np.asarray(problem.repaired(alpha))


def _in_features(problem: MarginProblem, point: Point) -> Array:
    """Return f as w in the problem's features."""
    if point.w is not None:
        return point.w
    return np.asarray(problem.features().T @ point.beta)


def _dual_value(problem: MarginProblem, alpha: Array) -> float:
    beta = problem.rows.rdot(alpha)
    return problem.dual(alpha, float(beta @ (problem.gram @ beta)))
