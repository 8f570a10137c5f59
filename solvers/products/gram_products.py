"""Products of the Gram matrix of some points with vectors.

The matrix is stored if it fits, or else computed anew for every product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.solvers.products.tiles import Tiles, tiles

LARGEST_FLOAT32_GRAM = 8e9
"""Size, in bytes, of the largest Gram matrix that is stored in float32.

It applies to matrices that are too large for float64.
"""
LARGEST_FLOAT64_GRAM = 1e9
"""Size, in bytes, of the largest Gram matrix that is stored in float64."""
GRAM_IN_CACHE = 5e7
"""Size, in bytes, of a float64 Gram matrix up to which float32 makes products no faster.

A processor's cache holds most of it.
"""
COMPUTED_ROWS = 1024
"""Rows of a Gram matrix that are computed at a time when it is made."""


class GramProducts:
    """Products of K on some points with vectors.

    Float64 for values that are reported, float32 for directions.

    Parameters
    ----------
    gram : Gram
        K of all points.
    points : Index of shape (n,)
        Points of the product.

    Attributes
    ----------
    count : int
        Number of products so far.
    """

    def __init__(self, gram: Gram, points: Index) -> None:
        # Imported here: it would slow down the import of all solvers.
        from scipy.linalg import blas

        self.points, self.count = points, 0
        self._dsymv, self._ssymv = blas.dsymv, blas.ssymv
        entries = float(len(points)) ** 2
        self._tiles = tiles(gram, 1.0)
        self._double = (
            _lower_triangle(self._tiles, points) if 8 * entries <= LARGEST_FLOAT64_GRAM else None
        )
        self._single = None
        if self._double is not None and 8 * entries > GRAM_IN_CACHE:
            self._single = self._double.astype(np.float32)
        elif self._double is None and 4 * entries <= LARGEST_FLOAT32_GRAM:
            self._single = _lower_triangle(self._tiles.single(), points)

    def __call__(self, v: Array) -> Array:
        """Return K v, shape (n,).

        Parameters
        ----------
        v : ndarray of shape (n,)
            Vector.
        """
        self.count += 1
        if self._double is not None:
            return np.asarray(self._dsymv(1.0, self._double.T, v)) if len(v) else v
        return self._tiles.product(self.points, v, self.points)

    def forget_rough(self) -> None:
        """Compute every product in float64 from now on."""
        self._single = None

    def rough(self, v: Array) -> Array:
        """Return K v, shape (n,), to about seven digits.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Vector.
        """
        if self._single is None:
            return self(v)
        self.count += 1
        # Scaled, because float32 has a small range.
        size = float(np.abs(v).max(initial=0.0)) or 1.0
        return (
            np.asarray(
                self._ssymv(1.0, self._single.T, (v / size).astype(np.float32)), dtype=np.float64
            )
            * size
        )


def _lower_triangle(blocks: Tiles, points: Index) -> NDArray[Any]:
    """Return K at the points, shape (n, n); 0 above its diagonal blocks."""
    n = len(points)
    K = np.zeros((n, n), blocks.dtype)
    for start in range(0, n, COMPUTED_ROWS):
        stop = min(start + COMPUTED_ROWS, n)
        K[start:stop, :stop] = blocks.block(points[start:stop], points[:stop])
    return K
