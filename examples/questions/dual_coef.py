"""``dual_coef_`` and alpha
========================

scikit-learn's issue 13304 asks how ``dual_coef_`` is related to alpha. It is y times
alpha, for the support vectors only. With zeros for all other points it is a dual point,
and proves a lower bound. It is not unique: two correct solvers may return different
ones.

Run it: ``python examples/questions/dual_coef.py``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from equimargin.formulations import Point, classification, interval, linear
from equimargin.solvers import solve

random = np.random.default_rng(0)
X = random.normal(size=(40, 2))
y = np.where(X[:, 0] + 0.4 * random.normal(size=40) > 0, 1.0, -1.0)
X, y = (
    np.repeat(X, 2, axis=0),
    np.repeat(y, 2),
)  # every point twice: only the sum of its two multipliers is determined
problem = classification(X, y, C=1.0, kernel=linear())

model = SVC(kernel="linear", C=1.0, tol=1e-10).fit(X, y)
alpha = np.zeros(len(y))
alpha[model.support_] = np.abs(model.dual_coef_[0])
solution = solve(problem, tol=1e-10)
assert isinstance(solution.dual, np.ndarray)

# %%
# Its signs are those of the labels. The intervals of both points contain one optimum.
print(
    "dual_coef_ has the signs of y:",
    bool(np.all(np.sign(model.dual_coef_[0]) == y[model.support_])),
)
print("its multipliers prove", interval(problem, Point(alpha=alpha)))
print("ours prove           ", interval(problem, Point(alpha=solution.dual)))

# %%
# Where points coincide, the multipliers of the two solvers differ. Their sums over
# coinciding points do not differ, and neither do the decision values.
print(f"largest difference of multipliers {np.abs(alpha - solution.dual).max():.1e}")
print(
    f"largest difference of sums        "
    f"{np.abs((alpha - solution.dual).reshape(-1, 2).sum(axis=1)).max():.1e}"
)
print(
    f"largest difference of decisions   "
    f"{np.abs(model.decision_function(X) - solution.decision_function(X)).max():.1e}"
)
figure, axes = plt.subplots(figsize=(4.2, 3.8))
axes.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
axes.scatter(alpha, solution.dual, s=22, label="multipliers")
means = [part.reshape(-1, 2).mean(axis=1) for part in (alpha, solution.dual)]
axes.scatter(means[0], means[1], s=30, marker="x", color="crimson", label="means of two")
axes.set(xlabel="|dual_coef_| of SVC", ylabel="alpha here")
axes.legend(fontsize=8)
figure.tight_layout()
plt.show()
