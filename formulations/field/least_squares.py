"""Least-squares SVM: equations and squares instead of inequalities and hinges.

It resembles the SVM with the squared hinge, but is another problem.

References
----------
J. Suykens, J. Vandewalle, Least squares support vector machine classifiers, Neural
Processing Letters 9 (1999), (8)-(10).
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial

from equimargin.formulations.declarations.checks import (
    classes,
    kernel_points,
    needing,
    positive,
    signs,
)
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = "Suykens, Vandewalle, Least Squares Support Vector Machine Classifiers (1999)"
ls_svm = Family(
    "ls_svm",
    Source("Suykens 1999", "(8)-(10)", TITLE),
    data=partial(points, labels=2, C=[1.0, 0.5, 2.0]),
    check=needing(X=kernel_points, y=classes(2), C=positive),
)
"""X (m, d), y (m,) in {0, 1} and C > 0, the gamma of the source."""


@ls_svm.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + \tfrac C2 \sum_i e_i^2"
    r" \quad\text{s.t.}\quad y_i (w \cdot x_i + b) = 1 - e_i",
)
def primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C/2 |e|^2   s.t.   y_i (w.x_i + b) = 1 - e_i."""
    X, (m, k) = d["X"], d["X"].shape
    w, b, e = cp.Variable(k, name="w"), cp.Variable(name="b"), cp.Variable(m, name="e")
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + d["C"] / 2 * cp.sum_squares(e)),
        [cp.multiply(signs(d["y"]), X @ w + b) == 1 - e],
    )


@ls_svm.formulation(
    "dual",
    latex=r"\max \sum_i a_i - \tfrac12 |X'Ya|^2 - \tfrac1{2C} |a|^2"
    r" \quad\text{s.t.}\quad y'a = 0",
)
def dual(d: Data) -> cp.Problem:
    """max sum a - 1/2 |X'Ya|^2 - |a|^2 / (2 C)   s.t.   y'a = 0."""
    y, a = signs(d["y"]), cp.Variable(len(d["X"]), name="a")
    curved = cp.sum_squares(d["X"].T @ cp.multiply(y, a)) / 2 + cp.sum_squares(a) / (2 * d["C"])
    return cp.Problem(cp.Maximize(cp.sum(a) - curved), [y @ a == 0])


@ls_svm.formulation("squared_hinge", control=True)
def squared_hinge(d: Data) -> cp.Problem:
    """The look-alike: with inequalities, a point beyond its margin costs nothing,
    and the optimum is that of an SVM with squared slacks.
    """
    X, (m, k) = d["X"], d["X"].shape
    w, b, e = cp.Variable(k, name="w"), cp.Variable(name="b"), cp.Variable(m, name="e")
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + d["C"] / 2 * cp.sum_squares(e)),
        [cp.multiply(signs(d["y"]), X @ w + b) >= 1 - e],
    )
