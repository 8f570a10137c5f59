"""Metrics of rankings, by query and on average.

Pairwise accuracy, Kendall's tau, NDCG, precision, recall and average precision.

Every metric takes relevances y, where higher is better, decision values f and queries
qid, and returns a `PerQuery`:

>>> y, f, qid = [2, 1, 0, 1, 0], [0.9, 0.3, 0.4, -1.0, 1.0], [1, 1, 1, 2, 2]
>>> accuracy = pairwise_accuracy(y, f, qid)
>>> accuracy.values.round(3).tolist(), accuracy.mean
([0.667, 0.0], 0.5)

Documents with equal f have no order. With ties = "average" a metric is its mean over
all their orders. With ties = "ordinal" they stay in the order of the rows, as in
LETOR's evaluation scripts.
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
from equimargin.metrics.gain import Discount, Gain, ShortQueries, mean_ndcg, ndcg
from equimargin.metrics.per_query import PerQuery
from equimargin.metrics.precision import average_precision, precision, recall

__all__ = [
    "Concordance",
    "Discount",
    "Gain",
    "PerQuery",
    "ShortQueries",
    "average_precision",
    "concordance",
    "empirical_loss",
    "expected_loss",
    "kendall_tau",
    "mean_ndcg",
    "ndcg",
    "pairwise_accuracy",
    "precision",
    "rank_matrix",
    "recall",
]
