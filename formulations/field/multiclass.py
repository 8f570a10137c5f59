"""Multiclass SVM as one optimisation.

The score of a point's class must exceed that of every other class by 1.

References
----------
K. Crammer, Y. Singer, On the algorithmic implementation of multiclass kernel-based
vector machines, JMLR 2 (2001), (7) and (15).
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial

import numpy as np

from equimargin.formulations.declarations.checks import classes, kernel_points, needing, positive
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = (
    "Crammer, Singer, On the Algorithmic Implementation of Multiclass Kernel-based Vector "
    "Machines (2001)"
)
crammer_singer = Family(
    "crammer_singer",
    Source("Crammer 2001", "(7)", TITLE),
    data=partial(points, labels=3, least=3, C=[1.0, 0.5, 3.0]),
    check=needing(X=kernel_points, y=classes(), C=positive),
)
"""X (m, d), y (m,) in {0, ..., k - 1} with a point of each class, and C > 0."""


def _indicators(d: Data) -> np.ndarray:
    """Return E (m, k) with E_ij = 1 if point i is of class j, else 0."""
    return np.asarray(np.eye(int(d["y"].max()) + 1)[d["y"].astype(int)])


@crammer_singer.formulation(
    "primal",
    latex=r"\min \tfrac12 |W|^2 + C \sum_i \xi_i"
    r" \quad\text{s.t.}\quad w_{y_i} \cdot x_i - w_r \cdot x_i \ge 1 - [r = y_i] - \xi_i",
)
def primal(d: Data) -> cp.Problem:
    """min 1/2 |W|^2 + C sum_i xi_i
    s.t.   w_{y_i}.x_i - w_r.x_i >= 1 - [r = y_i] - xi_i  for every class r.
    """
    X, E = d["X"], _indicators(d)
    W, xi = cp.Variable((E.shape[1], X.shape[1]), name="W"), cp.Variable(len(X), name="xi")
    scores = X @ W.T
    own = cp.sum(cp.multiply(E, scores), axis=1)
    margins = [own - scores[:, r] >= 1 - E[:, r] - xi for r in range(E.shape[1])]
    return cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + d["C"] * cp.sum(xi)), margins)


def _dual(d: Data, C: float) -> cp.Problem:
    E = _indicators(d)
    T = cp.Variable(E.shape, name="T")
    return cp.Problem(
        cp.Maximize(cp.sum(cp.multiply(E, T)) - cp.sum_squares(d["X"].T @ T) / 2),
        [cp.sum(T, axis=1) == 0, T <= C * E],
    )


@crammer_singer.formulation(
    "dual",
    Source("Crammer 2001", "(15)", TITLE),
    latex=r"\max \langle E, T \rangle - \tfrac12 |X'T|^2"
    r" \quad\text{s.t.}\quad T 1 = 0,\ T \le C E",
)
def dual(d: Data) -> cp.Problem:
    """max sum_i T_{i y_i} - 1/2 |X'T|^2   s.t.   every row of T sums to 0,  T <= C E."""
    return _dual(d, d["C"])


@crammer_singer.formulation("dual.half_cost", control=True)
def half_cost(d: Data) -> cp.Problem:
    """The dual with T <= C E / 2."""
    return _dual(d, d["C"] / 2)
