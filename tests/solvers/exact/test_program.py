"""Exact optima of any convex quadratic or linear program.

They are checked by the conditions from their definitions, by HiGHS and closed forms.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from campaigns.exact import maros_meszaros, nightly_programs
from campaigns.exact.program_kinds import HARD, KINDS
from campaigns.runner import At, tried
from equimargin.formulations.programs import Program, program_from_arrays, read
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program import (
    Inconclusive,
    Infeasible,
    Optimum,
    UnboundedProgram,
    criss_cross,
    optimum,
    program_optimum,
)
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.criss_cross import optimum_by_pivots
from equimargin.solvers.exact.program.linear_system import solution_near
from equimargin.solvers.exact.program.semidefinite import semidefinite
from equimargin.testing import programs
from oracles.program_conditions import holds, inner, unfolded

small = st.integers(-3, 3)


@pytest.mark.slow
@given(programs())
@settings(max_examples=300)
def test_every_program_is_decided_and_what_it_carries_proves_it(program: Program) -> None:
    outcome = program_optimum(program)
    assert not isinstance(outcome, Inconclusive)
    assert holds(program, outcome)


@given(programs(scaled=False))
@settings(max_examples=100)
def test_a_linear_program_ends_as_highs_says(program: Program) -> None:
    linear = Program(
        Matrix(({},) * program.n, program.n), program.q, program.A, program.b, program.G, program.h
    )
    A, G = (
        np.array(unfolded(M), dtype=np.float64).reshape(M.height, M.width)
        for M in (linear.A, linear.G)
    )
    q, b, h = (np.array(v, dtype=np.float64) for v in (linear.q, linear.b, linear.h))
    found = linprog(
        q,
        G if len(h) else None,
        h if len(h) else None,
        A if len(b) else None,
        b if len(b) else None,
        (None, None),
    )
    outcome = program_optimum(linear)
    if found.status == 0:
        assert isinstance(outcome, Optimum)
        assert float(outcome.value) == pytest.approx(found.fun, abs=1e-6)
    else:
        assert isinstance(outcome, Infeasible | UnboundedProgram)
        assert found.status == 4 or isinstance(outcome, Infeasible) == (found.status == 2)


@given(programs())
@settings(max_examples=60)
def test_without_floats_pivots_and_rays_decide_the_same(program: Program) -> None:
    expected = program_optimum(program)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimum, "solve_in_floats", lambda program, clock: None)
        outcome = program_optimum(program)
    assert holds(program, outcome)
    if isinstance(expected, Optimum):
        assert isinstance(outcome, Optimum)
        assert outcome.value == expected.value


@given(programs())
@settings(max_examples=60)
def test_pivots_alone_find_an_optimum_exactly_where_there_is_one(program: Program) -> None:
    pair = optimum_by_pivots(program, Clock(60.0))
    expected = program_optimum(program)
    assert (pair is not None) == isinstance(expected, Optimum)
    if pair is not None and isinstance(expected, Optimum):
        assert program.objective(pair.x) == expected.value


@pytest.mark.parametrize("n", [1, 3, 8, 12])
def test_klee_and_mintys_cube_has_its_optimum_in_its_last_corner(n: int) -> None:
    G = np.vstack(
        [np.tril(2.0 ** np.add.outer(np.arange(n), 1 - np.arange(n)), -1) + np.eye(n), -np.eye(n)]
    )
    program = program_from_arrays(
        None,
        -(2.0 ** np.arange(n - 1, -1, -1)),
        G=G,
        h=np.append(5.0 ** np.arange(1, n + 1), np.zeros(n)),
    )
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert outcome.value == -(5**n)


@pytest.mark.parametrize("n", [2, 7, 40])
def test_the_projection_of_a_point_onto_a_plane(n: int) -> None:
    """min 1/2 |x - a|^2 s.t. 1'x = 1 is (1'a - 1)^2 / (2 n)."""
    a = [Fraction(3 * j % 7, j + 1) for j in range(n)]
    program = program_from_arrays(np.eye(n), [-v for v in a], [[1] * n], [1], c=inner(a, a) / 2)
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert outcome.value == (sum(a) - 1) ** 2 / (2 * n)
    assert outcome.semidefinite.startswith("P is diagonal")


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n)
    ),
    st.booleans(),
)
@settings(max_examples=300)
def test_semidefinite_is_what_the_principal_minors_say(B: list[list[int]], squared: bool) -> None:
    table = np.array(B)
    P = table @ table.T if squared else table + table.T
    minors = [
        fmpq_mat(size, size, [int(P[i, j]) for i in rows for j in rows]).det()
        for size in range(1, len(P) + 1)
        for rows in combinations(range(len(P)), size)
    ]
    program = program_from_arrays(P.tolist(), [0] * len(P))
    if all(minor >= 0 for minor in minors):
        assert semidefinite(program.P, Clock(60.0))
    else:
        with pytest.raises(ValueError, match="not positive semidefinite"):
            semidefinite(program.P, Clock(60.0))


def test_a_program_that_is_not_convex_is_refused_in_a_sentence() -> None:
    for P in ([[1, 2], [2, 1]], [[0, 1], [1, 0]], [[1, 0], [0, -1]]):
        outcome = program_optimum(program_from_arrays(P, [0, 0]))
        assert isinstance(outcome, Inconclusive)
        assert outcome.cause == "not convex"
        assert "not convex" in outcome.reason


def test_parts_that_do_not_fit_make_no_program() -> None:
    """The skew P has the eigenvalue 1 twice, and yet x'Px = -8 at (1, -1)."""
    one, q = Fraction(1), (Fraction(0),) * 2
    none, skew = Matrix((), 2), Matrix(({0: one, 1: 10 * one}, {1: one}), 2)
    parts: dict[str, Any] = {
        "P": Matrix(({}, {}), 2),
        "q": q,
        "A": none,
        "b": (),
        "G": none,
        "h": (),
    }
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"P": Matrix(({}, {}), 3)}, "P is 2 x 3, and 2 x 2 was expected"),
        ({"P": skew}, "P is not symmetric"),
        ({"A": Matrix(({},), 2)}, "A is 1 x 2, and 0 x 2 was expected"),
        ({"G": Matrix(({0: one},), 2)}, "G is 1 x 2, and 0 x 2 was expected"),
        ({"G": Matrix(({2: one},), 2), "h": (one,)}, "a row of G has an entry outside its columns"),
        (
            {"A": Matrix(({0: 0 * one},), 2), "b": (one,)},
            "a row of A has an entry outside its columns or a zero",
        ),
        ({"cones": (1,)}, r"cones of \[1\] rows do not fit G, which has 0 rows"),
    ]
    assert isinstance(program_optimum(Program(**parts)), Optimum)
    for change, message in wrong:
        with pytest.raises(ValueError, match=message):
            Program(**parts | change)
    with pytest.raises(ValueError, match="P is not symmetric"):
        semidefinite(skew, Clock(60.0))


@pytest.mark.parametrize("tiny", [5e-324, -2e-323])
def test_no_float_but_0_is_read_as_0(tiny: float) -> None:
    assert read(tiny, "fractions") == Fraction(tiny) != 0
    outcome = program_optimum(
        program_from_arrays([[1.0]], [0.0], [[tiny]], [0.0], reading="fractions")
    )
    assert isinstance(outcome, Optimum)
    assert outcome.value == 0


def test_every_pivot_asks_the_clock_for_the_time_that_the_last_one_took() -> None:
    """Both pivots of an exchange do.

    min -x1 - x2 over a triangle has nothing but exchanges.
    """
    asked: list[float] = []

    class Patient(Clock):
        def ask(self, work: str, ahead: float = 0.0) -> None:
            asked.append(ahead)

    program = program_from_arrays(
        None, [-1, -1], G=[[1, 2], [2, 1], [-1, 0], [0, -1]], h=[3, 3, 0, 0]
    )
    pivots = []
    plain = criss_cross._Dictionary._pivot

    def counted(*arguments: Any) -> None:
        plain(*arguments)
        pivots.append(len(asked))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(criss_cross._Dictionary, "_pivot", counted)
        assert optimum_by_pivots(program, Patient(60.0)) is not None
    assert len(pivots) >= 2
    assert pivots == list(range(1, len(pivots) + 1))
    assert asked[0] == 0 < min(asked[1:])


def test_second_order_cones_are_left_undecided() -> None:
    outcome = program_optimum(
        program_from_arrays(None, [1, 1], G=[[0, 0], [-1, 0], [0, -1]], h=[1, 0, 0], cones=[3])
    )
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause == "cones"


def test_the_clock_ends_a_run_with_a_reason() -> None:
    rng = np.random.default_rng(0)
    B = rng.normal(size=(60, 60))
    outcome = program_optimum(program_from_arrays(B @ B.T, np.ones(60)), seconds=1e-3)
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause == "time"
    assert "time limit of 0.001 s" in outcome.reason


@pytest.mark.parametrize("m", [3, 7, 10])
def test_the_reading_decides_where_rounding_does(m: int) -> None:
    """One-class SVM at nu = 1: with fl(1/m) the m slacks cost less than rho gains.

    The program of the floats therefore has no lower bound.
    """
    q = np.append(-1.0, np.full(m, 1 / m))
    G, h = (
        np.vstack(
            [np.column_stack([np.ones(m), -np.eye(m)]), np.column_stack([np.zeros(m), -np.eye(m)])]
        ),
        np.zeros(2 * m),
    )
    outcomes = [
        program_optimum(program_from_arrays(None, q, G=G, h=h, reading=reading))
        for reading in ("exact", "fractions")
    ]
    short = m * Fraction(1 / m) < 1
    assert isinstance(outcomes[0], UnboundedProgram if short else Optimum)
    assert isinstance(outcomes[1], Optimum)
    assert outcomes[1].value == 0


@given(st.integers(-10_000, 10_000), st.integers(1, 10_000), st.integers(0, 3))
def test_a_float_near_a_simple_fraction_is_read_as_it(p: int, q: int, ulps: int) -> None:
    number = p / q
    # The number moves away from 0.
    moved = number + ulps * np.spacing(number) if number else number
    assert read(moved, "fractions") == Fraction(p, q)
    assert read(moved, "exact") == Fraction(moved)


def test_other_floats_and_wrong_numbers_are_read_as_they_are_or_refused() -> None:
    assert read(np.pi, "fractions") == Fraction(np.pi)
    assert read(Fraction(1, 3), "exact") == Fraction(1, 3)
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            read(value)
    with pytest.raises(ValueError, match="unknown reading"):
        read(1.0, "rough")  # type: ignore[arg-type]


@given(st.data())
@settings(max_examples=200)
def test_a_system_of_any_rank_is_solved_near_a_point_or_has_no_solution(
    data: st.DataObject,
) -> None:
    height, width, rank = (data.draw(st.integers(1, 6)) for _ in range(3))
    left = fmpq_mat(
        height, rank, data.draw(st.lists(small, min_size=height * rank, max_size=height * rank))
    )
    M = left * fmpq_mat(
        rank, width, data.draw(st.lists(small, min_size=rank * width, max_size=rank * width))
    )
    inside = fmpq_mat(width, 1, data.draw(st.lists(small, min_size=width, max_size=width)))
    right = (
        M * inside
        if data.draw(st.booleans())
        else fmpq_mat(height, 1, data.draw(st.lists(small, min_size=height, max_size=height)))
    )
    rows = tuple(
        {j: fraction(M[i, j]) for j in range(width) if M[i, j] != 0} for i in range(height)
    )
    ends, near = (
        [fraction(v) for v in right.entries()],
        [Fraction(data.draw(small), 3) for _ in range(width)],
    )
    preference = data.draw(st.sampled_from([None, [float(j) for j in range(width)]]))
    found = solution_near(Matrix(rows, width), ends, near, Clock(60.0), preference)
    joined = fmpq_mat(
        height,
        width + 1,
        [v for i in range(height) for v in [*(M[i, j] for j in range(width)), right[i, 0]]],
    )
    assert (found is not None) == (joined.rank() == M.rank())
    if found is not None:
        assert [sum((v * found[j] for j, v in row.items()), Fraction(0)) for row in rows] == ends
        assert sum(v != w for v, w in zip(found, near, strict=True)) <= M.rank()


def fraction(value: Any) -> Fraction:
    exact = fmpq(value)
    return Fraction(int(exact.p), int(exact.q))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"P": [[1, 2], [0, 1]], "q": [0, 0]}, "not symmetric"),
        ({"q": [0, 0], "G": [[1]], "h": [1]}, "G is 1 x 1, and 1 x 2 was expected"),
        ({"q": [0], "A": [[1], [2]], "b": [1]}, "A is 2 x 1"),
        ({"q": [0], "G": [[1]], "h": [1], "cones": [2]}, "cones of"),
        ({"q": [float("nan")]}, "finite"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        program_from_arrays(**arguments)


@pytest.mark.parametrize("kind", range(len(KINDS) + len(HARD)))
def test_a_night_has_no_complaints(kind: int) -> None:
    check = list(nightly_programs.checks(1))[kind]
    assert [tried(check, At(0, kind, i)).said for i in range(4)] == [[]] * 4


def test_a_night_finds_what_is_wrong() -> None:
    program = program_from_arrays([[1]], [1])
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert holds(program, outcome)
    assert not holds(program, replace(outcome, x=(Fraction(1),)))
    assert not holds(program, replace(outcome, value=outcome.value + 1))
    assert (
        list(nightly_programs.against_floats(program, replace(outcome, value=outcome.value + 1)))
        != []
    )


PUBLISHED = {
    **{
        "CVXQP1_S": 11590.7181,
        "CVXQP2_S": 8120.94048,
        "DPKLO1": 0.370096217,
        "DUALC1": 6155.25083,
        "GENHS28": 0.927173694,
    },
    **{
        "HS118": 664.820452,
        "HS21": -99.96,
        "HS35": 1 / 9,
        "HS76": -4.68181818,
        "QAFIRO": -1.59078179,
        "ZECEVIC2": -4.125,
    },
}
"""Optima of Maros-Meszaros problems as published with their collection."""


@pytest.mark.skipif(
    not maros_meszaros.FOLDER.is_dir(),
    reason="the Maros-Meszaros problems are not beside this checkout",
)
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_problem_of_maros_and_meszaros_has_its_published_optimum(name: str) -> None:
    outcome = program_optimum(maros_meszaros.problem(maros_meszaros.FOLDER / f"{name}.mat"))
    assert isinstance(outcome, Optimum)
    assert float(outcome.value) == pytest.approx(PUBLISHED[name], rel=1e-7)


@pytest.mark.skipif(
    not maros_meszaros.FOLDER.is_dir(),
    reason="the Maros-Meszaros problems are not beside this checkout",
)
def test_the_one_of_them_that_is_not_convex_is_refused() -> None:
    outcome = program_optimum(
        maros_meszaros.problem(maros_meszaros.FOLDER / f"{maros_meszaros.NOT_CONVEX}.mat")
    )
    assert isinstance(outcome, Inconclusive)
    assert outcome.cause == "not convex"
