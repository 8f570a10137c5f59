"""Thread pool for the parts of one product.

Every thread takes the next part as soon as it is done with one, because parts take
different times. The caller's own thread works, too. Each other thread has its own
queue: if several threads wait at one queue and tasks arrive faster than a thread can
acquire Python's lock, only one thread wakes up, and it does all the tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import TypeVar

Result = TypeVar("Result")

PARTS_PER_THREAD = 4
"""Parts of a product for every thread.

The last parts may take longest; a thread that finishes early takes another part.
"""
SECONDS_OF_A_PART = 3600.0
"""Maximum wall seconds of a part. A part takes seconds; a busy machine may take longer."""


class Crew:
    """Thread pool including the calling thread; the threads end with the object.

    Parameters
    ----------
    n_jobs : int
        Number of threads, including the caller's own.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    @cached_property
    def _others(self) -> list[ThreadPoolExecutor]:
        return [ThreadPoolExecutor(1) for _ in range(self.n_jobs - 1)]

    def share(self, work: Callable[[range], Result], count: int) -> list[Result]:
        """Return the results of `work` for the parts of range(count), in their order.

        There are PARTS_PER_THREAD parts for each thread.

        Parameters
        ----------
        work : Callable[[range], Result]
            Processes a part, and must release Python's lock while it computes.
        count : int
            Number of items.

        Raises
        ------
        RuntimeError
            If a thread does not finish its part within SECONDS_OF_A_PART.
        """
        if self.n_jobs == 1 or count <= 1:
            return [work(range(count))] if count else []
        step = max(count // (PARTS_PER_THREAD * self.n_jobs), 1)
        parts = [range(start, min(start + step, count)) for start in range(0, count, step)]
        results: dict[int, Result] = {}
        left = iter(range(len(parts)))

        def take() -> None:
            try:
                for part in left:
                    results[part] = work(parts[part])
            finally:
                # After an error no thread begins another part.
                for _ in left:
                    pass

        at_work = [other.submit(take) for other in self._others]
        try:
            take()
        # Wait after an interrupt, too: later another run may own the memory into which
        # these threads write.
        finally:
            unfinished = wait(at_work, SECONDS_OF_A_PART).not_done
        if unfinished:
            limit = f"{SECONDS_OF_A_PART:g} s"
            raise RuntimeError(
                f"a thread has not finished its part of a product in {limit}; restart the process"
            )
        for other in at_work:
            other.result(0)
        return [results[part] for part in range(len(parts))]
