"""Partitions on a cluster of two processes, bit for bit as in this process.

Workers are lost, partitions are poisoned, and Dask arrays are passed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from equimargin.distributed import Lost, PartitionedSolution, classification, ranking, solve
from equimargin.distributed.on_dask import OnDask
from equimargin.study.executors import FREE_PORT
from places import HANG

X = np.random.default_rng(5).normal(size=(1400, 5))
SCORE = X @ [2.0, -1.0, 0.5, 0.0, 0.0] + np.random.default_rng(6).normal(size=1400)
Y = np.where(SCORE > 0.2, 1.0, -1.0)
RELEVANCES = np.clip(np.rint(SCORE), -2, 2)
QID = np.arange(1400) // 35
WITHOUT_NETWORK = "tcp"
"""Protocol on 127.0.0.1; that of one process would ask the network for this address."""


@contextmanager
def two_workers() -> Iterator[Any]:
    """Yield a client of a local cluster of two processes."""
    pytest.importorskip("distributed", reason="dask and distributed are not installed")
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=FREE_PORT,
            memory_limit=0,
            silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with two_workers() as client:
        yield client


def bits(solution: PartitionedSolution) -> bytes:
    return (
        solution.w.tobytes() + np.array([solution.bias, solution.lower, solution.upper]).tobytes()
    )


def part(k: int, parts: int, values: str, poison: str = "") -> Any:
    """Return a partition of features, labels, relevances or queries, or a wrong one.

    A worker computes it.
    """
    rows = slice(1400 * k // parts // 35 * 35, 1400 * (k + 1) // parts // 35 * 35)
    chosen = {"X": X, "y": Y, "relevances": RELEVANCES, "qid": QID}[values][rows].copy()
    if poison == "nan":
        chosen[17, 3] = np.nan
    return chosen[:, :-1] if poison == "columns" else 2 * chosen if poison == "label" else chosen


def delayed(parts: int, values: str, wrong: int = -1, poison: str = "") -> list[Any]:
    """Return all partitions, each computed by a worker."""
    from dask import delayed

    return [delayed(part)(k, parts, values, poison if k == wrong else "") for k in range(parts)]


def here(values: str) -> list[Any]:
    return [part(0, 1, values)]


@pytest.mark.parametrize("loss", [pytest.param("hinge", marks=pytest.mark.slow), "squared_hinge"])
@pytest.mark.parametrize(
    "parts", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(7, marks=pytest.mark.slow)]
)
def test_workers_find_the_bits_of_this_process(client: Any, parts: int, loss: Any) -> None:
    there = solve(
        classification(delayed(parts, "X"), delayed(parts, "y"), 0.1, loss, client=client)
    )
    assert there.ok
    assert bits(there) == bits(solve(classification(here("X"), here("y"), 0.1, loss)))
    features, relevances, queries = (delayed(parts, name) for name in ("X", "relevances", "qid"))
    there = solve(ranking(features, relevances, queries, 1e-3, loss, client=client))
    assert there.ok
    assert bits(there) == bits(
        solve(ranking(here("X"), here("relevances"), here("qid"), 1e-3, loss))
    )


@pytest.mark.slow
def test_more_partitions_than_one_task_adds_up(client: Any) -> None:
    there = solve(classification(delayed(20, "X"), delayed(20, "y"), 0.1, client=client))
    assert bits(there) == bits(solve(classification(here("X"), here("y"), 0.1)))


def killing(asked: Callable[..., Any], at: int, victims: list[int]) -> Callable[..., Any]:
    """Return OnDask._asked with some processes killed in the middle of one question."""
    questions = iter(range(10**6))

    def ask(self: Any, method: str, arguments: Any) -> Any:
        answers = asked(self, method, arguments)
        if next(questions) == at:
            while victims:
                os.kill(victims.pop(), signal.SIGKILL)
        return answers

    return ask


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_lost_workers_cost_time_only(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The test has a separate cluster: if a machine is too busy to start another
    # worker, other tests keep their workers.
    with two_workers() as client:
        victims = sorted(client.run(os.getpid).values())[:workers]
        problem = classification(delayed(4, "X"), delayed(4, "y"), 0.1, client=client)
        monkeypatch.setattr(OnDask, "_asked", killing(OnDask._asked, 12, victims))
        assert len(victims) == workers
        found = solve(problem)
    assert not victims
    assert bits(found) == bits(solve(classification(here("X"), here("y"), 0.1)))


@pytest.mark.parametrize(
    ("poison", "name", "sentence"),
    [
        ("nan", "X", "partition 2: X holds nan at row 17, column 3"),
        ("columns", "X", "partition 2 has 4 columns and partition 0 has 5"),
        ("label", "y", "partition 2: y must hold -1 and 1, and holds -?2 at row 0"),
    ],
)
def test_a_poisoned_partition_is_named(client: Any, poison: str, name: str, sentence: str) -> None:
    features, labels = (delayed(4, each, 2, poison if each == name else "") for each in ("X", "y"))
    with pytest.raises(ValueError, match=f"^{sentence}"):
        classification(features, labels, client=client)


def test_dask_arrays_are_cut_where_queries_end(client: Any) -> None:
    import dask.array as da

    wanted = solve(ranking(here("X"), here("relevances"), here("qid"), 1e-3))
    features, qid = da.from_array(X, chunks=(333, 2)), da.from_array(QID, chunks=100)
    problem = ranking(features, da.from_array(RELEVANCES, chunks=1400), qid, 1e-3, client=client)
    found = solve(problem)
    assert bits(found) == bits(wanted)
    scores = found.decision_function(features)
    assert isinstance(scores, da.Array)
    assert client.compute(scores).result(timeout=HANG) == pytest.approx(X @ wanted.w)


def test_dask_arrays_that_do_not_fit_are_refused(client: Any) -> None:
    import dask.array as da

    features = da.from_array(X, chunks=(333, 5))
    with pytest.raises(
        ValueError,
        match=r"y must have one entry for each row of X; its shape is \(7,\) and that of X is "
        r"\(1400, 5\)",
    ):
        classification(features, da.ones(7), client=client)
    with pytest.raises(ValueError, match="query 0 has rows in partitions 0 and 1"):
        ranking(
            features,
            da.from_array(RELEVANCES),
            da.from_array(np.arange(1400) % 3, chunks=333),
            client=client,
        )
    unknown = features[features[:, 0] > 0]
    with pytest.raises(
        ValueError, match="unknown lengths and do not match; call compute_chunk_sizes"
    ):
        classification(unknown, da.ones(7), client=client)


def test_a_cluster_that_is_gone_is_said(client: Any) -> None:
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol=WITHOUT_NETWORK,
        dashboard_address=FREE_PORT,
        silence_logs=50,
    ) as cluster:
        own = Client(cluster, set_as_default=False)
        problem = classification(delayed(2, "X"), delayed(2, "y"), 0.1, client=own)
        own.close()
    with pytest.raises(Lost, match="the cluster is gone"):
        solve(problem)


def test_answers_that_are_not_handed_over_in_time_are_said(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*arguments: Any, **options: Any) -> Any:
        raise TimeoutError

    problem = classification(delayed(2, "X"), delayed(2, "y"), 0.1, client=client)
    monkeypatch.setattr(client, "sync", late)
    monkeypatch.setattr("equimargin.distributed.on_dask.completed", lambda *arguments: [])
    with pytest.raises(Lost, match=r"^the cluster does not return its answers within 600 s$"):
        solve(problem)


def test_cluster_without_workers_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client, LocalCluster

    monkeypatch.setattr("equimargin.distributed.on_dask.SECONDS_WITHOUT_WORKERS", 0.0)
    monkeypatch.setattr("equimargin.distributed.on_dask.SECONDS_BETWEEN_LOOKS", 0.1)
    with (
        LocalCluster(
            n_workers=0,
            processes=False,
            protocol=WITHOUT_NETWORK,
            dashboard_address=FREE_PORT,
            silence_logs=50,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(
            Lost,
            match=r"^the cluster has had no workers for 0 s; start some \(dask worker .* "
            r"--nthreads 1\)$",
        ),
    ):
        classification(delayed(2, "X"), delayed(2, "y"), client=client)


def test_no_client_is_said(client: Any) -> None:
    with pytest.raises(ValueError, match="there is no Dask client; make one"):
        classification(delayed(2, "X"), delayed(2, "y"))


def test_without_dask_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Block:
        __dask_graph__ = None

    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'equimargin\[cluster\]'"):
        classification([Block()], [Block()])
