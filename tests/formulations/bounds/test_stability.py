"""Certified properties of every optimum, against exact and nearly optimal functions.

The optima are in rational numbers.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    linear,
    one_norm_ranking,
    polynomial,
    ranking,
    rbf,
    regression,
)
from equimargin.formulations.bounds.sensitivity import sensitivity
from equimargin.formulations.bounds.stability import Stability, stability
from equimargin.formulations.kernels.kernel import RBF, Intercept
from equimargin.formulations.rows import labelled
from equimargin.solvers import Status, exact_optimum, given_gram, solve
from equimargin.testing import ONE_NORM, margin_problems
from families import OF_THE_CERTIFICATE
from oracles.rationals import apply, fractions, gram

MARGINS = [family for family in OF_THE_CERTIFICATE if family not in ONE_NORM]
TOLERANCES = (0.3, 1e-2, 1e-5, 1e-9)


def is_rbf(problem: MarginProblem) -> bool:
    kernel = problem.kernel.kernel if isinstance(problem.kernel, Intercept) else problem.kernel
    return isinstance(kernel, RBF)


def exact_values(problem: Any, beta: Any) -> list[Fraction]:
    """Return K beta in rationals."""
    if not problem.kernel.given:
        return apply(gram(problem.kernel, problem.X), list(beta))
    K = [fractions(row) for row in problem.X]
    return [
        f + Fraction(problem.gram.shift) * b
        for f, b in zip(apply(K, list(beta)), beta, strict=True)
    ]


def with_underflowing_costs(problem: Any) -> Any:
    """Return the problem with costs that are positive and below every float."""
    weights = np.ones(problem.rows.groups) if problem.weights is None else problem.weights
    return replace(problem, C=1e-200 * problem.C, weights=1e-200 * weights)


@st.composite
def solved(draw: st.DrawFn, tails: bool = False) -> tuple[MarginProblem, Any]:
    """Draw a problem and a solution of it, possibly approximate."""
    problem: Any = draw(margin_problems(draw(st.sampled_from(MARGINS)), max_points=7, tails=tails))
    problem = given_gram(problem) if is_rbf(problem) else problem
    problem = with_underflowing_costs(problem) if draw(st.integers(0, 4)) == 0 else problem
    return problem, solve(problem, tol=draw(st.sampled_from(TOLERANCES)), time_limit=20.0)


@given(solved())
def test_the_exact_optimum_lies_within_all_bounds(case: Any) -> None:
    """The bounds are on f, all of its best biases, multipliers and the point order."""
    problem, solution = case
    assume(solution.dual is not None)
    exact = exact_optimum(problem, time_limit=20.0)
    assume(exact.status is Status.OPTIMAL)
    ball = solution.stability()
    f, (low, high) = exact_values(problem, exact.beta), exact.bias
    assert low is None or ball.bias[0] == -np.inf or Fraction(ball.bias[0]) <= low
    assert high is None or ball.bias[1] == np.inf or high <= Fraction(ball.bias[1])
    for b in (low, high):
        for value, least, most in zip(f, *ball.decisions(), strict=True):
            assert b is None or (
                (least == -np.inf or Fraction(least) <= value + b)
                and (most == np.inf or value + b <= Fraction(most))
            )
    found, hard = ball.rows(), np.isinf(problem.costs)
    for alpha, weight, where in zip(exact.alpha, problem.unit_weights, found, strict=True):
        assert where != -1 or alpha == 0
        assert where != 1 or alpha > 0
        assert where != 1 or problem.squared or alpha == Fraction(problem.C) * Fraction(weight)
    if not hard.any():
        least, most = sensitivity(ball).targets
        ends = zip(least, exact.alpha, most, strict=True)
        assert all(
            Fraction(low) <= alpha and (high == np.inf or alpha <= Fraction(high))
            for low, alpha, high in ends
        )
    assert ball.counts() == ((found < 0).sum(), (found > 0).sum())
    i, j = np.divmod(np.arange(problem.m**2), problem.m)
    for one, other, sign in zip(i, j, ball.orders(i, j), strict=True):
        assert sign == 0 or sign * (f[one] - f[other]) > 0


@given(solved(), st.integers(0, 2**32 - 1), st.sampled_from((1e-9, 1e-3, 0.1, 3.0)))
def test_functions_near_the_optimum_lie_within_the_bounds(
    case: Any, seed: int, size: float
) -> None:
    """The functions have random coefficients near those of a good solution.

    Each has all of its best biases, and its own eps.
    """
    problem, solution = case
    assume(solution.dual is not None and not np.isinf(problem.costs).any())
    good = solve(problem, tol=1e-10, time_limit=20.0)
    rng = np.random.default_rng(seed)
    beta = good.beta + size * rng.normal(size=problem.m) * rng.choice([0.0, 1.0], problem.m)
    f = problem.gram @ beta
    low, high = problem.best_bias(f)
    value = problem.primal(f, float(beta @ f), (low + high) / 2)
    assume(np.isfinite(value))
    eps = max(value - good.lower, 0.0) + 1e-12 * abs(value)
    ball = solution.stability(eps)
    least, most = ball.decisions()
    noise = 1e-10 * (1 + np.abs(f).max(initial=0.0) + abs(low))
    assert (least - noise <= f + low).all()
    assert (f + high <= most + noise).all()
    signs = ball.signs()
    assert not (signs * (f + (low + high) / 2) < -noise).any()


@pytest.mark.parametrize("kernel", [linear(), rbf(0.03), polynomial(2, 0.03, 1.0)], ids=str)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_of_a_good_solution_nearly_everything_is_proven(kernel: Any, loss: Any) -> None:
    """Bounds that always said "not proven" would pass the other tests."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), np.where(y == 1, 1.0, -1.0)
    solution = solve(classification(X[::2], y[::2], 1.0, kernel, loss=loss), tol=1e-11)
    ball = solution.stability()
    assert ball.radius <= 0.01
    assert ball.bias[1] - ball.bias[0] <= 0.2
    labels = solution.stable_predict(X[1::2])
    assert (labels != 0).mean() >= 0.97
    assert (labels[labels != 0] == solution.predict(X[1::2])[labels != 0]).all()
    assert (ball.rows() != 0).mean() >= 0.7
    assert set(np.unique(ball.rows())) >= {-1, 1}
    assert (solution.stability(0.05 * solution.value).signs(X[1::2]) == 0).sum() > (
        labels == 0
    ).sum()


@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.75])
def test_the_radius_is_the_distance_where_the_bound_is_tight(alpha: float) -> None:
    """One point at 1 has f* = 1 at the optimum 1/2.

    L(alpha) = alpha - alpha^2 / 2, so that sqrt(2 gap) = 1 - alpha.
    """
    problem = classification([[1.0]], [1.0], 1.0, linear(), bias=False)
    ball = stability(problem, Point(w=np.array([1.0]), alpha=np.array([alpha])))
    assert 1.0 - alpha <= ball.radius <= 1.0 - alpha + 1e-12
    assert ball.decisions([[1.0]])[1][0] >= 1.0


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_stability_where_costs_underflow_claims_no_multiplier_of_0(
    loss: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At f near 0 every row is violated, and has a multiplier above 0, however small."""
    X, y = np.array([[1.0], [2.0], [-1.0], [3.0]]), np.array([1.0, 2.0, 3.0, 1.0])
    labelled_points = classification(
        X, np.sign(y - 1.5), 1e-200, loss=loss, bias=False, sample_weight=np.full(4, 1e-200)
    )
    pairs = ranking(X, y, C=1e-200, loss=loss, query_weight={0: 1e-200})
    for problem in (labelled_points, pairs):
        assert min(exact_optimum(problem).alpha) > 0
        ball = stability(problem, Point(beta=np.zeros(4), b=0.0, alpha=np.zeros(problem.p)))
        assert ball.rows().tolist() == [1] * problem.p
        assert ball.counts() == (0, problem.p)
        assert (sensitivity(ball).targets[1] > 0).all()
    with monkeypatch.context() as patched:
        patched.setattr(labelled, "MANY", 0)
        assert ball.counts() == (0, pairs.p)


def test_pairs_are_counted_as_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweeps, with one bound for all pairs, prove most of the pairs proven by rows.

    They prove no other pair.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y, q = np.round(X[:, 0] + 0.3 * rng.normal(size=60)), np.repeat([0, 1], 30)
    for weight in (None, {0: 2.0, 1: 0.0}):
        solution = solve(ranking(X, y, q, 0.1, linear(), query_weight=weight), tol=1e-11)
        ball = solution.stability()
        listed = ball.counts()
        with monkeypatch.context() as patched:
            patched.setattr(labelled, "MANY", 0)
            swept = ball.counts()
        assert all(0.8 * one <= other <= one for one, other in zip(listed, swept, strict=True)), (
            listed,
            swept,
        )
        assert min(swept) > 0
        rows: Any = solution.problem.rows
        queries = rows.query[rows.preferred]
        assert weight is None or (ball.rows()[queries == 1] == -1).all()


def test_pairs_are_counted_as_far_as_thresholds_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """w = 1, and slacks are known to 6.5, then to 7.1.

    Two of three pairs are met by 20, and thresholds of sweeps go up to 8.
    """
    problem = ranking([[0.0], [20.0], [20.5]], [0, 1, 2])
    monkeypatch.setattr(labelled, "MANY", 0)
    for off, counted in ((6.5, (2, 0)), (7.1, (0, 0))):
        ball = Stability(problem, np.array([0.0, 0.05, 0.0]), off / (2.02 * 13.5), (0.0, 0.0))
        assert ball.counts() == counted


def test_a_regression_and_a_problem_without_a_bias_have_bounds() -> None:
    """The bias of a regression moves with its residuals; without one it is 0."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=40)
    ball = solve(regression(X, y, 10.0, 0.05, linear()), tol=1e-12).stability()
    least, most = ball.decisions(X)
    assert (most - least <= 1e-3).all()
    assert ball.bias[0] <= ball.bias[1] <= ball.bias[0] + 1e-3
    assert solve(classification(X, np.sign(y), 1.0, linear(), bias=False)).stability().bias == (
        0.0,
        0.0,
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1e-20, 1e-14])
def test_the_bias_of_large_targets_beside_a_tiny_function_is_known_to_their_rounding(
    loss: Any, C: float
) -> None:
    """The breakpoints are the targets, except for the tiny f.

    Only their own rounding may widen the interval of the best bias.
    """
    problem = regression(
        [[1e-6], [2e-6], [3e-6]], [1e6 + 0.1, 1e6 + 0.2, 1e6 + 0.35], C, 0.0, linear(), loss=loss
    )
    low, high = solve(problem, tol=1e-12).stability().bias
    for end in exact_optimum(problem).bias:
        assert end is not None
        assert Fraction(low) <= end <= Fraction(high)
    assert high - low <= 1e-8


def test_the_bias_of_a_squared_hinge_is_as_narrow_as_the_ball() -> None:
    """The sum of losses is curved: a small ball restricts the bias at any breakpoints."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.sign(rng.normal(size=20))
    ball = solve(classification(X, y, 0.3, linear(), loss="squared_hinge"), tol=1e-13).stability()
    assert ball.radius <= 1e-5
    assert ball.bias[1] - ball.bias[0] <= 10 * ball.radius


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class_bounds_the_bias_on_one_side(label: float) -> None:
    """Every bias beyond the last breakpoint has an equal value.

    There is no bound on that side, and one on the other side.
    """
    problem = classification(
        [[1.0], [2.0], [4.0]], [label, label, -label], 1.0, linear(), sample_weight=[1.0, 1.0, 0.0]
    )
    low, high = solve(problem).stability().bias
    assert (np.isinf(low), np.isinf(high)) == (label < 0, label > 0)
    assert min(abs(low), abs(high)) == pytest.approx(1.0, abs=1e-3)


def test_what_is_asked_wrongly_is_refused() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(12, 2)), np.repeat([1.0, -1.0], 6)
    problem = classification(X, y, 1.0, linear())
    solution = solve(problem)
    with pytest.raises(ValueError, match="eps must be a number of 0 or more, not -1"):
        solution.stability(-1.0)
    with pytest.raises(ValueError, match="has no multipliers"):
        stability(problem, Point(w=np.zeros(2), b=0.0))
    with pytest.raises(ValueError, match="a linear program may have many optimal functions"):
        solve(one_norm_ranking(X, y, None, 1.0, linear())).stability()
    with pytest.raises(ValueError, match="whole numbers from 0 to 11"):
        solution.stability().orders([0, 12], [1, 2])
    with pytest.raises(ValueError, match="equally many, not 2 and 1"):
        solution.stability().orders([0, 1], [2])
    with pytest.raises(ValueError, match="predicts no labels"):
        solve(regression(X, y, 1.0, 0.1, linear())).stable_predict(X)
    given_one = solve(given_gram(problem))
    with pytest.raises(ValueError, match="leave X out for the training points"):
        given_one.stable_predict(np.ones((2, 12)))
    assert (given_one.stability().signs() != 0).any()


def test_a_distance_in_the_space_of_a_kernel_is_hardly_more_than_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The distance is computed from the matrix if that is small enough.

    Otherwise by the triangle over 0, whose two sides are 1.
    """
    X = np.random.default_rng(0).normal(size=(9, 3)) * 0.1
    problem = classification(X, np.resize([1.0, -1.0], 9), kernel=rbf(0.5))
    i, j = np.triu_indices(9, 1)
    exact = np.sqrt(-2 * np.expm1(-0.5 * ((X[i] - X[j]) ** 2).sum(axis=1)))
    module = import_module(stability.__module__)
    found = module._distances(problem, i, j)
    assert (exact * (1 - 1e-12) <= found).all()
    assert found == pytest.approx(exact, rel=1e-9)
    monkeypatch.setattr(module, "STORED_ROWS", 8)
    assert module._distances(problem, i, j) == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_distances_of_many_features_are_taken_a_few_at_a_time(sparse: bool) -> None:
    """With 300,000 features three pairs are a block, and 21 pairs are seven."""
    X = np.zeros((7, 300_000))
    X[np.arange(7), np.arange(7)] = np.arange(1.0, 8.0)
    problem = classification(csr_array(X) if sparse else X, np.resize([1.0, -1.0], 7))
    i, j = np.triu_indices(7, 1)
    found = import_module(stability.__module__)._distances(problem, i, j)
    assert (np.hypot(i + 1.0, j + 1.0) <= found).all()
    assert found == pytest.approx(np.hypot(i + 1.0, j + 1.0), rel=1e-9)
