"""User-defined families for tests: one-class SVMs, and tiny programs without an optimum."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

from equimargin.own import Family, FormulaValue, ProgramProblem, Source, solver


@st.composite
def points(draw: st.DrawFn) -> dict[str, Any]:
    """Draw up to four points on an integer grid, and nu."""
    m, k = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    X = np.array(
        draw(st.lists(st.integers(-2, 2), min_size=m * k, max_size=m * k)), dtype=np.float64
    ).reshape(m, k)
    return {"X": X, "nu": draw(st.sampled_from([0.5, 0.25, 1.0]))}


ocsvm = Family(
    "test.ocsvm",
    Source("Schölkopf 2001", "(5)-(6)", "Schölkopf et al., Estimating the Support (2001)"),
    data=points(),
)


@ocsvm.formulation(
    "primal",
    printed=lambda v, d: printed_primal(v, d),
)
def primal(d: dict[str, Any]) -> Any:
    """min 1/2 |w|^2 + sum_i xi_i / (nu m) - rho   s.t.   X w >= rho - xi, xi >= 0."""
    X, nu = d["X"], d["nu"]
    m, k = X.shape
    w, rho, xi = cp.Variable(k, name="w"), cp.Variable(name="rho"), cp.Variable(m, name="xi")
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(xi) / (nu * m) - rho),
        [X @ w >= rho - xi, xi >= 0],
    )


def printed_primal(v: Any, d: dict[str, Any]) -> Any:
    """Return the objective and the violation of each constraint, computed in numpy."""
    m = len(d["X"])
    missing = v["rho"] - v["xi"] - d["X"] @ v["w"]
    return FormulaValue(
        v["w"] @ v["w"] / 2 + v["xi"].sum() / (d["nu"] * m) - v["rho"],
        {"margins": missing, "slacks": -v["xi"]},
    )


@ocsvm.formulation(
    "dual",
    to_canonical=lambda v, d: {"w": d["X"].T @ v["a"]},
    latex=r"\max_a -\tfrac12 |X'a|^2",
)
def dual(d: dict[str, Any]) -> Any:
    """max -1/2 |X'a|^2   s.t.   sum a = 1, 0 <= a <= 1 / (nu m)."""
    X, nu = d["X"], d["nu"]
    a = cp.Variable(len(X), name="a", nonneg=True)
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(X.T @ a) / 2), [cp.sum(a) == 1, a <= 1 / (nu * len(X))]
    )


@ocsvm.formulation(
    "negative", value=lambda value, d: -2 * value, from_canonical=lambda v, d: {"w": v["w"]}
)
def negative(d: dict[str, Any]) -> Any:
    """The primal, maximised, at half its size: its value map is -2 times itself."""
    X, nu = d["X"], d["nu"]
    m, k = X.shape
    w, rho = cp.Variable(k, name="w"), cp.Variable(name="rho")
    return cp.Problem(
        cp.Maximize(rho / 2 - cp.sum_squares(w) / 4 - cp.sum(cp.pos(rho - X @ w)) / (2 * nu * m))
    )


@ocsvm.formulation("dual_without_m", control=True)
def dual_without_m(d: dict[str, Any]) -> Any:
    """A seeded mistake: the box is 1 / nu."""
    X, nu = d["X"], d["nu"]
    a = cp.Variable(len(X), name="a")
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(X.T @ a) / 2), [cp.sum(a) == 1, a >= 0, a <= 1 / nu]
    )


@solver("test.ocsvm.libsvm", ocsvm, accuracy=1e-6)
def libsvm(problem: ProgramProblem) -> Any:
    """Solve with LIBSVM, whose multipliers are nu m times those of the dual."""
    d = problem.data
    from sklearn.svm import OneClassSVM

    X, nu = d["X"], d["nu"]
    found = OneClassSVM(kernel="linear", nu=nu, tol=1e-10).fit(X)
    a = np.zeros(len(X))
    a[found.support_] = found.dual_coef_[0] / (nu * len(X))
    return "dual", {"a": a}


nothing = Family("test.nothing")


@nothing.formulation("primal")
def nothing_is_feasible(d: Any) -> Any:
    """min x  s.t.  x >= 1, x <= 0."""
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [x >= 1, x <= 0])


@nothing.formulation("dual")
def its_dual(d: Any) -> Any:
    """max u  s.t.  u - v = 1, u >= 0, v >= 0: not bounded."""
    u, v = cp.Variable(name="u"), cp.Variable(name="v")
    return cp.Problem(cp.Maximize(u), [u - v == 1, u >= 0, v >= 0])


bottomless = Family("test.bottomless")


@bottomless.formulation("primal")
def no_bound(d: Any) -> Any:
    """min -x  s.t.  x >= 0."""
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(-x), [x >= 0])


@bottomless.formulation("dual")
def no_point(d: Any) -> Any:
    """max 0  s.t.  -1 - a = 0, a >= 0: no point is feasible."""
    a = cp.Variable(name="a")
    return cp.Problem(cp.Maximize(0 * a), [-1 - a == 0, a >= 0])


@bottomless.formulation("bounded", control=True)
def bounded(d: Any) -> Any:
    """A seeded mistake: x <= 5."""
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(-x), [x >= 0, x <= 5])
