"""Memory that is kept from run to run: pages that are new to a process can take longer than the numbers computed into them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

KEPT_BYTES = 144 * 2**20
"""Bytes of the largest square that is kept for the next run: the largest working set in float32, 6000 points."""


class _Kept(threading.local):
    """One piece of memory for every name, in every thread."""

    def __init__(self) -> None:
        self.pieces: dict[str, NDArray[np.uint8]] = {}


_kept = _Kept()


def square(name: str, n: int, dtype: DTypeLike) -> NDArray[Any]:
    """An (n, n) array of any content, valid until the same thread asks for the same name again."""
    size = n * n * np.dtype(dtype).itemsize
    if size > KEPT_BYTES:
        return np.empty((n, n), dtype)
    if name not in _kept.pieces or len(_kept.pieces[name]) < size:
        _kept.pieces[name] = np.empty(size, np.uint8)
    return _kept.pieces[name][:size].view(dtype).reshape(n, n)
