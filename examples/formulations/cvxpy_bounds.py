"""A backend returns 20, and the optimum is 1
============================================

cvxpy 1.9.3 with HiGHS returns 20 for a problem whose optimum is 1: a minimal example,
and the exact optimum.

Run it: ``python examples/formulations/cvxpy_bounds.py``.

For backends that take bounds, cvxpy derives bounds of the variables that it adds. It
splits X into a positive and a negative part, one of which is 0 in every entry. With a
free w the bounds of X @ w are therefore 0 times inf, which is NaN. In the product with
y these bounds become 0, and `pos(1 - y (X @ w + b))` gets the bounds [1, 1], which
exclude all values below 1.
"""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np

from equimargin.formulations.programs import compile_program
from equimargin.solvers.exact.program import Optimum, program_optimum


def hinge() -> cp.Problem:
    """Return the 1-norm SVM of the points -1 and 1, whose optimum is |w| = 1.

    w = 1 and b = 0 separate them with no loss.
    """
    w, b = cp.Variable(1, name="w"), cp.Variable(name="b")
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    return cp.Problem(cp.Minimize(cp.norm1(w) + 10 * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))))


def main() -> None:
    """Print the optimum by each backend, the bounds given to HiGHS, and the exact optimum."""
    warnings.simplefilter(
        "ignore"
    )  # numpy says "invalid value encountered in matmul" where the bounds are lost
    for backend in ("CLARABEL", "SCS", "OSQP", "HIGHS"):
        print(f"{backend:9} {hinge().solve(solver=backend):.6f}")
    data, _, _ = hinge().get_problem_data("HIGHS", solver_opts={})
    print(
        "bounds of the unknowns for HIGHS:",
        *zip(data["lower_bounds"].tolist(), data["upper_bounds"].tolist(), strict=True),
    )
    outcome = program_optimum(compile_program(hinge()))
    assert isinstance(outcome, Optimum)
    print("exactly  ", outcome.value)


if __name__ == "__main__":
    main()
