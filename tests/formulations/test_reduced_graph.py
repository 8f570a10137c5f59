"""Reduced preference graph: its edges, Table 1 of document P, and its bound.

The graph is no equivalence.
"""

from __future__ import annotations

import csv
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.data import load
from equimargin.equivalence import exact_value
from equimargin.formulations import (
    REGISTRY,
    links,
    ranking,
    ranking_from_pairs,
    reduced_preferences,
    reduction_factor,
)
from equimargin.formulations.problem.choices import LOSSES
from equimargin.solvers import exact_optimum, solve
from equimargin.testing import Relevances, ranking_data
from narrow import present
from public_data import SHARED, needs_data


def all_pairs(y: Any, qid: Any = None) -> list[tuple[int, int]]:
    query = np.zeros(len(y)) if qid is None else qid
    return [
        (i, j) for i, j in permutations(range(len(y)), 2) if query[i] == query[j] and y[i] > y[j]
    ]


def total_loss(pairs: Any, f: Any, power: int) -> float:
    i, j = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    return float((np.maximum(1 - f[i] + f[j], 0) ** power).sum())


def paths_of(y: Any, maximum: dict[float, int], i: int, j: int) -> list[tuple[int, int]]:
    """Return the edges from i down to j."""
    levels = sorted(level for level in maximum if y[j] <= level < y[i])
    stops = [i, *(maximum[level] for level in reversed(levels))]
    stops += [j] if stops[-1] != j else []
    return list(pairwise(stops))


def test_the_edges_of_three_levels() -> None:
    y = [0, 0, 1, 1, 2]
    assert reduced_preferences(y).tolist() == [[0, 1], [2, 0], [2, 3], [3, 0], [4, 2]]
    assert reduced_preferences(y, maximum=[0, 1, 0, 1, 0]).tolist() == [
        [1, 0],
        [2, 1],
        [3, 1],
        [3, 2],
        [4, 3],
    ]
    assert reduced_preferences(y, qid=["a", "b", "a", "b", "b"]).tolist() == [
        [2, 0],
        [3, 1],
        [4, 3],
    ]
    assert reduced_preferences([1, 1, 1]).shape == reduced_preferences([]).shape == (0, 2)


@given(ranking_data(tails=False))
def test_the_number_of_edges(data: Relevances) -> None:
    """(n - n_1) + (n - n_L - (L - 1)) in every query."""
    _, y, qid = data
    wanted = 0
    for q in [None] if qid is None else np.unique(qid):
        sizes = np.unique(y if q is None else y[qid == q], return_counts=True)[1]
        wanted += (sizes.sum() - sizes[0]) + (sizes.sum() - sizes[-1] - (len(sizes) - 1))
    assert len(reduced_preferences(y, qid)) == wanted


@given(ranking_data(tails=False), st.integers(0, 2**32 - 1))
def test_the_bound_holds_for_every_function(data: Relevances, seed: int) -> None:
    _, y, qid = data
    rng = np.random.default_rng(seed)
    reduced, full = reduced_preferences(y, qid, rng.integers(0, 3, len(y))), all_pairs(y, qid)
    for scale in (0.1, 1.0, 30.0):
        for f in (scale * rng.normal(size=len(y)), y * scale, np.zeros(len(y))):
            for power, loss in enumerate(LOSSES, 1):
                kappa = reduction_factor(y, qid, loss)
                assert total_loss(full, f, power) <= kappa * total_loss(reduced, f, power) * (
                    1 + 1e-12
                )


@given(ranking_data(tails=False))
@example(Relevances(np.zeros((6, 1)), np.array([0.0, 0, 0, 1, 1, 1]), None))
def test_the_factor_is_the_largest_congestion_of_the_paths(data: Relevances) -> None:
    _, y, qid = data
    edges, queries = (
        reduced_preferences(y, qid),
        [np.ones(len(y), dtype=bool)] if qid is None else [qid == q for q in np.unique(qid)],
    )
    passing = dict.fromkeys(map(tuple, edges.tolist()), 0)
    for members in queries:
        maximum = {
            level: int(np.flatnonzero(members & (y == level))[0]) for level in np.unique(y[members])
        }
        for i, j in all_pairs(y, qid):
            if members[i]:
                for edge in paths_of(y, maximum, i, j):
                    passing[edge] += 1
    assert reduction_factor(y, qid) == max(passing.values(), default=1)


def test_no_smaller_factor_does_for_two_levels() -> None:
    """n- = 2 and n+ = 3: one strongly violated edge counts kappa times in the limit."""
    y = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    assert (
        reduction_factor(y),
        reduction_factor(y, loss="squared_hinge"),
        reduction_factor([0, 1, 1, 1]),
    ) == (3, 6, 1)
    f = np.array([0.0, 1e6, 1.0, 1.0, 1.0])
    assert total_loss(all_pairs(y), f, 1) > 2.999 * total_loss(reduced_preferences(y), f, 1)
    tail = np.array([0.0, -1.0, -1e6, 1.0, 1.0])
    # n- = 2.
    assert total_loss(all_pairs(y), tail, 1) > 1.999 * total_loss(reduced_preferences(y), tail, 1)


def test_there_is_no_bound_the_other_way() -> None:
    """All pairs have their margins; the reduced graph, ordering a level, has not."""
    y, f = np.array([0.0, 0.0, 1.0]), np.array([0.0, 5.0, 9.0])
    assert total_loss(all_pairs(y), f, 1) == 0
    assert total_loss(reduced_preferences(y), f, 1) == 6


def test_the_optimum_of_all_pairs_is_below_that_of_the_reduced_graph_at_kappa_times_the_cost() -> (
    None
):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(25, 3)), np.repeat([0.0, 1.0, 2.0], [10, 8, 7])
    pairs = reduced_preferences(y)
    for loss in ("hinge", "squared_hinge"):
        full = solve(ranking(X, y, C=0.2, loss=loss))
        reduced = solve(
            ranking_from_pairs(X, pairs, 0.2 * reduction_factor(y, loss=loss), loss=loss)
        )
        assert full.lower <= reduced.upper


def test_relaxation_keeps_the_weights_of_queries() -> None:
    (link,) = (
        link
        for link in links.LINKS
        if link.b == "rank.reduced" and isinstance(link, links.Relaxation)
    )
    rng = np.random.default_rng(4)
    y, q = np.array([0, 0, 0, 1, 1, 0, 1, 2, 2]), np.array([1, 1, 1, 1, 1, 2, 2, 2, 2])
    problem = ranking(rng.normal(size=(9, 3)), y, q, 0.5, query_weight={1: 4.0, 2: 0.25})
    reduced = link.problem(problem)
    assert 0.5 * reduction_factor(y, q) == reduced.C
    assert reduced.weights.tolist() == [4.0, 0.25]
    assert present(exact_optimum(problem).value) <= exact_value("rank.reduced", reduced, "exact")


def test_edges_of_the_reduced_graph_have_the_weights_of_their_queries() -> None:
    """Two copies of a query cost as much as one of weight 2; a hard query raises."""
    X, y = np.array([[0.0], [3.0], [2.0]]), [0, 0, 1]
    twice = ranking(np.vstack([X, X]), [*y, *y], [1, 1, 1, 2, 2, 2], 0.5)
    double = ranking(X, y, C=0.5, query_weight={0: 2.0})
    assert exact_value("rank.reduced", twice) == exact_value("rank.reduced", double)
    refusal = REGISTRY["rank.reduced"].refusal(ranking(X, y, C=0.5, query_weight={0: np.inf}))
    assert str(refusal) == "the reduced graph has no hard rows"


@pytest.mark.parametrize(("highest", "slope"), [([0, 1, 2], 1 / 3), ([2, 1, 0], -1 / 3)])
def test_three_points_suffice_to_tell_them_apart(highest: list[int], slope: float) -> None:
    """Negatives 0 and 3, positive 2, C = 1: w = 1/2 over all pairs.

    By which negative is the maximum, w is 1/3, or -1/3, the ranking reversed.
    """
    X, y = [[0.0], [3.0], [2.0]], [0, 0, 1]
    full = solve(ranking(X, y), tol=1e-10)
    reduced = solve(ranking_from_pairs(X, reduced_preferences(y, maximum=highest)), tol=1e-10)
    assert full.decision_function([[1.0], [0.0]]) @ [1, -1] == pytest.approx(0.5, abs=1e-6)
    assert reduced.decision_function([[1.0], [0.0]]) @ [1, -1] == pytest.approx(slope, abs=1e-6)


def test_table_1_cancer() -> None:
    y = load("breast_cancer").y
    assert (ranking(np.zeros((569, 1)), y).p, len(reduced_preferences(y))) == (75_684, 568)


@needs_data("esl-mixture.csv", "auto-mpg.csv", "pima.csv")
@pytest.mark.parametrize(
    ("name", "target", "full", "reduced"),
    [
        ("esl-mixture.csv", "y", 10_000, 199),
        ("auto-mpg.csv", "mpg", 75_245, 656),
        ("pima.csv", "DiabetesIn5Years", 134_000, 767),
    ],
)
def test_table_1(name: str, target: str, full: int, reduced: int) -> None:
    with (SHARED / name).open(encoding="utf-8", newline="") as file:
        y = [
            float(row[target])
            for row in csv.DictReader(file)
            # Six cars have no horsepower.
            if "" not in row.values()
        ]
    assert (ranking(np.zeros((len(y), 1)), y).p, len(reduced_preferences(y))) == (full, reduced)


def test_bad_input_is_a_sentence() -> None:
    for arguments, message in (
        (([0, np.nan],), "y holds NaN"),
        (([[0, 1]],), "y must have one number"),
        (([0, 1], [1]), "qid must have one entry"),
        (([0, 1], None, [1]), "maximum must have one number"),
    ):
        with pytest.raises(ValueError, match=message):
            reduced_preferences(*arguments)
    with pytest.raises(ValueError, match="loss must be 'hinge' or 'squared_hinge', not 'logistic'"):
        reduction_factor([0, 1], loss="logistic")  # type: ignore[arg-type]
