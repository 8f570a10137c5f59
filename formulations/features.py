"""Features Z (m, q) with K = Z Z', where the kernel has them as they are: X, or X with a column of ones that is never stored.

f(x) = w.z, and for a column of ones w ends with the constant of f.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels import Array, Features, Intercept, Kernel, Linear

CHUNK = 2**16
"""Entries gathered at a time for a Gram matrix: few enough to stay in the cache."""


class Explicit:
    """X (m, d), or X and a column of ones, as an operator.

    Parameters
    ----------
    X : (m, d) features, dense or CSR.  constant : whether the column of ones belongs to them.
    """

    def __init__(self, X: Features, constant: bool) -> None:
        self.X, self.constant = X, constant
        self.m, self.d = int(X.shape[0]), int(X.shape[1])
        self.q = self.d + constant
        self.sparse = hasattr(X, "tocsr")

    def __matmul__(self, w: Array) -> Array:
        """Z w, (m,), for w (q,)."""
        f = np.asarray(self.X @ w[: self.d])
        if self.constant:
            f += w[self.d]
        return f

    def rdot(self, beta: Array) -> Array:
        """Z' beta, (q,), for beta (m,)."""
        w = np.empty(self.q)
        w[: self.d] = self.X.T @ beta
        w[self.d :] = beta.sum()
        return w

    def __abs__(self) -> Explicit:
        return Explicit(abs(self.X), self.constant)

    def rows(self, index: NDArray[np.int64]) -> Any:
        """Z[index], (k, q), dense or CSR as X is."""
        X = self.X[index]
        if not self.constant:
            return X
        if not self.sparse:
            return np.column_stack([X, np.ones(len(index))])
        from scipy import sparse

        return sparse.hstack([X, np.ones((len(index), 1))], format="csr")

    def gram(self, index: NDArray[np.int64], D: Array) -> Array:
        """Z[index]' diag(D) Z[index], (q, q), for D > 0 (k,): as B' B with B = D^1/2 Z, which BLAS knows to be symmetric."""
        unit = float(D[0]) if len(D) and (D == D[0]).all() else None
        roots = np.sqrt(D) if unit is None else np.ones(len(D))
        if self.sparse:
            B = self.rows(index).multiply(roots[:, None]).tocsr()
            H = np.asarray((B.T @ B).toarray())
        else:
            H = np.zeros((self.q, self.q))
            size = min(CHUNK // self.d + 1, len(index))
            buffer = np.empty((size, self.d))
            for start in range(0, len(index), max(size, 1)):
                root = roots[start : start + size]
                B = np.take(self.X, index[start : start + size], axis=0, out=buffer[: len(root)], mode="clip")
                if unit is None:
                    B *= root[:, None]
                H[: self.d, : self.d] += B.T @ B
                H[: self.d, self.d :] += (root @ B)[:, None]
            H[self.d :, : self.d] = H[: self.d, self.d :].T
            H[self.d :, self.d :] = roots @ roots
        return H if unit is None else unit * H

    @property
    def stored(self) -> Features:
        """Z, (m, q), with its column of ones."""
        return self.rows(np.arange(self.m)) if self.constant else self.X


def explicit(kernel: Kernel, X: Features) -> Explicit | None:
    """The features of a linear kernel, with or without an intercept; None for any other kernel.

    Parameters
    ----------
    kernel : k.  X : (m, d) features.
    """
    if isinstance(kernel, Linear):
        return Explicit(X, False)
    if isinstance(kernel, Intercept) and isinstance(kernel.kernel, Linear):
        return Explicit(X, True)
    return None
