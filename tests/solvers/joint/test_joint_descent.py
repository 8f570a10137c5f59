"""Machine of Crammer and Singer: the problem of its authors in cvxpy, bounds, limits."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from equimargin.formulations.field.multiclass import primal
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs import compile_program
from equimargin.proofs.enclosure import enclosure
from equimargin.solvers.joint import JointProblem, minimise_jointly
from equimargin.solvers.solution import Limits, Status


def draw(k: int, seed: int, m: int = 40, d: int = 5) -> tuple[Array, Any, Array]:
    """Return points, classes and weights, a fifth of which are 0."""
    random = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), random.integers(0, k, m - k)])
    X = random.normal(size=(m, d)) * (random.random((m, d)) < 0.6) + np.eye(k, d)[codes]
    return X, codes, np.where(random.random(m) < 0.2, 0.0, random.integers(1, 9, m) / 4)


def optimum(X: Array, codes: Any, k: int, costs: Array) -> float:
    """Return the optimum of Crammer and Singer (2001), (7), with a cost for every point."""
    W, xi = cp.Variable((k, X.shape[1])), cp.Variable(len(X), nonneg=True)
    constraints = [
        (W[y] - W[r]) @ x >= 1 - xi[i]
        for i, (x, y) in enumerate(zip(X, codes, strict=True))
        for r in range(k)
        if r != y
    ]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + costs @ xi), constraints)
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11))


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("sparse_X", [False, True])
def test_bounds_contain_the_optimum_in_cvxpy(k: int, sparse_X: bool) -> None:
    X, codes, weights = draw(k, k)
    points = sparse.csr_array(X) if sparse_X else X
    for C, factors in ((0.05, np.ones(len(X))), (3.0, weights)):
        found = minimise_jointly(JointProblem(points, codes, k, C, factors), Limits(1e-10))
        expected = optimum(X, codes, k, C * factors)
        assert found.status is Status.OPTIMAL
        assert found.relative_gap <= 1e-10
        assert found.upper - found.lower <= 3e-10 * expected
        assert found.lower - 1e-8 * expected <= expected <= found.upper + 1e-8 * expected
        assert not found.dual[factors == 0].any()


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_any_shares_contain_the_optimum_in_rational_numbers(seed: int) -> None:
    X, codes, _ = draw(3, seed, 9, 2)
    proven = enclosure(compile_program(primal({"X": X, "y": codes, "C": 0.1})))
    random, problem = np.random.default_rng(seed), JointProblem(X, codes, 3, 0.1, np.ones(9))
    best = minimise_jointly(problem, Limits(1e-12)).point
    # Rounded shares exceed the costs, as all of random ones do.
    S = best.S
    for shares in (S, np.round(S, 3), random.random((9, 3)), 1e200 * random.random((9, 3))):
        found = problem.interval(shares, best.W)
        assert found.lower <= proven.upper
        assert proven.lower <= found.upper
    assert problem.interval(S, best.W).relative_width <= 1e-11


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_features_in_different_units_need_few_iterations(C: float) -> None:
    X, codes = load_wine(return_X_y=True)
    weights = np.where(np.arange(len(X)) % 9 == 0, 0.0, 1.0)
    problem = JointProblem(X, codes, 3, C, weights)
    found = minimise_jointly(problem, Limits(1e-8, max_iter=300))
    assert found.status is Status.OPTIMAL, found.reason
    assert found.interval.relative_width <= 2e-8


@pytest.mark.parametrize(("m", "d", "k"), [(30, 5, 3), (47, 80, 8)])
def test_large_features_are_solved_where_sweeps_stall(m: int, d: int, k: int) -> None:
    # The first needs losses, as C = 1e12 for X of size 1; the second separates its classes.
    random = np.random.default_rng(1)
    X = 1e6 * random.normal(size=(m, d))
    problem = JointProblem(X, np.arange(m) % k, k, 1.0, np.ones(m))
    found = minimise_jointly(problem, Limits(1e-8, max_iter=2000))
    assert found.status is Status.OPTIMAL, found.reason
    assert found.interval.relative_width <= 2e-8


def test_limits_end_a_run_with_its_best_point() -> None:
    # Of so many weights the interior point method would be too slow.
    X, codes, weights = draw(4, 0, 100, 501)
    problem = JointProblem(X, codes, 4, 10.0, weights)
    for limits, status in (
        (Limits(1e-12, max_iter=2), Status.ITERATION_LIMIT),
        (Limits(1e-12, time_limit=1e-9), Status.TIME_LIMIT),
        (Limits(1e-30), Status.NUMERICAL_FAILURE),
    ):
        found = minimise_jointly(problem, limits)
        assert found.status is status
        assert f"{found.relative_gap:.2e}" in found.reason
        assert found.lower <= found.upper < np.inf
    assert found.relative_gap < 1e-8


def test_points_at_the_origin_and_of_no_weight_are_constants() -> None:
    codes = np.array([0, 1, 2, 2])
    found = minimise_jointly(JointProblem(np.zeros((4, 2)), codes, 3, 2.0, np.ones(4)), Limits())
    assert (found.lower, found.upper) == pytest.approx((8.0, 8.0), rel=1e-12)
    none = minimise_jointly(JointProblem(np.eye(4), codes, 3, 2.0, np.zeros(4)), Limits())
    assert (none.status, none.lower) == (Status.OPTIMAL, 0.0)
    assert none.upper <= 1e-300


def test_infinite_cost_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be finite, not inf; lower C, or the weights"):
        JointProblem(np.eye(2), np.arange(2), 2, 1.0, np.array([1.0, np.inf]))


def test_squares_beyond_float64_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X is too large .* divide X by a constant"):
        JointProblem(1e160 * np.eye(2), np.arange(2), 2, 1.0, np.ones(2))
