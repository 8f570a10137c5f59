"""Newton's method in the norm of the kernel's space, for problems without a bias: one Gram product a step of conjugate gradients.

    min over beta   1/2 beta'K beta + sum_r c_r phi(u_r),    u = t - A K beta

With the gradient K G, G = beta - A'alpha, a step s solves (I + A'DA K) s = -G, whose matrix is self-adjoint in the inner product s'K s: the
residual's image K r serves both the inner product and the next direction, and neither K^2 nor a Hessian in beta is ever met. beta is 0
at points that no row touches, and these never enter.

Gap of the point and the alpha of its loss: 1/2 G'K G, for a squared hinge; the norm of the dual's f is beta'K beta - 2 G'K beta + G'K G.

Source: document K, (3.13), with the metric of O. Chapelle, S. S. Keerthi, Efficient algorithms for ranking with SVMs, Information
Retrieval 13 (2010), section 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv, ssymv

from equimargin.formulations.kernels.gram import Gram
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.losses import Smooth
from equimargin.solvers.newton.base import Descent, Move
from equimargin.solvers.newton.in_features import MOST_PRODUCTS
from equimargin.solvers.products.tiles import Tiles, tiles
from equimargin.solvers.progress import Progress, multipliers

Index = NDArray[np.intp]

SINGLE, DOUBLE = 8e9, 1e9
"""Bytes of a Gram matrix that is kept, in float32 and in float64; a larger one is computed anew, tile by tile, for every product."""
CACHED = 5e7
"""Bytes of a float64 one that float32 would not make faster."""
PANEL = 1024
"""Rows of it that are computed at a time."""
SLOW = 0.5
"""A gap that falls no faster in a step than this says that float32 does not find the way."""
LOOSE = 0.1
"""Conjugate gradients end at a residual of that much of the gradient, or less where the gradient has fallen."""


class GramProducts:
    """K on some points, times vectors: in float64 to judge, in float32 to find the way, whatever of them is kept.

    Parameters
    ----------
    gram : K of all points.  points : (n,) those that take part.

    count : products so far.
    """

    def __init__(self, gram: Gram, points: Index) -> None:
        self.points, self.count = points, 0
        entries = float(len(points)) ** 2
        self._tiles = tiles(gram, 1.0)
        self._double = _lower_triangle(self._tiles, points) if 8 * entries <= DOUBLE else None
        self._single = None
        if self._double is not None and 8 * entries > CACHED:
            self._single = self._double.astype(np.float32)
        elif self._double is None and 4 * entries <= SINGLE:
            self._single = _lower_triangle(self._tiles.single(), points)

    def __call__(self, v: Array) -> Array:
        """K v, (n,)."""
        self.count += 1
        if self._double is not None:
            return np.asarray(dsymv(1.0, self._double.T, v)) if len(v) else v
        return self._tiles.product(self.points, v, self.points)

    def forget_rough(self) -> None:
        """From now on nothing is rough."""
        self._single = None

    def rough(self, v: Array) -> Array:
        """K v, (n,), to about seven digits."""
        if self._single is None:
            return self(v)
        self.count += 1
        size = float(np.abs(v).max(initial=0.0)) or 1.0  # float32 has little room for small numbers
        return np.asarray(ssymv(1.0, self._single.T, (v / size).astype(np.float32)), dtype=np.float64) * size


class KernelDescent(Descent):
    """beta on its way down; v : (n,) beta at the points that rows touch.  f : (n,) K v.  KG : (n,) K G."""

    def start(self, point: Point) -> None:
        problem = self.problem
        self.points = problem.rows.touched
        self.K = GramProducts(problem.gram, self.points)
        self.v = np.zeros(len(self.points))
        if point.beta is not None:
            self.v = point.beta[self.points]
        elif point.alpha is not None:
            self.v = problem.rows.rdot(problem.repaired(multipliers(point, problem)))[self.points]
        self._first_square = np.inf
        self._evaluate()

    def _evaluate(self) -> None:
        self.f = self.K(self.v) if self.v.any() else np.zeros(len(self.v))
        self.slacks = self.slacks_at(self._at_all(self.f))

    def _at_all(self, values: Array) -> Array:
        """Values at the points, (n,), and 0 at all others, (m,)."""
        out = np.zeros(self.problem.m)
        out[self.points] = values
        return out

    def look(self, phi: Smooth) -> None:
        self.expand(phi)
        self.G = self.v - self.rows.rdot(self.alpha)[self.points]
        self.KG = self.K(self.G)

    def show(self, progress: Progress, phi: Smooth) -> bool:
        self.look(phi)
        loss, conjugate = self.loss, self.conjugate
        if self.problem.loss == "hinge":
            loss, conjugate = self.slacks.hinge(), 0.0
        norm2 = float(self.v @ self.f)
        dual_norm2 = norm2 - 2 * float(self.G @ self.f) + float(self.G @ self.KG)
        point = Point(beta=self._at_all(self.v), b=0.0, alpha=self.alpha)
        dual, before = self.rows.gain(self.alpha) - dual_norm2 / 2 - conjugate, progress.gap
        over = progress.weigh(point, norm2 / 2 + loss, dual, self.steps, self.moved)
        if progress.gap > SLOW * before:
            self.K.forget_rough()
        return over

    def gradient_share(self, unit: float) -> float:
        return float(self.G @ self.KG) / 2

    def half_norm2(self) -> float:
        return float(self.v @ self.f) / 2

    @property
    def mean_square(self) -> float:
        return float(np.abs(self.problem.gram.diagonal).mean())

    def step(self, phi: Smooth, progress: Progress) -> None:
        super().step(phi, progress)
        self._evaluate()

    def move(self, slope: float, progress: Progress) -> Move:
        """Conjugate gradients in the inner product of K."""
        s, Ks = np.zeros_like(self.v), np.zeros_like(self.v)
        r, Kr = -self.G, -self.KG
        d, Kd, r2 = r, Kr, float(r @ Kr)
        self._first_square = first = r2 if self._first_square == np.inf else self._first_square
        last = 0.5 * progress.limits.tol * abs(progress.primal)  # what is left of the gap then is r'K r / 2
        enough = max(last, min(LOOSE**2, np.sqrt(max(r2, 0.0) / first) if first > 0 else 0.0) * r2)
        for _ in range(MOST_PRODUCTS):
            if r2 <= enough or progress.out_of_time:
                break
            Hd = d + slope * self.rows.hess_vec(self.D, self._at_all(Kd))[self.points]
            step = r2 / float(Kd @ Hd)
            s, Ks, r = s + step * d, Ks + step * Kd, r - step * Hd
            Kr = self.K.rough(r)
            before, r2 = r2, float(r @ Kr)
            d, Kd = r + r2 / before * d, Kr + r2 / before * Kd
        return Move(s, self._at_all(Ks), float(self.f @ s), float(s @ Ks), float(self.G @ Ks))


def _lower_triangle(blocks: Tiles, points: Index) -> NDArray[Any]:
    """K at the points, (n, n); 0 above its diagonal blocks."""
    n = len(points)
    K = np.zeros((n, n), blocks.dtype)
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        K[start:stop, :stop] = blocks.block(points[start:stop], points[:stop])
    return K
