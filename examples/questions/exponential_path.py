"""Number of breakpoints of a path
================================

Usually a path has a few breakpoints for every row, but this is no bound. Here p
preferences without weights have a path of 2^p - 1 breakpoints, and p weighted points a
path of (3^(p-1) - 1) / 2. The paths are computed in fractions. No path has more than
3^p pieces.

Run it: ``python examples/questions/exponential_path.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.formulations import classification, ranking
from equimargin.solvers import exact_path
from equimargin.testing import classification_with_a_long_path, ranking_with_a_long_path

sizes = [2, 3, 4, 5, 6, 7]
of_pairs = [len(exact_path(ranking_with_a_long_path(p)).breakpoints) for p in sizes]
of_points = [len(exact_path(classification_with_a_long_path(p)).breakpoints) for p in sizes[:-2]]
print("p            ", sizes)
print("preferences  ", of_pairs, "2^p - 1:", of_pairs == [2**p - 1 for p in sizes])
print(
    "with weights ",
    of_points,
    "(3^(p-1) - 1) / 2:",
    of_points == [(3 ** (p - 1) - 1) // 2 for p in sizes[:-2]],
)

# %%
# Random data have a few breakpoints for every row.
random = np.random.default_rng(0)
usual = []
for p in sizes:
    X = random.normal(size=(p + 1, 3))
    usual.append(len(exact_path(ranking(X, np.arange(p + 1) < p)).breakpoints))
X = random.normal(size=(30, 2))
of_thirty = len(
    exact_path(classification(X, np.sign(X[:, 0] + random.normal(size=30)))).breakpoints
)
print("drawn data   ", usual, f"and {of_thirty} of 30 points")

# %%
# Between two breakpoints f is affine in C. Within each rise and fall of a preference's
# multiplier, the multiplier of the next preference rises and falls once more.
path = exact_path(ranking_with_a_long_path(6))
lam = np.linspace(3.0, 5.0, 801)
alpha = np.array([[float(a) for a in path.alpha(1.0 / v)] for v in lam]) * lam[:, None]
figure, axes = plt.subplots(1, 2, figsize=(8.2, 3.6))
axes[0].semilogy(sizes, of_pairs, marker="o", label="preferences")
axes[0].semilogy(sizes[:-2], of_points, marker="s", label="with weights")
axes[0].semilogy(sizes, usual, marker="^", label="drawn data")
axes[0].set(xlabel="rows p", ylabel="breakpoints")
axes[0].legend(fontsize=8)
for j in range(4):
    axes[1].plot(
        lam, alpha[:, j] / alpha[:, j].max() + 1.1 * j, linewidth=0.9, label=f"preference {j + 1}"
    )
axes[1].set(xlabel="lambda", ylabel="multiplier, each over its largest", yticks=[])
axes[1].legend(fontsize=8)
figure.tight_layout()
plt.show()
