"""Scorers of rankings for scikit-learn's searches: they ask for the queries by metadata routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from equimargin import metrics
from equimargin.estimators.queries import split_column

METRICS = ("ndcg", "mean_ndcg", "pairwise_accuracy", "kendall_tau", "average_precision")


@dataclass(frozen=True, eq=False)
class RankingScorer:
    """A metric of `equimargin.metrics` as `scorer(estimator, X, y, qid=...)`; higher is better.

    Parameters
    ----------
    metric : str
        Its name.
    options : dict[str, Any]
        What else it takes.
    """

    metric: str
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """The mean of the metric over the queries.

        Parameters
        ----------
        estimator : Any
            Fitted, with `predict`; any ranker.
        X : array-like of shape (n, d)
            points.
        y : array-like of shape (n,)
            relevances.
        qid : ArrayLike | None of shape (n,)
            Queries, or a column "qid" of X; None is a single query.

        Raises
        ------
        ValueError
            No queries, where a ranker of this package was fitted with several.
        """
        query = split_column(X, qid)[1]
        ranker = estimator[-1] if hasattr(estimator, "steps") else estimator
        if hasattr(ranker, "check_queries"):
            ranker.check_queries(query)
        measured = partial(getattr(metrics, self.metric), **self.options)
        return float(measured(np.asarray(y), estimator.predict(X), query).mean)

    def get_metadata_routing(self) -> MetadataRequest:
        """What a search is to hand over: the queries, where it has any."""
        requests = MetadataRequest(owner=self)
        requests.score.add_request(param="qid", alias=True)
        return requests


def ranking_scorer(metric: str, **options: Any) -> RankingScorer:
    """A scorer of rankings, for `scoring=` of `GridSearchCV` and `cross_validate`.

    Parameters
    ----------
    metric : str
        "ndcg", "mean_ndcg", "pairwise_accuracy", "kendall_tau" or "average_precision"
        of `equimargin.metrics`.
    options : Any
        Of that metric, such as k=10 of "ndcg".

    Returns
    -------
    RankingScorer
        It asks for `qid` by itself once
        `sklearn.set_config(enable_metadata_routing=True)` was called.

    Raises
    ------
    ValueError
        An unknown metric.
    """
    if metric not in METRICS:
        raise ValueError(
            f"there is no ranking metric {metric!r}; choose one of {', '.join(METRICS)}"
        )
    return RankingScorer(metric, options)
