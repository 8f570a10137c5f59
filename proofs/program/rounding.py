"""Bound of the move of a program's optimum by roundings of its stated numbers.

A formulation that computes its numbers in floats, A'A or a scaled matrix, is proven
exactly for the computed numbers, and these differ from the intended ones. Let x, y, z
be optimal for the one program and x' for the other, and let every two corresponding
numbers v of the programs differ by at most e |v|. Then the optimum of the other one is
not lower than that of the one by more than e (S + R), with

    S = 1/2 |x|'|P||x| + |q|'|x| + |c| + |y|'(|A||x| + |b|) + |z|'(|G||x| + |h|),
    R = (|P||x| + |q| + |A|'|y| + |G|'|z|)' |x' - x|.

The reason: the Lagrangian of the other program at y and z is convex, and at most its
optimum at x'. At x it differs by at most e S from that of the one, which is the optimum
there, and its slope at x by at most e (|P||x| + |q| + |A|'|y| + |G|'|z|). With the two
programs exchanged, the S and R of the other one bound the move upwards. All of it holds
without "to first order".

S is known here; the other S and both R are those of unknown numbers. They are assumed
to be at most BEYOND_FIRST_ORDER S in all, which holds unless roundings move the optimal
point and its multipliers by about their own size. A program that violates this is not
stated by its floats, such as two equations that differ in their last digits alone.

The point of a solver is rounded, too: a computation in floats gives a variable to units
in the last place of the numbers of its rows. As the objective is convex, it is nowhere
lower within these roundings of a point than by |slope|' (roundings). If the optimum is
next to 0 and the terms of the objective are not, as in a sum of squares, the point
bounds the optimum no better.

References
----------
A. V. Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear
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
"""Units in the last place by which a number of a program may differ from the intended one.

The sum of a few hundred rounded products rarely has a larger error.
"""
BEYOND_FIRST_ORDER = 2
"""Largest (S + R) / S, of the program and of the intended one.

On small generated programs of all kinds it is below 1.001.
"""
BITS_OF_A_MEANT_NUMBER = 40
"""Bits of numerator and denominator together up to which a number is the intended one.

One rounded sum in 1,000 is that short by chance.
"""


def moved_by_rounding(program: Program, x: Vector, y: Vector, z: Vector) -> Fraction:
    """Return a bound of the move of a program's optimum by roundings of its numbers.

    It holds under the condition above.

    Parameters
    ----------
    program : Program
        Any convex program.
    x : Vector of shape (n,)
        Point near the optimum.
    y : Vector of shape (m,)
        Multipliers of the equations near the optimum.
    z : Vector of shape (r,)
        Multipliers of the rows of G near the optimum.
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
    """Return the decrease of the objective within roundings of a feasible point.

    The roundings are those of its given numbers. Let l make slope + A'l vanish in all
    other numbers. As A (x - x') = 0 for every feasible x', the objective is nowhere
    lower there than by (slope + A'l)'(x - x'), in which the given numbers alone count.

    Parameters
    ----------
    program : Program
        Any convex program.
    x : Vector of shape (n,)
        Point, computed in floats: the error of every variable is some units in the last
        place of its reach, as in `_reaches`.
    others : sequence of int
        Variables that are not given: they follow from those that are.
    clock : Clock
        Time limit of the proof.

    Returns
    -------
    Fraction
        0 if the decrease is not known.
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
    """Return the sizes of the numbers that rounding carries into each variable.

    They are its own size, and for each row that holds it |a_i| T / max |a|^2. T is the
    largest term |a_j x_j| of the row. If all coefficients are alike, that is the
    largest number of the row; a variable that shares no row with others, or has a small
    coefficient only, carries nothing into them. Inequalities count if they are tight.
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
    """Return |number| to 60 significant binary places.

    Exact optima have thousands of digits, which are irrelevant here.

    Parameters
    ----------
    number : Fraction
        Exact number.
    """
    places = 60 + number.denominator.bit_length() - number.numerator.bit_length()
    unit = Fraction(2) ** places
    return Fraction(round(abs(number) * unit)) / unit


def image_of_move(value: Callable[[Fraction], Any], end: Fraction, by: Fraction) -> float:
    """Return the move of a map's value for a given move of its argument, either way.

    Parameters
    ----------
    value : callable
        Map.
    end : Fraction
        Argument.
    by : Fraction
        Move of the argument.

    Returns
    -------
    float
        inf if the map has no value on either side.
    """
    if not by:
        return 0.0
    moved = (_difference(value, end, side) for side in (end - by, end + by))
    return max((v for v in moved if isfinite(v)), default=inf)


def _difference(value: Callable[[Fraction], Any], one: Fraction, other: Fraction) -> float:
    """Return the difference of two values of a map; infinite if the map has no such value.

    The square root of a negative number is an example.
    """
    try:
        with np.errstate(all="ignore"):
            return abs(float(value(one) - value(other)))
    except (ArithmeticError, ValueError):
        return inf


def _rounded(number: Fraction) -> Fraction:
    """Return the size of a number that may be a rounded one; 0 for one of few digits.

    A number such as 3, 1/4 or 0.1 read as 1/10 is the intended one.
    """
    meant = (
        number.numerator.bit_length() + number.denominator.bit_length() <= BITS_OF_A_MEANT_NUMBER
    )
    return Fraction(0) if meant else abs(number)


def _rounded_part(M: Matrix) -> Matrix:
    """Return the sizes of the entries that may be rounded."""
    sizes = ({j: _rounded(v) for j, v in row.items()} for row in M.rows)
    return Matrix(tuple({j: v for j, v in row.items() if v} for row in sizes), M.width)


def _sum(one: Iterable[Fraction], other: Iterable[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip(one, other, strict=True)]
