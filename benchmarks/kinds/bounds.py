"""CPU seconds of a proven interval with one BLAS thread, and of the product K beta.

python benchmarks/run.py kinds.bounds
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from clock import in_turn, timed
from table import Benchmark, Line, Table

from equimargin.formulations import (
    MarginProblem,
    Point,
    classification,
    interval,
    linear,
    ranking,
    rbf,
)
from equimargin.formulations.bounds.intervals import Interval


def problems() -> Iterator[tuple[str, MarginProblem]]:
    """Yield classifications, one row a point, and rankings of all pairs of two levels."""
    for kernel in (linear(), rbf(0.05)):
        for n in (500, 2_000, 10_000):
            rng = np.random.default_rng(0)
            X = rng.normal(size=(n, 20))
            yield (
                f"classification n={n:,} {kernel.name}",
                classification(X, np.sign(X[:, 0] + rng.normal(size=n)), 1.0, kernel),
            )
    for n in (200, 2_000):
        X = np.random.default_rng(0).normal(size=(n, 20))
        problem = ranking(X, np.arange(n) % 2, None, 1.0, rbf(0.05))
        yield f"ranking n={n:,} p={problem.p:,} rbf", problem


def interval_anew(problem: MarginProblem, point: Point) -> Interval:
    """Prove an interval without products of earlier calls."""
    problem.gram.prepare(np.zeros(problem.m))
    return interval(problem, point)


def lines() -> Iterator[Line]:
    """Measure a first product, with the Gram matrix formed, another, and the interval."""
    for name, problem in problems():
        alpha = np.random.default_rng(1).uniform(0, 1, problem.p)
        product, point = (
            partial(problem.gram.__matmul__, problem.rows.rdot(alpha)),
            Point(alpha=alpha),
        )
        first = timed(product).cpu
        again, bound = in_turn(product, partial(interval_anew, problem, point))
        yield {
            "problem": name,
            "Gram and product s": first,
            "product s": again.cpu,
            "interval s": bound.cpu,
        }


COLUMNS = {
    "problem": "44s",
    "Gram and product s": "18.4f",
    "product s": "9.4f",
    "interval s": "10.4f",
}
BENCHMARK = Benchmark(__doc__, lambda asked: iter([Table(COLUMNS, lines())]))
