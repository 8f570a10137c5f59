"""Bounds on rounding errors: the next float on the safe side for one operation, and a-priori bounds for sums of products.

    fl(x op y) = (x op y)(1 + d) + e,      |d| <= u = 2^-53,      |e| <= eta = 2^-1074, and e = 0 for a sum or a difference

The result of a single operation is replaced by the next float above or below it. That
covers d and e, and overflow too, because the float below an infinite result is the
largest finite one. A library may form a sum of products in any order. If each product
meets k roundings on its way into the sum, and n products have two factors that are not
0, then |fl(A v) - A v| <= gamma_k |A||v| + n eta.

inf - inf is a NaN, which says nothing about the number that it stands for, and which
comparisons and `max` ignore. The functions here take a NaN as infinite on the side to
which they round, and none of them returns a NaN.

Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), sections
2.2, 2.8 and 3.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, is_sparse

UNIT = 2.0**-53
"""Unit roundoff u of float64."""
SMALLEST = 2.0**-1074
"""eta, the smallest positive float64. Underflow takes at most this from a product or a quotient, also in an extended precision."""
SHORT_SUM = 64
"""Number of products up to which a sum is taken in one piece. A longer sum is taken in blocks, so that its rounding bound is smaller."""


def gamma_n(n: int, unit: float = UNIT) -> float:
    """Higham's n u / (1 - n u): the relative error of n floating-point operations in a row, in any order."""
    return n * unit / (1 - n * unit)


def find_unit(v: Array) -> float:
    """The unit roundoff u of the precision in which these numbers are."""
    return float(np.finfo(v.dtype).eps) / 2


def round_toward(x: Any, way: float) -> Any:
    """The next floats towards way x inf, for results x of one operation each; way is 1 or -1, and a NaN becomes way x inf."""
    return np.nextafter(np.where(np.isnan(x), way * np.inf, x), way * np.inf)


def multiply_rounded(x: Any, y: Any, way: float) -> Any:
    """x y, from above for way = 1, from below for way = -1; 0 where a factor is 0, even if the other is infinite.

    A product with an infinite factor is infinite and not rounded: that of a product which overflows has two finite factors.
    """
    found = x * y
    infinite = np.isinf(found) & (np.isinf(x) | np.isinf(y))
    return np.where((x == 0) | (y == 0), 0.0, np.where(infinite, found, round_toward(found, way)))


def divide_rounded(x: Any, y: Any, way: float) -> Any:
    """x / y, from above for way = 1, from below for way = -1; 0 where x is 0."""
    return np.where(x == 0, 0.0, round_toward(np.divide(x, y), way))


def add_rounded(x: Any, y: Any, way: float) -> Any:
    """x + y, from above for way = 1, from below for way = -1; exact where x or y is 0, or one of them infinite."""
    found = x + y
    infinite = np.isinf(found) & (np.isinf(x) | np.isinf(y))
    return np.where((x == 0) | (y == 0) | infinite, found, round_toward(found, way))


def sum_rounded(values: Array, way: float) -> float:
    """The sum of the values, from above for way = 1, from below for way = -1; infinite where a value is."""
    try:
        found = math.fsum(values.tolist())  # rounded once, and infinite only if a value is
    except (OverflowError, ValueError):
        found = math.nan
    return found if found == 0 or math.isinf(found) else float(round_toward(found, way))


def sqrt_rounded(x: float, way: float) -> float:
    """The square root of x >= 0, from above for way = 1, from below for way = -1."""
    return 0.0 if x == 0 else float(round_toward(np.sqrt(x), way))


def max_or_inf(values: Array, least: float = 0.0) -> float:
    """The largest of the values and `least`; inf where a value is a NaN."""
    found = float(np.max(values, initial=least))
    return math.inf if math.isnan(found) else found


@np.errstate(all="ignore")
def bound_products(x: Array, y: Array) -> tuple[Array, Array]:
    """Floats below and above the exact products of nonnegative floats; both are the product itself where it is certainly a float.

    Parameters
    ----------
    x, y : of one shape, or of shapes that are broadcast. 0 times inf is 0.
    """
    found = np.where((x == 0) | (y == 0), 0.0, x * y)
    shifts = (np.frexp(x)[0] == 0.5) | (np.frexp(y)[0] == 0.5)  # powers of two
    normal = (found > np.finfo(np.float64).tiny) & np.isfinite(
        found
    )  # one that is rounded up to tiny is no exact one
    exact = (
        (x == 0) | (y == 0) | (x == 1) | (y == 1) | np.isinf(x) | np.isinf(y) | (shifts & normal)
    )
    return np.where(exact, found, np.nextafter(found, 0.0)), np.where(
        exact, found, np.nextafter(found, np.inf)
    )


def multiply_with_depth(A: Any, v: Array) -> tuple[Array, int]:
    """A v, (k,), and the number of roundings that a product meets on its way into its sum.

    A sum of n products is taken in about sqrt(n) blocks, so that a product meets about 2 sqrt(n) roundings and not n.

    Parameters
    ----------
    A : array-like of shape (k, n)
        Dense or sparse; the sums of a sparse one are taken in one piece.
    v : ndarray of shape (n,)
    """
    n = len(v)
    if n <= SHORT_SUM or is_sparse(A):
        return np.asarray(A @ v), n
    size = math.isqrt(n - 1) + 1
    found = np.asarray(A[:, :size] @ v[:size])
    for start in range(size, n, size):
        found += A[:, start : start + size] @ v[start : start + size]
    return found, size + -(-n // size)
