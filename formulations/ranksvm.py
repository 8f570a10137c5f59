"""RankSVM, as documents T (section 4), K (sections 1 to 3) and P (section 3) print it.

A (p, m), which is P in document P, has one row for every preference of i to j: +1 at i and -1 at j.  K : (m, m) Gram.  X : (m, d) features
(a factor of K for a nonlinear kernel).  c : (p,) weights of the cost C. The forms of document P are at lambda = 1/C, and their objective
is C times smaller than the family's.

With K = L L' and w = L'beta, beta'K beta = |w|^2 and K beta = L w. The forms in alpha and in beta declare w as a variable beside alpha or
beta, because the backends then solve them to more digits than a form with a singular or badly scaled K.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation, reciprocal
from equimargin.formulations.hard_rows import hard_margins, length, no_slack, point_of_margin, shortfall, value_of_margin
from equimargin.formulations.numeric.arrays import Array, dense
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.refusal import Refusal, too_large

ALL_SUBSETS = 8
"""Pairs up to which the 1-slack form is declared over every subset of them. For more it is declared over the subsets that a cutting loop
finds."""
MOST_CUTS = 500
"""Subsets, at most, that the cutting loop adds to the 1-slack form: a problem that needs more is refused."""
CUT_TOLERANCE = 1e-9
"""Violation over 1 + |xi|, at most, of a subset that is not declared: one that is violated more is added, and the form is solved again."""
_SUBSETS: WeakKeyDictionary[MarginProblem, Array] = WeakKeyDictionary()
"""The subsets over which a problem's 1-slack form is declared, by the problem: they are found once for all backends."""


@formulation(
    "rank.hard.primal",
    "rank.hard",
    Source("T", "(84)-(85) with xi = 0"),
    latex=r"\min_w\ \tfrac12\|w\|^2 \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1",
    carries="function",
)
def hard_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2   s.t.  w.(phi_i - phi_j) >= 1   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    import cvxpy as cp

    X, A = problem.features(), problem.rows.matrix
    w = cp.Variable(X.shape[1], name="w")
    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2),
        {"margin": A @ (X @ w) >= 1},
        variables={"w": w},
        parameters={},
        recover=lambda d: problem.point_of_w(w.value, 0.0, d.multiplier("margin")),
        express=lambda at: {"w": at.w},
        printed=lambda v: Printed(v["w"] @ v["w"] / 2, {"margin": 1 - A @ (X @ v["w"])}),
    )


@formulation(
    "rank.hard.dual",
    "rank.hard",
    Source("T", "(84)-(85) with xi = 0, its dual"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\beta^\top K\beta \quad\text{s.t.}\quad \beta = A^\top\alpha,\ \alpha \ge 0",
    carries="multipliers",
)
def hard_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 beta'K beta   s.t.  beta = A'alpha,  alpha >= 0.

    Unbounded exactly where no function ranks every pair.
    """
    return _dual(problem, half=0.5, boxed=False)


@formulation(
    "rank.hard.margin",
    "rank.hard",
    Source("T", "Corollary 2"),
    latex=r"\max_{u,t}\ t \quad\text{s.t.}\quad u\cdot(\phi_i-\phi_j) \ge t,\ \|u\| \le 1",
    carries="function",
)
def hard_margin(problem: MarginProblem) -> Declaration:
    """max  t   s.t.  u.(phi_i - phi_j) >= t,  |u| <= 1.

    The margin t is 1 / |w|: the family's value is 1 / (2 t^2), w = u / t, and alpha = mu / t^2 for the multiplier mu of `margin`.
    """
    import cvxpy as cp

    X, A = problem.features(), problem.rows.matrix
    u, t = cp.Variable(X.shape[1], name="u"), cp.Variable(name="t")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(v["t"], {"margin": v["t"] - A @ (X @ v["u"]), "ball": np.linalg.norm(v["u"]) - 1})

    return Declaration(
        problem,
        cp.Maximize(t),
        {
            "margin": A @ (X @ u) >= t,
            "ball": cp.norm(u, 2) <= 1,
        },
        variables={"u": u, "t": t},
        parameters={},
        recover=lambda d: point_of_margin(problem, u.value, 0.0, float(t.value), d.multiplier("margin")),
        express=lambda at: {"u": at.w / length(at.w), "t": (1 - at.u).min(initial=np.inf) / length(at.w)},
        printed=printed,
        value=lambda margin, at: value_of_margin(problem, margin),
    )


@formulation(
    "rank.l1.primal",
    "rank.l1",
    Source("T", "(84)-(86)"),
    Source("K", "(1.2) = (3.11)"),
    Source("W", "both"),
    Source("O", "in words"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_{ij}\xi_{ij}"
    r" \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1 - \xi_{ij},\ \xi_{ij} \ge 0",
    carries="function",
    in_features=True,
)
def l1_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_ij xi_ij   s.t.  w.(phi_i - phi_j) >= 1 - xi_ij,  xi_ij >= 0   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of (2.4).
    """
    return _primal(problem, power=1)


@formulation(
    "rank.l1.dual",
    "rank.l1",
    Source("K", "(2.4)"),
    Source("T", "(88)-(89), linear kernel, with the 1/2"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\beta^\top K\beta \quad\text{s.t.}\quad \beta = A^\top\alpha,\ 0 \le \alpha \le C",
    carries="multipliers",
)
def l1_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= C.

    beta stands for A'alpha, so that Qhat = A K A', p x p, is never formed.
    """
    return _dual(problem, half=0.5, boxed=True)


@formulation(
    "rank.l1.dual.as_printed",
    "rank.l1",
    Source("T", "(88)-(89) as printed, without the 1/2"),
    latex=r"\max_\alpha\ 1^\top\alpha - \beta^\top K\beta \quad\text{s.t.}\quad \beta = A^\top\alpha,\ 0 \le \alpha \le C",
    carries="multipliers",
    control=True,
)
def l1_dual_as_printed(problem: MarginProblem) -> Declaration:
    """max  1'alpha - beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= C.

    A misprint: its optimum at C is half the right one at 2C.
    """
    return _dual(problem, half=1.0, boxed=True)


@formulation(
    "rank.l1.beta",
    "rank.l1",
    Source("K", "(3.12), by (2.9)"),
    Source("T", "Theorem 1, (97)-(98)"),
    latex=r"\min_\beta\ \tfrac12\beta^\top K\beta + C\,1^\top(1 - AK\beta)_+",
    carries="function",
)
def l1_beta(problem: MarginProblem) -> Declaration:
    """min  1/2 beta'K beta + C 1'(1 - A g)_+   s.t.  g = K beta,  beta free.

    No multipliers of the rows: the point has f only.
    """
    return _beta(problem, power=1)


@formulation(
    "rank.l1.betahat",
    "rank.l1",
    Source("K", "(3.15), by (3.16)"),
    latex=r"\min_{\hat\beta}\ \tfrac12\hat\beta^\top\hat Q\hat\beta + C\,1^\top(1 - \hat Q\hat\beta)_+,\quad \hat Q = AKA^\top",
    carries="multipliers",
)
def l1_betahat(problem: MarginProblem) -> Declaration:
    """min  1/2 betahat'Qhat betahat + C 1'(1 - Qhat betahat)_+,   Qhat = A K A',  betahat free, one number a pair.

    Any optimal alpha of (2.4) is optimal here (Appendix A), not the other way round: the point has f = A'betahat only.
    """
    import cvxpy as cp

    A, K, L, c = problem.rows.matrix, problem.gram.dense, problem.features(), problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    betahat, v = cp.Variable(problem.p, name="betahat"), cp.Variable(L.shape[1], name="v")
    beta, g = cp.Variable(problem.m, name="beta"), cp.Variable(problem.m, name="g")

    def printed(at: Mapping[str, Any]) -> Printed:
        Qb = A @ (K @ (A.T @ at["betahat"]))
        return Printed(at["betahat"] @ Qb / 2 + at["C"] * c @ np.maximum(1 - Qb, 0), shortfall(problem, 1 - Qb))

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(v) / 2 + C * (c @ cp.pos(1 - A @ g))),
        {
            "pairs": beta == A.T @ betahat,
            "span": v == L.T @ beta,
            "values": g == L @ v,
            **hard_margins(problem, A @ g),
        },
        variables={"betahat": betahat, "beta": beta, "v": v, "g": g},
        parameters={"C": C},
        recover=lambda d: Point(beta=A.T @ betahat.value, b=0.0),
        express=lambda at: {"betahat": at.alpha, "beta": A.T @ at.alpha, "v": L.T @ (A.T @ at.alpha), "g": K @ (A.T @ at.alpha)},
        printed=printed,
    )


@formulation(
    "rank.oneslack",
    "rank.l1",
    Source("K", "(2.8)"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\xi"
    r" \quad\text{s.t.}\quad w\cdot\sum_{ij}c_{ij}(\phi_i-\phi_j) \ge \sum_{ij}c_{ij} - \xi,\ c\in\{0,1\}^p",
    carries="function",
    applies=lambda problem: Refusal("the 1-slack form has no hard rows") if problem.hard.any() else None,
)
def oneslack(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C xi   s.t.  w.sum_ij c_ij (phi_i - phi_j) >= sum_ij c_ij - xi   for every c in {0,1}^p.

    Up to ALL_SUBSETS pairs the form has every subset c. For more pairs it has the subsets that its own solutions violate most, added one by
    one until none is violated by more than CUT_TOLERANCE. These subsets belong to one value of C, so that C is no parameter of the form:
    another C needs another declaration. If mu >= 0 is the multiplier of `subset`, then alpha = sum_c mu_c c.
    """
    import cvxpy as cp

    X, A, weight = problem.features(), problem.rows.matrix, problem.unit_weights
    D = dense(A @ X) * weight[:, None]
    every = problem.p <= ALL_SUBSETS
    if problem not in _SUBSETS:
        _SUBSETS[problem] = _every_subset(problem.p) if every else _violated_subsets(D, weight, problem.C)
    subsets = _SUBSETS[problem]
    C = cp.Parameter(nonneg=True, name="C", value=problem.C) if every else cp.Constant(problem.C)
    w, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(name="xi")

    def printed(v: Mapping[str, Any]) -> Printed:
        worst = np.maximum(weight - D @ v["w"], 0.0).sum() - v["xi"]
        return Printed(v["w"] @ v["w"] / 2 + v.get("C", problem.C) * v["xi"], {"subset": worst})

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * xi),
        {"subset": (subsets @ D) @ w >= subsets @ weight - xi},
        variables={"w": w, "xi": xi},
        parameters={"C": C} if every else {},
        recover=lambda d: problem.point_of_w(w.value, 0.0, _of_subsets(subsets, weight, d.multiplier("subset"))),
        express=lambda at: {"w": at.w, "xi": weight @ at.xi},
        printed=printed,
    )


@formulation(
    "rank.lambda.function",
    "rank.l1",
    Source("P", "(5), preferred first"),
    latex=r"\min_{f\in\mathcal H,\zeta}\ 1^\top\zeta + \lambda\|f\|^2"
    r" \quad\text{s.t.}\quad f(x_i) - f(x_j) \ge 1 - \zeta_{ij},\ \zeta \ge 0",
    carries="function",
)
def lambda_function(problem: MarginProblem) -> Declaration:
    """min  1'zeta + lambda |f|^2   s.t.  f(x_i) - f(x_j) >= 1 - zeta_ij,  zeta >= 0;   lambda = 1/(2C).

    f is w in an orthonormal basis. The multiplier of `margin` is alpha of (8), in [0, 1]; the family's is C times it.
    """
    return _lambda_function(problem, halves=2)


@formulation(
    "rank.lambda.function.as_lambda_half",
    "rank.l1",
    Source("P", "(5) at the lambda of (6)"),
    latex=r"\min_{f\in\mathcal H,\zeta}\ 1^\top\zeta + \lambda\|f\|^2"
    r" \quad\text{s.t.}\quad f(x_i) - f(x_j) \ge 1 - \zeta_{ij},\quad \lambda = 1/C",
    carries="function",
    control=True,
)
def lambda_function_as_lambda_half(problem: MarginProblem) -> Declaration:
    """min  1'zeta + lambda |f|^2   s.t.  f(x_i) - f(x_j) >= 1 - zeta_ij,  zeta >= 0;   lambda = 1/C.

    A misprint: (5) has lambda |f|^2 where (6) has lambda/2 beta'K beta, and the document takes them for the same problem.
    """
    return _lambda_function(problem, halves=1)


@formulation(
    "rank.lambda.primal",
    "rank.l1",
    Source("P", "(6)"),
    latex=r"\min_{\beta,\zeta}\ 1^\top\zeta + \tfrac\lambda2\beta^\top K\beta \quad\text{s.t.}\quad PK\beta \ge 1 - \zeta,\ \zeta \ge 0",
    carries="function",
)
def lambda_primal(problem: MarginProblem) -> Declaration:
    """min  1'zeta + lambda/2 beta'K beta   s.t.  A g >= 1 - zeta,  zeta >= 0,  g = K beta;   lambda = 1/C.

    The multiplier of `margin` is alpha of (8), in [0, 1]; the family's is alpha / lambda.
    """
    import cvxpy as cp

    A, K, L, c = problem.rows.matrix, problem.gram.dense, problem.features(), problem.soft_weights
    lam = cp.Parameter(nonneg=True, name="lambda", value=1 / problem.C)
    beta, v = cp.Variable(problem.m, name="beta"), cp.Variable(L.shape[1], name="v")
    g, zeta = cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="zeta")

    def printed(at: Mapping[str, Any]) -> Printed:
        values = K @ at["beta"]
        return Printed(
            c @ at["zeta"] + at["lambda"] / 2 * at["beta"] @ values,
            {"margin": 1 - at["zeta"] - A @ values, "slack": -at["zeta"], **shortfall(problem, at["zeta"])},
        )

    return Declaration(
        problem,
        cp.Minimize(c @ zeta + lam / 2 * cp.sum_squares(v)),
        {
            "margin": A @ g >= 1 - zeta,
            "slack": zeta >= 0,
            "span": v == L.T @ beta,
            "values": g == L @ v,
            **no_slack(problem, zeta),
        },
        variables={"beta": beta, "v": v, "g": g, "zeta": zeta},
        parameters={"lambda": lam},
        recover=lambda d: Point(beta=beta.value, b=0.0, alpha=_scaled(d.multiplier("margin"), 1 / lam.value)),
        express=lambda at: {"beta": at.beta, "v": L.T @ at.beta, "g": at.f, "zeta": at.xi},
        printed=printed,
        value=lambda v, at: v / at["lambda"],
    )


@formulation(
    "rank.lambda.dual",
    "rank.l1",
    Source("P", "(8)"),
    latex=r"\max_\alpha\ \alpha^\top 1 - \tfrac1{2\lambda}\alpha^\top PKP^\top\alpha \quad\text{s.t.}\quad 0 \le \alpha \le 1",
    carries="multipliers",
)
def lambda_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/(2 lambda) beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= 1;   lambda = 1/C.

    The family's alpha is alpha / lambda.
    """
    return _unit_dual(problem, "1/lambda", lambda inverse, total, half: total - inverse * half, cost=lambda inverse: inverse, powers=1)


@formulation(
    "rank.path",
    "rank.l1",
    Source("P", "section 5, (8) for all lambda"),
    latex=r"\max_{\alpha(\lambda)}\ \lambda\,\alpha^\top 1 - \tfrac12\alpha^\top PKP^\top\alpha"
    r" \quad\text{s.t.}\quad 0 \le \alpha \le 1,\quad \lambda > 0",
    carries="multipliers",
)
def path(problem: MarginProblem) -> Declaration:
    """max  lambda 1'alpha - 1/2 beta'K beta   s.t.  beta = A'alpha,  0 <= alpha <= 1;   for all lambda = 1/C > 0.

    (8) times lambda: a quadratic program whose parameter is in its linear term only, so that alpha(lambda), chosen well, and
    lambda f = K beta are piecewise linear in lambda, and f is affine in 1/lambda from one breakpoint to the next. Declared at one lambda;
    `regularization_path` has them all. The family's alpha is alpha / lambda.
    """
    return _unit_dual(problem, "lambda", lambda lam, total, half: lam * total - half, cost=lambda lam: 1 / lam, powers=2)


@formulation(
    "rank.l2.primal",
    "rank.l2",
    Source("K", "section 1, with xi squared"),
    latex=r"\min_{w,\xi}\ \tfrac12\|w\|^2 + C\sum_{ij}\xi_{ij}^2"
    r" \quad\text{s.t.}\quad w\cdot(\phi_i-\phi_j) \ge 1 - \xi_{ij},\ \xi_{ij} \ge 0",
    carries="function",
    in_features=True,
)
def l2_primal(problem: MarginProblem) -> Declaration:
    """min  1/2 |w|^2 + C sum_ij xi_ij^2   s.t.  w.(phi_i - phi_j) >= 1 - xi_ij,  xi_ij >= 0   for every i preferred to j.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    return _primal(problem, power=2)


@formulation(
    "rank.l2.dual",
    "rank.l2",
    Source("K", "section 1, with xi squared, its dual"),
    latex=r"\max_\alpha\ 1^\top\alpha - \tfrac12\alpha^\top(\hat Q + \tfrac1{2C}I)\alpha \quad\text{s.t.}\quad \alpha \ge 0",
    carries="multipliers",
)
def l2_dual(problem: MarginProblem) -> Declaration:
    """max  1'alpha - 1/2 beta'K beta - |alpha|^2/(4C)   s.t.  beta = A'alpha,  alpha >= 0."""
    import cvxpy as cp

    A, K, L = problem.rows.matrix, problem.gram.dense, problem.features()
    roots, free = problem.inverse_root_weights, problem.unit_weights == 0
    inverse = cp.Parameter(nonneg=True, name="1/C", value=1 / problem.C)
    alpha, beta = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="beta")
    w = cp.Variable(L.shape[1], name="w")

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        span = A.T @ a
        value = a.sum() - span @ K @ span / 2 - v["1/C"] / 4 * ((roots * a) @ (roots * a))
        return Printed(value, {"lower": -a, "unweighted": np.abs(a[free])})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - cp.sum_squares(w) / 2 - inverse / 4 * cp.sum_squares(cp.multiply(roots, alpha))),
        {
            "pairs": beta == A.T @ alpha,
            "span": w == L.T @ beta,
            "lower": alpha >= 0,
            **({"unweighted": alpha[free] == 0} if free.any() else {}),
        },
        variables={"alpha": alpha, "beta": beta, "w": w},
        parameters={"1/C": inverse},
        recover=lambda d: Point(alpha=alpha.value),
        express=lambda at: _span(A, L, at.alpha),
        printed=printed,
    )


@formulation(
    "rank.l2.beta",
    "rank.l2",
    Source("K", "(3.13)"),
    latex=r"\min_\beta\ \tfrac12\beta^\top K\beta + C\|(1 - AK\beta)_+\|^2",
    carries="function",
)
def l2_beta(problem: MarginProblem) -> Declaration:
    """min  1/2 beta'K beta + C |(1 - A g)_+|^2   s.t.  g = K beta,  beta free.

    No multipliers of the rows: the point has f only.
    """
    return _beta(problem, power=2)


@formulation(
    "rank.l2.value.as_printed",
    "rank.l2",
    Source("K", "(B.1) as printed, + p_beta without C"),
    latex=r"\tfrac12\beta^\top Q\beta + C(A_\beta Q\beta)^\top(A_\beta Q\beta - 2e_\beta) + p_\beta",
    carries="function",
    control=True,
)
def l2_value_as_printed(problem: MarginProblem) -> Declaration:
    """1/2 beta'K beta + C (A_beta g)'(A_beta g - 2e) + p_beta   at the beta that (3.13) gives;  A_beta : the rows with (A g)_r < 1.

    A misprinted read-out of a solution, not a problem: the last term is C p_beta. Equal to the right one at C = 1 only.
    """
    right = _beta(problem, power=2)
    A, K = problem.rows.matrix, problem.gram.dense

    def printed(at: Mapping[str, Any]) -> Printed:
        g = K @ at["beta"]
        margins = (A @ g)[A @ g < 1]
        return Printed(at["beta"] @ g / 2 + at["C"] * margins @ (margins - 2) + len(margins))

    return Declaration(
        problem, right.objective, right.constraints, right.variables, right.parameters, right.recover, right.express, printed
    )


def _primal(problem: MarginProblem, power: int) -> Declaration:
    """1/2 |w|^2 + C sum_r c_r xi_r^power over the pairs."""
    import cvxpy as cp

    X, A, c = problem.features(), problem.rows.matrix, problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    w, xi = cp.Variable(X.shape[1], name="w"), cp.Variable(problem.p, name="xi")
    cost = c @ xi if power == 1 else cp.sum_squares(cp.multiply(np.sqrt(c), xi))

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(
            v["w"] @ v["w"] / 2 + v["C"] * c @ v["xi"] ** power,
            {"margin": 1 - v["xi"] - A @ (X @ v["w"]), "slack": -v["xi"], **shortfall(problem, v["xi"])},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(w) / 2 + C * cost),
        {
            "margin": A @ (X @ w) >= 1 - xi,
            "slack": xi >= 0,
            **no_slack(problem, xi),
        },
        variables={"w": w, "xi": xi},
        parameters={"C": C},
        recover=lambda d: problem.point_of_w(w.value, 0.0, d.multiplier("margin")),
        express=lambda at: {"w": at.w, "xi": at.xi},
        printed=printed,
    )


def _dual(problem: MarginProblem, half: float, boxed: bool) -> Declaration:
    """1'alpha - half |A'alpha|_K^2, in the box or over alpha >= 0."""
    import cvxpy as cp

    A, K, L, soft = problem.rows.matrix, problem.gram.dense, problem.features(), ~problem.hard
    c = problem.soft_weights[soft]
    C = cp.Parameter(nonneg=True, name="C", value=problem.C if boxed else 0.0)
    alpha, beta = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="beta")
    w = cp.Variable(L.shape[1], name="w")

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        span = A.T @ a
        return Printed(a.sum() - half * span @ K @ span, {"lower": -a} | ({"upper": a[soft] - v["C"] * c} if boxed else {}))

    return Declaration(
        problem,
        cp.Maximize(cp.sum(alpha) - half * cp.sum_squares(w)),
        {
            "pairs": beta == A.T @ alpha,
            "span": w == L.T @ beta,
            "lower": alpha >= 0,
            **({"upper": alpha[soft] <= C * c} if boxed else {}),
        },
        variables={"alpha": alpha, "beta": beta, "w": w},
        parameters={"C": C} if boxed else {},
        recover=lambda d: Point(alpha=alpha.value),
        express=lambda at: _span(A, L, at.alpha),
        printed=printed,
    )


def _beta(problem: MarginProblem, power: int) -> Declaration:
    """1/2 beta'K beta + C sum_r c_r (1 - A K beta)_+^power over free beta."""
    import cvxpy as cp

    A, K, L, c = problem.rows.matrix, problem.gram.dense, problem.features(), problem.soft_weights
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    beta, v, g = cp.Variable(problem.m, name="beta"), cp.Variable(L.shape[1], name="v"), cp.Variable(problem.m, name="g")
    short = cp.pos(1 - A @ g)
    cost = c @ short if power == 1 else cp.sum_squares(cp.multiply(np.sqrt(c), short))

    def printed(at: Mapping[str, Any]) -> Printed:
        values = K @ at["beta"]
        loss = c @ np.maximum(1 - A @ values, 0) ** power
        return Printed(at["beta"] @ values / 2 + at["C"] * loss, shortfall(problem, 1 - A @ values))

    return Declaration(
        problem,
        cp.Minimize(cp.sum_squares(v) / 2 + C * cost),
        {
            "span": v == L.T @ beta,
            "values": g == L @ v,
            **hard_margins(problem, A @ g),
        },
        variables={"beta": beta, "v": v, "g": g},
        parameters={"C": C},
        recover=lambda d: Point(beta=beta.value, b=0.0),
        express=lambda at: {"beta": at.beta, "v": L.T @ at.beta, "g": at.f},
        printed=printed,
    )


def _lambda_function(problem: MarginProblem, halves: int) -> Declaration:
    """1'zeta + lambda |f|^2 at lambda = 1 / (halves C)."""
    import cvxpy as cp

    X, A, c = problem.features(), problem.rows.matrix, problem.soft_weights
    lam = cp.Parameter(nonneg=True, name="lambda", value=1 / (halves * problem.C))
    f, zeta = cp.Variable(X.shape[1], name="f"), cp.Variable(problem.p, name="zeta")

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(
            c @ v["zeta"] + v["lambda"] * v["f"] @ v["f"],
            {"margin": 1 - v["zeta"] - A @ (X @ v["f"]), "slack": -v["zeta"], **shortfall(problem, v["zeta"])},
        )

    return Declaration(
        problem,
        cp.Minimize(c @ zeta + lam * cp.sum_squares(f)),
        {
            "margin": A @ (X @ f) >= 1 - zeta,
            "slack": zeta >= 0,
            **no_slack(problem, zeta),
        },
        variables={"f": f, "zeta": zeta},
        parameters={"lambda": lam},
        recover=lambda d: problem.point_of_w(f.value, 0.0, _scaled(d.multiplier("margin"), 1 / (halves * lam.value))),
        express=lambda at: {"f": at.w, "zeta": at.xi},
        printed=printed,
        value=lambda v, at: v / (halves * at["lambda"]),
        cost=lambda v: reciprocal(halves * v),
    )


def _unit_dual(
    problem: MarginProblem, name: str, objective: Callable[[Any, Any, Any], Any], cost: Callable[[float], float], powers: int
) -> Declaration:
    """The dual of document P, in alpha <= 1.

    name : of the parameter.  objective : of the parameter, 1'alpha and 1/2 beta'K beta.  cost : C of the parameter, and the parameter of C.
    powers : of C that the objective is smaller than the family's.
    """
    import cvxpy as cp

    A, K, L = problem.rows.matrix, problem.gram.dense, problem.features()
    c, soft = problem.soft_weights, ~problem.hard
    parameter = cp.Parameter(nonneg=True, name=name, value=cost(problem.C))
    alpha, beta = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="beta")
    w = cp.Variable(L.shape[1], name="w")

    def printed(v: Mapping[str, Any]) -> Printed:
        a = v["alpha"]
        span = A.T @ a
        return Printed(objective(v[name], a.sum(), span @ K @ span / 2), {"lower": -a, "upper": (a - c)[soft]})

    return Declaration(
        problem,
        cp.Maximize(objective(parameter, cp.sum(alpha), cp.sum_squares(w) / 2)),
        {
            "pairs": beta == A.T @ alpha,
            "span": w == L.T @ beta,
            "lower": alpha >= 0,
            "upper": alpha[soft] <= c[soft],
        },
        variables={"alpha": alpha, "beta": beta, "w": w},
        parameters={name: parameter},
        recover=lambda d: Point(alpha=alpha.value * cost(parameter.value)),
        express=lambda at: {key: v / at.problem.C for key, v in _span(A, L, at.alpha).items()},
        printed=printed,
        value=lambda v, at: v * cost(at[name]) ** powers,
    )


def _span(A: Any, L: Any, alpha: Array) -> dict[str, Array]:
    """alpha with its beta = A'alpha and w = L'beta."""
    beta = A.T @ alpha
    return {"alpha": alpha, "beta": beta, "w": L.T @ beta}


def _scaled(alpha: Array | None, factor: float) -> Array | None:
    return None if alpha is None else alpha * factor


def _every_subset(p: int) -> Array:
    """All of {0,1}^p, (2^p, p)."""
    return np.array(list(product((0.0, 1.0), repeat=p)), dtype=np.float64).reshape(2**p, p)


def _violated_subsets(D: Array, weight: Array, C: float) -> Array:
    """The subsets that solutions of (2.8) over the subsets so far violate most, (cuts, p); D : (p, d) weighted rows of A X."""
    subsets = [np.zeros(len(D)), np.ones(len(D))]
    for _ in range(MOST_CUTS):
        chosen = np.array(subsets)
        w, xi = _over_subsets(chosen @ D, chosen @ weight, C)
        short = weight - D @ w
        if np.maximum(short, 0.0).sum() - xi <= CUT_TOLERANCE * (1 + abs(xi)):
            return chosen
        subsets.append((short > 0).astype(np.float64))
    raise ValueError(str(too_large(f"{MOST_CUTS} subsets of the 1-slack form are not enough")))


def _over_subsets(cuts: Array, least: Array, C: float) -> tuple[Array, float]:
    """w and xi of min 1/2 |w|^2 + C xi s.t. cuts w >= least - xi, by CLARABEL itself: cvxpy would take longer to say it than it to solve.

    An inaccurate solution is as good as any, because the next cut sees to what it violates.
    """
    import clarabel
    from scipy import sparse

    k, d = cuts.shape
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = False, 1e-11, 1e-11, 1e-11
    squares, costs = sparse.diags_array(np.append(np.ones(d), 0.0), format="csc"), np.append(np.zeros(d), C)
    rows = sparse.csc_array(np.column_stack([-cuts, -np.ones(k)]))
    answer = clarabel.DefaultSolver(squares, costs, rows, -least, [clarabel.NonnegativeConeT(k)], settings).solve()
    if answer.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise ValueError("not declared: the problem is too badly scaled for the cutting planes of the 1-slack form")
    found = np.array(answer.x)
    return found[:d], float(found[d])


def _of_subsets(subsets: Array, weight: Array, mu: Array | None) -> Array | None:
    """alpha_r = weight_r sum_c mu_c c_r."""
    return None if mu is None else weight * (subsets.T @ mu)
