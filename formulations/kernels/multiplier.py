"""Products K v with a proven bound on their errors, for a K that is not stored.

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
order. In total, for n coefficients,

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
    """Function that computes K v with a proven bound, on a processor or a device."""

    def __call__(
        self, kernel: Kernel, X: Features, support: Index, v: Array
    ) -> tuple[Array, Array] | None:
        """Return f = k(X, X[support]) v and a bound on its error.

        Parameters
        ----------
        kernel : Kernel
            Kernel k.
        X : ndarray or sparse array of shape (m, d)
            Points.
        support : ndarray of shape (n,)
            Indices of the points with a coefficient.
        v : ndarray of shape (n,)
            Coefficients.

        Returns
        -------
        f, error : ndarray of shape (m,), or None
            Product and its error bound, infinite where none is known; None for products
            that the multiplier does not compute.
        """


def multiply(kernel: Kernel, X: Features, support: Index, v: Array) -> tuple[Array, Array] | None:
    """Return k(X, X[support]) v and its error bound, by a compiled loop on one processor.

    Parameters
    ----------
    kernel : Kernel
        Kernel k.
    X : ndarray or sparse array of shape (m, d)
        Points.
    support : ndarray of shape (n,)
        Indices of the points with a coefficient.
    v : ndarray of shape (n,)
        Coefficients.

    Returns
    -------
    f, error : ndarray of shape (m,), or None
        Product and its error bound; None unless the kernel is RBF, the features are
        dense float64, squared distances cannot overflow, and the product is large.
    """
    m, n, d = X.shape[0], len(support), X.shape[1]
    if (
        not isinstance(kernel, RBF)
        or is_sparse(X)
        or X.dtype != np.float64
        or not GAMMAS[0] <= kernel.gamma <= GAMMAS[1]
        or m * n < COMPILED_ENTRIES
    ):
        return None
    X = np.ascontiguousarray(X)
    largest = max_or_inf(np.abs(X))
    # Squared distances are at most 4 d largest^2; without features there is no loop.
    if not 0 < 5.0 * d * largest * largest < np.inf:
        return None
    f, error = np.empty(m), np.empty(m)
    slope, constant = 1.05 * LOG_2 * (d + 6), 1.05 * (POWER_UNITS + ROWS + 3)
    try:
        _products(X, X[support], v, kernel.gamma / LOG_2, slope, constant, f, error)
    # The time limit of a comparison leaves no time to compile the loop.
    except NotCompiled:
        return None
    underflow = float(np.abs(v).sum()) * (5e-308 + 4 * kernel.gamma * d * SMALLEST)
    return f, round_toward(UNIT * (1 + gamma_n(n + 16)) * error + (underflow + 4 * n * SMALLEST), 1)


@contracted
def _products(
    X: Array,
    Z: Array,
    v: Array,
    rate: float,
    slope: float,
    constant: float,
    f: Array,
    error: Array,
) -> None:
    """Write K v to f, and sum_j |v_j| K_ij (slope p_ij + constant) to error; p = rate s."""
    (m, d), n = X.shape, Z.shape[0]
    rows = np.arange(n)
    panel, squares = np.empty((d, PANEL_COLUMNS)), np.empty((ROWS, PANEL_COLUMNS))
    part, total, lost, size = (
        np.empty(PANEL_COLUMNS),
        np.empty(PANEL_COLUMNS),
        np.empty(PANEL_COLUMNS),
        np.empty(PANEL_COLUMNS),
    )
    for start in range(0, m, PANEL_COLUMNS):
        width = min(PANEL_COLUMNS, m - start)
        for k in range(PANEL_COLUMNS):
            # The last point fills an incomplete panel.
            x = X[start + min(k, width - 1)]
            for t in range(d):
                panel[t, k] = x[t]
            total[k] = lost[k] = size[k] = 0.0
        for r in range(0, n, ROWS):
            distances_by_panel(Z, rows, r, panel, squares)
            for k in range(PANEL_COLUMNS):
                part[k] = 0.0
            for j in range(min(ROWS, n - r)):
                factor, absolute, square = v[r + j], abs(v[r + j]), squares[j]
                for k in range(PANEL_COLUMNS):
                    power = -rate * square[k]
                    power = power if power > LOWEST_POWER else LOWEST_POWER
                    value = power_of_two(power)
                    part[k] += factor * value
                    size[k] += absolute * (value * (constant - slope * power))
            for k in range(PANEL_COLUMNS):
                # TwoSum: total + part = new + loss without error.
                new = total[k] + part[k]
                added = new - total[k]
                lost[k] += (total[k] - (new - added)) + (part[k] - added)
                total[k] = new
        for k in range(width):
            f[start + k], error[start + k] = total[k] + lost[k], size[k]
