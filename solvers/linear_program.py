"""One-norm margin problems by the simplex method of HiGHS on their dual.

    max  1'u    s.t.  B'u <= 1,  0 <= u <= C        B = A K (over points)  or  A K A' (over pairs)

B is never formed: h = A'u, and over pairs g = K h, are unknowns of their own, so that the matrix holds K once and the rest is sparse. The
primal x >= 0 of  min 1'x + C sum_r (1 - (B x)_r)_+  are the multipliers of B'u <= 1. Where HiGHS ends, within its absolute tolerances, the
equations of the vertex are solved once more.

Source: documents T (102)-(104) = K (2.10), T (94)-(96); Q. Huangfu, J. A. J. Hall, Parallelizing the dual revised simplex method (2018).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from equimargin.formulations.kernels import Array
from equimargin.formulations.problem import OneNormProblem, Point, Problem
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.solution import Limits, Solution, Status, relative_gap

ENTRIES = 4_000_000
"""Largest m^2 + 4 p: the entries of the matrix that HiGHS is given."""

_STATUSES = {0: Status.OPTIMAL, 1: Status.ITERATION_LIMIT, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED, 4: Status.NUMERICAL_FAILURE}


def refusal(problem: Problem) -> str | None:
    """Why this problem is none of the linear program's, in a sentence, or None."""
    if not isinstance(problem, OneNormProblem):
        return "a quadratic problem: smo with a bias, coordinate_descent without"
    entries = problem.m**2 + 4 * problem.p
    if entries > ENTRIES:
        return f"too large: m^2 + 4 p = {entries:,} for {problem.m:,} points and {problem.p:,} pairs, the limit is {ENTRIES:,}"
    return None


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Solve at unit mean K_ii and map back; HiGHS takes no start through scipy, so that `warm_start` is not used."""
    assert isinstance(problem, OneNormProblem)
    start = time.perf_counter()
    answer = interruptible(lambda: _highs(problem, limits)) if problem.p else None
    x, u = np.zeros(problem.size), np.zeros(problem.p)
    if answer is not None and answer.x is not None:
        x, u = np.maximum(-answer.ineqlin.marginals, 0.0), np.clip(answer.x[: problem.p], 0.0, None)
    unit = _unit(problem)
    vertex_x, vertex_u = (v / unit for v in _vertex(problem, x, u))
    x, u = min(x / unit, vertex_x, key=problem.primal), max(u / unit, vertex_u, key=problem.dual)
    primal, dual = problem.primal(x), problem.dual(u)
    gap = relative_gap(primal, dual, problem.scale)
    seconds, iterations = time.perf_counter() - start, 0 if answer is None else int(answer.nit)
    status, reason = _ending(answer, gap, limits, seconds)
    if limits.callback is not None:
        limits.callback(iterations, dual, primal)
    return Solution(problem, "linear_program", Point(beta=x, alpha=u), status, reason, iterations, seconds)


def _highs(problem: OneNormProblem, limits: Limits) -> Any:
    """scipy's answer to the dual in the unknowns (u, h) or (u, h, g), with K / unit and C unit."""
    from scipy import sparse
    from scipy.optimize import linprog

    unit, m, p, A = _unit(problem), problem.m, problem.p, problem.rows.matrix
    K = sparse.csr_array(problem.gram.dense / unit)
    identity = sparse.eye_array(m)
    if problem.over == "points":
        prices = sparse.block_array([[sparse.csr_array((m, p)), K]])
        definitions = sparse.block_array([[A.T, -identity]])
    else:
        prices = sparse.block_array([[sparse.csr_array((p, p)), sparse.csr_array((p, m)), A]])
        definitions = sparse.block_array([[A.T, -identity, None], [None, K, -identity]])
    others = prices.shape[1] - p
    tolerance = float(np.clip(0.1 * limits.tol, 1e-10, 1e-7))
    options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
    if limits.time_limit is not None:
        options["time_limit"] = limits.time_limit
    if limits.max_iter is not None:
        options["maxiter"] = limits.max_iter
    return linprog(
        np.concatenate([-np.ones(p), np.zeros(others)]),
        A_ub=prices.tocsr(),
        b_ub=np.ones(prices.shape[0]),
        A_eq=definitions.tocsr(),
        b_eq=np.zeros(definitions.shape[0]),
        bounds=np.array([(0.0, problem.C * unit)] * p + [(-np.inf, np.inf)] * others),
        method="highs-ds",
        options=options,
    )


def _unit(problem: OneNormProblem) -> float:
    """Mean |K_ii|: the simplex method's tolerances are absolute."""
    return float(np.abs(problem.gram.diagonal).mean()) or 1.0


def _vertex(problem: OneNormProblem, x: Array, u: Array) -> tuple[Array, Array]:
    """x and u at unit mean K_ii with (B x)_F = 1 and (B'u)_S = 1 solved again, S where x > 0 and F where 0 < u < C."""
    A, K, C = problem.rows.matrix, problem.gram.dense / _unit(problem), problem.C * _unit(problem)
    S, F = np.flatnonzero(x > 0), np.flatnonzero((u > 0) & (u < C))
    if not (S.size and F.size):
        return x, u
    x, u, B, prices = x.copy(), u.copy(), A[F] @ K, K @ (A.T @ u)
    B, prices = (B[:, S], prices[S]) if problem.over == "points" else (B @ A[S].T, A[S] @ prices)
    x[S] += lstsq(B, 1.0 - B @ x[S], lapack_driver="gelsy")[0]
    u[F] += lstsq(B.T, 1.0 - prices, lapack_driver="gelsy")[0]
    return np.maximum(x, 0.0), np.clip(u, 0.0, C)


def _ending(answer: Any, gap: float, limits: Limits, seconds: float) -> tuple[Status, str]:
    """The status and why, from HiGHS's own and from the gap of its point."""
    if gap <= limits.tol:
        return Status.OPTIMAL, f"relative gap {gap:.2e}, {limits.tol:.0e} was asked"
    status = _STATUSES.get(answer.status, Status.NUMERICAL_FAILURE)
    if status is Status.OPTIMAL:
        status = Status.NUMERICAL_FAILURE
    if status is Status.ITERATION_LIMIT and limits.time_limit is not None and seconds >= limits.time_limit:
        status = Status.TIME_LIMIT
    return status, f"relative gap {gap:.2e}, {limits.tol:.0e} was asked; HiGHS: {answer.message}"
