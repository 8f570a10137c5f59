"""Canonical points: the format of all solver and backend results.

A point of a margin problem is a function f, its bias b and multipliers alpha; a point
of a linear program is x and u. Any of these parts may be missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers

AnyBias: TypeAlias = Any
"""Bias b of a function: a float for T <= 1, an array (T,) for T > 1 thresholds.

It is no union, so that code for one bias needs no cast.
"""


class CanonicalPoint(ABC):
    """Point of a problem of either shape, with a function, multipliers, or both."""

    @property
    @abstractmethod
    def has_function(self) -> bool:
        """True if the point has a function, which bounds the optimum from above."""

    @property
    @abstractmethod
    def multipliers(self) -> AnyMultipliers | None:
        """Multipliers of the rows, (p,), for a lower bound of the optimum; or None."""

    @abstractmethod
    def with_multipliers(self, multipliers: AnyMultipliers | None) -> CanonicalPoint:
        """Return a point with the same function and other multipliers.

        Parameters
        ----------
        multipliers : AnyMultipliers of shape (p,), or None
            New multipliers, or None.
        """

    @property
    def has_multipliers(self) -> bool:
        """True if the point has multipliers."""
        return self.multipliers is not None


@dataclass(frozen=True, eq=False)
class Point(CanonicalPoint):
    """Point of a MarginProblem: function f, bias b, and multipliers alpha of the rows.

    Each may be missing.

    Parameters
    ----------
    w : ndarray of shape (q,), or None
        Weights of f = w.z, only if the kernel has explicit features z: linear, with an
        intercept or without.
    beta : ndarray of shape (m,), or None
        Coefficients of f = sum_i beta_i k(x_i, .).
    b : float, ndarray of shape (T,), or None
        Bias; f(x) + b is the decision value. An array for T > 1 thresholds.
    alpha : AnyMultipliers of shape (p,), or None
        Multipliers of the rows, in an array or, for implicit pairs, in an object.
    """

    w: Array | None = None
    beta: Array | None = None
    b: AnyBias | None = None
    alpha: AnyMultipliers | None = None

    @property
    def has_function(self) -> bool:
        return self.w is not None or self.beta is not None

    @property
    def multipliers(self) -> AnyMultipliers | None:
        return self.alpha

    def with_multipliers(self, multipliers: AnyMultipliers | None) -> Point:
        return replace(self, alpha=multipliers)


@dataclass(frozen=True, eq=False)
class OneNormPoint(CanonicalPoint):
    """Point of a OneNormProblem: variables x and b, and multipliers u of the rows.

    Each may be missing.

    Parameters
    ----------
    x : ndarray of shape (size,), or None
        Variables x >= 0, one per point or one per row.
    u : ndarray of shape (p,), or None
        Multipliers of the rows, 0 <= u <= C.
    b : float or None
        Bias; None for the optimal bias at x.
    """

    x: Array | None = None
    u: Array | None = None
    b: float | None = None

    @property
    def has_function(self) -> bool:
        return self.x is not None

    @property
    def multipliers(self) -> Array | None:
        return self.u

    def with_multipliers(self, multipliers: AnyMultipliers | None) -> OneNormPoint:
        return replace(self, u=None if multipliers is None else np.asarray(multipliers))
