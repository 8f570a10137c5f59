"""Precision, recall and average precision: which of the first documents are relevant, and which of the relevant are among the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import check_choice, check_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics.per_query import (
    PerQuery,
    Ranking,
    evaluate_per_query,
    group_means,
    groups,
    places,
)

Orders = Literal["average", "ordinal"]
"""What becomes of documents with the same f."""


def precision(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 1.0,
    ties: Orders = "average",
) -> PerQuery:
    """The share of relevant documents among the first k, which are those retrieved.

        precision@k = |relevant and retrieved| / |retrieved|

    Parameters
    ----------
    y : array-like of shape (n,)
        relevances.
    f : array-like of shape (n,)
        Decision values.
    qid : ArrayLike | None of shape (n,)
        Queries; None: a single one.
    k : int | None
        None for all documents of a query; where it has fewer than k, all are retrieved,
        and their number divides. trec_eval and LETOR 4.0 divide by k, and LETOR 3.0
        counts 0 there.
    threshold : float
        Relevant is y >= threshold.
    ties : Orders
        Of documents with the same f: "average", the mean over their orders, or
        "ordinal", the order of the rows.

    Returns
    -------
    Of every query, in [0, 1].

    Raises
    ------
    ValueError
        As in `concordance`, k < 1, a threshold that is no number, an unknown treatment
        of ties.

    Source: W, information retrieval quality.
    """
    found = _found(k, threshold, ties)
    return evaluate_per_query(
        Ranking.of(y, f, qid), lambda y, f: found(y, f)[0] / min(k or len(y), len(y))
    )


def recall(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 1.0,
    ties: Orders = "average",
) -> PerQuery:
    """The share of the relevant documents that are among the first k.

        recall@k = |relevant and retrieved| / |relevant|

    Average precision is the integral of precision over recall: sum over k of precision@k (recall@k - recall@(k - 1)), where documents have
    no ties.

    Parameters
    ----------
    As in `precision`.

    Returns
    -------
    Of every query, in [0, 1]; NaN without a relevant document.

    Raises
    ------
    ValueError
        As in `precision`.

    Source: W, information retrieval quality.
    """
    found = _found(k, threshold, ties)

    def share(y: Array, f: Array) -> float:
        retrieved, relevant = found(y, f)
        return retrieved / relevant if relevant else float("nan")

    return evaluate_per_query(Ranking.of(y, f, qid), share)


def average_precision(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    threshold: float = 1.0,
    ties: Literal["average", "ordinal", "max"] = "average",
) -> PerQuery:
    """The mean precision at the relevant documents; its mean over queries is MAP.

        AP = 1/R sum over the relevant documents of (relevant documents up to its place) / (its place)

    A query without a relevant document counts 0, as in LETOR's evaluation scripts.

    Parameters
    ----------
    y : array-like of shape (n,)
        relevances.
    f : array-like of shape (n,)
        Decision values.
    qid : ArrayLike | None of shape (n,)
        Queries; None: a single one.
    threshold : float
        Relevant is y >= threshold.
    ties : Literal['average', 'ordinal', 'max']
        Of documents with the same f: "average", the mean over their orders; "ordinal",
        the order of the rows, as LETOR's scripts have them; "max", all in the last of
        their places, as scikit-learn's `average_precision_score` has them.

    Returns
    -------
    Of every query, in [0, 1].

    Raises
    ------
    ValueError
        As in `concordance`, a threshold that is no number, an unknown treatment of
        ties.

    Source: W, information retrieval quality; McSherry and Najork (2008), as in `ndcg`.
    """
    check_choice(ties, "ties", ("average", "ordinal", "max"))
    check_threshold(threshold)
    return evaluate_per_query(
        Ranking.of(y, f, qid), lambda y, f: _precision(y >= threshold, f, ties)
    )


def _found(
    k: int | None, threshold: float, ties: str
) -> Callable[[Array, Array], tuple[float, int]]:
    """The relevant documents among the first k of a query, and all its relevant ones; y and f by falling f."""
    last = places(k)
    check_choice(ties, "ties", ("average", "ordinal"))
    check_threshold(threshold)

    def found(y: Array, f: Array) -> tuple[float, int]:
        relevant = (y >= threshold).astype(np.float64)
        first = (group_means(relevant, f) if ties == "average" else relevant)[:last]
        return float(first.sum()), int(relevant.sum())

    return found


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that is no finite number."""
    check_number(threshold, "threshold", "a finite number", lambda t: bool(np.isfinite(t)))


def _precision(relevant: NDArray[np.bool_], f: Array, ties: str) -> float:
    """Average precision, of documents by falling f; 0 where none is relevant."""
    R = int(relevant.sum())
    if R == 0:
        return 0.0
    place, upto = np.arange(1, len(f) + 1), np.cumsum(relevant)
    if ties == "ordinal":
        return float((upto / place)[relevant].sum()) / R
    group = groups(f)
    size, last = np.bincount(group), np.cumsum(np.bincount(group)) - 1
    if ties == "max":
        return float((upto[last] / (last + 1))[group][relevant].sum()) / R
    r = np.bincount(group, relevant)
    before = upto[last] - r
    # Relevant in its place with probability r / size, a document has each of the others
    # of its group before it with equal probability.
    others = (place - 1 - (last + 1 - size)[group]) * ((r - 1) / np.maximum(size - 1, 1))[group]
    return float(((r / size)[group] * (before[group] + 1 + others) / place).sum()) / R
