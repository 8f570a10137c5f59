"""Explicit features Z (m, q) with K = Z Z', for kernels that have them.

These are the linear kernel, with or without an intercept. Z is X, or X with a column of
ones, which is never stored. A function is f(x) = w.z; if there is a column of ones, the
last entry of w is the constant of f.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from equimargin.formulations.kernels.kernel import Intercept, Kernel, Linear
from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array, Features, Index, canonical, is_sparse
from equimargin.formulations.numeric.jit import brief, fast, in_numpy, jit
from equimargin.formulations.numeric.rounding import (
    LONG_SUM,
    SMALLEST,
    SUMMED_SIZES,
    UNIT,
    extract,
    find_unit,
    gamma_n,
    multiply_with_depth,
    round_toward,
    threshold,
)

ENTRIES_AT_A_TIME = 2**16
"""Entries of X that are copied at a time for Z' D Z: few enough to stay in the cache."""
ENTRIES_WITHOUT_BLAS = 50_000
"""Maximum entries of Z for which a compiled loop sums Z' D Z.

For so small a matrix the loop is faster than BLAS.
"""
FEWEST_LOOPED_COLUMNS = 64
"""Minimum columns of X for which a compiled loop sums X'beta.

The loop skips the points with beta = 0; BLAS reads all of X.
"""
EXTENDED_FEATURE_ENTRIES = 4_000_000
"""Maximum entries of X for sums over X in extended precision.

They are computed if a bound needs them, and take 0.05 seconds.
"""


class Explicit:
    """X (m, d), or X and a column of ones, as an operator.

    Parameters
    ----------
    X : ndarray or CSR array of shape (m, d)
        Features.
    constant : bool
        True if the features include the column of ones.
    """

    def __init__(self, X: Features, constant: bool) -> None:
        self.X, self.constant = X, constant
        self.m, self.d = int(X.shape[0]), int(X.shape[1])
        self.q = self.d + constant
        self.sparse = is_sparse(X)

    @property
    def entries(self) -> int:
        """Number of stored entries of X."""
        return int(self.X.nnz) if self.sparse else self.m * self.d

    @cached_property
    def dense(self) -> Array:
        """X as a row-major ndarray, shape (m, d)."""
        return np.ascontiguousarray(self.X.toarray() if self.sparse else self.X)

    def __matmul__(self, w: Array) -> Array:
        """Return Z w.

        Parameters
        ----------
        w : ndarray of shape (q,)
            Weights.

        Returns
        -------
        ndarray of shape (m,)
            Product.
        """
        f = np.asarray(self.X @ w[: self.d])
        if self.constant:
            f += w[self.d]
        return f

    def rdot(self, beta: Array) -> Array:
        """Return Z' beta.

        Parameters
        ----------
        beta : ndarray of shape (m,)
            Coefficients of the points.

        Returns
        -------
        ndarray of shape (q,)
            Product.
        """
        w = np.empty(self.q, beta.dtype)
        if (
            self.d >= FEWEST_LOOPED_COLUMNS
            and not self.sparse
            and beta.dtype == self.X.dtype == np.float64
        ):
            index = np.flatnonzero(beta)
            _combined_rows(self.X, index, beta[index], w[: self.d])
        elif self.sparse and beta.dtype == self.X.dtype == np.float64:
            _combined_entries(*_unsigned(self.X), beta, w[: self.d])
        else:
            w[: self.d] = self.X.T @ beta
        w[self.d :] = beta.sum()
        return w

    def absolute_dot(self, size: Array) -> Array:
        """Return |Z| size; |X| is computed a few rows at a time.

        Parameters
        ----------
        size : ndarray of shape (q,)
            Numbers, at least 0.

        Returns
        -------
        ndarray of shape (m,)
            Product.
        """
        f = np.empty(self.m)
        for rows, part in self._absolute():
            f[rows] = part @ size[: self.d]
        if self.constant:
            f += size[self.d]
        return f

    def absolute_rdot(self, size: Array) -> Array:
        """Return |Z|' size; |X| is computed a few rows at a time.

        Parameters
        ----------
        size : ndarray of shape (m,)
            Numbers, at least 0.

        Returns
        -------
        ndarray of shape (q,)
            Product.
        """
        w = np.zeros(self.q)
        for rows, part in self._absolute():
            w[: self.d] += part.T @ size[rows]
        w[self.d :] = size.sum()
        return w

    def _absolute(self) -> Iterator[tuple[slice, Any]]:
        """Yield |X| in parts, each with its rows.

        A part fits in the cache; all of |X| would take as much memory as X.
        """
        if self.sparse:
            yield slice(self.m), abs(self.X)
            return
        size = ENTRIES_AT_A_TIME // self.d + 1
        buffer = np.empty((min(size, self.m), self.d))
        for start in range(0, self.m, size):
            rows = self.X[start : start + size]
            yield slice(start, start + len(rows)), np.abs(rows, out=buffer[: len(rows)])

    @property
    def extended(self) -> bool:
        """True if sums over X in an extended precision are available and fast."""
        return self.entries <= EXTENDED_FEATURE_ENTRIES and bool(
            np.finfo(np.longdouble).eps < np.finfo(np.float64).eps
        )

    def values(self, w: Array) -> tuple[Array, Array]:
        """Return Z w and a bound on its error, in the precision of w.

        Parameters
        ----------
        w : ndarray of shape (q,)
            Weights.

        Returns
        -------
        f, error : ndarray of shape (m,)
            Product and its error bound.
        """
        gamma, size = gamma_n(self.q + 2), round_toward(np.abs(w).astype(np.float64), 1)
        return self @ w, _sum_error(
            gamma_n(self.q + 2, find_unit(w)), (1 + gamma) * self.absolute_dot(size), w
        )

    def combination(self, beta: Array) -> tuple[Array, Array]:
        """Return Z' beta and a bound on its error, in the precision of beta.

        Parameters
        ----------
        beta : ndarray of shape (m,)
            Coefficients of the points, with float64 values.

        Returns
        -------
        w, error : ndarray of shape (q,)
            Product and its error bound.
        """
        w, size = np.empty(self.q, beta.dtype), self.absolute_rdot(np.abs(beta).astype(np.float64))
        size *= 1 + gamma_n(self.m + 2)
        if self._has_sums_of_parts(beta, size):
            return self._sums_of_parts(beta, size)
        w[: self.d], depth = multiply_with_depth(self.X.T, beta)
        if self.constant:
            w[self.d :] = multiply_with_depth(np.ones((1, self.m)), beta)[0]
        return w, _sum_error(gamma_n(depth + 2, find_unit(w)), size, beta)

    def _has_sums_of_parts(self, beta: Array, size: Array) -> bool:
        """Return True if `_sums_of_parts` takes the numbers."""
        within = (size > SUMMED_SIZES[0]) & (size < SUMMED_SIZES[1])
        return (
            self.m >= LONG_SUM
            and not self.sparse
            and beta.dtype == self.X.dtype == np.float64
            and bool((within | (size == 0)).all())
        )

    def _sums_of_parts(self, beta: Array, size: Array) -> tuple[Array, Array]:
        """Return Z' beta and a bound on its error: of rounded products in parts.

        Parameters
        ----------
        beta : ndarray of shape (m,)
            Coefficients of the points.
        size : ndarray of shape (q,)
            Upper bounds of |Z|' |beta|.
        """
        start, count = threshold(self.m, size)[:, None], ENTRIES_AT_A_TIME // self.d + 1
        high, rest = np.zeros(self.q), np.zeros(self.q)
        for first in range(0, self.m, count):
            rows = slice(first, first + count)
            products = np.empty((self.q, len(beta[rows])))
            np.multiply(self.X[rows].T, beta[rows], out=products[: self.d])
            products[self.d :] = beta[rows]
            high += extract(products, start)
            rest += products.sum(axis=1)
        w, depth = high + rest, count + -(-self.m // count)
        # What is left of a product is at most u times the threshold.
        rounding = 2 * UNIT * np.abs(w) + gamma_n(depth) * self.m * UNIT * start[:, 0]
        error = _sum_error(gamma_n(2), size, beta) + np.where(size > 0, rounding, 0.0)
        return w, round_toward(error * (1 + gamma_n(4)), 1)

    def kernel_product(self, v: Array) -> tuple[Array, Array]:
        """Return K v = Z (Z'v) and a bound on its error, in the precision of v.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Coefficients of the points, with float64 values.

        Returns
        -------
        f, error : ndarray of shape (m,)
            Product and its error bound.
        """
        w, w_error = self.combination(v)
        f, error = self.values(w)
        reach = (1 + gamma_n(self.q + 2)) * self.absolute_dot(w_error) + 4 * np.count_nonzero(
            w_error
        ) * SMALLEST
        return f, round_toward((error + reach) * (1 + gamma_n(4)), 1) if w_error.any() else error

    def rows(self, index: Index) -> Any:
        """Return the rows Z[index].

        Parameters
        ----------
        index : ndarray of shape (k,)
            Indices of points.

        Returns
        -------
        ndarray or CSR array of shape (k, q)
            Rows, in the format of X.
        """
        X = self.X[index]
        return _appended(X, len(index)) if self.constant else X

    @cached_property
    def squares(self) -> Array:
        """|z_i|^2, shape (m,)."""
        squares = np.full(self.m, float(self.constant))
        if self.sparse:
            _add_squares_of_entries(*_unsigned(self.X), np.zeros(self.d), squares)
        elif self.X.flags.c_contiguous:
            _add_squares(self.X, squares)
        else:
            squares += np.einsum("ij,ij->i", self.X, self.X)
        return squares

    def column_means(self) -> tuple[Array, Array]:
        """Return the means of z and of z^2 over the points, (q,) each."""
        ones = np.full(self.m, 1 / self.m)
        squares = (
            self.X.multiply(self.X).T @ ones
            if self.sparse
            else np.einsum("ij,ij->j", self.X, self.X) / self.m
        )
        return self.rdot(ones), np.append(squares, np.ones(self.q - self.d))

    def mean_square(self) -> float:
        """Return the mean of |z|^2 over the points."""
        return float(self.squares.mean())

    def gram(self, index: Index, D: Array, single: bool = False) -> Array:
        """Return Z[index]' diag(D) Z[index].

        Parameters
        ----------
        index : ndarray of shape (k,)
            Indices of points.
        D : ndarray of shape (k,)
            Nonzero numbers of either sign.
        single : bool
            True if sums of float32 over some hundred points each are accurate enough.

        Returns
        -------
        ndarray of shape (q, q)
            Symmetric matrix.
        """
        if not self.sparse and len(index) * self.q <= ENTRIES_WITHOUT_BLAS:
            H = np.zeros((self.q, self.q))
            _few_products(self.X, index, D, H)
            return H
        positive = D > 0.0
        if positive.all():
            return self._squared(index, D, single)
        return self._squared(index[positive], D[positive], single) - self._squared(
            index[~positive], -D[~positive], single
        )

    def _squared(self, index: Index, D: Array, single: bool) -> Array:
        """Return the matrix of `gram` for D > 0.

        It is B' B with B = D^1/2 Z: BLAS computes one triangle of such a product.
        """
        unit = float(D[0]) if len(D) and not np.ptp(D) else None
        roots = np.sqrt(D) if unit is None else np.ones(len(D))
        if self.sparse:
            B = self.rows(index).multiply(roots[:, None]).tocsr()
            H = np.asarray((B.T @ B).toarray())
        else:
            H = np.zeros((self.q, self.q))
            size = max(min(max(ENTRIES_AT_A_TIME // self.d + 1, self.d), len(index)), 1)
            precision = np.float32 if single else np.float64
            buffer, products = (
                np.empty((size, self.d), precision),
                np.empty((self.d, self.d), precision),
            )
            for start in range(0, len(index), size):
                part, root = index[start : start + size], roots[start : start + size]
                # Consecutive unscaled rows need no copy.
                if unit is not None and not single and part[-1] - part[0] == len(part) - 1:
                    B = self.X[part[0] : part[-1] + 1]
                else:
                    B = buffer[: len(root)]
                    _scaled_rows(self.X, part, root, B)
                H[: self.d, : self.d] += np.matmul(B.T, B, out=products)
                if self.constant:
                    H[: self.d, self.d] += root @ B
            H[self.d :, : self.d] = H[: self.d, self.d :].T
            H[self.d :, self.d :] = roots @ roots
        if unit is not None and unit != 1.0:
            H *= unit
        return H

    def product(self, D: Array, v: Array) -> Array:
        """Return Z' diag(D) Z v, in one pass over the rows with D_i != 0 if X is sparse.

        Parameters
        ----------
        D : ndarray of shape (m,)
            Factors of the points.
        v : ndarray of shape (q,)
            Weights.

        Returns
        -------
        ndarray of shape (q,)
            Product.
        """
        if not self.sparse:
            return self.rdot(D * (self @ v))
        result = np.zeros(self.q)
        constant = _sparse_product(
            *_unsigned(self.X), D, v[: self.d], float(v[self.d :].sum()), result[: self.d]
        )
        result[self.d :] = constant
        return result

    @property
    def stored_entries(self) -> int:
        """Number of entries of Z, its column of ones included."""
        return self.entries + self.constant * self.m

    @property
    def stored(self) -> Features:
        """Z with its column of ones, shape (m, q)."""
        return _appended(self.X, self.m) if self.constant else self.X


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a table (pandas, polars) as text.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features of any type; a name is any hashable object (text, numbers, dates,
        tuples), which arrays are not.

    Returns
    -------
    tuple of str or None
        None for data without names.
    """
    names = tuple(getattr(X, "columns", ()))
    return (
        tuple(map(str, names))
        if names and all(isinstance(name, Hashable) for name in names)
        else None
    )


def check_columns(X: Any, names: tuple[str, ...] | None) -> None:
    """Raise ValueError for a table whose columns are not those of the training points.

    With another column or order, f would be evaluated at other points.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points of any type.
    names : tuple of str of length d, or None
        Column names of the training points; None if they have none.

    Raises
    ------
    ValueError
        If a name differs; the message states its column.
    """
    given = column_names(X)
    if given is None or names is None or given == names:
        return
    place = next(
        place
        for place, (name, expected) in enumerate(zip(given, names, strict=True))
        if name != expected
    )
    relation = "in another order than" if sorted(given) == sorted(names) else "not"
    raise ValueError(
        f"the columns of X are {relation} those of the problem (column {place} is {given[place]!r} "
        f"and must be {names[place]!r}); "
        "give the same columns in the same order, or an array"
    )


def new_points(X: Any, training: Features, names: tuple[str, ...] | None) -> Features:
    """Return the points at which f is evaluated, as an array or CSR rows of float64.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Points of any type.
    training : ndarray or sparse array of shape (m, d)
        Training points.
    names : tuple of str of length d, or None
        Column names of the training points, if they have names.

    Returns
    -------
    ndarray or CSR array of shape (n, d)
        Points.

    Raises
    ------
    ValueError
        If X is no matrix of numbers, or has other columns than the training points.
    """
    if is_sparse(X):
        X = X.tocsr()
        check_reals(X.data, "X")
        points = canonical(X.astype(np.float64, copy=False))
    else:
        points = check_reals(X, "X")
    if points.ndim != 2 or points.shape[1] != training.shape[1]:
        raise ValueError(
            f"the points must be of shape (n, {training.shape[1]}), as the training points "
            f"are, not {points.shape}"
        )
    check_columns(X, names)
    return points


def explicit(kernel: Kernel, X: Features) -> Explicit | None:
    """Return the features of a linear kernel, with or without an intercept.

    Parameters
    ----------
    kernel : Kernel
        Kernel k.
    X : ndarray or sparse array of shape (m, d)
        Features.

    Returns
    -------
    Explicit or None
        None for any other kernel.
    """
    if isinstance(kernel, Linear):
        return Explicit(X, False)
    if isinstance(kernel, Intercept) and isinstance(kernel.kernel, Linear):
        return Explicit(X, True)
    return None


def _sum_error(gamma: float, size: Array, v: Array) -> Array:
    """Return an upper bound of |fl(A v) - A v|, which is at most gamma |A||v| + n eta.

    n is the number of nonzero entries of v; size must be at least |A||v| - n eta.
    """
    products = np.count_nonzero(v)
    return (
        np.asarray(round_toward(gamma * (1 + gamma) * size + 4 * products * SMALLEST, 1))
        if products
        else np.zeros_like(size)
    )


def _appended(X: Features, m: int) -> Features:
    """Append a column of ones to X."""
    if not is_sparse(X):
        return np.column_stack([X, np.ones(m)])
    from scipy import sparse

    ends = X.indptr[1:] + np.arange(m, dtype=X.indptr.dtype)
    is_stored = np.ones(X.nnz + m, dtype=np.bool_)
    is_stored[ends] = False
    indices, data = np.full(X.nnz + m, X.shape[1], dtype=X.indices.dtype), np.ones(X.nnz + m)
    indices[is_stored], data[is_stored] = X.indices, X.data
    return sparse.csr_array(
        (data, indices, np.append(X.indptr[:1], ends + 1)), shape=(m, X.shape[1] + 1)
    )


def _unsigned(X: Features) -> tuple[Index, Index, Array]:
    """Return the arrays of a CSR matrix, with unsigned indices.

    numba tests whether a signed index is negative, which is slow.
    """
    return X.indptr.view(f"u{X.indptr.itemsize}"), X.indices.view(f"u{X.indices.itemsize}"), X.data


@fast
def _add_squares_of_entries(
    indptr: Index, indices: Index, data: Array, x: Array, squares: Array
) -> None:
    """Add |x_i|^2 to `squares`, (m,).

    The workspace x, (d,), is zero. Entries a of one index are summed before squaring:
    (s + a)^2 = s^2 + a (2 s + a).
    """
    for i in range(squares.size):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            before = x[indices[e]]
            total += data[e] * (2.0 * before + data[e])
            x[indices[e]] = before + data[e]
        squares[i] += total
        for e in range(indptr[i], indptr[i + 1]):
            x[indices[e]] = 0.0


def _squares_in_numpy(X: Array, squares: Array) -> None:
    squares += np.einsum("ij,ij->i", X, X)


@brief
@in_numpy(_squares_in_numpy)
@fast
def _add_squares(X: Array, squares: Array) -> None:
    """Add |x_i|^2 to `squares`, (m,)."""
    for i in range(squares.size):
        x, square = X[i], 0.0
        for j in range(x.size):
            square += x[j] * x[j]
        squares[i] += square


def _combined_in_numpy(X: Array, index: Index, c: Array, w: Array) -> None:
    w[:] = c @ X[index]


@brief
@in_numpy(_combined_in_numpy)
@fast
def _combined_rows(X: Array, index: Index, c: Array, w: Array) -> None:
    """Write X[index]'c into w, (d,), four rows at a time."""
    full = index.size - index.size % 4
    w[:] = 0.0
    for k in range(0, full, 4):
        x, y, z, v = X[index[k]], X[index[k + 1]], X[index[k + 2]], X[index[k + 3]]
        cx, cy, cz, cv = c[k], c[k + 1], c[k + 2], c[k + 3]
        # w += c_k x_k + ... + c_{k+3} x_{k+3}.
        for j in range(w.size):
            w[j] += cx * x[j] + cy * y[j] + cz * z[j] + cv * v[j]
    for k in range(full, index.size):
        x, cx = X[index[k]], c[k]
        for j in range(w.size):
            w[j] += cx * x[j]


@fast
def _combined_entries(indptr: Index, indices: Index, data: Array, beta: Array, w: Array) -> None:
    """Write X'beta into w, (d,), for X (m, d) by the arrays of a CSR matrix.

    Points with beta = 0 are skipped.
    """
    w[:] = 0.0
    for i in range(beta.size):
        if beta[i] != 0.0:
            for e in range(indptr[i], indptr[i + 1]):
                w[indices[e]] += beta[i] * data[e]


@fast
def _scaled_rows(X: Array, index: Index, scale: Array, B: Any) -> None:
    """Write diag(scale) X[index] into B, (k, d), in the precision of B."""
    for k in range(index.size):
        x, b, factor = X[index[k]], B[k], scale[k]
        for j in range(x.size):
            b[j] = factor * x[j]


def _products_in_numpy(X: Array, index: Index, D: Array, H: Array) -> None:
    Z = np.ones((index.size, len(H)))
    Z[:, : X.shape[1]] = X[index]
    H[:] = Z.T @ (D[:, None] * Z)


@brief
@in_numpy(_products_in_numpy)
@fast
def _few_products(X: Array, index: Index, D: Array, H: Array) -> None:
    """Write Z[index]' diag(D) Z[index] into H, initially 0, four rows at a time.

    Z is X, or X and a column of ones if H is larger.
    """
    d, q = X.shape[1], H.shape[0]
    B, c = np.ones((4, q)), np.zeros(4)
    v, x, y, z = B[0], B[1], B[2], B[3]
    for start in range(0, index.size, 4):
        c[:] = 0.0
        for k in range(min(4, index.size - start)):
            c[k] = D[start + k]
            x_k = X[index[start + k]]
            # numba would compile the error text of a slice assignment for two seconds.
            for j in range(d):
                B[k, j] = x_k[j]
        for i in range(q):
            h = H[i]
            # H_ij += sum_k D_k z_ki z_kj for j <= i.
            cv, cx, cy, cz = c[0] * v[i], c[1] * x[i], c[2] * y[i], c[3] * z[i]
            for j in range(i + 1):
                h[j] += cv * v[j] + cx * x[j] + cy * y[j] + cz * z[j]
    for i in range(q):
        for j in range(i):
            H[j, i] = H[i, j]


@jit
def _sparse_product(
    indptr: Index, indices: Index, data: Array, D: Array, v: Array, constant: float, result: Array
) -> float:
    """Add X' diag(D) (X v + constant) to `result`; return the sum of diag(D) (X v + constant)."""
    total = 0.0
    for i in range(D.size):
        if D[i] != 0.0:
            # f = D_i (x_i.v + constant), then result += f x_i.
            f = constant
            for e in range(indptr[i], indptr[i + 1]):
                f += data[e] * v[indices[e]]
            f *= D[i]
            total += f
            for e in range(indptr[i], indptr[i + 1]):
                result[indices[e]] += data[e] * f
    return total
