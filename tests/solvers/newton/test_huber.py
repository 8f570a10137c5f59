"""The smoothed hinge: proven intervals, LIBLINEAR's optima, and the data on which its Newton steps stall."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from equimargin.formulations.kernels.kernel import linear, polynomial, rbf, sigmoid
from equimargin.formulations.problem.construct import classification, one_norm_ranking, ranking, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.losses import huberised
from equimargin.solvers import Status, solve
from equimargin.solvers.newton import huber
from equimargin.solvers.newton import in_features as feature_descent
from equimargin.testing import margin_problems
from optima import reached, same_optimum

checked = partial(reached, "huber")

CANCER = load_breast_cancer()
SCALED = StandardScaler().fit_transform(CANCER.data)
LABELS = np.where(CANCER.target == 1, 1.0, -1.0)
DIABETES = load_diabetes()
BIASES = (True, False, "penalized")


def clusters(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Overlapping clusters with noisy labels, standardised."""
    X, y = make_classification(n, d, n_informative=d // 2, class_sep=1, flip_y=0.05, random_state=seed)
    return StandardScaler().fit_transform(X), np.where(y > 0, 1.0, -1.0)


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("bias", BIASES)
def test_classification(bias: Any, C: float, tol: float) -> None:
    checked(classification(SCALED, LABELS, C, bias=bias), tol)


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_as_many_rows_on_the_margin_as_features(tol: float) -> None:
    """Newton's method on Huber's function of width 1e-3 around 0 stalls here."""
    checked(classification(*clusters(5000, 200), 1.0, bias="penalized"), tol)


def test_classification_is_liblinears() -> None:
    problem = classification(SCALED, LABELS, 0.1, bias="penalized")
    model = LinearSVC(C=0.1, loss="hinge", tol=1e-10, max_iter=1_000_000, intercept_scaling=1, random_state=0).fit(SCALED, LABELS)
    w = np.append(model.coef_[0], model.intercept_)
    theirs = problem.primal(SCALED @ w[:-1] + w[-1], float(w @ w), 0.0)
    solution = checked(problem, 1e-10)
    assert solution.lower <= theirs * (1 + 1e-12)
    assert solution.upper <= theirs * (1 + 1e-10)
    assert theirs <= solution.upper * (1 + 1e-6)


@pytest.mark.parametrize("kernel", [linear(), rbf(0.2), polynomial(2, 0.1, 1.0)], ids=lambda kernel: kernel.name)
def test_it_agrees_with_the_other_solvers(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    score = X[:, 0] + rng.normal(size=60)
    y = np.where(score > 0, 1.0, -1.0)
    problems = {
        "smo": [classification(X, y, kernel=kernel), *(regression(X, score, 1.0, epsilon, kernel) for epsilon in (0.0, 0.1, 5.0))],
        "coordinate_descent": [
            classification(X, y, kernel=kernel, bias=False),
            ranking(X, np.round(score), np.arange(60) // 20, 1.0, kernel),
        ],
    }
    for other, those in problems.items():
        for problem in those:
            same_optimum(checked(problem, 1e-9), solve(problem, other, tol=1e-9))


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_scales_and_costs(scale: float, C: float) -> None:
    checked(classification(scale * SCALED, LABELS, C))
    checked(regression(scale * DIABETES.data, DIABETES.target, C, 0.1))


def test_unscaled_features() -> None:
    checked(classification(CANCER.data, LABELS, 1.0), 1e-9)


def test_fewer_points_than_features() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), np.repeat([1.0, -1.0], 20)
    for C in (0.01, 1.0, 100.0):
        for bias in BIASES:
            checked(classification(X, y, C, bias=bias), 1e-9)


@pytest.mark.parametrize("bias", BIASES)
def test_sparse_features_and_conjugate_gradients(bias: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    thin = np.where(np.abs(SCALED) > 0.7, SCALED, 0.0)
    dense = checked(classification(thin, LABELS, bias=bias), 1e-9)
    same_optimum(dense, checked(classification(sparse.csr_array(thin), LABELS, bias=bias), 1e-9))
    monkeypatch.setattr(feature_descent, "MOST_COLUMNS", 0)
    same_optimum(dense, checked(classification(sparse.csr_array(thin), LABELS, bias=bias), 1e-9))


def test_a_start_on_some_of_the_points_changes_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clusters(3000, 10)
    score = X @ np.arange(10) + np.random.default_rng(0).normal(size=3000)
    problems = [classification(X, y), regression(X, score, 1.0, 0.5), ranking(X[:300], np.digitize(score[:300], [0.0, 9.0]), None, 0.1)]
    cold = [checked(problem, 1e-9) for problem in problems]
    monkeypatch.setattr(huber, "WORTH", 1)
    monkeypatch.setattr(huber, "PART", 10)
    for problem, before in zip(problems, cold, strict=True):
        same_optimum(before, checked(problem, 1e-9))


def test_all_zero_costs_and_a_single_class() -> None:
    for bias in BIASES:
        nothing = checked(classification(SCALED, LABELS, sample_weight=np.zeros(len(LABELS)), bias=bias))
        assert nothing.value == 0.0
    assert checked(classification(SCALED, np.ones(len(LABELS)))).value == pytest.approx(0.0, abs=1e-12)
    assert checked(ranking(SCALED, np.ones(len(LABELS)))).value == 0.0
    assert checked(regression(SCALED, 0.1 * LABELS, 1.0, 0.5)).value == 0.0
    checked(classification([[1.0, 2.0]], [1.0]))
    assert checked(classification(np.zeros((3, 2)), [1.0, 1.0, -1.0])).value == pytest.approx(2.0)


@pytest.mark.parametrize("kernel", [linear(), rbf(0.5)], ids=lambda kernel: kernel.name)
def test_contradicting_duplicates_and_triplicates(kernel: Any) -> None:
    both = checked(classification(np.vstack([SCALED, SCALED]), np.concatenate([LABELS, -LABELS])))
    assert both.value == pytest.approx(2.0 * len(LABELS))
    X, y = SCALED[:100], LABELS[:100]
    same_optimum(
        checked(classification(X, y, 3.0, kernel), 1e-9), checked(classification(np.tile(X, (3, 1)), np.tile(y, 3), 1.0, kernel), 1e-9)
    )


def test_weight_zero_removes_a_row_and_two_repeats_it() -> None:
    weights = np.ones(len(LABELS))
    weights[::3], weights[1::3] = 0.0, 2.0
    rows = np.r_[1 : len(LABELS) : 3, 1 : len(LABELS) : 3, 2 : len(LABELS) : 3]
    whole = checked(classification(SCALED, LABELS, sample_weight=weights), 1e-9)
    same_optimum(whole, checked(classification(SCALED[rows], LABELS[rows]), 1e-9))


def test_no_row_on_the_margin_leaves_an_interval_of_biases() -> None:
    solution = checked(classification([[0.0], [1.0]], [1, -1], 0.1))
    assert solution.bias_interval == pytest.approx((-0.9, 1.0))
    assert -0.9 - 1e-6 <= solution.bias <= 1.0 + 1e-6


def test_an_offset_of_the_targets_is_taken_by_the_bias() -> None:
    near = checked(regression(DIABETES.data, DIABETES.target, 1.0, 0.1), 1e-8)
    far = checked(regression(DIABETES.data, DIABETES.target + 1e6, 1.0, 0.1), 1e-8)
    assert far.value == pytest.approx(near.value, rel=1e-6)


@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30)], ids=lambda kernel: kernel.name)
def test_warm_start(kernel: Any) -> None:
    problem = classification(SCALED, LABELS, 10.0, kernel)
    solution, cold = checked(problem, 1e-9), {C: checked(problem.with_cost(C), 1e-9) for C in (0.1, 9.0, 100.0)}
    for C, other in cold.items():
        same_optimum(other, checked(problem.with_cost(C), 1e-9, warm_start=solution))
    assert checked(problem, 1e-9, warm_start=solution).iterations <= 1
    with pytest.raises(ValueError, match="warm start has 3 multipliers"):
        solve(problem, "huber", warm_start=Point(alpha=np.zeros(3)))


def test_limits_return_the_best_point_and_a_reason() -> None:
    problem = classification(CANCER.data, LABELS)
    one = solve(problem, "huber", max_iter=1)
    assert (one.status, one.iterations) == (Status.ITERATION_LIMIT, 1)
    assert "limit of 1 iterations" in one.reason
    assert np.isfinite([one.lower, one.upper]).all()
    assert solve(problem, "huber", time_limit=1e-6).status is Status.TIME_LIMIT
    assert "callback" in solve(problem, "huber", callback=lambda iterations, lower, upper: True).reason
    unreachable = solve(problem, "huber", tol=1e-18)
    assert unreachable.status in (Status.NUMERICAL_FAILURE, Status.OPTIMAL)  # a gap of exactly 0 happens
    assert unreachable.interval.relative_width < 1e-8


def test_refusals() -> None:
    assert "no kink" in str(huber.NEEDS.refusal(classification(SCALED, LABELS, loss="squared_hinge")))
    assert "linear program" in str(huber.NEEDS.refusal(one_norm_ranking(SCALED[:9], LABELS[:9])))
    assert "hard rows" in str(huber.NEEDS.refusal(classification(SCALED, LABELS, np.inf)))
    assert "semidefinite" in str(huber.NEEDS.refusal(classification(SCALED, LABELS, kernel=sigmoid())))


@given(st.floats(-10, 10), st.floats(1e-6, 10))
def test_hubers_function_is_above_the_hinge_by_a_quarter_of_its_width_at_most(u: float, delta: float) -> None:
    above = float(huberised(delta).value(np.array([u]))[0]) - max(u, 0.0)
    assert -1e-12 <= above <= delta / 4 + 1e-12


@pytest.mark.parametrize("family", ["svm.soft", "svm.nobias", "svr.l1", "rank.l1"])
def test_any_small_problem(family: str) -> None:
    """Degenerate data at moderate scales, with every kernel: the optimum is reached."""

    @given(margin_problems(family, max_points=9, tails=False))
    def check(problem: MarginProblem) -> None:
        if huber.NEEDS.refusal(problem) is None:
            checked(problem, 1e-8)

    check()


def test_points_so_near_each_other_that_their_features_leave_something_out() -> None:
    """Multipliers of 8e5 make something of the eigenvalues at 1e-16 of the largest: the last steps are the kernel's own (nightly)."""
    rows = "3543 3650 3463 3143 3303 3525 3516 3202 3225 3252 3001 3031 3012 3132 3001 3301 3215 3106 3320 3155 3135 3322 3502 3565 3054"
    X = np.array([[int(digit) for digit in row] for row in rows.split()]) - 3
    y = np.array([3, 3, 0, 2, 0, -2, 2, 0, -2, -3, -1, 2, 2, 2, 3, 1, 2, 2, 1, 0, 0, -1, -1, 2, 2])
    weights = [0.5, 1, 0.5, 1, 3, 3, 1, 3, 0.5, 0.5, 3, 1, 1, 3, 0.5, 0.5, 1, 1, 0.5, 3, 1, 0.5, 0.5, 1, 0.5]
    checked(regression(X, y, 4e5, 0.5, rbf(2e-5), sample_weight=weights), 1e-8)


@given(st.permutations(range(30)), st.sampled_from([0.1, 10.0]))
def test_the_order_of_points_does_not_matter(order: list[int], C: float) -> None:
    X, y = SCALED[:30], LABELS[:30]
    same_optimum(checked(classification(X, y, C), 1e-9), checked(classification(X[order], y[order], C), 1e-9))
