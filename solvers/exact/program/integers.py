"""Linear systems of integers by flint: a regular one solved by p-adic lifting, pivot columns modulo a large prime.

Source: J. Dixon, Exact solution of linear equations using p-adic expansions, Numerische
Mathematik 40 (1982).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from equimargin.solvers.exact.program.clock import Clock

PRIME = 2**61 - 1
"""A prime below 2^64, the largest word of the modular arithmetic: it divides a random minor once in 2^61 times."""
WORK = "the exact solution of a linear system"
"""What the clock is asked about."""


def regular_solution(matrix: Any, right: Sequence[int], bits: int, clock: Clock) -> list[Fraction]:
    """Return x with M x = right, after the clock was asked for the time.

    Parameters
    ----------
    matrix : fmpz_mat of shape (n, n)
        M.
    right : Sequence[int]
        Sequence of int, of length n
    bits : int
        Length of the longest entry of M, for the forecast.
    clock : Clock

    Raises
    ------
    ZeroDivisionError
        M is singular.
    OutOfTime
        It would take too long.
    """
    from flint import fmpz_mat

    size = matrix.nrows()
    clock.ask(WORK, forecast(size, bits))
    found = matrix.solve(fmpz_mat(size, 1, list(right))).entries() if size else []
    return [Fraction(int(v.p), int(v.q)) for v in found]


def forecast(size: int, bits: int) -> float:
    """Return the seconds that p-adic lifting takes, as measured: in proportion to size^3 and to the square of the bits of an entry."""
    return 5e-9 * float(size) ** 3 * (1 + bits / 60) ** 2


def pivot_columns(matrix: Any) -> list[int]:
    """Return the columns of an nmod_mat that are independent of those before them."""
    echelon, rank = matrix.rref()
    found, column = [], 0
    for row in range(rank):
        while int(echelon[row, column]) == 0:
            column += 1
        found.append(column)
        column += 1
    return found
