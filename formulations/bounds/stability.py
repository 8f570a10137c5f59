"""Stability: bounds on every function close to the optimum, from the gap of one point.

The bounded quantities are f, its bias and the slacks of its rows.

The dual objective L is concave, and its second-order term is -1/2 |A'd|_K^2 or less.
The primal objective, at its best bias, is convex with the term 1/2 |f|^2. With f* the
optimal function, alpha feasible multipliers, f_alpha = A'alpha and U >= optimum
therefore

    |f_alpha - f*|_K <= sqrt(2 (U - L(alpha))),
    |f - f*|_K <= sqrt(2 eps)    for every f within eps of the optimum at its best bias

so that all these f lie in one ball around f_alpha, and |f(x) - f_alpha(x)| <= radius
sqrt(k(x, x)). Within the ball the breakpoint of a row's loss, as a function of the
bias, moves by no more than the row's slack. The best bias increases with every
breakpoint. It therefore lies between the best bias of the lowered breakpoints and that
of the raised ones. All bounds are rounded outward.

References
----------
E. Ndiaye, O. Fercoq, A. Gramfort, J. Salmon, Gap safe screening rules (2017), for the
ball; it follows from strong convexity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.evaluate import compute_weights, kernel_product
from equimargin.formulations.bounds.intervals import OUTWARD, dual_value, interval
from equimargin.formulations.kernels.features import explicit, new_points
from equimargin.formulations.kernels.gram import STORED_ROWS, product_at
from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.rounding import (
    SMALLEST,
    UNIT,
    add_rounded,
    divide_rounded,
    gamma_n,
    max_or_inf,
    multiply_rounded,
    round_toward,
    sqrt_rounded,
)
from equimargin.formulations.problem.choices import LOSSES
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import AnyBias, CanonicalPoint
from equimargin.formulations.rows.counted import WIDEST_THRESHOLD
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs

Signs = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Stability:
    """Ball that contains every f within `eps` of the optimum, and the bounds it implies.

    Parameters
    ----------
    problem : MarginProblem
        Problem of the functions.
    beta : ndarray of shape (m,)
        Coefficients of the centre, f = sum_i beta_i k(x_i, .).
    radius : float
        Radius in the norm of the kernel; infinite if the point proves nothing.
    bias : tuple[AnyBias, AnyBias]
        Bounds of the best b of every such f, in the project's sign f(x) + b; (0, 0)
        without a bias, arrays of shape (T,) for T > 1 thresholds.
    """

    problem: MarginProblem
    beta: Array
    radius: float
    bias: tuple[AnyBias, AnyBias]

    def decisions(self, X: Any = None) -> tuple[Array, Array]:
        """Bound f(x) + b for every such f and each of its best biases.

        With T > 1 thresholds f(x) alone is bounded.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points; None for the training points.

        Returns
        -------
        least, most : ndarray of shape (n,)
            Bounds; infinite where nothing is known.

        Raises
        ------
        ValueError
            If the points have another shape or other columns, or if they are new points
            of a given Gram matrix, whose k(x, x) is not known.
        """
        f, error = self._values(X)
        least, most = round_toward(f - error, -1), round_toward(f + error, 1)
        return (
            (least, most)
            if self.problem.T > 1
            else (add_rounded(least, self.bias[0], -1), add_rounded(most, self.bias[1], 1))
        )

    def signs(self, X: Any = None) -> Signs:
        """Return the sign of f(x) + b where all such f agree, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n, d)
            Points; None for the training points.

        Returns
        -------
        ndarray of shape (n,)
            1 or -1; 0 where the sign is not proven.

        Raises
        ------
        ValueError
            As in `decisions`; if there is more than one threshold, as points then have no
            signs.
        """
        if self.problem.T > 1:
            raise ValueError(
                f"points have no signs with {self.problem.T} thresholds; decisions(X) "
                f"bounds f, and `bias` the thresholds"
            )
        return _signs(*self.decisions(X))

    def orders(self, preferred: Any, other: Any) -> Signs:
        """Return the sign of f(x) - f(z) where all such f agree, shape (n,).

        Parameters
        ----------
        preferred, other : array-like of shape (n,)
            Indices of training points, x and z.

        Returns
        -------
        ndarray of shape (n,)
            1 or -1; 0 where the sign is not proven.

        Raises
        ------
        ValueError
            If an index is not that of a training point, or the lengths differ.
        """
        i, j = _points(preferred, self.problem.m), _points(other, self.problem.m)
        if len(i) != len(j):
            raise ValueError(f"preferred and other must be equally many, not {len(i)} and {len(j)}")
        f, error = kernel_product(self.problem, self._middle)
        noise = (
            error[i]
            + error[j]
            + 2 * UNIT * np.abs(f[i] - f[j])
            + self.radius * _distances(self.problem, i, j)
        )
        noise = np.where(i == j, 0.0, round_toward(noise * (1 + 8 * UNIT), 1))
        difference = np.where(i == j, 0.0, f[i] - f[j])
        return _signs(difference - noise, difference + noise)

    def rows(self) -> Signs:
        """Return the position of every row's multiplier at all optima, shape (p,).

        Returns
        -------
        ndarray of shape (p,)
            -1: alpha_r = 0, because the row is strictly satisfied or costs nothing.
            1: the row is violated, so that alpha_r = c_r for the hinge and alpha_r > 0 for
            the squared hinge. 0: neither is proven.

        Raises
        ------
        ValueError
            If there are too many pairs to list them; use `counts`.
        """
        return np.where(self.problem.free, np.int8(-1), _signs(*self.slacks()))

    def slacks(self) -> tuple[Array, Array]:
        """Bound u_r = t_r - (A f)_r - (S b)_r for every such f and each of its best biases.

        Returns
        -------
        least, most : ndarray of shape (p,)
            Bounds; infinite where nothing is known.

        Raises
        ------
        ValueError
            If there are too many pairs to list them.
        """
        rows, b = self.problem.rows, self.bias
        f, error = kernel_product(self.problem, self._middle)
        u = rows.t - rows.dot(f)
        size = np.abs(rows.t) + rows.absolute_dot(np.abs(f)) + np.max(np.abs(b))
        noise = rows.absolute_dot(error) + 8 * UNIT * size + self.radius * self._row_norms()
        noise = round_toward(noise * (1 + 8 * UNIT), 1)
        shifts = np.stack(
            [-rows.offset(end) if self.problem.bias else np.zeros(rows.p) for end in b]
        )
        least, most = u + shifts.min(axis=0) - noise, u + shifts.max(axis=0) + noise
        return np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)

    def counts(self) -> tuple[int, int]:
        """Count the rows with alpha_r = 0, and those violated, at every optimum.

        The counts are those of `rows`, or smaller. Implicit pairs are counted by sweeps,
        with one bound on the change of all slacks, that of the farthest points.
        """
        rows = self.problem.rows
        if not isinstance(rows, LabelledPairs) or not rows.many:
            found = self.rows()
            return int((found < 0).sum()), int((found > 0).sum())
        f, error = kernel_product(self.problem, self._middle)
        costs, cost_anything = (
            self.problem.group_costs,
            self.problem.group_costs_within[1][rows.queries] > 0,
        )
        slacks = rows.slacks(f, np.where(np.isinf(costs), 0.0, costs))
        off = (
            self.radius * 2.02 * _farthest(self.problem)
            + 2.02 * max_or_inf(error)
            + 16 * UNIT * (1 + max_or_inf(np.abs(f)))
            + 4 * slacks.unit
        )
        if not 1.0 + off <= WIDEST_THRESHOLD:
            return 0, 0
        pairs = [
            slacks.within(slacks.on_grid(1.0 + way * off)).pairs[cost_anything] for way in (1, -1)
        ]
        return rows.p - int(pairs[0].sum()), int(pairs[1].sum())

    @property
    def _middle(self) -> Array:
        return (
            self.beta if self.problem.explicit is not None else self.problem.gram.merged(self.beta)
        )

    def _values(self, X: Any) -> tuple[Array, Array]:
        """Return f_alpha at points, and its maximum distance from f of the ball, (n,)."""
        problem = self.problem
        kernel, Z = problem.kernel, problem.explicit
        if X is None:
            f, error = kernel_product(problem, self._middle)
            square = kernel.diagonal_bound(problem.X) + problem.gram.shift
        elif kernel.given:
            raise ValueError(
                "k(x, x) of new points is unknown for a given Gram matrix; leave X out for the "
                "training points"
            )
        else:
            points = new_points(X, problem.X, problem.feature_names)
            there, square = explicit(kernel, points), kernel.diagonal_bound(points)
            if there is None or Z is None:
                f, error = product_at(kernel, points, problem.X, self._middle)
            else:
                w, off = compute_weights(problem, Z, self.beta)
                f, error = there.values(w)
                error = error + 1.01 * there.absolute_dot(off)
        reach = multiply_rounded(self.radius, round_toward(np.sqrt(round_toward(square, 1)), 1), 1)
        return f, np.asarray(add_rounded(error, reach, 1))

    def _row_norms(self) -> Array:
        """Return an upper bound of |A_r|_K, (p,).

        It is sqrt(k(x_i, x_i)) for a point and the distance for a pair.
        """
        rows = self.problem.rows
        if isinstance(rows, Pairs):
            return _distances(self.problem, rows.preferred, rows.other)
        return np.asarray(rows.absolute_dot(_norms(self.problem)))


# An overflow gives an infinite bound, which proves nothing.
@np.errstate(all="ignore")
def stability(problem: Problem, point: CanonicalPoint, eps: float = 0.0) -> Stability:
    """Bound every f with min_b P(f, b) <= optimum + eps, and so every optimal f.

        |f - A'alpha|_K <= sqrt(2 (U - L(alpha))) + sqrt(2 eps)

    This follows from strong convexity of the primal and the dual objective in f.

    Parameters
    ----------
    problem : Problem
        Convex MarginProblem.
    point : CanonicalPoint
        Point with multipliers and perhaps a function, such as a solution's; the smaller
        its gap, the tighter the bounds.
    eps : float
        Maximum excess of an objective value over the optimum, in the units of the
        objective, 0 or more.

    Returns
    -------
    Stability
        Ball with an infinite radius if the point proves nothing.

    Raises
    ------
    ValueError
        If the problem is of another kind, eps is below 0 or the point has no multipliers.
    """
    if not isinstance(problem, MarginProblem):
        raise ValueError(
            "stability needs a margin problem; a linear program may have many optimal functions"
        )
    if problem.loss not in LOSSES:
        raise ValueError(
            f"stability needs the loss hinge or squared hinge, not the {problem.phi.words}"
        )
    problem = problem.proven
    point, eps = (
        problem.own_point(point),
        check_number(eps, "eps", "a number of 0 or more", lambda value: value >= 0),
    )
    if point.alpha is None:
        raise ValueError(
            "the point has no multipliers, whose f is the centre of the ball; "
            "`Solution.stability` recovers them"
        )
    multipliers = problem.rows.multipliers(problem.repaired(point.alpha))
    lower = dual_value(problem, multipliers, OUTWARD) if problem.convex else -np.inf
    beta, error = multipliers.pull(), multipliers.pull_error()
    if problem.explicit is None:
        error += gamma_n(problem.m) * float(np.abs(beta).sum())
    gap = float(np.maximum(add_rounded(interval(problem, point).upper, -lower, 1), 0.0))
    radius = _sum(
        sqrt_rounded(2 * gap, 1),
        sqrt_rounded(float(multiply_rounded(2.0, eps, 1)), 1),
        multiply_rounded(1.01 * error, sqrt_rounded(problem.gram.diagonal_bound, 1), 1),
    )
    ball = Stability(problem, np.asarray(beta), radius, (0.0, 0.0))
    return ball if problem.rows.invariant or not problem.bias else replace(ball, bias=_bias(ball))


def _bias(ball: Stability) -> tuple[AnyBias, AnyBias]:
    """Bound every best b of every f of the ball."""
    problem, rows, k = ball.problem, ball.problem.rows, ball.problem.rows.k
    f, error = kernel_product(problem, ball._middle)
    noise = (
        rows.absolute_dot(error)
        + 8 * UNIT * (np.abs(rows.t) + rows.absolute_dot(np.abs(f)))
        + ball.radius * ball._row_norms()
    )
    noise = round_toward(noise * (1 + 8 * UNIT), 1)
    middle = (rows.t - rows.dot(f)) * problem.bias_signs
    low, high = round_toward(middle - noise, -1), round_toward(middle + noise, 1)
    active = (problem.bias_signs != 0) & ~problem.free
    if k is None:
        return _threshold(problem, np.flatnonzero(active), low, high)
    ends = np.array(
        [
            _threshold(problem, np.flatnonzero(active & (k == threshold)), low, high)
            for threshold in range(problem.T)
        ]
    )
    return ends[:, 0], ends[:, 1]


def _threshold(
    problem: MarginProblem, active: Index, low: Array, high: Array
) -> tuple[float, float]:
    """Bound every best b of the active rows of one threshold.

    low and high are bounds of the breakpoints of all rows, (p,).
    """
    s, low, high = problem.bias_signs[active], low[active], high[active]
    least, most = (problem.rows.spread(costs)[active] for costs in problem.group_costs_within)
    hard, squared = np.isinf(least), problem.squared
    soft = ~hard
    lower = _least_bias(low[soft], s[soft], least[soft], most[soft], squared)
    upper = -_least_bias(-high[soft], -s[soft], least[soft], most[soft], squared)
    up, down = hard & (s > 0), hard & (s < 0)
    lower = max(
        float(low[up].max(initial=-np.inf)), min(lower, float(low[down].min(initial=np.inf)))
    )
    upper = min(
        float(high[down].min(initial=np.inf)), max(upper, float(high[up].max(initial=-np.inf)))
    )
    return lower, upper


def _least_bias(v: Array, s: Array, least: Array, most: Array, squared: bool) -> float:
    """Return a lower bound of every b that minimises the sum of losses.

    The bound holds for breakpoints v and for larger ones. D(b), the slope of the sum at b,
    grows with b. All minimisers lie to the right of every b with D(b) < 0.

        hinge            D(b) = sum of c over s = -1, v <= b
                                - sum of c over s = +1, v > b
        squared hinge    D(b) = sum of c (b - v) over s = -1, v <= b
                                - sum of c (v - b) over s = +1, v > b, without the factor 2

    Parameters
    ----------
    v : ndarray of shape (k,)
        Breakpoints.
    s : ndarray of shape (k,)
        Signs.
    least, most : ndarray of shape (k,)
        Bounds of the costs, finite.
    """
    if not (s > 0).any():
        return -math.inf
    order = np.argsort(v, kind="stable")
    v, s, least, most = v[order], s[order], least[order], most[order]
    if not np.isfinite(v).all():
        return -math.inf
    falling, rising = np.where(s > 0, least, 0.0), np.where(s < 0, most, 0.0)
    passed, left = np.cumsum(rising), float(falling.sum()) - np.cumsum(falling)
    noise = gamma_n(4 * len(v) + 16) * float(rising.sum() + falling.sum())
    if not squared:
        negative = np.flatnonzero(passed - left + 2 * noise < 0)
        return float(v[min(negative[-1] + 1, len(v) - 1)] if len(negative) else v[0])
    centre = v[len(v) // 2]
    z = v - centre
    D = (
        passed * z
        - np.cumsum(rising * z)
        - (float((falling * z).sum()) - np.cumsum(falling * z) - left * z)
    )
    D = D + 4 * noise * float(np.abs(z).max()) + 4 * len(v) * SMALLEST
    negative = np.flatnonzero(D < 0)
    if not len(negative):
        return float(v[0])
    k = int(negative[-1])
    slope = float(passed[k] + np.where(s > 0, most, 0.0)[k + 1 :].sum() + 2 * noise)
    b = add_rounded(v[k], divide_rounded(-D[k], slope, -1), -1)
    return float(min(b, v[k + 1])) if k + 1 < len(v) else float(b)


def _distances(problem: MarginProblem, i: Any, j: Any) -> Array:
    """Return an upper bound of |phi(x_i) - phi(x_j)|, (n,).

    It is computed from explicit features if there are any, and from K otherwise.
    """
    if problem.explicit is not None:
        X = problem.X
        out = np.empty(len(i))
        size = max(1_000_000 // X.shape[1], 1)
        for start in range(0, len(i), size):
            part = slice(start, start + size)
            D = X[i[part]] - X[j[part]]
            squares = np.asarray(
                D.multiply(D).sum(axis=1)
                if problem.explicit.sparse
                else np.einsum("ij,ij->i", D, D),
                dtype=np.float64,
            )
            out[part] = np.sqrt(squares.ravel())
        return np.asarray(round_toward(out * (1 + gamma_n(X.shape[1] + 8)), 1) + 1e-150)
    norms = _norms(problem)
    bound = np.asarray(round_toward(norms[i] + norms[j], 1))
    if problem.m > STORED_ROWS:
        return bound
    K = problem.gram.dense
    error, k = problem.kernel.rounding(problem.X, problem.X, K, np.ones(problem.m)), K.diagonal()
    squares = (
        k[i]
        + k[j]
        - 2 * K[i, j]
        + 1.01 * (3 * error[i] + error[j])
        + 16 * UNIT * (np.abs(k[i]) + np.abs(k[j]))
    )
    return np.asarray(
        np.minimum(bound, round_toward(np.sqrt(np.maximum(round_toward(squares, 1), 0.0)), 1))
    )


def _norms(problem: MarginProblem) -> Array:
    """Return an upper bound of sqrt(k(x_i, x_i)), (m,)."""
    return np.asarray(
        round_toward(
            np.sqrt(round_toward(problem.kernel.diagonal_bound(problem.X) + problem.gram.shift, 1)),
            1,
        )
    )


def _farthest(problem: MarginProblem) -> float:
    """Return an upper bound of the distance of every point from a common centre.

    Two points are at most twice this distance apart.
    """
    Z = problem.explicit
    if Z is None or Z.sparse:
        return max_or_inf(_norms(problem))
    D = problem.X - problem.X.mean(axis=0)
    return float(
        round_toward(
            np.sqrt(np.einsum("ij,ij->i", D, D).max(initial=0.0)) * (1 + gamma_n(D.shape[1] + 16)),
            1,
        )
    )


def _signs(least: Array, most: Array) -> Signs:
    """Return 1 if both are above 0, -1 if both are below, and 0 otherwise, (n,)."""
    return np.asarray((least > 0).astype(np.int8) - (most < 0).astype(np.int8))


def _points(index: Any, m: int) -> Index:
    """Check indices of training points, and return them, (n,)."""
    indices = np.asarray(index)
    if (
        indices.ndim != 1
        or indices.dtype.kind not in "iu"
        or not ((indices >= 0) & (indices < m)).all()
    ):
        raise ValueError(
            f"points must be given by their indices, whole numbers from 0 to {m - 1} in one "
            f"dimension"
        )
    return indices.astype(np.intp)


def _sum(*parts: Any) -> float:
    """Add a few numbers, rounded up."""
    total = 0.0
    for part in parts:
        total = float(add_rounded(total, part, 1))
    return total
