"""Sequential minimal optimisation: two multipliers of one threshold at a time, for any kernel and both losses.

Every signed multiplier is in one equation alone, that of its threshold's column. So a step takes d from one row of a column and gives it to
another: of the column that violates the optimality conditions most, the row that is furthest above, and the one with which the step
promises the largest rise. Steps are made on a block of points whose kernel values are at hand; between blocks f is brought up to date, the
best thresholds are found, and the gap decides.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order information, JMLR 6 (2005), column by column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.solvers.ordinal.machine import Machine, OrdinalFit, Run
from equimargin.solvers.progress import WORK_BETWEEN_CLOCKS
from equimargin.solvers.solution import Limits

BLOCK = 1000
"""Points of a block, at most: their kernel values are 8 MB."""
STEPS = 50_000_000
"""Steps of a run without a limit of its own."""
SHARE = 0.1
"""The part of the violation of all rows at which a block is left."""
LEAST_CURVATURE = 1e-12
"""The part of the mean K_ii that a step's curvature is taken to be at least, where two points are equal."""
RISE = 1e-15
"""The least part by which the dual value rises between two blocks: its own rounding."""
STALE = 10
"""Blocks in a row that end a run, where each brings neither that rise nor a smaller gap."""


def smo(machine: Machine, limits: Limits) -> OrdinalFit:
    """Solve by steps of two multipliers.

    Parameters
    ----------
    machine : of finite costs.  limits : the tolerance is on the relative gap; iterations are steps.
    """
    run, S, gram = Run(machine, limits, STEPS), machine.S, machine.gram
    reach = np.where(machine.squared, np.inf, machine.cost)[:, None]
    low, high = np.where(S > 0, 0.0, -reach), np.where(S > 0, reach, 0.0)
    ridge, floor = machine.ridge, LEAST_CURVATURE * gram.mean_diagonal
    G, f, steps, stale, least, risen = np.zeros_like(S), np.zeros(machine.n), 0, 0, np.inf, 0.0
    while True:
        b, beta = machine.thresholds_of(f), G.sum(axis=1)
        primal, dual = machine.values(float(beta @ f), f, b, G)
        if run.over(G, None, b, (primal, dual), steps):
            break
        stale = 0 if run.gap < least or dual > risen * (1 + RISE) else stale + 1
        least, risen = run.gap, max(risen, dual)
        V = S - f[:, None] - ridge[:, None] * G
        up, down = np.where(high > G, V, -np.inf), np.where(low < G, V, np.inf)
        violation = float((up.max(axis=0) - down.min(axis=0)).max())
        block = _block(up, down, machine.n)
        most = min(WORK_BETWEEN_CLOCKS // (len(block) * S.shape[1]) + 1, run.most - steps)
        here = G[block]
        tried = _steps(gram.block(block, block), ridge[block], here, low[block], high[block], V[block], SHARE * violation, floor, most)
        if not tried or stale > STALE:
            break
        change = np.zeros(machine.n)
        change[block] = (here - G[block]).sum(axis=1)
        G[block], steps = here, steps + tried
        f = f + gram @ change if len(block) < machine.n else gram @ G.sum(axis=1)
    return run.fit()


def _block(up: Array, down: Array, n: int) -> NDArray[np.intp]:
    """Points of a block: those of the rows that are furthest above and below in every column."""
    if n <= BLOCK:
        return np.arange(n)
    each = BLOCK // (2 * up.shape[1]) + 1
    rows = [np.argpartition(side, each, axis=0)[:each].ravel() for side in (-up, down)]
    return np.unique(np.concatenate(rows))


@jit
def _steps(K: Array, ridge: Array, G: Array, low: Array, high: Array, V: Array, tol: float, floor: float, most: int) -> int:
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
