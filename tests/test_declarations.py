"""Every declaration of the registry: disciplined, named as printed, equal to its printed formula, with multipliers of the right sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import (
    DOCUMENTS,
    REGISTRY,
    Declaration,
    Kernel,
    Problem,
    classification,
    declare,
    families,
    interval,
    linear,
    polynomial,
    precomputed,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
    sigmoid,
)
from equimargin.proofs import Agreement, Verdict, examine, judge
from equimargin.solvers import BACKENDS, solve_declaration

KERNELS: dict[str, Kernel] = {"linear": linear(), "rbf": rbf(0.5), "polynomial": polynomial(2, 0.5, 1.0)}
IDS = list(REGISTRY)
RIGHT = [id for id in IDS if not REGISTRY[id].control]
NEAR = {"CLARABEL": 1e-6, "SCS": 1e-6, "OSQP": 0.1, "HIGHS": 1e-4}
"""How near to the optimum a backend's multipliers come, relative to S (OSQP does badly on linear programs); a wrong sign is off by 1."""

every_id = pytest.mark.parametrize("id", IDS)
every_right_id = pytest.mark.parametrize("id", RIGHT)
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def problem_of(family: str, kernel: Kernel, C: float = 0.5, weighted: bool = False) -> Problem:
    """A small noisy problem of a family."""
    rng = np.random.default_rng(21)
    X = rng.normal(size=(12, 3))
    score = X[:, 0] + 0.5 * rng.normal(size=12)
    weights = rng.uniform(0.5, 2.0, 12) if weighted else None
    if family.startswith("svm"):
        return classification(X, np.where(score > 0.4, 1.0, -1.0), C, kernel, sample_weight=weights)
    if family.startswith("svr"):
        return regression(X, score, C, 0.1, kernel, sample_weight=weights)
    y = np.digitize(score, [-0.4, 0.5])
    return ranking_vector_machine(X, y, None, C, kernel) if family == "rvm" else ranking(X, y, None, C, kernel)


def declared(id: str, kernel: Kernel, **options: Any) -> Declaration:
    """A declaration of such a problem."""
    return declare(id, problem_of(REGISTRY[id].family, kernel, **options))


def set_at_random(declaration: Declaration, seed: int) -> None:
    """Give the variables random values; those that an equation defines (beta = A'alpha) are given what it says."""
    rng = np.random.default_rng(seed)
    for variable in declaration.variables.values():
        variable.value = rng.normal(size=variable.shape)
    for constraint in declaration.constraints.values():
        if isinstance(constraint, cp.constraints.Equality) and isinstance(constraint.args[0], cp.Variable):
            constraint.args[0].value = constraint.args[1].value


@every_id
@every_kernel
def test_it_is_disciplined_with_its_parameters(id: str, kernel: Kernel) -> None:
    assert declared(id, kernel).problem.is_dcp(dpp=True)


@every_id
def test_its_things_are_named_as_printed(id: str) -> None:
    d = declared(id, linear())
    assert d.id == id
    assert {name: v.name() for name, v in d.variables.items()} == {name: name for name in d.variables}
    assert {name: v.name() for name, v in d.parameters.items()} == {name: name for name in d.parameters}
    used = {v.id for v in d.problem.variables()}
    assert used == {v.id for v in d.variables.values()}
    assert {p.id for p in d.problem.parameters()} == {p.id for p in d.parameters.values()}


@every_id
def test_it_says_where_it_is_printed(id: str) -> None:
    entry = REGISTRY[id]
    assert entry.id == id
    assert entry.sources
    assert all(source.document in DOCUMENTS and source.equations for source in entry.sources)
    assert entry.statement.startswith(("min ", "max "))
    assert entry.family in families()


@every_id
@every_kernel
@pytest.mark.parametrize("weighted", [False, True])
def test_the_tree_is_the_printed_formula(id: str, kernel: Kernel, weighted: bool) -> None:
    """At points that are neither feasible nor optimal: the objective, and every constraint's violation."""
    d = declared(id, kernel, weighted=weighted)
    for seed in range(5):
        set_at_random(d, seed)
        printed = d.printed(d.values)
        assert printed.objective == pytest.approx(float(d.objective.args[0].value), rel=1e-10)
        assert set(printed.violations) <= set(d.constraints)
        for name, violation in printed.violations.items():
            declared_one = np.atleast_1d(d.constraints[name].violation())
            assert np.maximum(np.atleast_1d(violation), 0.0) == pytest.approx(declared_one, rel=1e-10, abs=1e-12)


@every_id
def test_every_constraint_is_printed_but_those_that_only_name_things(id: str) -> None:
    d = declared(id, rbf(0.5))
    set_at_random(d, 0)
    unprinted = set(d.constraints) - set(d.printed(d.values).violations)
    assert all(isinstance(d.constraints[name].args[0], cp.Variable) for name in unprinted)


@every_right_id
@every_kernel
def test_another_cost_is_another_value_of_a_parameter(id: str, kernel: Kernel) -> None:
    """Solved again after the change, it has the value of a problem declared at that cost."""
    d, fresh = declared(id, kernel, C=0.5), declared(id, kernel, C=2.0)
    first = d.value(solve_declaration(d).objective)
    for name, parameter in d.parameters.items():
        parameter.value = {"C": 2.0, "lambda": 1 / 2.0, "1/lambda": 2.0}[name]
    again, expected = solve_declaration(d), solve_declaration(fresh)
    assert d.value(again.objective) == pytest.approx(fresh.value(expected.objective), rel=1e-7)
    assert d.value(again.objective) > 1.1 * first
    proven = interval(fresh.canonical, again.point)
    assert proven.lower <= fresh.value(expected.objective) * (1 + 1e-7)
    assert proven.upper == pytest.approx(fresh.value(expected.objective), rel=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@every_right_id
@every_kernel
def test_the_multipliers_have_the_right_sign(id: str, kernel: Kernel, backend: str) -> None:
    """What a primal's multipliers prove from below, and a dual's from above: a wrong sign is repaired to zeros, which prove nothing."""
    d = declared(id, kernel)
    reference = interval(d.canonical, solve_declaration(d, "CLARABEL").point)
    answer = solve_declaration(d, backend)
    point = answer.point
    assert point is not None
    assert (point.alpha is None) == (id == "rank.l1.beta")
    proven = interval(d.canonical, point)
    assert (reference.upper - proven.lower if point.alpha is not None else 0.0) <= NEAR[backend] * reference.size
    assert proven.upper - reference.upper <= NEAR[backend] * reference.size


@pytest.mark.parametrize("family", dict.fromkeys(REGISTRY[id].family for id in RIGHT))
@every_kernel
def test_a_familys_declarations_have_one_optimum(family: str, kernel: Kernel) -> None:
    problem = problem_of(family, kernel, weighted=True)
    evidence = [examine(problem, solve_declaration(declare(id, problem))) for id in RIGHT if REGISTRY[id].family == family]
    assert judge(family, evidence, problem.scale).verdict is Verdict.AGREE


@pytest.mark.parametrize("id", [id for id in IDS if REGISTRY[id].control])
@every_kernel
def test_a_control_has_another_optimum(id: str, kernel: Kernel) -> None:
    family = REGISTRY[id].family
    problem = problem_of(family, kernel)
    evidence = [examine(problem, solve_declaration(declare(other, problem))) for other in RIGHT if REGISTRY[other].family == family]
    evidence.append(examine(problem, solve_declaration(declare(id, problem)), control=True))
    found = judge(family, evidence, problem.scale)
    assert found.judgements[-1].agreement is Agreement.DISAGREES
    assert found.verdict is Verdict.AGREE


def degenerate() -> Iterator[tuple[str, Problem]]:
    """Problems whose optimum is 0 or whose kernel matrix is."""
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
    family = problem.family
    evidence = [examine(problem, solve_declaration(declare(id, problem))) for id in RIGHT if REGISTRY[id].family == family]
    assert judge(family, evidence, problem.scale).verdict is Verdict.AGREE


def test_an_unknown_id_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"unknown formulation 'svm\.sotf\.dual'; known: .*svm\.soft\.dual"):
        declare("svm.sotf.dual", problem_of("svm.soft", linear()))


def test_another_family_is_refused() -> None:
    with pytest.raises(ValueError, match=r"rank\.l1\.dual declares rank\.l1, this problem is svm\.soft"):
        declare("rank.l1.dual", problem_of("svm.soft", linear()))


def test_too_many_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="too large to declare: 31,125 rows, the limit is 20,000"):
        declare("rank.l1.dual", ranking(np.arange(250.0)[:, None], np.arange(250)))


def test_too_many_points_are_refused() -> None:
    with pytest.raises(ValueError, match="too large to declare: 3,001 points, the limit is 3,000"):
        declare("svm.soft.dual", classification(np.zeros((3001, 1)), np.ones(3001)))


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
    assert set(d.values.values()) == {None}
    assert d.multiplier("margin") is None


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown backend 'CLARABELLE'; known: CLARABEL, SCS, OSQP, HIGHS"):
        solve_declaration(declared("svm.soft.primal", linear()), "CLARABELLE")


@pytest.mark.parametrize("options", [{"tol": 0.0}, {"tol": -1.0}, {"time_limit": 0.0}])
def test_limits_must_be_positive(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        solve_declaration(declared("svm.soft.primal", linear()), **options)
