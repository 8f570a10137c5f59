"""Native code that runs for long, kept from deafening the interpreter to an interrupt.

Python hears Ctrl-C in its main thread only, and only between two of its own steps. The solvers' compiled kernels therefore come back often;
libraries do not, so that they run in a thread of their own while the main thread waits. Some of them (SCS, OSQP) take over the signal, too,
and lose it while they set up: it is therefore blocked, and looked for, meanwhile.
"""

from __future__ import annotations

import contextvars
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

HEARING = 0.1
"""Seconds between two looks at pending signals."""
GRACE = 0.2
"""Seconds that interrupted work has to end in: a thread that comes back while the interpreter shuts down takes the process with it."""


def interruptible(work: Callable[[], T], cancel: Callable[[], object] = lambda: None) -> T:
    """What `work` returns or raises.

    Parameters
    ----------
    work : a call into native code that releases the GIL; after an interrupt it goes on unheeded until it ends or the process does.
    cancel : asks it to end, where it can be asked.

    Raises
    ------
    KeyboardInterrupt : soon after the user interrupts the main thread.
    """
    results: list[T] = []
    failures: list[BaseException] = []
    done = threading.Event()
    context = contextvars.copy_context()  # with it go numpy's settings of the caller

    def run() -> None:
        try:
            results.append(context.run(work))
        except BaseException as failure:
            failures.append(failure)
        done.set()

    try:
        with _held_back() as interrupted:
            threading.Thread(target=run, daemon=True).start()
            while not (done.wait(HEARING) or interrupted()):
                pass
    finally:
        if not done.is_set():
            cancel()
            done.wait(GRACE)
    if not (failures or results):
        signal.default_int_handler(signal.SIGINT, None)
    if failures:
        raise failures[0]
    return results[0]


@contextmanager
def _held_back() -> Iterator[Callable[[], bool]]:
    """Hold the interrupt back from every handler, and tell whether there has been one; it is delivered in the end.

    A process that ignores interrupts, as what runs in the background does, goes on ignoring them, libraries with handlers or not.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield lambda: False
        return
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield lambda: not ignored and signal.SIGINT in signal.sigpending()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
