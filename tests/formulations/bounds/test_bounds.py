"""Proven bounds against exact arithmetic on small problems of rational numbers.

The oracle is written from the formulas with fractions.Fraction and shares no line with
the code under test; an RBF entry is taken to 60 digits. The bounds must lie on their
sides of the exact numbers, and close to them where required: a bound that is infinite
everywhere would pass half of these tests.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from equimargin.formulations import (
    Kernel,
    MarginProblem,
    OneNormPoint,
    OneNormProblem,
    Point,
    Problem,
    chi2,
    classification,
    exponential,
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
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.bounds.evaluate import inner_error, kernel_product
from equimargin.formulations.bounds.intervals import Interval, inner_interval
from equimargin.formulations.kernels.given_matrix import proven_shift
from equimargin.formulations.kernels.kernel import Intercept, Linear, sigmoid
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import LISTED_PAIRS, Pairs
from equimargin.solvers import Status, solve
from equimargin.testing import (
    CANONICAL,
    ONE_NORM,
    classification_data,
    features,
    kernels,
    margin_problems,
    ranking_data,
    regression_data,
    scales,
)
from narrow import as_a, present
from oracles.rationals import (
    SLACK,
    Vector,
    apply,
    exact_bias,
    exact_costs,
    exact_dual,
    exact_margins,
    exact_prices,
    exact_primal,
    exact_rows,
    fractions,
    gram,
    inner,
    is_positive_semidefinite,
    size_of_terms,
    slack,
    transposed,
)

MARGIN_FAMILIES = [family for family in CANONICAL if family not in ONE_NORM]
SOFT_FAMILIES = [family for family in MARGIN_FAMILIES if not family.endswith("hard")]


# Points of problems, mostly far from any optimum.

numbers = st.one_of(
    st.floats(-4, 4, width=32), st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, -1.0, 1e-9])
)


@st.composite
def problems_and_points(
    draw: st.DrawFn, families: tuple[str, ...], tails: bool = True
) -> tuple[Problem, np.ndarray, np.ndarray, Any]:
    """Draw a problem, multipliers in units of C, coefficients, and a bias or thresholds."""
    problem = draw(margin_problems(draw(st.sampled_from(families)), max_points=6, tails=tails))
    alpha = np.array(draw(st.lists(numbers, min_size=problem.p, max_size=problem.p)))
    beta = np.array(draw(st.lists(numbers, min_size=problem.size, max_size=problem.size)))
    unit = problem.C if np.isfinite(problem.C) else 1.0
    T = problem.T if isinstance(problem, MarginProblem) else 1
    b = draw(numbers) if T < 2 else np.array(draw(st.lists(numbers, min_size=T, max_size=T)))
    return problem, alpha * unit, beta, b


@given(problems_and_points(tuple(SOFT_FAMILIES)))
@example(
    (
        classification(np.zeros((3, 1)), [1, 1, -1], 1.0, rbf(1.0)),
        np.zeros(3),
        np.array([5.00000024e-4, 524288.0, -431609.0]),
        0.0,
    )
)
def test_the_upper_bound_is_above_the_exact_primal_value(case: Any) -> None:
    """It is close to it, relative to its terms; the inner bound is below it."""
    problem, _, beta, b = case
    assume(np.isfinite(problem.costs).all())
    K = gram(problem.kernel, problem.X)
    if isinstance(problem.kernel, Linear):
        w = np.asarray(problem.X.T @ beta)
        f = apply([fractions(x) for x in problem.X], fractions(w))
        norm2, point = inner(fractions(w), fractions(w)), Point(w=w, b=b)
    else:
        # The judged function has its coefficients of equal points added in floats.
        own = fractions(problem.gram.merged(beta))
        f = apply(K, own)
        norm2, point = inner(own, f), Point(beta=beta, b=b)
    exact = exact_primal(problem, f, norm2, exact_bias(b))
    upper = Fraction(interval(problem, point).upper)
    assert Fraction(inner_interval(problem, point).upper) <= exact <= upper
    assert upper - exact <= slack(problem) * size_of_terms(
        problem, fractions(beta), exact_costs(problem), exact_bias(b)
    ) + Fraction(1e-290)


@given(problems_and_points(tuple(SOFT_FAMILIES)))
def test_the_lower_bound_is_below_the_exact_dual_value(case: Any) -> None:
    """The dual value is that of the repaired multipliers.

    The lower bound is close to it, relative to its terms; the inner bound is above it.
    """
    problem, alpha, _, _ = case
    assume(np.isfinite(problem.costs).all())
    exact, size = exact_dual(problem, fractions(problem.repaired(alpha)))
    lower = Fraction(interval(problem, Point(alpha=alpha)).lower)
    assert lower <= exact <= Fraction(inner_interval(problem, Point(alpha=alpha)).lower)
    loose = size_of_terms(
        problem,
        fractions(problem.rows.rdot(np.abs(problem.repaired(alpha)))),
        [Fraction(0)] * problem.p,
        Fraction(0),
    )
    assert exact - lower <= slack(problem) * (size + loose) + Fraction(1e-290)


@given(problems_and_points(tuple(SOFT_FAMILIES)))
def test_no_lower_bound_exceeds_an_exact_primal_value(case: Any) -> None:
    """Weak duality holds across unrelated points.

    The upper bound implied by the multipliers counts too.
    """
    problem, alpha, beta, b = case
    assume(np.isfinite(problem.costs).all())
    proven = interval(problem, Point(alpha=alpha))
    f = apply(gram(problem.kernel, problem.X), fractions(beta))
    norm2 = inner(fractions(beta), f)
    smallest = min(
        exact_primal(problem, f, norm2, exact_bias(b)),
        exact_primal(problem, [Fraction(0)] * problem.m, Fraction(0), exact_bias(0.0 * b)),
    )
    assert Fraction(proven.lower) <= smallest
    assert proven.lower <= proven.upper


@given(problems_and_points(tuple(CANONICAL)))
def test_an_interval_is_never_empty(case: Any) -> None:
    """This holds between two unrelated points too, in all families."""
    problem, alpha, beta, b = case
    first, second = (
        interval(problem, problem.point(None, alpha)),
        interval(problem, problem.point(beta, None, b)),
    )
    both = first.intersected(second)
    assert both.lower <= both.upper
    together = interval(problem, problem.point(beta, alpha, b))
    assert (together.lower, together.upper) == (first.lower, second.upper)


@given(problems_and_points(tuple(ONE_NORM)))
def test_the_bounds_of_linear_programs(case: Any) -> None:
    """The upper bound is that of x >= 0, the lower bound that of scaled multipliers.

    The multipliers are scaled into their constraints; weak duality holds.
    """
    problem, alpha, beta, b = case
    b = b if problem.bias else 0.0
    proven = interval(problem, OneNormPoint(beta, alpha, b if problem.bias else None))
    c = exact_costs(problem)
    x = [max(v, Fraction(0)) for v in fractions(beta)]
    violations = [max(Fraction(0), 1 - margin) for margin in exact_margins(problem, x, Fraction(b))]
    primal = sum(x, Fraction(0)) + inner(c, violations)
    given_u = fractions(problem.feasible(alpha) if problem.bias else alpha)
    u = [min(max(v, Fraction(0)), most) for v, most in zip(given_u, c, strict=True)]
    assert not problem.bias or inner(exact_rows(problem)[2], u) == 0
    dual = sum(u, Fraction(0)) / max(Fraction(1), *exact_prices(problem, u), Fraction(1))
    assert Fraction(proven.lower) <= primal
    assert dual <= Fraction(proven.upper)
    size = size_of_terms(
        problem, padded(problem, x, problem.over), exact_costs(problem), Fraction(b)
    ) + sum(x, Fraction(0))
    assert abs(Fraction(proven.upper) - primal) <= slack(problem) * size
    assert Fraction(proven.lower) <= dual * (1 + slack(problem))
    assert Fraction(proven.lower) >= dual * (1 - SLACK) / (1 + _uncertainty(problem, u)) - Fraction(
        1e-270
    )


def padded(problem: OneNormProblem, x: Vector, over: str) -> Vector:
    """Return the sizes of the coefficients of f, plus 2^-50 of the largest for the grid."""
    x = [v + max(x) / 10**5 for v in x]
    A, _, _ = exact_rows(problem)
    return (
        x
        if over == "points"
        else [
            sum((abs(A[r][i]) * x[r] for r in range(len(A))), Fraction(0)) for i in range(problem.m)
        ]
    )


def _uncertainty(problem: OneNormProblem, u: Vector) -> Fraction:
    """Return the amount that rounding may add to the prices."""
    reach = apply(gram(problem.kernel, np.abs(problem.X)), padded(problem, u, "pairs"))
    return slack(problem) * 2 * max(reach, default=Fraction(0))


@given(problems_and_points(tuple(MARGIN_FAMILIES)))
def test_repaired_multipliers_are_exactly_feasible(case: Any) -> None:
    """0 <= alpha <= c and s'alpha = 0 as fractions; and A'alpha is exact in double precision."""
    problem, alpha, _, _ = case
    repaired = fractions(problem.repaired(alpha))
    A, _, s = exact_rows(problem)
    assert all(a >= 0 for a in repaired)
    if problem.loss != "squared_hinge":
        assert all(
            np.isinf(c) or a <= Fraction(float(c))
            for a, c in zip(repaired, problem.costs, strict=True)
        )
    k = [r // problem.m if problem.T > 1 else 0 for r in range(problem.p)]
    for threshold in range(problem.T):
        assert (
            sum(
                (sign * a for sign, a, at in zip(s, repaired, k, strict=True) if at == threshold),
                Fraction(0),
            )
            == 0
        )
    assert fractions(problem.rows.rdot(problem.repaired(alpha))) == transposed(
        A, repaired, problem.m
    )


@given(problems_and_points(tuple(MARGIN_FAMILIES)), st.floats(0, 1))
def test_feasible_multipliers_are_hardly_moved(case: Any, share: float) -> None:
    """Pairs of opposite rows raised together are feasible.

    Repair must leave them unchanged, up to the grid.
    """
    problem, alpha, _, _ = case
    unit = problem.C if np.isfinite(problem.C) else 1.0
    feasible = share * np.minimum(np.abs(alpha), np.minimum(unit, problem.box))
    for signs in problem.S.toarray().T:
        up, down = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
        paired = min(len(up), len(down))
        feasible[up[:paired]] = feasible[down[:paired]] = np.minimum(
            feasible[up[:paired]], feasible[down[:paired]]
        )
        feasible[up[paired:]], feasible[down[paired:]] = 0.0, 0.0
    assert (
        np.abs(problem.repaired(feasible) - feasible).max(initial=0.0)
        <= 1e-13 * feasible.max(initial=0.0) + 1e-279
    )


@given(problems_and_points(tuple(MARGIN_FAMILIES)))
def test_multipliers_out_of_balance_are_moved_by_no_more_than_that(case: Any) -> None:
    """Once within the box, |s'alpha| must be subtracted, up to the grid."""
    problem, alpha, _, _ = case
    boxed = np.clip(alpha, 0.0, problem.box)
    excess = float(np.abs(problem.S.T @ boxed).sum())
    assert np.abs(problem.repaired(alpha) - boxed).sum() <= excess + 1e-13 * boxed.sum() + 1e-279


def test_what_is_not_finite_counts_as_zero() -> None:
    problem = ranking(np.arange(3.0)[:, None], np.arange(3))
    assert problem.repaired(np.array([np.nan, np.inf, 0.5])).tolist() == [0.0, 0.0, 0.5]
    nothing = interval(
        problem, Point(beta=np.array([np.nan, 0.0, 0.0]), b=0.0, alpha=np.full(3, np.nan))
    )
    assert (nothing.lower, nothing.upper) == (0.0, np.inf)


@given(
    classification_data(max_points=6),
    kernels(),
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=6, max_size=6),
)
def test_weights_bound_the_multipliers(data: Any, kernel: Kernel, weights: list[float]) -> None:
    """c_r = C weight_r; a row of weight 0 has multiplier 0."""
    X, y = data
    problem = classification(X, y, 0.7, kernel, sample_weight=weights[: len(y)])
    repaired = problem.repaired(np.full(len(y), 100.0))
    limits = [Fraction(0.7 * weight) for weight in weights[: len(y)]]
    assert all(0 <= a <= limit for a, limit in zip(fractions(repaired), limits, strict=True))
    assert inner(fractions(y), fractions(repaired)) == 0


def test_a_weight_of_the_tube_goes_with_its_own_point() -> None:
    """The weight applies to both sides; the exact oracles use the given weights."""
    problem = regression([[0.0], [1.0]], [0.0, 1.0], 1.0, 0.1, sample_weight=[2.0, 5.0])
    assert problem.costs.tolist() == [2.0, 5.0, 2.0, 5.0]


# The best bias.


def total_loss(problem: MarginProblem, f: np.ndarray, b: Fraction) -> Fraction:
    """Return C sum_r loss(u_r) at b."""
    return exact_primal(problem, fractions(f), Fraction(0), b)


@given(
    st.one_of(
        st.builds(
            lambda data, C, loss: classification(
                data.X, data.y, C, loss=loss, delta=0.3 if loss == "huberised_hinge" else None
            ),
            classification_data(),
            scales(),
            st.sampled_from(["hinge", "squared_hinge", "huberised_hinge"]),
        ),
        st.builds(
            lambda data, C, loss: regression(data.X, data.y, C, data.epsilon, loss=loss),
            regression_data(),
            scales(),
            st.sampled_from(["hinge", "squared_hinge"]),
        ),
    ),
    st.data(),
)
def test_the_best_bias_is_a_minimiser(problem: MarginProblem, data: st.DataObject) -> None:
    """No breakpoint has a smaller loss, nor has a close point for smooth losses.

    For a convex function this is enough.
    """
    f = np.array(data.draw(st.lists(numbers, min_size=problem.m, max_size=problem.m)))
    lower, upper = problem.best_bias(f)
    assert lower <= upper
    A, t, s = exact_rows(problem)
    breakpoints = [(t[r] - inner(A[r], fractions(f))) * s[r] for r in range(len(A))]
    spread = max(map(abs, breakpoints), default=Fraction(0)) + 1
    tries = list(breakpoints)
    if problem.loss != "hinge":
        tries += [
            Fraction(lower) + sign * spread * Fraction(1, 10**k)
            for k in range(1, 7)
            for sign in (1, -1)
        ]
    least = min(total_loss(problem, f, b) for b in tries)
    unit = (
        Fraction(problem.C)
        * len(breakpoints)
        * (spread**2 if problem.loss == "squared_hinge" else spread)
    )
    for b in (lower, (lower + upper) / 2, upper):
        assert total_loss(problem, f, Fraction(b)) <= least + unit * Fraction(1, 10**12)


@given(classification_data(max_points=7, tails=False), st.data())
def test_the_interval_of_the_best_bias_is_all_of_it(case: Any, data: st.DataObject) -> None:
    """On integers every breakpoint is an integer.

    Half a unit outside the interval the hinge loss is larger if both classes are
    present.
    """
    X, y = case
    assume(len(set(y)) == 2)
    problem = classification(X, y)
    f = np.array(
        data.draw(st.lists(st.integers(-5, 5).map(float), min_size=problem.m, max_size=problem.m))
    )
    lower, upper = problem.best_bias(f)
    least = total_loss(problem, f, Fraction(lower))
    assert total_loss(problem, f, Fraction(lower) - Fraction(1, 2)) > least
    assert total_loss(problem, f, Fraction(upper) + Fraction(1, 2)) > least


def test_the_bias_that_is_not_unique() -> None:
    """x = 0 (+) and x = 1 (-) at C = 0.1: every b in [-1, 0.9] is best."""
    problem = classification([[0.0], [1.0]], [1.0, -1.0], C=0.1)
    assert problem.best_bias(np.array([0.0, -0.1])) == pytest.approx((-0.9, 1.0))


def test_heavier_rows_decide_the_best_bias() -> None:
    # 2 (1 - b)_+ + 3 (1 + b)_+ is least at -1, and with the weight 1 for the 3 at 1.
    for weight, best in ((3.0, -1.0), (1.0, 1.0)):
        problem = classification(np.eye(3), [1, 1, -1], sample_weight=[1.0, 1.0, weight])
        assert problem.best_bias(np.zeros(3)) == (best, best)


def test_hard_rows_allow_an_interval_of_bias() -> None:
    problem = classification([[2.0], [0.0]], [1.0, -1.0], C=np.inf)
    assert problem.best_bias(np.array([4.0, 0.0])) == (-3.0, -1.0)


def test_the_best_bias_of_one_class_whose_costs_add_up_in_two_ways() -> None:
    """Added one by one to 1, the other costs are lost; added in pairs they are not."""
    costs = np.full(10_000, 1e-16)
    costs[0] = 1.0
    y = np.ones(len(costs))
    problem = classification(y[:, None], y, sample_weight=costs)
    assert problem.best_bias(np.zeros(len(costs))) == (1.0, 1.0)


# Counting pairs.


@given(ranking_data())
def test_pairs_are_counted_and_listed(data: Any) -> None:
    """Pairs and their order are those of a loop over every two points.

    The order is that of (preferred, other).
    """
    X, y, qid = data
    query = np.zeros(len(y)) if qid is None else qid
    expected = [
        (i, j) for i in range(len(y)) for j in range(len(y)) if query[i] == query[j] and y[i] > y[j]
    ]
    rows = as_a(Pairs, ranking(X, y, qid).rows)
    assert list(zip(rows.preferred.tolist(), rows.other.tolist(), strict=True)) == expected
    assert rows.p == len(expected)


def test_many_pairs_are_counted_exactly() -> None:
    """The count exceeds the exact integers of double precision."""
    y = np.arange(200_000) % 2
    assert LabelledPairs(y.astype(float), None).p == 10**10
    assert LabelledPairs(np.arange(3.0e5), None).p == 300_000 * 299_999 // 2


# Positive semidefinite matrices.


@st.composite
def symmetric_matrices(draw: st.DrawFn) -> np.ndarray:
    """Draw Gram matrices of integer vectors: singular, with a changed entry, or scaled."""
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    B = np.array(
        draw(st.lists(st.integers(-3, 3), min_size=n * d, max_size=n * d)), dtype=float
    ).reshape(n, d)
    K = B @ B.T
    if draw(st.booleans()):
        i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        K[i, j] = K[j, i] = K[i, j] + draw(st.sampled_from([1e-14, -1e-14, 1e-3, -1e-3, 1.0, -1.0]))
    return np.asarray(K * draw(st.sampled_from([1.0, 3.0, 1e-6, 1e6])))


@given(symmetric_matrices())
@example(np.zeros((1, 1)))
@example(np.array([[1.0, 1.0], [1.0, 1.0]]))
@example(np.array([[0.0, 1.0], [1.0, 0.0]]))
@example(np.array([[1.0, 1.0 + 2**-52], [1.0 + 2**-52, 1.0]]))
def test_what_is_proved_positive_semidefinite_is(K: np.ndarray) -> None:
    """The proof is exact, with the shift as a number and as added in double precision.

    A matrix well inside the cone is not shifted.
    """
    shift = proven_shift(K)
    smallest, largest = np.linalg.eigvalsh(K)[[0, -1]]
    size = max(float(np.abs(K).max()), 1e-300)
    if shift is None:
        assert smallest < 1e-10 * size
        return
    assert smallest > -1e-8 * size
    assert shift <= 1e-8 * size + 1e-290
    assert shift == 0 or smallest <= 1e-10 * largest
    exact = [fractions(row) for row in K]
    for i in range(len(K)):
        exact[i][i] += Fraction(shift)
    assert is_positive_semidefinite(exact)
    problem = classification(K, np.ones(len(K)), kernel=precomputed())
    assert problem.convex
    assert is_positive_semidefinite([fractions(row) for row in problem.gram.dense])


@pytest.mark.parametrize(
    "K",
    [np.diag([1.0, -1e-3]), np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])],
)
def test_an_indefinite_matrix_is_not_convex(K: np.ndarray) -> None:
    problem = classification(K, np.array([1.0, -1.0]), kernel=precomputed())
    assert not is_positive_semidefinite([fractions(row) for row in K])
    assert proven_shift(K) is None
    assert not problem.convex
    nothing = interval(problem, Point(alpha=np.ones(2)))
    assert (nothing.lower, nothing.upper) == (-np.inf, np.inf)


# Kernels.


def test_points_at_the_origin_need_no_shift() -> None:
    """A shift of 2e-322 had functions of multipliers beyond the float64 range."""
    K = np.zeros((3, 3))
    assert proven_shift(K) == 0.0
    K[1, 1] = 2.0
    assert proven_shift(K) == 0.0
    found = solve(
        classification(np.zeros((2, 2)), [1.0, -1.0], 0.125, precomputed()), "smo", tol=1e-9
    )
    assert found.status is Status.OPTIMAL
    assert found.interval.relative_width <= 1e-12


LATER_KERNELS = [
    laplacian(50.0),
    laplacian(1e-6),
    chi2(50.0),
    chi2(1e-6),
    0.3 * rbf(50.0) + linear(),
    polynomial(2, 0.1, 3.0) * laplacian(0.1),
    chi2(0.5) * (linear() + 7.0 * exponential(0.1)),
    0.1 * rbf(1.0) + 0.2 * laplacian(1.0),
]


@given(
    features(max_points=5),
    st.one_of(
        kernels(),
        st.sampled_from(
            [
                rbf(50.0),
                rbf(1e-6),
                exponential(50.0),
                exponential(1e-6),
                polynomial(5, 0.1, 3.0),
                Intercept(rbf(50.0)),
                Intercept(rbf(0.1)),
                *LATER_KERNELS,
            ]
        ),
    ),
)
@example(np.array([[1e6, 0.0], [1e6 + 0.5, 1e-3]]), rbf(1.0))
@example(np.array([[1e6, 0.0], [1e6 + 0.5, 1e-3]]), exponential(1.0))
@example(np.array([[0.0, 0.0], [1e-170, 1e-165]]), exponential(1e160))
@example(np.array([[0.0] * 100, [1.6e-162] * 100]), exponential(1e163))
@example(np.array([[0.0, 1e-160], [1e-170, 1e-165]]), laplacian(1e160))
@example(np.array([[0.0, 5e-324], [5e-324, 1e-323]]), chi2(1e300))
@example(np.array([[0.13, -0.13, 0.64], [0.1, -0.54, -0.13]]), rbf(50.0) + linear())
@example(np.array([[0.3, 0.7], [0.31, 0.69]]), rbf(0.001) * polynomial(40, 0.1, 3.0))
def test_every_entry_is_within_its_bound(X: np.ndarray, kernel: Kernel) -> None:
    """Column by column: |computed - exact| <= E e_j; and K v within the bound of its product."""
    X = np.abs(X) if kernel.nonnegative else X
    m = len(X)
    exact = gram(kernel, X)
    K = kernel.block(X, X)
    for j in range(m):
        bound = fractions(kernel.rounding(X, X, K, np.eye(m)[j]))
        assert all(abs(Fraction(K[i, j]) - exact[i][j]) <= bound[i] for i in range(m))
    problem = classification(X, np.ones(m), kernel=kernel)
    v = np.linspace(-1.0, 2.0, m)
    f, error = problem.gram.product(v)
    truth = apply(exact, fractions(v))
    assert all(
        abs(a - b) <= e for a, b, e in zip(fractions(f), truth, fractions(error), strict=True)
    )


@given(
    features(max_points=4),
    st.one_of(
        kernels(),
        st.sampled_from(
            [
                rbf(50.0),
                exponential(50.0),
                polynomial(5, 0.1, 3.0),
                Intercept(rbf(0.1)),
                *LATER_KERNELS,
            ]
        ),
    ),
)
@example(np.array([[1e6, 0.0], [1e6 + 0.5, 1e-3]]), rbf(1.0))
@example(np.array([[1e6, 0.0], [1e6 + 0.5, 1e-3]]), exponential(1.0))
@example(np.ones((1, 1)), 0.1 * rbf(1.0) + 0.2 * laplacian(1.0))
@example(np.ones((1, 1)), (0.1 * chi2(1.0)) * (0.7 * exponential(1.0)))
def test_every_entry_in_extended_precision_is_within_a_smaller_bound(
    X: np.ndarray, kernel: Kernel
) -> None:
    X = np.abs(X) if kernel.nonnegative else X
    extended = classification(X, np.ones(len(X)), kernel=kernel).gram.extended
    # The platform has no extended precision.
    if extended is None:
        return
    exact, ones = gram(kernel, X), np.ones(len(X))
    bound = kernel.rounding(extended.X, extended.X, extended.dense, ones)
    K = [[Fraction(*float128.as_integer_ratio()) for float128 in row] for row in extended.dense]
    for i in range(len(X)):
        off = sum((abs(K[i][j] - exact[i][j]) for j in range(len(X))), Fraction(0))
        assert off <= Fraction(*bound[i].as_integer_ratio())
    plain = kernel.block(X, X)
    assert (bound <= kernel.rounding(X, X, plain, ones) / 1000 + 1e-290).all()


@pytest.mark.parametrize("seed", [2, 4, 10, 13])
def test_what_cancels_is_proven_in_extended_precision(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inconsistent pairs at C K of 1e7 have coefficients that cancel.

    Bounds in float64 are wider than 1e-5.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(8, 2)).astype(float), rng.integers(0, 2, 8).astype(float)
    problem = ranking(X, y, None, 7e5, polynomial(2, 2.0, 0.0))
    point = solve(problem, tol=1e-7).point
    if problem.gram.extended is not None:
        assert interval(problem, point).relative_width < 2e-7
    monkeypatch.setattr(problem.gram, "extended", None)
    assert interval(problem, point).relative_width > 1e-5


def test_large_costs_do_not_widen_an_interval_by_the_rounding_of_f() -> None:
    """A bound of 7e-12 on the error of f made a width of 5e-9 at C = 1e4 and 77 rows.

    The bound is below the one that requires extended precision; the 77 rows are at
    their margin.
    """
    data = load_breast_cancer()
    X, y = StandardScaler().fit_transform(data.data), np.where(data.target == 1, 1.0, -1.0)
    problem = classification(X, y, 1e4, rbf(1 / 30))
    if problem.gram.extended is not None:
        assert solve(problem, "smo", tol=1e-10).interval.relative_width <= 5e-10


def test_values_are_computed_in_extended_precision_only_where_float64_is_too_rough() -> None:
    """Extended precision costs a hundred times as much as float64.

    On ordinary data it proves no more than is required.
    """
    problem = classification(
        np.random.default_rng(0).normal(size=(20, 3)), np.repeat([1.0, -1.0], 10), kernel=linear()
    )
    v = np.linspace(-1.0, 1.0, 20)
    f, error = kernel_product(problem, v)
    in_float64, rough = present(problem.explicit).kernel_product(v)
    assert (f == in_float64).all()
    assert (error == rough).all()
    assert (kernel_product(problem, v, 0.0)[1] < rough).all()


def test_what_is_too_rough_is_measured_by_the_largest_target() -> None:
    """Errors of 1e-10 are too large for targets of 1, and small enough for one of 1e6."""
    v, x = np.array([1e6, 1e6]), np.array([[0.3], [0.7]])
    for largest_target, rough_enough in ((1.0, False), (1e6, True)):
        problem = regression(x, [0.0, largest_target], 1.0, 0.0)
        in_float64 = present(problem.explicit).kernel_product(v)[1]
        assert 1e-11 < in_float64.max() < 1e-8
        assert (kernel_product(problem, v, 1e-11)[1] == in_float64).all() == rough_enough


@pytest.mark.parametrize("kernel", [rbf(0.5), polynomial(2, 1.0, 1.0)], ids=str)
def test_the_quadratic_term_of_a_declaration_may_be_off_by_what_its_features_leave_out(
    kernel: Kernel,
) -> None:
    """1/2 beta'(K - L L')beta, computed in rationals, is within the bound.

    This holds for beta given directly and computed from the multipliers.
    """
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(9, 2)), np.where(np.arange(9) < 4, 1.0, -1.0)
    problem = classification(X, y, 1e6, kernel, bias=False)
    beta, alpha = 1e3 * rng.normal(size=9), np.full(9, 1e5)
    both = complete(problem, {"beta": beta, "alpha": alpha}).quadratic_error
    assert problem.features_error > 0
    for coefficients in (beta, y * alpha):
        assert both >= problem.features_error * float(coefficients @ coefficients) / 2
    largest = max(
        float(np.abs(b) @ problem.gram.product(b)[1]) + problem.features_error * float(b @ b)
        for b in (beta, y * alpha)
    )
    assert both <= largest


def test_an_entry_off_by_more_than_its_bound_is_noticed() -> None:
    """The bounds are small: 1e-12 of the entries at unit scale."""
    X = np.random.default_rng(3).normal(size=(6, 3))
    for kernel in (linear(), polynomial(3, 0.5, 1.0), rbf(0.7)):
        K = kernel.block(X, X)
        bound = kernel.rounding(X, X, K, np.ones(6))
        assert (bound > 0).all()
        assert (bound < 1e-12 * kernel.magnitude(X, X, K, np.ones(6))).all()


def test_a_sigmoid_proves_nothing() -> None:
    """tanh(a b - 1) on {0, 0.5, 1} has a negative eigenvalue."""
    X = np.array([[0.0], [0.5], [1.0]])
    problem = classification(X, np.array([1.0, -1.0, 1.0]), kernel=sigmoid(1.0, -1.0))
    assert np.linalg.eigvalsh(problem.gram.dense)[0] == pytest.approx(-1.873, abs=1e-3)
    assert not problem.convex
    assert interval(problem, Point(alpha=np.ones(3), beta=np.ones(3))).lower == -np.inf


# Known optima.


def test_two_points_one_margin() -> None:
    """x = 2 (+) and x = 0 (-) have w = 1, b = -1 and the hard optimum 1/2.

    Any multiple of the right point proves it.
    """
    problem = classification([[2.0], [0.0]], [1.0, -1.0], C=np.inf)
    for factor in (1.0, 0.01, 100.0):
        proven = interval(
            problem, Point(w=np.array([factor]), b=-factor, alpha=np.full(2, 0.5 * factor))
        )
        assert proven.lower <= 0.5 <= proven.upper
        if factor <= 1:
            assert proven.relative_width < 1e-12
    assert interval(problem, Point(w=np.array([-1.0]), b=1.0)).upper == np.inf
    assert interval(problem, Point(alpha=np.full(2, 50.0))).lower == pytest.approx(0.5)


@given(scales(), st.floats(0.1, 10))
def test_one_pair_in_closed_form(C: float, distance: float) -> None:
    """One pair at distance d: alpha = min(C, 1 / d^2), the optimum alpha - alpha^2 d^2 / 2."""
    problem = ranking(np.array([[distance], [0.0]]), [1, 0], C=C)
    d2 = Fraction(distance) ** 2
    alpha = min(Fraction(C), 1 / d2)
    optimum = alpha - alpha**2 * d2 / 2
    proven = interval(problem, Point(alpha=np.array([float(alpha)])))
    assert Fraction(proven.lower) <= optimum <= Fraction(proven.upper)
    assert proven.relative_width < 1e-9


def test_a_ray_proves_a_large_bound() -> None:
    """One point with both labels: no f separates.

    Any multiple of alpha = (1, 1) is a lower bound, without overflow.
    """
    for X, kernel in (
        ([[0.0], [0.0]], polynomial(1, 1.0, 0.0)),
        ([[0.3], [0.3]], linear()),
        ([[0.3], [0.3]], rbf(1.0)),
    ):
        problem = classification(X, [1.0, -1.0], C=np.inf, kernel=kernel)
        assert 1e10 < interval(problem, Point(alpha=np.ones(2))).lower < np.inf


def near_points(seed: int) -> np.ndarray:
    """Return five points close to each other and far from the origin.

    Their kernel values cancel in differences.
    """
    rng = np.random.default_rng(seed)
    return np.asarray(10.0 + 1e-4 * rng.normal(size=(5, 2)))


@pytest.mark.parametrize(
    "kernel", [linear(), polynomial(2, 1.0, 1.0), rbf(1.0)], ids=["linear", "polynomial", "rbf"]
)
def test_bounds_hold_where_rounding_is_all_there_is(kernel: Kernel) -> None:
    """Double precision puts about every second value on the wrong side of the exact one."""
    wrong = 0
    for seed in range(40):
        X, rng = near_points(seed), np.random.default_rng(seed)
        problem = ranking(X, rng.permutation(5), C=1e4, kernel=kernel)
        alpha = problem.repaired(rng.uniform(0, 1e4, problem.p))
        exact, _ = exact_dual(problem, fractions(alpha))
        assert Fraction(interval(problem, Point(alpha=alpha)).lower) <= exact
        beta = problem.rows.rdot(alpha)
        w = np.asarray(problem.X.T @ beta)
        given = Point(w=w, b=0.0) if isinstance(kernel, Linear) else Point(beta=beta, b=0.0)
        K = gram(kernel, X)
        f = (
            apply([fractions(x) for x in X], fractions(w))
            if isinstance(kernel, Linear)
            else apply(K, fractions(beta))
        )
        norm2 = (
            inner(fractions(w), fractions(w))
            if isinstance(kernel, Linear)
            else inner(fractions(beta), f)
        )
        primal = exact_primal(problem, f, norm2, Fraction(0))
        assert primal <= Fraction(interval(problem, given).upper)
        values = problem.gram @ beta
        wrong += Fraction(problem.dual(alpha, float(beta @ values))) > exact
        wrong += Fraction(problem.primal(values, float(beta @ values), 0.0)) < primal
    assert wrong > 20


def test_the_upper_bound_covers_the_rounding_of_f() -> None:
    """Coefficients of 1e7 cancel in f, at a cost of 1e12."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = np.tile(rng.normal(size=(3, 2)), (2, 1)), rng.choice([-1.0, 1.0], size=6)
        X[3:] += 1e-7 * rng.normal(size=(3, 2))
        problem = classification(X, y, 1e12, polynomial(2, 0.5, 1.0))
        point = Point(beta=1e7 * np.repeat([1.0, -1.0], 3), b=float(rng.normal()))
        f = apply(gram(problem.kernel, X), fractions(point.beta))
        exact = exact_primal(problem, f, inner(fractions(point.beta), f), Fraction(point.b or 0.0))
        assert exact <= Fraction(interval(problem, point).upper)


@pytest.mark.parametrize(
    "over", [ranking_vector_machine, one_norm_ranking], ids=["points", "pairs"]
)
@pytest.mark.parametrize(
    "kernel", [linear(), polynomial(2, 1.0, 1.0), rbf(1.0)], ids=["linear", "polynomial", "rbf"]
)
def test_linear_bounds_hold_where_rounding_is_all_there_is(kernel: Kernel, over: Any) -> None:
    """Both sides of the linear programs hold where prices exceed 1 by cancellation."""
    for seed in range(40):
        X, rng = near_points(seed), np.random.default_rng(seed)
        problem = over(X, rng.permutation(5), None, 1e10, kernel)
        # These numbers are on every grid.
        u, x = (
            rng.integers(0, 2**20, problem.p) * 2.0**13,
            rng.integers(0, 2**10, problem.size).astype(float),
        )
        proven = interval(problem, OneNormPoint(x, u))
        exact = fractions(u)
        dual = sum(exact, Fraction(0)) / max(Fraction(1), *exact_prices(problem, exact))
        assert Fraction(proven.lower) <= dual
        primal = sum(fractions(x), Fraction(0)) + Fraction(problem.C) * sum(
            (max(Fraction(0), 1 - margin) for margin in exact_margins(problem, fractions(x))),
            Fraction(0),
        )
        assert primal <= Fraction(proven.upper)


def test_a_gram_matrix_that_rounding_made_indefinite_is_shifted() -> None:
    """B B' of more points than dimensions has eigenvalues of rounding size on both sides of 0."""
    indefinite = 0
    for seed in range(40):
        B = np.random.default_rng(seed).normal(size=(4, 2))
        K = B @ B.T
        K = (K + K.T) / 2
        shift = proven_shift(K)
        assert shift is not None
        exact = [fractions(row) for row in K]
        indefinite += not is_positive_semidefinite(exact)
        shifted = [
            [v + Fraction(shift) * (i == j) for j, v in enumerate(row)]
            for i, row in enumerate(exact)
        ]
        assert is_positive_semidefinite(shifted)
        assert 0 < shift < 1e-12 * np.trace(K)
    assert indefinite > 10


def test_relative_figures_of_an_interval() -> None:
    assert Interval(1.0, 2.0, 0.0).size == 2.0
    assert Interval(1.0, 2.0, 1e5).size == pytest.approx(10.0)
    assert Interval(-3.0, np.inf, 1.0).size == 3.0
    assert Interval(0.0, 0.0, 0.0).relative_width == 0.0
    assert Interval(-np.inf, 1.0, 1.0).relative_width == np.inf
    assert Interval(0.0, 3.0, 1.0).intersected(Interval(1.0, 4.0, 2.0)) == Interval(1.0, 3.0, 2.0)


def test_a_missed_tube_is_as_far_off_inward_as_outward() -> None:
    """The cost of a violated hard row is infinite in the inner interval too.

    Rounded down to the largest float, two such costs cancelled in a sum.
    """
    x = np.linspace(-1.0, 1.0, 9)
    problem = regression(x[:, None], 2.0 + x, np.inf, 0.2)
    right = solve(problem).point
    wrong = Point(beta=problem.function(right).beta, w=problem.function(right).w, b=0.0)
    proven, inner = interval(problem, wrong), inner_interval(problem, wrong)
    assert proven.upper > 1.1 * interval(problem, right).upper
    assert inner.upper == pytest.approx(proven.upper, rel=1e-12)


def test_a_tube_that_is_hardly_missed_costs_hardly_more() -> None:
    """The minimal w in the tube is 1/2, and 1 is inside by 1/2.

    A w that misses the tube by a share of both is combined with twice that share of 1.
    """
    x = np.linspace(-1.0, 1.0, 9)
    problem = regression(x[:, None], x, np.inf, 0.5)
    for share in 2.05 * 2.0 ** np.arange(-13.0, -5.0):
        w = 0.5 - 0.5 * share / (1 - share)
        upper = interval(problem, Point(w=np.array([w]), b=0.0)).upper
        assert 0.125 <= upper < 0.5 * (w + 2.1 * share * (1 - w)) ** 2


@pytest.mark.slow
def test_more_points_than_pairs_can_be_listed_have_an_upper_bound() -> None:
    m = LISTED_PAIRS + 1
    problem = classification(np.zeros((m, 1)), np.ones(m))
    assert interval(problem, Point(w=np.zeros(1), b=0.0)).upper == pytest.approx(m)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_error_of_an_inner_product_is_no_less_than_what_its_terms_are_off_by(
    seed: int, n: int
) -> None:
    r = np.random.default_rng(seed)
    v, off = r.normal(size=n), np.abs(r.normal(size=n)) * 10.0 ** r.integers(-9, 9)
    exact = sum(
        (abs(a) * e for a, e in zip(fractions(v), fractions(off), strict=True)), Fraction(0)
    )
    found = Fraction(inner_error(v, np.zeros(n), off))
    assert exact <= found <= exact * (1 + Fraction(2) ** -46)
