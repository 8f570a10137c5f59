"""One-norm margin problems by the simplex method of HiGHS on their dual.

    max  1'u    s.t.  B'u <= 1,  0 <= u <= C        B = A K (over points)  or  A K A' (over pairs)

A large problem is solved by column generation (`column_generation.py`). A small one is handed over whole, and even so B is never formed:
h = A'u, and over pairs g = K h, are unknowns of their own, so that the matrix holds K once and the rest is sparse. The primal x >= 0 of
min 1'x + C sum_r (1 - (B x)_r)_+  are the multipliers of B'u <= 1. Where either way ends, within the absolute tolerances of HiGHS, the
equations of the vertex are solved once more.

Source: documents T (102)-(104) = K (2.10), T (94)-(96); Q. Huangfu, J. A. J. Hall, Parallelizing the dual revised simplex method (2018).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import lstsq

from equimargin.formulations.bounds import interval, product
from equimargin.formulations.kernels import UNIT, Array
from equimargin.formulations.labelled_pairs import LISTED
from equimargin.formulations.problem import OneNormProblem, Point, Problem, on_grid
from equimargin.solvers.column_generation import generate
from equimargin.solvers.interrupt import interruptible
from equimargin.solvers.solution import Limits, Solution, Status, relative_gap

DIRECT = {"points": 60_000, "pairs": 250_000}
"""Up to so many entries, m^2 + 4 p, HiGHS is given the whole matrix, where that is faster: columns over pairs are many and much alike."""

EQUATIONS = 20_000_000
"""Rows of A K for the multipliers inside their box are formed up to so many entries."""

MOVES = 4
"""How often multipliers are moved into the inside of their constraints, at most."""

_STATUSES = {0: Status.OPTIMAL, 1: Status.ITERATION_LIMIT, 2: Status.INFEASIBLE, 3: Status.UNBOUNDED, 4: Status.NUMERICAL_FAILURE}


def refusal(problem: Problem) -> str | None:
    """Why this problem is none of the linear program's, in a sentence, or None."""
    if not isinstance(problem, OneNormProblem):
        return "a quadratic problem: smo with a bias, coordinate_descent without"
    if problem.p > LISTED:
        return f"too large: {problem.p:,} pairs, and there is a multiplier for each; the limit is {LISTED:,}"
    return None


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """Solve at unit mean K_ii and map back; HiGHS takes no start through scipy, so that `warm_start` serves column generation only."""
    assert isinstance(problem, OneNormProblem)
    if problem.p == 0 or problem.m**2 + 4 * problem.p <= DIRECT[problem.over]:
        return _direct(problem, limits)
    found = generate(problem, _unit(problem), limits, warm_start)
    return _refined(found, limits) if found.status is Status.NUMERICAL_FAILURE else found


def _direct(problem: OneNormProblem, limits: Limits) -> Solution:
    """Solve the whole linear program at once."""
    start = time.perf_counter()
    answer = interruptible(lambda: _highs(problem, limits)) if problem.p else None
    x, u = np.zeros(problem.size), np.zeros(problem.p)
    if answer is not None and answer.x is not None:
        x, u = np.maximum(-answer.ineqlin.marginals, 0.0), np.clip(answer.x[: problem.p], 0.0, None)
    unit = _unit(problem)
    point, gap = _best(problem, x / unit, u / unit)
    seconds, iterations = time.perf_counter() - start, 0 if answer is None else int(answer.nit)
    status, reason = _ending(answer, gap, limits, seconds)
    if limits.callback is not None:
        proven = interval(problem, point)
        limits.callback(iterations, proven.lower, proven.upper)
    return Solution(problem, "linear_program", point, status, reason, iterations, seconds)


def _refined(found: Solution, limits: Limits) -> Solution:
    """A solution that missed its tolerance, with the equations of its vertex solved once more, if they are not too many."""
    problem, x, u = found.problem, found.point.beta, found.point.alpha
    assert isinstance(problem, OneNormProblem)
    assert x is not None
    assert u is not None
    if np.count_nonzero((u > 0) & (u < problem.C)) * problem.m > EQUATIONS:
        return found
    point, gap = _best(problem, x, u)
    if gap <= limits.tol:
        reached = f"relative gap {gap:.2e}, {limits.tol:.0e} was asked"
        return replace(found, point=point, status=Status.OPTIMAL, reason=reached)
    return replace(found, point=point)


def _best(problem: OneNormProblem, x: Array, u: Array) -> tuple[Point, float]:
    """The better of x, of u, and of those of the vertex solved once more; their relative gap."""
    again = _solved_again(problem, x, u)
    x = min((x, again[0]), key=lambda x: interval(problem, Point(beta=x)).upper)
    u = max((u, *_moved_inside(problem, again[1])), key=lambda u: interval(problem, Point(alpha=u)).lower)
    point = Point(beta=x, alpha=u)
    gap = min(relative_gap(problem.primal(x), problem.dual(u), problem.scale), interval(problem, point).relative_width)
    return point, gap  # B'u may cancel in float64


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


def _solved_again(problem: OneNormProblem, x: Array, u: Array) -> tuple[Array, Array]:
    """x and u with (B x)_F = 1 and (B'u)_S = 1 solved in float64, F where 0 < u < C, S where x > 0."""
    S, F = np.flatnonzero(x > 0), np.flatnonzero((u > 0) & (u < problem.C * (1 - 4 * UNIT)))
    if not (S.size and F.size):
        return x, u
    AK, prices = _rows(problem, F), _prices(problem, u)
    B = AK[:, S] if problem.over == "points" else AK @ problem.rows.matrix[S].T
    x, u = x.copy(), u.copy()
    x[S] += lstsq(B, 1.0 - AK @ problem.coefficients(x), lapack_driver="gelsy")[0]
    u[F] += lstsq(B.T, 1.0 - prices[S], lapack_driver="gelsy")[0]
    return np.maximum(x, 0.0), np.clip(u, 0.0, problem.C)


def _moved_inside(problem: OneNormProblem, u: Array) -> Iterator[Array]:
    """u, and u with B'u < 1 by twice what it exceeds 1 by, a few times: that costs so much of 1'x, and dividing by it so much of 1'u."""
    yield u
    for _ in range(MOVES):
        prices = _prices(problem, u)
        excess = float(prices.max(initial=0.0)) - 1.0
        T, F = np.flatnonzero(prices > 1.0 - 4 * excess), np.flatnonzero((u > 0) & (u < problem.C * (1 - 4 * UNIT)))
        if not (excess > 0 and T.size and F.size):
            return
        AK, u = _rows(problem, F), u.copy()
        B = AK[:, T] if problem.over == "points" else AK @ problem.rows.matrix[T].T
        u[F] += lstsq(B.T, 1.0 - 2 * excess - prices[T], lapack_driver="gelsy")[0]
        u = np.clip(u, 0.0, problem.C)
        yield u


def _rows(problem: OneNormProblem, F: Any) -> Array:
    """A[F] K, (F, m)."""
    A = problem.rows.matrix[F]
    points = np.unique(A.indices)
    return np.asarray(A[:, points] @ problem.gram.rows(points))


def _prices(problem: OneNormProblem, u: Array) -> Array:
    """B'u for the multipliers that a proof takes, which are those nearest to u on a grid."""
    g, _ = product(problem, problem.rows.rdot(on_grid(u, np.full(problem.p, problem.C), problem.rows.s)))
    return g if problem.over == "points" else problem.rows.dot(g)


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
