"""Document T: Yu and Kim, SVM Tutorial: Classification, Regression, and Ranking.

X (m, d) features, a factor of K for a nonlinear kernel; K (m, m) Gram matrix; y (m,)
labels or targets; A (p, m) one row for every i preferred to j, +1 at i and -1 at j; c
(p,) weights of C. Hard rows, whose weight is infinite, have no slack, and their
multipliers have no upper bound. The tutorial's classifiers are F(x) = w.x - b, so that
b is minus that of a canonical point; its regression functions are F(x) = w.x + b.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import (
    DeclarationValues,
    Symbols,
    cp,
    maximize,
    minimize,
)
from equimargin.formulations.documents.shared.point_maps import (
    MARGIN,
    MARGIN_WITH_BIAS,
    MULTIPLIERS,
    WITH_BIAS,
    WITH_SLACKS,
)
from equimargin.formulations.problem.construct import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    ranking,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.problem.point import OneNormPoint, Point

svm_hard = Family("svm.hard", problem=partial(classification, C=np.inf))
svm_soft = Family("svm.soft", problem=classification)
svr_hard = Family("svr.hard", problem=partial(regression, C=np.inf))
svr_l1 = Family("svr.l1", problem=regression)
svr_l2 = Family("svr.l2", problem=partial(regression, loss="squared_hinge"))
rank_hard = Family("rank.hard", problem=partial(ranking, C=np.inf))
rank_l1 = Family("rank.l1", problem=ranking)
rank_onenorm = Family("rank.onenorm", problem=one_norm_ranking)
rvm = Family("rvm", problem=ranking_vector_machine)
svm_onenorm = Family("svm.onenorm", problem=one_norm_classification)
svm_nobias_onenorm = Family(
    "svm.nobias_onenorm", problem=partial(one_norm_classification, bias=False)
)


# Section 2.1, the hard margin


@svm_hard.formulation(
    "primal",
    Source("T", "(6)-(7)"),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad y_i(w\cdot x_i - b) \ge 1",
    carries="function",
    to_canonical=WITH_BIAS["to_canonical"],
    from_canonical=lambda at, d: {"w": at.w, "b": -at.b},
)
def svm_hard_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2   s.t.  y_i (w.x_i - b) >= 1.

    The multiplier of `margin` is alpha >= 0 of (16).
    """
    w, b = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b")
    return minimize(cp.sum_squares(w) / 2, margin=cp.multiply(d.y, d.X @ w - b) >= 1)


@svm_hard.formulation(
    "dual",
    Source("T", "(16)-(18)"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad "
    r"y^\top\alpha = 0,\ \alpha \ge 0",
    **MULTIPLIERS,
)
def svm_hard_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  y'alpha = 0,  alpha >= 0.

    Unbounded exactly where the classes cannot be separated.
    """
    alpha = cp.Variable(d.p, "alpha")
    return maximize(
        cp.sum(alpha) - d.K.quad(cp.multiply(d.y, alpha)) / 2,
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
    )


@svm_hard.formulation(
    "margin",
    Source("T", "section 2.1, in words"),
    latex=r"\max_{u,b,t}\ t \quad\text{s.t.}\quad y_i(u\cdot x_i - b) \ge t,\ \|u\| \le 1",
    **MARGIN_WITH_BIAS,
)
def svm_hard_margin(d: Symbols) -> cp.Problem:
    """max  t   s.t.  y_i (u.x_i - b) >= t,  |u| <= 1.

    The margin t is 1 / |w|: the family's value is 1 / (2 t^2), w = u / t, and alpha =
    mu / t^2 for the multiplier mu of `margin`.
    """
    u, b, t = cp.Variable(d.X.shape[1], "u"), cp.Variable(name="b"), cp.Variable(name="t")
    return maximize(t, margin=cp.multiply(d.y, d.X @ u - b) >= t, ball=cp.norm(u, 2) <= 1)


def _misprinted_bias(v: DeclarationValues, d: Symbols) -> Point:
    alpha = v.multiplier("margin")
    support = int(np.argmax(np.where(d.y > 0, 0.0 if alpha is None else alpha, -np.inf)))
    return d.point(v["w"], -(1 - d.X[support] @ v["w"]), alpha)


@svm_hard.formulation(
    "bias.as_printed",
    Source("T", "(21) as printed, b = 1 - w.x_i"),
    latex=r"b^* = 1 - w^*\cdot x_i \quad\text{at a positive support vector } x_i",
    carries="function",
    control=True,
    to_canonical=_misprinted_bias,
    from_canonical=lambda at, d: {"w": at.w, "b": -at.b},
)
def svm_hard_bias_as_printed(d: Symbols) -> cp.Problem:
    """b = 1 - w.x_i   at a positive support vector, for the w of (6)-(7).

    A misprinted read-out of a solution, not a problem: F(x) = w.x - b is 1 at x_i for b
    = w.x_i - 1.
    """
    return svm_hard_primal(d)


# Section 2.2, the soft margin


@svm_soft.formulation(
    "primal",
    Source("T", "(23)-(25)"),
    Source("W", "SVM classifier with sigma = 1"),
    latex=r"\min_{w,b,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i \quad\text{s.t.}\quad y_i(w\cdot x_i - "
    r"b) \ge 1 - \xi_i,\ \xi_i \ge 0",
    in_features=True,
    **WITH_BIAS,
)
def svm_soft_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i xi_i   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of (26).
    """
    w, b, xi, C = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ xi),
        margin=cp.multiply(d.y, d.X @ w - b) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@svm_soft.formulation(
    "dual",
    Source("T", "(26)-(28) = (41)-(43), with the 1/2"),
    Source("T", "(38)"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad "
    r"y^\top\alpha = 0,\ 0 \le \alpha \le C",
    **MULTIPLIERS,
)
def svm_soft_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  y'alpha = 0,  0 <= alpha <= C.

    The multiplier of the equality `balance` is the tutorial's b, or -b.
    """
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    return maximize(
        cp.sum(alpha) - d.K.quad(cp.multiply(d.y, alpha)) / 2,
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= C * d.c[d.soft],
    )


@svm_soft.formulation(
    "dual.as_printed",
    Source("T", "(26)-(28) as printed, without the 1/2"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \alpha^\top YKY\alpha \quad\text{s.t.}\quad "
    r"y^\top\alpha = 0,\ 0 \le \alpha \le C",
    control=True,
    **MULTIPLIERS,
)
def svm_soft_dual_as_printed(d: Symbols) -> cp.Problem:
    """max  1'alpha - alpha'YKY alpha   s.t.  y'alpha = 0,  0 <= alpha <= C.

    A misprint: its optimum at C is half the right one at 2C.
    """
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    return maximize(
        cp.sum(alpha) - d.K.quad(cp.multiply(d.y, alpha)),
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= C * d.c[d.soft],
    )


# Section 3, regression: the rows are those above the tube, then those below


def _both_sides(v: DeclarationValues) -> Any:
    """Return the multipliers above and below the tube as one alpha, (2m,), or None."""
    above, below = v.multiplier("above"), v.multiplier("below")
    return None if above is None or below is None else np.concatenate([above, below])


TUBE: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], v["b"], _both_sides(v)),
    "from_canonical": lambda at, d: {
        "w": at.w,
        "b": at.b,
        "xi": at.xi[: d.m],
        "xihat": at.xi[d.m :],
    },
}
BOTH_MULTIPLIERS: dict[str, Any] = {
    "carries": "multipliers",
    "to_canonical": lambda v, d: Point(alpha=np.concatenate([v["alpha"], v["alphahat"]])),
    "from_canonical": lambda at, d: {"alpha": at.alpha[: d.m], "alphahat": at.alpha[d.m :]},
}


@svr_hard.formulation(
    "primal",
    Source("T", "(57)-(59)"),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad |y_i - w\cdot x_i - b| \le "
    r"\varepsilon",
    carries="function",
    to_canonical=TUBE["to_canonical"],
    from_canonical=lambda at, d: {"w": at.w, "b": at.b},
)
def svr_hard_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2   s.t.  y - Xw - b <= epsilon,  Xw + b - y <= epsilon.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of the dual.
    """
    w, b = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b")
    return minimize(
        cp.sum_squares(w) / 2,
        above=d.y - d.X @ w - b <= d.epsilon,
        below=d.X @ w + b - d.y <= d.epsilon,
    )


@svr_hard.formulation(
    "dual",
    Source("T", "(57)-(59), their dual"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - "
    r"\tfrac12\delta^\top K\delta"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ \alpha,\hat\alpha \ge 0,\quad \delta = "
    r"\alpha - \hat\alpha",
    **BOTH_MULTIPLIERS,
)
def svr_hard_dual(d: Symbols) -> cp.Problem:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta
    s.t.  1'delta = 0,  alpha, alphahat >= 0.

    delta = alpha - alphahat. Unbounded exactly where no function stays within the tube.
    """
    alpha, alphahat = cp.Variable(d.m, "alpha"), cp.Variable(d.m, "alphahat")
    delta = alpha - alphahat
    return maximize(
        d.y @ delta - d.epsilon * cp.sum(alpha + alphahat) - d.K.quad(delta) / 2,
        balance=cp.sum(delta) == 0,
        lower=alpha >= 0,
        lowerhat=alphahat >= 0,
    )


@svr_l2.formulation(
    "primal",
    Source("T", "(60)-(63) as printed"),
    latex=r"\min_{w,b,\xi,\hat\xi}\ \tfrac12\|w\|^2 + C\sum_i(\xi_i^2 + \hat\xi_i^2) "
    r"\quad\text{s.t.}\quad"
    r" -\varepsilon - \hat\xi_i \le y_i - w\cdot x_i - b \le \varepsilon + \xi_i,\ "
    r"\xi,\hat\xi \ge 0",
    in_features=True,
    **TUBE,
)
def svr_l2_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i (xi_i^2 + xihat_i^2)
    s.t.  y - Xw - b <= epsilon + xi,  Xw + b - y <= epsilon + xihat,  xi, xihat >= 0.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of the dual. xi,
    xihat >= 0 is redundant.
    """
    w, b, xi, xihat = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.m, "xi"),
        cp.Variable(d.m, "xihat"),
    )
    (c, chat), (hard, hardhat), C = np.split(d.c, 2), np.split(d.hard, 2), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (c @ cp.square(xi) + chat @ cp.square(xihat)),
        above=d.y - d.X @ w - b <= d.epsilon + xi,
        below=d.X @ w + b - d.y <= d.epsilon + xihat,
        slack=xi >= 0,
        slackhat=xihat >= 0,
        hard=xi[hard] == 0 if hard.any() else None,
        hardhat=xihat[hardhat] == 0 if hardhat.any() else None,
    )


@svr_l2.formulation(
    "dual",
    Source("T", "(60)-(63), their dual"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - "
    r"\tfrac12\delta^\top K\delta"
    r" - \tfrac1{4C}(\|\alpha\|^2 + \|\hat\alpha\|^2) \quad\text{s.t.}\quad 1^\top\delta = "
    r"0,\ \alpha,\hat\alpha \ge 0",
    **BOTH_MULTIPLIERS,
)
def svr_l2_dual(d: Symbols) -> cp.Problem:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta - |alpha,
    alphahat|^2/(4C)  s.t.  1'delta = 0,  alpha, alphahat >= 0.

    delta = alpha - alphahat. The multiplier of the equality `balance` is b or -b.
    """
    alpha, alphahat, inverse = (
        cp.Variable(d.m, "alpha"),
        cp.Variable(d.m, "alphahat"),
        d.parameter("1/C"),
    )
    delta, (r, rhat), (free, freehat) = (
        alpha - alphahat,
        np.split(d.inverse_root_c, 2),
        np.split(d.unweighted, 2),
    )
    ridge = cp.sum_squares(cp.multiply(r, alpha)) + cp.sum_squares(cp.multiply(rhat, alphahat))
    return maximize(
        d.y @ delta
        - d.epsilon * cp.sum(alpha + alphahat)
        - d.K.quad(delta) / 2
        - inverse / 4 * ridge,
        balance=cp.sum(delta) == 0,
        lower=alpha >= 0,
        lowerhat=alphahat >= 0,
        unweighted=alpha[free] == 0 if free.any() else None,
        unweightedhat=alphahat[freehat] == 0 if freehat.any() else None,
    )


@svr_l1.formulation(
    "primal",
    Source("T", "(64), its Lagrangian's primal"),
    latex=r"\min_{w,b,\xi,\hat\xi}\ \tfrac12\|w\|^2 + C\sum_i(\xi_i + \hat\xi_i) "
    r"\quad\text{s.t.}\quad"
    r" -\varepsilon - \hat\xi_i \le y_i - w\cdot x_i - b \le \varepsilon + \xi_i,\ "
    r"\xi,\hat\xi \ge 0",
    in_features=True,
    **TUBE,
)
def svr_l1_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i (xi_i + xihat_i)
    s.t.  y - Xw - b <= epsilon + xi,  Xw + b - y <= epsilon + xihat,  xi, xihat >= 0.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of (70).
    """
    w, b, xi, xihat = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.m, "xi"),
        cp.Variable(d.m, "xihat"),
    )
    (c, chat), (hard, hardhat), C = np.split(d.c, 2), np.split(d.hard, 2), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (c @ xi + chat @ xihat),
        above=d.y - d.X @ w - b <= d.epsilon + xi,
        below=d.X @ w + b - d.y <= d.epsilon + xihat,
        slack=xi >= 0,
        slackhat=xihat >= 0,
        hard=xi[hard] == 0 if hard.any() else None,
        hardhat=xihat[hardhat] == 0 if hardhat.any() else None,
    )


@svr_l1.formulation(
    "dual",
    Source("T", "(70)-(73) = (78)-(81)"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - "
    r"\tfrac12\delta^\top K\delta"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ 0 \le \alpha,\hat\alpha \le C,\quad \delta "
    r"= \alpha - \hat\alpha",
    **BOTH_MULTIPLIERS,
)
def svr_l1_dual(d: Symbols) -> cp.Problem:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta
    s.t.  1'delta = 0,  0 <= alpha, alphahat <= C.

    delta = alpha - alphahat. The multiplier of the equality `balance` is b or -b.
    """
    alpha, alphahat, C = cp.Variable(d.m, "alpha"), cp.Variable(d.m, "alphahat"), d.parameter("C")
    delta, (c, chat), (soft, softhat) = alpha - alphahat, np.split(d.c, 2), np.split(d.soft, 2)
    return maximize(
        d.y @ delta - d.epsilon * cp.sum(alpha + alphahat) - d.K.quad(delta) / 2,
        balance=cp.sum(delta) == 0,
        lower=alpha >= 0,
        lowerhat=alphahat >= 0,
        upper=alpha[soft] <= C * c[soft],
        upperhat=alphahat[softhat] <= C * chat[softhat],
    )


@svr_l1.formulation(
    "dual.as_printed",
    Source("T", "(70)-(73) as printed, (alpha_i - alphahat_i) twice"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - "
    r"\tfrac12\sum_i\delta_i^2 K_{ii}"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ 0 \le \alpha,\hat\alpha \le C,\quad \delta "
    r"= \alpha - \hat\alpha",
    control=True,
    **BOTH_MULTIPLIERS,
)
def svr_l1_dual_as_printed(d: Symbols) -> cp.Problem:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 sum_i delta_i^2 K_ii
    s.t.  1'delta = 0,  0 <= alpha, alphahat <= C.

    A misprint: the document has (alpha_i - alphahat_i)(alpha_i - alphahat_i) under a
    double sum, read here with j = i: with j running the form need not be concave,
    because row sums of K may be negative.
    """
    alpha, alphahat, C = cp.Variable(d.m, "alpha"), cp.Variable(d.m, "alphahat"), d.parameter("C")
    delta, (c, chat), (soft, softhat) = alpha - alphahat, np.split(d.c, 2), np.split(d.soft, 2)
    return maximize(
        d.y @ delta - d.epsilon * cp.sum(alpha + alphahat) - d.K.diagonal @ cp.square(delta) / 2,
        balance=cp.sum(delta) == 0,
        lower=alpha >= 0,
        lowerhat=alphahat >= 0,
        upper=alpha[soft] <= C * c[soft],
        upperhat=alphahat[softhat] <= C * chat[softhat],
    )


# Section 4, ranking


@rank_hard.formulation(
    "primal",
    Source("T", "(84)-(85) with xi = 0"),
    latex=r"\min_w\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1",
    carries="function",
    to_canonical=WITH_SLACKS["to_canonical"],
    from_canonical=lambda at, d: {"w": at.w},
)
def rank_hard_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2   s.t.  w.(phi_i - phi_j) >= 1   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    w = cp.Variable(d.X.shape[1], "w")
    return minimize(cp.sum_squares(w) / 2, margin=d.A @ (d.X @ w) >= 1)


@rank_hard.formulation(
    "dual",
    Source("T", "(84)-(85) with xi = 0, its dual"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\beta^\top K\beta \quad\text{s.t.}\quad \beta = "
    r"A^\top\alpha,\ \alpha \ge 0",
    **MULTIPLIERS,
)
def rank_hard_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 beta'K beta   s.t.  beta = A'alpha,  alpha >= 0.

    Unbounded exactly where no function ranks every pair.
    """
    alpha = cp.Variable(d.p, "alpha")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(cp.sum(alpha) - d.K.quad(beta) / 2, lower=alpha >= 0)


@rank_hard.formulation(
    "margin",
    Source("T", "Corollary 2"),
    latex=r"\max_{u,t}\ t \quad\text{s.t.}\quad u\cdot(\phi_i-\phi_j) \ge t,\ \|u\| \le 1",
    **MARGIN,
)
def rank_hard_margin(d: Symbols) -> cp.Problem:
    """max  t   s.t.  u.(phi_i - phi_j) >= t,  |u| <= 1.

    The margin t is 1 / |w|: the family's value is 1 / (2 t^2), w = u / t, and alpha =
    mu / t^2 for the multiplier mu of `margin`.
    """
    u, t = cp.Variable(d.X.shape[1], "u"), cp.Variable(name="t")
    return maximize(t, margin=d.A @ (d.X @ u) >= t, ball=cp.norm(u, 2) <= 1)


@rank_l1.formulation(
    "primal",
    Source("T", "(84)-(86)"),
    Source("K", "(1.2) = (3.11)"),
    Source("W", "both"),
    Source("O", "in words"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_{ij}\xi_{ij}"
    r" \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1 - \xi_{ij},\ \xi_{ij} \ge 0",
    in_features=True,
    **WITH_SLACKS,
)
def rank_l1_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_ij xi_ij
    s.t.  w.(phi_i - phi_j) >= 1 - xi_ij,  xi_ij >= 0   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of K (2.4).
    """
    w, xi, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(d.p, "xi"), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ xi),
        margin=d.A @ (d.X @ w) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@rank_l1.formulation(
    "dual",
    Source("K", "(2.4)"),
    Source("T", "(88)-(89), linear kernel, with the 1/2"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\beta^\top K\beta \quad\text{s.t.}\quad \beta = "
    r"A^\top\alpha,\ 0 \le \alpha \le C",
    **MULTIPLIERS,
)
def rank_l1_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= C.

    beta stands for A'alpha, so that Qhat = A K A', p x p, is never formed.
    """
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - d.K.quad(beta) / 2, lower=alpha >= 0, upper=alpha[d.soft] <= C * d.c[d.soft]
    )


@rank_l1.formulation(
    "dual.as_printed",
    Source("T", "(88)-(89) as printed, without the 1/2"),
    latex=r"\max_\alpha\ 1^\top\alpha - \beta^\top K\beta \quad\text{s.t.}\quad \beta = "
    r"A^\top\alpha,\ 0 \le \alpha \le C",
    control=True,
    **MULTIPLIERS,
)
def rank_l1_dual_as_printed(d: Symbols) -> cp.Problem:
    """max  1'alpha - beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= C.

    A misprint: its optimum at C is half the right one at 2C.
    """
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - d.K.quad(beta), lower=alpha >= 0, upper=alpha[d.soft] <= C * d.c[d.soft]
    )


# Section 5, one-norm ranking: linear programs in coefficients of pairs, and in
# coefficients of points. The misprint (101) is declared after (102), because the first
# formulation of a family defines its optimum.

ONE_NORM_MULTIPLIERS: dict[str, Any] = {
    "carries": "multipliers",
    "to_canonical": lambda v, d: OneNormPoint(x=v.multiplier("price"), u=v["u"]),
    "from_canonical": lambda at, d: {"u": at.u},
}


@rank_onenorm.formulation(
    "primal",
    Source("T", "(94)-(96), with phi_i - phi_j"),
    latex=r"\min_{\alpha,\xi}\ 1^\top\alpha + C\,1^\top\xi \quad\text{s.t.}\quad AKA^\top\alpha "
    r"\ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
    to_canonical=lambda v, d: OneNormPoint(x=v["alpha"], u=v.multiplier("margin")),
    from_canonical=lambda at, d: {"alpha": at.x, "xi": at.xi},
)
def rank_onenorm_primal(d: Symbols) -> cp.Problem:
    """min  1'alpha + C 1'xi
    s.t.  A g >= 1 - xi,  alpha >= 0,  xi >= 0,  g = K beta,  beta = A'alpha.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    alpha, xi, C = cp.Variable(d.p, "alpha"), cp.Variable(d.p, "xi"), d.parameter("C")
    beta = d.let("beta", d.A.T @ alpha)
    g = d.let("g", d.K @ beta)
    return minimize(
        cp.sum(alpha) + C * (d.c @ xi), margin=d.A @ g >= 1 - xi, sign=alpha >= 0, slack=xi >= 0
    )


@rank_onenorm.formulation(
    "dual",
    Source("T", "(94)-(96), its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad AKA^\top u \le 1,\ 0 \le u \le C",
    **ONE_NORM_MULTIPLIERS,
)
def rank_onenorm_dual(d: Symbols) -> cp.Problem:
    """max  1'u   s.t.  A g <= 1,  g = K v,  v = A'u,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of (94).
    """
    u, C = cp.Variable(d.p, "u"), d.parameter("C")
    v = d.let("v", d.A.T @ u)
    g = d.let("g", d.K @ v)
    return maximize(cp.sum(u), price=d.A @ g <= 1, lower=u >= 0, upper=u <= C * d.c)


@rvm.formulation(
    "primal",
    Source("T", "(102)-(104)"),
    Source("K", "(2.10)"),
    latex=r"\min_{\beta,\xi}\ 1^\top\beta + C\,1^\top\xi \quad\text{s.t.}\quad AK\beta \ge 1 - "
    r"\xi,\ \beta \ge 0,\ \xi \ge 0",
    carries="function",
    to_canonical=lambda v, d: OneNormPoint(x=v["beta"], u=v.multiplier("margin")),
    from_canonical=lambda at, d: {"beta": at.x, "xi": at.xi},
)
def rvm_primal(d: Symbols) -> cp.Problem:
    """min  1'beta + C 1'xi   s.t.  A g >= 1 - xi,  beta >= 0,  xi >= 0,  g = K beta.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    beta, xi, C = cp.Variable(d.m, "beta"), cp.Variable(d.p, "xi"), d.parameter("C")
    g = d.let("g", d.K @ beta)
    return minimize(
        cp.sum(beta) + C * (d.c @ xi), margin=d.A @ g >= 1 - xi, sign=beta >= 0, slack=xi >= 0
    )


@rvm.formulation(
    "dual",
    Source("T", "(102)-(104), its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad KA^\top u \le 1,\ 0 \le u \le C",
    **ONE_NORM_MULTIPLIERS,
)
def rvm_dual(d: Symbols) -> cp.Problem:
    """max  1'u   s.t.  K v <= 1,  v = A'u,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of (102), which is beta of K (2.10).
    """
    u, C = cp.Variable(d.p, "u"), d.parameter("C")
    v = d.let("v", d.A.T @ u)
    return maximize(cp.sum(u), price=d.K @ v <= 1, lower=u >= 0, upper=u <= C * d.c)


@rvm.formulation(
    "as_printed",
    Source("T", "(101) as printed, without the positive part"),
    latex=r"\min_\beta\ 1^\top\beta + C\sum_{ij}(1 - (AK\beta)_{ij}) \quad\text{s.t.}\quad \beta "
    r"\ge 0",
    carries="function",
    control=True,
    to_canonical=lambda v, d: OneNormPoint(x=v["beta"]),
    from_canonical=lambda at, d: {"beta": at.x},
)
def rvm_as_printed(d: Symbols) -> cp.Problem:
    """min  1'beta + C sum_ij (1 - (A g)_ij)   s.t.  beta >= 0,  g = K beta.

    A misprint: without the positive part a margin beyond 1 is rewarded, and the program
    is unbounded unless C K A'1 <= 1.
    """
    beta, C = cp.Variable(d.m, "beta"), d.parameter("C")
    g = d.let("g", d.K @ beta)
    return minimize(cp.sum(beta) + C * (d.c @ (1 - d.A @ g)), sign=beta >= 0)


# Section 5.1, one-norm classification, which the tutorial describes without a formula


@svm_onenorm.formulation(
    "primal",
    Source("T", "section 5.1 (no formula)"),
    latex=r"\min_{\alpha,b,\xi}\ 1^\top\alpha + C\,1^\top\xi"
    r"\quad\text{s.t.}\quad Y(KY\alpha + b1) \ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
    to_canonical=lambda v, d: OneNormPoint(x=v["alpha"], u=v.multiplier("margin"), b=float(v["b"])),
    from_canonical=lambda at, d: {"alpha": at.x, "b": at.b, "xi": at.xi},
)
def svm_onenorm_primal(d: Symbols) -> cp.Problem:
    """min  1'alpha + C 1'xi
    s.t.  Y (g + b 1) >= 1 - xi,  alpha >= 0,  xi >= 0,  g = K Y alpha.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    alpha, b, xi, C = (
        cp.Variable(d.p, "alpha"),
        cp.Variable(name="b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    g = d.let("g", d.K @ cp.multiply(d.y, alpha))
    return minimize(
        cp.sum(alpha) + C * (d.c @ xi),
        margin=cp.multiply(d.y, g + b) >= 1 - xi,
        sign=alpha >= 0,
        slack=xi >= 0,
    )


@svm_onenorm.formulation(
    "dual",
    Source("T", "section 5.1 (no formula), its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad YKYu \le 1,\ y^\top u = 0,\ 0 \le u \le C",
    **ONE_NORM_MULTIPLIERS,
)
def svm_onenorm_dual(d: Symbols) -> cp.Problem:
    """max  1'u   s.t.  Y K Y u <= 1,  y'u = 0,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of the primal, and that of `balance` is b up
    to its sign.
    """
    u, C = cp.Variable(d.p, "u"), d.parameter("C")
    prices = cp.multiply(d.y, d.K @ cp.multiply(d.y, u))
    return maximize(
        cp.sum(u), price=prices <= 1, balance=d.y @ u == 0, lower=u >= 0, upper=u <= C * d.c
    )


@svm_nobias_onenorm.formulation(
    "primal",
    Source("T", "section 5.1 (no formula) without b"),
    latex=r"\min_{\alpha,\xi}\ 1^\top\alpha + C\,1^\top\xi \quad\text{s.t.}\quad YKY\alpha \ge 1 "
    r"- \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
    to_canonical=lambda v, d: OneNormPoint(x=v["alpha"], u=v.multiplier("margin")),
    from_canonical=lambda at, d: {"alpha": at.x, "xi": at.xi},
)
def svm_nobias_onenorm_primal(d: Symbols) -> cp.Problem:
    """min  1'alpha + C 1'xi   s.t.  Y g >= 1 - xi,  alpha >= 0,  xi >= 0,  g = K Y alpha.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    alpha, xi, C = cp.Variable(d.p, "alpha"), cp.Variable(d.p, "xi"), d.parameter("C")
    g = d.let("g", d.K @ cp.multiply(d.y, alpha))
    return minimize(
        cp.sum(alpha) + C * (d.c @ xi),
        margin=cp.multiply(d.y, g) >= 1 - xi,
        sign=alpha >= 0,
        slack=xi >= 0,
    )


@svm_nobias_onenorm.formulation(
    "dual",
    Source("T", "section 5.1 (no formula) without b, its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad YKYu \le 1,\ 0 \le u \le C",
    **ONE_NORM_MULTIPLIERS,
)
def svm_nobias_onenorm_dual(d: Symbols) -> cp.Problem:
    """max  1'u   s.t.  Y K Y u <= 1,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of the primal.
    """
    u, C = cp.Variable(d.p, "u"), d.parameter("C")
    return maximize(
        cp.sum(u),
        price=cp.multiply(d.y, d.K @ cp.multiply(d.y, u)) <= 1,
        lower=u >= 0,
        upper=u <= C * d.c,
    )
