"""Checks of the solutions of every solver, and data for them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from equimargin.formulations import Problem
from equimargin.solvers import Solution, Status, solve

CANCER = load_breast_cancer()
SCALED = StandardScaler().fit_transform(CANCER.data)
"""Points of CANCER, (569, 30), every column of mean 0 and variance 1."""
LABELS = np.where(CANCER.target == 1, 1.0, -1.0)
"""Classes of CANCER, (569,) in {-1, +1}."""


def reached(solver: str, problem: Problem, tol: float = 1e-6, **limits: Any) -> Solution:
    """Solve; assert that the gap and the proven interval are within the tolerance."""
    solution = solve(problem, solver, tol=tol, **limits)
    assert solution.status is Status.OPTIMAL, solution.reason
    assert solution.relative_gap <= tol
    assert solution.interval.relative_width <= 1.01 * tol + 1e-9
    return solution


def same_optimum(a: Solution, b: Solution) -> None:
    """Assert that the proven intervals of two solutions intersect."""
    assert max(a.lower, b.lower) <= min(a.upper, b.upper)


def noisy_levels(m: int = 60, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return X (m, 4), noisy relevances and three queries."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    return X, np.round(X[:, 0] + rng.normal(size=m)), np.arange(m) * 3 // m


def three_levels(m: int = 40, d: int = 5) -> tuple[Any, Any, Any]:
    """Return X (m, d), three levels and three queries."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, d))
    return X, np.digitize(X[:, 0] + rng.normal(size=m), [-0.5, 0.8]), rng.integers(3, size=m)


def classes_with_outliers(m: int = 12, seed: int = 0) -> tuple[Any, Any]:
    """Return X (m, 2) near a line and y (m,).

    Class -1 is near -0.2, and class +1 near 0.2 with outliers near -0.4.
    """
    rng = np.random.default_rng(seed)
    places, y = np.resize([-0.4, -0.2, -0.2, 0.2], m), np.resize([1.0, -1.0, -1.0, 1.0], m)
    return np.outer(places, [1.0, 0.5]) + 0.02 * rng.normal(size=(m, 2)), y


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise AssertionError when the process has used the given seconds of CPU time.

    CPU time detects a hang, and does not depend on other load. Windows has no timer of it.
    """
    if sys.platform == "win32":
        yield
        return

    def fail(number: int, frame: Any) -> None:
        raise AssertionError(f"no end after {seconds} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
