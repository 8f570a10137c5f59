"""Sequential minimal optimisation for margin problems of one entry a row, with a bias.

    max  t'alpha - 1/2 |A'alpha|_K^2 [ - sum_r alpha_r^2 / (4 c_r) ]    s.t.  s'alpha = 0,  0 <= alpha <= box

Row r is s_r e_{i(r)}: the two labels of classification, the two sides of the regression tube. In a_r = s_r alpha_r the signs are gone,

    max  z'a - 1/2 |f|^2 - 1/2 sum_r ridge_r a_r^2    s.t.  1'a = 0,  lower <= a <= upper,    f = K beta,  beta_i = sum of a_r with i(r) = i

with z_r = s_r t_r, and one step moves a pair, a_i += delta, a_j -= delta: i of largest gradient G_r = z_r - f_{i(r)} - ridge_r a_r among
the rows that may rise, j of largest gain (G_i - G_j)^2 / (K_ii + K_jj - 2 K_ij + ridge_i + ridge_j) among those that may fall. From time
to time Newton's method on the free rows (`face.py`) finishes what pair steps would take long for.

Source: R.-E. Fan, P.-H. Chen, C.-J. Lin, Working set selection using second order information, JMLR 6 (2005), WSS 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds import interval
from equimargin.formulations.jit import jit
from equimargin.formulations.kernels import Array, Gram
from equimargin.formulations.problem import MarginProblem, Point, Problem
from equimargin.solvers.face import climb, worth
from equimargin.solvers.progress import Progress, multipliers
from equimargin.solvers.solution import Limits, Solution, Status

Index = NDArray[np.int64]

CACHE_BYTES = 256 * 2**20
"""Kernel rows kept at a time; a Gram matrix that fits is kept whole."""
BATCH = 32
"""Kernel rows computed at a time."""
CURVATURE_FLOOR = 1e-12
"""Smallest curvature of a pair, over the mean diagonal of K."""
PIECE = 10_000_000
"""Multiplications between two looks at the clock: a compiled kernel hears no interrupt either."""
FIRST_VIOLATION = 1e-3
"""Violation at which the gap is looked at first, over half the range of z."""
UNBOUNDED = 1e16
"""A hard optimum above this, in units of spread^2 / mean K_ii, is a margin below double precision."""


def refusal(problem: Problem) -> str | None:
    """Why this problem is none of SMO's, in a sentence, or None."""
    if not isinstance(problem, MarginProblem):
        return "a linear program: linear_program"
    if not problem.bias_signs.all():
        return "there is no bias, so that no pair has to be moved together: coordinate_descent"
    if problem.rows.matrix.nnz != problem.p:
        return "rows with more than one entry: coordinate_descent"
    return None


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Pair steps to a violation, Newton's method on the free rows, the gap; with smaller violations until the gap is small enough."""
    assert isinstance(problem, MarginProblem)
    progress = Progress("smo", problem, limits, limits.max_iter or 10_000_000 + 1000 * problem.p)
    ascent = _Ascent(problem, warm_start)
    eps = max(FIRST_VIOLATION, limits.tol) * ascent.spread
    over = progress.show(ascent.alpha, 0)
    while not over:
        ascent.f = progress.f
        ascent.run(eps, progress)
        over = progress.show(ascent.alpha, ascent.steps, ascent.violation)
        if not over and problem.convex and ascent.newton(progress):
            over = progress.show(ascent.alpha, ascent.steps, ascent.violation)
        if not over and ascent.unbounded(progress) and np.isinf(interval(problem, Point(alpha=ascent.alpha)).upper):
            progress.end(Status.INFEASIBLE, f"no f meets the hard rows: the optimum is above {ascent.ray_value(progress):.0e}")
            break
        if over or ascent.violation > eps:
            continue
        if not problem.convex and ascent.violation <= limits.tol * ascent.spread:
            progress.end(Status.STATIONARY, f"the optimality conditions hold to {max(ascent.violation, 0.0):.2e}")
            break
        eps *= float(np.clip(0.3 * limits.tol / progress.gap, 0.01, 0.5)) if np.isfinite(progress.gap) else 0.1
        if problem.convex and np.isinf(progress.primal):
            eps = min(eps, ascent.tighten(0.25 * limits.tol * progress.dual))
    return progress.solution()


class _Ascent:
    """The signed multipliers a (p,) on their way up, and the kernel rows they have needed.

    z, lower, upper, ridge : (p,) as in the module's formula.  point : (p,) i(r).  f : (m,) K beta.  steps : pair steps so far.
    violation : largest G_i - G_j of a row that may rise and one that may fall.  spread : half the range of z, the unit of violations.
    unit : mean diagonal of K.  spent : pair steps when Newton's method was last tried.
    """

    def __init__(self, problem: MarginProblem, start: Point | None) -> None:
        self.problem, self.gram = problem, problem.gram
        self.point = problem.rows.matrix.indices.astype(np.int64)
        self.s, box = problem.bias_signs, problem.box
        self.z = self.s * problem.rows.t
        self.lower, self.upper = np.minimum(0.0, self.s * box), np.maximum(0.0, self.s * box)
        self.hard = np.isinf(problem.costs)
        self.ridge = np.zeros(problem.p)
        if problem.loss == "squared_hinge":
            np.divide(0.5, problem.costs, out=self.ridge, where=problem.costs > 0)
        self.unit = float(np.abs(self.gram.diagonal).mean()) or 1.0
        self.spread = float(np.ptp(self.z)) / 2 or 1.0
        self.cache = _Cache(self.gram)
        self.a = np.zeros(problem.p) if start is None else self.s * problem.repaired(multipliers(start, problem))
        self.f = np.zeros(problem.m)
        self.steps, self.spent, self.violation, self.tightening = 0, 0, np.inf, 1.0

    @property
    def alpha(self) -> Array:
        """alpha_r = s_r a_r, (p,)."""
        return self.s * self.a

    def run(self, eps: float, progress: Progress) -> None:
        """Pair steps until the violation is `eps`, a share of them is done, or the run's limits are met."""
        share = max(3 * self.problem.m, min(self.steps, 30_000_000 // self.problem.p), 1000)
        last = min(self.steps + share, progress.max_iter)
        while self.steps < last and not progress.out_of_time:
            chunk = min(last - self.steps, max(100, PIECE // self.problem.p))
            cache, floor = self.cache, CURVATURE_FLOOR * self.unit
            kernel = cache.K, cache.slot, cache.used, self.point, self.gram.diagonal, floor
            rows = self.z, self.lower, self.upper, self.ridge, self.a
            done, self.violation, missing = _pair_steps(*kernel, *rows, self.f, eps, self.steps, chunk)
            self.steps += done
            if missing >= 0:
                cache.fetch(missing, self._wanted())
            elif self.violation <= eps:
                break

    def newton(self, progress: Progress) -> bool:
        """Newton's method on the free rows where it is no dearer than the pair steps since it was last tried; whether it was tried."""
        free = np.flatnonzero((self.a > self.lower) & (self.a < self.upper))
        most = worth(len(free), (self.steps - self.spent) * self.problem.p)
        if not most:
            return False
        self.spent = self.steps
        at = self.point[free]
        H = self.gram.rows(at)[:, at]
        H[np.diag_indices(len(free))] += self.ridge[free]
        bounds, clock = (self.lower[free], self.upper[free]), lambda: progress.out_of_time
        self.a[free] = climb(H, self._gradient()[free], self.a[free], *bounds, True, most, clock)
        return True

    def tighten(self, cost: float) -> float:
        """Ask more of the hard rows, so that f meets them exactly where it now does up to rounding: how much more.

        The first time it raises the optimum by `cost`, each further time by four times more.
        """
        total = float(self.alpha[self.hard].sum())
        if total <= 0 or cost <= 0:
            return np.inf
        more = self.tightening * cost / total
        self.tightening *= 4.0
        self.z = self.s * (self.problem.rows.t + more * self.hard)
        return more

    def unbounded(self, progress: Progress) -> bool:
        """Whether the multipliers are a ray of the hard dual, as far as double precision can tell."""
        return self.problem.convex and bool(self.hard.any()) and self.ray_value(progress) > UNBOUNDED * self.spread**2 / self.unit

    def ray_value(self, progress: Progress) -> float:
        """The dual value of the best multiple of the multipliers, (t'alpha)^2 / (2 |A'alpha|_K^2)."""
        gain = max(progress.dual + progress.norm2 / 2, 0.0)
        return gain * (gain / max(2 * progress.norm2, 1e-300 + 1e-32 * gain * self.unit))

    def _gradient(self) -> Array:
        G: Array = self.z - self.f[self.point] - self.ridge * self.a
        return G

    def _wanted(self) -> Index:
        """Points whose rows violate optimality, the worst first: their kernel rows will be asked for soon."""
        G = self._gradient()
        rise, fall = self.a < self.upper, self.a > self.lower
        middle = (G[rise].max() + G[fall].min()) / 2
        excess = np.maximum(np.where(rise, G - middle, 0.0), np.where(fall, middle - G, 0.0))
        worst = np.argsort(-excess, kind="stable")[: 4 * BATCH]
        points: Index = self.point[worst[excess[worst] > 0]]
        return points


class _Cache:
    """Rows of K: all of them where they fit into CACHE_BYTES, else the most recently used.

    K : (slots, m).  slot : (m,) where the row of a point is, -1 if nowhere.  used : (slots,) step of the last use.
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        slots = min(gram.m, max(CACHE_BYTES // (8 * gram.m), 4))
        if slots == gram.m:
            self.K, self.slot = gram.dense, np.arange(gram.m)
        else:
            self.K, self.slot = np.empty((slots, gram.m)), np.full(gram.m, -1)
        self.used = np.full(slots, -1)

    def fetch(self, missing: int, wanted: Index) -> None:
        """Compute the row of `missing`, and with it rows of `wanted` points, in place of the least recently used."""
        absent = wanted[(self.slot[wanted] < 0) & (wanted != missing)]
        new = np.concatenate([[missing], list(dict.fromkeys(absent.tolist()))[: min(BATCH, len(self.K) // 2) - 1]]).astype(np.int64)
        old = np.argsort(self.used, kind="stable")[: len(new)]
        self.slot[np.isin(self.slot, old)] = -1
        self.K[old] = self.gram.rows(new)
        self.slot[new] = old
        self.used[old] = self.used.max(initial=0)


@jit
def _pair_steps(
    K: Array,
    slot: Index,
    used: Index,
    point: Index,
    diagonal: Array,
    floor: float,
    z: Array,
    lower: Array,
    upper: Array,
    ridge: Array,
    a: Array,
    f: Array,
    eps: float,
    clock: int,
    steps: int,
) -> tuple[int, float, int]:
    """Pair steps in place, until the violation is eps: the number done, the violation, and the point whose kernel row is missing or -1."""
    violation = np.inf
    for done in range(steps):
        i, top, bottom = -1, -np.inf, np.inf
        for r in range(z.size):
            g = z[r] - f[point[r]] - ridge[r] * a[r]
            if a[r] < upper[r] and g > top:
                i, top = r, g
            if a[r] > lower[r] and g < bottom:
                bottom = g
        violation = top - bottom
        if not violation > eps:
            return done, violation, -1
        if slot[point[i]] < 0:
            return done, violation, point[i]
        used[slot[point[i]]] = clock + done + 1  # the row of i must outlast the fetching of j's
        row = K[slot[point[i]]]
        here = diagonal[point[i]] + ridge[i]
        j, gain = -1, 0.0
        for r in range(z.size):
            rise = top - (z[r] - f[point[r]] - ridge[r] * a[r])
            if a[r] > lower[r] and rise > 0.0:
                curvature = max(here + diagonal[point[r]] + ridge[r] - 2.0 * row[point[r]], floor)
                if rise * rise > gain * curvature:
                    j, gain = r, rise * rise / curvature
        if slot[point[j]] < 0:
            return done, violation, point[j]
        other = K[slot[point[j]]]
        rise = top - (z[j] - f[point[j]] - ridge[j] * a[j])
        delta = rise / max(here + diagonal[point[j]] + ridge[j] - 2.0 * row[point[j]], floor)
        above, below = upper[i] - a[i], a[j] - lower[j]
        delta = min(delta, above, below)
        a[i] = upper[i] if delta == above else a[i] + delta  # a bound is met exactly: rounding must not leave the row free
        a[j] = lower[j] if delta == below else a[j] - delta
        for k in range(f.size):
            f[k] += delta * (row[k] - other[k])
        used[slot[point[j]]] = clock + done + 1
    return steps, violation, -1
