"""Interface for sums over all partitions, and its in-process implementation.

A request is the name of a method of `Partition` and its arguments. The sums are exact
in any order (`order_free.py`), so that they may be added in the order of arrival.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.partitions.partition import Partition


class Lost(RuntimeError):
    """Error for partitions, or their processes, that are gone for good."""


class PartitionSums(Protocol):
    """All partitions of a problem."""

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """Return the result of every partition, in their order.

        Parameters
        ----------
        method : str
            Name of a method of `Partition`.
        *arguments : Any
            Its arguments.
        """

    def total(self, method: str, *arguments: Any) -> list[Array]:
        """Return the sums over all partitions of the arrays in their results.

        Parameters
        ----------
        method : str
            Name of a method of `Partition`.
        *arguments : Any
            Its arguments.
        """


class LocalExecutor:
    """Partitions in this process.

    Parameters
    ----------
    partitions : Sequence[Partition]
        Partitions.
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self.partitions = list(partitions)

    def each(self, method: str, *arguments: Any) -> list[Any]:
        return [partition.answer(method, *arguments) for partition in self.partitions]

    def total(self, method: str, *arguments: Any) -> list[Array]:
        return added(*self.each(method, *arguments))


def added(*answers: Sequence[Array]) -> list[Array]:
    """Return the sums of the arrays of several results.

    Parameters
    ----------
    *answers : Sequence[Array]
        Results, each with the same number of arrays.
    """
    return [np.sum(arrays, axis=0) for arrays in zip(*answers, strict=True)]
