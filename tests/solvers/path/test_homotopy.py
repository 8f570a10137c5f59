"""End of a path as a solver's result: true intervals on any data, limits, and priority."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin import compare
from equimargin.formulations import (
    MarginProblem,
    Point,
    Problem,
    classification,
    interval,
    polynomial,
    precomputed,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.solvers import SOLVERS, Status, regularization_path, solve
from equimargin.solvers.path import homotopy
from equimargin.testing import check_solver, margin_problems, sample_problem
from narrow import as_a, present

HOMOTOPY = SOLVERS["homotopy"]
FAMILIES = "svm.soft", "svr.l1", "rank.l1"

every_family = pytest.mark.parametrize("family", FAMILIES)


def test_it_conforms() -> None:
    check_solver("homotopy")


@given(st.sampled_from(FAMILIES).flatmap(lambda family: margin_problems(family, tails=False)))
def test_it_ends_where_other_solvers_do(problem: MarginProblem) -> None:
    """If it stops before C it gives the reason, and its result is true."""
    if HOMOTOPY.refusal(problem) is not None:
        assert problem.hard.any()
        return
    found, other = solve(problem, "homotopy", tol=1e-8), solve(problem, tol=1e-8)
    rounding = 1e-9 * problem.scale
    assert found.lower <= other.upper + rounding
    assert other.lower <= found.upper + rounding
    assert found.ok or "double precision" in found.reason, found.reason
    assert not found.ok or found.relative_gap <= 1e-8


@every_family
def test_it_is_the_point_of_the_path(family: str) -> None:
    problem = as_a(MarginProblem, sample_problem(family, rbf(0.4), 1, 30))
    found = solve(problem, "homotopy", tol=1e-9)
    path = regularization_path(problem, 1 / problem.C)
    assert found.iterations == len(path)
    assert found.value == pytest.approx(path.at(1 / problem.C).value, rel=1e-9)
    assert found.interval.relative_width < 1e-8


@every_family
def test_a_path_ended_early_proves_what_its_point_can(family: str) -> None:
    """Multipliers of a smaller C, times C over it, are feasible.

    The fewer breakpoints are left the better.
    """
    problem = as_a(MarginProblem, sample_problem(family, rbf(0.4), 1, 30)).with_cost(10.0)
    best = solve(problem, tol=1e-9)
    shorter, longer = (solve(problem, "homotopy", max_iter=k) for k in (2, 20))
    for found, breakpoints in ((shorter, 2), (longer, 20)):
        assert (found.status, found.iterations) == (Status.ITERATION_LIMIT, breakpoints)
        assert found.lower <= best.upper
        assert best.lower <= found.upper < np.inf
        last = regularization_path(problem, 0.1, max_events=breakpoints).alphas[-1]
        assert found.lower == pytest.approx(
            interval(problem, Point(alpha=10.0 * last)).lower, rel=1e-9
        )
    assert shorter.relative_gap > longer.relative_gap > 1e-3


def test_the_callback_hears_every_breakpoint_and_the_end() -> None:
    problem = sample_problem("rank.l1", rbf(0.4), 1)
    heard: list[tuple[int, float, float, CanonicalPoint]] = []
    found = solve(problem, "homotopy", callback=lambda *said: heard.append(said))
    assert [breakpoints for breakpoints, *_ in heard] == [
        *range(1, present(found.iterations) + 1),
        present(found.iterations),
    ]
    assert all(lower <= found.upper and found.lower <= upper for _, lower, upper, _ in heard)
    assert heard[-1][1:3] == pytest.approx((found.lower, found.upper), rel=1e-8)
    early = solve(problem, "homotopy", callback=lambda breakpoints, *_: breakpoints == 3)
    assert (early.status, early.iterations) == (Status.CALLBACK, 3)
    assert "callback" in early.reason
    both = solve(problem, "homotopy", max_iter=3, callback=lambda breakpoints, *_: breakpoints == 3)
    assert both.status is Status.CALLBACK


def test_an_accuracy_that_no_path_has_is_not_claimed() -> None:
    problem = sample_problem("rank.l1", rbf(0.4), 1)
    found = solve(problem, "homotopy", tol=1e-300)
    assert found.status is Status.NUMERICAL_FAILURE
    assert "relative gap" in found.reason
    assert interval(problem, found.point).relative_width < 1e-8


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (sample_problem("svm.hard"), "1 / C is 0 for a hard margin"),
        (sample_problem("svm.l2"), "paths exist for the hinge loss only"),
        (ranking_vector_machine([[0.0], [1.0]], [0, 1]), "it is a linear program"),
        (
            classification([[0.0], [1.0]], [1, -1], kernel=sigmoid(1.0, -1.0)),
            "not positive semidefinite",
        ),
        (classification([[0.0], [1.0]], [1, -1], sample_weight=[1.0, np.inf]), "infinite weight"),
        (
            ranking(np.zeros((1000, 1)), np.arange(1000.0)),
            "too large for a comparison of solvers: 1,000 points and 499,500 rows",
        ),
    ],
)
def test_what_it_does_not_take_it_says(problem: Problem, words: str) -> None:
    assert words in str(homotopy.REQUIREMENTS.refusal(problem))


@every_family
def test_it_is_asked_for_by_name_and_compared(family: str) -> None:
    problem = sample_problem(family, rbf(0.4))
    assert HOMOTOPY.reference
    assert solve(problem).solver != "homotopy"
    solvers = ["CLARABEL", "homotopy"]
    result = compare(problem, solvers=solvers)
    assert result.agree
    assert [answer["agreement"] for answer in result.answers if answer["solver"] == "homotopy"] == [
        "agrees"
    ]


def test_a_path_too_long_to_compare_is_skipped_with_its_reason() -> None:
    result = compare(
        ranking(np.arange(1000.0)[:, None], np.arange(1000.0) % 500),
        solvers=["homotopy"],
        formulations="rank.l1.primal",
    )
    (answer,) = result.answers
    assert (answer["agreement"], answer["status"]) == ("skipped", "too_large")


def test_losses_below_float64_are_no_division_by_zero() -> None:
    """1e-4 times P(0) times lambda underflows."""
    K = np.diag([5e-324, 0.0, 5e-324])
    problem = classification(
        K, [-1.0, 1.0, 1.0], C=1.6163430819642345e-165, kernel=precomputed(), bias="penalized"
    )
    solution = solve(problem, "homotopy", tol=1e-10)
    assert solution.lower <= solution.upper


@pytest.mark.parametrize(
    "X", [[[1.0, 2.0]], [[-1749676.5349930788, 3.9283351314891774e114, -0.0382266086665241]]]
)
def test_the_units_of_a_path_are_divided_by_one_at_a_time(X: list[list[float]]) -> None:
    """The product of this weight and this target underflows.

    A single point leaves no differences.
    """
    problem = regression(
        X,
        [0.0],
        C=1e-85,
        kernel=polynomial(1, 1.0, 0.0),
        epsilon=5e-151,
        sample_weight=[3.4097145787094e-310],
    )
    solution = solve(problem, "homotopy", tol=1e-3, time_limit=1.0)
    assert solution.lower <= solution.upper
