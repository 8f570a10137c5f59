"""Sequential minimal optimisation by columns, for any kernel, hinge and squared hinge.

A step changes two multipliers of one threshold. Every row (i, k) has one entry, s_ik at
the point i, and occurs only in the equation of its threshold k:

    sum_i s_ik alpha_ik = 0,    f = K G 1,    G_ik = s_ik alpha_ik.

The gradient of the dual in G is V = S - f 1' - diag(ridge) G.

1. Select the column of largest violation, and in it the row of largest V.
2. Add d to its G_ik, and subtract d from the entry of G in this column that promises
   the largest increase of the dual.

Steps are made on a block of points with stored kernel values. Between blocks f is
updated and the gap computed.

References
----------
R.-E. Fan, P.-H. Chen, C.-J. Lin. Working set selection using second order information
for training support vector machines. JMLR 6 (2005), 1889-1918, here per column.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
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
"""Maximum size of a block in points: their kernel values take 8 MB."""
STEPS = 50_000_000
"""Default limit of the steps of a run."""
SHARE = 0.1
"""Ratio of the violation at which a block's steps stop to that of all rows."""
LEAST_CURVATURE = 1e-12
"""Minimum curvature of a step, relative to the mean K_ii; for equal points."""


@solver(
    "columns",
    "ord.implicit",
    "ord.implicit_l2",
    algorithm="sequential minimal optimisation, two multipliers of one threshold at a time",
    requires=Requirements(
        MarginProblem,
        losses=("hinge", "squared_hinge"),
        bias="whose sum-to-zero constraint this method needs",
        no_hard_rows="whose multipliers have no bound",
        single_entries=True,
        thresholds=np.inf,
        convex=True,
        also=without_levels,
    ),
)
def _solve(problem: MarginProblem, limits: Limits, start: Point | None) -> Solution:
    """Solve by steps of two multipliers."""
    m, T, gram = problem.m, problem.T, problem.gram
    S, box = (
        np.ascontiguousarray(rows.reshape(T, m).T) for rows in (problem.bias_signs, problem.box)
    )
    low, high = np.where(S > 0, 0.0, -box), np.where(S > 0, box, 0.0)
    costs, floor = problem.group_costs, LEAST_CURVATURE * gram.mean_diagonal
    ridge = (
        np.divide(0.5, costs, out=np.zeros(m), where=costs > 0) if problem.squared else np.zeros(m)
    )
    alpha = problem.repaired(initial_multipliers(start or Point(), problem))
    # Signed multipliers G_ik = s_ik alpha_ik, (m, T).
    G = np.ascontiguousarray(S * alpha.reshape(T, m).T)
    progress = DualConvergenceMonitor("columns", problem, limits, limits.max_iter or STEPS)
    f, steps = gram @ G.sum(axis=1), 0
    while True:
        # Gradient of the dual in G, where G_ik may increase (`up`) and decrease (`down`).
        V = S - f[:, None] - ridge[:, None] * G
        up, down = np.where(high > G, V, -np.inf), np.where(low < G, V, np.inf)
        violation = float((up.max(axis=0) - down.min(axis=0)).max())
        if progress.show((S * G).T.ravel(), steps, violation):
            break
        block = _block(up, down, m)
        most = min(
            MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // (len(block) * T) + 1, progress.max_iter - steps
        )
        G_block = G[block]
        taken = _steps(
            gram.block(block, block),
            ridge[block],
            G_block,
            low[block],
            high[block],
            V[block],
            SHARE * violation,
            floor,
            most,
        )
        if not taken:
            progress.end(
                Status.NUMERICAL_FAILURE,
                f"no step of two multipliers is left in float64, at a violation of {violation:.2e}",
            )
            break
        change = np.zeros(m)
        change[block] = (G_block - G[block]).sum(axis=1)
        G[block], steps = G_block, steps + taken
        f = f + gram @ change if len(block) < m else gram @ G.sum(axis=1)
    return progress.solution()


def _block(up: Array, down: Array, n: int) -> Index:
    """Return the points of a block: those of largest and smallest V in every column."""
    if n <= BLOCK:
        return np.arange(n)
    per_side = BLOCK // (2 * up.shape[1]) + 1
    rows = [np.argpartition(side, per_side, axis=0)[:per_side].ravel() for side in (-up, down)]
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
    """Take steps on a block until the violation is at most tol; return their number.

    G (n, T) and V = S - f - ridge G (n, T) are changed in place.
    """
    n, columns = G.shape
    for step in range(most):
        # Column of largest violation max V - min V, and its row of largest V.
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
        # Partner r of largest increase (V_i - V_r)^2 / q, apart from a factor 1/2, where
        # q = K_ii + K_rr - 2 K_ir + ridge_i + ridge_r.
        k, i = column, first
        rise, second, curvature = 0.0, -1, 1.0
        for r in range(n):
            if G[r, k] > low[r, k] and V[r, k] < V[i, k]:
                q = max(K[i, i] + K[r, r] - 2 * K[i, r] + ridge[i] + ridge[r], floor)
                promised = (V[i, k] - V[r, k]) ** 2 / q
                if promised > rise:
                    rise, second, curvature = promised, r, q
        j = second
        # d = (V_i - V_j) / q, clipped to the box; bounds are set exactly.
        d = min((V[i, k] - V[j, k]) / curvature, high[i, k] - G[i, k], G[j, k] - low[j, k])
        G[i, k] = high[i, k] if d == high[i, k] - G[i, k] else G[i, k] + d
        G[j, k] = low[j, k] if d == G[j, k] - low[j, k] else G[j, k] - d
        # V <- V - d (K_i - K_j) 1' in all columns; the ridge in column k alone.
        V[i, k] -= ridge[i] * d
        V[j, k] += ridge[j] * d
        for r in range(n):
            moved = d * (K[r, i] - K[r, j])
            for c in range(columns):
                V[r, c] -= moved
    return most
