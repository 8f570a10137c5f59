"""Derivatives of exact optima: known values, kinks, finite differences, refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.exact.differences import wrong_derivatives
from campaigns.exact.near_optimal import best_bias, wrong_bounds
from campaigns.exact.nightly import FAMILIES, Definition
from campaigns.exact.nightly_stability import CAMPAIGN, derived, instance
from equimargin.formulations import (
    classification,
    linear,
    one_norm_ranking,
    polynomial,
    ranking,
    rbf,
    regression,
)
from equimargin.solvers import exact_optimum, given_gram
from equimargin.solvers.exact.sensitivity import (
    Cost,
    Feature,
    OneSidedDerivatives,
    Parameter,
    Target,
    Weight,
    exact_sensitivity,
)
from places import example

XOR = (
    np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]),
    np.array([-1.0, 1.0, 1.0, -1.0]),
)
SOFT = [family for family in FAMILIES if not family.endswith(("hard", "onenorm", "rvm"))]
ZERO = Fraction(0)


def test_one_point_whose_optimum_is_known_in_closed_form() -> None:
    """A point at x of label 1, no bias: f(x) = min(C x^2, 1).

    V = C - C^2 x^2 / 2, then 1 / (2 x^2), with a kink of f at C x^2 = 1.
    """

    def at(C: float, parameter: Parameter, x: float = 2.0) -> Any:
        return exact_sensitivity(
            classification([[x]], [1.0], C, linear(), bias=False), parameter, new=[[1.0]]
        )

    inside, outside, edge = at(0.125, Cost()), at(1.0, Cost()), at(0.25, Cost())
    assert inside.value == OneSidedDerivatives(Fraction(1, 2), Fraction(1, 2))
    assert inside.f == (OneSidedDerivatives(Fraction(4), Fraction(4)),)
    assert inside.at_new == (OneSidedDerivatives(Fraction(2), Fraction(2)),)
    assert outside.value == outside.f[0] == OneSidedDerivatives(ZERO, ZERO)
    assert not inside.kink
    assert edge.kink
    assert edge.value == OneSidedDerivatives(ZERO, ZERO)
    assert edge.f == (OneSidedDerivatives(Fraction(4), ZERO),)
    moving = at(0.25, Feature(0, 0))
    assert moving.value == OneSidedDerivatives(Fraction(-1, 8), Fraction(-1, 8))
    assert moving.f == (OneSidedDerivatives(Fraction(1), ZERO),)
    assert moving.at_new == (OneSidedDerivatives(Fraction(1, 4), Fraction(-1, 4)),)
    assert at(1.0, Target(0)).f == (OneSidedDerivatives(Fraction(1), Fraction(1)),)
    assert at(1.0, Target(0)).value == OneSidedDerivatives(Fraction(1, 4), Fraction(1, 4))


def test_the_squared_hinge_has_no_kink_of_first_order_where_a_row_is_violated() -> None:
    """One point at 1: alpha = 2 C u and f = 2 C / (1 + 2 C).

    The derivative of f in C is 2 / (1 + 2 C)^2.
    """
    problem = classification([[1.0]], [1.0], 0.5, linear(), "squared_hinge", bias=False)
    found = exact_sensitivity(problem, Cost())
    assert found.f == (OneSidedDerivatives(Fraction(1, 2), Fraction(1, 2)),)
    assert found.value == OneSidedDerivatives(Fraction(1, 4), Fraction(1, 4))
    assert found.regular


def test_the_derivative_in_the_cost_is_the_sum_of_losses() -> None:
    """The envelope formula holds at an optimum of many rows and with weights."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-4, 5, (30, 3)).astype(np.float64), rng.choice([-1.0, 1.0], 30)
    weight = rng.choice([0.5, 1.0, 2.0], 30)
    optimum = exact_optimum(classification(X, y, 0.5, linear(), sample_weight=weight))
    problem: Any = optimum.problem
    low, high = optimum.bias
    assert low is not None
    assert low == high
    assert optimum.w is not None
    f = [sum((w * Fraction(v) for w, v in zip(optimum.w, x, strict=True)), low) for x in X]
    losses = [max(1 - int(sign) * v, ZERO) for sign, v in zip(y, f, strict=True)]
    whole = sum((Fraction(w) * loss for w, loss in zip(weight, losses, strict=True)), ZERO)
    assert exact_sensitivity(problem, Cost(), optimum=optimum).value == OneSidedDerivatives(
        whole, whole
    )
    each = [exact_sensitivity(problem, Weight(i), optimum=optimum).value for i in range(4)]
    assert each == [OneSidedDerivatives(loss / 2, loss / 2) for loss in losses[:4]]


def test_the_bias_of_the_tutorials_xor_is_unique_on_one_side_alone() -> None:
    """At C = 1/8 all multipliers reach their bound.

    With less cost every bias of an interval is optimal.
    """
    found = exact_sensitivity(classification(*XOR, 0.125, polynomial(2, 1.0, 1.0)), Cost())
    assert found.bias == OneSidedDerivatives(None, ZERO)
    assert found.f[0] == OneSidedDerivatives(Fraction(-8), ZERO)


def test_a_weight_of_0_has_a_derivative_to_the_right_alone() -> None:
    """A row that costs nothing can only begin to cost something."""
    problem = classification(
        [[1.0], [2.0]], [1.0, -1.0], 0.5, linear(), bias=False, sample_weight=[1.0, 0.0]
    )
    found = exact_sensitivity(problem, Weight(1))
    assert found.value == OneSidedDerivatives(None, Fraction(1, 2) * 2)
    assert found.f == (
        OneSidedDerivatives(None, Fraction(-1)),
        OneSidedDerivatives(None, Fraction(-2)),
    )
    assert not found.kink
    squared = exact_sensitivity(
        classification(
            [[1.0], [2.0]], [1.0, -1.0], 0.5, linear(), "squared_hinge", False, [1.0, 0.0]
        ),
        Weight(1),
    )
    assert squared.value.right == Fraction(1, 2) * 4
    assert squared.value.left is None


@given(st.sampled_from(SOFT), st.integers(0, 2**32 - 1))
def test_derivatives_are_the_limits_of_differences(family: str, seed: int) -> None:
    """Degenerate instances are sampled, each with both sides.

    Compared are the value, f, f at new points and the bias.
    """
    problem = instance(family, [seed])
    if problem is not None:
        found, wrong = derived(problem, [seed])
        assert not wrong, (found.parameter, wrong)


@given(st.sampled_from(SOFT), st.integers(0, 2**32 - 1))
def test_what_is_proven_of_all_functions_near_the_optimum_holds_of_drawn_ones(
    family: str, seed: int
) -> None:
    """The functions have an exactly known distance from the optimum.

    Both ends of the exact optimum are compared.
    """
    problem = instance(family, [seed])
    assert problem is None or not list(wrong_bounds(problem, [seed]))


@pytest.mark.parametrize("squared", [False, True])
def test_the_oracle_of_best_biases_finds_the_ends_of_exact_optima(squared: bool) -> None:
    """Its ends are those of the exact optimum, which other tests check.

    Some optima have two ends, some have none.
    """
    kinds = set()
    for i in range(60):
        problem = instance("svm.l2" if squared else "svm.soft", [5, i])
        if problem is not None:
            exact, at = exact_optimum(problem), Definition(problem)
            low, high = best_bias(at, at.times_K(exact.beta))
            assert (low, high) == exact.bias
            kinds.add(
                "one"
                if low == high and low is not None
                else "two"
                if low is not None and high is not None
                else "open"
            )
    assert kinds >= {"one", "open"} | (set() if squared else {"two"})


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_multipliers_that_are_not_unique_are_chosen_with_the_curvature_of_the_kernel(
    degree: int,
) -> None:
    """Two equal points share a multiplier in any way until one of them moves."""
    X, y = (
        np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0], [-1.0, 0.5]]),
        np.array([1.0, 1.0, -1.0, -1.0]),
    )
    for C in (0.125, 1.0, 8.0):
        problem = classification(X, y, C, polynomial(degree, 0.5, 1.0))
        for point in range(4):
            found = exact_sensitivity(problem, Feature(point, 1), new=[[0.5, 0.5]])
            assert not list(wrong_derivatives(found, np.array([[0.5, 0.5]])))


def test_the_example_shows_a_derivative_that_the_function_has_nowhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of three ways to write it one gives each side, and one neither."""
    kinks = example("kinks")
    said = capsys.readouterr().out
    assert "C =  0.125: f grows by 8 to the left, by 0 to the right; a kink: True" in said
    assert [kinks.unrolled(0.125, share)[1] for share in kinks.TIES.values()] == [0.0, 4.0, 8.0]
    for C, slope in ((0.0625, 8.0), (1.0, 0.0)):
        assert [kinks.unrolled(C, share)[1] for share in kinks.TIES.values()] == pytest.approx(
            [slope] * 3
        )


@pytest.mark.parametrize(
    ("X", "y", "C"),
    [
        ([[1, -2], [1, -2], [-1, 1]], [-1, -1, 1], 0.125),
        ([[0]] * 4 + [[-1], [-2]], [1, 1, 1, 1, 1, -1], 0.5),
    ],
)
def test_the_curvature_of_the_kernel_decides_which_equal_point_keeps_its_multiplier(
    X: Any, y: Any, C: float
) -> None:
    """f moves otherwise if half its second derivative at the moving point is taken for 0."""
    data = np.array(X, dtype=np.float64)
    problem = classification(
        data, np.array(y, dtype=np.float64), C, polynomial(2, 1.0, 1.0), bias=False
    )
    found = exact_sensitivity(problem, Feature(2 if len(y) > 3 else 0, 0), data[-1:])
    assert not found.regular
    assert not list(wrong_derivatives(found, data[-1:]))


def test_of_the_optimal_biases_those_are_followed_that_stay_optimal() -> None:
    """Without a unique bias the row of increasing weight selects an end of the interval.

    Each side of the derivative has another end.
    """
    problem = classification(
        [[-2.0], [0.0], [-1.0]], [1.0, -1.0, -1.0], 1.0, linear(), sample_weight=[1.0, 0.5, 1.0]
    )
    found = exact_sensitivity(problem, Weight(0))
    assert found.optimum.bias[0] != found.optimum.bias[1]
    assert found.f[0] == OneSidedDerivatives(Fraction(2), ZERO)
    assert not list(wrong_derivatives(found))


def test_a_weight_of_0_on_the_margin_is_not_followed_below_0() -> None:
    """To the left there is no program to solve (found by the campaign)."""
    problem = instance("svm.nobias", [11, 3, 208])
    assert problem is not None
    found, wrong = derived(problem, [11, 3, 208])
    assert found.value.left is None
    assert not wrong


def test_the_campaign_counts_what_it_judges() -> None:
    """The counts are in its lines; the exit status is 0 without failures."""
    lines: list[str] = []
    assert CAMPAIGN.main(["--examples", "10", "--seed", "3"], lines.append) == 0
    assert len(lines) == 11
    assert any(" functions near their optima" in line for line in lines)
    assert "10 examples, 0 failures" in lines[-1]


def test_what_is_asked_wrongly_is_refused() -> None:
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    problem = classification(X, y, 1.0)
    with pytest.raises(ValueError, match="a linear program may have many optimal functions"):
        exact_sensitivity(one_norm_ranking(X, y, None, 1.0), Cost())
    with pytest.raises(ValueError, match="rows that must be met have no derivative"):
        exact_sensitivity(classification(X, y, np.inf), Cost())
    with pytest.raises(ValueError, match="not computed in fractions"):
        exact_sensitivity(classification(X, y, 1.0, rbf(1.0)), Cost())
    with pytest.raises(ValueError, match="the optimum must be that of `problem`"):
        exact_sensitivity(problem, Cost(), optimum=exact_optimum(classification(X, y, 2.0)))
    for parameter, named in (
        (Weight(2), "the weight's index"),
        (Target(-1), "the target's index"),
        (Feature(2, 0), "the point"),
    ):
        with pytest.raises(ValueError, match=f"{named} must be a whole number from 0 to 1"):
            exact_sensitivity(problem, parameter)
    with pytest.raises(ValueError, match="the column must be a whole number from 0 to 0, not 1"):
        exact_sensitivity(problem, Feature(0, 1))
    given_one = given_gram(problem)
    with pytest.raises(ValueError, match="has no features to differentiate"):
        exact_sensitivity(given_one, Feature(0, 0))
    with pytest.raises(ValueError, match="not known at new points"):
        exact_sensitivity(given_one, Cost(), new=X)
    with pytest.raises(
        ValueError, match="target's index must be a whole number from 0 to 1, not 3"
    ):
        exact_sensitivity(regression(X, y, 1.0), Target(3))
    assert exact_sensitivity(ranking(X, y, None, 0.5), Weight(0)).f[0] == OneSidedDerivatives(
        ZERO, ZERO
    )
