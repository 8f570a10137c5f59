"""Rows of features z_i for sweeps over all rows, dense or sparse, by the same three arrays.

    swept_add(factor, X, i, w)     w <- w + factor z_i
    swept_fetch(X, i)              a hint that z_i will be read soon

X stands for `starts, columns, entries, d` in these functions: the tuples of
`row_access.py` are taken apart, and their arrays counted, at every call, which costs a
visit of a short row as much as its own arithmetic. The product z_i.w is written out
where it is needed. w (q,) is longer than a row by one where z_i ends with a 1 that is
not stored, the constant of f.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import in_numpy, part
from equimargin.formulations.numeric.prefetch import prefetch
from equimargin.solvers.products.row_access import Index, stored_entries

FETCHED = np.uint32(64)
"""Entries that are fetched of a row, and as many columns: in a longer row the processor foresees what comes next."""
ENTRIES_OF_A_LINE, COLUMNS_OF_A_LINE = np.uint32(8), np.uint32(16)
"""Entries, and columns of 32 bits, in a line of the processor's cache, which is what one hint fetches."""


class StoredRows(NamedTuple):
    """Rows as compiled code sees them.

    Parameters
    ----------
    starts : Index of shape (m + 1,)
        Where each row begins.
    columns : Index
        Of the entries, unsigned because numba asks of every signed index whether it
        counts from the end; empty where every row has all d columns.
    entries : Array
        Of the rows, one after the other.
    """

    starts: Index
    columns: Index
    entries: Array
    d: int


def swept_rows(Z: Explicit) -> StoredRows:
    """The features, but for the column of ones."""
    return StoredRows(*stored_entries(Z.X), Z.d) if Z.sparse else stored_array(Z.X)


def stored_array(X: Array) -> StoredRows:
    """The rows of an array (m, d)."""
    m, d = X.shape
    starts = (
        np.arange(0, (m + 1) * d, d, dtype=np.uint32 if m * d < 2**32 else np.uint64)
        if d
        else np.zeros(m + 1, np.uint32)
    )
    return StoredRows(starts, np.empty(0, np.uint32), np.ascontiguousarray(X).ravel(), d)


@part
def swept_add(
    factor: float, starts: Index, columns: Index, entries: Array, d: int, i: Any, w: Array
) -> None:
    """w <- w + factor z_i."""
    start, stop = starts[i], starts[i + 1]
    if columns.size:
        for e in range(start, stop):
            w[columns[e]] += factor * entries[e]
    else:
        for j in range(d):
            w[j] += factor * entries[start + j]
    if w.size > d:
        w[d] += factor


@in_numpy(lambda starts, columns, entries, i: None)
@part
def swept_fetch(starts: Index, columns: Index, entries: Array, i: Any) -> None:
    """A hint that z_i will be read soon."""
    start, stop = starts[i], starts[i + 1]
    stop = min(stop, start + FETCHED)
    for e in range(start, stop, ENTRIES_OF_A_LINE):
        prefetch(entries, e)
    if columns.size:
        for e in range(start, stop, COLUMNS_OF_A_LINE):
            prefetch(columns, e)
