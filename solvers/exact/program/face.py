"""Exact optimum on the face of a float solution, with corrections of the face.

The face is the set S of inequalities that are tight. On it, the optimum, its
multipliers and S satisfy one linear system,

    [ P   A'  G_S' ] [ x  ]   [ -q  ]
    [ A            ] [ y  ] = [  b  ]
    [ G_S          ] [ z_S]   [ h_S ]

Of several solutions the one near the floats is taken; if there is none, dependent rows
of S are dropped. Violated inequalities join S, those with a negative multiplier leave
it. A solution without violations and without negative multipliers is primal and dual
feasible, with equal values: an optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Row, Vector, negative, shift_columns
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.floats import FloatSolution, on_grid
from equimargin.solvers.exact.program.linear_system import independent_rows, solution_near

MENDINGS = 8
"""Maximum number of corrections of a face before another one is tried."""
TIGHT_RATIOS = (1.0, 1e-3, 1e3)
"""Ratios of multiplier to slack above which a row counts as tight, tried in turn.

Scaling a row changes the ratio by the square of the factor.
"""


@dataclass(frozen=True, eq=False)
class Pair:
    """Point and multipliers.

    Parameters
    ----------
    x : Vector of shape (n,)
        Point.
    y : Vector of shape (m,)
        Multipliers of the equations.
    z : Vector of shape (r,)
        Multipliers of the inequalities.
    mendings : int
        Number of corrections of the face that led to it.
    pivots : int
        Number of parametric pivots that led to it.
    """

    x: Vector
    y: Vector
    z: Vector
    mendings: int = 0
    pivots: int = 0


def optimum_on_face(program: Program, floats: FloatSolution, clock: Clock) -> Pair | None:
    """Return an optimum with its multipliers, both exact, near a float solution.

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
    Pair or None
        None if no face that is tried has an optimum.

    Raises
    ------
    OutOfTime
        If the solution would take too long.
    """
    seen = set[tuple[int, ...]]()
    for ratio in TIGHT_RATIOS:
        tight = tight_rows(floats, ratio)
        for mendings in range(MENDINGS):
            if tight in seen:
                break
            seen.add(tight)
            pair = on_face(program, tight, floats, clock)
            if pair is None:
                tight = _independent(program, tight, floats, clock)
                continue
            violated, opposing = _faults(program, pair)
            if not violated and not opposing:
                return replace(pair, mendings=mendings)
            tight = tuple(sorted((set(tight) | violated) - opposing))
    return None


def tight_rows(floats: FloatSolution, ratio: float) -> tuple[int, ...]:
    """Return the rows whose multiplier exceeds a ratio times their slack.

    Parameters
    ----------
    floats : FloatSolution
        Float solution.
    ratio : float
        Ratio of multiplier to slack.
    """
    return tuple(np.flatnonzero(floats.z > ratio * np.maximum(floats.s, 0.0)).tolist())


def on_face(
    program: Program, tight: Sequence[int], floats: FloatSolution, clock: Clock
) -> Pair | None:
    """Return the solution of the face's linear system near the floats, or None.

    Parameters
    ----------
    program : Program
        Program without second-order cones.
    tight : Sequence[int]
        Rows of the face.
    floats : FloatSolution
        Float solution, for the variables that the system leaves open.
    clock : Clock
        Time limit.

    Raises
    ------
    OutOfTime
        If the solution would take too long.
    """
    right = [*negative(program.q), *program.b, *(program.h[i] for i in tight)]
    near = [*on_grid(floats.x), *on_grid(floats.y), *on_grid(floats.z[list(tight)])]
    solution = solution_near(_system(program, tight), right, near, clock)
    if solution is None:
        return None
    n, m = program.n, len(program.b)
    z = dict(zip(tight, solution[n + m :], strict=True))
    return Pair(
        tuple(solution[:n]),
        tuple(solution[n : n + m]),
        tuple(z.get(i, Fraction(0)) for i in range(len(program.h))),
    )


def _independent(
    program: Program, tight: Sequence[int], floats: FloatSolution, clock: Clock
) -> tuple[int, ...]:
    """Return the tight rows that are independent of the equations and of each other.

    Rows of large multipliers come first. Rows that meet in one point within rounding of
    the data contradict each other in exact numbers.
    """
    order = sorted(tight, key=lambda i: -float(floats.z[i]))
    m = len(program.b)
    kept = independent_rows(
        Matrix((*program.A.rows, *(program.G.rows[i] for i in order)), program.n), clock
    )
    return tuple(sorted(order[k - m] for k in kept if k >= m))


def _system(program: Program, tight: Sequence[int]) -> Matrix:
    """Return the matrix of the face's linear system."""
    below = (*program.A.rows, *(program.G.rows[i] for i in tight))
    beside = Matrix(below, program.n).transposed.rows
    top: Iterator[Row] = (
        {**row, **shift_columns(column, program.n)}
        for row, column in zip(program.P.rows, beside, strict=True)
    )
    return Matrix((*top, *below), program.n + len(below))


def _faults(program: Program, pair: Pair) -> tuple[set[int], set[int]]:
    """Return the rows that the point violates, and those with negative multipliers."""
    violated = {i for i, slack in enumerate(program.slack(pair.x)) if slack < 0}
    return violated, {i for i, multiplier in enumerate(pair.z) if multiplier < 0}
