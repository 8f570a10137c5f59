"""Pair steps of SMO on a card, in one block of threads for each machine (`pairs.cu`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from equimargin.formulations.numeric.arrays import Array
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
    slots: DeviceArray,
    G: DeviceArray,
    a: DeviceArray,
    sides: SeparablePart,
    floor: float,
    eps: Array,
    steps: Array,
) -> Array:
    """Take pair steps of n machines on a and G in place, as `working_set.pair_steps` does.

    Each machine has a block of threads of its own, so that its result does not depend
    on the others.

    Parameters
    ----------
    card : Card
        Card, whose arrays the others are, except for `eps` and `steps`.
    K : cupy.ndarray of shape (s, q, q)
        Blocks of the sets in float32, q at most LARGEST_PAIR_SET.
    slots : cupy.ndarray of int32 of shape (n,)
        Block of every machine.
    G : cupy.ndarray of shape (n, q)
        Gradients, in float32 or float64.
    a : cupy.ndarray of shape (n, q)
        Variables.
    sides : SeparablePart
        Separable parts at the sets' points: (n, q), and (n, 2, q).
    floor : float
        Minimum curvature of a pair.
    eps : ndarray of shape (n,)
        Violation at which to stop.
    steps : ndarray of shape (n,)
        Maximum number of steps.

    Returns
    -------
    ndarray of shape (n, 2)
        Number of steps taken, and violation of the last pair.
    """
    n, q = G.shape
    out = card.cupy.empty((n, 2))
    kernel = pair_kernel(card, q, G.dtype)
    arrays = (K, slots, G, a, *map(card.cupy.ascontiguousarray, sides))
    limits = (card.put(eps.astype(np.float32)), card.put(steps.astype(np.int32)))
    given = (*arrays, *int32(q), np.float32(floor), *limits, out)
    kernel((n,), (_shape(q)[0],), given, shared_mem=BYTES_PER_POINT * q)
    found: Array = card.get(out)
    return found


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
