"""Exact optimum of a problem, in rational numbers.

Every float is a dyadic rational, so that every problem in floats has an exact optimum
if its kernel's values are rational: linear and polynomial kernels, and any precomputed
Gram matrix. A float solution determines which rows are at a bound, one linear system in
rationals gives the multipliers, and every optimality condition is then checked. If the
float solution was wrong, exact pivots continue from it.

References
----------
proofs/catalogue.md (canonical forms).

T. Koch. The final NETLIB-LP results. 2004 (exact pivots after a float solution).
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import explicit
from equimargin.formulations.numeric.arguments import check_count, positive
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import CanonicalPoint, Point
from equimargin.solvers.exact.active_set import (
    ActiveSet,
    Ends,
    check_optimality,
    round_to_active_set,
)
from equimargin.solvers.exact.numbers import (
    Fractions,
    IntegerProblem,
    fractions,
    integral,
    semidefinite,
    to_common_denominator,
    to_dyadic,
)
from equimargin.solvers.exact.program.clock import Clock, OutOfPivots, OutOfTime
from equimargin.solvers.exact.simplex import OneNormSimplex, check_vertex, highs_basis
from equimargin.solvers.exact_limits import refusal
from equimargin.solvers.registry import SOLVERS, solve
from equimargin.solvers.solution import Status

FLOAT_TOL = 1e-10
"""Relative gap requested of the float solution from which the pivots start."""
FLOAT_SECONDS = 60.0
"""Maximum seconds of the float solution."""
FLOAT_SHARE = 0.25
"""Maximum fraction of the time limit for the float solution; the rest is for pivots."""
LARGEST_FLOAT = Fraction(sys.float_info.max)
"""Largest finite number of float64."""
BIAS_OF_0: Ends = (Fraction(0), Fraction(0))
"""Endpoints of b for a problem without a bias, whose b is 0."""


@dataclass(frozen=True, eq=False)
class ExactOptimum:
    """Optimum in rational numbers, or a proof that there is none.

    Parameters
    ----------
    problem : Problem
        Problem that was solved.
    status : Status
        Optimal, infeasible, time_limit or iteration_limit.
    reason : str
        Method by which it was found, or reason for stopping.
    value : Fraction | None
        Optimal value, primal and dual; None unless optimal.
    alpha : tuple[Fraction, ...] of shape (p,)
        Optimal multipliers, or feasible ones if the run stopped early; u of a
        OneNormProblem.
    beta : tuple[Fraction, ...] of shape (m,)
        Coefficients of f = sum_i beta_i k(x_i, .), beta = A'alpha; x >= 0 of a
        OneNormProblem, of shape (size,).
    w : tuple[Fraction, ...] | None of shape (q,)
        Weights of f = w.z for a linear kernel, with the constant of f last if the bias
        is penalised; None otherwise.
    bias : Ends
        Endpoints of all b that are optimal with f, for the sign f(x) + b; None for an
        infinite endpoint, and for both if the status is not optimal; (0, 0) without a
        bias.
    ray : tuple[Fraction, ...] | None of shape (p,)
        Ray of an infeasible problem: alpha >= 0, positive on hard rows alone, A K
        A'alpha = 0, s'alpha = 0 and t'alpha > 0.
    semidefinite : str
        Reason why K is known to be positive semidefinite.
    pivots : int
        Number of exact pivots.
    seconds : float
        Wall time in seconds.
    """

    problem: Problem = field(repr=False)
    status: Status
    reason: str
    value: Fraction | None = field(repr=False)  # Python prints no integer of thousands of digits
    alpha: tuple[Fraction, ...] = field(repr=False)
    beta: tuple[Fraction, ...] = field(repr=False)
    w: tuple[Fraction, ...] | None = field(repr=False)
    bias: Ends = field(repr=False)
    ray: tuple[Fraction, ...] | None = field(repr=False)
    semidefinite: str
    pivots: int
    seconds: float

    @property
    def u(self) -> tuple[Fraction, ...] | None:
        """Multipliers `alpha` of a linear program, shape (p,), otherwise None."""
        return self.alpha if isinstance(self.problem, OneNormProblem) else None

    @property
    def x(self) -> tuple[Fraction, ...] | None:
        """Coefficients `beta` of a linear program, shape (size,), otherwise None."""
        return self.beta if isinstance(self.problem, OneNormProblem) else None

    @property
    def point(self) -> CanonicalPoint:
        """Nearest float64 point, with the midpoint or the finite endpoint of the bias."""
        low, high = (
            end if end is not None else other for end, other in (self.bias, self.bias[::-1])
        )
        b = 0.0 if low is None or high is None else _nearest((low + high) / 2)
        return self.problem.point(_floats(self.beta), _floats(self.alpha), b)


def exact_optimum(
    problem: Problem,
    time_limit: float | None = None,
    max_iter: int = 10_000,
    start: CanonicalPoint | None = None,
) -> ExactOptimum:
    """Return the exact optimum.

    Parameters
    ----------
    problem : Problem
        MarginProblem or OneNormProblem.
    time_limit : float or None
        Time limit in seconds; no linear system is started that may exceed it.
    max_iter : int
        Maximum number of exact pivots.
    start : CanonicalPoint | None
        Float solution with nearly optimal multipliers; None to compute one. Ignored for
        linear programs.

    Returns
    -------
    ExactOptimum
        Optimum with a status and a reason; the best feasible multipliers if time or
        pivots ran out.

    Raises
    ------
    ValueError
        If the kernel has no rational values, the problem is not convex or too large, or
        a limit is not positive.
    """
    max_iter = check_count(max_iter, "max_iter")
    time_limit = None if time_limit is None else positive(time_limit, "time_limit")
    refused = refusal(problem)
    if refused is not None:
        raise ValueError(str(refused))
    problem = problem.proven
    started, clock = time.perf_counter(), Clock(inf if time_limit is None else time_limit, max_iter)
    numbers = integral(problem)
    seconds = FLOAT_SECONDS if time_limit is None else min(FLOAT_SECONDS, FLOAT_SHARE * time_limit)
    try:
        why = semidefinite(problem, numbers, clock)
        if isinstance(problem, OneNormProblem):
            end = _linear(problem, OneNormSimplex(problem, numbers, clock), seconds)
        else:
            end = _quadratic(
                problem,
                ActiveSet(numbers, clock),
                seconds,
                None if start is None else problem.own_point(start),
            )
    # Pivots that run out of time return an `_End`; the proof of convexity raises.
    except OutOfTime as spent:
        why = "not known: there was no time to prove it"
        end = _End(Status.TIME_LIMIT, str(spent), fractions(problem.p), fractions(problem.m), 0)
    return ExactOptimum(
        problem,
        end.status,
        end.reason,
        end.value,
        tuple(end.alpha),
        tuple(end.beta),
        _weights(problem, numbers, end.beta),
        end.bias if numbers.biased else BIAS_OF_0,
        None if end.ray is None else tuple(end.ray),
        why,
        end.pivots,
        time.perf_counter() - started,
    )


@dataclass(frozen=True, eq=False)
class _End:
    """Result of the pivots."""

    status: Status
    reason: str
    alpha: Fractions
    beta: Fractions
    pivots: int
    value: Fraction | None = None
    bias: Ends = (None, None)
    ray: Fractions | None = None


def _quadratic(
    problem: MarginProblem, state: ActiveSet, seconds: float, start: Point | None
) -> _End:
    numbers = state.numbers
    try:
        # Floats only propose a start; the pivots are exact.
        with np.errstate(all="ignore"):
            proposed = round_to_active_set(
                problem, numbers, start or float_solution(problem, seconds)
            )
        state.start(*proposed)
        ray = state.run()
    except (OutOfTime, OutOfPivots) as spent:
        return _stopped(spent, state.alpha, numbers.pulled(state.alpha), state.pivots)
    alpha, beta = state.alpha, numbers.pulled(state.alpha)
    if ray is not None:
        reason = f"the multipliers grow without bound along an exact ray; {_pivots(state.pivots)}"
        return _End(Status.INFEASIBLE, reason, alpha, beta, state.pivots, ray=ray)
    low, high = state.bias() if numbers.biased else BIAS_OF_0
    value = check_optimality(
        numbers, alpha, low if low is not None else high if high is not None else Fraction(0)
    )
    free = (
        f"{len(state.T)} multipliers by one linear system, {_pivots(state.pivots)}; every "
        f"condition of the optimum checked"
    )
    return _End(Status.OPTIMAL, free, alpha, beta, state.pivots, value, (low, high))


def _linear(problem: OneNormProblem, program: OneNormSimplex, seconds: float) -> _End:
    try:
        vertex = program.solve(highs_basis(problem, seconds))
    except (OutOfTime, OutOfPivots) as spent:
        return _stopped(spent, fractions(problem.p), program.x[: problem.size], program.pivots)
    value = check_vertex(program, vertex)
    reason = (
        f"the basis of HiGHS, {_pivots(program.pivots)}; every condition of the optimum checked"
    )
    return _End(
        Status.OPTIMAL,
        reason,
        vertex.u,
        vertex.x[: problem.size],
        program.pivots,
        value,
        program.best_bias(vertex),
    )


def float_solution(problem: MarginProblem, seconds: float) -> Point:
    """Return a float solution of any applicable solver.

    The multipliers are 0 if no solver applies, or it fails or returns none.

    Parameters
    ----------
    problem : MarginProblem
        Problem.
    seconds : float
        Time limit in seconds.
    """
    if any(not solver.reference and solver.refusal(problem) is None for solver in SOLVERS.values()):
        with suppress(ArithmeticError, ValueError):
            point = problem.own_point(solve(problem, tol=FLOAT_TOL, time_limit=seconds).point)
            if point.alpha is not None:
                return point
    return Point(alpha=np.zeros(problem.p))


def _stopped(
    spent: OutOfTime | OutOfPivots, alpha: Fractions, beta: Fractions, pivots: int
) -> _End:
    status = Status.TIME_LIMIT if isinstance(spent, OutOfTime) else Status.ITERATION_LIMIT
    return _End(status, f"{status.sentence} {_pivots(pivots)}", alpha, beta, pivots)


def _pivots(count: int) -> str:
    return f"{count} exact pivots"


def _weights(
    problem: Problem, numbers: IntegerProblem, beta: Fractions
) -> tuple[Fraction, ...] | None:
    """Return Z'beta for a linear kernel; Z has a column of ones for a penalised bias."""
    Z = explicit(problem.kernel, problem.X)
    if Z is None:
        return None
    if isinstance(problem, OneNormProblem) and problem.over == "rows":
        beta = numbers.pulled(beta)
    columns, unit = to_dyadic(Z.dense)
    values, den = to_common_denominator(beta)
    w = [Fraction(int(v), den * unit) for v in values @ columns]
    return (*w, Fraction(int(values.sum()), den)) if Z.constant else tuple(w)


def _floats(values: tuple[Fraction, ...]) -> Any:
    return np.array([_nearest(v) for v in values])


def _nearest(v: Fraction) -> float:
    """Return the nearest finite float64 number."""
    return float(min(max(v, -LARGEST_FLOAT), LARGEST_FLOAT))
