"""Exact tests of values against the sets of optimal points and multipliers."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import pytest

from equimargin.formulations.programs import Program, compile_program
from equimargin.proofs.equivalence.optimal_values import (
    are_optimal_multipliers,
    is_optimal_at,
    read_multipliers,
    read_variables,
)
from equimargin.solvers.exact.program import Optimum, program_optimum
from narrow import as_a


@pytest.fixture
def kink() -> tuple[Program, Optimum]:
    """Return min (1 - x)_+ s.t. x <= 1: x is 1, and the multiplier is anything in [0, 1]."""
    x = cp.Variable(1, "x")
    problem = cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - x))), [(x <= 1).set_label("cap")])
    program = compile_program(problem)
    return program, as_a(Optimum, program_optimum(program, 10.0))


def test_an_optimum_has_its_own_values(kink: tuple[Program, Optimum]) -> None:
    program, optimum = kink
    assert read_variables(program, optimum) == {"x": (Fraction(1),)}
    assert is_optimal_at(program, optimum, read_variables(program, optimum), 10.0)
    assert are_optimal_multipliers(program, optimum, read_multipliers(program, optimum), 10.0)


@pytest.mark.parametrize(("value", "optimal"), [(1, True), (0, False), (2, False)])
def test_a_value_is_optimal_if_the_rest_can_be(
    kink: tuple[Program, Optimum], value: int, optimal: bool
) -> None:
    assert is_optimal_at(*kink, {"x": [Fraction(value)]}, 10.0) is optimal


@pytest.mark.parametrize(
    ("multiplier", "optimal"),
    [("0", True), ("1/2", True), ("1", True), ("3/2", False), ("-1/2", False)],
)
def test_a_multiplier_is_optimal_if_those_not_given_can_be(
    kink: tuple[Program, Optimum], multiplier: str, optimal: bool
) -> None:
    given = {"cap": [Fraction(multiplier)]}
    assert are_optimal_multipliers(*kink, given, 10.0) is optimal


def test_values_of_another_shape_are_refused(kink: tuple[Program, Optimum]) -> None:
    with pytest.raises(ValueError, match="x has 2 values, and 1 were expected"):
        is_optimal_at(*kink, {"x": [Fraction(1)] * 2}, 10.0)


def test_rows_of_a_program_are_those_of_its_constraints() -> None:
    x = cp.Variable(2, "x")
    constraints = [(x >= 0).set_label("sign"), cp.sum(x) == 1, (x <= 3).set_label("cap")]
    program = compile_program(cp.Problem(cp.Minimize(cp.sum(x)), constraints))
    assert program.rows == {"c1": slice(0, 1), "sign": slice(1, 3), "cap": slice(3, 5)}
    assert program.h[program.rows["cap"].start - len(program.b)] == 3
