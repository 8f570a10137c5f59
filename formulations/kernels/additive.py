"""Distances that are sums over features: |x - z|_1 and chi-squared.

    D_ij  =  sum_k t(x_ik, z_jk),    t(x, z)  =  |x - z|    or    (x - z)^2 / (x + z)

The second needs x, z >= 0, with t(0, 0) = 0; it is computed as (x - z) ((x - z) / (x +
z)), whose quotient neither overflows nor underflows. With u = 2^-53, eta = 2^-1074 and d
features, |computed D - D| <= gamma_d D for the first, and gamma_{d+4} D + d eta for the
second: a term of the second has four operations, and its difference counts twice. Both
need x + z within float64 (`sums_are_finite`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Features, Index, canonical, is_sparse
from equimargin.formulations.numeric.jit import brief_for, contracted, in_numpy

PANEL_COLUMNS = 128
"""Points z whose sums are computed at a time; the sums stay in the first-level cache."""
TERM_IN_NUMPY = 1 / 200
"""Cost of a term in numpy, relative to a loop in Python."""


def sum_over_features(X: Features, Z: Features, chi2: bool) -> Array:
    """Return D, in the precision of the points.

    Entries that are 0 in sparse points are skipped: the time of a pair is proportional to
    their stored entries. D is symmetric if X and Z have equal rows.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Points x_i.
    Z : ndarray or sparse array of shape (n, d)
        Points z_j.
    chi2 : bool
        True for the second t.

    Returns
    -------
    ndarray of shape (m, n)
        Sums.
    """
    # Integers become floats: differences of unsigned ones would wrap around.
    precision = np.result_type(X.dtype, Z.dtype, np.float64)
    X, Z = (points.astype(precision, copy=False) for points in (X, Z))
    D = np.empty((X.shape[0], Z.shape[0]), precision)
    if is_sparse(X) or is_sparse(Z):
        _add_merged(*_rows(X), *_rows(Z), int(X.shape[1]), chi2, D)
    elif precision == np.float64:
        _add_terms(np.ascontiguousarray(X), np.ascontiguousarray(Z.T), chi2, D)
    else:
        _add_terms_in_numpy(X, Z.T, chi2, D)
    return D


def sums_are_finite(X: Features, Z: Features) -> bool:
    """Return True if no sum of features or of terms overflows.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Points x_i.
    Z : ndarray or sparse array of shape (n, d)
        Points z_j.
    """
    largest = sum(float(abs(points).max()) for points in (X, Z) if 0 not in points.shape)
    return bool(2.0 * X.shape[1] * largest < np.inf)


def _rows(X: Features) -> tuple[Index, Index, Array]:
    """Return the arrays of a CSR matrix, with every column once, in ascending order."""
    # Imported here: dense points need no scipy.
    from scipy import sparse

    rows = canonical(sparse.csr_array(X))
    return rows.indptr, rows.indices, rows.data


@contracted
def _term(x: float, z: float, chi2: bool) -> float:
    """Return t(x, z)."""
    difference = x - z
    if chi2:
        return difference * (difference / (x + z)) if x + z > 0.0 else 0.0
    return abs(difference)


def _add_terms_in_numpy(X: Array, Z: Array, chi2: bool, D: Array) -> None:
    D[:] = 0.0
    for x, z in zip(X.T, Z, strict=True):
        terms = np.subtract.outer(x, z)
        if chi2:
            totals = np.add.outer(x, z)
            terms *= np.divide(terms, totals, where=totals > 0, out=np.zeros_like(totals))
        D += np.abs(terms)


@brief_for(lambda X, Z, chi2, D: TERM_IN_NUMPY * D.size * X.shape[1])
@in_numpy(_add_terms_in_numpy)
@contracted
def _add_terms(X: Array, Z: Array, chi2: bool, D: Array) -> None:
    """Write the sums for points X (m, d) and Z (d, n) to D."""
    (m, d), n = X.shape, D.shape[1]
    for start in range(0, n, PANEL_COLUMNS):
        stop = min(start + PANEL_COLUMNS, n)
        for i in range(m):
            sums = D[i, start:stop]
            for j in range(sums.size):
                sums[j] = 0.0
            for k in range(d):
                x, z = X[i, k], Z[k, start:stop]
                for j in range(sums.size):
                    sums[j] += _term(x, z[j], chi2)


@brief_for(
    lambda x_ends, x_columns, x_values, z_ends, z_columns, *others: (
        (len(z_ends) - 1) * x_columns.size + (len(x_ends) - 1) * z_columns.size
    )
)
@contracted
def _add_merged(
    x_ends: Index,
    x_columns: Index,
    x_values: Array,
    z_ends: Index,
    z_columns: Index,
    z_values: Array,
    d: int,
    chi2: bool,
    D: Any,
) -> None:
    """Write the sums for sparse points to D; a row of X and a row of Z are merged."""
    m, n = D.shape
    for i in range(m):
        for j in range(n):
            total, a, b = 0.0, x_ends[i], z_ends[j]
            while a < x_ends[i + 1] or b < z_ends[j + 1]:
                # The column of an exhausted row is d.
                in_x = x_columns[a] if a < x_ends[i + 1] else d
                in_z = z_columns[b] if b < z_ends[j + 1] else d
                x = z = 0.0
                if in_x <= in_z:
                    x, a = x_values[a], a + 1
                if in_z <= in_x:
                    z, b = z_values[b], b + 1
                total += _term(x, z, chi2)
            D[i, j] = total
