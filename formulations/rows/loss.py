"""Losses of a slack: hinge, squared hinge and huberised hinge, in one parametric form.

    phi'(u) = min(slope (u + width)_+, top)
    phi(u) = max over 0 <= a <= top of a (u + width) - a^2 / (2 slope)

    hinge            (u)_+                              slope inf, width 0, top 1
    squared hinge    (u)_+^2                            slope 2, width 0, top inf
    huberised hinge  0, (u + delta)^2 / (4 delta), u    slope 1 / (2 delta),
                                                        width delta, top 1

The three pieces of the huberised hinge hold on u <= -delta, |u| < delta and u >= delta.
It is never below the hinge, and at most delta / 4 above it. By the maximum above c phi
has the conjugate alpha^2 / (2 slope c) - width alpha on 0 <= alpha <= c top.

References
----------
S. Rosset, J. Zhu, Piecewise linear regularized solution paths, Annals of Statistics 35
(2007).
O. Chapelle, Training a support vector machine in the primal, Neural Computation 19
(2007).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arguments import check_number, format_value
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast, in_numpy
from equimargin.formulations.numeric.rounding import add_rounded, divide_rounded, multiply_rounded
from equimargin.formulations.numeric.vector_loops import larger, smaller


@dataclass(frozen=True)
class Loss:
    """Convex loss of a slack: 0, then a parabola, then a line.

    The parabola or the line may be missing. The bounds of the multipliers, the
    conjugate, the sums of a smooth loss, the bounds on rounding and the cvxpy
    expression (`Symbols.phi`) follow from the three numbers. Other losses need more
    than a new record: the logistic and the exponential loss have no rational optimum,
    an insensitive loss is two rows of a hinge, and the ramp loss is not convex.

    Parameters
    ----------
    name : str
        Name in ids, files and messages.
    slope : float
        Second derivative on the parabola; inf without a parabola.
    width : float or ndarray of shape (p,)
        The loss is 0 up to u = -width, in the units of u. A solver may give every row a
        width.
    top : float
        Derivative on the line; inf without a line.
    """

    name: str
    slope: float
    width: float | Array
    top: float

    @property
    def words(self) -> str:
        """Name for messages, with spaces."""
        return self.name.replace("_", " ")

    @property
    def shifts(self) -> bool:
        """True if the width is not 0 everywhere."""
        return isinstance(self.width, np.ndarray) or self.width != 0.0

    @property
    def is_bounded(self) -> bool:
        """True if the loss ends in a line, so that multipliers are bounded."""
        return self.top < np.inf

    @property
    def is_smooth(self) -> bool:
        """True if the loss has a derivative everywhere."""
        return self.slope < np.inf

    def shifted(self, u: Array) -> Array:
        """Return u + width.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks.

        Returns
        -------
        ndarray of shape (p,)
            Shifted slacks.
        """
        return np.asarray(u + self.width) if self.shifts else u

    def value(self, u: Array) -> Array:
        """Return phi(u).

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks.

        Returns
        -------
        ndarray of shape (p,)
            Losses.
        """
        z = np.maximum(self.shifted(u), 0.0)
        if not self.is_smooth:
            return np.asarray(_times(self.top, z))
        bend = np.minimum(z, self.top / self.slope)
        return np.asarray(self.slope * bend * (z - bend / 2))

    def weighed(self, u: Array, c: Array) -> Array:
        """Return c phi(u).

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks.
        c : ndarray of shape (p,)
            Costs.

        Returns
        -------
        ndarray of shape (p,)
            Weighted losses; inf if a row of infinite cost is violated.
        """
        z = np.maximum(self.shifted(u), 0.0)
        cost = np.zeros(len(z))
        # Multiply by c first: u^2 may underflow where c u^2 does not.
        np.multiply(c, z, out=cost, where=z > 0)
        if not self.is_smooth:
            return np.asarray(_times(self.top, cost))
        if not self.is_bounded:
            return np.asarray(_times(self.slope / 2, cost * z))
        bend = np.minimum(z, self.top / self.slope)
        return np.asarray(self.slope * bend * (cost - c * bend / 2))

    def bound(self, u: Array, c: Array, way: float) -> Array:
        """Return bounds of c phi(u).

        phi(u) is the minimum of slope s^2 / 2 + top v over u + width <= s + v, s >= 0,
        v >= 0. Any such s bounds it from above, and any 0 <= a <= top from below. The
        optimal s and a are approximated by floats.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks, rounded in the direction of the bound.
        c : ndarray of shape (p,)
            Costs, rounded in the direction of the bound.
        way : float
            1 for upper bounds, -1 for lower bounds.

        Returns
        -------
        ndarray of shape (p,)
            Bounds of the weighted losses.
        """
        z = np.maximum(add_rounded(u, self.width, way) if self.shifts else u, 0.0)
        if not self.is_smooth:
            return np.asarray(_product(self.top, multiply_rounded(c, z, way), way))
        if not self.is_bounded:
            return np.asarray(
                _product(self.slope / 2, multiply_rounded(multiply_rounded(c, z, way), z, way), way)
            )
        if way > 0:
            s = np.minimum(z, self.top / self.slope)
            parabola = multiply_rounded(
                self.slope / 2, multiply_rounded(multiply_rounded(c, s, way), s, way), way
            )
            line = _product(
                self.top, multiply_rounded(c, np.maximum(add_rounded(z, -s, way), 0.0), way), way
            )
            return np.asarray(add_rounded(parabola, np.where(s < z, line, 0.0), way))
        a = np.minimum(self.slope * z, self.top)
        height = np.maximum(add_rounded(z, -divide_rounded(a, 2 * self.slope, 1), way), 0.0)
        return np.asarray(multiply_rounded(multiply_rounded(c, a, way), height, way))

    def box(self, c: Array) -> Array:
        """Return upper bounds of the multipliers, at most c top; 0 at zero cost.

        Parameters
        ----------
        c : ndarray of shape (p,)
            Costs.

        Returns
        -------
        ndarray of shape (p,)
            Bounds, rounded down.
        """
        if not self.is_bounded:
            return np.where(c > 0, np.inf, 0.0)
        return np.asarray(_product(self.top, c, -1))

    def expanded(self, u: Array, c: Array) -> tuple[float, float, float, Array, Array]:
        """Return sums of a smooth loss, its conjugate and the hinge, and its derivatives.

        All are computed in one pass.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks.
        c : ndarray of shape (p,)
            Costs.

        Returns
        -------
        value : float
            sum_r c_r phi(u_r).
        conjugate : float
            sum_r c_r phi*(alpha_r / c_r).
        hinge : float
            sum_r c_r (u_r)_+.
        alpha : ndarray of shape (p,)
            c_r phi'(u_r).
        D : ndarray of shape (p,)
            c_r where phi'' is `slope`, 0 elsewhere.
        """
        alpha, D = np.empty_like(u), np.empty_like(u)
        value, gain, hinge = _expand(u, self.shifted(u), c, self.slope, self.top, alpha, D)
        return value, gain - value, hinge, alpha, D

    def derivative(self, u: Array) -> Array:
        """Return phi'(u) of a smooth loss: the multiplier of a row over its cost.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks.

        Returns
        -------
        ndarray of shape (p,)
            Derivatives.
        """
        return np.asarray(np.clip(self.slope * (u + self.width), 0.0, self.top))

    def curved(self, u: Array) -> NDArray[np.bool_]:
        """Return True where phi'' is `slope`; it is 0 elsewhere.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Slacks.

        Returns
        -------
        ndarray of bool of shape (p,)
            Mask of the slacks on the parabola.
        """
        v = self.slope * (u + self.width)
        return np.asarray((v > 0.0) & (v < self.top))


def _times(factor: float, x: Array) -> Array:
    """Return factor x, without a pass over x if the factor is 1."""
    return x if factor == 1.0 else factor * x


def _product(factor: float, x: Array, way: float) -> Array:
    """Return factor x rounded towards way * inf; x itself if the factor is 1."""
    return x if factor == 1.0 else np.asarray(multiply_rounded(factor, x, way))


HINGE = Loss("hinge", np.inf, 0.0, 1.0)
"""Hinge (u)_+."""
SQUARED_HINGE = Loss("squared_hinge", 2.0, 0.0, np.inf)
"""Squared hinge (u)_+^2."""
LOSS_OF_NAME: Mapping[str, Loss] = {loss.name: loss for loss in (HINGE, SQUARED_HINGE)}
"""Losses without a parameter, by name."""


def huberised_hinge(delta: float) -> Loss:
    """Return the hinge smoothed where |u| < delta.

    The slope is the float nearest to 1 / (2 delta), which is exact if delta is a power
    of two.

    Parameters
    ----------
    delta : float
        Half the width of the parabola, above 0, in the units of u.
    """
    return Loss("huberised_hinge", 1 / (2 * delta), delta, 1.0)


WITH_DELTA: Mapping[str, Callable[[float], Loss]] = {"huberised_hinge": huberised_hinge}
"""Constructors of the losses with a width delta, by name of the loss."""


LOSS_NAMES = (*LOSS_OF_NAME, *WITH_DELTA)
"""Names of all losses."""
MIN_DELTA, MAX_DELTA = 1e-100, 1e100
"""Range of delta in which neither the slope nor a product with it overflows."""


def make_loss(name: str, delta: float | None = None) -> Loss:
    """Return the loss of a name, with its parameter delta if it has one.

    Parameters
    ----------
    name : str
        Name of the loss.
    delta : float or None
        Half the width of the parabola; None for a loss without it.

    Raises
    ------
    ValueError
        If the loss has a delta and none is given, or vice versa, or delta is out of its
        range.
    """
    if (name in WITH_DELTA) != (delta is not None):
        of = ", ".join(WITH_DELTA)
        raise ValueError(
            f"{of} needs delta, a number above 0, and no other loss has one: delta is "
            f"{format_value(delta)}, and loss {name!r}"
        )
    if delta is None:
        return LOSS_OF_NAME[name]
    within = check_number(
        delta,
        "delta",
        f"a number from {MIN_DELTA:g} to {MAX_DELTA:g}",
        lambda v: MIN_DELTA <= v <= MAX_DELTA,
    )
    return WITH_DELTA[name](within)


def _expand_in_numpy(
    u: Array, v: Array, c: Array, slope: float, top: float, alpha: Array, D: Array
) -> tuple[float, float, float]:
    z = slope * v
    D[:] = np.where((z > 0.0) & (z < top), c, 0.0)
    z = np.clip(z, 0.0, top)
    alpha[:] = c * z
    # A slope below the range is 0, by which a float of Python cannot be divided.
    loss = float(alpha @ v - (alpha @ z) / (2.0 * slope))
    return loss, float(alpha @ u), float(c @ np.maximum(u, 0.0))


@brief
@in_numpy(_expand_in_numpy)
@fast
def _expand(
    u: Array, v: Array, c: Array, slope: float, top: float, alpha: Array, D: Array
) -> tuple[float, float, float]:
    """Fill alpha and D; return sum_r c_r phi(u_r), alpha'u and sum_r c_r (u_r)_+.

    v is u + width.
    """
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
