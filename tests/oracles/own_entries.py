"""What is the project's own among formulations and solvers, whichever families a test or a plug-in has entered beside it."""

from __future__ import annotations

from equimargin.formulations import REGISTRY
from equimargin.solvers import SOLVERS

PRINTED = {id: entry for id, entry in REGISTRY.items() if entry.module.startswith("equimargin.formulations.")}
"""The formulations of the documents, and the controls beside them, by their ids."""
OWN_SOLVERS = [name for name in SOLVERS if SOLVERS[name].module.startswith("equimargin.solvers.")]
"""The names of the solvers that come with the project."""


def own_families() -> list[str]:
    """The families of the project, those that come along among them; to be asked once these are loaded."""
    return list(dict.fromkeys(entry.family for entry in REGISTRY.values() if entry.module.startswith("equimargin.")))
