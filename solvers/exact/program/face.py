"""The optimum on the face of a solution in floats: exact, or mended until it is.

The face is the set S of inequalities that are tight. On it, the optimum, its
multipliers and S satisfy one linear system,

    [ P   A'  G_S' ] [ x  ]   [ -q  ]
    [ A            ] [ y  ] = [  b  ]
    [ G_S          ] [ z_S]   [ h_S ]

Of its solutions that near the floats is taken; where it has none, rows of S that depend
on others are left out. Inequalities that it violates join S, those whose multiplier is
negative leave it. A solution that violates nothing and has no negative multiplier is
feasible on both sides, with equal values: an optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Row, Vector, negative
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.floats import FloatSolution, on_grid
from equimargin.solvers.exact.program.linear_system import independent_rows, solution_near

MENDINGS = 8
"""Times that a face is mended before another one is tried."""
TIGHT_RATIOS = (1.0, 1e-3, 1e3)
"""Ratios of multiplier to slack from which a row counts as tight, each tried in turn: scaling a row moves the ratio by its square."""


@dataclass(frozen=True, eq=False)
class Pair:
    """A point and multipliers.  x : (n,).  y : (m,).  z : (r,).  mendings : how many faces were wrong before.  pivots : made since."""

    x: Vector
    y: Vector
    z: Vector
    mendings: int = 0
    pivots: int = 0


def optimum_on_face(program: Program, floats: FloatSolution, clock: Clock) -> Pair | None:
    """An optimum with its multipliers, both exact, near a solution in floats; None where no face that is tried has one.

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
    """The rows whose multiplier is more than a ratio times their slack."""
    return tuple(np.flatnonzero(floats.z > ratio * np.maximum(floats.s, 0.0)).tolist())


def on_face(
    program: Program, tight: Sequence[int], floats: FloatSolution, clock: Clock
) -> Pair | None:
    """The solution of the system above near the floats; None where it has none.

    Parameters
    ----------
    program : Program
        Without second-order cones.
    tight : Sequence[int]
        The rows of the face.
    floats : FloatSolution
        any.
    clock : Clock
        The time limit.

    Raises
    ------
    OutOfTime
        It would take too long.
    """
    right = [*negative(program.q), *program.b, *(program.h[i] for i in tight)]
    near = [*on_grid(floats.x), *on_grid(floats.y), *on_grid(floats.z[list(tight)])]
    found = solution_near(_system(program, tight), right, near, clock)
    if found is None:
        return None
    n, m = program.n, len(program.b)
    z = dict(zip(tight, found[n + m :], strict=True))
    return Pair(
        tuple(found[:n]),
        tuple(found[n : n + m]),
        tuple(z.get(i, Fraction(0)) for i in range(len(program.h))),
    )


def _independent(
    program: Program, tight: Sequence[int], floats: FloatSolution, clock: Clock
) -> tuple[int, ...]:
    """The tight rows, those of large multipliers first, that are independent of the equations and of each other.

    Rows that meet in one point up to a rounding of the data contradict each other in exact numbers.
    """
    order = sorted(tight, key=lambda i: -float(floats.z[i]))
    m = len(program.b)
    kept = independent_rows(
        Matrix((*program.A.rows, *(program.G.rows[i] for i in order)), program.n), clock
    )
    return tuple(sorted(order[k - m] for k in kept if k >= m))


def _system(program: Program, tight: Sequence[int]) -> Matrix:
    """The matrix of the system above."""
    below = (*program.A.rows, *(program.G.rows[i] for i in tight))
    beside = Matrix(below, program.n).transposed.rows
    top: Iterator[Row] = (
        {**row, **_moved(column, program.n)}
        for row, column in zip(program.P.rows, beside, strict=True)
    )
    return Matrix((*top, *below), program.n + len(below))


def _moved(row: Row, places: int) -> Row:
    return {j + places: v for j, v in row.items()}


def _faults(program: Program, pair: Pair) -> tuple[set[int], set[int]]:
    """The rows that the point violates, and those with negative multipliers."""
    violated = {i for i, slack in enumerate(program.slack(pair.x)) if slack < 0}
    return violated, {i for i, multiplier in enumerate(pair.z) if multiplier < 0}
