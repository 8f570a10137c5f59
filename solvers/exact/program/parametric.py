"""From a face near the optimum to an optimal one, by exact pivots along a parameter that first makes the near face optimal.

On a face S (`face`), let w be the slacks of the rows outside S and the multipliers of
those in S. For some d > 0 the program with

    h_i + t d_i  for i outside S,    q - t sum_(i in S) d_i G_i

has the values w + t d there, which are not negative for a large t. Then t falls to 0.
Whenever a value w_i becomes 0, row i joins S or leaves it. Where that changes its own
other value alone, one of slack and multiplier takes the place of the other. Otherwise
the other value grows, at this t, until some w_j has become 0, and row j changes places
too; where none does, the growth is a ray, and there is no optimum. A pivot takes three
exact systems, and there are about as many pivots as values were negative: few, where
rows meet in one point but for a rounding.

Source: R. W. Cottle, Monotone solutions of the parametric linear complementarity
problem, Mathematical Programming 3 (1972); for linear programs, G. B. Dantzig, Linear
Programming and Extensions (1963), section 11.3.
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
"""Share of the time left that the pivots may take: the rest is for rays, where there is no optimum."""
LEAST_TILT = Fraction(1, 2**40)
"""Every d_i is at least about this, in the units of its row: values that are 0 do not all become 0 at the same t."""
TILTS = 2**16
"""Numbers that a d_i is drawn from, from 1 to 2 times the smallest that it may be: two values seldom become 0 together."""
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, eq=False)
class UnboundedDirection:
    """What grows for ever where pivots find that there is no optimum.

    Parameters
    ----------
    x : ndarray of shape (n,)
        A ray of points along which the objective decreases.
    y, z : ndarray of shape (m,)
        And (r,) or else a ray of multipliers: no point is feasible.
    """

    x: Vector
    y: Vector
    z: Vector


def optimum_near(
    program: Program, floats: FloatSolution, clock: Clock
) -> Pair | UnboundedDirection | None:
    """An optimum with its multipliers, both exact, on a face near a solution in floats or some pivots away; a ray where pivots end in one.

    The pivots end after their share of the time, and None is returned where nothing is found until then.

    Parameters
    ----------
    program : Program
        Without second-order cones.
    floats : FloatSolution
        From `solve_in_floats`.
    clock : Clock
        The time limit.

    Raises
    ------
    OutOfTime
        It would take too long.
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
    """An optimum with its multipliers, both exact, or a ray; None where the equations contradict each other or no face has a point.

    Parameters
    ----------
    program : Program
        Without second-order cones, P positive semidefinite.
    floats : FloatSolution
        Any, near whose face it starts.
    clock : Clock
        The time limit.

    Raises
    ------
    OutOfTime
        It would take too long.
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
    """The rows that change places where value i has become 0; the growth of its other value, where that goes on for ever."""
    if i in tight:
        moved = _direction(program, [ZERO] * program.n, {i: -ONE})
    else:
        moved = _direction(program, [program.G.rows[i].get(j, ZERO) for j in range(program.n)], {})
    growth = on_face(moved, sorted(tight), _nothing(program), clock)
    if growth is None:
        return None
    rates = _values(moved, growth, tight)
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
    """Independent rows of which those with large multipliers are tight, and on which the optimum is one point, as far as rows allow."""
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
    """The multipliers of tight rows and the slacks of the others, each in the place of its row."""
    return [
        z if i in tight else slack
        for i, (z, slack) in enumerate(zip(pair.z, program.slack(pair.x), strict=True))
    ]


def _tilted(program: Program, tight: set[int], values: Iterable[Fraction]) -> Program:
    """What is added to the program for t = 1: on the face it has the values d."""
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
    """A power of 2 that is larger than v > 0, and at most four times as large: numbers of few digits keep the exact systems small."""
    return Fraction(2) ** (v.numerator.bit_length() - v.denominator.bit_length() + 1)


def _direction(program: Program, q: Iterable[Fraction], ends: dict[int, Fraction]) -> Program:
    """The program with another linear term, other ends of its rows, and 0 for the ends of its equations."""
    h: Vector = tuple(ends.get(i, ZERO) for i in range(len(program.h)))
    return replace(program, q=tuple(q), b=(ZERO,) * len(program.b), h=h)


def _nothing(program: Program) -> FloatSolution:
    """Zeros: where unknowns are that a face leaves open."""
    rows = np.zeros(len(program.h))
    return FloatSolution(np.zeros(program.n), np.zeros(len(program.b)), rows, rows)
