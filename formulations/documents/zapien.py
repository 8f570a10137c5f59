"""Document P: Zapien et al., Model Selection for Ranking SVM Using Regularization Path.

A, which is P in the document, has one row for every i preferred to j, +1 at i and -1 at
j; c (p,) weights. Objectives and multipliers are C times smaller than the family's, and
the objective of the path C^2 times. In the document lambda is 1/C, and 1/(2C) in (5).
Classification and regression at lambda are T's problems in this scale.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import (
    DeclarationValues,
    Symbols,
    cp,
    maximize,
    minimize,
    reciprocal,
)
from equimargin.formulations.documents.yu_kim import rank_l1, svm_soft, svr_l1
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


# Classification and regression at lambda = 1/C, whose paths follow (8) as well: a
# balance of the multipliers holds at every lambda


@svm_soft.formulation(
    "lambda.primal",
    Source("P", "(6), of T (23)-(25)"),
    latex=r"\min_{w,b,\zeta}\ 1^\top\zeta + \tfrac\lambda2\|w\|^2 \quad\text{s.t.}\quad "
    r"y_i(w\cdot x_i - b) \ge 1 - \zeta_i,\ \zeta \ge 0",
    carries="function",
    value=lambda v, d: v * d.C,
    to_canonical=lambda v, d: d.point(v["w"], -v["b"], v.multiplier("margin", d.C)),
    from_canonical=lambda at, d: {"w": at.w, "b": -at.b, "zeta": at.xi},
)
def soft_lambda_primal(d: Symbols) -> cp.Problem:
    """min  1'zeta + lambda/2 |w|^2
    s.t.  y_i (w.x_i - b) >= 1 - zeta_i,  zeta_i >= 0;   lambda = 1/C.

    The multiplier of `margin` is alpha of the dual, in [0, 1]; the family's is alpha /
    lambda.
    """
    w, b, zeta, lam = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.p, "zeta"),
        d.parameter("lambda"),
    )
    return minimize(
        d.c @ zeta + lam / 2 * cp.sum_squares(w),
        margin=cp.multiply(d.y, d.X @ w - b) >= 1 - zeta,
        slack=zeta >= 0,
        hard=d.no_slack(zeta),
    )


@svm_soft.formulation(
    "lambda.dual",
    Source("P", "(8), of T (26)-(28)"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac1{2\lambda}\alpha^\top YKY\alpha "
    r"\quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le 1",
    value=lambda v, d: v * d.C,
    **UNIT_MULTIPLIERS,
)
def soft_lambda_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/(2 lambda) alpha'YKY alpha
    s.t.  y'alpha = 0,  0 <= alpha <= 1;   lambda = 1/C.

    The family's alpha is alpha / lambda.
    """
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/lambda")
    return maximize(
        cp.sum(alpha) - inverse * d.K.quad(cp.multiply(d.y, alpha)) / 2,
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= d.c[d.soft],
    )


def _both_sides(v: DeclarationValues, d: Symbols) -> Any:
    """Return the family's multipliers of both sides of the tube; None without any."""
    above, below = v.multiplier("above", d.C), v.multiplier("below", d.C)
    return None if above is None or below is None else np.concatenate([above, below])


@svr_l1.formulation(
    "lambda.primal",
    Source("P", "(6), of T (64)"),
    latex=r"\min_{w,b,\zeta,\hat\zeta}\ 1^\top(\zeta + \hat\zeta) + \tfrac\lambda2\|w\|^2 "
    r"\quad\text{s.t.}\quad -\varepsilon - \hat\zeta_i \le y_i - w\cdot x_i - b \le "
    r"\varepsilon + \zeta_i,\ \zeta,\hat\zeta \ge 0",
    carries="function",
    value=lambda v, d: v * d.C,
    to_canonical=lambda v, d: d.point(v["w"], v["b"], _both_sides(v, d)),
    from_canonical=lambda at, d: {
        "w": at.w,
        "b": at.b,
        "zeta": at.xi[: d.m],
        "zetahat": at.xi[d.m :],
    },
)
def svr_lambda_primal(d: Symbols) -> cp.Problem:
    """min  1'(zeta + zetahat) + lambda/2 |w|^2
    s.t.  y - Xw - b <= epsilon + zeta,  Xw + b - y <= epsilon + zetahat,
    zeta, zetahat >= 0;   lambda = 1/C.

    The multipliers of `above` and `below` are alpha and alphahat of the dual, in [0, 1];
    the family's are C times them.
    """
    w, b, zeta, zetahat, lam = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.m, "zeta"),
        cp.Variable(d.m, "zetahat"),
        d.parameter("lambda"),
    )
    (c, chat), (hard, hardhat) = np.split(d.c, 2), np.split(d.hard, 2)
    return minimize(
        c @ zeta + chat @ zetahat + lam / 2 * cp.sum_squares(w),
        above=d.y - d.X @ w - b <= d.epsilon + zeta,
        below=d.X @ w + b - d.y <= d.epsilon + zetahat,
        slack=zeta >= 0,
        slackhat=zetahat >= 0,
        hard=zeta[hard] == 0 if hard.any() else None,
        hardhat=zetahat[hardhat] == 0 if hardhat.any() else None,
    )


@svr_l1.formulation(
    "lambda.dual",
    Source("P", "(8), of T (70)-(73)"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - "
    r"\tfrac1{2\lambda}\delta^\top K\delta"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ 0 \le \alpha,\hat\alpha \le 1,\quad \delta "
    r"= \alpha - \hat\alpha",
    carries="multipliers",
    value=lambda v, d: v * d.C,
    to_canonical=lambda v, d: Point(alpha=np.concatenate([v["alpha"], v["alphahat"]]) * d.C),
    from_canonical=lambda at, d: {
        "alpha": at.alpha[: d.m] / d.C,
        "alphahat": at.alpha[d.m :] / d.C,
    },
)
def svr_lambda_dual(d: Symbols) -> cp.Problem:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/(2 lambda) delta'K delta
    s.t.  1'delta = 0,  0 <= alpha, alphahat <= 1;   lambda = 1/C.

    delta = alpha - alphahat. The family's multipliers are C times these.
    """
    alpha, alphahat, inverse = (
        cp.Variable(d.m, "alpha"),
        cp.Variable(d.m, "alphahat"),
        d.parameter("1/lambda"),
    )
    delta, (c, chat), (soft, softhat) = alpha - alphahat, np.split(d.c, 2), np.split(d.soft, 2)
    return maximize(
        d.y @ delta - d.epsilon * cp.sum(alpha + alphahat) - inverse * d.K.quad(delta) / 2,
        balance=cp.sum(delta) == 0,
        lower=alpha >= 0,
        lowerhat=alphahat >= 0,
        upper=alpha[soft] <= c[soft],
        upperhat=alphahat[softhat] <= chat[softhat],
    )
