"""Rounding error bounds: directed rounding of one operation, and bounds for sums.

    fl(x op y) = (x op y)(1 + d) + e
    |d| <= u = 2^-53,  |e| <= eta = 2^-1074,  e = 0 for a sum or a difference

The result of a single operation is replaced by the next float above or below it. That
covers d and e, and overflow too, because the float below an infinite result is the
largest finite one. A library may form a sum of products in any order. If each product
undergoes k roundings on its way into the sum, and n products have two nonzero factors,
then |fl(A v) - A v| <= gamma_k |A||v| + n eta.

inf - inf is a NaN, which gives no bound, and which comparisons and `max` ignore. The
functions here take a NaN as infinite on the side to which they round, and none of them
returns a NaN. In all of them `way` is 1 for upper bounds and -1 for lower bounds.

References
----------
N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), sections 2.2, 2.8
and 3.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, is_sparse
from equimargin.formulations.numeric.jit import brief, in_numpy, jit

UNIT = 2.0**-53
"""Unit roundoff u of float64."""
SMALLEST = 2.0**-1074
"""Smallest positive float64, eta.

It bounds the underflow error of a product or a quotient, also in extended precision.
"""
INFINITE_BITS = np.int64(np.float64(np.inf).view(np.int64))
"""Bits of inf; those of larger integers are NaNs."""
FEW_NUMBERS = 64
"""Numbers up to which numpy's function for the next float is fast."""
LONG_SUM = 1000
"""Minimum number of values for sums in parts, most of which numpy adds without rounding."""
SUMMED_SIZES = (2.0**-700, 2.0**900)
"""Smallest and largest size of values whose parts neither underflow nor overflow."""
SHORT_SUM = 64
"""Number of products up to which a sum is computed in one piece.

A longer sum is computed in blocks, for a smaller rounding bound.
"""


def gamma_n(n: int, unit: float = UNIT) -> float:
    """Return Higham's n u / (1 - n u).

    It is the relative error of n successive floating-point operations, in any order.

    Parameters
    ----------
    n : int
        Number of operations.
    unit : float
        Unit roundoff u.
    """
    return n * unit / (1 - n * unit)


def find_unit(v: Array) -> float:
    """Return the unit roundoff u of an array's precision.

    Parameters
    ----------
    v : ndarray
        Numbers.
    """
    return float(np.finfo(v.dtype).eps) / 2


def round_toward(x: Any, way: float) -> Any:
    """Return the next floats towards way x inf, for results of one operation each.

    Parameters
    ----------
    x : float or ndarray
        Results; a NaN becomes way x inf.
    way : float
        1 or -1.
    """
    x = np.asarray(x)
    if x.size <= FEW_NUMBERS or x.dtype != np.float64:
        return np.nextafter(np.where(np.isnan(x), way * np.inf, x), way * np.inf)
    found = np.array(x, order="C")
    _step_toward(found.reshape(-1), float(way))
    return found


def _step_in_numpy(numbers: Array, way: float) -> None:
    numbers[np.isnan(numbers)] = way * np.inf
    numbers *= way
    numbers += 0.0
    bits = numbers.view(np.int64)
    step = bits >> 63
    step |= 1
    bits += step
    np.minimum(bits, INFINITE_BITS, out=bits)
    numbers *= way


@brief
@in_numpy(_step_in_numpy)
@jit
def _step_toward(numbers: Array, way: float) -> None:
    """Replace numbers by the next floats towards way x inf, and a NaN by way x inf.

    The bits of floats of one sign are integers in the order of their sizes; adding 0
    turns -0, whose bits are those of the least integer, into 0.
    """
    bits = numbers.view(np.int64)
    for i in range(numbers.size):
        v = way * numbers[i] + 0.0
        numbers[i] = v if v == v else np.inf
    for i in range(bits.size):
        following = bits[i] + ((bits[i] >> 63) | 1)
        bits[i] = following if following < INFINITE_BITS else INFINITE_BITS
    for i in range(numbers.size):
        numbers[i] *= way


def multiply_rounded(x: Any, y: Any, way: float) -> Any:
    """Return bounds of x y; 0 if a factor is 0, even if the other is infinite.

    A product with an infinite factor is infinite and not rounded, unlike one of finite
    factors that overflows.

    Parameters
    ----------
    x, y : float or ndarray
        Factors.
    way : float
        1 for upper bounds, -1 for lower bounds.
    """
    product = x * y
    rounded = round_toward(product, way)
    if not np.isfinite(product).all():
        infinite = np.isinf(product) & (np.isinf(x) | np.isinf(y))
        rounded = np.where(infinite, product, rounded)
    return np.where((x == 0) | (y == 0), 0.0, rounded)


def divide_rounded(x: Any, y: Any, way: float) -> Any:
    """Return bounds of x / y; 0 if x is 0.

    Parameters
    ----------
    x, y : float or ndarray
        Dividend and divisor.
    way : float
        1 for upper bounds, -1 for lower bounds.
    """
    return np.where(x == 0, 0.0, round_toward(np.divide(x, y), way))


def add_rounded(x: Any, y: Any, way: float) -> Any:
    """Return bounds of x + y; the exact sum if x or y is 0 or infinite.

    Parameters
    ----------
    x, y : float or ndarray
        Summands.
    way : float
        1 for upper bounds, -1 for lower bounds.
    """
    total = x + y
    infinite = np.isinf(total) & (np.isinf(x) | np.isinf(y))
    return np.where((x == 0) | (y == 0) | infinite, total, round_toward(total, way))


def sum_rounded(values: Array, way: float) -> float:
    """Return a bound of the sum of values; infinite if a value is.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values.
    way : float
        1 for an upper bound, -1 for a lower bound.
    """
    total = _sum_of_parts(values)
    if total is None:
        try:
            # fsum rounds once, and is infinite only if a value is.
            total = math.fsum(values.tolist())
        except (OverflowError, ValueError):
            total = math.nan
    return total if total == 0 or math.isinf(total) else float(round_toward(total, way))


def _sum_of_parts(values: Array) -> float | None:
    """Return a sum whose neighbours bound the exact one; None if it is not that accurate."""
    n = len(values)
    if n < LONG_SUM or values.dtype != np.float64:
        return None
    largest = float(np.max(np.abs(values)))
    if not SUMMED_SIZES[0] < largest < SUMMED_SIZES[1]:
        return None
    rest, start = values.copy(), threshold(n, largest)
    total = float(extract(rest, start) + rest.sum())
    # Rounding the total leaves half a rounding, and this is the error of the sum of n rests.
    is_accurate = 2 * (n * UNIT) ** 2 * float(start) <= abs(total) * UNIT / 4
    return total if is_accurate else None


def threshold(n: int, largest: float | Array) -> Array:
    """Return the threshold of `extract` for the sum of n numbers.

    Parameters
    ----------
    n : int
        Count of the numbers.
    largest : float or ndarray of shape (d,)
        Upper bounds of their sizes, within SUMMED_SIZES.
    """
    return np.asarray(np.ldexp(1.0, np.frexp(largest)[1] + math.frexp(n + 2.0)[1]))


def extract(numbers: Array, start: Array) -> Array:
    """Remove the leading parts of numbers; return the sum of these parts, which is exact.

    They are multiples of u times the threshold, a power of two, and what is left of a
    number is at most that.

    Parameters
    ----------
    numbers : ndarray of shape (n,) or (d, n)
        Numbers, of which the rest stays.
    start : ndarray of shape () or (d, 1)
        Threshold for n numbers or more.

    References
    ----------
    S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation, part I, SIAM J. Sci.
    Comput. 31 (2008), lemma 3.3.
    """
    leading = numbers + start
    leading -= start
    numbers -= leading
    return np.asarray(leading.sum(axis=-1))


def sqrt_rounded(x: float, way: float) -> float:
    """Return a bound of the square root of x.

    Parameters
    ----------
    x : float
        Number >= 0.
    way : float
        1 for an upper bound, -1 for a lower bound.
    """
    return 0.0 if x == 0 else float(round_toward(np.sqrt(x), way))


def max_or_inf(values: Array, least: float = 0.0) -> float:
    """Return the maximum of the values and `least`; inf if a value is a NaN.

    Parameters
    ----------
    values : ndarray
        Values.
    least : float
        Lower bound of the result.
    """
    largest = float(np.max(values, initial=least))
    return math.inf if math.isnan(largest) else largest


@np.errstate(all="ignore")
def bound_products(x: Array, y: Array) -> tuple[Array, Array]:
    """Return floats below and above the exact products of nonnegative floats.

    Both are the float product where it is certainly exact.

    Parameters
    ----------
    x, y : ndarray
        Factors, of broadcastable shapes; 0 times inf is 0.

    Returns
    -------
    lower, upper : ndarray
        Bounds of the products.
    """
    product = np.where((x == 0) | (y == 0), 0.0, x * y)
    # True for powers of two, with which products are exact unless they leave the range.
    shifts = (np.frexp(x)[0] == 0.5) | (np.frexp(y)[0] == 0.5)
    # `>`: a product that is rounded up to tiny is not exact.
    normal = (product > np.finfo(np.float64).tiny) & np.isfinite(product)
    exact = (
        (x == 0) | (y == 0) | (x == 1) | (y == 1) | np.isinf(x) | np.isinf(y) | (shifts & normal)
    )
    return np.where(exact, product, np.nextafter(product, 0.0)), np.where(
        exact, product, np.nextafter(product, np.inf)
    )


def multiply_with_depth(A: Any, v: Array) -> tuple[Array, int]:
    """Return A v and the number of roundings of a product on its way into its sum.

    A sum of n products is computed in about sqrt(n) blocks, so that a product undergoes
    about 2 sqrt(n) roundings and not n.

    Parameters
    ----------
    A : array-like of shape (k, n)
        Dense or sparse matrix; sums of a sparse one are computed in one piece.
    v : ndarray of shape (n,)
        Vector.

    Returns
    -------
    product : ndarray of shape (k,)
        Product A v.
    depth : int
        Number of roundings.
    """
    n = len(v)
    if n <= SHORT_SUM or is_sparse(A):
        return np.asarray(A @ v), n
    size = math.isqrt(n - 1) + 1
    product = np.asarray(A[:, :size] @ v[:size])
    for start in range(size, n, size):
        product += A[:, start : start + size] @ v[start : start + size]
    return product, size + -(-n // size)
