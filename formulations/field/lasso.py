"""Lasso, and group lasso: a second-order cone program that zeroes whole groups of weights.

The optimum of the cone program is irrational in general, and bounds on it are proven.

References
----------
R. Tibshirani, Regression shrinkage and selection via the lasso, JRSS B 58 (1996).
M. Yuan, Y. Lin, Model selection and estimation in regression with grouped variables,
JRSS B 68 (2006), (2.1).
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from equimargin.formulations.declarations.checks import Optional, matrix, needing, positive, targets
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TIBSHIRANI = "Tibshirani, Regression Shrinkage and Selection via the Lasso (1996)"
YUAN = "Yuan, Lin, Model Selection and Estimation in Regression with Grouped Variables (2006)"
few = partial(points, labels=-1, penalty=[1.0, 0.5, 2.0])
lasso = Family(
    "lasso",
    Source("Tibshirani 1996", "(1)", TIBSHIRANI),
    data=few,
    check=needing(X=matrix, y=targets, penalty=positive),
)
"""X (m, d), y (m,) targets and penalty > 0."""


def _check_groups(value: Any, name: str, data: Data) -> None:
    d = data["X"].shape[1]
    if np.shape(value) != (d,):
        raise ValueError(
            f"{name} must be {d} numbers, one for every feature, not of shape {np.shape(value)}"
        )


group_lasso = Family(
    "group_lasso",
    Source("Yuan 2006", "(2.1)", YUAN),
    data=few,
    check=needing(X=matrix, y=targets, penalty=positive, groups=Optional(_check_groups)),
)
"""X (m, d), y (m,) targets, penalty > 0, and groups (d,).

`groups` has a number for each feature, equal within a group; by default all features
form one group.
"""


@lasso.formulation("primal", latex=r"\min \tfrac12 |Xw - y|^2 + \lambda |w|_1")
def primal(d: Data) -> cp.Problem:
    """min 1/2 |Xw - y|^2 + penalty |w|_1."""
    w = cp.Variable(d["X"].shape[1], name="w")
    return cp.Problem(
        cp.Minimize(cp.sum_squares(d["X"] @ w - d["y"]) / 2 + d["penalty"] * cp.norm1(w))
    )


@lasso.formulation(
    "dual", latex=r"\max y'u - \tfrac12 |u|^2" r" \quad\text{s.t.}\quad |X'u|_\infty \le \lambda"
)
def dual(d: Data) -> cp.Problem:
    """max y'u - 1/2 |u|^2   s.t.   |X'u|_j <= penalty."""
    u = cp.Variable(len(d["y"]), name="u")
    return cp.Problem(
        cp.Maximize(d["y"] @ u - cp.sum_squares(u) / 2), [cp.abs(d["X"].T @ u) <= d["penalty"]]
    )


@lasso.formulation("mean_of_squares", control=True)
def mean_of_squares(d: Data) -> cp.Problem:
    """The objective of scikit-learn,
    with the mean of the squares and the penalty as it is: another optimum.
    """
    w = cp.Variable(d["X"].shape[1], name="w")
    return cp.Problem(
        cp.Minimize(
            cp.sum_squares(d["X"] @ w - d["y"]) / (2 * len(d["y"])) + d["penalty"] * cp.norm1(w)
        )
    )


def _groups(d: Data) -> list[np.ndarray]:
    """Return the indices of the features of each group."""
    groups = np.asarray(d.get("groups", np.zeros(d["X"].shape[1], dtype=np.int64)))
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]


def _group_lasso(d: Data, factor: float) -> cp.Problem:
    w = cp.Variable(d["X"].shape[1], name="w")
    norms = sum(float(np.sqrt(len(group))) * cp.norm2(w[group]) for group in _groups(d))
    return cp.Problem(
        cp.Minimize(factor * cp.sum_squares(d["X"] @ w - d["y"]) + d["penalty"] * norms)
    )


@group_lasso.formulation(
    "primal", latex=r"\min \tfrac12 |Xw - y|^2 + \lambda \sum_g \sqrt{d_g} |w_g|"
)
def group_primal(d: Data) -> cp.Problem:
    """min 1/2 |Xw - y|^2 + penalty sum_g sqrt(size of g) |w_g|."""
    return _group_lasso(d, 0.5)


@group_lasso.formulation(
    "dual",
    latex=r"\max y'u - \tfrac12 |u|^2" r" \quad\text{s.t.}\quad |X_g'u| \le \lambda \sqrt{d_g}",
)
def group_dual(d: Data) -> cp.Problem:
    """max y'u - 1/2 |u|^2   s.t.   |X_g'u| <= penalty sqrt(size of g)  for every group g."""
    u = cp.Variable(len(d["y"]), name="u")
    balls = [
        cp.norm2(d["X"][:, group].T @ u) <= d["penalty"] * float(np.sqrt(len(group)))
        for group in _groups(d)
    ]
    return cp.Problem(cp.Maximize(d["y"] @ u - cp.sum_squares(u) / 2), balls)


@group_lasso.formulation("without_half", control=True)
def without_half(d: Data) -> cp.Problem:
    """The primal without the 1/2."""
    return _group_lasso(d, 1.0)
