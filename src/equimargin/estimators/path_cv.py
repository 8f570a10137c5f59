"""Estimators that choose C by cross-validation from all values that the regularisation path reaches, instead of from a list."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from equimargin.estimators.base import MarginEstimator
from equimargin.estimators.classifier import Classifier
from equimargin.estimators.ranker import Ranker
from equimargin.estimators.regressor import Regressor
from equimargin.formulations.numeric.arguments import check_choice, format_value
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.problem.construct import make_family_problem
from equimargin.selection import SameEverywhere, grid
from equimargin.selection.grids import Folds, Task

FOLDS = 5
"""The number of folds, unless another is asked for: that of scikit-learn's searches."""
ONE_NORM: Mapping[Task, str] = {"classification": "svm.onenorm", "ranking": "rvm"}
"""The families of the penalty "l1", by their tasks."""


@dataclass(eq=False, repr=False, kw_only=True)
class PathCV(MarginEstimator):
    """What the three have in common: the paths of all folds, and one problem of all points at the chosen C."""

    cv: Folds | None = FOLDS
    metric: str = "auto"
    lambda_min: float = 1e-4
    max_events: int | None = None
    random_state: int = 0

    def _choose(self, task: Task, X: Features, y: Array, penalty: str = "l2", **more: Any) -> Self:
        """Choose C on the folds, then solve.

        Parameters
        ----------
        task : Task
            What is learned.
        X : Features of shape (m, d)
        y : ndarray of shape (m,)
            Labels -1 and +1, targets or relevances.
        penalty : str
            "l2", or "l1" where the task has one.
        more : Any
            Of the task, the queries or epsilon.
        """
        family = ONE_NORM[task] if check_choice(penalty, "penalty", ("l2", "l1")) == "l1" else None
        kernel = self._kernel(X)
        folds: dict[str, Any] = {
            "folds": FOLDS if self.cv is None else self.cv,
            "random_state": self.random_state,
        }
        limits: dict[str, Any] = {
            "lambda_min": self.lambda_min,
            "max_events": self.max_events,
            "time_limit": self.time_limit,
        }
        limits["n_jobs"] = effective_n_jobs(self.n_jobs)
        try:
            row = grid(
                X, y, [kernel], task, metric=self.metric, family=family, **folds, **limits, **more
            ).best
        except SameEverywhere as same:
            self.C_, self.C_interval_, self.best_score_, self.curve_, self.path_stopped_ = (
                1.0,
                (0.0, np.inf),
                np.nan,
                None,
                str(same),
            )
        else:
            low, high = row.selected.interval
            self.C_, self.C_interval_ = row.selected.C, (1 / high, 1 / low)
            if (
                family is not None and row.curve.lambdas[0] == row.curve.lambdas[-1]
            ):  # one constant piece, down from lambda = inf
                self.C_, self.C_interval_ = min(1.0, 1 / low), (0.0, 1 / low)
            self.best_score_, self.curve_, self.path_stopped_ = (
                row.selected.score,
                row.curve,
                row.stopped,
            )
            if row.stopped:
                message = (
                    f"C is chosen from a part of the paths, and a larger one may be better: "
                    f"{row.stopped}"
                )
                warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return self._solve(
            make_family_problem(family, task, X, y, kernel, **more).with_cost(self.C_)
        )


@dataclass(eq=False, repr=False, kw_only=True)
class MarginClassifierPathCV(PathCV, Classifier):
    """A support vector machine for two classes whose C is the best in cross-validation, of all that the path reaches.

    Every fold follows the whole path of the hinge's solutions, and all C from the first breakpoint to 1 / lambda_min are scored exactly.
    More classes: `sklearn.multiclass.OneVsOneClassifier(MarginClassifierPathCV())`, which chooses a C for every two.

    Parameters
    ----------
    penalty : Literal['l2', 'l1']
        "l2", that of `MarginClassifier`, 1/2 |f|^2; or "l1", the sum of the x_i >= 0 in
        f = sum_i x_i y_i k(x_i, .), with which few points have a coefficient. It is
        that of the points' coefficients, and not of w as in scikit-learn's `LinearSVC`.
    kernel, degree, gamma, coef0
        As in `MarginClassifier`; "scale" is of all points.
    cv
        How many folds, or a splitter of scikit-learn, or pairs of (training rows, rows
        held out); None is 5.
    metric
        "accuracy" or "pairwise_accuracy"; "auto" is the first.
    lambda_min
        Where paths end, in units of lambda = 1 / C.
    max_events
        Breakpoints of a path at most.
    time_limit
        Seconds of a path, and of the last fit.
    random_state
        Of a number of folds.
    tol
        Relative gap of the last fit.
    n_jobs
        Processes; None is 1 and -1 all.

    Attributes
    ----------
    C_
        The chosen C.
    C_interval_ : array of shape (lowest, highest)
        C around it with the same score.
    best_score_
        That score.
    curve_
        Lambdas and scores of all knots, a `selection.Curve`.
    path_stopped_
        Down to which lambda all folds were judged, and why no further; empty where all
        paths ended where they should.
    The rest as of `MarginClassifier`, of the fit to all points at C_.

    Where f is the same constant at every C, as of equal targets, there is nothing to choose: C_ is 1, C_interval_ (0, inf), best_score_ NaN
    and curve_ None, and path_stopped_ says so. With "l1" this is known of the C up to 1 / lambda_min: C_interval_ is (0, 1 / lambda_min),
    and C_ the smaller of 1 and 1 / lambda_min.

    Source: P, section 5; Hastie, Rosset, Tibshirani, Zhu, The entire regularization path for the support vector machine (2004); T, section
    5.1, for "l1".
    """

    penalty: Literal["l2", "l1"] = "l2"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose C and fit to all points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels of two classes.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ValueError
            More classes or fewer than two, folds that cannot be made, nothing to choose
            from.

        Warns
        -----
        ConvergenceWarning
            As in `MarginClassifier.fit`; or the path of a fold ended early and the
            choice is there, where a larger C may be better.
        """
        X, y = self._checked(X, y, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}."
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes, but all rows are of one class, "
                f"{format_value(self.classes_[0])}"
            )
        return self._choose("classification", X, np.where(codes, 1.0, -1.0), self.penalty)


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRegressorPathCV(PathCV, Regressor):
    """Support vector regression whose C is the best in cross-validation, of all that the path reaches.

    Parameters
    ----------
    epsilon : float
        As in `MarginRegressor`.
    metric
        "mean_squared_error", "mean_absolute_error", "epsilon_insensitive" or
        "pairwise_accuracy"; "auto" is the first.
    The rest as in `MarginClassifierPathCV`; there is no penalty to choose.

    Attributes
    ----------
    C_, C_interval_, best_score_, curve_, path_stopped_
        As of `MarginClassifierPathCV`.  The rest as of `MarginRegressor`.

    Source: P, section 5; L. Gunter, J. Zhu, Efficient computation and model selection for the support vector regression (2007).
    """

    epsilon: float = 0.1

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose C and fit to all points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            targets.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ValueError
            Folds that cannot be made, nothing to choose from.

        Warns
        -----
        ConvergenceWarning
            As in `MarginClassifierPathCV.fit`.
        """
        X, y = self._checked(X, y, y_numeric=True, ensure_min_samples=2)
        return self._choose("regression", X, np.asarray(y, dtype=np.float64), epsilon=self.epsilon)


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRankerPathCV(PathCV, Ranker):
    """RankSVM whose C is the best in cross-validation with whole queries, of all that the path reaches.

    Pairs are listed, and the path has about as many breakpoints as there are pairs: this is for some thousand of them.

    Parameters
    ----------
    penalty : Literal['l2', 'l1']
        "l2", that of `MarginRanker`; or "l1", that of `OneNormRanker`, the ranking
        vector machine, whose f has few points.
    metric
        "pairwise_accuracy" or "auto", which is the same; "mean_ndcg",
        "average_precision", "ndcg@10", or any other that `selection.best` takes.  The
        rest as in `MarginClassifierPathCV`.

    Attributes
    ----------
    C_, C_interval_, best_score_, curve_, path_stopped_
        As of `MarginClassifierPathCV`.  The rest as of `MarginRanker`.

    Source: P, section 5; T (102)-(104) for "l1".
    """

    penalty: Literal["l2", "l1"] = "l2"

    def fit(self, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Choose C and fit to all points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Relevances, higher is better.
        qid : ArrayLike | None
            As in `MarginRanker.fit`; folds keep queries whole, and a splitter has them
            as its groups. Of a single query the points are folded.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ValueError
            Folds that cannot be made, nothing to choose from.

        Warns
        -----
        ConvergenceWarning
            As in `MarginClassifierPathCV.fit`.
        """
        X, y, query = self._data(X, y, qid, ensure_min_samples=2)
        return self._choose(
            "ranking", X, y, self.penalty, qid=query if self.n_queries_ > 1 else None
        )
