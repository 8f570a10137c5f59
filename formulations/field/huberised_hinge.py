"""Soft margin with the huberised hinge, a differentiable hinge.

    phi(u) = 0,  (u + delta)^2 / (4 delta),  u   for  u <= -delta,  |u| < delta,  u >= delta

X (m, d) features, a factor of K for a nonlinear kernel; K (m, m) Gram matrix; y (m,)
labels; c (m,) weights of C. The classifier is F(x) = w.x + b.

References
----------
Chapelle (2007); Rosset and Zhu (2007).
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
from equimargin.formulations.problem.construct import classification
from equimargin.formulations.problem.point import Point

CHAPELLE = "Chapelle, Training a Support Vector Machine in the Primal (2007)"
huberised_hinge = Family(
    "svm.huberised_hinge",
    Source("Chapelle 2007", "Huber loss", CHAPELLE),
    problem=partial(classification, loss="huberised_hinge", delta=0.5),
)


def _parts(u: Any, d: Symbols) -> dict[str, Any]:
    """Return the z, v >= 0 with z + v = (u + delta)_+ and z at most 2 delta."""
    phi = d.margin_problem.phi
    z = np.clip(phi.shifted(u), 0.0, phi.top / phi.slope)
    return {"z": z, "v": np.maximum(phi.shifted(u) - z, 0.0)}


@huberised_hinge.formulation(
    "primal",
    Source("Chapelle 2007", "Huber loss", CHAPELLE),
    latex=r"\min_{w,b}\ \tfrac12\|w\|^2 + C\sum_i\phi(1 - y_i(w\cdot x_i + b))",
    in_features=True,
    carries="function",
    to_canonical=lambda v, d: d.point(v["w"], v["b"]),
    from_canonical=lambda at, d: {"w": at.w, "b": at.b},
)
def primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i phi(1 - y_i (w.x_i + b))."""
    w, b, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b"), d.parameter("C")
    return minimize(cp.sum_squares(w) / 2 + C * (d.c @ d.phi(1 - cp.multiply(d.y, d.X @ w + b))))


@huberised_hinge.formulation(
    "slacks",
    Source("Chapelle 2007", "Huber loss, as the least sum of a square and a line", CHAPELLE),
    latex=r"\min_{w,b,z,v}\ \tfrac12\|w\|^2 + C\sum_i(\tfrac1{4\delta}z_i^2 + v_i)"
    r" \quad\text{s.t.}\quad y_i(w\cdot x_i + b) \ge 1 + \delta - z_i - v_i,\ v_i \ge 0",
    in_features=True,
    carries="function",
    to_canonical=lambda v, d: d.point(v["w"], v["b"], v.multiplier("margin")),
    from_canonical=lambda at, d: {"w": at.w, "b": at.b, **_parts(at.u, d)},
)
def slacks(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i (z_i^2 / (4 delta) + v_i)
    s.t.  y_i (w.x_i + b) >= 1 + delta - z_i - v_i,  v_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the dual.
    """
    w, b, C = cp.Variable(d.X.shape[1], "w"), cp.Variable(name="b"), d.parameter("C")
    z, v = cp.Variable(d.p, "z"), cp.Variable(d.p, "v")
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ (d.slope / 2 * cp.square(z) + v)),
        margin=cp.multiply(d.y, d.X @ w + b) >= 1 + d.width - z - v,
        line=v >= 0,
    )


@huberised_hinge.formulation(
    "beta",
    Source("Chapelle 2007", "Huber loss, in coefficients of the kernel", CHAPELLE),
    latex=r"\min_{\beta,b}\ \tfrac12\beta^\top K\beta + C\sum_i\phi(1 - y_i((K\beta)_i + b))",
    carries="function",
    to_canonical=lambda v, d: Point(beta=v["beta"], b=float(v["b"])),
    from_canonical=lambda at, d: {"beta": at.beta, "b": at.b},
)
def beta(d: Symbols) -> cp.Problem:
    """min  1/2 beta'K beta + C sum_i phi(1 - y_i (g_i + b)),  g = K beta."""
    beta, b, C = cp.Variable(d.m, "beta"), cp.Variable(name="b"), d.parameter("C")
    g = d.let("g", d.K @ beta)
    return minimize(d.K.quad(beta) / 2 + C * (d.c @ d.phi(1 - cp.multiply(d.y, g + b))))


@huberised_hinge.formulation(
    "dual",
    Source("Chapelle 2007", "Huber loss, the dual", CHAPELLE),
    latex=r"\max_{\alpha}\ (1 + \delta)1^\top\alpha - \tfrac12\alpha^\top(YKY + "
    r"\tfrac{2\delta}{C}I)\alpha"
    r" \quad\text{s.t.}\quad y^\top\alpha = 0,\ 0 \le \alpha \le C",
    **MULTIPLIERS,
)
def dual(d: Symbols) -> cp.Problem:
    """max  (1 + delta) 1'alpha - 1/2 alpha'(YKY + 2 delta lambda I) alpha
    s.t.  y'alpha = 0,  alpha >= 0,  lambda alpha <= 1.

    lambda = 1/C. The multiplier of the equality `balance` is b, or -b.
    """
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("lambda")
    return maximize(
        (1 + d.width) * cp.sum(alpha)
        - d.K.quad(cp.multiply(d.y, alpha)) / 2
        - inverse / (2 * d.slope) * cp.sum_squares(cp.multiply(d.inverse_root_c, alpha)),
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
        upper=inverse * alpha <= d.c,
    )
