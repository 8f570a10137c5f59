"""Epsilon-insensitive regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from equimargin.estimators.base import DeviceEstimator, MarginEstimator, row_weights
from equimargin.formulations import regression
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import LossName


class Regressor(RegressorMixin, MarginEstimator):
    """Base of the regressors: the decision function is the prediction."""

    def predict(self, X: Any) -> Array:
        """Return the predictions f(x) + b.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        ndarray of shape (n,)
            Predictions, in the units of y.
        """
        return self._evaluated(X)[:, 0]


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRegressor(Regressor, DeviceEstimator):
    """Support vector regression.

        min over f, b    1/2 |f|^2 + C sum_i weight_i loss(|y_i - f(x_i) - b| - epsilon)

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, loss, solver, tol, max_iter, time_limit, n_jobs, device
        See `MarginClassifier`.
    epsilon : float, default 0.1
        Half width of the tube without loss, at least 0, in the units of y.

    Attributes
    ----------
    objective_bounds_ : tuple of float
        Proven bounds (lower, upper) of the optimum.
    duality_gap_ : float
        Primal minus dual objective in float64, relative as `tol` is.
    dual_ : ndarray of shape (2 m,)
        Multipliers; those of targets above the tube come first.
    n_iter_, status_
        See `MarginClassifier`.
    coef_ : ndarray of shape (d,)
        Weights w of a linear kernel.
    intercept_ : float
        Intercept b of a linear kernel.
    dual_coef_ : ndarray of shape (s,)
        Coefficients of any other kernel.
    support_ : ndarray of shape (s,)
        Rows of the support vectors.
    support_vectors_ : ndarray of shape (s, d)
        Support vectors; not of linear and precomputed kernels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X was a table.

    References
    ----------
    Document T (Yu and Kim), (57)-(73).
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
            Targets.
        sample_weight : array-like of shape (m,) or None
            Factors of C, at least 0; a weight of 2 equals two copies of the row.

        Returns
        -------
        MarginRegressor
            Fitted estimator.

        Raises
        ------
        ValueError
            If data or parameters are invalid; the message names them.

        Warns
        -----
        ConvergenceWarning
            If the solver stops before it reaches `tol`; its best point is used.
        """
        X, y = self._checked(X, y, y_numeric=True)
        weights = row_weights(sample_weight, X)
        return self._solve(
            regression(X, y, self.C, self.epsilon, self._kernel(X, weights), self.loss, weights)
        )
