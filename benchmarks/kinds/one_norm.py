"""One-norm rankings and classifications against HiGHS on the declared linear program: CPU time with one BLAS thread in one warm process.

    python benchmarks/kinds/one_norm.py            all rows
    python benchmarks/kinds/one_norm.py --quick    the small rows

Our side builds the problem and solves it through the public `solve` at tol = 1e-6; the other builds the declaration of the dual and hands
it to HiGHS, where it is small enough to be declared, the two sides taking turns. The value of either side is proven outside the timing: the
table shows the relative width of our proven interval, and how far the other's value is from it. "warm" is our side at C after a solution
at 0.8 C. Memory is the peak of the process so far. The table is also written to build/one_norm.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from equimargin.formulations import OneNormProblem, declare, one_norm_classification, one_norm_ranking, ranking_vector_machine, rbf
from equimargin.solvers import Solution, solve, solve_declaration

OUT = Path(__file__).resolve().parents[2] / "build" / "one_norm.json"
TOL = 1e-6
HIGHS_SECONDS = 300.0


@dataclass(frozen=True)
class Row:
    """A line of the table.

    form : "rvm", "rank.onenorm", or "svm.onenorm" of two levels.
    queries, size, d : the number of queries, of points in each, and of features.
    shares : of the points of a query, those of every level, lowest first; one level for each point where empty.
    duplicates : share of the rows that repeat another.  must : by how much we must at least be faster, None where HiGHS is not asked.
    within : CPU seconds that ours may take, None without a bound.
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
        """Of this row, at any C."""
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


@dataclass(frozen=True)
class Measured:
    """CPU seconds of both sides, medians, nan where a side was not run; what was proven; GB in use at most."""

    m: int
    p: int
    theirs: float
    ours: float
    warm: float
    width: float
    apart: float
    memory: float

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.theirs / self.ours


def data(row: Row) -> tuple[Any, Any, Any]:
    """X, relevances and queries: features in [0, 1], mostly small, and a noisy score cut into levels query by query."""
    rng, m = np.random.default_rng(0), row.queries * row.size
    X = rng.random((m, row.d)) ** 2
    repeated = rng.permutation(m)[: int(row.duplicates * m)]
    X[repeated] = X[rng.integers(m, size=len(repeated))]
    score = (X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=m)).reshape(row.queries, row.size)
    place = score.argsort(axis=1).argsort(axis=1)
    edges = np.cumsum(row.shares)[:-1] * row.size if row.shares else np.arange(1, row.size)
    return X, np.searchsorted(edges, place.ravel(), side="right"), np.repeat(np.arange(row.queries), row.size)


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def measured(row: Row) -> Measured:
    """Both sides on one problem."""

    def highs() -> float:
        declaration = declare(f"{row.form}.dual", row.problem(row.C))
        return solve_declaration(declaration, "HIGHS", time_limit=HIGHS_SECONDS).value

    def ours(start: Solution | None = None) -> Solution:
        return solve(row.problem(row.C), tol=TOL, warm_start=start)

    ours()
    near = solve(row.problem(0.8 * row.C), tol=TOL)
    times: list[tuple[float, float, float]] = []
    value, repeats = np.nan, 3 if row.quick else 1
    for _ in range(repeats):
        theirs = np.nan
        if row.must is not None:
            theirs, value = cpu(highs)
        seconds, solution = cpu(ours)
        times.append((theirs, seconds, cpu(lambda: ours(near))[0]))
    proven = solution.interval
    apart = max(proven.lower - value, value - proven.upper, 0.0) / proven.size if np.isfinite(value) else np.nan
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    theirs, seconds, warm = (median(column) for column in zip(*times, strict=True))
    return Measured(solution.problem.m, solution.problem.p, theirs, seconds, warm, proven.relative_width, apart, memory)


def table(quick: bool) -> Iterator[dict[str, Any]]:
    """Print the rows, and what to write of them."""
    titles = (
        f"{'points':>7s} {'rows':>8s} {'C':>6s} {'HiGHS s':>8s} {'ours s':>7s} {'warm s':>7s} {'ratio':>6s} {'must':>5s} {'within':>7s}"
    )
    print(f"{'form':13s} {titles} {'width':>8s} {'apart':>8s} {'GB':>5s}")
    for row in ROWS:
        if quick and not row.quick:
            continue
        found = measured(row)
        size = f"{row.form:13s} {found.m:7,d} {found.p:8,d} {row.C:6g}"
        seconds = f"{found.theirs:8.2f} {found.ours:7.2f} {found.warm:7.2f} {found.ratio:6.1f}"
        wanted = f"{row.must or np.nan:5g} {row.within or np.nan:7g}"
        print(f"{size} {seconds} {wanted} {found.width:8.1e} {found.apart:8.1e} {found.memory:5.2f}", flush=True)
        yield {"row": asdict(row), "ratio": found.ratio, **asdict(found)}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small rows")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        rows = list(table(arguments.quick))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
