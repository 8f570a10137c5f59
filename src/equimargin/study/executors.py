"""Executors of a study: this process, local processes (joblib), or a Dask cluster.

While an executor is open it runs leased answers: it takes one per free worker, and
yields each with its row as it is done. Other processes read the data themselves, once,
and make every problem themselves: no matrix is ever sent. On a cluster reading the rows
of a data set is a task, whose name is the digest of their numbers: Dask repeats the
task if its worker is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from equimargin.data import Data
from equimargin.distributed.on_dask import SECONDS_TO_FETCH, completed
from equimargin.solvers.partitioned import Lost
from equimargin.study.answer import answer, load_rows
from equimargin.study.grid import AnswerSpec

Done = tuple[AnswerSpec, dict[str, Any] | None]
"""Requested answer and its row; the row is None if its process crashed."""
Work = Callable[[Iterator[AnswerSpec]], Iterator[Done]]
"""Function that runs leased answers."""

WAITING = 2
"""Queue length per worker of a cluster, in answers: one running, one waiting.

So no worker is idle while a row is written.
"""
SECONDS_TO_CONNECT = 10.0
"""Seconds after which a silent scheduler counts as gone."""

FREE_PORT = "127.0.0.1:0"
"""Address of the status page of a local cluster: any free port, this machine only.

Without an address Dask takes port 8787, and warns if that is taken; with ":0" it
listens to other machines, too.
"""

KEPT = "the answers that were written are kept, and --resume runs what is missing"
"""End of messages about a lost cluster."""


class WorkersDied(RuntimeError):
    """Running processes have crashed: leased answers without a row must run again."""


class ClusterGone(OSError):
    """A cluster cannot be reached or has no workers: its answers must run again."""


@dataclass(frozen=True)
class Executor:
    """Place and memory limit of the computation of answers.

    Parameters
    ----------
    opened : callable
        Function that returns a context manager of a `Work`.
    memory : int or None
        Memory limit of an answer in bytes, in addition to what its process has; None is
        unlimited.
    """

    opened: Callable[[], AbstractContextManager[Work]]
    memory: int | None = None


def local(memory: int | None = None) -> Executor:
    """Return an executor that runs answers in this process, one after the other.

    Parameters
    ----------
    memory : int or None
        See `Executor`.
    """
    return Executor(
        lambda: nullcontext(lambda leased: (_done(asked, memory) for asked in leased)), memory
    )


def of_joblib(jobs: int, memory: int | None = None) -> Executor:
    """Return an executor of several processes of this machine, excluding this one.

    Parameters
    ----------
    jobs : int
        Number of processes.
    memory : int or None
        See `Executor`.

    Returns
    -------
    Executor
        Executor; running it raises WorkersDied if a process crashes.
    """

    def run(leased: Iterator[AnswerSpec]) -> Iterator[Done]:
        from joblib import Parallel, delayed

        # With one job joblib would use this process. So two processes are started, and
        # only one answer is dispatched at a time.
        work = Parallel(
            n_jobs=max(jobs, 2),
            backend="loky",
            return_as="generator_unordered",
            pre_dispatch=jobs,
            batch_size=1,
        )
        try:
            yield from work(delayed(_done)(asked, memory) for asked in leased)
        except BrokenProcessPool:
            raise WorkersDied from None

    return Executor(lambda: nullcontext(run), memory)


def of_dask(scheduler: str | None, jobs: int, memory: int | None = None) -> Executor:
    """Return an executor of a Dask cluster.

    Parameters
    ----------
    scheduler : str or None
        Address of the scheduler; None starts a cluster of processes of this machine.
    jobs : int
        Number of processes of a local cluster.
    memory : int or None
        See `Executor`.

    Returns
    -------
    Executor
        Executor. Opening and running it raises ValueError if dask and distributed are
        not installed or a worker runs several answers in one process, and ClusterGone
        if the scheduler does not respond or has no workers.
    """

    @contextmanager
    def opened() -> Iterator[Work]:
        with _cluster(scheduler, jobs) as client:
            data: dict[str, Any] = {}
            yield lambda leased: _on_a_cluster(client, data, leased, memory)

    return Executor(opened, memory)


def _done(asked: AnswerSpec, memory: int | None, data: Data | None = None) -> Done:
    """Return an answer with its row, as another process runs it."""
    return asked, answer(asked, memory, data)


def _on_a_cluster(
    client: Any, data: dict[str, Any], leased: Iterator[AnswerSpec], memory: int | None
) -> Iterator[Done]:
    """Yield the answers of a cluster as they come.

    `data` has the submitted tasks that read rows, by digest.
    """
    at_work: dict[Any, AnswerSpec] = {}
    while True:
        while len(at_work) < WAITING * max(len(_workers(client)), 1):
            asked = next(leased, None)
            if asked is None:
                break
            if asked.digest not in data:
                data[asked.digest] = client.submit(
                    load_rows, asked, key=f"equimargin-rows-{asked.digest}"
                )
            future = client.submit(
                _done, asked, memory, data[asked.digest], key=f"equimargin-answer-{asked.key}"
            )
            at_work[future] = asked
        if not at_work:
            return
        for future in _finished(client, [*at_work]):
            yield _row_of(future, at_work.pop(future))
            future.release()


def _finished(client: Any, at_work: list[Any]) -> list[Any]:
    """Return the finished answers of a cluster, once there are any.

    Raises
    ------
    ClusterGone
        If the scheduler is gone, or the cluster has been without workers for too long.
    """
    try:
        return completed(client, at_work, "FIRST_COMPLETED")
    except Lost as lost:
        raise ClusterGone(f"{lost}: {KEPT}") from None
    except TimeoutError:
        raise ClusterGone(f"the scheduler of the cluster does not answer in time; {KEPT}") from None
    except (CancelledError, OSError):
        raise ClusterGone(f"the scheduler of the cluster is gone; {KEPT}") from None


def _row_of(future: Any, asked: AnswerSpec) -> Done:
    """Return a finished answer with its row."""
    try:
        failure = future.exception(timeout=SECONDS_TO_FETCH)
        if failure is None:
            done: Done = future.result(timeout=SECONDS_TO_FETCH)
            return done
    except TimeoutError:
        raise ClusterGone(
            f"the cluster does not return an answer within {SECONDS_TO_FETCH:g} s; {KEPT}"
        ) from None
    if type(failure).__name__ == "KilledWorker":
        return asked, None
    raise failure


def _workers(client: Any) -> dict[str, int]:
    """Return the numbers of threads of a cluster's workers.

    Raises
    ------
    ClusterGone
        If the scheduler does not respond.
    ValueError
        If a worker runs several answers in one process.
    """
    try:
        threads_of: dict[str, int] = client.nthreads()
    except (OSError, TimeoutError):
        raise ClusterGone(f"the scheduler of the cluster is gone; {KEPT}") from None
    threaded = [address for address, threads in threads_of.items() if threads > 1]
    if threaded:
        raise ValueError(
            f"the worker {threaded[0]} runs several answers in one process; start workers with "
            f"--nthreads 1"
        )
    return threads_of


@contextmanager
def _cluster(scheduler: str | None, jobs: int) -> Iterator[Any]:
    """Yield a client of the cluster; close it, and a local cluster, at the end."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(
            "dask and distributed are not installed; pip install 'equimargin[cluster]', or "
            "take --executor joblib"
        ) from None
    for name in ("distributed", "distributed.client"):
        # Losses are reported by this module's own messages.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if scheduler is None:
        with (
            LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                dashboard_address=FREE_PORT,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(scheduler, timeout=SECONDS_TO_CONNECT)
    except (OSError, TimeoutError, ValueError) as reason:
        raise ClusterGone(f"no scheduler answers at {scheduler} ({reason}); {KEPT}") from None
    with client:
        yield client
