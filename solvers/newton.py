"""Newton's method for margin problems with a smooth loss, in the features of f.

    min over v = (w, b)   1/2 v'R v + sum_r c_r phi(u_r),    u = t - A Z v,    R = diag(1, ..., 1, r)

Z are the features and a column of ones for the bias; r is 0 where the bias is free and 1 where it is penalised. With multipliers
alpha_r = c_r phi'(u_r) and D_rr = c_r phi''(u_r) a step solves

    (R + Z'A'D A Z) s = Z'A'alpha - R v

by Cholesky, the matrix kept up to date row by row, or by conjugate gradients where that is cheaper, and goes to the minimum along s. The
objective is piecewise quadratic: once the pieces are right the next step ends at the optimum, and alpha are its multipliers.

Source: O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002); S. S. Keerthi,
D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 6 (2005); R. H. Byrd, G. M. Chin,
W. Neveitt, J. Nocedal, On the use of stochastic Hessian information in optimization methods for machine learning, SIAM Journal on
Optimization 21 (2011), for the Hessian of a part of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dposv

from equimargin.formulations.features import Explicit
from equimargin.formulations.jit import fast
from equimargin.formulations.kernels import Array
from equimargin.formulations.losses import SQUARED_HINGE, Smooth
from equimargin.formulations.problem import MarginProblem, Point, Problem
from equimargin.formulations.reductions import larger, smaller
from equimargin.solvers.progress import Progress, multipliers
from equimargin.solvers.solution import Limits, Solution

MOST_POINTS = 1000
"""A kernel without explicit features is taken up to so many points, whose Gram matrix is factorised."""
MOST_COLUMNS = 2000
"""The Hessian of more columns is never formed: conjugate gradients take its products."""
MOST_PRODUCTS, LOOSE = 500, 0.01
"""Conjugate gradients end after so many products with the Hessian, or at a residual of that much of the gradient."""
DAMPINGS = (0.0, *(10.0**k for k in range(-13, 1)))
"""Added to the diagonal of a Hessian that rounding has made indefinite, over itself, until it has a factor."""
FLAT = 1e-12
"""The curvature of a free bias is at least this, over that of all rows: it is 0 where every row is on a straight piece."""
PIECE = 2_000_000_000
"""Multiplications in a Hessian between two looks at the clock."""
NOISE = 1e-12
"""A step that lowers the objective by less, over itself, is not worth taking."""
SEARCH = 100
"""Looks at the objective along a direction, at most."""
WORTH = 1_000_000
"""For features of so many entries a start is sought on some of the points: Newton's method takes few steps anyway."""
PART, ROUGH = 100, 0.03
"""It is sought on so many points a column, to such a gap; so many rows a column are enough for a first Hessian, too."""


def refusal(problem: Problem) -> str | None:
    """Why this problem is none of Newton's, in a sentence, or None."""
    if isinstance(problem, MarginProblem) and problem.loss == "hinge" and not np.isinf(problem.C):
        return "the hinge has a kink: huber"
    return unsuited(problem)


def unsuited(problem: Problem) -> str | None:
    """Why this problem is none of a solver's in the features of f, in a sentence, or None."""
    if not isinstance(problem, MarginProblem):
        return "a linear program: linear_program"
    if np.isinf(problem.costs).any():
        return "hard rows (infinite costs), whose loss has no derivative: smo"
    if not problem.convex:
        return "the kernel matrix is not positive semidefinite"
    if problem.explicit is None and problem.m > MOST_POINTS:
        return f"{problem.m:,} points of a kernel without explicit features, more than the {MOST_POINTS:,} whose Gram matrix is factorised"
    return None


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Newton steps until the gap is small enough."""
    assert isinstance(problem, MarginProblem)
    progress = Progress("newton", problem, limits, limits.max_iter or 1000)
    descent = Descent(problem, warm_start or on_a_part(problem, _solve, limits, WORTH, PART))
    over = descent.show(progress, SQUARED_HINGE)
    while not over:
        descent.step(SQUARED_HINGE, progress)
        over = descent.show(progress, SQUARED_HINGE)
    return progress.solution()


def on_a_part(
    problem: MarginProblem, run: Callable[[Problem, Limits, Point | None], Solution], limits: Limits, worth: int, part: int
) -> Point | None:
    """A function to start from: a rough solution on some of the points at a larger cost, where points are many; None where they are few.

    Parameters
    ----------
    problem : any margin problem.  run : the solver.  limits : of which the time counts.  worth : entries of features that make it pay.
    part : points a column to solve on.
    """
    Z = problem.explicit
    stride = 0 if Z is None or Z.m * Z.q < worth else Z.m // (part * Z.q)
    if stride < 2:
        return None
    points = np.arange(0, problem.m, stride)
    rows, index = problem.rows.part(points)
    weights = None if problem.weights is None else problem.weights[index]
    few = replace(problem, X=problem.X[points], rows=rows, C=problem.C * problem.p / max(rows.p, 1), weights=weights)
    return replace(run(few, Limits(ROUGH, None, limits.time_limit), None).point, alpha=None)


class Descent:
    """v = (w, b) on its way down, and what follows from it.

    Z : (m, q) features.  R : (q,) as in the module's formula.  v : (q,).  u : (p,) slacks.
    steps : so far.  unsettled : shrinks with every step worth taking.
    loss, conjugate, hinge : sums over the rows as `Smooth.expanded` has them.
    alpha : (p,) multipliers, D : (p,) curvatures over phi's slope and G : (q,) gradient R v - Z'A'alpha, all of the loss last looked at.
    """

    def __init__(self, problem: MarginProblem, start: Point | None) -> None:
        self.problem, self.rows, self.c = problem, problem.rows, problem.costs
        if problem.explicit is None:
            self.Z = Explicit(problem.features(), problem.bias)
        else:
            self.Z = Explicit(problem.explicit.X, problem.explicit.constant or problem.bias)
        self.R = np.ones(self.Z.q)
        self.R[self.Z.q - problem.bias :] = 0.0
        self.steps, self.unsettled = 0, 1.0
        shape = (self.Z.q, self.Z.q) if self.Z.q <= MOST_COLUMNS else (0, 0)
        self._formed, self._factor = (np.zeros(problem.p), np.zeros(shape)), np.empty(shape)
        self._start(start or Point())

    def _start(self, start: Point) -> None:
        """The start's f and b: f = A'alpha where it has no function, and the best b where it has none."""
        problem, Z = self.problem, self.Z
        free = Z.q - problem.bias
        self.v, f = np.zeros(Z.q), np.zeros(Z.m)
        if start.w is not None:
            self.v[:free] = start.w
        elif start.alpha is not None:
            self.v[:free] = Z.rdot(problem.rows.rdot(problem.repaired(multipliers(start, problem))))[:free]
        if self.v.any():
            f = Z @ self.v
        b = problem.bias_at(f) if start.b is None else start.b
        self.v[free:] = b
        self.u = self.rows.slack(f + b)

    def look(self, phi: Smooth) -> None:
        """alpha, D and G of a loss."""
        self.loss, self.conjugate, self.hinge, self.alpha, self.D = phi.expanded(self.u, self.c)
        self.pull = self.Z.rdot(self.rows.rdot(self.alpha))
        self.G = self.R * self.v - self.pull

    def show(self, progress: Progress, phi: Smooth) -> bool:
        """Judge v with the multipliers of a loss; true if the run is over."""
        self.look(phi)
        problem, v, free = self.problem, self.v, self.Z.q - self.problem.bias
        if problem.explicit is None:
            return self._show_in_computed_features(progress)
        loss, conjugate = self.loss, self.conjugate
        if problem.loss == "hinge":
            loss, conjugate = self.hinge, 0.0
        alpha, pull = self.alpha, self.pull
        if problem.bias:
            alpha = problem.repaired(alpha)
            pull, conjugate = self.Z.rdot(self.rows.rdot(alpha)), float(problem.dual_ridge(alpha).sum())
        primal = float(v[:free] @ v[:free]) / 2 + loss
        dual = float(self.rows.t @ alpha) - float(pull[:free] @ pull[:free]) / 2 - conjugate
        point = Point(w=v[:free], b=float(v[free]) if problem.bias else 0.0, alpha=alpha)
        return progress.weigh(point, primal, dual, self.steps, self.unsettled)

    def _show_in_computed_features(self, progress: Progress) -> bool:
        """As `show`, where the kernel itself judges both sides."""
        problem, free, gram = self.problem, self.Z.q - self.problem.bias, self.problem.gram
        alpha, b = problem.repaired(self.alpha), float(self.v[free]) if problem.bias else 0.0
        point, pulled = problem.point_of_w(self.v[:free], b, alpha), self.rows.rdot(alpha)
        beta = np.zeros(problem.m) if point.beta is None else point.beta
        f = gram @ beta
        primal, dual = problem.primal(f, float(beta @ f), b), problem.dual(alpha, float(pulled @ (gram @ pulled)))
        return progress.weigh(point, primal, dual, self.steps, self.unsettled)

    def gradient_share(self, unit: float) -> float:
        """What G adds to the gap: half its square, and for a free bias the multipliers that are not balanced, at a slack of `unit`."""
        free = self.R == 0.0
        return float(self.G[~free] @ self.G[~free]) / 2 + unit * float(np.abs(self.G[free]).sum())

    def step(self, phi: Smooth, progress: Progress) -> None:
        """One Newton step for the loss last looked at, to the minimum along its direction."""
        s = self._direction(phi.slope, progress)
        if progress.out_of_time:
            return
        a = self.rows.dot(self.Z @ s)
        t = self._least(phi, s, a)
        if -t * float(self.G @ s) > NOISE * (self.loss + float(self.R * self.v @ self.v) / 2):
            self.unsettled /= 2
        self.v = self.v + t * s
        a *= t
        self.u -= a
        self.steps += 1

    def _least(self, phi: Smooth, s: Array, a: Array) -> float:
        """The minimum of the objective along s: the root of its derivative, which is piecewise linear and increasing.

        Newton's method in a bracket, or the secant, or the middle of the bracket where the one before would leave it or is slow.
        """
        vs, ss, first = float(self.R * self.v @ s), float(self.R * s @ s), float(self.G @ s)
        low, below, high, above = 0.0, first, np.inf, np.inf
        t, u = 1.0, phi.shifted(self.u)
        for look in range(SEARCH):
            d1, d2 = _slopes(u, a, self.c, t, phi.slope, phi.top)
            d1, d2 = vs + t * ss + d1, ss + d2
            if abs(d1) <= (0.1 if look == 0 else 1e-3) * abs(first):
                return t
            if d1 < 0:
                low, below = t, d1
            else:
                high, above = t, d1
            t = t - d1 / d2 if d2 > 0 else np.inf
            if not low < t < high:
                t = 2 * low if high == np.inf else (low + high) / 2 if look % 3 == 2 else low - below * (high - low) / (above - below)
        return low

    def _direction(self, slope: float, progress: Progress) -> Array:
        """The solution s of (R + slope Z'A'D A Z) s = -G, up to rounding or to a part of G."""
        by = self._by_cholesky if self.Z.q <= MOST_COLUMNS else self._by_conjugate_gradients
        return by(slope, progress)

    def _by_cholesky(self, slope: float, progress: Progress) -> Array:
        H = self._hessian(progress)
        diagonal = slope * H.diagonal() + self.R
        diagonal[self.R == 0.0] += FLAT * slope * float(self.c.sum())
        for damping in DAMPINGS:
            M = np.multiply(slope, H, out=self._factor)
            M.flat[:: len(diagonal) + 1] = diagonal * (1 + damping)
            _, s, wrong = dposv(M.T, -self.G, overwrite_a=1)
            if not wrong:
                return np.asarray(s)
        return -self.G / diagonal

    def _hessian(self, progress: Progress) -> Array:
        """Z'A'D A Z, (q, q): from the last one where few rows have changed; part of it when time is out.

        At 0, where all rows are on one piece of phi, far from where they will be, those of a part of them stand for all.
        """
        before, H = self._formed
        D = self.D if self.steps or self.v.any() else _part(self.D, PART * self.Z.q)
        change = D - before
        if 2 * np.count_nonzero(change) > np.count_nonzero(D):
            change, H = D, np.zeros((self.Z.q, self.Z.q))
        for part in _parts(change, max(PIECE // self.Z.q**2, 1)):
            H += self.rows.gram_weighted(self.Z, part)
            if progress.out_of_time:
                break
        self._formed = D, H
        return H

    def _by_conjugate_gradients(self, slope: float, progress: Progress) -> Array:
        flat = np.where(self.R == 0.0, FLAT * slope * float(self.c.sum()), self.R)
        s, r = np.zeros_like(self.v), -self.G
        d, r2 = r, float(r @ r)
        enough = LOOSE**2 * r2
        for _ in range(MOST_PRODUCTS):
            if r2 <= enough or progress.out_of_time:
                break
            Hd = flat * d + slope * self.rows.gram_product(self.Z, self.D, d)
            step = r2 / float(d @ Hd)
            s, r = s + step * d, r - step * Hd
            before, r2 = r2, float(r @ r)
            d = r + r2 / before * d
        return s


def _part(D: Array, size: int) -> Array:
    """D on at least so many of its entries, larger by as much as these are fewer; 0 on the others."""
    stride = max(int(np.count_nonzero(D)) // size, 1)
    some = np.zeros_like(D)
    some[::stride] = stride * D[::stride]
    return some


def _parts(D: Array, size: int) -> Iterator[Array]:
    """D as a sum of parts of at most so many entries."""
    if len(D) <= size:
        yield D
        return
    index = np.flatnonzero(D)
    for start in range(0, len(index), size):
        part = np.zeros_like(D)
        part[index[start : start + size]] = D[index[start : start + size]]
        yield part


@fast
def _slopes(u: Array, a: Array, c: Array, t: float, slope: float, top: float) -> tuple[float, float]:
    """The first and second derivative of sum_r c_r phi(u_r - t a_r) in t, u with phi's width added."""
    d1, d2 = 0.0, 0.0
    for r in range(u.size):
        z = slope * (u[r] - t * a[r])
        pull = c[r] * a[r]
        d1 -= smaller(larger(z, 0.0), top) * pull
        d2 += pull * a[r] if (z > 0.0) & (z < top) else 0.0
    return d1, slope * d2
