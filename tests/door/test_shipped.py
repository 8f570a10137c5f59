"""Bundled families, registered as a user's: forms agree, mistakes are refuted.

Relations to C-SVC and C-SVR hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from campaigns import nightly_families
from equimargin.comparison import compare
from equimargin.formulations import REGISTRY, classification, regression
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.field.nu import nu_svc, nu_svr
from equimargin.own.instances import check_own_formulation, check_own_solver, drawn
from equimargin.proofs import Agreement, Verdict
from equimargin.proofs.program import optimum
from equimargin.proofs.program.worth import worth
from equimargin.solvers import SOLVERS, exact_optimum
from equimargin.solvers.program_solution import ProgramSolution
from equimargin.solvers.solution import Limits, Status
from narrow import as_a, present

EXAMPLES = 12
"""Number of drawn instances of a check; the nightly campaign draws more."""
SHIPPED = [
    id
    for id, family in program_families().items()
    if family.module.startswith("equimargin.formulations.")
]
FORMS = [id for id, entry in REGISTRY.items() if entry.family in SHIPPED]
OF_SHIPPED = [name for name in SOLVERS if SOLVERS[name].families[0] in SHIPPED]
RNG = np.random.default_rng(5)
X = np.round(RNG.normal(size=(30, 3)), 2)
SCORES = X @ np.array([1.0, -1.0, 0.5]) + 0.5 * RNG.normal(size=30)
LEVELS = np.digitize(SCORES, [-0.75, 0.0, 0.75])
ABOVE = np.triu(np.random.default_rng(7).integers(1, 8, (6, 6)) / 8, 1)
LARGER: dict[str, dict[str, Any]] = {
    "svm.general": {"X": X, "y": (SCORES > 0).astype(int), "C": 0.5, "sigma": 2.0, "tau": 2.0},
    "coupling.wlw": {"r": ABOVE + np.tril(1 - ABOVE.T, -1)},
    "ord.explicit": {"X": X, "y": np.tile([0, 2, 0, 2, 1], 6), "C": 1.0},
    "ord.sum": {
        "X": X,
        "y": np.array([0, 2, 1])[np.digitize(X @ np.array([1.0, -1.0, 0.5]), [-0.75, 0.75])],
        "C": 0.25,
    },
    "one_class": {"X": X + 1, "nu": 0.25},
    "nu_svc": {"X": X, "y": (SCORES > 0).astype(int), "nu": 0.5},
    "nu_svr": {"X": X, "y": np.round(SCORES, 2), "nu": 0.5, "C": 4.0},
    "one_norm_svm": {"X": X, "y": (SCORES > 0).astype(int), "C": 1.0},
    "one_norm_svm_l2": {"X": X, "y": (SCORES > 0).astype(int), "C": 0.5},
    "crammer_singer": {"X": X, "y": np.digitize(SCORES, [-0.5, 0.5]), "C": 0.5},
    "quantile": {"X": X, "y": np.round(SCORES, 2), "tau": 0.75, "penalty": 0.125},
    "lasso": {"X": X, "y": np.round(SCORES, 2), "penalty": 2.0},
    "group_lasso": {
        "X": X,
        "y": np.round(SCORES, 2),
        "penalty": 2.0,
        "groups": np.array([0, 1, 1]),
    },
    "ls_svm": {"X": X, "y": (SCORES > 0).astype(int), "C": 1.0},
}
"""Data of 30 points for every family."""


def test_there_are_data_for_every_family() -> None:
    assert sorted(SHIPPED) == sorted(LARGER)
    assert len(SHIPPED) == 14


@pytest.fixture
def unshrunk() -> Iterator[None]:
    """Keep a refuting instance as it was sampled; shrinking it would take most of the time."""
    before = settings.get_current_profile_name()
    settings.load_profile("faults")
    yield
    settings.load_profile(before)


@pytest.mark.slow
@pytest.mark.usefixtures("unshrunk")
@pytest.mark.parametrize("id", FORMS)
def test_every_form_conforms_and_every_mistake_is_refuted(id: str) -> None:
    entry = as_a(Formulation, REGISTRY[id])
    refuted = check_own_formulation(entry, EXAMPLES)
    if entry.control:
        assert f"{id} has the optimum" in str(present(refuted))


@pytest.mark.usefixtures("unshrunk")
def test_solver_of_the_value_nan_is_refuted() -> None:
    def of_nan(problem: Any, *_: Any) -> ProgramSolution:
        return ProgramSolution(problem, "nan", Status.OPTIMAL, "", None, 0.0, 1e-6, np.nan)

    with pytest.raises(AssertionError, match="has the value nan, where the optimum is"):
        check_own_solver(replace(SOLVERS["one_class.libsvm"], function=of_nan), examples=1)


def test_libsvm_has_the_multipliers_of_a_half_space_without_an_offset() -> None:
    """At nu = 1 every multiplier is at its bound.

    scikit-learn refuses the model for its infinite offset.
    """
    problem = FAMILIES["one_class"]({"X": X + 1, "nu": 1.0})
    found: Any = SOLVERS["one_class.libsvm"].run(problem, Limits(), None)
    assert worth(problem, found).interval.upper == pytest.approx(optimum(problem).upper, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("id", SHIPPED)
def test_a_larger_problem_agrees_and_the_mistake_disagrees(id: str) -> None:
    family = FAMILIES[id]
    found = compare(family(LARGER[id]), include_controls=True)
    (verdict,) = found.families
    assert verdict.verdict is Verdict.AGREE, str(found)
    assert verdict.interval.relative_width < 1e-8
    against = {
        j.evidence.run.formulation for j in verdict.judgements if j.agreement is Agreement.DISAGREES
    }
    assert against == {
        entry.id for entry in REGISTRY.values() if entry.family == id and entry.control
    }
    solvers = [j for j in verdict.judgements if j.evidence.run.formulation is None]
    assert [j.agreement for j in solvers] == [
        Agreement.AGREES for name in OF_SHIPPED if SOLVERS[name].families[0] == id
    ], str(found)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("lasso", {"penalty": ...}, "data of lasso: they lack penalty; they are X, y, penalty"),
    (
        "lasso",
        {"penalti": 1.0},
        "they have 'penalti', and are X, y, penalty; did you mean penalty?",
    ),
    ("lasso", {"penalty": 0.0}, "penalty must be a positive finite number, not 0"),
    ("lasso", {"X": X.tolist()}, "X must be a numpy array, not a list"),
    (
        "lasso",
        {"X": X[:, 0]},
        r"X must be a matrix with points in rows and features in columns, not of shape \(30,\)",
    ),
    ("lasso", {"X": np.where(X > 1, np.nan, X)}, "X must hold finite numbers"),
    (
        "lasso",
        {"y": SCORES[:4]},
        r"y must be 30 numbers, one for every row of X, not of shape \(4,\)",
    ),
    (
        "group_lasso",
        {"groups": np.array([0, 1])},
        "groups must be 3 numbers, one for every feature",
    ),
    ("one_class", {"nu": 1.5}, "nu must be a number above 0 and at most 1, not 1.5"),
    ("nu_svc", {"y": np.where(SCORES > 0, 1, -1)}, "y must hold classes, 0 or 1, and holds -1"),
    ("nu_svr", {"C": "1"}, "C must be a positive finite number, not '1'"),
    ("one_norm_svm", {"y": LEVELS}, "y must hold classes, 0 or 1, and holds 2"),
    ("one_norm_svm_l2", {"C": 0.0}, "C must be a positive finite number, not 0"),
    ("ls_svm", {"C": np.inf}, "C must be a positive finite number, not inf"),
    (
        "crammer_singer",
        {"y": LEVELS + 1},
        "y must hold classes, counted from 0 without a gap, and holds 4",
    ),
    ("quantile", {"tau": 1.0}, "tau must be a number above 0 and below 1, not 1"),
    ("quantile", {"penalty": -1.0}, "penalty must be a finite number that is at least 0, not -1"),
    ("svm.general", {"sigma": 0.5}, "sigma must be a finite number that is at least 1, not 0.5"),
    (
        "svm.general",
        {"sigma": 1.0, "tau": 0.5},
        "sigma tau must be at least 1, and is 0.5: else the problem is not convex",
    ),
    ("coupling.wlw", {"r": ABOVE}, "r_ij . r_ji must be 1 for every two classes"),
    ("coupling.wlw", {"r": ABOVE[None]}, r"r must be a square matrix, not of shape \(1, 6, 6\)"),
    ("coupling.wlw", {"r": 2 - ABOVE}, "r must hold probabilities, numbers from 0 to 1"),
]
"""Families, faults of their data (... is a missing entry), and messages."""


@pytest.mark.parametrize(("id", "change", "said"), WRONG)
def test_data_that_a_family_does_not_have_are_refused(
    id: str, change: dict[str, Any], said: str
) -> None:
    data = {name: value for name, value in (LARGER[id] | change).items() if value is not ...}
    with pytest.raises(ValueError, match=said):
        FAMILIES[id](data)


def test_solvers_say_which_data_they_do_not_take() -> None:
    two = FAMILIES["crammer_singer"](LARGER["crammer_singer"] | {"y": np.arange(30) % 2})
    assert "fewer than three classes" in str(SOLVERS["crammer_singer.liblinear"].refusal(two))
    large = nu_svc({"X": X[:4], "y": np.array([0, 1, 1, 1]), "nu": 1.0})
    assert "2 min(m+, m-) / m = 0.5" in str(SOLVERS["nu_svc.libsvm"].refusal(large))


def test_every_family_checks_its_data() -> None:
    assert [id for id in SHIPPED if FAMILIES[id].check is None] == []
    with pytest.raises(
        ValueError, match="data of lasso: they must be a mapping with X, y, penalty, not 7"
    ):
        FAMILIES["lasso"](7)


@pytest.mark.parametrize("seed", range(6))
def test_nu_svc_is_c_svc_at_the_cost_of_its_margin(seed: int) -> None:
    """v = rho^2 v_C - nu rho at C = 1 / (m rho), where the optimal rho is above 0.

    The C-SVC is the project's, solved exactly.
    """
    data: dict[str, Any] = {
        "X": np.round(np.random.default_rng(seed).normal(size=(8, 2)) * 4),
        "y": np.array([0, 1] * 4),
        "nu": 0.5,
    }
    proven = optimum(nu_svc(data))
    rho = float(nu_svc(data).values_at("nu_svc.primal", present(proven.x))["rho"])
    if rho < 1e-9:
        assert proven.upper == pytest.approx(0.0, abs=1e-12)
        return
    problem = classification(data["X"], 2.0 * data["y"] - 1.0, C=1 / (8 * rho))
    linked = Fraction(rho) ** 2 * present(exact_optimum(problem).value) - Fraction(0.5) * Fraction(
        rho
    )
    assert float(linked) == pytest.approx(proven.upper, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_nu_svr_is_c_svr_at_the_width_of_its_tube(seed: int) -> None:
    """v = v_C(eps) + C nu eps at the cost C / m and the optimal eps."""
    rng = np.random.default_rng(seed)
    data: dict[str, Any] = {
        "X": np.round(rng.normal(size=(8, 2)) * 4),
        "y": np.round(rng.normal(size=8) * 4),
        "nu": 0.5,
        "C": 4.0,
    }
    proven = optimum(nu_svr(data))
    eps = float(nu_svr(data).values_at("nu_svr.primal", present(proven.x))["eps"])
    problem = regression(data["X"], data["y"], C=0.5, epsilon=eps)
    linked = present(exact_optimum(problem).value) + Fraction(2) * Fraction(eps)
    assert float(linked) == pytest.approx(proven.upper, rel=1e-10)


def test_a_large_nu_is_refused_by_the_form_that_has_no_optimum_then() -> None:
    problem = nu_svc({"X": X[:4], "y": np.array([0, 1, 1, 1]), "nu": 1.0})
    assert "2 min(m+, m-) / m = 0.5" in str(REGISTRY["nu_svc.hinge"].refusal(problem))
    assert optimum(problem).lower == optimum(problem).upper == -float("inf")
    assert optimum(problem, "nu_svc.dual").upper == -float("inf")


def test_the_campaign_of_the_night_looks_at_all_and_reports_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {check.name for check in nightly_families.checks(1)} == {*FORMS, *OF_SHIPPED}
    few = [
        check
        for check in nightly_families.checks(2)
        if check.name in ("lasso.primal", "lasso.dual")
    ]
    lines: list[str] = []

    def wrong(seed: int) -> None:
        raise AssertionError("a form is wrong")

    assert replace(nightly_families.CAMPAIGN, checks=lambda _: few).main([], lines.append) == 0
    few.append(nightly_families.check("wrong", wrong, 2))
    assert replace(nightly_families.CAMPAIGN, checks=lambda _: few).main([], lines.append) == 1
    assert any("it does not conform: a form is wrong" in line for line in lines)


def test_data_are_drawn_for_every_family() -> None:
    for family in (FAMILIES[id] for id in SHIPPED):
        assert {"X", "r"} & set(drawn(family, 1))
