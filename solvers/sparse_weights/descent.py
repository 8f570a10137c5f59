"""Coordinate descent on a growing working set of features, with Newton's method.

1. The prices X'(y a) of the multipliers a = 2 C slacks give the gap. The working set
   has the features of nonzero weight, and those of the largest prices.
2. Sweeps visit the weights of the working set (`sweeps.py`), and Newton's method
   minimises over the nonzero ones (`face.py`), in turn, until the gap of the working
   set is a share of that of all features.

With more features than rows, the method first runs at a few smaller costs.

References
----------
G.-X. Yuan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, A comparison of optimization methods
and software for large-scale L1-regularized linear classification, JMLR 11 (2010).

M. Massias, A. Gramfort, J. Salmon, Celer: a fast solver for the lasso with dual
extrapolation, ICML (2018), for working sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, is_sparse
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint
from equimargin.solvers.dual.sweeps import shuffle
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    ConvergenceMonitor,
)
from equimargin.solvers.solution import Limits, Status, relative_gap
from equimargin.solvers.sparse_weights.face import WeightIterate, minimise_on_face
from equimargin.solvers.sparse_weights.problem import SparseWeightProblem
from equimargin.solvers.sparse_weights.solution import SparseWeightSolution
from equimargin.solvers.sparse_weights.sweeps import ColumnArrays, sweep

SHUFFLE_SEED = 0
"""Seed of the random orders, so that runs are repeatable."""
MOST_SWEEPS = 100_000
"""Default limit of the sweeps of a run."""
MIN_WORKING_FEATURES = 1000
"""Minimum number of features of a working set."""
GROWTH = 2
"""Size of a working set, in numbers of nonzero weights."""
SWEEPS_PER_ROUND = 5
"""Sweeps between two computations of the working set's gap."""
MAX_STALE_ROUNDS = 5
"""Rounds without a smaller gap of the working set after which all features are priced."""
COST_RATIO, MAX_COSTS = 10.0, 12
"""Ratio of two costs that lead to a large one, and their maximum number."""
GAP_PER_COST, CHECKS_PER_COST = 0.01, 10
"""Relative gap to reach at such a cost, and the maximum number of working sets."""
NEWTON_SHARE = 2.0
"""Work of Newton's method relative to that of the sweeps, at most."""
LEAST_DECREASE = 1e-6
"""Relative decrease of the objective that counts as progress."""
INNER_SHARE = 0.1
"""Relative gap that a working set must reach, as a share of that of all features."""
INNER_TOL = 0.5
"""Smallest gap that a working set must reach, as a share of `tol`."""


class SparseWeightMonitor(ConvergenceMonitor):
    """Convergence monitor of a run for a `SparseWeightProblem`.

    Parameters
    ----------
    problem : SparseWeightProblem
        Problem being solved.
    limits : Limits
        Limits of the run.
    """

    problem: Any

    def __init__(self, problem: SparseWeightProblem, limits: Limits) -> None:
        stated: Any = problem
        super().__init__("sparse_weights", stated, limits, limits.max_iter or MOST_SWEEPS)

    def found(self) -> SparseWeightSolution:
        """Return the best point with the status and reason of the run."""
        solution: Any = self.solution()
        assert isinstance(solution, SparseWeightSolution)
        return solution

    @property
    def _cancels(self) -> bool:
        """True: the proven interval takes a few products only."""
        return True

    def _found(self, point: CanonicalPoint, status: Status) -> Any:
        assert isinstance(point, OneNormPoint)
        return SparseWeightSolution(
            self.problem,
            self.solver,
            point,
            status,
            self.reason,
            self.iterations,
            self.seconds,
        )


@dataclass(eq=False)
class SweepCounters:
    """Sweeps so far, the work that Newton's method may cost, and the generator of orders."""

    sweeps: int = 0
    work: float = 0.0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SHUFFLE_SEED))


@np.errstate(all="ignore")  # Overflow shows in the gap and the interval of the point.
def solve_sparse_weights(
    problem: SparseWeightProblem, limits: Limits | None = None
) -> SparseWeightSolution:
    """Minimise |w|_1 + sum_i c_i max(0, 1 - y_i x_i.w)^2.

    Parameters
    ----------
    problem : SparseWeightProblem
        Problem to solve.
    limits : Limits or None
        Limits of the run; its iterations are sweeps.

    Returns
    -------
    SparseWeightSolution
        Best point, with the reason to stop.
    """
    limits, kept = limits or Limits(), np.flatnonzero(problem.weights)
    if len(kept) < len(problem.y):
        # Rows without a cost change nothing, not even which of several optima is found.
        found = solve_sparse_weights(problem.of_rows(kept), limits)
        a = np.zeros(len(problem.y))
        a[kept] = found.dual
        return replace(found, problem=problem, point=OneNormPoint(found.w, a))
    at = WeightIterate(np.zeros(problem.X.shape[1]), problem.y.copy())
    spent, primal = SweepCounters(), np.inf
    monitor = SparseWeightMonitor(problem, limits)
    if problem.X.shape[1] > problem.X.shape[0]:
        _follow_costs(problem, at, monitor, spent)
    while True:
        state = _evaluate(problem, at)
        point = OneNormPoint(at.w.copy(), state.a)
        moved, primal = state.primal < (1 - LEAST_DECREASE) * primal, state.primal
        if monitor.weigh(point, primal, state.dual, spent.sweeps, moved):
            return monitor.found()
        _descend(problem, at, state, INNER_TOL * limits.tol, monitor, spent)


def _follow_costs(
    problem: SparseWeightProblem,
    at: WeightIterate,
    monitor: SparseWeightMonitor,
    spent: SweepCounters,
) -> None:
    """Change w to approximate optima at smaller costs, each from that before.

    With more features than rows, many weights become nonzero if the first cost is large,
    and few if it increases.
    """
    # At the cost C / (2 largest) and below, w = 0 is the optimum. Sums of costs near the
    # largest float may be infinite or NaN, which max drops as its second argument.
    largest = float(np.abs(problem.prices(problem.costs)).max(initial=0.0))
    steps = int(min(np.log10(max(1.0, largest)), MAX_COSTS))
    for step in range(steps, 0, -1):
        part = replace(problem, C=problem.C / COST_RATIO**step)
        for _ in range(CHECKS_PER_COST):
            state = _evaluate(part, at)
            if relative_gap(state.primal, state.dual, part.scale) <= GAP_PER_COST:
                break
            _descend(part, at, state, GAP_PER_COST, monitor, spent)


@dataclass(frozen=True, eq=False)
class IterateValues:
    """Multipliers a (m,) of an iterate, their prices (d,), and both objective values."""

    a: Array
    prices: Array
    primal: float
    dual: float


def _evaluate(problem: SparseWeightProblem, at: WeightIterate) -> IterateValues:
    """Evaluate an iterate, whose residuals are recomputed.

    The updates of many sweeps add up rounding errors.
    """
    at.residuals = problem.residuals(at.w)
    slacks = problem.slacks(at.residuals)
    a = 2 * problem.costs * slacks
    prices = problem.prices(a)
    return IterateValues(a, prices, problem.primal(at.w, slacks), problem.dual(a, prices))


def _working_set(prices: Array, w: Array) -> Index:
    """Return the features of nonzero weight and those of the largest prices, ascending."""
    most = max(MIN_WORKING_FEATURES, GROWTH * int(np.count_nonzero(w)))
    if 2 * most >= len(w):
        return np.arange(len(w))
    # Features of nonzero weight have infinite priority.
    priority = np.where(w != 0, np.inf, np.abs(prices))
    return np.sort(np.argpartition(priority, -most)[-most:])


def _descend(
    problem: SparseWeightProblem,
    at: WeightIterate,
    state: IterateValues,
    tol: float,
    monitor: SparseWeightMonitor,
    spent: SweepCounters,
) -> None:
    """Decrease the objective over a working set, in place, until the set's gap is small."""
    columns = _working_set(state.prices, at.w)
    part, inner = problem.restricted(columns), WeightIterate(at.w[columns], at.residuals)
    gap = relative_gap(state.primal, state.dual, problem.scale)
    _descend_on(part, inner, max(tol, INNER_SHARE * gap), monitor, spent)
    at.w[columns] = inner.w


def _descend_on(
    problem: SparseWeightProblem,
    at: WeightIterate,
    target: float,
    monitor: SparseWeightMonitor,
    spent: SweepCounters,
) -> None:
    """Alternate sweeps and Newton's method over all features until their gap is small."""
    swept = Swept.of(problem)
    least, stale = np.inf, 0
    while stale < MAX_STALE_ROUNDS:
        for _ in range(SWEEPS_PER_ROUND):
            if spent.sweeps >= monitor.max_iter or monitor.out_of_time:
                return
            if swept.visit_all(at, spent, monitor) == 0.0:
                break
        spent.work = minimise_on_face(problem, at, spent.work, lambda: monitor.out_of_time)
        state = _evaluate(problem, at)
        gap = relative_gap(state.primal, state.dual, problem.scale)
        if gap <= target:
            return
        least, stale = (gap, 0) if gap < 0.95 * least else (least, stale + 1)


@dataclass(frozen=True, eq=False)
class Swept:
    """Arrays of a problem that sweeps read.

    Parameters
    ----------
    columns : ColumnArrays
        Features.
    costs : ndarray of shape (m,)
        c_i y_i.
    largest : ndarray of shape (d,)
        2 sum_i c_i x_ij^2.
    order : ndarray of int
        Weights, in the order of the next sweep.
    scratch : ndarray
        Workspace of `sweep`.
    """

    columns: ColumnArrays
    costs: Array
    largest: Array
    order: Index
    scratch: Array

    @classmethod
    def of(cls, problem: SparseWeightProblem) -> Swept:
        """Return the arrays of a problem.

        Parameters
        ----------
        problem : SparseWeightProblem
            Problem.
        """
        X, columns = problem.X, ColumnArrays.of(problem.X)
        squares = X.power(2) if is_sparse(X) else X**2
        return cls(
            columns,
            problem.costs * problem.y,
            np.asarray(2 * (squares.T @ problem.costs)),
            np.arange(X.shape[1]),
            np.empty((2, columns.longest)),
        )

    def visit_all(
        self, at: WeightIterate, spent: SweepCounters, monitor: SparseWeightMonitor
    ) -> float:
        """Sweep once in random order; return the largest violation.

        The clock is checked from time to time.

        Parameters
        ----------
        at : WeightIterate
            Iterate, changed in place.
        spent : SweepCounters
            Counters.
        monitor : SparseWeightMonitor
            Convergence monitor.
        """
        shuffle(self.order, int(spent.rng.integers(2**31)))
        entries, violation = len(self.columns.values), 0.0
        size = max(1, len(self.order) * MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // (4 * entries + 1))
        for start in range(0, len(self.order), size):
            part = self.order[start : start + size]
            arrays = (self.columns, self.costs, self.largest, self.scratch, at.w, at.residuals)
            violation = max(violation, sweep(part, *arrays))
            if monitor.out_of_time:
                break
        spent.sweeps, spent.work = spent.sweeps + 1, spent.work + NEWTON_SHARE * 4 * entries
        return violation
