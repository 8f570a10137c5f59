"""Solver of `svm.general`, whose cost is a function F of a sum of powers of the slacks.

It searches along the costs of soft margins: the optimum for an increasing F is that of
a soft margin with these powers of the slacks, at another cost.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem.construct import classification
from equimargin.solvers.registry import solve, solver
from equimargin.solvers.requirements import Requirements

TIGHT = 1e-10
"""Relative gap to which the search solves soft margins."""
SHARE = 1e-3
"""Share of the largest cost that is tried next, while no positive lower bound is known."""
MOST_COSTS = 200
"""Maximum number of costs that are tried.

About sixty reduce any interval between positive floats to rounding error.
"""


def _not_searched(d: Data) -> str | None:
    """Return the reason for which the search does not apply, or None."""
    if not (d["sigma"] in (1, 2) and d["tau"] >= 1):
        return "the search is for sigma = 1 or 2 and a convex F"
    if not np.isfinite(_largest_cost(d)):
        return "the costs of its soft margins exceed the float64 range"
    return None


@np.errstate(over="ignore")
def _largest_cost(d: Data) -> float:
    """Return C F'(m): the sum of powers of m slacks is at most m, its value at w = 0."""
    return float(d["C"] * d["tau"] * np.float64(len(d["y"])) ** (d["tau"] - 1))


@solver(
    "svm.general.along_costs",
    "svm.general",
    algorithm="a search for the cost at which a soft margin, of hinges or squared hinges, has "
    "this optimum",
    requires=Requirements(ProgramProblem, also=lambda problem: _not_searched(problem.data)),
)
def along_costs(problem: ProgramProblem) -> Data:
    """Solve the soft margin at the cost c = C F'(s(c)), by a search between bounds.

    s(c) is the sum of xi^sigma at cost c, which decreases as c grows.

    Parameters
    ----------
    problem : ProgramProblem
        Problem with sigma = 1 or 2 and tau >= 1.

    Returns
    -------
    dict
        w, b and xi.
    """
    d = problem.data
    y, sigma, tau = 2.0 * np.asarray(d["y"], dtype=np.float64) - 1, d["sigma"], d["tau"]
    at = partial(classification, d["X"], y, loss="hinge" if sigma == 1 else "squared_hinge")

    def found(c: float) -> tuple[Data, float]:
        soft = at(C=c)
        solution = solve(soft, tol=TIGHT)
        short = np.maximum(1 - y * solution.decision_function(d["X"]), 0.0)
        return {"w": solution.w, "b": soft.own_point(solution.point).b, "xi": short}, float(
            (short**sigma).sum()
        )

    if tau == 1:
        return found(d["C"])[0]
    low, high, cost = 0.0, _largest_cost(d), d["C"] * tau
    for _ in range(MOST_COSTS):
        point, s = found(cost)
        # c and C F'(s(c)) are bounds on both sides; a sum above m is rounding at a huge cost.
        value = d["C"] * tau * s ** (tau - 1) if s <= len(y) else 0.0
        low, high = (cost, min(high, value)) if value > cost else (low or value, cost)
        cost = float(np.sqrt(low) * np.sqrt(high)) if low > 0 else SHARE * high
        if not low < cost < high:
            break
    return point
