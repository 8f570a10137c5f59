"""Completion of a partial point of a program to an exactly feasible one.

1. The given values are changed so that rows with given variables only hold exactly.
2. The values are substituted into the program.
3. The program is minimised over the other variables; a feasible point is found.

The objective at this feasible point counts as the value of the given point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.proofs.enclosure import enclosure
from equimargin.proofs.program.determined import Values, product, with_values
from equimargin.proofs.program.rounding import hidden_by_rounding
from equimargin.solvers.exact.program.clock import Clock, OutOfTime
from equimargin.solvers.exact.program.linear_system import solution_near

VIOLATED = "no exactly feasible point has the given values: they violate a constraint"
"""Error message for values near which no feasible point is found."""
TIGHT = 1e-9
"""Slack, relative to 1 + |h|, up to which an inequality becomes an equation.

It applies to inequalities with given variables only. Solvers end that close to bounds.
"""


@dataclass(frozen=True)
class FeasiblePoint:
    """Properties of an exactly feasible point near given values.

    Parameters
    ----------
    objective : Fraction
        Exact objective of the program at the point.
    moved : float
        Largest |change| of a given value v over 1 + |v|.
    hidden : Fraction
        Bound of the decrease of the objective within the roundings of the point.
    """

    objective: Fraction
    moved: float
    hidden: Fraction


def completed(program: Program, given: Mapping[str, Any], seconds: float) -> FeasiblePoint:
    """Return the best exactly feasible point found near given values of some variables.

    Parameters
    ----------
    program : Program
        Program that knows the columns of its named variables.
    given : mapping
        Values of variables by name.
    seconds : float
        Time limit in seconds.

    Raises
    ------
    ValueError
        If there are no values; if a name is unknown, or its values have another size or
        are not finite; or if no exactly feasible point is found near the values.
    """
    clock = Clock(seconds)
    requested = _by_columns(program, given)
    if program.columns and not requested:
        raise ValueError(
            f"there are no values: give those of {', '.join(program.columns)}, or of some of them"
        )
    try:
        fixed = _made_exact(program, requested, clock)
        others = [j for j in range(program.n) if j not in fixed]
        rest = with_values(program, fixed, others)
        completion = enclosure(rest, seconds=max(clock.left, 1e-3)).primal if others else ()
    except OutOfTime as reason:
        raise ValueError(
            f"no exactly feasible point was found near the given values: {reason}"
        ) from None
    if completion is None:
        raise ValueError(VIOLATED)
    # The best values of the other variables complete the given ones.
    values = fixed | dict(zip(others, completion, strict=True))
    x = tuple(values[j] for j in range(program.n))
    if not program.is_feasible(x):
        raise ValueError(VIOLATED)
    moved = max(
        (float(abs(fixed[j] - v) / (1 + abs(v))) for j, v in requested.items()), default=0.0
    )
    return FeasiblePoint(program.objective(x), moved, hidden_by_rounding(program, x, others, clock))


def _by_columns(program: Program, given: Mapping[str, Any]) -> Values:
    numbers_by_column: Values = {}
    for name, values in given.items():
        if name not in program.columns:
            raise ValueError(
                f"there is no variable {name!r}; the variables are {', '.join(program.columns)}"
            )
        columns, numbers = (
            program.columns[name],
            np.ravel(np.asarray(values, dtype=np.float64), order="F"),
        )
        size = columns.stop - columns.start
        if numbers.size != size or not np.isfinite(numbers).all():
            raise ValueError(
                f"the variable {name} takes {size} finite number{'s' * (size != 1)}, not "
                f"{np.shape(values)} {values!r}"[:200]
            )
        numbers_by_column |= {
            columns.start + k: Fraction(v) for k, v in enumerate(numbers.tolist())
        }
    return numbers_by_column


def _made_exact(program: Program, asked: Values, clock: Clock) -> Values:
    """Return values near the given ones that satisfy all rows with given variables only.

    Inequalities with slack of at most TIGHT become equations.
    """
    position = {j: k for k, j in enumerate(asked)}
    equations = [
        (row, end)
        for row, end in zip(program.A.rows, program.b, strict=True)
        if row and row.keys() <= position.keys()
    ]
    rows = zip(
        program.G.rows[: program.inequalities], program.h[: program.inequalities], strict=True
    )
    own = [(row, end) for row, end in rows if row and row.keys() <= position.keys()]
    tight = [
        (row, end)
        for row, end in own
        if end - product(row, asked) <= Fraction(TIGHT) * (1 + abs(end))
    ]
    # Tight inequalities are equations at first; if these are inconsistent, they are not.
    for chosen in ([*equations, *tight], equations):
        matrix = Matrix(
            tuple({position[j]: v for j, v in row.items()} for row, _ in chosen), len(position)
        )
        values = list(asked.values())
        solution = solution_near(
            matrix, [end for _, end in chosen], values, clock, [abs(float(v)) for v in values]
        )
        if solution is not None:
            exact = dict(zip(asked, solution, strict=True))
            if all(product(row, exact) <= end for row, end in own):
                return exact
    raise ValueError(VIOLATED)
