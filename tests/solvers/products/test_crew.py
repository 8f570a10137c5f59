"""Threads that share a work: each part is done once, and every thread takes part.

Nothing goes on after a failure.
"""

from __future__ import annotations

import threading
import time

import pytest

from equimargin.solvers.products.crew import Crew


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_every_part_is_done_once_and_results_are_in_order(n_jobs: int, count: int) -> None:
    crew = Crew(n_jobs)
    # The threads are kept from one work to the next.
    for _ in range(3):
        parts = crew.share(lambda part: part, count)
        assert [item for part in parts for item in part] == list(range(count))


@pytest.mark.parametrize("n_jobs", [2, 3, 4])
def test_all_threads_are_at_work_at_once(n_jobs: int) -> None:
    crew = Crew(n_jobs)
    for _ in range(5):
        together, seen = threading.Barrier(n_jobs), set[int]()

        def work(
            part: range, together: threading.Barrier = together, seen: set[int] = seen
        ) -> None:
            # A thread that does all parts waits for the other threads until the timeout.
            if threading.get_ident() not in seen:
                seen.add(threading.get_ident())
                together.wait(timeout=60)

        crew.share(work, 100)
        assert len(seen) == n_jobs


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_after_a_failure_nobody_begins_another_part(error: type[BaseException]) -> None:
    """Memory that threads write into may belong to another run afterwards."""
    failing, done = threading.Event(), list[range]()

    def work(part: range) -> None:
        if 0 in part:
            failing.set()
            raise error("the first part fails")
        failing.wait(timeout=60)
        time.sleep(0.2)
        done.append(part)

    crew = Crew(2)
    with pytest.raises(error, match="the first part fails"):
        crew.share(work, 1000)
    assert len(done) <= 1, "the other thread ends the part that it has begun"
    time.sleep(0.3)
    assert len(done) <= 1
    assert crew.share(len, 8) == [1] * 8
