"""A regression, from data to the verdict
========================================

Support vector regression penalises only residuals outside of a tube. Its primal and its
dual are compared, and the tube is drawn.

Run it: ``python examples/first_steps/regression.py``.
In a terminal: ``equimargin compare FILE --task regression --epsilon 0.2 --kernel rbf``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin import compare
from equimargin.formulations import rbf, regression
from equimargin.solvers import solve

EPSILON = 0.2
random = np.random.default_rng(0)
X = np.sort(random.uniform(0, 5, size=60))[:, None]
y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 0] + 0.2 * random.normal(size=60)
problem = regression(X, y, C=5.0, kernel=rbf(1.0), epsilon=EPSILON)

# %%
# Formulations and solvers of regression with linear slacks (`svr.l1`), and their times.
print(compare(problem))

# %%
# Only points on the boundary of the tube or outside of it are support vectors; without
# all others the optimum would be the same.
solution = solve(problem, tol=1e-10)
at = np.linspace(0, 5, 300)[:, None]
f = solution.decision_function(at)
assert isinstance(solution.dual, np.ndarray)
carried = solution.dual[:60] + solution.dual[60:] > 1e-8
figure, axes = plt.subplots(figsize=(5.4, 3.6))
axes.fill_between(
    at[:, 0], f - EPSILON, f + EPSILON, alpha=0.25, label=f"tube of half width {EPSILON:g}"
)
axes.plot(at[:, 0], f, linewidth=1.2)
axes.scatter(
    X[carried, 0],
    y[carried],
    s=24,
    color="crimson",
    marker="D",
    label=f"support vectors, {carried.sum()} of 60",
)
axes.scatter(X[~carried, 0], y[~carried], s=18, color="gray", label="all other points")
axes.set(xlabel="x", ylabel="y", title=f"optimum {solution.value:.6f}")
axes.legend(fontsize=8)
figure.tight_layout()
plt.show()
