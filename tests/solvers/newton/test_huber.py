"""Smoothed hinge: proven intervals, LIBLINEAR's optima, and data that stall Newton steps."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_diabetes, make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from equimargin.formulations.kernels.kernel import rbf, sigmoid
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_ranking,
    ranking,
    regression,
)
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.loss import huberised_hinge
from equimargin.solvers.newton import huber
from equimargin.solvers.newton.base import step
from equimargin.solvers.newton.start import Subsample, unknowns_for
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Limits
from optima import CANCER, LABELS, SCALED, reached, same_optimum

checked = partial(reached, "huber")

DIABETES = load_diabetes()
BIASES = (True, False, "penalized")


def clusters(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """Return overlapping clusters with noisy labels, standardised."""
    X, y = make_classification(
        n, d, n_informative=d // 2, class_sep=1, flip_y=0.05, random_state=seed
    )
    return StandardScaler().fit_transform(X), np.where(y > 0, 1.0, -1.0)


@pytest.mark.parametrize("tol", [1e-6, 1e-10])
def test_as_many_rows_on_the_margin_as_features(tol: float) -> None:
    """Newton's method on Huber's function of width 1e-3 around 0 stalls here."""
    checked(classification(*clusters(5000, 200), 1.0, bias="penalized"), tol)


def test_classification_is_liblinears() -> None:
    problem = classification(SCALED, LABELS, 0.1, bias="penalized")
    model = LinearSVC(
        C=0.1, loss="hinge", tol=1e-10, max_iter=1_000_000, intercept_scaling=1, random_state=0
    ).fit(SCALED, LABELS)
    w = np.append(model.coef_[0], model.intercept_)
    theirs = problem.primal(SCALED @ w[:-1] + w[-1], float(w @ w), 0.0)
    solution = checked(problem, 1e-10)
    assert solution.lower <= theirs * (1 + 1e-12)
    assert solution.upper <= theirs * (1 + 1e-10)
    assert theirs <= solution.upper * (1 + 1e-6)


def test_unscaled_features() -> None:
    checked(classification(CANCER.data, LABELS, 1.0), 1e-9)


def test_a_start_on_some_of_the_points_changes_no_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clusters(3000, 10)
    score = X @ np.arange(10) + np.random.default_rng(0).normal(size=3000)
    problems = [
        classification(X, y),
        regression(X, score, 1.0, 0.5),
        ranking(X[:300], np.digitize(score[:300], [0.0, 9.0]), None, 0.1),
    ]
    cold = [checked(problem, 1e-9) for problem in problems]
    monkeypatch.setattr(huber, "HINGE_SUBSAMPLE", Subsample(entries=1, points_per_feature=10))
    for problem, before in zip(problems, cold, strict=True):
        same_optimum(before, checked(problem, 1e-9))


def test_no_row_on_the_margin_leaves_an_interval_of_biases() -> None:
    solution = checked(classification([[0.0], [1.0]], [1, -1], 0.1))
    assert solution.bias_interval == pytest.approx((-0.9, 1.0))
    assert -0.9 - 1e-6 <= solution.bias <= 1.0 + 1e-6


def test_an_offset_of_the_targets_is_taken_by_the_bias() -> None:
    near = checked(regression(DIABETES.data, DIABETES.target, 1.0, 0.1), 1e-8)
    far = checked(regression(DIABETES.data, DIABETES.target + 1e6, 1.0, 0.1), 1e-8)
    assert far.value == pytest.approx(near.value, rel=1e-6)


def test_refusals() -> None:
    assert "no kink" in str(
        huber.REQUIREMENTS.refusal(classification(SCALED, LABELS, loss="squared_hinge"))
    )
    assert "linear program" in str(
        huber.REQUIREMENTS.refusal(one_norm_ranking(SCALED[:9], LABELS[:9]))
    )
    assert "hard rows" in str(huber.REQUIREMENTS.refusal(classification(SCALED, LABELS, np.inf)))
    assert "semidefinite" in str(
        huber.REQUIREMENTS.refusal(classification(SCALED, LABELS, kernel=sigmoid()))
    )


@given(st.floats(-10, 10), st.floats(1e-6, 10))
def test_hubers_function_is_above_the_hinge_by_a_quarter_of_its_width_at_most(
    u: float, delta: float
) -> None:
    above = float(huberised_hinge(delta).value(np.array([u]))[0]) - max(u, 0.0)
    assert -1e-12 <= above <= delta / 4 + 1e-12


def test_points_so_near_each_other_that_their_features_leave_something_out() -> None:
    """Multipliers of 8e5 magnify eigenvalues at 1e-16 of the largest.

    The last steps use the kernel itself (nightly).
    """
    rows = (
        "3543 3650 3463 3143 3303 3525 3516 3202 3225 3252 3001 3031 3012 3132 3001 3301 3215 "
        "3106 3320 3155 3135 3322 3502 3565 3054"
    )
    X = np.array([[int(digit) for digit in row] for row in rows.split()]) - 3
    y = np.array([3, 3, 0, 2, 0, -2, 2, 0, -2, -3, -1, 2, 2, 2, 3, 1, 2, 2, 1, 0, 0, -1, -1, 2, 2])
    weights = [
        0.5,
        1,
        0.5,
        1,
        3,
        3,
        1,
        3,
        0.5,
        0.5,
        3,
        1,
        1,
        3,
        0.5,
        0.5,
        1,
        1,
        0.5,
        3,
        1,
        0.5,
        0.5,
        1,
        0.5,
    ]
    checked(regression(X, y, 4e5, 0.5, rbf(2e-5), sample_weight=weights), 1e-8)


@pytest.mark.parametrize("C", [1e-3, 1.0])
def test_many_pairs_of_labels_are_listed_only_for_the_narrowest_gaps(
    C: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sweeps take sums over the pairs.

    Functions of decreasing width around 0 do not reach 1e-10; explicit multipliers do.
    """
    rng = np.random.default_rng(0)
    X = np.round(rng.random((300, 4)), 1)
    y = np.digitize(X.sum(axis=1) + rng.normal(size=300), [1.5, 2.5]).astype(float)
    wide, narrow = (checked(ranking(X, y, np.arange(300) % 4, C), tol=tol) for tol in (1e-6, 1e-10))
    assert wide.problem.p > huber.SWEPT_PAIRS_PER_POINT * 300
    assert not isinstance(wide.dual, np.ndarray)
    assert isinstance(narrow.dual, np.ndarray)
    assert wide.lower <= narrow.upper
    assert narrow.lower <= wide.upper


@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_array])
def test_updated_product_is_that_of_all_multipliers(as_stored: Any) -> None:
    X, y = make_classification(600, 70, random_state=0)
    problem = classification(as_stored(X), 2.0 * y - 1, 0.01, bias=False)
    unknowns, phi = unknowns_for(problem, by_row=True), huberised_hinge(0.1)
    progress = DualConvergenceMonitor("huber", problem, Limits(1e-9), 100)
    updated, updates = unknowns.look(unknowns.start(Point()), phi), 0
    for _ in range(8):
        before = updated
        updated = unknowns.look(step(unknowns, before, progress), phi, before)
        change = updated.rows.alpha - before.rows.alpha
        updates += bool(2 * np.count_nonzero(change) < np.count_nonzero(updated.rows.alpha))
        product = (X * (2 * y - 1)[:, None]).T @ updated.rows.alpha
        assert updated.pull == pytest.approx(product, abs=1e-12)
    assert updates > 2


def test_a_slope_that_is_0_in_float64_is_no_error() -> None:
    """The width of the smooth hinge is beyond the reciprocal of the smallest float."""
    problem = classification(np.array([[-3e139]]), np.array([1.0]), 5e251)
    solution = solve(problem, "huber")
    assert solution.lower == 0.0
    assert solution.upper < 1e-10 * problem.C
