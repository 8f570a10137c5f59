"""Which lambda, and which kernel, is best on validation points, of all lambdas of a path, not of its breakpoints alone.

>>> import numpy as np
>>> from equimargin.formulations import ranking, rbf
>>> from equimargin.solvers import regularization_path
>>> X = np.linspace(0, 1, 12)[:, None]
>>> y = np.sin(9 * X[:, 0])
>>> path = regularization_path(ranking(X[::2], y[::2], kernel=rbf(20.0)))
>>> chosen = best(path, X[1::2], y[1::2])
>>> chosen.metric, round(chosen.score, 3)
('pairwise_accuracy', 0.933)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations import Kernel, MarginProblem, classification, linear, ranking, regression
from equimargin.formulations.arguments import reals
from equimargin.formulations.features import check_columns
from equimargin.formulations.kernels import Array, Precomputed
from equimargin.formulations.labels import numbers
from equimargin.solvers import regularization_path
from equimargin.solvers.regularization_path import RegularizationPath
from equimargin.validation import RESOLUTION, Knots, Metric, metric_of

Task = Literal["classification", "regression", "ranking"]

__all__ = [
    "Curve",
    "Fold",
    "FoldPath",
    "Grid",
    "GridRow",
    "NoBreakpoint",
    "NothingToChoose",
    "Selected",
    "best",
    "folds_of",
    "grid",
    "score_along",
]


class NothingToChoose(ValueError):
    """A path of a single constant f: one lambda is as good as another."""


class NoBreakpoint(NothingToChoose):
    """A path that ended before its first breakpoint: no lambda is known."""


@dataclass(frozen=True)
class Selected:
    """The best lambda of a path.

    lam : where to solve.  score : of the metric, there.  interval : (low, high), the lambdas around it with this score.
    metric : its name.  larger_is_better : whether it is a share of what is right, or else an error.
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
    """A score along lambda: to be drawn from knot to knot, a step being two knots at one lambda.

    lambdas : (k,) falling.  scores : (k,).  metric, larger_is_better : as of Selected.
    """

    lambdas: Array
    scores: Array
    metric: str
    larger_is_better: bool

    @property
    def best(self) -> Selected:
        """As `best` of the same path and points."""
        return _selected(self.metric, self.larger_is_better, [(self.lambdas, self.scores)])


class Fold(NamedTuple):
    """The rows of one fold: those of its path, and those held out."""

    training: NDArray[np.intp]
    validation: NDArray[np.intp]


class FoldPath(NamedTuple):
    """The path of one fold.  breakpoints : how many.  stopped : why it ended.  complete : where it should."""

    breakpoints: int
    stopped: str
    complete: bool


@dataclass(frozen=True, eq=False)
class GridRow:
    """What a kernel comes to.  selected : its best lambda.  curve : its scores along lambda.  folds : its paths."""

    kernel: Kernel
    selected: Selected
    curve: Curve
    folds: tuple[FoldPath, ...]


@dataclass(frozen=True, eq=False)
class Grid:
    """Kernels, each with its best lambda; `print(grid)` shows them.  rows : in the order of the kernels."""

    rows: tuple[GridRow, ...]

    @property
    def best(self) -> GridRow:
        """The row with the best score, the first of equally good ones."""
        sign = 1 if self.rows[0].selected.larger_is_better else -1
        return max(self.rows, key=lambda row: sign * row.selected.score)

    def __str__(self) -> str:
        chosen = self.best
        head = f"{'kernel':44s} {chosen.selected.metric:>20s} {'lambda':>11s} {'C':>11s} {'breakpoints':>12s}"
        lines = []
        for row in self.rows:
            at, count = row.selected, sum(fold.breakpoints for fold in row.folds)
            mark = ("  <- best" if row is chosen else "") + ("" if all(fold.complete for fold in row.folds) else "  not complete")
            lines.append(f"{row.kernel!r:44s} {at.score:20.6g} {at.lam:11.4g} {at.C:11.4g} {count:12,d}{mark}")
        return "\n".join([head, *lines])


def best(
    path: RegularizationPath, X_validation: Any, y_validation: ArrayLike, metric: str = "auto", qid: ArrayLike | None = None
) -> Selected:
    """The lambda whose f is best on validation points, of all from the first breakpoint to the last above 0.

        g = lambda f is linear between breakpoints, f affine in 1 / lambda: signs, orders and errors change where that says

    Several intervals may share the best score: the widest in log lambda is taken, and of it the geometric middle.

    Parameters
    ----------
    path : of `regularization_path`.  X_validation : (n, d) points, or (n, m) kernel values for a precomputed kernel.
    y_validation : (n,) labels -1 and +1, targets, or relevances.  qid : (n,) queries of a ranking; None: a single one.
    metric : "accuracy", "pairwise_accuracy", "mean_squared_error", "mean_absolute_error", "epsilon_insensitive"; "auto": accuracy for
        classification, mean_squared_error for regression, pairwise_accuracy for ranking.

    Returns
    -------
    Selected : the score counts no single lambda at which points tie, nor lambdas that differ by less than 1e-9 of themselves.

    Raises
    ------
    ValueError : a metric of another task, shapes that do not fit, nothing to judge by.
    NothingToChoose, NoBreakpoint : ValueErrors, too; a path without a breakpoint above 0.

    Source: document P, section 5, which validates at breakpoints only.
    """
    judge = metric_of(path.problem, metric, y_validation, qid)
    return _selected(judge.name, judge.larger_is_better, _knots(judge, [_lines(path, X_validation, y_validation)]))


def score_along(
    path: RegularizationPath, X_validation: Any, y_validation: ArrayLike, metric: str = "auto", qid: ArrayLike | None = None
) -> Curve:
    """The score on validation points at all lambdas that `best` chooses from.

    Parameters
    ----------
    As in `best`.

    Returns
    -------
    Curve : of shares of what is right all there is, of errors the breakpoints, the least in between, and more to draw by.

    Raises
    ------
    ValueError : as in `best`.
    """
    judge = metric_of(path.problem, metric, y_validation, qid)
    return _curve(judge, _knots(judge, [_lines(path, X_validation, y_validation)]))


def grid(
    X: Any,
    y: ArrayLike,
    kernels: Sequence[Kernel] | None = None,
    task: Task = "classification",
    qid: ArrayLike | None = None,
    metric: str = "auto",
    folds: int = 5,
    epsilon: float = 0.1,
    lambda_min: float = 1e-4,
    max_events: int | None = None,
    time_limit: float | None = None,
    random_state: int = 0,
    n_jobs: int = 1,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Grid:
    """The best lambda of every kernel by cross-validation: a path a kernel and fold, all scored together at every lambda.

    Every point is judged by the path that did not see it, pairs are judged within a fold. Folds keep the queries of a ranking whole, and
    the shares of the classes of a classification.

    Parameters
    ----------
    X : (m, d) points, or the (m, m) Gram matrix for a precomputed kernel.  y : (m,) labels -1 and +1, targets, or relevances.
    kernels : linear by default.  task : what is learned.  qid : (m,) queries of a ranking; None: a single one, its points are folded.
    metric : as in `best`.  folds : 2 or more.  epsilon : of the regression.
    lambda_min, max_events, time_limit : of every path, as in `regularization_path`; lambda is that of a fold's problem.
    random_state : of the folds.  n_jobs : processes, -1 for all cores.  progress : called with (done, total), in paths.

    Returns
    -------
    Grid : a row a kernel, over the lambdas that all folds of it reach; refit with `at(grid.best.selected.lam)` or its C.

    Raises
    ------
    ValueError : folds that cannot be made, and as in `best` and `regularization_path`.
    """
    from joblib import Parallel, delayed

    m = X.shape[0] if hasattr(X, "shape") else len(X)
    X, y = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64), numbers(y, m, "y")
    query = None if qid is None else np.asarray(qid)
    kernels = [linear()] if kernels is None else list(kernels)
    if not kernels:
        raise ValueError("grid: there is no kernel to choose from")
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise ValueError(f"grid: {kernel!r} is no kernel; make one with linear, polynomial, rbf or precomputed")
    parts = folds_of(y, query, task, folds, random_state)
    jobs = [_Job(X, y, query, task, kernel, epsilon, *part) for kernel in kernels for part in parts]
    held_out = np.concatenate([part.validation for part in parts])
    fold = np.repeat(np.arange(len(parts)), [len(part.validation) for part in parts])
    groups = fold if query is None else query[held_out]  # a query is in one fold
    judge = metric_of(jobs[0].problem, metric, y[held_out], groups)
    follow = (delayed(job.run)(lambda_min, max_events, time_limit) for job in jobs)
    runs = enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(follow), start=1)
    rows = []
    for kernel in kernels:
        lines, paths = [], []
        for done, (values, path) in islice(runs, len(parts)):
            lines.append(values)
            paths.append(path)
            progress(done, len(jobs))
        curve = _curve(judge, _knots(judge, lines))
        rows.append(GridRow(kernel, curve.best, curve, tuple(paths)))
    return Grid(tuple(rows))


def folds_of(y: ArrayLike, qid: ArrayLike | None, task: Task, folds: int, random_state: int = 0) -> list[Fold]:
    """The folds of `grid`: whole queries of a ranking, equal shares of both classes, else points at random.

    Parameters
    ----------
    As in `grid`.

    Raises
    ------
    ValueError : an unknown task, no whole number of 2 folds or more, no points, fewer queries, points of a class or points than folds.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    y = np.asarray(y)
    if task not in ("classification", "regression", "ranking"):
        raise ValueError(f"there is no task {task!r}; choose one of classification, regression, ranking")
    if not isinstance(folds, Integral) or folds < 2:
        raise ValueError(f"cross-validation needs a whole number of folds, 2 folds or more, not {folds!r}")
    if not len(y):
        raise ValueError("cross-validation needs points, and there are none")
    if task == "ranking" and qid is not None:
        have, what = len(np.unique(np.asarray(qid))), "queries"
        splitter = GroupKFold(folds).split(y, groups=qid)
    elif task == "classification":
        have, what = int(min(np.unique(y, return_counts=True)[1])), "points of the smaller class"
        splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state).split(y, y)
    else:
        have, what = len(y), "points"
        splitter = KFold(folds, shuffle=True, random_state=random_state).split(y)
    if have < folds:
        raise ValueError(f"there are {have} {what}, too few for {folds} folds")
    return [Fold(training, validation) for training, validation in splitter]


class _Lines(NamedTuple):
    """g of a path, with its bias, at points.

    lambdas : (T,) falling.  values : (T, n), linear in between.  level : their slope above the first.  stopped : why they end.
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


class _Job(NamedTuple):
    """A path to be followed on training points and evaluated on validation points."""

    X: Any
    y: Array
    query: NDArray[Any] | None
    task: str
    kernel: Kernel
    epsilon: float
    training: NDArray[np.intp]
    validation: NDArray[np.intp]

    @property
    def problem(self) -> MarginProblem:
        """That of the training points."""
        X, y, kernel = self._features(self.training), self.y[self.training], self.kernel
        if self.task == "classification":
            return classification(X, y, kernel=kernel)
        if self.task == "regression":
            return regression(X, y, epsilon=self.epsilon, kernel=kernel)
        return ranking(X, y, None if self.query is None else self.query[self.training], kernel=kernel)

    def run(self, lambda_min: float, max_events: int | None, time_limit: float | None) -> tuple[_Lines, FoldPath]:
        """Follow the path."""
        path = regularization_path(self.problem, lambda_min, max_events, time_limit)
        lines = _lines(path, self._features(self.validation), self.y[self.validation])
        return lines, FoldPath(len(path), path.stopped, path.complete)

    def _features(self, rows: NDArray[np.intp]) -> Any:
        return self.X[rows][:, self.training] if isinstance(self.kernel, Precomputed) else self.X[rows]


def _lines(path: RegularizationPath, X: Any, y: ArrayLike) -> _Lines:
    """Equal points have equal values, to the last bit: a product of matrices does not promise that, and an order would turn on it."""
    if len(path) == 0:
        raise NoBreakpoint(f"the path has no breakpoint to choose from: {path.stopped}")
    points = X if hasattr(X, "tocsr") else reals(X, "X")
    if points.ndim != 2 or points.shape[1] != path.problem.X.shape[1] or points.shape[0] != np.asarray(y).size:
        wanted = (np.asarray(y).size, path.problem.X.shape[1])
        raise ValueError(f"the validation points must be of shape {wanted}, as y and the training points are, not {points.shape}")
    check_columns(X, path.problem.feature_names)
    if hasattr(X, "tocsr"):
        values = path.values(points)
    else:
        points, place = np.unique(points, axis=0, return_inverse=True)
        values = path.values(points)[:, place.ravel()]
    if not np.isfinite(values).all():
        raise ValueError("f is not finite at a validation point; remove rows with NaN or infinite numbers first")
    return _Lines(path.lambdas, values, path.level, path.stopped)


def _knots(judge: Metric, parts: Sequence[_Lines]) -> Iterator[Knots]:
    """The score's knots, one segment after another, of the points of all parts together, over the lambdas that all of them reach."""
    lambdas = np.unique(np.concatenate([part.lambdas for part in parts]))[::-1]
    reached = max(float(part.lambdas[-1]) for part in parts)
    lambdas = lambdas[(lambdas > 0) & (lambdas >= reached)]
    if not len(lambdas):
        raise NothingToChoose(f"there is no lambda to choose: {parts[0].stopped}")
    if lambdas[0] - lambdas[-1] <= RESOLUTION * lambdas[0]:
        lambdas = lambdas[:1]
    rows = (np.concatenate([part.at(lam) for part in parts]) for lam in lambdas.tolist())
    a, ga = lambdas[0], next(rows)
    if len(lambdas) == 1:
        yield judge.along(a, a, ga, ga)
    for b, gb in zip(lambdas[1:].tolist(), rows, strict=True):
        yield judge.along(a, b, ga, gb)
        a, ga = b, gb


class _Run(NamedTuple):
    """Lambdas from high to low with one score."""

    score: float
    high: float
    low: float

    @property
    def width(self) -> float:
        return float(np.log(self.high / self.low))


def _runs(segments: Iterable[Knots]) -> Iterator[_Run]:
    """The knots of equal score together, also from one segment to the next."""
    now: _Run | None = None
    for lambdas, scores in segments:
        if not len(scores):
            continue
        starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
        ends = np.append(starts[1:], len(scores)) - 1
        for run in map(_Run, scores[starts].tolist(), lambdas[starts].tolist(), lambdas[ends].tolist()):
            if now is not None and now.score == run.score:
                now = now._replace(low=run.low)
                continue
            if now is not None:
                yield now
            now = run
    if now is not None:
        yield now


def _selected(metric: str, larger_is_better: bool, segments: Iterable[Knots]) -> Selected:
    sign = 1 if larger_is_better else -1
    chosen = max(_runs(segments), key=lambda run: (sign * run.score, run.width), default=None)
    if chosen is None:
        raise NothingToChoose("the path is too short: its lambdas differ by less than 1e-9 of themselves")
    lam = float(np.clip(np.sqrt(chosen.low) * np.sqrt(chosen.high), chosen.low, chosen.high))
    return Selected(lam, chosen.score, (chosen.low, chosen.high), metric, larger_is_better)


def _curve(judge: Metric, segments: Iterable[Knots]) -> Curve:
    lambdas, scores = (np.concatenate(parts) for parts in zip(*segments, strict=True))
    return Curve(lambdas, scores, judge.name, judge.larger_is_better)
