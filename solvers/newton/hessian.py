"""Newton's system in the features of f: Cholesky or preconditioned conjugate gradients.

    (R + slope Z'A'D A Z) s = -G,    R = diag(1, ..., 1, r)

The matrix is stored between steps and updated by the rows whose curvature in D has
changed. If these rows are few, the last factor is reused and the solution is corrected
for them. Matrices whose entries are not too large are summed and factorised in float32:
this affects the exactness of a step, but not the gradient or the gap.

The matrix of implicit pairs cannot be updated. Conjugate gradients are then tried
first, until their products have cost as much as a matrix, or would at their rate after
TRIED_PRODUCTS; afterwards with the last matrix as preconditioner. The last matrix
serves for one more step, without conjugate gradients, if that step should end the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array, Features, dense, is_sparse
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.base import Rows
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.pair_slacks import PairCurvature
from equimargin.solvers.dual.damped_cholesky import damped_factor
from equimargin.solvers.newton.base import MOST_PRODUCTS, Exactness, LossAtIterate
from equimargin.solvers.progress import DualConvergenceMonitor

Solve = Callable[[Array], Array]
"""Function that solves a linear system for a right-hand side (q,) or (q, k)."""

MOST_COLUMNS = 2000
"""Largest Hessian, in features, that is formed; its factor takes about a second."""
MOST_DENSE_ENTRIES = 25_000_000
"""Largest size m x q of sparse features that allows a Hessian of implicit pairs.

The features are made dense for it.
"""
FEWEST_PRODUCTS = 20
"""Minimum affordable products for conjugate gradients to precede the first Hessian.

With few features the Hessian is cheap.
"""
FEWEST_NEAR_PRODUCTS = 3
"""Minimum affordable products if there is a Hessian of an earlier iterate.

With it, conjugate gradients need few products.
"""
LARGEST_SINGLE = 1e5
"""Largest diagonal of a Hessian summed in float32, relative to the 1 in R.

Its rounding error is then about .01.
"""
LARGEST_ROUGH = 1e12
"""Largest trace of a Hessian of pairs used as a float32 preconditioner.

Relative to the 1 in R. For features within 1e-5 of linear dependence, a larger trace
led to 46 steps, and a Hessian in float64 to 8.
"""
FEWEST_SINGLE_COLUMNS = 40
"""Minimum number of features for float32 sums over listed rows.

With fewer, they take no less time than float64 sums.
"""
TRIED_PRODUCTS = 4
"""Number of products after which CG stops if its rate predicts too many.

The rate of fewer products predicts little.
"""
STALENESS = 64.0
"""Factor by which reusing a Hessian increases the share of |G|^2 left by a step.

10 to 50 were observed.
"""
HESSIAN_DAMPINGS = (0.0, *(10.0**k for k in range(-13, 1)))
"""Increases of the matrix's diagonal, relative to it, until it has a factor.

Rounding may have made the matrix indefinite.
"""
FLAT_BIAS_CURVATURE = 1e-12
"""Minimum curvature of a free bias, relative to that of all rows.

It is 0 if every row is on a linear piece of the loss.
"""
HESSIAN_WORK_BETWEEN_CLOCKS = 2_000_000_000
"""Work on a Hessian between two clock checks, in multiplications by BLAS."""
FIRST_ROWS_PER_COLUMN = 100
"""Number of rows per feature that represent all rows in a run's first Hessian from 0."""


DENSE_SHARE, DENSE_SHARE_OF_PAIRS = 0.1, 0.35
"""Share of stored entries from which sparse features are made dense, by kind of rows.

The first is for listed rows, whose Hessians then take a half to a tenth of the time;
the second for pairs, where products take nearly all the time.
"""
FEWEST_CORRECTED_COLUMNS = 300
"""Minimum number of features for correcting a factor: with fewer a new one is faster."""
COLUMNS_PER_CORRECTION = 8
"""Minimum number of features per corrected row: with more rows a new factor is faster."""

MOST_AMPLIFIED = 100.0
"""Maximum entry of a correction's matrix and of its inverse.

It is the factor by which a correction amplifies rounding, if a row adds curvature to a
direction that had almost none, or removes almost all of it.
"""


def stored(X: Features, rows: Rows) -> Features:
    """Return features in the fastest storage: well-filled, small sparse ones dense.

    Parameters
    ----------
    X : Features
        Features, dense or sparse.
    rows : Rows
        Rows of the problem.
    """
    size = X.shape[0] * X.shape[1]
    if not is_sparse(X) or X.shape[1] > MOST_COLUMNS or size > MOST_DENSE_ENTRIES:
        return X
    share = DENSE_SHARE_OF_PAIRS if isinstance(rows, LabelledPairs) else DENSE_SHARE
    return dense(X) if X.nnz >= share * size else X


class Nearby(NamedTuple):
    """Hessian that was formed at an earlier iterate.

    Parameters
    ----------
    H : ndarray of shape (q, q)
        Hessian.
    weight : float
        Weight of its D.
    phi : Loss
        Loss of the Hessian.
    square : float
        |G|^2 at its iterate; 0 once it has been reused.
    """

    H: Array
    weight: float
    phi: Loss
    square: float


class Factorisation(NamedTuple):
    """Factorised matrix: its D, its slope, and the solver of systems by its factor."""

    D: Array
    slope: float
    solve: Solve


class NewtonSystem:
    """Newton's system for changing losses, with results reused from step to step.

    Parameters
    ----------
    problem : MarginProblem
        Problem to solve.
    Z : Explicit of shape (m, q)
        Features.
    R : ndarray of shape (q,)
        Diagonal R of the module's formula.

    Attributes
    ----------
    forms : bool
        True if the Hessian may be formed.
    exactness : Exactness
        Tolerance of conjugate gradients.
    formed : tuple of ndarray
        Last D and its Hessian.
    rough : bool
        True if that Hessian was summed in float32.
    scratch : tuple of ndarray of shape (q, q)
        Memory of factorisations, in float64 and float32.
    factored : Factorisation or None
        Last factorised matrix of listed rows.
    nearby : Nearby or None
        Last Hessian of implicit pairs.
    easy : bool
        True while conjugate gradients with `nearby` have reached their tolerance.
    rough_will_do : bool
        True while a float32 Hessian may be used despite large rounding: until conjugate
        gradients fail with one.
    products : int
        Number of products of conjugate gradients so far.
    """

    def __init__(self, problem: MarginProblem, Z: Explicit, R: Array) -> None:
        self.problem, self.rows, self.Z, self.R = problem, problem.rows, Z, R
        shape = (Z.q, Z.q) if Z.q <= MOST_COLUMNS else (0, 0)
        self.forms = Z.q <= MOST_COLUMNS and not (
            Z.sparse and isinstance(problem.rows, LabelledPairs) and Z.m * Z.q > MOST_DENSE_ENTRIES
        )
        self.easy = self.rough_will_do = True
        self.products, self.exactness = 0, Exactness()
        self.formed, self.rough = (np.zeros(0), np.zeros(shape)), False
        self.scratch = np.empty(shape), np.empty(shape, np.float32)
        self.nearby: Nearby | None = None
        self.factored: Factorisation | None = None

    def solve(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Array:
        """Return s, with a residual of rounding error or a share of the gradient.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate.
        progress : DualConvergenceMonitor
            Convergence monitor, for the time limit and tolerance.

        Returns
        -------
        ndarray of shape (q,)
            Direction s.
        """
        if not self.forms:
            return self._by_conjugate_gradients(
                seen, progress, self._diagonal(seen), MOST_PRODUCTS
            )[0]
        D = seen.rows.D
        if isinstance(D, PairCurvature):
            return self._of_pairs(seen, D, progress)
        assert isinstance(D, np.ndarray)
        return (self._corrected(seen, D) or self._of_rows(seen, D, progress))(-seen.G)

    def _of_pairs(
        self, seen: LossAtIterate, D: PairCurvature, progress: DualConvergenceMonitor
    ) -> Array:
        """Solve for implicit pairs, whose Hessian cannot be updated.

        An earlier Hessian is reused if the step should be the last one, and otherwise
        accelerates conjugate gradients. A Hessian is summed in float32, and in float64
        if conjugate gradients do not compensate for the rounding.
        """
        square, most, near = float(seen.G @ seen.G), D.gram_over_product(self.Z.q), self.nearby
        if near is not None and near.phi == seen.phi and near.square > 0:
            # Reuse a Hessian once only: it gets worse with every step.
            self.nearby = near._replace(square=0.0)
            if STALENESS * square / near.square * square <= progress.limits.tol * progress.primal:
                return self._near(seen, D)(-seen.G)
        # Affordable products: those that cost as much as a Hessian, less those spent.
        left = most - self.products if near is None else most if self.easy else 0
        if left > 0 and most >= (FEWEST_PRODUCTS if near is None else FEWEST_NEAR_PRODUCTS):
            s, enough = self._by_conjugate_gradients(seen, progress, self._near(seen, D), left)
            if enough:
                return s
            self.easy = self.rough_will_do = near is None
        size = seen.phi.slope * D.weight() * self._point_square
        rough = LARGEST_SINGLE < size <= LARGEST_ROUGH and most > 0 and self.rough_will_do
        self.nearby = Nearby(
            D.gram(self.Z, rough or size <= LARGEST_SINGLE), D.weight(), seen.phi, square
        )
        if rough:
            s, self.rough_will_do = self._by_conjugate_gradients(
                seen, progress, self._near(seen, D), most
            )
            if self.rough_will_do or progress.out_of_time:
                return s
            self.nearby = Nearby(D.gram(self.Z), D.weight(), seen.phi, square)
        return self._near(seen, D)(-seen.G)

    def _near(self, seen: LossAtIterate, D: PairCurvature) -> Solve:
        """Return a solver by the last Hessian, rescaled to D, or by the diagonal."""
        near = self.nearby
        if near is None:
            return self._diagonal(seen)
        return self._factor(
            seen, near.H * (D.weight() / near.weight) if near.weight > 0 else near.H
        )

    @cached_property
    def _flat(self) -> float:
        """Minimum curvature of a free bias."""
        return FLAT_BIAS_CURVATURE * float(self.problem.costs.sum()) if self.problem.bias else 0.0

    @cached_property
    def _spread(self) -> Array:
        """Approximate Hessian diagonal over the weight of its rows, shape (q,).

        The mean squares of the columns; for differences, about their means.
        """
        mean, square = self.Z.column_means()
        return np.maximum(square - mean**2, 0.0) if self.rows.invariant else square

    def _diagonal(self, seen: LossAtIterate) -> Solve:
        """Return division by the approximate diagonal, a preconditioner at no cost."""
        weight = seen.phi.slope * self.rows.curvature(seen.rows.D).weight()
        scale = 1 / (self._ridge(seen) + weight * self._spread)
        return lambda v: scale * v

    def _ridge(self, seen: LossAtIterate) -> Array:
        """Return R with the minimum curvature of a free bias, (q,)."""
        return np.where(self.R == 0.0, seen.phi.slope * self._flat, self.R)

    def _of_rows(self, seen: LossAtIterate, D: Array, progress: DualConvergenceMonitor) -> Solve:
        """Return a solver of the system with the Hessian of listed rows."""
        single = self._single(seen, D)
        solve = self._factor(seen, self._hessian(seen, D, single, progress), single)
        self.factored = (
            None if progress.out_of_time else Factorisation(self.formed[0], seen.phi.slope, solve)
        )
        return solve

    def _corrected(self, seen: LossAtIterate, D: Array) -> Solve | None:
        """Return a solver by the last factor, corrected for changed rows, or None.

            (M + Y'E Y)^-1 = M^-1 - W (E + Y W)^-1 W',  W = M^-1 Y'

        Y are the changed rows; E is diagonal, 1 for an added row and -1 for a removed
        one. None if a new factor is faster.
        """
        last, most = self.factored, self.Z.q // COLUMNS_PER_CORRECTION
        if last is None or last.slope != seen.phi.slope or self.Z.q < FEWEST_CORRECTED_COLUMNS:
            return None
        changed = np.flatnonzero(D != last.D)
        if len(changed) > most:
            return None
        change = last.slope * (D - last.D)[changed]
        Y = np.sqrt(np.abs(change))[:, None] * dense(self.rows.take(self.Z, changed))
        W = last.solve(Y.T)
        small = Y @ W + np.diag(np.sign(change))
        try:
            inverse = np.linalg.inv(small)
        except np.linalg.LinAlgError:
            return None
        if (
            not max(np.abs(small).max(initial=0.0), np.abs(inverse).max(initial=0.0))
            <= MOST_AMPLIFIED
        ):
            return None

        def solve(v: Array) -> Array:
            first = last.solve(v)
            return np.asarray(first - W @ (inverse @ (Y @ first)))

        return solve

    def _single(self, seen: LossAtIterate, D: Array) -> bool:
        """Return True if float32 is accurate enough for the Hessian, and faster."""
        return (
            self.Z.q >= FEWEST_SINGLE_COLUMNS
            and seen.phi.slope * self.rows.points_of_rows(D) * self._point_square
            <= LARGEST_SINGLE * self.Z.q
        )

    @cached_property
    def _point_square(self) -> float:
        """Mean of |z|^2 over the points."""
        return self.Z.mean_square()

    def _factor(self, seen: LossAtIterate, H: Array, single: bool = False) -> Solve:
        """Return a solver of R + slope H, or division by its diagonal.

        The latter if Cholesky fails at every damping.
        """
        slope = seen.phi.slope
        diagonal = slope * H.diagonal() + self._ridge(seen)
        scratch = self.scratch[single]
        factor = damped_factor(
            lambda: np.multiply(slope, H, out=scratch, casting="same_kind").T,
            diagonal,
            diagonal,
            HESSIAN_DAMPINGS,
        )
        return (lambda v: (v.T / diagonal).T) if factor is None else factor.solve

    def _hessian(
        self, seen: LossAtIterate, D: Array, single: bool, progress: DualConvergenceMonitor
    ) -> Array:
        """Return Z'A'D A Z, (q, q), or a part of it if time is out.

        At v = 0 all rows are on one piece of phi, and few of them will stay there: some
        of the rows then represent all.
        """
        before, H = self.formed
        if not (seen.at.steps or seen.at.v.any()):
            D = _part(D, FIRST_ROWS_PER_COLUMN * self.Z.q)
        # A comparison is counted faster than numbers.
        few = len(before) and 2 * np.count_nonzero(before != D) <= np.count_nonzero(D > 0.0)
        if few and (single or not self.rough):
            change = D - before
        else:
            change, H = D, np.zeros((self.Z.q, self.Z.q))
        for part in _parts(change, max(HESSIAN_WORK_BETWEEN_CLOCKS // self.Z.q**2, 1)):
            H += self.rows.gram_of_rows(self.Z, part, single)
            if progress.out_of_time:
                break
        self.formed, self.rough = (D, H), single
        return H

    def _by_conjugate_gradients(
        self, seen: LossAtIterate, progress: DualConvergenceMonitor, precondition: Solve, most: int
    ) -> tuple[Array, bool]:
        """Return a direction after at most `most` products, and True if exact enough.

        A residual r adds r'r / 2 to the gap.
        """
        slope, D, ridge = seen.phi.slope, seen.rows.D, self._ridge(seen)
        s, r = np.zeros_like(seen.G), -seen.G
        r2 = first = float(r @ r)
        enough = self.exactness.residual(r2, progress)
        d = precondition(r)
        rho = float(r @ d)
        for k in range(most):
            if r2 <= enough or progress.out_of_time:
                break
            if (
                k == TRIED_PRODUCTS
                and self.nearby is None
                and self.forms
                and min(r2 / first, 1.0) ** (most / k) * first > enough
            ):
                break  # At this rate `most` products will not suffice.
            self.products += 1
            Hd = ridge * d + slope * self.rows.curvature(D).gram_product(self.Z, d)
            bend = float(d @ Hd)
            if not 0.0 < bend < np.inf:
                break  # The numbers have left the range of float64.
            step = rho / bend
            s, r = s + step * d, r - step * Hd
            r2, y = float(r @ r), precondition(r)
            before, rho = rho, float(r @ y)
            d = y + rho / before * d
        return s, r2 <= enough


def _part(D: Array, size: int) -> Array:
    """Return D on at least `size` evenly spaced entries, scaled up; 0 on the others."""
    stride = max(int(np.count_nonzero(D)) // size, 1)
    some = np.zeros_like(D)
    some[::stride] = stride * D[::stride]
    return some


def _parts(D: Array, size: int) -> Iterator[Array]:
    """Yield parts of D with at most `size` nonzero entries, whose sum is D."""
    if len(D) <= size:
        yield D
        return
    index = np.flatnonzero(D)
    for start in range(0, len(index), size):
        part = np.zeros_like(D)
        part[index[start : start + size]] = D[index[start : start + size]]
        yield part
