"""Dual coordinate descent for margin problems without a bias.

    max  t'alpha - 1/2 |A'alpha|_K^2 [ - sum_r alpha_r^2 / (4 c_r) ]
    s.t. 0 <= alpha <= c  [ alpha >= 0 ]

1. Sweeps visit the rows in random order and change one multiplier at a time
   (`sweeps.py`). A row that stays at a bound is skipped for a while.
2. Newton's method on the free rows (`newton_on_face.py`) solves for all of them at
   once, from time to time: single rows are slow if many free multipliers depend on each
   other.

f is represented by w if the kernel has explicit features, and otherwise by its values
at the points; neither A X nor A K A' is ever formed for all rows.

References
----------
C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan. A dual coordinate
descent method for large-scale linear SVM. ICML 2008, Algorithms 1 and 3, here over the
rows of document K, (2.4).

C. W. Cryer. The solution of a quadratic programming problem using systematic
overrelaxation. SIAM Journal on Control 9 (1971), for omega in (0, 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equimargin.formulations.bounds.intervals import SIZE_FLOOR
from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import LISTED_PAIRS
from equimargin.solvers.dual.newton_on_face import (
    LARGEST_FACE,
    count_affordable_factorisations,
    maximise_on_face,
)
from equimargin.solvers.dual.sweeps import (
    ROW_CURVATURE_FLOOR,
    RowArrays,
    SparseRows,
    SweepGoal,
    SweepIterate,
    SweepState,
    norms2,
    quadratics,
    sweep_on,
)
from equimargin.solvers.products.few_points import through_gram
from equimargin.solvers.products.row_access import stored_rows
from equimargin.solvers.products.swept_rows import StoredRows, stored_array, swept_rows
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    DualConvergenceMonitor,
    initial_multipliers,
)
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution
from equimargin.solvers.threads import one_thread

GAP_WORK = 80
"""Work of sweeps after which the gap is computed at the latest, in computations of f.

It is computed earlier if the rows' contributions indicate the tolerance. After a gap a
sweep visits all rows again, which costs as much as several computations of f.
"""
MOST_SURPLUS_ROWS = 4
"""Free rows beyond the number of features up to which Newton's method is tried.

In general position an optimum of the hinge has at most one free row per feature. With
more the matrix of the face is singular, and hundreds of sweeps take less time.
"""
PATIENT_WORK = 200
"""Work of sweeps after which it is tried with more free rows, in computations of f.

Columns in unequal units need it: their sweeps do not come near a vertex.
"""
SWEEP_SPEED = 10
"""Multiplications of a sweep in the time of one multiplication of a factorisation.

The matrix of a face is accounted for at the same rate.
"""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge", "squared_hinge"),
    no_bias="whose sum-to-zero constraint keeps single rows from moving",
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
@through_gram
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Alternate sweeps and Newton's method on the free rows until the gap is small."""
    progress = DualConvergenceMonitor(
        "coordinate_descent", problem, limits, limits.max_iter or 100_000
    )
    dual, spent = Dual.of(problem), DescentCounters()
    alpha = (
        np.zeros(problem.p)
        if warm_start is None
        else problem.repaired(initial_multipliers(warm_start, problem))
    )
    stops = progress.show(alpha, 0)
    while not stops:
        at = SweepIterate(alpha, _function(progress))
        # Newton's method follows without a gap unless that may be the last one.
        ready = _sweep_on(dual, at, spent, progress)
        stops = ready and progress.show(alpha, spent.sweeps, spent.violation)
        if not stops and (_solve_for_free_rows(dual, at, spent, progress) or not ready):
            stops = progress.show(alpha, spent.sweeps, spent.violation)
    return progress.solution()


def after_sweeps(problem: MarginProblem, sweeps: int, progress: DualConvergenceMonitor) -> Array:
    """Return the multipliers after at most `sweeps` sweeps that start at alpha = 0.

    Parameters
    ----------
    problem : MarginProblem
        Problem that satisfies REQUIREMENTS.
    sweeps : int
        Number of sweeps.
    progress : DualConvergenceMonitor
        Convergence monitor, for the time limit.

    Returns
    -------
    ndarray of shape (p,)
        Multipliers.
    """
    dual = Dual.of(problem)
    at = SweepIterate(
        np.zeros(problem.p), np.zeros(problem.m if problem.explicit is None else problem.explicit.q)
    )
    order = dual.movable.copy()
    state = SweepState.before(0, len(order), 0.0)
    while state.sweeps < sweeps and not progress.out_of_time:
        state = dual.sweep_on(
            order, state, 0.0, sweeps, at, 0, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS
        )
    return at.alpha


@dataclass(frozen=True, eq=False)
class Dual:
    """Data of a problem that the method reads.

    Parameters
    ----------
    problem : MarginProblem
        Problem to solve.
    rows : RowArrays
        A, targets, bounds and curvatures.
    ridge : ndarray of shape (p,)
        Quadratic dual term of the squared hinge.
    X : StoredRows
        Features in the layout for compiled code, or rows of K.
    movable : ndarray of int
        Rows whose bounds differ.
    row_work : int
        Multiplications of a visit; with K, of one that changes alpha_r.
    """

    problem: MarginProblem
    rows: RowArrays
    ridge: Array
    X: StoredRows
    movable: Index
    row_work: int

    @classmethod
    def of(cls, problem: MarginProblem) -> Dual:
        """Return the dual of a problem.

        Parameters
        ----------
        problem : MarginProblem
            Problem that satisfies REQUIREMENTS.
        """
        A, Z, box = SparseRows.of(problem.rows.matrix), problem.explicit, problem.box
        ridge = np.zeros(problem.p)
        if problem.loss == "squared_hinge":
            np.divide(0.5, problem.costs, out=ridge, where=problem.costs > 0)
        X = stored_array(problem.gram.dense) if Z is None else swept_rows(Z)
        if not len(A.indptr):
            q = A.data**2 * (problem.gram.diagonal if Z is None else Z.squares)
        elif Z is None:
            q = quadratics(A, problem.gram.dense)
        else:
            q = norms2(A, stored_rows(Z), np.zeros(Z.q))
        mean = problem.mean_diagonal
        q = np.maximum(q, ROW_CURVATURE_FLOOR * mean) + ridge
        row_work = 2 * problem.m if Z is None else 4 * (Z.entries // problem.m + 1)
        rows = RowArrays(A, np.column_stack([problem.rows.t, box, ridge, q]).ravel())
        return cls(problem, rows, ridge, X, np.flatnonzero(box > 0), row_work)

    @property
    def function_work(self) -> int:
        """Multiplications of computing f at all points."""
        Z = self.problem.explicit
        return self.problem.m**2 if Z is None else 2 * Z.entries

    def work(self, state: SweepState) -> int:
        """Return the multiplications of sweeps.

        Parameters
        ----------
        state : SweepState
            State after the sweeps.
        """
        costly = state.moves if self.problem.explicit is None else state.visits
        return self.row_work * costly + 10 * state.visits

    def sweep_on(
        self,
        order: Index,
        state: SweepState,
        tol: float,
        sweeps: int,
        at: SweepIterate,
        most_free: int,
        work: int,
    ) -> SweepState:
        """Return the state after further sweeps, or after a part of a long one.

        Parameters
        ----------
        order : ndarray of shape (k,)
            Rows; changes in place.
        state : SweepState
            State so far.
        tol : float
            Estimated relative gap at which to stop.
        sweeps : int
            Maximum number of completed sweeps of the run.
        at : SweepIterate
            Iterate; changes in place.
        most_free : int
            Number of free rows at which to stop.
        work : int
            Multiplications after which to stop.
        """
        work = min(work, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS)
        goal = SweepGoal(
            tol,
            SIZE_FLOOR * self.problem.scale,
            most_free,
            sweeps,
            max(1000, work // self.row_work),
        )
        by_value = self.problem.explicit is None
        return SweepState(*sweep_on(order, state, goal, self.rows, self.X, by_value, at))

    def most_free(self, work: int) -> int:
        """Return the largest number of free rows for Newton's method.

        An optimum of the hinge in w has few free rows. With more their matrix is
        singular, and the method is tried only if the sweeps lead nowhere.

        Parameters
        ----------
        work : int
            Multiplications of sweeps since the last attempt.
        """
        problem = self.problem
        if problem.explicit is None or problem.squared or work >= PATIENT_WORK * self.function_work:
            return LARGEST_FACE
        return problem.explicit.q + MOST_SURPLUS_ROWS


@dataclass(eq=False)
class DescentCounters:
    """Work and statistics of a run.

    Parameters
    ----------
    sweeps : int
        Sweeps so far.
    work : int
        Multiplications of sweeps since the last attempt of Newton's method.
    violation : float
        Largest pull |u_r| in the last sweep over all rows.
    """

    sweeps: int = 0
    work: int = 0
    violation: float = np.inf


def _function(progress: DualConvergenceMonitor) -> Array:
    """Return the recomputed f of the last evaluated point: w, or values at the points."""
    shown = progress.shown
    # A copy, since sweeps change w in place and the evaluated point must not change.
    return shown.f if shown.w is None else shown.w.copy()


def _sweep_on(
    dual: Dual, at: SweepIterate, spent: DescentCounters, progress: DualConvergenceMonitor
) -> bool:
    """Sweep first over all rows, then over those not shrunk; return True if the end is near.

    The sweeps end if the estimated gap is small enough or no row has a large pull, before
    Newton's method, and after GAP_WORK. The estimate adds what the visits yield: the
    rows' contributions to the gap, and the increase of the dual value.
    """
    order, start, most = dual.movable.copy(), spent.work, GAP_WORK * dual.function_work
    state = SweepState.before(spent.sweeps, len(order), progress.dual)
    while not progress.out_of_time:
        state = dual.sweep_on(
            order,
            state,
            progress.limits.tol,
            progress.max_iter,
            at,
            dual.most_free(spent.work),
            start + most - spent.work,
        )
        spent.work = start + dual.work(state)
        if state.place == 0 and (
            state.ready
            or state.sweeps >= progress.max_iter
            or spent.work >= start + most
            or _factorisations(dual, _free(dual, at.alpha), spent) > 0
        ):
            break
    spent.sweeps, spent.violation = state.sweeps, max(state.pull, 0.0)
    return state.ready


def _free(dual: Dual, alpha: Array) -> Index:
    """Return the rows strictly inside their bounds."""
    return np.flatnonzero((alpha > 0) & (alpha < dual.problem.box))


def _factorisations(dual: Dual, free: Index, spent: DescentCounters) -> int:
    """Return how many factorisations cost at most the sweeps since the last attempt."""
    if len(free) > dual.most_free(spent.work):
        return 0
    return count_affordable_factorisations(len(free), spent.work // SWEEP_SPEED)


def _solve_for_free_rows(
    dual: Dual, at: SweepIterate, spent: DescentCounters, progress: DualConvergenceMonitor
) -> bool:
    """Apply Newton's method to the free rows in place; return True if it was applied.

    It is applied if it costs at most the sweeps since the last attempt.
    """
    problem, t, box, ridge = dual.problem, dual.problem.rows.t, dual.problem.box, dual.ridge
    free = _free(dual, at.alpha)
    most = _factorisations(dual, free, spent)
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
