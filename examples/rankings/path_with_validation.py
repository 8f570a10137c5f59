"""The path of a ranking, with validation
========================================

All solutions from lambda = 1 / C = infinity down to 0.01, and the one with the best
score on validation points. Between two breakpoints the multipliers and lambda f are
affine in lambda, so that the order of the validation points, and their score, is known
at every lambda, and not on a grid only. Above the first breakpoint all multipliers are
at their bounds, and the order is constant.

Run it: ``python examples/rankings/path_with_validation.py``. In a terminal:
``equimargin path FILE --validate 5 --plot path.svg``.
"""

import matplotlib.pyplot as plt
import numpy as np

from equimargin.estimators import MarginRankerPathCV
from equimargin.formulations import ranking, rbf
from equimargin.selection import best, score_along
from equimargin.solvers import regularization_path

random = np.random.default_rng(0)
X = random.uniform(-1, 1, size=(90, 2))
y = np.digitize(X[:, 0] ** 2 + X[:, 1] + 0.35 * random.normal(size=90), [-0.2, 0.5, 1.0])
train, held_out = slice(0, 45), slice(45, 90)

path = regularization_path(ranking(X[train], y[train], kernel=rbf(2.0)), lambda_min=1e-2)
print(
    f"{len(path.lambdas):,} breakpoints from lambda = {path.lambdas[0]:.4g} to "
    f"{path.lambdas[-1]:.4g}"
)
print(f"largest relative gap {path.gaps.max():.1e}")

# %%
# The lambda with the best score, and the whole interval of lambda with that score. The
# solution there has a proven relative gap.
chosen = best(path, X[held_out], y[held_out])
low, high = chosen.interval
print(
    f"score {chosen.score:.4f} at lambda = {chosen.lam:.4g} (C = {chosen.C:.4g}), and all "
    f"from {low:.4g} to {high:.4g}"
)
print(f"relative gap there: {path.at(chosen.lam).relative_gap:.1e}")

# %%
# The choice by cross-validation, in an estimator for scikit-learn. ``penalty="l1"``
# follows the path of the 1-norm problem, in which few points have a coefficient.
for penalty in ("l2", "l1"):
    ranker = MarginRankerPathCV(
        penalty=penalty, kernel="rbf", gamma=2.0, cv=3, lambda_min=1e-2
    ).fit(X[train], y[train])
    print(
        f"{penalty}: C = {ranker.C_:.4g}, {len(ranker.support_)} points, "
        f"{ranker.score(X[held_out], y[held_out]):.4f} on held-out points"
    )

# %%
# Left: decision values of the training points along the path. Right: the score of the
# held-out points, which is constant between swaps.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
lambdas = np.geomspace(path.lambdas[0], path.lambdas[-1], 160)
values = np.array([path.at(lam).decision_function(X[train]) for lam in lambdas])
left.semilogx(
    lambdas, values - values.mean(axis=1, keepdims=True), linewidth=0.6, color="tab:blue", alpha=0.6
)
left.set(xlabel="lambda", ylabel="decision value, centred")
curve = score_along(path, X[held_out], y[held_out])
right.semilogx(curve.lambdas, curve.scores, linewidth=1)
right.set(xlabel="lambda", ylabel="share of pairs in order, held out")
right.axvspan(*chosen.interval, color="crimson", alpha=0.3, label="no other is better")
right.legend(fontsize=8)
for axes in (left, right):
    axes.invert_xaxis()
figure.tight_layout()
plt.show()
