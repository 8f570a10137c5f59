"""What is the project's own among formulations and solvers, whichever families a test or a plug-in has entered beside it."""

from __future__ import annotations

from equimargin.formulations import REGISTRY, ProgramProblem
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.solvers import SOLVERS

PRINTED = {
    id: entry
    for id, entry in REGISTRY.items()
    if entry.module.startswith("equimargin.formulations.") and FAMILIES[entry.family].is_canonical
}
"""The formulations of families with canonical points, and the controls beside them, by their ids."""
OWN_SOLVERS = [
    name
    for name, entry in SOLVERS.items()
    if entry.module.startswith("equimargin.solvers.")
    and not issubclass(entry.requires.shape, ProgramProblem)
]
"""The names of the project's solvers of problems with canonical points."""


def own_families() -> list[str]:
    """The families of the project, those of the field among them."""
    return list(
        dict.fromkeys(
            entry.family
            for entry in REGISTRY.values()
            if entry.module.startswith("equimargin.formulations.")
        )
    )
