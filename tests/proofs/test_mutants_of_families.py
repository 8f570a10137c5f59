"""Families that somebody brings, and programs, with a mistake on purpose: none may come out as agreeing, or as certified.

Whether a mistake changes the optimum is told by cvxpy and Clarabel alone. Every mistake of the table must do so on an instance of its
family, and be noticed there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import equimargin.shipped
from equimargin.compare import compare
from equimargin.formulations import REGISTRY
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.own import Source, family
from equimargin.own.instances import drawn
from equimargin.proofs import Agreement, Verdict, checker, enclosure, program_certificate
from equimargin.proofs.families import OwnFormulation
from equimargin.proofs.families.family import FAMILIES
from equimargin.solvers import SOLVERS
from equimargin.solvers.exact.program import Optimum, program_optimum
from narrow import as_a

MUTANT = "test_mutants_of_families"
"""The id of the family that has a mistake."""
OTHER = 1e-3
"""Relative difference from which two optima of Clarabel's are two."""
SEEDS = range(12)
Change = Callable[[cp.Problem], cp.Problem]


def _of_constraints(change: Callable[[list[Any]], list[Any]]) -> Change:
    return lambda stated: cp.Problem(stated.objective, change(list(stated.constraints)))


def _of_objective(change: Callable[[Any], Any]) -> Change:
    return lambda stated: cp.Problem(type(stated.objective)(change(stated.objective.args[0])), stated.constraints)


def _moved(constraints: list[Any]) -> list[Any]:
    """All inequalities with half a unit less on the left."""
    return [c.args[0] - 0.5 <= c.args[1] if isinstance(c, cp.constraints.Inequality) else c for c in constraints]


CHANGES: dict[str, Change] = {
    "twice the objective": _of_objective(lambda expression: 2 * expression),
    "a term left out": _of_objective(lambda expression: sum(expression.args[1:])),
    "the first constraint left out": _of_constraints(lambda constraints: constraints[1:]),
    "the last constraint left out": _of_constraints(lambda constraints: constraints[:-1]),
    "inequalities loosened": _of_constraints(_moved),
    "equations left out": _of_constraints(lambda all: [c for c in all if not isinstance(c, cp.constraints.Equality)]),
}
"""Mistakes, by what they do."""


@pytest.fixture(autouse=True)
def entered() -> Iterator[None]:
    """Nothing stays entered."""
    yield
    for id in [id for id in REGISTRY if id.startswith(MUTANT)]:
        del REGISTRY[id]
    for name in [name for name in SOLVERS if name.startswith(MUTANT)]:
        del SOLVERS[name]
    FAMILIES.pop(MUTANT, None)


def _optimum(entry: OwnFormulation, data: Any, change: Change) -> float:
    """What Clarabel says of the optimum, on the family's scale."""
    stated = change(entry.stated(data))
    stated.solve(solver="CLARABEL")
    return float(entry.value(stated.value, data))


TABLE = {
    "lasso.primal": ("twice the objective", "a term left out"),
    "lasso.dual": ("twice the objective", "a term left out", "the first constraint left out", "inequalities loosened"),
    "group_lasso.dual": ("twice the objective", "a term left out", "inequalities loosened"),
    "ls_svm.primal": ("a term left out",),
    "ls_svm.dual": ("twice the objective", "a term left out", "equations left out"),
    "crammer_singer.primal": ("the first constraint left out",),
    "crammer_singer.dual": ("twice the objective", "the last constraint left out", "inequalities loosened", "equations left out"),
    "nu_svc.dual": ("a term left out", "inequalities loosened", "equations left out"),
    "nu_svr.dual": ("twice the objective", "a term left out", "inequalities loosened", "equations left out"),
    "nu_svr.tube": ("twice the objective", "a term left out"),
    "one_class.primal": ("the first constraint left out",),
    "one_class.dual": ("twice the objective", "the last constraint left out", "inequalities loosened", "equations left out"),
    "one_norm_svm.dual": ("the first constraint left out", "the last constraint left out", "inequalities loosened", "equations left out"),
    "quantile.dual": ("the first constraint left out", "the last constraint left out", "inequalities loosened", "equations left out"),
}
"""The mistakes of each formulation that change its optimum."""


def test_every_family_has_mistakes() -> None:
    shipped = {id for id, known in FAMILIES.items() if known.module.startswith(equimargin.shipped.__name__)}
    assert {REGISTRY[id].family for id in TABLE} == shipped


@pytest.mark.mutants
@pytest.mark.parametrize(("id", "name"), [(id, name) for id, names in TABLE.items() for name in names])
def test_a_wrong_formulation_of_a_family_is_not_believed(id: str, name: str) -> None:
    """It disagrees with its family; where it is the definition, the others disagree with it."""
    wrong = as_a(OwnFormulation, REGISTRY[id])
    honest = [entry for entry in REGISTRY.values() if entry.family == wrong.family and not entry.control]
    instance = next(data for data in (drawn(FAMILIES[wrong.family], seed) for seed in SEEDS) if _differs(wrong, data, CHANGES[name]))
    mutant = family(MUTANT, source=Source("none", ""))
    for entry in (as_a(OwnFormulation, entry) for entry in honest):
        change = CHANGES[name] if entry.id == id else lambda stated: stated
        mutant.formulation(entry.name, value=entry.value)(lambda data, entry=entry, change=change: change(entry.stated(data)))
    found = compare(mutant(instance), solvers=["CLARABEL"])
    assert found.families[0].verdict is not Verdict.AGREE, str(found)
    assert found.exit_code == 1
    judged = {j.evidence.run.formulation: j.agreement for j in found.families[0].judgements}
    if honest[0].id != id:
        assert judged.pop(f"{MUTANT}.{wrong.name}") is Agreement.DISAGREES
        assert set(judged.values()) <= {Agreement.AGREES, Agreement.INACCURATE}
    else:
        assert Agreement.DISAGREES in judged.values()


def _differs(entry: OwnFormulation, data: Any, change: Change) -> bool:
    """Whether a mistake changes the optimum at these data, both optima being finite, or only the right one."""
    right, wrong = _optimum(entry, data, lambda stated: stated), _optimum(entry, data, change)
    return bool(np.isfinite(right)) and not abs(right - wrong) <= OTHER * max(1.0, abs(right))


LIES: dict[str, Callable[[float, dict[str, Any]], Any]] = {
    "a value that is off by a thousandth": lambda value, point: value * 1.001,
    "a value of the other sign": lambda value, point: -value,
    "a point that is not optimal": lambda value, point: {"w": 1.05 * point["w"]},
    "a point of another formulation": lambda value, point: ("dual", {"r": point["w"]}),
    "no number": lambda value, point: float("nan"),
}
"""Wrong answers of a solver, from the right value and point."""


@pytest.mark.mutants
@pytest.mark.parametrize("lie", LIES)
def test_a_wrong_answer_of_a_solver_is_not_believed(lie: str) -> None:
    data = drawn(FAMILIES["lasso"], 0)
    right = as_a(OwnFormulation, REGISTRY["lasso.primal"])
    stated = right.stated(data)
    stated.solve(solver="CLARABEL")
    point = {variable.name(): variable.value for variable in stated.variables()}
    mutant = family(MUTANT, source=Source("none", ""))
    mutant.formulation("primal", value=right.value)(right.stated)
    dual = as_a(OwnFormulation, REGISTRY["lasso.dual"])
    mutant.formulation("dual", value=dual.value)(dual.stated)
    mutant.solver("right", accuracy=1e-6)(lambda data: point)
    mutant.solver("wrong", accuracy=1e-6)(lambda data: LIES[lie](float(right.value(stated.value, data)), point))
    found = compare(mutant(data), solvers=["CLARABEL", f"{MUTANT}.*"])
    judged = {j.evidence.run.solver: j.agreement for j in found.families[0].judgements}
    assert judged["CLARABEL"] is judged[f"{MUTANT}.right"] is Agreement.AGREES
    assert judged[f"{MUTANT}.wrong"] in (Agreement.DISAGREES, Agreement.FAILED), str(found)


PROGRAM = program_from_arrays([[2.0, 1.0], [1.0, 2.0]], [-1.0, 1.0], A=[[1.0, 1.0]], b=[1.0], G=[[-1.0, 0.0], [0.0, -1.0]], h=[0.0, 0.0])
"""min x1^2 + x1 x2 + x2^2 - x1 + x2 where x1 + x2 = 1 and both are at least 0, whose optimum is 0."""
LITTLE = Fraction(1, 10**9)
FALSE: dict[str, Callable[[Optimum], Optimum]] = {
    "a lower value": lambda found: replace(found, value=found.value - LITTLE),
    "a higher value": lambda found: replace(found, value=found.value + LITTLE),
    "a point that is not feasible": lambda found: replace(found, x=(found.x[0] + LITTLE, *found.x[1:])),
    "a feasible point that is not optimal": lambda found: replace(found, x=(found.x[0] - LITTLE, found.x[1] + LITTLE)),
    "a multiplier of the wrong sign": lambda found: replace(found, z=(found.z[0], -1 - found.z[1])),
    "a multiplier that is off": lambda found: replace(found, y=(found.y[0] + LITTLE,)),
}
"""Answers that are not the optimum of the program, nor what proves it."""


@pytest.mark.mutants
@pytest.mark.parametrize("name", FALSE)
def test_a_wrong_optimum_of_a_program_is_not_certified(name: str) -> None:
    right = as_a(Optimum, program_optimum(PROGRAM))
    accepted = checker.check(json.dumps(program_certificate(PROGRAM, right)).encode())
    assert accepted == ("program", 0, 0)
    with pytest.raises(ValueError, match="does not hold"):
        program_certificate(PROGRAM, FALSE[name](right))


@pytest.mark.mutants
@pytest.mark.parametrize(
    ("part", "condition"),
    [("q", "gradient_vanishes"), ("b", "equations_are_met"), ("h", "slack_is_in_the_cone"), ("c", "upper_bound_is_proved")],
)
def test_an_optimum_of_another_program_is_not_certified(part: str, condition: str) -> None:
    """The points of one are not those of one with another number, or prove another interval than is claimed."""
    changed: dict[str, Any] = {part: PROGRAM.c + 1 if part == "c" else tuple(v - 1 for v in getattr(PROGRAM, part))}
    other: Program = replace(PROGRAM, **changed)
    with pytest.raises(ValueError, match=condition):
        program_certificate(other, as_a(Optimum, program_optimum(PROGRAM)))
    with pytest.raises(ValueError, match="another program"):
        program_certificate(other, enclosure(PROGRAM))
