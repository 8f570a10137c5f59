"""A study at work: what is missing is leased, run and written, until nothing is missing or others have leased all that is.

What may have ended its process is a suspect. Suspects are run at the end, each alone,
so that none takes the blame for another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock

from equimargin.study.answer import died
from equimargin.study.database import Database, StudyError
from equimargin.study.executors import KEPT, Done, Executor, Work, WorkersDied
from equimargin.study.grid import AnswerSpec


class WorkerFailed(OSError):
    """A worker that cannot run answers, for a reason that is not of the answer."""


def run(database: Database, executor: Executor, heard: Callable[[], object] = lambda: None) -> None:
    """Run what is missing of a study, and what was not solved with less memory than the executor has.

    Parameters
    ----------
    database : Database
        In which the plan has been entered.
    executor : Executor
        Of `equimargin.study.executors`.
    heard : Callable[[], object]
        Called after each answer is written.

    Raises
    ------
    StudyError
        An answer could not be written. Those before it are kept.
    WorkerFailed
        A worker can run none, such as one without a library.
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
    """Run what is leased, and write it; what has ended its process, or may have, is given back as a suspect."""
    try:
        for asked, found in _in_words(work(leased)):
            if found is None:
                database.give_back(died=True, asked=asked)
            else:
                database.write(asked, found)
                heard()
    except WorkersDied:
        leased.end()
        database.give_back(died=True)
    finally:
        leased.end()
    if leased.failure is not None:
        raise leased.failure


def _in_words(done: Iterator[Done]) -> Iterator[Done]:
    """Answers as they come; whatever else is raised there is a sentence."""
    try:
        yield from done
    except (ValueError, OSError, WorkersDied):
        raise
    except Exception as failure:
        said = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise WorkerFailed(f"a worker cannot run answers ({said}); {KEPT}") from failure


class _AnswerLeases(Iterator[AnswerSpec]):
    """Answers, each leased as it is taken; threads of an executor may take them, where an error would be lost.

    Parameters
    ----------
    failure : StudyError | None
        Why none could be leased, if that is the reason.
    """

    def __init__(self, database: Database, suspect: AnswerSpec | None = None) -> None:
        """All that can be leased, or a suspect alone that has been leased."""
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
        """Lease no more: who takes one in another thread gets none from here on, so that nothing is leased after it was given back."""
        with self._lock:
            self._over, self._suspect = True, None
