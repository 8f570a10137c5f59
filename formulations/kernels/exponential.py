"""Exponential kernel exp(-gamma |x - z|)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.kernels.kernel import (
    DistanceKernel,
    bound_exponentials,
    squared_distances,
    squared_norms,
)
from equimargin.formulations.kernels.registry import kernel
from equimargin.formulations.numeric.arrays import Array, Features, dense
from equimargin.formulations.numeric.rounding import SMALLEST


@kernel("exponential")
@dataclass(frozen=True)
class Exponential(DistanceKernel):
    """k(x, z) = exp(-gamma |x - z|), with the norm itself, not its square.

    It is used by Kuo, Lee and Lin (2014), section 5. |x - z|^2 is summed from
    differences, also for sparse features: the root of |x|^2 - 2 x.z + |z|^2 would lose
    half of its digits where points are close.

    Parameters
    ----------
    gamma : float
        Positive and finite.

    Raises
    ------
    ValueError
        If gamma is no such number.
    """

    # A distance that overflows gives an entry of 0.
    @np.errstate(over="ignore")
    def block(self, X: Features, Z: Features) -> Array:
        K = np.sqrt(squared_distances(dense(X), dense(Z)))
        K *= -self.gamma
        return np.asarray(np.exp(K, out=K))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        # The relative error of the square is gamma_{d+4}, and underflow adds 2 d eta. Its root
        # therefore has a relative error of gamma_{d+4} plus sqrt(2 d eta), and gamma |x - z| =
        # -log k one of gamma_{d+8} plus gamma sqrt(2 d eta).
        d = X.shape[1]
        largest = [float(squared_norms(points).max(initial=0.0)) for points in (X, Z)]
        # A square may have overflowed: only 0 <= k <= 1 is known.
        if not 4 * sum(largest) < np.inf:
            return np.full(X.shape[0], float(v.sum()) * 1.01)
        return bound_exponentials(K, d + 8, 2 * self.gamma * np.sqrt(d * SMALLEST), v)


def exponential(gamma: float = 1.0) -> Exponential:
    """Return the kernel exp(-gamma |x - z|).

    Parameters
    ----------
    gamma : float
        Inverse length scale.

    Returns
    -------
    Exponential
        Kernel.

    Raises
    ------
    ValueError
        If gamma is not positive and finite.
    """
    return Exponential(gamma)
