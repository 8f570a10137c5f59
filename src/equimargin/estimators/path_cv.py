"""Estimators that choose C by cross-validation over the whole regularisation path."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from equimargin.estimators.base import MarginEstimator, find_classes
from equimargin.estimators.classifier import Classifier
from equimargin.estimators.ranker import Ranker
from equimargin.estimators.regressor import Regressor
from equimargin.formulations import Kernel
from equimargin.formulations.numeric.arguments import check_choice, format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.problem.class_pairs import restrict_to_pair
from equimargin.formulations.problem.construct import make_family_problem
from equimargin.selection import GridRow, SameEverywhere, grid, votes_by_folds
from equimargin.selection.grids import Folds, Task
from equimargin.solvers import solve

FOLDS = 5
"""Default number of folds, as in scikit-learn's searches."""
ONE_NORM: Mapping[Task, str] = {"classification": "svm.onenorm", "ranking": "rvm"}
"""Families of the penalty "l1", by learning task."""


@dataclass(eq=False, repr=False, kw_only=True)
class PathCV(MarginEstimator):
    """Base of the estimators: paths of all folds, then one problem at the chosen C."""

    cv: Folds | None = FOLDS
    metric: str = "auto"
    lambda_min: float = 1e-4
    max_events: int | None = None
    random_state: int = 0

    def _choose(self, task: Task, X: Features, y: Array, penalty: str = "l2", **more: Any) -> Self:
        """Choose C on the folds, then solve.

        Parameters
        ----------
        task : {"regression", "ranking"}
            Learning task.
        X : ndarray or sparse array of shape (m, d)
            Features.
        y : ndarray of shape (m,)
            Targets or relevances.
        penalty : {"l2", "l1"}
            Penalty; "l1" only if the task has it.
        **more
            Queries or epsilon, depending on the task.
        """
        family, kernel = find_family(task, penalty), self._kernel(X)
        self._choose_cost(partial(self._score, X, y, kernel, task, family, **more), family)
        return self._solve(
            make_family_problem(family, task, X, y, kernel, **more).with_cost(self.C_)
        )

    def _score(
        self, X: Features, y: Array, kernel: Kernel, task: Task, family: str | None, **more: Any
    ) -> GridRow:
        """Return the scores of one problem along the paths of its folds."""
        options = {"metric": self.metric, "family": family, **self._folds, **more}
        return grid(X, y, [kernel], task, **options).best

    @property
    def _folds(self) -> dict[str, Any]:
        """Folds, and limits of their paths."""
        return {
            "folds": FOLDS if self.cv is None else self.cv,
            "random_state": self.random_state,
            "lambda_min": self.lambda_min,
            "max_events": self.max_events,
            "time_limit": self.time_limit,
            "n_jobs": self._limits["n_jobs"],
        }

    def _choose_cost(self, search: Callable[[], GridRow], family: str | None) -> None:
        """Set C and the attributes of its choice.

        Parameters
        ----------
        search : callable
            Function without arguments that returns the scores along the paths.
        family : str or None
            Family with a one-norm, None for one with a squared norm.
        """
        try:
            row = search()
        except SameEverywhere as same:
            self.C_, self.C_interval_, self.best_score_, self.curve_, self.path_stopped_ = (
                1.0,
                (0.0, np.inf),
                np.nan,
                None,
                str(same),
            )
            return
        low, high = row.selected.interval
        self.C_, self.C_interval_ = row.selected.C, (1 / high, 1 / low)
        # One constant segment, from lambda = inf downwards.
        if family is not None and row.curve.lambdas[0] == row.curve.lambdas[-1]:
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
            warnings.warn(message, ConvergenceWarning, stacklevel=4)


def find_family(task: Task, penalty: str) -> str | None:
    """Return the family of a penalty, None for the margin problem of the task.

    Parameters
    ----------
    task : {"classification", "regression", "ranking"}
        Learning task.
    penalty : {"l2", "l1"}
        Penalty; "l1" only if the task has it.

    Raises
    ------
    ValueError
        If the penalty is unknown.
    """
    return ONE_NORM[task] if check_choice(penalty, "penalty", ("l2", "l1")) == "l1" else None


@dataclass(eq=False, repr=False, kw_only=True)
class MarginClassifierPathCV(PathCV, Classifier):
    """Support vector machine for two or more classes, with C chosen by cross-validation.

    Every fold follows the whole solution path of the hinge loss, and all C from the
    first breakpoint to 1 / lambda_min are scored exactly. With more classes, every fold
    follows the path of every pair of classes. All pairs share C, and the score is that
    of their votes, exact on the union of the breakpoints of all paths.
    `sklearn.multiclass.OneVsOneClassifier(MarginClassifierPathCV())` chooses one C per
    pair of classes instead.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default "l2"
        "l2" is that of `MarginClassifier`, 1/2 |f|^2. "l1" is the sum of the a_i >= 0
        in f = sum_i a_i y_i k(x_i, .), with which few points have a coefficient; it
        penalises the points' coefficients, not w as scikit-learn's `LinearSVC` does.
    kernel, degree, gamma, coef0
        See `MarginClassifier`; "scale" is computed from all points.
    cv : int, splitter, iterable or None, default 5
        Number of folds, a splitter of scikit-learn, or pairs of (training rows,
        held-out rows); None is 5.
    metric : {"auto", "accuracy", "pairwise_accuracy"}, default "auto"
        Score; "auto" is "accuracy", the only one for more than two classes.
    lambda_min : float, default 1e-4
        End of the paths, in units of lambda = 1 / C.
    max_events : int or None, default None
        Maximum number of breakpoints of a path.
    time_limit : float or None, default None
        Time limit of a path, and of the last fit, in seconds.
    random_state : int, default 0
        Seed of the folds, if `cv` is a number.
    tol : float, default 1e-8
        Relative gap of the last fit.
    n_jobs : int or None, default None
        Processes of the folds, and threads of the last fit; None is 1, -1 all, -2 all but one.

    Attributes
    ----------
    C_ : float
        Chosen C.
    C_interval_ : tuple of float
        Ends (lowest, highest) of the interval around C_ whose score is that of C_.
    best_score_ : float
        Score at C_.
    curve_ : selection.Curve
        Lambdas and scores of all breakpoints of the score.
    path_stopped_ : str
        Smallest lambda at which all folds were scored, and the reason why no smaller
        one was; empty if no path ended early.

    Notes
    -----
    All other attributes are those of `MarginClassifier`, fitted to all points at C_.
    If f is the same constant at every C, for instance with equal targets, there is
    nothing to choose: C_ is 1, C_interval_ (0, inf), best_score_ NaN and curve_ None,
    and path_stopped_ gives the reason. With "l1" this holds for C up to 1 /
    lambda_min: C_interval_ is (0, 1 / lambda_min), and C_ the smaller of 1 and 1 /
    lambda_min.

    References
    ----------
    Document P (Zapien et al.), section 5; Hastie, Rosset, Tibshirani, Zhu, The entire
    regularization path for the support vector machine (2004); document T (Yu and Kim),
    section 5.1, for "l1".
    """

    penalty: Literal["l2", "l1"] = "l2"

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose C and fit to all points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Labels of any type that can be sorted.

        Returns
        -------
        MarginClassifierPathCV
            Fitted estimator.

        Raises
        ------
        ValueError
            If there is one class only, folds cannot be made, a path is too short, or the
            metric is undefined, or another one than accuracy for more than two classes.

        Warns
        -----
        ConvergenceWarning
            If the last fit stops early, as in `MarginClassifier.fit`; or if the path of
            a fold ends early, so that a larger C may be better.
        """
        X, y = self._checked(X, y, ensure_min_samples=2)
        self.classes_, codes = find_classes(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes, but all rows are of one class, "
                f"{format_value(self.classes_[0])}"
            )
        return self._choose_for_pairs(X, codes)

    def _choose_for_pairs(self, X: Features, codes: Index) -> Self:
        """Choose C on the folds, then solve the problem of every pair of classes."""
        family, kernel = find_family("classification", self.penalty), self._kernel(X)
        if len(self.classes_) == 2:
            signs = np.where(codes, 1.0, -1.0)
            search = partial(self._score, X, signs, kernel, "classification", family)
        else:
            check_choice(self.metric, "metric of more than two classes", ("auto", "accuracy"))
            search = partial(votes_by_folds, X, codes, kernel, family=family, **self._folds)
        self._choose_cost(search, family)
        # The labels of the whole do not matter.
        whole = make_family_problem(family, "classification", X, np.ones(len(codes)), kernel)
        whole = whole.with_cost(self.C_)
        solutions = [
            solve(restrict_to_pair(whole, codes == first, codes == second), **self._limits)
            for first, second in self._pairs
        ]
        parts = [np.flatnonzero(np.isin(codes, pair)) for pair in self._pairs]
        return self._conclude(solutions, parts, X)


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRegressorPathCV(PathCV, Regressor):
    """Support vector regression, with C chosen by cross-validation.

    Parameters
    ----------
    epsilon : float, default 0.1
        See `MarginRegressor`.
    metric : str, default "auto"
        "mean_squared_error", "mean_absolute_error", "epsilon_insensitive" or
        "pairwise_accuracy"; "auto" is the first.
    cv, lambda_min, max_events, time_limit, random_state, tol, n_jobs
        See `MarginClassifierPathCV`.
    kernel, degree, gamma, coef0
        See `MarginClassifierPathCV`.

    Attributes
    ----------
    C_, C_interval_, best_score_, curve_, path_stopped_
        See `MarginClassifierPathCV`. All other attributes are those of
        `MarginRegressor`.

    References
    ----------
    Document P (Zapien et al.), section 5; L. Gunter, J. Zhu, Efficient computation and
    model selection for the support vector regression (2007).
    """

    epsilon: float = 0.1

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose C and fit to all points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Targets.

        Returns
        -------
        MarginRegressorPathCV
            Fitted estimator.

        Raises
        ------
        ValueError
            If folds cannot be made, a path is too short, or the metric is undefined.

        Warns
        -----
        ConvergenceWarning
            See `MarginClassifierPathCV.fit`.
        """
        X, y = self._checked(X, y, y_numeric=True, ensure_min_samples=2)
        return self._choose("regression", X, np.asarray(y, dtype=np.float64), epsilon=self.epsilon)


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRankerPathCV(PathCV, Ranker):
    """RankSVM, with C chosen by cross-validation on whole queries.

    Pairs are explicit, and the path has about as many breakpoints as there are pairs:
    use it for some thousand pairs.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default "l2"
        "l2" is that of `MarginRanker`; "l1" is that of `OneNormRanker`, the ranking
        vector machine, with few points in f.
    metric : str, default "auto"
        "pairwise_accuracy", which is also "auto"; "mean_ndcg", "map", "ndcg@10", or any
        other metric of `selection.best`.
    cv, lambda_min, max_events, time_limit, random_state, tol, n_jobs
        See `MarginClassifierPathCV`.
    kernel, degree, gamma, coef0
        See `MarginClassifierPathCV`.

    Attributes
    ----------
    C_, C_interval_, best_score_, curve_, path_stopped_
        See `MarginClassifierPathCV`. All other attributes are those of `MarginRanker`.

    References
    ----------
    Document P (Zapien et al.), section 5; document T (Yu and Kim), (102)-(104), for
    "l1".
    """

    penalty: Literal["l2", "l1"] = "l2"

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Choose C and fit to all points.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Relevances, higher is better.
        qid : array-like of shape (m,) or None
            See `MarginRanker.fit`. Folds keep queries whole, and a splitter receives
            them as groups; the points of a single query are split.
        group : array-like of shape (q,) or None
            Sizes of the queries, in place of qid; see `MarginRanker.fit`.

        Returns
        -------
        MarginRankerPathCV
            Fitted estimator.

        Raises
        ------
        ValueError
            If folds cannot be made, a path is too short, or the metric is undefined.

        Warns
        -----
        ConvergenceWarning
            See `MarginClassifierPathCV.fit`.
        """
        X, y, query = self._data(X, y, qid, group, ensure_min_samples=2)
        return self._choose(
            "ranking", X, y, self.penalty, qid=query if self.n_queries_ > 1 else None
        )
