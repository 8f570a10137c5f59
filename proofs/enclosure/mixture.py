"""Interior points, and convex combinations that make a nearly feasible point feasible.

A point x that satisfies the equations exactly, and the inequalities nearly, is combined
with an x0 that satisfies the equations, too, and all inequalities strictly:
(1 - t) x + t x0 with the smallest t = 2^-k that passes an exact test. As the
constraints are convex, every larger t passes as well.

References
----------
Convex combination with a Slater point: M. Slater, Lagrange multipliers revisited
(1950).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import (
    Matrix,
    Vector,
    mixture,
    negative,
    shift_columns,
)
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.floats import solve_in_floats

FINEST_SHARE = 64
"""Largest k: the smallest weight of the interior point is 2^-64.

A smaller weight changes the point by less than float rounding.
"""
PULL = Fraction(1, 2**20)
"""Weight of |x|^2 / 2 in the search for an interior point.

This term determines the point in directions without constraints, where it is then near 0.
"""
ONE = Fraction(1)
ZERO = Fraction(0)


def mixed(
    point: Sequence[Fraction],
    inner: Sequence[Fraction],
    holds: Callable[[Sequence[Fraction]], bool],
    clock: Clock,
) -> list[Fraction] | None:
    """Return the convex combination with the smallest weight 2^-k of `inner` that passes.

    Parameters
    ----------
    point, inner : sequence of Fraction
        Nearly feasible point, and interior point, of one length.
    holds : callable
        Exact test; it must be monotone: larger weights of `inner` pass if a smaller does.
    clock : Clock
        Time limit.

    Returns
    -------
    list of Fraction or None
        None if the weight 1/2 does not pass.

    Raises
    ------
    OutOfTime
        If the time limit is reached.
    """
    best, low, high = None, 1, FINEST_SHARE + 1
    while low < high:
        clock.ask("the mixture with an inner point")
        k = (low + high) // 2
        candidate = mixture(Fraction(1, 2**k), point, inner)
        if holds(candidate):
            best, low = candidate, k + 1
        else:
            high = k
    return best


def primal_inside(program: Program, clock: Clock) -> Array | None:
    """Return x, (n,), with A x = b and h - Gx - t e in K for the largest t <= 1, in floats.

    e is 1 for every inequality, and (1, 0) for every second-order cone.

    Parameters
    ----------
    program : Program
        Any convex program.
    clock : Clock
        Time limit.

    Returns
    -------
    Array or None
        None unless t > 0.
    """
    return _inside(program.A, program.b, program.G, program.h, program, clock)


def dual_inside(program: Program, clock: Clock) -> Array | None:
    """Return an interior dual point (x, y, z), (n + m + r,), in floats.

    It satisfies P x + q + A'y + G'z = 0 and z - t e in K for the largest t <= 1.

    Parameters
    ----------
    program : Program
        Any convex program.
    clock : Clock
        Time limit.

    Returns
    -------
    Array or None
        None unless t > 0.
    """
    before, rows = program.n + len(program.b), len(program.h)
    own = Matrix(tuple({before + i: -ONE} for i in range(rows)), before + rows)
    return _inside(
        stationarity(program), tuple(negative(program.q)), own, (ZERO,) * rows, program, clock
    )


def stationarity(program: Program) -> Matrix:
    """Return the matrix [P A' G'], of n rows.

    Parameters
    ----------
    program : Program
        Any convex program.
    """
    before = program.n + len(program.b)
    parts = zip(program.P.rows, program.A.transposed.rows, program.G.transposed.rows, strict=True)
    rows = tuple(
        {**p, **shift_columns(a, program.n), **shift_columns(g, before)} for p, a, g in parts
    )
    return Matrix(rows, before + len(program.h))


def _inside(
    A: Matrix, b: Vector, G: Matrix, h: Vector, program: Program, clock: Clock
) -> Array | None:
    """Return v with A v = b and h - G v - t e in K for the largest t <= 1; None unless t > 0.

    K is the cone of `program`.
    """
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
    solution = solve_in_floats(search, clock)
    if solution is None or not solution.finite or not solution.x[n] > 0:
        return None
    return solution.x[:n]
