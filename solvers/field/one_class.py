"""One-class SVM by LIBSVM, through scikit-learn."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver


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
