"""Sums of products of floats, each within a rounding of the exact sum.

A product of two floats is the sum of two floats, p + e (Dekker). Sums of rows are kept
in two floats each; where these may have lost a quarter of a rounding, as after
cancellation, `math.fsum` rounds the exact sum once. The sign of a sum is therefore
exact, and a sum is 0 only if the exact sum is. Products below 2^-960 may lose up to 2^-1070 each.

References
----------
T. J. Dekker, A floating-point technique for extending the available precision,
Numerische Mathematik 18 (1971).
T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM Journal on
Scientific Computing 26 (2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.numeric.rounding import UNIT

SPLITTER = 2.0**27 + 1
"""Dekker's factor: it splits 53 bits into two halves."""
SAFE_PRODUCT = 2.0**-960
"""Minimum size of a product whose rounding error is a float."""
LOST_BY_UNDERFLOW = 2.0**-1070
"""Bound of what a smaller product may lose."""
MAX_LENGTH = 300
"""Maximum number of terms of a row whose sum is computed with those of other rows."""


@np.errstate(all="ignore")
def split_products(a: Array, b: Array) -> tuple[Array, Array]:
    """Return p and e with p + e = a b, entry by entry, unless a product underflows.

    Parameters
    ----------
    a, b : ndarray of shape (k,)
        Factors; a product outside the float64 range becomes a NaN.
    """
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _halves(a: Array) -> tuple[Array, Array]:
    big = SPLITTER * a
    high = big - (big - a)
    return high, a - high


def sum_rows(constant: Array, *parts: tuple[Any, Array], way: float = 1.0) -> tuple[Array, Array]:
    """Return constant + M v + ... over all parts, rounded, and bounds of the errors.

    Parameters
    ----------
    constant : ndarray of shape (k,)
        Constant of every row.
    *parts : tuple of a sparse array of shape (k, n) in CSR form, and an ndarray of shape (n,)
        Matrix M and vector v.
    way : float
        Sign of all products, 1 or -1.

    Returns
    -------
    sums, errors : ndarray of shape (k,)
        Sums, NaN outside the float64 range, and bounds of their distances from the exact
        sums; an error of 0 if the sum is 0.
    """
    terms, lost = [], np.zeros(len(constant))
    for M, v in parts:
        p, e = split_products(way * M.data, v[M.indices])
        terms.append((p, e, M.indptr))
        small = (np.abs(p) < SAFE_PRODUCT) & (M.data != 0) & (v[M.indices] != 0)
        if small.any():
            rows = np.repeat(np.arange(len(constant)), np.diff(M.indptr))
            lost += np.bincount(rows[small], minlength=len(constant)) * LOST_BY_UNDERFLOW
    sums, sure = _doubled_sums(constant, terms)
    for i in np.flatnonzero(~sure).tolist():
        row = (part[ends[i] : ends[i + 1]] for p, e, ends in terms for part in (p, e))
        sums[i] = add_once(np.concatenate([constant[i : i + 1], *row]).tolist())
    return sums, np.where(sums == 0, 0.0, np.spacing(np.abs(sums))) + lost


@np.errstate(all="ignore")
def _doubled_sums(
    constant: Array, terms: Sequence[tuple[Array, Array, Index]]
) -> tuple[Array, Mask]:
    """Return sums of two floats each, rounded, and True if these are accurate.

    A sum that cancels to less than a few roundings of its second float is not accurate,
    and neither is that of a long row.
    """
    high, low, sizes = constant.copy(), np.zeros(len(constant)), np.zeros(len(constant))
    count = np.zeros(len(constant))
    for p, e, ends in terms:
        lengths = np.diff(ends)
        count += lengths
        order = np.argsort(-lengths, kind="stable")
        starts, ordered = ends[:-1][order], lengths[order]
        for k in range(min(int(lengths.max(initial=0)), MAX_LENGTH)):
            # The rows of more than k terms come first.
            rows = order[: int(np.searchsorted(-ordered, -k, side="left"))]
            place = starts[: len(rows)] + k
            a, b = high[rows], p[place]
            total = a + b
            moved = total - a
            # Knuth's error of the sum, which is exact.
            error = (a - (total - moved)) + (b - moved)
            high[rows] = total
            low[rows] += error + e[place]
            sizes[rows] += np.abs(error) + np.abs(e[place])
    sums = high + low
    error = sizes * (2 * count + 4) * 2 * UNIT
    # `<` is false for a NaN.
    return sums, (error < np.abs(sums) * UNIT / 4) & (count <= MAX_LENGTH)


def add_once(values: Sequence[float]) -> float:
    """Return the sum of values, rounded once; NaN if it is not finite.

    Parameters
    ----------
    values : sequence of float
        Values.
    """
    try:
        total = math.fsum(values)
    except (OverflowError, ValueError):
        return math.nan
    return total if math.isfinite(total) else math.nan
