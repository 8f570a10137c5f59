"""Optimum of concave costs of slacks against brute force and soft margins.

The slope gives the cost of the equivalent soft margin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from equimargin.formulations import MarginProblem, classification, ranking, rbf
from equimargin.solvers import concave_optimum, regularization_path, solve

Array = NDArray[np.float64]
Cost = Callable[[Array], Array]


def noisy(seed: int, n: int = 9, d: int = 1) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.6 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def by_search(X: Array, y: Array, C: float, F: Cost) -> float:
    """Return the optimum of a grid search over w in one dimension.

    For each w it tries every b that may be best, and a finer grid follows around the
    best w.
    """

    def value(w: Array) -> Array:
        # These are all b at which some margin is satisfied with equality.
        margins = y - w[:, None] * X[:, 0]
        f = w[:, None, None] * X[:, 0] + margins[:, :, None]
        s = np.maximum(1 - y * f, 0).sum(axis=2).min(axis=1)
        return np.asarray(w**2 / 2 + C * F(s))

    low, high = -8.0, 8.0
    for _ in range(4):
        grid = np.linspace(low, high, 4001)
        values = value(grid)
        at = grid[int(values.argmin())]
        low, high = at - (high - low) / 1000, at + (high - low) / 1000
    return float(values.min())


@pytest.mark.parametrize("name", ["root", "log", "cut"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_least_value_of_all_w_and_b(seed: int, name: str) -> None:
    costs: dict[str, Cost] = {
        "root": lambda u: u**0.3,
        "log": lambda u: np.log1p(5 * u),
        "cut": lambda u: np.minimum(u, 2.0),
    }
    X, y = noisy(seed)
    C = (0.5, 2.0, 5.0)[seed % 3]
    path = regularization_path(classification(X, y), lambda_min=1e-5)
    found = concave_optimum(path, C, costs[name])
    assert found.value == pytest.approx(by_search(X, y, C, costs[name]), rel=1e-5, abs=1e-6)
    assert found.lower <= found.value
    assert found.value - found.lower <= 1e-6 * found.value + 1e-9
    w = found.solution.w
    assert w is not None
    s = np.maximum(1 - y * found.solution.decision_function(X), 0).sum(keepdims=True)
    assert w @ w / 2 + C * costs[name](s)[0] == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize(
    "problem",
    [
        classification(*noisy(1, 20, 2), kernel=rbf(0.5)),
        classification(*noisy(2, 20, 2), bias=False),
        classification(*noisy(4, 20, 2), sample_weight=np.arange(20) / 10),
        ranking(noisy(3, 12, 2)[0], np.arange(12) % 4, kernel=rbf(0.5)),
    ],
)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_the_identity_is_a_soft_margin(problem: MarginProblem, C: float) -> None:
    found = concave_optimum(regularization_path(problem, lambda_min=1e-3), C, lambda u: u)
    soft = solve(problem.with_cost(C), tol=1e-10)
    assert found.lower - 1e-6 * soft.upper <= soft.lower
    assert found.value == pytest.approx(soft.upper, rel=1e-6)


def test_its_cost_is_the_slope_at_its_sum_of_slacks() -> None:
    X, y = noisy(5, 30, 2)
    found = concave_optimum(regularization_path(classification(X, y)), 3.0, np.sqrt, tol=1e-10)
    s = float(np.maximum(1 - y * found.solution.decision_function(X), 0).sum())
    # f may be constant over some costs.
    soft = solve(classification(X, y, 3.0 / (2 * np.sqrt(s))), tol=1e-12)
    assert soft.w is not None
    again = np.maximum(1 - y * soft.decision_function(X), 0).sum()
    assert soft.w @ soft.w / 2 + 3.0 * np.sqrt(again) == pytest.approx(found.value, rel=1e-6)


@pytest.mark.parametrize("tol", [1e-4, 1e-7, 1e-10])
def test_concave_optimum_ends_at_its_tolerance_and_not_before(tol: float) -> None:
    """The relative difference is at most tol, and at most a hundred times smaller."""
    X, y = noisy(3, 30, 2)
    found = concave_optimum(
        regularization_path(classification(X, y), lambda_min=1e-4), 2.0, lambda u: u**0.3, tol=tol
    )
    assert tol / 100 <= (found.value - found.lower) / found.value <= tol


def test_a_path_that_ends_too_early_has_no_proof() -> None:
    X, y = np.array([[0.0], [0.1], [1.0]]), np.array([-1.0, 1.0, 1.0])
    path = regularization_path(classification(X, y), lambda_min=0.1)
    found = concave_optimum(path, 1e6, np.sqrt)
    assert found.lower < 0.5 * found.value


@pytest.mark.parametrize(
    ("F", "message"),
    [
        (lambda u: u**2, "F is not concave"),
        (lambda u: -u, "F falls"),
        (lambda u: np.log(u), "F must return a finite number"),
        (lambda u: 1.0, "F must return a finite number"),
    ],
)
def test_an_f_that_is_none_is_a_sentence(F: Any, message: str) -> None:
    path = regularization_path(classification(*noisy(0)))
    with pytest.raises(ValueError, match=message), np.errstate(divide="ignore"):
        concave_optimum(path, 1.0, F)
    with pytest.raises(ValueError, match="tol"):
        concave_optimum(path, 1.0, np.sqrt, tol=0.0)
