"""Families by their constructors: fixed arguments, and problems on another's data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations import MarginProblem, ranking_from_pairs
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.testing import CANONICAL, HARD, get_task, margin_problems, sample_problem


@given(st.sampled_from(CANONICAL).flatmap(margin_problems))
def test_a_family_at_the_data_of_its_own_problem_is_that_problem(problem: Any) -> None:
    again = FAMILIES[problem.family].with_problem_data(problem)
    assert again.family == problem.family
    assert (again.C, again.kernel, again.m, again.p) == (
        problem.C,
        problem.kernel,
        problem.m,
        problem.p,
    )
    np.testing.assert_array_equal(again.X, problem.X)
    np.testing.assert_array_equal(again.costs, problem.costs)


@pytest.mark.parametrize("family", CANONICAL)
@pytest.mark.parametrize("other", CANONICAL)
def test_another_family_has_the_same_data_or_says_why_not(family: str, other: str) -> None:
    problem = sample_problem(family)
    if get_task(family) != get_task(other) or (family in HARD and other not in HARD):
        with pytest.raises(ValueError, match=r"take|make a problem of|must|needs"):
            FAMILIES[other].with_problem_data(problem)
        return
    made = FAMILIES[other].with_problem_data(problem)
    assert made.family == other
    np.testing.assert_array_equal(made.X, problem.X)
    np.testing.assert_array_equal(made.rows.y, problem.rows.y)


def test_weights_that_a_family_does_not_know_are_named() -> None:
    problem = sample_problem("svm.soft")
    assert isinstance(problem, MarginProblem)
    weighted = FAMILIES["svm.soft"](
        {"X": problem.X, "y": problem.rows.y, "sample_weight": np.arange(problem.m) % 3}
    )
    one_norm = FAMILIES["svm.onenorm"].with_problem_data(weighted)
    np.testing.assert_array_equal(one_norm.weights, weighted.weights)
    pairs = ranking_from_pairs(problem.X, [[0, 1]], pair_weight=[2.0])
    with pytest.raises(ValueError, match=r"^rvm takes no pairs and no pair_weight$"):
        FAMILIES["rvm"].with_problem_data(pairs)


def test_a_family_of_data_alone_has_no_problem_at_the_data_of_a_canonical_one() -> None:
    with pytest.raises(
        ValueError,
        match=r"^lasso has no canonical problems, and cannot take data of another problem$",
    ):
        FAMILIES["lasso"].with_problem_data(sample_problem("svr.l1"))


def test_data_of_another_family_are_refused() -> None:
    data = {"X": [[0.0], [1.0]], "y": [-1, 1]}
    assert np.inf == FAMILIES["svm.hard"](data).C
    with pytest.raises(
        ValueError, match=r"^these data make a problem of svm.soft, not of svm.hard$"
    ):
        FAMILIES["svm.hard"](data | {"C": 1.0})
