"""Coordinate descent for the 1-norm of w against cvxpy, and its bounds against fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations import FAMILIES
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.proofs.program.proven_optimum import optimum
from equimargin.solvers import Status
from equimargin.solvers.solution import Limits
from equimargin.solvers.sparse_weights.descent import (
    SparseWeightMonitor,
    SweepCounters,
    Swept,
    solve_sparse_weights,
)
from equimargin.solvers.sparse_weights.face import WeightIterate, _exact_length
from equimargin.solvers.sparse_weights.problem import SparseWeightProblem, by_columns


def data(m: int, d: int, seed: int, density: float = 1.0) -> tuple[Any, Any]:
    """Return points with noise, of which a few features matter, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < density)
    y = np.sign(X[:, :4].sum(axis=1) + rng.normal(size=m) / 2 + 0.1)
    return X, y


def clarabel(problem: SparseWeightProblem, X: Any) -> float:
    """Return the optimum in cvxpy."""
    w = cp.Variable(X.shape[1])
    losses = cp.multiply(problem.costs, cp.square(cp.pos(1 - cp.multiply(problem.y, X @ w))))
    value = cp.Problem(cp.Minimize(cp.norm1(w) + cp.sum(losses))).solve(
        solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10
    )
    return float(value)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    ("m", "d", "C"), [(40, 3, 0.05), (60, 12, 1.0), (20, 2500, 2.0), (50, 8, 300.0), (50, 8, 0.001)]
)
def test_optimum_is_that_of_cvxpy(m: int, d: int, C: float, is_sparse: bool) -> None:
    X, y = data(m, d, m + d, 0.3 if is_sparse else 1.0)
    weights = np.arange(m) % 4 / 2
    columns = by_columns(sparse.csr_array(X) if is_sparse else X)
    problem = SparseWeightProblem(columns, y, C, weights)
    solution = solve_sparse_weights(problem, Limits(tol=1e-10))
    assert solution.status is Status.OPTIMAL, solution.reason
    assert solution.relative_gap <= 1e-10
    expected = clarabel(problem, X)
    assert solution.lower <= expected * (1 + 1e-7)
    assert solution.upper >= expected * (1 - 1e-7)
    assert solution.upper - solution.lower <= 1e-9 * solution.upper


def test_equal_and_opposite_columns_have_an_optimum() -> None:
    X, y = data(30, 3, 5)
    problem = SparseWeightProblem(by_columns(np.hstack([X, X, -X])), y, 3.0, np.ones(30))
    whole = solve_sparse_weights(problem, Limits(tol=1e-11))
    part = solve_sparse_weights(problem.restricted(np.arange(3)), Limits(tol=1e-11))
    assert whole.ok
    assert whole.upper == pytest.approx(part.upper, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_contain_the_optimum_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, classes = rng.integers(-3, 4, (6, 2)) / 1.0, np.arange(6) % 2
    C = float(rng.choice([0.5, 3.0, 40.0]))
    proven = optimum(FAMILIES["one_norm_svm_l2"]({"X": X, "y": classes, "C": C}))
    problem = SparseWeightProblem(by_columns(X), np.asarray(2.0 * classes - 1), C, np.ones(6))
    solution = solve_sparse_weights(problem, Limits(tol=1e-13))
    for shift in (0.0, 1e-15, -1e-15, 1e-3):
        point = OneNormPoint(solution.w * (1 + shift), solution.dual * (1 + shift))
        found = problem.interval(point)
        assert Fraction(found.lower) <= proven.upper
        assert Fraction(found.upper) >= proven.lower
        assert found.relative_width <= (1e-12 if abs(shift) < 1e-6 else 1e-2)


def test_run_within_a_limit_says_so_and_its_bounds_hold() -> None:
    X, y = data(80, 60, 1)
    problem = SparseWeightProblem(by_columns(X), y, 5.0, np.ones(80))
    limited = solve_sparse_weights(problem, Limits(tol=1e-10, max_iter=1))
    whole = solve_sparse_weights(problem, Limits(tol=1e-10))
    assert limited.status is Status.ITERATION_LIMIT
    assert limited.iterations == 1
    assert limited.lower < whole.lower < whole.upper < limited.upper
    assert solve_sparse_weights(problem, Limits(time_limit=1e-9)).status is Status.TIME_LIMIT


@pytest.mark.parametrize("seed", range(20))
def test_length_of_a_step_is_the_best_of_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w, d = rng.normal(size=(2, 3))
    costs, margins, e = rng.random(6), rng.normal(size=6), rng.normal(size=6) * 2
    if np.sign(w) @ d - 2 * costs @ (e * np.maximum(margins, 0)) > 0:
        d, e = -d, -e

    def values(t: Any) -> Any:
        slacks = np.maximum(margins - np.multiply.outer(t, e), 0.0)
        return np.abs(w + np.multiply.outer(t, d)).sum(axis=-1) + slacks**2 @ costs

    length = _exact_length(w, d, costs, margins, e)
    assert 0 <= length <= 1
    assert values(length) <= values(np.linspace(0, 1, 1001)).min() + 1e-12


def test_sweep_does_not_increase_the_objective_where_rows_become_active() -> None:
    # The one active row alone asks for w = 0, where all others have a loss.
    X, y = np.append(0.01, np.ones(20))[:, None], np.ones(21)
    problem = SparseWeightProblem(by_columns(X), y, 1.0, np.ones(21))
    at = WeightIterate(np.array([5.0]), y - 5.0 * X[:, 0])
    before = problem.primal(at.w, problem.slacks(at.residuals))
    monitor = SparseWeightMonitor(problem, Limits())
    Swept.of(problem).visit_all(at, SweepCounters(), monitor)
    assert problem.primal(at.w, problem.slacks(at.residuals)) < before
    np.testing.assert_allclose(at.residuals, problem.residuals(at.w), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_exact_arithmetic_where_sums_cancel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, w, a = 1e6 * rng.normal(size=(9, 4)), rng.normal(size=4), rng.random(9)
    X[:, 3] -= (X @ w - rng.normal(size=9)) / w[3]
    X[8] -= a @ X / a[8]
    problem = SparseWeightProblem(by_columns(X), np.ones(9), 0.3, rng.random(9))
    found = problem.interval(OneNormPoint(w, a))
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    exact_w, exact_a = [Fraction(v) for v in w.tolist()], [Fraction(v) for v in a.tolist()]
    costs = [Fraction(0.3) * Fraction(v) for v in problem.weights.tolist()]
    slacks = [
        max(Fraction(0), 1 - sum(x * v for x, v in zip(row, exact_w, strict=True))) for row in rows
    ]
    primal = sum(map(abs, exact_w), Fraction(0)) + sum(
        c * v**2 for c, v in zip(costs, slacks, strict=True)
    )
    prices = [
        abs(sum(x * v for x, v in zip(column, exact_a, strict=True)))
        for column in zip(*rows, strict=True)
    ]
    linear, quadratic = (
        sum(exact_a),
        sum(v**2 / (4 * c) for v, c in zip(exact_a, costs, strict=True)),
    )
    factor = min(linear / (2 * quadratic), 1 / max(prices))
    assert Fraction(found.upper) >= primal
    assert Fraction(found.lower) <= factor * linear - factor**2 * quadratic


def test_rows_without_costs_give_weights_of_0() -> None:
    X, y = data(9, 3, 0)
    solution = solve_sparse_weights(SparseWeightProblem(by_columns(X), y, 1.0, np.zeros(9)))
    assert solution.ok
    assert not solution.w.any()
    assert (solution.lower, solution.upper) == (0.0, 0.0)


def test_costs_near_the_largest_float_have_a_solution() -> None:
    """Their sums overflow when the smaller costs that lead to them are chosen."""
    X, y = data(5, 9, 0)
    problem = SparseWeightProblem(by_columns(X), y, 1.5e308, np.ones(5))
    solution = solve_sparse_weights(problem, Limits(max_iter=20))
    assert solution.lower <= solution.upper
