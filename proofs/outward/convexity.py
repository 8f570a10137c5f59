"""Proof that a quadratic term in floats is positive semidefinite, at solver size.

The blocks of variables that P couples are proven one by one: by their diagonal, by
Cholesky's factorisation of the block less a shift that exceeds all its roundings, or by
exact arithmetic (`semidefinite`). A block that is singular within roundings gets a
larger diagonal with which the factorisation is a proof: where |x_j| <= r_j,

    1/2 x'(P + D) x - 1/2 sum_j D_j r_j^2  <=  1/2 x'Px,

so that every lower bound of the program on the left is one of the program with P. D_j is
proportional to sqrt(P_jj) / r_j, for which the loss is least: it is about the unit
roundoff times k (sum_j sqrt(P_jj) r_j)^2 for k variables.

References
----------
S. M. Rump, Verification of positive definiteness, BIT 46 (2006).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.exact_sums import SAFE_PRODUCT
from equimargin.formulations.numeric.rounding import (
    UNIT,
    gamma_n,
    multiply_rounded,
    round_toward,
    sum_rounded,
)
from equimargin.formulations.programs.from_arrays import matrix
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.outward.boxes import implied_bounds
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.semidefinite import semidefinite

MAX_BLOCK = 3000
"""Maximum number of variables of a block: Cholesky's factor is dense."""
BY_CHOLESKY = "Cholesky's factorisation less a bound of its errors"
"""Proof in floats."""
MAX_EXACT = 200
"""Maximum number of variables of a block for exact arithmetic, if there is another way."""
LIFT = 1.6
"""Number added to a scaled diagonal, in units of the shift of the proof."""
NARROW = 1e-6
"""Minimum r_j, relative to the largest one."""
MAX_NAMED = 5
"""Maximum number of variables of a block that a message names."""
MAX_POWER = 50
"""Maximum binary exponent of a scale."""


def prove_convexity(form: StandardForm, clock: Clock) -> tuple[str, StandardForm]:
    """Return the reason why a program is convex, and the program proven to be.

    It is the given one, or has P + D and an objective of at most the given one at every
    feasible point, so that its lower ends hold for both.

    Parameters
    ----------
    form : StandardForm
        Program with a symmetric P.
    clock : Clock
        Time limit of exact arithmetic.

    Raises
    ------
    ValueError
        If P is not positive semidefinite, or is not proven to be and bounds are missing.
    """
    from scipy import sparse

    P, diagonal = form.P, form.P.diagonal()
    if P.nnz == 0:
        return "the objective is linear", form
    entries = sparse.coo_array(P)
    if (diagonal < 0).any():
        j = int(np.argmin(diagonal))
        raise ValueError(
            f"the problem is not convex: the second derivative of the minimised objective in "
            f"{form.name(j)} is {float(diagonal[j])!r}"
        )
    if (entries.row == entries.col).all():
        return "the quadratic term is diagonal, without negative entries", form
    boxes, ways = implied_bounds(form), set[str]()
    reach = np.maximum(np.abs(boxes.lower), np.abs(boxes.upper))
    for block in _blocks(P):
        part = P[block][:, block]
        way, diagonal[block] = _prove_block(part, clock, reach[block], _listed(form, block))
        ways.add(way)
    proof = f"positive semidefinite, by {' and '.join(sorted(ways))}"
    if (diagonal == P.diagonal()).all():
        return f"the quadratic term is {proof}", form
    below = _with_diagonal(form, diagonal, reach)
    loss = form.offset - below.offset
    return (
        f"the quadratic term, with a larger diagonal for which the lower end loses {loss:.1e}, is "
        f"{proof}"
    ), below


def _blocks(P: Any) -> list[Index]:
    """Return the variables that P couples, directly or through others, in blocks."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(P)[1]
    order = np.argsort(labels, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    used = np.diff(P.indptr) > 0
    return [block for block in blocks if used[block[0]]]


def _listed(form: StandardForm, block: Index) -> str:
    """Return the names of the first variables of a block, and the number of the others."""
    names = ", ".join(form.name(j) for j in block[:MAX_NAMED].tolist())
    left = len(block) - MAX_NAMED
    return f"{names} and {left} more variable{'s' * (left > 1)}" if left > 0 else names


def _prove_block(part: Any, clock: Clock, radii: Array, names: str) -> tuple[str, Array]:
    """Return the reason why a block is positive semidefinite, and its diagonal."""
    if _is_dominant(part) or _block_is_definite(part):
        return BY_CHOLESKY, part.diagonal()
    n, larger = part.shape[0], _larger_diagonal(part, radii)
    if larger is not None and n > MAX_EXACT:
        return BY_CHOLESKY, larger
    try:
        semidefinite(matrix(part, n, n, "P", "exact"), clock)
    except (OutOfTime, ValueError) as reason:
        if larger is not None:
            return BY_CHOLESKY, larger
        if isinstance(reason, OutOfTime):
            raise ValueError(
                f"the quadratic term is not proven to be positive semidefinite: {reason}; raise "
                f"the limit (seconds), bound all its variables, or write it as a sum of squares "
                f"of new variables"
            ) from None
        raise ValueError(f"the problem is not convex in {names}: {reason}") from None
    return "exact arithmetic", part.diagonal()


def _larger_diagonal(part: Any, radii: Array) -> Array | None:
    """Return a diagonal with which a block is positive definite, or None if none is found."""
    diagonal, largest = part.diagonal(), float(radii.max())
    if len(radii) > MAX_BLOCK or not (diagonal > 0).all() or not np.isfinite(largest):
        return None
    widths = np.maximum(radii, NARROW * largest) if largest > 0 else np.ones(len(radii))
    # Powers of two keep the entries; the shift covers those that underflow.
    with np.errstate(all="ignore"):
        power = np.clip(np.log2(widths / np.sqrt(diagonal)) / 2, -MAX_POWER, MAX_POWER)
        scale = np.ldexp(1.0, np.rint(power).astype(np.int64))
        table = part.toarray() * scale[:, None] * scale[None, :]
        table[np.diag_indices(len(table))] += LIFT * _shift(table)
        larger = table.diagonal() / scale**2
        return larger if np.isfinite(larger).all() and is_definite(table) else None


def _with_diagonal(form: StandardForm, diagonal: Array, reach: Array) -> StandardForm:
    """Return the program with a larger diagonal of P, and an objective of at most its own.

    Larger entries replace positive ones, and are those of variables with |x| <= reach.
    """
    from scipy import sparse

    own = form.P.diagonal()
    change = np.where(diagonal > own, round_toward(diagonal - own, 1), 0.0)
    loss = sum_rounded(multiply_rounded(change, multiply_rounded(reach, reach, 1), 1), 1)
    rows = np.repeat(np.arange(len(own)), np.diff(form.P.indptr))
    data = np.where(rows == form.P.indices, diagonal[rows], form.P.data)
    P = sparse.csr_array((data, form.P.indices, form.P.indptr), shape=form.P.shape)
    return replace(form, P=P, offset=float(round_toward(form.offset - loss / 2, -1)))


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
    shift = _shift(table)
    if not table.diagonal().min() > shift:
        return False
    lowered = table - shift * np.eye(len(table))
    try:
        factor = np.linalg.cholesky(lowered)
    except np.linalg.LinAlgError:
        return False
    # OpenBLAS takes a pivot that is a NaN, after an overflow, for a positive one.
    return bool(np.isfinite(factor).all())


def _shift(table: Array) -> float:
    """Return more than all errors of Cholesky's factorisation of a symmetric matrix."""
    k = len(table)
    # Rump's shift, doubled for its own roundings; products of tiny numbers underflow.
    share = gamma_n(k + 2)
    return 2 * (share / (1 - share) * float(table.diagonal().sum()) + k**2 * SAFE_PRODUCT)
