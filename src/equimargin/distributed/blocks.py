"""Conversion of Dask arrays or lists to a tuple (X, y) or (X, y, qid) per partition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def split_blocks(**given: Any) -> list[tuple[Any, ...]]:
    """Return the blocks of every partition.

    Parameters
    ----------
    **given
        X, y and, for a ranking, qid: Dask arrays, or lists of partitions.

    Returns
    -------
    list of tuple
        Blocks of a partition, in the order of the arguments.

    Raises
    ------
    ValueError
        If the arguments are neither all Dask arrays nor all lists, lists have different
        lengths, or chunks do not fit.
    """
    arrays = [name for name, blocks in given.items() if hasattr(blocks, "to_delayed")]
    if len(arrays) == len(given):
        given = _cut_alike(**given)
    for name, blocks in given.items():
        if not isinstance(blocks, Sequence):
            raise ValueError(
                f"{name} must be a Dask array or a list of partitions, as X is, not "
                f"{type(blocks).__name__}"
            )
    numbers = {name: len(blocks) for name, blocks in given.items()}
    if len(set(numbers.values())) > 1:
        raise ValueError(
            "the numbers of partitions differ: "
            + ", ".join(f"{k} of {name}" for name, k in numbers.items())
        )
    if not numbers["X"]:
        raise ValueError("X has no partition")
    return list(zip(*given.values(), strict=True))


def _cut_alike(X: Any, **others: Any) -> dict[str, list[Any]]:
    """Return chunks of Dask arrays with equal rows, all columns and whole queries.

    The chunks are Delayed objects.

    Raises
    ------
    ValueError
        If shapes differ, or lengths are unknown and numbers of chunks differ.
    """
    if X.ndim != 2:
        raise ValueError(f"X must have rows and columns; it has {X.ndim} dimensions")
    # A partition needs all columns of its rows.
    X = X.rechunk({1: -1})
    for name, values in others.items():
        if values.ndim != 1 or (_known(X) and _known(values) and len(values) != len(X)):
            raise ValueError(
                f"{name} must have one entry for each row of X; its shape is {values.shape} "
                f"and that of X is {X.shape}"
            )
    arrays = [X, *others.values()]
    if all(_known(array) for array in arrays):
        rows = (
            _whole_queries(others["qid"].rechunk({0: X.chunks[0]}))
            if "qid" in others
            else X.chunks[0]
        )
        arrays = [array.rechunk({0: rows}) for array in arrays]
    elif len({array.numblocks[0] for array in arrays}) > 1:
        raise ValueError(
            "the chunks of X and of the others have unknown lengths and do not match; call "
            "compute_chunk_sizes() on each"
        )
    return {
        name: list(array.to_delayed().ravel())
        for name, array in zip(("X", *others), arrays, strict=True)
    }


def _known(array: Any) -> bool:
    """Return True if the lengths of the chunks of a Dask array are known."""
    return not any(math.isnan(length) for length in array.chunks[0])


def _whole_queries(qid: Any) -> tuple[int, ...]:
    """Return lengths of chunks that cut no query, for queries of consecutive rows.

    Every cut moves to the end of its query.
    """
    import dask

    lengths: list[int] = []
    last = None
    for first, end, leading, length in dask.compute(
        *(dask.delayed(_ends)(block) for block in qid.to_delayed())
    ):
        if not length:
            continue
        if lengths and first == last:
            lengths[-1] += leading
            length -= leading
        if length:
            lengths.append(length)
        last = end
    assert sum(lengths) == len(qid)
    return tuple(lengths) or (0,)


def _ends(qid: Any) -> tuple[Any, Any, int, int]:
    """Return a block's first and last query, its leading run and its number of rows.

    The leading run is the number of rows of the first query at the beginning.
    """
    block = np.asarray(qid)
    if not len(block):
        return None, None, 0, 0
    others = np.flatnonzero(block != block[0])
    return block[0], block[-1], int(others[0]) if len(others) else len(block), len(block)
