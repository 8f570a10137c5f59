"""Given Gram matrices: what is claimed before and after they are proven semidefinite."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin import compare
from equimargin.estimators import MarginClassifier
from equimargin.formulations import (
    Interval,
    Point,
    classification,
    declare,
    interval,
    precomputed,
    rbf,
)
from equimargin.formulations.bounds.intervals import prepare_intervals
from equimargin.formulations.bounds.stability import stability
from equimargin.formulations.kernels import given_matrix
from equimargin.formulations.kernels.given_matrix import (
    UnprovenShift,
    asymmetry,
    find_shift,
    scan,
)
from equimargin.formulations.numeric.jit import compile_eagerly
from equimargin.formulations.problem import limits
from equimargin.proofs import Verdict, certificate
from equimargin.solvers import Solution, Status, exact_optimum, regularization_path, solve
from equimargin.solvers.batches.cost_grid import solve_grid
from equimargin.solvers.batches.one_vs_one import one_vs_one
from equimargin.solvers.exact.sensitivity import Cost, exact_sensitivity
from narrow import present

M = 300
RNG = np.random.default_rng(0)
Q = np.linalg.qr(RNG.normal(size=(M, M)))[0]
POINTS = RNG.normal(size=(M, 3))
SIGNS = np.where(POINTS[:, 0] + 0.5 * RNG.normal(size=M) > 0, 1.0, -1.0)
LINEAR = np.round(10 * POINTS) @ np.round(10 * POINTS).T / 100
"""Singular: it needs a shift."""
RBF = rbf(1.0).block(POINTS, POINTS)
RBF = (RBF + RBF.T) / 2


def with_least_eigenvalue(least: float, scale: float) -> np.ndarray:
    """Return a matrix with one eigenvalue `least`, of Q's last column, and others in [.1, 1]."""
    values = scale * np.linspace(1.0, 0.1, M)
    values[-1] = least
    K = (Q * values) @ Q.T
    return np.asarray((K + K.T) / 2)


def forbid_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    def prove(K: Any) -> None:
        raise AssertionError("the matrix is proven")

    monkeypatch.setattr(given_matrix, "proven_shift", prove)


def given_problem(K: np.ndarray, C: float = 1.0) -> Any:
    return classification(K, SIGNS, C, precomputed())


@pytest.mark.parametrize(
    ("least", "scale", "is_proven"),
    [
        (-1e-13, 1.0, True),
        (-1e-9, 1.0, True),
        (-1e-6, 1.0, False),
        (-1e-13, 1e-3, True),
        (-1e-9, 1e-3, False),
    ],
)
def test_matrix_indefinite_by_a_hair_claims_nothing_false(
    least: float, scale: float, is_proven: bool, tmp_path: Path
) -> None:
    """A bound is finite only with a shift that makes the quadratic form at least 0."""
    K = with_least_eigenvalue(least, scale)
    problem = given_problem(K)
    found = solve(problem, tol=1e-6)
    v = [Fraction(x) for x in Q[:, -1]]
    exact = [sum((Fraction(a) * b for a, b in zip(row, v, strict=True)), Fraction(0)) for row in K]
    form = sum((a * b for a, b in zip(v, exact, strict=True)), Fraction(0))
    assert form < 0
    # The gap is one of float64, whatever K is.
    assert found.relative_gap <= 1e-6
    bounds = (found.lower, found.upper)
    claims = [
        bounds,
        (interval(problem, found.point).lower, interval(problem, found.point).upper),
        MarginClassifier(1.0, kernel="precomputed", tol=1e-6).fit(K, SIGNS).objective_bounds_,
    ]
    shift = problem.proven.shift
    assert problem.convex == (shift is not None) == is_proven
    if is_proven:
        assert form + Fraction(shift) * sum(x * x for x in v) >= 0
        assert found.interval == interval(problem.proven, found.point)
        assert found.interval.relative_width <= 1.1e-6
        assert solve(problem.proven, tol=1e-12).interval.intersected(found.interval).lower <= min(
            upper for _, upper in claims
        )
        return
    assert claims == [(-inf, inf)] * 3
    assert stability(problem, found.point).radius == inf
    assert problem.undeclarable is not None
    with pytest.raises(ValueError, match="not positive semidefinite"):
        declare("svm.soft.primal", problem)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        certificate(found)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        regularization_path(problem)
    (family,) = compare(problem, solvers=["smo"]).families
    assert family.verdict is Verdict.UNDECIDED
    found.save(tmp_path / "solution.npz")
    assert Solution.load(tmp_path / "solution.npz").upper == inf


def test_visibly_indefinite_matrix_is_refused_without_a_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forbid_proofs(monkeypatch)
    for K in (with_least_eigenvalue(-1.0, 1.0) - 0.2 * np.eye(M), LINEAR - 1e-3 * np.eye(M)):
        problem = given_problem(K)
        assert problem.shift is None
        assert not problem.has_gap
        assert solve(problem, "smo").status is not Status.OPTIMAL
        with pytest.raises(ValueError, match="not positive semidefinite"):
            regularization_path(problem)


def test_solve_and_fit_need_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        forbid_proofs(patched)
        problem = given_problem(RBF)
        found = solve(problem, tol=1e-6)
        grid = solve_grid(problem, [0.1, 1.0], tol=1e-6)
        model = MarginClassifier(1.0, kernel="precomputed", tol=1e-6).fit(RBF, SIGNS)
        assert found.ok
        assert all(solution.relative_gap <= 1e-6 for solution in grid)
        assert model.duality_gap_ <= 1e-6
        assert isinstance(problem.shift, UnprovenShift)
        with pytest.raises(AssertionError, match="the matrix is proven"):
            assert found.lower
    assert found.interval.relative_width <= 1.1e-6
    lower, upper = model.objective_bounds_
    assert max(lower, found.lower) <= min(upper, found.upper)
    direct = solve(classification(POINTS, SIGNS, 1.0, rbf(1.0)), tol=1e-9)
    assert max(direct.lower, found.lower) <= min(direct.upper, found.upper) * (1 + 1e-9)


@pytest.mark.parametrize("cost", [1.0, 2e3, inf])
def test_singular_matrix_keeps_its_width_at_any_cost(cost: float) -> None:
    """At a large cost the shift changes f, and is proven before the run."""
    signs = np.sign(np.round(10 * POINTS) @ [1.0, 0.3, 0.1] + 1e-3) if cost == inf else SIGNS
    problem = classification(LINEAR, signs, cost, precomputed())
    found = solve(problem, tol=1e-6)
    assert isinstance(found.problem.shift, UnprovenShift) == (cost == 1.0)
    assert found.problem.proven.gram.shift > 0
    assert found.ok
    assert found.interval.relative_width <= 1.1e-6


def test_problems_of_one_matrix_share_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, prove = list[int](), given_matrix.proven_shift

    def counted(K: Any) -> float | None:
        calls.append(len(K))
        return prove(K)

    monkeypatch.setattr(given_matrix, "proven_shift", counted)
    solutions = one_vs_one(LINEAR, np.arange(M) % 3, 0.1, precomputed(), tol=1e-4)
    assert not calls
    assert all(np.isfinite([solution.lower, solution.upper]).all() for solution in solutions)
    assert replace(solutions[0].problem, C=0.2).proven.gram.shift > 0
    assert calls == [M]


def test_declaration_too_large_is_refused_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_DECLARED_POINTS", M - 1)
    forbid_proofs(monkeypatch)
    assert present(given_problem(RBF).undeclarable).too_large


def test_file_has_the_proven_shift(tmp_path: Path) -> None:
    found = solve(given_problem(LINEAR, 0.1), tol=1e-6)
    found.save(tmp_path / "solution.npz")
    again = Solution.load(tmp_path / "solution.npz")
    assert again.problem.shift == found.problem.proven.shift
    assert (again.lower, again.upper) == (found.lower, found.upper)


def test_matrix_of_zeros_needs_no_shift() -> None:
    assert given_problem(np.zeros((M, M))).proven.shift == 0.0


def test_matrix_is_copied_only_for_a_shift() -> None:
    problem = given_problem(RBF)
    assert problem.gram.dense is problem.X
    before, shifted = LINEAR.copy(), given_problem(LINEAR).proven.gram
    assert np.array_equal(shifted.dense, LINEAR + shifted.shift * np.eye(M))
    assert np.array_equal(LINEAR, before)


@given(st.integers(2, 200), st.integers(0, 2**32 - 1), st.sampled_from(["none", "last", "any"]))
def test_asymmetry_is_the_largest_difference(m: int, seed: int, changed: str) -> None:
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m, m))
    K += K.T
    if changed != "none":
        K[m - 1 if changed == "last" else rng.integers(m), rng.integers(m - 1)] += rng.normal()
    assert asymmetry(K) == np.abs(K - K.T).max()
    with compile_eagerly():
        assert asymmetry(K) == np.abs(K - K.T).max()
    assert (find_shift(K) is None) or np.linalg.eigvalsh((K + K.T) / 2)[0] > -1e-6 * m


@given(st.integers(1, 200), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, nan, inf]))
@example(m=100, seed=0, by=1.0)
@np.errstate(invalid="ignore")
def test_scan_finds_the_sum_of_squares_and_every_difference(m: int, seed: int, by: float) -> None:
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(m, m))
    K += K.T
    K[rng.integers(m), rng.integers(m)] += by
    interpreted = scan(K)
    with compile_eagerly():
        compiled = scan(K)
    for square, difference in (interpreted, compiled):
        assert square == pytest.approx((K**2).sum(), nan_ok=True)
        if np.isfinite(by):
            assert difference == pytest.approx(np.abs(K - K.T).sum())


@pytest.mark.parametrize("kernel", [precomputed(), "precomputed"])
@pytest.mark.parametrize("m", [2, 40])
def test_a_matrix_that_is_not_symmetric_is_refused(kernel: Any, m: int) -> None:
    K = np.eye(m)
    K[-1, 0] = 1e-300
    with pytest.raises(ValueError, match=r"not symmetric \(largest difference 1e-300\)"):
        classification(K, np.resize([1, -1], m), kernel=kernel)


@pytest.mark.parametrize("m", [6, 200])
@pytest.mark.parametrize(("diagonal", "entry"), [(1e-300, 1e160), (1e-4, 1e160), (1.0, -1e307)])
def test_a_factorisation_that_overflows_proves_nothing(
    m: int, diagonal: float, entry: float
) -> None:
    """The quadratic form at e_0 - e_5 is 2 (diagonal - |entry|)."""
    K = diagonal * np.eye(m)
    K[0, 5] = K[5, 0] = entry
    assert given_matrix.proven_shift(K) is None
    problem = classification(K, np.resize([1, -1], m), 1.0, precomputed())
    assert not problem.convex
    assert interval(problem, Point(alpha=np.zeros(m))) == Interval(-inf, inf, problem.scale)


@pytest.mark.parametrize("change", [lambda K: K * 0.25, lambda K: K + 1e-5 * np.eye(len(K))])
@pytest.mark.parametrize("labels", [2, 3])
def test_bounds_of_an_estimator_are_of_the_matrix_of_its_fit(change: Any, labels: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    K, y = X @ X.T, rng.integers(0, labels, 150)
    due = MarginClassifier(kernel="precomputed").fit(K.copy(), y).objective_bounds_
    estimator = MarginClassifier(kernel="precomputed").fit(K, y)
    K[:] = change(K)
    assert estimator.objective_bounds_ == due


def test_derivatives_and_errors_are_of_the_proven_matrix() -> None:
    """A matrix of rank 1 above the size that is proven at once needs a shift."""
    x = np.random.default_rng(3).integers(-3, 4, (140, 1)).astype(float)
    y = np.where(x[:, 0] > 0, 1, -1)
    y[:9] *= -1
    problem = classification(x @ x.T, y, 0.125, precomputed())
    assert isinstance(problem.shift, given_matrix.UnprovenShift)
    proven = problem.proven
    assert isinstance(proven.shift, float)
    assert proven.shift > 0
    optimum = exact_optimum(problem)
    found = exact_sensitivity(problem, Cost(), optimum=optimum)
    assert found.value == exact_sensitivity(proven, Cost()).value


def test_intervals_of_no_vector_are_prepared() -> None:
    problem = classification(np.eye(3), [1, -1, 1], 1.0, precomputed())
    prepare_intervals(problem)
    prepare_intervals(problem, Point())
