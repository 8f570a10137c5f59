"""Maxima of the reduced graph
===========================

Document P replaces the pairs of a ranking by a reduced graph of O(n) preferences: one
point of each level, its maximum, is preferred to the rest of the level, and the next
level is preferred to it. Which point is the maximum is left open. `reduced_excess`
finds the best reduced optima, within rounding, and proves how far they are from the
optimum over all pairs; `least_reduced_excess` chooses the maxima by it.

Run it: ``python examples/questions/maxima_of_the_reduced_graph.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.formulations import ranking, rbf, reduced_preferences
from equimargin.proofs import least_reduced_excess, reduced_excess
from equimargin.solvers import solve

# %%
# Three points on a line: 2 is above 0 and 3. With the maximum 0 the reduced path has
# the wrong sign, and its best function is 0, which is at cost 0.
for maximum in ([1, 0, 0], [0, 1, 0]):
    found = reduced_excess(ranking([[0.0], [3.0], [2.0]], [0, 0, 1], C=1.0), maximum)
    print(f"maximum {maximum.index(1)}: the excess is at most {found.excess[0]:.6f}")

# %%
# Thirty points of three levels, whose order is noisy. The excess is relative to the
# optimum over all pairs, at the reduced cost at which it is least.
rng = np.random.default_rng(2)
X = rng.normal(size=(30, 3))
y = np.digitize(X @ [1.0, -1.0, 0.5] + 0.5 * rng.normal(size=30), [-0.7, 0.7])
print(f"{ranking(X, y).p} pairs, {len(reduced_preferences(y))} of the reduced graph")
best = {}
for name, kernel in (("linear", None), ("RBF", rbf(0.5))):
    problem = ranking(X, y, C=1.0, kernel=kernel)
    f = solve(problem, tol=1e-10).decision_function(X)
    choices = {
        "first points": reduced_excess(problem),
        "largest f": reduced_excess(problem, f),
        "least excess": least_reduced_excess(problem),
    }
    best[name] = problem, choices
    for word, found in choices.items():
        above = [int((f[y == y[i]] > f[i]).sum()) for i in found.maximum]
        print(
            f"{name:6s} {word:12s}: relative excess {found.relative[0]:.2g}, maxima "
            f"{found.maximum.tolist()} with {above} points of their level above them in f"
        )

# %%
# A maximum has to be 1 above its level, and 1 below the next level. The point of largest
# f is near the next level, which the noise makes overlap; a point further down is above
# less of its level. The best choice is a compromise that no rule of the document makes.
#
# The excess of the best choice at every cost, not only at C = 1: a bound for the function
# found at each cost, and one for all costs between two of them, of one of their functions.
costs = np.geomspace(0.01, 10.0, 25)
figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for at, (name, (problem, choices)) in zip(axes, best.items(), strict=True):
    for (word, found), colour in zip(
        choices.items(), ("tab:orange", "tab:blue", "black"), strict=True
    ):
        scores = np.isin(np.arange(30), found.maximum)
        along = reduced_excess(problem, scores, costs)
        at.plot(costs, along.relative, ".", color=colour, label=word)
        at.stairs(along.between / along.optimum[:-1], costs, baseline=None, color=colour)
    at.set(xscale="log", yscale="log", xlabel="C of all pairs", title=name)
axes[0].set_ylabel("proven excess / optimum")
axes[0].legend(title="maxima", loc="lower left")
figure.tight_layout()
plt.show()
