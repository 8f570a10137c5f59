"""Exact optima: known and degenerate problems, wrong starts, limits, refusals.

Degenerate optima are checked from the definitions.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from campaigns.exact import nightly
from equimargin.formulations import (
    Kernel,
    MarginProblem,
    OneNormProblem,
    Point,
    Problem,
    classification,
    interval,
    linear,
    one_norm_classification,
    one_norm_ranking,
    polynomial,
    precomputed,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.bounds.intervals import inner_interval
from equimargin.formulations.problem.choices import Bias
from equimargin.solvers import Solution, Status, exact_optimum, given_gram, solve
from equimargin.solvers.exact.active_set import check_optimality
from equimargin.solvers.exact.numbers import as_fractions, integral, to_dyadic
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.simplex import OneNormSimplex, check_vertex
from narrow import as_a, present

XOR = (
    np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]),
    np.array([-1.0, 1.0, 1.0, -1.0]),
)


# Known optima.


@pytest.mark.parametrize("C", [np.inf, 1.0, 0.125])
def test_the_tutorials_xor(C: float) -> None:
    found = exact_optimum(classification(*XOR, C, polynomial(2, 1.0, 1.0)))
    assert found.status is Status.OPTIMAL
    assert found.alpha == (Fraction(1, 8),) * 4
    assert (found.value, found.bias) == (Fraction(1, 4), (Fraction(0), Fraction(0)))


def test_without_a_free_support_vector_every_bias_of_an_interval_is_optimal() -> None:
    found = exact_optimum(classification([[0.0], [1.0]], [1, -1], C=0.125))
    assert found.alpha == (Fraction(1, 8),) * 2
    assert found.w == (Fraction(-1, 8),)
    assert found.bias == (Fraction(-7, 8), Fraction(1))
    assert found.value == 2 * Fraction(1, 8) - Fraction(1, 128)


def test_a_multiplier_and_its_slack_may_both_be_zero() -> None:
    found = exact_optimum(
        classification([[-1.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [-1, 1, 1], C=np.inf)
    )
    assert found.alpha == (Fraction(1, 2), Fraction(1, 2), Fraction(0))


def test_a_single_class_leaves_the_bias_without_an_end() -> None:
    found = exact_optimum(classification([[1.0], [2.0]], [1, 1], C=1.0))
    assert (found.value, found.bias) == (Fraction(0), (Fraction(1), None))
    assert as_a(Point, found.point).b == 1.0


def test_contradicting_points_have_a_ray() -> None:
    found = exact_optimum(classification([[1.0], [1.0]], [1, -1], C=np.inf))
    assert (found.status, found.value, found.bias) == (Status.INFEASIBLE, None, (None, None))
    assert found.ray is not None
    assert found.ray[0] == found.ray[1] > 0


def test_no_pairs_have_the_optimum_zero() -> None:
    for problem in (
        ranking([[1.0], [2.0]], [1, 1]),
        ranking_vector_machine([[1.0], [2.0]], [1, 1]),
    ):
        found = exact_optimum(problem)
        assert (found.status, found.value, found.alpha) == (Status.OPTIMAL, Fraction(0), ())


def test_the_ranking_vector_machine_of_the_catalogue() -> None:
    found = exact_optimum(ranking_vector_machine([[1.0], [2.0]], [1, 0], C=0.5))
    assert (found.value, found.beta, found.alpha) == (
        Fraction(1, 2),
        (Fraction(0), Fraction(0)),
        (Fraction(1, 2),),
    )


def test_a_tube_is_as_wide_as_the_floats_say() -> None:
    found = exact_optimum(regression([[1.0], [0.0]], [0.3, -0.3], C=np.inf, epsilon=0.1))
    margin = Fraction(0.3) - Fraction(0.1)
    assert found.value == (2 * margin) ** 2 / 2


# Degenerate problems, from the definitions.


@pytest.mark.slow
@pytest.mark.parametrize("family", nightly.FAMILIES)
def test_degenerate_problems_hold_in_the_definitions(family: str) -> None:
    for number in ([5, nightly.FAMILIES.index(family), i] for i in range(6)):
        assert nightly.judged(nightly.drawn(family, number), number).said == []


def test_more_pairs_than_points_with_a_weight_for_every_query() -> None:
    X = np.random.default_rng(0).integers(-3, 4, (12, 3)).astype(np.float64)
    problem = ranking(
        X,
        np.tile(np.arange(6.0), 2),
        np.repeat([0, 1], 6),
        0.25,
        linear(),
        "squared_hinge",
        query_weight={1: 3.0},
    )
    for each in (problem, given_gram(replace(problem, kernel=rbf(0.5)))):
        found = exact_optimum(each, max_iter=1)
        assert (found.status, found.pivots) == (Status.OPTIMAL, 0)
        assert sum(a > 0 for a in found.alpha) > each.m
        assert list(nightly.wrong_optimum(nightly.Definition(each), found)) == []


def test_a_given_matrix_of_a_linear_program_is_left_as_it_is(tmp_path: Path) -> None:
    """A shift of 1e-13 changes the optimum by a relative 5e-7 at large coefficients.

    A nearly singular K has coefficients of this size.
    """
    X = np.random.default_rng(0).normal(size=(12, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = one_norm_classification(X, y, kernel=rbf(1e-4))
    assert given_gram(classification(X, y, kernel=rbf(1e-4))).shift
    for same in (
        given_gram(problem),
        one_norm_classification(problem.gram.dense, y, kernel=precomputed()),
    ):
        assert same.shift == 0
        np.testing.assert_array_equal(same.gram.dense, problem.gram.dense)
        solution = solve(same)
        solution.save(tmp_path / "solution.npz")
        assert Solution.load(tmp_path / "solution.npz").interval == solution.interval


def test_an_intercept_over_a_given_matrix_keeps_equal_points_apart() -> None:
    G = np.array([[2.0, 1.0], [2.0, 1.0], [0.0, 1.0], [-1.0, 1.0]])
    problem = classification(G @ G.T, [1, -1, 1, -1], 1000.0, precomputed(), bias="penalized")
    assert problem.kernel.given
    # The shift is on the diagonal only, so that equal rows of K become different.
    assert problem.shift
    beta = np.array([1e6, -1e6, 1.0, 0.0])
    exact = nightly.Definition(problem).primal([Fraction(v) for v in beta.tolist()], Fraction(0))
    proven = interval(problem, Point(beta=beta, b=0.0))
    assert (
        Fraction(inner_interval(problem, Point(beta=beta, b=0.0)).upper)
        <= present(exact)
        <= Fraction(proven.upper)
    )
    points = np.array([1, 3])
    assert np.array_equal(
        problem.gram.block(points, points), problem.gram.dense[np.ix_(points, points)]
    )
    assert np.array_equal(
        problem.gram.part(points).dense, problem.gram.dense[np.ix_(points, points)]
    )


def test_the_definitions_see_what_is_wrong_with_an_optimum() -> None:
    found = exact_optimum(classification(*XOR, 1.0, polynomial(2, 1.0, 1.0)))
    at, little = nightly.Definition(found.problem), Fraction(1, 10**30)
    moved = tuple(a + little for a in found.alpha)
    wrong = [
        replace(found, value=present(found.value) + little),
        replace(found, alpha=moved, beta=tuple(at.rdot(moved))),
        replace(found, alpha=(-little, *found.alpha[1:])),
        replace(found, beta=(found.beta[0] + little, *found.beta[1:])),
        replace(found, bias=(-little, Fraction(0))),
        replace(found, bias=(Fraction(0), little)),
        replace(found, status=Status.TIME_LIMIT),
        replace(found, status=Status.INFEASIBLE, ray=(Fraction(1),) * 4),
    ]
    assert list(nightly.wrong_optimum(at, found)) == []
    assert all(list(nightly.wrong_optimum(at, each)) for each in wrong)


def test_the_definitions_see_what_is_wrong_with_a_vertex() -> None:
    found = exact_optimum(nightly.drawn("rvm", [0, 15, 0]))
    at, little = nightly.Definition(found.problem), Fraction(1, 10**30)
    assert found.value
    assert list(nightly.wrong_optimum(at, found)) == []
    for each in (
        replace(found, value=present(found.value) + little),
        replace(found, alpha=(found.alpha[0] + little, *found.alpha[1:])),
        replace(found, beta=(found.beta[0] + little, *found.beta[1:])),
        replace(found, beta=(-little, *found.beta[1:])),
    ):
        assert list(nightly.wrong_optimum(at, each))


def test_an_interval_that_misses_the_optimum_is_seen() -> None:
    value = Fraction(1, 3)
    assert nightly._contains(0.3, 0.4, value)
    assert not nightly._contains(0.3333333333333334, 0.4, value)
    assert not nightly._contains(0.3, 0.3333333333333333, value)
    assert nightly._contains(5.0, np.inf, None)
    assert not nightly._contains(5.0, 6.0, None)


# Starting points.


@pytest.mark.slow
@pytest.mark.parametrize(
    "family",
    [
        "svm.soft",
        "svm.l2",
        "svm.hard",
        "svm.nobias",
        "svr.l1",
        "svr.hard",
        "rank.l1",
        "rank.l2",
        "rank.hard",
    ],
)
def test_pivots_reach_the_optimum_from_any_start(family: str) -> None:
    rng, pivots = np.random.default_rng(0), 0
    for i in range(8):
        problem = nightly.drawn(family, [11, nightly.FAMILIES.index(family), i])
        starts = [
            np.zeros(problem.p),
            np.full(problem.p, 1e300),
            *(rng.exponential(10.0**k, problem.p) for k in (-2, 0, 2)),
        ]
        found = exact_optimum(problem)
        for start in starts:
            again = exact_optimum(problem, start=Point(alpha=start))
            assert (again.status, again.value) == (found.status, found.value)
            assert list(nightly.wrong_optimum(nightly.Definition(problem), again)) == []
            pivots += again.pivots
    assert pivots > 0


@pytest.mark.parametrize("family", ["rank.onenorm", "rvm"])
def test_the_simplex_method_reaches_the_optimum_from_any_basis(family: str) -> None:
    pivots = 0
    for i in range(10):
        problem = nightly.drawn(family, [11, nightly.FAMILIES.index(family), i])
        found, n, p = exact_optimum(problem), problem.size, problem.p
        for basis in (
            range(n, n + p),
            range(n + p, n + 2 * p),
            range(min(n, p)),
            [*range(n), *range(n, n + p)],
        ):
            program = OneNormSimplex(as_a(OneNormProblem, problem), integral(problem), Clock(inf))
            assert check_vertex(program, program.solve(frozenset(basis))) == found.value
            pivots += program.pivots
    assert pivots > 0


def test_conditions_that_do_not_hold_are_an_error() -> None:
    problem = classification(*XOR, 1.0, polynomial(2, 1.0, 1.0))
    numbers, eighth = integral(problem), Fraction(1, 8)
    assert check_optimality(numbers, as_fractions([eighth] * 4), Fraction(0)) == Fraction(1, 4)
    none = Fraction(0)
    for alpha, b in (
        ([eighth] * 4, eighth),
        ([eighth / 2] * 4, none),
        ([eighth, eighth, none, none], none),
        ([Fraction(-1)] * 4, none),
    ):
        with pytest.raises(ArithmeticError):
            check_optimality(numbers, as_fractions(alpha), b)


# Solved problems.


@given(arrays(np.float64, (2, 3), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_floats_are_dyadic(M: np.ndarray) -> None:
    Z, unit = to_dyadic(M)
    assert [Fraction(int(z), unit) for z in Z.ravel()] == [Fraction(v) for v in M.ravel().tolist()]


@pytest.mark.parametrize(
    "kernel", [linear(), polynomial(3, 0.1, 0.3), precomputed()], ids=lambda kernel: kernel.name
)
@pytest.mark.parametrize("bias", [True, "penalized"])
def test_kernels_are_evaluated_exactly(kernel: Kernel, bias: Bias) -> None:
    X = np.array([[0.1, 0.7], [0.7, 5.3]])
    problem = classification(X, [1, -1], 0.3, kernel, "squared_hinge", bias)
    numbers, at = integral(problem), nightly.Definition(problem)
    assert [[Fraction(v, numbers.unit) for v in row] for row in numbers.K.tolist()] == at.K
    assert [Fraction(v, numbers.unit) for v in numbers.ridge.tolist()] == [
        1 / (2 * present(c)) for c in at.c
    ]


def test_a_given_rbf_gram_has_an_exact_optimum() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 2))
    problem = given_gram(
        classification(X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0), 10.0, rbf(1.0))
    )
    found = exact_optimum(problem)
    assert "Rump" in found.semidefinite
    assert found.value is not None
    proven = interval(problem, found.point)
    assert Fraction(proven.lower) <= found.value <= Fraction(proven.upper)
    assert proven.relative_width < 1e-10


def test_a_given_matrix_must_be_positive_semidefinite() -> None:
    rows = classification(np.eye(2), [1, -1], kernel=precomputed())
    singular = replace(rows, X=np.array([[1.0, -1.0], [-1.0, 1.0]]), shift=0.0)
    assert "characteristic polynomial" in exact_optimum(singular).semidefinite
    for K in (
        [[1.0, 2.0], [2.0, 1.0]],
        [[0.0, 1.0], [1.0, 5.0]],
        [[1.0, 1.0 + 2**-52], [1.0 + 2**-52, 1.0]],
    ):
        with pytest.raises(ValueError, match="positive semidefinite"):
            exact_optimum(replace(rows, X=np.array(K), shift=0.0))


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (classification([[0.0], [1.0]], [1, -1], kernel=rbf()), "not computed in fractions"),
        (classification([[0.0], [1.0]], [1, -1], kernel=sigmoid()), "not computed in fractions"),
        (
            classification([[0.0], [1.0]], [1, -1], kernel=rbf(), bias="penalized"),
            "not computed in fractions",
        ),
        (classification(np.zeros((1501, 1)), np.ones(1501)), "1,501 points"),
        (ranking(np.zeros((1000, 1)), np.arange(1000)), "499,500 pairs"),
        (one_norm_ranking(np.zeros((100, 1)), np.arange(100)), "4,950 rows x 4,950 variables"),
    ],
)
def test_what_has_no_exact_optimum_is_refused_in_a_sentence(
    problem: Problem, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        exact_optimum(problem)


# Limits.


def hard_problem() -> MarginProblem:
    X = np.random.default_rng(0).integers(-3, 4, (30, 6)).astype(np.float64)
    return ranking(X, X @ np.arange(6), C=np.inf)


def test_a_limit_ends_the_pivots_with_feasible_multipliers() -> None:
    problem = hard_problem()
    start = Point(alpha=np.zeros(problem.p))
    for limits, status in (
        ({"max_iter": 2}, Status.ITERATION_LIMIT),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT),
    ):
        found = exact_optimum(problem, start=start, **limits)
        assert (found.status, found.value, found.ray) == (status, None, None)
        assert found.reason.strip()
        at = nightly.Definition(problem)
        assert at.feasible(found.alpha)
        assert at.rdot(found.alpha) == list(found.beta)
    assert exact_optimum(problem, start=start).status is Status.OPTIMAL


def test_limits_hold_where_no_linear_system_is_solved() -> None:
    """Every pair goes from 0 to C; no linear system is solved."""
    problem = ranking(np.arange(12.0)[:, None], np.arange(12), C=1e-9)
    start = Point(alpha=np.zeros(problem.p))
    assert exact_optimum(problem, start=start, max_iter=problem.p).pivots == problem.p
    found = exact_optimum(problem, start=start, max_iter=problem.p - 1)
    assert (found.status, found.pivots, sum(a > 0 for a in found.alpha)) == (
        Status.ITERATION_LIMIT,
        problem.p - 1,
        problem.p - 1,
    )
    found = exact_optimum(problem, start=start, time_limit=1e-9)
    assert (found.status, found.pivots) == (Status.TIME_LIMIT, 0)


def test_the_pivots_that_are_needed_are_pivots_enough() -> None:
    problem = hard_problem()
    start = Point(alpha=np.zeros(problem.p))
    needed = exact_optimum(problem, start=start).pivots
    assert exact_optimum(problem, start=start, max_iter=needed).status is Status.OPTIMAL
    found = exact_optimum(problem, start=start, max_iter=needed - 1)
    assert (found.status, found.pivots) == (Status.ITERATION_LIMIT, needed - 1)


@pytest.mark.parametrize("over", ["points", "pairs"])
def test_a_limit_ends_the_simplex_method(over: str) -> None:
    make = ranking_vector_machine if over == "points" else one_norm_ranking
    problem: OneNormProblem = make(np.random.default_rng(0).normal(size=(9, 2)), np.arange(9))
    found = exact_optimum(problem, time_limit=1e-9)
    assert (found.status, found.value) == (Status.TIME_LIMIT, None)
    assert found.x == found.beta == (0,) * problem.size


def test_only_an_optimum_of_a_linear_program_has_x_and_u() -> None:
    program = exact_optimum(nightly.drawn("rvm", [0, 15, 0]))
    assert program.value
    assert program.x is not None
    assert program.u is not None
    assert (len(program.x), len(program.u)) == (program.problem.m, program.problem.p)
    assert sum(program.u) == program.value
    margin = exact_optimum(hard_problem())
    assert (margin.x, margin.u) == (None, None)


def test_a_float_solver_that_spends_its_time_leaves_some_for_the_pivots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[float] = []

    def spent(problem: MarginProblem, tol: float, time_limit: float) -> None:
        given.append(time_limit)
        raise ZeroDivisionError

    monkeypatch.setattr("equimargin.solvers.exact.optimum.solve", spent)
    found = exact_optimum(classification(*XOR, 1.0, polynomial(2, 1.0, 1.0)), time_limit=40.0)
    assert (found.status, found.value) == (Status.OPTIMAL, Fraction(1, 4))
    assert given == [10.0]


@pytest.mark.parametrize("epsilon", [1e308, np.finfo(np.float64).max])
def test_targets_near_the_end_of_float64_have_an_optimum(epsilon: float) -> None:
    found = exact_optimum(regression(np.arange(6.0)[:, None], np.arange(6.0), 1.0, epsilon))
    assert (found.status, found.value) == (Status.OPTIMAL, Fraction(0))


def test_a_cost_near_the_end_of_float64_has_an_optimum() -> None:
    """f is nearly 0: the hinge of all four rows is 1, and C^2 is too small to be a float."""
    found = exact_optimum(
        classification(np.arange(4.0)[:, None], [-1, -1, 1, 1], 1e-300), time_limit=20.0
    )
    C = Fraction(1e-300)
    assert (found.status, found.value) == (Status.OPTIMAL, 4 * C - 8 * C**2)


@pytest.mark.parametrize("limits", [{"max_iter": 0}, {"time_limit": 0.0}, {"time_limit": -1.0}])
def test_limits_must_be_positive(limits: dict[str, Any]) -> None:
    with pytest.raises(
        ValueError,
        match=r"^(max_iter must be at least 1 and whole|time_limit must be a positive number), "
        r"not ",
    ):
        exact_optimum(classification(*XOR), **limits)


def test_an_optimum_of_thousands_of_digits_can_be_shown() -> None:
    found = exact_optimum(classification(*XOR, 1.0, polynomial(2, 1.0, 1.0)))
    assert "optimal" in repr(replace(found, value=Fraction(1, 7**10_000)))


def test_multipliers_beyond_float64_have_a_nearest_point() -> None:
    """1 / K is 1e340: the rational multiplier has no double."""
    found = exact_optimum(classification([[1e-170]], [1.0], np.inf, bias=False))
    assert found.alpha == (1 / Fraction(1e-170) ** 2,)
    assert as_a(np.ndarray, found.point.multipliers).tolist() == [np.finfo(np.float64).max]


def test_exact_optimum_where_a_scaled_cost_overflows() -> None:
    """HiGHS gets K scaled; C times the scale is beyond the largest float here."""
    optimum = exact_optimum(one_norm_classification([[-2e85]], [1.0], C=3e230, bias=False))
    # x = 1/K has the margin 1, and no x has less at this C
    assert optimum.status is Status.OPTIMAL
    assert optimum.value == 1 / Fraction(-2e85) ** 2
