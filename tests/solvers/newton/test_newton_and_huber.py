"""Newton's method on either loss: proven intervals, nasty data, warm starts, limits."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_diabetes

from equimargin.formulations.kernels.kernel import linear, polynomial, rbf
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.construct import classification, ranking, regression
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers import SOLVERS, Solution, Status, solve
from equimargin.solvers.newton import hessian
from equimargin.solvers.products import gram_products
from equimargin.solvers.products.gram_products import GramProducts
from equimargin.testing import margin_problems
from narrow import present
from optima import CANCER, LABELS, SCALED, reached, same_optimum

DIABETES = load_diabetes()
BIASES = (True, False, "penalized")


class Method(NamedTuple):
    """Solver, its loss, the gap requested on good data, and its narrowest interval.

    The narrowest interval is that reached with a requested gap of 0.
    """

    solver: str
    loss: LossName
    tight: float
    narrowest: float

    def checked(self, problem: MarginProblem, tol: float = 1e-6, **limits: Any) -> Solution:
        """Return the solution, its gap and its proven interval as requested."""
        return reached(self.solver, problem, tol, **limits)

    def signed(self, X: Any, y: Any, C: float = 1.0, **options: Any) -> MarginProblem:
        """Return a classification with the loss."""
        return classification(X, y, C, loss=self.loss, **options)

    def valued(
        self, X: Any, y: Any, C: float = 1.0, epsilon: float = 0.1, **options: Any
    ) -> MarginProblem:
        """Return a regression with the loss."""
        return regression(X, y, C, epsilon, loss=self.loss, **options)


METHODS = Method("newton", "squared_hinge", 1e-10, 1e-9), Method("huber", "hinge", 1e-9, 1e-8)
each = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.solver)


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
@pytest.mark.parametrize("C", [1e-6, 0.01, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("bias", BIASES)
@each
def test_classification(method: Method, bias: Any, C: float, tol: float) -> None:
    method.checked(method.signed(SCALED, LABELS, C, bias=bias), tol)


@pytest.mark.parametrize(
    "kernel", [linear(), rbf(0.2), polynomial(2, 0.1, 1.0)], ids=lambda kernel: kernel.name
)
@each
def test_it_agrees_with_the_other_solvers(method: Method, kernel: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    score = X[:, 0] + rng.normal(size=60)
    y = np.where(score > 0, 1.0, -1.0)
    tubes = [method.valued(X, score, epsilon=epsilon, kernel=kernel) for epsilon in (0.0, 0.1, 5.0)]
    ranks = ranking(X, np.round(score), np.arange(60) // 20, 1.0, kernel, method.loss)
    problems = {
        "smo": [method.signed(X, y, kernel=kernel), *tubes],
        "coordinate_descent": [method.signed(X, y, kernel=kernel, bias=False), ranks],
    }
    for other, those in problems.items():
        for problem in those:
            same_optimum(method.checked(problem, 1e-9), solve(problem, other, tol=1e-9))


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@each
def test_scales_and_costs(method: Method, scale: float, C: float) -> None:
    method.checked(method.signed(scale * SCALED, LABELS, C))
    method.checked(method.valued(scale * DIABETES.data, DIABETES.target, C))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
@each
def test_fewer_points_than_features(method: Method, C: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), np.repeat([1.0, -1.0], 20)
    for bias in BIASES:
        method.checked(method.signed(X, y, C, bias=bias), method.tight)


@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("bias", BIASES)
@each
def test_sparse_features_and_conjugate_gradients(
    method: Method, bias: Any, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two fifths of the entries are stored: the solver stores all for itself, or does not."""
    monkeypatch.setattr(hessian, "DENSE_SHARE", share)
    thin = np.where(np.abs(SCALED) > 0.7, SCALED, 0.0)
    dense = method.checked(method.signed(thin, LABELS, bias=bias), method.tight)
    same_optimum(
        dense,
        method.checked(method.signed(sparse.csr_array(thin), LABELS, bias=bias), method.tight),
    )
    monkeypatch.setattr(hessian, "MOST_COLUMNS", 0)
    for X in (thin, sparse.csr_array(thin)):
        same_optimum(dense, method.checked(method.signed(X, LABELS, bias=bias), 1e-9))


@each
def test_directions_stay_in_float32_while_steps_lower_the_objective(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gap rises for many steps here, while the pieces of the loss change.

    Directions were computed in float64 after the first such step.
    """
    monkeypatch.setattr(gram_products, "GRAM_IN_CACHE", 0.0)
    forgotten = list[int]()
    monkeypatch.setattr(GramProducts, "forget_rough", lambda K: forgotten.append(K.count))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=1500) > 1.0, 1.0, -1.0)
    method.checked(method.signed(X, y, 10.0, kernel=rbf(0.2), bias=False))
    assert not forgotten


@each
def test_all_zero_costs_and_a_single_class(method: Method) -> None:
    checked, signed = method.checked, method.signed
    for bias in BIASES:
        nothing = checked(signed(SCALED, LABELS, sample_weight=np.zeros(len(LABELS)), bias=bias))
        assert nothing.value == 0.0
    assert checked(signed(SCALED, np.ones(len(LABELS)))).value == pytest.approx(0.0, abs=1e-12)
    assert checked(ranking(SCALED, np.ones(len(LABELS)), loss=method.loss)).value == 0.0
    assert checked(method.valued(SCALED, 0.1 * LABELS, epsilon=0.5)).value <= (
        0.0 if method.loss == "hinge" else 1e-20
    )
    checked(signed([[1.0, 2.0]], [1.0]))
    at_one_place = {
        "hinge": 2.0,
        "squared_hinge": 8 / 3,
    }
    # Two labels have one sign, the third the other, and no f distinguishes them.
    assert checked(signed(np.zeros((3, 2)), [1.0, 1.0, -1.0])).value == pytest.approx(
        at_one_place[method.loss]
    )


@pytest.mark.parametrize(
    ("kernel", "points"), [(linear(), 569), (rbf(0.5), 100)], ids=["linear", "rbf"]
)
@each
def test_contradicting_duplicates_and_triplicates(method: Method, kernel: Any, points: int) -> None:
    X, y = SCALED[:points], LABELS[:points]
    both = method.checked(
        method.signed(np.vstack([X, X]), np.concatenate([y, -y]), kernel=kernel), method.tight
    )
    assert both.value == pytest.approx(2.0 * points)
    thrice = method.signed(np.tile(X, (3, 1)), np.tile(y, 3), 1.0, kernel=kernel)
    same_optimum(
        method.checked(method.signed(X, y, 3.0, kernel=kernel), method.tight),
        method.checked(thrice, method.tight),
    )


@each
def test_weight_zero_removes_a_row_and_two_repeats_it(method: Method) -> None:
    weights = np.ones(len(LABELS))
    weights[::3], weights[1::3] = 0.0, 2.0
    rows = np.r_[1 : len(LABELS) : 3, 1 : len(LABELS) : 3, 2 : len(LABELS) : 3]
    whole = method.checked(method.signed(SCALED, LABELS, sample_weight=weights), method.tight)
    same_optimum(whole, method.checked(method.signed(SCALED[rows], LABELS[rows]), method.tight))


@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30)], ids=lambda kernel: kernel.name)
@each
def test_warm_start(method: Method, kernel: Any) -> None:
    problem = method.signed(SCALED, LABELS, 10.0, kernel=kernel)
    solution = method.checked(problem, 1e-9)
    for C in (0.1, 9.0, 100.0):
        other = problem.with_cost(C)
        same_optimum(method.checked(other, 1e-9), method.checked(other, 1e-9, warm_start=solution))
    assert present(method.checked(problem, 1e-9, warm_start=solution).iterations) <= 1
    with pytest.raises(
        ValueError,
        match=r"the point's alpha must be a multiplier for each row, .* is of shape \(3,\)",
    ):
        solve(problem, method.solver, warm_start=Point(alpha=np.zeros(3)))


@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30)], ids=lambda kernel: kernel.name)
@each
def test_a_function_alone_is_a_start(method: Method, kernel: Any) -> None:
    problem = method.signed(SCALED, LABELS, 10.0, kernel=kernel)
    near, far = method.checked(problem, 1e-9), solve(problem, method.solver, max_iter=1)
    once = solve(problem, method.solver, max_iter=1, warm_start=Point(beta=near.beta))
    assert once.value < near.value + 0.1 * (far.value - near.value)


@pytest.mark.parametrize("kernel", [linear(), rbf(1 / 30)], ids=lambda kernel: kernel.name)
@each
def test_a_problem_without_a_bias_starts_from_one_with_a_bias(method: Method, kernel: Any) -> None:
    with_bias = solve(method.signed(SCALED, LABELS, 10.0, kernel=kernel))
    assert with_bias.bias != 0.0
    problem = method.signed(SCALED, LABELS, 10.0, kernel=kernel, bias=False)
    same_optimum(method.checked(problem, 1e-8), method.checked(problem, 1e-8, warm_start=with_bias))
    same_optimum(
        method.checked(problem, 1e-8), method.checked(problem, 1e-8, warm_start=Point(b=3.0))
    )


@each
def test_a_start_that_does_not_fit_is_refused_and_one_that_is_not_finite_counts_as_0(
    method: Method,
) -> None:
    featured, kernel = (
        method.signed(SCALED, LABELS),
        method.signed(SCALED, LABELS, kernel=rbf(1 / 30)),
    )
    with pytest.raises(
        ValueError,
        match=r"the point's w must be a weight for each feature, of shape \(30,\), and is of "
        r"shape \(2,\)",
    ):
        solve(featured, method.solver, warm_start=Point(w=np.ones(2)))
    for problem in (featured, kernel):
        with pytest.raises(
            ValueError,
            match=r"the point's beta must be .* of shape \(569,\), and is of shape \(3,\)",
        ):
            solve(problem, method.solver, warm_start=Point(beta=np.ones(3)))
        method.checked(problem, 1e-8, warm_start=Point(beta=np.full(len(LABELS), np.inf), b=np.nan))


def test_huber_says_which_multipliers_do_not_fit() -> None:
    start = Point(beta=np.zeros(len(LABELS)), alpha=np.ones(3))
    with pytest.raises(
        ValueError,
        match=r"the point's alpha must be a multiplier for each row, of shape \(569,\), and is of "
        r"shape \(3,\)",
    ):
        solve(classification(SCALED, LABELS), "huber", warm_start=start)


@each
def test_limits_return_the_best_point_and_a_reason(method: Method) -> None:
    solver, problem = method.solver, method.signed(CANCER.data, LABELS)
    one = solve(problem, solver, max_iter=1)
    assert (one.status, one.iterations) == (Status.ITERATION_LIMIT, 1)
    assert "limit of 1 iteration:" in one.reason
    assert np.isfinite([one.lower, one.upper]).all()
    assert solve(problem, solver, time_limit=1e-6).status is Status.TIME_LIMIT
    assert "callback" in solve(problem, solver, callback=lambda *_: True).reason
    unreachable = solve(problem, solver, tol=1e-18)
    # A gap of exactly 0 happens.
    assert unreachable.status in (
        Status.NUMERICAL_FAILURE,
        Status.OPTIMAL,
    )
    assert unreachable.interval.relative_width < method.narrowest


@pytest.mark.slow
@pytest.mark.parametrize(
    "family",
    ["svm.l2", "svm.nobias_l2", "svr.l2", "rank.l2", "svm.soft", "svm.nobias", "svr.l1", "rank.l1"],
)
def test_any_small_problem(family: str) -> None:
    """The optimum is reached on degenerate data of moderate scale, with every kernel."""
    solver = SOLVERS["newton" if family.endswith("l2") else "huber"]
    checked = partial(reached, solver.name)

    @given(margin_problems(family, max_points=9, tails=False))
    def check(problem: MarginProblem) -> None:
        if solver.refusal(problem) is None:
            checked(problem, 1e-8)

    check()


@each
@given(order=st.permutations(range(30)), C=st.sampled_from([0.1, 10.0]))
def test_the_order_of_points_does_not_matter(method: Method, order: list[int], C: float) -> None:
    X, y = SCALED[:30], LABELS[:30]
    same_optimum(
        method.checked(method.signed(X, y, C), 1e-9),
        method.checked(method.signed(X[order], y[order], C), 1e-9),
    )
