"""Exact optima and proven intervals of programs of any kind: wall time with one BLAS thread, from 10 to 500 unknowns.

    python benchmarks/kinds/programs.py

`float` is Clarabel's solution, `interval` what `enclosure` takes without the exact face, and `exact` the whole of `program_optimum`.
`width` is that of the interval, relative to the optimum. The table is also written to build/programs.json.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.proofs.enclosure import lower, upper
from equimargin.solvers.exact.program import Optimum, program_optimum
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.floats import solve_in_floats

OUT = Path(__file__).resolve().parents[2] / "build" / "programs.json"
SIZES = (10, 50, 100, 200, 350, 500)
"""Numbers of unknowns, about."""
T = TypeVar("T")
Array = Any


def points(rng: np.random.Generator, m: int, d: int, floats: bool) -> tuple[Array, Array]:
    """X (m, d), of small integers or of floats, and labels y (m,) that a plane separates but for one in ten."""
    X = rng.normal(size=(m, d)) if floats else rng.integers(-3, 4, (m, d)).astype(np.float64)
    flipped = np.where(rng.random(m) < 0.1, -1.0, 1.0)
    return X, np.where(X @ rng.normal(size=d) > 0, 1.0, -1.0) * flipped


def svm(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """Soft margins: about n slacks, n / 10 features and a bias."""
    d = max(2, n // 10)
    m = n - d - 1
    X, y = points(rng, m, d, floats)
    margins = np.column_stack([-y[:, None] * X, -y, -np.eye(m)])
    slacks = np.column_stack([np.zeros((m, d + 1)), -np.eye(m)])
    P, q = np.diag([1.0] * d + [0.0] * (m + 1)), np.append(np.zeros(d + 1), np.ones(m))
    return program_from_arrays(P, q, G=np.vstack([margins, slacks]), h=np.append(-np.ones(m), np.zeros(m)))


def one_norm_svm(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """A linear program: |w|_1 + 2 1'xi, with w = u - v."""
    d = max(1, n // 10)
    m = n - 2 * d - 1
    X, y = points(rng, m, d, floats)
    Z = y[:, None] * X
    signs = np.delete(-np.eye(n), 2 * d, axis=0)
    G = np.vstack([np.column_stack([-Z, Z, -y, -np.eye(m)]), signs])
    q = np.concatenate([np.ones(2 * d), [0.0], np.full(m, 2.0)])
    return program_from_arrays(None, q, G=G, h=np.append(-np.ones(m), np.zeros(len(signs))))


def lasso(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """Residuals r = X (u - v) - t of n / 2 points, and n / 4 coefficients of each sign."""
    d = max(1, n // 4)
    m = n - 2 * d
    X, _ = points(rng, m, d, floats)
    P, q = np.diag([2.0] * m + [0.0] * (2 * d)), np.append(np.zeros(m), np.ones(2 * d))
    signs = np.column_stack([np.zeros((2 * d, m)), -np.eye(2 * d)])
    return program_from_arrays(P, q, np.column_stack([np.eye(m), -X, X]), -rng.integers(-3, 4, m), signs, np.zeros(2 * d))


def svm_dual(rng: np.random.Generator, n: int, floats: bool) -> Program:
    """The dense quadratic form of n multipliers, of rank n / 10: its proof is a characteristic polynomial."""
    X, y = points(rng, n, max(2, n // 10), floats)
    Z = y[:, None] * X
    Z = np.rint(Z * 2**20) / 2**20  # products and their sums are then exact in float64, so that P stays semidefinite
    P, bounds = Z @ Z.T, np.vstack([-np.eye(n), np.eye(n)])
    return program_from_arrays(P, -np.ones(n), [y.tolist()], [0.0], bounds, np.append(np.zeros(n), np.ones(n)))


KINDS: tuple[tuple[Callable[[np.random.Generator, int, bool], Program], int], ...] = (
    *((svm, 500), (one_norm_svm, 500), (lasso, 500)),
    (svm_dual, 200),
)
"""What is measured, and up to which number of unknowns."""


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Seconds of wall time, and the result."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def measured(program: Program) -> dict[str, Any]:
    """The times of a program, and how wide its interval is."""
    float_seconds, floats = timed(lambda: solve_in_floats(program, Clock(60.0)))
    assert floats is not None
    interval_seconds, (dual, primal) = timed(
        lambda: (lower.by_residual(program, floats, Clock(300.0)), upper.by_residual(program, floats, Clock(300.0)))
    )
    exact_seconds, outcome = timed(lambda: program_optimum(program, 300.0))
    width = None if dual is None or primal is None else float(program.objective(primal) - program.dual_objective(*dual))
    value = float(outcome.value) if isinstance(outcome, Optimum) else None
    return {
        "unknowns": program.n,
        "rows": len(program.b) + len(program.h),
        "float": float_seconds,
        "interval": interval_seconds,
        "exact": exact_seconds,
        "width": None if width is None or not value else width / abs(value),
        "bits": outcome.value.denominator.bit_length() if isinstance(outcome, Optimum) else None,
        "outcome": outcome.reason,
    }


def line(row: dict[str, Any]) -> str:
    """A line of the table."""
    width = "-" if row["width"] is None else f"{row['width']:.0e}"
    times = f"{row['float']:8.3f} {row['interval']:10.3f} {row['exact']:8.2f}"
    return f"{row['kind']:22s} {row['unknowns']:8d} {row['rows']:5d} {times} {width:>8s} {row['bits'] or row['outcome']!s:>7s}"


def main() -> None:
    """Measure, print and write."""
    rows = []
    print(f"{'kind':22s} {'unknowns':>8s} {'rows':>5s} {'float s':>8s} {'interval s':>10s} {'exact s':>8s} {'width':>8s} {'bits':>7s}")
    cases = ((make, n, floats) for make, most in KINDS for n in SIZES if n <= most for floats in (False, True))
    with threadpool_limits(1):
        for make, n, floats in cases:
            name = f"{make.__name__}, {'floats' if floats else 'integers'}"
            rows.append({"kind": name} | measured(make(np.random.default_rng(n), n, floats)))
            print(line(rows[-1]), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
