"""Statistics of all partitions, from which the grids of their sums are computed.

They are maxima and exact sums over all partitions. The problem is

    min over v = (w, b)   1/2 |w|^2 + C sum_r loss(u_r)
    u_r = 1 - y_i (w.x_i + b)   or   u_ij = 1 - w.x_i + w.x_j
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.rounding import UNIT, gamma_n
from equimargin.formulations.partitions.order_free import SummationGrid, grid
from equimargin.formulations.partitions.smooth_loss import SmoothLoss

OUTWARD = 1 + 1e-10
"""Factor on a bound that covers the rounding in the computation of the bound."""
THRESHOLD_ROOM = 8.0
"""Maximum threshold of the margin of a pair.

The unit of decision values is so large that sums of such integers do not overflow.
"""


class PartitionStats(NamedTuple):
    """Statistics of one partition.

    Parameters
    ----------
    points, rows : int
        Number of points and of rows.
    largest : int
        Number of points of its largest query, 1 for a classification.
    top : ndarray of shape (q,)
        Maximum |z_ij| of every column.
    queries : ndarray of shape (k,)
        Identifiers of its queries; empty for a classification.
    """

    points: int
    rows: int
    largest: int
    top: Array
    queries: NDArray[Any]


@dataclass(frozen=True, eq=False)
class GlobalStats:
    """Statistics of all partitions, with the settings of the problem.

    Parameters
    ----------
    points, rows : int
        Number of points and of rows.
    largest : int
        Number of points of the largest query, 1 for a classification.
    top : ndarray of shape (q,)
        Maximum |z_ij| of every column.
    C : float
        Cost per row.
    loss : {"hinge", "squared_hinge"}
        Loss of the problem.
    bias : bool
        True if the last column is the constant of a free bias.
    ranks : bool
        True if the rows are the pairs of queries.
    """

    points: int
    rows: int
    largest: int
    top: Array
    C: float
    loss: Literal["hinge", "squared_hinge"]
    bias: bool
    ranks: bool

    @property
    def columns(self) -> int:
        """Number of weights, without the bias."""
        return len(self.top) - self.bias

    @cached_property
    def at_0(self) -> float:
        """P(0), the primal objective at f = 0."""
        return self.C * self.rows

    def reach(self, v: Array) -> float:
        """Return an upper bound of |f(x) + b| over all points.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        """
        return float(self.top @ np.abs(v)) * OUTWARD

    def value_error(self, v: Array) -> float:
        """Return a bound of the rounding error of a computed f(x) + b, in any order.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        """
        return gamma_n(len(v) + 3) * (1.0 + self.reach(v)) * OUTWARD

    def unit(self, v: Array) -> float:
        """Return the unit in which decision values of pairs are integers.

        Sums over a query stay below 2^62.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights.
        """
        return float(
            2.0 ** (np.ceil(np.log2(2 * (2 * self.reach(v) + THRESHOLD_ROOM) * self.largest)) - 61)
        )

    def slack_error(self, v: Array) -> float:
        """Return a bound of the error of a computed u_r.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        """
        error = self.value_error(v)
        return 2.02 * (error + 4 * UNIT * self.reach(v) + self.unit(v)) if self.ranks else error

    def widest(self, v: Array, loss: SmoothLoss) -> float:
        """Return a bound of |u_r| plus the loss's width.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        loss : SmoothLoss
            Smooth loss.
        """
        return 1.0 + loss.width + 2 * (1 + self.ranks) * self.reach(v)

    def grids(self, v: Array, loss: SmoothLoss) -> tuple[SummationGrid, SummationGrid]:
        """Return the grids of the sums at a point.

        Parameters
        ----------
        v : ndarray of shape (q,)
            Weights, and the bias if there is one.
        loss : SmoothLoss
            Smooth loss.

        Returns
        -------
        numbers : SummationGrid
            Grid of sum a_r and sum loss(u_r) with the problem's own loss.
        columns : SummationGrid
            Grid of the columns of sum a_r z_r.
        """
        widest = self.widest(v, loss)
        max_derivative = min(loss.slope * widest, loss.top)
        numbers = 4 * self.largest * np.array([loss.slope * widest, widest * widest])
        # A pair has two points, and the terms of points in no pair are 0.
        terms = min(self.points, (1 + self.ranks) * self.rows)
        return grid(numbers, terms), grid(self.top * max_derivative * self.largest, terms)

    def integer_bits(self) -> int:
        """Return the bits to which features are rounded for the Hessian.

        All sums over a block of rows are then exact.
        """
        if not self.ranks:
            return (SUM_BITS - int(np.log2(BLOCK_ROWS))) // 2
        query = int(np.ceil(np.log2(self.largest)))
        return (SUM_BITS - 2 - int(np.log2(BLOCK_PAIR_ROWS)) - query) // 2

    def integer_scale(self) -> Array:
        """Return powers of two, (q,), that scale features to `integer_bits` bits."""
        return np.asarray(
            2.0 ** (self.integer_bits() - np.ceil(np.log2(np.maximum(self.top, 1e-200))))
        )


BLOCK_ROWS = 4096
"""Rows of a classification in one matrix product of a Hessian; a power of two."""
BLOCK_PAIR_ROWS = 256
"""Points of queries in one matrix product of a Hessian; a power of two.

They are few enough to stay in the cache.
"""
SUM_BITS = 52
"""Maximum bits of a sum of integers over a block."""


def merge_stats(
    facts: Sequence[PartitionStats],
    C: float,
    loss: Literal["hinge", "squared_hinge"],
    bias: bool,
    ranks: bool,
) -> GlobalStats:
    """Return the statistics of all partitions.

    Parameters
    ----------
    facts : sequence of PartitionStats
        Statistics of every partition.
    C : float
        Cost per row.
    loss : {"hinge", "squared_hinge"}
        Loss of the problem.
    bias : bool
        True if the last column is the constant of a free bias.
    ranks : bool
        True if the rows are the pairs of queries.

    Raises
    ------
    ValueError
        If partitions have different numbers of columns, or share a query; the message
        has their numbers.
    """
    columns = [len(stats.top) - bias for stats in facts]
    for k, d in enumerate(columns):
        if d != columns[0]:
            raise ValueError(
                f"partition {k} has {d} columns and partition 0 has {columns[0]}; all must "
                f"have the same columns"
            )
    _check_queries([stats.queries for stats in facts])
    top = np.max([stats.top for stats in facts], axis=0)
    points, rows = sum(stats.points for stats in facts), sum(stats.rows for stats in facts)
    return GlobalStats(
        points, rows, max(stats.largest for stats in facts), top, C, loss, bias, ranks
    )


def _check_queries(queries: list[NDArray[Any]]) -> None:
    """Check that every query is in one partition.

    Raises
    ------
    ValueError
        If one is in several.
    """
    if len({ids.dtype.kind in "US" for ids in queries if len(ids)}) > 1:
        raise ValueError(
            "qid must hold numbers alone or text alone, and differs between partitions"
        )
    names = np.concatenate(queries)
    partition = np.repeat(np.arange(len(queries)), [len(ids) for ids in queries])
    order = np.argsort(names, kind="stable")
    twice = np.flatnonzero(names[order][1:] == names[order][:-1])
    if len(twice):
        first, second = partition[order[twice[0]]], partition[order[twice[0] + 1]]
        raise ValueError(
            f"query {names[order[twice[0]]]} has rows in partitions {first} and {second}; "
            f"the rows of a query must lie in one partition"
        )
