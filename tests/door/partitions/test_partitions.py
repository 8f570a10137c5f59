"""Partitions passed by the user: messages name the faulty partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from equimargin.distributed import classification, ranking, solve

X = [np.eye(3), 2 * np.eye(3)]
Y = [np.array([1.0, -1.0, 1.0])] * 2
Q = [np.array([0, 0, 0]), np.array([1, 1, 2])]


def with_value(value: float) -> list[Any]:
    """Return the features with one changed number in the second partition."""
    features = X[1].copy()
    features[2, 1] = value
    return [X[0], features]


@pytest.mark.parametrize(
    ("features", "labels", "sentence"),
    [
        (with_value(np.nan), Y, "partition 1: X holds nan at row 2, column 1"),
        (with_value(-np.inf), Y, "partition 1: X holds -inf at row 2, column 1"),
        (
            with_value(-2e100),
            Y,
            r"partition 1: X holds -2e\+100 at row 2, column 1; it must hold numbers of at "
            r"most 1e\+100 in size",
        ),
        (
            [X[0], np.eye(3)[:, :2]],
            Y,
            "partition 1 has 2 columns and partition 0 has 3; all must have the same columns",
        ),
        ([X[0], np.ones(3)], Y, r"partition 1: X must have rows and columns; its shape is \(3,\)"),
        ([X[0], [["a"]]], Y, "partition 1: X must hold numbers, not 'a' at row 0, column 0"),
        (
            X,
            [Y[0], Y[0][:2]],
            r"partition 1: y must have one number for each of the 3 rows; its shape is \(2,\)",
        ),
        (X, [Y[0], [1, -1, 2]], "partition 1: y must hold -1 and 1, and holds 2 at row 2"),
        (X, [Y[0], [1, np.nan, 1]], "partition 1: y holds nan at row 1"),
        (X, Y[:1], "the numbers of partitions differ: 2 of X, 1 of y"),
        ([], [], "X has no partition"),
        (X, 1.0, "y must be a Dask array or a list of partitions, as X is, not float"),
        (np.eye(3), Y, "X must be a Dask array or a list of partitions, as X is, not ndarray"),
    ],
)
def test_a_partition_that_is_wrong_is_named(features: Any, labels: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        classification(features, labels)


@pytest.mark.parametrize(
    ("queries", "sentence"),
    [
        (
            [Q[0], Q[1] - 1],
            "query 0 has rows in partitions 0 and 1; the rows of a query must lie in one partition",
        ),
        (
            [Q[0], Q[1][:2]],
            r"partition 1: qid must have one entry for each of the 3 rows; its shape is \(2,\)",
        ),
        (
            [Q[0], ["a", "b", "c"]],
            "qid must hold numbers alone or text alone, and differs between partitions",
        ),
        ([Q[0], [0.5, np.nan, 1]], "partition 1: qid holds NaN or an infinite number at row 1"),
    ],
)
def test_queries_that_are_wrong_are_named(queries: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}"):
        ranking(X, Y, queries)


@pytest.mark.parametrize("C", [0, np.inf, np.nan, "1"])
def test_a_cost_is_positive_and_finite(C: Any) -> None:
    with pytest.raises(
        ValueError, match="C must be a positive finite number where points lie in partitions"
    ):
        classification(X, Y, C)


def test_losses_and_limits_are_checked() -> None:
    with pytest.raises(ValueError, match="loss must be 'hinge' or 'squared_hinge', not 'log'"):
        classification(X, Y, loss="log")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tol must be a positive number"):
        solve(classification(X, Y), tol=0.0)


def test_a_problem_says_what_it_is() -> None:
    assert (
        repr(classification(X, Y))
        == "<PartitionedProblem: classification, 6 points, 3 features; hinge, C=1>"
    )
    assert (
        repr(ranking(X, Y, Q))
        == "<PartitionedProblem: ranking, 3 pairs of 6 points, 3 features; hinge, C=1>"
    )


def test_queries_may_be_text_and_partitions_may_be_empty() -> None:
    numbers = solve(ranking(X, Y, Q))
    text = solve(
        ranking([*X, np.empty((0, 3))], [*Y, np.empty(0)], [["a"] * 3, ["b", "b", "c"], []])
    )
    assert text.w.tobytes() == numbers.w.tobytes()


def test_no_pair_and_one_class_have_the_optimum_0() -> None:
    assert solve(ranking(X, [np.ones(3)] * 2, Q)).interval.upper == 0.0
    assert solve(classification(X, [np.ones(3)] * 2, loss="squared_hinge")).lower <= 0.0
