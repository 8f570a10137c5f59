"""Proven bounds where float64 underflows and overflows, against rational numbers.

The values of a point are computed from the formulas in `oracles/rationals.py`; optima
are `exact_optimum`'s. Both are compared as fractions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf, nan, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from equimargin.formulations import (
    MarginProblem,
    OneNormPoint,
    OneNormProblem,
    Point,
    Problem,
    chi2,
    classification,
    interval,
    laplacian,
    linear,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.bounds.evaluate import relative_rounding_error
from equimargin.formulations.bounds.intervals import Interval, inner_interval
from equimargin.formulations.bounds.slater import find_slater_point
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.kernels.given_matrix import proven_shift
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.numeric.rounding import (
    add_rounded,
    bound_products,
    divide_rounded,
    extract,
    max_or_inf,
    multiply_rounded,
    multiply_with_depth,
    round_toward,
    sqrt_rounded,
    sum_rounded,
    threshold,
)
from equimargin.formulations.problem import CanonicalPoint
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.solvers import Status, exact_optimum, solve
from equimargin.solvers.exact_limits import rational_kernel
from equimargin.testing import CANONICAL, ONE_NORM, extreme_problems, extreme_scales
from families import OF_THE_CERTIFICATE, ONE_BIAS
from narrow import as_a, present
from oracles.rationals import (
    apply,
    exact_bias,
    exact_costs,
    exact_dual,
    exact_margins,
    exact_prices,
    exact_primal,
    exponential,
    fractions,
    gram,
    inner,
    is_positive_semidefinite,
)
from places import ROOT

SMALLEST = Fraction(5e-324)
MARGIN_FAMILIES = [family for family in CANONICAL if family not in ONE_NORM]


def within(problem: Problem, point: CanonicalPoint, optimum: Fraction | None) -> Interval:
    """Return the interval; assert that it holds the optimum, None for infinity.

    It must be computed without a warning.
    """
    proven = interval(problem, point)
    if optimum is None:
        assert proven.upper == inf
        return proven
    assert proven.lower == -inf or Fraction(proven.lower) <= optimum
    assert proven.upper == inf or optimum <= Fraction(proven.upper)
    return proven


def best(problem: Problem) -> tuple[Fraction | None, CanonicalPoint]:
    """Return the exact optimum, None for infinity, and a point that nearly attains it."""
    start = None if isinstance(problem, OneNormProblem) else Point(alpha=np.zeros(problem.p))
    with np.errstate(all="ignore"):
        found = exact_optimum(problem, start=start)
    assert found.status in (Status.OPTIMAL, Status.INFEASIBLE)
    beta, alpha = (np.array([nearest(v) for v in values]) for values in (found.beta, found.alpha))
    return found.value, problem.point(
        beta, alpha, 0.0 if found.bias[0] is None else nearest(found.bias[0])
    )


def nearest(v: Fraction) -> float:
    """Return v as a float, infinite if it overflows."""
    try:
        return float(v)
    except OverflowError:
        return inf if v > 0 else -inf


numbers = st.one_of(st.floats(-4, 4, width=32), st.sampled_from([0.0, 1.0, -1.0, 0.5]))


def finite(values: Any) -> Any:
    """Return the values with overflows replaced by the largest float."""
    return np.nan_to_num(values, nan=0.0)


@st.composite
def cases(draw: st.DrawFn, families: list[str]) -> tuple[Problem, CanonicalPoint]:
    """Draw a problem and a point: multipliers, coefficients and a bias of any size.

    Multipliers are in units of C or of any size.
    """
    problem = draw(extreme_problems(draw(st.sampled_from(families))))
    unit = (
        draw(st.one_of(st.just(problem.C), extreme_scales()))
        if np.isfinite(problem.C)
        else draw(extreme_scales())
    )
    with np.errstate(over="ignore"):
        alpha = finite(
            np.abs(draw(st.lists(numbers, min_size=problem.p, max_size=problem.p))) * unit
        )
        beta = finite(
            np.array(draw(st.lists(numbers, min_size=problem.size, max_size=problem.size)))
            * draw(extreme_scales())
        )
        T = problem.T if isinstance(problem, MarginProblem) else 1
        size = draw(extreme_scales())
        b = (
            finite(np.array(draw(st.lists(numbers, min_size=T, max_size=T))) * size)
            if T > 1
            else float(finite(draw(numbers) * size))
        )
    return problem, problem.point(beta, alpha, b)


def without_some(problem: Problem, point: CanonicalPoint) -> list[CanonicalPoint]:
    """Return the point without its bias, hence with the best one, and its multipliers alone."""
    return [
        replace(point, b=None) if isinstance(point, Point) else point,
        problem.point(None, point.multipliers),
    ]


# Optima.


@pytest.mark.parametrize("family", sorted(OF_THE_CERTIFICATE))
@given(st.data())
def test_an_interval_holds_the_exact_optimum_at_any_scale(family: str, data: st.DataObject) -> None:
    """The points are arbitrary, of the best b, of multipliers alone, or the rounded optimum."""
    problem, point = data.draw(cases([family]))
    assume(rational_kernel(problem.kernel))
    optimum, nearly = best(problem)
    for p in (
        point,
        *without_some(problem, point),
        nearly,
        problem.point(None, nearly.multipliers),
    ):
        within(problem, p, optimum)


UNDERFLOWING: dict[str, Callable[[], Problem]] = {
    "ridge": lambda: classification([[1.0], [-1.0]], [1.0, -1.0], C=1e-165, loss="squared_hinge"),
    "ridge of weights": lambda: classification(
        [[1.0], [-1.0]], [1.0, -1.0], loss="squared_hinge", sample_weight=[1e-165] * 2
    ),
    "ridge of pairs": lambda: ranking([[1.0], [2.0]], [0, 1], C=1e-165, loss="squared_hinge"),
    "ridge, penalised bias": lambda: classification(
        [[1.0], [-1.0]], [1.0, -1.0], C=1e-165, loss="squared_hinge", bias="penalized"
    ),
    "ridge of a tube": lambda: regression(
        [[1.0], [2.0]], [1e-85, -1e-85], C=1e-80, epsilon=0.0, loss="squared_hinge"
    ),
    "targets": lambda: regression(
        [[1.0], [2.0]], [1e-170, -1e-170], C=1e-30, epsilon=0.0, loss="squared_hinge"
    ),
    "product of costs": lambda: classification(
        [[1.0]], [1.0], C=1e-200, sample_weight=[7e-124], bias=False
    ),
    "product of costs, squared": lambda: classification(
        [[1.0]], [1.0], C=1e-200, sample_weight=[7e-124], bias=False, loss="squared_hinge"
    ),
    "entries of K": lambda: classification([[1e-170], [-1e-170]], [1.0, -1.0], C=1e300),
    "entries of a polynomial": lambda: classification(
        [[1e-60], [-1e-60]], [1.0, -1.0], C=1e300, kernel=polynomial(3, 1.0, 0.0)
    ),
    "a program's prices": lambda: ranking_vector_machine([[1e-170], [3e-170]], [0, 1], C=1e300),
    "overflowing costs": lambda: replace(
        classification([[1.0], [-1.0]], [1.0, 1.0], C=1e200, sample_weight=[1.0, 1.0], bias=False),
        weights=np.array([1e200, 1.0]),
    ),
    "overflowing entries": lambda: OVERFLOWING,
    "multipliers below 1e-280": lambda: classification([[1.0], [-1.0]], [1.0, -1.0], C=1e-300),
}


@pytest.mark.parametrize("name", UNDERFLOWING)
@pytest.mark.parametrize("share", [0.5, 1.0, 2.0])
def test_what_underflows_is_counted(name: str, share: float) -> None:
    """The multipliers are at multiples of C, of twice the costs and of 1.

    At twice the costs a squared hinge has its multipliers. The rounded optimum is a
    point too.
    """
    problem = UNDERFLOWING[name]()
    optimum, nearly = best(problem)
    assert optimum is not None
    with np.errstate(over="ignore"):
        cost = float(problem.costs.max())
        for unit in (problem.C, 2 * cost, 1.0):
            within(problem, problem.point(None, np.full(problem.p, share * unit)), optimum)
    within(problem, nearly, optimum)


@pytest.mark.parametrize("name", [name for name in UNDERFLOWING if name.startswith("ridge")])
def test_a_tiny_optimum_is_bounded_closely(name: str) -> None:
    """If only squares of the multipliers underflow, the interval is as narrow as elsewhere."""
    problem = UNDERFLOWING[name]()
    optimum, nearly = best(problem)
    assert optimum is not None
    proven = within(problem, nearly, optimum)
    assert Fraction(proven.upper) - Fraction(proven.lower) <= optimum / 10**12
    solved = solve(problem)
    assert solved.ok
    within(problem, solved.point, optimum)


# Values of points.


FAR_APART = replace(
    regression([[1.0], [-1.0]], [1.0, 2.0], 1.0, 0.1, rbf(1e-320)), X=np.array([[1e160], [-1e160]])
)
"""Problem whose squared points overflow: its constructor raises; its bounds hold."""
OVERFLOWING: OneNormProblem = replace(
    one_norm_ranking([[1.0], [3.0]], [0, 1]), X=np.array([[1e200], [3e200]])
)
"""Ranking with kernel values that overflow: its constructor raises; its bounds hold."""


@given(cases([family for family in MARGIN_FAMILIES if not family.endswith("hard")]))
@example(
    (
        classification([[1.0], [2e-170]], [1.0, -1.0], 1e-200, rbf(1e300)),
        Point(beta=np.array([1e200, -1.0]), alpha=np.ones(2), b=0.0),
    )
)
@example((FAR_APART, Point(beta=np.ones(2), alpha=np.ones(4), b=0.0)))
def test_the_values_of_a_point_lie_between_its_two_intervals(
    case: tuple[MarginProblem, Point],
) -> None:
    """inner upper <= U <= upper and lower <= L <= inner lower.

    U is the value of beta and b as they are, L that of the repaired multipliers.
    """
    problem, point = case
    assume(problem.weights is None or np.isfinite(problem.weights).all())
    proven, inside = interval(problem, point), inner_interval(problem, point)
    assert not np.isnan([proven.lower, proven.upper, inside.lower, inside.upper]).any()
    dual, _ = exact_dual(problem, fractions(problem.repaired(as_a(np.ndarray, point.alpha))))
    assert proven.lower == -inf or Fraction(proven.lower) <= dual
    assert inside.lower == inf or dual <= Fraction(inside.lower)
    # The rounded w is judged there.
    if problem.explicit is not None:
        point = Point(
            w=np.array([v if np.isfinite(v) else 1.0 for v in weights_of(problem, point)]),
            b=point.b,
        )
        w = fractions(point.w)
        primal = exact_primal(
            problem, apply([fractions(x) for x in problem.X], w), inner(w, w), exact_bias(point.b)
        )
    else:
        beta = fractions(problem.gram.merged(present(point.beta)))
        f = apply(gram(problem.kernel, problem.X), beta)
        primal = exact_primal(problem, f, inner(beta, f), exact_bias(point.b))
    proven, inside = interval(problem, point), inner_interval(problem, point)
    assert proven.upper == inf or primal <= Fraction(proven.upper)
    assert Fraction(inside.upper) <= primal


def weights_of(problem: MarginProblem, point: Point) -> Any:
    with np.errstate(all="ignore"):
        return present(problem.explicit).rdot(present(point.beta))


@given(cases(list(ONE_NORM)))
@example((OVERFLOWING, OneNormPoint(np.ones(1), np.ones(1))))
def test_the_values_of_a_point_of_a_linear_program(
    case: tuple[OneNormProblem, OneNormPoint],
) -> None:
    """They lie between its intervals, at x >= 0 and multipliers on their grids."""
    problem, point = case
    proven, inside = interval(problem, point), inner_interval(problem, point)
    u = fractions(round_to_dyadic_grid(present(point.u), problem.exact_box, problem.bias_signs))
    dual = sum(u, Fraction(0)) / max(Fraction(1), *exact_prices(problem, u), Fraction(1))
    assert Fraction(proven.lower) <= dual
    assert inside.lower == inf or dual <= Fraction(inside.lower)
    x = np.maximum(present(point.x), 0.0)
    if problem.over == "rows":
        x = round_to_dyadic_grid(x, np.full(problem.size, inf), np.zeros(problem.size))
    violations = [
        max(Fraction(0), 1 - margin)
        for margin in exact_margins(problem, fractions(x), Fraction(point.b or 0.0))
    ]
    primal = sum(fractions(x), Fraction(0)) + inner(exact_costs(problem), violations)
    assert proven.upper == inf or primal <= Fraction(proven.upper)
    assert Fraction(inside.upper) <= primal


@pytest.mark.parametrize("short", [1e-6, 1e-9, 0.0])
def test_the_inner_interval_of_a_scaled_point_is_inside(short: float) -> None:
    """A hard row has the margin left of 1e6 - 1e6, and a soft row a known one.

    The multiple that meets the hard row is not known. The loss of the soft row
    decreases as the multiple increases, so that it is bounded from below by the largest
    possible multiple.
    """
    X, w = np.array([[1e6 + 1 - short, -1e6], [0.5, 0.0]]), np.ones(2)
    problem = classification(X, [1.0, 1.0], 1e8, bias=False, sample_weight=[inf, 1.0])
    factor = max(Fraction(1), 1 / inner(fractions(X[0]), fractions(w)))
    exact = factor**2 + Fraction(1e8) * (1 - factor / 2)
    inside = inner_interval(problem, Point(w=w))
    assert exact * (1 - Fraction(1, 10**8)) <= Fraction(inside.upper) <= exact


def nested(problem: Problem, point: CanonicalPoint) -> tuple[Interval, Interval]:
    """Return the proven and the inner interval, which differ by rounding alone.

    No proven side is tighter than the inner one.
    """
    proven, inside = interval(problem, point), inner_interval(problem, point)
    assert proven.lower <= inside.lower
    assert inside.upper <= proven.upper
    return proven, inside


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(ONE_BIAS))
@given(st.data())
def test_the_inner_interval_is_never_closer_than_the_proven_one(
    family: str, data: st.DataObject
) -> None:
    """Any point, multipliers alone, and problems with hard and soft rows."""
    problem, point = data.draw(cases([family]))
    for p in (point, *without_some(problem, point)):
        nested(problem, p)


@pytest.mark.parametrize(
    "alpha", [[5e153, 1e154], [5e160, 1e161], [1e-170, 2e-170], [8e307, 8e307], [5e-324, 5e-324]]
)
def test_hard_multipliers_are_scaled_before_their_norm_is_taken(alpha: list[float]) -> None:
    """The multiple is chosen once, at any size of the multipliers.

    From a norm that overflows it would be 0, or far too large.
    """
    problem = classification([[1.0], [-1.0]], [-1.0, 1.0], inf, bias=False)
    proven, inside = nested(problem, Point(alpha=np.array(alpha)))
    assert (
        Fraction(1, 2) - Fraction(1, 10**12)
        <= Fraction(proven.lower)
        <= Fraction(1, 2)
        <= Fraction(inside.lower)
    )
    assert inside.lower <= 0.5 + 1e-12


@pytest.mark.parametrize("scale", [1e-86, 1.0])
def test_hard_multipliers_of_a_constant_kernel(scale: float) -> None:
    """Nearly equal kernel values have a norm of rounding size.

    Both directions take the norm of the same multipliers.
    """
    problem = classification(
        [[scale], [-scale]], [-1.0, 1.0], inf, polynomial(2, 1.0, 1.0), bias=False
    )
    nested(problem, Point(alpha=np.array([5e153, 1e154])))


def test_the_blend_that_meets_a_tube_is_chosen_once() -> None:
    """One soft and one hard point have very large costs.

    Combined with another share inward, the inner side would exceed the proven one.
    """
    problem = regression(
        [[-2.4777659689363593e-13], [-2.681907315635334e-12], [4.36684505860894e-13]],
        [-51247.2974826, 85876.86768962, 86513.7958572],
        C=99356840.29697713,
        epsilon=1e-5,
        kernel=polynomial(2, 1.0, 5e-324),
        loss="squared_hinge",
        sample_weight=[1.46278935e85, 1.32588027e85, inf],
    )
    beta = np.array([-4.003164483464424e98, -7.392381424825264e96, 4.0770882977126766e98])
    alpha = np.array([0.0, 0.0, beta[2], -beta[0], -beta[1], 0.0])
    nested(problem, Point(beta=beta, alpha=alpha))


def test_whether_f_is_evaluated_once_more_is_asked_once() -> None:
    """A hard row is missed by a rounding error.

    If the decision were repeated inward, another point had a larger value than was
    proven.
    """
    tube = regression([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0], 1.0, 0.1, loss="squared_hinge")
    for hard in np.eye(4):
        problem = replace(tube, weights=np.where(hard > 0, inf, 1.0))
        for f in (-1.0, 1.0):
            nested(problem, Point(beta=np.array([f, 0.0])))


def test_a_point_inside_a_tube_is_not_sought_beyond_float64() -> None:
    """A kernel that overflows has no such point.

    A mistake in the search raises an error; it is not reported as the absence of a
    point.
    """
    tube = regression([[1.0], [2.0]], [1.0, -1.0], inf, 0.1)
    assert find_slater_point(tube) is not None
    assert find_slater_point(replace(tube, X=np.array([[1e308], [inf]]))) is None
    with np.errstate(all="ignore"):
        assert (
            find_slater_point(
                replace(tube, X=np.array([[1e200], [-1e200]]), kernel=polynomial(2, 1.0, 1.0))
            )
            is None
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "equimargin.formulations.bounds.slater._least_squares", lambda design, y: np.zeros(7)
        )
        with pytest.raises(ValueError, match="matmul"):
            find_slater_point(tube)


def test_the_size_of_an_interval_without_a_finite_end() -> None:
    """Relative figures divide by it even if nothing has been proved."""
    assert Interval(-inf, inf, inf).size > 0
    assert Interval(-inf, inf, inf).relative_width == inf
    assert Interval(-inf, inf).size > 0


def test_the_proven_width_of_a_large_linear_program_follows_its_gap() -> None:
    """Prices of 1 are left of sums of 1e6.

    58,688 pairs of points as in OHSUMED, 12 queries, 3 levels, 45 features, repeated
    rows.
    """
    rng = np.random.default_rng(0)
    X, qid = rng.lognormal(size=(1752, 45)), np.repeat(np.arange(12), 146)
    X[::20] = X[1::20]
    score = X @ rng.normal(size=45) + rng.normal(size=1752)
    problem = ranking_vector_machine(X, np.digitize(score, np.quantile(score, [0.7, 0.87])), qid)
    solution = solve(problem, "column_generation", tol=1e-9)
    assert solution.ok
    assert solution.interval.relative_width <= 10 * solution.relative_gap + 1e-11


# Implicit pair sweeps.


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    ("C", "weight"), [(1e-165, 1.0), (1e-300, 1e-20), (3e-200, 7e-124), (1e-8, 0.3), (1e300, 1e300)]
)
def test_swept_pairs_are_bounded_as_listed_ones(
    loss: Any, C: float, weight: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both contain the exact optimum of a few pairs, at extreme costs too."""
    X, y = [[0.0], [1.0], [1.5], [3.0]], [0, 1, 0, 2]
    # The constructor rejects costs that overflow.
    problem = replace(ranking(X, y, None, C, loss=loss), weights=np.array([weight]))
    optimum, nearly = best(problem)
    monkeypatch.setattr("equimargin.formulations.rows.labelled.MANY", 0)
    swept = replace(ranking(X, y, None, C, loss=loss), weights=np.array([weight]))
    with np.errstate(all="ignore"):
        found = [] if C > 1 else [solve(swept, "newton" if swept.squared else "huber").point]
    for point in (*found, Point(beta=as_a(Point, nearly).beta)):
        within(swept, point, optimum)
    assert isinstance(swept.rows, LabelledPairs)


def test_swept_pairs_that_must_be_met_beside_others_are_bounded_as_listed_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One query is hard and one is soft, and f falls short of the hard margins.

    Both upper bounds take one multiple of f.
    """
    rng = np.random.default_rng(0)
    X = np.rint(8 * rng.normal(size=(20, 2))) / 8
    y, query = np.r_[np.arange(10), rng.integers(0, 3, 10)].astype(float), np.repeat([0, 1], 10)
    X[:10] = np.outer(np.arange(10), [1.0, 0.5])
    problem = ranking(X, y, query, 0.5, query_weight={0: inf, 1: 1.0})
    point = Point(w=np.array([0.5, 0.25]), beta=np.zeros(20))
    listed = interval(problem, point).upper
    monkeypatch.setattr("equimargin.formulations.rows.labelled.MANY", 0)
    swept = interval(ranking(X, y, query, 0.5, query_weight={0: inf, 1: 1.0}), point).upper
    assert 0 < listed < inf
    assert swept == pytest.approx(listed, rel=1e-9)


def test_a_tube_with_a_bias_that_is_missed_by_little_costs_little() -> None:
    """The point that meets the tube is combined with its own bias.

    With another bias it, and hence the upper bound, would be far away.
    """
    X, y = np.arange(6.0)[:, None], 100.0 + 3.0 * np.arange(6.0) + [0.0, 0.1, -0.1, 0.1, 0.0, -0.1]
    problem = regression(X, y, inf, 0.2, linear())
    solution = solve(problem, tol=1e-9)
    short = Point(w=present(solution.w) * (1 - 1e-9), b=present(as_a(Point, solution.point).b))
    assert interval(problem, short).upper == pytest.approx(solution.value, rel=1e-6)


# The problem that is bounded.


@given(
    st.floats(0, allow_nan=False),
    st.lists(st.one_of(st.floats(0, allow_nan=False), extreme_scales()), min_size=1, max_size=5),
)
@example(1e-200, [7e-124])
@example(1.0, [5e-324, inf, 0.0])
@example(inf, [0.0, 1.0])
@example(0.5, [5e-324])
# The product is rounded up into the normal range.
@example(2.0**-523, [float(np.nextafter(2.0, 0.0) * 2.0**-500)])
def test_exact_products_of_costs_lie_within_two_floats(C: float, weights: list[float]) -> None:
    """The products are C x weight in exact optima and certificates, with 0 inf = 0.

    The floats are equal or neighbours of the rounded product.
    """
    least, most = bound_products(np.asarray(C), np.array(weights))
    for w, low, high in zip(weights, least.tolist(), most.tolist(), strict=True):
        if 0.0 in (C, w):
            assert low == high == 0
        elif inf in (C, w):
            assert low == high == inf
        else:
            exact = Fraction(C) * Fraction(w)
            assert Fraction(low) <= exact
            assert high == inf or exact <= Fraction(high)
            assert high <= nextafter(nextafter(low, inf), inf)


def test_multipliers_are_within_the_exact_costs() -> None:
    """0.1 x 3 rounds to a larger float, 0.30000000000000004.

    The repaired multiplier is below the exact product.
    """
    problem = classification([[1.0]], [1.0], 0.1, bias=False, sample_weight=[3.0])
    assert Fraction(problem.costs[0]) > Fraction(0.1) * 3
    assert Fraction(problem.repaired(np.ones(1))[0]) <= Fraction(0.1) * 3


def test_multipliers_near_the_smallest_float_lie_on_a_grid() -> None:
    """The subnormal floats form a grid."""
    alpha = np.array([5e-324, 1e-322, 3e-310])
    assert round_to_dyadic_grid(alpha, np.full(3, inf), np.zeros(3)).tolist() == alpha.tolist()
    assert round_to_dyadic_grid(np.array([1e308, 1.0]), np.full(2, inf), np.zeros(2)).tolist() == [
        1e308,
        0.0,
    ]


@pytest.mark.parametrize(
    "K",
    [
        [[5e-324, 1e-323], [1e-323, 5e-324]],
        [[1e-320, 1.1e-320], [1.1e-320, 1e-320]],
        [[1e-310, 1e-310], [1e-310, 1e-310]],
    ],
)
def test_a_tiny_gram_matrix_is_shifted_until_it_is_positive_semidefinite(K: Any) -> None:
    """Its Cholesky factorisation underflows, and would find no pivot below 0."""
    shift = proven_shift(np.array(K))
    assert shift is not None
    exact = [
        [Fraction(v) + Fraction(shift) * (i == j) for j, v in enumerate(row)]
        for i, row in enumerate(K)
    ]
    assert is_positive_semidefinite(exact)


@given(
    st.sampled_from(
        [
            linear(),
            polynomial(3, 0.5, 0.0),
            polynomial(2, 1e-300, 1e-320),
            rbf(1e300),
            rbf(1e-320),
            rbf(1.0),
            Exponential(1e300),
            Exponential(1.0),
            laplacian(1e300),
            laplacian(1e-320),
            laplacian(1.0),
            chi2(1e300),
            chi2(1.0),
            1e300 * rbf(1.0),
            1e-320 * polynomial(2, 1e-300, 1e-320) + linear(),
            polynomial(3, 0.5, 0.0) * laplacian(1.0),
            linear() * linear(),
        ]
    ),
    st.data(),
)
def test_entries_that_underflow_are_within_their_bound(kernel: Any, data: st.DataObject) -> None:
    """K v and K_ii at any scale, v at any scale."""
    scale, unit = data.draw(extreme_scales()), data.draw(extreme_scales())
    with np.errstate(over="ignore"):
        X = finite(np.array([[1.0, -2.0], [0.3, 0.7], [1.0, -2.5]]) * scale)
        X = np.abs(X) if kernel.nonnegative else X
        v = finite(np.array([1.0, -1.0, 0.7]) * unit)
    # The constructor rejects entries that overflow.
    problem = replace(classification(np.ones((3, 2)), np.ones(3), kernel=kernel), X=X)
    K = gram(kernel, X)
    with np.errstate(all="ignore"):
        f, error = problem.gram.product(v)
        assert not np.isfinite(problem.gram.diagonal_bound) or Fraction(
            problem.gram.diagonal_bound
        ) >= max(K[i][i] for i in range(3))
    for value, bound, exact in zip(f.tolist(), error.tolist(), apply(K, fractions(v)), strict=True):
        assert (
            not np.isfinite(value)
            or bound == inf
            or abs(Fraction(value) - exact) <= Fraction(bound)
        )
        assert not np.isnan(bound)


@pytest.mark.parametrize("constant", [False, True])
def test_sums_of_products_that_all_underflow_are_within_their_bound(constant: bool) -> None:
    """64 products of 0.48 of the smallest float: their float sum is 0, the exact one 31 of it."""
    Z = Explicit(np.full((64, 64), 3.0 * 2.0**-540), constant)
    v = np.full(64, 5.0 * 2.0**-539)
    w = np.append(v, np.zeros(int(constant)))
    for found, error in (Z.values(w), (Z.combination(v)[0][:64], Z.combination(v)[1][:64])):
        exact = 64 * Fraction(3.0 * 2.0**-540) * Fraction(v[0])
        assert found.tolist() == [0.0] * 64
        assert all(exact <= Fraction(e) <= 500 * exact for e in error.tolist())


def test_the_exponential_of_the_oracle() -> None:
    assert exponential(Fraction(-1)) == pytest.approx(float(np.exp(-1.0)))


# Arithmetic.


def test_an_overflow_proves_nothing() -> None:
    """The optimum is 2.5e-401: the price of the only pair is 4e400."""
    problem = OVERFLOWING
    proven = interval(problem, OneNormPoint(u=np.array([1.0])))
    assert (proven.lower <= 5e-324, proven.upper) == (True, inf)
    assert relative_rounding_error(problem) == inf
    assert (
        interval(
            replace(classification([[1.0], [-1.0]], [1.0, -1.0]), X=np.array([[1e200], [-1e200]])),
            Point(alpha=np.ones(2)),
        ).lower
        <= 5e-401
    )
    assert Interval(0.0, 1.0, inf).relative_width == 1.0


every_float = st.one_of(st.floats(), extreme_scales(), extreme_scales().map(lambda v: -v))


@given(every_float, every_float, st.sampled_from([1.0, -1.0]))
@example(inf, -inf, 1.0)
@example(1e200, 1e200, -1.0)
@example(1e-200, -1e-200, 1.0)
def test_every_operation_is_rounded_to_one_side(x: float, y: float, way: float) -> None:
    """Finite floats are compared with fractions; no result is a NaN."""
    with np.errstate(all="ignore"):
        results = {
            "+": add_rounded(x, y, way),
            "*": multiply_rounded(x, y, way),
            "/": divide_rounded(x, y, way),
            "sum": sum_rounded(np.array([x, y, 1.0]), way),
        }
    assert not any(np.isnan(value) for value in results.values())
    if not np.isfinite([x, y]).all():
        return
    exact = {
        "+": Fraction(x) + Fraction(y),
        "*": Fraction(x) * Fraction(y),
        "sum": Fraction(x) + Fraction(y) + 1,
    }
    exact |= {"/": Fraction(x) / Fraction(y)} if y else {}
    for operation, value in exact.items():
        bound = float(results[operation])
        assert bound == way * inf or (
            np.isfinite(bound) and (Fraction(bound) - value) * int(way) >= 0
        ), operation


@given(st.lists(every_float, min_size=1, max_size=30), st.sampled_from([1.0, -1.0]))
@example([0.0, -0.0, inf, -inf, nan, -nan, 5e-324, -5e-324, 1.7976931348623157e308], -1.0)
def test_next_floats_of_many_are_those_of_each(values: list[float], way: float) -> None:
    many = np.tile(values, 65)
    found = round_toward(many, way)
    with np.errstate(all="ignore"):
        expected = [round_toward(value, way) for value in values]
    assert found.tolist() == np.tile(expected, 65).tolist()


@given(
    st.integers(1000, 3000),
    st.integers(0, 1070),
    st.sampled_from([0.0, 1.0, 1 - 2.0**-45]),
    st.sampled_from([1.0, -1.0]),
    st.integers(0, 2**32 - 1),
)
def test_sums_of_many_are_rounded_to_one_side(
    n: int, exponents: int, opposite: float, way: float, seed: int
) -> None:
    """Numbers of one sign, of both, and sums that nearly cancel."""
    rng = np.random.default_rng(seed)
    values = np.ldexp(rng.random(n), -rng.integers(0, exponents + 1, n))
    values = np.concatenate([values, -opposite * values])
    exact, found = sum(map(Fraction, values.tolist()), Fraction(0)), sum_rounded(values, way)
    assert (Fraction(found) - exact) * int(way) >= 0
    assert abs(Fraction(found) - exact) <= 2 * Fraction(np.spacing(abs(found)))


@pytest.mark.parametrize("n", [1, 6, 3000])
def test_leading_parts_add_up_without_rounding(n: int) -> None:
    values = np.random.default_rng(n).random((2, n))
    rest, start = values.copy(), threshold(n, np.ones(2))[:, None]
    totals = extract(rest, start)
    assert (np.abs(rest) <= 2.0**-53 * start).all()
    for total, row, left in zip(totals.tolist(), values.tolist(), rest.tolist(), strict=True):
        assert Fraction(total) + sum(map(Fraction, left)) == sum(map(Fraction, row))


@given(st.integers(1000, 1500), st.booleans(), st.integers(0, 600), st.integers(0, 2**32 - 1))
@example(1000, False, 0, 0)
@settings(max_examples=10)
def test_combinations_of_many_points_are_within_their_bound(
    m: int, constant: bool, exponents: int, seed: int
) -> None:
    """The sums nearly cancel: what is left is the rounding of their products."""
    rng = np.random.default_rng(seed)
    X = np.ldexp(rng.normal(size=(m, 2)), -rng.integers(0, exponents + 1, (m, 1)))
    X[:, 1] *= rng.integers(2)
    beta = np.where(rng.random(m) < 0.5, rng.normal(size=m), 0.0)
    X, beta = np.concatenate([X, -X / 3]), np.concatenate([beta, 3 * beta])
    w, error = Explicit(X, constant).combination(beta)
    columns = [*X.T.tolist(), [1.0] * 2 * m][: len(w)]
    for column, value, bound in zip(columns, w.tolist(), error.tolist(), strict=True):
        terms = [Fraction(x) * Fraction(b) for x, b in zip(column, beta.tolist(), strict=True)]
        size = sum(map(abs, terms), Fraction(0))
        assert abs(Fraction(value) - sum(terms, Fraction(0))) <= Fraction(bound)
        # Without sums in parts the bound is more than 30 roundings of the size.
        assert Fraction(bound) <= 8 * Fraction(2.0**-53) * size + Fraction(2.0**-1000)


def test_a_nan_is_infinite_on_the_side_to_which_it_is_rounded() -> None:
    values = np.array([1.0, nan, 0.5])
    with np.errstate(all="ignore"):
        assert round_toward(values, 1.0)[1] == inf
        assert round_toward(values, -1.0)[1] == -inf
        assert max_or_inf(values) == inf
        assert max_or_inf(values[:1], 3.0) == 3.0
        assert sum_rounded(values, 1.0) == inf
        # An intermediate sum of fsum overflows.
        assert sum_rounded(np.array([1e308, 1e308, -1e308]), -1.0) <= 1e308
        assert sqrt_rounded(2.0, 1.0) > 2**0.5 > sqrt_rounded(2.0, -1.0)


def test_bounds_compare_by_no_function_that_drops_a_nan() -> None:
    """Python's max and min may not be called on a number not yet rounded to a side."""
    room = ROOT / "formulations" / "bounds"
    source = "".join(
        (room / name).read_text(encoding="utf-8") for name in ("evaluate.py", "intervals.py")
    )
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    named = {ast.unparse(call.func) for call in calls}
    assert not named & {"np.fmax", "np.fmin", "np.nanmax", "np.nanmin", "np.clip"} - {"np.clip"}
    allowed = ("_lower", "_multiples", "intersected", "size", "relative_size")
    functions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name not in allowed
    ]
    for function in functions:
        used = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        assert not used & {"max", "min"}, f"{function.name} uses {used & {'max', 'min'}}"


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_sums_in_blocks_are_within_their_bound(n: int, seed: int) -> None:
    """Dense matrices in any order of storage have the stated roundings per product."""
    rng = np.random.default_rng(seed)
    A, v = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-8, 8, n), rng.normal(size=n)
    for M in (A, np.asfortranarray(A)):
        found, depth = multiply_with_depth(M, v)
        assert depth <= max(64, 2 * n**0.5 + 2)
        for row, value in zip(M, found.tolist(), strict=True):
            exact = inner(fractions(row), fractions(v))
            bound = Fraction(depth, 2**53 - depth) * inner(
                fractions(np.abs(row)), fractions(np.abs(v))
            )
            assert abs(Fraction(value) - exact) <= bound + n * SMALLEST


def test_a_tube_that_is_missed_by_less_than_rounding_is_met() -> None:
    """The smallest share combined is positive: 16 times 0 would stay 0 indefinitely."""
    K = np.array(
        [
            [0.9, -0.3, -0.9, 0.0],
            [-0.3, 0.5, -0.1, -0.6],
            [-0.9, -0.1, 1.3, 0.6],
            [0.0, -0.6, 0.6, 0.9],
        ]
    )
    K[0, 1] = K[1, 0] = -0.30000000000000004
    K[1, 3] = K[3, 1] = -0.6000000000000001
    K[2, 3] = K[3, 2] = 0.6000000000000001
    y = np.array(
        [4.419244850803917e62, -6.628867276205876e62, -6.628867276205876e62, 6.628867276205876e62]
    )
    problem = regression(K, y, C=np.inf, kernel=precomputed(), epsilon=6.628867276205876e62)
    zero = Point(beta=np.zeros(4), b=0.0, alpha=np.zeros(8))
    assert interval(problem, zero).lower == 0.0
