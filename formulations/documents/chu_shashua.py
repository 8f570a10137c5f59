"""Ordinal regression: a function, and thresholds between neighbouring levels.

A row (i, k) requires s_ik (f(x_i) - b_k) >= 1 - xi_ik, where s_ik is 1 if the level y_i
is above k, and -1 otherwise. Every point has a row for every threshold; optimal
thresholds are ordered without a constraint. The b_k of the documents is minus that of a
canonical point. X (m, d) features, a factor of K for a nonlinear kernel; y (m,) levels
in {0, ..., L - 1}; A (p, m) has s_ik at point i, and S (p, L - 1) at threshold k; c
(p,) weights of C. With two levels the problems are those of svm.soft, svm.l2 and
svm.hard.

References
----------
W. Chu, S. S. Keerthi, New approaches to support vector ordinal regression, ICML (2005).
A. Shashua, A. Levin, Ranking with large margin principle: two approaches, NIPS 15
(2003). R. Herbrich, T. Graepel, K. Obermayer (1999), section 1, thresholds in a figure.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import Symbols, cp, maximize, minimize
from equimargin.formulations.documents.shared.point_maps import MULTIPLIERS
from equimargin.formulations.problem.construct import ordinal
from equimargin.formulations.problem.point import Point

CHU = "Chu, Keerthi, New Approaches to Support Vector Ordinal Regression (2005)"
SHASHUA = Source(
    "Shashua 2003",
    "section 2",
    "Shashua, Levin, Ranking with Large Margin Principle: Two Approaches (2003)",
)

ord_implicit = Family("ord.implicit", Source("Chu 2005", "section 3", CHU), problem=ordinal)
ord_implicit_l2 = Family(
    "ord.implicit_l2",
    Source("Chu 2005", "section 3, with squared slacks", CHU),
    problem=partial(ordinal, loss="squared_hinge"),
)
ord_hard = Family("ord.hard", SHASHUA, problem=partial(ordinal, C=np.inf))

WITH_THRESHOLDS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], -v["b"], v.multiplier("margin")),
    "from_canonical": lambda at, d: {"w": at.w, "b": -np.atleast_1d(at.b), "xi": at.xi},
}
"""Maps between the variables w, b (T,), xi and canonical points."""
WITHOUT_SLACKS: dict[str, Any] = WITH_THRESHOLDS | {
    "from_canonical": lambda at, d: {"w": at.w, "b": -np.atleast_1d(at.b)}
}
"""Maps between the variables w, b (T,) and canonical points."""
OF_COEFFICIENTS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: Point(beta=v["beta"], b=d.bias(-v["b"])),
    "from_canonical": lambda at, d: {"beta": at.beta, "b": -np.atleast_1d(at.b)},
}
"""Maps between the variables beta, b (T,) and canonical points."""
CLASSIFICATION: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], v["b"]),
    "from_canonical": lambda at, d: {"w": at.w, "b": at.b},
}
"""Maps between the variables w, b of F(x) = w.x + b and canonical points."""
OF_RANKING: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.margin_problem.point_of_w(2 * v["w"]),
    "from_canonical": lambda at, d: {"w": at.w / 2},
}
"""Maps between the variable w of a hard ranking and canonical points.

Levels are at least 1 apart in the ranking, and 2 in the ordinal regression, whose
thresholds are then the best ones.
"""


def more_levels(d: Symbols) -> str | None:
    """Return why a problem of more than two levels is no classification, else None.

    Parameters
    ----------
    d : Symbols
        Symbols of an ordinal regression.

    Returns
    -------
    str or None
        Sentence, or None for two levels.
    """
    return f"there are {d.T + 1} levels, and classification has two" if d.T > 1 else None


def differences(d: Symbols) -> Any:
    """Return x_i - x_j for all pairs of points with y_i > y_j.

    Parameters
    ----------
    d : Symbols
        Symbols of an ordinal regression.

    Returns
    -------
    ndarray or sparse array of shape (p, q)
        Differences of features.
    """
    i, j = np.nonzero(np.subtract.outer(d.y, d.y) > 0)
    return d.X[i] - d.X[j]


def neighbours(d: Symbols) -> Any:
    """Return the rows (i, k) whose threshold k is next to the level of point i.

    Parameters
    ----------
    d : Symbols
        Symbols of an ordinal regression.

    Returns
    -------
    ndarray of int
        Indices of rows.
    """
    k = np.arange(d.p) // d.m
    y = np.tile(d.y, d.T)
    return np.flatnonzero((k == y - 1) | (k == y))


# Chu and Keerthi, section 3: every point has a row for every threshold.


@ord_implicit.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik}"
    r" \quad\text{s.t.}\quad s_{ik} (w \cdot x_i - b_k) \ge 1 - \xi_{ik},\ \xi \ge 0",
    in_features=True,
    **WITH_THRESHOLDS,
)
def ord_implicit_primal(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik
    s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of all points i and thresholds k.
    """
    w, b, xi, C = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(d.T, "b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ xi),
        margin=d.A @ (d.X @ w) - d.S @ b >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@ord_implicit.formulation(
    "dual",
    latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2"
    r" \quad\text{s.t.}\quad \sum_i s_{ik} a_{ik} = 0,\ 0 \le a \le C",
    **MULTIPLIERS,
)
def ord_implicit_dual(d: Symbols) -> cp.Problem:
    """max sum_ik alpha_ik - 1/2 beta'K beta
    s.t.   0 <= alpha <= C,  sum_i s_ik alpha_ik = 0 of every threshold k,
    beta = A'alpha.
    """
    alpha, C = cp.Variable(d.p, "alpha"), d.parameter("C")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - d.K.quad(beta) / 2,
        balance=d.S.T @ alpha == 0,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= C * d.c[d.soft],
    )


@ord_implicit.formulation(
    "beta",
    latex=r"\min \tfrac12 \beta^\top K\beta + C \sum_{ik} (1 - s_{ik} ((K\beta)_i - b_k))_+",
    **OF_COEFFICIENTS,
)
def ord_implicit_beta(d: Symbols) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+."""
    beta, b, C = cp.Variable(d.m, "beta"), cp.Variable(d.T, "b"), d.parameter("C")
    margins = d.A @ (d.K @ beta) - d.S @ b
    return minimize(
        d.K.quad(beta) / 2 + C * (d.c @ cp.pos(1 - margins)),
        hard=margins[d.hard] >= 1 if d.hard.any() else None,
    )


@ord_implicit.formulation(
    "two_levels",
    latex=r"\min \tfrac12 |w|^2 + C \sum_i (1 - y_i (w \cdot x_i + b))_+",
    applies=more_levels,
    in_features=True,
    **CLASSIFICATION,
)
def ord_implicit_two_levels(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+,
    svm.soft at the labels -1 and 1 of the levels 0 and 1, with b = -b_0.
    """
    w, b, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b"), d.parameter("C")
    margins = cp.multiply(2 * d.y - 1, d.X @ w + b)
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.pos(1 - margins)),
        hard=margins[d.hard] >= 1 if d.hard.any() else None,
    )


@ord_implicit_l2.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik}^2"
    r" \quad\text{s.t.}\quad s_{ik} (w \cdot x_i - b_k) \ge 1 - \xi_{ik},\ \xi \ge 0",
    in_features=True,
    **WITH_THRESHOLDS,
)
def ord_implicit_l2_primal(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik^2
    s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of all points i and thresholds k.
    """
    w, b, xi, C = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(d.T, "b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.square(xi)),
        margin=d.A @ (d.X @ w) - d.S @ b >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@ord_implicit_l2.formulation(
    "dual",
    latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2 - \tfrac1{4C} |a|^2"
    r" \quad\text{s.t.}\quad \sum_i s_{ik} a_{ik} = 0,\ a \ge 0",
    **MULTIPLIERS,
)
def ord_implicit_l2_dual(d: Symbols) -> cp.Problem:
    """max sum_ik alpha_ik - 1/2 beta'K beta - |alpha|^2 / (4C)
    s.t.   alpha >= 0, sum_i s_ik alpha_ik = 0 for all k,  beta = A'alpha.
    """
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/C")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - d.K.quad(beta) / 2 - inverse / 4 * (d.inverse_c @ cp.square(alpha)),
        balance=d.S.T @ alpha == 0,
        lower=alpha >= 0,
        unweighted=alpha[d.unweighted] == 0 if d.unweighted.any() else None,
    )


@ord_implicit_l2.formulation(
    "beta",
    latex=r"\min \tfrac12 \beta^\top K\beta + C \sum_{ik} (1 - s_{ik} ((K\beta)_i - b_k))_+^2",
    **OF_COEFFICIENTS,
)
def ord_implicit_l2_beta(d: Symbols) -> cp.Problem:
    """min 1/2 beta'K beta + C sum_ik (1 - s_ik ((K beta)_i - b_k))_+^2."""
    beta, b, C = cp.Variable(d.m, "beta"), cp.Variable(d.T, "b"), d.parameter("C")
    margins = d.A @ (d.K @ beta) - d.S @ b
    return minimize(
        d.K.quad(beta) / 2 + C * (d.c @ cp.square(cp.pos(1 - margins))),
        hard=margins[d.hard] >= 1 if d.hard.any() else None,
    )


@ord_implicit_l2.formulation(
    "two_levels",
    latex=r"\min \tfrac12 |w|^2 + C \sum_i (1 - y_i (w \cdot x_i + b))_+^2",
    applies=more_levels,
    in_features=True,
    **CLASSIFICATION,
)
def ord_implicit_l2_two_levels(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+^2,
    svm.l2 at the labels -1 and 1 of the levels 0 and 1, with b = -b_0.
    """
    w, b, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b"), d.parameter("C")
    margins = cp.multiply(2 * d.y - 1, d.X @ w + b)
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.square(cp.pos(1 - margins))),
        hard=margins[d.hard] >= 1 if d.hard.any() else None,
    )


# The hard margin of Shashua and Levin


@ord_hard.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 \quad\text{s.t.}\quad s_{ik} (w \cdot x_i - b_k) \ge 1",
    **WITHOUT_SLACKS,
)
def ord_hard_primal(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2   s.t.   s_ik (w.x_i - b_k) >= 1,  of all points i and thresholds k."""
    w, b = cp.Variable(d.X.shape[1], "w"), cp.Variable(d.T, "b")
    return minimize(cp.sum_squares(w) / 2, margin=d.A @ (d.X @ w) - d.S @ b >= 1)


@ord_hard.formulation(
    "neighbours",
    latex=r"\min \tfrac12 |w|^2 \quad\text{s.t.}\quad s_{ik} (w \cdot x_i - b_k) \ge 1,\ k \in "
    r"\{y_i - 1, y_i\},\ b_k \le b_{k+1}",
    carries="function",
    to_canonical=lambda v, d: d.point(v["w"], -v["b"]),
    from_canonical=WITHOUT_SLACKS["from_canonical"],
)
def ord_hard_neighbours(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2
    s.t.   s_ik (w.x_i - b_k) >= 1,  of k = y_i - 1 and y_i,  b_k <= b_{k+1}.
    """
    w, b, near = cp.Variable(d.X.shape[1], "w"), cp.Variable(d.T, "b"), neighbours(d)
    return minimize(
        cp.sum_squares(w) / 2,
        margin=d.A[near] @ (d.X @ w) - d.S[near] @ b >= 1,
        order=b[1:] >= b[:-1] if d.T > 1 else None,
    )


@ord_hard.formulation(
    "dual",
    latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2"
    r" \quad\text{s.t.}\quad \sum_i s_{ik} a_{ik} = 0,\ a \ge 0",
    **MULTIPLIERS,
)
def ord_hard_dual(d: Symbols) -> cp.Problem:
    """max sum_ik alpha_ik - 1/2 beta'K beta
    s.t.   alpha >= 0,  sum_i s_ik alpha_ik = 0 of every threshold k,   beta = A'alpha.
    """
    alpha = cp.Variable(d.p, "alpha")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - d.K.quad(beta) / 2, balance=d.S.T @ alpha == 0, lower=alpha >= 0
    )


@ord_hard.formulation(
    "rank_hard",
    latex=r"\min \tfrac12 |w|^2 \quad\text{s.t.}\quad w \cdot (x_i - x_j) \ge 1",
    value=lambda value, d: 4 * value,
    **OF_RANKING,
)
def ord_hard_rank_hard(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2   s.t.   w.(x_i - x_j) >= 1  of all y_i > y_j.

    It is rank.hard, times 4: twice its w has thresholds, with margins of 1.
    """
    w = cp.Variable(d.X.shape[1], "w")
    return minimize(cp.sum_squares(w) / 2, margin=differences(d) @ w >= 1)
