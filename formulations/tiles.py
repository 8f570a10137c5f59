"""Blocks of a kernel matrix K / unit, evaluated where they are needed and never kept: float32 to find the way, float64 to judge.

    block(rows, columns)  =  K[rows, columns] / unit          add_product(rows, v, f):   f  <-  f + K[:, rows] v / unit

A product goes through tiles that stay in the processor's cache; threads share out its columns. The features of an RBF kernel carry two
more columns, (sqrt(2 gamma) x, -gamma |x|^2, 1) and (sqrt(2 gamma) z, 1, -gamma |z|^2), so that one matrix product is the exponent.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from equimargin.formulations.jit import fast
from equimargin.formulations.kernels import RBF, Array, Gram, Linear, Precomputed
from equimargin.formulations.reductions import exponential

Index = NDArray[np.intp]
Block = NDArray[Any]
"""A block of K in the precision of its tiles."""

TILE_ROWS, TILE_COLUMNS = 128, 1024
"""A tile of 512 KB or 1 MB stays in the second-level cache."""


def tiles(gram: Gram, unit: float, dtype: DTypeLike, n_jobs: int = 1) -> Tiles:
    """K / unit by tiles, the fastest way there is for the kernel.

    Parameters
    ----------
    gram : K.  unit : what it is divided by.  dtype : float32 or float64.  n_jobs : threads of a product.
    """
    kernel, sparse = gram.kernel, hasattr(gram.X, "tocsr")
    if isinstance(kernel, RBF) and not sparse:
        return RBFTiles(gram, unit, dtype, n_jobs)
    if isinstance(kernel, Linear):
        return LinearTiles(gram, unit, dtype, n_jobs)
    if isinstance(kernel, Precomputed):
        return GivenTiles(gram, unit, dtype, n_jobs)
    return Tiles(gram, unit, dtype, n_jobs)


class Tiles:
    """K / unit by the kernel's own formula."""

    def __init__(self, gram: Gram, unit: float, dtype: DTypeLike, n_jobs: int) -> None:
        self.gram, self.unit, self.dtype, self.n_jobs = gram, unit, np.dtype(dtype), n_jobs

    def block(self, rows: Index, columns: Index) -> Block:
        """K[rows, columns] / unit, (r, c)."""
        return np.asarray(self.gram.block(rows, columns) / self.unit, dtype=self.dtype)

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        """f <- f + K[:, rows] v / unit, in place.

        Parameters
        ----------
        rows : (r,) points.  v : (r,) coefficients.  f : (m,) float64.
        """
        starts = range(0, self.gram.m, TILE_COLUMNS)
        if self.n_jobs == 1 or len(starts) == 1:
            for start in starts:
                self._add_columns(rows, v, f, start)
            return
        with ThreadPoolExecutor(self.n_jobs) as pool:
            list(pool.map(lambda start: self._add_columns(rows, v, f, start), starts))

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        columns = np.arange(start, min(start + TILE_COLUMNS, self.gram.m))
        for first in range(0, len(rows), TILE_ROWS):
            part = slice(first, first + TILE_ROWS)
            f[columns] += v[part] @ self.block(rows[part], columns)


class RBFTiles(Tiles):
    """exp(-gamma |x - z|^2) of dense features."""

    def __init__(self, gram: Gram, unit: float, dtype: DTypeLike, n_jobs: int) -> None:
        super().__init__(gram, unit, dtype, n_jobs)
        gamma = gram.kernel.gamma  # type: ignore[attr-defined]
        X = gram.X - gram.X.mean(axis=0)
        m, d = X.shape
        self.left = np.empty((m, d + 2), self.dtype)
        np.multiply(X, np.sqrt(2 * gamma), out=self.left[:, :d], casting="same_kind")
        self.left[:, d] = -gamma * np.einsum("ij,ij->i", X, X)
        self.left[:, d + 1] = 1.0
        self.right = np.ascontiguousarray(self.left.T)
        self.right[[d, d + 1]] = self.right[[d + 1, d]]

    def block(self, rows: Index, columns: Index) -> Block:
        K: Block = self.left[rows] @ self.right[:, columns]
        return self._exp(K)

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        self.chosen = self.left[rows]
        super().add_product(rows, v, f)

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        right = self.right[:, start : start + TILE_COLUMNS]
        for first in range(0, len(v), TILE_ROWS):
            E, part = self.chosen[first : first + TILE_ROWS] @ right, v[first : first + TILE_ROWS]
            if self.dtype == np.float32:
                _add_exponentials(E, part, f[start : start + TILE_COLUMNS])
            else:
                f[start : start + TILE_COLUMNS] += part @ np.exp(E, out=E)

    def _exp(self, E: Block) -> Block:
        if self.dtype == np.float32:
            _exponentials(E)
            return E
        return np.asarray(np.exp(E, out=E))


class LinearTiles(Tiles):
    """x.z, whose product goes through w = X' v."""

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        f += self.gram.X @ (self.gram.X[rows].T @ (v / self.unit))


class GivenTiles(Tiles):
    """The given numbers, read where they are."""

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        super().add_product(rows, v / self.unit, f)
        f[rows] += self.gram.shift * v / self.unit

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        add_rows(self.gram.X, rows, v, f, start, min(start + TILE_COLUMNS, self.gram.m))


@fast
def _exponentials(E: Block) -> None:
    """exp of every entry, in place; E : (r, c) float32."""
    for i in range(E.shape[0]):
        for k in range(E.shape[1]):
            E[i, k] = exponential(E[i, k])


@fast
def _add_exponentials(E: Block, v: Array, f: Array) -> None:
    """f <- f + exp(E)' v; E : (r, c) float32, four rows at a time."""
    r = 0
    while r + 4 <= E.shape[0]:
        p, q, s, t = np.float32(v[r]), np.float32(v[r + 1]), np.float32(v[r + 2]), np.float32(v[r + 3])
        a, b, c, d = E[r], E[r + 1], E[r + 2], E[r + 3]
        for k in range(f.shape[0]):
            f[k] += np.float64(p * exponential(a[k]) + q * exponential(b[k]) + s * exponential(c[k]) + t * exponential(d[k]))
        r += 4
    while r < E.shape[0]:
        p, a = np.float32(v[r]), E[r]
        for k in range(f.shape[0]):
            f[k] += np.float64(p * exponential(a[k]))
        r += 1


@fast
def add_rows(K: Array, rows: Index, v: Array, f: Array, start: int, stop: int) -> None:
    """f <- f + K[rows]' v over the columns start .. stop, four rows at a time."""
    g, r = f[start:stop], 0
    while r + 4 <= rows.shape[0]:
        a, b, c, d = K[rows[r], start:stop], K[rows[r + 1], start:stop], K[rows[r + 2], start:stop], K[rows[r + 3], start:stop]
        p, q, s, t = v[r], v[r + 1], v[r + 2], v[r + 3]
        for k in range(g.shape[0]):
            g[k] += p * a[k] + q * b[k] + s * c[k] + t * d[k]
        r += 4
    while r < rows.shape[0]:
        a, p = K[rows[r], start:stop], v[r]
        for k in range(g.shape[0]):
            g[k] += p * a[k]
        r += 1
