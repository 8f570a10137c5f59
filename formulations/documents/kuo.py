"""Document K: Kuo, Lee and Lin, Large-scale Kernel RankSVM.

A (p, m) one row for every i preferred to j, +1 at i and -1 at j; K (m, m) Gram matrix,
Q in the document; X (m, d) features, a factor of K for a nonlinear kernel; c (p,)
weights of C; y (m,) labels of section 2.1, where the classifier has no b.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations.declarations.declaration import FormulaValue
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
    COEFFICIENTS,
    MARGIN,
    MULTIPLIERS,
    WITH_SLACKS,
)
from equimargin.formulations.documents.shared.subsets import declared_subsets, has_every_subset
from equimargin.formulations.documents.yu_kim import rank_l1
from equimargin.formulations.numeric.arrays import dense
from equimargin.formulations.problem.construct import classification, ranking
from equimargin.formulations.problem.point import Point

nobias = Family("svm.nobias", problem=partial(classification, bias=False))
nobias_hard = Family("svm.nobias_hard", problem=partial(classification, C=np.inf, bias=False))
nobias_l2 = Family(
    "svm.nobias_l2", problem=partial(classification, loss="squared_hinge", bias=False)
)
rank_l2 = Family("rank.l2", problem=partial(ranking, loss="squared_hinge"))


# Section 1, ranking with squared slacks


@rank_l2.formulation(
    "primal",
    Source("K", "section 1, with xi squared"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_{ij}\xi_{ij}^2"
    r" \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1 - \xi_{ij},\ \xi_{ij} \ge 0",
    in_features=True,
    **WITH_SLACKS,
)
def l2_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_ij xi_ij^2
    s.t.  w.(phi_i - phi_j) >= 1 - xi_ij,  xi_ij >= 0   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    w, xi, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(d.p, "xi"), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.square(xi)),
        margin=d.A @ (d.X @ w) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@rank_l2.formulation(
    "dual",
    Source("K", "section 1, with xi squared, its dual"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\alpha^\top(\hat Q + \tfrac1{2C}I)\alpha "
    r"\quad\text{s.t.}\quad \alpha \ge 0",
    **MULTIPLIERS,
)
def l2_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 beta'K beta - |alpha|^2/(4C)   s.t.  beta = A'alpha,  alpha >= 0."""
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/C")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha)
        - d.K.quad(beta) / 2
        - inverse / 4 * cp.sum_squares(cp.multiply(d.inverse_root_c, alpha)),
        lower=alpha >= 0,
        unweighted=alpha[d.unweighted] == 0 if d.unweighted.any() else None,
    )


# Section 2.1, classification without b


@nobias.formulation(
    "primal",
    Source("K", "(2.3)"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i \quad\text{s.t.}\quad y_i\,w\cdot\phi_i "
    r"\ge 1 - \xi_i,\ \xi_i \ge 0",
    in_features=True,
    **WITH_SLACKS,
)
def nobias_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i xi_i   s.t.  y_i w.phi_i >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the box dual.
    """
    w, xi, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(d.p, "xi"), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ xi),
        margin=cp.multiply(d.y, d.X @ w) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@nobias.formulation(
    "dual",
    Source("K", "(2.3), its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad 0 "
    r"\le \alpha \le C",
    **MULTIPLIERS,
)
def nobias_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  0 <= alpha <= C."""
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    return maximize(
        cp.sum(alpha) - d.K.quad(cp.multiply(d.y, alpha)) / 2,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= C * d.c[d.soft],
    )


@nobias_hard.formulation(
    "primal",
    Source("K", "(2.3) with xi = 0"),
    latex=r"\min_w\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad y_i\,w\cdot\phi_i \ge 1",
    carries="function",
    to_canonical=WITH_SLACKS["to_canonical"],
    from_canonical=lambda at, d: {"w": at.w},
)
def nobias_hard_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2   s.t.  y_i w.phi_i >= 1.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    w = cp.Variable(d.X.shape[1], "w")
    return minimize(cp.sum_squares(w) / 2, margin=cp.multiply(d.y, d.X @ w) >= 1)


@nobias_hard.formulation(
    "dual",
    Source("K", "(2.3) with xi = 0, its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad "
    r"\alpha \ge 0",
    **MULTIPLIERS,
)
def nobias_hard_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  alpha >= 0.

    Unbounded exactly where no hyperplane through the origin separates the classes.
    """
    alpha = cp.Variable(d.p, "alpha")
    return maximize(cp.sum(alpha) - d.K.quad(cp.multiply(d.y, alpha)) / 2, lower=alpha >= 0)


@nobias_hard.formulation(
    "margin",
    Source("K", "(2.3) with xi = 0, as a margin"),
    latex=r"\max_{u,t}\ t \quad\text{s.t.}\quad y_i\,u\cdot\phi_i \ge t,\ \|u\| \le 1",
    **MARGIN,
)
def nobias_hard_margin(d: Symbols) -> cp.Problem:
    """max  t   s.t.  y_i u.phi_i >= t,  |u| <= 1.

    The margin t is 1 / |w|: the family's value is 1 / (2 t^2), w = u / t, and alpha =
    mu / t^2 for the multiplier mu of `margin`.
    """
    u, t = cp.Variable(d.X.shape[1], "u"), cp.Variable(name="t")
    return maximize(t, margin=cp.multiply(d.y, d.X @ u) >= t, ball=cp.norm(u, 2) <= 1)


@nobias_l2.formulation(
    "primal",
    Source("K", "(2.3) with squared slacks"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i^2 \quad\text{s.t.}\quad "
    r"y_i\,w\cdot\phi_i \ge 1 - \xi_i,\ \xi_i \ge 0",
    in_features=True,
    **WITH_SLACKS,
)
def nobias_l2_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i xi_i^2   s.t.  y_i w.phi_i >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    w, xi, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(d.p, "xi"), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.square(xi)),
        margin=cp.multiply(d.y, d.X @ w) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@nobias_l2.formulation(
    "dual",
    Source("K", "(2.3) with squared slacks, its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top(YKY + \tfrac1{2C}I)\alpha "
    r"\quad\text{s.t.}\quad \alpha \ge 0",
    **MULTIPLIERS,
)
def nobias_l2_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'(YKY + I/(2C)) alpha   s.t.  alpha >= 0."""
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/C")
    return maximize(
        cp.sum(alpha)
        - d.K.quad(cp.multiply(d.y, alpha)) / 2
        - inverse / 4 * cp.sum_squares(cp.multiply(d.inverse_root_c, alpha)),
        lower=alpha >= 0,
        unweighted=alpha[d.unweighted] == 0 if d.unweighted.any() else None,
    )


# Section 2.2, the 1-slack form


def _printed_oneslack(v: Mapping[str, Any], d: Symbols) -> FormulaValue:
    """Evaluate all 2^p constraints by the most violated one: c_ij = 1 if 1 - w.phi_ij > 0."""
    weight = d.problem.unit_weights
    largest = np.maximum(weight - weight * (d.A @ (d.X @ v["w"])), 0.0).sum()
    return FormulaValue(
        v["w"] @ v["w"] / 2 + v.get("C", d.C) * v["xi"], {"subset": largest - v["xi"]}
    )


def _of_subsets(v: DeclarationValues, d: Symbols) -> Point:
    """Return the point of w and alpha_r = weight_r sum_c mu_c c_r."""
    mu = v.multiplier("subset")
    return d.point(
        v["w"],
        alpha=None
        if mu is None
        else d.problem.unit_weights * (declared_subsets(d.margin_problem).T @ mu),
    )


@rank_l1.formulation(
    "oneslack",
    Source("K", "(2.8)"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\xi"
    r" \quad\text{s.t.}\quad w\cdot\sum_{ij}c_{ij}(\phi_i-\phi_j) \ge \sum_{ij}c_{ij} - "
    r"\xi,\ c\in\{0,1\}^p",
    carries="function",
    applies=lambda d: "the 1-slack form has no hard rows" if d.hard.any() else None,
    to_canonical=_of_subsets,
    from_canonical=lambda at, d: {"w": at.w, "xi": d.problem.unit_weights @ at.xi},
    printed=_printed_oneslack,
    id="rank.oneslack",
)
def oneslack(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C xi
    s.t.  w.sum_ij c_ij (phi_i - phi_j) >= sum_ij c_ij - xi   for every c in {0,1}^p.

    Up to ALL_SUBSETS pairs the form has every subset c. For more pairs it has the
    subsets that its own solutions violate most, added one by one until none is violated
    by more than CUT_TOLERANCE. These subsets belong to one value of C, so that C is no
    parameter of the form: another C needs another declaration. If mu >= 0 is the
    multiplier of `subset`, then alpha = sum_c mu_c c.
    """
    w, xi = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="xi")
    C = d.parameter("C") if has_every_subset(d.margin_problem) else d.C
    c, weight = declared_subsets(d.margin_problem), d.problem.unit_weights
    return minimize(
        cp.sum_squares(w) / 2 + C * xi,
        subset=(c @ (dense(d.A @ d.X) * weight[:, None])) @ w >= c @ weight - xi,
    )


# Section 3: the variables are free coefficients, beta of points or betahat of pairs.


@rank_l1.formulation(
    "beta",
    Source("K", "(3.12), by (2.9)"),
    Source("T", "Theorem 1, (97)-(98)"),
    latex=r"\min_\beta\ \tfrac12\beta^\top K\beta + C\,1^\top(1 - AK\beta)_+",
    **COEFFICIENTS,
)
def l1_beta(d: Symbols) -> cp.Problem:
    """min  1/2 beta'K beta + C 1'(1 - A g)_+   s.t.  g = K beta,  beta free.

    No multipliers of the rows: the point has f only.
    """
    beta, C = cp.Variable(d.m, "beta"), d.parameter("C")
    g = d.let("g", d.K @ beta)
    return minimize(
        d.K.quad(beta) / 2 + C * (d.c @ cp.pos(1 - d.A @ g)),
        hard=(d.A @ g)[d.hard] >= 1 if d.hard.any() else None,
    )


@rank_l2.formulation(
    "beta",
    Source("K", "(3.13)"),
    latex=r"\min_\beta\ \tfrac12\beta^\top K\beta + C\|(1 - AK\beta)_+\|^2",
    **COEFFICIENTS,
)
def l2_beta(d: Symbols) -> cp.Problem:
    """min  1/2 beta'K beta + C |(1 - A g)_+|^2   s.t.  g = K beta,  beta free.

    No multipliers of the rows: the point has f only.
    """
    beta, C = cp.Variable(d.m, "beta"), d.parameter("C")
    g = d.let("g", d.K @ beta)
    loss = d.c @ cp.square(cp.pos(1 - d.A @ g))
    return minimize(
        d.K.quad(beta) / 2 + C * loss, hard=(d.A @ g)[d.hard] >= 1 if d.hard.any() else None
    )


@nobias.formulation(
    "beta",
    Source("K", "(3.14)"),
    latex=r"\min_{\bar\beta}\ \tfrac12\bar\beta^\top\bar Q\bar\beta + C\sum_i(1 - (\bar "
    r"Q\bar\beta)_i)_+,\quad \bar Q = YKY",
    carries="function",
    to_canonical=lambda v, d: Point(beta=d.y * v["betabar"], b=0.0),
    from_canonical=lambda at, d: {"betabar": d.y * at.beta},
)
def nobias_beta(d: Symbols) -> cp.Problem:
    """min  1/2 betabar'Qbar betabar + C 1'(1 - Qbar betabar)_+,   Qbar = YKY,  betabar free.

    No multipliers: the point has f only.
    """
    betabar, C = cp.Variable(d.m, "betabar"), d.parameter("C")
    beta = cp.multiply(d.y, betabar)
    margins = cp.multiply(d.y, d.K @ beta)
    return minimize(
        d.K.quad(beta) / 2 + C * (d.c @ cp.pos(1 - margins)),
        hard=margins[d.hard] >= 1 if d.hard.any() else None,
    )


@nobias_hard.formulation(
    "beta",
    Source("K", "(3.14) with xi = 0"),
    latex=r"\min_{\bar\beta}\ \tfrac12\bar\beta^\top\bar Q\bar\beta \quad\text{s.t.}\quad \bar "
    r"Q\bar\beta \ge 1,\quad \bar Q = YKY",
    carries="function",
    to_canonical=lambda v, d: Point(beta=d.y * v["betabar"], b=0.0, alpha=v.multiplier("margin")),
    from_canonical=lambda at, d: {"betabar": d.y * at.beta},
)
def nobias_hard_beta(d: Symbols) -> cp.Problem:
    """min  1/2 betabar'Qbar betabar   s.t.  Qbar betabar >= 1,   Qbar = YKY,  betabar free.

    The multiplier of `margin` is alpha.
    """
    betabar = cp.Variable(d.m, "betabar")
    beta = cp.multiply(d.y, betabar)
    return minimize(d.K.quad(beta) / 2, margin=cp.multiply(d.y, d.K @ beta) >= 1)


@rank_l1.formulation(
    "betahat",
    Source("K", "(3.15), by (3.16)"),
    latex=r"\min_{\hat\beta}\ \tfrac12\hat\beta^\top\hat Q\hat\beta + C\,1^\top(1 - \hat "
    r"Q\hat\beta)_+,\quad \hat Q = AKA^\top",
    carries="multipliers",
    to_canonical=lambda v, d: Point(beta=d.A.T @ v["betahat"], b=0.0),
    from_canonical=lambda at, d: {"betahat": at.alpha},
)
def l1_betahat(d: Symbols) -> cp.Problem:
    """min  1/2 betahat'Qhat betahat + C 1'(1 - Qhat betahat)_+,   Qhat = A K A',
    betahat free, one number a pair.

    Any optimal alpha of (2.4) is optimal here (Appendix A), not the other way round:
    the point has f = A'betahat only.
    """
    betahat, C = cp.Variable(d.p, "betahat"), d.parameter("C")
    beta = d.let("beta", d.A.T @ betahat)
    g = d.let("g", d.K @ beta)
    return minimize(
        d.K.quad(beta) / 2 + C * (d.c @ cp.pos(1 - d.A @ g)),
        hard=(d.A @ g)[d.hard] >= 1 if d.hard.any() else None,
    )


# Appendix B, the value of (3.13)


def _value_as_printed(v: Mapping[str, Any], d: Symbols) -> FormulaValue:
    g = d.problem.gram.dense @ v["beta"]
    margins = (d.A @ g)[d.A @ g < 1]
    return FormulaValue(v["beta"] @ g / 2 + v["C"] * margins @ (margins - 2) + len(margins))


@rank_l2.formulation(
    "value.as_printed",
    Source("K", "(B.1) as printed, + p_beta without C"),
    latex=r"\tfrac12\beta^\top Q\beta"
    r" + C(A_\beta Q\beta)^\top(A_\beta Q\beta - 2e_\beta) + p_\beta",
    control=True,
    printed=_value_as_printed,
    **COEFFICIENTS,
)
def l2_value_as_printed(d: Symbols) -> cp.Problem:
    """1/2 beta'K beta + C (A_beta g)'(A_beta g - 2e) + p_beta
    at the beta that (3.13) gives;  A_beta : the rows with (A g)_r < 1.

    A misprinted read-out of a solution, not a problem: the last term is C p_beta. Equal
    to the right one at C = 1 only.
    """
    return l2_beta(d)
