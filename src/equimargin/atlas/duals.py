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
    declare,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    ranking,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.family import FAMILIES
from equimargin.proofs.dualize import DUAL_OF, canonical, lagrangian_dual, reductions, same_dual

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
    steps : the rules that reduce that dual to the multipliers alone.  agrees : whether what is left is the declared dual, number by number.
    """

    primal: str
    dual: str
    form: list[str]
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
    form = canonical(declare(primal, problem))
    lagrangian = lagrangian_dual(form)
    steps = []
    for rule, run in groupby(reductions(lagrangian), key=lambda step: step[0]):
        programs = [program for _, program in run]
        steps.append(Step(rule, len(programs), spelled(programs[-1])))
    agrees = same_dual(primal, DUAL_OF[primal], problem)
    return Derivation(primal, DUAL_OF[primal], spelled(form, labels=True), spelled(lagrangian), steps, agrees)
