"""Exact solution of a sparse linear system of any rank, near a given point.

First the system is reduced: a row of one variable gives its value, and a variable that
is in one row only is computed from that row last. Of the remaining system, the columns
that are independent modulo a large prime form a regular system, which is solved by
p-adic lifting; the other variables keep their given values. Independence modulo a prime
implies independence in rationals. If the prime hides a dependency, a row remains
unsatisfied, so that every row is checked.

References
----------
J. Dixon. Exact solution of linear equations using p-adic expansions. Numerische
Mathematik 40 (1982).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.integers import PRIME, WORK, pivot_columns, regular_solution

CHECK = "the exact check of a solution"
"""Name of the final work in messages of the clock.

The caller of a solution will insert it into the program.
"""
CHECK_SECONDS = 7e-10
"""Seconds of the check per entry of the system and bit of the solution.

Measured on 500 variables.
"""
MODULAR_SECONDS = 5e-9
"""Measured seconds of one step of an elimination modulo the prime."""


class Inconsistent(Exception):
    """Linear system without a solution."""


def solution_near(
    rows: Matrix,
    right: Sequence[Fraction],
    near: Sequence[Fraction],
    clock: Clock,
    preference: Sequence[float] | None = None,
) -> list[Fraction] | None:
    """Return an exact solution near a given point, or None without a solution.

    It differs from the point in as few independent variables as the system needs.

    Parameters
    ----------
    rows : Matrix of shape (k, n)
        Matrix of the system.
    right : sequence of Fraction, of length k
        Right-hand side.
    near : sequence of Fraction, of length n
        Values of the variables that the system leaves open.
    clock : Clock
        Time limit.
    preference : sequence of float, of length n, or None
        Preference of every variable: those of larger preference are changed rather than
        those of smaller; None if irrelevant.

    Raises
    ------
    OutOfTime
        If the solution would take too long.
    """
    system = _System(rows, right, near, preference, clock)
    try:
        system.shrink()
        system.solve_core()
    except Inconsistent:
        return None
    found = system.completed()
    clock.ask(CHECK, check_forecast(rows, found))
    return found


def check_forecast(rows: Matrix, solution: Sequence[Fraction]) -> float:
    """Return the expected seconds of inserting a solution into its program.

    The rate is measured.

    Parameters
    ----------
    rows : Matrix
        Matrix of the system.
    solution : Sequence[Fraction]
        Solution.
    """
    bits = max((v.denominator.bit_length() + v.numerator.bit_length() for v in solution), default=0)
    return CHECK_SECONDS * sum(map(len, rows.rows)) * bits / 2


def independent_rows(rows: Matrix, clock: Clock) -> list[int]:
    """Return the rows independent of the preceding ones, modulo the prime.

    They are therefore independent in rationals.

    Parameters
    ----------
    rows : Matrix of shape (k, n)
        Matrix.
    clock : Clock
        Time limit.

    Raises
    ------
    OutOfTime
        If the elimination would take too long.
    """
    return pivot_columns(
        _modular(
            [dict(entries) for entries, _ in rows.integers], range(rows.width), clock
        ).transpose()
    )


class _System:
    """State of the solution of a linear system.

    Attributes
    ----------
    rows, right : list
        System, without the variables of known values.
    left : set[int]
        Rows that are neither solved nor postponed.
    rows_of : list[set[int]]
        Remaining rows of each variable.
    known : dict[int, Fraction]
        Values by variable.
    put_off : list[tuple[int, int]]
        Postponed rows, and the variable that each gives last.
    """

    def __init__(
        self,
        rows: Matrix,
        right: Sequence[Fraction],
        near: Sequence[Fraction],
        preference: Sequence[float] | None,
        clock: Clock,
    ) -> None:
        self.rows = [dict(row) for row in rows.rows]
        self.right = list(right)
        self.near = near
        self.preference = [0.0] * len(near) if preference is None else preference
        self.clock = clock
        self.left = set(range(len(self.rows)))
        self.rows_of = [set(column) for column in rows.transposed.rows]
        self.known: dict[int, Fraction] = {}
        self.put_off: list[tuple[int, int]] = []

    def shrink(self) -> None:
        """Remove rows of one variable and variables of one row, until there are none."""
        rows, unknowns = list(self.left), list(range(len(self.near)))
        while rows or unknowns:
            self.clock.ask(WORK)
            if rows:
                rows += self._solve_row(rows.pop())
            else:
                unknowns += self._put_off_row_of(unknowns.pop())

    def _solve_row(self, i: int) -> list[int]:
        """Solve row i if it has at most one variable; return the variable's other rows."""
        if i not in self.left or len(self.rows[i]) > 1:
            return []
        self.left.discard(i)
        if not self.rows[i]:
            self._hold(i)
            return []
        ((j, a),) = self.rows[i].items()
        self.known[j] = self.right[i] / a
        changed = [other for other in self.rows_of[j] if other != i]
        for other in changed:
            self.right[other] -= self.rows[other].pop(j) * self.known[j]
        self.rows_of[j] = set()
        return changed

    def _put_off_row_of(self, j: int) -> list[int]:
        """Move the only row of variable j to the postponed ones; return its variables.

        The row stays if it contains a variable preferred to j, or j has several rows.
        """
        if len(self.rows_of[j]) != 1:
            return []
        (i,) = self.rows_of[j]
        if any(self.preference[k] > self.preference[j] for k in self.rows[i]):
            return []
        self.left.discard(i)
        self.put_off.append((i, j))
        for k in self.rows[i]:
            self.rows_of[k].discard(i)
        return list(self.rows[i])

    def solve_core(self) -> None:
        """Solve the system left by `shrink` for all variables that are not postponed."""
        rows = sorted(self.left)
        core = sorted(
            {j for i in rows for j in self.rows[i]}, key=lambda j: (-self.preference[j], j)
        )
        put_off = {j for _, j in self.put_off}
        open_unknowns = set(range(len(self.near))) - put_off - set(self.known)
        basic, kept = self._independent(rows, core)
        for j in open_unknowns - set(basic):
            self.known[j] = self.near[j]
        at = {j: k for k, j in enumerate(basic)}
        right = [self._rest(i, at) for i in kept]
        for j, value in zip(basic, self._regular(kept, at, right), strict=True):
            self.known[j] = value
        for i in self.left - set(kept):
            self._hold(i)

    def completed(self) -> list[Fraction]:
        """Return the values of all variables, computing the postponed ones."""
        for i, j in reversed(self.put_off):
            self.known[j] = self._rest(i, {j}) / self.rows[i][j]
        return [self.known[j] for j in range(len(self.near))]

    def _rest(self, i: int, unknowns: Container[int]) -> Fraction:
        """Return the right-hand side of row i minus its known part.

        The sum is computed in integers: Fractions would be reduced at every step.
        """
        self.clock.ask(WORK)
        entries, unit = self._integers(i)
        terms = [(a, self.known[j]) for j, a in entries.items() if j not in unknowns]
        denominator = lcm(*{value.denominator for _, value in terms})
        factors = {value.denominator: denominator // value.denominator for _, value in terms}
        total = sum(a * value.numerator * factors[value.denominator] for a, value in terms)
        return self.right[i] - Fraction(total, unit * denominator)

    def _hold(self, i: int) -> None:
        """Raise Inconsistent unless row i is satisfied."""
        if self._rest(i, ()) != 0:
            raise Inconsistent

    def _integers(self, i: int) -> tuple[dict[int, int], int]:
        """Return row i as integers, and their common factor."""
        unit = lcm(*{v.denominator for v in self.rows[i].values()})
        return {j: v.numerator * (unit // v.denominator) for j, v in self.rows[i].items()}, unit

    def _independent(self, rows: list[int], unknowns: list[int]) -> tuple[list[int], list[int]]:
        """Return variables and rows, as many of each, independent modulo the prime.

        The first possible variables are chosen.
        """
        modular = _modular([self._integers(i)[0] for i in rows], unknowns, self.clock)
        return [unknowns[k] for k in pivot_columns(modular)], [
            rows[k] for k in pivot_columns(modular.transpose())
        ]

    def _regular(
        self, rows: list[int], at: Mapping[int, int], right: Sequence[Fraction]
    ) -> list[Fraction]:
        """Return the solution of independent rows in as many variables."""
        size = len(rows)
        if not size:
            return []
        matrix, ends = flint.fmpz_mat(size, size), []
        bits = 1
        for k, i in enumerate(rows):
            entries, unit = self._integers(i)
            ends.append(right[k] * unit)
            for j, v in entries.items():
                if j in at:
                    matrix[k, at[j]] = v
                    bits = max(bits, v.bit_length())
        unit = lcm(*{end.denominator for end in ends})
        found = regular_solution(
            matrix, [end.numerator * (unit // end.denominator) for end in ends], bits, self.clock
        )
        return [v / unit for v in found]


def _modular(rows: Sequence[Mapping[int, int]], unknowns: Sequence[int], clock: Clock) -> Any:
    """Return rows of integers modulo the prime, as a matrix over some variables."""
    clock.ask(WORK, MODULAR_SECONDS * len(rows) * len(unknowns) * min(len(rows), len(unknowns)))
    at = {j: k for k, j in enumerate(unknowns)}
    matrix = flint.nmod_mat(len(rows), len(unknowns), PRIME)
    for k, row in enumerate(rows):
        for j, v in row.items():
            matrix[k, at[j]] = v % PRIME
    return matrix
