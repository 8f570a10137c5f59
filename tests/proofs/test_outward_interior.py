"""Points and multipliers off the boundary, at solver size and in second-order cones."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.exact_sums import sum_rows
from equimargin.formulations.programs.compiled import compile_form
from equimargin.formulations.programs.model_file import from_ranges
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.outward import form_interval
from equimargin.proofs.outward.equations import Equations
from equimargin.proofs.outward.interior import interior_points
from equimargin.solvers.backends.form import solve_form


def known_program(
    m: int, n: int, equations: int
) -> tuple[StandardForm, Fraction, tuple[Array, Array]]:
    """Draw a degenerate program of integers with a known optimum, and a noisy answer.

    x is optimal, as the prices y >= 0 of tight rows leave reduced costs of the right
    signs; half of the tight rows have no price.
    """
    rng = np.random.default_rng(m)
    columns, entries = rng.integers(0, n, 10 * m), rng.integers(-3, 4, 10 * m).astype(np.float64)
    A = sparse.csr_array((entries, (np.repeat(np.arange(m), 10), columns)), shape=(m, n))
    x = np.clip(rng.integers(-2, 5, n) / 2, 0, 1)
    is_tight = (np.arange(m) < equations) | (rng.random(m) < 0.2)
    y = np.where(is_tight & (rng.random(m) < 0.5), rng.integers(1, 4, m), 0).astype(np.float64)
    reduced = np.select([x == 0, x == 1], [rng.integers(0, 3, n), -rng.integers(0, 3, n)], 0)
    high = A @ x + np.where(is_tight, 0, rng.integers(1, 4, m))
    low = np.where(np.arange(m) < equations, high, -inf)
    q = reduced - A.T @ y
    P = sparse.csr_array((n, n))
    form, above, _ = from_ranges(P, q, A, low, high, np.zeros(n), np.ones(n))
    z = np.zeros(len(form.h))
    z[above] = y
    optimum = sum((Fraction(a) * Fraction(b) for a, b in zip(q, x, strict=True)), Fraction(0))
    return form, optimum, (x + 1e-10 * rng.normal(size=n), z + 1e-10 * rng.normal(size=len(z)))


@pytest.mark.parametrize("equations", [0, 300])
def test_degenerate_program_of_4000_rows_is_within_1e_9(equations: int) -> None:
    form, optimum, (x, z) = known_program(4000, 2000, equations)
    found = form_interval(form, x, z, rational=False)
    assert found.lower <= optimum <= found.upper
    assert found.width <= 1e-9


def exact_change(E: Array, weight: Array, residual: list[Fraction]) -> list[Fraction]:
    """Return the least weighted d with E d = residual, by elimination in fractions."""
    k, n = E.shape
    C = [[Fraction(E[i, j]) * Fraction(weight[j]) for j in range(n)] for i in range(k)]
    rows = [
        [sum((a * b for a, b in zip(C[i], C[j], strict=True)), Fraction(0)) for j in range(k)]
        + [residual[i]]
        for i in range(k)
    ]
    for i in range(k):
        pivot = rows[i][i]
        rows[i] = [v / pivot for v in rows[i]]
        for other in range(k):
            if other != i:
                share = rows[other][i]
                rows[other] = [a - share * b for a, b in zip(rows[other], rows[i], strict=True)]
    return [
        Fraction(weight[j]) * sum((C[i][j] * rows[i][k] for i in range(k)), Fraction(0))
        for j in range(n)
    ]


@pytest.mark.parametrize(
    "E",
    [
        [[1.5]],
        [[1.0, 0.0, 0.0], [1.0, 2.0**-10, 0.0]],
        [[3.0, 1.0, 7.0, 0.1], [0.3, -2.0, 1.0, 1.0], [1e-3, 5.0, 0.0, 1.0]],
    ],
)
def test_ball_of_equations_contains_an_exact_solution(E: list[list[float]]) -> None:
    rng = np.random.default_rng(0)
    table = np.array(E)
    k, n = table.shape
    for _ in range(30):
        e, v = rng.normal(size=(k,)), rng.normal(size=(n,))
        weight: Array = np.exp2(rng.integers(-3, 4, n))
        equations = Equations.factored(sparse.csr_array(table), e, weight)
        assert equations is not None
        ball = equations.ball(v)
        residual = [
            Fraction(e[i])
            - sum((Fraction(table[i, j]) * Fraction(v[j]) for j in range(n)), Fraction(0))
            for i in range(k)
        ]
        change = exact_change(table, weight, residual)
        assert all(abs(d) <= Fraction(r) for d, r in zip(change, ball.radius, strict=True))


def test_dependent_equations_are_not_enclosed() -> None:
    E = sparse.csr_array([[1.0, 3.0], [2.0, 6.0]])
    assert Equations.factored(E, np.array([1.0, 2.0]), np.ones(2)) is None


def test_equation_of_one_variable_without_a_float_solution_has_an_upper_end() -> None:
    form = from_ranges(
        sparse.csr_array((2, 2)),
        np.array([1.0, 1.0]),
        sparse.csr_array([[3.0, 0.0], [-1.0, -1.0]]),
        np.array([1.0, -inf]),
        np.array([1.0, -1.0]),
        np.zeros(2),
        np.ones(2),
    )[0]
    x, z = np.array([1 / 3, 2 / 3]), np.array([0.0, 1.0])
    found = form_interval(form, x, z, rational=False)
    assert found.lower <= 1 <= found.upper
    assert found.width <= 1e-9


def test_point_without_an_interior_proves_nothing_false() -> None:
    # x <= 1 and x >= 1 + 2^-40: no margin helps.
    form = from_ranges(
        sparse.csr_array((1, 1)),
        np.ones(1),
        sparse.csr_array([[1.0], [1.0]]),
        np.array([-inf, 1 + 2.0**-40]),
        np.array([1.0, inf]),
        np.array([-5.0]),
        np.array([5.0]),
    )[0]
    assert all(value == inf for value, _ in interior_points(form, np.ones(1)))


def cone_problem(kind: str) -> tuple[cp.Problem, float]:
    """Return a second-order cone program and its optimum, known in closed form."""
    x = cp.Variable(2)
    c, p = np.array([3.0, 4.0]), np.array([6.0, 8.0])
    if kind == "ball":
        return cp.Problem(cp.Minimize(c @ x), [cp.norm(x) <= 1]), -5.0
    if kind == "distance":
        return cp.Problem(cp.Minimize(cp.norm(x - p)), [cp.norm(x) <= 4]), 6.0
    if kind == "equation":
        return cp.Problem(cp.Minimize(cp.norm(x)), [c @ x == 25]), 5.0
    return cp.Problem(cp.Minimize(cp.norm(x) + cp.norm(x - p)), []), 10.0


@pytest.mark.parametrize("kind", ["ball", "distance", "equation", "sum"])
def test_cone_program_has_both_ends_in_floats(kind: str) -> None:
    problem, optimum = cone_problem(kind)
    form = compile_form(problem)[0].tidied()
    found = form_interval(form, *solve_form(form, "CLARABEL", 60.0), rational=False)
    assert found.lower <= optimum <= found.upper
    assert found.width <= 1e-6


def test_sums_of_rows_are_within_their_errors_after_any_cancellation() -> None:
    rng = np.random.default_rng(0)
    for width in (3, 6, 400):
        A = rng.normal(size=(8, width)) * 10.0 ** rng.integers(-25, 25, (8, width))
        A[:, width // 2] = 0
        # The terms cancel up to the last rounding of the sum of the others.
        A = np.hstack([A, -A, rng.normal(size=(8, 1)) * 1e-60])
        v = np.ones(2 * width + 1)
        A[0, -1] = 0
        sums, errors = sum_rows(np.zeros(8), (sparse.csr_array(A), v))
        for i in range(8):
            exact = sum((Fraction(a) for a in A[i]), Fraction(0))
            assert abs(exact - Fraction(sums[i])) <= Fraction(errors[i])
            assert (exact == 0) == (sums[i] == 0)
