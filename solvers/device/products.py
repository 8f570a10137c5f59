"""Blocks of a kernel matrix K / unit, and products with it, on a card.

Entries are computed by one kernel (`product.cu`), from features and two expressions of
CUDA C: JOIN, which adds a feature to a sum, and VALUE, the entry of a sum. In a product
no entry is written to memory. A given matrix is stored on the card instead.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from equimargin.formulations.kernels.exponential import Exponential
from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.kernels.kernel import RBF, Kernel, Linear, Polynomial, Precomputed
from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.solvers.device.card import Card
from equimargin.solvers.products.crew import Crew
from equimargin.solvers.products.tiles import EXPANDED_EXPONENT, Block, Tiles

FEATURES_AT_ONCE = 16
"""Features of a tile in the card's shared memory."""
POINTS_PER_THREAD = {np.dtype(np.float32): 8, np.dtype(np.float64): 4}
"""Points and rows of a thread: 8 x 8 sums in float32 or 4 x 4 in float64 fit in registers."""
FASTEST_BLOCKS = 1056
"""Blocks of threads that fill a card of 132 multiprocessors."""
FEWEST_ROWS = 512
"""Minimum number of rows whose terms a block of threads sums."""
ROWS_AT_ONCE = 65536
"""Rows whose features are copied at a time: it bounds the memory."""
ENTRIES_AT_ONCE = 2**26
"""Entries of a given matrix that are copied at a time: 512 MB in float64."""
FEATURE_ARRAYS = 4
"""Arrays of all features, in float64, that are in memory when the features are made."""
VECTORS = 40
"""Arrays of one number per point in a run, temporary ones included, in float64."""
DIFFERENCE = "s + (x - z) * (x - z)"
INNER = "fma(x, z, s)"
LOG2E = math.log2(math.e)


class Formula(NamedTuple):
    """Features and expressions of a kernel.

    Parameters
    ----------
    left : ndarray of shape (m, e)
        Features of the points.
    join : str
        JOIN(s, x, z) of `product.cu`.
    value : str
        VALUE(s) of `product.cu`.
    exchanged : bool
        True if the last two features are exchanged in the second argument.
    """

    left: Array
    join: str
    value: str
    exchanged: bool = False


def formula(kernel: Kernel, X: Array, unit: float) -> Formula:
    """Return the formula of k / unit at some points, in the place of their array.

    Parameters
    ----------
    kernel : Kernel
        Kernel that `is_supported` accepts, not a given matrix.
    X : ndarray of shape (m, d)
        Points.
    unit : float
        Divisor.
    """
    if isinstance(kernel, Linear):
        return Formula(X / math.sqrt(unit), INNER, "(s)")
    if isinstance(kernel, Polynomial):
        # The base is divided, not its power, which can overflow in float32.
        root = unit ** (1 / kernel.degree)
        value = f"power((s) + (REAL){float(kernel.coef0 / root)!r}, {kernel.degree})"
        return Formula(math.sqrt(kernel.gamma / root) * X, INNER, value)
    centred = X - X.mean(axis=0)
    if isinstance(kernel, Exponential):
        return Formula(kernel.gamma * LOG2E * centred, DIFFERENCE, "exp2(-sqrt(s))")
    assert isinstance(kernel, RBF)
    scaled = centred
    scaled *= math.sqrt(kernel.gamma * LOG2E)
    squares = (scaled * scaled).sum(axis=1)
    if not float(squares.mean()) < EXPANDED_EXPONENT:
        return Formula(scaled, DIFFERENCE, "exp2(-(s))")
    # -|x - z|^2 = 2 x.z - |x|^2 - |z|^2 as one inner product.
    scaled *= math.sqrt(2.0)
    columns = [scaled, -squares[:, None], np.ones_like(squares)[:, None]]
    return Formula(np.concatenate(columns, axis=1), INNER, "exp2(s)", exchanged=True)


def is_supported(kernel: Kernel, X: Features) -> bool:
    """Return True if a card has the kernel.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    X : ndarray or sparse array of shape (m, d)
        Points.
    """
    kinds = (Linear, Polynomial, RBF, Exponential, Precomputed)
    return isinstance(kernel, kinds) and not is_sparse(X)


def count_bytes(gram: Gram) -> float:
    """Return the bytes of a card's memory for products with K, and the run's vectors.

    Parameters
    ----------
    gram : Gram
        K.
    """
    m, e = gram.m, int(gram.X.shape[1]) + 2
    if isinstance(gram.kernel, Precomputed):
        return 12.0 * m**2 + 8.0 * (min(m**2, ENTRIES_AT_ONCE) + VECTORS * m)
    copied = min(m, ROWS_AT_ONCE)
    return 8.0 * (FEATURE_ARRAYS * m * e + copied * e + VECTORS * m)


def card_tiles(card: Card, gram: Gram, unit: float) -> tuple[Tiles, Tiles]:
    """Return K / unit on a card, in float64 and in float32.

    Parameters
    ----------
    card : Card
        Card.
    gram : Gram
        K.
    unit : float
        Divisor.
    """
    if isinstance(gram.kernel, Precomputed):
        K = card.put(gram.dense / unit)
        return tuple(  # type: ignore[return-value]
            StoredTiles(gram, unit, K.astype(t, copy=False), t) for t in (np.float64, np.float32)
        )
    found = formula(gram.kernel, card.put(gram.X), unit)
    left, kind = found.left, CardTiles
    if isinstance(gram.kernel, Linear):
        kind = LinearCardTiles
    return tuple(  # type: ignore[return-value]
        kind(gram, unit, card, left.astype(t, copy=False), t, found)
        for t in (np.float64, np.float32)
    )


class CardTiles(Tiles):
    """Tiles on a card; rows, columns, vectors and results are arrays of the card.

    Parameters
    ----------
    gram : Gram
        K.
    unit : float
        Divisor.
    card : Card
        Card.
    left : cupy.ndarray of shape (m, e)
        Features in the precision of the tiles.
    dtype : DTypeLike
        Precision.
    found : Formula
        Expressions of the kernel; its features are in `left`.
    """

    def __init__(
        self, gram: Gram, unit: float, card: Card, left: Any, dtype: DTypeLike, found: Formula
    ) -> None:
        super().__init__(gram, unit, Crew(1), dtype)
        self.card, self.left, self.exchanged = card, left, found.exchanged
        self._macros = macros(self.dtype, found.join, found.value)

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        n, q, e = len(rows), len(columns), self.left.shape[1]
        K = self.card.cupy.empty((n, q), self.dtype) if out is None else out
        side, arguments = self._side, (self.left[rows], self._right(columns), K)
        self._run("block", (-(-n // side), -(-q // side)), (*arguments, *int32(n, q, e)))
        return K

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            self._add(self.left, self._right(rows[part]), v[part], f)

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        left = self.left[columns]
        f: Array = self.card.put(np.zeros(len(columns)))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            self._add(left, self._right(rows[part]), v[part], f)
        return f

    def _add(self, left: Any, Z: Any, v: Any, f: Any) -> None:
        """Add k of the features, points by Z, times v, to f."""
        (n, e), q, side = left.shape, len(Z), self._side
        grid, per = split_rows(n, q, side)
        out = self.card.cupy.empty((grid[1], n))
        self._run("product", grid, (left, Z, v, out, *int32(n, q, e, per)))
        f += out.sum(axis=0)

    @property
    def _side(self) -> int:
        return 16 * POINTS_PER_THREAD[self.dtype]

    def _right(self, points: Any) -> Any:
        """Return the features of the second argument of k, (q, e)."""
        Z = self.left[points]
        if self.exchanged:
            Z[:, -2:] = Z[:, :-3:-1].copy()
        return Z

    def _run(self, name: str, grid: tuple[int, int], arguments: tuple[Any, ...]) -> None:
        # In float32 denormal values count as 0, which halves the cost of exp2.
        options = ("-ftz=true",) if self.dtype == np.float32 else ()
        self.card.kernel("product", name, self._macros, options)(grid, (256,), arguments)


class LinearCardTiles(CardTiles):
    """Tiles of x.z on a card, whose product is computed by w = X' v."""

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        f += self.left @ (v.astype(self.dtype) @ self.left[rows])

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        f: Array = self.left[columns] @ (v.astype(self.dtype) @ self.left[rows])
        return f.astype(np.float64)


class StoredTiles(Tiles):
    """Tiles of a matrix that the device stores.

    Parameters
    ----------
    gram : Gram
        K.
    unit : float
        Divisor.
    K : cupy.ndarray of shape (m, m)
        K / unit.
    dtype : DTypeLike
        Precision.
    """

    def __init__(self, gram: Gram, unit: float, K: Any, dtype: DTypeLike) -> None:
        super().__init__(gram, unit, Crew(1), dtype)
        self.K = K

    def block(self, rows: Index, columns: Index, out: Block | None = None) -> Block:
        return self.K[rows[:, None], columns]  # type: ignore[no-any-return]

    def add_product(self, rows: Index, v: Array, f: Array) -> None:
        step = max(1, ENTRIES_AT_ONCE // self.gram.m)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            f += v[part].astype(self.dtype) @ self.K[rows[part]]

    def product(self, rows: Index, v: Array, columns: Index) -> Array:
        f = np.zeros_like(self.K[0], dtype=np.float64)
        self.add_product(rows, v, f)
        return f[columns]


def macros(dtype: DTypeLike, join: str, value: str) -> dict[str, object]:
    """Return the macros of `product.cu`.

    Parameters
    ----------
    dtype : DTypeLike
        Precision of features and sums.
    join : str
        Expression of s, x and z.
    value : str
        Expression of s.
    """
    real = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}[np.dtype(dtype)]
    return {
        "REAL": real,
        "PER": POINTS_PER_THREAD[np.dtype(dtype)],
        "KC": FEATURES_AT_ONCE,
        "JOIN(s, x, z)": join,
        "VALUE(s)": value,
    }


def split_rows(n: int, q: int, side: int) -> tuple[tuple[int, int], int]:
    """Return the grid of a product, and the number of rows of each of its parts.

    The rows are divided until the card is full, always in the same way.

    Parameters
    ----------
    n : int
        Number of points.
    q : int
        Number of rows, at least 1.
    side : int
        Points and rows of a tile.
    """
    tiles = -(-n // side)
    parts = max(1, min(-(-q // FEWEST_ROWS), -(-FASTEST_BLOCKS // tiles)))
    per = -(-q // (parts * side)) * side
    return (tiles, -(-q // per)), per


def int32(*numbers: int) -> tuple[np.int32, ...]:
    """Return numbers as arguments of a kernel.

    Parameters
    ----------
    *numbers : int
        Numbers.
    """
    return tuple(np.int32(number) for number in numbers)
