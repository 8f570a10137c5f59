"""Queries and weights of the rows of a ranking, as data have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.data.columns import QUERY_NAMES
from equimargin.formulations import MarginProblem
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.labels import Index, numbers, queries
from equimargin.formulations.problem.limits import within_float64
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs

COLUMN = "qid"
"""The name of the column of a table that holds the queries, as XGBoost has it."""


def split_column(X: Any, qid: ArrayLike | None) -> tuple[Any, ArrayLike | None]:
    """Features, and the queries: as given, or else the column "qid" of a table, which then is no feature.

    Parameters
    ----------
    X : (m, d) features; a table may have the column.  qid : (m,) queries, or None.

    Raises
    ------
    ValueError : queries given twice, or a column of another name that seems to hold them.
    """
    names = list(getattr(X, "columns", ()))
    doubtful = [name for name in names if isinstance(name, str) and name != COLUMN and name.lower() in QUERY_NAMES]
    if doubtful:
        raise ValueError(
            f"the column {doubtful[0]!r} of X seems to hold the queries, and would be a feature; name it {COLUMN!r}, or pass it as "
            f"{COLUMN} and leave it out of X (a feature needs another name)"
        )
    if COLUMN not in names:
        return X, qid
    if qid is not None:
        raise ValueError(f"queries are given twice, as qid and as the column {COLUMN!r} of X; leave one of them out")
    return X[[name for name in names if name != COLUMN]], np.asarray(X[COLUMN])


def query_of_rows(qid: ArrayLike | None, m: int) -> Index:
    """The query 0, 1, ... of every row, (m,); None is a single query."""
    return np.zeros(m, dtype=np.int64) if qid is None else queries(qid, m)[1]


def weighted_accuracy(y: ArrayLike, f: Array, query: Index, v: Array) -> float:
    """Pairwise accuracy whose pairs count v_i v_j, as in `weighted_pairs`, at most ten million of them.

    Parameters
    ----------
    y : (n,) relevances.  f : (n,) scores.  query : (n,) queries 0, 1, ....  v : (n,) weights, at least 0.

    Returns
    -------
    The share of the weights whose pairs f orders rightly, one half of those of ties; NaN without a pair of positive weight.
    """
    pairs = LabelledPairs(numbers(y, len(f), "y"), query)
    i, j = pairs.preferred, pairs.other
    weights = v[i] * v[j]
    total = float(weights.sum())
    return float(weights @ (np.sign(f[i] - f[j]) + 1)) / (2 * total) if total > 0 else float("nan")


def weighted_pairs(problem: MarginProblem, v: Array, mean: bool) -> MarginProblem:
    """The ranking problem whose pairs have the products of their points' weights.

        weight_ij = v_i v_j,      divided by their sum over the pairs of the query where the mean is asked for

    So a weight of 2 is the same as two copies of the row, and a weight of 0 the same as none.

    Parameters
    ----------
    problem : of `ranking`, of weights 1.  v : (m,) finite weights, at least 0.
    mean : whether a query counts the mean of its pairs' losses.

    Returns
    -------
    The problem, its pairs swept over still where all weights within a query are equal, or 0, and listed elsewhere.
    """
    rows = problem.rows
    assert isinstance(rows, LabelledPairs)
    query, unused = rows.query.copy(), np.flatnonzero(v == 0)
    query[unused] = rows.groups + np.arange(len(unused))  # a query of its own has no pair
    used = LabelledPairs(rows.y, query)
    top = np.zeros(used.groups)
    np.maximum.at(top, query, v)
    pairs: Pairs
    weights: NDArray[np.float64]
    total: NDArray[np.float64]
    if np.array_equal(v, top[query]):
        pairs, weights, total = used, top**2, np.asarray(top**2 * used.pairs_of)
    else:
        pairs = used.listed()
        weights = np.asarray(v[pairs.preferred] * v[pairs.other])
        groups = query[pairs.preferred]
        total = np.bincount(groups, weights, used.groups).astype(np.float64)[groups]
    if mean:
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    within_float64(pairs, problem.C, problem.loss, weights)
    return replace(problem, rows=pairs, weights=weights)
