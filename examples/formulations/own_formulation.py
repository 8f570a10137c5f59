"""A user-defined formulation
============================

The soft-margin SVM without constraints, checked against the published formulations.

Run it: ``python examples/formulations/own_formulation.py``.
A misprint anywhere (try C / 2, or + b) raises an error that names the fault.
"""

import cvxpy as cp

from equimargin.formulations import FAMILIES, Source, Symbols, minimize
from equimargin.testing import check_formulation


@FAMILIES["svm.soft"].formulation(
    "hinge",
    Source("W", "SVM classifier, its slacks eliminated"),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 + C\sum_i(1 - y_i(w\cdot x_i - b))_+",
    carries="function",
    to_canonical=lambda v, d: d.point(v["w"], -v["b"]),
    from_canonical=lambda at, d: {"w": at.w, "b": -at.b},
)
def hinge(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i (1 - y_i (w.x_i - b))_+."""
    w, b, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b"), d.parameter("C")
    margins = cp.multiply(d.y, d.X @ w - b)
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.pos(1 - margins)),
        hard=margins[d.hard] >= 1
        if d.hard.any()
        else None,  # rows of infinite weight, for which d.c is 0
    )


if __name__ == "__main__":
    check_formulation("svm.soft.hinge")
    print("svm.soft.hinge agrees with the printed formulations")
