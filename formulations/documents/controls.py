"""Negative controls: problems that resemble published ones and have other optima.

Each is registered as a control in the family that it resembles: the referee must find
that it disagrees. Data at which the optima differ are in `links/counterexamples.py`.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

import numpy as np

from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import Symbols, cp, maximize, minimize
from equimargin.formulations.documents.chu_shashua import (
    OF_RANKING,
    differences,
    neighbours,
    ord_hard,
    ord_hard_rank_hard,
    ord_implicit,
    ord_implicit_l2,
)
from equimargin.formulations.documents.shared.point_maps import MULTIPLIERS, WITH_BIAS
from equimargin.formulations.documents.shared.reduced_graph import reduced_preferences
from equimargin.formulations.documents.yu_kim import (
    rank_l1,
    rank_onenorm,
    rvm,
    svm_onenorm,
    svm_soft,
)
from equimargin.formulations.kernels.kernel import Linear
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import OneNormPoint
from equimargin.formulations.problem.refusal import Refusal, refuse_size
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs

DIFFERENCE_LIMIT = 2_000
"""Maximum p, in pairs, of a problem with a kernel of differences.

Its Gram matrix is p x p.
"""


def reduced_pairs(problem: MarginProblem) -> Pairs:
    """Return the edges of P's reduced graph, which replace the pairs of a ranking.

    Parameters
    ----------
    problem : MarginProblem
        Ranking by relevances.

    Returns
    -------
    Pairs
        Edges of the graph.

    Raises
    ------
    ValueError
        If the problem has no pairs, or pairs without relevances.

    References
    ----------
    P, section 4 and Figure 3.
    """
    pairs = _pairs(problem)
    if pairs.y is None:
        raise ValueError("the reduced graph needs relevances, not pairs")
    edges = reduced_preferences(pairs.y, pairs.query)
    return Pairs(edges[:, 0], edges[:, 1], problem.m)


def _pairs(problem: Problem) -> Pairs:
    if not isinstance(problem.rows, Pairs):
        raise ValueError("a ranking problem is needed")
    return problem.rows


def _edge_weights(problem: MarginProblem, edges: Pairs) -> Array:
    """Return the weights of edges, (p,): those of their queries."""
    rows, weights = problem.rows, problem.weights
    return (
        np.ones(edges.p)
        if weights is None or not isinstance(rows, LabelledPairs)
        else weights[rows.query[edges.preferred]]
    )


def _difference_gram(problem: Problem) -> Array:
    """Return KDelta, (p, p), symmetric."""
    pairs = _pairs(problem)
    D = problem.X[pairs.preferred] - problem.X[pairs.other]
    KDelta = problem.kernel.block(D, D)
    return (KDelta + KDelta.T) / 2


def _no_differences(d: Symbols) -> Refusal | str | None:
    if isinstance(d.problem.kernel, Linear):
        return "for a linear kernel the kernel of differences is the same problem"
    if d.problem.kernel.given:
        return "the kernel of differences needs features, not a Gram matrix"
    if d.problem.kernel.nonnegative:
        return "the kernel of differences needs a kernel of features of either sign"
    if d.p == 0:
        return "there is no pair, and no matrix of differences"
    if d.p > DIFFERENCE_LIMIT:
        return refuse_size(f"{d.p:,} pairs, the limit of a p x p matrix is {DIFFERENCE_LIMIT:,}")
    return None


def _no_reduced_graph(d: Symbols) -> str | None:
    if d.problem.rows.y is None:
        return "the reduced graph needs relevances, not pairs"
    return "the reduced graph has no hard rows" if d.hard.any() else None


@rank_l1.formulation(
    "differences.dual",
    Source("T", "(88) with a nonlinear k of differences"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\alpha^\top K_\Delta\alpha \quad\text{s.t.}\quad "
    r"0 \le \alpha \le C,\quad"
    r" (K_\Delta)_{ij,uv} = k(x_i - x_j, x_u - x_v)",
    control=True,
    applies=_no_differences,
    id="rank.differences.dual",
    **MULTIPLIERS,
)
def differences_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'KDelta alpha
    s.t.  0 <= alpha <= C,   KDelta = k(x_i - x_j, x_u - x_v).

    Not rank.l1 unless k is linear: phi(x_i - x_j) is not phi(x_i) - phi(x_j).
    """
    alpha, C, KDelta = cp.Variable(d.p, "alpha"), d.parameter("C"), _difference_gram(d.problem)
    return maximize(
        cp.sum(alpha) - cp.quad_form(alpha, cp.psd_wrap(KDelta)) / 2,
        lower=alpha >= 0,
        upper=alpha[d.soft] <= C * d.c[d.soft],
    )


@rank_onenorm.formulation(
    "differences",
    Source("T", "(94) with a nonlinear k of differences"),
    latex=r"\min_{\alpha,\xi}\ 1^\top\alpha + C\,1^\top\xi \quad\text{s.t.}\quad K_\Delta\alpha "
    r"\ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
    control=True,
    applies=_no_differences,
    to_canonical=lambda v, d: OneNormPoint(x=v["alpha"], u=v.multiplier("margin")),
    from_canonical=lambda at, d: {"alpha": at.x, "xi": at.xi},
)
def onenorm_differences(d: Symbols) -> cp.Problem:
    """min  1'alpha + C 1'xi
    s.t.  KDelta alpha >= 1 - xi,  alpha >= 0,  xi >= 0,
    KDelta = k(x_i - x_j, x_u - x_v).

    Not rank.onenorm unless k is linear; it scores pairs only.
    """
    alpha, xi, C = cp.Variable(d.p, "alpha"), cp.Variable(d.p, "xi"), d.parameter("C")
    return minimize(
        cp.sum(alpha) + C * (d.c @ xi),
        margin=_difference_gram(d.problem) @ alpha >= 1 - xi,
        sign=alpha >= 0,
        slack=xi >= 0,
    )


@svm_soft.formulation(
    "penalized.primal",
    Source("K", "(2.3) with an appended column of ones, as LIBLINEAR has it"),
    latex=r"\min_{w,b,\xi}\ \tfrac12(\|w\|^2 + b^2) + C\sum_i\xi_i \quad\text{s.t.}\quad "
    r"y_i(w\cdot x_i - b) \ge 1 - \xi_i,\ \xi_i \ge 0",
    control=True,
    id="svm.penalized.primal",
    **WITH_BIAS,
)
def penalized_primal(d: Symbols) -> cp.Problem:
    """min  1/2 (|w|^2 + b^2) + C sum_i xi_i   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    Not svm.soft unless b = 0 is optimal there: it is the no-bias SVM of the kernel k +
    1.
    """
    w, b, xi, C = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    return minimize(
        (cp.sum_squares(w) + cp.square(b)) / 2 + C * (d.c @ xi),
        margin=cp.multiply(d.y, d.X @ w - b) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@rank_l1.formulation(
    "reduced",
    Source("P", "section 4, Figure 3"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_{e\in E'}\xi_e"
    r" \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1 - \xi_e,\ \xi_e \ge 0,\ e = (i,j) \in E'",
    carries="function",
    control=True,
    applies=_no_reduced_graph,
    to_canonical=lambda v, d: d.point(v["w"]),
    from_canonical=lambda at, d: {
        "w": at.w,
        "xi": np.maximum(1 - reduced_pairs(d.problem).matrix @ (d.X @ at.w), 0),
    },
    id="rank.reduced",
)
def reduced(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_e xi_e
    s.t.  w.(phi_i - phi_j) >= 1 - xi_e,  xi_e >= 0
    for every edge e = (i, j) of the reduced graph.

    Not rank.l1: it has O(n) edges instead of O(n^2), some of them between points of the
    same level. An edge has the weight of its query.
    """
    edges = reduced_pairs(d.margin_problem)
    w, xi, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(edges.p, "xi"), d.parameter("C")
    return minimize(
        cp.sum_squares(w) / 2 + C * (_edge_weights(d.margin_problem, edges) @ xi),
        margin=edges.matrix @ (d.X @ w) >= 1 - xi,
        slack=xi >= 0,
    )


@rvm.formulation(
    "free",
    Source("T", "(102) with beta free and its 1-norm"),
    latex=r"\min_{\beta,\xi}\ \|\beta\|_1 + C\,1^\top\xi \quad\text{s.t.}\quad AK\beta \ge 1 - "
    r"\xi,\ \xi \ge 0",
    carries="function",
    control=True,
    to_canonical=lambda v, d: OneNormPoint(x=v["beta"], u=v.multiplier("margin")),
    from_canonical=lambda at, d: {"beta": at.x, "xi": at.xi},
    id="rank.onenorm.free",
)
def onenorm_free(d: Symbols) -> cp.Problem:
    """min  |beta|_1 + C 1'xi   s.t.  A g >= 1 - xi,  xi >= 0,  g = K beta,  beta free.

    Not rvm: beta >= 0 is a restriction, and the RVM's optimum can only be larger.
    """
    beta, xi, C = cp.Variable(d.m, "beta"), cp.Variable(d.p, "xi"), d.parameter("C")
    g = d.let("g", d.K @ beta)
    return minimize(cp.norm1(beta) + C * (d.c @ xi), margin=d.A @ g >= 1 - xi, slack=xi >= 0)


@svm_onenorm.formulation(
    "free",
    Source("T", "section 5.1 (no formula), with alpha free and its 1-norm"),
    latex=r"\min_{\alpha,b,\xi}\ \|\alpha\|_1 + C\,1^\top\xi \quad\text{s.t.}\quad Y(KY\alpha + "
    r"b1) \ge 1 - \xi,\ \xi \ge 0",
    carries="function",
    control=True,
    to_canonical=lambda v, d: OneNormPoint(x=v["alpha"], u=v.multiplier("margin"), b=float(v["b"])),
    from_canonical=lambda at, d: {"alpha": at.x, "b": at.b, "xi": at.xi},
)
def classifying_free(d: Symbols) -> cp.Problem:
    """min  |alpha|_1 + C 1'xi
    s.t.  Y (g + b 1) >= 1 - xi,  xi >= 0,  g = K Y alpha,  alpha free.

    Not svm.onenorm: there a point votes for its own class alone, and the optimum can
    only be larger.
    """
    alpha, b, xi, C = (
        cp.Variable(d.p, "alpha"),
        cp.Variable(name="b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    g = d.let("g", d.K @ cp.multiply(d.y, alpha))
    return minimize(
        cp.norm1(alpha) + C * (d.c @ xi), margin=cp.multiply(d.y, g + b) >= 1 - xi, slack=xi >= 0
    )


@ord_implicit.formulation(
    "neighbours",
    latex=r"\min \tfrac12 |w|^2 + C \sum_{ik} \xi_{ik},\; k \in \{y_i - 1, y_i\}",
    carries="function",
    control=True,
    to_canonical=lambda v, d: d.point(v["w"], -v["b"]),
    from_canonical=lambda at, d: {"w": at.w, "b": -np.atleast_1d(at.b), "xi": at.xi[neighbours(d)]},
)
def ord_implicit_neighbours(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2 + C sum_ik xi_ik
    s.t.   s_ik (w.x_i - b_k) >= 1 - xi_ik,  xi >= 0,  of k = y_i - 1 and y_i.

    The thresholds next to a point's level alone, without an order of b.
    """
    near = neighbours(d)
    hard = d.hard[near]
    w, b, xi, C = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(d.T, "b"),
        cp.Variable(len(near), "xi"),
        d.parameter("C"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c[near] @ xi),
        margin=d.A[near] @ (d.X @ w) - d.S[near] @ b >= 1 - xi,
        slack=xi >= 0,
        hard=xi[hard] == 0 if hard.any() else None,
    )


@ord_implicit.formulation(
    "rank_l1",
    latex=r"\min \tfrac12 |w|^2 + C \sum_{y_i > y_j} (1 - w \cdot (x_i - x_j))_+",
    carries="function",
    control=True,
    to_canonical=lambda v, d: d.margin_problem.point_of_w(v["w"]),
    from_canonical=lambda at, d: {"w": at.w},
)
def ord_implicit_rank_l1(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2 + C sum over y_i > y_j of (1 - w.(x_i - x_j))_+, rank.l1,
    which looks alike.
    """
    w, C = cp.Variable(d.X.shape[1], "w"), d.parameter("C")
    return minimize(cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - differences(d) @ w)))


@ord_implicit_l2.formulation(
    "dual.of_half",
    latex=r"\max 1'a - \tfrac12 |\sum_{ik} a_{ik} s_{ik} x_i|^2 - \tfrac1{2C} |a|^2",
    control=True,
    **MULTIPLIERS,
)
def ord_implicit_l2_dual_of_half(d: Symbols) -> cp.Problem:
    """max sum_ik a_ik - 1/2 |sum_ik a_ik s_ik x_i|^2 - |a|^2 / (2C)
    s.t.   a >= 0,  sum_i s_ik a_ik = 0 of every threshold k.

    The dual of C/2 sum xi^2.
    """
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/C")
    beta = d.let("beta", d.A.T @ alpha)
    return maximize(
        cp.sum(alpha) - d.K.quad(beta) / 2 - inverse / 2 * (d.inverse_c @ cp.square(alpha)),
        balance=d.S.T @ alpha == 0,
        lower=alpha >= 0,
        unweighted=alpha[d.unweighted] == 0 if d.unweighted.any() else None,
    )


@ord_hard.formulation(
    "rank_hard.unscaled",
    latex=r"\min \tfrac12 |w|^2,\; w \cdot (x_i - x_j) \ge 1",
    control=True,
    **OF_RANKING,
)
def ord_hard_unscaled(d: Symbols) -> cp.Problem:
    """min 1/2 |w|^2   s.t.   w.(x_i - x_j) >= 1  of all y_i > y_j.

    It is rank.hard as it is, with a quarter of the value.
    """
    return ord_hard_rank_hard(d)
