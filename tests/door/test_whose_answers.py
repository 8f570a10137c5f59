"""Sources of the answers in a comparison.

They are entries by their names, functions that quit, controls and witnesses. Named
solvers may have no answer.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin import compare
from equimargin.comparison import Comparison
from equimargin.comparison.job import Job
from equimargin.equivalence import same
from equimargin.formulations import (
    REGISTRY,
    MarginProblem,
    OneNormProblem,
    classification,
    one_norm_classification,
    polynomial,
)
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.declarations.user_functions import Quit, kept_from_quitting
from equimargin.own import Family, ProgramProblem
from equimargin.own.instances import check_own_formulation, check_own_solver
from equimargin.proofs import Agreement, Verdict
from equimargin.solvers import SOLVERS, Requirements, Status, solve
from equimargin.solvers.registry import RegisteredSolver, solver
from equimargin.testing import check_solver
from narrow import as_a

X, Y = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), [1, -1, -1, 1]
QUITS = (
    lambda: sys.exit(0),
    lambda: _raise(KeyboardInterrupt()),
    lambda: _raise(BaseException("odd")),
)
"""Functions that end Python, or try to."""


def _raise(failure: BaseException) -> None:
    raise failure


def entry(
    name: str,
    function: Any,
    families: tuple[str, ...] = ("svm.soft",),
    also: Any = lambda problem: None,
) -> RegisteredSolver[MarginProblem]:
    """Return an unregistered solver for `compare`."""
    return RegisteredSolver(
        name,
        function,
        "made for a test",
        families,
        Requirements(MarginProblem, losses=("hinge", "squared_hinge"), also=also),
        True,
        lambda problem: False,
    )


def said(found: Comparison) -> dict[str, tuple[Agreement, str]]:
    """Return agreement and reason of every answer, by its formulation or its solver."""
    judged = [j for each in found.families for j in each.judgements]
    return {
        j.evidence.run.formulation or j.evidence.run.solver: (j.agreement, j.evidence.run.reason)
        for j in judged
    }


def at_most_three_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit declarations to three rows."""
    for name in ("MAX_DECLARED_POINTS", "FEATURE_ROW_LIMIT"):
        monkeypatch.setattr(f"equimargin.formulations.problem.limits.{name}", 3)


@pytest.mark.parametrize("quits", QUITS)
@pytest.mark.parametrize("part", ["families", "library", "reference", "name"])
@pytest.mark.parametrize("alone", [False, True])
def test_a_solver_of_which_an_attribute_quits_is_refused_in_a_sentence(
    part: str, alone: bool, quits: Any
) -> None:
    attributes = {
        name: getattr(SOLVERS["smo"], name)
        for name in ("name", "algorithm", "families", "reference", "library")
    }
    methods = {
        "refusal": lambda self, problem: None,
        "run": lambda self, problem, limits, start: None,
    }
    wrong = type("Wrong", (), {**attributes, **methods, part: property(lambda self: quits())})()
    with pytest.raises(
        ValueError,
        match="a solver of the class Wrong has an attribute that cannot be read: Quit: it raises",
    ):
        compare(classification(X, Y, 1.0), solvers=wrong if alone else ["CLARABEL", wrong])


@pytest.fixture
def asks_first() -> Iterator[Any]:
    """Yield a function that registers a solver by its condition for being preferred."""

    def entered(first: Any) -> None:
        enter = solver(
            "asks_first",
            "svm.soft",
            algorithm="made for a test",
            requires=Requirements(MarginProblem, losses=("hinge", "squared_hinge")),
            first=first,
        )
        enter(lambda problem, limits: solve(problem, "smo", limits.tol))

    yield entered
    del SOLVERS["asks_first"]


@pytest.mark.parametrize("quits", [*QUITS, lambda: 1 / 0])
def test_a_solver_whose_first_fails_is_not_asked_before_others(asks_first: Any, quits: Any) -> None:
    asks_first(lambda problem: quits())
    problem = classification(X, Y, 1.0, polynomial(2, 1, 1))
    assert solve(problem).solver == "smo"
    assert compare(problem, solvers=["CLARABEL", "smo", "asks_first"]).agree


@pytest.mark.parametrize("quits", QUITS)
@pytest.mark.parametrize("where", ["run", "refusal"])
def test_compare_with_a_solver_that_quits_has_a_failed_answer(quits: Any, where: str) -> None:
    if where == "run":
        wrong = entry("quits", lambda problem: quits())
    else:
        wrong = entry("quits", lambda problem: None, also=lambda problem: quits())
    found = compare(
        classification(X, Y, 1.0, polynomial(2, 1, 1)), solvers=["CLARABEL", "smo", wrong]
    )
    agreement, reason = said(found)["quits"]
    assert agreement is Agreement.FAILED
    assert "stopped by an exception: Quit: it raises" in reason
    assert "test_whose_answers.py" in reason
    assert found.exit_code == 0  # The other answers agree.
    with pytest.raises(AssertionError, match=r"Quit: it raises|raises Quit"):
        check_solver(wrong)


@pytest.fixture
def quitting() -> Iterator[Any]:
    """Yield a function that makes a family with one quitting part."""

    def make(part: str, quits: Any) -> Family[ProgramProblem]:
        from hypothesis import strategies as st

        def quit_if(this: str) -> None:
            if part == this:
                quits()

        def refused_by(this: str) -> Any:
            def applies(d: Any) -> None:
                quit_if(this)

            return applies

        def mapped(v: Any, d: Any) -> Any:
            quit_if("value")
            return v

        made = Family("test.quitting", data=st.just({"end": 1.0}))

        @made.formulation("primal")
        def primal(d: Any) -> Any:
            x = cp.Variable(name="x")
            return cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= d["end"]])

        @made.formulation("other", value=mapped, applies=refused_by("applies"))
        def other(d: Any) -> Any:
            quit_if("formulation")
            return primal(d)

        @solver(
            "test.quitting.solver",
            made,
            requires=Requirements(ProgramProblem, also=refused_by("needs")),
        )
        def solving(problem: ProgramProblem) -> Any:
            quit_if("solver")
            return {"x": 1.0}

        return made

    yield make
    for id in [id for id, known in REGISTRY.items() if known.family == "test.quitting"]:
        del REGISTRY[id]
    SOLVERS.__delitem__("test.quitting.solver")
    del FAMILIES["test.quitting"]


@pytest.mark.parametrize("quits", QUITS)
@pytest.mark.parametrize("part", ["formulation", "value", "applies", "solver", "needs"])
def test_a_family_of_which_a_part_quits_has_failed_answers(
    quitting: Any, part: str, quits: Any
) -> None:
    made = quitting(part, quits)
    found = compare(made({"end": 1.0}), solvers=["CLARABEL", "test.quitting.solver"])
    failed = "test.quitting.solver" if part in ("solver", "needs") else "test.quitting.other"
    assert {
        who for who, (agreement, _) in said(found).items() if agreement is Agreement.FAILED
    } == {failed}
    assert "Quit: it raises" in said(found)[failed][1]
    if part in ("solver", "needs"):
        assert found.exit_code != 0
        with pytest.raises(AssertionError, match="Quit: it raises"):
            check_own_solver(as_a(RegisteredSolver, SOLVERS[failed]), examples=1)
        return
    with pytest.raises(AssertionError, match="Quit: it raises"):
        check_own_formulation(as_a(Formulation, REGISTRY[failed]), examples=1)
    assert same("test.quitting.primal", failed, draws=1, examples=1).verdict == "UNDECIDED"


@pytest.mark.usefixtures("hearing")
def test_an_interrupt_of_the_user_ends_a_function_and_one_of_its_own_does_not() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), kept_from_quitting():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(Quit, match="KeyboardInterrupt"), kept_from_quitting():
        raise KeyboardInterrupt
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(ZeroDivisionError), kept_from_quitting():
        _ = 1 / 0


def test_an_exception_of_a_signals_handler_ends_a_function() -> None:
    """A caller's time limit ends it, also if its exception is no Exception."""

    class Late(BaseException):
        pass

    def late(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    try:
        with pytest.raises(Late), kept_from_quitting():
            signal.raise_signal(signal.SIGALRM)
        with pytest.raises(Quit, match="Late"), kept_from_quitting():
            raise Late
    finally:
        signal.signal(signal.SIGALRM, before)


def test_an_answer_has_the_name_of_the_entry_that_gave_it() -> None:
    cheap = entry(
        "cheap", lambda problem, limits: solve(problem.with_cost(problem.C / 3), "smo", limits.tol)
    )
    found = compare(
        classification(X, Y, 0.1, polynomial(2, 1, 1)), solvers=["CLARABEL", "smo", cheap]
    )
    assert said(found)["smo"][0] is Agreement.AGREES
    assert said(found)["cheap"][0] is Agreement.DISAGREES
    assert "(computed by smo)" in said(found)["cheap"][1]
    assert found.families[0].reason == "disagreeing: solver by cheap"


def test_what_was_asked_for_and_is_for_no_family_is_left_out_with_a_reason() -> None:
    ranker = entry("ranker", lambda problem: None, families=("rank.l1",))
    problem = classification(X, Y, 1.0, polynomial(2, 1, 1))
    found = compare(
        problem,
        formulations=["svm.soft.primal", "rank.l1.dual"],
        solvers=["CLARABEL", "smo", "cutting_plane", ranker],
    )
    wanted = [
        "cutting_plane solves rank.l1",
        "ranker solves rank.l1",
        "rank.l1.dual declares rank.l1",
    ]
    assert [
        sentence.partition(", not the compared svm.soft")[0] for sentence in found.left_out
    ] == wanted
    assert all(sentence in " ".join(str(found).split()) for sentence in wanted)
    assert found.to_dict()["left_out"] == list(found.left_out)
    by_pattern = compare(problem, solvers=["CLARABEL", "sm*", "cutting_p*"]).left_out
    assert by_pattern == ("cutting_plane solves rank.l1, not the compared svm.soft",)
    (alone,) = compare(problem, formulations=["svm.soft.primal"], solvers="smo").left_out
    assert alone == "svm.soft.primal needs a backend, and none was requested"


def test_controls_that_data_do_not_tell_apart_are_said_to_be_and_change_no_verdict() -> None:
    found = compare(
        classification(X, Y, 1.0, polynomial(2, 1, 1)),
        solvers=["CLARABEL", "smo"],
        include_controls=True,
    )
    of_control = {
        name: agreement
        for name, (agreement, _) in said(found).items()
        if name in REGISTRY and REGISTRY[name].control
    }
    told, alike = "svm.soft.dual.as_printed", "svm.penalized.primal"
    # The optimal bias is 0 here, penalised or not.
    assert (of_control[told], of_control[alike]) == (Agreement.DISAGREES, Agreement.AGREES)
    page = " ".join(str(found).split())
    assert "Wrong on purpose, and disagrees as expected: dual.as_printed (control)" in page
    assert "Wrong on purpose, and not refuted by these data: svm.penalized.primal (control)" in page
    assert (found.exit_code, found.agree) == (0, True)
    assert {
        a["formulation"] for a in json.loads(found.to_json())["answers"] if a["control"]
    } == set(of_control)


def test_a_control_is_never_the_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Job.run

    def timed(job: Any, allowed: Any) -> Any:
        found = run(job, allowed)
        return replace(found, run=replace(found.run, solve_seconds=1e-9 if job.control else 1.0))

    monkeypatch.setattr(Job, "run", timed)
    found = compare(
        classification(X, Y, 1.0, polynomial(2, 1, 1)),
        solvers=["CLARABEL", "smo"],
        include_controls=True,
    )
    assert [cell.text for cell in found.view.families[0].overview][-2:] == [
        "svm.soft.primal by CLARABEL",
        "1",
    ]


def test_two_runs_of_one_library_are_one_witness() -> None:
    problem = one_norm_classification(X + 0.1 * np.arange(8).reshape(4, 2), [1, -1, 1, -1], 1.0)
    found = compare(problem, solvers=["HIGHS", "linear_program", "column_generation"]).families[0]
    assert found.count(Agreement.AGREES) >= 3
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason.endswith("HIGHS computed every answer that agrees: that is one source")
    assert (
        compare(problem, solvers=["CLARABEL", "linear_program"]).families[0].verdict
        is Verdict.AGREE
    )
    assert compare(problem).families[0].verdict is Verdict.AGREE


def test_the_summary_says_that_seconds_of_compiling_are_those_of_loading_too() -> None:
    found = compare(classification(X, Y, 1.0), formulations="svm.soft.primal", solvers="CLARABEL")
    assert replace(found, seconds=1e-3).view.progress.endswith("of them compiling and loading")


def test_solvers_around_one_solver_are_one_witness() -> None:
    wrapped = [
        entry(name, lambda problem, limits: solve(problem, "smo", limits.tol))
        for name in ("first", "second", "third")
    ]
    found = compare(classification(X, Y, 1.0, polynomial(2, 1, 1)), solvers=wrapped).families[0]
    assert found.count(Agreement.AGREES) == 3
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason.endswith("smo computed every answer that agrees: that is one source")


def test_a_solver_around_one_of_a_library_has_the_library_as_its_witness() -> None:
    around: Any = entry(
        "around",
        lambda problem, limits: solve(problem, "linear_program", limits.tol),
        ("svm.onenorm",),
    )
    around = replace(around, requires=Requirements(OneNormProblem))
    found = compare(one_norm_classification(X, Y, 1.0), solvers=["HIGHS", around]).families[0]
    assert {
        j.evidence.run.witness for j in found.judgements if j.agreement is Agreement.AGREES
    } == {"HIGHS"}


@pytest.mark.parametrize(
    ("id", "own"),
    [
        ("one_norm_svm", {"y": [1, 0, 0, 1], "C": 1.0}),
        ("quantile", {"y": Y, "tau": 0.5, "penalty": 0.125}),
    ],
)
def test_a_shipped_solver_that_calls_highs_is_no_second_witness_beside_it(
    id: str, own: dict[str, Any]
) -> None:
    problem = FAMILIES[id]({"X": X, **own, "y": np.array(own["y"])})
    found = compare(problem, solvers=["HIGHS", f"{id}.highs"]).families[0]
    assert {
        j.evidence.run.witness for j in found.judgements if j.agreement is Agreement.AGREES
    } == {"HIGHS"}
    assert found.verdict is Verdict.UNDECIDED


def test_the_page_names_the_rule_where_it_is_not_the_usual_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_most_three_rows(monkeypatch)
    found = compare(classification(X, Y, 1.0))
    page = " ".join(str(found).split())
    assert (
        "AGREE: two solvers of different algorithms agree; the problem is too large to declare."
        in page
    )
    declared = [
        j.evidence.run
        for j in found.families[0].judgements
        if j.evidence.run.formulation is not None
    ]
    assert {run.status for run in declared} == {Status.TOO_LARGE}
    assert "too large to declare: 4 points" in page
    assert found.to_dict()["families"][0]["reason"] == found.families[0].reason
    usual = compare(
        classification(X, Y, 1.0), formulations="svm.soft.primal", solvers=["CLARABEL", "smo"]
    )
    assert "AGREE:" not in str(usual)


def test_refused_answers_keep_their_reason_whatever_was_spent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_most_three_rows(monkeypatch)
    monkeypatch.setattr("equimargin.comparison.schedule.TOGETHER", 0.0)
    found = compare(classification(X, Y, 1.0))
    reasons = {
        j.evidence.run.reason
        for j in found.families[0].judgements
        if j.evidence.run.formulation is not None
    }
    assert reasons == {
        "too large to declare: 4 points, the limit is 3",
        "too large to declare: 4 rows, the limit is 3",
    }


def test_the_second_witness_has_the_whole_time_limit_however_fast_the_first_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allowed: dict[str, Any] = {}
    run = Job.run

    def kept(job: Any, allowance: Any) -> Any:
        allowed[job.name] = allowance
        return run(job, replace(allowance, seconds=60.0, left=float("inf")))

    monkeypatch.setattr(Job, "run", kept)
    monkeypatch.setattr("equimargin.comparison.family_progress.LEAST_ALLOWANCE", 0.0)
    monkeypatch.setattr("equimargin.comparison.family_progress.ALLOWED_RATIO", 1e-6)
    problem = classification(X, Y, 1.0)
    compare(problem, solvers=["CLARABEL", "SCS", "smo"], time_limit=50.0)
    assert allowed["svm.soft.primal by CLARABEL"].seconds == 50.0
    assert allowed["svm.soft.primal by SCS"].seconds < 1.0
    at_most_three_rows(monkeypatch)
    compare(problem, solvers=["CLARABEL", "smo", "huber"], time_limit=50.0)
    assert {allowed[f"solver by {name}"].seconds for name in ("smo", "huber")} == {50.0}


def test_a_solver_that_is_entered_nowhere_may_return_a_solution_of_any_family(
    quitting: Any,
) -> None:
    """Its solution is assessed as that of any solver."""

    class Own:
        name, algorithm, families, reference = "own", "made for a test", ("test.quitting",), False

        def refusal(self, problem: Any) -> None:
            return None

        def run(self, problem: Any, limits: Any, start: Any) -> Any:
            found = SOLVERS["test.quitting.solver"].run(problem, limits, start)
            return replace(found, solver=self.name)

    found = compare(quitting("none", None)({"end": 1.0}), solvers=["CLARABEL", Own()])
    assert said(found)["own"][0] is Agreement.AGREES
    assert found.to_dict()["settings"]["solvers"] == ["CLARABEL", "own"]


def test_a_solver_that_is_asked_for_by_name_and_passed_itself_is_one_solver() -> None:
    problem = classification(X, Y, 1.0, polynomial(2, 1, 1))
    found = compare(problem, solvers=["CLARABEL", "smo", SOLVERS["smo"]])
    assert [answer["solver"] for answer in found.answers].count("smo") == 1
    with pytest.raises(ValueError, match="two solvers of a comparison are named 'smo'"):
        compare(problem, solvers=["CLARABEL", entry("smo", lambda problem: None)])
