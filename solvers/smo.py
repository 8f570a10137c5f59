"""Sequential minimal optimisation for margin problems of one entry a row, with a bias.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2    s.t.  lower <= a <= upper,  1'a = 0

One number a_i a point, the sum of s_r alpha_r of its rows: a row with s_r = 1 is its part above 0, one with s_r = -1 the part below, so
that classification (one row a point) and the regression tube (two) are one problem. Pair steps a_i += delta, a_j -= delta on a working
set whose kernel block stays in the processor's cache, first in float32; from time to time Newton's method on the free points (`face.py`)
finishes what pair steps would take long for. Gradients of all points go through tiles of K that are never kept. The gap is that of
f = K a evaluated anew in float64; where float32 has led no further, the same method goes on in float64.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order information, JMLR 6 (2005), WSS 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from equimargin.formulations.bounds import interval
from equimargin.formulations.jit import jit
from equimargin.formulations.kernels import Array
from equimargin.formulations.problem import MarginProblem, Point, Problem
from equimargin.formulations.tiles import add_rows, tiles
from equimargin.solvers.progress import Progress, multipliers
from equimargin.solvers.solution import Limits, Solution, Status
from equimargin.solvers.working_set import NEVER, Index, best_partner, choose, moved, slopes

WHOLE = 1024
"""Up to so many points are one working set."""
SMALLEST_SET, LARGEST_SET = 512, 2048
CURVATURE_FLOOR = {np.dtype(np.float32): 1e-10, np.dtype(np.float64): 1e-12}
"""Smallest curvature of a pair, over the mean diagonal of K."""
PIECE = 10_000_000
"""Multiplications between two looks at the clock: a compiled kernel hears no interrupt either."""
FIRST_VIOLATION = 1e-3
"""Violation at which the gap is looked at first where it cannot be estimated, over half the range of z."""
UNBOUNDED = 1e16
"""A hard optimum above this, in units of spread^2 / mean K_ii, is a margin below double precision."""


def refusal(problem: Problem) -> str | None:
    """Why this problem is none of SMO's, in a sentence, or None."""
    if not isinstance(problem, MarginProblem):
        return "a linear program: linear_program"
    if not problem.bias_signs.all():
        return "there is no bias, so that no pair has to be moved together: coordinate_descent"
    if (problem.rows.absolute_dot(np.ones(problem.m)) != 1.0).any():
        return "rows with more than one entry: coordinate_descent"
    return None


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Pair steps and Newton's method until the estimated gap is small enough, the gap, and on in float64 until it is."""
    assert isinstance(problem, MarginProblem)
    with _BLAS.limit(limits=1, user_api="blas"):
        descent = _Descent(problem, warm_start, limits)
        progress = Progress("smo", problem, limits, limits.max_iter or 10_000_000 + 1000 * problem.p, descent.product)
        while True:
            descent.look()
            if descent.ready or progress.out_of_time or descent.steps >= progress.max_iter:
                if progress.show(descent.alpha, descent.steps, descent.violation):
                    break
                if descent.ended(progress):
                    break
                descent.correct(progress)
            descent.run(progress)
        return progress.solution()


_BLAS = ThreadpoolController()


class _Descent:
    """The multipliers a (m,) on their way down, and the gradient G = K a - z, in units in which K has a mean diagonal of 1 and z a spread of 1.

    lower, upper, z, width : (m,) as in the module's formula.  ridge : (2, m) below and above 0.  costs : (2, m) likewise.
    rise, fall : (m,) slopes to both sides.  violation : the largest fall above the least rise.  gap : estimated, relative.
    steps : pair steps so far.  tol : asked.  goal : estimated gap at which the true one is looked at.  eps : violation at which it is.
    """

    def __init__(self, problem: MarginProblem, start: Point | None, limits: Limits) -> None:
        self.problem, self.m, self.tol, self.n_jobs = problem, problem.m, limits.tol, 1
        rows, m = problem.rows, problem.m
        self.point = np.abs(rows.dot(np.arange(1.0, m + 1))).astype(np.intp) - 1
        self.above, self.below = np.flatnonzero(rows.s > 0), np.flatnonzero(rows.s < 0)
        z = rows.s * rows.t
        self.spread = float(np.ptp(z)) / 2 or 1.0
        self.unit = float(np.abs(problem.gram.diagonal).mean()) or 1.0
        self.scale = self.unit / self.spread
        targets = self._by_side(rows.s * (z - (z.max() + z.min()) / 2) / self.spread, np.nan)
        self.costs = self._by_side(problem.costs * self.scale, 0.0)
        box = self._by_side(problem.box * self.scale, 0.0)
        self.lower, self.upper = -box[0], box[1]
        ridge = np.zeros(problem.p)
        if problem.loss == "squared_hinge":
            np.divide(0.5 / self.unit, problem.costs, out=ridge, where=problem.costs > 0)
        self.ridge = self._by_side(ridge, 0.0)
        alone = np.isnan(targets)
        targets[0] *= -1.0
        targets = np.where(alone, targets[::-1], targets)
        self.z, self.width = targets.mean(axis=0), (targets[0] - targets[1]) / 2
        self.hard = np.isinf(problem.costs)
        self.claims = problem.convex
        self.rise, self.fall = np.empty(m), np.empty(m)
        self.a = np.zeros(m)
        self.G = -self.z
        self.dtype = np.dtype(np.float32 if self.claims and not self.hard.any() else np.float64)
        self.tiles = tiles(problem.gram, self.unit, self.dtype, self.n_jobs)
        if start is not None:
            alpha = rows.s * problem.repaired(multipliers(start, problem))
            np.add.at(self.a, self.point, alpha * self.scale)
            self.tiles.add_product(np.flatnonzero(self.a), self.a[self.a != 0], self.G)
        self.before = np.zeros(0, dtype=np.intp)
        self.steps, self.rounds = 0, 0
        self.goal, self.best = 0.9 * self.tol, np.inf
        self.K = None

    def _by_side(self, v: Array, missing: float) -> Array:
        """Numbers of rows, (p,), by their points, (2, m): of the rows below 0, of those above."""
        sides = np.full((2, self.m), missing)
        sides[0, self.point[self.below]], sides[1, self.point[self.above]] = v[self.below], v[self.above]
        return sides

    @property
    def alpha(self) -> Array:
        """alpha_r, (p,): the part of a_i above or below 0."""
        return np.maximum(self.problem.rows.s * self.a[self.point], 0.0) / self.scale

    def product(self, beta: Array) -> Array:
        """K beta in float64, (m,)."""
        if self.tiles.dtype != np.float64:
            self.exact = tiles(self.problem.gram, self.unit, np.float64, self.n_jobs)
        else:
            self.exact = self.tiles
        f, support = np.zeros(self.m), np.flatnonzero(beta)
        self.exact.add_product(support, beta[support] * self.unit, f)
        return f

    def look(self) -> None:
        """The slopes, the violation and an estimate of the gap."""
        sides = self.a, self.lower, self.upper, self.width, self.ridge
        self.least, self.most = slopes(self.G, *sides, self.rise, self.fall)
        self.violation = self.most - self.least
        self.free = (self.a > self.lower) & (self.a < self.upper) & ((self.a != 0.0) | (self.width <= 0.0))
        level = (self.least + self.most) / 2
        if self.free.any():
            level = float(np.clip((self.rise[self.free]).mean(), self.least, self.most))
        gap, dual = estimate(self.G, self.a, self.z, self.width, self.ridge, self.costs, level)
        self.gap = gap / max(abs(dual + gap), abs(dual), 1e-4 * self.problem.scale * self.scale / self.spread)

    @property
    def ready(self) -> bool:
        return self.gap <= self.goal or self.violation <= 0

    def ended(self, progress: Progress) -> bool:
        return False

    def correct(self, progress: Progress) -> None:
        """Go on in float64, from the gradient just computed."""
        if self.dtype == np.float32:
            self.dtype, self.tiles, self.K = np.dtype(np.float64), self.exact, None
        self.G = progress.f / self.spread - self.z
        self.goal *= 0.5
        self.look()

    def run(self, progress: Progress) -> None:
        """Pair steps on a working set."""
        self.rounds += 1
        whole = self.m <= WHOLE
        if whole:
            W = np.arange(self.m)
            if self.K is None:
                self.K = self.tiles.block(W, W)
            K = self.K
        else:
            size = min(max(self.m // 5, SMALLEST_SET), LARGEST_SET)
            W = choose(self.rise, self.fall, self.least, self.most, self.a, self.free, self.before, size)
            K = self.tiles.block(W, W)
            self.before = W
        a = self.a[W]
        eps = self.violation * min(max(0.5 * self.goal / self.gap, 0.1), 0.5)
        chunk = min(max(100, PIECE // len(W)), progress.max_iter - self.steps)
        level = (self.least + self.most) / 2
        done, self.inner = pair_steps(
            K, (self.G[W] - level).astype(K.dtype), a, self.lower[W], self.upper[W], self.width[W], self.ridge[:, W], K.diagonal().astype(np.float64),
            CURVATURE_FLOOR[K.dtype], eps, chunk,
        )
        self.steps += done
        delta = a - self.a[W]
        self.a[W] = a
        new = np.flatnonzero(delta)
        if whole:
            add_rows(K, new, delta[new], self.G, 0, self.m)
        else:
            self.tiles.add_product(W[new], delta[new], self.G)


@jit
def estimate(G: Array, a: Array, z: Array, width: Array, ridge: Array, costs: Array, level: float) -> tuple[float, float]:
    """The gap of f = K a with the bias -level, and the dual value."""
    gap, dual = 0.0, 0.0
    for k in range(G.size):
        dual += z[k] * a[k] - width[k] * abs(a[k]) - 0.5 * a[k] * (G[k] + z[k])
        for side in range(2):
            part = max(a[k], 0.0) if side == 1 else max(-a[k], 0.0)
            u = level - G[k] - width[k] if side == 1 else G[k] - width[k] - level
            c, r = costs[side, k], ridge[side, k]
            if c > 0.0:
                gap -= part * u
                if r > 0.0:
                    dual -= 0.5 * r * part**2
                    gap += 0.5 * max(u, 0.0) ** 2 / r + 0.5 * r * part**2
                elif u > 0.0:
                    gap += c * u
    return gap, dual


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
    i, violation = np.argmin(G + rise), np.inf
    for done in range(steps):
        here = diagonal[i] + (ridge[1, i] if a[i] >= 0.0 else ridge[0, i])
        slope, own = G[i] + rise[i], fall[i]
        fall[i] = -NEVER  # its curvature with itself is rounding only: it must not be its own partner
        j, worst = best_partner(G, fall, K[i], curvature, slope, G.dtype.type(here), G.dtype.type(floor), work)
        fall[i] = own
        violation = float(worst)
        if not violation > eps or j < 0:
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
