"""`equimargin same` and `refute`: what they print, what they refuse, and how they exit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from equimargin.cli.app import app
from places import ROOT

RUN = CliRunner()
HERE = os.environ | {"PYTHONPATH": str(ROOT / "src")}
"""Where another process finds the package."""
OWN = """
import cvxpy as cp
from hypothesis import strategies as st

data = st.integers(1, 4)
number = 3

def least(bound):
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [x >= bound, x >= 0])

def most(bound):
    z = cp.Variable()
    return cp.Problem(cp.Maximize(bound * z), [z <= 1, z >= 0])

def wrong(bound):
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [2 * x >= bound])
"""


def run(*arguments: str) -> tuple[int, str]:
    """Exit status and everything printed."""
    result = RUN.invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of somebody's own in the present folder."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return name


def test_two_functions_of_a_file_are_equal(own: str) -> None:
    status, output = run("same", f"{own}:least", f"{own}:most", "--data", f"{own}:data", "--draws", "3", "--examples", "5")
    assert (status, output.splitlines()[0]) == (0, "EQUAL: A = least, B = most")
    assert "B is the Lagrangian dual of A" in output


def test_two_functions_that_differ_exit_one_and_are_written(own: str, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    status, output = run("same", f"{own}:least", f"{own}:wrong", "--data", f"{own}:data", "--json", str(file))
    record = json.loads(file.read_text())
    assert (status, record["verdict"], record["optima"]) == (1, "DIFFERENT", ["1", "1/2"])
    assert "data = 1" in output
    lines = subprocess.run([sys.executable, "-c", record["code"]], capture_output=True, text=True, cwd=tmp_path, env=HERE, check=True)
    assert lines.stdout.split() == record["optima"]


def test_refute_finds_the_difference_or_exits_four(own: str) -> None:
    assert run("refute", f"{own}:least", f"{own}:wrong", "--data", f"{own}:data")[0] == 1
    status, output = run("refute", f"{own}:least", f"{own}:most", "--data", f"{own}:data", "--examples", "5")
    assert (status, "No instance was found on which they differ." in output) == (4, True)


def test_formulations_have_names_and_data(own: str) -> None:
    assert run("same", "svm.nobias.primal", "svm.nobias.dual", "--draws", "2", "--examples", "2")[0] == 0
    assert run("refute", "svm.nobias.dual", "--examples", "2", "--plugin", own)[0] == 4


def test_json_on_standard_output_is_alone_there(own: str) -> None:
    result = RUN.invoke(app, ["refute", f"{own}:least", f"{own}:wrong", "--data", f"{own}:data", "--json", "-"])
    assert json.loads(result.stdout)["verdict"] == "DIFFERENT"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["svm.soft.primal", "svm.soft.dul"], "'svm.soft.dul' is no formulation; did you mean svm.soft.dual"),
        (["OWN:lest", "OWN:most"], "has no 'lest'; did you mean least"),
        (["OWN:number", "OWN:most"], "is no function, but int"),
        (["OWN:least", "OWN:most"], "say which data least takes"),
        (["OWN:least", "OWN:most", "--data", "OWN:number"], "is no hypothesis strategy, but int"),
        (["OWN:least", "OWN:most", "--data", "data"], "--data 'data' is not MODULE:STRATEGY"),
        (["no_such_module:f", "OWN:most"], "the module 'no_such_module' cannot be imported: ModuleNotFoundError"),
        (["OWN:least", "OWN:most", "--plugin", "no_such_module"], "the plug-in no_such_module cannot be loaded"),
        (["OWN:least", "OWN:most", "--data", "OWN:data", "--draws", "0"], "draws"),
        (["OWN:least", "OWN:most", "--data", "OWN:data", "--time-limit", "-1"], "seconds"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(own: str, arguments: list[str], sentence: str) -> None:
    status, output = run("same", *(argument.replace("OWN", own) for argument in arguments))
    assert status == 2
    assert sentence in output
    assert "Traceback" not in output


@pytest.mark.usefixtures("hearing")
def test_an_interrupt_exits_130_with_a_sentence(own: str) -> None:
    command = [sys.executable, "-m", "equimargin", "same", "rank.l1.primal", "rank.l1.dual", "--draws", "200", "--examples", "10000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=HERE) as running:
        time.sleep(8)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said.strip()) == (130, "equimargin: interrupted")


LOST = """
import gc, os, signal, sys
import equimargin.sameness
from equimargin.cli.app import main
judge, collected = equimargin.sameness.same, []
def interrupt(phase, info):
    collected.append(phase)
    if len(collected) == 1:
        os.kill(os.getpid(), signal.SIGINT)
def same(*asked, **options):
    gc.callbacks.append(interrupt)
    return judge(*asked, **options)
equimargin.sameness.same = same
sys.argv = ["equimargin", "same", "rank.l1.primal", "rank.l1.dual", "--draws", "200", "--examples", "10000"]
main()
"""
"""The command with an interrupt that comes in a callback of Python's garbage collector, where every error is ignored."""


@pytest.mark.usefixtures("hearing")
def test_an_interrupt_in_a_callback_of_the_collector_is_not_lost(own: str) -> None:
    found = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, env=HERE, timeout=120)
    assert (found.returncode, found.stderr.strip()) == (130, "equimargin: interrupted")
