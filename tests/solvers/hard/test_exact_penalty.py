"""Hard rows among soft ones: optima against exact ones and declared ones, and rays of the hard rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from equimargin.formulations import MarginProblem, classification, declare, interval, ranking, rbf
from equimargin.solvers import SOLVERS, Status, exact_optimum, solve, solve_declaration
from equimargin.solvers.exact_limits import refusal
from narrow import present


def mixed(seed: int) -> MarginProblem:
    """A hard query beside two that are paid for, or hard points among soft ones and one that costs nothing; now and then infeasible."""
    rng = np.random.default_rng(seed)
    n, d = 24, 3 + seed % 3
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(-2, 3, (n, d)).astype(float)
    C, kernel, w = float(10.0 ** rng.integers(-2, 2)), rbf(0.5) if seed % 3 == 0 else None, rng.normal(size=d)
    clean = X @ w
    if seed % 5 == 4:
        clean = rng.permutation(clean)
    if seed % 4 < 3:
        qid = np.repeat([0, 1, 2], 8)
        return ranking(X, np.where(qid == 0, np.round(clean), rng.integers(0, 3, n)), qid, C, kernel, query_weight={0: np.inf})
    weights = np.repeat([np.inf, 0.0, 1.0], [6, 1, n - 7])
    y = np.where(clean + np.where(weights == 1.0, 0.8, 0.0) * rng.normal(size=n) > 0, 1.0, -1.0)
    return classification(X, y, C, kernel, bias=False, sample_weight=weights)


@pytest.mark.parametrize("seed", range(25))
def test_hard_rows_among_soft_ones(seed: int) -> None:
    problem = mixed(seed)
    if not np.isinf(problem.group_costs).any():
        return
    found = solve(problem, "exact_penalty")
    if refusal(problem) is None:
        exact = exact_optimum(problem)
        assert found.status is exact.status
        if exact.value is None:
            assert present(found.ray).weights
            return
        assert found.lower <= float(exact.value) * (1 + 1e-15)
        assert float(exact.value) * (1 - 1e-15) <= found.upper
    elif found.ok:
        declared = interval(problem, present(solve_declaration(declare(f"{problem.family}.primal", problem)).point))
        assert declared.lower <= found.upper
        assert found.lower <= declared.upper
    else:
        assert found.status is Status.INFEASIBLE
        return
    assert found.interval.relative_width < 2e-6


def test_it_is_what_auto_takes_and_keeps_its_limits() -> None:
    problem = mixed(1)
    found = solve(problem)
    assert found.solver == "exact_penalty"
    assert found.ok
    assert solve(problem, max_iter=1, tol=1e-14).status is Status.ITERATION_LIMIT
    assert solve(problem, time_limit=1e-9, tol=1e-14).status in (Status.TIME_LIMIT, Status.NUMERICAL_FAILURE)
    assert solve(problem, warm_start=found).value == pytest.approx(found.value, rel=1e-5)


def test_what_it_does_not_take() -> None:
    X, y, qid = np.eye(4), [0, 1, 0, 1], [0, 0, 1, 1]
    refusals = {
        "no row is hard beside soft ones": ranking(X, y, qid),
        "no finite penalty that is exact": ranking(X, y, qid, loss="squared_hinge", query_weight={0: np.inf}),
        "there is a bias": classification(X, [1, -1, 1, -1], sample_weight=[np.inf, 1, 1, 1]),
    }
    for said, problem in refusals.items():
        assert said in str(SOLVERS["exact_penalty"].refusal(problem))
