"""Leave-one-out error as an exact step function of C.

At every C it equals the error of one exact optimum per point.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equimargin.formulations import classification, polynomial, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import LeaveOneOutPath, exact_leave_one_out, exact_path, given_gram
from equimargin.solvers.exact_limits import rational_kernel
from equimargin.testing import margin_problems
from oracles.left_out import mistakes

LINE = [[0.0], [1.0], [3.0]]


@pytest.mark.parametrize("family", ["svm.soft", "svm.nobias"])
@given(data=st.data())
@settings(max_examples=10)
def test_the_error_is_that_of_an_optimum_for_every_point(family: str, data: st.DataObject) -> None:
    problem: Any = data.draw(margin_problems(family, 5, tails=False, min_points=2))
    assume(not np.isinf(problem.unit_weights).any())
    problem = problem if rational_kernel(problem.kernel) else given_gram(problem)
    found = exact_leave_one_out(problem)
    for C in data.draw(st.lists(st.floats(0.001, 1000.0), min_size=2, max_size=2)):
        assert mistakes(problem.with_cost(C)) == found.at(C)
    for step in found.steps:
        if step > 0 and Fraction(float(step)) == step:
            assert mistakes(problem.with_cost(float(step))) == found.at(step)


def some(bias: bool = True) -> MarginProblem:
    """Return points of an integer grid, each with some label."""
    rng = np.random.default_rng(1)
    return classification(
        rng.integers(-4, 5, (12, 2)), rng.choice([-1, 1], 12), kernel=polynomial(2), bias=bias
    )


def changes(found: LeaveOneOutPath) -> list[tuple[int, int]]:
    """Return the error between its steps."""
    return [(error.least, error.most) for error in found.after_steps]


def test_steps_are_where_the_error_changes() -> None:
    problem = some()
    found = exact_leave_one_out(problem)
    assert (found.steps[0], found.stopped) == (Fraction(0), "")
    assert len(found.steps) > 5
    assert 0 < found.unchanged < 1
    for before, at, after in zip(
        found.after_steps, found.at_steps[1:], found.after_steps[1:], strict=False
    ):
        assert not before == at == after
    for low, high in [*pairwise(found.steps)][1::4]:
        middle = float((low + high) / 2)
        assert mistakes(problem.with_cost(middle)) == found.at(middle)


def test_a_part_is_that_of_the_whole() -> None:
    whole = exact_leave_one_out(some(bias=False))
    low, high = (whole.steps[1] + whole.steps[2]) / 2, whole.steps[-2]
    part = exact_leave_one_out(some(bias=False), low, high)
    assert {low, high} <= set(part.steps)
    assert set(part.steps) - {low, high} <= set(whole.steps)
    for C in (*part.steps, (low + high) / 2):
        assert part.at(C) == whole.at(C)
    for C in (low / 2, 2 * high):
        with pytest.raises(ValueError, match="no leave-one-out error at C"):
            part.at(C)


def test_two_points_have_the_error_that_is_known() -> None:
    """Without the point -1, w = min(C, 1) of the point 1 is on the right side of it.

    Without the point 1 likewise; at C = 0 the optimum is on no side.
    """
    found = exact_leave_one_out(classification([[-1.0], [1.0]], [-1, 1], bias=False))
    assert found.steps == (Fraction(0),)
    assert changes(found) == [(0, 0)]
    assert tuple(found.at(0)) == (0, 2)


def test_a_single_point_of_a_class_is_always_on_the_wrong_side() -> None:
    """Without it every best bias is that of the other class."""
    found = exact_leave_one_out(classification(LINE, [1, 1, -1]), low=1)
    assert all(least >= 1 for least, _ in changes(found))


def test_points_with_no_multiplier_are_not_followed_again() -> None:
    """Far points on the right side have none, on the whole path except its beginning."""
    X, y = (
        [[-1.0], [1.0], *[[k] for k in range(-20, -3)], *[[k] for k in range(3, 20)]],
        [-1, 1, *[-1] * 17, *[1] * 17],
    )
    problem = classification(X, y, bias=False)
    path = exact_path(problem)
    found = exact_leave_one_out(problem, path.breakpoints[-1] + 1)
    assert found.unchanged == Fraction(34, 36)
    assert changes(found)[0] == (0, 0)


def test_time_ends_it_with_a_sentence() -> None:
    found = exact_leave_one_out(some(), time_limit=1e-9)
    assert not found.steps
    with pytest.raises(ValueError, match="no leave-one-out error at C = 1: the time limit"):
        found.at(1)


def test_what_is_no_classification_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a classification"):
        exact_leave_one_out(regression(LINE, [1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="an exact path needs the hinge"):
        exact_leave_one_out(classification(LINE, [1, 1, -1], loss="squared_hinge"))
