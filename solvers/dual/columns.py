"""Sequential minimal optimisation by columns: two multipliers of one threshold at a time, for any kernel and both losses.

Every row (i, k) has one entry, s_ik at the point i, and is in the equation of its
threshold k alone. A step takes d from one row of a column and gives it to another: of
the column that violates the optimality conditions most, the row that is furthest above,
and the one with which the step promises the largest rise. Steps are made on a block of
points whose kernel values are at hand; between blocks f is brought up to date, and the
gap decides.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order
information, JMLR 6 (2005), column by column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    DualConvergenceMonitor,
    initial_multipliers,
)
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements, without_levels
from equimargin.solvers.solution import Limits, Solution, Status

BLOCK = 1000
"""Points of a block, at most: their kernel values are 8 MB."""
STEPS = 50_000_000
"""Steps of a run without a limit of its own."""
SHARE = 0.1
"""The part of the violation of all rows at which a block is left."""
LEAST_CURVATURE = 1e-12
"""The part of the mean K_ii that a step's curvature is taken to be at least, where two points are equal."""


@solver(
    "columns",
    "ord.implicit",
    "ord.implicit_l2",
    algorithm="sequential minimal optimisation, two multipliers of one threshold at a time",
    requires=Requirements(
        MarginProblem,
        losses=("hinge", "squared_hinge"),
        bias="so that no pair has to be moved together",
        no_hard_rows="whose multipliers have no bound",
        single_entries=True,
        thresholds=np.inf,
        convex=True,
        also=without_levels,
    ),
)
def _solve(problem: MarginProblem, limits: Limits, start: Point | None) -> Solution:
    """Solve by steps of two multipliers; G (m, T) are the signed multipliers s_ik alpha_ik, and f = K G 1."""
    m, T, gram = problem.m, problem.T, problem.gram
    S, box = (
        np.ascontiguousarray(rows.reshape(T, m).T) for rows in (problem.bias_signs, problem.box)
    )
    low, high = np.where(S > 0, 0.0, -box), np.where(S > 0, box, 0.0)
    costs, floor = problem.group_costs, LEAST_CURVATURE * gram.mean_diagonal
    ridge = (
        np.divide(0.5, costs, out=np.zeros(m), where=costs > 0) if problem.squared else np.zeros(m)
    )
    alpha = (
        np.zeros(problem.p)
        if start is None
        else problem.repaired(initial_multipliers(start, problem))
    )
    G = np.ascontiguousarray(S * alpha.reshape(T, m).T)
    progress = DualConvergenceMonitor("columns", problem, limits, limits.max_iter or STEPS)
    f, steps = gram @ G.sum(axis=1), 0
    while True:
        V = S - f[:, None] - ridge[:, None] * G
        up, down = np.where(high > G, V, -np.inf), np.where(low < G, V, np.inf)
        violation = float((up.max(axis=0) - down.min(axis=0)).max())
        if progress.show((S * G).T.ravel(), steps, violation):
            break
        block = _block(up, down, m)
        most = min(
            MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // (len(block) * T) + 1, progress.max_iter - steps
        )
        here = G[block]
        tried = _steps(
            gram.block(block, block),
            ridge[block],
            here,
            low[block],
            high[block],
            V[block],
            SHARE * violation,
            floor,
            most,
        )
        if not tried:
            progress.end(
                Status.NUMERICAL_FAILURE,
                f"no step of two multipliers is left in float64, at a violation of {violation:.2e}",
            )
            break
        change = np.zeros(m)
        change[block] = (here - G[block]).sum(axis=1)
        G[block], steps = here, steps + tried
        f = f + gram @ change if len(block) < m else gram @ G.sum(axis=1)
    return progress.solution()


def _block(up: Array, down: Array, n: int) -> NDArray[np.intp]:
    """Return the points of a block: those of the rows that are furthest above and below in every column."""
    if n <= BLOCK:
        return np.arange(n)
    each = BLOCK // (2 * up.shape[1]) + 1
    rows = [np.argpartition(side, each, axis=0)[:each].ravel() for side in (-up, down)]
    return np.unique(np.concatenate(rows))


@jit
def _steps(
    K: Array,
    ridge: Array,
    G: Array,
    low: Array,
    high: Array,
    V: Array,
    tol: float,
    floor: float,
    most: int,
) -> int:
    """Steps on a block until the violation is at most tol; G (n, T) and V = S - f - ridge G (n, T) are changed. The number of steps."""
    n, columns = G.shape
    for step in range(most):
        worst, column, first = tol, -1, -1
        for k in range(columns):
            top, bottom, at = -np.inf, np.inf, -1
            for r in range(n):
                if G[r, k] < high[r, k] and V[r, k] > top:
                    top, at = V[r, k], r
                if G[r, k] > low[r, k] and V[r, k] < bottom:
                    bottom = V[r, k]
            if top - bottom > worst:
                worst, column, first = top - bottom, k, at
        if column < 0:
            return step
        k, i = column, first
        rise, second, curvature = 0.0, -1, 1.0
        for r in range(n):
            if G[r, k] > low[r, k] and V[r, k] < V[i, k]:
                q = max(K[i, i] + K[r, r] - 2 * K[i, r] + ridge[i] + ridge[r], floor)
                promised = (V[i, k] - V[r, k]) ** 2 / q
                if promised > rise:
                    rise, second, curvature = promised, r, q
        j = second
        d = min((V[i, k] - V[j, k]) / curvature, high[i, k] - G[i, k], G[j, k] - low[j, k])
        G[i, k] = high[i, k] if d == high[i, k] - G[i, k] else G[i, k] + d
        G[j, k] = low[j, k] if d == G[j, k] - low[j, k] else G[j, k] - d
        V[i, k] -= ridge[i] * d
        V[j, k] += ridge[j] * d
        for r in range(n):
            moved = d * (K[r, i] - K[r, j])
            for c in range(columns):
                V[r, c] -= moved
    return most
