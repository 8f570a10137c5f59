"""Metrics of f = g / lambda on validation points, along a segment of linear g.

    signs and orders of f    change where a value of g, or a difference of two,
                             crosses 0; an accuracy is constant in between
    |y - f|, (y - f)^2       are convex in 1 / lambda, because f is affine in it; the
                             minimum is at an end, a breakpoint or the vertex

A metric returns breakpoints for one segment: lambdas (k,), decreasing, and scores (k,).
The best score is at a breakpoint, and between two neighbouring breakpoints with equal
scores it is constant. A step has two breakpoints at one lambda. A score reached only at
one lambda, at a tie, has no breakpoint.

References
----------
Document P, section 5, validates at breakpoints; the orders of validation points change
between them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.labels import numbers, queries, relevances
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.rows.listed import Pairs, Signed, Tube
from equimargin.metrics import concordance
from equimargin.metrics.names import NAMES, RankMetric, find_rank_metric
from equimargin.selection.orders import SCORE_ROUNDING, Knots, exchanges, steps
from equimargin.selection.rank_metrics import AnyRankMetric
from equimargin.solvers.batches.votes import count_votes

NO_POINT = "y is empty: there is no validation point"
"""Message about no points."""
KNOT_SPACING = 0.05
"""Largest distance in log lambda between points of an error curve, for drawing."""


class Metric(Protocol):
    """Interface of the metrics of f on validation points.

    Parameters
    ----------
    name : str
        Key of `METRIC_OF_NAME`, or name of a metric of rankings.
    larger_is_better : bool
        True for an accuracy, False for an error.
    """

    name: str
    larger_is_better: bool

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Return the breakpoints of the score on a segment.

        Parameters
        ----------
        a, b : float
            Lambdas at the ends, 0 < b <= a.
        ga, gb : ndarray of shape (n,)
            g at the ends.

        Returns
        -------
        tuple of ndarray of shape (k,)
            Lambdas, decreasing, and scores.
        """


class PairwiseAccuracy:
    """Share of the pairs y_i > y_j of one query with f_i > f_j.

    As `metrics.pairwise_accuracy`; a tie f_i = f_j throughout the segment counts 1/2.

    Raises
    ------
    ValueError
        If there is no pair.
    """

    name, larger_is_better = "pairwise_accuracy", True

    def __init__(self, y: Array, query: Index) -> None:
        self.y, self.query = y, query
        self.pairs = int(concordance(y, y, query).pairs.sum())
        if not self.pairs:
            raise ValueError(
                "the validation points hold no pair of one query with different y, so that "
                "no order can be judged"
            )
        self._ranks: Index = np.zeros(0, dtype=np.int64)
        self._twice_right = 0

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        ranks, last, i, j, lams = exchanges(a, b, ga, gb, self.query, self.y)
        if not np.array_equal(ranks, self._ranks):
            counts = concordance(self.y, ranks, self.query)
            self._twice_right = int((2 * counts.concordant + counts.tied).sum())
        at_first = self._twice_right
        self._ranks = last
        gains = np.where(self.y[i] > self.y[j], 2, -2)
        self._twice_right += int(gains.sum())
        lams, right = steps(a, b, lams, at_first, gains)
        return lams, right / (2 * self.pairs)


class Accuracy:
    """Share of the points whose label y = -1 or +1 is the sign of f; that of 0 is +1."""

    name, larger_is_better = "accuracy", True

    def __init__(self, y: Array, query: Index) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError("accuracy needs validation labels -1 and +1")
        self.positive = y > 0

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        ga, gb = (np.where(np.abs(g) <= SCORE_ROUNDING * np.abs(g).max(), 0.0, g) for g in (ga, gb))
        right = (np.where(ga == 0, gb, ga) >= 0) == self.positive
        crossing = np.sign(ga) * np.sign(gb) < 0
        before, after = ga[crossing], gb[crossing]
        lams, counts = steps(
            a,
            b,
            a + (b - a) * (before / (before - after)),
            int(right.sum()),
            np.where(right[crossing], -1, 1),
        )
        return lams, counts / len(self.positive)


class VoteAccuracy:
    """Share of the points whose class has the most votes of all pairs of classes.

    g holds the values of the pairs (0, 1), (0, 2), ..., (1, 2), ... in turn, each at all
    points. Ties of votes are broken as in `count_votes`, by sums of decision values, so
    that a prediction changes where a value or a difference of two sums crosses 0.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Classes of the points, 0, ..., k - 1.
    k : int
        Number of classes, at least 3.

    Raises
    ------
    ValueError
        If there is no point, or a class is another number.
    """

    name, larger_is_better = "accuracy", True

    def __init__(self, y: ArrayLike, k: int) -> None:
        codes = np.asarray(y)
        if codes.size == 0:
            raise ValueError(NO_POINT)
        invalid = codes[~np.isin(codes, np.arange(k))]
        if len(invalid):
            raise ValueError(
                f"classes must be whole numbers from 0 to {k - 1}, not {format_value(invalid[0])}"
            )
        self.y: Index = codes.astype(np.int64)
        self.k = k
        # Signs of the pairs' values in the sum of each class, (k, pairs).
        pairs = list(combinations(range(k), 2))
        self._signs = np.zeros((k, len(pairs)))
        for at, (first, second) in enumerate(pairs):
            self._signs[first, at], self._signs[second, at] = -1, 1
        self._differences = self._signs[[i for i, _ in pairs]] - self._signs[[j for _, j in pairs]]

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        ga, gb = (
            np.where(np.abs(g) <= SCORE_ROUNDING * np.abs(g).max(), 0.0, g).reshape(-1, len(self.y))
            for g in (ga, gb)
        )
        before, after = (np.concatenate([g, self._differences @ g]) for g in (ga, gb))
        crossing = np.sign(before) * np.sign(after) < 0
        right = self._right((ga + gb) / 2, self.y)
        lams, gains = [np.zeros(0)], [np.zeros(0, dtype=np.int64)]
        for point in np.flatnonzero(crossing.any(axis=0)).tolist():
            at = crossing[:, point]
            u, w = before[at, point], after[at, point]
            # Shares of the way from a to b at which the prediction may change.
            shares = np.sort(u / (u - w))
            ends = np.concatenate([[0.0], shares, [1.0]])
            middle = (ends[1:] + ends[:-1]) / 2
            g = ga[:, [point]] + middle * (gb - ga)[:, [point]]
            pieces = self._right(g, np.full(len(middle), self.y[point]))
            right[point] = pieces[0]
            lams.append(a + (b - a) * shares)
            values = pieces.astype(np.int64)
            gains.append(values[1:] - values[:-1])
        found, counts = steps(a, b, np.concatenate(lams), int(right.sum()), np.concatenate(gains))
        return found, counts / len(self.y)

    def _right(self, g: Array, y: Index) -> NDArray[np.bool_]:
        """Return True where the votes of values (pairs, n) are right."""
        return np.asarray(count_votes(g.T, self.k).argmax(axis=1) == y)


class SquaredError:
    """Mean squared error, mean (y_i - f_i)^2."""

    name, larger_is_better = "mean_squared_error", False

    def __init__(self, y: Array, query: Index) -> None:
        self.y = y

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        r, d = self.y - ga / a, gb / b - ga / a
        curvature = float(d @ d)
        return _knots(
            a,
            b,
            r,
            d,
            float(r @ d) / curvature if curvature > 0 else 0.0,
            lambda r: float(r @ r) / len(r),
        )


class AbsoluteError:
    """Mean absolute error outside a tube, mean (|y_i - f_i| - epsilon)_+.

    Parameters
    ----------
    epsilon : float
        Half width of the tube, at least 0, in the units of y.
    """

    name, larger_is_better = "mean_absolute_error", False

    def __init__(self, y: Array, query: Index, epsilon: float = 0.0) -> None:
        self.y, self.epsilon = y, epsilon

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        r, d = self.y - ga / a, gb / b - ga / a
        size = np.abs(d[d != 0])
        # A nondifferentiable point that overflows is outside the segment.
        with np.errstate(over="ignore"):
            kinks = np.concatenate(
                [(r - self.epsilon)[d != 0] / d[d != 0], (r + self.epsilon)[d != 0] / d[d != 0]]
            )
        order = np.argsort(kinks)
        # The slope of a point's error increases from -|d_i| to 0 and to |d_i|.
        slopes = np.cumsum(np.tile(size, 2)[order]) - size.sum()
        least = float(kinks[order[np.searchsorted(slopes[:-1], 0.0)]]) if len(kinks) else 0.0
        return _knots(
            a, b, r, d, least, lambda r: float(np.maximum(np.abs(r) - self.epsilon, 0.0).mean())
        )


class EpsilonInsensitive(AbsoluteError):
    """Mean (|y_i - f_i| - epsilon)_+, the loss of the regression problem itself."""

    name = "epsilon_insensitive"


METRICS = (PairwiseAccuracy, Accuracy, SquaredError, AbsoluteError, EpsilonInsensitive)
METRIC_OF_NAME: Mapping[str, Callable[..., Metric]] = {metric.name: metric for metric in METRICS}
"""Metrics of points, by name; `find_rank_metric` has those of rankings."""


def find_metric(
    problem: Problem, metric: str | RankMetric, y: ArrayLike, qid: ArrayLike | None
) -> Metric:
    """Return the metric for validation points of a problem.

    Parameters
    ----------
    problem : Problem
        Problem. Accuracy is for classification, errors are for regression, metrics of
        `equimargin.metrics` for rankings, and pairwise accuracy for every task.
    metric : str or callable
        Name, or for rankings a function of relevances, values and queries that returns
        a `PerQuery`; larger must be better. "auto" is the usual metric of the task.
    y : array-like of shape (n,)
        Labels, targets or relevances.
    qid : array-like of shape (n,) or None
        Queries; None is a single query.

    Returns
    -------
    Metric
        Metric of the points.

    Raises
    ------
    ValueError
        If the metric is unknown or of another task, shapes do not fit, numbers are not
        finite, or no point or pair can be scored.
    """
    if not (isinstance(metric, str) or callable(metric)):
        raise ValueError(f"metric must be a name or a function, not {format_value(metric)}")
    rows = problem.rows
    if isinstance(rows, Signed):
        fitting = ["accuracy", "pairwise_accuracy"]
    elif isinstance(rows, Tube):
        fitting = [
            "mean_squared_error",
            "mean_absolute_error",
            "epsilon_insensitive",
            "pairwise_accuracy",
        ]
    else:
        fitting = ["pairwise_accuracy"]
    name = (
        fitting[0]
        if metric == "auto"
        else metric
        if isinstance(metric, str)
        else getattr(metric, "__name__", "metric")
    )
    # Metrics of rankings are valid only for problems whose rows are pairs.
    of_ranks = (
        (find_rank_metric(metric) if isinstance(metric, str) else metric)
        if isinstance(rows, Pairs) and metric not in fitting
        else None
    )
    # A function is one of rankings, also if it has the name of a metric of points.
    what = "metric" if isinstance(metric, str) else "function"
    if of_ranks is None and (what == "function" or name not in fitting):
        known = ["auto", *fitting]
        if isinstance(rows, Pairs):
            known += [name for name in NAMES if name not in fitting]
        raise ValueError(
            f"the {what} {name!r} does not apply to a {problem.family} problem: choose one of "
            f"{', '.join(known)}"
        )
    n = np.asarray(y).size
    if n == 0:
        raise ValueError(NO_POINT)
    target = (relevances if isinstance(rows, Pairs) and of_ranks is None else numbers)(y, n, "y")
    query = np.zeros(n, dtype=np.int64) if qid is None else queries(qid, n)[1]
    if of_ranks is not None:
        return AnyRankMetric(target, query, of_ranks, name)
    parameters: dict[str, Any] = (
        {"epsilon": rows.epsilon}
        if name == "epsilon_insensitive" and isinstance(rows, Tube)
        else {}
    )
    return METRIC_OF_NAME[name](target, query, **parameters)


def _knots(
    a: float, b: float, r: Array, d: Array, share: float, error: Callable[[Array], float]
) -> Knots:
    """Return the breakpoints of an error: ends, points for drawing and the minimum.

    Residuals are r at lambda = a and r - d at b. The minimum is at a share of the way
    from 1 / a to 1 / b, if 0 < share < 1.
    """
    lams = np.geomspace(a, b, 2 + int(np.log(a / b) / KNOT_SPACING))
    if 0 < share < 1:
        lams = -np.sort(-np.append(lams, a * b / (b + share * (a - b))))
    shares = (a / lams - 1) / (a / b - 1) if b < a else np.zeros(len(lams))
    return lams, np.array([error(r - s * d) for s in shares])
