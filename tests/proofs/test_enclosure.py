"""Proven intervals of convex programs: they contain the exact optimum.

This holds for any initial floats, and each method proves some intervals.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs.enclosure import boxed, enclosure, interval, lower, upper
from equimargin.solvers.exact.program import Infeasible, Optimum, UnboundedProgram, program_optimum
from equimargin.testing import programs
from oracles.program_conditions import feasible, pull, unfolded, value


def proves_its_ends(found: interval.Enclosure) -> bool:
    """Return True if the two points of an enclosure prove its ends, by definition.

    The program has inequalities only.
    """
    program = found.program
    if found.primal is not None and not (
        feasible(program, found.primal) and value(program, found.primal) == found.upper
    ):
        return False
    if found.dual is None:
        return found.lower == -inf
    x, y, z = found.dual
    gradient = [
        sum((v * w for v, w in zip(row, x, strict=True)), Fraction(0))
        for row in unfolded(program.P)
    ]
    still = all(
        v + w + u == 0 for v, w, u in zip(gradient, program.q, pull(program, y, z), strict=True)
    )
    quadratic = sum((v * w for v, w in zip(gradient, x, strict=True)), Fraction(0)) / 2
    gain = sum(
        (v * w for v, w in zip([*program.b, *program.h], [*y, *z], strict=True)), Fraction(0)
    )
    return (
        still and min(z, default=Fraction(0)) >= 0 and found.lower == program.c - quadratic - gain
    )


def holds_the_optimum(program: Program, found: interval.Enclosure) -> bool:
    outcome = program_optimum(program)
    if isinstance(outcome, Optimum):
        return found.lower <= outcome.value <= found.upper
    return (isinstance(outcome, Infeasible) and found.upper == inf) or (
        isinstance(outcome, UnboundedProgram) and found.lower == -inf
    )


@given(programs(), st.booleans())
@settings(max_examples=150)
def test_the_optimum_is_in_the_interval_with_and_without_the_exact_face(
    program: Program, face: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not face:
            patch.setattr(interval, "optimum_near", lambda program, floats, clock: None)
        found = enclosure(program)
    assert holds_the_optimum(program, found)
    assert proves_its_ends(found)


@given(programs(), st.integers(0, 2**32 - 1))
@settings(max_examples=100)
def test_it_is_there_from_any_point(program: Program, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 4)
    point = (
        scale * rng.normal(size=program.n),
        scale * rng.normal(size=len(program.b)),
        scale * rng.normal(size=len(program.h)),
    )
    found = enclosure(program, point)
    assert holds_the_optimum(program, found)
    assert proves_its_ends(found)


def test_the_mixture_proves_both_ends_where_the_face_cannot() -> None:
    """A point with all multipliers and slacks positive has no active face.

    Its residual breaks their signs.
    """
    program = program_from_arrays(np.eye(2), [-1, -1], G=[[1, 1], [-1, 0], [0, -1]], h=[1, 0, 0])
    with pytest.MonkeyPatch.context() as patch:
        for side in (lower, upper):
            patch.setattr(side, "by_residual", lambda program, floats, clock: None)
        patch.setattr(interval, "optimum_near", lambda program, floats, clock: None)
        found = enclosure(program)
    assert (found.lower_by, found.upper_by) == ("slater", "slater")
    assert found.lower <= Fraction(-3, 4) <= found.upper
    assert proves_its_ends(found)
    assert float(found.upper - found.lower) < 1e-6


def test_a_box_bounds_what_nothing_else_does() -> None:
    """min -x with x <= 1, and a rounding error that no multiplier balances.

    Without the box there is no lower bound.
    """
    program = program_from_arrays(None, [-1.0, 1e-9], G=[[1.0, 0.0]], h=[1.0])
    assert enclosure(program).lower == -inf
    found = enclosure(program, box=[2.0, 3.0])
    assert found.lower_by == "box"
    assert proves_its_ends(replace(found, primal=None))
    assert found.primal is not None
    assert feasible(program, found.primal)
    assert -1 - 1e-6 < found.lower <= -1 - Fraction(1e-9) * 3
    assert "box" in found.statement
    assert isinstance(program_optimum(boxed(program, [2.0, 3.0])), Optimum)


@pytest.mark.parametrize("seed", range(8))
def test_second_order_cones_are_bounded_on_both_sides(seed: int) -> None:
    """min a'x s.t. |x| <= 1 is -|a|, usually irrational; its square is compared."""
    a = [int(v) for v in np.random.default_rng(seed).integers(-5, 6, 3)] + [1]
    G = np.vstack([np.zeros((1, 4)), -np.eye(4)])
    found = enclosure(program_from_arrays(None, a, G=G, h=[1, 0, 0, 0, 0], cones=[5]))
    square = sum(v * v for v in a)
    assert isinstance(found.lower, Fraction)
    assert isinstance(found.upper, Fraction)
    assert found.upper**2 <= square <= found.lower**2
    assert found.lower <= found.upper < 0
    assert float(found.upper - found.lower) < 1e-6


def test_a_program_that_is_not_convex_has_no_interval() -> None:
    with pytest.raises(ValueError, match="not convex"):
        enclosure(program_from_arrays([[0, 1], [1, 0]], [0, 0]))


def test_points_and_boxes_of_another_size_are_refused() -> None:
    program = program_from_arrays(np.eye(2), [0, 0])
    with pytest.raises(ValueError, match="x, y and z of 2, 0 and 0 numbers"):
        enclosure(program, (np.zeros(1), np.zeros(0), np.zeros(0)))
    for box, message in (([1.0], "1 numbers"), ([1.0, -1.0], "negative"), ([1.0, inf], "finite")):
        with pytest.raises(ValueError, match=message):
            enclosure(program, box=box)


def test_the_statement_says_how_floats_were_read() -> None:
    found = enclosure(program_from_arrays([[1.0]], [1.0], reading="fractions"))
    assert "denominator up to 10,000" in found.statement
    assert isfinite(float(found.lower))


def test_the_statement_of_a_maximisation_is_of_the_stated_problem() -> None:
    """max x s.t. 3 x <= 1 is 1/3, which lies between the two ends in the statement."""
    found = enclosure(replace(program_from_arrays(None, [-1], G=[[3]], h=[1]), maximised=True))
    low, high = said_ends(found)
    assert 0.333 < low < Fraction(1, 3) < high < 0.334


@given(programs())
@settings(max_examples=60)
def test_the_ends_that_are_said_hold_those_that_are_proven(program: Program) -> None:
    for maximised in (False, True):
        found = enclosure(replace(program, maximised=maximised))
        low, high = said_ends(found)
        ends = (-found.upper, -found.lower) if maximised else (found.lower, found.upper)
        assert low <= ends[0] <= ends[1] <= high


def said_ends(found: interval.Enclosure) -> list[float]:
    ends = re.match(r"the optimum is between (\S+) and (\S+) \(by ", found.statement)
    assert ends is not None
    return [float(end) for end in ends.groups()]


def test_ends_beyond_floats_are_said() -> None:
    found = enclosure(program_from_arrays(None, [1], G=[[-1]], h=[-(10**400)]))
    assert found.lower == 10**400
    assert said_ends(found) == [sys.float_info.max, inf]


@pytest.mark.parametrize(("maximised", "said"), [(False, "at most -5.0 "), (True, "at least 5.0 ")])
def test_a_box_without_an_optimal_point_is_said_to_have_none(maximised: bool, said: str) -> None:
    """min -x with x <= 5 written as a rounding that no multiplier balances, and |x| <= 2."""
    program = replace(
        program_from_arrays(None, [-1.0, 1e-9], G=[[1.0, 0.0]], h=[5.0]), maximised=maximised
    )
    found = enclosure(program, (np.array([5.0, 0.0]), np.zeros(0), np.zeros(1)), box=[2.0, 3.0])
    assert found.lower > found.upper == -5
    assert f"the optimum is {said}" in found.statement
    assert "no optimal point is within the given box" in found.statement
