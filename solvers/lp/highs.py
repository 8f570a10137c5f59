"""Dual simplex method of HiGHS on a linear program, started from a given basis.

    min  costs'v    s.t.  row_lower <= M v <= row_upper,  lower <= v <= upper

The restricted programs of column generation have a dense B:

    max  1'v    s.t.  B'v <= 1,  s'v = 0,  0 <= v <= ends

References
----------
Q. Huangfu, J. A. J. Hall. Parallelizing the dual revised simplex method (2018).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array, Mask
from equimargin.formulations.programs.extras import highspy
from equimargin.formulations.programs.quiet_highs import quiet_highs
from equimargin.solvers.interrupt import interruptible


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Linear program; an infinite bound is none.

    Parameters
    ----------
    costs : ndarray of shape (n,)
        Costs of the variables.
    lower : ndarray of shape (n,)
        Lower bounds.
    upper : ndarray of shape (n,)
        Upper bounds.
    starts : ndarray of int
        Starts of M's columns, as in a CSC array.
    places : ndarray of int
        Rows of M's entries.
    entries : ndarray
        Entries of M.
    row_lower : ndarray of shape (rows,)
        Lower bounds of M v.
    row_upper : ndarray of shape (rows,)
        Upper bounds of M v.
    """

    costs: Array
    lower: Array
    upper: Array
    starts: NDArray[np.integer]
    places: NDArray[np.integer]
    entries: Array
    row_lower: Array
    row_upper: Array


@dataclass
class Basis:
    """Basic variables and constraints, as many as there are constraints.

    Parameters
    ----------
    v : ndarray of bool of shape (n,)
        True for basic variables.
    slacks : ndarray of bool of shape (rows,)
        True for constraints with basic slacks.
    """

    v: Mask
    slacks: Mask


@dataclass(frozen=True, eq=False)
class SimplexResult:
    """Last vertex of the simplex method.

    Parameters
    ----------
    v : ndarray of shape (n,)
        Variables.
    x : ndarray of shape (s,)
        Multipliers of B'v <= 1.
    b : float
        Multiplier of s'v = 0.
    basis : Basis
        Basis of the vertex.
    optimal : bool
        True if HiGHS reports an optimum.
    """

    v: Array
    x: Array
    b: float
    basis: Basis
    optimal: bool


def dual_simplex(
    B: Array,
    signs: Array,
    ends: Array,
    basis: Basis,
    raised: Mask,
    tolerance: float,
    max_iter: int,
    seconds: float | None,
) -> tuple[SimplexResult | None, int]:
    """Solve a restricted program of column generation.

    Parameters
    ----------
    B : ndarray of shape (n, s)
        Dense matrix.
    signs : ndarray of shape (n,)
        s, which may be 0.
    ends : ndarray of shape (n,)
        Upper bounds of v.
    basis : Basis
        Initial basis.
    raised : ndarray of bool of shape (n,)
        True for nonbasic v that start at their upper bounds.
    tolerance : float
        Absolute primal and dual feasibility tolerance.
    max_iter : int
        Maximum number of iterations.
    seconds : float or None
        Wall time limit in seconds; None for no limit.

    Returns
    -------
    vertex : SimplexResult or None
        Last vertex; None if HiGHS has none.
    iterations : int
        Number of iterations.
    """
    n, s, status = *B.shape, highspy.HighsBasisStatus
    program = LinearProgram(
        costs=-np.ones(n),
        lower=np.zeros(n),
        upper=ends,
        starts=np.arange(n + 1) * (1 + s),
        places=np.tile(np.arange(1 + s), n),
        entries=np.column_stack([signs, B]).ravel(),
        row_lower=np.append(0.0, np.full(s, -np.inf)),
        row_upper=np.append(0.0, np.ones(s)),
    )
    highs = run(program, basis, raised, tolerance, max_iter, seconds)
    iterations = max(int(highs.getInfo().simplex_iteration_count), 0)
    solution, end = highs.getSolution(), highs.getBasis()
    if not (solution.value_valid and solution.dual_valid and end.valid):
        return None, iterations
    v, (b, *x) = np.clip(np.array(solution.col_value), 0.0, ends), -np.array(solution.row_dual)
    basic = Basis(
        *(
            np.array([k == status.kBasic for k in part], dtype=bool)
            for part in (end.col_status, end.row_status)
        )
    )
    return SimplexResult(
        v,
        np.maximum(x, 0.0),
        float(b),
        basic,
        highs.getModelStatus() == highspy.HighsModelStatus.kOptimal,
    ), iterations


def run(
    program: LinearProgram,
    basis: Basis,
    raised: Mask,
    tolerance: float,
    max_iter: int | None,
    seconds: float | None,
) -> Any:
    """Solve a program from a basis; return the HiGHS object after the run.

    Parameters
    ----------
    program : LinearProgram
        Program to solve.
    basis : Basis
        Initial basis.
    raised : ndarray of bool of shape (n,)
        True for nonbasic v that start at their upper bounds.
    tolerance : float
        Absolute primal and dual feasibility tolerance.
    max_iter : int or None
        Maximum number of iterations; None for no limit.
    seconds : float or None
        Wall time limit in seconds; None for no limit.

    Returns
    -------
    highspy.Highs
        Object with solution, basis and status.
    """
    began = time.perf_counter()
    given = highspy.HighsLp()
    given.num_col_, given.num_row_ = len(program.costs), len(program.row_upper)
    given.col_cost_, given.col_lower_, given.col_upper_ = (
        program.costs,
        program.lower,
        program.upper,
    )
    given.row_lower_, given.row_upper_ = program.row_lower, program.row_upper
    given.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    given.a_matrix_.start_, given.a_matrix_.index_ = (
        program.starts.astype(np.int32),
        program.places.astype(np.int32),
    )
    given.a_matrix_.value_ = program.entries
    highs = quiet_highs()
    for option, setting in _options(tolerance, max_iter).items():
        highs.setOptionValue(option, setting)
    highs.passModel(given)
    status = highspy.HighsBasisStatus
    start = highspy.HighsBasis()
    start.col_status = np.where(
        basis.v, status.kBasic, np.where(raised, status.kUpper, status.kLower)
    ).tolist()
    start.row_status = np.where(basis.slacks, status.kBasic, status.kUpper).tolist()
    start.valid = True
    highs.setBasis(start)
    highs.HandleUserInterrupt = True
    # Passing the problem and its basis has taken a part of the time.
    if seconds is not None:
        highs.setOptionValue("time_limit", max(seconds - (time.perf_counter() - began), 0.0))
    interruptible(highs.run, highs.cancelSolve)
    # From some bases a ratio test of HiGHS fails; the basis of slacks is its own first one.
    failures = highspy.HighsModelStatus
    if highs.getModelStatus() in (failures.kNotset, failures.kSolveError, failures.kUnknown):
        highs.clearSolver()
        interruptible(highs.run, highs.cancelSolve)
    return highs


def _options(tolerance: float, max_iter: int | None) -> dict[str, Any]:
    options: dict[str, Any] = {
        "threads": 1,
        "presolve": "off",
        "solver": "simplex",
        "small_matrix_value": 1e-12,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
    }
    return options | ({} if max_iter is None else {"simplex_iteration_limit": max_iter})
