"""Linear machines against LIBLINEAR, the two sides taking turns.

CPU time with one BLAS thread in one warm process.

    python benchmarks/run.py kinds.linear            all rows, the worst of three seeds each
    python benchmarks/run.py kinds.linear --quick    the small rows, one seed

Our side builds the problem and solves it through the public `solve`, at the tolerance
of the relative suboptimality that LIBLINEAR reaches with scikit-learn's defaults (1000
iterations at most); LIBLINEAR's side is `fit`. Both have a penalised bias.
Suboptimalities are measured outside the timing, by one function for both sides, from a
proven lower bound.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from clock import in_turn
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from table import QUICK, Benchmark, Line, Table, chosen

from equimargin.formulations import MarginProblem, classification
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import Solution, solve

SEEDS = (0, 1, 2)
LOWER_TOL = 1e-11
"""Relative gap of the solution whose proven lower bound all suboptimalities use."""
TIGHTEST = 1e-12
"""Smallest tolerance of our side."""


@dataclass(frozen=True)
class Row:
    """Line of the table: n points of d features, a loss, C, and our minimum speed-up."""

    n: int
    d: int
    loss: LossName
    C: float
    must: float
    thin: bool = False
    quick: bool = False

    @property
    def name(self) -> str:
        """Name of the line."""
        return f"{'sparse ' if self.thin else ''}{self.n:,} x {self.d:,}, {self.loss}, C={self.C:g}"


ROWS = [
    Row(10_000, 20, "squared_hinge", 1.0, 10.0, quick=True),
    Row(50_000, 54, "squared_hinge", 1.0, 10.0, quick=True),
    Row(20_000, 100, "squared_hinge", 1.0, 10.0, quick=True),
    Row(3_000, 1_000, "squared_hinge", 1.0, 3.0),
    Row(10_000, 20, "hinge", 1.0, 12.0, quick=True),
    Row(50_000, 54, "hinge", 1.0, 12.0),
    Row(20_000, 100, "hinge", 1.0, 12.0),
    Row(3_000, 1_000, "hinge", 1.0, 12.0),
    Row(10_000, 20, "hinge", 0.01, 2.0, quick=True),
    Row(50_000, 54, "hinge", 0.01, 2.0),
    Row(20_000, 100, "hinge", 0.01, 2.0, quick=True),
    Row(3_000, 1_000, "hinge", 0.01, 2.0),
    Row(20_000, 50_000, "squared_hinge", 1.0, 1.0, thin=True, quick=True),
    Row(20_000, 50_000, "hinge", 1.0, 1.0, thin=True, quick=True),
]


def data(row: Row, seed: int) -> tuple[Any, Any]:
    """Return X and y: standardised clusters, or a thin random matrix with a noisy linear truth."""
    if not row.thin:
        X, y = make_classification(
            row.n, row.d, n_informative=row.d // 2, class_sep=1, flip_y=0.05, random_state=seed
        )
        return StandardScaler().fit_transform(X), np.where(y > 0, 1.0, -1.0)
    rng = np.random.default_rng(seed)
    X = sparse.random_array(
        (row.n, row.d),
        density=1e-3,
        format="csr",
        rng=rng,
        data_sampler=lambda size: rng.normal(size=size),
    )
    score = X @ rng.normal(size=row.d)
    return X, np.where(score + 0.3 * score.std() * rng.normal(size=row.n) > 0, 1.0, -1.0)


def suboptimality(problem: MarginProblem, w: Any, lower: float) -> float:
    """Return (P(w) - lower) / P(w), P the primal objective; w ends with the bias."""
    primal = problem.primal(problem.X @ w[:-1] + w[-1], float(w @ w), 0.0)
    return (primal - lower) / primal


def measured(row: Row, seed: int) -> Line:
    """Measure both sides on one data set."""
    X, y = data(row, seed)
    liblinear = partial(
        LinearSVC(C=row.C, loss=row.loss, intercept_scaling=1, random_state=0).fit, X, y
    )

    def ours(tol: float) -> Solution:
        return solve(classification(X, y, row.C, loss=row.loss, bias="penalized"), tol=tol)

    problem = classification(X, y, row.C, loss=row.loss, bias="penalized")
    lower = solve(problem, tol=LOWER_TOL, time_limit=300).lower
    model = liblinear()
    off = suboptimality(problem, np.append(model.coef_[0], model.intercept_), lower)
    tol = max(off, TIGHTEST)
    ours(tol)
    theirs, own = in_turn(
        liblinear, partial(ours, tol), rounds=5 if row.n < 10_000 and row.d < 1_000 else 3
    )
    found = {
        "row": row.name,
        "seed": seed,
        "LIBLINEAR s": theirs.cpu,
        "LIBLINEAR off": off,
        "ours s": own.cpu,
    }
    found |= {
        "ours off": suboptimality(problem, own.result.w, lower),
        "gap": own.result.relative_gap,
    }
    return found | {"ratio": theirs.cpu / own.cpu, "must": row.must}


def lines(asked: Namespace) -> Iterator[Line]:
    """Yield the worst seed of every row."""
    for row in chosen(ROWS, asked):
        yield min(
            (measured(row, seed) for seed in (SEEDS[:1] if asked.quick else SEEDS)),
            key=lambda line: line["ratio"],
        )


COLUMNS = {
    "row": "42s",
    "LIBLINEAR s": "12.4f",
    "LIBLINEAR off": "13.1e",
    "ours s": "9.4f",
    "ours off": "8.1e",
    "gap": "8.1e",
}
COLUMNS |= {"ratio": "7.1f", "must": "5g"}
BENCHMARK = Benchmark(__doc__, lambda asked: iter([Table(COLUMNS, lines(asked))]), QUICK)
