"""Constraints that have a share in the least violation, in floats, by HiGHS's PDLP.

    min t  s.t.  every row is violated by at most t, relative to its size

The multipliers of the rows are weights w with w'C near 0 and w'c < 0 if the optimum is
above 0. A first-order method needs no factorisation: at ten thousand sparse rows it
takes seconds where the simplex method and interior points take minutes.

References
----------
D. Applegate et al. Practical large-scale linear programming using primal-dual hybrid
gradient. NeurIPS 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.extras import highspy
from equimargin.formulations.programs.quiet_highs import quiet_highs
from equimargin.proofs.feasibility.constraints import LinearConstraints
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.interrupt import interruptible

TOLERANCE = 1e-6
"""Relative tolerance of PDLP."""
SMALLEST_SIZE = 1e-300
"""Minimum size of a row that is scaled."""


def weights_of_least_violation(constraints: LinearConstraints, clock: Clock) -> Array | None:
    """Return the multipliers of all constraints, or None if PDLP finds no violation.

    Parameters
    ----------
    constraints : LinearConstraints
        Constraints.
    clock : Clock
        Time limit.
    """
    from scipy import sparse

    rows, zero, ends = constraints.rows, constraints.equations, constraints.c
    table, middle = sparse.csr_array(constraints.C[:rows]), rows + len(constraints.low)
    sizes = row_sizes(table)[:, None]
    # An equation has two ends.
    upper = sparse.hstack([table, -sparse.csr_array(sizes)])
    lower = sparse.hstack([-table[:zero], -sparse.csr_array(sizes[:zero])])
    low, high = np.full(table.shape[1], -np.inf), np.full(table.shape[1], np.inf)
    low[constraints.low], high[constraints.high] = -ends[rows:middle], ends[middle:]
    z = _multipliers(
        sparse.csc_array(sparse.vstack([upper, lower])),
        np.concatenate([ends[:rows], -ends[:zero]]),
        np.append(low, 0.0),
        np.append(high, np.inf),
        clock,
    )
    if z is None or not z.any():
        return None
    weights = z[:rows]
    weights[:zero] -= z[rows:]
    pull = table.T @ weights
    bounds = np.maximum(pull[constraints.low], 0.0), np.maximum(-pull[constraints.high], 0.0)
    return np.concatenate([weights, *bounds])


def row_sizes(C: Any) -> Array:
    """Return powers of two above the largest entry of each row; 1 for a row without entries.

    Parameters
    ----------
    C : sparse array of shape (k, n)
        Matrix.
    """
    if not C.shape[0]:
        return np.zeros(0)
    largest = abs(C).max(axis=1).toarray().ravel()
    # Powers of two keep the floats.
    powers = 2.0 ** np.frexp(np.maximum(largest, SMALLEST_SIZE))[1]
    return np.where(largest > 0, powers, 1.0)


def _multipliers(M: Any, ends: Array, low: Array, high: Array, clock: Clock) -> Array | None:
    """Return multipliers of M v <= ends, low <= v <= high at the least last v, or None."""
    given, highs = highspy.HighsLp(), quiet_highs()
    given.num_row_, given.num_col_ = M.shape
    given.col_cost_ = np.append(np.zeros(len(low) - 1), 1.0)
    given.col_lower_, given.col_upper_ = low, high
    given.row_lower_, given.row_upper_ = np.full(len(ends), -np.inf), ends
    given.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    given.a_matrix_.start_ = M.indptr.astype(np.int32)
    given.a_matrix_.index_, given.a_matrix_.value_ = M.indices.astype(np.int32), M.data
    highs.passModel(given)
    options = {"solver": "pdlp", "threads": 1, "pdlp_optimality_tolerance": TOLERANCE}
    options |= {f"{side}_feasibility_tolerance": TOLERANCE for side in ("primal", "dual")}
    options["time_limit"] = clock.left
    for option, setting in options.items():
        highs.setOptionValue(option, setting)
    highs.HandleUserInterrupt = True
    interruptible(highs.run, highs.cancelSolve)
    solution = highs.getSolution()
    z = -np.array(solution.row_dual)
    return np.maximum(z, 0.0) if len(z) == len(ends) and np.isfinite(z).all() else None
