"""Run of a study: lease, run and write missing answers until none can be leased.

An answer that may have crashed its process is a suspect. Suspects run at the end, each
alone, so that none is mistaken for another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock

from equimargin.study.answer import died
from equimargin.study.database import Database, StudyError
from equimargin.study.executors import KEPT, Done, Executor, Work, WorkersDied
from equimargin.study.grid import AnswerSpec


class WorkerFailed(OSError):
    """A worker cannot run answers, for a reason independent of the answer."""


def run(database: Database, executor: Executor, heard: Callable[[], object] = lambda: None) -> None:
    """Run the missing answers of a study, and unsolved ones that had less memory.

    Parameters
    ----------
    database : Database
        Database, into which the plan has been entered.
    executor : Executor
        Executor of `equimargin.study.executors`.
    heard : callable
        Called after each answer is written.

    Raises
    ------
    StudyError
        If an answer could not be written; those before it are kept.
    WorkerFailed
        If a worker can run no answer, such as one without a library.
    """
    with database.held(), executor.opened() as work:
        database.ask_again(executor.memory)
        while True:
            for asked, deaths in database.deadly():
                database.write(asked, died(asked, deaths, executor.memory))
            _run(database, work, _AnswerLeases(database), heard)
            suspect = database.lease(suspect=True)
            if suspect is None:
                return
            _run(database, work, _AnswerLeases(database, suspect), heard)


def _run(
    database: Database, work: Work, leased: _AnswerLeases, heard: Callable[[], object]
) -> None:
    """Run and write leased answers; give possibly crashing ones back as suspects."""
    try:
        for asked, row in _in_words(work(leased)):
            if row is None:
                database.give_back(died=True, asked=asked)
            else:
                database.write(asked, row)
                heard()
    except WorkersDied:
        leased.end()
        database.give_back(died=True)
    finally:
        leased.end()
    if leased.failure is not None:
        raise leased.failure


def _in_words(done: Iterator[Done]) -> Iterator[Done]:
    """Yield answers as they come; convert unexpected errors to `WorkerFailed`."""
    try:
        yield from done
    except (ValueError, OSError, WorkersDied):
        raise
    except Exception as failure:
        message = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise WorkerFailed(f"a worker cannot run answers ({message}); {KEPT}") from failure


class _AnswerLeases(Iterator[AnswerSpec]):
    """Iterator of requested answers, each leased when it is returned.

    Threads of an executor may call it, where an error would be lost.

    Attributes
    ----------
    failure : StudyError or None
        Error that prevented a lease.
    """

    def __init__(self, database: Database, suspect: AnswerSpec | None = None) -> None:
        """Iterate over all answers that can be leased, or over one leased suspect."""
        self._database, self._suspect, self._lock = database, suspect, Lock()
        self._over = suspect is not None
        self.failure: StudyError | None = None

    def __next__(self) -> AnswerSpec:
        with self._lock:
            asked, self._suspect = self._suspect, None
            try:
                asked = asked if self._over else self._database.lease()
            except StudyError as failure:
                self.failure = failure
        if asked is None:
            raise StopIteration
        return asked

    def end(self) -> None:
        """Stop leasing, also in other threads.

        So nothing is leased after the leases were given back.
        """
        with self._lock:
            self._over, self._suspect = True, None
