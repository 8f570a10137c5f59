"""Linear support vector classification under scikit-learn's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from equimargin.estimators.base import find_classes, row_weights
from equimargin.estimators.fitted import ProvenSolution
from equimargin.formulations import classification, linear
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import solve
from equimargin.solvers.joint import JointProblem, minimise_jointly
from equimargin.solvers.solution import checked
from equimargin.solvers.sparse_weights.descent import solve_sparse_weights
from equimargin.solvers.sparse_weights.problem import SparseWeightProblem, by_columns
from equimargin.svm.linear import LinearMachine, check_problem
from equimargin.svm.parameters import COMMON, LINEAR, weigh_classes


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSVC(LinearClassifierMixin, SparseCoefMixin, LinearMachine):
    """Linear support vector classification, as scikit-learn's class of this name.

        min over w, b    1/2 (|w|^2 + (b / s)^2) + C sum_i weight_i loss(1 - y_i (w.x_i + b))

    s is `intercept_scaling`. With `penalty="l1"` the first term is |w|_1 + |b / s|. With
    more than two classes, every class has this problem against the rest, or all classes
    have the one of Crammer and Singer,

        min over W, b   1/2 sum_r (|w_r|^2 + (b_r / s)^2)
                        + C sum_i weight_i max_r ([r != y_i] + f_r(x_i) - f_{y_i}(x_i))

    Parameters
    ----------
    penalty : {"l1", "l2"}, default "l2"
        Norm of w; with "l1", for the squared hinge alone, most weights are exactly 0.
    loss : {"hinge", "squared_hinge"}, default "squared_hinge"
        Loss.
    dual : {"auto", True, False}, default "auto"
        Combinations that scikit-learn refuses are refused; the solver depends on the data.
    C : float, default 1.0
        Cost per unit of loss, finite.
    tol : float, default 1e-4
        See `SVC`.
    multi_class : {"ovr", "crammer_singer"}, default "ovr"
        One problem for every class, or one for all; penalty, loss and dual are ignored
        in the second.
    fit_intercept : bool, default True
        True adds a constant feature; False sets b to 0.
    intercept_scaling : float, default 1.0
        Value s of the constant feature.
    class_weight : mapping, "balanced" or None, default None
        Factors of C by class; "balanced" counts sample weights. One class against the
        rest weighs that class alone.
    max_iter : int, default 1000
        Maximum number of iterations per problem.
    verbose, time_limit, n_jobs
        See `SVC`.
    random_state
        Without effect: nothing is random.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) or (k, d)
        Weights w.
    intercept_ : ndarray of shape (1,) or (k,)
        Constants b; 0.0 without an intercept.
    classes_ : ndarray of shape (k,)
        Labels, sorted.
    n_iter_ : int
        Iterations, the maximum over the problems.
    n_features_in_, feature_names_in_
        Number and names of the features.
    objective_bounds_, duality_gap_, status_
        See `SVC`.

    References
    ----------
    R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin, LIBLINEAR, JMLR 9 (2008).
    """

    penalty: str = field(default="l2", kw_only=False)
    loss: LossName = field(default="squared_hinge", kw_only=False)
    multi_class: str = "ovr"
    class_weight: Any = None

    _parameter_constraints = COMMON | LINEAR | {"loss": [StrOptions({"hinge", "squared_hinge"})]}

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of every class against the rest, or that of all classes.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table.
        y : array-like of shape (m,)
            Labels of any type that can be sorted.
        sample_weight : array-like of shape (m,) or None
            Factors of C, at least 0.

        Returns
        -------
        LinearSVC
            Fitted estimator.

        Raises
        ------
        ValueError
            If data or parameters are invalid; the message names them.

        Warns
        -----
        ConvergenceWarning
            If a run ends before it reaches `tol`; its best point is used.
        """
        self._validate_params()
        jointly = self.multi_class == "crammer_singer"
        if not jointly:
            check_problem(self.dual, self.loss, self.penalty, self.loss == "hinge")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, codes = find_classes(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must have at least 2 classes, not only one class, "
                f"{format_value(self.classes_[0])}; add rows of a second one"
            )
        weights = row_weights(sample_weight, X)
        factors = weigh_classes(self.class_weight, self.classes_, y, weights)
        ones = np.ones(len(codes)) if weights is None else weights
        extended = self._extended(X)
        if jointly:
            joint = JointProblem(extended, codes, len(factors), self.C, ones * factors[codes])
            return self._fitted([minimise_jointly(joint, checked(**self._limits))], X.shape[1])
        points = by_columns(extended) if self.penalty == "l1" else extended
        solutions = []
        for k in [1] if len(factors) == 2 else range(len(factors)):
            of_class = codes == k
            other = factors[0] if len(factors) == 2 else 1.0
            signs = np.where(of_class, 1.0, -1.0)
            of_rows = ones * np.where(of_class, factors[k], other)
            solutions.append(self._solve_signs(points, signs, of_rows))
        return self._fitted(solutions, X.shape[1])

    def _solve_signs(self, points: Any, signs: Array, weights: Array) -> ProvenSolution:
        """Solve the problem of two classes."""
        if self.penalty == "l1":
            sparse = SparseWeightProblem(points, signs, self.C, weights)
            return solve_sparse_weights(sparse, checked(**self._limits))
        problem = classification(
            points, signs, self.C, linear(), self.loss, bias=False, sample_weight=weights
        )
        return solve(problem, **self._limits)

    def _fitted(self, solutions: Sequence[ProvenSolution], d: int) -> Self:
        """Set the attributes; of two functions for two classes, the difference."""
        self.coef_, self.intercept_ = self._conclude(solutions, d)
        if len(self.classes_) == len(self.coef_) == 2:
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            if self.fit_intercept:
                self.intercept_ = self.intercept_[1:] - self.intercept_[:1]
        return self
