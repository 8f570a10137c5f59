"""The referee's own logic: verdicts on evidence made by hand, residuals of problems solved by hand, rays, and the XOR problem."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations import REGISTRY, Declaration, MarginProblem, Point, Printed, classification, declare, polynomial
from equimargin.proofs import Agreement, Evidence, Verdict, examine, examine_solution, judge
from equimargin.proofs.referee import own_residual, proves_ray, skipped
from equimargin.solvers import SOLVERS, Status, solve, solve_declaration
from equimargin.solvers.convex import Answer, StandardForm

# Evidence made by hand: the family's optimum is 1, its P(0) is 10.


def declared(id: str = "one", **changes: object) -> Evidence:
    """A declaration's perfect answer, changed."""
    perfect = Evidence(
        "family", id, "backend", False, Status.OPTIMAL, "", value=1.0, mismatch=0.0, lower=1.0, upper=1.0,
        has_f=True, has_alpha=True, residual=0.0, normwise=0.0,
    )  # fmt: skip
    return replace(perfect, **changes)  # type: ignore[arg-type]


def solved(name: str = "solver", **changes: object) -> Evidence:
    """A specialised solver's."""
    return declared(formulation=None, solver=name, **changes)


def agreement(evidence: Evidence, tol: float = 1e-6) -> Agreement:
    """What becomes of it beside a perfect declaration and a perfect solver."""
    return judge("family", [declared("right"), solved(), evidence], 10.0, tol).judgements[-1].agreement


def verdict(*evidence: Evidence, **options: bool) -> Verdict:
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
        ({"has_f": False, "upper": np.inf}, Agreement.DISAGREES),
        ({"has_f": False, "has_alpha": False}, Agreement.DISAGREES),
        # claims: within ten times the accuracy
        ({"value": 1 + 9e-5, "residual": 1e-5}, Agreement.INACCURATE),
        ({"value": 1 + 1.1e-4, "residual": 1e-5}, Agreement.DISAGREES),
        ({"value": 1 + 9e-5, "normwise": 1e-5}, Agreement.INACCURATE),
        # points: within thirty times its square root
        ({"upper": 1 + 2.9e-2, "residual": 1e-6}, Agreement.INACCURATE),
        ({"upper": 1 + 3.1e-2, "residual": 1e-6}, Agreement.DISAGREES),
        # nothing is excused beyond 1e-3
        ({"value": 1.005, "residual": 9e-4}, Agreement.INACCURATE),
        ({"value": 1.005, "residual": 1.1e-3}, Agreement.FAILED),
        ({"value": 2.0, "residual": np.inf}, Agreement.FAILED),
        ({"upper": np.inf, "residual": 9e-4}, Agreement.DISAGREES),
        # a right answer is right however badly its solver says it did, and whatever its status
        ({"residual": np.inf}, Agreement.AGREES),
        ({"status": Status.NUMERICAL_FAILURE}, Agreement.AGREES),
        ({"value": 2.0, "status": Status.OPTIMAL}, Agreement.DISAGREES),
        # rays
        ({"value": np.inf, "ray": True}, Agreement.DISAGREES),
        ({"value": -np.inf, "ray": True, "residual": np.inf}, Agreement.DISAGREES),
        ({"value": np.inf, "ray": False, "residual": np.inf}, Agreement.FAILED),
        # NaN is never right
        ({"value": np.nan}, Agreement.DISAGREES),
        ({"mismatch": np.nan}, Agreement.DISAGREES),
        ({"value": np.nan, "residual": np.nan}, Agreement.FAILED),
        ({"value": 2.0, "residual": np.nan}, Agreement.FAILED),
        ({"value": 2.0, "normwise": np.nan}, Agreement.FAILED),
        ({"skipped": True}, Agreement.SKIPPED),
    ],
)
def test_an_answer_is_judged(changes: dict[str, object], expected: Agreement) -> None:
    assert agreement(declared("judged", **changes)) is expected


def test_the_tolerance_is_relative_to_the_optimum_or_to_the_value_at_zero() -> None:
    """S = max(|lower|, |upper|, 1e-4 P(0))."""
    small = {"value": 0.0, "lower": 0.0, "upper": 0.0}
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
    below, above = declared("below", upper=np.inf, has_f=False), declared("above", lower=-np.inf, has_alpha=False)
    found = judge("family", [below, above, declared("wide", lower=0.5, upper=3.0)], 10.0)
    assert (found.interval.lower, found.interval.upper) == (1.0, 1.0)
    assert found.judgements[1].agreement is Agreement.AGREES
    assert found.judgements[2].off == pytest.approx(2.0)


def test_a_control_neither_proves_nor_spoils() -> None:
    """Its bounds do not count for the family; its disagreeing is expected."""
    control = declared("control", control=True, value=0.5, lower=3.0, upper=0.1)
    found = judge("family", [declared(), solved(), control], 10.0)
    assert (found.interval.lower, found.interval.upper) == (1.0, 1.0)
    assert found.judgements[-1].agreement is Agreement.DISAGREES
    assert found.verdict is Verdict.AGREE
    assert found.count(Agreement.AGREES) == 2
    assert found.count(Agreement.DISAGREES) == 0


INACCURATE = {"value": 1 + 5e-5, "residual": 1e-5}
FAILED = {"value": 3.0, "residual": np.inf}


def test_a_family_agrees_by_a_declaration_and_a_solver() -> None:
    assert verdict(declared(), solved()) is Verdict.AGREE
    assert verdict(declared(), solved(), declared("two", **INACCURATE), declared("three", **FAILED)) is Verdict.AGREE


def test_a_family_agrees_by_two_declarations_or_two_solvers_where_there_is_nothing_else() -> None:
    assert verdict(declared("one"), declared("two")) is Verdict.AGREE
    assert verdict(solved("one"), solved("two")) is Verdict.AGREE


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


def test_what_is_skipped_does_not_count_as_tried() -> None:
    large = skipped("family", "one", "backend", False, Status.TOO_LARGE, "too large")
    assert verdict(large, solved("one"), solved("two")) is Verdict.AGREE


def test_one_disagreement_is_enough() -> None:
    found = judge("family", [declared(), solved(), declared("wrong", value=2.0)], 10.0)
    assert found.verdict is Verdict.DISAGREE
    assert found.reason == "disagreeing: wrong by backend"
    assert verdict(declared(), solved(), declared("wrong", ray=True, value=np.inf)) is Verdict.DISAGREE


def test_without_convexity_nothing_is_decided() -> None:
    assert verdict(declared(), solved(), convex=False) is Verdict.UNDECIDED


# Residuals of min 1/2 x^2 - x + 3  s.t.  x <= 1/2, solved by hand: x = 1/2, z = 1/2, value 2.625.


def form(**changes: object) -> StandardForm:
    """That problem in standard form, changed."""
    free = np.array([np.inf])
    one = sparse.csr_array(np.ones((1, 1)))
    known = StandardForm(one, np.array([-1.0]), one, np.array([0.5]), 0, 1, (), -free, free, 3.0)
    return replace(known, **changes)  # type: ignore[arg-type]


def residual(x: float, z: float) -> tuple[float, float]:
    return own_residual(form(), np.array([x]), np.array([z]))


def test_a_solution_has_no_residual() -> None:
    assert residual(0.5, 0.5) == (0.0, 0.0)


def test_residuals_by_hand() -> None:
    """x = 1, z = 1/2: r_p = 1/2, r_d = 1/2, p = 2.5, d = 2.25; and at zeros the first-order bound is blind to r_d, the norm is not."""
    first_order, normwise = residual(1.0, 0.5)
    assert first_order == pytest.approx(0.25 + 0.5 * 0.5 + 1.0 * 0.5)
    assert normwise == pytest.approx(max(0.5 / 1.5, 0.5 / 2.0, 0.25 / 3.5))
    assert residual(0.0, 0.0) == (0.0, 0.5)


def test_a_multiplier_of_the_wrong_sign_is_none() -> None:
    assert residual(0.5, -0.5) == residual(0.5, 0.0)
    assert residual(0.5, 0.0)[1] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("x", "z"), [(None, np.zeros(1)), (np.zeros(1), None), (np.zeros(2), np.zeros(1)), (np.array([np.nan]), np.zeros(1))]
)
def test_without_vectors_nothing_is_known(x: np.ndarray | None, z: np.ndarray | None) -> None:
    assert own_residual(form(), x, z) == (np.inf, np.inf)


def test_bounds_of_variables_are_constraints() -> None:
    """The same problem with x <= 1/2 as a bound: its multiplier is the reduced cost."""
    bounded = form(G=sparse.csr_array((0, 1)), h=np.zeros(0), nonneg=0, upper=np.array([0.5]))
    assert own_residual(bounded, np.array([0.5]), np.zeros(0)) == (0.0, 0.0)
    assert own_residual(bounded, np.array([1.0]), np.zeros(0))[1] >= 0.5 / 1.5
    assert own_residual(bounded, np.array([0.25]), np.zeros(0))[0] > 0.1


def test_a_second_order_cone() -> None:
    """min x_1  s.t.  |(3, 4)| <= x_1: x = 5, z = (1, -3/5, -4/5)."""
    cone = StandardForm(
        sparse.csr_array((1, 1)), np.ones(1), sparse.csr_array([[-1.0], [0.0], [0.0]]), np.array([0.0, 3.0, 4.0]), 0, 0, (3,),
        np.array([-np.inf]), np.array([np.inf]), 0.0,
    )  # fmt: skip
    assert own_residual(cone, np.array([5.0]), np.array([1.0, -0.6, -0.8])) == pytest.approx((0.0, 0.0), abs=1e-15)
    assert own_residual(cone, np.array([4.0]), np.array([1.0, -0.6, -0.8]))[1] > 0.1
    assert own_residual(cone, np.array([5.0]), np.array([1.0, 0.6, 0.8]))[1] > 0.5


# Rays.


def toy(objective: cp.Minimize | cp.Maximize, *constraints: cp.Constraint) -> Declaration:
    """A declaration of nothing: its canonical problem only gives a family."""
    x = objective.variables()[0]
    return Declaration(
        classification([[1.0]], [1.0]),
        objective,
        {str(k): c for k, c in enumerate(constraints)},
        {"x": x},
        {},
        lambda d: Point(w=np.zeros(1), b=1.0),
        lambda v: Printed(float(objective.args[0].value)),
    )


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
def test_a_verified_ray_is_a_claim(direction: type, bounds: tuple, value: float, backend: str) -> None:
    """Unbounded below is -inf for a minimum, infeasible +inf; the other way round for a maximum."""
    x = cp.Variable(name="x")
    declaration = toy(direction(x), *(bound(x) for bound in bounds))
    answer = solve_declaration(declaration, backend)
    assert proves_ray(answer)
    evidence = examine(declaration.canonical, answer)
    assert (evidence.ray, evidence.value) == (True, value)


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
    answer = Answer(toy(cp.Minimize(x)), "backend", status, "", form=lp, primal_ray=np.array(ray), dual_ray=np.array(ray))
    assert proves_ray(answer) is proved


def test_curvature_and_bounds_end_a_ray() -> None:
    x = cp.Variable(name="x")
    answer = Answer(toy(cp.Minimize(x)), "backend", Status.UNBOUNDED, "", primal_ray=-np.ones(1))
    lp = form(P=sparse.csr_array((1, 1)), q=np.ones(1))
    assert proves_ray(replace(answer, form=lp))
    assert not proves_ray(replace(answer, form=form(q=np.ones(1))))
    assert not proves_ray(replace(answer, form=replace(lp, lower=np.zeros(1))))
    assert not proves_ray(answer)


@pytest.mark.parametrize(("z", "proved"), [([1.0, 1.0], True), ([1.0, 0.5], False), ([-1.0, -1.0], False), ([0.0, 0.0], False)])
def test_a_farkas_vector_is_checked(z: list[float], proved: bool) -> None:
    """x <= 1 and -x <= -2."""
    x = cp.Variable(name="x")
    contradiction = form(G=sparse.csr_array([[1.0], [-1.0]]), h=np.array([1.0, -2.0]), nonneg=2)
    answer = Answer(toy(cp.Minimize(x)), "backend", Status.INFEASIBLE, "", form=contradiction, dual_ray=np.array(z))
    assert proves_ray(answer) is proved


# XOR, document T (41)-(49): kernel (x.z + 1)^2, alpha = 1/8 each, optimum 1/4.


def xor() -> MarginProblem:
    return classification(
        [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [-1.0, 1.0, 1.0, -1.0], C=1.0, kernel=polynomial(2, 1.0, 1.0)
    )


@pytest.mark.parametrize("id", [id for id, entry in REGISTRY.items() if entry.family == "svm.soft" and not entry.control])
def test_xor_by_every_declaration(id: str) -> None:
    answer = solve_declaration(declare(id, xor()))
    assert answer.declaration.value(answer.objective) == pytest.approx(0.25, abs=1e-8)
    evidence = examine(xor(), answer)
    assert evidence.lower == pytest.approx(0.25, abs=1e-7)
    assert evidence.upper == pytest.approx(0.25, abs=1e-7)
    assert evidence.lower <= 0.25 <= evidence.upper


def test_xor_by_its_solvers() -> None:
    solutions = [solve(xor(), name, tol=1e-9) for name, solver in SOLVERS.items() if solver.takes("svm.soft")]
    assert solutions
    for solution in solutions:
        assert solution.lower <= 0.25 <= solution.upper
        assert examine_solution(solution).value == pytest.approx(0.25, abs=1e-8)
        assert solution.decision_function(xor().X) == pytest.approx(xor().rows.t * xor().rows.s, abs=1e-4)


def test_xor_as_printed_is_refuted() -> None:
    """Without the 1/2 the optimum is 1/8, at alpha = 1/16."""
    problem = xor()
    right = [examine(problem, solve_declaration(declare(id, problem))) for id in ("svm.soft.primal", "svm.soft.dual")]
    printed = solve_declaration(declare("svm.soft.dual.as_printed", problem))
    assert printed.objective == pytest.approx(0.125, abs=1e-8)
    found = judge("svm.soft", [*right, examine(problem, printed, control=True)], problem.scale)
    assert found.judgements[-1].agreement is Agreement.DISAGREES
    assert found.verdict is Verdict.AGREE


def test_the_printed_formula_is_a_second_check() -> None:
    """The right program with a wrong formula beside it, and a printed constraint that is violated."""
    problem = xor()
    d = declare("svm.soft.dual", problem)
    right = [examine(problem, solve_declaration(declare("svm.soft.primal", problem)))]
    for printed in (lambda v: Printed(v["alpha"].sum()), lambda v: Printed(d.objective.args[0].value, {"new": v["alpha"]})):
        answer = solve_declaration(replace(d, printed=printed))
        assert judge("svm.soft", [*right, examine(problem, answer)], problem.scale).judgements[-1].agreement is Agreement.DISAGREES


def test_an_answer_without_a_point_shows_nothing() -> None:
    d = declare("svm.soft.dual", xor())
    evidence = examine(xor(), Answer(d, "backend", Status.NUMERICAL_FAILURE, "it broke", form=form()))
    assert agreement(evidence) is Agreement.FAILED
    unsupported = examine(xor(), Answer(d, "backend", Status.UNSUPPORTED, "no cones"))
    assert agreement(unsupported) is Agreement.SKIPPED
