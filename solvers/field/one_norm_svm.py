"""1-norm SVM as a linear program, by HiGHS through scipy."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver


@solver(
    "one_norm_svm.highs",
    "one_norm_svm",
    algorithm="HiGHS on the program with w = p - q, through scipy",
    accuracy=1e-8,
    libraries=("scipy.optimize",),
    library="HIGHS",
)
def highs(problem: ProgramProblem) -> Data:
    """Return the w and b that HiGHS computes.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family one_norm_svm.
    """
    d = problem.data
    from scipy.optimize import linprog

    X, y, (m, k) = d["X"], np.asarray(2.0 * d["y"] - 1.0), d["X"].shape
    Z = y[:, None] * X
    costs = np.concatenate([np.ones(2 * k), [0.0], np.full(m, d["C"])])
    rows = np.hstack([-Z, Z, -y[:, None], -np.eye(m)])
    bounds = [*[(0, None)] * (2 * k), (None, None), *[(0, None)] * m]
    result = linprog(costs, rows, -np.ones(m), bounds=bounds, method="highs")
    return {"w": result.x[:k] - result.x[k : 2 * k], "b": result.x[2 * k]}
