"""Optimality and infeasibility conditions of convex programs, the oracle of exact optima.

They are computed in dense lists of Fractions, without the arithmetic of `Program`,
whose matrices are made dense first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from equimargin.formulations.programs import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program import Infeasible, Optimum, Outcome, UnboundedProgram

Table = list[list[Fraction]]
ZERO = Fraction(0)


def unfolded(M: Matrix) -> Table:
    """Return a matrix as a dense table."""
    return [[row.get(j, ZERO) for j in range(M.width)] for row in M.rows]


def product(M: Table, x: Sequence[Fraction]) -> list[Fraction]:
    return [inner(row, x) for row in M]


def inner(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((v * w for v, w in zip(a, b, strict=True)), ZERO)


def pull(program: Program, y: Sequence[Fraction], z: Sequence[Fraction]) -> list[Fraction]:
    """Return A'y + G'z."""
    A, G = unfolded(program.A), unfolded(program.G)
    return [
        sum((v * row[j] for v, row in zip([*y, *z], [*A, *G], strict=True)), ZERO)
        for j in range(program.n)
    ]


def feasible(program: Program, x: Sequence[Fraction]) -> bool:
    """Return True if A x = b and G x <= h."""
    met = product(unfolded(program.A), x) == list(program.b)
    return met and all(
        v <= end for v, end in zip(product(unfolded(program.G), x), program.h, strict=True)
    )


def holds(program: Program, outcome: Outcome) -> bool:
    """Return True if the vectors of an outcome prove it.

    They must satisfy the Karush-Kuhn-Tucker conditions, or those of a ray.
    """
    P = unfolded(program.P)
    if isinstance(outcome, Optimum):
        x, y, z = outcome.x, outcome.y, outcome.z
        gradient = [v + w for v, w in zip(product(P, x), program.q, strict=True)]
        still = all(v + w == 0 for v, w in zip(gradient, pull(program, y, z), strict=True))
        slack = [end - v for v, end in zip(product(unfolded(program.G), x), program.h, strict=True)]
        complementary = all(v >= 0 and v * s == 0 for v, s in zip(z, slack, strict=True))
        return (
            still and complementary and feasible(program, x) and outcome.value == value(program, x)
        )
    if isinstance(outcome, Infeasible):
        y, z = outcome.y, outcome.z
        return (
            not any(pull(program, y, z))
            and min(z, default=ZERO) >= 0
            and inner(program.b, y) + inner(program.h, z) < 0
        )
    if isinstance(outcome, UnboundedProgram):
        d = outcome.ray
        flat = not any(product(P, d)) and not any(product(unfolded(program.A), d))
        within = all(v <= 0 for v in product(unfolded(program.G), d))
        return flat and within and inner(program.q, d) < 0 and feasible(program, outcome.x)
    return False


def value(program: Program, x: Sequence[Fraction]) -> Fraction:
    """Return the objective."""
    return inner(x, product(unfolded(program.P), x)) / 2 + inner(program.q, x) + program.c
