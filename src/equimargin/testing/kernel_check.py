"""Conformance check of kernels: rounding bounds against extended precision."""

from __future__ import annotations

import numpy as np

from equimargin.formulations import Kernel
from equimargin.formulations.numeric.arrays import Array
from equimargin.testing.conforming import conforming, require

SCALES = (1e-3, 1.0, 30.0)
"""Sizes of the features of the points at which a kernel is checked."""


@conforming()
def check_kernel(kernel: Kernel) -> None:
    """Check a kernel's values and rounding bounds at random points of three sizes.

    K must be symmetric, and positive semidefinite if the kernel declares that; its
    diagonal must equal `diagonal` and be at most `diagonal_bound`. With values in
    extended precision in place of exact ones,

        |K_ij - k(x_i, z_j)| <= E_ij,      E the bounds that `rounding` returns.

    Parameters
    ----------
    kernel : Kernel
        Kernel of features, whose `block` computes in the precision of its arguments.

    Raises
    ------
    ValueError
        If the kernel is given by its matrix, or the platform has no extended precision.
    AssertionError
        If the check fails; the message describes the fault.
    """
    if kernel.given:
        raise ValueError(f"the kernel {kernel!r} has no values to be computed")
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        raise ValueError(
            "this platform lacks extended precision, which the check of a kernel needs"
        )
    for seed, size in enumerate(SCALES):
        points = np.random.default_rng(seed).normal(size=(40, 3))
        _check_at(
            kernel,
            size * (np.abs(points) if kernel.nonnegative else points),
            f"{kernel!r} at points of size {size:g}",
        )


def _check_at(kernel: Kernel, X: Array, where: str) -> None:
    K, m = kernel.block(X, X), len(X)
    require(
        K.shape == (m, m) and bool(np.isfinite(K).all()),
        f"{where}: block must return finite values, ({m}, {m})",
    )
    wide = X.astype(np.longdouble)
    exact = kernel.block(wide, wide)
    require(
        exact.dtype == np.longdouble,
        f"{where}: block must compute in the precision of the points, and returns {exact.dtype}",
    )
    bounds = np.column_stack([kernel.rounding(X, X, K, unit) for unit in np.eye(m)])
    error = np.abs(K - exact)
    i, j = np.unravel_index(int(np.argmax(error - bounds)), error.shape)
    message = (
        f"the value of points {i} and {j} of `rng.normal` has the error "
        f"{float(error[i, j]):.2e}, and `rounding` returns {float(bounds[i, j]):.2e}"
    )
    require(bool((error <= bounds).all()), f"{where}: {message}")
    slack = 2 * float(bounds.max())
    require(bool(np.abs(K - K.T).max() <= slack), f"{where}: block is not symmetric")
    require(
        bool(np.abs(kernel.diagonal(X) - np.diag(K)).max() <= slack),
        f"{where}: diagonal is not that of block",
    )
    require(
        bool((np.diag(K) <= kernel.diagonal_bound(X) + slack).all()),
        f"{where}: diagonal_bound is below the diagonal",
    )
    least = float(np.linalg.eigvalsh((K + K.T) / 2)[0])
    definite = not kernel.positive_semidefinite or least >= -1e-12 * m * float(np.abs(K).max())
    require(
        definite,
        f"{where}: it is declared positive semidefinite, and its matrix has the "
        f"eigenvalue {least:.2e}",
    )
