"""Formulations that round their data: a rounding proves no error.

Differences that roundings do not explain prove an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from campaigns.exact.program_kinds import KINDS
from equimargin.comparison import compare
from equimargin.equivalence import same
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.documents.coupling import wlw as coupling
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.formulations.programs.rational import Matrix
from equimargin.own import Family, ProgramProblem, optimum, solver
from equimargin.own.instances import check_own_formulation, check_own_solver
from equimargin.proofs import Agreement, Verdict
from equimargin.proofs.program.completion import completed
from equimargin.proofs.program.proven_optimum import proven_optimum
from equimargin.proofs.program.rounding import image_of_move, moved_by_rounding
from equimargin.solvers import SOLVERS
from equimargin.solvers.exact.program import Optimum, program_optimum
from equimargin.solvers.probability.coupling import wlw
from equimargin.solvers.registry import RegisteredSolver
from narrow import as_a

EPS = 2.0**-52
"""Relative distance of floats."""
ULPS_8 = Fraction(8 * EPS)
"""Maximum relative change of a number here, 8 ulps."""
CONTROLS = {"test.rounds.off", "test.rounds.bounded"}
"""Wrong formulations of the family below."""


def curve(noise: float) -> dict[str, Any]:
    """Return a polynomial with large coefficients, and values close to its own.

    In A'A and A'b nearly all digits cancel.
    """
    t = np.linspace(0.1, 1.1, 40)
    A = np.vander(t, 6)
    return {"A": A, "b": 30 * A @ np.arange(1, 7) + noise * np.sin(50 * t)}


@pytest.fixture
def rounds() -> Iterator[Family[ProgramProblem]]:
    """Yield least squares by residuals, by the rounded A'A, and wrong in two ways."""
    made = Family("test.rounds", data=lambda: _strategy())

    @made.formulation("residuals")
    def residuals(d: Any) -> Any:
        w = cp.Variable(d["A"].shape[1], name="w")
        return cp.Problem(cp.Minimize(cp.sum_squares(d["A"] @ w - d["b"]) / 2))

    @made.formulation("gram")
    def gram(d: Any) -> Any:
        A, b = d["A"], d["b"]
        w = cp.Variable(A.shape[1], name="w")
        return cp.Problem(
            cp.Minimize(cp.quad_form(w, cp.psd_wrap(A.T @ A)) / 2 - (A.T @ b) @ w + b @ b / 2)
        )

    @made.formulation("halved", value=lambda value, d: 2 * value)
    def halved(d: Any) -> Any:
        return cp.Problem(cp.Minimize(gram(d).objective.args[0] / 2))

    @made.formulation("off", control=True)
    def off(d: Any) -> Any:
        return cp.Problem(cp.Minimize((1 + 2.0**-20) * residuals(d).objective.args[0]))

    @made.formulation("bounded", control=True)
    def bounded(d: Any) -> Any:
        least = residuals(d)
        return cp.Problem(least.objective, [least.variables()[0] <= 100])

    @solver("test.rounds.normal_equations", made)
    def normal_equations(problem: ProgramProblem) -> Any:
        d = problem.data
        return "gram", {"w": np.linalg.lstsq(d["A"], d["b"])[0]}

    yield made
    for id in [id for id, entry in REGISTRY.items() if entry.family == made.id]:
        del REGISTRY[id]
    for name in [name for name in SOLVERS if name.startswith(f"{made.id}.")]:
        del SOLVERS[name]
    del FAMILIES[made.id]


def _strategy() -> Any:
    from hypothesis import strategies as st

    return st.sampled_from([1e-3, 3e-3, 1e-2]).map(curve)


@pytest.mark.parametrize("noise", [1e-3, 3e-3, 1e-2])
def test_what_roundings_explain_is_inaccurate_and_the_controls_disagree(
    rounds: Family[ProgramProblem], noise: float
) -> None:
    problem = rounds(curve(noise))
    due, own = optimum(problem), optimum(problem, "test.rounds.gram")
    found = compare(problem, include_controls=True, agree_tol=1e-12)
    by_formulation = {
        j.evidence.run.formulation: j
        for j in found.families[0].judgements
        if j.evidence.run.solver == "CLARABEL"
    }
    against = {id for id, j in by_formulation.items() if j.agreement is Agreement.DISAGREES}
    assert (
        own.lower - due.upper > 1e-12 * due.interval.size
        or due.lower - own.upper > 1e-12 * due.interval.size
    )
    assert against == CONTROLS, str(found)
    for name in ("gram", "halved"):
        judged = by_formulation[f"test.rounds.{name}"]
        assert judged.agreement is Agreement.INACCURATE
        assert (
            "roundings of its own numbers and of those of the first formulation explain up to"
            in judged.ground
        )
        assert "that proves no error" in " ".join(str(found).split())
    assert found.families[0].verdict is not Verdict.AGREE


def test_a_solver_of_a_rounded_formulation_is_not_accused(rounds: Family[ProgramProblem]) -> None:
    found = compare(rounds(curve(1e-4)), solvers=["CLARABEL", "test.rounds.normal_equations"])
    (judged,) = (j for j in found.families[0].judgements if j.evidence.run.formulation is None)
    assert judged.off > 1e-6
    assert judged.agreement in (Agreement.INACCURATE, Agreement.FAILED)
    assert found.families[0].verdict is not Verdict.DISAGREE


@pytest.mark.slow
def test_drawn_instances_refute_no_formulation_for_its_roundings(
    rounds: Family[ProgramProblem],
) -> None:
    for name in ("gram", "halved", "off", "bounded"):
        check_own_formulation(as_a(Formulation, REGISTRY[f"test.rounds.{name}"]), examples=3)
    check_own_solver(as_a(RegisteredSolver, SOLVERS["test.rounds.normal_equations"]), examples=3)


def test_same_holds_no_rounding_against_two_problems(rounds: Family[ProgramProblem]) -> None:
    by_residuals, by_gram, with_bound = (
        f"test.rounds.{name}" for name in ("residuals", "gram", "bounded")
    )
    found = same(by_residuals, by_gram, _strategy(), draws=2, examples=3)
    assert (found.verdict, found.equal) == ("UNDECIDED", 0)
    assert "what roundings of the stated numbers explain" in " ".join(str(found).split())
    assert same(by_residuals, with_bound, _strategy(), draws=2, examples=3).verdict == "DIFFERENT"


def test_numbers_of_few_digits_are_what_was_meant() -> None:
    whole = program_from_arrays([[2.0]], [-3.0], G=[[0.5], [-1.0]], h=[10.0, 0.0])
    assert moved_by_rounding(whole, (Fraction(3, 2),), (), (Fraction(0), Fraction(0))) == 0
    tenth = program_from_arrays([[2.0]], [0.1], G=[[0.5], [-1.0]], h=[10.0, 0.0])
    assert 0 < moved_by_rounding(tenth, (Fraction(-1, 20),), (), (Fraction(0), Fraction(0))) < 1e-16
    simple = program_from_arrays([[2.0]], [0.1], reading="fractions")
    assert moved_by_rounding(simple, (Fraction(-1, 20),), (), ()) == 0


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_roundings_move_an_optimum_no_further_than_is_said(kind: int) -> None:
    """Every number is moved by at most 8 ulps, and both optima are exact.

    The bound of both sides holds, and the condition on it.
    """
    for number in range(4):
        rng = np.random.default_rng([kind, number])
        program = KINDS[kind](rng, 5, 3, "float")
        other = _moved(program, rng)
        one, two = (program_optimum(each, 10.0) for each in (program, other))
        if isinstance(one, Optimum) and isinstance(two, Optimum):
            assert one.value - two.value <= ULPS_8 * sum(_sums(program, one, two.x))
            assert two.value - one.value <= ULPS_8 * sum(_sums(other, two, one.x))
            first_order = _sums(program, one, one.x)[0]
            assert (
                max(sum(_sums(program, one, two.x)), sum(_sums(other, two, one.x)))
                <= first_order * 1001 / 1000
            )
            assert abs(one.value - two.value) <= moved_by_rounding(program, one.x, one.y, one.z)


def test_beyond_its_condition_the_bound_takes_both_optima() -> None:
    """Two equations that differ in their last digits alone.

    One ulp moves the optimum by its own size, and the optimal point as far.
    """

    def nearly_twice(last: int) -> Program:
        return program_from_arrays(
            np.zeros((2, 2)),
            [0.0, 1.0],
            [[1.1, 1.0], [1.1 + last * EPS, 1.0]],
            [0.0, 1.0],
            reading="exact",
        )

    one, two = program_optimum(nearly_twice(17), 10.0), program_optimum(nearly_twice(1), 10.0)
    assert isinstance(one, Optimum)
    assert isinstance(two, Optimum)
    assert abs(one.value - two.value) > moved_by_rounding(nearly_twice(17), one.x, one.y, one.z)
    by_16_ulps = Fraction(16 * EPS)
    assert abs(one.value - two.value) <= by_16_ulps * sum(_sums(nearly_twice(1), two, one.x))
    assert sum(_sums(nearly_twice(1), two, one.x)) > 4 * _sums(nearly_twice(17), one, one.x)[0]


def _sums(program: Program, at: Optimum, other: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Return S and R of the numbers that may be rounded, summed entry by entry."""
    x, y, z = (list(map(abs, part)) for part in (at.x, at.y, at.z))
    reach = [abs(v - w) for v, w in zip(other, at.x, strict=True)]
    S, R = _size(program.c), Fraction(0)
    for i, row in enumerate(program.P.rows):
        S += sum((_size(v) * x[i] * x[j] / 2 for j, v in row.items()), Fraction(0))
        R += sum((_size(v) * x[i] * reach[j] for j, v in row.items()), Fraction(0))
    for j, v in enumerate(program.q):
        S, R = S + _size(v) * x[j], R + _size(v) * reach[j]
    for multiplier, row, end in [
        *zip(y, program.A.rows, program.b, strict=True),
        *zip(z, program.G.rows, program.h, strict=True),
    ]:
        S += multiplier * (sum((_size(v) * x[j] for j, v in row.items()), Fraction(0)) + _size(end))
        R += multiplier * sum((_size(v) * reach[j] for j, v in row.items()), Fraction(0))
    return S, R


def _size(v: Fraction) -> Fraction:
    return abs(v) if v.denominator > 2**20 else Fraction(0)


def _moved(program: Program, rng: np.random.Generator) -> Program:
    def number(v: Fraction) -> Fraction:
        return v * (1 + Fraction(float(rng.uniform(-8, 8) * EPS))) if v.denominator > 2**20 else v

    def matrix(M: Matrix) -> Matrix:
        return Matrix(tuple({j: number(v) for j, v in row.items()} for row in M.rows), M.width)

    return replace(
        program,
        q=tuple(map(number, program.q)),
        A=matrix(program.A),
        b=tuple(map(number, program.b)),
        G=matrix(program.G),
        h=tuple(map(number, program.h)),
    )


def test_a_map_that_has_no_value_beside_the_optimum_moves_as_far_as_it_has_one() -> None:
    def root(value: Any) -> Any:
        return np.sqrt(float(value))

    assert image_of_move(root, Fraction(0), Fraction(1, 100)) == pytest.approx(0.1)
    power = image_of_move(lambda value: value**0.5, Fraction(0), Fraction(1, 100))
    assert power == pytest.approx(0.1)
    assert image_of_move(lambda value: -3 * value, Fraction(7), Fraction(1, 8)) == 0.375
    assert image_of_move(root, Fraction(-2), Fraction(1)) == float("inf")
    assert image_of_move(lambda value: 1 / 0, Fraction(-2), Fraction(0)) == 0.0


@pytest.mark.parametrize("value", [log, lambda v: v**0.5])
def test_a_map_may_have_no_value_at_the_constant_part_of_the_objective(value: Any) -> None:
    found = proven_optimum(program_from_arrays(q=[1.0], G=[[-1.0]], h=[-5.0], c=-2.0), value)
    assert found.lower <= value(3) <= found.upper
    assert (found.exact, found.constant) == (None, 0.0)


def test_an_optimum_next_to_0_accuses_no_solver_of_the_roundings_of_its_point() -> None:
    """The probabilities of every two classes are nearly those of p.

    In floats no p has an objective as small as the optimum, about 1e-38.
    """
    p = np.array([1e-4, 5e-3, 4e-6, 0.994896])
    r = np.triu(p[:, None] / (p[:, None] + p), 1)
    problem = coupling({"r": r + np.tril(1 - r.T, -1)})
    (found,) = compare(problem, solvers=["coupling.wlw.*"]).families
    (judged,) = (j for j in found.judgements if j.evidence.run.formulation is None)
    assert judged.agreement is Agreement.INACCURATE
    assert "roundings" in judged.ground
    program, proven = problem.program(problem.definition.id), optimum(problem)
    near = completed(program, {"p": wlw(problem.data["r"])}, seconds=10.0)
    assert near.hidden > 0
    assert near.objective - near.hidden <= proven.upper < near.objective
    off = completed(program, {"p": p + np.array([1e-9, -1e-9, 0.0, 0.0])}, seconds=10.0)
    assert off.objective - off.hidden > proven.upper
