"""The tasks, the losses and the kinds of bias that a problem may be asked for by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

TASKS = ("classification", "regression", "ranking")
"""The names of the tasks."""
LossName = Literal["hinge", "squared_hinge", "huberised_hinge"]
LOSSES: tuple[LossName, ...] = ("hinge", "squared_hinge")
"""The names of the losses that every task has."""
CLASSIFICATION_LOSSES: tuple[LossName, ...] = (*LOSSES, "huberised_hinge")
"""The names of the losses of a classification."""
Bias = bool | Literal["free", "none", "penalized"]
BIASES: Mapping[str, bool] = {"free": True, "none": False}
"""The words for a bias that is free and for none, in addition to True and False."""
