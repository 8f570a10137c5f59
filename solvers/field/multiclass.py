"""Multiclass SVM of Crammer and Singer by LIBLINEAR, through scikit-learn."""

from __future__ import annotations

from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements


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
