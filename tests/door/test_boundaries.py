"""Rank boundaries: ordered, exact where f separates the ranks, and optimal.

No other thresholds make fewer mistakes.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from equimargin.boundaries import (
    RankBoundaries,
    boundaries_between,
    most_rank_errors,
    rank_boundaries,
)
from equimargin.formulations import (
    classification,
    one_norm_ranking,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
)
from equimargin.solvers import Solution, solve

points = st.lists(st.tuples(st.integers(0, 3), st.integers(-3, 3)), min_size=1, max_size=8)


def mistakes(boundaries: RankBoundaries, y: Any, f: Any) -> float:
    """Return sum of |h(x_i) - y_i|, counted in ranks."""
    place = np.searchsorted(boundaries.ranks, y)
    return float(np.abs(np.searchsorted(boundaries.ranks, boundaries.rank(f)) - place).sum())


@given(points)
@example([(0, 1), (1, 0)])
@example([(0, 0), (1, 0)])
@example([(0, 2), (1, 1), (2, 0)])
def test_no_other_thresholds_make_fewer_mistakes(drawn: list[tuple[int, int]]) -> None:
    y, f = (np.array(column, dtype=float) for column in zip(*drawn, strict=True))
    found = boundaries_between(y, f)
    assert found.ranks.tolist() == sorted(set(y))
    assert (found.thresholds[1:] >= found.thresholds[:-1]).all()
    places = np.append(np.unique(f), np.inf)
    others = combinations_with_replacement(places, len(found.thresholds))
    assert mistakes(found, y, f) == min(
        mistakes(RankBoundaries(found.ranks, np.array(t)), y, f) for t in others
    )


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=2, max_size=12))
@example([(0, 0), (1, 0)])
def test_the_boundary_of_two_ranks_is_the_best_place_on_their_roc_curve(
    drawn: list[tuple[int, int]],
) -> None:
    """The ROC curve has a point per threshold.

    P section 3: "the exact decision frontier can be calculated via a ROC curve".
    """
    y, f = (np.array(column, dtype=float) for column in zip(*drawn, strict=True))
    positive = int(y.sum())
    if positive in (0, len(y)):
        return
    false, true, _ = roc_curve(y, f, drop_intermediate=False)
    errors = (len(y) - positive) * false + positive * (1 - true)
    assert mistakes(boundaries_between(y, f), y, f) == pytest.approx(errors.min(), abs=1e-9)


@given(points)
def test_where_the_ranks_are_apart_thresholds_are_in_the_middle_of_the_closest_pairs(
    drawn: list[tuple[int, int]],
) -> None:
    y = np.array([rank for rank, _ in drawn], dtype=float)
    f = 8.0 * y + np.array([place for _, place in drawn])
    found = boundaries_between(y, f)
    wanted = [
        (f[y == high].min() + f[y == low].max()) / 2
        for low, high in zip(found.ranks, found.ranks[1:], strict=False)
    ]
    np.testing.assert_array_equal(found.thresholds, wanted)
    np.testing.assert_array_equal(found.rank(f), y)


def test_the_closest_pair_of_zero_slack_is_not_enough() -> None:
    """The ranks are less than a margin apart.

    The closest pair with f_i - f_j >= 1 would cut one of them, the closest pair of
    all does not.
    """
    y, f = np.array([0, 0, 1, 1]), np.array([0.0, 0.9, 1.0, 1.95])
    low, high = min(
        ((f[j], f[i]) for i in (2, 3) for j in (0, 1) if f[i] - f[j] >= 1),
        key=lambda pair: pair[1] - pair[0],
    )
    assert (low + high) / 2 == 0.5
    assert (RankBoundaries(np.array([0.0, 1.0]), np.array([0.5])).rank(f) != y).sum() == 1
    assert boundaries_between(y, f).thresholds.tolist() == [0.95]
    np.testing.assert_array_equal(boundaries_between(y, f).rank(f), y)


def test_overlapping_ranks() -> None:
    """One point of rank 0 far above all of rank 1 costs one mistake, at any place."""
    y, f = [0, 0, 0, 1, 1, 1], [0.0, 1.0, 100.0, 2.0, 3.0, 4.0]
    assert boundaries_between(y, f).thresholds.tolist() == [1.5]
    assert boundaries_between([0, 1], [1.0, 0.0]).thresholds.tolist() == [
        -np.inf
    ]  # Lowest of the optimal thresholds; inf is another.
    assert boundaries_between([0, 0, 1], [1.0, 1.0, 0.0]).thresholds.tolist() == [np.inf]
    assert boundaries_between([0, 1], [5.0, 5.0]).thresholds.tolist() == [-np.inf]


def test_absent_ranks_and_a_single_one() -> None:
    apart = boundaries_between([0, 5, 2], [0.0, 9.0, 3.0])
    assert (apart.ranks.tolist(), apart.thresholds.tolist()) == ([0, 2, 5], [1.5, 6.0])
    assert apart.rank([-np.inf, 1.5, 5.9, np.inf]).tolist() == [0, 2, 2, 5]
    alone = boundaries_between([3, 3], [0.0, 1.0])
    assert (alone.thresholds.tolist(), alone.rank([7.0]).tolist()) == ([], [3])


def test_neighbouring_floats_and_huge_ones_are_separated() -> None:
    for low in (1.0, -1.0, 5e-324, -5e-324, 1.7e308, 0.0):
        f = np.array([low, np.nextafter(low, np.inf)])
        assert boundaries_between([0, 1], f).rank(f).tolist() == [0, 1]
    assert boundaries_between([0, 1], [-1.7e308, 1.7e308]).thresholds.tolist() == [0.0]


def separable() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    score = X @ np.array([1.0, -0.5, 2.0])
    y = np.digitize(score, [-1.5, 0.0, 1.5]) * 1.0
    return X + 0.3 * y[:, None] * np.array([1.0, -0.5, 2.0]), y


def solved(problem: Any) -> Solution:
    solution = solve(problem, tol=1e-8)
    assert solution.ok, solution.reason
    return solution


def test_the_training_points_of_a_separable_problem_have_their_ranks() -> None:
    X, y = separable()
    for problem in (
        ranking(X, y, C=100.0),
        ranking(X, y, C=100.0, kernel=rbf(0.1)),
        one_norm_ranking(X, y, C=100.0),
    ):
        solution = solved(problem)
        boundaries = rank_boundaries(solution)
        assert (np.diff(boundaries.thresholds) > 0).all()
        np.testing.assert_array_equal(boundaries.rank(solution.decision_function(X)), y)
    assert (boundaries.rank(solution.decision_function(X - X.mean(axis=0) * 9)) != y).any()


def test_a_ranking_that_learns_nothing_separates_nothing() -> None:
    """With x = 1 preferred to x = 2 the RVM has beta = 0.

    All utilities are equal, and one rank is never predicted.
    """
    solution = solved(ranking_vector_machine([[1.0], [2.0]], [1, 0], C=1.0))
    boundaries = rank_boundaries(solution)
    assert boundaries.rank(solution.decision_function([[1.0], [2.0]])).tolist() == [1, 1]


def test_what_has_no_ranks_is_a_sentence() -> None:
    for problem in (
        ranking_from_pairs([[0.0], [1.0]], [[1, 0]]),
        classification([[0.0], [1.0]], [-1, 1]),
    ):
        with pytest.raises(ValueError, match="a relevance for every point"):
            rank_boundaries(solved(problem))
    for y, f, message in (
        ([], [], "y is empty"),
        ([0, 1], [0.0], "f must have"),
        ([0, np.nan], [0, 1], "y holds NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            boundaries_between(y, f)
    with pytest.raises(ValueError, match="f holds NaN at row 1"):
        boundaries_between([0, 1], [0, 1]).rank([0, np.nan])


@given(points)
@example([(0, 1), (1, 0), (0, 3), (1, 2)])
def test_misordered_pairs_bound_the_mistakes_of_the_best_thresholds(
    drawn: list[tuple[int, int]],
) -> None:
    y, f = (np.array(column, dtype=float) for column in zip(*drawn, strict=True))
    assert mistakes(boundaries_between(y, f), y, f) <= most_rank_errors(y, f)


def test_the_bound_of_mistakes_is_attained() -> None:
    """Utilities 0, 1, 2, 3 of ranks 1, 0, 1, 0: 3 misordered pairs, 2 mistakes at best."""
    y, f = np.array([1.0, 0.0, 1.0, 0.0]), np.arange(4.0)
    assert mistakes(boundaries_between(y, f), y, f) == most_rank_errors(y, f) == 2
    assert most_rank_errors(y, -f) == 1
    assert most_rank_errors(y, y) == 0
