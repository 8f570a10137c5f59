"""Formulations as functions of symbols: errors, and the published formula.

The formula depends on its arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.formulations import (
    FAMILIES,
    REGISTRY,
    Declaration,
    Point,
    Symbols,
    classification,
    declare,
    minimize,
    ranking_vector_machine,
    rbf,
)
from equimargin.own import Family
from equimargin.solvers import solve_declaration

X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [0.5, 2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
ID = "svm.soft.test"
TO_CANONICAL: dict[str, Any] = {"to_canonical": lambda v, d: d.point(v["w"]), "carries": "function"}


@pytest.fixture
def entered() -> Iterator[Callable[..., Declaration]]:
    """Register a function in a family for one test, and declare it."""

    def declared(
        function: Callable[[Symbols], Any], of: str = "svm.soft", **more: Any
    ) -> Declaration:
        problem = (
            classification(X, Y, 2.0)
            if of == "svm.soft"
            else ranking_vector_machine(X, [0, 1, 2, 1], None, 2.0, rbf(0.5))
        )
        FAMILIES[of].formulation("test", id=ID, **(TO_CANONICAL | more))(function)
        return declare(ID, problem)

    yield declared
    REGISTRY.forget(ID)


def hinge(d: Symbols, C: Any) -> cp.Problem:
    w = cp.Variable(d.X.shape[1], "w")
    return minimize(cp.sum_squares(w) / 2 + C * (d.c @ cp.pos(1 - cp.multiply(d.y, d.X @ w))))


def test_names_must_differ(entered: Callable[..., Declaration]) -> None:
    def constraints(d: Symbols) -> cp.Problem:
        alpha = cp.Variable(d.p, "alpha")
        return minimize(d.K.quad(alpha), w=alpha >= 1)

    def unknowns(d: Symbols) -> cp.Problem:
        return minimize(cp.Variable(name="C") * 1.0 + 0 * d.parameter("C"))

    with pytest.raises(ValueError, match=r"two constraints called 'w': give each a unique name"):
        entered(constraints)
    del REGISTRY[ID]
    with pytest.raises(ValueError, match=r"two unknowns called 'C'"):
        entered(unknowns)


def test_constraints_of_one_label_are_refused_in_a_family_of_ones_own() -> None:
    """The first of them would be lost, and with it the optimum."""
    labelled = Family("test.labelled")

    @labelled.formulation("primal")
    def primal(d: Any) -> cp.Problem:
        x = cp.Variable(name="x")
        return cp.Problem(cp.Minimize(x), [(x >= 4).set_label("m"), (x >= 5).set_label("m")])

    try:
        with pytest.raises(
            ValueError, match=r"test\.labelled\.primal has two constraints called 'm'"
        ):
            declare("test.labelled.primal", labelled({}))
    finally:
        del REGISTRY["test.labelled.primal"], FAMILIES["test.labelled"]


def test_products_with_other_vectors_have_unknowns_of_their_own(
    entered: Callable[..., Declaration],
) -> None:
    def twice(d: Symbols) -> cp.Problem:
        alpha = cp.Variable(d.p, "alpha")
        return minimize(d.K.quad(cp.multiply(d.y, alpha)) + d.K.quad(alpha), sum=cp.sum(alpha) == 1)

    made = entered(twice, to_canonical=lambda v, d: Point(alpha=v["alpha"]), carries="multipliers")
    assert list(made.variables) == ["alpha", "w", "w2"]


def test_a_quadratic_form_needs_no_factor(entered: Callable[..., Declaration]) -> None:
    def squared(d: Symbols) -> cp.Problem:
        beta = cp.Variable(d.m, "beta")
        return minimize(d.K.quad(beta), sum=cp.sum(beta) == 1)

    made = entered(squared, "rvm", to_canonical=lambda v, d: Point(beta=v["beta"]))
    K = made.declared.gram.dense
    assert float(made.problem.solve(solver=cp.CLARABEL)) == pytest.approx(
        1 / np.linalg.inv(K).sum(), rel=1e-7
    )
    with pytest.raises(
        ValueError, match=r"rvm is a linear program: it has neither features X, nor a norm of w"
    ):
        _ = Symbols(made.declared).X


def test_a_canonical_formulation_says_how_it_becomes_a_point() -> None:
    with pytest.raises(ValueError, match=r"'svm\.soft\.test' needs to_canonical"):
        FAMILIES["svm.soft"].formulation("test")(lambda d: hinge(d, d.C))
    with pytest.raises(ValueError, match="is no valid name"):
        FAMILIES["svm.soft"].formulation("test", id="bad id*!", **TO_CANONICAL)(
            lambda d: hinge(d, d.C)
        )


@pytest.mark.parametrize("fixed", [False, True])
def test_other_parameters_and_none_leave_the_cost_as_it_is(
    entered: Callable[..., Declaration], fixed: bool
) -> None:
    def stated(d: Symbols) -> cp.Problem:
        d.parameter("C")
        C = d.C if fixed else d.parameter("C") * cp.Parameter(nonneg=True, name="share", value=1.0)
        return hinge(d, C)

    made = entered(stated, value=lambda v, d: v * d.C)
    assert made.value(3.0, made.parameter_values) == 6.0


def test_a_constraint_that_is_met_strictly_is_below_0() -> None:
    made = declare("svm.soft.dual", classification(X, Y, 2.0))
    printed = made.printed({"alpha": np.full(4, 0.5), "C": 2.0})
    assert printed.violations["upper"].tolist() == [-1.5] * 4
    assert printed.violations["lower"].tolist() == [-0.5] * 4
    assert printed.violations["balance"] == 0.0


def test_threads_may_ask_for_the_printed_formula() -> None:
    made = declare("svm.soft.dual", classification(X, Y, 2.0))

    def objective(share: float) -> float:
        return made.printed({"alpha": np.full(4, share), "C": 2.0}).objective

    shares = [0.1 * (k % 7) for k in range(300)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(objective, shares)) == [objective(share) for share in shares]


def test_a_changed_parameter_of_a_family_of_ones_own_is_refused_in_a_sentence() -> None:
    scaled = Family("test.scaled")

    @scaled.formulation("primal")
    def primal(d: Any) -> cp.Problem:
        x, C = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="C", value=2.0)
        return cp.Problem(cp.Minimize(C * x), [x >= 1])

    try:
        made = declare("test.scaled.primal", scaled({}))
        assert solve_declaration(made).value == pytest.approx(2.0, rel=1e-6)
        made.parameters["C"].value = 3.0
        with pytest.raises(ValueError, match="declare the changed problem anew"):
            _ = made.canonical
    finally:
        del REGISTRY["test.scaled.primal"], FAMILIES["test.scaled"]
