"""How long `equimargin compare` takes as a person starts it: from the start of the process to the first answer and to its end.

    python benchmarks/start_up.py            warm and cold
    python benchmarks/start_up.py --warm     without the cold runs, in which every kernel is compiled
    python benchmarks/start_up.py --runs 5   medians of five runs instead of three

The files have 200 rows of 5 features, made from a fixed seed. A warm process finds its kernels compiled by an earlier one, a cold one
finds none. CPU seconds are those of the whole process; wall seconds depend on who else wants the cores. The first answer is the first
line that says what is proven of an optimum. A comparison that does not agree ends the table. Threads are as many as a person has who sets
nothing, and Python keeps its byte code as it does for them: not writing any costs 0.4 s of CPU time in every process. Backends run into
limits of the clock: CPU times are comparable on a quiet machine only.
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
"""What a line says in which something is proven of an optimum; the line on one of which nothing is proven has no number behind the word."""


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


def timed(data: Path, cache: str | None) -> Run:
    """One process, its kernels kept in a folder of its own if one is given."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8"}
    environment |= {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "equimargin", "compare", str(data)], stdout=subprocess.PIPE, env=environment, text=True, encoding="utf-8"
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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", action="store_true", help="leave the cold runs out")
    parser.add_argument("--runs", type=int, default=3, help="runs of which medians are printed")
    arguments = parser.parse_args()
    print(f"{'200 rows x 5':22s} {'kernels':6s} {'CPU s':>7s} {'wall s':>8s} {'first answer CPU':>16s} {'first answer wall':>16s}")
    with tempfile.TemporaryDirectory() as folder:
        cases = list(files(Path(folder)))
        for _, data in cases:
            for _ in range(2):
                timed(data, None)  # compiles what is not compiled yet: the first run leaves some kernels to the second one
        table(lambda data: timed(data, None), "warm", cases, arguments.runs)
        if not arguments.warm:

            def cold(data: Path) -> Run:
                with tempfile.TemporaryDirectory() as cache:
                    return timed(data, cache)

            table(cold, "cold", cases, arguments.runs)


if __name__ == "__main__":
    main()
