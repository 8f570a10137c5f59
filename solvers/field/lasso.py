"""Lasso by coordinate descent of scikit-learn, and group lasso by proximal gradients."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver

STEPS = 20_000
"""Maximum steps of the proximal gradient method.

They solve a group lasso of a hundred weights to ten digits.
"""


@solver(
    "lasso.coordinate_descent",
    "lasso",
    algorithm="coordinate descent of scikit-learn's Lasso, whose penalty is divided by m",
    accuracy=1e-6,
    libraries=("sklearn.linear_model",),
)
def coordinate_descent(problem: ProgramProblem) -> Data:
    """Return the weights of scikit-learn's Lasso.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family lasso.
    """
    d = problem.data
    from warnings import catch_warnings, simplefilter

    from sklearn.linear_model import Lasso

    with catch_warnings():
        # Convergence warnings: the referee computes the residual.
        simplefilter("ignore")
        model = Lasso(
            d["penalty"] / len(d["y"]), fit_intercept=False, tol=1e-12, max_iter=100_000
        ).fit(d["X"], d["y"])
    return {"w": model.coef_}


@solver(
    "group_lasso.proximal_gradient",
    "group_lasso",
    algorithm="proximal gradient with momentum (FISTA): every group is shrunk as a whole",
    accuracy=1e-6,
)
def proximal_gradient(problem: ProgramProblem) -> Data:
    """Return w after at most STEPS steps of length 1 / largest curvature.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family group_lasso.
    """
    d = problem.data
    X, y = d["X"], d["y"]
    of = np.asarray(d.get("groups", np.zeros(X.shape[1], dtype=np.int64)))
    groups = [np.flatnonzero(of == group) for group in np.unique(of)]
    step = 1.0 / max(float(np.linalg.norm(X, 2)) ** 2, 1e-12)
    w = ahead = np.zeros(X.shape[1])
    t = 1.0
    for _ in range(STEPS):
        # moved = prox(ahead - step X'(X ahead - y)), group by group:
        # v_g <- (1 - step penalty sqrt(size_g) / |v_g|)_+ v_g
        moved = ahead - step * (X.T @ (X @ ahead - y))
        for group in groups:
            shrunk = step * d["penalty"] * float(np.sqrt(len(group)))
            moved[group] *= max(
                0.0, 1.0 - shrunk / max(float(np.linalg.norm(moved[group])), 1e-300)
            )
        t, before = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        if np.abs(moved - w).max() <= 1e-14 * (1.0 + np.abs(w).max()) and before > 10:
            return {"w": moved}
        ahead, w = moved + (before - 1.0) / t * (moved - w), moved
    return {"w": w}
