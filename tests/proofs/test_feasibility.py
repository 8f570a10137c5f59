"""Irreducible infeasible sets and rays: dependencies, sizes and proofs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations.programs import program_from_arrays
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.feasibility import (
    LinearConstraints,
    find_contradiction,
    find_ray,
    make_irreducible,
)
from equimargin.proofs.feasibility.least_violation import row_sizes, weights_of_least_violation
from equimargin.solvers.exact.program.clock import Clock


def constraints(
    G: list[list[float]],
    h: list[float],
    zero: int = 0,
    lower: float = -np.inf,
    upper: float = np.inf,
) -> LinearConstraints:
    n = len(G[0])
    form = StandardForm(
        sparse.csr_array((n, n)),
        np.zeros(n),
        sparse.csr_array(np.array(G)),
        np.array(h),
        zero,
        len(h) - zero,
        (),
        np.full(n, lower),
        np.full(n, upper),
        0.0,
    )
    return LinearConstraints.from_form(form)


def test_weights_of_two_contradictions_are_reduced_to_one() -> None:
    rows = constraints([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, -1, 0, -1])
    found = make_irreducible(rows, dict.fromkeys(range(4), Fraction(1)), Clock(5))
    assert set(found.weights) in ({0, 1}, {2, 3})
    assert found.excess == 1
    assert found.violation == Fraction(1, 2)


def test_dependent_equations_leave_the_set() -> None:
    rows = constraints([[1, 1], [2, 2], [-1, -1]], [1, 2, -2], zero=2)
    weights = {0: Fraction(-1), 1: Fraction(1), 2: Fraction(1)}
    found = make_irreducible(rows, weights, Clock(5))
    assert set(found.weights) in ({0, 2}, {1, 2})
    assert found.weights[2] > 0


def test_weights_stay_positive_while_they_are_reduced() -> None:
    rows = constraints(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1], [-1, -2, -3]], [0, 0, 0, -1, -1]
    )
    weights = {i: Fraction(w) for i, w in enumerate((2, 3, 4, 1, 1))}
    found = make_irreducible(rows, weights, Clock(5))
    assert set(found.weights) in ({0, 1, 2, 3}, {0, 1, 2, 4})


def test_weights_that_prove_nothing_are_a_fault() -> None:
    rows = constraints([[1, 0], [-1, 0]], [0, 1])
    with pytest.raises(ArithmeticError, match="irreducible"):
        make_irreducible(rows, {0: Fraction(1), 1: Fraction(1)}, Clock(5))


def test_smaller_of_two_sets_is_found() -> None:
    n = 6
    chain = [[float(j == i) - float(j == i + 1) for j in range(n)] for i in range(n - 1)]
    loop = [float(j == n - 1) - float(j == 0) for j in range(n)]
    pair = [[1.0] * n, [-1.0] * n]
    rows = constraints([*chain, loop, *pair], [*[-1.0] * n, 1.0, -1.0 - 2**-6])
    found = find_contradiction(rows, Clock(5))
    assert found is not None
    assert set(found.weights) == {n, n + 1}


def test_bounds_come_after_the_rows() -> None:
    rows = constraints([[1.0, 2.0]], [-3.0], lower=0.0)
    found = find_contradiction(rows, Clock(5))
    assert found is not None
    assert found.weights == {0: 1, 1: 1, 2: 2}
    assert found.points[0] == {0: 0, 1: 0}


def test_feasible_rows_have_no_contradiction() -> None:
    assert find_contradiction(constraints([[1, 1], [-1, 0]], [1, 0]), Clock(5)) is None


def test_ray_with_few_entries_is_preferred() -> None:
    G = [[-1, 0, 0, 0], [0, 1, -3, 0], [0, -1, 3, 0]]
    program = program_from_arrays(q=[-1, -1, 0, 0], G=G, h=[0, 0, 0])
    found = find_ray(program, Clock(5))
    assert found is not None
    assert [v != 0 for v in found.ray] == [True, False, False, False]
    assert program.is_recession_ray(found.ray)
    assert program.is_feasible(found.x)


def test_ray_that_no_simple_fractions_denote_is_exact() -> None:
    a = 0.1234567
    program = program_from_arrays(q=[-1, 0], A=[[a, -1]], b=[0.5])
    found = find_ray(program, Clock(5))
    assert found is not None
    assert found.ray[1] == Fraction(a) * found.ray[0]


def test_bounded_objective_has_no_ray() -> None:
    program = program_from_arrays(q=[-1, 0], G=[[1, 0]], h=[1])
    assert find_ray(program, Clock(5)) is None
    assert find_ray(program_from_arrays(q=[0, 0], G=[[1, 0]], h=[1]), Clock(5)) is None


def test_bounds_pay_for_the_rounding_of_a_contradiction() -> None:
    G = [[0.1, 0.7, 0.0], [0.2, -0.4, 0.3], [-(0.1 + 0.2), -(0.7 - 0.4), -0.3]]
    rows = constraints(G, [1.0, 1.0, -2.5], lower=-100.0, upper=100.0)
    assert Fraction(0.1) + Fraction(0.2) != Fraction(0.1 + 0.2)
    found = find_contradiction(rows, Clock(5))
    assert found is not None
    assert {0, 1, 2} < set(found.weights)
    assert not found.unfinished


def test_row_without_entries_has_the_size_one() -> None:
    assert row_sizes(sparse.csr_array([[0.0, 0.0], [3.0, 0.0], [0.1, -0.5]])).tolist() == [1, 4, 1]


def test_least_violation_has_the_weights_of_a_contradiction() -> None:
    rng = np.random.default_rng(0)
    A = rng.integers(-4, 5, (60, 30)) * (rng.random((60, 30)) < 0.2)
    h = A @ rng.random(30) + rng.random(60)
    total = -A[:5].sum(axis=0), -h[:5].sum() - 1
    rows = constraints([*A.tolist(), total[0].tolist()], [*h, total[1]], lower=0.0, upper=1.0)
    w = weights_of_least_violation(rows, Clock(5))
    assert w is not None
    assert set(np.flatnonzero(w > 1e-3 * w.max())) == {0, 1, 2, 3, 4, 60}
    np.testing.assert_allclose(w[:5], w[60], rtol=1e-3)
    feasible = constraints(A.tolist(), h.tolist(), lower=0.0, upper=1.0)
    assert weights_of_least_violation(feasible, Clock(5)) is None
