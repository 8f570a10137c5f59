"""One-vs-one classes: LIBSVM's decision values within both gaps, and the problems."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from equimargin.formulations import classification, linear, precomputed, rbf
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers import Solution, Status, one_vs_one, solve

X, DIGIT = load_digits(return_X_y=True)
X = StandardScaler().fit_transform(X)
PAIRS = list(combinations(range(10), 2))


def absolute_gap(solution: Solution) -> float:
    """Return primal minus dual, from the relative gap."""
    return solution.relative_gap * max(abs(solution.value), 1e-4 * solution.problem.scale)


def of_libsvm(model: SVC, problem: MarginProblem, points: Any, first: int, second: int) -> Solution:
    """Return LIBSVM's function and multipliers of two classes as a solution."""
    ends = np.concatenate([[0], np.cumsum(model.n_support_)])
    beta = np.zeros(len(points))
    for k, row in ((first, second - 1), (second, first)):
        own = slice(ends[k], ends[k + 1])
        beta[np.searchsorted(points, model.support_[own])] = model.dual_coef_[row, own]
    point = Point(beta=beta, alpha=np.maximum(problem.rows.s * beta, 0.0))
    return Solution(problem, "", point, Status.OPTIMAL, "", 0, 0.0)


def test_digits_are_libsvms() -> None:
    """By strong convexity 1/2 |f - f*|^2 <= gap, with k(x, x) = 1.

    Each side therefore knows f(x) to sqrt(2 gap k(x, x)).
    """
    seen, new, digit = X[::2], X[1::2], DIGIT[::2]
    model = SVC(C=1.0, gamma=1 / 64, tol=1e-6, decision_function_shape="ovo").fit(seen, digit)
    # The bias is excluded, because an interval of biases may be optimal.
    theirs = model.decision_function(new) - model.intercept_
    found = one_vs_one(seen, digit, 1.0, rbf(1 / 64), tol=1e-8)
    assert len(found) == len(PAIRS)
    for (first, second), solution, values in zip(PAIRS, found, theirs.T, strict=True):
        problem = solution.problem
        assert isinstance(problem, MarginProblem)
        peer = of_libsvm(
            model, problem, np.flatnonzero((digit == first) | (digit == second)), first, second
        )
        allowed = sum(np.sqrt(2 * absolute_gap(side)) for side in (solution, peer))
        assert solution.ok, solution.reason
        assert allowed < 0.01
        assert (
            np.abs(solution.decision_function(new) - solution.bias - values).max()
            <= allowed + 1e-12
        )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_every_pair_is_the_problem_of_its_two_classes(loss: Any) -> None:
    few = np.flatnonzero(DIGIT < 4)[:200]
    names, weights = (
        np.array(["zero", "one", "two", "three"])[DIGIT[few]],
        np.random.default_rng(0).uniform(0.0, 2.0, len(few)),
    )
    found = one_vs_one(X[few], names, 2.0, rbf(1 / 64), loss, weights, tol=1e-8)
    for (first, second), solution in zip(combinations(sorted(set(names)), 2), found, strict=True):
        of = (names == first) | (names == second)
        meant = classification(
            X[few][of],
            np.where(names[of] == first, 1, -1),
            2.0,
            rbf(1 / 64),
            loss,
            sample_weight=weights[of],
        )
        alone = solve(meant, tol=1e-8)
        assert solution.interval.relative_width <= 1.1e-8
        assert max(solution.lower, alone.lower) <= min(solution.upper, alone.upper)


def test_a_given_gram_matrix_is_proved_once() -> None:
    """Its parts have its shift, which two equal points need here."""
    Z, y = np.vstack([X[:60], X[:60]]), np.tile(DIGIT[:60] % 3, 2)
    K = classification(Z, np.ones(len(y)), kernel=linear()).gram.dense
    for solution, features in zip(
        one_vs_one((K + K.T) / 2, y, 0.1, precomputed()), one_vs_one(Z, y, 0.1), strict=True
    ):
        given = solution.problem
        assert isinstance(given, MarginProblem)
        assert (
            given.shift
            == classification((K + K.T) / 2, np.ones(len(y)), kernel=precomputed()).shift
        )
        assert given.gram.shift > 0
        assert solution.ok
        assert solution.value == pytest.approx(features.value, rel=1e-5)


def test_sparse_features_are_dense_ones() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    Z, y = np.where(np.abs(X[:150]) > 0.5, X[:150], 0.0), DIGIT[:150] % 3
    for dense, other in zip(one_vs_one(Z, y), one_vs_one(sparse.csr_array(Z), y), strict=True):
        assert max(dense.lower, other.lower) <= min(dense.upper, other.upper)


def test_what_it_does_not_take() -> None:
    with pytest.raises(ValueError, match="at least two classes"):
        one_vs_one(X[:5], np.zeros(5))
    with pytest.raises(ValueError, match="hinge"):
        one_vs_one(X[:5], [0, 1, 0, 1, 1], loss="logistic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one number for each"):
        one_vs_one(X[:5], [0, 1, 0])
