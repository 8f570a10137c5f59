"""Duals derived by machine on small instances, step by step; and signs of multipliers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from equimargin.atlas.markdown import equations, folded, formulation
from equimargin.atlas.spelling import spelled
from equimargin.formulations import (
    REGISTRY,
    Formulation,
    Problem,
    classification,
    declare,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    ranking,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.proofs.equivalence.duals import DUAL_OF, MARGIN, dual_reason, stated_form
from equimargin.proofs.equivalence.steps.moves import LagrangianDual

POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
"""Three points with two features."""
DATA: Mapping[object, dict[str, Any]] = {
    classification: {"y": [-1.0, -1.0, 1.0]},
    one_norm_classification: {"y": [-1.0, -1.0, 1.0]},
    regression: {"y": [0.0, 1.0, 3.0], "epsilon": 0.5},
    ranking: {"y": [0.0, 0.0, 1.0]},
    one_norm_ranking: {"y": [0.0, 0.0, 1.0]},
    ranking_vector_machine: {"y": [0.0, 0.0, 1.0]},
    ordinal: {"y": [0, 1, 2]},
}
"""Further arguments of the problem constructors: classes, targets or relevances."""

SIGNS = {
    "Equality": "an equation: of either sign",
    "Zero": "an equation: of either sign",
    "Inequality": "an inequality: at least 0",
    "NonPos": "an inequality: at least 0",
    "NonNeg": "an inequality: at least 0",
    "SOC": "a cone: within the dual cone",
}
"""Sign of the multiplier of a constraint, by the name of cvxpy's class."""


def instance(family: str) -> Problem:
    """Return a problem of a family with a declared dual, small enough to be written out.

    Parameters
    ----------
    family : str
        Id of the family.

    Returns
    -------
    Problem
        Problem with three points.
    """
    posed = FAMILIES[family]
    problem: Problem = posed({"X": POINTS} | DATA[posed.constructor])
    return problem


def dual_text(id: str) -> Iterator[str]:
    """Yield the lines on the dual of a primal, or on the primal of a dual.

    Parameters
    ----------
    id : str
        Id of a formulation.

    Yields
    ------
    str
        Line of Markdown.
    """
    for primal in (primal for primal, dual in DUAL_OF.items() if dual == id):
        yield from (f"It is the dual of {formulation(primal)}, where the steps are.", "")
    if id in DUAL_OF:
        yield from folded("Its dual by machine, step by step", list(_steps(id)))


def multipliers(entry: Formulation) -> list[tuple[str, str]]:
    """Return the constraints of a formulation, each with the sign of its multiplier.

    Parameters
    ----------
    entry : Formulation
        Formulation in the registry.

    Returns
    -------
    list of tuple of (str, str)
        Pairs of constraint and sign.
    """
    if entry.family in program_families():
        return []
    problem = instance(entry.family)
    if entry.refusal(problem) is not None:
        return []
    declared = declare(entry.id, problem).constraints
    return [
        (name, SIGNS.get(type(constraint).__name__, "a constraint of cvxpy"))
        for name, constraint in declared.items()
    ]


def _steps(primal: str) -> Iterator[str]:
    problem = instance(REGISTRY[primal].family)
    form, reason = stated_form(primal, problem), dual_reason(primal, DUAL_OF[primal], problem)
    lagrangian = after = LagrangianDual().apply(form)
    scaled = ", scaled to the margin 1," if primal.endswith(MARGIN) else ","
    yield (
        f"The instance has three points of two features, or two pairs of them. cvxpy's "
        f"form{scaled} with the multiplier before every row:"
    )
    yield from (
        "",
        *equations(spelled(form, labels=True)),
        "Its Lagrangian dual, written as a minimisation of minus its objective:",
        "",
    )
    yield from equations(spelled(lagrangian))
    for k, (move, run) in enumerate(
        groupby(() if reason is None else reason.first[1:], key=type), 1
    ):
        steps = list(run)
        for step in steps:
            after = step.apply(after)
        rule, times = (
            (move.__doc__ or "").partition("\n")[0],
            f" ({len(steps)} times)" if len(steps) > 1 else "",
        )
        yield from (f"Step {k}: {rule}{times}", "", *equations(spelled(after)))
    same = (
        "this is **not** it"
        if reason is None
        else "this is it, number by number, once variables are renamed"
    )
    yield from (f"The declared dual is {formulation(DUAL_OF[primal])}: {same}.", "")
