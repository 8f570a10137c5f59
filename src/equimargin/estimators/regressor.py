"""Epsilon-insensitive regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from equimargin.estimators.base import CostEstimator, MarginEstimator, row_weights
from equimargin.formulations import regression
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import LossName


class Regressor(RegressorMixin, MarginEstimator):
    """What regressors have in common: the function is the prediction."""

    def predict(self, X: Any) -> Array:
        """f(x) + b, (n,), in the units of y.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points where the kernel is
            precomputed.
        """
        return self._evaluated(X)[:, 0]


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRegressor(Regressor, CostEstimator):
    """Support vector regression.

        min over f, b    1/2 |f|^2 + C sum_i weight_i loss(|y_i - f(x_i) - b| - epsilon)

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, loss, solver, tol, max_iter, time_limit, n_jobs
        As in `MarginClassifier`.
    epsilon : float
        Half the width of the tube of no loss, at least 0, in the units of y.

    Attributes
    ----------
    objective_bounds_ : array of shape (lower, upper)
        Proven bounds of the optimum.
    duality_gap_
        Primal minus dual in float64, relative as `tol` is.
    dual_ : array of shape (2 m,)
        Multipliers, those of the targets above the tube first.
    n_iter_, status_
        As in `MarginClassifier`.
    coef_, intercept_ : array of shape (d,)
        And a number, of a linear kernel.
    dual_coef_ : array of shape (s,)
        Coefficients of any other kernel.
    support_ : array of shape (s,)
        Rows of the support vectors.
    support_vectors_ : array of shape (s, d)
        Where the kernel needs them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Source: T (57)-(73).
    """

    epsilon: float = 0.1
    loss: LossName = "hinge"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            targets.
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
        X, y = self._checked(X, y, y_numeric=True)
        weights = row_weights(sample_weight, X)
        return self._solve(
            regression(X, y, self.C, self.epsilon, self._kernel(X, weights), self.loss, weights)
        )
