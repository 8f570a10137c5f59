"""PairwiseCoupling against scikit-learn's calibration of pairs and couplings by cvxpy."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import sklearn.svm
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_blobs
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from equimargin.estimators import MarginClassifier, PairwiseCoupling
from equimargin.solvers.probability.sigmoid import platt
from equimargin.svm import SVC

FOLDS = StratifiedKFold(4)
NAMES = np.array(["rose", "aster", "lily"])


@pytest.fixture(scope="module")
def three() -> Any:
    X, y = load_iris(return_X_y=True)
    return X[:, :2], NAMES[y]


def calibrated(X: Any, y: Any, weights: Any = None) -> NDArray[np.float64]:
    """Return r (n, k, k) of scikit-learn's sigmoids for the classes two by two."""
    classes = np.unique(y)
    r = np.full((len(X), len(classes), len(classes)), 0.5)
    for (i, first), (j, second) in combinations(enumerate(classes), 2):
        rows = np.isin(y, [first, second])
        pair = CalibratedClassifierCV(LinearSVC(), cv=FOLDS, ensemble=False)
        pair.fit(X[rows], y[rows], None if weights is None else weights[rows])
        r[:, i, j], r[:, j, i] = pair.predict_proba(X).T
    return r


def couple_in_cvxpy(r: Any, method: str, counts: Any) -> NDArray[np.float64]:
    """Return the optimum of a coupling as its authors print it."""
    k = len(r)
    if method == "wlw":
        p = cp.Variable(k)
        terms = [cp.square(r[j, i] * p[i] - r[i, j] * p[j]) for i, j in combinations(range(k), 2)]
        cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [cp.sum(p) == 1]).solve("CLARABEL")
        return np.asarray(p.value)
    theta = cp.Variable(k)
    terms = [
        (counts[i] + counts[j]) * r[i, j] * cp.logistic(theta[j] - theta[i])
        for i in range(k)
        for j in range(k)
        if i != j
    ]
    cp.Problem(cp.Minimize(cp.sum(cp.hstack(terms))), [theta[0] == 0]).solve("CLARABEL")
    return np.asarray(np.exp(theta.value) / np.exp(theta.value).sum())


@pytest.mark.parametrize("method", ["wlw", "bradley_terry"])
def test_probabilities_are_coupled_from_scikit_learns_sigmoids(three: Any, method: Any) -> None:
    X, y = three
    rows = np.arange(len(y)) % 4 > np.where(y == "lily", 2, 0)  # unequal classes
    X, y = X[rows], y[rows]
    fitted = PairwiseCoupling(LinearSVC(), method=method, cv=FOLDS).fit(X, y)
    assert fitted.classes_.tolist() == ["aster", "lily", "rose"]
    r = calibrated(X, y)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(fitted.pairwise_proba(X)[:, off], r[:, off], atol=1e-3)
    counts = np.unique(y, return_counts=True)[1]
    for at in range(0, len(y), 9):
        np.testing.assert_allclose(
            fitted.predict_proba(X[[at]])[0], couple_in_cvxpy(r[at], method, counts), atol=2e-3
        )
    np.testing.assert_array_equal(
        fitted.predict(X), fitted.classes_[fitted.predict_proba(X).argmax(axis=1)]
    )


def test_two_classes_have_scikit_learns_calibration(three: Any) -> None:
    X, y = (part[:100] for part in three)
    weights = 1.0 + np.arange(100) % 3
    fitted = PairwiseCoupling(LinearSVC(), cv=FOLDS).fit(X, y, weights)
    r = calibrated(X, y, weights)
    np.testing.assert_allclose(fitted.predict_proba(X), r[:, [0, 1], [1, 0]], atol=1e-3)


def test_known_probabilities_are_kept() -> None:
    y = np.arange(3000) % 2
    X = np.random.default_rng(0).normal(size=(3000, 1)) + y[:, None]
    fitted = PairwiseCoupling(GaussianNB()).fit(X, y)
    assert not hasattr(fitted.estimators_[0], "decision_function")
    assert fitted.calibration_[0] == pytest.approx((-1, 0), abs=0.05)
    # Of 0 and 1, no probability is nearer than 1e-7.
    certain = PairwiseCoupling(KNeighborsClassifier(1)).fit(X[:200], y[:200])
    assert np.isfinite(certain.predict_log_proba(X)).all()


@pytest.mark.parametrize(
    ("kernel", "factors"),
    [("rbf", None), ("rbf", {"rose": 9.0, "aster": 1.0, "lily": 1.0}), ("precomputed", None)],
)
def test_probabilities_of_all_classifiers_are_those_of_pairwise_coupling(
    three: Any, kernel: Any, factors: Any
) -> None:
    X, y = three
    points = X @ X.T if kernel == "precomputed" else X
    weights = (np.arange(len(y)) % 7 > 0) * 1.0
    given: Any = {"kernel": kernel, "gamma": 0.5, "C": 2.0}
    coupled = PairwiseCoupling(SVC(**given, class_weight=factors)).fit(points, y, weights)
    with pytest.warns(FutureWarning, match="PairwiseCoupling"):
        own = SVC(**given, class_weight=factors, probability=True).fit(points, y, weights)
    expected = coupled.predict_proba(points)
    np.testing.assert_allclose(own.predict_proba(points), expected, atol=1e-4)
    if factors:
        return
    margin = MarginClassifier(**given, probability=True).fit(points, y, weights)
    np.testing.assert_allclose(margin.predict_proba(points), expected, atol=1e-4)
    rest = weights > 0
    part = points[rest][:, rest] if kernel == "precomputed" else points[rest]
    without = PairwiseCoupling(SVC(**given)).fit(part, y[rest])
    new = points[:, rest] if kernel == "precomputed" else points
    np.testing.assert_allclose(without.predict_proba(new), expected, atol=1e-4)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("k", [2, 3])
def test_svc_with_probabilities_is_near_scikit_learns(k: int) -> None:
    X, y = make_blobs(300, centers=k, cluster_std=3.0, random_state=0)
    own = SVC(probability=True).fit(X, y)
    theirs = sklearn.svm.SVC(probability=True, random_state=0).fit(X, y)
    np.testing.assert_allclose(own.probA_, theirs.probA_, rtol=0.2)
    np.testing.assert_allclose(own.probB_, theirs.probB_, atol=0.2)
    # Folds are random there, and fixed here.
    np.testing.assert_allclose(own.predict_proba(X), theirs.predict_proba(X), atol=0.05)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_class_of_one_row_has_the_value_of_the_others_alone() -> None:
    X, y = np.array([[0.0], [1.0], [0.2], [5.0]]), np.array([0, 0, 0, 1])
    fitted = SVC(probability=True, kernel="linear").fit(X, y)
    # Row 3 is held out with rows 0 and 2, from row 1 of the other class alone.
    f = np.full(4, -1.0)
    f[1] = SVC(kernel="linear").fit(X[[0, 2, 3]], y[[0, 2, 3]]).decision_function(X[[1]])[0]
    sigmoid = platt(f, y)
    assert fitted.calibration_[0] == pytest.approx((sigmoid.A, sigmoid.B), abs=1e-4)
    with pytest.raises(ValueError, match="class 2 has no row of positive weight"):
        SVC(probability=True).fit(X, [0, 1, 2, 2], [1, 1, 0, 0])


def test_wrong_arguments_are_said(three: Any) -> None:
    X, y = three
    wrong: Any
    for wrong, message in (
        ({"method": "vote"}, "method must be 'wlw' or 'bradley_terry', not 'vote'"),
        ({"cv": 1}, "cv must be a number of folds of at least 2"),
        ({"cv": ShuffleSplit(3, random_state=0)}, "cv must hold out every row once"),
        ({"cv": ShuffleSplit(1, random_state=0)}, "cv must hold out every row once"),
    ):
        with pytest.raises(ValueError, match=message):
            PairwiseCoupling(LinearSVC(), **wrong).fit(X, y)
    with pytest.raises(ValueError, match=r"class 'lily' has 1 row .*; probabilities need at least"):
        PairwiseCoupling(LinearSVC()).fit(X[:101], y[:101])
    with pytest.raises(TypeError, match="LinearRegression has neither"):
        PairwiseCoupling(LinearRegression()).fit(X, y)
    with pytest.raises(TypeError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        PairwiseCoupling(KNeighborsClassifier()).fit(X, y, np.ones(len(y)))
    whole = PairwiseCoupling(LinearSVC(), cv=KFold(3, shuffle=True, random_state=0)).fit(X, y)
    assert whole.score(X, y) > 0.7
