"""Feasible points and multipliers near given ones, moved off the boundary.

    E v = e,   F v <= f,   cones,   lower <= v <= upper

1. Least squares move v until the equations hold in floats, and until inequalities,
   cones and bounds have a small margin as their slack. Only those that lack it take part
   in a step, so that any number of them may meet in v.
2. An exact solution of the equations is in a small ball around v (`equations`): the
   margins pay for its radius.

The smallest margin that suffices proves the best end. Without an interior, such as with
opposite inequalities, no margin does. Multipliers are points of the dual's constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.programs.standard_form import StandardForm
from equimargin.proofs.outward.ends import Ball, lower_end, upper_end
from equimargin.proofs.outward.equations import Equations, power_of_two

MARGINS = (1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
"""Slacks of inequalities, relative to the sizes of their terms, tried in turn."""
SMALL_TERM = 1e-3
"""Size added to those of an inequality's terms and of a variable."""
SMALLEST_SIZE = 1e-9
"""Minimum size of a variable."""
STEPS = 20
"""Maximum number of steps for a margin."""
SHARPNESS = 1e8
"""Weight of the missing slack, relative to that of the change."""
EQUATION = 1e-15
"""Weight of the change, relative to that of an equation."""
MAX_GRAM = 3000
"""Maximum number of rows of least squares by a dense factorisation."""
ITERATIONS = 100
"""Maximum number of iterations of least squares with more rows."""
ROUGH = 1e-3
"""Relative residual at which iterations end."""


def interior_points(form: StandardForm, x: Array) -> Iterator[tuple[float, Ball]]:
    """Yield proven upper ends, and balls around the feasible points that prove them.

    Parameters
    ----------
    form : StandardForm
        Program.
    x : ndarray of shape (n,)
        Point nearby.
    """
    for ball in _balls_inside(form, x):
        value = upper_end(form, ball, np.arange(form.zero))
        yield value, ball
        if value < np.inf:
            return


def interior_multipliers(
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
    used = np.flatnonzero(np.diff(form.P.indptr))
    k, no_lower, no_upper = len(used), np.isinf(form.lower), np.isinf(form.upper)
    free = np.flatnonzero(no_lower & no_upper)
    if not no_lower.any() and not no_upper.any():
        return
    dual = _dual_of(form, used, free)
    for ball in _balls_inside(dual, np.concatenate([x[used], z])):
        X = Ball.point(x.copy())
        X.middle[used], X.radius[used] = ball.middle[:k], ball.radius[:k]
        Z = Ball(ball.middle[k:], ball.radius[k:])
        value = lower_end(form, X, Z, free)
        yield value, (X, Z)
        if value > -np.inf:
            return


def _dual_of(form: StandardForm, used: Index, free: Index) -> StandardForm:
    """Return the constraints of v = (x of the used columns, z) as those of a program.

    P x + q + G'z is 0 at free columns, and of one sign at those with one bound.
    """
    from scipy import sparse

    k, stop = len(used), form.zero + form.nonneg
    below = np.flatnonzero(np.isfinite(form.lower) & np.isinf(form.upper))
    above = np.flatnonzero(np.isinf(form.lower) & np.isfinite(form.upper))
    M = sparse.csr_array(sparse.hstack([form.P[:, used], form.G.T]))
    size = k + len(form.h)
    lower = np.full(size, -np.inf)
    lower[k + form.zero : k + stop] = 0.0
    in_cones = -sparse.eye_array(size, format="csr")[k + stop :]
    return StandardForm(
        sparse.csr_array((size, size)),
        np.zeros(size),
        sparse.csr_array(sparse.vstack([M[free], -M[below], M[above], in_cones])),
        np.concatenate([-form.q[free], form.q[below], -form.q[above], np.zeros(sum(form.cones))]),
        len(free),
        len(below) + len(above),
        form.cones,
        lower,
        np.full(size, np.inf),
        0.0,
    )


def _balls_inside(form: StandardForm, x: Array) -> Iterator[Ball]:
    """Yield balls that contain a solution of the equations, off the other constraints."""
    x = np.clip(x, form.lower, form.upper)
    sizes = np.maximum(np.abs(x), SMALL_TERM * min(1.0, float(np.abs(x).max(initial=0.0))))
    weight = power_of_two(np.minimum(np.maximum(sizes, SMALLEST_SIZE), form.upper - form.lower))
    equations = Equations.factored(form.G[: form.zero], form.h[: form.zero], weight)
    if equations is None:
        return
    for share in MARGINS:
        point = _Interior(form, weight, share).near(equations.nearest(x))
        if point is not None:
            yield equations.ball(equations.nearest(point))


@dataclass(frozen=True, eq=False)
class _Interior:
    """Constraints with margins: shares of the sizes of their terms.

    Parameters
    ----------
    form : StandardForm
        Program.
    weight : ndarray of shape (n,)
        Sizes of the variables, 0 for fixed ones.
    share : float
        Margin, relative to the sizes.
    """

    form: StandardForm
    weight: Array
    share: float

    @np.errstate(all="ignore")
    def near(self, x: Array) -> Array | None:
        """Return a point near x with slack in all inequalities, or None."""
        low, high = self._narrowed()
        v, rows = x, np.zeros(self.form.nonneg + len(self.form.cones), dtype=np.bool_)
        side = np.zeros(len(x))
        for _ in range(STEPS):
            F, slack, margin = self._inequalities(v)
            lacks = slack < margin / 2
            short = np.sign(np.maximum(low - v, 0.0) - np.maximum(v - high, 0.0))
            room = self.share * self.weight / 2
            short[(v >= low - room) & (v <= high + room)] = 0.0
            if not lacks.any() and not short.any():
                return v
            rows, side = rows | lacks, np.where(short != 0, short, side)
            aim = slack[rows] - margin[rows] + F[rows] @ (v - x)
            move = np.where(side > 0, low, high) - x
            step = self._step(F[rows], aim, x, np.where(side != 0, move, np.nan))
            if step is None:
                return None
            change, pressure, pull = step
            v = x + change
            rows[rows] = pressure < 0
            side[side * pull <= 0] = 0.0
        return None

    def _narrowed(self) -> tuple[Array, Array]:
        """Return bounds that are narrowed by the margin; their middle if that is too much."""
        lower, upper, margin = self.form.lower, self.form.upper, self.share * self.weight
        low, high = lower + margin, upper - margin
        narrow = ~(low <= high)
        middle = lower / 2 + upper / 2
        return np.where(narrow, middle, low), np.where(narrow, middle, high)

    def _inequalities(self, v: Array) -> tuple[Any, Array, Array]:
        """Return gradients of the inequalities and of the cones, their slacks and margins.

        A cone |u| <= t has the slack t - |u|.
        """
        from scipy import sparse

        form = self.form
        rows, ends = form.G[form.zero :], form.h[form.zero :]
        s = ends - rows @ v
        sizes = abs(rows) @ np.abs(v) + np.abs(ends) + SMALL_TERM
        if not form.cones:
            return rows, s, self.share * sizes
        start = form.nonneg
        parts: list[Any] = [sparse.eye_array(start)]
        slack, size_parts = [s[:start]], [sizes[:start]]
        for size in form.cones:
            t, u = s[start], s[start + 1 : start + size]
            norm = float(np.linalg.norm(u))
            parts.append(np.concatenate([[1.0], -u / norm if norm > 0 else u])[None, :])
            slack.append(np.array([t - norm]))
            size_parts.append(np.array([sizes[start : start + size].max()]))
            start += size
        F = sparse.csr_array(sparse.block_diag(parts, format="csr") @ rows)
        return F, np.concatenate(slack), self.share * np.concatenate(size_parts)

    def _step(self, F: Any, aim: Array, x: Array, move: Array) -> tuple[Array, Array, Array] | None:
        """Return least squares: the change, and the multipliers of F and of the moves.

        The change d has E (x + d) near e, F d near aim, and d near move, where that is
        not a NaN.
        """
        from scipy import sparse

        zero, E = self.form.zero, self.form.G[: self.form.zero]
        weight = np.where(self.weight > 0, self.weight, 1.0)
        B = sparse.csr_array(sparse.vstack([E, F]) * self.weight[None, :])
        aims = np.concatenate([self.form.h[:zero] - E @ x, aim])
        lengths = np.sqrt(np.asarray(B.multiply(B).sum(axis=1)).ravel())
        lengths[lengths == 0] = 1.0
        start = np.where(np.isnan(move), 0.0, move) / weight
        # Moves are nearly certain, and other changes are free.
        scale = np.where(np.isnan(move), 1.0, SHARPNESS**-0.5)
        D = sparse.csr_array(B.multiply(1 / lengths[:, None]) * scale[None, :])
        goal = (aims - B @ start) / lengths
        soft = np.where(np.arange(len(goal)) < zero, EQUATION, 1 / SHARPNESS)
        force = _solve_gram(D, soft, goal)
        if force is None:
            return None
        found = D.T @ force
        change = (start + scale * found) * self.weight
        pull = start - found / scale
        return (change, force[zero:], pull) if np.isfinite(change).all() else None


def _solve_gram(D: Any, soft: Array, goal: Array) -> Array | None:
    """Return a solution of (D D' + diag(soft)) y = goal, or None; rough for many rows."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve
    from scipy.sparse.linalg import LinearOperator, cg

    k = len(goal)
    if k > MAX_GRAM:
        pull = D.T.tocsr()
        product = LinearOperator((k, k), matvec=lambda y: D @ (pull @ y) + soft * y)
        return np.asarray(cg(product, goal, rtol=ROUGH, maxiter=ITERATIONS)[0])
    gram = (D @ D.T).toarray()
    gram[np.diag_indices(k)] += soft
    try:
        return np.asarray(cho_solve(cho_factor(gram, check_finite=False), goal, check_finite=False))
    except LinAlgError:
        return None
