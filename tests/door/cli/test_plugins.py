"""Plug-ins on the command line: families of a module are listed, shown, compared in several processes; failures are sentences."""

from __future__ import annotations

import json
import os
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
