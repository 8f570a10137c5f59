"""The core without the packages of the extra `compare`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

import pytest

from places import HANG, ROOT

MODULES = {"jinja2": "Jinja2", "flint": "python-flint"}
"""Modules whose packages have other names."""
WITHOUT = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refused())
"""


def absent() -> set[str]:
    """Return the modules of the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {re.split("[<>=]", name)[0] for name in project["optional-dependencies"]["compare"]}
    return packages - set(MODULES.values()) | set(MODULES)


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Return what a process printed that cannot import the extra."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT.format(absent=absent()) + code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        timeout=HANG,
    )


CORE = """
import sklearn.svm
import equimargin.estimators, equimargin.selection, equimargin.svm
from equimargin.data import load
from equimargin.formulations import classification, interval, rbf
from equimargin.proofs import audit
from equimargin.solvers import regularization_path, solve

data = load("breast_cancer")
X, y = data.X[:120], data.y[:120]
equimargin.svm.SVC(C=10.0, gamma=0.001).fit(X, y)
problem = classification(X, y, 10.0, rbf(0.001))
solution = solve(problem, tol=1e-8)
assert solution.lower <= interval(problem, solution.point).upper
audited = audit(sklearn.svm.SVC(C=10.0, gamma=0.001).fit(X, y), X, y)
assert "proven" in str(audited)
assert all("<table>" in shown._repr_html_() for shown in (solution, solution.interval, audited))
path = regularization_path(classification(X, y, 1.0))
equimargin.estimators.MarginRanker().fit(X[:40], y[:40])
equimargin.estimators.OrdinalClassifier().fit(X[:40], y[:40])
print("done")
"""


PROBLEM = """
import numpy as np
from equimargin.formulations import classification
X, y = np.arange(12.0).reshape(6, 2) % 5, np.array([1, 1, 1, -1, -1, -1])
problem = classification(X, y, 1.0)
"""


def test_solvers_estimators_and_audits_need_no_extra() -> None:
    found = run(CORE)
    assert (found.stdout, found.stderr) == ("done\n", "")


@pytest.mark.parametrize(
    ("code", "package"),
    [
        (
            "from equimargin.formulations import declare\ndeclare('svm.soft.dual', problem)",
            "cvxpy",
        ),
        (
            "from equimargin.solvers.backends.installed import missing_backends\n"
            "next(missing_backends())",
            "cvxpy",
        ),
        ("from equimargin.solvers import exact_optimum\nexact_optimum(problem)", "flint"),
        (
            "from equimargin.estimators import OneNormRanker\nOneNormRanker().fit(X, y)",
            "highspy",
        ),
    ],
)
def test_what_needs_the_extra_names_its_command(code: str, package: str) -> None:
    found = run(PROBLEM + code)
    last = found.stderr.strip().splitlines()[-1]
    assert last == f"ImportError: {package} is not installed: pip install 'equimargin[compare]'"


@pytest.mark.parametrize(
    ("code", "package"),
    [
        (
            "from equimargin import compare\nfound = compare(problem)\n"
            "assert '<table>' in found._repr_html_()\nprint(found)",
            "cvxpy",
        ),
        (
            "from equimargin import compare\n"
            "from equimargin.formulations import one_norm_classification\n"
            "problem = one_norm_classification(X, y, 1.0)\n"
            "print(compare(problem, solvers=['column_generation']))",
            "highspy",
        ),
        (
            "from equimargin.equivalence import same\n"
            "print(same('svm.soft.primal', 'svm.soft.dual', draws=1, examples=1))",
            "cvxpy",
        ),
    ],
)
def test_an_answer_that_needs_the_extra_fails_alone(code: str, package: str) -> None:
    found = run(PROBLEM + code)
    assert found.returncode == 0, found.stderr
    said = " ".join(found.stdout.split())
    assert f"{package} is not installed: pip install 'equimargin[compare]'" in said
    assert "UNDECIDED" in said


@pytest.mark.parametrize(
    "problem",
    [
        "ranking(X, levels, None, np.inf)",
        "ranking(X, levels, None, np.inf, loss='squared_hinge')",
        "ordinal(X, levels, np.inf)",
        "classification(X, np.where(levels, 1, -1), np.inf, bias=False)",
    ],
)
def test_hard_margins_that_cannot_be_met_stay_unproved(problem: str) -> None:
    found = run(f"""
import numpy as np
from equimargin.formulations import classification, ordinal, ranking
from equimargin.solvers import solve
X, levels = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 3
solution = solve({problem})
print(solution.status, solution.reason)
""")
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("numerical_failure")
    assert "not proved (flint is not installed: pip install 'equimargin[compare]')" in found.stdout


@pytest.mark.parametrize("arguments", [[], ["--help"], ["compare", "xor"]])
def test_the_command_line_names_the_command(arguments: list[str]) -> None:
    found = run("from equimargin.cli import main\nmain()", *arguments)
    said = "equimargin: the command line needs typer: pip install 'equimargin[compare]'\n"
    assert (found.returncode, found.stdout, found.stderr) == (2, "", said)
