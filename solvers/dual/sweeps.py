"""Compiled sweeps of coordinate descent over the rows of a dual problem.

With u_r = t_r - (A f)_r - ridge_r alpha_r and q_r = (A K A')_rr + ridge_r, a visit of
row r is

    alpha_r  <-  clip(alpha_r + omega u_r / q_r, 0, box_r),    0 < omega < 2,

and f changes by the change of alpha_r times A_r. The pull of a row is its projected
gradient: u_r, or 0 at a bound against which u_r pushes alpha_r. A row pushed hard
against its bound is shrunk: later sweeps skip it.

A sweep needs two operations on f: its value at a point i, and the addition of a
multiple of k(x_i, .). They depend on the vector v that represents f:

    features z_i      v = w (q,)      f(x_i) = z_i.w      w <- w + factor z_i
    a Gram matrix     v = f (m,)      f(x_i) = f_i        f <- f + factor K_i

Successive rows are at unrelated places in memory. A row is therefore prefetched some
visits ahead, in two steps: first the position of its features, then the features. Every
sweep visits single rows in random order: with runs of neighbouring rows a sweep is
faster, but four times as many are needed. Neither features in float32 nor rows copied
in the order of their visits save time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import brief, brief_by, brief_for, fast, jit, part
from equimargin.formulations.numeric.prefetch import prefetch
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.solvers.products.row_access import (
    Positions,
    row_add,
    row_clear,
    row_dot,
    stored_entries,
    stored_rows,
)
from equimargin.solvers.products.swept_rows import StoredRows, swept_add, swept_fetch
from equimargin.solvers.progress import MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS

OVER_RELAXATION = 1.3
"""Factor on the step that is optimal for a row alone, between 1 and 2.

With a factor above 1, rows that pull in the same direction need fewer sweeps.
"""
LATE_OVER_RELAXATION = 1.6
"""Over-relaxation factor after EARLY_SWEEPS.

Progress is then slow, and the larger factor takes a tenth fewer visits.
"""
EARLY_SWEEPS = 20
"""Number of sweeps after which the larger over-relaxation factor is better.

While many rows still move from bound to bound, it moves them too far.
"""
ROW_CURVATURE_FLOOR = 1e-12
"""Minimum curvature of a row, relative to the mean curvature of a point.

A row of two equal points then moves to its bound.
"""
SPREAD, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
"""Odd number without a pattern, which turns small seeds into states of a generator.

HALF is half of a state's bits.
"""
ROWS_AHEAD = 4
"""Number of visits between the prefetch of a row's features and its visit.

About as long as they take to arrive from memory.
"""
SETTLING_SHARE = 0.5
"""Share of a sweep's largest pull beyond which rows at a bound are shrunk in the next.

With a share of 1 a sixth more rows are visited without effect; with 0.25 rows are
skipped too early, and more sweeps over all rows are needed.
"""
TERMS = 4
"""Length of a row's record in RowArrays.terms, in entries."""
SETTLED_PULL = 0.01
"""Share of the first sweep's largest pull at which the gap is computed.

The last sweep then moved no row of a larger pull.
"""
SWEEPS_BETWEEN_COUNTS = 10
"""Number of sweeps after which the free rows are counted for Newton's method.

Earlier, rows still move from bound to bound.
"""
ROW_IN_PYTHON = 20.0
"""Cost of an uncompiled visit without its features, in iterations of a Python loop."""
UNCONDITIONAL_SHARE = 0.03
"""Share of the allowed sweeps that `solve_restricted` always makes.

It makes others only while the rows' contribution to the gap decreases fast enough.
"""


class SparseRows(NamedTuple):
    """A (p, m) as the arrays of a CSR matrix.

    `indptr` and `indices` are empty if row r is `data[r]` times point r.
    """

    indptr: Positions
    indices: Positions
    data: Array

    @classmethod
    def of(cls, A: Any) -> Self:
        """Return the arrays of a CSR matrix.

        Parameters
        ----------
        A : CSR array of shape (p, m)
            Rows.
        """
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
    """Data of the rows that sweeps read.

    Parameters
    ----------
    A : SparseRows
        Rows.
    terms : ndarray of shape (p * TERMS,)
        t_r, box_r, ridge_r and q_r, row by row, so that they are adjacent in memory.
        The box is the upper bound, the ridge the curvature 1 / (2 c_r) of a squared
        hinge's conjugate, and q_r includes the ridge.
    """

    A: SparseRows
    terms: Array


class SweepIterate(NamedTuple):
    """Multipliers alpha (p,) and f as v (q,) or (m,); sweeps change both in place."""

    alpha: Array
    v: Array


class SweepState(NamedTuple):
    """State of successive sweeps: the first over all rows, others over those not shrunk.

    Parameters
    ----------
    sweeps : int
        Number of completed sweeps of the run.
    place : int
        Number of rows that a sweep in progress has visited; 0 between sweeps.
    kept : int
        Number of those that were not shrunk; they come first in the order.
    active : int
        Number of rows of the sweep in progress or the next one.
    low : float
        Value of u_r below which a row at 0 is shrunk.
    high : float
        Value of u_r above which a row at its upper bound is shrunk.
    lowest : float
        Minimum u_r of the rows that the sweep has moved, at most 0.
    highest : float
        Maximum u_r of those rows, at least 0.
    share : float
        Sum of the rows' contributions to the gap when the sweep visited them.
    gain : float
        Increase of the dual value in the sweep.
    pull : float
        Largest |u_r| moved in the first sweep; -1 before it is completed.
    value : float
        Estimated dual value after the last completed sweep.
    visits : int
        Number of visits to rows.
    moves : int
        Number of visits that changed a multiplier.
    ready : bool
        True if the gap should be computed, by the last completed sweep.
    """

    sweeps: int
    place: int
    kept: int
    active: int
    low: float
    high: float
    lowest: float
    highest: float
    share: float
    gain: float
    pull: float
    value: float
    visits: int
    moves: int
    ready: bool

    @classmethod
    def before(cls, sweeps: int, active: int, value: float) -> Self:
        """Return the state before the first sweep.

        Parameters
        ----------
        sweeps : int
            Number of completed sweeps of the run.
        active : int
            Number of rows.
        value : float
            Dual value.
        """
        return cls(
            sweeps, 0, 0, active, -np.inf, np.inf, 0.0, 0.0, 0.0, 0.0, -1.0, value, 0, 0, False
        )


class SweepGoal(NamedTuple):
    """Conditions that end successive sweeps.

    Parameters
    ----------
    tol : float
        Estimated relative gap.
    size : float
        Minimum size of the objective to which the gap is relative.
    free : int
        Number of rows inside their bounds at which Newton's method may follow. They are
        counted after every SWEEPS_BETWEEN_COUNTS sweeps.
    sweeps : int
        Maximum number of completed sweeps of the run.
    visits : int
        Maximum number of visits to rows.
    """

    tol: float
    size: float
    free: int
    sweeps: int
    visits: int


def solve_restricted(
    Y: Any,
    t: Array,
    box: Array,
    at: SweepIterate,
    enough: float,
    most: int,
    out_of_time: Callable[[], bool],
) -> tuple[Array, Array, bool]:
    """Sweep over some rows with hinge loss, the others fixed, until their gap is small.

    Parameters
    ----------
    Y : array-like of shape (k, q)
        Features of the rows, dense or CSR.
    t : ndarray of shape (k,)
        Targets of the rows.
    box : ndarray of shape (k,)
        Upper bounds of the multipliers.
    at : SweepIterate
        Multipliers of the rows (k,), and w (q,) of all rows.
    enough : float
        Contribution of these rows to the gap at which to stop, > 0.
    most : int
        Maximum number of sweeps.
    out_of_time : callable
        Returns True if the run must end; called from time to time.

    Returns
    -------
    alpha : ndarray of shape (k,)
        Multipliers, within 0 .. box.
    w : ndarray of shape (q,)
        w of these and the fixed multipliers, within rounding.
    reached : bool
        True if the contribution is at most `enough`.
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
def shuffle(order: Index, seed: int) -> None:
    """Permute the rows at random, in place.

    Fisher-Yates exchanges with Marsaglia's xorshift generator, without division.

    Parameters
    ----------
    order : ndarray of shape (k,)
        Rows.
    seed : int
        Seed of the generator.
    """
    state = SPREAD * np.uint64(seed + 1)
    # k = p - 1 .. 1: exchange entry k with entry floor((k + 1) U), 0 <= U < 1.
    for k in range(order.size - 1, 0, -1):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        other = np.int64((state >> HALF) * np.uint64(k + 1) >> HALF)
        order[k], order[other] = order[other], order[k]


@jit
def norms2(A: SparseRows, X: Any, z: Array) -> Array:
    """Return |A_r Z|^2 of every row.

    Parameters
    ----------
    A : SparseRows
        Rows.
    X : tuple
        Features Z as `stored_rows` returns them.
    z : ndarray of shape (q,)
        Zeros, used as scratch.

    Returns
    -------
    ndarray of shape (p,)
        Squared norms.
    """
    indptr, indices, data = A
    q = np.zeros(indptr.size - 1)
    # z = A_r Z, q_r = A_r Z z
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
    """Return (A K A')_rr of every row, from its few entries.

    Parameters
    ----------
    A : SparseRows
        Rows.
    K : ndarray of shape (m, m)
        Gram matrix.

    Returns
    -------
    ndarray of shape (p,)
        Quadratic forms.
    """
    indptr, indices, data = A
    q = np.zeros(indptr.size - 1)
    # q_r = sum_kl A_rk A_rl K_kl
    for r in range(q.size):
        for k in range(indptr[r], indptr[r + 1]):
            for e in range(indptr[r], indptr[r + 1]):
                q[r] += data[k] * data[e] * K[indices[k], indices[e]]
    return q


@brief_by(
    lambda after, order, before, goal, rows, X, *others: (
        (after[12] - before.visits) * (ROW_IN_PYTHON + 2 * X.entries.size / X.starts.size)
    )
)
@fast
def sweep_on(
    order: Index,
    state: SweepState,
    goal: SweepGoal,
    rows: RowArrays,
    X: StoredRows,
    by_value: bool,
    at: SweepIterate,
) -> tuple[
    int, int, int, int, float, float, float, float, float, float, float, float, int, int, bool
]:
    """Sweep until a condition holds, and update the iterate in place.

    Parameters
    ----------
    order : ndarray of shape (k,)
        Rows; those of the sweep in progress come first. Changes in place.
    state : SweepState
        State so far. A sweep in progress is continued.
    goal : SweepGoal
        Conditions that end the sweeps.
    rows, X, by_value, at
        As in `sweep`.

    Returns
    -------
    tuple
        Fields of the next SweepState.
    """
    sweeps, place, kept, active, low, high = state[:6]
    lowest, highest, share, gain, pull, value = state[6:12]
    visits, moves, ready = state[12:]
    tol, least, most_free, most_sweeps, most_visits = goal
    most_visits, alpha, terms = most_visits + visits, at.alpha, rows.terms
    while visits < most_visits:
        if place == 0:
            shuffle(order[:active], sweeps)
            kept, lowest, highest, share, gain = 0, 0.0, 0.0, 0.0, 0.0
        stop = min(active, place + most_visits - visits)
        part = order[place:stop]
        omega = OVER_RELAXATION if sweeps < EARLY_SWEEPS else LATE_OVER_RELAXATION
        unsettled, moved, down, up, part_share, part_gain = sweep(
            part, low, high, omega, rows, X, by_value, at
        )
        for k in range(unsettled):
            order[kept + k] = part[k]
        kept, moves, visits = kept + unsettled, moves + moved, visits + stop - place
        lowest, highest = smaller(lowest, down), larger(highest, up)
        share, gain, place = share + part_share, gain + part_gain, stop
        if place < active:
            continue
        sweeps, place, active, value = sweeps + 1, 0, kept, value + gain
        low, high = thresholds(lowest, highest)
        largest = larger(highest, -lowest)
        pull = largest if pull < 0.0 else pull
        # The estimated gap is small enough, or no row has a large pull.
        size = larger(larger(abs(value), abs(value + share)), least)
        ready = share <= tol * size or largest <= SETTLED_PULL * pull
        if ready or sweeps >= most_sweeps:
            break
        if sweeps % SWEEPS_BETWEEN_COUNTS == 0:
            free = 0
            for r in range(alpha.size):
                free += (alpha[r] > 0.0) & (alpha[r] < terms[r * TERMS + 1])
            if free <= most_free:
                break
    stage = sweeps, place, kept, active, low, high
    sums = lowest, highest, share, gain, pull, value
    return stage + sums + (visits, moves, ready)


@fast
def sweep(
    order: Index,
    low: float,
    high: float,
    omega: float,
    rows: RowArrays,
    X: StoredRows,
    by_value: bool,
    at: SweepIterate,
) -> tuple[int, int, float, float, float, float]:
    """Visit every row once and update the iterate in place.

    A row is shrunk at a bound against which u_r pushes it, below `low` or above `high`.
    The product with a row is inlined: a call would count a reference to every array
    passed.

    Parameters
    ----------
    order : ndarray of shape (k,)
        Rows to visit; afterwards those that were not shrunk come first.
    low : float
        Value of u_r below which a row at 0 is shrunk.
    high : float
        Value of u_r above which a row at its upper bound is shrunk.
    omega : float
        Over-relaxation factor.
    rows : RowArrays
        Data of the rows.
    X : StoredRows
        Features, or K if `by_value`.
    by_value : bool
        True if f is represented by its values at the points.
    at : SweepIterate
        Iterate, changed in place.

    Returns
    -------
    unsettled : int
        Number of rows that were not shrunk.
    moved : int
        Number of rows whose multiplier changed.
    lowest, highest : float
        Minimum u_r of those rows, at most 0, and maximum, at least 0.
    share : float
        Sum of the rows' contributions to the gap when they were visited.
    gain : float
        Increase of the dual value.
    """
    (indptr, indices, data), terms = rows
    starts, columns, entries, d = X
    alpha, v = at
    own, thin = indices.size == 0, columns.size > 0
    kept, moved, down, up, share, gain = 0, 0, 0.0, 0.0, 0.0, 0.0
    for place in range(order.size):
        # Prefetch the positions of a later row and the features of a sooner one.
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
        # u_r = t_r - ridge_r alpha_r - sum_i A_ri f_i
        u = terms[r * TERMS] - ridge * old
        for k in range(first, last):
            i = r if own else np.int64(indices[k])
            # v[d], if there is one, is the constant of f.
            f = v[i] if by_value else v[d] if v.size > d else 0.0
            start, stop = starts[i], starts[i + 1]
            if thin:
                for e in range(start, stop):
                    f += entries[e] * v[columns[e]]
            elif not by_value:
                for j in range(d):
                    f += entries[start + j] * v[j]
            u -= data[k] * f
        # alpha_r <- clip(alpha_r + omega u_r / q_r, 0, box_r)
        new = _moved(u, old, box, q, omega)
        delta = new - old
        if delta == 0.0 and (u < low or u > high):
            continue
        order[kept], kept = r, kept + 1
        share += _share(u, old, box, ridge)
        if delta != 0.0:
            alpha[r], moved = new, moved + 1
            down, up = smaller(down, u), larger(up, u)
            # Increase of the dual value: delta u_r - delta^2 q_r / 2.
            gain += delta * (u - 0.5 * delta * q)
            # f <- f + delta A_r
            for k in range(first, last):
                i = r if own else np.int64(indices[k])
                swept_add(delta * data[k], starts, columns, entries, d, i, v)
    return kept, moved, down, up, share, gain


@brief_for(lambda X, order, t, box, at, enough, most, seed: (1 + most) * t.size * ROW_IN_PYTHON)
@jit
def _settle(
    X: Any,
    order: Index,
    t: Array,
    box: Array,
    at: SweepIterate,
    enough: float,
    most: int,
    seed: int,
) -> bool:
    """Make up to `most` passes over hinge-loss rows; return True at a gap <= `enough`.

    The passes end early if the rows' contribution to the gap decreases too slowly.
    """
    alpha, w = at
    q = np.empty(t.size)
    z, total = np.zeros(w.size), 0.0
    # q_r = |z_r|^2
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
                # Move the row behind the active ones.
                active -= 1
                order[k], order[active] = order[active], r
                continue
            k += 1
            # Contribution of the row to the gap: c u_+ - alpha u.
            share += box[r] * max(u, 0.0) - alpha[r] * u
            pull = _pull(u, alpha[r], box[r])
            down, up = min(down, pull), max(up, pull)
            moved = _moved(u, alpha[r], box[r], max(q[r], floor), OVER_RELAXATION)
            if pull != 0.0 and moved != alpha[r]:
                row_add(moved - alpha[r], X, r, w)
                alpha[r] = moved
        low, high = thresholds(down, up)
        if share <= enough:
            # The share counts only if all rows were visited; otherwise visit all again.
            if active == t.size:
                return True
            active, low, high = t.size, -np.inf, np.inf
        elif mark <= UNCONDITIONAL_SHARE * budget:
            mark, first = visits, max(share, enough)
        # Stop if the share exceeds a geometric decrease: `first` at `mark` visits,
        # `enough` at `budget` visits.
        elif visits > 2 * mark and share > first * (enough / first) ** (
            (visits - mark) / (budget - mark)
        ):
            return False
    return False


@brief
def thresholds(down: float, up: float) -> tuple[float, float]:
    """Return the bounds on u_r beyond which the next sweep shrinks rows.

    Parameters
    ----------
    down : float
        Lowest pull of this sweep, at most 0.
    up : float
        Highest pull of this sweep, at least 0.

    Returns
    -------
    tuple of float
        SETTLING_SHARE times each pull; infinite if the pull is 0.
    """
    return (
        SETTLING_SHARE * down if down < 0.0 else -np.inf,
        SETTLING_SHARE * up if up > 0.0 else np.inf,
    )


@part
def _moved(u: float, alpha: float, box: float, q: float, omega: float) -> float:
    """Return the relaxed optimum of one multiplier, clipped to the box."""
    new: float = smaller(larger(alpha + omega * u / q, 0.0), box)
    return new


@jit
def _settles(u: float, alpha: float, box: float, low: float, high: float) -> bool:
    """Return True if a row is pushed against its bound beyond the thresholds."""
    return (alpha == 0.0 and u < low) or (alpha == box and u > high)


@part
def _share(u: float, alpha: float, box: float, ridge: float) -> float:
    """Return the gap of a row: loss(s) - alpha s + conjugate(alpha).

    The slack is s = u + ridge alpha.
    """
    # Hinge: box u_+ - alpha u. Squared hinge, box = 1 / (2 ridge): s_+^2 / (2 ridge)
    # - alpha s + ridge alpha^2 / 2, which is u^2 / (2 ridge) for s > 0.
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
    """Return the projected gradient: u, or 0 if it points out of the box."""
    if alpha == 0.0:
        return max(u, 0.0)
    return min(u, 0.0) if alpha == box else u
