"""Float solution of a program by Clarabel, as an unverified start of exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.extras import clarabel
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.interrupt import interruptible

FLOAT_TOL = 1e-11
"""Relative gap and residuals requested of Clarabel.

The face is determined by the last digits of its solution.
"""
FLOAT_ITERATIONS = 200
"""Maximum iterations of Clarabel: four times what a well-behaved program takes."""
FLOAT_SHARE = 0.5
"""Fraction of the remaining time for Clarabel; the rest is for exact arithmetic."""
PLACES = 40
"""Binary places of a float used by exact arithmetic.

No more are correct in Clarabel's solution.
"""


@dataclass(frozen=True, eq=False)
class FloatSolution:
    """Solution of Clarabel.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Point.
    y : ndarray of shape (m,)
        Multipliers of A x = b.
    z : ndarray of shape (r,)
        Multipliers of the rows of G.
    s : ndarray of shape (r,)
        Slack h - G x.
    says_infeasible, says_unbounded : bool
        True if Clarabel stopped with the claim that there is no feasible point, or no
        lower bound.
    """

    x: Array
    y: Array
    z: Array
    s: Array
    says_infeasible: bool = False
    says_unbounded: bool = False

    @property
    def finite(self) -> bool:
        """True if all numbers are finite."""
        return all(bool(np.isfinite(v).all()) for v in (self.x, self.y, self.z, self.s))


def solve_in_floats(program: Program, clock: Clock) -> FloatSolution | None:
    """Return Clarabel's solution, or None if there is none.

    There is none if numbers are outside the float64 range, or Clarabel fails or is too
    slow.

    Parameters
    ----------
    program : Program
        Program with a positive semidefinite P.
    clock : Clock
        Time limit.
    """
    from scipy import sparse

    seconds = FLOAT_SHARE * clock.left
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.max_iter, settings.time_limit = (
        False,
        1,
        FLOAT_ITERATIONS,
        seconds,
    )
    # Presolve would drop rows whose multipliers are needed.
    settings.presolve_enable = False
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"):
        setattr(settings, name, FLOAT_TOL)
    m = len(program.b)
    cones = [
        clarabel.ZeroConeT(m),
        clarabel.NonnegativeConeT(program.inequalities),
        *map(clarabel.SecondOrderConeT, program.cones),
    ]
    try:
        rows = sparse.csc_matrix(sparse.vstack([to_sparse(program.A), to_sparse(program.G)]))
        P, q, ends = (
            sparse.csc_matrix(sparse.triu(to_sparse(program.P))),
            floats(program.q),
            floats([*program.b, *program.h]),
        )
        solver = clarabel.DefaultSolver(
            P, q, rows, ends, [cone for cone in cones if cone.dim], settings
        )
        solution = interruptible(solver.solve, seconds=2 * seconds + 1)
    except (OverflowError, TimeoutError, ValueError):
        return None
    z, s, status = np.array(solution.z), np.array(solution.s), str(solution.status)
    return FloatSolution(
        np.array(solution.x),
        z[:m],
        z[m:],
        s[m:],
        "PrimalInfeasible" in status,
        "DualInfeasible" in status,
    )


def floats(values: Sequence[Fraction]) -> Array:
    """Return the nearest float64 numbers.

    Parameters
    ----------
    values : Sequence[Fraction]
        Fractions.

    Raises
    ------
    OverflowError
        If a number is too large.
    """
    return np.array([float(value) for value in values], dtype=np.float64)


def on_grid(values: Array) -> list[Fraction]:
    """Return floats rounded to PLACES binary places; 0 if not finite.

    Floats below 1 are rounded to PLACES places after the point.

    Parameters
    ----------
    values : ndarray
        Floats.
    """
    finite = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    units = PLACES - np.frexp(np.maximum(np.abs(finite), 1.0))[1]
    steps = np.rint(np.ldexp(finite, units))
    return [
        Fraction(int(step)) / Fraction(2) ** int(unit)
        for step, unit in zip(steps, units, strict=True)
    ]


def to_sparse(M: Matrix) -> Any:
    """Return the matrix as a scipy matrix in float64.

    Parameters
    ----------
    M : Matrix
        Matrix.

    Raises
    ------
    OverflowError
        If an entry is too large.
    """
    from scipy import sparse

    entries = [(i, j, float(v)) for i, row in enumerate(M.rows) for j, v in row.items()]
    i, j, v = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csc_matrix((v, (i, j)), shape=(M.height, M.width), dtype=np.float64)
