"""Plug-ins on the command line: families of a module are listed, shown, compared in several processes; failures are sentences."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from places import ROOT
from schema import faults

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The program, run in a folder where brought.py is a plug-in of somebody's."""
    shutil.copyfile(ROOT / "tests" / "brought.py", tmp_path / "brought.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("EXTRA_PATH", "")])}

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-m", "equimargin", *arguments]
        return subprocess.run(whole, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8")

    return command


def test_a_family_of_a_plug_in_is_compared_in_two_processes(run: Run, tmp_path: Path) -> None:
    data = {"X": [[1.0, 0.0], [2.0, 1.0], [0.5, 2.0]], "nu": 0.5}
    (tmp_path / "data.json").write_text(json.dumps(data), encoding="utf-8")
    arguments = ("--plugin", "brought", "--family", "test.ocsvm", "--jobs", "2", "--json", "out.json")
    found = run("compare", "data.json", *arguments)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "test.ocsvm, read from data.json: X 3 x 2, nu 0.5" in found.stdout
    record = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert not list(faults(record, "compare"))
    assert record["families"][0]["verdict"] == "agree"
    assert {answer["solver"] for answer in record["answers"]} >= {"CLARABEL", "test.ocsvm.libsvm"}
    with_control = run("compare", "data.json", *arguments, "--include-controls")
    assert with_control.returncode == 1, with_control.stdout + with_control.stderr
    np.savez(tmp_path / "data.npz", **{name: np.array(value) for name, value in data.items()})  # type: ignore[arg-type]
    assert run("compare", "data.npz", "--plugin", "brought.py", "--family", "test.ocsvm", "--solver", "CLARABEL").returncode == 0


def test_data_are_drawn(run: Run) -> None:
    found = run("compare", "--plugin", "brought", "--family", "test.ocsvm", "--draw", "4", "--solver", "CLARABEL")
    assert "test.ocsvm, drawn with seed 4: X" in found.stdout
    assert found.returncode == 0, found.stdout + found.stderr


def test_lists_say_where_things_come_from(run: Run) -> None:
    assert "[--plugin brought]" in run("list", "families", "--plugin", "brought").stdout
    solvers = run("list", "solvers", "--plugin", "brought").stdout
    assert [line for line in solvers.splitlines() if line.startswith("test.ocsvm.libsvm") and "[--plugin brought]" in line]
    assert "comes with equimargin" in run("list", "plugins").stdout
    shown = run("show", "test.ocsvm.dual", "--plugin", "brought").stdout
    assert "Estimating the Support" in shown
    assert "LaTeX" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("list", "families", "--plugin", "nowhere"), "the plug-in nowhere cannot be loaded: ModuleNotFoundError"),
        (("list", "families", "--plugin", "nowhere.py"), "the plug-in nowhere.py is not there"),
        (("list", "families", "--plugin", "broken.py"), "KeyError: 'missing' (broken.py, line 2)"),
        (("list", "families", "--plugin", "brought", "--plugin", "other/brought.py"), "rename the file"),
        (("compare", "--family", "test.none", "--draw", "1"), "--draw needs --family with the name of a family from elsewhere"),
        (("compare", "--plugin", "brought", "--family", "test.nothing", "--draw", "1"), "has no strategy to draw data from"),
        (("compare", "--plugin", "brought", "--family", "test.ocsvm"), "needs data: a file, or --draw SEED"),
        (("compare", "x", "--plugin", "brought", "--family", "test.ocsvm", "--draw", "1"), "needs data: a file, or --draw SEED"),
        (("compare", "broken.json", "--plugin", "brought", "--family", "test.ocsvm"), "broken.json cannot be read"),
        (("compare", "brought.py", "--plugin", "brought", "--family", "test.ocsvm"), "ends in .json or .npz"),
        (("compare", "--plugin", "brought", "--family", "test.ocsvm", "--draw", "1", "-C", "2"), "--cost is not for test.ocsvm"),
        (("compare",), "missing argument 'DATA'"),
    ],
)
def test_failures_are_sentences(run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "broken.py").write_text("known = {}\nknown['missing']\n", encoding="utf-8")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "brought.py").write_text("", encoding="utf-8")
    (tmp_path / "broken.json").write_text("[1", encoding="utf-8")
    found = run(*arguments)
    assert found.returncode == 2, found.stdout + found.stderr
    assert said in found.stderr
    assert "Traceback" not in found.stderr


PROGRAMS = """
import math
import cvxpy as cp
from equimargin.own import family

def stated(name, make, **how):
    family(name).formulation("primal", **how)(make)

x = cp.Variable
stated("own_far", lambda d: (v := x(2, name="v")) is None or cp.Problem(cp.Minimize(cp.norm(v - d["a"])), [v >= 1]))
stated("own_nothing", lambda d: (v := x(name="v")) is None or cp.Problem(cp.Minimize(v), [v >= 1, v <= d["a"][0]]))
stated("own_endless", lambda d: (v := x(name="v")) is None or cp.Problem(cp.Maximize(v), [v >= d["a"][0]]))
stated("own_broken", lambda d: d["b"])
rooted = lambda d: (v := x(name="v")) is None or cp.Problem(cp.Minimize(cp.square(v)), [v >= d["a"][1]])
stated("own_rooted", rooted, value=lambda value, d: math.sqrt(float(value)))
"""
"""Families whose data have a = (0, 3)."""


@pytest.mark.parametrize(
    ("family", "interval"),
    [
        ("own_far", "[1.0, 1.0000000000000002]"),
        ("own_nothing", "[inf, inf]"),
        ("own_endless", "[-inf, -inf]"),
        ("own_rooted", "[9.0, 9.0]"),
    ],
)
def test_the_definition_of_a_family_is_certified(run: Run, tmp_path: Path, family: str, interval: str) -> None:
    """A quadratic program, a cone program, and two with rays; the checker, which knows nothing of plug-ins, accepts them."""
    (tmp_path / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"a": [0, 3]}', encoding="utf-8")
    found = run("compare", "data.json", "--family", family, "--plugin", "programs.py", "--certify", "proofs")
    file = f"proofs/{family}.json"
    assert found.stdout.splitlines()[-1] == f"{family}: certificate {file}"
    checked = run("verify", file)
    assert (checked.returncode, checked.stdout.strip()) == (0, f"{file}: ACCEPTED: program: the optimum is in {interval}")


def test_a_family_without_a_certificate_says_why(run: Run, tmp_path: Path) -> None:
    (tmp_path / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"a": [0, 3]}', encoding="utf-8")
    found = run("compare", "data.json", "--family", "own_broken", "--plugin", "programs.py", "--certify", "proofs")
    assert found.stdout.splitlines()[-1] == "own_broken: no certificate: its definition cannot be certified: KeyError: 'b'"
    assert list((tmp_path / "proofs").iterdir()) == []


def test_what_a_value_map_computes_in_floats_is_not_called_proven(run: Run, tmp_path: Path) -> None:
    """Neither on the line of the family nor in the wide table, and the record says so, too."""
    (tmp_path / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"a": [0, 3]}', encoding="utf-8")
    arguments = ("compare", "data.json", "--family", "own_rooted", "--plugin", "programs.py", "--jobs", "2", "--json", "out.json")
    page, wide = run(*arguments).stdout, run(*arguments, "--wide").stdout
    assert re.search(r"(?m)^own_rooted +optimum 3, \d+ digits not proven \(width", page)
    assert "optimum, not proven, in [3, 3]" in wide
    said = "Not proven is what the value map computes in floats."
    assert said in page
    record = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert record["families"][0]["note"].endswith(said[1:-1])
