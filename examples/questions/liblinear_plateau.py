"""Does LIBLINEAR plateau above the optimum?
=========================================

LIBLINEAR's hinge against a proven optimum: does it plateau above it, or had it only not finished?

Run it: ``python examples/questions/liblinear_plateau.py``.
The two data sets are those of scikit-learn's issue 22283: LinearSVC(loss="hinge") without
an intercept, C = 0.1, seemed to stay above plain coordinate descent on the dual. A proven interval needs no second solver to compare with.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from equimargin.formulations import classification
from equimargin.solvers import solve

C = 0.1
ITERATIONS = (10, 100, 1_000, 10_000, 100_000)


def plateau(n: int, d: int) -> None:
    """How far above the proven optimum LIBLINEAR is, iteration limit by iteration limit."""
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    y = np.where(X @ random.randn(d) + 0.1 * random.randn(n) > 0, 1.0, -1.0)
    problem = classification(X, y, C, bias=False)
    solution = solve(problem, "huber", tol=1e-10)
    print(f"{n} x {d}: optimum proven in [{solution.lower:.12g}, {solution.upper:.12g}]; {solution.reason}")
    for most in ITERATIONS:
        model = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-12, max_iter=most, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            w = model.fit(X, y).coef_[0]
        primal = problem.primal(X @ w, float(w @ w), 0.0)
        above = primal / solution.upper - 1, primal / solution.lower - 1
        verdict = "it is not at the optimum: proven" if primal > solution.upper else "no proof that it is above the optimum"
        print(f"  LinearSVC after {model.n_iter_:6d} iterations: {primal:.12g}, {above[0]:.1e} to {above[1]:.1e} above; {verdict}")


if __name__ == "__main__":
    plateau(100, 500)
    plateau(500, 100)
