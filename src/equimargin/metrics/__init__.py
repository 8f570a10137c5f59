"""Metrics of rankings, by query and on average, and of predicted levels.

Pairwise accuracy, Kendall's tau, NDCG, precision, recall, average precision, and the
reciprocal rank and its expectation. `score_queries` tabulates some of them by query, and
`randomisation_test` compares two rankings. `average_mean_absolute_error` is for levels.

Every metric of rankings takes relevances y, where higher is better, decision values f
and queries qid, and returns a `PerQuery`:

>>> y, f, qid = [2, 1, 0, 1, 0], [0.9, 0.3, 0.4, -1.0, 1.0], [1, 1, 1, 2, 2]
>>> accuracy = pairwise_accuracy(y, f, qid)
>>> accuracy.values.round(3).tolist(), accuracy.mean
([0.667, 0.0], 0.5)

Documents with equal f have no order. With ties = "average" a metric is its mean over
all their orders. With ties = "ordinal" they stay in the order of the rows, as in
LETOR's evaluation scripts. A document with f = -inf is not retrieved: it has no place,
and counts among the relevant ones if y is high.
"""

from equimargin.metrics.agreement import (
    Concordance,
    concordance,
    empirical_loss,
    expected_loss,
    kendall_tau,
    pairwise_accuracy,
    rank_matrix,
)
from equimargin.metrics.cascade import expected_reciprocal_rank, reciprocal_rank
from equimargin.metrics.gain import Discount, Gain, ShortQueries, mean_ndcg, ndcg
from equimargin.metrics.levels import average_mean_absolute_error
from equimargin.metrics.per_query import NoRelevant, PerQuery
from equimargin.metrics.precision import average_precision, precision, recall
from equimargin.metrics.query_scores import QueryScores, score_queries
from equimargin.metrics.randomisation import RandomisationTest, randomisation_test

__all__ = [
    "Concordance",
    "Discount",
    "Gain",
    "NoRelevant",
    "PerQuery",
    "QueryScores",
    "RandomisationTest",
    "ShortQueries",
    "average_mean_absolute_error",
    "average_precision",
    "concordance",
    "empirical_loss",
    "expected_loss",
    "expected_reciprocal_rank",
    "kendall_tau",
    "mean_ndcg",
    "ndcg",
    "pairwise_accuracy",
    "precision",
    "randomisation_test",
    "rank_matrix",
    "recall",
    "reciprocal_rank",
    "score_queries",
]
