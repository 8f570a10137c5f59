"""Preferences from clicks: their order, their additivity and their relaxation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.data import DataError, preferences
from equimargin.formulations import ranking_from_pairs
from equimargin.solvers import solve


def test_the_example_of_joachims() -> None:
    # The first, the third and the seventh document are clicked.
    told = preferences(range(7), [0, 2, 6])
    assert told.pairs.tolist() == [[2, 1], [6, 1], [6, 3], [6, 4], [6, 5]]
    assert told.weight.tolist() == [1] * 5


@st.composite
def lists(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    shown = draw(st.permutations(range(6)))[: draw(st.integers(1, 6))]
    return shown, draw(st.lists(st.sampled_from(shown), unique=True))


@given(lists())
def test_the_pairs_are_of_every_ranking_with_the_clicked_documents_first(
    shown: tuple[list[int], list[int]],
) -> None:
    order, clicked = shown
    pairs = {tuple(pair) for pair in preferences(order, clicked).pairs.tolist()}
    assert pairs == {
        (i, j)
        for i in clicked
        for j in set(order) - set(clicked)
        if order.index(j) < order.index(i)
    }


@given(st.lists(lists(), min_size=1, max_size=4))
def test_lists_add_up(shown: list[tuple[list[int], list[int]]]) -> None:
    told = [preferences(*each) for each in shown]
    whole = sum(told[1:], told[0])
    again = [pair for each in told for pair in each.pairs.tolist()]
    assert sorted(again) == np.repeat(whole.pairs, whole.weight.astype(int), axis=0).tolist()
    assert len(np.unique(whole.pairs, axis=0)) == len(whole.pairs)


def test_a_contradiction_is_paid_for() -> None:
    both = preferences([0, 1], [1]) + preferences([1, 0], [0])
    optimum = solve(
        ranking_from_pairs([[0.0], [1.0]], both.pairs, 3.0, pair_weight=both.weight), tol=1e-9
    ).interval
    assert optimum.lower <= 6 <= optimum.upper <= optimum.lower + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_clicks_are_a_relaxation_of_any_order_with_the_clicked_documents_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, relevance, shown = rng.normal(size=(8, 2)), rng.permutation(8), rng.permutation(8)
    part = preferences(shown.tolist(), np.flatnonzero(relevance >= 5).tolist()).pairs
    full = [(i, j) for i in range(8) for j in range(8) if relevance[i] > relevance[j]]
    assert solve(ranking_from_pairs(X, part)).lower <= solve(ranking_from_pairs(X, full)).upper


@pytest.mark.parametrize(
    ("shown", "clicked", "message"),
    [
        ([0, 1, 0], [1], "the rows 0 are shown twice"),
        ([0, 1], [2], "the rows 2 were clicked and not shown"),
        ([0, -1], [0], "-1 is no row"),
        ([0, "1"], [0], "'1' is no row"),
        ([0, True], [0], "True is no row"),
        (
            [2**70, 0],
            [0],
            "1180591620717411303424 is no row of the features; rows are whole numbers below 2\\^63",
        ),
        ([0, 1], 1, "clicked must be a list of rows of the features, not 1"),
        (None, [1], "shown must be a list of rows of the features, not None"),
    ],
)
def test_lists_that_make_no_sense_are_a_sentence(shown: Any, clicked: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        preferences(shown, clicked)


def test_preferences_of_many_lists_are_summed() -> None:
    told = [preferences([0, 1], [1]), preferences([2, 1], [1]), preferences([0, 1], [1])]
    found = sum(told[1:], told[0])
    for both in (sum(told), found):
        assert isinstance(both, type(found))
        assert (both.pairs.tolist(), both.weight.tolist()) == ([[1, 0], [1, 2]], [2.0, 1.0])
    wrong: Any = 1
    with pytest.raises(TypeError, match="unsupported operand"):
        wrong + told[0]
