"""Conditions of the multipliers' derivative along a direction.

Along c + theta c', t + theta t' and phi(x) + theta psi let alpha' be the derivative of
alpha, and w' = A'alpha' + beta_i psi that of the function, beta_i being the coefficient
of a point x that moves. The slack u_r of a row then moves by

    u'_r = g_r - (A w')_r - b' s_r,     g_r = t'_r - A_ri df(x) / dx_k

    u_r < 0                     alpha'_r = 0
    u_r > 0                     alpha'_r = c'_r
                                [ squared hinge: 2 c_r u'_r + 2 c'_r u_r ]
    u_r = 0, 0 < alpha_r < c_r  u'_r = 0
    u_r = 0, alpha_r = 0        alpha'_r >= 0,    u'_r <= 0, one of them 0
                                [ squared hinge: alpha'_r = 2 c_r max(u'_r, 0) ]
    u_r = 0, alpha_r = c_r      alpha'_r <= c'_r, u'_r >= 0, one equality holds

and s'alpha' = 0. These are the conditions of a convex quadratic program in alpha', and
of a linear system if no row is of the last two kinds.

References
----------
A. Shapiro. Sensitivity analysis of nonlinear programs and differentiability properties
of metric projections. 1988.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from equimargin.solvers.exact.active_set import ActiveSet
from equimargin.solvers.exact.numbers import (
    Fractions,
    as_fractions,
    fractions,
    to_common_denominator,
)
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.sensitivity.base import Rows, SensitivityBase
from equimargin.solvers.exact.sensitivity.direction import ZERO, Direction, inner


@dataclass(frozen=True, eq=False)
class Tangent:
    """Conditions of alpha' at an optimum, a bias and a direction.

    Parameters
    ----------
    base : SensitivityBase
        Optimum.
    way : Direction
        Direction.
    u : Fractions of shape (p,)
        Slacks at the bias of `followed_bias`.
    falls, rises : ndarray of shape (p,)
        True if alpha_r is above 0; True if it is below c_r.
    """

    base: SensitivityBase
    way: Direction
    u: Fractions
    falls: NDArray[np.bool_]
    rises: NDArray[np.bool_]

    @cached_property
    def slope(self) -> Fraction:
        """Derivative df(x) / dx_k at the moving point, 0 if none moves."""
        return ZERO if self.way.moved is None else inner(self.way.moved.first, self.base.beta)

    @cached_property
    def g(self) -> Fractions:
        """Increase of the slacks with f and b fixed, shape (p,)."""
        return (
            self.way.t
            if self.way.moved is None
            else np.asarray(self.way.t - self.way.moved.entries * self.slope)
        )

    @cached_property
    def bound(self) -> Fractions:
        """Known entries of alpha', 0 elsewhere, shape (p,)."""
        base, way, found = self.base, self.way, fractions(len(self.u))
        rows = np.flatnonzero((self.u > 0) & ((base.c == 0) | (not base.squared)))
        found[rows] = 2 * way.c[rows] * self.u[rows] if base.squared else way.c[rows]
        return found

    @cached_property
    def free(self) -> Rows:
        """Rows whose alpha' may have either sign."""
        if self.base.squared:
            return np.flatnonzero((self.u > 0) & (self.base.c > 0))
        return np.flatnonzero((self.u == 0) & self.falls & self.rises)

    @cached_property
    def edge(self) -> Rows:
        """Rows whose alpha' is bounded on one side, or on both if a cost grows from 0."""
        if self.base.squared:
            return np.flatnonzero((self.u == 0) & (self.base.c > 0))
        moves = (self.base.c > 0) | (self.way.c != 0)
        return np.flatnonzero((self.u == 0) & ~(self.falls & self.rises) & moves)

    def right(self, rows: Rows) -> Fractions:
        """Return the right-hand side of the equations with H alpha' + b' s, (rows,).

        They hold in rows where u' = 0, or where u' determines alpha'. The terms of the
        known alpha' and of beta_i psi are subtracted.

        Parameters
        ----------
        rows : Rows
            Rows.
        """
        base, moved = self.base, self.way.moved
        numbers = base.numbers
        v = self.g - numbers.dot(numbers.values(numbers.pulled(self.bound)))
        if moved is not None:
            v = v - base.beta[moved.point] * numbers.dot(moved.first)
        return np.asarray(v[rows] + self.drift[rows])

    @cached_property
    def drift(self) -> Fractions:
        """Term alpha_r c'_r / (2 c_r^2) of the squared hinge, shape (p,).

        It is the decrease of alpha_r / (2 c_r) with alpha_r fixed.
        """
        found = fractions(len(self.u))
        if self.base.squared:
            rows = self.free
            found[rows] = self.base.alpha[rows] * self.way.c[rows] / (2 * self.base.c[rows] ** 2)
        return found

    def by_linear_system(self) -> Fractions | None:
        """Return alpha', (p,), if one linear system determines it, otherwise None."""
        numbers, rows = self.base.numbers, self.free
        if len(self.edge):
            return None
        right, den = to_common_denominator(
            np.append(self.right(rows) * numbers.unit, -(numbers.s * self.bound).sum())
        )
        balance = right.tolist()[-1:] if numbers.biased else []
        try:
            found = ActiveSet(numbers, Clock(inf)).solved(
                rows.tolist(), right.tolist()[:-1], balance
            )
        except ZeroDivisionError:
            return None
        alpha = self.bound.copy()
        alpha[rows] = as_fractions([v / den for v in found[: len(rows)]])
        return alpha

    def bias(self, alpha: Fractions, w: Fractions) -> Fraction | None:
        """Return b' if the conditions determine it, otherwise None.

        Parameters
        ----------
        alpha : Fractions of shape (p,)
            Derivative alpha'.
        w : Fractions of shape (m,)
            Values of w' at the points, the moving one fixed.
        """
        base, s = self.base, self.base.numbers.s
        rows = np.concatenate([self.free, self.edge])
        v = (self.g - base.numbers.dot(w) + self.drift)[rows] - base.numbers.ridge[rows] * alpha[
            rows
        ] / Fraction(base.numbers.unit)
        rises, falls = self.room(rows, alpha)
        below = (v * s[rows])[np.where(s[rows] > 0, rises, falls)]
        above = (v * s[rows])[np.where(s[rows] > 0, falls, rises)]
        if not len(below) or not len(above) or max(below) != min(above):
            return None
        return Fraction(max(below))

    def room(self, rows: Rows, alpha: Fractions) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return masks of the rows whose alpha' could be larger, and smaller.

        Parameters
        ----------
        rows : Rows
            Rows to check.
        alpha : Fractions of shape (p,)
            Derivative alpha' of all rows.
        """
        if self.base.squared:
            return np.ones(len(rows), dtype=np.bool_), (self.u[rows] > 0) | (alpha[rows] > 0)
        rises = self.rises[rows] | (alpha[rows] < self.way.c[rows])
        return rises, self.falls[rows] | (alpha[rows] > 0)
