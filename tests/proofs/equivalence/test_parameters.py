"""Equivalence proofs of two problems for all values of their parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.equivalence.instances import choose_instances, drawn
from equimargin.proofs.equivalence import reason_for_all_data, stated
from equimargin.proofs.equivalence.steps.form import semidefinite_for_all, zeros
from equimargin.proofs.equivalence.steps.quotients import (
    NotANumber,
    Quotient,
    divisor,
    nonnegative,
    positive,
)
from equimargin.solvers.exact.program.clock import Clock
from narrow import present
from oracles.reasons import assert_replays
from problem_pairs import soft_dual_of_parameters, soft_of_parameters

DATA = {
    "X": np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]),
    "y": np.array([1.0, -1.0, 1.0]),
    "C": 2.0,
}
SECONDS = 60.0
"""Seconds that an equivalence proof may take here."""


def for_all(a: Any, b: Any, data: Any = DATA) -> Any:
    clock = Clock(SECONDS)
    return reason_for_all_data(
        stated(a, data, "fractions", clock), stated(b, data, "fractions", clock), clock
    )


@settings(max_examples=15, deadline=None)
@given(values=st.lists(st.integers(-3, 3), min_size=6, max_size=6), C=st.integers(0, 4))
def test_a_reason_for_all_data_replays_at_any_values_of_the_parameters(
    values: list[int], C: int
) -> None:
    """This includes zeros and equal points, at which other steps would be shorter."""
    found = for_all(soft_of_parameters, soft_dual_of_parameters)
    data = {**DATA, "X": np.array(values, dtype=np.float64).reshape(3, 2), "C": float(C)}
    first, second = (
        stated(f, data, "exact", Clock(SECONDS))
        for f in (soft_of_parameters, soft_dual_of_parameters)
    )
    assert present(found).names == ("C", "X")
    assert_replays(present(found).reason, first.program, second.program, opposite=True)


def test_a_parameter_that_no_row_is_left_of_is_no_obstacle() -> None:
    """cvxpy removes constraints without entries, and their parameters with them."""

    def with_an_empty_row(d: Any) -> Any:
        problem = soft_dual_of_parameters(d)
        (a,) = problem.variables()
        bound = cp.Parameter(nonneg=True, name="bound", value=1.0)
        return cp.Problem(
            problem.objective,
            [*problem.constraints, a[np.zeros(3, dtype=bool)] <= bound * np.ones(0)],
        )

    assert present(for_all(soft_of_parameters, with_an_empty_row)).names == ("C", "X", "bound")


def _without_half(d: Any) -> Any:
    """Return a dual that is right at X = 0 only."""
    problem = soft_dual_of_parameters(d)
    X = next(parameter for parameter in problem.parameters() if parameter.name() == "X")
    (a,) = problem.variables()
    return cp.Problem(
        cp.Maximize(cp.sum(a) - cp.sum_squares(X.T @ cp.multiply(d["y"], a))), problem.constraints
    )


def _other_cost(d: Any) -> Any:
    """Return a dual that is right at C = 2 only, the value in the data."""
    problem = soft_dual_of_parameters({**d, "C": 2.0})
    (a,) = problem.variables()
    return cp.Problem(problem.objective, [*problem.constraints[:2], a <= 2.0])


def _with_value(d: Any) -> Any:
    return soft_dual_of_parameters(d), lambda v: v


def _without_parameters(d: Any) -> Any:
    from problem_pairs import soft_dual

    return soft_dual(d)


def _not_affine(d: Any) -> Any:
    """Return a dual with a product of parameters, which is not affine in them.

    cvxpy compiles their values.
    """
    problem = soft_dual_of_parameters(d)
    C = next(parameter for parameter in problem.parameters() if parameter.name() == "C")
    (a,) = problem.variables()
    return cp.Problem(problem.objective, [*problem.constraints, a <= C * C])


@pytest.mark.parametrize("id", ["svm.soft.primal", "rank.l1.dual", "rank.oneslack"])
def test_values_read_after_a_declaration_is_built_are_no_obstacle(id: str) -> None:
    """A declaration keeps the values of its parameters."""
    (problem,) = drawn(choose_instances(id, None), 1, 0)
    assert stated(id, problem, "fractions", Clock(SECONDS)).values_read == frozenset()


def test_a_scale_that_is_a_parameter_is_no_number() -> None:
    """z = C x holds for C > 0; nothing is claimed of a possibly negative C."""

    def paid(d: Any) -> Any:
        x, C = cp.Variable(), cp.Parameter(name="C", nonneg=d["signed"], value=d["C"])
        return cp.Problem(cp.Minimize(C * x), [x >= 1, x <= 3])

    def bounded(d: Any) -> Any:
        z, C = cp.Variable(), cp.Parameter(name="C", nonneg=d["signed"], value=d["C"])
        return cp.Problem(cp.Minimize(z), [z >= C, z <= 3 * C])

    free, signed = {**DATA, "signed": False}, {**DATA, "signed": True}
    assert for_all(paid, bounded, free) is None
    assert present(for_all(paid, paid, free)).above_zero == ()
    assert present(for_all(paid, bounded, signed)).above_zero == ("C",)


def test_a_scale_that_is_a_sum_of_parameters_is_claimed_of_no_data_but_those_drawn() -> None:
    def paid(d: Any) -> Any:
        x, c = cp.Variable(), cp.Parameter(2, name="c", nonneg=True, value=d["c"])
        return cp.Problem(cp.Minimize(cp.sum(c) * x), [x >= 1, x <= 3])

    def bounded(d: Any) -> Any:
        z, c = cp.Variable(), cp.Parameter(2, name="c", nonneg=True, value=d["c"])
        return cp.Problem(cp.Minimize(z), [z >= cp.sum(c), z <= 3 * cp.sum(c)])

    assert for_all(paid, bounded, WEIGHTS) is None


def weighted(d: Any) -> Any:
    """Return a primal with a weight of every square.

    Its quadratic term depends on parameters.
    """
    X, c = (
        cp.Parameter(d["X"].shape, name="X", value=d["X"]),
        cp.Parameter(2, nonneg=True, name="c", value=d["c"]),
    )
    w = cp.Variable(2)
    return cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(c, cp.square(w))) / 2 + cp.sum(cp.pos(1 - X @ w)))
    )


def weighted_dual(d: Any, factor: float = 1.0) -> Any:
    X, c = (
        cp.Parameter(d["X"].shape, name="X", value=d["X"]),
        cp.Parameter(2, nonneg=True, name="c", value=d["c"]),
    )
    w, a = cp.Variable(2), cp.Variable(3)
    squares = factor * cp.sum(cp.multiply(c, cp.square(w))) / 2
    return cp.Problem(
        cp.Maximize(cp.sum(a) - squares), [cp.multiply(c, w) == X.T @ a, a >= 0, a <= 1]
    )


def weighted_half(d: Any) -> Any:
    """Return the primal of `weighted` in v = 2 w."""
    X, c = (
        cp.Parameter(d["X"].shape, name="X", value=d["X"]),
        cp.Parameter(2, nonneg=True, name="c", value=d["c"]),
    )
    v = cp.Variable(2)
    return cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(c, cp.square(v))) / 8 + cp.sum(cp.pos(1 - X @ v / 2)))
    )


def _weighted_twice(d: Any) -> Any:
    return weighted_dual(d, 2.0)


def _weighted_first(d: Any) -> Any:
    """Return a dual with the first weight for both squares: right for equal weights."""
    problem = weighted_dual(d)
    c = next(parameter for parameter in problem.parameters() if parameter.name() == "c")
    w = next(variable for variable in problem.variables() if variable.size == 2)
    a = next(variable for variable in problem.variables() if variable.size == 3)
    return cp.Problem(cp.Maximize(cp.sum(a) - c[0] * cp.sum_squares(w) / 2), problem.constraints)


WEIGHTS = {**DATA, "c": np.array([2.0, 3.0])}
EVEN = {**DATA, "c": np.array([2.0, 2.0])}


@pytest.mark.parametrize(
    ("b", "kind"),
    [(weighted_dual, "B is the Lagrangian dual of A"), (weighted_half, "The two are one program")],
)
def test_reasons_hold_for_all_weights_of_the_quadratic_term(b: Any, kind: str) -> None:
    found = present(for_all(weighted, b, WEIGHTS))
    assert set(found.names) == {"c", "X"}
    assert found.above_zero == ()
    assert found.reason.kind == kind
    for weights in ([1.0, 4.0], [3.0, 3.0], [0.5, 7.0]):
        data = {
            **WEIGHTS,
            "c": np.array(weights),
            "X": np.array([[0.0, 1.0], [2.0, 2.0], [-1.0, 0.0]]),
        }
        first, second = (stated(f, data, "exact", Clock(SECONDS)) for f in (weighted, b))
        assert_replays(found.reason, first.program, second.program, opposite=b is weighted_dual)
        assert first.optimum == second.optimum


@pytest.mark.slow
@pytest.mark.parametrize("data", [WEIGHTS, EVEN])
@pytest.mark.parametrize("b", [_weighted_twice, _weighted_first])
def test_a_wrong_weight_is_no_reason_for_all_data(b: Any, data: Any) -> None:
    assert for_all(weighted, b, data) is None


def ridged(d: Any) -> Any:
    """Return a primal with a parameter as the weight of the squares."""
    w, C = cp.Variable(d["X"].shape[1]), cp.Parameter(nonneg=True, name="C", value=d["C"])
    return cp.Problem(cp.Minimize(C * cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - d["X"] @ w))))


def ridged_dual(d: Any, bound: float = 0.0, weight: float = 0.5) -> Any:
    """Return the dual in v, where a = C v.

    The variables are scaled by a parameter, and pivots are parameters.
    """
    v, C = cp.Variable(len(d["X"])), cp.Parameter(nonneg=True, name="C", value=d["C"])
    return cp.Problem(
        cp.Maximize(C * (cp.sum(v) - weight * cp.sum_squares(d["X"].T @ v))),
        [v >= 0, (bound or C) * v <= 1],
    )


def _bounded_at_two(d: Any) -> Any:
    """Return a dual that is right at C = 2 only, the value in the data."""
    return ridged_dual(d, bound=2.0)


def _without_the_half(d: Any) -> Any:
    return ridged_dual(d, weight=1.0)


@pytest.mark.parametrize("C", [0.25, 1.0, 2.0, 3.0, 7.0])
def test_unknowns_may_be_scaled_by_a_parameter_that_is_above_zero(C: float) -> None:
    """The proof in the parameter, evaluated at other values, replays on their programs."""
    found = present(for_all(ridged, ridged_dual))
    assert (found.names, found.above_zero) == (("C",), ("C",))
    data = {**DATA, "C": C}
    first, second = (stated(f, data, "exact", Clock(SECONDS)) for f in (ridged, ridged_dual))
    assert_replays(
        found.reason.mapped(lambda v: _number_at(v, Fraction(C))),
        first.program,
        second.program,
        opposite=True,
    )
    assert_replays(
        present(for_all(ridged, ridged_dual, data)).here,
        first.program,
        second.program,
        opposite=True,
    )


def _number_at(v: Any, C: Fraction) -> Any:
    """Return the value of a quotient in the root of C."""
    if not isinstance(v, Quotient):
        return v
    total = Fraction(0)
    for (power,), factor in v.terms():
        assert power % 2 == 0
        total += Fraction(int(factor.p), int(factor.q)) * C ** (power // 2)
    return fmpq(total.numerator, total.denominator)


def test_at_zero_the_problems_differ_so_that_it_is_rightly_left_out() -> None:
    data = {"X": np.array([[1.0], [-1.0]]), "C": 0.0}
    first, second = (stated(f, data, "fractions", Clock(SECONDS)) for f in (ridged, ridged_dual))
    assert (first.optimum, second.optimum) == (2, 0)
    assert for_all(ridged, ridged_dual, data) is None


@pytest.mark.parametrize("b", [_bounded_at_two, _without_the_half])
def test_what_holds_at_one_value_is_not_claimed_of_all_above_zero(b: Any) -> None:
    assert for_all(ridged, b) is None


TERMS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-3, 3)), min_size=1, max_size=4
)


@settings(deadline=None)
@given(TERMS, st.integers(0, 2), st.integers(1, 5))
def test_quotients_compute_as_their_values_do(
    terms: list[tuple[int, int, int]], power: int, at: int
) -> None:
    u, p = fmpq_mpoly_ctx.get(("u0", "p1"), Ordering.lex).gens()
    made = sum((u**a * p**b * c for a, b, c in terms), 0 * u)
    one, other = Quotient(made, u**power), Quotient(u + p, u)
    values = fmpq(at, 7), fmpq(3)

    def value(v: Any) -> Any:
        return v.top(*values) / v.bottom(*values)

    assert value(one + other) == value(one) + value(other)
    assert value(one - 3) == value(one) - 3
    assert value(2 - one * other) == 2 - value(one) * value(other)
    assert value(5 / Quotient(2 * u, u**0) / 3) == 5 / (2 * values[0]) / 3
    assert (one == other) is (one - other == 0)
    assert Quotient(made * u**2, u ** (power + 2)) == one
    assert sum(factor * values[0] ** a * values[1] ** b for (a, b), factor in one.terms()) == value(
        one
    )
    with pytest.raises(NotANumber):
        1 / Quotient(p, u)
    with pytest.raises(NotANumber):
        divisor(other)


def test_signs_are_those_for_all_values() -> None:
    u, p = fmpq_mpoly_ctx.get(("u0", "p1"), Ordering.lex).gens()
    assert positive(Quotient(3 * u, u**2))
    assert not positive(Quotient(-3 * u, u**2))
    assert nonnegative(Quotient(p**2 + u**2, u**4))
    assert not nonnegative(Quotient(p + u**2, u**4))
    assert not nonnegative(Quotient(p**2 - u**2, u**4))
    with pytest.raises(NotANumber):
        positive(Quotient(p**2, u))


def test_a_bound_that_is_a_parameter_is_left_where_it_is() -> None:
    def above(d: Any) -> Any:
        x, C = cp.Variable(2), cp.Parameter(nonneg=True, name="C", value=d["C"])
        return cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= C, cp.sum(x) >= 5 * C])

    def scaled(d: Any) -> Any:
        z, C = cp.Variable(2), cp.Parameter(nonneg=True, name="C", value=d["C"])
        return cp.Problem(cp.Minimize(4 * cp.sum_squares(z)), [2 * z >= C, 2 * cp.sum(z) >= 5 * C])

    assert present(for_all(above, scaled)).names == ("C",)


def test_a_quadratic_term_is_semidefinite_for_all_parameters_only_where_its_form_shows_it() -> None:
    s, t = fmpq_mpoly_ctx.get(("s", "t"), Ordering.lex).gens()
    plus, mixed = [[1, 1], [1, 1]], [[0, 1], [1, 0]]

    def weights(*terms: tuple[Any, list[list[int]]]) -> Any:
        H = zeros(2, 2)
        for (i, j), _ in np.ndenumerate(H):
            H[i, j] = sum((by * fmpq(M[i][j]) for by, M in terms), 0 * s)
        return H

    assert semidefinite_for_all(weights((s * s, plus), (t * t, plus), (1 + 0 * s, plus)))
    assert semidefinite_for_all(weights((s * s * t * t, plus)))
    assert not semidefinite_for_all(weights((s, plus)))
    assert not semidefinite_for_all(weights((s * t, plus), (s * s, plus)))
    assert not semidefinite_for_all(weights((s * s, mixed), (t * t, plus)))
    assert not semidefinite_for_all(weights((s * s, plus), (1 + 0 * s, mixed)))


@pytest.mark.parametrize(
    "b", [_without_half, _other_cost, _with_value, _without_parameters, _not_affine]
)
@pytest.mark.filterwarnings("ignore:You are solving a parameterized problem that is not DPP")
def test_nothing_is_claimed_of_all_data_where_it_is_not_so(b: Any) -> None:
    assert for_all(soft_of_parameters, b) is None
