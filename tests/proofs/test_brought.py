"""User-defined families: proofs, judgement of answers, and refusals with messages."""

from __future__ import annotations

import pickle
import re
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brought import bottomless, dual, nothing, ocsvm
from equimargin.comparison import compare
from equimargin.formulations import REGISTRY, classification, declare, linear
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.numeric.arguments import check_number
from equimargin.own import Family, FormulaValue, ProgramProblem, Source, optimum, solver
from equimargin.own.instances import drawn, refutation
from equimargin.proofs import Agreement, Verdict, examine, judge
from equimargin.proofs.equivalence.duals import dual_reason
from equimargin.proofs.program.proven_optimum import ProvenOptimum, proven_optimum
from equimargin.proofs.program.worth import worth
from equimargin.proofs.referee.examination import bounds_for
from equimargin.solvers import SOLVERS, Limits, Status, solve_declaration
from equimargin.solvers.requirements import Requirements
from equimargin.testing import check_formulation, check_solver
from equimargin.testing.__main__ import main
from narrow import as_a, present

POINT = {"X": np.array([[1.0]]), "nu": 0.5}
"""One point at 1: a = 1 is the only multiplier, and the optimum is -1/2."""
CLOUD = {"X": np.round(np.random.default_rng(3).normal(size=(12, 3)), 2) + 1, "nu": 0.25}


@pytest.fixture
def own() -> Iterator[Family[ProgramProblem]]:
    """Yield a family of one test: 1/2 x^2 over x >= end.

    Its optimum is end^2 / 2 for end >= 0.
    """
    made = Family("test.own")

    @made.formulation("primal")
    def primal(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= d["end"]])

    yield made
    _forgotten(made.id)


def test_optima_are_exact_on_the_scale_of_the_family() -> None:
    problem = ocsvm(POINT)
    assert {
        optimum(problem, id).exact
        for id in ("test.ocsvm.primal", "test.ocsvm.dual", "test.ocsvm.negative")
    } == {Fraction(-1, 2)}
    assert str(optimum(problem)) == "-1/2"
    assert problem.kind == "quadratic"
    assert optimum(problem, "test.ocsvm.dual_without_m").exact == Fraction(-1, 2)


def test_fractions_mean_what_they_say() -> None:
    """3 times the float 1/3 is not 1.

    Read as it is, the dual of nu = 1 on three points has no feasible point.
    """
    problem = ocsvm({"X": np.ones((3, 1)), "nu": 1.0})
    assert optimum(problem, "test.ocsvm.dual").exact == Fraction(-1, 2)
    exact = Family("test.exact", reading="exact")
    exact.formulation("dual")(dual)
    as_it_is = optimum(exact({"X": np.ones((3, 1)), "nu": 1.0}))
    del REGISTRY["test.exact.dual"], FAMILIES["test.exact"]
    assert as_it_is.lower == as_it_is.upper == -inf
    assert str(as_it_is) == "-inf (no point is feasible)"


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_compare_agrees_and_the_control_disagrees(jobs: int) -> None:
    honest = compare(ocsvm(CLOUD), jobs=jobs)
    assert honest.exit_code == 0, str(honest)
    assert "test.ocsvm.libsvm" in {j.evidence.run.solver for j in honest.families[0].judgements}
    with_control = compare(ocsvm(CLOUD), include_controls=True, jobs=jobs)
    against = {
        j.evidence.run.formulation
        for j in with_control.families[0].judgements
        if j.agreement is Agreement.DISAGREES
    }
    assert against == {"test.ocsvm.dual_without_m"}
    # The control disagrees, as it must.
    assert with_control.exit_code == 0
    assert "fraction" in str(honest)
    assert all("fraction" in record["note"] for record in honest.to_dict()["families"])


def test_a_wrong_formulation_disagrees_whatever_its_backend_says() -> None:
    """A disagreement is proven, whatever the status of a backend is.

    A backend that was stopped after one iteration changes nothing, and never counts
    against a right formulation.
    """
    problem = ocsvm(CLOUD)
    for id, wanted in (
        ("test.ocsvm.dual_without_m", True),
        ("test.ocsvm.dual", False),
        ("test.ocsvm.primal", False),
    ):
        for backend in ("CLARABEL", "SCS", "OSQP"):
            answer = solve_declaration(declare(id, problem), backend, max_iter=1)
            judged = judge(
                problem.family, [examine(problem, answer)], bounds_for(problem).scale
            ).judgements[0]
            assert (judged.agreement is Agreement.DISAGREES) == wanted, (id, backend)
            assert wanted or judged.agreement in (Agreement.FAILED, Agreement.INACCURATE)


@pytest.mark.parametrize(
    ("made", "word"), [(nothing, "no point is feasible"), (bottomless, "no bound")]
)
def test_infinite_optima_are_proven_by_rays(made: Any, word: str) -> None:
    found = compare(made({}), solvers=["CLARABEL", "SCS"])
    (verdict,) = found.families
    assert verdict.verdict is Verdict.AGREE, str(found)
    assert word in str(found)
    assert verdict.interval.lower == verdict.interval.upper == (inf if made is nothing else -inf)
    assert found.to_dict()["families"][0]["lower"] is None


def test_a_finite_optimum_of_an_unbounded_family_disagrees() -> None:
    found = compare(bottomless({}), include_controls=True)
    assert {
        j.evidence.run.formulation
        for j in found.families[0].judgements
        if j.agreement is Agreement.DISAGREES
    } == {"test.bottomless.bounded"}


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_optimum_disagrees_on_either_side(
    own: Family[ProgramProblem], factor: float
) -> None:
    @own.formulation("scaled")
    def scaled(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= factor * d["end"]])

    found = compare(own({"end": 3.0}))
    assert {
        j.evidence.run.formulation
        for j in found.families[0].judgements
        if j.agreement is Agreement.DISAGREES
    } == {"test.own.scaled"}
    assert found.families[0].interval.upper == 4.5


def test_an_optimum_of_0_is_0(own: Family[ProgramProblem]) -> None:
    assert "optimum 0, all digits proven" in str(compare(own({"end": -1.0})))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["primal", "dual", "negative", "dual_without_m"])
def test_formulations_conform_and_the_control_is_refuted(name: str) -> None:
    check_formulation(f"test.ocsvm.{name}")


@pytest.mark.slow
def test_the_solver_conforms() -> None:
    check_solver("test.ocsvm.libsvm")
    assert main(["brought:test.ocsvm.libsvm"]) == 0


@pytest.mark.slow
def test_a_refutation_is_small_and_exact() -> None:
    found = present(refutation("test.ocsvm.dual_without_m"))
    assert found.data["X"].shape[0] == 2
    assert "has the optimum 0, and test.ocsvm.primal has -1/8" in str(found)
    assert refutation("test.ocsvm.dual", examples=10) is None


def test_a_function_that_fails_on_drawn_data_does_not_conform(
    own: Family[ProgramProblem], capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the line of the function, even where cvxpy raises.

    The failure does not refute a control.
    """
    assert main(["test.own.primal"]) == 2
    assert "cannot be checked: the family test.own has no data strategy" in capsys.readouterr().out
    own.data = st.fixed_dictionaries({"end": st.integers(1, 2)})

    @own.formulation("failing", control=True)
    def failing(d: Any) -> Any:
        x = cp.Variable(2, name="x")
        return cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= np.zeros(3)])

    assert main(["test.own.failing"]) == 1
    line = failing.__code__.co_firstlineno + 3
    assert re.fullmatch(
        rf"ValueError: .* \(test_brought.py, line {line}\), on end = 1\n", capsys.readouterr().out
    )
    own.check = lambda data: check_number(  # type: ignore[assignment]
        data["end"], "end", "below 2", lambda end: end < 2
    )
    assert main(["test.own.primal"]) == 1
    assert "data of test.own: end must be below 2, not 2" in capsys.readouterr().out


def test_libraries_of_a_solver_are_imported_before_its_clock_starts(
    own: Family[ProgramProblem],
) -> None:
    sys.modules.pop("colorsys", None)

    @solver("test.own.importing", own, libraries=("colorsys",))
    def importing(problem: ProgramProblem) -> Any:
        d = problem.data
        return d["end"] ** 2 / 2 if "colorsys" in sys.modules else 0.0

    solution: Any = SOLVERS["test.own.importing"].run(own({"end": 3.0}), Limits(), None)
    assert solution.value == 4.5


def test_a_wrong_map_is_found(own: Family[ProgramProblem]) -> None:
    own.data = st.fixed_dictionaries({"end": st.integers(1, 3)})
    maps: dict[str, dict[str, Any]] = {
        "recover": {"to_canonical": lambda v, d: {"x": v["y"] + 1}},
        "express": {
            "to_canonical": lambda v, d: {"x": v["y"]},
            "from_canonical": lambda v, d: {"y": v["x"] + 1},
        },
        "printed": {"printed": lambda v, d: FormulaValue(7.0)},
    }
    said = {
        "recover": "maps to the first formulation has the value",
        "express": "maps from the first formulation has the value",
        "printed": "its printed formula is 7.0",
    }
    for name, functions in maps.items():

        @own.formulation(name, **functions)
        def again(d: Any) -> Any:
            y = cp.Variable(name="y")
            return cp.Problem(cp.Minimize(cp.sum_squares(y) / 2), [y >= d["end"]])

        with pytest.raises(AssertionError, match=said[name]):
            check_formulation(f"test.own.{name}")


@pytest.mark.parametrize(
    ("answer", "agreement", "said"),
    [
        (4.5, Agreement.AGREES, "a value without a point"),
        ({"x": 3.0}, Agreement.AGREES, "exactly feasible"),
        ({}, Agreement.FAILED, "there are no values: give those of x"),
        (float("nan"), Agreement.FAILED, "the value is not a number"),
        (np.float64("nan"), Agreement.FAILED, "the value is not a number"),
        ({"x": 3.0 + 1e-12}, Agreement.AGREES, "exactly feasible"),
        ({"x": 3.0 - 1e-10}, Agreement.AGREES, "after a change by"),
        ("primal", Agreement.FAILED, "a solver returns a number, a mapping"),
        (("primal", {"x": 3.0}), Agreement.AGREES, "exactly feasible"),
        (("other", {"x": 3.0}), Agreement.FAILED, "the family has primal, twice"),
        ({"x": 3.1}, Agreement.DISAGREES, "exactly feasible"),
        ({"x": 2.9}, Agreement.FAILED, "only after a change by"),
        ({"z": 3.0}, Agreement.FAILED, "there is no variable 'z'; the variables are x"),
        ({"x": [3.0, 1.0]}, Agreement.FAILED, "takes 1 finite number"),
        ({"x": float("nan")}, Agreement.FAILED, "takes 1 finite number"),
        (4.6, Agreement.DISAGREES, "a value without a point"),
        (4.5 * (1 + 5e-6), Agreement.INACCURATE, "a value without a point"),
    ],
)
def test_answers_of_solvers_are_worth_what_is_proven(
    own: Family[ProgramProblem], answer: Any, agreement: Agreement, said: str
) -> None:
    own.formulation("twice")(above)

    @solver("test.own.tried", own, accuracy=1e-5)
    def tried(problem: ProgramProblem) -> Any:
        """Return the answer of the test."""
        return answer

    found = compare(own({"end": 3.0}), solvers=["CLARABEL", "test.own.tried"])
    (judged,) = (
        j for j in found.families[0].judgements if j.evidence.run.solver == "test.own.tried"
    )
    assert judged.agreement is agreement, judged
    assert said in judged.evidence.run.reason


def test_what_is_optimised_for_a_solver_is_said(own: Family[ProgramProblem]) -> None:
    @own.formulation("with_slack")
    def with_slack(d: Any) -> Any:
        x, s, t = cp.Variable(name="x"), cp.Variable(name="s"), cp.Variable(name="t")
        return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x - s >= d["end"], s >= 0, t == 1])

    @solver("test.own.slack", own)
    def slack(problem: ProgramProblem) -> Any:
        return "with_slack", {"s": 0.0}

    problem = own({"end": 3.0})
    solution: Any = SOLVERS["test.own.slack"].run(problem, Limits(), None)
    found = worth(problem, solution)
    assert found.interval.upper == 4.5
    assert "it gives no x and no t, for which the best values are taken" in found.reason


def above(d: Any) -> Any:
    """Minimise 1/2 x^2 over x >= end, as the fixture does."""
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [x >= d["end"]])


def test_a_solver_that_fails_or_hangs_ends_no_comparison(own: Family[ProgramProblem]) -> None:
    @solver("test.own.failing", own)
    def failing(problem: ProgramProblem) -> Any:
        raise KeyError("nu")

    @solver("test.own.slow", own)
    def slow(problem: ProgramProblem) -> Any:
        time.sleep(20)

    found = compare(own({"end": 3.0}), time_limit=0.5)
    reasons = {
        j.evidence.run.solver: j.evidence.run
        for j in found.families[0].judgements
        if j.evidence.run.formulation is None
    }
    assert "KeyError" in reasons["test.own.failing"].reason
    assert reasons["test.own.slow"].status is Status.TIME_LIMIT


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (lambda d: 3.0, "must return a cvxpy.Problem"),
        (
            lambda d: cp.Problem(cp.Minimize(cp.sum_squares(cp.Variable(2, integer=True)))),
            "integer",
        ),
        (
            lambda d: cp.Problem(cp.Minimize(cp.sqrt(cp.Variable(name="x")))),
            "rules of convex programs",
        ),
        (
            lambda d: cp.Problem(cp.Minimize(cp.Variable(name="x") + cp.Variable(name="x")), []),
            "two variables called 'x'",
        ),
        (
            lambda d: cp.Problem(cp.Minimize(cp.exp(cp.Variable(name="x")))),
            "no quadratic, linear or second-order cone program",
        ),
        (lambda d: d["missing"], "KeyError"),
        (
            lambda d: cp.Problem(
                cp.Minimize(cp.square(cp.abs(cp.Variable(complex=True, name="z") - (1 + 2j))))
            ),
            "complex variable 'z'",
        ),
        (
            lambda d: cp.Problem(cp.Minimize(cp.abs(cp.Variable(imag=True, name="z") - 2j))),
            "complex variable 'z'",
        ),
        (
            lambda d: cp.Problem(
                cp.Minimize(cp.norm(cp.Variable((2, 2), hermitian=True, name="Z"), "fro"))
            ),
            "complex variable 'Z'",
        ),
        (lambda d: _one_of_two(cp.Variable(name="x")), "to integer variables"),
        (
            lambda d: cp.Problem(
                cp.Minimize(cp.Variable(name="x")), [cp.Parameter(name="low") <= 1]
            ),
            "parameter low of the problem",
        ),
    ],
)
def test_what_is_no_convex_program_is_skipped_or_fails_in_words(
    own: Family[ProgramProblem], stated: Any, said: str
) -> None:
    own.formulation("other")(stated)
    found = compare(own({"end": 3.0}))
    reasons = {
        j.evidence.run.reason
        for j in found.families[0].judgements
        if j.evidence.run.formulation == "test.own.other"
    }
    assert reasons
    assert all(said in reason for reason in reasons), reasons
    assert found.families[0].interval.upper == 4.5


def _one_of_two(x: Any) -> Any:
    return cp.Problem(cp.Minimize(x), [cp.FiniteSet(x, [1, 2]), x >= 1.3])


def test_a_definition_that_fails_is_said_by_every_answer() -> None:
    made = Family("test.failing")
    made.formulation("primal")(lambda d: d["missing"])
    found = compare(made({}))
    said = str(found)
    del REGISTRY["test.failing.primal"], FAMILIES["test.failing"]
    assert found.exit_code == 3
    assert "KeyError: 'missing'" in " ".join(said.split())


def test_scalars_meet_vectors_and_variables_have_attributes(own: Family[ProgramProblem]) -> None:
    @own.formulation("attributes")
    def attributes(d: Any) -> Any:
        x, y = cp.Variable(name="x", nonneg=True), cp.Variable(2, name="y", bounds=[0, 9])
        return cp.Problem(
            cp.Minimize(cp.sum_squares(x) / 2 + cp.sum(y)), [x >= np.array([d["end"], 0.0]), y <= 8]
        )

    found = compare(
        own({"end": 3.0}),
        formulations="test.own.attributes",
        solvers=["CLARABEL", "SCS", "OSQP", "HIGHS"],
    )
    assert [j.agreement for j in found.families[0].judgements].count(Agreement.AGREES) >= 3, str(
        found
    )


# The wrong bounds come from a product 0 times inf, which warns.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "loss", [cp.pos, cp.abs, lambda short: cp.maximum(short, 0)], ids=["pos", "abs", "maximum"]
)
def test_highs_gets_no_wrong_bounds_in_a_family_from_elsewhere(loss: Any) -> None:
    """cvxpy 1.9.3 wrongly bounds a loss of a free affine expression.

    HiGHS then returns 20 for 1.
    """
    made = Family("test.bounds")

    @made.formulation("primal")
    def primal(d: Any) -> Any:
        w, b = cp.Variable(1, name="w"), cp.Variable(name="b")
        return cp.Problem(
            cp.Minimize(cp.norm1(w) + 10 * cp.sum(loss(1 - cp.multiply(d["y"], d["X"] @ w + b))))
        )

    problem = made({"X": np.array([[1.0], [-1.0]]), "y": np.array([1.0, -1.0])})
    found = compare(problem, solvers=["CLARABEL", "SCS", "OSQP", "HIGHS"])
    exact = optimum(problem).exact
    _forgotten("test.bounds")
    agreements = {j.evidence.run.solver: j.agreement for j in found.families[0].judgements}
    assert exact == 1
    assert agreements["HIGHS"] is agreements["CLARABEL"] is Agreement.AGREES, str(found)
    assert Agreement.DISAGREES not in agreements.values()


def test_data_are_copied_and_problems_travel(own: Family[ProgramProblem]) -> None:
    data = {"end": np.array(3.0)}
    problem = own(data)
    data["end"][...] = 5.0
    assert optimum(problem).exact == Fraction(9, 2)
    again = pickle.loads(pickle.dumps(problem))
    assert optimum(again).exact == Fraction(9, 2)
    assert repr(again) == "<ProgramProblem test.own: end 3.0>"


def test_a_function_that_changes_its_data_changes_no_other_answer(
    own: Family[ProgramProblem],
) -> None:
    def doubling(value: Any, d: Any) -> Any:
        d["end"] *= 2.0
        return value

    @own.formulation("changing", value=doubling)
    def changing(d: Any) -> Any:
        d["end"] *= 2.0
        return above({"end": d["end"] / 2})

    @solver("test.own.changing", own)
    def solving(problem: ProgramProblem) -> Any:
        d = problem.data
        d["end"] *= 2.0
        return {"x": d["end"] / 2}

    own.formulation("after")(above)
    problem = own({"end": np.array(3.0)})
    for id in ("test.own.changing", "test.own.after", "test.own.primal"):
        assert optimum(problem, id).exact == Fraction(9, 2)
    found = compare(problem)
    assert found.families[0].verdict is Verdict.AGREE, str(found)
    assert problem.data["end"] == 3.0


def test_a_map_in_floats_is_widened_by_what_it_makes_of_a_rounding() -> None:
    """At x + 2^50 floats are 1/4 apart.

    Subtracting 2^50 again leaves 1/4 or 1/2 of the optimum 1/3.
    """
    made = Family("test.floats")

    @made.formulation("exact")
    def exact(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(x), [3 * x >= 1])

    @made.formulation("cancelling", value=lambda value, d: value - 2.0**50)
    def cancelling(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(x + 2.0**50), [3 * x >= 1])

    @made.formulation("root", value=lambda value, d: np.sqrt(float(value)))
    def root(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(x), [9 * x >= 1])

    @made.formulation("root_of_zero", value=lambda value, d: np.sqrt(float(value)))
    def root_of_zero(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(x), [x >= 0])

    @solver(f"{made.id}.cancelling", made)
    def solving(problem: ProgramProblem) -> Any:
        return "cancelling", {"x": 1 / 3}

    problem = made({})
    for id in ("test.floats.cancelling", "test.floats.root"):
        proven = optimum(problem, id)
        assert proven.lower <= Fraction(1, 3) <= proven.upper
        assert proven.exact is None
        assert "not proven" in proven.reason
    assert (
        optimum(problem, "test.floats.root").upper - optimum(problem, "test.floats.root").lower
        < 1e-13
    )
    root_of = optimum(problem, "test.floats.root_of_zero")
    assert root_of.lower <= 0 <= root_of.upper
    assert optimum(problem).exact == Fraction(1, 3)
    assert "not proven" not in optimum(problem).reason
    solution: Any = SOLVERS["test.floats.cancelling"].run(problem, Limits(), None)
    value = worth(problem, solution)
    assert "not proven" in value.reason
    assert value.interval.lower <= Fraction(1, 3) <= value.interval.upper
    found = compare(problem)
    against = {
        j.evidence.run.formulation
        for j in found.families[0].judgements
        if j.agreement is Agreement.DISAGREES
    }
    assert against == {"test.floats.root_of_zero"}
    _forgotten("test.floats")


def _forgotten(family_id: str) -> None:
    for id in [id for id, entry in REGISTRY.items() if entry.family == family_id]:
        del REGISTRY[id]
    for name in [name for name in SOLVERS if name.startswith(f"{family_id}.")]:
        del SOLVERS[name]
    del FAMILIES[family_id]


def test_exact_optima_that_are_not_equal_are_said_to_be(own: Family[ProgramProblem]) -> None:
    @own.formulation("nearly")
    def nearly(d: Any) -> Any:
        return above({"end": d["end"] + 2.0**-30})

    found = compare(own({"end": 3.0}), solvers="CLARABEL")
    said = {
        j.evidence.run.formulation: (j.agreement, j.evidence.run.reason)
        for j in found.families[0].judgements
    }
    assert said["test.own.nearly"][0] is Agreement.INACCURATE
    assert (
        "not equal: its exact optimum differs from that of the family's first "
        "formulation by 2.8e-09" in said["test.own.nearly"][1]
    )
    assert "not equal" not in said["test.own.primal"][1]
    assert found.families[0].verdict is Verdict.UNDECIDED
    assert (
        "the proven optimum of test.own.nearly differs from that of the family's first"
        in " ".join(str(found).split())
    )


def test_compare_where_roundings_explain_that_optima_differ_says_so_beside_the_mark(
    own: Family[ProgramProblem],
) -> None:
    @own.formulation("thirds")
    def thirds(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(
            cp.Minimize(cp.sum_squares(x) * (0.1 + 0.2) / 0.6), [x >= d["end"] * (1 + 2.0**-50)]
        )

    found = compare(own({"end": np.pi}), solvers="CLARABEL")
    (judged,) = (
        j for j in found.families[0].judgements if j.evidence.run.formulation == "test.own.thirds"
    )
    assert judged.agreement is Agreement.AGREES
    assert "thirds is not exactly equivalent: its exact optimum differs from" in " ".join(
        str(found).split()
    )


def _added(how: str, size: float) -> tuple[Any, list[Any]]:
    """Return a term of the objective, and constraints under which it is constant."""
    t, s = cp.Variable(name="t"), cp.Variable(name="s")
    if how == "constant":
        return size, []
    if how == "fixed":
        return size * t, [t == 1]
    if how == "chain":
        return t - s / 3, [s == size, t == 2 * s]
    if how == "bounds":
        return size * t, [t <= 1, 2 * t >= 2]
    if how == "sum":
        return t + s, [t + s == size]
    if how == "pair":
        return t + s, [t + s == size, t - s == 0]
    return size * t - size * s, [t == s, t <= 1, s >= 1]


WAYS_TO_ADD = ["constant", "fixed", "chain", "cancelling", "bounds", "sum", "pair"]


@given(
    how=st.sampled_from(WAYS_TO_ADD),
    size=st.sampled_from([1e3, -1e5, 1e7]),
    factor=st.integers(2, 4),
)
@example(how="bounds", size=1e7, factor=2)
@example(how="sum", size=1e7, factor=2)
@example(how="pair", size=1e7, factor=2)
@settings(max_examples=12)
def test_compare_with_terms_that_no_point_changes_excuses_nobody_by_them(
    how: str, size: float, factor: int
) -> None:
    made = Family("test.shifted")
    try:
        for name, scale in (("primal", 1), ("again", 1), ("wrong", factor)):

            @made.formulation(name)
            def stated(d: Any, scale: int = scale) -> Any:
                x, (added, rows) = cp.Variable(2, name="x"), _added(how, size)
                return cp.Problem(
                    cp.Minimize(scale * cp.sum_squares(x - 1) + added), [cp.sum(x) <= 1, *rows]
                )

        for name, answer in (("right", 0.5), ("rough", 0.6)):

            @solver(f"{made.id}.{name}", made)
            def solving(
                problem: ProgramProblem, limits: Any, start: Any, answer: float = answer
            ) -> Any:
                return {"x": np.array([answer, 1 - answer])}

        found = compare(made({}), solvers=["CLARABEL", "test.shifted.*"]).families[0].judgements
    finally:
        _forgotten("test.shifted")
    said = {j.evidence.run.formulation or j.evidence.run.solver: j.agreement for j in found}
    assert said["test.shifted.right"] is Agreement.AGREES
    assert said["test.shifted.wrong"] is said["test.shifted.rough"] is Agreement.DISAGREES
    honest = said["test.shifted.primal"], said["test.shifted.again"]
    # A backend receives the fixed part as an ordinary term, and is less accurate.
    assert Agreement.DISAGREES not in honest
    assert how != "constant" or set(honest) == {Agreement.AGREES}


@pytest.mark.parametrize("how", WAYS_TO_ADD)
@pytest.mark.parametrize("size", [1e3, 1e7])
def test_size_of_an_optimum_with_terms_that_no_point_changes_is_near_that_without(
    how: str, size: float
) -> None:
    """The size is that of linear terms at a vertex of a simplex.

    Of 1, 2 and 4 the relevant one is 1, and 1 + 2 is their minimum sum of distances.
    """
    made = Family("test.sized")
    for name, ways in (("alone", None), ("more", how)):

        @made.formulation(name)
        def stated(d: Any, ways: Any = ways) -> Any:
            x, (added, rows) = (
                cp.Variable(3, name="x", nonneg=True),
                _added(ways, size) if ways else (0, []),
            )
            return cp.Problem(
                cp.Minimize(x @ np.array([1.0, 2.0, 4.0]) + added), [cp.sum(x) == 1, *rows]
            )

    try:
        alone, more = (optimum(made({}), f"test.sized.{name}") for name in ("alone", "more"))
    finally:
        _forgotten("test.sized")
    assert alone.size / 1.001 <= more.size <= 3.001 * alone.size
    assert alone.interval.size / 1.001 <= more.interval.size <= 3.001 * alone.interval.size


@pytest.mark.parametrize("weight", [0.0, 1e-20])
def test_compare_excuses_no_coordinate_by_one_that_does_not_matter(
    own: Family[ProgramProblem], weight: float
) -> None:
    made = Family("test.apart")

    @made.formulation("primal")
    def stated(d: Any) -> Any:
        x = cp.Variable(2, name="x")
        return cp.Problem(cp.Minimize(cp.sum_squares(3 * x[0] - 1) + weight * x[1]), [x[1] >= 0])

    @solver(f"{made.id}.wrong", made)
    def solving(problem: ProgramProblem) -> Any:
        return {"x": np.array([7.0, 1e18])}

    try:
        (found,) = compare(made({}), solvers=["CLARABEL", "test.apart.wrong"]).families
    finally:
        _forgotten("test.apart")
    assert [j.agreement for j in found.judgements] == [Agreement.AGREES, Agreement.DISAGREES]


def test_proofs_keep_the_limits_of_the_comparison(
    own: Family[ProgramProblem], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def proven(program: Any, value: Any, seconds: float) -> ProvenOptimum:
        asked.append(seconds)
        return proven_optimum(program, value, seconds)

    monkeypatch.setattr("equimargin.proofs.program.proven_optimum.proven_optimum", proven)
    own.formulation("twice")(above)
    problem = own({"end": 3.0})
    compare(problem, solvers="CLARABEL", time_limit=50.0)
    assert asked == [50.0, 50.0]
    compare(problem, solvers="CLARABEL", total_time=40.0)
    assert len(asked) == 4
    assert all(0 < seconds <= 40 for seconds in asked[2:])
    assert problem.seconds == 60.0


def test_a_proof_without_time_says_so(own: Family[ProgramProblem]) -> None:
    found = optimum(nothing({}).proven_within(1e-6, 1e-6))
    assert not found.is_known
    assert "no proof within the 0.001 s" in found.reason


def test_an_optimum_beyond_float64_is_exact() -> None:
    made = Family("test.huge")

    @made.formulation("primal")
    def primal(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(cp.square(x)), [x >= 1e200])

    proven = optimum(made({}))
    found = str(compare(made({})))
    _forgotten("test.huge")
    assert proven.exact == Fraction(1e200) ** 2
    assert proven.upper == inf
    assert proven.lower > 1e308
    assert "exact" in str(proven)
    assert "OverflowError" not in found


def test_what_is_entered_again_has_no_past(own: Family[ProgramProblem]) -> None:
    solver("test.own.old", own)(lambda problem: 4.5)
    problem = own({"end": 3.0})
    assert optimum(problem).exact == Fraction(9, 2)
    again = Family("test.own")

    @again.formulation("primal")
    def twice(d: Any) -> Any:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= d["end"]])

    assert optimum(problem).exact == 9
    assert "test.own.old" not in SOLVERS


def test_a_solver_says_which_data_it_does_not_take(own: Family[ProgramProblem]) -> None:
    solver(
        "test.own.above_0",
        own,
        requires=Requirements(
            ProgramProblem,
            also=lambda problem: "the end is below 0" if problem.data["end"] < 0 else None,
        ),
    )(lambda problem: {"x": problem.data["end"]})
    for end, agreement in ((3.0, Agreement.AGREES), (-3.0, Agreement.SKIPPED)):
        found = compare(own({"end": end}), solvers=["CLARABEL", "test.own.above_0"])
        assert {j.evidence.run.solver: j.agreement for j in found.families[0].judgements}[
            "test.own.above_0"
        ] is agreement
        assert ("the end is below 0" in str(found)) is (end < 0)


@pytest.mark.slow
def test_the_first_solver_of_a_family_is_not_stopped_for_being_slow(
    own: Family[ProgramProblem], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the first there would be no verdict; the second one is stopped."""
    monkeypatch.setattr("equimargin.comparison.family_progress.LEAST_ALLOWANCE", 0.01)
    monkeypatch.setattr("equimargin.comparison.family_progress.ALLOWED_RATIO", 1e-3)

    def waiting(seconds: float, problem: ProgramProblem) -> Any:
        time.sleep(seconds)
        return {"x": problem.data["end"]}

    solver("test.own.first", own)(partial(waiting, 3.0))
    solver("test.own.second", own)(partial(waiting, 20.0))
    found = compare(own({"end": 3.0}), solvers=["CLARABEL", "test.own.*"])
    judged = {j.evidence.run.solver: j.agreement for j in found.families[0].judgements}
    assert judged == {
        "CLARABEL": Agreement.AGREES,
        "test.own.first": Agreement.AGREES,
        "test.own.second": Agreement.FAILED,
    }
    assert found.exit_code == 0, str(found)


def _half_of_square(factor: float, d: Any) -> Any:
    """Minimise factor x^2 over x >= end."""
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(factor * cp.sum_squares(x)), [x >= d["end"]])


class _Stated:
    """Formulation 1/2 x^2 over x >= end as a callable object."""

    def __call__(self, d: Any) -> Any:
        return _half_of_square(0.5, d)


HALF = partial(partial(_half_of_square), 0.5)


@pytest.mark.parametrize(
    ("stated", "doc"), [(HALF, _half_of_square.__doc__), (_Stated(), _Stated.__doc__)]
)
def test_partials_and_objects_that_are_called_are_formulations_and_solvers(
    own: Family[ProgramProblem], stated: Any, doc: str
) -> None:
    own.formulation("other", control=False)(stated)
    solver("test.own.whole", own)(
        partial(lambda share, problem: {"x": share * problem.data["end"]}, 1.0)
    )
    assert (REGISTRY["test.own.other"].stated.__doc__, REGISTRY["test.own.other"].module) == (
        doc,
        __name__,
    )
    found = compare(own({"end": 3.0}), solvers=["CLARABEL", "test.own.whole"])
    assert found.exit_code == 0, str(found)
    assert len(found.families[0].judgements) == 3


def test_what_is_entered_twice_or_wrongly_is_refused(own: Family[ProgramProblem]) -> None:
    with pytest.raises(ValueError, match=r"'test.own.primal' is registered already"):
        own.formulation("primal")(lambda d: d)
    with pytest.raises(
        ValueError, match=r"a family 'test.ocsvm' is registered already, by brought"
    ):
        Family("test.ocsvm").formulation("primal")(lambda d: d)
    with pytest.raises(ValueError, match=r"a family 'svm.soft' is registered already"):
        Family("svm.soft").formulation("other")(lambda d: d)
    for wrong in ("a family", "a/b", "", ".hidden", "all*"):
        with pytest.raises(ValueError, match=r"is no valid name: names consist of letters"):
            Family(wrong)
        with pytest.raises(ValueError, match=r"is no valid name: names consist of letters"):
            own.formulation(wrong)
        with pytest.raises(ValueError, match=r"is no valid name: names consist of letters"):
            solver(wrong, own)
    with pytest.raises(ValueError, match=r"unknown reading 'decimal'"):
        Family("test.new", reading="decimal")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"must be above 0 and at most 0.001"):
        solver("test.own.rough", own, accuracy=0.1)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'recovers'"):
        own.formulation("new", recovers=lambda v, d: v)  # type: ignore[call-arg]
    empty = Family("test.empty")
    with pytest.raises(ValueError, match=r"cannot be a negative control"):
        empty.formulation("first", control=True)(lambda d: d)
    with pytest.raises(LookupError, match=r"the family test.empty has no formulation"):
        optimum(empty({}))
    with pytest.raises(ValueError, match=r"no data strategy"):
        drawn(empty, 0)


def test_worlds_do_not_mix() -> None:
    built_in = classification([[0.0], [2.0]], [-1, 1], kernel=linear())
    assert (
        str(SOLVERS["smo"].refusal(ocsvm(POINT)))
        == "it is of the family test.ocsvm, which has solvers of its own"
    )
    assert SOLVERS["test.ocsvm.libsvm"].refusal(built_in) is not None
    assert "declares test.ocsvm" in str(REGISTRY["test.ocsvm.dual"].refusal(built_in))
    with pytest.raises(ValueError, match=r"take no initial point"):
        ocsvm(POINT).own_point(None)
    solution: Any = SOLVERS["test.ocsvm.libsvm"].run(ocsvm(POINT), Limits(), None)
    assert worth(ocsvm(POINT), solution).interval.upper == -0.5


def test_duals_are_derived_by_machine_as_ever() -> None:
    problem: Any = ocsvm({"X": np.array([[1.0], [2.0]]), "nu": 0.5})
    assert dual_reason("test.ocsvm.primal", "test.ocsvm.dual", problem) is not None
    assert dual_reason("test.ocsvm.dual", "test.ocsvm.primal", problem) is None


def test_drawn_data_are_the_same_for_a_seed() -> None:
    one, other = drawn(ocsvm, 5), drawn(ocsvm, 5)
    assert np.array_equal(one["X"], other["X"])
    assert one["nu"] == other["nu"]


def test_sources_have_titles() -> None:
    assert Source("T", "(1)").full.startswith("Yu and Kim")
    assert as_a(Source, REGISTRY["test.ocsvm.dual"].sources[0]).full.startswith("Schölkopf et al.")
    assert Source("an own note", "(1)").full == "an own note"
