"""Metrics of rankings along a segment of a path, updated where documents cross.

On a segment g = lambda f is linear in lambda, so that every document has a line. The
place of a document is the number of documents of its query below it. Where two lines
cross, one place increases by one and another decreases by one, so that values are
sorted once per segment, and only the queries with a crossing are rescored.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.metrics import PerQuery
from equimargin.metrics.names import RankMetric
from equimargin.metrics.per_query import check_per_query
from equimargin.selection.orders import Knots, exchanges, pieces_between


class AnyRankMetric:
    """Mean over queries of a metric of rankings, constant between crossings.

    Larger is better. The score is NaN if the metric is undefined in all queries, such
    as Kendall's tau of a constant f.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Relevances.
    query : ndarray of shape (n,)
        Query numbers.
    metric : callable
        Metric; larger is better.
    name : str
        Name of the metric.

    Raises
    ------
    ValueError
        If the metric rejects the relevances, is undefined in all queries, or returns no
        `PerQuery`.
    """

    larger_is_better = True

    def __init__(self, y: Array, query: Index, metric: RankMetric, name: str) -> None:
        self.y, self.query, self.metric, self.name = y, query, metric, name
        # -1 differs from every place, so the first segment scores all queries.
        self.places = np.full(len(y), -1.0)
        scored = self._of(y, y, query)
        if not scored.weight.sum() > 0:
            raise ValueError(f"{name} is undefined in every query of the validation points")
        self.members = [np.flatnonzero(query == q) for q in scored.query]
        self.number = np.unique(query, return_inverse=True)[1]
        self.total, self.weight = scored.total.copy(), scored.weight.copy()

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Return the breakpoints of the score on a segment.

        Cost: O(n log n + inversions), and one rescoring of its query per crossing.

        Parameters
        ----------
        a, b, ga, gb
            See `Metric.along`.

        Returns
        -------
        tuple of ndarray of shape (k,)
            Lambdas and scores.
        """
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
        """Count the documents below each document, and rescore queries with a new order."""
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
            scored = self._of(self.y[members], self.places[members], None)
            self.total[q], self.weight[q] = scored.total[0], scored.weight[0]

    def _mean(self) -> float:
        weight = float(self.weight.sum())
        return float(self.total.sum()) / weight if weight > 0 else float("nan")

    def _of(self, y: Array, f: Array, query: Index | None) -> PerQuery:
        return check_per_query(self.metric(y, f, query), self.name)
