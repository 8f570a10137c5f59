"""Machines in lock-step: the optima of single runs, and the same bits in every batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulated.arrays import StrictArray, StrictCard, emulated_card
from emulated.kernels import needs_a_compiler
from equimargin.estimators import MarginClassifier
from equimargin.formulations import (
    MarginProblem,
    classification,
    linear,
    precomputed,
    rbf,
    regression,
)
from equimargin.formulations.kernels import gram
from equimargin.selection.costs import cost_grid
from equimargin.solvers import Solution, Status, one_vs_one, solve, solve_grid
from equimargin.solvers.device import batch, method
from equimargin.solvers.device.batch import (
    CardBatch,
    MachineBatch,
    choose_working_sets,
    count_machine_bytes,
    count_shared_bytes,
)
from equimargin.solvers.device.multiplier import CardMultiplier
from equimargin.solvers.dual.smo_problem import (
    NEVER,
    OptimalityState,
    PointProblem,
    ProblemScaling,
)
from equimargin.solvers.dual.working_set import choose_working_set

RNG = np.random.default_rng(11)
X = RNG.normal(size=(300, 6))
SIGNS = np.where(
    np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + RNG.logistic(size=300) / 3 > 0, 1.0, -1.0
)
TARGETS = np.sin(X[:, 0]) + X[:, 1] ** 2 + RNG.normal(size=300) / 5
COSTS, SMALL_COSTS = [0.01, 1.0, 30.0], [0.01, 0.1, 0.5]
ON_BOTH = [
    pytest.param("cuda", marks=needs_a_compiler, id="emulated"),
    pytest.param("host", id="host"),
]
"""Devices of the tests; "cuda" is emulated."""


def problems(m: int) -> dict[str, MarginProblem]:
    """Return problems of m points: both losses and both tasks, weights, a given matrix."""
    A, s, y = X[:m], SIGNS[:m], TARGETS[:m]
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], m)
    return {
        "hinge": classification(A, s, 1.0, rbf(0.2)),
        "weights": classification(A, s, 1.0, rbf(0.2), sample_weight=weights),
        "squared": classification(A, s, 1.0, rbf(0.2), "squared_hinge"),
        "given": classification(A @ A.T + np.eye(m), s, 1.0, precomputed()),
        "tube": regression(A, y, 1.0, 0.1, rbf(0.2)),
        "squared tube": regression(A, y, 1.0, 0.1, rbf(0.2), "squared_hinge"),
    }


NAMES = list(problems(2))


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled kernels."""
    return tmp_path_factory.mktemp("kernels")


def recorded(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    """Return a function that appends its arguments to a list."""

    def run(*given: Any) -> Any:
        calls.append(given)
        return function(*given)

    return run


def folds(m: int, k: int) -> Any:
    """Return the held-out points of k folds."""
    return np.arange(m) % k == np.arange(k)[:, None]


def assert_optimal(found: Solution, tol: float) -> None:
    """Assert that a solution proves its tolerance, and meets the processor's interval."""
    assert found.status is Status.OPTIMAL, found.reason
    assert found.interval.relative_width <= 1.1 * tol + 1e-12
    expected = solve(found.problem, tol=1e-9).interval
    assert max(found.lower, expected.lower) <= min(found.upper, expected.upper)


@pytest.mark.parametrize("size", [2048, 60])
@pytest.mark.parametrize("name", NAMES)
def test_grid_on_the_host_has_the_optima(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "SMALL_SET_POINTS", size)
    for found in solve_grid(problems(300)[name], COSTS, folds(300, 2), tol=1e-8, device="host"):
        assert_optimal(found, 1e-8)


@needs_a_compiler
@pytest.mark.parametrize("size", [2048, 16])
@pytest.mark.parametrize(
    "name", ["hinge", *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])]
)
def test_grid_on_an_emulated_card_has_the_optima(
    name: str, size: int, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "SMALL_SET_POINTS", size)
    with emulated_card(kernels, monkeypatch):
        for found in solve_grid(
            problems(24)[name], SMALL_COSTS, folds(24, 2), tol=1e-7, device="cuda"
        ):
            assert_optimal(found, 1e-7)


@pytest.mark.device
@pytest.mark.parametrize("name", NAMES)
def test_grid_on_a_card_has_the_optima(name: str) -> None:
    for found in solve_grid(problems(300)[name], COSTS, folds(300, 2), tol=1e-8, device="cuda"):
        assert_optimal(found, 1e-8)


def three_classes(m: int) -> Any:
    """Return three classes of m points."""
    return np.argmax(X[:m, :3] + RNG.normal(size=(m, 3)) / 2, axis=1)


def assert_pairs_are_solved(m: int, device: str, loss: Any = "hinge", **options: Any) -> None:
    """Assert that the problems of all pairs have the optima of the processor."""
    y, weights = three_classes(m), RNG.choice([0.5, 1.0, 0.0], m)
    given = X[:m], y, 0.5, options.get("kernel", rbf(0.2)), loss, weights
    found = one_vs_one(*given, tol=1e-7, device=device)
    for mine, theirs in zip(found, one_vs_one(*given, tol=1e-9), strict=True):
        assert mine.problem.m == theirs.problem.m
        assert repr(mine.problem) == repr(theirs.problem)
        assert mine.ok, mine.reason
        assert mine.interval.relative_width <= 1.1e-7
        assert max(mine.lower, theirs.lower) <= min(mine.upper, theirs.upper)


@pytest.mark.parametrize("size", [2048, 60])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", [rbf(0.2), linear()], ids=repr)
def test_pairs_of_classes_on_the_host_have_the_optima(
    kernel: Any, loss: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "SMALL_SET_POINTS", size)
    assert_pairs_are_solved(300, "host", loss, kernel=kernel)


@needs_a_compiler
def test_pairs_of_classes_on_an_emulated_card_have_the_optima(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = CardBatch.__init__
    batches: list[Any] = []
    monkeypatch.setattr(CardBatch, "__init__", recorded(begun, batches))
    with emulated_card(kernels, monkeypatch):
        assert_pairs_are_solved(30, "cuda")
        assert len(batches) == 1
    room = count_shared_bytes(problems(30)["hinge"].gram) + 0.5 * count_machine_bytes(30)
    with emulated_card(kernels, monkeypatch, free_bytes=room):
        assert_pairs_are_solved(30, "cuda")
    assert len(batches) == 1


@pytest.mark.device
def test_pairs_of_classes_on_a_card_have_the_optima() -> None:
    assert_pairs_are_solved(300, "cuda")


def test_pairs_that_a_device_does_not_support_are_refused() -> None:
    y = three_classes(300)
    with pytest.raises(ValueError, match=r"there is no bias.*leave out device"):
        one_vs_one(X, y, bias=False, device="host")
    with pytest.raises(ValueError, match="newton runs on the processor only"):
        one_vs_one(X, y, solver="newton", device="host")
    with pytest.raises(ValueError, match=r"hard rows.*leave out device"):
        solve_grid(classification(X, SIGNS, np.inf), COSTS, device="host")


def test_an_estimator_of_many_classes_runs_in_lock_step(monkeypatch: pytest.MonkeyPatch) -> None:
    y, gather = three_classes(300), MachineBatch.gather
    rounds: list[Any] = []
    monkeypatch.setattr(MachineBatch, "gather", recorded(gather, rounds))
    found, expected = (
        MarginClassifier(kernel="rbf", device=device).fit(X, y).decision_function(X)
        for device in ("host", "cpu")
    )
    assert found == pytest.approx(expected, abs=1e-3)
    assert max(len(rows) for _, rows in rounds) == 3


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_grid_of_costs_has_the_scores_of_the_processor(task: Any) -> None:
    y = SIGNS if task == "classification" else TARGETS
    kernels = [rbf(0.2), linear()]
    found, expected = (
        cost_grid(X, y, kernels, COSTS, task, folds=3, tol=1e-9, loss="hinge", device=device).rows
        for device in ("host", "cpu")
    )
    for mine, theirs in zip(found, expected, strict=True):
        assert (mine.kernel, mine.C) == (theirs.kernel, theirs.C)
        assert mine.score == pytest.approx(theirs.score, rel=1e-4)
        assert mine.within <= 1e-9


def test_a_grid_of_costs_of_a_ranking_needs_the_processor() -> None:
    with pytest.raises(ValueError, match=r"there is no bias.*leave out device"):
        cost_grid(X, TARGETS, [rbf(0.2)], [1.0], "ranking", folds=3, device="host")
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'"):
        cost_grid(X, TARGETS, device="card")


def assert_same_bits(problem: MarginProblem, held_out: Any, device: str) -> None:
    """Assert that machines have the same bits in a grid, and alone."""
    together = solve_grid(problem, SMALL_COSTS, held_out, tol=1e-7, device=device)
    for k in (5, 1):
        C, fold = SMALL_COSTS[k % 3], held_out[k // 3 :][:1]
        (alone,) = solve_grid(problem, [C], fold, tol=1e-7, device=device)
        assert alone.iterations == together[k].iterations
        assert np.array_equal(np.asarray(alone.dual), np.asarray(together[k].dual))
        assert alone.bias == together[k].bias


@pytest.mark.parametrize("size", [2048, 16])
@pytest.mark.parametrize("device", ON_BOTH)
def test_bits_do_not_depend_on_the_batch(
    device: str, size: int, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "SMALL_SET_POINTS", size)
    problem = problems(30)["hinge"]
    # The host's functions run uncompiled until they have done some work.
    solve_grid(problems(300)["hinge"], COSTS, tol=1e-9, device="host")
    with emulated_card(kernels, monkeypatch):
        assert_same_bits(problem, folds(30, 2), device)


@pytest.mark.device
def test_bits_on_a_card_do_not_depend_on_the_batch() -> None:
    points = RNG.normal(size=(3000, 6))
    problem = classification(points, np.sign(points[:, 0] * points[:, 1]), 1.0, rbf(0.2))
    assert_same_bits(problem, folds(3000, 2), "cuda")


@needs_a_compiler
def test_machines_wait_for_memory(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, begun = problems(30)["hinge"], CardBatch.__init__
    batches: list[Any] = []
    monkeypatch.setattr(CardBatch, "__init__", recorded(begun, batches))
    shared, own = count_shared_bytes(problem.gram), count_machine_bytes(30)
    found = []
    for free in (1e12, shared + own * 2.1 / batch.PART_OF_MACHINES, shared + 1.01 * own):
        with emulated_card(kernels, monkeypatch, free_bytes=free):
            found.append(solve_grid(problem, SMALL_COSTS, tol=1e-7, device="cuda"))
    assert [given[4] for given in batches] == [3, 2, 1]
    for one in found:
        for solution in one:
            assert_optimal(solution, 1e-7)


@needs_a_compiler
@pytest.mark.parametrize("factor", [1.01, 40.0])
def test_memory_of_newton_steps_does_not_depend_on_the_batch(factor: float, tmp_path: Path) -> None:
    K = problems(300)["hinge"].gram
    free = count_shared_bytes(K) + factor * count_machine_bytes(300)
    card: Any = StrictCard(tmp_path, free)
    faces = []
    for machines in (1, 1000):
        one = CardBatch.fitting(card, K, 1.0, machines)
        assert one is not None
        taken = count_shared_bytes(K) + one.slots * count_machine_bytes(300)
        assert taken + 40.0 * one.costs.max_face**2 <= free
        faces.append((one.costs.max_face, one.landmarks))
    assert faces[0] == faces[1]


@needs_a_compiler
def test_grid_solutions_are_valued_and_proven_on_the_card(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gram, "STORED_ROWS", 10)
    problem, ask = problems(30)["hinge"], CardMultiplier.__call__
    asked: list[Any] = []
    monkeypatch.setattr(CardMultiplier, "__call__", recorded(ask, asked))
    with emulated_card(kernels, monkeypatch):
        (found,) = solve_grid(problem, [1.0], device="cuda")
        assert found.problem.gram.multiplier == CardMultiplier("cuda")
        assert found.relative_gap <= 1e-6
        assert asked


@needs_a_compiler
def test_without_room_for_the_matrix_machines_run_in_turn(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problems(30)["hinge"]
    free = count_shared_bytes(problem.gram) + 0.5 * count_machine_bytes(30)
    with emulated_card(kernels, monkeypatch, free_bytes=free):
        card: Any = StrictCard(kernels, free)
        assert CardBatch.fitting(card, problem.gram, 1.0, 3) is None
        for found in solve_grid(problem, SMALL_COSTS, tol=1e-7, device="cuda"):
            assert_optimal(found, 1e-7)
    message = "needs 0.1 GB for this problem, and 0.0 GB are free"
    with (
        emulated_card(kernels, monkeypatch, free_bytes=10_000.0),
        pytest.raises(ValueError, match=message),
    ):
        solve_grid(problem, COSTS, device="cuda")


def test_machines_out_of_memory_return_their_best_points(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise MemoryError("Out of memory allocating 8,000 bytes")

    monkeypatch.setattr(MachineBatch, "follow", fails)
    for found in solve_grid(problems(300)["hinge"], COSTS, device="host"):
        assert found.status is Status.TOO_LARGE
        assert found.reason == "memory ran out (Out of memory allocating 8,000 bytes)"
        assert np.isfinite(found.upper)


@needs_a_compiler
def test_a_matrix_without_memory_leaves_machines_in_turn(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise MemoryError("Out of memory allocating 8,000 bytes")

    monkeypatch.setattr(CardBatch, "_stored", fails)
    with emulated_card(kernels, monkeypatch):
        for found in solve_grid(problems(24)["hinge"], SMALL_COSTS[:1], device="cuda"):
            assert_optimal(found, 1e-6)
    assert solve_grid(problems(24)["hinge"], [], device="host") == []


def test_limits_hold_for_every_machine() -> None:
    problem = problems(300)["hinge"]
    for found in solve_grid(problem, COSTS, tol=1e-9, max_iter=50, device="host"):
        assert found.iterations is not None
        assert found.iterations <= 50
        assert found.status in (Status.OPTIMAL, Status.ITERATION_LIMIT)
    late = solve_grid(problem, [1e4], tol=1e-12, time_limit=1e-6, device="host")[0]
    assert late.status is Status.TIME_LIMIT


@pytest.mark.parametrize("size", [2, 9, 40, 118])
@pytest.mark.parametrize("scale", [1.0, 0.03])
def test_sets_are_those_of_single_runs(size: int, scale: float) -> None:
    # A small scale makes a crowd of violators.
    n, m = 4, 120
    free, before = RNG.random((n, m)) < 0.3, np.zeros((n, m), dtype=bool)
    rise = RNG.normal(size=(n, m)) + scale
    fall = np.where(free, rise, RNG.normal(size=(n, m)) - scale)
    at_end = (RNG.random((n, m)) < 0.2) & ~free
    rise, looks = np.where(at_end, NEVER, rise), []
    for k in range(n):
        before[k, RNG.permutation(m)[:size]] = k > 0
        level = float(rise[k][free[k]].mean())
        least, most = float(rise[k].min()), float(fall[k].max())
        own = rise[k], fall[k], free[k]
        looks.append(OptimalityState(*own, least, most, level, 0.0, 0.0, 1.0))
    ends = np.array([[(look.least, look.most, look.level)] for look in looks])
    found = choose_working_sets(rise, fall, free, ends, before, size)
    for k, look in enumerate(looks):
        expected = choose_working_set(look, np.flatnonzero(before[k]), size)
        assert np.array_equal(found[k], expected)


def at_random(name: str, m: int) -> PointProblem:
    """Return a problem in one variable per point."""
    problem = problems(m)[name]
    return PointProblem.of(problem, ProblemScaling.of(problem))


@needs_a_compiler
@pytest.mark.parametrize("name", NAMES)
def test_look_of_a_card_is_that_of_the_processor(name: str, kernels: Path) -> None:
    m, points = 40, at_random(name, 40)
    card: Any = StrictCard(kernels)
    own: Any = CardBatch.fitting(card, points.margin.gram, points.units.unit, 3)
    sides = points.sides
    ends = np.maximum(sides.lower, -2.0), np.minimum(sides.upper, 2.0)
    for slot in (2, 0):
        machine: Any = own.enter(slot, points)
        a = np.where(RNG.random(m) < 0.5, RNG.uniform(*ends), RNG.choice([0, 1], m) * ends[1])
        G = RNG.normal(size=m)
        own.a[slot], own.G[slot] = own.placed(a), own.placed(G)
        expected = points.look(a, G)
        found = machine.look(own.a[slot], own.G[slot])
        for mine, theirs in zip(found, expected, strict=True):
            mine = mine.array if isinstance(mine, StrictArray) else mine
            assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-12)
        assert own.outside[slot]
        own.inside[slot] = True
        own.look([slot])
        assert not own.outside[slot]


@needs_a_compiler
def test_followed_gradients_are_those_of_the_matrix(kernels: Path) -> None:
    problem = problems(70)["hinge"]
    card: Any = StrictCard(kernels)
    own: Any = CardBatch.fitting(card, problem.gram, 1.0, 3)
    f, points = RNG.normal(size=(3, 70)), RNG.integers(0, 70, (2, 19))
    v = RNG.normal(size=(2, 19)) * (RNG.random((2, 19)) < 0.7)
    placed = own.placed(f)
    own.follow(own.placed(np.array([2, 0], np.int32)), own.placed(points), own.placed(v), placed)
    for row, k in ((2, 0), (0, 1)):
        f[row] += problem.gram.dense[:, points[k]] @ v[k]
    assert placed.array == pytest.approx(f, abs=1e-12)
