"""Values of f at the points and its norm, with bounds on their rounding errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.kernels.given_matrix import UnprovenShift
from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    UNIT,
    gamma_n,
    max_or_inf,
    round_toward,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, ImplicitMultipliers

LARGEST_VALUE_ERROR = 1e-11
"""Maximum error of f relative to the largest |t_r|; above it extended precision is used."""
MAX_SHARED_RATIO = 1.5
"""Maximum number of points with a coefficient in any product of a shared pass.

It is relative to the number of the single product with the most.
"""
LARGEST_WEIGHT_ERROR = 1e-10
"""Maximum relative error of |w|^2; above it w is recomputed in extended precision."""
NOTICED_CHANGE = 0.1
"""Relative change of f, over the tolerance, above which a shift is proven before a run."""

P = TypeVar("P", MarginProblem, OneNormProblem, MarginProblem | OneNormProblem)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Values of f at the points, (m,), and |f|^2, with bounds on the errors of both."""

    f: Array
    f_error: Array
    norm2: float
    norm2_error: float


@np.errstate(all="ignore")
def evaluate(
    problem: MarginProblem,
    point: Point,
    rough: float = LARGEST_VALUE_ERROR,
    norm_only: bool = False,
) -> Evaluation:
    """Evaluate f at the points and |f|^2 of a point's w or beta, with error bounds.

    With explicit features Z, beta is first turned into w = Z' beta. The evaluated function
    is that of the rounded w, so that the rounding of w is no error. For any other kernel
    the coefficients of equal points are added first, and the evaluated function is that of
    the rounded sums; they are exact if the coefficients come from multipliers.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with w or beta.
    rough : float
        Error of f, relative to the largest |t_r|, above which extended precision is
        used. If 0, extended precision is always used, provided that the platform has a
        fast one.
    norm_only : bool, default False
        True if f may be 0 at points without a coefficient, where |f|^2 does not need it.

    Returns
    -------
    Evaluation
        f, |f|^2 and their error bounds.
    """
    if problem.explicit is not None:
        w = coefficients(problem, point)
        exact = rough == 0.0 and problem.explicit.extended
        f, f_error = (
            _in_float64(*problem.explicit.values(w.astype(np.longdouble)))
            if exact
            else problem.explicit.values(w)
        )
        norm2 = float(w @ w)
        return Evaluation(f, f_error, norm2, inner_error(w, np.abs(w), 0.0 * w))
    beta = problem.gram.merged(coefficients(problem, point))
    f, f_error = kernel_product(problem, beta, rough, norm_only)
    return Evaluation(
        f, f_error, float(np.maximum(beta @ f, 0.0)), inner_error(beta, np.abs(f), f_error)
    )


def inner_error(v: Array, f: Array, f_error: Array) -> float:
    """Bound the error of the computed v'f, where f itself is inexact.

    Parameters
    ----------
    v : ndarray of shape (n,)
        First factor, exact.
    f : ndarray of shape (n,)
        Absolute values |f| of the second factor.
    f_error : ndarray of shape (n,)
        Bounds on the errors of f.

    Returns
    -------
    float
        Upper bound of the error.
    """
    size, products = np.abs(v), np.count_nonzero(v)
    if products == 0:
        return 0.0
    error = (size @ f_error + gamma_n(len(v) + 2) * (size @ f)) * (1 + gamma_n(len(v) + 4))
    return float(round_toward(error + 4 * products * SMALLEST, 1))


@np.errstate(all="ignore")
def kernel_product(
    problem: Problem, v: Array, rough: float = LARGEST_VALUE_ERROR, norm_only: bool = False
) -> tuple[Array, Array]:
    """Return K v and a bound on its error, both (m,), in float64.

    Extended precision is used where float64 would leave an error above `rough`.

    Parameters
    ----------
    problem : Problem
        Problem of the kernel and the points.
    v : ndarray of shape (m,)
        Coefficients of the points.
    rough : float
        Maximum error, relative to the largest |t_r|.
    norm_only : bool, default False
        As in `evaluate`.

    Returns
    -------
    f, error : ndarray of shape (m,)
        Product and its error bound.
    """
    Z = problem.explicit
    if Z is not None:
        f, error = Z.kernel_product(v)
    elif problem.m > STORED_ROWS:
        f, error = _touched_product(problem, v, norm_only)
    else:
        f, error = problem.gram.product(v)
    if max_or_inf(error) <= rough * problem.rows.largest_target:
        return f, error
    if Z is not None:
        return _in_float64(*Z.kernel_product(v.astype(np.longdouble))) if Z.extended else (f, error)
    extended = problem.gram.extended
    return (f, error) if extended is None else _in_float64(*extended.product(v))


def prepare_products(problem: MarginProblem, *vectors: Array) -> None:
    """Compute products in one pass over K, if `kernel_product` takes those of all points.

    Products whose coefficients are mostly those of other points are left to separate passes.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the kernel and the points.
    *vectors : ndarray of shape (m,)
        Coefficients of each product.
    """
    if (
        len(vectors) > 0
        and problem.explicit is None
        and (problem.m <= STORED_ROWS or len(problem.rows.touched) == problem.m)
    ):
        merged = np.array([problem.gram.merged(v) for v in vectors])
        largest = np.count_nonzero(merged, axis=1).max(initial=0)
        if np.count_nonzero(merged.any(axis=0)) <= MAX_SHARED_RATIO * largest:
            problem.gram.prepare(*merged)


def _in_float64(v: Array, error: Array) -> tuple[Array, Array]:
    """Round extended-precision numbers and their error bounds to float64."""
    v = v.astype(np.float64)
    return v, round_toward(
        error.astype(np.float64) * (1 + 4 * UNIT) + 2 * UNIT * np.abs(v) + SMALLEST, 1
    )


def _touched_product(problem: Problem, v: Array, norm_only: bool) -> tuple[Array, Array]:
    """Return K v and its error bound at the points that are in a row or have v_i != 0.

    Both are 0 at all other points; for a norm, perhaps at all points with v_i = 0.
    """
    points = np.flatnonzero(v)
    if not norm_only or problem.gram.is_prepared(v):
        points = np.union1d(problem.rows.touched, points)
    f, error = np.zeros(problem.m), np.zeros(problem.m)
    f[points], error[points] = (
        problem.gram if len(points) == problem.m else problem.gram.part(points)
    ).product(v[points])
    return f, error


@np.errstate(all="ignore")
def relative_rounding_error(problem: Problem, alpha: AnyMultipliers | None = None) -> float:
    """Return u C max K_ii divided by the largest |t_r|, u being the unit roundoff.

    No solver in float64 computes f = K beta with |beta_i| up to C more accurately.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    alpha : ndarray or implicit multipliers of shape (p,), or None
        Multipliers, which replace C on hard rows; None counts as 0.

    Returns
    -------
    float
        Relative rounding error, without a unit.
    """
    finite, Z = problem.group_costs[np.isfinite(problem.group_costs)], problem.explicit
    # If no finite cost is positive, C gives the noise level.
    most = max_or_inf(finite) or (problem.C if np.isfinite(problem.C) else 0.0)
    if len(finite) < len(problem.group_costs) and alpha is not None:
        hard = np.isinf(problem.group_costs)
        size = (
            alpha.largest(hard)
            if isinstance(alpha, ImplicitMultipliers)
            else np.abs(np.nan_to_num(alpha))[problem.rows.spread(hard)]
        )
        most = max_or_inf(np.atleast_1d(size), most)
    square = (
        max_or_inf(np.abs(problem.gram.diagonal))
        if Z is None
        else float(Z.squares.max(initial=0.0))
    )
    noise = UNIT * most * (square / problem.rows.largest_target)
    return math.inf if math.isnan(noise) else noise


def resolve_shift(problem: P, tol: float) -> P:
    """Return the problem, its shift proven if a solver could notice it at a tolerance.

    A matrix that is semidefinite, except for roundings, needs a shift of about m u tr K at
    most, which changes f by m^2 u C max K_ii or less. A larger change would widen the
    interval that a point of the unproven matrix proves.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem
        Problem to solve.
    tol : float
        Relative gap to reach.
    """
    if not (isinstance(problem, MarginProblem) and isinstance(problem.shift, UnprovenShift)):
        return problem
    change = problem.m**2 * relative_rounding_error(problem)
    noticed = not change <= NOTICED_CHANGE * tol or np.isinf(problem.group_costs).any()
    return problem.proven if noticed else problem


def compute_weights(problem: MarginProblem, Z: Explicit, beta: Array) -> tuple[Array, Array]:
    """Return w = Z'beta and a bound on its error, both (q,).

    They are computed in extended precision if cancellation is too large.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    Z : Explicit
        Explicit features of the points.
    beta : ndarray of shape (m,)
        Coefficients of f.

    Returns
    -------
    w, error : ndarray of shape (q,)
        Weights and their error bound.
    """
    w, error = Z.combination(beta)
    if float(np.abs(w) @ error) <= LARGEST_WEIGHT_ERROR * float(w @ w) or not Z.extended:
        return w, error
    return _in_float64(*Z.combination(beta.astype(np.longdouble)))


def coefficients(problem: MarginProblem, point: Point) -> Array:
    """Return the coefficients that define a point's function.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    point : Point
        Point with w or beta.

    Returns
    -------
    ndarray of shape (q,) or (m,)
        w if the problem has explicit features, beta otherwise.
    """
    if problem.explicit is None:
        return given(point.beta)
    return point.w if point.w is not None else problem.explicit.rdot(given(point.beta))


def make_point(problem: MarginProblem, v: Array, b: float | None = None) -> Point:
    """Make a point from the coefficients of a function.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the point.
    v : ndarray of shape (q,) or (m,)
        w if the problem has explicit features, beta otherwise.
    b : float or None
        Bias.

    Returns
    -------
    Point
        Point without multipliers.
    """
    return Point(beta=v, b=b) if problem.explicit is None else Point(w=v, b=b)


def given(v: Array | None) -> Array:
    """Return the coefficients beta of a point.

    Parameters
    ----------
    v : ndarray of shape (m,), or None
        The point's beta.

    Returns
    -------
    ndarray of shape (m,)
        Coefficients.

    Raises
    ------
    ValueError
        If v is None.
    """
    if v is None:
        raise ValueError("the point has no coefficients beta")
    return v
