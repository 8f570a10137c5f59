"""Classification into two classes, and by votes into many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from equimargin.estimators.base import CostEstimator, MarginEstimator, row_weights
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.choices import Bias, LossName
from equimargin.solvers import Solution, one_vs_one
from equimargin.solvers.probability.coupling import wlw
from equimargin.solvers.probability.held_out import held_out_values
from equimargin.solvers.probability.sigmoid import platt


def _wants_probabilities(estimator: Any) -> bool:
    """Whether an estimator has probabilities; scikit-learn takes a false answer for a method that is not there."""
    return bool(estimator.probability)


class Classifier(ClassifierMixin, MarginEstimator):
    """What classifiers have in common: a function for every two classes, and its vote."""

    def decision_function(self, X: Any) -> Array:
        """How much speaks for a class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points where the kernel is
            precomputed.

        Returns
        -------
        Of two classes (n,), f(x) + b, at least 0 for the second. Of more (n, k), the votes for every class, and to tell equal ones apart
        a number in (-1/3, 1/3) that grows with its decision values.
        """
        f = self._evaluated(X)
        return f[:, 0] if len(self.classes_) == 2 else self._votes(f)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every point.

        Parameters
        ----------
        X : Any
            As in `decision_function`.

        Returns
        -------
        (n,) labels of `classes_`.
        """
        values = self.decision_function(X)
        chosen = (values >= 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        """Every two classes, in the order of the problems."""
        return list(combinations(range(len(self.classes_)), 2))

    def _votes(self, f: Array) -> Array:
        votes, sums = np.zeros((len(f), len(self.classes_))), np.zeros((len(f), len(self.classes_)))
        for (first, second), values in zip(self._pairs, f.T, strict=True):
            votes[:, first] += values < 0
            votes[:, second] += values >= 0
            sums[:, first] -= values
            sums[:, second] += values
        return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))

    @property
    def dual_(self) -> Any:
        """The multipliers, (m,); of many classes a list of them, for every two on their rows alone. A pickle leaves them out."""
        check_is_fitted(self)
        return super().dual_ if len(self.classes_) == 2 else self._proof.duals

    def _shaped(self, values: Array) -> Any:
        return values


@dataclass(eq=False, repr=False, kw_only=True)
class MarginClassifier(Classifier, CostEstimator):
    """A support vector machine for two classes or more.

        min over f, b    1/2 |f|^2 + C sum_i weight_i loss(1 - s_i (f(x_i) + b)),      s_i = 1 in the second class, -1 in the first

    With more classes, every two have this problem on their own points, and every problem has a vote. Among classes with equally many votes
    the sum of decision values decides.

    Parameters
    ----------
    C
        Cost of a unit of loss, in (0, inf]; inf is the hard margin.
    kernel
        "linear", "poly", "rbf", "sigmoid", "precomputed", or a kernel of
        `equimargin.formulations`, which brings its own parameters.
    degree, gamma, coef0
        Of a kernel by name, as in scikit-learn's `SVC`: (gamma x.z + coef0)^degree;
        gamma may be "scale" or "auto". "scale" knows sample weights, so that a weight
        of 2 is two copies of the row here, too, and no class weights.
    loss : LossName
        "hinge" or "squared_hinge".
    bias : Bias
        True (b is free), False (none) or "penalized" (b^2 / 2 is added to the
        objective).
    class_weight : Any
        Factors of C by class: a mapping of labels to finite numbers of at least 0,
        "balanced" or None. "balanced" gives all classes the same sum of sample weights,
        where `SVC` counts rows and leaves sample weights out; without any the two are
        the same.
    probability : bool
        Whether `predict_proba` is wanted: the problem of every two classes is then
        solved once more for each of five folds, fewer where a class has fewer rows, and
        a sigmoid is fitted to the values that rows have where they are held out.
    solver
        A name of `equimargin.solvers.SOLVERS`, or "auto".
    tol
        Relative gap to reach; the error of decision values is about its square root.
    max_iter
        Of the solver's own iterations, for every two classes; None is its default.
    time_limit
        Seconds, for every two classes.
    n_jobs
        Threads of a large problem; None is 1 and -1 all.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The labels, sorted.
    objective_bounds_ : array of shape (lower, upper)
        Proven bounds of the optimum, of many classes that of all problems together.
    duality_gap_
        Primal minus dual in float64, relative as `tol` is, of many classes the largest.
    dual_ : array of shape (m,)
        Multipliers of the rows; of many classes a list of them, for every two on their
        rows alone. A pickle leaves them out.
    n_iter_
        Iterations of the solver, the most for any two classes.
    status_
        How the solver ended: "optimal", or why not.
    coef_, intercept_ : array of shape (k (k - 1) / 2, d)
        And (k (k - 1) / 2,) of a linear kernel, for classes (0, 1), (0, 2), ..., (1,
        2), ...; a positive value of the function is a vote for the second.
    dual_coef_ : array of shape (k (k - 1) / 2, s)
        Coefficients of any other kernel.
    support_ : array of shape (s,)
        Rows of the support vectors.
    support_vectors_ : array of shape (s, d)
        Where the kernel needs them.
    calibration_ : array of shape (k (k - 1) / 2, 2)
        A and B of P(second class) = 1 / (1 + exp(A f + B)), where probability is true.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Source: T (6)-(7), (23)-(28); S. Knerr, L. Personnaz, G. Dreyfus, Single-layer learning revisited (1990), for the votes; J. Platt (2000)
    and T.-F. Wu, C.-J. Lin, R. C. Weng (2004) for the probabilities.
    """

    loss: LossName = "hinge"
    bias: Bias = True
    class_weight: Any = None
    probability: bool = False

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem of every two classes.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels of any type that can be sorted.
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
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights = row_weights(sample_weight, X)
        costs = self._costs(codes, weights)
        present = self.classes_ if costs is None else self.classes_[np.unique(codes[costs > 0])]
        if len(present) < 2:
            found = (
                "no row has a positive weight"
                if not len(present)
                else "all rows of positive weight are of one class, "
            )
            raise ValueError(
                f"{type(self).__name__} needs two classes, but "
                f"{found}{''.join(map(format_value, present))}"
            )
        solutions = one_vs_one(
            X,
            codes,
            self.C,
            self._kernel(X, weights),
            self.loss,
            costs,
            bias=self.bias,
            **self._limits,
        )
        parts = [
            np.flatnonzero((codes == first) | (codes == second)) for first, second in self._pairs
        ]
        self._conclude(solutions, parts, X)
        self._functions = -self._functions  # theirs are positive for the first class
        if self.probability:
            self.calibration_ = self._calibration(solutions)
        return self

    def _calibration(self, solutions: Sequence[Solution]) -> Array:
        """A and B for every two classes, (k (k - 1) / 2, 2), from the values of rows that are held out."""
        sigmoids = []
        for (first, second), solution in zip(self._pairs, solutions, strict=True):
            names = format_value(self.classes_[first]), format_value(self.classes_[second])
            values, rows = held_out_values(solution, names, **self._limits)
            sigmoid = platt(-values, ~rows.of_first, rows.weight)
            sigmoids.append((sigmoid.A, sigmoid.B))
        return np.array(sigmoids)

    @available_if(_wants_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of every class, where `probability` is true: of two by a sigmoid, of more by coupling those of every two.

        Parameters
        ----------
        X : Any
            As in `decision_function`.

        Returns
        -------
        (n, k), rows that add up to 1. The most probable class need not be the one that `predict` has by votes.

        Source: Platt (2000); Wu, Lin and Weng (2004), second method.
        """
        f = self._evaluated(X)
        A, B = self.calibration_.T
        second = expit(-(A * f + B))
        r = np.full((len(f), len(self.classes_), len(self.classes_)), 0.5)
        for (i, j), p in zip(self._pairs, second.T, strict=True):
            r[:, j, i], r[:, i, j] = p, 1 - p
        return (
            np.column_stack([1 - second[:, 0], second[:, 0]]) if len(self.classes_) == 2 else wlw(r)
        )

    @available_if(_wants_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of `predict_proba`.

        Parameters
        ----------
        X : Any
            As in `decision_function`.

        Returns
        -------
        (n, k); -inf where a probability is 0 in float64.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _costs(self, codes: Index, weights: Array | None) -> Array | None:
        """Factors of C, (m,): weights of rows times those of their classes; None where all are 1."""
        if self.class_weight is None:
            return weights
        factors = self._factors(codes, np.ones(len(codes)) if weights is None else weights)[codes]
        return factors if weights is None else np.asarray(factors * weights)

    def _factors(self, codes: Index, weights: Array) -> Array:
        """Factors of C by class, (k,); a class without weight takes no part in a balance, and has 0 then.

        Raises
        ------
        ValueError
            A factor that is negative or not finite.
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
            at = wrong[0]
            raise ValueError(
                f"class_weight must be finite and at least 0, not {factors[at]:g} of class "
                f"{format_value(self.classes_[at])}"
            )
        return factors
