"""Proven average precision along a path, and document W's bound of it.

    AP = 1/R sum over k of k / (k + c_(k)),    Q = sum over k of c_(k)

c_(1) <= ... <= c_(R) are the numbers of irrelevant documents not below each relevant
one: misordered pairs, which `surrogate_regret` proves at every C.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Index
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.metrics.precision import check_threshold
from equimargin.proofs import SurrogateRegret
from ledger.measures.least import average_precision_bound


class PrecisionAtCost(NamedTuple):
    """Means over all queries with a relevant document, of the optimum at one C.

    Parameters
    ----------
    least, most : Fraction
        Bounds of average precision, where a tie counts against the relevant document;
        equal if the order of every pair is proven.
    bound : float
        Document W's bound for the largest possible number of inversions.
    """

    least: Fraction
    most: Fraction
    bound: float


def precision_at(curve: SurrogateRegret, C: Any, threshold: float = 1.0) -> PrecisionAtCost:
    """Return proven bounds of average precision of the optimum at C, and W's bound.

    Parameters
    ----------
    curve : SurrogateRegret
        Proven misordered pairs of `ranking(X, y, qid)`.
    C : int, float or Fraction
        Cost on the path.
    threshold : float
        Minimum relevance of a relevant document.

    Raises
    ------
    ValueError
        If the problem is no ranking of labels, C is not on the path, or no query has a
        relevant document.

    References
    ----------
    Document W (encyclopedia page on Ranking SVM), the lower bound of average precision.
    """
    rows: Any = curve.problem.rows
    if not isinstance(rows, LabelledPairs):
        raise ValueError("precision_at: the curve must be that of ranking(X, y, qid)")
    check_threshold(threshold)
    relevant = np.asarray(rows.y) >= threshold
    if not relevant.any():
        raise ValueError(f"precision_at: no document has a relevance of {threshold:g} or more")
    across = relevant[rows.preferred] & ~relevant[rows.other]
    surely, possibly = (
        np.bincount(rows.preferred[flags & across], minlength=len(relevant))
        for flags in curve.pairs(C)
    )
    members = [
        np.flatnonzero(relevant & (rows.query == q)) for q in np.unique(rows.query[relevant])
    ]
    n = len(members)
    return PrecisionAtCost(
        sum((_precision(possibly[own]) for own in members), Fraction(0)) / n,
        sum((_precision(surely[own]) for own in members), Fraction(0)) / n,
        sum(float(average_precision_bound(len(own), possibly[own].sum())) for own in members) / n,
    )


def _precision(above: Index) -> Fraction:
    """Return average precision of numbers of irrelevant documents above each relevant one."""
    ordered = enumerate(sorted(above.tolist()), start=1)
    return sum((Fraction(k, k + c) for k, c in ordered), Fraction(0)) / len(above)
