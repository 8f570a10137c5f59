"""The CPU time of this process and of those that it has started."""

from __future__ import annotations

import time

import psutil


def used() -> tuple[float, float, float]:
    """CPU seconds of this process, those of all that it has started and that still run, and the wall clock."""
    this = psutil.Process()
    seconds = [sum(process.cpu_times()[:2]) for process in (this, *this.children(recursive=True))]
    return seconds[0], sum(seconds[1:]), time.perf_counter()
