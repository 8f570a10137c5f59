"""LinearSVC is not SVC: the bias in the norm
============================================

Both have the hinge at C = 0.1. LIBLINEAR, behind LinearSVC, penalises the bias like a
weight; LIBSVM, behind SVC, does not penalise it. The data are translated away from the
origin, and the thresholds should move by the same distance. scikit-learn's issue 26812
has a related question.

Run it: ``python examples/questions/linear_svc_is_not_svc.py``.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from equimargin.formulations import classification
from equimargin.proofs import audit
from equimargin.solvers import solve

C = 0.1
random = np.random.default_rng(0)
X = np.concatenate([random.normal(-1, 0.5, 30), random.normal(1, 0.5, 30)])[:, None]
y = np.repeat([-1.0, 1.0], 30)
moves = np.linspace(0, 6, 25)
proven: dict[str, list[float]] = {"free": [], "penalized": []}
for move in moves:
    free, penalized = (
        classification(X + move, y, C=C),
        classification(X + move, y, C=C, bias="penalized"),
    )
    for name, problem in (("free", free), ("penalized", penalized)):
        solution = solve(problem, tol=1e-8)
        w = solution.decision_function([[1.0]])[0] - solution.decision_function([[0.0]])[0]
        proven[name].append(-solution.decision_function([[0.0]])[0] / w - move)

# %%
# The lines are solutions of equimargin, the markers those of scikit-learn. Each marker
# is on the line of its problem: LinearSVC is no inaccurate SVC, but solves another
# problem.
figure, axes = plt.subplots(figsize=(5.6, 3.6))
axes.plot(moves, proven["free"], label="free bias (svm.soft)")
axes.plot(moves, proven["penalized"], linestyle="dashed", label="bias in the norm (svm.penalized)")
for model, mark in (
    (SVC(kernel="linear", C=C), "o"),
    (LinearSVC(loss="hinge", C=C, max_iter=200_000, random_state=0), "s"),
):
    found = []
    for move in moves[::4]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = model.fit(X + move, y)
        found.append(float(-fitted.intercept_[0] / fitted.coef_[0, 0]) - move)
    axes.plot(moves[::4], found, mark, markersize=5, fillstyle="none", label=type(model).__name__)
axes.axhspan(-1, 1, alpha=0.12, color="gray", label="between the centres of the classes")
axes.set(
    xlabel="how far the data are moved from the origin", ylabel="threshold, relative to the data"
)
axes.legend(fontsize=8)
figure.tight_layout()
plt.show()

# %%
# The audit states the problem that each model solves, and its distance above the
# optimum.
for model in (
    SVC(kernel="linear", C=C),
    LinearSVC(loss="hinge", C=C, max_iter=200_000, random_state=0),
):
    print(audit(model.fit(X + 4, y), X + 4, y))
