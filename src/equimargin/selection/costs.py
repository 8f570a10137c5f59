"""Comparison of kernels and costs by cross-validation where there is no path to follow: of squared hinges, above all.

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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from equimargin.formulations import Kernel
from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.choices import LossName
from equimargin.selection.grids import Folds, GridJob, Task, check_options, jobs_of
from equimargin.selection.rank_metrics import RankMetric
from equimargin.solvers import solve

COSTS = tuple(2.0**e for e in range(-5, 6))
"""The costs of document K, 2^-5 to 2^5, in section 4.3."""


@dataclass(frozen=True)
class CostRow:
    """One kernel at one cost.

    Parameters
    ----------
    score : float
        On all points held out, NaN where the metric has no meaning.
    within : float
        The largest relative gap of its solutions.
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
    rows : tuple[CostRow, ...]
        Kernel by kernel, costs ascending.
    metric : str
        The name of the score.
    larger_is_better : bool
        True for a share of right answers.
    """

    rows: tuple[CostRow, ...]
    metric: str
    larger_is_better: bool

    @property
    def best(self) -> CostRow:
        """The row with the best score, the first of equally good ones: the smallest C of the first kernel. NaN is never the best."""
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
    """Keyword arguments of `cost_grid` that say what is solved, and how.

    Parameters
    ----------
    loss : LossName
        "squared_hinge" by default.
    epsilon : float
        Of a regression.
    tol, time_limit
        Of every problem, as in `solve`.
    random_state : int
        Of the folds.
    n_jobs : int
        Processes, -1 for all cores.
    """

    loss: LossName
    epsilon: float
    tol: float
    time_limit: float | None
    random_state: int
    n_jobs: int


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
    """The score of every kernel at every cost, by cross-validation that keeps queries whole.

    The problem of a fold is solved at ascending costs, each from the solution before. Every point is scored by the fold that was not
    trained on it, and all folds together; documents are ordered within their query and fold.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Points, or the (m, m) Gram matrix for a precomputed kernel.
    y : array-like of shape (m,)
        Relevances, labels -1 and +1, or targets.
    kernels : Sequence[Kernel] | None
        Linear by default.
    costs : Sequence[float]
        Those of document K by default.
    task, qid, metric, folds
        As in `selection.grid`.
    options : Unpack[CostGridOptions]
        As `CostGridOptions` says.

    Returns
    -------
    CostGrid
        A row for every kernel and cost.

    Raises
    ------
    TypeError
        An option that it does not have.
    ValueError
        No kernel or no cost, one that is not positive and finite, a metric that has no
        meaning at any of them, and as in `selection.grid` and `solve`.

    Source: K, section 4.3, which chooses C and gamma of the squared hinge by NDCG or pairwise accuracy on validation data.
    """
    from joblib import Parallel, delayed

    check_options("cost_grid", options, CostGridOptions)
    prices = sorted(
        {check_number(C, "C", "a positive finite number", lambda c: 0 < c < np.inf) for C in costs}
    )
    if not prices:
        raise ValueError("cost_grid: there is no cost to choose from")
    how = {"loss": options.get("loss", "squared_hinge"), "epsilon": options.get("epsilon", 0.1)}
    jobs, judge = jobs_of(
        "cost_grid", X, y, kernels, task, qid, metric, folds, options.get("random_state", 0), **how
    )
    limits = options.get("tol", 1e-6), options.get("time_limit")
    follow = (delayed(_solved)(job, prices, *limits) for job in chain.from_iterable(jobs))
    found, rows = iter(Parallel(n_jobs=options.get("n_jobs", 1))(follow)), []
    for of_kernel in jobs:
        all_values, all_gaps = zip(*islice(found, len(of_kernel)), strict=True)
        values, gaps = np.hstack(all_values), np.max(all_gaps, axis=0)
        for at, C in enumerate(prices):
            score = judge.along(1.0, 1.0, values[at], values[at])[1][0]
            rows.append(CostRow(of_kernel[0].kernel, C, float(score), float(gaps[at])))
    if all(np.isnan(row.score) for row in rows):
        raise ValueError(
            f"cost_grid: {judge.name} has no meaning at any kernel and cost: choose another "
            f"metric, kernels or costs"
        )
    return CostGrid(tuple(rows), judge.name, judge.larger_is_better)


def _solved(
    job: GridJob, costs: Sequence[float], tol: float, time_limit: float | None
) -> tuple[Array, Array]:
    """f at the points held out, (c, n), and the relative gaps, (c,), at ascending costs."""
    problem, held_out = job.problem, job.features(job.validation)
    values, gaps, before = [], [], None
    for C in costs:
        before = solve(problem.with_cost(C), tol=tol, time_limit=time_limit, warm_start=before)
        values.append(before.decision_function(held_out))
        gaps.append(before.relative_gap)
    return np.array(values), np.array(gaps)
