"""Newton's method for margin problems with a smooth loss, in the features of f.

    min over v = (w, b)   1/2 v'R v + sum_r c_r phi(u_r),    u = t - A Z v,    R = diag(1, ..., 1, r)

Z are the features and a column of ones for the bias; r is 0 where the bias is free and 1 where it is penalised. With multipliers
alpha_r = c_r phi'(u_r) and D_rr = c_r phi''(u_r) a step solves

    (R + Z'A'D A Z) s = Z'A'alpha - R v

by Cholesky, the matrix kept up to date row by row, or by conjugate gradients where that is cheaper, and goes to the minimum along s. The
objective is piecewise quadratic: once the pieces are right the next step ends at the optimum, and alpha are its multipliers.

Source: O. L. Mangasarian, A finite Newton method for classification, Optimization Methods and Software 17 (2002); S. S. Keerthi,
D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 6 (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dposv

from equimargin.formulations.features import Explicit
from equimargin.formulations.kernels import Array
from equimargin.formulations.losses import SQUARED_HINGE, Smooth
from equimargin.formulations.problem import MarginProblem, Point, Problem
from equimargin.formulations.slacks import Line, Slacks
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
PART, STAGE = 100, 20
"""It is sought on so many points a column, or on one in so many, to a gap of a column over these points."""


def refusal(problem: Problem) -> str | None:
    """Why this problem is none of Newton's, in a sentence, or None."""
    if isinstance(problem, MarginProblem) and problem.loss == "hinge" and not np.isinf(problem.C):
        return "the hinge has a kink: huber"
    return unsuited(problem)


def unsuited(problem: Problem) -> str | None:
    """Why this problem is none of a solver's in the features of f, in a sentence, or None."""
    if not isinstance(problem, MarginProblem):
        return "a linear program: linear_program"
    if np.isinf(problem.group_costs).any():
        return "hard rows (infinite costs), whose loss has no derivative: smo"
    if not problem.convex:
        return "the kernel matrix is not positive semidefinite"
    if problem.explicit is None and problem.m > MOST_POINTS and problem.bias:
        return f"a bias beside {problem.m:,} points of a kernel without explicit features, more than {MOST_POINTS:,}"
    return None


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Newton steps until the gap is small enough."""
    assert isinstance(problem, MarginProblem)
    progress = Progress("newton", problem, limits, limits.max_iter or 1000)
    descent = descent_for(problem, warm_start or on_a_part(problem, _solve, limits, WORTH), by_row=False)
    over = descent.show(progress, SQUARED_HINGE)
    while not over:
        descent.step(SQUARED_HINGE, progress)
        over = descent.show(progress, SQUARED_HINGE)
    return progress.solution()


def descent_for(problem: MarginProblem, start: Point | None, by_row: bool) -> Descent:
    """In the features of f where it has some or few points, in the norm of its space otherwise; the parameters are those of Descent."""
    from equimargin.solvers.rkhs import KernelDescent

    kind = Descent if problem.explicit is not None or problem.m <= MOST_POINTS else KernelDescent
    return kind(problem, start, by_row)


def on_a_part(problem: MarginProblem, run: Callable[[Problem, Limits, Point | None], Solution], limits: Limits, worth: int) -> Point | None:
    """A function to start from: a rough solution on some of the points at a larger cost, where points are many; None where they are few.

    Parameters
    ----------
    problem : any margin problem.  run : the solver.  limits : of which the time counts.  worth : entries of features that make it pay.
    """
    Z = problem.explicit
    if Z is None or Z.m * Z.q < worth:
        return None
    size = max(PART * Z.q, Z.m // STAGE)
    stride = Z.m // size
    if stride < 2:
        return None
    points = problem.rows.spaced(stride)
    rows, index = problem.rows.part(points)
    weights = None if problem.weights is None else problem.weights[index]
    part = replace(problem, X=problem.X[points], rows=rows, C=problem.C * problem.p / max(rows.p, 1), weights=weights)
    return replace(run(part, Limits(Z.q / size, None, limits.time_limit), None).point, alpha=None)


@dataclass(frozen=True, eq=False)
class Move:
    """A direction: s of the unknowns, h (m,) = Z s of the decision values, and R's products v's, s's and G's with it."""

    s: Array
    h: Array
    vs: float
    ss: float
    first: float


class Descent:
    """v = (w, b) on its way down, and what follows from it.

    Z : (m, q) features.  R : (q,) as in the module's formula.  v : (q,).  slacks : of the rows there.
    steps : so far.  unsettled : shrinks with every step worth taking.
    alpha : multipliers, D : curvatures over phi's slope and G : (q,) gradient R v - Z'A'alpha, all of the loss last looked at.

    Parameters
    ----------
    problem : any margin problem.  start : a point to start from.  by_row : whether pairs of labels are looked at one by one.
    """

    def __init__(self, problem: MarginProblem, start: Point | None, by_row: bool) -> None:
        self.problem, self.rows, self.by_row = problem, problem.rows, by_row
        self.steps, self.unsettled = 0, 1.0
        self.Z: Explicit | None = None
        self._start(start or Point())

    def _start(self, start: Point) -> None:
        """The start's f and b: f = A'alpha where it has no function, and the best b where it has none."""
        problem = self.problem
        if problem.explicit is None:
            Z = Explicit(problem.features(), problem.bias)
        else:
            Z = Explicit(problem.explicit.X, problem.explicit.constant or problem.bias)
        free = Z.q - problem.bias
        self.Z, self.R, self.v, f = Z, np.ones(Z.q), np.zeros(Z.q), np.zeros(Z.m)
        self.R[free:] = 0.0
        self._formed = np.zeros(0), np.zeros((Z.q, Z.q) if Z.q <= MOST_COLUMNS else (0, 0))
        if start.w is not None:
            self.v[:free] = start.w
        elif start.alpha is not None:
            self.v[:free] = Z.rdot(problem.rows.rdot(problem.repaired(multipliers(start, problem))))[:free]
        if self.v.any():
            f = Z @ self.v
        b = problem.bias_at(f) if start.b is None else start.b
        self.v[free:] = b
        self.slacks = self.slacks_at(f + b)

    def slacks_at(self, g: Array) -> Slacks:
        """The rows at decision values g (m,)."""
        return (self.rows.slacks_by_row if self.by_row else self.rows.slacks)(g, self.problem.group_costs)

    def look(self, phi: Smooth) -> None:
        """alpha, D and G of a loss."""
        seen = self.slacks.expanded(phi)
        self.loss, self.conjugate, self.alpha, self.D = seen.loss, seen.conjugate, seen.alpha, seen.D
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
            loss, conjugate = self.slacks.hinge(), 0.0
        alpha, pull = self.alpha, self.pull
        if problem.bias:
            alpha = problem.repaired(alpha)
            pull, conjugate = self.Z.rdot(self.rows.rdot(alpha)), float(problem.dual_ridge(alpha).sum())
        primal = float(v[:free] @ v[:free]) / 2 + loss
        dual = self.rows.gain(alpha) - float(pull[:free] @ pull[:free]) / 2 - conjugate
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

    @cached_property
    def _flat(self) -> float:
        """sum_r c_r FLAT where there is a free bias."""
        return FLAT * float(self.problem.costs.sum()) if self.problem.bias else 0.0

    def gradient_share(self, unit: float) -> float:
        """What G adds to the gap: half its square, and for a free bias the multipliers that are not balanced, at a slack of `unit`."""
        free = self.R == 0.0
        return float(self.G[~free] @ self.G[~free]) / 2 + unit * float(np.abs(self.G[free]).sum())

    def smoothing_share(self) -> float:
        """What a smoothed hinge adds to the gap: sum_r c_r (u_r)_+ - alpha_r u_r."""
        return self.slacks.hinge() - self.loss - self.conjugate

    def step(self, phi: Smooth, progress: Progress) -> None:
        """One Newton step for the loss last looked at, to the minimum along its direction."""
        move = self._move(phi.slope, progress)
        if progress.out_of_time:
            return
        line = self.slacks.along(move.h)
        t = self._least(phi, move, line)
        if -t * move.first > NOISE * (self.loss + self.half_norm2()):
            self.unsettled /= 2
        self.v = self.v + t * move.s
        self.slacks = line.to(t)
        self.steps += 1

    def half_norm2(self) -> float:
        """1/2 v'R v."""
        return float(self.R * self.v @ self.v) / 2

    def _least(self, phi: Smooth, move: Move, line: Line) -> float:
        """The minimum of the objective along a direction: the root of its derivative, which is piecewise linear and increasing.

        Newton's method in a bracket, or the secant, or the middle of the bracket where the one before would leave it or is slow.
        """
        low, below, high, above = 0.0, move.first, np.inf, np.inf
        t = 1.0
        for look in range(SEARCH):
            d1 = move.vs + t * move.ss + line.slope(phi, t)
            if abs(d1) <= (0.1 if look == 0 else 1e-3) * abs(move.first):
                return t
            d2 = move.ss + line.curvature(phi, t)
            if d1 < 0:
                low, below = t, d1
            else:
                high, above = t, d1
            t = t - d1 / d2 if d2 > 0 else np.inf
            if not low < t < high:
                t = 2 * low if high == np.inf else (low + high) / 2 if look % 3 == 2 else low - below * (high - low) / (above - below)
        return low

    def _move(self, slope: float, progress: Progress) -> Move:
        s = self._direction(slope, progress)
        return Move(s, self.Z @ s, float(self.R * self.v @ s), float(self.R * s @ s), float(self.G @ s))

    def _direction(self, slope: float, progress: Progress) -> Array:
        """The solution s of (R + slope Z'A'D A Z) s = -G, up to rounding or to a part of G."""
        by = self._by_cholesky if self.Z.q <= MOST_COLUMNS else self._by_conjugate_gradients
        return by(slope, progress)

    def _by_cholesky(self, slope: float, progress: Progress) -> Array:
        H = self._hessian(progress)
        diagonal = slope * H.diagonal() + self.R
        diagonal[self.R == 0.0] += slope * self._flat
        for damping in DAMPINGS:
            M = slope * H
            M.flat[:: len(diagonal) + 1] = diagonal * (1 + damping)
            _, s, wrong = dposv(M.T, -self.G, overwrite_a=1)
            if not wrong:
                return np.asarray(s)
        return -self.G / diagonal

    def _hessian(self, progress: Progress) -> Array:
        """Z'A'D A Z, (q, q): from the last one where few rows have changed; part of it when time is out."""
        if not isinstance(self.D, np.ndarray):
            return self.rows.gram_weighted(self.Z, self.D)
        before, H = self._formed
        change = self.D - before if len(before) else self.D
        if 2 * np.count_nonzero(change) > np.count_nonzero(self.D):
            change, H = self.D, np.zeros((self.Z.q, self.Z.q))
        for part in _parts(change, max(PIECE // self.Z.q**2, 1)):
            H = H + self.rows.gram_weighted(self.Z, part)
            if progress.out_of_time:
                break
        self._formed = self.D, H
        return H

    def _by_conjugate_gradients(self, slope: float, progress: Progress) -> Array:
        flat = np.where(self.R == 0.0, slope * self._flat, self.R)
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
