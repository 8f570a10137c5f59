"""Any metric of rankings along a segment on which g is linear: it changes only where two documents of a query change places.

The place of a document is the number of documents of its query below it. Where two
lines cross, one of these numbers grows by one and the other falls by one, so that
values are sorted once a segment, and only the queries in which something crossed are
scored anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from equimargin import metrics
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.metrics import PerQuery
from equimargin.selection.orders import Knots, exchanges, pieces_between

RankMetric = Callable[[ArrayLike, ArrayLike, ArrayLike | None], PerQuery]
"""A metric of relevances, decision values and queries, as those of `equimargin.metrics` are. It must depend on the order of f alone."""

NAMED: Final = ("ndcg", "mean_ndcg", "average_precision", "precision", "recall", "kendall_tau")
"""The metrics of `equimargin.metrics` that are known by name."""
CUT: Final = ("ndcg", "precision", "recall")
"""Those that may look at the first k documents alone."""


class AnyRankMetric:
    """The mean over queries of a metric of rankings, as it is between crossings; larger is better.

    Where it has a meaning in no query, as Kendall's tau of a constant f, the score is NaN.

    Parameters
    ----------
    y : ndarray of shape (n,)
        relevances.
    query : Index of shape (n,)
        queries.
    metric : RankMetric
        Larger is better.
    name : str
        What it is called.

    Raises
    ------
    ValueError
        Relevances that the metric does not take, no query in which it has a meaning, a
        function that returns no `PerQuery`.
    """

    larger_is_better = True

    def __init__(self, y: Array, query: Index, metric: RankMetric, name: str) -> None:
        self.y, self.query, self.metric, self.name = y, query, metric, name
        self.places = np.full(len(y), -1.0)  # none yet
        found = self._of(y, y, query)
        if not found.weight.sum() > 0:
            raise ValueError(f"{name} has no meaning in any query of the validation points")
        self.members = [np.flatnonzero(query == q) for q in found.query]
        self.number = np.unique(query, return_inverse=True)[1]
        self.total, self.weight = found.total.copy(), found.weight.copy()

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """In O(n log n + inversions), and a score of every query in which something crossed, for every crossing."""
        ranks, _, i, j, lams = exchanges(
            a, b, ga, gb, self.query, np.arange(len(ga), dtype=np.float64)
        )
        self._start(ranks)
        events, ends, wide = pieces_between(a, b, lams)
        scores, crossed = [], set[int]()
        for piece in range(len(ends) - 1):
            if piece > 0:
                down, up = j[events[piece - 1]], i[events[piece - 1]]
                self.places[down] -= 1
                self.places[up] += 1
                crossed.add(int(self.number[down]))
            if wide[piece]:
                self._score(crossed)
                crossed = set()
                scores.append(self._mean())
        self._score(crossed)
        return np.stack([ends[:-1][wide], ends[1:][wide]], axis=1).ravel(), np.repeat(scores, 2)

    def _start(self, ranks: Index) -> None:
        """Count the documents below each, anew where the order is another than the last one."""
        places = np.empty(len(ranks))
        for members in self.members:
            mine = np.sort(ranks[members])
            places[members] = np.searchsorted(mine, ranks[members])
        changed = self.number[places != self.places]
        self.places = places
        self._score(set(changed.tolist()))

    def _score(self, queries: set[int]) -> None:
        for q in queries:
            members = self.members[q]
            found = self._of(self.y[members], self.places[members], None)
            self.total[q], self.weight[q] = found.total[0], found.weight[0]

    def _mean(self) -> float:
        weight = float(self.weight.sum())
        return float(self.total.sum()) / weight if weight > 0 else float("nan")

    def _of(self, y: Array, f: Array, query: Index | None) -> PerQuery:
        found: object = self.metric(y, f, query)
        if not isinstance(found, PerQuery):
            raise ValueError(
                f"the metric {self.name} must return an equimargin.metrics.PerQuery, not "
                f"{format_value(found)}"
            )
        return found


def find_rank_metric(name: str) -> RankMetric | None:
    """The metric of rankings with this name, such as "mean_ndcg", "average_precision" or "ndcg@10", or None."""
    found = re.fullmatch(r"(\w+?)(?:@(\d+))?", name)
    if found is None or found[1] not in NAMED or (found[2] is not None and found[1] not in CUT):
        return None
    options: dict[str, Any] = {} if found[2] is None else {"k": int(found[2])}
    return partial(getattr(metrics, found[1]), **options)
