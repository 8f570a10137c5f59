"""Certificates of convex programs: proven ones are accepted, false ones refused.

A certificate that is changed on purpose is refused or still true.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns import certificate_mutations as mutant
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs import checker, enclosure, program_certificate, write_certificate
from equimargin.solvers.exact.program import Infeasible, Optimum, UnboundedProgram, program_optimum
from equimargin.testing import programs

CONE = program_from_arrays(None, [3, 4], G=[[0, 0], [-1, 0], [0, -1]], h=[1, 0, 0], cones=[3])
"""Program min 3 x1 + 4 x2 over the unit disc; its optimum is -5."""


@given(programs())
@settings(max_examples=80)
def test_an_exact_outcome_is_accepted_as_one_number(program: Program) -> None:
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum | Infeasible | UnboundedProgram)
    data = json.dumps(program_certificate(program, outcome)).encode()
    assert checker.check(data) == ("program", *mutant.program_truth(json.loads(data)["problem"]))


@given(programs(scaled=False), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_no_changed_certificate_is_accepted_with_a_false_interval(
    program: Program, seed: int
) -> None:
    """A changed problem that is accepted is solved anew, from the certificate's own numbers."""
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum | Infeasible | UnboundedProgram)
    for kind, changed in mutant.mutations(
        program_certificate(program, outcome), np.random.default_rng(seed), 20
    ):
        found = mutant.accepted(json.dumps(changed).encode())
        assert found is None or not mutant.false(found, mutant.program_truth(changed["problem"])), (
            kind
        )


@given(programs())
@settings(max_examples=20)
def test_hostile_documents_are_refused(program: Program) -> None:
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum | Infeasible | UnboundedProgram)
    text = json.dumps(program_certificate(program, outcome), separators=(",", ":"))
    changed = [
        (kind, data) for kind, data in mutant.hostile(json.loads(text)) if data != text.encode()
    ]
    assert [kind for kind, data in changed if mutant.accepted(data) is not None] == []


def test_bounds_over_a_second_order_cone_are_accepted() -> None:
    found = enclosure(CONE)
    name, lower, upper = checker.check(json.dumps(program_certificate(CONE, found)).encode())
    assert name == "program"
    assert lower <= -5 <= upper
    assert upper - lower < 1e-6


def test_a_box_is_part_of_what_is_certified() -> None:
    program = program_from_arrays(None, [-1.0, 1e-9], G=[[1.0, 0.0]], h=[1.0])
    document = program_certificate(program, enclosure(program, box=[2.0, 3.0]))
    assert len(document["problem"]["h"]) == 5
    assert checker.check(json.dumps(document).encode())[1] <= -1


def test_an_enclosure_of_another_program_is_refused() -> None:
    program, other = (
        program_from_arrays(None, [-1.0, tiny], G=[[1.0, 0.0]], h=[1.0]) for tiny in (1e-9, 1e-8)
    )
    for box in (None, [2.0, 3.0]):
        found = enclosure(other, box=box)
        program_certificate(other, found)
        with pytest.raises(ValueError, match="the enclosure is of another program"):
            program_certificate(program, found)


def test_half_an_interval_is_certified_too() -> None:
    program = program_from_arrays(None, [1.0, 0.0], G=[[-1.0, 1e-300]], h=[0.0])
    found = enclosure(program, (np.zeros(2), np.zeros(0), np.zeros(1)))
    assert (found.lower, found.upper) == (-inf, 0)
    assert program_certificate(program, found)["dual"] is None


def test_numbers_of_any_length_are_written_and_read(tmp_path: Path) -> None:
    tiny = Fraction(1, 3**2000)
    program = program_from_arrays([[2]], [tiny], G=[[-1]], h=[-tiny])
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    write_certificate(program_certificate(program, outcome), tmp_path / "long.json")
    assert checker.main([str(tmp_path / "long.json")]) == 0


def singular(n: int, rank: int) -> Program:
    """Return the program min 1/2 |B'x|^2 - (B e)'x; its optimum is -|e|^2 / 2."""
    B = np.random.default_rng(n).integers(-9, 10, (n, rank)).astype(np.float64)
    return program_from_arrays(B @ B.T, -B.sum(axis=1))


@pytest.mark.parametrize(("n", "rank"), [(65, 1), (70, 69), (150, 12)])
def test_a_singular_matrix_of_many_unknowns_is_proved_by_as_many_pivots_as_its_rank(
    n: int, rank: int
) -> None:
    program = singular(n, rank)
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    document = program_certificate(program, outcome)
    assert document["semidefinite"] == "by factorisation"
    assert checker.check(json.dumps(document).encode()) == (
        "program",
        Fraction(-rank, 2),
        Fraction(-rank, 2),
    )


@pytest.mark.parametrize("place", [0, 700, -1])
def test_a_singular_matrix_that_is_changed_is_refused(place: int) -> None:
    """A diagonal entry that is smaller by any amount makes the matrix indefinite.

    The dual point is removed because the change of P would invalidate it, too.
    """
    program = singular(70, 5)
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    document = program_certificate(program, outcome) | {"dual": None}
    document["claim"]["lower"] = "-inf"
    document["mode"] = "proven"
    diagonal = [entry for entry in document["problem"]["P"] if entry[0] == entry[1]]
    diagonal[place % len(diagonal)][2] -= 1
    with pytest.raises(ValueError, match="quadratic_part_is_semidefinite does not hold"):
        checker.check(json.dumps(mutant.signed(document)).encode())


def test_pivots_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their estimate counts all pivots so far: 5 are affordable here, and 69 are not."""
    tables = [
        [[int(v) for v in row] for row in B @ B.T]
        for B in (np.random.default_rng(0).integers(-9, 10, (70, r)) for r in (5, 69))
    ]
    monkeypatch.setattr(checker, "MOST_NANOSECONDS", 10**8)
    assert checker.has_no_negative_pivot(tables[0])
    with pytest.raises(ValueError, match="arithmetic_is_affordable does not hold"):
        checker.has_no_negative_pivot(tables[1])
