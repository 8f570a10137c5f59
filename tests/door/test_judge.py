"""`judge`: verdicts on the answers of several solvers, against optima known exactly."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests import solver_test_helpers
from typer.testing import CliRunner

from equimargin import judge
from equimargin.cli.app import app
from equimargin.formulations.programs.compiled import compile_program
from equimargin.judging import AnswerVerdict, ProgramAnswer, ProgramJudgement
from equimargin.solvers.backends.installed import GROUP, installed_backends
from equimargin.solvers.exact.program import Optimum, program_optimum
from places import HANG, ROOT

RUN = CliRunner()
MODEL = """Minimize
 obj: 2 x + 3 y
Subject To
 need: x + y >= 4
 most: x - y <= 2
Bounds
 0 <= x <= 10
 0 <= y <= 10
End
"""
"""Linear program with the optimum 9 at (3, 1)."""
WITH_OPTIMUM = (
    *(f"lp_{i}" for i in (0, 1, 2, 5, 7)),
    "lp_bound_attr",
    "qp_0",
    "qp_bound_attr",
    *(f"socp_{i}" for i in range(5)),
    "socp_bounds_attr",
)
"""cvxpy's own test problems with a finite optimum."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.lp"
    path.write_text(MODEL)
    return path


def budget() -> tuple[cp.Problem, cp.Variable]:
    """Return min x1 + 2 x2  s.t.  x1 + x2 == 1, x >= 0, whose optimum is 1 at (1, 0)."""
    x = cp.Variable(2, name="x", nonneg=True)
    total = (cp.sum(x) == 1).set_label("budget")
    return cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [total]), x


def by_name(judgement: ProgramJudgement) -> dict[str, ProgramAnswer]:
    return {answer.name: answer for answer in judgement.answers}


@pytest.mark.parametrize("name", WITH_OPTIMUM)
def test_optimum_of_cvxpy_tests_is_inside_and_accurate_solvers_agree(name: str) -> None:
    make: Any = getattr(solver_test_helpers, name, None)
    if make is None:
        pytest.skip(f"this cvxpy has no test problem {name}")
    case = make(axis=0) if name == "socp_3" else make()
    found = judge(case.prob, list(installed_backends()))
    slack = 1e-6 * (1 + abs(case.expect_val))
    assert found.bound.lower - slack <= case.expect_val <= found.bound.upper + slack
    assert found.bound.width <= 1e-7
    answers = by_name(found)
    assert {answers[solver].verdict for solver in ("CLARABEL", "SCS")} == {AnswerVerdict.AGREES}
    for answer in found.answers:
        if answer.verdict is AnswerVerdict.AGREES:
            assert answer.objective == pytest.approx(case.expect_val, rel=1e-4, abs=1e-4)


def test_verdicts_of_drawn_answers_are_those_of_the_exact_optimum() -> None:
    verdicts = set()
    for seed in range(25):
        rng = np.random.default_rng(seed)
        A, b = rng.integers(-3, 4, (4, 3)), rng.integers(1, 6, 4)
        c, x = rng.integers(-4, 5, 3), cp.Variable(3, name="x")
        problem = cp.Problem(cp.Maximize(c @ x), [A @ x <= b, x >= -1, x <= 1])
        outcome = program_optimum(compile_program(problem))
        assert isinstance(outcome, Optimum)
        exact = -float(outcome.value)
        problem.solve(solver="CLARABEL")
        best = np.array(x.value)
        sizes = {"small": 1e-9, "medium": 1e-5, "large": 1e-1}
        drawn = {name: {"x": best * (1 - size * rng.random(3))} for name, size in sizes.items()} | {
            "outside": {"x": best + 2.0 * rng.normal(size=3)}
        }
        for answer in judge(problem, ["HIGHS", "OSQP"], drawn).answers:
            assert answer.objective is not None
            assert answer.distance is not None
            assert answer.violation is not None
            off, scale = abs(answer.objective - exact), max(1.0, abs(exact))
            values = np.array(answer.values["x"])  # type: ignore[index]
            worst = max(0.0, (A @ values - b).max(), np.abs(values).max() - 1)
            assert answer.objective == pytest.approx(float(c @ values), abs=1e-12)
            assert answer.violation <= worst + 1e-12
            assert off <= answer.distance + 1e-12
            if answer.verdict is AnswerVerdict.AGREES:
                assert off <= 1.01e-6 * scale
            if answer.verdict is AnswerVerdict.FAR:
                assert off >= 0.99e-6 * scale
            if answer.verdict is AnswerVerdict.INFEASIBLE:
                assert worst > 1e-6
            verdicts.add(answer.verdict)
    assert verdicts == {AnswerVerdict.AGREES, AnswerVerdict.FAR, AnswerVerdict.INFEASIBLE}


def test_each_verdict_has_its_figure_and_its_reason() -> None:
    problem, x = budget()
    answers = {
        "exact": {"x": [1.0, 0.0]},
        "far": {"x": [0.5, 0.5]},
        "outside": {"x": [1.5, 0.0]},
        "negative": {"x": [1.25, -0.25]},
        "short": {"x": [1.0]},
        "unnamed": {"y": [1.0, 0.0]},
        "nan": {"x": [np.nan, 0.0]},
    }
    found = judge(problem, ["HIGHS", "NOPE"], answers)
    named = by_name(found)
    assert found.bound.lower <= 1.0 <= found.bound.upper
    assert named["HIGHS"].verdict is named["exact"].verdict is AnswerVerdict.AGREES
    assert named["far"].verdict is AnswerVerdict.FAR
    assert named["far"].distance == pytest.approx(0.5)
    assert re.search("at least 0[.](5|49) from the optimum", named["far"].reason)
    assert named["outside"].verdict is named["negative"].verdict is AnswerVerdict.INFEASIBLE
    assert named["outside"].reason == ("it violates budget by 0.5, 0.25 of 1 + its right-hand side")
    assert (named["negative"].constraint, named["negative"].violation) == ("bounds of x", 0.25)
    assert "unknown solver 'NOPE'" in named["NOPE"].reason
    assert "the shape (1,), and the variable has (2,)" in named["short"].reason
    assert "a mapping with a value for each of x" in named["unnamed"].reason
    assert "a number that is not finite" in named["nan"].reason
    assert not found.agree
    assert x.value is None
    assert problem.status is None


def test_figures_of_an_answer_are_rounded_up() -> None:
    answer = ProgramAnswer("a", AnswerVerdict.AGREES, "", 1.0, 1.11e-6, 2.01e-9)
    assert answer.cells[3:] == ("1.2e-06", "2.1e-09")


def test_interval_that_is_too_wide_leaves_a_feasible_answer_undecided() -> None:
    x = cp.Variable(name="x")
    found = judge(cp.Problem(cp.Maximize(x), [x >= 0]), ["HIGHS"], {"mine": {"x": 3.0}})
    named = by_name(found)
    assert named["mine"].verdict is AnswerVerdict.UNDECIDED
    assert "unbounded" in named["HIGHS"].reason
    assert json.loads(found.to_json())["answers"][1]["distance"] == "inf"


def test_solved_problem_has_an_answer_of_its_own_and_keeps_it() -> None:
    problem, x = budget()
    problem.solve(solver="SCS", eps=1e-2)
    before, status = np.array(x.value), problem.status
    found = judge(problem)
    (answer,) = found.answers
    assert answer.name == "values in the problem"
    assert answer.objective == pytest.approx(before[0] + 2 * before[1], abs=1e-12)
    assert found.bound.width <= 1e-9
    judge(problem, ["CLARABEL"])
    assert x.value.tolist() == before.tolist()
    assert problem.status == status


def test_answers_of_a_model_file_are_judged_by_its_names(model: Path) -> None:
    answers: dict[str, Any] = {
        "in order": [3.0, 1.0],
        "by name": {"x": 3.0, "y": 1.0},
        "row": {"x": 2.0, "y": 1.0},
        "column": {"x": 13.0, "y": 11.0},
        "other": {"w": 1.0},
    }
    named = by_name(judge(model, ["HIGHS"], answers))
    for name in ("HIGHS", "in order", "by name"):
        assert named[name].verdict is AnswerVerdict.AGREES
        assert named[name].objective == pytest.approx(9.0, abs=1e-6)
    assert (named["row"].constraint, named["row"].violation) == ("need", 1.0)
    assert (named["column"].constraint, named["column"].violation) == ("bounds of x", 3.0)
    assert "w" in named["other"].reason


def test_maximum_of_a_file_has_its_sign(tmp_path: Path) -> None:
    path = tmp_path / "model.lp"
    path.write_text(
        "Maximize\n obj: 3 x + 2 y\nSubject To\n c1: x + y <= 4\n c2: x - y <= 3\nEnd\n"
    )
    named = by_name(judge(path, ["HIGHS"], {"low": [3.0, 1.0]}))
    assert named["HIGHS"].objective == pytest.approx(11.5)
    assert named["low"].verdict is AnswerVerdict.FAR
    assert named["low"].distance == pytest.approx(0.5)


def install(folder: Path, names: Sequence[str], code: str) -> None:
    """Write a package whose entry points are the functions of a module."""
    metadata = folder / "somebody-1.0.dist-info"
    metadata.mkdir()
    points = "".join(f"{name} = somebodys_judged:{name}\n" for name in names)
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{points}", encoding="utf-8")
    (metadata / "METADATA").write_text("Name: somebody\nVersion: 1.0\n", encoding="utf-8")
    (folder / "somebodys_judged.py").write_text(code, encoding="utf-8")


def test_solver_that_hangs_leaves_or_crashes_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("sleeping", "hanging", "leaving", "crashing")
    install(
        tmp_path,
        names,
        "import os, re, sys, time\n"
        "def sleeping(*_): time.sleep(10 ** 6)\n"
        # re.match does not let other threads run.
        "def hanging(*_): re.match('(a+)+$', 40 * 'a' + 'b')\n"
        "def leaving(*_): sys.exit(3)\n"
        "def crashing(*_): os._exit(3)\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "somebodys_judged", raising=False)
    named = by_name(judge(budget()[0], [*map(str.upper, names), "HIGHS"], seconds=0.5))
    for name in ("SLEEPING", "HANGING"):
        assert f"{name} took more than 0.5 s, and was abandoned" in named[name].reason
    assert named["CRASHING"].reason == (
        "no answer, because CRASHING ended the process in which it ran"
    )
    assert "SystemExit(3)" in named["LEAVING"].reason
    assert named["HIGHS"].verdict is AnswerVerdict.AGREES


def test_page_fits_and_its_html_is_escaped() -> None:
    found = judge(budget()[0], "HIGHS", {"<b>mine</b>": {"x": [1.0, 0.0]}})
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[:2] for line in lines if line.startswith("HIGHS")] == [["HIGHS", "agrees"]]
    page = found._repr_html_()
    assert ">&lt;b&gt;mine&lt;/b&gt;</th>" in page
    assert page.count("<tr>") == 3
    record = json.loads(found.to_json())
    assert record["agree"] is True
    assert [answer["verdict"] for answer in record["answers"]] == ["agrees", "agrees"]
    assert record["bound"]["lower"] <= 1.0 <= record["bound"]["upper"]


def test_a_problem_that_is_not_convex_is_refused_by_its_variables() -> None:
    x = cp.Variable(4, name="x")
    curved = cp.quad_form(x, cp.psd_wrap(np.diag([1.0, 1.0, -3.0, 1.0])))
    problem = cp.Problem(cp.Minimize(curved), [cp.abs(x) <= 1])
    with pytest.raises(ValueError, match=r"not convex: .* objective in x\[2\] is -6"):
        judge(problem, answers={"none": {"x": np.zeros(4)}})


def test_bad_arguments_are_sentences(tmp_path: Path) -> None:
    x = cp.Variable(name="x")
    with pytest.raises(ValueError, match="agree_tol must be a positive number"):
        judge(budget()[0], agree_tol=0.0)
    with pytest.raises(ValueError, match="5 is no problem"):
        judge(5)
    unnamed: Any
    for unnamed in ([None], ["SCS", 3], [["SCS"]]):
        with pytest.raises(ValueError, match="a solver is named by text, such as 'CLARABEL', not"):
            judge(budget()[0], unnamed)
    unnamed = None
    with pytest.raises(ValueError, match=r"solvers must be names, such as .* not None"):
        judge(budget()[0], unnamed)
    with pytest.raises(ValueError, match="no quadratic, linear or second-order cone program"):
        judge(cp.Problem(cp.Minimize(cp.exp(x))))
    with pytest.raises(OSError, match="missing"):
        judge(tmp_path / "missing.mps")


def test_command_with_several_solvers_prints_a_table(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    solution, certificate, record = (tmp_path / name for name in ("s.sol", "c.json", "r.json"))
    both = ["bound", str(model), "--solver", "HIGHS", "--solver", "clarabel"]
    files = ["--certificate", str(certificate), "--json", str(record)]
    result = RUN.invoke(app, [*both, *files])
    assert result.exit_code == 0, result.output
    assert "the optimum is in [" in result.output
    rows = [line.split()[:2] for line in result.output.splitlines()]
    assert ["HIGHS", "agrees"] in rows
    assert ["clarabel", "agrees"] in rows
    assert json.loads(record.read_text())["agree"] is True
    assert "ACCEPTED" in RUN.invoke(app, ["verify", str(certificate)]).output
    solution.write_text("x 2.5\ny 2.0\n")
    result = RUN.invoke(app, [*both, "--solution", "s.sol"])
    assert result.exit_code == 1
    assert "s.sol: its objective is at least 1.9 from the optimum" in result.output


def test_command_with_several_solutions_judges_each(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["bound", str(model), "--json", "r.json"]
    for folder, x in (("mine", "2.5"), ("yours", "0.5")):
        Path(folder).mkdir()
        Path(folder, "s.sol").write_text(f"x {x}\ny 2.0\n")
        command += ["--solution", f"{folder}/s.sol"]
    assert RUN.invoke(app, command).exit_code == 1
    answers = json.loads(Path("r.json").read_text())["answers"]
    assert [answer["name"] for answer in answers] == ["mine/s.sol", "yours/s.sol"]


def test_command_names_a_solution_without_a_point_among_several(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("point.sol").write_text("x 2.5\ny 2.0\n")
    Path("prices.json").write_text('{"y": [1.0]}')
    result = RUN.invoke(
        app, ["bound", str(model), "--solution", "point.sol", "--solution", "prices.json"]
    )
    assert result.exit_code == 1
    assert "prices.json: no answer" in " ".join(result.output.split())


@pytest.mark.parametrize("labels", [("a", "a"), ("c1", None), (None, "c0")])
def test_violation_is_found_among_constraints_of_one_label(
    labels: tuple[str | None, str | None],
) -> None:
    y = cp.Variable(name="y")
    parts = [y >= 3, y <= 5]
    for part, label in zip(parts, labels, strict=True):
        if label is not None:
            part.set_label(label)
    found = judge(cp.Problem(cp.Minimize(0 * y), parts), answers={"low": {"y": 0.0}})
    assert found.answers[0].verdict is AnswerVerdict.INFEASIBLE
    assert found.answers[0].violation == 3.0


def test_answer_of_none_has_a_reason() -> None:
    y, answers = cp.Variable(name="y"), dict[str, Any](none=None)
    found = judge(cp.Problem(cp.Minimize(y), [y >= 3]), answers=answers)
    reason = "no answer, because there is no point; pass a value for each variable"
    assert found.answers[0].reason == reason


def test_infeasible_model_leads_to_explain(model: Path) -> None:
    model.write_text(MODEL.replace("x + y >= 4", "x + y >= 40"))
    solvers = ["--solver", "CLARABEL", "--solver", "HIGHS"]
    result = RUN.invoke(app, ["bound", str(model), *solvers])
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert "`equimargin explain` seeks a proof that the program is infeasible or unbounded" in said
    assert "inf]" not in said


def test_time_limit_without_end_is_one_of_all_solvers(model: Path) -> None:
    found = judge(model, ["HIGHS", "CLARABEL"], seconds=float("inf"))
    assert [answer.verdict for answer in found.answers] == [AnswerVerdict.AGREES] * 2


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.usefixtures("hearing")
def test_ctrl_c_ends_the_command_and_the_process_of_the_solvers(
    model: Path, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    install(
        tmp_path,
        ["waiting"],
        f"import time\ndef waiting(*_): open({str(begun)!r}, 'w').close(); time.sleep(10 ** 6)\n",
    )
    solvers = ("--solver", "WAITING", "--solver", "HIGHS")
    running = subprocess.Popen(
        [sys.executable, "-m", "equimargin", "bound", str(model), *solvers],
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{tmp_path}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C in a terminal reaches all processes of a group.
        start_new_session=True,
    )
    wait_until(begun.exists)
    os.killpg(running.pid, signal.SIGINT)
    printed = running.communicate(timeout=HANG)
    assert (running.returncode, *printed) == (130, "", "equimargin: interrupted\n")
    wait_until(lambda: is_gone(running.pid))
