"""Twenty pairs of problems and the verdict that `same` must give on them.

Every problem is a function of data that returns a cvxpy problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st

from equimargin.formulations.programs import compile_program
from equimargin.solvers.exact.program import Optimum, program_optimum
from equimargin.testing import classification_data, regression_data


def points(**settings: Any) -> Any:
    """Return a strategy for X (m, d) of small integers, labels y (m,) and settings."""
    return st.builds(
        lambda d, **more: {"X": np.round(d.X) + 0.0, "y": d.y, **more},
        classification_data(3, tails=False),
        **settings,
    )


costs, shares = st.sampled_from([1.0, 0.5, 3.0]), st.sampled_from([0.5, 0.25, 1.0])
CLASSES = points(C=costs)
SHARES = points(nu=shares)
TARGETS = st.builds(
    lambda d, weight: {"X": np.round(d.X) + 0.0, "y": np.round(d.y) + 0.0, "weight": weight},
    regression_data(3, tails=False),
    costs,
)


@st.composite
def _three_classes(draw: Any) -> dict[str, Any]:
    d = draw(CLASSES)
    return {
        **d,
        "y": np.array(
            draw(st.lists(st.integers(0, 2), min_size=len(d["X"]), max_size=len(d["X"])))
        ),
    }


THREE_CLASSES = _three_classes()


def soft(d: Any) -> Any:
    w, b, xi = cp.Variable(d["X"].shape[1]), cp.Variable(), cp.Variable(len(d["X"]))
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + d["C"] * cp.sum(xi)),
        [cp.multiply(d["y"], d["X"] @ w - b) >= 1 - xi, xi >= 0],
    )


def soft_dual(d: Any, half: int = 2) -> Any:
    a = cp.Variable(len(d["X"]))
    squares = cp.sum_squares(d["X"].T @ cp.multiply(d["y"], a)) / half
    return cp.Problem(cp.Maximize(cp.sum(a) - squares), [d["y"] @ a == 0, a >= 0, a <= d["C"]])


def soft_dual_without_half(d: Any) -> Any:
    return soft_dual(d, 1)


def soft_rescaled(d: Any) -> Any:
    """Return a soft margin with w = 2 v, xi = 3 s, and its rows reordered and scaled."""
    v, b, s = cp.Variable(d["X"].shape[1]), cp.Variable(), cp.Variable(len(d["X"]))
    rows = [s >= 0, 5 * cp.multiply(d["y"], 2 * (d["X"] @ v) - b) + 15 * s >= 5]
    return cp.Problem(cp.Minimize(3 * d["C"] * cp.sum(s) + 2 * cp.sum_squares(v)), rows)


def soft_doubled(d: Any) -> Any:
    w, b, xi = cp.Variable(d["X"].shape[1]), cp.Variable(), cp.Variable(len(d["X"]))
    rows = [cp.multiply(d["y"], d["X"] @ w - b) >= 1 - xi, xi >= 0]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) + 2 * d["C"] * cp.sum(xi)), rows)


def soft_halved_again(d: Any) -> Any:
    return soft_doubled(d), lambda v: v / 2


def soft_by_hinges(d: Any) -> Any:
    w, b = cp.Variable(d["X"].shape[1]), cp.Variable()
    return cp.Problem(
        cp.Minimize(
            cp.sum_squares(w) / 2 + d["C"] * cp.sum(cp.pos(1 - cp.multiply(d["y"], d["X"] @ w - b)))
        )
    )


def _with_parameters(d: Any) -> Any:
    return {
        "X": cp.Parameter(d["X"].shape, name="X", value=d["X"]),
        "C": cp.Parameter(nonneg=True, name="C", value=d["C"]),
        "y": d["y"],
    }


def soft_of_parameters(d: Any) -> Any:
    p = _with_parameters(d)
    w, b, xi = cp.Variable(d["X"].shape[1]), cp.Variable(), cp.Variable(len(d["X"]))
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + p["C"] * cp.sum(xi)),
        [cp.multiply(p["y"], p["X"] @ w - b) >= 1 - xi, xi >= 0],
    )


def soft_dual_of_parameters(d: Any) -> Any:
    p, a = _with_parameters(d), cp.Variable(len(d["X"]))
    squares = cp.sum_squares(p["X"].T @ cp.multiply(p["y"], a)) / 2
    return cp.Problem(cp.Maximize(cp.sum(a) - squares), [p["y"] @ a == 0, a >= 0, a <= p["C"]])


def nu_svc(d: Any) -> Any:
    m, n = d["X"].shape
    w, b, rho, xi = cp.Variable(n), cp.Variable(), cp.Variable(name="rho"), cp.Variable(m)
    rows = [cp.multiply(d["y"], d["X"] @ w + b) >= rho - xi, xi >= 0, rho >= 0]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 - d["nu"] * rho + cp.sum(xi) / m), rows)


def nu_svc_dual(d: Any) -> Any:
    problem = nu_svc_dual_without_balance(d)
    (a,) = problem.variables()
    return cp.Problem(problem.objective, [d["y"] @ a == 0, *problem.constraints])


def nu_svc_dual_without_balance(d: Any) -> Any:
    a = cp.Variable(len(d["X"]))
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(d["X"].T @ cp.multiply(d["y"], a)) / 2),
        [cp.sum(a) >= d["nu"], a >= 0, a <= 1 / len(d["X"])],
    )


def soft_at_nu(d: Any) -> Any:
    return soft({**d, "C": d["nu"]})


def soft_at_its_cost(d: Any) -> Any:
    """Return nu-SVC as a soft margin: C = 1 / (m rho), value rho^2 v - nu rho."""
    program = compile_program(nu_svc(d), "fractions")
    found = program_optimum(program)
    rho = found.x[program.columns["rho"].start] if isinstance(found, Optimum) else 0
    if rho == 0:
        return nu_svc(d)
    nu = Fraction(d["nu"])
    return soft({**d, "C": float(1 / (len(d["X"]) * rho))}), lambda v: rho * rho * v - nu * rho


def ridge(d: Any) -> Any:
    w = cp.Variable(d["X"].shape[1])
    return cp.Problem(
        cp.Minimize(cp.sum_squares(d["X"] @ w - d["y"]) + d["weight"] * cp.sum_squares(w))
    )


def ridge_in_coefficients(d: Any) -> Any:
    a = cp.Variable(len(d["X"]))
    fit = cp.sum_squares(d["X"] @ d["X"].T @ a - d["y"])
    return cp.Problem(cp.Minimize(fit + d["weight"] * cp.sum_squares(d["X"].T @ a)))


def lasso(d: Any) -> Any:
    w = cp.Variable(d["X"].shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(d["X"] @ w - d["y"]) + d["weight"] * cp.norm1(w)))


def lasso_bounded(d: Any) -> Any:
    return _lasso_within(d, d["weight"])


def lasso_bounded_at_its_norm(d: Any) -> Any:
    """Return the lasso with |w|_1 <= |w*|_1 as a constraint, w* an optimum of the lasso.

    `weight` |w*|_1 is added to its optimum. The two optima are equal by Lagrange
    duality, which no renaming of variables shows.
    """
    program = compile_program(lasso(d), "fractions")
    found = program_optimum(program)
    assert isinstance(found, Optimum)
    norm = sum((abs(v) for v in found.x[program.columns["w"]]), Fraction(0))
    return _lasso_within(d, float(norm)), lambda v: v + Fraction(d["weight"]) * norm


def _lasso_within(d: Any, bound: float) -> Any:
    w = cp.Variable(d["X"].shape[1])
    return cp.Problem(cp.Minimize(cp.sum_squares(d["X"] @ w - d["y"])), [cp.norm1(w) <= bound])


def one_class(d: Any) -> Any:
    m, n = d["X"].shape
    w, rho, xi = cp.Variable(n), cp.Variable(), cp.Variable(m)
    return cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(xi) / (d["nu"] * m) - rho),
        [d["X"] @ w >= rho - xi, xi >= 0],
    )


def one_class_dual(d: Any) -> Any:
    return _one_class_dual(d, 1 / (d["nu"] * len(d["X"])))


def one_class_dual_of_another_box(d: Any) -> Any:
    return _one_class_dual(d, 1 / d["nu"])


def _one_class_dual(d: Any, box: float) -> Any:
    a = cp.Variable(len(d["X"]))
    return cp.Problem(
        cp.Maximize(-cp.sum_squares(d["X"].T @ a) / 2), [cp.sum(a) == 1, a >= 0, a <= box]
    )


def one_norm(d: Any) -> Any:
    w, b = cp.Variable(d["X"].shape[1]), cp.Variable()
    return cp.Problem(
        cp.Minimize(cp.norm1(w) + d["C"] * cp.sum(cp.pos(1 - cp.multiply(d["y"], d["X"] @ w + b))))
    )


def one_norm_dual(d: Any) -> Any:
    problem = one_norm_dual_one_sided(d)
    (u,) = problem.variables()
    return cp.Problem(
        problem.objective, [d["X"].T @ cp.multiply(d["y"], u) >= -1, *problem.constraints]
    )


def one_norm_dual_one_sided(d: Any) -> Any:
    u = cp.Variable(len(d["X"]))
    return cp.Problem(
        cp.Maximize(cp.sum(u)),
        [d["X"].T @ cp.multiply(d["y"], u) <= 1, d["y"] @ u == 0, u >= 0, u <= d["C"]],
    )


def crammer_singer(d: Any) -> Any:
    X, y = d["X"], d["y"]
    W, xi = cp.Variable((3, X.shape[1])), cp.Variable(len(X))
    rows = [
        (W[y[i]] - W[r]) @ X[i] >= 1 - xi[i] for i in range(len(X)) for r in range(3) if r != y[i]
    ]
    return cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + d["C"] * cp.sum(xi)), [*rows, xi >= 0])


def crammer_singer_dual(d: Any, share: float = 1.0) -> Any:
    own, T = np.eye(3)[d["y"]], cp.Variable((len(d["X"]), 3))
    objective = cp.sum(cp.multiply(own, T)) - cp.sum_squares(d["X"].T @ T) / 2
    return cp.Problem(cp.Maximize(objective), [cp.sum(T, axis=1) == 0, share * d["C"] * own >= T])


def crammer_singer_dual_of_half_the_cost(d: Any) -> Any:
    return crammer_singer_dual(d, 0.5)


@dataclass(frozen=True)
class Pair:
    """Two problems, a strategy of data, and the verdict.

    `finite` is True if only finite optima may show a difference.
    """

    a: Any
    b: Any
    data: Any
    verdict: str
    finite: bool = False


PAIRS = {
    "soft primal and dual": Pair(soft, soft_dual, CLASSES, "EQUAL"),
    "soft dual and (26) without the half": Pair(
        soft_dual, soft_dual_without_half, CLASSES, "DIFFERENT"
    ),
    "soft and rescaled unknowns": Pair(soft, soft_rescaled, CLASSES, "EQUAL"),
    "soft and twice its objective": Pair(soft, soft_doubled, CLASSES, "DIFFERENT"),
    "soft and twice its objective, halved": Pair(soft, soft_halved_again, CLASSES, "EQUAL"),
    "soft by slacks and by hinges": Pair(soft, soft_by_hinges, CLASSES, "EQUAL"),
    "soft primal and dual of parameters": Pair(
        soft_of_parameters, soft_dual_of_parameters, CLASSES, "EQUAL"
    ),
    "nu-SVC primal and dual": Pair(nu_svc, nu_svc_dual, SHARES, "EQUAL"),
    "nu-SVC and its dual without balance": Pair(
        nu_svc, nu_svc_dual_without_balance, SHARES, "DIFFERENT", finite=True
    ),
    "nu-SVC and soft at C = nu": Pair(nu_svc, soft_at_nu, SHARES, "DIFFERENT"),
    "nu-SVC and soft at its cost": Pair(nu_svc, soft_at_its_cost, SHARES, "UNDECIDED"),
    "ridge and its form in coefficients": Pair(ridge, ridge_in_coefficients, TARGETS, "EQUAL"),
    "lasso and a bound of its weight": Pair(lasso, lasso_bounded, TARGETS, "DIFFERENT"),
    "lasso and a bound at its norm": Pair(lasso, lasso_bounded_at_its_norm, TARGETS, "UNDECIDED"),
    "one-class primal and dual": Pair(one_class, one_class_dual, SHARES, "EQUAL"),
    "one-class and another box": Pair(
        one_class, one_class_dual_of_another_box, SHARES, "DIFFERENT"
    ),
    "1-norm primal and dual": Pair(one_norm, one_norm_dual, CLASSES, "EQUAL"),
    "1-norm and one side of its dual": Pair(
        one_norm, one_norm_dual_one_sided, CLASSES, "DIFFERENT"
    ),
    "Crammer-Singer primal and dual": Pair(
        crammer_singer, crammer_singer_dual, THREE_CLASSES, "EQUAL"
    ),
    "Crammer-Singer and half the cost": Pair(
        crammer_singer, crammer_singer_dual_of_half_the_cost, THREE_CLASSES, "DIFFERENT"
    ),
}
"""Pairs by description."""
