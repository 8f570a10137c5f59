"""Problems of few points and many features: optima of cvxpy in w, gaps with X, costs."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from equimargin.formulations.kernels.kernel import linear
from equimargin.formulations.problem.construct import classification, ranking, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers import SOLVERS, solve
from equimargin.solvers.products import few_points
from equimargin.solvers.products.few_points import ENTRIES_PER_PAIR, has_few_points
from equimargin.solvers.solution import Limits, Solution, Status
from narrow import as_a, present

M, D, C, EPSILON = 8, 200, 3.0, 0.1


def data(seed: int, offset: float = 0.0) -> tuple[Any, Any, Any]:
    """Return points of many features, labels of two or more levels, and targets."""
    rng = np.random.default_rng(seed)
    X = offset + rng.standard_normal((M, D)) / np.sqrt(D)
    return X, rng.permutation(np.arange(M) % 3).astype(float), rng.standard_normal(M)


def losses(u: Any, loss: str) -> Any:
    """Return the sum of hinges of slacks, or of their squares."""
    return cp.sum(cp.pos(u) if loss == "hinge" else cp.square(cp.pos(u)))


def problem_and_optimum(family: str, loss: Any, seed: int) -> tuple[MarginProblem, float]:
    """Return a problem, and its optimum by cvxpy over w as the documents print it."""
    X, levels, t = data(seed)
    w, b, y = cp.Variable(D), cp.Variable(), np.where(levels > 0, 1.0, -1.0)
    if family == "classification":
        slacks, problem = 1 - cp.multiply(y, X @ w + b), classification(X, y, C, loss=loss)
    elif family == "no bias":
        slacks = 1 - cp.multiply(y, X @ w)
        problem = classification(X, y, C, loss=loss, bias=False)
    elif family == "penalised bias":
        slacks = 1 - cp.multiply(y, X @ w + b)
        problem = classification(X, y, C, loss=loss, bias="penalized")
    elif family == "regression":
        e = t - X @ w - b
        slacks = cp.hstack([e - EPSILON, -e - EPSILON])
        problem = regression(X, t, C, loss=loss, epsilon=EPSILON)
    else:
        pairs = np.argwhere(levels[:, None] > levels)
        slacks = 1 - (X[pairs[:, 0]] - X[pairs[:, 1]]) @ w
        problem = ranking(X, levels, C=C, loss=loss)
    norm = cp.sum_squares(w) + (cp.square(b) if family == "penalised bias" else 0)
    optimum = cp.Problem(cp.Minimize(norm / 2 + C * losses(slacks, loss))).solve(
        solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    return problem, float(optimum)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    "family", ["classification", "no bias", "penalised bias", "regression", "ranking"]
)
def test_every_solver_has_the_optimum_in_w_and_returns_weights(family: str, loss: str) -> None:
    for seed in range(2):
        problem, optimum = problem_and_optimum(family, loss, seed)
        assert has_few_points(problem)
        for solver in SOLVERS.values():
            if not solver.takes(problem.family) or solver.refusal(problem) is not None:
                continue
            found = solve(problem, solver.name, tol=1e-8)
            assert found.ok, (solver.name, found.reason)
            assert found.problem is problem
            assert found.value == pytest.approx(optimum, rel=1e-6)
            assert found.lower - 1e-9 <= optimum <= found.upper + 1e-9
            assert present(found.w).shape == (present(problem.explicit).q,)


def test_solver_is_given_a_gram_matrix_of_its_points_only_where_features_are_many() -> None:
    given: list[tuple[int, int]] = []

    @few_points.through_gram
    def record(problem: MarginProblem, limits: Any, start: Any) -> Any:
        given.append(problem.X.shape)
        return solve(problem, "newton", tol=limits.tol, warm_start=start)

    X, levels, _ = data(0)
    y = np.where(levels > 0, 1.0, -1.0)
    for columns in (ENTRIES_PER_PAIR * M, ENTRIES_PER_PAIR * M - 1):
        record(classification(X[:, :columns], y, loss="squared_hinge"), Limits(), None)
    hard = classification(X, y, loss="squared_hinge", sample_weight=[np.inf, *[1.0] * (M - 1)])
    assert given == [(M, M), (M, ENTRIES_PER_PAIR * M - 1)]
    assert not has_few_points(hard)


@pytest.mark.parametrize("offset", [1e4, 1e5])
def test_points_far_from_the_origin_are_solved_in_their_features(offset: float) -> None:
    X, levels, _ = data(1, offset=offset)
    problem = ranking(X * np.sqrt(D), levels, C=C, loss="squared_hinge")
    assert has_few_points(problem)
    for solver in ("tron", "newton"):
        found = solve(problem, solver, tol=1e-7)
        assert found.ok, (solver, found.reason)
        assert present(found.iterations) < 100


def recorded(*statuses: Status) -> tuple[Any, list[tuple[tuple[int, ...], Limits]]]:
    """Return a solver of points f = 0 through the Gram matrix, and its calls."""
    calls: list[tuple[tuple[int, ...], Limits]] = []

    @few_points.through_gram
    def run(problem: MarginProblem, limits: Limits, start: Any) -> Solution:
        calls.append((problem.X.shape, limits))
        point = Point(beta=np.zeros(M), alpha=np.zeros(problem.p))
        if limits.callback is not None:
            limits.callback(3, 0.0, problem.scale, point)
        return Solution(problem, "none", point, statuses[len(calls) - 1], "", 3, 2.0)

    return run, calls


@pytest.mark.parametrize(
    ("status", "limits", "continues"),
    [
        (Status.OPTIMAL, Limits(), True),
        (Status.NUMERICAL_FAILURE, Limits(max_iter=7, time_limit=5.0), True),
        (Status.ITERATION_LIMIT, Limits(), True),
        (Status.ITERATION_LIMIT, Limits(max_iter=3), False),
        (Status.ITERATION_LIMIT, Limits(callback=lambda *shown: False), True),
        (Status.CALLBACK, Limits(callback=lambda *shown: True), False),
        (Status.TIME_LIMIT, Limits(time_limit=5.0), False),
        (Status.OPTIMAL, Limits(tol=2.0), False),
    ],
)
def test_features_continue_a_run_of_too_large_a_gap_within_the_limits_left(
    status: Status, limits: Limits, continues: bool
) -> None:
    X, levels, _ = data(0)
    problem = ranking(X, levels, loss="squared_hinge")
    run, calls = recorded(status, Status.OPTIMAL)
    found = run(problem, limits, None)
    shapes = [(M, M), (M, D)] if continues else [(M, M)]
    assert [shape for shape, _ in calls] == shapes
    assert (found.iterations, found.seconds) == (3 * len(calls), 2.0 * len(calls))
    assert found.status is (Status.OPTIMAL if continues else status)
    if continues and limits.max_iter:
        assert (calls[1][1].max_iter, calls[1][1].time_limit) == (4, 3.0)


def test_sparse_features_count_by_their_stored_entries() -> None:
    X, levels, _ = data(2)
    thin = sparse.csr_array(np.where(np.arange(D) < 20, X, 0.0))
    assert not has_few_points(ranking(thin, levels))
    full = ranking(sparse.csr_array(X), levels)
    assert has_few_points(full)
    assert solve(full).value == pytest.approx(solve(ranking(X, levels)).value, rel=1e-6)


def test_start_in_weights_or_multipliers_is_taken() -> None:
    X, levels, _ = data(3)
    problem = ranking(X, levels, C=C, loss="squared_hinge")
    first = solve(problem, "tron", tol=1e-10)
    assert as_a(Point, first.point).w is not None
    for start in (first.point, Point(w=first.w), Point(alpha=first.dual)):
        again = solve(problem, "tron", tol=1e-9, warm_start=start)
        assert again.ok
        assert (again.iterations or 0) <= 1


def test_products_with_the_gram_matrix_cost_fewer_multiplications() -> None:
    # K 3.3: l << n. TRON's products, m^2 each and once m^2 d, against 2 m d each in w.
    rng = np.random.default_rng(0)
    m, d = 60, 4000
    X, y = rng.standard_normal((m, d)), rng.integers(0, 5, m).astype(float)
    problem = ranking(X, y, C=10.0, kernel=linear(), loss="squared_hinge")
    found = solve(problem, "tron", tol=1e-6)
    by_gram = m * m * d / 2 + m * m * found.trajectory[-1].products
    patched = few_points.MOST_POINTS
    try:
        few_points.MOST_POINTS = m - 1
        in_weights = solve(problem, "tron", tol=1e-6)
    finally:
        few_points.MOST_POINTS = patched
    assert by_gram < 2 * m * d * in_weights.trajectory[-1].products / 4
