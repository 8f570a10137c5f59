"""Proven intervals: rigorous lower and upper bounds on a problem's optimum from one point.

Weak duality gives both sides: L(alpha) <= optimum <= U(f, b) for every feasible alpha and every (f, b). The point is first repaired to
exact feasibility; every sum then carries an a-priori bound on its rounding (gamma_n = n u / (1 - n u), no rounding modes), and the
entries of K carry the kernel's own bound, so the interval is about the mathematical kernel of the given floats.

An interval belongs to a problem and a point, not to a solver; a wrong formulation's point has a true interval too. The same sums with
every rounding taken the other way give the inner interval: what can be held against a point for certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.features import Explicit
from equimargin.formulations.interior import strictly_inside
from equimargin.formulations.kernels import STORED_ROWS, UNIT, Array, gamma_n, unit_of
from equimargin.formulations.labelled_pairs import LISTED, ImplicitMultipliers, LabelledPairs
from equimargin.formulations.problem import MarginProblem, OneNormProblem, Point, Problem, on_grid
from equimargin.formulations.rows import Tube

FLOOR = 1e-4
"""Relative figures are over S = max(|lower|, |upper|, FLOOR x P(0))."""
ROUGH = 1e-11
"""An f that is known no better than this, over the margins that rows ask for, is evaluated in extended precision."""
OUTWARD, INWARD = 1.0, -1.0
"""Which way a bound on rounding is added: to prove the optimum inside, or the point's own exact values outside."""


@dataclass(frozen=True)
class Interval:
    """lower <= optimum <= upper, proven; scale is P(0), the primal value at f = 0."""

    lower: float
    upper: float
    scale: float = 0.0

    @property
    def size(self) -> float:
        """S = max(|lower|, |upper|, 1e-4 P(0)) over the finite ones: what relative figures divide by."""
        return max(*(abs(v) for v in (self.lower, self.upper) if np.isfinite(v)), FLOOR * self.scale, 1e-300)

    @property
    def relative_width(self) -> float:
        """(upper - lower) / S; 0 where they are equal, inf where a side is missing."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / self.size

    def intersected(self, other: Interval) -> Interval:
        """What both prove together."""
        return Interval(max(self.lower, other.lower), min(self.upper, other.upper), max(self.scale, other.scale))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """f at the points, (m,), |f|^2, and bounds on the errors of both."""

    f: Array
    f_error: Array
    norm2: float
    norm2_error: float


def interval(problem: Problem, point: Point) -> Interval:
    """The interval a point proves: [L(repaired alpha), U(f, b)], each side where the point has what it takes.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem.
    point : f (w or beta), b and alpha, each or None. Without b the best one is taken, without f the one of alpha, A' alpha.

    Returns
    -------
    Interval : lower = -inf without alpha or without a positive semidefinite kernel; upper = inf where no repair reaches a hard row.

    Source: weak duality; N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, for gamma_n.
    """
    return _interval(problem, point, OUTWARD)


def inner_interval(problem: Problem, point: Point) -> Interval:
    """What exact arithmetic cannot pass at a point: L(repaired alpha) <= lower and upper <= U(f, b), both of the exact values.

    It differs from `interval` by the rounding alone, and says how bad a point is for certain; its lower may exceed its upper.

    Parameters
    ----------
    As in `interval`.

    Returns
    -------
    Interval : lower = -inf and upper = inf as in `interval`.
    """
    return _interval(problem, point, INWARD)


def _interval(problem: Problem, point: Point, way: float) -> Interval:
    if isinstance(problem, OneNormProblem):
        lower = -np.inf if point.alpha is None else _linear_lower(problem, point.alpha, way)
        upper = np.inf if point.beta is None else _linear_upper(problem, point.beta, way)
        return Interval(lower, upper, problem.scale)
    alpha = None if point.alpha is None else problem.repaired(point.alpha)
    lower = -np.inf if alpha is None or not problem.convex else _lower(problem, alpha, way)
    if not point.has_function and alpha is not None:
        point = Point(beta=problem.rows.rdot(alpha), b=point.b)
    upper = _upper(problem, point, way) if point.has_function and problem.convex else np.inf
    return Interval(-np.inf if np.isnan(lower) else lower, np.inf if np.isnan(upper) else upper, problem.scale)


def evaluate(problem: MarginProblem, point: Point) -> Evaluation:
    """f at the points and |f|^2 of a point's w or beta, with error bounds; beta is taken through w = Z' beta where there are features Z.

    There the rounded w is itself the function that is judged, so its rounding is no error; for any other kernel so are the rounded sums of
    the coefficients of equal points, which are exact where they come from multipliers.
    """
    if problem.explicit is not None:
        return _evaluate_w(problem.explicit, point.w if point.w is not None else problem.explicit.rdot(_given(point.beta)))
    beta = problem.gram.merged(_given(point.beta))
    f, f_error = product(problem, beta)
    size = np.abs(beta)
    norm2 = float(beta @ f)
    error = float(size @ f_error) + gamma_n(problem.m + 2) * float(size @ np.abs(f))
    return Evaluation(f, f_error, max(norm2, 0.0), error * (1 + gamma_n(problem.m + 4)))


def product(problem: Problem, v: Array) -> tuple[Array, Array]:
    """K v and a bound on its error, both (m,), in float64; computed in extended precision where float64 would leave more than ROUGH."""
    f, error = _touched_product(problem, v) if problem.m > STORED_ROWS else problem.gram.product(v)
    asked = problem.rows.largest_target
    extended = problem.gram.extended if float(error.max(initial=0.0)) > ROUGH * asked else None
    if extended is None:
        return f, error
    exact, error = extended.product(v)
    f = exact.astype(np.float64)
    return f, error.astype(np.float64) + 2 * UNIT * np.abs(f) + 1e-300


def _touched_product(problem: Problem, v: Array) -> tuple[Array, Array]:
    """K v and a bound on its error where a row or v looks, 0 elsewhere."""
    points = np.union1d(problem.rows.touched, np.flatnonzero(v))
    f, error = np.zeros(problem.m), np.zeros(problem.m)
    f[points], error[points] = (problem.gram if len(points) == problem.m else problem.gram.part(points)).product(v[points])
    return f, error


def arithmetic(problem: Problem, alpha: Array | None = None) -> float:
    """u C K_ii over the margins asked for: f = K beta with |beta_i| up to C is computed no better by anybody in float64.

    Parameters
    ----------
    problem : MarginProblem or OneNormProblem.  alpha : (p,) multipliers, which on hard rows take the place of C; 0 without.
    """
    if isinstance(problem, OneNormProblem):
        largest, square = problem.C, float(np.abs(problem.gram.diagonal).max(initial=0.0))
    else:
        finite, Z = problem.group_costs[np.isfinite(problem.group_costs)], problem.explicit
        largest = float(finite.max(initial=0.0)) or (problem.C if np.isfinite(problem.C) else 0.0)  # noise, where nothing may cost
        if len(finite) < len(problem.group_costs) and alpha is not None:
            largest = max(largest, float(np.abs(np.nan_to_num(alpha)).max(initial=0.0, where=np.isinf(problem.costs))))
        square = float(np.abs(problem.gram.diagonal).max(initial=0.0)) if Z is None else Z.largest_square()
    return UNIT * largest * square / problem.rows.largest_target


def _evaluate_w(Z: Explicit, w: Array) -> Evaluation:
    norm2 = float(w @ w)
    error = gamma_n(Z.q + 2) * (abs(Z) @ np.abs(w)) * (1 + gamma_n(Z.q + 2))
    return Evaluation(Z @ w, error, norm2, gamma_n(Z.q + 2) * norm2)


def _upper(problem: MarginProblem, point: Point, way: float) -> float:
    """U(f, b) = 1/2 |f|^2 + sum_r c_r loss(u_r), every term rounded one way, where hard rows are met by repair."""
    at = evaluate(problem, point)
    if not np.isfinite(at.f).all() or (problem.rows.p > LISTED and not problem.swept):
        return np.inf
    if isinstance(problem.rows, LabelledPairs) and problem.swept:
        slacks = problem.rows.slacks(at.f, problem.group_costs)
        loss = slacks.loss_bound(problem.squared, float(at.f_error.max(initial=0.0)), way)
        return (max(at.norm2 + way * at.norm2_error, 0.0) / 2 + loss) * (1 + way * 16 * UNIT)
    b = problem.bias_at(at.f) if point.b is None else point.b
    if not np.isfinite(b):
        return np.inf
    u, factor = _needed(problem, at, b, way), 1.0
    hard = np.isinf(problem.costs)
    if (u[hard] > 0).any():
        if isinstance(problem.rows, Tube):
            return _blended_upper(problem, point, u, b, way)
        margin = problem.rows.t - u  # what every row reaches for sure; t = 1 here
        if not margin[hard].min() > 0:
            return np.inf
        factor = float((problem.rows.t[hard] / margin[hard]).max()) * (1 + way * 8 * UNIT)
        u = np.where(hard, 0.0, problem.rows.t - factor * margin + way * 8 * UNIT * np.abs(factor * margin))
    norm2 = max(at.norm2 + way * at.norm2_error, 0.0)
    return (factor**2 * norm2 / 2 + math.fsum(problem.losses(u).tolist())) * (1 + way * 16 * UNIT)


def _needed(problem: MarginProblem, at: Evaluation, b: float, way: float) -> Array:
    """An upper bound of u_r = t_r - (A f)_r - b s_r, (p,); inward a lower one."""
    rows = problem.rows
    size = np.abs(rows.t) + rows.absolute_dot(np.abs(at.f)) + abs(b)
    return problem.slack(at.f, b) + way * (rows.absolute_dot(at.f_error) * (1 + 4 * UNIT) + 6 * UNIT * size)


def _blended_upper(problem: MarginProblem, point: Point, u: Array, b: float, way: float) -> float:
    """U at (1 - theta) (f, b) + theta (f0, b0): (f0, b0) strictly inside the tube, theta just enough; inf if none is."""
    inside = strictly_inside(problem)
    if inside is None:
        return np.inf
    hard = np.isinf(problem.costs)
    room = -_needed(problem, evaluate(problem, inside), float(inside.b or 0.0), way)
    short = hard & (u > 0)
    if not room[hard].min() > 0:
        return np.inf
    theta = 2 * float((u[short] / (u[short] + room[short])).max())  # twice what is needed leaves room for its own rounding,
    while theta < 1.0:
        blend = _blended(problem, Point(w=point.w, beta=point.beta, b=b), inside, theta)
        if not (_needed(problem, evaluate(problem, blend), float(blend.b or 0.0), way)[hard] > 0).any():
            return _upper(problem, blend, way)
        theta *= 16.0  # or not enough, where b or large coefficients are rounded
    return _upper(problem, inside, way)


def _blended(problem: MarginProblem, point: Point, inside: Point, theta: float) -> Point:
    """(1 - theta) times one point and theta times the other."""
    v = (1 - theta) * _coefficients(problem, point) + theta * _coefficients(problem, inside)
    b = (1 - theta) * float(point.b or 0.0) + theta * float(inside.b or 0.0)
    return Point(w=v, b=b) if problem.explicit is not None else Point(beta=v, b=b)


def _coefficients(problem: MarginProblem, point: Point) -> Array:
    """w where there are explicit features, beta otherwise."""
    if problem.explicit is None:
        return _given(point.beta)
    return point.w if point.w is not None else problem.explicit.rdot(_given(point.beta))


def _lower(problem: MarginProblem, alpha: Any, way: float) -> float:
    """L(alpha) = t'alpha - 1/2 |A'alpha|_K^2 [- sum alpha^2 / (4 c)] at exactly feasible multipliers, every term rounded one way."""
    if problem.swept and isinstance(alpha, ImplicitMultipliers):
        return _lower_by_sweeps(problem, alpha, way)
    hard = np.isinf(problem.costs)
    gain, norm2 = _dual_terms(problem, alpha, way)
    if hard.any() and gain > 0:  # the best multiple of a hard dual; a ray's norm2 is 0 or rounding noise only
        factor = min(gain / max(norm2, 1e-300), 1e100 / float(alpha.max()))  # finite multipliers along a ray, too
        factor = factor if hard.all() else min(factor, 1.0)
        even = 2.0 ** np.floor(np.log2(factor))  # scales to the bit, so that what cancels in a ray goes on cancelling
        return max(_dual_value(problem, problem.repaired(multiple * alpha), way) for multiple in (factor, even))
    return _dual_value(problem, alpha, way)


def _dual_value(problem: MarginProblem, alpha: Array, way: float) -> float:
    """L of multipliers as they are, every term rounded one way."""
    gain, norm2 = _dual_terms(problem, alpha, way)
    ridge = math.fsum(problem.dual_ridge(alpha).tolist()) * (1 + way * 8 * UNIT)
    return gain - norm2 / 2 - ridge - way * 8 * UNIT * (abs(gain) + norm2 + ridge)


def _dual_terms(problem: MarginProblem, alpha: Array, way: float) -> tuple[float, float]:
    """A lower bound of t'alpha and an upper bound of |A'alpha|_K^2, inward the other way round; A'alpha is exact, because the multipliers
    lie on a grid.
    """
    products = problem.rows.t * alpha
    gain = math.fsum(products.tolist()) - way * 4 * UNIT * math.fsum(np.abs(products).tolist())
    return gain, _norm2_bound(problem, problem.rows.rdot(alpha), way)


def _norm2_bound(problem: MarginProblem, beta: Array, way: float) -> float:
    """An upper bound of |f|^2 of the coefficients beta (m,), inward a lower one."""
    if problem.explicit is not None:
        w, error = _weights(problem, problem.explicit, beta)
        size = np.maximum(np.abs(w) + way * error, 0.0)
        return float(size @ size) * (1 + way * gamma_n(len(w) + 12))
    at = evaluate(problem, Point(beta=beta))
    return max(at.norm2 + way * at.norm2_error, 0.0)


def _lower_by_sweeps(problem: MarginProblem, alpha: ImplicitMultipliers, way: float) -> float:
    """As `_lower` for implicit multipliers, whose A'alpha carries the rounding of its sums: |f|_K by at most its sum times sqrt(K_ii)."""
    reach = math.sqrt(float(np.abs(problem.gram.diagonal).max(initial=0.0)))
    beta, error = alpha.rmatvec(), alpha.rmatvec_error()
    if problem.explicit is None:  # coefficients of equal points are put together
        error += gamma_n(problem.m) * float(np.abs(beta).sum())
    norm = math.sqrt(_norm2_bound(problem, beta, way)) + way * 1.01 * error * reach
    norm2 = max(norm, 0.0) ** 2 * (1 + way * 8 * UNIT)
    gain = alpha.dual_bound(problem.squared, way)
    return gain - norm2 / 2 - way * 8 * UNIT * (abs(gain) + norm2)


def _weights(problem: MarginProblem, Z: Explicit, beta: Array) -> tuple[Array, Array]:
    """w = Z'beta and a bound on its error, both (q,), in extended precision where they cancel."""
    w, size = Z.rdot(beta), abs(Z).rdot(np.abs(beta))
    gamma, extended = gamma_n(problem.m + 2), problem.gram.extended
    if extended is not None and float(size.max(initial=0.0)) * gamma > ROUGH * float(np.abs(w).max(initial=0.0)):
        exact = Explicit(extended.X, Z.constant).rdot(beta.astype(np.longdouble))
        w, gamma = exact.astype(np.float64), gamma_n(problem.m + 2, unit_of(exact))
    return w, gamma * size * (1 + gamma_n(problem.m + 2)) + 2 * UNIT * np.abs(w)


def _linear_upper(problem: OneNormProblem, x: Array, way: float) -> float:
    """1'x + C sum_r (1 - (B x)_r)_+ at x >= 0, rounded one way."""
    x = np.clip(np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0), 0.0, None)
    if problem.over == "pairs":  # A'x must be exact
        x = on_grid(x, np.full(len(x), np.inf), np.zeros(len(x)))
    f, error = product(problem, problem.coefficients(x))
    noise = problem.rows.absolute_dot(error + 4 * UNIT * np.abs(f)) + 4 * UNIT
    xi = np.maximum(1.0 - problem.rows.dot(f) + way * noise, 0.0)
    return (math.fsum(x.tolist()) + problem.C * math.fsum(xi.tolist())) * (1 + way * 16 * UNIT)


def _linear_lower(problem: OneNormProblem, u: Array, way: float) -> float:
    """1'u at 0 <= u <= C with B'u <= 1, met by dividing by max(1, max B'u), rounded one way."""
    rows = problem.rows
    u = on_grid(u, np.full(problem.p, problem.C), rows.s)
    g, error = product(problem, rows.rdot(u))
    if problem.over == "pairs":
        price = rows.dot(g) + way * (rows.absolute_dot(error) + 4 * UNIT * rows.absolute_dot(np.abs(g)))
    else:
        price = g + way * error
    return math.fsum(u.tolist()) / max(1.0, float(price.max(initial=0.0))) * (1 - way * 16 * UNIT)


def _given(v: Array | None) -> Array:
    if v is None:
        raise ValueError("the point has no coefficients beta")
    return v
