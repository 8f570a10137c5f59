"""Partitions on the workers of a Dask cluster: every call is one task per partition.

A partition is a task that Dask can run again, since its inputs have a history. Nothing
is scattered, no task is bound to a worker, and all state is in the arguments of the
tasks. A worker that is killed or ends loses its partitions, and Dask makes them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.partitions.partition import Partition
from equimargin.solvers.partitioned.sums import Lost, added

Result = TypeVar("Result")

ANSWERS_PER_SUM = 8
"""Maximum number of results of partitions that one task adds.

If there are no more, the caller adds them, which saves a task.
"""
SECONDS_BETWEEN_LOOKS = 1.0
"""Seconds between two checks whether the cluster has workers."""
SECONDS_WITHOUT_WORKERS = 60.0
"""Maximum seconds without workers. A crashed worker is replaced sooner."""
SECONDS_TO_FETCH = 600.0
"""Maximum seconds of the transfer of computed results, recomputed ones included."""
EXTRA = (
    "dask and distributed are not installed; pip install 'equimargin[cluster]', or give lists of "
    "arrays"
)


def is_lazy(block: Any) -> bool:
    """Return True if a block is a Delayed object or a future of a cluster.

    Parameters
    ----------
    block : object
        Block of a partition.

    Returns
    -------
    bool
        True if a cluster computes the block.
    """
    return hasattr(block, "__dask_graph__") or (hasattr(block, "key") and hasattr(block, "client"))


def completed(client: Any, futures: Sequence[Any], return_when: str = "ALL_COMPLETED") -> list[Any]:
    """Wait for futures and return those that are done.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster that computes the futures.
    futures : sequence of distributed.Future
        Futures, at least one.
    return_when : str, default "ALL_COMPLETED"
        See `distributed.wait`.

    Raises
    ------
    Lost
        If the cluster has no workers for SECONDS_WITHOUT_WORKERS.
    """
    from distributed import wait

    alone = time.monotonic()
    while True:
        try:
            with client.as_current():
                return [*wait(futures, timeout=SECONDS_BETWEEN_LOOKS, return_when=return_when).done]
        except TimeoutError:
            pass
        if client.nthreads():
            alone = time.monotonic()
        if time.monotonic() - alone > SECONDS_WITHOUT_WORKERS:
            advice = f"start some (dask worker {client.scheduler.address} --nthreads 1)"
            raise Lost(
                f"the cluster has had no workers for {SECONDS_WITHOUT_WORKERS:g} s; {advice}"
            )


class OnDask:
    """Partitions of a cluster, as `PartitionSums`.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster.
    partitions : sequence of distributed.Future of length k
        Partitions.
    """

    def __init__(self, client: Any, partitions: Sequence[Any]) -> None:
        self.client, self.partitions = client, list(partitions)

    @classmethod
    def of(cls, kind: type[Partition], blocks: Sequence[tuple[Any, ...]], client: Any) -> OnDask:
        """Let the cluster create the partitions.

        Parameters
        ----------
        kind : type
            Class of the partitions.
        blocks : sequence of tuple
            Arguments of the partitions.
        client : distributed.Client or None
            Client of the cluster; None is the current one.

        Raises
        ------
        ImportError
            If Dask is not installed.
        ValueError
            If there is no client.
        """
        try:
            import dask
            from distributed import default_client
        except ImportError:
            raise ImportError(EXTRA) from None
        try:
            chosen = default_client() if client is None else client
        except ValueError:
            raise ValueError(
                "there is no Dask client; make one, client = distributed.Client(), or pass "
                "it as client"
            ) from None
        run = uuid4().hex[:8]
        tasks = [
            dask.delayed(kind, pure=False)(
                number, *block, dask_key_name=f"equimargin-partition-{number}-{run}"
            )
            for number, block in enumerate(blocks)
        ]
        return cls(chosen, chosen.compute(tasks))

    def each(self, method: str, *arguments: Any) -> list[Any]:
        return self._fetched(lambda: self._gathered(self._asked(method, arguments)))

    def total(self, method: str, *arguments: Any) -> list[Array]:
        return self._fetched(lambda: self._added(self._asked(method, arguments)))

    def _asked(self, method: str, arguments: tuple[Any, ...]) -> list[Any]:
        """Return the futures of the partitions' results."""
        answers: list[Any] = self.client.map(
            _answer, self.partitions, method=method, arguments=arguments, pure=False
        )
        return answers

    def _added(self, answers: list[Any]) -> list[Array]:
        """Return the sum of the results, added in small groups by tasks."""
        while len(answers) > ANSWERS_PER_SUM:
            groups = [
                answers[k : k + ANSWERS_PER_SUM] for k in range(0, len(answers), ANSWERS_PER_SUM)
            ]
            answers = [self.client.submit(added, *group, pure=False) for group in groups]
        return added(*self._gathered(answers))

    def _gathered(self, answers: list[Any]) -> list[Any]:
        """Return the results of futures."""
        if not answers:
            return []
        completed(self.client, answers)
        fetch = partial(self.client.gather, answers, asynchronous=True)
        try:
            results: list[Any] = self.client.sync(fetch, callback_timeout=SECONDS_TO_FETCH)
        except TimeoutError:
            raise Lost(
                f"the cluster does not return its answers within {SECONDS_TO_FETCH:g} s"
            ) from None
        return results

    def _fetched(self, fetch: Callable[[], Result]) -> Result:
        """Return the results of the cluster.

        Raises
        ------
        Lost
            If the cluster is gone, does not return its results in time, or a partition
            crashes every worker that reads it.
        """
        from distributed import KilledWorker
        from distributed.client import ClosedClientError

        try:
            return fetch()
        except KilledWorker as killed:
            raise Lost(
                f"several workers crashed one after another at one task, perhaps for lack "
                f"of memory: {killed.task}"
            ) from None
        except (CancelledError, ClosedClientError, OSError):
            raise Lost(
                "the cluster is gone, or scattered data were lost with their worker"
            ) from None


def _answer(partition: Partition, method: str, arguments: tuple[Any, ...]) -> Any:
    """Return the result of a partition, on its worker."""
    return partition.answer(method, *arguments)
