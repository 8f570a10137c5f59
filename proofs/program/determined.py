"""Variables, and the part of the linear objective, that are equal at all feasible points.

Such variables are determined by the equations A x = b alone. By these equations the
linear objective is q'x = y'b + (q - A'y)'x for any y. The y that makes the terms of
(q - A'y)'x smallest moves into y'b all that is equal at all feasible points. This y is
computed by a linear program in floats, or exactly if q = A'y has a solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix, Row, Vector, dot
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.floats import floats
from equimargin.solvers.exact.program.linear_system import solution_near

Values = dict[int, Fraction]
"""Values of variables by their columns."""


def determined(program: Program) -> Values:
    """Return the variables that the equations determine one after the other.

    For example, t = 2 and s = t + 1 determine t, and then s.

    Parameters
    ----------
    program : Program
        Any convex program.

    Returns
    -------
    dict of column to value
        Values that are equal at every feasible point.
    """
    values: Values = {}
    open_to = [set(row) for row in program.A.rows]
    rows_of: dict[int, list[int]] = {}
    for i, row in enumerate(program.A.rows):
        for j in row:
            rows_of.setdefault(j, []).append(i)
    due = [i for i, columns in enumerate(open_to) if len(columns) == 1]
    while due:
        i = due.pop()
        if not open_to[i]:
            continue
        (j,) = open_to[i]
        values[j] = (program.b[i] - product(program.A.rows[i], values)) / program.A.rows[i][j]
        for other in rows_of[j]:
            open_to[other].discard(j)
            due += [other] if len(open_to[other]) == 1 else []
    return values


def with_values(program: Program, fixed: Values, others: list[int]) -> Program:
    """Return the program over the other variables, with an unchanged constant.

    Equations and inequalities without other variables are dropped.

    Parameters
    ----------
    program : Program
        Any convex program.
    fixed : dict of column to value
        Values that are substituted.
    others : list of int
        All other columns.

    Returns
    -------
    Program
        Program without names of columns.
    """
    position = {j: k for k, j in enumerate(others)}

    def rest(row: Row) -> dict[int, Fraction]:
        return {position[j]: v for j, v in row.items() if j in position}

    full = [fixed.get(j, Fraction(0)) for j in range(program.n)]
    # Products of fixed and other variables in the quadratic term are linear in the others.
    pushed = program.P.times(full)
    equations = [
        (rest(row), end - product(row, fixed))
        for row, end in zip(program.A.rows, program.b, strict=True)
    ]
    rows = [
        (rest(row), end - product(row, fixed))
        for row, end in zip(program.G.rows, program.h, strict=True)
    ]
    kept = [i for i, (row, _) in enumerate(rows) if row or i >= program.inequalities]
    n = len(others)
    return replace(
        program,
        P=Matrix(tuple(rest(program.P.rows[j]) for j in others), n),
        q=tuple(program.q[j] + pushed[j] for j in others),
        A=Matrix(tuple(row for row, _ in equations if row), n),
        b=tuple(end for row, end in equations if row),
        G=Matrix(tuple(rows[i][0] for i in kept), n),
        h=tuple(rows[i][1] for i in kept),
        columns={},
    )


def product(row: Row, values: Values) -> Fraction:
    """Return the sum of a row's entries times values, over the columns with a value.

    Parameters
    ----------
    row : dict of column to entry
        Nonzero entries.
    values : dict of column to value
        Values of some columns.
    """
    return sum((v * values[j] for j, v in row.items() if j in values), Fraction(0))


def with_pairs_as_equations(program: Program) -> Program:
    """Return the program with a further equation for every two opposite inequalities.

    For example, t <= 1 and 2 t >= 2 together are t = 1.

    Parameters
    ----------
    program : Program
        Any convex program.
    """
    ends: dict[frozenset[tuple[int, Fraction]], Fraction] = {}
    rows, right = list(program.A.rows), list(program.b)
    for row, end in zip(program.G.rows[: program.inequalities], program.h, strict=False):
        if not row:
            continue
        unit = abs(row[min(row)])
        scaled, most = {j: v / unit for j, v in row.items()}, end / unit
        key, opposite = frozenset(scaled.items()), frozenset((j, -v) for j, v in scaled.items())
        ends[key] = min(most, ends.get(key, most))
        if ends.get(opposite) == -ends[key]:
            rows.append(scaled)
            right.append(ends[key])
    return replace(program, A=Matrix(tuple(rows), program.n), b=tuple(right))


def without_constant(program: Program, sizes: Vector, clock: Clock) -> tuple[Fraction, Fraction]:
    """Return the size of the linear terms without their constant part, and that part.

    The constant part of the linear objective is equal at all feasible points. The size
    is the sum of |coefficient| times the size of the variable, or times its reach once
    a constant part is removed. The reach of a variable is the minimum, over its
    equations, of the largest term over the variable's |coefficient|: so much may a
    variable at 0 change if other terms compensate for it.

    Parameters
    ----------
    program : Program
        Any convex program.
    sizes : Vector of shape (n,)
        Absolute values of the variables at the optimum.
    clock : Clock
        Time limit; if it is exceeded, nothing is removed.
    """
    q, A = program.q, program.A
    whole = _terms(q, sizes)
    if not whole or not A.rows:
        return whole, Fraction(0)
    reach = _reach(A, sizes)
    try:
        y = solution_near(A.transposed, q, [Fraction(0)] * A.height, clock) or _least_terms(
            q, A, reach, clock
        )
    except OutOfTime:
        y = None
    if y is None:
        return whole, Fraction(0)
    rest = _terms([a - b for a, b in zip(q, A.transposed.times(y), strict=True)], reach)
    return (rest, dot(y, program.b)) if rest < whole else (whole, Fraction(0))


def _terms(q: Sequence[Fraction], sizes: Sequence[Fraction]) -> Fraction:
    return sum((abs(a) * b for a, b in zip(q, sizes, strict=True)), Fraction(0))


def _reach(A: Matrix, sizes: Sequence[Fraction]) -> list[Fraction]:
    reach: dict[int, Fraction] = {}
    for row in A.rows:
        largest = max((abs(v) * sizes[j] for j, v in row.items()), default=Fraction(0))
        for j, v in row.items():
            reach[j] = min(largest / abs(v), reach.get(j, largest / abs(v)))
    return [reach.get(j, size) for j, size in enumerate(sizes)]


def _least_terms(
    q: Sequence[Fraction], A: Matrix, reach: Sequence[Fraction], clock: Clock
) -> list[Fraction] | None:
    """Return a y that minimises the sum of |q - A'y| times the reaches, in floats.

    It consists of the multipliers of the dual: max q'w with A w = 0 and |w| <= reach.
    """
    # Imported here: most programs do not need scipy's linear programming.
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    # The variables are w / reach, with bounds -1 and 1. The largest entries of rows and
    # objective are scaled to 1, and the multipliers are scaled back.
    ways = floats([a * b for a, b in zip(q, reach, strict=True)])
    entries = [(i, j, v * reach[j]) for i, row in enumerate(A.rows) for j, v in row.items()]
    units = [
        max((abs(v) * reach[j] for j, v in row.items()), default=Fraction(0)) or Fraction(1)
        for row in A.rows
    ]
    places = [i for i, _, _ in entries], [j for _, j, _ in entries]
    rows = csr_array(
        (floats([v / units[i] for i, _, v in entries]), places), shape=(A.height, A.width)
    )
    largest = float(np.max(np.abs(ways)))
    if not 0 < largest < np.inf or clock.left <= 0:
        return None
    options = {"time_limit": clock.left}
    solution = linprog(
        -ways / largest,
        A_eq=rows,
        b_eq=np.zeros(A.height),
        bounds=(-1, 1),
        method="highs-ds",
        options=options,
    )
    if solution.status != 0:
        return None
    return [
        Fraction(-v) * Fraction(largest) / unit
        for v, unit in zip(solution.eqlin.marginals.tolist(), units, strict=True)
    ]
