"""An exact solution of a sparse linear system near a given point, the system having any rank.

First the system is made smaller: a row of one unknown gives its value, and an unknown
that is in one row only is computed from it last. Of what is left, the columns that are
independent modulo a large prime make a regular system, which is solved by p-adic
lifting; the other unknowns keep their given values. Independence modulo a prime implies
that in rationals. Where the prime hides a dependency, a row is left unsatisfied, so
that every row is checked.

Source: J. Dixon, Exact solution of linear equations using p-adic expansions, Numerische
Mathematik 40 (1982).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.integers import PRIME, WORK, pivot_columns, regular_solution

CHECK = "the exact check of a solution"
"""What the clock is asked about last: whoever gets a solution will put it into the program."""
CHECK_SECONDS = 7e-10
"""Seconds that the check takes for one entry of the system and one bit of the solution, as measured on 500 unknowns."""
MODULAR_SECONDS = 5e-9
"""Seconds of one step of an elimination modulo the prime, as measured."""


class Inconsistent(Exception):
    """The system has no solution."""


def solution_near(
    rows: Matrix,
    right: Sequence[Fraction],
    near: Sequence[Fraction],
    clock: Clock,
    preference: Sequence[float] | None = None,
) -> list[Fraction] | None:
    """An exact solution that differs from a given point in as few independent unknowns as the system needs; None without a solution.

    Parameters
    ----------
    rows : Matrix of shape (k, n)
    right : Sequence[Fraction] of shape (k,)
    near : Sequence[Fraction] of shape (n,)
        The values of the unknowns that the system leaves open.
    clock : Clock
        The time limit.
    preference : Sequence[float] | None of shape (n,)
        Unknowns of larger numbers are changed rather than those of smaller ones; None
        where it does not matter.

    Raises
    ------
    OutOfTime
        It would take too long.
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
    """The seconds that it takes to put a solution into its program, as measured."""
    bits = max((v.denominator.bit_length() + v.numerator.bit_length() for v in solution), default=0)
    return CHECK_SECONDS * sum(map(len, rows.rows)) * bits / 2


def independent_rows(rows: Matrix, clock: Clock) -> list[int]:
    """The rows that are independent of those before them, modulo the prime and therefore in rationals.

    Parameters
    ----------
    rows : Matrix of shape (k, n)
    clock : Clock
        The time limit.

    Raises
    ------
    OutOfTime
        It would take too long.
    """
    return pivot_columns(
        _modular(
            [dict(entries) for entries, _ in rows.integers], range(rows.width), clock
        ).transpose()
    )


class _System:
    """The state of a solution.

    Parameters
    ----------
    rows, right
        The system, without the unknowns whose values are known.
    left
        rows that are neither solved nor put off.
    rows_of
        Those of `left` that each unknown is in.
    known : dict[int, Fraction]
        Values by unknown.
    put_off : list[tuple[int, int]]
        rows, and the unknown that each gives last.
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
        """Take out rows of one unknown and unknowns of one row, until there are none."""
        rows, unknowns = list(self.left), list(range(len(self.near)))
        while rows or unknowns:
            self.clock.ask(WORK)
            if rows:
                rows += self._solve_row(rows.pop())
            else:
                unknowns += self._put_off_row_of(unknowns.pop())

    def _solve_row(self, i: int) -> list[int]:
        """Solve row i if it has at most one unknown; the rows that this unknown was in."""
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
        """Put the one row of unknown j off, if it has one only and is the preferred unknown there; the unknowns of that row."""
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
        """Solve what `shrink` has left: give values to all unknowns that are not put off."""
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
        """The values of all unknowns, once those that were put off are computed too."""
        for i, j in reversed(self.put_off):
            self.known[j] = self._rest(i, {j}) / self.rows[i][j]
        return [self.known[j] for j in range(len(self.near))]

    def _rest(self, i: int, unknowns: Container[int]) -> Fraction:
        """The right side of row i less its known part, which is summed in integers: long fractions would be made coprime at every step."""
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
        """Row i as integers, and the factor that made them so."""
        unit = lcm(*{v.denominator for v in self.rows[i].values()})
        return {j: v.numerator * (unit // v.denominator) for j, v in self.rows[i].items()}, unit

    def _independent(self, rows: list[int], unknowns: list[int]) -> tuple[list[int], list[int]]:
        """Unknowns, the first ones that can be, and rows that are independent modulo the prime, as many of each."""
        modular = _modular([self._integers(i)[0] for i in rows], unknowns, self.clock)
        return [unknowns[k] for k in pivot_columns(modular)], [
            rows[k] for k in pivot_columns(modular.transpose())
        ]

    def _regular(
        self, rows: list[int], at: Mapping[int, int], right: Sequence[Fraction]
    ) -> list[Fraction]:
        """The solution of rows that are independent, in as many unknowns."""
        from flint import fmpz_mat

        size = len(rows)
        if not size:
            return []
        matrix, ends = fmpz_mat(size, size), []
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
    """Rows of integers modulo the prime, as a matrix over some unknowns."""
    from flint import nmod_mat

    clock.ask(WORK, MODULAR_SECONDS * len(rows) * len(unknowns) * min(len(rows), len(unknowns)))
    at = {j: k for k, j in enumerate(unknowns)}
    matrix = nmod_mat(len(rows), len(unknowns), PRIME)
    for k, row in enumerate(rows):
        for j, v in row.items():
            matrix[k, at[j]] = v % PRIME
    return matrix
