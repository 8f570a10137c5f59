"""SMO with fixed sums of multipliers: proven bounds, limits, and rows of K on demand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equimargin.formulations import MarginProblem, classification, precomputed, rbf, regression
from equimargin.formulations.bounds.variable_margin import sum_multipliers
from equimargin.formulations.field.nu import nu_svc, nu_svr
from equimargin.formulations.field.one_class import one_class
from equimargin.formulations.problem.arguments import read_arguments
from equimargin.proofs import certificate
from equimargin.proofs.program import optimum
from equimargin.solvers import Status
from equimargin.solvers.dual import variable_margin
from equimargin.solvers.dual.variable_margin import solve_variable_margin
from equimargin.solvers.solution import Limits

LIMITS = Limits(tol=1e-9)
"""Limits that end every run of this file by its gap."""


def problem_of(kind: str, X: Any, y: Any, nu: float) -> tuple[MarginProblem, Any]:
    """Return a canonical problem of unit weights, and the family's at the same data."""
    m = len(X)
    if kind == "nu_svc":
        return classification(X, 2.0 * y - 1, 1 / m), nu_svc({"X": X, "y": y, "nu": nu})
    if kind == "nu_svr":
        problem = nu_svr({"X": X, "y": X[:, 0] ** 2 - y, "nu": nu, "C": 2.0})
        return regression(X, X[:, 0] ** 2 - y, 2.0 / m, 0.3), problem
    return classification(X, np.ones(m), 1 / (nu * m), bias=False), one_class({"X": X, "nu": nu})


@pytest.mark.parametrize("kind", ["nu_svc", "nu_svr", "one_class"])
@given(seed=st.integers(0, 2**16), nu=st.sampled_from([0.25, 0.5, 0.75, 1.0]))
def test_interval_contains_optimum_that_is_proven_of_the_family(
    kind: str, seed: int, nu: float
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (8, 2)) / 2.0 + 0.5, np.arange(8) % 2
    problem, family = problem_of(kind, X, y, nu)
    solution, proven = solve_variable_margin(problem, nu, LIMITS), optimum(family)
    assert solution.lower <= proven.upper
    assert proven.lower <= solution.upper
    # The optimum of points around the origin is 0, which float64 reaches within rounding error.
    if abs(proven.lower) > 1e-6:
        assert solution.ok
        assert solution.upper - solution.lower <= 1e-7 * abs(proven.lower)


def test_rows_on_demand_give_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    problem = classification(X, np.sign(X[:, 0] + rng.normal(size=120)), 1.0, rbf(0.5))
    stored = solve_variable_margin(problem, 0.4, LIMITS)
    monkeypatch.setattr(variable_margin, "STORED_ROWS", 0)
    monkeypatch.setattr(variable_margin, "KEPT_BYTES", 0)
    fetched = solve_variable_margin(problem, 0.4, LIMITS)
    assert stored.ok
    assert fetched.ok
    assert fetched.value == pytest.approx(stored.value, rel=1e-8)
    f, expected = fetched.decision_function(X), stored.decision_function(X)
    np.testing.assert_allclose(f, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (Limits(tol=1e-9, max_iter=7), Status.ITERATION_LIMIT),
        (Limits(tol=1e-9, time_limit=1e-9), Status.TIME_LIMIT),
        (Limits(tol=1e-9, callback=lambda *at: True), Status.CALLBACK),
    ],
)
def test_limits_end_a_run_at_a_point_with_bounds(limits: Limits, status: Status) -> None:
    X = np.random.default_rng(1).normal(size=(80, 2)) + 2.0
    problem = regression(X, X[:, 0] * X[:, 1], 50.0, 0.0)
    best = solve_variable_margin(problem, 0.5, LIMITS)
    early = solve_variable_margin(problem, 0.5, limits)
    assert early.status is status
    assert early.iterations == min(7, early.iterations or 0)
    assert early.lower <= best.upper <= early.upper
    assert early.relative_gap > 1e-6


def test_indefinite_matrix_ends_at_a_stationary_point() -> None:
    X = np.random.default_rng(3).normal(size=(40, 2))
    K = np.tanh(X @ X.T - 1.0)
    problem = classification(K, np.where(X[:, 0] > 0, 1.0, -1.0), 1.0, precomputed())
    assert not problem.convex
    solution = solve_variable_margin(problem, 0.5, LIMITS)
    assert solution.status is Status.STATIONARY
    assert (solution.lower, solution.upper) == (-np.inf, np.inf)


def test_multipliers_short_of_their_sum_lower_the_bound() -> None:
    X = np.random.default_rng(4).normal(size=(30, 2)) + 1.0
    problem = classification(X, np.ones(30), 1.0, bias=False)
    solution = solve_variable_margin(problem, 0.4, LIMITS)
    point = solution.point.with_multipliers(0.999 * np.asarray(solution.dual))
    short = replace(solution, point=point)
    assert short.lower <= solution.lower
    assert solution.upper - short.lower > 1e-4 * abs(solution.upper)


def test_sum_of_multipliers_is_exact() -> None:
    weights = np.array([0.1, 0.2, 0.3])
    problem = classification(np.eye(3), np.ones(3), 0.7, bias=False, sample_weight=weights)
    exact = Fraction(0.9) * Fraction(0.7) * sum(map(Fraction, weights.tolist()))
    assert sum_multipliers(problem, 0.9) == exact


@pytest.mark.parametrize(("nu", "weight"), [(1.0, 0.1), (0.2, 1.0)])
def test_largest_nu_has_finite_bounds(nu: float, weight: float) -> None:
    # 0.2 as a float is above a fifth, which is twice the share of one row among ten.
    X = np.random.default_rng(5).normal(size=(10, 2))
    y = np.where(np.arange(10) < 5 * nu, 1.0, -1.0)
    problem = classification(X, y, 1.0, sample_weight=np.full(10, weight))
    solution = solve_variable_margin(problem, nu, LIMITS)
    assert solution.ok
    assert solution.interval.relative_width <= 1e-7


def test_tube_without_a_bias_bounds_its_width_by_the_largest_target() -> None:
    # f is 0, so that epsilon is 5 and N epsilon is the optimum, 10.
    problem = replace(regression(np.zeros((4, 1)), np.full(4, 5.0), 1.0, 0.0), bias=False)
    solution = solve_variable_margin(problem, 0.5, LIMITS)
    alpha = np.repeat([0.75, 0.0], 4)
    over = replace(solution, point=solution.point.with_multipliers(alpha))
    assert over.lower <= 10.0 <= over.upper


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_status_of_shifted_points_is_that_of_their_bounds(shift: float) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.1 * rng.normal(size=60) > 0, 1.0, -1.0)
    solution = solve_variable_margin(classification(X + shift, y, 1.0), 0.4, LIMITS)
    assert not solution.vanishes
    assert solution.interval.relative_width <= (1e-4 if solution.ok else 0.1)


def test_costs_beyond_float64_are_refused() -> None:
    weights = 10.0 ** np.linspace(-300, 300, 6)
    problem = classification(np.eye(6), np.ones(6), 1.0, bias=False, sample_weight=weights)
    with pytest.raises(ValueError, match="costs are too large for float64"):
        solve_variable_margin(problem, 0.5, LIMITS)


def test_certificate_of_another_margin_is_refused() -> None:
    """It once stated the margin 1, and so another problem."""
    y = np.where(np.arange(8) < 4, -1.0, 1.0)
    problem = classification(np.arange(8.0)[:, None] % 5, y)
    found = solve_variable_margin(problem, 0.5, Limits())
    with pytest.raises(ValueError, match="have the margin 1, and this problem has"):
        certificate(found)
    with pytest.raises(ValueError, match="has the margin 1"):
        read_arguments(found.problem)
