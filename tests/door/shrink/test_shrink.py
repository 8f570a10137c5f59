"""Shrunk failing cases: the same failure by the same solver, on less data.

They are written as Python that runs and as JSON that can be loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from equimargin import compare
from equimargin.cli.app import app
from equimargin.equivalence.reproduction import Code
from equimargin.formulations import (
    REGISTRY,
    MarginProblem,
    OneNormProblem,
    classification,
    polynomial,
    ranking_from_pairs,
    rbf,
    regression,
)
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.own.plugins import LOADED, load
from equimargin.request import ComparisonRequest
from equimargin.shrink import Finding, Instance, Shrunk, findings, reduced, shrink
from equimargin.shrink.finding import DISAGREES, RAISES, SLOW, compared
from equimargin.solvers import SOLVERS
from equimargin.testing import CANONICAL, draw_problem, sample_problem
from places import HANG

RUN = CliRunner()
PLUGIN = """
import time
import cvxpy as cp
import numpy as np
from equimargin.formulations import MarginProblem
from equimargin.own import Family, Source
from equimargin.solvers import Requirements, solver


def points(m, d, least=0):
    from hypothesis import strategies as st
    return st.just({"X": np.arange(float(m * d)).reshape(m, d), "y": np.ones(m), "least": 0.5})


nearest = Family("shrink_nearest", Source("a test", "(1)"), data=lambda: points(6, 3))


@nearest.formulation("primal")
def primal(d):
    x = cp.Variable(d["X"].shape[1], name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [d["X"] @ x >= d["y"]])


@nearest.formulation("wrong")
def wrong(d):
    x = cp.Variable(d["X"].shape[1], name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [d["X"] @ x >= d["y"]])


@solver("shrink_raises", "svm.soft", algorithm="an exception", \
requires=Requirements(MarginProblem, losses=("hinge",)))
def raises(problem, limits, start):
    if (problem.X > 2).any():
        raise ZeroDivisionError("by zero")
    return {"beta": np.zeros(problem.m), "b": 0.0}


@solver("shrink_sleeps", "svm.soft", algorithm="a nap", \
requires=Requirements(MarginProblem, losses=("hinge",)))
def sleeps(problem, limits, start):
    from equimargin.solvers import solve
    time.sleep(0.3 if problem.m > 2 else 0.0)
    return solve(problem, "smo").point
"""
"""Plug-in with a wrong formulation, a solver that raises, and a slow solver.

One raises where a feature is above 2; the other is slow on three points and more.
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Path]:
    """Yield the plug-in, loaded."""
    file = tmp_path / "plug_in_to_shrink.py"
    file.write_text(PLUGIN, encoding="utf-8")
    load(str(file))
    yield file
    for name in ("shrink_raises", "shrink_sleeps"):
        del SOLVERS[name]
    for id in [id for id in REGISTRY if id.startswith("shrink_nearest")]:
        del REGISTRY[id]
    FAMILIES.forget("shrink_nearest")
    LOADED.pop(file.stem)
    del sys.modules[file.stem]
    sys.path.remove(str(tmp_path))


def command(*arguments: object) -> tuple[int, str]:
    """Return the exit status and the complete output of `equimargin shrink`."""
    result = RUN.invoke(app, ["shrink", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def ran(lines: str, folder: Path) -> str:
    """Return the output of lines of Python run in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", lines], cwd=folder, capture_output=True, text=True, timeout=HANG
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def larger_than(number: float) -> Any:
    """Return a predicate that is true if an instance has a feature above a number."""
    return lambda instance: bool((instance.arguments["X"] > number).any())


# Search


@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("family", CANONICAL)
def test_an_instance_makes_its_problem_again(family: str, number: int) -> None:
    problem = draw_problem(family, 5, number)
    instance = Instance.of(problem)
    for again in (instance, Instance.from_text(instance.text)):
        made = again.problem()
        assert type(made) is type(problem)
        assert isinstance(made, MarginProblem | OneNormProblem)
        assert (made.family, made.p, made.C, made.kernel) == (
            problem.family,
            problem.p,
            problem.C,
            problem.kernel,
        )
        assert np.array_equal(np.asarray(made.X), np.asarray(problem.X))
        assert np.array_equal(made.costs, problem.costs)
    code = Code()
    names: dict[str, Any] = {}
    expression = instance.expression(code)
    exec("\n".join([*code.lines(), f"problem = {expression}"]), names)
    assert np.array_equal(names["problem"].costs, problem.costs)


def test_pairs_follow_their_points() -> None:
    X, pairs = np.arange(10.0).reshape(5, 2), np.array([[0, 1], [2, 3], [4, 2]])
    instance = Instance.of(ranking_from_pairs(X, pairs, pair_weight=[1.0, 2.0, 3.0]))
    less = instance.keeping(instance.axes[0], np.array([2, 3, 4]))
    assert less.arguments["pairs"].tolist() == [[0, 1], [2, 0]]
    assert less.arguments["pair_weight"].tolist() == [2.0, 3.0]


def test_a_search_ends_at_what_matters_alone() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 7)), np.resize([1.0, -1.0], 200)
    X[77, 3] = 5.4321
    problem = classification(
        X, y, C=3.7, kernel=polynomial(2, 0.3), sample_weight=rng.uniform(size=200)
    )
    found = reduced(Instance.of(problem), larger_than(5.0), 60.0)
    assert found.complete
    assert found.instance.arguments["X"].tolist() == [[6.0]] or found.instance.arguments[
        "X"
    ].tolist() == [[5.4]]
    assert set(found.instance.arguments) == {"X", "y"}
    assert found.tried < 200


def test_a_search_without_time_hands_back_what_it_was_given() -> None:
    instance = Instance.of(sample_problem("svm.soft"))
    found = reduced(instance, lambda _: True, 0.0)
    assert found.instance is instance
    assert not found.complete


def test_what_raises_an_exception_shows_nothing() -> None:
    instance = Instance.of(sample_problem("svr.l1"))

    def failing(_: Instance) -> bool:
        raise ZeroDivisionError

    assert reduced(instance, failing, 60.0).instance is instance


def test_sides_of_a_tube_with_weights_of_their_own_are_said() -> None:
    problem = regression([[1.0], [2.0]], [1.0, 2.0], sample_weight=[1.0, 2.0])
    assert isinstance(problem, MarginProblem)
    assert Instance.of(problem).arguments["sample_weight"].tolist() == [1.0, 2.0]
    assert problem.weights is not None
    problem.weights[0] = 5.0
    with pytest.raises(ValueError, match="the weights above the tube differ"):
        Instance.of(problem)


# Failing cases


def test_a_wrong_formulation_is_refuted_on_two_points(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    problem = classification(rng.normal(size=(30, 4)), np.resize([1.0, -1.0], 30), 2.5, rbf(0.37))
    asked = ComparisonRequest(
        ("svm.soft.dual.as_printed", "svm.soft.dual"), include_controls=True, patient=True
    )
    small, said = shrink(problem, None, asked)
    assert small.finding == Finding(DISAGREES, "svm.soft.dual.as_printed", "CLARABEL")
    assert said.startswith("from 30 rows x 4 columns to 2 rows x 1 column in ")
    assert len(small.python.splitlines()) <= 10
    assert "disagrees" in ran(small.python, tmp_path)


@pytest.mark.slow
def test_a_solver_that_raises_does_so_on_one_number(plugin: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    X[5, 1] = 3.14159
    problem = classification(X, np.resize([1.0, -1.0], 40))
    small, _ = shrink(
        problem, Finding(RAISES, None, "shrink_raises", "ZeroDivisionError"), plugins=(str(plugin),)
    )
    assert small.instance.arguments["X"].shape == (1, 1)
    assert "ZeroDivisionError" in ran(small.python, tmp_path)


@pytest.mark.slow
def test_a_slow_answer_stays_as_slow(plugin: Path) -> None:
    rng = np.random.default_rng(3)
    problem = classification(rng.normal(size=(12, 2)), np.resize([1.0, -1.0], 12))
    asked = ComparisonRequest(solvers=("smo", "shrink_sleeps"), patient=True)
    assert [each.solver for each in findings(compared(problem, asked), 3.0)] == ["shrink_sleeps"]
    small, _ = shrink(problem, Finding(SLOW, None, "shrink_sleeps", ratio=3.0), asked)
    assert small.instance.arguments["X"].shape[0] <= 3


def test_there_is_nothing_to_shrink_where_all_agree() -> None:
    with pytest.raises(ValueError, match="there is no finding"):
        shrink(
            sample_problem("svm.soft"),
            None,
            ComparisonRequest(solvers=("smo", "newton"), patient=True),
        )
    with pytest.raises(
        ValueError, match=r"does not show that svm\.soft\.dual by CLARABEL disagrees"
    ):
        shrink(
            sample_problem("svm.soft"),
            Finding(DISAGREES, "svm.soft.dual", "CLARABEL"),
            ComparisonRequest(solvers=("smo", "CLARABEL"), patient=True),
        )


# Command


@pytest.mark.slow
def test_the_command_prints_stores_and_takes_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, output = command("iris", "--scale", "--formulation", "svm.soft.dual.as_printed")
    assert status == 1, output
    first, _, rest = output.partition("\n")
    assert first.startswith(
        "svm.soft.dual.as_printed by CLARABEL disagrees: from 100 rows x 4 columns to 2 "
        "rows x 1 column in "
    )
    held = json.loads((tmp_path / "finding.json").read_text())
    assert "\n".join(held["python"]) in rest
    assert "disagrees" in ran("\n".join(held["python"]), tmp_path)
    status, output = command("finding.json", "--json", "again.json")
    assert status == 1
    assert "from 2 rows x 1 column to 2 rows x 1 column" in output
    assert (
        Shrunk.read(tmp_path / "again.json").instance.text
        == Shrunk.read(tmp_path / "finding.json").instance.text
    )
    assert (
        json.loads((tmp_path / "again.json").read_text())["of"]
        == held["of"]
        == "100 rows x 4 columns"
    )


def test_a_seed_draws_instances_of_a_family(tmp_path: Path) -> None:
    arguments = [
        "7",
        "--family",
        "rank.l1",
        "--formulation",
        "rank.l1.dual.as_printed",
        "--json",
        tmp_path / "small.json",
    ]
    status, output = command(*arguments)
    assert status == 1, output
    assert output.startswith("rank.l1.dual.as_printed by CLARABEL disagrees: from ")
    status, output = command("7", "--json", tmp_path / "small.json")
    assert status == 2
    assert "name one of ord.implicit, ord.implicit_l2" in output


@pytest.mark.slow
def test_a_wrong_formulation_of_ones_own(plugin: Path, tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    status, output = command("1", "--family", "shrink_nearest", "--plugin", plugin, "--json", file)
    assert status == 1, output
    assert output.startswith("shrink_nearest.wrong by ")
    assert "disagrees: from 6 rows x 3 columns to 1 row x 1 column in " in output
    small = Shrunk.read(file)
    assert small.instance.arguments["X"].size == 1
    assert "disagrees" in ran(small.python, tmp_path)


def test_where_all_agree_the_command_says_so(tmp_path: Path) -> None:
    assert command(
        "xor", "--solver", "smo", "--family", "svm.soft", "--json", tmp_path / "none.json"
    ) == (
        0,
        "There is no failing case: no answer disagrees, fails or is slow.\n",
    )
    assert not (tmp_path / "none.json").exists()


# Third-party files


@pytest.mark.parametrize(
    "change",
    [
        {"format": "equimargin finding 2"},
        {"finding": 3},
        {"instance": {"made_by": "eval", "arguments": {}, "module": ""}},
        {
            "instance": {
                "made_by": "classification",
                "arguments": {"X": {"array": [], "dtype": "object", "shape": [0]}},
                "module": "",
            }
        },
        {"asked": {"formulations": "*", "more": 1}},
        {"plugins": None},
    ],
)
def test_a_file_that_holds_no_finding_is_a_sentence(
    tmp_path: Path, change: dict[str, object]
) -> None:
    small = Shrunk(
        "a sentence", ComparisonRequest(patient=True), Instance.of(sample_problem("svm.soft"))
    )
    file = tmp_path / "finding.json"
    file.write_text(json.dumps(json.loads(small.to_json()) | change))
    with pytest.raises(ValueError, match=r"finding\.json holds no finding of equimargin shrink: "):
        Shrunk.read(file)


def test_nothing_that_a_file_names_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "harmful.py").write_text("raise SystemExit('imported')")
    instance = Instance("unknown_family", {"end": 1.0}, "harmful")
    (tmp_path / "finding.json").write_text(
        Shrunk(
            "said",
            ComparisonRequest(patient=True),
            instance,
            ("harmful", str(tmp_path / "harmful.py")),
        ).to_json()
    )
    status, output = command("finding.json", "--json", "other.json")
    assert status == 2
    assert (
        "unknown_family is not known: name the module that registers it (--plugin harmful)"
        in output
    )


@pytest.mark.slow
def test_the_python_of_a_shipped_family_runs(tmp_path: Path) -> None:

    id = next(
        id
        for id, family in FAMILIES.items()
        if family.module == "equimargin.formulations.field.lasso"
    )
    from equimargin.own.instances import drawn

    instance = Instance.of(FAMILIES[id](drawn(FAMILIES[id], 0)))
    again = Instance.from_text(instance.text)
    assert again.text == instance.text
    lines = Shrunk("said", ComparisonRequest(solvers=("CLARABEL",), patient=True), again).python
    assert compare(again.problem(), solvers="CLARABEL").families[0].id in ran(lines, tmp_path)
