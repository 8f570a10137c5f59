"""One thread of linear algebra.

numpy's and scipy's libraries share a factorisation of a few hundred rows out to as many
threads as there are processors. These then wait for each other longer than they
compute. Where other programs want the processors, a factorisation of a millisecond
takes ten or a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> list[Any]:
    """The libraries of linear algebra. Looking for them takes milliseconds, and is done once, when scipy's own is loaded, too."""
    import scipy.linalg  # noqa: F401

    return [
        library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"
    ]


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which linear algebra has one thread, in the whole process; libraries that have one already are left alone."""
    before = [
        (library, threads) for library in _libraries() if (threads := library.num_threads) != 1
    ]
    for library, _ in before:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, threads in before:
            library.set_num_threads(threads)
