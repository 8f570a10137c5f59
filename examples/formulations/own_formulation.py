"""A formulation of one's own
============================

The soft-margin SVM without constraints, checked against the printed ones.

Run it: ``python examples/formulations/own_formulation.py``.
A wrong letter anywhere (try C / 2, or + b) ends in a sentence that says what is wrong.
"""

import cvxpy as cp
import numpy as np

from equimargin.formulations import Declaration, MarginProblem, Printed, Source, formulation
from equimargin.testing import check_formulation


@formulation(
    "svm.soft.hinge",
    "svm.soft",
    Source("W", "SVM classifier, its slacks eliminated"),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 + C\sum_i(1 - y_i(w\cdot x_i - b))_+",
    carries="function",
)
def hinge(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i (1 - y_i (w.x_i - b))_+."""
    X, y, c = problem.features(), problem.rows.y, problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * (c @ cp.pos(1 - cp.multiply(y, X @ w - b)))),
        {},
        variables={"w": w, "b": b},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, -float(b.value)),
        express=lambda at: {"w": at.w, "b": -at.b},
        printed=lambda v: Printed(v["w"] @ v["w"] / 2 + C.value * c @ np.maximum(1 - y * (X @ v["w"] - v["b"]), 0)),
    )


if __name__ == "__main__":
    check_formulation("svm.soft.hinge")
    print("svm.soft.hinge agrees with the printed formulations")
