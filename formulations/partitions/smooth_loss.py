"""A loss with a derivative, as partitions are told it.

    phi'(u) = min((a + slope u)_+, top)

    squared hinge         a = 0, slope 2, top inf
    smoothed hinge        a = 1/2 (Huber's function) or the multiplier over C that was found before, top 1

The multipliers found before are not sent. They are a function of the points where they
were found, from which a partition computes them anew where it has lost them:

    a <- min((a + slope_k u(v_k))_+, 1)     for every centre (v_k, slope_k), from a = 1/2
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from equimargin.formulations.numeric.arrays import Array


@dataclass(frozen=True, eq=False)
class SmoothLoss:
    """phi of the module's formula.

    Parameters
    ----------
    slope, top : float
        numbers.
    start : float
        The first a.
    centres : tuple[tuple[Array, float], ...] of shape (v_k, slope_k)
        Where it was found anew.
    """

    slope: float
    start: float
    top: float
    centres: tuple[tuple[Array, float], ...] = ()

    @property
    def width(self) -> float:
        """The u > 0 with phi'(-u) = 0 at the first a."""
        return self.start / self.slope

    @property
    def squared(self) -> bool:
        """Whether this is the squared hinge."""
        return math.isinf(self.top)


SQUARED_HINGE = SmoothLoss(2.0, 0.0, math.inf)
"""(u)_+^2."""


def smoothed_hinge(slope: float) -> SmoothLoss:
    """Huber's function of that slope, which is the hinge where |u| >= 1 / (2 slope)."""
    return SmoothLoss(slope, 0.5, 1.0)
