"""What a study adds to its answers, per answer: in this process, in those of joblib, and on a Dask cluster of this machine.

    python benchmarks/overhead/study.py             medians of five rounds
    python benchmarks/overhead/study.py --rounds 9

A round runs 120 quick answers with every executor, one executor after the other. An executor has loaded all libraries and compiled all
kernels by 30 other answers before its clock starts. The CPU time of the answers themselves is what their rows say. That of the process of
the study, in which also the scheduler of the cluster runs, and that of its workers are those of the whole processes from the beginning of
the study to its end. The last column is what both take beside the answers. Wall times depend on who else wants the processors.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import nullcontext
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
from processes import used

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
MILLISECONDS = 1e3
"""Milliseconds of a second."""


@dataclass(frozen=True)
class PerAnswer:
    """Milliseconds per answer: CPU of the answers themselves, of the study's process and of its workers, and wall time."""

    answers: float
    process: float
    workers: float
    wall: float

    @property
    def beside(self) -> float:
        """CPU time beside that of the answers themselves."""
        return self.process + self.workers - self.answers


def asked(*seeds: int) -> list[AnswerSpec]:
    """Thirty answers a seed on 25 rows of iris: two families by a declaration, primal or dual, and by a specialised solver."""
    data = (DataPlan("iris", sample=25),)
    families, costs = ("svm.soft", "svm.l2"), (0.1, 0.3, 1.0, 3.0, 10.0)
    request = ComparisonRequest(("*.primal", "*.dual"), ("CLARABEL", "smo"), tol=1e-6)
    return grid(Plan("overhead", "", data, families=families, costs=costs, seeds=seeds, request=request))


def through(executor: Executor, database: Path, answers: list[AnswerSpec]) -> float:
    """The CPU seconds that the answers of a study say they took, once it is through."""
    with Database(database, writes=True) as opened:
        opened.enter("overhead", "", answers)
        run(opened, executor)
    rows = Study(database).records()
    if len(rows) != len(answers) or not all(row["ok"] for row in rows):
        raise SystemExit("an answer was not solved, and the times are worth nothing")
    return float(sum(row["cpu_seconds"] for row in rows))


def measured(executor: Executor, folder: Path) -> PerAnswer:
    """One study of an executor, which has run another one before."""
    with executor.opened() as work:
        warm = Executor(lambda: nullcontext(work))
        through(warm, folder / "first.sqlite", asked(0))
        answers = asked(1, 2, 3, 4)
        before = used()
        themselves = through(warm, folder / "measured.sqlite", answers)
        process, workers, wall = (after - start for after, start in zip(used(), before, strict=True))
    return PerAnswer(*(MILLISECONDS * seconds / len(answers) for seconds in (themselves, process, workers, wall)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which medians are printed")
    rounds = parser.parse_args().rounds
    found: dict[str, list[PerAnswer]] = {name: [] for name in EXECUTORS}
    for _ in range(rounds):
        for name, executor in EXECUTORS.items():
            with tempfile.TemporaryDirectory() as folder:
                found[name].append(measured(executor, Path(folder)))
    print(f"milliseconds per answer, medians of {rounds} rounds; CPU but for the wall time")
    print(f"{'executor':20s} {'answers':>8s} {'process':>8s} {'workers':>8s} {'wall':>8s} {'beside answers':>15s}")
    for name, each in found.items():
        figures = np.median([(*astuple(one), one.beside) for one in each], axis=0)
        print(f"{name:20s} " + " ".join(f"{figure:8.1f}" for figure in figures[:-1]) + f" {figures[-1]:15.1f}", flush=True)


if __name__ == "__main__":
    main()
