"""Losses with a derivative: the squared hinge, and the hinge with its kink smoothed.

    phi'(u) = min(slope (u + width)_+, top)

    squared hinge         (u)_+^2                                            slope 2, width 0, top inf
    huberised hinge       0, (u + delta)^2 / (4 delta), u                    slope 1 / (2 delta), width delta, top 1

The three pieces of the huberised hinge hold on u <= -delta, |u| < delta and u >= delta. It is never below the hinge, and never more than
delta / 4 above it.

Source: O. Chapelle, Training a support vector machine in the primal, Neural Computation 19 (2007), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast
from equimargin.formulations.numeric.vector_loops import larger, smaller


@dataclass(frozen=True)
class Smooth:
    """A convex loss, 0 and then a parabola and then, if top is finite, a line."""

    slope: float
    width: float | Array
    top: float

    @property
    def shifts(self) -> bool:
        """Whether the width is not 0 everywhere."""
        return isinstance(self.width, np.ndarray) or self.width != 0.0

    def shifted(self, u: Array) -> Array:
        """u + width."""
        return np.asarray(u + self.width) if self.shifts else u

    def value(self, u: Array) -> Array:
        """phi(u)."""
        z = self.derivative(u)
        return np.asarray(z * (u + self.width) - z**2 / (2 * self.slope))

    def expanded(self, u: Array, c: Array) -> tuple[float, float, float, Array, Array]:
        """sum_r c_r phi(u_r) with its conjugate, its derivatives and the hinge, in one pass.

        Parameters
        ----------
        u : (p,) slacks.  c : (p,) costs.

        Returns
        -------
        value : sum_r c_r phi(u_r).  conjugate : sum_r c_r phi*(alpha_r / c_r).  hinge : sum_r c_r (u_r)_+.
        alpha : (p,) c_r phi'(u_r).  D : (p,) c_r where phi'' is `slope`, 0 elsewhere.
        """
        alpha, D = np.empty_like(u), np.empty_like(u)
        value, product, hinge = _expand(u, self.shifted(u), c, self.slope, self.top, alpha, D)
        return value, product - value, hinge, alpha, D

    def derivative(self, u: Array) -> Array:
        """phi'(u): what the multiplier of a row is, over its cost."""
        return np.asarray(np.clip(self.slope * (u + self.width), 0.0, self.top))

    def curved(self, u: Array) -> NDArray[np.bool_]:
        """Where phi'' is `slope`; it is 0 elsewhere."""
        v = self.slope * (u + self.width)
        return np.asarray((v > 0.0) & (v < self.top))


SQUARED_HINGE = Smooth(2.0, 0.0, np.inf)
"""The squared hinge (u)_+^2."""


def huberised(delta: float) -> Smooth:
    """The hinge smoothed where |u| < delta.

    Parameters
    ----------
    delta : > 0, in the units of u.
    """
    return Smooth(1 / (2 * delta), delta, 1.0)


@brief
@fast
def _expand(u: Array, v: Array, c: Array, slope: float, top: float, alpha: Array, D: Array) -> tuple[float, float, float]:
    """Fill alpha and D, v being u + width; sum_r c_r phi(u_r), alpha'u and sum_r c_r (u_r)_+."""
    product, square, shifted, hinge = 0.0, 0.0, 0.0, 0.0
    for r in range(v.size):
        z = slope * v[r]
        D[r] = c[r] if (z > 0.0) & (z < top) else 0.0
        z = smaller(larger(z, 0.0), top)
        alpha[r] = c[r] * z
        product += alpha[r] * u[r]
        shifted += alpha[r] * v[r]
        square += alpha[r] * z
        hinge += c[r] * larger(u[r], 0.0)
    return shifted - square / (2.0 * slope), product, hinge
