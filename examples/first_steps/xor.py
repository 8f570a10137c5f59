"""XOR, drawn
============

Four points that no line separates, and a polynomial kernel that separates them. Yu and
Kim's tutorial solves the example by hand: every multiplier is 1/8, and the optimum is
1/4. Here both are computed in fractions, and the decision function is drawn.

Run it: ``python examples/first_steps/xor.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.data import load
from equimargin.formulations import classification, polynomial
from equimargin.solvers import exact_optimum, solve

data = load("xor")
problem = classification(data.X, data.y, C=1.0, kernel=polynomial(degree=2))

# %%
# The optimum in fractions, and the interval proven from a solver's point in float64.
exact = exact_optimum(problem)
solution = solve(problem, tol=1e-12)
print("exactly", exact.value, "with multipliers", *exact.alpha)
print(f"proven  in [{solution.lower:.15f}, {solution.upper:.15f}]")

# %%
# The classes meet where the decision function is 0. Its values 1 and -1 are the
# margins, and all four points are on them. The decision function is -x1 x2.
axis = np.linspace(-1.8, 1.8, 121)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
f = solution.decision_function(grid).reshape(len(axis), -1)
figure, axes = plt.subplots(figsize=(4.6, 4.2))
shades = axes.contourf(
    axis, axis, f, levels=np.linspace(-3, 3, 13), cmap="PuOr", extend="both", alpha=0.7
)
lines = axes.contour(
    axis,
    axis,
    f,
    levels=[-1, 0, 1],
    colors="black",
    linestyles=["dashed", "solid", "dashed"],
    linewidths=1,
)
axes.clabel(lines, fmt="%g", fontsize=8)
for sign, mark in ((1, "o"), (-1, "s")):
    of_class = data.X[data.y == sign]
    axes.scatter(
        of_class[:, 0],
        of_class[:, 1],
        marker=mark,
        s=70,
        color="white",
        edgecolor="black",
        zorder=3,
        label=f"class {sign:+d}",
    )
axes.set(xlabel="$x_1$", ylabel="$x_2$", title="XOR with a polynomial kernel of degree 2")
axes.legend(loc="upper center", ncols=2, fontsize=8)
figure.colorbar(shades, label="decision value", ticks=[-3, -1, 0, 1, 3])
figure.tight_layout()
plt.show()
