"""The equations of a vertex of a one-norm program, solved once more in float64.

    (B x + b s)_F = 1,  (B'u)_S = 1,  s'u = 0        F where 0 < u < C,  S where x > 0;   B = A K (over points)  or  A K A' (over rows)

The simplex method ends within absolute tolerances: its u violates B'u <= 1 a little,
which a large C magnifies, and the margins of its x are a little off 1. Once the
equations have been solved again, only the rounding of B'u is left. u is moved inside
its constraints by about as much.

Source: documents T (102)-(104) = K (2.10), T (94)-(96).
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
"""Entries of the largest matrix of equations that is formed: rows of A K, one for each multiplier inside its box, times points."""
NEARLY_ONE = 1e-6
"""By how much a margin may miss 1 and count as rounded: the simplex method ends within 1e-7, in units of 1."""
MOST_MOVES = 4
"""Moves of the multipliers into the inside of their constraints, at most."""


def best(
    problem: OneNormProblem, x: Array, u: Array, out_of_time: Callable[[], bool]
) -> tuple[OneNormPoint, float]:
    """The better x and the better u, among those given and those of the equations solved once more; and their relative gap.

    Parameters
    ----------
    problem : OneNormProblem
        Of the vertex.
    x : ndarray of shape (size,)
        x >= 0.
    u : ndarray of shape (p,)
        u >= 0.
    out_of_time : callable
        True if the run has to end; called before every system of equations, which may take
        seconds.

    Returns
    -------
    The point (x, u), and the smaller of its gap and its proven width. x and u stay as they are
    where the equations are too large or no time is left.
    """
    entries = np.count_nonzero((u > 0) & (u < problem.C)) * problem.m
    if entries <= MOST_EQUATION_ENTRIES and not out_of_time():
        again = _solved_again(problem, x, u)
        candidates = (x, again[0], *(_stretched(problem, z) for z in (x, again[0])))
        x = min(candidates, key=lambda x: interval(problem, OneNormPoint(x=x)).upper)
        u = max(
            (u, *_moved_inside(problem, again[1], out_of_time)),
            key=lambda u: interval(problem, OneNormPoint(u=u)).lower,
        )
    point = OneNormPoint(x, u)
    gap = relative_gap(problem.primal(x), problem.dual(u), problem.scale)
    return point, min(gap, interval(problem, point).relative_width)  # B'u may cancel in float64


def _solved_again(problem: OneNormProblem, x: Array, u: Array) -> tuple[Array, Array]:
    """x and u with (B x + b s)_F = 1, (B'u)_S = 1 and s'u = 0 solved in float64, F where 0 < u < C, S where x > 0."""
    S, F = np.flatnonzero(x > 0), np.flatnonzero((u > 0) & (u < problem.C * (1 - 4 * UNIT)))
    if not (S.size and F.size):
        return x, u
    AK, prices = _rows(problem, F), _prices(problem, u)
    B = _block(problem, AK, F, S)
    x, u = x.copy(), u.copy()
    x[S] += _least_squares(B, 1.0 - AK @ problem.coefficients(x))[: len(S)]
    u[F] += _least_squares(B.T, _missing(problem, B, u, 1.0 - prices[S]))
    return np.maximum(x, 0.0), np.clip(u, 0.0, problem.C)


def _stretched(problem: OneNormProblem, x: Array) -> Array:
    """x divided by the least of the margins that are nearly 1, so that these rows have no slack.

    A slack costs C, however small it is; a longer x costs that share of 1'x.
    """
    f = problem.gram @ problem.coefficients(x)
    margins = problem.rows.dot(f) + problem.bias_at(f) * problem.bias_signs
    return x / float(margins[margins > 1.0 - NEARLY_ONE].min(initial=1.0))


def _moved_inside(
    problem: OneNormProblem, u: Array, out_of_time: Callable[[], bool]
) -> Iterator[Array]:
    """u as it is, and u after every one of a few moves, which solve for B'u = 1 - 2 excess where B'u is near 1, excess = max B'u - 1.

    A move costs little, in proportion to 1'x; dividing u by max B'u, which makes it feasible too, costs in proportion to 1'u.
    """
    yield u
    for _ in range(MOST_MOVES):
        prices = _prices(problem, u)
        excess = float(prices.max(initial=0.0)) - 1.0
        T, F = (
            np.flatnonzero(prices > 1.0 - 4 * excess),
            np.flatnonzero((u > 0) & (u < problem.C * (1 - 4 * UNIT))),
        )
        if not (excess > 0 and T.size and F.size) or out_of_time():
            return
        AK, u = _rows(problem, F), u.copy()
        B = _block(problem, AK, F, T)
        u[F] += _least_squares(B.T, _missing(problem, B, u, 1.0 - 2 * excess - prices[T]))
        u = np.clip(u, 0.0, problem.C)
        yield u


def _least_squares(B: Array, missing: Array) -> Array:
    """The shortest d for which |B d - missing| is least, by a QR factorisation with pivots."""
    from scipy.linalg import lstsq

    d: Array = lstsq(B, missing, lapack_driver="gelsy")[0]
    return d


def _rows(problem: OneNormProblem, F: Any) -> Array:
    """A[F] K, (F, m)."""
    A = problem.rows.matrix[F]
    points = np.unique(A.indices)
    return np.asarray(A[:, points] @ problem.gram.rows(points))


def _block(problem: OneNormProblem, AK: Array, F: Any, S: Any) -> Array:
    """B[F, S], and beside it s_F where there is a bias, (F, S) or (F, S + 1)."""
    B = AK[:, S] if problem.over == "points" else np.asarray(AK @ problem.rows.matrix[S].T)
    return np.column_stack([B, problem.rows.s[F]]) if problem.bias else B


def _missing(problem: OneNormProblem, B: Array, u: Array, prices: Array) -> Array:
    """What the prices lack, and what s'u lacks where there is a bias, one for each column of B."""
    return np.append(prices, -float(problem.bias_signs @ u)) if B.shape[1] > len(prices) else prices


def _prices(problem: OneNormProblem, u: Array) -> Array:
    """B'u for the multipliers that a proof takes, which are those nearest to u on a grid."""
    g, _ = kernel_product(problem, problem.rows.rdot(problem.feasible(u)))
    return g if problem.over == "points" else problem.rows.dot(g)
