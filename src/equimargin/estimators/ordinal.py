"""Ordinal classification: one function of a point, and thresholds that cut its values into levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from equimargin.estimators.base import CostEstimator, row_weights
from equimargin.formulations import ordinal
from equimargin.formulations.numeric.arguments import check_number, format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import Solution, solve


@dataclass(eq=False, repr=False, kw_only=True)
class OrdinalClassifier(ClassifierMixin, CostEstimator):
    """Classification into levels that have an order: f(x) with thresholds b_0 <= ... <= b_{L-2} between the levels 0, ..., L - 1.

        min over f, b    1/2 |f|^2 + C sum_i weight_i sum_k loss(1 - s_ik (f(x_i) - b_k)),    s_ik = 1 if the level of i is above k, else -1

    Nothing asks for the order of the thresholds; optimal ones have it. Level k is predicted where b_{k-1} <= f(x) < b_k.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, solver, tol, max_iter, time_limit, n_jobs
        As in `MarginClassifier`; C must be finite, and the kernel positive
        semidefinite.
    levels : Sequence[Any] | None
        The labels from the lowest to the highest; None takes them in ascending order,
        as numbers have it and words seldom do. A label that the training data lack, as
        those of a fold may, keeps its place and its column.
    loss : LossName
        "squared_hinge" or "hinge". Newton's method takes both with a linear kernel, and
        is fastest with squares.
    warm_start : bool
        Whether a fit begins at the multipliers of the last one, if that had as many
        rows and levels.

    Attributes
    ----------
    classes_ : array of shape (L,)
        The labels, sorted as scikit-learn sorts them.
    levels_ : array of shape (L,)
        The labels from the lowest to the highest.
    thresholds_ : array of shape (L - 1,)
        b, in the order of the levels.
    coef_ : array of shape (d,)
        w of a linear kernel.
    dual_coef_ : array of shape (s,)
        Coefficients of any other kernel.
    support_, support_vectors_
        Of them.
    objective_bounds_ : array of shape (lower, upper)
        Proven bounds of the optimum.
    duality_gap_
        Primal minus dual in float64, relative as `tol` is.
    dual_ : ndarray of shape (m, L - 1)
        Signed multipliers s_ik a_ik; a pickle leaves them out.
    n_iter_, status_
        As in `MarginClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Source: W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML (2005), section 3.
    """

    levels: Sequence[Any] | None = None
    loss: LossName = "squared_hinge"
    warm_start: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # of classes without an order, such as clusters
        return tags

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of all thresholds together.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            labels.
        sample_weight : ArrayLike | None of shape (m,)
            Factors of C, at least 0: a weight of 2 is the same as two copies of the
            row.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ValueError
            Data or parameters that make no such problem, in a sentence that names them.

        Warns
        -----
        ConvergenceWarning
            The solver stopped before it reached `tol`; its best point is kept.
        """
        X, y = self._checked(X, y)
        check_classification_targets(y)
        self.levels_ = self._ordered(np.unique(y))
        self.classes_ = np.unique(self.levels_)
        weights = row_weights(sample_weight, X)
        C = check_number(self.C, "C", "a positive finite number", lambda c: 0 < c < np.inf)
        rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
        if len(np.unique(y[rows])) < 2:
            found = (
                f"all rows of positive weight are of one class, {format_value(y[rows[0]])}"
                if len(rows)
                else "no row has a positive weight"
            )
            raise ValueError(f"OrdinalClassifier needs two classes, but {found}")
        place = {label: at for at, label in enumerate(self.levels_.tolist())}
        codes = [place[label] for label in y.tolist()]
        problem = ordinal(
            X, codes, C, self._kernel(X, weights), self.loss, weights, len(self.levels_)
        )
        if not problem.convex:
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
        # Best thresholds of an f are in order, but the middles of their intervals need
        # not be, where a level has no points.
        self.thresholds_ = np.maximum.accumulate(-np.atleast_1d(solutions[0].bias))
        self._last = solutions[0] if self.warm_start else None
        return self

    @property
    def dual_(self) -> Array:
        """(m, L - 1) signed multipliers s_ik alpha_ik; a pickle leaves them out."""
        alpha, (solution,) = super().dual_, self._proof.solutions
        rows = solution.problem.rows
        return np.asarray((rows.s * np.asarray(alpha)).reshape(rows.T, rows.m).T)

    def utility(self, X: Any) -> Array:
        """f(x), (n,), which the thresholds cut into levels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points where the kernel is
            precomputed.
        """
        return self._evaluated(X)[:, 0]

    def decision_function(self, X: Any) -> Array:
        """How much speaks for a class: of the level k the sum of f(x) - b_j over all j < k, which is largest at the level of x.

        Parameters
        ----------
        X : Any
            As in `utility`.

        Returns
        -------
        Of two classes (n,), positive for the second of `classes_`. Of more (n, L), a column for each of `classes_`.
        """
        beyond = self.utility(X)[:, None] - self.thresholds_
        sums = np.cumsum(np.column_stack([np.zeros(len(beyond)), beyond]), axis=1)[
            :, np.argsort(self.levels_)
        ]
        return np.asarray(sums[:, 1] - sums[:, 0] if len(self.levels_) == 2 else sums)

    def predict(self, X: Any) -> NDArray[Any]:
        """The level of every point; a value on a threshold has the higher one.

        Parameters
        ----------
        X : Any
            As in `utility`.

        Returns
        -------
        (n,) labels of `classes_`.
        """
        f = self.utility(X)  # before the attributes that a fit makes are asked for
        return np.asarray(self.levels_[np.searchsorted(self.thresholds_, f, side="right")])

    def _ordered(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the labels from the lowest to the highest, also those absent from y."""
        if self.levels is None:
            return labels
        levels = np.asarray(self.levels)
        if len(np.unique(levels)) < len(levels) or set(labels.tolist()) - set(levels.tolist()):
            known = ", ".join(map(format_value, labels.tolist()))
            raise ValueError(
                f"levels must name every label of y once, the lowest first: {known}; it is "
                f"{format_value(levels.tolist())}"
            )
        return levels
