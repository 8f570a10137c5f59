"""Sigmoids and couplings against cvxpy and their conditions, and estimated probabilities.

Probabilities of an estimator are compared with values held out by hand.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equimargin.estimators import MarginClassifier
from equimargin.formulations import classification, rbf
from equimargin.solvers import solve
from equimargin.solvers.probability.coupling import bradley_terry, wlw
from equimargin.solvers.probability.sigmoid import platt

Array = NDArray[np.float64]


@st.composite
def between(draw: st.DrawFn) -> Array:
    k = draw(st.integers(2, 6))
    entries = draw(st.lists(st.floats(0.02, 0.98), min_size=k * k, max_size=k * k))
    above = np.triu(np.reshape(entries, (k, k)), 1)
    return np.asarray(above + np.tril(1 - above.T, -1))


@given(between())
def test_wlw_is_the_least_sum_of_squares_and_never_negative(r: Array) -> None:
    p, k = wlw(r), len(r)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert (p >= 0).all()
    M = np.array(
        [r[j, i] * np.eye(k)[i] - r[i, j] * np.eye(k)[j] for i in range(k) for j in range(i + 1, k)]
    )
    gradient = M.T @ M @ p
    # This is the condition of a minimum on 1'p = 1.
    np.testing.assert_allclose(gradient, gradient.mean(), atol=1e-12)


@settings(max_examples=20)
@given(between())
def test_bradley_terry_is_the_optimum_of_cvxpy_and_meets_its_conditions(r: Array) -> None:
    p, k = bradley_terry(r), len(r)
    mu = p[:, None] / (p[:, None] + p)
    other = 1 - np.eye(k)
    np.testing.assert_allclose((mu * other).sum(axis=1), (r * other).sum(axis=1), atol=1e-8)
    theta = cp.Variable(k)
    terms = [
        r[i, j] * cp.logistic(theta[j] - theta[i]) for i in range(k) for j in range(k) if i != j
    ]
    stated = cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [theta[0] == 0])
    stated.solve("CLARABEL")
    found = sum(r[i, j] * np.log1p(p[j] / p[i]) for i in range(k) for j in range(k) if i != j)
    assert found == pytest.approx(stated.value, rel=1e-6)


@given(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=6))
def test_couplings_give_back_what_is_consistent(given: list[float]) -> None:
    p = np.array(given) / sum(given)
    r = p[:, None] / (p[:, None] + p)
    r[np.tril_indices(len(p), -1)] = 1 - r.T[np.tril_indices(len(p), -1)]
    np.testing.assert_allclose(wlw(r), p, atol=1e-10)
    np.testing.assert_allclose(bradley_terry(r), p, atol=1e-8)
    np.testing.assert_allclose(
        bradley_terry(r, np.add.outer(np.arange(len(p)), np.arange(len(p))) + 1.0), p, atol=1e-8
    )


def test_couplings_of_many_points_at_once_are_those_of_each() -> None:
    rng = np.random.default_rng(0)
    above = np.triu(rng.uniform(size=(7, 4, 4)), 1)
    r = above + np.tril(1 - np.swapaxes(above, 1, 2), -1)
    for couple in (wlw, bradley_terry):
        np.testing.assert_allclose(couple(r), [couple(each) for each in r], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize("seed", range(4))
def test_a_sigmoid_is_the_optimum_of_cvxpy(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    f = rng.normal(size=30)
    second = f + 0.7 * rng.normal(size=30) > 0
    weight = rng.integers(0, 3, 30).astype(float)
    found = platt(scale * f, second, weight)
    assert found.gradient < 1e-9
    n1, n2 = weight[~second].sum(), weight[second].sum()
    t = np.where(second, (n2 + 1) / (n2 + 2), 1 / (n1 + 2))
    z = cp.Variable() * f + cp.Variable()
    stated = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(weight, cp.logistic(z) - cp.multiply(1 - t, z))))
    )
    stated.solve("CLARABEL")
    assert found.value == pytest.approx(stated.value, rel=1e-7)
    copies = platt(np.repeat(scale * f, weight.astype(int)), np.repeat(second, weight.astype(int)))
    assert pytest.approx((copies.A, copies.B), rel=1e-6) == (found.A, found.B)


def test_a_sigmoid_is_attained_where_the_classes_are_apart_and_where_nothing_tells_them() -> None:
    apart = platt([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert apart.gradient < 1e-9
    assert apart([-1.0, 1.0]) == pytest.approx([0.25, 0.75], abs=0.1)
    equal = platt([3.0, 3.0, 3.0], [0, 1, 1])
    assert equal([3.0])[0] == pytest.approx((1 / 3 + 2 * 3 / 4) / 3, abs=1e-6)
    assert platt([0.0, 0.0], [0, 1])([5.0])[0] == pytest.approx(0.5)
    same = platt([1e-8] * 3 + [7.0], [0, 1, 1, 0], [1.0, 2.5, 2.5, 0.0])
    assert (same.A, same([1.0])[0]) == (0.0, pytest.approx((1 / 3 + 5 * 6 / 7) / 6))


def test_what_has_no_probabilities_is_a_sentence() -> None:
    r = np.full((3, 3), 0.5)
    wrong: Any
    for wrong, message in (
        ([0.5], "square matrices of two classes"),
        (np.full((3, 3), 2.0), "numbers from 0 to 1"),
        (np.full((3, 3), 0.4), "r_ij \\+ r_ji must be 1"),
    ):
        for couple in (wlw, bradley_terry):
            with pytest.raises(ValueError, match=message):
                couple(wrong)
    with pytest.raises(ValueError, match="counts must be a symmetric 3 x 3 matrix"):
        bradley_terry(r, -np.ones((3, 3)))
    for arguments, message in (
        (([], []), "f is empty"),
        (([1.0], [1, 0]), "second must have one number"),
        (([1.0], [1], [0.0]), "weight must be finite, and above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            platt(*arguments)
    with pytest.raises(
        ValueError, match="class 7 has 1 row of positive weight; probabilities need at least two"
    ):
        MarginClassifier(probability=True).fit([[0.0], [1.0], [2.0]], [3, 3, 7])
    assert not hasattr(MarginClassifier(), "predict_proba")


def test_probabilities_are_made_of_values_held_out() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(24, 2)), np.where(rng.normal(size=24) > 0.3, 1, -1)
    fold = np.empty(24, dtype=int)
    for label in (1, -1):
        fold[y == label] = np.arange((y == label).sum()) % 5
    values = np.empty(24)
    for number in range(5):
        alone = solve(
            classification(X[fold != number], y[fold != number], 10.0, rbf(1.0)), tol=1e-10
        )
        values[fold == number] = alone.decision_function(X[fold == number])
    fitted = MarginClassifier(10.0, kernel=rbf(1.0), probability=True, tol=1e-10).fit(X, y)
    expected = platt(values, y > 0)
    assert fitted.calibration_[0] == pytest.approx((expected.A, expected.B), abs=1e-3)
    # Values at training points of f would be wrong.
    assert abs(platt(fitted.decision_function(X), y > 0).A - expected.A) > 0.5


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
@pytest.mark.parametrize("classes", [2, 4])
def test_an_estimator_has_probabilities_of_all_classes(kernel: str, classes: int) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=80), np.linspace(-1, 1, classes - 1))
    G = X @ X.T if kernel == "precomputed" else X
    fitted = MarginClassifier(kernel=kernel, probability=True).fit(G, y)
    p = fitted.predict_proba(G)
    assert p.shape == (80, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p >= 0).all()
    assert np.mean(p.argmax(axis=1) == y) > 0.6
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(G)), p)
    # The probabilities are better than uniform ones.
    assert -np.log(p[np.arange(80), y]).mean() < np.log(classes)
    if classes == 2:
        assert (np.diff(p[np.argsort(fitted.decision_function(G)), 1]) >= -1e-12).all()
