"""Products K v with a proven bound on their errors, on a card.

Every operation is one of IEEE 754: differences, fused multiply-adds, products and sums
of float64, each rounded to nearest, and an exponential made of them (`exp_of_minus` in
`product.cu`). NVRTC fuses nothing else (`--fmad=false`), and tensor cores take no part.
With u = 2^-53 and d features:

    s    =  sum_t (x_t - z_t)^2    relative error gamma_{d+2}: of a difference, twice,
                                   and of at most d sums
    e    =  exp(-gamma s)          relative error 4 u; that of the exponent, gamma_{d+3},
                                   adds t exp(-t) gamma_{d+3} <= gamma_{d+3} / e
    f_i  =  sum_j v_j e_ij         error gamma_k |v|_1 for at most k additions in turn,
                                   in whatever order

    |computed f_i - f_i|  <=  |v|_1 (.37 gamma_{d+4} + 4.1 u + gamma_{k+1} + 1e-300) + 4 n eta

for n coefficients and eta = 2^-1074: one number for all points. Underflow of (x_t -
z_t)^2, times gamma <= 1e150, is below the slack of .37 and d + 4.

References
----------
NVIDIA, Floating Point and IEEE 754 Compliance for NVIDIA GPUs, sections 2 and 4.
N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.kernel import RBF, Kernel
from equimargin.formulations.kernels.multiplier import GAMMAS
from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    UNIT,
    gamma_n,
    max_or_inf,
    round_toward,
)
from equimargin.solvers.device.card import Card
from equimargin.solvers.device.products import (
    POINTS_PER_THREAD,
    int32,
    macros,
    split_rows,
)

OPTIONS_OF_PROOFS = ("--fmad=false",)
"""Options of NVRTC: no multiplication is fused with an addition."""
PROVED_JOIN = "fma((x) - (z), (x) - (z), s)"
"""JOIN of `product.cu`: each feature has three roundings."""


@dataclass(frozen=True)
class CardMultiplier:
    """Multiplier of the Gram matrix on a card.

    Where the card is missing or has too little memory, products are computed on the
    processor: a proof depends on no device.

    Parameters
    ----------
    device : str
        Name of the device.
    """

    device: str

    def __call__(
        self, kernel: Kernel, X: Features, support: Index, V: Array
    ) -> tuple[Array, Array] | None:
        """Return k(X, X[support]) v and a bound on its error, for every row v of V.

        Parameters
        ----------
        kernel, X, support, V
            As in `formulations.kernels.multiplier.Multiplier`.
        """
        if not isinstance(kernel, RBF) or not _is_bounded(kernel, X) or not len(support):
            return None
        try:
            card = Card(self.device)
            with card.used:
                return proved_products(card, kernel, X, support, V)
        except (ValueError, MemoryError):
            return None


def _is_bounded(kernel: RBF, X: Features) -> bool:
    """Return True if the bound of this module holds for the points."""
    if is_sparse(X) or X.dtype != np.float64:
        return False
    # Squared distances are at most 4 d largest^2, and must not overflow.
    size = 5.0 * X.shape[1] * max_or_inf(np.abs(X)) ** 2
    return GAMMAS[0] <= kernel.gamma <= GAMMAS[1] and 0 < size < np.inf


def proved_products(
    card: Card, kernel: RBF, X: Array, support: Index, V: Array
) -> tuple[Array, Array]:
    """Return k(X, X[support]) v and a bound on its error, for every row v of V.

    Parameters
    ----------
    card : Card
        Card.
    kernel : RBF
        Kernel.
    X : ndarray of shape (m, d)
        Points.
    support : ndarray of shape (n,)
        Indices of the points with a coefficient.
    V : ndarray of shape (c, n)
        Coefficients.

    Returns
    -------
    F, errors : ndarray of shape (c, m)
        Products and their error bounds.
    """
    (m, d), (c, n) = X.shape, V.shape
    per_thread = POINTS_PER_THREAD[np.dtype(np.float64)]
    side = 16 * per_thread
    grid, per = split_rows(m, n, side)
    product = card.kernel("product", "product", proof_macros(kernel), OPTIONS_OF_PROOFS)
    points = card.put(np.ascontiguousarray(X))
    Z, F = points[card.put(support)], np.empty((c, m))
    for k in range(c):
        out = card.cupy.empty((grid[1], m))
        arguments = (points, Z, card.put(np.ascontiguousarray(V[k])), out)
        product(grid, (256,), (*arguments, *int32(m, n, d, per)))
        F[k] = card.get(out.sum(axis=0))
    # Additions in turn: of a thread's terms, of its tiles, of the threads, of the parts.
    depth = per_thread + per // side + 16 + grid[1]
    sizes = np.abs(V).sum(axis=1, keepdims=True)
    return F, np.broadcast_to(error_bound(d, sizes, depth, n), F.shape)


def proof_macros(kernel: RBF) -> dict[str, object]:
    """Return the macros of `product.cu` for products with a proven bound.

    Parameters
    ----------
    kernel : RBF
        Kernel.
    """
    return macros(np.float64, PROVED_JOIN, f"exp_of_minus({float(kernel.gamma)!r} * (s))")


def error_bound(d: int, sizes: Array, depth: int, n: int) -> Array:
    """Return the error bound of this module.

    Parameters
    ----------
    d : int
        Number of features.
    sizes : ndarray
        |v|_1, computed in float64.
    depth : int
        Maximum number of additions in turn.
    n : int
        Number of coefficients.
    """
    rate = 0.37 * gamma_n(d + 4) + 4.1 * UNIT + gamma_n(depth + 1) + 1e-300
    return np.asarray(round_toward((1 + gamma_n(n + 16)) * sizes * rate + 4 * n * SMALLEST, 1))
