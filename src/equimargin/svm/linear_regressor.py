"""Linear support vector regression under scikit-learn's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from equimargin.estimators.base import row_weights
from equimargin.formulations import linear, regression
from equimargin.formulations.numeric.arguments import check_choice
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import solve
from equimargin.svm.linear import LinearMachine, check_problem

TUBE_LOSSES: dict[str, LossName] = {
    "epsilon_insensitive": "hinge",
    "squared_epsilon_insensitive": "squared_hinge",
}
"""Losses of the excess |y - f| - epsilon, by scikit-learn's names."""


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVR(RegressorMixin, LinearMachine):
    """Linear support vector regression, as scikit-learn's class of this name.

        min over w, b    1/2 (|w|^2 + (b / s)^2)
                         + C sum_i weight_i loss(|y_i - w.x_i - b| - epsilon)

    s is `intercept_scaling`.

    Parameters
    ----------
    epsilon : float, default 0.0
        Half width of the tube without loss, at least 0, in the units of y.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        Loss, "epsilon_insensitive" by default.
    tol, C, dual, fit_intercept, intercept_scaling, max_iter
        See `LinearSVC`.
    verbose, random_state, time_limit, n_jobs
        See `LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        Weights w.
    intercept_ : ndarray of shape (1,)
        Constant b; 0.0 without an intercept.
    n_iter_, n_features_in_, feature_names_in_
        See `LinearSVC`.
    objective_bounds_, duality_gap_, status_
        See `SVC`.

    References
    ----------
    C.-H. Ho, C.-J. Lin, Large-scale linear support vector regression, JMLR 13 (2012).
    """

    epsilon: float = 0.0
    loss: str = "epsilon_insensitive"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table.
        y : array-like of shape (m,)
            Targets.
        sample_weight : array-like of shape (m,) or None
            Factors of C, at least 0.

        Returns
        -------
        LinearSVR
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
        loss = TUBE_LOSSES[check_choice(self.loss, "loss", tuple(TUBE_LOSSES))]
        check_problem(self.dual, self.loss, "l2", loss == "hinge")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        problem = regression(
            self._extended(X),
            y,
            self.C,
            self.epsilon,
            linear(),
            loss,
            row_weights(sample_weight, X),
        )
        solution = solve(replace(problem, bias=False), **self._limits)
        w, self.intercept_ = self._conclude([solution], X.shape[1])
        self.coef_ = w[0]
        return self

    def predict(self, X: Any) -> Array:
        """Return the predictions w.x + b.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.

        Returns
        -------
        ndarray of shape (n,)
            Predictions, in the units of y.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)
