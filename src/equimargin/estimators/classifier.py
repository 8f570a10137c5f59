"""Classification into two classes, and by votes into more."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from equimargin.estimators.base import DeviceEstimator, MarginEstimator, find_classes, row_weights
from equimargin.estimators.pair_probabilities import (
    PairProbabilities,
    fit_sigmoids,
    refuse_scarce_classes,
)
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.choices import Bias, LossName
from equimargin.solvers import one_vs_one
from equimargin.solvers.batches.votes import count_votes


class Classifier(ClassifierMixin, MarginEstimator):
    """Base of the classifiers: one function and one vote for every pair of classes."""

    def decision_function(self, X: Any) -> Array:
        """Return the decision values.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel.

        Returns
        -------
        ndarray of shape (n,) or (n, k)
            For two classes f(x) + b, shape (n,), at least 0 for the second. For more,
            shape (n, k): the votes of every class plus a number in (-1/3, 1/3) that
            increases with its decision values and breaks ties.
        """
        f = self._evaluated(X)
        return f[:, 0] if len(self.classes_) == 2 else count_votes(f, len(self.classes_))

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
        values = self.decision_function(X)
        chosen = (values >= 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """Pairs of classes, in the order of the problems."""
        return list(combinations(range(len(self.classes_)), 2))

    @property
    def dual_(self) -> Any:
        """Multipliers, shape (m,); a list for more than two classes.

        An entry of the list belongs to a pair of classes and has the multipliers of
        their rows. A pickle excludes them.
        """
        check_is_fitted(self)
        return super().dual_ if len(self.classes_) == 2 else self._proof.duals

    def _shaped(self, values: Array) -> Any:
        return values


@dataclass(eq=False, repr=False, kw_only=True)
class MarginClassifier(Classifier, DeviceEstimator, PairProbabilities):
    """Support vector machine for two or more classes.

        min over f, b    1/2 |f|^2 + C sum_i weight_i loss(1 - s_i (f(x_i) + b)),
                         s_i = 1 in the second class, -1 in the first

    With more classes, every pair of classes has this problem on its own points, and
    every problem has a vote. The sum of decision values breaks ties of votes.

    Parameters
    ----------
    C : float, default 1.0
        Cost per unit of loss, in (0, inf]; inf is the hard margin.
    kernel : str or Kernel, default "linear"
        "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "exponential",
        "precomputed", or a kernel of `equimargin.formulations`, which has its own
        parameters, such as `rbf(0.1) + linear()`.
    degree, gamma, coef0
        Parameters of a kernel by name, as in scikit-learn's `SVC`: (gamma x.z +
        coef0)^degree; gamma may be "scale" or "auto". "scale" takes sample weights into
        account, so that a weight of 2 equals two copies of the row here, too, and
        ignores class weights.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Loss.
    bias : {True, False, "penalized"}, default True
        True (b is free), False (no b) or "penalized" (b^2 / 2 is added to the
        objective).
    class_weight : mapping, "balanced" or None, default None
        Factors of C by class: a mapping of labels to finite numbers of at least 0.
        "balanced" gives all classes equal sums of sample weights, whereas `SVC` counts
        rows; without sample weights both give equal factors.
    probability : bool, default False
        True enables `predict_proba`, as `PairwiseCoupling` does for any classifier: the
        problem of every pair of classes is then solved once more for each of five folds,
        fewer if a class has fewer rows, and a sigmoid is fitted to the decision values
        of held-out rows.
    solver : str, default "auto"
        Name in `equimargin.solvers.SOLVERS`, or "auto".
    tol : float, default 1e-8
        Relative gap to reach; the error of decision values is about its square root.
    max_iter : int or None, default None
        Maximum number of the solver's iterations per pair of classes; None is the
        solver's default.
    time_limit : float or None, default None
        Time limit per pair of classes, in seconds.
    n_jobs : int or None, default None
        Threads of a large problem; None is 1, -1 all, -2 all but one.
    device : str, default "cpu"
        "cpu", or "cuda" ("cuda:1", ...) for an NVIDIA card, on which all pairs of
        classes run at once (`one_vs_one`).

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        Labels, sorted.
    objective_bounds_ : tuple of float
        Proven bounds (lower, upper) of the optimum, of the sum of all problems' optima
        for more than two classes.
    duality_gap_ : float
        Primal minus dual objective in float64, relative as `tol` is; the largest of all
        problems.
    dual_ : ndarray of shape (m,) or list of ndarray
        Multipliers of the rows; for more than two classes a list, by pair of classes,
        on the rows of the two. Excluded from a pickle.
    n_iter_ : int
        Iterations of the solver, the maximum over all pairs of classes.
    status_ : str
        "optimal", or the reason why the solver stopped.
    coef_ : ndarray of shape (k (k - 1) / 2, d)
        Weights w of a linear kernel, for classes (0, 1), (0, 2), ..., (1, 2), ...; a
        positive function value is a vote for the second.
    intercept_ : ndarray of shape (k (k - 1) / 2,)
        Intercepts b of a linear kernel.
    dual_coef_ : ndarray of shape (k (k - 1) / 2, s)
        Coefficients of any other kernel.
    support_ : ndarray of shape (s,)
        Rows of the support vectors.
    support_vectors_ : ndarray of shape (s, d)
        Support vectors; not of linear and precomputed kernels.
    calibration_ : ndarray of shape (k (k - 1) / 2, 2)
        A and B of P(second class) = 1 / (1 + exp(A f + B)); of shape (0, 2) unless
        `probability` is true.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X was a table.

    References
    ----------
    Document T (Yu and Kim), (6)-(7), (23)-(28); S. Knerr, L. Personnaz, G. Dreyfus,
    Single-layer learning revisited (1990), for the votes; J. Platt (2000) and T.-F. Wu,
    C.-J. Lin, R. C. Weng (2004) for the probabilities.
    """

    loss: LossName = "hinge"
    bias: Bias = True
    class_weight: Any = None
    probability: bool = False

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of every pair of classes.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels of any type that can be sorted.
        sample_weight : array-like of shape (m,) or None
            Factors of C, at least 0; a weight of 2 equals two copies of the row.

        Returns
        -------
        MarginClassifier
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
        X, y = self._checked(X, y)
        self.classes_, codes = find_classes(y)
        weights = row_weights(sample_weight, X)
        costs = self._costs(codes, weights)
        present = self.classes_ if costs is None else self.classes_[np.unique(codes[costs > 0])]
        if len(present) < 2:
            reason = (
                "no row has a positive weight"
                if not len(present)
                else "all rows of positive weight are of one class, "
            )
            raise ValueError(
                f"{type(self).__name__} needs two classes, but "
                f"{reason}{''.join(map(format_value, present))}"
            )
        if self.probability:
            refuse_scarce_classes(y, costs)
        kernel = self._kernel(X, weights)
        solutions = one_vs_one(
            X, codes, self.C, kernel, self.loss, costs, bias=self.bias, **self._limits
        )
        parts = [np.flatnonzero(np.isin(codes, pair)) for pair in self._pairs]
        self._conclude(solutions, parts, X)
        # Functions of `one_vs_one` are positive for the first class.
        self._functions = -self._functions
        self.calibration_ = np.empty((0, 2))
        if self.probability:
            machine = clone(self).set_params(kernel=kernel, class_weight=None, probability=False)
            self.calibration_ = fit_sigmoids(machine, X, codes, costs)
        return self

    def _has_probabilities(self) -> bool:
        return self.probability

    def _costs(self, codes: Index, weights: Array | None) -> Array | None:
        """Return the factors C_i / C, row times class weights; None if all are 1."""
        if self.class_weight is None:
            return weights
        factors = self._factors(codes, np.ones(len(codes)) if weights is None else weights)[codes]
        return factors if weights is None else np.asarray(factors * weights)

    def _factors(self, codes: Index, weights: Array) -> Array:
        """Return the factors of C by class, shape (k,).

        A class without weight is excluded from balancing and has factor 0.

        Raises
        ------
        ValueError
            If a factor is negative or not finite.
        """
        rows = np.flatnonzero(weights)
        classes = (
            np.unique(codes[rows])
            if isinstance(self.class_weight, str)
            else np.arange(len(self.classes_))
        )
        labels = self.classes_[codes[rows]]
        factors = np.zeros(len(self.classes_))
        factors[classes] = compute_class_weight(
            self.class_weight, classes=self.classes_[classes], y=labels, sample_weight=weights[rows]
        )
        wrong = np.flatnonzero(~((factors >= 0) & (factors < np.inf)))
        if len(wrong):
            k = wrong[0]
            raise ValueError(
                f"class_weight must be finite and at least 0, not {factors[k]:g} of class "
                f"{format_value(self.classes_[k])}"
            )
        return factors
