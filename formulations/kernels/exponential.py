"""The exponential kernel exp(-gamma |x - z|)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.kernel import (
    Kernel,
    set_number,
    squared_distances,
    squared_norms,
)
from equimargin.formulations.kernels.registry import kernel
from equimargin.formulations.numeric.arrays import Array, Features, dense
from equimargin.formulations.numeric.rounding import SMALLEST, find_unit, gamma_n


@kernel("exponential")
@dataclass(frozen=True)
class Exponential(Kernel):
    """k(x, z) = exp(-gamma |x - z|), as document K prints it, section 5; the norm itself, not its square.

    The square is summed from the differences x - z, also of sparse features: an expansion would
    leave half of the digits to its root where points are near.

    Parameters
    ----------
    gamma : float
        Positive and finite.

    Raises
    ------
    ValueError
        If gamma is no such number.
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        set_number(self, "gamma", "positive and finite", lambda v: 0 < v < np.inf)

    @np.errstate(over="ignore")  # a distance beyond float64 is that of an entry of 0
    def block(self, X: Features, Z: Features) -> Array:
        K = np.sqrt(squared_distances(dense(X), dense(Z)))
        K *= -self.gamma
        return np.asarray(np.exp(K, out=K))

    def diagonal(self, X: Features) -> Array:
        return np.ones(X.shape[0])

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        """Bound the rounding of |x - z| and of its exponential.

        The square is off by gamma_{d+4} of itself and by 2 d eta for underflow, so that its root
        is off by gamma_{d+4} of itself and by sqrt(2 d eta), and gamma |x - z| = -log k by
        gamma_{d+8} of itself and by gamma sqrt(2 d eta). libm's exp is off by 4 ulp, which are
        4 eta below 2^-1022.
        """
        unit, d = find_unit(K), X.shape[1]
        largest = [float(squared_norms(points).max(initial=0.0)) for points in (X, Z)]
        if (
            not 4 * sum(largest) < np.inf
        ):  # a square may have overflowed: all that is known is 0 <= k <= 1
            return np.full(X.shape[0], float(v.sum()) * 1.01)
        exponents = -np.log(K, where=K > 0, out=np.zeros_like(K))
        off = (
            1.02 * gamma_n(d + 8, unit) * np.maximum(exponents, 0.0)
            + 10 * unit
            + 2 * self.gamma * np.sqrt(d * SMALLEST)
        )
        bound: Array = np.minimum(K * off, 1.01) @ v + (16 * v.sum() + len(v)) * SMALLEST
        return bound

    def diagonal_bound(self, X: Features) -> Array:
        return np.ones(X.shape[0])


def exponential(gamma: float = 1.0) -> Exponential:
    """Return the kernel exp(-gamma |x - z|).

    Raises
    ------
    ValueError
        If gamma is not positive and finite.
    """
    return Exponential(gamma)
