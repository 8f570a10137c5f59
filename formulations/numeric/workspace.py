"""Memory that is kept from run to run: pages that are new to a process can take longer than the numbers computed into them."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

KEPT_BYTES = 288 * 10**6
"""Bytes of the largest array that is kept for the next run: a kernel matrix of 6000 points in float64, as `Gram` keeps one, too."""


class Workspace:
    """The memory of one run at a time, one piece for every name."""

    def __init__(self) -> None:
        self._pieces: dict[str, NDArray[np.uint8]] = {}

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """An array of any content, valid until the same name is asked for again."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > KEPT_BYTES:
            return np.empty(shape, dtype)
        if name not in self._pieces or len(self._pieces[name]) < size:
            self._pieces[name] = np.empty(size, np.uint8)
        return self._pieces[name][:size].view(dtype).reshape(shape)


class _ThreadWorkspace(threading.local):
    """In every thread, the workspace that no run is using; None while there is none."""

    workspace: Workspace | None = None


_kept = _ThreadWorkspace()


@contextmanager
def borrow_workspace() -> Iterator[Workspace]:
    """The workspace that the last run in this thread left behind, for one run.

    It is nobody else's meanwhile: a run that is started within this one, by a callback, gets one of its own.
    """
    workspace, _kept.workspace = _kept.workspace or Workspace(), None
    try:
        yield workspace
    finally:
        _kept.workspace = workspace
