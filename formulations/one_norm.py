"""One-norm ranking by linear programming, as documents T (section 5) and K (section 2.3) print it.

A : (p, m) one row per preference, preferred first, K : (m, m) Gram.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.problem import OneNormProblem, Point


@formulation("rvm.primal", "rvm", Source("T", "(102)-(104)"), Source("K", "(2.10)"))
def rvm_primal(problem: OneNormProblem) -> Declaration:
    """min  1'beta + C 1'xi   s.t.  A g >= 1 - xi,  beta >= 0,  xi >= 0,  g = K beta.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    beta, g, xi = cp.Variable(problem.m, name="beta"), cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        values = K @ v["beta"]
        return Printed(
            v["beta"].sum() + C.value * v["xi"].sum(),
            {"margin": 1 - v["xi"] - A @ values, "sign": -v["beta"], "slack": -v["xi"], "values": np.abs(values - v["g"])},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum(beta) + C * cp.sum(xi)),
        {
            "margin": A @ g >= 1 - xi,
            "sign": beta >= 0,
            "slack": xi >= 0,
            "values": g == K @ beta,
        },
        variables={"beta": beta, "g": g, "xi": xi},
        parameters={"C": C},
        recover=lambda d: Point(beta=beta.value, alpha=d.multiplier("margin")),
        printed=printed,
    )


@formulation("rvm.dual", "rvm", Source("T", "(102)-(104), its linear-programming dual"))
def rvm_dual(problem: OneNormProblem) -> Declaration:
    """max  1'u   s.t.  K v <= 1,  v = A'u,  0 <= u <= C.

    The multiplier of `price` is beta >= 0 of (102).
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    u, v = cp.Variable(problem.p, name="u"), cp.Variable(problem.m, name="v")

    def printed(at: Mapping[str, Any]) -> Printed:
        span = A.T @ at["u"]
        return Printed(
            at["u"].sum(),
            {"price": K @ span - 1, "span": np.abs(span - at["v"]), "lower": -at["u"], "upper": at["u"] - C.value},
        )

    return Declaration(
        problem,
        cp.Maximize(cp.sum(u)),
        {
            "price": K @ v <= 1,
            "span": v == A.T @ u,
            "lower": u >= 0,
            "upper": u <= C,
        },
        variables={"u": u, "v": v},
        parameters={"C": C},
        recover=lambda d: Point(beta=d.multiplier("price"), alpha=u.value),
        printed=printed,
    )
