"""RankSVM with hinge loss, as documents T (section 4), K (sections 1 to 3) and P (section 3) print it.

One row of A (P in document P) per preference, preferred first: +1 at i, -1 at j.  A : (p, m), K : (m, m) Gram, X : (m, d) features
(a factor of K for a nonlinear kernel), c : (p,) weights of the cost C. The forms of document P are at lambda = 1/C, and their objective is
C times smaller than the family's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.problem import MarginProblem, Point


@formulation(
    "rank.l1.primal", "rank.l1", Source("T", "(84)-(86)"), Source("K", "(1.2) = (3.11)"), Source("W", "both"), Source("O", "in words")
)
def l1_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_ij xi_ij   s.t.  w.(phi_i - phi_j) >= 1 - xi_ij,  xi_ij >= 0   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of (2.4).
    """
    import cvxpy as cp

    X, A, c = problem.features(), problem.rows.matrix, problem.unit_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(problem.p, name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(v["w"] @ v["w"] / 2 + C.value * c @ v["xi"], {"margin": 1 - v["xi"] - A @ (X @ v["w"]), "slack": -v["xi"]})

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * (c @ xi)),
        {
            "margin": A @ (X @ w) >= 1 - xi,
            "slack": xi >= 0,
        },
        variables={"w": w, "xi": xi},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, 0.0, d.multiplier("margin")),
        printed=printed,
    )


@formulation("rank.l1.dual", "rank.l1", Source("K", "(2.4)"), Source("T", "(88)-(89), for a linear kernel and with the 1/2"))
def l1_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= C.

    beta stands for A'alpha, so that Qhat = A K A', p x p, is never formed.
    """
    return _l1_dual(problem, half=0.5)


@formulation("rank.l1.dual.as_printed", "rank.l1", Source("T", "(88)-(89) as printed, without the 1/2"), control=True)
def l1_dual_as_printed(problem: MarginProblem) -> Declaration:
    """max  1'alpha - beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= C: a misprint, its value at C is half the right one at 2C."""
    return _l1_dual(problem, half=1.0)


def _l1_dual(problem: MarginProblem, half: float) -> Declaration:
    import cvxpy as cp

    A, K, c = problem.rows.matrix, problem.gram.dense, problem.unit_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, beta = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="beta")

    def printed(v: Mapping[str, Any]) -> Printed:
        a, b = v["alpha"], v["beta"]
        span = A.T @ a
        return Printed(a.sum() - half * span @ K @ span, {"span": np.abs(span - b), "lower": -a, "upper": a - C.value * c})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - half * cp.quad_form(beta, cp.psd_wrap(K))),
        {
            "span": beta == A.T @ alpha,
            "lower": alpha >= 0,
            "upper": alpha <= C * c,
        },
        variables={"alpha": alpha, "beta": beta},
        parameters={"C": C},
        recover=lambda d: Point(alpha=alpha.value),
        printed=printed,
    )


@formulation("rank.lambda.primal", "rank.l1", Source("P", "(6)"))
def lambda_primal(problem: MarginProblem) -> Declaration:
    """min  1'zeta + lambda/2 beta'K beta   s.t.  A g >= 1 - zeta,  zeta >= 0,  g = K beta;  lambda = 1/C.

    With K = L L', beta'K beta is |v|^2 for v = L'beta, and g = L v: a singular K leaves the backends an exact problem.
    The multiplier of `margin` is alpha of (8), in [0, 1]; the family's alpha is alpha / lambda.
    """
    import cvxpy as cp

    A, K, L, c = problem.rows.matrix, problem.gram.dense, problem.features(), problem.unit_weights
    lam = cp.Parameter(nonneg=True, name="lambda", value=1 / problem.C)
    beta, v = cp.Variable(problem.m, name="beta"), cp.Variable(L.shape[1], name="v")
    g, zeta = cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="zeta")

    def printed(at: Mapping[str, Any]) -> Printed:
        values = K @ at["beta"]
        return Printed(
            c @ at["zeta"] + lam.value / 2 * at["beta"] @ values,
            {"margin": 1 - at["zeta"] - A @ values, "slack": -at["zeta"], "values": np.abs(values - at["g"])},
        )

    def recover(d: Declaration) -> Point:
        alpha = d.multiplier("margin")
        return Point(beta=beta.value, b=0.0, alpha=None if alpha is None else alpha / lam.value)

    return Declaration(
        problem,
        cp.Minimize(c @ zeta + lam / 2 * cp.sum_squares(v)),
        {
            "margin": A @ g >= 1 - zeta,
            "slack": zeta >= 0,
            "span": v == L.T @ beta,
            "values": g == L @ v,
        },
        variables={"beta": beta, "v": v, "g": g, "zeta": zeta},
        parameters={"lambda": lam},
        recover=recover,
        printed=printed,
        value=lambda v: v / lam.value,
    )


@formulation("rank.lambda.dual", "rank.l1", Source("P", "(8)"))
def lambda_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/(2 lambda) beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= 1;  lambda = 1/C.

    The family's alpha is alpha / lambda.
    """
    import cvxpy as cp

    A, K, c = problem.rows.matrix, problem.gram.dense, problem.unit_weights
    inverse = cp.Parameter(nonneg=True, name="1/lambda", value=problem.C)
    alpha, beta = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="beta")

    def printed(v: Mapping[str, Any]) -> Printed:
        a, b = v["alpha"], v["beta"]
        span = A.T @ a
        return Printed(a.sum() - inverse.value / 2 * span @ K @ span, {"span": np.abs(span - b), "lower": -a, "upper": a - c})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - inverse / 2 * cp.quad_form(beta, cp.psd_wrap(K))),
        {
            "span": beta == A.T @ alpha,
            "lower": alpha >= 0,
            "upper": alpha <= c,
        },
        variables={"alpha": alpha, "beta": beta},
        parameters={"1/lambda": inverse},
        recover=lambda d: Point(alpha=alpha.value * inverse.value),
        printed=printed,
        value=lambda v: v * inverse.value,
    )


@formulation("rank.l1.beta", "rank.l1", Source("K", "(3.12)"))
def l1_beta(problem: MarginProblem) -> Declaration:
    """min  1/2 beta'K beta + C 1'(1 - A g)_+   s.t.  g = K beta,  beta free.

    With K = L L', beta'K beta is |v|^2 for v = L'beta, and g = L v. No multipliers of the rows: the point has f only.
    """
    import cvxpy as cp

    A, K, L, c = problem.rows.matrix, problem.gram.dense, problem.features(), problem.unit_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    beta, v, g = cp.Variable(problem.m, name="beta"), cp.Variable(L.shape[1], name="v"), cp.Variable(problem.m, name="g")

    def printed(at: Mapping[str, Any]) -> Printed:
        values = K @ at["beta"]
        return Printed(at["beta"] @ values / 2 + C.value * c @ np.maximum(1 - A @ values, 0), {"values": np.abs(values - at["g"])})

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(v) / 2 + C * (c @ cp.pos(1 - A @ g))),
        {
            "span": v == L.T @ beta,
            "values": g == L @ v,
        },
        variables={"beta": beta, "v": v, "g": g},
        parameters={"C": C},
        recover=lambda d: Point(beta=beta.value, b=0.0),
        printed=printed,
    )
