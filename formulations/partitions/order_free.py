"""Reproducible sums: bitwise independent of order, partitions, processes and machines.

    x = a + b + rest
    a a multiple of 2^e1,  b a multiple of 2^e2,  |rest| <= 2^(e2 - 1)

The two powers depend on the number of terms x and a bound of them only. They are so
large that float64 adds multiples of 2^e1 without rounding, and multiples of 2^e2 too.
The sum of all a and the sum of all b are then exact, in any order. This pair of float64
numbers is the sum of the x, with an error of at most the number of terms times 2^(e2 -
1).

References
----------
S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation part I, SIAM Journal
on Scientific Computing 31 (2008).
J. Demmel, H. D. Nguyen, Parallel reproducible summation, IEEE Transactions on Computers
64 (2015).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit

DIGITS = 53
"""Precision of float64, in bits."""
SMALLEST_BOUND = 1e-200
"""Minimum bound of the terms, so that no power of two underflows."""
HALVING = 2.0**30
"""Unit of the upper half of an integer below 2^53.

Upper halves of millions of integers are added exactly, and lower halves, too.
"""


class SummationGrid(NamedTuple):
    """Grids to which the terms of k sums are rounded, (k,) each.

    Parameters
    ----------
    coarse, fine : ndarray
        (x + coarse) - coarse is x rounded to a multiple of 2^e1, and (x + fine) - fine
        to a multiple of 2^e2.
    lost : ndarray
        Maximum error of a sum.
    """

    coarse: Array
    fine: Array
    lost: Array


def grid(bound: Any, terms: int) -> SummationGrid:
    """Return the grid on which sums of at most `terms` terms are exact.

    Parameters
    ----------
    bound : array-like of shape (k,)
        Maximum size of a term of each of k sums.
    terms : int
        Maximum number of terms of a sum.
    """
    size = np.maximum(np.atleast_1d(np.asarray(bound, dtype=np.float64)), SMALLEST_BOUND)
    bits = math.ceil(math.log2(max(terms, 2))) + 1
    e1 = np.ceil(np.log2(size)) + 1 + bits - DIGITS
    e2 = e1 - 1 + bits - DIGITS
    push = DIGITS - 1
    # `lost` is twice the bound of the rest, because products may underflow, too.
    return SummationGrid(1.5 * 2.0 ** (e1 + push), 1.5 * 2.0 ** (e2 + push), terms * 2.0**e2)


@jit
def cut_in_two(x: Any, coarse: Any, fine: Any) -> tuple[Any, Any]:
    """Return the two parts of a term, which are summed separately.

    Parameters
    ----------
    x : float
        Term.
    coarse, fine : float
        Entries of a `SummationGrid`.
    """
    a = (x + coarse) - coarse
    return a, ((x - a) + fine) - fine


@jit
def folded_rows(X: Array, beta: Array, cut: SummationGrid) -> Array:
    """Return coarse and fine sums of beta_i x_i, each product rounded once.

    If q is one more than the columns of X, the last entry is for a feature of 1.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    beta : ndarray of shape (n,)
        Coefficients.
    cut : SummationGrid
        Grids of q sums, q = d or d + 1.

    Returns
    -------
    ndarray of shape (2, q)
        Coarse and fine sums.
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
    """Compute X v in `out`, and return `out`.

    If v has one entry more than X has columns, that entry is added. Every row is summed
    from left to right, four rows at a time: each addition of one row depends on the one
    before, and additions of different rows run in parallel.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    v : ndarray of shape (d,) or (d + 1,)
        Weights, and a constant if there is one.
    out : ndarray of shape (n,)
        Output.
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
    """Split integers below 2^53 into multiples of 2^30 and the rest.

    float64 adds eight million of the multiples, or of the rests, exactly.

    Parameters
    ----------
    integers : ndarray
        Integers.

    Returns
    -------
    high, low : ndarray
        Multiples of 2^30, and the rest.
    """
    push = 1.5 * 2.0 ** (DIGITS - 1) * HALVING
    high = (integers + push) - push
    return high, integers - high
