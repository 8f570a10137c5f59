"""Updated QR factors of a small square matrix, and accurate solutions with them.

    M = Q R,   Q (r, r) orthogonal,  R (r, c) upper triangular

Rows and columns are added and removed by Givens rotations, in O(r^2) operations each. Q
is stored transposed, so that all loops go along rows in memory and vectorise. Between
updates the matrix may be one row or one column short of square. A solution is refined
with residuals of about 75 binary digits. Its relative error is at rounding level if the
condition number of M is below 1e6, and above that a millionth of the error without
refinement.

Sources: G. H. Golub, C. F. Van Loan, Matrix Computations, fourth edition (2013),
sections 6.5 and 3.5; S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation
(2008), for the parts of numbers whose products and sums are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import fast, jit
from equimargin.formulations.numeric.vector_loops import larger

LEADING_BITS = 22
"""Binary digits of the leading part of a number.

Products of two leading parts, and sums of 2,000 of them, are exact.
"""
REFINED = 1e-9
"""Relative size of the last correction of a solution.

Successive corrections shrink by a constant factor, so that the next one is below
rounding.
"""
MOST_CORRECTIONS = 4
"""Maximum number of corrections of one solution.

If the solution has not converged by then, M is singular in float64.
"""


class Factors(NamedTuple):
    """Matrix and its factors; the arrays change in place.

    Parameters
    ----------
    leading, small, Qt, R : ndarray of shape (capacity, capacity)
        The leading parts of the matrix's entries, and what remains of them; Q' and R.
        All are in the first rows and columns.
    size : Index of shape (2,)
        Numbers of rows and columns.
    top : ndarray of shape (1,)
        Upper bound of |M_ij| over all entries since M last had no rows, a power of 2.
    """

    leading: Array
    small: Array
    Qt: Array
    R: Array
    size: Index
    top: Array


def empty(capacity: int) -> Factors:
    """Return a matrix without rows and columns.

    Parameters
    ----------
    capacity : int
        Maximum number of rows, and of columns.
    """
    leading, small, Qt, R = np.zeros((4, capacity, capacity))
    return Factors(leading, small, Qt, R, np.zeros(2, dtype=np.int64), np.zeros(1))


@jit
def clear(of: Factors) -> None:
    """Remove all rows and columns.

    Parameters
    ----------
    `of` : Factors
        Matrix and its factors; change in place.
    """
    of.size[:], of.top[0] = 0, 0.0


@fast
def dot(a: Array, b: Array) -> float:
    """Return a'b.

    Parameters
    ----------
    a, b : ndarray of shape (k,)
        Vectors.
    """
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@fast
def _row_dot(M: Array, row: int, y: Array, start: int) -> float:
    """Return the product of a row of M with y, both from the entry `start` on.

    No slice is made, which would take longer than the sum of a short row.
    """
    total, r = 0.0, np.uint64(row)
    for k in range(np.uint64(start), np.uint64(len(y))):
        total += M[r, k] * y[k]
    return total


@fast
def _turn(M: Array, a: int, b: int, start: int, end: int, c: float, s: float) -> None:
    """Rotate two rows of M between two columns: a <- c a + s b, b <- c b - s a."""
    first, second = np.uint64(a), np.uint64(b)
    for k in range(np.uint64(start), np.uint64(end)):
        u, v = M[first, k], M[second, k]
        M[first, k], M[second, k] = c * u + s * v, c * v - s * u


@jit
def _rotate(
    Qt: Array, R: Array, size: Index, a: int, b: int, x: float, y: float, start: int
) -> None:
    """Rotate rows a and b of R and Q' so that (x, y) becomes (|(x, y)|, 0).

    R is rotated from column `start` on.
    """
    norm = np.hypot(x, y)
    if norm == 0.0:
        return
    _turn(R, a, b, start, size[1], x / norm, y / norm)
    _turn(Qt, a, b, 0, size[0], x / norm, y / norm)


@jit
def _shift(largest: float) -> float:
    """Return the number that, added and subtracted again, leaves the leading part.

    It serves for numbers up to the size `largest`.
    """
    return float(1.5 * 2.0 ** (np.ceil(np.log2(max(largest, 1e-290))) + 53 - LEADING_BITS))


@fast
def _largest(y: Array) -> float:
    """Return the largest |y_k|."""
    top = 0.0
    for k in range(len(y)):
        top = larger(top, abs(y[k]))
    return top


@jit
def _raise_top(of: Factors, new: Array) -> float:
    """Divide all entries anew if a new one is larger; return the shift that divides them."""
    top = _largest(new)
    if top > of.top[0]:
        of.top[0] = 2.0 ** np.ceil(np.log2(max(top, 1e-290)))
        shift = _shift(of.top[0])
        for i in range(of.size[0]):
            for j in range(of.size[1]):
                _divide(of, i, j, of.leading[i, j] + of.small[i, j], shift)
    return _shift(of.top[0])


@jit
def _divide(of: Factors, i: int, j: int, entry: float, shift: float) -> None:
    """Store the leading part of an entry of M, and what remains of it."""
    of.leading[i, j] = (entry + shift) - shift
    of.small[i, j] = entry - of.leading[i, j]


@jit
def add_column(of: Factors, column: Array) -> None:
    """Append a column to M.

    Parameters
    ----------
    of, column : Factors, ndarray of shape (r,)
        Matrix with its factors, and the column.
    """
    Qt, R, r, c, shift = of.Qt, of.R, of.size[0], of.size[1], _raise_top(of, column)
    for i in range(r):
        _divide(of, i, c, column[i], shift)
        R[i, c] = _row_dot(Qt, i, column, 0)
    of.size[1] = c + 1
    for i in range(r - 1, c, -1):
        _rotate(Qt, R, of.size, i - 1, i, R[i - 1, c], R[i, c], c)
        R[i, c] = 0.0


@jit
def add_row(of: Factors, row: Array) -> None:
    """Append a row to M.

    Parameters
    ----------
    of, row : Factors, ndarray of shape (c,)
        Matrix with its factors, and the row.
    """
    Qt, R, r, c, shift = of.Qt, of.R, of.size[0], of.size[1], _raise_top(of, row)
    for j in range(c):
        _divide(of, r, j, row[j], shift)
        R[r, j] = row[j]
    for i in range(r):
        Qt[i, r] = Qt[r, i] = 0.0
    Qt[r, r] = 1.0
    of.size[0] = r + 1
    for j in range(min(r, c)):
        _rotate(Qt, R, of.size, j, r, R[j, j], R[r, j], j)
        R[r, j] = 0.0


@jit
def drop_column(of: Factors, column: int) -> None:
    """Remove a column of M; those after it move up by one.

    Parameters
    ----------
    of, column : Factors, int
        Matrix with its factors, and the column number.
    """
    Qt, R, r, c = of.Qt, of.R, of.size[0], of.size[1]
    for i in range(r):
        for j in range(column, c - 1):
            R[i, j] = R[i, j + 1]
            of.leading[i, j], of.small[i, j] = of.leading[i, j + 1], of.small[i, j + 1]
    of.size[1] = c - 1
    for j in range(column, min(c - 1, r - 1)):
        _rotate(Qt, R, of.size, j, j + 1, R[j, j], R[j + 1, j], j)
        R[j + 1, j] = 0.0


@jit
def drop_row(of: Factors, row: int) -> None:
    """Remove a row of M; those after it move up by one.

    Parameters
    ----------
    of, row : Factors, int
        Matrix with its factors, and the row number.
    """
    Qt, R, r, c = of.Qt, of.R, of.size[0], of.size[1]
    for i in range(r - 1, 0, -1):
        _rotate(Qt, R, of.size, i - 1, i, Qt[i - 1, row], Qt[i, row], max(min(i - 1, c), 0))
    for i in range(row, r - 1):
        for k in range(c):
            of.leading[i, k], of.small[i, k] = of.leading[i + 1, k], of.small[i + 1, k]
    # The rotations make the first row of Q' the unit vector of the removed row.
    for i in range(r - 1):
        for k in range(r - 1):
            Qt[i, k] = Qt[i + 1, k if k < row else k + 1]
        for k in range(c):
            R[i, k] = R[i + 1, k]
    of.size[0] = r - 1


@jit
def _once(of: Factors, right: Array, transposed: bool) -> Array:
    """Return y with M y = right, or M'y = right, by the factors alone.

    It is infinite or NaN if M is singular.
    """
    Qt, R, r = of.Qt, of.R, len(right)
    y = np.zeros(r)
    # M = Q R: y = Q R'^-1 right if transposed, else y = R^-1 Q' right.
    if transposed:
        left = right.copy()
        for i in range(r):
            z = left[i] / R[i, i] if R[i, i] != 0.0 else np.inf
            for k in range(r):
                y[k] += z * Qt[i, k]
            for k in range(i + 1, r):
                left[k] -= z * R[i, k]
        return y
    for i in range(r - 1, -1, -1):
        total = _row_dot(Qt, i, right, 0) - _row_dot(R, i, y, i + 1)
        y[i] = total / R[i, i] if R[i, i] != 0.0 else np.inf
    return y


@fast
def _row_products(
    of: Factors, row: int, y: Array, first: Array, second: Array
) -> tuple[float, float]:
    """Return the sum of products of leading parts of a row of M and y, and all other sums."""
    total, rest, r = 0.0, 0.0, np.uint64(row)
    for k in range(np.uint64(len(y))):
        total += of.leading[r, k] * first[k]
        rest += of.leading[r, k] * second[k] + of.small[r, k] * y[k]
    return total, rest


@fast
def _add_products(
    of: Factors, row: int, y: float, first: float, second: float, total: Array, rest: Array
) -> None:
    """Add a row of M times y to sums: products of leading parts, and all others."""
    r = np.uint64(row)
    for k in range(np.uint64(len(total))):
        total[k] += of.leading[r, k] * first
        rest[k] += of.leading[r, k] * second + of.small[r, k] * y


@jit
def _residual(of: Factors, right: Array, rest: Array, y: Array, transposed: bool) -> Array:
    """Return right + rest - M y, or right + rest - M'y.

    Sums of products of leading parts are exact. What remains of each product is 2^-22
    times its size.
    """
    shift, r = _shift(_largest(y)), len(y)
    first, others, total = (y + shift) - shift, np.zeros(r), np.zeros(r)
    second = y - first
    for e in range(r):
        if transposed:
            _add_products(of, e, y[e], first[e], second[e], total, others)
        else:
            total[e], others[e] = _row_products(of, e, y, first, second)
    return (right - total) + (rest - others)


@jit
def solved(of: Factors, right: Array, rest: Array, transposed: bool) -> Array:
    """Return y with M y = right + rest, or M'y = right + rest, for a square M.

    Parameters
    ----------
    of, right : Factors, ndarray of shape (r,)
        Matrix with its factors, and the right-hand side.
    rest : ndarray of shape (r,)
        Part of the right-hand side that rounding to float64 removed, or zeros.
    transposed : bool
        True for M'.

    Returns
    -------
    ndarray of shape (r,)
        Solution; infinite or NaN if M is singular.
    """
    y = _once(of, right, transposed)
    if len(y) == 0:
        return y
    for _ in range(MOST_CORRECTIONS):
        more = _once(of, _residual(of, right, rest, y, transposed), transposed)
        y += more
        if _largest(more) <= REFINED * _largest(y):
            break
    return y
