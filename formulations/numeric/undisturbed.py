"""Work that an interrupt by the user would leave half done, such as an import."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def undisturbed(work: Callable[P, R]) -> Callable[P, R]:
    """Return `work` with interrupts delayed until it is done.

    Native code calls back into Python, where an exception would be lost or become
    another.

    Parameters
    ----------
    work : callable
        Function that is called in the main thread, where Python handles signals; in
        other threads nothing is changed.

    Returns
    -------
    callable
        Function with the same arguments. It calls the handler of SIGINT after `work` if a
        signal arrived meanwhile.
    """

    @functools.wraps(work)
    def delaying(*arguments: P.args, **options: P.kwargs) -> R:
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(handler):
            return work(*arguments, **options)
        heard: list[tuple[int, FrameType | None]] = []
        signal.signal(signal.SIGINT, lambda number, frame: heard.append((number, frame)))
        try:
            return work(*arguments, **options)
        finally:
            signal.signal(signal.SIGINT, handler)
            if heard:
                handler(*heard[0])

    return delaying
