"""Random instances of the families without canonical points.

    python -m campaigns nightly_families --seed 1 --examples 1000

All formulations of a family must have one optimum, each negative control must be
refuted by some instance, and solvers must attain the optimum. Instances are drawn from
the families' strategies. Exit status 1 otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from campaigns.runner import Campaign, Check, Trial, once
from campaigns.shrunk import BY_COMPARING
from equimargin.formulations import REGISTRY
from equimargin.formulations.declarations.family import FAMILIES, program_families
from equimargin.formulations.declarations.formulation import Formulation
from equimargin.formulations.declarations.program_problem import ProgramProblem
from equimargin.formulations.problem import AnyProblem
from equimargin.own.instances import (
    check_own_formulation,
    check_own_solver,
    refutation,
    value_complaint,
)
from equimargin.solvers import SOLVERS
from narrow import as_a

WRONG = "it does not conform"
LIMIT_SECONDS = 3600.0
"""CPU time limit of a check, in seconds."""


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every formulation and solver of these families."""
    families = [
        id
        for id, family in program_families().items()
        if family.module.startswith("equimargin.formulations.")
    ]
    for id, entry in REGISTRY.items():
        if entry.family in families and isinstance(entry, Formulation):
            yield check(id, partial(check_own_formulation, entry, examples), examples)
    for name, solver in SOLVERS.items():
        if solver.families[0] in families:
            yield check(name, partial(check_own_solver, solver, examples), examples)


def check(id: str, conforms: Callable[[int], object], examples: int) -> Check:
    """Return the check of a formulation or solver; `conforms` raises AssertionError."""

    def examine(example: int | ProgramProblem, at: object) -> Trial:
        if isinstance(example, ProgramProblem):
            return Trial(
                [f"{WRONG}: another optimum"]
                if value_complaint(as_a(Formulation, REGISTRY[id]), example)
                else []
            )
        try:
            refuted = conforms(example)
        except AssertionError as wrong:
            return Trial([f"{WRONG}: {wrong}"])
        return Trial(counts=Counter([f"refuted: {refuted}" if refuted else "conforms"]))

    def problem(seed: int) -> AnyProblem | None:
        """Return the instance that refutes a formulation; None for a control or solver.

        It is None, too, if the optimum is right and a map is wrong.
        """
        found = (
            refutation(id, examples, seed) if id in REGISTRY and not REGISTRY[id].control else None
        )
        return None if found is None else FAMILIES[REGISTRY[id].family](found.data)

    return Check(id, examine, lambda at: at.seed, once, LIMIT_SECONDS, problem, shown=BY_COMPARING)


CAMPAIGN = Campaign(__name__, __doc__, checks, 200)
