"""Column generation for large one-norm margin problems.

    min over x >= 0, b   sum_{j in S} x_j + sum_G c_G (1 - mean_G (B x + b s))_+
    max over u           1'u   s.t.  (B'u)_S <= 1,  s'u = 0,  0 <= u <= c,
                                     u / c constant on every G

S are some of the columns, and G a partition of the rows: pairs or classified points,
with signs s; without a bias s = 0. c_G is the sum of the costs of G, and mean_G their
mean with the costs as weights. This restricted program has few columns, and one row
per group of rows. A round has these steps:

1. Solve the restricted program by the dual simplex method, from the last basis. A
   nonbasic u starts at 0 if the mean margin of its group is at least 1, and at its
   upper bound otherwise; the basis is then dual feasible.
2. Divide groups whose slacks have both signs, and solve again. If there are many
   groups, merge nonbasic ones with all margins above 1, or all below 1, which changes
   neither u nor the value.
3. Bound the optimum of the whole program: from below by u, divided by max(1, max B'u)
   so that it is feasible; from above by x, with the slack of every single row. The
   prices B'u are one product of K with A'u.
4. Add the columns that violate B'u <= 1 most to S.

References
----------
Documents T (102)-(104) = K (2.10), T (94)-(96).

A. Demiriz, K. P. Bennett, J. Shawe-Taylor. Linear programming boosting via column
generation (2002), for the columns.

R. E. Bixby, J. W. Gregory, I. J. Lustig, R. E. Marsten, D. F. Shanno. Very large-scale
linear programming: a case study in combining interior point and simplex methods (1992),
for solving by parts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.formulations.rows.listed import LISTED_PAIRS, Pairs
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.lp.highs import Basis, dual_simplex
from equimargin.solvers.lp.linear_program import entries
from equimargin.solvers.lp.polish import best
from equimargin.solvers.products.tiles import Tiles, tiles
from equimargin.solvers.progress import ConvergenceMonitor
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status

COLUMNS_ADDED = 25
"""Maximum number of columns added to the restricted program per pricing."""
SINGLE_PAIRS = 100.0
"""Approximate number of pairs of margin nearest to 1, above or below, in groups of one.

Groups grow with the distance of their margins from 1: n pairs above or below 1 form
a log(1 + n / a) groups, where a is this number.
"""
MOST_GROUPS = 4000
"""Number of groups above which nonbasic ones without margins on both sides of 1 merge."""
HIDDEN_SHARE = 0.1
"""Share of the gap that groups may hide.

Groups are divided until the slacks that their means hide add less than this share to
the value.
"""
MOST_DIVISIONS = 10
"""Maximum number of divisions of the groups between two pricings."""
STALE_PRICES = 250
"""Number of pricings without progress that end a run.

It is large, because few columns are added per pricing.
"""
ENTRIES_BETWEEN_INTERRUPTS = 20_000_000
"""Number of entries of K computed between two checks for an interrupt."""
WHOLE_PROGRAM_ENTRIES = {"points": 60_000, "rows": 250_000}
"""Largest matrix, in entries, that "auto" leaves to HiGHS, by the variables' kind.

Up to this size the whole linear program is faster than column generation. If variables
belong to pairs, many columns are similar, and column generation pays off later.
"""
MOST_ITERATIONS = 1_000_000
"""Default limit of the simplex iterations of a run."""


REQUIREMENTS = Requirements(OneNormProblem, most_rows=LISTED_PAIRS)


def large(problem: OneNormProblem) -> bool:
    """Return True if column generation is faster than HiGHS on the whole program.

    Parameters
    ----------
    problem : OneNormProblem
        Problem to solve.
    """
    return entries(problem) > WHOLE_PROGRAM_ENTRIES[problem.over]


@solver(
    "column_generation",
    "rvm",
    "rank.onenorm",
    "svm.onenorm",
    "svm.nobias_onenorm",
    algorithm="columns by their prices and rows in groups, for linear programs",
    library="HIGHS",
    requires=REQUIREMENTS,
    first=large,
)
def _solve(problem: OneNormProblem, limits: Limits, warm_start: OneNormPoint | None) -> Solution:
    """Solve at unit mean K_ii and map back.

    The support of x in `warm_start` gives the first columns, and its u the first
    prices. `limits.max_iter` counts simplex iterations.
    """
    found = _generate(problem, limits, warm_start)
    return _refined(problem, found, limits) if found.status is Status.NUMERICAL_FAILURE else found


def _generate(problem: OneNormProblem, limits: Limits, warm_start: OneNormPoint | None) -> Solution:
    """Return the solution whose x and u are the best of all rounds."""
    judge = ConvergenceMonitor(
        "column_generation",
        problem,
        limits,
        MOST_ITERATIONS if limits.max_iter is None else limits.max_iter,
        STALE_PRICES,
    )
    scale = problem.gram.mean_diagonal
    kernel = tiles(problem.gram, scale)
    x, u = _inside(problem, OneNormPoint() if warm_start is None else warm_start)
    master = Master(problem, kernel, scale, x * scale)
    shown, (primal, dual) = OneNormPoint(x, u), (np.inf, -np.inf)
    u = u * scale
    while True:
        prices = _prices(problem, kernel, u)
        lower = float(u.sum()) / max(1.0, float(prices.max(initial=0.0))) / scale
        if lower > dual:
            dual, shown = lower, replace(shown, u=u / scale)
        if master.at.value / scale < primal:
            primal, shown = master.at.value / scale, replace(shown, x=master.at.x / scale)
        if judge.weigh(shown, primal, dual, master.iterations):
            break
        master.join(prices)
        wanted = HIDDEN_SHARE * max(primal - dual, judge.limits.tol * abs(primal)) * scale
        if not master.solve(judge, wanted):
            judge.end(
                Status.NUMERICAL_FAILURE,
                f"no column and no group is left: relative gap {judge.gap:.2e}, "
                f"{limits.tol:.2g} was requested",
            )
            break
        u = _balanced(problem, master.at.u / scale) * scale
    return judge.solution()


def _refined(problem: OneNormProblem, found: Solution, limits: Limits) -> Solution:
    """Return a solution of too large a gap with its vertex equations solved again."""
    x, u = _inside(problem, problem.own_point(found.point))
    until = (
        np.inf if limits.time_limit is None else run_seconds() + limits.time_limit - found.seconds
    )
    point, gap = interruptible(lambda: best(problem, x, u, lambda: run_seconds() > until))
    if gap <= limits.tol:
        reached = f"relative gap {gap:.2e}, {limits.tol:.2g} was requested"
        return replace(found, point=point, status=Status.OPTIMAL, reason=reached)
    return replace(found, point=point)


def _inside(problem: OneNormProblem, point: OneNormPoint) -> tuple[Array, Array]:
    """Return the x (size,) and u (p,) of a point, moved inside their bounds.

    A missing x is 0, and a missing u about c.
    """
    x = np.zeros(problem.size) if point.x is None else np.maximum(np.nan_to_num(point.x), 0.0)
    u = (
        problem.costs.copy()
        if point.u is None
        else np.clip(np.nan_to_num(point.u), 0.0, problem.costs)
    )
    return x, _balanced(problem, u)


def _balanced(problem: OneNormProblem, u: Array) -> Array:
    """Return u (p,) in its box, moved to s'u = 0 if there is a bias.

    Only then is its sum a lower bound.
    """
    return problem.feasible(u) if problem.bias else u


def _prices(problem: OneNormProblem, kernel: Tiles, u: Array) -> Array:
    """Return B'u, (size,), with K / unit instead of K."""
    v, g = problem.rows.rdot(u), np.zeros(problem.m)
    support = np.flatnonzero(v)
    step = max(ENTRIES_BETWEEN_INTERRUPTS // problem.m, 1)
    for start in range(0, len(support), step):
        part = support[start : start + step]
        kernel.add_product(part, v[part], g)
    return g if problem.over == "points" else problem.rows.dot(g)


class RestrictedSolution(NamedTuple):
    """Last solution of the restricted program, extended to the whole program.

    Parameters
    ----------
    x : ndarray of shape (size,)
        Coefficients.
    u : ndarray of shape (p,)
        Multipliers.
    z : ndarray of shape (p,)
        Margins B x + b s of all rows.
    value : float
        Objective of the whole program.
    """

    x: Array
    u: Array
    z: Array
    value: float


class Master:
    """Restricted program, with K / unit and c unit instead of K and c.

    Parameters
    ----------
    problem : OneNormProblem
        Whole program.
    kernel : Tiles
        K / unit.
    unit : float
        Divisor of K.
    x : ndarray of shape (size,)
        Initial coefficients.

    Attributes
    ----------
    costs : ndarray of shape (p,)
        Upper bounds of u, c unit.
    columns : ndarray of shape (s,)
        Columns S.
    F : ndarray of shape (m, s)
        Values at all points of the function of each column, with coefficient 1.
    at : RestrictedSolution
        Last solution.
    group : ndarray of shape (p,)
        Index of every row's group.
    basis : Basis
        Basis of the last solution, where the simplex method starts next.
    solved : bool
        True if no column was added since the last solution.
    iterations : int
        Simplex iterations so far.
    """

    def __init__(self, problem: OneNormProblem, kernel: Tiles, unit: float, x: Array) -> None:
        self.problem, self.kernel, self.costs = problem, kernel, problem.costs * unit
        self.columns: Index = np.flatnonzero(x)
        self.F = self._decisions(self.columns)
        b = problem.bias_at(self.F @ x[self.columns])
        self.at = self._reached(x[self.columns], b, self.costs)
        self.group = graded(self.at.z)
        self.basis = Basis(
            np.zeros(self.group.max(initial=-1) + 1, dtype=bool),
            np.ones(1 + len(self.columns), dtype=bool),
        )
        self.solved = False
        self.iterations = 0

    def join(self, prices: Array) -> None:
        """Add the columns whose constraints B'u <= 1 are violated most.

        Parameters
        ----------
        prices : ndarray of shape (size,)
            B'u.
        """
        new = self._most_violated(prices)
        self.columns = np.append(self.columns, new)
        self.F = np.hstack([self.F, self._decisions(new)])
        self.basis.slacks = np.append(self.basis.slacks, np.ones(len(new), dtype=bool))
        self.solved = self.solved and not len(new)

    def solve(self, judge: ConvergenceMonitor, wanted: float) -> bool:
        """Solve the restricted program, dividing groups until they hide little.

        Parameters
        ----------
        judge : ConvergenceMonitor
            Convergence monitor, whose limits apply.
        wanted : float
            Part of the value that the groups may hide.

        Returns
        -------
        bool
            False if no column and no group is new.
        """
        if self.solved and not self._divide():
            return False
        self.solved = True
        for _ in range(MOST_DIVISIONS):
            hidden = self._simplex(judge)
            if (
                hidden <= wanted
                or judge.out_of_time
                or self.iterations >= judge.max_iter
                or not self._divide()
            ):
                break
        return True

    def _most_violated(self, prices: Array) -> Index:
        """Return columns outside S with a price above 1, highest first.

        Of the columns of pairs there is one for each preferred point and one for each
        other point, because those with a point in common are similar.
        """
        outside = np.ones(len(prices), dtype=bool)
        outside[self.columns] = False
        new = np.flatnonzero(outside & (prices > 1.0))
        new = new[np.argsort(-prices[new])]
        for points, _ in _columns(self.problem):
            new = new[np.sort(np.unique(points[new], return_index=True)[1])]
        return new[:COLUMNS_ADDED]

    def _decisions(self, columns: Index) -> Array:
        """Return the values of each column's function with coefficient 1, (m, columns)."""
        F, everywhere = np.zeros((self.problem.m, len(columns))), np.arange(self.problem.m)
        for points, signs in _columns(self.problem):
            F += signs[columns] * self.kernel.block(points[columns], everywhere).T
        return F

    def _reached(self, x: Array, b: float, u: Array) -> RestrictedSolution:
        """Return the solution with coefficients x of S, bias b and multipliers u."""
        everywhere = np.zeros(self.problem.size)
        everywhere[self.columns] = x
        z = self.problem.rows.dot(self.F @ x) + b * self.problem.bias_signs
        return RestrictedSolution(
            everywhere, u, z, float(x.sum() + self.costs @ np.maximum(1.0 - z, 0.0))
        )

    def _simplex(self, judge: ConvergenceMonitor) -> float:
        """Solve for the present groups; return the value that they hide.

        It is inf if the solution is not optimal.
        """
        limits, ends = judge.limits, _totals(self.group, self.costs)
        # Rows without costs have no u, and the mean of a group of such rows is 0.
        share = self.costs / np.where(ends > 0, ends, 1.0)[self.group]
        vertex, iterations = dual_simplex(
            _means(self.problem, self.group, share) @ self.F,
            _totals(self.group, share * self.problem.bias_signs),
            ends,
            self.basis,
            _totals(self.group, share * self.at.z) < 1.0,
            float(np.clip(0.1 * limits.tol, 1e-10, 1e-7)),
            judge.max_iter - self.iterations,
            None if limits.time_limit is None else max(limits.time_limit - judge.seconds, 0.0),
        )
        self.iterations += iterations
        if vertex is None:
            return np.inf
        self.basis = vertex.basis
        self.at = self._reached(vertex.x, vertex.b, vertex.v[self.group] * share)
        return self.at.value - float(vertex.v.sum()) if vertex.optimal else np.inf

    def _divide(self) -> bool:
        """Divide groups whose slacks have both signs; return False if there are none."""
        mixed, low, size = self._mixed()
        if not mixed.any():
            return False
        if len(mixed) > MOST_GROUPS:
            self._put_together(~mixed & ~self.basis.v)
            mixed, low, size = self._mixed()
        below = mixed[self.group] & (self.at.z < 1.0)
        self.group = self.group.copy()
        self.group[below] = len(mixed) + (np.cumsum(mixed) - 1)[self.group[below]]
        basic, heirs = self.basis.v.copy(), 2 * low > size
        inherited = (basic & heirs)[mixed]
        basic[mixed & heirs] = False
        self.basis.v = np.append(basic, inherited)
        return True

    def _mixed(self) -> tuple[Mask, Index, Index]:
        """Return a mask of groups with slacks of both signs, and two counts per group.

        These are the rows of margin below 1, and all rows. Shapes (n,).
        """
        n = len(self.basis.v)
        low, size = (
            np.bincount(self.group[self.at.z < 1.0], minlength=n),
            np.bincount(self.group, minlength=n),
        )
        return (low > 0) & (low < size), low, size

    def _put_together(self, far: Mask) -> None:
        """Regroup the rows of the groups `far`, nonbasic and with slacks of one sign."""
        kept = np.count_nonzero(~far)
        again = np.flatnonzero(far[self.group])
        self.group = (np.cumsum(~far) - 1)[self.group]
        regrouped = graded(self.at.z[again])
        self.group[again] = kept + regrouped
        self.basis.v = np.append(
            self.basis.v[~far], np.zeros(regrouped.max(initial=-1) + 1, dtype=bool)
        )


def graded(z: Array) -> Index:
    """Return the group 0, 1, ... of every row; margins of a group are all < 1 or all >= 1.

    Groups with margins closer to 1 have fewer rows.

    Parameters
    ----------
    z : ndarray of shape (k,)
        Margins.

    Returns
    -------
    ndarray of shape (k,)
        Groups.
    """
    low = z < 1.0
    order = np.lexsort((np.abs(z - 1.0), low))
    rank = np.arange(len(z))
    rank[len(z) - np.count_nonzero(low) :] -= len(z) - np.count_nonzero(low)
    grade = np.ceil(SINGLE_PAIRS * np.log1p(rank / SINGLE_PAIRS))
    new = (
        np.append(False, (grade[1:] != grade[:-1]) | (rank[1:] == 0))
        if len(z)
        else np.zeros(0, dtype=bool)
    )
    group = np.empty(len(z), dtype=np.intp)
    group[order] = np.cumsum(new)
    return group


def _ends(problem: OneNormProblem) -> list[tuple[Index, Array]]:
    """Return the points (p,) and signs (p,) of every row's entries.

    Two entries for a pair, one for a classified point.
    """
    rows = problem.rows
    if isinstance(rows, Pairs):
        return [(rows.preferred, np.ones(rows.p)), (rows.other, -np.ones(rows.p))]
    return [(np.arange(rows.m), rows.s)]


def _columns(problem: OneNormProblem) -> list[tuple[Index, Array]]:
    """Return the points (size,) and signs (size,) of every column's entries."""
    return (
        _ends(problem) if problem.over == "rows" else [(np.arange(problem.m), np.ones(problem.m))]
    )


def _totals(group: Index, values: Array) -> Array:
    """Return the sum of the values (p,) of every group, (n,)."""
    return np.asarray(np.bincount(group, values), dtype=np.float64)


def _means(problem: OneNormProblem, group: Index, share: Array) -> Any:
    """Return the mean of the rows of A over every group, CSR (n, m).

    A row has its share (p,) of the mean.
    """
    from scipy import sparse

    ends = _ends(problem)
    entries = np.concatenate([signs * share for _, signs in ends])
    where = np.tile(group, len(ends)), np.concatenate([points for points, _ in ends])
    return sparse.csr_array((entries, where), shape=(group.max() + 1, problem.m))
