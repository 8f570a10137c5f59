"""Immutable partition of the points, which computes the sums over its rows.

The result of a method depends on the rows and the arguments only. Decision values and
their order are cached between calls to save time. The cache is dropped when a partition
is copied or sent to another process, and is computed again. A partition that is lost
in the middle of a run can therefore be replaced by a new one with the same rows. The
memory of the computations is reused, too: in newly allocated memory `look` takes a
tenth longer.
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
"""Maximum |x_ij|: products of larger features and their sums could overflow."""


class Partition(ABC):
    """Partition of points with labels or relevance grades.

    Parameters
    ----------
    number : int
        Number of the partition, from 0, for error messages.
    X : array-like of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Labels or relevance grades.
    bias : bool
        True if f has a free constant.

    Raises
    ------
    ValueError
        If a shape is wrong, or an entry is no finite number.

    Attributes
    ----------
    top : ndarray of shape (q,)
        Maximum |x_ij| of every column, 1 for the constant.
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
        """Check and prepare the data of a specific type of rows."""

    @abstractmethod
    def facts(self) -> PartitionStats:
        """Return the statistics of the partition."""

    @abstractmethod
    def look(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        """Return the sums of a_r = phi'(u_r), of loss(u_r), and of a_r z_r at v.

        Parameters
        ----------
        whole : GlobalStats
            Statistics of all partitions.
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        loss : SmoothLoss
            Smooth loss phi.

        Returns
        -------
        list of ndarray
            Arrays (2, 2) and (2, q): coarse and fine sums.
        """

    @abstractmethod
    def hessian(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        """Return the sum of z_r z_r', rounded to integers, over rows where phi is curved.

        Parameters
        ----------
        whole : GlobalStats
            Statistics of all partitions.
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        loss : SmoothLoss
            Smooth loss phi.

        Returns
        -------
        list of ndarray
            Array (2, q, q): multiples of 2^30 and rests, which sum to each entry.
        """

    def answer(self, question: str, *arguments: Any) -> Any:
        """Call a method by name; calls from several threads run one after another.

        Parameters
        ----------
        question : str
            Name of the method.
        *arguments : object
            Arguments of the method.
        """
        with self._asked:
            return getattr(self, question)(*arguments)

    def _forget(self) -> None:
        """Make an empty cache, and an unlocked lock."""
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
        """Return the decision values f(x) + b.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.

        Returns
        -------
        ndarray of shape (n,)
            Decision values.
        """
        return self.kept(
            "values",
            v.tobytes(),
            lambda: products_by_row(self.X, v, self.memory.array("values", self.y.shape)),
        )

    def kept(self, name: str, key: bytes, make: Callable[[], Kept]) -> Kept:
        """Return the cached value if its key matches; otherwise compute and cache it.

        A new value may be computed in the memory of the one that it replaces.

        Parameters
        ----------
        name : str
            Name of the value.
        key : bytes
            Key of the value.
        make : callable
            Function that computes the value.
        """
        entry = self._kept.pop(name, None)
        if entry is None or entry[0] != key:
            entry = key, make()
        self._kept[name] = entry
        value: Kept = entry[1]
        return value


def _check(X: Array, y: Array) -> None:
    """Check that X has rows and columns, and y a finite label for each row.

    Raises
    ------
    ValueError
        If they have not.
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
    """Return the maximum |x_ij| of every column, (d,).

    Raises
    ------
    ValueError
        If a number is NaN or too large.
    """
    sizes = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    # `not <=` rather than `>`: the maximum of a column with a NaN is NaN.
    if not (sizes <= LARGEST_NUMBER).all():
        i, j = np.argwhere(~(np.abs(X) <= LARGEST_NUMBER))[0]
        raise ValueError(
            f"X holds {X[i, j]} at row {i}, column {j}; it must hold numbers of at most "
            f"{LARGEST_NUMBER:.0e} in size"
        )
    return np.asarray(sizes)
