"""New instances of the families that are known by their data alone.

    python -m campaigns nightly_families --seed 1 --examples 1000

Forms have one optimum, mistakes are refuted, and solvers attain the optimum. Instances
are drawn from the families' own strategies. Exit status 1 if a form, a control or a
solver does not conform.
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
"""CPU time limit of a check."""


def checks(examples: int) -> Iterator[Check]:
    """Yield the check of every form and of every solver of the families of the project."""
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
    """Return the check of a form or of a solver by a function that raises an AssertionError."""

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
        """Return the instance that refutes a formulation, None for controls and wrong maps."""
        found = (
            refutation(id, examples, seed) if id in REGISTRY and not REGISTRY[id].control else None
        )
        return None if found is None else FAMILIES[REGISTRY[id].family](found.data)

    return Check(id, examine, lambda at: at.seed, once, LIMIT_SECONDS, problem, shown=BY_COMPARING)


CAMPAIGN = Campaign(__name__, __doc__, checks, 200)
