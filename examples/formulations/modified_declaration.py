"""A declaration is modified, and the referee objects
====================================================

Here the multipliers are at most 2C, where the equation has C. The program is convex,
and the backend solves it accurately and reports "optimal". The referee does not use
this status: it checks if the value is the family's optimum.

Run it: ``python examples/formulations/modified_declaration.py``.
"""

import cvxpy as cp
import numpy as np

from equimargin import compare
from equimargin.formulations import (
    FAMILIES,
    REGISTRY,
    Point,
    Source,
    Symbols,
    classification,
    declare,
    interval,
    maximize,
)
from equimargin.solvers import solve, solve_declaration

random = np.random.default_rng(0)
X = random.normal(size=(40, 2))
y = np.where(X[:, 0] + 0.5 * random.normal(size=40) > 0, 1.0, -1.0)
problem = classification(X, y, C=1.0)

# %%
# Constraints have the names of the equation. One is replaced; the next solve uses it.
dual = declare("svm.soft.dual", problem)
alpha, C = dual.variables["alpha"], dual.parameters["C"]
dual.constraints["upper"] = alpha <= 2 * C
answer = solve_declaration(dual, "CLARABEL")
assert answer.point is not None
print("the backend says:", answer.status.value)

# %%
# The interval proven from the backend's point is valid, because the point is made
# feasible first. It is wide, and an accurate solver proves a narrow one.
proven, solution = interval(problem, answer.point), solve(problem, tol=1e-10)
print(f"the point proves  [{proven.lower:.6f}, {proven.upper:.6f}]")
print(f"the optimum is in [{solution.lower:.6f}, {solution.upper:.6f}]")


# %%
# Registered as a formulation, the modified problem is compared with the others: the
# verdict states that its value is not the optimum.
@FAMILIES["svm.soft"].formulation(
    "dual.wide_box",
    Source("a slip", "of the pen"),
    latex=r"0 \le \alpha \le 2C",
    carries="multipliers",
    to_canonical=lambda v, d: Point(alpha=v["alpha"]),
)
def wide_box(d: Symbols) -> cp.Problem:
    """The dual, with 2C where C should be."""
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    return maximize(
        cp.sum(alpha) - d.K.quad(cp.multiply(d.y, alpha)) / 2,
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
        upper=alpha <= 2 * C * d.c,
    )


try:
    print(compare(problem, formulations="svm.soft.*", solvers=["CLARABEL", "smo"]))
finally:
    del REGISTRY["svm.soft.dual.wide_box"]
