"""Exact parametric pivots from a face near the optimum to an optimal one.

On a face S (`face`), let w be the slacks of the rows outside S and the multipliers of
those in S. For some d > 0 the program with

    h_i + t d_i  for i outside S,    q - t sum_(i in S) d_i G_i

has the values w + t d there, which are nonnegative for a large t. Then t decreases to
0. Whenever a value w_i becomes 0, row i joins S or leaves it. Of its slack and its
multiplier, w_i is one; the other increases next. If this changes w_i, the two exchange
roles. Otherwise it increases, at this t, until some w_j becomes 0, and row j is
exchanged too; if none does, the growth is a ray, and there is no optimum. A pivot takes
three exact systems, and there are about as many pivots as negative values: few, if rows
meet in one point within rounding.

References
----------
R. W. Cottle. Monotone solutions of the parametric linear complementarity problem.
Mathematical Programming 3 (1972).

G. B. Dantzig. Linear Programming and Extensions. 1963, section 11.3 (linear programs).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.face import Pair, on_face, optimum_on_face, tight_rows
from equimargin.solvers.exact.program.floats import FloatSolution
from equimargin.solvers.exact.program.linear_system import independent_rows

SHARE = 0.5
"""Fraction of the remaining time for the pivots.

The rest is for rays, if there is no optimum.
"""
LEAST_TILT = Fraction(1, 2**40)
"""Approximate lower bound of every d_i, in the units of its row.

It makes d_i positive where w_i is not negative.
"""
TILTS = 2**16
"""Number of values from which a d_i is sampled, from 1 to 2 times its minimum.

Two values then rarely become 0 together.
"""
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, eq=False)
class UnboundedDirection:
    """Unbounded direction of pivots that find no optimum.

    Parameters
    ----------
    x : Vector of shape (n,)
        Ray of points along which the objective decreases.
    y : Vector of shape (m,)
        Multipliers of the equations in a ray, if no point is feasible.
    z : Vector of shape (r,)
        Multipliers of the inequalities in that ray.
    """

    x: Vector
    y: Vector
    z: Vector


def optimum_near(
    program: Program, floats: FloatSolution, clock: Clock
) -> Pair | UnboundedDirection | None:
    """Return an exact optimum with multipliers near a float solution, or a ray.

    It is on a face near the float solution or some pivots away. The pivots end after
    their share of the time.

    Parameters
    ----------
    program : Program
        Program without second-order cones.
    floats : FloatSolution
        Result of `solve_in_floats`.
    clock : Clock
        Time limit.

    Returns
    -------
    Pair, UnboundedDirection or None
        Optimum, ray, or None if neither is found.

    Raises
    ------
    OutOfTime
        If the solution on a face would take too long.
    """
    pair = optimum_on_face(program, floats, clock)
    if pair is not None:
        return pair
    try:
        return optimum_by_parametric_pivots(program, floats, Clock(SHARE * clock.left))
    except OutOfTime:
        return None


def optimum_by_parametric_pivots(
    program: Program, floats: FloatSolution, clock: Clock
) -> Pair | UnboundedDirection | None:
    """Return an exact optimum with multipliers, or a ray, by parametric pivots.

    Parameters
    ----------
    program : Program
        Program without second-order cones, P positive semidefinite.
    floats : FloatSolution
        Any float solution; the pivots start near its face.
    clock : Clock
        Time limit.

    Returns
    -------
    Pair, UnboundedDirection or None
        None if the equations contradict each other or no face has a point.

    Raises
    ------
    OutOfTime
        If the pivots would take too long.
    """
    tight = _regular_face(program, floats, clock)
    start = on_face(program, sorted(tight), floats, clock)
    if start is None:
        return None
    tilted, none, pivots = (
        _tilted(program, tight, _values(program, start, tight)),
        _nothing(program),
        0,
    )
    while True:
        here, tilt = (
            on_face(program, sorted(tight), floats, clock),
            on_face(tilted, sorted(tight), none, clock),
        )
        if here is None or tilt is None:
            return None
        values, slopes = _values(program, here, tight), _values(tilted, tilt, tight)
        falling = [(-values[i] / slopes[i], i) for i in range(len(values)) if values[i] < 0]
        if not falling:
            return replace(here, pivots=pivots)
        t, i = max(falling)
        changing = _exchanged(
            program,
            tight,
            i,
            [v + t * slope for v, slope in zip(values, slopes, strict=True)],
            clock,
        )
        if not isinstance(changing, set):
            return changing
        tight, pivots = tight ^ changing, pivots + 1


def _exchanged(
    program: Program, tight: set[int], i: int, values: list[Fraction], clock: Clock
) -> set[int] | UnboundedDirection | None:
    """Return the rows to exchange where value i has become 0, or a ray.

    The ray is the growth as the other value of row i increases, if unbounded.
    """
    if i in tight:
        moved = _direction(program, [ZERO] * program.n, {i: -ONE})
    else:
        moved = _direction(program, [program.G.rows[i].get(j, ZERO) for j in range(program.n)], {})
    growth = on_face(moved, sorted(tight), _nothing(program), clock)
    if growth is None:
        return None
    rates = _values(moved, growth, tight)
    # If value i changes with the other value of row i, the two exchange roles.
    if rates[i] != 0:
        return {i}
    vanishing = [(values[j] / -rate, j) for j, rate in enumerate(rates) if rate < 0]
    if vanishing:
        return {i, min(vanishing)[1]}
    return UnboundedDirection(
        growth.x,
        growth.y,
        tuple(z if k != i or i in tight else ONE for k, z in enumerate(growth.z)),
    )


def _regular_face(program: Program, floats: FloatSolution, clock: Clock) -> set[int]:
    """Return independent tight rows, of large multipliers first.

    Others are added until the optimum on the face is unique, if they can make it so.
    """
    tight = sorted(tight_rows(floats, 1.0), key=lambda i: -float(floats.z[i]))
    others = sorted(set(range(len(program.h))) - set(tight), key=lambda i: float(floats.s[i]))
    m, before = len(program.b), len(program.b) + len(tight)
    rows = [
        *program.A.rows,
        *(program.G.rows[i] for i in tight),
        *program.P.rows,
        *(program.G.rows[i] for i in others),
    ]
    kept = independent_rows(Matrix(tuple(rows), program.n), clock)
    added = {others[k - before - program.n] for k in kept if k >= before + program.n}
    return {tight[k - m] for k in kept if m <= k < before} | added


def _values(program: Program, pair: Pair, tight: set[int]) -> list[Fraction]:
    """Return the multipliers of tight rows and the slacks of the others, by row."""
    return [
        z if i in tight else slack
        for i, (z, slack) in enumerate(zip(pair.z, program.slack(pair.x), strict=True))
    ]


def _tilted(program: Program, tight: set[int], values: Iterable[Fraction]) -> Program:
    """Return the change of the program per unit of t.

    It has the values d on the face.
    """
    drawn = np.random.default_rng(0).integers(TILTS, 2 * TILTS, len(program.h)).tolist()
    d = [
        _power_above(max(-v, LEAST_TILT)) * Fraction(k, TILTS)
        for v, k in zip(values, drawn, strict=True)
    ]
    slope = [ZERO] * program.n
    for i in tight:
        for j, v in program.G.rows[i].items():
            slope[j] -= d[i] * v
    return _direction(program, slope, {i: v for i, v in enumerate(d) if i not in tight})


def _power_above(v: Fraction) -> Fraction:
    """Return a power of 2 above v > 0, at most 4 v.

    Numbers of few digits keep the exact systems small.
    """
    return Fraction(2) ** (v.numerator.bit_length() - v.denominator.bit_length() + 1)


def _direction(program: Program, q: Iterable[Fraction], ends: dict[int, Fraction]) -> Program:
    """Return the program with linear term q, right-hand sides `ends`, and b = 0."""
    h: Vector = tuple(ends.get(i, ZERO) for i in range(len(program.h)))
    return replace(program, q=tuple(q), b=(ZERO,) * len(program.b), h=h)


def _nothing(program: Program) -> FloatSolution:
    """Return zeros, as the values of variables that a face leaves open."""
    rows = np.zeros(len(program.h))
    return FloatSolution(np.zeros(program.n), np.zeros(len(program.b)), rows, rows)
