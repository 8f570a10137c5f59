"""Exactly feasible points near a point in floats: upper bounds of the optimum.

    A x = b,   h - Gx in K        gives        optimum  <=  1/2 x'Px + q'x + c

residual   active inequalities become equations, which are solved by changes of as few
           variables as needed.
slater     A x = b is solved in this way, then the point is combined with an interior
           point.
"""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector
from equimargin.proofs.enclosure.mixture import mixed, primal_inside
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.exact.program.face import tight_rows
from equimargin.solvers.exact.program.floats import FloatSolution, on_grid
from equimargin.solvers.exact.program.linear_system import solution_near

TIGHT_RATIOS = (1.0, 1e3)
"""Ratios of multiplier to slack above which an inequality becomes an equation.

They are tried in turn.
"""


def by_residual(program: Program, floats: FloatSolution, clock: Clock) -> Vector | None:
    """Return a feasible point on the active face of a solution in floats.

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
    Vector or None
        None if the changed point violates another constraint.
    """
    for ratio in TIGHT_RATIOS:
        tight = [i for i in tight_rows(floats, ratio) if i < program.inequalities]
        rows = Matrix((*program.A.rows, *(program.G.rows[i] for i in tight)), program.n)
        point = _moved_onto(rows, (*program.b, *(program.h[i] for i in tight)), floats.x, clock)
        if point is not None and program.is_feasible(point):
            return point
    return None


def by_slater(program: Program, floats: FloatSolution, clock: Clock) -> Vector | None:
    """Return a convex combination of a point near the floats and an interior point.

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
    Vector or None
        None if no interior point is found.
    """
    near = _moved_onto(program.A, program.b, floats.x, clock)
    inside = None if near is None else primal_inside(program, clock)
    inner = None if inside is None else _moved_onto(program.A, program.b, inside, clock)
    if near is None or inner is None:
        return None
    point = mixed(near, inner, lambda x: program.in_cone(program.slack(x)), clock)
    return None if point is None else tuple(point)


def _moved_onto(rows: Matrix, right: Vector, x: Array, clock: Clock) -> Vector | None:
    """Return x with as few entries changed as the equations need, the largest first.

    None if the equations contradict each other.
    """
    point = solution_near(rows, right, on_grid(x), clock, np.abs(x).tolist())
    return None if point is None else tuple(point)
