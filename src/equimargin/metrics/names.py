"""Metrics of rankings by name, such as "ndcg@10", "map" and "mrr"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from numpy.typing import ArrayLike

from equimargin.metrics.agreement import kendall_tau, pairwise_accuracy
from equimargin.metrics.cascade import expected_reciprocal_rank, reciprocal_rank
from equimargin.metrics.gain import mean_ndcg, ndcg
from equimargin.metrics.per_query import PerQuery
from equimargin.metrics.precision import average_precision, precision, recall

RankMetric = Callable[[ArrayLike, ArrayLike, ArrayLike | None], PerQuery]
"""Metric of relevances, decision values and queries, as in `equimargin.metrics`.

It must depend on the order of f alone.
"""

CUT: Final[Mapping[str, Callable[..., PerQuery]]] = {
    "ndcg": ndcg,
    "average_precision": average_precision,
    "map": average_precision,
    "reciprocal_rank": reciprocal_rank,
    "mrr": reciprocal_rank,
    "expected_reciprocal_rank": expected_reciprocal_rank,
    "err": expected_reciprocal_rank,
    "precision": precision,
    "recall": recall,
}
"""Metrics that may be truncated to the first k documents, and their usual abbreviations."""

WHOLE: Final[Mapping[str, Callable[..., PerQuery]]] = {
    "mean_ndcg": mean_ndcg,
    "pairwise_accuracy": pairwise_accuracy,
    "kendall_tau": kendall_tau,
}
"""Metrics of all documents of a query."""

NAMES: Final = (*CUT, *WHOLE, *(f"{name}@k" for name in CUT))
"""Names of metrics, for messages; k is a number."""


def find_rank_metric(name: str) -> partial[PerQuery] | None:
    """Return the metric of rankings with a name, None if there is none.

    Parameters
    ----------
    name : str
        Name such as "mean_ndcg", "map" or "ndcg@10".

    Returns
    -------
    partial or None
        Metric, with k as a keyword if the name has a cut-off.
    """
    match = re.fullmatch(r"(\w+?)(?:@(\d{1,9}))?", name)
    if match is None or match[1] not in (CUT if match[2] else {**WHOLE, **CUT}):
        return None
    options: dict[str, Any] = {"k": int(match[2])} if match[2] else {}
    return partial({**WHOLE, **CUT}[match[1]], **options)


def check_rank_metric(name: str) -> partial[PerQuery]:
    """Return the metric of rankings with a name.

    Parameters
    ----------
    name : str
        Name such as "mean_ndcg", "map" or "ndcg@10".

    Returns
    -------
    partial
        Metric, with k as a keyword if the name has a cut-off.

    Raises
    ------
    ValueError
        If the metric is unknown.
    """
    metric = find_rank_metric(name) if isinstance(name, str) else None
    if metric is None:
        raise ValueError(f"there is no ranking metric {name!r}; choose one of {', '.join(NAMES)}")
    return metric
