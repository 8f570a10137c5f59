"""Proven intervals in floats: they contain the exact optimum, whatever the answer is."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from campaigns.exact import maros_meszaros
from campaigns.exact.nightly_programs import form_of
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.exact_sums import sum_rows
from equimargin.formulations.programs import Program
from equimargin.formulations.programs.compiled import compile_form
from equimargin.formulations.programs.model_file import from_ranges
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs import checker
from equimargin.proofs.certificates.program import program_certificate
from equimargin.proofs.outward import form_interval
from equimargin.proofs.outward.boxes import bounds_of_rows, implied_bounds
from equimargin.proofs.outward.convexity import prove_convexity
from equimargin.proofs.outward.correction import settle
from equimargin.proofs.outward.ends import Ball, lower_end, upper_end
from equimargin.proofs.outward.rational import exact_enclosure
from equimargin.solvers.backends.form import solve_form
from equimargin.solvers.exact.program import Infeasible, Optimum, UnboundedProgram, program_optimum
from equimargin.solvers.exact.program.clock import Clock
from equimargin.testing import programs

SMALL = ("HS21", "HS118", "HS35MOD", "DUALC1", "PRIMALC1", "QAFIRO", "QPCBOEI2")
"""Maros-Meszaros problems that are solved in a second or two each."""


def drawn_answer(program: Program, seed: int) -> tuple[Array, Array]:
    """Draw a point and multipliers at a random scale, some of them 0."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, 3)
    rows = len(program.b) + len(program.h)
    x, z = rng.normal(size=program.n) * size, rng.normal(size=rows) * size
    return np.where(rng.random(len(x)) < 0.3, 0.0, x), np.where(rng.random(rows) < 0.3, 0.0, z)


@given(program=programs(), seed=st.integers(0, 1000))
def test_interval_of_a_random_answer_contains_the_exact_optimum(
    program: Program, seed: int
) -> None:
    if program.cones or program.reading != "exact":
        return
    outcome = program_optimum(program)
    found = form_interval(form_of(program), *drawn_answer(program, seed), rational=False)
    if isinstance(outcome, Optimum):
        assert found.lower <= outcome.value <= found.upper
    elif isinstance(outcome, Infeasible):
        assert found.upper == inf
    elif isinstance(outcome, UnboundedProgram):
        assert found.lower == -inf


@pytest.mark.skipif(not maros_meszaros.FOLDER.is_dir(), reason="the problems are not there")
@pytest.mark.parametrize("name", SMALL)
def test_interval_of_a_maros_meszaros_problem_is_narrow_and_true(name: str) -> None:
    program = maros_meszaros.problem(maros_meszaros.FOLDER / f"{name}.mat")
    form = form_of(program)
    found = form_interval(form, *solve_form(form, "CLARABEL", 60.0), rational=False)
    outcome = program_optimum(program)
    assert isinstance(outcome, Optimum)
    assert found.lower <= outcome.value <= found.upper
    assert found.width <= 1e-6


def boxed_program(m: int, n: int, equations: int) -> StandardForm:
    rng = np.random.default_rng(m)
    A = sparse.random_array((m, n), density=0.2, rng=rng, format="csr")
    middle = rng.random(n)
    high = A @ middle + np.where(np.arange(m) < equations, 0.0, rng.random(m))
    low = np.where(np.arange(m) < equations, high, -np.inf)
    q, P = rng.normal(size=n), sparse.csr_array((n, n))
    return from_ranges(P, q, A, low, high, np.zeros(n), np.ones(n))[0]


@pytest.mark.parametrize("equations", [0, 20])
def test_linear_program_with_bounds_is_within_1e_9_without_rational_numbers(
    equations: int,
) -> None:
    form = boxed_program(60, 80, equations)
    found = form_interval(form, *solve_form(form, "HIGHS", 60.0), rational=False)
    assert found.width <= 1e-9
    assert {found.lower_by, found.upper_by} <= {"weak duality", "repair"}


@pytest.mark.parametrize("cost", ["quadratic", "norm"])
def test_free_variables_are_bounded_by_repair(cost: str) -> None:
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(12, 4)), rng.normal(size=12)
    x = cp.Variable(4)
    value = cp.sum_squares(A @ x - b) if cost == "quadratic" else cp.norm(A @ x - b, 1)
    problem = cp.Problem(cp.Minimize(value + cp.norm(x, 1)), [cp.sum(x) == 1])
    form = compile_form(problem)[0].tidied()
    found = form_interval(form, *solve_form(form, "CLARABEL", 60.0), rational=False)
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-12, tol_gap_abs=1e-12, tol_feas=1e-12)
    assert found.width <= 1e-8
    assert found.lower - 1e-9 <= problem.value <= found.upper + 1e-9


def test_opposite_columns_have_a_multiplier_of_exactly_zero() -> None:
    # min 3 (u - v)  s.t.  7 (u - v) >= 1: the reduced costs of u and v are opposite, so 0.
    form = StandardForm(
        sparse.csr_array((2, 2)),
        np.array([3.0, -3.0]),
        sparse.csr_array([[-7.0, 7.0]]),
        np.array([-1.0]),
        0,
        1,
        (),
        np.zeros(2),
        np.full(2, np.inf),
        0.0,
    )
    found = form_interval(form, np.array([1 / 7, 0.0]), np.array([3 / 7]), rational=False)
    assert found.lower <= Fraction(3, 7) <= found.upper
    assert found.width <= 1e-12


def test_dependent_equations_are_settled_together() -> None:
    B = sparse.csr_array([[1.0, 3.0, 0.0], [2.0, 6.0, 0.0], [0.0, 1.0, 1.0]])
    v, weight = np.array([0.1, 0.2, 0.3]), np.ones(3)
    settled = settle(B, np.array([1.0, 2.0, 1.0]), v, weight, 3)
    assert settled is not None
    ball, rows = settled
    assert rows.tolist() == [0, 1, 2]
    assert np.abs(B @ ball.middle - [1.0, 2.0, 1.0]).max() < 1e-14
    # Contradicting equations have no solution to enclose.
    assert settle(B, np.array([1.0, 2.0000001, 1.0]), v, weight, 3) is None


def test_equations_of_variables_with_tiny_weights_are_settled() -> None:
    """The squares of the weighted entries underflow; a warning is an error here."""
    B, v = sparse.csr_array([[3.0, 0.0], [0.0, 7.0]]), np.array([0.4, 0.2])
    settled = settle(B, np.ones(2), v, np.array([1.0, 1e-200]), 2)
    assert settled is not None
    ball, rows = settled
    assert rows.tolist() == [0, 1]
    assert (np.abs(ball.middle - [1 / 3, 1 / 7]) <= ball.radius + 1e-16).all()


def one_row(a: float, h: float, lower: float = 0.0) -> StandardForm:
    return StandardForm(
        sparse.csr_array((1, 1)),
        np.array([-1.0]),
        sparse.csr_array([[a]]),
        np.array([h]),
        0,
        1,
        (),
        np.array([lower]),
        np.array([np.inf]),
        0.0,
    )


def test_bound_of_a_row_is_rounded_outward() -> None:
    form, kept = bounds_of_rows(one_row(3.0, 1.0))
    assert not len(kept)
    assert Fraction(float(form.upper[0])) >= Fraction(1, 3)


def test_implied_bounds_hold_for_every_feasible_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 5))
        G, x = rng.normal(size=(4, n)), np.abs(rng.normal(size=n)) * 10.0 ** rng.uniform(-3, 3)
        form = StandardForm(
            sparse.csr_array((n, n)), rng.normal(size=n), sparse.csr_array(G),
            G @ x + np.abs(G) @ x * 1e-13, 0, 4, (), np.zeros(n), np.full(n, np.inf), 0.0,
        )  # fmt: skip
        found = implied_bounds(form)
        assert (x <= found.upper).all()
        assert (x >= found.lower).all()


def test_point_outside_by_one_rounding_proves_nothing() -> None:
    form = one_row(3.0, 1.0)
    assert upper_end(form, Ball.point(np.array([np.nextafter(1 / 3, 1)]))) == inf
    below = np.nextafter(1 / 3, 0)
    assert upper_end(form, Ball.point(np.array([below]))) >= Fraction(-below)


def test_multipliers_of_an_unbounded_variable_prove_nothing() -> None:
    form = one_row(3.0, 1.0, -inf)
    x = Ball.point(np.zeros(1))
    assert lower_end(form, x, Ball.point(np.array([1 / 3]))) == -inf


def test_negative_multiplier_of_an_inequality_proves_nothing() -> None:
    form = replace(one_row(3.0, 1.0), upper=np.ones(1))
    x = Ball.point(np.zeros(1))
    assert lower_end(form, x, Ball.point(np.array([1.0]))) == pytest.approx(-1.0)
    assert lower_end(form, x, Ball.point(np.array([-1.0]))) == -inf


def cone(scale: float) -> StandardForm:
    """Return min t / scale  s.t.  v = scale, |v| <= t, with the optimum 1."""
    return StandardForm(
        sparse.csr_array((2, 2)),
        np.array([1 / scale, 0.0]),
        sparse.csr_array([[0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]),
        np.array([scale, 0.0, 0.0]),
        1,
        0,
        (2,),
        np.full(2, -inf),
        np.full(2, inf),
        0.0,
    )


@pytest.mark.parametrize("scale", [1.0, 1e-170])
def test_point_outside_a_cone_proves_nothing_even_if_its_squares_underflow(scale: float) -> None:
    form = cone(scale)
    assert upper_end(form, Ball.point(np.array([1e-30 * scale, scale]))) == inf
    x, z = Ball.point(np.zeros(2)), np.array([-1e30 / scale, 1 / scale, 1e30 / scale])
    assert lower_end(form, x, Ball.point(z)) == -inf


def test_multipliers_of_a_cone_may_be_zero() -> None:
    form = replace(cone(1.0), lower=np.zeros(2))
    assert lower_end(form, Ball.point(np.zeros(2)), Ball.point(np.zeros(3))) > -1e-300


def test_half_of_the_smallest_quadratic_term_is_not_lost() -> None:
    form = replace(one_row(1.0, 1e300), P=sparse.csr_array([[5e-324]]), q=np.zeros(1))
    exact = Fraction(5e-324) * Fraction(1e200) ** 2 / 2
    assert upper_end(form, Ball.point(np.array([1e200]))) >= exact


def test_change_of_the_objective_within_a_ball_is_paid_for() -> None:
    P = sparse.csr_array([[2.0, 1.0], [1.0, 3.0]])
    form = replace(
        one_row(1.0, 9.0),
        P=P,
        q=np.array([1.0, -7.0]),
        G=sparse.csr_array([[1.0, 1.0]]),
        lower=np.zeros(2),
        upper=np.full(2, inf),
    )
    middle, radius = np.array([1.0, 2.0]), np.array([1e-3, 1e-9])
    end = upper_end(form, Ball(middle, radius))
    corners = [middle + np.array(signs) * radius for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    assert max(form.objective(x) for x in corners) <= end <= form.objective(middle) + 0.02


def test_sum_of_rows_is_rounded_once() -> None:
    M = sparse.csr_array([[1e16, 1.0, -1e16], [0.1, 0.1, 0.1]])
    v = np.array([1.0, 1.0, 1.0])
    sums, errors = sum_rows(np.zeros(2), (M, v))
    assert sums.tolist() == [1.0, 0.1 + 0.2]
    exact = 3 * Fraction(0.1)
    assert abs(Fraction(float(sums[1])) - exact) <= Fraction(float(errors[1]))


@pytest.mark.parametrize(
    ("P", "reason"),
    [
        ([[1.0, 0.0], [0.0, 2.0]], "diagonal"),
        ([[2.0, 1.0], [1.0, 2.0]], "Cholesky"),
        ([[1.0, 1.5, 0.0], [1.5, 3.0, 0.5], [0.0, 0.5, 1.0]], "Cholesky"),
        ([[1.0, 3.0], [3.0, 9.0]], "exact"),
        ([[0.0, 0.0], [0.0, 0.0]], "linear"),
        ([[5e-324, 0.0], [0.0, 0.0]], "diagonal"),
    ],
)
def test_convexity_has_a_reason(P: Any, reason: str) -> None:
    form = quadratic(P, inf)
    why, proven = prove_convexity(form, Clock(10))
    assert reason in why
    assert proven is form


@pytest.mark.parametrize(
    "P",
    [
        [[1.0, 0.0], [0.0, -1e-300]],
        [[1.0, 3.0], [3.0, np.nextafter(9.0, 0)]],
        # The factor overflows, and the last pivot is a NaN.
        [[1e-100, 0.0, 1e300], [0.0, 1e-100, 1.0], [1e300, 1.0, 1e-100]],
    ],
)
def test_indefinite_term_is_refused_however_small_its_eigenvalue(P: Any) -> None:
    with pytest.raises(ValueError, match="not convex"):
        prove_convexity(quadratic(P, inf), Clock(10))


def quadratic(P: Any, radius: float) -> StandardForm:
    M, n = sparse.csr_array(P), len(P)
    M.eliminate_zeros()
    none = sparse.csr_array((0, n)), np.zeros(0), 0, 0, ()
    return StandardForm(M, np.zeros(n), *none, np.full(n, -radius), np.full(n, radius), 0.0)


def test_singular_term_in_a_box_costs_the_lower_end_a_little() -> None:
    F = np.random.default_rng(0).normal(size=(150, 300))
    P = F.T @ F
    form = replace(quadratic((P + P.T) / 2, 1.0), q=np.ones(300))
    found = form_interval(form, *solve_form(form, "CLARABEL", 60.0), width=1e-6)
    assert "a larger diagonal" in found.convex
    assert found.width <= 1e-6


def test_negative_eigenvalue_within_roundings_is_in_the_interval() -> None:
    P = [[1.0, 3.0], [3.0, np.nextafter(9.0, 0)]]
    # At (-3, 1) 1000 / 3 the objective is below 0.
    value = (Fraction(P[1][1]) - 9) * 10**6 / 18
    found = form_interval(quadratic(P, 1e3), np.zeros(2), np.zeros(0))
    assert found.lower <= value < 0
    assert found.upper >= 0


def test_certificate_in_rational_numbers_is_accepted() -> None:
    form = boxed_program(10, 14, 4)
    x, z = solve_form(form, "CLARABEL", 60.0)
    found = exact_enclosure(form, x, z, 20.0)
    kind, lower, upper = checker.check(
        json.dumps(program_certificate(found.program, found)).encode()
    )
    assert kind == "program"
    interval = form_interval(form, x, z)
    assert max(float(lower), interval.lower) <= min(float(upper), interval.upper)
    # An infinite end would pass the next line.
    assert abs(float(upper)) < inf
    assert float(upper - lower) <= 1e-9 * abs(float(upper))


def test_forged_answer_gives_a_wide_interval() -> None:
    form = boxed_program(30, 20, 0)
    x, z = solve_form(form, "CLARABEL", 60.0)
    true = form_interval(form, x, z)
    forged = form_interval(form, np.zeros(20), replace_first(z, 100.0), rational=False)
    assert forged.lower <= true.upper
    assert forged.upper >= true.lower
    assert forged.width > true.width


def test_width_that_is_asked_for_is_that_of_rational_numbers() -> None:
    form = boxed_program(10, 14, 4)
    found = form_interval(form, *solve_form(form, "CLARABEL", 60.0), width=1e-15)
    assert found.width <= 1e-15


def replace_first(z: Array, value: float) -> Array:
    forged = z.copy()
    forged[0] = value
    return forged


def test_maximum_size_of_rational_numbers_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equimargin.proofs.outward.interval.MAX_RATIONAL_SIZE", 1)
    form = replace(boxed_program(10, 14, 4))
    found = form_interval(form, np.zeros(14), np.zeros(10), width=0.0)
    assert "rational numbers" not in (found.lower_by, found.upper_by)


def test_proof_of_convexity_in_rationals_that_takes_too_long_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forecast = "equimargin.solvers.exact.program.semidefinite.forecast"
    monkeypatch.setattr(forecast, lambda size, bits: inf)
    rows, free = sparse.csr_array([[1.0, 1.0], [-1.0, -1.0]]), np.full(2, inf)
    P = sparse.csr_array([[3.0, 1.0], [1.0, 3.0]])
    ends = np.array([0.0, -1.0])
    infeasible = StandardForm(P, np.zeros(2), rows, ends, 0, 2, (), -free, free, 0.0)
    found = form_interval(infeasible, np.zeros(2), np.zeros(2))
    assert (found.upper, found.upper_by) == (inf, "nothing")
