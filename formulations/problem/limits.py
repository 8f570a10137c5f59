"""Limits of a problem's numbers, for float64 sums of squares, and of declared sizes."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.kernels.features import explicit
from equimargin.formulations.kernels.kernel import Kernel, squared_norms
from equimargin.formulations.numeric.arguments import format_value
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse
from equimargin.formulations.problem.refusal import Refusal, refuse_size
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import Tube
from equimargin.formulations.rows.loss import HINGE, Loss

LARGEST_KERNEL = 2.0**1020
"""Maximum accepted |x_i|^2 and |K_ij|.

Sums of four of them stay below 2^1024, the end of the float64 range.
"""
LARGEST_LOSS = float(np.finfo(np.float64).max)
"""Maximum accepted sum of losses at f = 0: the largest float64."""
SMALLEST_SQUARE = 1e-200
"""Minimum sum of squares with negligible error by underflow."""
MAX_DECLARED_ROWS = 20_000
"""Maximum rows of a declared problem; specialised solvers accept more."""
MAX_DECLARED_POINTS = 3_000
"""Maximum points of a declared problem.

Their dense Gram matrix takes 72 MB, and its eigenvectors take as much again.
"""
MAX_DECLARED_ENTRIES = 20_000_000
"""Maximum of rows times points of a declared problem.

Its rows of features are a dense matrix of this size, which takes 160 MB.
"""
FEATURE_ROW_LIMIT = 50_000
"""Maximum rows of a problem declared in w alone, over explicit features.

CLARABEL takes 3 CPU seconds for 40,000 rows of 9 features.
"""
FEATURE_ENTRY_LIMIT = 2_000_000
"""Maximum of rows times features of a problem declared in w alone.

CLARABEL factors about as many entries in a minute.
"""
LARGEST_TARGET = 2.0**500
"""Maximum accepted t_r, about 3e150.

Losses and |f|^2 contain its square, and sums of millions of squares stay below 2^1024.
"""


def largest_entry(X: Features, square: float | None = None) -> float:
    """Return an upper bound of max |X_ij|: the root of the sum of all X_ij^2.

    The root needs one pass. If squares underflow or overflow, the maximum is returned.
    The result is NaN or infinite if X holds such numbers.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Features.
    square : float, optional
        Sum of all X_ij^2, if it is known.
    """
    values = X.data if is_sparse(X) else X
    if square is None:
        with np.errstate(all="ignore"):
            square = float(np.vdot(values, values))
    # The root is meaningless if squares overflow or underflow.
    if SMALLEST_SQUARE <= square < np.inf:
        return float(np.sqrt(square))
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def check_kernel_range(X: Features, kernel: Kernel, largest: float) -> None:
    """Check that squared norms and kernel values are at most LARGEST_KERNEL.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Points, or the (m, m) Gram matrix of a precomputed kernel.
    kernel : Kernel
        Kernel of the points.
    largest : float
        Upper bound of max |X_ij|.

    Raises
    ------
    ValueError
        If a row exceeds the limit; the message names the first one.
    """
    if kernel.given and largest <= LARGEST_KERNEL:
        return
    # This bounds sums of entries, and of duplicate entries of a sparse matrix.
    reach = largest * X.shape[0] * X.shape[1]
    near = reach * reach <= LARGEST_KERNEL
    if not kernel.given and near and explicit(kernel, X) is not None:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = (
            np.maximum(X.max(axis=1), -X.min(axis=1))
            if kernel.given
            else np.abs(kernel.diagonal(X))
        )
        if not (kernel.given or near):
            sizes = np.maximum(sizes, squared_norms(X))
    if not sizes.max() <= LARGEST_KERNEL:
        row = int(np.flatnonzero(~(sizes <= LARGEST_KERNEL))[0])
        subject = (
            "the Gram matrix has entries"
            if kernel.given
            else "the square of its length, or its kernel value, is"
        )
        raise ValueError(
            f"X is too large for float64 at row {row}: {subject} above {LARGEST_KERNEL:.1e}; "
            f"divide X by a constant, or give the kernel smaller parameters"
        )


def check_finite_costs(costs: Array) -> None:
    """Check the costs of a problem without hard rows.

    Parameters
    ----------
    costs : ndarray of shape (m,)
        Products of C and the weights.

    Raises
    ------
    ValueError
        If a cost is infinite or NaN.
    """
    wrong = costs[~np.isfinite(costs)]
    if len(wrong):
        raise ValueError(
            f"the costs C x weight of a problem without hard rows must be finite, not "
            f"{format_value(float(wrong[0]))}; lower C, or the weights"
        )


def check_float64_range(
    rows: Rows, C: float, phi: Loss = HINGE, weights: Array | None = None
) -> None:
    """Check that targets, costs and losses are within float64.

    `check_kernel_range` checks the features.

    Parameters
    ----------
    rows : Rows
        Rows of the problem.
    C : float
        Cost per unit of loss.
    phi : Loss
        Loss.
    weights : ndarray of shape (groups,), or None
        Factors of C; None if all are 1.

    Raises
    ------
    ValueError
        If a target exceeds LARGEST_TARGET, or a margin t_r, a cost C x weight or the
        sum P(0) of losses is no float64.
    """
    tube = isinstance(rows, Tube)
    if tube and not (rows.t.max() <= LARGEST_TARGET and np.isfinite(rows.t).all()):
        outlier = float(rows.y[np.abs(rows.y).argmax()])
        raise ValueError(
            f"y is too large for float64: {outlier:.3g} is a target, {LARGEST_TARGET:.1e} "
            f"the limit; divide y and epsilon"
        )
    largest = (
        1.0 if weights is None else float(weights.max(initial=0.0, where=np.isfinite(weights)))
    )
    if np.isfinite(C) and not np.isfinite(C * largest):
        raise ValueError(
            f"C = {C:g} times the weight {largest:g} is too large for float64; use "
            f"weight inf for hard rows"
        )
    # The slack at f = 0 is t_r, which is 1 except in a tube.
    worst = max(float(rows.t.max()), 0.0) if tube else 1.0
    if np.isfinite(C) and not np.isfinite(
        C * largest * float(phi.value(np.array([worst]))[0]) * rows.p
    ):
        cost = f"C = {C:g}" if largest == 1 else f"C = {C:g} times the weight {largest:g}"
        raise ValueError(
            f"{cost} is too large for float64: {rows.p:,} losses of f = 0 may add up to "
            f"more than {LARGEST_LOSS:.1e}"
        )


def refuse_declaration_size(p: int, m: int) -> Refusal | None:
    """Return the refusal of a problem too large to be declared, or None.

    Parameters
    ----------
    p : int
        Number of rows.
    m : int
        Number of points.
    """
    if p > MAX_DECLARED_ROWS:
        return refuse_size(f"{p:,} rows, the limit is {MAX_DECLARED_ROWS:,}")
    if m > MAX_DECLARED_POINTS:
        return refuse_size(f"{m:,} points, the limit is {MAX_DECLARED_POINTS:,}")
    if p * m > MAX_DECLARED_ENTRIES:
        return refuse_size(
            f"{p:,} rows x {m:,} points = {p * m:,} entries, the limit is {MAX_DECLARED_ENTRIES:,}"
        )
    return None


def too_large_in_features(p: int, q: int) -> Refusal | None:
    """Return the refusal of a problem too large to be declared in w alone, or None.

    Parameters
    ----------
    p : int
        Number of rows.
    q : int
        Number of explicit features.
    """
    if p > FEATURE_ROW_LIMIT:
        return refuse_size(f"{p:,} rows, the limit is {FEATURE_ROW_LIMIT:,}")
    if p * q > FEATURE_ENTRY_LIMIT:
        return refuse_size(
            f"{p:,} rows x {q:,} features = {p * q:,} entries, the limit is {FEATURE_ENTRY_LIMIT:,}"
        )
    return None
