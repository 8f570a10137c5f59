"""Machines whose thresholds must be in order: the neighbouring thresholds of every level, and the sum of margins."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arrays import Array, Features
from equimargin.solvers.ordinal.machine import Levels, OrdinalProblem


class Neighbours(OrdinalProblem):
    """Thresholds b_0 <= ... <= b_{L-2} between levels, with a row for every point and a threshold next to its level.

    Parameters
    ----------
    X, kernel : as in `OrdinalProblem`.  y : (n,) levels in {0, ..., L - 1}.  cost : (n,) finite c_i >= 0, of both rows of a point.
    levels : L; by default the largest level is taken.
    """

    ordered = True

    def __init__(self, X: Features, y: Levels, cost: Array, kernel: Kernel, levels: int | None = None) -> None:
        self.X, self.kernel = X, kernel
        k = np.arange(int(y.max()) if levels is None else levels - 1)
        self.S = np.where(y[:, None] > k, 1.0, -1.0)
        self.C = np.where((y[:, None] == k) | (y[:, None] == k + 1), cost[:, None], 0.0)
        self.push = np.zeros(len(k))


class SumOfMargins(OrdinalProblem):
    """Intervals [a_k, b_k] between the levels k and k + 1, in order, as thresholds a_0 <= b_0 <= a_1 <= ..., whose widths are summed.

        min over f, a, b    1/2 |f|^2 + sum_k (a_k - b_k) + sum_i c_i ((f(x_i) - a_{y_i})_+ + (b_{y_i - 1} - f(x_i))_+)

    Parameters
    ----------
    X, kernel : as in `OrdinalProblem`.  y : (n,) levels in {0, ..., L - 1}.  cost : (n,) finite c_i >= 0, of both rows of a point.
    levels : L; by default the largest level is taken.
    """

    ordered, margin = True, 0.0

    def __init__(self, X: Features, y: Levels, cost: Array, kernel: Kernel, levels: int | None = None) -> None:
        self.X, self.kernel = X, kernel
        level = np.arange(2 * (int(y.max()) if levels is None else levels - 1)) // 2
        lower = np.arange(len(level)) % 2 == 0
        self.push = np.where(lower, 1.0, -1.0)
        self.S = np.broadcast_to(-self.push, (len(y), len(level)))
        self.C = np.where(y[:, None] == np.where(lower, level, level + 1), cost[:, None], 0.0)
