"""Document W's machine with a function F of the sum of powers of the slacks, F(u) = u^tau.

    svm.general     min 1/2 |w|^2 + C F(sum_i xi_i^sigma)
                    s.t.   y_i (w.x_i + b) >= 1 - xi_i,  xi >= 0

C (sum xi^sigma)^tau is C |xi|_sigma^(sigma tau), which is convex if sigma >= 1 and
sigma tau >= 1, also for a concave F. The page prints the margin 1 - xi_i^sigma. Then
t_i = xi_i^sigma can replace every xi_i, so that sigma does not matter; for sigma = 0
the margin is 0.

For any increasing F the optimum is that of a soft margin with the loss xi^sigma at some
other cost, C F'(s) for the optimal s = sum xi^sigma: it is on the regularisation path.
`equimargin.solvers.path.concave` finds it there for any F and sigma = 1, convex or not.

References
----------
C. Cortes, V. Vapnik, Support-vector networks (1995), (13) and appendix A.2; W, SVM
classifier.
"""

# Equations in docstrings may have several lines.
# ruff: noqa: D205

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.declarations.checks import (
    classes,
    kernel_points,
    needing,
    positive,
    real,
    signs,
)
from equimargin.formulations.declarations.drawing import Data, points
from equimargin.formulations.declarations.family import Family
from equimargin.formulations.declarations.source import Source
from equimargin.formulations.declarations.symbols import cp

TITLE = "Cortes, Vapnik, Support-Vector Networks (1995)"
POWERS = [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (2.0, 0.5), (1.5, 1.0)]
"""Generated values of sigma and tau.

They give the hinge, its square, the squared sum, a concave F, and the power 1.5.
"""


def _drawn() -> Any:
    """Return a strategy of points of two classes, C, sigma and tau."""
    # Imported here: hypothesis is needed only if data are generated.
    from hypothesis import strategies as st

    few = points(labels=2, least=2, C=[1.0, 0.5, 2.0])
    return st.tuples(few, st.sampled_from(POWERS)).map(
        lambda drawn: drawn[0] | {"sigma": drawn[1][0], "tau": drawn[1][1]}
    )


def _exponent(value: Any, name: str, d: Data) -> None:
    """Raise ValueError for a tau whose problem is not convex."""
    positive(value, name, d)
    if not d["sigma"] * value >= 1:
        raise ValueError(
            f"sigma tau must be at least 1, and is {d['sigma'] * value:g}: else the problem "
            f"is not convex"
        )


general = Family(
    "svm.general",
    Source("W", "SVM classifier"),
    data=_drawn,
    check=needing(
        X=kernel_points,
        y=classes(2),
        C=positive,
        sigma=real("a finite number that is at least 1", lambda v: 1 <= v < np.inf),
        tau=_exponent,
    ),
)
"""X (m, d), y (m,) in {0, 1}, C > 0, sigma >= 1 and tau > 0 with sigma tau >= 1."""


def _primal(d: Data, loss: Any) -> cp.Problem:
    """Return min 1/2 |w|^2 + C loss(xi)   s.t.   y_i (w.x_i + b) >= 1 - xi_i,  xi >= 0."""
    y = signs(d["y"])
    w, b, xi = (
        cp.Variable(d["X"].shape[1], name="w"),
        cp.Variable(name="b"),
        cp.Variable(len(y), name="xi"),
    )
    margins = cp.multiply(y, d["X"] @ w + b)
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + d["C"] * loss(xi)), [margins >= 1 - xi, xi >= 0]
    )


def _norm(v: Any, p: float) -> Any:
    """Return |v|_p, for p in [1, inf]."""
    return cp.norm(v, p) if p in (1, 2, np.inf) else cp.pnorm(v, p)


def _power_of_norm(v: Any, p: float, exponent: float) -> Any:
    """Return |v|_p^exponent of v >= 0.

    It is a sum of powers if p equals the exponent, which is quadratic for 2, and
    otherwise a power of a norm.
    """
    return cp.sum(_power(v, p)) if p == exponent else _power(_norm(v, p), exponent)


def _power(v: Any, exponent: float) -> Any:
    """Return v^exponent of v >= 0."""
    return v if exponent == 1 else cp.square(v) if exponent == 2 else cp.power(v, exponent)


@general.formulation("primal", latex=r"\min \tfrac12 |w|^2 + C |\xi|_\sigma^{\sigma\tau}")
def primal(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C |xi|_sigma^(sigma tau)
    s.t.   y_i (w.x_i + b) >= 1 - xi_i,  xi >= 0.
    """
    return _primal(d, lambda xi: _power_of_norm(xi, d["sigma"], d["sigma"] * d["tau"]))


def _concave(d: Data) -> str | None:
    return (
        f"F(u) = u^{d['tau']:g} is concave, and its composition is not written as a convex one"
        if d["tau"] < 1
        else None
    )


@general.formulation("sum", applies=_concave, latex=r"\min \tfrac12 |w|^2 + C F(\sum \xi_i^\sigma)")
def of_sum(d: Data) -> cp.Problem:
    """min 1/2 |w|^2 + C (sum_i xi_i^sigma)^tau
    s.t.   y_i (w.x_i + b) >= 1 - xi_i,  xi >= 0, for tau >= 1.
    """
    return _primal(d, lambda xi: _power(cp.sum(_power(xi, d["sigma"])), d["tau"]))


@general.formulation("dual", latex=r"\max 1'a - \tfrac12 |\sum a_i y_i x_i|^2 - G^*(a)")
def dual(d: Data) -> cp.Problem:
    """max 1'a - 1/2 |sum_i a_i y_i x_i|^2 - G*(a)   s.t.   y'a = 0,  a >= 0.

    With r = sigma tau and q = sigma / (sigma - 1), G* is (1 - 1/r) (r C)^(-1 / (r - 1))
    |a|_q^(r / (r - 1)), and for r = 1 it is 0 where |a|_q <= C and infinite elsewhere.
    """
    y, r = signs(d["y"]), d["sigma"] * d["tau"]
    a, q = (
        cp.Variable(len(y), name="a"),
        d["sigma"] / (d["sigma"] - 1) if d["sigma"] > 1 else np.inf,
    )
    gain = cp.sum(a) - cp.sum_squares((y[:, None] * d["X"]).T @ a) / 2
    if r == 1:
        return cp.Problem(cp.Maximize(gain), [y @ a == 0, a >= 0, _norm(a, q) <= d["C"]])
    cost = (1 - 1 / r) * (r * d["C"]) ** (-1 / (r - 1)) * _power_of_norm(a, q, r / (r - 1))
    return cp.Problem(cp.Maximize(gain - cost), [y @ a == 0, a >= 0])


def _not_soft(d: Data) -> str | None:
    return (
        None
        if d["tau"] == 1 and d["sigma"] in (1, 2)
        else "it is no soft margin with a hinge or its square"
    )


@general.formulation("soft", applies=_not_soft)
def soft(d: Data) -> cp.Problem:
    """svm.soft or svm.l2: min 1/2 |w|^2 + C sum_i (1 - y_i (w.x_i + b))_+^sigma,
    for tau = 1 and sigma = 1 or 2.
    """
    w, b = cp.Variable(d["X"].shape[1], name="w"), cp.Variable(name="b")
    slacks = cp.pos(1 - cp.multiply(signs(d["y"]), d["X"] @ w + b))
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + d["C"] * cp.sum(_power(slacks, d["sigma"])))
    )


@general.formulation("as_printed", applies=_concave, control=True)
def as_printed(d: Data) -> cp.Problem:
    """The margins 1 - xi_i^sigma that W prints: with t_i = xi_i^sigma,
    the problem of sigma = 1.
    """
    return _primal(d, lambda t: _power(cp.sum(t), d["tau"]))


@general.formulation("dual.half_cost", control=True)
def half_cost(d: Data) -> cp.Problem:
    """The dual of C / 2."""
    return dual(d | {"C": d["C"] / 2})
