"""Exact solutions of linear equations near a point, enclosed in floats.

Of the equations B v = e, rows that are independent in floats are kept, and as many
columns K are chosen, those of large weight first. With R near the inverse of B_K and
|I - R B_K| <= a < 1 in the maximum norm, changes of v_K alone solve the kept equations,
by at most

    |R (e - B v)| + a / (1 - a) max |R (e - B v)|.

Any other equation holds if it is a combination of the kept ones in rational numbers.

References
----------
S. M. Rump, Verification methods, Acta Numerica 19 (2010), section 10.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.numeric.exact_sums import LOST_BY_UNDERFLOW, sum_rows
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.programs.rational import Matrix
from equimargin.proofs.outward.ends import Ball
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.linear_system import solution_near

MAX_EQUATIONS = 3000
"""Maximum number of equations: the inverse is dense, and takes about a minute."""
MAX_COMBINED_EQUATIONS = 100
"""Maximum number of equations that are shown to be combinations of others."""
COMBINATION_SECONDS = 2.0
"""Time limit for a combination in rational numbers, in seconds."""
LEADING = 1e3
"""Length of the necessary equations, relative to the length of others."""
DEPENDENT = 1e-9
"""Distance of a row of length 1 from the span of others at which it counts as dependent."""
NEWTON_STEPS = 3
"""Steps towards the solution before its distance is bounded."""


def settle(B: Any, e: Array, v: Array, weight: Array, equations: int) -> tuple[Ball, Index] | None:
    """Return a ball around a solution of B v = e, and the rows that it satisfies.

    Parameters
    ----------
    B : sparse array of shape (k, n)
        Matrix in CSR form.
    e : ndarray of shape (k,)
        Right-hand side.
    v : ndarray of shape (n,)
        Point nearby.
    weight : ndarray of shape (n,)
        Preference of the variables that change; variables of weight 0 do not.
    equations : int
        Number of leading rows that have to hold; the others may be left out.

    Returns
    -------
    tuple or None
        Ball and rows of B, ascending; None if no such point is proven.
    """
    free = np.flatnonzero(weight > 0)
    reduced = B[:, free].tocsr()
    reduced.eliminate_zeros()
    is_open = np.diff(reduced.indptr) > 0
    shut = np.flatnonzero(~is_open)
    residual, error = sum_rows(e[shut], (B[shut], v), way=-1)
    holds = (residual == 0) & (error == 0)
    if not holds[shut < equations].all():
        return None
    rows = np.flatnonzero(is_open)
    if len(rows) > MAX_EQUATIONS:
        return None
    kept, others = _independent(reduced[rows].toarray() * weight[free], rows < equations)
    ball = _enclosed(B[rows[kept]], e[rows[kept]], v, weight)
    if ball is None:
        return None
    rest = _rest(B, e, v, weight)
    followers = others[:MAX_COMBINED_EQUATIONS]
    following = [i for i in followers.tolist() if _follows(reduced, rest, rows[kept], int(rows[i]))]
    settled = np.union1d(rows[np.concatenate([kept, following]).astype(np.int64)], shut[holds])
    return None if len(np.setdiff1d(np.arange(equations), settled)) else (ball, settled)


@np.errstate(over="ignore", invalid="ignore")
def _independent(dense: Array, needed: Mask) -> tuple[Index, Index]:
    """Return the rows that are independent in floats, needed ones first, and the others."""
    from scipy.linalg import qr

    if not len(dense):
        return np.arange(0), np.arange(0)
    # Squares of tiny entries would underflow; a row without entries depends on the others.
    largest = np.abs(dense).max(axis=1, initial=0.0, keepdims=True)
    scaled = dense / np.where(largest > 0, largest, 1.0)
    lengths = np.maximum(np.sqrt((scaled**2).sum(axis=1, keepdims=True)), 1.0)
    scaled *= np.where(needed, LEADING, 1.0)[:, None] / lengths
    triangle, order = qr(scaled.T, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > DEPENDENT).sum())
    return np.sort(order[:rank]), np.sort(order[rank:])


def _enclosed(B: Any, e: Array, v: Array, weight: Array) -> Ball | None:
    """Return a ball with a solution of independent equations, or None."""
    from scipy.linalg import qr

    k, free = B.shape[0], np.flatnonzero(weight > 0)
    if k == 0:
        return Ball.point(v)
    scaled = B[:, free].toarray() * weight[free]
    if len(free) < k or not np.isfinite(scaled).all():
        return None
    chosen = free[qr(scaled, mode="r", pivoting=True, check_finite=False)[1][:k]]
    inverse = _inverse(B[:, chosen].toarray())
    if inverse is None:
        return None
    R, a, unit = inverse
    moved = v.copy()
    for _ in range(NEWTON_STEPS):
        moved[chosen] += R @ sum_rows(e, (B, moved), way=-1)[0]
    residual, error = sum_rows(e, (B, moved), way=-1)
    lost = (k + 1) * LOST_BY_UNDERFLOW if residual.any() or error.any() else 0.0
    step = (np.abs(R) @ (np.abs(residual) + error)) * (1 + unit)
    radius = np.zeros(len(v))
    # For a < 1/2 the factor a / (1 - a) is at most 2 a.
    radius[chosen] = (step + 2 * a * step.max()) * (1 + unit) + 4 * lost
    return Ball(moved, radius) if np.isfinite(radius).all() else None


def _inverse(square: Array) -> tuple[Array, float, float] | None:
    """Return R, a and a bound of relative roundings with |I - R square| <= a < 1/2."""
    k = len(square)
    try:
        R = np.linalg.inv(square).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    # Roundings of R B and of the sum of a row, each counted twice.
    unit = (2 * k + 8) * 2 * UNIT
    with np.errstate(all="ignore"):
        defect = np.abs(np.eye(k) - R @ square) + unit * (np.abs(R) @ np.abs(square))
        a = float(defect.sum(axis=1).max()) * (1 + unit)
    # `a < 0.5` is false for a NaN: an overflow is no proof.
    return (R, a, unit) if a < 0.5 else None


def _rest(B: Any, e: Array, v: Array, weight: Array) -> list[Fraction]:
    """Return e less the terms of the variables that do not change, in rational numbers."""
    rest = [Fraction(end) for end in e.tolist()]
    fixed = (weight == 0) & (v != 0)
    coordinates = B[:, np.flatnonzero(fixed)].tocoo()
    values = v[fixed].tolist()
    for i, j, entry in zip(
        coordinates.row.tolist(), coordinates.col.tolist(), coordinates.data.tolist(), strict=True
    ):
        rest[i] -= Fraction(entry) * Fraction(values[j])
    return rest


def _follows(B: Any, e: list[Fraction], kept: Index, i: int) -> bool:
    """Return True if row i of B v = e is a rational combination of the kept rows."""
    shares = np.linalg.lstsq(B[kept].toarray().T, B[[i]].toarray().ravel(), rcond=None)[0]
    used = kept[np.abs(shares) > DEPENDENT]
    columns: list[dict[int, Fraction]] = [{} for _ in range(B.shape[1] + 1)]
    right = [Fraction(0)] * (B.shape[1] + 1)
    for k, row in enumerate([*used.tolist(), i]):
        entries = slice(B.indptr[row], B.indptr[row + 1])
        pairs = zip(B.indices[entries].tolist(), B.data[entries].tolist(), strict=True)
        for j, entry in [*((j, Fraction(entry)) for j, entry in pairs), (B.shape[1], e[row])]:
            if entry != 0 and k < len(used):
                columns[j][k] = entry
            elif entry != 0:
                right[j] = entry
    try:
        found = solution_near(
            Matrix(tuple(columns), len(used)),
            right,
            [Fraction(0)] * len(used),
            Clock(COMBINATION_SECONDS),
        )
    except OutOfTime:
        return False
    return found is not None
