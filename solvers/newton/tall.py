"""For which problems "auto" asks the solvers in the features of f first: those of many points and few features, and those of many pairs.

Their steps visit all rows at once, in a product with the features, where the other solvers visit rows one by one.
"""

from __future__ import annotations

from equimargin.formulations.problem.margin import MarginProblem

FEWEST_ROWS = 1000
"""Points, or rows where there are many on each point: below this number every solver is fast enough."""
POINTS_PER_FEATURE = 2
"""Points for each feature that make features few beside points: the Hessian, features x features, then costs no more than K would."""
MOST_FEATURES = 2000
"""Features up to which the Hessian is cheap to factorise."""
ROWS_PER_POINT = 3
"""Rows for each point that make rows many, whatever the kernel: only labelled pairs are as many."""


def tall(problem: MarginProblem) -> bool:
    """Whether a problem has many points and few features, or many rows on each point."""
    Z = problem.explicit
    few = Z is not None and Z.q <= MOST_FEATURES and Z.m >= max(FEWEST_ROWS, POINTS_PER_FEATURE * Z.q)
    return few or problem.p >= max(FEWEST_ROWS, ROWS_PER_POINT * problem.m)
