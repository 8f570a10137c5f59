"""Epsilon-insensitive regression, as document T (section 3) prints it, F(x) = w.x + b.

X : (m, d) features (a factor of K for a nonlinear kernel), y : (m,) targets, epsilon : half the width of the tube,
c, chat : (m,) weights of the cost C above and below the tube. The canonical alpha is (alpha, alphahat), 2m numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.problem import MarginProblem, Point
from equimargin.formulations.rows import Tube


@formulation("svr.l1.primal", "svr.l1", Source("T", "(64), its Lagrangian's primal"))
def l1_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i (xi_i + xihat_i)   s.t.  y - Xw - b <= epsilon + xi,  Xw + b - y <= epsilon + xihat,  xi, xihat >= 0.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of (70).
    """
    import cvxpy as cp

    X, m = problem.features(), problem.m
    y, epsilon = _tube(problem)
    c, chat = np.split(problem.unit_weights, 2)
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
    xi, xihat = cp.Variable(m, name="xi"), cp.Variable(m, name="xihat")

    def printed(v: Mapping[str, Any]) -> Printed:
        residual = y - X @ v["w"] - v["b"]
        return Printed(
            v["w"] @ v["w"] / 2 + C.value * (c @ v["xi"] + chat @ v["xihat"]),
            {"above": residual - epsilon - v["xi"], "below": -residual - epsilon - v["xihat"], "slack": -v["xi"], "slackhat": -v["xihat"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * (c @ xi + chat @ xihat)),
        {
            "above": y - X @ w - b <= epsilon + xi,
            "below": X @ w + b - y <= epsilon + xihat,
            "slack": xi >= 0,
            "slackhat": xihat >= 0,
        },
        variables={"w": w, "b": b, "xi": xi, "xihat": xihat},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, float(b.value), _stacked(d.multiplier("above"), d.multiplier("below"))),
        printed=printed,
    )


@formulation("svr.l1.dual", "svr.l1", Source("T", "(70)-(73) = (78)-(81)"))
def l1_dual(problem: MarginProblem) -> Declaration:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta   s.t.  1'delta = 0,  0 <= alpha, alphahat <= C.

    delta = alpha - alphahat. The multiplier of `balance`, an equality, is b up to sign.
    """
    import cvxpy as cp

    K, m = problem.gram.dense, problem.m
    y, epsilon = _tube(problem)
    c, chat = np.split(problem.unit_weights, 2)
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, alphahat = cp.Variable(m, name="alpha"), cp.Variable(m, name="alphahat")

    def printed(v: Mapping[str, Any]) -> Printed:
        a, ahat = v["alpha"], v["alphahat"]
        return Printed(
            y @ (a - ahat) - epsilon * (a + ahat).sum() - (a - ahat) @ K @ (a - ahat) / 2,
            {
                "balance": np.abs((a - ahat).sum()),
                "lower": -a,
                "lowerhat": -ahat,
                "upper": a - C.value * c,
                "upperhat": ahat - C.value * chat,
            },
        )

    return Declaration(
        problem,
        cp.Maximize(y @ (alpha - alphahat) - epsilon * cp.sum(alpha + alphahat) - cp.quad_form(alpha - alphahat, cp.psd_wrap(K)) / 2),
        {
            "balance": cp.sum(alpha - alphahat) == 0,
            "lower": alpha >= 0,
            "lowerhat": alphahat >= 0,
            "upper": alpha <= C * c,
            "upperhat": alphahat <= C * chat,
        },
        variables={"alpha": alpha, "alphahat": alphahat},
        parameters={"C": C},
        recover=lambda d: Point(alpha=np.concatenate([alpha.value, alphahat.value])),
        printed=printed,
    )


def _tube(problem: MarginProblem) -> tuple[Any, float]:
    if not isinstance(problem.rows, Tube):
        raise ValueError("a regression problem is needed")
    return problem.rows.y, problem.rows.epsilon


def _stacked(above: Any, below: Any) -> Any:
    return None if above is None or below is None else np.concatenate([above, below])
