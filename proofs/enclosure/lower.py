"""Exactly dual feasible points near multipliers in floats: lower bounds of the optimum.

    P x + q + A'y + G'z = 0,   z in K        gives
    -1/2 x'Px - b'y - h'z + c  <=  optimum

residual   z_i = 0 for inactive inequalities. The residual of the equation is removed by
           changes of as few variables as needed, first those of free sign, then the
           largest z.
slater     the residual is removed by changes of any variables, then the point is
           combined with one in the interior of the cone.
box        if |x_j| <= r_j is known, multipliers of the rows x_j <= r_j and -x_j <= r_j
           remove any residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector, negative
from equimargin.proofs.enclosure.mixture import dual_inside, mixed, stationarity
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.face import tight_rows
from equimargin.solvers.exact.program.floats import FloatSolution, on_grid
from equimargin.solvers.exact.program.linear_system import solution_near

Dual = tuple[Vector, Vector, Vector]
"""x, y and z that satisfy the dual constraints."""
TIGHT_RATIOS = (1.0, 1e-3)
"""Ratios of multiplier to slack above which an inequality counts as active.

They are tried in turn.
"""


def by_residual(program: Program, floats: FloatSolution, clock: Clock) -> Dual | None:
    """Return a dual feasible point on the active face of a solution in floats.

    Parameters
    ----------
    program : Program
        Any convex program.
    floats : FloatSolution
        Solution in floats.
    clock : Clock
        Time limit.

    Returns
    -------
    Dual or None
        None if z is outside the cone once the residual is removed.
    """
    for ratio in TIGHT_RATIOS:
        tight = set(tight_rows(floats, ratio)) | set(range(program.inequalities, len(program.h)))
        dual = _stationary(program, floats, tight, clock)
        if dual is not None and program.is_dual_feasible(*dual):
            return dual
    return None


def by_slater(program: Program, floats: FloatSolution, clock: Clock) -> Dual | None:
    """Return a convex combination of a dual point near the floats and an interior one.

    Parameters
    ----------
    program : Program
        Any convex program.
    floats : FloatSolution
        Solution in floats.
    clock : Clock
        Time limit.

    Returns
    -------
    Dual or None
        None if no interior point is found.
    """
    every = set(range(len(program.h)))
    near = _stationary(program, floats, every, clock)
    inside = None if near is None else dual_inside(program, clock)
    if near is None or inside is None:
        return None
    n, m = program.n, len(program.b)
    inner = _stationary(
        program,
        FloatSolution(inside[:n], inside[n : n + m], inside[n + m :], floats.s),
        every,
        clock,
    )
    if inner is None:
        return None
    joint = mixed(_joined(near), _joined(inner), lambda v: program.in_cone(v[n + m :]), clock)
    return None if joint is None else _parted(program, joint)


def by_box(program: Program, floats: FloatSolution) -> Dual:
    """Return a dual feasible point of the program with a box.

    The multipliers of the box's rows remove the residual. The rows x_j <= r_j and
    -x_j <= r_j precede the program's own.

    Parameters
    ----------
    program : Program
        Any convex program.
    floats : FloatSolution
        Solution in floats.
    """
    x, y, z = on_grid(floats.x), on_grid(floats.y), _natural(program, on_grid(floats.z))
    z = z if program.in_cone(z) else [Fraction(0)] * len(z)
    residual = program.residual(x, y, z)
    above, below = ([max(sign * v, Fraction(0)) for v in residual] for sign in (-1, 1))
    return tuple(x), tuple(y), (*above, *below, *z)


def _stationary(
    program: Program, floats: FloatSolution, tight: set[int], clock: Clock
) -> Dual | None:
    """Return x, y and z near the floats with P x + q + A'y + G'z = 0 exactly.

    z is 0 outside the tight rows.
    """
    n, m, r = program.n, len(program.b), len(program.h)
    open_columns = [
        *(j for j in range(n) if program.P.rows[j]),
        *range(n, n + m),
        *(n + m + i for i in range(r) if i in tight),
    ]
    # Variables of free sign are preferred, then the largest multipliers.
    position = {j: k for k, j in enumerate(open_columns)}
    rows = tuple(
        {position[j]: v for j, v in row.items() if j in position}
        for row in stationarity(program).rows
    )
    start = [*on_grid(floats.x), *on_grid(floats.y), *_natural(program, on_grid(floats.z))]
    preference = np.concatenate([np.full(n + m, np.inf), np.abs(floats.z)])
    chosen: Array = preference[open_columns]
    solution = solution_near(
        Matrix(rows, len(open_columns)),
        negative(program.q),
        [start[j] for j in open_columns],
        clock,
        chosen.tolist(),
    )
    if solution is None:
        return None
    values = dict(zip(open_columns, solution, strict=True))
    return _parted(program, [values.get(j, Fraction(0)) for j in range(n + m + r)])


def _natural(program: Program, z: Sequence[Fraction]) -> list[Fraction]:
    """Return multipliers z, those of inequalities replaced by 0 if negative."""
    return [max(v, Fraction(0)) if i < program.inequalities else v for i, v in enumerate(z)]


def _joined(dual: Dual) -> list[Fraction]:
    return [v for part in dual for v in part]


def _parted(program: Program, joint: Sequence[Fraction]) -> Dual:
    n, m = program.n, len(program.b)
    return tuple(joint[:n]), tuple(joint[n : n + m]), tuple(joint[n + m :])
