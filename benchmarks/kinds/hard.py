"""Hard margins without a bias against CLARABEL on the declaration: CPU time with one BLAS thread in one warm process.

    python benchmarks/kinds/hard.py            all rows
    python benchmarks/kinds/hard.py --quick    the small rows

Our side builds the problem and solves it through the public `solve` at tol = 1e-6, the other solves the declared primal, where that is
small enough to be declared, the two sides taking turns. What the answer proves is computed outside the timing: the relative width of the
interval, or how many rows the exact ray has. The table is also written to build/hard.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from equimargin.formulations import MarginProblem, classification, declare, ranking, rbf
from equimargin.solvers import Solution, solve, solve_declaration

OUT = Path(__file__).resolve().parents[2] / "build" / "hard.json"
TOL = 1e-6
TURNS = 3


@dataclass(frozen=True)
class Row:
    """A line of the table.

    form : "levels" (rounded scores), "order" (a total order) or "classes".  m, d : points and features.
    gamma : of an RBF kernel; 0 is the linear one.  noise : added to the scores, so that no function meets the rows.
    within : CPU seconds that ours may take, None without a bound.
    """

    form: str
    m: int
    d: int
    gamma: float = 0.0
    noise: float = 0.0
    within: float | None = None
    quick: bool = False

    def problem(self) -> MarginProblem:
        """The same data at every call."""
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


@dataclass(frozen=True)
class Line:
    """What was measured of a row: seconds of CPU time, rows, and what the answer proves."""

    row: Row
    rows: int
    seconds: float
    status: str
    proven: str
    clarabel: float | None

    def __str__(self) -> str:
        row = self.row
        kernel = f"RBF {row.gamma:g}" if row.gamma else "linear"
        bound = "" if row.within is None else f" (within {row.within:g})"
        other = "" if self.clarabel is None else f"{self.clarabel:.2f} s"
        name = f"{row.form}, {row.m:,} x {row.d}, {kernel}"
        return f"{name:34} {self.rows:>16,} {self.seconds:7.2f} s{bound:13} {self.status:18} {self.proven:16} {other}"


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of CPU time, and what came of it."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def measured(row: Row) -> Line:
    """The median of a few turns; one turn where a run takes long."""
    ours: list[float] = []
    theirs: list[float] = []
    found: Solution | None = None
    while len(ours) < TURNS and sum(ours) < 5.0:
        seconds, found = timed(lambda: solve(row.problem(), "dual_active_set", tol=TOL, time_limit=120))
        ours.append(seconds)
        if row.problem().undeclarable is None and row.m <= 300:
            theirs.append(timed(lambda: solve_declaration(declare(f"{row.problem().family}.primal", row.problem())))[0])
    assert found is not None
    proven = f"a ray of {len(found.ray)} rows" if found.ray is not None else f"width {found.interval.relative_width:.0e}"
    return Line(row, row.problem().p, median(ours), found.status, proven, median(theirs) if theirs else None)


def main() -> None:
    """Measure, print and write the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="the small rows only")
    quick = arguments.parse_args().quick
    lines = []
    with threadpool_limits(1):
        for warm in (Row("levels", 60, 3), Row("order", 40, 3, gamma=1.0)):  # kernels are compiled before anything is timed
            solve(warm.problem(), "dual_active_set")
        for row in ROWS:
            if row.quick or not quick:
                lines.append(measured(row))
                print(lines[-1], flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps([asdict(line) for line in lines], indent=1), encoding="utf-8")
    late = [line for line in lines if line.row.within is not None and line.seconds > line.row.within]
    print("all within their bounds" if not late else f"late: {len(late)}")


if __name__ == "__main__":
    main()
