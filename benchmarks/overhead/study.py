"""Overhead of a study per answer: in this process, by joblib, on a Dask cluster.

    python benchmarks/run.py overhead.study             medians of five rounds
    python benchmarks/run.py overhead.study --rounds 9

A round runs 120 quick answers with every executor, one executor after the other. An
executor has loaded all libraries and compiled all kernels by 30 other answers before
its clock starts. The CPU time of the answers themselves is that of their rows. That of
the process of the study, in which also the scheduler of the cluster runs, and that of
its workers are those of the whole processes from the beginning of the study to its end.
The last column is the time of both without the answers. Wall times depend on the other
load of the processors. The cluster is of this machine.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from clock import spent
from table import Benchmark, Line, Table

from equimargin.request import ComparisonRequest
from equimargin.study import Study
from equimargin.study.database import Database
from equimargin.study.executors import Executor, local, of_dask, of_joblib
from equimargin.study.grid import AnswerSpec, grid
from equimargin.study.plan import DataPlan, Plan
from equimargin.study.run import run

EXECUTORS = {
    "local": local(),
    "joblib, 1 at work": of_joblib(1),
    "joblib, 2 at work": of_joblib(2),
    "Dask, 1 worker": of_dask(None, 1),
    "Dask, 2 workers": of_dask(None, 2),
}
"""The executors by their names in the table."""


def asked(*seeds: int) -> list[AnswerSpec]:
    """Return thirty answers a seed on 25 rows of iris.

    Two families by a declaration, primal or dual, and by a specialised solver.
    """
    data = (DataPlan("iris", sample=25),)
    families, costs = ("svm.soft", "svm.l2"), (0.1, 0.3, 1.0, 3.0, 10.0)
    request = ComparisonRequest(("*.primal", "*.dual"), ("CLARABEL", "smo"), tol=1e-6)
    return grid(
        Plan("overhead", "", data, families=families, costs=costs, seeds=seeds, request=request)
    )


def through(executor: Executor, database: Path, answers: list[AnswerSpec]) -> float:
    """Run a study to its end; return the CPU seconds that its answers report."""
    with Database(database, writes=True) as opened:
        opened.enter("overhead", "", answers)
        run(opened, executor)
    rows = Study(database).records()
    if len(rows) != len(answers) or not all(row["ok"] for row in rows):
        raise SystemExit("an answer was not solved, and the times are worth nothing")
    return float(sum(row["cpu_seconds"] for row in rows))


def measured(executor: Executor) -> tuple[float, ...]:
    """Measure a second study of an executor: milliseconds per answer."""
    with tempfile.TemporaryDirectory() as folder, executor.opened() as work:
        warm = Executor(lambda: nullcontext(work))
        through(warm, Path(folder) / "first.sqlite", asked(0))
        answers = asked(1, 2, 3, 4)
        with spent() as seconds:
            themselves = through(warm, Path(folder) / "measured.sqlite", answers)
    process, workers, wall = seconds
    return tuple(
        1e3 * each / len(answers)
        for each in (themselves, process, workers, wall, process + workers - themselves)
    )


def lines(options: Namespace) -> Iterator[Line]:
    """Yield medians over the rounds, in which executors take turns."""
    found = [[measured(executor) for executor in EXECUTORS.values()] for _ in range(options.rounds)]
    for name, figures in zip(EXECUTORS, np.median(found, axis=0).tolist(), strict=True):
        yield {"executor": name} | dict(zip(MILLISECONDS, figures, strict=True))


MILLISECONDS = ("answers", "process", "workers", "wall", "beside answers")
"""CPU time of answers, of the study's process, of its workers; wall time; the rest."""
COLUMNS = {"executor": "20s", **dict.fromkeys(MILLISECONDS, "14.1f")}
BENCHMARK = Benchmark(
    __doc__,
    lambda options: iter([Table(COLUMNS, lines(options))]),
    {"rounds": (5, "rounds of which medians are printed")},
)
