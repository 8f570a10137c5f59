"""Conjugate gradients on a face: dense systems, and runs whose faces have no room."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emulated.arrays import StrictCard, strict_cupyx
from emulated.kernels import needs_a_compiler
from equimargin.formulations import MarginProblem, classification, linear, rbf, regression
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.solvers import Status, solve
from equimargin.solvers.device import conjugate, method
from equimargin.solvers.device.conjugate import ConjugateGradients, ImplicitFace
from equimargin.solvers.device.face import largest_face
from equimargin.solvers.device.method import begin
from equimargin.solvers.device.products import count_bytes
from equimargin.solvers.dual.newton_on_face import SMALL_FACE, factor_face, maximise_on_face
from equimargin.solvers.products.tiles import tiles
from equimargin.solvers.solution import Limits

RNG = np.random.default_rng(7)
X = RNG.normal(size=(300, 6))
SIGNS = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0, 1.0, -1.0)
TARGETS = np.sin(X[:, 0]) + X[:, 1] ** 2 + RNG.normal(size=300) / 5


def recorded(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    """Return a function that appends its arguments to a list."""

    def run(*given: Any) -> Any:
        calls.append(given)
        return function(*given)

    return run


def never() -> bool:
    """Return False: there is time."""
    return False


def system(ridge: float, landmarks: int, gamma: float = 0.2) -> tuple[Any, ConjugateGradients, Any]:
    """Return a face as a matrix, the solver of its systems, and a right-hand side."""
    problem = classification(X, SIGNS, 1.0, rbf(gamma))
    points, ridges = RNG.permutation(300)[:200], np.zeros(300)
    ridges[points] = ridge * RNG.uniform(1, 2, 200)
    H = ImplicitFace(tiles(problem.gram, 1.0), ridges, points, points)
    solver = ConjugateGradients.of(H, np.ones(300), landmarks, factor_face, never)
    assert solver is not None
    K = problem.gram.dense[np.ix_(points, points)]
    return K + np.diag(ridges[points]), solver, RNG.normal(size=200)


def test_parts_and_products_are_those_of_the_matrix() -> None:
    matrix, solver, v = system(0.5, 20)
    some, others = np.flatnonzero(v > 0), v <= 0
    for part in ((slice(None), some), (some, slice(None)), (some, others)):
        expected = matrix[part[0]][:, part[1]]
        found = solver.H[part[0]][:, part[1]] @ v[part[1]]
        assert found == pytest.approx(expected @ v[part[1]], abs=1e-10)
    assert len(solver.H[some][:, some]) == len(some)


@pytest.mark.parametrize("landmarks", [16, 100, 200])
def test_solutions_are_those_of_the_dense_system(landmarks: int) -> None:
    matrix, solver, v = system(0.01, landmarks)
    d = solver.solve(v)
    assert np.abs(matrix @ d - v).max() <= 1e-2 * np.abs(v).max()
    assert d == pytest.approx(np.linalg.solve(matrix, v), rel=1e-2, abs=1e-2 * np.abs(d).max())


def test_landmarks_spare_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    products = ImplicitFace.__matmul__
    steps: list[Any] = []
    monkeypatch.setattr(ImplicitFace, "__matmul__", recorded(products, steps))
    counts = []
    for landmarks in (1, 100):
        steps.clear()
        _, solver, v = system(1e-3, landmarks, 0.02)
        solver.solve(v)
        counts.append(len(steps))
    assert counts[1] < 0.5 * counts[0]
    assert max(counts) <= conjugate.MOST_STEPS


def test_an_early_end_is_a_direction_of_ascent() -> None:
    matrix, solver, v = system(1e-4, 16)
    left = iter([False] * 3 + [True] * 100)
    d = replace(solver, out_of_time=lambda: next(left)).solve(v)
    assert v @ d - d @ matrix @ d / 2 > 0
    assert not replace(solver, out_of_time=lambda: True).solve(v).any()


def test_directions_without_time_are_finite() -> None:
    matrix, solver, v = system(1e-4, 16)
    box = np.full(200, -1.0), np.full(200, 1.0)

    def late(*_: object) -> ConjugateGradients:
        return replace(solver, out_of_time=lambda: True)

    x = maximise_on_face(solver.H, v, np.zeros(200), *box, True, 3, never, late)
    assert np.isfinite(x).all()
    assert v @ x - x @ matrix @ x / 2 >= 0
    assert abs(x.sum()) <= 1e-9


def problems(m: int) -> dict[str, MarginProblem]:
    """Return problems that end by Newton steps."""
    return {
        "hinge": classification(X[:m], SIGNS[:m], 10.0, rbf(0.2)),
        "squared": classification(X[:m], SIGNS[:m], 10.0, rbf(0.2), "squared_hinge"),
        "tube": regression(X[:m], TARGETS[:m], 10.0, 0.1, rbf(0.2)),
        "linear": classification(X[:m], SIGNS[:m], 0.5, linear()),
    }


@pytest.mark.parametrize("name", list(problems(2)))
def test_runs_without_room_for_a_matrix_reach_the_optimum(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = replace(method.DeviceSet.costs, max_face=0, face=0, factorisation=0)
    monkeypatch.setattr(method.DeviceSet, "costs", costs)
    monkeypatch.setattr(method, "SMALL_FACE", 0)
    solve_system = ConjugateGradients.solve
    solved: list[Any] = []
    monkeypatch.setattr(ConjugateGradients, "solve", recorded(solve_system, solved))
    problem = problems(300)[name]
    found, expected = solve(problem, "smo", 1e-9, device="host"), solve(problem, tol=1e-9)
    assert found.status is Status.OPTIMAL, found.reason
    assert found.interval.relative_width <= 2e-9
    assert max(found.lower, expected.lower) <= min(found.upper, expected.upper)
    assert solved


@needs_a_compiler
@pytest.mark.parametrize("name", list(problems(2)))
def test_systems_on_an_emulated_card_are_those_of_the_host(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method, "SMALL_FACE", 0)
    for module, stand_in in strict_cupyx().items():
        monkeypatch.setitem(sys.modules, module, stand_in)
    problem = problems(60)[name]
    card: Any = StrictCard(tmp_path)
    on_card = begin(card, problem, None, Limits(device="cuda"), Workspace())
    on_host = begin(None, problem, None, Limits(device="host"), Workspace())
    v, ridge, images = RNG.normal(size=40), RNG.uniform(0.1, 0.2, 40), []
    solved = []
    for run in (on_card, on_host):
        working: Any = run.working
        working.costs = replace(working.costs, max_face=0)
        points = working.placed(np.arange(5, 45))
        H = working.face(points, working.placed(ridge))
        images.append(working.fetched(H @ working.placed(v)))
        solved.append(working.fetched(working.factor(H, never).solve(working.placed(v))))
    assert images[0] == pytest.approx(images[1], abs=1e-4)
    assert solved[0] == pytest.approx(solved[1], rel=1e-2, abs=1e-2 * np.abs(v).max())


def test_a_large_face_takes_the_memory_that_the_run_leaves(tmp_path: Path) -> None:
    problem, found = problems(300)["hinge"], []
    needed = count_bytes(problem.gram) + 4.0 * 300**2
    for spare in (0.0, 32.0 * 300 * 40, 1e12):
        card: Any = StrictCard(tmp_path, needed + spare)
        working: Any = begin(card, problem, None, Limits(device="cuda"), Workspace()).working
        face = max(largest_face(spare), SMALL_FACE) + 1
        found.append((working.landmarks, np.isfinite(working.newton_work(face)[0])))
    assert found == [(0, False), (40, True), (1024, True)]


def test_small_faces_have_a_matrix_whatever_the_memory(tmp_path: Path) -> None:
    problem = problems(300)["hinge"]
    card: Any = StrictCard(tmp_path, count_bytes(problem.gram) + 4.0 * 300**2)
    working: Any = begin(card, problem, None, Limits(device="cuda"), Workspace()).working
    assert working.landmarks == 0
    assert working.stores_matrix(SMALL_FACE)
    assert not working.stores_matrix(SMALL_FACE + 1)
