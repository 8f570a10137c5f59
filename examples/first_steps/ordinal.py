"""Ordinal regression: levels that have an order
===============================================

Poor, fair and good have an order, but no distances. Ordinal regression learns one
function, and a threshold between every two neighbouring levels. Thresholds are not
penalised, and need no constraint: at an optimum of its loss they are in order.

Run it: ``python examples/first_steps/ordinal.py``. In a terminal: ``equimargin compare
FILE --task ordinal --levels poor,fair,good``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.estimators import OrdinalClassifier
from equimargin.metrics import average_mean_absolute_error

random = np.random.default_rng(0)
X = random.uniform(0, 1, size=(300, 2))
utility = 10 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) + 0.125 * random.normal(size=300)
y = np.digitize(utility, [-1.0, -0.1, 0.25, 1.0])

# %%
# The levels depend on the product of two coordinates, a polynomial of degree 2. The
# bounds of the optimum are proven.
classifier = OrdinalClassifier(C=10.0, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
lower, upper = classifier.objective_bounds_
print(
    f"optimum in [{lower:.8g}, {upper:.8g}]; levels right on the training points: "
    f"{np.mean(classifier.predict(X) == y):.1%}"
)
print(f"off by one level at most: {np.mean(abs(classifier.predict(X) - y) <= 1):.1%}")

# %%
# AMAE is the mean over the levels of their mean absolute errors, so that rare levels
# count as much as frequent ones.
amae = average_mean_absolute_error(y, classifier.predict(X), classifier.levels_)
print(
    f"AMAE {amae:.3f}, and {average_mean_absolute_error(y, np.full(300, 2)):.3f} of level 2 alone"
)

# %%
# The regions of the levels.
axis = np.linspace(0, 1, 121)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
levels = classifier.predict(grid).reshape(len(axis), -1)
figure, axes = plt.subplots(figsize=(5, 4))
shades = axes.contourf(axis, axis, levels, levels=np.arange(-0.5, 5), cmap="viridis", alpha=0.5)
axes.scatter(
    X[:, 0], X[:, 1], c=y, cmap="viridis", s=16, edgecolor="black", linewidth=0.4, vmin=0, vmax=4
)
axes.set(xlabel="$x_1$", ylabel="$x_2$", title="Five levels and the regions that are learned")
figure.colorbar(shades, ticks=range(5), label="level")
figure.tight_layout()
plt.show()
