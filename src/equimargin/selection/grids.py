"""Comparison of kernels by cross-validation along their whole paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from numbers import Integral
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations import Kernel, Problem, linear
from equimargin.formulations.kernels.kernel import Precomputed
from equimargin.formulations.numeric.arguments import (
    check_choice,
    check_jobs,
    did_you_mean,
    format_value,
)
from equimargin.formulations.numeric.arrays import Array, Index, is_sparse
from equimargin.formulations.problem.choices import TASKS, LossName
from equimargin.formulations.problem.construct import make_family_problem, make_margin_problem
from equimargin.formulations.problem.labels import number_labels, numbers
from equimargin.metrics.names import RankMetric
from equimargin.selection.along_path import (
    Curve,
    Lines,
    SelectionResult,
    Steps,
    _curve,
    _knots,
    followed_at,
)
from equimargin.selection.validation import Metric, VoteAccuracy, find_metric
from equimargin.solvers import regularization_path

Task = Literal["classification", "regression", "ranking"]


Folds = int | Iterable[tuple[ArrayLike, ArrayLike]] | Any
"""Number of folds, splitter of scikit-learn, or pairs of (training, held-out) rows."""


class Fold(NamedTuple):
    """Training rows and held-out rows of one fold."""

    training: NDArray[np.intp]
    validation: NDArray[np.intp]


class FoldPath(NamedTuple):
    """Path of one fold.

    Parameters
    ----------
    breakpoints : int
        Number of breakpoints.
    stopped : str
        Reason why the path ended.
    complete : bool
        True if the path did not end early.
    """

    breakpoints: int
    stopped: str
    complete: bool


@dataclass(frozen=True, eq=False)
class GridRow:
    """Result of one kernel.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    selected : SelectionResult
        Best lambda.
    curve : Curve
        Scores along lambda.
    folds : tuple of FoldPath
        Paths of the folds.
    """

    kernel: Kernel
    selected: SelectionResult
    curve: Curve
    folds: tuple[FoldPath, ...]

    @property
    def stopped(self) -> str:
        """Smallest lambda scored on all folds, with the reason why it is the smallest.

        Empty if the paths of all folds are complete.
        """
        early = [fold for fold in self.folds if not fold.complete]
        if not early:
            return ""
        why = f"in {len(early)} of {len(self.folds)} folds {early[0].stopped}"
        where = "the best is at this end" if self.chosen_at_the_end else "the best is above"
        return f"no lambda below {self.curve.lambdas[-1]:.6g} was scored: {why}; {where}"

    @property
    def chosen_at_the_end(self) -> bool:
        """True if the best score is at the smallest scored lambda.

        Smaller lambdas might then be as good or better.
        """
        return bool(self.selected.interval[0] <= self.curve.lambdas[-1])


@dataclass(frozen=True, eq=False)
class Grid:
    """Kernels, each with its best lambda; `print(grid)` shows them.

    Parameters
    ----------
    rows : tuple of GridRow
        One row per kernel, in the order of the kernels.
    """

    rows: tuple[GridRow, ...]

    @property
    def best(self) -> GridRow:
        """Row with the best score, the first among equal scores."""
        sign = 1 if self.rows[0].selected.larger_is_better else -1
        return max(self.rows, key=lambda row: sign * row.selected.score)

    def __str__(self) -> str:
        chosen = self.best
        head = (
            f"{'kernel':44s} {chosen.selected.metric:>20s} {'lambda':>11s} {'C':>11s} "
            f"{'breakpoints':>12s}"
        )
        lines = []
        for row in self.rows:
            selected, count = row.selected, sum(fold.breakpoints for fold in row.folds)
            mark = ("  <- best" if row is chosen else "") + (
                "" if all(fold.complete for fold in row.folds) else "  not complete"
            )
            lines.append(
                f"{row.kernel!r:44s} {selected.score:20.6g} {selected.lam:11.4g} "
                f"{selected.C:11.4g} {count:12,d}{mark}"
            )
        return "\n".join([head, *lines])


class GridOptions(TypedDict, total=False):
    """Keyword arguments of `grid`: limits of the paths, folds and processes.

    Parameters
    ----------
    lambda_min, max_events, time_limit
        Limits per path, as in `regularization_path`; lambda is that of a fold's
        problem.
    random_state : int
        Seed of the folds.
    n_jobs : int
        Processes; -1 is all cores, -2 all but one.
    family : str or None
        Family of the task with hinge loss, such as "rvm"; by default its margin
        problem.
    progress : callable
        Called with the numbers (done, total) of paths.
    """

    lambda_min: float
    max_events: int | None
    time_limit: float | None
    random_state: int
    n_jobs: int
    family: str | None
    progress: Callable[[int, int], object]


def grid(
    X: Any,
    y: ArrayLike,
    kernels: Sequence[Kernel] | None = None,
    task: Task = "classification",
    qid: ArrayLike | None = None,
    metric: str | RankMetric = "auto",
    folds: Folds = 5,
    epsilon: float = 0.1,
    **options: Unpack[GridOptions],
) -> Grid:
    """Find the best lambda of every kernel by cross-validation.

    A path is followed for every kernel and fold, and all folds of a kernel are scored
    jointly at every lambda. Every point is scored by the path that was not trained on
    it, and pairs are scored within a fold. Folds keep the queries of a ranking whole;
    if `folds` is a number, they keep the shares of the classes of a classification,
    too.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Points, or the (m, m) Gram matrix for a precomputed kernel.
    y : array-like of shape (m,)
        Labels -1 and +1, targets, or relevances.
    kernels : sequence of Kernel or None
        Kernels; linear by default.
    task : {"classification", "regression", "ranking"}
        Learning task.
    qid : array-like of shape (m,) or None
        Queries of a ranking; None is a single query, whose points are split.
    metric : str or callable
        See `best`.
    folds : int, splitter or iterable
        Number of folds, at least 2; or a splitter of scikit-learn, whose groups are the
        queries; or pairs of (training rows, held-out rows).
    epsilon : float
        Half width of the tube of a regression.
    **options
        lambda_min (1e-4), max_events and time_limit of every path, random_state (0),
        n_jobs (1), family and progress; see `GridOptions`.

    Returns
    -------
    Grid
        One row per kernel, over the lambdas that all its folds reach; refit with
        `at(grid.best.selected.lam)` or its C.

    Raises
    ------
    TypeError
        If an option is unknown.
    ValueError
        If folds cannot be made; also as in `best` and `regularization_path`.
    """
    check_options("grid", options, GridOptions)
    settings = {"epsilon": epsilon, "family": options.get("family")}
    jobs, judge = make_jobs(
        "grid", X, y, kernels, task, qid, metric, folds, options.get("random_state", 0), **settings
    )
    rows, runs = [], _followed(list(chain.from_iterable(jobs)), options)
    for of_kernel in jobs:
        lines, paths = zip(*islice(runs, len(of_kernel)), strict=True)
        curve = _curve(judge, _knots(judge, list(lines)))
        rows.append(GridRow(of_kernel[0].kernel, curve.best, curve, paths))
    return Grid(tuple(rows))


def votes_by_folds(
    X: Any,
    y: ArrayLike,
    kernel: Kernel,
    folds: Folds = 5,
    **options: Unpack[GridOptions],
) -> GridRow:
    """Find the best lambda of three classes or more, by votes on held-out points.

    A path is followed for every pair of classes and fold. All share lambda, as the
    machines of scikit-learn's SVC share C.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Points, or the (m, m) Gram matrix for a precomputed kernel.
    y : array-like of shape (m,)
        Labels of three classes or more, numbers alone or text alone.
    kernel : Kernel
        Kernel.
    folds, options : object
        As in `grid`.

    Returns
    -------
    GridRow
        Best lambda; `.folds` has the path of every pair and fold.

    Raises
    ------
    ValueError
        If there are fewer than three classes, a fold does not learn from each of them,
        or as in `grid`.
    """
    check_options("votes_by_folds", options, GridOptions)
    X = X.tocsr() if is_sparse(X) else np.asarray(X, dtype=np.float64)
    labels, codes = number_labels(y, X.shape[0], "y")
    k, jobs = len(labels), []
    if k < 3:
        raise ValueError(f"votes need three classes or more, and y has {k}; use grid for two")
    parts = make_folds(codes, None, "classification", folds, options.get("random_state", 0))
    for number, part in enumerate(parts, start=1):
        unknown = np.setdiff1d(codes, codes[part.training])
        if len(unknown):
            raise ValueError(
                f"fold {number} learns from no point of class "
                f"{format_value(labels[unknown[0]])}; choose folds that learn from every class"
            )
    for pair in combinations(range(k), 2):
        signs, of_pair = np.where(codes == pair[1], 1.0, -1.0), np.isin(codes, pair)
        jobs += [
            GridJob(
                X,
                signs,
                None,
                "classification",
                kernel,
                part.training[of_pair[part.training]],
                part.validation,
                epsilon=0.0,
                family=options.get("family"),
            )
            for part in parts
        ]
    lines, paths = zip(*_followed(jobs, options), strict=True)
    judge = VoteAccuracy(codes[np.concatenate([part.validation for part in parts])], k)
    curve = _curve(judge, _knots(judge, lines))
    return GridRow(kernel, curve.best, curve, paths)


def make_jobs(
    function: str,
    X: Any,
    y: ArrayLike,
    kernels: Sequence[Kernel] | None,
    task: Task,
    qid: ArrayLike | None,
    metric: str | RankMetric,
    folds: Folds,
    random_state: int,
    **how: Any,
) -> tuple[list[list[GridJob]], Metric]:
    """Return the jobs of every kernel, one per fold, and the metric on held-out points.

    Parameters
    ----------
    function : str
        Name of the calling function, for its error messages.
    X, y, kernels, task, qid, metric, folds
        See `grid`.
    random_state : int
        Seed of the folds.
    **how
        Loss, epsilon and family of `GridJob`.

    Returns
    -------
    tuple of list of list of GridJob and Metric
        Jobs, and the metric on the held-out points of all folds.

    Raises
    ------
    ValueError
        If there is no kernel, or an entry is not a kernel; also as in `make_folds` and
        `find_metric`.
    """
    m = X.shape[0] if hasattr(X, "shape") else len(X)
    X, y = X.tocsr() if is_sparse(X) else np.asarray(X, dtype=np.float64), numbers(y, m, "y")
    query = None if qid is None else np.asarray(qid)
    chosen = [linear()] if kernels is None else list(kernels)
    if not chosen:
        raise ValueError(f"{function}: kernels must not be empty")
    for kernel in chosen:
        if not isinstance(kernel, Kernel):
            raise ValueError(
                f"{function}: {kernel!r} is no kernel; make one with a function of "
                f"equimargin.formulations, such as rbf(0.1) or laplacian(0.1)"
            )
    # The folds are the same for all kernels, so that the scores are comparable.
    parts = make_folds(y, query, task, folds, random_state)
    jobs = [
        [GridJob(X, y, query, task, kernel, *part, **how) for part in parts] for kernel in chosen
    ]
    held_out = np.concatenate([part.validation for part in parts])
    return jobs, find_metric(
        jobs[0][0].problem, metric, y[held_out], _queries_of_folds(parts, query)
    )


def _queries_of_folds(parts: Sequence[Fold], query: NDArray[Any] | None) -> Index:
    """Return the queries of the held-out points, numbered in the order of the folds.

    A query that is in several folds gets one number per fold. Without queries, each fold
    is one query.
    """
    held_out = np.concatenate([part.validation for part in parts])
    fold = np.repeat(np.arange(len(parts)), [len(part.validation) for part in parts])
    within = (
        np.zeros(len(held_out), dtype=np.int64)
        if query is None
        else np.unique(query, return_inverse=True)[1][held_out]
    )
    return np.asarray(fold * (1 + within.max()) + within)


def check_options(function: str, given: Mapping[str, object], known: type) -> None:
    """Raise if a keyword argument is unknown.

    Parameters
    ----------
    function : str
        Name of the function, for the error message.
    given : mapping
        Keyword arguments.
    known : type
        TypedDict of the arguments that the function has.

    Raises
    ------
    TypeError
        If an argument is unknown.
    """
    for name in given:
        if name not in known.__annotations__:
            suggested = did_you_mean(name, list(known.__annotations__))
            raise TypeError(f"{function} has no argument {name!r}{suggested}")


def _followed(
    jobs: Sequence[GridJob], options: GridOptions
) -> Iterator[tuple[Lines | Steps, FoldPath]]:
    """Yield the paths of all jobs in their order, computed by parallel processes."""
    # Imported here: `import equimargin` loads no joblib.
    from joblib import Parallel, delayed

    lambda_min, max_events, time_limit = (
        options.get("lambda_min", 1e-4),
        options.get("max_events"),
        options.get("time_limit"),
    )
    follow = (delayed(job.run)(lambda_min, max_events, time_limit) for job in jobs)
    work = Parallel(n_jobs=check_jobs(options.get("n_jobs", 1), "n_jobs"), return_as="generator")
    for done, result in enumerate(work(follow), start=1):
        yield result
        if "progress" in options:
            options["progress"](done, len(jobs))


def make_folds(
    y: ArrayLike, qid: ArrayLike | None, task: Task, folds: Folds, random_state: int = 0
) -> list[Fold]:
    """Return the folds of `grid`.

    If `folds` is a number, they are whole queries of a ranking, equal shares of both
    classes of a classification, and otherwise random points.

    Parameters
    ----------
    y, qid, task, folds, random_state
        See `grid`.

    Returns
    -------
    list of Fold
        Training and held-out rows.

    Raises
    ------
    ValueError
        If the task is unknown, the number of folds is not a whole number of at least 2,
        there are no points, there are fewer queries, points of a class or points than
        folds, a row does not exist, a fold is empty, or a row or query is both trained
        on and held out.
    """
    # Imported here: `import equimargin` loads no scikit-learn.
    from sklearn.model_selection import check_cv

    y = np.asarray(y)
    check_choice(task, "task", TASKS)
    if not len(y):
        raise ValueError("cross-validation needs points, and there are none")
    queries = None if task != "ranking" or qid is None else np.asarray(qid)
    if isinstance(folds, str | float) or (isinstance(folds, Integral) and folds < 2):
        raise ValueError(
            f"cross-validation needs a whole number of folds, 2 folds or more, not {folds!r}"
        )
    splitter = (
        _splitter(y, queries, task, int(folds), random_state)
        if isinstance(folds, Integral)
        else check_cv(folds)
    )
    parts = [
        Fold(_rows(training, len(y)), _rows(held_out, len(y)))
        for training, held_out in splitter.split(y, y, queries)
    ]
    _check_apart(
        parts,
        np.arange(len(y)) if queries is None else queries,
        "row" if queries is None else "query",
    )
    return parts


def _rows(chosen: ArrayLike, m: int) -> NDArray[np.intp]:
    """Return row numbers, from numbers or (m,) booleans.

    Raises
    ------
    ValueError
        If a row does not exist.
    """
    index = np.asarray(chosen)
    try:
        return np.arange(m)[index if index.size else []]
    except IndexError as wrong:
        raise ValueError(f"folds are of rows 0 to {m - 1}: {wrong}") from None


def _splitter(
    y: NDArray[Any], qid: NDArray[Any] | None, task: Task, folds: int, random_state: int
) -> Any:
    """Return the splitter of scikit-learn that makes a given number of folds."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    if qid is not None:
        have, one, more, splitter = len(np.unique(qid)), "query", "queries", GroupKFold
    elif task == "classification":
        have, splitter = int(min(np.unique(y, return_counts=True)[1])), StratifiedKFold
        one, more = "point of the smallest class", "points of the smallest class"
    else:
        have, one, more, splitter = len(y), "point", "points", KFold
    if have < folds:
        there = f"there is 1 {one}" if have == 1 else f"there are {have} {more}"
        raise ValueError(f"{there}, too few for {folds} folds")
    return splitter(folds, shuffle=True, random_state=random_state)


def _check_apart(parts: Sequence[Fold], units: NDArray[Any], what: str) -> None:
    """Raise if a fold holds out nothing, or trains on what it holds out.

    Parameters
    ----------
    parts : sequence of Fold
        Folds.
    units : ndarray of shape (m,)
        Row number or query of every row, which must not be divided.
    what : str
        Name of the unit, for the error message.
    """
    if not parts:
        raise ValueError("cross-validation needs folds, and there are none")
    for number, part in enumerate(parts, start=1):
        if not len(part.training) or not len(part.validation):
            raise ValueError(f"fold {number} must both learn from rows and hold rows out")
        divided = np.intersect1d(units[part.training], units[part.validation])
        if len(divided):
            raise ValueError(
                f"fold {number} learns from {what} {format_value(divided[0])} and holds it "
                f"out, too; choose folds that keep it whole"
            )


class GridJob(NamedTuple):
    """Problem of training points, with validation points to evaluate its solutions."""

    X: Any
    y: Array
    query: NDArray[Any] | None
    task: str
    kernel: Kernel
    training: NDArray[np.intp]
    validation: NDArray[np.intp]
    epsilon: float
    loss: LossName = "hinge"
    family: str | None = None

    @property
    def problem(self) -> Problem:
        """Problem of the training points, of the given family if there is one."""
        qid = None if self.query is None else self.query[self.training]
        X, y = self.features(self.training), self.y[self.training]
        if self.family is not None:
            return make_family_problem(self.family, self.task, X, y, self.kernel, self.epsilon, qid)
        return make_margin_problem(
            self.task, X, y, kernel=self.kernel, loss=self.loss, epsilon=self.epsilon, qid=qid
        )

    def run(
        self, lambda_min: float, max_events: int | None, time_limit: float | None
    ) -> tuple[Lines | Steps, FoldPath]:
        """Follow the path, and evaluate it at the validation points.

        Parameters
        ----------
        lambda_min, max_events, time_limit
            See `regularization_path`.

        Returns
        -------
        tuple of Lines or Steps, and FoldPath
            Values along the path, and its summary.
        """
        path = regularization_path(self.problem, lambda_min, max_events, time_limit)
        lines = followed_at(path, self.features(self.validation), self.y[self.validation])
        return lines, FoldPath(len(path), path.stopped, path.complete)

    def features(self, rows: NDArray[np.intp]) -> Any:
        """Return the features of rows, or their kernel values with the training points.

        Parameters
        ----------
        rows : ndarray of int
            Rows.

        Returns
        -------
        ndarray or sparse array of shape (rows, d) or (rows, training points)
            Features or kernel values.
        """
        return (
            self.X[rows][:, self.training] if isinstance(self.kernel, Precomputed) else self.X[rows]
        )
