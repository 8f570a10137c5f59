"""Seconds of the processes that a user starts.

They are the first commands and solves of a user, comparisons up to their first answer,
and a `solve` by each solver.

    python benchmarks/run.py start_up --first       the first commands of a user, each from
                                                    an empty cache: CPU seconds of up to
                                                    three runs
    python benchmarks/run.py start_up               comparisons, warm and cold
    python benchmarks/run.py start_up --warm        without the cold runs, which compile all
                                                    kernels
    python benchmarks/run.py start_up --runs 5      medians of five runs instead of three
    python benchmarks/run.py start_up --solves      the first solve of a process by each
                                                    solver, cold and warm, on one thread
    python benchmarks/run.py start_up --kernels smo CPU seconds of each function that a first
                                                    solve by one solver compiles

The files and the problems have 200 rows of 5 features, made from a fixed seed. A warm
process uses functions that an earlier process compiled (`kernels` in the options), a
cold one compiles them. CPU seconds are those of the whole process; wall seconds depend
on other load. The first answer is the first output line with a proven bound of an
optimum. A comparison that does not agree ends the table. Comparisons use the default
number of threads, and Python writes byte code as usual: without it every process takes
0.4 s more CPU time. Backends have wall-time limits, so that CPU times are comparable on
a quiet machine only.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from clock import cpu_so_far
from numpy.typing import NDArray
from table import ROOT, Benchmark, Line, Table

SOURCE = ROOT / "src"
ROWS = 200
"""Number of rows of every file."""
FEATURES = 5
"""Number of features of every file."""
QUERIES = 10
"""Number of queries of the ranking with queries."""
FIRST_ANSWER = re.compile(r"\boptimum (in \[|at most )?-?\.?\d")
"""Text of a line with a proven bound of an optimum.

Where nothing is proven, the line has no number after the word "optimum".
"""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Environment that limits linear algebra to one thread."""
SOLVES = {
    "smo": "classification(X, y, kernel=rbf(0.2))",
    "coordinate_descent": "classification(X, y, bias=False)",
    "newton": "classification(X, y, loss='squared_hinge')",
    "huber": "classification(X, y)",
    "tron": "ranking(X, levels, queries, loss='squared_hinge')",
    "cutting_plane": "ranking(X, levels, queries)",
    "linear_program": "one_norm_ranking(X, levels, queries)",
    "column_generation": "one_norm_ranking(X, levels, queries)",
    "homotopy": "classification(X, y)",
    "dual_active_set": "classification(X, separable, C=np.inf, bias=False)",
    "penalty": "classification(X, separable, bias=False, "
    "sample_weight=np.where(np.arange(len(X)) < 5, np.inf, 1.0))",
}
"""Source of a problem, by solver."""
SMALL = """
import numpy as np
from equimargin.formulations import classification, ranking, rbf
from equimargin.solvers import solve
random = np.random.default_rng(0)
X = random.normal(size=(150, 4))
score = X @ np.linspace(1.0, -0.5, 4) + random.normal(size=150)
y, levels = np.sign(score), np.digitize(score, [-1.0, 0.0, 1.0])
assert solve({}).status.value == "optimal"
"""
"""Program that solves a small problem."""
AUDIT = """
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from equimargin.proofs import audit
X, y = load_iris(return_X_y=True)
X, y = X[y > 0], y[y > 0]
audit(SVC().fit(X, y), X, y)
"""
"""Program that audits a model of scikit-learn."""
FIRST: dict[str, tuple[list[str], int]] = {
    "compare xor": (["-m", "equimargin", "compare", "xor"], 3),
    "compare iris": (["-m", "equimargin", "compare", "iris"], 2),
    "compare breast_cancer --scale": (
        ["-m", "equimargin", "compare", "breast_cancer", "--scale"],
        2,
    ),
    "solve, rbf": (["-c", SMALL.format("classification(X, y, kernel=rbf(0.1))")], 1),
    "solve, linear": (["-c", SMALL.format("classification(X, y)")], 1),
    "solve, linear without bias": (["-c", SMALL.format("classification(X, y, bias=False)")], 1),
    "solve, squared hinge": (["-c", SMALL.format("classification(X, y, loss='squared_hinge')")], 1),
    "solve, ranking": (["-c", SMALL.format("ranking(X, levels)")], 1),
    "solve, ranking, rbf": (["-c", SMALL.format("ranking(X, levels, kernel=rbf(0.1))")], 1),
    "audit, SVC on iris": (["-c", AUDIT], 1),
    "warm-up": (["-m", "equimargin", "warm-up"], 2),
}
"""Arguments of Python, and number of runs with one cache, by name in the table."""

FIRST_SOLVE = """
import sys, time
from numba.core import event
class Compilations(event.Listener):
    def __init__(self):
        self.nested, self.own = [], []
    def on_start(self, started):
        self.nested.append([time.process_time(), 0.0])
    def on_end(self, ended):
        began, within = self.nested.pop()
        took = time.process_time() - began
        if self.nested:
            self.nested[-1][1] += took
        kernel = ended.data["dispatcher"].py_func
        self.own.append((took - within, f"{kernel.__module__}.{kernel.__qualname__}"))
compilations = Compilations()
event.register("numba:compile", compilations)
import numpy as np
from equimargin.formulations import classification, one_norm_ranking, ranking, rbf
from equimargin.solvers import solve
imported = time.process_time()
random = np.random.default_rng(0)
X = random.normal(size=(%d, %d))
exact = X @ np.linspace(1.0, -0.5, X.shape[1])
score = exact + random.normal(size=len(X))
y, separable = np.sign(score), np.sign(exact)
levels, queries = np.digitize(score, [-1.0, 0.0, 1.0]), np.arange(len(X)) %% %d
problem = %s
solution = solve(problem, %r)
print(imported, time.process_time(), solution.status.value)
for seconds, kernel in sorted(compilations.own, reverse=True):
    print(seconds, kernel)
"""
"""Program of a first solve; it prints CPU seconds and the compiled functions.

The CPU seconds are those up to the end of the imports, and up to the solution.
"""


@dataclass(frozen=True)
class Run:
    """Seconds of one process: CPU and wall time at its end, and at its first answer."""

    cpu: float
    wall: float
    first_cpu: float
    first_wall: float


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files by their names in the table."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, FEATURES))
    score = X @ np.linspace(1.0, -0.5, FEATURES) + random.normal(size=ROWS)
    relevance, queries = np.digitize(score, [-1.0, 0.0, 1.0]), np.arange(ROWS) % QUERIES
    yield (
        "ranking, 10 queries",
        written(folder / "queries.csv", {"qid": queries, "relevance": relevance}, X),
    )
    yield (
        "ranking, one query",
        written(folder / "ranking.csv", {"qid": 0 * queries, "relevance": relevance}, X),
    )
    yield "classification", written(folder / "classification.csv", {"label": np.sign(score)}, X)
    yield "regression", written(folder / "regression.csv", {"target": score}, X)


def written(path: Path, columns: Mapping[str, NDArray[np.generic]], X: NDArray[np.float64]) -> Path:
    """Write the file, with these columns before the features."""
    names = [*columns, *(f"x{j}" for j in range(X.shape[1]))]
    np.savetxt(
        path,
        np.column_stack([*columns.values(), X]),
        fmt="%.6g",
        delimiter=",",
        header=",".join(names),
        comments="",
    )
    return path


def environment(cache: str | None) -> dict[str, str]:
    """Return the environment of a process, with a cache of compiled functions if given."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return (
        kept
        | {"PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8"}
        | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})
    )


def process(
    arguments: list[str], cache: str | None, name: str, threads: Mapping[str, str] | None = None
) -> tuple[list[str], Run]:
    """Run Python with arguments; return its output lines and its seconds.

    The seconds include those up to the first answer.
    """
    started, pipe = time.perf_counter(), subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=pipe,
        env=environment(cache) | dict(threads or {}),
        text=True,
        encoding="utf-8",
    )
    assert child.stdout is not None
    lines, first_cpu, first_wall = [], float("nan"), float("nan")
    for line in child.stdout:
        lines.append(line.rstrip("\n"))
        if FIRST_ANSWER.search(line) and np.isnan(first_wall):
            first_wall, first_cpu = time.perf_counter() - started, cpu_so_far(child.pid)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(
            f"{name}: the process ended with status {child.returncode}, and its times are "
            f"worth nothing"
        )
    return lines, Run(
        used.ru_utime + used.ru_stime, time.perf_counter() - started, first_cpu, first_wall
    )


def timed(data: Path, cache: str | None) -> Run:
    """Run one comparison, with a cache of compiled functions if given."""
    _, run = process(["-m", "equimargin", "compare", str(data)], cache, data.name)
    if np.isnan(run.first_wall):
        raise SystemExit(
            f"{data.name}: nothing is proven of an optimum, and its times are worth nothing"
        )
    return run


def cold(data: Path) -> Run:
    """Run one comparison without compiled functions."""
    with tempfile.TemporaryDirectory() as cache:
        return timed(data, cache)


def comparisons(only_warm: bool, runs: int) -> Iterator[Line]:
    """Yield a line for each file, warm and cold: medians of runs."""
    with tempfile.TemporaryDirectory() as folder:
        cases = list(files(Path(folder)))
        for _, data in cases:
            for _ in range(2):
                timed(
                    data,
                    None,
                    # compiles what is not compiled yet: the first run leaves some
                    # kernels to the second one
                )
        for kernels in ("warm",) if only_warm else ("warm", "cold"):
            for case, data in cases:
                found = [
                    astuple(timed(data, None) if kernels == "warm" else cold(data))
                    for _ in range(runs)
                ]
                seconds = dict(zip(SECONDS, np.median(found, axis=0).tolist(), strict=True))
                yield {"200 rows x 5": case, "kernels": kernels} | seconds


@dataclass(frozen=True)
class FirstSolve:
    """CPU seconds of one process, up to the end of imports, the solution and its end.

    There are also the CPU seconds of each function that it compiled.
    """

    imported: float
    solved: float
    ended: float
    compiled: list[tuple[float, str]]


def first_solve(solver: str, cache: str) -> FirstSolve:
    """Solve one problem in a process on one thread."""
    program = FIRST_SOLVE % (ROWS, FEATURES, QUERIES, SOLVES[solver], solver)
    lines, run = process(["-c", program], cache, solver, ONE_THREAD)
    if not lines[0].endswith("optimal"):
        raise SystemExit(f"{solver}: no optimum was found, and its times are worth nothing")
    imported, solved, _ = lines[0].split()
    compiled = [
        (float(seconds), kernel) for seconds, kernel in (line.split() for line in lines[1:])
    ]
    return FirstSolve(float(imported), float(solved), run.cpu, compiled)


def solves(runs: int) -> Iterator[Line]:
    """Yield a line for each solver: medians of runs, one cold and three warm each."""
    for solver in SOLVES:
        cold, warm = [], []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(first_solve(solver, cache))
                warm += [first_solve(solver, cache) for _ in range(3)]
        medians = [
            np.median([(r.solved, r.ended, r.imported) for r in each], axis=0).tolist()
            for each in (cold, warm)
        ]
        found = {
            "CPU s, 200 rows x 5": solver,
            "cold": medians[0][0],
            "cold, all": medians[0][1],
            "warm": medians[1][0],
        }
        yield found | {
            "warm, all": medians[1][1],
            "imports": medians[1][2],
            "functions compiled": len(cold[0].compiled),
        }


def kernels(solver: str) -> Iterator[Line]:
    """Yield the functions that a first solve compiles, with their CPU seconds.

    Functions that are compiled for a function's calls are not part of its seconds.
    """
    with tempfile.TemporaryDirectory() as cache:
        for seconds, kernel in first_solve(solver, cache).compiled:
            yield {"CPU s": seconds, "function": kernel}


def first_runs() -> Iterator[Line]:
    """Yield a line for each program: CPU seconds of its runs, the first from no cache."""
    for name, (arguments, times) in FIRST.items():
        with tempfile.TemporaryDirectory() as cache:
            seconds = [process(arguments, cache, name)[1].cpu for _ in range(times)]
        yield {"CPU s from an empty cache": name} | dict(
            zip(("1st", "2nd", "3rd"), seconds, strict=False)
        )


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield the requested table."""
    if asked.first:
        yield Table(
            {"CPU s from an empty cache": "30s", "1st": "6.1f", "2nd": "6.1f", "3rd": "6.1f"},
            first_runs(),
        )
    elif asked.kernels:
        yield Table({"CPU s": "6.3f", "function": "s"}, kernels(asked.kernels))
    elif asked.solves:
        columns = {
            "CPU s, 200 rows x 5": "20s",
            "cold": "6.2f",
            "cold, all": "9.2f",
            "warm": "6.2f",
            "warm, all": "9.2f",
        }
        yield Table(columns | {"imports": "8.2f", "functions compiled": "19d"}, solves(asked.runs))
    else:
        columns = {"200 rows x 5": "22s", "kernels": "7s", **dict.fromkeys(SECONDS, "17.1f")}
        yield Table(columns, comparisons(asked.warm, asked.runs))


SECONDS = ("CPU s", "wall s", "first answer CPU", "first answer wall")
"""Column heads of the seconds of a `Run`."""
OPTIONS = {
    "warm": (False, "leave the cold runs out"),
    "runs": (3, "runs of which medians are printed"),
    "solves": (False, "the first solve by each solver in place of comparisons"),
    "kernels": ("", f"what a first solve by this solver compiles: {', '.join(SOLVES)}"),
    "first": (False, "what a newcomer runs, from an empty cache, in place of comparisons"),
}
BENCHMARK = Benchmark(__doc__, tables, OPTIONS)
