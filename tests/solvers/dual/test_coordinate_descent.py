"""Dual coordinate descent: proven intervals, ranking data, and rows of no curvature.

Problems are machines without a bias and rankings; some ranking data are real.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC

from equimargin.formulations.kernels.kernel import linear, polynomial, rbf, sigmoid
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.construct import classification, ranking, ranking_from_pairs
from equimargin.solvers.dual import coordinate_descent
from equimargin.solvers.dual.sweeps import SweepIterate, solve_restricted
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Status
from optima import CANCER, LABELS, SCALED, reached
from public_data import SHARED, needs_data

LOSSES: tuple[LossName, ...] = ("hinge", "squared_hinge")


checked = partial(reached, "coordinate_descent")


def some_ranking(m: int, queries: int = 3, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return X (m, 5), three levels, queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 5))
    y = np.digitize(X[:, 0] + rng.normal(size=m), [-0.5, 0.8])
    return X, y, rng.integers(queries, size=m)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_no_bias_classification(C: float, kernel: Any, loss: LossName) -> None:
    checked(classification(SCALED, LABELS, C, kernel, loss, bias=False), 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_bias_classification_is_liblinears(loss: LossName) -> None:
    problem = classification(SCALED, LABELS, 0.1, loss=loss, bias=False)
    model = LinearSVC(
        C=0.1,
        loss=loss,
        dual=True,
        tol=1e-10,
        max_iter=100_000,
        fit_intercept=False,
        random_state=0,
    ).fit(SCALED, LABELS)
    w = model.coef_[0]
    theirs = problem.primal(SCALED @ w, float(w @ w), 0.0)
    solution = checked(problem)
    assert theirs >= solution.lower - 1e-12 * theirs
    assert solution.upper <= theirs * (1 + 1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", [linear(), rbf(0.2)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_ranking(C: float, kernel: Any, loss: LossName) -> None:
    checked(ranking(*some_ranking(80), C=C, kernel=kernel, loss=loss), 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_unscaled_features(loss: LossName) -> None:
    """Updates of single rows need tens of thousands of sweeps here."""
    checked(classification(CANCER.data, LABELS, 1.0, loss=loss, bias=False), time_limit=60)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_value_scales(scale: float) -> None:
    X, y, qid = some_ranking(60)
    value = checked(ranking(scale * X, y, qid, C=1 / scale**2), 1e-9).value
    assert value * scale**2 == pytest.approx(checked(ranking(X, y, qid), 1e-9).value, rel=1e-8)


def test_sparse_features_are_the_dense_ones() -> None:
    X, y, qid = some_ranking(60)
    X[np.abs(X) < 0.7] = 0.0
    dense, thin = (
        checked(ranking(X, y, qid), 1e-9),
        checked(ranking(sparse.csr_array(X), y, qid), 1e-9),
    )
    assert thin.value == pytest.approx(dense.value, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_entries_of_one_place_are_summed(loss: LossName) -> None:
    """The curvature of a row is the square of its sums.

    A CSR matrix may hold several entries of one place.
    """
    X = SCALED[:60]
    thirds, places = np.repeat(X.ravel() / 3, 3), np.tile(np.repeat(np.arange(30), 3), 60)
    split = sparse.csr_array((thirds.copy(), places, np.arange(0, 5401, 90)), X.shape)
    thin, dense = (
        checked(classification(Z, LABELS[:60], 1.0, loss=loss, bias=False), 1e-9)
        for Z in (split, X)
    )
    assert thin.value == pytest.approx(dense.value, rel=1e-8)
    assert np.array_equal(split.data, thirds), "the points given stay as they are"


def test_the_linear_kernel_two_ways() -> None:
    X, y, qid = some_ranking(60)
    by_w, by_values = (
        checked(ranking(X, y, qid), 1e-9),
        checked(ranking(X, y, qid, kernel=polynomial(1, 1.0, 0.0)), 1e-9),
    )
    assert by_w.value == pytest.approx(by_values.value, rel=1e-8)


def test_a_bias_cancels_in_a_ranking() -> None:
    X, y, qid = some_ranking(60)
    assert checked(ranking(X + 100.0, y, qid), 1e-8).value == pytest.approx(
        checked(ranking(X, y, qid), 1e-8).value, rel=1e-7
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_no_pairs(loss: LossName) -> None:
    solution = checked(ranking(SCALED[:9], np.ones(9), loss=loss))
    assert solution.value == 0.0
    assert solution.w == pytest.approx(np.zeros(30))


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)])
def test_a_pair_of_equal_points_is_lost(kernel: Any) -> None:
    """No f distinguishes them: alpha = c, and the loss is 1."""
    solution = checked(ranking_from_pairs([[1.0, 2.0], [1.0, 2.0]], [(0, 1)], C=3.0, kernel=kernel))
    assert solution.value == pytest.approx(3.0)
    assert solution.dual == pytest.approx([3.0])


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)])
def test_contradicting_pairs_cost_at_least_their_number(kernel: Any) -> None:
    X, _, _ = some_ranking(20)
    pairs = [(i, j) for i in range(20) for j in range(20) if i != j]
    assert checked(ranking_from_pairs(X, pairs, kernel=kernel)).value == pytest.approx(380.0)


def test_contradicting_duplicates_and_triplicates() -> None:
    X, y = SCALED[:60], LABELS[:60]
    both = checked(classification(np.vstack([X, X]), np.concatenate([y, -y]), bias=False))
    assert both.value == pytest.approx(120.0)
    once = checked(classification(X, y, 3.0, rbf(0.1), bias=False), 1e-9)
    thrice = checked(
        classification(np.tile(X, (3, 1)), np.tile(y, 3), 1.0, rbf(0.1), bias=False), 1e-9
    )
    assert thrice.value == pytest.approx(once.value, rel=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_weight_zero_removes_a_row(loss: LossName) -> None:
    weights = np.ones(60)
    weights[::3] = 0.0
    kept = weights > 0
    X, y = SCALED[:60], LABELS[:60]
    whole = checked(classification(X, y, 1.0, loss=loss, bias=False, sample_weight=weights), 1e-9)
    part = checked(classification(X[kept], y[kept], 1.0, loss=loss, bias=False), 1e-9)
    assert whole.value == pytest.approx(part.value, rel=1e-8)
    assert (
        checked(classification(X, y, loss=loss, bias=False, sample_weight=np.zeros(60))).value
        == 0.0
    )


def test_warm_start() -> None:
    problem = ranking(*some_ranking(80), C=10.0)
    solution = checked(problem, 1e-9)
    assert checked(problem, 1e-9, warm_start=solution).iterations == 0
    smaller = problem.with_cost(0.1)
    assert checked(smaller, 1e-9, warm_start=solution).value == pytest.approx(
        checked(smaller, 1e-9).value, rel=1e-8
    )


def test_limits_return_the_best_point_and_a_reason() -> None:
    problem = classification(CANCER.data, LABELS, 1.0, bias=False)
    one = solve(problem, "coordinate_descent", max_iter=1)
    assert (one.status, one.iterations) == (Status.ITERATION_LIMIT, 1)
    assert "limit of 1 iteration:" in one.reason
    assert np.isfinite([one.lower, one.upper]).all()
    assert solve(problem, "coordinate_descent", time_limit=1e-6).status is Status.TIME_LIMIT
    stopped = solve(problem, "coordinate_descent", callback=lambda *_: True)
    assert "callback" in stopped.reason
    unreachable = solve(ranking(*some_ranking(80)), "coordinate_descent", tol=1e-18, time_limit=60)
    # A gap of exactly 0 happens.
    assert unreachable.status in (
        Status.NUMERICAL_FAILURE,
        Status.OPTIMAL,
    )
    assert unreachable.interval.relative_width < 1e-9


def test_refusals() -> None:
    assert "there is a bias" in str(
        coordinate_descent.REQUIREMENTS.refusal(classification(SCALED, LABELS))
    )
    assert "infinite costs" in str(
        coordinate_descent.REQUIREMENTS.refusal(classification(SCALED, LABELS, np.inf, bias=False))
    )
    assert "semidefinite" in str(
        coordinate_descent.REQUIREMENTS.refusal(
            classification(SCALED, LABELS, kernel=sigmoid(), bias=False)
        )
    )
    big = np.random.default_rng(0).normal(size=(6001, 2))
    assert "6,001 points" in str(
        coordinate_descent.REQUIREMENTS.refusal(
            classification(big, np.ones(6001), kernel=rbf(), bias=False)
        )
    )


@given(st.data())
def test_any_small_ranking(data: st.DataObject) -> None:
    """Integer points and arbitrary pairs: duplicates, ties, contradictions, cycles."""
    m = data.draw(st.integers(2, 8), "m")
    X = data.draw(st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=m, max_size=m), "X")
    pair = st.tuples(st.integers(0, m - 1), st.integers(0, m - 1)).filter(lambda ij: ij[0] != ij[1])
    pairs = data.draw(st.lists(pair, max_size=12), "pairs")
    kernel = data.draw(st.sampled_from([linear(), rbf(0.5), polynomial(2, 1.0, 1.0)]), "kernel")
    loss: LossName = data.draw(st.sampled_from(LOSSES), "loss")
    C = data.draw(st.sampled_from([0.1, 1.0, 10.0]), "C")
    checked(ranking_from_pairs(X, np.array(pairs, dtype=int).reshape(-1, 2), C, kernel, loss), 1e-8)


@needs_data("mq2008/S1.txt", "ohsumed-queries-1-6.txt")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("name", "rows", "C", "kernel"),
    [("mq2008/S1.txt", 300, 1.0, linear()), ("ohsumed-queries-1-6.txt", 120, 0.1, rbf(0.05))],
)
def test_letor(name: str, rows: int, C: float, kernel: Any, loss: LossName) -> None:
    X, y, qid = load_svmlight_file(str(SHARED / name), query_id=True)
    order = np.argsort(qid, kind="stable")[:rows]
    checked(ranking(X.toarray()[order], y[order], qid[order], C, kernel, loss), 1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [False, "penalized"])
def test_dense_and_sparse_features_are_alike(bias: Any, loss: LossName) -> None:
    X = np.where(np.abs(SCALED) > 0.5, SCALED, 0.0)
    X[:3] = 0.0
    dense, thin = (
        checked(classification(F, LABELS, 0.1, loss=loss, bias=bias), 1e-9)
        for F in (X, sparse.csr_array(X))
    )
    assert max(dense.lower, thin.lower) <= min(dense.upper, thin.upper)
    # Sums are in another order, and a gap falls short of the tolerance.
    assert dense.iterations == pytest.approx(thin.iterations, abs=2)


@pytest.mark.parametrize("thin", [False, True])
def test_sweeps_over_some_rows_settle_them(thin: bool) -> None:
    rng = np.random.default_rng(0)
    Y, rest, t, box = (
        rng.normal(size=(40, 6)),
        rng.normal(size=6),
        np.ones(40),
        rng.uniform(0.1, 1.0, 40),
    )
    Y[5] = 0.0
    start = rng.uniform(size=40) * box
    features = sparse.csr_array(Y) if thin else Y
    alpha, w, reached = solve_restricted(
        features, t, box, SweepIterate(start, rest + Y.T @ start), 1e-9, 10_000, lambda: False
    )
    u = t - Y @ (rest + Y.T @ alpha)
    assert reached
    assert ((alpha >= 0) & (alpha <= box)).all()
    assert box @ np.maximum(u, 0.0) - alpha @ u <= 1e-8
    np.testing.assert_allclose(w, rest + Y.T @ alpha, rtol=0, atol=1e-12)


@pytest.mark.parametrize("out_of_time", [False, True])
def test_sweeps_end_when_time_is_out_or_they_lead_nowhere(out_of_time: bool) -> None:
    rng = np.random.default_rng(0)
    Y, box = rng.normal(size=(200, 3)), np.full(200, 1e6)
    start, rest = np.full(200, 5e5), np.zeros(3)
    alpha, _, reached = solve_restricted(
        Y,
        np.ones(200),
        box,
        SweepIterate(start, rest + Y.T @ start),
        1e-12,
        20,
        lambda: out_of_time,
    )
    assert not reached
    assert ((alpha >= 0) & (alpha <= box)).all()
    assert (alpha == start).all() == out_of_time


def test_a_point_that_was_shown_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps change w in place; the run may end with an earlier point as the best one."""
    shown: list[tuple[Any, Any]] = []
    weigh = DualConvergenceMonitor.weigh

    def kept(self: DualConvergenceMonitor, point: Any, *values: Any) -> bool:
        shown.append((point.w, point.w.copy()))
        return weigh(self, point, *values)

    monkeypatch.setattr(DualConvergenceMonitor, "weigh", kept)
    checked(classification(SCALED, LABELS, 10.0, bias=False), 1e-9)
    assert len(shown) > 2
    assert all((w == then).all() for w, then in shown)


def test_no_point_is_evaluated_twice_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinate_descent, "count_affordable_factorisations", lambda free, work: 0)
    evaluated: list[Any] = []
    problem = classification(SCALED, LABELS, 1.0, bias=False)
    solve(
        problem,
        "coordinate_descent",
        callback=lambda iterations, lower, upper, point: evaluated.append(
            problem.own_point(point).alpha
        ),
    )
    assert len(evaluated) > 3
    assert all(np.any(former != latter) for former, latter in pairwise(evaluated))
