"""Multipliers alpha of all rows, listed in an array or not: what the dual of a margin problem asks of them.

    L(alpha) = t'alpha - 1/2 |A'alpha|_K^2 [ - sum_r alpha_r^2 / (4 c_r): squared hinge ]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.dyadic import on_grid
from equimargin.formulations.numeric.rounding import product, quotient, total

if TYPE_CHECKING:
    from equimargin.formulations.rows.base import Rows


class Multipliers(ABC):
    """One multiplier a row, (p,)."""

    @abstractmethod
    def gain(self) -> float:
        """t'alpha."""

    @abstractmethod
    def ridge(self, costs: Array) -> float:
        """sum_r alpha_r^2 / (4 c_r) at costs (groups,): what a squared hinge takes from the dual."""

    @abstractmethod
    def pull(self) -> Array:
        """A'alpha, (m,)."""

    @abstractmethod
    def feasible(self, rows: Rows, squared: bool, costs: Array, biased: bool) -> Any:
        """Multipliers close to these with 0 <= alpha <= c for the hinge, alpha >= 0 for the squared hinge, and s'alpha = 0 if `biased`.

        Those of a row that costs nothing are 0. Of all feasible ones A'alpha is exact in float64, or `pull_error` bounds its error.

        Parameters
        ----------
        rows : of the problem.  costs : (groups,) c.
        """

    @abstractmethod
    def proven(self, squared: bool, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        """t'alpha and what the squared hinge takes from it, for feasible multipliers, each rounded so that their difference is a bound.

        Parameters
        ----------
        squared : whether the loss is the squared hinge; what it takes is 0 for the hinge.
        costs : least and largest c, (groups,) each.  way : 1 for a difference from below, -1 from above.
        """

    @abstractmethod
    def pull_error(self) -> float:
        """A bound on the sum over the points of the error of `pull`, for feasible multipliers."""


class RowMultipliers(Multipliers):
    """Multipliers in an array.

    Parameters
    ----------
    rows : A and t.  alpha : (p,).
    """

    def __init__(self, rows: Rows, alpha: Array) -> None:
        self.rows, self.alpha = rows, alpha

    def gain(self) -> float:
        return float(self.rows.t @ self.alpha)

    def ridge(self, costs: Array) -> float:
        return float(ridge(self.alpha, self.rows.spread(costs)).sum())

    def pull(self) -> Array:
        return self.rows.combined(self.alpha)

    def feasible(self, rows: Rows, squared: bool, costs: Array, biased: bool) -> Array:
        ends = rows.spread(costs)
        box = np.where(ends > 0, np.inf, 0.0) if squared else ends
        return on_grid(self.alpha, box, rows.s if biased else np.zeros(rows.p))

    def proven(self, squared: bool, costs: tuple[Array, Array], way: float) -> tuple[float, float]:
        gain = total(product(self.rows.bounded_targets(-way), self.alpha, -way), -way)
        if not squared:
            return gain, 0.0
        least, most = costs
        shares = product(0.25, quotient(self.alpha, self.rows.spread(least if way > 0 else most), way), way)
        return gain, total(product(shares, self.alpha, way), way)

    def pull_error(self) -> float:
        return 0.0


def ridge(alpha: Array, costs: Array) -> Array:
    """alpha_r^2 / (4 c_r), (p,), 0 where a row costs nothing; alpha, costs : (p,)."""
    out = np.zeros(len(costs))
    np.divide(alpha, costs, out=out, where=costs > 0)  # first: alpha^2 underflows where alpha^2 / c does not
    return 0.25 * out * alpha
