"""The values of f at the points and its norm, each with a bound on the rounding of its computation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.features import Explicit
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
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, ImplicitMultipliers

LARGEST_VALUE_ERROR = 1e-11
"""Error of f over the largest |t_r|, without a unit: an f whose error may be larger is evaluated again, in extended precision."""
LARGEST_WEIGHT_ERROR = 1e-10
"""Error of |w|^2 over |w|^2, without a unit: a w whose error may be larger is computed again, in extended precision."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """f at the points, (m,), |f|^2, and bounds on the errors of both."""

    f: Array
    f_error: Array
    norm2: float
    norm2_error: float


@np.errstate(all="ignore")
def evaluate(
    problem: MarginProblem, point: Point, rough: float = LARGEST_VALUE_ERROR
) -> Evaluation:
    """f at the points and |f|^2 of a point's w or beta, with error bounds.

    With explicit features Z, beta is first turned into w = Z' beta. The function that is judged is that of the rounded w, so that the
    rounding of w is no error. For any other kernel the coefficients of equal points are added first, and the function that is judged is
    that of the rounded sums; they are exact if the coefficients come from multipliers.

    Parameters
    ----------
    problem : MarginProblem
        MarginProblem.
    point : Point
        With w or beta.
    rough : the error of f, over the largest |t_r|, above which f is computed in extended precision. For 0 it always is, if the platform
        has an extended precision and that does not take long.
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
    f, f_error = kernel_product(problem, beta, rough)
    return Evaluation(
        f, f_error, float(np.maximum(beta @ f, 0.0)), inner_error(beta, np.abs(f), f_error)
    )


def inner_error(v: Array, f: Array, f_error: Array) -> float:
    """A bound on the error of the computed v'f, |f| given, where f has errors of its own."""
    size, products = np.abs(v), np.count_nonzero(v)
    if products == 0:
        return 0.0
    error = (size @ f_error + gamma_n(len(v) + 2) * (size @ f)) * (1 + gamma_n(len(v) + 4))
    return float(round_toward(error + 4 * products * SMALLEST, 1))


@np.errstate(all="ignore")
def kernel_product(
    problem: Problem, v: Array, rough: float = LARGEST_VALUE_ERROR
) -> tuple[Array, Array]:
    """K v and a bound on its error, both (m,), in float64; computed in extended precision where float64 would leave more than `rough`."""
    Z = problem.explicit
    if Z is not None:
        f, error = Z.kernel_product(v)
    elif problem.m > STORED_ROWS:
        f, error = _touched_product(problem, v)
    else:
        f, error = problem.gram.product(v)
    if max_or_inf(error) <= rough * problem.rows.largest_target:
        return f, error
    if Z is not None:
        return _in_float64(*Z.kernel_product(v.astype(np.longdouble))) if Z.extended else (f, error)
    extended = problem.gram.extended
    return (f, error) if extended is None else _in_float64(*extended.product(v))


def _in_float64(v: Array, error: Array) -> tuple[Array, Array]:
    """Numbers of an extended precision and bounds on their errors, rounded."""
    v = v.astype(np.float64)
    return v, round_toward(
        error.astype(np.float64) * (1 + 4 * UNIT) + 2 * UNIT * np.abs(v) + SMALLEST, 1
    )


def _touched_product(problem: Problem, v: Array) -> tuple[Array, Array]:
    """K v and a bound on its error at the points that are in a row or have v_i != 0; both are 0 at all other points."""
    points = np.union1d(problem.rows.touched, np.flatnonzero(v))
    f, error = np.zeros(problem.m), np.zeros(problem.m)
    f[points], error[points] = (
        problem.gram if len(points) == problem.m else problem.gram.part(points)
    ).product(v[points])
    return f, error


@np.errstate(all="ignore")
def relative_rounding_error(problem: Problem, alpha: AnyMultipliers | None = None) -> float:
    """u C max K_ii over the largest |t_r|: no solver in float64 computes f = K beta with |beta_i| up to C more accurately.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    alpha : AnyMultipliers | None of shape (p,)
        Multipliers, which take the place of C on hard rows; None counts as 0.
    """
    finite, Z = problem.group_costs[np.isfinite(problem.group_costs)], problem.explicit
    most = max_or_inf(finite) or (
        problem.C if np.isfinite(problem.C) else 0.0
    )  # noise, where nothing may cost
    if len(finite) < len(problem.group_costs) and alpha is not None:
        hard = np.isinf(problem.group_costs)
        own = (
            alpha.largest(hard)
            if isinstance(alpha, ImplicitMultipliers)
            else np.abs(np.nan_to_num(alpha))[problem.rows.spread(hard)]
        )
        most = max_or_inf(np.atleast_1d(own), most)
    square = (
        max_or_inf(np.abs(problem.gram.diagonal))
        if Z is None
        else float(Z.squares.max(initial=0.0))
    )
    noise = UNIT * most * (square / problem.rows.largest_target)
    return math.inf if math.isnan(noise) else noise


def compute_weights(problem: MarginProblem, Z: Explicit, beta: Array) -> tuple[Array, Array]:
    """w = Z'beta and a bound on its error, both (q,), in extended precision where they cancel."""
    w, error = Z.combination(beta)
    if float(np.abs(w) @ error) <= LARGEST_WEIGHT_ERROR * float(w @ w) or not Z.extended:
        return w, error
    return _in_float64(*Z.combination(beta.astype(np.longdouble)))


def coefficients(problem: MarginProblem, point: Point) -> Array:
    """The numbers that a point's function is computed from: w, (q,), where there are explicit features, and beta, (m,), otherwise."""
    if problem.explicit is None:
        return given(point.beta)
    return point.w if point.w is not None else problem.explicit.rdot(given(point.beta))


def make_point(problem: MarginProblem, v: Array, b: float | None = None) -> Point:
    """The point of a function's coefficients, w where there are explicit features and beta otherwise, with its bias."""
    return Point(beta=v, b=b) if problem.explicit is None else Point(w=v, b=b)


def given(v: Array | None) -> Array:
    """The coefficients beta of a point; raises ValueError where it has none."""
    if v is None:
        raise ValueError("the point has no coefficients beta")
    return v
