"""Names of the tasks, the losses and the kinds of bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

TASKS = ("classification", "regression", "ranking")
"""Names of the tasks."""
LossName = Literal["hinge", "squared_hinge", "huberised_hinge"]
LOSSES: tuple[LossName, ...] = ("hinge", "squared_hinge")
"""Names of the losses that every task accepts."""
CLASSIFICATION_LOSSES: tuple[LossName, ...] = (*LOSSES, "huberised_hinge")
"""Names of the losses that a classification accepts."""
Bias = bool | Literal["free", "none", "penalized"]
BIASES: Mapping[str, bool] = {"free": True, "none": False}
"""Names for True, a free bias, and False, no bias."""
