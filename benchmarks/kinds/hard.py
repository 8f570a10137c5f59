"""Hard margins without a bias against CLARABEL on the declaration.

CPU time with one BLAS thread in one warm process.

    python benchmarks/run.py kinds.hard            all rows
    python benchmarks/run.py kinds.hard --quick    the small rows

Our side builds the problem and solves it through the public `solve` at tol = 1e-6, the
other solves the declared primal, where that is small enough to be declared, the two
sides taking turns. What the answer proves is computed outside the timing: the relative
width of the interval, or how many rows the exact ray has.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from clock import in_turn
from table import QUICK, Benchmark, Line, Table, chosen

from equimargin.formulations import MarginProblem, classification, declare, ranking, rbf
from equimargin.solvers import Solution, solve, solve_declaration

TOL = 1e-6


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    form : str
        "levels" (rounded scores), "order" (a total order) or "classes".
    m, d : int
        Points and features.
    gamma : float
        Parameter of an RBF kernel; 0 for the linear one.
    noise : float
        Noise of the scores, so that no function satisfies the rows.
    within : float | None
        Limit of our CPU seconds, None for none.
    """

    form: str
    m: int
    d: int
    gamma: float = 0.0
    noise: float = 0.0
    within: float | None = None
    quick: bool = False

    def problem(self) -> MarginProblem:
        """Return the problem, with equal data at every call."""
        rng = np.random.default_rng(self.m)
        X, w = rng.normal(size=(self.m, self.d)), rng.normal(size=self.d)
        score = X @ w + self.noise * rng.normal(size=self.m)
        kernel = rbf(self.gamma) if self.gamma else None
        if self.form == "classes":
            return classification(X, np.where(score > 0, 1.0, -1.0), np.inf, kernel, bias=False)
        scores = {"levels": np.round(score), "order": np.sin(score) if self.gamma else score}
        return ranking(X, scores[self.form], None, np.inf, kernel)


ROWS = (
    Row("levels", 300, 5, quick=True),
    Row("order", 150, 10, quick=True),
    Row("order", 150, 5, gamma=1.0, quick=True),
    Row("classes", 2_000, 20, quick=True),
    Row("levels", 100_000, 46, noise=0.3, within=2.0, quick=True),
    Row("order", 300, 5, gamma=0.1),
    Row("order", 1_000, 5, gamma=1.0, within=1.0),
    Row("order", 1_000, 5, gamma=0.1, within=1.0),
    Row("order", 2_000, 5, gamma=0.1),
    Row("classes", 1_000, 5, gamma=1.0, noise=5.0),
    Row("classes", 19_000, 46),
    Row("order", 5_000, 46),
    Row("levels", 80_000, 46),
    Row("levels", 800_000, 46, within=4.0),
)


def solved(row: Row) -> Solution:
    """Solve a row, its problem built anew."""
    return solve(row.problem(), "dual_active_set", tol=TOL, time_limit=120)


def measured(row: Row) -> Line:
    """Measure the sides of a row in turn."""
    problem = row.problem()
    sides: list[Callable[[], Any]] = [partial(solved, row)]
    if problem.undeclarable is None and row.m <= 300:
        sides.append(
            lambda: solve_declaration(declare(f"{problem.family}.primal", row.problem())).value
        )
    (found, seconds, _), *theirs = in_turn(*sides, limit=5.0)
    proven = (
        f"a ray of {len(found.ray)} rows"
        if found.ray is not None
        else f"width {found.interval.relative_width:.0e}"
    )
    name = f"{row.form}, {row.m:,} x {row.d}, {f'RBF {row.gamma:g}' if row.gamma else 'linear'}"
    line = {
        "row": name,
        "rows": problem.p,
        "ours s": seconds,
        "within": row.within,
        "status": found.status,
        "proven": proven,
    }
    late = row.within is not None and seconds > row.within
    return line | {"CLARABEL s": theirs[0].cpu if theirs else None, "": "late" if late else ""}


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table, after kernels are compiled."""
    for warm in (Row("levels", 60, 3), Row("order", 40, 3, gamma=1.0)):
        solved(warm)
    yield Table(COLUMNS, map(measured, chosen(ROWS, asked)))


COLUMNS = {
    "row": "34s",
    "rows": "16,d",
    "ours s": "7.2f",
    "within": "6g",
    "status": "10s",
    "proven": "18s",
    "CLARABEL s": "10.2f",
    "": "s",
}
BENCHMARK = Benchmark(__doc__, tables, QUICK)
