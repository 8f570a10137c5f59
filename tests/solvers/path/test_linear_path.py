"""Paths of one-norm programs: the optimum of HiGHS at every piece, and a gap of 1e-9.

x is constant, u is affine in lambda.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import flint
import numpy as np
import pytest
from scipy.optimize import linprog

from equimargin.formulations import (
    OneNormPoint,
    OneNormProblem,
    linear,
    one_norm_classification,
    one_norm_ranking,
    one_norm_ranking_from_pairs,
    polynomial,
    precomputed,
    ranking_vector_machine,
    rbf,
)
from equimargin.solvers import OneNormPath, RegularizationPath, regularization_path
from equimargin.solvers.path.linear.factor import (
    add_column,
    add_row,
    drop_column,
    drop_row,
    empty,
    solved,
)
from equimargin.solvers.path.linear.near import AffineRows, first, least, misplaced, unlisted
from narrow import as_a, present

PIECES_COMPARED = 25
"""Maximum number of pieces of an instance, spread evenly, to compare with HiGHS.

HiGHS solves both ends and the middle of each.
"""


def instance(seed: int) -> OneNormProblem:
    """Return a small program of one of the four kinds.

    Points are in general position, or on a grid with many ties and equal points. A
    third of the programs have weights, some of them 0.
    """
    rng = np.random.default_rng([seed, 17])
    n = int(rng.integers(3, 12))
    X = rng.normal(size=(n, 2)) if seed % 3 else rng.integers(-1, 2, (n, 2)).astype(float)
    kernel = (linear(), rbf(0.7), polynomial(2, 0.5, 1.0))[int(rng.integers(3))]
    y = rng.integers(0, 3, n).astype(float)
    make = (ranking_vector_machine, one_norm_ranking)[seed % 2]
    weights = rng.choice([0.0, 0.3, 1.0, 2.0], 4 * n) if seed % 3 == 1 else np.ones(4 * n)
    if seed % 4 < 2:
        if seed % 3 != 1:
            return make(X, y, kernel=kernel)
        pairs = rng.integers(0, n, size=(4 * n, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        over: Literal["points", "pairs"] = "pairs" if seed % 2 else "points"
        return one_norm_ranking_from_pairs(X, pairs, 1.0, kernel, over, weights[: len(pairs)])
    signs = np.where(y > 0, 1.0, -1.0)
    return one_norm_classification(X, signs, 1.0, kernel, seed % 4 == 2, weights[:n])


def matrix(problem: OneNormProblem) -> np.ndarray:
    """Return B and, with a bias, the column s, from the definitions."""
    A, K = problem.rows.matrix.toarray(), problem.gram.dense
    B = A @ K if problem.over == "points" else A @ K @ A.T
    return np.column_stack([B, problem.rows.s]) if problem.bias else B


def optimum(problem: OneNormProblem, lam: float) -> float:
    """Return min lambda 1'x + w'xi by HiGHS."""
    M, n, p = matrix(problem), problem.size, problem.p
    free = [(None, None)] * (M.shape[1] - n)
    w = np.ones(p) if problem.weights is None else problem.weights
    costs = np.concatenate([np.full(n, lam), np.zeros(len(free)), w])
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    bounds = [*[(0, None)] * n, *free, *[(0, None)] * p]
    found = linprog(
        costs,
        -np.hstack([M, np.eye(p)]),
        -np.ones(p),
        bounds=bounds,
        method="highs-ds",
        options=options,
    )
    return float(found.fun)


def point(path: OneNormPath, lam: float) -> OneNormPoint:
    return as_a(OneNormPoint, path.at(lam).point)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_every_piece_is_optimal(seed: int) -> None:
    problem = instance(seed)
    path = regularization_path(problem)
    assert path.complete, path.stopped
    if not problem.unit_weights.any():
        assert len(path) == 0
        return
    assert path.gaps.max() <= 1e-9
    assert (np.diff(path.lambdas) < 0).all()
    ends = np.concatenate([[2 * path.lambdas[0]], path.lambdas])
    for t in np.unique(np.linspace(0, len(path) - 1, PIECES_COMPARED).astype(int)):
        for lam in (ends[t] * (1 - 1e-9), (ends[t] + ends[t + 1]) / 2, ends[t + 1]):
            solution = path.at(float(lam))
            wanted = optimum(problem, float(lam))
            assert solution.value * lam == pytest.approx(wanted, rel=2e-9, abs=1e-12)
            assert solution.ok, (lam, solution.reason)
            assert solution.lower * lam <= wanted * (1 + 1e-9) + 1e-12


def test_x_is_constant_on_a_piece_and_u_is_affine() -> None:
    problem = one_norm_ranking(
        np.random.default_rng(3).normal(size=(9, 2)), np.arange(9.0), kernel=rbf(0.5)
    )
    path = regularization_path(problem)
    for t in range(1, len(path)):
        high, low = path.lambdas[t - 1] * (1 - 1e-12), path.lambdas[t]
        lams = (high, (high + low) / 2, low)
        first, middle, last = (point(path, float(lam)) for lam in lams)
        np.testing.assert_array_equal(present(first.x), present(last.x))
        ends = (present(first.u) * lams[0] + present(last.u) * lams[2]) / 2
        np.testing.assert_allclose(present(middle.u) * lams[1], ends, atol=1e-12)
    every = [present(point(path, lam).x) for lam in path.lambdas.tolist()]
    jumps = [np.abs(before - after).max() for before, after in pairwise(every)]
    assert max(jumps) > 0.01, "x does not jump anywhere"


def test_weights_that_are_all_equal_scale_lambda() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(15, 2)), np.where(rng.normal(size=15) > 0, 1.0, -1.0)
    plain, tripled = (
        regularization_path(one_norm_classification(X, y, sample_weight=np.full(15, weight)))
        for weight in (1.0, 3.0)
    )
    shared = len(plain) - 1
    np.testing.assert_allclose(tripled.lambdas[:shared], 3 * plain.lambdas[:shared], rtol=1e-12)
    first, second = point(tripled, 0.3), point(plain, 0.1)
    np.testing.assert_allclose(present(first.x), present(second.x), atol=1e-12)
    np.testing.assert_allclose(present(first.u), present(second.u), atol=1e-10)


def test_a_weight_of_2_is_a_pair_twice_and_one_of_0_no_pair() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    pairs = [[0, 1], [2, 1], [3, 4], [5, 0], [6, 7]]
    weighted = regularization_path(
        one_norm_ranking_from_pairs(X, pairs, 1.0, rbf(1.0), pair_weight=[1, 2, 1, 0, 2]), 1e-3
    )
    repeated = regularization_path(
        one_norm_ranking_from_pairs(X, [*pairs[:2], *pairs[1:3], *[pairs[4]] * 2], 1.0, rbf(1.0)),
        1e-3,
    )
    for lam in np.geomspace(1e-3, 3.0, 40):
        first, second = (path.at(float(lam)).value * lam for path in (weighted, repeated))
        assert first == pytest.approx(second, rel=1e-9)


def test_rows_of_weight_0_have_no_path() -> None:
    path = regularization_path(
        one_norm_classification([[0.0], [1.0]], [-1, 1], sample_weight=[0, 0])
    )
    assert (len(path), path.complete) == (0, True)


@pytest.mark.parametrize("lightest", [1e-6, 1e-3])
def test_weights_of_many_sizes_leave_every_piece_optimal(lightest: float) -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(25, 2)), np.where(rng.normal(size=25) > 0, 1.0, -1.0)
    weights = lightest ** rng.uniform(size=25)
    problem = one_norm_classification(X, y, 1.0, rbf(0.5), True, weights)
    path = regularization_path(problem, 1e-4 * lightest)
    assert path.complete, path.stopped
    assert path.gaps.max() <= 1e-9
    for lam in np.geomspace(1e-3 * lightest, path.lambdas[0], 30):
        wanted = optimum(problem, float(lam))
        assert path.at(float(lam)).value * lam == pytest.approx(wanted, rel=1e-8)


def test_the_path_of_two_points_is_the_one_by_hand() -> None:
    """The point 2 preferred to the point 1: B = (2, 1), x = (1/2, 0) below lambda = 2.

    Above it x = 0.
    """
    path = regularization_path(ranking_vector_machine([[2.0], [1.0]], [1, 0]), 0.0)
    assert path.lambdas.tolist() == [2.0, 0.0]
    np.testing.assert_allclose(present(point(path, 1.9).x), np.array([0.5, 0.0]))
    np.testing.assert_array_equal(present(point(path, 2.1).x), np.zeros(2))
    assert path.stopped == "lambda = 0 was reached"


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5, 1e10])
def test_points_far_from_0_have_the_same_path_down_to_any_lambda(scale: float) -> None:
    """K and all lambdas grow by the square of the scale.

    Near 0 float64 has no gap to tell, which says nothing against the path.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + rng.normal(size=30) / 2 > 0, 1.0, -1.0)
    path, small = (
        regularization_path(one_norm_classification(factor * X, y), 1e-4) for factor in (scale, 1.0)
    )
    assert path.stopped == "lambda_min was reached"
    np.testing.assert_allclose(path.lambdas[:-1], scale**2 * small.lambdas[:-1], rtol=1e-9)


def test_columns_of_nothing_but_rounding_are_no_columns() -> None:
    """Two equal points have kernel values that differ by a rounding.

    x = 0 is the solution at every lambda.
    """
    K = np.array([[3.0 + 2.0**-51, 3.0], [3.0, 3.0]])
    path = regularization_path(ranking_vector_machine(K, [1, 0], kernel=precomputed()), 0.0)
    assert path.stopped == "lambda = 0 was reached"
    assert (len(path), present(point(path, 1e-3).x).max()) == (1, 0.0)


def test_the_last_piece_is_optimal_far_below_its_upper_end() -> None:
    """Kernel values of 4e-11 decide here which rows have slack.

    The optimum falls with lambda.
    """
    X = np.arange(12.0)[:, None] * [1.0, 2.0, 1.0]
    y = np.isin(np.arange(12), [2, 3, 6, 7, 8, 10])
    problem = ranking_vector_machine(
        X, y.astype(float), [0, 0, 0, 0, 1, 2, 1, 2, 2, 0, 2, 1], kernel=rbf(1.0)
    )
    path = regularization_path(problem, 0.0)
    lam = float(path.lambdas[-2]) * 1e-3
    assert path.at(lam).value * lam == pytest.approx(optimum(problem, lam), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_looks_at_those_near_their_ends_see_what_looks_at_all_see(seed: int) -> None:
    """First satisfied rows, least rests and misplaced rows match sums over all rows.

    The function takes a random walk.
    """
    rng = np.random.default_rng(seed)
    m, p = 30, 400
    i, j, sign = rng.integers(0, m, p), rng.integers(0, m + 1, p), rng.choice([-1.0, 1.0], p)
    s, w = rng.choice([-1.0, 0.0, 1.0], p), rng.exponential(size=p)
    h = np.append(np.append(rng.normal(size=m), 0.0), 0.3)

    def rise(f: np.ndarray) -> np.ndarray:
        return np.asarray(sign * (f[i] - f[j]) + s * f[-1])

    way = np.where(rise(h) < 1.0, 1.0, -1.0)
    near = unlisted(AffineRows(i, j, sign, s), np.ones(p), way, m, 1e-9)
    for size in 10.0 ** rng.uniform(-4, 0.5, 200):
        to = np.append(np.append(size * rng.normal(size=m), 0.0), size * rng.normal())
        speed, left = way * rise(to), np.maximum(way * (1.0 - rise(h)), 0.0)
        steps = np.where(speed > 1e-11, left / np.where(speed > 1e-11, speed, 1.0), np.inf)
        step, row = first(near, h, to, 1e-11, np.inf)
        assert step == pytest.approx(steps.min(), abs=1e-13)
        assert steps[row] == pytest.approx(step, abs=1e-13)
        assert first(near, h, to, 1e-11, step / 2) == (step / 2, -1)
        h = h + step * to
        way[row] = -way[row]
        lacks = 1.0 - rise(h)
        assert misplaced(near, w, h) == pytest.approx(
            w @ np.where(way > 0, np.maximum(-lacks, 0), np.maximum(lacks, 0)), abs=1e-12
        )
        positive = unlisted(near.lines, rise(h) + rng.exponential(size=p), np.ones(p), m, 1e-9)
        assert least(positive, h) == pytest.approx(
            min(0.0, float((positive.base - rise(h)).min())), abs=1e-13
        )


def test_it_ends_where_it_is_told_and_says_so() -> None:
    problem = one_norm_ranking(
        np.random.default_rng(5).normal(size=(12, 2)), np.arange(12.0), kernel=rbf(0.5)
    )
    few = regularization_path(problem, max_events=5)
    assert (len(few), few.complete, few.stopped) == (
        5,
        False,
        "the limit of events ended the path early",
    )
    late = regularization_path(problem, time_limit=1e-9)
    assert (late.complete, late.stopped) == (False, "the time limit ended the path early")
    seen: list[int] = []

    def stop(pieces: int, lam: float, gap: float) -> bool:
        seen.append(pieces)
        return True

    told = regularization_path(problem, callback=stop)
    assert (len(seen), told.stopped) == (1, "the callback ended the path early")
    with pytest.raises(ValueError, match="the path ends at lambda = "):
        few.at(1e-5)
    assert len(regularization_path(one_norm_ranking([[1.0], [2.0]], [1, 1]))) == 0


def test_a_saved_path_is_the_same(tmp_path: Path) -> None:
    X = np.random.default_rng(5).normal(size=(12, 2))
    problem = one_norm_classification(X, np.where(X[:, 0] > 0.2, 1.0, -1.0), kernel=rbf(0.5))
    path = regularization_path(problem, 1e-3)
    path.save(tmp_path / "path.npz")
    again = OneNormPath.load(tmp_path / "path.npz")
    lams = np.geomspace(2 * path.lambdas[0], path.lambdas[-1], 9)
    np.testing.assert_allclose(
        path.decision_function(X, lams), again.decision_function(X, lams), atol=1e-12
    )
    for lam in lams.tolist():
        np.testing.assert_array_equal(present(point(path, lam).u), present(point(again, lam).u))
    assert again.problem.family == "svm.onenorm"
    with pytest.raises(ValueError, match="is no regularisation path"):
        RegularizationPath.load(tmp_path / "path.npz")


def test_a_file_whose_arrays_do_not_fit_is_refused(tmp_path: Path) -> None:
    """Columns outside of the table would be read from, and written to, foreign memory."""
    X, file = np.random.default_rng(5).normal(size=(12, 2)), tmp_path / "path.npz"
    path = regularization_path(one_norm_classification(X, np.where(X[:, 0] > 0.2, 1.0, -1.0)), 1e-3)
    path.save(file)
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for name, changed, said in (
        ("columns", path.columns + 10**9, "columns must be in 0 .. 12"),
        ("columns", -1 - path.columns, "columns must be in 0 .. 12"),
        ("rows", path.rows + 12, "rows must be in 0 .. 11"),
        ("flips", path.flips - 12, "flips must be in 0 .. 11"),
        ("flipped_at", path.flipped_at[1:], "flipped_at is of shape"),
        ("starts", path.starts[::-1], "starts must go from 0"),
        ("lambdas", path.lambdas[::-1], "lambdas do not decrease"),
        ("lambdas", path.lambdas.astype(np.float32), "lambdas is of type float32"),
        ("values", path.values * np.nan, "values must be finite"),
    ):
        np.savez(file, **arrays | {f"path_{name}": changed})
        with pytest.raises(ValueError, match=f"is no path of a one-norm program: {said}"):
            OneNormPath.load(file)
    about = json.loads(str(arrays["about"]))
    for name, value, said in (
        ("stopped", 5, "stopped must be a string"),
        ("seconds", None, "seconds is no finite number"),
    ):
        np.savez(file, **arrays | {"about": np.array(json.dumps(about | {name: value}))})
        with pytest.raises(ValueError, match=said):
            OneNormPath.load(file)


def test_a_path_decides_as_its_solutions_do() -> None:
    X = np.random.default_rng(6).normal(size=(14, 3))
    K = X @ X.T
    for problem, points in (
        (ranking_vector_machine(X, np.arange(14) % 3, kernel=rbf(0.3)), X[:5]),
        (one_norm_classification(K, np.where(X[:, 0] > 0, 1.0, -1.0), kernel=precomputed()), K[:5]),
    ):
        path = regularization_path(problem, 1e-2)
        for lam in np.geomspace(path.lambdas[0], path.lambdas[-1], 4).tolist():
            np.testing.assert_allclose(
                path.decision_function(points, lam),
                path.at(lam).decision_function(points),
                atol=1e-12,
            )


@pytest.mark.slow
def test_the_factors_of_a_changing_matrix() -> None:
    """Rows and columns come and go; the factors stay those of the matrix."""
    rng, factors, M = np.random.default_rng(0), empty(25), np.zeros((0, 0))
    for _ in range(400):
        k, grow = len(M), len(M) < 2 or (len(M) < 20 and rng.integers(2))
        if not grow:
            column, row = int(rng.integers(k)), int(rng.integers(k))
            drop_column(factors, column)
            drop_row(factors, row)
            M = np.delete(np.delete(M, column, 1), row, 0)
        else:
            new: Any = rng.normal(size=(2, k + 1))
            add_row(factors, new[0, :k].copy())
            add_column(factors, new[1])
            M = np.column_stack([np.vstack([M, new[0, :k]]), new[1]])
        k, right, nothing = len(M), np.asarray(M.sum(axis=1)), np.zeros(len(M))
        np.testing.assert_array_equal((factors.leading + factors.small)[:k, :k], M)
        np.testing.assert_allclose(factors.Qt[:k, :k].T @ factors.R[:k, :k], M, atol=1e-12)
        np.testing.assert_allclose(np.tril(factors.R[:k, :k], -1), 0.0, atol=1e-15)
        assert np.abs(M @ solved(factors, right, nothing, False) - right).max() <= 1e-12
        assert np.abs(M.T @ solved(factors, right, nothing, True) - right).max() <= 1e-12


@pytest.mark.parametrize("transposed", [False, True])
def test_a_solution_is_right_where_the_matrix_is_nearly_singular(transposed: bool) -> None:
    """The matrix of 1 / (i + j + 1) is rounded, its condition is 1e10.

    The reference is rational arithmetic.
    """
    k = 8
    M = 1.0 / (np.arange(k)[:, None] + np.arange(k) + 1.0)
    # A symmetric matrix could not distinguish M from M'.
    M[:, 0] += 0.25
    factors = empty(k)
    for _ in range(k):
        add_row(factors, np.zeros(0))
    for column in M.T:
        add_column(factors, column.copy())
    right, rest = np.ones(k), np.full(k, 2.0**-60)
    entries = [
        [flint.fmpq(*v.as_integer_ratio()) for v in row]
        for row in (M.T if transposed else M).tolist()
    ]
    exact = flint.fmpq_mat(entries).solve(
        flint.fmpq_mat(k, 1, [flint.fmpq(1) + flint.fmpq(1, 2**60)] * k)
    )
    found = solved(factors, right, rest, transposed)
    largest = max(abs(exact[i, 0]) for i in range(k))
    error, plain = (
        max(abs(flint.fmpq(*v.as_integer_ratio()) - exact[i, 0]) for i, v in enumerate(y.tolist()))
        / largest
        for y in (found, np.linalg.solve(M.T if transposed else M, right))
    )
    assert plain > flint.fmpq(1, 2**34), "the matrix is no test: float64 alone solves it"
    assert error < plain / 2**12
