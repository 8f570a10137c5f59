"""Gram matrix K = k(X, X) as an operator: stored if small, recomputed blockwise if large."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.kernel import Kernel, Linear
from equimargin.formulations.kernels.multiplier import Multiplier, multiply
from equimargin.formulations.numeric.arrays import Array, Features, is_sparse
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    find_unit,
    gamma_n,
    multiply_with_depth,
    round_toward,
)

STORED_ROWS = 6000
"""Rows of the largest Gram matrix that is stored in memory, 288 MB.

A larger one is recomputed blockwise.
"""
TILE_ROWS = 512
"""Rows of a block of a Gram matrix that is not stored."""
EXTENDED_WORK = 20_000_000
"""Maximum work m^2 d, in multiplications, of a Gram matrix in extended precision.

A smaller one is computed in extended precision if a bound needs it.
"""


class Gram:
    """K = k(X, X) + shift I as an operator, stored up to STORED_ROWS rows.

    A larger one is recomputed by blocks of rows.

    Parameters
    ----------
    kernel : Kernel
        Kernel k.
    X : ndarray or sparse array of shape (m, d)
        Features.
    shift : float
        Diagonal shift, part of the problem (precomputed kernels only).
    multiplier : Multiplier
        Computes `product` while K is not stored, unless it returns None.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Features,
        shift: float = 0.0,
        multiplier: Multiplier = multiply,
    ) -> None:
        self.kernel, self.X, self.shift, self.multiplier = kernel, X, shift, multiplier
        self.m = int(X.shape[0])
        self._prepared: list[tuple[Array, Array, Array]] = []

    @cached_property
    def dense(self) -> Array:
        """K, shape (m, m), symmetric; about 8 m^2 bytes."""
        K = self.kernel.block(self.X, self.X)
        if K is self.X:
            if not self.shift:
                return np.asarray(K)
            K = K.copy()
        K[np.diag_indices(self.m)] = self.diagonal
        return K

    @cached_property
    def diagonal(self) -> Array:
        """K_ii, shape (m,)."""
        return self.kernel.diagonal(self.X) + self.shift

    @cached_property
    def mean_diagonal(self) -> float:
        """Mean |K_ii|, or 1 if all are 0.

        Solvers divide K by it, so that their tolerances do not depend on its scale.
        """
        return float(np.abs(self.diagonal).mean()) or 1.0

    @cached_property
    def diagonal_bound(self) -> float:
        """Upper bound of all |K_ii|."""
        return float(
            round_toward(self.kernel.diagonal_bound(self.X).max(initial=0.0) + self.shift, 1)
        )

    def part(self, points: NDArray[np.intp]) -> Gram:
        """Return K at some of the points.

        Parameters
        ----------
        points : ndarray of shape (n,)
            Indices of the points.

        Returns
        -------
        Gram
            Operator of shape (n, n).
        """
        X = self.X[np.ix_(points, points)] if self.kernel.given else self.X[points]
        return Gram(self.kernel, X, self.shift, self.multiplier)

    @cached_property
    def extended(self) -> Gram | None:
        """K in the platform's extended precision.

        None if there is no extended precision, or if it would be too slow.
        """
        sparse = is_sparse(self.X)
        if (
            sparse
            or self.m**2 * self.X.shape[1] > EXTENDED_WORK
            or not np.finfo(np.longdouble).eps < np.finfo(np.float64).eps
        ):
            return None
        return Gram(self.kernel, np.asarray(self.X, dtype=np.longdouble), self.shift)

    @cached_property
    def first_equal(self) -> NDArray[np.intp]:
        """Index of the first point equal to each point, shape (m,).

        Points are found by a hash of their bits, and then compared. The rows of a given
        matrix are not compared.
        """
        if self.kernel.given:
            return np.arange(self.m)
        odd = np.random.default_rng(0).integers(
            2**63, size=self.X.shape[1], dtype=np.uint64
        ) * np.uint64(2) + np.uint64(1)
        if is_sparse(self.X):
            X = self.X.tocsr(copy=True)
            X.sum_duplicates()
            X.eliminate_zeros()
            bits = X.copy()
            bits.data = X.data.view(np.uint64)
            hashes = np.asarray(bits @ odd)
        else:
            # Adding 0.0 turns -0.0 into 0.0, whose bits differ.
            X = np.ascontiguousarray(self.X + 0.0)
            hashes = (X.view(np.uint64) * odd).sum(axis=1, dtype=np.uint64)
        _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
        candidates = first[inverse]
        differ = (X[candidates] != X).sum(axis=1)
        return np.where(np.asarray(differ).ravel() == 0, candidates, np.arange(self.m))

    def merged(self, v: Array) -> Array:
        """Return coefficients with those of equal points summed.

        K v is unchanged, and coefficients that cancel leave no rounding error.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Coefficients.

        Returns
        -------
        ndarray of shape (m,)
            Sums at the first of equal points, 0 at the others.
        """
        return np.asarray(np.bincount(self.first_equal, v, self.m))

    def rows(self, index: NDArray[np.intp]) -> Array:
        """Return the rows K[index].

        Parameters
        ----------
        index : ndarray of shape (k,)
            Indices of the rows.

        Returns
        -------
        ndarray of shape (k, m)
            Rows of K.
        """
        if "dense" in self.__dict__ or self.kernel.given:
            return np.asarray(self.dense[index])
        K = self.kernel.block(self.X[index], self.X)
        K[np.arange(len(index)), index] = self.diagonal[index]
        return K

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        """Return the block K[rows, columns].

        Parameters
        ----------
        rows : ndarray of shape (r,)
            Indices of the rows.
        columns : ndarray of shape (c,)
            Indices of the columns.

        Returns
        -------
        ndarray of shape (r, c)
            Block of K.
        """
        if self.kernel.given:
            K = self.kernel.block(self.X[np.ix_(rows, columns)], self.X)
            return K + self.shift * (rows[:, None] == columns) if self.shift else K
        return self.kernel.block(self.X[rows], self.X[columns])

    def __matmul__(self, v: Array) -> Array:
        """Return K v, with the coefficients of equal points summed first.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Coefficients.

        Returns
        -------
        ndarray of shape (m,)
            Product.
        """
        if isinstance(self.kernel, Linear):
            return np.asarray(self.X @ (self.X.T @ v))
        v = self.merged(v)
        if self._kept:
            return np.asarray(self.dense @ v)
        f, support = np.zeros(self.m), np.flatnonzero(v)
        if self.multiplier is not multiply:
            # A device's. The processor's rounds differently from the referee, which sums
            # block by block.
            found = self.multiplier(self.kernel, self.X, support, v[None, support])
            if found is not None:
                return np.asarray(found[0][0])
        for start in range(0, len(support), TILE_ROWS):
            index = support[start : start + TILE_ROWS]
            f += v[index] @ self.rows(index)
        return f

    def product(self, v: Array) -> tuple[Array, Array]:
        """Return K v and a bound on its error against the mathematical kernel.

        |computed K v - K v| <= E |v| + gamma_k |K| |v| + n eta, entry by entry, with n
        nonzero coefficients and k roundings of a product. If K is not stored, only its
        columns with nonzero v are computed, by the multiplier, with a bound of its own.
        The bound is infinite where none is known.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Coefficients.

        Returns
        -------
        f, error : ndarray of shape (m,)
            Product and its error bound.
        """
        self.prepare(v)
        for known, f, error in self._prepared:
            if np.array_equal(known, v):
                return f.copy(), error.copy()
        f, error = np.empty(self.m, self.X.dtype), np.empty(self.m, self.X.dtype)
        support = (
            np.arange(self.m)
            if self._kept
            else np.flatnonzero(v)
            if v.any()
            else np.zeros(1, dtype=np.intp)
        )
        Z, v = (self.X, v) if self._kept else (self.X[support], v[support])
        for rows, K in self._tiles(support):
            f[rows], error[rows] = _product(self.kernel, self.X[rows], Z, K, v)
        return f, error

    def prepare(self, *vectors: Array) -> None:
        """Compute products in one pass, if the multiplier does; `product` returns them.

        Products that are all known are not computed again.

        Parameters
        ----------
        *vectors : ndarray of shape (m,)
            Coefficients of each product.
        """
        if all(self.is_prepared(v) for v in vectors):
            return
        self._prepared = []
        if "dense" in self.__dict__:
            return
        V = np.array(vectors)
        support = np.flatnonzero(V.any(axis=0))
        products = self.multiplier(self.kernel, self.X, support, V[:, support])
        if products is not None:
            self._prepared = list(zip(V, *products, strict=True))

    def is_prepared(self, v: Array) -> bool:
        """Return True if `product` returns a product that is known.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Coefficients.
        """
        return any(np.array_equal(known, v) for known, _, _ in self._prepared)

    @property
    def _kept(self) -> bool:
        return self.m <= STORED_ROWS or self.kernel.given

    def _tiles(self, columns: NDArray[np.intp]) -> Iterator[tuple[slice, Array]]:
        """Yield K[:, columns] by blocks of rows; as one block if K is stored."""
        if self._kept:
            yield slice(0, self.m), self.dense
            return
        place = np.full(self.m, -1)
        place[columns] = np.arange(len(columns))
        for start in range(0, self.m, TILE_ROWS):
            rows = slice(start, min(start + TILE_ROWS, self.m))
            K = self.kernel.block(self.X[rows], self.X[columns])
            diagonal = np.flatnonzero(place[rows] >= 0)
            K[diagonal, place[rows][diagonal]] = self.diagonal[rows][diagonal]
            yield rows, K


def product_at(kernel: Kernel, X: Features, Z: Features, v: Array) -> tuple[Array, Array]:
    """Return k(X, Z) v and a bound on its error against the mathematical kernel.

    Parameters
    ----------
    kernel : Kernel
        Kernel k.
    X : ndarray or sparse array of shape (n, d)
        Points at which the product is evaluated.
    Z : ndarray or sparse array of shape (m, d)
        Points of the coefficients.
    v : ndarray of shape (m,)
        Coefficients.

    Returns
    -------
    f, error : ndarray of shape (n,)
        Product and its error bound.
    """
    f, error = np.empty(X.shape[0]), np.empty(X.shape[0])
    for start in range(0, X.shape[0], TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        f[rows], error[rows] = _product(kernel, X[rows], Z, kernel.block(X[rows], Z), v)
    return f, error


def _product(kernel: Kernel, X: Features, Z: Features, K: Array, v: Array) -> tuple[Array, Array]:
    """Return K v and a bound on its error, both (n,), for the computed K = k(X, Z), (n, m)."""
    size = np.abs(v)
    f, depth = multiply_with_depth(K, v)
    error = kernel.rounding(X, Z, K, size) + gamma_n(depth + 1, find_unit(f)) * kernel.magnitude(
        X, Z, K, size
    )
    # Underflow of K v, and of the products in its bound.
    underflow = 4 * np.count_nonzero(v) * SMALLEST
    return f, round_toward(error * (1 + gamma_n(len(v) + X.shape[1] + 8)) + underflow, 1)
