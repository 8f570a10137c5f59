"""Formulations and solvers of the project, without those of tests or plug-ins."""

from __future__ import annotations

from equimargin.formulations import REGISTRY, ProgramProblem
from equimargin.formulations.declarations.family import FAMILIES
from equimargin.solvers import SOLVERS

PRINTED = {
    id: entry
    for id, entry in REGISTRY.items()
    if entry.module.startswith("equimargin.formulations.") and FAMILIES[entry.family].is_canonical
}
"""Formulations, by id, of families with canonical points, negative controls included."""
OWN_SOLVERS = [
    name
    for name, entry in SOLVERS.items()
    if entry.module.startswith("equimargin.solvers.")
    and not issubclass(entry.requires.shape, ProgramProblem)
]
"""Names of the project's solvers of problems with canonical points."""


def own_families() -> list[str]:
    """Return the ids of the project's families."""
    return list(
        dict.fromkeys(
            entry.family
            for entry in REGISTRY.values()
            if entry.module.startswith("equimargin.formulations.")
        )
    )
