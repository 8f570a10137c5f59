"""Blocks of a kernel matrix K / unit, evaluated where they are needed and never kept; in float32 for steps, in float64 for reported values.

    block(rows, columns)  =  K[rows, columns] / unit          add_product(rows, v, f):   f  <-  f + K[:, rows] v / unit

A product goes through tiles that stay in the processor's cache; threads share out its columns. The features of an RBF kernel carry two
more columns, (sqrt(2 gamma) x, -gamma |x|^2, 1) and (sqrt(2 gamma) z, 1, -gamma |z|^2), so that one matrix product is the exponent.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import RBF, Linear, Precomputed
from equimargin.formulations.numeric.arrays import Array, is_sparse
from equimargin.formulations.numeric.jit import fast
from equimargin.formulations.numeric.rounding import gamma_n
from equimargin.formulations.numeric.vector_loops import exponential

Index = NDArray[np.intp]
Block = NDArray[Any]
"""A block of K in the precision of its tiles."""

PRODUCT_ROWS = 128
"""Rows of a tile in a product: 128 x 1024 entries, 512 KB in float32 and 1 MB in float64, stay in the second-level cache."""
PRODUCT_COLUMNS = 1024
"""Columns of a tile in a product: a tile of 128 x 1024 entries stays in the second-level cache."""
RENEWED_ROWS = 256
"""Rows of a block that are computed at a time when some of its rows and columns are renewed: they bound the memory that this takes."""
PARTS_PER_THREAD = 4
"""Parts of a product for every thread: the last ones may take longest, and a thread that is done early takes another."""
PANEL_COLUMNS = 128
"""Columns of a panel of features: the panel, and the exponents of four rows with it, stay in the first-level cache."""
SUMMED_ROWS = 128
"""Rows whose products are summed in float32 before the sum is added up in float64: longer sums would lose digits."""
FLOAT32_UNIT = 2.0**-24
"""Unit roundoff of float32."""
EXPANDED_EXPONENT = 1e3
"""Mean of gamma |x - mean|^2 up to which |x - z|^2 is expanded: the exponent then loses three digits."""


def tiles(gram: Gram, unit: float, n_jobs: int = 1) -> Tiles:
    """K / unit by tiles in float64, the fastest way there is for the kernel.

    Parameters
    ----------
    gram : K.  unit : what it is divided by.  n_jobs : threads of a product.
    """
    kernel = gram.kernel
    if isinstance(kernel, RBF) and not is_sparse(gram.X):
        X = gram.X - gram.X.mean(axis=0)
        exponents = kernel.gamma * np.einsum("ij,ij->i", X, X)
        if float(exponents.mean()) < EXPANDED_EXPONENT:
            return RBFTiles.of(gram, unit, n_jobs, np.sqrt(2 * kernel.gamma) * X, exponents)
    if isinstance(kernel, Linear):
        return LinearTiles(gram, unit, n_jobs)
    if isinstance(kernel, Precomputed):
        return GivenTiles(gram, unit, n_jobs)
    return Tiles(gram, unit, n_jobs)


class Tiles:
    """K / unit by the kernel's own formula.

    gram : K.  unit : what it is divided by.  n_jobs : threads of a product.  dtype : the precision of blocks and tiles.
    """

    def __init__(self, gram: Gram, unit: float, n_jobs: int, dtype: DTypeLike = np.float64) -> None:
        self.gram, self.unit, self.n_jobs = gram, unit, n_jobs
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @cached_property
    def resolution(self) -> Array:
        """By how much K v / unit may be off in float32, over |v|_1, (m,).

        An entry of K is at most sqrt(K_ii K_jj) and is rounded, and so are sums of SUMMED_ROWS products.
        """
        return self._resolution()

    def _resolution(self) -> Array:
        roots = np.sqrt(np.abs(self.gram.diagonal) / self.unit)
        return gamma_n(SUMMED_ROWS + 8, FLOAT32_UNIT) * float(roots.max(initial=0.0)) * roots

    def single(self) -> Tiles:
        """The same in float32."""
        return type(self)(self.gram, self.unit, self.n_jobs, np.float32)

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        """K[rows, columns] / unit, (r, c); into `out` (r, c), if given: memory that is new costs as much as the numbers in it."""
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        return np.divide(self.gram.block(rows, columns), self.unit, out=K, casting="same_kind")

    def renew(self, K: Block, points: Index, places: Index) -> None:
        """The rows and columns of K = block(points, points) at these places, computed anew, in place."""
        for start in range(0, len(places), RENEWED_ROWS):
            part = places[start : start + RENEWED_ROWS]
            _place(self.block(points[part], points), part, K)

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        """f <- f + K[:, rows] v / unit, in place.

        Parameters
        ----------
        rows : (r,) points.  v : (r,) coefficients.  f : (m,) float64.
        """
        count = -(-self.gram.m // PRODUCT_COLUMNS)

        def add(part: range) -> None:
            for k in part:
                self._add_columns(rows, v, f, k * PRODUCT_COLUMNS)

        self._share(add, count)

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        """K[columns, rows] v / unit, (c,): the product at some of the points."""
        f = np.zeros(self.gram.m)
        self.add_product(rows, v, f)
        return f[columns]

    def _share(self, work: Callable[[range], object], count: int) -> None:
        """Do `work` on the parts of range(count), several a thread: the last ones may be the longest."""
        if count == 0:
            return
        if self.n_jobs == 1 or count == 1:
            work(range(count))
            return
        step = max(count // (PARTS_PER_THREAD * self.n_jobs), 1)
        with ThreadPoolExecutor(self.n_jobs) as pool:
            list(pool.map(work, [range(start, min(start + step, count)) for start in range(0, count, step)]))

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        columns = np.arange(start, min(start + PRODUCT_COLUMNS, self.gram.m))
        for first in range(0, len(rows), PRODUCT_ROWS):
            part = slice(first, first + PRODUCT_ROWS)
            f[columns] += v[part] @ self.block(rows[part], columns)


class RBFTiles(Tiles):
    """exp(-gamma |x - z|^2) of dense features, not too far from their mean for the expansion of the square.

    left : (m, e) features of the rows, whose first d + 2 columns are in use; e is a multiple of 4.  d : features of a point.
    """

    def __init__(self, gram: Gram, unit: float, n_jobs: int, left: Block, d: int) -> None:
        super().__init__(gram, unit, n_jobs, left.dtype)
        self.left, self.d = left, d

    @classmethod
    def of(cls, gram: Gram, unit: float, n_jobs: int, X: Array, exponents: Array) -> RBFTiles:
        """In float64, of features sqrt(2 gamma) x, (m, d), and gamma |x|^2, (m,)."""
        d = X.shape[1]
        left = np.zeros((gram.m, (d + 2 + 3) // 4 * 4))
        left[:, :d], left[:, d], left[:, d + 1] = X, -exponents, 1.0
        return cls(gram, unit, n_jobs, left, d)

    def _resolution(self) -> Array:
        """As of any kernel, and the error of the exponent to first order: the sum of the sizes of its terms, each of them rounded."""
        exponents = -self.left[:, self.d]
        terms = 2 * (float(exponents.max(initial=0.0)) + exponents)
        return super()._resolution() + np.expm1(np.minimum(gamma_n(self.left.shape[1] + 4, FLOAT32_UNIT) * terms, 700.0))

    def single(self) -> Tiles:
        return RBFTiles(self.gram, self.unit, self.n_jobs, self.left.astype(np.float32), self.d)

    @cached_property
    def panels(self) -> Block:
        """The features of all columns, (n, e, PANEL_COLUMNS): PANEL_COLUMNS columns at a time."""
        return self._panels(np.arange(self.gram.m))

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        panels = self.panels if len(columns) == self.gram.m else self._panels(columns)
        self._share(lambda part: _exponentials(self.left, rows, panels, K, rows is columns, part[0], part[-1] + 1), len(panels))
        return K

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        self._share(lambda part: _add_exponentials(self.left, rows, v, self.panels, f, part[0], part[-1] + 1), len(self.panels))

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        f, panels = np.zeros(len(columns)), self._panels(columns)
        self._share(lambda part: _add_exponentials(self.left, rows, v, panels, f, part[0], part[-1] + 1), len(panels))
        return f

    def _panels(self, columns: Index) -> Block:
        padded = np.zeros((-(-len(columns) // PANEL_COLUMNS) * PANEL_COLUMNS, self.left.shape[1]), self.dtype)
        swapped = np.arange(self.left.shape[1])
        swapped[[self.d, self.d + 1]] = self.d + 1, self.d
        padded[: len(columns)] = self.left[columns][:, swapped]
        return np.ascontiguousarray(padded.reshape(-1, PANEL_COLUMNS, self.left.shape[1]).transpose(0, 2, 1))


class LinearTiles(Tiles):
    """x.z, whose product goes through w = X' v."""

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        f += self.gram.X @ (self.gram.X[rows].T @ (v / self.unit))


class GivenTiles(Tiles):
    """The given numbers, read where they are."""

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        _gather(self.gram.X, rows, columns.astype(np.uintp), 1 / self.unit, K, rows is columns)
        if self.gram.shift:
            K[rows[:, None] == columns] += self.gram.shift / self.unit
        return K

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        super().add_product(rows, v / self.unit, f)
        f[rows] += self.gram.shift * v / self.unit

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        add_rows(self.gram.X, rows, v, f, start, min(start + PRODUCT_COLUMNS, self.gram.m))


@fast
def _exponents(left: Block, a: int, b: int, c: int, d: int, panel: Block, E: Block) -> None:
    """E <- the four rows' products with a panel's columns, (4 PANEL_COLUMNS,): one pass over four features at a time, all in registers."""
    E[:] = 0
    for t in range(0, panel.shape[0], 4):
        a0, a1, a2, a3 = left[a, t], left[a, t + 1], left[a, t + 2], left[a, t + 3]
        b0, b1, b2, b3 = left[b, t], left[b, t + 1], left[b, t + 2], left[b, t + 3]
        c0, c1, c2, c3 = left[c, t], left[c, t + 1], left[c, t + 2], left[c, t + 3]
        d0, d1, d2, d3 = left[d, t], left[d, t + 1], left[d, t + 2], left[d, t + 3]
        for k in range(PANEL_COLUMNS):
            x, y, z, w = panel[t, k], panel[t + 1, k], panel[t + 2, k], panel[t + 3, k]
            E[k] += a0 * x + a1 * y + a2 * z + a3 * w
            E[PANEL_COLUMNS + k] += b0 * x + b1 * y + b2 * z + b3 * w
            E[2 * PANEL_COLUMNS + k] += c0 * x + c1 * y + c2 * z + c3 * w
            E[3 * PANEL_COLUMNS + k] += d0 * x + d1 * y + d2 * z + d3 * w


@fast
def _exponentials(left: Block, rows: Index, panels: Block, K: Block, symmetric: bool, first: int, last: int) -> None:
    """K <- exp of the products of rows with the columns of the panels first .. last; half of them where rows and columns are the same."""
    E, n = np.empty(4 * PANEL_COLUMNS, left.dtype), rows.shape[0]
    for p in range(first, last):
        start = p * PANEL_COLUMNS
        width = min(PANEL_COLUMNS, K.shape[1] - start)
        for r in range(0, min(start + PANEL_COLUMNS, n) if symmetric else n, 4):
            _exponents(left, rows[r], rows[min(r + 1, n - 1)], rows[min(r + 2, n - 1)], rows[min(r + 3, n - 1)], panels[p], E)
            for j in range(min(4, n - r)):
                row, exponents = K[r + j, start : start + width], E[j * PANEL_COLUMNS : j * PANEL_COLUMNS + width]
                for k in range(row.shape[0]):
                    row[k] = exponential(exponents[k])
        if symmetric:
            for above in range(0, start, 16):  # a cache line of every row at a time
                for r in range(start, start + width):
                    for k in range(above, above + 16):
                        K[r, k] = K[k, r]


@fast
def _add_exponentials(left: Block, rows: Index, v: Array, panels: Block, f: Array, first: int, last: int) -> None:
    """f <- f + exp(left[rows] panels)' v over the panels first .. last; SUMMED_ROWS rows at a time in the precision of the features."""
    E, h, n = np.empty(4 * PANEL_COLUMNS, left.dtype), np.empty(PANEL_COLUMNS, left.dtype), rows.shape[0]
    for p in range(first, last):
        part = f[p * PANEL_COLUMNS : (p + 1) * PANEL_COLUMNS]
        for start in range(0, n, SUMMED_ROWS):
            h[:] = 0
            for r in range(start, min(start + SUMMED_ROWS, n), 4):
                b, c, d = min(r + 1, n - 1), min(r + 2, n - 1), min(r + 3, n - 1)
                _exponents(left, rows[r], rows[b], rows[c], rows[d], panels[p], E)
                p_a, p_b = left.dtype.type(v[r]), left.dtype.type(v[b] if b == r + 1 else 0.0)
                p_c, p_d = left.dtype.type(v[c] if c == r + 2 else 0.0), left.dtype.type(v[d] if d == r + 3 else 0.0)
                for k in range(PANEL_COLUMNS):
                    h[k] += p_a * exponential(E[k]) + p_b * exponential(E[PANEL_COLUMNS + k])
                    h[k] += p_c * exponential(E[2 * PANEL_COLUMNS + k]) + p_d * exponential(E[3 * PANEL_COLUMNS + k])
            for k in range(part.shape[0]):
                part[k] += h[k]


@fast
def _place(R: Block, places: Index, K: Block) -> None:
    """K[places] <- R and K[:, places] <- R', a cache line of every row of R at a time."""
    for j in range(places.shape[0]):
        K[places[j]] = R[j]
    for start in range(0, K.shape[0], 16):
        for j in range(places.shape[0]):
            for r in range(start, min(start + 16, K.shape[0])):
                K[r, places[j]] = R[j, r]


@fast
def _pick(given: Array, columns: Any, factor: float, row: Block) -> None:
    """row <- factor given[columns]; `columns` is unsigned, so that none of them counts from the end and the loop vectorises."""
    for k in range(columns.shape[0]):
        row[k] = factor * given[columns[k]]


@fast
def _gather(G: Array, rows: Index, columns: Any, factor: float, K: Block, symmetric: bool) -> None:
    """K <- factor G[rows, columns]; half of it where rows and columns are the same."""
    for r in range(rows.shape[0]):
        start = r if symmetric else 0
        _pick(G[rows[r]], columns[start:], factor, K[r, start:])
    if symmetric:
        for above in range(0, rows.shape[0], 16):  # a cache line of every row at a time
            for r in range(above + 1, rows.shape[0]):
                for k in range(above, min(above + 16, r)):
                    K[r, k] = K[k, r]


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
