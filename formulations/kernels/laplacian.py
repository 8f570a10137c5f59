"""Laplacian kernel exp(-gamma |x - z|_1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from equimargin.formulations.kernels.additive import sum_over_features, sums_are_finite
from equimargin.formulations.kernels.kernel import DistanceKernel, bound_exponentials
from equimargin.formulations.kernels.registry import kernel
from equimargin.formulations.numeric.arrays import Array, Features


@kernel("laplacian")
@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    """k(x, z) = exp(-gamma sum_j |x_j - z_j|).

    It is the product of exponential kernels of the features. By name, gamma is 1 / d by
    default, as in scikit-learn, and "scale" in estimators.

    Parameters
    ----------
    gamma : float
        Positive and finite.

    Raises
    ------
    ValueError
        If gamma is no such number.
    """

    sklearn_name = "laplacian"
    sklearn_defaults: ClassVar[Mapping[str, Any]] = {"gamma": "auto"}

    # A distance that overflows gives an entry of 0.
    @np.errstate(over="ignore")
    def block(self, X: Features, Z: Features) -> Array:
        K = sum_over_features(X, Z, chi2=False)
        K *= -self.gamma
        return np.asarray(np.exp(K, out=K))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        # Every difference has one rounding, and none by underflow; their sum has d - 1 more, and
        # the product with gamma one more and eta. The exponent thus has the relative error
        # gamma_{d+1}, plus eta.
        if not sums_are_finite(X, Z):
            return np.full(X.shape[0], float(v.sum()) * 1.01)
        return bound_exponentials(K, X.shape[1] + 1, 0.0, v)


def laplacian(gamma: float = 1.0) -> Laplacian:
    """Return the kernel exp(-gamma |x - z|_1).

    Parameters
    ----------
    gamma : float
        Inverse length scale.

    Returns
    -------
    Laplacian
        Kernel.

    Raises
    ------
    ValueError
        If gamma is not positive and finite.
    """
    return Laplacian(gamma)
