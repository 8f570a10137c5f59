"""Least-squares SVM as a ridge regression on the signs, by scikit-learn."""

from __future__ import annotations

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver


@solver(
    "ls_svm.ridge",
    "ls_svm",
    algorithm="scikit-learn's Ridge on the signs, which is the same problem: y_i^2 = 1",
    accuracy=1e-8,
    libraries=("sklearn.linear_model",),
)
def ridge(problem: ProgramProblem) -> Data:
    """Return the w and b of scikit-learn's Ridge with the penalty 1 / C.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family ls_svm.
    """
    d = problem.data
    from sklearn.linear_model import Ridge

    model = Ridge(1 / d["C"], solver="cholesky").fit(d["X"], 2.0 * d["y"] - 1.0)
    return {"w": model.coef_, "b": model.intercept_}
