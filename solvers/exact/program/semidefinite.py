"""Proof that P is positive semidefinite, by its form or by exact arithmetic.

Float eigenvalues are not used. A symmetric matrix has real eigenvalues only. By
Descartes' rule of signs none of them is negative if and only if the coefficients of its
characteristic polynomial alternate in sign, zeros being allowed. The coefficients are
integers and are computed exactly.
"""

from __future__ import annotations

from math import lcm

from equimargin.formulations.programs.extras import flint
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock


def semidefinite(P: Matrix, clock: Clock) -> str:
    """Return the reason, as text, why P is known to be positive semidefinite.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        Symmetric matrix.
    clock : Clock
        Time limit.

    Raises
    ------
    ValueError
        If P is not positive semidefinite, or not symmetric.
    OutOfTime
        If the proof would take too long.
    """
    if not P.symmetric:
        raise ValueError("P is not symmetric: give (P + P') / 2, which has the same x'Px")
    if not any(P.rows):
        return "P is 0: the program is linear"
    if all(set(row) <= {i} for i, row in enumerate(P.rows)):
        if all(v >= 0 for row in P.rows for v in row.values()):
            return (
                "P is diagonal and its entries are not negative: the objective is a sum of squares"
            )
        raise ValueError(
            "P is not positive semidefinite: it is diagonal and has a negative entry; the "
            "program is not convex"
        )
    for block in blocks(P):
        if not has_no_negative_eigenvalue(_dense_block(P, block), clock):
            raise ValueError(
                "P is not positive semidefinite: the signs of its characteristic polynomial "
                "do not alternate; the program is not convex"
            )
    return (
        "the signs of the exact characteristic polynomial of P alternate, so that no eigenvalue "
        "is negative"
    )


def blocks(P: Matrix) -> list[list[int]]:
    """Return the variables that P couples, directly or through others, in blocks.

    Variables that are not in P are excluded.

    Parameters
    ----------
    P : Matrix of shape (n, n)
        Symmetric matrix.
    """
    result, seen = [], set[int]()
    for start, row in enumerate(P.rows):
        if start in seen or not row:
            continue
        block, waiting = set[int](), [start]
        while waiting:
            i = waiting.pop()
            if i not in block:
                block.add(i)
                waiting += P.rows[i]
        seen |= block
        result.append(sorted(block))
    return result


def _dense_block(P: Matrix, block: list[int]) -> list[list[int]]:
    """Return a block of P in integers, times their common denominator."""
    unit = lcm(*{v.denominator for i in block for v in P.rows[i].values()})
    return [[int(P.rows[i].get(j, 0) * unit) for j in block] for i in block]


def has_no_negative_eigenvalue(entries: list[list[int]], clock: Clock) -> bool:
    """Return True if a symmetric integer matrix has no negative eigenvalue.

    The coefficients of its characteristic polynomial then alternate in sign.

    Parameters
    ----------
    entries : list of n lists of n int
        Symmetric matrix.
    clock : Clock
        Time limit.

    Raises
    ------
    OutOfTime
        If the polynomial would take too long.
    """
    size = len(entries)
    bits = max(abs(v).bit_length() for row in entries for v in row)
    clock.ask("the characteristic polynomial of P", forecast(size, bits))
    coefficients = flint.fmpz_mat(entries).charpoly().coeffs()
    return all(
        (-1) ** (size - k) * int(coefficient) >= 0 for k, coefficient in enumerate(coefficients)
    )


def forecast(size: int, bits: int) -> float:
    """Return the expected seconds of a characteristic polynomial, as measured.

    They are proportional to size^4 and to the bits of an entry.

    Parameters
    ----------
    size : int
        Number of rows.
    bits : int
        Length of the longest entry in bits.
    """
    return 1e-10 * float(size) ** 4 * (30 + bits)
