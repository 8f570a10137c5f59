"""The one-norm margin problem, the canonical shape of every printed linear program.

    min over x >= 0    1'x + C sum_r ( 1 - (B x)_r )_+
    max over u         1'u   s.t.  B'u <= 1,  0 <= u <= C

There are two kinds. Over points B = A K, and x are the coefficients of f. Over pairs B = A K A', with one x a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from equimargin.formulations.numeric.arguments import finite_cost
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.base import CanonicalProblem, fitting, of_another_kind
from equimargin.formulations.problem.limits import within_float64
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.rows.listed import Pairs
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers


@dataclass(frozen=True, eq=False, repr=False)
class OneNormProblem(CanonicalProblem):
    """1'x + C sum_r (1 - (B x)_r)_+ over x >= 0, a linear program.

    Parameters
    ----------
    X : (m, d) features.  kernel : k.  rows : the preference pairs, A (p, m).  C : cost of a unit of slack, finite.
    over : "points", B = A K and x = beta (m,), or "pairs", B = A K A' and x (p,).
    shift, feature_names : as of every CanonicalProblem.

    Source: T (102)-(104) = K (2.10) over points; T (94)-(96) over pairs.
    """

    kind = "linear"
    weights = None

    rows: Pairs
    over: Literal["points", "pairs"] = "points"

    @property
    def size(self) -> int:
        """Number of unknowns x."""
        return self.m if self.over == "points" else self.p

    @property
    def family(self) -> str:
        """The id of the formulations with this optimum."""
        return "rvm" if self.over == "points" else "rank.onenorm"

    @property
    def convex(self) -> bool:
        """Always: a linear program asks nothing of K."""
        return True

    @property
    def scale(self) -> float:
        """P(0) = C p, the primal value at x = 0; C if there are no pairs, because the optimum 0 gives no unit for relative figures."""
        return self.C * max(self.p, 1)

    @property
    def origin(self) -> OneNormPoint:
        """u = 0."""
        return OneNormPoint(u=np.zeros(self.p))

    def point(self, coefficients: Array | None = None, multipliers: AnyMultipliers | None = None, b: float | None = None) -> OneNormPoint:
        return OneNormPoint(coefficients, None if multipliers is None else np.asarray(multipliers))

    def own_point(self, point: CanonicalPoint) -> OneNormPoint:
        if isinstance(point, OneNormPoint):
            return fitting(point, self)
        raise of_another_kind(point, self, "OneNormPoint(x, u)")

    @property
    def parts(self) -> dict[str, tuple[tuple[int, ...], str]]:
        return {"x": ((self.size,), f"a coefficient for each of the {self.over}"), "u": ((self.p,), "a multiplier for each pair")}

    def function(self, point: CanonicalPoint) -> Point:
        x = self.own_point(point).x
        return Point(beta=None if x is None else self.coefficients(x), b=0.0)

    def values(self, point: CanonicalPoint) -> tuple[float, float]:
        at = self.own_point(point)
        return np.inf if at.x is None else self.primal(at.x), -np.inf if at.u is None else self.dual(at.u)

    def with_cost(self, C: float) -> OneNormProblem:
        """The same problem at another C, finite."""
        C = finite_cost(C)
        within_float64(self.rows, C)
        return replace(self, C=C)

    def coefficients(self, x: Array) -> Array:
        """beta of f = sum_i beta_i k(x_i, .), (m,)."""
        return x if self.over == "points" else self.rows.rdot(x)

    def dual(self, u: Array) -> float:
        """1'u in float64, u clipped to its box and divided by max(1, max B'u)."""
        u = np.clip(u, 0.0, self.C)
        prices = self.gram @ self.rows.rdot(u)
        prices = prices if self.over == "points" else self.rows.dot(prices)
        return float(u.sum() / max(1.0, float(prices.max(initial=0.0))))

    def primal(self, x: Array) -> float:
        """1'x + C sum_r (1 - (B x)_r)_+ in float64 at x >= 0."""
        margins = self.rows.dot(self.gram @ self.coefficients(x))
        return float(x.sum() + self.C * np.maximum(1.0 - margins, 0.0).sum())


Problem = MarginProblem | OneNormProblem
