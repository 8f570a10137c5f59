"""Rows of ordinal regression: one for every point and threshold."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import gram_of_points, signed_features


class Levels(Rows):
    """Ordinal regression: s_ik (f(x_i) + b_k) >= 1 for point i and threshold k.

    The row of (i, k) is k m + i. s_ik is 1 if the level y_i is above k, and -1
    otherwise. b_k is minus the k-th threshold of the documents. The rows of a point are one
    group: they have one cost.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Levels in {0, ..., T}.
    T : int
        Number of thresholds.
    """

    largest_target = 1.0

    def __init__(self, y: Array, T: int) -> None:
        self.y, self.T = np.asarray(y, dtype=np.float64), T
        self.m, self.p = len(self.y), T * len(self.y)
        k = np.repeat(np.arange(T), self.m)
        self.t, self.s = np.ones(self.p), np.where(np.tile(self.y, T) > k, 1.0, -1.0)
        self.k = k if T > 1 else None

    @property
    def groups(self) -> int:
        return self.m

    def spread(self, values: Array) -> Array:
        return np.tile(values, self.T)

    def dot(self, f: Array) -> Array:
        return np.asarray(self.s * np.tile(f, self.T))

    def combined(self, v: Array) -> Array:
        return self._by_point(self.s * v)

    def absolute_dot(self, f: Array) -> Array:
        return np.tile(f, self.T)

    @cached_property
    def matrix(self) -> Any:
        from scipy import sparse

        return sparse.csr_array(
            (self.s, (np.arange(self.p), np.tile(np.arange(self.m), self.T))),
            shape=(self.p, self.m),
        )

    def gram_of_rows(self, Z: Explicit, D: Array, single: bool = False) -> Array:
        return gram_of_points(Z, self._by_point(D), single)

    def product_of_rows(self, Z: Explicit, D: Array, v: Array) -> Array:
        return Z.product(self._by_point(D), v)

    def take(self, Z: Explicit, index: Index) -> Any:
        return signed_features(Z.rows(index % self.m), self.s[index])

    def part(self, points: Index) -> tuple[Any, Any]:
        return Levels(self.y[points], self.T), points

    def _by_point(self, v: Array) -> Array:
        """Sum v (p,) over the rows of each point, (m,)."""
        return np.asarray(v.reshape(self.T, self.m).sum(axis=0))
