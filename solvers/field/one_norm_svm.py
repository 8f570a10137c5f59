"""1-norm SVM: as a linear program by HiGHS through scipy, and with the squared hinge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits
from equimargin.solvers.sparse_weights.descent import solve_sparse_weights
from equimargin.solvers.sparse_weights.problem import SparseWeightProblem, by_columns


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


@solver(
    "one_norm_svm_l2.sparse_weights",
    "one_norm_svm_l2",
    algorithm="coordinate descent on a working set, and Newton's method on nonzero weights",
    accuracy=1e-8,
)
def sparse_weights(problem: ProgramProblem, limits: Limits) -> Data:
    """Return the w of coordinate descent.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family one_norm_svm_l2.
    limits : Limits
        Limits of the run.
    """
    d = problem.data
    y = np.asarray(2.0 * d["y"] - 1.0)
    stated = SparseWeightProblem(by_columns(d["X"]), y, float(d["C"]), np.ones(len(y)))
    return {"w": solve_sparse_weights(stated, replace(limits, tol=min(limits.tol, 1e-10))).w}
