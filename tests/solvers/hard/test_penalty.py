"""Hard rows among soft ones: optima against exact and declared ones, and rays.

Rays consist of the hard rows alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    declare,
    interval,
    ranking,
    rbf,
)
from equimargin.formulations.bounds.intervals import inner_interval
from equimargin.formulations.problem.choices import LOSSES, LossName
from equimargin.formulations.rows import labelled
from equimargin.formulations.rows.pair_multipliers import ImplicitMultipliers
from equimargin.proofs import examine_solution
from equimargin.solvers import SOLVERS, Status, exact_optimum, solve, solve_declaration
from equimargin.solvers.exact_limits import refusal
from narrow import present


def mixed(seed: int, loss: LossName = "hinge") -> MarginProblem:
    """Sample a problem with hard and soft rows, sometimes infeasible.

    It has one hard and two soft queries, or hard points among soft ones and one of no
    cost.
    """
    rng = np.random.default_rng(seed)
    n, d = 24, 3 + seed % 3
    X = rng.normal(size=(n, d)) if seed % 2 else rng.integers(-2, 3, (n, d)).astype(float)
    C, kernel, w = (
        float(10.0 ** rng.integers(-2, 2)),
        rbf(0.5) if seed % 3 == 0 else None,
        rng.normal(size=d),
    )
    clean = X @ w
    if seed % 5 == 4:
        clean = rng.permutation(clean)
    if seed % 4 < 3:
        qid = np.repeat([0, 1, 2], 8)
        return ranking(
            X,
            np.where(qid == 0, np.round(clean), rng.integers(0, 3, n)),
            qid,
            C,
            kernel,
            loss,
            query_weight={0: np.inf},
        )
    weights = np.repeat([np.inf, 0.0, 1.0], [6, 1, n - 7])
    y = np.where(clean + np.where(weights == 1.0, 0.8, 0.0) * rng.normal(size=n) > 0, 1.0, -1.0)
    return classification(X, y, C, kernel, loss, bias=False, sample_weight=weights)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(25))
def test_hard_rows_among_soft_ones(seed: int, loss: LossName) -> None:
    problem = mixed(seed, loss)
    if not np.isinf(problem.group_costs).any():
        return
    found = solve(problem, "penalty")
    if refusal(problem) is None:
        exact = exact_optimum(problem)
        assert found.status is exact.status
        if exact.value is None:
            assert present(found.ray).weights
            return
        assert found.lower <= float(exact.value) * (1 + 1e-15)
        assert float(exact.value) * (1 - 1e-15) <= found.upper
    elif found.ok:
        declared = interval(
            problem, present(solve_declaration(declare(f"{problem.family}.primal", problem)).point)
        )
        assert declared.lower <= found.upper
        assert found.lower <= declared.upper
    else:
        assert found.status is Status.INFEASIBLE
        return
    assert found.interval.relative_width < 2e-6


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", [1, 5, 6, 8, 10, 13])
def test_pairs_that_nobody_lists(
    seed: int, loss: LossName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Implicit pair sweeps give an interval around the optimum of the explicit pairs."""
    problem = mixed(seed, loss)
    listed = solve(problem, "penalty")
    monkeypatch.setattr(labelled, "MANY", 0)
    swept = replace(problem)
    assert swept.rows.many
    found = solve(swept, "penalty")
    assert found.ok
    assert found.interval.relative_width < 2e-6
    assert listed.lower <= found.upper
    assert found.lower <= listed.upper
    inner = inner_interval(swept, found.point)
    assert found.lower <= inner.lower
    assert inner.upper <= found.upper


@pytest.mark.parametrize(
    ("loss", "solver"),
    [("hinge", "cutting_plane"), ("hinge", "huber"), ("squared_hinge", "newton")],
)
@pytest.mark.parametrize("seed", [1, 5, 10])
def test_multipliers_that_are_not_stored_are_feasible_where_rows_are_hard(
    seed: int, loss: LossName, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Implicit multipliers of a finite cost keep it at the hard query.

    They prove the lower bound that an array of the same numbers proves.
    """
    problem = mixed(seed, loss)
    hard = np.isinf(problem.group_costs)
    penalised = replace(problem, weights=np.where(hard, 50.0, 1.0))
    monkeypatch.setattr(labelled, "MANY", 0)
    found = solve(replace(penalised), solver)
    swept = replace(problem)
    assert isinstance(found.dual, ImplicitMultipliers)
    alpha = swept.repaired(found.dual)
    assert np.isfinite(alpha.sum())
    outer, inner = (
        bounds(swept, Point(alpha=alpha)).lower for bounds in (interval, inner_interval)
    )
    listed = alpha.to_array()
    own = listed[np.isinf(problem.costs)]
    exact = problem.dual(listed, problem.norm2(problem.rows.rdot(listed)))
    assert outer <= inner
    assert outer == pytest.approx(exact, rel=1e-6)
    assert (
        own.max() * (1 - 1e-6)
        <= alpha.largest(hard)
        <= max(own.max() * (1 + 1e-6), 50.0 * problem.C)
    )
    assert present(examine_solution(swept, found).accuracy).arithmetic < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_more_pairs_than_anybody_lists(loss: LossName) -> None:
    """Hard levels are satisfied next to 2 million soft pairs, twice `labelled.MANY`."""
    rng = np.random.default_rng(0)
    X, w, qid = rng.normal(size=(2200, 6)), rng.normal(size=6), np.repeat([0, 1], [40, 2160])
    y = np.round(X @ w + np.where(qid == 0, 0.0, 1.0) * rng.normal(size=2200))
    found = solve(ranking(X, y, qid, 1e-5, loss=loss, query_weight={0: np.inf}))
    assert (found.solver, found.ok) == ("penalty", True)
    assert found.interval.relative_width < 2e-6
    contradicted = np.where(qid == 0, -y, y) + np.where(np.arange(2200) == 0, 7.0, 0.0)
    assert (
        solve(
            ranking(X, contradicted, qid, 1e-5, loss=loss, query_weight={0: np.inf, 1: np.inf})
        ).status
        is Status.INFEASIBLE
    )


def test_it_is_what_auto_takes_and_keeps_its_limits() -> None:
    problem = mixed(1)
    found = solve(problem)
    assert found.solver == "penalty"
    assert found.ok
    assert solve(problem, max_iter=1, tol=1e-14).status is Status.ITERATION_LIMIT
    assert solve(problem, time_limit=1e-9, tol=1e-14).status in (
        Status.TIME_LIMIT,
        Status.NUMERICAL_FAILURE,
    )
    assert solve(problem, warm_start=found).value == pytest.approx(found.value, rel=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    ("C", "weight"), [(1e-310, 1.0), (5e-324, 1.0), (1e-300, 1e-200), (1e300, 0.0)]
)
def test_costs_next_to_the_ends_of_float64_leave_the_optimum_of_the_hard_rows(
    C: float, weight: float, loss: LossName
) -> None:
    """A multiplier over C was infinite.

    The penalised problem was then repeated without end.
    """
    problem = classification(
        [[1.0], [2.0], [-1.0], [0.5]],
        [1, 1, -1, -1],
        C,
        bias=False,
        loss=loss,
        sample_weight=[np.inf, *3 * [weight]],
    )
    found = solve(problem)
    assert (found.solver, found.ok) == ("penalty", True)
    assert found.value == pytest.approx(0.5, rel=1e-6)


def test_a_cost_beyond_float64_ends_the_run_with_a_sentence() -> None:
    problem = classification(
        [[1.0], [2.0], [-1.0], [0.5]],
        [1, 1, -1, -1],
        1e300,
        bias=False,
        sample_weight=[np.inf, 1, 1, 1],
    )
    found = solve(problem)
    assert found.status is Status.NUMERICAL_FAILURE
    assert found.reason == "the cost of hard rows exceeds the float64 range"


def test_a_squared_hinge_is_extrapolated() -> None:
    """Near the end the gap falls a hundredfold where the cost grows tenfold."""
    problem = mixed(13, "squared_hinge")
    gaps = [solve(problem, "penalty", max_iter=k, tol=1e-12).relative_gap for k in (5, 6, 7)]
    assert gaps[1] < gaps[0] / 20
    assert gaps[2] < gaps[1] / 20


def test_what_it_does_not_take() -> None:
    X, y, qid = np.eye(4), [0, 1, 0, 1], [0, 0, 1, 1]
    refusals = {
        "the problem must have both hard rows, of infinite weight, and soft rows": ranking(
            X, y, qid
        ),
        "there is a bias": classification(X, [1, -1, 1, -1], sample_weight=[np.inf, 1, 1, 1]),
    }
    for said, problem in refusals.items():
        assert said in str(SOLVERS["penalty"].refusal(problem))
