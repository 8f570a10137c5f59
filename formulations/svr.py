"""Epsilon-insensitive regression, as document T (section 3) prints it, F(x) = w.x + b.

X : (m, d) features (a factor of K for a nonlinear kernel).  y : (m,) targets.  epsilon : half the width of the tube.
c, chat : (m,) weights of the cost C above and below the tube. The canonical alpha is (alpha, alphahat), 2m numbers. The dual forms declare
w = sum_i (alpha_i - alphahat_i) phi_i, T (77), as a variable beside these, so that their quadratic term is |w|^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import Tube


@formulation(
    "svr.hard.primal",
    "svr.hard",
    Source("T", "(57)-(59)"),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad |y_i - w\cdot x_i - b| \le \varepsilon",
    carries="function",
)
def hard_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2   s.t.  y - Xw - b <= epsilon,  Xw + b - y <= epsilon.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of the dual.
    """
    import cvxpy as cp

    X, (y, epsilon) = problem.features(), _tube(problem)
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")

    def printed(v: Mapping[str, Any]) -> Printed:
        residual = y - X @ v["w"] - v["b"]
        return Printed(v["w"] @ v["w"] / 2, {"above": residual - epsilon, "below": -residual - epsilon})

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2),
        {
            "above": y - X @ w - b <= epsilon,
            "below": X @ w + b - y <= epsilon,
        },
        variables={"w": w, "b": b},
        parameters={},
        recover=lambda d: problem.point_of_w(w.value, float(b.value), _stacked(d)),
        express=lambda at: {"w": at.w, "b": at.b},
        printed=printed,
    )


@formulation(
    "svr.hard.dual",
    "svr.hard",
    Source("T", "(57)-(59), their dual"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - \tfrac12\delta^\top K\delta"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ \alpha,\hat\alpha \ge 0,\quad \delta = \alpha - \hat\alpha",
    carries="multipliers",
)
def hard_dual(problem: MarginProblem) -> Declaration:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta   s.t.  1'delta = 0,  alpha, alphahat >= 0.

    delta = alpha - alphahat. Unbounded exactly where no function stays within the tube.
    """
    import cvxpy as cp

    K, L, m, (y, epsilon) = problem.gram.dense, problem.features(), problem.m, _tube(problem)
    alpha, alphahat, w = cp.Variable(m, name="alpha"), cp.Variable(m, name="alphahat"), cp.Variable(L.shape[1], name="w")

    def printed(v: Mapping[str, Any]) -> Printed:
        a, ahat = v["alpha"], v["alphahat"]
        value = y @ (a - ahat) - epsilon * (a + ahat).sum() - (a - ahat) @ K @ (a - ahat) / 2
        return Printed(value, {"balance": np.abs((a - ahat).sum()), "lower": -a, "lowerhat": -ahat})

    return Declaration(
        problem,
        cp.Maximize(y @ (alpha - alphahat) - epsilon * cp.sum(alpha + alphahat) - cp.sum_squares(w) / 2),
        {
            "span": w == L.T @ (alpha - alphahat),
            "balance": cp.sum(alpha - alphahat) == 0,
            "lower": alpha >= 0,
            "lowerhat": alphahat >= 0,
        },
        variables={"alpha": alpha, "alphahat": alphahat, "w": w},
        parameters={},
        recover=lambda d: Point(alpha=np.concatenate([alpha.value, alphahat.value])),
        express=lambda at: {"alpha": at.alpha[:m], "alphahat": at.alpha[m:], "w": L.T @ (at.alpha[:m] - at.alpha[m:])},
        printed=printed,
    )


@formulation(
    "svr.l1.primal",
    "svr.l1",
    Source("T", "(64), its Lagrangian's primal"),
    latex=r"\min_{w,b,\xi,\hat\xi}\ \tfrac12\|w\|^2 + C\sum_i(\xi_i + \hat\xi_i) \quad\text{s.t.}\quad"
    r" -\varepsilon - \hat\xi_i \le y_i - w\cdot x_i - b \le \varepsilon + \xi_i,\ \xi,\hat\xi \ge 0",
    carries="function",
    in_features=True,
)
def l1_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i (xi_i + xihat_i)   s.t.  y - Xw - b <= epsilon + xi,  Xw + b - y <= epsilon + xihat,  xi, xihat >= 0.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of (70).
    """
    return _primal(problem, power=1)


@formulation(
    "svr.l1.dual",
    "svr.l1",
    Source("T", "(70)-(73) = (78)-(81)"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - \tfrac12\delta^\top K\delta"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ 0 \le \alpha,\hat\alpha \le C,\quad \delta = \alpha - \hat\alpha",
    carries="multipliers",
)
def l1_dual(problem: MarginProblem) -> Declaration:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta   s.t.  1'delta = 0,  0 <= alpha, alphahat <= C.

    delta = alpha - alphahat. The multiplier of the equality `balance` is b or -b.
    """
    return _l1_dual(problem, as_printed=False)


@formulation(
    "svr.l1.dual.as_printed",
    "svr.l1",
    Source("T", "(70)-(73) as printed, (alpha_i - alphahat_i) twice"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - \tfrac12\sum_i\delta_i^2 K_{ii}"
    r" \quad\text{s.t.}\quad 1^\top\delta = 0,\ 0 \le \alpha,\hat\alpha \le C,\quad \delta = \alpha - \hat\alpha",
    carries="multipliers",
    control=True,
)
def l1_dual_as_printed(problem: MarginProblem) -> Declaration:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 sum_i delta_i^2 K_ii   s.t.  1'delta = 0,  0 <= alpha, alphahat <= C.

    A misprint: the document has (alpha_i - alphahat_i)(alpha_i - alphahat_i) under a double sum, read here with j = i, because with j
    running the form is not concave.
    """
    return _l1_dual(problem, as_printed=True)


@formulation(
    "svr.l2.primal",
    "svr.l2",
    Source("T", "(60)-(63) as printed"),
    latex=r"\min_{w,b,\xi,\hat\xi}\ \tfrac12\|w\|^2 + C\sum_i(\xi_i^2 + \hat\xi_i^2) \quad\text{s.t.}\quad"
    r" -\varepsilon - \hat\xi_i \le y_i - w\cdot x_i - b \le \varepsilon + \xi_i,\ \xi,\hat\xi \ge 0",
    carries="function",
    in_features=True,
)
def l2_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_i (xi_i^2 + xihat_i^2)   s.t.  y - Xw - b <= epsilon + xi,  Xw + b - y <= epsilon + xihat,  xi, xihat >= 0.

    The multipliers of `above` and `below` are alpha, alphahat >= 0 of the dual. xi, xihat >= 0 is redundant.
    """
    return _primal(problem, power=2)


@formulation(
    "svr.l2.dual",
    "svr.l2",
    Source("T", "(60)-(63), their dual"),
    latex=r"\max_{\alpha,\hat\alpha}\ y^\top\delta - \varepsilon 1^\top(\alpha+\hat\alpha) - \tfrac12\delta^\top K\delta"
    r" - \tfrac1{4C}(\|\alpha\|^2 + \|\hat\alpha\|^2) \quad\text{s.t.}\quad 1^\top\delta = 0,\ \alpha,\hat\alpha \ge 0",
    carries="multipliers",
)
def l2_dual(problem: MarginProblem) -> Declaration:
    """max  y'delta - epsilon 1'(alpha + alphahat) - 1/2 delta'K delta - |alpha, alphahat|^2/(4C)  s.t.  1'delta = 0,  alpha, alphahat >= 0.

    delta = alpha - alphahat. The multiplier of the equality `balance` is b or -b.
    """
    import cvxpy as cp

    K, L, m, (y, epsilon) = problem.gram.dense, problem.features(), problem.m, _tube(problem)
    roots, free = np.split(problem.inverse_root_weights, 2), np.split(problem.unit_weights == 0, 2)
    inverse = cp.Parameter(nonneg=True, name="1/C", value=1 / problem.C)
    alpha, alphahat, w = cp.Variable(m, name="alpha"), cp.Variable(m, name="alphahat"), cp.Variable(L.shape[1], name="w")
    ridge = cp.sum_squares(cp.multiply(roots[0], alpha)) + cp.sum_squares(cp.multiply(roots[1], alphahat))

    def printed(v: Mapping[str, Any]) -> Printed:
        a, ahat = v["alpha"], v["alphahat"]
        squares = ((roots[0] * a) ** 2).sum() + ((roots[1] * ahat) ** 2).sum()
        return Printed(
            y @ (a - ahat) - epsilon * (a + ahat).sum() - (a - ahat) @ K @ (a - ahat) / 2 - v["1/C"] / 4 * squares,
            {
                "balance": np.abs((a - ahat).sum()),
                "lower": -a,
                "lowerhat": -ahat,
                "unweighted": np.abs(a[free[0]]),
                "unweightedhat": np.abs(ahat[free[1]]),
            },
        )

    return Declaration(
        problem,
        cp.Maximize(y @ (alpha - alphahat) - epsilon * cp.sum(alpha + alphahat) - cp.sum_squares(w) / 2 - inverse / 4 * ridge),
        {
            "span": w == L.T @ (alpha - alphahat),
            "balance": cp.sum(alpha - alphahat) == 0,
            "lower": alpha >= 0,
            "lowerhat": alphahat >= 0,
            **({"unweighted": alpha[free[0]] == 0} if free[0].any() else {}),
            **({"unweightedhat": alphahat[free[1]] == 0} if free[1].any() else {}),
        },
        variables={"alpha": alpha, "alphahat": alphahat, "w": w},
        parameters={"1/C": inverse},
        recover=lambda d: Point(alpha=np.concatenate([alpha.value, alphahat.value])),
        express=lambda at: {"alpha": at.alpha[:m], "alphahat": at.alpha[m:], "w": L.T @ (at.alpha[:m] - at.alpha[m:])},
        printed=printed,
    )


def _primal(problem: MarginProblem, power: int) -> Declaration:
    import cvxpy as cp

    X, m, (y, epsilon) = problem.features(), problem.m, _tube(problem)
    (c, chat), hard = np.split(problem.soft_weights, 2), np.split(problem.hard, 2)
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
    xi, xihat = cp.Variable(m, name="xi"), cp.Variable(m, name="xihat")
    if power == 1:
        cost = c @ xi + chat @ xihat
    else:
        cost = cp.sum_squares(cp.multiply(np.sqrt(c), xi)) + cp.sum_squares(cp.multiply(np.sqrt(chat), xihat))

    def printed(v: Mapping[str, Any]) -> Printed:
        residual = y - X @ v["w"] - v["b"]
        return Printed(
            v["w"] @ v["w"] / 2 + v["C"] * (c @ v["xi"] ** power + chat @ v["xihat"] ** power),
            {
                "above": residual - epsilon - v["xi"],
                "below": -residual - epsilon - v["xihat"],
                "slack": -v["xi"],
                "slackhat": -v["xihat"],
                "hard": np.concatenate([v["xi"][hard[0]], v["xihat"][hard[1]]]),
            },
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * cost),
        {
            "above": y - X @ w - b <= epsilon + xi,
            "below": X @ w + b - y <= epsilon + xihat,
            "slack": xi >= 0,
            "slackhat": xihat >= 0,
            **({"hard": xi[hard[0]] == 0} if hard[0].any() else {}),
            **({"hardhat": xihat[hard[1]] == 0} if hard[1].any() else {}),
        },
        variables={"w": w, "b": b, "xi": xi, "xihat": xihat},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, float(b.value), _stacked(d)),
        express=lambda at: {"w": at.w, "b": at.b, "xi": at.xi[:m], "xihat": at.xi[m:]},
        printed=printed,
    )


def _l1_dual(problem: MarginProblem, as_printed: bool) -> Declaration:
    import cvxpy as cp

    m, (y, epsilon) = problem.m, _tube(problem)
    Q = np.diag(problem.gram.diagonal) if as_printed else problem.gram.dense
    L = np.diag(np.sqrt(problem.gram.diagonal)) if as_printed else problem.features()
    (c, chat), (soft, softhat) = np.split(problem.soft_weights, 2), np.split(~problem.hard, 2)
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, alphahat, w = cp.Variable(m, name="alpha"), cp.Variable(m, name="alphahat"), cp.Variable(L.shape[1], name="w")

    def printed(v: Mapping[str, Any]) -> Printed:
        a, ahat = v["alpha"], v["alphahat"]
        return Printed(
            y @ (a - ahat) - epsilon * (a + ahat).sum() - (a - ahat) @ Q @ (a - ahat) / 2,
            {
                "balance": np.abs((a - ahat).sum()),
                "lower": -a,
                "lowerhat": -ahat,
                "upper": (a - v["C"] * c)[soft],
                "upperhat": (ahat - v["C"] * chat)[softhat],
            },
        )

    return Declaration(
        problem,
        cp.Maximize(y @ (alpha - alphahat) - epsilon * cp.sum(alpha + alphahat) - cp.sum_squares(w) / 2),
        {
            "span": w == L.T @ (alpha - alphahat),
            "balance": cp.sum(alpha - alphahat) == 0,
            "lower": alpha >= 0,
            "lowerhat": alphahat >= 0,
            "upper": alpha[soft] <= C * c[soft],
            "upperhat": alphahat[softhat] <= C * chat[softhat],
        },
        variables={"alpha": alpha, "alphahat": alphahat, "w": w},
        parameters={"C": C},
        recover=lambda d: Point(alpha=np.concatenate([alpha.value, alphahat.value])),
        express=lambda at: {"alpha": at.alpha[:m], "alphahat": at.alpha[m:], "w": L.T @ (at.alpha[:m] - at.alpha[m:])},
        printed=printed,
    )


def _tube(problem: MarginProblem) -> tuple[Any, float]:
    if not isinstance(problem.rows, Tube):
        raise ValueError("a regression problem is needed")
    return problem.rows.y, problem.rows.epsilon


def _stacked(declaration: Declaration) -> Any:
    """The multipliers of both sides of the tube as one alpha, (2m,)."""
    above, below = declaration.multiplier("above"), declaration.multiplier("below")
    return None if above is None or below is None else np.concatenate([above, below])
