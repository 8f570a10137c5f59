"""CPU seconds of two checkouts on the rows of the other benchmarks.

    python benchmarks/run.py between_versions --other OTHER [--rows "smo 5000"] [--rounds 7]

OTHER is another checkout of this repository, A; this one is B. Each has a process of
its own, in which all functions are compiled before. Every row is solved by both in
turn, A B A B, problem construction included, and the ratio B / A of the medians is
printed: below 1 this checkout is faster. The rows are those of `svm.py`, `linear.py`,
`one_norm.py`, `ranking.py`, `exact.py` and `path.py` in `kinds/` that take about a
minute in total.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from table import DATA, LONGEST, ROOT, Benchmark, Line, Table

MIN_MEASURED_SECONDS = 0.1
"""Minimum CPU seconds of a measurement: a shorter row is solved several times in it."""


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the rows by name, with functions that solve them.

    They come from the benchmarks of the checkout whose package is imported.
    """
    from equimargin import solvers

    folder = Path(solvers.__file__).resolve().parents[1] / "benchmarks"
    sys.path[:0] = [
        str(folder / "kinds"),
        str(folder),
    ]  # the benchmarks of an older checkout may be in one folder
    names = ("exact", "linear", "one_norm", "path", "ranking", "svm")
    exact, linear, one_norm, path, ranking, svm = (importlib.import_module(name) for name in names)

    for contest in svm.contests(quick=True):
        yield f"smo {contest.name}", partial(solved, contest.problem, "smo", contest.ours or 1e-3)
    for row in linear.ROWS:
        X, y = linear.data(row, 0)
        yield (
            f"linear {row.name}",
            partial(solved, partial(penalised, X, y, row.C, row.loss), "auto", 1e-6),
        )
    for program in one_norm.ROWS:
        if program.quick:
            name = f"one-norm {program.form} {program.queries} x {program.size}"
            yield name, partial(solved, partial(program.problem, program.C), "auto", one_norm.TOL)
    for order in ranking.rows(DATA, quick=True):
        yield (
            f"ranking {order.title}",
            partial(solved, order.problem, "auto", 1e-6 if order.loss == "squared_hinge" else 1e-3),
        )
    for rational in exact.ROWS:
        drawn = rational.problem(np.random.default_rng(0))
        yield f"exact {rational.name}", partial(solvers.exact_optimum, drawn)
    for way in path.ROWS:
        if way.quick and (DATA / "esl-mixture.csv").is_file():
            yield f"path {way.data} {way.task} {way.n}", partial(followed, path, way)


def solved(problem: Callable[[], Any], solver: str, tol: float) -> Any:
    """Build and solve a problem; both are timed."""
    from equimargin.solvers import solve

    return solve(problem(), solver, tol=tol)


def penalised(X: Any, y: Any, C: float, loss: Any) -> Any:
    """Return the problem that LIBLINEAR solves."""
    from equimargin.formulations import classification

    return classification(X, y, C, loss=loss, bias="penalized")


def followed(path: Any, row: Any) -> Any:
    """Return the path of a row."""
    from equimargin.solvers import regularization_path

    return regularization_path(path.problem_of(row, DATA), path.LAMBDA_MIN)


def work() -> None:
    """Read numbers of rows line by line, and print the CPU seconds of each row.

    A first run of every row compiles, and is not counted.
    """
    answers, sys.stdout = sys.stdout, sys.stderr  # what the benchmarks print is no answer
    rows, seen = dict(enumerate(cases())), set()
    print(*(name for name, _ in rows.values()), sep="\t", file=answers, flush=True)
    for line in sys.stdin:
        number = int(line)
        if number not in seen:
            rows[number][1]()
            seen.add(number)
        start, runs, spent = time.process_time(), 0, 0.0
        while spent < MIN_MEASURED_SECONDS:
            rows[number][1]()
            runs, spent = runs + 1, time.process_time() - start
        print(spent / runs, file=answers, flush=True)


def worker(checkout: Path) -> subprocess.Popen[str]:
    """Start a process that runs a checkout's package with one BLAS thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(checkout / "src")}
    # Functions that run as Python on small problems are compiled, too, so that both
    # checkouts run compiled code.
    subprocess.run(
        [sys.executable, "-m", "equimargin", "warm-up"],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=LONGEST,
    )
    command = [sys.executable, str(Path(__file__).resolve())]
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def asked(process: subprocess.Popen[str], number: int) -> float:
    """Return the CPU seconds of a row."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{number}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def lines(asked_for: Namespace) -> Iterator[Line]:
    """Yield a line for every row, and print the geometric mean of the ratios."""
    sides = worker(Path(asked_for.other).resolve()), worker(ROOT)
    names, own = (
        [] if side.stdout is None else side.stdout.readline().rstrip("\n").split("\t")
        for side in sides
    )
    if names != own:
        sys.exit(f"the two checkouts have different rows: {sorted(set(names) ^ set(own))}")
    ratios = []
    for number, name in enumerate(names):
        if asked_for.rows in name:
            a, b = np.median(
                [[asked(side, number) for side in sides] for _ in range(asked_for.rounds)], axis=0
            ).tolist()
            ratios.append(b / a)
            yield {"row": name, "A s": a, "B s": b, "B / A": b / a}
    print(
        f"geometric mean of {len(ratios)} rows: "
        f"{float(np.prod(ratios)) ** (1 / max(len(ratios), 1)):.3f}"
    )


OPTIONS = {
    "other": ("../before", "another checkout"),
    "rows": ("", "only rows whose name contains this"),
    "rounds": (7, "runs of each side"),
}
COLUMNS = {"row": "64s", "A s": "9.4f", "B s": "9.4f", "B / A": "7.3f"}
BENCHMARK = Benchmark(__doc__, lambda asked: iter([Table(COLUMNS, lines(asked))]), OPTIONS)

if __name__ == "__main__":
    work()
