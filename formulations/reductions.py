"""What a compiled loop needs to vectorise: maxima and minima of numbers that are not NaN, and an exponential in float32.

numba's own `max` and `if v > m: m = v` keep an order of comparisons that no vector unit can follow.

Source of the exponential: S. L. Moshier, Methods and Programs for Mathematical Functions (1989), expf: 2^n p(r), |r| <= log(2) / 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from equimargin.formulations.jit import fast

_PIECE = np.uintp(128)


def _selection(comparison: str) -> Any:
    """One instruction that chooses between two numbers of one type."""

    def choose(context: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            left, right = arguments
            return builder.select(builder.fcmp_ordered(comparison, left, right, flags=("fast",)), left, right, flags=("fast",))

        return (a(a, b), build) if a == b else None

    return intrinsic(choose)


larger, smaller = _selection(">"), _selection("<")


def _as_float(context: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), build


_float_of = intrinsic(_as_float)


@fast
def exponential(x: Any) -> Any:
    """exp(x) for a float32 x below 88, to about 1e-7."""
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
def first_at_least(a: Any, level: Any) -> Any:
    """The first index of an entry that is at least `level`; the length if there is none."""
    n = np.uintp(a.shape[0])  # unsigned, so that no index can count from the end: such a check would keep the loop from vectorising
    for start in range(np.uintp(0), n, _PIECE):
        stop = min(start + _PIECE, n)
        top = a[start]
        for k in range(start, stop):
            top = larger(top, a[k])
        if top >= level:
            for k in range(start, stop):
                if a[k] >= level:
                    return np.int64(k)
    return np.int64(n)
