"""SMO: proven intervals, LIBSVM's optima, and difficult data for pair steps."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from equimargin.formulations.kernels.kernel import linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_ranking,
    ranking,
    regression,
)
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.dual import smo, working_set
from equimargin.solvers.dual.smo_problem import OptimalityState
from equimargin.solvers.products.tiles import tiles
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Solution, Status
from narrow import as_a, present
from optima import CANCER, LABELS, SCALED, reached
from places import HANG, ROOT

DIGITS = load_digits()
DIABETES = load_diabetes()


checked = partial(reached, "smo")


def assert_no_worse(solution: Solution, theirs: float) -> None:
    """Assert that a peer's primal value is at least the lower bound.

    The solution's upper bound is not above it.
    """
    size = solution.interval.size
    assert theirs >= solution.lower - 1e-12 * size
    assert solution.upper <= theirs + 1e-6 * size


def libsvm_value(problem: MarginProblem, model: Any, beta: Any) -> float:
    """Return the primal value of LIBSVM's function at its best bias."""
    coefficients = np.zeros(problem.m)
    coefficients[model.support_] = beta
    f = problem.gram @ coefficients
    return problem.primal(f, float(coefficients @ f), problem.bias_at(f))


@pytest.mark.parametrize("tol", [1e-6, 1e-9])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_classification_is_libsvms(C: float, tol: float) -> None:
    problem = classification(SCALED, LABELS, C, rbf(1 / 30))
    model = SVC(C=C, gamma=1 / 30, tol=1e-10).fit(SCALED, LABELS)
    assert_no_worse(checked(problem, tol), libsvm_value(problem, model, model.dual_coef_[0]))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 20.0])
def test_regression_is_libsvms(epsilon: float) -> None:
    X, y = DIABETES.data * 20, DIABETES.target
    problem = regression(X, y, 10.0, epsilon, rbf(0.1))
    model = SVR(C=10.0, epsilon=epsilon, gamma=0.1, tol=1e-10).fit(X, y)
    assert_no_worse(checked(problem, 1e-9), libsvm_value(problem, model, model.dual_coef_[0]))


def test_weights_are_libsvms() -> None:
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(LABELS))
    problem = classification(SCALED, LABELS, 1.0, rbf(1 / 30), sample_weight=weights)
    model = SVC(C=1.0, gamma=1 / 30, tol=1e-10).fit(SCALED, LABELS, sample_weight=weights)
    assert_no_worse(checked(problem), libsvm_value(problem, model, model.dual_coef_[0]))


def test_digits() -> None:
    y = np.where(DIGITS.target % 2 == 0, 1.0, -1.0)
    checked(classification(DIGITS.data / 16, y, 1.0, rbf(0.1)), 1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_unscaled_features_with_a_linear_kernel(C: float) -> None:
    """K is about 1e6 and its spectrum spans over ten powers of ten.

    Pair steps alone need millions.
    """
    solution = checked(classification(CANCER.data, LABELS, C), 1e-9, time_limit=60)
    assert solution.w is not None


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_the_value_scales(scale: float) -> None:
    """Scaling K by s^2 and C by 1 / s^2 scales the value by 1 / s^2."""
    expected = checked(classification(SCALED, LABELS, 1.0), 1e-9).value
    value = checked(classification(scale * SCALED, LABELS, 1 / scale**2), 1e-9).value
    assert value * scale**2 == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_extreme_scales_at_the_same_cost(scale: float) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:30, 0] += 8
    checked(classification(scale * X, np.repeat([1.0, -1.0], 30), 1.0))


def test_xor() -> None:
    X = [[1, 1], [-1, -1], [1, -1], [-1, 1]]
    for C in (1.0, np.inf):
        solution = checked(classification(X, [1, 1, -1, -1], C, polynomial(2, 1.0, 1.0)), 1e-9)
        assert solution.dual == pytest.approx(np.full(4, 0.125), abs=1e-12)
        assert solution.value == pytest.approx(0.25, abs=1e-12)
        assert solution.bias == pytest.approx(0.0, abs=1e-12)


def test_no_free_support_vector_leaves_an_interval_of_biases() -> None:
    solution = checked(classification([[0.0], [1.0]], [1, -1], 0.1))
    assert solution.bias_interval == pytest.approx((-0.9, 1.0))
    assert solution.dual == pytest.approx([0.1, 0.1])


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)])
def test_contradicting_duplicates(kernel: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    solution = checked(classification(np.vstack([X, X]), np.concatenate([y, -y]), 1.0, kernel))
    assert solution.value == pytest.approx(80.0)


@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30)])
def test_triplicated_points_are_a_triple_cost(kernel: Any) -> None:
    once = checked(classification(SCALED, LABELS, 3.0, kernel), 1e-9)
    thrice = checked(classification(np.tile(SCALED, (3, 1)), np.tile(LABELS, 3), 1.0, kernel), 1e-9)
    assert thrice.value == pytest.approx(once.value, rel=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_degenerate_problems_are_zero(loss: LossName) -> None:
    X = SCALED[:20]
    one_class = checked(classification(X, np.ones(20), 1.0, loss=loss))
    assert one_class.value == pytest.approx(0.0, abs=1e-12)
    assert (as_a(np.ndarray, one_class.dual) == 0).all()
    no_cost = checked(classification(X, LABELS[:20], 1.0, loss=loss, sample_weight=np.zeros(20)))
    assert no_cost.value == 0.0
    checked(classification(X[:1], [1.0], 1.0, loss=loss))


def test_equal_points() -> None:
    y = [1.0, 1.0, -1.0]
    assert checked(classification(np.zeros((3, 2)), y)).value == pytest.approx(2.0)
    assert checked(
        classification(np.zeros((3, 2)), y, loss="squared_hinge")
    ).value == pytest.approx(8 / 3)


def test_weight_zero_removes_a_row() -> None:
    weights = np.ones(len(LABELS))
    weights[::3] = 0.0
    kept = weights > 0
    whole = checked(classification(SCALED, LABELS, 1.0, rbf(1 / 30), sample_weight=weights), 1e-9)
    part = checked(classification(SCALED[kept], LABELS[kept], 1.0, rbf(1 / 30)), 1e-9)
    assert whole.value == pytest.approx(part.value, rel=1e-8)
    assert whole.dual is not None
    assert (as_a(np.ndarray, whole.dual)[~kept] == 0).all()


@pytest.mark.parametrize("tol", [1e-6, 1e-9])
def test_squared_hinge(tol: float) -> None:
    checked(classification(SCALED, LABELS, 1.0, rbf(1 / 30), "squared_hinge"), tol)
    checked(regression(DIABETES.data, DIABETES.target, 1.0, 0.1, rbf(10.0), "squared_hinge"), tol)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hard_margin_is_the_limit_of_a_large_cost(loss: LossName) -> None:
    hard = checked(classification(SCALED, LABELS, np.inf, rbf(1 / 30), loss), 1e-9)
    assert hard.dual is not None
    soft = checked(
        classification(SCALED, LABELS, 2 * float(as_a(np.ndarray, hard.dual).max()), rbf(1 / 30)),
        1e-9,
    )
    assert hard.value == pytest.approx(soft.value, rel=1e-8)


def test_hard_rows_among_soft_ones() -> None:
    weights = np.ones(len(LABELS))
    weights[:20], weights[20:50] = np.inf, 0.0
    solution = checked(classification(SCALED, LABELS, 1.0, rbf(1 / 30), sample_weight=weights))
    margins = LABELS * solution.decision_function(SCALED)
    assert (margins[:20] >= 1 - 1e-12).all()


def test_hard_regression() -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.01 * np.sin(37 * X[:, 0])
    solution = checked(regression(X, y, np.inf, 0.05))
    assert (np.abs(solution.decision_function(X) - y) <= 0.05 + 1e-12).all()


@pytest.mark.parametrize(
    "problem",
    [
        classification([[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, -1, -1], np.inf),
        classification(np.zeros((4, 2)), [1, 1, -1, -1], np.inf),
        classification([[0.0, 1], [0, 1], [1, 0]], [1, -1, 1], np.inf),
        regression([[0.0], [1], [2], [3]], [0, 1, 0, 1], np.inf, 0.1),
    ],
    ids=["xor", "equal points", "contradiction", "zigzag"],
)
def test_hard_rows_that_nothing_meets(problem: MarginProblem) -> None:
    solution = solve(problem, "smo")
    assert solution.status is Status.INFEASIBLE
    assert solution.upper == np.inf
    assert solution.lower > 1e10


@pytest.mark.parametrize("y", [[1, -1], [1, -1, -1, -1, -1]])
def test_a_hard_margin_in_an_empty_space_ends(y: list[int]) -> None:
    """1e-300 on the diagonal proves a Gram matrix of zeros positive semidefinite.

    The matrix is given, and values are near the end of float64.
    """
    solution = solve(classification(np.zeros((len(y), len(y))), y, np.inf, precomputed()), tol=1e-9)
    assert solution.lower <= solution.upper
    assert solution.reason


def test_a_hard_problem_that_rounding_cannot_meet_ends_with_a_reason() -> None:
    solution = solve(
        regression(SCALED[:30], LABELS[:30], np.inf, 0.0, rbf(1.0)), "smo", time_limit=20
    )
    assert not solution.ok
    assert solution.reason


def test_an_offset_of_the_targets_is_taken_by_the_bias() -> None:
    near = checked(regression(DIABETES.data, DIABETES.target, 1.0, 0.1, rbf(10.0)))
    far = checked(regression(DIABETES.data, DIABETES.target + 1e6, 1.0, 0.1, rbf(10.0)))
    assert far.value == pytest.approx(near.value, rel=1e-5)


def test_indefinite_kernels_end_at_a_stationary_point() -> None:
    solution = solve(classification(SCALED, LABELS, 1.0, sigmoid(0.1, -1.0)), "smo")
    assert solution.status is Status.STATIONARY
    assert solution.lower == -np.inf
    K = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 2.0], [0.5, 2.0, 0.0]])
    assert (
        solve(classification(K, [1, -1, 1], 1.0, precomputed()), "smo").status is Status.STATIONARY
    )


def test_a_precomputed_gram_is_its_kernel() -> None:
    problem = classification(SCALED, LABELS, 1.0, rbf(1 / 30))
    K = problem.gram.dense
    given_gram = classification((K + K.T) / 2, LABELS, 1.0, precomputed())
    assert checked(given_gram, 1e-9).value == pytest.approx(checked(problem, 1e-9).value, rel=1e-8)


@pytest.mark.slow
def test_working_sets_find_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = classification(SCALED, LABELS, 10.0, rbf(1 / 30))
    whole = checked(problem)
    monkeypatch.setattr(working_set, "ONE_SET", 10)
    for size in (4, 50, 200):
        monkeypatch.setattr(working_set, "SMALLEST_SET", size)
        part = checked(problem)
        assert part.value == pytest.approx(whole.value, rel=1e-6)


def clusters(n: int, seed: int = 0, flipped: float = 0.1) -> tuple[Any, Any]:
    """Return two classes separated by a curve, with a share of the labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1.0, 1.0, -1.0)
    return X, np.where(rng.random(n) < flipped, -y, y)


@pytest.mark.slow
@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_many_points_take_working_sets(C: float) -> None:
    """The optimum is LIBSVM's, for more points than one working set holds.

    The gap is below the resolution of the interval's bounds on rounding.
    """
    X, y = clusters(2500)
    problem = classification(X, y, C, rbf(1 / 6))
    model = SVC(C=C, gamma=1 / 6, tol=1e-4, cache_size=500).fit(X, y)
    assert_no_worse(checked(problem), libsvm_value(problem, model, model.dual_coef_[0]))
    assert solve(problem, "smo", tol=1e-9).relative_gap <= 1e-9


def true_gaps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that receives every true gap that a run computes."""
    gaps: list[float] = []
    show = DualConvergenceMonitor.show

    def noted(progress: DualConvergenceMonitor, *at: Any) -> bool:
        stops = show(progress, *at)
        gaps.append(progress.gap)
        return stops

    monkeypatch.setattr(DualConvergenceMonitor, "show", noted)
    return gaps


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_true_gaps_are_those_of_a_recomputed_function(
    task: str, watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values are reused from the last gap, and where a multiplier stays at its bound."""
    X, y = clusters(2500)
    problem = (
        classification(X, y, 3.0, rbf(1 / 6))
        if task == "classification"
        else regression(X, y + X[:, 1], 3.0, 0.1, rbf(1 / 6))
    )
    shown, show = [], DualConvergenceMonitor.show

    def noted(progress: DualConvergenceMonitor, *at: Any) -> bool:
        stops = show(progress, *at)
        shown.append((progress.shown.alpha, progress.primal, progress.dual))
        return stops

    monkeypatch.setattr(DualConvergenceMonitor, "show", noted)
    callback = (lambda *at: None) if watched else None
    assert solve(problem, "smo", tol=1e-8, callback=callback).ok
    assert len(shown) >= 2
    for alpha, primal, dual in shown:
        beta = problem.rows.rdot(alpha)
        f = problem.gram @ beta
        norm2 = float(beta @ f)
        expected = problem.primal(f, norm2, problem.bias_at(f)), problem.dual(alpha, norm2)
        size = abs(expected[0])
        gap = expected[0] - expected[1]
        assert primal - dual == pytest.approx(gap, rel=1e-4, abs=1e-11 * size)
        assert not watched or (primal, dual) == pytest.approx(expected, rel=1e-11)


def test_optimal_means_the_gap_of_the_solution_where_tiles_have_errors() -> None:
    """Squares of distances between points far from their mean lose digits in float64."""
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(200, 20)) + rng.choice([-1.0, 1.0], size=(200, 1))
    noise = 0.1 * rng.normal(size=200)
    y = np.where(X[:, 0] + noise > np.median(X[:, 0]), 1.0, -1.0)
    solution = solve(classification(X, y, 1e4, rbf(45.0)), "smo", tol=1e-10)
    assert solution.ok
    assert solution.relative_gap <= 1e-10


def test_warm_start_of_an_indefinite_matrix_with_a_diagonal_of_0() -> None:
    """Entries of K are then not bounded by its diagonal."""
    rng = np.random.default_rng(5)
    m = 2100
    K = rng.normal(size=(m, m)) / np.sqrt(m)
    K += K.T
    np.fill_diagonal(K, 0.0)
    K[0, 0] = 1.0
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    start = Point(alpha=np.where(rng.random(m) < 0.2, 1.0, 0.0))
    problem = classification(K, y, 1.0, precomputed())
    solution = solve(problem, "smo", tol=1e-4, warm_start=start)
    assert solution.status is Status.STATIONARY
    a = problem.rows.rdot(as_a(np.ndarray, present(solution.dual)))
    slopes = K @ a - y
    grows, shrinks = a < np.maximum(y, 0.0), a > np.minimum(y, 0.0)
    assert slopes[shrinks].max() <= slopes[grows].min() + 1e-4


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_many_small_rounds_are_progress(monkeypatch: pytest.MonkeyPatch, tol: float) -> None:
    """Small sets move few points a round: none gains 1 % of the gap, all together do.

    Rounds were compared with the best so far: 14 true gaps, in float64 from the sixth
    round on, each with half the goal of the last.
    """
    gaps = true_gaps(monkeypatch)
    monkeypatch.setattr(working_set, "SMALLEST_SET", 60)
    monkeypatch.setattr(working_set, "POINTS_PER_PLACE", 1000)
    X, y = clusters(4000, flipped=0.4)
    solution = checked(classification(X, y, 1.0, rbf(1 / 6)), tol)
    assert len(gaps) == 1
    assert solution.relative_gap > 0.05 * tol


def test_progress_is_counted_since_the_last_round_that_made_some() -> None:
    """The dual value increases by 0.3 % of the gap per round, or not at all."""
    none = np.zeros(0)
    for rise, stalls in ((0.003, False), (0.0, True)):
        aim, idle = smo.GapTarget(goal=1e-3, eps=1e-3), list[int]()
        for k in range(100):
            look = OptimalityState(none, none, none > 0, 0.0, 1.0, 0.0, 1.0, rise * k, 0.9)
            aim.note(look, np.inf)
            idle.append(aim.idle)
        assert (max(idle) >= smo.STALLED_ROUNDS) is stalls


def test_a_crowd_of_violators_takes_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most points end at the bound; the worst violators lie close together."""
    monkeypatch.setattr(working_set, "SMALLEST_SET", 100)
    X, y = clusters(4000, flipped=0.4)
    problem, rounds = classification(X, y, 1.0, rbf(1 / 6)), list[int]()
    for crowd in (working_set.CROWD, 10**9):
        calls, pair_round = list[int](), smo.Descent.pair_round

        def counted(descent: Any, progress: Any, calls: Any = calls, run: Any = pair_round) -> None:
            calls.append(1)
            run(descent, progress)

        monkeypatch.setattr(working_set, "CROWD", crowd)
        with monkeypatch.context() as patched:
            patched.setattr(smo.Descent, "pair_round", counted)
            checked(problem, 1e-3)
        rounds.append(len(calls))
    assert rounds[0] <= 0.6 * rounds[1]


def test_violators_of_a_crowd_have_every_rank_and_the_worst_among_them() -> None:
    key = np.random.default_rng(0).permutation(1000).astype(float)
    some = working_set.choose_violators(np.arange(1000), key, 500.0, 10)
    assert key[some].min() == 0.0
    assert len(set(some.tolist())) == 10
    assert np.diff(np.sort(key[some])).min() > 50
    worst = working_set.choose_violators(np.arange(1000), key, 20.0, 10)
    assert sorted(key[worst].tolist()) == list(range(10))


def test_a_stalled_run_keeps_the_goal_of_its_tolerance() -> None:
    aim = smo.GapTarget(goal=9e-4, eps=1e-3)
    for _ in range(20):
        aim.narrow(1e-3, 0.5, close=False)
    assert aim.goal == 9e-4
    aim.narrow(1e-3, 2e-3, close=True)
    assert aim.goal == 4.5e-4


def test_a_callback_leaves_float32_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback has the true gap of every round computed, which is no failure of float32."""
    X, y = clusters(2500)
    problem, corrected = classification(X, y, 1.0, rbf(1 / 6)), list[float]()
    monkeypatch.setattr(smo.GapTarget, "narrow", lambda aim, *at: corrected.append(aim.goal))
    assert solve(problem, "smo", tol=1e-3, callback=lambda *at: None).ok
    assert not corrected


def test_a_callback_counts_no_round_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The state is computed once more after a true gap, which was one more idle round.

    At most two rounds in a row make no progress here; with a callback they counted as five.
    """
    monkeypatch.setattr(smo, "STALLED_ROUNDS", 4)
    monkeypatch.setattr(working_set, "SMALLEST_SET", 20)
    monkeypatch.setattr(working_set, "POINTS_PER_PLACE", 1000)
    problem, corrected = (
        classification(*clusters(4000, flipped=0.4), 1.0, rbf(1 / 6)),
        list[float](),
    )
    monkeypatch.setattr(smo.GapTarget, "narrow", lambda aim, *at: corrected.append(aim.goal))
    assert solve(problem, "smo", tol=1e-3, callback=lambda *at: None).ok
    assert not corrected


@pytest.mark.parametrize("n", [6, 400])
def test_the_smallest_tolerance_ends(n: int) -> None:
    """A goal of half the tolerance would be 0, by which gaps were divided."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    machine = partial(classification, X, y, kernel=rbf(0.3))
    for problem in (machine(C=10.0), machine(C=1e6, loss="squared_hinge")):
        assert solve(problem, "smo", tol=5e-324).relative_gap < 1e-8


def test_a_solve_within_a_callback_changes_neither_result() -> None:
    """Both runs keep a block of K in memory for reuse.

    The outer one has its block once it has taken a step.
    """
    outer, inner = (classification(*clusters(80, seed), 10.0, rbf(1 / 6)) for seed in (0, 1))
    within: list[Solution] = []

    def nested(iterations: int, *_: object) -> None:
        if iterations and not within:
            within.append(solve(inner, "smo", tol=1e-6))

    def idle(*_: object) -> None:
        pass

    alone, around = (
        solve(outer, "smo", tol=1e-6, callback=callback) for callback in (idle, nested)
    )
    for found, wanted in ((around, alone), (within[0], solve(inner, "smo", tol=1e-6))):
        assert (found.status, found.iterations) == (Status.OPTIMAL, wanted.iterations)
        assert found.value == pytest.approx(wanted.value, rel=1e-9)


def test_threads_change_nothing_but_rounding() -> None:
    X, y = clusters(2500)
    one, two = (
        solve(classification(X, y, 1.0, rbf(1 / 6)), "smo", tol=1e-8, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert one.ok
    assert two.ok
    assert two.value == pytest.approx(one.value, rel=1e-7)
    with pytest.raises(ValueError, match="n_jobs must be at least 1"):
        solve(classification(X, y), "smo", n_jobs=0)


@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30), polynomial(2, 0.1, 1.0)])
def test_sparse_features_are_their_dense_ones(kernel: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X = np.where(np.abs(SCALED) > 0.5, SCALED, 0.0)
    dense = checked(classification(X, LABELS, 1.0, kernel))
    assert checked(classification(sparse.csr_array(X), LABELS, 1.0, kernel)).value == pytest.approx(
        dense.value, rel=1e-6
    )


def test_far_points_lose_no_digits() -> None:
    """gamma |x|^2 is in the thousands: products of features leave the exponent no digits.

    Differences of features leave some.
    """
    X = 200.0 * SCALED[:200]
    checked(classification(X, LABELS[:200], 1.0, rbf(0.5)))


def test_a_point_is_never_its_own_partner() -> None:
    """Its curvature with itself is rounding, and any slope over rounding is a large gain.

    The sum of a would be lost in a tube around 0.
    """
    X = DIABETES.data * 20
    for epsilon in (0.0, 1e-9, 1.0):
        solution = checked(regression(X, DIABETES.target, 100.0, epsilon, rbf(0.05)), 1e-8)
        assert solution.dual is not None
        assert solution.dual @ solution.problem.rows.s == 0


def test_weights_of_both_sides_of_a_tube_may_differ() -> None:
    """Rows have their own weights, also where the squared hinge makes them a ridge."""
    for loss in ("hinge", "squared_hinge"):
        even = regression(DIABETES.data[:150], DIABETES.target[:150], 1.0, 5.0, rbf(10.0), loss)
        weights = np.random.default_rng(0).uniform(0.1, 3.0, even.p)
        checked(MarginProblem(even.X, even.kernel, even.rows, 1.0, even.loss, True, weights), 1e-8)


def test_warm_start() -> None:
    problem = classification(SCALED, LABELS, 10.0, rbf(1 / 30))
    solution = checked(problem, 1e-9)
    again = checked(problem, 1e-9, warm_start=solution)
    assert present(again.iterations) <= 2
    smaller = checked(problem.with_cost(0.1), 1e-9, warm_start=solution)
    assert smaller.value == pytest.approx(checked(problem.with_cost(0.1), 1e-9).value, rel=1e-8)
    with pytest.raises(
        ValueError,
        match=r"the point's alpha must be a multiplier for each row, of shape \(569,\), and is of "
        r"shape \(3,\)",
    ):
        solve(problem, "smo", warm_start=Point(alpha=np.zeros(3)))


def test_limits_return_the_best_point_and_a_reason() -> None:
    problem = classification(CANCER.data, LABELS, 1.0)
    one = solve(problem, "smo", max_iter=1)
    assert (one.status, one.iterations) == (Status.ITERATION_LIMIT, 1)
    assert "limit of 1 iteration:" in one.reason
    assert np.isfinite([one.lower, one.upper]).all()
    soon = solve(problem, "smo", time_limit=1e-6)
    assert soon.status is Status.TIME_LIMIT
    assert np.isfinite([soon.lower, soon.upper]).all()
    unreachable = solve(problem, "smo", tol=1e-18, time_limit=60)
    assert unreachable.status is Status.NUMERICAL_FAILURE
    assert unreachable.interval.relative_width < 1e-8


def test_the_callback_sees_bounds_and_may_stop() -> None:
    seen: list[tuple[int, float, float]] = []

    def watch(iterations: int, lower: float, upper: float, point: CanonicalPoint) -> bool:
        seen.append((iterations, lower, upper))
        return len(seen) == 2

    solution = solve(classification(CANCER.data, LABELS, 1.0), "smo", callback=watch)
    assert solution.status is Status.CALLBACK
    assert "callback" in solution.reason
    assert len(seen) == 2
    assert all(lower <= upper for _, lower, upper in seen)


def test_refusals() -> None:
    assert "there is no bias" in str(
        smo.REQUIREMENTS.refusal(classification(SCALED, LABELS, bias=False))
    )
    assert "there is no bias" in str(smo.REQUIREMENTS.refusal(ranking(SCALED, LABELS)))
    assert "linear program" in str(
        smo.REQUIREMENTS.refusal(one_norm_ranking(SCALED[:9], LABELS[:9]))
    )
    pairs = Pairs(np.array([0, 1]), np.array([1, 2]), 3)
    pairs.s = np.array([1.0, -1.0])
    assert "more than one entry" in str(
        smo.REQUIREMENTS.refusal(MarginProblem(SCALED[:3], linear(), pairs))
    )


@given(st.data())
def test_any_small_problem(data: st.DataObject) -> None:
    """Integer points have many duplicates and ties; every cost is in {0, 0.1, 1, 10}."""
    m = data.draw(st.integers(1, 9), "m")
    X = data.draw(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=m, max_size=m), "X")
    kernel = data.draw(st.sampled_from([linear(), rbf(0.5), polynomial(2, 1.0, 1.0)]), "kernel")
    loss: LossName = data.draw(st.sampled_from(["hinge", "squared_hinge"]), "loss")
    weights = data.draw(
        st.lists(st.sampled_from([0.0, 0.1, 1.0, 10.0]), min_size=m, max_size=m), "weights"
    )
    if data.draw(st.booleans(), "tube"):
        y = data.draw(st.lists(st.integers(-3, 3), min_size=m, max_size=m), "y")
        epsilon = data.draw(st.sampled_from([0.0, 0.5, 1.0]), "epsilon")
        problem = regression(X, y, 1.0, epsilon, kernel, loss, weights)
    else:
        y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=m, max_size=m), "y")
        problem = classification(X, y, 1.0, kernel, loss, True, weights)
    checked(problem, 1e-8)


@given(st.permutations(range(30)), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_order_of_points_does_not_matter(order: list[int], C: float) -> None:
    X, y = SCALED[:30], LABELS[:30]
    one = checked(classification(X, y, C, rbf(1 / 30)), 1e-9)
    other = checked(classification(X[order], y[order], C, rbf(1 / 30)), 1e-9)
    assert one.lower <= other.upper
    assert other.lower <= one.upper


def test_ten_digits_where_the_multipliers_grid_is_coarser() -> None:
    """The grid is as coarse as the sum of all multipliers is large: f does not use it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = np.where(rng.random(900) < 0.5, 1.0, -1.0)
    solution = solve(classification(X, y, 1e4, rbf(0.05)), "smo", tol=1e-10)
    assert solution.ok, solution.reason
    assert solution.relative_gap <= 1e-10


def test_regression_of_few_dimensions_and_huge_products() -> None:
    """442 points, 66 dimensions, K of 1e14.

    Many turns of pair steps and Newton's method find the free points.
    """
    X = StandardScaler().fit_transform(DIABETES.data)
    y = (DIABETES.target - DIABETES.target.mean()) / DIABETES.target.std()
    problem = regression(1e3 * X, y, 1e-6, 0.1, polynomial(2, 1.0, 1.0))
    solution = solve(problem, "smo", tol=1e-6, max_iter=1_000_000)
    assert solution.ok, solution.reason
    assert solution.relative_gap <= 1e-6


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    "kernel",
    [rbf(0.1), rbf(3.0), polynomial(3, 0.2, 1.0), linear()],
    ids=["rbf", "narrow", "polynomial", "linear"],
)
def test_products_in_float32_are_off_by_no_more_than_they_say(kernel: Any, apart: bool) -> None:
    """The bound decides which points are sure to cost nothing."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 12)) * rng.choice([0.1, 1.0, 2.0], size=(700, 1))
    if apart:
        # Far from their mean, |x - z|^2 is a difference of large numbers.
        X = 0.1 * X + rng.choice([-10.0, 10.0], size=(700, 1))
    gram = classification(X, np.ones(700), kernel=kernel).gram
    unit = float(gram.diagonal.mean())
    exact = tiles(gram, unit)
    for v in (rng.normal(size=700), np.ones(700), 10.0 ** rng.uniform(-8, 8, size=700)):
        rough, f = np.zeros(700), np.zeros(700)
        exact.single().add_product(np.arange(700), v, rough)
        exact.add_product(np.arange(700), v, f)
        share = np.abs(rough - f) / (exact.resolution * np.abs(v).sum())
        assert share.max() <= 1.0


def test_a_tube_as_wide_as_float64_ends_at_zero() -> None:
    problem = regression(np.arange(6.0)[:, None], np.arange(6.0), 1e-3, 1e308)
    found = solve(problem, "smo")
    assert (found.status, found.interval.lower, found.interval.upper) == (Status.OPTIMAL, 0.0, 0.0)


def test_multipliers_that_prove_nothing_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs are at their ends with a violation below 0; repaired multipliers are 0."""
    monkeypatch.setattr(MarginProblem, "repaired", lambda problem, alpha: np.zeros(problem.p))
    found = solve(
        classification(np.arange(4.0)[:, None], [-1, -1, 1, 1], 1e-300), "smo", time_limit=60.0
    )
    assert (found.status, found.iterations) == (Status.NUMERICAL_FAILURE, 2)


@pytest.mark.parametrize("C", [1e-300, 1e-310, 1e-320])
def test_multipliers_near_the_smallest_float_are_optimal(C: float) -> None:
    """The optimum is 4 C (1 - 2 C)."""
    found = solve(
        classification(np.arange(4.0)[:, None], [-1, -1, 1, 1], C), "smo", time_limit=60.0
    )
    assert found.status is Status.OPTIMAL
    assert found.lower <= 4 * C <= found.upper <= 1.01 * 4 * C


def test_rounding_of_a_gap_below_0_is_not_progress() -> None:
    """The rounds at the optimum of an indefinite matrix went on for 10 million steps."""
    K = 202.92910657655952 * np.array(
        [[6.0, 1.0, 2.0, 1.0], [1.0, 4.0, 5.0, 4.0], [2.0, 5.0, -6.0, 5.0], [1.0, 4.0, 5.0, 0.0]]
    )
    problem = classification(
        K,
        [1.0, 1.0, 1.0, -1.0],
        C=1264.9907221893106,
        kernel=precomputed(),
        loss="squared_hinge",
        sample_weight=[3.676734321674705e-06, 1.1132093574366795e-33, 2.3e-308, 1.0],
    )
    solution = solve(problem, "smo", tol=1e-16)
    assert present(solution.iterations) < 1_000_000
    assert solution.status in {Status.STATIONARY, Status.NUMERICAL_FAILURE}


@pytest.mark.slow
def test_one_thread_holds_for_every_blas() -> None:
    """scipy has its own BLAS, which is loaded late.

    An earlier limit left Cholesky's factors to all processors.
    """
    code = """
from equimargin.formulations import classification
from equimargin.solvers import solve
solve(classification([[0.0], [1.0]], [-1.0, 1.0]), "smo")
from threadpoolctl import ThreadpoolController
from equimargin.solvers import threads
known = {each.filepath for each in threads._libraries()}
pools = ThreadpoolController().info()
assert known >= {each["filepath"] for each in pools if each["user_api"] == "blas"}, known
"""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=HANG)


def test_few_points_of_a_large_cost_are_left_to_newton_after_as_many_steps_as_many_points_are() -> (
    None
):
    """Few points begin in float64, where nothing ended the pair steps early.

    They took five times as many.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20))
    found = solve(
        classification(X, np.where(X[:, 0] + rng.normal(size=100) > 0, 1.0, -1.0), 100.0),
        "smo",
        tol=1e-4,
    )
    assert found.ok
    assert found.iterations is not None
    assert found.iterations < 2 * smo.ROUGH_STEPS_PER_POINT * 100


@given(
    st.sets(st.integers(0, 30), min_size=1),
    st.sets(st.integers(0, 30)),
    st.randoms(use_true_random=False),
)
def test_points_that_stay_in_a_working_set_keep_their_places(
    new: set[int], old: set[int], order: Any
) -> None:
    """The other points take the remaining places.

    Only their rows and columns of the block are computed anew.
    """
    points, before = (
        np.array(sorted(new), dtype=np.intp),
        np.array(order.sample(sorted(old), len(old)), dtype=np.intp),
    )
    seats, places = working_set.keep_positions(points, before)
    assert set(seats.tolist()) == new
    assert len(seats) == len(new)
    for k, point in enumerate(seats):
        stays = k < len(before) and before[k] in new
        assert stays == (k not in places)
        assert not stays or point == before[k]
