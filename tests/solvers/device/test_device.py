"""SMO on a device: the same optima as on the processor, by numpy and by a card's kernels.

Without a card the method runs with numpy (device "host"), and once more with arrays
that have CuPy's rules and with the card's kernels as C++ (`emulated`).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from emulated.arrays import FUNCTIONS, METHODS, StrictCard, emulated_card
from emulated.kernels import needs_a_compiler
from equimargin.comparison import compare
from equimargin.estimators import MarginClassifier, MarginRegressor
from equimargin.formulations import (
    MarginProblem,
    classification,
    interval,
    linear,
    ordinal,
    polynomial,
    precomputed,
    ranking,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.kernels.multiplier import multiply
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.solvers import Solution, Status, solve, solve_grid
from equimargin.solvers.device import card as card_module
from equimargin.solvers.device import method
from equimargin.solvers.device.card import Card, check_memory
from equimargin.solvers.device.face import largest_face
from equimargin.solvers.device.method import begin
from equimargin.solvers.device.multiplier import CardMultiplier
from equimargin.solvers.device.products import count_bytes
from equimargin.solvers.solution import Limits
from optima import LABELS, SCALED
from places import HANG

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
NOISE = RNG.logistic(size=300) / 3
SIGNS = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + NOISE > 0, 1.0, -1.0)
TARGETS = np.sin(X[:, 0]) + X[:, 1] ** 2 + RNG.normal(size=300) / 5


def problems(m: int) -> dict[str, MarginProblem]:
    """Return problems of m points: every kernel, both losses, weights, both tasks."""
    A, s, y = X[:m], SIGNS[:m], TARGETS[:m]
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], m)
    return {
        "rbf": classification(A, s, 2.0, rbf(0.2)),
        "far": classification(A, s, 2.0, rbf(2000.0)),
        "squared": classification(A, s, 2.0, rbf(0.2), "squared_hinge"),
        "weights": classification(A, s, 2.0, rbf(0.2), sample_weight=weights),
        "linear": classification(A, s, 0.5, linear()),
        "polynomial": classification(A, s, 0.1, polynomial(3, 0.2, 1.0)),
        "exponential": classification(A, s, 2.0, Exponential(0.5)),
        "precomputed": classification(A @ A.T + np.eye(m), s, 0.5, precomputed()),
        "tube": regression(A, y, 3.0, 0.1, rbf(0.2)),
        "squared tube": regression(A, y, 3.0, 0.1, rbf(0.2), "squared_hinge"),
    }


NAMES = list(problems(2))


@pytest.fixture(scope="session")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the compiled kernels of all tests."""
    return tmp_path_factory.mktemp("kernels")


def assert_optimal(solution: Solution, tol: float, reference: Solution) -> None:
    """Assert that the point proves a gap of `tol`, and that the proven intervals meet."""
    assert solution.status is Status.OPTIMAL, solution.reason
    assert solution.relative_gap <= tol
    found = interval(solution.problem, solution.point)
    assert found.relative_width <= 2 * tol + 1e-9
    other, size = reference.interval, reference.interval.size
    assert max(found.lower, other.lower) <= min(found.upper, other.upper) + 1e-12 * size


@pytest.mark.parametrize("name", NAMES)
def test_host_has_the_optimum_of_the_processor(name: str) -> None:
    problem = problems(300)[name]
    assert_optimal(solve(problem, "smo", 1e-8, device="host"), 1e-8, solve(problem, tol=1e-8))


@needs_a_compiler
@pytest.mark.parametrize(
    "name", ["rbf", *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])]
)
def test_emulated_card_has_the_optimum_of_the_processor(
    name: str, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problems(24)[name]
    with emulated_card(kernels, monkeypatch):
        found = solve(problem, "smo", 1e-7, device="cuda")
    assert_optimal(found, 1e-7, solve(problem, tol=1e-8))


@pytest.mark.device
@pytest.mark.parametrize("name", NAMES)
def test_card_has_the_optimum_of_the_processor(name: str) -> None:
    problem = problems(300)[name]
    assert_optimal(solve(problem, "smo", 1e-8, device="cuda"), 1e-8, solve(problem, tol=1e-8))


def test_small_sets_reach_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "SMALL_SET_POINTS", 40)
    problem = problems(300)["rbf"]
    assert_optimal(solve(problem, tol=1e-9, device="host"), 1e-9, solve(problem, tol=1e-9))


@pytest.mark.slow
@needs_a_compiler
def test_small_sets_reach_the_optimum_on_an_emulated_card(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "SMALL_SET_POINTS", 16)
    problem = problems(60)["tube"]
    with emulated_card(kernels, monkeypatch):
        found = solve(problem, tol=1e-7, device="cuda")
    assert_optimal(found, 1e-7, solve(problem, tol=1e-8))


def test_equal_runs_have_equal_bits() -> None:
    first, second = (solve(problems(300)["squared"], device="host") for _ in range(2))
    assert first.dual is not None
    assert first.iterations == second.iterations
    assert np.array_equal(first.dual, np.asarray(second.dual))


@pytest.mark.device
def test_equal_runs_on_a_card_have_equal_bits() -> None:
    points = np.tile(SCALED, (9, 1)) + RNG.normal(size=(9 * len(SCALED), 30))
    problem = classification(points, np.tile(LABELS, 9), 10.0, rbf(0.05))
    first, second = (solve(problem, device="cuda") for _ in range(2))
    assert first.iterations == second.iterations
    assert np.array_equal(np.asarray(first.dual), np.asarray(second.dual))


def test_optimum_is_that_of_libsvm() -> None:
    problem = classification(SCALED, LABELS, 1.0, rbf(1 / 30))
    model = SVC(C=1.0, gamma=1 / 30, tol=1e-9).fit(SCALED, LABELS)
    beta = np.zeros(problem.m)
    beta[model.support_] = model.dual_coef_[0]
    f = problem.gram @ beta
    theirs = problem.primal(f, float(beta @ f), problem.bias_at(f))
    found = solve(problem, tol=1e-8, device="host").interval
    assert found.lower <= theirs * (1 + 1e-12)
    assert found.upper <= theirs * (1 + 2e-8)


def test_warm_start_and_callback_are_those_of_solve() -> None:
    problem, seen = problems(300)["rbf"], []
    first = solve(problem, device="host")
    again = solve(problem, warm_start=first, device="host", callback=lambda *at: seen.append(at))
    assert again.ok
    assert len(seen) == 1


@pytest.mark.parametrize("device", ["cpu", "host"])
def test_grid_has_the_optima_of_single_runs(device: str) -> None:
    problem = problems(200)["rbf"]
    held_out = np.arange(200) % 5 == 0
    for solution in solve_grid(problem, [0.1, 1.0, 10.0], [held_out, ~held_out], device=device):
        assert_optimal(solution, 1e-6, solve(solution.problem, tol=1e-8))


def test_estimators_fit_on_a_device() -> None:
    for kind, target in ((MarginClassifier, SIGNS), (MarginRegressor, TARGETS)):
        fitted = {
            device: kind(kernel="rbf", tol=1e-9, device=device).fit(X, target)
            for device in ("cpu", "host")
        }
        found, expected = (fitted[device].predict(X) for device in ("host", "cpu"))
        assert np.abs(found - expected).max() <= 1e-3
        with pytest.raises(ValueError, match="device must be 'cpu', 'cuda'"):
            kind(device="card").fit(X, target)


def test_comparison_has_one_more_answer_of_a_device() -> None:
    problem = problems(60)["rbf"]
    answers = compare([problem], solvers="smo", device="host").answers
    assert {answer["solver"] for answer in answers} == {"smo", "smo on host"}
    assert {answer["agreement"] for answer in answers} == {"agrees"}


def test_comparison_on_a_missing_card_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ValueError, match="device='cuda' needs CuPy"):
        compare([problems(60)["rbf"]], solvers="smo", device="cuda")


@pytest.mark.parametrize("part", ["follow", "product"])
def test_point_of_a_run_out_of_memory_is_returned(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problems(300)["rbf"]

    def fails(self: object, *_: object) -> None:
        raise MemoryError("Out of memory allocating 8,000 bytes")

    monkeypatch.setattr(method.DeviceSet, part, fails)
    found = solve(problem, device="host")
    assert found.status is Status.TOO_LARGE
    assert found.reason == "memory ran out (Out of memory allocating 8,000 bytes)"
    assert np.isfinite(found.upper)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (ranking(SCALED, LABELS), "there is no bias"),
        (ordinal(SCALED, np.arange(569) % 3), "there are 2 thresholds"),
        (classification(SCALED, LABELS, bias=False), "there is no bias"),
        (classification(SCALED, LABELS, np.inf), "hard rows"),
        (classification(SCALED, LABELS, kernel=sigmoid(0.1, 0.0)), "semidefinite"),
    ],
)
def test_unsupported_problems_are_refused(problem: MarginProblem, message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        solve(problem, device="cuda")
    assert "leave out device to use the processor" in str(raised.value)


def test_solvers_of_the_processor_are_refused() -> None:
    with pytest.raises(ValueError, match="newton runs on the processor only: leave out device="):
        solve(problems(20)["rbf"], "newton", device="cuda")


def test_unknown_solvers_are_named() -> None:
    with pytest.raises(ValueError, match="unknown solver 'sm'"):
        solve(problems(20)["rbf"], "sm", device="cuda")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "", 0, None, "CUDA"])
def test_unknown_devices_are_refused(device: Any) -> None:
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda' or 'cuda:1'"):
        solve(problems(20)["rbf"], device=device)


def cupy_with(count: Callable[[], int]) -> SimpleNamespace:
    """Return a CuPy of so many cards."""
    runtime = SimpleNamespace(getDeviceCount=count, CUDARuntimeError=RuntimeError)
    device = SimpleNamespace(compute_capability="75")
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device=lambda number: device))


def no_driver() -> int:
    """Fail as CuPy does without a driver."""
    raise RuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")


@pytest.mark.parametrize(
    ("module", "device", "message"),
    [
        (None, "cuda", r"device='cuda' needs CuPy, .*: pip install 'equimargin\[gpu\]'"),
        (cupy_with(no_driver), "cuda", r"finds no CUDA card \(cudaErrorNoDevice: .*leave out dev"),
        (cupy_with(lambda: 0), "cuda", r"finds no CUDA card \(the driver lists none\)"),
        (cupy_with(lambda: 2), "cuda:2", "names no visible card: there are 2, the last one is "),
        (cupy_with(lambda: 2), "cuda:1", "has compute capability 7.5, and the kernels need 8.0"),
    ],
)
def test_missing_cards_are_named(
    module: Any, device: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", module)
    with pytest.raises(ValueError, match=message):
        solve(problems(20)["rbf"], device=device)


def test_memory_is_checked_before_the_run(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = "needs 0.1 GB for this problem, and 0.0 GB are free; take fewer points or features"
    with (
        emulated_card(kernels, monkeypatch, free_bytes=10_000.0),
        pytest.raises(ValueError, match=message),
    ):
        solve(problems(20)["rbf"], device="cuda")
    check_memory(1e9, 1e9, "cuda")


def test_newton_steps_take_the_memory_that_the_run_leaves(tmp_path: Path) -> None:
    problem, sizes = problems(300)["rbf"], []
    needed = count_bytes(problem.gram) + 4.0 * 300**2
    for spare in (0.0, 8.0 * 5 * 100**2):
        card: Any = StrictCard(tmp_path, needed + spare)
        run = begin(card, problem, None, Limits(device="cuda"), Workspace())
        sizes.append(run.working.costs.max_face)
    assert sizes == [0, 100]


def test_face_fits_into_the_memory() -> None:
    assert largest_face(1e12) == 38_000
    assert largest_face(8.0 * 5 * 1000**2) == 1000
    assert largest_face(-1.0) == 0


def test_import_does_not_load_cupy() -> None:
    code = (
        "import equimargin, equimargin.solvers.device.method, sys;"
        "from equimargin.solvers import *;"
        "sys.exit('cupy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=HANG).returncode == 0


def test_functions_and_methods_exist_in_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    assert not {name for name in FUNCTIONS if not hasattr(cupy, name)}
    assert not {name for name in METHODS if not hasattr(cupy.ndarray, name)}
    assert issubclass(cupy.cuda.memory.OutOfMemoryError, MemoryError)
    assert card_module.Card is Card


@needs_a_compiler
def test_solution_of_a_card_is_proven_on_the_card(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problems(24)["rbf"]
    with emulated_card(kernels, monkeypatch):
        found = solve(problem, device="cuda")
    assert found.problem.gram.multiplier == CardMultiplier("cuda")
    assert problem.gram.multiplier is multiply
    assert found.interval.relative_width <= 2e-6
