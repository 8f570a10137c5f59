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

from equimargin.formulations.numeric.jit import FAST, fast, in_numpy

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


def _with_bits(bits: Any, number: Any, llvm: Any) -> Any:
    """Return an intrinsic that reinterprets an integer's bits as a float."""

    def reinterpret(context: Any, i: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], llvm)

        return number(bits), build

    return intrinsic(reinterpret)


_float_of = _with_bits(types.int32, types.float32, ir.FloatType())
_double_of = _with_bits(types.int64, types.float64, ir.DoubleType())


def exponential(x: Any) -> Any:
    """Return exp(x) in compiled code, for x below 88.

    The relative error is about 1e-7 in float32 and 2e-16 in float64. Below -87 in
    float32, and below -708 in float64, the result is the exponential of that bound,
    which is almost 0.

    Parameters
    ----------
    x : float
        Exponent.
    """
    return np.exp(x)


@fast
def _exponential32(x: Any) -> Any:
    """Return 2^n p(r), |r| <= log(2) / 2, p of degree 7."""
    x = larger(x, np.float32(-87.0))
    n = np.floor(x * np.float32(1.44269504088896341) + np.float32(0.5))
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    p = np.float32(1.9875691500e-4)
    p = p * r + np.float32(1.3981999507e-3)
    p = p * r + np.float32(8.3334519073e-3)
    p = p * r + np.float32(4.1665795894e-2)
    p = p * r + np.float32(1.6666665459e-1)
    p = p * r + np.float32(5.0000001201e-1)
    p = p * r * r + r + np.float32(1.0)
    return p * _float_of(np.int32((np.int32(n) + np.int32(127)) << np.int32(23)))


@fast
def _exponential64(x: Any) -> Any:
    """Return 2^n p(r), |r| <= log(2) / 2, p the Taylor polynomial of degree 13.

    Its remainder is 4e-18.
    """
    x = larger(x, -708.0)
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - n * 6.93145751953125e-1 - n * 1.42860682030941723212e-6
    p = 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 1 / 2
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _double_of((np.int64(n) + 1023) << 52)


overload(exponential, jit_options=dict(FAST))(  # type: ignore[arg-type]
    lambda x: (lambda x: _exponential32(x)) if x == types.float32 else (lambda x: _exponential64(x))
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
