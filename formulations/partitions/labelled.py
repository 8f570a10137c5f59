"""Partition of a classification: a row is a point.

Its slack is u_i = 1 - y_i (w.x_i + b), and its features z_i = y_i (x_i, 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import jit
from equimargin.formulations.partitions.order_free import (
    SummationGrid,
    cut_in_two,
    folded_rows,
    products_by_row,
    split_integers,
)
from equimargin.formulations.partitions.partition import Partition
from equimargin.formulations.partitions.smooth_loss import SmoothLoss
from equimargin.formulations.partitions.whole import BLOCK_ROWS, GlobalStats, PartitionStats


class LabelledPartition(Partition):
    """Partition with points of two classes.

    Parameters
    ----------
    number : int
        Number of the partition, from 0, for error messages.
    X : array-like of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Labels -1 and 1.
    bias : bool
        True if f has a free constant.
    """

    def _read(self) -> None:
        wrong = np.flatnonzero(np.abs(self.y) != 1.0)
        if len(wrong):
            raise ValueError(
                f"y must hold -1 and 1, and holds {self.y[wrong[0]]:g} at row {wrong[0]}"
            )

    def facts(self) -> PartitionStats:
        return PartitionStats(len(self.y), len(self.y), 1, self.top, np.empty(0))

    def look(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        numbers, columns = whole.grids(v, loss)
        beta, sums = self.memory.array("beta", self.y.shape), np.empty((2, 2))
        squared = whole.loss == "squared_hinge"
        _fold(
            self.values(v),
            self.y,
            self._before(loss),
            loss.slope,
            loss.top,
            squared,
            numbers,
            beta,
            sums,
        )
        return [sums, folded_rows(self.X, beta, columns)]

    def hessian(self, whole: GlobalStats, v: Array, loss: SmoothLoss) -> list[Array]:
        rows = self.memory.array("rows", self.y.shape, np.int32)
        k = _curved(self.values(v), self.y, self._before(loss), loss.slope, loss.top, rows)
        return [_integer_gram(self.X, rows[:k], whole.integer_scale())]

    def _before(self, loss: SmoothLoss) -> Array:
        """Return the a of `SmoothLoss`, (n,), or (1,) if all rows have one a."""
        if not loss.centres:
            return np.array([loss.start])
        key = b"".join(v.tobytes() + np.float64(slope).tobytes() for v, slope in loss.centres)
        last = self._kept.get("centre", (b"", np.array([loss.start])))
        return self.kept("centre", key, lambda: self._centred(loss, key, *last))

    def _centred(self, loss: SmoothLoss, key: bytes, known: bytes, before: Array) -> Array:
        """Return a after its updates at all centres.

        They begin with the cached a of an earlier centre, or else with the initial a.
        """
        size = len(key) // len(loss.centres)
        start = len(known) // size if key.startswith(known) else 0
        a = before if start else np.array([loss.start])
        for v, slope in loss.centres[start:]:
            f = products_by_row(self.X, v, self.memory.array("values at a centre", self.y.shape))
            a = np.clip(a + slope * (1.0 - self.y * f), 0.0, 1.0)
        return a


@jit
def _fold(
    f: Array,
    y: Array,
    before: Array,
    slope: float,
    top: float,
    squared: bool,
    cut: SummationGrid,
    beta: Array,
    sums: Array,
) -> None:
    """Compute y_i a_i in beta, and coarse and fine sums of a_i and the loss in `sums`."""
    sums[:] = 0.0
    for i in range(f.size):
        u = 1.0 - y[i] * f[i]
        a = min(max(before[i if before.size > 1 else 0] + slope * u, 0.0), top)
        beta[i] = y[i] * a
        u = max(u, 0.0)
        loss = u * u if squared else u
        for k, term in enumerate((a, loss)):
            rough, rest = cut_in_two(term, cut.coarse[k], cut.fine[k])
            sums[0, k] += rough
            sums[1, k] += rest


@jit
def _curved(
    f: Array, y: Array, before: Array, slope: float, top: float, rows: NDArray[np.int32]
) -> int:
    """Write the rows on the curved piece of the loss into `rows`; return their number."""
    k = 0
    for i in range(f.size):
        a = before[i if before.size > 1 else 0] + slope * (1.0 - y[i] * f[i])
        rows[k] = i
        k += (a > 0.0) & (a < top)
    return k


def _integer_gram(X: Array, rows: NDArray[np.int32], scale: Array) -> Array:
    """Return high and low parts of B'B, (2, q, q), for B = rint(X[rows] diag(scale)).

    The product of every block of rows is exact, and so is the sum of the blocks.
    """
    q = len(scale)
    # All blocks use the memory of one: new memory for each would double the cost.
    H, B = (
        np.zeros((2, q, q)),
        np.empty((BLOCK_ROWS, q)),
    )
    for start in range(0, len(rows), BLOCK_ROWS):
        block = B[: len(rows) - start]
        _gather(X, rows[start : start + BLOCK_ROWS], scale, block)
        high, low = split_integers(block.T @ block)
        H[0] += high
        H[1] += low
    return H


@jit
def _gather(X: Array, rows: NDArray[np.int32], scale: Array, block: Array) -> None:
    """Write rint(X[rows] diag(scale)) into the block (k, q).

    If q is one more than the columns of X, the last feature is 1.
    """
    d = X.shape[1]
    for t in range(rows.size):
        x, out = X[rows[t]], block[t]
        for j in range(d):
            out[j] = np.rint(x[j] * scale[j])
        if scale.size > d:
            out[d] = np.rint(scale[d])
