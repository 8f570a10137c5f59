"""Validated rankings, and values of a metric by query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import check_choice, check_reals, format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.labels import numbers, queries

NoRelevant = Literal["zero", "one", "skip"]
"""Value of a query without a relevant document: 0, 1, or none, so that means skip it."""

VALUES: Final = {"zero": 0.0, "one": 1.0, "skip": np.nan}
"""Numbers of the choices of `NoRelevant`."""


@dataclass(frozen=True, eq=False)
class PerQuery:
    """Values of a metric, by query.

    Parameters
    ----------
    query : ndarray of shape (q,)
        Names of the queries, ascending.
    total : ndarray of shape (q,)
        Contributions to the mean's numerator.
    weight : ndarray of shape (q,)
        Weights in the mean, 0 if the metric is undefined.
    """

    query: NDArray[Any]
    total: Array
    weight: Array

    @property
    def values(self) -> Array:
        """Quotients total / weight, shape (q,); NaN if the metric is undefined."""
        out = np.full(len(self.query), np.nan)
        np.divide(self.total, self.weight, out=out, where=self.weight > 0)
        return out

    @property
    def mean(self) -> float:
        """Sum of total over sum of weight; NaN if the metric is nowhere defined."""
        weight = float(self.weight.sum())
        return float(self.total.sum()) / weight if weight > 0 else float("nan")


def check_per_query(result: object, metric: str) -> PerQuery:
    """Return the result of a metric.

    Parameters
    ----------
    result : object
        Result.
    metric : str
        Name of the metric.

    Raises
    ------
    ValueError
        If the result is no `PerQuery`.
    """
    if not isinstance(result, PerQuery):
        raise ValueError(
            f"the metric {metric} must return an equimargin.metrics.PerQuery, not "
            f"{format_value(result)}"
        )
    return result


class Ranking(NamedTuple):
    """Validated ranking of n documents in q queries.

    Parameters
    ----------
    y, f : ndarray of shape (n,)
        Relevances and decision values.
    query : ndarray of shape (n,)
        Query numbers from 0.
    names : ndarray of shape (q,)
        Names of the queries.
    """

    y: Array
    f: Array
    query: Index
    names: NDArray[Any]

    @classmethod
    def of(cls, y: ArrayLike, f: ArrayLike, qid: ArrayLike | None) -> Ranking:
        """Validate a ranking.

        Parameters
        ----------
        y, f, qid
            See `concordance`.

        Returns
        -------
        Ranking
            Ranking with numbered queries.

        Raises
        ------
        ValueError
            If shapes do not fit, there is no row, or a number is not finite; f may be
            -inf.
        """
        n = np.asarray(y).size
        if n == 0:
            raise ValueError("y is empty: a ranking needs one document at least")
        names, query = queries(np.zeros(n, dtype=np.int64) if qid is None else qid, n)
        scores = check_reals(f, "f")
        missing = np.isneginf(scores)
        finite = numbers(np.where(missing, 0.0, scores), n, "f")
        return cls(numbers(y, n, "y"), np.where(missing, -np.inf, finite), query, names)


def evaluate_per_query(
    given: Ranking, metric: Callable[[Array, Array], float], no_relevant: str = "skip"
) -> PerQuery:
    """Evaluate a metric on every query, with y and f by decreasing f.

    Parameters
    ----------
    given : Ranking
        Ranking.
    metric : callable
        Function of y and f of one query; NaN if undefined.
    no_relevant : {"zero", "one", "skip"}
        Value of a query in which the metric is undefined.

    Raises
    ------
    ValueError
        If `no_relevant` is unknown.
    """
    instead = VALUES[check_choice(no_relevant, "no_relevant", tuple(VALUES))]
    # The sort is stable: rows with equal f stay in their order.
    order = np.lexsort((-given.f, given.query))
    ends = np.cumsum(np.bincount(given.query))[:-1]
    ranked = zip(np.split(given.y[order], ends), np.split(given.f[order], ends), strict=True)
    values = np.array([metric(y, f) for y, f in ranked])
    values[np.isnan(values)] = instead
    return PerQuery(given.names, np.nan_to_num(values), np.where(np.isnan(values), 0.0, 1.0))


def retrieved(values: Array, f: Array) -> Array:
    """Replace the values of documents that are not retrieved, f = -inf, by 0.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values.
    f : ndarray of shape (n,)
        Decision values.

    Returns
    -------
    ndarray of shape (n,)
        Values that count for a ranking, in contrast to those of its ideal.
    """
    return np.where(f > -np.inf, values, 0.0)


def group_means(values: Array, f: Array) -> Array:
    """Replace values by their means over the documents with equal f.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values.
    f : ndarray of shape (n,)
        Decision values, sorted.

    Returns
    -------
    ndarray of shape (n,)
        Means.
    """
    group = groups(f)
    return np.asarray((np.bincount(group, values) / np.bincount(group))[group])


def groups(f: Array) -> Index:
    """Return the group of each entry of f: equal ones are in one, numbered from 0.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Decision values, sorted.

    Returns
    -------
    ndarray of shape (n,)
        Group numbers.
    """
    return np.cumsum(np.append(False, f[1:] != f[:-1]))


def places(k: int | None) -> int | None:
    """Validate a number of first documents.

    Parameters
    ----------
    k : int or None
        Number of documents, at least 1; None is all.

    Returns
    -------
    int or None
        Number of documents.

    Raises
    ------
    ValueError
        If k is not a whole number of at least 1.
    """
    if k is not None and (isinstance(k, bool) or not (isinstance(k, int | np.integer) and k >= 1)):
        raise ValueError(f"k must be a whole number of documents, 1 or more, not {k!r}")
    return None if k is None else int(k)
