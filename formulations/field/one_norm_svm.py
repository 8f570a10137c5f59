"""1-norm SVM: the hinge with the sum of |w_j| instead of the norm, a linear program.

Its variables are weights w of features, of either sign. `svm.onenorm`, with kernels and
coefficients alpha >= 0, is another problem: with the features K Y, this one equals it
with alpha of either sign, whose optimum can only be smaller.

References
----------
P. Bradley, O. Mangasarian, Feature selection via concave minimization and support
vector machines, ICML (1998).
J. Zhu, S. Rosset, T. Hastie, R. Tibshirani, 1-norm support vector machines, NIPS
(2003).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from equimargin.formulations.declarations.checks import classes, matrix, needing, positive
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = (
    "Bradley, Mangasarian, Feature Selection via Concave Minimization and Support Vector "
    "Machines (1998)"
)
one_norm_svm = Family(
    "one_norm_svm",
    Source("Bradley 1998", "(8)", TITLE),
    data=partial(points, labels=2, C=[1.0, 0.5, 3.0]),
    check=needing(X=matrix, y=classes(2), C=positive),
)
"""X (m, d), y (m,) in {0, 1} and C > 0."""


def _signs(d: Data) -> np.ndarray:
    """Return -1 and 1 for the classes 0 and 1."""
    return np.asarray(2.0 * d["y"] - 1.0)


@one_norm_svm.formulation("primal", latex=r"\min |w|_1 + C \sum_i (1 - y_i (w.x_i + b))_+")
def primal(d: Data) -> cp.Problem:
    """min |w|_1 + C sum_i (1 - y_i (w.x_i + b))_+."""
    w, b = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(name="b")
    return cp.Problem(
        cp.Minimize(
            cp.norm1(w) + d["C"] * cp.sum(cp.pos(1 - cp.multiply(_signs(d), d["X"] @ w + b)))
        )
    )


@one_norm_svm.formulation(
    "dual",
    latex=r"\max \sum_i u_i"
    r" \quad\text{s.t.}\quad |X'Yu|_\infty \le 1,\ y'u = 0,\ 0 \le u \le C",
)
def dual(d: Data) -> cp.Problem:
    """max sum u   s.t.   |X'Yu|_j <= 1,  y'u = 0,  0 <= u <= C."""
    y, u = _signs(d), cp.Variable(len(d["X"]), name="u")
    prices = d["X"].T @ cp.multiply(y, u)
    return cp.Problem(
        cp.Maximize(cp.sum(u)), [prices <= 1, prices >= -1, y @ u == 0, u >= 0, u <= d["C"]]
    )


@one_norm_svm.formulation("dual.one_sided", control=True)
def one_sided(d: Data) -> cp.Problem:
    """The dual with (X'Yu)_j <= 1 in place of |X'Yu|_j <= 1."""
    y, u = _signs(d), cp.Variable(len(d["X"]), name="u")
    return cp.Problem(
        cp.Maximize(cp.sum(u)), [d["X"].T @ cp.multiply(y, u) <= 1, y @ u == 0, u >= 0, u <= d["C"]]
    )
