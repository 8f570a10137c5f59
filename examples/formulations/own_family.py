"""A user-defined family: isotonic regression
============================================

Isotonic regression finds the increasing sequence nearest to given numbers. It has no
margins, but equimargin can decide in exact fractions if a dual is right, and if
scikit-learn's solver finds the optimum.

Run it: ``python examples/formulations/own_family.py``. The page "Bring your own
problem" explains each line.
"""

from collections.abc import Mapping
from typing import Any

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
from sklearn.isotonic import isotonic_regression

from equimargin import compare
from equimargin.own import Family, ProgramProblem, Source, optimum, solver

book = Source(
    "Barlow 1972",
    "chapter 1",
    "Barlow et al., Statistical Inference under Order Restrictions (1972)",
)
isotonic = Family("isotonic", book)


@isotonic.formulation("primal")
def primal(data: Mapping[str, Any]) -> cp.Problem:
    """min  1/2 |x - y|^2   s.t.  x_1 <= ... <= x_n."""
    x = cp.Variable(len(data["y"]), name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - data["y"]) / 2), [cp.diff(x) >= 0])


@isotonic.formulation("dual")
def dual(data: Mapping[str, Any]) -> cp.Problem:
    """max  -u'Dy - 1/2 |D'u|^2   s.t.  u >= 0, with the differences D."""
    D = np.diff(np.eye(len(data["y"])), axis=0)
    u = cp.Variable(len(D), name="u")
    return cp.Problem(cp.Maximize(-(D @ data["y"]) @ u - cp.sum_squares(D.T @ u) / 2), [u >= 0])


@isotonic.formulation("dual_without_sign", control=True)
def dual_without_sign(data: Mapping[str, Any]) -> cp.Problem:
    """The dual with multipliers of any sign: wrong on purpose."""
    D = np.diff(np.eye(len(data["y"])), axis=0)
    u = cp.Variable(len(D), name="u")
    return cp.Problem(cp.Maximize(-(D @ data["y"]) @ u - cp.sum_squares(D.T @ u) / 2))


@solver("isotonic.pool_adjacent_violators", isotonic, accuracy=1e-9)
def pool_adjacent_violators(problem: ProgramProblem) -> dict[str, Any]:
    """Run scikit-learn's solver, in linear time."""
    data = problem.data
    return {"x": isotonic_regression(data["y"])}


# %%
# The numbers are halves and quarters, so that the optimum is a short fraction. Primal
# and dual have this optimum; the negative control has another.
y = np.array([1.0, 0.5, 2.0, 1.25, 1.5, 3.0, 2.5, 2.75, 2.25, 4.0])
problem = isotonic({"y": y})
print("the optimum is exactly", optimum(problem))
print(compare(problem, include_controls=True))

# %%
# The solution, which replaces numbers out of order by their means.
figure, axes = plt.subplots(figsize=(5.2, 3.2))
at = np.arange(len(y))
axes.plot(at, y, "o", color="gray", label="given")
axes.step(
    at, isotonic_regression(y), where="mid", color="crimson", label="nearest increasing sequence"
)
axes.legend(fontsize=8)
figure.tight_layout()
plt.show()
