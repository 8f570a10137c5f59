"""The exactly best lambda of a regularisation path: the scores between breakpoints are compared, too."""

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
from equimargin.selection.orders import LAMBDA_RESOLUTION, Knots
from equimargin.selection.rank_metrics import RankMetric
from equimargin.selection.validation import Metric, find_metric
from equimargin.solvers.path import AnyPath, OneNormPath


class NothingToChoose(ValueError):
    """There is no best lambda, because the path has no lambda above 0 to choose from, or too short a range of them."""


class SameEverywhere(NothingToChoose):
    """The function is the same constant at every lambda, so that no lambda is better than another."""


class NoBreakpoint(NothingToChoose):
    """A path that ended before its first breakpoint: no lambda is known."""


@dataclass(frozen=True)
class SelectionResult:
    """The best lambda of a path.

    Parameters
    ----------
    lam : float
        The best lambda.
    score : float
        The value of the metric there.
    interval : tuple[float, float] of shape (low, high)
        The lambdas around it with the same score.
    metric : str
        Its name.
    larger_is_better : bool
        True for a share of right answers, False for an error.
    """

    lam: float
    score: float
    interval: tuple[float, float]
    metric: str
    larger_is_better: bool

    @property
    def C(self) -> float:
        """The cost of a unit of slack, 1 / lambda."""
        return 1 / self.lam


class Curve(NamedTuple):
    """A score as a function of lambda, to be drawn with straight lines between knots. A step is two knots at one lambda.

    Parameters
    ----------
    lambdas : ndarray of shape (k,)
        falling.
    scores : ndarray of shape (k,)
    metric, larger_is_better
        As of Selected.
    """

    lambdas: Array
    scores: Array
    metric: str
    larger_is_better: bool

    @property
    def best(self) -> SelectionResult:
        """As `best` of the same path and points."""
        return _selected(self)


def best(
    path: AnyPath,
    X_validation: Any,
    y_validation: ArrayLike,
    metric: str | RankMetric = "auto",
    qid: ArrayLike | None = None,
) -> SelectionResult:
    """The lambda whose f is best on validation points, among all from the first breakpoint to the last one above 0.

    Between breakpoints g = lambda f is linear in lambda, and f is affine in 1 / lambda; f of a one-norm problem is constant there. The
    signs, orders and errors of f at all these lambdas follow from that. Several intervals may share the best score; the geometric middle
    of the widest, in log lambda, is taken.

    Parameters
    ----------
    path : AnyPath
        Of `regularization_path`.
    X_validation : array-like of shape (n, d)
        Points, or (n, m) kernel values for a precomputed kernel.
    y_validation : array-like of shape (n,)
        Labels -1 and +1, targets, or relevances.
    qid : ArrayLike | None of shape (n,)
        Queries of a ranking; None: a single one.
    metric : str | RankMetric
        "accuracy", "pairwise_accuracy", "mean_squared_error", "mean_absolute_error",
        "epsilon_insensitive"; "auto": accuracy for classification, mean_squared_error
        for regression, pairwise_accuracy for ranking. Of rankings also "mean_ndcg",
        "average_precision", "kendall_tau", "ndcg", "precision" and "recall", these also
        as "ndcg@10", or any function of relevances, values and queries that returns a
        `metrics.PerQuery` and looks at the order of the values alone.

    Returns
    -------
    Selected : scores that hold at a single lambda only, where points tie, are not taken, nor are intervals shorter than 1e-9 of lambda, nor
        lambdas at which the metric has no meaning, as Kendall's tau of a constant f.

    Raises
    ------
    ValueError
        A metric of another task, shapes that do not fit, nothing to judge by.
    NothingToChoose, NoBreakpoint
        ValueErrors, too; a path without a breakpoint above 0, or on which the metric
        never has a meaning.

    Source: document P, section 5, which validates at breakpoints only.
    """
    return score_along(path, X_validation, y_validation, metric, qid).best


def score_along(
    path: AnyPath,
    X_validation: Any,
    y_validation: ArrayLike,
    metric: str | RankMetric = "auto",
    qid: ArrayLike | None = None,
) -> Curve:
    """The score on validation points at all lambdas that `best` chooses from.

    Parameters
    ----------
    As in `best`.

    Returns
    -------
    Curve : for a share of right answers and a metric of rankings it has all its steps. For an error it has the breakpoints, the least
        errors between them, and further knots for drawing. NaN where the metric has no meaning.

    Raises
    ------
    ValueError
        As in `best`.
    """
    judge = find_metric(path.problem, metric, y_validation, qid)
    return _curve(judge, _knots(judge, [followed_at(path, X_validation, y_validation)]))


class Steps(NamedTuple):
    """f of a path of constant pieces, with its bias, at some points.

    Parameters
    ----------
    lambdas : ndarray of shape (T,)
        Falling, the lower ends of the pieces, all above 0.
    values : ndarray of shape (T, n)
    stopped : str
        Why the path ends, in words.
    """

    lambdas: Array
    values: Array
    stopped: str

    def ends(self, a: float, b: float) -> tuple[Array, Array]:
        """g = lambda f at the ends of an interval from a down to b, inside a piece; (n,) each."""
        f = self.values[int(np.searchsorted(-self.lambdas, -b))]
        return a * f, b * f


class Lines(NamedTuple):
    """g of a path, with its bias, at some points.

    Parameters
    ----------
    lambdas : ndarray of shape (T,)
        falling.
    values : ndarray of shape (T, n)
        Linear in between.
    level : float
        Their slope above the first lambda.
    stopped : str
        Why the path ends, in words.
    """

    lambdas: Array
    values: Array
    level: float
    stopped: str

    def at(self, lam: float) -> Array:
        """(n,) at a lambda that is not below the last."""
        if lam >= self.lambdas[0]:
            return np.asarray(self.values[0] + self.level * (lam - self.lambdas[0]))
        t = int(np.searchsorted(-self.lambdas, -lam, side="right")) - 1
        if lam == self.lambdas[t]:
            return np.asarray(self.values[t])
        share = (lam - self.lambdas[t + 1]) / (self.lambdas[t] - self.lambdas[t + 1])
        return np.asarray(share * self.values[t] + (1 - share) * self.values[t + 1])

    def ends(self, a: float, b: float) -> tuple[Array, Array]:
        """g at the ends of an interval from a down to b, between two breakpoints; (n,) each."""
        return self.at(a), self.at(b)


def followed_at(path: AnyPath, X: Any, y: ArrayLike) -> Lines | Steps:
    """g of a path at validation points.

    Equal points get bitwise equal values. A product of matrices does not promise that, and a difference in the last bit would order them.
    """
    if len(path) == 0 and not path.complete:
        raise NoBreakpoint(f"the path has no breakpoint to choose from: {path.stopped}")
    points = X if is_sparse(X) else check_reals(X, "X")
    if (
        points.ndim != 2
        or points.shape[1] != path.problem.X.shape[1]
        or points.shape[0] != np.asarray(y).size
    ):
        wanted = (np.asarray(y).size, path.problem.X.shape[1])
        raise ValueError(
            f"the validation points must be of shape {wanted}, as y and the training points "
            f"are, not {points.shape}"
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
        if not len(path):  # without rows f is 0 at every lambda
            return Steps(np.zeros(1), np.zeros((1, points.shape[0])), path.stopped)
        lambdas = path.lambdas.copy()
        if lambdas[-1] == 0 and len(lambdas) > 1:  # f is the same down to 0, which has no logarithm
            lambdas[-1] = lambdas[-2] / 2
        return Steps(lambdas, values, path.stopped)
    return Lines(path.lambdas, values, path.level, path.stopped)


def _knots(judge: Metric, parts: Sequence[Lines | Steps]) -> Iterator[Knots]:
    """The score's knots, one segment after another, of the points of all parts together, over the lambdas that all of them reach."""
    lambdas = np.unique(np.concatenate([part.lambdas for part in parts]))[::-1]
    reached = max(float(part.lambdas[-1]) for part in parts)
    lambdas = lambdas[(lambdas > 0) & (lambdas >= reached)]
    if not len(lambdas):
        raise SameEverywhere(f"there is no lambda to choose: {parts[0].stopped}")
    if lambdas[0] - lambdas[-1] <= LAMBDA_RESOLUTION * lambdas[0]:
        lambdas = lambdas[:1]
    found = lambdas.tolist()
    for a, b in pairwise(found) if len(found) > 1 else [(found[0], found[0])]:
        ga, gb = zip(*(part.ends(a, b) for part in parts), strict=True)
        yield judge.along(a, b, np.concatenate(ga), np.concatenate(gb))


class _Run(NamedTuple):
    """Lambdas from high to low with one score."""

    score: float
    high: float
    low: float

    @property
    def width(self) -> float:
        return float(np.log(self.high / self.low))


def _runs(curve: Curve) -> list[_Run]:
    """The knots of equal score together."""
    lambdas, scores = curve.lambdas, curve.scores
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])[: len(scores)])
    ends = np.append(starts[1:], len(scores))[: len(starts)] - 1
    return list(
        map(_Run, scores[starts].tolist(), lambdas[starts].tolist(), lambdas[ends].tolist())
    )


def _selected(curve: Curve) -> SelectionResult:
    sign, runs = 1 if curve.larger_is_better else -1, _runs(curve)
    chosen = max(
        (run for run in runs if not np.isnan(run.score)),
        key=lambda run: (sign * run.score, run.width),
        default=None,
    )
    if chosen is None and runs:
        raise NothingToChoose(
            f"{curve.metric} has no meaning at any lambda of the path: choose another "
            f"metric, or other validation points"
        )
    if chosen is None:
        raise NothingToChoose(
            "the path is too short: its lambdas differ by less than 1e-9 of themselves"
        )
    lam = float(np.clip(np.sqrt(chosen.low) * np.sqrt(chosen.high), chosen.low, chosen.high))
    return SelectionResult(
        lam, chosen.score, (chosen.low, chosen.high), curve.metric, curve.larger_is_better
    )


def _curve(judge: Metric, segments: Iterable[Knots]) -> Curve:
    lambdas, scores = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    return Curve(lambdas, scores, judge.name, judge.larger_is_better)
