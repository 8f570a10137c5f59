"""Context in which linear algebra uses one thread.

numpy's and scipy's libraries split a factorisation of a few hundred rows into as many
threads as there are processors. These threads then wait for each other longer than they
compute. If other programs use the processors, a factorisation of a millisecond takes
ten or a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> list[Any]:
    """Return the linear algebra libraries, once scipy's own is loaded.

    Finding them takes milliseconds.
    """
    import scipy.linalg  # noqa: F401

    return [
        library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"
    ]


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit linear algebra to one thread in the whole process while entered.

    Libraries that already have one thread are not changed.
    """
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
