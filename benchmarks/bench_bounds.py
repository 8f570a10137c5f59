"""What a proven interval costs, in CPU seconds with one BLAS thread, beside the product K beta that any evaluation needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from equimargin.formulations import Point, classification, interval, linear, ranking, rbf

pytestmark = pytest.mark.benchmark


def cpu_seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The median CPU time of a call."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return float(np.median(times))


@pytest.mark.parametrize("kernel", [linear(), rbf(0.05)], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("n", [500, 2_000, 10_000])
def test_classification(n: int, kernel: Any) -> None:
    """One row a point, every multiplier above 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    problem = classification(X, np.sign(X[:, 0] + rng.normal(size=n)), 1.0, kernel)
    report(f"classification n={n:,} {kernel.name}", problem, Point(alpha=rng.uniform(0, 1, n)))


@pytest.mark.parametrize(("n", "levels"), [(200, 2), (2_000, 2)])
def test_ranking(n: int, levels: int) -> None:
    """All pairs of two levels, every multiplier above 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    problem = ranking(X, np.arange(n) % levels, None, 1.0, rbf(0.05))
    report(f"ranking n={n:,} p={problem.p:,} rbf", problem, Point(alpha=rng.uniform(0, 1, problem.p)))


def report(label: str, problem: Any, point: Point) -> None:
    """Print the CPU seconds of a first product, which forms the Gram matrix, of another, and of the interval."""
    with threadpool_limits(1):
        beta = problem.rows.rdot(point.alpha)
        first = cpu_seconds(lambda: problem.gram @ beta, repeats=1)
        product = cpu_seconds(lambda: problem.gram @ beta)
        bound = cpu_seconds(lambda: interval(problem, point))
    print(f"\n{label:44s} Gram and product {first:8.4f} s   product {product:8.4f} s   interval {bound:8.4f} s")
    assert bound > 0
