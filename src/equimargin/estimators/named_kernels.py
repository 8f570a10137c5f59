"""Kernels by scikit-learn's names and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations import Kernel, linear, polynomial, precomputed, rbf, sigmoid
from equimargin.formulations.numeric.arguments import choice, shown
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse
from equimargin.own.kernels import KERNELS, made, parameters_of

NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def named_kernel(kernel: str | Kernel, X: Features, v: Array | None, gamma: str | float, degree: int, coef0: float) -> Kernel:
    """The kernel of that name, or the one that is given.

        linear  x.z        poly  (gamma x.z + coef0)^degree        rbf  exp(-gamma |x - z|^2)        sigmoid  tanh(gamma x.z + coef0)

    Parameters
    ----------
    kernel : a name, also of a kernel that `equimargin.own.kernel` entered, or what `linear`, `polynomial`, `rbf`, `sigmoid` or
        `precomputed` of `equimargin.formulations` returns, which brings its own parameters.
    X : (m, d) features.  v : (m,) weights of the rows; None are ones.  degree, coef0 : as above.
    gamma : a positive number, "scale", 1 / (d var), or "auto", 1 / d; var is the variance of all entries of X, with the weights of
        their rows; gamma is 1 where it is 0.

    Raises
    ------
    ValueError : an unknown name, a parameter that makes no kernel.

    Source: scikit-learn's `SVC`, whose variance leaves weights out.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str) or kernel not in (*NAMES, *KERNELS):
        names = ", ".join(map(repr, (*NAMES, *KERNELS)))
        raise ValueError(f"kernel must be {names} or a kernel of equimargin.formulations, not {shown(kernel)}")
    if kernel == "linear":
        return linear()
    if kernel == "precomputed":
        return precomputed()
    width: Any = _scaled(X, v, gamma) if isinstance(gamma, str) else gamma
    if kernel == "rbf":
        return rbf(width)
    if kernel in KERNELS:
        given = {"gamma": width, "degree": degree, "coef0": coef0}
        return made(kernel, {name: given[name] for name in parameters_of(kernel)})
    return polynomial(degree, width, coef0) if kernel == "poly" else sigmoid(width, coef0)


def _scaled(X: Features, v: Array | None, gamma: str) -> float:
    """The number that "scale" or "auto" stands for."""
    if choice(gamma, "gamma", ("scale", "auto")) == "auto":
        return 1.0 / int(X.shape[1])
    mean = np.average(_row_sums(X), weights=v) / X.shape[1]
    if is_sparse(X):
        spread = np.average(_row_sums(X.multiply(X)), weights=v) - X.shape[1] * mean**2
    else:
        spread = np.average(_row_sums((X - mean) ** 2), weights=v)
    return 1.0 / float(spread) if spread > 0 else 1.0


def _row_sums(X: Features) -> Array:
    return np.asarray(X.sum(axis=1)).ravel()
