"""Ordinal regression by the sum of margins.

Between neighbouring levels k and k + 1 lies an interval [a_k, b_k], and the objective
sums all widths.

    unit_ball   min sum_k (a_k - b_k) + C sum xi               over |w| <= 1
    primal      min 1/2 |w|^2 + sum_k (a_k - b_k) + C sum xi   over all w

`unit_ball` is the published problem. A point of its value v, scaled to |w| = t, has the
value t v + t^2 / 2 in `primal`, which is minimal at t = -v. So the optimum v of
`unit_ball` gives the optimum -v^2 / 2 of `primal`, whose w is -v times as long.
`primal` defines the family's optimum, as a quadratic program has a rational one.

The optimum is finite if and only if C m_0 >= 1 and C m_{L-1} >= 1, where m_0 and
m_{L-1} are the numbers of points of the outer levels, or their sums of weights:
otherwise an endpoint goes to infinity. It is below 0 if and only if the reduced convex
hulls of the levels, with coefficients of at most C, are disjoint.

References
----------
A. Shashua, A. Levin, Ranking with large margin principle: two approaches, NIPS 15
(2003), section 3.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.declarations.checks import signs
from equimargin.formulations.declarations.drawing import Data
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp, maximize, minimize
from equimargin.formulations.documents.ordered_thresholds import check, drawn, get_weights

SHASHUA = Source(
    "Shashua 2003",
    "section 3",
    "Shashua, Levin, Ranking with Large Margin Principle: Two Approaches (2003)",
)
sum_of_margins = Family("ord.sum", SHASHUA, data=partial(drawn, C=[1.0, 2.0, 0.5]), check=check)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and optional weights (m,)."""


class MarginRows(NamedTuple):
    """Rows of data, p of them.

    Every point below the top level has a row for a_k, every point above the lowest
    level a row for b_k.

    Attributes
    ----------
    X : ndarray of shape (p, d)
        Features of the rows' points.
    s : ndarray of shape (p,)
        -1 for a_k and 1 for b_k.
    A, B : sparse array of shape (p, L - 1)
        1 at the threshold of a row for a_k, and for b_k.
    c : ndarray of shape (p,)
        C times the weight of the point.
    """

    X: NDArray[np.float64]
    s: NDArray[np.float64]
    A: Any
    B: Any
    c: NDArray[np.float64]


def _rows(d: Data) -> MarginRows:
    """Return the rows of the points with a weight."""
    from scipy import sparse

    y, weights = np.asarray(d["y"], dtype=np.int64), get_weights(d)
    T, kept = int(y.max()), np.flatnonzero(weights)
    low, high = kept[y[kept] < T], kept[y[kept] > 0]
    i, p = np.concatenate([low, high]), len(low) + len(high)
    A = sparse.csr_array((np.ones(len(low)), (np.arange(len(low)), y[low])), shape=(p, T))
    B = sparse.csr_array((np.ones(len(high)), (np.arange(len(low), p), y[high] - 1)), shape=(p, T))
    return MarginRows(
        d["X"][i], np.repeat([-1.0, 1.0], [len(low), len(high)]), A, B, d["C"] * weights[i]
    )


def unbounded(d: Data) -> str | None:
    """Return the reason why no optimum is finite at this C, or None.

    For a smaller C an endpoint of the intervals goes to infinity. Exact rays, which
    would prove this, are computed only for programs without second-order cones.

    Parameters
    ----------
    d : Data
        Data of the family.

    Returns
    -------
    str or None
        Sentence, or None.
    """
    of_level = np.bincount(np.asarray(d["y"], dtype=np.int64), get_weights(d))
    least = d["C"] * min(of_level[0], of_level[-1])
    return (
        f"C times the weight of an outer level is {least:g}, below 1: no optimum is finite"
        if least < 1
        else None
    )


def _no_nu_svc(d: Data) -> str | None:
    """Return why the data are none of nu_svc: their levels or weights; None if they are."""
    levels = int(np.max(d["y"])) + 1
    return (
        f"there are {levels} levels, and nu_svc has two"
        if levels > 2
        else "nu_svc has no weights"
        if "weights" in d
        else None
    )


def _squared(value: Any, d: Data) -> Any:
    """Return -v^2 / 2 for the optimum v of the published problem, which is at most 0."""
    return value * abs(value) / 2


def _of_unit(values: Mapping[str, Any], d: Data) -> Data:
    length = max(-float(np.sum(values["a"] - values["b"]) + _rows(d).c @ values["xi"]), 0.0)
    return {name: length * values[name] for name in ("w", "a", "b", "xi")}


def _of_dual(values: Mapping[str, Any], d: Data) -> Data:
    rows = _rows(d)
    return {"w": rows.X.T @ (rows.s * values["alpha"])}


@sum_of_margins.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + \sum_k (a_k - b_k) + C \sum_i \xi_i"
    r" \quad\text{s.t.}\quad w \cdot x_i \le a_k + \xi_i \ (y_i = k),"
    r"\ w \cdot x_i \ge b_k - \xi_i \ (y_i = k + 1),\ a_k \le b_k \le a_{k+1},\ \xi \ge 0",
)
def primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + sum_k (a_k - b_k) + C sum xi
    s.t.   w.x <= a_k + xi of level k, w.x >= b_k - xi of k + 1, a_k <= b_k <= a_{k+1}.
    """
    X, s, A, B, c = _rows(d)
    w, a, b, xi = (
        cp.Variable(X.shape[1], "w"),
        cp.Variable(A.shape[1], "a"),
        cp.Variable(A.shape[1], "b"),
        cp.Variable(len(c), "xi"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + cp.sum(a - b) + c @ xi,
        margin=cp.multiply(s, X @ w - A @ a - B @ b) >= -xi,
        slack=xi >= 0,
        interval=a <= b,
        order=b[:-1] <= a[1:] if a.size > 1 else None,
    )


@sum_of_margins.formulation(
    "dual",
    latex=r"\max -\tfrac12 |\sum_r s_r \alpha_r x_r|^2 \quad\text{s.t.}\quad \sum_{r \in a_k} "
    r"\alpha_r = 1 + \tau_k - \eta_k,"
    r"\ \sum_{r \in b_k} \alpha_r = 1 + \tau_k - \eta_{k+1},\ 0 \le \alpha \le C,\ \tau, "
    r"\eta \ge 0,\ \eta_0 = \eta_{L-1} = 0",
    to_canonical=_of_dual,
)
def dual(d: Data) -> cp.Problem:
    """max -1/2 |sum_r s_r alpha_r x_r|^2
    s.t.   0 <= alpha <= C,  tau, eta >= 0,  and two sums of each interval k.

    They are those of alpha on the rows of a_k, 1 + tau_k - eta_k, and of b_k, 1 + tau_k
    - eta_{k+1}; eta is 0 at the ends.
    """
    X, s, A, B, c = _rows(d)
    alpha, tau, eta = (
        cp.Variable(len(c), "alpha"),
        cp.Variable(A.shape[1], "tau"),
        cp.Variable(A.shape[1] + 1, "eta"),
    )
    return maximize(
        -cp.sum_squares(X.T @ cp.multiply(s, alpha)) / 2,
        below=A.T @ alpha == 1 + tau - eta[:-1],
        above=B.T @ alpha == 1 + tau - eta[1:],
        lower=alpha >= 0,
        upper=alpha <= c,
        interval=tau >= 0,
        order=eta >= 0,
        first=eta[0] == 0,
        last=eta[A.shape[1]] == 0,
    )


@sum_of_margins.formulation(
    "beta", to_canonical=lambda v, d: {"w": d["X"].T @ v["beta"], "a": v["a"], "b": v["b"]}
)
def beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + sum_k (a_k - b_k) + C sum xi
    s.t.   the same of K beta for w.x, with K = XX'.

    It is stated by w = X'beta, because products that round K have another rank than X,
    and another optimum.
    """
    X, s, A, B, c = _rows(d)
    a, b, xi = cp.Variable(A.shape[1], "a"), cp.Variable(A.shape[1], "b"), cp.Variable(len(c), "xi")
    beta, w = cp.Variable(len(d["X"]), "beta"), cp.Variable(X.shape[1], "w")
    return minimize(
        cp.sum_squares(w) / 2 + cp.sum(a - b) + c @ xi,
        margin=cp.multiply(s, X @ w - A @ a - B @ b) >= -xi,
        slack=xi >= 0,
        interval=a <= b,
        order=b[:-1] <= a[1:] if a.size > 1 else None,
        w=w == d["X"].T @ beta,
    )


@sum_of_margins.formulation(
    "unit_ball",
    latex=r"\min \sum_k (a_k - b_k) + C \sum_i \xi_i \quad\text{s.t.}\quad |w| \le 1",
    value=_squared,
    applies=unbounded,
    to_canonical=_of_unit,
)
def unit_ball(d: Data) -> cp.Problem:
    """min sum_k (a_k - b_k) + C sum xi
    s.t.   |w| <= 1  and the same rows, as it is printed;
    its optimum v is worth -v^2 / 2.
    """
    X, s, A, B, c = _rows(d)
    w, a, b, xi = (
        cp.Variable(X.shape[1], "w"),
        cp.Variable(A.shape[1], "a"),
        cp.Variable(A.shape[1], "b"),
        cp.Variable(len(c), "xi"),
    )
    return minimize(
        cp.sum(a - b) + c @ xi,
        margin=cp.multiply(s, X @ w - A @ a - B @ b) >= -xi,
        slack=xi >= 0,
        interval=a <= b,
        order=b[:-1] <= a[1:] if a.size > 1 else None,
        ball=cp.norm(w) <= 1,
    )


@sum_of_margins.formulation(
    "nearest", latex=r"\max -|\sum_r s_r \alpha_r x_r|", value=_squared, applies=unbounded
)
def nearest(d: Data) -> cp.Problem:
    """max -|sum_r s_r alpha_r x_r|
    s.t.   as in the dual: how near the hulls of the levels, reduced by C,
    come to each other.
    """
    X, s, A, B, c = _rows(d)
    alpha, tau, eta = (
        cp.Variable(len(c), "alpha"),
        cp.Variable(A.shape[1], "tau"),
        cp.Variable(A.shape[1] + 1, "eta"),
    )
    return maximize(
        -cp.norm(X.T @ cp.multiply(s, alpha)),
        below=A.T @ alpha == 1 + tau - eta[:-1],
        above=B.T @ alpha == 1 + tau - eta[1:],
        lower=alpha >= 0,
        upper=alpha <= c,
        interval=tau >= 0,
        order=eta >= 0,
        first=eta[0] == 0,
        last=eta[A.shape[1]] == 0,
    )


@sum_of_margins.formulation(
    "two_levels",
    applies=_no_nu_svc,
    value=lambda value, d: Fraction(d["C"] * len(d["y"])) ** 2 * value,
)
def two_levels(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 - nu rho + sum_i xi_i / m
    s.t.   y_i (w.x_i + b) >= rho - xi_i,  xi >= 0,  rho >= 0;   nu = 2 / (C m).

    It is nu_svc, times (C m)^2.
    """
    y, (m, n) = signs(d["y"]), np.shape(d["X"])
    w, b, rho, xi = (
        cp.Variable(n, "w"),
        cp.Variable(name="b"),
        cp.Variable(name="rho"),
        cp.Variable(m, "xi"),
    )
    return minimize(
        cp.sum_squares(w) / 2 - 2 / (d["C"] * m) * rho + cp.sum(xi) / m,
        margin=cp.multiply(y, d["X"] @ w + b) >= rho - xi,
        slack=xi >= 0,
        width=rho >= 0,
    )


@sum_of_margins.formulation("unordered", control=True)
def unordered(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + sum_k (a_k - b_k) + C sum xi
    s.t.   w.x <= a_k + xi of level k,  w.x >= b_k - xi of k + 1,  a_k <= b_k.

    Without b_k <= a_{k+1} intervals may overlap.
    """
    X, s, A, B, c = _rows(d)
    w, a, b, xi = (
        cp.Variable(X.shape[1], "w"),
        cp.Variable(A.shape[1], "a"),
        cp.Variable(A.shape[1], "b"),
        cp.Variable(len(c), "xi"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + cp.sum(a - b) + c @ xi,
        margin=cp.multiply(s, X @ w - A @ a - B @ b) >= -xi,
        slack=xi >= 0,
        interval=a <= b,
    )


@sum_of_margins.formulation("dual.tied", control=True)
def dual_tied(d: Data) -> cp.Problem:
    """max -1/2 |sum_r s_r alpha_r x_r|^2
    s.t.   0 <= alpha <= C,  tau >= 0,  two sums of 1 + tau_k of each interval k.

    Every eta is 0, as if neighbouring intervals were never to meet.
    """
    X, s, A, B, c = _rows(d)
    alpha, tau = cp.Variable(len(c), "alpha"), cp.Variable(A.shape[1], "tau")
    return maximize(
        -cp.sum_squares(X.T @ cp.multiply(s, alpha)) / 2,
        below=A.T @ alpha == 1 + tau,
        above=B.T @ alpha == 1 + tau,
        lower=alpha >= 0,
        upper=alpha <= c,
        interval=tau >= 0,
    )
