"""Repair of points and multipliers that nearly satisfy their constraints.

Both are a vector v with equations and inequalities,

    E v = e,   F v <= f,   bounds on v.

1. Entries of v that complementarity tells to be on a bound are moved onto it, and stay.
2. Least squares, weighted by the distances from the bounds, solve the equations, and
   the inequalities that would be violated, with a margin as their slack.
3. The equations, and the tight inequalities if the margin is 0, have an exact solution
   in a small ball (`correction`).

Several margins and notions of an active bound are tried: one that satisfies the
constraints proves an end, and the best end is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index, Mask
from equimargin.formulations.numeric.exact_sums import sum_rows
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.outward.correction import settle
from equimargin.proofs.outward.ends import Ball, lower_end, upper_end

RATIOS = (1.0, 1e3, 1e-3, 1e300)
"""Ratios of multiplier to slack above which an inequality counts as active.

They are tried in turn; with the last one only inequalities of slack 0 count as active,
and only those of multiplier 0 as inactive, as at a vertex.
"""
MARGINS = (1e-13, 1e-11, 1e-9, 1e-7, 0.0)
"""Slacks of inequalities, relative to the sizes of their terms, tried in turn.

With the last one, tight inequalities are solved as equations, for programs whose
constraints leave them no slack.
"""
MAX_TABLE = 5000
"""Maximum number of entries of least squares by a singular value decomposition."""
MAX_FACTORED = 1500
"""Maximum number of unknowns of least squares by a sparse factorisation."""
MAX_GRAM = 3000
"""Maximum number of equations of least squares by a dense factorisation."""
ITERATIONS = 300
"""Maximum number of iterations of least squares."""
TIGHT = 1e-14
"""Relative residual at which iterations end."""
SMALL_WEIGHT = 1e-9
"""Weight of an entry on a bound that leaves it."""
STEPS = 8
"""Maximum number of projections for a margin."""
REGULARISATION = 1e-12
"""Relative weight of residuals that dependent rows may keep."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints E v = e, F v <= f and low <= v <= high.

    Parameters
    ----------
    E, F : sparse arrays in CSR form
        Matrices of the equations and of the inequalities.
    e, f : ndarray
        Right-hand sides.
    low, high : ndarray
        Bounds.
    fixed : ndarray of bool
        True for entries of v that do not change.
    """

    E: Any
    e: Array
    F: Any
    f: Array
    low: Array
    high: Array
    fixed: Mask

    def start(self, v: Array, on_bound: Mask) -> tuple[Array, Array]:
        """Return v with some entries moved onto their nearest bound, and weights.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Vector.
        on_bound : ndarray of bool
            True for entries to move.
        """
        v = np.clip(v, self.low, self.high)
        nearest = np.where(v - self.low <= self.high - v, self.low, self.high)
        v = np.where(on_bound & np.isfinite(nearest), nearest, v)
        return v, self.weights(v)

    def weights(self, v: Array) -> Array:
        """Return weights of changes: the distance from a bound, or the size of v if less.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Vector.
        """
        distance = np.minimum(v - self.low, self.high - v)
        return np.where(self.fixed, 0.0, np.clip(distance, 0.0, np.maximum(1.0, np.abs(v))))

    def opened(self, v: Array) -> Array:
        """Return weights of changes with which every equation can be solved, if any can.

        If all entries of an equation that does not hold are on bounds, those that may
        move towards its solution get a small weight.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Vector.
        """
        weight = self.weights(v)
        entries = np.repeat(np.arange(len(self.e)), np.diff(self.E.indptr))
        columns, data = self.E.indices, self.E.data
        can_change = np.bincount(entries, weight[columns] > 0, minlength=len(self.e)) > 0
        residual = np.where(can_change, 0.0, sum_rows(self.e, (self.E, v), way=-1)[0])
        way = np.sign(data) * np.sign(residual[entries])
        helps = ((way > 0) & (v < self.high)[columns]) | ((way < 0) & (v > self.low)[columns])
        moved = np.zeros(len(v), dtype=np.bool_)
        moved[columns[helps]] = True
        return np.where(moved & ~self.fixed & (weight == 0), SMALL_WEIGHT, weight)

    def near(self, v: Array, weight: Array, share: float) -> tuple[Array, Mask]:
        """Return a vector with margins in the inequalities, and True for the tight ones.

        Parameters
        ----------
        v : ndarray of shape (k,)
            Vector.
        weight : ndarray of shape (k,)
            Weights of the changes.
        share : float
            Margin, relative to the sizes of an inequality's terms.
        """
        from scipy import sparse

        tight = np.zeros(len(self.f), dtype=np.bool_)
        for _ in range(STEPS):
            sizes = abs(self.F) @ np.abs(v) + np.abs(self.f) + 1e-3
            margin = share * sizes
            slack = sum_rows(self.f, (self.F, v), way=-1)[0]
            residual = sum_rows(self.e, (self.E, v), way=-1)[0]
            tight |= slack < max(share, MARGINS[0]) * sizes
            aim = np.concatenate([residual, (slack - margin)[tight]])
            if not np.abs(aim).max(initial=0.0) > 0:
                break
            rows = sparse.csr_array(sparse.vstack([self.E, self.F[tight]]))
            step = _least_squares(rows, aim, weight)
            if step is None:
                break
            v = v + step
        return v, tight


def _least_squares(B: Any, aim: Array, weight: Array) -> Array | None:
    """Return the least step, relative to the weights, with B step near aim, or None."""
    from scipy import sparse
    from scipy.linalg import LinAlgError, cho_factor, cho_solve
    from scipy.sparse.linalg import lsmr, splu

    scaled = sparse.csr_array(B * weight[None, :])
    sizes = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    used = sizes > 0
    if not used.any() or not np.isfinite(aim).all():
        return None
    C = sparse.csr_array(scaled[used].multiply(1 / sizes[used][:, None]))
    k, n = C.shape
    goal = aim[used] / sizes[used]
    if k * n <= MAX_TABLE:
        found = np.linalg.lstsq(C.toarray(), goal, rcond=REGULARISATION)[0]
    elif k + n <= MAX_FACTORED:
        corner = -REGULARISATION * sparse.eye_array(k)
        system = sparse.csc_matrix(sparse.block_array([[sparse.eye_array(n), C.T], [C, corner]]))
        try:
            found = splu(system).solve(np.concatenate([np.zeros(n), goal]))[:n]
        except RuntimeError:
            return None
    elif k <= MAX_GRAM:
        try:
            gram = (C @ C.T).toarray() + REGULARISATION * np.eye(k)
            found = C.T @ cho_solve(cho_factor(gram, check_finite=False), goal)
        except LinAlgError:
            return None
    else:
        found = lsmr(C, goal, atol=TIGHT, btol=TIGHT, conlim=0.0, maxiter=ITERATIONS)[0]
    step = found * weight
    return step if np.isfinite(step).all() else None


def repaired_points(form: StandardForm, x: Array, z: Array) -> Iterator[tuple[float, Ball]]:
    """Yield proven upper ends, and balls around the feasible points that prove them.

    Parameters
    ----------
    form : StandardForm
        Program.
    x : ndarray of shape (n,)
        Point nearby.
    z : ndarray of shape (r,)
        Multipliers nearby, which tell the active bounds.
    """
    zero, stop = form.zero, form.zero + form.nonneg
    constraints = Constraints(
        form.G[:zero],
        form.h[:zero],
        form.G[zero:stop],
        form.h[zero:stop],
        form.lower,
        form.upper,
        np.zeros(len(x), dtype=np.bool_),
    )
    distance = np.maximum(np.minimum(x - form.lower, form.upper - x), 0.0)
    r = np.abs(form.P @ x + form.q + form.G.T @ z)
    for ratio, share in product(RATIOS, MARGINS):
        with np.errstate(all="ignore"):
            active = (distance == 0) | (r > ratio * distance)
        near, tight = constraints.near(*constraints.start(x, active), share)
        near = np.clip(near, form.lower, form.upper)
        point = Ball.point(near)
        if (value := upper_end(form, point)) < np.inf:
            yield value, point
            continue
        all_equations = np.arange(zero, dtype=np.int64)
        extra = zero + np.flatnonzero(tight & (share == 0)).astype(np.int64)
        for rows in (all_equations, *_with_tight(all_equations, extra)):
            settled = settle(form.G[rows], form.h[rows], near, constraints.opened(near), zero)
            if settled is not None:
                yield upper_end(form, settled[0], rows[settled[1]]), settled[0]


def repaired_multipliers(
    form: StandardForm, x: Array, z: Array
) -> Iterator[tuple[float, tuple[Ball, Ball]]]:
    """Yield proven lower ends, and balls around the x and z that prove them.

    Parameters
    ----------
    form : StandardForm
        Program whose P is positive semidefinite.
    x : ndarray of shape (n,)
        Point nearby.
    z : ndarray of shape (r,)
        Multipliers nearby.
    """
    zero, stop = form.zero, form.zero + form.nonneg
    used = np.flatnonzero(np.diff(form.P.indptr))
    free = np.flatnonzero(np.isinf(form.lower) & np.isinf(form.upper))
    boxed = np.isfinite(form.lower) & np.isfinite(form.upper)
    v, rows = np.concatenate([x[used], z]), slice(len(used) + zero, len(used) + stop)
    slack = np.maximum(form.h - form.G @ x, 0.0)[zero:stop]
    idle = np.zeros(len(v), dtype=np.bool_)
    for ratio in RATIOS:
        M, constraints, columns = _dual_constraints(form, used, x, z, ratio)
        with np.errstate(over="ignore"):
            idle[rows] = (v[rows] <= 0) | (v[rows] * ratio < slack)
        for share in MARGINS:
            near, tight = constraints.near(*constraints.start(v, idle), share)
            near = np.maximum(near, constraints.low)
            point = _parted(Ball.point(near), x, used)
            value = lower_end(form, *point)
            yield value, point
            # Bounds on all variables pay for roundings: no exact solution is needed.
            if boxed.all() and value > -np.inf:
                continue
            tight_columns = columns[tight & (share == 0)]
            for chosen in (free, *_with_tight(free, tight_columns[~boxed[tight_columns]])):
                settled = settle(
                    M[chosen], -form.q[chosen], near, constraints.weights(near), len(free)
                )
                if settled is not None:
                    ball, held = settled
                    X, Z = _parted(ball, x, used)
                    yield lower_end(form, X, Z, chosen[held]), (X, Z)


def _parted(ball: Ball, x: Array, used: Index) -> tuple[Ball, Ball]:
    """Return balls of x, whose used entries vary, and of z."""
    k, X = len(used), Ball.point(x.copy())
    X.middle[used], X.radius[used] = ball.middle[:k], ball.radius[:k]
    return X, Ball(ball.middle[k:], ball.radius[k:])


def _dual_constraints(
    form: StandardForm, used: Index, x: Array, z: Array, ratio: float
) -> tuple[Any, Constraints, Index]:
    """Return M, the constraints of v = (x of the used columns, z), and columns of F.

    r is M v + q: 0 at columns inside their bounds, and of one sign at the others.
    """
    from scipy import sparse

    zero, stop, k = form.zero, form.zero + form.nonneg, len(used)
    M = sparse.csr_array(sparse.hstack([form.P[:, used], form.G.T]))
    low, high = np.maximum(x - form.lower, 0.0), np.maximum(form.upper - x, 0.0)
    r = form.P @ x + form.q + form.G.T @ z
    with np.errstate(all="ignore"):
        varies = form.lower < form.upper
        below = varies & np.isfinite(low) & (np.isinf(high) | (low == 0) | (r > ratio * low))
        near_high = np.isinf(low) | (high == 0) | (-r > ratio * high)
        above = varies & np.isfinite(high) & ~below & near_high
    inside = np.flatnonzero(varies & ~below & ~above)
    fixed = np.zeros(k + len(z), dtype=np.bool_)
    fixed[k + stop :] = True
    least = np.full(len(fixed), -np.inf)
    least[k + zero : k + stop] = 0.0
    constraints = Constraints(
        M[inside],
        -form.q[inside],
        sparse.csr_array(sparse.vstack([-M[below], M[above]])),
        np.concatenate([form.q[below], -form.q[above]]),
        least,
        np.full(len(fixed), np.inf),
        fixed,
    )
    return M, constraints, np.concatenate([np.flatnonzero(below), np.flatnonzero(above)])


def _with_tight(rows: Index, tight: Index) -> Iterator[Index]:
    """Yield rows with the tight ones, if there are any."""
    if len(tight):
        yield np.concatenate([rows, tight])
