"""Margin problem whose rows have one point each, in one scaled variable per point.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2
    s.t. lower <= a <= upper,  1'a = 0

The variable a_i of point i is the sum of s_r alpha_r over its rows r of sign s_r. The
multiplier of a row with s_r = 1 is the part of a_i above 0, with s_r = -1 the part
below. Classification has one row per point and the regression tube has two; both are
this problem. The scaling is

    K  ->  K / unit,    f  ->  f / spread,    a  =  alpha unit / spread,
    unit = mean |K_ii|,    spread = half the range of s_r t_r.

The one-sided slopes of the objective at a are G_i + rise_i where a_i grows and G_i +
fall_i where it shrinks, with the gradient G = K a - z and the slopes rise_i and fall_i
of the separable part. A point a is optimal if max_j (G_j + fall_j) <= min_i (G_i +
rise_i).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.intervals import relative_size
from equimargin.formulations.numeric.arrays import Array, Index
from equimargin.formulations.numeric.jit import brief, fast, part
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.formulations.problem.margin import MarginProblem

NEVER = 1e30
"""Finite substitute for an infinite slope; infinities would become NaN in float32 sums."""


class SeparablePart(NamedTuple):
    """Bounds and separable part of the objective, below and above 0.

    Parameters
    ----------
    lower : ndarray of shape (m,)
        Lower bounds.
    upper : ndarray of shape (m,)
        Upper bounds.
    width : ndarray of shape (m,)
        Half width of the tube: the slope of width'|a|.
    ridge : ndarray of shape (2, m)
        Curvatures below 0 and above 0.
    """

    lower: Array
    upper: Array
    width: Array
    ridge: Array

    def of(self, points: Index) -> SeparablePart:
        """Select some of the points.

        Parameters
        ----------
        points : ndarray of shape (k,)
            Indices of the points.
        """
        return SeparablePart(
            self.lower[points], self.upper[points], self.width[points], self.ridge[:, points]
        )


@dataclass(frozen=True)
class ProblemScaling:
    """Points of the rows, and scaling; neither depends on the costs.

    Parameters
    ----------
    m : int
        Number of points.
    point : ndarray of shape (p,)
        Point of every row.
    unit : float
        Mean |K_ii|.
    spread : float
        Half the range of s_r t_r.
    middle : float
        Middle of that range, absorbed by the bias.
    """

    m: int
    point: Index
    unit: float
    spread: float
    middle: float

    @classmethod
    def of(cls, problem: MarginProblem) -> ProblemScaling:
        """Return the scaling of a problem that SMO supports.

        Parameters
        ----------
        problem : MarginProblem
            Problem to solve.
        """
        rows = problem.rows
        point = np.abs(rows.dot(np.arange(1.0, problem.m + 1))).astype(np.intp) - 1
        z = rows.s * rows.t
        least, most = float(z.min()) / 2, float(z.max()) / 2
        spread, middle = most - least or 1.0, most + least
        return cls(problem.m, point, problem.gram.mean_diagonal, spread, middle)

    @property
    def scale(self) -> float:
        """Factor of the multipliers, unit / spread."""
        return self.unit / self.spread

    def largest(self, v: Array) -> Array:
        """Return the maximum over the rows of every point.

        Parameters
        ----------
        v : ndarray of shape (p,)
            Values of the rows.

        Returns
        -------
        ndarray of shape (m,)
            Maxima; -inf for a point without rows.
        """
        most = np.full(self.m, -np.inf)
        np.maximum.at(most, self.point, v)
        return most


class OptimalityState(NamedTuple):
    """Slopes, optimality violation and estimated gap at a point a.

    Parameters
    ----------
    rise : ndarray of shape (m,)
        Slopes where a_i grows, G included.
    fall : ndarray of shape (m,)
        Slopes where a_i shrinks, G included.
    free : ndarray of bool of shape (m,)
        True where both slopes are equal.
    least : float
        Minimum of `rise`.
    most : float
        Maximum of `fall`.
    level : float
        Mean slope of the free points, which is minus the bias.
    gap : float
        Estimated duality gap.
    dual : float
        Estimated dual value.
    relative_gap : float
        Gap relative to the size of the values; inf without an estimate.
    """

    rise: Array
    fall: Array
    free: NDArray[np.bool_]
    least: float
    most: float
    level: float
    gap: float
    dual: float
    relative_gap: float

    @property
    def violation(self) -> float:
        """Violation of optimality: maximum of `fall` minus minimum of `rise`."""
        return self.most - self.least


@dataclass(frozen=True)
class PointProblem:
    """Problem of this module for one margin problem.

    Parameters
    ----------
    margin : MarginProblem
        Margin problem.
    units : ProblemScaling
        Its scaling.
    sides : SeparablePart
        Separable part.
    z : ndarray of shape (m,)
        Linear term.
    costs : ndarray of shape (2, m)
        Costs of the rows below and above 0.
    hard : ndarray of bool of shape (p,)
        True for rows of infinite cost.
    at_0 : float
        Primal value of f = 0.
    most_dual : float
        Twice `at_0`: a larger dual value is rounding error; inf with hard rows.
    """

    margin: MarginProblem
    units: ProblemScaling
    sides: SeparablePart
    z: Array
    costs: Array
    hard: NDArray[np.bool_]
    at_0: float
    most_dual: float

    @classmethod
    def of(cls, problem: MarginProblem, units: ProblemScaling) -> PointProblem:
        """Return the problem at the costs of a margin problem.

        Parameters
        ----------
        problem : MarginProblem
            Problem that SMO supports.
        units : ProblemScaling
            Scaling of the problem, or of one with other costs and weights.
        """
        return cls._with_targets(problem, units, problem.rows.t)

    @classmethod
    def _with_targets(cls, problem: MarginProblem, units: ProblemScaling, t: Array) -> PointProblem:
        """Return the problem with targets t, (p,)."""
        m, s = units.m, problem.rows.s
        sides, z, costs = (
            SeparablePart(np.empty(m), np.empty(m), np.empty(m), np.empty((2, m))),
            np.empty(m),
            np.zeros((2, m)),
        )
        _place(
            units.point,
            s,
            (s * t - units.middle) / units.spread,
            problem.costs * units.scale,
            0.5 / units.spread if problem.squared else 0.0,
            z,
            costs,
            sides,
        )
        at_0, hard = problem.scale * units.scale / units.spread, np.isinf(problem.costs)
        return cls(
            problem, units, sides, z, costs, hard, at_0, np.inf if hard.any() else 2.0 * at_0
        )

    def at_costs(self, problem: MarginProblem) -> PointProblem:
        """Return the problem of the same data at other costs and weights.

        Parameters
        ----------
        problem : MarginProblem
            Problem at the other costs.
        """
        return PointProblem.of(problem, self.units)

    @property
    def any_hard(self) -> bool:
        """True if there are hard rows."""
        return self.most_dual == np.inf

    @property
    def has_estimate(self) -> bool:
        """True if the slopes yield a gap estimate: convex problem, no infinite cost."""
        return self.margin.has_gap and not self.any_hard

    def multipliers(self, a: Array) -> Array:
        """Return the multipliers alpha_r, the parts of a_i above or below 0.

        Parameters
        ----------
        a : ndarray of shape (m,)
            Variables.

        Returns
        -------
        ndarray of shape (p,)
            Multipliers.
        """
        return np.maximum(self.margin.rows.s * a[self.units.point], 0.0) / self.units.scale

    def numbers(self, alpha: Array) -> Array:
        """Return the variables a of multipliers, which are first made feasible.

        One factor scales them into the box; `repaired` then makes s'alpha = 0 exact.

        Parameters
        ----------
        alpha : ndarray of shape (p,)
            Multipliers.

        Returns
        -------
        ndarray of shape (m,)
            Variables.
        """
        problem = self.margin
        inside = (problem.box > 0) & (alpha > 0)
        alpha = alpha * min(1.0, float((problem.box[inside] / alpha[inside]).min(initial=1.0)))
        a = np.zeros(self.units.m)
        np.add.at(a, self.units.point, problem.rows.s * problem.repaired(alpha) * self.units.scale)
        return a

    def tightened(self, more: float) -> PointProblem:
        """Return the problem with larger targets of the hard rows.

        Parameters
        ----------
        more : float
            Increase, in units of the targets.
        """
        return self._with_targets(self.margin, self.units, self.margin.rows.t + more * self.hard)

    def look(self, a: Array, G: Array) -> OptimalityState:
        """Return the slopes and the estimated gap at a point.

        Parameters
        ----------
        a : ndarray of shape (m,)
            Variables.
        G : ndarray of shape (m,)
            Gradient K a - z.
        """
        rise, fall, free = np.empty(len(a)), np.empty(len(a)), np.empty(len(a), dtype=bool)
        least, most, level, gap, dual = _seen(
            G, a, self.z, self.sides, self.costs, rise, fall, free
        )
        return self.state(rise, fall, free, least, most, level, gap, dual)

    def state(
        self,
        rise: Array,
        fall: Array,
        free: NDArray[np.bool_],
        least: float,
        most: float,
        level: float,
        gap: float,
        dual: float,
    ) -> OptimalityState:
        """Return the state with its relative gap.

        Parameters
        ----------
        rise, fall, free, least, most, level, gap, dual
            As in `OptimalityState`.
        """
        size = relative_size(self.at_0, dual + gap, dual)
        relative = gap / size if math.isfinite(gap) and size > 0 else math.inf
        return OptimalityState(rise, fall, free, least, most, level, gap, dual, relative)


@brief
def _place(
    point: Index,
    s: Array,
    targets: Array,
    c: Array,
    curvature: float,
    z: Array,
    costs: Array,
    sides: SeparablePart,
) -> None:
    """Assign targets and costs of rows, (p,), to z, (m,), costs, (2, m), and `sides`.

    At a point with two rows, z is the mean of their s_r t_r and the width half their
    distance; with one row, z is its s_r t_r and the width 0. `curvature` is that of the
    squared hinge's conjugate at a cost of 1; 0 for the hinge.
    """
    lower, upper, width, ridge = sides
    # A point with one row gets its target on both sides.
    for r in range(s.size):
        z[point[r]] = width[point[r]] = targets[r]
    for r in range(s.size):
        k = point[r]
        if s[r] > 0.0:
            z[k], costs[1, k] = targets[r], c[r]
        else:
            width[k], costs[0, k] = targets[r], c[r]
    # z = (below + above) / 2, width = (below - above) / 2
    for k in range(z.size):
        above, below = z[k], width[k]
        z[k], width[k] = 0.5 * (below + above), 0.5 * (below - above)
        for side in range(2):
            cost = costs[side, k]
            # Conjugate of the squared hinge: alpha^2 / (4 c), so ridge = 1 / (2 c).
            ridge[side, k] = curvature / cost if cost > 0.0 else 0.0
            # 0 <= |a_k| <= c for the hinge; no upper bound for the squared hinge.
            end = np.inf if cost > 0.0 and curvature > 0.0 else cost
            if side == 0:
                lower[k] = -end
            else:
                upper[k] = end


@brief
@fast
def _seen(
    G: Array,
    a: Array,
    z: Array,
    sides: SeparablePart,
    costs: Array,
    rise: Array,
    fall: Array,
    free: NDArray[np.bool_],
) -> tuple[float, float, float, float, float]:
    """Return the results of `_slopes` and `_estimate`."""
    lower, upper, width, ridge = sides
    least, most, level = _slopes(G, a, lower, upper, width, ridge, rise, fall, free)
    gap, dual = _estimate(G, a, z, width, ridge, costs, level)
    return least, most, level, gap, dual


@part
def _slopes(
    G: Array,
    a: Array,
    lower: Array,
    upper: Array,
    width: Array,
    ridge: Array,
    rise: Array,
    fall: Array,
    free: NDArray[np.bool_],
) -> tuple[float, float, float]:
    """Write the slopes of every point to `rise`, `fall`, and their equality to `free`.

    Returns the least slope to rise, the largest to fall, and the level between them:
    the mean slope of the free points.
    """
    least, most, total, count = NEVER, -NEVER, 0.0, 0
    for k in range(G.shape[0]):
        # Derivative of width |a| + ridge a^2 / 2 above and below 0.
        above, below = width[k] + ridge[1, k] * a[k], ridge[0, k] * a[k] - width[k]
        rise[k] = NEVER if a[k] >= upper[k] else G[k] + (above if a[k] >= 0.0 else below)
        fall[k] = -NEVER if a[k] <= lower[k] else G[k] + (above if a[k] > 0.0 else below)
        least, most = smaller(least, rise[k]), larger(most, fall[k])
        free[k] = rise[k] == fall[k]
        if free[k]:
            total += rise[k]
            count += 1
    # level: mean slope of the free points, clipped to the range of `least` and `most`.
    level = total / count if count else 0.5 * (least + most)
    return least, most, larger(smaller(level, larger(least, most)), smaller(least, most))


@part
def _estimate(
    G: Array, a: Array, z: Array, width: Array, ridge: Array, costs: Array, level: float
) -> tuple[float, float]:
    """Return the gap of f = K a with the bias -level, and the dual value."""
    gap, dual = 0.0, 0.0
    for k in range(G.size):
        for side in range(2):
            sign = 2.0 * side - 1.0
            # part = (+-a)_+, slack u = +-(level - G) - width
            part, u = larger(sign * a[k], 0.0), sign * (level - G[k]) - width[k]
            loss, c, r = larger(u, 0.0), costs[side, k], ridge[side, k]
            # dual = a'(z - G) / 2 - width'|a| - ridge'a^2 / 2
            dual -= part * (width[k] + 0.5 * r * part)
            if c > 0.0:
                # gap = sum of loss(u) + conjugate(part) - part u
                gap -= part * u
                if r > 0.0:
                    gap += 0.5 * loss * loss / r + 0.5 * r * part * part
                elif u > 0.0:  # 0 times an infinite cost would be NaN.
                    gap += c * u
        dual += a[k] * (0.5 * (z[k] - G[k]))
    return gap, dual
