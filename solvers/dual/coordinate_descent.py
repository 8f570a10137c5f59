"""Dual coordinate descent for margin problems without a bias.

    max  t'alpha - 1/2 |A'alpha|_K^2 [ - sum_r alpha_r^2 / (4 c_r) ]    s.t.  0 <= alpha <= c  [ alpha >= 0 ]

Sweeps visit the rows in random order and move one multiplier at a time (`sweeps.py`). A
row that stays at a bound is left out for a while. f is held as w where the kernel has
explicit features, and by its values at the points otherwise; neither A X nor A K A' is
ever formed for all rows. Where many multipliers strictly inside their bounds depend on
each other, single rows take long; from time to time Newton's method on these rows
(`newton_on_face.py`) therefore solves for all of them at once.

Source: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, A dual
coordinate descent method for large-scale linear SVM (ICML 2008), Algorithms 1 and 3,
over the rows of document K (2.4); C. W. Cryer, The solution of a quadratic programming
problem using systematic overrelaxation, SIAM Journal on Control 9 (1971), for omega in
(0, 2).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import LISTED_PAIRS
from equimargin.solvers.dual.newton_on_face import count_affordable_factorisations, maximise_on_face
from equimargin.solvers.dual.sweeps import (
    EARLY_SWEEPS,
    LATE_OVER_RELAXATION,
    OVER_RELAXATION,
    ROW_CURVATURE_FLOOR,
    Order,
    RowArrays,
    SparseRows,
    SweepIterate,
    SweepResult,
    merge_passes,
    norms2,
    quadratics,
    shuffle,
    sweep,
    thresholds,
)
from equimargin.solvers.products.row_access import stored_entries, stored_rows
from equimargin.solvers.products.swept_rows import StoredRows, stored_array, swept_rows
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    DualConvergenceMonitor,
    initial_multipliers,
)
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, relative_gap
from equimargin.solvers.threads import one_thread

SHUFFLE_SEED = 0
"""Seed of the random orders, which makes runs repeatable."""
GAP_WORK = 80
"""Computations of f that the sweeps between two gaps cost at least, unless what the rows add to it says that the tolerance is reached.
After a gap a sweep visits all rows again, which costs as much as several computations
of f.
"""
SWEEPS_BETWEEN_COUNTS = 10
"""Sweeps after which the free rows are counted, to see whether Newton's method on them pays: before, rows still go from bound to bound."""
SETTLED_PULL = 0.01
"""Share of the largest pull in the first sweep. When no row that is still visited is pulled harder, the gap is computed."""
SWEEP_SPEED = 10
"""Multiplications of a sweep in the time of one that a factorisation's worth is measured in; a face's matrix is paid by the same."""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge", "squared_hinge"),
    no_bias="so that single rows cannot move",
    no_hard_rows="on which single rows converge too slowly",
    convex=True,
    most_rows=LISTED_PAIRS,
    most_points=STORED_ROWS,
    features_at_any_size=True,
)


@solver(
    "coordinate_descent",
    "svm.nobias",
    "svm.nobias_l2",
    "rank.l1",
    "rank.l2",
    algorithm="dual coordinate descent: any rows without a bias",
    requires=REQUIREMENTS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Repeat until the gap is small enough: sweep, compute the gap, apply Newton's method to the free rows, compute the gap."""
    progress = DualConvergenceMonitor(
        "coordinate_descent", problem, limits, limits.max_iter or 100_000
    )
    dual, spent = Dual.of(problem), DescentCounters()
    alpha = (
        np.zeros(problem.p)
        if warm_start is None
        else problem.repaired(np.asarray(initial_multipliers(warm_start, problem)))
    )
    over = progress.show(alpha, 0)
    while not over:
        _sweep_on(dual, SweepIterate(alpha, _function(progress)), spent, progress)
        over = progress.show(alpha, spent.sweeps, spent.violation)
        if not over and _solve_for_free_rows(
            dual, SweepIterate(alpha, _function(progress)), spent, progress
        ):
            over = progress.show(alpha, spent.sweeps, spent.violation)
    return progress.solution()


def after_sweeps(problem: MarginProblem, sweeps: int, progress: DualConvergenceMonitor) -> Array:
    """The multipliers (p,) after some sweeps over all rows from 0, of a problem that meets REQUIREMENTS."""
    dual, spent = Dual.of(problem), DescentCounters()
    at = SweepIterate(
        np.zeros(problem.p), np.zeros(problem.m if problem.explicit is None else problem.explicit.q)
    )
    order, low, high = dual.movable.copy(), -np.inf, np.inf
    for _ in range(sweeps):
        order, seen = _pass(dual, order, low, high, at, spent, progress)
        low, high = thresholds(seen.lowest, seen.highest)
        if progress.out_of_time:
            break
    return at.alpha


@dataclass(frozen=True, eq=False)
class Dual:
    """What the method reads of a problem.

    Parameters
    ----------
    rows : RowArrays
        A, targets, bounds and curvatures.
    ridge : ndarray of shape (p,)
        Of the squared hinge.
    X : StoredRows
        Features as compiled code sees them, or rows of K.
    movable : Order
        The rows whose bounds differ.
    row_work : int
        Multiplications for a row; with K only rows that move cost them.
    """

    problem: MarginProblem
    rows: RowArrays
    ridge: Array
    X: StoredRows
    movable: Order
    row_work: int

    @classmethod
    def of(cls, problem: MarginProblem) -> Dual:
        """The dual of a problem that meets REQUIREMENTS."""
        A, Z, box, t = problem.rows.matrix, problem.explicit, problem.box, problem.rows.t
        ridge = np.zeros(problem.p)
        if problem.loss == "squared_hinge":
            np.divide(0.5, problem.costs, out=ridge, where=problem.costs > 0)
        X = stored_array(problem.gram.dense) if Z is None else swept_rows(Z)
        whole, combinations = SparseRows(*stored_entries(A)), SparseRows.of(A)
        if Z is None:
            q = quadratics(whole, problem.gram.dense)
        else:
            q = (
                norms2(whole, stored_rows(Z), np.zeros(Z.q))
                if len(combinations.indptr)
                else combinations.data**2 * Z.squares
            )
        mean = problem.gram.mean_diagonal if Z is None else float(Z.squares.mean()) or 1.0
        q = np.maximum(q, ROW_CURVATURE_FLOOR * mean) + ridge
        row_work = 2 * problem.m if Z is None else 4 * (Z.entries // problem.m + 1)
        rows = RowArrays(combinations, np.column_stack([t, box, ridge, q]).ravel())
        return cls(problem, rows, ridge, X, np.flatnonzero(box > 0), row_work)

    @property
    def function_work(self) -> int:
        """Multiplications that f at all points takes."""
        Z = self.problem.explicit
        return self.problem.m**2 if Z is None else 2 * Z.entries


@dataclass(eq=False)
class DescentCounters:
    """What a run has spent, and what it has seen.

    Parameters
    ----------
    sweeps : int
        Passes so far.
    work : int
        Multiplications in them since Newton's method was last tried.
    violation : float
        The largest u_r that a row could follow, in the last sweep over all of them.
    rng : np.random.Generator
        Of the random orders.
    """

    sweeps: int = 0
    work: int = 0
    violation: float = np.inf
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SHUFFLE_SEED))


def _function(progress: DualConvergenceMonitor) -> Array:
    """f of the point last shown, freshly computed: w, or its values at the points."""
    shown = progress.shown
    return (
        shown.f if shown.w is None else shown.w.copy()
    )  # sweeps change it in place, and the point shown keeps its w


def _sweep_on(
    dual: Dual, at: SweepIterate, spent: DescentCounters, progress: DualConvergenceMonitor
) -> None:
    """Sweep until another look at the gap pays: first over all rows, then over those that have not settled at a bound.

    It pays once the gap seems to be small enough, and where Newton's method is to follow. What each row adds to the gap is known when the
    row is visited, and so is by how much the dual value has risen.
    """
    order, low, high = dual.movable.copy(), -np.inf, np.inf
    start, done, value, limits = spent.work, 0, progress.dual, progress.limits
    while spent.work - start < GAP_WORK * dual.function_work:
        order, seen = _pass(dual, order, low, high, at, spent, progress)
        spent.sweeps, done, value = spent.sweeps + 1, done + 1, value + seen.gain
        if done == 1:
            spent.violation = max(seen.highest, -seen.lowest, 0.0)
        low, high = thresholds(seen.lowest, seen.highest)
        reached = relative_gap(value + seen.share, value, dual.problem.scale) <= limits.tol
        settled = max(seen.highest, -seen.lowest) <= SETTLED_PULL * spent.violation
        newton = (
            done % SWEEPS_BETWEEN_COUNTS == 0 and _factorisations(_free(dual, at.alpha), spent) > 0
        )
        if (
            reached
            or settled
            or newton
            or spent.sweeps >= progress.max_iter
            or progress.out_of_time
        ):
            break


def _pass(
    dual: Dual,
    order: Order,
    low: float,
    high: float,
    at: SweepIterate,
    spent: DescentCounters,
    progress: DualConvergenceMonitor,
) -> tuple[Order, SweepResult]:
    """Sweep once in random order, and look at the clock from time to time: the rows that have not settled, and what the sweep found."""
    shuffle(order, int(spent.rng.integers(2**31)))
    parts, unsettled = [], [order[:0]]
    omega = OVER_RELAXATION if spent.sweeps < EARLY_SWEEPS else LATE_OVER_RELAXATION
    size = max(1000, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // dual.row_work)
    for start in range(0, len(order), size):
        part = order[start : start + size]
        seen = SweepResult(
            *sweep(part, low, high, omega, dual.rows, dual.X, dual.problem.explicit is None, at)
        )
        parts.append(seen)
        unsettled.append(part[: seen.unsettled])
        costly = seen.moved if dual.problem.explicit is None else len(part)
        spent.work += dual.row_work * costly + 10 * len(part)
        if progress.out_of_time:
            break
    return np.concatenate(unsettled), merge_passes(parts)


def _free(dual: Dual, alpha: Array) -> Order:
    """The rows strictly inside their bounds."""
    return np.flatnonzero((alpha > 0) & (alpha < dual.problem.box))


def _factorisations(free: Order, spent: DescentCounters) -> int:
    """How many factorisations of the free rows cost no more than the sweeps since Newton's method was last tried."""
    return count_affordable_factorisations(len(free), spent.work // SWEEP_SPEED)


def _solve_for_free_rows(
    dual: Dual, at: SweepIterate, spent: DescentCounters, progress: DualConvergenceMonitor
) -> bool:
    """Apply Newton's method to the free rows, in place, if it costs no more than the sweeps since it was last tried; whether it did."""
    problem, t, box, ridge = dual.problem, dual.problem.rows.t, dual.problem.box, dual.ridge
    free = _free(dual, at.alpha)
    most = _factorisations(free, spent)
    if not most:
        return False
    spent.work = 0
    if problem.explicit is not None:
        Y = problem.rows.take(problem.explicit, free)
        H, u = Y @ Y.T, t[free] - Y @ at.v
        H = H.toarray() if problem.explicit.sparse else H
    else:
        A = problem.rows.matrix[free]
        H, u = np.asarray(A @ (A @ problem.gram.dense).T), t[free] - A @ at.v
    H[np.diag_indices(len(free))] += ridge[free]
    bounds, clock = (np.zeros(len(free)), box[free]), lambda: progress.out_of_time
    with one_thread():
        at.alpha[free] = maximise_on_face(
            H, u - ridge[free] * at.alpha[free], at.alpha[free], *bounds, False, most, clock
        )
    return True
