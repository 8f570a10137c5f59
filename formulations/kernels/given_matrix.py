"""Given Gram matrices: their symmetry, and the proof that they are positive semidefinite.

The proof is a Cholesky factorisation, m^3 / 3 multiplications, whereas a solver reads
the m^2 entries a few times. A large matrix is therefore proven when a bound first needs
it; until then only a principal submatrix is.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast, in_numpy, reordered
from equimargin.formulations.numeric.rounding import SMALLEST, UNIT, gamma_n
from equimargin.formulations.numeric.vector_loops import larger

PROVEN_POINTS = 128
"""Points of the largest matrix that is proven at once, in a tenth of a millisecond."""
POINTS_PER_TESTED_POINT = 16
"""Points of a larger matrix per point of the principal submatrix that is tested."""
SHIFTS = 8
"""Shifts that are tried, each four times the one before."""
TILE_ROWS = 4
"""Rows and columns of a tile of `asymmetry`; a tile fits the vector registers."""
SCANNED_ROWS = 8
"""Rows and columns of a tile of `scan`; a row of a tile is a cache line."""
BLOCK_ROWS = 64
"""Rows and columns of a block of tiles of `scan`."""
NUMPY_TILE_ROWS = 128
"""Rows and columns of a tile in numpy; two tiles, 256 KB, stay in the second-level cache."""


class UnprovenShift:
    """Diagonal shift of a given Gram matrix, proven when it is first needed.

    Problems of one matrix share it, and so the proof.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric matrix, which must not change.
    """

    def __init__(self, K: Array) -> None:
        self.K = K

    @cached_property
    def proven(self) -> float | None:
        """Shift with which K is proved semidefinite; None for an indefinite K."""
        return proven_shift(self.K)


# An overflow makes the factor infinite or NaN, and nothing is proved.
@np.errstate(over="ignore", invalid="ignore")
def find_shift(K: Array) -> float | UnprovenShift | None:
    """Return the shift of a small matrix; that of a large one is left unproven.

    A large matrix with a principal submatrix that is indefinite beyond every shift is
    indefinite, and no proof of it is tried.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Symmetric matrix.

    Returns
    -------
    float, UnprovenShift or None
        None for a matrix that is found to be indefinite.
    """
    m = len(K)
    if m <= PROVEN_POINTS:
        return proven_shift(K)
    points = np.linspace(0, m - 1, max(PROVEN_POINTS, m // POINTS_PER_TESTED_POINT)).astype(np.intp)
    A = K[np.ix_(points, points)]
    A[np.diag_indices(len(points))] += _shifts(K)[-1]
    return UnprovenShift(K) if _is_semidefinite(A) else None


@np.errstate(over="ignore", invalid="ignore")
def proven_shift(K: Array) -> float | None:
    """Return the smallest shift on a grid for which K + shift I is proved semidefinite.

    The first shift is 0. Rows of zeros, which points at the origin have, need neither a
    proof nor a shift.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.

    Returns
    -------
    float or None
        Shift, at least 0; None for an indefinite K.
    """
    # A row of zeros has a zero on the diagonal.
    if not K.diagonal().all():
        nonzero = K.any(axis=1)
        K = K[np.ix_(nonzero, nonzero)]
    if len(K) == 0:
        return 0.0
    for shift in (0.0, *_shifts(K)):
        A = K.copy()
        A[np.diag_indices(len(K))] += shift
        if _is_semidefinite(A):
            return shift
    return None


def _shifts(K: Array) -> list[float]:
    """Return the shifts above 0 that are tried for K."""
    gamma, underflow = _margin(K)
    step = 1.01 * gamma * float(np.abs(K.diagonal()).sum()) + 2 * underflow
    return [step * 4.0**k for k in range(SHIFTS)]


def _is_semidefinite(A: Array) -> bool:
    """Return True if A is proved positive semidefinite; A is overwritten.

    The Cholesky factorisation of A - c I, c = gamma_{n+1} / (1 - gamma_{n+1}) tr A,
    succeeds only if A is positive semidefinite; underflow adds (n + root(A_ii)) eta / 2
    at most to an entry of L L' and n times that to c.

    References
    ----------
    S. M. Rump, Verification of positive definiteness, BIT 46 (2006), Corollary 2.4.
    """
    # Imported here: no other function of the module needs scipy.linalg.
    from scipy.linalg import LinAlgError, cho_factor

    gamma, underflow = _margin(A)
    places = np.diag_indices(len(A))
    A[places] -= 1.01 * gamma * A.diagonal().sum() + underflow
    A[places] -= 4 * UNIT * np.abs(A.diagonal())
    try:
        # A.T has LAPACK's column-major order, so that the factorisation is in place.
        factor, _ = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    # LAPACK takes a NaN for a positive pivot; it stays on the diagonal of its row.
    return bool(np.isfinite(factor.diagonal()).all())


def _margin(A: Array) -> tuple[float, float]:
    """Return gamma_{n+1} / (1 - gamma_{n+1}), and a bound of n times the underflow."""
    n = len(A)
    gamma = gamma_n(n + 1) / (1 - gamma_n(n + 1))
    return gamma, 4 * n * (n + 1 + float(np.abs(A.diagonal()).max(initial=0.0))) * SMALLEST


def _asymmetry_in_numpy(K: Array) -> float:
    tiles = [slice(start, start + NUMPY_TILE_ROWS) for start in range(0, len(K), NUMPY_TILE_ROWS)]
    pairs = ((rows, columns) for at, rows in enumerate(tiles) for columns in tiles[at:])
    return max(
        float(np.abs(K[rows, columns] - K[columns, rows].T).max()) for rows, columns in pairs
    )


@brief
@in_numpy(_asymmetry_in_numpy)
@fast
def asymmetry(K: Array) -> float:
    """Return max |K_ij - K_ji| of finite numbers.

    It is computed tile by tile, because a whole column of a large matrix takes a page
    of memory for every entry.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Square matrix.
    """
    m, most, T = K.shape[0], 0.0, np.empty((TILE_ROWS, TILE_ROWS))
    whole = m - m % TILE_ROWS
    for top in range(0, whole, TILE_ROWS):
        for left in range(top, whole, TILE_ROWS):
            # A tile is first transposed, and then compared row by row.
            for i in range(TILE_ROWS):
                for j in range(TILE_ROWS):
                    T[j, i] = K[top + i, left + j]
            for j in range(TILE_ROWS):
                for i in range(TILE_ROWS):
                    most = larger(most, abs(K[left + j, top + i] - T[j, i]))
    for i in range(whole, m):
        for j in range(i):
            most = larger(most, abs(K[i, j] - K[j, i]))
    return most


def _scan_in_numpy(K: Array) -> tuple[float, float]:
    tiles = [slice(start, start + NUMPY_TILE_ROWS) for start in range(0, len(K), NUMPY_TILE_ROWS)]
    pairs = ((rows, columns) for at, rows in enumerate(tiles) for columns in tiles[at:])
    sums = ((1 if i is j else 2) * float(np.abs(K[i, j] - K[j, i].T).sum()) for i, j in pairs)
    return float(np.vdot(K, K)), sum(sums)


@brief
@in_numpy(_scan_in_numpy)
@reordered
def scan(K: Array) -> tuple[float, float]:
    """Return the sums of K_ij^2 and of |K_ij - K_ji| over all i and j.

    The matrix is read once. The first sum is NaN or infinite if an entry is. For finite
    entries the second is 0 only if K is symmetric, as unequal floats differ by more than 0.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Square matrix.
    """
    m, square, difference = K.shape[0], 0.0, 0.0
    T, whole = np.empty((SCANNED_ROWS, SCANNED_ROWS)), m - m % SCANNED_ROWS
    for above in range(0, whole, BLOCK_ROWS):
        for before in range(above, whole, BLOCK_ROWS):
            for top in range(above, min(above + BLOCK_ROWS, whole), SCANNED_ROWS):
                stop = min(before + BLOCK_ROWS, whole)
                for left in range(max(before, top), stop, SCANNED_ROWS):
                    # A tile is first transposed, and then compared row by row.
                    for i in range(SCANNED_ROWS):
                        for j in range(SCANNED_ROWS):
                            T[j, i] = K[top + i, left + j]
                    squares = apart = 0.0
                    for j in range(SCANNED_ROWS):
                        for i in range(SCANNED_ROWS):
                            x, y = K[left + j, top + i], T[j, i]
                            squares += x * x + y * y
                            apart += abs(x - y)
                    # A tile on the diagonal is its own mirror image.
                    square += 0.5 * squares if left == top else squares
                    difference += apart if left == top else 2.0 * apart
    for i in range(whole, m):
        square += K[i, i] * K[i, i]
        for j in range(i):
            difference += 2.0 * abs(K[i, j] - K[j, i])
            square += K[i, j] * K[i, j] + K[j, i] * K[j, i]
    return square, difference
