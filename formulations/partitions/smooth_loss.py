"""Differentiable loss of the rows, as partitions receive it.

    phi'(u) = min((a + slope u)_+, top)

    squared hinge    a = 0, slope 2, top inf
    smoothed hinge   a = 1/2 (Huber's function) or an earlier multiplier over C, top 1

The earlier multipliers are not sent. They depend on the points v_k at which they were
computed, the centres, from which a partition recomputes them if they are not cached:

    a <- min((a + slope_k u(v_k))_+, 1)   for every centre (v_k, slope_k), from a = 1/2
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from equimargin.formulations.numeric.arrays import Array


@dataclass(frozen=True, eq=False)
class SmoothLoss:
    """Loss phi with phi'(u) = min((a + slope u)_+, top).

    Parameters
    ----------
    slope : float
        Second derivative on the curved piece.
    start : float
        Initial a.
    top : float
        Maximum of phi'; inf for the squared hinge.
    centres : tuple of (v_k, slope_k)
        Points and slopes at which a was updated.
    """

    slope: float
    start: float
    top: float
    centres: tuple[tuple[Array, float], ...] = ()

    @property
    def width(self) -> float:
        """Minimal u >= 0 with phi'(-u) = 0 at the initial a."""
        return self.start / self.slope

    @property
    def squared(self) -> bool:
        """True for the squared hinge."""
        return math.isinf(self.top)


SQUARED_HINGE = SmoothLoss(2.0, 0.0, math.inf)
"""Squared hinge (u)_+^2."""


def smoothed_hinge(slope: float) -> SmoothLoss:
    """Return Huber's function, equal to the hinge for |u| >= 1 / (2 slope).

    Parameters
    ----------
    slope : float
        Second derivative on the curved piece.
    """
    return SmoothLoss(slope, 0.5, 1.0)
