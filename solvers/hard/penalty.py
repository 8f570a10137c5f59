"""Hard rows among soft ones, without a bias: a penalty that grows.

    min 1/2 |f|^2 + sum over soft rows c_r loss(1 - (A f)_r)   s.t.   (A f)_r >= 1 on the hard rows

Give the hard rows a finite cost c_h, which grows tenfold. Multipliers at any c_h are
feasible where the rows are hard, because their box is larger then, so that their dual
value is a lower bound. f over the least margin of the hard rows meets these, and is
worth an upper bound.

    hinge            the optimum is the same as soon as c_h is at least the hard rows' optimal multipliers: the penalty is exact
    squared hinge    f and alpha are off by a multiple of 1 / c_h + O(1 / c_h^2)

The two last f, at c_h / 10 and at c_h, are therefore extrapolated to an infinite cost,
f + (f - f_before) / 9, which leaves O(1 / c_h^2) of the squared hinge's error, and
nothing of none. The lower bound needs no such help: it is largest at the optimal alpha.

The problem is infeasible if and only if its hard rows are, which the dual active-set
method decides first.

Source: O. L. Mangasarian, R. R. Meyer, Nonlinear perturbation of linear programs
(1979), for exact penalties; A. V. Fiacco, G. P. McCormick, Nonlinear programming
(1968), section 5.4, for extrapolation; document T (84)-(89).
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
"""Costs of the hard rows, each ten times the one before, after which a run ends where the caller names no limit."""
GROWTH = 10.0
"""How many times as much hard rows cost in the next round."""
SHARE = 0.1
"""Share of the tolerance to which the first problem with a finite cost is solved, and each later one GROWTH times as accurately: an f whose
value is off by e may miss a margin by sqrt(e), and what is missed costs more each time.
"""
TIGHTEST = 1e-10
"""Relative gap that is asked of a problem with a finite cost, at least: smooth approximations of the hinge come to no smaller one soon."""
STALE_ROUNDS = 6
"""Rounds in a row without a smaller gap that end a run."""


def _mixed(problem: MarginProblem) -> Refusal | None:
    if not can_price_rows(problem):
        return Refusal("its rows are neither classified points nor pairs")
    if not (np.isinf(problem.group_costs).any() and np.isfinite(problem.C)):
        return Refusal("it is for hard rows, of infinite weight, among soft ones")
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
    algorithm="a penalty: other solvers at growing finite costs of the hard rows, for hard rows among "
    ""
    ""
    "soft ones",
    requires=REQUIREMENTS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Decide whether the hard rows can be met; then raise their cost until the bounds meet."""
    judge = ConvergenceMonitor(
        "penalty", problem, limits, limits.max_iter or ROUND_LIMIT, STALE_ROUNDS
    )
    assert problem.weights is not None
    hard, rows = np.isinf(problem.weights), hard_rows(problem)
    alone = replace(problem, C=np.inf, weights=np.where(hard, 1.0, 0.0))
    first = solve(alone, "dual_active_set", limits.tol, time_limit=_seconds(judge))
    if first.status is Status.INFEASIBLE:
        judge.end(first.status, first.reason)
        return replace(judge.solution(), point=first.point, ray=first.ray)
    cost = _first_cost(problem, first)
    start, before, iteration, over = warm_start, None, 0, False
    while not over:
        if not np.isfinite(cost):
            judge.end(
                Status.NUMERICAL_FAILURE,
                "hard rows would have to cost more than double precision holds",
            )
            break
        # With C = 1 the weights are the costs. A cost over a tiny C would be infinite,
        # and its rows hard once more.
        penalised = replace(problem, C=1.0, weights=np.where(hard, cost, problem.group_costs))
        tol = max(SHARE * limits.tol / GROWTH**iteration, TIGHTEST)
        found = solve(penalised, tol=tol, time_limit=_seconds(judge), warm_start=start)
        iteration += 1
        start, cost = problem.own_point(found.point), GROWTH * cost
        last, alpha = _sides(problem, start)
        met = [_met(problem, rows, v, alpha) for v in (last, _extrapolated(before, last))]
        point = min(met, key=lambda point: problem.values(point)[0])
        over, before = judge.weigh(point, *problem.values(point), iteration), last
    return judge.solution()


def _first_cost(problem: MarginProblem, alone: Solution) -> float:
    """Return the largest soft cost or multiplier of the hard rows alone; 1 if all are 0."""
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


def _seconds(judge: ConvergenceMonitor) -> float | None:
    """What is left of the time."""
    limit = judge.limits.time_limit
    return None if limit is None else max(limit - judge.seconds, 1e-3)


def _sides(problem: MarginProblem, found: Point) -> tuple[Array, AnyMultipliers]:
    """The coefficients of a solution's function, and its multipliers, feasible where hard rows cost without end."""
    alpha = problem.repaired(np.zeros(problem.p) if found.alpha is None else found.alpha)
    return coefficients(
        problem, found if found.has_function else Point(beta=problem.rows.rdot(alpha))
    ), alpha


def _extrapolated(before: Array | None, last: Array) -> Array:
    """The coefficients at an infinite cost, as far as those of two rounds tell."""
    return last if before is None else np.asarray(last + (last - before) / (GROWTH - 1.0))


def _met(problem: MarginProblem, rows: HardRows, v: Array, alpha: AnyMultipliers) -> Point:
    """Multipliers, and the function of coefficients v, so large that its hard margins are 1 where they are above 0."""
    function = make_point(problem, v, 0.0)
    least = rows.least_margin(values(problem, function))
    if 0.0 < least < 1.0:
        function = scaled(function, factor_that_meets(rows, function, 1.0 / least))
    return function.with_multipliers(alpha)
