"""Files of benchmarks/benchopt, with the base classes of benchopt replaced."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

from places import ROOT

FOLDER = ROOT / "benchmarks/benchopt"


class Base:
    """Base class without methods, in place of benchopt's."""


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that returns an object of the class of a file."""
    benchopt: Any = ModuleType("benchopt")
    benchopt.BaseObjective = benchopt.BaseDataset = benchopt.BaseSolver = Base
    monkeypatch.setitem(sys.modules, "benchopt", benchopt)
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))

    def create(file: str, kind: str) -> Any:
        found = importlib.util.spec_from_file_location(f"benchopt_{kind}", FOLDER / file)
        assert found is not None
        assert found.loader is not None
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return getattr(module, kind)()

    return create


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("wine", "linear hinge"),
        ("wine", "linear squared_hinge"),
        ("wine", "rbf hinge"),
        ("iris", "rbf hinge pairs"),
    ],
)
def test_a_fit_is_near_the_optimum_and_the_function_0_is_not(
    data: str, problem: str, part: Any
) -> None:
    drawn, objective = part("datasets/leaderboard.py", "Dataset"), part("objective.py", "Objective")
    solver = part("solvers/package.py", "Solver")
    drawn.data, objective.problem, objective.C, solver.package = data, problem, 1.0, "equimargin"
    given = drawn.get_data()
    assert objective.skip(**given) == (False, None)
    objective.set_data(**given)
    assert objective.evaluate_result(**objective.get_one_result())["value"] > 1
    stated = objective.get_objective()
    assert solver.skip(**stated) == (False, None)
    solver.set_objective(**stated)
    solver.run(1e-5)
    found = objective.evaluate_result(**solver.get_result())
    assert 0 <= found["least"] <= found["value"] < 1e-5
    assert 0 < found["optimum_lower"] <= found["optimum_upper"]


def test_problems_of_other_data_are_skipped_with_the_reason(part: Any) -> None:
    drawn, objective = part("datasets/leaderboard.py", "Dataset"), part("objective.py", "Objective")
    drawn.data, objective.problem = "iris", "linear hinge"
    assert objective.skip(**drawn.get_data()) == (
        True,
        "the data set has no problem of this kind",
    )
