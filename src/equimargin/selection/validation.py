"""Metrics of f = g / lambda on validation points, at every lambda of a segment on which g is linear.

    signs and orders of f    change where a value of g, or a difference of two, crosses 0; the share of right ones is constant in between
    errors |y - f|, (y - f)^2    are convex in 1 / lambda, because f is affine in it; the least error is at an end, a kink or the vertex

A metric returns knots for one segment: lambdas (k,), falling, and scores (k,). The best score is at a knot, and between two neighbouring
knots with the same score it is constant. A step has two knots at one lambda. A score that holds only at a single lambda, where points tie,
has no knot.

Source: document P, section 5, validates at breakpoints; the orders of validation points change between them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.labels import Index, numbers, queries
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Signed, Tube
from equimargin.metrics import concordance

Knots = tuple[Array, Array]

LAMBDA_RESOLUTION = 1e-9
"""Relative difference of two lambdas below which they count as one: the path itself is not known more accurately."""
SCORE_ROUNDING = 1e-12
"""Difference of two values of g, over the largest |g|, up to which they count as equal: it is made by rounding."""
KNOT_SPACING = 0.05
"""Largest distance between knots of an error, in log lambda, so that its curve looks smooth."""


class Metric(Protocol):
    """A metric of f on validation points.

    name : as in METRIC_OF_NAME.  larger_is_better : True for a share of right answers, False for an error.
    """

    name: str
    larger_is_better: bool

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Knots of the score for lambda from a down to b, 0 < b <= a, where g (n,) goes from ga to gb."""


class PairwiseAccuracy:
    """The share of the pairs y_i > y_j of one query with f_i > f_j; 1/2 where f_i = f_j throughout. `metrics.pairwise_accuracy`.

    Raises
    ------
    ValueError : no pair at all.
    """

    name, larger_is_better = "pairwise_accuracy", True

    def __init__(self, y: Array, query: Index) -> None:
        self.y, self.query = y, query
        self.pairs = int(concordance(y, y, query).pairs.sum())
        if not self.pairs:
            raise ValueError("the validation points hold no pair of one query with different y, so that no order can be judged")
        self._ranks: Index = np.zeros(0, dtype=np.int64)
        self._twice_right = 0

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """In O(n log n + crossings)."""
        ga, gb = _levelled(ga), _levelled(gb)
        order, ranks = self._sorted(ga, gb)
        if not np.array_equal(ranks, self._ranks):
            counts = concordance(self.y, ranks, self.query)
            self._twice_right = int((2 * counts.concordant + counts.tied).sum())
        at_first = self._twice_right
        _, self._ranks = self._sorted(gb, ga)
        i, j = _inversions(order, self._ranks, self.y)
        before, after = ga[j] - ga[i], gb[j] - gb[i]
        gains = np.where(self.y[i] > self.y[j], 2, -2)
        self._twice_right += int(gains.sum())
        lams, right = _steps(a, b, a + (b - a) * (before / (before - after)), at_first, gains)
        return lams, right / (2 * self.pairs)

    def _sorted(self, near: Array, far: Array) -> tuple[Index, Index]:
        """The points by query and by g just beyond its values `near`, on the way to `far`: their order, and ranks in it, (n,) each."""
        order = np.lexsort((far, near, self.query))
        new = np.zeros(len(order), dtype=np.int64)
        for key in (self.query, near, far):
            new[1:] |= key[order[1:]] != key[order[:-1]]
        ranks = np.empty_like(new)
        ranks[order] = np.cumsum(new)
        return order, ranks


class Accuracy:
    """The share of the labels y = -1, +1 that are the sign of f, which is +1 where f = 0."""

    name, larger_is_better = "accuracy", True

    def __init__(self, y: Array, query: Index) -> None:
        if not np.isin(y, (-1.0, 1.0)).all():
            raise ValueError("accuracy needs validation labels -1 and +1")
        self.positive = y > 0

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """In O(n + crossings log crossings)."""
        ga, gb = (np.where(np.abs(g) <= SCORE_ROUNDING * np.abs(g).max(), 0.0, g) for g in (ga, gb))
        right = (np.where(ga == 0, gb, ga) >= 0) == self.positive
        crossing = np.sign(ga) * np.sign(gb) < 0
        before, after = ga[crossing], gb[crossing]
        lams, counts = _steps(a, b, a + (b - a) * (before / (before - after)), int(right.sum()), np.where(right[crossing], -1, 1))
        return lams, counts / len(self.positive)


class SquaredError:
    """mean (y_i - f_i)^2."""

    name, larger_is_better = "mean_squared_error", False

    def __init__(self, y: Array, query: Index) -> None:
        self.y = y

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Ends and vertex."""
        r, d = self.y - ga / a, gb / b - ga / a
        curvature = float(d @ d)
        return _knots(a, b, r, d, float(r @ d) / curvature if curvature > 0 else 0.0, lambda r: float(r @ r) / len(r))


class AbsoluteError:
    """mean (|y_i - f_i| - epsilon)_+.

    Parameters
    ----------
    epsilon : >= 0, in the units of y.
    """

    name, larger_is_better = "mean_absolute_error", False

    def __init__(self, y: Array, query: Index, epsilon: float = 0.0) -> None:
        self.y, self.epsilon = y, epsilon

    def along(self, a: float, b: float, ga: Array, gb: Array) -> Knots:
        """Ends and the kink where the slope turns from negative to positive."""
        r, d = self.y - ga / a, gb / b - ga / a
        size = np.abs(d[d != 0])
        with np.errstate(over="ignore"):  # a kink so far away is never reached
            kinks = np.concatenate([(r - self.epsilon)[d != 0] / d[d != 0], (r + self.epsilon)[d != 0] / d[d != 0]])
        order = np.argsort(kinks)
        slopes = np.cumsum(np.tile(size, 2)[order]) - size.sum()  # that of a point goes from -|d_i| over 0 to |d_i|
        least = float(kinks[order[np.searchsorted(slopes[:-1], 0.0)]]) if len(kinks) else 0.0
        return _knots(a, b, r, d, least, lambda r: float(np.maximum(np.abs(r) - self.epsilon, 0.0).mean()))


class EpsilonInsensitive(AbsoluteError):
    """mean (|y_i - f_i| - epsilon)_+ with the epsilon of the regression problem: the loss that the problem itself minimises."""

    name = "epsilon_insensitive"


METRIC_OF_NAME: Mapping[str, Callable[..., Metric]] = {
    "pairwise_accuracy": PairwiseAccuracy,
    "accuracy": Accuracy,
    "mean_squared_error": SquaredError,
    "mean_absolute_error": AbsoluteError,
    "epsilon_insensitive": EpsilonInsensitive,
}
"""The metrics that can be followed along a path, by their names."""


def metric_of(problem: MarginProblem, metric: str, y: ArrayLike, qid: ArrayLike | None) -> Metric:
    """The metric of that name for validation points of a problem; "auto" is the usual metric of its task.

    Parameters
    ----------
    problem : accuracy is for classification, errors are for regression, and pairwise accuracy is for every task.
    y : (n,) labels, targets or relevances.  qid : (n,) queries; None: a single one.

    Raises
    ------
    ValueError : an unknown metric, or one of another task; shapes that do not fit, numbers that are not finite, nothing to judge by.
    """
    rows = problem.rows
    if isinstance(rows, Signed):
        fitting = ["accuracy", "pairwise_accuracy"]
    elif isinstance(rows, Tube):
        fitting = ["mean_squared_error", "mean_absolute_error", "epsilon_insensitive", "pairwise_accuracy"]
    else:
        fitting = ["pairwise_accuracy"]
    name = fitting[0] if metric == "auto" else metric
    if name not in fitting:
        raise ValueError(f"the metric {metric!r} is not one of a {problem.family} problem: choose of {', '.join(['auto', *fitting])}")
    n = np.asarray(y).size
    if n == 0:
        raise ValueError("y is empty: there is no validation point")
    target = numbers(y, n, "y")
    query = np.zeros(n, dtype=np.int64) if qid is None else queries(qid, n)[1]
    parameters: dict[str, Any] = {"epsilon": rows.epsilon} if name == "epsilon_insensitive" and isinstance(rows, Tube) else {}
    return METRIC_OF_NAME[name](target, query, **parameters)


def _levelled(g: Array) -> Array:
    """g, (n,), with values that only rounding tells apart made equal."""
    order = np.argsort(g)
    new = np.append(True, np.diff(g[order]) > SCORE_ROUNDING * np.abs(g).max())
    level = np.empty_like(g)
    level[order] = g[order][new][np.cumsum(new) - 1]
    return level


def _steps(a: float, b: float, lams: Array, first: int, gains: Index) -> tuple[Array, Index]:
    """Knots of a count that starts with `first` and changes by `gains` at lambdas; lambdas that count as one make a single step."""
    order = np.argsort(-lams, kind="stable")
    ends = np.concatenate([[a], lams[order], [b]])
    counts = first + np.concatenate([[0], np.cumsum(gains[order])])
    wide = ends[:-1] - ends[1:] > LAMBDA_RESOLUTION * a
    wide |= a == b
    return np.stack([ends[:-1][wide], ends[1:][wide]], axis=1).ravel(), np.repeat(counts[wide], 2)


def _knots(a: float, b: float, r: Array, d: Array, share: float, error: Callable[[Array], float]) -> Knots:
    """Knots of an error whose residuals go from r at lambda = a to r - d at b: the ends, some for drawing, and one at its least value.

    The least value is at a share of the way from 1 / a to 1 / b, if 0 < share < 1.
    """
    lams = np.geomspace(a, b, 2 + int(np.log(a / b) / KNOT_SPACING))
    if 0 < share < 1:
        lams = -np.sort(-np.append(lams, a * b / (b + share * (a - b))))
    shares = (a / lams - 1) / (a / b - 1) if b < a else np.zeros(len(lams))
    return lams, np.array([error(r - s * d) for s in shares])


@jit
def _inversions(order: Index, ranks: Index, y: Array) -> tuple[Index, Index]:
    """All pairs (i, j) with i before j in `order`, i after j in `ranks`, and y_i != y_j: (k,) and (k,), in O(n + inversions)."""
    i, j = np.empty(16, np.int64), np.empty(16, np.int64)
    count = 0
    now = order.copy()
    for place in range(1, now.size):
        moved = now[place]
        k = place
        while k > 0 and ranks[now[k - 1]] > ranks[moved]:
            now[k] = now[k - 1]
            k -= 1
            if y[now[k]] != y[moved]:
                if count == i.size:
                    i, j = np.append(i, np.empty_like(i)), np.append(j, np.empty_like(j))
                i[count], j[count] = now[k], moved
                count += 1
        now[k] = moved
    return i[:count], j[:count]


__all__ = ["METRIC_OF_NAME", "AbsoluteError", "Accuracy", "EpsilonInsensitive", "Metric", "PairwiseAccuracy", "SquaredError", "metric_of"]
