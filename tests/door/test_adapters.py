"""Third-party programs as solvers: each agrees within its accuracy on drawn problems.

A wrong result is a disagreement.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, LinearSVC

from equimargin import compare
from equimargin.adapters import from_estimator, from_fit, liblinear, libsvm
from equimargin.formulations import (
    Kernel,
    MarginProblem,
    Problem,
    classification,
    linear,
    ranking,
    rbf,
    regression,
)
from equimargin.formulations.kernels.kernel import Polynomial
from equimargin.proofs import Agreement, examine_solution, judge
from equimargin.solvers import SOLVERS, Solver, Status, solve
from equimargin.testing import check_solver, margin_problems, sample_problem
from narrow import as_a, present
from places import HANG, ROOT, example

RIGHT = (Agreement.AGREES, Agreement.INACCURATE)
"""Agreements of a correct program, whose accuracy may differ from equimargin's."""


def newton(X: Any, y: Any, C: float) -> Any:
    """Fit as in statsmodels: the constant comes first."""
    found = solve(classification(X, y, C, loss="squared_hinge"), tol=1e-9)
    return SimpleNamespace(params=np.append(found.bias, present(found.w)))


ADAPTED: dict[str, tuple[Solver, tuple[str, ...]]] = {
    "libsvm": (libsvm(), ("svm.soft", "svr.l1")),
    "liblinear": (liblinear(), ("svm.nobias", "svm.nobias_l2")),
    "SVC": (
        from_estimator(
            lambda p: SVC(kernel="precomputed", C=p.C, tol=1e-9, max_iter=1_000_000),
            ("svm.soft",),
            "SVC",
        ),
        ("svm.soft",),
    ),
    "newton": (from_fit(newton, ("svm.l2",)), ("svm.l2",)),
}


def judged(problem: Problem, solver: Solver) -> Any:
    """Return the assessment of a solver's answer, against one proven to ten digits."""
    evidence = [
        examine_solution(problem, solve(problem, tol=1e-10)),
        examine_solution(problem, solve(problem, solver, tol=1e-6)),
    ]
    return judge(problem.family, evidence, problem.scale, 1e-5).judgements[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "family"),
    [(name, family) for name, (_, families) in ADAPTED.items() for family in families],
)
def test_each_is_right_on_drawn_problems(name: str, family: str) -> None:
    solver = ADAPTED[name][0]
    taken = 0

    @settings(max_examples=40)
    @given(margin_problems(family, tails=False))
    def check(problem: Problem) -> None:
        nonlocal taken
        # LIBSVM stores kernel values in single precision; these span too many digits.
        single = isinstance(problem.kernel, Polynomial)
        # Most have nonlinear kernels, or weights.
        if single or solver.refusal(problem) is not None:
            problem = replace(as_a(MarginProblem, problem), kernel=linear(), weights=None)
        if solver.refusal(problem) is None:
            taken += 1
            found = judged(problem, solver)
            limited = found.evidence.run.status is Status.ITERATION_LIMIT
            assert found.agreement in RIGHT or limited, (found.ground, problem)

    check()
    assert taken > 5


@pytest.mark.parametrize("name", ADAPTED)
def test_each_conforms(name: str) -> None:
    check_solver(ADAPTED[name][0])


class Turned(SVC):  # type: ignore[misc]
    """SVC with the wrong sign of its function."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Turned:
        """Fit SVC to the opposite labels."""
        super().fit(X, -np.asarray(y), sample_weight)
        return self


WRONG: dict[str, tuple[str, Callable[[MarginProblem], Any]]] = {
    "twice the cost": ("svm.soft", lambda p: SVC(kernel="precomputed", C=2 * p.C, tol=1e-9)),
    "the other sign": ("svm.soft", lambda p: Turned(kernel="precomputed", C=p.C, tol=1e-9)),
    "no bias": (
        "svm.soft",
        lambda p: LinearSVC(loss="hinge", C=p.C, fit_intercept=False, tol=1e-9, max_iter=1_000_000),
    ),
    "a penalised bias": (
        "svm.soft",
        lambda p: LinearSVC(loss="hinge", C=p.C, tol=1e-9, max_iter=1_000_000),
    ),
    "the other loss": (
        "svm.nobias",
        lambda p: LinearSVC(C=p.C, fit_intercept=False, tol=1e-9, max_iter=1_000_000),
    ),
    "another width": (
        "svr.l1",
        lambda p: SVR(
            kernel="precomputed",
            C=p.C,
            epsilon=3 * p.rows.epsilon,  # type: ignore[attr-defined]
            tol=1e-9,
        ),
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_a_disagreement(mistake: str) -> None:
    """The points are far from 0, so that a bias matters."""
    family, make = WRONG[mistake]
    solver = from_estimator(make, (family,), "wrong")
    for seed in range(3):
        near = as_a(MarginProblem, sample_problem(family, seed=seed))
        found = judged(replace(near, X=near.X + 2.0, C=1.0), solver)
        assert found.agreement is Agreement.DISAGREES, (seed, found.ground)


def test_the_bias_may_not_be_forgotten_nor_invented() -> None:
    """A w without b gets the best b.

    The b of a problem without bias is refused, and the refusal is one failed answer.
    """
    problem = sample_problem("svm.nobias")
    biased = from_estimator(LinearSVC(loss="hinge", C=problem.C))
    assert biased.families == ("svm.nobias",)
    with pytest.raises(
        ValueError,
        match=r"LinearSVC returns no point of this svm.nobias problem: b is .* has no free bias",
    ):
        solve(problem, biased)
    answers = compare(problem, "*.dual", ["CLARABEL", biased]).answers
    assert [answer["agreement"] for answer in answers] == ["agrees", "failed"]


@pytest.mark.parametrize("kernel", [linear(), rbf(0.4)], ids=["linear", "rbf"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_several_estimators_in_one_comparison(kernel: Kernel, jobs: int) -> None:
    problem = sample_problem("svm.soft", kernel)
    own = {"kernel": "linear"} if kernel.name == "linear" else {"kernel": "rbf", "gamma": 0.4}
    others = [
        from_estimator(SVC(C=problem.C, tol=1e-9, **own), name="tight"),
        from_estimator(SVC(C=problem.C, **own), name="as it comes"),
        from_estimator(SVC(C=3 * problem.C, tol=1e-9, **own), name="of another C"),
        libsvm(),
    ]
    found = {
        answer["solver"]: answer
        for answer in compare(problem, "*.dual", ["CLARABEL", *others], jobs=jobs).answers
    }
    rough = found.pop("as it comes")
    assert {name: answer["agreement"] for name, answer in found.items()} == {
        "CLARABEL": "agrees",
        "tight": "agrees",
        "of another C": "disagrees",
        "libsvm": "agrees",
    }
    # The tolerance is a thousandth.
    assert rough["agreement"] == ("inaccurate" if kernel.name == "rbf" else "agrees")


def test_only_problems_of_its_families_are_put_to_a_solver() -> None:
    data = sample_problem("svm.soft")
    compared = compare(
        data.X, y=data.rows.y, solvers=["CLARABEL", from_estimator(SVC(kernel="linear"))]
    )
    assert {answer["family"] for answer in compared.answers if answer["solver"] == "SVC"} == {
        "svm.soft"
    }


def test_an_estimator_that_did_not_converge_has_failed_and_not_disagreed() -> None:
    problem = sample_problem("svm.soft", rbf(0.4))
    found = judged(problem, from_estimator(SVC(C=problem.C, gamma=0.4, max_iter=1)))
    assert found.agreement is Agreement.FAILED
    assert found.evidence.run.status is Status.ITERATION_LIMIT
    assert "it warns 'Solver terminated early" in found.evidence.run.reason


def test_an_estimator_without_coefficients_is_read_by_its_values() -> None:
    """A kernel ridge solves no family's problem, and its values alone show that."""
    found = judged(
        sample_problem("svr.l1", rbf(0.4)),
        from_estimator(KernelRidge(kernel="rbf", gamma=0.4), ("svr.l1",)),
    )
    assert found.agreement is Agreement.DISAGREES
    assert not found.evidence.point.has_alpha


def test_points_of_weight_0_and_other_weights_are_handed_on() -> None:
    problem = sample_problem("svm.soft", rbf(0.4))
    weighed = classification(
        problem.X, problem.rows.y, problem.C, rbf(0.4), sample_weight=[0.0, 0.5, 2.0, 1.0] * 4
    )
    assert judged(weighed, libsvm()).agreement is Agreement.AGREES
    assert (
        judged(weighed, from_estimator(SVC(C=weighed.C, gamma=0.4, tol=1e-9))).agreement
        is Agreement.AGREES
    )


@pytest.mark.parametrize(
    ("solver", "problem", "words"),
    [
        (libsvm(), ranking([[0.0], [1.0]], [0, 1]), "its rows are pairs, which have no labels"),
        (
            libsvm(),
            classification([[0.0], [1.0]], [1, 1]),
            "all its labels of positive weight are of one class",
        ),
        (
            libsvm(),
            classification([[0.0], [1.0]], [1, -1], sample_weight=[1.0, 0.0]),
            "all its labels of positive weight are of one class",
        ),
        (
            libsvm(),
            regression([[0.0], [1.0]], [1, -1], sample_weight=[0.0, 0.0]),
            "all its rows have weight 0",
        ),
        (
            libsvm(),
            classification([[0.0], [1.0]], [1, -1], np.inf),
            "hard rows .* which other programs do not have",
        ),
        (
            from_fit(newton, ("svm.l2",)),
            sample_problem("svm.l2", rbf(1.0)),
            "the rbf kernel has no w",
        ),
        (
            from_fit(newton, ("svm.l2",)),
            classification([[0.0], [1.0]], [1, -1], sample_weight=[1.0, 2.0]),
            "its rows have weights: its interface has no weights",
        ),
    ],
)
def test_what_a_program_does_not_take_is_said(solver: Solver, problem: Problem, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        solve(problem, solver)


def test_what_is_missing_or_double_is_said() -> None:
    problem = sample_problem("svm.soft")
    with pytest.raises(
        ValueError, match=r"families of KernelRidge are missing; name those that it solves"
    ):
        from_estimator(KernelRidge())
    for solvers in (
        [libsvm(), libsvm()],
        [from_estimator(SVC(), name="smo")],
        [from_estimator(SVC(), name="CLARABEL")],
    ):
        with pytest.raises(
            ValueError,
            match=r"two solvers of a comparison are named '.*'; give this one another name",
        ):
            compare(problem, solvers=solvers)
    with pytest.raises(
        ValueError,
        match=r"is no solver; register a function with @solver, and request it by name",
    ):
        compare(problem, solvers=[newton])  # type: ignore[list-item]


STAND_INS = {
    "libsvm/svmutil.py": """
from pathlib import Path
from sklearn.svm import SVC
def svm_problem(y, x, isKernel): return y, x[:, 1:]
def svm_train(data, options):
    words = options.split()
    C, e = (float(words[words.index(name) + 1]) for name in ("-c", "-e"))
    return SVC(kernel="precomputed", C=C, tol=e).fit(data[1], data[0])
def svm_save_model(file, model):
    # the label of the first row is LIBSVM's first one: \
the signs of its coefficients and of rho are turned
    lines = ["svm_type c_svc", "kernel_type precomputed", "nr_class 2", \
f"total_sv {len(model.support_)}",
             f"rho {float(model.intercept_[0])!r}", "label -1 1", "SV"]
    lines += [f"{float(-c)!r} 0:{k + 1}" for k, c in zip(model.support_, model.dual_coef_[0])]
    Path(file).write_text("\\n".join(lines) + "\\n")
""",
    "liblinear/liblinearutil.py": """
from pathlib import Path
from sklearn.svm import LinearSVC
def train(y, x, options):
    words = options.split()
    s, C, e, B = (float(words[words.index(name) + 1]) for name in ("-s", "-c", "-e", "-B"))
    loss = "hinge" if s == 3 else "squared_hinge"
    return loss, B, LinearSVC(loss=loss, C=C, tol=e, fit_intercept=B > 0, \
max_iter=100_000, random_state=0).fit(x, y)
def save_model(file, model):
    loss, B, fitted = model
    kind = "L2R_L1LOSS_SVC_DUAL" if loss == "hinge" else "L2R_L2LOSS_SVC_DUAL"
    lines = [f"solver_type {kind}", "nr_class 2", "label 1 -1", \
f"nr_feature {fitted.coef_.shape[1]}", f"bias {B:g}", "w"]
    lines += [repr(float(v)) for v in fitted.coef_[0]] \
+ ([repr(float(fitted.intercept_[0]))] if B > 0 else [])
    Path(file).write_text("\\n".join(lines) + "\\n")
""",
}
"""Called parts of the interfaces of LIBSVM and LIBLINEAR, over scikit-learn's copies.

The environment need not have them.
"""


@pytest.mark.parametrize("bias", [False, "penalized"])
def test_the_interfaces_of_libsvm_and_liblinear_are_called_where_they_are_installed(
    bias: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in STAND_INS.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).with_name("__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("libsvm", "libsvm.svmutil", "liblinear", "liblinear.liblinearutil"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    soft = sample_problem("svm.soft", rbf(0.4))
    bare = classification(soft.X, soft.rows.y, 1.0, bias=bias)
    for solver, problem in ((libsvm(), soft), (liblinear(), bare)):
        assert as_a(str, solver.algorithm).endswith("by its own interface")
        assert judged(problem, solver).agreement is Agreement.AGREES
    for name in ("libsvm", "libsvm.svmutil", "liblinear", "liblinear.liblinearutil"):
        monkeypatch.delitem(sys.modules, name)


def test_the_example_runs_and_finds_the_one_that_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        example("other_solvers").main()
    finally:
        del SOLVERS["descent"]
    said = capsys.readouterr().out
    assert "disagreeing: solver by SVC of another C" in " ".join(said.split())


@pytest.mark.slow
def test_check_solver_needs_nothing_of_the_tests() -> None:
    """Only the base dependencies and hypothesis can be imported."""
    code = """
import sys
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in REFUSED or name.startswith("sklearn.utils.estimator_checks"):
            raise ImportError(f"{name} is not there")
REFUSED = {"pytest", "_pytest", "pluggy", "xdist", "build", "mypy", "ruff", \
"importlinter", "grimp", "setuptools", "pyarrow", "pandas",
    "polars", "twine", "libsvm", "liblinear"}
sys.meta_path.insert(0, Refused())
from equimargin.testing import check_formulation, check_solver, margin_problems
from hypothesis import HealthCheck, given, settings
check_solver("linear_program")
check_formulation("svm.soft.primal")
few = settings(max_examples=3, suppress_health_check=list(HealthCheck))
few(given(margin_problems("rank.l1"))(lambda problem: None))()
print("conforms")
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=HANG,
    )
    assert (answer.stdout, answer.stderr) == ("conforms\n", "")
