"""Blocks of a kernel matrix K / unit, evaluated on demand and never stored.

    block(rows, columns)  =  K[rows, columns] / unit
    add_product(rows, v, f):   f  <-  f + K[:, rows] v / unit

Float32 is for steps, float64 for reported values. A product is computed by tiles that
stay in the processor's cache; threads divide its columns. An RBF kernel is 2^(-g |x -
z|^2) with g = gamma / log(2). Its features have two more columns, (sqrt(2 g) x, -g |x|^2,
1) and (sqrt(2 g) z, 1, -g |z|^2), so that one matrix product gives the exponents.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import RBF, Linear, Precomputed
from equimargin.formulations.numeric.arrays import Array, Index, is_sparse
from equimargin.formulations.numeric.jit import brief, fast, in_numpy
from equimargin.formulations.numeric.rounding import gamma_n
from equimargin.formulations.numeric.rows_by_panel import ROWS, rows_by_panel
from equimargin.formulations.numeric.vector_loops import power
from equimargin.solvers.products.crew import Crew

Block = NDArray[Any]
"""A block of K in the precision of its tiles."""

PRODUCT_ROWS = 128
"""Rows of a tile in a product.

128 x 1024 entries, 512 KB in float32 and 1 MB in float64, stay in the second-level
cache.
"""
PRODUCT_COLUMNS = 1024
"""Columns of a tile in a product.

A tile of 128 x 1024 entries stays in the second-level cache.
"""
RENEWED_ROWS = 256
"""Rows of a block that are computed at a time when rows and columns are renewed.

This bounds the memory needed.
"""
PANEL_COLUMNS = 64
"""Columns of a panel of features.

In float64 a panel of 1,000 features, half a megabyte, stays in the second-level cache.
"""
SUMMED_ROWS = 4 * ROWS
"""Rows whose products are summed in float32 before the sum is added in float64.

Longer sums would lose digits.
"""
LOG_2 = math.log(2.0)
"""Natural logarithm of 2."""
FLOAT32_UNIT = 2.0**-24
"""Unit roundoff of float32."""
DEAR_FEATURES = 64
"""Number of features from which on an entry takes much longer to compute than to read.

Measured for an RBF kernel in float32.
"""
EXPANDED_EXPONENT = 1e3
"""Mean of gamma |x - mean|^2 up to which |x - z|^2 is expanded.

Beyond, cancellation would cost the exponent more than three digits.
"""


def tiles(gram: Gram, unit: float, n_jobs: int = 1) -> Tiles:
    """Return K / unit by tiles in float64, by the fastest method for the kernel.

    Parameters
    ----------
    gram : Gram
        K.
    unit : float
        Divisor.
    n_jobs : int
        Threads of a product, default 1.
    """
    kernel, crew = gram.kernel, Crew(n_jobs)
    if isinstance(kernel, RBF) and not is_sparse(gram.X):
        left, squares = np.empty((gram.m, gram.X.shape[1] + 2)), np.empty(gram.m)
        if _expand(gram.X, kernel.gamma, left, squares) < EXPANDED_EXPONENT:
            return RBFTiles(gram, unit, crew, left, squares)
    if isinstance(kernel, Linear):
        return LinearTiles(gram, unit, crew)
    if isinstance(kernel, Precomputed):
        return GivenTiles(gram, unit, crew)
    return Tiles(gram, unit, crew)


class Tiles:
    """K / unit by the kernel's own formula.

    Parameters
    ----------
    gram : Gram
        K.
    unit : float
        Divisor.
    crew : Crew
        Threads of a product.
    dtype : DTypeLike
        Precision of blocks and tiles.
    """

    def __init__(self, gram: Gram, unit: float, crew: Crew, dtype: DTypeLike = np.float64) -> None:
        self.gram, self.unit, self.crew = gram, unit, crew
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def dear(self) -> bool:
        """True if entries are much slower to compute than to read; K needs half of them."""
        return False

    def expect(self, rows: int) -> None:
        """Announce the approximate number of rows that will be requested.

        Some tiles compute all of K at once if these are many.

        Parameters
        ----------
        rows : int
            Number of rows.
        """

    @cached_property
    def resolution(self) -> Array:
        """Error bound of K v / unit in float32, over |v|_1, shape (m,).

        Entries of K, at most sqrt(K_ii K_jj) each, are rounded, and so are sums of
        SUMMED_ROWS products.
        """
        roots = np.sqrt(np.abs(self.gram.diagonal) / self.unit)
        return gamma_n(SUMMED_ROWS + 8, FLOAT32_UNIT) * float(roots.max(initial=0.0)) * roots

    def single(self) -> Tiles:
        """Return these tiles in float32."""
        return type(self)(self.gram, self.unit, self.crew, np.float32)

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        """Return K[rows, columns] / unit, shape (r, c).

        Parameters
        ----------
        rows : Index of shape (r,)
            Points.
        columns : Index of shape (c,)
            Points.
        out : Block of shape (r, c) or None
            Memory for the result; new memory would cost as much time as its numbers.
        """
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        return np.divide(self.gram.block(rows, columns), self.unit, out=K, casting="same_kind")

    def renew(self, K: Block, points: Index, places: Index) -> None:
        """Recompute rows and columns of K = block(points, points), in place.

        Parameters
        ----------
        K : Block
            Block; changes in place.
        points : Index
            Points of the block.
        places : Index
            Places of the rows and columns to recompute.
        """
        for start in range(0, len(places), RENEWED_ROWS):
            part = places[start : start + RENEWED_ROWS]
            _place(self.block(points[part], points), part, K)

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        """Add K[:, rows] v / unit to f, in place.

        Parameters
        ----------
        rows : Index of shape (r,)
            Points.
        v : ndarray of shape (r,)
            Coefficients.
        f : ndarray of shape (m,)
            Sum, in float64.
        """
        count = -(-self.gram.m // PRODUCT_COLUMNS)

        def add(part: range) -> None:
            for k in part:
                self._add_columns(rows, v, f, k * PRODUCT_COLUMNS)

        self.crew.share(add, count)

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        """Return K[columns, rows] v / unit, shape (c,).

        Parameters
        ----------
        rows : Index of shape (r,)
            Points, without repetition.
        v : ndarray of shape (r,)
            Coefficients.
        columns : Index of shape (c,)
            Points, without repetition.
        """
        f = np.zeros(self.gram.m)
        self.add_product(rows, v, f)
        return f[columns]

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        columns = np.arange(start, min(start + PRODUCT_COLUMNS, self.gram.m))
        for first in range(0, len(rows), PRODUCT_ROWS):
            part = slice(first, first + PRODUCT_ROWS)
            f[columns] += v[part] @ self.block(rows[part], columns)


class RBFTiles(Tiles):
    """Tiles of exp(-gamma |x - z|^2) for dense features.

    The points must be close enough to their mean for the expansion of the square.

    Parameters
    ----------
    gram, unit, crew
        As in `Tiles`.
    left : Block of shape (m, d + 2)
        Features of the rows.
    squares : ndarray of shape (m,)
        Q^2 of every row, as in `resolution`.
    """

    def __init__(self, gram: Gram, unit: float, crew: Crew, left: Block, squares: Array) -> None:
        super().__init__(gram, unit, crew, left.dtype)
        self.left, self.squares = left, squares

    @property
    def dear(self) -> bool:
        return bool(self.left.shape[1] >= DEAR_FEATURES)

    @cached_property
    def resolution(self) -> Array:
        """Bound for any kernel, plus the error of the exponent to first order.

        Let tau^2 = gamma |x - z|^2. Then k(x, z) = exp(-tau^2), and tau k, tau^2 k < 0.43.
        In float32 the partial sum over the features 1 .. k is rounded, which is at most
        n_k(x) n_k(z) with n_k(x)^2 = 2 gamma (x_1^2 + .. + x_k^2), and n_k(x) <= n_k(z) +
        sqrt(2) tau. The sum over k is Q (Q + 0.43 sqrt(2 d)) k(x, z) or less, with Q^2 the
        sum of n_k(z)^2. The roundings of the features, and of the sums with -gamma |x|^2
        and -gamma |z|^2, are 12 gamma |z|^2 + 4 or less in total.
        """
        d = self.left.shape[1] - 2
        # All K_ii are 1, and so is their mean.
        sums = self.squares + 0.43 * math.sqrt(2 * d) * np.sqrt(self.squares)
        exponents = -LOG_2 * self.left[:, -2]
        error: Array = np.expm1(np.minimum(FLOAT32_UNIT * (sums + 12 * exponents + 4), 700.0))
        return gamma_n(SUMMED_ROWS + 8, FLOAT32_UNIT) + error

    def single(self) -> Tiles:
        return RBFTiles(self.gram, self.unit, self.crew, self.left.astype(np.float32), self.squares)

    @cached_property
    def panels(self) -> Block:
        """Features of all columns, shape (n, d + 2, PANEL_COLUMNS), panel by panel."""
        columns = np.arange(self.gram.m)
        panels = self._panels(columns)
        self.crew.share(
            lambda part: _fill_panels(self.left, columns, panels, part[0], part[-1] + 1),
            len(panels),
        )
        return panels

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        everything = np.array_equal(columns, np.arange(self.gram.m))
        panels = self.panels if everything else self._panels(columns)

        def fill(part: range) -> None:
            if not everything:
                _fill_panels(self.left, columns, panels, part[0], part[-1] + 1)
            _exponentials(self.left, rows, panels, K, rows is columns, part[0], part[-1] + 1)

        self.crew.share(fill, len(panels))
        return K

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        self.crew.share(
            lambda part: _add_exponentials(
                self.left, rows, v, self.panels, f, False, part[0], part[-1] + 1
            ),
            len(self.panels),
        )

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        """Return K[columns, rows] v, shape (c,).

        If all rows are among the columns, each of the symmetric entries of K is
        computed only once.

        Parameters
        ----------
        rows : Index of shape (r,)
            Points, without repetition.
        v : ndarray of shape (r,)
            Coefficients.
        columns : Index of shape (c,)
            Points, without repetition.
        """
        coefficients, among = np.zeros(self.gram.m), np.zeros(self.gram.m, dtype=bool)
        coefficients[rows], among[rows] = v, True
        inside = among[columns]
        if np.count_nonzero(inside) < len(rows):
            return self._product(rows, v, columns, False)
        f, own = np.empty(len(columns)), columns[inside]
        f[inside] = self._product(own, coefficients[own], own, True)
        f[~inside] = self._product(rows, v, columns[~inside], False)
        return f

    def _product(self, rows: Index, v: Array, columns: Index, symmetric: bool) -> Array:
        """Return K[columns, rows] v, shape (c,); symmetric if columns and rows are equal."""
        panels = self._panels(columns)

        def add(part: range) -> Array:
            f = np.zeros(len(columns))
            _fill_panels(self.left, columns, panels, part[0], part[-1] + 1)
            _add_exponentials(self.left, rows, v, panels, f, symmetric, part[0], part[-1] + 1)
            return f

        return np.sum(self.crew.share(add, len(panels)), axis=0) if len(panels) else np.zeros(0)

    def _panels(self, columns: Index) -> Block:
        """Return empty panels for some columns; every thread fills in those that it takes."""
        return np.empty(
            (-(-len(columns) // PANEL_COLUMNS), self.left.shape[1], PANEL_COLUMNS), self.dtype
        )


class LinearTiles(Tiles):
    """Tiles of x.z, whose product is computed by w = X' v."""

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        f += self.gram.X @ (self.gram.X[rows].T @ (v / self.unit))


class GivenTiles(Tiles):
    """Tiles of a given matrix, read in place."""

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        K = np.empty((len(rows), len(columns)), self.dtype) if out is None else out
        # Entries next to each other are read faster than they are mirrored.
        mirrored = rows is columns and len(rows) < self.gram.m
        _gather(self.gram.X, rows, columns.astype(np.uintp), 1 / self.unit, K, mirrored)
        if self.gram.shift:
            K[rows[:, None] == columns] += self.gram.shift / self.unit
        return K

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        super().add_product(rows, v / self.unit, f)
        f[rows] += self.gram.shift * v / self.unit

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        add_rows(self.gram.X, rows, v, f, start, min(start + PRODUCT_COLUMNS, self.gram.m))


@brief
def _expand(X: Array, gamma: float, left: Array, squares: Array) -> float:
    """Write the RBF features of X to `left`; return the mean of gamma |x|^2.

    left <- (sqrt(2 g) x, -g |x|^2, 1), (m, d + 2), with g = gamma / log(2) and the origin
    at the mean of X, (m, d). squares <- 2 gamma sum_k (x_1^2 + .. + x_k^2), (m,).
    """
    (m, d), total = X.shape, 0.0
    g = gamma / LOG_2
    factor = np.sqrt(2.0 * g)
    centre = np.zeros(d)
    for i in range(m):
        for t in range(d):
            centre[t] += X[i, t]
    centre /= m
    for i in range(m):
        square = partial = 0.0
        for t in range(d):
            x = X[i, t] - centre[t]
            left[i, t] = factor * x
            square += x * x
            partial += square
        left[i, d], left[i, d + 1], squares[i] = -g * square, 1.0, 2.0 * gamma * partial
        total += gamma * square
    mean: float = total / m
    return mean


@brief
def _fill_panels(left: Block, columns: Index, panels: Block, first: int, last: int) -> None:
    """Write the features of their columns to panels[first:last].

    The last two features of each column are exchanged; missing columns are 0.
    """
    e = left.shape[1]
    for c in range(first * PANEL_COLUMNS, last * PANEL_COLUMNS):
        panel, k = panels[c // PANEL_COLUMNS], c % PANEL_COLUMNS
        for t in range(e):
            panel[t, k] = left[columns[c], t] if c < columns.shape[0] else 0.0
        panel[e - 2, k], panel[e - 1, k] = panel[e - 1, k], panel[e - 2, k]


def _exponentials_in_numpy(
    left: Block, rows: Index, panels: Block, K: Block, symmetric: bool, first: int, last: int
) -> None:
    for p in range(first, last):
        start = p * PANEL_COLUMNS
        columns = slice(start, start + panels[p][:, : K.shape[1] - start].shape[1])
        above = slice(0, columns.stop if symmetric else len(rows))
        K[above, columns] = np.exp2(left[rows[above]] @ panels[p][:, : columns.stop - start])
        if symmetric:
            K[columns, :start] = K[:start, columns].T


@brief
@in_numpy(_exponentials_in_numpy)
@fast
def _exponentials(
    left: Block, rows: Index, panels: Block, K: Block, symmetric: bool, first: int, last: int
) -> None:
    """Write exp(left[rows] P) to P's columns of K, for each P in panels[first:last].

    If rows and columns are equal, half of them are computed, and mirrored.
    """
    E = np.empty((ROWS, PANEL_COLUMNS), left.dtype)
    for p in range(first, last):
        start = p * PANEL_COLUMNS
        width = min(PANEL_COLUMNS, K.shape[1] - start)
        stop = start + width if symmetric else rows.shape[0]
        for r in range(0, stop, ROWS):
            rows_by_panel(left, rows, r, panels[p], E)
            for j in range(min(ROWS, stop - r)):
                row, exponents = K[r + j, start : start + width], E[j, :width]
                for k in range(row.shape[0]):
                    row[k] = power(exponents[k])
        if symmetric:
            # A cache line of every row at a time.
            for above in range(0, start, 16):
                for r in range(start, start + width):
                    for k in range(above, above + 16):
                        K[r, k] = K[k, r]


def _sums_in_numpy(
    left: Block,
    rows: Index,
    v: Array,
    panels: Block,
    f: Array,
    symmetric: bool,
    first: int,
    last: int,
) -> None:
    for p in range(first, last):
        start = p * PANEL_COLUMNS
        part = f[start : start + PANEL_COLUMNS]
        stop = start + len(part) if symmetric else len(rows)
        E = np.exp2(left[rows[:stop]] @ panels[p][:, : len(part)])
        part += v[:stop] @ E
        if symmetric:
            f[:start] += E[:start] @ v[start:stop]


@brief
@in_numpy(_sums_in_numpy)
@fast
def _add_exponentials(
    left: Block,
    rows: Index,
    v: Array,
    panels: Block,
    f: Array,
    symmetric: bool,
    first: int,
    last: int,
) -> None:
    """Add exp(left[rows] P)' v to P's columns of f, for each P in panels[first:last].

    SUMMED_ROWS rows at a time are summed in the precision of the features. If rows and
    columns are equal, only exponentials on or above the diagonal blocks are computed;
    those above are also used for their mirror images.
    """
    E, h, w = (
        np.empty((ROWS, PANEL_COLUMNS), left.dtype),
        np.empty(PANEL_COLUMNS, left.dtype),
        np.zeros(PANEL_COLUMNS, left.dtype),
    )
    for p in range(first, last):
        start = p * PANEL_COLUMNS
        part = f[start : start + PANEL_COLUMNS]
        stop = start + part.shape[0] if symmetric else rows.shape[0]
        # w: coefficients of the panel's columns, for the transposed half of K.
        for k in range(PANEL_COLUMNS):
            w[k] = v[start + k] if start + k < stop and symmetric else 0.0
        for base in range(0, stop, SUMMED_ROWS):
            for k in range(PANEL_COLUMNS):
                h[k] = 0.0
            end = min(base + SUMMED_ROWS, stop)
            for r in range(base, end, ROWS):
                rows_by_panel(left, rows, r, panels[p], E)
                for j in range(min(ROWS, end - r)):
                    exponents, factor, total = E[j], left.dtype.type(v[r + j]), left.dtype.type(0.0)
                    for k in range(PANEL_COLUMNS):
                        value = power(exponents[k])
                        h[k] += factor * value
                        total += w[k] * value
                    if symmetric and r + j < start:
                        f[r + j] += total
            for k in range(part.shape[0]):
                part[k] += h[k]


@fast
def _place(R: Block, places: Index, K: Block) -> None:
    """Write R to K[places] and R' to K[:, places], one cache line of R's rows at a time."""
    for j in range(places.shape[0]):
        K[places[j]] = R[j]
    for start in range(0, K.shape[0], 16):
        for j in range(places.shape[0]):
            for r in range(start, min(start + 16, K.shape[0])):
                K[r, places[j]] = R[j, r]


@fast
def _pick(given: Array, columns: Any, factor: float, row: Block) -> None:
    """Write factor given[columns] to row.

    `columns` is unsigned, so that no index counts from the end and the loop vectorises.
    """
    for k in range(columns.shape[0]):
        row[k] = factor * given[columns[k]]


@fast
def _gather(G: Array, rows: Index, columns: Any, factor: float, K: Block, symmetric: bool) -> None:
    """Write factor G[rows, columns] to K; if these are equal, read half and mirror it."""
    for r in range(rows.shape[0]):
        start = r if symmetric else 0
        _pick(G[rows[r]], columns[start:], factor, K[r, start:])
    if symmetric:
        # A cache line of every row at a time.
        for above in range(0, rows.shape[0], 16):
            for r in range(above + 1, rows.shape[0]):
                for k in range(above, min(above + 16, r)):
                    K[r, k] = K[k, r]


def _rows_in_numpy(K: Array, rows: Index, v: Array, f: Array, start: int, stop: int) -> None:
    f[start:stop] += v[: len(rows)] @ K[rows, start:stop]


@brief
@in_numpy(_rows_in_numpy)
@fast
def add_rows(K: Array, rows: Index, v: Array, f: Array, start: int, stop: int) -> None:
    """Add K[rows]' v over the columns start .. stop to f, four rows at a time.

    Parameters
    ----------
    K : ndarray of shape (m, m)
        Matrix.
    rows : Index of shape (r,)
        Row numbers.
    v : ndarray of shape (r,)
        Coefficients.
    f : ndarray of shape (m,)
        Sum; changes in place.
    start, stop : int
        Range of columns.
    """
    g, r = f[start:stop], 0
    while r + 4 <= rows.shape[0]:
        a, b, c, d = (
            K[rows[r], start:stop],
            K[rows[r + 1], start:stop],
            K[rows[r + 2], start:stop],
            K[rows[r + 3], start:stop],
        )
        p, q, s, t = v[r], v[r + 1], v[r + 2], v[r + 3]
        for k in range(g.shape[0]):
            g[k] += p * a[k] + q * b[k] + s * c[k] + t * d[k]
        r += 4
    while r < rows.shape[0]:
        a, p = K[rows[r], start:stop], v[r]
        for k in range(g.shape[0]):
            g[k] += p * a[k]
        r += 1
