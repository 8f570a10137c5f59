"""nu-SVC and nu-SVR by SMO, and by LIBSVM through scikit-learn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.field.nu import too_large
from equimargin.formulations.problem.construct import classification, regression
from equimargin.solvers.dual.variable_margin import solve_variable_margin
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits

GAP = 1e-9
"""Relative gap at which SMO ends; the families require 1e-6."""


@solver(
    "nu_svc.smo",
    "nu_svc",
    algorithm="SMO with the sum of the multipliers of each class fixed",
    requires=Requirements(ProgramProblem, also=lambda problem: too_large(problem.data)),
)
def svc_smo(problem: ProgramProblem, limits: Limits) -> tuple[str, Data]:
    """Return the dual point of SMO.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family nu_svc.
    limits : Limits
        Limits of the run.
    """
    d = problem.data
    own = classification(d["X"], 2.0 * d["y"] - 1.0, 1 / len(d["X"]))
    found = solve_variable_margin(own, d["nu"], replace(limits, tol=GAP))
    return "dual", {"a": found.point.multipliers}


@solver(
    "nu_svr.smo",
    "nu_svr",
    algorithm="SMO with the sums of the multipliers above and below the tube fixed",
)
def svr_smo(problem: ProgramProblem, limits: Limits) -> tuple[str, Data]:
    """Return the dual point of SMO.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family nu_svr.
    limits : Limits
        Limits of the run.
    """
    d = problem.data
    own = regression(d["X"], d["y"], d["C"] / len(d["y"]), 0.0)
    found = solve_variable_margin(own, d["nu"], replace(limits, tol=GAP))
    above, below = np.split(np.asarray(found.point.multipliers), 2)
    return "dual", {"above": above, "below": below}


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
