"""A margin problem of one entry a row as SMO sees it: one number a point, in units in which K and the targets are of size 1.

    min  1/2 a'K a - z'a + width'|a| + 1/2 sum_i ridge_i a_i^2    s.t.  lower <= a <= upper,  1'a = 0

The number a_i of point i is the sum of s_r alpha_r over its rows r. A row with s_r = 1
is the part of a_i above 0, a row with s_r = -1 the part below 0. Classification has one
row a point and the regression tube has two, so that both are this one problem. The
units are

    K  ->  K / unit,    f  ->  f / spread,    a  =  alpha unit / spread,    unit = mean |K_ii|,    spread = half the range of s_r t_r.

The slopes of the objective at a are those of every point to both sides: G_i + rise_i
where a_i grows and G_i + fall_i where it shrinks, with the gradient G = K a - z and the
slopes of the separable part. A point is optimal if no slope to fall is above any slope
to rise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.bounds.intervals import relative_size
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.numeric.jit import brief, fast, part
from equimargin.formulations.numeric.vector_loops import larger, smaller
from equimargin.formulations.problem.margin import MarginProblem

Index = NDArray[np.intp]

NEVER = 1e30
"""Slope that stands in for an infinite one: sums of float32 would turn an infinity into NaN."""


class SeparablePart(NamedTuple):
    """The separable part of the objective on both sides of 0, of every point.

    Parameters
    ----------
    lower, upper : ndarray of shape (m,)
        The box.
    width : ndarray of shape (m,)
        The slope of the tube.
    ridge : ndarray of shape (2, m)
        The curvature below 0 and above 0.
    """

    lower: Array
    upper: Array
    width: Array
    ridge: Array

    def of(self, points: Index) -> SeparablePart:
        """Those of some of the points."""
        return SeparablePart(
            self.lower[points], self.upper[points], self.width[points], self.ridge[:, points]
        )


@dataclass(frozen=True)
class ProblemScaling:
    """The points of the rows, and the units; both are the same at all costs.

    Parameters
    ----------
    m : int
        points.
    point : Index of shape (p,)
        The point of every row.
    unit : float
        Mean |K_ii|.
    spread, middle : float
        Half the range of s_r t_r, and the middle of that range, which the bias takes
        up.
    """

    m: int
    point: Index
    unit: float
    spread: float
    middle: float

    @classmethod
    def of(cls, problem: MarginProblem) -> ProblemScaling:
        """The units of a problem that SMO takes."""
        rows = problem.rows
        point = np.abs(rows.dot(np.arange(1.0, problem.m + 1))).astype(np.intp) - 1
        z = rows.s * rows.t
        least, most = float(z.min()) / 2, float(z.max()) / 2
        spread, middle = most - least or 1.0, most + least
        return cls(problem.m, point, problem.gram.mean_diagonal, spread, middle)

    @property
    def scale(self) -> float:
        """What multipliers are multiplied by, unit / spread."""
        return self.unit / self.spread

    def largest(self, v: Array) -> Array:
        """The largest number of the rows of every point, (m,), for numbers of rows (p,)."""
        most = np.full(self.m, -np.inf)
        np.maximum.at(most, self.point, v)
        return most


class OptimalityState(NamedTuple):
    """What the slopes say of a point a.

    Parameters
    ----------
    rise, fall : ndarray of shape (m,)
        The slope of every point to both sides, G included.
    free : NDArray[np.bool_] of shape (m,)
        Whether they are equal.
    least, most : float
        The least slope to rise and the largest to fall.
    level : float
        The mean slope of the free points, which is minus the bias.
    gap, dual : float
        Estimates of the duality gap and of the dual value.
    relative_gap : float
        The gap over the size of the values; it is infinite where there is none.
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
        """By how much the largest slope to fall is above the least to rise."""
        return self.most - self.least


@dataclass(frozen=True)
class PointProblem:
    """The problem of this module for one margin problem.

    Parameters
    ----------
    margin : MarginProblem
        That problem.
    units : ProblemScaling
        Its units.
    sides, z
        The separable part; z is (m,).
    costs : ndarray of shape (2, m)
        Of the rows below and above 0.
    hard : NDArray[np.bool_] of shape (p,)
        Which rows must be met.
    at_0 : float
        The primal value of f = 0.
    most_dual : float
        Twice the value at_0, above which a dual value can only be rounding; infinite
        where rows are hard.
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
        """The problem at the costs of a margin problem.

        Parameters
        ----------
        problem : MarginProblem
            One that SMO takes.
        units : ProblemScaling
            Of the problem or of one that differs from it in costs and weights only.
        """
        return cls._with_targets(problem, units, problem.rows.t)

    @classmethod
    def _with_targets(cls, problem: MarginProblem, units: ProblemScaling, t: Array) -> PointProblem:
        """The problem whose targets are t, (p,)."""
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
            z,
            sides.width,
            costs,
        )
        _bound(
            costs,
            0.5 / units.spread if problem.squared else 0.0,
            sides.lower,
            sides.upper,
            sides.ridge,
        )
        at_0, hard = problem.scale * units.scale / units.spread, np.isinf(problem.costs)
        return cls(
            problem, units, sides, z, costs, hard, at_0, np.inf if hard.any() else 2.0 * at_0
        )

    @property
    def any_hard(self) -> bool:
        """Whether there are rows that must be met."""
        return self.most_dual == np.inf

    @property
    def has_estimate(self) -> bool:
        """Whether the slopes give an estimate of the gap: the kernel is positive semidefinite and no cost is infinite."""
        return self.margin.convex and not self.any_hard

    def multipliers(self, a: Array) -> Array:
        """alpha_r, (p,): the part of a_i above or below 0."""
        return np.maximum(self.margin.rows.s * a[self.units.point], 0.0) / self.units.scale

    def numbers(self, alpha: Array) -> Array:
        """a, (m,), of multipliers (p,): they are shrunk by one factor until they are in the box, and repaired."""
        problem = self.margin
        inside = (problem.box > 0) & (alpha > 0)
        alpha = alpha * min(1.0, float((problem.box[inside] / alpha[inside]).min(initial=1.0)))
        a = np.zeros(self.units.m)
        np.add.at(a, self.units.point, problem.rows.s * problem.repaired(alpha) * self.units.scale)
        return a

    def tightened(self, more: float) -> PointProblem:
        """The problem with the targets of the hard rows raised by `more`, in the targets' own units."""
        return self._with_targets(self.margin, self.units, self.margin.rows.t + more * self.hard)

    def look(self, a: Array, G: Array) -> OptimalityState:
        """The slopes and the estimated gap at a, (m,), whose gradient K a - z is G, (m,)."""
        rise, fall, free = np.empty(len(a)), np.empty(len(a)), np.empty(len(a), dtype=bool)
        least, most, level, gap, dual = _seen(
            G, a, self.z, self.sides, self.costs, rise, fall, free
        )
        size = relative_size(self.at_0, dual + gap, dual)
        return OptimalityState(
            rise,
            fall,
            free,
            least,
            most,
            level,
            gap,
            dual,
            gap / size if math.isfinite(gap) and size > 0 else math.inf,
        )


@brief
def _place(
    point: Index, s: Array, targets: Array, c: Array, z: Array, width: Array, costs: Array
) -> None:
    """Numbers of rows, (p,), by their points: z and the width, (m,) each, and the costs of the rows below and above 0, (2, m).

    z and the width are the middle of s_r t_r on both sides of a point and half their distance; of a point with one row, its s_r t_r and 0.
    """
    for r in range(s.size):
        z[point[r]] = width[point[r]] = targets[r]
    for r in range(s.size):
        k = point[r]
        if s[r] > 0.0:
            z[k], costs[1, k] = targets[r], c[r]
        else:
            width[k], costs[0, k] = targets[r], c[r]
    for k in range(z.size):
        above, below = z[k], width[k]
        z[k], width[k] = 0.5 * (below + above), 0.5 * (below - above)


@brief
def _bound(costs: Array, curvature: float, lower: Array, upper: Array, ridge: Array) -> None:
    """The box, (m,) each, and the ridge, (2, m), of costs (2, m); curvature : of the squared hinge at a cost of 1, 0 of the hinge."""
    for side in range(2):
        for k in range(costs.shape[1]):
            c = costs[side, k]
            ridge[side, k] = curvature / c if c > 0.0 else 0.0
            end = np.inf if c > 0.0 and curvature > 0.0 else c
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
    """What `_slopes` and then `_estimate` return."""
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
    """The slopes of every point to both sides, into `rise` and `fall`, and which points are free: where both are equal, into `free`.

    Returns the least slope to rise, the largest to fall, and the level between them at which the free points are on average.
    """
    least, most, total, count = NEVER, -NEVER, 0.0, 0
    for k in range(G.shape[0]):
        above, below = width[k] + ridge[1, k] * a[k], ridge[0, k] * a[k] - width[k]
        rise[k] = NEVER if a[k] >= upper[k] else G[k] + (above if a[k] >= 0.0 else below)
        fall[k] = -NEVER if a[k] <= lower[k] else G[k] + (above if a[k] > 0.0 else below)
        least, most = smaller(least, rise[k]), larger(most, fall[k])
        free[k] = rise[k] == fall[k]
        if free[k]:
            total += rise[k]
            count += 1
    level = total / count if count else 0.5 * (least + most)
    return least, most, larger(smaller(level, larger(least, most)), smaller(least, most))


@part
def _estimate(
    G: Array, a: Array, z: Array, width: Array, ridge: Array, costs: Array, level: float
) -> tuple[float, float]:
    """The gap of f = K a with the bias -level, and the dual value."""
    gap, dual = 0.0, 0.0
    for k in range(G.size):
        for side in range(2):
            sign = 2.0 * side - 1.0
            part, u = larger(sign * a[k], 0.0), sign * (level - G[k]) - width[k]
            loss, c, r = larger(u, 0.0), costs[side, k], ridge[side, k]
            dual -= part * (width[k] + 0.5 * r * part)
            if c > 0.0:
                gap -= part * u
                if r > 0.0:
                    gap += 0.5 * loss * loss / r + 0.5 * r * part * part
                elif u > 0.0:  # 0 times an infinite cost is a NaN
                    gap += c * u
        dual += a[k] * (0.5 * (z[k] - G[k]))
    return gap, dual
