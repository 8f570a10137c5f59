"""Newton's method for margin problems with a smooth loss, in the features of f.

    min over v = (w, b)   1/2 v'R v + sum_r c_r phi(u_r),    u = t - A Z v,    R = diag(1, ..., 1, r)

Z are the features and a column of ones for the bias; r is 0 where the bias is free and 1 where it is penalised. With alpha_r = c_r phi'(u_r)
and D_rr = c_r phi''(u_r) a step solves

    (R + Z'A'D A Z) s = Z'A'alpha - R v

by Cholesky, the matrix kept up to date row by row, or by conjugate gradients where that is cheaper, and goes to the minimum along s. The
objective is piecewise quadratic: once the pieces are right the next step ends at the optimum, and alpha are its multipliers.

Source: O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002); S. S. Keerthi, D. DeCoste,
A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 6 (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.linalg.lapack import dposv

from equimargin.formulations.features import Explicit
from equimargin.formulations.jit import jit
from equimargin.formulations.kernels import Array
from equimargin.formulations.losses import SQUARED_HINGE, Smooth
from equimargin.formulations.problem import MarginProblem, Point, Problem
from equimargin.solvers.progress import Progress, multipliers
from equimargin.solvers.solution import Limits, Solution

MOST_POINTS = 1000
"""A kernel without explicit features is taken up to so many points, whose Gram matrix is factorised."""
MOST_COLUMNS = 3000
"""The Hessian of more columns is never formed."""
CG_STEPS = 30
"""Conjugate gradient steps that a direction is expected to take."""
FAST = 8.0
"""Multiplications in a matrix product for one in a matrix-vector product, as measured."""
LOOSEST = 0.1
"""Largest residual of a direction by conjugate gradients, over the gradient."""
DAMPING = 1e-13
"""Added to the diagonal of the Hessian, over itself, where rounding has made it indefinite; ten times more at each try."""
SEARCH = 50
"""Looks at the objective along a direction, at most."""
WORTH, PART, ROUGH = 1_000_000, 100, 0.01
"""For features of so many entries a start is sought on so many points a column, to such a gap."""


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
    descent = Descent(problem, warm_start or on_a_part(problem, _solve, limits))
    over = descent.show(progress, SQUARED_HINGE)
    while not over:
        descent.step(SQUARED_HINGE, progress)
        over = descent.show(progress, SQUARED_HINGE)
    return progress.solution()


def on_a_part(problem: MarginProblem, run: Callable[[Problem, Limits, Point | None], Solution], limits: Limits) -> Point | None:
    """A function to start from: a rough solution on some of the points at a larger cost, where points are many; None where they are few.

    Parameters
    ----------
    problem : with explicit features.  run : the solver.  limits : of which the time counts.
    """
    Z = problem.explicit
    stride = 0 if Z is None or Z.m * Z.q < WORTH else Z.m // (PART * Z.q)
    if stride < 2:
        return None
    points = np.arange(0, problem.m, stride)
    rows, index = problem.rows.part(points)
    weights = None if problem.weights is None else problem.weights[index]
    part = replace(problem, X=problem.X[points], rows=rows, C=problem.C * problem.p / rows.p, weights=weights)
    return replace(run(part, Limits(ROUGH, None, limits.time_limit), None).point, alpha=None)


class Descent:
    """v = (w, b) on its way down, and what follows from it.

    Z : (m, q) features.  R : (q,) as in the module's formula.  v : (q,).  u : (p,) slacks.  steps : so far.
    alpha : (p,) multipliers and G : (q,) gradient R v - Z'A'alpha of the loss last looked at.
    """

    def __init__(self, problem: MarginProblem, start: Point | None) -> None:
        self.problem, self.rows, self.c = problem, problem.rows, problem.costs
        Z = problem.explicit
        if Z is None:
            Z = Explicit(problem.features(), problem.bias)
        elif problem.bias:
            Z = Explicit(Z.X, True)
        self.Z, self.R = Z, np.ones(Z.q)
        self.R[Z.d :] = not problem.bias
        self.steps = 0
        self.curvature = _Curvature(self)
        self.move_to(self._first(start))

    def move_to(self, v: Array) -> None:
        """Take v, and all that follows."""
        self.v, self.u = v, self.rows.slack(self.Z @ v)

    def _first(self, start: Point | None) -> Array:
        """The start's f and b; those of its multipliers where it has no w."""
        problem, v = self.problem, np.zeros(self.Z.q)
        if start is None:
            return v
        w = start.w
        if w is None:
            w = self.Z.rdot(problem.rows.rdot(problem.repaired(multipliers(start, problem))))
        free = self.Z.q - problem.bias
        v[:free] = w[:free]
        v[free:] = start.b or 0.0
        return v

    def look(self, phi: Smooth) -> None:
        """alpha and G of a loss."""
        self.loss, self.conjugate, self.alpha, self.D = phi.expanded(self.u, self.c)
        self.G = self.R * self.v - self.Z.rdot(self.rows.rdot(self.alpha))

    def show(self, progress: Progress, phi: Smooth) -> bool:
        """Judge the point with its multipliers; true if the run is over."""
        self.look(phi)
        problem = self.problem
        size = float(np.abs(self.G).max(initial=0.0))
        if problem.explicit is None or problem.bias:
            return progress.show(self.alpha, self.steps, size)
        w = self.v - self.G
        primal, dual = float(self.v @ self.v) / 2 + self.loss, float(self.rows.t @ self.alpha) - float(w @ w) / 2 - self.conjugate
        return progress.weigh(Point(w=self.v, b=0.0, alpha=self.alpha), primal, dual, self.steps, size)

    def step(self, phi: Smooth, progress: Progress) -> None:
        """One Newton step, to the minimum along its direction."""
        s = self.curvature.direction(phi, -self.G, progress)
        self.go(phi, s)

    def go(self, phi: Smooth, s: Array) -> None:
        """To the minimum along s."""
        a = self.rows.dot(self.Z @ s)
        t = self._least(phi, s, a)
        self.v = self.v + t * s
        a *= t
        self.u -= a
        self.steps += 1

    def _least(self, phi: Smooth, s: Array, a: Array) -> float:
        """The minimum of the objective along s: Newton's method on its derivative, which is piecewise linear and increasing, in a bracket."""
        vs, ss = float(self.R * self.v @ s), float(self.R * s @ s)
        first = abs(float(self.G @ s))
        low, high, t = 0.0, np.inf, 1.0
        for tries in range(SEARCH):
            d1, d2 = _slopes(self.u, a, self.c, t, phi.slope, phi.width, phi.top)
            d1, d2 = vs + t * ss + d1, ss + d2
            if abs(d1) <= (0.1 if tries == 0 else 1e-3) * first:
                break
            low, high = (t, high) if d1 < 0 else (low, t)
            t = t - d1 / d2 if d2 > 0 else np.inf
            if not low < t < high:
                t = (low + high) / 2 if np.isfinite(high) else 2 * low
        return t


class _Curvature:
    """R + Z'A'D A Z of the rows where the loss is curved, kept up to date."""

    def __init__(self, descent: Descent) -> None:
        self.at = descent
        self.D: Array | None = None

    def direction(self, phi: Smooth, rhs: Array, progress: Progress) -> Array:
        return self.solve(self.at.D, phi.slope, rhs)

    def solve(self, D: Array, slope: float, rhs: Array) -> Array:
        """The solution s of (R + slope Z'A'D A Z) s = rhs."""
        at = self.at
        self._update(D)
        M = slope * self.H
        diagonal = M.diagonal() + at.R
        diagonal[at.Z.d :] += 1e-12 * slope * at.c.sum()
        damping = 0.0
        while True:
            M.flat[:: len(rhs) + 1] = diagonal * (1 + damping)
            _, s, wrong = dposv(M, rhs, lower=1)
            if not wrong:
                return np.asarray(s)
            damping = max(10 * damping, DAMPING)

    def _update(self, D: Array) -> None:
        """Z'A'D A Z, from the last one where few rows have changed."""
        if self.D is not None:
            changed = D - self.D
            if 2 * np.count_nonzero(changed) < np.count_nonzero(D):
                if changed.any():
                    self.H = self.H + self.at.rows.gram_weighted(self.at.Z, changed)
                self.D = D
                return
        self.D, self.H = D, self.at.rows.gram_weighted(self.at.Z, D)


@jit
def _slopes(u: Array, a: Array, c: Array, t: float, slope: float, width: float, top: float) -> tuple[float, float]:
    """The first and second derivative of sum_r c_r phi(u_r - t a_r) in t."""
    d1, d2 = 0.0, 0.0
    for r in range(u.size):
        z = slope * (u[r] - t * a[r] + width)
        d1 -= c[r] * min(max(z, 0.0), top) * a[r]
        if 0.0 < z < top:
            d2 += c[r] * a[r] * a[r]
    return d1, slope * d2
