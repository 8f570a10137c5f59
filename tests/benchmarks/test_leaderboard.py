"""Benchmark of trust: crashes, hangs and status strings of a solver do not decide.

A model is measured from its coefficients.
"""

from __future__ import annotations

import importlib
import json
import os
import re
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
        self.support_, self.intercept_ = np.arange(len(y)), [0.0]
        self.dual_coef_ = np.zeros((1, len(y)))
        return self
"""
"""Package that fails at C = 1, and returns the function 0 otherwise."""


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, Any]]:
    """Yield the modules of benchmarks/trust by name."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield {
        name: importlib.import_module(f"trust.{name}")
        for name in ("instances", "fits", "runs", "judge", "page", "load")
    }
    sys.path.remove(str(ROOT / "benchmarks"))


def test_every_entry_of_the_table_can_be_called(modules: dict[str, Any]) -> None:
    entries = modules["runs"].packages()
    assert {entry.fit for entry in entries} <= set(modules["fits"].FITS)
    assert {problem for entry in entries for problem in entry.problems} == set(
        modules["instances"].PROBLEMS
    )
    assert all(
        len(entry.tolerances) == 3
        and entry.tolerances == tuple(sorted(entry.tolerances, reverse=True))
        for entry in entries
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("small", "failure", "kept"),
    [
        ("os.abort()", "crashed by SIGABRT", False),
        ("os._exit(1)", "its process ended with status 1", False),
        ("while len(y) > 90: pass", "more than 0.5 CPU seconds", True),
        ("raise ValueError('no such kernel')", "ValueError: no such kernel", True),
    ],
)
def test_a_package_that_ends_badly_ends_its_own_run_alone(
    small: str,
    failure: str,
    kept: bool,
    modules: dict[str, Any],
    brought: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "brought.py").write_text(BROUGHT.format(small=small), encoding="utf-8")
    runs, Instance = modules["runs"], modules["instances"].Instance
    # The load of other programs is ignored here.
    monkeypatch.setattr(runs, "LIMIT_SHARE", 1.0)
    chosen = [
        Instance("wine", "rbf hinge", 1.0),
        Instance("wine", "linear hinge", 1.0),
        Instance("wine", "rbf hinge", 100.0),
    ]
    processor = runs.processors()[0]
    found = list(runs.runs(brought, chosen, tmp_path, 0.5, processor))
    assert [run.failure for run in found] == [failure, failure, "", ""]
    (tmp_path / "brought.py").unlink()
    again = list(runs.runs(brought, chosen, tmp_path, 0.5, processor))
    # A command that was ended resumes from the results in the folder.
    assert again[2:] == found[2:]
    # Crashes are not included.
    assert again[0].failure == failure if kept else "No module named 'brought'" in again[0].failure
    parts = modules["judge"].parts_of(chosen[2])
    optimum = modules["judge"].optimum_of(parts)
    judged = [modules["judge"].judged(run, parts, optimum) for run in found[2:]]
    expected = (100.0 * parts[0].problem.m - optimum.upper) / optimum.upper
    assert [result.excess[1] for result in judged] == pytest.approx([expected, expected])
    # The largest tolerance promises nothing.
    assert [bool(result.wrong) for result in judged] == [False, True]


@pytest.fixture
def brought(modules: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return an entry for the package of BROUGHT, which lies in tmp_path."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return modules["runs"].Package(
        "brought", "brought", "brought", "svc", (1e-1, 1e-3), {"rbf hinge": {"module": "brought"}}
    )


@pytest.fixture
def leaderboard(modules: dict[str, Any]) -> Any:
    return importlib.import_module("leaderboard")


@pytest.mark.parametrize("small", ["os._exit(1)", "raise ValueError('no such kernel')"])
def test_a_package_that_fails_everywhere_stops_the_page_and_shows_its_standard_error(
    small: str,
    modules: dict[str, Any],
    brought: Any,
    leaderboard: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "brought.py").write_text(
        BROUGHT.format(small=f"os.write(2, b'a library is missing'); {small}"), encoding="utf-8"
    )
    monkeypatch.setattr(leaderboard, "packages", lambda: [brought])
    monkeypatch.setattr(modules["runs"].Package, "present", True)
    arguments = [
        "--seconds",
        "1",
        "--page",
        str(tmp_path / "page"),
        "--json",
        str(tmp_path / "figures.json"),
    ]
    monkeypatch.setattr(
        leaderboard,
        "instances",
        lambda only, quick: [modules["instances"].Instance("wine", "rbf hinge", 1.0)],
    )
    with pytest.raises(
        SystemExit,
        match=r"brought: all 2 runs failed.*\n(.*\n)*.*a library is missing(.*\n)*.*mend its entry",
    ):
        leaderboard.BENCHMARK.main("leaderboard", arguments)
    assert not (tmp_path / "page").exists()


def test_packages_are_measured_on_the_processors_that_the_process_may_use(
    modules: dict[str, Any], brought: Any, leaderboard: Any, tmp_path: Path
) -> None:
    """Started on one processor of two, the command bound processes to the second one.

    That ends them.
    """
    (tmp_path / "brought.py").write_text(BROUGHT.format(small="pass"), encoding="utf-8")
    chosen = [modules["instances"].Instance("wine", "rbf hinge", 1.0)]
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        found = leaderboard.measured(
            [brought, replace(brought, name="other")], chosen, tmp_path, 5.0
        )
    finally:
        os.sched_setaffinity(0, allowed)
    assert [run.failure for run in found] == [""] * 4


def test_times_of_a_loaded_machine_are_refused(modules: dict[str, Any]) -> None:
    load = modules["load"]
    load.refuse_load(100.0, 104.0, "")
    # A few fits are no evidence.
    load.refuse_load(0.01, 0.1, "")
    with pytest.raises(
        SystemExit,
        match=r"the machine is loaded: fits waited .* 7% of their time, not at most 5%; .* not "
        r"published: wait",
    ):
        load.refuse_load(93.0, 100.0, "wait")
    # Threads use more CPU seconds than wall time.
    assert load.share(9.0, 4.0) == 0.0


def test_the_page_of_a_loaded_machine_is_not_written(
    modules: dict[str, Any],
    brought: Any,
    leaderboard: Any,
    answered: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, _, _ = answered
    monkeypatch.setattr(leaderboard, "packages", lambda: [])
    monkeypatch.setattr(leaderboard, "instances", lambda only, quick: [])
    monkeypatch.setattr(leaderboard, "measured", lambda *_: [replace(run, seconds=1.0, wall=2.0)])
    arguments = ["--page", str(tmp_path / "page"), "--json", str(tmp_path / "figures.json")]
    with pytest.raises(
        SystemExit,
        match=r"the machine is loaded: .* 50% .*: run this again on a quiet machine",
    ):
        leaderboard.BENCHMARK.main("leaderboard", arguments)
    assert not (tmp_path / "page").exists()


def test_a_fit_that_waited_is_not_kept(
    modules: dict[str, Any], brought: Any, tmp_path: Path
) -> None:
    runs = modules["runs"]

    class Answers:
        wall = 1.2

        def asked(self, request: Any) -> dict[str, Any]:
            return {"seconds": 1.0, "wall": self.wall}

    worker, request = Answers(), {"file": str(tmp_path / "one.npz")}
    assert runs.answered(worker, request)["wall"] == 1.2
    worker.wall = 1.04
    assert runs.answered(worker, request)["wall"] == 1.04
    worker.wall = 1.0
    assert runs.answered(worker, request)["wall"] == 1.04


@pytest.mark.parametrize(
    "kept",
    [{"seconds": 1.0}, {"seconds": 1.0, "wall": 1.2}, {"failure": "RuntimeError: disk full"}],
    ids=["no wall", "waited", "no words"],
)
def test_an_answer_kept_without_what_shows_that_it_is_sound_is_asked_again(
    kept: dict[str, Any], modules: dict[str, Any], tmp_path: Path
) -> None:
    class Answers:
        def asked(self, request: Any) -> dict[str, Any]:
            return {"seconds": 1.0, "wall": 1.0}

    request = {"file": str(tmp_path / "one.npz")}
    (tmp_path / "one.npz.json").write_text(json.dumps(kept), encoding="utf-8")
    assert modules["runs"].answered(Answers(), request) == {"seconds": 1.0, "wall": 1.0}


@pytest.fixture(scope="module")
def answered(modules: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a run whose file has a good model, with its problems and their optimum."""
    instance = modules["instances"].Instance("wine", "linear hinge", 1.0)
    parts = modules["judge"].parts_of(instance)
    file = tmp_path_factory.mktemp("models") / "good.npz"
    w = solve(parts[0].problem, tol=1e-9).w
    assert w is not None
    np.savez(file, w=w, b=0.0)
    return (
        modules["runs"].Run("good", instance, 1e-9, False, file, 0.1, True),
        parts,
        modules["judge"].optimum_of(parts),
    )


def test_a_good_model_is_near_the_optimum_and_says_nothing_false(
    answered: Any, modules: dict[str, Any]
) -> None:
    run, parts, optimum = answered
    result = modules["judge"].judged(replace(run, claimed=optimum.upper), parts, optimum)
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
    run, parts, optimum = answered
    result = modules["judge"].judged(
        replace(run, claimed=factor * optimum.upper, dual=dual), parts, optimum
    )
    assert words in result.wrong
    assert bool(words) == bool(result.wrong)


def test_a_model_of_another_size_or_that_is_not_finite_is_a_failure(
    answered: Any, modules: dict[str, Any], tmp_path: Path
) -> None:
    run, parts, optimum = answered
    for w, words in ((np.zeros(3), "3 coefficients, not 14"), (np.full(14, np.nan), "not finite")):
        np.savez(tmp_path / "bad.npz", w=w, b=0.0)
        result = modules["judge"].judged(replace(run, file=tmp_path / "bad.npz"), parts, optimum)
        assert result.excess is None
        assert words in result.wrong


@pytest.mark.parametrize(
    "name", ["equimargin", "scikit-learn SVC", "LIBSVM", "sklearnex SVC", "thundersvm"]
)
def test_models_of_three_classes_in_any_order_are_near_the_optimum(
    name: str, modules: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each package has its own order and sign of the functions of pairs."""
    (package,) = (each for each in modules["runs"].packages() if each.name == name)
    if not package.present:
        pytest.skip(f"{package.package} is not installed; the extra `peers` has it")
    instances, fits, judge = (modules[part] for part in ("instances", "fits", "judge"))
    order = np.random.default_rng(0).permutation(178)
    X, y = (part[order] for part in instances.data("wine, 3 classes"))
    assert y[0] == 2
    monkeypatch.setattr(instances, "data", lambda name: (X, y))
    instance = instances.Instance("wine, 3 classes", "rbf hinge pairs", 1.0)
    task = fits.Task(
        X, y, 1.0, "hinge", instances.gamma(X), 1e-6, package.problems[instance.problem]
    )
    fit = fits.FITS[package.fit](task)
    model = fit.read(fit.run(), "", False)
    np.savez(tmp_path / "model.npz", beta=model.beta, b=model.b)
    parts = judge.parts_of(instance)
    run = modules["runs"].Run(name, instance, 1e-6, False, tmp_path / "model.npz")
    result = judge.judged(run, parts, judge.optimum_of(parts))
    assert result.excess[1] < 1e-5
    assert result.wrong == ""


def test_the_published_page_is_of_the_tool_and_of_packages_that_work(
    modules: dict[str, Any],
) -> None:
    """On every kind of problem each package came to a model at least once."""
    page, text = modules["page"], (ROOT / "docs" / modules["page"].NAME).read_text(encoding="utf-8")
    assert text.startswith(page.INTRODUCTION)
    assert page.METHOD in text
    assert re.search(
        r"^\*Measured on \d+ \w+ \d{4}, \w+, Python [\d.]+, load [\d.]+ on \d+ processors: ",
        text,
        re.MULTILINE,
    )
    problems = [int(number) for number in re.findall(r"^(\d+) problems; ", text, re.MULTILINE)]
    tables = [part.split("\n## ")[0] for part in text.split(" problems; ")[1:]]
    for number, table in zip(problems, tables, strict=True):
        failures = [
            int(line.split(" | ")[5]) for line in table.splitlines() if re.match(r"\| \d", line)
        ]
        assert len(failures) > 4
        assert max(failures) < number


def test_the_published_page_of_a_loaded_machine_has_no_times(modules: dict[str, Any]) -> None:
    """The tool itself makes a load of one a processor."""
    page, text = modules["page"], (ROOT / "docs" / modules["page"].NAME).read_text(encoding="utf-8")
    (circumstances,) = re.findall(r"load ([\d.]+) on (\d+) processors: ", text)
    load, processors = map(float, circumstances)
    has_times = page.PICTURE in text or re.search(r"\d m?s\b", text) is not None
    assert has_times == (load <= processors)
    assert has_times == (page.TIMES.format(seconds=10, ranked=page.RANKED) in text)


def test_the_page_ranks_by_time_and_counts_a_problem_that_is_not_solved_as_the_limit(
    answered: Any, modules: dict[str, Any]
) -> None:
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
