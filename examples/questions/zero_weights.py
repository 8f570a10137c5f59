"""Samples of weight 0
===================

scikit-learn's issue 16298 collects estimators that treat a sample of weight 0
differently from an excluded sample. In a convex problem both have one optimum, which is
proven, and models can be compared with it.

Run it: ``python examples/questions/zero_weights.py``.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from equimargin.formulations import classification
from equimargin.solvers import solve

random = np.random.default_rng(0)
X = random.normal(size=(60, 3))
value = X @ [1.0, -0.7, 0.4] + 0.6 * random.normal(size=60)
y = np.where(value > 0, 1.0, -1.0)
weight = np.ones(60)
weight[::3] = 0
kept = weight > 0

# %%
# The proven intervals of the two problems overlap, and are as narrow as requested. Rows
# of weight 0 have multipliers of 0.
weighted = solve(classification(X, y, sample_weight=weight), tol=1e-10)
without = solve(classification(X[kept], y[kept]), tol=1e-10)
print(f"weight 0: [{weighted.lower:.10f}, {weighted.upper:.10f}]")
print(f"left out: [{without.lower:.10f}, {without.upper:.10f}]")
assert isinstance(weighted.dual, np.ndarray)
print("largest multiplier of a row of weight 0:", weighted.dual[~kept].max())

# %%
# scikit-learn: the largest difference of an entry of w between the two fits, for four
# estimators with two solvers. All of them remove such rows first, so that even a large
# tolerance makes no difference.
print(f"{'':28s}{'tol':>8s}{'largest difference of w':>28s}")
for model in (
    SVC(kernel="linear"),
    SVR(kernel="linear"),
    LinearSVC(dual=True, random_state=0),
    LinearSVR(dual=True, random_state=0),
):
    target = value if isinstance(model, SVR | LinearSVR) else y
    for tol in (1e-3, 1e-9):
        model.set_params(tol=tol, max_iter=1_000_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one = model.fit(X, target, sample_weight=weight).coef_.ravel().copy()
            other = model.fit(X[kept], target[kept]).coef_.ravel().copy()
        print(f"{type(model).__name__:28s}{tol:8.0e}{np.abs(one - other).max():28.1e}")

# %%
# One trap remains: with weights of 0 the indices ``support_`` of an SVC refer to the
# remaining samples, not to X.
model = SVC(kernel="linear").fit(X, y, sample_weight=weight)
print(
    "rows of support_ that have weight 0:",
    int(np.sum(weight[model.support_] == 0)),
    "of",
    len(model.support_),
)
print("are they the support vectors?", bool(np.allclose(X[model.support_], model.support_vectors_)))
