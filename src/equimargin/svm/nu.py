"""Support vector machines with a share nu in place of a cost or a width."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _num_samples

from equimargin.formulations import classification
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.problem.class_pairs import restrict_to_pair
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers import Solution
from equimargin.solvers.dual.variable_margin import (
    VariableMarginSolution,
    solve_variable_margin,
)
from equimargin.solvers.solution import checked
from equimargin.svm.classifier import PairwiseMachine
from equimargin.svm.machine import SupportVectorMachine, densify_small
from equimargin.svm.parameters import COMMON, KERNEL
from equimargin.svm.regressor import RegressionMachine


@dataclass(eq=False, repr=False, kw_only=True)
class ShareMachine(SupportVectorMachine):
    """Base of the machines with a share nu."""

    nu: float = 0.5

    def _solve(self, problem: MarginProblem) -> VariableMarginSolution:
        return solve_variable_margin(problem, self.nu, checked(**self._limits))


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVC(PairwiseMachine, ShareMachine):
    """Nu-support vector classification, as scikit-learn's class of this name.

        min over f, b, rho    1/2 |f|^2 + sum_i weight_i max(0, rho - s_i (f(x_i) + b))
                              - nu rho sum_i weight_i

    Every two classes have this problem on their points, with a vote each. The function
    is that of the optimum over rho, whose margin is then 1.

    Parameters
    ----------
    nu : float, default 0.5
        Upper bound of the share of margin errors and lower bound of that of support
        vectors, in (0, 1]; at most twice the share of the smaller class.
    kernel, degree, gamma, coef0, tol, max_iter, verbose, time_limit, n_jobs
        See `SVC`.
    decision_function_shape, break_ties, probability
        See `SVC`.
    class_weight : mapping, "balanced" or None, default None
        Only sets `class_weight_`, as in scikit-learn; use `sample_weight`.
    shrinking, cache_size, random_state
        Without effect: nothing is random.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_
        See `SVC`.
    class_weight_, fit_status_, n_iter_, shape_fit_, n_features_in_, feature_names_in_
        See `SVC`.
    objective_bounds_, duality_gap_, status_
        See `SVC`; the objective is the above.

    References
    ----------
    B. Schölkopf, A. Smola, R. Williamson, P. Bartlett, New support vector algorithms,
    Neural Computation 12 (2000); scikit-learn's user guide, 1.4.
    """

    def _solve_pairs(self, points: Features, codes: Index, weights: Array) -> list[Solution]:
        kernel, ones = self._fitted_kernel, np.ones(len(codes))
        whole = classification(points, ones, 1.0, kernel, sample_weight=weights)
        return [
            self._solve(restrict_to_pair(whole, codes == second, codes == first))
            for first, second in self._pairs
        ]

    def _read_pairs(self, solutions: Any, codes: Index) -> tuple[Array, Array]:
        vanishing = [solution for solution in solutions if solution.vanishes]
        early = [solution for solution in vanishing if not solution.ok]
        if early:
            raise ValueError(
                f"nu is {self.nu:g}, and the run of two classes ended at the function 0, which "
                f"may not be the best: {early[0].reason}; set a larger max_iter, time_limit or nu"
            )
        if vanishing:
            raise ValueError(
                f"nu is {self.nu:g}, and the best function of two classes is 0: their points "
                f"overlap more than that; set a larger nu, or another kernel"
            )
        margins = np.array([solution.rho for solution in solutions])
        beta, biases = super()._read_pairs(solutions, codes)
        return beta / margins[:, None], biases / margins


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVR(RegressionMachine, ShareMachine):
    """Nu-support vector regression, as scikit-learn's class of this name.

        min over f, b, epsilon    1/2 |f|^2 + C (nu epsilon sum_i weight_i
                                  + sum_i weight_i max(0, |y_i - f(x_i) - b| - epsilon))

    Parameters
    ----------
    nu : float, default 0.5
        Upper bound of the share of points outside the tube and lower bound of that of
        support vectors, in (0, 1].
    C : float, default 1.0
        Cost per unit of loss, in (0, inf).
    kernel, degree, gamma, coef0, tol, max_iter, verbose, time_limit, n_jobs
        See `SVR`.
    shrinking, cache_size
        Without effect.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_
        See `SVR`.
    fit_status_, shape_fit_, n_features_in_, feature_names_in_
        See `SVR`.
    objective_bounds_, duality_gap_, status_
        See `SVC`; the objective is the above.

    References
    ----------
    B. Schölkopf, A. Smola, R. Williamson, P. Bartlett, New support vector algorithms,
    Neural Computation 12 (2000); scikit-learn's user guide, 1.4.
    """

    C: float = 1.0

    _parameter_constraints = COMMON | KERNEL | {"C": [Interval(Real, 0.0, None, closed="neither")]}


@dataclass(eq=False, repr=False, kw_only=True)
class OneClassSVM(OutlierMixin, ShareMachine):
    """Detection of outliers, as scikit-learn's class of this name.

        min over f, rho    1/2 |f|^2 + sum_i weight_i max(0, rho - f(x_i))
                           - nu rho sum_i weight_i

    Parameters
    ----------
    nu : float, default 0.5
        Upper bound of the share of training points with f < rho and lower bound of that
        of support vectors, in (0, 1].
    kernel, degree, gamma, coef0, tol, max_iter, verbose, time_limit, n_jobs
        See `SVC`.
    shrinking, cache_size
        Without effect.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_
        See `SVR`; the intercept is -rho.
    offset_ : ndarray of shape (1,)
        Margin rho: decision values are scores minus it.
    fit_status_, shape_fit_, n_features_in_, feature_names_in_
        See `SVR`.
    objective_bounds_, duality_gap_, status_
        See `SVC`; the objective is the above.

    References
    ----------
    B. Schölkopf, J. Platt, J. Shawe-Taylor, A. Smola, R. Williamson, Estimating the
    support of a high-dimensional distribution, Neural Computation 13 (2001);
    scikit-learn's user guide, 2.7.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : object
            Ignored.
        sample_weight : array-like of shape (m,) or None
            Factors of the losses; a row of weight 0 or less is excluded.

        Returns
        -------
        OneClassSVM
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
        points, ones = self._read(X, np.ones(_num_samples(X)))
        weights = self._weights(sample_weight, points)
        problem = classification(
            densify_small(points), ones, 1.0, self._fitted_kernel, "hinge", False, weights
        )
        solution = self._solve(problem)
        self._prove([solution])
        self.offset_ = np.array([solution.rho])
        self.intercept_ = -self.offset_
        self._conclude_one(solution, points)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x) - rho, negative for outliers.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a Gram matrix.

        Returns
        -------
        ndarray of shape (n,)
            Decision values.
        """
        return self._evaluated(X)[:, 0]

    def score_samples(self, X: Any) -> Array:
        """Return the scores f(x).

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `decision_function`.

        Returns
        -------
        ndarray of shape (n,)
            Scores.
        """
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return 1 for inliers, with a decision value of at least 0, and -1 for outliers.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `decision_function`.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
