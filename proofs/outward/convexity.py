"""Proof that a quadratic term in floats is positive semidefinite, at solver size.

The blocks of variables that P couples are proven one by one: by their diagonal, by
Cholesky's factorisation of the block less a shift that exceeds all its roundings, or by
exact arithmetic (`semidefinite`).

References
----------
S. M. Rump, Verification of positive definiteness, BIT 46 (2006).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.exact_sums import SAFE_PRODUCT
from equimargin.formulations.numeric.rounding import UNIT, gamma_n
from equimargin.formulations.programs.from_arrays import matrix
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.semidefinite import semidefinite

MAX_BLOCK = 3000
"""Maximum number of variables of a block: Cholesky's factor is dense."""


def prove_convexity(P: Any, clock: Clock) -> str:
    """Return the reason, as text, why P is positive semidefinite.

    Parameters
    ----------
    P : sparse array of shape (n, n)
        Symmetric matrix.
    clock : Clock
        Time limit of exact arithmetic.

    Raises
    ------
    ValueError
        If P is not positive semidefinite, or is not proven to be.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    if P.nnz == 0:
        return "the objective is linear"
    entries = sparse.coo_array(P)
    if (P.diagonal() < 0).any():
        raise ValueError(f"the problem is not convex: {_negative_diagonal(P)}")
    if (entries.row == entries.col).all():
        return "the quadratic term is diagonal, without negative entries"
    labels = connected_components(P)[1]
    order, hard = np.argsort(labels, kind="stable"), []
    # P is positive semidefinite if each block of coupled variables is; blocks that floats
    # do not prove are left to exact arithmetic.
    for block in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        part = P[block][:, block]
        if part.nnz and not _is_dominant(part) and not _block_is_definite(part):
            hard.append(part)
    for part in hard:
        n = part.shape[0]
        try:
            semidefinite(matrix(part, n, n, "P", "exact"), clock)
        except OutOfTime as reason:
            raise ValueError(
                f"the quadratic term is not proven to be positive semidefinite: {reason}; raise "
                f"the limit (seconds), or write the term as a sum of squares of new variables"
            ) from None
        except ValueError as reason:
            raise ValueError(f"the problem is not convex: {reason}") from None
    proof = "exact arithmetic" if hard else "Cholesky's factorisation less a bound of its errors"
    return f"the quadratic term is positive semidefinite, by {proof}"


def _negative_diagonal(P: Any) -> str:
    j = int(np.argmin(P.diagonal()))
    return f"the quadratic coefficient of column {j} is {float(P.diagonal()[j])!r}"


def _is_dominant(P: Any) -> bool:
    """Return True if every diagonal entry is at least the sum of the others' sizes."""
    sizes = np.asarray(abs(P).sum(axis=1)).ravel() - np.abs(P.diagonal())
    return bool((P.diagonal() >= sizes * (1 + (P.shape[0] + 8) * 4 * UNIT)).all())


def _block_is_definite(P: Any) -> bool:
    """Return True if a block is positive definite, and small enough for the proof."""
    return P.shape[0] <= MAX_BLOCK and is_definite(P.toarray())


def is_definite(table: Array) -> bool:
    """Return True if Cholesky's factor of a shifted matrix exists, which proves it > 0.

    Parameters
    ----------
    table : ndarray of shape (k, k)
        Symmetric matrix.
    """
    k, diagonal = len(table), table.diagonal()
    # Rump's shift, doubled for its own roundings; products of tiny numbers underflow.
    share = gamma_n(k + 2)
    shift = 2 * (share / (1 - share) * float(diagonal.sum()) + k**2 * SAFE_PRODUCT)
    if not diagonal.min() > shift:
        return False
    lowered = table - shift * np.eye(k)
    try:
        factor = np.linalg.cholesky(lowered)
    except np.linalg.LinAlgError:
        return False
    # OpenBLAS takes a pivot that is a NaN, after an overflow, for a positive one.
    return bool(np.isfinite(factor).all())
