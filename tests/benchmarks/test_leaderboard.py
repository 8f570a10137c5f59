"""The leaderboard of trust: nobody's crash, hang or word decides, and a model is measured from its coefficients."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from equimargin.solvers import solve
from places import ROOT

BROUGHT = """
import os
import numpy as np

class SVC:
    def __init__(self, **options):
        self.C = options["C"]

    def fit(self, X, y):
        if self.C == 1:
            {small}
        self.support_, self.dual_coef_, self.intercept_ = np.arange(len(y)), np.zeros((1, len(y))), [0.0]
        return self
"""
"""A package that behaves badly at C = 1, and answers with the function 0 otherwise."""


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, Any]]:
    """The modules of benchmarks/trust, by their names."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield {name: importlib.import_module(f"trust.{name}") for name in ("instances", "fits", "runs", "judge", "page")}
    sys.path.remove(str(ROOT / "benchmarks"))


def test_every_entry_of_the_table_can_be_called(modules: dict[str, Any]) -> None:
    entries = modules["runs"].packages()
    assert {entry.fit for entry in entries} <= set(modules["fits"].FITS)
    assert {problem for entry in entries for problem in entry.problems} == set(modules["instances"].PROBLEMS)
    assert all(len(entry.tolerances) == 3 and entry.tolerances == tuple(sorted(entry.tolerances, reverse=True)) for entry in entries)


@pytest.mark.parametrize(
    ("small", "failure"),
    [
        ("os.abort()", "crashed by SIGABRT"),
        ("while len(y) > 90: pass", "more than 0.5 CPU seconds"),
        ("raise ValueError('no such kernel')", "ValueError: no such kernel"),
    ],
)
def test_a_package_that_ends_badly_ends_its_own_run_alone(
    small: str, failure: str, modules: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "brought.py").write_text(BROUGHT.format(small=small), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    runs, Instance = modules["runs"], modules["instances"].Instance
    package = runs.Package("brought", "brought", "brought", "svc", (1e-1, 1e-3), {"rbf hinge": {"module": "brought"}})
    chosen = [Instance("wine", "rbf hinge", 1.0), Instance("wine", "linear hinge", 1.0), Instance("wine", "rbf hinge", 100.0)]
    found = list(runs.runs(package, chosen, tmp_path, 0.5, 0))
    assert [run.failure for run in found] == [failure, failure, "", ""]
    (tmp_path / "brought.py").unlink()
    assert list(runs.runs(package, chosen, tmp_path, 0.5, 0)) == found  # a command that was ended goes on from what is in the folder
    problem = modules["judge"].problem_of(chosen[2])
    optimum = modules["judge"].optimum_of(problem)
    judged = [modules["judge"].judged(run, problem, optimum) for run in found[2:]]
    expected = (100.0 * problem.m - optimum.upper) / optimum.upper
    assert [result.excess[1] for result in judged] == pytest.approx([expected, expected])
    assert [bool(result.wrong) for result in judged] == [False, True]  # the loosest tolerance promises nothing


@pytest.fixture(scope="module")
def answered(modules: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose file has a good model, the problem, and its optimum."""
    instance = modules["instances"].Instance("wine", "linear hinge", 1.0)
    problem, file = modules["judge"].problem_of(instance), tmp_path_factory.mktemp("models") / "good.npz"
    w = solve(problem, tol=1e-9).w
    assert w is not None
    np.savez(file, w=w, b=0.0)
    return modules["runs"].Run("good", instance, 1e-9, False, file, 0.1, True), problem, modules["judge"].optimum_of(problem)


def test_a_good_model_is_near_the_optimum_and_says_nothing_false(answered: Any, modules: dict[str, Any]) -> None:
    run, problem, optimum = answered
    result = modules["judge"].judged(replace(run, claimed=optimum.upper), problem, optimum)
    assert 0 <= result.excess[0] <= result.excess[1] < 2e-9
    assert result.wrong == ""


@pytest.mark.parametrize(
    ("factor", "dual", "words"),
    [
        (1.0001, True, "states a dual objective"),
        (0.9999, False, "below the optimum"),
        (1.1, False, "for a model of"),
        (0.9999, True, ""),
        (1.0001, False, ""),
    ],
)
def test_a_stated_objective_that_cannot_be_is_called_false(
    factor: float, dual: bool, words: str, answered: Any, modules: dict[str, Any]
) -> None:
    run, problem, optimum = answered
    result = modules["judge"].judged(replace(run, claimed=factor * optimum.upper, dual=dual), problem, optimum)
    assert words in result.wrong
    assert bool(words) == bool(result.wrong)


def test_a_model_of_another_size_or_that_is_not_finite_is_a_failure(answered: Any, modules: dict[str, Any], tmp_path: Path) -> None:
    run, problem, optimum = answered
    for w, words in ((np.zeros(3), "3 coefficients, not 14"), (np.full(14, np.nan), "not finite")):
        np.savez(tmp_path / "bad.npz", w=w, b=0.0)
        result = modules["judge"].judged(replace(run, file=tmp_path / "bad.npz"), problem, optimum)
        assert result.excess is None
        assert words in result.wrong


def test_the_page_ranks_by_time_and_counts_a_problem_that_is_not_solved_as_the_limit(answered: Any, modules: dict[str, Any]) -> None:
    run, _, _ = answered
    page, Judged = modules["page"], modules["judge"].Judged
    results = [
        Judged(replace(run, package="slow", seconds=1.0), (0.0, 1e-9), None, ""),
        Judged(replace(run, package="rough", seconds=0.1), (0.0, 1e-3), None, ""),
    ]
    slow, rough = page.standings(results, "linear hinge", 10.0)
    assert (slow.package, rough.package) == ("slow", "rough")
    assert rough.seconds == pytest.approx({1e-2: 0.1, 1e-4: 10.0, 1e-6: 10.0})
    assert rough.reached == {1e-2: 1, 1e-4: 0, 1e-6: 0}
