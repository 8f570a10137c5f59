"""Compiled sweeps over the rows of a dual problem, which move one multiplier after the other.

With u_r = t_r - (A f)_r - ridge_r alpha_r and q_r = (A K A')_rr + ridge_r, a visit to
row r is

    alpha_r  <-  clip(alpha_r + omega u_r / q_r, 0, box_r),    0 < omega < 2,

and f follows by the change of alpha_r times A_r. A sweep needs two operations on f: its
value at a point i, and adding a multiple of k(x_i, .) to it. How they are done depends
on how f is held, by a vector v:

    features z_i      v = w (q,)      f(x_i) = z_i.w      w <- w + factor z_i
    a Gram matrix     v = f (m,)      f(x_i) = f_i        f <- f + factor K_i

Every row is in another place of the memory than the one before it. It is therefore
fetched some visits before its own, in two steps: first what says where its features
are, then the features. The order is random in every sweep, to the last row: where runs
of neighbours stay together, sweeps are read faster, but four times as many are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast, jit, part
from equimargin.formulations.numeric.prefetch import prefetch
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.products.row_access import (
    Index,
    row_add,
    row_clear,
    row_dot,
    stored_entries,
    stored_rows,
)
from equimargin.solvers.products.swept_rows import StoredRows, swept_add, swept_fetch
from equimargin.solvers.progress import MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS

Order = NDArray[np.int64]

OVER_RELAXATION = 1.3
"""Factor on the step that is best for a row alone, between 1 and 2: rows that pull the same way then need fewer sweeps."""
LATE_OVER_RELAXATION = 1.6
"""The same once a run has taken EARLY_SWEEPS. What is left is then slow, and the larger factor takes a tenth fewer visits."""
EARLY_SWEEPS = 20
"""Sweeps after which the larger factor is better. While many rows still go from bound to bound, it throws them too far."""
ROW_CURVATURE_FLOOR = 1e-12
"""Smallest curvature of a row, relative to the mean curvature of a point: a row of two equal points then moves to its bound."""
SPREAD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
"""An odd number without a pattern, which makes the states of a random generator of small seeds, and half of the state's bits."""
ROWS_AHEAD = 4
"""Visits between the hint that a row's features will be read and its visit: about as long as they take to come from memory."""
SETTLING_SHARE = 0.5
"""Share of the hardest pull of a sweep. A row that is pushed against its bound harder than this is left out of the next sweeps. With a
share of 1 a sixth more rows are visited in vain; with 0.25 rows are left out too early,
and more sweeps over all rows are needed.
"""
TERMS = 4
"""Numbers of a row in RowArrays.terms."""
UNCONDITIONAL_SHARE = 0.03
"""Share of the sweeps allowed that `solve_restricted` always makes. It makes others only while what the rows add falls fast enough."""


class SparseRows(NamedTuple):
    """A (p, m) by the arrays of a CSR matrix; `indptr` and `indices` are empty where row r is `data[r]` times point r."""

    indptr: Index
    indices: Index
    data: Array

    @classmethod
    def of(cls, A: Any) -> Self:
        """Those of a CSR array."""
        whole = cls(*stored_entries(A))
        count = np.arange(len(whole.data))
        if (
            A.shape == 2 * count.shape
            and np.array_equal(whole.indices, count)
            and np.array_equal(whole.indptr[:-1], count)
        ):
            return cls(whole.indptr[:0], whole.indices[:0], whole.data)
        return whole


class RowArrays(NamedTuple):
    """What sweeps read of the rows.

    Parameters
    ----------
    A : SparseRows
        As above.
    terms : ndarray of shape (p x TERMS,)
        t_r, box_r, ridge_r and q_r of one row after the other, so that they are read at
        once. The box is the upper end, the ridge that of a squared hinge, and q_r
        contains it.
    """

    A: SparseRows
    terms: Array


class SweepIterate(NamedTuple):
    """The multipliers alpha (p,) and f, held as v (q,) or (m,). Sweeps change both arrays in place."""

    alpha: Array
    v: Array


class SweepResult(NamedTuple):
    """What a sweep found.

    Parameters
    ----------
    unsettled, moved : int
        How many rows have not settled, and how many moved.
    lowest, highest : float
        u_r that a row could follow.
    share : float
        What the rows added to the gap when they were visited.
    gain : float
        By how much the dual value has risen.
    """

    unsettled: int
    moved: int
    lowest: float
    highest: float
    share: float
    gain: float


def merge_passes(parts: Sequence[SweepResult]) -> SweepResult:
    """What the parts of a sweep found together."""
    if not parts:
        return SweepResult(0, 0, 0.0, 0.0, 0.0, 0.0)
    unsettled, moved, lowest, highest, share, gain = zip(*parts, strict=True)
    return SweepResult(sum(unsettled), sum(moved), min(lowest), max(highest), sum(share), sum(gain))


def solve_restricted(
    Y: Any,
    t: Array,
    box: Array,
    at: SweepIterate,
    enough: float,
    most: int,
    out_of_time: Callable[[], bool],
) -> tuple[Array, Array, bool]:
    """Sweep over some rows of a hinge, the others held, until these rows add little to the gap.

    Parameters
    ----------
    Y : array-like of shape (k, q)
        Features of the rows, dense or CSR.
    t, box : ndarray of shape (k,)
        Their targets and upper ends.
    at : SweepIterate
        Their multipliers (k,), and w (q,) of all rows.
    enough : float
        > 0, what these rows may still add to the gap.
    most : int
        Number of sweeps allowed.
    out_of_time : Callable[[], bool]
        Whether the run has to end, asked from time to time.

    Returns
    -------
    alpha
        (k,) within 0 .. box.  w : (q,) that goes with it, up to rounding.  reached :
        whether they add no more than `enough`.
    """
    Z = Explicit(Y, False)
    X, order, at = stored_rows(Z), np.arange(Z.m), SweepIterate(at.alpha.copy(), at.v.copy())
    part = 1 + 10 * MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // (4 * Z.entries + 1)
    for start in range(0, most, part):
        if out_of_time():
            break
        if _settle(X, order, t, box, at, enough, min(part, most - start), start):
            return at.alpha, at.v, True
    return at.alpha, at.v, False


@brief
def shuffle(order: Order, seed: int) -> None:
    """Put the rows in random order, in place: Fisher's and Yates's exchanges, Marsaglia's xorshift generator, no division."""
    state = SPREAD * np.uint64(seed + 1)
    for k in range(order.size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        other = np.int64((state >> HALF) * np.uint64(k + 1) >> HALF)
        order[k], order[other] = order[other], order[k]


@jit
def norms2(A: SparseRows, X: Any, z: Array) -> Array:
    """|A_r Z|^2, (p,); z : (q,) zeros to work on."""
    indptr, indices, data = A
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
def quadratics(A: SparseRows, K: Array) -> Array:
    """(A K A')_rr, (p,), from the few entries of each row."""
    indptr, indices, data = A
    q = np.zeros(indptr.size - 1)
    for r in range(q.size):
        for k in range(indptr[r], indptr[r + 1]):
            for e in range(indptr[r], indptr[r + 1]):
                q[r] += data[k] * data[e] * K[indices[k], indices[e]]
    return q


@brief
@fast
def sweep(
    order: Order,
    low: float,
    high: float,
    omega: float,
    rows: RowArrays,
    X: StoredRows,
    by_value: bool,
    at: SweepIterate,
) -> tuple[int, int, float, float, float, float]:
    """Visit the rows `order` (k,) once and change `at`, in place; the figures of a Pass. Rows that have not settled come first in it then.

    A row settles, and is passed over, at a bound against which u_r pushes it, below `low` or above `high`. X are features, or K if
    `by_value`. The product with a row is written out: a call would count the references of every array that it is given.
    """
    (indptr, indices, data), terms = rows
    starts, columns, entries, d = X
    alpha, v = at
    own, thin = indices.size == 0, columns.size > 0
    kept, moved, down, up, share, gain = 0, 0, 0.0, 0.0, 0.0, 0.0
    for place in range(order.size):
        if place + 2 * ROWS_AHEAD < order.size and own and not by_value:
            soon, later = order[place + ROWS_AHEAD], order[place + 2 * ROWS_AHEAD]
            prefetch(alpha, later)
            prefetch(terms, later * TERMS)
            prefetch(starts, later)
            swept_fetch(starts, columns, entries, soon)
        r = order[place]
        first, last = (r, r + 1) if own else (np.int64(indptr[r]), np.int64(indptr[r + 1]))
        old, box, ridge, q = (
            alpha[r],
            terms[r * TERMS + 1],
            terms[r * TERMS + 2],
            terms[r * TERMS + 3],
        )
        u = terms[r * TERMS] - ridge * old
        for k in range(first, last):
            i = r if own else np.int64(indices[k])
            f = v[i] if by_value else v[d] if v.size > d else 0.0
            start, stop = starts[i], starts[i + 1]
            if thin:
                for e in range(start, stop):
                    f += entries[e] * v[columns[e]]
            elif not by_value:
                for j in range(d):
                    f += entries[start + j] * v[j]
            u -= data[k] * f
        new = _moved(u, old, box, q, omega)
        delta = new - old
        if delta == 0.0 and (u < low or u > high):
            continue
        order[kept], kept = r, kept + 1
        share += _share(u, old, box, ridge)
        if delta != 0.0:
            alpha[r], moved = new, moved + 1
            down, up = smaller(down, u), larger(up, u)
            gain += delta * (u - 0.5 * delta * q)
            for k in range(first, last):
                i = r if own else np.int64(indices[k])
                swept_add(delta * data[k], starts, columns, entries, d, i, v)
    return kept, moved, down, up, share, gain


@jit
def _settle(
    X: Any,
    order: Order,
    t: Array,
    box: Array,
    at: SweepIterate,
    enough: float,
    most: int,
    seed: int,
) -> bool:
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
            moved = _moved(u, alpha[r], box[r], max(q[r], floor), OVER_RELAXATION)
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
        elif visits > 2 * mark and share > first * (enough / first) ** (
            (visits - mark) / (budget - mark)
        ):
            return False
    return False


@brief
def thresholds(down: float, up: float) -> tuple[float, float]:
    """The bounds on u_r beyond which rows settle in the next sweep: shares of the lowest and the highest pull of this one, if any."""
    return (
        SETTLING_SHARE * down if down < 0.0 else -np.inf,
        SETTLING_SHARE * up if up > 0.0 else np.inf,
    )


@part
def _moved(u: float, alpha: float, box: float, q: float, omega: float) -> float:
    """Where one multiplier goes: beyond the value that is best for it alone, but within the box."""
    new: float = smaller(larger(alpha + omega * u / q, 0.0), box)
    return new


@jit
def _settles(u: float, alpha: float, box: float, low: float, high: float) -> bool:
    """Whether a row is at a bound and is pushed against it beyond the thresholds."""
    return (alpha == 0.0 and u < low) or (alpha == box and u > high)


@part
def _share(u: float, alpha: float, box: float, ridge: float) -> float:
    """What a row adds to the gap: the loss of its slack s = u + ridge alpha, less alpha s, and the loss's conjugate at alpha."""
    slack = u + ridge * alpha
    share: float
    if ridge == 0.0:
        share = box * larger(u, 0.0) - alpha * u
    elif slack > 0.0:
        share = 0.5 * u * u / ridge
    else:
        share = alpha * (0.5 * ridge * alpha - slack)
    return share


@jit
def _pull(u: float, alpha: float, box: float) -> float:
    """The part of u that the row can follow."""
    if alpha == 0.0:
        return max(u, 0.0)
    return min(u, 0.0) if alpha == box else u
