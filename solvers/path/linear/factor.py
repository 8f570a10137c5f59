"""The QR factors of a small square matrix that loses and gains rows and columns, by Givens rotations.

    M = Q R,   Q (r, r) orthogonal,  R (r, c) upper triangular

A row or a column comes or goes in O(r^2) operations. In between the matrix may be one row or one column short of square.

Source: G. H. Golub, C. F. Van Loan, Matrix Computations, fourth edition (2013), section 6.5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit

Index = NDArray[np.int64]


@jit
def _rotate(Q: Array, R: Array, size: Index, a: int, b: int, x: float, y: float, start: int) -> None:
    """Rotate the rows a and b of R from column `start` on, and the columns of Q, so that (x, y) becomes (|(x, y)|, 0)."""
    norm = np.hypot(x, y)
    if norm == 0.0:
        return
    c, s = x / norm, y / norm
    for j in range(start, size[1]):
        u, v = R[a, j], R[b, j]
        R[a, j], R[b, j] = c * u + s * v, c * v - s * u
    for i in range(size[0]):
        u, v = Q[i, a], Q[i, b]
        Q[i, a], Q[i, b] = c * u + s * v, c * v - s * u


@jit
def add_column(Q: Array, R: Array, size: Index, column: Array) -> None:
    """M gets a last column, (r,)."""
    r, c = size[0], size[1]
    for i in range(r):
        total = 0.0
        for k in range(r):
            total += Q[k, i] * column[k]
        R[i, c] = total
    size[1] = c + 1
    for i in range(r - 1, c, -1):
        _rotate(Q, R, size, i - 1, i, R[i - 1, c], R[i, c], c)
        R[i, c] = 0.0


@jit
def add_row(Q: Array, R: Array, size: Index, row: Array) -> None:
    """M gets a last row, (c,)."""
    r, c = size[0], size[1]
    for i in range(r):
        Q[i, r] = Q[r, i] = 0.0
    Q[r, r] = 1.0
    R[r, :c] = row[:c]
    size[0] = r + 1
    for j in range(min(r, c)):
        _rotate(Q, R, size, j, r, R[j, j], R[r, j], j)
        R[r, j] = 0.0


@jit
def drop_column(Q: Array, R: Array, size: Index, column: int) -> None:
    """M loses a column; those after it move up by one."""
    r, c = size[0], size[1]
    for j in range(column, c - 1):
        R[:r, j] = R[:r, j + 1]
    size[1] = c - 1
    for j in range(column, min(c - 1, r - 1)):
        _rotate(Q, R, size, j, j + 1, R[j, j], R[j + 1, j], j)
        R[j + 1, j] = 0.0


@jit
def drop_row(Q: Array, R: Array, size: Index, row: int) -> None:
    """M loses a row; those after it move up by one."""
    r, c = size[0], size[1]
    for i in range(r - 1, 0, -1):
        _rotate(Q, R, size, i - 1, i, Q[row, i - 1], Q[row, i], max(min(i - 1, c), 0))
    for i in range(row, r - 1):
        Q[i, :r] = Q[i + 1, :r]
    for i in range(r - 1):
        for k in range(r - 1):
            Q[i, k] = Q[i, k + 1]
        R[i, :c] = R[i + 1, :c]
    size[0] = r - 1


@jit
def solved(Q: Array, R: Array, size: Index, right: Array) -> Array:
    """y with M y = right, (r,), of a square M; infinite or NaN where M is singular."""
    r = size[0]
    y = np.empty(r)
    for i in range(r - 1, -1, -1):
        total = 0.0
        for k in range(r):
            total += Q[k, i] * right[k]
        for k in range(i + 1, r):
            total -= R[i, k] * y[k]
        y[i] = total / R[i, i]
    return y


@jit
def solved_transposed(Q: Array, R: Array, size: Index, right: Array) -> Array:
    """y with M'y = right, (r,), of a square M; infinite or NaN where M is singular."""
    r = size[0]
    z, y = np.empty(r), np.zeros(r)
    for i in range(r):
        total = right[i]
        for k in range(i):
            total -= R[k, i] * z[k]
        z[i] = total / R[i, i]
    for i in range(r):
        for k in range(r):
            y[i] += Q[i, k] * z[k]
    return y
