"""SMO for margin problems whose margin is a variable: nu-SVC, nu-SVR, one-class SVM.

The dual of `formulations/bounds/variable_margin.py` fixes the sum of the multipliers of
each sign at a share of N. A step therefore moves two multipliers of one sign:

    alpha_i + d,  alpha_j - d,    G_i < G_j,    G = s (K beta) - t,  beta = A'alpha
    i   has the least G of a sign among alpha < c
    j   has the largest (G_j - G_i)^2 / (K_ii + K_jj - 2 K_ij) of this sign among alpha > 0

Of the two signs, that of the larger decrease is taken. If steps become small, the
objective is minimised on the face of the multipliers between their bounds. The best
margin and bias for f follow from a sort of the rows of each sign: with the levels r_+
and r_- that minimise

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
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from equimargin.formulations.bounds.evaluate import resolve_shift
from equimargin.formulations.bounds.intervals import Interval
from equimargin.formulations.bounds.variable_margin import (
    largest_sum,
    read_margin,
    set_margin,
    size_of_variable_margin,
    sum_multipliers,
    variable_margin_interval,
)
from equimargin.formulations.kernels.gram import STORED_ROWS
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.formulations.rows.listed import Tube
from equimargin.solvers.products.tiles import Tiles, tiles
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
"""Number of steps between two checks of the gap, in addition to one per row."""
MAX_STEPS = 100_000_000
"""Default limit of steps."""
CHECKS_WITHOUT_PROGRESS = 100
"""Number of checks without progress that end a run above the rounding level."""
CHECKS_BEFORE_FACE = 10
"""Checks without half the gap, after which a minimum on a face is tried."""
MAX_FACE = 500
"""Maximum number of multipliers between their bounds for a minimum on their face."""
FACES = 20
"""Maximum number of faces at a time."""
FLAT = 1e-14
"""Share of the largest eigenvalue below which a direction is flat."""
NOISE = 1e-15
"""Rounding error of G, relative to the largest |f|; smaller differences are none."""
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

    problem: MarginProblem
    nu: float = field(kw_only=True)

    @property
    def rho(self) -> float:
        """Margin of the point; of a tube minus its half width."""
        return read_margin(self.problem)

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
    @np.errstate(all="ignore")
    def _values(self) -> tuple[float, float]:
        primal, dual = self.problem.values(self.point)
        alpha = np.asarray(self.point.multipliers)
        total = float(sum_multipliers(self.problem, self.nu))
        return primal - total * self.rho, dual - float(alpha.sum()) * self.rho


# Overflow shows in the gap and the interval of the point.
@np.errstate(all="ignore")
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
        If the costs of a class are below half of N, so that no optimum is finite, or the
        objective is beyond float64.
    """
    _refuse(problem, nu)
    problem = resolve_shift(problem, limits.tol)
    monitor = _Monitor(set_margin(problem, 0.0), nu, limits)
    run = monitor.run
    while not run.check(monitor):
        if monitor.is_slow:
            run.minimise_on_face()
        run.advance(monitor)
    return cast(VariableMarginSolution, monitor.solution())


def _refuse(problem: MarginProblem, nu: float) -> None:
    """Raise an error if no optimum is finite, or float64 has no room for it."""
    total, most = sum_multipliers(problem, nu), largest_sum(problem)
    if not most:
        raise ValueError(
            "specified nu is infeasible: a class has no row of positive weight; give one of its "
            "rows a positive weight, or leave the class out"
        )
    if most < total:
        raise ValueError(
            f"specified nu is infeasible: nu is {nu:g}, and this problem has no optimum above "
            f"{float(nu * (most / total))!r}, twice the share of the smaller class; take at most "
            f"that"
        )
    if not math.isfinite(size_of_variable_margin(problem, nu)):
        raise ValueError(
            f"the costs are too large for float64: nu times their sum is {float(total):g}, and "
            f"the objective has its square; divide the weights"
        )


class _Rows(NamedTuple):
    """Rows of a problem, those of a sign behind each other."""

    points: Index
    s: Array
    t: Array
    c: Array


class _RowCache(NamedTuple):
    """Rows of K: values, the place of every point's row or -1, and times of the last use."""

    values: Array
    place: Index
    used: Index
    clock: Index


class _Levels(NamedTuple):
    """Margin, bias, and sum_r c_r (level - G_r)_+ minus N_s times the levels."""

    rho: float
    b: float
    loss: float


class _VariableMarginRun:
    """State of a run: multipliers alpha in the order of `rows`, and f = K beta.

    Parameters
    ----------
    problem : MarginProblem
        Problem at rho = 0.
    nu : float
        Share of the costs.
    n_jobs : int
        Threads of products with K.
    """

    def __init__(self, problem: MarginProblem, nu: float, n_jobs: int) -> None:
        self.problem, self.nu = problem, nu
        s = problem.rows.s
        self.order = np.argsort(-s, kind="stable")
        positive = np.count_nonzero(s > 0)
        # Without a bias the sum of all multipliers is fixed, whatever their sign.
        self.ends = np.array([0, positive, problem.p] if problem.bias else [0, problem.p])
        self.share = float(sum_multipliers(problem, nu)) / (len(self.ends) - 1)
        self.rows = _Rows(
            self.order % problem.m,
            s[self.order],
            problem.rows.t[self.order],
            problem.costs[self.order],
        )
        self.alpha = np.concatenate([self._start(part) for part in self.parts])
        fast = tiles(problem.gram, 1.0, n_jobs)
        beta, self.f = problem.rows.rdot(self.multipliers), np.zeros(problem.m)
        support = np.flatnonzero(beta)
        fast.add_product(support, beta[support], self.f)
        self.kept = _KeptRows(fast)
        self.least = LEAST_CURVATURE * problem.gram.mean_diagonal
        self.steps, self.stuck = 0, False

    @property
    def parts(self) -> list[slice]:
        """Rows of every sum that is fixed."""
        return [slice(*ends) for ends in pairwise(self.ends)]

    def _start(self, part: slice) -> Array:
        """Return feasible multipliers: those of the first rows are at their costs."""
        c = self.rows.c[part]
        return np.clip(self.share - (np.cumsum(c) - c), 0.0, c)

    @property
    def multipliers(self) -> Array:
        """Multipliers in the order of the problem's rows, shape (p,)."""
        alpha = np.empty_like(self.alpha)
        alpha[self.order] = self.alpha
        return alpha

    def renew(self) -> None:
        """Compute f from the multipliers, by the kernel's own formula."""
        self.f = self.problem.gram @ self.problem.rows.rdot(self.multipliers)

    def levels(self, f: Array) -> _Levels:
        """Return the margin and bias that minimise the losses of f minus N rho.

        Parameters
        ----------
        f : ndarray of shape (m,)
            Values at the points.
        """
        G = self._gradient(f)
        found = [_find_level(G[part], self.rows.c[part], self.share) for part in self.parts]
        (high, loss), (low, more) = found[0], found[-1]
        if len(found) == 1:
            return _Levels(high, 0.0, loss)
        return _Levels((high + low) / 2, (low - high) / 2, loss + more)

    def values(self) -> tuple[float, float]:
        """Return the primal objective, at the best margin and bias, and the dual one."""
        half = float(self.problem.rows.rdot(self.multipliers) @ self.f) / 2
        return half + self.levels(self.f).loss, float(self.rows.t @ self.alpha) - half

    @property
    def violation(self) -> float:
        """Largest G_j - G_i of a pair that may move, relative to the largest |G|."""
        G, alpha, c = self._gradient(self.f), self.alpha, self.rows.c
        pairs = [
            G[part][alpha[part] > 0].max(initial=-np.inf)
            - G[part][alpha[part] < c[part]].min(initial=np.inf)
            for part in self.parts
        ]
        return float(max(pairs) / np.abs(G).max(initial=1e-300))

    def check(self, monitor: _Monitor) -> bool:
        """Weigh the point; return True if the run should stop."""
        primal, dual = self.values()
        if self.stuck or relative_gap(primal, dual, monitor.problem.scale) <= monitor.limits.tol:
            self.renew()
            primal, dual = self.values()
        monitor.weigh(Point(alpha=self.multipliers), primal, dual, self.steps)
        if not self.problem.has_gap and self.violation <= monitor.limits.tol:
            monitor.end(
                Status.STATIONARY, f"the optimality conditions hold to {self.violation:.2e}"
            )
        return monitor.status is not None

    def advance(self, monitor: _Monitor) -> None:
        """Take steps until the next check, or until none decreases the objective."""
        steps, done, missing = monitor.limit_of_steps(), 0, 0
        noise = NOISE * float(np.abs(self.f).max(initial=0.0))
        # Each pass computes a row of K; there are at most three per step.
        while missing >= 0 and not monitor.out_of_time:
            taken, missing = _iterate(
                self.kept.state,
                self.rows,
                self.problem.gram.diagonal,
                self.alpha,
                self.f,
                self.ends,
                steps - done,
                (self.least, noise),
            )
            done += taken
            if missing >= 0:
                self.kept.fetch(missing)
        self.steps += done
        self.stuck = missing < 0 and done < steps

    def minimise_on_face(self) -> None:
        """Minimise over the multipliers between their bounds, at most FACES times.

        A step ends at the first bound, whose multiplier is then fixed.
        """
        for _ in range(FACES):
            before, alpha = self.values()[1], self.alpha.copy()
            free = np.flatnonzero((alpha > 0) & (alpha < self.rows.c))
            if not 1 < len(free) <= MAX_FACE:
                return
            try:
                step = self._face_step(free)
            except np.linalg.LinAlgError:
                return
            # Lengths at which a multiplier reaches its bound.
            bound = np.where(step > 0, self.rows.c[free], 0.0)
            lengths = np.where(step != 0, (bound - alpha[free]) / step, np.inf)
            length = min(1.0, float(lengths.min()))
            self.alpha[free] = np.where(lengths <= length, bound, alpha[free] + length * step)
            self.renew()
            # The system may be singular to rounding error.
            if self.values()[1] < before:
                self.alpha = alpha
                self.renew()
                return
            if length == 1.0:
                return

    def _face_step(self, free: Index) -> Array:
        """Return the step to the minimum over free rows, (n,), with fixed sums."""
        points, s = self.rows.points[free], self.rows.s[free]
        part = np.searchsorted(self.ends, free, side="right")
        together = part[:, None] == part
        # The projection of a step on those with fixed sums.
        centre = np.eye(len(free)) - together / together.sum(axis=1, keepdims=True)
        Q = centre @ (s[:, None] * s * self.problem.gram.block(points, points)) @ centre
        values, vectors = np.linalg.eigh((Q + Q.T) / 2)
        flat = values <= FLAT * values[-1]
        slopes = vectors.T @ (centre @ self._gradient(self.f)[free])
        step = vectors @ np.where(flat, 0.0, -slopes / np.where(flat, 1.0, values))
        return np.asarray(centre @ step)

    def _gradient(self, f: Array) -> Array:
        """Return G = s f - t of the rows."""
        return self.rows.s * f[self.rows.points] - self.rows.t


class _Monitor(ConvergenceMonitor):
    """Convergence monitor of a run, whose solutions have the best margin and bias."""

    def __init__(self, problem: MarginProblem, nu: float, limits: Limits) -> None:
        size = size_of_variable_margin(problem, nu)
        # At this margin the objective at f = 0 is the unit of relative errors.
        reference = (
            0.0 if isinstance(problem.rows, Tube) else size / (float(problem.costs.sum()) or 1.0)
        )
        super().__init__(
            NAME,
            set_margin(problem, reference),
            limits,
            limits.max_iter or MAX_STEPS,
            CHECKS_WITHOUT_PROGRESS,
        )
        # The clock runs: this computes K.
        self.run = _VariableMarginRun(problem, nu, limits.n_jobs)

    @property
    def is_slow(self) -> bool:
        """True if the gap was last halved some checks ago."""
        return self._record.slow > 0 and self._record.slow % CHECKS_BEFORE_FACE == 0

    def limit_of_steps(self) -> int:
        """Return the number of steps until the next check."""
        p = self.run.problem.p
        steps = min(STEPS_PER_CHECK + p, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // p + 1)
        return min(steps, self.max_iter - self.run.steps)

    def _found(self, point: CanonicalPoint, status: Status) -> VariableMarginSolution:
        run, alpha = self.run, np.asarray(point.multipliers)
        if not np.array_equal(alpha, run.multipliers):
            f = run.problem.gram @ run.problem.rows.rdot(alpha)
        else:
            f = run.f
        levels = run.levels(f)
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
    fast : Tiles
        K.
    """

    def __init__(self, fast: Tiles) -> None:
        self.fast, gram, m = fast, fast.gram, fast.gram.m
        self.everything = np.arange(m)
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
    def state(self) -> _RowCache:
        """Rows that are present, for compiled code."""
        return _RowCache(self.rows, self.place, self.used, self.clock)

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
        self.fast.block(np.array([point]), self.everything, self.rows[place : place + 1])
        self.owner[place], self.place[point] = point, place
        self.clock[0] += 1
        self.used[place] = self.clock[0]


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
    kept: _RowCache,
    rows: _Rows,
    diagonal: Array,
    alpha: Array,
    f: Array,
    ends: Index,
    steps: int,
    least: tuple[float, float],
) -> tuple[int, int]:
    """Take steps in place; return their number, and a point whose row is missing or -1.

    `least` has the least curvature, and the largest difference of G that is rounding.
    """
    for step in range(steps):
        best, i, j, d = 0.0, -1, -1, 0.0
        for part in range(ends.shape[0] - 1):
            own, low, top = _find_ends(rows, alpha, f, ends[part], ends[part + 1])
            if top > low + least[1]:
                k = _use(kept, rows.points[own])
                if k < 0:
                    return step, rows.points[own]
                other, decrease, size = _find_partner(
                    kept.values[k], rows, diagonal, alpha, f, own, low, ends[part : part + 2], least
                )
                if decrease > best:
                    best, i, j, d = decrease, own, other, size
        if i < 0:
            return step, -1
        k = _use(kept, rows.points[j])
        if k < 0:
            return step, rows.points[j]
        # A multiplier that reaches a bound is exactly there.
        d = min(d, min(rows.c[i] - alpha[i], alpha[j]))
        alpha[i] = rows.c[i] if d == rows.c[i] - alpha[i] else alpha[i] + d
        alpha[j] -= d
        plus, minus = kept.values[kept.place[rows.points[i]]], kept.values[k]
        change = rows.s[i] * d
        for z in range(f.shape[0]):
            f[z] += change * (plus[z] - minus[z])
    return steps, -1


@jit
def _find_ends(
    rows: _Rows, alpha: Array, f: Array, start: int, stop: int
) -> tuple[int, float, float]:
    """Return the row of the least G among alpha < c, its G, and the largest among alpha > 0."""
    own, low, top = -1, np.inf, -np.inf
    for r in range(start, stop):
        G = rows.s[r] * f[rows.points[r]] - rows.t[r]
        if alpha[r] < rows.c[r] and low > G:
            own, low = r, G
        if alpha[r] > 0.0 and top < G:
            top = G
    return own, low, top


@jit
def _find_partner(
    row: Array,
    rows: _Rows,
    diagonal: Array,
    alpha: Array,
    f: Array,
    own: int,
    low: float,
    ends: Index,
    least: tuple[float, float],
) -> tuple[int, float, float]:
    """Return the partner of a row of K, twice its decrease of the objective, and the step."""
    best, other, d = 0.0, -1, 0.0
    for r in range(ends[0], ends[1]):
        z = rows.points[r]
        difference = rows.s[r] * f[z] - rows.t[r] - low
        if alpha[r] > 0.0 and difference > least[1]:
            curvature = max(diagonal[rows.points[own]] + diagonal[z] - 2.0 * row[z], least[0])
            if difference * difference / curvature > best:
                best, other, d = difference * difference / curvature, r, difference / curvature
    return other, best, d


@jit
def _use(kept: _RowCache, point: int) -> int:
    """Return the place of a point's row of K and note its use; -1 if the row is missing."""
    place: int = kept.place[point]
    if place >= 0:
        kept.clock[0] += 1
        kept.used[place] = kept.clock[0]
    return place
