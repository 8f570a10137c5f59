"""Ordinal classification: one function, and thresholds that cut it into levels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from equimargin.estimators.base import CostEstimator, find_classes, row_weights
from equimargin.formulations import ordinal
from equimargin.formulations.numeric.arguments import check_number, format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import Solution, solve


@dataclass(eq=False, repr=False, kw_only=True)
class OrdinalClassifier(ClassifierMixin, CostEstimator):
    """Classifier of ordered levels: one function f with increasing thresholds.

        min over f, b    1/2 |f|^2 + C sum_i weight_i sum_k loss(1 - s_ik (f(x_i) - b_k)),
                         s_ik = 1 if the level of i is above k, else -1

    The thresholds b_0, ..., b_{L-2} lie between the levels 0, ..., L - 1. Optimal
    thresholds are ascending without a constraint. Level k is predicted if b_{k-1} <=
    f(x) < b_k.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, solver, tol, max_iter, time_limit, n_jobs
        See `MarginClassifier`; C must be finite, and the kernel positive semidefinite.
    levels : sequence or None, default None
        Labels from the lowest to the highest. None has the order of an ordered pandas
        Categorical, and else sorts them ascending; `fit` warns if they are words. A
        label that is absent from the training data, or from a fold, keeps its place and
        its column, and `fit` warns of it.
    loss : {"squared_hinge", "hinge"}, default "squared_hinge"
        Loss. Newton's method solves both with a linear kernel, and is fastest with the
        squared hinge.
    warm_start : bool, default False
        True starts a fit from the multipliers of the last one, if both have equally
        many rows and levels.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        Labels, sorted as in scikit-learn.
    levels_ : ndarray of shape (L,)
        Labels from the lowest to the highest.
    thresholds_ : ndarray of shape (L - 1,)
        Thresholds b, in the order of the levels.
    coef_ : ndarray of shape (d,)
        Weights w of a linear kernel.
    dual_coef_ : ndarray of shape (s,)
        Coefficients of any other kernel.
    support_, support_vectors_
        See `MarginClassifier`.
    objective_bounds_ : tuple of float
        Proven bounds (lower, upper) of the optimum.
    duality_gap_ : float
        Primal minus dual objective in float64, relative as `tol` is.
    dual_ : ndarray of shape (m, L - 1)
        Signed multipliers s_ik a_ik; excluded from a pickle.
    n_iter_, status_
        See `MarginClassifier`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X was a table.

    References
    ----------
    W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML
    (2005), section 3.
    """

    levels: Sequence[Any] | None = None
    loss: LossName = "squared_hinge"
    warm_start: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Classes without an order, such as clusters, get poor scores.
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve one problem of all thresholds.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels; an ordered pandas Categorical has an order of its own.
        sample_weight : array-like of shape (m,) or None
            Factors of C, at least 0; a weight of 2 equals two copies of the row.

        Returns
        -------
        OrdinalClassifier
            Fitted estimator.

        Raises
        ------
        ValueError
            If data or parameters are invalid; the message names them.

        Warns
        -----
        ConvergenceWarning
            If the solver stops before it reaches `tol`; its best point is used.
        UserWarning
            If a level has no row of positive weight: no data decide where it begins and
            ends. If the labels are words without an order.
        """
        levels, kind = self.levels, getattr(y, "dtype", None)
        if levels is None and kind is not None and getattr(kind, "ordered", False):
            levels = kind.categories
        X, y = self._checked(X, y)
        self.levels_ = _ordered(find_classes(y)[0], levels)
        self.classes_ = np.unique(self.levels_)
        weights = row_weights(sample_weight, X)
        C = check_number(self.C, "C", "a positive finite number", lambda c: 0 < c < np.inf)
        rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        if len(np.unique(y[rows])) < 2:
            reason = (
                f"all rows of positive weight are of one class, {format_value(y[rows[0]])}"
                if len(rows)
                else "no row has a positive weight"
            )
            raise ValueError(f"OrdinalClassifier needs two classes, but {reason}")
        self._warn_of_absent(np.setdiff1d(self.levels_, y[rows]))
        place = {label: level for level, label in enumerate(self.levels_.tolist())}
        codes = [place[label] for label in y.tolist()]
        problem = ordinal(
            X, codes, C, self._kernel(X, weights), self.loss, weights, len(self.levels_)
        )
        # An indefinite kernel makes the problem nonconvex.
        if not problem.has_gap:
            raise ValueError(
                f"kernel must be positive semidefinite for an ordinal regression, and the "
                f"{problem.kernel.name} kernel is not"
            )
        last = getattr(self, "_last", None) if self.warm_start else None
        start = (
            None
            if last is None or last.problem.p != problem.p or last.problem.T != problem.T
            else last.point
        )
        return self._conclude(
            [solve(problem, warm_start=start, **self._limits)], [np.arange(problem.m)], problem.X
        )

    def _conclude(self, solutions: Sequence[Solution], parts: Sequence[Index], X: Features) -> Self:
        super()._conclude(solutions, parts, X)
        # Optimal thresholds are ordered, but the midpoints of their intervals need not
        # be if a level has no points.
        self.thresholds_ = np.maximum.accumulate(-np.atleast_1d(solutions[0].bias))
        self._last = solutions[0] if self.warm_start else None
        return self

    @property
    def dual_(self) -> Array:
        """Signed multipliers s_ik alpha_ik, shape (m, L - 1); not in a pickle."""
        alpha, (solution,) = super().dual_, self._proof.solutions
        assert isinstance(solution, Solution)
        rows = solution.problem.rows
        return np.asarray((rows.s * np.asarray(alpha)).reshape(rows.T, rows.m).T)

    def utility(self, X: Any) -> Array:
        """Return f(x); the thresholds cut its values into levels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        ndarray of shape (n,)
            Values of f.
        """
        return self._evaluated(X)[:, 0]

    def decision_function(self, X: Any) -> Array:
        """Return the decision values, which are largest at the predicted level.

        That of level k is the sum of f(x) - b_j over all j < k.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `utility`.

        Returns
        -------
        ndarray of shape (n,) or (n, L)
            For two classes (n,), positive for the second of `classes_`; for more (n,
            L), one column for each of `classes_`.
        """
        beyond = self.utility(X)[:, None] - self.thresholds_
        sums = np.cumsum(np.column_stack([np.zeros(len(beyond)), beyond]), axis=1)[
            :, np.argsort(self.levels_)
        ]
        return np.asarray(sums[:, 1] - sums[:, 0] if len(self.levels_) == 2 else sums)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the level of every point; a value on a threshold gets the higher level.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `utility`.

        Returns
        -------
        ndarray of shape (n,)
            Labels of `classes_`.
        """
        # `utility` raises NotFittedError, so it comes before the fitted attributes.
        f = self.utility(X)
        return np.asarray(self.levels_[np.searchsorted(self.thresholds_, f, side="right")])

    def _warn_of_absent(self, absent: NDArray[Any]) -> None:
        if len(absent):
            names = ", ".join(map(format_value, absent.tolist()))
            warnings.warn(
                f"no training row of positive weight has the level {names}: its place is kept, "
                f"and predictions of it rest on no data; to exclude it, leave it out of levels, "
                f"and its rows of weight 0 out of the data",
                stacklevel=3,
            )


def _ordered(labels: NDArray[Any], given: Sequence[Any] | None) -> NDArray[Any]:
    """Return all labels from the lowest to the highest, also those not in y."""
    known = ", ".join(map(format_value, labels.tolist()))
    if given is None:
        if any(isinstance(label, str) for label in labels.tolist()):
            warnings.warn(
                f"the labels are words ({known}), which have no order of their own; name them "
                f"from the lowest to the highest by levels=[...]; until then they are sorted",
                stacklevel=3,
            )
        return labels
    levels = np.asarray(given)
    if len(np.unique(levels)) < len(levels) or set(labels.tolist()) - set(levels.tolist()):
        raise ValueError(
            f"levels must name every label of y once, the lowest first: {known}; it is "
            f"{format_value(levels.tolist())}"
        )
    return levels
