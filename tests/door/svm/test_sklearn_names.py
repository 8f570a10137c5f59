"""Classes of scikit-learn's names against scikit-learn's and against their problems."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

import equimargin.svm
from equimargin.formulations import linear, rbf
from equimargin.proofs import audit
from equimargin.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from places import HANG, ROOT

CLASSES = [getattr(equimargin.svm, name) for name in equimargin.svm.__all__]
AT_THE_MARGIN = "a support vector at the margin has the decision value 0, and a rounded sign"
EXPECTED_FAILURES = {
    "NuSVC": {
        "check_class_weight_classifiers": "class_weight is without effect",
        "check_sample_weight_equivalence_on_dense_data": "nu is infeasible for the weights",
        "check_sample_weight_equivalence_on_sparse_data": "nu is infeasible for the weights",
    },
    "OneClassSVM": {
        "check_methods_subset_invariance": AT_THE_MARGIN,
        "check_sample_weight_equivalence_on_dense_data": AT_THE_MARGIN,
        "check_sample_weight_equivalence_on_sparse_data": AT_THE_MARGIN,
    },
}
"""Checks that fail by the class, and reasons; all are on scikit-learn's own list but one."""
# gamma="scale" is scikit-learn's, without sample weights: copies of a row change it.
EVERY_CHECK: pytest.MarkDecorator = parametrize_with_checks(
    [
        SVC(gamma=0.5),
        SVC(kernel="linear"),
        SVC(kernel="poly", gamma=0.01, coef0=1.0),
        SVC(kernel="precomputed"),
        SVC(kernel=rbf(0.5), break_ties=True),
        SVR(gamma=0.5, tol=1e-6),
        SVR(kernel="linear", tol=1e-6),
        LinearSVC(tol=1e-6),
        LinearSVC(penalty="l1", tol=1e-6),
        LinearSVC(loss="hinge", tol=1e-6),
        LinearSVC(tol=1e-6, multi_class="crammer_singer"),
        LinearSVR(tol=1e-6),
        LinearSVR(loss="squared_epsilon_insensitive", tol=1e-6),
        NuSVC(gamma=0.5, tol=1e-6),
        NuSVR(gamma=0.5, tol=1e-6),
        OneClassSVM(gamma=0.5, tol=1e-6),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(type(estimator).__name__, {}),
)


# A check subtracts the mean entry of a Gram matrix, which is then indefinite.
@pytest.mark.filterwarnings("ignore:A stationary point of a problem that is not convex")
@pytest.mark.slow
@EVERY_CHECK
def test_checks_of_scikit_learn_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("own", CLASSES)
def test_parameters_and_defaults_are_those_of_scikit_learn(own: Any) -> None:
    theirs = signature(getattr(sklearn.svm, own.__name__)).parameters
    defaults = {name: parameter.default for name, parameter in signature(own).parameters.items()}
    published = {name: parameter.default for name, parameter in theirs.items()}
    if parse_version(sklearn.__version__) < parse_version("1.9") and "probability" in published:
        published["probability"] = "deprecated"  # False before, and without effect here
    assert {name: defaults[name] for name in theirs} == published
    assert set(defaults) - set(theirs) <= {"device", "n_jobs", "time_limit"}


def shifted_square(A: Any, B: Any) -> Any:
    """Return (a.b + 1)^2 for all rows a and b."""
    A, B = (Z.toarray() if sparse.issparse(Z) else Z for Z in (A, B))
    return (A @ B.T + 1.0) ** 2


@pytest.mark.parametrize("kernel", ["linear", "rbf", shifted_square])
@pytest.mark.parametrize("sparse_X", [False, True])
def test_svc_of_three_classes_has_attributes_of_scikit_learn(kernel: Any, sparse_X: bool) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[20:130] - X.mean(axis=0), y[20:130]
    points = sparse.csr_array(X) if sparse_X else X
    weights = np.where(np.arange(len(y)) % 7 == 0, 0.5, 1.0)
    given: dict[str, Any] = {"C": 0.3, "kernel": kernel, "class_weight": "balanced"}
    own = SVC(**given, tol=1e-6).fit(points, y, weights)
    theirs = sklearn.svm.SVC(**given, tol=1e-9).fit(points, y, weights)
    for name in ("support_", "n_support_", "class_weight_", "shape_fit_", "classes_"):
        np.testing.assert_array_equal(getattr(own, name), getattr(theirs, name), err_msg=name)
    names = ["dual_coef_", "intercept_", "support_vectors_"]
    for name in [*names, "coef_"] if kernel == "linear" else names:
        ours, expected = getattr(own, name), getattr(theirs, name)
        assert sparse.issparse(ours) == sparse.issparse(expected)
        ours, expected = (A.toarray() if sparse.issparse(A) else A for A in (ours, expected))
        np.testing.assert_allclose(ours, expected, atol=1e-4, err_msg=name)
    for shape in ("ovr", "ovo"):
        own.decision_function_shape = theirs.decision_function_shape = shape
        np.testing.assert_allclose(
            own.decision_function(points[:40]), theirs.decision_function(points[:40]), atol=1e-4
        )
    np.testing.assert_array_equal(own.predict(points), theirs.predict(points))


def test_svr_has_attributes_of_scikit_learn() -> None:
    X, y = make_regression(40, 5, noise=3.0, random_state=0)
    own, theirs = SVR(C=20.0, tol=1e-6).fit(X, y), sklearn.svm.SVR(C=20.0, tol=1e-9).fit(X, y)
    for name in ("support_", "n_support_", "dual_coef_", "intercept_", "support_vectors_"):
        np.testing.assert_allclose(getattr(own, name), getattr(theirs, name), atol=1e-4)
    np.testing.assert_allclose(own.predict(X), theirs.predict(X), atol=1e-4)


def test_rows_of_weight_0_are_excluded_and_counted() -> None:
    X, y = make_classification(40, 3, flip_y=0.2, n_informative=2, n_redundant=0, random_state=0)
    weights = np.where(np.arange(40) < 10, -1.0, 1.0)
    fitted, rest = SVC(gamma=1.0).fit(X, y, weights), SVC(gamma=1.0).fit(X[10:], y[10:])
    np.testing.assert_array_equal(fitted.support_, rest.support_ + 10)
    np.testing.assert_allclose(fitted.decision_function(X), rest.decision_function(X), atol=1e-6)


def linear_optimum(X: Any, y: Any, weights: Any, loss: str, s: float, epsilon: Any) -> float:
    """Return the optimum of LIBLINEAR's problem at C = 0.5, as its authors print it."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ w + b
    excess = cp.pos(1 - cp.multiply(y, f)) if epsilon is None else cp.pos(cp.abs(y - f) - epsilon)
    terms = cp.square(excess) if loss.startswith("squared") else excess
    norm = cp.sum_squares(w) + cp.square(b / s)
    problem = cp.Problem(cp.Minimize(norm / 2 + 0.5 * cp.sum(cp.multiply(weights, terms))))
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_bounds_of_linear_svc_contain_optimum_in_cvxpy(loss: Any) -> None:
    X, y = make_classification(30, 4, flip_y=0.2, random_state=1)
    weights = np.where(y == 1, 3.0, 1.0) * (1.0 + np.arange(30) % 3)
    fitted = LinearSVC(loss=loss, C=0.5, intercept_scaling=4.0, class_weight={1: 3.0}).fit(
        X, y, 1.0 + np.arange(30) % 3
    )
    optimum = linear_optimum(X, 2.0 * y - 1, weights, loss, 4.0, None)
    lower, upper = fitted.objective_bounds_
    assert lower - 1e-7 * optimum <= optimum <= upper + 1e-7 * optimum
    assert upper - lower <= 1e-7 * optimum


@pytest.mark.parametrize("sparse_X", [False, True])
@pytest.mark.parametrize("s", [None, 0.5, 100.0])
def test_one_norm_of_linear_svc_has_the_optimum_of_cvxpy(s: float | None, sparse_X: bool) -> None:
    X, y = make_classification(60, 20, flip_y=0.2, random_state=1)
    X = X * (np.abs(X) > 0.5)
    weights = np.where(y == 1, 3.0, 1.0) * (1.0 + np.arange(60) % 3)
    given: dict[str, Any] = {"fit_intercept": s is not None, "intercept_scaling": s or 1.0}
    fitted = LinearSVC("l1", C=0.05, class_weight={1: 3.0}, **given)
    fitted.fit(sparse.csr_array(X) if sparse_X else X, y, 1.0 + np.arange(60) % 3)
    w, b = cp.Variable(20), cp.Variable()
    squares = cp.square(cp.pos(1 - cp.multiply(2.0 * y - 1, X @ w + b)))
    norm = cp.norm1(w) + cp.abs(b) / (s or 1.0)
    problem = cp.Problem(
        cp.Minimize(norm + 0.05 * weights @ squares), [b == 0] if s is None else []
    )
    optimum = float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10))
    lower, upper = fitted.objective_bounds_
    assert lower - 1e-7 * optimum <= optimum <= upper + 1e-7 * optimum
    assert upper - lower <= 1e-7 * optimum
    assert fitted.duality_gap_ <= 1e-8
    np.testing.assert_allclose(np.ravel(fitted.coef_), w.value, atol=1e-4)
    np.testing.assert_array_equal(np.ravel(fitted.coef_) == 0, np.abs(w.value) < 1e-6)
    assert float(np.ravel(fitted.intercept_)[0]) == pytest.approx(float(b.value), abs=1e-4)


def test_one_norm_of_three_classes_is_one_problem_per_class() -> None:
    X, y = load_iris(return_X_y=True)
    own = LinearSVC("l1", C=0.3).fit(X, y)
    parts = [LinearSVC("l1", C=0.3).fit(X, y == k) for k in range(3)]
    np.testing.assert_array_equal(own.coef_, np.vstack([part.coef_ for part in parts]))
    assert own.objective_bounds_[1] == pytest.approx(
        sum(part.objective_bounds_[1] for part in parts), rel=1e-12
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("given", [{}, {"penalty": "l1"}, {"multi_class": "crammer_singer"}])
def test_balanced_class_whose_rows_weigh_0_is_excluded(given: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 2, 0.0, 1.0)
    found = LinearSVC(class_weight="balanced", **given).fit(X, y, weights)
    # "balanced" shares 100 among three classes; 50 in each of two have 100 / (3 50).
    plain = LinearSVC(class_weight={0: 2 / 3, 1: 2 / 3, 2: 0.0}, **given).fit(X, y, weights)
    np.testing.assert_array_equal(found.coef_, plain.coef_)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_bounds_of_linear_svr_contain_optimum_in_cvxpy(loss: str) -> None:
    X, y = make_regression(30, 4, noise=2.0, random_state=1)
    y = y / 20 + 3
    fitted = LinearSVR(loss=loss, C=0.5, epsilon=0.2, intercept_scaling=4.0).fit(X, y)
    optimum = linear_optimum(X, y, np.ones(30), loss, 4.0, 0.2)
    lower, upper = fitted.objective_bounds_
    assert lower - 1e-7 * optimum <= optimum <= upper + 1e-7 * optimum
    assert upper - lower <= 1e-7 * optimum


def test_one_class_against_the_rest_weighs_that_class_alone() -> None:
    X, y = load_iris(return_X_y=True)
    given: dict[str, Any] = {"C": 0.1, "class_weight": {0: 4.0, 2: 0.5}}
    own = LinearSVC(**given).fit(X, y)
    theirs = sklearn.svm.LinearSVC(**given, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(own.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(own.intercept_, theirs.intercept_, atol=1e-5)


def joint_optimum(X: Any, codes: Any, costs: Any, s: float) -> float:
    """Return the optimum of LIBLINEAR's problem of all classes, as its authors print it."""
    k = int(codes.max()) + 1
    W, b, E = cp.Variable((k, X.shape[1])), cp.Variable((1, k)), np.eye(k)[codes]
    f = X @ W.T + np.ones((len(X), 1)) @ b
    losses = cp.max(f + 1 - E, axis=1) - cp.sum(cp.multiply(E, f), axis=1)
    norm = cp.sum_squares(W) + cp.sum_squares(b) / s**2
    problem = cp.Problem(cp.Minimize(norm / 2 + costs @ losses))
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("sparse_X", [False, True])
def test_crammer_singer_has_optimum_and_weights_of_liblinear(k: int, sparse_X: bool) -> None:
    X, codes = load_iris(return_X_y=True)
    X, codes = X[codes < k][::2] - 4.0, codes[codes < k][::2]
    points, weights = sparse.csr_array(X) if sparse_X else X, np.arange(len(X)) % 4 / 2
    given: dict[str, Any] = {
        **{"multi_class": "crammer_singer", "C": 0.5, "intercept_scaling": 4.0},
        "class_weight": {0: 0.5, 1: 3.0},
    }
    own = LinearSVC(**given, tol=1e-6).fit(points, codes, weights)
    theirs = sklearn.svm.LinearSVC(**given, tol=1e-9, max_iter=10**6).fit(points, codes, weights)
    factors = np.array([0.5, 3.0, 1.0])[codes]
    optimum = joint_optimum(X, codes, 0.5 * weights * factors, 4.0)
    lower, upper = own.objective_bounds_
    assert lower - 1e-7 * optimum <= optimum <= upper + 1e-7 * optimum
    assert upper - lower <= 1e-9 * optimum
    for name in ("coef_", "intercept_"):
        ours, expected = getattr(own, name), getattr(theirs, name)
        assert ours.shape == expected.shape
        np.testing.assert_allclose(ours, expected, atol=1e-4, err_msg=name)
    np.testing.assert_array_equal(own.predict(points), theirs.predict(points))
    without = LinearSVC(**given | {"fit_intercept": False}).fit(points, codes)
    assert without.intercept_ == 0.0
    assert without.coef_.shape == own.coef_.shape


def soft_optimum(X: Any, target: Any, costs: Any, epsilon: Any = None) -> float:
    """Return the optimum with a free intercept and a linear kernel, as document T prints it."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ w + b
    excess = (
        cp.pos(1 - cp.multiply(target, f))
        if epsilon is None
        else cp.pos(cp.abs(target - f) - epsilon)
    )
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(cp.multiply(costs, excess))))
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-10))


@pytest.mark.parametrize("kernel", ["linear", "precomputed", linear(), lambda A, B: A @ B.T])
def test_bounds_of_svc_contain_sum_of_the_optima_of_all_pairs(kernel: Any) -> None:
    X, y = load_iris(return_X_y=True)
    X, y, factors = X[::5], y[::5], np.array([2.0, 1.0, 0.5])
    weights = np.arange(len(y)) % 4 / 2
    points = X @ X.T if kernel == "precomputed" else X
    fitted = SVC(C=0.3, kernel=kernel, class_weight=dict(enumerate(factors)))
    lower, upper = fitted.fit(points, y, weights).objective_bounds_
    costs = 0.3 * weights * factors[y]
    optimum = sum(
        soft_optimum(X[rows], np.where(y[rows] == i, 1.0, -1.0), costs[rows])
        for i, j in combinations(range(3), 2)
        for rows in [np.isin(y, [i, j])]
    )
    assert lower - 1e-7 * optimum <= optimum <= upper + 1e-7 * optimum
    assert upper - lower <= 1e-7 * optimum


def test_bounds_of_svr_contain_optimum_in_cvxpy() -> None:
    X, y = make_regression(30, 4, noise=2.0, random_state=1)
    y, weights = y / 20 + 3, np.arange(30) % 4 / 2
    fitted = SVR(kernel="linear", C=0.5, epsilon=0.2).fit(X, y, weights)
    optimum = soft_optimum(X, y, 0.5 * weights, 0.2)
    lower, upper = fitted.objective_bounds_
    assert lower - 1e-7 * optimum <= optimum <= upper + 1e-7 * optimum
    assert upper - lower <= 1e-7 * optimum


def test_gram_matrix_of_new_points_has_a_column_for_every_row_of_weight_0_too() -> None:
    X, y = load_iris(return_X_y=True)
    weights = (np.arange(150) % 3 > 0) * 1.0
    own = SVC(kernel="precomputed", tol=1e-6).fit(X @ X.T, y, weights)
    rest = sklearn.svm.SVC(kernel="linear", tol=1e-9).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(
        own.decision_function(X[:70] @ X.T), rest.decision_function(X[:70]), atol=1e-4
    )


def test_linear_kernel_as_an_object_has_weights() -> None:
    X, y = load_iris(return_X_y=True)
    named, given = SVC(kernel="linear").fit(X, y), SVC(kernel=linear()).fit(X, y)
    np.testing.assert_array_equal(given.coef_, named.coef_)
    np.testing.assert_array_equal(given.decision_function(X), named.decision_function(X))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda A, B: -np.outer(A, B), r"eigenvalue -4"),
        (lambda A, B: np.outer(A, B) + np.asarray(A), r"must be symmetric: .* up to 2;"),
        (lambda A, B: np.outer(A, B) * np.nan, r"finite numbers, not nan"),
    ],
)
def test_callable_that_is_no_kernel_is_refused_with_the_reason(kernel: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SVC(kernel=kernel).fit([[0.0], [2.0]], [0, 1])


def test_callable_without_a_value_at_a_new_point_is_refused() -> None:
    fitted = SVC(kernel=lambda A, B: np.exp(-(np.subtract.outer(np.ravel(A), np.ravel(B)) ** 2)))
    with pytest.raises(ValueError, match="finite numbers, not nan"):
        fitted.fit([[0.0], [2.0]], [0, 1]).predict([[np.nan]])


@pytest.mark.parametrize("own", CLASSES)
def test_audit_names_the_proven_bounds_of_the_estimator(own: Any) -> None:
    X, y = [[0.0], [1.0], [3.0]], [0, 1, 1]
    with pytest.raises(ValueError, match=f"not {own.__name__} of equimargin, whose objective_b"):
        audit(own().fit(X, y), X, y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearSVC(penalty="l1", loss="hinge"), r"set dual='auto' and penalty='l2'$"),
        (LinearSVC(penalty="l1", dual=True), r"Unsupported set of arguments.* dual='auto'$"),
        (LinearSVC(penalty="l1", class_weight={1: np.inf}), "not inf; lower"),
        (LinearSVC(C=1e308, multi_class="crammer_singer", class_weight={1: 9.0}), "not inf; lower"),
        (LinearSVC(loss="hinge", dual=False), "Unsupported set of arguments"),
        (SVC(C=-1.0), "'C' parameter of SVC"),
        (LinearSVC(loss="huberised_hinge"), "'loss' parameter of LinearSVC"),
        (LinearSVR(loss="hinge"), "'loss' parameter of LinearSVR"),
        (LinearSVR(dual=False), r"set dual='auto'$"),
        (SVC(class_weight={1: -2.0}), "class_weight must have .*, not -2 for class 1"),
        (LinearSVC(class_weight={0: np.nan}), "class_weight must have .*, not nan for class 0"),
    ],
)
def test_unsupported_parameters_are_refused(estimator: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimator.fit([[0.0], [2.0]], [0, 1])


def test_predict_proba_says_why_it_is_absent() -> None:
    fitted = SVC().fit([[0.0], [2.0]], [0, 1])
    with pytest.raises(AttributeError, match="predict_proba") as absent:
        fitted.predict_proba([[0.0]])
    reason = str(absent.value.__cause__)
    assert "scikit-learn 1.9 deprecates `probability`" in reason
    assert "PairwiseCoupling(SVC()) or sklearn.calibration.CalibratedClassifierCV(SVC()" in reason


def nu_optimum(X: Any, targets: Any, costs: Any, nu: float, kind: str) -> tuple[float, Any, float]:
    """Return the optimum over w, b and rho or epsilon, then w and b over the margin rho."""
    w, b, rho = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(nonneg=True)
    f = X @ w + (0.0 if kind == "one_class" else b)
    slack = cp.abs(targets - f) - rho if kind == "nu_svr" else rho - cp.multiply(targets, f)
    sign = 1.0 if kind == "nu_svr" else -1.0
    losses = cp.sum(cp.multiply(costs, cp.pos(slack))) + sign * nu * costs.sum() * rho
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + losses))
    problem.solve(solver="CLARABEL", tol_gap_rel=1e-11, tol_gap_abs=1e-11)
    scale = rho.value if kind == "nu_svc" else 1.0
    level = -rho.value if kind == "one_class" else b.value
    return float(problem.value), w.value / scale, float(level / scale)


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (NuSVC(nu=0.3, kernel="linear"), "nu_svc"),
        (NuSVR(nu=0.3, C=0.7, kernel="linear"), "nu_svr"),
        (OneClassSVM(nu=0.3, kernel="linear"), "one_class"),
    ],
)
def test_bounds_and_function_of_nu_machines_are_those_of_cvxpy(estimator: Any, kind: str) -> None:
    X, y = make_classification(60, 4, flip_y=0.2, random_state=1)
    X, weights = X + 1.0, np.arange(60) % 4 / 2
    targets = {"nu_svc": 2.0 * y - 1, "nu_svr": X[:, 0] + y, "one_class": np.ones(60)}[kind]
    optimum, w, b = nu_optimum(X, targets, getattr(estimator, "C", 1.0) * weights, 0.3, kind)
    estimator.fit(X, targets, weights)
    lower, upper = estimator.objective_bounds_
    size = abs(optimum)
    assert lower - 1e-7 * size <= optimum <= upper + 1e-7 * size
    assert upper - lower <= 1e-7 * size
    assert estimator.duality_gap_ <= 1e-8
    np.testing.assert_allclose(estimator.coef_[0], w, atol=1e-4)
    np.testing.assert_allclose(estimator.intercept_, b, atol=1e-4)


@pytest.mark.parametrize(
    "given",
    [
        {"nu": 0.3},
        {"nu": 0.3, "kernel": "linear"},
        {"nu": 0.3, "kernel": "poly", "coef0": 1.0},
        {"nu": 0.6, "kernel": shifted_square},
    ],
)
@pytest.mark.parametrize("name", ["NuSVC", "NuSVR", "OneClassSVM"])
def test_nu_machines_have_attributes_of_scikit_learn(name: str, given: dict[str, Any]) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[20:130] / 2, y[20:130]
    weights = np.where(np.arange(len(y)) % 7 == 0, 0.5, 1.0)
    own = getattr(equimargin.svm, name)(**given, tol=1e-6).fit(X, y, weights)
    theirs = getattr(sklearn.svm, name)(**given, tol=1e-9).fit(X, y, weights)
    for attribute in ("support_", "n_support_", "shape_fit_", "fit_status_"):
        np.testing.assert_array_equal(getattr(own, attribute), getattr(theirs, attribute))
    # K of the other kernels is singular: its coefficients are not unique. LIBSVM has its
    # entries in float32.
    unique, atol = (["dual_coef_"], 1e-4) if given == {"nu": 0.3} else ([], 1e-3)
    for attribute in ("intercept_", "support_vectors_", *unique):
        expected = getattr(theirs, attribute)
        size = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(getattr(own, attribute), expected, atol=atol * size)
    # The decision value of a support vector at the margin is 0, and its sign is rounding.
    method = "predict" if name == "NuSVR" else "decision_function"
    np.testing.assert_allclose(getattr(own, method)(X), getattr(theirs, method)(X), atol=1e-3)
    if name == "OneClassSVM":
        np.testing.assert_allclose(own.score_samples(X), theirs.score_samples(X), rtol=1e-4)
        labels = own.fit_predict(X)
        np.testing.assert_array_equal(labels, np.where(own.decision_function(X) >= 0, 1, -1))


def test_nu_above_twice_the_smaller_class_is_refused_with_the_largest() -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) < 3
    with pytest.raises(ValueError, match=r"specified nu is infeasible: nu is 0\.7, .* 0\.6,"):
        NuSVC(nu=0.7).fit(X, y)
    fitted = NuSVC(nu=0.6, kernel="linear").fit(X, y)
    assert fitted.n_support_[1] == 3


def test_run_that_ends_at_the_function_0_says_so() -> None:
    # The run starts from the first rows of each class, which are among the other class.
    y = np.repeat([0, 1], 40)
    X = np.where(y, 4.0, -4.0)[:, None] + np.tile(np.linspace(-1, 1, 40), 2)[:, None]
    X[:4], X[40:44] = 3.0, -3.0
    with (
        pytest.warns(ConvergenceWarning),
        pytest.raises(ValueError, match="may not be the best: the limit of 1 iteration"),
    ):
        NuSVC(nu=0.15, max_iter=1, kernel="linear").fit(X, y)


def test_largest_nu_of_the_message_is_accepted() -> None:
    X, y = np.arange(6.0)[:, None], np.arange(6) < 2
    with pytest.raises(ValueError, match="infeasible") as refused:
        NuSVC(nu=0.8).fit(X, y)
    nu = float(str(refused.value).split("above ")[1].split(",")[0])
    assert NuSVC(nu=nu).fit(X, y).status_ == "optimal"
    with pytest.raises(ValueError, match="a class has no row of positive weight"):
        NuSVC(nu=0.1).fit(X, y, np.where(y, 0.0, 1.0))


def test_classes_of_equal_points_have_no_function() -> None:
    with pytest.raises(ValueError, match="the best function of two classes is 0"):
        NuSVC().fit([[0.0], [1.0], [0.0], [1.0]], [0, 0, 1, 1])


def test_point_with_the_decision_value_0_is_an_inlier() -> None:
    # w = 2, rho = 4: the point 2 lies on the plane, without rounding.
    machine = OneClassSVM(nu=0.5, kernel="linear").fit([[2.0], [0.0], [3.0], [2.0]])
    assert machine.decision_function([[2.0]])[0] == 0.0
    assert machine.predict([[2.0]])[0] == 1


@pytest.mark.slow
def test_scikit_learns_own_tests_pass_except_for_the_list() -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "door.svm.scikit_learn_names"),
            *("-p", "no:cacheprovider", "-p", "no:randomly", "-c", os.devnull, "-q"),
            *("--pyargs", "sklearn.svm"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])},
        cwd=ROOT / "tests",
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed
    assert int(passed[1]) >= 290, run.stdout[-500:]
