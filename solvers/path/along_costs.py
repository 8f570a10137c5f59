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
HALVINGS = 100
"""Maximum number of halvings in the search for the cost.

About fifty halvings reduce an interval of costs to rounding error.
"""


def _not_searched(d: Data) -> str | None:
    """Return the reason for which the search does not apply, or None."""
    return (
        None
        if d["sigma"] in (1, 2) and d["tau"] >= 1
        else "the search is for sigma = 1 or 2 and a convex F"
    )


@solver(
    "svm.general.along_costs",
    "svm.general",
    algorithm="bisection for the cost at which a soft margin, of hinges or squared hinges, has "
    "this optimum",
    requires=Requirements(ProgramProblem, also=lambda problem: _not_searched(problem.data)),
)
def along_costs(problem: ProgramProblem) -> Data:
    """Solve the soft margin at the cost c = C F'(s(c)), by bisection.

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
    # s is at most the number of points, its value at w = 0 and b = 0.
    low, high = 0.0, d["C"] * tau * float(len(y)) ** (tau - 1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        point, s = found(middle)
        low, high = (middle, high) if d["C"] * tau * s ** (tau - 1) > middle else (low, middle)
    return point
