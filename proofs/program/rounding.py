"""Bound of the change of a program's optimum by roundings of its numbers.

If a formulation computes its numbers in floats (A'A, say, or a scaled matrix), its
optimum is proven for the computed numbers, which differ from the intended ones. Let
program 1 have the computed and program 2 the intended numbers, let corresponding numbers
v differ by at most e |v|, and let x, y, z be optimal for program 1 and x' for program 2.
Then the optimum of program 2 is at least that of program 1 minus e (S + R), with

    S = 1/2 |x|'|P||x| + |q|'|x| + |c| + |y|'(|A||x| + |b|) + |z|'(|G||x| + |h|),
    R = (|P||x| + |q| + |A|'|y| + |G|'|z|)' |x' - x|.

Proof: the Lagrangian of program 2 at y and z is convex in x, and at x' is at most the
optimum of program 2. At x it differs by at most e S from the Lagrangian of program 1,
which equals the optimum of program 1 there, and its gradient by at most
e (|P||x| + |q| + |A|'|y| + |G|'|z|) from 0. With the programs exchanged, the S and R of
program 2 bound the change in the other direction. No term of higher order is dropped.

S of program 1 is known; both R, and S of program 2, depend on the unknown intended
numbers. S + R is assumed to be at most BEYOND_FIRST_ORDER times the known S for either
program, which holds unless roundings change the optimal point or the multipliers by
about their size. Otherwise floats do not determine the problem: an example is two
equations that differ in their last digits only.

The point of a solver is rounded, too: a variable that is computed in floats has an error
of some units in the last place of the numbers in its rows. As the objective is convex,
it decreases within these roundings by at most |slope|' (roundings). If the optimum is
almost 0 and the terms of the objective are not, as in a sum of squares, the point cannot
bound the optimum more tightly.

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
"""Assumed maximum of S + R of either program, over the known S.

On small generated programs of all kinds the ratio is below 1.001.
"""
BITS_OF_A_MEANT_NUMBER = 40
"""Bits of numerator plus denominator up to which a number counts as intended, not rounded.

One rounded sum in 1,000 is that short by chance.
"""


def moved_by_rounding(program: Program, x: Vector, y: Vector, z: Vector) -> Fraction:
    """Return a bound of the change of a program's optimum by roundings of its numbers.

    It holds under the assumption of the module's docstring.

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
    """Return a bound of the decrease of the objective within roundings of a feasible point.

    A solver gave some variables, and all others follow from these. Let l be such that
    slope + A'l is 0 in all other variables. As A (x - x') = 0 for every feasible x', the
    objective at x' is lower by at most (slope + A'l)'(x - x'), which depends on the
    given variables only.

    Parameters
    ----------
    program : Program
        Any convex program.
    x : Vector of shape (n,)
        Point, computed in floats: the error of every variable is some units in the last
        place of its reach, defined in `_reaches`.
    others : sequence of int
        Indices of the variables that the solver did not give.
    clock : Clock
        Time limit of the proof.

    Returns
    -------
    Fraction
        0 if no such l was found.
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
    """Return the reach of each variable, the size of the numbers whose roundings it has.

    The reach of x_i is the maximum of |x_i| and, over the rows a with a_i != 0, of
    |a_i| T / max |a|^2, where T is the largest term |a_j x_j| of the row. If all
    coefficients of a row are about equal, that is the largest |x_j| of the row. Rows
    are equations, rows of P, and active inequalities.
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
    """Return |number|, rounded to 60 significant bits.

    Exact optima have thousands of digits, which are irrelevant for a bound.

    Parameters
    ----------
    number : Fraction
        Exact number.
    """
    places = 60 + number.denominator.bit_length() - number.numerator.bit_length()
    unit = Fraction(2) ** places
    return Fraction(round(abs(number) * unit)) / unit


def image_of_move(value: Callable[[Fraction], Any], end: Fraction, by: Fraction) -> float:
    """Return the largest change of value(end) if `end` changes by `by`, up or down.

    Parameters
    ----------
    value : callable
        Map.
    end : Fraction
        Argument.
    by : Fraction
        Change of the argument.

    Returns
    -------
    float
        inf if the map has a finite change at neither of the two arguments.
    """
    if not by:
        return 0.0
    moved = (_difference(value, end, side) for side in (end - by, end + by))
    return max((v for v in moved if isfinite(v)), default=inf)


def _difference(value: Callable[[Fraction], Any], one: Fraction, other: Fraction) -> float:
    """Return the difference of two values of a map; inf if one does not exist.

    An example is the square root of a negative number, which Python makes complex.
    """
    try:
        with np.errstate(all="ignore"):
            return abs(float(value(one) - value(other)))
    except (ArithmeticError, ValueError, TypeError):
        return inf


def _rounded(number: Fraction) -> Fraction:
    """Return |number| if it may be rounded; 0 for a number of few digits.

    Numbers such as 3, 1/4, or 0.1 interpreted as 1/10 count as the intended ones.
    """
    meant = (
        number.numerator.bit_length() + number.denominator.bit_length() <= BITS_OF_A_MEANT_NUMBER
    )
    return Fraction(0) if meant else abs(number)


def _rounded_part(M: Matrix) -> Matrix:
    """Return the absolute values of the entries that may be rounded."""
    sizes = ({j: _rounded(v) for j, v in row.items()} for row in M.rows)
    return Matrix(tuple({j: v for j, v in row.items() if v} for row in sizes), M.width)


def _sum(one: Iterable[Fraction], other: Iterable[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip(one, other, strict=True)]
