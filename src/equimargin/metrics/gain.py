"""Discounted cumulative gain of the first documents, relative to the ideal order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.numeric.arguments import check_choice
from equimargin.formulations.numeric.arrays import Array
from equimargin.metrics.per_query import (
    NoRelevant,
    PerQuery,
    Ranking,
    evaluate_per_query,
    group_means,
    places,
    retrieved,
)

Gain = Literal["exponential", "linear"]
Discount = Literal["letor", "shifted"]
ShortQueries = Literal["count", "zero"]
"""Value of NDCG@k for a query of fewer than k documents: that of all of them, or 0."""


def ndcg(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: Gain = "exponential",
    discount: Discount = "letor",
    ties: Literal["average", "ordinal"] = "average",
    short_queries: ShortQueries = "count",
    no_relevant: NoRelevant = "zero",
) -> PerQuery:
    """Return the normalised discounted cumulative gain of the first k documents.

        NDCG@k = sum over i <= k of g(y_(i)) d(i) / I_k,      I_k the same sum by decreasing y

    y_(i) is the relevance of the document that f has in place i. LETOR's scripts, of
    3.0 and of 4.0, are ties = "ordinal", short_queries = "zero"; scikit-learn's
    `ndcg_score` is gain = "linear", discount = "shifted". The page "Which NDCG is this?"
    has more.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances, at least 0.
    f : array-like of shape (n,)
        Decision values; -inf for a document that is not retrieved: it adds to I_k only.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.
    k : int or None
        Number of first documents; None is all documents of a query.
    gain : {"exponential", "linear"}
        2^y - 1, or y.
    discount : {"letor", "shifted"}
        1 / log2(max(2, i)), or 1 / log2(1 + i).
    ties : {"average", "ordinal"}
        Order of documents with equal f: the mean over all their orders, or the order of
        the rows.
    short_queries : {"count", "zero"}
        Value of queries with fewer than k documents: the NDCG of all documents, as in
        most packages, or 0, as in the means of LETOR's evaluation scripts.
    no_relevant : {"zero", "one", "skip"}
        Value of queries without a positive gain, for which I_k = 0: 0, 1, or none, so
        that the mean skips them. It also applies to short ones.

    Returns
    -------
    PerQuery
        NDCG of every query, in [0, 1].

    Raises
    ------
    ValueError
        If a relevance is negative, k < 1, or a keyword is unknown; also as in
        `concordance`.

    References
    ----------
    Document K (Kuo, Lee and Lin), section 4.2, corrected: the document has the ideal
    order in the numerator, too. F. McSherry and M. Najork, Computing information
    retrieval performance measures efficiently in the presence of tied scores (2008),
    for the mean over orders.
    """
    last, ratios = places(k), _ratios(gain, discount, ties)
    check_choice(short_queries, "short_queries", ("count", "zero"))
    shortest = 0 if last is None or short_queries == "count" else last
    return evaluate_per_query(
        _graded(y, f, qid),
        # NaN, of a query without a positive gain, remains NaN.
        lambda y, f: float(ratios(y, f)[:last][-1] * (len(y) >= shortest)),
        no_relevant,
    )


def mean_ndcg(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    gain: Gain = "exponential",
    discount: Discount = "letor",
    ties: Literal["average", "ordinal"] = "average",
    no_relevant: NoRelevant = "zero",
) -> PerQuery:
    """Return MeanNDCG of LETOR 4.0, the mean of NDCG@k over the documents k of a query.

    Relevances in the thousands do not overflow.

    Parameters
    ----------
    y, f, qid, gain, discount, ties, no_relevant
        See `ndcg`.

    Returns
    -------
    PerQuery
        MeanNDCG of every query, in [0, 1].

    Raises
    ------
    ValueError
        See `ndcg`.

    References
    ----------
    Document K (Kuo, Lee and Lin), section 4.2.
    """
    ratios = _ratios(gain, discount, ties)
    return evaluate_per_query(
        _graded(y, f, qid), lambda y, f: float(ratios(y, f).mean()), no_relevant
    )


def _graded(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None) -> Ranking:
    ranked = Ranking.of(y, f, qid)
    check_relevances(ranked.y, np.inf)
    return ranked


def check_relevances(y: Array, highest: float) -> None:
    """Raise if a relevance has no gain.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Relevances.
    highest : float
        Maximum of the scale.

    Raises
    ------
    ValueError
        If a relevance is negative or exceeds the maximum.
    """
    if y.min() < 0:
        raise ValueError(
            f"y holds a negative relevance at row {int(y.argmin())}: a gain must not be "
            f"negative; replace it, for example by 0"
        )
    if y.max() > highest:
        raise ValueError(
            f"y holds the relevance {y.max():g} at row {int(y.argmax())}, above "
            f"highest={highest:g}; pass the maximum of the scale as highest"
        )


def _ratios(gain: str, discount: str, ties: str) -> Callable[[Array, Array], Array]:
    """Return a function for NDCG@k, k = 1, ..., l, of relevances y by decreasing f."""
    check_choice(gain, "gain", ("exponential", "linear"))
    check_choice(discount, "discount", ("letor", "shifted"))
    check_choice(ties, "ties", ("average", "ordinal"))

    def ratios(y: Array, f: Array) -> Array:
        if y.max() == 0:
            return np.full(len(y), np.nan)
        gains, i = _gains(y, gain), np.arange(1, len(y) + 1)
        d = 1 / np.log2(np.maximum(i, 2) if discount == "letor" else i + 1)
        ideal, gained = np.cumsum(np.sort(gains)[::-1] * d), retrieved(gains, f)
        return np.asarray(
            np.cumsum((group_means(gained, f) if ties == "average" else gained) * d) / ideal
        )

    return ratios


def _gains(y: Array, gain: str) -> Array:
    """Return gains in units that cancel and do not overflow.

    (2^y - 1) / 2^max y,    or y / max y
    """
    return np.asarray(
        -np.expm1(-y * np.log(2)) * np.exp2(y - y.max()) if gain == "exponential" else y / y.max()
    )
