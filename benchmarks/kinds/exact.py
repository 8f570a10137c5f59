"""Exact optima: CPU time from the floats of a problem to its checked optimum.

One BLAS thread in one warm process.

    python benchmarks/run.py kinds.exact

The time of `exact_optimum` holds the float solution that it starts from, and the proof
that a given Gram matrix is positive semidefinite; "exact" is what is left with that
solution given. `off` is how far the middle of the float solution's proven interval is
from the exact optimum, relatively, `bits` the length of the optimum's denominator. A
line is the slowest of three seeds.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
from clock import timed
from table import Benchmark, Line, Table

from equimargin.formulations import (
    OneNormProblem,
    Problem,
    classification,
    polynomial,
    ranking,
    ranking_vector_machine,
    rbf,
    regression,
)
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers import exact_optimum, given_gram, solve

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Row:
    """Line of the table: name, problem of a seed, and limit of CPU seconds, if any."""

    name: str
    problem: Callable[[np.random.Generator], Problem]
    must: float = float("nan")


def noisy(
    n: int, noise: float, stated: Callable[[Any, Any], Problem]
) -> Callable[[np.random.Generator], Problem]:
    """Draw n points and a noisy score, and state a problem by its float Gram matrix."""

    def draw(rng: np.random.Generator) -> Problem:
        X = rng.normal(size=(n, 4))
        return given_gram(
            stated(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + noise * rng.normal(size=n))
        )

    return draw


def svm(
    n: int, C: float, gamma: float, loss: Any = "hinge"
) -> Callable[[np.random.Generator], Problem]:
    """Draw two noisy classes."""
    return noisy(
        n,
        0.3,
        lambda X, score: classification(X, np.where(score > 0, 1.0, -1.0), C, rbf(gamma), loss),
    )


def svr(n: int, C: float) -> Callable[[np.random.Generator], Problem]:
    """Draw noisy targets."""
    return noisy(n, 0.2, lambda X, score: regression(X, score, C, 0.1, rbf(0.3)))


def ranks(n: int, C: float, loss: Any = "hinge") -> Callable[[np.random.Generator], Problem]:
    """Draw a noisy total order, every pair of it."""
    return noisy(n, 0.2, lambda X, score: ranking(X, score, None, C, rbf(0.3), loss))


def grid(n: int, C: float) -> Callable[[np.random.Generator], Problem]:
    """Return a sampler of five levels on an integer grid, with repeats; quadratic kernel."""
    return lambda rng: ranking(
        rng.integers(-3, 4, (n, 4)), rng.integers(0, 5, n), None, C, polynomial(2, 1.0, 1.0)
    )


def rvm(n: int, pairs: int) -> Callable[[np.random.Generator], Problem]:
    """Return a sampler of some pairs of a total order and a float Gram matrix (RBF)."""

    def draw(rng: np.random.Generator) -> Problem:
        X = rng.normal(size=(n, 4))
        whole = given_gram(
            ranking_vector_machine(X, X[:, 0] + X[:, 1] ** 2, None, 50.0 / pairs, rbf(0.5))
        )
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


def measured(row: Row, seed: int) -> Line:
    """Measure a line with one seed."""
    problem = row.problem(np.random.default_rng(seed))
    solution = solve(problem, tol=1e-10)
    found, whole, _ = timed(lambda: exact_optimum(problem))
    exact = (
        whole
        if isinstance(problem, OneNormProblem)
        else timed(lambda: exact_optimum(problem, start=solution.point)).cpu
    )
    lower, upper = Fraction(solution.lower), Fraction(solution.upper)
    line = {"row": row.name, "s": whole, "exact s": exact, "must": row.must, "pivots": found.pivots}
    line |= {
        "bits": found.value.denominator.bit_length(),
        "off": float(abs((lower + upper) / 2 - found.value) / found.value),
    }
    return line | {"proven": lower <= found.value <= upper}


def slowest(row: Row) -> Line:
    """Return the slowest of three seeds, with the worst of other figures."""
    found = [measured(row, seed) for seed in SEEDS]
    worst = max(found, key=lambda line: line["s"])
    worst |= {name: max(line[name] for line in found) for name in ("pivots", "off")}
    return worst | {
        "exact s": median(line["exact s"] for line in found),
        "proven": all(line["proven"] for line in found),
    }


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table, after kernels are compiled."""
    for warm in (
        svm(30, 1.0, 1.0),
        svm(30, 1.0, 1.0, "squared_hinge"),
        svr(30, 1.0),
        ranks(60, 1.0),
        rvm(20, 50),
    ):
        exact_optimum(warm(np.random.default_rng(0)))
    yield Table(COLUMNS, map(slowest, ROWS))


COLUMNS = {
    "row": "46s",
    "s": "7.2f",
    "exact s": "8.2f",
    "must": "5.1f",
    "pivots": "6d",
    "bits": "7d",
    "off": "8.1e",
    "proven": "s",
}
BENCHMARK = Benchmark(__doc__, tables)
