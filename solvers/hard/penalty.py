"""Penalty method for hard rows among soft ones, without a bias.

    min 1/2 |f|^2 + sum over soft rows c_r loss(1 - (A f)_r)
    s.t.            (A f)_r >= 1 on the hard rows

The hard rows get a finite cost c_h, which is multiplied by ten in every round.
Multipliers at any c_h are feasible for hard rows, whose bounds are larger, so that
their dual value is a lower bound. f divided by the minimum margin of the hard rows
satisfies these rows and gives an upper bound.

    hinge            the penalty is exact: the optimum is unchanged once c_h is at
                     least the optimal multipliers of the hard rows
    squared hinge    f and alpha have an error of const / c_h + O(1 / c_h^2)

The last two f, at c_h / 10 and at c_h, are therefore extrapolated to an infinite cost,
f + (f - f_before) / 9. This leaves O(1 / c_h^2) of the squared hinge's error, and does
not change an f that is exact. The lower bound needs no extrapolation: it is largest at
the optimal alpha.

The problem is infeasible if and only if its hard rows are, which the dual active-set
method decides first.

References
----------
O. L. Mangasarian, R. R. Meyer. Nonlinear perturbation of linear programs. 1979 (exact
penalties).

A. V. Fiacco, G. P. McCormick. Nonlinear programming. 1968, section 5.4 (extrapolation).

Document T (84)-(89).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.bounds.evaluate import coefficients, make_point
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers, FewMultipliers
from equimargin.solvers.hard.pricing import HardRows, can_price_rows, hard_rows
from equimargin.solvers.hard.spaces import factor_that_meets, scaled, values
from equimargin.solvers.progress import ConvergenceMonitor
from equimargin.solvers.registry import solve, solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status

ROUND_LIMIT = 30
"""Maximum number of rounds if the caller sets no limit; each has ten times the cost."""
GROWTH = 10.0
"""Factor by which the cost of hard rows grows per round."""
SHARE = 0.1
"""Fraction of the tolerance to which the first problem with a finite cost is solved.

Each later problem is solved GROWTH times as accurately: an f whose value has the error
e may violate a hard margin by sqrt(e), which costs more every round.
"""
TIGHTEST = 1e-10
"""Smallest relative gap requested of a problem with a finite cost.

Smooth approximations of the hinge need many steps for a smaller one.
"""
STALE_ROUNDS = 6
"""Consecutive rounds without a smaller gap that end a run."""


def _mixed(problem: MarginProblem) -> Refusal | None:
    if not can_price_rows(problem):
        return Refusal("its rows are neither classified points nor pairs")
    if not (np.isinf(problem.group_costs).any() and np.isfinite(problem.C)):
        return Refusal("the problem must have both hard rows, of infinite weight, and soft rows")
    return None


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge", "squared_hinge"),
    no_bias="which is free, and not part of the norm",
    convex=True,
    also=_mixed,
)


@solver(
    "penalty",
    "rank.l1",
    "rank.l2",
    "svm.nobias",
    "svm.nobias_l2",
    algorithm="a penalty: other solvers at growing finite costs of the hard rows, "
    "for hard rows among soft ones",
    requires=REQUIREMENTS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Decide if the hard rows are feasible, then raise their cost to close the gap."""
    judge = ConvergenceMonitor(
        "penalty", problem, limits, limits.max_iter or ROUND_LIMIT, STALE_ROUNDS
    )
    assert problem.weights is not None
    hard, rows = np.isinf(problem.weights), hard_rows(problem)
    alone = replace(problem, C=np.inf, weights=np.where(hard, 1.0, 0.0))
    left = limits.left(judge.seconds).time_limit
    first = solve(alone, "dual_active_set", limits.tol, time_limit=left)
    if first.status is Status.INFEASIBLE:
        judge.end(first.status, first.reason)
        return replace(judge.solution(), point=first.point, ray=first.ray)
    cost = _first_cost(problem, first)
    start, before, iteration, over = warm_start, None, 0, False
    while not over:
        if not np.isfinite(cost):
            judge.end(
                Status.NUMERICAL_FAILURE,
                "the cost of hard rows exceeds the float64 range",
            )
            break
        # With C = 1 the weights are the costs. With a tiny C the weight cost / C would
        # overflow, and its rows would be hard again.
        penalised = replace(problem, C=1.0, weights=np.where(hard, cost, problem.group_costs))
        tol = max(SHARE * limits.tol / GROWTH**iteration, TIGHTEST)
        left = limits.left(judge.seconds).time_limit
        solution = solve(penalised, tol=tol, time_limit=left, warm_start=start)
        iteration += 1
        start, cost = problem.own_point(solution.point), GROWTH * cost
        last, alpha = _sides(problem, start)
        met = [_met(problem, rows, v, alpha) for v in (last, _extrapolated(before, last))]
        point = min(met, key=lambda point: problem.values(point)[0])
        over, before = judge.weigh(point, *problem.values(point), iteration), last
    return judge.solution()


def _first_cost(problem: MarginProblem, alone: Solution) -> float:
    """Return the largest soft cost or multiplier of the hard margin alone; 1 if it is 0."""
    finite = problem.group_costs[np.isfinite(problem.group_costs)]
    alpha = alone.dual if alone.ok else None
    listed = (
        np.zeros(0)
        if alpha is None
        else alpha.alpha
        if isinstance(alpha, FewMultipliers)
        else np.asarray(alpha)
    )
    return max(float(finite.max(initial=0.0)), float(listed.max(initial=0.0))) or 1.0


def _sides(problem: MarginProblem, found: Point) -> tuple[Array, AnyMultipliers]:
    """Return the coefficients of a point, and its multipliers made feasible."""
    alpha = problem.repaired(np.zeros(problem.p) if found.alpha is None else found.alpha)
    return coefficients(
        problem, found if found.has_function else Point(beta=problem.rows.rdot(alpha))
    ), alpha


def _extrapolated(before: Array | None, last: Array) -> Array:
    """Return the coefficients extrapolated from two rounds to an infinite cost."""
    return last if before is None else np.asarray(last + (last - before) / (GROWTH - 1.0))


def _met(problem: MarginProblem, rows: HardRows, v: Array, alpha: AnyMultipliers) -> Point:
    """Return the point of alpha and v, scaled up so that its hard margins are 1.

    A function with a hard margin of 0 or less is not scaled.
    """
    function = make_point(problem, v, 0.0)
    least = rows.least_margin(values(problem, function))
    if 0.0 < least < 1.0:
        function = scaled(function, factor_that_meets(rows, function, 1.0 / least))
    return function.with_multipliers(alpha)
