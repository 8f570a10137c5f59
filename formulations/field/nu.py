"""nu-SVC and nu-SVR, and their relations to C-SVC and C-SVR.

nu in (0, 1] replaces a cost or the width of the tube.

    nu-SVC with optimal rho > 0: the w of C-SVC at C = 1 / (m rho), times rho,
                                 v = rho^2 v_C - nu rho
    nu-SVR with optimal width eps: the w of C-SVR at the cost C / m and width eps,
                                 v = v_C(eps) + C nu eps

The relations hold if the optimal rho and eps are positive. nu-SVC has a finite optimum
if and only if nu <= 2 min(m+, m-) / m: above that its dual has no feasible point. At
rho = 0 its w is 0 and no C corresponds to it. The formulations `hinge` and `tube` have
rho and eps as variables, and so minimise v over all rho and over all eps.

References
----------
B. Schölkopf, A. Smola, R. Williamson, P. Bartlett, New support vector algorithms,
Neural Computation 12 (2000).
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial

from equimargin.formulations.declarations.checks import (
    classes,
    kernel_points,
    needing,
    positive,
    share,
    signs,
    targets,
)
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = "Schölkopf, Smola, Williamson, Bartlett, New Support Vector Algorithms (2000)"
nu_svc = Family(
    "nu_svc",
    Source("Schölkopf 2000", "(46)-(49)", TITLE),
    data=partial(points, labels=2, least=2, nu=[0.5, 0.25, 1.0]),
    check=needing(X=kernel_points, y=classes(2), nu=share),
)
"""X (m, d), y (m,) in {0, 1} and nu in (0, 1]."""
nu_svr = Family(
    "nu_svr",
    Source("Schölkopf 2000", "(29)-(32)", TITLE),
    data=partial(points, labels=-1, nu=[0.5, 0.25, 0.75], C=[1.0, 4.0]),
    check=needing(X=kernel_points, y=targets, nu=share, C=positive),
)
"""X (m, d), y (m,) targets, nu in (0, 1] and C > 0, the factor of the mean loss."""


def too_large(d: Data) -> str | None:
    """Return the reason why no optimum is finite at this nu, or None.

    For nu above 2 min(m+, m-) / m the primal has no lower bound, and the dual no
    feasible point.

    Parameters
    ----------
    d : Data
        Data of `nu_svc`.

    Returns
    -------
    str or None
        Sentence, or None.
    """
    m, least = len(d["y"]), 2 * min(int((d["y"] == 1).sum()), int((d["y"] == 0).sum()))
    return (
        None
        if d["nu"] * m <= least
        else f"nu is {d['nu']:g}, above 2 min(m+, m-) / m = {least / m:g}: no optimum is finite"
    )


@nu_svc.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 - \nu \rho + \tfrac1m \sum_i \xi_i"
    r" \quad\text{s.t.}\quad y_i (w \cdot x_i + b) \ge \rho - \xi_i,\ \xi \ge 0,\ \rho \ge 0",
)
def svc_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 - nu rho + sum_i xi_i / m
    s.t.   y_i (w.x_i + b) >= rho - xi_i,  xi >= 0,  rho >= 0.
    """
    X, y, (m, k) = d["X"], signs(d["y"]), d["X"].shape
    w, b, rho, xi = (
        cp.Variable(k, name="w"),
        cp.Variable(name="b"),
        cp.Variable(name="rho"),
        cp.Variable(m, name="xi"),
    )
    objective = cp.sum_squares(w) / 2 - d["nu"] * rho + cp.sum(xi) / m
    return cp.Problem(
        cp.Minimize(objective), [cp.multiply(y, X @ w + b) >= rho - xi, xi >= 0, rho >= 0]
    )


def _svc_dual(d: Data, balanced: bool) -> cp.Problem:
    y, m = signs(d["y"]), len(d["X"])
    a = cp.Variable(m, name="a")
    balance = [y @ a == 0] if balanced else []
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(d["X"].T @ cp.multiply(y, a)) / 2),
        [*balance, cp.sum(a) >= d["nu"], a >= 0, a <= 1 / m],
    )


@nu_svc.formulation(
    "dual",
    latex=r"\max -\tfrac12 |X'Ya|^2"
    r" \quad\text{s.t.}\quad y'a = 0,\ 1'a \ge \nu,\ 0 \le a \le \tfrac1m",
    to_canonical=lambda v, d: {"w": d["X"].T @ (signs(d["y"]) * v["a"])},
)
def svc_dual(d: Data) -> cp.Problem:
    """max -1/2 |X'Ya|^2   s.t.   y'a = 0,  sum a >= nu,  0 <= a <= 1 / m."""
    return _svc_dual(d, balanced=True)


@nu_svc.formulation("dual.no_balance", control=True)
def svc_no_balance(d: Data) -> cp.Problem:
    """The dual without y'a = 0."""
    return _svc_dual(d, balanced=False)


@nu_svc.formulation("hinge", applies=too_large)
def svc_hinge(d: Data) -> cp.Problem:
    """min over rho >= 0 of 1/2 |w|^2 + sum_i (rho - y_i (w.x_i + b))_+ / m - nu rho."""
    X, y, (m, k) = d["X"], signs(d["y"]), d["X"].shape
    w, b, rho = (
        cp.Variable(k, name="w"),
        cp.Variable(name="b"),
        cp.Variable(name="rho", nonneg=True),
    )
    hinges = cp.sum(cp.pos(rho - cp.multiply(y, X @ w + b))) / m
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + hinges - d["nu"] * rho))


@nu_svr.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + C (\nu \epsilon + \tfrac1m \sum_i (\xi_i + \xi_i^*))"
    r" \quad\text{s.t.}\quad -\epsilon - \xi_i^* \le y_i - w \cdot x_i - b \le \epsilon + "
    r"\xi_i,\ \epsilon, \xi, \xi^* \ge 0",
)
def svr_primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C (nu eps + sum_i (xi_i + zeta_i) / m)
    s.t.   -eps - zeta_i <= y_i - w.x_i - b <= eps + xi_i,  all >= 0.
    """
    X, y, (m, k) = d["X"], d["y"], d["X"].shape
    w, b, eps = cp.Variable(k, name="w"), cp.Variable(name="b"), cp.Variable(name="eps")
    xi, zeta = cp.Variable(m, name="xi"), cp.Variable(m, name="zeta")
    residual = y - X @ w - b
    objective = cp.sum_squares(w) / 2 + d["C"] * (d["nu"] * eps + cp.sum(xi + zeta) / m)
    return cp.Problem(
        cp.Minimize(objective),
        [residual <= eps + xi, -residual <= eps + zeta, xi >= 0, zeta >= 0, eps >= 0],
    )


def _svr_dual(d: Data, nu: float) -> cp.Problem:
    y, m, C = d["y"], len(d["y"]), d["C"]
    above, below = cp.Variable(m, name="above"), cp.Variable(m, name="below")
    beta = above - below
    box = [above >= 0, below >= 0, above <= C / m, below <= C / m]
    return cp.Problem(
        cp.Maximize(y @ beta - cp.sum_squares(d["X"].T @ beta) / 2),
        [cp.sum(beta) == 0, cp.sum(above + below) <= C * nu, *box],
    )


@nu_svr.formulation(
    "dual",
    latex=r"\max y'\beta - \tfrac12 |X'\beta|^2"
    r" \quad\text{s.t.}\quad \beta = a - a^*,\ 1'\beta = 0,\ 1'(a + a^*) \le C \nu,\ 0 \le "
    r"a, a^* \le \tfrac Cm",
    to_canonical=lambda v, d: {"w": d["X"].T @ (v["above"] - v["below"])},
)
def svr_dual(d: Data) -> cp.Problem:
    """max y'(a - a*) - 1/2 |X'(a - a*)|^2
    s.t.   sum (a - a*) = 0,  sum (a + a*) <= C nu,  0 <= a, a* <= C / m.
    """
    return _svr_dual(d, d["nu"])


@nu_svr.formulation("dual.half_nu", control=True)
def svr_half_nu(d: Data) -> cp.Problem:
    """The dual with sum (a + a*) <= C nu / 2."""
    return _svr_dual(d, d["nu"] / 2)


@nu_svr.formulation("tube")
def svr_tube(d: Data) -> cp.Problem:
    """min over eps >= 0 of v_C(eps) + C nu eps, where v_C is C-SVR at the cost C / m."""
    X, y, (m, k) = d["X"], d["y"], d["X"].shape
    w, b, eps = (
        cp.Variable(k, name="w"),
        cp.Variable(name="b"),
        cp.Variable(name="eps", nonneg=True),
    )
    c_svr = cp.sum_squares(w) / 2 + d["C"] / m * cp.sum(cp.pos(cp.abs(y - X @ w - b) - eps))
    return cp.Problem(cp.Minimize(c_svr + d["C"] * d["nu"] * eps))
