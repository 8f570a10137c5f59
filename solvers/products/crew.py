"""Threads that share the parts of one product out among themselves.

Every thread takes the next part as soon as it is done with one, because parts take
different times. The caller's own thread works, too. Each of the others has a queue of
its own: where several threads wait at one queue and tasks come faster than one of them
gets hold of Python's lock, that one is woken alone, and does all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from typing import TypeVar

Result = TypeVar("Result")

PARTS_PER_THREAD = 4
"""Parts of a product for every thread: the last ones may take longest, and a thread
that is done early takes another.
"""
SECONDS_OF_A_PART = 3600.0
"""Maximum wall seconds of a part. A part takes seconds; a busy machine may take longer."""


class Crew:
    """The thread that calls and others, which end when nobody has the crew any more.

    Parameters
    ----------
    n_jobs : int
        How many threads there are, the caller's own among them.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs

    @cached_property
    def _others(self) -> list[ThreadPoolExecutor]:
        return [ThreadPoolExecutor(1) for _ in range(self.n_jobs - 1)]

    def share(self, work: Callable[[range], Result], count: int) -> list[Result]:
        """What `work` returns of the parts of range(count), several a thread, in the order of the parts.

        Parameters
        ----------
        work : Callable[[range], Result]
            Takes a part, and must leave Python's lock to others while it computes.
        count : int
            Of what is shared out.
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
                for _ in left:  # after an error nobody begins another part
                    pass

        at_work = [other.submit(take) for other in self._others]
        try:
            take()
        # after an interrupt, too: no thread goes on writing into memory that another
        # run may have by then
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
