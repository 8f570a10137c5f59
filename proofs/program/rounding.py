"""By how much the roundings of the numbers that a program is stated in may move its optimum.

A formulation that computes its numbers in floats, A'A or a scaled matrix, is proven
exactly of the numbers that it computed, and those are not quite the ones that were
meant. Let x, y, z be optimal for the one program and x' for the other, and let every
number v of theirs differ by at most e |v|. Then the optimum of the other one is not
lower than that of the one by more than e (S + R), with

    S = 1/2 |x|'|P||x| + |q|'|x| + |c| + |y|'(|A||x| + |b|) + |z|'(|G||x| + |h|),
    R = (|P||x| + |q| + |A|'|y| + |G|'|z|)' |x' - x|.

The reason: the Lagrangian of the other program at y and z is convex, and at most its
optimum at x'. At x it differs by at most e S from that of the one, which is the optimum
there, and its slope at x by at most e (|P||x| + |q| + |A|'|y| + |G|'|z|). With the two
programs exchanged the same bounds the move upwards, by the S and R of the other one.
All of it holds without "to first order".

S is known here; the other S and both R are those of numbers that nobody knows. They are
taken to be at most BEYOND_FIRST_ORDER S in all, which is so unless roundings move the
optimal point and its multipliers by about their own size. A program of which that is
not so is no statement of anything in floats, as two equations that differ in their last
digits alone.

The point of a solver is rounded, too: a computation in floats gives an unknown to units
in the last place of what meets it in rows. As the objective is convex, it is nowhere
lower within these roundings of a point than by |slope|' (roundings). Where the optimum
is next to 0 and the terms of the objective are not, as in a sum of squares, the point
says nothing more of the optimum.

Source: A. V. Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear
Programming (1983), theorem 3.4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import inf, isfinite
from sys import float_info
from typing import Any

import numpy as np

from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix, Vector, dot
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.linear_system import solution_near

ULPS_OF_A_NUMBER = 16
"""Units in the last place by which a number of a program may be off: the sum of a few hundred rounded products is seldom further off."""
BEYOND_FIRST_ORDER = 2
"""(S + R) / S at most, of the program and of the one that was meant: on small drawn programs of all kinds it is below 1.001."""
BITS_OF_A_MEANT_NUMBER = 40
"""Bits of numerator and denominator together up to which a number is what was meant: one rounded sum in 1,000 looks like that by chance."""


def moved_by_rounding(program: Program, x: Vector, y: Vector, z: Vector) -> Fraction:
    """How far the optimum of a program may be moved by roundings of its numbers, under the condition above.

    Parameters
    ----------
    program : Program
        Any convex one.
    x, y, z : ndarray of shape (n,)
        (m,) and (r,), a point and multipliers, both near the optimum.
    """
    P, A, G = map(_rounded_part, (program.P, program.A, program.G))
    q, b, h = (tuple(map(_rounded, part)) for part in (program.q, program.b, program.h))
    x, y, z = (tuple(map(shortened, part)) for part in (x, y, z))
    objective = dot(x, P.times(x)) / 2 + dot(q, x) + _rounded(program.c)
    rows = dot(y, _sum(A.times(x), b)) + dot(z, _sum(G.times(x), h))
    return (objective + rows) * BEYOND_FIRST_ORDER * ULPS_OF_A_NUMBER * Fraction(float_info.epsilon)


def hidden_by_rounding(
    program: Program, x: Vector, others: Sequence[int], clock: Clock
) -> Fraction:
    """How much lower than at a feasible point the objective may be within roundings of its given numbers; 0 where that is not known.

    Let l make slope + A'l vanish in all numbers that are not given. As A (x - x') = 0 for every feasible x', the objective is nowhere lower
    there than by (slope + A'l)'(x - x'), in which the given numbers alone count.

    Parameters
    ----------
    program : Program
        Any convex one.
    x : ndarray of shape (n,)
        A point, computed in floats: every unknown is off by units in the last place of
        its reach, as `_reaches` has it.
    others : Sequence[int]
        The numbers that are not given: they follow from those that are.
    clock : Clock
        Of the proof.
    """
    sizes = _reaches(program, x)
    slope, rows = _sum(program.P.times(x), program.q), program.A.transposed
    zeros = [Fraction(0)] * rows.width
    try:
        multipliers = solution_near(rows.part(others), [-slope[j] for j in others], zeros, clock)
    except OutOfTime:
        multipliers = None
    if multipliers is None:
        return Fraction(0)
    pulled = _sum(slope, rows.times(multipliers))
    return (
        dot(tuple(map(abs, pulled)), tuple(sizes)) * ULPS_OF_A_NUMBER * Fraction(float_info.epsilon)
    )


def _reaches(program: Program, x: Vector) -> list[Fraction]:
    """Return the sizes of the numbers that rounding carries into each unknown.

    They are its own size, and of each row that holds it |a_i| T / max |a|^2. T is the largest
    term |a_j x_j| of the row. Where all coefficients are alike, that is the largest number of
    the row; an unknown that meets others in no row, or with a small coefficient only, carries
    nothing into them. Inequalities count where they are tight.
    """
    sizes = tuple(map(shortened, x))
    reaches, inequalities = list(sizes), program.G.rows[: program.inequalities]
    tight = (row for row, slack in zip(inequalities, program.slack(x), strict=False) if slack == 0)
    for row in filter(None, (*program.A.rows, *program.P.rows, *tight)):
        largest = max(map(abs, row.values()))
        carried = max(abs(v) * sizes[j] for j, v in row.items()) / largest**2
        for j, v in row.items():
            reaches[j] = max(reaches[j], abs(v) * carried)
    return reaches


def shortened(number: Fraction) -> Fraction:
    """|number|, to 60 binary places of its own: exact optima have thousands of digits, which say nothing here."""
    places = 60 + number.denominator.bit_length() - number.numerator.bit_length()
    unit = Fraction(2) ** places
    return Fraction(round(abs(number) * unit)) / unit


def image_of_move(value: Callable[[Fraction], Any], end: Fraction, by: Fraction) -> float:
    """How far the value of a map moves where its argument moves by a given amount, either way; nothing where the map has no value there."""
    if not by:
        return 0.0
    moved = (_difference(value, end, side) for side in (end - by, end + by))
    return max((v for v in moved if isfinite(v)), default=inf)


def _difference(value: Callable[[Fraction], Any], one: Fraction, other: Fraction) -> float:
    """The difference of two values of a map; infinite where it has none, as the square root of a negative number."""
    try:
        with np.errstate(all="ignore"):
            return abs(float(value(one) - value(other)))
    except (ArithmeticError, ValueError):
        return inf


def _rounded(number: Fraction) -> Fraction:
    """The size of a number that may be a rounded one; 0 for one of few digits, as 3, 1/4 or 0.1 read as 1/10, which was meant."""
    meant = (
        number.numerator.bit_length() + number.denominator.bit_length() <= BITS_OF_A_MEANT_NUMBER
    )
    return Fraction(0) if meant else abs(number)


def _rounded_part(M: Matrix) -> Matrix:
    """The sizes of the entries that may be rounded."""
    sizes = ({j: _rounded(v) for j, v in row.items()} for row in M.rows)
    return Matrix(tuple({j: v for j, v in row.items() if v} for row in sizes), M.width)


def _sum(one: Iterable[Fraction], other: Iterable[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip(one, other, strict=True)]
