"""Equations of a vertex of a one-norm program, solved again in float64.

    (B x + b s)_F = 1,  (B'u)_S = 1,  s'u = 0
    F where 0 < u < c,  S where x > 0;   B = A K (over points)  or  A K A' (over rows)

The simplex method ends within absolute tolerances: its u violates B'u <= 1 slightly,
which a large c magnifies, and the margins of its x differ slightly from 1. After
solving the equations again, only the rounding of B'u remains. u is moved inside its
constraints by about as much.

References
----------
Documents T (102)-(104) = K (2.10), T (94)-(96).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from equimargin.formulations.bounds.evaluate import kernel_product
from equimargin.formulations.bounds.intervals import interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.solvers.solution import relative_gap

MOST_EQUATION_ENTRIES = 20_000_000
"""Largest matrix of equations, in entries, that is formed.

It has a row of A K per multiplier strictly between its bounds, and a column per point.
"""
NEARLY_ONE = 1e-6
"""Maximum distance from 1 of a margin that counts as 1.

The simplex method stops when its errors are below 1e-7.
"""
MOST_MOVES = 4
"""Maximum number of moves of the multipliers to the inside of their constraints."""


def best(
    problem: OneNormProblem, x: Array, u: Array, out_of_time: Callable[[], bool]
) -> tuple[OneNormPoint, float]:
    """Return the best x and the best u of the given, re-solved and corrected ones.

    Parameters
    ----------
    problem : OneNormProblem
        Problem of the vertex.
    x : ndarray of shape (size,)
        Coefficients, x >= 0.
    u : ndarray of shape (p,)
        Multipliers, u >= 0.
    out_of_time : callable
        Returns True if the run must end; called before every system of equations, which
        may take seconds.

    Returns
    -------
    point : OneNormPoint
        Point (x, u); unchanged if the equations are too large or no time is left.
    gap : float
        The smaller of its relative gap and its proven relative width.
    """
    entries = np.count_nonzero((u > 0) & (u < problem.costs)) * problem.m
    if entries <= MOST_EQUATION_ENTRIES and not out_of_time():
        resolved = _solved_again(problem, x, u)
        candidates = (x, resolved[0], *(_stretched(problem, z) for z in (x, resolved[0])))
        x = min(candidates, key=lambda x: interval(problem, OneNormPoint(x=x)).upper)
        u = max(
            (u, *_moved_inside(problem, resolved[1], out_of_time)),
            key=lambda u: interval(problem, OneNormPoint(u=u)).lower,
        )
    point = OneNormPoint(x, u)
    gap = relative_gap(problem.primal(x), problem.dual(u), problem.scale)
    # B'u may cancel in float64.
    return point, min(gap, interval(problem, point).relative_width)


def _solved_again(problem: OneNormProblem, x: Array, u: Array) -> tuple[Array, Array]:
    """Return x and u with the equations of the module solved in float64.

    F where 0 < u < c, S where x > 0.
    """
    S, F = np.flatnonzero(x > 0), _between(problem, u)
    if not (S.size and F.size):
        return x, u
    AK, prices = _rows(problem, F), _prices(problem, u)
    B = _block(problem, AK, F, S)
    x, u = x.copy(), u.copy()
    x[S] += _least_squares(B, 1.0 - AK @ problem.coefficients(x))[: len(S)]
    u[F] += _least_squares(B.T, _missing(problem, B, u, 1.0 - prices[S]))
    return np.maximum(x, 0.0), np.clip(u, 0.0, problem.costs)


def _between(problem: OneNormProblem, u: Array) -> Any:
    """Return the rows F, whose multipliers are strictly between their bounds."""
    return np.flatnonzero((u > 0) & (u < problem.costs * (1 - 4 * UNIT)))


def _stretched(problem: OneNormProblem, x: Array) -> Array:
    """Return x divided by the least margin close to 1, so that such rows have no slack.

    A slack e costs c e; dividing x by 1 - e costs about e 1'x.
    """
    f = problem.gram @ problem.coefficients(x)
    margins = problem.rows.dot(f) + problem.bias_at(f) * problem.bias_signs
    return x / float(margins[margins > 1.0 - NEARLY_ONE].min(initial=1.0))


def _moved_inside(
    problem: OneNormProblem, u: Array, out_of_time: Callable[[], bool]
) -> Iterator[Array]:
    """Yield u, and u after each of a few moves that make it feasible.

    A move solves for B'u = 1 - 2 excess where B'u is near 1, excess = max B'u - 1. It
    lowers the dual value little, in proportion to 1'x. Division of u by max B'u makes u
    feasible, too, but lowers the value in proportion to 1'u.
    """
    yield u
    for _ in range(MOST_MOVES):
        prices = _prices(problem, u)
        excess = float(prices.max(initial=0.0)) - 1.0
        T, F = np.flatnonzero(prices > 1.0 - 4 * excess), _between(problem, u)
        if not (excess > 0 and T.size and F.size) or out_of_time():
            return
        AK, u = _rows(problem, F), u.copy()
        B = _block(problem, AK, F, T)
        u[F] += _least_squares(B.T, _missing(problem, B, u, 1.0 - 2 * excess - prices[T]))
        u = np.clip(u, 0.0, problem.costs)
        yield u


def _least_squares(B: Array, missing: Array) -> Array:
    """Return the shortest minimiser d of |B d - missing|, by QR with pivots.

    Return 0 if a number has overflowed.
    """
    from scipy.linalg import lstsq

    if not (np.isfinite(B).all() and np.isfinite(missing).all()):
        return np.zeros(B.shape[1])
    d: Array = lstsq(B, missing, lapack_driver="gelsy")[0]
    return d


def _rows(problem: OneNormProblem, F: Any) -> Array:
    """Return A[F] K, (F, m)."""
    A = problem.rows.matrix[F]
    points = np.unique(A.indices)
    return np.asarray(A[:, points] @ problem.gram.rows(points))


def _block(problem: OneNormProblem, AK: Array, F: Any, S: Any) -> Array:
    """Return B[F, S], (F, S), with the column s_F appended if there is a bias."""
    B = AK[:, S] if problem.over == "points" else np.asarray(AK @ problem.rows.matrix[S].T)
    return np.column_stack([B, problem.rows.s[F]]) if problem.bias else B


def _missing(problem: OneNormProblem, B: Array, u: Array, prices: Array) -> Array:
    """Return the residuals of the prices, and that of s'u if there is a bias."""
    return np.append(prices, -float(problem.bias_signs @ u)) if B.shape[1] > len(prices) else prices


def _prices(problem: OneNormProblem, u: Array) -> Array:
    """Return B'u for u rounded to the grid on which a proof evaluates multipliers."""
    g, _ = kernel_product(problem, problem.rows.rdot(problem.feasible(u)))
    return g if problem.over == "points" else problem.rows.dot(g)
