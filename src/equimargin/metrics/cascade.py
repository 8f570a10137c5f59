"""Metrics of a user that reads from the first place to a relevant document.

    sum over i <= k of 1 / i * R_i * prod over j < i of (1 - R_j)

R_i is the probability that the user stops at the document in place i. It is 0 or 1 for
the reciprocal rank, and a function of the relevance for the expected reciprocal rank.

References
----------
O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, Expected reciprocal rank for graded
relevance, CIKM (2009).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.numeric.arguments import check_choice, check_number
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.metrics.gain import check_relevances
from equimargin.metrics.per_query import (
    NoRelevant,
    PerQuery,
    Ranking,
    evaluate_per_query,
    groups,
    places,
    retrieved,
)
from equimargin.metrics.precision import Orders, check_threshold

NEGLIGIBLE: Final = 1e-20
"""Probability below which places are not reached."""


def reciprocal_rank(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    threshold: float = 1.0,
    ties: Orders = "average",
    no_relevant: NoRelevant = "zero",
) -> PerQuery:
    """Return 1 / place of the first relevant document; its mean over queries is MRR.

    A query counts 0 if its relevant documents are all behind place k.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances.
    f : array-like of shape (n,)
        Decision values; -inf for a document that is not retrieved.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.
    k : int or None
        Number of first documents; None is all documents of a query.
    threshold : float
        Minimum y of relevant documents.
    ties : {"average", "ordinal"}
        Order of documents with equal f: the mean over all their orders, or the order of
        the rows.
    no_relevant : {"zero", "one", "skip"}
        Value of queries without a relevant document: 0, 1, or none, so that the mean
        skips them.

    Returns
    -------
    PerQuery
        Reciprocal rank of every query, in [0, 1].

    Raises
    ------
    ValueError
        If k < 1, `threshold` is not a number, or a keyword is unknown; also as in
        `concordance`.
    """
    check_threshold(threshold)
    return _evaluate(
        Ranking.of(y, f, qid), lambda y: (y >= threshold).astype(np.float64), k, ties, no_relevant
    )


def expected_reciprocal_rank(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    highest: float = 4.0,
    ties: Orders = "average",
    no_relevant: NoRelevant = "zero",
) -> PerQuery:
    """Return the expected reciprocal rank (ERR) of the place where a user stops.

        R_i = (2^y_(i) - 1) / 2^highest

    y_(i) is the relevance of the document that f has in place i.

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances in [0, highest].
    f, qid, k, ties
        See `reciprocal_rank`.
    highest : float
        Maximum of the scale of relevances, also if y does not hold it: 4 in TREC's web
        track, in MSLR-WEB and in Yahoo's challenge.
    no_relevant : {"zero", "one", "skip"}
        Value of queries in which y is 0 everywhere; see `reciprocal_rank`.

    Returns
    -------
    PerQuery
        ERR of every query, in [0, 1); it is not normalised.

    Raises
    ------
    ValueError
        If a relevance is outside [0, highest], `highest` is not in (0, 1000], k < 1, or a
        keyword is unknown; also as in `concordance`.

    References
    ----------
    Chapelle et al. (2009), equations 4 and 5, and algorithm 2.
    """
    check_number(highest, "highest", "a number above 0, at most 1000", lambda h: 0 < h <= 1000)
    ranked = Ranking.of(y, f, qid)
    check_relevances(ranked.y, highest)
    return _evaluate(ranked, lambda y: (np.exp2(y) - 1) / np.exp2(highest), k, ties, no_relevant)


def _evaluate(
    ranked: Ranking,
    stops: Callable[[Array], Array],
    k: int | None,
    ties: Orders,
    no_relevant: NoRelevant,
) -> PerQuery:
    """Evaluate the cascade on every query, undefined if no document can stop it."""
    last = places(k)
    check_choice(ties, "ties", ("average", "ordinal"))

    def expect(y: Array, f: Array) -> float:
        stop = stops(y)
        if not stop.any():
            return float("nan")
        # Every document is alone if the order of the rows decides.
        group = groups(f) if ties == "average" else np.arange(len(f))
        return _expect_reciprocal(retrieved(stop, f), group, last or len(f))

    return evaluate_per_query(ranked, expect, no_relevant)


def _expect_reciprocal(stop: Array, group: Index, k: int) -> float:
    """Return the mean of 1 / place of the stop, over the orders within the groups.

    A user who has read t of the documents of a group continues with probability a_t, the
    mean of the products of 1 - R over all t of them. So the stop is at the t-th with
    probability a_(t-1) - a_t.
    """
    total, reach, before = 0.0, 1.0, 0
    for members in np.split(stop, np.flatnonzero(np.diff(group)) + 1):
        if before >= k or reach < NEGLIGIBLE:
            break
        if members.any():
            goes_on = _mean_products(1 - members, min(len(members), k - before))
            place = before + np.arange(1, len(goes_on))
            total += reach * float((-np.diff(goes_on) / place).sum())
            reach *= float(np.prod(1 - members))
        before += len(members)
    return total


def _mean_products(x: Array, last: int) -> Array:
    """Return the mean of prod_(i in S) x_i over all S of t entries, t = 0, ..., last.

    The means end where they are negligible. With e_t(n) that of the first n entries,
    n e_t(n) = (n - t) e_t(n - 1) + t x_n e_(t-1)(n - 1).
    """
    # By Maclaurin's inequality e_t <= mean^t, so that O(n) operations remain.
    decay = -np.log(np.maximum(x.mean(), NEGLIGIBLE))
    if decay > 0:
        last = min(last, int(np.ceil(-np.log(NEGLIGIBLE) / decay)))
    ones = int((x == 1).sum())
    means = np.where(np.arange(last + 1) <= ones, 1.0, 0.0)
    for n, value in enumerate(x[x < 1], start=ones + 1):
        t = np.arange(1, min(n, last) + 1)
        means[t] = ((n - t) * means[t] + t * value * means[t - 1]) / n
    return means
