"""Multiclass SVM of Crammer and Singer: dual decomposition, and LIBLINEAR."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.joint import JointProblem, minimise_jointly
from equimargin.solvers.joint.descent import NAME
from equimargin.solvers.program_solution import ProgramSolution
from equimargin.solvers.registry import DEFAULT_ACCURACY, solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits


@solver(
    NAME,
    "crammer_singer",
    algorithm="dual decomposition, all multipliers of a point at a time, and interior points",
    reference=False,
)
def decomposition(problem: ProgramProblem, limits: Limits) -> ProgramSolution:
    """Return the weights at a relative gap of `limits.tol`.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family crammer_singer.
    limits : Limits
        Limits of the run.
    """
    d = problem.data
    X, codes = np.asarray(d["X"], dtype=np.float64), d["y"].astype(np.int64)
    joint = JointProblem(X, codes, int(codes.max()) + 1, d["C"], np.ones(len(codes)))
    found = minimise_jointly(joint, limits)
    return ProgramSolution(
        problem,
        NAME,
        found.status,
        found.reason,
        found.iterations,
        found.seconds,
        DEFAULT_ACCURACY,
        values={"W": found.w},
        formulation="crammer_singer.primal",
    )


def _two_classes(d: Data) -> str | None:
    return (
        "there are fewer than three classes, and LIBLINEAR solves another problem then"
        if d["y"].max() < 2
        else None
    )


@solver(
    "crammer_singer.liblinear",
    "crammer_singer",
    algorithm="LIBLINEAR (-s 4) through scikit-learn",
    accuracy=1e-4,
    requires=Requirements(ProgramProblem, also=lambda problem: _two_classes(problem.data)),
    libraries=("sklearn.svm",),
)
def liblinear(problem: ProgramProblem) -> Data:
    """Return the weights of scikit-learn's LinearSVC for three or more classes.

    Parameters
    ----------
    problem : ProgramProblem
        Problem of the family crammer_singer.
    """
    d = problem.data
    from warnings import catch_warnings, simplefilter

    from sklearn.svm import LinearSVC

    with catch_warnings():
        # Iteration warnings: the referee computes the residual.
        simplefilter("ignore")
        model = LinearSVC(
            multi_class="crammer_singer", C=d["C"], fit_intercept=False, tol=1e-9, max_iter=100_000
        ).fit(d["X"], d["y"])
    return {"W": model.coef_}
