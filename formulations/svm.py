"""Classification, as documents T (section 2) and W print it.

The tutorial writes F(x) = w.x - b: its b is minus the project's. Variables keep the tutorial's letters and signs; `recover` turns b round.
X : (m, d) features (a factor of K for a nonlinear kernel), y : (m,) labels, c : (m,) weights of the cost C.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.problem import MarginProblem, Point


@formulation("svm.soft.primal", "svm.soft", Source("T", "(23)-(25)"), Source("W", "SVM classifier"))
def soft_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i xi_i   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of (26).
    """
    import cvxpy as cp

    X, y, c = problem.features(), problem.rows.s, problem.unit_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, b, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(problem.m, name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(
            v["w"] @ v["w"] / 2 + C.value * c @ v["xi"],
            {"margin": 1 - v["xi"] - y * (X @ v["w"] - v["b"]), "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * (c @ xi)),
        {
            "margin": cp.multiply(y, X @ w - b) >= 1 - xi,
            "slack": xi >= 0,
        },
        variables={"w": w, "b": b, "xi": xi},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, -float(b.value), d.multiplier("margin")),
        printed=printed,
    )


@formulation("svm.soft.dual", "svm.soft", Source("T", "(26)-(28) = (41)-(43), with the 1/2"))
def soft_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  y'alpha = 0,  0 <= alpha <= C.

    The multiplier of `balance`, an equality, is the tutorial's b up to sign.
    """
    return _soft_dual(problem, half=0.5)


@formulation("svm.soft.dual.as_printed", "svm.soft", Source("T", "(26)-(28) as printed, without the 1/2"), control=True)
def soft_dual_as_printed(problem: MarginProblem) -> Declaration:
    """max  1'alpha - alpha'YKY alpha   s.t.  y'alpha = 0,  0 <= alpha <= C: a misprint, its value at C is half the right one at 2C."""
    return _soft_dual(problem, half=1.0)


def _soft_dual(problem: MarginProblem, half: float) -> Declaration:
    import cvxpy as cp

    K, y, c = problem.gram.dense, problem.rows.s, problem.unit_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha = cp.Variable(problem.m, name="alpha")

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        return Printed(a.sum() - half * (y * a) @ K @ (y * a), {"balance": np.abs(y @ a), "lower": -a, "upper": a - C.value * c})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - half * cp.quad_form(cp.multiply(y, alpha), cp.psd_wrap(K))),
        {
            "balance": y @ alpha == 0,
            "lower": alpha >= 0,
            "upper": alpha <= C * c,
        },
        variables={"alpha": alpha},
        parameters={"C": C},
        recover=lambda d: Point(alpha=alpha.value),
        printed=printed,
    )
