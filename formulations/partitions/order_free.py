"""Sums whose bits do not depend on the order of their terms, and so not on partitions, processes or machines.

    x = a + b + rest,    a a multiple of 2^e1,    b a multiple of 2^e2,    |rest| <= 2^(e2 - 1)

The two powers come from a bound of the terms and from their number alone. They are so
large that float64 adds multiples of 2^e1 without rounding, and multiples of 2^e2 too. A
plain sum of the a and one of the b are then exact, in whatever order they are taken.
Such a sum is a pair of float64 numbers, and what it loses is at most the number of
terms times 2^(e2 - 1).

Source: S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation part I, SIAM
Journal on Scientific Computing 31 (2008); J. Demmel, H. D. Nguyen, Parallel
reproducible summation, IEEE Transactions on Computers 64 (2015).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit

DIGITS = 53
"""Bits of a float64 number."""
SMALLEST_BOUND = 1e-200
"""Terms are taken to be this large at least, so that no power of two underflows."""
HALVING = 2.0**30
"""Where an integer below 2^53 is cut in two, so that the halves of millions of integers add exactly."""


class SummationGrid(NamedTuple):
    """How the terms of a sum are cut, (k,) each for k sums.

    Parameters
    ----------
    coarse, fine : Array
        (x + coarse) - coarse is x rounded to a multiple of 2^e1, and fine does so for
        2^e2.
    lost : Array
        What a sum loses at most.
    """

    coarse: Array
    fine: Array
    lost: Array


def grid(bound: Any, terms: int) -> SummationGrid:
    """The grid on which sums of at most `terms` terms are exact.

    Parameters
    ----------
    bound : array-like of shape (k,)
        The largest size of a term of each of k sums.
    terms : int
        Of a sum, at most.
    """
    size = np.maximum(np.atleast_1d(np.asarray(bound, dtype=np.float64)), SMALLEST_BOUND)
    bits = math.ceil(math.log2(max(terms, 2))) + 1
    e1 = np.ceil(np.log2(size)) + 1 + bits - DIGITS
    e2 = e1 - 1 + bits - DIGITS
    push = DIGITS - 1
    return SummationGrid(
        1.5 * 2.0 ** (e1 + push), 1.5 * 2.0 ** (e2 + push), terms * 2.0**e2
    )  # twice the rest: products may underflow, too


@jit
def cut_in_two(x: Any, coarse: Any, fine: Any) -> tuple[Any, Any]:
    """The two parts of a term that are added apart."""
    a = (x + coarse) - coarse
    return a, ((x - a) + fine) - fine


@jit
def folded_rows(X: Array, beta: Array, cut: SummationGrid) -> Array:
    """The two sums of beta_i x_i, (2, q), each product rounded once; with a constant of 1 if q is one more than the columns.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    beta : ndarray of shape (n,)
    cut : SummationGrid
        Of q sums, q = d or d + 1.
    """
    coarse, fine = cut.coarse, cut.fine
    d, q = X.shape[1], coarse.size
    sums = np.zeros((2, q))
    A, B = sums[0], sums[1]
    for i in range(beta.size):
        b = beta[i]
        if b == 0.0:
            continue
        x = X[i]
        for j in range(d):
            rough, rest = cut_in_two(x[j] * b, coarse[j], fine[j])
            A[j] += rough
            B[j] += rest
        if q > d:
            rough, rest = cut_in_two(b, coarse[d], fine[d])
            A[d] += rough
            B[d] += rest
    return sums


@jit
def products_by_row(X: Array, v: Array, out: Array) -> Array:
    """X v into `out`, (n,), plus the last entry of v if it has one more than X has columns; `out`. Every row is summed from left to right.

    Four rows are summed at a time, because a sum in a fixed order waits for each of its additions.
    """
    n, d = X.shape
    constant = v[d] if v.size > d else 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(d):
            s0 += x0[j] * v[j]
            s1 += x1[j] * v[j]
            s2 += x2[j] * v[j]
            s3 += x3[j] * v[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = (
            s0 + constant,
            s1 + constant,
            s2 + constant,
            s3 + constant,
        )
    for i in range(whole, n):
        s = 0.0
        for j in range(d):
            s += X[i, j] * v[j]
        out[i] = s + constant
    return out


def split_integers(integers: Array) -> tuple[Array, Array]:
    """Integers below 2^53 as multiples of 2^30 and the rest: of each, float64 adds eight million exactly."""
    push = 1.5 * 2.0 ** (DIGITS - 1) * HALVING
    high = (integers + push) - push
    return high, integers - high
