"""Paths in rational numbers: the exact optimum at every C, f without a jump.

Breakpoints are compared with those of the float path.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equimargin.data import load
from equimargin.formulations import (
    classification,
    one_norm_ranking,
    polynomial,
    ranking,
    rbf,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import ExactPath, exact_optimum, exact_path, given_gram, regularization_path
from equimargin.solvers.exact_limits import rational_kernel
from equimargin.testing import margin_problems

HINGES = ("svm.soft", "svm.nobias", "svr.l1", "rank.l1")
FARTHEST = 1e6
"""Largest C, relative to the first breakpoint, for the comparison with floats.

Beyond it comes the effect of 0.1 + 0.2 != 0.3 on the data.
"""
LINE = [[0.0], [1.0], [3.0]]


def exactly(*values: float | Fraction) -> tuple[Fraction, ...]:
    """Return the numbers as Fractions."""
    return tuple(Fraction(v) for v in values)


def drawn(data: st.DataObject, family: str, tails: bool = True) -> MarginProblem:
    """Sample a problem with the hinge and rational kernel values, without hard rows."""
    problem: Any = data.draw(margin_problems(family, 6, tails))
    assume(not np.isinf(problem.unit_weights).any())
    return problem if rational_kernel(problem.kernel) else given_gram(problem)  # type: ignore[return-value]  # prose-ok: long-line


def some_of(name: str, step: int, kernel: Any = None) -> MarginProblem:
    """Return every `step`-th row of bundled data, in the first two features."""
    data = load(name)
    X: Any = data.X
    return classification(X[::step, :2], data.y[::step], kernel=kernel)


def is_exact_at(path: ExactPath, C: float) -> bool:
    """Return True if the optimum at C equals that of the exact pivots for C alone.

    Both have the same value and the same ends of all best biases.
    """
    found = exact_optimum(path.problem.with_cost(C))
    return found.value == path.value(C) and found.bias == path.bias(C)


@pytest.mark.slow
@pytest.mark.parametrize("family", HINGES)
@given(data=st.data())
@settings(max_examples=15)
def test_a_whole_path_is_the_exact_optimum_at_every_cost(family: str, data: st.DataObject) -> None:
    path = exact_path(drawn(data, family))
    assert path.complete
    assert path.pieces[0].low == 0
    assert path.pieces[-1].high is None
    middle = float(path.breakpoints[len(path.breakpoints) // 2]) if path.breakpoints else 1.0
    for exponent in data.draw(st.lists(st.integers(-20, 20), min_size=2, max_size=2)):
        assert is_exact_at(path, middle * 2.0**exponent)
    for old, new in pairwise(path.pieces):
        assert old.high == new.low
        assert tuple(old.f(new.low)) == tuple(new.f(new.low))
        for C in (new.low, new.low + 1 if new.high is None else (new.low + new.high) / 2):
            assert all(
                0 <= a <= C * Fraction(w)
                for a, w in zip(path.alpha(C), path.problem.unit_weights.tolist(), strict=True)
            )


@pytest.mark.parametrize("family", HINGES)
@given(data=st.data())
@settings(max_examples=15)
def test_float_breakpoints_are_the_exact_ones(family: str, data: st.DataObject) -> None:
    """The float path has a breakpoint wherever f of the points makes a turn.

    It may have more, where only multipliers make one.
    """
    problem = drawn(data, family, tails=False)
    # The shift of a given matrix makes equal points different in the sixteenth digit.
    assume(not problem.kernel.given)
    exact, floats = exact_path(problem), regularization_path(problem, 0.0)
    assume(floats.complete and len(floats.lambdas))
    lambdas = floats.lambdas[floats.lambdas > 0]
    turns = [float(new.low) for old, new in pairwise(exact.pieces) if turned(old, new)]
    for C in turns:
        if C * lambdas[0] < FARTHEST:
            assert np.isclose(1 / lambdas, C, rtol=1e-6).any()


def turned(old: Any, new: Any) -> bool:
    """Return True if the slope of f changes by more than the rounding of float64."""
    size = max(map(abs, (*old.f_slope, *new.f_slope)))
    return any(abs(a - b) > size / 10**4 for a, b in zip(old.f_slope, new.f_slope, strict=True))


def test_two_points_have_the_path_that_is_known() -> None:
    """w = min(2 C, 1) of the points -1 and 1 without a bias, and alpha = C until then."""
    path = exact_path(classification([[-1.0], [1.0]], [-1, 1], bias=False))
    assert path.breakpoints == (Fraction(1, 2),)
    assert path.alpha(Fraction(1, 3)) == exactly(Fraction(1, 3), Fraction(1, 3))
    assert path.f(Fraction(1, 3)) == exactly(Fraction(-2, 3), Fraction(2, 3))
    assert path.f(7) == exactly(-1, 1)
    assert [path.value(C) for C in (0, Fraction(1, 4), 1)] == [0, Fraction(3, 8), Fraction(1, 2)]


def test_biases_are_an_interval_below_and_one_line_above() -> None:
    """alpha = C for both points until w = C is 1; only then b = -w (1 + 0) / 2.

    Before that, b is any with 1 - w x - b >= 0 and 1 + b >= 0.
    """
    path = exact_path(classification([[0.0], [1.0]], [-1, 1]))
    assert path.breakpoints == exactly(2)
    below, above = path.pieces
    assert below.bias is None
    assert path.bias(Fraction(1, 2)) == exactly(-1, Fraction(1, 2))
    assert above.bias == exactly(-1, 0)
    assert path.bias(3) == exactly(-1, -1)


def test_breakpoints_of_bundled_data_are_those_of_the_float_path() -> None:
    """The float path has its end as an additional breakpoint."""
    problem = some_of("breast_cancer", 15, polynomial(2))
    exact, floats = exact_path(problem), regularization_path(problem, 0.0)
    ends = 1 / floats.lambdas[floats.lambdas > 0]
    assert len(exact.breakpoints) == len(ends) - 1 > 20
    assert np.allclose(ends[:-1], [float(C) for C in exact.breakpoints], rtol=1e-6)


def test_a_part_of_a_path_is_that_of_the_whole() -> None:
    problem = ranking(np.array([[1.0, 2.0], [2.0, 0.0], [3.0, 3.0], [0.0, 1.0]]), [3, 1, 2, 1])
    whole = exact_path(problem)
    low, high = whole.breakpoints[0] / 2, whole.breakpoints[-1]
    part = exact_path(problem, low, high)
    assert part.breakpoints == whole.breakpoints[:-1]
    assert (part.pieces[0].low, part.pieces[-1].high) == (low, high)
    for C in (low, (low + high) / 2, high):
        assert part.value(C) == whole.value(C)
    with pytest.raises(ValueError, match="no piece at C"):
        part.piece(2 * high)


def test_a_cost_may_be_a_number_of_numpy() -> None:
    """Products of its 64 bits with the long numerators of a path would overflow."""
    path = exact_path(classification([[0.1], [0.7], [1.3]], [-1, 1, -1]), np.int64(1))
    for C in (np.int64(7), np.int32(2), np.float32(1.5)):
        assert path.value(C) == path.value(C.item())
        assert path.alpha(C) == path.alpha(C.item())
        assert path.f(C) == path.f(C.item())
        assert path.bias(C) == path.bias(C.item())


def test_a_cost_may_be_larger_than_all_floats() -> None:
    path = exact_path(classification([[0.1], [0.7], [1.3]], [-1, 1, -1]), 1)
    for C in (10**400, Fraction(10**400, 3)):
        assert path.value(2 * C) == 2 * path.value(C)


def test_no_pairs_have_one_piece() -> None:
    path = exact_path(ranking(LINE, [1, 1, 1]))
    assert len(path.pieces) == 1
    assert path.value(5) == 0
    assert not path.breakpoints


def test_points_that_depend_on_each_other_have_a_path() -> None:
    """Equal points share their multipliers in many ways; f has one path.

    It is the path of a point of twice the weight.
    """
    X, y = [[1.0], [1.0], [-1.0], [-3.0]], [1, 1, -1, -1]
    twice, heavy = (
        exact_path(classification(X, y)),
        exact_path(classification(X[1:], y[1:], sample_weight=[2.0, 1.0, 1.0])),
    )
    assert twice.breakpoints == heavy.breakpoints
    for C in (Fraction(1, 100), *twice.breakpoints, 10):
        assert twice.value(C) == heavy.value(C)
        assert twice.bias(C) == heavy.bias(C)


def test_time_and_pieces_end_a_path_with_a_sentence() -> None:
    problem = some_of("breast_cancer", 20)
    few = exact_path(problem, max_pieces=3)
    assert not few.complete
    assert len(few.pieces) == 3
    assert few.stopped == "there are more than 3 pieces"
    assert is_exact_at(few, float(few.pieces[-1].low + Fraction(1, 10**6)))
    none = exact_path(problem, time_limit=1e-9)
    assert not none.pieces
    assert not none.breakpoints
    assert none.stopped.startswith("the time limit")
    with pytest.raises(ValueError, match="no piece at C = 1: the time limit"):
        none.piece(1)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (
            classification(LINE, [1, -1, 1], loss="squared_hinge"),
            "the squared hinge has irrational breakpoints",
        ),
        (
            classification(LINE, [1, -1, 1], kernel=rbf(1.0)),
            "the rbf kernel is not computed in fractions",
        ),
        (
            classification(LINE, [1, -1, 1], sample_weight=[1.0, np.inf, 1.0]),
            "rows of infinite weight have no share of C",
        ),
        (one_norm_ranking(LINE, [1, 2, 3]), "`regularization_path`"),
        (regression(np.zeros((1501, 1)), np.zeros(1501)), "too large: 1,501 points"),
    ],
)
def test_what_has_no_exact_path_is_refused_in_a_sentence(problem: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        exact_path(problem)


@pytest.mark.parametrize(
    ("ends", "sentence"),
    [
        ((-1,), "low must be at least 0, not -1"),
        ((1, 1), "high must be above low = 1, not 1"),
        (("1",), "low must be an integer, a float or a Fraction, not '1'"),
        ((0, np.nan), "high must be an integer, a float or a Fraction, not nan"),
        ((0, True), "high must be an integer, a float or a Fraction, not True"),
    ],
)
def test_wrong_ends_are_refused(ends: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        exact_path(classification(LINE, [1, -1, 1]), *ends)


def test_an_infinite_cost_of_the_problem_means_nothing() -> None:
    problem = classification(LINE, [-1, 1, 1], C=np.inf)
    assert exact_path(problem).breakpoints == exact_path(replace(problem, C=2.0)).breakpoints
