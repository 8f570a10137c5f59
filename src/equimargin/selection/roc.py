"""ROC frontier of a path: the best error rates over all lambdas and thresholds.

A threshold accepts the points whose decision value f + b is above it. Along lambda the
accepted sets change only where two points change places, and then one set alone: the
one whose lowest member was one of the two. So the whole path costs little more than its
exchanges.

References
----------
Document P, section 3: "the exact decision frontier can be calculated via a ROC curve",
and section 6, "at each level".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.labels import numbers
from equimargin.selection.along_path import Lines, NothingToChoose, Steps, _knots, followed_at
from equimargin.selection.orders import Knots, exchanges, pieces_between
from equimargin.solvers.path import AnyPath


@dataclass(frozen=True, eq=False)
class Frontier:
    """Upper convex hull of all (false-positive, true-positive) rates of a path.

    Random choice between two corners reaches the line between them; no lambda and no
    threshold reaches a point above.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : ndarray of shape (k,)
        Rates of the corners, increasing, the first from 0 to 1.
    lambdas : ndarray of shape (k,)
        Lambdas at which the corners are reached.
    intervals : ndarray of shape (k, 2)
        Ends of an interval around that lambda on which the corner is reached; it may be
        reached outside the interval, too.
    thresholds : ndarray of shape (k,)
        Thresholds of the decision function f + b at these lambdas; infinity accepts
        nothing, and -infinity all.
    """

    false_positive_rate: Array
    true_positive_rate: Array
    lambdas: Array
    intervals: Array
    thresholds: Array

    def __len__(self) -> int:
        return len(self.lambdas)

    @property
    def area(self) -> float:
        """Area below the frontier, in [1/2, 1]."""
        return float(np.trapezoid(self.true_positive_rate, self.false_positive_rate))


def roc_frontier(path: AnyPath, X_validation: Any, y_validation: ArrayLike) -> Frontier:
    """Return the ROC frontier of a path on validation points of two levels.

    Parameters
    ----------
    path : AnyPath
        Result of `regularization_path`, of a classification or a ranking.
    X_validation : array-like
        See `best`.
    y_validation : array-like of shape (n,)
        Two different numbers, the larger one for positive points. All points are of one
        query.

    Returns
    -------
    Frontier
        Frontier over all lambdas from the first breakpoint to the last one above 0, as
        in `best`. Rates reached only at one lambda, at a tie, are excluded.

    Raises
    ------
    ValueError
        If there are not exactly two levels, or shapes do not fit.
    NothingToChoose, NoBreakpoint
        See `best`.
    """
    y = numbers(y_validation, np.asarray(y_validation).size, "y")
    levels = np.unique(y)
    if len(levels) != 2:
        raise ValueError(
            f"a ROC frontier needs points of two levels, and y has {len(levels)}: "
            f"{format_value(levels[:5].tolist())}"
        )
    reached = _RocFrontier(y == levels[1])
    followed = followed_at(path, X_validation, y)
    for _ in _knots(reached, [followed]):
        pass
    return reached.frontier(followed)


class _RocFrontier:
    """Maximal numbers of accepted positive points, by number of accepted negatives.

    A `Metric` without a score, which records these numbers.

    Attributes
    ----------
    most : ndarray of shape (negatives + 1,)
        Maximal numbers; -1 if a number of negatives is never accepted.
    intervals : ndarray of shape (negatives + 1, 2)
        Lambdas, high and low, between which the maximum is reached.
    below : ndarray of shape (n,)
        Number of points below each at the last record; -1 before the first.
    """

    name, larger_is_better = "roc_frontier", True

    def __init__(self, positive: NDArray[np.bool_]) -> None:
        self.positive = positive
        self.most = np.full(int((~positive).sum()) + 1, -1)
        self.intervals = np.ones((len(self.most), 2))
        self.below = np.full(len(positive), -1)

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Record the accepted sets between two lambdas, in O(n) per exchange."""
        n = len(ga)
        ranks, _, i, j, lams = exchanges(
            a, b, ga, gb, np.zeros(n, dtype=np.int64), np.arange(n, dtype=np.float64)
        )
        below = np.searchsorted(np.sort(ranks), ranks)
        events, ends, wide = pieces_between(a, b, lams)
        # After a jump, a point with an unchanged number of points below it may have
        # other points above it, so all thresholds are counted again.
        jumped = not np.array_equal(below, self.below)
        lowest = set(range(len(below))) if jumped else set()
        for piece in range(len(ends) - 1):
            if piece > 0:
                down, up = j[events[piece - 1]], i[events[piece - 1]]
                below[down] -= 1
                below[up] += 1
                lowest |= {int(down), int(up)}
            if wide[piece]:
                self._keep(below, lowest, float(ends[piece]), float(ends[piece + 1]))
                lowest = set()
        return np.zeros(0), np.zeros(0)

    def _keep(self, below: Index, lowest: Iterable[int], high: float, low: float) -> None:
        """Count the points that thresholds just below some points accept; keep maxima.

        `below`, shape (n,), has the number of points below each.
        """
        self.below = below.copy()
        parts = below, below[self.positive]
        all_from, positive_from = (
            np.bincount(part, minlength=len(below) + 1)[::-1].cumsum()[::-1] for part in parts
        )
        for least in [*np.unique(below[list(lowest)]).tolist(), len(below)]:
            hits = int(positive_from[least])
            false = int(all_from[least]) - hits
            now, (high_now, low_now) = self.most[false], self.intervals[false]
            if hits > now or (hits == now and high * low_now > high_now * low):
                self.most[false], self.intervals[false] = hits, (high, low)

    def frontier(self, followed: Lines | Steps) -> Frontier:
        """Return the corners of the hull, with lambdas and thresholds.

        Parameters
        ----------
        followed : Lines or Steps
            Values along the path.

        Raises
        ------
        NothingToChoose
            If the path is too short.
        """
        false = np.flatnonzero(self.most >= 0)
        if not len(false):
            raise NothingToChoose(
                "the path is too short: the relative difference of its lambdas is below 1e-9"
            )
        corners: list[int] = []
        for k in false.tolist():
            while len(corners) > 1 and self._is_left(corners[-2], corners[-1], k):
                corners.pop()
            corners.append(k)
        high, low = self.intervals[corners].T
        lams = np.clip(np.sqrt(high) * np.sqrt(low), low, high)
        accepted = self.most[corners] + corners
        places = zip(lams.tolist(), accepted.tolist(), strict=True)
        thresholds = [_threshold(followed.ends(lam, lam)[0] / lam, count) for lam, count in places]
        rates = (
            np.array(corners) / (len(self.most) - 1),
            self.most[corners] / int(self.positive.sum()),
        )
        return Frontier(*rates, lams, np.column_stack([low, high]), np.array(thresholds))

    def _is_left(self, first: int, middle: int, last: int) -> bool:
        """Return True if the middle of three points is not above the line of the others.

        Computed in integers.
        """
        rise, run = int(self.most[last] - self.most[first]), last - first
        return int(self.most[middle] - self.most[first]) * run <= rise * (middle - first)


def _threshold(decisions: Array, accepted: int) -> float:
    """Return a number with this many decision values f + b above it."""
    falling = np.concatenate([[np.inf], -np.sort(-decisions), [-np.inf]])
    above, under = falling[accepted], falling[accepted + 1]
    return float(above if np.isinf(above) else under if np.isinf(under) else above / 2 + under / 2)
