"""Agreement of f with y on pairs of points: pair counts, Kendall's tau and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import check_choice, check_weights, format_value
from equimargin.formulations.numeric.arrays import Index
from equimargin.formulations.problem.labels import relevances
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.metrics.per_query import PerQuery, Ranking


@dataclass(frozen=True, eq=False)
class Concordance:
    """Exact counts of the pairs of every query, by the order of their f.

    Parameters
    ----------
    query : ndarray of shape (q,)
        Names of the queries, ascending.
    concordant, discordant, tied : ndarray of shape (q,)
        Numbers of pairs y_i > y_j with f_i > f_j, f_i < f_j, f_i = f_j.
    apart : ndarray of shape (q,)
        Numbers of pairs of points with different f, whatever their relevance.
    objects : ndarray of shape (q,)
        Numbers of points.
    """

    query: NDArray[Any]
    concordant: Index
    discordant: Index
    tied: Index
    apart: Index
    objects: Index

    @property
    def pairs(self) -> Index:
        """Numbers of all pairs y_i > y_j, shape (q,)."""
        return self.concordant + self.discordant + self.tied


def concordance(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None) -> Concordance:
    """Count the pairs that f orders correctly, wrongly and not at all, in O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        Relevances.
    f : array-like of shape (n,)
        Decision values.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.

    Returns
    -------
    Concordance
        Counts by query.

    Raises
    ------
    ValueError
        If shapes do not fit, there is no row, or a number is not finite.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), P and Q of Kendall's tau.
    """
    ranked = Ranking.of(y, f, qid)
    rows = LabelledPairs(relevances(y, len(ranked.y), "y"), ranked.query)
    # Ranks are integers, so that their differences are exact in float64.
    ranks = np.unique(ranked.f, return_inverse=True)[1].astype(np.float64)
    slacks = rows.slacks(ranks, np.ones(rows.groups))
    some = rows.pairs_of > 0
    discordant, misordered = np.zeros_like(rows.pairs_of), np.zeros_like(rows.pairs_of)
    discordant[some], misordered[some] = (
        slacks.within(0).pairs,
        slacks.within(slacks.on_grid(0.5)).pairs,
    )
    apart = LabelledPairs(ranks, ranked.query).pairs_of
    objects = np.bincount(ranked.query, minlength=rows.groups)
    return Concordance(
        ranked.names,
        rows.pairs_of - misordered,
        discordant,
        misordered - discordant,
        apart,
        objects,
    )


def rank_matrix(f: ArrayLike, qid: ArrayLike | None = None) -> NDArray[np.bool_]:
    """Return the matrix of a ranking: True if i is placed before j.

        r_ij = 1 if i is placed before j, that is f_i > f_j, and 0 otherwise; 0 for two
        queries

    It is as large as all pairs; `concordance` counts them without the matrix. If
    neither of two rankings has a tie, Kendall's P and Q are the numbers of equal and of
    different entries above the diagonals of their matrices, as on the encyclopedia page
    on Ranking SVM. With ties these numbers depend on the numbering of the documents,
    and `kendall_tau` does not.

    Parameters
    ----------
    f : array-like of shape (n,)
        Decision values, or relevances: higher comes first. For positions, where 1 comes
        first, pass the negatives.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.

    Returns
    -------
    ndarray of bool of shape (n, n)
        Transitive and asymmetric relation "before".

    Raises
    ------
    ValueError
        If shapes do not fit, there is no document, or a number is not finite.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), ranking method.
    """
    ranked = Ranking.of(np.zeros(np.size(f)), f, qid)
    return np.asarray((ranked.f[:, None] > ranked.f) & (ranked.query[:, None] == ranked.query))


def pairwise_accuracy(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    ties: Literal["half", "wrong"] = "half",
) -> PerQuery:
    """Return the share of preference pairs that f orders correctly.

        |{(i, j) : y_i > y_j, f_i > f_j}| / p,
        and 1/2 |{(i, j) : y_i > y_j, f_i = f_j}| / p more for ties = "half"

    The mean is over all pairs, as in Kuo, Lee and Lin (2014): the weight of a query is
    its number of pairs. For two levels of one query and ties = "half" it is the area
    under the ROC curve.

    Parameters
    ----------
    y, f, qid
        See `concordance`.
    ties : {"half", "wrong"}
        Value of a pair with f_i = f_j: 1/2, or 0 as published, so that a constant f has
        accuracy 0.

    Returns
    -------
    PerQuery
        Accuracy of every query, in [0, 1]; NaN without a pair.

    Raises
    ------
    ValueError
        If `ties` is unknown; also as in `concordance`.

    References
    ----------
    Document K (Kuo, Lee and Lin), section 4.2.
    """
    check_choice(ties, "ties", ("half", "wrong"))
    counts = concordance(y, f, qid)
    right = (
        counts.concordant + counts.tied / 2
        if ties == "half"
        else counts.concordant.astype(np.float64)
    )
    return PerQuery(counts.query, right, counts.pairs.astype(np.float64))


def kendall_tau(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None) -> PerQuery:
    """Return Kendall's tau-b, the agreement of two rankings.

        tau = (P - Q) / sqrt(p_y p_f),
        P and Q : numbers of concordant and of discordant pairs,
        p_y and p_f : numbers of pairs of points with different y, with different f

    Without ties p_y and p_f are P + Q, and tau = 2 pairwise accuracy - 1. The mean is
    over the queries in which neither y nor f is constant; its negative is the mean of
    `empirical_loss`.

    Parameters
    ----------
    y, f, qid
        See `concordance`.

    Returns
    -------
    PerQuery
        Tau of every query, in [-1, 1]; NaN if y or f is constant.

    Raises
    ------
    ValueError
        See `concordance`.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), Kendall's tau; M. G. Kendall, The
    treatment of ties in ranking problems (1945), for tau-b.
    """
    counts = concordance(y, f, qid)
    scale = np.sqrt(counts.pairs.astype(np.float64) * counts.apart)
    tau = np.zeros(len(scale))
    np.divide(counts.concordant - counts.discordant, scale, out=tau, where=scale > 0)
    return PerQuery(counts.query, tau, (scale > 0).astype(np.float64))


def empirical_loss(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None) -> PerQuery:
    """Return the empirical loss of a sample of queries: minus Kendall's tau.

        L = -1/n sum over the queries q of tau(f, y on q)

    Parameters
    ----------
    y, f, qid
        See `concordance`.

    Returns
    -------
    PerQuery
        -tau of every query, in [-1, 1]; NaN if y or f is constant. L is its mean over
        the n queries in which tau is defined.

    Raises
    ------
    ValueError
        See `concordance`.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), empirical loss function; tau as in
    `kendall_tau`.
    """
    tau = kendall_tau(y, f, qid)
    return PerQuery(tau.query, -tau.total, tau.weight)


def expected_loss(
    y: ArrayLike, f: ArrayLike, qid: ArrayLike | None, probability: Mapping[Any, float]
) -> PerQuery:
    """Return the expected loss over finitely many queries and rankings.

        L = -sum over (q, r*) of Pr(q, r*) tau(f, r*)

    Every query of `qid` is one (q, r*): a query with several possible correct rankings
    occurs once for each, under separate names. With equal probabilities it is the
    empirical loss.

    Parameters
    ----------
    y, f, qid
        See `concordance`.
    probability : mapping
        Probability Pr of every query of `qid`, at least 0; the sum need not be 1.

    Returns
    -------
    PerQuery
        -tau of every query; NaN if y or f is constant. L is its mean over the queries
        in which tau is defined.

    Raises
    ------
    ValueError
        If a query has no probability, or a probability has no query, is negative or not
        finite; also as in `concordance`.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), expected loss function.
    """
    loss = empirical_loss(y, f, qid)
    if not isinstance(probability, Mapping):
        raise ValueError(
            f"probability must map every query to a number, not be {format_value(probability)}"
        )
    apart = sorted(set(probability) ^ set(loss.query.tolist()), key=str)
    if apart:
        raise ValueError(
            f"the queries of probability and of qid differ: {apart[:5]} are in one of them alone"
        )
    weight = check_weights(
        [probability[name] for name in loss.query.tolist()],
        len(loss.query),
        "the values of probability",
    )
    if np.isinf(weight).any():
        raise ValueError("the values of probability must be finite")
    return PerQuery(loss.query, loss.total * weight, loss.weight * weight)
