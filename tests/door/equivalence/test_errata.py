"""Misprints of a problem, and the evidence that detects each, against enumerations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import pytest
from hypothesis import strategies as st

from equimargin.equivalence import misprints, mutants
from equimargin.equivalence.instances import choose_instances, drawn
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.user_functions import kept
from equimargin.proofs.equivalence import Statement, exact_value, stated
from equimargin.proofs.equivalence.answers import SymbolRoles, detected, roles
from equimargin.proofs.equivalence.optimal_values import are_optimal_multipliers
from equimargin.solvers.exact.program.clock import Clock
from misprinted import PROGRAMS, REJECTED, bounded, examined


def double_sum(data: Any) -> cp.Problem:
    """Return (70) of T with its right indices; only its text is used."""
    K, delta = data["K"], cp.Variable(data["m"], "delta")
    places = range(data["m"])
    double = sum(K[i, j] * delta[i] * delta[j] for i in places for j in places)
    return cp.Problem(cp.Maximize(data["y"] @ delta - double / 2), [cp.sum(delta) == 0])


@pytest.mark.parametrize(
    "instances", [pytest.param(100, marks=pytest.mark.slow), pytest.param(8, id="few")]
)
def test_every_classification_is_that_of_enumeration(instances: int) -> None:
    """No misprint is classified wrongly on an instance with unique answers."""
    wrong, counts = examined(instances, 5)
    assert not wrong
    assert counts["instances"] == instances
    assert {"none", "optimum", "multipliers", "multipliers, optimum, predictions"} <= set(counts)


def test_a_problem_that_is_not_convex_is_rejected_and_every_kind_has_its_instance() -> None:
    found = {m.misprint.name: m for m in mutants(bounded, PROGRAMS, examples=12)}
    assert {name for name, m in found.items() if "rejected" in m.seen} >= REJECTED
    doubled = found["no divisor in data['p'] @ cp.square(x) / 2"]
    data = doubled.seen["optimum"]
    assert exact_value(bounded, data) != exact_value(doubled.misprint.function, data)


CONTROLS = {
    "svm.soft.dual.as_printed": (
        "svm.soft.dual",
        "no divisor in d.K.quad(cp.multiply(d.y, alpha)) / 2",
    ),
    "rank.l1.dual.as_printed": ("rank.l1.dual", "no divisor in d.K.quad(beta) / 2"),
    "rvm.as_printed": ("rvm.primal", "no slack"),
}
"""Misprints of the documents, and the misprints of the engine that state the same problem."""


def misprinted(id: str, name: str) -> Statement:
    """Return a formulation with one of its misprints."""
    (function,) = (m.function for m in misprints(REGISTRY[id].stated) if m.name == name)
    return replace(REGISTRY[id], stated=kept(function))


@pytest.mark.slow
@pytest.mark.parametrize("printed", CONTROLS)
def test_the_engine_generates_a_misprint_of_a_document(printed: str) -> None:
    """Its optimum is that of the printed problem on every instance, and seen to be wrong."""
    right, name = CONTROLS[printed]
    instances = drawn(choose_instances(printed, None), 150, 1)
    values = [(exact_value(right, data), exact_value(printed, data)) for data in instances]
    apart = [data for data, (one, other) in zip(instances, values, strict=True) if one != other]
    assert apart
    wrong = misprinted(right, name)
    for data in [*apart[:4], *instances[:4]]:
        assert exact_value(wrong, data) == exact_value(printed, data)
    for data in apart[:4]:
        here = stated(right, data, "fractions", Clock(60))
        there = stated(wrong, data, "fractions", Clock(60))
        assert "optimum" in detected(here, there, roles(REGISTRY[right], here, data))


def test_the_double_sum_of_the_tutorial_has_its_printed_index() -> None:
    """T prints (alpha_i - alphahat_i) twice in (70): one index stands for the other."""
    names = [misprint.name for misprint in misprints(double_sum)]
    assert "i for j in delta[j]" in names
    assert "exchanged indices in K[i, j]" in names


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda data: bounded(data), "is no `def`"),
        (eval("lambda data: data"), "the text of <lambda> is not known"),
    ],
)
def test_a_function_without_a_text_is_a_sentence(function: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        list(misprints(function))


def test_a_misprint_sees_the_names_of_its_function() -> None:
    half = 2

    def scaled_norm(data: Any) -> cp.Problem:
        w = cp.Variable(2, "w")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / half), [w >= data])

    (doubled,) = (m for m in misprints(scaled_norm) if m.mutation == "no divisor")
    assert exact_value(scaled_norm, 1.0) == 1
    assert exact_value(doubled.function, 1.0) == 2


def test_values_of_arguments_are_those_of_the_function() -> None:
    share = 2

    def scaled_norm(data: Any, half: int = share) -> cp.Problem:
        w = cp.Variable(2, "w")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / half), [w >= data])

    (doubled,) = (m for m in misprints(scaled_norm) if m.mutation == "no divisor")
    assert exact_value(doubled.function, 1.0) == 2


class Halves:
    """Problem of which a method states the text."""

    half = 2

    def nearest(self, data: Any) -> cp.Problem:
        """Return min x^2 / 2 s.t. x >= data."""
        x = cp.Variable(1, "x")
        return cp.Problem(cp.Minimize(cp.sum_squares(x) / self.half), [x >= data])


def test_a_misprint_of_a_method_has_its_object() -> None:
    (doubled,) = (m for m in misprints(Halves().nearest) if m.mutation == "no divisor")
    assert exact_value(doubled.function, 1.0) == 1


def listed(data: Any) -> cp.Problem:
    """Return min sum x_i^2 / 2 s.t. x >= data, with loops in place of vectors."""
    x = cp.Variable(3, "x")
    constraints = []
    for i in range(3):
        if 0 <= i < 3:
            constraints.append(x[i] >= data)
    return cp.Problem(cp.Minimize(sum(x[i] ** 2 / 2 for i in range(3))), constraints)


def test_loops_have_the_misprints_of_vectors() -> None:
    found = {m.name: m.function for m in misprints(listed)}
    assert not [name for name in found if "0 <= i" in name]
    doubled = "twice the sum in sum((x[i] ** 2 / 2 for i in range(3)))"
    assert exact_value(listed, 1.0) == exact_value(found[doubled], 1.0) / 2 == Fraction(3, 2)
    assert exact_value(found["no constraint in x[i] >= data"], 1.0) == 0


def counted(data: Any) -> cp.Problem:
    """Return min x s.t. x >= i after `data` rounds."""
    x, i = cp.Variable(1, "x"), 0
    while i <= data - 1:
        i = i + 1
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= i])


def test_an_endless_loop_of_a_misprint_is_an_error() -> None:
    found = {m.name: m.function for m in misprints(counted)}
    assert exact_value(found["one more in i <= data - 1"], 2) == 3
    with pytest.raises(ValueError, match=r"counted fails with StopIteration"):
        stated(found["another sign in i + 1"], 2, "exact", Clock(60))


def branches(data: Any) -> Any:
    """Return min x s.t. x >= 1, whatever the length of the data."""
    x = cp.Variable(1, "x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])
    if len(data) <= 2:
        return problem
    if len(data) >= 3:
        return problem
    return None


def test_a_misprint_that_returns_no_problem_for_other_data_ends_nothing() -> None:
    """Instances with one optimum are examined once, so that only `same` finds the other ones."""
    data = st.lists(st.just(1), min_size=1, max_size=3)
    found = (m for m in mutants(branches, data, examples=9) if "len(data) >= 3" in m.misprint.name)
    assert [m.verdict for m in found] == ["none (optima proven equal)"] * 2 + ["none"]


def test_a_changed_pattern_that_is_no_python_is_no_misprint() -> None:
    def matched(data: Any) -> Any:
        x = cp.Variable(1, "x")
        match data:
            case 1 - 2j:
                return None
        return cp.Problem(cp.Minimize(cp.sum(x)), [x >= data])

    names = {m.name for m in misprints(matched)}
    assert "another sign in 1 - 2j" in names
    assert "exchanged terms in 1 - 2j" not in names


def test_a_value_map_without_a_number_decides_nothing() -> None:
    def bounded_value(data: Any) -> Any:
        x = cp.Variable(1, "x")
        problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= data])
        return problem, lambda v: v if v <= 9 else None

    (other,) = (m for m in misprints(bounded_value) if m.mutation.startswith("the other"))
    assert exact_value(bounded_value, 1.0) == 1
    with pytest.raises(ValueError, match="the value map returns no number for"):
        exact_value(other.function, 10.0)
    assert {m.verdict for m in mutants(bounded_value, st.just(1.0), examples=1)} >= {"optimum"}


def test_relations_that_become_equations_share_the_sign_of_their_multipliers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def least(data: Any) -> cp.Problem:
        x = cp.Variable(12, "x")
        return cp.Problem(cp.Minimize(cp.sum(x)), [x[i] >= data for i in range(12)])

    tests: list[bool] = []

    def count(*given: Any) -> bool:
        tests.append(are_optimal_multipliers(*given))
        return tests[-1]

    monkeypatch.setattr("equimargin.proofs.equivalence.answers.are_optimal_multipliers", count)
    (equations,) = (m for m in misprints(least) if m.mutation == "an equation")
    here, there = (stated(f, 1.0, "exact", Clock(60)) for f in (least, equations.function))
    assert not detected(here, there, SymbolRoles(frozenset({"x"}), in_multipliers=False))
    assert len(tests) <= 4


def test_no_known_optimum_is_a_sentence_with_the_reason() -> None:
    def failing(data: Any) -> cp.Problem:
        raise RuntimeError(f"no problem for {data}")

    with pytest.raises(ValueError, match=r"RuntimeError: no problem for 1.*give more examples"):
        next(mutants(failing, st.just(1), examples=2))


def test_types_are_no_part_of_an_equation() -> None:
    def least(data: dict[str, Any]) -> cp.Problem:
        x = cp.Variable(1, "x")
        return cp.Problem(cp.Minimize(cp.sum(x)), [x >= data["end"]])

    assert not [m.name for m in misprints(least) if m.mutation == "exchanged indices"]


def test_variables_without_a_name_are_compared_by_their_order() -> None:
    """cvxpy numbers them anew with every call."""

    def nearest(data: Any) -> cp.Problem:
        x, y = cp.Variable(), cp.Variable()
        return cp.Problem(cp.Minimize(cp.square(x) / 2 + cp.square(y - data)), [x + y == data])

    found = {m.misprint.name: m for m in mutants(nearest, st.integers(1, 3), examples=4)}
    assert found["no divisor in cp.square(x) / 2"].verdict == "none (optima proven equal)"
    moved = found["one more in x + y == data"]
    assert set(moved.seen) == {"optimum", "predictions", "multipliers"}
