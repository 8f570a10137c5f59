"""Least-index criss-cross pivots in integers, for convex quadratic or linear programs.

They end at the optimum of every program that has one. The optimality conditions are a
linear complementarity problem: with x = u, or x = u - e t if the sign of a variable is
free,

    w = M v + r,   v >= 0,   w >= 0,   w'v = 0,      M = [ P  R' ; -R  0 ],   r = (q, d),
    v = (u, t, multipliers of R x <= d).

M is positive semidefinite and therefore sufficient, so that the method terminates. All
numbers of a dictionary are integers over one denominator.

References
----------
S. Zionts. The criss-cross method for solving linear programming problems. 1969.

D. den Hertog, C. Roos, T. Terlaky. The linear complementarity problem, sufficient
matrices, and the criss-cross method. 1993.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.face import Pair

LARGEST_DICTIONARY = 140
"""Maximum size of a dictionary; one of 80 rows takes about 5 s.

The time grows faster than the cube.
"""
WORK = "the exact pivots"
"""Name of the work in messages of the clock."""
Numbers = NDArray[Any]
"""Array of Fractions or of Python integers."""


def optimum_by_pivots(program: Program, clock: Clock) -> Pair | None:
    """Return an optimum with its multipliers, both exact.

    Parameters
    ----------
    program : Program
        Program without second-order cones, P positive semidefinite.
    clock : Clock
        Time limit.

    Returns
    -------
    Pair or None
        None if there is no optimum, or the program is too large.

    Raises
    ------
    OutOfTime
        If the pivots would take too long.
    """
    # A x = b becomes A x <= b and -1'A x <= -1'b; free variables share the shift t.
    signed = _signed(program)
    own = [i for i in range(len(program.h)) if i not in signed.values()]
    free = [j for j in range(program.n) if j not in signed]
    m, last = len(program.b), 1 if program.b else 0
    rows = Matrix(
        (*program.A.rows, *([_total(program.A)] * last), *(program.G.rows[i] for i in own)),
        program.n,
    )
    ends = [*program.b, *([-sum(program.b)] * last), *(program.h[i] for i in own)]
    if program.n + 1 + rows.height > LARGEST_DICTIONARY:
        return None
    P = _with_shift(_with_shift(_dense(program.P), free).T, free)
    q, R = (
        _with_shift(np.array([program.q], dtype=object), free)[0],
        _with_shift(_dense(rows), free),
    )
    M = np.block([[P, R.T], [-R, np.full((len(R), len(R)), Fraction(0))]])
    solution = _Dictionary(M, np.array([*q, *ends], dtype=object)).solve(clock)
    if solution is None:
        return None
    v, w = solution
    n = program.n
    shift = v[n] if free else Fraction(0)
    x = [v[j] if j in signed else v[j] - shift for j in range(n)]
    prices = v[len(q) :]
    y = [prices[i] - prices[m] for i in range(m)]
    z = dict(zip(own, prices[m + last :], strict=True)) | {
        i: w[j] / -program.G.rows[i][j] for j, i in signed.items()
    }
    return Pair(tuple(x), tuple(y), tuple(z[i] for i in range(len(program.h))))


class _Dictionary:
    """Dictionary of w = M v + r with some entries of w and v exchanged.

    It has numerators over one positive denominator; the last column is r.
    """

    def __init__(self, M: Numbers, r: Numbers) -> None:
        self.unit = lcm(*{v.denominator for v in M.flat}, *{v.denominator for v in r})
        table = np.column_stack([M, r])
        self.table = np.array(
            [[v.numerator * (self.unit // v.denominator) for v in row] for row in table],
            dtype=object,
        )
        self.denominator = 1
        self.seconds = 0.0
        self.exchanged = np.zeros(len(r), dtype=np.bool_)

    def solve(self, clock: Clock) -> tuple[list[Fraction], list[Fraction]] | None:
        """Return v and w, or None if there is no solution."""
        while True:
            i = next((k for k, v in enumerate(self.table[:, -1]) if v < 0), None)
            if i is None:
                return self._values()
            if self.table[i, i] != 0:
                self._pivot(i, i, clock)
                self.exchanged[i] ^= True
                continue
            j = next((k for k, v in enumerate(self.table[i, :-1]) if v > 0), None)
            if j is None:
                return None
            self._pivot(i, j, clock)
            self._pivot(j, i, clock)
            self.table[[i, j]] = self.table[[j, i]]
            self.table[:, [i, j]] = self.table[:, [j, i]]
            self.exchanged[[i, j]] ^= True

    def _pivot(self, i: int, j: int, clock: Clock) -> None:
        """Exchange the variable of row i with that of column j.

        The divisions are exact (Sylvester's identity). A pivot is expected to take as
        long as the previous one.
        """
        clock.ask(WORK, self.seconds)
        started = time.monotonic()
        pivot, column = self.table[i, j], self.table[:, j].copy()
        table = (self.table * pivot - np.multiply.outer(column, self.table[i])) // self.denominator
        table[:, j] = column
        table[i] = -self.table[i]
        table[i, j] = self.denominator
        self.table, self.denominator = (table, pivot) if pivot > 0 else (-table, -pivot)
        self.seconds = time.monotonic() - started

    def _values(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return v and w; w was scaled by the unit."""
        ends, zero = self.table[:, -1], Fraction(0)
        v = [
            Fraction(end, self.denominator) if inside else zero
            for end, inside in zip(ends, self.exchanged, strict=True)
        ]
        over = self.denominator * self.unit
        return v, [
            zero if inside else Fraction(end, over)
            for end, inside in zip(ends, self.exchanged, strict=True)
        ]


def _signed(program: Program) -> dict[int, int]:
    """Return the nonnegative variables, each with its row a x_j <= 0, a < 0."""
    rows: dict[int, int] = {}
    for i, (row, end) in enumerate(zip(program.G.rows, program.h, strict=True)):
        if len(row) == 1 and end == 0:
            ((j, a),) = row.items()
            if a < 0:
                rows.setdefault(j, i)
    return rows


def _total(A: Matrix) -> dict[int, Fraction]:
    """Return minus the sum of the rows of A.

    Its inequality and A x <= b together imply A x = b.
    """
    sums = A.transposed.times([Fraction(1)] * A.height)
    return {j: -v for j, v in enumerate(sums) if v != 0}


def _dense(M: Matrix) -> Numbers:
    table = np.full((M.height, M.width), Fraction(0), dtype=object)
    for i, row in enumerate(M.rows):
        for j, v in row.items():
            table[i, j] = v
    return table


def _with_shift(M: Numbers, free: Sequence[int]) -> Numbers:
    """Return M with a last column for t, minus the sum of the free variables' columns.

    Without free variables it is M itself.
    """
    return np.column_stack([M, -M[:, free].sum(axis=1)]) if free else M
