"""Precision, recall and average precision of the first documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import check_choice, check_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics.per_query import (
    NoRelevant,
    PerQuery,
    Ranking,
    evaluate_per_query,
    group_means,
    groups,
    places,
    retrieved,
)

Orders = Literal["average", "ordinal"]
"""Order of documents with equal f."""


def precision(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 1.0,
    ties: Orders = "average",
) -> PerQuery:
    """Return the share of relevant documents among the first k, the retrieved ones.

        precision@k = |relevant and retrieved| / |retrieved|

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances.
    f : array-like of shape (n,)
        Decision values; -inf for a document that is not retrieved.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.
    k : int or None
        Number of first documents; None is all documents of a query. With fewer than k
        retrieved documents their number is the divisor; trec_eval and LETOR 4.0 divide
        by k, and LETOR 3.0 counts 0.
    threshold : float
        Minimum y of relevant documents.
    ties : {"average", "ordinal"}
        Order of documents with equal f: the mean over all their orders, or the order of
        the rows.

    Returns
    -------
    PerQuery
        Precision of every query, in [0, 1].

    Raises
    ------
    ValueError
        If k < 1, `threshold` is not a number, or `ties` is unknown; also as in
        `concordance`.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), information retrieval quality.
    """
    count = _found(k, threshold, ties)
    return evaluate_per_query(
        Ranking.of(y, f, qid),
        lambda y, f: count(y, f)[0] / max(1, min(k or len(y), int((f > -np.inf).sum()))),
    )


def recall(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 1.0,
    ties: Orders = "average",
) -> PerQuery:
    """Return the share of the relevant documents that are among the first k.

        recall@k = |relevant and retrieved| / |relevant|

    Average precision is the integral of precision over recall: without ties, the sum
    over k of precision@k (recall@k - recall@(k - 1)).

    Parameters
    ----------
    y, f, qid, k, threshold, ties
        See `precision`.

    Returns
    -------
    PerQuery
        Recall of every query, in [0, 1]; NaN without a relevant document.

    Raises
    ------
    ValueError
        See `precision`.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), information retrieval quality.
    """
    count = _found(k, threshold, ties)

    def share(y: Array, f: Array) -> float:
        retrieved, relevant = count(y, f)
        return retrieved / relevant if relevant else float("nan")

    return evaluate_per_query(Ranking.of(y, f, qid), share)


def average_precision(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 1.0,
    ties: Literal["average", "ordinal", "max"] = "average",
    no_relevant: NoRelevant = "zero",
) -> PerQuery:
    """Return the mean precision at the relevant documents; its mean over queries is MAP.

        AP@k = 1/min(k, R) sum over the relevant documents among the first k of
               (relevant documents up to its place) / (its place)

    R is the number of all relevant documents. AP@k of LightGBM and XGBoost is ties =
    "ordinal", no_relevant = "one"; trec_eval's `map_cut` divides by R, not by min(k, R).

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances.
    f : array-like of shape (n,)
        Decision values; -inf for a document that is not retrieved: it adds to R only.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.
    k : int or None
        Number of first documents; None is all documents of a query.
    threshold : float
        Minimum y of relevant documents.
    ties : {"average", "ordinal", "max"}
        Order of documents with equal f: the mean over all their orders; the order of
        the rows, as in LETOR's scripts; or "max": all get the last place of the tie, as
        in scikit-learn's `average_precision_score`.
    no_relevant : {"zero", "one", "skip"}
        Value of queries without a relevant document: 0, as in LETOR's scripts, 1, or
        none, so that the mean skips them.

    Returns
    -------
    PerQuery
        Average precision of every query, in [0, 1].

    Raises
    ------
    ValueError
        If k < 1, `threshold` is not a number, or a keyword is unknown; also as in
        `concordance`.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), information retrieval quality;
    McSherry and Najork (2008), as in `ndcg`.
    """
    check_choice(ties, "ties", ("average", "ordinal", "max"))
    check_threshold(threshold)
    last = places(k)
    return evaluate_per_query(
        Ranking.of(y, f, qid),
        lambda y, f: _average_precision(y >= threshold, f, ties, last or len(y)),
        no_relevant,
    )


def _found(
    k: int | None, threshold: float, ties: str
) -> Callable[[Array, Array], tuple[float, int]]:
    """Return a function for the numbers of relevant documents: in the first k, and in all.

    Its arguments y and f are those of a query, by decreasing f.
    """
    last = places(k)
    check_choice(ties, "ties", ("average", "ordinal"))
    check_threshold(threshold)

    def found(y: Array, f: Array) -> tuple[float, int]:
        relevant = (y >= threshold).astype(np.float64)
        hits = retrieved(relevant, f)
        first = (group_means(hits, f) if ties == "average" else hits)[:last]
        return float(first.sum()), int(relevant.sum())

    return found


def check_threshold(threshold: float) -> None:
    """Raise if a threshold is not a finite number.

    Parameters
    ----------
    threshold : float
        Minimum y of relevant documents.

    Raises
    ------
    ValueError
        If it is not a finite number.
    """
    check_number(threshold, "threshold", "a finite number", lambda t: bool(np.isfinite(t)))


def _average_precision(relevant: NDArray[np.bool_], f: Array, ties: str, k: int) -> float:
    """Return AP@k of documents by decreasing f; NaN if none is relevant."""
    R = int(relevant.sum())
    if R == 0:
        return float("nan")
    place, hits = np.arange(1, len(f) + 1), retrieved(relevant.astype(np.float64), f)
    upto = np.cumsum(hits)
    if ties == "ordinal":
        gained = hits * upto / place
    else:
        group = groups(f)
        size, last = np.bincount(group), np.cumsum(np.bincount(group)) - 1
        if ties == "max":
            place = (last + 1)[group]
            gained = hits * upto[last][group] / place
        else:
            r = np.bincount(group, hits)
            before = upto[last] - r
            # A document is relevant in its place with probability r / size, and every
            # other one of its group precedes it with equal probability.
            others = (place - 1 - (last + 1 - size)[group]) * ((r - 1) / np.maximum(size - 1, 1))[
                group
            ]
            gained = (r / size)[group] * (before[group] + 1 + others) / place
    return float(gained[place <= k].sum()) / min(k, R)
