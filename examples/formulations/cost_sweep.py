"""One declaration, swept over C
===============================

The cost is a parameter of a declared problem, which is compiled once: every formulation
here follows cvxpy's rules for parameters (DPP). The interval of each answer is computed
at the present value of the parameter.

Run it: ``python examples/formulations/cost_sweep.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.data import load
from equimargin.formulations import classification, declare, interval
from equimargin.solvers import solve_declaration, solve_grid

data = load("iris")
X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
problem = classification(X, data.y, C=1.0)
dual = declare("svm.soft.dual", problem)
print("one parameter:", *dual.parameters, "  follows the rules:", dual.problem.is_dcp(dpp=True))

# %%
# Fifteen costs, one declaration. Only the first solve compiles.
costs = np.logspace(-3, 3, 15).tolist()
proven, seconds = [], []
for C in costs:
    dual.parameters["C"].value = C
    answer = solve_declaration(dual, "CLARABEL")
    assert answer.point is not None
    proven.append(interval(dual.canonical, answer.point))
    seconds.append(answer.compile_seconds)
print(f"compiling: {seconds[0]:.3f} s at first, {np.median(seconds[1:]):.3f} s afterwards")

# %%
# A specialised solver solves the same costs, each from the solution at the last cost.
# The intervals of both overlap at every cost.
solutions = list(solve_grid(problem, costs))
for one, other in zip(proven, solutions, strict=True):
    assert one.lower <= other.upper
    assert other.lower <= one.upper

# %%
# At small costs w is nearly 0, and the optimum is nearly 2C times the number of points
# of the smaller class. At large costs margins are satisfied where possible.
figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.2))
left.loglog(costs, [found.upper for found in proven], marker="o", markersize=4)
left.set(xlabel="C", ylabel="optimum")
right.loglog(
    costs, [(found.upper - found.lower) / found.upper for found in proven], marker="o", markersize=4
)
right.set(xlabel="C", ylabel="proven relative width of CLARABEL's answers")
figure.tight_layout()
plt.show()
