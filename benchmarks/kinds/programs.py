"""Exact optima and proven intervals of programs with 10 to 500 variables.

Wall time with one BLAS thread.

    python benchmarks/run.py kinds.programs

`float` is Clarabel's solution, `interval` what `enclosure` takes without the exact
face, and `exact` the whole of `program_optimum`. `width` is that of the interval,
relative to the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from clock import timed
from table import Benchmark, Line, Table

from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs.enclosure import lower, upper
from equimargin.solvers.exact.program import Optimum, program_optimum
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.floats import solve_in_floats

SIZES = (10, 50, 100, 200, 350, 500)
"""Approximate numbers of variables."""
Array = Any


def points(rng: np.random.Generator, m: int, d: int, floats: bool) -> tuple[Array, Array]:
    """Return X (m, d), small integers or floats, and labels y (m,).

    A plane separates nine points in ten.
    """
    X = rng.normal(size=(m, d)) if floats else rng.integers(-3, 4, (m, d)).astype(np.float64)
    flipped = np.where(rng.random(m) < 0.1, -1.0, 1.0)
    return X, np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0) * flipped


def svm(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """Return a soft margin with about n slacks, n / 10 features and a bias."""
    d = max(2, n // 10)
    m = n - d - 1
    X, y = points(rng, m, d, floats)
    margins = np.column_stack([-y[:, None] * X, -y, -np.eye(m)])
    slacks = np.column_stack([np.zeros((m, d + 1)), -np.eye(m)])
    P, q = np.diag([1.0] * d + [0.0] * (m + 1)), np.append(np.zeros(d + 1), np.ones(m))
    return program_from_arrays(
        P, q, G=np.vstack([margins, slacks]), h=np.append(-np.ones(m), np.zeros(m))
    )


def one_norm_svm(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """Return a linear program: |w|_1 + 2 1'xi, with w = u - v."""
    d = max(1, n // 10)
    m = n - 2 * d - 1
    X, y = points(rng, m, d, floats)
    Z = y[:, None] * X
    signs = np.delete(-np.eye(n), 2 * d, axis=0)
    G = np.vstack([np.column_stack([-Z, Z, -y, -np.eye(m)]), signs])
    q = np.concatenate([np.ones(2 * d), [0.0], np.full(m, 2.0)])
    return program_from_arrays(None, q, G=G, h=np.append(-np.ones(m), np.zeros(len(signs))))


def lasso(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """Return a lasso with r = X (u - v) - t of n / 2 points, n / 4 coefficients a sign."""
    d = max(1, n // 4)
    m = n - 2 * d
    X, _ = points(rng, m, d, floats)
    P, q = np.diag([2.0] * m + [0.0] * (2 * d)), np.append(np.zeros(m), np.ones(2 * d))
    signs = np.column_stack([np.zeros((2 * d, m)), -np.eye(2 * d)])
    return program_from_arrays(
        P, q, np.column_stack([np.eye(m), -X, X]), -rng.integers(-3, 4, m), signs, np.zeros(2 * d)
    )


def svm_dual(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """Return the dense quadratic program of n multipliers, of rank n / 10.

    Its proof is a characteristic polynomial.
    """
    X, y = points(rng, n, max(2, n // 10), floats)
    Z = y[:, None] * X
    Z = (
        np.rint(Z * 2**20) / 2**20
    )  # products and their sums are then exact in float64, so that P stays semidefinite
    P, bounds = Z @ Z.T, np.vstack([-np.eye(n), np.eye(n)])
    return program_from_arrays(
        P, -np.ones(n), [y.tolist()], [0.0], bounds, np.append(np.zeros(n), np.ones(n))
    )


KINDS: tuple[tuple[Callable[[np.random.Generator, int, bool], Program], int], ...] = (
    *((svm, 500), (one_norm_svm, 500), (lasso, 500)),
    (svm_dual, 200),
)
"""Programs, with the largest number of variables of each."""


def measured(program: Program) -> Line:
    """Measure a program, and how wide its interval is."""
    floats, _, float_seconds = timed(lambda: solve_in_floats(program, Clock(60.0)))
    (dual, primal), _, interval_seconds = timed(
        lambda: (
            lower.by_residual(program, floats, Clock(300.0)),
            upper.by_residual(program, floats, Clock(300.0)),
        )
    )
    outcome, _, exact_seconds = timed(lambda: program_optimum(program, 300.0))
    line = {
        "unknowns": program.n,
        "rows": len(program.b) + len(program.h),
        "float s": float_seconds,
    }
    line |= {"interval s": interval_seconds, "exact s": exact_seconds, "outcome": outcome.reason}
    if not isinstance(outcome, Optimum):
        return line
    if dual is not None and primal is not None and outcome.value:
        line["width"] = float(program.objective(primal) - program.dual_objective(*dual)) / abs(
            float(outcome.value)
        )
    return line | {"bits": outcome.value.denominator.bit_length(), "outcome": ""}


def lines() -> Iterator[Line]:
    """Yield a line for each kind, size and sort of data."""
    for make, most in KINDS:
        for n in SIZES:
            for floats in (False, True) if n <= most else ():
                yield {"kind": f"{make.__name__}, {'floats' if floats else 'integers'}"} | measured(
                    make(np.random.default_rng(n), n, floats)
                )


COLUMNS = {
    "kind": "22s",
    "unknowns": "8d",
    "rows": "5d",
    "float s": "8.3f",
    "interval s": "10.3f",
    "exact s": "8.2f",
    "width": "8.0e",
}
BENCHMARK = Benchmark(
    __doc__, lambda asked: iter([Table(COLUMNS | {"bits": "7d", "outcome": "s"}, lines())])
)
