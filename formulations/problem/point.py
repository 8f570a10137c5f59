"""Canonical points: the form in which every solver and every backend gives its answer to a problem.

A point of a margin problem is a function f, its bias b and multipliers alpha; a point
of a linear program is x and u. Either side of a point may be missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers

AnyBias: TypeAlias = Any
"""The bias b of a function: a float for T <= 1, an array (T,) for T > 1 thresholds.

It is no union, so that code for one bias needs no cast.
"""


class CanonicalPoint(ABC):
    """A point of a problem of either shape: it may bring a function, multipliers, or both."""

    @property
    @abstractmethod
    def has_function(self) -> bool:
        """Whether the point brings a function of its own, from which an upper bound of the optimum follows."""

    @property
    @abstractmethod
    def multipliers(self) -> AnyMultipliers | None:
        """The multipliers, (p,), one a row, from which a lower bound of the optimum follows; None where there are none."""

    @abstractmethod
    def with_multipliers(self, multipliers: AnyMultipliers | None) -> CanonicalPoint:
        """The same function with these multipliers, (p,), or with none."""

    @property
    def has_multipliers(self) -> bool:
        """Whether the point brings multipliers."""
        return self.multipliers is not None


@dataclass(frozen=True, eq=False)
class Point(CanonicalPoint):
    """A point of a MarginProblem: a function f, its bias b, and multipliers alpha of the rows, each where there is one.

    Parameters
    ----------
    w : Array | None of shape (q,)
        f = w.z, only where the kernel has explicit features z: linear, with an
        intercept or without.
    beta : Array | None of shape (m,)
        f = sum_i beta_i k(x_i, .).
    b : AnyBias | None
        The bias, f(x) + b is the decision; (T,) of T > 1 thresholds.
    alpha : AnyMultipliers | None of shape (p,)
        One a row, in an array or, of pairs that nobody lists, implicit.
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
    """A point of a OneNormProblem, a linear program: its unknowns x and b and the multipliers u of its rows, each where there is one.

    Parameters
    ----------
    x : Array | None of shape (size,)
        x >= 0, one a point or one a row.
    u : Array | None of shape (p,)
        One a row, 0 <= u <= C.
    b : float | None
        The bias; the best one for x where there is none.
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
