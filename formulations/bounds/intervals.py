"""Proven intervals: rigorous lower and upper bounds on an optimum, from one point.

Weak duality gives both bounds: L(alpha) <= optimum <= U(f, b) for every feasible alpha
and every (f, b). The point is first repaired, so that it is exactly feasible. Every
operation is then rounded outward, and every sum carries an a-priori bound on its
rounding and underflow (`numeric/rounding.py`; rounding modes are not used). The kernel
bounds the rounding of the entries of K. The interval therefore holds for the mathematical
kernel at the given floats, and for the exact costs C x weight. A bound that overflows
is infinite, which is always true.

An interval belongs to a problem and a point, not to a solver. The point of a wrong
formulation has a valid interval, too. The sums with every rounding inverted give the
inner interval [lower, upper]: in exact arithmetic L(alpha) <= lower and upper <=
U(f, b), so that it bounds the point's distance from the optimum from below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.bounds.evaluate import (
    LARGEST_VALUE_ERROR,
    Evaluation,
    coefficients,
    compute_weights,
    evaluate,
    inner_error,
    kernel_product,
    make_point,
    prepare_products,
)
from equimargin.formulations.bounds.slater import find_slater_point
from equimargin.formulations.notebook import notebook_html
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.decimals import format_lower, format_upper
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.numeric.rounding import (
    UNIT,
    add_rounded,
    divide_rounded,
    gamma_n,
    max_or_inf,
    multiply_rounded,
    round_toward,
    sqrt_rounded,
    sum_rounded,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.rows.base import Multipliers
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs, Tube
from equimargin.formulations.rows.loss import HINGE
from equimargin.formulations.rows.pair_multipliers import (
    AnyMultipliers,
    FewMultipliers,
    PairMultipliers,
)
from equimargin.formulations.rows.pair_slacks import PairSlacks

SIZE_FLOOR = 1e-4
"""Minimum divisor of relative figures, as a share of P(0).

An optimum far below P(0) is 0 within a user's tolerance.
"""
MOST_DIGITS = 15
"""Maximum number of significant digits that are claimed: float64 keeps any 15 digits."""
LARGEST_LOSS_ERROR = 1e-10
"""Maximum error of the sum of losses, over U or SIZE_FLOOR x P(0).

Above it f is evaluated again, in extended precision. Large costs can multiply a small
error of f to this size.
"""
LARGEST_MULTIPLIER = 1e100
"""Largest multiplier of a hard row that is tried.

Larger ones could prove a bound near the largest float, which is no more informative.
"""
OUTWARD = 1.0
"""Sign of outward rounding, which proves that the optimum lies inside an interval."""
INWARD = -1.0
"""Sign of inward rounding: the point's exact values lie outside the interval."""


def relative_size(at_0: float, *values: float) -> float:
    """Return S = max(|value|, ..., 1e-4 P(0)), the divisor of relative figures.

    The maximum is over the finite numbers; S is 0 if there is none.

    Parameters
    ----------
    at_0 : float
        P(0), the primal value at f = 0.
    *values : float
        Reference values of a figure, such as both bounds of an interval.

    Returns
    -------
    float
        S, in units of the objective.
    """
    return max(filter(math.isfinite, map(abs, (*values, SIZE_FLOOR * at_0))), default=0.0)


@dataclass(frozen=True)
class Interval:
    """Proven interval, lower <= optimum <= upper.

    Attributes
    ----------
    lower, upper : float
        Bounds of the optimum.
    scale : float
        P(0), the primal value at f = 0.
    constant : float
        Part of the objective that is equal at every feasible point.
    """

    lower: float
    upper: float
    scale: float = 0.0
    constant: float = 0.0

    @property
    def size(self) -> float:
        """Unit S of relative figures.

        S = max(|lower - constant|, |upper - constant|, 1e-4 P(0)) of the finite ones, at least
        1e-300.
        """
        return max(
            1e-300,
            relative_size(self.scale, self.lower - self.constant, self.upper - self.constant),
        )

    @property
    def relative_width(self) -> float:
        """(upper - lower) / S; 0 where they are equal, inf if a bound is infinite."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / self.size

    @property
    def digits(self) -> tuple[str, int]:
        """Number to which both ends round, and its significant digits; ("", 0) without one."""
        lower, upper = self.lower, self.upper
        if not (math.isfinite(lower) and math.isfinite(upper) and lower <= upper):
            return "", 0
        for digits in range(MOST_DIGITS, 0, -1):
            if f"{lower:.{digits}g}" == f"{upper:.{digits}g}":
                return f"{upper:.{digits}g}", digits
        return "", 0

    @property
    def figures(self) -> dict[str, str]:
        """Ends and relative width as text, rounded outward, by name."""
        return {
            "lower": format_lower(self.lower, MOST_DIGITS),
            "upper": format_upper(self.upper, MOST_DIGITS),
            "relative width": format_upper(self.relative_width, 2),
        }

    def _repr_html_(self) -> str:
        """Return the figures for a notebook."""
        return notebook_html("Interval", self.figures.items())

    def intersected(self, other: Interval) -> Interval:
        """Return the intersection with another interval of the optimum.

        Parameters
        ----------
        other : Interval
            Interval of the optimum with the constant of this one.

        Returns
        -------
        Interval
            Interval that follows from both.
        """
        return Interval(
            max(self.lower, other.lower),
            min(self.upper, other.upper),
            max(self.scale, other.scale),
            self.constant,
        )


def interval(problem: Problem, point: CanonicalPoint) -> Interval:
    """Return the interval that a point proves, [L(repaired alpha), U(f, b)].

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem. The interval is that of `problem.proven`.
    point : CanonicalPoint
        f (w or beta), b and alpha, each or None; without b the best one is taken, without f
        the one of alpha, A' alpha. For a OneNormProblem x and u, each or None.

    Returns
    -------
    Interval
        lower = -inf without alpha or without a positive semidefinite kernel; upper = inf
        without f and alpha, without such a kernel, or if no repair satisfies a hard row.

    Raises
    ------
    ValueError
        If the point is of another kind of problem.

    References
    ----------
    N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1, for gamma_n;
    the bounds are weak duality.
    """
    return _interval(problem, point, OUTWARD)


def inner_interval(problem: Problem, point: CanonicalPoint) -> Interval:
    """Bound the exact values of a point: L(repaired alpha) <= lower, upper <= U(f, b).

    The point is repaired as in `interval`, and the sums of `interval` are rounded inward.
    Exact arithmetic would therefore prove no narrower interval than this one with these
    repairs. The result bounds the point's distance from the optimum from below. Its lower
    end may exceed its upper.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    point : CanonicalPoint
        Point as in `interval`.

    Returns
    -------
    Interval
        lower = -inf and upper = inf as in `interval`.
    """
    return _interval(problem, point, INWARD)


@np.errstate(all="ignore")
def prepare_intervals(problem: MarginProblem, *points: Point) -> None:
    """Compute the products that the intervals of several points need in one pass over K.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the points.
    *points : Point
        Points as in `interval`.
    """
    problem = problem.proven
    if problem.explicit is not None:
        return
    of_alpha = [point.alpha for point in points if point.alpha is not None]
    pulls = [problem.rows.rdot(problem.repaired(alpha)) for alpha in of_alpha]
    prepare_products(problem, *pulls, *(point.beta for point in points if point.beta is not None))


# Overflow, underflow and NaN are covered by the bounds.
@np.errstate(all="ignore")
def _interval(problem: Problem, point: CanonicalPoint, way: float) -> Interval:
    problem = problem.proven
    if isinstance(problem, OneNormProblem):
        return _of_linear_program(problem, problem.own_point(point), way)
    return _of_margin_problem(problem, problem.own_point(point), way)


def _of_linear_program(problem: OneNormProblem, point: OneNormPoint, way: float) -> Interval:
    lower = -np.inf if point.u is None else _linear_lower(problem, point.u, way)
    upper = np.inf if point.x is None else _linear_upper(problem, point.x, point.b, way)
    return Interval(lower, upper, problem.scale)


def _of_margin_problem(problem: MarginProblem, point: Point, way: float) -> Interval:
    alpha = None if point.alpha is None else problem.repaired(point.alpha)
    if alpha is not None and point.beta is not None:
        # The sides of the interval need a product each, with almost equal coefficients.
        prepare_products(problem, problem.rows.rdot(alpha), point.beta)
    lower = -np.inf if alpha is None or not problem.convex else _lower(problem, alpha, way)
    if not point.has_function and alpha is not None:
        point = Point(beta=problem.rows.rdot(alpha), b=point.b)
    upper = _upper(problem, point, way) if point.has_function and problem.convex else np.inf
    return Interval(lower, upper, problem.scale)


def _upper(
    problem: MarginProblem, point: Point, way: float, rough: float = LARGEST_VALUE_ERROR
) -> float:
    """Return U(f, b) = 1/2 |f|^2 + sum_r c_r loss(u_r), every term rounded outward or inward.

    Hard rows are satisfied by repair. See `evaluate` for rough.
    """
    evaluation, unknown = evaluate(problem, point, rough), np.inf if way > 0 else 0.0
    if not np.isfinite(evaluation.f).all():
        return unknown
    if isinstance(problem.rows, LabelledPairs) and problem.rows.many:
        return _swept_upper(problem, problem.rows, evaluation, point.alpha, way)
    b = problem.bias_at(evaluation.f) if point.b is None else point.b
    if not np.isfinite(b).all():
        return unknown
    hard, (least, most) = _hard(problem), _slacks_within(problem, evaluation, b)
    violated = bool((most[hard] > 0).any())
    if violated and not isinstance(problem.rows, Tube):
        return _scaled_upper(problem, evaluation, b, way)
    checked, sides = rough > 0.0 and _extended(problem), ((least, INWARD), (most, OUTWARD))
    losses = {side: _losses(problem, u, side) for u, side in sides if checked or side == way}
    value = _at_least_0(add_rounded(_half_norm2(evaluation, way), losses[way], way))
    if checked and _is_rough(problem, evaluation, losses):
        return _upper(problem, point, way, 0.0)
    repaired = _met(problem, point, most, b) if violated else None
    # In exact arithmetic the point may satisfy its hard rows without repair.
    return value if repaired is None else float(np.minimum(value, _upper(problem, repaired, way)))


def _swept_upper(
    problem: MarginProblem,
    rows: LabelledPairs,
    at: Evaluation,
    alpha: AnyMultipliers | None,
    way: float,
) -> float:
    """Return U by sweeps over implicit pairs.

    U is taken at the smallest multiple of f that satisfies all hard pairs; it is inf if
    none does. Rounded inward, the multiple is only known to be at least `factor`, and the
    soft pairs count as 0 unless it is certainly 1.
    """
    costs, error = _costs(problem, way), max_or_inf(at.f_error)
    hard = np.isinf(_costs(problem, INWARD))
    least = rows.least_margin(at.f, hard)
    noise = float(round_toward(2.02 * error + 2 * UNIT * abs(least), 1)) if hard.any() else 0.0
    reached = float(add_rounded(least, -way * noise, -way))
    if not reached > 0:
        return np.inf if way > 0 or least <= -noise else 0.0
    factor, soft = (
        max_or_inf(divide_rounded(1.0, np.array([reached]), way), 1.0),
        np.where(hard, 0.0, costs),
    )
    norm = multiply_rounded(multiply_rounded(factor, factor, way), _half_norm2(at, way), way)
    if way < 0 and not least - noise >= 1.0:
        return _at_least_0(norm)
    f = factor * at.f
    error_of_f = multiply_rounded(factor, error, way) + 2 * UNIT * max_or_inf(np.abs(f))
    slacks, slack_error = _slacks_near(rows, f, soft, alpha, error_of_f)
    return _at_least_0(
        add_rounded(norm, slacks.loss_bound(problem.squared, error_of_f + slack_error, way), way)
    )


def _slacks_near(
    rows: LabelledPairs, f: Array, costs: Array, alpha: AnyMultipliers | None, error: float
) -> tuple[PairSlacks, float]:
    """Return the slacks at f (m,), and a bound on their error.

    The sorted slacks of the multipliers are reused if their f is within `error`.
    """
    sorted_slacks = alpha.slacks if isinstance(alpha, PairMultipliers) else None
    if isinstance(sorted_slacks, PairSlacks) and sorted_slacks.rows is rows:
        distance = float(round_toward(max_or_inf(np.abs(f - sorted_slacks.f)), OUTWARD))
        if distance <= error:
            return sorted_slacks.at_costs(costs), distance
    return rows.slacks(f, costs), 0.0


def _is_rough(problem: MarginProblem, at: Evaluation, losses: Mapping[float, float]) -> bool:
    """Return True if the rounding of f is a large part of U.

    The losses are those of both rounding directions, so that both bounds are of one point.
    """
    value = _at_least_0(add_rounded(_half_norm2(at, OUTWARD), losses[OUTWARD], OUTWARD))
    spread = losses[OUTWARD] - losses[INWARD]
    return bool(
        spread > LARGEST_LOSS_ERROR * max_or_inf(np.array([value]), SIZE_FLOOR * problem.scale)
    )


def _extended(problem: MarginProblem) -> bool:
    """Return True if f can be evaluated quickly in extended precision."""
    return (
        problem.gram.extended is not None if problem.explicit is None else problem.explicit.extended
    )


def _half_norm2(at: Evaluation, way: float) -> float:
    """Return 1/2 |f|^2, rounded up or down."""
    return float(
        np.maximum(
            multiply_rounded(0.5, add_rounded(at.norm2, way * at.norm2_error, way), way), 0.0
        )
    )


def _losses(problem: Problem, u: Array, way: float) -> float:
    """Return sum_r c_r loss(u_r), rounded up or down."""
    costs = problem.rows.spread(_costs(problem, way))
    # The loss of any other row is 0; that of a NaN is not left out.
    paid = ~(u <= -problem.phi.width)
    return sum_rounded(problem.phi.bound(u[paid], costs[paid], way), way)


def losses_above(problem: MarginProblem, at: Evaluation, b: AnyBias) -> float:
    """Return an upper bound of sum_r c_r loss(u_r) for every f within the errors of a value.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the rows; infinite if a hard row may be violated.
    at : Evaluation
        Values of f and bounds on their errors.
    b : float or ndarray of shape (T,)
        Bias.
    """
    return _losses(problem, _needed(problem, at, b, OUTWARD), OUTWARD)


def _costs(problem: Problem, way: float) -> Array:
    """Return c of every group, (groups,), rounded up or down."""
    least, most = problem.group_costs_within
    return most if way > 0 else least


def _hard(problem: MarginProblem) -> NDArray[np.bool_]:
    """Return True for the hard rows, (p,)."""
    return np.isinf(problem.rows.spread(_costs(problem, INWARD)))


def _needed(problem: MarginProblem, at: Evaluation, b: AnyBias, way: float) -> Array:
    """Return an upper bound of u_r = t_r - (A f)_r - (S b)_r, (p,); inward a lower one."""
    return _slacks_within(problem, at, b)[int(way > 0)]


def _slacks_within(problem: MarginProblem, at: Evaluation, b: AnyBias) -> tuple[Array, Array]:
    """Return a lower and an upper bound of u_r = t_r - (A f)_r - (S b)_r, (p,) each."""
    rows = problem.rows
    size = (
        np.abs(rows.t)
        + rows.absolute_dot(np.abs(at.f))
        + (abs(b) if rows.k is None else np.abs(b)[rows.k])
    )
    noise = round_toward(rows.absolute_dot(at.f_error) * (1 + 4 * UNIT) + 8 * UNIT * size, 1)
    u = problem.slack(at.f, b)
    return round_toward(u - noise, INWARD), round_toward(u + noise, OUTWARD)


def _scaled_upper(problem: MarginProblem, at: Evaluation, b: AnyBias, way: float) -> float:
    """Return U at the smallest multiple of (f, b) satisfying all hard rows, with t = 1.

    U is inf if no multiple does. Rounded outward, the multiple is a float that is large
    enough; rounded inward, it is only known to lie between two floats.
    """
    hard, t = _hard(problem), problem.rows.t
    # Margins t_r - u_r, rounded down in the outward direction and up in the inward one.
    reached, reached_opposite = (
        add_rounded(t, -_needed(problem, at, b, side), -side) for side in (way, -way)
    )
    if not reached[hard].min() > 0:
        return np.inf
    factor = max_or_inf(divide_rounded(1.0, reached[hard], way), 1.0)
    margins = multiply_rounded(factor, reached, -way)
    if way < 0:
        largest = (
            max_or_inf(divide_rounded(1.0, reached_opposite[hard], 1), 1.0)
            if reached_opposite[hard].min() > 0
            else np.inf
        )
        margins = np.maximum(margins, multiply_rounded(largest, reached, 1))
    u = np.where(hard, 0.0, add_rounded(t, -margins, way))
    norm = multiply_rounded(multiply_rounded(factor, factor, way), _half_norm2(at, way), way)
    return _at_least_0(add_rounded(norm, _losses(problem, u, way), way))


def _met(problem: MarginProblem, point: Point, u: Array, b: float) -> Point | None:
    """Return (1 - theta) (f, b) + theta (f0, b0) with all hard rows certainly satisfied.

    (f0, b0) lies strictly inside the tube; theta is close to the smallest that suffices.

    Parameters
    ----------
    point : Point
        Point with the coefficients of f.
    u : ndarray of shape (p,)
        Upper bounds of its u_r, above 0 on some hard row.
    b : float
        Its bias.

    Returns
    -------
    Point
        (f0, b0) if no theta below 1 is enough; None if no point strictly inside is known.
    """
    inside = find_slater_point(problem)
    if inside is None:
        return None
    hard = _hard(problem)
    room = -_needed(problem, evaluate(problem, inside), float(inside.b or 0.0), OUTWARD)
    violated = hard & (u > 0)
    if not room[hard].min() > 0:
        return None
    # For theta below the unit roundoff, 1 - theta rounds to 1.
    least = max_or_inf(u[violated] / (u[violated] + room[violated]), UNIT)
    # Twice the needed theta covers its own rounding.
    theta = 2 * least
    while theta < 1.0:
        blend = _blended(problem, Point(w=point.w, beta=point.beta, b=b), inside, theta)
        if not (
            _needed(problem, evaluate(problem, blend), float(blend.b or 0.0), OUTWARD)[hard] > 0
        ).any():
            return blend
        # theta is too small if rounding of b or of large coefficients dominates.
        theta *= 16.0
    return inside


def _blended(problem: MarginProblem, point: Point, inside: Point, theta: float) -> Point:
    """Return (1 - theta) times one point plus theta times the other."""
    v = (1 - theta) * coefficients(problem, point) + theta * coefficients(problem, inside)
    return make_point(
        problem, v, (1 - theta) * float(point.b or 0.0) + theta * float(inside.b or 0.0)
    )


def _lower(problem: MarginProblem, alpha: ArrayLike | Multipliers, way: float) -> float:
    """Return L(alpha) at exactly feasible multipliers, every term rounded outward or inward.

    L(alpha) = t'alpha - 1/2 |A'alpha|_K^2 - sum c phi*(alpha / c)
    """
    multipliers = problem.rows.multipliers(alpha)
    if not np.isinf(_costs(problem, INWARD)).any():
        return dual_value(problem, multipliers, way)
    if isinstance(multipliers, FewMultipliers):
        return _lower(_of_few(problem, multipliers), multipliers.alpha, way)
    if problem.rows.many:
        return dual_value(problem, multipliers, way)
    alpha = np.asarray(alpha)
    if not alpha.any():
        return dual_value(problem, multipliers, way)
    multiple_given = _power_of_two(max_or_inf(alpha))
    # The division is exact, as the multipliers lie on a dyadic grid.
    shape = alpha / multiple_given
    gain, _ = problem.rows.multipliers(shape).proven(HINGE, problem.group_costs_within, OUTWARD)
    if not gain > 0:
        return dual_value(problem, multipliers, way)
    multiples = _multiples(problem, shape, gain, multiple_given)
    return max(
        dual_value(problem, problem.rows.multipliers(problem.repaired(multiple * shape)), way)
        for multiple in multiples
    )


def _of_few(problem: MarginProblem, multipliers: FewMultipliers) -> MarginProblem:
    """Return the problem of these pairs and their points alone.

    Its optimum is at most that of all pairs, and L of these multipliers is unchanged.
    """
    points, few = multipliers.points, multipliers.few
    weights = None if problem.weights is None else multipliers.get_costs(problem.weights)
    X = problem.X[np.ix_(points, points)] if problem.kernel.given else problem.X[points]
    rows = Pairs(
        np.searchsorted(points, few.preferred), np.searchsorted(points, few.other), len(points)
    )
    return replace(problem, X=X, rows=rows, weights=weights)


def _multiples(
    problem: MarginProblem, shape: Array, gain: float, own: float
) -> tuple[float, float]:
    """Return multiples of the multipliers at which L is large.

    They do not depend on the rounding direction of L. On the ray of a shape L(c shape) =
    c gain - c^2 norm2 / 2 is largest at c = gain / norm2. That is one multiple; the other
    is the power of two below it, which scales exactly and so preserves the cancellation
    along a ray.

    Parameters
    ----------
    shape : ndarray of shape (p,)
        Multipliers, the largest in [1, 2), so that their scale makes neither gain nor norm2
        overflow or underflow.
    gain : float
        A lower bound of t'shape, above 0.
    own : float
        Multiple of the given multipliers, which is not exceeded if a row is soft.
    """
    norm2 = 2 * _half_norm2_above(problem, problem.rows.rdot(shape), OUTWARD)
    # Along a ray norm2 is 0; the cap keeps the multiple finite.
    best = min(float(divide_rounded(gain, norm2, -1)), LARGEST_MULTIPLIER)
    best = best if _hard(problem).all() else min(best, own)
    return best, _power_of_two(best)


def _power_of_two(x: float) -> float:
    """Return the largest power of two that is not above x > 0."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def dual_value(problem: MarginProblem, multipliers: Multipliers, way: float) -> float:
    """Return L of feasible multipliers without repair, every term rounded outward or inward.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the multipliers.
    multipliers : Multipliers
        Exactly feasible multipliers.
    way : float
        `OUTWARD` for a lower bound of L, `INWARD` for an upper one.

    Returns
    -------
    float
        Bound of the dual value.
    """
    gain, ridge = multipliers.proven(problem.phi, problem.group_costs_within, way)
    return float(
        add_rounded(
            add_rounded(gain, -_half_norm2_of(problem, multipliers, way), -way), -ridge, -way
        )
    )


def _half_norm2_of(problem: MarginProblem, multipliers: Multipliers, way: float) -> float:
    """Return an upper bound of 1/2 |A'alpha|_K^2, inward a lower one.

    An error e of A'alpha changes |f|_K by at most e sqrt(K_ii).
    """
    beta, error = multipliers.pull(), multipliers.pull_error()
    half = _half_norm2_above(problem, beta, way)
    # A'alpha is exact.
    if error == 0.0:
        return half
    # The coefficients of equal points are summed, with rounding.
    if problem.explicit is None:
        error += gamma_n(problem.m) * float(np.abs(beta).sum())
    norm_error = multiply_rounded(1.01 * error, sqrt_rounded(problem.gram.diagonal_bound, 1), 1)
    norm = np.maximum(add_rounded(sqrt_rounded(2 * half, way), way * norm_error, way), 0.0)
    return float(multiply_rounded(0.5, multiply_rounded(norm, norm, way), way))


def _half_norm2_above(problem: MarginProblem, beta: Array, way: float) -> float:
    """Return an upper bound of 1/2 |f|^2 of the coefficients beta (m,), inward a lower one."""
    if problem.explicit is None:
        return _half_norm2(evaluate(problem, Point(beta=beta), norm_only=True), way)
    w, error = compute_weights(problem, problem.explicit, beta)
    size = np.maximum(add_rounded(np.abs(w), way * error, way), 0.0)
    return _half_norm2(
        Evaluation(w, error, float(size @ size), inner_error(size, size, 0.0 * size)), way
    )


def _linear_upper(problem: OneNormProblem, x: Array, b: float | None, way: float) -> float:
    """Return 1'x + sum_r c_r (1 - (B x)_r - b s_r)_+ at x >= 0, rounded outward or inward.

    The best b is taken if b is missing or not finite.
    """
    x = np.clip(np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0), 0.0, None)
    # A'x must be exact.
    if problem.over == "rows":
        x = round_to_dyadic_grid(x, np.full(len(x), np.inf), np.zeros(len(x)))
    f, error = kernel_product(problem, problem.coefficients(x))
    b = problem.bias_at(f) if b is None or not np.isfinite(b) else b
    noise = round_toward(
        problem.rows.absolute_dot(error + 4 * UNIT * np.abs(f)) + 4 * UNIT * (1 + abs(b)), 1
    )
    xi = np.maximum(
        round_toward(1.0 - problem.rows.dot(f) - b * problem.bias_signs + way * noise, way), 0.0
    )
    return _at_least_0(add_rounded(sum_rounded(x, way), _losses(problem, xi, way), way))


def _linear_lower(problem: OneNormProblem, u: Array, way: float) -> float:
    """Return 1'u at 0 <= u <= c with s'u = 0 and B'u <= 1, rounded outward or inward.

    B'u <= 1 is satisfied by dividing by max(1, max B'u).
    """
    rows, u = problem.rows, problem.feasible(u)
    g, error = kernel_product(problem, rows.rdot(u))
    if problem.over == "rows":
        price = rows.dot(g) + way * (
            rows.absolute_dot(error) + 4 * UNIT * rows.absolute_dot(np.abs(g))
        )
    else:
        price = g + way * error
    price = np.maximum(round_toward(price, way), 1.0)
    return _at_least_0(divide_rounded(sum_rounded(u, -way), max_or_inf(price, 1.0), -way))


def _at_least_0(bound: Any) -> float:
    """Clip a bound of a nonnegative number at 0."""
    return float(np.maximum(bound, 0.0))
