"""Problems that look like a printed problem and are another one. They are declared to show that they differ.

Each is registered in the family that it resembles, as a control: the referee must find
that it disagrees there. The counterexamples are in `links`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.kernels.kernel import Linear, Precomputed
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.formulations.one_norm import product_with_gram
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.point import OneNormPoint, Point
from equimargin.formulations.reduced_graph import reduced_preferences
from equimargin.formulations.refusal import Refusal, too_large
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.svm import hard_primal

DIFFERENCE_LIMIT = 2_000
"""Pairs, at most, of a problem with a kernel of differences, whose Gram matrix is p x p."""


def pair_decision(problem: Problem, alpha: Array, preferred: Features, other: Features) -> Array:
    """F(x, x') = sum_r alpha_r k(x_i - x_j, x - x') for the pairs r = (i, j) of a ranking problem.

    The kernel of differences scores pairs only: it has no f with
    F(x, x') = f(x) - f(x'), so it ranks no points.

    Parameters
    ----------
    problem : a ranking problem.  alpha : (p,) multipliers.  preferred, other : (n, d) points x and x'.

    Returns
    -------
    (n,) positive where the first is preferred.

    Source: T (91).
    """
    pairs = _pairs(problem)
    return problem.kernel.block(preferred - other, problem.X[pairs.preferred] - problem.X[pairs.other]) @ alpha


def _edge_weights(problem: MarginProblem, edges: Pairs) -> Array:
    """Return the weights of edges, (p,), each that of its query."""
    rows, weights = problem.rows, problem.weights
    return np.ones(edges.p) if weights is None or not isinstance(rows, LabelledPairs) else weights[rows.query[edges.preferred]]


def reduced_pairs(problem: MarginProblem) -> Pairs:
    """The reduced graph of a ranking problem's relevances, the first point of every level being its maximum.

    Source: P, section 4 and Figure 3.
    """
    pairs = _pairs(problem)
    if pairs.y is None:
        raise ValueError("the reduced graph needs relevances, not pairs")
    edges = reduced_preferences(pairs.y, pairs.query)
    return Pairs(edges[:, 0], edges[:, 1], problem.m)


@formulation(
    "rank.differences.dual",
    "rank.l1",
    Source("T", "(88) with a nonlinear k of differences"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\alpha^\top K_\Delta\alpha \quad\text{s.t.}\quad 0 \le \alpha \le C,\quad"
    r" (K_\Delta)_{ij,uv} = k(x_i - x_j, x_u - x_v)",
    carries="multipliers",
    control=True,
    applies=lambda problem: _no_differences(problem),
)
def differences_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'KDelta alpha   s.t.  0 <= alpha <= C,   KDelta = k(x_i - x_j, x_u - x_v).

    Not rank.l1 unless k is linear: phi(x_i - x_j) is not phi(x_i) - phi(x_j).
    """
    import cvxpy as cp

    KDelta, c = _difference_gram(problem), problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha = cp.Variable(problem.p, name="alpha")

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        return Printed(a.sum() - a @ KDelta @ a / 2, {"lower": -a, "upper": a - v["C"] * c})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - cp.quad_form(alpha, cp.psd_wrap(KDelta)) / 2),
        {
            "lower": alpha >= 0,
            "upper": alpha <= C * c,
        },
        variables={"alpha": alpha},
        parameters={"C": C},
        recover=lambda d: Point(alpha=alpha.value),
        express=lambda at: {"alpha": at.alpha},
        printed=printed,
    )


@formulation(
    "rank.onenorm.differences",
    "rank.onenorm",
    Source("T", "(94) with a nonlinear k of differences"),
    latex=r"\min_{\alpha,\xi}\ 1^\top\alpha + C\,1^\top\xi \quad\text{s.t.}\quad K_\Delta\alpha \ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
    control=True,
    applies=lambda problem: _no_differences(problem),
)
def onenorm_differences(problem: OneNormProblem) -> Declaration:
    """min  1'alpha + C 1'xi   s.t.  KDelta alpha >= 1 - xi,  alpha >= 0,  xi >= 0,   KDelta = k(x_i - x_j, x_u - x_v).

    Not rank.onenorm unless k is linear; it scores pairs only.
    """
    import cvxpy as cp

    KDelta = _difference_gram(problem)
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, xi = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.p, name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(
            v["alpha"].sum() + v["C"] * v["xi"].sum(),
            {"margin": 1 - v["xi"] - KDelta @ v["alpha"], "sign": -v["alpha"], "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum(alpha) + C * cp.sum(xi)),
        {
            "margin": KDelta @ alpha >= 1 - xi,
            "sign": alpha >= 0,
            "slack": xi >= 0,
        },
        variables={"alpha": alpha, "xi": xi},
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=alpha.value, u=d.multiplier("margin")),
        express=lambda at: {"alpha": at.x, "xi": at.xi},
        printed=printed,
    )


@formulation(
    "svm.penalized.primal",
    "svm.soft",
    Source("K", "(2.3) with an appended column of ones, as LIBLINEAR has it"),
    latex=r"\min_{w,b,\xi}\ \tfrac12(\|w\|^2 + b^2) + C\sum_i\xi_i \quad\text{s.t.}\quad y_i(w\cdot x_i - b) \ge 1 - \xi_i,\ \xi_i \ge 0",
    carries="function",
    control=True,
)
def penalized_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 (|w|^2 + b^2) + C sum_i xi_i   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    Not svm.soft unless b = 0 is optimal there: it is the no-bias SVM of the kernel k + 1.
    """
    import cvxpy as cp

    X, y, c = problem.features(), problem.rows.y, problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, b, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(problem.m, name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(
            (v["w"] @ v["w"] + v["b"] ** 2) / 2 + v["C"] * c @ v["xi"],
            {"margin": 1 - v["xi"] - y * (X @ v["w"] - v["b"]), "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize((cp.sum_squares(w) + cp.square(b)) / 2 + C * (c @ xi)),
        {
            "margin": cp.multiply(y, X @ w - b) >= 1 - xi,
            "slack": xi >= 0,
        },
        variables={"w": w, "b": b, "xi": xi},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, -float(b.value), d.multiplier("margin")),
        express=lambda at: {"w": at.w, "b": -at.b, "xi": at.xi},
        printed=printed,
    )


@formulation(
    "svm.hard.bias.as_printed",
    "svm.hard",
    Source("T", "(21) as printed, b = 1 - w.x_i"),
    latex=r"b^* = 1 - w^*\cdot x_i \quad\text{at a positive support vector } x_i",
    carries="function",
    control=True,
)
def hard_bias_as_printed(problem: MarginProblem) -> Declaration:
    """b = 1 - w.x_i   at a positive support vector, for the w of (6)-(7).

    A misprinted read-out of a solution, not a problem: F(x) = w.x - b is 1 at x_i for b = w.x_i - 1.
    """
    right = hard_primal(problem)
    X, y = problem.features(), problem.rows.y

    def recover(d: Declaration) -> Point:
        w, alpha = right.variables["w"].value, d.multiplier("margin")
        support = int(np.argmax(np.where(y > 0, 0.0 if alpha is None else alpha, -np.inf)))
        return problem.point_of_w(w, -float(1 - X[support] @ w), alpha)

    return replace(right, recover=recover)


@formulation(
    "rank.reduced",
    "rank.l1",
    Source("P", "section 4, Figure 3"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_{e\in E'}\xi_e"
    r" \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1 - \xi_e,\ \xi_e \ge 0,\ e = (i,j) \in E'",
    carries="function",
    control=True,
    applies=lambda problem: _no_reduced_graph(problem),
)
def reduced(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_e xi_e   s.t.  w.(phi_i - phi_j) >= 1 - xi_e,  xi_e >= 0   for every edge e = (i, j) of the reduced graph.

    Not rank.l1: it has O(n) edges instead of O(n^2), some of them between points of the same level. An edge has the weight of its query.
    """
    import cvxpy as cp

    edges = reduced_pairs(problem)
    X, A = problem.features(), edges.matrix
    c = _edge_weights(problem, edges)
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(A.shape[0], name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(
            v["w"] @ v["w"] / 2 + v["C"] * c @ v["xi"],
            {"margin": 1 - v["xi"] - A @ (X @ v["w"]), "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * (c @ xi)),
        {
            "margin": A @ (X @ w) >= 1 - xi,
            "slack": xi >= 0,
        },
        variables={"w": w, "xi": xi},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, 0.0),
        express=lambda at: {"w": at.w, "xi": np.maximum(1 - A @ (X @ at.w), 0)},
        printed=printed,
    )


@formulation(
    "rank.onenorm.free",
    "rvm",
    Source("T", "(102) with beta free and its 1-norm"),
    latex=r"\min_{\beta,\xi}\ \|\beta\|_1 + C\,1^\top\xi \quad\text{s.t.}\quad AK\beta \ge 1 - \xi,\ \xi \ge 0",
    carries="function",
    control=True,
)
def onenorm_free(problem: OneNormProblem) -> Declaration:
    """min  |beta|_1 + C 1'xi   s.t.  A g >= 1 - xi,  xi >= 0,  g = K beta,  beta free.

    Not rvm: beta >= 0 is a restriction, and the RVM's optimum can only be larger.
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    beta, g, xi = cp.Variable(problem.m, name="beta"), cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="xi")
    product = product_with_gram(problem, beta)

    def printed(v: Mapping[str, Any]) -> Printed:
        margins = A @ (K @ v["beta"])
        return Printed(np.abs(v["beta"]).sum() + v["C"] * v["xi"].sum(), {"margin": 1 - v["xi"] - margins, "slack": -v["xi"]})

    return Declaration(
        problem,
        cp.Minimize(cp.norm1(beta) + C * cp.sum(xi)),
        {
            "margin": A @ g >= 1 - xi,
            "slack": xi >= 0,
            **product.constraints,
            "values": g == product.value,
        },
        variables={"beta": beta, "g": g, "xi": xi} | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=beta.value, u=d.multiplier("margin")),
        express=lambda at: {"beta": at.x, "g": at.f, "xi": at.xi} | product.express(at.x),
        printed=printed,
    )


@formulation(
    "svm.onenorm.free",
    "svm.onenorm",
    Source("T", "section 5.1 (no formula), with alpha free and its 1-norm"),
    latex=r"\min_{\alpha,b,\xi}\ \|\alpha\|_1 + C\,1^\top\xi \quad\text{s.t.}\quad Y(KY\alpha + b1) \ge 1 - \xi,\ \xi \ge 0",
    carries="function",
    control=True,
)
def classifying_free(problem: OneNormProblem) -> Declaration:
    """min  |alpha|_1 + C 1'xi   s.t.  Y (g + b 1) >= 1 - xi,  xi >= 0,  g = K Y alpha,  alpha free.

    Not svm.onenorm: there a point votes for its own class alone, and the optimum can only be larger.
    """
    import cvxpy as cp

    y, K = problem.rows.s, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, g, xi = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="xi")
    b = cp.Variable(name="b")

    def printed(v: Mapping[str, Any]) -> Printed:
        margins = y * (K @ (y * v["alpha"]) + v["b"])
        return Printed(np.abs(v["alpha"]).sum() + v["C"] * v["xi"].sum(), {"margin": 1 - v["xi"] - margins, "slack": -v["xi"]})

    return Declaration(
        problem,
        cp.Minimize(cp.norm1(alpha) + C * cp.sum(xi)),
        {
            "margin": cp.multiply(y, g + b) >= 1 - xi,
            "slack": xi >= 0,
            "values": g == K @ cp.multiply(y, alpha),
        },
        variables={"alpha": alpha, "b": b, "g": g, "xi": xi},
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=alpha.value, u=d.multiplier("margin"), b=float(b.value)),
        express=lambda at: {"alpha": at.x, "b": at.b, "g": at.f, "xi": at.xi},
        printed=printed,
    )


def _pairs(problem: Problem) -> Pairs:
    if not isinstance(problem.rows, Pairs):
        raise ValueError("a ranking problem is needed")
    return problem.rows


def _no_reduced_graph(problem: Any) -> Refusal | None:
    if problem.rows.y is None:
        return Refusal("the reduced graph needs relevances, not pairs")
    return Refusal("the reduced graph has no hard rows") if problem.hard.any() else None


def _no_differences(problem: Problem) -> Refusal | None:
    if isinstance(problem.kernel, Linear):
        return Refusal("for a linear kernel the kernel of differences is the same problem")
    if isinstance(problem.kernel, Precomputed):
        return Refusal("the kernel of differences needs features, not a Gram matrix")
    if problem.p == 0:
        return Refusal("there is no pair, and no matrix of differences")
    if problem.p > DIFFERENCE_LIMIT:
        return too_large(f"{problem.p:,} pairs, the limit of a p x p matrix is {DIFFERENCE_LIMIT:,}")
    return None


def _difference_gram(problem: Problem) -> Array:
    """KDelta, (p, p), symmetric."""
    pairs = _pairs(problem)
    D = problem.X[pairs.preferred] - problem.X[pairs.other]
    KDelta = problem.kernel.block(D, D)
    return (KDelta + KDelta.T) / 2
