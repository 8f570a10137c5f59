"""Whole regularisation paths: CPU time with one BLAS thread in one warm process, against a grid of LIBSVM where there is one to be beaten.

    python benchmarks/kinds/path.py DATA            all rows; DATA holds esl-mixture.csv and auto-mpg.csv
    python benchmarks/kinds/path.py DATA --quick    the small rows

A classification path goes from lambda_0 down to lambda_min = 1e-4; LIBSVM solves 100 problems between the same two, evenly on a log grid,
at tol = 1e-3, the two sides taking turns. More points than the mixture's 200 are its own with noise. "a row" is breakpoints over rows of
the problem, training pairs in rankings, of which document P has two to three; gaps are what the path says of itself. The table is also
written to build/path.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from equimargin.formulations import MarginProblem, classification, ranking, ranking_from_pairs, rbf, reduced_preferences
from equimargin.solvers import RegularizationPath, regularization_path

OUT = Path(__file__).resolve().parents[2] / "build" / "path.json"
LAMBDA_MIN, GRID = 1e-4, 100


@dataclass(frozen=True)
class Row:
    """A line of the table.

    data : "mixture" or "auto".  task : "classification", "reduced" or "pairs": a ranking of the reduced graph or of all pairs.
    n : points.  gamma : of the kernel.  must : by how much a path must at least be faster than the grid.  within : CPU seconds it may take.
    """

    data: str
    task: str
    n: int
    gamma: float = 1.0
    must: float | None = None
    within: float | None = None
    quick: bool = True


ROWS = [
    Row("mixture", "classification", 100),
    Row("mixture", "classification", 200, must=4.0),
    Row("mixture", "classification", 400, must=4.0),
    Row("mixture", "reduced", 200),
    Row("mixture", "reduced", 400, within=0.3),
    Row("mixture", "pairs", 100),
    Row("auto", "reduced", 196, gamma=1 / 7),
    Row("auto", "pairs", 196, gamma=1 / 7, within=10.0, quick=False),
]


@dataclass(frozen=True)
class Measured:
    """CPU seconds of the grid (nan where there is none) and of the path, medians; what the path says of itself."""

    rows: int
    theirs: float
    ours: float
    breakpoints: int
    gap: float
    largest: int
    stopped: str

    @property
    def ratio(self) -> float:
        """How many times faster the path is."""
        return self.theirs / self.ours


def mixture(folder: Path, n: int) -> tuple[Any, Any]:
    """The mixture data: n of its points, or these and copies with noise."""
    table = np.genfromtxt(folder / "esl-mixture.csv", delimiter=",", skip_header=1)
    rng = np.random.default_rng(0)
    X, y = table[:, :2], np.where(table[:, 2] > 0, 1.0, -1.0)
    extra = rng.integers(0, len(X), max(n - len(X), 0))
    X, y = np.concatenate([X, X[extra] + 0.2 * rng.normal(size=(len(extra), 2))]), np.concatenate([y, y[extra]])
    chosen = rng.permutation(len(X))[:n]
    return X[chosen], y[chosen]


def auto(folder: Path, n: int) -> tuple[Any, Any]:
    """n of the cars without missing values: seven features, scaled, and miles per gallon."""
    with (folder / "auto-mpg.csv").open(newline="", encoding="utf-8") as file:
        lines = [line[1:-1] for line in csv.reader(file)][1:]
    table = np.array([[float(entry) for entry in line] for line in lines if all(entry not in ("", "NA", "?") for entry in line)])
    X, y = table[:, 1:], table[:, 0]
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return ((X - X.mean(axis=0)) / X.std(axis=0))[chosen], y[chosen]


def problem_of(row: Row, folder: Path) -> MarginProblem:
    """The problem of a row."""
    X, y = (mixture if row.data == "mixture" else auto)(folder, row.n)
    kernel = rbf(row.gamma)
    if row.task == "classification":
        return classification(X, y, kernel=kernel)
    return ranking(X, y, kernel=kernel) if row.task == "pairs" else ranking_from_pairs(X, reduced_preferences(y), kernel=kernel)


def grid(problem: MarginProblem, gamma: float, path: RegularizationPath) -> None:
    """LIBSVM at the grid's costs."""
    for lam in np.geomspace(path.lambdas[0], LAMBDA_MIN, GRID).tolist():
        SVC(C=1 / lam, gamma=gamma, tol=1e-3, cache_size=1000).fit(problem.X, problem.rows.y)


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def measured(row: Row, folder: Path) -> Measured:
    """Both sides in turn, three times; once where a path takes long."""
    times: list[tuple[float, float]] = []
    regularization_path(problem_of(row, folder), LAMBDA_MIN, max_events=10)
    for _ in range(3 if row.quick else 1):
        ours, path = cpu(lambda: regularization_path(problem_of(row, folder), LAMBDA_MIN))
        theirs = np.nan
        if row.task == "classification":
            theirs, _ = cpu(lambda path=path: grid(path.problem, row.gamma, path))  # type: ignore[misc]
        times.append((theirs, ours))
    theirs, ours = (median(column) for column in zip(*times, strict=True))
    worst = max(float(path.gaps.max()), float(path.midpoint_gaps.max(initial=0.0)))
    return Measured(path.problem.p, theirs, ours, len(path), worst, int(path.margins.max()), path.stopped)


def table(folder: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """Print the rows, and what to write of them."""
    titles = (
        f"{'rows':>7s} {'LIBSVM s':>9s} {'path s':>7s} {'ratio':>6s} {'must':>5s} {'within':>6s} {'points':>7s} {'a row':>6s} {'set':>4s}"
    )
    print(f"{'data':8s} {'task':14s} {'n':>4s} {titles} {'gap':>8s}  stopped")
    for row in ROWS:
        if quick and not row.quick:
            continue
        found = measured(row, folder)
        times = f"{found.theirs:9.2f} {found.ours:7.2f} {found.ratio:6.1f} {row.must or np.nan:5g} {row.within or np.nan:6g}"
        size = f"{found.breakpoints:7,d} {found.breakpoints / found.rows:6.2f} {found.largest:4d}"
        print(f"{row.data:8s} {row.task:14s} {row.n:4d} {found.rows:7,d} {times} {size} {found.gap:8.1e}  {found.stopped}", flush=True)
        yield {"row": asdict(row), "ratio": found.ratio, **asdict(found)}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of esl-mixture.csv and auto-mpg.csv")
    parser.add_argument("--quick", action="store_true", help="the small rows")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        rows = list(table(arguments.data, arguments.quick))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
