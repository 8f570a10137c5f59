"""Functions of a user: an exit and an interrupt that they raise are ordinary errors."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from traceback import walk_tb
from typing import Any, TypeVar

T = TypeVar("T")


class Quit(RuntimeError):
    """An exit or an interrupt that a function raised itself instead of returning."""


@contextmanager
def kept_from_quitting() -> Iterator[None]:
    """Turn exceptions that end Python into `Quit`, an ordinary error, while entered.

    A user-defined function may raise them itself, as SystemExit and KeyboardInterrupt. Ctrl-C
    stays what it is: the signal goes to the handler that was there before, and is remembered.
    What a function that handles another signal raises stays what it is, too. Other threads
    get no signals.

    Raises
    ------
    Quit
        In place of any exception that is no Exception, unless a function that handles a signal raised it.
    KeyboardInterrupt
        If the user interrupts.
    """
    heard: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    listens = threading.current_thread() is threading.main_thread() and callable(before)

    def listen(number: int, frame: Any) -> None:
        heard.append(number)
        assert callable(before)
        before(number, frame)

    try:
        if listens:
            signal.signal(signal.SIGINT, listen)
        yield
    except (Exception, GeneratorExit):
        raise
    except BaseException as ended:
        if heard or _is_of_a_handler(ended):
            raise
        raise Quit(
            f"it raises {type(ended).__name__}({', '.join(map(repr, ended.args))})"
        ).with_traceback(ended.__traceback__) from None
    finally:
        if listens and signal.getsignal(signal.SIGINT) is listen:
            signal.signal(signal.SIGINT, before)


def _is_of_a_handler(raised: BaseException) -> bool:
    """Return True if a signal's handler raised an exception: its traceback goes through one."""
    handlers = {
        getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()
    } - {None}
    return any(frame.f_code in handlers for frame, _ in walk_tb(raised.__traceback__))


def kept(function: Callable[..., T]) -> Callable[..., T]:
    """Return a user-defined function under `kept_from_quitting`.

    Parameters
    ----------
    function : callable
        Of any arguments; they are passed to it.

    Returns
    -------
    callable
        With the names and the docstring of the function.
    """

    @wraps(innermost(function))
    def called(*places: Any, **keywords: Any) -> T:
        with kept_from_quitting():
            return function(*places, **keywords)

    return called


def innermost(function: Callable[..., Any]) -> Any:
    """Return the function of which a partial is made, which has its name and its docstring; any other function as it is."""
    while isinstance(function, partial):
        function = function.func
    return function
