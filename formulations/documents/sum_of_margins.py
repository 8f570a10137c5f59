"""Ordinal regression by the sum of margins: between neighbouring levels k and k + 1 lies an interval [a_k, b_k], and all widths are summed.

    printed     min sum_k (a_k - b_k) + C sum xi               over |w| <= 1
    here        min 1/2 |w|^2 + sum_k (a_k - b_k) + C sum xi   over all w

Only the length of w differs: scaled to |w| = t, the points of the first are worth t v + t^2 / 2 in the second, which is least at t = -v. So
an optimum v of the first is the optimum -v^2 / 2 of the second, and w is -v times as long. The second is a quadratic program, whose optimum
is rational; it is the definition, and `unit_ball` is what is printed.

The optimum is finite if and only if C m_0 >= 1 and C m_{L-1} >= 1, where m_0 and m_{L-1} are the numbers of points of the outer levels, or
their sums of weights: otherwise an end goes to infinity. It is below 0 if and only if the hulls of the levels, reduced by C, are apart.

Source: A. Shashua, A. Levin, Ranking with large margin principle: two approaches, NIPS 15 (2003), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.documents.ordered_thresholds import check, drawn, weights_of
from equimargin.formulations.drawing import Data
from equimargin.formulations.family import Family
from equimargin.formulations.source import Source
from equimargin.formulations.symbols import cp

SHASHUA = Source("Shashua 2003", "section 3", "Shashua, Levin, Ranking with Large Margin Principle: Two Approaches (2003)")
sum_of_margins = Family("ord.sum", SHASHUA, data=partial(drawn, C=[1.0, 2.0, 0.5]), check=check)
"""X (m, d), y (m,) in {0, ..., L - 1} with L >= 2, C, and weights (m,) of the points or none."""


class Rows(NamedTuple):
    """The rows of a problem: points i, thresholds k, sides s and costs c, (p,) each, of the gaps thresholds a_k and b_k.

    A row of side -1 asks w.x_i <= a_k + xi of the level k, one of side 1 asks w.x_i >= b_k - xi of the level k + 1.
    """

    i: NDArray[np.int64]
    k: NDArray[np.int64]
    s: NDArray[np.float64]
    c: NDArray[np.float64]
    gaps: int

    def sums(self, side: float) -> NDArray[np.float64]:
        """(gaps, p) the matrix that sums what rows of one side have, by their thresholds."""
        return np.asarray((np.arange(self.gaps)[:, None] == self.k) & (self.s == side), dtype=np.float64)


def _rows(d: Data) -> Rows:
    """The rows of the points with a weight."""
    y, weights = np.asarray(d["y"], dtype=np.int64), weights_of(d)
    gaps, kept = int(y.max()), np.flatnonzero(weights)
    low, high = kept[y[kept] < gaps], kept[y[kept] > 0]
    i, s = np.concatenate([low, high]), np.repeat([-1.0, 1.0], [len(low), len(high)])
    return Rows(i, np.concatenate([y[low], y[high] - 1]), s, d["C"] * weights[i], gaps)


def _primal(d: Data, ball: bool = False, ordered: bool = True) -> cp.Problem:
    """min 1/2 |w|^2 + sum_k (a_k - b_k) + sum_r c_r xi_r, or of |w| <= 1 without its square."""
    rows, w = _rows(d), cp.Variable(np.shape(d["X"])[1], name="w")
    return _of_function(d, rows, w, d["X"] @ w, ball, ordered)


def _of_function(d: Data, rows: Rows, w: Any, f: Any, ball: bool, ordered: bool, *more: Any) -> cp.Problem:
    """The primal of the values f of a w at the points."""
    a, b, xi = (cp.Variable(n, name=name) for name, n in (("a", rows.gaps), ("b", rows.gaps), ("xi", len(rows.i))))
    ends = rows.sums(-1.0).T @ a + rows.sums(1.0).T @ b
    order = [a <= b, *([b[:-1] <= a[1:]] if ordered and rows.gaps > 1 else [])]
    objective = cp.sum(a - b) + rows.c @ xi
    constraints = [cp.multiply(rows.s, f[rows.i] - ends) >= -xi, xi >= 0, *order, *more]
    if ball:
        return cp.Problem(cp.Minimize(objective), [*constraints, cp.norm(w) <= 1])
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + objective), constraints)


def _dual(d: Data, norm: bool = False, tied: bool = False) -> cp.Problem:
    """max -1/2 |g|^2, or -|g|, of g = sum_r s_r alpha_r x_i."""
    rows = _rows(d)
    alpha, tau, eta = (cp.Variable(n, name=name) for name, n in (("alpha", len(rows.i)), ("tau", rows.gaps), ("eta", rows.gaps + 1)))
    g = (rows.s[:, None] * d["X"][rows.i]).T @ alpha
    sums = [rows.sums(-1.0) @ alpha == 1 + tau - eta[:-1], rows.sums(1.0) @ alpha == 1 + tau - eta[1:]]
    signs = [alpha >= 0, alpha <= rows.c, tau >= 0, eta == 0 if tied else eta >= 0, eta[0] == 0, eta[rows.gaps] == 0]
    return cp.Problem(cp.Maximize(-cp.norm(g) if norm else -cp.sum_squares(g) / 2), [*sums, *signs])


def unbounded(d: Data) -> str | None:
    """The condition on C: below it an end of the intervals goes to infinity, which no ray of a cone program shows."""
    of_level = np.bincount(np.asarray(d["y"], dtype=np.int64), weights_of(d))
    least = d["C"] * min(of_level[0], of_level[-1])
    return f"C times the weight of an outer level is {least:g}, below 1: no optimum is finite" if least < 1 else None


def _no_nu_svc(d: Data) -> str | None:
    """Why the sum of margins is no nu_svc: it has more than two levels, or weights."""
    levels = int(np.max(d["y"])) + 1
    return f"there are {levels} levels, and nu_svc has two" if levels > 2 else "nu_svc has no weights" if "weights" in d else None


def _squared(value: Any, d: Data) -> Any:
    """-v^2 / 2 of the optimum v of the printed problem, which is at most 0."""
    return value * abs(value) / 2


def _of_unit(values: Mapping[str, Any], d: Data) -> Data:
    length = max(-float(np.sum(values["a"] - values["b"]) + _rows(d).c @ values["xi"]), 0.0)
    return {name: length * values[name] for name in ("w", "a", "b", "xi")}


def _of_dual(values: Mapping[str, Any], d: Data) -> Data:
    rows = _rows(d)
    return {"w": (rows.s[:, None] * d["X"][rows.i]).T @ values["alpha"]}


@sum_of_margins.formulation(
    "primal",
    latex=r"\min \tfrac12 |w|^2 + \sum_k (a_k - b_k) + C \sum_i \xi_i"
    r" \quad\text{s.t.}\quad w \cdot x_i \le a_k + \xi_i \ (y_i = k),"
    r"\ w \cdot x_i \ge b_k - \xi_i \ (y_i = k + 1),\ a_k \le b_k \le a_{k+1},\ \xi \ge 0",
)
def primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + sum_k (a_k - b_k) + C sum xi   s.t.   w.x <= a_k + xi of level k, w.x >= b_k - xi of k + 1, a_k <= b_k <= a_{k+1}."""
    return _primal(d)


@sum_of_margins.formulation("dual", latex=r"\max -\tfrac12 |\sum_r s_r \alpha_r x_r|^2", to_canonical=_of_dual)
def dual(d: Data) -> cp.Problem:
    """max -1/2 |sum_r s_r alpha_r x_r|^2   s.t.   0 <= alpha <= C,  tau, eta >= 0,  and two sums of each interval k.

    They are those of alpha on the rows of a_k, 1 + tau_k - eta_k, and of b_k, 1 + tau_k - eta_{k+1}; eta is 0 at the ends.
    """
    return _dual(d)


@sum_of_margins.formulation("beta", to_canonical=lambda values, d: {"w": d["X"].T @ values["beta"], "a": values["a"], "b": values["b"]})
def beta(d: Data) -> cp.Problem:
    """min 1/2 beta'K beta + sum_k (a_k - b_k) + C sum xi   s.t.   the same of K beta for w.x, with K = XX'."""
    beta, w = cp.Variable(len(d["X"]), name="beta"), cp.Variable(np.shape(d["X"])[1], name="w")
    return _of_function(d, _rows(d), w, d["X"] @ w, False, True, w == d["X"].T @ beta)


@sum_of_margins.formulation(
    "unit_ball",
    latex=r"\min \sum_k (a_k - b_k) + C \sum_i \xi_i \quad\text{s.t.}\quad |w| \le 1",
    value=_squared,
    applies=unbounded,
    to_canonical=_of_unit,
)
def unit_ball(d: Data) -> cp.Problem:
    """min sum_k (a_k - b_k) + C sum xi   s.t.   |w| <= 1  and the same rows, as it is printed; its optimum v is worth -v^2 / 2."""
    return _primal(d, ball=True)


@sum_of_margins.formulation("nearest", latex=r"\max -|\sum_r s_r \alpha_r x_r|", value=_squared, applies=unbounded)
def nearest(d: Data) -> cp.Problem:
    """max -|sum_r s_r alpha_r x_r|   s.t.   as in the dual: how near the hulls of the levels, reduced by C, come to each other."""
    return _dual(d, norm=True)


@sum_of_margins.formulation("two_levels", applies=_no_nu_svc, value=lambda value, d: Fraction(d["C"] * len(d["y"])) ** 2 * value)
def two_levels(d: Data) -> cp.Problem:
    """nu_svc at nu = 2 / (C m), times (C m)^2: min 1/2 |w|^2 - nu rho + sum_i xi_i / m   s.t.   y_i (w.x_i + b) >= rho - xi_i."""
    y, (m, n) = 2.0 * np.asarray(d["y"]) - 1.0, np.shape(d["X"])
    w, b, rho, xi = cp.Variable(n, name="w"), cp.Variable(name="b"), cp.Variable(name="rho"), cp.Variable(m, name="xi")
    objective = cp.sum_squares(w) / 2 - 2 / (d["C"] * m) * rho + cp.sum(xi) / m
    return cp.Problem(cp.Minimize(objective), [cp.multiply(y, d["X"] @ w + b) >= rho - xi, xi >= 0, rho >= 0])


@sum_of_margins.formulation("unordered", control=True)
def unordered(d: Data) -> cp.Problem:
    """The primal without b_k <= a_{k+1}: intervals may overlap."""
    return _primal(d, ordered=False)


@sum_of_margins.formulation("dual.tied", control=True)
def dual_tied(d: Data) -> cp.Problem:
    """The dual with every eta 0, as if neighbouring intervals were never to meet."""
    return _dual(d, tied=True)
