"""Points inside the constraints, and mixtures with them: what repairs a point that only nearly satisfies its inequalities.

A point that satisfies its equations exactly, and its inequalities nearly, is mixed with
one that satisfies the equations too and is inside the inequalities: (1 - t) x + t x0
with the smallest t = 2^-k that makes an exact test hold. As the constraints are convex,
the test holds for every larger t as well.

Source: the mixture with a Slater point, as in M. Slater, Lagrange multipliers revisited
(1950).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Row, Vector, mixture, negative
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.floats import solve_in_floats

FINEST_SHARE = 64
"""Halvings of the smallest share of the inner point: below 2^-64 it would be less than a float's own rounding."""
PULL = Fraction(1, 2**20)
"""Weight of |x|^2 in the search for an inner point: it keeps the point near 0 where the constraints leave it open."""
ONE = Fraction(1)
ZERO = Fraction(0)


def mixed(
    point: Sequence[Fraction],
    inner: Sequence[Fraction],
    holds: Callable[[Sequence[Fraction]], bool],
    clock: Clock,
) -> list[Fraction] | None:
    """The mixture of a point with the smallest share 2^-k of an inner one for which a test holds; None if it does not hold with half of it.

    Parameters
    ----------
    point, inner : Sequence[Fraction]
        Of one length.
    holds : Callable[[Sequence[Fraction]], bool]
        An exact test, which holds for every larger share too.
    clock : Clock
        The time limit.

    Raises
    ------
    OutOfTime
        It would take too long.
    """
    found, low, high = None, 1, FINEST_SHARE + 1
    while low < high:
        clock.ask("the mixture with an inner point")
        k = (low + high) // 2
        tried = mixture(Fraction(1, 2**k), point, inner)
        if holds(tried):
            found, low = tried, k + 1
        else:
            high = k
    return found


def primal_inside(program: Program, clock: Clock) -> Array | None:
    """x, (n,), with A x = b and h - Gx - t e in K for the largest t <= 1, in floats; None unless that t is above 0.

    e is 1 for every inequality, and (1, 0) for every second-order cone.
    """
    return _inside(program.A, program.b, program.G, program.h, program, clock)


def dual_inside(program: Program, clock: Clock) -> Array | None:
    """(x, y, z), (n + m + r,), with P x + q + A'y + G'z = 0 and z - t e in K for the largest t <= 1, in floats; None unless t > 0."""
    before, rows = program.n + len(program.b), len(program.h)
    own = Matrix(tuple({before + i: -ONE} for i in range(rows)), before + rows)
    return _inside(
        stationarity(program), tuple(negative(program.q)), own, (ZERO,) * rows, program, clock
    )


def stationarity(program: Program) -> Matrix:
    """The matrix [P A' G'], of n rows."""
    before = program.n + len(program.b)
    parts = zip(program.P.rows, program.A.transposed.rows, program.G.transposed.rows, strict=True)
    rows = tuple({**p, **_moved(a, program.n), **_moved(g, before)} for p, a, g in parts)
    return Matrix(rows, before + len(program.h))


def _inside(
    A: Matrix, b: Vector, G: Matrix, h: Vector, program: Program, clock: Clock
) -> Array | None:
    """A point of A v = b and h - G v - t e in K with the largest t <= 1, K being that of a program."""
    n = A.width
    e = dict.fromkeys([*range(program.inequalities), *(rows.start for rows in program.blocks)], ONE)
    deeper = tuple({**row, n: e[i]} if i in e else row for i, row in enumerate(G.rows))
    pull = tuple({j: PULL} for j in range(n))
    search = Program(
        Matrix((*pull, {}), n + 1),
        (*[ZERO] * n, -ONE),
        Matrix(A.rows, n + 1),
        b,
        Matrix(({n: ONE}, *deeper), n + 1),
        (ONE, *h),
        cones=program.cones,
    )
    found = solve_in_floats(search, clock)
    if found is None or not found.finite or not found.x[n] > 0:
        return None
    return found.x[:n]


def _moved(row: Row, places: int) -> Row:
    return {j + places: v for j, v in row.items()}
