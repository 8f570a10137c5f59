"""Grids of costs and folds: every solution is that of its problem alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import classification, linear, ranking, rbf, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import Solution, solve, solve_grid

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3))
SIGNS = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, 1.0, -1.0)
TARGETS = np.sin(X[:, 0]) + 0.3 * RNG.normal(size=60)
COSTS = (0.01, 0.3, 1.0, 50.0, 1e4)


def assert_same_optimum(found: Solution, problem: MarginProblem) -> None:
    """Assert that the proven interval is as narrow as requested, and meets that of SMO.

    SMO solves the intended problem alone.
    """
    alone = solve(problem, "smo", tol=1e-7)
    assert found.ok, found.reason
    assert found.relative_gap <= 1e-7
    assert found.interval.relative_width <= 1.1e-7
    assert max(found.lower, alone.lower) <= min(found.upper, alone.upper)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("costs", [COSTS, COSTS[::-1]], ids=["ascending", "descending"])
def test_every_cost_has_its_own_optimum(loss: Any, costs: tuple[float, ...]) -> None:
    problems = (
        classification(X, SIGNS, 1.0, rbf(0.5), loss),
        regression(X, TARGETS, 1.0, 0.4, rbf(0.5), loss),
    )
    for problem in problems:
        for C, found in zip(costs, solve_grid(problem, costs, tol=1e-7), strict=True):
            assert isinstance(found.problem, MarginProblem)
            assert found.problem.C == C
            assert_same_optimum(found, problem.with_cost(C))


def test_a_fold_is_the_problem_of_the_points_that_are_left() -> None:
    folds = np.arange(60) % 3 == np.arange(3)[:, None]
    found = solve_grid(classification(X, SIGNS, 1.0, rbf(0.5)), COSTS[:3], folds, tol=1e-7)
    wanted = [(held_out, C) for held_out in folds for C in COSTS[:3]]
    for (held_out, C), solution in zip(wanted, found, strict=True):
        assert_same_optimum(solution, classification(X[~held_out], SIGNS[~held_out], C, rbf(0.5)))
        assert solution.beta is not None
        assert not solution.beta[held_out].any()


def test_a_fold_of_a_tube_leaves_out_both_rows_of_a_point() -> None:
    weights = RNG.uniform(0.5, 2.0, 60)
    held_out = np.arange(60) < 20
    problem = regression(X, TARGETS, 1.0, 0.1, rbf(0.5), sample_weight=weights)
    (solution,) = solve_grid(problem, [2.0], held_out, tol=1e-7)
    assert_same_optimum(
        solution, regression(X[20:], TARGETS[20:], 2.0, 0.1, rbf(0.5), sample_weight=weights[20:])
    )


@pytest.mark.slow
def test_larger_problems_share_their_working_sets() -> None:
    """There are more points than one working set holds."""
    Z = RNG.normal(size=(2300, 4))
    y = np.where(Z[:, 0] * Z[:, 1] + 0.3 * RNG.normal(size=2300) > 0, 1.0, -1.0)
    problem = classification(Z, y, 1.0, rbf(0.3))
    for C, found in zip((10.0, 1.0), solve_grid(problem, (10.0, 1.0), tol=1e-7), strict=True):
        assert_same_optimum(found, problem.with_cost(C))


def test_what_a_grid_does_not_take() -> None:
    problem = classification(X, SIGNS, 1.0, linear())
    with pytest.raises(ValueError, match="no bias"):
        solve_grid(ranking(X, TARGETS), COSTS)
    with pytest.raises(ValueError, match="finite"):
        solve_grid(problem, [1.0, np.inf])
    with pytest.raises(ValueError, match="finite"):
        solve_grid(problem, [0.0])
    with pytest.raises(ValueError, match="hard"):
        solve_grid(replace(problem, weights=np.where(np.arange(60) == 3, np.inf, 1.0)), [1.0])
    with pytest.raises(ValueError, match="shape"):
        solve_grid(problem, COSTS, np.zeros(59, dtype=bool))


def test_a_warm_start_outside_of_a_wide_tube_is_judged_by_its_own_f() -> None:
    """Points inside the tube have no multipliers, but the start's f has moved them."""
    problem = regression(X, TARGETS, 5.0, 0.5, rbf(0.5))
    start = solve(problem, "smo", tol=1e-9)
    again = solve(problem, "smo", tol=1e-6, warm_start=start)
    assert again.ok
    assert again.relative_gap <= 1e-6
    assert again.iterations == 0
