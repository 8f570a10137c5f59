"""Pair steps of SMO on a card, in one block of threads (`pairs.cu`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from equimargin.solvers.device.card import Card, CompiledKernel, DeviceArray
from equimargin.solvers.device.products import int32
from equimargin.solvers.dual.smo_problem import SeparablePart

THREADS = {1024: 512, 2048: 512, 4096: 1024}
"""Threads of the block, by the largest working set in points; from a prototype."""
LARGEST_PAIR_SET = 4096
"""Points of the largest working set: four for each of the 1,024 threads of a block."""
BYTES_PER_POINT = 20
"""Bytes of shared memory per point: multiplier, gradient and diagonal of K."""


def pair_steps_on_card(
    card: Card,
    K: DeviceArray,
    G: DeviceArray,
    a: DeviceArray,
    sides: SeparablePart,
    floor: float,
    eps: float,
    steps: int,
) -> tuple[int, float]:
    """Take pair steps on a and G in place, as `working_set.pair_steps` does.

    Parameters
    ----------
    card : Card
        Card, whose arrays the others are.
    K : cupy.ndarray of shape (q, q)
        Block of the set in float32, q at most LARGEST_PAIR_SET.
    G : cupy.ndarray of shape (q,)
        Gradient, in float32 or float64.
    a : cupy.ndarray of shape (q,)
        Variables.
    sides : SeparablePart
        Separable part at the set's points.
    floor : float
        Minimum curvature of a pair.
    eps : float
        Violation at which to stop.
    steps : int
        Maximum number of steps.

    Returns
    -------
    steps : int
        Number of steps taken.
    violation : float
        Violation of the last pair.
    """
    q, out = len(a), card.cupy.empty(2)
    kernel = pair_kernel(card, q, G.dtype)
    threads = _shape(q)[0]
    arrays = (K, G, a, *map(card.cupy.ascontiguousarray, sides))
    numbers = (*int32(q), np.float32(floor), np.float32(eps), *int32(steps))
    kernel((1,), (threads,), (*arrays, *numbers, out), shared_mem=BYTES_PER_POINT * q)
    done, violation = card.get(out).tolist()
    return int(done), violation


def pair_kernel(card: Card, q: int, dtype: DTypeLike) -> CompiledKernel:
    """Return the compiled kernel for a working set.

    Parameters
    ----------
    card : Card
        Card.
    q : int
        Points of the set.
    dtype : dtype
        Precision of the gradient.
    """
    threads, points = _shape(q)
    kernel = card.kernel("pairs", "pair_steps", pair_macros(threads, points // threads, dtype))
    kernel.max_dynamic_shared_size_bytes = BYTES_PER_POINT * points
    return kernel


def pair_macros(threads: int, points_per_thread: int, dtype: DTypeLike) -> dict[str, object]:
    """Return the macros of `pairs.cu`.

    Parameters
    ----------
    threads : int
        Threads of the block, a multiple of 32.
    points_per_thread : int
        Points of a thread.
    dtype : dtype
        Precision of the gradient.
    """
    real = "float" if np.dtype(dtype) == np.float32 else "double"
    return {"REAL": real, "THREADS": threads, "EACH": points_per_thread}


def _shape(q: int) -> tuple[int, int]:
    """Return the threads of the block, and the points that they own, for a set of q points."""
    points = next(points for points in THREADS if q <= points)
    return THREADS[points], points
