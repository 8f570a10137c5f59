"""Proven intervals: rigorous lower and upper bounds on a problem's optimum from one point.

Weak duality gives both sides: L(alpha) <= optimum <= U(f, b) for every feasible alpha and every (f, b). The point is first repaired to
exact feasibility; every sum then carries an a-priori bound on its rounding (gamma_n = n u / (1 - n u), no rounding modes), and the
entries of K carry the kernel's own bound, so the interval is about the mathematical kernel of the given floats.

An interval belongs to a problem and a point, not to a solver; a wrong formulation's point has a true interval too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.features import Explicit
from equimargin.formulations.interior import strictly_inside
from equimargin.formulations.kernels import UNIT, Array, gamma_n
from equimargin.formulations.problem import MarginProblem, OneNormProblem, Point, Problem, on_grid
from equimargin.formulations.rows import Tube

FLOOR = 1e-4
"""Relative figures are over S = max(|lower|, |upper|, FLOOR x P(0))."""


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
    if isinstance(problem, OneNormProblem):
        lower = -np.inf if point.alpha is None else _linear_lower(problem, point.alpha)
        upper = np.inf if point.beta is None else _linear_upper(problem, point.beta)
        return Interval(lower, upper, problem.scale)
    alpha = None if point.alpha is None else problem.repaired(point.alpha)
    lower = -np.inf if alpha is None or not problem.convex else _lower(problem, alpha)
    if not point.has_function and alpha is not None:
        point = Point(beta=problem.rows.rdot(alpha), b=point.b)
    upper = _upper(problem, point) if point.has_function and problem.convex else np.inf
    return Interval(lower, upper, problem.scale)


def evaluate(problem: MarginProblem, point: Point) -> Evaluation:
    """f at the points and |f|^2 of a point's w or beta, with error bounds; beta is taken through w = Z' beta where there are features Z.

    There the rounded w is itself the function that is judged, so its rounding is no error.
    """
    if problem.explicit is not None:
        return _evaluate_w(problem.explicit, point.w if point.w is not None else problem.explicit.rdot(_given(point.beta)))
    beta = _given(point.beta)
    f, f_error = problem.gram.product(beta)
    size = np.abs(beta)
    norm2 = float(beta @ f)
    error = float(size @ f_error) + gamma_n(problem.m + 2) * float(size @ np.abs(f))
    return Evaluation(f, f_error, max(norm2, 0.0), error * (1 + gamma_n(problem.m + 4)))


def _evaluate_w(Z: Explicit, w: Array) -> Evaluation:
    norm2 = float(w @ w)
    error = gamma_n(Z.q + 2) * (abs(Z) @ np.abs(w)) * (1 + gamma_n(Z.q + 2))
    return Evaluation(Z @ w, error, norm2, gamma_n(Z.q + 2) * norm2)


def _upper(problem: MarginProblem, point: Point) -> float:
    """U(f, b) = 1/2 |f|^2 + sum_r c_r loss(u_r), every term rounded up, where hard rows are met by repair."""
    at = evaluate(problem, point)
    b = problem.bias_at(at.f) if point.b is None else point.b
    if not np.isfinite(b) or not np.isfinite(at.f).all():
        return np.inf
    u, factor = _needed(problem, at, b), 1.0
    hard = np.isinf(problem.costs)
    if (u[hard] > 0).any():
        if isinstance(problem.rows, Tube):
            return _blended_upper(problem, point, u, b)
        margin = problem.rows.t - u  # what every row reaches for sure; t = 1 here
        if not margin[hard].min() > 0:
            return np.inf
        factor = float((problem.rows.t[hard] / margin[hard]).max()) * (1 + 8 * UNIT)
        u = np.where(hard, 0.0, problem.rows.t - factor * margin + 8 * UNIT * np.abs(factor * margin))
    return (factor**2 * (at.norm2 + at.norm2_error) / 2 + math.fsum(problem.losses(u).tolist())) * (1 + 16 * UNIT)


def _needed(problem: MarginProblem, at: Evaluation, b: float) -> Array:
    """An upper bound of u_r = t_r - (A f)_r - b s_r, (p,)."""
    rows = problem.rows
    size = np.abs(rows.t) + rows.absolute_dot(np.abs(at.f)) + abs(b)
    return problem.slack(at.f, b) + rows.absolute_dot(at.f_error) * (1 + 4 * UNIT) + 6 * UNIT * size


def _blended_upper(problem: MarginProblem, point: Point, u: Array, b: float) -> float:
    """U at (1 - theta) (f, b) + theta (f0, b0): (f0, b0) strictly inside the tube, theta just enough; inf if none is."""
    inside = strictly_inside(problem)
    if inside is None:
        return np.inf
    hard = np.isinf(problem.costs)
    room = -_needed(problem, evaluate(problem, inside), float(inside.b or 0.0))
    short = hard & (u > 0)
    if not room[hard].min() > 0:
        return np.inf
    theta = 2 * float((u[short] / (u[short] + room[short])).max())  # twice what is needed leaves room for its own rounding
    if theta >= 1.0:
        return _upper(problem, inside)
    v = (1 - theta) * _coefficients(problem, point) + theta * _coefficients(problem, inside)
    b = (1 - theta) * b + theta * float(inside.b or 0.0)
    blend = Point(w=v, b=b) if problem.explicit is not None else Point(beta=v, b=b)
    still_short = (_needed(problem, evaluate(problem, blend), b)[hard] > 0).any()
    return np.inf if still_short else _upper(problem, blend)


def _coefficients(problem: MarginProblem, point: Point) -> Array:
    """w where there are explicit features, beta otherwise."""
    if problem.explicit is None:
        return _given(point.beta)
    return point.w if point.w is not None else problem.explicit.rdot(_given(point.beta))


def _lower(problem: MarginProblem, alpha: Array) -> float:
    """L(alpha) = t'alpha - 1/2 |A'alpha|_K^2 [- sum alpha^2 / (4 c)] at exactly feasible multipliers, every term rounded down."""
    hard = np.isinf(problem.costs)
    gain, norm2 = _dual_terms(problem, alpha)
    if hard.any() and norm2 > 0 and gain > 0:  # the best multiple of a hard dual; a ray's norm2 is rounding noise only
        factor = min(gain / norm2, 1e100 / float(alpha.max()))  # finite multipliers along a ray, too
        alpha = problem.repaired(alpha * (factor if hard.all() else min(factor, 1.0)))
        gain, norm2 = _dual_terms(problem, alpha)
    ridge = math.fsum(problem.dual_ridge(alpha).tolist()) * (1 + 8 * UNIT)
    total = gain - norm2 / 2 - ridge
    return total - 8 * UNIT * (abs(gain) + norm2 + ridge)


def _dual_terms(problem: MarginProblem, alpha: Array) -> tuple[float, float]:
    """A lower bound of t'alpha and an upper bound of |A'alpha|_K^2; A'alpha is exact, because the multipliers lie on a grid."""
    products = problem.rows.t * alpha
    gain = math.fsum(products.tolist()) - 4 * UNIT * math.fsum(np.abs(products).tolist())
    beta = problem.rows.rdot(alpha)
    if problem.explicit is not None:
        w = problem.explicit.rdot(beta)
        error = gamma_n(problem.m + 2) * abs(problem.explicit).rdot(np.abs(beta)) * (1 + gamma_n(problem.m + 2))
        norm2 = float(w @ w) + 2 * float(np.abs(w) @ error) + float(error @ error)
        return gain, norm2 * (1 + gamma_n(len(w) + 8))
    at = evaluate(problem, Point(beta=beta))
    return gain, at.norm2 + at.norm2_error


def _linear_upper(problem: OneNormProblem, x: Array) -> float:
    """1'x + C sum_r (1 - (B x)_r)_+ at x >= 0, rounded up."""
    x = np.clip(np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0), 0.0, None)
    if problem.over == "pairs":  # A'x must be exact
        x = on_grid(x, np.full(len(x), np.inf), np.zeros(len(x)))
    f, error = problem.gram.product(problem.coefficients(x))
    xi = np.maximum(1.0 - problem.rows.dot(f) + problem.rows.absolute_dot(error + 4 * UNIT * np.abs(f)) + 4 * UNIT, 0.0)
    return (math.fsum(x.tolist()) + problem.C * math.fsum(xi.tolist())) * (1 + 16 * UNIT)


def _linear_lower(problem: OneNormProblem, u: Array) -> float:
    """1'u at 0 <= u <= C with B'u <= 1, met by dividing by max(1, max B'u), rounded down."""
    rows = problem.rows
    u = on_grid(u, np.full(problem.p, problem.C), rows.s)
    g, error = problem.gram.product(rows.rdot(u))
    if problem.over == "pairs":
        price = rows.dot(g) + rows.absolute_dot(error) + 4 * UNIT * rows.absolute_dot(np.abs(g))
    else:
        price = g + error
    return math.fsum(u.tolist()) / max(1.0, float(price.max(initial=0.0))) * (1 - 16 * UNIT)


def _given(v: Array | None) -> Array:
    if v is None:
        raise ValueError("the point has no coefficients beta")
    return v
