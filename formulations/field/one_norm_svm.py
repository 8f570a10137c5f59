"""1-norm SVM: losses and the sum of |w_j|; with the hinge it is a linear program.

Its variables are weights w of features, of either sign. `one_norm_svm_l2` has the
squared hinge, and no bias but the weight of a constant feature. `svm.onenorm`, with
kernels and coefficients alpha >= 0, is another problem: with the features K Y,
`one_norm_svm` equals it with alpha of either sign, whose optimum can only be smaller.

References
----------
P. Bradley, O. Mangasarian, Feature selection via concave minimization and support
vector machines, ICML (1998).
J. Zhu, S. Rosset, T. Hastie, R. Tibshirani, 1-norm support vector machines, NIPS
(2003).
G.-X. Yuan, K.-W. Chang, C.-J. Hsieh, C.-J. Lin, A comparison of optimization methods
and software for large-scale L1-regularized linear classification, JMLR 11 (2010).
"""

from __future__ import annotations

from functools import partial

from equimargin.formulations.declarations.checks import classes, matrix, needing, positive, signs
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
one_norm_svm_l2 = Family(
    "one_norm_svm_l2",
    Source(
        "Yuan 2010",
        "(1)",
        "Yuan, Chang, Hsieh, Lin, A Comparison of Optimization Methods and Software for "
        "Large-Scale L1-Regularized Linear Classification (2010)",
    ),
    data=partial(points, labels=2, C=[1.0, 0.5, 3.0]),
    check=needing(X=matrix, y=classes(2), C=positive),
)
"""X (m, d), y (m,) in {0, 1} and C > 0."""


@one_norm_svm.formulation("primal", latex=r"\min |w|_1 + C \sum_i (1 - y_i (w.x_i + b))_+")
def primal(d: Data) -> cp.Problem:
    """min |w|_1 + C sum_i (1 - y_i (w.x_i + b))_+."""
    w, b = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(name="b")
    return cp.Problem(
        cp.Minimize(
            cp.norm1(w) + d["C"] * cp.sum(cp.pos(1 - cp.multiply(signs(d["y"]), d["X"] @ w + b)))
        )
    )


@one_norm_svm.formulation(
    "dual",
    latex=r"\max \sum_i u_i"
    r" \quad\text{s.t.}\quad |X'Yu|_\infty \le 1,\ y'u = 0,\ 0 \le u \le C",
)
def dual(d: Data) -> cp.Problem:
    """max sum u   s.t.   |X'Yu|_j <= 1,  y'u = 0,  0 <= u <= C."""
    y, u = signs(d["y"]), cp.Variable(len(d["X"]), name="u")
    prices = d["X"].T @ cp.multiply(y, u)
    return cp.Problem(
        cp.Maximize(cp.sum(u)), [prices <= 1, prices >= -1, y @ u == 0, u >= 0, u <= d["C"]]
    )


@one_norm_svm.formulation("dual.one_sided", control=True)
def one_sided(d: Data) -> cp.Problem:
    """The dual with (X'Yu)_j <= 1 in place of |X'Yu|_j <= 1."""
    y, u = signs(d["y"]), cp.Variable(len(d["X"]), name="u")
    return cp.Problem(
        cp.Maximize(cp.sum(u)), [d["X"].T @ cp.multiply(y, u) <= 1, y @ u == 0, u >= 0, u <= d["C"]]
    )


@one_norm_svm_l2.formulation(
    "primal",
    latex=r"\min |w|_1 + C \sum_i \xi_i^2 \quad\text{s.t.}\quad y_i w.x_i \ge 1 - \xi_i",
)
def primal_l2(d: Data) -> cp.Problem:
    """min |w|_1 + C sum_i xi_i^2   s.t.   y_i w.x_i >= 1 - xi_i."""
    m, k = d["X"].shape
    w, xi = cp.Variable(k, name="w"), cp.Variable(m, name="xi")
    return cp.Problem(
        cp.Minimize(cp.norm1(w) + d["C"] * cp.sum_squares(xi)),
        [cp.multiply(signs(d["y"]), d["X"] @ w) >= 1 - xi],
    )


def _dual_l2(d: Data, curvature: float) -> cp.Problem:
    y, a = signs(d["y"]), cp.Variable(len(d["X"]), name="a")
    prices = d["X"].T @ cp.multiply(y, a)
    return cp.Problem(
        cp.Maximize(cp.sum(a) - cp.sum_squares(a) * (curvature / d["C"])),
        [prices <= 1, prices >= -1, a >= 0],
    )


@one_norm_svm_l2.formulation(
    "dual",
    latex=r"\max \sum_i a_i - \tfrac{1}{4C} |a|^2"
    r" \quad\text{s.t.}\quad |X'Ya|_\infty \le 1,\ a \ge 0",
)
def dual_l2(d: Data) -> cp.Problem:
    """max sum a - |a|^2 / (4 C)   s.t.   |X'Ya|_j <= 1,  a >= 0."""
    return _dual_l2(d, 0.25)


@one_norm_svm_l2.formulation("dual.half", control=True)
def half(d: Data) -> cp.Problem:
    """The dual of half the losses, with |a|^2 / (2 C) in place of |a|^2 / (4 C)."""
    return _dual_l2(d, 0.5)
