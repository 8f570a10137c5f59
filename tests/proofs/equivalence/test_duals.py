"""Lagrangian duals derived automatically, against declared duals and misprints."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from equimargin.formulations import (
    REGISTRY,
    Kernel,
    MarginProblem,
    Problem,
    classification,
    linear,
    polynomial,
    precomputed,
    rbf,
)
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.programs import program_from_arrays
from equimargin.proofs.equivalence.comparison import compare_at
from equimargin.proofs.equivalence.duals import DUAL_OF, at_margin_one, dual_reason, stated_form
from equimargin.proofs.equivalence.stated import stated
from equimargin.proofs.equivalence.steps.form import Form, array, fraction, make_form
from equimargin.proofs.equivalence.steps.moves import LagrangianDual
from equimargin.proofs.equivalence.steps.reason import Reason, after, find_reason
from equimargin.proofs.equivalence.steps.renaming import ColourRefinement, RenamingSearch
from equimargin.proofs.equivalence.steps.rules import normal
from equimargin.solvers.exact.program import Optimum, program_optimum
from equimargin.solvers.exact.program.clock import Clock
from equimargin.testing import HARD, get_task
from narrow import present
from oracles.own_entries import PRINTED

POINTS, SCORES = (
    np.array([[2.0, 0.5], [1.0, -1.25], [-0.5, 1.0], [-2.0, -0.25], [0.75, 0.0]]),
    np.array([2.0, 1.0, 0.0, 0.0, 1.0]),
)
READ_OUTS = {"svm.hard.bias.as_printed", "rank.l2.value.as_printed", "ord.hard.rank_hard.unscaled"}
"""Misprints in the reading of a solution; the problems that they declare are right."""
MISPRINTED = {
    "svm.soft.dual.as_printed": "svm.soft.primal",
    "svr.l1.dual.as_printed": "svr.l1.primal",
    "rank.l1.dual.as_printed": "rank.l1.primal",
    "rank.differences.dual": "rank.l1.primal",
    "rank.lambda.function.as_lambda_half": "rank.lambda.dual",
    "rank.reduced": "rank.l1.dual",
    "rank.onenorm.differences": "rank.onenorm.dual",
    "rank.onenorm.free": "rvm.dual",
    "svm.onenorm.free": "svm.onenorm.dual",
    "rvm.as_printed": "rvm.dual",
    "svm.penalized.primal": "svm.soft.dual",
    "ord.implicit.neighbours": "ord.implicit.dual",
    "ord.implicit.rank_l1": "ord.implicit.dual",
    "ord.implicit_l2.dual.of_half": "ord.implicit_l2.primal",
}
"""Every control, with the declaration to which it must not be dual."""
ONE_OPTIMUM_HERE = {"svm.onenorm.free", "svm.penalized.primal", "ord.implicit.neighbours"}
"""Controls with the right optimum on the data of this test.

Only their coefficients distinguish them from the dual.
"""
SECONDS = 300.0


def grid(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return four points in eighths, and their scores.

    The scores have one point of its own level and both classes.
    """
    rng = np.random.default_rng(seed)
    return rng.integers(-40, 41, (4, 3)) / 8, rng.permutation([2.0, 1.0, 0.0, 0.0])


def make_problem(
    family: str,
    kernel: Kernel,
    C: float = 0.5,
    data: tuple[np.ndarray, np.ndarray] = (POINTS, SCORES),
) -> Problem:
    """Return a problem on a grid; every declaration computes exactly with its numbers."""
    points, scores = data
    task = get_task(family)
    y = {
        "classification": np.sign(scores - 0.5),
        "regression": scores - 0.75,
        "ranking": scores,
        "ordinal": scores,
    }[task]
    settings: dict[str, Any] = {
        "X": points @ points.T if kernel.name == "precomputed" else points,
        "y": y,
        "kernel": kernel,
    }
    if family not in HARD:
        settings["C"] = C
    if task == "regression":
        settings["epsilon"] = 0.25
    problem: Problem = FAMILIES[family](settings)
    return problem


def takes_no_differences(family: str) -> bool:
    """Return True if a family's declarations take no differences of the features of K.

    The features are exact floats for a linear kernel only.
    """
    return not family.startswith(("rank", "rvm"))


def derived(primal: str, problem: AnyProblem) -> Form:
    """Return the derived dual, reduced to the multipliers of the rows of the primal."""
    return normal(LagrangianDual().apply(stated_form(primal, problem)), "none", Clock(SECONDS))[0]


def declared(dual: str, problem: AnyProblem) -> Form:
    """Return the declared dual, reduced."""
    return normal(stated_form(dual, problem), "none", Clock(SECONDS))[0]


def are_one(first: Form, second: Form) -> bool:
    """Return True if the two forms are equal up to renaming, number by number."""
    return (
        RenamingSearch(ColourRefinement(first), ColourRefinement(second), Clock(SECONDS)).run()
        is not None
    )


def reason_of(primal: str, dual: str, problem: AnyProblem) -> Reason | None:
    """Return the equivalence proof of the dual, or None.

    Check that it replays and is the dual of the primal.
    """
    reason = dual_reason(primal, dual, problem, SECONDS)
    if reason is not None:
        assert reason.holds(stated_form(primal, problem), stated_form(dual, problem))
        assert isinstance(reason.first[0], LagrangianDual)
        assert reason.kind == "B is the Lagrangian dual of A"
        assert {abs(s) for s in reason.renaming.scales} <= {1}
    return reason


def test_the_duals_of_all_primals_are_known() -> None:
    """31 of the documents; each form that is registered with its dual adds one."""
    assert len([id for id in DUAL_OF if not id.startswith("test.")]) >= 31


@pytest.mark.slow
@pytest.mark.parametrize(("primal", "dual"), DUAL_OF.items())
def test_the_derived_dual_is_the_declared_one(primal: str, dual: str) -> None:
    family = REGISTRY[primal].family
    others = (
        [polynomial(2, 0.5, 1.0), rbf(0.5), precomputed()] if takes_no_differences(family) else []
    )
    for kernel in (linear(), *others):
        assert reason_of(primal, dual, make_problem(family, kernel)) is not None
    assert reason_of(primal, dual, make_problem(family, linear(), C=4.0)) is not None


@pytest.mark.parametrize(("primal", "dual"), DUAL_OF.items())
def test_so_it_is_on_other_data(primal: str, dual: str) -> None:
    """Entry by entry both duals are polynomials in the data.

    Equal at random points, they are equal.
    """
    for seed in (1, 2):
        assert (
            reason_of(
                primal,
                dual,
                make_problem(REGISTRY[primal].family, linear(), C=2.0, data=grid(seed)),
            )
            is not None
        )


@pytest.mark.parametrize(
    "primal", [id for id in DUAL_OF if "onenorm" in id or id.startswith("rvm")]
)
def test_a_point_of_one_number_is_a_row_like_any_other(primal: str) -> None:
    """A price of such a point has one variable w_j of a linear kernel.

    It is no bound, and no other price takes its place.
    """
    points = np.array([[2.0, 0.0], [0.0, -1.25], [0.0, 0.0], [-2.0, -0.25], [1.0, 0.0]])
    family = REGISTRY[primal].family
    assert (
        reason_of(primal, DUAL_OF[primal], make_problem(family, linear(), data=(points, SCORES)))
        is not None
    )


@pytest.mark.parametrize("primal", [id for id in DUAL_OF if id.endswith((".margin", ".beta"))])
def test_a_row_of_one_number_is_a_bound(primal: str) -> None:
    """With one feature, rows and norms have one entry.

    With two opposite features a point of 0 has none.
    """
    family = REGISTRY[primal].family
    for points in (
        [[-2.0], [-1.0], [0.0], [2.0]],
        [[-2.0, 2.0], [0.0, 0.0], [1.0, -1.0], [2.0, -2.0]],
    ):
        for scores in ([2.0, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, 0.0]):
            problem = make_problem(
                family, linear(), C=2.0, data=(np.array(points), np.array(scores))
            )
            assert reason_of(primal, DUAL_OF[primal], problem) is not None


@pytest.mark.parametrize("control", MISPRINTED)
def test_a_misprint_is_no_dual(control: str) -> None:
    kernel = polynomial(2, 1.0, 1.0) if "differences" in control else linear()
    counterpart = MISPRINTED[control]
    primal, dual = (
        (counterpart, control)
        if REGISTRY[control].carries == "multipliers"
        else (control, counterpart)
    )
    problem = make_problem(REGISTRY[control].family, kernel)
    assert reason_of(primal, dual, problem) is None
    found = compare_at(problem, primal, dual, "exact", Clock(SECONDS), explain=False)
    assert found.apart == (control not in ONE_OPTIMUM_HERE)


def test_every_control_is_judged() -> None:
    assert {id for id, entry in PRINTED.items() if entry.control} == set(MISPRINTED) | READ_OUTS


def test_a_dual_with_weights_has_a_box_for_every_row() -> None:
    problem = classification(
        POINTS, np.sign(SCORES - 0.5), 0.5, sample_weight=[1.0, 4.0, 0.25, 1.0, 16.0]
    )
    assert reason_of("svm.soft.primal", "svm.soft.dual", problem) is not None
    assert (
        reason_of("svm.l2.primal", "svm.l2.dual", replace(problem, loss="squared_hinge"))
        is not None
    )
    ends = ColourRefinement(derived("svm.soft.primal", problem)).ends
    assert [(fraction(low), fraction(high)) for low, high in ends] == [
        (Fraction(0), Fraction(c)) for c in (0.5, 2.0, 0.125, 0.5, 8.0)
    ]


def test_the_derived_dual_of_the_tutorial_is_its_equation() -> None:
    problem = make_problem("svm.soft", linear())
    assert isinstance(problem, MarginProblem)
    dual = derived("svm.soft.primal", problem)
    # The points are dyadic: products are exact.
    signed = problem.rows.s[:, None] * POINTS
    assert (floats(dual.H) == signed @ signed.T).all()  # (26) with the 1/2
    assert floats(dual.g).tolist() == [-1] * 5
    assert (floats(dual.E[0] / dual.E[0, 0]) == problem.rows.s / problem.rows.s[0]).all()
    assert ColourRefinement(dual).ends == [(0, fmpq(1, 2))] * 5
    assert dual.shape == (5, 1, 10)


@pytest.mark.parametrize(
    "family", ["svm.soft", "svm.l2", "svr.l1", "rank.l1", "rvm", "rank.onenorm", "svm.onenorm"]
)
def test_one_number_changed_anywhere_is_seen(family: str) -> None:
    """A bound at 0 is unchanged by a positive factor; every other number is compared."""
    problem, ids = make_problem(family, linear()), (f"{family}.primal", f"{family}.dual")
    reason = present(reason_of(*ids, problem))
    one, other = (
        after(stated_form(ids[0], problem), reason.first),
        after(stated_form(ids[1], problem), reason.second),
    )
    assert are_one(one, other)
    changed = [
        replace(other, **{part: nudged(getattr(other, part))})
        for part in ("H", "g", "E", "f")
        if getattr(other, part).size
    ]
    rows = [r for r, end in enumerate(other.f) if end != 0 or not other.bounds[r]]
    for r in rows[:1]:
        F, f = (
            np.vstack([np.delete(other.F, r, 0), nudged(other.F[r])]),
            np.append(np.delete(other.f, r), other.f[[r]]),
        )
        changed.append(replace(other, F=F, f=f))
    assert not any(
        are_one(one, wrong) for wrong in [replace(other, constant=other.constant + 1), *changed]
    )


def test_an_equation_is_put_into_a_quadratic() -> None:
    """min z0^2 + z1 with z0 + z1 = 2 and z1 >= 0 is min z1^2 - 3 z1 + 4."""
    form = make_form(program_from_arrays([[2, 0], [0, 0]], [0, 1], [[1, 1]], [2], [[0, -1]], [0]))
    left, _ = normal(form, "none", Clock(SECONDS))
    assert (left.H.tolist(), left.g.tolist(), left.constant) == ([[2]], [-3], 4)
    assert (left.F.tolist(), left.f.tolist(), len(left.E)) == ([[-1]], [0], 0)


def test_equations_are_compared_by_their_solutions() -> None:
    problem = make_problem("svm.soft", linear())
    one, other = derived("svm.soft.primal", problem), declared("svm.soft.dual", problem)
    assert are_one(one, replace(other, E=other.E * -3, e=other.e * -3))
    twice = replace(other, E=np.vstack([other.E, other.E]), e=np.append(other.e, other.e))
    assert find_reason(one, twice, False, Clock(SECONDS)) is not None


@pytest.mark.parametrize("family", ["svm.hard", "svm.nobias_hard", "rank.hard"])
def test_at_the_margin_one_the_optimum_is_that_of_the_family(family: str) -> None:
    points, scores = (
        np.array([[2.0, 1.0], [0.5, 2.0], [-1.0, -1.0], [-2.0, 0.0]]),
        np.array([2.0, 1.0, 0.0, 0.0]),
    )
    problem = make_problem(family, linear(), data=(points, scores))
    value = optimal_value(stated_form(f"{family}.margin", problem))
    assert value == optimal_value(stated_form(f"{family}.primal", problem))
    margin = stated(f"{family}.margin", problem, "exact", Clock(SECONDS)).problem.solve()
    assert float(value) == pytest.approx(1 / (2 * margin**2), rel=1e-6)


def test_only_a_margin_over_the_unit_ball_is_scaled() -> None:
    """max t over t <= a x, |x| <= s and s <= 1; each change is another program."""
    rows = program_from_arrays(None, [-1, 0, 0], None, [], [[1, -2, 0], [0, 0, 1]], [0, 1])
    norm = np.array([array([0, 0, 1]), array([0, 1, 0])])
    right = at_margin_one(make_form(rows), norm)
    assert (right.H.tolist(), right.E.tolist(), right.F.tolist()) == (
        [[0, 0], [0, 1]],
        [[1, 0]],
        [[1, -2]],
    )
    half = at_margin_one(replace(make_form(rows), f=array([0, Fraction(1, 2)])), norm)
    assert half.H.tolist() == [[0, 0], [0, 4]]
    form = make_form(rows)
    wrong = [
        (replace(form, f=array([1, 1])), norm),
        (replace(form, f=array([0, -1])), norm),
        (replace(form, constant=array([1])[0]), norm),
        (replace(form, F=np.array([array([1, -2, 1]), array([0, 0, 1])])), norm),
        (replace(form, g=array([-1, 0, 1])), norm),
        (form, -norm),
        (form, np.array([array([1, 0, 1]), array([0, 1, 0])])),
        (form, np.array([array([0, 0, 1]), array([0, 1, 1])])),
    ]
    for other, rows_of_norm in wrong:
        with pytest.raises(ValueError, match="margin over the unit ball"):
            at_margin_one(other, rows_of_norm)


def optimal_value(form: Form) -> Fraction:
    """Return the exact optimum of a form of small dyadic numbers."""
    H, g, E, e, F, f = (floats(part) for part in (form.H, form.g, form.E, form.e, form.F, form.f))
    found = program_optimum(program_from_arrays(H, g, E if len(e) else None, e, F, f))
    assert isinstance(found, Optimum)
    return found.value


def floats(numbers: Any) -> np.ndarray:
    """Return rational numbers as floats."""
    return np.array([float(fraction(v)) for v in numbers.ravel()]).reshape(numbers.shape)


def nudged(values: Any) -> Any:
    """Return a copy whose first entry v is increased by 2^-60 |v|, or by 2^-60 at 0."""
    changed = values.copy()
    changed.ravel()[0] += (abs(changed.ravel()[0]) or 1) * array([Fraction(1, 2**60)])[0]
    return changed
