"""Table of metrics by query, with the numbers of documents and of relevant ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arrays import Index
from equimargin.metrics.names import RankMetric, check_rank_metric
from equimargin.metrics.per_query import PerQuery, Ranking, check_per_query
from equimargin.metrics.precision import check_threshold

MAX_SHOWN_ROWS: Final = 20
"""Maximum rows, and names of queries, in the text of a table."""


@dataclass(frozen=True, eq=False)
class QueryScores:
    """Values of some metrics for every query, as made by `score_queries`.

    `str` of it has the first rows, the means, and the queries without a relevant
    document, with the value that each metric gives them.
    `pandas.DataFrame(scores.columns())` has all rows.

    Parameters
    ----------
    query : ndarray of shape (q,)
        Names of the queries, ascending.
    documents, relevant : ndarray of int of shape (q,)
        Numbers of documents, and of relevant ones.
    metrics : dict of str to PerQuery
        Values by the name of the metric.
    """

    query: NDArray[Any]
    documents: Index
    relevant: Index
    metrics: Mapping[str, PerQuery]

    @property
    def without_relevant(self) -> NDArray[Any]:
        """Names of the queries without a relevant document."""
        return np.asarray(self.query[self.relevant == 0])

    @property
    def means(self) -> dict[str, float]:
        """Means of the metrics over the queries in which they are defined, by name."""
        return {name: metric.mean for name, metric in self.metrics.items()}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns query, documents, relevant and those of the metrics.

        Returns
        -------
        dict of str to ndarray of shape (q,)
            Columns; NaN for a query in which a metric is undefined.
        """
        counts = {"query": self.query, "documents": self.documents, "relevant": self.relevant}
        return counts | {name: metric.values for name, metric in self.metrics.items()}

    def __str__(self) -> str:
        shown = [column[:MAX_SHOWN_ROWS].tolist() for column in self.columns().values()]
        rows = [
            list(self.columns()),
            *([str(name), *map(_format, cells)] for name, *cells in zip(*shown, strict=True)),
        ]
        total = [f"{len(self.query)} queries", self.documents.sum(), self.relevant.sum()]
        rows.append([_format(cell) for cell in [*total, *self.means.values()]])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        if len(self.query) > MAX_SHOWN_ROWS:
            lines.insert(-1, f"... {len(self.query) - MAX_SHOWN_ROWS} more in columns()")
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> Iterator[str]:
        """Yield lines on the queries without a relevant document, and on excluded ones."""
        empty = self.relevant == 0
        if empty.any():
            yield f"without a relevant document: {_count(self.query[empty])}"
            values = {
                name: np.unique(metric.values[empty]).tolist()
                for name, metric in self.metrics.items()
            }
            yield "  their values: " + "; ".join(
                f"{name} {', '.join(map(_format, found))}" for name, found in values.items()
            )
        for name, metric in self.metrics.items():
            excluded = metric.weight == 0
            if excluded.any():
                yield f"not in the mean of {name}: {_count(self.query[excluded])}"


def score_queries(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    metrics: Sequence[str] | Mapping[str, RankMetric] = ("ndcg@10", "map", "mrr"),
    threshold: float = 1.0,
) -> QueryScores:
    """Return the values of some metrics for every query, with counts.

    No query is dropped: the table counts those without a relevant document, and names
    those that a mean excludes.

    Parameters
    ----------
    y, f, qid
        See `ndcg`.
    metrics : sequence of str or mapping of str to callable
        Names such as "ndcg@10", "map@5", "mrr", "err@20" or "pairwise_accuracy", or
        functions by the names of their columns:
        `{"linear": partial(ndcg, gain="linear")}`.
    threshold : float
        Minimum y of relevant documents, in the counts and in the metrics with a name
        that have a threshold, such as "map" and "mrr".

    Returns
    -------
    QueryScores
        Table of the queries.

    Raises
    ------
    ValueError
        If a metric is unknown or returns no `PerQuery`, or as in `ndcg`.

    Examples
    --------
    >>> print(score_queries([2, 1, 0, 0, 0], [0.9, 0.3, 0.4, -1.0, 1.0], [1, 1, 1, 2, 2]))
    query      documents  relevant  ndcg@10     map     mrr
    1                  3         2   0.9077  0.8333  1.0000
    2                  2         0   0.0000  0.0000  0.0000
    2 queries          5         2   0.4539  0.4167  0.5000
    without a relevant document: 1 (2)
      their values: ndcg@10 0.0000; map 0.0000; mrr 0.0000
    """
    check_threshold(threshold)
    if isinstance(metrics, str):
        raise ValueError(f"metrics must be a list of names, such as [{metrics!r}], not a name")
    functions = (
        metrics
        if isinstance(metrics, Mapping)
        else {name: _find_metric(name, threshold) for name in metrics}
    )
    ranked = Ranking.of(y, f, qid)
    return QueryScores(
        ranked.names,
        np.bincount(ranked.query),
        np.bincount(ranked.query[ranked.y >= threshold], minlength=len(ranked.names)),
        {name: check_per_query(metric(y, f, qid), name) for name, metric in functions.items()},
    )


def _find_metric(name: str, threshold: float) -> RankMetric:
    """Return the metric with a name, for a threshold if it has one."""
    metric = check_rank_metric(name)
    has_threshold = "threshold" in signature(metric).parameters
    return partial(metric, threshold=threshold) if has_threshold else metric


def _format(cell: object) -> str:
    """Format a count in full, a value with four digits."""
    if isinstance(cell, float):
        return "undefined" if np.isnan(cell) else f"{cell:.4f}"
    return str(cell)


def _count(queries: NDArray[Any]) -> str:
    """Count some queries, and name the first of them."""
    named = ", ".join(map(str, queries[:MAX_SHOWN_ROWS].tolist()))
    rest = len(queries) - MAX_SHOWN_ROWS
    return f"{len(queries)} ({named}{f' and {rest} more' if rest > 0 else ''})"
