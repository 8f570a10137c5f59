"""Steps of equivalence proofs, refused where they would change the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from equimargin.formulations.programs import program_from_arrays
from equimargin.proofs.equivalence.steps.form import Form, fraction, make_form
from equimargin.proofs.equivalence.steps.moves import (
    DominatedColumn,
    Elimination,
    EmptyRow,
    ForcingConstraint,
    ImplicitEquality,
    LagrangianDual,
    ObjectiveMap,
    PartialMinimization,
    Projection,
    ProofStep,
    RedundantConstraint,
    Renaming,
    VariableShift,
)
from equimargin.solvers.exact.program.optimum import Optimum, program_optimum
from oracles.reasons import Replay


def form() -> Form:
    """Return the form of a quadratic program in x, z and w.

    min x^2/2 + x z + 2 z + w over x + w = 1, x >= 0, z >= 0, x + z <= 4, 2 x + 2 z <=
    9, -x - z <= -4.
    """
    P = [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    G = [[-1, 0, 0], [0, -1, 0], [1, 1, 0], [2, 2, 0], [-1, -1, 0]]
    return make_form(program_from_arrays(P, [0, 2, 1], [[1, 0, 1]], [1], G, [0, 0, 4, 9, -4]))


HALF, TWO = fmpq(1, 2), fmpq(2)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (Elimination(0, 1), "variable 1 is not in equation 0"),
        (PartialMinimization(2), "variable 2 is in a row"),
        (DominatedColumn(1), "variable 1 has another row than x >= 0"),
        (ForcingConstraint(0), "equation 0 forces no variable to 0"),
        (Projection(0), "variable 0 is in an equation"),
        (Projection(1), "the objective depends on variable 1"),
        (EmptyRow(0), "equation 0 is not 0 = 0"),
        (RedundantConstraint(2), "inequality 2 is not implied"),
        (RedundantConstraint(2, 3, HALF), "inequality 2 is not implied"),
        (RedundantConstraint(3, 2, -TWO), "a positive multiple of another one"),
        (RedundantConstraint(2, 2, fmpq(1)), "a positive multiple of another one"),
        (ImplicitEquality(2, 3, TWO), "the inequalities are not opposite"),
        (ImplicitEquality(3, 4, HALF), "the inequalities are not opposite"),
        (ObjectiveMap(fmpq(-1), fmpq(0)), "the factor of an objective is positive"),
    ],
)
def test_a_step_that_would_change_the_optimum_is_refused(step: ProofStep, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        step.apply(form())


@pytest.mark.parametrize(
    "step",
    [
        Elimination(0, 2),
        RedundantConstraint(3, 2, TWO),
        ImplicitEquality(2, 4, fmpq(1)),
        VariableShift(0, TWO),
        ObjectiveMap(TWO, fmpq(1)),
        LagrangianDual(),
    ],
)
def test_a_step_that_keeps_it_is_carried_out(step: ProofStep) -> None:
    assert step.apply(form()) is not None


def test_an_unknown_whose_bound_is_above_0_is_not_fixed_at_0() -> None:
    with pytest.raises(ValueError, match="another row than x >= 0"):
        DominatedColumn(0).apply(make_form(program_from_arrays(None, [1], None, [], [[-1]], [-2])))


def test_a_concave_objective_has_no_lagrangian_dual_of_its_optimum() -> None:
    concave = make_form(program_from_arrays([[-1]], [0], None, [], [[1], [-1]], [1, 1]))
    with pytest.raises(ValueError, match="not proven to be semidefinite"):
        LagrangianDual().apply(concave)


def test_an_unknown_whose_objective_may_decrease_is_neither_fixed_nor_left_out() -> None:
    falling = make_form(program_from_arrays(None, [-1], None, [], [[-1]], [0]))
    with pytest.raises(ValueError, match="the objective may decrease"):
        DominatedColumn(0).apply(falling)
    coupled = make_form(
        program_from_arrays([[1, -1], [-1, 1]], [1, 0], None, [], [[-1, 0], [0, -1]], [0, 0])
    )
    with pytest.raises(ValueError, match="the objective may decrease"):
        DominatedColumn(0).apply(coupled)
    free = make_form(program_from_arrays(None, [1], None, [], None, []))
    with pytest.raises(ValueError, match="no least value"):
        PartialMinimization(0).apply(free)
    concave = make_form(program_from_arrays([[-1]], [0], None, [], None, []))
    with pytest.raises(ValueError, match="not convex"):
        PartialMinimization(0).apply(concave)


@given(
    st.tuples(*[st.integers(-2, 2)] * 3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1)), max_size=4),
    st.tuples(*[st.integers(-2, 2)] * 3),
)
@example((1, 1, 0), [(0, 0), (1, 0)], (-1, -1, 1))
@example((-1, 0, 0), [(0, 1)], (-1, -1, 1))
@example((1, 1, 0), [(0, 0), (1, -1)], (1, -1, 1))
def test_a_forcing_constraint_is_used_only_where_it_keeps_the_optimum(
    equation: tuple[int, int, int], bounds: list[tuple[int, int]], costs: tuple[int, int, int]
) -> None:
    """Where x = 0 is not forced, the step refuses.

    The equation is a'x = 0, and some variables have lower bounds, some below 0.
    """
    rows = [[-1 if j == k else 0 for j in range(3)] for k, _ in bounds]
    given = program_from_arrays(
        np.eye(3), costs, [equation], [0], rows or None, [-low for _, low in bounds]
    )
    lower = {k: max(low for j, low in bounds if j == k) for k, _ in bounds}
    used = [k for k in range(3) if equation[k]]
    forced = (
        used
        and len({equation[k] > 0 for k in used}) == 1
        and all(lower.get(k, -1) >= 0 for k in used)
    )
    if not forced:
        with pytest.raises(ValueError, match="equation 0"):
            ForcingConstraint(0).apply(make_form(given))
        with pytest.raises(AssertionError):
            Replay(given).take(ForcingConstraint(0))
        return
    made, replay = ForcingConstraint(0).apply(make_form(given)), Replay(given)
    replay.take(ForcingConstraint(0))
    assert len(replay.unknowns) == made.n
    assert made.n == 3 - len(used)
    assert optimal_value(program_optimum(program_of(made))) == optimal_value(program_optimum(given))


@given(
    st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=6),
    st.lists(st.integers(-1, 3), min_size=6, max_size=6),
)
@example([(0, 0, 1), (0, 1, -1), (1, 0, -1)], [0, 3, -5])
def test_a_projection_has_the_optimum_of_its_program(
    rows: list[tuple[int, int, int]], ends: list[int]
) -> None:
    """The last variable has no cost: without it the exact optimum is equal.

    Neither program alone is infeasible.
    """
    given = program_from_arrays(
        [[1, 0, 0], [0, 2, 0], [0, 0, 0]], [1, -1, 0], None, [], rows, ends[: len(rows)]
    )
    made = Projection(2).apply(make_form(given))
    assert made.n == 2
    assert optimal_value(program_optimum(program_of(made))) == optimal_value(program_optimum(given))


def program_of(form: Form) -> Any:
    """Return the program of a form of small dyadic numbers."""
    H, F, E = (
        np.array([[float(fraction(v)) for v in row] for row in M]).reshape(len(M), form.n)
        for M in (form.H, form.F, form.E)
    )
    g, f, e = ([float(fraction(v)) for v in each] for each in (form.g, form.f, form.e))
    return program_from_arrays(H, g, E if len(E) else None, e, F if len(F) else None, f)


def optimal_value(found: Any) -> Any:
    """Return the optimum, or the type of a result that has none."""
    return found.value if isinstance(found, Optimum) else type(found)


@pytest.mark.parametrize("wrong", ["order", "scale", "row", "factor", "equation"])
def test_a_renaming_holds_only_if_every_number_agrees(wrong: str) -> None:
    one = fmpq(1)
    rows = tuple((r, one) for r in range(5))
    right: dict[str, Any] = {
        "order": (0, 1, 2),
        "scales": (one,) * 3,
        "rows": rows,
        "equations": ((one,),),
        "back": ((one,),),
    }
    assert Renaming(**right).holds(form(), form())
    changes: dict[str, dict[str, Any]] = {
        "order": {"order": (1, 0, 2)},
        "scale": {"scales": (one, one, TWO)},
        "row": {"rows": ((2, one), (1, one), (0, one), (3, one), (4, one))},
        "factor": {"rows": (*((r, one) for r in range(4)), (4, TWO))},
        "equation": {"equations": ((TWO,),)},
    }
    assert not Renaming(**{**right, **changes[wrong]}).holds(form(), form())


@pytest.mark.parametrize("part", ["H", "g", "E", "e", "F", "f"])
def test_a_renaming_compares_every_part_of_a_form(part: str) -> None:
    one = fmpq(1)
    same = Renaming((0, 1, 2), (one,) * 3, tuple((r, one) for r in range(5)), ((one,),), ((one,),))
    for k in range(getattr(form(), part).size):
        changed = getattr(form(), part).copy()
        changed.ravel()[k] += HALF
        assert not same.holds(form(), replace(form(), **{part: changed}))
        assert not same.holds(replace(form(), **{part: changed}), form())


def test_opposite_inequalities_and_other_constants_are_told_apart() -> None:
    one = fmpq(1)
    up, down = (
        make_form(program_from_arrays(None, [0], None, [], [[way]], [way])) for way in (1, -1)
    )
    assert Renaming((0,), (one,), ((0, one),), (), ()).holds(up, up)
    assert not Renaming((0,), (one,), ((0, -one),), (), ()).holds(up, down)
    more = ObjectiveMap(one, one).apply(up)
    assert not Renaming((0,), (one,), ((0, one),), (), ()).holds(up, more)


def test_an_equation_solved_for_an_unknown_leaves_its_constant_in_the_others() -> None:
    """x + w = 1 is used in x + 2 w + z = 5, 3 w <= 7 and w^2 / 2.

    It leaves -x + z = 3, -3 x <= 4 and (1 - x)^2 / 2.
    """
    P = [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    left = Elimination(0, 2).apply(
        make_form(
            program_from_arrays(P, [0, 0, 0], [[1, 0, 1], [1, 1, 2]], [1, 5], [[0, 0, 3]], [7])
        )
    )
    assert (left.E.tolist(), left.e.tolist(), left.F.tolist(), left.f.tolist()) == (
        [[-1, 1]],
        [3],
        [[-3, 0]],
        [4],
    )
    assert (left.H.tolist(), left.g.tolist(), left.constant) == ([[1, 0], [0, 0]], [-1, 0], HALF)
