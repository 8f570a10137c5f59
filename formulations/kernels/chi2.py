"""Chi-squared kernel exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)) of histograms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from equimargin.formulations.kernels.additive import sum_over_features, sums_are_finite
from equimargin.formulations.kernels.kernel import DistanceKernel, bound_exponentials
from equimargin.formulations.kernels.registry import kernel
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse
from equimargin.formulations.numeric.rounding import SMALLEST


@kernel("chi2")
@dataclass(frozen=True)
class Chi2(DistanceKernel):
    """k(x, z) = exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), for x, z >= 0.

    A term with x_j = z_j = 0 is 0. Negative features are refused. By name, gamma is 1 by
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

    sklearn_name = "chi2"
    sklearn_defaults: ClassVar[Mapping[str, Any]] = {"gamma": 1.0}
    nonnegative = True

    # A distance that overflows gives an entry of 0.
    @np.errstate(over="ignore")
    def block(self, X: Features, Z: Features) -> Array:
        check_nonnegative(X)
        check_nonnegative(Z)
        K = sum_over_features(X, Z, chi2=True)
        K *= -self.gamma
        return np.asarray(np.exp(K, out=K))

    def rounding(self, X: Features, Z: Features, K: Array, v: Array) -> Array:
        # The distance has the relative error gamma_{d+4}, plus d eta (`additive.py`); the
        # product with gamma adds one rounding and eta.
        if not sums_are_finite(X, Z):
            return np.full(X.shape[0], float(v.sum()) * 1.01)
        d = X.shape[1]
        return bound_exponentials(K, d + 5, 2 * self.gamma * d * SMALLEST, v)


def chi2(gamma: float = 1.0) -> Chi2:
    """Return the kernel exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), for x, z >= 0.

    Parameters
    ----------
    gamma : float
        Inverse scale.

    Returns
    -------
    Chi2
        Kernel.

    Raises
    ------
    ValueError
        If gamma is not positive and finite.

    References
    ----------
    J. Zhang, M. Marszalek, S. Lazebnik, C. Schmid, Local features and kernels for
    classification of texture and object categories, IJCV 73 (2007), 213-238.
    """
    return Chi2(gamma)


def check_nonnegative(X: Features) -> None:
    """Raise a ValueError if a feature is negative.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Points.

    Raises
    ------
    ValueError
        If a feature is negative; the message states the smallest.
    """
    least = float((X.data if is_sparse(X) else X).min(initial=0.0))
    if least < 0:
        # The first words are those that scikit-learn's `check_estimator` expects.
        raise ValueError(
            f"Negative values in data, which a chi2 kernel does not have: X holds {least:g}; "
            f"scale each feature to [0, 1], or choose another kernel, such as laplacian"
        )
