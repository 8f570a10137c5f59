"""The ROC frontier of a path: the best pairs of false-positive and true-positive rate that any lambda and any threshold reach.

A threshold accepts the points whose decision value, f + b, is above it. What a
threshold can accept changes along lambda only where two points change places, and then
in one set alone: the one whose lowest member was the other of the two. So the whole
path costs hardly more than its swaps.

Source: document P, section 3: "the exact decision frontier can be calculated via a ROC
curve", and section 6, "at each level".
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
    """The corners of the upper convex hull of all (false-positive rate, true-positive rate) of a path, the first rate going from 0 to 1.

    Between two corners lies what deciding between them at random reaches; no lambda and no threshold reaches a point above.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : ndarray of shape (k,)
        rising.
    lambdas : ndarray of shape (k,)
        Where each corner is reached.
    intervals : ndarray of shape (k, 2)
        Two lambdas around it between which the corner is reached; beyond them it may
        be, too.
    thresholds : ndarray of shape (k,)
        Of f + b, the decision function, at these lambdas; a point above one is
        accepted. Infinity accepts nothing, and -infinity all.
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
        """The area below the frontier, in [1/2, 1]."""
        return float(np.trapezoid(self.true_positive_rate, self.false_positive_rate))


def roc_frontier(path: AnyPath, X_validation: Any, y_validation: ArrayLike) -> Frontier:
    """The ROC frontier of a path on validation points: of a classification, or of a ranking with two levels.

    Parameters
    ----------
    path : AnyPath
        Of `regularization_path`.
    X_validation : Any
        As in `best`.
    y_validation : array-like of shape (n,)
        Two different numbers, of which the larger one is of the positive points. They
        are of one query.

    Returns
    -------
    Frontier
        Over all lambdas from the first breakpoint to the last one above 0, as in
        `best`. A pair that holds at a single lambda only, where points tie, is not
        taken.

    Raises
    ------
    ValueError
        Other than two levels, shapes that do not fit.
    NothingToChoose, NoBreakpoint
        As in `best`.
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
    """The most positive points that are accepted together with a number of negative ones; a `Metric` that has no score and keeps these.

    most : (negatives + 1,) -1 where that number is never accepted.  intervals : (negatives + 1, 2) high and low, where it is.
    below : (n,) the number of points below each when something was kept last; -1 before.
    """

    name, larger_is_better = "roc_frontier", True

    def __init__(self, positive: NDArray[np.bool_]) -> None:
        self.positive = positive
        self.most = np.full(int((~positive).sum()) + 1, -1)
        self.intervals = np.ones((len(self.most), 2))
        self.below = np.full(len(positive), -1)

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Keep what is accepted between two lambdas, in O(n) for every swap."""
        n = len(ga)
        ranks, _, i, j, lams = exchanges(
            a, b, ga, gb, np.zeros(n, dtype=np.int64), np.arange(n, dtype=np.float64)
        )
        below = np.searchsorted(np.sort(ranks), ranks)
        events, ends, wide = pieces_between(a, b, lams)
        jumped = not np.array_equal(
            below, self.below
        )  # then others may be above a point that has as many below it as before
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
        """Count what thresholds just below some points accept; below : (n,) the number of points below each."""
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
        """The corners of the hull, and where they are reached."""
        false = np.flatnonzero(self.most >= 0)
        if not len(false):
            raise NothingToChoose(
                "the path is too short: its lambdas differ by less than 1e-9 of themselves"
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
        """Whether the middle of three is on or below the line between the others, in whole numbers."""
        rise, run = int(self.most[last] - self.most[first]), last - first
        return int(self.most[middle] - self.most[first]) * run <= rise * (middle - first)


def _threshold(decisions: Array, accepted: int) -> float:
    """Return a number with this many decision values, f + b, above it."""
    falling = np.concatenate([[np.inf], -np.sort(-decisions), [-np.inf]])
    above, under = falling[accepted], falling[accepted + 1]
    return float(above if np.isinf(above) else under if np.isinf(under) else above / 2 + under / 2)
