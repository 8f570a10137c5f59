"""Linear machines against LIBLINEAR: CPU time with one BLAS thread in one warm process, the two sides taking turns.

    python benchmarks/kinds/linear.py            all rows, the worst of three seeds each
    python benchmarks/kinds/linear.py --quick    the small rows, one seed

Our side builds the problem and solves it through the public `solve`, at the tolerance of the relative suboptimality that LIBLINEAR reaches
with scikit-learn's defaults (1000 iterations at most); LIBLINEAR's side is `fit`. Both have a penalised bias. Suboptimalities are measured
outside the timing, by one function for both sides, from a proven lower bound. The table is also written to build/linear.json.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from equimargin.formulations import MarginProblem, classification
from equimargin.formulations.problem.choices import LossName
from equimargin.solvers import Solution, solve

OUT = Path(__file__).resolve().parents[2] / "build" / "linear.json"
SEEDS = (0, 1, 2)
LOWER_TOL = 1e-11
"""Relative gap of the solution whose proven lower bound suboptimalities are measured from."""
TIGHTEST = 1e-12
"""Of the tolerances that our side is asked for."""


@dataclass(frozen=True)
class Row:
    """A line of the table: n points of d features, a loss, C, and by how much we must at least be faster."""

    n: int
    d: int
    loss: LossName
    C: float
    must: float
    thin: bool = False
    quick: bool = False

    @property
    def name(self) -> str:
        """What the line is called."""
        return f"{'sparse ' if self.thin else ''}{self.n:,} x {self.d:,}, {self.loss}, C={self.C:g}"

    @property
    def repeats(self) -> int:
        """How often each side is timed."""
        return 5 if self.n < 10_000 and self.d < 1_000 else 3


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


@dataclass(frozen=True)
class Measured:
    """A row with one seed: CPU seconds and relative suboptimality of both sides."""

    seed: int
    theirs: float
    ours: float
    their_suboptimality: float
    our_suboptimality: float
    our_gap: float

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.theirs / self.ours


def data(row: Row, seed: int) -> tuple[Any, Any]:
    """X and y: standardised clusters, or a thin random matrix with a noisy linear truth."""
    if not row.thin:
        X, y = make_classification(row.n, row.d, n_informative=row.d // 2, class_sep=1, flip_y=0.05, random_state=seed)
        return StandardScaler().fit_transform(X), np.where(y > 0, 1.0, -1.0)
    rng = np.random.default_rng(seed)
    X = sparse.random_array((row.n, row.d), density=1e-3, format="csr", rng=rng, data_sampler=lambda size: rng.normal(size=size))
    score = X @ rng.normal(size=row.d)
    return X, np.where(score + 0.3 * score.std() * rng.normal(size=row.n) > 0, 1.0, -1.0)


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def suboptimality(problem: MarginProblem, w: Any, lower: float) -> float:
    """(P(w) - lower) / P(w), P the primal objective; w ends with the bias."""
    primal = problem.primal(problem.X @ w[:-1] + w[-1], float(w @ w), 0.0)
    return (primal - lower) / primal


def measured(row: Row, seed: int) -> Measured:
    """Both sides on one data set."""
    X, y = data(row, seed)

    def liblinear() -> Any:
        return LinearSVC(C=row.C, loss=row.loss, intercept_scaling=1, random_state=0).fit(X, y)

    def ours(tol: float) -> Solution:
        return solve(classification(X, y, row.C, loss=row.loss, bias="penalized"), tol=tol)

    problem = classification(X, y, row.C, loss=row.loss, bias="penalized")
    lower = solve(problem, tol=LOWER_TOL, time_limit=300).lower
    model = liblinear()
    theirs = suboptimality(problem, np.append(model.coef_[0], model.intercept_), lower)
    tol = max(theirs, TIGHTEST)
    ours(tol)
    times = [(cpu(liblinear)[0], cpu(lambda: ours(tol))) for _ in range(row.repeats)]
    solution = times[-1][1][1]
    reached = suboptimality(problem, solution.w, lower)
    return Measured(seed, median(a for a, _ in times), median(b for _, (b, _) in times), theirs, reached, solution.relative_gap)


def table(quick: bool) -> Iterator[dict[str, Any]]:
    """Print the worst seed of every row, and what to write of it."""
    print(f"{'row':42s} {'LIBLINEAR s':>12s} {'subopt.':>8s} {'ours s':>9s} {'subopt.':>8s} {'gap':>8s} {'ratio':>7s} {'must':>5s}")
    for row in ROWS:
        if quick and not row.quick:
            continue
        found = [measured(row, seed) for seed in (SEEDS[:1] if quick else SEEDS)]
        worst = min(found, key=lambda m: m.ratio)
        print(
            f"{row.name:42s} {worst.theirs:12.4f} {worst.their_suboptimality:8.1e} {worst.ours:9.4f} {worst.our_suboptimality:8.1e} "
            f"{worst.our_gap:8.1e} {worst.ratio:7.1f} {row.must:5g}",
            flush=True,
        )
        yield {"row": row.name, "must": row.must, "ratio": worst.ratio, "seeds": [asdict(m) for m in found]}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small rows with one seed")
    arguments = parser.parse_args()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = list(table(arguments.quick))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
