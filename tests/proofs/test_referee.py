"""Logic of the referee: verdicts on constructed evidence, residuals, rays, and XOR.

Problems and rays are solved by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from equimargin.comparison import compare
from equimargin.data import load
from equimargin.formulations import (
    REGISTRY,
    Declaration,
    FormulaValue,
    Kernel,
    MarginProblem,
    Point,
    classification,
    declare,
    linear,
    one_norm_classification,
    polynomial,
    precomputed,
    ranking,
)
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.bounds.multipliers_from_f import recover_multipliers
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs import Agreement, Evidence, Verdict, examine, examine_solution, judge
from equimargin.proofs.referee import (
    Availability,
    Claim,
    PointProof,
    Run,
    SolveAccuracy,
    extract_ray,
    find_available_answers,
    own_residual,
    skipped,
    stable,
)
from equimargin.proofs.referee.evidence import what_was_raised
from equimargin.proofs.referee.rays import RAY_TOLERANCE, Ray
from equimargin.solvers import SOLVERS, Status, exact_optimum, solve, solve_declaration
from equimargin.solvers.backends.solve import Answer, BackendResult, BackendValues
from equimargin.testing import sample_problem
from narrow import present

# Evidence made by hand: the family's optimum is 1, its P(0) is 10.


def declared(id: str = "one", **changes: Any) -> Evidence:
    """Return a declaration's perfect answer, changed by the names of its figures.

    Its bounds are exact unless `inner_lower` or `inner_upper` is given, `has_f` and
    `has_alpha` say which sides it supplies, and its ray, if `ray` is true, is unbounded
    unless `reach` is given.
    """
    figures: dict[str, Any] = {
        "lower": 1.0,
        "upper": 1.0,
        "has_f": True,
        "has_alpha": True,
        "ray": False,
        "reach": np.inf,
    } | changes
    known: dict[str, dict[str, Any]] = {
        "run": {
            "formulation": id,
            "solver": "backend",
            "control": False,
            "status": Status.OPTIMAL,
            "reason": "",
        },
        "claim": {"value": 1.0, "mismatch": 0.0},
        "point": {},
        "accuracy": {"residual": 0.0, "normwise": 0.0},
    }
    lower, upper, ray, reach = (figures.pop(name) for name in ("lower", "upper", "ray", "reach"))
    inner = Interval(figures.pop("inner_lower", lower), figures.pop("inner_upper", upper))
    side = {True: np.zeros(1), False: None}
    point = Point(beta=side[figures.pop("has_f")], alpha=side[figures.pop("has_alpha")])
    for group, kind in {
        "run": Run,
        "claim": Claim,
        "point": PointProof,
        "accuracy": SolveAccuracy,
    }.items():
        names = {field.name for field in fields(kind)} & set(figures)
        known[group] |= {name: figures.pop(name) for name in names}
    assert not figures, figures
    return Evidence(
        Run("family", **known["run"]),
        Claim(reach=reach if ray else None, **known["claim"]),
        PointProof(point, Interval(lower, upper), inner, **known["point"]),
        SolveAccuracy(**known["accuracy"]),
    )


def solved(name: str = "solver", **changes: Any) -> Evidence:
    """Return a specialised solver's perfect answer, changed by the names of its figures."""
    return declared(formulation=None, solver=name, **changes)


def agreement(evidence: Evidence, tol: float = 1e-6) -> Agreement:
    """Return its agreement next to a perfect declaration and a perfect solver."""
    return (
        judge("family", [declared("right"), solved(), evidence], 10.0, tol).judgements[-1].agreement
    )


def verdict(*evidence: Evidence, **options: Any) -> Verdict:
    return judge("family", evidence, 10.0, **options).verdict


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Agreement.AGREES),
        ({"value": 1 + 9e-7}, Agreement.AGREES),
        ({"value": 1 + 2e-6}, Agreement.DISAGREES),
        ({"value": 1 - 2e-6}, Agreement.DISAGREES),
        ({"value": -1.0}, Agreement.DISAGREES),
        ({"mismatch": 9e-7}, Agreement.AGREES),
        ({"mismatch": 2e-6}, Agreement.DISAGREES),
        ({"upper": 1 + 2e-6}, Agreement.DISAGREES),
        ({"upper": np.inf}, Agreement.DISAGREES),
        ({"lower": 1 - 2e-6}, Agreement.DISAGREES),
        ({"lower": -np.inf}, Agreement.DISAGREES),
        ({"lower": -np.inf, "has_alpha": False}, Agreement.AGREES),
        ({"has_f": False, "upper": np.inf}, Agreement.INACCURATE),
        ({"has_f": False, "has_alpha": False}, Agreement.DISAGREES),
        # Rounding by the referee is not counted against an answer.
        ({"upper": 1 + 2e-6, "inner_upper": 1.0}, Agreement.INACCURATE),
        ({"upper": 1.9, "inner_upper": 1.8999}, Agreement.DISAGREES),
        ({"lower": 0.5, "inner_lower": 1.0}, Agreement.INACCURATE),
        ({"upper": np.inf, "inner_upper": 1.0}, Agreement.INACCURATE),
        ({"upper": np.inf, "inner_upper": 1.0, "value": 1.1}, Agreement.DISAGREES),
        ({"mismatch": 2e-6, "cancellation": 2e-6}, Agreement.INACCURATE),
        ({"mismatch": 2e-4, "cancellation": 2e-6}, Agreement.DISAGREES),
        # Reported values: within ten times the residual.
        ({"value": 1 + 9e-5, "residual": 1e-5}, Agreement.INACCURATE),
        ({"value": 1 + 1.1e-4, "residual": 1e-5}, Agreement.DISAGREES),
        ({"value": 1 + 9e-5, "normwise": 1e-5}, Agreement.INACCURATE),
        # Points: within thirty times the square root of the residual.
        ({"upper": 1 + 2.9e-2, "residual": 1e-6}, Agreement.INACCURATE),
        ({"upper": 1 + 3.1e-2, "residual": 1e-6}, Agreement.DISAGREES),
        # Where the rounding error exceeds 1, thirty times itself: its square enters
        # 1/2 |f|^2.
        ({"upper": 290.0, "cancellation": 10.0}, Agreement.INACCURATE),
        ({"upper": 310.0, "cancellation": 10.0}, Agreement.DISAGREES),
        # A residual explains nothing beyond 1e-3.
        ({"value": 1.005, "residual": 9e-4}, Agreement.INACCURATE),
        ({"value": 1.005, "residual": 1.1e-3}, Agreement.FAILED),
        ({"value": 2.0, "residual": np.inf}, Agreement.FAILED),
        ({"upper": np.inf, "residual": 9e-4}, Agreement.DISAGREES),
        # A right answer is right at any residual and status of its solver.
        ({"residual": np.inf}, Agreement.AGREES),
        ({"status": Status.NUMERICAL_FAILURE}, Agreement.AGREES),
        ({"value": 2.0, "status": Status.OPTIMAL}, Agreement.DISAGREES),
        # Rays.
        ({"value": np.inf, "ray": True}, Agreement.DISAGREES),
        ({"value": -np.inf, "ray": True, "residual": np.inf}, Agreement.DISAGREES),
        ({"value": np.inf, "ray": False, "residual": np.inf}, Agreement.FAILED),
        (
            {
                "value": 0.9,
                "ray": True,
                "residual": np.inf,
                "upper": np.inf,
                "has_f": False,
                "has_alpha": False,
            },
            Agreement.DISAGREES,
        ),
        (
            {
                "value": 1.0,
                "ray": True,
                "residual": np.inf,
                "upper": np.inf,
                "has_f": False,
                "has_alpha": False,
            },
            Agreement.FAILED,
        ),
        # NaN is never right.
        ({"value": np.nan}, Agreement.DISAGREES),
        ({"mismatch": np.nan}, Agreement.DISAGREES),
        ({"upper": np.nan}, Agreement.DISAGREES),
        ({"lower": np.nan}, Agreement.DISAGREES),
        ({"upper": np.nan, "residual": np.inf}, Agreement.FAILED),
        ({"derived_lower": np.nan}, Agreement.AGREES),
        ({"value": np.nan, "residual": np.nan}, Agreement.FAILED),
        ({"value": 2.0, "residual": np.nan}, Agreement.FAILED),
        ({"value": 2.0, "normwise": np.nan}, Agreement.FAILED),
        ({"skipped": True}, Agreement.SKIPPED),
    ],
)
def test_an_answer_is_judged(changes: dict[str, object], expected: Agreement) -> None:
    assert agreement(declared("judged", **changes)) is expected


FAR: dict[str, Any] = {
    "value": 1.01,
    "upper": 1.01,
    "lower": 0.9,
    "residual": 0.11,
    "status": Status.FINISHED,
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Agreement.DISAGREES),
        ({"status": Status.OPTIMAL}, Agreement.DISAGREES),
        # An answer stopped by a limit has not converged.
        ({"status": Status.TIME_LIMIT}, Agreement.FAILED),
        ({"status": Status.ITERATION_LIMIT}, Agreement.FAILED),
        ({"status": Status.NUMERICAL_FAILURE}, Agreement.FAILED),
        # A point does not count as wrong if rounding explains it, or if its error is not
        # proven to be a thousandth.
        ({"inner_upper": 1.0009, "inner_lower": 0.9991}, Agreement.FAILED),
        ({"arithmetic": 1e-2}, Agreement.FAILED),
        ({"value": 1.0009, "upper": 1.0009, "inner_lower": 0.9991}, Agreement.FAILED),
        # Either side that it supplies may be wrong.
        ({"value": 1.0, "upper": 1.0}, Agreement.DISAGREES),
        ({"inner_lower": 1.0}, Agreement.DISAGREES),
        ({"has_f": False}, Agreement.DISAGREES),
        ({"has_f": False, "inner_lower": 0.9995}, Agreement.FAILED),
        # A function without multipliers proves only its distance from the optimum.
        ({"has_alpha": False, "lower": -np.inf, "residual": None}, Agreement.DISAGREES),
        (
            {"has_alpha": False, "lower": -np.inf, "residual": None, "status": Status.TIME_LIMIT},
            Agreement.FAILED,
        ),
        (
            {
                "has_alpha": False,
                "lower": -np.inf,
                "residual": None,
                "value": 1.0005,
                "upper": 1.0005,
            },
            Agreement.INACCURATE,
        ),
        (
            {
                "has_alpha": False,
                "lower": -np.inf,
                "residual": None,
                "value": 1 + 5e-7,
                "upper": 1 + 5e-7,
            },
            Agreement.AGREES,
        ),
    ],
)
def test_a_solver_that_has_come_to_its_end_far_from_the_optimum_disagrees(
    changes: dict[str, Any], expected: Agreement
) -> None:
    assert agreement(solved("judged", **FAR | changes)) is expected
    if (
        changes.get("has_alpha", True)
        and changes.get("has_f", True)
        and expected is Agreement.DISAGREES
    ):
        # A declaration has its own problem, and has not solved it.
        assert agreement(declared("judged", **FAR | changes)) is Agreement.FAILED


def test_the_tolerance_is_relative_to_the_optimum_or_to_the_value_at_zero() -> None:
    """S = max(|lower|, |upper|, 1e-4 P(0))."""
    small: dict[str, Any] = {"value": 0.0, "lower": 0.0, "upper": 0.0}
    evidence = [
        declared("a", **small),
        solved(**small),
        declared("b", **small | {"value": 5e-10}),
        declared("c", **small | {"value": 5e-9}),
    ]
    found = judge("family", evidence, 10.0).judgements
    assert [j.agreement for j in found] == [Agreement.AGREES] * 3 + [Agreement.DISAGREES]
    assert found[2].claim == pytest.approx(5e-7)
    assert judge("family", evidence, 1e4).judgements[3].agreement is Agreement.AGREES


def test_every_bound_of_the_family_counts_for_every_answer() -> None:
    """Neither of two answers proves anything alone; the third is measured against both."""
    below, above = (
        declared("below", upper=np.inf, has_f=False),
        declared("above", lower=-np.inf, has_alpha=False),
    )
    found = judge("family", [below, above, declared("wide", lower=0.5, upper=3.0)], 10.0)
    assert (found.interval.lower, found.interval.upper) == (1.0, 1.0)
    assert found.judgements[1].agreement is Agreement.AGREES
    assert found.judgements[2].off == pytest.approx(2.0)


def test_a_control_neither_proves_nor_spoils() -> None:
    """Its bounds do not count for the family; it is expected to disagree."""
    control = declared("control", control=True, value=0.5, lower=3.0, upper=0.1)
    found = judge("family", [declared(), solved(), control], 10.0)
    assert (found.interval.lower, found.interval.upper) == (1.0, 1.0)
    assert found.judgements[-1].agreement is Agreement.DISAGREES
    assert found.verdict is Verdict.AGREE
    assert found.count(Agreement.AGREES) == 2
    assert found.count(Agreement.DISAGREES) == 0


INACCURATE: dict[str, Any] = {"value": 1 + 5e-5, "residual": 1e-5}
FAILED: dict[str, Any] = {"value": 3.0, "residual": np.inf}


def test_a_family_agrees_by_a_declaration_and_a_solver() -> None:
    assert verdict(declared(), solved()) is Verdict.AGREE
    assert (
        verdict(declared(), solved(), declared("two", **INACCURATE), declared("three", **FAILED))
        is Verdict.AGREE
    )


TOO_LARGE = Availability(undeclarable="the problem is too large to declare", too_large=True)
UNDECLARABLE = Availability(undeclarable="no formulation takes the problem")
UNSOLVABLE = Availability(unsolvable="no specialised solver takes the problem")


def test_a_family_agrees_by_two_declarations_without_a_solver() -> None:
    for possible, reason in (
        (Availability(), "no specialised solver was requested"),
        (UNSOLVABLE, UNSOLVABLE.unsolvable),
    ):
        found = judge(
            "family",
            [declared("one"), declared("two", solver="another backend")],
            10.0,
            possible=possible,
        )
        assert (found.verdict, found.reason) == (Verdict.AGREE, f"two declarations agree; {reason}")


def test_two_declarations_by_one_backend_are_said_to_be() -> None:
    found = judge("family", [declared("one"), declared("two")], 10.0)
    assert (found.verdict, found.reason) == (
        Verdict.AGREE,
        "two declarations agree, all by backend; no specialised solver was requested",
    )


def test_two_declarations_by_one_backend_are_no_verdict_beside_a_solver_that_failed() -> None:
    found = judge("family", [declared("one"), declared("two"), solved(**FAILED)], 10.0)
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason.endswith("; backend computed every answer that agrees: that is one source")


INFEASIBLE: dict[str, Any] = {
    "value": np.inf,
    "ray": True,
    "infeasible": True,
    "upper": np.inf,
    "has_f": False,
    "has_alpha": False,
}


def test_two_rays_of_one_backend_are_no_verdict_without_a_proven_interval() -> None:
    alone = [declared("one", **INFEASIBLE), declared("two", **INFEASIBLE)]
    found = judge("family", alone, 10.0)
    assert (found.verdict, found.feasible, found.interval.upper) == (
        Verdict.UNDECIDED,
        False,
        np.inf,
    )
    assert found.reason.endswith("; backend computed every answer that agrees: that is one source")
    for also in (declared("two", solver="another backend", **INFEASIBLE), solved(**INFEASIBLE)):
        assert verdict(*alone, also) is Verdict.AGREE


def test_one_backend_agrees_on_an_optimum_that_points_prove_not_on_infeasibility_by_rays() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    soft, hard = (
        compare(classification(X, [1, -1, 1], C=C), "*", "CLARABEL").families[0]
        for C in (1.0, np.inf)
    )
    assert (soft.verdict, soft.interval.relative_width <= 1e-6) == (Verdict.AGREE, True)
    assert (
        soft.reason
        == "two declarations agree, all by CLARABEL; no specialised solver was requested"
    )
    assert (hard.verdict, hard.feasible, hard.interval.relative_width) == (
        Verdict.UNDECIDED,
        False,
        np.inf,
    )
    assert hard.reason.startswith("infeasible: 3 declarations agree")
    both = compare(classification(X, [1, -1, 1], C=np.inf), "*", ["CLARABEL", "SCS"]).families[0]
    assert both.verdict is Verdict.AGREE


def test_one_backend_within_a_wide_interval_is_one_witness() -> None:
    """An example is a user-defined family whose exact optimum is not found in time."""
    wide = Interval(0.5, 2.0)
    own = {"own": wide, "lower": 0.5, "upper": 2.0}
    assert verdict(declared("one", **own), declared("two", **own)) is Verdict.UNDECIDED
    assert (
        verdict(declared("one", **own), declared("two", solver="another backend", **own))
        is Verdict.AGREE
    )


def test_a_family_of_controls_alone_says_that_they_decide_nothing() -> None:
    found = judge("family", [declared("one", control=True), declared("two", control=True)], 10.0)
    assert found.verdict is Verdict.UNDECIDED
    assert (
        found.reason == "only negative controls were requested, which decide nothing; "
        "no specialised solver was requested"
    )


def test_two_solvers_alone_agree_only_where_the_problem_is_too_large_to_declare() -> None:
    """They do not if no declaration was requested, or if one was run and failed."""
    large = skipped("family", "one", "backend", False, Status.TOO_LARGE, "too large")
    two = [solved("one"), solved("two")]
    for evidence in (two, [large, *two]):
        found = judge("family", evidence, 10.0, possible=TOO_LARGE)
        assert found.verdict is Verdict.AGREE
        assert (
            found.reason
            == "two solvers of different algorithms agree; the problem is too large to declare"
        )
        assert judge("family", evidence, 10.0).verdict is Verdict.UNDECIDED
    assert judge("family", two, 10.0, possible=UNDECLARABLE).verdict is Verdict.UNDECIDED
    assert judge("family", two[:1], 10.0, possible=TOO_LARGE).verdict is Verdict.UNDECIDED


def test_every_way_to_be_undecided_has_its_own_sentence() -> None:
    """The sentence depends on the possible and the requested answers.

    No two cases share one.
    """
    large = skipped("family", "one", "backend", False, Status.TOO_LARGE, "too large")
    unsuited = skipped("family", None, "solver", False, Status.UNSUPPORTED, "unsuited")
    declarations = {
        "one declaration agrees": (
            [declared("one"), declared("one", solver="another backend")],
            Availability(),
        ),
        "no declaration that was run agrees": (
            [declared("one", **INACCURATE), declared("two", **FAILED)],
            Availability(),
        ),
        "the problem is too large to declare": ([large], TOO_LARGE),
        "no formulation takes the problem": ([], UNDECLARABLE),
        "every declaration that was requested was skipped": ([large], Availability()),
        "no declaration was requested": ([], Availability()),
    }
    solvers = {
        "one specialised solver agrees": ([solved("one"), solved("one")], Availability()),
        "2 specialised solvers agree": ([solved("one"), solved("two")], Availability()),
        "no specialised solver that was run agrees": ([solved("one", **FAILED)], Availability()),
        "no specialised solver takes the problem": ([], UNSOLVABLE),
        "every specialised solver that was requested was skipped": ([unsuited], Availability()),
        "no specialised solver was requested": ([], Availability()),
    }
    sentences = []
    for said, (evidence, possible) in declarations.items():
        for also, (more, able) in solvers.items():
            found = judge(
                "family",
                [*evidence, *more],
                10.0,
                possible=replace(possible, unsolvable=able.unsolvable),
            )
            if found.verdict is Verdict.AGREE:
                continue
            assert (found.verdict, found.reason) == (Verdict.UNDECIDED, f"{said}; {also}")
            sentences.append(found.reason)
    assert len(set(sentences)) == len(sentences) == len(declarations) * len(solvers) - 3


@pytest.mark.parametrize(
    "evidence",
    [
        (),
        (declared(),),
        (solved(),),
        (declared("one"), declared("one", solver="another backend")),
        (solved("one"), solved("one")),
        (declared("one"), declared("two"), solved(**FAILED)),
        (declared("one"), solved(**INACCURATE)),
        (declared("one", **INACCURATE), solved()),
        (declared("one", **INACCURATE), solved("one"), solved("two")),
        (skipped("family", "one", "backend", False, Status.TOO_LARGE, "too large"), solved("one")),
        (declared("one", control=True), solved()),
    ],
)
def test_a_family_is_undecided_by_less(evidence: tuple[Evidence, ...]) -> None:
    assert verdict(*evidence) is Verdict.UNDECIDED


def test_who_takes_a_problem_is_asked_of_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.arange(400.0)[:, None]
    assert find_available_answers(sample_problem("svm.soft")) == Availability()
    # There are 79,800 pairs.
    large = find_available_answers(ranking(X, X[:, 0]))
    assert (large.too_large, large.unsolvable) == (True, "")
    y, qid = np.tile([0, 1, 2], 2), np.repeat([0, 1], 3)
    mixed = ranking(X[:6], y, qid, loss="squared_hinge", query_weight={0: np.inf})
    assert find_available_answers(mixed) == Availability()
    others = {
        name: entry for name, entry in SOLVERS.items() if name != "penalty"
    }  # the only one that takes it
    monkeypatch.setattr(sys.modules["equimargin.proofs.referee.ways"], "SOLVERS", others)
    hard = find_available_answers(mixed)
    assert (hard.too_large, hard.undeclarable) == (False, "")
    assert hard.unsolvable == "no specialised solver takes the problem"
    unweighted = find_available_answers(
        classification(X[:3], [1.0, -1.0, 1.0], np.inf, sample_weight=[1.0, 1.0, 0.0])
    )
    assert (unweighted.too_large, unweighted.undeclarable) == (
        False,
        "no formulation takes the problem",
    )


def test_one_disagreement_is_enough() -> None:
    found = judge("family", [declared(), solved(), declared("wrong", value=2.0)], 10.0)
    assert found.verdict is Verdict.DISAGREE
    assert found.reason == "disagreeing: wrong by backend"
    assert (
        verdict(declared(), solved(), declared("wrong", ray=True, value=np.inf)) is Verdict.DISAGREE
    )


@pytest.mark.parametrize("side", ["lower", "upper", "derived_lower"])
def test_a_bound_that_is_no_number_is_nobodys(side: str) -> None:
    """A NaN bound affects at most the answer that has it, at any place in the list."""
    spoiled = declared("spoiled", **{side: np.nan})
    for evidence in (
        [spoiled, declared(), solved()],
        [declared(), solved(), spoiled],
        [declared(), spoiled, solved()],
    ):
        found = judge("family", evidence, 10.0)
        assert (found.interval.lower, found.interval.upper) == (1.0, 1.0)
        assert [j.agreement for j in found.judgements if j.evidence is not spoiled] == [
            Agreement.AGREES
        ] * 2


# Multipliers that the referee computes from an answer's f: they belong to the family,
# and no answer is judged by them.


def functional(id: str = "functional", **changes: Any) -> Evidence:
    """Return the perfect answer of a form without multipliers."""
    return declared(id, **{"lower": -np.inf, "has_alpha": False, "derived_lower": 1.0} | changes)


def test_derived_multipliers_prove_a_bound_for_everybody() -> None:
    low = declared("low", value=0.9, lower=0.9, has_f=False)
    found = judge("family", [functional(), low], 10.0)
    assert (found.interval.lower, found.interval.upper) == (1.0, 1.0)
    assert [j.agreement for j in found.judgements] == [Agreement.AGREES, Agreement.DISAGREES]
    assert judge("family", [functional(derived_lower=0.9), low], 10.0).judgements[1].claim == 0.0


@pytest.mark.parametrize("derived", [1.0, 0.3, -np.inf])
def test_bad_derived_multipliers_are_not_held_against_the_answer(derived: float) -> None:
    found = judge("family", [functional(derived_lower=derived), declared(), solved()], 10.0)
    (judgement, *_) = found.judgements
    assert (judgement.agreement, judgement.claim, judgement.off) == (Agreement.AGREES, 0.0, 0.0)
    assert found.verdict is Verdict.AGREE


@pytest.mark.parametrize(
    ("changes", "lower", "kind"),
    [
        ({"lower": 0.8, "derived_lower": 0.9, "has_alpha": True}, 0.8, "own"),
        ({"derived_lower": 0.9}, 0.9, "derived"),
        ({"derived_lower": -np.inf}, 1.0, "family"),
    ],
)
def test_a_width_is_of_the_answers_own_bounds_first(
    changes: dict[str, Any], lower: float, kind: str
) -> None:
    judgement = judge("family", [functional(**changes), declared()], 10.0).judgements[0]
    assert (judgement.lower, judgement.lower_kind) == (lower, kind)
    assert judgement.relative_width == pytest.approx(1 - lower)


def test_a_controls_derived_multipliers_prove_nothing() -> None:
    found = judge(
        "family",
        [declared(), solved(), functional("control", control=True, derived_lower=3.0)],
        10.0,
    )
    assert found.interval.lower == 1.0


# Families without a feasible point.


def proof(id: str | None = "one", **changes: Any) -> Evidence:
    """Return an answer that proves that no point is feasible."""
    nothing: dict[str, Any] = {
        "value": np.inf,
        "lower": -np.inf,
        "upper": np.inf,
        "has_f": False,
        "has_alpha": False,
        "residual": np.inf,
    }
    return declared(**{"formulation": id, "infeasible": True, "ray": True} | nothing | changes)


def bound(**changes: Any) -> Evidence:
    """Return a solver's answer that proves infeasibility by a bound."""
    return proof(
        None,
        **{"solver": "solver", "ray": False, "lower": 1e20, "has_f": True, "has_alpha": True}
        | changes,
    )


def test_proofs_of_infeasibility_agree() -> None:
    found = judge("family", [proof("one"), proof("two"), bound()], 10.0)
    assert {j.agreement for j in found.judgements} == {Agreement.AGREES}
    assert (found.verdict, found.feasible, found.interval.upper) == (Verdict.AGREE, False, np.inf)
    assert found.reason.startswith("infeasible: ")
    for evidence in (
        [proof("one"), proof("two", solver="another backend")],
        [proof("one"), bound()],
    ):
        assert judge("family", evidence, 10.0).verdict is Verdict.AGREE


@pytest.mark.parametrize(
    "evidence",
    [
        [proof("one")],
        [bound()],
        [proof("one"), proof("one")],
        [proof("one", control=True), bound()],
    ],
)
def test_one_way_of_proving_infeasibility_is_not_enough(evidence: list[Evidence]) -> None:
    found = judge("family", evidence, 10.0)
    assert (found.verdict, found.feasible) == (Verdict.UNDECIDED, False)


def test_one_finite_upper_bound_refutes_every_proof() -> None:
    """Any answer may have it, even the worst point of all.

    An answer that claims more then disagrees.
    """
    for finite in (
        declared("finite"),
        solved(),
        declared("far", value=7.0, lower=-np.inf, upper=1e6, residual=np.inf),
    ):
        found = judge(
            "family",
            [
                proof("one"),
                proof("two"),
                bound(lower=-np.inf, has_alpha=False, residual=0.0),
                finite,
            ],
            10.0,
        )
        assert found.feasible
        assert [j.agreement for j in found.judgements[:3]] == [Agreement.DISAGREES] * 3
        assert found.verdict is Verdict.DISAGREE


def test_a_finite_optimum_claimed_of_an_infeasible_family_disagrees_if_it_was_solved() -> None:
    """Solved badly, or without a value, it has failed: it has no value to compare."""
    proofs = [proof("one"), bound()]
    for claimed in ({"value": 1.0}, {"value": 1e30, "lower": 1e19}):
        found = judge(
            "family",
            [*proofs, declared("claimed", **{"upper": np.inf, "lower": 0.0} | claimed)],
            10.0,
        )
        assert found.judgements[-1].agreement is Agreement.DISAGREES
        assert (found.verdict, found.feasible) == (Verdict.DISAGREE, False)
    for silent in ({"value": 1.0, "normwise": 1e-5}, {"value": np.nan}, {"value": np.inf}):
        found = judge(
            "family",
            [*proofs, declared("silent", **{"upper": np.inf, "lower": 0.0} | silent)],
            10.0,
        )
        assert found.judgements[-1].agreement is Agreement.FAILED
        assert (found.verdict, found.feasible) == (Verdict.AGREE, False)
    large = skipped("family", "large", "backend", False, Status.TOO_LARGE, "too large")
    assert judge("family", [*proofs, large], 10.0).judgements[-1].agreement is Agreement.SKIPPED


def test_proven_bounds_that_contradict_each_other_are_a_disagreement() -> None:
    """They cannot both be true: equimargin has an error, and no answer may profit from it."""
    found = judge(
        "family",
        [declared("one", lower=1.0, upper=1.5), declared("two", lower=2.0, upper=2.5), solved()],
        10.0,
    )
    assert found.verdict is Verdict.DISAGREE
    assert "contradict" in found.reason


def test_a_control_says_nothing_of_feasibility() -> None:
    found = judge("family", [proof("one"), bound(), declared("control", control=True)], 10.0)
    assert (found.verdict, found.feasible) == (Verdict.AGREE, False)
    found = judge("family", [declared(upper=np.inf), proof("control", control=True)], 10.0)
    assert found.feasible


def test_without_a_proof_a_family_counts_as_feasible() -> None:
    found = judge(
        "family", [declared("one", **FAILED, upper=np.inf), solved(**FAILED, upper=np.inf)], 10.0
    )
    assert (found.verdict, found.feasible) == (Verdict.UNDECIDED, True)


def test_without_convexity_nothing_is_decided() -> None:
    assert verdict(declared(), solved(), convex=False) is Verdict.UNDECIDED


# Residuals of min 1/2 x^2 - x + 3  s.t.  x <= 1/2, solved by hand: x = 1/2, z = 1/2,
# value 2.625.


def form(**changes: Any) -> StandardForm:
    """Return that problem in standard form, changed."""
    free = np.array([np.inf])
    one = sparse.csr_array(np.ones((1, 1)))
    known = StandardForm(one, np.array([-1.0]), one, np.array([0.5]), 0, 1, (), -free, free, 3.0)
    return replace(known, **changes)


def residual(x: float, z: float) -> tuple[float, float]:
    return own_residual(form(), np.array([x]), np.array([z]))


def test_a_solution_has_no_residual() -> None:
    assert residual(0.5, 0.5) == (0.0, 0.0)


def test_a_better_answer_to_the_same_declaration_acquits_it() -> None:
    """Two different answers to one problem cannot both be right.

    The more accurate one shows if the declaration or the backend is wrong.
    """
    wrong = declared("one", value=1.1, residual=1e-8)

    def found(*others: Evidence) -> Agreement:
        return (
            judge("family", [declared("right"), solved(), *others, wrong], 10.0)
            .judgements[-1]
            .agreement
        )

    assert found() is Agreement.DISAGREES
    assert found(declared("other")) is Agreement.DISAGREES
    assert found(declared("one")) is Agreement.FAILED
    # Inaccurate, and less accurate than the wrong answer.
    assert found(declared("one", value=1 + 1e-5, residual=1e-5)) is Agreement.DISAGREES
    # Inaccurate, but no less accurate than the wrong answer.
    assert (
        found(declared("one", mismatch=1.5e-6, residual=5e-8, cancellation=1e-6))
        is Agreement.FAILED
    )
    both = judge("family", [declared("right"), solved(), solved(value=1.1), solved()], 10.0)
    # A solver's other answers do not reclassify its wrong one.
    assert both.judgements[2].agreement is Agreement.DISAGREES


def test_a_short_ray_contradicts_nothing() -> None:
    """Rounding makes a ray of an optimum.

    A ray must lead 100 S beyond before its own conditions fail.
    """
    ray = {
        "value": np.inf,
        "ray": True,
        "residual": np.inf,
        "upper": np.inf,
        "has_f": False,
        "has_alpha": False,
    }
    assert agreement(declared("judged", **ray, reach=101.0)) is Agreement.DISAGREES
    assert agreement(declared("judged", **ray, reach=99.0)) is Agreement.FAILED


def test_only_a_ray_that_contradicts_nothing_is_called_too_short() -> None:
    ray: dict[str, Any] = {
        "value": np.inf,
        "ray": True,
        "residual": np.inf,
        "upper": np.inf,
        "has_f": False,
        "has_alpha": False,
    }
    short, long = judge(
        "family",
        [declared("right"), solved(), declared(**ray, reach=99.0), declared("two", **ray)],
        10.0,
    ).judgements[2:]
    assert (short.agreement, long.agreement) == (Agreement.FAILED, Agreement.DISAGREES)
    assert "its ray is too short" in short.ground
    assert "its ray is too short" not in long.ground


def test_a_ray_ends_where_its_curvature_turns_it_or_its_conditions_are_off() -> None:
    """The gain g t - c t^2 / 2 is at most g^2 / (2 c).

    t (violation) reaches RAY_TOLERANCE (1 + size) at a gain of g t.
    """
    endless = Ray(gain=3.0, violation=0.0, deviation=0.0, curvature=0.0, size=1.0)
    assert endless.reach == np.inf
    assert replace(endless, curvature=2.0).reach == 9.0 / 4.0
    assert replace(endless, violation=0.5).reach == pytest.approx(RAY_TOLERANCE * 2.0 * 3.0 / 0.5)
    assert replace(endless, violation=0.5, curvature=1e12).reach == 9.0 / 2e12


def test_a_difference_that_roundings_explain_is_told_with_what_they_explain() -> None:
    """The optimum is 1, and its own value is proven to be 1.01.

    Roundings of the numbers that are stated explain 0.02.
    """
    own = solved(
        "judged",
        own=Interval(1.01, 1.01),
        stated_rounding=0.02,
        value=1.01,
        has_f=False,
        has_alpha=False,
    )
    judged = judge("family", [declared("right"), solved(), own], 10.0).judgements[-1]
    assert (judged.agreement, judged.explained) == (Agreement.INACCURATE, 0.02)
    assert judged.ground.endswith("explain up to 2.0e-02: that proves no error")


def test_an_exception_is_told_with_the_line_that_raised_it() -> None:
    def inner() -> None:
        raise ValueError("no  such\nnumber")

    def outer() -> None:
        inner()

    with pytest.raises(ValueError, match="no") as caught:
        outer()
    assert (
        what_was_raised(caught.value)
        == f"ValueError: no such number (test_referee.py, line {inner.__code__.co_firstlineno + 1})"
    )


@pytest.mark.parametrize("tiny", [2.0**-38, 2.0**-43, 0.0])
def test_a_backend_is_right_of_a_gram_matrix_that_lost_its_small_eigenvalues(tiny: float) -> None:
    """Points on a line that only `tiny` on the diagonal of K makes separable.

    They are then separated at v of 4e11 or 1e13. The declared features leave that
    eigenvalue out, and SCS proves by a ray without an end that its input is infeasible.
    """
    X = np.array([[1.0, 1.0], [2.0, 1.0], [-1.0, 3.0], [1.0, 1.0]])
    problem = classification(
        X @ X.T + tiny * np.eye(4), [1, 1, 1, -1], np.inf, precomputed(), bias=False
    )
    evidence = [examine_solution(problem, solve(problem))]
    evidence += [
        examine(problem, solve_declaration(declare("svm.nobias_hard.primal", problem), name))
        for name in ("SCS", "CLARABEL")
    ]
    found = judge(problem.family, evidence, problem.scale)
    assert found.verdict is not Verdict.DISAGREE
    said = next(j for j in found.judgements if j.evidence.run.solver == "SCS")
    if found.feasible and said.evidence.claim is not None and said.evidence.claim.of_ray:
        assert said.ground.endswith(
            "its ray is too short, or rounded too much, to contradict the proven interval"
        )


def test_a_long_ray_is_held_against_nobody_where_hard_margins_are_blurred() -> None:
    """The optimum is 1: errors of the margins by 1e-10 of it are distinguished.

    Errors by 1e-2 of it are not.
    """
    ray = {
        "value": np.inf,
        "ray": True,
        "residual": np.inf,
        "upper": np.inf,
        "has_f": False,
        "has_alpha": False,
        "reach": np.inf,
    }
    assert agreement(declared("judged", **ray, blur=1e-10)) is Agreement.DISAGREES
    assert agreement(declared("judged", **ray, blur=1e-2)) is Agreement.FAILED


@pytest.mark.parametrize(
    ("side", "expected"),
    [(None, Agreement.DISAGREES), ("f", Agreement.INACCURATE), ("alpha", Agreement.DISAGREES)],
)
def test_no_law_binds_the_multipliers_of_a_linear_program(
    side: str | None, expected: Agreement
) -> None:
    assert agreement(declared("judged", upper=2.0, lp_multiplier_side=side)) is expected
    assert (
        agreement(declared("judged", upper=2.0, value=1.1, lp_multiplier_side=side))
        is Agreement.DISAGREES
    )


def test_where_float64_leaves_nothing_of_the_margins_nothing_is_held_against_anybody() -> None:
    """u C K_ii: 1e-10 at C K of 1e6, 1e-2 at 1e14."""
    X = np.array([[1.0], [-1.0]])
    examined = [
        examine_solution(p, solve(p))
        for p in (classification(1e3 * X, [1, -1], 1.0), classification(1e7 * X, [1, -1], 1.0))
    ]
    assert [e.accuracy.arithmetic for e in examined if e.accuracy] == pytest.approx(
        [2**-53 * 1e6, 2**-53 * 1e14]
    )
    assert agreement(declared("judged", value=2.0, arithmetic=1e-10)) is Agreement.DISAGREES
    assert agreement(declared("judged", value=2.0, arithmetic=1e-2)) is Agreement.FAILED


def test_residuals_by_hand() -> None:
    """x = 1, z = 1/2: r_p = 1/2, r_d = 1/2, p = 2.5, d = 2.25.

    At zeros only the second-order term sees r_d.
    """
    first_order, normwise = residual(1.0, 0.5)
    assert first_order == pytest.approx(0.25 + 0.5 * 0.5 + 1.0 * 0.5 + 0.5 * 0.5**2)
    assert normwise == pytest.approx(max(0.5 / 1.5, 0.5 / 2.0, 0.25 / 3.5))
    assert residual(0.0, 0.0) == (0.5, 0.5)


def test_a_multiplier_of_the_wrong_sign_is_none() -> None:
    assert residual(0.5, -0.5) == residual(0.5, 0.0)
    assert residual(0.5, 0.0)[1] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("x", "z"),
    [
        (None, np.zeros(1)),
        (np.zeros(1), None),
        (np.zeros(2), np.zeros(1)),
        (np.array([np.nan]), np.zeros(1)),
    ],
)
def test_without_vectors_nothing_is_known(x: np.ndarray | None, z: np.ndarray | None) -> None:
    assert own_residual(form(), x, z) == (np.inf, np.inf)


def test_bounds_of_variables_are_constraints() -> None:
    """That problem with x <= 1/2 as a bound: its multiplier is the reduced cost."""
    bounded = form(G=sparse.csr_array((0, 1)), h=np.zeros(0), nonneg=0, upper=np.array([0.5]))
    assert own_residual(bounded, np.array([0.5]), np.zeros(0)) == (0.0, 0.0)
    assert own_residual(bounded, np.array([1.0]), np.zeros(0))[1] >= 0.5 / 1.5
    assert own_residual(bounded, np.array([0.25]), np.zeros(0))[0] > 0.1


def test_a_second_order_cone() -> None:
    """min x_1  s.t.  |(3, 4)| <= x_1: x = 5, z = (1, -3/5, -4/5)."""
    cone = StandardForm(
        sparse.csr_array((1, 1)),
        np.ones(1),
        sparse.csr_array([[-1.0], [0.0], [0.0]]),
        np.array([0.0, 3.0, 4.0]),
        0,
        0,
        (3,),
        np.array([-np.inf]),
        np.array([np.inf]),
        0.0,
    )
    assert own_residual(cone, np.array([5.0]), np.array([1.0, -0.6, -0.8])) == pytest.approx(
        (0.0, 0.0), abs=1e-15
    )
    assert own_residual(cone, np.array([4.0]), np.array([1.0, -0.6, -0.8]))[1] > 0.1
    assert own_residual(cone, np.array([5.0]), np.array([1.0, 0.6, 0.8]))[1] > 0.5


# Rays.


def toy(objective: cp.Minimize | cp.Maximize, *constraints: cp.Constraint) -> Declaration:
    """Return a declaration whose canonical problem serves only to name a family."""
    x = objective.variables()[0]
    return Declaration(
        classification([[1.0]], [1.0]),
        objective,
        {str(k): c for k, c in enumerate(constraints)},
        {"x": x},
        {},
        lambda d: Point(w=np.zeros(1), b=1.0),
        lambda completion: {},
        lambda v: FormulaValue(float(objective.args[0].value)),
    )


def proves_ray(answer: Answer) -> bool:
    ray = extract_ray(answer)
    return ray is not None and ray.proves


@pytest.mark.parametrize("backend", ["CLARABEL", "SCS"])
@pytest.mark.parametrize(
    ("direction", "bounds", "value"),
    [
        (cp.Minimize, (lambda x: x <= 1,), -np.inf),
        (cp.Maximize, (lambda x: x >= 1,), np.inf),
        (cp.Minimize, (lambda x: x <= 1, lambda x: x >= 2), np.inf),
        (cp.Maximize, (lambda x: x <= 1, lambda x: x >= 2), -np.inf),
    ],
)
def test_a_verified_ray_is_a_claim(
    direction: type, bounds: tuple[Callable[[Any], Any], ...], value: float, backend: str
) -> None:
    """Unbounded below is -inf for a minimum, infeasible +inf; the reverse for a maximum."""
    x = cp.Variable(name="x")
    declaration = toy(direction(x), *(bound(x) for bound in bounds))
    answer = solve_declaration(declaration, backend)
    assert proves_ray(answer)
    evidence = examine(declaration.canonical, answer)
    assert evidence.claim is not None
    assert (evidence.claim.of_ray, evidence.value) == (True, value)


@pytest.mark.parametrize(
    ("status", "ray", "proved"),
    [
        (Status.UNBOUNDED, [-1.0], True),
        (Status.UNBOUNDED, [-1e9], True),
        (Status.UNBOUNDED, [1.0], False),
        (Status.UNBOUNDED, [0.0], False),
        (Status.UNBOUNDED, [np.nan], False),
        (Status.UNBOUNDED, [-1.0, -1.0], False),
        (Status.OPTIMAL, [-1.0], False),
    ],
)
def test_a_ray_is_checked(status: Status, ray: list[float], proved: bool) -> None:
    """min x  s.t.  x <= 1/2."""
    x = cp.Variable(name="x")
    lp = form(P=sparse.csr_array((1, 1)), q=np.ones(1))
    answer = Answer(
        toy(cp.Minimize(x)),
        "backend",
        status,
        "",
        BackendResult(lp, primal_ray=np.array(ray), dual_ray=np.array(ray)),
    )
    assert proves_ray(answer) is proved


def test_curvature_and_bounds_end_a_ray() -> None:
    x = cp.Variable(name="x")
    answer = Answer(toy(cp.Minimize(x)), "backend", Status.UNBOUNDED, "")
    lp = form(P=sparse.csr_array((1, 1)), q=np.ones(1))
    down = -np.ones(1)
    assert proves_ray(replace(answer, raw=BackendResult(lp, primal_ray=down)))
    assert not proves_ray(replace(answer, raw=BackendResult(form(q=np.ones(1)), primal_ray=down)))
    assert not proves_ray(
        replace(answer, raw=BackendResult(replace(lp, lower=np.zeros(1)), primal_ray=down))
    )
    assert not proves_ray(answer)


@pytest.mark.parametrize(
    ("z", "proved"),
    [([1.0, 1.0], True), ([1.0, 0.5], False), ([-1.0, -1.0], False), ([0.0, 0.0], False)],
)
def test_a_farkas_vector_is_checked(z: list[float], proved: bool) -> None:
    """x <= 1 and -x <= -2."""
    x = cp.Variable(name="x")
    contradiction = form(G=sparse.csr_array([[1.0], [-1.0]]), h=np.array([1.0, -2.0]), nonneg=2)
    answer = Answer(
        toy(cp.Minimize(x)),
        "backend",
        Status.INFEASIBLE,
        "",
        BackendResult(contradiction, dual_ray=np.array(z)),
    )
    assert proves_ray(answer) is proved


# XOR, document T (41)-(49): kernel (x.z + 1)^2, alpha = 1/8 each, optimum 1/4; with
# squared slacks 4 a - 17 a^2, at a = 2/17.

XOR = {
    "svm.hard": 1 / 4,
    "svm.soft": 1 / 4,
    "svm.nobias": 1 / 4,
    "svm.nobias_hard": 1 / 4,
    "svm.l2": 4 / 17,
    "svm.nobias_l2": 4 / 17,
}


def xor(family: str = "svm.soft", kernel: Kernel | None = None) -> MarginProblem:
    X = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    C = np.inf if family.endswith("hard") else 1.0
    loss: LossName = "squared_hinge" if family.endswith("l2") else "hinge"
    return classification(
        X,
        [-1.0, 1.0, 1.0, -1.0],
        C,
        kernel or polynomial(2, 1.0, 1.0),
        loss,
        "nobias" not in family,
    )


@pytest.mark.parametrize(
    "id", [id for id, entry in REGISTRY.items() if entry.family in XOR and not entry.control]
)
def test_xor_by_every_declaration(id: str) -> None:
    problem = xor(REGISTRY[id].family)
    optimum = XOR[problem.family]
    answer = solve_declaration(declare(id, problem))
    assert answer.value == pytest.approx(optimum, abs=1e-8)
    evidence = examine(problem, answer)
    assert evidence.point is not None
    assert evidence.claim is not None
    point = evidence.point
    lower = max(point.proven.lower, point.derived_lower)
    assert np.isfinite(point.derived_lower) is not point.has_alpha
    assert lower == pytest.approx(optimum, abs=1e-7)
    assert point.proven.upper == pytest.approx(optimum, abs=1e-7)
    assert lower <= optimum <= point.proven.upper
    assert not evidence.claim.infeasible


@pytest.mark.parametrize("family", XOR)
def test_xor_by_its_solvers(family: str) -> None:
    problem = xor(family)
    solutions = [
        solve(problem, name, tol=1e-9)
        for name, solver in SOLVERS.items()
        if solver.takes(family) and not solver.refusal(problem)
    ]
    assert solutions
    for solution in solutions:
        assert solution.lower <= XOR[family] <= solution.upper
        assert examine_solution(problem, solution).value == pytest.approx(XOR[family], abs=1e-8)
        signs = solution.decision_function(problem.X) * problem.rows.s
        assert signs == pytest.approx(
            np.full(4, 16 / 17 if family.endswith("l2") else 1.0), abs=1e-4
        )


def test_xor_has_no_linear_solution() -> None:
    """Its hard family: a Farkas vector, a ray, a margin of 0, and a bound.

    None of them proves the feasible problem infeasible.
    """
    problem = xor("svm.hard", linear())
    ids = ("svm.hard.primal", "svm.hard.dual", "svm.hard.margin")
    evidence = [examine(problem, solve_declaration(declare(id, problem))) for id in ids] + [
        examine_solution(problem, solve(problem))
    ]
    assert [e.value for e in evidence] == [np.inf] * 4
    assert [e.claim.of_ray for e in evidence if e.claim] == [True, True, False, False]
    assert all(e.claim.infeasible for e in evidence if e.claim)
    found = judge("svm.hard", evidence, problem.scale)
    assert (found.verdict, found.feasible) == (Verdict.AGREE, False)


def test_a_bound_proves_infeasibility_only_with_the_claim() -> None:
    """One point of both classes: alpha = (a, a) proves any bound, within rounding error.

    Its objective is 2 a.
    """
    problem = classification([[1.0], [1.0]], [1.0, -1.0], np.inf)

    def evidence(alpha: list[float], raw: BackendResult | None = None, **changes: Any) -> Evidence:
        d = replace(declare("svm.hard.dual", problem), **changes)
        d.assign(complete(problem, Point(alpha=np.array(alpha))))
        nothing = {name: np.zeros(1) for name in d.constraints}
        reading = BackendValues(
            float(d.objective.args[0].value), d.values, nothing, nothing, d.point, eliminated=0.0
        )
        return examine(
            problem, Answer(d, "backend", Status.OPTIMAL, "", raw or BackendResult(form()), reading)
        )

    def infeasible(evidence: Evidence) -> bool:
        assert evidence.claim is not None
        return evidence.claim.infeasible

    def lower(evidence: Evidence) -> float:
        assert evidence.point is not None
        return evidence.point.proven.lower

    proven = evidence([1e12, 1e12])
    assert proven.value == 2e12
    assert lower(proven) > 1e20
    assert infeasible(proven)
    modest = evidence([1.0, 1.0])
    assert lower(modest) > 1e20
    assert not infeasible(modest)
    for claim in (1.0, np.nan, -np.inf):
        assert not infeasible(evidence([1e12, 1e12], value=lambda v, at, claim=claim: claim))
    unproven = evidence([0.0, 0.0], value=lambda v, at: 1e30)
    assert (unproven.value, lower(unproven), infeasible(unproven)) == (1e30, 0.0, False)
    accurate = BackendResult(form(), x=np.array([0.5]), z=np.array([0.5]))
    for raw, value, expected in (
        (accurate, np.inf, True),
        (BackendResult(form(), x=np.array([0.5])), np.inf, False),
        (accurate, 1e30, False),
        (None, np.inf, False),
    ):
        assert (
            infeasible(evidence([0.0, 0.0], raw, value=lambda v, at, value=value: value))
            is expected
        )


def test_a_form_without_a_bound_may_be_worth_nothing() -> None:
    """With one class every margin is feasible: t has no bound.

    1 / (2 t^2) is then 0, which is no proof of infeasibility.
    """
    problem = classification([[1.0], [2.0]], [1.0, 1.0], np.inf)
    forms = {"margin": "CLARABEL", "primal": "CLARABEL", "dual": "OSQP"}
    answers = (
        solve_declaration(declare(f"svm.hard.{form}", problem), backend)
        for form, backend in forms.items()
    )
    margin, *others = (examine(problem, answer) for answer in answers)
    assert margin.claim is not None
    assert (margin.claim.of_ray, margin.value, margin.claim.infeasible) == (True, 0.0, False)
    found = judge("svm.hard", [margin, *others], problem.scale)
    assert [j.agreement for j in found.judgements] == [
        Agreement.FAILED,
        Agreement.AGREES,
        Agreement.AGREES,
    ]
    assert found.verdict is Verdict.AGREE


def test_derived_multipliers_are_only_made_where_there_are_none() -> None:
    problem = ranking([[0.0], [1.0], [1.5]], [0.0, 1.0, 0.0], None, 0.5, polynomial(2, 1.0, 1.0))
    for id, entry in REGISTRY.items():
        if entry.family == "rank.l1" and not entry.control:
            evidence = examine(problem, solve_declaration(declare(id, problem)))
            assert evidence.point is not None
            proven, derived = evidence.point.proven, evidence.point.derived_lower
            assert np.isneginf(derived) == evidence.point.has_alpha
            assert max(proven.lower, derived) == pytest.approx(proven.upper, rel=1e-6)


def test_xor_as_printed_is_refuted() -> None:
    """Without the 1/2 the optimum is 1/8, at alpha = 1/16."""
    problem = xor()
    by = {"svm.soft.primal": "CLARABEL", "svm.soft.dual": "OSQP"}
    right = [
        examine(problem, solve_declaration(declare(id, problem), backend))
        for id, backend in by.items()
    ]
    printed = solve_declaration(declare("svm.soft.dual.as_printed", problem))
    assert printed.objective == pytest.approx(0.125, abs=1e-8)
    found = judge("svm.soft", [*right, examine(problem, printed, control=True)], problem.scale)
    assert found.judgements[-1].agreement is Agreement.DISAGREES
    assert found.verdict is Verdict.AGREE


def test_the_printed_formula_is_a_second_check() -> None:
    """The program is right, with a wrong formula or a violated printed constraint."""
    problem = xor()
    d = declare("svm.soft.dual", problem)
    right = [examine(problem, solve_declaration(declare("svm.soft.primal", problem)))]
    for printed in (
        lambda v: FormulaValue(v["alpha"].sum()),
        lambda v: FormulaValue(d.objective.args[0].value, {"new": v["alpha"]}),
    ):
        answer = solve_declaration(replace(d, printed=printed))
        assert (
            judge("svm.soft", [*right, examine(problem, answer)], problem.scale)
            .judgements[-1]
            .agreement
            is Agreement.DISAGREES
        )


def test_an_answer_without_a_point_shows_nothing() -> None:
    d = declare("svm.soft.dual", xor())
    evidence = examine(
        xor(), Answer(d, "backend", Status.NUMERICAL_FAILURE, "it broke", BackendResult(form()))
    )
    assert agreement(evidence) is Agreement.FAILED
    unsupported = examine(xor(), Answer(d, "backend", Status.UNSUPPORTED, "no cones"))
    assert agreement(unsupported) is Agreement.SKIPPED
    assert (
        agreement(examine(xor(), Answer(d, "backend", Status.NUMERICAL_FAILURE, "it broke")))
        is Agreement.FAILED
    )


@pytest.mark.parametrize("C", [1e-33, 1e-60, 1e-120])
def test_an_answer_below_its_backends_resolution_has_failed(C: float) -> None:
    """Of alpha of size C, a backend that is right to the sixteenth digit of 1 knows nothing.

    Its own unknown, alpha / sqrt(C), is right.

    The optimum, three alpha that sum to zero with their signs and cost alpha^2 / (4 C), is 8/3 C
    for small C.
    """
    problem = classification([[1.0], [-1.0], [2.0]], [1.0, -1.0, 1.0], C, loss="squared_hinge")
    dual = declare("svm.l2.dual", problem)
    evidence = [
        examine(problem, solve_declaration(dual, backend))
        for backend in ("SCS", "OSQP", "CLARABEL")
    ]
    evidence.append(examine_solution(problem, solve(problem, "newton", tol=1e-9)))
    found = judge("svm.l2", evidence, problem.scale, possible=find_available_answers(problem))
    assert [str(j.agreement) for j in found.judgements] == ["failed", "failed", "failed", "agrees"]
    assert found.reason == "no declaration that was run agrees; one specialised solver agrees"
    assert found.interval.upper == pytest.approx(8 / 3 * C, rel=1e-6)


# The referee is pure: it reads an answer, and neither the variables nor the parameters
# of its declaration.

PURE = [
    id
    for id, entry in REGISTRY.items()
    if entry.family in ("svm.soft", "svm.l2", "rank.l1", "rank.l2", "rank.onenorm")
]


@pytest.mark.parametrize("id", PURE)
def test_examining_an_answer_neither_reads_nor_writes_its_declaration(id: str) -> None:
    """The evidence is equal for any later values of the variables and parameters.

    They keep these values.
    """
    problem = sample_problem(REGISTRY[id].family, polynomial(2, 0.5, 1.0))
    if REGISTRY[id].refusal(problem) is not None:
        problem = sample_problem(REGISTRY[id].family, linear())
    answer = solve_declaration(declare(id, problem))
    first, d = examine(problem, answer), answer.declaration
    for variable in d.variables.values():
        variable.value = np.full(variable.shape, 7.0)
    for parameter in d.parameters.values():
        parameter.value = 3.0
    assert examine(problem, answer) == first
    assert all(
        np.array_equal(variable.value, np.full(variable.shape, 7.0))
        for variable in d.variables.values()
    )
    assert all(parameter.value == 3.0 for parameter in d.parameters.values())


@pytest.mark.parametrize(
    ("id", "made"), [("rank.l1.beta", 1), ("rank.l1.primal", 0), ("rank.l1.dual", 0)]
)
def test_multipliers_are_made_from_f_once_an_answer(
    id: str, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None are computed if the answer has its own."""
    problem = sample_problem("rank.l1", linear())
    answer, calls = solve_declaration(declare(id, problem)), []

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return recover_multipliers(*arguments)

    monkeypatch.setattr("equimargin.formulations.bounds.complete.recover_multipliers", counted)
    examine(problem, answer)
    assert len(calls) == made


def badly_scaled() -> MarginProblem:
    """Return a problem with a column of size 1e7 at C = 1e6."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3)) * [1.0, 1e7, 1e-6]
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    return classification(X, y, 1e6, loss="squared_hinge")


def test_an_undecided_family_says_what_stands_and_what_to_do() -> None:
    """Newton's method in the features proves the optimum.

    Backends that compute in float64 have no digit left.
    """
    (family,) = compare(badly_scaled(), "svm.l2.dual", ["CLARABEL", "newton"]).families
    dual, solved = family.judgements
    assert (family.verdict, solved.agreement, dual.agreement) == (
        Verdict.UNDECIDED,
        Agreement.AGREES,
        Agreement.FAILED,
    )
    assert family.interval.relative_width < 1e-6
    assert family.advice.startswith("The interval is proven all the same")
    assert re.search(
        r"C times the largest K_ii is about [1-9]e\+20, .*: scale the features, or lower C\.$",
        family.advice,
    )
    assert re.search(
        r"^the backend says .*, but float64 distinguishes margins to \d\.\de\+04 only$", dual.ground
    )
    assert solved.ground == solved.evidence.run.reason


def test_a_backend_that_finds_nothing_is_quoted() -> None:
    """cvxpy's advice to try another solver, or to be verbose, is omitted.

    It would be of no use in a comparison.
    """
    answer = solve_declaration(declare("svm.l2.primal", badly_scaled()))
    assert answer.reason == "the backend found no solution and says InsufficientProgress"


def test_what_auxiliary_unknowns_hide_is_counted_in_the_accuracy() -> None:
    """SCS satisfies w = Z'beta to 5e-9, but margins computed from beta to 1e-5 only.

    Its answer is inaccurate, and not another one.
    """
    data = load("breast_cancer")
    problem = one_norm_classification(data.X, data.y, bias=False)
    answer = solve_declaration(declare("svm.nobias_onenorm.primal", problem), "SCS", 1e-8)
    evidence = [examine(problem, answer), examine_solution(problem, solve(problem))]
    judged = judge(problem.family, evidence, problem.scale).judgements[0]
    assert judged.evidence.accuracy is not None
    assert judged.claim > 10 * judged.evidence.accuracy.normwise
    assert judged.agreement in (Agreement.AGREES, Agreement.INACCURATE)


def test_what_is_the_same_at_every_optimum_is_what_the_exact_optimum_has() -> None:
    """With a narrow interval every row off its margin is known.

    Every label is known where f is not 0.
    """
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = np.rint(4 * rng.normal(size=(30, 2))) / 4
        y = np.where(X @ [1.0, 2.0] + rng.normal(size=30) > 0, 1.0, -1.0)
        problem = classification(X, y, 0.5, bias=False)
        found = stable(problem, [examine_solution(problem, solve(problem, tol=1e-12))])
        w = present(exact_optimum(problem).w)
        f = [sum(a * Fraction(b) for a, b in zip(w, x, strict=True)) for x in X]
        assert found is not None
        assert found.labels == np.mean([value != 0 for value in f])
        assert found.rows == pytest.approx(
            np.mean([value != label for value, label in zip(f, y, strict=True)]), abs=1e-12
        )
        rough = stable(problem, [examine_solution(problem, solve(problem, tol=0.5))])
        assert rough is None or rough.rows <= found.rows


def test_nobody_knows_what_is_the_same_without_both_sides_of_a_point() -> None:
    problem = classification([[1.0], [2.0]], [1, -1])
    whole = examine_solution(problem, solve(problem))
    assert stable(problem, [whole]) is not None
    assert stable(problem, [replace(whole, run=replace(whole.run, control=True))]) is None
    half = present(whole.point)
    assert (
        stable(
            problem,
            [replace(whole, point=replace(half, supplied=half.supplied.with_multipliers(None)))],
        )
        is None
    )
    assert stable(one_norm_classification([[1.0], [2.0]], [1, -1]), [whole]) is None
