"""Rankings as they are given, query by query, and the value of a metric for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.labels import numbers, queries


@dataclass(frozen=True, eq=False)
class PerQuery:
    """A metric of every query.

    Parameters
    ----------
    query : NDArray[Any] of shape (q,)
        Names, ascending.
    total : ndarray of shape (q,)
        What each contributes.
    weight : ndarray of shape (q,)
        How much of the mean it is, 0 where the metric has no meaning.
    """

    query: NDArray[Any]
    total: Array
    weight: Array

    @property
    def values(self) -> Array:
        """total / weight, (q,), NaN where the metric has no meaning."""
        out = np.full(len(self.query), np.nan)
        np.divide(self.total, self.weight, out=out, where=self.weight > 0)
        return out

    @property
    def mean(self) -> float:
        """sum of total / sum of weight; NaN if the metric has a meaning for no query."""
        weight = float(self.weight.sum())
        return float(self.total.sum()) / weight if weight > 0 else float("nan")


class Ranking(NamedTuple):
    """Relevances, decision values and queries that fit: y, f (n,), query (n,) from 0, names (q,)."""

    y: Array
    f: Array
    query: Index
    names: NDArray[Any]

    @classmethod
    def of(cls, y: ArrayLike, f: ArrayLike, qid: ArrayLike | None) -> Ranking:
        n = np.asarray(y).size
        if n == 0:
            raise ValueError("y is empty: a ranking needs one document at least")
        names, query = queries(np.zeros(n, dtype=np.int64) if qid is None else qid, n)
        return cls(numbers(y, n, "y"), numbers(f, n, "f"), query, names)


def evaluate_per_query(given: Ranking, metric: Callable[[Array, Array], float]) -> PerQuery:
    """A metric of y and f, both by falling f, of every query; NaN where it has no meaning."""
    order = np.lexsort((-given.f, given.query))  # stable: rows with the same f stay in their order
    ends = np.cumsum(np.bincount(given.query))[:-1]
    ranked = zip(np.split(given.y[order], ends), np.split(given.f[order], ends), strict=True)
    values = np.array([metric(y, f) for y, f in ranked])
    return PerQuery(given.names, np.nan_to_num(values), np.where(np.isnan(values), 0.0, 1.0))


def group_means(values: Array, f: Array) -> Array:
    """Values replaced by their mean over the documents with the same f; f sorted."""
    group = groups(f)
    return np.asarray((np.bincount(group, values) / np.bincount(group))[group])


def groups(f: Array) -> Index:
    """Numbers 0, 1, ... of the groups of equal f; f sorted."""
    return np.cumsum(np.append(False, f[1:] != f[:-1]))


def places(k: int | None) -> int | None:
    """How many documents from the first on are asked for; None: all.

    Raises
    ------
    ValueError
        k is no whole number from 1 on.
    """
    if k is not None and (isinstance(k, bool) or not (isinstance(k, int | np.integer) and k >= 1)):
        raise ValueError(f"k must be a whole number of documents, 1 or more, not {k!r}")
    return None if k is None else int(k)
