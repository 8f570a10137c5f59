"""Newton's system in the features of f, solved by Cholesky's factor or by preconditioned conjugate gradients.

    (R + slope Z'A'D A Z) s = -G,    R = diag(1, ..., 1, r)

The matrix is kept from step to step and brought up to date by the rows whose curvature
in D has changed; where these are few, its factor is kept instead and the solution
corrected for them. Matrices that are not too large are summed and factorised in
float32: this costs exactness of a step, and not of the gradient or the gap.

The matrix of implicit pairs cannot be brought up to date. There conjugate gradients are
tried first, until their products have cost as much as a matrix, or at their pace after
TRIED_PRODUCTS would; then with the last matrix as preconditioner. That matrix takes the
place of the next where one more step will do.
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
"""What a linear system makes of a right-hand side, (q,) or (q, k), and of the same shape."""

MOST_COLUMNS = 2000
"""Features of the largest Hessian that is formed; its factor takes a second or so."""
MOST_DENSE_ENTRIES = 25_000_000
"""Entries of sparse features, zeros included, up to which a Hessian of implicit pairs is formed: the features are made dense for it."""
FEWEST_PRODUCTS = 20
"""Products below which conjugate gradients are not tried before the Hessian: with few features the Hessian is cheap."""
FEWEST_NEAR_PRODUCTS = 3
"""The same where there is a Hessian of an earlier iterate, with which conjugate gradients need few products."""
LARGEST_SINGLE = 1e5
"""Diagonal of a Hessian, beside the 1 of the norm, up to which it is summed in float32: its rounding is then about .01."""
LARGEST_ROUGH = 1e12
"""Sum of the diagonal of a Hessian of pairs, beside the 1 of the norm, up to which it is a preconditioner in float32. For features that are
1e-5 from depending on each other a larger one cost 46 steps, one in float64 8.
"""
FEWEST_SINGLE_COLUMNS = 40
"""Features below which sums of float32 over rows that are listed take no less time than those of float64."""
TRIED_PRODUCTS = 4
"""Products after which conjugate gradients end if at their pace they would need more than they have; the pace of fewer says little."""
STALENESS = 64.0
"""How many times the share of |G|^2 that a step by its own Hessian left the next step by the same one leaves: 10 to 50 were seen."""
HESSIAN_DAMPINGS = (0.0, *(10.0**k for k in range(-13, 1)))
"""What is added to the diagonal of the matrix, relative to that diagonal, until it has a factor: rounding may have made it indefinite."""
FLAT_BIAS_CURVATURE = 1e-12
"""Smallest curvature of a free bias, relative to that of all rows: it is 0 where every row is on a straight piece of the loss."""
HESSIAN_WORK_BETWEEN_CLOCKS = 2_000_000_000
"""Multiplications in a Hessian, which BLAS does fast, between two looks at the clock."""
FIRST_ROWS_PER_COLUMN = 100
"""Rows, for every feature, that stand for all rows in the first Hessian of a run from 0."""


DENSE_SHARE, DENSE_SHARE_OF_PAIRS = 0.1, 0.35
"""Shares of entries that are stored from which on sparse features are stored whole for a solver: of rows that are listed, whose Hessians
take a half to a tenth of the time then, and of pairs, of which products take nearly all
the time.
"""
FEWEST_CORRECTED_COLUMNS = 300
"""Features below which a new factor takes less time than the correction of the last one."""
COLUMNS_PER_CORRECTION = 8
"""Features for every row that the last factor is corrected for: with more rows a new factor takes less time."""

MOST_AMPLIFIED = 100.0
"""Entry of a correction's matrix or of its inverse, at most: by so much the correction amplifies the rounding of the factor, where a row
brings curvature to a direction that had next to none, or takes away almost all that
there was.
"""


def stored(X: Features, rows: Rows) -> Features:
    """Features as a solver is fastest with them: sparse ones whole where much of them is stored, if that is not too large."""
    size = X.shape[0] * X.shape[1]
    if not is_sparse(X) or X.shape[1] > MOST_COLUMNS or size > MOST_DENSE_ENTRIES:
        return X
    share = DENSE_SHARE_OF_PAIRS if isinstance(rows, LabelledPairs) else DENSE_SHARE
    return dense(X) if X.nnz >= share * size else X


class Nearby(NamedTuple):
    """A Hessian that was formed at an iterate before.

    Parameters
    ----------
    H : ndarray of shape (q, q)
    weight : float
        Of the D it was formed for.
    phi : Loss
        Of the loss.
    square : float
        |G|^2 there.
    """

    H: Array
    weight: float
    phi: Loss
    square: float


class Factorisation(NamedTuple):
    """A matrix that was factorised: the D and the slope that it was formed for, and the solution by its factor."""

    D: Array
    slope: float
    solve: Solve


class NewtonSystem:
    """The system for changing losses, and what one solution leaves behind for the next.

    Parameters
    ----------
    Z : Explicit of shape (m, q)
        features.
    R : ndarray of shape (q,)
        As in the module's formula.
    forms
        Whether the Hessian is ever formed.
    exactness
        Of conjugate gradients.
    formed
        The last D and its Hessian.
    rough
        Whether that was summed in float32.
    scratch : array of shape (q, q)
        In float64 and in float32, to factorise in.
    factored : Factorisation | None
        The last matrix of listed rows that was factorised.
    nearby : Nearby | None
        The last Hessian of pairs that are not listed, None before there is one.
    easy
        Whether conjugate gradients with it have found near enough solutions so far.
    rough_will_do
        Whether one is summed in float32 though its rounding is large beside the norm:
        until conjugate gradients fail with one.
    products
        Of conjugate gradients so far.
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
        """The solution s (q,), up to rounding or to a part of the gradient."""
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
        """As `solve`, for pairs that are not listed, whose Hessian cannot be brought up to date.

        One from an earlier iterate serves once more where the step will be the last, and else makes conjugate gradients faster. It is
        summed in float32, and in float64 where conjugate gradients do not make up for the rounding.
        """
        square, most, near = float(seen.G @ seen.G), D.gram_over_product(self.Z.q), self.nearby
        if near is not None and near.phi == seen.phi and near.square > 0:
            self.nearby = near._replace(square=0.0)  # once is enough: it gets worse with every step
            if STALENESS * square / near.square * square <= progress.limits.tol * progress.primal:
                return self._near(seen, D)(-seen.G)
        left = most - self.products if near is None else most if self.easy else 0
        if left > 0 and most >= (FEWEST_PRODUCTS if near is None else FEWEST_NEAR_PRODUCTS):
            s, enough = self._by_conjugate_gradients(seen, progress, self._near(seen, D), left)
            if enough:
                return s
            self.easy = self.rough_will_do = near is None
        size = seen.phi.slope * D.weight() * float(self._moments[1].sum())
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
        """The solution of a system with the last Hessian, at the weight of this D, in the place of the Hessian; or by the diagonal."""
        near = self.nearby
        if near is None:
            return self._diagonal(seen)
        return self._factor(
            seen, near.H * (D.weight() / near.weight) if near.weight > 0 else near.H
        )

    @cached_property
    def _flat(self) -> float:
        """The smallest curvature of a free bias."""
        return FLAT_BIAS_CURVATURE * float(self.problem.costs.sum()) if self.problem.bias else 0.0

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """The columns' means and mean squares, (q,) each."""
        return self.Z.column_means()

    @cached_property
    def _spread(self) -> Array:
        """About the Hessian's diagonal over the weight of its rows, (q,): the columns' mean squares, for differences about their means."""
        mean, square = self._moments
        return np.maximum(square - mean**2, 0.0) if self.rows.invariant else square

    def _diagonal(self, seen: LossAtIterate) -> Solve:
        """Division by about the diagonal of the matrix: a preconditioner that costs nothing."""
        scale = 1 / (
            self._ridge(seen) + seen.phi.slope * self.rows.weight(seen.rows.D) * self._spread
        )
        return lambda v: scale * v

    def _ridge(self, seen: LossAtIterate) -> Array:
        """R with the smallest curvature of a free bias, (q,)."""
        return np.where(self.R == 0.0, seen.phi.slope * self._flat, self.R)

    def _of_rows(self, seen: LossAtIterate, D: Array, progress: DualConvergenceMonitor) -> Solve:
        """The solution of a system with the Hessian of rows that are listed."""
        single = self._single(seen, D)
        solve = self._factor(seen, self._hessian(seen, D, single, progress), single)
        self.factored = (
            None if progress.out_of_time else Factorisation(self.formed[0], seen.phi.slope, solve)
        )
        return solve

    def _corrected(self, seen: LossAtIterate, D: Array) -> Solve | None:
        """The solution by the last factor, corrected for the few rows Y whose curvature has changed since; None where that takes longer.

        (M + Y'E Y)^-1 = M^-1 - W (E + Y W)^-1 W',  W = M^-1 Y',  E = diag(1 for a row that comes, -1 for one that goes)
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
        """Whether the Hessian of rows is summed and factorised in float32: its diagonal is small enough, and that takes less time."""
        return (
            self.Z.q >= FEWEST_SINGLE_COLUMNS
            and seen.phi.slope * self.rows.weight(D) * self._column_square <= LARGEST_SINGLE
        )

    @cached_property
    def _column_square(self) -> float:
        """The square of an entry of Z, on average."""
        return self.Z.mean_square() / self.Z.q

    def _factor(self, seen: LossAtIterate, H: Array, single: bool = False) -> Solve:
        """The solution of a system with R + slope H in the place of the matrix; division by its diagonal where it has no factor."""
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
        """Z'A'D A Z, (q, q), or the part of it that is there when time is out.

        At v = 0 all rows are on one piece of phi, and few of them will stay there: some of the rows then stand for all.
        """
        before, H = self.formed
        if not (seen.at.steps or seen.at.v.any()):
            D = _part(D, FIRST_ROWS_PER_COLUMN * self.Z.q)
        change = D - before if len(before) else D
        if 2 * np.count_nonzero(change) > np.count_nonzero(D) or (self.rough and not single):
            change, H = D, np.zeros((self.Z.q, self.Z.q))
        for part in _parts(change, max(HESSIAN_WORK_BETWEEN_CLOCKS // self.Z.q**2, 1)):
            H += self.rows.gram_weighted(self.Z, part, single)
            if progress.out_of_time:
                break
        self.formed, self.rough = (D, H), single
        return H

    def _by_conjugate_gradients(
        self, seen: LossAtIterate, progress: DualConvergenceMonitor, precondition: Solve, most: int
    ) -> tuple[Array, bool]:
        """A direction after at most `most` products, and whether it is near enough: a residual r adds r'r / 2 to the gap."""
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
                break  # at this pace `most` products will not be enough
            self.products += 1
            Hd = ridge * d + slope * self.rows.gram_product(self.Z, D, d)
            step = rho / float(d @ Hd)
            s, r = s + step * d, r - step * Hd
            r2, y = float(r @ r), precondition(r)
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
