"""One-class SVM: a half-space away from the origin that contains most of the points.

References
----------
B. Schölkopf, J. Platt, J. Shawe-Taylor, A. Smola, R. Williamson, Estimating the support
of a high-dimensional distribution, Neural Computation 13 (2001), (3)-(4) and (11).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from equimargin.formulations.declarations.checks import kernel_points, needing, share
from equimargin.formulations.declarations.declaration import FormulaValue
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = (
    "Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Estimating the Support of a "
    "High-Dimensional Distribution (2001)"
)
one_class = Family(
    "one_class",
    Source("Schölkopf 2001", "(3)-(4)", TITLE),
    data=partial(points, nu=[0.5, 0.25, 1.0]),
    check=needing(X=kernel_points, nu=share),
)
"""X (m, d) and nu in (0, 1]."""


def _printed(v: Mapping[str, Any], d: Data) -> FormulaValue:
    X, m = d["X"], len(d["X"])
    violations = v["rho"] - v["xi"] - X @ v["w"]
    return FormulaValue(
        v["w"] @ v["w"] / 2 + v["xi"].sum() / (d["nu"] * m) - v["rho"],
        {"margins": violations, "slacks": -v["xi"]},
    )


@one_class.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + \tfrac1{\nu m} \sum_i \xi_i - \rho"
    r" \quad\text{s.t.}\quad w \cdot x_i \ge \rho - \xi_i,\ \xi \ge 0",
    printed=_printed,
)
def primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + sum_i xi_i / (nu m) - rho   s.t.   w.x_i >= rho - xi_i,  xi >= 0."""
    X, (m, k) = d["X"], d["X"].shape
    w, rho, xi = cp.Variable(k, name="w"), cp.Variable(name="rho"), cp.Variable(m, name="xi")
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(xi) / (d["nu"] * m) - rho),
        [X @ w >= rho - xi, xi >= 0],
    )


@one_class.formulation(
    "dual",
    Source("Schölkopf 2001", "(11)", TITLE),
    latex=r"\max -\tfrac12 |X'a|^2"
    r" \quad\text{s.t.}\quad 1'a = 1,\ 0 \le a \le \tfrac1{\nu m}",
    to_canonical=lambda v, d: {"w": d["X"].T @ v["a"]},
)
def dual(d: Data) -> cp.Problem:
    """max -1/2 |X'a|^2   s.t.   sum a = 1,  0 <= a <= 1 / (nu m)."""
    a = cp.Variable(len(d["X"]), name="a")
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(d["X"].T @ a) / 2),
        [cp.sum(a) == 1, a >= 0, a <= 1 / (d["nu"] * len(d["X"]))],
    )


@one_class.formulation("dual.box_without_m", control=True)
def wrong_box(d: Data) -> cp.Problem:
    """The dual with the box 1 / nu in place of 1 / (nu m)."""
    a = cp.Variable(len(d["X"]), name="a")
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(d["X"].T @ a) / 2), [cp.sum(a) == 1, a >= 0, a <= 1 / d["nu"]]
    )
