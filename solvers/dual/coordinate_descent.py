"""Dual coordinate descent for margin problems without a bias.

    max  t'alpha - 1/2 |A'alpha|_K^2 [ - sum_r alpha_r^2 / (4 c_r) ]    s.t.  0 <= alpha <= c  [ alpha >= 0 ]

One row at a time, a little beyond what is best for it alone: with u_r = t_r - (A f)_r - ridge_r alpha_r and q_r = (A K A')_rr + ridge_r,

    alpha_r  <-  clip(alpha_r + omega u_r / q_r, 0, box_r),   omega = BEYOND,      w  <-  w + delta X'A_r'    or    f  <-  f + delta K A_r',

in random order; rows that stay at a bound are left out for a while. f is held as w where there are explicit features, and by its values at
the points otherwise; A X and A K A' are never formed for all rows. From time to time Newton's method on the free rows
(`newton_on_face.py`) finishes what single rows would take long for.

Source: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, A dual coordinate descent method for large-scale linear SVM
(ICML 2008), Algorithms 1 and 3, over the rows of document K (2.4); C. W. Cryer, The solution of a quadratic programming problem using
systematic overrelaxation, SIAM Journal on Control 9 (1971), for omega in (0, 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.labelled import LISTED
from equimargin.solvers.dual.newton_on_face import climb, worth
from equimargin.solvers.needs import Needs
from equimargin.solvers.products.row_access import Index, row_add, row_clear, row_dot, stored_entries, stored_rows
from equimargin.solvers.progress import WORK_BETWEEN_CLOCKS, Progress, multipliers
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits, Solution

Order = NDArray[np.int64]

SEED = 0
SWEEPS = 10
"""Sweeps between two looks at the gap, at least, unless fewer will do."""
RUN, CACHED = 16, 2_000_000
"""Neighbours in a run, and bytes of features that stay in a cache. Runs make sweeps faster, and more where neighbours are alike."""
TRIED = 0.03
"""Some rows are swept on after that share of the sweeps allowed only as long as what they add to the gap falls fast enough."""
BEYOND = 1.3
"""Single rows move so many times as far as is best for them alone, which is closer to what is best for all: over-relaxation."""
CURVATURE_FLOOR = 1e-12
"""Smallest curvature of a row, over the mean diagonal of K: a row of two equal points moves to its bound."""


NEEDS = Needs(
    MarginProblem,
    no_bias="so that single rows cannot move",
    no_hard_rows="on which single rows converge too slowly",
    convex=True,
    most_rows=LISTED,
    most_points=STORED_ROWS,
    features_at_any_size=True,
)


@solver(
    "coordinate_descent",
    algorithm="dual coordinate descent: any rows without a bias",
    families=("svm.nobias", "svm.nobias_l2", "rank.l1", "rank.l2"),
    needs=NEEDS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Sweeps, the gap, Newton's method on the free rows, the gap; until it is small enough."""
    progress = Progress("coordinate_descent", problem, limits, limits.max_iter or 100_000)
    descent = _Descent(problem, warm_start)
    over = progress.show(descent.alpha, 0)
    while not over:
        descent.refresh(progress)
        descent.sweep_on(progress)
        over = progress.show(descent.alpha, descent.sweeps, descent.violation)
        descent.refresh(progress)
        if not over and descent.newton(progress):
            over = progress.show(descent.alpha, descent.sweeps, descent.violation)
    return progress.solution()


def after_sweeps(problem: MarginProblem, sweeps: int, progress: Progress) -> Array:
    """The multipliers (p,) after some sweeps over all rows from 0, of a problem that meets NEEDS."""
    descent = _Descent(problem, None)
    order, low, high = descent.movable, -np.inf, np.inf
    for _ in range(sweeps):
        order, down, up = descent.sweep(descent.shuffled(order), low, high, progress)
        low, high = down if down < 0 else -np.inf, up if up > 0 else np.inf
        if progress.out_of_time:
            break
    return descent.alpha


class _Descent:
    """The multipliers alpha (p,) and f, kept together.

    A : (p, m) rows, CSR, as compiled code sees them.  X : the explicit features Z (m, q) as compiled code sees them.  q : (p,) curvatures.
    v : (q,) w where there are such, (m,) f otherwise: 0 until `refresh`.
    sweeps : passes over the rows so far.  work : multiplications in them since Newton's method was last tried.
    seen : sweeps and gap at the last look but one.
    violation : the largest u_r that a row could still follow, in the last sweep over all of them.
    """

    def __init__(self, problem: MarginProblem, start: Point | None) -> None:
        self.problem, self.box, self.t = problem, problem.box, problem.rows.t
        self.A = stored_entries(problem.rows.matrix)
        self.Z = problem.explicit
        self.alpha = np.zeros(problem.p) if start is None else problem.repaired(np.asarray(multipliers(start, problem)))
        self.ridge = np.zeros(problem.p)
        if problem.loss == "squared_hinge":
            np.divide(0.5, problem.costs, out=self.ridge, where=problem.costs > 0)
        if self.Z is not None:
            self.X = stored_rows(self.Z)
            q = _norms2(*self.A, self.X, np.zeros(self.Z.q))
            self.row_work = 4 * (self.Z.entries // problem.m + 1)
        else:
            q = _quadratics(*self.A, problem.gram.dense)
            self.row_work = 2 * problem.m
        self.q = np.maximum(q, CURVATURE_FLOOR * problem.gram.mean_diagonal) + self.ridge
        self.movable = np.flatnonzero(self.box > 0)
        self.rng = np.random.default_rng(SEED)
        self.sweeps, self.work, self.violation = 0, 0, np.inf
        self.seen = (0, np.inf)
        self.v = np.zeros(problem.m if self.Z is None else self.Z.q)

    def refresh(self, progress: Progress) -> None:
        """Take f as freshly computed."""
        self.v = progress.shown.f if progress.shown.w is None else progress.shown.w

    def sweep_on(self, progress: Progress) -> None:
        """Sweeps worth a look at the gap: first over all rows, then over those that have not settled at a bound."""
        order, low, high, start = self.movable.copy(), -np.inf, np.inf, self.work
        look = 3 * (2 * self.Z.entries if self.Z is not None else self.problem.m**2)
        done, share = 0, self._share(progress)
        while done < share or self.work - start < look:
            order = self.shuffled(order)
            order, down, up = self.sweep(order, low, high, progress)
            self.sweeps, done = self.sweeps + 1, done + 1
            if done == 1:
                self.violation = max(up, -down, 0.0)
            low, high = down if down < 0 else -np.inf, up if up > 0 else np.inf
            if max(up, -down) <= 0.01 * self.violation or self.sweeps >= progress.max_iter or progress.out_of_time:
                break

    def shuffled(self, order: Order) -> Order:
        """The rows in random order; in runs of neighbours, whose features are read one after the other, where they come from memory."""
        if self.Z is None or 8 * self.Z.entries <= CACHED:
            _shuffle(order, int(self.rng.integers(2**31)))
            return order
        order = np.sort(order)
        whole = len(order) - len(order) % RUN
        runs = self.rng.permutation(order[:whole].reshape(-1, RUN))
        return np.concatenate([runs.ravel(), order[whole:]])

    def _share(self, progress: Progress) -> int:
        """Sweeps to the next look: SWEEPS, or fewer where the gap will then be small enough, falling as between the last two."""
        before, self.seen = self.seen, (self.sweeps, progress.gap)
        sweeps, gap = self.sweeps - before[0], progress.gap
        if not 0 < gap < before[1] < np.inf:
            return SWEEPS
        return max(1, min(SWEEPS, int(np.ceil(sweeps * np.log(gap / progress.limits.tol) / np.log(before[1] / gap)))))

    def sweep(self, order: Order, low: float, high: float, progress: Progress) -> tuple[Order, float, float]:
        """One pass, in pieces between which the clock is looked at: the rows that have not settled, the lowest and the highest pull."""
        unsettled, down, up = [order[:0]], 0.0, 0.0
        piece = max(1000, WORK_BETWEEN_CLOCKS // self.row_work)
        A, rows = self.A, (self.t, self.box, self.ridge, self.q, self.alpha)
        for start in range(0, len(order), piece):
            part = order[start : start + piece]
            if self.Z is not None:
                kept, lowest, highest, moved = _sweep_linear(part, low, high, *A, self.X, *rows, self.v)
            else:
                kept, lowest, highest, moved = _sweep_gram(part, low, high, *A, self.problem.gram.dense, *rows, self.v)
            unsettled.append(part[:kept])
            down, up = min(down, lowest), max(up, highest)
            self.work += self.row_work * moved + 10 * len(part)
            if progress.out_of_time:
                break
        return np.concatenate(unsettled), down, up

    def newton(self, progress: Progress) -> bool:
        """Newton's method on the free rows where it is no dearer than the sweeps since it was last tried; whether it was tried."""
        free = np.flatnonzero((self.alpha > 0) & (self.alpha < self.box))
        most = worth(len(free), self.work)
        if not most:
            return False
        self.work = 0
        if self.Z is not None:
            Y = self.problem.rows.take(self.Z, free)
            H, u = Y @ Y.T, self.t[free] - Y @ self.v
            H = H.toarray() if self.Z.sparse else H
        else:
            A = self.problem.rows.matrix[free]
            H, u = np.asarray(A @ (A @ self.problem.gram.dense).T), self.t[free] - A @ self.v
        H[np.diag_indices(len(free))] += self.ridge[free]
        bounds, clock = (np.zeros(len(free)), self.box[free]), lambda: progress.out_of_time
        self.alpha[free] = climb(H, u - self.ridge[free] * self.alpha[free], self.alpha[free], *bounds, False, most, clock)
        return True


def swept(
    Y: Any, t: Array, box: Array, alpha: Array, w: Array, enough: float, most: int, out_of_time: Callable[[], bool]
) -> tuple[Array, Array, bool]:
    """Where sweeps over some rows of a hinge lead, the others held.

    Parameters
    ----------
    Y : (k, q) features of the rows, dense or CSR.  t, box, alpha : (k,) their targets, upper ends and multipliers.
    w : (q,) of all rows, these among them.  enough : > 0, what these rows may be left to add to the gap.
    most : sweeps to spend.  out_of_time : whether to end before that, asked from time to time.

    Returns
    -------
    alpha : (k,) within 0 .. box.  w : (q,) that goes with it, up to rounding.  settled : whether no more is left.
    """
    Z = Explicit(Y, False)
    X, order, alpha, w = stored_rows(Z), np.arange(Z.m), alpha.copy(), w.copy()
    part = 1 + 10 * WORK_BETWEEN_CLOCKS // (4 * Z.entries + 1)
    for start in range(0, most, part):
        if out_of_time():
            break
        if _sweeps(X, order, t, box, alpha, w, enough, min(part, most - start), start):
            return alpha, w, True
    return alpha, w, False


@jit
def _shuffle(order: Order, seed: int) -> None:
    """Put the rows in random order, in place: Fisher's and Yates's exchanges, Park's and Miller's minimal standard generator."""
    state = 1 + seed % 2147483646
    for k in range(order.size - 1, 0, -1):
        state = state * 48271 % 2147483647
        other = state * (k + 1) // 2147483647
        order[k], order[other] = order[other], order[k]


@jit
def _norms2(indptr: Index, indices: Index, data: Array, X: Any, z: Array) -> Array:
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
def _quadratics(indptr: Index, indices: Index, data: Array, K: Array) -> Array:
    """(A K A')_rr, (p,), from the few entries of each row."""
    q = np.zeros(indptr.size - 1)
    for r in range(q.size):
        for k in range(indptr[r], indptr[r + 1]):
            for e in range(indptr[r], indptr[r + 1]):
                q[r] += data[k] * data[e] * K[indices[k], indices[e]]
    return q


@jit
def _moved(u: float, alpha: float, box: float, q: float) -> float:
    """Where one multiplier goes: beyond its best value, within the box."""
    return min(max(alpha + BEYOND * u / q, 0.0), box)


@jit
def _settled(u: float, alpha: float, box: float, low: float, high: float) -> bool:
    """Whether a row is at a bound and pushed against it harder than any row was pulled in the last sweep."""
    return (alpha == 0.0 and u < low) or (alpha == box and u > high)


@jit
def _pull(u: float, alpha: float, box: float) -> float:
    """The part of u that the row can follow."""
    if alpha == 0.0:
        return max(u, 0.0)
    return min(u, 0.0) if alpha == box else u


@jit
def _sweep_linear(
    order: Order,
    low: float,
    high: float,
    indptr: Index,
    indices: Index,
    data: Array,
    X: Any,
    t: Array,
    box: Array,
    ridge: Array,
    q: Array,
    alpha: Array,
    w: Array,
) -> tuple[int, float, float, int]:
    """One pass over the rows `order`, in place; those that have not settled come first in it.

    Returns their number, the lowest and the highest pull, and how many rows were visited.
    """
    kept, down, up = 0, 0.0, 0.0
    for r in order:
        u = t[r] - ridge[r] * alpha[r]
        for k in range(indptr[r], indptr[r + 1]):
            u -= data[k] * row_dot(X, indices[k], w)
        if _settled(u, alpha[r], box[r], low, high):
            continue
        order[kept] = r
        kept += 1
        pull = _pull(u, alpha[r], box[r])
        down, up = min(down, pull), max(up, pull)
        delta = _moved(u, alpha[r], box[r], q[r]) - alpha[r]
        if pull != 0.0 and delta != 0.0:
            alpha[r] = _moved(u, alpha[r], box[r], q[r])
            for k in range(indptr[r], indptr[r + 1]):
                row_add(delta * data[k], X, indices[k], w)
    return kept, down, up, order.size


@jit
def _sweeps(X: Any, order: Order, t: Array, box: Array, alpha: Array, w: Array, enough: float, most: int, seed: int) -> bool:
    """At most so many passes over the rows of a hinge, in place; whether what they add to the gap has become small enough.

    They end early where that falls too slowly.
    """
    q = np.empty(t.size)
    z = np.zeros(w.size)
    for r in range(t.size):
        row_add(1.0, X, r, z)
        q[r] = row_dot(X, r, z)
        row_clear(X, r, z)
    floor = CURVATURE_FLOOR * (q.mean() or 1.0)
    visits, budget, active, low, high = 0, most * t.size, t.size, -np.inf, np.inf
    mark, first = 0, np.inf
    while visits < budget:
        visits += active
        _shuffle(order[:active], 7919 * (seed + 1) + visits)
        share, down, up, k = 0.0, 0.0, 0.0, 0
        while k < active:
            r = order[k]
            u = t[r] - row_dot(X, r, w)
            if _settled(u, alpha[r], box[r], low, high):
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
        low, high = down if down < 0 else -np.inf, up if up > 0 else np.inf
        if share <= enough:
            if active == t.size:
                return True
            active, low, high = t.size, -np.inf, np.inf
        elif mark <= TRIED * budget:
            mark, first = visits, max(share, enough)
        elif visits > 2 * mark and share > first * (enough / first) ** ((visits - mark) / (budget - mark)):
            return False
    return False


@jit
def _sweep_gram(
    order: Order,
    low: float,
    high: float,
    indptr: Index,
    indices: Index,
    data: Array,
    K: Array,
    t: Array,
    box: Array,
    ridge: Array,
    q: Array,
    alpha: Array,
    f: Array,
) -> tuple[int, float, float, int]:
    """As `_sweep_linear` with f at the points in place of w; the last number is of the rows that moved, which alone cost."""
    kept, moved, down, up = 0, 0, 0.0, 0.0
    for r in order:
        u = t[r] - ridge[r] * alpha[r]
        for k in range(indptr[r], indptr[r + 1]):
            u -= data[k] * f[indices[k]]
        if _settled(u, alpha[r], box[r], low, high):
            continue
        order[kept] = r
        kept += 1
        pull = _pull(u, alpha[r], box[r])
        down, up = min(down, pull), max(up, pull)
        delta = _moved(u, alpha[r], box[r], q[r]) - alpha[r]
        if pull != 0.0 and delta != 0.0:
            alpha[r] = _moved(u, alpha[r], box[r], q[r])
            moved += 1
            for k in range(indptr[r], indptr[r + 1]):
                row = K[indices[k]]
                for i in range(f.size):
                    f[i] += delta * data[k] * row[i]
    return kept, down, up, moved
