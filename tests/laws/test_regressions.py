"""Failures of nightly runs, each as its smallest case."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations import (
    classification,
    declare,
    one_norm_ranking,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.kernels.gram import TILE_ROWS
from equimargin.formulations.kernels.kernel import RBF
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.referee import extract_ray
from equimargin.solvers import Answer, Status, solve, solve_declaration
from equimargin.solvers.backends.solve import BackendResult


def test_an_rbf_kernel_far_from_the_origin_is_told_from_its_expansion() -> None:
    """At gamma |x|^2 of 1e13 no digit of |x - z|^2 was left."""
    rng = np.random.default_rng(0)
    X, y = 1e6 * rng.integers(-3, 4, size=(30, 3)), rng.choice([-1.0, 1.0], size=30)
    assert solve(classification(X, y, 1.0, rbf(2.0))).interval.relative_width <= 1e-6


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4, 1e7])
def test_the_bound_on_an_rbf_entry_holds_at_any_distance(scale: float) -> None:
    """The points are close to each other and far from the origin; the exponent is exact."""
    X = scale + np.random.default_rng(0).normal(size=(6, 2)).round(3)
    kernel = RBF(gamma=0.7)
    K = kernel.block(X, X)
    exact = np.array([[_exponential(kernel.gamma, a, b) for b in X] for a in X])
    assert (np.abs(K - exact).sum(axis=1) <= kernel.rounding(X, X, K, np.ones(6))).all()
    assert (K == K.T).all()


def _exponential(gamma: float, a: Any, b: Any) -> float:
    square = sum((Fraction(float(x)) - Fraction(float(z))) ** 2 for x, z in zip(a, b, strict=True))
    return float(np.exp(-float(Fraction(gamma) * square)))


def test_tiles_of_a_far_gram_matrix_are_rows_of_it() -> None:
    X = 1e3 * np.random.default_rng(0).normal(size=(TILE_ROWS + 5, 2))
    gram = classification(X, np.ones(len(X)), kernel=rbf(1.0)).gram
    index = np.array([0, 7, TILE_ROWS])
    assert gram.rows(index) == pytest.approx(gram.dense[index], abs=1e-12)


@pytest.mark.parametrize("kernel", [rbf(1.0), polynomial(3, 1.0, 1.0)], ids=["rbf", "polynomial"])
def test_contradicting_duplicates_cancel_before_they_are_rounded(kernel: Any) -> None:
    """At a cost of 1e6 multipliers are as large, and the error of K used up the width."""
    X = np.repeat([[2.0, 3.0], [-1.0, 2.5]], 2, axis=0)
    problem = regression(X, [1.0, 3.0, -1.0, 2.0], 1e6, 0.1, kernel, "squared_hinge")
    assert solve(problem, tol=1e-8).interval.relative_width <= 1e-10


def test_equal_points_share_their_coefficients() -> None:
    gram = classification([[1.0], [2.0], [1.0], [2.0]], [1, 1, -1, -1], kernel=rbf()).gram
    assert gram.merged(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [4.0, 6.0, 0.0, 0.0]
    thin = classification(sparse.csr_array([[1.0], [1.0]]), [1, -1], kernel=rbf()).gram
    assert thin.merged(np.array([1.0, 2.0])).tolist() == [3.0, 0.0]
    # A zero and a sum are among them.
    stored = sparse.csr_array(
        ([3.0, -0.0, 1.0, 2.0, 3.0], [1, 0, 1, 1, 0], [0, 2, 4, 5, 5]), shape=(4, 2)
    )
    thin = classification(stored, [1, -1, 1, -1], kernel=rbf()).gram
    assert thin.merged(np.array([1.0, 2.0, 4.0, 8.0])).tolist() == [3.0, 0.0, 4.0, 8.0]


def test_a_hard_tube_is_met_beside_large_coefficients_that_cancel() -> None:
    """Twice the least step to the interior was less than the rounding of the blend."""
    y = np.array([5e-7, *(1e-6 * np.random.default_rng(0).integers(-2, 3, size=20))])
    problem = regression(
        np.zeros((21, 1)),
        y,
        1.0,
        1e-7,
        polynomial(3, 0.1, 1.0),
        sample_weight=[np.inf] + 20 * [1.0],
    )
    assert solve(problem, tol=1e-8).interval.relative_width <= 1e-6


def ray(P: float, x: float) -> Answer:
    """Return an unbounded result of min 1/2 P x^2 - x, with the ray x."""
    nothing, free = np.zeros(0), np.full(1, np.inf)
    form = StandardForm(
        sparse.csr_array([[P]]),
        -np.ones(1),
        sparse.csr_array((0, 1)),
        nothing,
        0,
        0,
        (),
        -free,
        free,
        0.0,
    )
    declaration = declare("svm.soft.dual", classification([[0.0], [1.0]], [1, -1]))
    return Answer(
        declaration, "backend", Status.UNBOUNDED, "", BackendResult(form, primal_ray=np.array([x]))
    )


def test_a_ray_with_a_little_curvature_goes_as_far_as_the_optimum() -> None:
    """The minimum of 1/2 1e-8 x^2 - x is -5e7.

    The point is a ray to any tolerance above 1e-8, and proves nothing beyond.
    """
    curved, straight = extract_ray(ray(1e-8, 2.0)), extract_ray(ray(0.0, 2.0))
    assert curved is not None
    assert straight is not None
    assert curved.proves
    assert curved.reach == pytest.approx(5e7)
    assert straight.reach == np.inf


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("build", [ranking_vector_machine, one_norm_ranking])
def test_prices_of_a_linear_program_cancel_and_are_proven_all_the_same(
    build: Any, seed: int
) -> None:
    """At C K of 5e7 no float64 multipliers satisfied B'u <= 1 to 1e-6.

    Dividing them by their price lowered the lower bound as much.
    """
    rng = np.random.default_rng(seed)
    X, y = 4 * rng.normal(size=(25, 2)).round(2), rng.integers(0, 3, 25).astype(float)
    kernel = polynomial(3, 0.1, 0.0)
    problem = build(X, y, None, 5e7 / kernel.diagonal(X).mean(), kernel)
    found = solve(problem, tol=1e-8)
    assert found.ok
    assert found.interval.relative_width <= 1e-9


def test_a_gap_that_cancels_is_computed_once_more() -> None:
    """With K of 6e19 the solver reached 1e-6 by its own product only."""
    problem = regression(
        [[2000.0], [0.0], [1000.0]], [0.0, 0.0, 1.0], 1.0, 0.1, polynomial(3, 1.0, 1.0)
    )
    found = solve(problem, "smo", tol=1e-6)
    assert found.status is Status.NUMERICAL_FAILURE or found.relative_gap <= 1e-6


def test_a_ray_of_cancelling_points_stays_a_ray_when_it_is_scaled() -> None:
    """Rounded multiples of a ray no longer cancelled at points given twice.

    The lower bound of an infeasible problem was -1e32.
    """
    rng = np.random.default_rng(0)
    for _ in range(300):
        m = int(rng.integers(3, 10))
        x, y = rng.integers(0, 5, m) / 4, rng.choice([-1.0, 1.0], m)
        found = solve(classification(x[:, None], y, np.inf), "smo", tol=1e-9)
        below, above = x[y < 0].max(initial=-np.inf), x[y > 0].min(initial=np.inf)
        separable = below < above or x[y < 0].min(initial=np.inf) > x[y > 0].max(initial=-np.inf)
        assert np.isfinite(found.upper) if separable else found.lower > 1e8


def test_what_computed_features_leave_out_of_a_kernel_is_not_left_out_of_f() -> None:
    """In features cut at 1e-12 of the largest eigenvalue the value was 1.2e-6 too high.

    The points are within 1e-2 under an RBF kernel, at C of 1e6.
    """
    u = 0.00153
    X = u * np.array(
        [
            [-3, 3, 2],
            [-1, 3, 3],
            [-1, -2, -1],
            [-1, -2, 1],
            [-3, 3, -1],
            [0, 2, -3],
            [-1, -3, -3],
            [-2, 0, -2],
            [1, -1, 1],
            [3, 3, 1],
            [1, -2, -2],
            [0, 1, -1],
            [3, 0, 3],
            [3, -1, -3],
            [-1, -2, 3],
            [2, 3, -3],
        ]
    )
    y, query = (
        [0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 2, 2, 2, 0, 1, 2],
        [3, 0, 2, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 2, 0, 0],
    )
    assert solve(ranking(X, y, query, 1e6, rbf(2.0), "squared_hinge"), "newton", tol=1e-8).ok


def test_clarabel_takes_shorter_steps_where_it_makes_no_progress() -> None:
    """Clarabel stopped at a gap of 3e-3, whatever its tolerance was.

    The problem has a weight of zero, equal points and a sum-to-zero constraint.
    """
    X = np.zeros((8, 9))
    X[1, [3, 7]], X[3, 4], X[4, [3, 4, 7]] = (-3.916, 2.091), -2.911, (-1.955, -2.174, -0.57)
    X[5, [4, 5]], X[6, [7, 8]] = (1.633, 0.365), (0.74, 1.489)
    y, weights = [-1, 1, -1, 1, 1, -1, 1, 1], [1, 1, 0, 1, 1, 1, 1, 0.5]
    problem = classification(X, y, 1.0, loss="squared_hinge", sample_weight=weights)
    answer = solve_declaration(declare("svm.l2.dual", problem))
    assert answer.status is Status.OPTIMAL
    assert answer.value == pytest.approx(solve(problem, tol=1e-10).value, rel=1e-7)


def test_a_gap_that_is_rounding_is_no_accuracy() -> None:
    """K of 8e17 left dual values of 49 above primal ones of 7; the gap counted as 0."""
    X, y = [[0.0]] * 5 + [[30000.0], [20000.0]], [1, 1, 1, -1, 1, 1, -1]
    problem = classification(X, y, 1.0, polynomial(2, 1.0, 0.0), "squared_hinge", bias=False)
    found = solve(problem, "tron", tol=1e-6)
    assert found.upper - found.lower > 1
    assert found.status is not Status.OPTIMAL
