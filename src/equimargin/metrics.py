"""Metrics of rankings: pairwise accuracy, Kendall's tau, NDCG and average precision, of every query and on average.

Every metric takes relevances y, where higher is better, decision values f and queries qid, and returns a `PerQuery`:

>>> y, f, qid = [2, 1, 0, 1, 0], [0.9, 0.3, 0.4, -1.0, 1.0], [1, 1, 1, 2, 2]
>>> accuracy = pairwise_accuracy(y, f, qid)
>>> accuracy.values.round(3).tolist(), accuracy.mean
([0.667, 0.0], 0.5)

Documents with the same f are in no order. With ties = "average" a metric is its mean over all their orders. With ties = "ordinal" they
stay in the order of the rows, as in LETOR's evaluation script.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.problem.labels import Index, numbers, queries
from equimargin.formulations.rows.labelled import LabelledPairs

Array = NDArray[np.float64]
Gain = Literal["exponential", "linear"]
Discount = Literal["letor", "shifted"]

__all__ = [
    "Concordance",
    "PerQuery",
    "average_precision",
    "average_precision_bound",
    "concordance",
    "kendall_tau",
    "mean_ndcg",
    "ndcg",
    "pairwise_accuracy",
]


@dataclass(frozen=True, eq=False)
class PerQuery:
    """A metric of every query.

    query : (q,) names, ascending.  total : (q,) what each contributes.  weight : (q,) how much of the mean it is, 0 where the metric has
    no meaning.
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


@dataclass(frozen=True, eq=False)
class Concordance:
    """Exact counts of the pairs of every query, by the order in which f has them.

    query : (q,) names, ascending.  concordant, discordant, tied : (q,) pairs y_i > y_j with f_i > f_j, f_i < f_j, f_i = f_j.
    apart : (q,) pairs of points with different f, whatever their relevance.
    """

    query: NDArray[Any]
    concordant: Index
    discordant: Index
    tied: Index
    apart: Index

    @property
    def pairs(self) -> Index:
        """All pairs y_i > y_j, (q,)."""
        return self.concordant + self.discordant + self.tied


def concordance(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None) -> Concordance:
    """The pairs that f orders rightly, wrongly and not at all, in O(n log n).

    Parameters
    ----------
    y : (n,) relevances.  f : (n,) decision values.  qid : (n,) queries; None: a single one.

    Returns
    -------
    Counts of every query.

    Raises
    ------
    ValueError : shapes that do not fit, no row at all, numbers that are not finite.

    Source: W, P and Q of Kendall's tau.
    """
    given = _Ranking.of(y, f, qid)
    rows = LabelledPairs(given.y, given.query)
    ranks = np.unique(given.f, return_inverse=True)[1].astype(np.float64)  # differences of integers are exact
    slacks = rows.slacks(ranks, np.ones(rows.groups))
    some = rows.pairs_of > 0
    discordant, misordered = np.zeros_like(rows.pairs_of), np.zeros_like(rows.pairs_of)
    discordant[some], misordered[some] = slacks.within(0).pairs, slacks.within(slacks.on_grid(0.5)).pairs
    apart = LabelledPairs(ranks, given.query).pairs_of
    return Concordance(given.names, rows.pairs_of - misordered, discordant, misordered - discordant, apart)


def pairwise_accuracy(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None = None, ties: Literal["half", "wrong"] = "half") -> PerQuery:
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
    ValueError : as in `concordance`, unknown ties.

    Source: K, section 4.2.
    """
    _one_of("ties", ties, ("half", "wrong"))
    counts = concordance(y, f, qid)
    right = counts.concordant + counts.tied / 2 if ties == "half" else counts.concordant.astype(np.float64)
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
    ValueError : as in `concordance`.

    Source: W, Kendall's tau; M. G. Kendall, The treatment of ties in ranking problems (1945), for tau-b.
    """
    counts = concordance(y, f, qid)
    scale = np.sqrt(counts.pairs.astype(np.float64) * counts.apart)
    tau = np.zeros(len(scale))
    np.divide(counts.concordant - counts.discordant, scale, out=tau, where=scale > 0)
    return PerQuery(counts.query, tau, (scale > 0).astype(np.float64))


def ndcg(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    k: int | None = None,
    gain: Gain = "exponential",
    discount: Discount = "letor",
    ties: Literal["average", "ordinal"] = "average",
) -> PerQuery:
    """Normalised discounted cumulative gain of the first k documents.

        NDCG@k = sum over i <= k of g(y_(i)) d(i) / I_k,      I_k the same sum of the documents by falling y

    y_(i) is the relevance of the document that f has in place i. A query where no document has a gain counts 0, as in LETOR's evaluation
    script, where a k beyond the last document is the last document, too.

    Parameters
    ----------
    y : (n,) relevances >= 0.  f : (n,) decision values.  qid : (n,) queries; None: a single one.  k : None for all documents of a query.
    gain : "exponential", 2^y - 1, or "linear", y.
    discount : "letor", 1 / log2(max(2, i)), or "shifted", 1 / log2(1 + i).
    ties : of documents with the same f: "average", the mean over their orders, or "ordinal", the order of the rows.

    LETOR's script is the default with ties = "ordinal"; scikit-learn's `ndcg_score` is gain = "linear", discount = "shifted".

    Returns
    -------
    Of every query, in [0, 1].

    Raises
    ------
    ValueError : as in `concordance`, a negative relevance, k < 1, an unknown gain, discount or treatment of ties.

    Source: K, section 4.2, corrected: the document prints the ideal order in the numerator, too. F. McSherry and M. Najork, Computing
    information retrieval performance measures efficiently in the presence of tied scores (2008), for the mean over orders.
    """
    if k is not None and not (isinstance(k, int | np.integer) and k >= 1):
        raise ValueError(f"k must be a whole number of documents, 1 or more, not {k!r}")
    ratios = _ratios(gain, discount, ties)
    last = -1 if k is None else int(k) - 1
    return _of_queries(_graded(y, f, qid), lambda y, f: float(ratios(y, f)[min(last, len(y) - 1)]))


def mean_ndcg(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    gain: Gain = "exponential",
    discount: Discount = "letor",
    ties: Literal["average", "ordinal"] = "average",
) -> PerQuery:
    """LETOR's mean NDCG, the mean of NDCG@k over k = 1, ..., l_q, the documents of the query.

    Parameters
    ----------
    As in `ndcg`; relevances in the thousands do not overflow.

    Returns
    -------
    Of every query, in [0, 1].

    Raises
    ------
    ValueError : as in `ndcg`.

    Source: K, section 4.2.
    """
    ratios = _ratios(gain, discount, ties)
    return _of_queries(_graded(y, f, qid), lambda y, f: float(ratios(y, f).mean()))


def average_precision(
    y: ArrayLike,
    f: ArrayLike,
    qid: ArrayLike | None = None,
    threshold: float = 1.0,
    ties: Literal["average", "ordinal", "max"] = "average",
) -> PerQuery:
    """The mean precision at the relevant documents; its mean over queries is MAP.

        AP = 1/R sum over the relevant documents of (relevant documents up to its place) / (its place)

    A query without a relevant document counts 0, as in LETOR's evaluation script.

    Parameters
    ----------
    y : (n,) relevances.  f : (n,) decision values.  qid : (n,) queries; None: a single one.  threshold : relevant is y >= threshold.
    ties : of documents with the same f: "average", the mean over their orders; "ordinal", the order of the rows, as LETOR's script has
        them; "max", all in the last of their places, as scikit-learn's `average_precision_score` has them.

    Returns
    -------
    Of every query, in [0, 1].

    Raises
    ------
    ValueError : as in `concordance`, a threshold that is no number, an unknown treatment of ties.

    Source: W, information retrieval quality; McSherry and Najork (2008), as in `ndcg`.
    """
    _one_of("ties", ties, ("average", "ordinal", "max"))
    if not np.isfinite(threshold):
        raise ValueError(f"threshold must be a finite number, not {threshold}")
    return _of_queries(_Ranking.of(y, f, qid), lambda y, f: _precision(y >= threshold, f, ties))


def average_precision_bound(relevant: ArrayLike, inversions: ArrayLike) -> Any:
    """A lower bound of average precision, for R relevant documents and Q inversions.

        AP >= 1/R (Q + R (R + 1) / 2)^-1 (sum over i = 1, ..., R of sqrt(i))^2

    The bound falls as Q grows, and so rises with Kendall's tau. W says that maximising tau helps to minimise the bound; in fact it helps to
    maximise it. An inversion is a pair of a relevant document below an irrelevant one. With more than two levels, discordant pairs of
    relevant documents, or of irrelevant ones, may be counted in Q, too; that only weakens the bound. If f has ties,
    Q = discordant + tied / 2 bounds the mean over the orders of tied documents, and Q = discordant + tied bounds every order.

    Parameters
    ----------
    relevant : R >= 1.  inversions : Q >= 0; arrays are broadcast.

    Returns
    -------
    A lower bound in (0, 1], of the shape of the arguments.

    Raises
    ------
    ValueError : R < 1 or not whole, Q < 0, a number that is not finite.

    Source: W, the lower bound of average precision; T. Joachims, Optimizing search engines using clickthrough data (2002).
    """
    R, Q = np.asarray(relevant, dtype=np.float64), np.asarray(inversions, dtype=np.float64)
    if not (np.isfinite(R).all() and (R >= 1).all() and (np.floor(R) == R).all()):
        raise ValueError("relevant must be whole numbers, 1 or more: without a relevant document there is no average precision")
    if not (np.isfinite(Q).all() and (Q >= 0).all()):
        raise ValueError("inversions must be finite numbers, 0 or more")
    roots = np.append(0.0, np.cumsum(np.sqrt(np.arange(1, R.max(initial=0) + 1))))
    bound = roots[R.astype(np.int64)] ** 2 / (R * (Q + R * (R + 1) / 2))
    return float(bound) if bound.ndim == 0 else bound


class _Ranking(NamedTuple):
    """Relevances, decision values and queries that fit: y, f (n,), query (n,) from 0, names (q,)."""

    y: Array
    f: Array
    query: Index
    names: NDArray[Any]

    @classmethod
    def of(cls, y: ArrayLike, f: ArrayLike, qid: ArrayLike | None) -> _Ranking:
        n = np.asarray(y).size
        if n == 0:
            raise ValueError("y is empty: a ranking needs one document at least")
        names, query = queries(np.zeros(n, dtype=np.int64) if qid is None else qid, n)
        return cls(numbers(y, n, "y"), numbers(f, n, "f"), query, names)


def _of_queries(given: _Ranking, metric: Callable[[Array, Array], float]) -> PerQuery:
    """A metric of y and f, both by falling f, of every query."""
    order = np.lexsort((-given.f, given.query))  # stable: rows with the same f stay in their order
    ends = np.cumsum(np.bincount(given.query))[:-1]
    ranked = zip(np.split(given.y[order], ends), np.split(given.f[order], ends), strict=True)
    return PerQuery(given.names, np.array([metric(y, f) for y, f in ranked]), np.ones(len(given.names)))


def _graded(y: ArrayLike, f: ArrayLike, qid: ArrayLike | None) -> _Ranking:
    given = _Ranking.of(y, f, qid)
    if given.y.min() < 0:
        raise ValueError(f"y holds a negative relevance at row {int(given.y.argmin())}: a gain must not be negative")
    return given


def _ratios(gain: str, discount: str, ties: str) -> Callable[[Array, Array], Array]:
    """NDCG@k for k = 1, ..., l, (l,), of relevances y (l,) by falling f (l,)."""
    _one_of("gain", gain, ("exponential", "linear"))
    _one_of("discount", discount, ("letor", "shifted"))
    _one_of("ties", ties, ("average", "ordinal"))

    def ratios(y: Array, f: Array) -> Array:
        if y.max() == 0:
            return np.zeros(len(y))
        gains, i = _gains(y, gain), np.arange(1, len(y) + 1)
        d = 1 / np.log2(np.maximum(i, 2) if discount == "letor" else i + 1)
        ideal = np.cumsum(np.sort(gains)[::-1] * d)
        return np.asarray(np.cumsum((_group_means(gains, f) if ties == "average" else gains) * d) / ideal)

    return ratios


def _gains(y: Array, gain: str) -> Array:
    """Gains in units that cancel and do not overflow: (2^y - 1) / 2^max y, or y / max y."""
    return np.asarray(-np.expm1(-y * np.log(2)) * np.exp2(y - y.max()) if gain == "exponential" else y / y.max())


def _group_means(values: Array, f: Array) -> Array:
    """Values replaced by their mean over the documents with the same f; f sorted."""
    group = _groups(f)
    return np.asarray((np.bincount(group, values) / np.bincount(group))[group])


def _groups(f: Array) -> Index:
    """Numbers 0, 1, ... of the groups of equal f; f sorted."""
    return np.cumsum(np.append(False, f[1:] != f[:-1]))


def _precision(relevant: NDArray[np.bool_], f: Array, ties: str) -> float:
    """Average precision, of documents by falling f; 0 where none is relevant."""
    R = int(relevant.sum())
    if R == 0:
        return 0.0
    place, upto = np.arange(1, len(f) + 1), np.cumsum(relevant)
    if ties == "ordinal":
        return float((upto / place)[relevant].sum()) / R
    group = _groups(f)
    size, last = np.bincount(group), np.cumsum(np.bincount(group)) - 1
    if ties == "max":
        return float((upto[last] / (last + 1))[group][relevant].sum()) / R
    r = np.bincount(group, relevant)
    before = upto[last] - r
    # Relevant in its place with probability r / size, a document has each of the others of its group before it with equal probability.
    others = (place - 1 - (last + 1 - size)[group]) * ((r - 1) / np.maximum(size - 1, 1))[group]
    return float(((r / size)[group] * (before[group] + 1 + others) / place).sum()) / R


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
