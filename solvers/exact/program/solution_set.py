"""All solutions of a linear system, as affine functions of its free numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.rational import Matrix, Row
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.integers import WORK, forecast

ZERO, ONE = Fraction(0), Fraction(1)


class Affine(NamedTuple):
    """Number slope't + constant.

    Parameters
    ----------
    slope : Row
        Nonzero entries of the slope, by the place in t.
    constant : Fraction
        Value at t = 0.
    """

    slope: Row
    constant: Fraction

    def at(self, t: Sequence[Fraction]) -> Fraction:
        """Return the number at t.

        Parameters
        ----------
        t : sequence of Fraction
            Values of all numbers that are free.
        """
        return sum((a * t[k] for k, a in self.slope.items()), self.constant)


class SolutionSet(NamedTuple):
    """All solutions x of a linear system that has one.

    Parameters
    ----------
    lines : list[Affine]
        x_j as functions of t, in the order of j.
    freedom : int
        Length of t.
    """

    lines: list[Affine]
    freedom: int

    def inserted(self, row: Row) -> Affine:
        """Return row'x as a function of t.

        Parameters
        ----------
        row : Row
            Nonzero entries by the place in x.
        """
        slope, constant = dict[int, Fraction](), ZERO
        for j, a in row.items():
            constant += a * self.lines[j].constant
            for k, v in self.lines[j].slope.items():
                slope[k] = slope.get(k, ZERO) + a * v
        return Affine({k: v for k, v in slope.items() if v}, constant)


def solution_set(rows: Matrix, right: Sequence[Fraction], clock: Clock) -> SolutionSet:
    """Return all solutions of a linear system that has one.

    Parameters
    ----------
    rows : Matrix of shape (k, n)
        Matrix of the system.
    right : sequence of Fraction, of length k
        Right-hand side.
    clock : Clock
        Time limit.

    Raises
    ------
    OutOfTime
        If the elimination would take too long.
    """
    # A row of one number gives its value: most numbers of an optimum are at a bound.
    known = {
        j: end / a
        for row, end in zip(rows.rows, right, strict=True)
        if len(row) == 1
        for j, a in row.items()
    }
    unknown = [j for j in range(rows.width) if j not in known]
    place = {j: k for k, j in enumerate(unknown)}
    left = [(row, end) for row, end in zip(rows.rows, right, strict=True) if set(row) & set(place)]
    entries_of = (v for row, _ in left for v in row.values())
    bits = max(
        (max(v.numerator.bit_length(), v.denominator.bit_length()) for v in entries_of), default=1
    )
    clock.ask(WORK, forecast(len(unknown), bits))
    matrix = flint.fmpq_mat(len(left), len(unknown) + 1)
    for i, (row, end) in enumerate(left):
        rest = end - sum((a * known[j] for j, a in row.items() if j in known), ZERO)
        matrix[i, len(unknown)] = flint.fmpq(rest.numerator, rest.denominator)
        for j, a in row.items():
            if j in place:
                matrix[i, place[j]] = flint.fmpq(a.numerator, a.denominator)
    reduced, rank = matrix.rref()
    entries = [
        {k: Fraction(int(v.p), int(v.q)) for k, v in enumerate(line) if v}
        for line in reduced.tolist()[:rank]
    ]
    # The first entry of a reduced row is 1 and determines its number by the later ones.
    pivots = {min(line): line for line in entries}
    free = {k: number for number, k in enumerate(k for k in place.values() if k not in pivots)}

    def line(j: int) -> Affine:
        if j in known:
            return Affine({}, known[j])
        k = place[j]
        if k in free:
            return Affine({free[k]: ONE}, ZERO)
        others = {free[at]: -v for at, v in pivots[k].items() if at in free}
        return Affine(others, pivots[k].get(len(unknown), ZERO))

    return SolutionSet([line(j) for j in range(rows.width)], len(free))
