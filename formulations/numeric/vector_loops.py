"""Maxima, minima and exponentials that let compiled loops vectorise; NaN is excluded.

With numba's own `max`, or with `if v > m: m = v`, a loop has to make its comparisons
one after another, and does not vectorise.

References
----------
S. L. Moshier, Methods and Programs for Mathematical Functions (1989), expf and the
reduction of exp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from equimargin.formulations.numeric.jit import FAST, contracted, fast, in_numpy

ENTRIES_BETWEEN_TESTS = np.uintp(128)
"""Entries per block.

The maximum of a block is compared with the level, instead of each entry: a loop without
a comparison vectorises.
"""


def _selection(comparison: str) -> Any:
    """Return an intrinsic that selects one of two numbers by a comparison."""

    def choose(context: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            left, right = arguments
            return builder.select(
                builder.fcmp_ordered(comparison, left, right, flags=("fast",)),
                left,
                right,
                flags=("fast",),
            )

        return (a(a, b), build) if a == b else None

    return intrinsic(choose)


larger, smaller = (
    in_numpy(lambda a, b: a if a > b else b)(_selection(">")),
    in_numpy(lambda a, b: a if a < b else b)(_selection("<")),
)


def _with_bits(old: Any, new: Any, llvm: Any) -> Any:
    """Return an intrinsic that reinterprets a number's bits as a number of another type."""

    def reinterpret(context: Any, number: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], llvm)

        return new(old), build

    return intrinsic(reinterpret)


_float_of = _with_bits(types.int32, types.float32, ir.FloatType())
_double_of = _with_bits(types.int64, types.float64, ir.DoubleType())
_bits_of = _with_bits(types.float64, types.int64, ir.IntType(64))


def power(x: Any) -> Any:
    """Return 2^x in compiled code, for x below 127.

    The relative error is about 1e-7 in float32 and 2e-16 in float64. Below -126 in
    float32, and below LOWEST_POWER in float64, the result is the power of that bound,
    which is almost 0.

    Parameters
    ----------
    x : float
        Exponent.
    """
    return np.exp2(x)


@fast
def _power32(x: Any) -> Any:
    """Return 2^x = 2^n p(r), |r| <= 1/2, p of degree 6.

    The relative error of p is 2e-8.
    """
    x = larger(x, np.float32(-126.0))
    n = np.floor(x + np.float32(0.5))
    r = x - n
    p = np.float32(1.5353362e-4)
    p = p * r + np.float32(1.3398875e-3)
    p = p * r + np.float32(9.6184369e-3)
    p = p * r + np.float32(5.5503324e-2)
    p = p * r + np.float32(2.4022648e-1)
    p = p * r + np.float32(6.9314718e-1)
    p = p * r + np.float32(1.0)
    return p * _float_of(np.int32((np.int32(n) + np.int32(127)) << np.int32(23)))


@fast
def _power64(x: Any) -> Any:
    """Return 2^x by the polynomial of `power_of_two`, in any order of operations."""
    x = larger(x, LOWEST_POWER)
    n = np.floor(x + 0.5)
    r = x - n
    p = 4.4549605981865186e-10
    p = p * r + 7.072585949269223e-09
    p = p * r + 1.0178062445845774e-07
    p = p * r + 1.321544258792169e-06
    p = p * r + 1.525273382983612e-05
    p = p * r + 0.0001540353044173605
    p = p * r + 0.0013333558146416936
    p = p * r + 0.009618129107606888
    p = p * r + 0.0555041086648216
    p = p * r + 0.24022650695910097
    p = p * r + 0.6931471805599453
    p = p * r + 1.0
    return p * _double_of((np.int64(n) + 1023) << 52)


POWER_UNITS = 3.0
"""Bound of the relative error of `power_of_two`, in units of u = 2^-53."""
LOWEST_POWER = -1021.0
"""Exponent below which `power_of_two` is constant, 4.5e-308.

No result is subnormal, so that the multiplication by 2^n is exact.
"""


@contracted
def power_of_two(x: Any) -> Any:
    """Return 2^x = 2^n p(r) in compiled code, n = rint(x), r = x - n.

    r is exact, and p is the polynomial that interpolates 2^r, |r| <= 1/2, at r = 0 and
    at the 11 Chebyshev nodes. With rounded coefficients its relative error is 0.18 u. The
    last two steps of Horner's rule add 2 u, the others 0.1 u. The sum is below
    POWER_UNITS u, whether or not a product is rounded before it is added.

    Parameters
    ----------
    x : float
        Exponent, at most 1000.
    """
    x = x if x > LOWEST_POWER else LOWEST_POWER
    # The lowest bits of x + 1.5 2^52 are those of n.
    shifted = x + 6755399441055744.0
    r = x - (shifted - 6755399441055744.0)
    p = 4.4549605981865186e-10
    p = p * r + 7.072585949269223e-09
    p = p * r + 1.0178062445845774e-07
    p = p * r + 1.321544258792169e-06
    p = p * r + 1.525273382983612e-05
    p = p * r + 0.0001540353044173605
    p = p * r + 0.0013333558146416936
    p = p * r + 0.009618129107606888
    p = p * r + 0.0555041086648216
    p = p * r + 0.24022650695910097
    p = p * r + 0.6931471805599453
    p = p * r + 1.0
    return _double_of(_bits_of(p) + (_bits_of(shifted) << 52))


overload(power, jit_options=dict(FAST))(  # type: ignore[arg-type]
    lambda x: (lambda x: _power32(x)) if x == types.float32 else (lambda x: _power64(x))
)


def _first_at_least(a: Any, level: Any) -> int:
    reached = np.flatnonzero(a >= level)
    return int(reached[0]) if reached.size else len(a)


@in_numpy(_first_at_least)
@fast
def first_at_least(a: Any, level: Any) -> Any:
    """Return the first index of an entry >= `level`; the length if there is none.

    Parameters
    ----------
    a : ndarray of shape (n,)
        Entries.
    level : float
        Level.
    """
    # Unsigned: a check for negative indices would keep the loop from vectorising.
    n = np.uintp(a.shape[0])
    for start in range(np.uintp(0), n, ENTRIES_BETWEEN_TESTS):
        stop = min(start + ENTRIES_BETWEEN_TESTS, n)
        top = a[start]
        for k in range(start, stop):
            top = larger(top, a[k])
        if top >= level:
            for k in range(start, stop):
                if a[k] >= level:
                    return np.int64(k)
    return np.int64(n)
