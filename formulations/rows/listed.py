"""Explicit rows: classification, tube of epsilon-SVR, and preference pairs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index, dense, is_sparse
from equimargin.formulations.numeric.jit import brief, in_numpy, jit
from equimargin.formulations.numeric.rounding import round_toward
from equimargin.formulations.rows.base import Rows

GATHERED_ROWS = 256
"""Points whose features are gathered for one matrix product; they fit the cache."""
LISTED_PAIRS = 10_000_000
"""Maximum pairs that are listed explicitly: their indices alone take 160 MB."""


class Signed(Rows):
    """Classification: y_i (f(x_i) + b) >= target, one row per point.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Labels in {-1, +1}.
    target : float, default 1.0
        Target of every row, finite; not 1 in problems whose margin is a variable.
    """

    largest_target = 1.0

    def __init__(self, y: Array, target: float = 1.0) -> None:
        self.y, self.target = np.asarray(y, dtype=np.float64), target
        self.m = self.p = len(self.y)
        self.t, self.s = np.full(self.p, target), self.y
        if target != 1.0:
            self.largest_target = abs(target) or 1.0

    def dot(self, f: Array) -> Array:
        return np.asarray(self.y * f)

    def combined(self, v: Array) -> Array:
        return np.asarray(self.y * v)

    def absolute_dot(self, f: Array) -> Array:
        return f

    @cached_property
    def matrix(self) -> Any:
        return _single_entries(self.y, np.arange(self.m, dtype=np.int32), self.m)

    def gram_of_rows(self, Z: Explicit, D: Array, single: bool = False) -> Array:
        return gram_of_points(Z, D, single)

    def product_of_rows(self, Z: Explicit, D: Array, v: Array) -> Array:
        return Z.product(D, v)

    def take(self, Z: Explicit, index: Index) -> Any:
        return signed_features(Z.rows(index), self.y[index])

    def part(self, points: Index) -> tuple[Any, Any]:
        return Signed(self.y[points], self.target), points


class Tube(Rows):
    """Epsilon-SVR: -epsilon <= y_i - f(x_i) - b <= epsilon.

    The m rows of y - f - b <= epsilon come first, then the m rows of f + b - y <=
    epsilon.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Targets.
    epsilon : float
        Half the width of the tube, in the units of y.
    """

    def __init__(self, y: Array, epsilon: float) -> None:
        self.y, self.epsilon = np.asarray(y, dtype=np.float64), epsilon
        self.m, self.p = len(self.y), 2 * len(self.y)
        self.t = np.concatenate([self.y - epsilon, -self.y - epsilon])
        self.s = np.concatenate([np.ones(self.m), -np.ones(self.m)])

    def bounded_targets(self, way: float) -> Array:
        return np.asarray(round_toward(self.t, way))

    def dot(self, f: Array) -> Array:
        return np.concatenate([f, -f])

    def combined(self, v: Array) -> Array:
        beta: Array = v[: self.m] - v[self.m :]
        return beta

    def absolute_dot(self, f: Array) -> Array:
        return np.concatenate([f, f])

    @cached_property
    def matrix(self) -> Any:
        return _single_entries(self.s, np.tile(np.arange(self.m, dtype=np.int32), 2), self.m)

    def gram_of_rows(self, Z: Explicit, D: Array, single: bool = False) -> Array:
        return gram_of_points(Z, D[: self.m] + D[self.m :], single)

    def product_of_rows(self, Z: Explicit, D: Array, v: Array) -> Array:
        return Z.product(D[: self.m] + D[self.m :], v)

    def take(self, Z: Explicit, index: Index) -> Any:
        return signed_features(Z.rows(index % self.m), self.s[index])

    def part(self, points: Index) -> tuple[Any, Any]:
        return Tube(self.y[points], self.epsilon), np.concatenate([points, self.m + points])


class Pairs(Rows):
    """Ranking: f(x_i) - f(x_j) >= 1 for every i preferred to j.

    Rows are ordered lexicographically by (preferred, other).

    Parameters
    ----------
    preferred, other : ndarray of int of shape (p,)
        Point indices.
    m : int
        Number of points.

    Attributes
    ----------
    query : ndarray of int of shape (m,), or None
        Queries of the labels from which the pairs come; None if the pairs were given
        explicitly.
    """

    query: Index | None = None
    largest_target = 1.0

    def __init__(self, preferred: Index, other: Index, m: int) -> None:
        self.y = None
        order = np.lexsort((other, preferred))
        self._listed = np.asarray(preferred)[order], np.asarray(other)[order]
        self.m, self.p = m, len(preferred)

    @property
    def invariant(self) -> bool:
        return True

    def points_of_rows(self, D: Array) -> float:
        return 2 * float(D.sum())

    @property
    def preferred(self) -> Index:
        """Preferred point of every pair, (p,)."""
        return self._listed[0]

    @property
    def other(self) -> Index:
        """Other point of every pair, (p,)."""
        return self._listed[1]

    @property
    def touched(self) -> Index:
        return np.unique(np.concatenate([self.preferred, self.other]))

    @cached_property
    def t(self) -> Array:  # type: ignore[override]
        """Ones, (p,)."""
        return np.ones(self.p)

    @cached_property
    def s(self) -> Array:  # type: ignore[override]
        """Zeros, (p,): a constant cancels."""
        return np.zeros(self.p)

    def dot(self, f: Array) -> Array:
        difference: Array = f[self.preferred] - f[self.other]
        return difference

    def combined(self, v: Array) -> Array:
        beta = np.zeros(self.m)
        _add_differences(np.asarray(v, dtype=np.float64), self.preferred, self.other, beta)
        return beta

    def absolute_dot(self, f: Array) -> Array:
        total: Array = f[self.preferred] + f[self.other]
        return total

    @cached_property
    def matrix(self) -> Any:
        from scipy import sparse

        r = np.arange(self.p)
        entries = np.concatenate([np.ones(self.p), -np.ones(self.p)])
        positions = np.concatenate([r, r]), np.concatenate([self.preferred, self.other])
        return sparse.csr_array((entries, positions), shape=(self.p, self.m))

    def gram_of_rows(self, Z: Explicit, D: Array, single: bool = False) -> Array:
        from scipy import sparse

        rows = np.flatnonzero(D)
        if not Z.sparse:
            H = np.zeros((Z.q, Z.q))
            if len(rows):
                A, S = np.empty((2, GATHERED_ROWS, Z.d), np.float32 if single else np.float64)
                H[: Z.d, : Z.d] = _laplacian_gram(
                    Z.X, self.preferred[rows], self.other[rows], D[rows], np.zeros(self.m), A, S
                )
            return H
        A = self.matrix[rows]
        laplacian = (A.T @ sparse.diags_array(D[rows]) @ A).tocsr()
        points = np.unique(A.indices)
        touched = Z.rows(points)
        H = touched.T @ (laplacian[points][:, points] @ touched)
        return dense(H)

    def take(self, Z: Explicit, index: Index) -> Any:
        return Z.rows(self.preferred[index]) - Z.rows(self.other[index])

    def part(self, points: Index) -> tuple[Any, Any]:
        place = np.full(self.m, -1)
        place[points] = np.arange(len(points))
        selected = np.flatnonzero((place[self.preferred] >= 0) & (place[self.other] >= 0))
        return Pairs(
            place[self.preferred[selected]], place[self.other[selected]], len(points)
        ), selected


def _single_entries(entries: Array, points: Index, m: int) -> Any:
    """Return rows with one entry each as a CSR array, shape (p, m)."""
    from scipy import sparse

    ends = np.arange(len(entries) + 1, dtype=points.dtype)
    return sparse.csr_array((entries.copy(), points, ends), shape=(len(entries), m))


def gram_of_points(Z: Explicit, D: Array, single: bool) -> Array:
    """Return Z' D Z.

    Parameters
    ----------
    Z : Explicit of shape (m, q)
        Features.
    D : ndarray of shape (m,)
        Diagonal, of either sign.
    single : bool
        True if float32 sums are accurate enough.

    Returns
    -------
    ndarray of shape (q, q)
        Symmetric matrix.
    """
    index = np.flatnonzero(D != 0.0)
    return Z.gram(index, D[index], single)


def signed_features(Z: Any, s: Array) -> Any:
    """Return diag(s) Z for selected rows of features.

    Parameters
    ----------
    Z : ndarray or CSR array of shape (k, q)
        Features.
    s : ndarray of shape (k,)
        Signs.

    Returns
    -------
    ndarray or CSR array of shape (k, q)
        Signed features.
    """
    return Z.multiply(s[:, None]).tocsr() if is_sparse(Z) else s[:, None] * Z


def _differences_in_numpy(v: Array, preferred: Index, other: Index, beta: Array) -> None:
    beta += np.bincount(preferred, v, beta.size)
    beta -= np.bincount(other, v, beta.size)


@brief
@in_numpy(_differences_in_numpy)
@jit
def _add_differences(v: Array, preferred: Index, other: Index, beta: Array) -> None:
    """Add v to the preferred point of every pair, and subtract it from the other."""
    for r in range(v.size):
        beta[preferred[r]] += v[r]
        beta[other[r]] -= v[r]


@brief
def _laplacian_gram(
    X: Array, preferred: Index, other: Index, D: Array, degree: Array, A: Array, S: Array
) -> Array:
    """Return X' A' D A X, (d, d), for pairs in lexicographic order.

    It is computed as X'diag(degree)X - M - M', where M is the sum of D_ij x_i x_j' over
    the pairs. Constants cancel. Points are therefore taken relative to one of them: far
    from 0, rounding could hide their differences.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features.
    preferred, other : ndarray of int of shape (k,)
        Point indices; at least one pair.
    D : ndarray of shape (k,)
        Diagonal.
    degree : ndarray of shape (m,)
        Zeros, as workspace.
    A, S : ndarray of shape (GATHERED_ROWS, d)
        Workspace; its precision is that of the products.
    """
    d, filled, r, origin = X.shape[1], 0, 0, X[preferred[0]]
    H, right = np.zeros((d, d)), np.empty(d)
    # degree_i = sum of D_r over the pairs r with point i.
    for k in range(D.size):
        degree[preferred[k]] += D[k]
        degree[other[k]] += D[k]
    for i in range(degree.size):
        first = r
        while r < D.size and preferred[r] == i:
            r += 1
        if r == first and degree[i] == 0.0:
            continue
        # H gains x_i (1/2 degree_i x_i - sum_r D_r x_other(r))', whose transpose is
        # added last.
        x = X[i]
        for e in range(d):
            A[filled, e] = x[e] - origin[e]
            right[e] = 0.5 * degree[i] * (x[e] - origin[e])
        for k in range(first, r):
            y, weight = X[other[k]], D[k]
            for e in range(d):
                right[e] -= weight * (y[e] - origin[e])
        # The sum over a point's pairs is float64, and only its products float32.
        for e in range(d):
            S[filled, e] = right[e]
        filled += 1
        if filled == GATHERED_ROWS:
            H += A.T @ S
            filled = 0
    H += A[:filled].T @ S[:filled]
    return H + H.T
