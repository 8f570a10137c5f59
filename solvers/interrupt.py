"""Calls into native libraries that Ctrl-C can interrupt.

Python handles Ctrl-C in its main thread only, and only between two bytecode
instructions. The package's compiled functions return often enough for that, libraries
do not. Each call of a library therefore runs in another thread, while the main thread
waits for the result and checks for an interrupt. SCS and OSQP install a signal handler
of their own, and lose an interrupt during setup. SIGINT is therefore blocked while a
library runs, and the main thread checks if a SIGINT is pending.
"""

from __future__ import annotations

import atexit
import contextvars
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from math import inf
from time import monotonic
from typing import Any, TypeVar

from equimargin.formulations.numeric.jit import clock_shared, run_seconds

T = TypeVar("T")

SECONDS_BETWEEN_LOOKS = 0.1
"""Seconds between two checks for pending signals: short for a user, at no cost."""
SECONDS_TO_END = 0.2
"""Seconds granted to interrupted work before the interrupt is delivered."""
SECONDS_AT_EXIT = 5.0
"""Seconds granted to abandoned work when Python ends.

A thread that returns to Python during its shutdown crashes the process.
"""
NATIVE_WORK = "equimargin: native work"
"""Name of the threads in which native libraries run."""
_UNTIL: contextvars.ContextVar[float] = contextvars.ContextVar("_UNTIL", default=inf)
"""Value of `run_seconds` at which the caller stops waiting for this context's work."""


def seconds_left() -> float | None:
    """Return the seconds for which a caller still waits for this work.

    The caller set this limit in `interruptible`. Work that checks it can end in time,
    with a reason, instead of running on unattended. None if there is no limit; negative
    once the caller has stopped waiting.
    """
    until = _UNTIL.get()
    return None if until == inf else until - run_seconds()


def is_work_left() -> bool:
    """Return True if abandoned native work still runs.

    No caller waits for this work any more, and the process should end without waiting.
    """
    return any(thread.name == NATIVE_WORK for thread in threading.enumerate())


def interruptible(
    work: Callable[[], T], cancel: Callable[[], object] = lambda: None, seconds: float = inf
) -> T:
    """Run `work` in a thread; return its result, or raise its exception.

    Parameters
    ----------
    work : callable
        Call into native code that releases the GIL. After an interrupt no caller waits
        for its result, but it continues until it or the process ends.
    cancel : callable
        Called after an interrupt or a timeout to request the end of the work; does
        nothing by default.
    seconds : float
        Time limit for the result, without the time of compiling functions. After it
        the work continues, as after an interrupt, unless it checks `seconds_left`.

    Returns
    -------
    T
        Result of `work`.

    Raises
    ------
    TimeoutError
        If the work was not done in that time.
    KeyboardInterrupt
        Soon after the user interrupts the main thread.
    """
    until = run_seconds() + seconds
    results: list[T] = []
    failures: list[BaseException] = []
    done = threading.Event()
    context = contextvars.copy_context()  # With the caller's np.errstate.
    context.run(_UNTIL.set, min(until, _UNTIL.get()))

    def run() -> None:
        try:
            results.append(context.run(work))
        except BaseException as failure:
            failures.append(failure)
        done.set()

    with clock_shared(context):
        try:
            with _held_back() as interrupted:
                threading.Thread(target=run, daemon=True, name=NATIVE_WORK).start()
                while not (
                    done.wait(SECONDS_BETWEEN_LOOKS) or interrupted() or run_seconds() >= until
                ):
                    pass
        finally:
            if not done.is_set():
                cancel()
                done.wait(SECONDS_TO_END)
    if not (failures or results) and run_seconds() >= until:
        raise TimeoutError(f"no result within {seconds:.3g} s")
    if not (failures or results):
        signal.default_int_handler(signal.SIGINT, None)
    if failures:
        raise failures[0]
    return results[0]


@atexit.register
def _wait_for_work() -> None:
    """Wait for remaining native work, at most SECONDS_AT_EXIT."""
    until = monotonic() + SECONDS_AT_EXIT
    for thread in threading.enumerate():
        if thread.name == NATIVE_WORK:
            thread.join(max(until - monotonic(), 0.0))


@contextmanager
def _held_back() -> Iterator[Callable[[], bool]]:
    """Hold SIGINT back from every handler while entered.

    The yielded function returns True if an interrupt is pending, which is delivered on
    exit. A process that ignores interrupts, as background jobs do, continues to ignore
    them, even if a library installs a handler.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield (
            lambda: (
                signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
                and signal.SIGINT in signal.sigpending()
            )
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _WithoutLibraries:
    """Standard output of all threads except those of native libraries."""

    def __init__(self, out: Any) -> None:
        self._out = out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)

    def write(self, text: str) -> int:
        """Write a text, or drop it in a thread of a library."""
        return (
            len(text)
            if threading.current_thread().name == NATIVE_WORK
            else int(self._out.write(text))
        )


@contextmanager
def unheard() -> Iterator[None]:
    """Discard what native libraries write to `sys.stdout` while entered.

    OSQP writes there that it was interrupted. Only the main thread replaces
    `sys.stdout`: of two threads that do so at once, the later might restore the wrong
    one.
    """
    if threading.current_thread() is not threading.main_thread() or sys.stdout is None:
        yield
        return
    out: Any = _WithoutLibraries(sys.stdout)
    with redirect_stdout(out):
        yield
