"""Primal active-set method in rational numbers, started from a float solution.

    min  q(alpha) = 1/2 alpha'H alpha - t'alpha,   H = A K A' + diag(1 / (2 c)),
    s.t. s'alpha = 0,   0 <= alpha <= box

Every row, that is its multiplier, is at a bound, or fixed strictly inside, or free. T
are the free rows; their system [ H_TT s_T; s_T' 0 ] is nonsingular. Invariants:

    alpha is feasible,   T is strictly inside the box,
    g_T = 0 for g = H alpha - t + b s, with the b that T determines.

A row i outside T whose g_i has the wrong sign moves inwards, and T moves with it so
that g_T stays 0. When g_i becomes 0, i joins T. When a row of T reaches its bound
first, it leaves T, and i moves on. When i reaches its own other bound, it stays there.
With a bias the last row of T cannot leave unless i replaces it. If T is empty, two rows
violate together: one gives the largest lower bound of b, the other the smallest upper
bound; the latter joins T first. If nothing stops i, the direction d has H d = 0,
s'd = 0, d >= 0 and t'd > 0: it is a ray, and the problem in f is infeasible.

The method terminates for every choice of rows. T is strictly inside, or is the one row
that violates together with i and moves inwards like it. Every move therefore has a
positive length and decreases q strictly. Because the system of T is nonsingular, alpha
after the moves of a row is determined by the rows at each bound, by T, and by the fixed
rows, which stay where they started and never become more. There are finitely many
choices of these rows, and none occurs twice because q has decreased. One row makes at
most one move more than T has rows.

References
----------
J. Nocedal, S. Wright. Numerical Optimization, section 16.5.

R. Fletcher. Practical Methods of Optimization, section 10.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import inf, lcm

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.programs.extras import flint
from equimargin.solvers.exact.numbers import (
    Fractions,
    IntegerProblem,
    Integers,
    as_fractions,
    as_integers,
    fractions,
    solve_integer_system,
    to_common_denominator,
)
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.integers import PRIME, pivot_columns

LARGEST_SYSTEM = 1000
"""Maximum number of variables of a linear system.

Such a system takes ten seconds or more, in which no interrupt is noticed.
"""
KEPT_PLACES = 40
"""Binary places, below the largest multiplier, of rounded float multipliers."""

Ends = tuple[Fraction | None, Fraction | None]


class ActiveSet:
    """State of the method.

    Parameters
    ----------
    numbers : IntegerProblem
        Problem in integers.
    clock : Clock
        Limits on time and pivots, checked before every pivot and linear system.

    Attributes
    ----------
    alpha : Fractions of shape (p,)
        Multipliers.
    T : list[int]
        Free rows.
    pivots : int
        Number of rows that have moved.
    rises, falls : ndarray of shape (p,)
        True for rows below their upper bound; True for rows above 0.
    """

    def __init__(self, numbers: IntegerProblem, clock: Clock) -> None:
        self.numbers, self.clock = numbers, clock
        self.alpha: Fractions = fractions(numbers.p)
        self.rises, self.falls = (
            np.zeros(numbers.p, dtype=np.bool_),
            np.zeros(numbers.p, dtype=np.bool_),
        )
        self.T: list[int] = []
        self.pivots = 0

    def start(self, alpha: Fractions, inside: Sequence[int]) -> None:
        """Move to the optimum over these rows, or as far as the box allows.

        Parameters
        ----------
        alpha : Fractions of shape (p,)
            Feasible multipliers.
        inside : Sequence[int]
            Rows strictly inside the box. Of dependent rows the first are free.
        """
        self.alpha, self.T = alpha, self._independent(list(inside))
        self._place(range(self.numbers.p))
        while self.T:
            self.clock.ask_pivot(self.pivots)
            d = self._towards_optimum()
            step = min(
                [Fraction(1), *(bound for bound in map(self._room, self.T, d) if bound is not None)]
            )
            self._move(self.T, d, step)
            if step == 1:
                break

    def run(self) -> Fractions | None:
        """Pivot to the optimum; return the ray of an infeasible problem, else None."""
        while (entering := self._violating()) is not None:
            self.clock.ask_pivot(self.pivots)
            ray = self._enter(*entering)
            self.pivots += 1
            if ray is not None:
                return ray
        return None

    def gradient(self) -> tuple[Integers, int]:
        """Return H alpha - t, (p,), as integers and a denominator."""
        numbers = self.numbers
        x, den = to_common_denominator(self.alpha)
        g = numbers.dot(numbers.product(numbers.rdot(x))) + numbers.ridge * x - numbers.t * den
        return g, den * numbers.unit

    def bias(self) -> Ends:
        """Return the endpoints of the interval of optimal b; None if infinite.

        For these b, g >= 0 at the lower bounds, g <= 0 at the upper bounds and g = 0
        inside.
        """
        (low, _), (high, _) = self._ends(*self.gradient())
        return low, high

    def direction(self, weights: Fractions) -> Fractions:
        """Return d alpha / dC, (p,), at the optimum for the bounds C x weights.

        It holds as long as no row reaches or leaves a bound. T becomes a maximal
        independent part of the rows strictly inside; the others of them stay fixed.

        Parameters
        ----------
        weights : Fractions of shape (p,)
            Costs of the rows over C.
        """
        d: Fractions = fractions(self.numbers.p)
        d[self.falls & ~self.rises] = weights[self.falls & ~self.rises]
        solved_for = set(self.T)
        self.T = self._independent(
            sorted(
                np.flatnonzero(self.rises & self.falls).tolist(), key=lambda r: r not in solved_for
            )
        )
        x, den = to_common_denominator(d)
        pull = self.numbers.dot(self.numbers.product(self.numbers.rdot(x)))
        balance = [-int((self.numbers.s * x).sum())] if self.numbers.biased else []
        moved = self.solved(self.T, [-v for v in pull[self.T]], balance)
        d[self.T] = as_fractions([v / den for v in moved[: len(self.T)]])
        return d

    def _ends(
        self, g: Integers, den: int
    ) -> tuple[tuple[Fraction | None, int], tuple[Fraction | None, int]]:
        """Return the largest lower and smallest upper bound of b, each with its row."""
        up, down, s = self.rises, self.falls, self.numbers.s
        below, above = (
            np.flatnonzero(np.where(s > 0, up, down)),
            np.flatnonzero(np.where(s > 0, down, up)),
        )
        i = int(max(below, key=lambda r: -s[r] * g[r], default=-1))
        j = int(min(above, key=lambda r: -s[r] * g[r], default=-1))
        return (Fraction(-s[i] * g[i], den) if i >= 0 else None, i), (
            Fraction(-s[j] * g[j], den) if j >= 0 else None,
            j,
        )

    def _place(self, rows: Iterable[int]) -> None:
        """Update, after these rows have moved, which of them can increase and decrease."""
        for r in rows:
            box, a = self.numbers.box[r], self.alpha[r]
            self.rises[r], self.falls[r] = box is None or a < box, a > 0

    def _violating(self) -> tuple[int, int, Fraction] | None:
        """Return the row of largest violation, its direction, and the slope of q.

        None at the optimum.
        """
        g, den = self.gradient()
        numbers = self.numbers
        if numbers.biased and not self.T:
            (low, _), (high, j) = self._ends(g, den)
            if low is None or high is None or low <= high:
                return None
            self.T = [j]
        if numbers.biased:
            first = self.T[0]
            g = g - numbers.s * (numbers.s[first] * g[first])
        wrong = np.where((g < 0) & self.rises, -g, np.where((g > 0) & self.falls, g, 0))
        if not wrong.any():
            return None
        i = int(wrong.argmax())
        return i, -int(np.sign(g[i])), Fraction(-wrong[i], den)

    def _enter(self, i: int, way: int, slope: Fraction) -> Fractions | None:
        """Move row i, and T with it, until i is free or at a bound.

        Return the ray if nothing stops i, otherwise None.
        """
        numbers = self.numbers
        while True:
            column = numbers.block(self.T, [i])[:, 0]
            balance = [-way * numbers.s[i]] if numbers.biased else []
            *d, price = [
                *self.solved(self.T, [-way * v for v in column], balance),
                *([] if numbers.biased else [Fraction(0)]),
            ]
            pull = sum((v * w for v, w in zip(column, d, strict=True)), Fraction(0))
            # The curvature is d'H d = way ((H d)_i + s_i price), by (H d)_T + s_T price = 0.
            curvature = (
                way
                * (way * numbers.block([i], [i])[0, 0] + pull + numbers.s[i] * price)
                / numbers.unit
            )
            rows, d = [*self.T, i], [*d, Fraction(way)]
            bounds = [bound for bound in map(self._room, rows, d) if bound is not None]
            # q is quadratic along d: its slope is 0 at the step -slope / curvature.
            if curvature > 0:
                bounds.append(-slope / curvature)
            # Without a bound and without curvature, q decreases without end along d.
            if not bounds:
                ray: Fractions = fractions(numbers.p)
                ray[rows] = d
                return ray
            step = min(bounds)
            stationary = slope + step * curvature == 0
            self._move(rows, d, step)
            if stationary or (numbers.biased and not self.T):
                if self._strictly_inside(i):
                    self.T.append(i)
                return None
            if not self._strictly_inside(i):
                return None
            slope += step * curvature

    def _move(self, rows: Sequence[int], d: Sequence[Fraction], step: Fraction) -> None:
        """Move these rows to alpha + step d; rows of T that reach a bound leave T."""
        self.alpha = self.alpha.copy()
        self.alpha[list(rows)] += step * as_fractions(d)
        self._place(rows)
        self.T = [r for r in self.T if self._strictly_inside(r)]

    def _strictly_inside(self, r: int) -> bool:
        return bool(self.rises[r] and self.falls[r])

    def _room(self, r: int, d: Fraction) -> Fraction | None:
        """Return the maximal step of row r in direction d; None if it is unbounded."""
        box, a = self.numbers.box[r], self.alpha[r]
        if d < 0:
            return Fraction(-a / d)
        return None if box is None or d == 0 else Fraction((box - a) / d)

    def _towards_optimum(self) -> list[Fraction]:
        """Return the direction of T from alpha to their optimum, the other rows fixed."""
        g, den = self.gradient()
        d = self.solved(self.T, [-v for v in g[self.T]], [0] if self.numbers.biased else [])
        return [v * self.numbers.unit / den for v in d[: len(self.T)]]

    def solved(
        self, T: Sequence[int], right: Sequence[int], balance: Sequence[int]
    ) -> list[Fraction]:
        """Return the solution of [ H_TT s_T; s_T' 0 ] (d, b) = (right, balance).

        H is in integers. Without a bias there is neither s nor b.

        Parameters
        ----------
        T : Sequence[int]
            Free rows.
        right : Sequence[int]
            Integers of the right-hand side for T.
        balance : Sequence[int]
            Right-hand side of the last equation; empty without a bias.
        """
        numbers = self.numbers
        if not T:
            return []
        if not numbers.biased and len(T) > numbers.m and numbers.ridge[T].all():
            return self._solved_by_points(T, as_integers(right))
        matrix = numbers.block(T, T)
        if balance:
            s = numbers.s[T]
            matrix = np.block([[matrix, s[:, None]], [s[None, :], np.zeros((1, 1), dtype=object)]])
        return self._system(matrix, [*right, *balance])

    def _solved_by_points(self, T: Sequence[int], right: Integers) -> list[Fraction]:
        """Return `solved` for more rows than points, by a system over the points.

        d = D^-1 (right - A_T Z beta) with (I + A_T'D^-1 A_T Z) beta = A_T'D^-1 right.
        """
        numbers, D = self.numbers, self.numbers.ridge[T]
        index, entry, unit = numbers.index[T], numbers.entry[T], lcm(*set(D.tolist()))
        weight, laplacian, pull = (
            unit // D,
            np.zeros((numbers.m, numbers.m), dtype=object),
            np.zeros(numbers.m, dtype=object),
        )
        for i, a in zip(index.T, entry.T, strict=True):
            np.add.at(pull, i, a * weight * right)
            for j, b in zip(index.T, entry.T, strict=True):
                np.add.at(laplacian, (i, j), a * b * weight)
        matrix = numbers.times(laplacian)
        matrix[np.diag_indices(numbers.m)] += unit
        beta, den = to_common_denominator(as_fractions(self._system(matrix, pull.tolist())))
        margins = (entry * numbers.product(beta)[index]).sum(axis=1)
        return [
            Fraction(v, d)
            for v, d in zip((right * den - margins).tolist(), (D * den).tolist(), strict=True)
        ]

    def _system(self, matrix: Integers, right: Sequence[int]) -> list[Fraction]:
        """Solve a system of integers, unless it is too large."""
        if len(matrix) > LARGEST_SYSTEM:
            raise ValueError(
                f"too large: a linear system of {len(matrix):,} variables, the limit of "
                f"exact arithmetic is {LARGEST_SYSTEM:,}"
            )
        return solve_integer_system(matrix, right, self.clock)

    def _independent(self, rows: list[int]) -> list[int]:
        """Return a maximal part of these rows with a nonsingular system.

        H, plus s s' for a bias, must be nonsingular modulo a prime. Rows that are
        independent modulo a prime are independent; a row that only appears dependent
        may join T later.
        """
        if not rows or self.numbers.ridge[rows].all():
            return rows
        matrix = self.numbers.block(rows, rows) + np.multiply.outer(
            self.numbers.s[rows], self.numbers.s[rows]
        )
        return [
            rows[k]
            for k in pivot_columns(
                flint.nmod_mat(len(rows), len(rows), (matrix % PRIME).ravel().tolist(), PRIME)
            )
        ]


def round_to_active_set(
    problem: MarginProblem, numbers: IntegerProblem, point: Point
) -> tuple[Fractions, list[int]]:
    """Return feasible multipliers near a float solution, and those strictly inside.

    Parameters
    ----------
    problem : MarginProblem
        Problem.
    numbers : IntegerProblem
        Problem in integers.
    point : Point
        Float alpha, with b if known; f has the coefficients A'alpha.

    Returns
    -------
    alpha : Fractions of shape (p,)
        Feasible multipliers.
    inside : list[int]
        Rows strictly inside the box, the innermost first.
    """
    alpha = np.clip(np.nan_to_num(np.asarray(point.alpha, dtype=np.float64)), 0.0, problem.box)
    lower, upper, depth = _sides(problem, alpha, point.b)
    quantum = Fraction(2) ** (int(np.frexp(alpha.max(initial=0.0))[1]) - KEPT_PLACES)
    exact: Fractions = fractions(problem.p)
    for r in np.flatnonzero(upper):
        exact[r] = numbers.box[r]
    for r in np.flatnonzero(~lower & ~upper):
        exact[r] = _within(round(Fraction(float(alpha[r])) / quantum) * quantum, numbers.box[r])
    if numbers.biased:
        balance(numbers, exact)
    inside = [
        int(r)
        for r in range(problem.p)
        if exact[r] > 0 and (numbers.box[r] is None or exact[r] < numbers.box[r])
    ]
    return exact, sorted(inside, key=lambda r: -depth[r])


def _sides(
    problem: MarginProblem, alpha: Array, b: float | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Return the rows at 0, the rows at the upper bound, and the depth of the others.

    With share_r the multiplier over its upper bound, and u_r the slack over the largest
    target, a row is at 0 if share_r < -u_r, and at the upper bound if 1 - share_r <
    u_r. The depth is the distance of share_r from 0 and 1. All arrays have shape (p,).
    """
    f, target = problem.gram @ problem.rows.rdot(alpha), problem.rows.largest_target
    u = problem.slack(f, problem.bias_at(f) if b is None else b) / target
    boxed = np.isfinite(problem.box) & (not problem.squared)
    ends = 2 * problem.costs * target if problem.squared else problem.box
    share = np.divide(
        alpha,
        np.where(np.isfinite(ends), ends, alpha.max(initial=0.0)),
        out=np.zeros_like(alpha),
        where=alpha > 0,
    )
    lower = (-u > share) | (problem.box == 0)
    return (
        lower,
        boxed & ~lower & (u > 1 - share),
        np.where(boxed, np.minimum(share, 1 - share), share),
    )


def _within(a: Fraction, box: Fraction | None) -> Fraction:
    return max(a, Fraction(0)) if box is None else min(max(a, Fraction(0)), box)


def balance(numbers: IntegerProblem, alpha: Fractions) -> None:
    """Decrease multipliers to s'alpha = 0: rows strictly inside first, then the rest.

    Parameters
    ----------
    numbers : IntegerProblem
        Problem in integers.
    alpha : Fractions of shape (p,)
        Multipliers, modified in place.
    """
    excess = sum((s * a for s, a in zip(numbers.s, alpha, strict=True)), Fraction(0))
    sign = 1 if excess > 0 else -1
    order = sorted(
        np.flatnonzero((numbers.s == sign) & (alpha > 0)), key=lambda r: alpha[r] == numbers.box[r]
    )
    for r in order:
        taken = min(abs(excess), alpha[r])
        alpha[r] -= taken
        excess -= sign * taken


def check_optimality(numbers: IntegerProblem, alpha: Fractions, b: Fraction) -> Fraction:
    """Return the optimal value after checking every optimality condition.

        0 <= alpha <= box,   s'alpha = 0,
        g_r >= 0 where alpha_r = 0,   g_r <= 0 where alpha_r = box_r,   g_r = 0 elsewhere

    Parameters
    ----------
    numbers : IntegerProblem
        Problem in integers.
    alpha : Fractions of shape (p,)
        Multipliers.
    b : Fraction
        Bias; 0 without one.

    Returns
    -------
    Fraction
        Optimal value.

    Raises
    ------
    ArithmeticError
        If a condition does not hold.
    """
    state = ActiveSet(numbers, Clock(inf))
    state.alpha = alpha
    g0, den = state.gradient()
    g = g0 * b.denominator + numbers.s * (b.numerator * den)
    x, x_den = to_common_denominator(alpha)
    low, high = (
        x == 0,
        np.array([a == box for a, box in zip(alpha, numbers.box, strict=True)], dtype=np.bool_),
    )
    within = all(
        a >= 0 and (box is None or a <= box) for a, box in zip(alpha, numbers.box, strict=True)
    )
    signs = (low & (g >= 0)) | (high & (g <= 0)) | (low & high) | (g == 0)
    if not (within and int((numbers.s * x).sum()) == 0 and signs.all()):
        raise ArithmeticError("the conditions of the optimum do not hold")
    return Fraction(int((x * (numbers.t * x_den - g0)).sum()), 2 * numbers.unit * x_den**2)
