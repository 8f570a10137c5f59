"""Convergence monitor: end of a run soon after its gap stops decreasing, with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from equimargin.formulations import (
    Kernel,
    Point,
    Problem,
    classification,
    one_norm_ranking,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.problem.point import CanonicalPoint
from equimargin.solvers import SOLVERS, Limits, Status, solve
from equimargin.solvers.progress import (
    ROUNDED_GAP,
    STALE_CHECKS,
    ConvergenceMonitor,
    DualConvergenceMonitor,
    has_increased,
)
from optima import CANCER, LABELS, SCALED, cpu_limit

DIABETES = load_diabetes()
POINTS = StandardScaler().fit_transform(DIABETES.data)
TARGETS = (DIABETES.target - DIABETES.target.mean()) / DIABETES.target.std()
LEVELS, QUERIES = np.digitize(TARGETS, [-1, 0, 1]), np.arange(len(TARGETS)) // 10
PROBLEMS: dict[str, Problem] = {
    "svm.soft linear": classification(SCALED, LABELS),
    "svm.soft raw": classification(CANCER.data, LABELS),
    "svm.soft rbf": classification(SCALED, LABELS, 1.0, rbf(1 / 30)),
    "svm.soft large C": classification(SCALED, LABELS, 1e4, rbf(1 / 30)),
    "svm.hard": classification(SCALED, LABELS, np.inf, rbf(1 / 30)),
    "svm.nobias_hard": classification(SCALED, LABELS, np.inf, rbf(1 / 30), bias=False),
    "rank.hard": ranking(POINTS[:200], LEVELS[:200], QUERIES[:200], np.inf, rbf(0.1)),
    "svm.l2": classification(SCALED, LABELS, loss="squared_hinge"),
    "svm.nobias": classification(SCALED, LABELS, bias=False),
    "svm.nobias_l2": classification(SCALED, LABELS, 1.0, rbf(1 / 30), "squared_hinge", bias=False),
    "svr.l1": regression(POINTS, TARGETS, 1.0, 0.1),
    "svr.l1 rbf": regression(POINTS, TARGETS, 1.0, 0.1, rbf(0.1)),
    "rank.l1": ranking(POINTS, LEVELS, QUERIES),
    "rank.l1 rbf": ranking(POINTS[:200], LEVELS[:200], QUERIES[:200], 1.0, rbf(0.1)),
    "rank.l2 rbf": ranking(POINTS, LEVELS, QUERIES, 1.0, rbf(0.1), "squared_hinge"),
    "rvm": ranking_vector_machine(POINTS[:100], TARGETS[:100], None, 1.0, rbf(0.1)),
    "rank.onenorm": one_norm_ranking(POINTS[:60], LEVELS[:60], None, 1.0, rbf(0.1)),
}
CASES = [
    (name, solver)
    for name, problem in PROBLEMS.items()
    for solver in SOLVERS
    if SOLVERS[solver].refusal(problem) is None
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "solver"), CASES)
def test_a_gap_below_float64_ends_the_run(name: str, solver: str) -> None:
    """Every solver ends within its iteration limit; SMO's limit is too large for a test.

    SMO took ten million pair steps for the linear kernel, at 4e-14.
    """
    problem = PROBLEMS[name]
    found = solve(problem, solver, tol=1e-16, max_iter=2_000_000 if solver == "smo" else None)
    assert found.status in (Status.OPTIMAL, Status.NUMERICAL_FAILURE), found.reason
    assert "1e-16 was requested" in found.reason
    assert found.interval.lower <= found.interval.upper
    assert found.interval.relative_width <= 1.1 * found.relative_gap + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "solver"), [case for case in CASES if case[1] not in ("linear_program", "homotopy")]
)
def test_few_checks_follow_the_last_that_mattered(name: str, solver: str) -> None:
    """Column generation went on for hundreds of checks of rounding changes only."""
    problem, gaps = PROBLEMS[name], []

    def note(iterations: int, lower: float, upper: float, point: CanonicalPoint) -> None:
        gaps.append((upper - lower) / max(abs(lower), abs(upper), 1e-4 * problem.scale))

    solve(problem, solver, tol=1e-16, callback=note)
    assert len([gap for gap in gaps[1:] if gap <= ROUNDED_GAP]) <= 3 * STALE_CHECKS


def judge(problem: Problem | None = None, patience: int = STALE_CHECKS) -> ConvergenceMonitor:
    """Return the monitor of a run with a target below float64 and no other limit."""
    return ConvergenceMonitor(
        "none",
        problem or classification([[0.0], [1.0]], [1, -1]),
        Limits(tol=1e-16),
        10**9,
        patience,
    )


def checks(values: Any, **options: Any) -> int:
    """Return the number of (primal, dual, moved) weighed before the run ends."""
    judging = judge(**options)
    for count, (primal, dual, moved) in enumerate(values, 1):
        if judging.weigh(Point(alpha=np.zeros(2)), primal, dual, count, moved):
            return count
    raise AssertionError("the run did not end")


def test_a_step_that_moves_is_progress_however_many_there_have_been() -> None:
    """TRON gave up at a gap of 1 by a progress measure that was halved with every step.

    The measure was 0 after 1,074 steps.
    """
    assert checks((2.0, 1.0, k < 3000) for k in range(4000)) == 3000 + STALE_CHECKS


def test_a_gap_that_shrinks_slowly_is_progress_until_it_stays() -> None:
    """The gap shrinks by half a percent per check, and is halved after 139 checks.

    Each check was compared with the best one so far: the run ended after 26 checks.
    """
    slow = [(1.0 + 0.995 ** min(k, 400), 1.0, False) for k in range(500)]
    assert 400 < checks(slow) <= 400 + 2 * STALE_CHECKS


def test_rises_at_rounding_level_are_progress_only_if_they_halve_the_gap() -> None:
    """Column generation went on for 90 checks at gaps of 1e-14, as each rise counted."""
    rises = [(1.0 + 0.9e-12, 1.0 + 1e-14 * k, False) for k in range(80)]
    assert checks(rises) == 1 + STALE_CHECKS


def test_a_violation_that_shrinks_slowly_is_progress_until_it_stays() -> None:
    progress = DualConvergenceMonitor(
        "none", classification([[0.0], [1.0]], [1, -1]), Limits(tol=1e-16), 10**9
    )
    ends = next(k for k in range(500) if progress.show(np.zeros(2), k, 0.99 ** min(k, 200)))
    assert 200 < ends <= 200 + 2 * STALE_CHECKS


def test_a_dual_value_above_the_primal_one_is_not_risen() -> None:
    """A dual value above the primal one is no progress, whether bounded or growing.

    With large rounding it may exceed the primal value slightly and indefinitely, or
    grow without end.
    """
    above = [
        (1.0 + 1e-9, 1.0, False),
        *[(1.0 - 1e-9 * (k % 2), 1.0 - 1e-8, False) for k in range(1000)],
    ]
    assert checks([(1.0, 0.5, False), *above]) <= 2 * STALE_CHECKS
    assert checks((3.0 + 2.0**k, 2.0 + 1.5**k, False) for k in range(1000)) <= 2 * STALE_CHECKS


def test_a_dual_value_next_to_0_rises_by_what_can_be_told_from_the_primal_one() -> None:
    """With nothing left but the floor of a curvature, the dual value grew by rounding.

    It grew by 2e-16 of the primal value from check to check, for ten million steps.
    """
    assert checks((1.8, 2e-16 * (k + 1), False) for k in range(1000)) <= 2 * STALE_CHECKS
    assert not has_increased(1.0, 1.0, -1e-9, 1.0)
    assert not has_increased(1.0 + 2e-16, 1.0, 0.0, 1.0)
    assert has_increased(1.0 + 1e-14, 1.0, 0.0, 1.0)


def test_a_rise_above_a_primal_value_leads_astray() -> None:
    """Rounding is hundreds of margins here.

    Runs that took increases of the dual value for progress showed float64 gaps down to
    0.1. They went on until their functions had no better bound than a hundred times the
    cost of f = 0. One in twenty does now: where a run ends, depends on the last bits.
    """
    uppers = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(100.0, 20.0, (54, 2)), np.where(rng.normal(size=54) > 0, 1.0, -1.0)
        problem = classification(X, y, 5e4, polynomial(3, 1.0, 1.0), bias=False)
        uppers.append(solve(problem, "coordinate_descent").interval.upper / problem.scale)
    assert sorted(uppers)[11] <= 30
    assert np.median(uppers) <= 15


def test_patience_is_for_gaps_that_float64_can_tell() -> None:
    assert checks(((1.0, 0.9, False) for _ in range(1000)), patience=250) == 251
    assert (
        checks(((1.0, 1.0 - 1e-13, False) for _ in range(1000)), patience=250) == 1 + STALE_CHECKS
    )
    falling = ((1.0, 1.0 - 1e-13 * 0.9**k, False) for k in range(1000))
    assert checks(falling, patience=250) <= 8 * STALE_CHECKS


def test_a_violation_is_a_sign_of_progress_where_there_is_no_gap() -> None:
    progress = DualConvergenceMonitor(
        "none", classification([[0.0], [1.0]], [1, -1]), Limits(tol=1e-16), 10**9
    )
    for k in range(100):
        assert not progress.show(np.zeros(2), k, 0.5**k)
    assert [progress.show(np.zeros(2), 100 + k, 0.5**99) for k in range(STALE_CHECKS)] == [
        False
    ] * (STALE_CHECKS - 1) + [True]


@pytest.mark.parametrize(
    ("X", "kernel"),
    [
        ([[3000.00001], [3000.0], [2999.99999]], polynomial(3, 1.0, 1.0)),
        ([[1e5 + 1e-5], [1e5], [1e5 - 1e-5]], polynomial(2, 1.0, 1.0)),
    ],
    ids=["degree 3", "degree 2"],
)
def test_nearly_equal_points_far_from_the_origin_end(X: Any, kernel: Kernel) -> None:
    """Rounding leaves no digit of the differences of their kernel values.

    Damping never made the face's matrix definite.
    """
    problem = ranking(X, [2, 1, 0], kernel=kernel)
    for name, solver in SOLVERS.items():
        if solver.refusal(problem) is None:
            with cpu_limit(60):
                assert solve(problem, name).lower <= solve(problem, name).upper


@pytest.mark.parametrize(
    ("X", "degree"),
    [([[82.66609], [82.66604], [82.666057]], 3), ([[1000.0], [1000.001], [1000.0005]], 2)],
)
def test_float32_that_leads_astray_is_left(X: Any, degree: int) -> None:
    """Rounding to float32 made the kernel of three points indefinite.

    A few pair steps led to multipliers of 1e40: an overflow, or a gap of 1.
    """
    found = solve(
        regression(X, [0.0, 2.0, 1.0], 1.0, 0.1, polynomial(degree, 1.0, 1.0), "squared_hinge"),
        "smo",
    )
    assert found.ok, found.reason
    assert found.interval.relative_width <= 1e-4


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0, 8),
    st.integers(1, 3),
    st.sampled_from(["rank", "svm", "svr"]),
)
def test_any_solver_ends_far_from_the_origin(
    seed: int, exponent: float, degree: int, kind: str
) -> None:
    """Points 10^exponent away from 0 and 1e-5 to 1 apart, by every applicable solver."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 8))
    X = 10.0**exponent + 10.0 ** rng.uniform(-5, 0) * rng.integers(-2, 3, size=(m, 1))
    kernel, loss, y = (
        polynomial(degree, 1.0, 1.0),
        rng.choice(["hinge", "squared_hinge"]),
        rng.integers(0, 3, m).astype(float),
    )
    problem: Problem
    if kind == "rank":
        problem = ranking(X, y, None, 1.0, kernel, loss)
    elif kind == "svm":
        problem = classification(
            X, np.where(y > 0, 1.0, -1.0), 1.0, kernel, loss, bias=bool(rng.integers(2))
        )
    else:
        problem = regression(X, y, 1.0, 0.1, kernel, loss)
    for name, solver in SOLVERS.items():
        if solver.refusal(problem) is None:
            with cpu_limit(60):
                found = solve(problem, name)
            assert found.reason
            assert found.lower <= found.upper


def test_slow_progress_ends_a_run_with_a_successor_and_no_other() -> None:
    """The dual value increases by a thousandth of the gap with every check.

    That is progress, and would go on for thousands of checks.
    """
    problem = classification([[0.0], [1.0]], [-1, 1])
    for has_successor in (True, False):
        judge = ConvergenceMonitor("any", problem, Limits(has_successor=has_successor), 1000)
        checks = next(
            (k for k in range(200) if judge.weigh(problem.origin, 1.0, 1e-3 * k, k)), None
        )
        assert checks == (100 if has_successor else None)
        assert judge.reason.startswith("slow progress in 100 checks") is has_successor
    judge = ConvergenceMonitor("any", problem, Limits(has_successor=True), 1000)
    assert not any(judge.weigh(problem.origin, 1.0, 1.0 - 0.99**k, k) for k in range(500))


def test_dual_value_above_the_primal_one_is_no_gap_of_zero() -> None:
    """Sums over swept pairs lost digits, and a solver took their excess for an optimum."""
    problem = PROBLEMS["svm.soft linear"]
    monitor = ConvergenceMonitor("huber", problem, Limits(1e-6), 100)
    point = solve(problem, "smo").point
    value = problem.values(point)[0]
    assert not monitor.weigh(point, value, value + 1e-3 * value, 1)
    assert monitor.gap > 9e-4


def test_callback_ends_a_run_whose_gap_float64_cannot_resolve() -> None:
    """The run failed at a gap of 0, and "auto" went on although the callback had ended it."""
    X = np.zeros((7, 8))
    X[3:6, 2] = 3e6, 3e6, -3e6
    problem = ranking(X, [1, 0, 0, 0, 0, 0, 0], None, 1.0, polynomial(1, 1.0, 1.0))
    found = solve(problem, tol=1e-6, callback=lambda _, lower, upper, point: lower == upper)
    assert (found.status, found.solver) == (Status.CALLBACK, "coordinate_descent")
