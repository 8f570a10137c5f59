"""Compiled sweeps over the rows of a dual problem, which move one multiplier after the other.

With u_r = t_r - (A f)_r - ridge_r alpha_r and q_r = (A K A')_rr + ridge_r, a visit to row r is

    alpha_r  <-  clip(alpha_r + omega u_r / q_r, 0, box_r),    omega = OVER_RELAXATION,

and f follows by the change of alpha_r times A_r. A sweep needs two operations on f: its value at a point i, and adding a multiple of
k(x_i, .) to it. How they are done depends on how f is held, by a vector v:

    features z_i      v = w (q,)      f(x_i) = z_i.w      w <- w + factor z_i
    a Gram matrix     v = f (m,)      f(x_i) = f_i        f <- f + factor K_i
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.solvers.products.row_access import Index, row_add, row_clear, row_dot, stored_rows
from equimargin.solvers.progress import WORK_BETWEEN_CLOCKS

Order = NDArray[np.int64]

OVER_RELAXATION = 1.3
"""Factor on the step that is best for a row alone, between 1 and 2: rows that pull the same way then need fewer sweeps."""
ROW_CURVATURE_FLOOR = 1e-12
"""Smallest curvature of a row, relative to the mean curvature of a point: a row of two equal points then moves to its bound."""
UNCONDITIONAL_SHARE = 0.03
"""Share of the sweeps allowed that `settled` makes in any case. After these it goes on only while what the rows add falls fast enough."""


class RowArrays(NamedTuple):
    """What sweeps read of the rows.

    indptr, indices, data : A (p, m), CSR.  t : (p,) targets.  box : (p,) upper ends.  ridge : (p,) of the squared hinge.
    q : (p,) curvatures, ridge included.
    """

    indptr: Index
    indices: Index
    data: Array
    t: Array
    box: Array
    ridge: Array
    q: Array


class Iterate(NamedTuple):
    """The multipliers alpha (p,) and f, held as v (q,) or (m,). Sweeps change both arrays in place."""

    alpha: Array
    v: Array


class GramRows(NamedTuple):
    """K (m, m), whose rows take the place of features where f is held by its values at the points."""

    K: Array


class Pass(NamedTuple):
    """What a sweep found: rows not settled, the lowest and the highest u_r that a row could follow, and how many rows moved."""

    unsettled: int
    lowest: float
    highest: float
    moved: int


def settled(
    Y: Any, t: Array, box: Array, at: Iterate, enough: float, most: int, out_of_time: Callable[[], bool]
) -> tuple[Array, Array, bool]:
    """Sweep over some rows of a hinge, the others held, until these rows add little to the gap.

    Parameters
    ----------
    Y : (k, q) features of the rows, dense or CSR.  t, box : (k,) their targets and upper ends.
    at : their multipliers (k,), and w (q,) of all rows.  enough : > 0, what these rows may still add to the gap.
    most : number of sweeps allowed.  out_of_time : whether the run has to end, asked from time to time.

    Returns
    -------
    alpha : (k,) within 0 .. box.  w : (q,) that goes with it, up to rounding.  reached : whether they add no more than `enough`.
    """
    Z = Explicit(Y, False)
    X, order, at = stored_rows(Z), np.arange(Z.m), Iterate(at.alpha.copy(), at.v.copy())
    part = 1 + 10 * WORK_BETWEEN_CLOCKS // (4 * Z.entries + 1)
    for start in range(0, most, part):
        if out_of_time():
            break
        if _settle(X, order, t, box, at, enough, min(part, most - start), start):
            return at.alpha, at.v, True
    return at.alpha, at.v, False


def value(X: Any, i: Any, v: Any) -> Any:
    """f(x_i)."""
    return v[i] if isinstance(X, GramRows) else row_dot(X, i, v)


def add(factor: Any, X: Any, i: Any, v: Any) -> None:
    """f <- f + factor k(x_i, .)."""
    if isinstance(X, GramRows):
        v += factor * X.K[i]
    else:
        row_add(factor, X, i, v)


@overload(value, strict=False)
def _value(X: Any, i: Any, v: Any) -> Any:
    def of_gram(X: Any, i: Any, v: Any) -> Any:
        return v[i]

    def of_features(X: Any, i: Any, v: Any) -> Any:
        return row_dot(X, i, v)

    return of_gram if isinstance(X, types.BaseNamedTuple) else of_features


@overload(add, strict=False)
def _add(factor: Any, X: Any, i: Any, v: Any) -> Any:
    def of_gram(factor: Any, X: Any, i: Any, v: Any) -> None:
        row = X.K[i]
        for j in range(v.size):
            v[j] += factor * row[j]

    def of_features(factor: Any, X: Any, i: Any, v: Any) -> None:
        row_add(factor, X, i, v)

    return of_gram if isinstance(X, types.BaseNamedTuple) else of_features


@jit
def shuffle(order: Order, seed: int) -> None:
    """Put the rows in random order, in place: Fisher's and Yates's exchanges, Park's and Miller's minimal standard generator."""
    state = 1 + seed % 2147483646
    for k in range(order.size - 1, 0, -1):
        state = state * 48271 % 2147483647
        other = state * (k + 1) // 2147483647
        order[k], order[other] = order[other], order[k]


@jit
def norms2(indptr: Index, indices: Index, data: Array, X: Any, z: Array) -> Array:
    """|A_r Z|^2, (p,); z : (q,) zeros to work on."""
    q = np.zeros(indptr.size - 1)
    for r in range(q.size):
        for k in range(indptr[r], indptr[r + 1]):
            row_add(data[k], X, indices[k], z)
        for k in range(indptr[r], indptr[r + 1]):
            q[r] += data[k] * row_dot(X, indices[k], z)
        for k in range(indptr[r], indptr[r + 1]):
            row_clear(X, indices[k], z)
    return q


@jit
def quadratics(indptr: Index, indices: Index, data: Array, K: Array) -> Array:
    """(A K A')_rr, (p,), from the few entries of each row."""
    q = np.zeros(indptr.size - 1)
    for r in range(q.size):
        for k in range(indptr[r], indptr[r + 1]):
            for e in range(indptr[r], indptr[r + 1]):
                q[r] += data[k] * data[e] * K[indices[k], indices[e]]
    return q


@jit
def sweep(order: Order, low: float, high: float, rows: RowArrays, X: Any, at: Iterate) -> tuple[int, float, float, int]:
    """Visit the rows `order` once and change `at`, in place; the figures of a Pass.

    Parameters
    ----------
    order : (k,) rows. Those that have not settled come first in it afterwards.
    low, high : a row settles, and is passed over, at a bound against which it is pushed by a u_r below `low` or above `high`.
    rows : their data.  X : features, as `stored_rows` makes them, or GramRows.  at : the multipliers and f.
    """
    indptr, indices, data, t, box, ridge, q = rows
    alpha, v = at
    kept, moved, down, up = 0, 0, 0.0, 0.0
    for r in order:
        u = t[r] - ridge[r] * alpha[r]
        for k in range(indptr[r], indptr[r + 1]):
            u -= data[k] * value(X, indices[k], v)
        if _settles(u, alpha[r], box[r], low, high):
            continue
        order[kept] = r
        kept += 1
        pull = _pull(u, alpha[r], box[r])
        down, up = min(down, pull), max(up, pull)
        new = _moved(u, alpha[r], box[r], q[r])
        delta = new - alpha[r]
        if pull != 0.0 and delta != 0.0:
            alpha[r] = new
            moved += 1
            for k in range(indptr[r], indptr[r + 1]):
                add(delta * data[k], X, indices[k], v)
    return kept, down, up, moved


@jit
def _settle(X: Any, order: Order, t: Array, box: Array, at: Iterate, enough: float, most: int, seed: int) -> bool:
    """Make at most `most` passes over the rows of a hinge, in place; true once they add no more than `enough` to the gap.

    The passes end early where what the rows add falls too slowly to get there.
    """
    alpha, w = at
    q = np.empty(t.size)
    z, total = np.zeros(w.size), 0.0
    for r in range(t.size):
        row_add(1.0, X, r, z)
        q[r] = row_dot(X, r, z)
        row_clear(X, r, z)
        total += q[r]
    floor = ROW_CURVATURE_FLOOR * (total / t.size or 1.0)
    visits, budget, active, low, high = 0, most * t.size, t.size, -np.inf, np.inf
    mark, first = 0, np.inf
    while visits < budget:
        visits += active
        shuffle(order[:active], 7919 * (seed + 1) + visits)
        share, down, up, k = 0.0, 0.0, 0.0, 0
        while k < active:
            r = order[k]
            u = t[r] - row_dot(X, r, w)
            if _settles(u, alpha[r], box[r], low, high):
                active -= 1
                order[k], order[active] = order[active], r
                continue
            k += 1
            share += box[r] * max(u, 0.0) - alpha[r] * u
            pull = _pull(u, alpha[r], box[r])
            down, up = min(down, pull), max(up, pull)
            moved = _moved(u, alpha[r], box[r], max(q[r], floor))
            if pull != 0.0 and moved != alpha[r]:
                row_add(moved - alpha[r], X, r, w)
                alpha[r] = moved
        low, high = thresholds(down, up)
        if share <= enough:
            if active == t.size:
                return True
            active, low, high = t.size, -np.inf, np.inf
        elif mark <= UNCONDITIONAL_SHARE * budget:
            mark, first = visits, max(share, enough)
        elif visits > 2 * mark and share > first * (enough / first) ** ((visits - mark) / (budget - mark)):
            return False
    return False


@jit
def thresholds(down: float, up: float) -> tuple[float, float]:
    """The bounds on u_r beyond which rows settle in the next sweep: the lowest and the highest pull of this one, if there were any."""
    return down if down < 0.0 else -np.inf, up if up > 0.0 else np.inf


@jit
def _moved(u: float, alpha: float, box: float, q: float) -> float:
    """Where one multiplier goes: beyond the value that is best for it alone, but within the box."""
    return min(max(alpha + OVER_RELAXATION * u / q, 0.0), box)


@jit
def _settles(u: float, alpha: float, box: float, low: float, high: float) -> bool:
    """Whether a row is at a bound and is pushed against it harder than any row was pulled in the last sweep."""
    return (alpha == 0.0 and u < low) or (alpha == box and u > high)


@jit
def _pull(u: float, alpha: float, box: float) -> float:
    """The part of u that the row can follow."""
    if alpha == 0.0:
        return max(u, 0.0)
    return min(u, 0.0) if alpha == box else u
