"""Sequential minimal optimisation for margin problems of one entry a row, with a bias.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2    s.t.  lower <= a <= upper,  1'a = 0

One number a_i a point, the sum of s_r alpha_r of its rows: a row with s_r = 1 is its part above 0, one with s_r = -1 the part below, so
that classification (one row a point) and the regression tube (two) are one problem. Pair steps a_i += delta, a_j -= delta on a working
set whose kernel block stays in the processor's cache, first in float32; from time to time Newton's method on the free points
(`newton_on_face.py`) finishes what pair steps would take long for. Gradients of all points go through tiles of K that are never kept. The
gap is that of f = K a evaluated anew in float64; where float32 has led no further, the same method goes on in float64.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order information, JMLR 6 (2005), WSS 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from equimargin.formulations.bounds.intervals import interval
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.dual.newton_on_face import SMALL_FACE, climb, worth
from equimargin.solvers.dual.working_set import NEVER, Index, best_partner, choose, estimate, moved, seated, slopes, violators_outside
from equimargin.solvers.needs import Needs
from equimargin.solvers.products.tiles import add_rows, tiles
from equimargin.solvers.products.workspace import square
from equimargin.solvers.progress import WORK_BETWEEN_CLOCKS, Progress, multipliers, risen
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits, Solution, Status

WHOLE = 2048
"""Up to so many points are one working set."""
SMALLEST_SET = 512
LARGEST_SET = {np.dtype(np.float32): 6000, np.dtype(np.float64): 2000}
"""A set that leaves out free points is changed every time, and its block computed anew: 144 MB pay for themselves."""
RENEWED = 3
"""A block of which less than one part in so many is new is not computed anew but in its new rows and columns."""
CURVATURE_FLOOR = {np.dtype(np.float32): 1e-10, np.dtype(np.float64): 1e-12}
"""Smallest curvature of a pair, over the mean diagonal of K."""
SURE = 0.1
"""Points that are less far inside their margin, over half the range of z, are not worth the question whether that is for sure."""
FIRST_NEWTON = 0.003
"""Newton's method is left out while the gap is larger: the free points are still others than in the end."""
MOST_FREE = 4000
"""Newton's method is left out where more points are free."""
SHARE = 5
"""Pair steps of a working set between two tries of Newton's method, in sizes of the set, at least."""
FIRST_VIOLATION = 1e-3
"""Violation at which the gap is looked at first where it cannot be estimated, over half the range of z."""
MOST_STEPS = 100
"""Pair steps a point in float32, at most: a problem that takes more is one for Newton's method in float64."""
PATIENCE = 6
"""The gap is computed anew after so many rounds without progress."""
UNBOUNDED = 1e16
"""A hard optimum above this, in units of spread^2 / mean K_ii, is a margin below double precision."""


NEEDS = Needs(MarginProblem, bias="so that no pair has to be moved together", single_entries=True)


@solver(
    "smo",
    algorithm="sequential minimal optimisation, second-order working sets: one entry a row, with a bias",
    families=("svm.hard", "svm.soft", "svm.l2", "svr"),
    needs=NEEDS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """The optimum of one problem."""
    with _BLAS.limit(limits=1, user_api="blas"):
        return _descend(_Descent(problem, warm_start, limits), limits, warm_start is not None)


def _solve_grid(problems: Iterable[MarginProblem], limits: Limits) -> Iterator[Solution]:
    """The optima of problems that differ in C and weights, each from the one before where only C differs; blocks of K are kept."""
    descent: _Descent | None = None
    for problem in problems:
        with _BLAS.limit(limits=1, user_api="blas"):
            if descent is None:
                descent = _Descent(problem, None, limits)
            else:
                descent.turn_to(problem)
            yield _descend(descent, limits, False)


def _descend(descent: _Descent, limits: Limits, watched: bool) -> Solution:
    """Pair steps and Newton's method until the estimated gap is small enough, the gap, and on in float64 until it is.

    watched : whether the gap of the start is asked for, too; with a callback that of every round is.
    """
    progress = Progress("smo", descent.problem, limits, limits.max_iter or 10_000_000 + 1000 * descent.problem.p, descent.product)
    descent.look()
    watched = watched or limits.callback is not None
    while True:
        if watched or descent.ready or progress.out_of_time or descent.steps >= progress.max_iter:
            before, stuck = progress.gap, descent.stuck
            over = progress.show(descent.alpha, descent.steps, descent.violation)
            descent.refresh(progress)
            if over or descent.ended(progress):
                break
            if stuck or descent.ready or progress.gap > 0.1 * before:
                descent.correct(progress)
            watched = limits.callback is not None
        descent.run(progress)
        descent.newton(progress)
    return progress.solution()


_BLAS = ThreadpoolController()


class _Descent:
    """The multipliers a (m,) on their way down, and the gradient G = K a - z.

    Units are such that K has a mean diagonal of 1 and z half a range of 1: a = alpha x scale, f = K a x spread.
    lower, upper, z, width : (m,) as in the module's formula.  ridge, costs : (2, m) of the rows below and above 0.
    rise, fall, free : (m,) slopes to both sides, and where they are equal.  level : of the free points, minus the bias.
    violation : the largest slope to fall above the least to rise.  gap : relative, estimated.  steps : pair steps so far.
    drift : sum of all |changes of a| since G was computed anew at every point, inf while it has not been.
    goal : the estimated gap, and eps the violation, at which the true gap is looked at.
    least_value : of what gaps are relative to.  most_value : twice the primal one at 0; a larger dual value is rounding.
    best, reached, idle : the least gap and the largest dual value since the true gap was last found too large, and how many rounds have not
    led on.
    K : the kernel matrix of few points.  before, block : the last working set.
    work, price, pace : work since Newton's method was last tried, that of the last round, and by how much it lowered log gap.
    """

    def __init__(self, problem: MarginProblem, start: Point | None, limits: Limits) -> None:
        self.m, self.tol = problem.m, limits.tol
        rows, m = problem.rows, problem.m
        self.point = np.abs(rows.dot(np.arange(1.0, m + 1))).astype(np.intp) - 1
        self.above, self.below = np.flatnonzero(rows.s > 0), np.flatnonzero(rows.s < 0)
        z = rows.s * rows.t
        self.spread, self.middle = float(np.ptp(z / 2)) or 1.0, float(z.max()) / 2 + float(z.min()) / 2
        self.unit = problem.gram.mean_diagonal
        self.scale = self.unit / self.spread
        self.claims = problem.convex
        self.rise, self.fall, self.free = np.empty(m), np.empty(m), np.empty(m, dtype=bool)
        self.exact = tiles(problem.gram, self.unit, limits.n_jobs)
        self.single = self.exact.single()
        self.a, self.drift = np.zeros(m), 0.0
        self.before = np.zeros(0, dtype=np.intp)
        self.K: Any = None
        self.block: Any = None
        self._start(problem)
        self.G = -self.z
        if start is not None:
            alpha = multipliers(start, problem)
            inside = (problem.box > 0) & (alpha > 0)
            alpha = alpha * min(1.0, float((problem.box[inside] / alpha[inside]).min(initial=1.0)))  # shrunk into a smaller box
            np.add.at(self.a, self.point, rows.s * problem.repaired(alpha) * self.scale)
            self.drift = np.inf

    def _start(self, problem: MarginProblem) -> None:
        """What depends on the costs, and the counters of a run."""
        self.problem = problem
        self.costs = self._by_side(problem.costs * self.scale, 0.0)
        box = self._by_side(problem.box * self.scale, 0.0)
        self.lower, self.upper = -box[0], box[1]
        ridge = np.zeros(problem.p)
        if problem.loss == "squared_hinge":
            np.divide(0.5 / self.unit, problem.costs, out=ridge, where=problem.costs > 0)
        self.ridge = self._by_side(ridge, 0.0)
        self.z, self.width = self._targets(problem.rows.t)
        self.hard = np.isinf(problem.costs)
        at_0 = problem.scale * self.scale / self.spread
        self.least_value, self.most_value = 1e-4 * at_0, np.inf if self.hard.any() else 2.0 * at_0
        self._work_in(np.dtype(np.float32 if self.claims and not self.hard.any() else np.float64))
        self.steps, self.price, self.pace = 0, 0, 0.0
        self.goal, self.best, self.reached, self.idle = 0.9 * self.tol, np.inf, -np.inf, 0
        self.spent, self.work, self.tightening, self.eps = 0, 0, 1.0, max(FIRST_VIOLATION, self.tol)

    def _work_in(self, dtype: np.dtype[Any]) -> None:
        """Take pair steps in this precision; blocks in another are forgotten."""
        self.dtype, self.tiles = dtype, self.single if dtype == np.float32 else self.exact
        for K in (self.K, self.block):
            if K is not None and K.dtype != dtype:
                self.K = self.block = None

    def turn_to(self, problem: MarginProblem) -> None:
        """Go on with the same problem at another C, its multipliers and f multiplied by the ratio; with other weights from 0."""
        ratio = problem.C / self.problem.C if problem.weights is self.problem.weights else 0.0
        f = self.G + self.z
        self._start(problem)
        self.a, self.drift = np.clip(ratio * self.a, self.lower, self.upper), ratio * self.drift
        self.G = ratio * f - self.z

    def _by_side(self, v: Array, missing: float) -> Array:
        """Numbers of rows, (p,), by their points, (2, m): of the rows below 0, of those above."""
        sides = np.full((2, self.m), missing)
        sides[0, self.point[self.below]], sides[1, self.point[self.above]] = v[self.below], v[self.above]
        return sides

    def _targets(self, t: Array) -> tuple[Array, Array]:
        """z and width, (m,): the middle of z_r = s_r t_r on both sides of a point and half their distance, or the z_r of its one row."""
        below, above = self._by_side((self.problem.rows.s * t - self.middle) / self.spread, np.nan)
        below, above = np.where(np.isnan(below), above, below), np.where(np.isnan(above), below, above)
        return (below + above) / 2, (below - above) / 2

    @property
    def alpha(self) -> Array:
        """alpha_r, (p,): the part of a_i above or below 0."""
        return np.maximum(self.problem.rows.s * self.a[self.point], 0.0) / self.scale

    def product(self, beta: Array) -> Array:
        """K beta in float64, (m,).

        Points whose multipliers are 0 keep their value of the run where it cannot be off by as much as they are inside their margin at the
        best bias: their loss is 0 for sure, so that the gap is that of values all computed anew. Where rows are hard, K beta is computed
        to the last bit as anybody else does, so that they are met for all.
        """
        if self.hard.any():
            return self.problem.gram @ beta
        f, support, error = (self.G + self.z) * self.spread, np.flatnonzero(beta), self.drift * self.exact.resolution * self.spread
        fresh = np.zeros(self.m, dtype=bool)
        unsure = (self.a != 0) | (np.minimum(self.rise - self.level, self.level - self.fall) * self.spread <= error + SURE * self.spread)
        while unsure.any():
            fresh |= unsure
            f[unsure] = self.exact.product(support, beta[support] * self.unit, np.flatnonzero(unsure))
            slack = self._by_side(self.problem.slack(f, self.problem.bias_at(f)), -np.inf).max(axis=0)
            unsure = ~fresh & (slack >= -error)
        if fresh.all():
            self.drift = 0.0
        return f

    def look(self) -> None:
        """The slopes, the violation and an estimate of the gap."""
        sides = self.a, self.lower, self.upper, self.width, self.ridge
        self.least, self.most, self.level = slopes(self.G, *sides, self.rise, self.fall, self.free)
        self.violation = self.most - self.least
        gap, dual = estimate(self.G, self.a, self.z, self.width, self.ridge, self.costs, self.level)
        size = max(abs(dual + gap), abs(dual), self.least_value)
        self.gap = gap / size if np.isfinite(gap) and size > 0 else np.inf
        lead = risen(dual, self.reached, 0.01 * gap, abs(dual)) if np.isfinite(gap) else self.violation < 0.9 * self.best
        self.idle = PATIENCE if dual > self.most_value else 0 if lead or self.gap < 0.9 * self.best else self.idle + 1
        self.best = min(self.best, self.gap if np.isfinite(gap) else self.violation)
        self.reached = max(self.reached, dual)

    @property
    def ready(self) -> bool:
        """Whether it is time to compute the gap: by its estimate, or where there is none by the violation; or for want of progress."""
        close = self.violation <= self.eps if self.hard.any() or not self.claims else self.gap <= self.goal
        return close or self.violation <= 0 or self.stuck

    @property
    def stuck(self) -> bool:
        """Whether pair steps in this precision have ceased to lead on, or would take too many."""
        return self.idle >= PATIENCE or (self.dtype == np.float32 and self.steps > MOST_STEPS * self.m)

    def ended(self, progress: Progress) -> bool:
        """Whether there is nothing more to find: no optimum, or none that could be told from a stationary point."""
        if self.hard.any() and self.unbounded(progress) and np.isinf(interval(self.problem, Point(alpha=self.alpha)).upper):
            progress.end(Status.INFEASIBLE, f"no f meets the hard rows: the optimum is above {self.ray_value(progress):.0e}")
        elif not self.problem.convex and self.violation <= self.tol:
            progress.end(Status.STATIONARY, f"the optimality conditions hold to {max(self.violation, 0.0):.2e}")
        return progress.status is not None

    def correct(self, progress: Progress) -> None:
        """Go on in float64, to a smaller gap; from 0 where rounding has led to less than that."""
        if self.dtype == np.float32:
            self._work_in(np.dtype(np.float64))
        if self.claims and progress.dual < 0.0:
            self.a, self.G, self.drift = np.zeros(self.m), -self.z, 0.0
        self.eps *= float(np.clip(0.3 * self.tol / progress.gap, 0.01, 0.5)) if np.isfinite(progress.gap) else 0.1
        self.goal = max(0.5 * self.goal, 1e-3 * self.tol)
        if self.problem.convex and np.isinf(progress.primal):
            self.tighten(0.25 * self.tol * progress.dual)
        self.best, self.reached, self.idle = np.inf, -np.inf, 0
        self.look()

    def refresh(self, progress: Progress) -> None:
        """Take the gradient just computed."""
        self.G = progress.f / self.spread - self.z
        self.look()

    def tighten(self, cost: float) -> None:
        """Ask more of the hard rows, so that f meets them exactly where it now does up to rounding.

        The first time it raises the optimum by `cost`, each further time by four times more.
        """
        total = float(self.alpha[self.hard].sum())
        if total <= 0 or cost <= 0:
            return
        more = self.tightening * cost / total
        self.tightening *= 4.0
        self.eps = min(self.eps, more / self.spread)
        f = self.G + self.z
        self.z, self.width = self._targets(self.problem.rows.t + more * self.hard)
        self.G = f - self.z

    def unbounded(self, progress: Progress) -> bool:
        """Whether the multipliers are a ray of the hard dual, as far as double precision can tell."""
        return self.problem.convex and self.ray_value(progress) * self.scale > UNBOUNDED * self.spread

    def ray_value(self, progress: Progress) -> float:
        """The dual value of the best multiple of the multipliers, (t'alpha)^2 / (2 |A'alpha|_K^2)."""
        gain = max(progress.dual + progress.norm2 / 2, 0.0)
        return gain * (gain / max(2 * progress.norm2, 1e-300 + 1e-32 * gain * self.unit))

    def newton(self, progress: Progress) -> None:
        """Newton's method on the free points where it is no dearer than the pair steps since it was last tried."""
        free = np.flatnonzero(self.free)
        most = self._affordable(len(free))
        if not most or not self.problem.convex:
            return
        a = self.a[free]
        H = self.tiles.block(free, free, square("face", len(free), self.dtype)) if self.K is None else self.K[np.ix_(free, free)]
        H[np.diag_indices(len(free))] += np.where(a > 0, self.ridge[1, free], self.ridge[0, free]).astype(H.dtype)
        lower, upper = np.where(a > 0, 0.0, self.lower[free]), np.where(a < 0, 0.0, self.upper[free])
        new = climb(H, self.level - self.rise[free], a, lower, upper, True, most, lambda: progress.out_of_time)
        started = self.work
        self._move(free, new)
        self.spent, self.work = self.work - started + 4 * len(free) ** 2, 0
        self.look()

    def _affordable(self, n: int) -> int:
        """How many factorisations of n free points are worth trying now: some, if they cost less than the pair steps that seem to be left.

        Work is in units of what a pass of pair steps spends on a point, as measured.
        """
        if self.dtype == np.float64 and n <= SMALL_FACE:
            return worth(n, self.work // 8)
        once, each = 600_000 + 8 * n**2 + (0 if self.K is not None else 4 * n * self.m), 200_000 + 8 * n**2 + n**3 // 36
        cost = once + 3 * each
        if not 2 <= n <= MOST_FREE or self.gap > FIRST_NEWTON or self.work < 2 * self.spent:
            return 0
        ahead = self.price * float(np.log(max(self.gap, self.goal) / self.goal)) / max(self.pace, 0.05)
        return 8 if cost < ahead else 0

    def _move(self, points: Index, a: Array, K: Any = None) -> None:
        """Put new multipliers in place, and the gradient after them; K is the block of these points, if it is at hand."""
        delta = a - self.a[points]
        moved = np.flatnonzero(delta)
        self.drift += float(np.abs(delta).sum())
        self.a[points] = a
        if self.K is not None:
            add_rows(self.K, points[moved], delta[moved], self.G, 0, self.m)
        elif K is None:
            self.tiles.add_product(points[moved], delta[moved], self.G)
            self.work += 3 * len(moved) * self.m
        else:
            G, others = self.G[points], np.ones(self.m, dtype=bool)
            add_rows(K, moved, delta[moved], G, 0, len(points))
            others[points] = False
            self.G[points] = G
            self.G[others] += self.tiles.product(points[moved], delta[moved], np.flatnonzero(others))
            self.work += 3 * len(moved) * (self.m - len(points))

    def _working_set(self) -> tuple[Index, Any]:
        """The points of the next pair steps and their block of K: all if they are few, else a set, kept while it holds all violators."""
        if self.m <= WHOLE:
            if self.K is None:
                self.before = np.arange(self.m)
                self.K = self.tiles.block(self.before, self.before, square("set", self.m, self.dtype))
            return self.before, self.K
        if self.block is None or violators_outside(self.rise, self.fall, self.level, 0.1 * self.violation, self.before):
            wanted, kept = max(self.m // 10, SMALLEST_SET) + int(np.count_nonzero(self.free)), self.before
            size = min(wanted if wanted > 1.1 * len(kept) else len(kept), LARGEST_SET[self.dtype])
            W = choose(self.rise, self.fall, self.least, self.most, self.a, self.free, kept, size)
            self.before, places = seated(W, kept)
            if self.block is None or len(kept) != len(W) or len(places) > len(W) // RENEWED:
                self.before, self.block = W, None  # its memory is free for the next
                self.block = self.tiles.block(self.before, self.before, square("set", len(W), self.dtype))
                self.work += 4 * len(W) ** 2
            else:
                self.tiles.renew(self.block, self.before, places)
                self.work += 8 * len(W) * len(places)
        return self.before, self.block

    def run(self, progress: Progress) -> None:
        """Pair steps on a working set."""
        W, K = self._working_set()
        started = self.work
        a = self.a[W]
        eps = self.violation * min(max(0.5 * self.goal / max(self.gap, self.goal), 0.03), 0.5)
        G, limit = (self.G[W] - self.level).astype(K.dtype), max(SHARE * len(W), 1000, self.steps // 2 if K.dtype == np.float32 else 0)
        rows = a, self.lower[W], self.upper[W], self.width[W], self.ridge[:, W], K.diagonal().astype(np.float64)
        done = 0
        while done < limit and self.steps < progress.max_iter and not progress.out_of_time:
            chunk = min(max(100, WORK_BETWEEN_CLOCKS // len(W)), limit - done, progress.max_iter - self.steps)
            steps, violation = pair_steps(K, G, *rows, CURVATURE_FLOOR[K.dtype], eps, chunk)
            done, self.steps = done + steps, self.steps + steps
            if violation <= eps or steps < chunk:
                break
        self.work += done * (2 * len(W) + 600)
        self._move(W, a, K)
        before = self.gap
        self.look()
        self.price = self.work - started
        self.pace = float(np.log(before / self.gap)) if 0.0 < self.gap < before < np.inf else 0.0


@jit
def rising(a: float, upper: float, width: float, below: float, above: float) -> float:
    """The slope of the separable part where a grows."""
    if a >= upper:
        return NEVER
    return width + above * a if a >= 0.0 else below * a - width


@jit
def falling(a: float, lower: float, width: float, below: float, above: float) -> float:
    """The slope of the separable part where a shrinks."""
    if a <= lower:
        return -NEVER
    return width + above * a if a > 0.0 else below * a - width


@jit
def pair_steps(
    K: Any,
    G: Any,
    a: Array,
    lower: Array,
    upper: Array,
    width: Array,
    ridge: Array,
    diagonal: Array,
    floor: float,
    eps: float,
    steps: int,
) -> tuple[int, float]:
    """Pair steps in place, until the violation is eps: their number and the violation. K : (q, q) and G : (q,) of one precision."""
    rise, fall, curvature, work = np.empty_like(G), np.empty_like(G), np.empty_like(G), np.empty_like(G)
    for k in range(a.size):
        rise[k] = rising(a[k], upper[k], width[k], ridge[0, k], ridge[1, k])
        fall[k] = falling(a[k], lower[k], width[k], ridge[0, k], ridge[1, k])
        curvature[k] = diagonal[k] + (ridge[1, k] if a[k] > 0.0 else ridge[0, k])
    i: Any = np.argmin(G + rise)
    violation = np.inf
    for done in range(steps):
        if i >= a.size:  # nothing is least among numbers that are none
            return done, np.inf
        here = diagonal[i] + (ridge[1, i] if a[i] >= 0.0 else ridge[0, i])
        slope, own = G[i] + rise[i], fall[i]
        fall[i] = -NEVER  # its curvature with itself is rounding only: it must not be its own partner
        j, worst = best_partner(G, fall, K[i], curvature, slope, G.dtype.type(here), G.dtype.type(floor), work)
        fall[i] = own
        violation = float(worst)
        if not violation > eps or not 0 <= j < a.size:
            return done, violation
        delta = float(G[j] + fall[j] - slope) / max(here + float(curvature[j]) - 2.0 * float(K[i, j]), floor)
        top, bottom = (upper[i] if a[i] >= 0.0 else 0.0), (lower[j] if a[j] <= 0.0 else 0.0)
        up, down = top - a[i], a[j] - bottom
        delta = min(delta, up, down)
        a[i] = top if delta == up else a[i] + delta  # an end is met exactly: rounding must not leave the point free
        a[j] = bottom if delta == down else a[j] - delta
        for k in (i, j):
            rise[k] = rising(a[k], upper[k], width[k], ridge[0, k], ridge[1, k])
            fall[k] = falling(a[k], lower[k], width[k], ridge[0, k], ridge[1, k])
            curvature[k] = diagonal[k] + (ridge[1, k] if a[k] > 0.0 else ridge[0, k])
        i = moved(G, rise, K[i], K[j], G.dtype.type(delta), work)
    return steps, violation
