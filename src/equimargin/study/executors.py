"""Who runs the answers of a study: this process, processes of this machine (joblib), or a cluster (Dask).

While an executor is open it runs leased answers: it takes them one by one as it has
hands for them, and yields each with its row as it is done. Processes of others read the
data by themselves, once, and make every problem by themselves: no matrix is ever sent.
On a cluster the rows of a data set are a task of their own, whose name is the digest of
their numbers: Dask computes it again where its worker is lost.
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
"""An answer that was asked for, and its row; None where the processes that were at work on it died."""
Work = Callable[[Iterator[AnswerSpec]], Iterator[Done]]
"""What runs leased answers."""

WAITING = 2
"""Answers that a cluster has for each of its workers, one at work and one that waits: none is idle while a row is written."""
SECONDS_TO_CONNECT = 10.0
"""Seconds after which a scheduler that does not answer is taken for gone."""

FREE_PORT = "127.0.0.1:0"
"""Where a cluster of this machine serves its status: at any free port, and to no other machine. Without an address Dask takes port 8787,
and warns where that is taken; with ":0" it listens to other machines, too.
"""

KEPT = "the answers that were written are kept, and --resume runs what is missing"
"""What is said where a cluster is gone."""


class WorkersDied(RuntimeError):
    """Processes that were at work have died: what was leased and is not there is to be run again."""


class ClusterGone(OSError):
    """A cluster that cannot be reached, or has nobody to work: nobody knows what became of its answers, which are to be run again."""


@dataclass(frozen=True)
class Executor:
    """Who runs answers.

    Parameters
    ----------
    opened : Callable[[], AbstractContextManager[Work]]
        A context that yields what runs them.
    memory : int | None
        Bytes that an answer may take beside what its process has; None for any.
    """

    opened: Callable[[], AbstractContextManager[Work]]
    memory: int | None = None


def local(memory: int | None = None) -> Executor:
    """Return this process, one answer after the other; memory : as in `Executor`."""
    return Executor(
        lambda: nullcontext(lambda leased: (_done(asked, memory) for asked in leased)), memory
    )


def of_joblib(jobs: int, memory: int | None = None) -> Executor:
    """That many processes of this machine, none of which is this one; memory : as in `Executor`."""

    def run(leased: Iterator[AnswerSpec]) -> Iterator[Done]:
        from joblib import Parallel, delayed

        # joblib would take this process for a single one: then it starts two, of which
        # one is at work at a time
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
    """A Dask cluster: the one whose scheduler has that address, or one of processes of this machine; memory : as in `Executor`.

    To open it and to run answers with it raises

    ValueError : dask and distributed are not installed, or its workers run several answers in one process.
    ClusterGone : the scheduler does not answer, or answers no more; it has no workers.
    """

    @contextmanager
    def opened() -> Iterator[Work]:
        with _cluster(scheduler, jobs) as client:
            data: dict[str, Any] = {}
            yield lambda leased: _on_a_cluster(client, data, leased, memory)

    return Executor(opened, memory)


def _done(asked: AnswerSpec, memory: int | None, data: Data | None = None) -> Done:
    """An answer, as another process runs it."""
    return asked, answer(asked, memory, data)


def _on_a_cluster(
    client: Any, data: dict[str, Any], leased: Iterator[AnswerSpec], memory: int | None
) -> Iterator[Done]:
    """The answers of a cluster as they come; data : the rows that it has been asked for, by their digests."""
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
    """The answers of a cluster that have come, once there are any.

    Raises
    ------
    ClusterGone
        Its scheduler is gone, or it has been without workers for too long.
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
    """An answer that has come, with its row."""
    try:
        failure = future.exception(timeout=SECONDS_TO_FETCH)
        if failure is None:
            done: Done = future.result(timeout=SECONDS_TO_FETCH)
            return done
    except TimeoutError:
        raise ClusterGone(
            f"the cluster does not hand over an answer within {SECONDS_TO_FETCH:g} s; {KEPT}"
        ) from None
    if type(failure).__name__ == "KilledWorker":
        return asked, None
    raise failure


def _workers(client: Any) -> dict[str, int]:
    """The threads of each worker of a cluster.

    Raises
    ------
    ClusterGone
        The scheduler does not answer.
    ValueError
        A worker runs several answers in one process.
    """
    try:
        found: dict[str, int] = client.nthreads()
    except (OSError, TimeoutError):
        raise ClusterGone(f"the scheduler of the cluster is gone; {KEPT}") from None
    many = [address for address, threads in found.items() if threads > 1]
    if many:
        raise ValueError(
            f"the worker {many[0]} runs several answers in one process; start workers with "
            f"--nthreads 1"
        )
    return found


@contextmanager
def _cluster(scheduler: str | None, jobs: int) -> Iterator[Any]:
    """A client of the cluster, which is closed in the end; so is a cluster of this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError(
            "dask and distributed are not installed; pip install dask distributed, or take "
            "--executor joblib"
        ) from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is lost is said in a sentence
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
