"""One-class SVM by SMO, and by LIBSVM through scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem.construct import classification
from equimargin.solvers.dual.variable_margin import solve_variable_margin
from equimargin.solvers.field.nu import GAP
from equimargin.solvers.registry import solver
from equimargin.solvers.solution import Limits


@solver(
    "one_class.smo",
    "one_class",
    algorithm="SMO with the sum of the multipliers fixed",
)
def smo(problem: ProgramProblem, limits: Limits) -> tuple[str, Data]:
    """Return the dual point of SMO.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family one_class.
    limits : Limits
        Limits of the run.
    """
    d = problem.data
    m = len(d["X"])
    own = classification(d["X"], np.ones(m), 1 / (d["nu"] * m), bias=False)
    found = solve_variable_margin(own, d["nu"], replace(limits, tol=GAP))
    return "dual", {"a": found.point.multipliers}


@solver(
    "one_class.libsvm",
    "one_class",
    algorithm="LIBSVM through scikit-learn: its multipliers are nu m times those of the dual",
    libraries=("sklearn.svm",),
)
def libsvm(problem: ProgramProblem) -> tuple[str, Data]:
    """Return the dual point of scikit-learn's OneClassSVM.

    If every multiplier is at its bound, as at nu = 1, LIBSVM's offset is infinite, and
    scikit-learn raises an error. The multipliers are nevertheless correct, and they are
    the requested result.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family one_class.
    """
    d = problem.data
    from sklearn.svm import OneClassSVM

    model, a = OneClassSVM(kernel="linear", nu=d["nu"], tol=1e-10), np.zeros(len(d["X"]))
    try:
        model.fit(d["X"])
    except ValueError:
        if not np.isfinite(getattr(model, "dual_coef_", np.nan)).all():
            raise
    a[model.support_] = model.dual_coef_[0] / (d["nu"] * len(d["X"]))
    return "dual", {"a": a}
