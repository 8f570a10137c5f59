"""Access to single rows of features z_i in compiled code, dense or CSR.

    row_dot(X, i, w)             z_i.w
    row_add(factor, X, i, w)     w <- w + factor z_i
    row_clear(X, i, w)           w <- 0 where z_i is not 0

X is an array (m, d), or the tuple of a CSR matrix. If f has a constant, z_i ends with a
1 that is not stored, and w (q,) is longer by one than a stored row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import FAST

Positions = NDArray[np.unsignedinteger[Any]]


def stored_rows(Z: Explicit) -> Any:
    """Return the features for compiled code.

    Parameters
    ----------
    Z : Explicit
        Features.

    Returns
    -------
    ndarray or tuple
        X, or (indptr, indices, data, d) of a CSR matrix.
    """
    return (*stored_entries(Z.X), Z.d) if Z.sparse else Z.X


def stored_entries(A: Any) -> tuple[Positions, Positions, Array]:
    """Return the three arrays of a CSR array, the first two unsigned.

    For a signed index numba checks whether it counts from the end.

    Parameters
    ----------
    A : scipy.sparse.csr_array
        Matrix.
    """
    return A.indptr.view(f"u{A.indptr.itemsize}"), A.indices.view(f"u{A.indices.itemsize}"), A.data


def row_dot(X: Any, i: Any, w: Any) -> Any:
    """Return z_i.w.

    Parameters
    ----------
    X : ndarray or tuple
        Features, as `stored_rows` returns them.
    i : int
        Row number.
    w : ndarray of shape (q,)
        Vector.
    """
    return _vector(X, i, w) @ w


def row_add(factor: Any, X: Any, i: Any, w: Any) -> None:
    """Add factor z_i to w.

    Parameters
    ----------
    factor : float
        Factor.
    X : ndarray or tuple
        Features, as `stored_rows` returns them.
    i : int
        Row number.
    w : ndarray of shape (q,)
        Vector; changes in place.
    """
    w += factor * _vector(X, i, w)


def row_clear(X: Any, i: Any, w: Any) -> None:
    """Set w to 0 where z_i is not 0.

    Parameters
    ----------
    X : ndarray or tuple
        Features, as `stored_rows` returns them.
    i : int
        Row number.
    w : ndarray of shape (q,)
        Vector; changes in place.
    """
    w[_vector(X, i, w) != 0.0] = 0.0


def _vector(X: Any, i: Any, w: Any) -> Any:
    """Return z_i, shape (q,), for w of shape (q,)."""
    z = np.ones_like(w)
    if isinstance(X, tuple):
        indptr, indices, data, d = X
        entries = slice(indptr[i], indptr[i + 1])
        z[:d] = np.bincount(indices[entries].astype(np.int64), data[entries], d)
    else:
        z[: X.shape[1]] = X[i]
    return z


@overload(row_dot, strict=False, jit_options=dict(FAST))  # type: ignore[arg-type]
def _row_dot(X: Any, i: Any, w: Any) -> Any:
    def dense(X: Any, i: Any, w: Any) -> Any:
        x = X[i]
        total = 0.0
        for j in range(x.size):
            total += x[j] * w[j]
        return total + (w[x.size] if w.size > x.size else 0.0)

    def thin(X: Any, i: Any, w: Any) -> Any:
        indptr, indices, data, d = X
        total = w[d] if w.size > d else 0.0
        for e in range(indptr[i], indptr[i + 1]):
            total += data[e] * w[indices[e]]
        return total

    return dense if isinstance(X, types.Array) else thin


@overload(row_add, strict=False, jit_options=dict(FAST))  # type: ignore[arg-type]
def _row_add(factor: Any, X: Any, i: Any, w: Any) -> Any:
    def dense(factor: Any, X: Any, i: Any, w: Any) -> None:
        x = X[i]
        for j in range(x.size):
            w[j] += factor * x[j]
        if w.size > x.size:
            w[x.size] += factor

    def thin(factor: Any, X: Any, i: Any, w: Any) -> None:
        indptr, indices, data, d = X
        for e in range(indptr[i], indptr[i + 1]):
            w[indices[e]] += factor * data[e]
        if w.size > d:
            w[d] += factor

    return dense if isinstance(X, types.Array) else thin


@overload(row_clear, strict=False)
def _row_clear(X: Any, i: Any, w: Any) -> Any:
    def dense(X: Any, i: Any, w: Any) -> None:
        w[:] = 0.0

    def thin(X: Any, i: Any, w: Any) -> None:
        indptr, indices, _, d = X
        for e in range(indptr[i], indptr[i + 1]):
            w[indices[e]] = 0.0
        w[d:] = 0.0

    return dense if isinstance(X, types.Array) else thin
