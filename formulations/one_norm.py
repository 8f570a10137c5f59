"""One-norm ranking and classification by linear programming, as documents T (section 5) and K (section 2.3) print them.

The ranking vector machine (RVM) has one unknown for every point, and the 1-norm ranking SVM has one for every pair. The 1-norm classifying
SVM has one for every point, which its label signs.

A : (p, m) has one row for every preference, +1 at the preferred point and -1 at the other; of a classification it is Y = diag(y).
K : (m, m) Gram. Where it is Z Z' of features Z with fewer entries, K beta is declared as Z w with w = Z'beta: a backend is given Z and Z'
instead of K, and some solve large programs so that they give up with K.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.declaration import Declaration, Printed, Source, formulation
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.one_norm import OneNormProblem
from equimargin.formulations.problem.point import OneNormPoint


@formulation(
    "rvm.primal",
    "rvm",
    Source("T", "(102)-(104)"),
    Source("K", "(2.10)"),
    latex=r"\min_{\beta,\xi}\ 1^\top\beta + C\,1^\top\xi \quad\text{s.t.}\quad AK\beta \ge 1 - \xi,\ \beta \ge 0,\ \xi \ge 0",
    carries="function",
)
def rvm_primal(problem: OneNormProblem) -> Declaration:
    """min  1'beta + C 1'xi   s.t.  A g >= 1 - xi,  beta >= 0,  xi >= 0,  g = K beta.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    beta, g, xi = cp.Variable(problem.m, name="beta"), cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="xi")
    product = product_with_gram(problem, beta)

    def printed(v: Mapping[str, Any]) -> Printed:
        margins = A @ (K @ v["beta"])
        return Printed(
            v["beta"].sum() + v["C"] * v["xi"].sum(),
            {"margin": 1 - v["xi"] - margins, "sign": -v["beta"], "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum(beta) + C * cp.sum(xi)),
        {
            "margin": A @ g >= 1 - xi,
            "sign": beta >= 0,
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
    "rvm.dual",
    "rvm",
    Source("T", "(102)-(104), its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad KA^\top u \le 1,\ 0 \le u \le C",
    carries="multipliers",
)
def rvm_dual(problem: OneNormProblem) -> Declaration:
    """max  1'u   s.t.  K v <= 1,  v = A'u,  0 <= u <= C.

    The multiplier of `price` is beta >= 0 of (102).
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    u, v = cp.Variable(problem.p, name="u"), cp.Variable(problem.m, name="v")
    product = product_with_gram(problem, v)

    def printed(at: Mapping[str, Any]) -> Printed:
        return Printed(at["u"].sum(), {"price": K @ (A.T @ at["u"]) - 1, "lower": -at["u"], "upper": at["u"] - at["C"]})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(u)),
        {
            "price": product.value <= 1,
            "span": v == A.T @ u,
            **product.constraints,
            "lower": u >= 0,
            "upper": u <= C,
        },
        variables={"u": u, "v": v} | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=d.multiplier("price"), u=u.value),
        express=lambda at: {"u": at.u, "v": A.T @ at.u} | product.express(A.T @ at.u),
        printed=printed,
    )


@formulation(
    "rvm.as_printed",
    "rvm",
    Source("T", "(101) as printed, without the positive part"),
    latex=r"\min_\beta\ 1^\top\beta + C\sum_{ij}(1 - (AK\beta)_{ij}) \quad\text{s.t.}\quad \beta \ge 0",
    carries="function",
    control=True,
)
def rvm_as_printed(problem: OneNormProblem) -> Declaration:
    """min  1'beta + C sum_ij (1 - (A g)_ij)   s.t.  beta >= 0,  g = K beta.

    A misprint: without the positive part a margin beyond 1 is rewarded, and the program is unbounded unless C K A'1 <= 1.
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    beta, g = cp.Variable(problem.m, name="beta"), cp.Variable(problem.m, name="g")
    product = product_with_gram(problem, beta)

    def printed(v: Mapping[str, Any]) -> Printed:
        return Printed(v["beta"].sum() + v["C"] * (1 - A @ (K @ v["beta"])).sum(), {"sign": -v["beta"]})

    return Declaration(
        problem,
        cp.Minimize(cp.sum(beta) + C * cp.sum(1 - A @ g)),
        {
            "sign": beta >= 0,
            **product.constraints,
            "values": g == product.value,
        },
        variables={"beta": beta, "g": g} | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=beta.value),
        express=lambda at: {"beta": at.x, "g": at.f} | product.express(at.x),
        printed=printed,
    )


@formulation(
    "rank.onenorm.primal",
    "rank.onenorm",
    Source("T", "(94)-(96), with phi_i - phi_j"),
    latex=r"\min_{\alpha,\xi}\ 1^\top\alpha + C\,1^\top\xi \quad\text{s.t.}\quad AKA^\top\alpha \ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
)
def onenorm_primal(problem: OneNormProblem) -> Declaration:
    """min  1'alpha + C 1'xi   s.t.  A g >= 1 - xi,  alpha >= 0,  xi >= 0,  g = K beta,  beta = A'alpha.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, xi = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.p, name="xi")
    beta, g = cp.Variable(problem.m, name="beta"), cp.Variable(problem.m, name="g")
    product = product_with_gram(problem, beta)

    def printed(v: Mapping[str, Any]) -> Printed:
        margins = A @ (K @ (A.T @ v["alpha"]))
        return Printed(
            v["alpha"].sum() + v["C"] * v["xi"].sum(),
            {"margin": 1 - v["xi"] - margins, "sign": -v["alpha"], "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum(alpha) + C * cp.sum(xi)),
        {
            "margin": A @ g >= 1 - xi,
            "sign": alpha >= 0,
            "slack": xi >= 0,
            "span": beta == A.T @ alpha,
            **product.constraints,
            "values": g == product.value,
        },
        variables={"alpha": alpha, "beta": beta, "g": g, "xi": xi} | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=alpha.value, u=d.multiplier("margin")),
        express=lambda at: {"alpha": at.x, "beta": at.beta, "g": at.f, "xi": at.xi} | product.express(at.beta),
        printed=printed,
    )


@formulation(
    "rank.onenorm.dual",
    "rank.onenorm",
    Source("T", "(94)-(96), its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad AKA^\top u \le 1,\ 0 \le u \le C",
    carries="multipliers",
)
def onenorm_dual(problem: OneNormProblem) -> Declaration:
    """max  1'u   s.t.  A g <= 1,  g = K v,  v = A'u,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of (94).
    """
    import cvxpy as cp

    A, K = problem.rows.matrix, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    u, v, g = cp.Variable(problem.p, name="u"), cp.Variable(problem.m, name="v"), cp.Variable(problem.m, name="g")
    product = product_with_gram(problem, v)

    def printed(at: Mapping[str, Any]) -> Printed:
        return Printed(at["u"].sum(), {"price": A @ (K @ (A.T @ at["u"])) - 1, "lower": -at["u"], "upper": at["u"] - at["C"]})

    return Declaration(
        problem,
        cp.Maximize(cp.sum(u)),
        {
            "price": A @ g <= 1,
            "span": v == A.T @ u,
            **product.constraints,
            "values": g == product.value,
            "lower": u >= 0,
            "upper": u <= C,
        },
        variables={"u": u, "v": v, "g": g} | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=d.multiplier("price"), u=u.value),
        express=lambda at: {"u": at.u, "v": A.T @ at.u, "g": K @ (A.T @ at.u)} | product.express(A.T @ at.u),
        printed=printed,
    )


@formulation(
    "svm.onenorm.primal",
    "svm.onenorm",
    Source("T", "section 5.1 (no formula)"),
    latex=r"\min_{\alpha,b,\xi}\ 1^\top\alpha + C\,1^\top\xi"
    r"\quad\text{s.t.}\quad Y(KY\alpha + b1) \ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
)
def svm_onenorm_primal(problem: OneNormProblem) -> Declaration:
    """min  1'alpha + C 1'xi   s.t.  Y (g + b 1) >= 1 - xi,  alpha >= 0,  xi >= 0,  g = K Y alpha.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    return _classifying_primal(problem, bias=True)


@formulation(
    "svm.nobias_onenorm.primal",
    "svm.nobias_onenorm",
    Source("T", "section 5.1 (no formula) without b"),
    latex=r"\min_{\alpha,\xi}\ 1^\top\alpha + C\,1^\top\xi \quad\text{s.t.}\quad YKY\alpha \ge 1 - \xi,\ \alpha \ge 0,\ \xi \ge 0",
    carries="function",
)
def svm_nobias_onenorm_primal(problem: OneNormProblem) -> Declaration:
    """min  1'alpha + C 1'xi   s.t.  Y g >= 1 - xi,  alpha >= 0,  xi >= 0,  g = K Y alpha.

    The multiplier of `margin` is u >= 0 of the dual program.
    """
    return _classifying_primal(problem, bias=False)


def _classifying_primal(problem: OneNormProblem, bias: bool) -> Declaration:
    """1'alpha + C 1'xi of a classification, with or without b."""
    import cvxpy as cp

    y, K = problem.rows.s, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    alpha, g, xi = cp.Variable(problem.p, name="alpha"), cp.Variable(problem.m, name="g"), cp.Variable(problem.p, name="xi")
    b: Any = cp.Variable(name="b") if bias else 0.0
    product = product_with_gram(problem, cp.multiply(y, alpha))

    def printed(v: Mapping[str, Any]) -> Printed:
        margins = y * (K @ (y * v["alpha"]) + v.get("b", 0.0))
        return Printed(
            v["alpha"].sum() + v["C"] * v["xi"].sum(),
            {"margin": 1 - v["xi"] - margins, "sign": -v["alpha"], "slack": -v["xi"]},
        )

    return Declaration(
        problem,
        cp.Minimize(cp.sum(alpha) + C * cp.sum(xi)),
        {
            "margin": cp.multiply(y, g + b) >= 1 - xi,
            "sign": alpha >= 0,
            "slack": xi >= 0,
            **product.constraints,
            "values": g == product.value,
        },
        variables={"alpha": alpha, "g": g, "xi": xi} | ({"b": b} if bias else {}) | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=alpha.value, u=d.multiplier("margin"), b=float(b.value) if bias else None),
        express=lambda at: {"alpha": at.x, "g": at.f, "xi": at.xi} | ({"b": at.b} if bias else {}) | product.express(at.beta),
        printed=printed,
    )


@formulation(
    "svm.onenorm.dual",
    "svm.onenorm",
    Source("T", "section 5.1 (no formula), its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad YKYu \le 1,\ y^\top u = 0,\ 0 \le u \le C",
    carries="multipliers",
)
def svm_onenorm_dual(problem: OneNormProblem) -> Declaration:
    """max  1'u   s.t.  Y K Y u <= 1,  y'u = 0,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of the primal, and that of `balance` is b up to its sign.
    """
    return _classifying_dual(problem, bias=True)


@formulation(
    "svm.nobias_onenorm.dual",
    "svm.nobias_onenorm",
    Source("T", "section 5.1 (no formula) without b, its linear-programming dual"),
    latex=r"\max_u\ 1^\top u \quad\text{s.t.}\quad YKYu \le 1,\ 0 \le u \le C",
    carries="multipliers",
)
def svm_nobias_onenorm_dual(problem: OneNormProblem) -> Declaration:
    """max  1'u   s.t.  Y K Y u <= 1,  0 <= u <= C.

    The multiplier of `price` is alpha >= 0 of the primal.
    """
    return _classifying_dual(problem, bias=False)


def _classifying_dual(problem: OneNormProblem, bias: bool) -> Declaration:
    """1'u of a classification over the box, with y'u = 0 where there is a bias; b is the best one for alpha."""
    import cvxpy as cp

    y, K = problem.rows.s, problem.gram.dense
    C = cp.Parameter(nonneg=True, name="C", value=problem.C)
    u = cp.Variable(problem.p, name="u")
    product = product_with_gram(problem, cp.multiply(y, u))
    balance = {"balance": y @ u == 0} if bias else {}

    def printed(at: Mapping[str, Any]) -> Printed:
        violations = {"price": y * (K @ (y * at["u"])) - 1, "lower": -at["u"], "upper": at["u"] - at["C"]}
        return Printed(at["u"].sum(), violations | ({"balance": np.abs(y @ at["u"])} if bias else {}))

    return Declaration(
        problem,
        cp.Maximize(cp.sum(u)),
        {
            "price": cp.multiply(y, product.value) <= 1,
            **balance,
            **product.constraints,
            "lower": u >= 0,
            "upper": u <= C,
        },
        variables={"u": u} | product.variables,
        parameters={"C": C},
        recover=lambda d: OneNormPoint(x=d.multiplier("price"), u=u.value),
        express=lambda at: {"u": at.u} | product.express(y * at.u),
        printed=printed,
    )


@dataclass(frozen=True)
class Product:
    """K beta in a declaration: an affine expression of beta, or of w = Z'beta, the variable that comes with it.

    value : the expression, (m,).  constraints, variables : what comes with it, by name.  express : the values of these variables at a beta.
    """

    value: Any
    constraints: dict[str, Any]
    variables: dict[str, Any]
    express: Callable[[Array], dict[str, Array]]


def product_with_gram(problem: OneNormProblem, beta: Any) -> Product:
    """K beta for an affine expression beta, (m,): Z w with w = Z'beta where the problem has a factor Z of K."""
    import cvxpy as cp

    Z = problem.factor
    if Z is None:
        return Product(problem.gram.dense @ beta, {}, {}, lambda beta: {})
    w = cp.Variable(Z.q, name="w")
    return Product(Z.stored @ w, {"function": w == Z.stored.T @ beta}, {"w": w}, lambda beta: {"w": Z.rdot(beta)})
