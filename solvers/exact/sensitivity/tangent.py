"""How multipliers can move along a direction: which are bound to, which are free to, and which only one way.

Along c + theta c', t + theta t' and phi(x) + theta psi let alpha' be the derivative of
alpha, and w' = A'alpha' + beta_i psi that of the function, beta_i being the coefficient
of a point x that moves. The slack u_r of a row then moves by

    u'_r = g_r - (A w')_r - b' s_r,     g_r = t'_r - A_ri df(x) / dx_k

    u_r < 0                     alpha'_r = 0
    u_r > 0                     alpha'_r = c'_r                              [ squared hinge: 2 c_r u'_r + 2 c'_r u_r ]
    u_r = 0, 0 < alpha_r < c_r  u'_r = 0
    u_r = 0, alpha_r = 0        alpha'_r >= 0,    u'_r <= 0, one of them 0   [ squared hinge: alpha'_r = 2 c_r max(u'_r, 0) ]
    u_r = 0, alpha_r = c_r      alpha'_r <= c'_r, u'_r >= 0, one equality holds

and s'alpha' = 0. These are the conditions of a convex quadratic program in alpha', and
of a linear system where no row is of the last two.

Source: A. Shapiro, Sensitivity analysis of nonlinear programs and differentiability
properties of metric projections (1988).
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
    """The conditions of alpha' at an optimum, a bias and a direction.

    Parameters
    ----------
    base, way
        The optimum and the direction.
    u : Fractions of shape (p,)
        Slacks at the bias that is followed.
    falls, rises : NDArray[np.bool_] of shape (p,)
        Whether alpha_r is above 0, and below c_r.
    """

    base: SensitivityBase
    way: Direction
    u: Fractions
    falls: NDArray[np.bool_]
    rises: NDArray[np.bool_]

    @cached_property
    def slope(self) -> Fraction:
        """df(x) / dx_k of the point that moves, 0 where none does."""
        return ZERO if self.way.moved is None else inner(self.way.moved.first, self.base.beta)

    @cached_property
    def g(self) -> Fractions:
        """(p,) by how much slacks grow with f and b held."""
        return (
            self.way.t
            if self.way.moved is None
            else np.asarray(self.way.t - self.way.moved.entries * self.slope)
        )

    @cached_property
    def bound(self) -> Fractions:
        """(p,) alpha' of the rows where it is known, 0 elsewhere."""
        base, way, found = self.base, self.way, fractions(len(self.u))
        rows = np.flatnonzero((self.u > 0) & ((base.c == 0) | (not base.squared)))
        found[rows] = 2 * way.c[rows] * self.u[rows] if base.squared else way.c[rows]
        return found

    @cached_property
    def free(self) -> Rows:
        """The rows whose alpha' may have either sign."""
        if self.base.squared:
            return np.flatnonzero((self.u > 0) & (self.base.c > 0))
        return np.flatnonzero((self.u == 0) & self.falls & self.rises)

    @cached_property
    def edge(self) -> Rows:
        """The rows whose alpha' is bounded on one side, or on both where a cost grows from 0."""
        if self.base.squared:
            return np.flatnonzero((self.u == 0) & (self.base.c > 0))
        moves = (self.base.c > 0) | (self.way.c != 0)
        return np.flatnonzero((self.u == 0) & ~(self.falls & self.rises) & moves)

    def right(self, rows: Rows) -> Fractions:
        """(rows,) what H alpha' + b' s has to be where u' is 0 or alpha' follows it: the known alpha' and beta_i psi are subtracted."""
        base, moved = self.base, self.way.moved
        numbers = base.numbers
        v = self.g - numbers.dot(numbers.values(numbers.pulled(self.bound)))
        if moved is not None:
            v = v - base.beta[moved.point] * numbers.dot(moved.first)
        return np.asarray(v[rows] + self.drift[rows])

    @cached_property
    def drift(self) -> Fractions:
        """(p,) alpha_r c'_r / (2 c_r^2) of the squared hinge: by how much alpha_r / (2 c_r) falls where alpha_r is held."""
        found = fractions(len(self.u))
        if self.base.squared:
            rows = self.free
            found[rows] = self.base.alpha[rows] * self.way.c[rows] / (2 * self.base.c[rows] ** 2)
        return found

    def by_linear_system(self) -> Fractions | None:
        """alpha', (p,), where one linear system says what it is; None where it does not."""
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
        """b', where the conditions leave one value; None otherwise.

        Parameters
        ----------
        alpha : Fractions of shape (p,)
            alpha'.
        w : Fractions of shape (m,)
            w' at the points, the moving one held.
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
        """Whether alpha' of these rows, (p,) of all, could be larger, and smaller."""
        if self.base.squared:
            return np.ones(len(rows), dtype=np.bool_), (self.u[rows] > 0) | (alpha[rows] > 0)
        rises = self.rises[rows] | (alpha[rows] < self.way.c[rows])
        return rises, self.falls[rows] | (alpha[rows] > 0)
