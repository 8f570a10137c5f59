"""Quantile regression with a penalty on |w|_1.

Residuals above the function cost tau, those below cost 1 - tau.

References
----------
R. Koenker, G. Bassett, Regression quantiles, Econometrica 46 (1978), (3.1).
A. Belloni, V. Chernozhukov, l1-penalized quantile regression in high-dimensional sparse
models, Annals of Statistics 39 (2011), for the penalty.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from functools import partial

import numpy as np

from equimargin.formulations.declarations.checks import matrix, needing, real, targets
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = "Koenker, Bassett, Regression Quantiles (1978)"
quantile = Family(
    "quantile",
    Source("Koenker 1978", "(3.1)", TITLE),
    data=partial(points, labels=-1, tau=[0.5, 0.25, 0.75], penalty=[1.0, 0.25, 0.0]),
    check=needing(
        X=matrix,
        y=targets,
        tau=real("a number above 0 and below 1", lambda v: 0 < v < 1),
        penalty=real("a finite number that is at least 0", lambda v: 0 <= v < np.inf),
    ),
)
"""X (m, d), y (m,) targets, tau in (0, 1), and penalty >= 0.

The penalty is the factor of |w|_1, relative to the mean of the losses.
"""


@quantile.formulation(
    "primal", latex=r"\min \tfrac1m \sum_i \rho_\tau(y_i - w.x_i - b) + \lambda |w|_1"
)
def primal(d: Data) -> cp.Problem:
    """min sum_i (tau r_i if r_i > 0 else (tau - 1) r_i) / m + penalty |w|_1,
    r = y - Xw - b.
    """
    X, y, tau = d["X"], d["y"], d["tau"]
    w, b = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b")
    r = y - X @ w - b
    return cp.Problem(
        cp.Minimize(
            cp.sum(cp.maximum(tau * r, (tau - 1) * r)) / len(y) + d["penalty"] * cp.norm1(w)
        )
    )


def _dual(d: Data, least: float) -> cp.Problem:
    y, m = d["y"], len(d["y"])
    a = cp.Variable(m, name="a")
    prices = d["X"].T @ a
    box = [a <= d["tau"] / m, a >= least / m]
    return cp.Problem(
        cp.Maximize(y @ a), [*box, cp.sum(a) == 0, prices <= d["penalty"], prices >= -d["penalty"]]
    )


@quantile.formulation(
    "dual",
    latex=r"\max y'a"
    r" \quad\text{s.t.}\quad \tfrac{\tau - 1}m \le a \le \tfrac \tau m,\ 1'a = 0,\ "
    r"|X'a|_\infty \le \lambda",
)
def dual(d: Data) -> cp.Problem:
    """max y'a   s.t.   (tau - 1) / m <= a <= tau / m,  sum a = 0,  |X'a|_j <= penalty."""
    return _dual(d, d["tau"] - 1)


@quantile.formulation("dual.symmetric_box", control=True)
def symmetric_box(d: Data) -> cp.Problem:
    """The dual with -tau / m <= a, which is right for the median alone."""
    return _dual(d, -d["tau"])
