"""Hard rows among soft ones, for the hinge without a bias: an exact penalty.

    min 1/2 |f|^2 + sum over soft rows c_r (1 - (A f)_r)_+   s.t.   (A f)_r >= 1 on the hard rows

Give the hard rows a finite cost c_h. The optimum stays the same if and only if they have optimal multipliers of at most c_h. Multipliers at
any c_h are feasible where the rows are hard, because their box is larger then, so that their dual value is a lower bound. f over the least
margin of the hard rows meets these, and is worth an upper bound. c_h grows tenfold until the two meet.

The problem is infeasible if and only if its hard rows are, which the dual active-set method decides first.

Source: O. L. Mangasarian, R. R. Meyer, Nonlinear perturbation of linear programs (1979), for exact penalties; document T (84)-(89).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.refusal import Refusal
from equimargin.formulations.rows.labelled import MANY
from equimargin.solvers.hard.pricing import HardRows, hard_rows, prices_rows_of
from equimargin.solvers.hard.spaces import scaled
from equimargin.solvers.needs import Needs
from equimargin.solvers.progress import Judge
from equimargin.solvers.registry import solve, solver
from equimargin.solvers.solution import Limits, Solution, Status

ROUND_LIMIT = 30
"""Costs of the hard rows, each ten times the one before, after which a run ends where the caller names no limit."""
GROWTH = 10.0
"""How many times as much hard rows cost in the next round."""
SHARE = 0.1
"""Share of the tolerance to which a problem with a finite cost is solved."""
SCALINGS = 10
"""Times, at most, that a function is made larger until its hard margins are 1 in float64 as well."""


def _mixed(problem: MarginProblem) -> Refusal | None:
    if not prices_rows_of(problem):
        return Refusal("its rows are neither classified points nor pairs")
    if not (np.isinf(problem.group_costs).any() and np.isfinite(problem.C)):
        return Refusal("no row is hard beside soft ones")
    if problem.p > MANY:
        return Refusal(f"{problem.p:,} rows, more than the {MANY:,} that are listed one by one", too_large=True)
    return None


NEEDS = Needs(
    MarginProblem,
    no_squared_hinge="has no finite penalty that is exact",
    no_bias="which is free, and not part of the norm",
    convex=True,
    also=_mixed,
)


@solver(
    "exact_penalty",
    algorithm="an exact penalty: other solvers at growing finite costs of the hard rows, for hard rows among soft ones",
    families=("rank.l1", "svm.nobias"),
    needs=NEEDS,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Decide whether the hard rows can be met; then raise their cost until the bounds meet."""
    judge = Judge("exact_penalty", problem, limits, limits.max_iter or ROUND_LIMIT)
    assert problem.weights is not None
    hard, rows = np.isinf(problem.weights), hard_rows(problem)
    alone = replace(problem, C=np.inf, weights=np.where(hard, 1.0, 0.0))
    first = solve(alone, "dual_active_set", limits.tol, time_limit=_seconds(judge))
    if first.status is Status.INFEASIBLE:
        judge.end(first.status, first.reason)
        return replace(judge.solution(), point=first.point, ray=first.ray)
    cost = problem.C * float(problem.weights[~hard].max(initial=0.0)) or problem.C
    start, iteration, over = warm_start, 0, False
    while not over:
        penalised = replace(problem, weights=np.where(hard, cost / problem.C, problem.weights))
        found = solve(penalised, tol=SHARE * limits.tol, time_limit=_seconds(judge), warm_start=start)
        iteration += 1
        point = _met(problem, rows, found)
        over = judge.weigh(point, *problem.values(point), iteration)
        start, cost = problem.own_point(found.point), GROWTH * cost
    return judge.solution()


def _seconds(judge: Judge) -> float | None:
    """What is left of the time."""
    limit = judge.limits.time_limit
    return None if limit is None else max(limit - judge.seconds, 1e-3)


def _met(problem: MarginProblem, rows: HardRows, found: Solution) -> Point:
    """The solution's multipliers, which are feasible, and its function, so large that its hard margins are 1, where they are above 0."""
    alpha = problem.repaired(np.zeros(problem.p) if found.dual is None else np.asarray(found.dual))
    own = problem.own_point(found.point)
    function = replace(own, b=0.0, alpha=None) if own.has_function else Point(beta=problem.rows.rdot(alpha), b=0.0)
    for k in range(SCALINGS):
        f = problem.gram @ np.asarray(function.beta) if function.w is None or problem.explicit is None else problem.explicit @ function.w
        least = rows.least_margin(f)
        if least >= 1.0 or not least > 0.0:
            break
        function = scaled(function, max(1.0 / least, 1.0) if k == 0 else 1.0 + 2**k * (1.0 - least + 2 * UNIT))
    return function.with_multipliers(alpha)
