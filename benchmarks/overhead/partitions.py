"""Overhead of Dask for a problem whose points are in partitions, in CPU seconds.

Whole runs, and a round with almost nothing to compute.

    python benchmarks/run.py overhead.partitions
        medians of five runs of either problem, and the rounds
    python benchmarks/run.py overhead.partitions --cases ranking --runs 9

Runs are to a proven relative width of 1e-6 with the squared hinge, the package's own
solver with its interval, one partition in this process, and one partition on the one
worker of a cluster of this machine, one after the other. Of a cluster the calling
process, which also runs the scheduler, and the worker count apart. The use of both
while idle is the last column, of a second of wall time: it is in the CPU time of a
run, too, as much as the run takes wall time.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from clock import spent
from dask import delayed
from distributed import Client, LocalCluster
from table import Benchmark, Line, Table

from equimargin.distributed import PartitionedProblem
from equimargin.distributed import classification as of_labels
from equimargin.distributed import ranking as of_queries
from equimargin.distributed import solve as solve_partitions
from equimargin.formulations import Problem, classification, ranking
from equimargin.solvers import solve

BLOCKS = 1000
"""Queries of the ranking, and blocks of the classification, each drawn by its own seed."""
FREE_PORT = "127.0.0.1:0"
"""Address at which the cluster serves its status."""
ROUNDS = 30
"""Rounds with almost nothing to compute, of which means are printed."""
SECONDS_OF_REST = 2.0
"""Seconds for which the cluster is idle."""


def queries() -> tuple[Any, ...]:
    """Return 1e6 points in 1,000 queries, 20 features, five relevances."""
    X, y = np.empty((BLOCKS, 1000, 20)), np.empty((BLOCKS, 1000))
    w = np.random.default_rng(0).normal(size=20)
    for k in range(BLOCKS):
        random = np.random.default_rng((0, k))
        X[k] = random.normal(size=(1000, 20))
        y[k] = np.digitize(
            X[k] @ w / np.sqrt(20) + random.normal(size=1000), np.linspace(-1.5, 1.5, 4)
        )
    return X.reshape(-1, 20), y.ravel(), np.repeat(np.arange(BLOCKS), 1000)


def labelled() -> tuple[Any, ...]:
    """Return 2e6 points of two classes, 50 features."""
    X, y = np.empty((BLOCKS, 2000, 50)), np.empty((BLOCKS, 2000))
    w = np.random.default_rng(0).normal(size=50)
    for k in range(BLOCKS):
        random = np.random.default_rng((0, k))
        X[k] = random.normal(size=(2000, 50))
        y[k] = np.where(X[k] @ w / np.sqrt(50) + 0.3 + random.normal(size=2000) > 0, 1.0, -1.0)
    return X.reshape(-1, 50), y.ravel()


CASES: dict[
    str,
    tuple[
        Callable[[], tuple[Any, ...]],
        Callable[..., Problem],
        Callable[..., PartitionedProblem],
        float,
    ],
] = {
    "ranking": (queries, ranking, of_queries, 1e-7),
    "classification": (labelled, classification, of_labels, 1e-5),
}
"""The points, both ways to state the problem, and C."""


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """Yield a client of a cluster of this machine."""
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=FREE_PORT, memory_limit=0
        ) as started,
        Client(started, set_as_default=False) as client,
    ):
        yield client


def warm(run: Callable[[], object]) -> list[float]:
    """Return CPU seconds here and elsewhere, and wall seconds, of a second run."""
    run()
    with spent() as seconds:
        run()
    return seconds


def on_a_worker(
    load: Callable[[], tuple[Any, ...]],
    state: Callable[..., PartitionedProblem],
    C: float,
    parts: int,
) -> list[float]:
    """Return CPU seconds of a run on a cluster, here and there, and of a second of rest."""
    with cluster(1) as client:
        made = delayed(load, nout=parts)()
        problem = state(*([block] for block in made), C, "squared_hinge", client=client)
        here, there, _ = warm(lambda: solve_partitions(problem))
        with spent() as rest:
            time.sleep(SECONDS_OF_REST)
    return [here, there, (rest[0] + rest[1]) / rest[2]]


def proved(problem: Problem) -> object:
    """Return the proven interval of the package's own solver."""
    return solve(problem, "newton").interval


def whole_runs(names: list[str], runs: int) -> Iterator[Line]:
    """Yield the medians of runs of the problems."""
    for name in names:
        load, state, state_in_parts, C = CASES[name]
        data = load()
        problem, in_parts = (
            state(*data, C=C, loss="squared_hinge"),
            state_in_parts(*([block] for block in data), C, "squared_hinge"),
        )
        found = []
        for _ in range(runs):
            package, process = (
                warm(run)[0]
                for run in (partial(proved, problem), partial(solve_partitions, in_parts))
            )
            here, there, rest = on_a_worker(load, state_in_parts, C, len(data))
            found.append([package, process, here, there, (here + there) / process, rest])
        yield {"CPU seconds": name} | dict(
            zip(SECONDS, np.median(found, axis=0).tolist(), strict=True)
        )


def rounds() -> Iterator[Line]:
    """Yield what a round of partitions of ten points takes."""
    for workers in (1, 2):
        for parts in (1, 8, 100):
            with cluster(workers) as client:
                random = np.random.default_rng(0)
                X, y = random.normal(size=(10 * parts, 3)), np.resize([-1.0, 1.0], 10 * parts)
                features, labels = (
                    [delayed(block) for block in np.split(part, parts)] for part in (X, y)
                )
                problem = of_labels(features, labels, client=client)
                problem.sums.each("facts")
                with spent() as seconds:
                    for _ in range(ROUNDS):
                        problem.sums.each("facts")
            found = dict(zip(ROUND, (1e3 * each / ROUNDS for each in seconds), strict=True))
            yield {"workers": workers, "partitions": parts} | found


def tables(asked: Namespace) -> Iterator[Table]:
    """Yield both tables."""
    names = [name for name in CASES if name in asked.cases]
    if names:
        yield Table(
            {"CPU seconds": "15s", **dict.fromkeys(SECONDS, "14.2f")}, whole_runs(names, asked.runs)
        )
    if "rounds" in asked.cases:
        yield Table(
            {"workers": "7d", "partitions": "10d", **dict.fromkeys(ROUND, "12.1f")}, rounds()
        )


SECONDS = ("package", "process", "Dask, here", "Dask, worker", "to process", "rest, a second")
ROUND = ("CPU here ms", "CPU there ms", "wall ms")
OPTIONS = {
    "cases": ((*CASES, "rounds"), "some of these, by default all"),
    "runs": (5, "runs of which medians are printed"),
}
BENCHMARK = Benchmark(__doc__, tables, OPTIONS)
