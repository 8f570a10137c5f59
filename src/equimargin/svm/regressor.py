"""Epsilon-support vector regression under scikit-learn's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from equimargin.formulations import regression
from equimargin.formulations.numeric.arrays import Array
from equimargin.svm.machine import CostMachine, SupportVectorMachine, densify_small


class RegressionMachine(RegressorMixin, SupportVectorMachine):
    """Base of SVR and NuSVR: the function is the prediction."""

    C: float

    @property
    def _half_width(self) -> float:
        """Half width of the tube; 0 if the width is a variable of the problem."""
        return 0.0

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Targets.
        sample_weight : array-like of shape (m,) or None
            Factors of C; a row of weight 0 or less is excluded.

        Returns
        -------
        Self
            Fitted estimator.

        Raises
        ------
        ValueError
            If data or parameters are invalid; the message names them.

        Warns
        -----
        ConvergenceWarning
            If the run ends before it reaches `tol`; its best point is used.
        """
        self._validate_params()
        points, y = self._read(X, y, y_numeric=True)
        problem = regression(
            densify_small(points),
            y,
            self.C,
            self._half_width,
            self._fitted_kernel,
            sample_weight=self._weights(sample_weight, points),
        )
        solution = self._solve(problem)
        self._prove([solution])
        self.intercept_ = np.array([solution.bias])
        self._conclude_one(solution, points)
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions f(x) + b.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a Gram matrix.

        Returns
        -------
        ndarray of shape (n,)
            Predictions, in the units of y.
        """
        return self._evaluated(X)[:, 0]


@dataclass(eq=False, repr=False, kw_only=True)
class SVR(RegressionMachine, CostMachine):
    """Epsilon-support vector regression, as scikit-learn's class of this name.

        min over f, b    1/2 |f|^2 + C sum_i weight_i max(0, |y_i - f(x_i) - b| - epsilon)

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, max_iter, verbose, time_limit, n_jobs, device
        See `SVC`.
    tol : float, default 1e-3
        See `SVC`; here relative to the targets.
    epsilon : float, default 0.1
        Half width of the tube without loss, at least 0, in the units of y.
    shrinking, cache_size
        Without effect.

    Attributes
    ----------
    support_, support_vectors_, fit_status_, shape_fit_, n_features_in_, feature_names_in_
        See `SVC`.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray or sparse array of shape (1, s)
        Coefficients of the support vectors.
    intercept_ : ndarray of shape (1,)
        Constant of the function.
    coef_ : ndarray or sparse array of shape (1, d)
        Weights of a linear kernel, read-only.
    n_iter_ : int
        Iterations.
    objective_bounds_, duality_gap_, status_
        See `SVC`.

    References
    ----------
    Document T (Yu and Kim), (57)-(73); scikit-learn's user guide, 1.4.
    """

    epsilon: float = 0.1

    @property
    def _half_width(self) -> float:
        return self.epsilon
