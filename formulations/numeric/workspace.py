"""Scratch memory reused between runs.

The first write to a new page of memory can take longer than computing its numbers.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

KEPT_BYTES = 288 * 10**6
"""Maximum bytes of an array that is reused within a run.

A kernel matrix of 6000 points in float64 has this size; `Gram` caches one, too.
"""
IDLE_BYTES = 128 * 10**6
"""Maximum bytes of all arrays that a thread keeps for its next run.

More is returned at the end of a run. A run that needs more takes up to 4 % longer in new
memory (5,000 points of 784 features; measured).
"""


class Workspace:
    """Scratch memory of one run at a time, one array per name."""

    def __init__(self) -> None:
        self._pieces: dict[str, NDArray[np.uint8]] = {}

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """Return an uninitialised array, valid until the next call with the same name.

        Parameters
        ----------
        name : str
            Name of the array.
        shape : tuple of int
            Shape of the array.
        dtype : dtype
            Type of the entries.
        """
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > KEPT_BYTES:
            return np.empty(shape, dtype)
        if name not in self._pieces or len(self._pieces[name]) < size:
            # The old array is dropped first, so that both are not in memory.
            self._pieces.pop(name, None)
            self._pieces[name] = np.empty(size, np.uint8)
        return self._pieces[name][:size].view(dtype).reshape(shape)

    def shrink(self, most: int) -> None:
        """Drop the largest arrays, until the others take at most this many bytes.

        Parameters
        ----------
        most : int
            Number of bytes.
        """
        total = 0
        for name, piece in sorted(self._pieces.items(), key=lambda item: len(item[1])):
            total += len(piece)
            if total > most:
                del self._pieces[name]


class _ThreadWorkspace(threading.local):
    """Unused workspace of every thread; None if there is none."""

    workspace: Workspace | None = None


_kept = _ThreadWorkspace()


@contextmanager
def borrow_workspace() -> Iterator[Workspace]:
    """Borrow this thread's workspace for one run.

    The workspace is exclusive: a run that a callback starts within this one gets a
    separate workspace. At the end of the run arrays beyond IDLE_BYTES are dropped.
    """
    workspace, _kept.workspace = _kept.workspace or Workspace(), None
    try:
        yield workspace
    finally:
        workspace.shrink(IDLE_BYTES)
        _kept.workspace = workspace
