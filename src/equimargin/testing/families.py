"""Canonical families: their tasks, and subsets with a common property."""

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
"""Tasks of the constructors of canonical problems."""
CANONICAL = tuple(id for id, family in FAMILIES.items() if family.constructor in TASK_OF)
"""Ids of the families of `margin_problems`."""
ONE_NORM = tuple(
    id
    for id in CANONICAL
    if FAMILIES[id].constructor
    in (one_norm_classification, one_norm_ranking, ranking_vector_machine)
)
"""Ids of the canonical families that are linear programs."""
HARD = tuple(id for id in CANONICAL if FAMILIES[id].settings.get("C") == np.inf)
"""Ids of the canonical families without slacks."""


def get_task(family: str) -> str:
    """Return the learning task of a canonical family.

    Parameters
    ----------
    family : str
        Id of the family.

    Returns
    -------
    str
        "classification", "regression", "ranking" or "ordinal".

    Raises
    ------
    ValueError
        If the family is unknown.
    """
    if family not in CANONICAL:
        raise ValueError(f"unknown family {family!r}; known: {', '.join(CANONICAL)}")
    return TASK_OF[FAMILIES[family].constructor]
