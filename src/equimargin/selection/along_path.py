"""Exact choice of lambda on a regularisation path, between breakpoints too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations.kernels.features import check_columns
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array, is_sparse
from equimargin.metrics.names import RankMetric
from equimargin.selection.orders import LAMBDA_RESOLUTION, Knots
from equimargin.selection.validation import Metric, VoteAccuracy, find_metric
from equimargin.solvers.path import AnyPath, OneNormPath


class NothingToChoose(ValueError):
    """No lambda above 0, a range of lambdas that is too short, or an undefined metric."""


class SameEverywhere(NothingToChoose):
    """The function is the same constant at every lambda: no lambda is better."""


class NoBreakpoint(NothingToChoose):
    """The path ended before its first breakpoint: no lambda is known."""


@dataclass(frozen=True)
class SelectionResult:
    """Best lambda of a path.

    Parameters
    ----------
    lam : float
        Best lambda.
    score : float
        Value of the metric at `lam`.
    interval : tuple of float
        Ends (low, high) of the interval around `lam` that has the same score.
    metric : str
        Name of the metric.
    larger_is_better : bool
        True for an accuracy, False for an error.
    """

    lam: float
    score: float
    interval: tuple[float, float]
    metric: str
    larger_is_better: bool

    @property
    def C(self) -> float:
        """Cost per unit of slack, 1 / lambda."""
        return 1 / self.lam


class Curve(NamedTuple):
    """Score as a function of lambda, piecewise linear between its breakpoints.

    A step has two breakpoints at one lambda.

    Parameters
    ----------
    lambdas : ndarray of shape (k,)
        Breakpoints, decreasing.
    scores : ndarray of shape (k,)
        Scores at the breakpoints.
    metric, larger_is_better
        See `SelectionResult`.
    """

    lambdas: Array
    scores: Array
    metric: str
    larger_is_better: bool

    @property
    def best(self) -> SelectionResult:
        """Result of `best` for the path and points of the curve."""
        sign, runs = 1 if self.larger_is_better else -1, _runs(self)
        chosen = max(
            (run for run in runs if not np.isnan(run.score)),
            key=lambda run: (sign * run.score, run.width),
            default=None,
        )
        if chosen is None and runs:
            raise NothingToChoose(
                f"{self.metric} is undefined at every lambda of the path; choose another metric, "
                f"or other validation points"
            )
        if chosen is None:
            raise NothingToChoose(
                "the path is too short: the relative difference of its lambdas is below 1e-9"
            )
        lam = float(np.clip(np.sqrt(chosen.low) * np.sqrt(chosen.high), chosen.low, chosen.high))
        return SelectionResult(
            lam, chosen.score, (chosen.low, chosen.high), self.metric, self.larger_is_better
        )


def best(
    path: AnyPath,
    X_validation: Any,
    y_validation: ArrayLike,
    metric: str | RankMetric = "auto",
    qid: ArrayLike | None = None,
) -> SelectionResult:
    """Return the lambda whose decision function f is best on validation points.

    All lambdas from the first breakpoint to the last one above 0 are compared. Between
    breakpoints g = lambda f is linear in lambda, and f is affine in 1 / lambda; f of a
    one-norm problem is constant there. The signs, orders and errors of f at all these
    lambdas follow from that. If several intervals share the best score, the geometric
    mean of the ends of the widest one in log lambda is returned.

    Parameters
    ----------
    path : AnyPath
        Result of `regularization_path`.
    X_validation : array-like of shape (n, d)
        Points, or (n, m) kernel values for a precomputed kernel.
    y_validation : array-like of shape (n,)
        Labels -1 and +1, targets, or relevances.
    metric : str or callable
        "accuracy", "pairwise_accuracy", "mean_squared_error", "mean_absolute_error",
        "epsilon_insensitive"; "auto": accuracy for classification, mean_squared_error
        for regression, pairwise_accuracy for ranking. For rankings also "mean_ndcg",
        "kendall_tau", "ndcg", "map", "mrr", "err", "precision" and "recall", all but the
        first two also cut as in "ndcg@10", or any function of relevances, values and
        queries that returns a `metrics.PerQuery` and depends on the order of the values
        alone.
    qid : array-like of shape (n,) or None
        Queries of a ranking; None is a single query.

    Returns
    -------
    SelectionResult
        Best lambda. Excluded are scores reached only at one lambda, at a tie, intervals
        shorter than 1e-9 of lambda, and lambdas at which the metric is undefined, such
        as Kendall's tau of a constant f.

    Raises
    ------
    ValueError
        If the metric is of another task, shapes do not fit, or no point or pair can be
        scored.
    NothingToChoose, NoBreakpoint
        If the path has no breakpoint above 0 or is too short, or the metric is
        undefined on all of it; both are ValueErrors.

    References
    ----------
    Document P, section 5, which validates at breakpoints only.
    """
    return score_along(path, X_validation, y_validation, metric, qid).best


def score_along(
    path: AnyPath,
    X_validation: Any,
    y_validation: ArrayLike,
    metric: str | RankMetric = "auto",
    qid: ArrayLike | None = None,
) -> Curve:
    """Return the score on validation points at all lambdas, as a curve.

    Parameters
    ----------
    path, X_validation, y_validation, metric, qid
        See `best`.

    Returns
    -------
    Curve
        For an accuracy and a metric of rankings, all steps. For an error, the
        breakpoints, the minimal errors between them, and further points for drawing.
        NaN if the metric is undefined.

    Raises
    ------
    ValueError
        See `best`.
    """
    judge = find_metric(path.problem, metric, y_validation, qid)
    return _curve(judge, _knots(judge, [followed_at(path, X_validation, y_validation)]))


def score_votes_along(
    paths: Sequence[AnyPath], X_validation: Any, classes: ArrayLike, k: int
) -> Curve:
    """Return the accuracy by votes at all lambdas, which all pairs of classes share.

    Where the optimal bias of a pair is not unique, that of its path is used.

    Parameters
    ----------
    paths : sequence of AnyPath
        Paths of the pairs of classes (0, 1), (0, 2), ..., (1, 2), ...; the second of a
        pair has the label +1.
    X_validation : array-like of shape (n, d)
        Points; no paths of precomputed kernels, whose points differ.
    classes : array-like of shape (n,)
        Classes of the points, 0, ..., k - 1.
    k : int
        Number of classes, at least 3.

    Returns
    -------
    Curve
        All steps of the accuracy. `.best` is the best lambda.

    Raises
    ------
    ValueError
        If k is below 3, there is not a path for every pair, a class is another number,
        or as in `best`.
    """
    if k < 3:
        raise ValueError(f"k must be at least 3, not {k}; use score_along for two classes")
    if len(paths) != k * (k - 1) // 2:
        raise ValueError(
            f"{k} classes have {k * (k - 1) // 2} pairs, and paths must have one for each, not "
            f"{len(paths)}"
        )
    judge = VoteAccuracy(classes, k)
    lines = [followed_at(path, X_validation, judge.y) for path in paths]
    return _curve(judge, _knots(judge, lines))


class Steps(NamedTuple):
    """Piecewise constant f of a path, with its intercept, at some points.

    Parameters
    ----------
    lambdas : ndarray of shape (T,)
        Lower ends of the segments, decreasing; the last may be 0.
    values : ndarray of shape (T, n)
        f on the segments.
    stopped : str
        Reason why the path ends.
    """

    lambdas: Array
    values: Array
    stopped: str

    def ends(self, a: float, b: float) -> tuple[Array, Array]:
        """Return g = lambda f at the ends of an interval inside a segment.

        Parameters
        ----------
        a, b : float
            Ends, b <= a.

        Returns
        -------
        tuple of ndarray of shape (n,)
            g at a and at b.
        """
        f = self.values[int(np.searchsorted(-self.lambdas, -b))]
        return a * f, b * f


class Lines(NamedTuple):
    """Piecewise linear g of a path, with its intercept, at some points.

    Parameters
    ----------
    lambdas : ndarray of shape (T,)
        Breakpoints, decreasing.
    values : ndarray of shape (T, n)
        g at the breakpoints.
    level : float
        Slope of g above the first lambda.
    stopped : str
        Reason why the path ends.
    """

    lambdas: Array
    values: Array
    level: float
    stopped: str

    def at(self, lam: float) -> Array:
        """Return g at a lambda.

        Parameters
        ----------
        lam : float
            Lambda, not below the last breakpoint.

        Returns
        -------
        ndarray of shape (n,)
            Values of g.
        """
        if lam >= self.lambdas[0]:
            return np.asarray(self.values[0] + self.level * (lam - self.lambdas[0]))
        t = int(np.searchsorted(-self.lambdas, -lam, side="right")) - 1
        if lam == self.lambdas[t]:
            return np.asarray(self.values[t])
        share = (lam - self.lambdas[t + 1]) / (self.lambdas[t] - self.lambdas[t + 1])
        return np.asarray(share * self.values[t] + (1 - share) * self.values[t + 1])

    def ends(self, a: float, b: float) -> tuple[Array, Array]:
        """Return g at the ends of an interval between two breakpoints.

        Parameters
        ----------
        a, b : float
            Ends, b <= a.

        Returns
        -------
        tuple of ndarray of shape (n,)
            g at a and at b.
        """
        return self.at(a), self.at(b)


def followed_at(path: AnyPath, X: Any, y: ArrayLike) -> Lines | Steps:
    """Return g of a path at validation points.

    Equal points get bitwise equal values. Matrix products do not guarantee that, and a
    difference in the last bit would order the points.

    Parameters
    ----------
    path : AnyPath
        Result of `regularization_path`.
    X : array-like of shape (n, d)
        Points, or (n, m) kernel values for a precomputed kernel.
    y : array-like of shape (n,)
        Labels, targets or relevances, of which only the number is used.

    Returns
    -------
    Lines or Steps
        Values along the path; `Steps` for a one-norm problem.

    Raises
    ------
    ValueError
        If shapes do not fit, or f is not finite.
    NoBreakpoint
        If the path has no breakpoint.
    """
    if len(path) == 0 and not path.complete:
        raise NoBreakpoint(f"the path has no breakpoint: {path.stopped}")
    points = X if is_sparse(X) else check_reals(X, "X")
    if (
        points.ndim != 2
        or points.shape[1] != path.problem.X.shape[1]
        or points.shape[0] != np.asarray(y).size
    ):
        wanted = (np.asarray(y).size, path.problem.X.shape[1])
        raise ValueError(
            f"the validation points must be of shape {wanted}, with a row per entry of y and the "
            f"columns of the training points, not {points.shape}"
        )
    check_columns(X, path.problem.feature_names)
    values_at = path.functions if isinstance(path, OneNormPath) else path.values
    if is_sparse(X):
        values = values_at(points)
    else:
        points, place = np.unique(points, axis=0, return_inverse=True)
        values = values_at(points)[:, place.ravel()]
    if not np.isfinite(values).all():
        raise ValueError(
            "f is not finite at a validation point; remove rows with NaN or infinite numbers first"
        )
    if isinstance(path, OneNormPath):
        # Without rows f is 0 at every lambda.
        if not len(path):
            return Steps(np.zeros(1), np.zeros((1, points.shape[0])), path.stopped)
        return Steps(path.lambdas, values, path.stopped)
    return Lines(path.lambdas, values, path.level, path.stopped)


def _knots(judge: Metric, parts: Sequence[Lines | Steps]) -> Iterator[Knots]:
    """Yield the breakpoints of the score on the points of all parts, by segment.

    A part is a path at its own points, one per fold. Only lambdas that all parts reach
    are covered.
    """
    lambdas = np.unique(np.concatenate([part.lambdas for part in parts]))[::-1]
    reached = max(float(part.lambdas[-1]) for part in parts)
    lambdas = lambdas[(lambdas > 0) & (lambdas >= reached)]
    if not len(lambdas):
        raise SameEverywhere(f"there is no lambda to choose: {parts[0].stopped}")
    # f of a one-norm problem changes at its last breakpoint above 0, and is constant from
    # there to lambda = 0, which has no logarithm. f of lines does not change there.
    if reached == 0 and any(isinstance(part, Steps) for part in parts):
        lambdas = np.append(lambdas, lambdas[-1] / 2)
    if lambdas[0] - lambdas[-1] <= LAMBDA_RESOLUTION * lambdas[0]:
        lambdas = lambdas[:1]
    descending = lambdas.tolist()
    for a, b in pairwise(descending) if len(descending) > 1 else [(descending[0], descending[0])]:
        ga, gb = zip(*(part.ends(a, b) for part in parts), strict=True)
        yield judge.along(a, b, np.concatenate(ga), np.concatenate(gb))


class _Run(NamedTuple):
    """Interval of lambdas with one score."""

    score: float
    high: float
    low: float

    @property
    def width(self) -> float:
        return float(np.log(self.high / self.low))


def _runs(curve: Curve) -> list[_Run]:
    """Return the maximal intervals of lambdas with equal scores."""
    lambdas, scores = curve.lambdas, curve.scores
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])[: len(scores)])
    ends = np.append(starts[1:], len(scores))[: len(starts)] - 1
    return list(
        map(_Run, scores[starts].tolist(), lambdas[starts].tolist(), lambdas[ends].tolist())
    )


def _curve(judge: Metric, segments: Iterable[Knots]) -> Curve:
    lambdas, scores = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    return Curve(lambdas, scores, judge.name, judge.larger_is_better)
