"""Number of ranking vectors, proven
==================================

Document T reports that its ranking vector machine (RVM) has far fewer vectors than a
ranking SVM. Both machines may have many optima with different numbers of vectors, and a
solver reports those of one. `fewest_nonzeros` returns the fewest of all optima, with a
proof in rational numbers.

Run it: ``python examples/questions/fewest_vectors.py``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.formulations import (
    Problem,
    declare,
    one_norm_ranking,
    ranking,
    ranking_vector_machine,
    rbf,
)
from equimargin.proofs import fewest_nonzeros, optimal_ranges
from equimargin.solvers import solve_declaration

# %%
# The third point is the middle of the first two, and all are above the origin. beta =
# (0, 0, 1/2, 0) and (1/4, 1/4, 0, 0) define the same function at the same cost, and so
# does every mixture: the optimum has one, two or three vectors.
X, y = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]]), [1, 1, 1, 0]
machine = ranking_vector_machine(X, y, C=4.0)
print(optimal_ranges("rvm.primal", machine))
found = fewest_nonzeros("rvm.primal", machine, "beta")
print(f"fewest: {found.fewest}, at least {found.lower}, of points {list(found.support)}")


# %%
# Ratings from 1 to 5 repeat, so that optima are not unique. An interior-point method
# ends inside of the optimal set, where all vectors are used that any optimum has. A
# simplex method ends at a vertex, and has the fewest vectors here. Of points drawn from a
# density the optimum is almost surely unique, for all but finitely many C, and its vectors
# are proven without a search.
def sample(seed: int, ratings: bool, m: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """Return points and four levels of a noisy linear function of them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, (m, 3)).astype(float) if ratings else rng.normal(size=(m, 3))
    score = X @ [0.5, -0.5, 0.25] + 0.7 * rng.normal(size=m)
    return X, np.digitize(score, [-0.7, 0.3, 1.2])


def count(problem: Problem, backend: str) -> int:
    """Return the number of vectors of a backend's solution, above its rounding."""
    values = solve_declaration(declare("rvm.primal", problem), backend, tol=1e-9).values
    return int((values["beta"] > 1e-6).sum()) if values else 0


BACKENDS = {"CLARABEL": "interior point", "HIGHS": "simplex"}
rows = []
for ratings in (True, False):
    for seed in range(5):
        problem = ranking_vector_machine(*sample(seed, ratings), kernel=rbf(0.25))
        found = fewest_nonzeros("rvm.primal", problem, "beta")
        counts = {word: count(problem, name) for name, word in BACKENDS.items()}
        rows.append(("ratings" if ratings else "general position", found, counts))
        print(
            f"{rows[-1][0]:17s} {found.lower} <= fewest <= {found.fewest}, "
            f"{found.freedom} numbers free, "
            + ", ".join(f"{word} {count}" for word, count in counts.items())
        )

figure, axes = plt.subplots(figsize=(8, 3.5))
at = np.arange(len(rows))
for k, (word, colour) in enumerate(
    (("interior point", "tab:orange"), ("simplex", "tab:blue"), ("fewest, proven", "black"))
):
    heights = [counts.get(word, found.fewest) for _, found, counts in rows]
    axes.bar(at + 0.27 * (k - 1), heights, 0.25, color=colour, label=word)
axes.set_xticks(
    at, [f"{k % 5}\n{kind}" if k % 5 == 2 else str(k % 5) for k, (kind, _, _) in enumerate(rows)]
)
axes.set(ylabel="vectors of the RVM, of 24 points", xlabel="sample")
axes.legend(loc="upper right")
figure.tight_layout()

# %%
# Of other machines, with 12 points in a plane. Multipliers of the ranking SVM are many. T
# calls their pairs, pairwise difference vectors, the support vectors; its counts are below
# the number of points, so that they seem to be points. The function is another matter: with
# a linear kernel f = w.x, and two independent points suffice to write w as their
# combination. A support vector is a multiplier of the dual program, and the function needs
# fewer points.
rng = np.random.default_rng(0)
plane = rng.normal(size=(12, 2))
levels = np.digitize(plane @ [1.0, -1.0] + 0.5 * rng.normal(size=12), [-0.7, 0.7])
for id, name, make, unit in (
    ("rvm.primal", "beta", ranking_vector_machine, "points"),
    ("rank.onenorm.primal", "alpha", one_norm_ranking, "pairs"),
    ("rank.l1.dual", "alpha", ranking, "pairs"),
    ("rank.l1.beta", "beta", ranking, "points"),
):
    found = fewest_nonzeros(id, make(plane, levels), name)
    of = len(found.variable)
    print(f"{id:20s} {name:5s}: {found.lower} to {found.fewest} of {of} {unit}")
plt.show()
