"""Compiled sweeps of coordinate descent over the weights of a `SparseWeightProblem`.

A visit of weight w_j minimises the objective along it by Newton's method, with r = y - X
w and the sums over the rows of a positive slack y_i r_i:

    g = -2 sum_i c_i x_ij r_i,    h = 2 sum_i c_i x_ij^2
    w_j  <-  shrink(w_j - g / h, 1 / h),    shrink(v, t) = sign(v) max(|v| - t, 0)

Rows that the step makes active may increase the objective. h is then multiplied by 4,
at most to its sum over all rows, with which the objective always decreases.

References
----------
G.-X. Yuan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, A comparison of optimization methods
and software for large-scale L1-regularized linear classification, JMLR 11 (2010),
section 4.1, here with larger h in place of shorter steps.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Features, Index, is_sparse
from equimargin.formulations.numeric.jit import brief, fast
from equimargin.formulations.numeric.vector_loops import larger
from equimargin.solvers.products.row_access import Positions, stored_entries

DECREASE = 0.01
"""Share of the decrease of the linear model that a step must achieve."""
SMALLEST_CURVATURE = 1e-12
"""Smallest h of a step, relative to that of all rows."""
MAX_TRIAL_STEPS = 32
"""Maximum number of steps that are tried: with factors of 4, h reaches that of all rows."""


class ColumnArrays(NamedTuple):
    """Features for compiled code, column after column.

    Parameters
    ----------
    starts : ndarray of shape (d + 1,)
        Start of every column in `values`.
    rows : ndarray of shape (nnz,)
        Row of every value; empty if every column has all rows.
    values : ndarray of shape (nnz,)
        Values.
    """

    starts: Positions
    rows: Positions
    values: Array

    @classmethod
    def of(cls, X: Features) -> Self:
        """Return the arrays of features as `by_columns` returns them.

        Parameters
        ----------
        X : ndarray in Fortran order or CSC array, of shape (m, d)
            Features.
        """
        if is_sparse(X):
            # The rows of X' are the columns of X.
            return cls(*stored_entries(X.T))
        m, d = X.shape
        starts = np.arange(d + 1, dtype=np.uint64) * np.uint64(m)
        return cls(starts, starts[:0], X.ravel(order="F"))

    @property
    def longest(self) -> int:
        """Largest number of stored entries of a column; 0 if every column has all rows."""
        return int(np.diff(self.starts).max(initial=0)) if len(self.rows) else 0


@fast
def _minimise_along(
    x: Array, r: Array, c: Array, old: float, largest: float
) -> tuple[float, float]:
    """Return the new value of a weight, and the distance of 0 from the subdifferential.

    x are the stored entries of its column, r and c their residuals and c_i y_i.
    """
    g, h, n = 0.0, 0.0, x.size
    for k in range(n):
        # Here c is c_i y_i, so that c r is the cost times the slack.
        pull = larger(c[k] * r[k], 0.0)
        g -= x[k] * pull * (1.0 if c[k] > 0.0 else -1.0)
        h += x[k] * x[k] * (abs(c[k]) if pull > 0.0 else 0.0)
    g, h = 2.0 * g, 2.0 * h
    # Distance of 0 from g + [-1, 1] at 0, and from g + sign(w_j) elsewhere.
    if old == 0.0:
        distance = larger(abs(g) - 1.0, 0.0)
    else:
        distance = abs(g + (1.0 if old > 0.0 else -1.0))
    h = larger(h, SMALLEST_CURVATURE * largest)
    new = old
    for _ in range(MAX_TRIAL_STEPS if distance > 0.0 else 0):
        moved = old * h - g
        # Without curvature g is 0, and the weight is 0 at the minimum.
        new = larger(abs(moved) - 1.0, 0.0) / h if h > 0.0 else 0.0
        new = new if moved > 0.0 else 0.0 - new
        step = new - old
        if h >= largest:
            break
        change = 0.0
        for k in range(n):
            sign = 1.0 if c[k] > 0.0 else -1.0
            before = larger(sign * r[k], 0.0)
            after = larger(sign * (r[k] - step * x[k]), 0.0)
            change += abs(c[k]) * (after - before) * (after + before)
        norm = abs(new) - abs(old)
        if change + norm <= DECREASE * (g * step + norm):
            break
        h = min(4.0 * h, largest)
    return new, distance


@brief
@fast
def sweep(
    order: Index,
    columns: ColumnArrays,
    costs: Array,
    largest: Array,
    scratch: Array,
    w: Array,
    residuals: Array,
) -> float:
    """Visit some weights once and update w and the residuals in place.

    Parameters
    ----------
    order : ndarray of int
        Weights to visit.
    columns : ColumnArrays
        Features.
    costs : ndarray of shape (m,)
        c_i y_i.
    largest : ndarray of shape (d,)
        2 sum_i c_i x_ij^2 over all rows.
    scratch : ndarray of shape (2, longest)
        Workspace.
    w : ndarray of shape (d,)
        Weights.
    residuals : ndarray of shape (m,)
        r = y - X w.

    Returns
    -------
    float
        Largest distance of 0 from the subdifferential of a visited weight.
    """
    starts, rows, values = columns
    violation, is_stored = 0.0, rows.size > 0
    for j in order:
        first, last = starts[j], starts[j + 1]
        n = np.int64(last - first)
        x = values[first:last]
        if is_stored:
            of_column = rows[first:last]
            r, c = scratch[0, :n], scratch[1, :n]
            for k in range(n):
                r[k] = residuals[of_column[k]]
                c[k] = costs[of_column[k]]
        else:
            of_column, r, c = rows, residuals, costs
        new, distance = _minimise_along(x, r, c, w[j], largest[j])
        violation = larger(violation, distance)
        step = new - w[j]
        if step == 0.0:
            continue
        w[j] = new if new != 0.0 else 0.0
        if is_stored:
            for k in range(n):
                residuals[of_column[k]] -= step * x[k]
        else:
            for k in range(n):
                residuals[k] -= step * x[k]
    return violation
