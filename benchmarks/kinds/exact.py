"""Exact optima: CPU time with one BLAS thread in one warm process, from the problem's floats to its checked rational optimum.

    python benchmarks/kinds/exact.py

The time of `exact_optimum` holds the float solution that it starts from, and the proof that a given Gram matrix is positive semidefinite;
"exact" is what is left with that solution given. `off` is how far the middle of the float solution's proven interval is from the exact
optimum, relatively, `bits` the length of the optimum's denominator. The table is also written to build/exact.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from equimargin.formulations import OneNormProblem, Problem, classification, polynomial, ranking, ranking_vector_machine, rbf, regression
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers import ExactOptimum, exact_optimum, given_gram, solve

OUT = Path(__file__).resolve().parents[2] / "build" / "exact.json"
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Row:
    """A line of the table: its name, the problem of a seed, and the CPU seconds that it must stay within, if any."""

    name: str
    problem: Callable[[np.random.Generator], Problem]
    must: float = float("nan")


def svm(n: int, C: float, gamma: float, loss: Any = "hinge") -> Callable[[np.random.Generator], Problem]:
    """Two noisy classes and the float Gram matrix of an RBF kernel."""

    def draw(rng: np.random.Generator) -> Problem:
        X = rng.normal(size=(n, 4))
        y = np.where(np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
        return given_gram(classification(X, y, C, rbf(gamma), loss))

    return draw


def svr(n: int, C: float) -> Callable[[np.random.Generator], Problem]:
    """Noisy targets and the float Gram matrix of an RBF kernel."""

    def draw(rng: np.random.Generator) -> Problem:
        X = rng.normal(size=(n, 4))
        return given_gram(regression(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n), C, 0.1, rbf(0.3)))

    return draw


def ranks(n: int, C: float, loss: Any = "hinge") -> Callable[[np.random.Generator], Problem]:
    """A noisy total order, every pair of it, and the float Gram matrix of an RBF kernel."""

    def draw(rng: np.random.Generator) -> Problem:
        X = rng.normal(size=(n, 4))
        return given_gram(ranking(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n), None, C, rbf(0.3), loss))

    return draw


def grid(n: int, C: float) -> Callable[[np.random.Generator], Problem]:
    """Five levels on an integer grid with repeated points, and a quadratic kernel."""
    return lambda rng: ranking(rng.integers(-3, 4, (n, 4)), rng.integers(0, 5, n), None, C, polynomial(2, 1.0, 1.0))


def rvm(n: int, pairs: int) -> Callable[[np.random.Generator], Problem]:
    """Some of the pairs of a total order, and the float Gram matrix of an RBF kernel."""

    def draw(rng: np.random.Generator) -> Problem:
        X = rng.normal(size=(n, 4))
        whole = given_gram(ranking_vector_machine(X, X[:, 0] + X[:, 1] ** 2, None, 50.0 / pairs, rbf(0.5)))
        assert isinstance(whole, OneNormProblem)
        assert isinstance(whole.rows, Pairs)
        chosen = rng.choice(whole.p, pairs, replace=False)
        return replace(whole, rows=Pairs(whole.rows.preferred[chosen], whole.rows.other[chosen], n))

    return draw


ROWS = [
    Row("SVM, RBF Gram, n = 400, C = 1", svm(400, 1.0, 0.3), 2.0),
    Row("SVM, RBF Gram, n = 400, C = 10", svm(400, 10.0, 1.0), 2.0),
    Row("SVM, RBF Gram, n = 400, squared", svm(400, 1.0, 0.3, "squared_hinge"), 2.0),
    Row("SVM, RBF Gram, n = 800, C = 10", svm(800, 10.0, 1.0)),
    Row("SVR, RBF Gram, n = 400, C = 10", svr(400, 10.0)),
    Row("RankSVM, RBF Gram, 200 points, 19,900 pairs", ranks(200, 1 / 16), 2.0),
    Row("RankSVM, RBF Gram, 200 points, C = 10", ranks(200, 10.0)),
    Row("RankSVM, RBF Gram, 200 points, squared", ranks(200, 1 / 16, "squared_hinge")),
    Row("RankSVM, integer grid, 200 points", grid(200, 1 / 16)),
    Row("RVM, RBF Gram, 50 points, 500 pairs", rvm(50, 500), 1.0),
    Row("RVM, RBF Gram, 100 points, 2,000 pairs", rvm(100, 2000)),
]


def cpu(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returns."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def measured(row: Row, seed: int) -> dict[str, Any]:
    """A line with one seed."""
    problem = row.problem(np.random.default_rng(seed))
    solution = solve(problem, tol=1e-10)
    whole, found = cpu(lambda: exact_optimum(problem))
    assert isinstance(found, ExactOptimum)
    assert found.value is not None
    exact = whole if isinstance(problem, OneNormProblem) else cpu(lambda: exact_optimum(problem, start=solution.point))[0]
    proven = Fraction(solution.lower) <= found.value <= Fraction(solution.upper)
    middle = (Fraction(solution.lower) + Fraction(solution.upper)) / 2
    return {
        "seconds": whole,
        "exact_seconds": exact,
        "pivots": found.pivots,
        "bits": found.value.denominator.bit_length(),
        "off": float(abs(middle - found.value) / found.value),
        "proven": proven,
    }


def main() -> None:
    """Measure, print and write."""
    rows = []
    with threadpool_limits(1):
        for warm in (svm(30, 1.0, 1.0), svm(30, 1.0, 1.0, "squared_hinge"), svr(30, 1.0), ranks(60, 1.0), rvm(20, 50)):
            exact_optimum(warm(np.random.default_rng(0)))
        print(
            f"{'row, the slowest of three seeds':46s} {'s':>7s} {'exact s':>8s} {'must':>5s} {'pivots':>6s} {'bits':>7s} {'off':>8s} proven"
        )
        for row in ROWS:
            found = [measured(row, seed) for seed in SEEDS]
            worst = max(found, key=lambda m: m["seconds"])
            exact, pivots, off = median(m["exact_seconds"] for m in found), max(m["pivots"] for m in found), max(m["off"] for m in found)
            print(
                f"{row.name:46s} {worst['seconds']:7.2f} {exact:8.2f} {row.must:5.1f} {pivots:6d} {worst['bits']:7d} {off:8.1e} "
                f"{all(m['proven'] for m in found)}",
                flush=True,
            )
            rows.append({"row": row.name, "must": row.must, "seeds": found})
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
