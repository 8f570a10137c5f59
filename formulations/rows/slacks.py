"""Smooth loss of the rows' slacks: value, multipliers and curvature, and line searches.

    u(t) = u - t A h
    d/dt sum_r c_r phi(u_r(t)) = -h'A'alpha,    alpha_r = c_r phi'(u_r)

An optimiser needs these at decision values g = f + b. For explicit rows alpha and D are
arrays with one number per row. For implicit pairs they are objects
(`pair_multipliers.py`, `pair_slacks.py`), which `Rows.rdot` and `Rows.curvature` accept in
place of arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast, in_numpy
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.formulations.rows.loss import Loss


class Curvature(ABC):
    """Diagonal D of a Hessian A' D A, one number per explicit or implicit row."""

    @abstractmethod
    def hess_vec(self, v: Array) -> Array:
        """Return A' D A v.

        Parameters
        ----------
        v : ndarray of shape (m,)
            Vector.

        Returns
        -------
        ndarray of shape (m,)
            Product.
        """

    @abstractmethod
    def gram(self, Z: Explicit, single: bool = False) -> Array:
        """Return Z' A' D A Z.

        Parameters
        ----------
        Z : Explicit of shape (m, q)
            Features of the points.
        single : bool
            True if float32 sums are accurate enough.

        Returns
        -------
        ndarray of shape (q, q)
            Symmetric matrix.
        """

    def gram_product(self, Z: Explicit, v: Array) -> Array:
        """Return Z' A' D A Z v.

        Parameters
        ----------
        Z : Explicit of shape (m, q)
            Features of the points.
        v : ndarray of shape (q,)
            Vector.

        Returns
        -------
        ndarray of shape (q,)
            Product.
        """
        return Z.rdot(self.hess_vec(Z @ v))

    @abstractmethod
    def weight(self) -> float:
        """Return sum_r D_r n_r, n_r being the number of points that row r uses."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """Second-order expansion of sum_r c_r phi(u_r).

    Parameters
    ----------
    loss : float
        The sum.
    conjugate : float
        sum_r c_r phi*(alpha_r / c_r).
    alpha : ndarray or implicit multipliers of shape (p,)
        Multipliers c_r phi'(u_r).
    D : ndarray of shape (p,), or Curvature
        c_r where phi'' is `slope`, 0 elsewhere.
    """

    loss: float
    conjugate: float
    alpha: Any
    D: Array | Curvature


class Slacks(ABC):
    """Slacks u of all rows at given decision values."""

    @abstractmethod
    def expanded(self, phi: Loss) -> Expansion:
        """Return the second-order expansion of the loss.

        Parameters
        ----------
        phi : Loss
            Smooth loss.
        """

    @abstractmethod
    def hinge(self) -> float:
        """Return sum_r c_r (u_r)_+."""

    @abstractmethod
    def violated(self) -> Any:
        """Return the subset of rows with u_r > 0, as `Rows.mixed` accepts it."""

    @abstractmethod
    def along(self, h: Array) -> Line:
        """Return the slacks as functions of t, as the decision values move by t h.

        Parameters
        ----------
        h : ndarray of shape (m,)
            Direction of the decision values.
        """

    def listed(self) -> RowSlacks | None:
        """Return these slacks if they are arrays of one number per row, or None."""
        return None


class Line(ABC):
    """Slacks u - t A h for t >= 0."""

    @abstractmethod
    def slope(self, phi: Loss, t: float) -> float:
        """Return the derivative of the loss in t.

        Parameters
        ----------
        phi : Loss
            Smooth loss.
        t : float
            Step.
        """

    @abstractmethod
    def curvature(self, phi: Loss, t: float) -> float:
        """Return the second derivative of the loss in t.

        Parameters
        ----------
        phi : Loss
            Smooth loss.
        t : float
            Step.
        """

    @abstractmethod
    def to(self, t: float) -> Slacks:
        """Return the slacks at t.

        Parameters
        ----------
        t : float
            Step.
        """


class RowSlacks(Slacks):
    """Slacks in an array, one number per row.

    Parameters
    ----------
    dot : callable
        Function from h (m,) to A h (p,).
    u : ndarray of shape (p,)
        Slacks.
    c : ndarray of shape (p,)
        Costs.
    """

    def __init__(self, dot: Callable[[Array], Array], u: Array, c: Array) -> None:
        self.dot, self.u, self.c = dot, u, c
        self._hinge: float | None = None

    def expanded(self, phi: Loss) -> Expansion:
        loss, conjugate, self._hinge, alpha, D = phi.expanded(self.u, self.c)
        return Expansion(loss, conjugate, alpha, D)

    def hinge(self) -> float:
        return float(self.c @ np.maximum(self.u, 0.0)) if self._hinge is None else self._hinge

    def violated(self) -> Any:
        return self.u > 0.0

    def along(self, h: Array) -> Line:
        return _RowLine(self, self.dot(h))

    def listed(self) -> RowSlacks:
        return self


class _RowLine(Line):
    """Slacks u - t a of explicit rows, with a = A h (p,)."""

    def __init__(self, start: RowSlacks, a: Array) -> None:
        self.start, self.a = start, a
        self._last: tuple[Loss, float, float, float] | None = None
        self._shifted: tuple[Loss, Array] | None = None

    def slope(self, phi: Loss, t: float) -> float:
        return self._slopes(phi, t)[2]

    def curvature(self, phi: Loss, t: float) -> float:
        return self._slopes(phi, t)[3]

    def to(self, t: float) -> RowSlacks:
        start = self.start
        return RowSlacks(start.dot, start.u - t * self.a, start.c)

    def _slopes(self, phi: Loss, t: float) -> tuple[Loss, float, float, float]:
        if self._last is None or self._last[0] is not phi or self._last[1] != t:
            if self._shifted is None or self._shifted[0] is not phi:
                self._shifted = phi, phi.shifted(self.start.u)
            u = self._shifted[1]
            self._last = phi, t, *_slopes(u, self.a, self.start.c, t, phi.slope, phi.top)
        return self._last


def _slopes_in_numpy(
    u: Array, a: Array, c: Array, t: float, slope: float, top: float
) -> tuple[float, float]:
    z, pull = slope * (u - t * a), c * a
    curved = (z > 0.0) & (z < top)
    return -float(pull @ np.clip(z, 0.0, top)), slope * float((pull * a) @ curved)


@brief
@in_numpy(_slopes_in_numpy)
@fast
def _slopes(
    u: Array, a: Array, c: Array, t: float, slope: float, top: float
) -> tuple[float, float]:
    """Return the derivatives in t, first and second, of sum_r c_r phi(u_r - t a_r).

    u includes the width of phi.
    """
    d1, d2 = 0.0, 0.0
    for r in range(u.size):
        z = slope * (u[r] - t * a[r])
        pull = c[r] * a[r]
        d1 -= smaller(larger(z, 0.0), top) * pull
        d2 += pull * a[r] if (z > 0.0) & (z < top) else 0.0
    return d1, slope * d2
