"""Seconds of the processes that a user starts.

These are first commands and solves, comparisons until their first answer, and a `solve` by each
solver.

    python benchmarks/start_up.py --first       what a newcomer runs, each from an empty cache: CPU seconds of up to three runs
    python benchmarks/start_up.py               comparisons, warm and cold
    python benchmarks/start_up.py --warm        without the cold runs, in which every kernel is compiled
    python benchmarks/start_up.py --runs 5      medians of five runs instead of three
    python benchmarks/start_up.py --solves      the first solve of a process by each solver, cold and warm, on one thread
    python benchmarks/start_up.py --kernels smo CPU seconds of each function that a first solve by one solver compiles

The files and the problems have 200 rows of 5 features, made from a fixed seed. A warm process finds
its kernels compiled by an earlier one, a cold one finds none. CPU seconds are those of the whole
process; wall seconds depend on who else wants the cores. The first answer is the first line that
says what is proven of an optimum. A comparison that does not agree ends the table. Threads of
comparisons are as many as a user has who sets nothing, and Python keeps its byte code as it does
for them: not writing any costs 0.4 s of CPU time in every process. Backends run into limits of the
clock: CPU times are comparable on a quiet machine only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SOURCE = Path(__file__).resolve().parents[1] / "src"
ROWS = 200
"""Rows of every file."""
FEATURES = 5
"""Features of every file."""
QUERIES = 10
"""Queries of the ranking that has any."""
FIRST_ANSWER = re.compile(r"\boptimum (in \[|at most )?-?\.?\d")
"""Text of a line in which something is proven of an optimum.

A line on an optimum of which nothing is proven has no number behind the word.
"""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""What keeps linear algebra to one thread."""
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
    "penalty": "classification(X, separable, bias=False, sample_weight=np.where(np.arange(len(X)) < 5, np.inf, 1.0))",
}
"""A problem for every solver."""
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
"""A program that solves a small problem."""
AUDIT = """
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from equimargin.proofs import audit
X, y = load_iris(return_X_y=True)
X, y = X[y > 0], y[y > 0]
audit(SVC().fit(X, y), X, y)
"""
"""A program that audits a model of scikit-learn's."""
FIRST: dict[str, tuple[list[str], int]] = {
    "compare xor": (["-m", "equimargin", "compare", "xor"], 3),
    "compare iris": (["-m", "equimargin", "compare", "iris"], 2),
    "compare breast_cancer --scale": (["-m", "equimargin", "compare", "breast_cancer", "--scale"], 2),
    "solve, rbf": (["-c", SMALL.format("classification(X, y, kernel=rbf(0.1))")], 1),
    "solve, linear": (["-c", SMALL.format("classification(X, y)")], 1),
    "solve, linear without bias": (["-c", SMALL.format("classification(X, y, bias=False)")], 1),
    "solve, squared hinge": (["-c", SMALL.format("classification(X, y, loss='squared_hinge')")], 1),
    "solve, ranking": (["-c", SMALL.format("ranking(X, levels)")], 1),
    "solve, ranking, rbf": (["-c", SMALL.format("ranking(X, levels, kernel=rbf(0.1))")], 1),
    "audit, SVC on iris": (["-c", AUDIT], 1),
    "warm-up": (["-m", "equimargin", "warm-up"], 2),
}
"""Programs by their names in the table, and how often each is run with one cache."""

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
"""The program of a first solve: it prints the CPU seconds until all is imported and until the answer, and what was compiled."""


@dataclass(frozen=True)
class Run:
    """Seconds of one process: CPU and wall time at its end, and of the first answer."""

    cpu: float
    wall: float
    first_cpu: float
    first_wall: float


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files by their names in the table."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, FEATURES))
    score = X @ np.linspace(1.0, -0.5, FEATURES) + random.normal(size=ROWS)
    relevance, queries = np.digitize(score, [-1.0, 0.0, 1.0]), np.arange(ROWS) % QUERIES
    yield "ranking, 10 queries", written(folder / "queries.csv", {"qid": queries, "relevance": relevance}, X)
    yield "ranking, one query", written(folder / "ranking.csv", {"qid": 0 * queries, "relevance": relevance}, X)
    yield "classification", written(folder / "classification.csv", {"label": np.sign(score)}, X)
    yield "regression", written(folder / "regression.csv", {"target": score}, X)


def written(path: Path, columns: Mapping[str, NDArray[np.generic]], X: NDArray[np.float64]) -> Path:
    """The file, with these columns before the features."""
    names = [*columns, *(f"x{j}" for j in range(X.shape[1]))]
    np.savetxt(path, np.column_stack([*columns.values(), X]), fmt="%.6g", delimiter=",", header=",".join(names), comments="")
    return path


def environment(cache: str | None) -> dict[str, str]:
    """The variables of a process that keeps its kernels in a folder of its own if one is given."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8"} | ({} if cache is None else {"NUMBA_CACHE_DIR": cache})


def timed(data: Path, cache: str | None) -> Run:
    """One process, its kernels kept in a folder of its own if one is given."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "equimargin", "compare", str(data)],
        stdout=subprocess.PIPE,
        env=environment(cache),
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    first_cpu = first_wall = float("nan")
    for line in process.stdout:
        if FIRST_ANSWER.search(line) and np.isnan(first_wall):
            first_wall, first_cpu = time.perf_counter() - started, _cpu_so_far(process.pid)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or np.isnan(first_wall):
        raise SystemExit(f"{data.name}: the comparison ended with status {process.returncode}, and its times are worth nothing")
    return Run(used.ru_utime + used.ru_stime, time.perf_counter() - started, first_cpu, first_wall)


def _cpu_so_far(pid: int) -> float:
    """CPU seconds of a process that still runs, where the system tells; NaN elsewhere."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def table(run: Callable[[Path], Run], name: str, cases: list[tuple[str, Path]], runs: int) -> None:
    """Print a line a file, of medians over some runs."""
    for case, data in cases:
        r = Run(*np.median([astuple(run(data)) for _ in range(runs)], axis=0).tolist())
        print(f"{case:22s} {name:6s} {r.cpu:8.1f} {r.wall:8.1f} {r.first_cpu:16.1f} {r.first_wall:16.1f}", flush=True)


@dataclass(frozen=True)
class FirstSolve:
    """CPU seconds of one process until all is imported, until the answer and until its end; and of each function that it compiled."""

    imported: float
    solved: float
    ended: float
    compiled: list[tuple[float, str]]


def first_solve(solver: str, cache: str) -> FirstSolve:
    """One process that solves one problem on one thread."""
    program = FIRST_SOLVE % (ROWS, FEATURES, QUERIES, SOLVES[solver], solver)
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment(cache) | ONE_THREAD, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or not lines[0].endswith("optimal"):
        raise SystemExit(f"{solver}: no optimum was found, and its times are worth nothing")
    imported, solved, _ = lines[0].split()
    compiled = [(float(seconds), kernel) for seconds, kernel in (line.split() for line in lines[1:])]
    return FirstSolve(float(imported), float(solved), used.ru_utime + used.ru_stime, compiled)


def table_of_solves(runs: int) -> None:
    """Print a line a solver: medians over some runs, each cold and then three times warm."""
    print(f"{'CPU s, 200 rows x 5':20s} {'cold':>6s} {'(all)':>6s} {'warm':>6s} {'(all)':>6s} {'imports':>8s} {'functions compiled':>19s}")
    for solver in SOLVES:
        cold, warm = [], []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(first_solve(solver, cache))
                warm += [first_solve(solver, cache) for _ in range(3)]
        columns = [[r.solved for r in cold], [r.ended for r in cold], [r.solved for r in warm], [r.ended for r in warm]]
        shown = [float(np.median(column)) for column in [*columns, [r.imported for r in warm]]]
        print(f"{solver:20s}" + "".join(f" {seconds:6.2f}" for seconds in shown) + f" {len(cold[0].compiled):12d}", flush=True)


def list_of_kernels(solver: str) -> None:
    """Print the functions that a first solve compiles: CPU seconds, without those of the functions within."""
    with tempfile.TemporaryDirectory() as cache:
        for seconds, kernel in first_solve(solver, cache).compiled:
            print(f"{seconds:6.3f} {kernel}")


def table_of_comparisons(only_warm: bool, runs: int) -> None:
    """Print a line a file, warm and cold."""
    print(f"{'200 rows x 5':22s} {'kernels':6s} {'CPU s':>7s} {'wall s':>8s} {'first answer CPU':>16s} {'first answer wall':>16s}")
    with tempfile.TemporaryDirectory() as folder:
        cases = list(files(Path(folder)))
        for _, data in cases:
            for _ in range(2):
                timed(data, None)  # compiles what is not compiled yet: the first run leaves some kernels to the second one
        table(lambda data: timed(data, None), "warm", cases, runs)
        if not only_warm:

            def cold(data: Path) -> Run:
                with tempfile.TemporaryDirectory() as cache:
                    return timed(data, cache)

            table(cold, "cold", cases, runs)


def table_of_first_runs() -> None:
    """Print a line a program: CPU seconds of its runs, of which the first finds no kernel compiled."""
    print(f"{'CPU s from an empty cache':30s} {'1st':>6s} {'2nd':>6s} {'3rd':>6s}")
    for name, (arguments, times) in FIRST.items():
        with tempfile.TemporaryDirectory() as cache:
            seconds = [cpu_seconds(arguments, cache) for _ in range(times)]
        print(f"{name:30s} " + " ".join(f"{each:6.1f}" for each in seconds), flush=True)


def cpu_seconds(arguments: list[str], cache: str) -> float:
    """Return the CPU seconds of one process of Python with these arguments."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment(cache))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{arguments[-1]}: the process ended with status {process.returncode}, and its times are worth nothing")
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", action="store_true", help="leave the cold runs out")
    parser.add_argument("--runs", type=int, default=3, help="runs of which medians are printed")
    parser.add_argument("--solves", action="store_true", help="the first solve by each solver in place of comparisons")
    parser.add_argument("--kernels", choices=SOLVES, help="what a first solve by this solver compiles")
    parser.add_argument("--first", action="store_true", help="what a newcomer runs, from an empty cache, in place of comparisons")
    arguments = parser.parse_args()
    if arguments.first:
        table_of_first_runs()
    elif arguments.kernels:
        list_of_kernels(arguments.kernels)
    elif arguments.solves:
        table_of_solves(arguments.runs)
    else:
        table_of_comparisons(arguments.warm, arguments.runs)


if __name__ == "__main__":
    main()
