"""One-norm margin problems by the simplex method of HiGHS on the whole dual.

    max  1'u    s.t.  B'u <= 1,  s'u = 0,  0 <= u <= c
    B' = K A' (over points)  or  A K A' (over rows)

B is never formed. It is a product of sparse matrices and of K, or of Z and Z' if the
kernel has features with K = Z Z'. The products of u with successive factors are further
variables: h = A'u, w = Z'h, g = Z w. The x >= 0 of the primal, min 1'x + sum_r c_r (1 -
(B x)_r - b s_r)_+, are the multipliers of B'u <= 1, and b is the best one for x.
Without a bias s = 0. The simplex method starts at u = c with the equations that define
h, w and g solved: from a basis of slacks it would need a step for each of these
variables. HiGHS has absolute tolerances only; the equations of its vertex are therefore
solved again (`polish.py`).

References
----------
Documents T (102)-(104) = K (2.10), T (94)-(96).

Q. Huangfu, J. A. J. Hall. Parallelizing the dual revised simplex method (2018).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.programs.extras import highspy
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.lp.highs import Basis, LinearProgram, run
from equimargin.solvers.lp.polish import best
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status, call_once

HIGHS_ENTRIES = 4_000_000
"""Largest matrix, in entries, passed to HiGHS.

It takes half a minute for web documents and an RBF kernel, and longer for random data
with variables over pairs.
"""
HIGHS_ROWS = 100_000
"""Largest problem, in rows, passed to HiGHS.

The first step of its dual simplex method may flip the bounds of all multipliers, in a
time that grows with their square: 2.7 CPU seconds for 100,000 rows, and 17 for 240,000.
Neither its time limit nor an interrupt ends a step.
"""


def too_large(problem: OneNormProblem) -> Refusal | None:
    """Return the refusal of a problem that HiGHS would solve too slowly, or None.

    Parameters
    ----------
    problem : OneNormProblem
        Problem to solve.
    """
    noun = "pairs" if isinstance(problem.rows, Pairs) else "rows"
    if problem.p > HIGHS_ROWS:
        return Refusal(
            f"too large: {problem.p:,} {noun}, the limit is {HIGHS_ROWS:,}", too_large=True
        )
    if entries(problem) <= HIGHS_ENTRIES:
        return None
    size = f"{entries(problem):,} entries for {problem.m:,} points and {problem.p:,} {noun}"
    return Refusal(f"too large: {size}, the limit is {HIGHS_ENTRIES:,}", too_large=True)


REQUIREMENTS = Requirements(OneNormProblem, also=too_large)


def entries(problem: OneNormProblem) -> int:
    """Return the maximum number of matrix entries: 4 p, plus those of K or of Z and Z'.

    Parameters
    ----------
    problem : OneNormProblem
        Problem to solve.
    """
    Z = problem.factor
    return 4 * problem.p + (problem.m**2 if Z is None else 2 * Z.stored_entries)


@solver(
    "linear_program",
    "rvm",
    "rank.onenorm",
    "svm.onenorm",
    "svm.nobias_onenorm",
    algorithm="the dual simplex method of HiGHS on the whole linear program",
    library="HIGHS",
    requires=REQUIREMENTS,
)
def _solve(problem: OneNormProblem, limits: Limits, warm_start: OneNormPoint | None) -> Solution:
    """Solve at unit mean K_ii and map back.

    `warm_start` is not used: the simplex method starts from a basis.
    """
    start = run_seconds()
    result = (
        _highs(problem, limits, start)
        if problem.p
        else SimplexEnd(np.zeros(problem.size), np.zeros(0), 0, False, "no rows")
    )
    unit = problem.gram.mean_diagonal

    def out_of_time() -> bool:
        return result.limited or (
            limits.time_limit is not None and run_seconds() - start > limits.time_limit
        )

    point, gap = interruptible(lambda: best(problem, result.x / unit, result.u / unit, out_of_time))
    seconds = run_seconds() - start
    status, reason = _ending(result, gap, limits, seconds)
    solution = Solution(
        problem, "linear_program", point, status, reason, result.iterations, seconds
    )
    return call_once(limits.callback, solution)


class SimplexEnd(NamedTuple):
    """Result of HiGHS, with K / unit and c unit.

    Parameters
    ----------
    x : ndarray of shape (size,)
        Multipliers of B'u <= 1.
    u : ndarray of shape (p,)
        Multipliers of the rows.
    iterations : int
        Simplex iterations.
    limited : bool
        True if a limit ended the run.
    words : str
        Status string of HiGHS.
    """

    x: Array
    u: Array
    iterations: int
    limited: bool
    words: str


def _highs(problem: OneNormProblem, limits: Limits, start: float) -> SimplexEnd:
    """Return HiGHS's result for the dual, zeros if it has none.

    The time limit counts from `start`.
    """
    program = _program(problem)
    defined, rows = len(program.costs) - problem.p, len(program.row_upper)
    basis = Basis(np.arange(len(program.costs)) >= problem.p, np.arange(rows) >= defined)
    tolerance = float(np.clip(0.1 * limits.tol, 1e-10, 1e-7))
    seconds = (
        None if limits.time_limit is None else max(limits.time_limit - (run_seconds() - start), 0.0)
    )
    highs = run(program, basis, ~basis.v, tolerance, limits.max_iter, seconds)
    x, u, solution, status = (
        np.zeros(problem.size),
        np.zeros(problem.p),
        highs.getSolution(),
        highs.getModelStatus(),
    )
    if solution.value_valid and solution.dual_valid:
        x = np.maximum(-np.array(solution.row_dual)[defined + 1 :], 0.0)
        u = np.clip(np.array(solution.col_value)[: problem.p], 0.0, None)
    limited = status in (
        highspy.HighsModelStatus.kTimeLimit,
        highspy.HighsModelStatus.kIterationLimit,
    )
    return SimplexEnd(
        x,
        u,
        max(int(highs.getInfo().simplex_iteration_count), 0),
        limited,
        highs.modelStatusToString(status),
    )


def _program(problem: OneNormProblem) -> LinearProgram:
    """Return the dual, with K / unit and c unit, in the form passed to HiGHS.

    The variables are u, and the products of all factors of B' except the last. The
    constraints are the definitions of these products, s'u = 0, and B'u <= 1.
    """
    from scipy import sparse

    *inner, last = _factors(problem)
    sizes = [problem.p, *(factor.shape[0] for factor in inner)]
    defined, constraints = sum(sizes[1:]), [[None] * len(sizes) for _ in inner]
    for k, factor in enumerate(inner):
        constraints[k][k : k + 2] = factor, -sparse.eye_array(sizes[k + 1])
    balance = [sparse.csr_array(problem.bias_signs[None, :]), *(None for _ in inner)]
    prices = [*(None for _ in inner), last]
    matrix = sparse.block_array([*constraints, balance, prices], format="csc")
    return LinearProgram(
        costs=np.concatenate([-np.ones(problem.p), np.zeros(defined)]),
        lower=np.concatenate([np.zeros(problem.p), np.full(defined, -np.inf)]),
        upper=np.concatenate(
            [problem.costs * problem.gram.mean_diagonal, np.full(defined, np.inf)]
        ),
        starts=matrix.indptr,
        places=matrix.indices,
        entries=matrix.data,
        row_lower=np.concatenate([np.zeros(defined + 1), np.full(last.shape[0], -np.inf)]),
        row_upper=np.concatenate([np.zeros(defined + 1), np.ones(last.shape[0])]),
    )


def _factors(problem: OneNormProblem) -> list[Any]:
    """Return the sparse arrays whose product is B' / unit, in order of application."""
    from scipy import sparse

    A, Z = problem.rows.matrix, problem.factor
    if Z is None:
        kernel = [sparse.csr_array(problem.gram.dense / problem.gram.mean_diagonal)]
    else:
        scaled = sparse.csr_array(Z.stored) / np.sqrt(problem.gram.mean_diagonal)
        kernel = [scaled.T, scaled]
    return [A.T, *kernel] if problem.over == "points" else [A.T, *kernel, A]


def _ending(answer: SimplexEnd, gap: float, limits: Limits, seconds: float) -> tuple[Status, str]:
    """Return the status and its reason, from the gap of the point.

    If the gap is too large, HiGHS reached a limit, or failed regardless of its status:
    u = 0 is feasible and u <= c, so that a program reported as infeasible or unbounded
    has numbers beyond HiGHS's tolerances, or a c K beyond its infinity.
    """
    if gap <= limits.tol:
        return Status.OPTIMAL, f"relative gap {gap:.2e}, {limits.tol:.2g} was requested"
    status = Status.ITERATION_LIMIT if answer.limited else Status.NUMERICAL_FAILURE
    if (
        status is Status.ITERATION_LIMIT
        and limits.time_limit is not None
        and seconds >= limits.time_limit
    ):
        status = Status.TIME_LIMIT
    return status, f"relative gap {gap:.2e}, {limits.tol:.2g} was requested; HiGHS: {answer.words}"
