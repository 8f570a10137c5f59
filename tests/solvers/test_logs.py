"""Logs of a run: the chosen solver, every check of its gap, and nothing unless asked for."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pytest

from equimargin.formulations import classification, rbf
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import solve
from places import HANG


@pytest.fixture(scope="module")
def problem() -> MarginProblem:
    """Return a small problem that takes several rounds."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    return classification(X, np.sign(X[:, 0] + random.normal(size=40)), 10.0, rbf(0.5))


def test_info_names_the_chosen_solver_and_its_end(
    problem: MarginProblem, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "equimargin.solvers"):
        solution = solve(problem)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith(f"svm.soft, 40 rows: auto chooses {solution.solver}, ")
    assert lines[-1].startswith(f"{solution.solver}: optimal, {solution.reason}; ")
    assert {record.levelno for record in caplog.records} == {logging.INFO}


def test_info_names_the_solvers_that_continue_a_run(
    problem: MarginProblem, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("equimargin.solvers.registry._is_stuck", lambda *_: True)
    with caplog.at_level(logging.INFO, "equimargin.solvers"):
        solve(problem)
    assert any("passes the problem to" in record.getMessage() for record in caplog.records)


def test_debug_has_every_check_of_the_gap(
    problem: MarginProblem, caplog: pytest.LogCaptureFixture
) -> None:
    checks: list[tuple[int, float, float]] = []

    def heard(iterations: int, lower: float, upper: float, point: object) -> None:
        checks.append((iterations, lower, upper))

    with caplog.at_level(logging.DEBUG, "equimargin.solvers.progress"):
        solve(problem, "smo", tol=1e-9, callback=heard)
    figures = [
        (record.args["iterations"], record.args["dual"], record.args["primal"])
        for record in caplog.records
        if isinstance(record.args, dict)
    ]
    assert figures == checks
    assert len(checks) > 1
    assert caplog.records[-1].getMessage().startswith("smo: iteration ")
    assert " of 1e-09, " in caplog.records[-1].getMessage()


def test_no_record_is_made_unless_it_is_asked_for(
    problem: MarginProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(*_: object, **__: object) -> logging.LogRecord:
        raise AssertionError("a record is made, which costs time")

    monkeypatch.setattr(logging.getLogger("equimargin"), "makeRecord", made)
    for module in ("registry", "progress"):
        monkeypatch.setattr(logging.getLogger(f"equimargin.solvers.{module}"), "makeRecord", made)
    assert solve(problem).ok


def test_a_warning_without_a_handler_is_not_printed() -> None:
    """Without the package's NullHandler Python would print it to standard error."""
    code = "import equimargin, logging; logging.getLogger('equimargin.solvers').warning('x')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
