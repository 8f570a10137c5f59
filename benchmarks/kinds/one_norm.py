"""One-norm machines against HiGHS on the declared linear program.

CPU time with one BLAS thread in one warm process.

    python benchmarks/run.py kinds.one_norm            all rows
    python benchmarks/run.py kinds.one_norm --quick    the small rows

Our side builds the problem and solves it through the public `solve` at tol = 1e-6; the
other builds the declaration of the dual and hands it to HiGHS, where it is small enough
to be declared, the two sides taking turns. The value of either side is proven outside
the timing: the table shows the relative width of our proven interval, and how far the
other's value is from it. "warm" is our side at C after a solution at 0.8 C. Memory is
the peak of the process so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from clock import gigabytes, in_turn
from table import QUICK, Benchmark, Line, Table, chosen

from equimargin.formulations import (
    OneNormProblem,
    declare,
    one_norm_classification,
    one_norm_ranking,
    ranking_vector_machine,
    rbf,
)
from equimargin.solvers import Solution, solve, solve_declaration

TOL = 1e-6
HIGHS_SECONDS = 300.0


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    form : str
        "rvm", "rank.onenorm", or "svm.onenorm" of two levels.
    queries, size, d : int
        The number of queries, of points in each, and of features.
    shares : tuple[float, ...]
        Shares of the levels in the points of a query, lowest first; if empty, one level
        for each point.
    duplicates : float
        Share of the rows that repeat another.
    must : float | None
        Minimum speed-up over HiGHS, None if HiGHS is not run.
    within : float | None
        Limit of our CPU seconds, None for none.
    """

    form: str
    queries: int
    size: int
    d: int
    shares: tuple[float, ...]
    gamma: float
    C: float
    duplicates: float = 0.0
    must: float | None = None
    within: float | None = None
    quick: bool = False

    def problem(self, C: float) -> OneNormProblem:
        """Return the problem of this row at cost C."""
        X, y, queries = data(self)
        if self.form == "svm.onenorm":
            return one_norm_classification(X, np.where(y > 0, 1.0, -1.0), C, rbf(self.gamma))
        make = ranking_vector_machine if self.form == "rvm" else one_norm_ranking
        return make(X, y, queries, C, rbf(self.gamma))


ROWS = [
    Row("rvm", 75, 20, 46, (0.8, 0.13, 0.07), 0.25, 0.1, must=15.0, quick=True),
    Row("rvm", 471, 20, 46, (0.8, 0.13, 0.07), 0.25, 0.01, within=15.0),
    Row("rvm", 471, 20, 46, (0.8, 0.13, 0.07), 0.25, 0.1, within=15.0),
    Row("rvm", 63, 143, 45, (0.6, 0.2, 0.2), 0.1, 0.01, duplicates=0.15, within=60.0),
    Row("rank.onenorm", 1, 200, 5, (), 0.2, 0.01, quick=True),
    Row("rank.onenorm", 1, 200, 5, (0.25, 0.25, 0.25, 0.25), 0.2, 0.1, quick=True),
    Row("svm.onenorm", 1, 800, 10, (0.6, 0.4), 0.5, 1.0, must=2.0, quick=True),
    Row("svm.onenorm", 1, 10_000, 10, (0.6, 0.4), 0.5, 1.0),
]


def data(row: Row) -> tuple[Any, Any, Any]:
    """Draw X, relevances and queries.

    Features are in [0, 1], mostly small; a noisy score is cut into levels query by
    query.
    """
    rng, m = np.random.default_rng(0), row.queries * row.size
    X = rng.random((m, row.d)) ** 2
    repeated = rng.permutation(m)[: int(row.duplicates * m)]
    X[repeated] = X[rng.integers(m, size=len(repeated))]
    score = (X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=m)).reshape(row.queries, row.size)
    place = score.argsort(axis=1).argsort(axis=1)
    edges = np.cumsum(row.shares)[:-1] * row.size if row.shares else np.arange(1, row.size)
    return (
        X,
        np.searchsorted(edges, place.ravel(), side="right"),
        np.repeat(np.arange(row.queries), row.size),
    )


def measured(row: Row) -> Line:
    """Measure both sides on one problem."""

    def ours(start: Solution | None = None) -> Solution:
        return solve(row.problem(row.C), tol=TOL, warm_start=start)

    def highs() -> float:
        return solve_declaration(
            declare(f"{row.form}.dual", row.problem(row.C)), "HIGHS", time_limit=HIGHS_SECONDS
        ).value

    ours()
    near = solve(row.problem(0.8 * row.C), tol=TOL)
    sides: list[Callable[[], Any]] = [
        ours,
        lambda: ours(near).value,
        *([] if row.must is None else [highs]),
    ]
    (solution, seconds, _), warm, *theirs = in_turn(*sides, rounds=3 if row.quick else 1)
    proven, found = (
        solution.interval,
        {"form": row.form, "points": solution.problem.m, "rows": solution.problem.p, "C": row.C},
    )
    if theirs:
        value = theirs[0].result
        found |= {"HiGHS s": theirs[0].cpu, "ratio": theirs[0].cpu / seconds}
        found["apart"] = (
            max(proven.lower - value, value - proven.upper, 0.0) / proven.size
            if np.isfinite(value)
            else np.nan
        )
    found |= {
        "ours s": seconds,
        "warm s": warm.cpu,
        "must": row.must,
        "within": row.within,
        "width": proven.relative_width,
    }
    return found | {"GB": gigabytes()}


COLUMNS = {
    "form": "13s",
    "points": "7,d",
    "rows": "8,d",
    "C": "6g",
    "HiGHS s": "8.2f",
    "ours s": "7.2f",
    "warm s": "7.2f",
    "ratio": "6.1f",
}
COLUMNS |= {"must": "5g", "within": "7g", "width": "8.1e", "apart": "8.1e", "GB": "5.2f"}
BENCHMARK = Benchmark(
    __doc__, lambda asked: iter([Table(COLUMNS, map(measured, chosen(ROWS, asked)))]), QUICK
)
