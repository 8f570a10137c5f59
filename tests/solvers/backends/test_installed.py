"""Backends by name: solvers of cvxpy and qpsolvers, and functions of installed packages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from equimargin import compare
from equimargin.formulations import classification, one_norm_classification
from equimargin.formulations.declarations.formulation import declare
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs import Agreement, examine
from equimargin.solvers import BACKENDS, Status, solve_declaration
from equimargin.solvers.backends import installed
from equimargin.solvers.backends.form import run_backend, solve_form
from equimargin.solvers.backends.installed import (
    GROUP,
    OF_QPSOLVERS,
    find_backend,
    installed_backends,
    missing_backends,
)
from equimargin.solvers.backends.table import OTHERS

MODULE = """
import sys
import time

import numpy as np
from scipy.optimize import minimize


def solve(form, tol, seconds):
    rows = [{"type": "ineq", "fun": lambda x: form.h[form.zero:] - form.G[form.zero:] @ x}]
    if form.zero:
        rows.append({"type": "eq", "fun": lambda x: form.h[:form.zero] - form.G[:form.zero] @ x})
    found = minimize(form.objective, np.zeros(len(form.q)), constraints=rows, method="SLSQP",
                     options={"ftol": 1e-14, "maxiter": 500})
    form.q[:] = 0.0
    return found.x, None


def short(form, tol, seconds):
    return [1.0], None


def broken(form, tol, seconds):
    raise OSError("no licence")


def leaving(form, tol, seconds):
    sys.exit(3)


def hanging(form, tol, seconds):
    time.sleep(3)


def wrong(form, tol, seconds):
    return np.zeros(len(form.q)), np.full(3, np.nan)
"""
"""Backends of a third-party package, of which the first one spoils its program."""
FUNCTIONS = ("solve", "short", "broken", "leaving", "hanging", "wrong", "missing")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with an entry point for every function."""
    folder = tmp_path / "somebody-1.0.dist-info"
    folder.mkdir()
    points = "\n".join(f"own_{name} = somebodys_solver:{name}" for name in FUNCTIONS)
    (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n", encoding="utf-8")
    (folder / "METADATA").write_text("Name: somebody\nVersion: 1.0\n", encoding="utf-8")
    (tmp_path / "somebodys_solver.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "somebodys_solver", raising=False)


def quadratic() -> StandardForm:
    """Return min x'x + x1  s.t.  x1 + x2 == 1, x >= 0, whose optimum is 7/8 at (1/4, 3/4)."""
    return StandardForm(
        sparse.csr_array(2.0 * np.eye(2)),
        np.array([1.0, 0.0]),
        sparse.csr_array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]),
        np.array([1.0, 0.0, 0.0]),
        1,
        2,
        (),
        np.full(2, -np.inf),
        np.full(2, np.inf),
        0.0,
    )


def points(n: int = 20) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


def test_every_solver_of_cvxpy_is_a_backend_and_those_of_comparisons_come_first() -> None:
    known = list(installed_backends())
    assert known[: len(BACKENDS)] == list(BACKENDS)
    assert set(cp.installed_solvers()) <= set(known)
    assert find_backend("scipy").options(1e-8, 60.0, None) == {}


def test_unknown_and_missing_names_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"unknown solver 'OSQPP'; did you mean OSQP\?$"):
        find_backend("OSQPP")
    monkeypatch.setattr(installed, "_of_libraries", lambda: ())
    monkeypatch.setattr(
        "equimargin.solvers.backends.installed.cp.installed_solvers", lambda: ["CLARABEL"]
    )
    assert dict(missing_backends())["PIQP"] == "pip install 'cvxpy[PIQP]'"
    assert dict(missing_backends())["QPSOLVERS.*"] == "pip install 'equimargin[qpsolvers]'"
    with pytest.raises(ValueError, match=r"PIQP is not installed; install it by pip install 'cvx"):
        find_backend("PIQP")
    with pytest.raises(ValueError, match=r"the solver PIQP is not installed"):
        compare(classification(*points()), solvers=["PIQP"])


@pytest.mark.parametrize("name", [*BACKENDS, *OTHERS])
def test_point_and_multipliers_of_a_quadratic_program(name: str) -> None:
    if name not in installed_backends():
        pytest.skip(f"{name} is not installed")
    form = quadratic()
    x, z = run_backend(find_backend(name.lower()), form, 60.0, 1e-8)
    # CVXOPT and ECOS get a cone for the square, whose tolerance is that of the objective.
    assert x == pytest.approx([0.25, 0.75], abs=1e-3)
    assert z is not None
    assert form.P @ x + form.q + form.G.T @ z == pytest.approx(0.0, abs=1e-3)
    assert z[1:].min() >= -1e-9


def test_solvers_of_qpsolvers_have_the_same_signs() -> None:
    pytest.importorskip("qpsolvers", reason="the extra qpsolvers is not installed")
    names = [name for name in installed_backends() if name.startswith(OF_QPSOLVERS)]
    assert names
    form = quadratic()
    for name in names:
        x, z = run_backend(find_backend(name), form, 60.0, 1e-8)
        # ProxQP ends at a point with a gap, and says that it is optimal.
        assert x == pytest.approx([0.25, 0.75], abs=1e-2), name
        assert z is not None
        assert form.P @ x + form.q + form.G.T @ z == pytest.approx(0.0, abs=1e-4), name
        assert z[1:].min() >= -1e-9


def test_qpsolvers_takes_no_cones() -> None:
    pytest.importorskip("qpsolvers", reason="the extra qpsolvers is not installed")
    name = next(name for name in installed_backends() if name.startswith(OF_QPSOLVERS))
    form = StandardForm(**(vars(quadratic()) | {"zero": 0, "nonneg": 0, "cones": (3,)}))
    with pytest.raises(ValueError, match="takes no second-order cones"):
        solve_form(form, name, 60.0)


@pytest.mark.usefixtures("package")
def test_function_of_a_package_is_a_backend_and_cannot_change_the_program() -> None:
    form = quadratic()
    x, z = run_backend(find_backend("own_SOLVE"), form, 60.0, 1e-8)
    assert x == pytest.approx([0.25, 0.75], abs=1e-6)
    assert z is None
    assert form.q.tolist() == [1.0, 0.0]
    assert find_backend("OWN_SOLVE").origin == "somebody 1.0"


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("short", "OWN_SHORT does not solve the problem: its point has 1 numbers, and should"),
        ("broken", "OWN_BROKEN does not solve the problem: no licence"),
        ("leaving", r"it raises SystemExit\(3\)"),
        ("hanging", "own_hanging took more than 0.1 s, and was abandoned"),
        ("missing", "has no attribute 'missing'"),
    ],
)
def test_function_that_fails_is_a_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        solve_form(quadratic(), f"own_{name}", 0.1)


@pytest.mark.usefixtures("package")
def test_multipliers_that_are_no_numbers_count_as_none() -> None:
    x, z = run_backend(find_backend("own_wrong"), quadratic(), 60.0, 1e-8)
    assert x.tolist() == [0.0, 0.0]
    assert z is None
    assert solve_form(quadratic(), "own_wrong", 60.0)[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.usefixtures("package")
def test_answers_without_multipliers_are_examined_by_their_points() -> None:
    problem = classification(*points(), C=1.0)
    found = compare(problem, ["svm.soft.primal"], ["smo", "OWN_SOLVE", "own_broken"])
    words = {j.evidence.run.solver: j for j in found.families[0].judgements}
    assert words["OWN_SOLVE"].agreement in (Agreement.AGREES, Agreement.INACCURATE)
    assert words["OWN_SOLVE"].claim <= 1e-5
    assert words["OWN_BROKEN"].agreement is Agreement.FAILED
    assert "no licence" in words["OWN_BROKEN"].evidence.run.reason
    wrong = examine(problem, solve_declaration(declare("svm.soft.primal", problem), "own_wrong"))
    assert wrong.accuracy is not None
    assert wrong.run.status is Status.FINISHED
    assert wrong.accuracy.residual is None
    assert wrong.accuracy.normwise >= 0.1


def test_solver_without_raw_vectors_agrees_on_a_linear_program() -> None:
    problem = one_norm_classification(*points(), C=1.0)
    found = compare(problem, "*", ["linear_program", "scipy"])
    answers = [j for j in found.families[0].judgements if j.evidence.run.solver == "SCIPY"]
    assert answers
    assert {j.agreement for j in answers} == {Agreement.AGREES}
    assert all(j.evidence.run.status is Status.OPTIMAL for j in answers)


@pytest.mark.usefixtures("package")
def test_backend_that_is_not_named_is_not_compared() -> None:
    found = compare(one_norm_classification(*points(), C=1.0), "*", ["*", "scipy"])
    names = {j.evidence.run.solver for j in found.families[0].judgements}
    assert {"SCIPY", "HIGHS", "linear_program"} <= names
    assert not [name for name in names if name.startswith("OWN_")]
    assert not [sentence for sentence in found.left_out if sentence.startswith("OWN_")]


def test_interrupt_that_a_backend_intercepts_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equimargin.solvers.backends.form.read_status", lambda raw: "interrupted")
    with pytest.raises(KeyboardInterrupt):
        solve_form(quadratic(), "SCS", 60.0)
