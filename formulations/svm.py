"""Classification, as documents T (section 2), W and K (section 2.2) print it.

The tutorial writes F(x) = w.x - b, so that its b is minus the project's. Variables keep the tutorial's letters and signs, and `recover`
changes the sign of b. X : (m, d) features (a factor of K for a nonlinear kernel).  y : (m,) labels.  c : (m,) weights of the cost C. Hard
rows, whose weight is infinite, have no slack, and their multipliers have no upper bound.

The dual forms declare w = sum_i alpha_i y_i phi_i, T (11), as a variable beside alpha. With K = L L' their quadratic term alpha'YKY alpha
is |w|^2 for w = L'Y alpha, and the backends solve that to more digits than a form with a singular or badly scaled K.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.hard_rows import hard_margins, length, no_slack, point_of_margin, shortfall, value_of_margin
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point


@formulation(
    "svm.hard.primal",
    "svm.hard",
    Source("T", "(6)-(7)"),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad y_i(w\cdot x_i - b) \ge 1",
    carries="function",
)
def hard_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2   s.t.  y_i (w.x_i - b) >= 1.

    The multiplier of `margin` is alpha >= 0 of (16).
    """
    return _hard_primal(problem, bias=True)


@formulation(
    "svm.hard.dual",
    "svm.hard",
    Source("T", "(16)-(18)"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad y^\top\alpha = 0,\ \alpha \ge 0",
    carries="multipliers",
)
def hard_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  y'alpha = 0,  alpha >= 0.

    Unbounded exactly where the classes cannot be separated.
    """
    return _hard_dual(problem, bias=True)


@formulation(
    "svm.hard.margin",
    "svm.hard",
    Source("T", "section 2.1, in words"),
    latex=r"\max_{u,b,t}\ t \quad\text{s.t.}\quad y_i(u\cdot x_i - b) \ge t,\ \|u\| \le 1",
    carries="function",
)
def hard_margin(problem: MarginProblem) -> Declaration:
    """max  t   s.t.  y_i (u.x_i - b) >= t,  |u| <= 1.

    The margin t is 1 / |w|: the family's value is 1 / (2 t^2), w = u / t, and alpha = mu / t^2 for the multiplier mu of `margin`.
    """
    return _hard_margin(problem, bias=True)


@formulation(
    "svm.nobias_hard.primal",
    "svm.nobias_hard",
    Source("K", "(2.3) with xi = 0"),
    latex=r"\min_w\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad y_i\,w\cdot\phi_i \ge 1",
    carries="function",
)
def nobias_hard_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2   s.t.  y_i w.phi_i >= 1.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    return _hard_primal(problem, bias=False)


@formulation(
    "svm.nobias_hard.dual",
    "svm.nobias_hard",
    Source("K", "(2.3) with xi = 0, its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad \alpha \ge 0",
    carries="multipliers",
)
def nobias_hard_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  alpha >= 0.

    Unbounded exactly where no hyperplane through the origin separates the classes.
    """
    return _hard_dual(problem, bias=False)


@formulation(
    "svm.nobias_hard.margin",
    "svm.nobias_hard",
    Source("K", "(2.3) with xi = 0, as a margin"),
    latex=r"\max_{u,t}\ t \quad\text{s.t.}\quad y_i\,u\cdot\phi_i \ge t,\ \|u\| \le 1",
    carries="function",
)
def nobias_hard_margin(problem: MarginProblem) -> Declaration:
    """max  t   s.t.  y_i u.phi_i >= t,  |u| <= 1.

    The margin t is 1 / |w|: the family's value is 1 / (2 t^2), w = u / t, and alpha = mu / t^2 for the multiplier mu of `margin`.
    """
    return _hard_margin(problem, bias=False)


@formulation(
    "svm.nobias_hard.beta",
    "svm.nobias_hard",
    Source("K", "(3.14) with xi = 0"),
    latex=r"\min_{\bar\beta}\ \tfrac12\bar\beta^\top\bar Q\bar\beta \quad\text{s.t.}\quad \bar Q\bar\beta \ge 1,\quad \bar Q = YKY",
    carries="function",
)
def nobias_hard_beta(problem: MarginProblem) -> Declaration:
    """min  1/2 betabar'Qbar betabar   s.t.  Qbar betabar >= 1,   Qbar = YKY,  betabar free.

    With K = L L', the quadratic is |v|^2 for v = L'Y betabar, and Qbar betabar = Y L v. The multiplier of `margin` is alpha.
    """
    import cvxpy as cp

    K, L, y = problem.gram.dense, problem.features(), problem.rows.s
    betabar, v = cp.Variable(problem.m, name="betabar"), cp.Variable(L.shape[1], name="v")

    def printed(at: Mapping[str, Any]) -> Printed:
        Qb = y * (K @ (y * at["betabar"]))
        return Printed(at["betabar"] @ Qb / 2, {"margin": 1 - Qb})

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(v) / 2),
        {"span": v == L.T @ cp.multiply(y, betabar), "margin": cp.multiply(y, L @ v) >= 1},
        variables={"betabar": betabar, "v": v},
        parameters={},
        recover=lambda d: Point(beta=y * betabar.value, b=0.0, alpha=d.multiplier("margin")),
        express=lambda at: {"betabar": y * at.beta, "v": at.w},
        printed=printed,
    )


@formulation(
    "svm.soft.primal",
    "svm.soft",
    Source("T", "(23)-(25)"),
    Source("W", "SVM classifier"),
    latex=r"\min_{w,b,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i \quad\text{s.t.}\quad y_i(w\cdot x_i - b) \ge 1 - \xi_i,\ \xi_i \ge 0",
    carries="function",
    in_features=True,
)
def soft_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i xi_i   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of (26).
    """
    return _primal(problem, power=1, bias=True)


@formulation(
    "svm.soft.dual",
    "svm.soft",
    Source("T", "(26)-(28) = (41)-(43), with the 1/2"),
    Source("T", "(38)"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C",
    carries="multipliers",
)
def soft_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  y'alpha = 0,  0 <= alpha <= C.

    The multiplier of the equality `balance` is the tutorial's b, or -b.
    """
    return _dual(problem, half=0.5, bias=True)


@formulation(
    "svm.soft.dual.as_printed",
    "svm.soft",
    Source("T", "(26)-(28) as printed, without the 1/2"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \alpha^\top YKY\alpha \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C",
    carries="multipliers",
    control=True,
)
def soft_dual_as_printed(problem: MarginProblem) -> Declaration:
    """max  1'alpha - alpha'YKY alpha   s.t.  y'alpha = 0,  0 <= alpha <= C.

    A misprint: its optimum at C is half the right one at 2C.
    """
    return _dual(problem, half=1.0, bias=True)


@formulation(
    "svm.l2.primal",
    "svm.l2",
    Source("W", "SVM classifier with sigma = 2"),
    latex=r"\min_{w,b,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i^2 \quad\text{s.t.}\quad y_i(w\cdot x_i - b) \ge 1 - \xi_i,\ \xi_i \ge 0",
    carries="function",
    in_features=True,
)
def l2_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i xi_i^2   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the dual. xi >= 0 is redundant.
    """
    return _primal(problem, power=2, bias=True)


@formulation(
    "svm.l2.dual",
    "svm.l2",
    Source("W", "SVM classifier with sigma = 2, its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top(YKY + \tfrac1{2C}I)\alpha"
    r" \quad\text{s.t.}\quad y^\top\alpha = 0,\ \alpha \ge 0",
    carries="multipliers",
)
def l2_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'(YKY + I/(2C)) alpha   s.t.  y'alpha = 0,  alpha >= 0.

    The multiplier of the equality `balance` is the tutorial's b, or -b.
    """
    return _squared_dual(problem, bias=True)


@formulation(
    "svm.nobias.primal",
    "svm.nobias",
    Source("K", "(2.3)"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i \quad\text{s.t.}\quad y_i\,w\cdot\phi_i \ge 1 - \xi_i,\ \xi_i \ge 0",
    carries="function",
    in_features=True,
)
def nobias_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i xi_i   s.t.  y_i w.phi_i >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the box dual.
    """
    return _primal(problem, power=1, bias=False)


@formulation(
    "svm.nobias.dual",
    "svm.nobias",
    Source("K", "(2.3), its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top YKY\alpha \quad\text{s.t.}\quad 0 \le \alpha \le C",
    carries="multipliers",
)
def nobias_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'YKY alpha   s.t.  0 <= alpha <= C."""
    return _dual(problem, half=0.5, bias=False)


@formulation(
    "svm.nobias.beta",
    "svm.nobias",
    Source("K", "(3.14)"),
    latex=r"\min_{\bar\beta}\ \tfrac12\bar\beta^\top\bar Q\bar\beta + C\sum_i(1 - (\bar Q\bar\beta)_i)_+,\quad \bar Q = YKY",
    carries="function",
)
def nobias_beta(problem: MarginProblem) -> Declaration:
    """min  1/2 betabar'Qbar betabar + C 1'(1 - Qbar betabar)_+,   Qbar = YKY,  betabar free.

    With K = L L', the quadratic is |v|^2 for v = L'Y betabar, and Qbar betabar = Y L v. No multipliers: the point has f only.
    """
    import cvxpy as cp

    K, L, y, c = problem.gram.dense, problem.features(), problem.rows.y, problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    betabar, v = cp.Variable(problem.m, name="betabar"), cp.Variable(L.shape[1], name="v")

    def printed(at: Mapping[str, Any]) -> Printed:
        Qb = y * (K @ (y * at["betabar"]))
        return Printed(at["betabar"] @ Qb / 2 + at["C"] * c @ np.maximum(1 - Qb, 0), shortfall(problem, 1 - Qb))

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(v) / 2 + C * (c @ cp.pos(1 - cp.multiply(y, L @ v)))),
        {
            "span": v == L.T @ cp.multiply(y, betabar),
            **hard_margins(problem, cp.multiply(y, L @ v)),
        },
        variables={"betabar": betabar, "v": v},
        parameters={"C": C},
        recover=lambda d: Point(beta=y * betabar.value, b=0.0),
        express=lambda at: {"betabar": y * at.beta, "v": at.w},
        printed=printed,
    )


@formulation(
    "svm.nobias_l2.primal",
    "svm.nobias_l2",
    Source("K", "(2.3) with squared slacks"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i^2 \quad\text{s.t.}\quad y_i\,w\cdot\phi_i \ge 1 - \xi_i,\ \xi_i \ge 0",
    carries="function",
    in_features=True,
)
def nobias_l2_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i xi_i^2   s.t.  y_i w.phi_i >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    return _primal(problem, power=2, bias=False)


@formulation(
    "svm.nobias_l2.dual",
    "svm.nobias_l2",
    Source("K", "(2.3) with squared slacks, its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top(YKY + \tfrac1{2C}I)\alpha \quad\text{s.t.}\quad \alpha \ge 0",
    carries="multipliers",
)
def nobias_l2_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 alpha'(YKY + I/(2C)) alpha   s.t.  alpha >= 0."""
    return _squared_dual(problem, bias=False)


def _hard_primal(problem: MarginProblem, bias: bool) -> Declaration:
    """1/2 |w|^2 with every margin at least 1, with or without b."""
    import cvxpy as cp

    X, y = problem.features(), problem.rows.s
    w = cp.Variable(X.shape[1], name="w")
    b: Any = cp.Variable(name="b") if bias else 0.0
    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2),
        {"margin": cp.multiply(y, X @ w - b) >= 1},
        variables={"w": w} | ({"b": b} if bias else {}),
        parameters={},
        recover=lambda d: problem.point_of_w(w.value, -float(b.value) if bias else 0.0, d.multiplier("margin")),
        express=lambda at: {"w": at.w} | ({"b": -at.b} if bias else {}),
        printed=lambda v: Printed(v["w"] @ v["w"] / 2, {"margin": 1 - y * (X @ v["w"] - v.get("b", 0.0))}),
    )


def _hard_dual(problem: MarginProblem, bias: bool) -> Declaration:
    """1'alpha - 1/2 alpha'YKY alpha over alpha >= 0, with y'alpha = 0 where there is a bias."""
    import cvxpy as cp

    K, L, y = problem.gram.dense, problem.features(), problem.rows.s
    alpha, w = cp.Variable(problem.m, name="alpha"), cp.Variable(L.shape[1], name="w")
    balance = {"balance": y @ alpha == 0} if bias else {}

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        return Printed(a.sum() - (y * a) @ K @ (y * a) / 2, ({"balance": np.abs(y @ a)} if bias else {}) | {"lower": -a})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - cp.sum_squares(w) / 2),
        {"span": w == L.T @ cp.multiply(y, alpha), **balance, "lower": alpha >= 0},
        variables={"alpha": alpha, "w": w},
        parameters={},
        recover=lambda d: Point(alpha=alpha.value, b=None if bias else 0.0),
        express=lambda at: {"alpha": at.alpha, "w": L.T @ (y * at.alpha)},
        printed=printed,
    )


def _hard_margin(problem: MarginProblem, bias: bool) -> Declaration:
    """The largest margin t of a function of length 1, with or without b."""
    import cvxpy as cp

    X, y = problem.features(), problem.rows.s
    u, t = cp.Variable(X.shape[1], name="u"), cp.Variable(name="t")
    b: Any = cp.Variable(name="b") if bias else 0.0
    named = {"u": u, "b": b, "t": t} if bias else {"u": u, "t": t}

    def recover(d: Declaration) -> Point:
        return point_of_margin(problem, u.value, -float(b.value) if bias else 0.0, float(t.value), d.multiplier("margin"))

    def express(at: Any) -> dict[str, Any]:
        size = length(at.w)
        values = {"u": at.w / size, "b": -at.b / size, "t": (1 - at.u).min() / size}
        return {name: values[name] for name in named}

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(v["t"], {"margin": v["t"] - y * (X @ v["u"] - v.get("b", 0.0)), "ball": np.linalg.norm(v["u"]) - 1})

    return Declaration(
        problem,
        cp.Maximize(t),
        {"margin": cp.multiply(y, X @ u - b) >= t, "ball": cp.norm(u, 2) <= 1},
        variables=named,
        parameters={},
        recover=recover,
        express=express,
        printed=printed,
        value=lambda margin, at: value_of_margin(problem, margin),
    )


def _primal(problem: MarginProblem, power: int, bias: bool) -> Declaration:
    """1/2 |w|^2 + C sum_i c_i xi_i^power, with or without b; the documents' b is minus the project's."""
    import cvxpy as cp

    X, y, c = problem.features(), problem.rows.y, problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(problem.m, name="xi")
    b: Any = cp.Variable(name="b") if bias else 0.0
    cost = c @ xi if power == 1 else cp.sum_squares(cp.multiply(np.sqrt(c), xi))

    def printed(v: Mapping[str, Any]) -> Printed:
        margin = 1 - v["xi"] - y * (X @ v["w"] - v.get("b", 0.0))
        return Printed(
            v["w"] @ v["w"] / 2 + v["C"] * c @ v["xi"] ** power,
            {"margin": margin, "slack": -v["xi"], **shortfall(problem, v["xi"])},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * cost),
        {
            "margin": cp.multiply(y, X @ w - b) >= 1 - xi,
            "slack": xi >= 0,
            **no_slack(problem, xi),
        },
        variables={"w": w, "xi": xi} | ({"b": b} if bias else {}),
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, -float(b.value) if bias else 0.0, d.multiplier("margin")),
        express=lambda at: {"w": at.w, "xi": at.xi} | ({"b": -at.b} if bias else {}),
        printed=printed,
    )


def _dual(problem: MarginProblem, half: float, bias: bool) -> Declaration:
    """1'alpha - half alpha'YKY alpha over the box, with y'alpha = 0 where there is a bias."""
    import cvxpy as cp

    K, L, y, soft = problem.gram.dense, problem.features(), problem.rows.y, ~problem.hard
    c = problem.soft_weights[soft]
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, w = cp.Variable(problem.m, name="alpha"), cp.Variable(L.shape[1], name="w")
    balance = {"balance": y @ alpha == 0} if bias else {}

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        violations = {"lower": -a, "upper": a[soft] - v["C"] * c} | ({"balance": np.abs(y @ a)} if bias else {})
        return Printed(a.sum() - half * (y * a) @ K @ (y * a), violations)

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - half * cp.sum_squares(w)),
        {
            "span": w == L.T @ cp.multiply(y, alpha),
            **balance,
            "lower": alpha >= 0,
            "upper": alpha[soft] <= C * c,
        },
        variables={"alpha": alpha, "w": w},
        parameters={"C": C},
        recover=lambda d: Point(alpha=alpha.value),
        express=lambda at: {"alpha": at.alpha, "w": L.T @ (y * at.alpha)},
        printed=printed,
    )


def _squared_dual(problem: MarginProblem, bias: bool) -> Declaration:
    """1'alpha - 1/2 alpha'YKY alpha - sum_i alpha_i^2 / (4 C c_i), with y'alpha = 0 where there is a bias."""
    import cvxpy as cp

    K, L, y = problem.gram.dense, problem.features(), problem.rows.y
    free, roots = problem.unit_weights == 0, problem.inverse_root_weights
    inverse = cp.Parameter(nonneg=True, name="1/C", value=1 / problem.C)
    alpha, w = cp.Variable(problem.m, name="alpha"), cp.Variable(L.shape[1], name="w")
    balance = {"balance": y @ alpha == 0} if bias else {}

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        violations = {"lower": -a, "unweighted": np.abs(a[free])} | ({"balance": np.abs(y @ a)} if bias else {})
        return Printed(a.sum() - (y * a) @ K @ (y * a) / 2 - v["1/C"] / 4 * ((roots * a) @ (roots * a)), violations)

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - cp.sum_squares(w) / 2 - inverse / 4 * cp.sum_squares(cp.multiply(roots, alpha))),
        {
            "span": w == L.T @ cp.multiply(y, alpha),
            **balance,
            "lower": alpha >= 0,
            **({"unweighted": alpha[free] == 0} if free.any() else {}),
        },
        variables={"alpha": alpha, "w": w},
        parameters={"1/C": inverse},
        recover=lambda d: Point(alpha=alpha.value),
        express=lambda at: {"alpha": at.alpha, "w": L.T @ (y * at.alpha)},
        printed=printed,
    )
