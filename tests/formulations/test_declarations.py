"""Declarations of the registry: disciplined, named and valued as published.

Each equals its published formula, and its multipliers have the right sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import (
    DOCUMENTS,
    FAMILIES,
    REGISTRY,
    Declaration,
    Kernel,
    MarginProblem,
    OneNormProblem,
    Point,
    Problem,
    classification,
    declare,
    interval,
    linear,
    minimize,
    one_norm_classification,
    polynomial,
    precomputed,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.formulations.bounds.complete import complete
from equimargin.formulations.documents.shared.subsets import ALL_SUBSETS
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.proofs import Agreement, Evidence, Verdict, examine, judge
from equimargin.solvers import BACKENDS, Status, solve_declaration
from equimargin.testing import HARD, ONE_NORM, get_task, sample_problem
from narrow import present
from optima import classes_with_outliers
from oracles.own_entries import PRINTED

KERNELS: dict[str, Kernel] = {
    "linear": linear(),
    "rbf": rbf(0.5),
    "polynomial": polynomial(2, 0.5, 1.0),
}
IDS = list(PRINTED)
RIGHT = [id for id in IDS if not REGISTRY[id].control]
NEAR = {"CLARABEL": 1e-6, "SCS": 1e-6, "OSQP": 1e-3, "HIGHS": 1e-4}
"""Distance of a backend's multipliers from the optimum, relative to S.

A wrong sign gives a distance of 1.
"""

WITHOUT_MULTIPLIERS = {
    *("svm.huberised_hinge.primal", "svm.huberised_hinge.beta", "svm.nobias.beta"),
    *(
        "ord.implicit.beta",
        "ord.implicit.two_levels",
        "ord.implicit_l2.beta",
        "ord.implicit_l2.two_levels",
    ),
    *("ord.hard.neighbours", "ord.hard.rank_hard"),
    *("rank.l1.beta", "rank.l1.betahat", "rank.l2.beta", "rank.l2.betahat"),
    *("svm.soft.beta", "svm.l2.beta", "svm.nobias_l2.beta", "svr.l1.beta", "svr.l2.beta"),
}
"""Correct formulations whose points have no multipliers."""
MISREAD = "rank.l2.value.as_printed"
"""Control that declares the right problem and misprints its value."""
WEIGHTS: dict[str, list[float]] = {
    "ones": [],
    "positive": [0.5, 1.7, 1.0],
    "some 0": [0.0, 1.3, 0.7],
    "one infinite": [1.0],
}

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def make_problem(
    family: str, kernel: Kernel, C: float = 0.5, weights: str = "ones", n: int = 12, levels: int = 3
) -> Problem:
    """Make a small problem of a family: noisy, or feasible where there is no cost.

    Weights are a key of WEIGHTS.
    """
    task = get_task(family)
    if family in HARD:
        return sample_problem(family, kernel, seed=1, n=n)
    rng = np.random.default_rng(21)
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    factors = np.resize(WEIGHTS[weights], n) if WEIGHTS[weights] else None
    if factors is not None and weights == "one infinite":
        factors[np.argmax(score)] = np.inf
        if "delta" in FAMILIES[family].settings:
            # This loss has no hard rows.
            factors = np.where(np.isinf(factors), 1.0, factors)
    y = {
        "classification": np.where(score > 0.4, 1.0, -1.0),
        "regression": score,
        "ranking": np.digitize(score, [-0.4, 0.5]).astype(np.float64),
        "ordinal": np.digitize(score, [-0.4, 0.5][: levels - 1]),
    }[task]
    data: dict[str, Any] = {"X": X, "y": y, "C": C, "kernel": kernel}
    if factors is not None and task in ("classification", "ordinal") and family not in ONE_NORM:
        data["sample_weight"] = factors
    problem: Problem = FAMILIES[family](data)
    if factors is None or isinstance(problem, OneNormProblem):
        return problem
    if task == "regression":
        # The sides of the tube differ.
        return replace(problem, weights=np.concatenate([factors, factors[::-1]]))
    if task != "ranking":
        return problem
    # No public argument sets the weights of pairs.
    rows = LabelledPairs(y, None).listed()
    factors = np.resize(WEIGHTS[weights], rows.p)
    if weights == "one infinite":
        factors[np.argmax(score[rows.preferred] - score[rows.other])] = np.inf
    return replace(problem, rows=rows, weights=factors)


def declared(id: str, kernel: Kernel, **options: Any) -> Declaration:
    """Declare a problem with one of the WEIGHTS."""
    return declare(id, problem_for(id, kernel, **options))


def problem_for(id: str, kernel: Kernel, **options: Any) -> Problem:
    """Make a problem of a formulation's family that the formulation supports.

    A form for two levels has two levels.
    """
    return make_problem(
        REGISTRY[id].family, kernel, levels=2 if id.endswith("two_levels") else 3, **options
    )


def forms(ids: list[str], *weights: str) -> pytest.MarkDecorator:
    """Build the parametrisation by every formulation and its kernels and weights."""
    choices: list[tuple[str, ...]] = [(w,) for w in weights] or [()]
    taken = [
        (id, kernel, *chosen)
        for id in ids
        for kernel in KERNELS
        for chosen in choices
        if REGISTRY[id].refusal(problem_for(id, KERNELS[kernel], weights=(*chosen, "ones")[0]))
        is None
    ]
    names = ("id", "kernel", "weights")[: 3 if weights else 2]
    return pytest.mark.parametrize(
        names,
        [(id, KERNELS[kernel], *chosen) for id, kernel, *chosen in taken],
        ids=map(" ".join, taken),
    )


every_id = pytest.mark.parametrize("id", IDS)
every_form = forms(IDS)
every_right_form = forms(RIGHT)


def right_answers(problem: Problem) -> list[Evidence]:
    """Return the evidence of every declaration that supports the problem."""
    ids = [id for id in RIGHT if REGISTRY[id].refusal(problem) is None]
    return [examine(problem, solve_declaration(declare(id, problem))) for id in ids]


def set_at_random(declaration: Declaration, seed: int) -> None:
    """Give the variables random values.

    Variables defined by an equation (beta = A'alpha) take the value of the equation.
    """
    rng = np.random.default_rng(seed)
    for variable in declaration.variables.values():
        variable.value = rng.normal(size=variable.shape)
    for constraint in declaration.constraints.values():
        if isinstance(constraint, cp.constraints.Equality) and isinstance(
            constraint.args[0], cp.Variable
        ):
            constraint.args[0].value = constraint.args[1].value


@every_form
def test_it_is_disciplined_with_its_parameters(id: str, kernel: Kernel) -> None:
    assert declared(id, kernel).problem.is_dcp(dpp=True)


@every_id
def test_its_things_are_named_as_printed(id: str) -> None:
    d = declared(id, rbf(0.5))
    assert d.id == id
    assert {name: v.name() for name, v in d.variables.items()} == {
        name: name for name in d.variables
    }
    assert {name: v.name() for name, v in d.parameters.items()} == {
        name: name for name in d.parameters
    }
    used = {v.id for v in d.problem.variables()}
    assert used == {v.id for v in d.variables.values()}
    assert {p.id for p in d.problem.parameters()} == {p.id for p in d.parameters.values()}


@every_id
def test_it_says_where_it_is_printed(id: str) -> None:
    entry = REGISTRY[id]
    assert entry.id == id
    assert entry.sources
    assert all(
        (source.document in DOCUMENTS or source.title) and source.equations
        for source in entry.sources
    )
    assert entry.statement.startswith(("min ", "max ")) or (
        entry.control and "read-out" in entry.statement
    )
    assert entry.latex
    assert entry.family in FAMILIES


@forms([id for id in IDS if id != MISREAD], "ones", "positive", "some 0")
@pytest.mark.parametrize("n", [5, 12])
def test_the_tree_is_the_printed_formula(id: str, kernel: Kernel, weights: str, n: int) -> None:
    """The objective and every constraint's violation agree at arbitrary points.

    The points are neither feasible nor optimal.
    """
    d = declared(id, kernel, weights=weights, n=n)
    for seed in range(5):
        set_at_random(d, seed)
        printed = d.printed(d.values)
        assert printed.objective == pytest.approx(float(d.objective.args[0].value), rel=1e-10)
        for name, violation in printed.violations.items():
            size = np.maximum(np.atleast_1d(violation), 0.0)
            # The violation is of rows that this problem does not have.
            if name not in d.constraints:
                assert size.size == 0
                continue
            expected = np.atleast_1d(d.constraints[name].violation())
            if size.shape == expected.shape:
                assert size == pytest.approx(expected, rel=1e-10, abs=1e-12), name
            # The maximum is printed for all constraints.
            elif d.canonical.p <= ALL_SUBSETS:
                assert size.max() == pytest.approx(expected.max(), rel=1e-10, abs=1e-12), name
            else:
                # Some of the constraints are declared.
                assert size.max() >= expected.max() - 1e-10, name


@forms([id for id in IDS if id != MISREAD], "some 0", "one infinite")
def test_what_solves_the_tree_satisfies_what_is_printed(
    id: str, kernel: Kernel, weights: str
) -> None:
    """Rows of weight 0, hard rows and undeclared constraints are met at the solution.

    The undeclared ones are those of families of many constraints; no other point would
    show that they are met.
    """
    d = declared(id, kernel, weights=weights)
    answer = solve_declaration(d)
    if answer.values is None:
        assert id == "rvm.as_printed", answer.reason
        return
    printed = d.printed(answer.values)
    assert printed.objective == pytest.approx(answer.objective, rel=1e-6, abs=1e-9)
    worst = {
        name: float(np.max(violation, initial=0.0))
        for name, violation in printed.violations.items()
    }
    assert max(worst.values(), default=0.0) <= 1e-6 * (1 + abs(answer.objective)), worst


PAYING = [
    id
    for id in RIGHT
    if REGISTRY[id].carries == "function"
    and not {"C", "delta"} & FAMILIES[REGISTRY[id].family].settings.keys()
]


@forms([*PAYING, "rank.l1.betahat", "rank.l2.betahat"], "one infinite")
def test_a_hard_row_that_is_violated_is_printed(id: str, kernel: Kernel, weights: str) -> None:
    """A function that is wrong at a hard row violates the declared and the printed row.

    Linear programs have no hard rows.
    """
    d = declared(id, kernel, weights=weights)
    if not isinstance(d.canonical, MarginProblem):
        return
    assert d.canonical.hard.any()
    alpha = np.where(d.canonical.hard, -1.0, 0.0)
    b = np.zeros(d.canonical.T) if d.canonical.T > 1 else 0.0
    d.assign(complete(d.canonical, Point(beta=d.canonical.rows.rdot(alpha), b=b, alpha=alpha)))
    printed = max(
        float(np.max(violation, initial=0.0))
        for violation in d.printed(d.values).violations.values()
    )
    assert printed == pytest.approx(
        max(float(np.max(c.violation(), initial=0.0)) for c in d.constraints.values()), rel=1e-8
    )
    assert printed > 0.1


@every_kernel
def test_the_misprinted_value_is_right_at_unit_cost_only(kernel: Kernel) -> None:
    for C in (1.0, 0.5):
        d = declared(MISREAD, kernel, C=C)
        set_at_random(d, 0)
        same = bool(
            np.isclose(d.printed(d.values).objective, float(d.objective.args[0].value), rtol=1e-10)
        )
        assert same is (C == 1.0)


@every_id
def test_every_constraint_is_printed_but_those_that_only_name_things(id: str) -> None:
    d = declared(id, rbf(0.5))
    set_at_random(d, 0)
    unprinted = set(d.constraints) - set(d.printed(d.values).violations)
    if id == MISREAD:
        assert d.printed(d.values).violations == {}
    assert all(isinstance(d.constraints[name], cp.constraints.Equality) for name in unprinted)
    assert all(isinstance(d.constraints[name].args[0], cp.Variable) for name in unprinted)


@every_right_form
def test_another_cost_is_another_value_of_a_parameter(id: str, kernel: Kernel) -> None:
    """Solved again after the change, it has the value of a problem declared at that cost."""
    # With more pairs the declared subsets are those of one cost.
    n = 5 if id == "rank.oneslack" else 12
    d, fresh = declared(id, kernel, C=0.02, n=n), declared(id, kernel, C=0.08, n=n)
    if REGISTRY[id].family in HARD:
        assert d.parameters == {}
        return
    first = solve_declaration(d).value
    ((name, parameter),) = d.parameters.items()
    parameter.value *= 4.0 if name in ("C", "1/lambda") else 0.25
    assert parameter.value == pytest.approx(fresh.parameters[name].value)
    again, expected = solve_declaration(d), solve_declaration(fresh)
    assert again.value == pytest.approx(expected.value, rel=1e-7)
    assert again.value > 1.1 * first
    proven = interval(fresh.canonical, present(again.point))
    assert proven.lower <= expected.value * (1 + 1e-7)
    assert proven.upper == pytest.approx(expected.value, rel=1e-6)


@pytest.mark.slow
@every_right_form
def test_a_declaration_at_another_cost_is_judged_as_the_problem_at_that_cost(
    id: str, kernel: Kernel
) -> None:
    """This holds after a further change of its parameter too."""
    n = 5 if id == "rank.oneslack" else 12
    d = declared(id, kernel, C=0.02, n=n)
    if not d.parameters:
        return
    assert d.canonical is d.declared
    ((name, parameter),) = d.parameters.items()
    first = parameter.value
    parameter.value *= 4.0 if name in ("C", "1/lambda") else 0.25
    assert pytest.approx(0.08, rel=1e-15) == d.canonical.C
    assert d.canonical is d.canonical
    answer = solve_declaration(d)
    parameter.value = first
    assert d.canonical is d.declared
    assert pytest.approx(0.08, rel=1e-15) == answer.problem.C
    others = [
        examine(answer.problem, solve_declaration(declare(other, answer.problem)))
        for other in same_family(id, answer.problem)
    ]
    evidence = examine(answer.problem, answer)
    *_, judgement = judge(REGISTRY[id].family, [*others, evidence], answer.problem.scale).judgements
    assert judgement.agreement is Agreement.AGREES, evidence
    assert parameter.value == first


def same_family(id: str, problem: Problem) -> list[str]:
    """Return the other formulations that support the problem."""
    return [other for other in RIGHT if other != id and REGISTRY[other].refusal(problem) is None]


def test_assigning_is_at_the_present_cost() -> None:
    """Multipliers made from f go up to C."""
    d = declared("svm.soft.dual", rbf(0.5), C=0.02)
    d.parameters["C"].value = 3.0
    d.assign(complete(d.canonical, Point(beta=np.zeros(12), b=0.0)))
    assert d.variables["alpha"].value.max() == pytest.approx(3.0)


@pytest.mark.parametrize("value", [0.0, np.inf, None])
def test_a_parameter_that_is_no_cost_is_refused(value: float | None) -> None:
    d = declared("svm.soft.primal", linear())
    d.parameters["C"].value = value
    with pytest.raises(
        ValueError,
        match=r"^(the parameter C must be a finite number|C must be a positive number or inf)",
    ):
        _ = d.canonical


def test_a_dual_without_its_ridge_is_the_hard_margin() -> None:
    """At 1/C = 0 its value is the hard problem's optimum."""
    d = declare("rank.l2.dual", ranking([[1.0], [-1.0], [2.0]], [1, 0, 2], loss="squared_hinge"))
    d.parameters["1/C"].value = 0.0
    assert d.canonical.family == "rank.hard"
    answer = solve_declaration(d)
    assert interval(d.canonical, present(answer.point)).lower == pytest.approx(0.5, rel=1e-6)
    assert interval(d.canonical, Point(w=np.array([1.0]))).upper == pytest.approx(0.5, rel=1e-6)
    assert answer.value == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("id", ["rank.path", "rank.lambda.primal", "rank.lambda.function"])
def test_a_lambda_of_0_is_refused(id: str) -> None:
    """Without the norm slacks cost nothing or everything: no problem of the family."""
    d = declare(id, ranking([[1.0], [-1.0], [2.0]], [0, 1, 2]))
    d.parameters["lambda"].value = 0.0
    with pytest.raises(
        ValueError, match=r"^the parameter lambda must be a finite number above 0, not 0.0$"
    ):
        _ = d.canonical


def test_a_changed_parameter_that_is_no_cost_is_refused() -> None:
    """The canonical problem cannot follow it, and would be that of the old value."""
    d = declared("svm.soft.primal", linear())
    margin, offsets = (
        cp.Parameter(name="margin", value=1.0),
        cp.Parameter(2, name="offsets", value=np.ones(2)),
    )
    d = replace(d, parameters={**d.parameters, "margin": margin, "offsets": offsets})
    assert d.canonical is d.declared
    offsets.value = np.array([1.0, 2.0])
    with pytest.raises(
        ValueError, match=r"not the parameters offsets; declare the changed problem anew$"
    ):
        _ = d.canonical
    d.parameters["C"].value *= 2
    with pytest.raises(
        ValueError,
        match=r"not the parameters offsets; declare the changed problem anew$",
    ):
        _ = d.canonical


def test_the_subsets_of_one_cost_have_no_parameter() -> None:
    d = declared("rank.oneslack", linear())
    assert d.canonical.p > ALL_SUBSETS
    assert d.parameters == {}
    assert d.problem.parameters() == []


def test_constraints_may_be_changed_between_solves() -> None:
    d = declared("svm.soft.primal", linear())
    right, problem = solve_declaration(d), d.problem
    # cvxpy caches its compiled form with the object.
    assert d.problem is problem
    family = [
        examine(d.canonical, solve_declaration(declare(id, d.canonical)))
        for id in same_family(d.id, d.canonical)
    ]
    d.constraints["no bias"] = d.variables["b"] == 0
    held = solve_declaration(d)
    assert (
        abs(float(held.values["b"]))  # type: ignore[index]
        < 1e-6
        < abs(float(right.values["b"]))  # type: ignore[index]
    )
    assert held.objective > 1.0001 * right.objective
    assert held.reading is not None
    assert set(held.reading.violations) == set(d.constraints)
    *_, judgement = judge(
        "svm.soft", [*family, examine(d.canonical, held)], d.canonical.scale
    ).judgements
    assert judgement.agreement is Agreement.DISAGREES
    d.constraints["no bias"] = d.variables["b"] <= 1e3
    assert solve_declaration(d).objective == pytest.approx(right.objective, rel=1e-7)
    del d.constraints["no bias"]
    assert solve_declaration(d).objective == pytest.approx(right.objective, rel=1e-7)


def test_an_id_is_registered_once() -> None:
    entry = REGISTRY["svm.soft.dual"]
    sentence = (
        r"^'svm.soft.dual' is registered already, by equimargin.formulations.documents.yu_kim; "
        r"take another name"
    )
    with pytest.raises(ValueError, match=sentence):
        FAMILIES["svm.soft"].formulation(
            "dual", carries="multipliers", to_canonical=entry.to_canonical
        )(entry.stated)
    assert REGISTRY["svm.soft.dual"] is entry


def test_a_constraint_without_a_variable_is_refused() -> None:
    """It is true or false, and would be excluded silently."""
    x = cp.Variable(name="x")
    with pytest.raises(
        ValueError,
        match=r"the constraint ends is (np\.)?False_?, and has no variable: leave it out, or "
        r"write None",
    ):
        minimize(cp.square(x), least=x >= 1, ends=np.ones(1)[0] >= 2)
    assert minimize(cp.square(x), least=x >= 1, ends=None).constraints[0].label == "least"


def test_documents_have_their_titles() -> None:
    assert (
        DOCUMENTS["P"]
        == "Zapien, Gasso, Gärtner, Canu, Model Selection for Ranking SVM Using Regularization "
        "Path (2009)"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@every_right_form
def test_the_multipliers_have_the_right_sign(id: str, kernel: Kernel, backend: str) -> None:
    """Multipliers prove a bound from below for a primal, and from above for a dual.

    A wrong sign is repaired to zeros, which prove nothing.
    """
    d = declared(id, kernel)
    if backend == "OSQP" and isinstance(d.canonical, OneNormProblem):
        pytest.skip("OSQP takes no part in linear programs: it stops anywhere")
    reference = interval(d.canonical, present(solve_declaration(d, "CLARABEL").point))
    # A tenth of the default: at it, SCS ends above 1e-6 with the BLAS of some machines.
    answer = solve_declaration(d, backend, 1e-9)
    if answer.status is Status.UNSUPPORTED:
        assert id.endswith("margin")
        return
    point = answer.point
    # Its quadratic solver fails now and then.
    if backend == "HIGHS" and point is None:
        pytest.skip(answer.reason)
    assert point is not None
    assert (point.multipliers is None) == (id in WITHOUT_MULTIPLIERS)
    proven = interval(d.canonical, point)
    assert (reference.upper - proven.lower if point.has_multipliers else 0.0) <= NEAR[
        backend
    ] * reference.size
    assert proven.upper - reference.upper <= NEAR[backend] * reference.size


@pytest.mark.parametrize("family", dict.fromkeys(REGISTRY[id].family for id in RIGHT))
@every_kernel
def test_a_familys_declarations_have_one_optimum(family: str, kernel: Kernel) -> None:
    for weights in WEIGHTS:
        problem = make_problem(family, kernel, weights=weights)
        found = judge(family, right_answers(problem), problem.scale)
        assert found.verdict is Verdict.AGREE, (weights, found.reason)
        assert {j.agreement for j in found.judgements} == {Agreement.AGREES}, weights


@pytest.mark.slow
@forms([id for id in IDS if REGISTRY[id].control])
def test_a_control_has_another_optimum(id: str, kernel: Kernel) -> None:
    family = REGISTRY[id].family
    problem = make_problem(family, kernel)
    # The value differs where a vote for another class is better for a point.
    if id == "svm.onenorm.free":
        problem = one_norm_classification(*classes_with_outliers(), 10.0, kernel)
    evidence = right_answers(problem)
    evidence.append(examine(problem, solve_declaration(declare(id, problem)), control=True))
    found = judge(family, evidence, problem.scale)
    assert found.judgements[-1].agreement is Agreement.DISAGREES
    assert found.verdict is Verdict.AGREE


def degenerate() -> Iterator[tuple[str, Problem]]:
    """Yield problems with optimum 0 or kernel matrix 0."""
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    zero, flat = np.zeros((3, 2)), polynomial(1, 1.0, 0.0)
    labels, levels = np.array([1.0, -1.0, 1.0]), np.array([0, 1, 2])
    yield "one class", classification(X, np.ones(3))
    yield "one point", classification(X[:1], np.ones(1), kernel=rbf(1.0))
    yield "K = 0, classes", classification(zero, labels, kernel=flat)
    yield "X = 0, classes", classification(zero, labels)
    yield "K = 0, targets", regression(zero, np.arange(3.0), kernel=flat)
    yield "the tube holds everything", regression(X, np.array([0.1, 0.0, -0.1]), epsilon=0.5)
    yield "all targets 0, epsilon 0", regression(X, np.zeros(3), epsilon=0.0)
    yield "K = 0, levels", ranking(zero, levels, kernel=flat)
    yield "no pairs", ranking(X, np.ones(3))
    yield "no pairs, one-norm", ranking_vector_machine(X, np.ones(3))
    yield "K = 0, one-norm", ranking_vector_machine(zero, levels, kernel=flat)


@pytest.mark.parametrize("problem", dict(degenerate()).values(), ids=dict(degenerate()))
def test_degenerate_problems_are_declared_and_agree(problem: Problem) -> None:
    assert judge(problem.family, right_answers(problem), problem.scale).verdict is Verdict.AGREE


@pytest.mark.parametrize(
    ("id", "remedy"),
    [
        ("svm.soft.daul", r"did you mean .*svm\.soft\.dual"),
        ("0", "`equimargin list` has all of them"),
    ],
)
def test_an_unknown_id_is_a_short_sentence_with_a_remedy(id: str, remedy: str) -> None:
    with pytest.raises(KeyError, match=f"unknown formulation '{id}'; {remedy}") as unknown:
        declare(id, make_problem("svm.soft", linear()))
    assert len(str(unknown.value)) < 200


def test_another_family_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"rank\.l1\.dual declares rank\.l1, this problem is svm\.soft"
    ):
        declare("rank.l1.dual", make_problem("svm.soft", linear()))


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="too large to declare: 31,125 rows, the limit is 20,000"):
        declare("rank.l1.dual", ranking(np.arange(250.0)[:, None], np.arange(250)))


def test_too_many_points_are_refused() -> None:
    with pytest.raises(ValueError, match="too large to declare: 3,001 points, the limit is 3,000"):
        declare("svm.soft.dual", classification(np.zeros((3001, 1)), np.ones(3001)))


def test_too_many_rows_and_points_together_are_refused() -> None:
    """With 2,000 points 10,000 pairs are declared, not 10,001."""
    pairs = [(i, j) for i in range(1000, 1006) for j in range(2000) if i != j][:10_001]
    entry = REGISTRY["rank.l1.dual"]
    assert entry.refusal(ranking_from_pairs(np.zeros((2000, 1)), pairs[:10_000])) is None
    words = (
        "too large to declare: 10,001 rows x 2,000 points = 20,002,000 entries, the limit is "
        "20,000,000"
    )
    assert str(entry.refusal(ranking_from_pairs(np.zeros((2000, 1)), pairs))) == words


def test_a_kernel_that_is_none_is_refused() -> None:
    X, y = np.array([[0.0], [0.5], [1.0]]), np.array([1.0, -1.0, 1.0])
    for problem in (
        classification(X, y, kernel=sigmoid(1.0, -1.0)),
        classification(np.array([[1.0, 2.0], [2.0, 1.0]]), y[:2], kernel=precomputed()),
    ):
        with pytest.raises(ValueError, match="not positive semidefinite"):
            declare("svm.soft.dual", problem)


def test_before_a_solve_there_is_nothing_to_read() -> None:
    d = declared("svm.soft.primal", linear())
    assert {d.values[name] for name in d.variables} == {None}
    assert d.multiplier("margin") is None


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown solver 'CLARABELLE'; did you mean CLARABEL\?$"):
        solve_declaration(declared("svm.soft.primal", linear()), "CLARABELLE")


@pytest.mark.parametrize("options", [{"tol": 0.0}, {"tol": -1.0}, {"time_limit": 0.0}])
def test_limits_must_be_positive(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a positive number"):
        solve_declaration(declared("svm.soft.primal", linear()), **options)


def test_it_is_shown_as_its_equation() -> None:
    declaration = declare("svm.soft.dual", classification([[0.0, 1], [1, 0]], [-1, 1], 2.0))
    assert str(declaration).splitlines() == [
        "svm.soft.dual: max 1'alpha - 1/2 alpha'YKY alpha s.t. y'alpha = 0, 0 <= alpha <= C.",
        "    variables: alpha 2, w 2",
        "    parameters: C = 2",
        "    constraints: balance, lower, upper, w",
        "    declared for <MarginProblem svm.soft: 2 rows of 2 points with 2 features, "
        "Linear(), C=2>",
    ]
    assert repr(declaration) == "<Declaration svm.soft.dual: alpha, w; balance, lower, upper, w>"
    own = replace(declaration, id="", statement="", constraints={})
    assert str(own).startswith("a declaration: maximize ")
    assert "constraints: none" in str(own)
