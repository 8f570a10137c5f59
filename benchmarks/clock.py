"""Clock of all benchmarks: CPU seconds of two sides in turn, A B A B, medians; memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LONG_SECONDS = 2.0
"""Minimum CPU seconds of a first run that is not repeated: its time is the result."""


class Timed(NamedTuple):
    """Result of a call, its CPU seconds in all threads, and its wall seconds."""

    result: Any
    cpu: float
    wall: float


def timed(run: Callable[[], Any]) -> Timed:
    """Run a function, and measure CPU and wall seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return Timed(result, time.process_time() - cpu, time.perf_counter() - wall)


def in_turn(*sides: Callable[[], Any], rounds: int = 3, limit: float = float("inf")) -> list[Timed]:
    """Run all sides in turn; return the last result and the median seconds of each.

    No further round begins after `limit` CPU seconds.
    """
    turns: list[list[Timed]] = []
    while len(turns) < rounds and sum(one.cpu for turn in turns for one in turn) < limit:
        turns.append([timed(run) for run in sides])
        turns[:-1] = [
            [one._replace(result=None) for one in turn] for turn in turns[:-1]
        ]  # large results are not kept
    cpu, wall = (
        np.median([[one[at] for one in turn] for turn in turns], axis=0).tolist() for at in (1, 2)
    )
    return [Timed(one.result, *seconds) for one, *seconds in zip(turns[-1], cpu, wall, strict=True)]


def settled(run: Callable[[], Any], short: float, rounds: int = 3) -> Timed:
    """Time a call; if it is short, return the median of several runs."""
    first = timed(run)
    return first if first.cpu >= short else in_turn(run, rounds=rounds)[0]


def against(first: Timed, theirs: Callable[[], Any], ours: Callable[[], Any]) -> list[Timed]:
    """Time two sides in turn, after the peer's first run; a long one is not repeated."""
    ours()
    return [first, *in_turn(ours)] if first.cpu > LONG_SECONDS else in_turn(theirs, ours)


def used() -> tuple[float, float, float]:
    """Return CPU seconds of this process and of its running descendants, and wall time."""
    import psutil

    this = psutil.Process()
    seconds = [sum(process.cpu_times()[:2]) for process in (this, *this.children(recursive=True))]
    return seconds[0], sum(seconds[1:]), time.perf_counter()


@contextmanager
def spent() -> Iterator[list[float]]:
    """Yield a list that receives the seconds of the `with` block, as by `used`."""
    found: list[float] = []
    before = used()
    yield found
    found += [after - start for after, start in zip(used(), before, strict=True)]


def gigabytes(kind: str = "VmHWM") -> float:
    """Return the memory of this process in GB: its peak "VmHWM", or "VmRSS" now.

    It is read from a file of Linux, because `getrusage` includes memory that the parent
    had when it started this process; NaN on other systems.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) for line in lines if line.startswith(kind)) * 1024 / 1e9


def cpu_so_far(pid: int) -> float:
    """Return CPU seconds of a running process; NaN on systems without /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
