"""Rows of features z_i one at a time, for compiled code: of an array (m, d), or of the three arrays of a CSR matrix.

    row_of(X, i)              x, what the others take
    row_dot(x, w)             z_i.w
    row_add(factor, x, w)     w <- w + factor z_i
    row_clear(x, w)           w <- 0 where z_i is not 0

w (q,) is longer than a row by one where z_i ends with a 1 that is not stored, the constant of f.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from equimargin.formulations.features import Explicit
from equimargin.formulations.jit import FAST, fast, jit


def stored_rows(Z: Explicit) -> Any:
    """The features as compiled code sees them: X, or (indptr, indices, data, d) with unsigned indices.

    numba asks of every signed index whether it counts from the end.
    """
    if not Z.sparse:
        return Z.X
    unsigned = np.uint64 if Z.X.indices.itemsize == 8 else np.uint32
    return Z.X.indptr, Z.X.indices.view(unsigned), Z.X.data, Z.d


def row_of(X: Any, i: Any) -> Any:
    """Row i of `stored_rows`."""
    if not isinstance(X, tuple):
        return X[i]
    indptr, indices, data, d = X
    return indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]], d


def row_dot(x: Any, w: Any) -> Any:
    """z.w."""
    return _vector(x, w) @ w


def row_add(factor: Any, x: Any, w: Any) -> None:
    """w <- w + factor z."""
    w += factor * _vector(x, w)


def row_clear(x: Any, w: Any) -> None:
    """w <- 0 where z is not 0."""
    w[_vector(x, w) != 0.0] = 0.0


def _vector(x: Any, w: Any) -> Any:
    """z, (q,), for a row and w (q,)."""
    z = np.ones_like(w)
    if isinstance(x, tuple):
        z[: x[2]] = np.bincount(x[0].astype(np.int64), x[1], x[2])
    else:
        z[: x.size] = x
    return z


@fast
def _dot(x: Any, w: Any) -> Any:
    total = 0.0
    for j in range(x.size):
        total += x[j] * w[j]
    return total


@jit
def _dot_sparse(indices: Any, data: Any, w: Any) -> Any:
    """In four sums, whose additions need not wait for one another; gathered into vectors they would be slower."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = data.size - data.size % 4
    for e in range(0, whole, 4):
        a += data[e] * w[indices[e]]
        b += data[e + 1] * w[indices[e + 1]]
        c += data[e + 2] * w[indices[e + 2]]
        d += data[e + 3] * w[indices[e + 3]]
    for e in range(whole, data.size):
        a += data[e] * w[indices[e]]
    return (a + b) + (c + d)


@overload(row_of, strict=False, jit_options=dict(FAST))  # type: ignore[arg-type]
def _row_of(X: Any, i: Any) -> Any:
    if isinstance(X, types.Array):
        return lambda X, i: X[i]
    return lambda X, i: (X[1][X[0][i] : X[0][i + 1]], X[2][X[0][i] : X[0][i + 1]], X[3])


@overload(row_dot, strict=False, jit_options=dict(FAST))  # type: ignore[arg-type]
def _row_dot(x: Any, w: Any) -> Any:
    if isinstance(x, types.Array):
        return lambda x, w: _dot(x, w) + (w[x.size] if w.size > x.size else 0.0)
    return lambda x, w: _dot_sparse(x[0], x[1], w) + (w[x[2]] if w.size > x[2] else 0.0)


@overload(row_add, strict=False, jit_options=dict(FAST))  # type: ignore[arg-type]
def _row_add(factor: Any, x: Any, w: Any) -> Any:
    def dense(factor: Any, x: Any, w: Any) -> None:
        for j in range(x.size):
            w[j] += factor * x[j]
        if w.size > x.size:
            w[x.size] += factor

    def thin(factor: Any, x: Any, w: Any) -> None:
        indices, data, d = x
        for e in range(data.size):
            w[indices[e]] += factor * data[e]
        if w.size > d:
            w[d] += factor

    return dense if isinstance(x, types.Array) else thin


@overload(row_clear, strict=False)
def _row_clear(x: Any, w: Any) -> Any:
    def dense(x: Any, w: Any) -> None:
        w[:] = 0.0

    def thin(x: Any, w: Any) -> None:
        for j in x[0]:
            w[j] = 0.0
        w[x[2] :] = 0.0

    return dense if isinstance(x, types.Array) else thin
