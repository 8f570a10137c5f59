"""Class probabilities from one function per pair of classes.

Platt's sigmoid turns the values of a pair's function into probabilities of the two
classes, and coupling turns the probabilities of all pairs into those of all classes.
"""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.validation import check_is_fitted

from equimargin.formulations.documents.coupling import TOO_SURE
from equimargin.formulations.numeric.arguments import check_jobs, format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.solvers.probability.coupling import wlw
from equimargin.solvers.probability.sigmoid import platt

FOLDS = 5
"""Maximum number of folds, as in LIBSVM for its probabilities."""
SPLITTER = "use one such as StratifiedKFold, or a number"


def _predicts_probabilities(estimator: Any) -> bool:
    """Return True if an estimator predicts probabilities.

    scikit-learn's `available_if` hides the methods otherwise.
    """
    return bool(estimator._has_probabilities())


class PairProbabilities:
    """Base of the classifiers with one function and one sigmoid per pair of classes.

    A subclass has `classes_`, the values of the functions in `_evaluated`, and A and
    B of the sigmoids in `calibration_`, which is empty if there are none.
    """

    classes_: NDArray[Any]
    calibration_: Array

    def _has_probabilities(self) -> bool:
        """Return True if the parameters ask for probabilities."""
        return True

    def _evaluated(self, X: Any) -> Array:
        """Return the values of the pairs' functions, positive for the second class, (n, P)."""
        raise NotImplementedError

    def _couple(self, r: Array) -> Array:
        """Return the probabilities (n, k) of all classes from those of all pairs."""
        return wlw(r)

    @available_if(_predicts_probabilities)  # type: ignore[untyped-decorator]
    def pairwise_proba(self, X: Any) -> Array:
        """Return the probability of every class against every other.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        ndarray of shape (n, k, k)
            r_ij, the probability of class i if only i and j are possible; 1/2 on the
            diagonal.

        References
        ----------
        Platt (2000).
        """
        check_is_fitted(self)
        if not len(self.calibration_):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False; call fit "
                "with probability=True"
            )
        f, (A, B), k = self._evaluated(X), self.calibration_.T, len(self.classes_)
        second = expit(-(A * f + B))
        r = np.full((len(f), k, k), 0.5)
        for (i, j), p in zip(combinations(range(k), 2), second.T, strict=True):
            r[:, j, i], r[:, i, j] = p, 1 - p
        return r

    @available_if(_predicts_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class.

        A sigmoid gives those of two classes, pairwise coupling those of more.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `pairwise_proba`.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities, each row with sum 1. The most probable class may differ from
            the one that has the most votes of the pairs.

        References
        ----------
        Platt (2000); Wu, Lin and Weng (2004), second method.
        """
        r = self.pairwise_proba(X)
        return r[:, [0, 1], [1, 0]] if len(self.classes_) == 2 else self._couple(r)

    @available_if(_predicts_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `pairwise_proba`.

        Returns
        -------
        ndarray of shape (n, k)
            Logarithms; -inf if a probability is 0 in float64.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))


def fit_sigmoids(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weights: Array | None = None,
    cv: Any = FOLDS,
    n_jobs: int | None = None,
) -> Array:
    """Return A and B of all pairs of classes, fitted to values of held-out rows.

    The value of a row is that of an estimator fitted to all rows of the pair except the
    row's fold. If these are of one class, the value is 1 or -1, and if there are none 0,
    as in LIBSVM.

    Parameters
    ----------
    estimator : estimator
        Classifier of two classes, of which clones are fitted.
    X : array-like of shape (m, d)
        Points, or the (m, m) Gram matrix if the estimator takes one.
    y : ndarray of shape (m,)
        Labels of the classes.
    weights : ndarray of shape (m,) or None
        Sample weights; rows of weight 0 are excluded.
    cv : int or splitter, default 5
        Maximum number of folds, to which the rows of each class are assigned in turn;
        or a splitter of scikit-learn, for the rows of each pair.
    n_jobs : int or None, default None
        Processes; None is 1, -1 all, -2 all but one.

    Returns
    -------
    ndarray of shape (k (k - 1) / 2, 2)
        A and B of P(second class) = 1 / (1 + exp(A f + B)).

    Raises
    ------
    ValueError
        If `cv` is below 2, or does not hold out every row once.
    """
    sigmoids = []
    for pair in combinations(np.unique(y), 2):
        rows = find_rows(y, pair, weights)
        fold = assign_folds(y[rows], cv)
        parts = [(rows[fold != number], rows[fold == number]) for number in np.unique(fold)]
        held_out = Parallel(n_jobs=check_jobs(n_jobs, "n_jobs"))(
            delayed(_evaluate)(estimator, X, y, weights, pair[1], *part) for part in parts
        )
        f = np.empty(len(rows))
        for (_, out), values in zip(parts, held_out, strict=True):
            f[np.searchsorted(rows, out)] = values
        weight = None if weights is None else weights[rows]
        sigmoid = platt(f, y[rows] == pair[1], weight)
        sigmoids.append((sigmoid.A, sigmoid.B))
    return np.array(sigmoids)


def find_rows(y: NDArray[Any], pair: tuple[Any, Any], weights: Array | None) -> Index:
    """Return the rows of positive weight of a pair of classes.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Labels.
    pair : tuple
        Labels of the two classes.
    weights : ndarray of shape (m,) or None
        Sample weights.
    """
    rows = np.flatnonzero(np.isin(y, pair))
    return rows if weights is None else rows[weights[rows] > 0]


def refuse_scarce_classes(y: NDArray[Any], weights: Array | None, least: int = 2) -> None:
    """Raise an error if a class has too few rows for held-out values.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Labels.
    weights : ndarray of shape (m,) or None
        Sample weights.
    least : int, default 2
        Least number of rows; with 1 a class may have no held-out values of its own.

    Raises
    ------
    ValueError
        If a class has fewer rows of positive weight.
    """
    for label in np.unique(y):
        count = len(find_rows(y, (label, label), weights))
        if count < least:
            rows = f"{count} row of positive weight" if count else "no row of positive weight"
            raise ValueError(
                f"class {format_value(label)} has {rows}; probabilities need at least "
                f"{('one', 'two')[least - 1]} per class, to compute held-out values"
            )


def assign_folds(y: NDArray[Any], cv: Any) -> Index:
    """Return the fold of every row of two classes, shape (n,).

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    cv : int or splitter
        See `fit_sigmoids`.

    Raises
    ------
    ValueError
        See `fit_sigmoids`.
    """
    fold = np.full(len(y), -1)
    if hasattr(cv, "split"):
        for number, (_, held_out) in enumerate(cv.split(np.zeros((len(y), 1)), y)):
            if (fold[held_out] >= 0).any():
                raise ValueError(f"cv must hold out every row once, and repeats rows; {SPLITTER}")
            fold[held_out] = number
        if (fold < 0).any():
            raise ValueError(f"cv must hold out every row once, and omits rows; {SPLITTER}")
        return fold
    if not isinstance(cv, Integral) or cv < 2:
        raise ValueError(
            f"cv must be a number of folds of at least 2, or a splitter of scikit-learn, not "
            f"{format_value(cv)}"
        )
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    folds = max(2, min(int(cv), *counts))
    for code in range(len(classes)):
        fold[codes == code] = np.arange(counts[code]) % folds
    return fold


def fit_part(estimator: Any, X: Any, y: NDArray[Any], weights: Array | None, rows: Index) -> Any:
    """Return a clone of an estimator, fitted to some rows.

    Parameters
    ----------
    estimator, X, y, weights
        See `fit_sigmoids`.
    rows : ndarray of int
        Rows.
    """
    points, labels = _safe_split(estimator, X, y, rows)
    given = {} if weights is None else {"sample_weight": weights[rows]}
    return clone(estimator).fit(points, labels, **given)


def evaluate_pair(fitted: Any, X: Any) -> Array:
    """Return the decision values of a classifier of two classes, or its log odds.

    Parameters
    ----------
    fitted : estimator
        Fitted classifier with `decision_function` or `predict_proba`.
    X : array-like of shape (n, d)
        Points.

    Returns
    -------
    ndarray of shape (n,)
        Values, positive for the second class. No probability counts as closer to 0 or
        1 than 1e-7.
    """
    if hasattr(fitted, "decision_function"):
        return np.asarray(fitted.decision_function(X), dtype=np.float64).ravel()
    p = np.asarray(fitted.predict_proba(X), dtype=np.float64)[:, 1]
    return np.asarray(logit(np.clip(p, TOO_SURE, 1 - TOO_SURE)))


def _evaluate(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weights: Array | None,
    second: Any,
    training: Index,
    held_out: Index,
) -> Array:
    """Return the values of held-out rows by an estimator fitted to the training rows."""
    labels = np.unique(y[training])
    if len(labels) < 2:
        return np.full(len(held_out), sum(1.0 if label == second else -1.0 for label in labels))
    fitted = fit_part(estimator, X, y, weights, training)
    return evaluate_pair(fitted, _safe_split(estimator, X, y, held_out, training)[0])
