"""Reasons that hold for all values of the parameters of two problems."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equimargin.proofs.sameness import reason_for_all_data, stated
from equimargin.solvers.exact.program.clock import Clock
from narrow import present
from oracles.reasons import assert_replays
from problem_pairs import soft_dual_of_parameters, soft_of_parameters

DATA = {"X": np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]), "y": np.array([1.0, -1.0, 1.0]), "C": 2.0}
SECONDS = 60.0
"""Seconds that a reason may take here."""


def for_all(a: Any, b: Any) -> Any:
    clock = Clock(SECONDS)
    return reason_for_all_data(stated(a, DATA, "fractions", clock), stated(b, DATA, "fractions", clock), clock)


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


@pytest.mark.parametrize("b", [_without_half, _other_cost, _with_value, _without_parameters, _not_affine])
@pytest.mark.filterwarnings("ignore:You are solving a parameterized problem that is not DPP")
def test_nothing_is_claimed_of_all_data_where_it_is_not_so(b: Any) -> None:
    assert for_all(soft_of_parameters, b) is None
