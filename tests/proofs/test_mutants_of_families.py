"""User-defined families and programs with deliberate mistakes: none may agree.

None may be certified, either. cvxpy and Clarabel alone determine if a mistake changes
the optimum. Every mistake of the table must do so on an instance of its family, and be
noticed there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from equimargin.comparison import compare
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.programs import Program, program_from_arrays
from equimargin.own import Family, Source, solver
from equimargin.own.instances import drawn
from equimargin.proofs import Agreement, Verdict, checker, enclosure, program_certificate
from equimargin.solvers import SOLVERS
from equimargin.solvers.exact.program import Optimum, program_optimum
from narrow import as_a

MUTANT = "test_mutants_of_families"
"""Id of the family with a mistake."""
OTHER = 1e-3
"""Relative difference above which two optima of Clarabel are distinct."""
SEEDS = range(60)
AT_LEAST = 6
"""Mistakes of every formulation of a family of the documents."""
Change = Callable[[cp.Problem], cp.Problem]
Mistake = Callable[[Formulation, Any], cp.Problem]


def _stated(change: Change) -> Mistake:
    """Return a mistake that changes the right program."""
    return lambda entry, data: change(entry.stated(data))


def _elsewhere(change: Callable[[Any], dict[str, Any]]) -> Mistake:
    """Return a mistake that states the right program of other data."""
    return lambda entry, data: entry.stated(data | change(data))


def _of_constraints(change: Callable[[list[Any]], list[Any]]) -> Mistake:
    return _stated(lambda stated: cp.Problem(stated.objective, change(list(stated.constraints))))


def _and(build: Callable[[dict[str, Any]], Any]) -> Mistake:
    """Return a mistake that adds a constraint on the variables, given by name."""
    return _stated(
        lambda stated: cp.Problem(stated.objective, [*stated.constraints, build(stated.var_dict)])
    )


def _of_objective(change: Callable[[Any], Any]) -> Mistake:
    return _stated(
        lambda stated: cp.Problem(
            type(stated.objective)(change(stated.objective.args[0])), stated.constraints
        )
    )


def _plus(build: Callable[[dict[str, Any]], Any]) -> Mistake:
    """Return a mistake that adds a term of the variables, given by name, to the objective."""
    return _stated(
        lambda stated: cp.Problem(
            type(stated.objective)(stated.objective.args[0] + build(stated.var_dict)),
            stated.constraints,
        )
    )


def _moved(by: float) -> Mistake:
    """Return a mistake that adds `by` to the smaller side of all inequalities."""
    return _of_constraints(
        lambda all: [
            c.args[0] + by <= c.args[1] if isinstance(c, cp.constraints.Inequality) else c
            for c in all
        ],
    )


MISTAKES: dict[str, Mistake] = {
    "twice the objective": _of_objective(lambda expression: 2 * expression),
    "a term left out": _of_objective(lambda expression: sum(expression.args[1:])),
    "the first constraint left out": _of_constraints(lambda constraints: constraints[1:]),
    "the last constraint left out": _of_constraints(lambda constraints: constraints[:-1]),
    "inequalities loosened": _moved(-0.5),
    "equations left out": _of_constraints(
        lambda all: [c for c in all if not isinstance(c, cp.constraints.Equality)]
    ),
}
"""Mistakes possible in any formulation, by their effect."""
CLASSES: dict[str, Mistake] = {
    "2 C": _elsewhere(lambda d: {"C": 2 * d["C"]}),
    "a label flipped": _elsewhere(
        lambda d: {"y": np.where(np.arange(len(d["y"])) == 0, 1 - np.asarray(d["y"]), d["y"])}
    ),
    "features 1/8 larger": _elsewhere(lambda d: {"X": 1.125 * np.asarray(d["X"])}),
}
"""Mistakes in the data of a classification."""
FUNCTION: dict[str, Mistake] = {
    **CLASSES,
    "1/2 dropped": _plus(lambda v: cp.sum_squares(v["w"]) / 2),
    "bias dropped": _and(lambda v: v["b"] == 0),
    "bias penalised": _plus(lambda v: cp.square(v["b"]) / 2),
}
"""Mistakes in a form with w and b."""
SLACKS: dict[str, Mistake] = {
    **FUNCTION,
    "margin 1.1": _of_constraints(lambda all: [all[0].args[0] + 0.1 <= all[0].args[1], *all[1:]]),
    "one slack for all": _and(lambda v: cp.diff(v["xi"]) == 0),
    "tau forgotten": _elsewhere(lambda d: {"tau": 1.0}),
    "the margins as W prints them": _elsewhere(lambda d: {"sigma": 1.0, "tau": max(d["tau"], 1.0)}),
}
COUPLED: dict[str, Mistake] = {
    "a pair left out": _of_objective(lambda squares: cp.sum_squares(squares.args[0][1:])),
    "absolute values": _of_objective(lambda squares: cp.norm1(squares.args[0])),
    "the largest square": _of_objective(lambda squares: cp.square(cp.norm_inf(squares.args[0]))),
    "1/2 of the squares": _of_objective(lambda squares: squares / 2),
    "a ridge": _plus(lambda v: cp.sum_squares(v["p"])),
    "probabilities whose sum is 2": _of_constraints(
        lambda all: [cp.sum(all[0].args[0]) == 2, *all[1:]]
    ),
    "all probabilities are equal": _and(lambda v: cp.diff(v["p"]) == 0),
}
LEVELS: dict[str, Mistake] = {
    "2 C": CLASSES["2 C"],
    "features 1/8 larger": CLASSES["features 1/8 larger"],
    "a point left out": _elsewhere(
        lambda d: {"weights": np.where(np.arange(len(d["y"])) == 0, 0.0, d.get("weights", 1.0))}
    ),
    "a point counted twice": _elsewhere(
        lambda d: {
            "weights": np.where(np.arange(len(d["y"])) == 0, 2.0, 1.0) * d.get("weights", 1.0)
        }
    ),
}
"""Mistakes in the data of an ordinal regression."""
CUTS: dict[str, Mistake] = {
    **LEVELS,
    "1/2 dropped": FUNCTION["1/2 dropped"],
    "thresholds penalised": _plus(lambda v: cp.sum_squares(v["b"]) / 2),
}
"""Mistakes in a form with w and thresholds."""
ROWS: dict[str, Mistake] = {
    **CUTS,
    "margin 1.1": SLACKS["margin 1.1"],
    "one slack for all": SLACKS["one slack for all"],
}
MULTIPLIERS: dict[str, Mistake] = {
    **LEVELS,
    "1/2 dropped": _of_objective(lambda gain: gain + gain.args[1]),
    "no balance": MISTAKES["equations left out"],
    "a ridge": _plus(lambda v: -cp.sum_squares(v["a"])),
    "a of 1/8 and less": _and(lambda v: v["a"] <= 0.125),
}
WIDTHS: dict[str, Mistake] = {
    "features 1/8 larger": CLASSES["features 1/8 larger"],
    "margin 0.1": _of_constraints(lambda all: [all[0].args[0] + 0.1 <= all[0].args[1], *all[1:]]),
    "the widths twice": _plus(lambda v: cp.sum(v["a"] - v["b"])),
    "the first width twice": _plus(lambda v: v["a"][0] - v["b"][0]),
    "intervals penalised": _plus(lambda v: cp.sum_squares(v["b"]) / 2),
    "intervals of no width": _and(lambda v: v["a"] == v["b"]),
}
"""Mistakes in a form with w and intervals."""
BALL: dict[str, Mistake] = {
    "features 1/8 larger": WIDTHS["features 1/8 larger"],
    "intervals penalised": WIDTHS["intervals penalised"],
    "intervals of no width": WIDTHS["intervals of no width"],
    "w penalised": FUNCTION["1/2 dropped"],
    "slacks penalised": _plus(lambda v: cp.sum_squares(v["xi"])),
    "one slack for all": SLACKS["one slack for all"],
}
"""Mistakes in the form with a ball, a cone program, that leave it bounded.

No ray of a cone program is proven.
"""
HULLS: dict[str, Mistake] = {
    "features 1/8 larger": CLASSES["features 1/8 larger"],
    "twice the distance": MISTAKES["twice the objective"],
    "no sums": MISTAKES["equations left out"],
    "hulls twice as large": _of_constraints(
        lambda all: [*(2 * c.args[0] == c.args[1] for c in all[:2]), *all[2:]]
    ),
    "alpha of 1/4 and less": _and(lambda v: v["alpha"] <= 0.25),
    "a ridge": _plus(lambda v: -cp.sum_squares(v["alpha"])),
}
"""Mistakes in a form with the multipliers of both ends."""


@pytest.fixture(autouse=True)
def entered() -> Iterator[None]:
    """Remove the registered mutants after each test."""
    yield
    for id in [id for id in REGISTRY if id.startswith(MUTANT)]:
        del REGISTRY[id]
    for name in [name for name in SOLVERS if name.startswith(MUTANT)]:
        del SOLVERS[name]
    FAMILIES.forget(MUTANT)


def _optimum(entry: Formulation, data: Any, stated: cp.Problem) -> float:
    """Return Clarabel's optimum, on the family's scale."""
    stated.solve(solver="CLARABEL")
    return float(entry.value(stated.value, data))


SHIPPED: dict[str, tuple[str, ...]] = {
    "lasso.primal": ("twice the objective", "a term left out"),
    "lasso.dual": (
        "twice the objective",
        "a term left out",
        "the first constraint left out",
        "inequalities loosened",
    ),
    "group_lasso.dual": ("twice the objective", "a term left out", "inequalities loosened"),
    "ls_svm.primal": ("a term left out",),
    "ls_svm.dual": ("twice the objective", "a term left out", "equations left out"),
    "crammer_singer.primal": ("the first constraint left out",),
    "crammer_singer.dual": (
        "twice the objective",
        "the last constraint left out",
        "inequalities loosened",
        "equations left out",
    ),
    "nu_svc.dual": ("a term left out", "inequalities loosened", "equations left out"),
    "nu_svr.dual": (
        "twice the objective",
        "a term left out",
        "inequalities loosened",
        "equations left out",
    ),
    "nu_svr.tube": ("twice the objective", "a term left out"),
    "one_class.primal": ("the first constraint left out",),
    "one_class.dual": (
        "twice the objective",
        "the last constraint left out",
        "inequalities loosened",
        "equations left out",
    ),
    "one_norm_svm.dual": (
        "the first constraint left out",
        "the last constraint left out",
        "inequalities loosened",
        "equations left out",
    ),
    "one_norm_svm_l2.primal": ("a term left out", "the first constraint left out"),
    "one_norm_svm_l2.dual": (
        "a term left out",
        "the first constraint left out",
        "the last constraint left out",
        "inequalities loosened",
    ),
    "quantile.dual": (
        "the first constraint left out",
        "the last constraint left out",
        "inequalities loosened",
        "equations left out",
    ),
}
"""The mistakes of each formulation that change its optimum."""
DOCUMENTS: dict[str, dict[str, Mistake]] = {
    "coupling.wlw.primal": COUPLED,
    "coupling.wlw.nonnegative": {
        **COUPLED,
        "probabilities of 1/5 and more": _and(lambda v: v["p"] >= 0.2),
    },
    "coupling.wlw.dual": {
        "1/2 for 1/4": _plus(lambda v: -cp.sum_squares(v["u"]) / 4),
        "1 for 1/4": _plus(lambda v: -0.75 * cp.sum_squares(v["u"])),
        "nu twice": _plus(lambda v: v["nu"]),
        "u >= 0": _and(lambda v: v["u"] >= 0),
        "nu for all classes together": _of_constraints(
            lambda all: [cp.sum(all[0].args[0]) == all[0].args[1][0]]
        ),
        "a class left out": _of_constraints(lambda all: [all[0].args[0][1:] == all[0].args[1][1:]]),
    },
    "svm.general.primal": SLACKS,
    "svm.general.sum": SLACKS,
    "svm.general.dual": {
        **CLASSES,
        "1/2 dropped": _of_objective(lambda gain: gain + gain.args[1]),
        "tau forgotten": SLACKS["tau forgotten"],
        "no balance": MISTAKES["equations left out"],
        "a of any sign": _of_constraints(lambda all: [all[0], *all[2:]]),
        "1'a = 0": _and(lambda v: cp.sum(v["a"]) == 0),
        "a ridge": _plus(lambda v: -cp.sum_squares(v["a"])),
        "a of 1/4 and less": _and(lambda v: v["a"] <= 0.25),
    },
    "ord.explicit.primal": ROWS,
    "ord.explicit.beta": CUTS,
    "ord.explicit.two_levels": {**LEVELS, **FUNCTION},
    "ord.explicit.dual": {
        **MULTIPLIERS,
        "mu of any sign": _of_constraints(
            lambda all: [c for c in all if "mu" not in str(c.args[1])]
        ),
    },
    "ord.sum.primal": WIDTHS,
    "ord.sum.beta": WIDTHS,
    "ord.sum.unit_ball": BALL,
    "ord.sum.dual": HULLS,
    "ord.sum.nearest": {
        **{
            name: HULLS[name]
            for name in ("features 1/8 larger", "twice the distance", "no sums", "a ridge")
        },
        "tau penalised": _plus(lambda v: -cp.sum_squares(v["tau"])),
        "eta penalised": _plus(lambda v: -cp.sum_squares(v["eta"])),
    },
    "ord.sum.two_levels": {
        "features 1/8 larger": CLASSES["features 1/8 larger"],
        "1/2 dropped": FUNCTION["1/2 dropped"],
        "bias dropped": FUNCTION["bias dropped"],
        "bias penalised": FUNCTION["bias penalised"],
        "rho twice": _plus(lambda v: -v["rho"]),
        "rho of 1/8 and less": _and(lambda v: v["rho"] <= 0.125),
    },
    "svm.general.soft": {
        **FUNCTION,
        "the hinge for its square": _elsewhere(lambda d: {"sigma": 3 - d["sigma"]}),
    },
}
"""The mistakes of each formulation of a family of the documents."""
TABLE = [(id, name, MISTAKES[name]) for id, names in SHIPPED.items() for name in names]
TABLE += [
    (id, name, mistake) for id, mistakes in DOCUMENTS.items() for name, mistake in mistakes.items()
]


def test_every_family_has_mistakes() -> None:
    shipped = {
        id
        for id, known in program_families().items()
        if known.module.startswith("equimargin.formulations.field")
    }
    assert {REGISTRY[id].family for id in SHIPPED} == shipped
    assert {
        id: len(mistakes) for id, mistakes in DOCUMENTS.items() if len(mistakes) < AT_LEAST
    } == {}
    of_documents = {REGISTRY[id].family for id in DOCUMENTS}
    assert {
        id for id, entry in REGISTRY.items() if entry.family in of_documents and not entry.control
    } == set(DOCUMENTS)


@pytest.mark.mutants
@pytest.mark.parametrize(
    ("id", "mistake"),
    [(id, mistake) for id, _, mistake in TABLE],
    ids=[f"{id}: {name}" for id, name, _ in TABLE],
)
def test_a_wrong_formulation_of_a_family_is_not_believed(id: str, mistake: Mistake) -> None:
    """It disagrees with its family; if it is the definition, the others disagree with it."""
    wrong = as_a(Formulation, REGISTRY[id])
    of = FAMILIES[wrong.family]
    honest = [
        as_a(Formulation, entry)
        for entry in REGISTRY.values()
        if entry.family == wrong.family and not entry.control
    ]
    instance = next(
        data for data in (drawn(of, seed) for seed in SEEDS) if _differs(wrong, data, mistake)
    )
    mutant = Family(MUTANT, Source("none", ""))
    for entry in honest:
        stated = partial(mistake, entry) if entry.id == id else entry.stated
        applies = None if entry is honest[0] else lambda data, entry=entry: entry.refusal(of(data))
        mutant.formulation(entry.name, value=entry.value, applies=applies)(stated)
    found = compare(mutant(instance), solvers=["CLARABEL"])
    assert found.families[0].verdict is not Verdict.AGREE, str(found)
    assert found.exit_code == 1
    judged = {j.evidence.run.formulation: j.agreement for j in found.families[0].judgements}
    if honest[0].id != id:
        assert judged.pop(f"{MUTANT}.{wrong.name}") is Agreement.DISAGREES
        assert set(judged.values()) <= {Agreement.AGREES, Agreement.INACCURATE, Agreement.SKIPPED}
    else:
        assert Agreement.DISAGREES in judged.values()


def _differs(entry: Formulation, data: Any, mistake: Mistake) -> bool:
    """Return True if a mistake changes the optimum at these data.

    Both optima are finite, or only the right one.
    """
    if entry.refusal(FAMILIES[entry.family](data)) is not None:
        return False
    right, wrong = (
        _optimum(entry, data, entry.stated(data)),
        _optimum(entry, data, mistake(entry, data)),
    )
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
    right = as_a(Formulation, REGISTRY["lasso.primal"])
    stated = right.stated(data)
    stated.solve(solver="CLARABEL")
    point = {variable.name(): variable.value for variable in stated.variables()}
    mutant = Family(MUTANT, Source("none", ""))
    mutant.formulation("primal", value=right.value)(right.stated)
    dual = as_a(Formulation, REGISTRY["lasso.dual"])
    mutant.formulation("dual", value=dual.value)(dual.stated)
    solver(f"{mutant.id}.right", mutant, accuracy=1e-6)(lambda data: point)
    solver(f"{mutant.id}.wrong", mutant, accuracy=1e-6)(
        lambda data: LIES[lie](float(right.value(stated.value, data)), point)
    )
    found = compare(mutant(data), solvers=["CLARABEL", f"{MUTANT}.*"])
    judged = {j.evidence.run.solver: j.agreement for j in found.families[0].judgements}
    assert judged["CLARABEL"] is judged[f"{MUTANT}.right"] is Agreement.AGREES
    assert judged[f"{MUTANT}.wrong"] in (Agreement.DISAGREES, Agreement.FAILED), str(found)


PROGRAM = program_from_arrays(
    [[2.0, 1.0], [1.0, 2.0]],
    [-1.0, 1.0],
    A=[[1.0, 1.0]],
    b=[1.0],
    G=[[-1.0, 0.0], [0.0, -1.0]],
    h=[0.0, 0.0],
)
"""min x1^2 + x1 x2 + x2^2 - x1 + x2 over x1 + x2 = 1, x >= 0; its optimum is 0."""
LITTLE = Fraction(1, 10**9)
FALSE: dict[str, Callable[[Optimum], Optimum]] = {
    "a lower value": lambda found: replace(found, value=found.value - LITTLE),
    "a higher value": lambda found: replace(found, value=found.value + LITTLE),
    "a point that is not feasible": lambda found: replace(
        found, x=(found.x[0] + LITTLE, *found.x[1:])
    ),
    "a feasible point that is not optimal": lambda found: replace(
        found, x=(found.x[0] - LITTLE, found.x[1] + LITTLE)
    ),
    "a multiplier of the wrong sign": lambda found: replace(found, z=(found.z[0], -1 - found.z[1])),
    "a multiplier that is off": lambda found: replace(found, y=(found.y[0] + LITTLE,)),
}
"""Answers other than the optimum of the program and its proof."""


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
    [
        ("q", "gradient_vanishes"),
        ("b", "equations_are_met"),
        ("h", "slack_is_in_the_cone"),
        ("c", "upper_bound_is_proved"),
    ],
)
def test_an_optimum_of_another_program_is_not_certified(part: str, condition: str) -> None:
    """The points of one program are not those of one with another number.

    Or they prove another interval than is claimed.
    """
    changed: dict[str, Any] = {
        part: PROGRAM.c + 1 if part == "c" else tuple(v - 1 for v in getattr(PROGRAM, part))
    }
    other: Program = replace(PROGRAM, **changed)
    with pytest.raises(ValueError, match=condition):
        program_certificate(other, as_a(Optimum, program_optimum(PROGRAM)))
    with pytest.raises(ValueError, match="another program"):
        program_certificate(other, enclosure(PROGRAM))
