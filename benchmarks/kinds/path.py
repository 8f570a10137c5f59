"""Whole regularisation paths, against a grid of LIBSVM where it has the problem.

CPU time with one BLAS thread in one warm process.

    python benchmarks/run.py kinds.path --data DATA            all rows
    python benchmarks/run.py kinds.path --data DATA --quick    the small rows

DATA holds esl-mixture.csv and auto-mpg.csv. A classification path goes from lambda_0
down to lambda_min = 1e-4; LIBSVM solves 100 problems between the same two, evenly on a
log grid, at tol = 1e-3, the two sides taking turns. More points than the mixture's 200
are its own with noise. "a row" is breakpoints over rows of the problem, training pairs
in rankings, of which document P has two to three; gaps are those that the path reports.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from clock import in_turn
from sklearn.svm import SVC
from table import DATA, QUICK, Benchmark, Line, Table, chosen

from equimargin.formulations import (
    MarginProblem,
    classification,
    ranking,
    ranking_from_pairs,
    rbf,
    reduced_preferences,
)
from equimargin.solvers import RegularizationPath, regularization_path

LAMBDA_MIN, GRID = 1e-4, 100


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Parameters
    ----------
    data : str
        "mixture" or "auto".
    task : str
        "classification", "reduced" or "pairs": a ranking of the reduced graph or of all
        pairs.
    n : int
        Number of points.
    gamma : float
        Parameter of the kernel.
    must : float | None
        Minimum speed-up of a path over the grid.
    within : float | None
        Limit of its CPU seconds.
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


def mixture(folder: Path, n: int) -> tuple[Any, Any]:
    """Return n points of the mixture data, or all points and copies with noise."""
    table = np.genfromtxt(folder / "esl-mixture.csv", delimiter=",", skip_header=1)
    rng = np.random.default_rng(0)
    X, y = table[:, :2], np.where(table[:, 2] > 0, 1.0, -1.0)
    extra = rng.integers(0, len(X), max(n - len(X), 0))
    X, y = (
        np.concatenate([X, X[extra] + 0.2 * rng.normal(size=(len(extra), 2))]),
        np.concatenate([y, y[extra]]),
    )
    chosen = rng.permutation(len(X))[:n]
    return X[chosen], y[chosen]


def auto(folder: Path, n: int) -> tuple[Any, Any]:
    """Return n cars without missing values: seven scaled features, and miles per gallon."""
    with (folder / "auto-mpg.csv").open(newline="", encoding="utf-8") as file:
        lines = [line[1:-1] for line in csv.reader(file)][1:]
    table = np.array(
        [
            [float(entry) for entry in line]
            for line in lines
            if all(entry not in ("", "NA", "?") for entry in line)
        ]
    )
    X, y = table[:, 1:], table[:, 0]
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return ((X - X.mean(axis=0)) / X.std(axis=0))[chosen], y[chosen]


def problem_of(row: Row, folder: Path) -> MarginProblem:
    """Return the problem of a row."""
    X, y = (mixture if row.data == "mixture" else auto)(folder, row.n)
    kernel = rbf(row.gamma)
    if row.task == "classification":
        return classification(X, y, kernel=kernel)
    return (
        ranking(X, y, kernel=kernel)
        if row.task == "pairs"
        else ranking_from_pairs(X, reduced_preferences(y), kernel=kernel)
    )


def followed(row: Row, folder: Path) -> RegularizationPath:
    """Follow the path of a row, its problem built anew."""
    return regularization_path(problem_of(row, folder), LAMBDA_MIN)


def measured(folder: Path, row: Row) -> Line:
    """Measure both sides in turn, three times; once where a path takes long."""
    problem = problem_of(row, folder)
    highest = regularization_path(problem, LAMBDA_MIN, max_events=10).lambdas[0]

    def grid() -> None:
        for lam in np.geomspace(highest, LAMBDA_MIN, GRID).tolist():
            SVC(C=1 / lam, gamma=row.gamma, tol=1e-3, cache_size=1000).fit(
                problem.X, problem.rows.y
            )

    sides: list[Callable[[], Any]] = [
        partial(followed, row, folder),
        *([grid] if row.task == "classification" else []),
    ]
    (path, ours, _), *theirs = in_turn(*sides, rounds=3 if row.quick else 1)
    found = {
        "data": row.data,
        "task": row.task,
        "n": row.n,
        "rows": path.problem.p,
        "path s": ours,
        "must": row.must,
        "within": row.within,
    }
    if theirs:
        found |= {"LIBSVM s": theirs[0].cpu, "ratio": theirs[0].cpu / ours}
    found |= {
        "points": len(path),
        "a row": len(path) / path.problem.p,
        "set": int(path.margins.max()),
        "stopped": path.stopped,
    }
    return found | {"gap": max(float(path.gaps.max()), float(path.midpoint_gaps.max(initial=0.0)))}


COLUMNS = {
    "data": "8s",
    "task": "14s",
    "n": "4d",
    "rows": "7,d",
    "LIBSVM s": "9.2f",
    "path s": "7.2f",
    "ratio": "6.1f",
    "must": "5g",
}
COLUMNS |= {
    "within": "6g",
    "points": "7,d",
    "a row": "6.2f",
    "set": "4d",
    "gap": "8.1e",
    "stopped": "s",
}
BENCHMARK = Benchmark(
    __doc__,
    lambda asked: iter([Table(COLUMNS, map(partial(measured, asked.data), chosen(ROWS, asked)))]),
    QUICK | {"data": (DATA, "the folder of esl-mixture.csv and auto-mpg.csv")},
)
