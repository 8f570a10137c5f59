"""Rankers that learn from relevances within queries."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from equimargin.data.pairs.clicks import Preferences
from equimargin.data.words import NO_PAIRS
from equimargin.estimators.base import CostEstimator, MarginEstimator, row_weights
from equimargin.estimators.queries import (
    query_of_rows,
    split_column,
    weighted_accuracy,
    weighted_pairs,
)
from equimargin.formulations import MarginProblem, Problem, ranking, ranking_from_pairs
from equimargin.formulations.numeric.arguments import check_choice, finite_cost, format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.problem.choices import LOSSES, LossName
from equimargin.formulations.problem.construct import make_one_norm
from equimargin.formulations.problem.labels import relevances
from equimargin.formulations.problem.limits import check_float64_range
from equimargin.formulations.rows.loss import make_loss
from equimargin.metrics import pairwise_accuracy


class Ranker(MarginEstimator):
    """Base of the rankers: queries, and scores instead of labels."""

    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}

    def decision_function(self, X: Any) -> Array:
        """Return the scores; higher is better, and only within a query.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points for a precomputed
            kernel. A column "qid" is ignored.

        Returns
        -------
        ndarray of shape (n,)
            Scores.
        """
        return self._evaluated(split_column(X, None)[0])[:, 0]

    def predict(self, X: Any) -> Array:
        """Return the scores of `decision_function`.

        Parameters
        ----------
        X : array-like of shape (n, d)
            See `decision_function`.

        Returns
        -------
        ndarray of shape (n,)
            Scores.
        """
        return self.decision_function(X)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> float:
        """Return the pairwise accuracy: the share of correctly ordered pairs.

        Pairs are within queries; a tie counts one half.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Relevances.
        qid : array-like of shape (n,) or None
            Queries; None uses the column "qid" of X, or else a single query.
        sample_weight : array-like of shape (n,) or None
            Weights of the rows, at least 0; a pair has the weight v_i v_j.
        group : array-like of shape (q,) or None
            Sizes of the queries, in place of qid; see `MarginRanker.fit`.

        Returns
        -------
        float
            Pairwise accuracy.

        Raises
        ------
        ValueError
            If there are no queries, and the ranker was fitted with several, or the sizes do
            not add up to the rows.
        """
        check_is_fitted(self)
        features, query = split_column(X, qid, group)
        self.check_queries(query)
        f = self.decision_function(features)
        weights = row_weights(sample_weight, f)
        if weights is None:
            return pairwise_accuracy(y, f, query).mean
        return weighted_accuracy(y, f, query_of_rows(query, len(f)), weights)

    def check_queries(self, qid: ArrayLike | None) -> None:
        """Raise if queries are missing from the data to score.

        Documents of different queries are not comparable.

        Parameters
        ----------
        qid : array-like or None
            Queries of the data.

        Raises
        ------
        ValueError
            If `qid` is None and the ranker was fitted with several queries.
        """
        if qid is None and self.n_queries_ > 1:
            raise ValueError(
                f"this ranker was fitted with {self.n_queries_} queries, and its score "
                f"needs qid, too; in cross-validation, call "
                "sklearn.set_config(enable_metadata_routing=True) and pass qid to fit, or "
                "let X have a column 'qid'"
            )

    def _data(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None,
        group: ArrayLike | None = None,
        **more: Any,
    ) -> tuple[Features, Array, Index]:
        """Return valid features, relevances and the query 0, 1, ... of every row."""
        X, qid = split_column(X, qid, group)
        X, y = self._checked(X, y, y_numeric=True, **more)
        y = relevances(y, X.shape[0], "y")
        query = query_of_rows(qid, X.shape[0])
        self.n_queries_ = int(query.max()) + 1
        return X, y, query


@dataclass(eq=False, repr=False, kw_only=True)
class PairRanker(Ranker, CostEstimator):
    """Base of the rankers that solve one problem, of labels or of preferences."""

    per_query: Literal["sum", "mean"] = "sum"

    @abstractmethod
    def _posed(self, problem: MarginProblem) -> Problem:
        """Return the ranker's own problem of the pairs and costs of a margin problem."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Relevances, higher is better.
        qid : array-like of shape (m,) or None
            Queries, in any order, numbers or text; None uses the column "qid" of X, or
            else a single query. A column "query" or "query_id" raises an error: it
            seems to hold the queries and would be a feature.
        sample_weight : array-like of shape (m,) or None
            Factors of the rows, at least 0. A pair has the weight v_i v_j, so that a
            weight of 2 equals two copies of the row. To give a query weight v, give its
            rows the square root of v. A row of weight 0 has no pairs, but the function of
            a `OneNormRanker` over points may contain it.
        group : array-like of shape (q,) or None
            Sizes of the queries, as in XGBoost and LightGBM, in place of qid: the first
            group[0] rows are of the first query, and so on. Cross-validation cannot split
            sizes; pass qid there.

        Returns
        -------
        Self
            Fitted estimator.

        Raises
        ------
        ValueError
            If data or parameters are invalid, or there is no pair; the message says so.

        Warns
        -----
        ConvergenceWarning
            If the solver stops before it reaches `tol`; its best point is used.
        """
        X, y, query = self._data(X, y, qid, group, ensure_min_samples=2)
        weights = row_weights(sample_weight, X)
        if weights is None:
            problem = ranking(X, y, query, self.C, self._kernel(X), per_query=self.per_query)
        else:
            mean = check_choice(self.per_query, "per_query", ("sum", "mean")) == "mean"
            posed = ranking(X, y, query, self.C, self._kernel(X, weights))
            problem = weighted_pairs(posed, weights, mean)
        if problem.p == 0:
            raise ValueError(NO_PAIRS)
        return self._solve(self._posed(problem))

    def fit_preferences(self, X: Any, preferences: Preferences) -> Self:
        """Solve the problem of given preference pairs, of clicks or comparisons.

        A pair has the loss of 1 - f(x_i) + f(x_j), i preferred to j, times its weight.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        preferences : Preferences
            Pairs of rows of X with weights; `equimargin.data.preferences` makes them
            from clicks. They have no queries: `per_query` must be "sum".

        Returns
        -------
        Self
            Fitted estimator; `n_queries_` is 1, since pairs have no query.

        Raises
        ------
        ValueError
            If data or parameters are invalid; the message names them.

        Warns
        -----
        ConvergenceWarning
            If the solver stops before it reaches `tol`; its best point is used.

        References
        ----------
        Document W (encyclopedia page on Ranking SVM), application of Ranking SVM:
        clicks reveal a part r' of a ranking, and the problem is that of its pairs.
        """
        if not isinstance(preferences, Preferences):
            expected = (
                "what equimargin.data.preferences makes of clicks, or Preferences(pairs, weight)"
            )
            raise ValueError(f"preferences must be {expected}, not {format_value(preferences)}")
        if self.per_query != "sum":
            raise ValueError(
                f"per_query must be 'sum', not {format_value(self.per_query)}: preferences have "
                f"weights and no queries"
            )
        X = self._symmetric(
            validate_data(self, split_column(X, None)[0], accept_sparse="csr", dtype=np.float64)
        )
        self.n_queries_ = 1
        problem = ranking_from_pairs(
            X, preferences.pairs, self.C, self._kernel(X), pair_weight=preferences.weight
        )
        return self._solve(self._posed(problem))


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRanker(PairRanker):
    """RankSVM: a score that orders every query by relevance, with a margin.

        min over f    1/2 |f|^2 + C sum over pairs of weight_ij loss(1 - f(x_i) + f(x_j)),
                      y_i > y_j in one query

    Pairs are implicit: a million documents are possible with a linear kernel.

    With metadata routing, `fit` and `score` request `qid`:
    `GridSearchCV(MarginRanker(), {"C": [0.1, 1.0]},
    cv=GroupKFold().set_split_request(groups="qid")).fit(X, y, qid=qid)` keeps every
    query in one fold and scores within queries.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, loss, solver, tol, max_iter, time_limit, n_jobs
        See `MarginClassifier`; C must be finite.
    per_query : {"sum", "mean"}, default "sum"
        Sum of the losses of a query's pairs, or their mean, which gives all queries
        equal weight.

    Attributes
    ----------
    n_queries_ : int
        Number of queries of the training points.
    objective_bounds_ : tuple of float
        Proven bounds (lower, upper) of the optimum.
    duality_gap_ : float
        Primal minus dual objective in float64, relative as `tol` is.
    dual_ : ndarray of shape (pairs,), or object
        Multipliers of the pairs; the object stores none of them and has `.at(i, j)`,
        `.sum()` and `.to_array()`.
    n_iter_, status_
        See `MarginClassifier`.
    coef_ : ndarray of shape (d,)
        Weights w of a linear kernel.
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
    Document T (Yu and Kim), (84)-(86); document K (Kuo, Lee and Lin), (1.2), (2.4);
    document P (Zapien et al.), (6), (8).
    """

    loss: LossName = "hinge"

    def _posed(self, problem: MarginProblem) -> Problem:
        loss = check_choice(self.loss, "loss", LOSSES)
        check_float64_range(problem.rows, problem.C, make_loss(loss), problem.weights)
        return replace(problem, loss=loss)


@dataclass(eq=False, repr=False, kw_only=True)
class OneNormRanker(PairRanker):
    """One-norm ranking, a linear program with few nonzero coefficients.

        min over a >= 0    1'a + C sum over pairs of weight_ij (1 - f(x_i) + f(x_j))_+,
                           y_i > y_j in one query

    f = sum_i a_i k(x_i, .), or f = sum over pairs a_ij (k(x_i, .) - k(x_j, .)).

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, solver, tol, max_iter, time_limit, n_jobs
        See `MarginClassifier`; C must be finite.
    per_query : {"sum", "mean"}, default "sum"
        See `MarginRanker`.
    over : {"points", "pairs"}, default "points"
        Index set of a: "points" is the ranking vector machine.

    Attributes
    ----------
    dual_ : ndarray of shape (pairs,)
        Multipliers of the pairs. All other attributes are those of `MarginRanker`.

    References
    ----------
    Document T (Yu and Kim), (102)-(104), and document K (Kuo, Lee and Lin), (2.10),
    over points; document T, (94)-(96), over pairs.
    """

    over: Literal["points", "pairs"] = "points"

    def _posed(self, problem: MarginProblem) -> Problem:
        over = check_choice(self.over, "over", ("points", "pairs"))
        finite_cost(self.C)
        return make_one_norm(problem, over="points" if over == "points" else "rows")
