"""Probabilities of many classes around any classifier of two."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    has_fit_parameter,
    validate_data,
)

from equimargin.estimators.base import find_classes, row_weights
from equimargin.estimators.pair_probabilities import (
    FOLDS,
    PairProbabilities,
    evaluate_pair,
    find_rows,
    fit_part,
    fit_sigmoids,
    refuse_scarce_classes,
)
from equimargin.formulations.numeric.arguments import check_choice
from equimargin.formulations.numeric.arrays import Array
from equimargin.solvers.probability.coupling import bradley_terry, wlw


@dataclass(eq=False, repr=False, kw_only=True)
class PairwiseCoupling(MetaEstimatorMixin, ClassifierMixin, PairProbabilities, BaseEstimator):
    """Probabilities of two or more classes by a classifier of two classes.

    A clone of the classifier is fitted to every pair of classes. Platt's sigmoid, fitted
    to decision values of held-out rows, gives the probabilities r_ij of the pair, and
    coupling those of all classes:

        wlw              min over p, 1'p = 1    sum over i < j of (r_ji p_i - r_ij p_j)^2
        bradley_terry    min over theta         sum over i != j of
                                                n_ij r_ij log(1 + exp(theta_j - theta_i)),
                         p_i ~ exp(theta_i), and n_ij the weight of the pair's rows

    Parameters
    ----------
    estimator : estimator
        Classifier with `decision_function`, or with `predict_proba`, whose log odds are
        its decision values. It gets the labels of the two classes.
    method : {"wlw", "bradley_terry"}, default "wlw"
        "wlw" is the second method of Wu, Lin and Weng; "bradley_terry" that of Hastie
        and Tibshirani.
    cv : int or splitter, default 5
        Maximum number of folds, to which the rows of each class are assigned in turn, so
        that nothing is random; or a splitter of scikit-learn, for the rows of each pair.
    n_jobs : int or None, default None
        Processes for the folds of a pair; None is 1, -1 all, -2 all but one.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        Labels, sorted.
    estimators_ : list of k (k - 1) / 2 estimators
        Classifiers of the classes (0, 1), (0, 2), ..., (1, 2), ..., each fitted to all
        rows of its pair.
    calibration_ : ndarray of shape (k (k - 1) / 2, 2)
        A and B of P(second class) = 1 / (1 + exp(A f + B)).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X was a table.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : One class against the rest, with the
        probabilities divided by their sum.

    References
    ----------
    T. Hastie, R. Tibshirani, Classification by pairwise coupling (1998); T.-F. Wu, C.-J.
    Lin, R. C. Weng, Probability estimates for multi-class classification by pairwise
    coupling (2004); J. Platt, Probabilistic outputs for support vector machines (2000).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from equimargin.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> p = PairwiseCoupling(SVC()).fit(X, y).predict_proba(X)
    >>> p.shape, bool(abs(p.sum(axis=1) - 1).max() < 1e-9)
    ((150, 3), True)
    """

    estimator: Any = field(kw_only=False)
    method: Literal["wlw", "bradley_terry"] = "wlw"
    cv: Any = FOLDS
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = replace(get_tags(self.estimator).input_tags)
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifiers of all pairs of classes, and their sigmoids.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Points as the classifier takes them, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels of any type that can be sorted.
        sample_weight : array-like of shape (m,) or None
            Weights of the rows, if the classifier takes them; a row of weight 0 is
            excluded.

        Returns
        -------
        PairwiseCoupling
            Fitted estimator.

        Raises
        ------
        ValueError
            If a class has fewer than two rows, there is one class only, or a parameter
            is invalid.
        TypeError
            If the classifier has neither `decision_function` nor `predict_proba`, or
            takes no weights.
        """
        check_choice(self.method, "method", ("wlw", "bradley_terry"))
        self._check_estimator(sample_weight)
        X, labels = indexable(X, column_or_1d(y, warn=True))
        assert_all_finite(labels, input_name="y")
        X = self._checked(X, reset=True)
        weights = row_weights(sample_weight, X)
        self.classes_, codes = find_classes(labels)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes, and y has {len(self.classes_)} class; "
                f"add rows of a second one"
            )
        refuse_scarce_classes(labels, weights)
        given = self.estimator, X, labels, weights
        self.calibration_ = fit_sigmoids(*given, self.cv, self.n_jobs)
        self._rows = [find_rows(labels, pair, weights) for pair in combinations(self.classes_, 2)]
        self.estimators_ = [fit_part(*given, rows) for rows in self._rows]
        sums = np.bincount(codes, weights)
        self._counts = np.add.outer(sums, sums).astype(np.float64)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every point.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `pairwise_proba`.

        Returns
        -------
        ndarray of shape (n,)
            Labels of `classes_`.
        """
        most_probable = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    @property
    def _is_pairwise(self) -> bool:
        """True if X is a Gram matrix."""
        return bool(get_tags(self.estimator).input_tags.pairwise)

    def _checked(self, X: Any, reset: bool) -> Any:
        """Return X; the classifiers validate all but Gram matrices, which are divided."""
        if self._is_pairwise:
            return validate_data(self, X, accept_sparse="csr", reset=reset)
        _check_feature_names(self, X, reset=reset)
        if reset:
            _check_n_features(self, X, reset=True)
        return X

    def _check_estimator(self, sample_weight: ArrayLike | None) -> None:
        """Raise an error if the classifier lacks values, or weights that it needs."""
        name = type(self.estimator).__name__
        if not any(hasattr(self.estimator, m) for m in ("decision_function", "predict_proba")):
            raise TypeError(
                f"estimator must be a classifier with decision_function or predict_proba, and "
                f"{name} has neither"
            )
        if sample_weight is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"{name}.fit takes no sample_weight; call fit without weights")

    def _evaluated(self, X: Any) -> Array:
        X = self._checked(X, reset=False)
        parts = [X[:, rows] if self._is_pairwise else X for rows in self._rows]
        return np.column_stack(list(map(evaluate_pair, self.estimators_, parts)))

    def _couple(self, r: Array) -> Array:
        return wlw(r) if self.method == "wlw" else bradley_terry(r, self._counts)
