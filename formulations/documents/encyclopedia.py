"""Document W: encyclopedia page on Ranking SVM.

Its classifier has C F(sum_i xi_i^sigma); F(u) = u and sigma = 1 give the soft margin of
Yu and Kim. The page prints + b and 1 - xi^sigma; here b has Yu and Kim's sign, and the
constraint is the right one, 1 - xi. X (m, d) features, a factor of K for a nonlinear
kernel; y (m,) labels; c (m,) weights of C.
"""

from __future__ import annotations

from functools import partial

from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import Symbols, cp, maximize, minimize
from equimargin.formulations.documents.shared.point_maps import MULTIPLIERS, WITH_BIAS
from equimargin.formulations.problem.construct import classification

svm_l2 = Family("svm.l2", problem=partial(classification, loss="squared_hinge"))


@svm_l2.formulation(
    "primal",
    Source("W", "SVM classifier with sigma = 2"),
    latex=r"\min_{w,b,\xi}\ \tfrac12\|w\|^2 + C\sum_i\xi_i^2 \quad\text{s.t.}\quad y_i(w\cdot x_i "
    r"- b) \ge 1 - \xi_i,\ \xi_i \ge 0",
    in_features=True,
    **WITH_BIAS,
)
def svm_l2_primal(d: Symbols) -> cp.Problem:
    """min  1/2 |w|^2 + C sum_i xi_i^2   s.t.  y_i (w.x_i - b) >= 1 - xi_i,  xi_i >= 0.

    The multiplier of `margin` is alpha >= 0 of the dual. xi >= 0 is redundant.
    """
    w, b, xi, C = (
        cp.Variable(d.X.shape[1], "w"),
        cp.Variable(name="b"),
        cp.Variable(d.p, "xi"),
        d.parameter("C"),
    )
    return minimize(
        cp.sum_squares(w) / 2 + C * (d.c @ cp.square(xi)),
        margin=cp.multiply(d.y, d.X @ w - b) >= 1 - xi,
        slack=xi >= 0,
        hard=d.no_slack(xi),
    )


@svm_l2.formulation(
    "dual",
    Source("W", "SVM classifier with sigma = 2, its dual"),
    latex=r"\max_{\alpha}\ 1^\top\alpha - \tfrac12\alpha^\top(YKY + \tfrac1{2C}I)\alpha"
    r" \quad\text{s.t.}\quad y^\top\alpha = 0,\ \alpha \ge 0",
    **MULTIPLIERS,
)
def svm_l2_dual(d: Symbols) -> cp.Problem:
    """max  1'alpha - 1/2 alpha'(YKY + I/(2C)) alpha   s.t.  y'alpha = 0,  alpha >= 0.

    The multiplier of the equality `balance` is b, or -b.
    """
    alpha, inverse = cp.Variable(d.p, "alpha"), d.parameter("1/C")
    return maximize(
        cp.sum(alpha)
        - d.K.quad(cp.multiply(d.y, alpha)) / 2
        - inverse / 4 * cp.sum_squares(cp.multiply(d.inverse_root_c, alpha)),
        balance=d.y @ alpha == 0,
        lower=alpha >= 0,
        unweighted=alpha[d.unweighted] == 0 if d.unweighted.any() else None,
    )
