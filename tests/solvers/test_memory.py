"""Memory of arrays in a run, and what is kept at its end without a garbage collection."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from equimargin.formulations import MarginProblem, classification, ranking, rbf
from equimargin.formulations.numeric import workspace
from equimargin.formulations.numeric.workspace import borrow_workspace
from equimargin.formulations.rows.counted import CACHED_THRESHOLDS
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.pair_slacks import PairSlacks
from equimargin.solvers import solve

MB = 10**6


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """Run a test without garbage collections, and with no idle workspace."""
    workspace._kept.workspace = None
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    workspace._kept.workspace = None


def array_bytes() -> int:
    """Return the bytes of all arrays that were made since tracing began."""
    of_arrays = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
    traces = tracemalloc.take_snapshot().filter_traces([of_arrays]).statistics("filename")
    return sum(trace.size for trace in traces)


def traced(run: Callable[[Any], Any]) -> tuple[int, int]:
    """Return the bytes that stay after a run, its result deleted, and the most at a check."""
    most = [0]

    def checked(*_: Any) -> bool:
        most.append(array_bytes())
        return False

    tracemalloc.start()
    try:
        run(checked)
        return array_bytes(), max(most)
    finally:
        tracemalloc.stop()


def test_workspace_keeps_the_smaller_arrays_up_to_its_limit() -> None:
    with borrow_workspace() as memory:
        small = memory.array("small", (MB,))
        large = memory.array("large", (workspace.IDLE_BYTES // 8,))
    with borrow_workspace() as memory:
        assert np.shares_memory(memory.array("small", (10,)), small)
        assert not np.shares_memory(memory.array("large", (10,)), large)


def kernel_machine() -> MarginProblem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0, 1.0, -1.0)
    return classification(X, y, 1.0, rbf(0.3))


def test_kernel_machine_returns_its_block_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = kernel_machine()
    for _ in range(2):  # loads all compiled functions
        solve(problem, "smo")
    workspace._kept.workspace = None
    monkeypatch.setattr(workspace, "IDLE_BYTES", MB)
    kept, most = traced(lambda callback: solve(problem, "smo", callback=callback))
    assert most >= 4 * problem.m**2
    assert kept <= 2 * MB


def all_pairs(m: int, loss: Any) -> MarginProblem:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(m, 4))
    problem = ranking(X, X @ rng.normal(size=4) + rng.normal(size=m), loss=loss)
    return problem.with_cost(100.0 / problem.p)


@pytest.mark.parametrize(("loss", "solver"), [("squared_hinge", "newton"), ("hinge", "huber")])
def test_slacks_of_past_iterates_are_freed(
    monkeypatch: pytest.MonkeyPatch, loss: str, solver: str
) -> None:
    """The present slacks and those of the best point, and no others, are in memory."""
    alive, counts, init = weakref.WeakSet[PairSlacks](), list[int](), PairSlacks.__init__

    def noted(self: PairSlacks, *given: Any) -> None:
        init(self, *given)
        alive.add(self)
        counts.append(len(alive))

    monkeypatch.setattr(PairSlacks, "__init__", noted)
    solution = solve(all_pairs(1500, loss), solver)
    assert solution.ok
    assert len(counts) >= 5
    assert max(counts) <= 3
    del solution
    assert not alive


def test_ranking_takes_few_bytes_a_point() -> None:
    problem = all_pairs(20_000, "squared_hinge")
    for _ in range(2):
        solve(problem, "newton")
    kept, most = traced(lambda callback: solve(problem, "newton", callback=callback).interval)
    assert most <= 130 * problem.m
    assert kept <= problem.m


def test_sums_at_the_last_thresholds_are_cached() -> None:
    rng = np.random.default_rng(2)
    rows = LabelledPairs(rng.integers(0, 5, 40).astype(float), None)
    f = rng.normal(size=40)
    slacks = rows.slacks(f, np.ones(1))
    for tau in (*np.linspace(0.5, 2.0, CACHED_THRESHOLDS + 3), 0.5, 2.0, 1.0):
        grid = slacks.on_grid(tau)
        expected, found = rows.slacks(f, np.ones(1)).within(grid), slacks.within(grid)
        assert (found.degree == expected.degree).all()
        assert found.total == expected.total
        assert slacks.within(grid) is found
        assert len(slacks._within) <= CACHED_THRESHOLDS
