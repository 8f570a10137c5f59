"""The solution of a program in floats, by Clarabel: where exact arithmetic starts. Nothing that it says is believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.programs.program import Program
from equimargin.formulations.programs.rational import Matrix
from equimargin.solvers.exact.program.clock import Clock
from equimargin.solvers.interrupt import interruptible

FLOAT_TOL = 1e-11
"""Relative gap and residuals that Clarabel is asked for: the face is read off the last digits of its solution."""
FLOAT_ITERATIONS = 200
"""Iterations that Clarabel may do: four times what a well-behaved program takes."""
FLOAT_SHARE = 0.5
"""Share of the time left that Clarabel may take; the rest is for exact arithmetic."""
PLACES = 40
"""Binary places of a float that exact arithmetic starts from: Clarabel's solution has no more that are right."""


@dataclass(frozen=True, eq=False)
class FloatSolution:
    """What Clarabel returned.

    Parameters
    ----------
    x : ndarray of shape (n,)
    y : ndarray of shape (m,)
        Multipliers of A x = b.
    z : ndarray of shape (r,)
        Those of the rows of G.
    s : ndarray of shape (r,)
        The slack h - Gx.
    says_infeasible, says_unbounded : bool
        Whether it stopped with the claim that there is no feasible point, or no lower
        bound.
    """

    x: Array
    y: Array
    z: Array
    s: Array
    says_infeasible: bool = False
    says_unbounded: bool = False

    @property
    def finite(self) -> bool:
        """Whether all its numbers are finite."""
        return all(bool(np.isfinite(v).all()) for v in (self.x, self.y, self.z, self.s))


def solve_in_floats(program: Program, clock: Clock) -> FloatSolution | None:
    """Clarabel's solution; None where the program has numbers beyond those of float64, or Clarabel refuses or is too slow.

    Parameters
    ----------
    program : Program
        With a positive semidefinite P.
    clock : Clock
        The time limit.
    """
    import clarabel
    from scipy import sparse

    seconds = FLOAT_SHARE * clock.left
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.max_iter, settings.time_limit = (
        False,
        1,
        FLOAT_ITERATIONS,
        seconds,
    )
    settings.presolve_enable = False  # it would drop rows, whose multipliers are wanted
    for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas", "tol_infeas_abs", "tol_infeas_rel"):
        setattr(settings, name, FLOAT_TOL)
    m = len(program.b)
    cones = [
        clarabel.ZeroConeT(m),
        clarabel.NonnegativeConeT(program.inequalities),
        *map(clarabel.SecondOrderConeT, program.cones),
    ]
    try:
        rows = sparse.csc_matrix(sparse.vstack([_sparse(program.A), _sparse(program.G)]))
        P, q, ends = (
            sparse.csc_matrix(sparse.triu(_sparse(program.P))),
            floats(program.q),
            floats([*program.b, *program.h]),
        )
        solver = clarabel.DefaultSolver(
            P, q, rows, ends, [cone for cone in cones if cone.dim], settings
        )
        found = interruptible(solver.solve, seconds=2 * seconds + 1)
    except (OverflowError, TimeoutError, ValueError):
        return None
    z, s, status = np.array(found.z), np.array(found.s), str(found.status)
    return FloatSolution(
        np.array(found.x),
        z[:m],
        z[m:],
        s[m:],
        "PrimalInfeasible" in status,
        "DualInfeasible" in status,
    )


def floats(values: Sequence[Fraction]) -> Array:
    """The nearest float64 numbers; OverflowError where one is too large."""
    return np.array([float(value) for value in values], dtype=np.float64)


def on_grid(values: Array) -> list[Fraction]:
    """Floats rounded to PLACES binary places of themselves, or after the point where they are below 1; 0 where they are not finite."""
    finite = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    units = PLACES - np.frexp(np.maximum(np.abs(finite), 1.0))[1]
    steps = np.rint(np.ldexp(finite, units))
    return [
        Fraction(int(step)) / Fraction(2) ** int(unit)
        for step, unit in zip(steps, units, strict=True)
    ]


def _sparse(M: Matrix) -> Any:
    """The matrix as scipy's, in float64."""
    from scipy import sparse

    entries = [(i, j, float(v)) for i, row in enumerate(M.rows) for j, v in row.items()]
    i, j, v = zip(*entries, strict=True) if entries else ((), (), ())
    return sparse.csc_matrix((v, (i, j)), shape=(M.height, M.width), dtype=np.float64)
