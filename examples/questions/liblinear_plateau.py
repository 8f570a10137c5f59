"""Plateau of LIBLINEAR above the optimum
======================================

With a proven optimum, a run of LIBLINEAR that stays above the optimum can be
distinguished from a run that has not finished.

Run it: ``python examples/questions/liblinear_plateau.py [--full]``; ``--full`` allows
ten times as many iterations. The two data sets are those of scikit-learn's issue 22283:
LinearSVC(loss="hinge") without an intercept, C = 0.1, seemed to stay above plain
coordinate descent on the dual. A proven interval decides this without a second solver.
In scikit-learn 1.9.1 LIBLINEAR attains the optimum on the first data; on the second it
stays a thousandth above it, after 10,000 iterations as after 1,000.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from equimargin.formulations import classification
from equimargin.solvers import solve

C = 0.1
ITERATIONS = (10, 30, 100, 300, 1_000, 3_000, 10_000) + (
    (30_000, 100_000) if "--full" in sys.argv else ()
)


def plateau(n: int, d: int) -> list[tuple[float, float]]:
    """Return proven bounds of LIBLINEAR's relative distance above the optimum.

    There is a lower and an upper bound for each iteration limit.
    """
    random = np.random.RandomState(0)
    X = random.randn(n, d)
    y = np.where(X @ random.randn(d) + 0.1 * random.randn(n) > 0, 1.0, -1.0)
    problem = classification(X, y, C, bias=False)
    solution = solve(problem, "huber", tol=1e-10)
    print(
        f"{n} x {d}: optimum proven in [{solution.lower:.12g}, {solution.upper:.12g}]; "
        f"{solution.reason}"
    )
    found = []
    for most in ITERATIONS:
        model = LinearSVC(
            C=C, loss="hinge", fit_intercept=False, tol=1e-12, max_iter=most, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            w = model.fit(X, y).coef_[0]
        primal = problem.primal(X @ w, float(w @ w), 0.0)
        found.append((primal / solution.upper - 1, primal / solution.lower - 1))
        verdict = (
            "it is not at the optimum: proven"
            if primal > solution.upper
            else "no proof that it is above the optimum"
        )
        print(
            f"  LinearSVC after {model.n_iter_:6d} iterations: {primal:.12g}, "
            f"{found[-1][0]:.1e} to {found[-1][1]:.1e} above; {verdict}"
        )
    return found


def main() -> None:
    """Solve both data sets of the question, and draw a picture."""
    figure, axes = plt.subplots(figsize=(5.4, 3.4))
    for (n, d), mark in (((100, 500), "o"), ((500, 100), "s")):
        most = [max(above, 1e-16) for _, above in plateau(n, d)]
        axes.loglog(ITERATIONS, most, marker=mark, label=f"{n} x {d}")
    axes.set(
        xlabel="iterations that LinearSVC may take", ylabel="above the optimum at most, relative"
    )
    axes.legend(title="points x features", fontsize=8)
    figure.tight_layout()
    plt.show()


if __name__ == "__main__":
    main()
