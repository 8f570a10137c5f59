"""Whole paths of one-norm programs against 100 warm-started HiGHS solves: CPU time with one thread, in one warm process.

    python benchmarks/linear_path.py            all rows
    python benchmarks/linear_path.py --quick    the small rows

A path goes from its first jump down to lambda_min = 1e-4. HiGHS solves the dual at 100 lambdas between the same two, evenly on a log grid
and each from the basis of the one before, without presolve; its matrix B' is dense. Points are uniform in [0, 1]^5 and in a total order,
so that m points make m (m - 1) / 2 pairs; the kernel is rbf(0.5). Classifications are of the same points at their middle value. Gaps are
what the path says of its pieces. The table is also written to build/linear_path.json.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from equimargin.formulations import OneNormProblem, one_norm_classification, one_norm_ranking, ranking_vector_machine, rbf
from equimargin.solvers import OneNormPath, regularization_path

OUT = Path(__file__).resolve().parents[1] / "build" / "linear_path.json"
LAMBDA_MIN, GRID = 1e-4, 100
LARGEST_MATRIX = 60_000_000
"""Entries of the largest B that HiGHS is given: 500 MB in its own numbers."""


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
    """The problem of a row."""
    rng = np.random.default_rng(0)
    X, centre = rng.uniform(size=(row.m, 5)), rng.uniform(size=5)
    score = np.exp(-((X - centre) ** 2).sum(axis=1))
    if row.family.startswith("svm"):
        noisy = score + 0.05 * rng.normal(size=row.m)
        return one_norm_classification(X, np.where(noisy > np.median(score), 1.0, -1.0), 1.0, rbf(0.5), "nobias" not in row.family)
    return (ranking_vector_machine if row.family == "rvm" else one_norm_ranking)(X, score, None, 1.0, rbf(0.5))


def highs_grid(problem: OneNormProblem, lambdas: np.ndarray) -> float:
    """CPU seconds of max 1'u  s.t.  B'u <= lambda, s'u = 0, 0 <= u <= 1 at all lambdas, one after another."""
    import highspy as library

    highspy: Any = library
    A, K = problem.rows.matrix, problem.gram.dense
    B = np.asarray(A @ K if problem.over == "points" else A @ (A @ K).T)
    p, n = B.shape
    if problem.bias:
        B = np.column_stack([B, problem.rows.s])
    lp = highspy.HighsLp()
    rows = B.shape[1]
    lp.num_col_, lp.num_row_ = p, rows
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = -np.ones(p), np.zeros(p), np.ones(p)
    lp.row_lower_ = np.append(np.full(n, -np.inf), np.zeros(rows - n))
    lp.row_upper_ = np.append(np.full(n, lambdas[0]), np.zeros(rows - n))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(p + 1, dtype=np.int32) * rows
    lp.a_matrix_.index_ = np.tile(np.arange(rows, dtype=np.int32), p)
    lp.a_matrix_.value_ = B.ravel()
    highs = highspy.Highs()
    for option, value in {"output_flag": False, "presolve": "off", "threads": 1, "solver": "simplex"}.items():
        highs.setOptionValue(option, value)
    highs.passModel(lp)
    started = time.process_time()
    for lam in lambdas.tolist():
        highs.changeRowsBounds(n, np.arange(n, dtype=np.int32), np.full(n, -highspy.kHighsInf), np.full(n, lam))
        highs.run()
    return time.process_time() - started


def measured(row: Row) -> dict[str, Any]:
    """The figures of a row."""
    problem = problem_of(row)
    started = time.process_time()
    path: OneNormPath = regularization_path(problem, LAMBDA_MIN)
    ours = time.process_time() - started
    grid = np.geomspace(path.lambdas[0], LAMBDA_MIN, GRID)
    theirs = highs_grid(problem, grid) if problem.p * problem.size <= LARGEST_MATRIX else None
    return asdict(row) | {
        "rows": problem.p,
        "pieces": len(path),
        "basis": int(path.sizes.max()),
        "gap": float(path.gaps.max()),
        "ours": ours,
        "highs": theirs,
        "complete": path.complete,
    }


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the small rows")
    quick = parser.parse_args().quick
    table = []
    with threadpool_limits(1):
        for small in ("rvm", "rank.onenorm", "svm.onenorm"):
            regularization_path(problem_of(Row(small, 12)))
        print(f"{'family':20s} {'rows':>7s} {'pieces':>7s} {'basis':>6s} {'gap':>8s} {'ours s':>8s} {'100 HiGHS s':>12s} {'ratio':>6s}")
        for row in ROWS:
            if row.quick or not quick:
                found = measured(row)
                table.append(found)
                theirs, ratio = ("", "") if found["highs"] is None else (f"{found['highs']:.2f}", f"{found['highs'] / found['ours']:.1f}")
                print(
                    f"{row.family:20s} {found['rows']:7,} {found['pieces']:7,} {found['basis']:6d} {found['gap']:8.1e} "
                    f"{found['ours']:8.3f} {theirs:>12s} {ratio:>6s}",
                    flush=True,
                )
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
