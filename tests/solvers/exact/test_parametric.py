"""Exact pivots from any face to an optimal one, or to a ray."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from campaigns.exact import maros_meszaros
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs.enclosure import enclosure
from equimargin.solvers.exact.program import (
    Infeasible,
    Optimum,
    UnboundedProgram,
    optimum,
    parametric,
    program_optimum,
)
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.face import Pair, optimum_on_face
from equimargin.solvers.exact.program.floats import FloatSolution, solve_in_floats
from equimargin.solvers.exact.program.parametric import (
    UnboundedDirection,
    optimum_by_parametric_pivots,
    optimum_near,
)
from equimargin.testing import programs
from oracles.program_conditions import holds


def anywhere(program: Program, seed: int) -> FloatSolution:
    """Return floats unrelated to the program."""
    rng = np.random.default_rng(seed)
    n, m, r = program.n, len(program.b), len(program.h)
    return FloatSolution(rng.normal(size=n), rng.normal(size=m), rng.random(r), rng.random(r))


@pytest.mark.slow
@given(programs(), st.integers(0, 99))
@settings(max_examples=150)
def test_from_any_face_pivots_end_in_the_optimum_or_in_a_ray(program: Program, seed: int) -> None:
    expected = program_optimum(program)
    found = optimum_by_parametric_pivots(program, anywhere(program, seed), Clock(20.0))
    if isinstance(expected, Optimum):
        assert isinstance(found, Pair)
        assert program.is_optimal(found.x, found.y, found.z)
        assert program.objective(found.x) == expected.value
    if isinstance(found, UnboundedDirection):
        assert isinstance(expected, Infeasible | UnboundedProgram)
        assert program.is_farkas_ray(found.y, found.z) or program.is_recession_ray(found.x)


def meeting(n: int, noise: float) -> Program:
    """Return min q'x over 2 n rows that nearly meet at the corner 1 of n variables.

    Rounding of their ends makes them miss each other.
    """
    rng = np.random.default_rng(5)
    G = -rng.integers(1, 10, (2 * n, n)) / 10.0
    return program_from_arrays(
        None, -G.sum(axis=0), G=G, h=G.sum(axis=1) + noise * rng.integers(-2, 3, 2 * n)
    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", [1e-15, 1e-13, 1e-11])
def test_rows_that_meet_in_one_point_but_for_a_rounding_take_pivots(noise: float) -> None:
    """Correcting all wrong rows at once cycles here."""
    program = meeting(16, noise)
    floats: Any = solve_in_floats(program, Clock(10.0))
    assert optimum_on_face(program, floats, Clock(60.0)) is None
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert "left by exact pivots" in outcome.reason
    assert holds(program, outcome)
    assert float(outcome.value) == pytest.approx(float(sum(program.q)), rel=1e-9)
    found = enclosure(program)
    assert found.lower == found.upper == outcome.value


def test_an_infeasible_and_an_unbounded_program_end_in_rays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Floats without a reported status count as close to an optimum.

    Pivots find that there is none, and the reason.
    """
    monkeypatch.setattr(optimum, "solve_in_floats", lambda program, clock: anywhere(program, 1))
    infeasible = program_from_arrays([[1.0]], [0.0], G=[[1.0], [-1.0]], h=[-1.0, -1.0])
    outcome = program_optimum(infeasible)
    assert isinstance(outcome, Infeasible)
    assert "exact pivots" in outcome.reason
    assert holds(infeasible, outcome)
    unbounded = program_from_arrays(
        [[1.0, 0.0], [0.0, 0.0]], [0.0, -1.0], G=[[0.0, -1.0], [1.0, 0.0]], h=[0.0, 1.0]
    )
    outcome = program_optimum(unbounded)
    assert isinstance(outcome, UnboundedProgram)
    assert "exact pivots" in outcome.reason
    assert holds(unbounded, outcome)


def test_pivots_keep_their_time_limit() -> None:
    program = meeting(16, 1e-13)
    with pytest.raises(OutOfTime):
        optimum_by_parametric_pivots(program, anywhere(program, 0), Clock(1e-9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parametric, "optimum_on_face", lambda program, floats, clock: None)
        assert optimum_near(program, anywhere(program, 0), Clock(1e-6)) is None


@pytest.mark.skipif(
    not maros_meszaros.FOLDER.is_dir(),
    reason="the Maros-Meszaros problems are not beside this checkout",
)
@pytest.mark.parametrize(
    ("name", "published"),
    [("QPCBLEND", "-7.8425431e-03"), ("QSHARE2B", "1.1703692e+04"), ("QISRAEL", "2.5347838e+07")],
)
def test_degenerate_problems_of_maros_and_meszaros_have_their_published_optima(
    name: str, published: str
) -> None:
    outcome = program_optimum(maros_meszaros.problem(maros_meszaros.FOLDER / f"{name}.mat"))
    assert isinstance(outcome, Optimum)
    assert f"{float(outcome.value):.7e}" == published


def test_a_tie_is_left_in_finitely_many_pivots() -> None:
    """All rows pass through 0, where all slacks vanish together."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        G = np.vstack([rng.integers(-2, 3, (12, 4)), -np.eye(4)])
        program = program_from_arrays(None, rng.integers(-2, 3, 4), G=G, h=np.zeros(16))
        found = optimum_by_parametric_pivots(program, anywhere(program, 3), Clock(20.0))
        if isinstance(found, Pair):
            assert program.is_optimal(found.x, found.y, found.z)
            assert program.objective(found.x) == Fraction(0)
        else:
            assert isinstance(found, UnboundedDirection)
            assert program.is_recession_ray(found.x)
