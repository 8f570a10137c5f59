"""nu-SVC and nu-SVR by LIBSVM, through scikit-learn."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.field.nu import too_large
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements


@solver(
    "nu_svc.libsvm",
    "nu_svc",
    algorithm="LIBSVM through scikit-learn: its multipliers, scaled to the sum nu, are those of "
    "the dual",
    requires=Requirements(ProgramProblem, also=lambda problem: too_large(problem.data)),
    libraries=("sklearn.svm",),
)
def svc_libsvm(problem: ProgramProblem) -> tuple[str, Data]:
    """Return the dual point of scikit-learn's NuSVC.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family nu_svc.
    """
    d = problem.data
    from sklearn.svm import NuSVC

    model = NuSVC(kernel="linear", nu=d["nu"], tol=1e-10).fit(d["X"], d["y"])
    a = np.zeros(len(d["X"]))
    a[model.support_] = np.abs(model.dual_coef_[0])
    return "dual", {"a": a * (d["nu"] / a.sum())}


@solver(
    "nu_svr.libsvm",
    "nu_svr",
    algorithm="LIBSVM through scikit-learn, with C / m as its C",
    libraries=("sklearn.svm",),
)
def svr_libsvm(problem: ProgramProblem) -> tuple[str, Data]:
    """Return the dual point of scikit-learn's NuSVR.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family nu_svr.
    """
    d = problem.data
    from sklearn.svm import NuSVR

    m = len(d["y"])
    model = NuSVR(kernel="linear", nu=d["nu"], C=d["C"] / m, tol=1e-10).fit(d["X"], d["y"])
    beta = np.zeros(m)
    beta[model.support_] = model.dual_coef_[0]
    return "dual", {"above": np.maximum(beta, 0.0), "below": np.maximum(-beta, 0.0)}
