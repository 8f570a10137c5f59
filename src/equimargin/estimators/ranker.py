"""Rankings learned from relevances within queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from equimargin.data.pairs.clicks import Preferences
from equimargin.estimators.base import CostEstimator, MarginEstimator, row_weights
from equimargin.estimators.queries import (
    COLUMN,
    query_of_rows,
    split_column,
    weighted_accuracy,
    weighted_pairs,
)
from equimargin.formulations import (
    one_norm_ranking,
    ranking,
    ranking_from_pairs,
    ranking_vector_machine,
)
from equimargin.formulations.numeric.arguments import check_choice, format_value
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.labels import relevances
from equimargin.metrics import pairwise_accuracy


class Ranker(MarginEstimator):
    """What rankers have in common: queries, and scores instead of labels."""

    __metadata_request__fit: ClassVar = {"qid": True}
    __metadata_request__score: ClassVar = {"qid": True}

    def decision_function(self, X: Any) -> Array:
        """The scores to rank by, (n,): higher is better, and only scores of one query are comparable.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points, or (n, m) kernel values with the training points where the kernel is
            precomputed. A column "qid" is left out.
        """
        return self._evaluated(self._features(X))[:, 0]

    def predict(self, X: Any) -> Array:
        """As `decision_function`: the scores to rank by, (n,)."""
        return self.decision_function(X)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Pairwise accuracy, the share of the pairs of all queries that are ordered rightly; a tie counts one half.

        Parameters
        ----------
        X : array-like of shape (n, d)
            points.
        y : array-like of shape (n,)
            relevances.
        qid : ArrayLike | None of shape (n,)
            Queries, or a column "qid" of X; None is a single query.
        sample_weight : ArrayLike | None of shape (n,)
            Weights of the rows, at least 0; a pair counts v_i v_j.

        Raises
        ------
        ValueError
            No queries, where the ranker was fitted with several.
        """
        check_is_fitted(self)
        features, query = split_column(X, qid)
        self.check_queries(query)
        f = self.decision_function(features)
        weights = row_weights(sample_weight, f)
        if weights is None:
            return pairwise_accuracy(y, f, query).mean
        return weighted_accuracy(y, f, query_of_rows(query, len(f)), weights)

    def check_queries(self, qid: ArrayLike | None) -> None:
        """Refuse to score without queries what was fitted with several: documents of different queries are not comparable.

        Raises
        ------
        ValueError
            qid is None where the ranker was fitted with several queries.
        """
        if qid is None and self.n_queries_ > 1:
            raise ValueError(
                f"this ranker was fitted with {self.n_queries_} queries, and its score "
                f"needs qid, too; in cross-validation, call "
                "sklearn.set_config(enable_metadata_routing=True) and pass qid to fit, or "
                "let X have a column 'qid'"
            )

    def _features(self, X: Any) -> Any:
        """X without its column of queries, which the training points did not count as a feature."""
        return X if COLUMN in getattr(self, "feature_names_in_", ()) else split_column(X, None)[0]

    def _data(
        self, X: Any, y: ArrayLike, qid: ArrayLike | None, **more: Any
    ) -> tuple[Features, Array, Index]:
        """What to rank, checked: features, relevances and the query 0, 1, ... of every row."""
        X, qid = split_column(X, qid)
        X, y = self._checked(X, y, y_numeric=True, **more)
        y = relevances(y, X.shape[0], "y")
        query = query_of_rows(qid, X.shape[0])
        self.n_queries_ = int(query.max()) + 1
        return X, y, query


@dataclass(eq=False, repr=False, kw_only=True)
class MarginRanker(Ranker, CostEstimator):
    """RankSVM: a score whose order within every query is that of the relevances, with a margin.

        min over f    1/2 |f|^2 + C sum over pairs of weight_ij loss(1 - f(x_i) + f(x_j)),      y_i > y_j in one query

    Pairs of labels are counted and not listed: a million documents are no obstacle.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, loss, solver, tol, max_iter, time_limit, n_jobs
        As in `MarginClassifier`; C is finite.
    per_query : Literal['sum', 'mean']
        "sum" of the losses of a query's pairs, or their "mean", which lets all queries
        count alike.

    Attributes
    ----------
    n_queries_
        How many queries the training points were of.
    objective_bounds_ : array of shape (lower, upper)
        Proven bounds of the optimum.
    duality_gap_
        Primal minus dual in float64, relative as `tol` is.
    dual_
        Multipliers of the pairs: (pairs,), or an object that stores none of them and
        has `.at(i, j)`, `.sum()` and `.to_array()`.
    n_iter_, status_
        As in `MarginClassifier`.
    coef_ : array of shape (d,)
        Of a linear kernel.
    dual_coef_ : array of shape (s,)
        Coefficients of any other kernel.
    support_ : array of shape (s,)
        Rows of the support vectors.
    support_vectors_ : array of shape (s, d)
        Where the kernel needs them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    With metadata routing, `fit` and `score` ask for `qid` by themselves: `GridSearchCV(MarginRanker(), {"C": [0.1, 1.0]},
    cv=GroupKFold().set_split_request(groups="qid")).fit(X, y, qid=qid)` keeps every query in one fold and scores within queries.

    Source: T (84)-(86), K (1.2), (2.4), P (6), (8).
    """

    loss: LossName = "hinge"
    per_query: Literal["sum", "mean"] = "sum"

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        y : array-like of shape (m,)
            Relevances, higher is better.
        qid : ArrayLike | None of shape (m,)
            Queries, in any order, numbers or text, or a column "qid" of X; None is a
            single query. A column "query" or "query_id" is refused: it seems to hold
            the queries and would be a feature.
        sample_weight : ArrayLike | None of shape (m,)
            Factors of the rows, at least 0; a pair has the product v_i v_j of its two,
            so that a weight of 2 is the same as two copies of the row. To let a query
            count v times, give its rows the square root of v.

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
        X, y, query = self._data(X, y, qid)
        weights = row_weights(sample_weight, X)
        if weights is None:
            return self._solve(
                ranking(X, y, query, self.C, self._kernel(X), self.loss, self.per_query)
            )
        mean = check_choice(self.per_query, "per_query", ("sum", "mean")) == "mean"
        return self._solve(
            weighted_pairs(
                ranking(X, y, query, self.C, self._kernel(X, weights), self.loss), weights, mean
            )
        )

    def fit_preferences(self, X: Any, preferences: Preferences) -> Self:
        """Solve the problem of given pairs in place of those of relevances: of clicks, or of a judge who compared two and two.

            min over f    1/2 |f|^2 + C sum over pairs of weight_r loss(1 - f(x_i(r)) + f(x_j(r))),      i(r) preferred to j(r)

        Parameters
        ----------
        X : array-like of shape (m, d)
            Features, dense, sparse or a table, or the (m, m) Gram matrix.
        preferences : Preferences
            Pairs of rows of X with weights, as `equimargin.data.preferences` makes them
            of clicks; `per_query` is not used.

        Returns
        -------
        The estimator itself; `n_queries_` is 1, as pairs do not say of which query they are.

        Raises
        ------
        ValueError
            Data or parameters that make no such problem, in a sentence that names them.

        Warns
        -----
        ConvergenceWarning
            The solver stopped before it reached `tol`; its best point is kept.

        Source: W, application of Ranking SVM: clicks tell a part r' of a ranking, and the problem is that of its pairs.
        """
        if not isinstance(preferences, Preferences):
            made = "what equimargin.data.preferences makes of clicks, or Preferences(pairs, weight)"
            raise ValueError(f"preferences must be {made}, not {format_value(preferences)}")
        X = self._symmetric(
            validate_data(self, split_column(X, None)[0], accept_sparse="csr", dtype=np.float64)
        )
        self.n_queries_ = 1
        kernel = self._kernel(X)
        return self._solve(
            ranking_from_pairs(X, preferences.pairs, self.C, kernel, self.loss, preferences.weight)
        )


@dataclass(eq=False, repr=False, kw_only=True)
class OneNormRanker(Ranker, CostEstimator):
    """One-norm ranking, a linear program: few points, or few pairs, have a coefficient.

        min over x >= 0    1'x + C sum over pairs of (1 - f(x_i) + f(x_j))_+,      y_i > y_j in one query

    f = sum_i x_i k(x_i, .), or f = sum over pairs x_ij (k(x_i, .) - k(x_j, .)).

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, solver, tol, max_iter, time_limit, n_jobs
        As in `MarginClassifier`; C is finite.
    over : Literal['points', 'pairs']
        What x belongs to: "points", the ranking vector machine, or "pairs".

    Attributes
    ----------
    As of `MarginRanker`; dual_ : (pairs,).

    Source: T (102)-(104), K (2.10) over points; T (94)-(96) over pairs.
    """

    over: Literal["points", "pairs"] = "points"

    def fit(self, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Solve the linear program.

        Parameters
        ----------
        X, y, qid
            As in `MarginRanker`.

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
        X, y, query = self._data(X, y, qid)
        construct = (
            ranking_vector_machine
            if check_choice(self.over, "over", ("points", "pairs")) == "points"
            else one_norm_ranking
        )
        return self._solve(construct(X, y, query, self.C, self._kernel(X)))
