"""Third-party solvers next to the built-in ones
==============================================

scikit-learn's SVC at the right C and at another one, LIBSVM, and gradient descent.

Run it: ``python examples/solvers/other_solvers.py``. An estimator or a function returns
coefficients or w only. A bias and multipliers are computed where possible, and the
result is judged like that of any solver. The SVC at another C is detected.
"""

import numpy as np
from sklearn.svm import SVC

from equimargin import compare
from equimargin.adapters import from_estimator, libsvm
from equimargin.formulations import MarginProblem, classification
from equimargin.solvers import SOLVERS, Limits, Requirements, solver

STEPS = 20_000
"""Steps of the descent; its error is proportional to 1 / STEPS."""


@solver(
    "descent",
    "svm.nobias",
    algorithm="subgradient descent on w",
    requires=Requirements(MarginProblem, losses=("hinge",), linear=True),
)
def descent(problem: MarginProblem, limits: Limits) -> np.ndarray:
    """Return w of min 1/2 |w|^2 + C sum_i (1 - y_i w.x_i)_+, by subgradient steps.

    The k-th step has the length 1/k.
    """
    X, y, C = problem.X, problem.rows.y, problem.costs
    w = np.zeros(X.shape[1])
    for k in range(1, STEPS if limits.max_iter is None else limits.max_iter + 1):
        inside = y * (X @ w) < 1
        w -= (w - X[inside].T @ (C * y)[inside]) / k
    return w


def main() -> None:
    """Compare with a bias, estimators included, and without a bias, descent included."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X @ [1.0, -0.7, 0.4] + 0.6 * rng.normal(size=60) > 0.3, 1.0, -1.0)
    right = from_estimator(SVC(kernel="linear", C=1.0))
    wrong = from_estimator(SVC(kernel="linear", C=3.0, tol=1e-9), name="SVC of another C")
    print(compare(classification(X, y, C=1.0), solvers=["CLARABEL", "smo", right, wrong, libsvm()]))
    print(compare(classification(X, y, C=1.0, bias=False), solvers=["CLARABEL", *SOLVERS]))


if __name__ == "__main__":
    main()
