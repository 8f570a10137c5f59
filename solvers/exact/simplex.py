"""Simplex method in rational numbers for one-norm programs, started from HiGHS's basis.

    min  c'x + C'xi    s.t.  B x + xi - eta = 1,   x, xi, eta >= 0,   c = 1,
    B = A K (over points)  or  A K A' (over rows)

C are the costs of the rows. A bias b is the difference of two further variables in x,
without a cost: B then has the columns s and -s.

A basis has some columns S of x and, in every row r, xi_r, eta_r or neither. T are the
rows with neither; they are as many as S, and B_TS is nonsingular:

    B_TS x_S = 1,     u_r = C_r where xi_r is basic, 0 where eta_r is,
    B_TS' u_T = c_S - (B'u)_S over the other rows.

A basis with x_S >= 0 becomes feasible when each row outside T takes xi_r or eta_r by
the sign of 1 - (B x)_r. If x_S >= 0 does not hold, the method starts from x = 0,
xi = 1. It terminates because every pivot takes the first column that can enter and the
first that can leave.

References
----------
R. G. Bland. New finite pivoting rules for the simplex method. Mathematics of Operations
Research 2 (1977).

V. Chvátal. Linear Programming. 1983, chapter 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.programs.extras import highspy
from equimargin.solvers.exact.numbers import (
    Fractions,
    IntegerProblem,
    Integers,
    as_fractions,
    as_integers,
    finite_costs,
    fractions,
    solve_integer_system,
    to_common_denominator,
)
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.lp import highs

FLOAT_TOL = 1e-9
"""Absolute feasibility tolerance of HiGHS.

It is tight: a basis closer to the optimal one needs fewer exact pivots.
"""
Basis = frozenset[int]
"""Indices of the basic columns among x_1 .. x_n, xi_1 .. xi_p, eta_1 .. eta_p."""


@dataclass(frozen=True, eq=False)
class Vertex:
    """Basis and its point.

    Parameters
    ----------
    basis : Basis
        Basic columns.
    x : Fractions of shape (n,)
        Primal variables.
    u : Fractions of shape (p,)
        Dual variables.
    surplus : Integers of shape (p,)
        Integers (B x - 1) surplus_unit.
    surplus_unit : int
        Denominator of `surplus`.
    price : Fractions of shape (n,)
        Reduced costs c - B'u.
    """

    basis: Basis
    x: Fractions
    u: Fractions
    surplus: Integers
    surplus_unit: int
    price: Fractions

    @property
    def feasible(self) -> bool:
        """True if x >= 0."""
        return bool((self.x >= 0).all())


class OneNormSimplex:
    """Simplex method for a one-norm program.

    Parameters
    ----------
    problem : OneNormProblem
        Program.
    numbers : IntegerProblem
        Program in integers.
    clock : Clock
        Limits on time and pivots, checked before every pivot and linear system.

    Attributes
    ----------
    x : Fractions of shape (n,)
        Primal variables of the last vertex; 0 before the first.
    c : Fractions of shape (n,)
        Costs of x.
    C : Fractions of shape (p,)
        Costs of the slacks.
    pivots : int
        Number of pivots.
    """

    def __init__(self, problem: OneNormProblem, numbers: IntegerProblem, clock: Clock) -> None:
        self.numbers, self.clock = numbers, clock
        self.size, self.p, self.C = problem.size, problem.p, as_fractions(finite_costs(problem))
        self.over_rows, self.bias = problem.over == "rows", problem.bias
        self.n = self.size + 2 * self.bias
        self.c: Fractions = fractions(self.n)
        self.c[: self.size] = Fraction(1)
        self.x: Fractions = fractions(self.n)
        self.pivots = 0

    def solve(self, basis: Basis) -> Vertex:
        """Return the optimal vertex.

        Parameters
        ----------
        basis : Basis
            Initial basis, which may be infeasible or singular.
        """
        vertex = self.vertex(basis)
        if vertex is None or not vertex.feasible:
            vertex = self.vertex(frozenset(range(self.n, self.n + self.p)))
        assert vertex is not None
        vertex = self._completed(vertex)
        while (entering := self._entering(vertex)) is not None:
            self.x = vertex.x
            self.clock.ask_pivot(self.pivots)
            after = self.vertex(self._pivoted(vertex, entering))
            assert after is not None
            vertex = after
            self.pivots += 1
        return vertex

    def vertex(self, basis: Basis) -> Vertex | None:
        """Return the vertex of a basis, or None if B_TS is singular or not square.

        Parameters
        ----------
        basis : Basis
            Basic columns.
        """
        n, p, numbers, (S, T) = self.n, self.p, self.numbers, self._parts(basis)
        x, u = fractions(n), fractions(p)
        slack = [k - n for k in basis if n <= k < n + p]
        u[slack] = self.C[slack]
        if len(S) != len(T):
            return None
        if S:
            matrix, (missing, unit) = (
                self._block(T, S),
                to_common_denominator((self.c - self._prices(u))[S]),
            )
            try:
                x[S] = self._solved(matrix, as_integers([numbers.unit] * len(T)), 1)
                u[T] = self._solved(matrix.T, missing * numbers.unit, unit)
            except ZeroDivisionError:
                return None
        margins, den = self._margins(x)
        return Vertex(
            basis, x, u, margins - den * numbers.unit, den * numbers.unit, self.c - self._prices(u)
        )

    def _parts(self, basis: Basis) -> tuple[list[int], list[int]]:
        """Return S and T."""
        n, p = self.n, self.p
        taken = {(k - n) % p for k in basis if k >= n}
        return sorted(k for k in basis if k < n), [r for r in range(p) if r not in taken]

    def _completed(self, vertex: Vertex) -> Vertex:
        """Return the vertex with the same S and T that is feasible in the other rows.

        xi or eta of every other row is basic by the sign of B x - 1.
        """
        n, p, (S, T) = self.n, self.p, self._parts(vertex.basis)
        rows = set(range(p)) - set(T)
        above = {
            r
            for r in rows
            if vertex.surplus[r] > 0 or (vertex.surplus[r] == 0 and n + p + r in vertex.basis)
        }
        basis = frozenset(S) | {n + r for r in rows - above} | {n + p + r for r in above}
        completed = vertex if basis == vertex.basis else self.vertex(basis)
        # S and T are unchanged, so that B_TS is nonsingular.
        assert completed is not None
        return completed

    def _entering(self, vertex: Vertex) -> int | None:
        """Return the first column with a negative reduced cost, or None."""
        n, p, basis = self.n, self.p, vertex.basis
        # The reduced costs are c - B'u for x, C - u for xi, and u for eta.
        columns = (j for j in range(n) if vertex.price[j] < 0 and j not in basis)
        above = (n + r for r in range(p) if vertex.u[r] > self.C[r] and n + r not in basis)
        below = (n + p + r for r in range(p) if vertex.u[r] < 0 and n + p + r not in basis)
        return next((k for part in (columns, above, below) for k in part), None)

    def _pivoted(self, vertex: Vertex, entering: int) -> Basis:
        """Return the basis after a column has entered.

        Of the columns that reach 0 first, the first one leaves.
        """
        n, p, (S, T) = self.n, self.p, self._parts(vertex.basis)
        d = fractions(n)
        if entering < n:
            d[entering] = Fraction(1)
            right = -self._block(T, [entering])[:, 0]
        else:
            way = -1 if entering < n + p else 1
            right = as_integers([way * self.numbers.unit * (r == (entering - n) % p) for r in T])
        d[S] = self._solved(self._block(T, S), right, 1)
        margins, den = self._margins(d)
        ratios = [(Fraction(-vertex.x[j] / d[j]), j) for j in S if d[j] < 0]
        for k in vertex.basis:
            r, way = (k - n) % p, -1 if k < n + p else 1
            if k >= n and way * margins[r] < 0:
                ratios.append(
                    (
                        Fraction(
                            -vertex.surplus[r] * den * self.numbers.unit,
                            margins[r] * vertex.surplus_unit,
                        ),
                        k,
                    )
                )
        leaving = min(ratios)[1]
        return (vertex.basis - {leaving}) | {entering}

    def _block(self, rows: Sequence[int], columns: Sequence[int]) -> Integers:
        """Return B[rows, columns] as integers."""
        numbers, size = self.numbers, self.size
        r, inner = (
            np.asarray(rows, dtype=np.int64),
            np.array([j for j in columns if j < size], dtype=np.int64),
        )
        block = np.zeros((len(rows), len(columns)), dtype=object)
        block[:, [j >= size for j in columns]] = self._signs(r)[
            :, [j - size for j in columns if j >= size]
        ]
        if self.over_rows:
            part = numbers.block(r, inner)
        else:
            part = np.zeros((len(r), len(inner)), dtype=object)
            for i, a in zip(numbers.index[r].T, numbers.entry[r].T, strict=True):
                part += a[:, None] * numbers.K[np.ix_(i, inner)]
        block[:, [j < size for j in columns]] = part
        return block

    def _signs(self, rows: Any) -> Integers:
        """Return the columns s and -s as integers, (rows, 2)."""
        s = self.numbers.unit * self.numbers.s[rows]
        return np.stack([s, -s], axis=1)

    def _margins(self, x: Fractions) -> tuple[Integers, int]:
        """Return unit (B x), (p,), as integers and a denominator."""
        values, den = to_common_denominator(x)
        beta = self.numbers.rdot(values[: self.size]) if self.over_rows else values[: self.size]
        margins = self.numbers.dot(self.numbers.product(beta))
        return margins + self._signs(slice(None)) @ values[
            self.size :
        ] if self.bias else margins, den

    def _prices(self, u: Fractions) -> Fractions:
        """Return B'u, (n,), as Fractions."""
        values, den = to_common_denominator(u)
        prices = self.numbers.product(self.numbers.rdot(values))
        prices = self.numbers.dot(prices) if self.over_rows else prices
        if self.bias:
            prices = np.append(prices, self._signs(slice(None)).T @ values)
        return as_fractions([Fraction(v, den * self.numbers.unit) for v in prices.tolist()])

    def best_bias(self, vertex: Vertex) -> tuple[Fraction | None, Fraction | None]:
        """Return the endpoints of all optimal b for the vertex's f; None if infinite.

        (0, 0) without a bias. The slope of the sum of losses in b is the cost of the
        rows whose breakpoints are below b, less the cost of the rows of sign +1.

        Parameters
        ----------
        vertex : Vertex
            Vertex.
        """
        if not self.bias:
            return Fraction(0), Fraction(0)
        b = vertex.x[-2] - vertex.x[-1]
        signs = self.numbers.s.tolist()
        breakpoints = sorted(
            (b - s * Fraction(int(v), vertex.surplus_unit), cost)
            for s, v, cost in zip(signs, vertex.surplus, self.C.tolist(), strict=True)
            if cost
        )
        slope = -sum((c for s, c in zip(signs, self.C.tolist(), strict=True) if s > 0), Fraction(0))
        # The slope is at most 0 below `low`, and above 0 beyond the next breakpoint.
        low: Fraction | None = None
        for place, cost in breakpoints:
            if slope >= 0:
                return low, place if slope == 0 else low
            low, slope = place, slope + cost
        return low, None if slope == 0 else low

    def _solved(self, matrix: Integers, right: Integers, den: int) -> Fractions:
        """Return y with matrix y = right / den, as Fractions.

        A singular matrix raises ZeroDivisionError.
        """
        return as_fractions(
            [v / den for v in solve_integer_system(matrix, right.tolist(), self.clock)]
        )


def highs_basis(problem: OneNormProblem, time_limit: float) -> Basis:
    """Return HiGHS's final basis, K scaled to unit mean K_ii; else that of x = 0, xi = 1.

    Parameters
    ----------
    problem : OneNormProblem
        Program.
    time_limit : float
        Time limit in seconds.
    """
    from scipy import sparse

    p, scale = problem.p, problem.gram.mean_diagonal
    AK = problem.rows.matrix @ (problem.gram.dense / scale)
    B = AK if problem.over == "points" else AK @ problem.rows.matrix.T
    c = np.ones(problem.size)
    if problem.bias:
        B, c = np.column_stack([B, problem.rows.s, -problem.rows.s]), np.append(c, [0.0, 0.0])
    n = len(c)
    M = sparse.csc_array(sparse.hstack([sparse.csc_array(-B), -sparse.eye_array(p)]))
    with np.errstate(over="ignore"):  # a cost of 1e20 is infinite to HiGHS, too
        costs, nothing = np.concatenate([c, problem.costs * scale]), np.zeros(n + p)
    ends = np.full(p, -np.inf), -np.ones(p)
    program = highs.LinearProgram(
        costs, nothing, np.full(n + p, np.inf), M.indptr, M.indices, M.data, *ends
    )
    start = highs.Basis(np.arange(n + p) >= n, np.zeros(p, dtype=bool))
    found = highs.run(program, start, nothing > 0, FLOAT_TOL, None, time_limit).getBasis()
    basic = highspy.HighsBasisStatus.kBasic
    columns = {k for k, status in enumerate(found.col_status) if status == basic}
    rows = {n + p + r for r, status in enumerate(found.row_status) if status == basic}
    return frozenset(columns | rows) if found.valid else frozenset(range(n, n + p))


def check_vertex(program: OneNormSimplex, vertex: Vertex) -> Fraction:
    """Return the optimal value after checking every optimality condition.

        x >= 0,   0 <= u <= C,   B'u <= c,   c'x + C'xi = 1'u

    Parameters
    ----------
    program : OneNormSimplex
        Program.
    vertex : Vertex
        Vertex to check.

    Raises
    ------
    ArithmeticError
        If a condition does not hold.
    """
    loss = sum((C * int(v) for v, C in zip(vertex.surplus, program.C, strict=True) if v < 0), 0)
    primal = sum(program.c * vertex.x, Fraction(0)) - Fraction(loss) / vertex.surplus_unit
    dual = sum(vertex.u, Fraction(0))
    box = all(0 <= v <= C for v, C in zip(vertex.u, program.C, strict=True))
    if not (vertex.feasible and box and (vertex.price >= 0).all() and primal == dual):
        raise ArithmeticError("the conditions of the optimum do not hold")
    return dual
