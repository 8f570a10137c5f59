"""Two linear programs that decide if a program is infeasible or unbounded below.

    violation     min t     s.t.  -t <= A x - b <= t,  G x - h <= t,  t >= 0
                  0: x is feasible; above: its multipliers are a ray
    recession     min q'd   s.t.  P d = 0,  A d = 0,  G d <= 0,  -1 <= d <= 1
                  below 0: d is a ray; 0: there is a lower bound

Both always have an optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix, Vector, negative

ONE, ZERO = Fraction(1), Fraction(0)


def violation(program: Program) -> Program:
    """Return the program of the minimum violation t of all constraints.

    t is the last variable.

    Parameters
    ----------
    program : Program
        Program to check.
    """
    n = program.n
    forth = [{**row, n: -ONE} for row in program.A.rows]
    back = [{**{j: -v for j, v in row.items()}, n: -ONE} for row in program.A.rows]
    rows = (*forth, *back, *({**row, n: -ONE} for row in program.G.rows), {n: -ONE})
    ends = (*program.b, *negative(program.b), *program.h, ZERO)
    return _linear((*[ZERO] * n, ONE), Matrix((), n + 1), Matrix(rows, n + 1), ends)


def farkas_ray(program: Program, multipliers: Sequence[Fraction]) -> tuple[Vector, Vector]:
    """Return y and z from the multipliers of the rows of `violation`.

    Parameters
    ----------
    program : Program
        Program to check.
    multipliers : Sequence[Fraction]
        Multipliers of the inequalities of `violation`.
    """
    m = len(program.b)
    y = tuple(
        forth - back for forth, back in zip(multipliers[:m], multipliers[m : 2 * m], strict=True)
    )
    return y, tuple(multipliers[2 * m : 2 * m + len(program.h)])


def recession(program: Program) -> Program:
    """Return the program of the steepest recession direction within the unit box.

    Parameters
    ----------
    program : Program
        Program to check.
    """
    n = program.n
    box = (*({j: ONE} for j in range(n)), *({j: -ONE} for j in range(n)))
    level = Matrix((*(row for row in program.P.rows if row), *program.A.rows), n)
    return _linear(
        program.q,
        level,
        Matrix((*program.G.rows, *box), n),
        (*[ZERO] * len(program.h), *[ONE] * (2 * n)),
    )


def _linear(q: Vector, level: Matrix, G: Matrix, h: Vector) -> Program:
    """Return the program min q'x  s.t.  level x = 0,  G x <= h."""
    return Program(Matrix(({},) * len(q), len(q)), q, level, (ZERO,) * level.height, G, h)
