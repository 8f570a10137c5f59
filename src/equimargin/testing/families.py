"""The canonical families: their tasks, and those with one trait."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from equimargin.formulations import (
    classification,
    one_norm_classification,
    one_norm_ranking,
    ordinal,
    ranking,
    ranking_vector_machine,
    regression,
)
from equimargin.formulations.declarations.family import FAMILIES

TASK_OF: Mapping[object, str] = {
    classification: "classification",
    one_norm_classification: "classification",
    regression: "regression",
    ranking: "ranking",
    one_norm_ranking: "ranking",
    ranking_vector_machine: "ranking",
    ordinal: "ordinal",
}
"""The tasks of the constructors of canonical problems."""
CANONICAL = tuple(id for id, family in FAMILIES.items() if family.constructor in TASK_OF)
"""The families of `margin_problems`, by their ids."""
ONE_NORM = tuple(
    id
    for id in CANONICAL
    if FAMILIES[id].constructor
    in (one_norm_classification, one_norm_ranking, ranking_vector_machine)
)
"""The families of linear programs among them."""
HARD = tuple(id for id in CANONICAL if FAMILIES[id].settings.get("C") == np.inf)
"""The families without slacks among them."""


def get_task(family: str) -> str:
    """Return the task of a canonical family: "classification", "regression", "ranking" or "ordinal".

    Raises
    ------
    ValueError
        An unknown family.
    """
    if family not in CANONICAL:
        raise ValueError(f"unknown family {family!r}; known: {', '.join(CANONICAL)}")
    return TASK_OF[FAMILIES[family].constructor]
