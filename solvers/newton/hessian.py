"""Newton's system in the features of f, solved by Cholesky's factor or by preconditioned conjugate gradients.

    (R + slope Z'A'D A Z) s = -G,    R = diag(1, ..., 1, r)

The matrix is kept from step to step and brought up to date by the rows whose curvature in D has changed. For implicit pairs that is
impossible; conjugate gradients, which need no matrix, are then tried first, as long as they find near enough solutions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.solvers.dual.damped_cholesky import damped_factor
from equimargin.solvers.newton.base import MOST_PRODUCTS, Exactness, View
from equimargin.solvers.progress import Progress

MOST_COLUMNS = 2000
"""Features of the largest Hessian that is formed; its factor takes a second or so."""
MOST_DENSE_ENTRIES = 25_000_000
"""Entries of sparse features, zeros included, up to which a Hessian of implicit pairs is formed: the features are made dense for it."""
COLUMNS_PER_PRODUCT = 5
"""Features for which conjugate gradients get one product, where they are tried before a Hessian that cannot be kept up to date."""
FEWEST_PRODUCTS = 20
"""Products below which conjugate gradients are not tried before the Hessian: with few features the Hessian is cheap."""
HESSIAN_DAMPINGS = (0.0, *(10.0**k for k in range(-13, 1)))
"""What is added to the diagonal of the matrix, relative to that diagonal, until it has a factor: rounding may have made it indefinite."""
FLAT_BIAS_CURVATURE = 1e-12
"""Smallest curvature of a free bias, relative to that of all rows: it is 0 where every row is on a straight piece of the loss."""
HESSIAN_WORK_BETWEEN_CLOCKS = 2_000_000_000
"""Multiplications in a Hessian, which BLAS does fast, between two looks at the clock."""
FIRST_ROWS_PER_COLUMN = 100
"""Rows, for every feature, that stand for all rows in the first Hessian of a run from 0."""


class NewtonSystem:
    """The system for changing losses, and what one solution leaves behind for the next.

    Z : (m, q) features.  R : (q,) as in the module's formula.  forms : whether the Hessian is ever formed.
    easy : whether conjugate gradients have found a near enough solution whenever they were tried first.
    exactness : of conjugate gradients.  formed : the last D and its Hessian.  scratch : (q, q) to factorise in.
    """

    def __init__(self, problem: MarginProblem, Z: Explicit, R: Array) -> None:
        self.problem, self.rows, self.Z, self.R = problem, problem.rows, Z, R
        shape = (Z.q, Z.q) if Z.q <= MOST_COLUMNS else (0, 0)
        too_dense = Z.sparse and isinstance(problem.rows, LabelledPairs) and Z.m * Z.q > MOST_DENSE_ENTRIES
        self.forms = Z.q <= MOST_COLUMNS and not too_dense
        self.easy, self.exactness = True, Exactness()
        self.formed, self.scratch = (np.zeros(0), np.zeros(shape)), np.empty(shape)

    def solve(self, seen: View, progress: Progress) -> Array:
        """The solution s (q,), up to rounding or to a part of the gradient."""
        if not self.forms:
            return self._by_conjugate_gradients(seen, progress, MOST_PRODUCTS)[0]
        most = self.Z.q // COLUMNS_PER_PRODUCT
        if most >= FEWEST_PRODUCTS and self.easy and not isinstance(seen.rows.D, np.ndarray):
            s, self.easy = self._by_conjugate_gradients(seen, progress, most)
            if self.easy:
                return s
        return self._by_cholesky(seen, progress)

    @cached_property
    def _flat(self) -> float:
        """The smallest curvature of a free bias."""
        return FLAT_BIAS_CURVATURE * float(self.problem.costs.sum()) if self.problem.bias else 0.0

    @cached_property
    def _spread(self) -> Array:
        """About the Hessian's diagonal over the weight of its rows, (q,): the columns' mean squares, for differences about their means."""
        mean, square = self.Z.column_means()
        return np.maximum(square - mean**2, 0.0) if self.rows.invariant else square

    def _by_cholesky(self, seen: View, progress: Progress) -> Array:
        H, slope = self._hessian(seen, progress), seen.phi.slope
        diagonal = slope * H.diagonal() + self.R
        diagonal[self.R == 0.0] += slope * self._flat
        factor = damped_factor(lambda: np.multiply(slope, H, out=self.scratch).T, diagonal, diagonal, HESSIAN_DAMPINGS)
        return -seen.G / diagonal if factor is None else factor.solve(-seen.G)

    def _hessian(self, seen: View, progress: Progress) -> Array:
        """Z'A'D A Z, (q, q), or the part of it that is there when time is out.

        At v = 0 all rows are on one piece of phi, and few of them will stay there: some of the rows then stand for all.
        """
        D = seen.rows.D
        if not isinstance(D, np.ndarray):
            return self.rows.gram_weighted(self.Z, D)
        before, H = self.formed
        if not (seen.at.steps or seen.at.v.any()):
            D = _part(D, FIRST_ROWS_PER_COLUMN * self.Z.q)
        change = D - before if len(before) else D
        if 2 * np.count_nonzero(change) > np.count_nonzero(D):
            change, H = D, np.zeros((self.Z.q, self.Z.q))
        for part in _parts(change, max(HESSIAN_WORK_BETWEEN_CLOCKS // self.Z.q**2, 1)):
            H += self.rows.gram_weighted(self.Z, part)
            if progress.out_of_time:
                break
        self.formed = D, H
        return H

    def _by_conjugate_gradients(self, seen: View, progress: Progress, most: int) -> tuple[Array, bool]:
        """A direction after at most `most` products, and whether it is near enough: a residual r adds r'r / 2 to the gap."""
        slope, D = seen.phi.slope, seen.rows.D
        flat = np.where(self.R == 0.0, slope * self._flat, self.R)
        scale = 1 / (flat + slope * self.rows.weight(D) * self._spread)
        s, r = np.zeros_like(seen.G), -seen.G
        d, r2 = scale * r, float(r @ r)
        rho = float(r @ d)
        enough = self.exactness.residual(r2, progress)
        for _ in range(most):
            if r2 <= enough or progress.out_of_time:
                break
            Hd = flat * d + slope * self.rows.gram_product(self.Z, D, d)
            step = rho / float(d @ Hd)
            s, r = s + step * d, r - step * Hd
            r2, y = float(r @ r), scale * r
            before, rho = rho, float(r @ y)
            d = y + rho / before * d
        return s, r2 <= enough


def _part(D: Array, size: int) -> Array:
    """D on at least `size` of its entries, evenly spaced and larger by as much as they are fewer; 0 on the others."""
    stride = max(int(np.count_nonzero(D)) // size, 1)
    some = np.zeros_like(D)
    some[::stride] = stride * D[::stride]
    return some


def _parts(D: Array, size: int) -> Iterator[Array]:
    """D as a sum of parts of at most `size` entries that are not 0."""
    if len(D) <= size:
        yield D
        return
    index = np.flatnonzero(D)
    for start in range(0, len(index), size):
        part = np.zeros_like(D)
        part[index[start : start + size]] = D[index[start : start + size]]
        yield part
