"""Whole paths of one-norm programs against 100 warm-started HiGHS solves.

CPU time with one thread, in one warm process.

    python benchmarks/run.py kinds.linear_path                all rows
    python benchmarks/run.py kinds.linear_path --quick        the small rows
    python benchmarks/run.py kinds.linear_path --limit 900    CPU seconds of a way;
                                                              no fit begins later

A path goes from its first jump down to lambda_min = 1e-4. HiGHS solves the program at
100 lambdas between the same two, on a log grid, in one model in which lambda alone
changes, so that each starts from the basis of the one before, without presolve. It has
eight ways, and the fastest counts, once for each matrix:

    the primal program, whose costs change, or the dual one, whose bounds change;
    the primal simplex method or the dual one;
    the printed matrix B, dense; or its factors A, K and A', with two more variables
    for every point, which makes the matrix sparse.

A way that does not end within its limit shows how many fits it did. Points are uniform
in [0, 1]^5 and in a total order, so that m points make m (m - 1) / 2 pairs; the kernel
is rbf(0.5). Classifications are of the same points at their middle value. Gaps are
those that the path reports of its pieces; HiGHS solves to 1e-7.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from clock import timed
from scipy import sparse
from table import QUICK, Benchmark, Line, Table, chosen

from equimargin.formulations import (
    OneNormProblem,
    one_norm_classification,
    one_norm_ranking,
    ranking_vector_machine,
    rbf,
)
from equimargin.solvers import OneNormPath, regularization_path

LAMBDA_MIN, GRID = 1e-4, 100
MAX_MATRIX_ENTRIES = 60_000_000
"""Largest number of entries of a dense B given to HiGHS, which keeps about 2 GB for them."""


@dataclass(frozen=True)
class Row:
    """A line of the table: a family and its number of points."""

    family: str
    m: int
    quick: bool = False


ROWS = [
    Row("rvm", 40, quick=True),
    Row("rvm", 80, quick=True),
    Row("rvm", 120),
    Row("rvm", 200),
    Row("rank.onenorm", 40, quick=True),
    Row("rank.onenorm", 80),
    Row("rank.onenorm", 120),
    Row("rank.onenorm", 200),
    Row("svm.onenorm", 200, quick=True),
    Row("svm.onenorm", 1000),
    Row("svm.nobias_onenorm", 1000),
]


def problem_of(row: Row) -> OneNormProblem:
    """Return the problem of a row."""
    rng = np.random.default_rng(0)
    X, centre = rng.uniform(size=(row.m, 5)), rng.uniform(size=5)
    score = np.exp(-((X - centre) ** 2).sum(axis=1))
    if row.family.startswith("svm"):
        noisy = score + 0.05 * rng.normal(size=row.m)
        return one_norm_classification(
            X,
            np.where(noisy > np.median(score), 1.0, -1.0),
            1.0,
            rbf(0.5),
            "nobias" not in row.family,
        )
    return (ranking_vector_machine if row.family == "rvm" else one_norm_ranking)(
        X, score, None, 1.0, rbf(0.5)
    )


class Way(NamedTuple):
    """Matrix ("dense" or "factors"), program and simplex method ("primal" or "dual")."""

    matrix: str
    program: str
    simplex: str


WAYS = [
    Way(*each) for each in product(("dense", "factors"), ("dual", "primal"), ("dual", "primal"))
]


class Program(NamedTuple):
    """min c'v  s.t.  low <= M v <= high,  lower <= v <= upper.

    The first n costs, or the first n bounds of rows, are lambda.
    """

    M: Any
    c: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    low: np.ndarray
    high: np.ndarray


def program_of(problem: OneNormProblem, way: Way) -> Program:
    """Return the program in x, b, xi, and z = A'x, f = K z; or in u, and v = A'u, g = K v.

    z and f are at the points.
    """
    A, K, p, n = sparse.csc_array(problem.rows.matrix), problem.gram.dense, problem.p, problem.size
    s = sparse.csc_array(problem.rows.s[:, None] if problem.bias else (p, 0))
    k, over_points = s.shape[1], problem.over == "points"
    slack, points = sparse.eye_array(p), sparse.eye_array(problem.m)
    if way.matrix == "dense":
        B, extra = sparse.csc_array(A @ K if over_points else A @ (A @ K).T), 0
        M = sparse.hstack([B, s, slack]) if way.program == "primal" else sparse.vstack([B.T, s.T])
    elif way.program == "primal":
        D, extra = points if over_points else A.T, 2 * problem.m
        blocks = [
            [sparse.csc_array((p, n)), s, slack, None, A],
            [D, None, None, -points, None],
            [None, None, None, K, -points],
        ]
        M = sparse.block_array(blocks)
    else:
        D, extra = points if over_points else A, 2 * problem.m
        blocks = [
            [sparse.csc_array((n, p)), None, D],
            [s.T, None, None],
            [A.T, -points, None],
            [None, K, -points],
        ]
        M = sparse.block_array(blocks if k else [blocks[0], *blocks[2:]])
    free, zeros, rows = np.full(extra, np.inf), np.zeros(extra), np.full(p, np.inf)
    if way.program == "primal":
        lower = np.concatenate([np.zeros(n), np.full(k, -np.inf), np.zeros(p), -free])
        ends = np.append(np.ones(p), zeros), np.append(rows, zeros)
        return Program(
            M,
            np.concatenate([np.zeros(n + k), np.ones(p), zeros]),
            lower,
            np.full(n + k + p + extra, np.inf),
            *ends,
        )
    low, high = np.append(np.full(n, -np.inf), np.zeros(k + extra)), np.zeros(n + k + extra)
    return Program(
        M,
        np.append(-np.ones(p), zeros),
        np.append(np.zeros(p), -free),
        np.append(np.ones(p), free),
        low,
        high,
    )


def highs_grid(
    problem: OneNormProblem, lambdas: np.ndarray, way: Way, limit: float
) -> tuple[int, float]:
    """Return how many of the lambdas HiGHS solved one after another, and the CPU seconds.

    No solve begins after the limit.
    """
    import highspy as library

    highspy: Any = library
    program, lp, n = program_of(problem, way), highspy.HighsLp(), problem.size
    M = sparse.csc_array(program.M)
    lp.num_row_, lp.num_col_ = M.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_ = program[1:]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = (
        M.indptr.astype(np.int32),
        M.indices.astype(np.int32),
        M.data,
    )
    highs, numbers = highspy.Highs(), np.arange(n, dtype=np.int32)
    strategy = {"dual": 1, "primal": 4}[way.simplex]
    for option, value in {
        "output_flag": False,
        "presolve": "off",
        "threads": 1,
        "solver": "simplex",
        "simplex_strategy": strategy,
    }.items():
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    started, fits = time.process_time(), 0
    while fits < len(lambdas) and time.process_time() - started < limit:
        lam = np.full(n, lambdas[fits])
        if way.program == "primal":
            highs.changeColsCost(n, numbers, lam)
        else:
            highs.changeRowsBounds(n, numbers, np.full(n, -highspy.kHighsInf), lam)
        highs.run()
        fits += 1
    return fits, time.process_time() - started


def fastest(
    problem: OneNormProblem, lambdas: np.ndarray, matrix: str, limit: float
) -> dict[str, Any] | None:
    """Return the fastest way with a matrix; None for too large a matrix.

    The fastest way has the most fits, or the least time for all of them.
    """
    if matrix == "dense" and problem.p * problem.size > MAX_MATRIX_ENTRIES:
        return None
    found: list[dict[str, Any]] = []
    for way in (each for each in WAYS if each.matrix == matrix):
        fits, seconds = highs_grid(problem, lambdas, way, limit)
        limit = min(limit, 2 * seconds)  # a way that is twice as slow as another need not end
        found.append(
            {
                "way": f"{way.program} program, {way.simplex} simplex",
                "fits": fits,
                "seconds": seconds,
            }
        )
    return min(found, key=lambda each: (-each["fits"], each["seconds"]))


def measured(limit: float, row: Row) -> Line:
    """Measure the path of a row, and HiGHS by each matrix."""
    problem = problem_of(row)
    path: OneNormPath
    path, ours, _ = timed(partial(regularization_path, problem, LAMBDA_MIN))
    found = {
        "family": row.family,
        "m": row.m,
        "rows": problem.p,
        "pieces": len(path),
        "basis": int(path.sizes.max()),
    }
    found |= {"gap": float(path.gaps.max()), "ours s": ours, "complete": path.complete}
    for matrix in ("dense", "factors"):
        theirs = fastest(problem, np.geomspace(path.lambdas[0], LAMBDA_MIN, GRID), matrix, limit)
        if theirs is not None:
            ended = theirs["fits"] == GRID
            said = f"{theirs['seconds'] / ours:.1f}" if ended else f"{theirs['fits']} fits"
            found |= {
                matrix: theirs,
                f"{matrix} s": theirs["seconds"],
                f"{matrix} ratio": said,
                "fastest way": theirs["way"],
            }
    return found


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the table, after kernels are compiled."""
    for small in ("rvm", "rank.onenorm", "svm.onenorm"):
        regularization_path(problem_of(Row(small, 12)))
    yield Table(COLUMNS, map(partial(measured, asked.limit), chosen(ROWS, asked)))


COLUMNS = {
    "family": "20s",
    "rows": "7,d",
    "pieces": "7,d",
    "basis": "6d",
    "gap": "8.1e",
    "ours s": "8.3f",
    "dense s": "9.2f",
}
COLUMNS |= {"dense ratio": "11s", "factors s": "9.2f", "factors ratio": "13s", "fastest way": "s"}
BENCHMARK = Benchmark(__doc__, tables, QUICK | {"limit": (900.0, "CPU seconds of a way")})
