"""What Dask adds to a problem whose points lie in partitions: CPU seconds of whole runs, and of a round with almost nothing to compute.

    python benchmarks/overhead/partitions.py                 medians of five runs of the ranking and of the classification, and the rounds
    python benchmarks/overhead/partitions.py ranking --runs 9

Runs are to a proven relative width of 1e-6 with the squared hinge, the package's own solver with its interval, one partition in this
process, and one partition on the one worker of a cluster of this machine, one after the other. Of a cluster the process that asks, in which
also the scheduler runs, and the worker count apart. What both use while nobody asks is the last column, of a second of wall time: it is in
the CPU time of a run, too, as much as the run takes wall time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client, LocalCluster
from processes import used

from equimargin.distributed import PartitionedProblem
from equimargin.distributed import classification as of_labels
from equimargin.distributed import ranking as of_queries
from equimargin.distributed import solve as solve_partitions
from equimargin.formulations import Problem, classification, ranking
from equimargin.solvers import solve

BLOCKS = 1000
"""Queries of the ranking, and blocks of the classification, each drawn by its own seed."""
FREE_PORT = "127.0.0.1:0"
"""Where the cluster serves its status."""
ROUNDS = 30
"""Rounds with almost nothing to compute, of which means are printed."""
SECONDS_OF_REST = 2.0
"""Seconds in which nobody asks anything of the cluster."""


def queries() -> tuple[Any, ...]:
    """1e6 points in 1,000 queries, 20 features, five relevances."""
    X, y = np.empty((BLOCKS, 1000, 20)), np.empty((BLOCKS, 1000))
    w = np.random.default_rng(0).normal(size=20)
    for k in range(BLOCKS):
        random = np.random.default_rng((0, k))
        X[k] = random.normal(size=(1000, 20))
        y[k] = np.digitize(X[k] @ w / np.sqrt(20) + random.normal(size=1000), np.linspace(-1.5, 1.5, 4))
    return X.reshape(-1, 20), y.ravel(), np.repeat(np.arange(BLOCKS), 1000)


def labelled() -> tuple[Any, ...]:
    """2e6 points of two classes, 50 features."""
    X, y = np.empty((BLOCKS, 2000, 50)), np.empty((BLOCKS, 2000))
    w = np.random.default_rng(0).normal(size=50)
    for k in range(BLOCKS):
        random = np.random.default_rng((0, k))
        X[k] = random.normal(size=(2000, 50))
        y[k] = np.where(X[k] @ w / np.sqrt(50) + 0.3 + random.normal(size=2000) > 0, 1.0, -1.0)
    return X.reshape(-1, 50), y.ravel()


CASES: dict[str, tuple[Callable[[], tuple[Any, ...]], Callable[..., Problem], Callable[..., PartitionedProblem], float]] = {
    "ranking": (queries, ranking, of_queries, 1e-7),
    "classification": (labelled, classification, of_labels, 1e-5),
}
"""The points, both ways to state the problem, and C."""


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of this machine."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=FREE_PORT, memory_limit=0) as started,
        Client(started, set_as_default=False) as client,
    ):
        yield client


def spent(run: Callable[[], object]) -> list[float]:
    """CPU seconds of this process and of others, and wall seconds, of a run after one that compiles what it needs."""
    run()
    before = used()
    run()
    return [after - start for after, start in zip(used(), before, strict=True)]


def on_a_worker(load: Callable[[], tuple[Any, ...]], state: Callable[..., PartitionedProblem], C: float, parts: int) -> list[float]:
    """CPU seconds here and on the worker of a run on a cluster, and what both use in a second of rest."""
    with cluster(1) as client:
        made = delayed(load, nout=parts)()
        problem = state(*([block] for block in made), C, "squared_hinge", client=client)
        here, there, _ = spent(lambda: solve_partitions(problem))
        before = used()
        time.sleep(SECONDS_OF_REST)
        rest = [after - start for after, start in zip(used(), before, strict=True)]
    return [here, there, (rest[0] + rest[1]) / rest[2]]


def whole_runs(name: str, runs: int) -> None:
    """Print the medians of runs of a problem."""
    load, state, state_in_parts, C = CASES[name]
    data = load()
    problem, in_parts = state(*data, C=C, loss="squared_hinge"), state_in_parts(*([block] for block in data), C, "squared_hinge")
    found = []
    for _ in range(runs):
        package, process = (spent(run)[0] for run in (lambda: solve(problem, "newton").interval, lambda: solve_partitions(in_parts)))
        found.append([package, process, *on_a_worker(load, state_in_parts, C, len(data))])
    package, process, here, there, rest = np.median(found, axis=0)
    ratio = np.median([(row[2] + row[3]) / row[1] for row in found])
    print(f"{name:15s} {package:8.2f} {process:8.2f} {here:12.2f} {there:12.2f} {ratio:12.2f} {rest:14.3f}", flush=True)


def rounds(workers: int, parts: int) -> None:
    """Print what a round of partitions of ten points takes."""
    with cluster(workers) as client:
        random = np.random.default_rng(0)
        X, y = random.normal(size=(10 * parts, 3)), np.resize([-1.0, 1.0], 10 * parts)
        features, labels = ([delayed(block) for block in np.split(part, parts)] for part in (X, y))
        problem = of_labels(features, labels, client=client)
        problem.sums.each("facts")
        before = used()
        for _ in range(ROUNDS):
            problem.sums.each("facts")
        here, there, wall = (1e3 * (after - start) / ROUNDS for after, start in zip(used(), before, strict=True))
    print(f"{workers:7d} {parts:10d} {here:12.1f} {there:12.1f} {wall:12.1f}", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=[*CASES, "rounds"], help=f"by default all: {', '.join(CASES)}, rounds")
    parser.add_argument("--runs", type=int, default=5, help="runs of which medians are printed")
    arguments = parser.parse_args()
    if set(arguments.cases) & set(CASES):
        heads = ("package", "process", "Dask, here", "Dask, worker", "to process", "rest, a second")
        print(f"{'CPU seconds':15s} {heads[0]:>8s} {heads[1]:>8s} {heads[2]:>12s} {heads[3]:>12s} {heads[4]:>12s} {heads[5]:>14s}")
    for name in filter(CASES.__contains__, arguments.cases):
        whole_runs(name, arguments.runs)
    if "rounds" in arguments.cases:
        print(f"{'workers':>7s} {'partitions':>10s} {'CPU here ms':>12s} {'CPU there ms':>12s} {'wall ms':>12s}")
        for workers in (1, 2):
            for parts in (1, 8, 100):
                rounds(workers, parts)


if __name__ == "__main__":
    main()
