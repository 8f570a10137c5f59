"""Rows of features z_i for sweeps over all rows; the same arrays for dense and sparse X.

    swept_add(factor, X, i, w)     w <- w + factor z_i
    swept_fetch(X, i)              prefetch z_i

X stands for the four arguments `starts, columns, entries, d`. The functions of
`row_access.py` unpack a tuple at every call, with reference counts of its arrays, which
takes as long as the arithmetic of a short row. The product z_i.w is written out where
it is needed. If f has a constant, z_i ends with a 1 that is not stored, and w (q,) is
longer by one than a stored row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import in_numpy, part
from equimargin.formulations.numeric.prefetch import prefetch
from equimargin.solvers.products.row_access import Positions, stored_entries

FETCHED = np.uint32(64)
"""Maximum number of entries, and of columns, of a row that are prefetched.

The processor itself prefetches the rest of a longer row.
"""
ENTRIES_OF_A_LINE, COLUMNS_OF_A_LINE = np.uint32(8), np.uint32(16)
"""Entries, and columns of 32 bits, in a cache line, the unit of one prefetch."""


class StoredRows(NamedTuple):
    """Rows for compiled code.

    Parameters
    ----------
    starts : Positions of shape (m + 1,)
        Start of each row.
    columns : Positions
        Columns of the entries, unsigned because for a signed index numba checks whether
        it counts from the end; empty if every row has all d columns.
    entries : Array
        Entries of the rows, row by row.
    d : int
        Number of columns.
    """

    starts: Positions
    columns: Positions
    entries: Array
    d: int


def swept_rows(Z: Explicit) -> StoredRows:
    """Return the features without the column of ones.

    Parameters
    ----------
    Z : Explicit
        Features.
    """
    return StoredRows(*stored_entries(Z.X), Z.d) if Z.sparse else stored_array(Z.X)


def stored_array(X: Array) -> StoredRows:
    """Return the rows of an array.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Array.
    """
    m, d = X.shape
    starts = (
        np.arange(0, (m + 1) * d, d, dtype=np.uint32 if m * d < 2**32 else np.uint64)
        if d
        else np.zeros(m + 1, np.uint32)
    )
    return StoredRows(starts, np.empty(0, np.uint32), np.ascontiguousarray(X).ravel(), d)


@part
def swept_add(
    factor: float, starts: Positions, columns: Positions, entries: Array, d: int, i: Any, w: Array
) -> None:
    """Add factor z_i to w.

    Parameters
    ----------
    factor : float
        Factor.
    starts, columns, entries, d
        As in `StoredRows`.
    i : int
        Row number.
    w : ndarray of shape (q,)
        Vector; changes in place.
    """
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
def swept_fetch(starts: Positions, columns: Positions, entries: Array, i: Any) -> None:
    """Prefetch z_i, which will be read soon.

    Parameters
    ----------
    starts, columns, entries
        As in `StoredRows`.
    i : int
        Row number.
    """
    start, stop = starts[i], starts[i + 1]
    stop = min(stop, start + FETCHED)
    for e in range(start, stop, ENTRIES_OF_A_LINE):
        prefetch(entries, e)
    if columns.size:
        for e in range(start, stop, COLUMNS_OF_A_LINE):
            prefetch(columns, e)
