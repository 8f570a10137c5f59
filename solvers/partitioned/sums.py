"""Who asks all partitions, and adds up what they answer: an interface, and its form in this process.

A question is the name of a method of `Partition` and its arguments. The sums are exact
in any order (`order_free.py`), so that whoever adds them may do so as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.partitions.partition import Partition


class Lost(RuntimeError):
    """The partitions, or those who hold them, are gone and will not come back."""


class PartitionSums(Protocol):
    """All partitions of a problem."""

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """The answer of every partition, in their order."""

    def total(self, method: str, *arguments: Any) -> list[Array]:
        """The sums over all partitions of the arrays that each answers."""


class LocalExecutor:
    """Partitions in this process."""

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self.partitions = list(partitions)

    def each(self, method: str, *arguments: Any) -> list[Any]:
        return [partition.answer(method, *arguments) for partition in self.partitions]

    def total(self, method: str, *arguments: Any) -> list[Array]:
        return added(*self.each(method, *arguments))


def added(*answers: Sequence[Array]) -> list[Array]:
    """The sums of the arrays of several answers."""
    return [np.sum(arrays, axis=0) for arrays in zip(*answers, strict=True)]
