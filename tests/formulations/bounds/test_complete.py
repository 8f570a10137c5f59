"""Points passed by users: equivalent forms give one point, and wrong ones raise.

Every error has a message.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.formulations import (
    MarginProblem,
    OneNormPoint,
    Point,
    classification,
    complete,
    interval,
    one_norm_classification,
    one_norm_ranking,
    ranking,
    rbf,
)
from equimargin.formulations.bounds.complete import OneNormCompletion
from equimargin.formulations.bounds.given import parse_point
from equimargin.solvers import solve
from equimargin.testing import margin_problems, sample_problem
from narrow import as_a, present

X = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
SIGNS = np.array([-1.0, 1.0, 1.0])
SOFT, BARE = classification(X, SIGNS), classification(X, SIGNS, bias=False)
PENALISED = classification(X, SIGNS, bias="penalized")
CURVED = classification(X, SIGNS, kernel=rbf(0.5))
TIED = classification(np.array([[1.0], [1.0], [2.0]]), SIGNS)
PROGRAM = one_norm_ranking(X, [0, 1, 2])
SOFT_FAMILIES = ["svm.soft", "svm.nobias_l2", "svr.l1", "svr.l2", "rank.l1"]


@pytest.mark.parametrize("family", SOFT_FAMILIES)
def test_all_ways_to_hand_in_a_function_are_one(family: str) -> None:
    """w, beta and the values of f prove one upper bound.

    This holds with the solver's bias and with the best one.
    """

    @settings(max_examples=15)
    @given(margin_problems(family, tails=False), st.booleans())
    def check(drawn: Any, with_bias: bool) -> None:
        problem = as_a(MarginProblem, drawn)
        found = solve(problem, tol=1e-9)
        values = found.decision_function(problem.X) - found.bias
        ways: list[dict[str, Any]] = [{"beta": present(found.beta)}, {"f": values}]
        if problem.explicit is not None:
            ways.append({"w": present(found.w)})
        b = {"b": found.bias} if problem.bias and with_bias else {}
        uppers = [interval(problem, complete(problem, way | b).point).upper for way in ways]
        for upper in uppers:
            assert upper == pytest.approx(found.upper, rel=1e-6, abs=1e-6 * problem.scale)

    check()


@pytest.mark.parametrize("family", SOFT_FAMILIES)
def test_a_function_is_completed_by_multipliers_that_prove_its_optimum(family: str) -> None:
    problem = as_a(MarginProblem, sample_problem(family))
    found = solve(problem, tol=1e-12)
    whole = complete(
        problem, {"w": present(found.w), "b": found.bias} if problem.bias else present(found.w)
    )
    assert whole.point.alpha is None
    assert interval(problem, whole.both_sides).relative_width < 1e-5
    assert not np.isfinite(interval(problem, whole.point).lower)


def test_a_penalised_bias_is_the_last_weight() -> None:
    for given_in in ([1.0, 2.0, 3.0], ([1.0, 2.0], 3.0), {"w": [1, 2], "b": 3}):
        point = complete(PENALISED, given_in).point
        assert (present(point.w).tolist(), point.b) == ([1.0, 2.0, 3.0], None)


def test_canonical_points_and_parts_of_programs_are_taken() -> None:
    point = Point(w=np.ones(2), b=1.0)
    assert complete(SOFT, point).point.w is point.w
    assert present(complete(PROGRAM, [1.0, 0.0, 2.0][: PROGRAM.size]).point.x).shape == (
        PROGRAM.size,
    )
    both = complete(PROGRAM, {"x": np.zeros(PROGRAM.size), "u": np.zeros(PROGRAM.p)}).both_sides
    assert as_a(OneNormPoint, both).u is not None
    own = OneNormPoint(x=np.ones(PROGRAM.size), u=np.zeros(PROGRAM.p))
    taken = as_a(OneNormPoint, parse_point(PROGRAM, own))
    assert np.array_equal(present(taken.x), present(own.x))
    assert np.array_equal(present(taken.u), present(own.u))
    assert np.array_equal(present(as_a(Point, parse_point(SOFT, point)).w), present(point.w))
    pairs = ranking(X, [0, 1, 2], loss="squared_hinge")
    implicit = present(solve(pairs, "newton").dual)
    assert complete(pairs, {"alpha": implicit}).point.alpha is implicit


@pytest.mark.parametrize(
    ("problem", "handed_in", "words"),
    [
        (
            SOFT,
            np.ones(3),
            r"the point's w must be a weight for each feature, of shape \(2,\), and is of "
            r"shape \(3,\)",
        ),
        (
            SOFT,
            np.ones((1, 2)),
            r"w must be a weight for each feature, of shape \(2,\), and is of shape \(1, 2\)",
        ),
        (
            SOFT,
            [np.nan, 1.0],
            "w must be finite, and 1 of its 2 entries are nan: do the steps diverge",
        ),
        (SOFT, (np.ones(2), np.inf), "b must be finite, and it is inf"),
        (SOFT, "w", "the point's w must hold numbers, not 'w'"),
        (SOFT, None, "the point is None: is a `return` missing"),
        (SOFT, {"w": None, "b": 1.0}, "there is neither a function nor multipliers"),
        (SOFT, (np.ones(2), 1.0, 2.0), r"a tuple must be \(w, b\), and this one has 3 entries"),
        (
            SOFT,
            (np.ones(2), np.ones(3)),
            r"the point's b must be a number, of shape \(\), and is of shape \(3,\)",
        ),
        (
            SOFT,
            {"weights": np.ones(2)},
            "the part 'weights' is unknown; the parts of .* svm.soft problem are w, beta, "
            "b, alpha, f",
        ),
        (SOFT, {"b": 1.0}, "there is neither a function nor multipliers"),
        (SOFT, {}, "there is neither a function nor multipliers"),
        (SOFT, {"w": np.ones(2), "f": np.ones(3)}, "w and f define the function twice"),
        (
            SOFT,
            {"alpha": np.ones(2)},
            r"alpha must be a multiplier for each row, of shape \(3,\), and is of shape \(2,\)",
        ),
        (SOFT, OneNormPoint(x=np.ones(3)), "a OneNormPoint is no point of a svm.soft problem"),
        (BARE, (np.ones(2), 1.0), "b is 1, and the svm.nobias problem has no free bias"),
        (
            PENALISED,
            np.ones(2),
            r"w must be a weight for each feature, of shape \(3,\), and is of shape \(2,\)",
        ),
        (
            CURVED,
            np.ones(2),
            r"an array is read as w, and the rbf kernel has no w: pass .*'beta'",
        ),
        (
            TIED,
            {"f": [1.0, 2.0, 0.0]},
            "the nearest function of the linear kernel differs from f by",
        ),
        (
            PROGRAM,
            np.ones(PROGRAM.size + 1),
            r"the point's x must be a coefficient for each of the pairs, of shape",
        ),
        (PROGRAM, {"w": np.ones(2)}, "the parts of a point of this rank.onenorm problem are x, u"),
    ],
)
def test_what_is_no_point_is_refused_in_words(problem: Any, handed_in: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        complete(problem, handed_in)


def test_values_of_a_kernel_with_ties_are_those_of_one_function() -> None:
    """Equal points have equal values.

    The function is the one of smallest norm with these values.
    """
    problem = classification(np.array([[1.0], [1.0], [2.0]]), SIGNS, kernel=rbf(0.5))
    whole = complete(problem, {"f": [0.5, 0.5, -1.0]})
    np.testing.assert_allclose(whole.f, [0.5, 0.5, -1.0], atol=1e-9)


def test_a_row_on_its_margin_that_costs_nothing_has_the_multiplier_0() -> None:
    """w = 1 is the optimum for one of two equal points of class 1.

    The other point has weight 0.
    """
    problem = classification([[1.0], [1.0]], [1.0, 1.0], 3.0, bias=False, sample_weight=[1.0, 0.0])
    alpha = present(as_a(Point, complete(problem, {"w": [1.0]}).both_sides).alpha)
    assert np.asarray(alpha) == pytest.approx([1.0, 0.0], abs=1e-9)


def test_slacks_of_a_linear_program_count_the_best_bias() -> None:
    """At x = 0 the best bias meets the points of the larger class.

    Each of the other points misses its margin by 2.
    """
    problem = one_norm_classification([[0.0], [1.0], [2.0]], [1, 1, -1])
    whole = as_a(OneNormCompletion, complete(problem, {"x": np.zeros(problem.size)}))
    assert isinstance(whole.b, float)
    assert whole.xi == pytest.approx([0.0, 0.0, 2.0])
