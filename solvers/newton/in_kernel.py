"""Newton's method in the kernel's norm, for problems without a bias.

    min over beta   1/2 beta'K beta + sum_r c_r phi(u_r),    u = t - A K beta

The gradient is K G with G = beta - A'alpha, and a step s solves (I + A'DA K) s = -G by
conjugate gradients, with one Gram product per iteration. The matrix is self-adjoint in
the inner product s'K s. The image K r of a residual therefore serves both the inner
product and the next direction, and neither K^2 nor a Hessian in beta is ever formed.
beta is 0 at points without rows, and these points are excluded.

The gap of beta and the multipliers alpha_r = c_r phi'(u_r) is 1/2 G'K G for a squared
hinge. The squared norm of the f of alpha is beta'K beta - 2 G'K beta + G'K G.

References
----------
Document K, (3.13).

O. Chapelle, S. S. Keerthi. Efficient algorithms for ranking with SVMs. Information
Retrieval 13 (2010), section 3, for the metric.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.slacks import Line, Slacks
from equimargin.solvers.newton.base import (
    MOST_PRODUCTS,
    Exactness,
    LossAtIterate,
    Move,
    NewtonIterate,
    Unknowns,
)
from equimargin.solvers.products.gram_products import GramProducts
from equimargin.solvers.progress import DualConvergenceMonitor, initial_function


@dataclass(frozen=True, eq=False)
class Coefficients(Unknowns):
    """Variables v = beta at the points used by a row, (n,).

    Parameters
    ----------
    points : ndarray of shape (n,)
        Points used by a row.
    K : GramProducts
        Products with K at these points; drops its float32 copy if that makes no
        progress.
    exactness : Exactness
        Tolerance of conjugate gradients.
    """

    points: Index
    K: GramProducts
    exactness: Exactness = field(default_factory=Exactness)

    @classmethod
    def of(cls, problem: MarginProblem, by_row: bool) -> Self:
        """Return the variables of a problem without a bias.

        Parameters
        ----------
        problem : MarginProblem
            Problem to solve.
        by_row : bool
            True to evaluate pairs of labels one by one.
        """
        points = problem.rows.touched
        return cls(problem, by_row, points, GramProducts(problem.gram, points))

    def start(self, point: Point) -> NewtonIterate:
        v = initial_function(point, self.problem)[self.points]
        return NewtonIterate(v, *self._evaluated(v))

    def look(
        self, at: NewtonIterate, phi: Loss, last: LossAtIterate | None = None
    ) -> LossAtIterate:
        rows = at.slacks.expanded(phi)
        pull = self.problem.rows.rdot(rows.alpha)[self.points]
        G = at.v - pull
        return LossAtIterate(at, phi, rows, pull, G, self.K(G))

    def show(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        at, alpha, (loss, conjugate) = seen.at, seen.rows.alpha, self.sums(seen)
        norm2 = float(at.v @ at.image)
        dual_norm2 = norm2 - 2 * float(seen.G @ at.image) + float(seen.G @ seen.image)
        point = Point(beta=self._at_all(at.v), b=0.0, alpha=alpha)
        dual = self.problem.rows.multipliers(alpha).gain() - dual_norm2 / 2 - conjugate
        if not at.moved:
            # The gap alone does not tell: it may rise while the pieces of the loss change.
            self.K.forget_rough()
        return progress.weigh(point, norm2 / 2 + loss, dual, at.steps, at.moved)

    def move(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Move:
        """Return a direction by conjugate gradients in the inner product of K.

        A residual r adds r'K r / 2 to the gap.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate.
        progress : DualConvergenceMonitor
            Convergence monitor.
        """
        slope, D, rows = seen.phi.slope, seen.rows.D, self.problem.rows
        s, Ks = np.zeros_like(seen.G), np.zeros_like(seen.G)
        r, Kr = -seen.G, -seen.image
        d, Kd, r2 = r, Kr, float(r @ Kr)
        enough = self.exactness.residual(r2, progress)
        for _ in range(MOST_PRODUCTS):
            if r2 <= enough or progress.out_of_time:
                break
            Hd = d + slope * rows.curvature(D).hess_vec(self._at_all(Kd))[self.points]
            step = r2 / float(Kd @ Hd)
            s, Ks, r = s + step * d, Ks + step * Kd, r - step * Hd
            Kr = self.K.rough(r)
            before, r2 = r2, float(r @ Kr)
            d, Kd = r + r2 / before * d, Kr + r2 / before * Kd
        return Move(
            s, self._at_all(Ks), float(seen.at.image @ s), float(s @ Ks), float(seen.G @ Ks)
        )

    def arrive(self, v: Array, line: Line, t: float) -> tuple[Array, Slacks]:
        """Return recomputed image and slacks: the line has float32's seven digits.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Variables.
        line : Line
            Line of slacks.
        t : float
            Position of v on the line.
        """
        return self._evaluated(v)

    def gradient_share(self, seen: LossAtIterate, unit: float) -> float:
        return float(seen.G @ seen.image) / 2

    def _evaluated(self, v: Array) -> tuple[Array, Slacks]:
        """Return K v and the slacks at v."""
        f = self.K(v) if v.any() else np.zeros(len(v))
        return f, self.slacks_at(self._at_all(f))

    def _at_all(self, values: Array) -> Array:
        """Return values at the points, (n,), and 0 at all others, as (m,)."""
        out = np.zeros(self.problem.m)
        out[self.points] = values
        return out
