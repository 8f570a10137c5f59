"""CPU seconds of proofs with one BLAS thread: intervals, audits, certificates.

    python benchmarks/run.py kinds.bounds [--quick] [--only TEXT]

The first table has the interval of multipliers that no solver found, and the product
K beta. In the second, a solver, the interval of its solution, and an audit of a
third-party model of the same problem run in turn; then the solution's certificate is
written and checked. "audit" includes the solver that brackets the optimum, at the
tolerance of "solve", which starts from the model. "-" is a problem that no certificate
holds.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from clock import in_turn, timed
from table import QUICK, Benchmark, Line, Table, chosen

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
from equimargin.formulations.kernels.kernel import Kernel, Linear
from equimargin.formulations.problem.choices import LossName
from equimargin.proofs import Audit, audit, audit_ranker, certificate, checker
from equimargin.proofs.foreign_models import ClaimedProblem, Model, Task
from equimargin.solvers import Solution, solve

Array = Any
TOL, TOL_OF_A_PEER = 1e-6, 1e-3
"""Relative gaps: of the solver, and of the audited model."""
LINEAR = linear()
LIMITS_OF_THE_CHECKER = (
    "file_is_not_too_large",
    "common_denominator_is_short",
    "arithmetic_is_affordable",
)
"""Conditions of the checker that a true certificate may violate by its size."""
DIGITS_OF_A_FILE = 8
"""Significant digits of the features in a model file of LIBSVM."""


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


@dataclass(frozen=True)
class Row:
    """Problem of n points with d normal features, C = 1.

    Parameters
    ----------
    n, d : int
        Numbers of points and of features.
    loss : LossName
        Loss of the slacks.
    kernel : Kernel
        Kernel k.
    size : int
        Points of a query of a ranking of three levels; 0 for a classification.
    rounded : bool
        True if the audited model has the rounded features of its support vectors, as a file
        of LIBSVM, and False if it has their rows.
    quick : bool
        True for a row of `--quick`.
    """

    n: int
    d: int
    loss: LossName = "hinge"
    kernel: Kernel = LINEAR
    size: int = 0
    rounded: bool = False
    quick: bool = False

    @property
    def name(self) -> str:
        """Name of the line."""
        task = f"ranking, queries of {self.size:,}" if self.size else "classification"
        file = ", model of a file" if self.rounded else ""
        return f"{task}, {self.n:,} x {self.d}, {self.kernel.name}, {self.loss}{file}"

    def data(self) -> tuple[Array, Array, Array | None]:
        """Return features, labels or relevances, and queries."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(self.n, self.d))
        score = X[:, 0] + X[:, 1] + rng.normal(size=self.n)
        if not self.size:
            return X, np.where(score > 0, 1.0, -1.0), None
        return X, np.digitize(score, (0.0, 2.0)), np.arange(self.n) // self.size


ROWS = (
    Row(20_000, 20, quick=True),
    Row(20_000, 20, "squared_hinge", quick=True),
    Row(100_000, 10),
    Row(100_000, 10, "squared_hinge"),
    Row(20_000, 20, kernel=rbf(0.05)),
    Row(20_000, 20, kernel=rbf(0.05), rounded=True),
    Row(2_000, 20, kernel=rbf(0.05), quick=True),
    Row(20_000, 20, "squared_hinge", size=20, quick=True),
    Row(20_000, 20, size=20),
    Row(100_000, 10, "squared_hinge", size=20),
    Row(100_000, 10, "squared_hinge", size=100_000),
)
"""Problems of the second table."""


def stated(row: Row) -> MarginProblem:
    """Return the problem of a row."""
    X, y, query = row.data()
    if row.size:
        return ranking(X, y, query, 1.0, row.kernel, row.loss)
    return classification(X, y, 1.0, row.kernel, row.loss, bias=not isinstance(row.kernel, Linear))


def audited(row: Row, problem: MarginProblem) -> Callable[[], Audit]:
    """Return the audit of a model as a package's file has it: w, or rounded support vectors."""
    X, y, query = row.data()
    found = solve(problem, tol=TOL_OF_A_PEER)
    task: Task = "ranking" if row.size else "classification"
    claimed = ClaimedProblem(task, row.kernel, row.loss, 1.0, free_bias=problem.bias)
    if row.size:
        return partial(audit_ranker, Model("peer", claimed, 0.0, found.w), X, y, query, tol=TOL)
    if isinstance(row.kernel, Linear):
        return partial(audit, Model("peer", claimed, 0.0, found.w), X, y, tol=TOL)
    beta, b = np.asarray(found.beta), float(found.bias)
    support = np.flatnonzero(beta)
    vectors = np.vectorize(lambda v: float(f"{v:.{DIGITS_OF_A_FILE}g}"))(X[support])
    known = {"vectors": vectors} if row.rounded else {"support": support, "vectors": X[support]}
    model = Model("peer", claimed, b, None, beta[support], **known)
    return partial(audit, model, X, y, tol=TOL)


def proven_anew(problem: MarginProblem, found: Solution) -> Interval:
    """Prove the interval of a solution for a problem that has computed nothing yet."""
    return interval(replace(problem), found.point)


def solved_anew(problem: MarginProblem) -> Solution:
    """Solve a problem that has computed nothing yet."""
    return solve(replace(problem), tol=TOL)


def lines_of_proofs(asked: Namespace) -> Iterator[Line]:
    """Measure a solver, the interval, the audit, and the certificate and its check."""
    for row in chosen(ROWS, asked):
        if asked.only not in row.name:
            continue
        problem = stated(row)
        examine = audited(row, problem)
        found = solved_anew(problem)
        prove = partial(proven_anew, problem, found)
        for compiled in (prove, examine):
            compiled()
        spent, proof, judged = in_turn(partial(solved_anew, problem), prove, examine)
        line = {
            "problem": row.name,
            "solve s": spent.cpu,
            "interval s": proof.cpu,
            "audit s": judged.cpu,
            "width": proof.result.relative_width,
        }
        yield line | certified(found)


def certified(found: Solution) -> dict[str, float]:
    """Return the CPU seconds of a solution's certificate, of its check, and its megabytes."""
    try:
        written = timed(partial(certificate, found))
    # The format states no such problem, or it is too large.
    except ValueError:
        return {}
    data = json.dumps(written.result, separators=(",", ":")).encode()
    try:
        checked = timed(partial(checker.check, data))
    except ValueError as refused:
        if not str(refused).startswith(LIMITS_OF_THE_CHECKER):
            raise
        return {}
    return {"certify s": written.cpu, "check s": checked.cpu, "MB": len(data) / 1e6}


COLUMNS = {
    "problem": "44s",
    "Gram and product s": "18.4f",
    "product s": "9.4f",
    "interval s": "10.4f",
}
COLUMNS_OF_PROOFS = {
    "problem": "62s",
    "solve s": "8.4f",
    "interval s": "10.4f",
    "audit s": "8.4f",
    "width": "8.1e",
    "certify s": "9.3f",
    "check s": "8.3f",
    "MB": "5.1f",
}


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table of intervals, unless rows are chosen by name, and that of all proofs."""
    if not asked.only:
        yield Table(COLUMNS, lines())
    yield Table(COLUMNS_OF_PROOFS, lines_of_proofs(asked))


ONLY = {"only": ("", "part of the names of the rows")}
BENCHMARK = Benchmark(__doc__, tables, QUICK | ONLY)
