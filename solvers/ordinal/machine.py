"""Arrays of ordinal regression for Newton's method: a row per point and threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array

Levels = NDArray[np.int64]
STEPS = 500
"""Maximum number of Newton steps, if the run has no limit.

10 are usual for squared slacks, 60 for hinges.
"""


@dataclass(frozen=True, eq=False)
class OrdinalProblem:
    """Instance of ordinal regression: points and thresholds b_0, ..., b_{T-1}.

        min over f, b    1/2 |f|^2 + push'b + sum_ik c_ik loss(margin - s_ik (f(x_i) - b_k))

    A row (i, k) requires s_ik (f(x_i) - b_k) >= margin - xi_ik.

    Parameters
    ----------
    Z : Explicit of shape (n, q)
        Features of the points.
    S : ndarray of shape (n, T)
        Signs s_ik.
    C : ndarray of shape (n, T)
        Finite costs c_ik, 0 where there is no row.
    push : ndarray of shape (T,)
        Linear costs of the thresholds.
    squared : bool
        True if slacks are squared.
    margin : float
        Margin, at least 0.
    ordered : bool
        True to require b_0 <= b_1 <= ...; otherwise there is a row for every point and
        threshold.
    """

    Z: Explicit
    S: Array
    C: Array
    push: Array
    squared: bool = False
    margin: float = 1.0
    ordered: bool = False

    @property
    def T(self) -> int:
        """Number of thresholds."""
        return len(self.push)


def with_all_thresholds(
    Z: Explicit, y: Array, cost: Array, T: int, squared: bool
) -> OrdinalProblem:
    """Return the instance with a row for every point and threshold.

    Parameters
    ----------
    Z : Explicit of shape (n, q)
        Features of the points.
    y : ndarray of shape (n,)
        Levels in {0, ..., T}.
    cost : ndarray of shape (n,)
        Finite c_i > 0, of all rows of a point.
    T : int
        Number of thresholds.
    squared : bool
        True if slacks are squared.
    """
    S = np.where(y[:, None] > np.arange(T), 1.0, -1.0)
    return OrdinalProblem(Z, S, np.broadcast_to(cost[:, None], S.shape), np.zeros(T), squared)


def with_neighbours(Z: Explicit, y: Levels, cost: Array, T: int) -> OrdinalProblem:
    """Return the instance with ordered thresholds and rows next to each point's level.

    A point of level k has a row for each of the thresholds k - 1 and k that exists.

    Parameters
    ----------
    Z : Explicit of shape (n, q)
        Features of the points.
    y : Levels of shape (n,)
        Levels in {0, ..., T}.
    cost : ndarray of shape (n,)
        Finite c_i >= 0, of both rows of a point.
    T : int
        Number of thresholds.
    """
    k = np.arange(T)
    C = np.where((y[:, None] == k) | (y[:, None] == k + 1), cost[:, None], 0.0)
    return OrdinalProblem(Z, np.where(y[:, None] > k, 1.0, -1.0), C, np.zeros(T), ordered=True)


def with_intervals(Z: Explicit, y: Levels, cost: Array, T: int) -> OrdinalProblem:
    """Return the instance with T intervals [a_k, b_k] between levels.

        min over f, a, b    1/2 |f|^2 + sum_k (a_k - b_k)
                            + sum_i c_i ((f(x_i) - a_{y_i})_+ + (b_{y_i - 1} - f(x_i))_+)

    The thresholds a_0 <= b_0 <= a_1 <= ... are ordered; b_k - a_k is the width of
    interval k.

    Parameters
    ----------
    Z : Explicit of shape (n, q)
        Features of the points.
    y : Levels of shape (n,)
        Levels in {0, ..., T}.
    cost : ndarray of shape (n,)
        Finite c_i >= 0, of both rows of a point.
    T : int
        Number of intervals.
    """
    level, lower = np.arange(2 * T) // 2, np.arange(2 * T) % 2 == 0
    push = np.where(lower, 1.0, -1.0)
    C = np.where(y[:, None] == np.where(lower, level, level + 1), cost[:, None], 0.0)
    return OrdinalProblem(Z, np.broadcast_to(-push, C.shape), C, push, margin=0.0, ordered=True)
