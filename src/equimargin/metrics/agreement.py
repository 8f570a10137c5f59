"""Whether f orders the pairs of points as y does: counts of pairs, their share, Kendall's tau and the losses that are made of it."""

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
    """Exact counts of the pairs of every query, by the order in which f has them.

    Parameters
    ----------
    query : NDArray[Any] of shape (q,)
        Names, ascending.
    concordant, discordant, tied : Index of shape (q,)
        pairs y_i > y_j with f_i > f_j, f_i < f_j, f_i = f_j.
    apart : Index of shape (q,)
        pairs of points with different f, whatever their relevance.
    objects : Index of shape (q,)
        points.
    """

    query: NDArray[Any]
    concordant: Index
    discordant: Index
    tied: Index
    apart: Index
    objects: Index

    @property
    def pairs(self) -> Index:
        """All pairs y_i > y_j, (q,)."""
        return self.concordant + self.discordant + self.tied


def concordance(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None) -> Concordance:
    """The pairs that f orders rightly, wrongly and not at all, in O(n log n).

    Parameters
    ----------
    y : array-like of shape (n,)
        relevances.
    f : array-like of shape (n,)
        Decision values.
    qid : ArrayLike | None of shape (n,)
        Queries; None: a single one.

    Returns
    -------
    Counts of every query.

    Raises
    ------
    ValueError
        Shapes that do not fit, no row at all, numbers that are not finite.

    Source: W, P and Q of Kendall's tau.
    """
    given = Ranking.of(y, f, qid)
    rows = LabelledPairs(relevances(y, len(given.y), "y"), given.query)
    ranks = np.unique(given.f, return_inverse=True)[1].astype(
        np.float64
    )  # differences of integers are exact
    slacks = rows.slacks(ranks, np.ones(rows.groups))
    some = rows.pairs_of > 0
    discordant, misordered = np.zeros_like(rows.pairs_of), np.zeros_like(rows.pairs_of)
    discordant[some], misordered[some] = (
        slacks.within(0).pairs,
        slacks.within(slacks.on_grid(0.5)).pairs,
    )
    apart = LabelledPairs(ranks, given.query).pairs_of
    objects = np.bincount(given.query, minlength=rows.groups)
    return Concordance(
        given.names, rows.pairs_of - misordered, discordant, misordered - discordant, apart, objects
    )


def rank_matrix(f: ArrayLike, qid: ArrayLike | None = None) -> NDArray[np.bool_]:
    """Document W's matrix of a ranking: which document is placed before which.

        r_ij = 1 if i is placed before j, which is f_i > f_j, and 0 otherwise; 0 for documents of two queries

    It is as large as all pairs; `concordance` counts these without listing them. Where neither of two rankings has a tie, Kendall's P
    and Q are the numbers of equal and of different entries above the diagonals of their matrices, as W has them. With ties these
    numbers depend on how the documents are numbered, and `kendall_tau` does not.

    Parameters
    ----------
    f : array-like of shape (n,)
        Decision values, or relevances: higher comes first. Of positions, where 1 comes
        first, give the negatives.
    qid : ArrayLike | None of shape (n,)
        Queries; None: a single one.

    Returns
    -------
    (n, n), the transitive and asymmetric relation "before".

    Raises
    ------
    ValueError
        Shapes that do not fit, no document at all, numbers that are not finite.

    Source: W, ranking method.
    """
    given = Ranking.of(np.zeros(np.size(f)), f, qid)
    return np.asarray((given.f[:, None] > given.f) & (given.query[:, None] == given.query))


def pairwise_accuracy(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    ties: Literal["half", "wrong"] = "half",
) -> PerQuery:
    """The share of preference pairs that f orders rightly.

        |{(i, j) : y_i > y_j, f_i > f_j}| / p,      and 1/2 |{(i, j) : y_i > y_j, f_i = f_j}| / p more for ties = "half"

    The mean is over all pairs, as K prints it: a query weighs as many pairs as it has, and none if it has none. For two levels of one
    query and ties = "half" it is the area under the ROC curve.

    Parameters
    ----------
    As in `concordance`.  ties : what a pair with f_i = f_j counts; "wrong" is the printed definition, which a constant f cannot satisfy.

    Returns
    -------
    Of every query, in [0, 1]; NaN without a pair.

    Raises
    ------
    ValueError
        As in `concordance`, unknown ties.

    Source: K, section 4.2.
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
    """Kendall's tau-b, the agreement of two rankings.

        tau = (P - Q) / sqrt(p_y p_f),      p_y, p_f : pairs of points with different y, with different f

    Without ties both are P + Q, as W has it, and tau = 2 pairwise accuracy - 1. The mean is over the queries where neither y nor f is
    constant; the negative of it is W's empirical loss.

    Parameters
    ----------
    As in `concordance`.

    Returns
    -------
    Of every query, in [-1, 1]; NaN where y or f is constant.

    Raises
    ------
    ValueError
        As in `concordance`.

    Source: W, Kendall's tau; M. G. Kendall, The treatment of ties in ranking problems (1945), for tau-b.
    """
    counts = concordance(y, f, qid)
    scale = np.sqrt(counts.pairs.astype(np.float64) * counts.apart)
    tau = np.zeros(len(scale))
    np.divide(counts.concordant - counts.discordant, scale, out=tau, where=scale > 0)
    return PerQuery(counts.query, tau, (scale > 0).astype(np.float64))


def empirical_loss(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None) -> PerQuery:
    """Document W's empirical loss of a sample of queries.

        L = -1/n sum over the queries q of tau(f, y on q)

    Parameters
    ----------
    As in `concordance`.

    Returns
    -------
    -tau of every query, in [-1, 1], NaN where y or f is constant; L is its mean, over the n queries where tau has a meaning.

    Raises
    ------
    ValueError
        As in `concordance`.

    Source: W, empirical loss function; tau as in `kendall_tau`.
    """
    tau = kendall_tau(y, f, qid)
    return PerQuery(tau.query, -tau.total, tau.weight)


def expected_loss(
    y: ArrayLike, f: ArrayLike, qid: ArrayLike | None, probability: Mapping[Any, float]
) -> PerQuery:
    """Document W's expected loss, under a distribution over finitely many queries with their right rankings.

        L = -sum over (q, r*) of Pr(q, r*) tau(f, r*)

    Every query of `qid` is one (q, r*): a query that may have several right rankings comes once for each, under a name of its own. With
    equal probabilities it is the empirical loss.

    Parameters
    ----------
    y, f, qid
        As in `concordance`.
    probability : Mapping[Any, float]
        Pr of every query of `qid`, numbers >= 0; they need not add up to 1.

    Returns
    -------
    -tau of every query, NaN where y or f is constant; L is its mean, over the queries where tau has a meaning.

    Raises
    ------
    ValueError
        As in `concordance`, a query without a probability, a probability without a
        query or that is negative or not finite.

    Source: W, expected loss function.
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
