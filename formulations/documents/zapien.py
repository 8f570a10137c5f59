"""Document P: Zapien et al., Model Selection for Ranking SVM Using Regularization Path.

A, which is P in the document, has one row for every i preferred to j, +1 at i and -1 at
j; c (p,) weights. Objectives and multipliers are C times smaller than the family's, and
the objective of the path C^2 times. In the document lambda is 1/C, and 1/(2C) in (5).
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from typing import Any

from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import Symbols, cp, maximize, minimize, reciprocal
from equimargin.formulations.documents.yu_kim import rank_l1
from equimargin.formulations.problem.point import Point

FUNCTION: dict[str, Any] = {
    "carries": "function",
    "value": lambda v, d: v * d.C,
    "to_canonical": lambda v, d: d.point(v["f"], alpha=v.multiplier("margin", d.C)),
    "from_canonical": lambda at, d: {"f": at.w, "zeta": at.xi},
}
UNIT_MULTIPLIERS: dict[str, Any] = {
    "carries": "multipliers",
    "to_canonical": lambda v, d: Point(alpha=v["alpha"] * d.C),
    "from_canonical": lambda at, d: {"alpha": at.alpha / d.C},
}


@rank_l1.formulation(
    "lambda.function",
    Source("P", "(5), preferred first"),
    latex=r"\min_{f\in\mathcal H,\zeta}\ 1^\top\zeta + \lambda\|f\|^2"
    r" \quad\text{s.t.}\quad f(x_i) - f(x_j) \ge 1 - \zeta_{ij},\ \zeta \ge 0",
    id="rank.lambda.function",
    **FUNCTION,
)
def lambda_function(d: Symbols) -> cp.Problem:
    """min  1'zeta + lambda |f|^2
    s.t.  f(x_i) - f(x_j) >= 1 - zeta_ij,  zeta >= 0;   lambda = 1/(2C).

    f is w in an orthonormal basis. The multiplier of `margin` is alpha of (8), in [0,
    1]; the family's is C times it.
    """
    f, zeta, lam = (
        cp.Variable(d.X.shape[1], "f"),
        cp.Variable(d.p, "zeta"),
        d.parameter("lambda", lambda C: reciprocal(2 * C)),
    )
    return minimize(
        d.c @ zeta + lam * cp.sum_squares(f),
        margin=d.A @ (d.X @ f) >= 1 - zeta,
        slack=zeta >= 0,
        hard=d.no_slack(zeta),
    )


@rank_l1.formulation(
    "lambda.function.as_lambda_half",
    Source("P", "(5) at the lambda of (6)"),
    latex=r"\min_{f\in\mathcal H,\zeta}\ 1^\top\zeta + \lambda\|f\|^2"
    r" \quad\text{s.t.}\quad f(x_i) - f(x_j) \ge 1 - \zeta_{ij},\ \zeta \ge 0,\quad \lambda = 1/C",
    control=True,
    id="rank.lambda.function.as_lambda_half",
    **FUNCTION,
)
def lambda_function_as_lambda_half(d: Symbols) -> cp.Problem:
    """min  1'zeta + lambda |f|^2
    s.t.  f(x_i) - f(x_j) >= 1 - zeta_ij,  zeta >= 0;   lambda = 1/C.

    A misprint: (5) has lambda |f|^2 where (6) has lambda/2 beta'K beta, and the
    document takes them for the same problem.
    """
    f, zeta, lam = cp.Variable(d.X.shape[1], "f"), cp.Variable(d.p, "zeta"), d.parameter("lambda")
    return minimize(
        d.c @ zeta + lam * cp.sum_squares(f),
        margin=d.A @ (d.X @ f) >= 1 - zeta,
        slack=zeta >= 0,
        hard=d.no_slack(zeta),
    )


@rank_l1.formulation(
    "lambda.primal",
    Source("P", "(6)"),
    latex=r"\min_{\beta,\zeta}\ 1^\top\zeta + \tfrac\lambda2\beta^\top K\beta "
    r"\quad\text{s.t.}\quad PK\beta \ge 1 - \zeta,\ \zeta \ge 0",
    carries="function",
    value=lambda v, d: v * d.C,
    to_canonical=lambda v, d: Point(beta=v["beta"], b=0.0, alpha=v.multiplier("margin", d.C)),
    from_canonical=lambda at, d: {"beta": at.beta, "zeta": at.xi},
    id="rank.lambda.primal",
)
def lambda_primal(d: Symbols) -> cp.Problem:
    """min  1'zeta + lambda/2 beta'K beta
    s.t.  A g >= 1 - zeta,  zeta >= 0,  g = K beta;   lambda = 1/C.

    The multiplier of `margin` is alpha of (8), in [0, 1]; the family's is alpha /
    lambda.
    """
    beta, zeta, lam = cp.Variable(d.m, "beta"), cp.Variable(d.p, "zeta"), d.parameter("lambda")
    g = d.let("g", d.K @ beta)
    return minimize(
        d.c @ zeta + lam / 2 * d.K.quad(beta),
        margin=d.A @ g >= 1 - zeta,
        slack=zeta >= 0,
        hard=d.no_slack(zeta),
    )


@rank_l1.formulation(
    "lambda.dual",
    Source("P", "(8)"),
    latex=r"\max_\alpha\ \alpha^\top 1 - \tfrac1{2\lambda}\alpha^\top PKP^\top\alpha "
    r"\quad\text{s.t.}\quad 0 \le \alpha \le 1",
    value=lambda v, d: v * d.C,
    id="rank.lambda.dual",
    **UNIT_MULTIPLIERS,
)
def lambda_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/(2 lambda) beta'K beta
    s.t.  beta = A'alpha,  0 <= alpha <= 1;   lambda = 1/C.

    The family's alpha is alpha / lambda.
    """
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/lambda")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - inverse * d.K.quad(beta) / 2,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= d.c[d.soft],
    )


@rank_l1.formulation(
    "path",
    Source("P", "section 5, (8) for all lambda"),
    latex=r"\max_{\alpha(\lambda)}\ \lambda\,\alpha^\top 1 - \tfrac12\alpha^\top PKP^\top\alpha"
    r" \quad\text{s.t.}\quad 0 \le \alpha \le 1,\quad \lambda > 0",
    value=lambda v, d: v * d.C * d.C,
    id="rank.path",
    **UNIT_MULTIPLIERS,
)
def path(d: Symbols) -> cp.Problem:
    """max  lambda 1'alpha - 1/2 beta'K beta
    s.t.  beta = A'alpha,  0 <= alpha <= 1;   for all lambda = 1/C > 0.

    (8) times lambda: a quadratic program whose parameter is in its linear term only, so
    that alpha(lambda), chosen well, and lambda f = K beta are piecewise linear in
    lambda, and f is affine in 1/lambda from one breakpoint to the next. Declared at one
    lambda; `regularization_path` has them all. The family's alpha is alpha / lambda.
    """
    alpha, lam = cp.Variable(d.p, "alpha"), d.parameter("lambda")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        lam * cp.sum(alpha) - d.K.quad(beta) / 2,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= d.c[d.soft],
    )
