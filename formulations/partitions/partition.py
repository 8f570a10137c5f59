"""One partition of the points, immutable. What it answers is a function of its rows and of what it is asked with, and of nothing else.

What it keeps between two questions, decision values and their order, only saves time.
It is left behind where a partition is copied or sent, and computed again where it is
missing. A partition that is lost can therefore be read again in the middle of a run.
The memory in which it computes is kept, too, and serves one question after the other:
in pages that are new to a process a look takes a tenth longer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from equimargin.formulations.numeric.arguments import check_reals
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.workspace import Workspace
from equimargin.formulations.partitions.order_free import products_by_row
from equimargin.formulations.partitions.smooth_loss import SmoothLoss
from equimargin.formulations.partitions.whole import GlobalStats, PartitionStats

Kept = TypeVar("Kept")

LARGEST_NUMBER = 1e100
"""The largest size of a feature: products of larger ones and their sums could overflow."""


class Partition(ABC):
    """Points with labels or relevances.

    Parameters
    ----------
    number : int
        Of the partition, from 0, which its errors name.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    bias : bool
        Whether f has a free constant.

    top : array of shape (q,)
        The largest size of every column, 1 for the constant.

    Raises
    ------
    ValueError
        Another shape, what is no finite number.
    """

    def __init__(self, number: int, X: Any, y: Any, bias: bool) -> None:
        self.number, self.bias = number, bias
        try:
            features, labels = check_reals(X, "X"), check_reals(y, "y")
            _check(features, labels)
            self.X, self.y = np.require(features, requirements=("C", "W")), labels
            self.top = np.append(_largest(self.X), np.ones(int(bias)))
            self._read()
        except ValueError as wrong:
            raise ValueError(f"partition {number}: {wrong}") from None
        self._forget()

    @abstractmethod
    def _read(self) -> None:
        """Check and prepare what is particular to the kind of rows."""

    @abstractmethod
    def facts(self) -> PartitionStats:
        """What the partition says of itself."""

    @abstractmethod
    def look(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        """sum a_r and sum loss(u_r), (2, 2), and sum a_r z_r, (2, q), at v (q,) with a_r = phi'(u_r): the two sums of each."""

    @abstractmethod
    def hessian(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        """sum z_r z_r' over the rows on the curved piece of phi, (2, q, q), z in integers: the two sums of each entry."""

    def answer(self, question: str, *arguments: Any) -> Any:
        """What the method of that name returns; one question at a time, whichever thread asks."""
        with self._asked:
            return getattr(self, question)(*arguments)

    def _forget(self) -> None:
        """Begin with nothing kept: all that is here only saves time."""
        self._kept: dict[str, tuple[bytes, Any]] = {}
        self.memory = Workspace()
        self._asked = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_kept", "memory", "_asked")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __sizeof__(self) -> int:
        return int(self.X.nbytes + self.y.nbytes)

    def values(self, v: Array) -> Array:
        """f(x) + b, (n,)."""
        return self.kept(
            "values",
            v.tobytes(),
            lambda: products_by_row(self.X, v, self.memory.array("values", self.y.shape)),
        )

    def kept(self, name: str, key: bytes, make: Callable[[], Kept]) -> Kept:
        """The last value of that name if it is that of the key; otherwise it is made, perhaps in the memory of the last."""
        found = self._kept.pop(name, None)
        if found is None or found[0] != key:
            found = key, make()
        self._kept[name] = found
        value: Kept = found[1]
        return value


def _check(X: Array, y: Array) -> None:
    """Points and labels that fit, and labels that are finite.

    Raises
    ------
    ValueError
        others.
    """
    if X.ndim != 2 or X.shape[1] == 0:
        raise ValueError(f"X must have rows and columns; its shape is {X.shape}")
    if y.shape != (len(X),):
        raise ValueError(
            f"y must have one number for each of the {len(X)} rows; its shape is {y.shape}"
        )
    if not np.isfinite(y).all():
        i = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(f"y holds {y[i]} at row {i}")


def _largest(X: Array) -> Array:
    """(d,) the largest size of every column.

    Raises
    ------
    ValueError
        A NaN, or a number that is too large.
    """
    found = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    if not (found <= LARGEST_NUMBER).all():  # a NaN among a column's numbers is its maximum
        i, j = np.argwhere(~(np.abs(X) <= LARGEST_NUMBER))[0]
        raise ValueError(
            f"X holds {X[i, j]} at row {i}, column {j}; it must hold numbers of at most "
            f"{LARGEST_NUMBER:.0e} in size"
        )
    return np.asarray(found)
