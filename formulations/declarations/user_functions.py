"""Calls of user-defined functions, in which exits and interrupts become errors."""

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
    """Exit or interrupt that a user-defined function raised instead of returning."""


@contextmanager
def kept_from_quitting() -> Iterator[None]:
    """Turn exceptions that would end Python into `Quit`, an ordinary error, in a `with`.

    A user-defined function may raise SystemExit and KeyboardInterrupt itself. Ctrl-C is
    unaffected: the signal goes to the previous handler, and is remembered. Exceptions
    raised by a handler of another signal are unaffected, too. Other threads get no
    signals.

    Yields
    ------
    None
        Control, to the body of the `with` statement.

    Raises
    ------
    Quit
        In place of any exception that is no Exception, unless a signal handler raised
        it.
    KeyboardInterrupt
        If the user interrupts.
    """
    signals: list[int] = []
    previous = signal.getsignal(signal.SIGINT)
    can_listen = threading.current_thread() is threading.main_thread() and callable(previous)

    def listen(number: int, frame: Any) -> None:
        signals.append(number)
        assert callable(previous)
        previous(number, frame)

    try:
        if can_listen:
            signal.signal(signal.SIGINT, listen)
        yield
    except (Exception, GeneratorExit):
        raise
    except BaseException as ended:
        if signals or _is_of_a_handler(ended):
            raise
        raise Quit(
            f"it raises {type(ended).__name__}({', '.join(map(repr, ended.args))})"
        ).with_traceback(ended.__traceback__) from None
    finally:
        if can_listen and signal.getsignal(signal.SIGINT) is listen:
            signal.signal(signal.SIGINT, previous)


def _is_of_a_handler(raised: BaseException) -> bool:
    """Return True if a signal's handler raised an exception: its traceback has the handler."""
    handlers = {
        getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()
    } - {None}
    return any(frame.f_code in handlers for frame, _ in walk_tb(raised.__traceback__))


def kept(function: Callable[..., T]) -> Callable[..., T]:
    """Wrap a user-defined function, so that it runs under `kept_from_quitting`.

    Parameters
    ----------
    function : callable
        Function of any arguments, which are passed to it.

    Returns
    -------
    callable
        Function with the name and the docstring of the given one.
    """

    @wraps(innermost(function))
    def called(*places: Any, **keywords: Any) -> T:
        with kept_from_quitting():
            return function(*places, **keywords)

    return called


def guarded(function: Callable[..., T]) -> Callable[..., T]:
    """Wrap a function as `kept` does, unless the package defines it.

    The wrapper takes longer than the package's own conditions.

    Parameters
    ----------
    function : callable
        Function of any arguments.
    """
    own = str(innermost(function).__module__).startswith("equimargin.")
    return function if own else kept(function)


def innermost(function: Callable[..., Any]) -> Any:
    """Return the function inside nested partials, which has the name and the docstring.

    Parameters
    ----------
    function : callable
        Partial or any other function.

    Returns
    -------
    callable
        Function that is no partial.
    """
    while isinstance(function, partial):
        function = function.func
    return function
