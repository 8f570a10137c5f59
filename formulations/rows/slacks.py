"""A smooth loss of the slacks of rows: its value, its multipliers, its curvature, and how these change along a direction.

    u(t) = u - t A h        d/dt sum_r c_r phi(u_r(t)) = -h'A'alpha,        alpha_r = c_r phi'(u_r)

This is what an optimiser needs of the rows at decision values g = f + b. For rows that
are listed, alpha and D are arrays with one number a row. For pairs that are not listed
they are objects (`pair_multipliers.py`, `pair_slacks.py`), which `Rows.rdot`,
`hess_vec` and `gram_weighted` accept in place of arrays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.formulations.rows.loss import Loss


class Curvature(ABC):
    """The diagonal D of a Hessian A' D A, one number a row, whether or not the rows are listed."""

    @abstractmethod
    def hess_vec(self, v: Array) -> Array:
        """A' D A v, (m,), for v (m,)."""

    @abstractmethod
    def gram(self, Z: Explicit, single: bool = False) -> Array:
        """Z' A' D A Z, (q, q), for features Z (m, q).

        Parameters
        ----------
        single : bool
            Whether sums of float32 are good enough.
        """

    def gram_product(self, Z: Explicit, v: Array) -> Array:
        """Z' A' D A Z v, (q,), for features Z (m, q) and v (q,)."""
        return Z.rdot(self.hess_vec(Z @ v))

    @abstractmethod
    def weight(self) -> float:
        """The sum of D_r over all rows r and all points that are in r."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """sum_r c_r phi(u_r) to the second order.

    Parameters
    ----------
    loss : float
        The sum.
    conjugate : float
        sum_r c_r phi*(alpha_r / c_r).
    alpha : Any
        Multipliers c_r phi'(u_r).
    D : Array | Curvature
        c_r where phi'' is `slope`, 0 elsewhere.
    """

    loss: float
    conjugate: float
    alpha: Any
    D: Array | Curvature


class Slacks(ABC):
    """The slacks u of all rows at some decision values."""

    @abstractmethod
    def expanded(self, phi: Loss) -> Expansion:
        """The loss to the second order."""

    @abstractmethod
    def hinge(self) -> float:
        """sum_r c_r (u_r)_+."""

    @abstractmethod
    def violated(self) -> Any:
        """Which rows have u_r > 0, for `Rows.mixed`."""

    @abstractmethod
    def along(self, h: Array) -> Line:
        """The slacks as the decision values move by t h, h (m,)."""

    def listed(self) -> RowSlacks | None:
        """These slacks, where they are arrays of one number a row; else None."""
        return None


class Line(ABC):
    """The slacks u - t A h for t >= 0."""

    @abstractmethod
    def slope(self, phi: Loss, t: float) -> float:
        """The derivative of the loss in t."""

    @abstractmethod
    def curvature(self, phi: Loss, t: float) -> float:
        """The second derivative of the loss in t."""

    @abstractmethod
    def to(self, t: float) -> Slacks:
        """The slacks there."""


class RowSlacks(Slacks):
    """Slacks in an array, one number a row.

    Parameters
    ----------
    dot : Callable[[Array], Array]
        h (m,) -> A h (p,).
    u : ndarray of shape (p,)
        slacks.
    c : ndarray of shape (p,)
        costs.
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
    """a : (p,) A h."""

    def __init__(self, start: RowSlacks, a: Array) -> None:
        self.start, self.a = start, a
        self._last: tuple[Loss, float, float, float] | None = None

    def slope(self, phi: Loss, t: float) -> float:
        return self._slopes(phi, t)[2]

    def curvature(self, phi: Loss, t: float) -> float:
        return self._slopes(phi, t)[3]

    def to(self, t: float) -> RowSlacks:
        start = self.start
        return RowSlacks(start.dot, start.u - t * self.a, start.c)

    def _slopes(self, phi: Loss, t: float) -> tuple[Loss, float, float, float]:
        if self._last is None or self._last[0] is not phi or self._last[1] != t:
            self._last = (
                phi,
                t,
                *_slopes(phi.shifted(self.start.u), self.a, self.start.c, t, phi.slope, phi.top),
            )
        return self._last


@brief
@fast
def _slopes(
    u: Array, a: Array, c: Array, t: float, slope: float, top: float
) -> tuple[float, float]:
    """The first and second derivative of sum_r c_r phi(u_r - t a_r) in t, u with phi's width added."""
    d1, d2 = 0.0, 0.0
    for r in range(u.size):
        z = slope * (u[r] - t * a[r])
        pull = c[r] * a[r]
        d1 -= smaller(larger(z, 0.0), top) * pull
        d2 += pull * a[r] if (z > 0.0) & (z < top) else 0.0
    return d1, slope * d2
