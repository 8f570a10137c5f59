"""Form in which the functions of a path are returned, and their relative gaps.

    f(x) + b = w.(z - c) + value        features z of a linear kernel, c their mean
    f(x) + b = sum_i beta_i ( k(x_i, x) - k(x_i, x_1) ) + value    any other kernel

Both forms are centred, so that points far from 0 cost no digits. `value` is f + b at
the anchor, which is c or x_1, less the common offset of all targets of a regression.
The offset belongs to b; because it is stored apart, it costs the path no digits. Where
a constant in f makes a difference, the anchor is 0 and value = 0.

For multipliers alpha in [0, c], f_alpha = sum_i (A'alpha)_i k(x_i, .) and any f and b,
with u = t - A f - b s, the gap

    primal(f, b) - dual(alpha) = sum_r alpha_r (-u_r)_+ + (c_r - alpha_r) (u_r)_+  +
    1/2 |f - f_alpha|^2  +  b s'alpha

has no large terms that cancel; its b is that of the centred f and targets. Sums are in
extended precision if the machine has it, and their remaining rounding error is counted
against the gap.

Source: Fenchel's inequality, row by row, with equality for a conjugate pair; document T
(32)-(35) for the pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.intervals import relative_size
from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.numeric.rounding import UNIT, gamma_n
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.exact_limits import rational_kernel

Extended = NDArray[np.longdouble]
EXTENDED_UNIT = float(np.finfo(np.longdouble).eps) / 2
"""Unit roundoff of extended precision, 2^-64 on x86.

That of float64 on a machine without extended precision.
"""
EXTENDED_TILE_ENTRIES = 2**18
"""Entries of a matrix that are in extended precision at a time; they take 4 MB."""


class Values(NamedTuple):
    """f at the training points.

    Parameters
    ----------
    f : array-like of shape (m,)
        Centred values.
    off : ndarray of shape (m,)
        Bounds on the errors of f.
    b : Any
        With a bias: the bias plus the constant that centring subtracts from f, less the
        offset of the targets.
    norm2 : float
        |f|^2, approximately.
    """

    f: Any
    off: Array
    b: Any
    norm2: float


class FunctionForm:
    """Form in which the functions of a problem's path are returned.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the path.

    Attributes
    ----------
    free : bool
        True if a constant in f makes no difference.
    explicit : bool
        True if the path stores features of f instead of coefficients of k(x_i, .).
    centre : ndarray of shape (q,)
        c; empty if the kernel has no features.
    offset : float
        Common offset of all targets, which belongs to b.
    rows : Rows
        Rows of the problem, their targets less the offset.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem, self.features = problem, problem.explicit
        self.free = problem.bias or problem.rows.invariant
        self.offset, self.rows = (
            without_offset(problem.rows) if problem.bias else (0.0, problem.rows)
        )
        self.centre: Array = np.zeros(0 if self.features is None else self.features.q)
        if self.features is not None and self.free:
            total = np.sum(
                [part.sum(axis=0) for _, part in self._feature_tiles()], axis=0, dtype=np.longdouble
            )
            self.centre = np.asarray(total / problem.m, dtype=np.float64)
        self.explicit = self.features is not None and self.features.q <= problem.m

    # At the training points.

    @cached_property
    def matrix(self) -> tuple[Array, float]:
        """E of `active_set.py`, shape (m, k), and the error of an entry of K.

        E contains centred features or is the centred Gram matrix.
        """
        if self.features is not None:
            Z = np.concatenate([part for _, part in self._feature_tiles()]).astype(np.float64)
            return (Z, 0.0) if self.explicit else (Z @ Z.T, 0.0)
        K, lost = np.empty((self.problem.m, self.problem.m)), EXTENDED_UNIT * self._largest
        mean = self._means
        for rows, part in self._kernel_tiles():
            K[rows] = part - mean[rows, None] - (mean - mean.mean())
        if self._lossy:
            lost += float(self._rounding(np.ones(self.problem.m)).max(initial=0.0)) / self.problem.m
        return K, lost

    @cached_property
    def _means(self) -> Extended:
        """Row means of K, shape (m,); zeros where a constant in f makes a difference."""
        if not self.free:
            return np.zeros(self.problem.m, dtype=np.longdouble)
        return np.concatenate([part.mean(axis=1) for _, part in self._kernel_tiles()])

    @property
    def shift(self) -> Array:
        """Vector s, shape (k,): uncentring a function v decreases the bias by s'v."""
        if self.features is None:
            return self._means.astype(np.float64)
        if self.explicit:
            return self.centre
        return np.concatenate([part @ self.centre for _, part in self._feature_tiles()]).astype(
            np.float64
        )

    @property
    def spread(self) -> float:
        """Maximum distance of the row means of K, subtracted by centring, from their mean.

        It is 0 for features, which lose nothing.
        """
        return (
            0.0
            if self.features is not None
            else float(np.abs(self._means - self._means.mean()).max(initial=0.0))
        )

    def norm2(self, beta: Array) -> float:
        """Return |sum_i beta_i k(x_i, .)|^2 for coefficients that nearly cancel.

        Parameters
        ----------
        beta : ndarray of shape (m,)
            Coefficients.
        """
        if self.features is not None:
            w = self._weights(beta.astype(np.longdouble))
            return float(w @ w)
        beta = balanced(beta) if self.free else beta
        v = beta.astype(np.longdouble)
        return abs(float(sum(v[rows] @ (part @ v) for rows, part in self._differences())))

    def apart(self, v: Array, beta: Array) -> float:
        """Return |f - sum_i beta_i k(x_i, .)| for a function as stored by the path.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Function f.
        beta : ndarray of shape (m,)
            Coefficients.
        """
        if not self.explicit:
            return float(np.sqrt(self.norm2(v - beta)))
        return float(
            np.linalg.norm((v - self._weights(beta.astype(np.longdouble))).astype(np.float64))
        )

    @cached_property
    def radius(self) -> float:
        """Largest distance of a point from the anchor."""
        if self.features is not None:
            squares = [float((part * part).sum(axis=1).max()) for _, part in self._feature_tiles()]
            return float(np.sqrt(max(squares)))
        K = self.problem.gram.diagonal - 2 * self._anchor + (self._anchor[0] if self.free else 0.0)
        return float(np.sqrt(max(K.max(), 0.0)))

    def handed(self, v: Array, value: float, alpha: Array, lam: float = 1.0) -> Point:
        """Return the point of a function that is stored by the path.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Function.
        value : float
            Value at the anchor, as in the module's formula.
        alpha : ndarray of shape (p,)
            Multipliers.
        lam : float
            lambda if v, value and alpha are multiplied by lambda, else 1.
        """
        value_there = np.longdouble(value) + np.longdouble(lam) * self.offset
        if self.features is not None:
            w = (
                v
                if self.explicit
                else np.asarray(self._weights(v.astype(np.longdouble)), dtype=np.float64)
            )
            b = (
                float(value_there - self.centre @ w.astype(np.longdouble))
                if self.problem.bias
                else 0.0
            )
            return Point(w=w, b=b, alpha=alpha)
        beta = balanced(v) if self.free else v
        b = float(value_there - self._anchor @ beta) if self.problem.bias else 0.0
        return Point(beta=beta, b=b, alpha=alpha)

    def values(self, point: Point) -> Values:
        """Return f of a returned point at the training points, in extended precision.

        Parameters
        ----------
        point : Point
            Point with w or beta.
        """
        # Errors `off` are bounded by gamma_n times the sums of absolute terms.
        b: Any = np.longdouble(point.b or 0.0) - self.offset
        if point.w is not None:
            w, size = point.w.astype(np.longdouble), np.abs(point.w)
            f = np.concatenate([part @ w for _, part in self._feature_tiles()])
            off = np.concatenate([np.abs(part) @ size for _, part in self._feature_tiles()]).astype(
                np.float64
            )
            if self.problem.bias:
                b += self.centre @ w
                off += float(np.abs(self.centre) @ size) + abs(point.b or 0.0)
            return Values(f, gamma_n(len(w) + 4, EXTENDED_UNIT) * off, b, float(w @ w))
        assert point.beta is not None
        beta, size = point.beta.astype(np.longdouble), np.abs(point.beta)
        products = [(part @ beta, np.abs(part) @ size) for _, part in self._differences()]
        f, sizes = (np.concatenate(parts) for parts in zip(*products, strict=True))
        f += (self._anchor - self._anchor[0]) * beta.sum()
        off = sizes.astype(np.float64)
        if self.problem.bias:
            b += self._anchor @ beta
            off += float(np.abs(self._anchor) @ size) + abs(point.b or 0.0)
        off *= gamma_n(len(beta) + 4, EXTENDED_UNIT)
        off += EXTENDED_UNIT * self._largest * float(size.sum())
        return Values(f, off + self._rounding(size), b, abs(float(beta @ f)))

    # At any points.

    def at(self, X: Any, V: Array, values: Array) -> Array:
        """Return f + b, shape (T, n), or f alone without a bias.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points.
        V : ndarray of shape (T, k)
            Functions as stored by the path.
        values : ndarray of shape (T,)
            Their values at the anchor.
        """
        bias, T = self.problem.bias, len(V)
        if self.features is None:
            K = self.problem.kernel.block(X, self.problem.X)
            return np.asarray(
                ((K - self._anchor.astype(np.float64)) @ V.T).T + values[:, None]
                if bias
                else (K @ V.T).T
            )
        W = (
            V
            if self.explicit
            else np.reshape([self._weights(v.astype(np.longdouble)) for v in V], (T, -1)).astype(
                np.float64
            )
        )
        Z, at_centre = (
            Explicit(X, self.features.constant),
            np.reshape(W, (T, len(self.centre))) @ self.centre,
        )
        if Z.sparse:
            here = np.reshape([Z @ w for w in W], (T, Z.m)) - at_centre[:, None]
        else:
            ones = 1.0 - self.centre[Z.d :]
            here = np.reshape(
                [(X - self.centre[: Z.d]) @ w[: Z.d] + w[Z.d :] @ ones for w in W], (T, Z.m)
            )
        return np.asarray(here + (values if bias else at_centre)[:, None])

    # Tiles of the features and of K.

    @cached_property
    def _anchor(self) -> Extended:
        """k(x_1, x_i), shape (m,); zeros where a constant in f makes a difference."""
        return (
            next(self._kernel_tiles())[1][0]
            if self.free
            else np.zeros(self.problem.m, dtype=np.longdouble)
        )

    @cached_property
    def _lossy(self) -> bool:
        """True if entries of K are rational, and rounded when they are computed.

        Given matrices and irrational kernels count as exact in float64.
        """
        kernel = self.problem.kernel
        return not kernel.given and rational_kernel(kernel)

    @property
    def _largest(self) -> float:
        """max_i K_ii."""
        return float(self.problem.gram.diagonal.max(initial=0.0))

    def _rounding(self, v: Array) -> Array:
        """Return error bounds of K v, shape (m,), v >= 0, due to rounded entries of K."""
        if not self._lossy:
            return np.zeros(self.problem.m)
        gram = self.problem.gram.extended or self.problem.gram
        return np.asarray(
            self.problem.kernel.rounding(gram.X, gram.X, gram.dense, v), dtype=np.float64
        )

    def _feature_tiles(self) -> Iterator[tuple[slice, Extended]]:
        """Yield tiles of the centred features: a slice of rows, and their z - c."""
        assert self.features is not None
        for rows in _tiles(self.problem.m, self.features.q):
            Z = self.features.rows(np.arange(rows.start, rows.stop))
            yield (
                rows,
                (Z.toarray() if self.features.sparse else Z).astype(np.longdouble) - self.centre,
            )

    def _kernel_tiles(self) -> Iterator[tuple[slice, Extended]]:
        """Yield tiles of K: a slice of rows, and these rows of K."""
        gram, m = self.problem.gram, self.problem.m
        K = (gram.extended or gram).dense if self._lossy else gram.dense
        for rows in _tiles(m, m):
            part = K[rows].astype(np.longdouble)
            # The shift of a given matrix is added to its diagonal exactly.
            if gram.shift:
                place = np.arange(rows.start, rows.stop)
                part[place - rows.start, place] = (
                    gram.X.diagonal()[rows].astype(np.longdouble) + gram.shift
                )
            yield rows, part

    def _differences(self) -> Iterator[tuple[slice, Extended]]:
        """Yield tiles of K, centred at the anchor if a constant in f makes no difference.

        Centred entries are k(x, z) - k(x_1, z) - k(x, x_1) + k(x_1, x_1).
        """
        for rows, K in self._kernel_tiles():
            if self.free:
                K -= self._anchor
                K -= K[:, :1].copy()
            yield rows, K

    def _weights(self, beta: Extended) -> Extended:
        """Return Z'beta of the centred features, shape (q,)."""
        return np.asarray(
            sum(part.T @ beta[rows] for rows, part in self._feature_tiles()), dtype=np.longdouble
        )


def claimed(
    problem: MarginProblem, rows: Rows, point: Point, values: Values, apart: float
) -> float:
    """Return the relative gap of a point, plus all rounding errors of its sums.

    The gap is relative as `Solution.relative_gap` is.

    Parameters
    ----------
    problem : MarginProblem
        Problem at the C of the point.
    rows : Rows
        Rows without the targets' offset, as in `FunctionForm`.
    point : Point
        Point with multipliers.
    values : Values
        f of the point.
    apart : float
        Upper bound of |f - f_alpha|.
    """
    assert point.alpha is not None
    alpha, c, s = (
        np.asarray(point.alpha).astype(np.longdouble),
        problem.costs.astype(np.longdouble),
        problem.bias_signs,
    )
    t, f = rows.t.astype(np.longdouble), values.f
    # t may be a rounded difference.
    off = rows.absolute_dot(values.off) + UNIT * np.abs(t) + 2 * EXTENDED_UNIT * abs(values.b)
    u = t - rows.dot(f) - values.b * s
    over, under = np.maximum(off - u, 0.0), np.maximum(u + off, 0.0)
    # Near lambda = 0 the squares of the remainders may overflow.
    with np.errstate(over="ignore"):
        gap = (
            alpha @ over
            + (c - alpha) @ under
            + np.longdouble(apart) ** 2 / 2
            + abs(values.b * (alpha @ s))
        )
        primal = c @ np.maximum(u, 0.0) + values.norm2 / 2
        return float(gap / max(primal, relative_size(problem.scale))) if gap else 0.0


def without_offset(rows: Rows) -> tuple[float, Rows]:
    """Return an offset of a regression's targets, and the rows with targets y - offset.

    The targets are not rounded. The offset is the middle target, if all others are
    between its half and its double: the difference of two such floats is exact. If
    targets are farther apart, subtracting one would reduce them little, and the offset
    is 0.

    Parameters
    ----------
    rows : Rows
        Rows of any problem; the offset is 0 unless they are a `Tube`.
    """
    if not isinstance(rows, Tube):
        return 0.0, rows
    ordered = np.sort(rows.y)
    least, middle, most = float(ordered[0]), float(ordered[rows.m // 2]), float(ordered[-1])
    if not (min(middle / 2, 2 * middle) <= least and most <= max(middle / 2, 2 * middle)):
        return 0.0, rows
    return middle, Tube(rows.y - middle, rows.epsilon)


def balanced(beta: Array) -> Array:
    """Return coefficients, shape (m,), with the sum 0 within rounding error.

    `balance` adjusts one of them.

    Parameters
    ----------
    beta : ndarray of shape (m,)
        Coefficients.
    """
    beta = beta.copy()
    balance(beta[None])
    return beta


@jit
def balance(betas: Array) -> None:
    """Subtract the sum of every row from the smallest of its entries, twice.

    The sum is computed with twice float64's digits.

    Parameters
    ----------
    betas : ndarray of shape (T, m)
        Coefficients; changed in place.

    Notes
    -----
    Source: D. Knuth, The Art of Computer Programming 2 (1969), theorem 4.2.2 B: the
    rounding of a sum of two floats is a float.
    """
    for beta in betas:
        smallest = 0
        for a in range(beta.size):
            if abs(beta[a]) < abs(beta[smallest]):
                smallest = a
        for _ in range(2):
            # TwoSum: `rest` accumulates the rounding errors of `total`.
            total, rest = 0.0, 0.0
            for a in range(beta.size):
                longer = total + beta[a]
                added = longer - total
                rest += (total - (longer - added)) + (beta[a] - added)
                total = longer
            beta[smallest] -= total + rest


def _tiles(m: int, width: int) -> Iterator[slice]:
    """Return slices of rows that divide a matrix into tiles."""
    size = max(EXTENDED_TILE_ENTRIES // max(width, 1), 1)
    return (slice(start, min(start + size, m)) for start in range(0, m, size))
