"""Unknowns whose values are known: those that the equations determine alone, and what is left of a program once values are put into it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix, Row

Values = dict[int, Fraction]
"""Values of unknowns by their columns."""


def determined(program: Program) -> Values:
    """Return the unknowns that the equations determine one behind the other, as t = 2 and s = t + 1 do.

    Parameters
    ----------
    program : Program
        Any convex one.

    Returns
    -------
    dict of column to value
        Equal at every feasible point.
    """
    found: Values = {}
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
        found[j] = (program.b[i] - product(program.A.rows[i], found)) / program.A.rows[i][j]
        for other in rows_of[j]:
            open_to[other].discard(j)
            due += [other] if len(open_to[other]) == 1 else []
    return found


def with_values(program: Program, fixed: Values, others: list[int]) -> Program:
    """Return the program over the other unknowns, without rows of none of them, and with its constant as it was.

    Parameters
    ----------
    program : Program
    fixed : dict of column to value
        Values that are put into the program.
    others : list of int
        All other columns.

    Returns
    -------
    Program
        Without names of columns.
    """
    at = {j: k for k, j in enumerate(others)}

    def rest(row: Row) -> dict[int, Fraction]:
        return {at[j]: v for j, v in row.items() if j in at}

    full = [fixed.get(j, Fraction(0)) for j in range(program.n)]
    pushed = program.P.times(full)
    equations = [(rest(row), end - product(row, fixed)) for row, end in zip(program.A.rows, program.b, strict=True)]
    rows = [(rest(row), end - product(row, fixed)) for row, end in zip(program.G.rows, program.h, strict=True)]
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
    """Return the sum of the entries of a row times values, over the columns that have one.

    Parameters
    ----------
    row : dict of column to entry
    values : dict of column to value
    """
    return sum((v * values[j] for j, v in row.items() if j in values), Fraction(0))
