"""The Lagrangian dual of a declared primal on a small instance, derived by machine, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from equimargin.atlas.spelling import spelled
from equimargin.formulations import (
    REGISTRY,
    Problem,
    classification,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    ranking,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.family import FAMILIES
from equimargin.proofs.equivalence.duals import DUAL_OF, MARGIN, dual_reason, stated_form
from equimargin.proofs.equivalence.moves import LagrangianDual

POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
"""Three points of two features."""
DATA: Mapping[object, dict[str, Any]] = {
    classification: {"y": [-1.0, -1.0, 1.0]},
    one_norm_classification: {"y": [-1.0, -1.0, 1.0]},
    regression: {"y": [0.0, 1.0, 3.0], "epsilon": 0.5},
    ranking: {"y": [0.0, 0.0, 1.0]},
    one_norm_ranking: {"y": [0.0, 0.0, 1.0]},
    ranking_vector_machine: {"y": [0.0, 0.0, 1.0]},
    ordinal: {"y": [0, 1, 2]},
}
"""What else the constructors of problems are given: classes, targets or relevances."""


class Step(NamedTuple):
    """A rule and what it leaves.

    rule : what was done, in a sentence.  times : how often in a row.  program : the equations afterwards, in LaTeX.
    """

    rule: str
    times: int
    program: list[str]


class Derivation(NamedTuple):
    """The dual of an instance.

    primal, dual : ids.  form : the primal's canonical form, with the names of the multipliers of its rows.  lagrangian : its dual.
    at_margin_one : whether the form is that of a maximal margin, scaled to the margin 1.
    steps : the rules that reduce that dual to the multipliers alone.  agrees : whether what is left is the declared dual, number by number.
    """

    primal: str
    dual: str
    form: list[str]
    at_margin_one: bool
    lagrangian: list[str]
    steps: list[Step]
    agrees: bool


def instance(family: str) -> Problem:
    """A problem of a family that has a declared dual, small enough to be written out."""
    posed = FAMILIES[family]
    problem: Problem = posed({"X": POINTS} | DATA[posed.constructor])
    return problem


def derivation(primal: str) -> Derivation:
    """The derivation of the dual of a primal.

    Parameters
    ----------
    primal : a key of `DUAL_OF`.
    """
    problem = instance(REGISTRY[primal].family)
    form, reason = stated_form(primal, problem), dual_reason(primal, DUAL_OF[primal], problem)
    lagrangian = after = LagrangianDual().apply(form)
    steps = []
    for kind, run in groupby(() if reason is None else reason.first[1:], key=type):
        taken = list(run)
        for step in taken:
            after = step.apply(after)
        steps.append(Step((kind.__doc__ or "").partition("\n")[0], len(taken), spelled(after)))
    at_margin_one = primal.endswith(MARGIN)
    return Derivation(primal, DUAL_OF[primal], spelled(form, True), at_margin_one, spelled(lagrangian), steps, reason is not None)
