"""Global optimum of a margin problem with a concave cost of the sum of slacks.

    min over f, b      1/2 |f|^2 + C F(s(f, b)),      F increasing and concave
    s = sum_r weight_r (t_r - (A f)_r - b s_r)_+

The problem is not convex, and may have many local optima. But no f has both a smaller
|f| and a smaller s than an optimal one. |f|^2 and s are convex, so that an optimal f is
that of a soft margin at some cost c in [0, inf], with c = C F'(s) where F is
differentiable. It is therefore on the regularisation path.

On a segment of the path f is affine in c = 1 / lambda, hence s affine and |f|^2
quadratic, and F(s) lies above its chord. With the chord in place of F(s) the objective
is quadratic, and its minimum is a lower bound on the segment; segments whose bound is
below the best value found are halved. At the last breakpoint let c be the cost, |f|^2 /
2 = n, and s the sum of slacks. Every f has |f|^2 / 2 + c s(f) >= n + c s. Beyond that
breakpoint, with a concave F, its objective is therefore at least the smaller one of n +
C F(s) and n + c s + C F(0).

Source: document W, SVM classifier, with a concave F; C. Cortes, V. Vapnik,
Support-vector networks (1995), for convex F.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from equimargin.formulations.bounds.evaluate import evaluate
from equimargin.formulations.numeric.arguments import finite_cost, positive
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.solvers.path.result import RegularizationPath
from equimargin.solvers.solution import Solution

ROUNDING = 1e-9
"""Relative rounding error of F, by which F may be below a chord, or decrease."""
NEXT_TO_0 = 1e-6
"""Fraction of the last positive lambda down to which the last segment is searched.

It applies to paths that reach 0: below their last positive breakpoint f is constant.
"""
LARGEST_LAMBDA = 1e100
"""Lambda that is reported for f = 0."""


@dataclass(frozen=True, eq=False)
class ConcaveOptimum:
    """The best solution on a path.

    Parameters
    ----------
    lam : float
        Lambda of the solution.
    value : float
        Objective 1/2 |f|^2 + C F(s) of the solution.
    lower : float
        Lower bound on the objective of every f, apart from the rounding of the path in
        float64.
    solution : Solution
        f and b.
    """

    lam: float
    value: float
    lower: float
    solution: Solution = field(repr=False)

    @property
    def cost(self) -> float:
        """C of the soft margin with this optimum, 1 / lambda."""
        return 1 / self.lam


class _Pieces(NamedTuple):
    """Intervals of c = 1 / lambda on which f is affine.

    |f|^2 = q0 + q1 u + q2 u^2 and s = s0 + u (s1 - s0), for u in [0, 1] along the
    interval.
    """

    low: Array
    high: Array
    q: Array
    s0: Array
    s1: Array

    def halves(self, chosen: Index) -> _Pieces:
        """Return both halves of some of the pieces, the lower ones first.

        Parameters
        ----------
        chosen : Index
            Numbers of the pieces.
        """
        low, high, q, s0, s1 = (part[chosen] for part in self)
        middle, between = (low + high) / 2, (s0 + s1) / 2
        q0, q1, q2 = q.T
        first = np.column_stack([q0, q1 / 2, q2 / 4])
        second = np.column_stack([q0 + q1 / 2 + q2 / 4, (q1 + q2) / 2, q2 / 4])
        return _Pieces(
            np.append(low, middle),
            np.append(middle, high),
            np.vstack([first, second]),
            np.append(s0, between),
            np.append(between, s1),
        )


def concave_optimum(
    path: RegularizationPath,
    C: float,
    F: Callable[[Array], Array],
    tol: float = 1e-7,
    time_limit: float | None = None,
) -> ConcaveOptimum:
    """Return the global optimum of 1/2 |f|^2 + C F(s) for a concave increasing F.

    Parameters
    ----------
    path : RegularizationPath
        Path of a problem with hinge loss, whose weights are those in s; its C is
        ignored.
    C : float
        Finite cost.
    F : Callable[[Array], Array]
        Function of an array of sums of slacks, at least 0, to an array of equal shape;
        finite, nondecreasing and concave. F(u) = u is a soft margin.
    tol : float
        Relative difference of value and lower at which the search ends, default 1e-7.
    time_limit : float | None
        Limit in seconds.

    Returns
    -------
    ConcaveOptimum
        Optimum. If lower stays below value by more than tol, the path ends too early,
        or the time limit has passed.

    Raises
    ------
    ValueError
        If F is found to be not finite, decreasing or not concave, the path has no
        breakpoint above 0, or an argument is out of range.

    Notes
    -----
    Source: proofs/catalogue.md has the soft margins; every optimum is one of them,
    because it is Pareto optimal in two convex functions.
    """
    C, tol = finite_cost(C), positive(tol, "tol")
    until = np.inf if time_limit is None else time.monotonic() + positive(time_limit, "time_limit")
    lambdas = path.lambdas[path.lambdas > 0]
    if not len(lambdas):
        raise ValueError("the path has no breakpoint above 0, so that no solution is known")
    if path.lambdas[-1] == 0:
        lambdas = np.append(lambdas, lambdas[-1] * NEXT_TO_0)
    pieces = _pieces(path, lambdas)

    def cost(s: Array) -> Array:
        values = np.asarray(F(np.maximum(s, 0.0)), dtype=np.float64)
        if values.shape != s.shape or not np.isfinite(values).all():
            raise ValueError("F must return a finite number for every sum of slacks, including 0")
        return C * values

    last = float(pieces.q[-1].sum()) / 2
    ends = cost(np.array([float(pieces.s1[-1]), 0.0]))
    beyond = last + min(float(ends[0]), float(pieces.high[-1] * pieces.s1[-1] + ends[1]))
    best, where, done = np.inf, 0.0, beyond
    while len(pieces.low):
        c0, cm, c1 = cost(pieces.s0), cost((pieces.s0 + pieces.s1) / 2), cost(pieces.s1)
        _check_concave(c0, cm, c1)
        # The chord of F bounds each piece from below; try its minimum and both ends.
        u, bound = _least(pieces.q, c0, c1)
        tried = np.array([np.zeros(len(u)), u, np.ones(len(u))])
        values = [
            _norms(pieces.q, at) / 2 + cost(pieces.s0 + at * (pieces.s1 - pieces.s0))
            for at in tried
        ]
        row, column = np.unravel_index(int(np.argmin(values)), (3, len(u)))
        if values[row][column] < best:
            best = float(values[row][column])
            where = float(
                pieces.low[column] + tried[row][column] * (pieces.high[column] - pieces.low[column])
            )
        left = (bound < best - tol * abs(best)) & (
            pieces.high - pieces.low > np.finfo(float).eps * pieces.high
        )
        late = time.monotonic() > until
        done = min(done, float(bound[~left | late].min(initial=np.inf)))
        if late:
            break
        pieces = pieces.halves(np.flatnonzero(left))
    lam = LARGEST_LAMBDA if where == 0 else min(1 / where, LARGEST_LAMBDA)
    return ConcaveOptimum(lam, best, min(done, best), path.at(lam))


def _pieces(path: RegularizationPath, lambdas: Array) -> _Pieces:
    """Return the segments of the path; the first one begins at f = 0."""
    costs = np.concatenate([[0.0], 1 / lambdas])
    inside = (costs[:-1] + costs[1:]) / 2
    ends, middles = (
        [_measured(path, 1 / c) for c in costs[1:]],
        [_measured(path, 1 / c) for c in inside],
    )
    # s is affine on a segment: extrapolate it to f = 0.
    origin = (0.0, 2 * middles[0][1] - ends[0][1])
    n, s = (np.array(column) for column in zip(origin, *ends, strict=True))
    # |f|^2 is quadratic on a segment, given at both ends and in the middle.
    m = np.array([middle[0] for middle in middles])
    q2 = 2 * (n[:-1] + n[1:] - 2 * m)
    q = np.column_stack([n[:-1], n[1:] - n[:-1] - q2, q2])
    return _Pieces(costs[:-1], costs[1:], q, s[:-1], np.minimum(s[1:], s[:-1]))


def _measured(path: RegularizationPath, lam: float) -> tuple[float, float]:
    """Return |f|^2 and s at a lambda."""
    solution = path.at(lam)
    values = evaluate(path.problem, path.problem.function(path.problem.own_point(solution.point)))
    return values.norm2, path.problem.with_cost(1.0).primal(values.f, 0.0, solution.bias)


def _norms(q: Array, u: Array) -> Array:
    """Return |f|^2 at u on each piece."""
    return np.asarray(q[:, 0] + q[:, 1] * u + q[:, 2] * u**2)


def _least(q: Array, c0: Array, c1: Array) -> tuple[Array, Array]:
    """Return the u in [0, 1] that minimises half of |f|^2 plus the chord, and the minimum."""
    slope, curve = q[:, 1] / 2 + c1 - c0, np.maximum(q[:, 2], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(curve > 0, np.clip(-slope / curve, 0.0, 1.0), np.where(slope < 0, 1.0, 0.0))
    return u, _norms(q, u) / 2 + c0 + u * (c1 - c0)


def _check_concave(c0: Array, cm: Array, c1: Array) -> None:
    """Raise ValueError if F decreases or lies below a chord."""
    size = ROUNDING * (np.abs(c0) + np.abs(c1)).max(initial=0.0)
    if (c1 > c0 + size).any():
        raise ValueError("F falls: a larger sum of slacks must not cost less")
    if (cm < (c0 + c1) / 2 - size).any():
        raise ValueError(
            "F is not concave; for a convex F solve the convex problem of the family svm.general"
        )
