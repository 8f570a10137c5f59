"""A canonical point: the function, the bias and the multipliers that an answer consists of."""

from __future__ import annotations

from dataclasses import dataclass

from equimargin.formulations.numeric.arrays import Array


@dataclass(frozen=True, eq=False)
class Point:
    """A canonical point: a function f, its bias b, and multipliers alpha of the rows, each where there is one.

    w : (q,) f = w.z, only where the kernel has explicit features z: linear, with an intercept or without.
    beta : (m,) f = sum_i beta_i k(x_i, .).  b : the bias, f(x) + b is the decision.
    alpha : (p,) one a row.  For a OneNormProblem beta is its x >= 0 and alpha its u.
    """

    w: Array | None = None
    beta: Array | None = None
    b: float | None = None
    alpha: Array | None = None

    @property
    def has_function(self) -> bool:
        """Whether the point brings an f of its own."""
        return self.w is not None or self.beta is not None
