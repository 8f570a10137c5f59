"""One-norm margin problem, the canonical shape of every published linear program.

    min over x >= 0, b    1'x + sum_r c_r ( 1 - (B x)_r - b s_r )_+
    max over u            1'u   s.t.  B'u <= 1,  s'u = 0,  0 <= u <= c

There are two kinds. Over points B = A K, and x are the coefficients of f. Over rows B =
A K A', with one x per row. The rows are the pairs of a ranking, or the points of a
classification; these have signs s = y, and may have a bias b. Without a bias s'u = 0 is
not required.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from equimargin.formulations.kernels.features import Explicit
from equimargin.formulations.numeric.arguments import finite_cost
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.dyadic import round_to_dyadic_grid
from equimargin.formulations.problem.base import (
    CanonicalProblem,
    check_point_parts,
    wrong_point_type_error,
)
from equimargin.formulations.problem.bias import finite_interval, hinge_bias
from equimargin.formulations.problem.limits import check_float64_range
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import CanonicalPoint, OneNormPoint, Point
from equimargin.formulations.rows.listed import Pairs, Signed
from equimargin.formulations.rows.loss import HINGE
from equimargin.formulations.rows.pair_multipliers import AnyMultipliers


@dataclass(frozen=True, eq=False, repr=False)
class OneNormProblem(CanonicalProblem):
    """Linear program min 1'x + sum_r c_r (1 - (B x)_r - b s_r)_+ over x >= 0 and b.

    Parameters
    ----------
    X : ndarray or sparse array of shape (m, d)
        Features.
    kernel : Kernel
        Kernel k(x, z).
    rows : Pairs or Signed
        Preference pairs or classified points, with operator A (p, m).
    C : float
        Cost per unit of slack, finite.
    over : {"points", "rows"}
        "points", B = A K and x = beta (m,), or "rows", B = A K A' and x (p,).
    bias : bool
        True if b is free; b = 0 otherwise.
    weights : ndarray of shape (groups,), or None
        Finite factors of C, as in `MarginProblem`: the costs c are the exact products C
        x weight.
    shift : float, UnprovenShift or None
        As in `CanonicalProblem`.
    feature_names : tuple of str of length d, or None
        As in `CanonicalProblem`.
    part : str
        As in `AnyProblem`.

    References
    ----------
    Document T (Yu and Kim), (102)-(104), and document K (Kuo, Lee and Lin), (2.10),
    over points; document T, (94)-(96), over pairs, and section 5.1 (no formula), over
    classified points.
    """

    kind = "linear"
    phi = HINGE

    rows: Pairs | Signed
    over: Literal["points", "rows"] = "points"
    bias: bool = False
    weights: Array | None = None

    def __post_init__(self) -> None:
        """Check that the costs are finite."""
        if self.weights is not None and not np.isfinite(self.weights).all():
            raise ValueError(
                "one-norm problems have no hard rows: all weights must be finite, not inf"
            )

    @property
    def size(self) -> int:
        """Number of variables x."""
        return self.m if self.over == "points" else self.p

    @cached_property
    def family(self) -> str:
        """Id of the formulations with this optimum."""
        if isinstance(self.rows, Signed):
            return "svm.onenorm" if self.bias else "svm.nobias_onenorm"
        return "rvm" if self.over == "points" else "rank.onenorm"

    @property
    def convex(self) -> bool:
        """True: a linear program has no condition on K."""
        return True

    @cached_property
    def scale(self) -> float:
        """P(0), the sum of all costs, the primal objective at x = 0; C if that is 0.

        The optimum 0 of a problem without costs gives no unit for relative errors.
        """
        if self.weights is None:
            return self.C * max(self.p, 1)
        return float(self.costs.sum()) or self.C

    @property
    def origin(self) -> OneNormPoint:
        """Point u = 0."""
        return OneNormPoint(u=np.zeros(self.p))

    def point(
        self,
        coefficients: Array | None = None,
        multipliers: AnyMultipliers | None = None,
        b: float | None = None,
    ) -> OneNormPoint:
        return OneNormPoint(
            coefficients,
            None if multipliers is None else np.asarray(multipliers),
            b if self.bias else None,
        )

    def own_point(self, point: CanonicalPoint) -> OneNormPoint:
        if isinstance(point, OneNormPoint):
            return check_point_parts(point, self)
        raise wrong_point_type_error(
            point, self, "OneNormPoint(x, u, b)" if self.bias else "OneNormPoint(x, u)"
        )

    @property
    def parts(self) -> dict[str, tuple[tuple[int, ...], str]]:
        row = "pair" if isinstance(self.rows, Pairs) else "row"
        unit = "points" if self.over == "points" else f"{row}s"
        bias = {"b": ((), "a number")} if self.bias else {}
        return {
            "x": ((self.size,), f"a coefficient for each of the {unit}"),
            **bias,
            "u": ((self.p,), f"a multiplier for each {row}"),
        }

    def function(self, point: CanonicalPoint) -> Point:
        own = self.own_point(point)
        return Point(
            beta=None if own.x is None else self.coefficients(own.x), b=own.b if self.bias else 0.0
        )

    def values(self, point: CanonicalPoint) -> tuple[float, float]:
        own = self.own_point(point)
        return np.inf if own.x is None else self.primal(
            own.x, own.b
        ), -np.inf if own.u is None else self.dual(own.u)

    def with_cost(self, C: float) -> OneNormProblem:
        C = finite_cost(C)
        check_float64_range(self.rows, C, self.phi, self.weights)
        return replace(self, C=C)

    def coefficients(self, x: Array) -> Array:
        """Return the coefficients beta of f = sum_i beta_i k(x_i, .).

        Parameters
        ----------
        x : ndarray of shape (size,)
            Variables.

        Returns
        -------
        ndarray of shape (m,)
            Coefficients.
        """
        return x if self.over == "points" else self.rows.rdot(x)

    @cached_property
    def factor(self) -> Explicit | None:
        """Features Z (m, q), K = Z Z', if Z and Z' are smaller than K; else None."""
        Z = self.explicit
        return Z if Z is not None and 2 * Z.stored_entries < self.m**2 else None

    @cached_property
    def bias_signs(self) -> Array:
        """Bias signs s_r, shape (p,); zeros without a bias."""
        return self.rows.s if self.bias else np.zeros(self.p)

    def best_bias(self, f: Array) -> tuple[float, float]:
        if not self.bias:
            return 0.0, 0.0
        s = self.rows.s
        return finite_interval(*hinge_bias((1.0 - self.rows.dot(f)) * s, s, self.costs))

    def feasible(self, u: Array) -> Array:
        """Return multipliers close to u with 0 <= u <= c and s'u = 0.

        They lie on a grid on which A'u is exact in float64.

        Parameters
        ----------
        u : ndarray of shape (p,)
            Multipliers.

        Returns
        -------
        ndarray of shape (p,)
            Feasible multipliers.
        """
        return round_to_dyadic_grid(u, self.exact_box, self.bias_signs)

    def dual(self, u: Array) -> float:
        """Return the dual objective 1'u in float64 at feasible multipliers close to u.

        u is perturbed so that 0 <= u <= c and s'u = 0, and divided by max(1, max B'u).

        Parameters
        ----------
        u : ndarray of shape (p,)
            Multipliers.
        """
        u = self.feasible(u)
        prices = self.gram @ self.rows.rdot(u)
        prices = prices if self.over == "points" else self.rows.dot(prices)
        return float(u.sum() / max(1.0, float(prices.max(initial=0.0))))

    def primal(self, x: Array, b: float | None = None) -> float:
        """Return 1'x + sum_r c_r (1 - (B x)_r - b s_r)_+ in float64.

        Parameters
        ----------
        x : ndarray of shape (size,)
            Variables, x >= 0.
        b : float or None
            Bias; None for the optimal bias at x.
        """
        f = self.gram @ self.coefficients(x)
        b = self.bias_at(f) if b is None else b
        slacks = 1.0 - self.rows.dot(f) - b * self.bias_signs
        return float(x.sum() + self.phi.weighed(slacks, self.costs).sum())


Problem = MarginProblem | OneNormProblem
"""Canonical problem of either shape."""
