"""Bounds of a fitted ranking's average precision from its slacks.

    inversions of a query  <=  floor(sum of its slacks)
    AP  >=  least(R, inversions)  >=  least(R, floor)  >=  W's bound(R, floor)

A pair in the wrong order or tied has a slack of at least 1. `least` is the minimum of
`average_precision_least`, and W's bound that of `average_precision_bound`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.evaluate import evaluate
from equimargin.formulations.numeric.arguments import positive
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import SMALLEST
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.metrics.precision import check_threshold
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.solution import Solution
from ledger.measures.least import (
    TooManyPartitions,
    average_precision_bound,
    average_precision_least,
)

ROUNDINGS = 1e-9
"""Relative increase of sums of slacks, for the roundings of up to ten million additions."""


@dataclass(frozen=True, eq=False)
class ProvenPrecision:
    """Proven average precision of a fitted f for each query, for any order of ties.

    Queries without a relevant document are excluded.

    Parameters
    ----------
    query : Index of shape (q,)
        Numbers of the queries, ascending.
    relevant, irrelevant : Index of shape (q,)
        Numbers of documents.
    slack : ndarray of shape (q,)
        Sums of the slacks of the pairs of a relevant and an irrelevant document,
        rounded up.
    inversions : Index of shape (q,)
        Numbers of these pairs that are not proven to be in the right order.
    least : ndarray of shape (q,)
        Minimum average precision with that number of inversions.
    least_of_slack : ndarray of shape (q,)
        Minimum average precision with floor(slack) inversions.
    bound : ndarray of shape (q,)
        Document W's bound for floor(slack).
    exact : NDArray[np.bool_] of shape (q,)
        True if both are exact minima; otherwise there were too many partitions, and
        both are W's bound.
    """

    query: Index
    relevant: Index
    irrelevant: Index
    slack: Array
    inversions: Index
    least: Array
    least_of_slack: Array
    bound: Array
    exact: NDArray[np.bool_]

    @property
    def mean(self) -> float:
        """Mean of `least`, a lower bound of mean average precision over these queries."""
        return float(self.least.mean()) if len(self.least) else float("nan")


def proven_average_precision(
    solution: Solution, threshold: float = 1.0, seconds: float = 60.0
) -> ProvenPrecision:
    """Return lower bounds of the average precision of a ranking on its training documents.

    Rounding errors of f are included.

    Parameters
    ----------
    solution : Solution
        Solution of `ranking(X, y, qid)`, with any kernel and loss; its pairs are listed.
    threshold : float
        Minimum y of relevant documents.
    seconds : float
        Time limit of all partitions in total, in seconds; later queries get W's bound.

    Returns
    -------
    ProvenPrecision
        Bounds of every query with a relevant document, up to the roundings of
        `average_precision_least`.

    Raises
    ------
    ValueError
        If the problem is no ranking of labels, has too many pairs to be listed, or the time
        limit is not positive.

    References
    ----------
    W, the lower bound of average precision, which it states of inversions; T, after (86),
    for the slacks.
    """
    problem = solution.problem if isinstance(solution, Solution) else None
    if not isinstance(problem, MarginProblem) or not isinstance(problem.rows, LabelledPairs):
        raise ValueError("proven_average_precision: the solution must be one of ranking(X, y, qid)")
    check_threshold(threshold)
    clock = Clock(positive(seconds, "seconds"))
    rows: Any = problem.rows
    at = evaluate(problem, problem.function(problem.own_point(solution.point)))
    relevant = np.asarray(rows.y) >= threshold
    across = relevant[rows.preferred] & ~relevant[rows.other]
    i, j = rows.preferred[across], rows.other[across]
    margin, error = at.f[i] - at.f[j], (at.f_error[i] + at.f_error[j]) * (1 + ROUNDINGS)
    uncertain = np.abs(margin) * ROUNDINGS + error
    query = np.asarray(rows.query)
    number = int(query.max()) + 1
    slack = np.bincount(query[i], np.maximum(1 - margin + uncertain, 0.0), number).astype(
        np.float64
    ) * (1 + ROUNDINGS)
    inversions = np.bincount(query[i], margin <= uncertain, number).astype(np.int64)
    R, N = (
        np.bincount(query[relevant], minlength=number),
        np.bincount(query[~relevant], minlength=number),
    )
    some = np.flatnonzero(R)
    floors = np.minimum(np.floor(slack), R * N).astype(np.int64)[some]
    counts = np.stack([R[some], inversions[some], floors, N[some]], axis=1).tolist()
    found = [_least(R, Q, floor, N, clock) for R, Q, floor, N in counts]
    least, least_of_slack, exact = (
        (np.array(part) for part in zip(*found, strict=True)) if found else (np.zeros(0),) * 3
    )
    bound = np.asarray(average_precision_bound(R[some], floors))
    return ProvenPrecision(
        some,
        R[some],
        N[some],
        slack[some],
        inversions[some],
        least,
        least_of_slack,
        bound,
        exact.astype(np.bool_),
    )


def _least(R: int, Q: int, floor: int, N: int, clock: Clock) -> tuple[float, float, bool]:
    """Return the minimum average precision with Q and with floor inversions, and True.

    If there are too many partitions, return W's bounds and False.
    """
    try:
        least, of_slack = (
            average_precision_least(R, inversions, N, max(clock.left, SMALLEST))
            for inversions in (Q, floor)
        )
    except TooManyPartitions:
        return average_precision_bound(R, Q), average_precision_bound(R, floor), False
    return least, of_slack, True
