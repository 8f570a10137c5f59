"""Vertices with few nonzero entries, in floats, by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.extras import highspy
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.lp.highs import Basis, LinearProgram, run

TOLERANCE = 1e-9
"""HiGHS's absolute tolerances."""


def sparse_vertex(
    M: Any, low: Array, high: Array, costs: Array, signed: NDArray[np.bool_], clock: Clock
) -> Array | None:
    """Return v that minimises costs'|v| with low <= M v <= high, or None if not found.

    Parameters
    ----------
    M : sparse array of shape (rows, n)
        Matrix.
    low, high : ndarray of shape (rows,)
        Ends of the rows.
    costs : ndarray of shape (n,)
        Positive costs.
    signed : ndarray of bool of shape (n,)
        False for variables that are at least 0.
    clock : Clock
        Time limit.
    """
    from scipy import sparse

    own = sparse.csc_array(M)
    n = len(costs)
    # A variable of any sign is a difference of two nonnegative ones.
    both = sparse.csc_array(sparse.hstack([own, -own[:, signed]]))
    size = both.shape[1]
    program = LinearProgram(
        np.concatenate([costs, costs[signed]]),
        np.zeros(size),
        np.full(size, np.inf),
        both.indptr,
        both.indices,
        both.data,
        low,
        high,
    )
    start = Basis(np.zeros(size, dtype=np.bool_), np.ones(len(low), dtype=np.bool_))
    found = run(program, start, np.zeros(size, dtype=np.bool_), TOLERANCE, None, clock.left)
    if found.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    parts = np.maximum(np.array(found.getSolution().col_value), 0.0)
    v: Array = parts[:n].copy()
    v[signed] -= parts[n:]
    return v
