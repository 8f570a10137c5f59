"""Strictly feasible point of the hard tube (Slater's condition).

Points that violate the tube by a rounding error are moved towards this point.

    min over (w, b, tau)   tau   s.t.   |y_i - w.phi_i - b| <= tau

    strictly feasible iff tau < epsilon

Least squares is tried first, and taken if its residuals are below epsilon / 2, as they
are if the features span the targets. Otherwise the linear program decides.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import Tube


def find_slater_point(problem: MarginProblem) -> Point | None:
    """Find a float64 point (w, b) whose residuals are below epsilon on all hard rows.

    Parameters
    ----------
    problem : MarginProblem
        Regression problem; any other has no tube.

    Returns
    -------
    Point or None
        The point; None if there is none, or the problem has no tube.

    References
    ----------
    Document T (57)-(59), the feasibility of the hard tube.
    """
    if not isinstance(problem.rows, Tube):
        return None
    hard = np.logical_or(*np.split(np.isinf(problem.costs), 2))
    y, epsilon = problem.rows.y[hard], problem.rows.epsilon
    try:
        features = problem.features()
    # Kernel values are outside the float64 range.
    except np.linalg.LinAlgError:
        return None
    design = np.column_stack([dense(features), np.ones(problem.m)])[hard]
    if not (np.isfinite(design).all() and np.isfinite(y).all()):
        return None
    for solve, reach in ((_least_squares, epsilon / 2), (_chebyshev, epsilon)):
        v = solve(design, y)
        if v is not None and np.abs(y - design @ v).max(initial=0.0) < reach:
            return problem.point_of_w(v[:-1], float(v[-1]))
    return None


def _least_squares(design: Array, y: Array) -> Array | None:
    try:
        return np.asarray(np.linalg.lstsq(design, y, rcond=None)[0])
    # Squares are outside the float64 range.
    except np.linalg.LinAlgError:
        return None


def _chebyshev(design: Array, y: Array) -> Array | None:
    # Imported here: only a hard tube needs scipy.optimize.
    from scipy.optimize import linprog

    m, n = design.shape
    ones = np.ones((m, 1))
    rows = np.block([[-design, -ones], [design, -ones]])
    result = linprog(
        np.append(np.zeros(n), 1.0),
        rows,
        np.concatenate([-y, y]),
        bounds=[(None, None)] * n + [(0, None)],
        method="highs",
    )
    return np.asarray(result.x[:-1]) if result.status == 0 else None
