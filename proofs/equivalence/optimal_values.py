"""Exact tests whether values are those of an optimal point, or of optimal multipliers.

Optimal points x and optimal multipliers (y, z) of a convex program form a product: any
x with any (y, z) satisfies the conditions of Karush, Kuhn and Tucker. With one optimum
known, each test is therefore a linear or quadratic program in the values not given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix, negative
from equimargin.solvers.exact.program import Infeasible, Optimum, program_optimum

Values = Mapping[str, Sequence[Fraction]]
"""Values of variables or multipliers, by name."""
ONE, ZERO = Fraction(1), Fraction(0)


def read_variables(program: Program, optimum: Optimum) -> dict[str, tuple[Fraction, ...]]:
    """Return the values of the stated variables at an optimum, by name.

    Parameters
    ----------
    program : Program
        Program with the columns of its variables.
    optimum : Optimum
        Optimum of the program.
    """
    return {name: tuple(optimum.x[place]) for name, place in program.columns.items()}


def read_multipliers(program: Program, optimum: Optimum) -> dict[str, tuple[Fraction, ...]]:
    """Return the multipliers of the stated constraints at an optimum, by name.

    Parameters
    ----------
    program : Program
        Program with the rows of its constraints.
    optimum : Optimum
        Optimum of the program.
    """
    multipliers = (*optimum.y, *optimum.z)
    return {name: multipliers[place] for name, place in program.rows.items()}


def is_optimal_at(program: Program, optimum: Optimum, given: Values, seconds: float) -> bool:
    """Return True if an optimal point has the given values of some variables.

    Parameters
    ----------
    program : Program
        Program with the columns of its variables.
    optimum : Optimum
        Optimum of the program.
    given : mapping of str to sequence of Fraction
        Values by name; names that are no variables are skipped.
    seconds : float
        Time limit in seconds.

    Raises
    ------
    ValueError
        If values have another shape than a variable, or nothing is proven.
    """
    fixed = _placed(given, program.columns)
    level = tuple(fixed.values())
    rows = (*program.A.rows, *({j: ONE} for j in fixed))
    found = program_optimum(
        replace(program, A=Matrix(rows, program.n), b=(*program.b, *level)), seconds
    )
    if isinstance(found, Infeasible):
        return False
    if not isinstance(found, Optimum):
        raise ValueError("the optimum at the given values is not proven")
    return found.value == optimum.value


def are_optimal_multipliers(
    program: Program, optimum: Optimum, given: Values, seconds: float
) -> bool:
    """Return True if optimal multipliers have the given values for some constraints.

    Parameters
    ----------
    program : Program
        Program with the rows of its constraints, without second-order cones.
    optimum : Optimum
        Optimum of the program.
    given : mapping of str to sequence of Fraction
        Multipliers by name; names that are no constraints are skipped.
    seconds : float
        Time limit in seconds.

    Raises
    ------
    ValueError
        If multipliers have another shape than a constraint, the program has
        second-order cones, or nothing is proven.
    """
    if program.cones:
        raise ValueError("multipliers of second-order cones are not tested")
    equations, fixed = len(program.b), _placed(given, program.rows)
    slack = [ZERO] * equations + program.slack(optimum.x)
    if any(v < 0 or v * slack[i] != 0 for i, v in fixed.items() if i >= equations):
        return False
    free = [i for i in range(len(slack)) if i not in fixed and slack[i] == 0]
    known = [fixed.get(i, ZERO) for i in range(len(slack))]
    level = negative(program.residual(optimum.x, known[:equations], known[equations:]))
    if not free:
        return not any(level)
    # The others satisfy M u = level, and those of inequalities are at least 0.
    M = Matrix(tuple((*program.A.rows, *program.G.rows)[i] for i in free), program.n).transposed
    signs = tuple({k: -ONE} for k, i in enumerate(free) if i >= equations)
    found = program_optimum(
        Program(
            Matrix(({},) * len(free), len(free)),
            (ZERO,) * len(free),
            M,
            tuple(level),
            Matrix(signs, len(free)),
            (ZERO,) * len(signs),
        ),
        seconds,
    )
    if not isinstance(found, Infeasible | Optimum):
        raise ValueError("optimal multipliers with the given values are not decided")
    return isinstance(found, Optimum)


def _placed(given: Values, places: Mapping[str, slice]) -> dict[int, Fraction]:
    """Return the given values by their places.

    Raise a ValueError if one has another shape than its place.
    """
    placed: dict[int, Fraction] = {}
    for name, values in given.items():
        if name in places:
            at = range(places[name].start, places[name].stop)
            if len(at) != len(values):
                raise ValueError(f"{name} has {len(values)} values, and {len(at)} were expected")
            placed |= dict(zip(at, values, strict=True))
    return placed
