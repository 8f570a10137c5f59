"""Scorers of rankings for scikit-learn's searches, with queries by metadata routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from equimargin.estimators.queries import split_column
from equimargin.formulations.numeric.arguments import format_value
from equimargin.metrics.names import check_rank_metric


@dataclass(frozen=True, eq=False)
class RankingScorer:
    """Metric of `equimargin.metrics` as `scorer(estimator, X, y, qid=...)`.

    Higher is better.

    Parameters
    ----------
    metric : str
        Name of the metric.
    options : dict
        Further arguments of the metric.
    """

    metric: str
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, qid: ArrayLike | None = None) -> float:
        """Return the mean of the metric over the queries.

        Parameters
        ----------
        estimator : estimator
            Any fitted ranker with `predict`.
        X : array-like of shape (n, d)
            Points.
        y : array-like of shape (n,)
            Relevances.
        qid : array-like of shape (n,) or None
            Queries; None uses the column "qid" of X, or else a single query.

        Returns
        -------
        float
            Mean over the queries.

        Raises
        ------
        ValueError
            If there are no queries, and a ranker of this package was fitted with
            several.
        """
        query = split_column(X, qid)[1]
        ranker = estimator[-1] if hasattr(estimator, "steps") else estimator
        if hasattr(ranker, "check_queries"):
            ranker.check_queries(query)
        measured = partial(check_rank_metric(self.metric), **self.options)
        return float(measured(np.asarray(y), estimator.predict(X), query).mean)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that a search passes: the queries, if it has any."""
        requests = MetadataRequest(owner=self)
        requests.score.add_request(param="qid", alias=True)
        return requests


def ranking_scorer(metric: str, **options: Any) -> RankingScorer:
    """Return a scorer of rankings for `scoring=` of `GridSearchCV` and `cross_validate`.

    Parameters
    ----------
    metric : str
        Name of a metric of `equimargin.metrics`, such as "ndcg", "ndcg@10", "map", "mrr",
        "err", "mean_ndcg", "pairwise_accuracy" or "kendall_tau".
    **options
        Arguments of that metric, such as gain="linear" of "ndcg".

    Returns
    -------
    RankingScorer
        Scorer; it requests `qid` once
        `sklearn.set_config(enable_metadata_routing=True)` was called.

    Raises
    ------
    ValueError
        If the metric is unknown, or has two cut-offs: in its name, and as k.
    """
    if set(check_rank_metric(metric).keywords) & set(options):
        raise ValueError(
            f"the metric {metric!r} and k={format_value(options['k'])} are two cut-offs; leave "
            f"one of them out"
        )
    return RankingScorer(metric, options)
