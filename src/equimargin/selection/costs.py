"""Cross-validation of kernels and costs, also for the squared hinge, which has no path.

>>> import numpy as np
>>> from equimargin.formulations import rbf
>>> X = np.linspace(0, 1, 24)[:, None]
>>> y, qid = np.round(2 + 2 * np.sin(9 * X[:, 0])), np.repeat(np.arange(4), 6)
>>> print(cost_grid(X, y, [rbf(0.1), rbf(20.0)], [0.1, 10.0], "ranking", qid, "mean_ndcg", folds=2))
kernel                                                  C            mean_ndcg
RBF(gamma=0.1)                                        0.1             0.534635
RBF(gamma=0.1)                                         10             0.534635
RBF(gamma=20.0)                                       0.1             0.776576  <- best
RBF(gamma=20.0)                                        10             0.774186
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations import Kernel
from equimargin.formulations.numeric.arguments import check_jobs, check_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import LossName
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.metrics.names import RankMetric
from equimargin.selection.grids import Folds, GridJob, Task, check_options, make_jobs
from equimargin.solvers import solve, solve_grid
from equimargin.solvers.solution import PROCESSOR, check_device

COSTS = tuple(2.0**e for e in range(-5, 6))
"""Costs of Kuo, Lee and Lin (2014), section 4.3: 2^-5 to 2^5."""
GAMMAS = tuple(2.0**e for e in range(-6, 0))
"""Kernel parameters gamma of Kuo, Lee and Lin (2014), section 4.3: 2^-6 to 2^-1."""

ROWS_AT_ONCE = 512
"""Held-out rows whose kernel values, common to all costs, are computed at a time."""
GRID_TOL = 1e-6
"""Default tolerance of the solutions, the largest relative gap."""


@dataclass(frozen=True)
class CostRow:
    """Score of one kernel at one cost.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    C : float
        Cost per unit of loss.
    score : float
        Score on all held-out points; NaN if the metric is undefined.
    within : float
        Largest relative gap of the solutions.
    """

    kernel: Kernel
    C: float
    score: float
    within: float


@dataclass(frozen=True)
class CostGrid:
    """Kernels and costs with their scores; `print(grid)` shows them.

    Parameters
    ----------
    rows : tuple of CostRow
        One row per kernel and cost, kernel by kernel, costs ascending.
    metric : str
        Name of the score.
    larger_is_better : bool
        True for an accuracy, False for an error.
    """

    rows: tuple[CostRow, ...]
    metric: str
    larger_is_better: bool

    @property
    def best(self) -> CostRow:
        """Row with the best score; rows with NaN are skipped.

        Among equal scores it is the first: the smallest C of the first kernel.
        """
        sign = 1 if self.larger_is_better else -1
        return max(
            (row for row in self.rows if not np.isnan(row.score)), key=lambda row: sign * row.score
        )

    def __str__(self) -> str:
        best = self.best
        scores = ["undefined" if np.isnan(row.score) else f"{row.score:.6g}" for row in self.rows]
        marks = ["  <- best" if row is best else "" for row in self.rows]
        rows = [
            f"{row.kernel!r:44s} {row.C:12.6g} {its:>20s}{mark}"
            for row, its, mark in zip(self.rows, scores, marks, strict=True)
        ]
        return "\n".join([f"{'kernel':44s} {'C':>12s} {self.metric:>20s}", *rows])


class CostGridOptions(TypedDict, total=False):
    """Keyword arguments of `cost_grid`: the problem and the limits of its solution.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}
        Loss, "squared_hinge" by default.
    epsilon : float
        Half width of the tube of a regression, 0.1 by default.
    tol, time_limit
        Limits per problem, as in `solve`; tol is 1e-6 by default.
    random_state : int
        Seed of the folds.
    n_jobs : int
        Processes; -1 is all cores, -2 all but one.
    device : str
        Device, as in `solve_grid`, for classification and regression; "cpu" by default.
        All costs and folds of a kernel then run together.
    """

    loss: LossName
    epsilon: float
    tol: float
    time_limit: float | None
    random_state: int
    n_jobs: int
    device: str


def cost_grid(
    X: Any,
    y: ArrayLike,
    kernels: Sequence[Kernel] | None = None,
    costs: Sequence[float] = COSTS,
    task: Task = "ranking",
    qid: ArrayLike | None = None,
    metric: str | RankMetric = "auto",
    folds: Folds = 5,
    **options: Unpack[CostGridOptions],
) -> CostGrid:
    """Score every kernel at every cost by cross-validation that keeps queries whole.

    The problem of a fold is solved at ascending costs, warm-started from the previous
    solution. Every point is scored by the fold that was not trained on it, and the
    held-out points of all folds are scored jointly; documents are ordered within their
    query and fold.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Points, or the (m, m) Gram matrix for a precomputed kernel.
    y : array-like of shape (m,)
        Relevances, labels -1 and +1, or targets.
    kernels : sequence of Kernel or None
        Kernels; linear by default.
    costs : sequence of float
        Costs; by default 2^-5, 2^-4, ..., 2^5.
    task, qid, metric, folds
        See `selection.grid`.
    **options
        See `CostGridOptions`.

    Returns
    -------
    CostGrid
        One row per kernel and cost.

    Raises
    ------
    TypeError
        If an option is unknown.
    ValueError
        If there is no kernel or no cost, a cost is not positive and finite, or the
        metric is undefined at all of them; also as in `selection.grid` and `solve`.

    References
    ----------
    Document K, section 4.3, which chooses C and gamma of the squared hinge by NDCG or
    pairwise accuracy on validation data.
    """
    # Imported here: `import equimargin` loads no joblib.
    from joblib import Parallel, delayed

    check_options("cost_grid", options, CostGridOptions)
    prices = sorted(
        {check_number(C, "C", "a positive finite number", lambda c: 0 < c < np.inf) for C in costs}
    )
    if not prices:
        raise ValueError("cost_grid: costs must not be empty")
    settings = {
        "loss": options.get("loss", "squared_hinge"),
        "epsilon": options.get("epsilon", 0.1),
    }
    jobs, judge = make_jobs(
        "cost_grid",
        X,
        y,
        kernels,
        task,
        qid,
        metric,
        folds,
        options.get("random_state", 0),
        **settings,
    )
    limits = options.get("tol", GRID_TOL), options.get("time_limit")
    device = check_device(options.get("device", PROCESSOR))
    if device == PROCESSOR:
        follow = (delayed(_solved)(job, prices, *limits) for job in chain.from_iterable(jobs))
        results = iter(Parallel(n_jobs=check_jobs(options.get("n_jobs", 1), "n_jobs"))(follow))
    else:
        results = chain.from_iterable(
            _solved_on(device, of_kernel, prices, *limits) for of_kernel in jobs
        )
    rows = []
    for of_kernel in jobs:
        all_values, all_gaps = zip(*islice(results, len(of_kernel)), strict=True)
        values, gaps = np.hstack(all_values), np.max(all_gaps, axis=0)
        for k, C in enumerate(prices):
            score = judge.along(1.0, 1.0, values[k], values[k])[1][0]
            rows.append(CostRow(of_kernel[0].kernel, C, float(score), float(gaps[k])))
    if all(np.isnan(row.score) for row in rows):
        raise ValueError(
            f"cost_grid: {judge.name} is undefined at every kernel and cost; choose another "
            f"metric, kernels or costs"
        )
    return CostGrid(tuple(rows), judge.name, judge.larger_is_better)


def _solved(
    job: GridJob, costs: Sequence[float], tol: float, time_limit: float | None
) -> tuple[Array, Array]:
    """Return f at the held-out points, (c, n), and relative gaps, (c,), by cost."""
    problem, held_out = job.problem, job.features(job.validation)
    values, gaps, before = [], [], None
    for C in costs:
        before = solve(problem.with_cost(C), tol=tol, time_limit=time_limit, warm_start=before)
        values.append(before.decision_function(held_out))
        gaps.append(before.relative_gap)
    return np.array(values), np.array(gaps)


def _solved_on(
    device: str,
    jobs: Sequence[GridJob],
    costs: Sequence[float],
    tol: float,
    time_limit: float | None,
) -> Iterator[tuple[Array, Array]]:
    """Yield the results of `_solved` for the folds of a kernel, solved on a device.

    A fold is the problem of all points, where those of no training row have no cost.
    """
    every = np.arange(len(jobs[0].y))
    whole = jobs[0]._replace(training=every)
    problem = whole.problem
    assert isinstance(problem, MarginProblem)
    held_out = [~np.isin(every, job.training) for job in jobs]
    found = iter(solve_grid(problem, costs, held_out, tol, None, time_limit, device=device))
    for job in jobs:
        own, points = list(islice(found, len(costs))), whole.features(job.validation)
        coefficients = np.array([solution.beta for solution in own])
        values = np.repeat([[float(solution.bias)] for solution in own], len(points), axis=1)
        for start in range(0, len(points), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            values[:, part] += coefficients @ problem.kernel.block(points[part], problem.X).T
        yield values, np.array([solution.relative_gap for solution in own])
