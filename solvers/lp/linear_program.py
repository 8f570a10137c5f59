"""One-norm margin problems solved by the simplex method of HiGHS on the whole of their dual.

    max  1'u    s.t.  B'u <= 1,  s'u = 0,  0 <= u <= C        B' = K A' (over points)  or  A K A' (over rows)

B is never formed. It is a product of sparse matrices and of K, or of Z and Z' where the
kernel has features with K = Z Z'. What each factor makes of u is an unknown of its own:
h = A'u, w = Z'h, g = Z w. The x >= 0 of the primal, min 1'x + C sum_r
(1 - (B x)_r - b s_r)_+, are the multipliers of B'u <= 1, and b is the best one for x.
Without a bias s = 0. The simplex method starts where u = C and the equations that
define h, w and g are solved: from a basis of slacks it would need a step for each of
these unknowns. HiGHS keeps to absolute tolerances only; the equations of its vertex are
therefore solved once more (`polish.py`).

Source: documents T (102)-(104) = K (2.10), T (94)-(96); Q. Huangfu, J. A. J. Hall,
Parallelizing the dual revised simplex method (2018).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.listed import Pairs
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.lp.highs import Basis, LinearProgram, run
from equimargin.solvers.lp.polish import best
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status

HIGHS_ENTRIES = 4_000_000
"""Entries of the largest matrix that HiGHS is given.

It takes half a minute for web documents and an RBF kernel, and longer for random data
with unknowns over pairs.
"""
HIGHS_ROWS = 100_000
"""Rows of the largest problem that HiGHS is given.

The first step of its dual simplex method may flip the bounds of all multipliers, in a
time that grows with their square: 2.7 CPU seconds of 100,000 rows, and 17 of 240,000.
Neither its time limit nor an interrupt ends a step.
"""


def too_large(problem: OneNormProblem) -> Refusal | None:
    """The refusal of a problem that would keep HiGHS busy for longer than anybody waits, or None."""
    what = "pairs" if isinstance(problem.rows, Pairs) else "rows"
    if problem.p > HIGHS_ROWS:
        return Refusal(
            f"too large: {problem.p:,} {what}, the limit is {HIGHS_ROWS:,}", too_large=True
        )
    if entries(problem) <= HIGHS_ENTRIES:
        return None
    size = f"{entries(problem):,} entries for {problem.m:,} points and {problem.p:,} {what}"
    return Refusal(f"too large: {size}, the limit is {HIGHS_ENTRIES:,}", too_large=True)


REQUIREMENTS = Requirements(OneNormProblem, also=too_large)


def entries(problem: OneNormProblem) -> int:
    """The largest number of entries that the matrix may have: 4 p, and those of K or of Z and Z'."""
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
    """Solve at unit mean K_ii and map back; the simplex method starts from a basis, which `warm_start` is not."""
    start = run_seconds()
    answer = (
        _highs(problem, limits, start)
        if problem.p
        else SimplexEnd(np.zeros(problem.size), np.zeros(0), 0, False, "no rows")
    )
    unit = problem.gram.mean_diagonal

    def out_of_time() -> bool:
        return answer.limited or (
            limits.time_limit is not None and run_seconds() - start > limits.time_limit
        )

    point, gap = interruptible(lambda: best(problem, answer.x / unit, answer.u / unit, out_of_time))
    seconds = run_seconds() - start
    status, reason = _ending(answer, gap, limits, seconds)
    found = Solution(problem, "linear_program", point, status, reason, answer.iterations, seconds)
    if limits.callback is not None:
        limits.callback(answer.iterations, found.lower, found.upper, found.point)
    return found


class SimplexEnd(NamedTuple):
    """Where HiGHS ended, with K / unit and C unit.

    Parameters
    ----------
    x : ndarray of shape (size,)
        The multipliers of B'u <= 1.
    u : ndarray of shape (p,)
    iterations : int
        Of the simplex method.
    limited : bool
        Whether a limit ended it.
    words : str
        Its own word on that.
    """

    x: Array
    u: Array
    iterations: int
    limited: bool
    words: str


def _highs(problem: OneNormProblem, limits: Limits, start: float) -> SimplexEnd:
    """HiGHS's answer to the dual, within the time limit, which counts from `start`; zeros where it has none."""
    import highspy as library

    highspy: Any = library  # only parts of its interface are typed
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
    """The dual, with K / unit and C unit, as HiGHS is given it.

    The unknowns are u, and what each factor of B' but the last makes of the unknowns
    before. The constraints are what defines these, s'u = 0, and B'u <= 1.
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
            [np.full(problem.p, problem.C * problem.gram.mean_diagonal), np.full(defined, np.inf)]
        ),
        starts=matrix.indptr,
        places=matrix.indices,
        entries=matrix.data,
        row_lower=np.concatenate([np.zeros(defined + 1), np.full(last.shape[0], -np.inf)]),
        row_upper=np.concatenate([np.zeros(defined + 1), np.ones(last.shape[0])]),
    )


def _factors(problem: OneNormProblem) -> list[Any]:
    """The sparse arrays whose product is B' / unit, first the one that is applied first."""
    from scipy import sparse

    A, Z = problem.rows.matrix, problem.factor
    if Z is None:
        kernel = [sparse.csr_array(problem.gram.dense / problem.gram.mean_diagonal)]
    else:
        scaled = sparse.csr_array(Z.stored) / np.sqrt(problem.gram.mean_diagonal)
        kernel = [scaled.T, scaled]
    return [A.T, *kernel] if problem.over == "points" else [A.T, *kernel, A]


def _ending(answer: SimplexEnd, gap: float, limits: Limits, seconds: float) -> tuple[Status, str]:
    """The status and its reason, by the gap of the point; where that is too large, HiGHS met a limit, or failed whatever it says.

    u = 0 is feasible and u <= C: what HiGHS calls infeasible or unbounded has numbers
    beyond its tolerances, or a C K beyond its infinity.
    """
    if gap <= limits.tol:
        return Status.OPTIMAL, f"relative gap {gap:.2e}, {limits.tol:.0e} was asked"
    status = Status.ITERATION_LIMIT if answer.limited else Status.NUMERICAL_FAILURE
    if (
        status is Status.ITERATION_LIMIT
        and limits.time_limit is not None
        and seconds >= limits.time_limit
    ):
        status = Status.TIME_LIMIT
    return status, f"relative gap {gap:.2e}, {limits.tol:.0e} was asked; HiGHS: {answer.words}"
