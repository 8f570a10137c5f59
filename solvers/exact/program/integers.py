"""Integer linear systems by flint: p-adic lifting, and pivot columns modulo a prime.

References
----------
J. Dixon. Exact solution of linear equations using p-adic expansions. Numerische
Mathematik 40 (1982).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from equimargin.formulations.programs.extras import flint
from equimargin.solvers.exact.program.clock import Clock

PRIME = 2**61 - 1
"""Prime below 2^64, the largest word of the modular arithmetic.

It divides a random minor with probability 2^-61.
"""
WORK = "the exact solution of a linear system"
"""Name of the work in messages of the clock."""


def regular_solution(matrix: Any, right: Sequence[int], bits: int, clock: Clock) -> list[Fraction]:
    """Return x with M x = right, after a check of the time.

    Parameters
    ----------
    matrix : fmpz_mat of shape (n, n)
        Matrix M.
    right : sequence of int, of length n
        Right-hand side.
    bits : int
        Length of the longest entry of M in bits, for the forecast.
    clock : Clock
        Time limit.

    Raises
    ------
    ZeroDivisionError
        If M is singular.
    OutOfTime
        If the solution would take too long.
    """
    size = matrix.nrows()
    clock.ask(WORK, forecast(size, bits))
    solution = matrix.solve(flint.fmpz_mat(size, 1, list(right))).entries() if size else []
    return [Fraction(int(v.p), int(v.q)) for v in solution]


def forecast(size: int, bits: int) -> float:
    """Return the expected seconds of p-adic lifting, as measured.

    They are proportional to size^3 and to the squared bits of an entry.

    Parameters
    ----------
    size : int
        Number of variables.
    bits : int
        Length of the longest entry in bits.
    """
    return 5e-9 * float(size) ** 3 * (1 + bits / 60) ** 2


def pivot_columns(matrix: Any) -> list[int]:
    """Return the columns of a matrix that are independent of the preceding ones.

    Parameters
    ----------
    matrix : nmod_mat
        Matrix modulo a prime.
    """
    echelon, rank = matrix.rref()
    columns, column = [], 0
    for row in range(rank):
        while int(echelon[row, column]) == 0:
            column += 1
        columns.append(column)
        column += 1
    return columns
