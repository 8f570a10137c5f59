"""Products K v with a proven bound on their errors, for a K that is not stored.

Several v are multiplied in one pass: most of its time goes into the entries of K.

For an RBF kernel and dense features the entries of K are computed from differences,

    s_ij = |x_i - x_j|^2,    p_ij = gamma log2(e) s_ij,    K_ij = 2^-p_ij

and their bound in the same loop. With u = 2^-53, eta = 2^-1074 and d features:

    computed p  =  p (1 + a) + b,    |a| <= gamma_{d+6},    |b| <= (1.5 gamma d + 1) eta
    computed K  =  2^-(computed p) (1 + c),    |c| <= 3 u      (`power_of_two`)
    |computed K - K|  <=  K (1.04 gamma_{d+6} p log 2 + 3.1 u + |b|)   at the computed K, p

a has d + 6 roundings: of a difference, twice, of its square, of at most d sums, of log 2,
of gamma / log 2, and of its product with s. If p > 1021, both values of K are below
4.6e-308. A product v_j K_ij is rounded once, and at most ROWS times in the sum of ROWS
products. Knuth's TwoSum adds these sums without error: what each addition loses is
summed, too. The result is rounded once more; the error of the sum of losses is of second
order, (n u / ROWS)^2. In total, for n <= 1e8 coefficients,

    |computed f_i - f_i|  <=  u sum_j |v_j| K_ij 1.05 ((d + 6) p_ij log 2 + 3 + ROWS + 3)
                              + |v|_1 (5e-308 + 4 gamma d eta) + 4 n eta

whether or not a product is rounded before it is added, and in any order of the features.

References
----------
N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), sections 2.2 and 3.1.
T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26
(2005), 1955-1988, proposition 4.5.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from equimargin.formulations.kernels.kernel import RBF, Kernel
from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.formulations.numeric.jit import NotCompiled, contracted
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    UNIT,
    gamma_n,
    max_or_inf,
    round_toward,
)
from equimargin.formulations.numeric.rows_by_panel import ROWS, distances_by_panel
from equimargin.formulations.numeric.vector_loops import (
    LOWEST_POWER,
    POWER_UNITS,
    power_of_two,
)

LOG_2 = math.log(2.0)
GAMMAS = (1e-150, 1e150)
"""Smallest and largest gamma whose product with log2(e) and s is bounded as above."""
PANEL_COLUMNS = 64
"""Points whose f is computed at a time; their sums stay in the first-level cache."""
COMPILED_ENTRIES = 1_000_000
"""Minimum number of entries of K in a product of the compiled loop.

Fewer entries take less time in numpy than loading the loop.
"""


class Multiplier(Protocol):
    """Function that computes products with K and their bounds, on a processor or a device."""

    def __call__(
        self, kernel: Kernel, X: Features, support: Index, V: Array
    ) -> tuple[Array, Array] | None:
        """Return f = k(X, X[support]) v, and a bound on its error, for every row v of V.

        Parameters
        ----------
        kernel : Kernel
            Kernel k.
        X : ndarray or sparse array of shape (m, d)
            Points.
        support : ndarray of shape (n,)
            Indices of the points with a coefficient.
        V : ndarray of shape (c, n)
            Coefficients.

        Returns
        -------
        F, errors : ndarray of shape (c, m), or None
            Products and their error bounds, infinite where none is known; None for
            products that the multiplier does not compute.
        """


def multiply(kernel: Kernel, X: Features, support: Index, V: Array) -> tuple[Array, Array] | None:
    """Multiply on one processor, by a compiled loop.

    Parameters
    ----------
    kernel, X, support, V
        As in `Multiplier`.

    Returns
    -------
    F, errors : ndarray of shape (c, m), or None
        Products and their error bounds; None unless the kernel is RBF, the features are
        dense float64, squared distances cannot overflow, and the product is large.
    """
    (m, d), (c, n) = X.shape, V.shape
    if (
        not isinstance(kernel, RBF)
        or is_sparse(X)
        or X.dtype != np.float64
        or not GAMMAS[0] <= kernel.gamma <= GAMMAS[1]
        or m * n < COMPILED_ENTRIES
    ):
        return None
    X, V = np.ascontiguousarray(X), np.ascontiguousarray(V)
    largest = max_or_inf(np.abs(X))
    # Squared distances are at most 4 d largest^2; without features there is no loop.
    if not 0 < 5.0 * d * largest * largest < np.inf:
        return None
    F, sizes = np.empty((c, m)), np.empty((c, m))
    slope, constant = 1.05 * LOG_2 * (d + 6), 1.05 * (POWER_UNITS + ROWS + 3)
    try:
        _products(X, X[support], V, kernel.gamma / LOG_2, slope, constant, F, sizes)
    # The time limit of a comparison leaves no time to compile the loop.
    except NotCompiled:
        return None
    underflow = np.abs(V).sum(axis=1, keepdims=True) * (5e-308 + 4 * kernel.gamma * d * SMALLEST)
    return F, round_toward(UNIT * (1 + gamma_n(n + 16)) * sizes + (underflow + 4 * n * SMALLEST), 1)


@contracted
def _products(
    X: Array,
    Z: Array,
    V: Array,
    rate: float,
    slope: float,
    constant: float,
    F: Array,
    sizes: Array,
) -> None:
    """Write K v to F, and sum_j |v_j| K_ij (slope p_ij + constant) to sizes; p = rate s."""
    (m, d), (c, n) = X.shape, V.shape
    rows = np.arange(n)
    panel, part = np.empty((d, PANEL_COLUMNS)), np.empty(PANEL_COLUMNS)
    squares, values, weights = (
        np.empty((ROWS, PANEL_COLUMNS)),
        np.empty((ROWS, PANEL_COLUMNS)),
        np.empty((ROWS, PANEL_COLUMNS)),
    )
    totals, losses, own = (
        np.empty((c, PANEL_COLUMNS)),
        np.empty((c, PANEL_COLUMNS)),
        np.empty((c, PANEL_COLUMNS)),
    )
    for start in range(0, m, PANEL_COLUMNS):
        width = min(PANEL_COLUMNS, m - start)
        for k in range(PANEL_COLUMNS):
            # The last point fills an incomplete panel.
            x = X[start + min(k, width - 1)]
            for t in range(d):
                panel[t, k] = x[t]
        totals[:], losses[:], own[:] = 0.0, 0.0, 0.0
        for first in range(0, n, ROWS):
            count = min(ROWS, n - first)
            distances_by_panel(Z, rows, first, panel, squares)
            for j in range(count):
                _entries(squares[j], rate, slope, constant, values[j], weights[j])
            for i in range(c):
                total, loss, size = totals[i], losses[i], own[i]
                for k in range(PANEL_COLUMNS):
                    part[k] = 0.0
                for j in range(count):
                    v, value, weight = V[i, first + j], values[j], weights[j]
                    for k in range(PANEL_COLUMNS):
                        part[k] += v * value[k]
                        size[k] += abs(v) * weight[k]
                for k in range(PANEL_COLUMNS):
                    # TwoSum: total + part is the new total plus the loss, exactly.
                    new = total[k] + part[k]
                    added = new - total[k]
                    loss[k] += (total[k] - (new - added)) + (part[k] - added)
                    total[k] = new
        for i in range(c):
            for k in range(width):
                F[i, start + k] = totals[i, k] + losses[i, k]
                sizes[i, start + k] = own[i, k]


@contracted
def _entries(
    square: Array, rate: float, slope: float, constant: float, value: Array, weight: Array
) -> None:
    """Write entries of K to value, and their products with (slope p + constant) to weight."""
    for k in range(PANEL_COLUMNS):
        power = -rate * square[k]
        power = power if power > LOWEST_POWER else LOWEST_POWER
        value[k] = power_of_two(power)
        weight[k] = value[k] * (constant - slope * power)
