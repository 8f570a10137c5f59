"""A classifier, from a file to the verdict
==========================================

A table of texts and numbers is read, its formulations are compared, and its problem is
solved; the picture shows the decision boundary, its margins, and the points at their
cost.

Run it: ``python examples/first_steps/classifier_from_file.py``. In a terminal:
``equimargin compare mail.csv --drop id -C 10``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from equimargin import compare
from equimargin.data import load
from equimargin.formulations import classification
from equimargin.solvers import solve

random = np.random.default_rng(3)
rows = [f"{i},{random.gamma(9, 0.5):.2f},{random.gamma(2, 0.8):.2f},ham" for i in range(30)]
rows += [f"{i},{random.gamma(6, 0.45):.2f},{random.gamma(7, 0.8):.2f},spam" for i in range(30, 60)]
file = Path(tempfile.mkdtemp()) / "mail.csv"
file.write_text("\n".join(["id,length,links,label", *rows, ""]))

# %%
# The column `id`, which numbers the rows, is no feature. Labels that are words become
# -1 and +1, in alphabetical order.
data = load(file, drop=["id"])
print(data.X.shape, np.unique(data.y))

# %%
# All formulations of the soft margin with a bias, each solved by three backends, and
# the specialised solvers.
problem = classification(data.X, data.y, C=10.0)
print(compare(problem, formulations="svm.soft.*"))

# %%
# The decision boundary at the proven optimum. A point inside the margin or on the wrong
# side has a positive slack, and its multiplier is at its bound C.
solution = solve(problem, tol=1e-10)
x = np.array([data.X[:, 0].min(), data.X[:, 0].max()])
assert solution.w is not None
assert isinstance(solution.dual, np.ndarray)
figure, axes = plt.subplots(figsize=(5, 4))
for level, style in ((0, "solid"), (1, "dashed"), (-1, "dashed")):
    axes.plot(
        x,
        (level - solution.bias - solution.w[0] * x) / solution.w[1],
        color="black",
        linestyle=style,
        linewidth=1,
    )
for sign, mark, name in ((-1, "s", "ham"), (1, "o", "spam")):
    of_class = data.X[data.y == sign]
    axes.scatter(
        of_class[:, 0],
        of_class[:, 1],
        marker=mark,
        s=30,
        edgecolor="black",
        linewidth=0.5,
        label=name,
    )
paid = solution.dual > 10.0 * (1 - 1e-6)
axes.scatter(
    data.X[paid, 0],
    data.X[paid, 1],
    s=120,
    facecolor="none",
    edgecolor="crimson",
    label="multiplier at its cost",
)
axes.set(
    xlabel="length",
    ylabel="links",
    ylim=(-0.5, data.X[:, 1].max() + 0.5),
    title=f"optimum {solution.value:.6f}",
)
axes.legend(fontsize=8)
figure.tight_layout()
plt.show()
