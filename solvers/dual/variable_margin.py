"""SMO for margin problems whose margin is a variable: nu-SVC, nu-SVR, one-class SVM.

The dual of `formulations/bounds/variable_margin.py` fixes the sum of the multipliers of
each sign at a share of N. A step therefore moves two multipliers of one sign:

    alpha_i + d,  alpha_j - d,    G_i < G_j,    G = s (K beta) - t,  beta = A'alpha
    i   has the least G of a sign among alpha < c
    j   has the largest (G_j - G_i)^2 / (K_ii + K_jj - 2 K_ij) of this sign among alpha > 0

Of the two signs, that of the larger decrease is taken. The best margin and bias for f
follow from a sort of the rows of each sign: with the levels r_+ and r_- that minimise

    sum_r c_r (r - G_r)_+ - N_s r    over the rows of a sign, with their share N_s of N,

rho = (r_+ + r_-) / 2 and b = (r_- - r_+) / 2. Before a run ends by its gap, K beta is
computed anew from the multipliers in float64.

References
----------
C.-C. Chang and C.-J. Lin, Training nu-support vector classifiers: theory and algorithms,
Neural Computation 13 (2001); R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection
using second order information, JMLR 6 (2005), 1889-1918, rule WSS 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.bounds.variable_margin import (
    margin_of,
    set_margin,
    size_of_variable_margin,
    sum_multipliers,
    variable_margin_interval,
)
from equimargin.formulations.kernels.gram import STORED_ROWS, Gram
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.progress import (
    MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS,
    ConvergenceMonitor,
)
from equimargin.solvers.solution import Limits, Solution, Status, relative_gap

NAME = "variable_margin"
"""Name of the solver in a solution."""
KEPT_BYTES = 2**28
"""Bytes of the rows of K that are kept, if there are too many to store K."""
LEAST_KEPT_ROWS = 8
"""Minimum number of rows of K that are kept; a step needs three."""
STEPS_PER_CHECK = 100
"""Minimum number of steps between two checks of the gap, and their number per row."""
MAX_STEPS = 100_000_000
"""Default limit of steps."""
PATIENCE = 100
"""Checks without progress that end a run above the rounding level."""
LEAST_VALUE = 1e-12
"""N rho, relative to the unit of relative errors, below which f counts as 0."""
LEAST_CURVATURE = 1e-12
"""Least curvature of a step, relative to the mean of |K_ii|; K may be indefinite."""


@dataclass(frozen=True, eq=False, repr=False)
class VariableMarginSolution(Solution):
    """Solution of a problem with a variable margin, at its optimal margin.

    Parameters
    ----------
    nu : float
        Share of the costs.
    """

    nu: float = 1.0

    @property
    def rho(self) -> float:
        """Margin of the point; of a tube minus its half width."""
        return margin_of(self.problem)

    @property
    def vanishes(self) -> bool:
        """True if the optimum is 0 within the tolerance of relative errors."""
        total = float(sum_multipliers(self.problem, self.nu))
        return total * self.rho <= LEAST_VALUE * size_of_variable_margin(self.problem, self.nu)

    @cached_property
    def interval(self) -> Interval:
        return variable_margin_interval(self.problem, self.nu, cast(Point, self.point))

    @property
    def relative_gap(self) -> float:
        return relative_gap(*self._values, size_of_variable_margin(self.problem, self.nu))

    @cached_property
    def _values(self) -> tuple[float, float]:
        primal, dual = self.problem.values(self.point)
        alpha = np.asarray(self.point.multipliers)
        total = float(sum_multipliers(self.problem, self.nu))
        return primal - total * self.rho, dual - float(alpha.sum()) * self.rho


def solve_variable_margin(
    problem: MarginProblem, nu: float, limits: Limits
) -> VariableMarginSolution:
    """Minimise over f, b and the margin rho.

    Parameters
    ----------
    problem : MarginProblem
        Classes or a tube with the hinge and finite costs, at any margin.
    nu : float
        Share of the costs, in (0, 1].
    limits : Limits
        Limits of the run.

    Returns
    -------
    VariableMarginSolution
        Best point of the run, at its margin.

    Raises
    ------
    ValueError
        If the costs of a class are below half of N: no optimum is finite.
    """
    problem = set_margin(problem, 0.0)
    run = _Run(problem, nu, limits)
    monitor = _Monitor(run, limits)
    while not run.check(monitor):
        run.advance(monitor.limit_of_steps())
    return cast(VariableMarginSolution, monitor.solution())


class _Levels(NamedTuple):
    """Margin, bias, and sum_r c_r (level - G_r)_+ minus N_s times the levels."""

    rho: float
    b: float
    loss: float


class _Run:
    """State of a run: multipliers, K beta, and the rows of K that are kept."""

    def __init__(self, problem: MarginProblem, nu: float, limits: Limits) -> None:
        self.problem, self.nu = problem, nu
        self.c, self.t, self.s = problem.costs, problem.rows.t, problem.rows.s
        self.signs = (1.0, -1.0) if problem.bias else (1.0,)
        self.share = float(sum_multipliers(problem, nu)) / len(self.signs)
        self.points = np.arange(problem.p) % problem.m
        self.alpha = self._start()
        self.steps, self.stuck = 0, False
        self.kept = _KeptRows(problem.gram)
        self.diagonal = problem.gram.diagonal
        self.curvature = LEAST_CURVATURE * problem.gram.mean_diagonal
        self.renew()

    def _start(self) -> Array:
        """Return feasible multipliers: the first rows of a sign are at their costs."""
        alpha = np.zeros(self.problem.p)
        for sign in self.signs:
            rows = np.flatnonzero(self.s == sign)
            cost = math.fsum(self.c[rows].tolist())
            if cost < self.share:
                largest = self.nu * cost / self.share
                raise ValueError(
                    f"specified nu is infeasible: nu is {self.nu:g}, and this problem has no "
                    f"optimum above {largest:g}, twice the share of the smaller class; take at "
                    f"most that"
                )
            before = np.cumsum(self.c[rows]) - self.c[rows]
            alpha[rows] = np.clip(self.share - before, 0.0, self.c[rows])
        return alpha

    def renew(self) -> None:
        """Compute K beta from the multipliers."""
        self.f = self.problem.gram @ self.problem.rows.rdot(self.alpha)

    def values(self) -> tuple[float, float]:
        """Return the primal objective, at the best margin and bias, and the dual one."""
        half = float(self.problem.rows.rdot(self.alpha) @ self.f) / 2
        loss = find_levels(self.problem, self.f, self.share).loss
        return half + loss, float(self.t @ self.alpha) - half

    @property
    def violation(self) -> float:
        """Largest G_j - G_i of a pair that may move, relative to the largest |G|."""
        G = self.problem.rows.dot(self.f) - self.t
        pairs = [
            G[(self.s == sign) & (self.alpha > 0)].max(initial=-np.inf)
            - G[(self.s == sign) & (self.alpha < self.c)].min(initial=np.inf)
            for sign in self.signs
        ]
        return float(max(pairs) / np.abs(G).max(initial=1e-300))

    def check(self, monitor: _Monitor) -> bool:
        """Weigh the point; return True if the run should stop."""
        primal, dual = self.values()
        near = relative_gap(primal, dual, monitor.problem.scale) <= monitor.limits.tol
        if near or self.stuck:
            self.renew()
            primal, dual = self.values()
        monitor.weigh(Point(alpha=self.alpha.copy()), primal, dual, self.steps)
        if not self.problem.convex and self.violation <= monitor.limits.tol:
            monitor.end(
                Status.STATIONARY, f"the optimality conditions hold to {self.violation:.2e}"
            )
        return monitor.status is not None

    def advance(self, steps: int) -> None:
        """Take steps, until a number of them is done or none decreases the objective."""
        done, wanted = 0, -1
        while True:
            taken, wanted = _iterate(
                *self.kept.state,
                self.points,
                self.s,
                self.t,
                self.c,
                self.diagonal,
                self.alpha,
                self.f,
                steps - done,
                self.curvature,
            )
            done += taken
            if wanted < 0:
                break
            self.kept.fetch(wanted)
        self.steps += done
        self.stuck = done < steps


class _Monitor(ConvergenceMonitor):
    """Convergence monitor of a run, whose solutions have the best margin and bias."""

    def __init__(self, run: _Run, limits: Limits) -> None:
        self.run = run
        problem, size = run.problem, size_of_variable_margin(run.problem, run.nu)
        # At this margin the objective at f = 0 is the unit of relative errors.
        reference = (
            0.0 if isinstance(problem.rows, Tube) else size / (float(problem.costs.sum()) or 1.0)
        )
        super().__init__(
            NAME,
            set_margin(problem, reference),
            limits,
            MAX_STEPS if limits.max_iter is None else limits.max_iter,
            PATIENCE,
        )

    def limit_of_steps(self) -> int:
        """Return the number of steps until the next check."""
        p = self.run.problem.p
        steps = min(STEPS_PER_CHECK + p, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // p + 1)
        return min(steps, self.max_iter - self.run.steps)

    def _found(self, point: CanonicalPoint, status: Status) -> VariableMarginSolution:
        run, alpha = self.run, np.asarray(point.multipliers)
        f = run.problem.gram @ run.problem.rows.rdot(alpha)
        levels = find_levels(run.problem, f, run.share)
        tube = isinstance(run.problem.rows, Tube)
        rho = min(levels.rho, 0.0) if tube else max(levels.rho, 0.0)
        b = levels.b if run.problem.bias else None
        return VariableMarginSolution(
            set_margin(run.problem, rho),
            self.solver,
            Point(alpha=alpha, b=b),
            status,
            self.reason,
            self.iterations,
            self.seconds,
            nu=run.nu,
        )


class _KeptRows:
    """Rows of K: all if they are few, else those last used.

    Parameters
    ----------
    gram : Gram
        K.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram, m = gram, gram.m
        if m <= STORED_ROWS or gram.kernel.given:
            self.rows, self.place = gram.dense, np.arange(m)
            self.used = np.zeros(m, dtype=np.int64)
        else:
            kept = min(m, max(KEPT_BYTES // (8 * m), LEAST_KEPT_ROWS))
            self.rows, self.place = np.empty((kept, m)), np.full(m, -1)
            self.used = np.zeros(kept, dtype=np.int64)
        self.owner = np.full(len(self.rows), -1)
        self.clock = np.zeros(1, dtype=np.int64)

    @property
    def state(self) -> tuple[Array, Index, Index, Index]:
        """Rows, the place of every point's row or -1, and the times of the last use."""
        return self.rows, self.place, self.used, self.clock

    def fetch(self, point: int) -> None:
        """Compute the row of a point, in place of the row that was used least recently.

        Parameters
        ----------
        point : int
            Point without a row.
        """
        place = int(self.used.argmin())
        if self.owner[place] >= 0:
            self.place[self.owner[place]] = -1
        self.rows[place] = self.gram.rows(np.array([point]))[0]
        self.owner[place], self.place[point] = point, place
        self.clock[0] += 1
        self.used[place] = self.clock[0]


def find_levels(problem: MarginProblem, f: Array, share: float) -> _Levels:
    """Return the margin and bias that minimise the losses of f minus N rho.

    Parameters
    ----------
    problem : MarginProblem
        Problem at rho = 0.
    f : ndarray of shape (m,)
        Values at the points.
    share : float
        Sum of the multipliers of a sign.
    """
    rows, c = problem.rows, problem.costs
    G = rows.dot(f) - rows.t
    if not problem.bias:
        level, loss = _find_level(G, c, share)
        return _Levels(level, 0.0, loss)
    (high, loss_high), (low, loss_low) = (
        _find_level(G[rows.s == sign], c[rows.s == sign], share) for sign in (1.0, -1.0)
    )
    return _Levels((high + low) / 2, (low - high) / 2, loss_high + loss_low)


def _find_level(G: Array, c: Array, share: float) -> tuple[float, float]:
    """Return the minimiser r of sum_r c_r (r - G_r)_+ - share r, and the minimum.

    It is the middle of the minimisers, and their smallest if they have no largest.
    """
    order = G.argsort(kind="stable")
    sums = c[order].cumsum()
    noise = 1e-14 * float(sums[-1])
    first = min(int(sums.searchsorted(share - noise)), len(sums) - 1)
    last = min(int(sums.searchsorted(share + noise, side="right")), len(sums) - 1)
    lower, upper = float(G[order[first]]), float(G[order[last]])
    level = (lower + upper) / 2 if sums[-1] > share + noise else lower
    return level, float(c @ np.maximum(level - G, 0.0)) - share * level


@jit
def _iterate(
    rows: Array,
    place: Index,
    used: Index,
    clock: Index,
    points: Index,
    s: Array,
    t: Array,
    c: Array,
    diagonal: Array,
    alpha: Array,
    f: Array,
    steps: int,
    least: float,
) -> tuple[int, int]:
    """Take steps in place; return their number, and a point whose row is missing or -1."""
    p, m = alpha.shape[0], f.shape[0]
    for step in range(steps):
        # The least G that can decrease the objective upwards, and the largest downwards.
        up_plus, up_minus, top_plus, top_minus = np.inf, np.inf, -np.inf, -np.inf
        i_plus, i_minus = -1, -1
        for r in range(p):
            G = s[r] * f[points[r]] - t[r]
            if s[r] > 0:
                if alpha[r] < c[r] and G < up_plus:
                    up_plus, i_plus = G, r
                if alpha[r] > 0.0 and G > top_plus:
                    top_plus = G
            else:
                if alpha[r] < c[r] and G < up_minus:
                    up_minus, i_minus = G, r
                if alpha[r] > 0.0 and G > top_minus:
                    top_minus = G
        if not (top_plus > up_plus or top_minus > up_minus):
            return step, -1
        k_plus, k_minus = -1, -1
        if top_plus > up_plus:
            k_plus = place[points[i_plus]]
            if k_plus < 0:
                return step, points[i_plus]
            clock[0] += 1
            used[k_plus] = clock[0]
        if top_minus > up_minus:
            k_minus = place[points[i_minus]]
            if k_minus < 0:
                return step, points[i_minus]
            clock[0] += 1
            used[k_minus] = clock[0]
        # The partner of the largest decrease, to second order.
        best, i, j, d = -1.0, -1, -1, 0.0
        for r in range(p):
            if alpha[r] > 0.0:
                k, own, low = (
                    (k_plus, i_plus, up_plus) if s[r] > 0 else (k_minus, i_minus, up_minus)
                )
                if k >= 0:
                    z = points[r]
                    difference = s[r] * f[z] - t[r] - low
                    if difference > 0.0:
                        curve = max(diagonal[points[own]] + diagonal[z] - 2.0 * rows[k, z], least)
                        if difference * difference / curve > best:
                            best, i, j = difference * difference / curve, own, r
                            d = difference / curve
        k = place[points[j]]
        if k < 0:
            return step, points[j]
        clock[0] += 1
        used[k] = clock[0]
        # A multiplier that reaches a bound is exactly there.
        d = min(d, min(c[i] - alpha[i], alpha[j]))
        alpha[i] = c[i] if d == c[i] - alpha[i] else alpha[i] + d
        alpha[j] -= d
        change = s[i] * d
        plus, minus = rows[place[points[i]]], rows[k]
        for z in range(m):
            f[z] += change * (plus[z] - minus[z])
    return steps, -1
