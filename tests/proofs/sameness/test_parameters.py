"""Reasons that hold for all values of the parameters of two problems."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.proofs.sameness import reason_for_all_data, stated
from equimargin.proofs.sameness.form import semidefinite_for_all, zeros
from equimargin.solvers.exact.program.clock import Clock
from narrow import present
from oracles.reasons import assert_replays
from problem_pairs import soft_dual_of_parameters, soft_of_parameters

DATA = {"X": np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]), "y": np.array([1.0, -1.0, 1.0]), "C": 2.0}
SECONDS = 60.0
"""Seconds that a reason may take here."""


def for_all(a: Any, b: Any, data: Any = DATA) -> Any:
    clock = Clock(SECONDS)
    return reason_for_all_data(stated(a, data, "fractions", clock), stated(b, data, "fractions", clock), clock)


@settings(max_examples=15, deadline=None)
@given(values=st.lists(st.integers(-3, 3), min_size=6, max_size=6), C=st.integers(0, 4))
def test_a_reason_for_all_data_replays_at_any_values_of_the_parameters(values: list[int], C: int) -> None:
    """Zeros and equal points too, at which other steps would be shorter."""
    found = for_all(soft_of_parameters, soft_dual_of_parameters)
    data = {**DATA, "X": np.array(values, dtype=np.float64).reshape(3, 2), "C": float(C)}
    first, second = (stated(f, data, "exact", Clock(SECONDS)) for f in (soft_of_parameters, soft_dual_of_parameters))
    assert present(found).names == ("C", "X")
    assert_replays(present(found).reason, first.program, second.program, opposite=True)


def test_a_parameter_that_no_row_is_left_of_is_no_obstacle() -> None:
    """cvxpy leaves out constraints without entries, and their parameters with them."""

    def with_an_empty_row(d: Any) -> Any:
        problem = soft_dual_of_parameters(d)
        (a,) = problem.variables()
        bound = cp.Parameter(nonneg=True, name="bound", value=1.0)
        return cp.Problem(problem.objective, [*problem.constraints, a[np.zeros(3, dtype=bool)] <= bound * np.ones(0)])

    assert present(for_all(soft_of_parameters, with_an_empty_row)).names == ("C", "X", "bound")


def _without_half(d: Any) -> Any:
    """Right where X = 0, wrong elsewhere."""
    problem = soft_dual_of_parameters(d)
    X = next(parameter for parameter in problem.parameters() if parameter.name() == "X")
    (a,) = problem.variables()
    return cp.Problem(cp.Maximize(cp.sum(a) - cp.sum_squares(X.T @ cp.multiply(d["y"], a))), problem.constraints)


def _other_cost(d: Any) -> Any:
    """Right at C = 2 alone, which is what the data say."""
    problem = soft_dual_of_parameters({**d, "C": 2.0})
    (a,) = problem.variables()
    return cp.Problem(problem.objective, [*problem.constraints[:2], a <= 2.0])


def _with_value(d: Any) -> Any:
    return soft_dual_of_parameters(d), lambda v: v


def _without_parameters(d: Any) -> Any:
    from problem_pairs import soft_dual

    return soft_dual(d)


def _not_affine(d: Any) -> Any:
    """A product of parameters is not affine in them: cvxpy compiles their values."""
    problem = soft_dual_of_parameters(d)
    C = next(parameter for parameter in problem.parameters() if parameter.name() == "C")
    (a,) = problem.variables()
    return cp.Problem(problem.objective, [*problem.constraints, a <= C * C])


def test_a_scale_that_is_a_parameter_is_no_number() -> None:
    """z = C x holds where C is not 0, and is not claimed for all values."""

    def paid(d: Any) -> Any:
        x, C = cp.Variable(), cp.Parameter(name="C", value=d["C"])
        return cp.Problem(cp.Minimize(C * x), [x >= 1, x <= 3])

    def bounded(d: Any) -> Any:
        z, C = cp.Variable(), cp.Parameter(name="C", value=d["C"])
        return cp.Problem(cp.Minimize(z), [z >= C, z <= 3 * C])

    assert for_all(paid, bounded) is None
    assert present(for_all(paid, paid)).names == ("C",)


def weighted(d: Any) -> Any:
    """A weight of every square: the quadratic term depends on parameters."""
    X, c = cp.Parameter(d["X"].shape, name="X", value=d["X"]), cp.Parameter(2, nonneg=True, name="c", value=d["c"])
    w = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(c, cp.square(w))) / 2 + cp.sum(cp.pos(1 - X @ w))))


def weighted_dual(d: Any, factor: float = 1.0) -> Any:
    X, c = cp.Parameter(d["X"].shape, name="X", value=d["X"]), cp.Parameter(2, nonneg=True, name="c", value=d["c"])
    w, a = cp.Variable(2), cp.Variable(3)
    squares = factor * cp.sum(cp.multiply(c, cp.square(w))) / 2
    return cp.Problem(cp.Maximize(cp.sum(a) - squares), [cp.multiply(c, w) == X.T @ a, a >= 0, a <= 1])


def weighted_half(d: Any) -> Any:
    """The primal in v = 2 w."""
    X, c = cp.Parameter(d["X"].shape, name="X", value=d["X"]), cp.Parameter(2, nonneg=True, name="c", value=d["c"])
    v = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(c, cp.square(v))) / 8 + cp.sum(cp.pos(1 - X @ v / 2))))


def _weighted_twice(d: Any) -> Any:
    return weighted_dual(d, 2.0)


def _weighted_first(d: Any) -> Any:
    """The first weight for both squares: right where the weights are equal."""
    problem = weighted_dual(d)
    c = next(parameter for parameter in problem.parameters() if parameter.name() == "c")
    w = next(variable for variable in problem.variables() if variable.size == 2)
    a = next(variable for variable in problem.variables() if variable.size == 3)
    return cp.Problem(cp.Maximize(cp.sum(a) - c[0] * cp.sum_squares(w) / 2), problem.constraints)


WEIGHTS = {**DATA, "c": np.array([2.0, 3.0])}
EVEN = {**DATA, "c": np.array([2.0, 2.0])}


@pytest.mark.parametrize(("b", "kind"), [(weighted_dual, "B is the Lagrangian dual of A"), (weighted_half, "The two are one program")])
def test_reasons_hold_for_all_weights_of_the_quadratic_term(b: Any, kind: str) -> None:
    found = present(for_all(weighted, b, WEIGHTS))
    assert set(found.names) == {"c", "X"}
    assert found.reason.kind == kind
    for weights in ([1.0, 4.0], [3.0, 3.0], [0.5, 7.0]):
        data = {**WEIGHTS, "c": np.array(weights), "X": np.array([[0.0, 1.0], [2.0, 2.0], [-1.0, 0.0]])}
        first, second = (stated(f, data, "exact", Clock(SECONDS)) for f in (weighted, b))
        assert_replays(found.reason, first.program, second.program, opposite=b is weighted_dual)
        assert first.optimum == second.optimum


@pytest.mark.parametrize("data", [WEIGHTS, EVEN])
@pytest.mark.parametrize("b", [_weighted_twice, _weighted_first])
def test_a_wrong_weight_is_no_reason_for_all_data(b: Any, data: Any) -> None:
    assert for_all(weighted, b, data) is None


def test_unknowns_that_are_scaled_by_a_weight_are_left_undecided() -> None:
    """The dual in v with a = C v has the same optimum unless C = 0: it is equal at the data, and nothing is claimed of all."""

    def ridged(d: Any) -> Any:
        w, C = cp.Variable(2), cp.Parameter(nonneg=True, name="C", value=d["C"])
        return cp.Problem(cp.Minimize(C * cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - d["X"] @ w))))

    def scaled_dual(d: Any) -> Any:
        v, C = cp.Variable(3), cp.Parameter(nonneg=True, name="C", value=d["C"])
        return cp.Problem(cp.Maximize(C * (cp.sum(v) - cp.sum_squares(d["X"].T @ v) / 2)), [v >= 0, C * v <= 1])

    clock = Clock(SECONDS)
    assert stated(ridged, DATA, "fractions", clock).optimum == stated(scaled_dual, DATA, "fractions", clock).optimum
    assert for_all(ridged, scaled_dual) is None


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


@pytest.mark.parametrize("b", [_without_half, _other_cost, _with_value, _without_parameters, _not_affine])
@pytest.mark.filterwarnings("ignore:You are solving a parameterized problem that is not DPP")
def test_nothing_is_claimed_of_all_data_where_it_is_not_so(b: Any) -> None:
    assert for_all(soft_of_parameters, b) is None
