"""C-support vector classification under scikit-learn's name."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import deprecated
from sklearn.utils.validation import check_is_fitted

from equimargin.estimators.base import find_classes
from equimargin.estimators.fitted import Functions, make_coefficients
from equimargin.estimators.pair_probabilities import (
    PairProbabilities,
    fit_sigmoids,
    refuse_scarce_classes,
)
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index, dense
from equimargin.solvers import Solution, one_vs_one
from equimargin.solvers.batches.votes import count_votes
from equimargin.svm.machine import CostMachine, SupportVectorMachine, densify_small
from equimargin.svm.parameters import weigh_classes

CALIBRATE = (
    "use equimargin.estimators.PairwiseCoupling(SVC()) or "
    "sklearn.calibration.CalibratedClassifierCV(SVC(), ensemble=False)"
)
OLD_SIGMOID = f"Attribute `{{}}` was deprecated in scikit-learn 1.9; {CALIBRATE}"
WITHOUT_PROBABILITIES: tuple[Any, ...] = ("deprecated", False)
"""Values of `probability` without `predict_proba`."""


def _pair_places(classes: Index, i: int, j: int) -> tuple[Index, Index]:
    """Return the rows and columns of `dual_coef_` with the coefficients of a pair.

    A row of `dual_coef_` belongs to one of the k - 1 other classes: a support vector of
    class i has its coefficient for the pair (i, j) in row j - 1, and one of class j in
    row i.

    Parameters
    ----------
    classes : ndarray of shape (s,)
        Class of every support vector.
    i, j : int
        Classes, i < j.
    """
    columns = np.flatnonzero((classes == i) | (classes == j))
    return np.where(classes[columns] == i, j - 1, i), columns


@dataclass(eq=False, repr=False, kw_only=True)
class PairwiseMachine(ClassifierMixin, SupportVectorMachine, PairProbabilities):
    """Base of SVC and NuSVC: a problem for every two classes, with a vote each."""

    class_weight: Any = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    probability: Any = "deprecated"
    random_state: Any = None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of every pair of classes.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels of any type that can be sorted.
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
            If a run ends before it reaches `tol`; its best point is used.
        FutureWarning
            If `probability` is given.
        """
        self._validate_params()
        if self.probability != "deprecated":
            warnings.warn(
                f"the `probability` parameter is deprecated in scikit-learn 1.9; {CALIBRATE}",
                FutureWarning,
                stacklevel=2,
            )
        points, y = self._read(X, y)
        self.classes_, codes = find_classes(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} "
                f"class, {format_value(self.classes_[0])}: add rows of a second one"
            )
        self.class_weight_ = weigh_classes(self.class_weight, self.classes_, y)
        weights = self._weights(sample_weight, points)
        rows = densify_small(points)
        if self._wants_probabilities:
            refuse_scarce_classes(y, weights * self.class_weight_[codes], least=1)
        solutions = self._solve_pairs(rows, codes, weights)
        self._prove(solutions)
        k = len(self.classes_)
        # The functions are positive for the first class. scikit-learn's are,
        # too, except for two classes.
        sign = -1.0 if k == 2 else 1.0
        beta, biases = self._read_pairs(solutions, codes)
        self.intercept_ = sign * biases
        self._conclude(solutions, sign * beta, codes, points)
        self.n_iter_ = np.array(
            [solution.iterations or 0 for solution in solutions], dtype=np.int32
        )
        self.calibration_ = np.empty((0, 2))
        if self._wants_probabilities:
            machine = clone(self).set_params(
                kernel=self._fitted_kernel,
                class_weight=dict(enumerate(self.class_weight_)),
                probability="deprecated",
                verbose=False,
            )
            self.calibration_ = fit_sigmoids(machine, rows, codes, weights)
        return self

    @abstractmethod
    def _solve_pairs(self, points: Features, codes: Index, weights: Array) -> list[Solution]:
        """Solve the problem of every pair, positive for the first class."""

    def _read_pairs(self, solutions: Sequence[Solution], codes: Index) -> tuple[Array, Array]:
        """Return the coefficients (P, m) and constants (P,) of the pairs' functions."""
        parts = [np.flatnonzero(np.isin(codes, pair)) for pair in self._pairs]
        biases = np.array([solution.bias for solution in solutions])
        return make_coefficients(solutions, parts, len(codes)), biases

    def _arranged(self, beta: Array) -> Array:
        k = len(self.classes_)
        if k == 2:
            return beta
        dual_coef = np.zeros((k - 1, beta.shape[1]))
        for values, (rows, columns) in zip(beta, self._places, strict=True):
            dual_coef[rows, columns] = values[columns]
        return dual_coef

    @property
    def _beta(self) -> Array:
        dual_coef, k = dense(self.dual_coef_), len(self.classes_)
        if k == 2:
            return dual_coef
        beta = np.zeros((k * (k - 1) // 2, dual_coef.shape[1]))
        for values, (rows, columns) in zip(beta, self._places, strict=True):
            values[columns] = dual_coef[rows, columns]
        return beta

    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a Gram matrix.

        Returns
        -------
        ndarray of shape (n,), (n, k) or (n, k (k - 1) / 2)
            For two classes f(x) + b, positive for the second. For more classes, of shape
            "ovr" the votes of every class plus a number in (-1/3, 1/3) that increases
            with its decision values; of shape "ovo" the values of every pair, positive
            for the first of the two.
        """
        f = self._evaluated(X)
        if len(self.classes_) == 2:
            return f[:, 0]
        ovr = self.decision_function_shape == "ovr"
        return count_votes(f, len(self.classes_)) if ovr else -f

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every point.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `decision_function`.

        Returns
        -------
        ndarray of shape (n,)
            Labels of `classes_`.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError(
                "break_ties must be False when decision_function_shape is 'ovo'; set it to 'ovr'"
            )
        f = self._evaluated(X)
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(f[:, 0] >= 0).astype(np.intp)])
        votes = count_votes(f, len(self.classes_))
        # Votes without the number that breaks ties are whole.
        return np.asarray(
            self.classes_[(votes if self.break_ties else np.rint(votes)).argmax(axis=1)]
        )

    @property
    def _functions(self) -> Functions:
        """All functions, positive for the second class."""
        functions = super()._functions
        return functions if len(self.classes_) == 2 else -functions

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.classes_)), 2))

    @property
    def _places(self) -> list[tuple[Index, Index]]:
        """Rows and columns of `dual_coef_` with the coefficients of every pair."""
        classes = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        return [_pair_places(classes, i, j) for i, j in self._pairs]

    @property
    def _wants_probabilities(self) -> bool:
        return self.probability not in WITHOUT_PROBABILITIES

    def _has_probabilities(self) -> bool:
        if not self._wants_probabilities:
            raise AttributeError(
                f"predict_proba is not available when probability=False, and scikit-learn 1.9 "
                f"deprecates `probability`; {CALIBRATE}"
            )
        return True

    @deprecated(OLD_SIGMOID.format("probA_"))  # type: ignore[prop-decorator, untyped-decorator]
    @property
    def probA_(self) -> Array:
        """A of P(first class) = 1 / (1 + exp(A f + B)); empty without `probability`."""
        return self.calibration_[:, 0]

    @deprecated(OLD_SIGMOID.format("probB_"))  # type: ignore[prop-decorator, untyped-decorator]
    @property
    def probB_(self) -> Array:
        """B of P(first class) = 1 / (1 + exp(A f + B)); empty without `probability`."""
        return -self.calibration_[:, 1]


@dataclass(eq=False, repr=False, kw_only=True)
class SVC(PairwiseMachine, CostMachine):
    """C-support vector classification, as scikit-learn's class of this name.

        min over f, b    1/2 |f|^2 + C sum_i weight_i max(0, 1 - s_i (f(x_i) + b))

    Every two classes have this problem on their points, with a vote each.

    Parameters
    ----------
    C : float, default 1.0
        Cost per unit of loss, in (0, inf]; inf is the hard margin.
    kernel : str, callable or Kernel, default "rbf"
        "linear", "poly", "rbf", "sigmoid", "precomputed" and, beyond scikit-learn's SVC,
        "laplacian", "chi2" and "exponential"; a kernel of `equimargin.formulations`; or
        a function of two lists of points that returns their values as a matrix, which
        must be positive semidefinite on the training points.
    degree, gamma, coef0
        As in scikit-learn: (gamma x.z + coef0)^degree; gamma may be "scale" or "auto".
    tol : float, default 1e-3
        Tolerance of decision values, as in scikit-learn; the relative gap to reach is
        tol^2, but between 1e-12 and 1e-8.
    class_weight : mapping, "balanced" or None, default None
        Factors of C by class; "balanced" counts rows.
    max_iter : int, default -1
        Maximum number of iterations per pair of classes; -1 is none.
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        Shape of decision values of three or more classes: one per class, or one per pair.
    break_ties : bool, default False
        True predicts by the decision values of shape "ovr"; False by votes alone, of which
        the first class wins a tie.
    verbose : bool or int, default False
        True prints the status, iterations and gap.
    time_limit : float or None, default None
        Time limit per pair of classes, in seconds.
    n_jobs : int or None, default None
        Threads of a large problem; None is 1, -1 all, -2 all but one.
    device : str, default "cpu"
        "cpu", or "cuda" ("cuda:1", ...) for an NVIDIA card.
    probability : bool, default "deprecated"
        True enables `predict_proba` by sigmoids of five folds, as `PairwiseCoupling`
        does, with a warning: scikit-learn 1.9 deprecates it.
    shrinking, cache_size, random_state
        Without effect: nothing is random.

    Attributes
    ----------
    support_ : ndarray of shape (s,)
        Rows of the support vectors, class by class.
    support_vectors_ : ndarray or sparse array of shape (s, d)
        Support vectors; of shape (0, 0) for a Gram matrix or a callable kernel.
    n_support_ : ndarray of shape (k,)
        Number of support vectors of every class.
    dual_coef_ : ndarray or sparse array of shape (k - 1, s)
        Coefficients in the pairs of the vector's class with the k - 1 others.
    intercept_ : ndarray of shape (k (k - 1) / 2,)
        Constants of the functions.
    coef_ : ndarray or sparse array of shape (k (k - 1) / 2, d)
        Weights of a linear kernel, read-only.
    classes_ : ndarray of shape (k,)
        Labels, sorted.
    class_weight_ : ndarray of shape (k,)
        Factors of C by class.
    calibration_ : ndarray of shape (k (k - 1) / 2, 2)
        A and B of P(second class) = 1 / (1 + exp(A f + B)), f being positive for the
        second class; of shape (0, 2) without `probability`.
    probA_, probB_ : ndarray of shape (k (k - 1) / 2,)
        A and B of P(first class), f being positive for the first; deprecated.
    fit_status_ : int
        0 if every run reached `tol`, else 1.
    n_iter_ : ndarray of shape (k (k - 1) / 2,)
        Iterations of every run.
    shape_fit_ : tuple of int
        Shape of X.
    n_features_in_, feature_names_in_
        Number and names of the features.
    objective_bounds_ : tuple of float
        Proven bounds (lower, upper) of the sum of all problems' optima.
    duality_gap_ : float
        Largest relative gap of the problems, in float64.
    status_ : str
        "optimal", or the reason why a run ended.

    References
    ----------
    Document T (Yu and Kim), (6)-(7), (23)-(28); scikit-learn's user guide, 1.4.
    """

    def _solve_pairs(self, points: Features, codes: Index, weights: Array) -> list[Solution]:
        if len(np.unique(codes[weights > 0])) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class; give "
                "a row of a second class a positive weight"
            )
        return one_vs_one(
            points,
            codes,
            self.C,
            self._fitted_kernel,
            sample_weight=weights * self.class_weight_[codes],
            **self._limits,
        )
