"""Between the points of a grid of (lambda, gamma)
===============================================

A grid search solves an SVM with an RBF kernel at some pairs (lambda, gamma), and knows
nothing of the pairs in between. A certified map covers the whole rectangle by cells:
everywhere in a cell a point is known whose relative gap is proven to be at most eps. No
pair is overlooked, and none has to be solved later.

Run it: ``python examples/questions/between_the_grid_points.py``.
"""

import json

import matplotlib.pyplot as plt
import numpy as np

from equimargin.draw.map_plot import draw_cells
from equimargin.formulations import classification, rbf
from equimargin.solvers import Solution, certified_map, solve

random = np.random.default_rng(0)
X = random.uniform(-1, 1, size=(240, 2))
y = np.where(np.sin(4 * X[:, 0]) + X[:, 1] + 0.5 * random.normal(size=240) > 0, 1.0, -1.0)
train, held_out = slice(0, 40), slice(40, 240)

problem = classification(X[train], y[train], kernel=rbf(1.0))
certified = certified_map(problem, lambdas=(0.1, 10.0), gammas=(0.1, 5.0), eps=0.02)
print(f"{len(certified)} cells, {certified.solves} problems solved, {certified.stopped}")
print(f"the largest proven gap is {certified.gap:.2e}")

# %%
# Between the solved problems: the interval that the map proves at a pair without solving
# anything, the optimum there, and the interval that holds on all of the cell.
lam, gamma = 0.7, 0.9
point = certified.at(lam, gamma)
optimum = solve(point.problem, tol=1e-9).interval
print(f"the map:         {point.interval.lower:.6f} to {point.interval.upper:.6f}")
print(f"solved:          {optimum.lower:.6f} to {optimum.upper:.6f}")
low, high = certified.cell(lam, gamma).interval
print(f"all of the cell: {low:.6f} to {high:.6f}")


# %%
# Left: the error on held-out points at the centre of every cell. Right: the number
# of support vectors. Cells are small where the multipliers change most.
def held_out_error(solution: Solution) -> float:
    """Return the share of held-out points on the wrong side."""
    return float(np.mean(np.sign(solution.decision_function(X[held_out])) != y[held_out]))


figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
draw_cells(left, certified, held_out_error, "error on held-out points")
draw_cells(right, certified)
figure.tight_layout()
plt.show()

# %%
# The map as JSON: ranges, gaps and intervals of all cells.
print(json.dumps(certified.record(), indent=1)[:330], "...")
