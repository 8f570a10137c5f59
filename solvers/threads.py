"""One thread of linear algebra.

numpy's and scipy's libraries share a factorisation of a few hundred rows out to as many threads as there are processors. These then wait
for each other longer than they compute. Where other programs want the processors, a factorisation of a millisecond takes ten or a hundred.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    """The libraries of linear algebra. Looking for them takes milliseconds, and is done once, when scipy's own is loaded, too."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[object]:
    """A context in which linear algebra has one thread, in the whole process."""
    context: AbstractContextManager[object] = _libraries().limit(limits=1, user_api="blas")
    return context
