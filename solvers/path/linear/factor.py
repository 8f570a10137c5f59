"""The QR factors of a small square matrix that loses and gains rows and columns, by Givens rotations, and accurate solutions.

    M = Q R,   Q (r, r) orthogonal,  R (r, c) upper triangular

A row or a column comes or goes in O(r^2) operations. In between the matrix may be one row or one column short of square. A solution is
refined with residuals of about 75 binary digits: its relative error is rounding where the condition of M is below 1e6, and above that a
millionth of what float64 alone leaves.

Sources: G. H. Golub, C. F. Van Loan, Matrix Computations, fourth edition (2013), sections 6.5 and 3.5; S. M. Rump, T. Ogita, S. Oishi,
Accurate floating-point summation (2008), for the parts of numbers whose products and sums are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit

Index = NDArray[np.int64]

LEADING_BITS = 22
"""Binary digits of the leading part of a number: products of two leading parts, and sums of 2,000 of them, are exact."""
REFINED = 1e-9
"""Size of a correction, over that of the solution, after which the next one is smaller than rounding, because all shrink by one factor."""
MOST_CORRECTIONS = 4
"""Corrections of one solution, at most. Where these do not settle it M is singular in float64."""


class Factors(NamedTuple):
    """A matrix and its factors; the arrays change in place.

    M, Q, R : (capacity, capacity) the matrix and its factors, of which the first rows and columns count.  size : (2,) rows and columns.
    """

    M: Array
    Q: Array
    R: Array
    size: Index


def empty(capacity: int) -> Factors:
    """A matrix without rows and columns, with room for this number of each."""
    M, Q, R = np.zeros((3, capacity, capacity))
    return Factors(M, Q, R, np.zeros(2, dtype=np.int64))


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
def add_column(of: Factors, column: Array) -> None:
    """M gets a last column, (r,)."""
    Q, R, r, c = of.Q, of.R, of.size[0], of.size[1]
    of.M[:r, c] = column
    for i in range(r):
        total = 0.0
        for k in range(r):
            total += Q[k, i] * column[k]
        R[i, c] = total
    of.size[1] = c + 1
    for i in range(r - 1, c, -1):
        _rotate(Q, R, of.size, i - 1, i, R[i - 1, c], R[i, c], c)
        R[i, c] = 0.0


@jit
def add_row(of: Factors, row: Array) -> None:
    """M gets a last row, (c,)."""
    Q, R, r, c = of.Q, of.R, of.size[0], of.size[1]
    of.M[r, :c] = row
    for i in range(r):
        Q[i, r] = Q[r, i] = 0.0
    Q[r, r] = 1.0
    R[r, :c] = row[:c]
    of.size[0] = r + 1
    for j in range(min(r, c)):
        _rotate(Q, R, of.size, j, r, R[j, j], R[r, j], j)
        R[r, j] = 0.0


@jit
def drop_column(of: Factors, column: int) -> None:
    """M loses a column; those after it move up by one."""
    Q, R, r, c = of.Q, of.R, of.size[0], of.size[1]
    for j in range(column, c - 1):
        R[:r, j] = R[:r, j + 1]
        of.M[:r, j] = of.M[:r, j + 1]
    of.size[1] = c - 1
    for j in range(column, min(c - 1, r - 1)):
        _rotate(Q, R, of.size, j, j + 1, R[j, j], R[j + 1, j], j)
        R[j + 1, j] = 0.0


@jit
def drop_row(of: Factors, row: int) -> None:
    """M loses a row; those after it move up by one."""
    Q, R, r, c = of.Q, of.R, of.size[0], of.size[1]
    for i in range(r - 1, 0, -1):
        _rotate(Q, R, of.size, i - 1, i, Q[row, i - 1], Q[row, i], max(min(i - 1, c), 0))
    for i in range(row, r - 1):
        Q[i, :r] = Q[i + 1, :r]
        of.M[i, :c] = of.M[i + 1, :c]
    for i in range(r - 1):
        for k in range(r - 1):
            Q[i, k] = Q[i, k + 1]
        R[i, :c] = R[i + 1, :c]
    of.size[0] = r - 1


@jit
def _once(of: Factors, right: Array, transposed: bool) -> Array:
    """y with M y = right, or M'y = right, by the factors alone; infinite or NaN where M is singular."""
    Q, R, r = of.Q, of.R, len(right)
    y, z = np.zeros(r), np.empty(r)
    if transposed:
        for i in range(r):
            total = right[i]
            for k in range(i):
                total -= R[k, i] * z[k]
            z[i] = total / R[i, i] if R[i, i] != 0.0 else np.inf
        for i in range(r):
            for k in range(r):
                y[i] += Q[i, k] * z[k]
        return y
    z[:] = 0.0
    for k in range(r):
        for i in range(r):
            z[i] += Q[k, i] * right[k]
    for i in range(r - 1, -1, -1):
        total = z[i]
        for k in range(i + 1, r):
            total -= R[i, k] * y[k]
        y[i] = total / R[i, i] if R[i, i] != 0.0 else np.inf
    return y


@jit
def _shift(largest: float) -> float:
    """What added to a number of at most this size, and taken away again, leaves its leading part."""
    return float(1.5 * 2.0 ** (np.ceil(np.log2(max(largest, 1e-290))) + 53 - LEADING_BITS))


@jit
def _residual(of: Factors, right: Array, rest: Array, y: Array, transposed: bool) -> Array:
    """right + rest - M y, or - M'y. Sums of products of leading parts are exact, and what is left of each product is 2^-22 of it."""
    r = len(y)
    entries, numbers = _shift(np.abs(of.M[:r, :r]).max()), _shift(np.abs(y).max())
    leading, small = np.zeros(r), rest.copy()
    for e in range(r):
        for a in range(r):
            to, by = (a, e) if transposed else (e, a)
            m, n = of.M[e, a], y[by]
            m_first, n_first = (m + entries) - entries, (n + numbers) - numbers
            leading[to] += m_first * n_first
            small[to] -= m_first * (n - n_first) + (m - m_first) * n
    return (right - leading) + small


@jit
def solved(of: Factors, right: Array, rest: Array, transposed: bool) -> Array:
    """y with M y = right + rest, or M'y = right + rest, of a square M; infinite or NaN where M is singular.

    right : (r,).  rest : (r,) what rounding to float64 took from it, or zeros.
    """
    y = _once(of, right, transposed)
    if len(y) == 0:
        return y
    for _ in range(MOST_CORRECTIONS):
        more = _once(of, _residual(of, right, rest, y, transposed), transposed)
        y += more
        if np.abs(more).max() <= REFINED * np.abs(y).max():
            break
    return y
