"""Blocks of a kernel matrix K / unit, evaluated where they are needed and never kept; in float32 for steps, in float64 for reported values.

    block(rows, columns)  =  K[rows, columns] / unit          add_product(rows, v, f):   f  <-  f + K[:, rows] v / unit

A product goes through tiles that stay in the processor's cache; threads share out its
columns. The features of an RBF kernel carry two more columns, (sqrt(2 gamma) x, -gamma
|x|^2, 1) and (sqrt(2 gamma) z, 1, -gamma |z|^2), so that one matrix product is the
exponent.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import RBF, Linear, Precomputed
from equimargin.formulations.numeric.arrays import Array, is_sparse
from equimargin.formulations.numeric.jit import brief, fast, in_numpy
from equimargin.formulations.numeric.rounding import gamma_n
from equimargin.formulations.numeric.vector_loops import exponential
from equimargin.solvers.products.crew import Crew
from equimargin.solvers.products.rows_by_panel import ROWS, rows_by_panel

Index = NDArray[np.intp]
Block = NDArray[Any]
"""A block of K in the precision of its tiles."""

PRODUCT_ROWS = 128
"""Rows of a tile in a product: 128 x 1024 entries, 512 KB in float32 and 1 MB in
float64, stay in the second-level cache.
"""
PRODUCT_COLUMNS = 1024
"""Columns of a tile in a product: a tile of 128 x 1024 entries stays in the second-level cache."""
RENEWED_ROWS = 256
"""Rows of a block that are computed at a time when some of its rows and columns are
renewed: they bound the memory that this takes.
"""
PANEL_COLUMNS = 64
"""Columns of a panel of features: in float64 a panel of 1,000 features, half a
megabyte, stays in the second-level cache.
"""
SUMMED_ROWS = 20 * ROWS
"""Rows whose products are summed in float32 before the sum is added up in float64:
longer sums would lose digits.
"""
FLOAT32_UNIT = 2.0**-24
"""Unit roundoff of float32."""
DEAR_FEATURES = 64
"""Features from which on an entry of an RBF kernel in float32 takes much longer to
compute than to read, as measured.
"""
EXPANDED_EXPONENT = 1e3
"""Mean of gamma |x - mean|^2 up to which |x - z|^2 is expanded: the exponent then loses
three digits.
"""


def tiles(gram: Gram, unit: float, n_jobs: int = 1) -> Tiles:
    """K / unit by tiles in float64, the fastest way there is for the kernel.

    Parameters
    ----------
    gram : Gram
        K.
    unit : float
        What it is divided by.
    n_jobs : int
        Threads of a product.
    """
    kernel, crew = gram.kernel, Crew(n_jobs)
    if isinstance(kernel, RBF) and not is_sparse(gram.X):
        left = np.empty((gram.m, gram.X.shape[1] + 2))
        if _expand(gram.X, kernel.gamma, left) < EXPANDED_EXPONENT:
            return RBFTiles(gram, unit, crew, left)
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
        What it is divided by.
    crew : Crew
        The threads of a product.
    dtype : DTypeLike
        The precision of blocks and tiles.
    """

    def __init__(self, gram: Gram, unit: float, crew: Crew, dtype: DTypeLike = np.float64) -> None:
        self.gram, self.unit, self.crew = gram, unit, crew
        self.dtype: np.dtype[Any] = np.dtype(dtype)

    @property
    def dear(self) -> bool:
        """Whether half of the entries of K, which is symmetric, make the whole of it, and one takes much longer to compute than to read."""
        return False

    def expect(self, rows: int) -> None:
        """Take note of how many rows will be asked for, about: some tiles compute all of K at once where these are many."""

    @cached_property
    def resolution(self) -> Array:
        """By how much K v / unit may be off in float32, over |v|_1, (m,).

        An entry of K is at most sqrt(K_ii K_jj) and is rounded, and so are sums of
        SUMMED_ROWS products.
        """
        return self._resolution()

    def _resolution(self) -> Array:
        roots = np.sqrt(np.abs(self.gram.diagonal) / self.unit)
        return gamma_n(SUMMED_ROWS + 8, FLOAT32_UNIT) * float(roots.max(initial=0.0)) * roots

    def single(self) -> Tiles:
        """The same in float32."""
        return type(self)(self.gram, self.unit, self.crew, np.float32)

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
        rows : Index of shape (r,)
            points.
        v : ndarray of shape (r,)
            coefficients.
        f : ndarray of shape (m,)
            float64.
        """
        count = -(-self.gram.m // PRODUCT_COLUMNS)

        def add(part: range) -> None:
            for k in part:
                self._add_columns(rows, v, f, k * PRODUCT_COLUMNS)

        self.crew.share(add, count)

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        """K[columns, rows] v / unit, (c,): the product at some of the points. No point is in `rows` or in `columns` twice."""
        f = np.zeros(self.gram.m)
        self.add_product(rows, v, f)
        return f[columns]

    def _add_columns(self, rows: Index, v: Array, f: Array, start: int) -> None:
        columns = np.arange(start, min(start + PRODUCT_COLUMNS, self.gram.m))
        for first in range(0, len(rows), PRODUCT_ROWS):
            part = slice(first, first + PRODUCT_ROWS)
            f[columns] += v[part] @ self.block(rows[part], columns)


class RBFTiles(Tiles):
    """exp(-gamma |x - z|^2) of dense features, not too far from their mean for the expansion of the square.

    Parameters
    ----------
    left : Block of shape (m, d + 2)
        Features of the rows.
    """

    def __init__(self, gram: Gram, unit: float, crew: Crew, left: Block) -> None:
        super().__init__(gram, unit, crew, left.dtype)
        self.left = left

    @property
    def dear(self) -> bool:
        return bool(self.left.shape[1] >= DEAR_FEATURES)

    def _resolution(self) -> Array:
        """As of any kernel, and the error of the exponent to first order: the sum of the sizes of its terms, each of them rounded."""
        exponents = -self.left[:, -2]
        terms = 2 * (float(exponents.max(initial=0.0)) + exponents)
        return super()._resolution() + np.expm1(
            np.minimum(gamma_n(self.left.shape[1] + 4, FLOAT32_UNIT) * terms, 700.0)
        )

    def single(self) -> Tiles:
        return RBFTiles(self.gram, self.unit, self.crew, self.left.astype(np.float32))

    @cached_property
    def panels(self) -> Block:
        """The features of all columns, (n, d + 2, PANEL_COLUMNS): PANEL_COLUMNS columns at a time."""
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
        """K[columns, rows] v, (c,). Every entry of K between the rows is computed once where all of them are among the columns."""
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
        """K[columns, rows] v, (c,); symmetric : whether columns and rows are the same."""
        panels = self._panels(columns)

        def add(part: range) -> Array:
            f = np.zeros(len(columns))
            _fill_panels(self.left, columns, panels, part[0], part[-1] + 1)
            _add_exponentials(self.left, rows, v, panels, f, symmetric, part[0], part[-1] + 1)
            return f

        return np.sum(self.crew.share(add, len(panels)), axis=0) if len(panels) else np.zeros(0)

    def _panels(self, columns: Index) -> Block:
        """Room for the features of some columns. Every thread fills in those that it takes."""
        return np.empty(
            (-(-len(columns) // PANEL_COLUMNS), self.left.shape[1], PANEL_COLUMNS), self.dtype
        )


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


@brief
def _expand(X: Array, gamma: float, left: Array) -> float:
    """left <- (sqrt(2 gamma) x, -gamma |x|^2, 1), (m, d + 2), with the origin at the mean of X, (m, d); the mean of gamma |x|^2."""
    (m, d), factor, total = X.shape, np.sqrt(2.0 * gamma), 0.0
    centre = np.zeros(d)
    for i in range(m):
        for t in range(d):
            centre[t] += X[i, t]
    centre /= m
    for i in range(m):
        square = 0.0
        for t in range(d):
            x = X[i, t] - centre[t]
            left[i, t] = factor * x
            square += x * x
        left[i, d], left[i, d + 1] = -gamma * square, 1.0
        total += gamma * square
    mean: float = total / m
    return mean


@brief
def _fill_panels(left: Block, columns: Index, panels: Block, first: int, last: int) -> None:
    """panels[first:last] <- the features of their columns, the last two of each in the other order; 0 for columns that are not there."""
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
        K[above, columns] = np.exp(left[rows[above]] @ panels[p][:, : columns.stop - start])
        if symmetric:
            K[columns, :start] = K[:start, columns].T


@brief
@in_numpy(_exponentials_in_numpy)
@fast
def _exponentials(
    left: Block, rows: Index, panels: Block, K: Block, symmetric: bool, first: int, last: int
) -> None:
    """K <- exp of the products of rows with the columns of the panels first .. last; half of them where rows and columns are the same."""
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
                    row[k] = exponential(exponents[k])
        if symmetric:
            for above in range(0, start, 16):  # a cache line of every row at a time
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
        E = np.exp(left[rows[:stop]] @ panels[p][:, : len(part)])
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
    """f <- f + exp(left[rows] panels)' v over the panels first .. last; SUMMED_ROWS rows at a time in the precision of the features.

    Where rows and columns are the same, every exponential above the diagonal counts for
    its row, too, and those below are left out.
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
                        value = exponential(exponents[k])
                        h[k] += factor * value
                        total += w[k] * value
                    if symmetric and r + j < start:
                        f[r + j] += total
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


def _rows_in_numpy(K: Array, rows: Index, v: Array, f: Array, start: int, stop: int) -> None:
    f[start:stop] += v[: len(rows)] @ K[rows, start:stop]


@brief
@in_numpy(_rows_in_numpy)
@fast
def add_rows(K: Array, rows: Index, v: Array, f: Array, start: int, stop: int) -> None:
    """f <- f + K[rows]' v over the columns start .. stop, four rows at a time."""
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
