"""Column generation for one-norm programs: optima of the direct solver, and bounds.

Bounds are checked in every round, as are groups, warm starts and limits.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations.kernels import gram
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    one_norm_ranking_from_pairs,
    ranking_from_pairs,
    ranking_vector_machine,
)
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.lp import column_generation
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Solution, Status
from narrow import as_a, present
from optima import three_levels


def classes(
    X: Any, y: Any, queries: Any = None, C: float = 1.0, kernel: Any = None, bias: bool = True
) -> OneNormProblem:
    """Return the classification of levels above 0 against the others; queries are ignored."""
    return one_norm_classification(X, np.where(np.asarray(y) > 0, 1.0, -1.0), C, kernel, bias)


def classes_through_the_origin(
    X: Any, y: Any, queries: Any = None, C: float = 1.0, kernel: Any = None
) -> OneNormProblem:
    """Return the classification without a bias."""
    return classes(X, y, queries, C, kernel, bias=False)


RANKINGS = (ranking_vector_machine, one_norm_ranking)
MAKERS = (*RANKINGS, classes, classes_through_the_origin)
by_columns = partial(solve, solver="column_generation")
KERNELS = [linear(), rbf(0.2), polynomial(2, 1.0, 1.0), sigmoid(0.1)]


def both_ways(problem: OneNormProblem, tol: float = 1e-8) -> Solution:
    """Solve by columns, and check the proven interval against the direct solver.

    The interval is as narrow as requested, and meets the direct solver's.
    """
    solution = by_columns(problem, tol=tol)
    assert solution.status is Status.OPTIMAL, solution.reason
    assert solution.interval.relative_width <= 1.01 * tol + 1e-8
    direct = solve(problem, "linear_program", tol=tol)
    assert solution.lower <= direct.upper
    assert direct.lower <= solution.upper
    return solution


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_optimum_of_the_direct_way(make: Any, kernel: Any, C: float) -> None:
    both_ways(make(*three_levels(), C=C, kernel=kernel))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_other_units(make: Any, scale: float) -> None:
    X, y, qid = three_levels()
    both_ways(make(scale * X, y, qid, C=1 / scale**2))


@given(st.data())
def test_any_small_problem(data: st.DataObject) -> None:
    m = data.draw(st.integers(1, 7), "m")
    X = data.draw(st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=m, max_size=m), "X")
    y = data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m), "y")
    kernel = data.draw(st.sampled_from([linear(), rbf(0.5)]), "kernel")
    make = data.draw(st.sampled_from(MAKERS), "form")
    both_ways(make(X, y, C=data.draw(st.sampled_from([0.1, 1.0, 10.0]), "C"), kernel=kernel))


def test_a_given_matrix_and_given_pairs() -> None:
    X, y, qid = three_levels()
    K = rbf(0.2).block(X, X)
    assert both_ways(
        ranking_vector_machine(K, y, qid, kernel=precomputed())
    ).value == pytest.approx(
        both_ways(ranking_vector_machine(X, y, qid, kernel=rbf(0.2))).value, rel=1e-7
    )
    pairs = np.random.default_rng(1).permuted(np.tile(np.arange(40), (60, 1)), axis=1)[:, :2]
    given_pairs = ranking_from_pairs(X, pairs, kernel=rbf(0.2))
    both_ways(OneNormProblem(X, rbf(0.2), as_a(Pairs, given_pairs.rows)))


@pytest.mark.parametrize("make", MAKERS)
def test_equal_points_of_different_labels(make: Any) -> None:
    """A pair of no margin at all costs C for any x."""
    X, y, qid = three_levels()
    X[1::2], qid[1::2] = X[::2], qid[::2]
    both_ways(make(X, y, qid, C=0.3, kernel=rbf(0.2)))


@pytest.mark.parametrize("seed", [0, 5, 7])
@pytest.mark.parametrize("weighted", [True, False])
def test_a_basis_from_which_highs_fails(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(40, 3)) * 2).round(1)
    X[20:] = X[:20]
    pairs = rng.integers(0, 40, size=(600, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    weights = rng.choice([0.0, 0.0, 0.0, 1.0], len(pairs)) if weighted else None
    both_ways(one_norm_ranking_from_pairs(X, pairs, 5.0, rbf(1.0), pair_weight=weights))


@pytest.mark.parametrize("make", [ranking_vector_machine, classes])
def test_every_round_proves_both_sides(make: Any) -> None:
    seen: list[tuple[int, float, float, CanonicalPoint]] = []
    problem = make(*three_levels(200), C=1.0, kernel=rbf(0.2))
    solution = by_columns(problem, tol=1e-7, callback=lambda *shown: seen.append(shown))
    assert len(seen) > 3
    iterations, lower, upper = (np.array(column) for column in list(zip(*seen, strict=True))[:3])
    assert (np.diff(iterations) >= 0).all()
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    assert (lower <= solution.upper * (1 + 1e-12)).all()
    assert (upper >= solution.lower * (1 - 1e-12)).all()


@pytest.mark.parametrize("most", [1, 50])
@pytest.mark.parametrize("make", [ranking_vector_machine, classes])
def test_groups_that_are_put_together_change_nothing(
    make: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_generation, "MOST_GROUPS", most)
    monkeypatch.setattr(column_generation, "SINGLE_PAIRS", 3.0)
    both_ways(make(*three_levels(100), C=0.1, kernel=rbf(0.2)))


@given(st.lists(st.floats(-5, 5), max_size=60))
def test_groups_are_on_one_side_and_smaller_near_the_margin(margins: list[float]) -> None:
    z = np.array(margins)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_generation, "SINGLE_PAIRS", 2.0)
        group = column_generation.graded(z)
    assert sorted(set(group.tolist())) == list(range(group.max(initial=-1) + 1))
    for below in (True, False):
        side = np.flatnonzero((z < 1) == below)
        assert not set(group[side]) & set(group[(z < 1) != below])
        by_distance = group[side[np.argsort(np.abs(z[side] - 1), kind="stable")]]
        assert (np.diff(by_distance) >= 0).all()
        if len(side):
            sizes = np.unique(by_distance, return_counts=True)[1]
            assert sizes[0] <= sizes.max()
            assert sizes[0] == 1


@pytest.mark.parametrize("make", MAKERS)
def test_a_warm_start_helps_along_c(make: Any) -> None:
    # Below this cost no column of a classification reduces the objective.
    problem = make(*three_levels(120), C=0.1 if make in RANKINGS else 3.0, kernel=rbf(0.2))
    near, there = by_columns(problem.with_cost(0.9 * problem.C)), by_columns(problem)
    again, on = by_columns(problem, warm_start=there), by_columns(problem, warm_start=near)
    assert again.iterations == 0
    assert 0 < present(on.iterations) < present(there.iterations)
    for solution in (again, on):
        assert solution.ok
        assert max(solution.lower, there.lower) <= min(solution.upper, there.upper)


@pytest.mark.parametrize("make", [*RANKINGS, classes])
def test_no_pairs_and_one_class(make: Any) -> None:
    solution = by_columns(make(three_levels()[0], np.ones(40)))
    assert solution.ok
    assert solution.value == solution.lower == 0.0


def test_refusals() -> None:
    assert "quadratic" in str(
        column_generation.REQUIREMENTS.refusal(classification([[0.0], [1.0]], [1, -1]))
    )
    X = np.random.default_rng(0).normal(size=(7000, 2))
    assert (
        column_generation.REQUIREMENTS.refusal(
            ranking_vector_machine(X, np.repeat([0, 1], [6000, 1000]))
        )
        is None
    )
    assert "12,250,000 pairs" in str(
        column_generation.REQUIREMENTS.refusal(ranking_vector_machine(X, np.repeat([0, 1], 3500)))
    )


def test_a_start_without_prices() -> None:
    problem = ranking_vector_machine(*three_levels(), kernel=rbf(0.2))
    cold, warm = (
        by_columns(problem),
        by_columns(problem, warm_start=OneNormPoint(np.zeros(40), np.zeros(problem.p))),
    )
    assert warm.ok
    assert max(warm.lower, cold.lower) <= min(warm.upper, cold.upper)


def test_a_warm_start_of_another_problem() -> None:
    with pytest.raises(
        ValueError,
        match=r"the point's x must be a coefficient for each of .*, of shape \(40,\), and is of "
        r"shape \(3,\)",
    ):
        by_columns(
            ranking_vector_machine(*three_levels()), warm_start=OneNormPoint(np.ones(3), np.ones(4))
        )
    with pytest.raises(
        ValueError,
        match=r"a Point is no point of a rvm problem: its points are OneNormPoint\(x, u\)",
    ):
        by_columns(ranking_vector_machine(*three_levels()), warm_start=Point(beta=np.ones(40)))


@pytest.mark.parametrize("make", MAKERS)
def test_limits_return_a_point_and_a_reason(make: Any) -> None:
    problem = make(*three_levels(100), kernel=rbf(0.2))
    for limits, status in (
        ({"max_iter": 1}, Status.ITERATION_LIMIT),
        ({"time_limit": 1e-6}, Status.TIME_LIMIT),
    ):
        solution = by_columns(problem, **limits)
        assert solution.status is status
        assert "limit" in solution.reason
        assert np.isfinite([solution.lower, solution.upper]).all()
    ended = by_columns(problem, callback=lambda *_: True)
    assert ended.status is Status.CALLBACK
    assert "callback" in ended.reason


@pytest.mark.parametrize("kernel", KERNELS)
def test_products_of_few_coefficients(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a matrix is not cached, only the columns of the support are computed.

    Both products are within their bounds of each other.
    """
    X = np.random.default_rng(0).normal(size=(700, 4))
    kept, v = Gram(kernel, X), np.zeros(700)
    v[[3, 70, 699]] = 1.0, -2.0, 0.5
    f, error = kept.product(v)
    monkeypatch.setattr(gram, "STORED_ROWS", 10)
    few, few_error = Gram(kernel, X).product(v)
    assert (np.abs(f - few) <= error + few_error).all()
    assert not Gram(kernel, X).product(np.zeros(700))[0].any()


def test_products_that_overflow_leave_the_point_as_it_is() -> None:
    """The equations of the final step have costs near the largest float."""
    X = np.array([[65189.50831824061], [64929.92943347289]])
    kernel = polynomial(3, 0.5, 0.5)
    solution = solve(
        one_norm_classification(X, [-1.0, 1.0], C=7.14e296, kernel=kernel, bias=True),
        "column_generation",
        tol=1e-10,
    )
    assert not solution.ok
    assert solution.lower <= solution.upper
