"""Newton's method in the features of f: its Hessian by Cholesky, kept up to date row by row, or preconditioned conjugate gradients.

    (R + Z'A'D A Z) s = Z'A'alpha - R v,    R = diag(1, ..., 1, r)

Z are the features and a column of ones for the bias; r is 0 where the bias is free and 1 where it is penalised.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dposv

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.losses import Smooth
from equimargin.solvers.newton.base import Descent, Move
from equimargin.solvers.progress import Progress, multipliers

MOST_COLUMNS, MOST_ENTRIES = 2000, 25_000_000
"""The Hessian of more columns is never formed, nor that of sparse features with implicit pairs which take so many entries when dense."""
MOST_PRODUCTS, LOOSE = 500, 0.1
"""Conjugate gradients end after so many products with the Hessian, or at a residual of that much of the gradient."""
COLUMNS_A_PRODUCT, FEWEST_PRODUCTS = 5, 20
"""A Hessian that cannot be kept up to date is tried without first, by one product for so many columns, unless these are too few."""
DAMPINGS = (0.0, *(10.0**k for k in range(-13, 1)))
"""Added to the diagonal of a Hessian that rounding has made indefinite, over itself, until it has a factor."""
FLAT = 1e-12
"""The curvature of a free bias is at least this, over that of all rows: it is 0 where every row is on a straight piece."""
PIECE = 2_000_000_000
"""Multiplications in a Hessian between two looks at the clock."""
FIRST = 100
"""So many rows a column are enough for a first Hessian."""


class FeatureDescent(Descent):
    """v = (w, b) on its way down.

    Z : (m, q) features.  R : (q,) as in the module's formula.  v : (q,).  pull : (q,) Z'A'alpha.  G : (q,) gradient R v - Z'A'alpha.
    """

    def start(self, point: Point) -> None:
        problem = self.problem
        if problem.explicit is None:
            Z = Explicit(problem.features(), problem.bias)
        else:
            Z = Explicit(problem.explicit.X, problem.explicit.constant or problem.bias)
        free = Z.q - problem.bias
        self.Z, self.R, self.v, f = Z, np.ones(Z.q), np.zeros(Z.q), np.zeros(Z.m)
        self.R[free:] = 0.0
        shape = (Z.q, Z.q) if Z.q <= MOST_COLUMNS else (0, 0)
        self._forms = Z.q <= MOST_COLUMNS and not (Z.sparse and isinstance(problem.rows, LabelledPairs) and Z.m * Z.q > MOST_ENTRIES)
        self._easy, self._first_square = True, 0.0
        self._formed, self._factor = (np.zeros(0), np.zeros(shape)), np.empty(shape)
        if point.w is not None:
            self.v[:free] = point.w
        elif point.alpha is not None:
            self.v[:free] = Z.rdot(problem.rows.rdot(problem.repaired(multipliers(point, problem))))[:free]
        if self.v.any():
            f = Z @ self.v
        b = problem.bias_at(f) if point.b is None else point.b
        self.v[free:] = b
        self.slacks = self.slacks_at(f + b)

    def look(self, phi: Smooth) -> None:
        self.expand(phi)
        self.pull = self.Z.rdot(self.rows.rdot(self.alpha))
        self.G = self.R * self.v - self.pull

    def show(self, progress: Progress, phi: Smooth) -> bool:
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
        return progress.weigh(point, primal, dual, self.steps, self.moved)

    def _show_in_computed_features(self, progress: Progress) -> bool:
        """As `show`, where the kernel itself judges both sides, and A'alpha where the features leave too much of it out."""
        problem, free, gram = self.problem, self.Z.q - self.problem.bias, self.problem.gram
        alpha, b = problem.repaired(self.alpha), float(self.v[free]) if problem.bias else 0.0
        point, pulled = problem.point_of_w(self.v[:free], b, alpha), self.rows.rdot(alpha)
        beta = np.zeros(problem.m) if point.beta is None else point.beta
        f, f_alpha = gram @ beta, gram @ pulled
        primal, dual = problem.primal(f, float(beta @ f), b), problem.dual(alpha, float(pulled @ f_alpha))
        b_alpha = problem.bias_at(f_alpha)
        primal_alpha = problem.primal(f_alpha, float(pulled @ f_alpha), b_alpha)
        if primal_alpha < primal:
            point, primal = Point(beta=pulled, b=b_alpha, alpha=alpha), primal_alpha
        return progress.weigh(point, primal, dual, self.steps, self.moved)

    @cached_property
    def _flat(self) -> float:
        """sum_r c_r FLAT where there is a free bias."""
        return FLAT * float(self.problem.costs.sum()) if self.problem.bias else 0.0

    def gradient_share(self, unit: float) -> float:
        free = self.R == 0.0
        return float(self.G[~free] @ self.G[~free]) / 2 + unit * float(np.abs(self.G[free]).sum())

    def half_norm2(self) -> float:
        return float(self.R * self.v @ self.v) / 2

    @cached_property
    def _spread(self) -> Array:
        """The Hessian's diagonal over the weight of its rows, nearly, (q,): mean squares of the columns, for differences about the mean."""
        mean, square = self.Z.column_means()
        return np.maximum(square - mean**2, 0.0) if self.rows.invariant else square

    @property
    def mean_square(self) -> float:
        return self.Z.mean_square()

    def move(self, slope: float, progress: Progress) -> Move:
        s = self._direction(slope, progress)
        return Move(s, self.Z @ s, float(self.R * self.v @ s), float(self.R * s @ s), float(self.G @ s))

    def _direction(self, slope: float, progress: Progress) -> Array:
        """The solution s of (R + slope Z'A'D A Z) s = -G, up to rounding or to a part of G."""
        if not self._forms:
            return self._by_conjugate_gradients(slope, progress, MOST_PRODUCTS)[0]
        most = self.Z.q // COLUMNS_A_PRODUCT
        if most >= FEWEST_PRODUCTS and self._easy and not isinstance(self.D, np.ndarray):
            s, self._easy = self._by_conjugate_gradients(slope, progress, most)
            if self._easy:
                return s
        return self._by_cholesky(slope, progress)

    def _by_cholesky(self, slope: float, progress: Progress) -> Array:
        H = self._hessian(progress)
        diagonal = slope * H.diagonal() + self.R
        diagonal[self.R == 0.0] += slope * self._flat
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
        if not isinstance(self.D, np.ndarray):
            return self.rows.gram_weighted(self.Z, self.D)
        before, H = self._formed
        D = self.D if self.steps or self.v.any() else _part(self.D, FIRST * self.Z.q)
        change = D - before if len(before) else D
        if 2 * np.count_nonzero(change) > np.count_nonzero(D):
            change, H = D, np.zeros((self.Z.q, self.Z.q))
        for part in _parts(change, max(PIECE // self.Z.q**2, 1)):
            H += self.rows.gram_weighted(self.Z, part)
            if progress.out_of_time:
                break
        self._formed = D, H
        return H

    def _by_conjugate_gradients(self, slope: float, progress: Progress, most: int) -> tuple[Array, bool]:
        """A direction, and whether so many products led near enough: what is left of the residual r adds r'r / 2 to the gap."""
        flat = np.where(self.R == 0.0, slope * self._flat, self.R)
        scale = 1 / (flat + slope * self.rows.weight(self.D) * self._spread)
        s, r = np.zeros_like(self.v), -self.G
        d, r2 = scale * r, float(r @ r)
        rho = float(r @ d)
        self._first_square = self._first_square or r2
        enough = max(0.5 * progress.limits.tol * abs(progress.primal), min(LOOSE**2, float(np.sqrt(r2 / self._first_square))) * r2)
        for _ in range(most):
            if r2 <= enough or progress.out_of_time:
                break
            Hd = flat * d + slope * self.rows.gram_product(self.Z, self.D, d)
            step = rho / float(d @ Hd)
            s, r = s + step * d, r - step * Hd
            r2, y = float(r @ r), scale * r
            before, rho = rho, float(r @ y)
            d = y + rho / before * d
        return s, r2 <= enough


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
