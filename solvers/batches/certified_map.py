"""Certified map of (lambda, gamma): a point with a proven gap everywhere in a rectangle.

A rectangle of lambda = 1 / C and of the width gamma of an RBF kernel is covered by cells.
A cell is known by the multipliers at its four corners, which bound the relative gap on
all of it (`formulations/bounds/cells.py`). The map is made in three steps.

1. Solve the problems at the corners of the rectangle.
2. Bound the gap of a cell by its corners. Up to `eps` the cell is finished.
3. Halve the cell with the largest gap, on a logarithmic scale and in the direction with
   the larger gap, and solve the problems at its two new corners, from the mean of their
   neighbours.

Between the kinks of the multipliers the gap decreases with the fourth power of a cell's
size along gamma. Along lambda multipliers and function are constant on a slice: the gap
of a cell of one slice decreases with the second power of its size, and that of a wider
cell has a floor of up to about eps / 4. Cells that touch share their corners.

References
----------
K. Zapien, G. Gasso, T. Gaertner, S. Canu, Model Selection for Ranking SVM Using
Regularization Path (2009), section 7, which proposes it.
G. Wang, D.-Y. Yeung, F. H. Lochovsky, A kernel path algorithm for support vector
machines, ICML 2007, for a path in gamma alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np

from equimargin.formulations.bounds.cells import (
    UNKNOWN,
    CellBound,
    CellCorner,
    GammaStrip,
    cell_bound,
    cell_point,
    cost_slices,
)
from equimargin.formulations.bounds.multipliers_from_f import recover_multipliers
from equimargin.formulations.kernels.kernel import RBF
from equimargin.formulations.numeric.arguments import (
    check_count,
    check_number,
    format_value,
    optional_limit,
)
from equimargin.formulations.numeric.jit import run_seconds
from equimargin.formulations.numeric.rounding import UNIT
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import SHORTEST_LIMIT, Solution, Status

SHARE_OF_CORNERS = 1 / 16
"""Relative gap of the solutions at corners, over that of the map."""
LEAST_RATIO = 1 + 1e-6
"""Ratio of the ends of a range up to which a cell is not halved any more."""
WIDEST_STRIP = 2.0
"""Ratio of two gammas above which a cell is halved without a bound.

The polynomials in gamma prove little on wider ranges.
"""

Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class MapCell:
    """Cell of a certified map.

    Parameters
    ----------
    costs : tuple of float
        Lowest and highest C.
    gammas : tuple of float
        Lowest and highest gamma.
    corners : tuple of CellCorner
        Multipliers at (low, low), (high, low), (low, high) and (high, high) of (C, gamma).
    bound : CellBound
        Proven gap, and proven bounds of the optimum, on all of the cell.
    """

    costs: Range
    gammas: Range
    corners: tuple[CellCorner, CellCorner, CellCorner, CellCorner]
    bound: CellBound

    @property
    def lambdas(self) -> Range:
        """Lowest and highest lambda = 1 / C."""
        return 1 / self.costs[1], 1 / self.costs[0]

    @property
    def gap(self) -> float:
        """Proven upper bound of the relative gap of the map's points on the cell."""
        return self.bound.gap

    @property
    def interval(self) -> Range:
        """Proven bounds of the optimum on the cell, in units of the objective with C."""
        return self.bound.lower, self.bound.upper

    @property
    def centre(self) -> Range:
        """Geometric means of the ends, (lambda, gamma)."""
        return 1 / _middle(self.costs), _middle(self.gammas)


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedMap:
    """Cells that cover a rectangle of (lambda, gamma), each with a proven gap.

    Parameters
    ----------
    problem : MarginProblem
        Problem with an RBF kernel; its C and gamma are ignored.
    lambdas, gammas : tuple of float
        Lowest and highest lambda and gamma.
    eps : float
        Relative gap that was requested.
    cells : tuple of MapCell
        Cells of the rectangle.
    solves : int
        Number of problems solved.
    stopped : str
        Reason for the end, as a sentence.
    seconds : float
        Wall time in seconds.
    """

    problem: MarginProblem
    lambdas: Range
    gammas: Range
    eps: float
    cells: tuple[MapCell, ...]
    solves: int
    stopped: str
    seconds: float

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return (
            f"CertifiedMap(lambdas {self.lambdas[0]:g} to {self.lambdas[1]:g}, "
            f"gammas {self.gammas[0]:g} to {self.gammas[1]:g}, {len(self)} cells, "
            f"gap {self.gap:.3g})"
        )

    @cached_property
    def gap(self) -> float:
        """Largest proven gap of a cell."""
        return max(cell.gap for cell in self.cells)

    @property
    def complete(self) -> bool:
        """True if every cell is proven to the requested gap."""
        return self.gap <= self.eps

    def cell(self, lam: float, gamma: float) -> MapCell:
        """Return the cell of a lambda and a gamma.

        Parameters
        ----------
        lam : float
            Lambda in the range of the map, up to the rounding of 1 / lambda.
        gamma : float
            Gamma in the range of the map.

        Raises
        ------
        ValueError
            If the map does not contain them.
        """
        C, gamma = self._cost(lam), _inside(gamma, "gamma", self.gammas)
        return next(
            cell
            for cell in self.cells
            if cell.costs[0] <= C <= cell.costs[1] and cell.gammas[0] <= gamma <= cell.gammas[1]
        )

    def _cost(self, lam: float) -> float:
        """Return C = 1 / lambda in the range of the map; ValueError if it is outside."""
        # 1 / (1 / lambda), an end of a cell, may differ from lambda by a rounding.
        lam = _inside(lam, "lambda", self.lambdas, 4 * UNIT)
        return min(max(1 / lam, 1 / self.lambdas[1]), 1 / self.lambdas[0])

    def at(self, lam: float, gamma: float) -> Solution:
        """Return the point of the map at C = 1 / lambda and gamma, without solving.

        Parameters
        ----------
        lam : float
            Lambda in the range of the map.
        gamma : float
            Gamma in the range of the map.

        Returns
        -------
        Solution
            Its `interval` is a proven interval of the optimum, computed for this point, and
            so at most about as wide as the cell's gap.

        Raises
        ------
        ValueError
            If the map does not contain them.
        """
        cell = self.cell(lam, gamma)
        problem = replace(self.problem.with_cost(self._cost(lam)), kernel=RBF(gamma))
        slices = cost_slices(*cell.costs, self.eps)
        part = next(part for part in slices if part.low <= problem.C <= part.high)
        height = (gamma - cell.gammas[0]) / (cell.gammas[1] - cell.gammas[0])
        point = cell_point(problem, part, height, cell.corners)
        status = Status.OPTIMAL if cell.gap <= self.eps else Status.FINISHED
        reason = f"a cell of the map with a proven gap of {cell.gap:.1e}"
        return Solution(problem, "map", point, status, reason, None, 0.0)

    def record(self) -> dict[str, object]:
        """Return the map for JSON: ranges, gaps and intervals of all cells, None if infinite."""
        return {
            "lambdas": self.lambdas,
            "gammas": self.gammas,
            "eps": self.eps,
            "gap": _finite(self.gap),
            "complete": self.complete,
            "stopped": self.stopped,
            "solves": self.solves,
            "seconds": self.seconds,
            "cells": [
                {
                    "lambdas": cell.lambdas,
                    "gammas": cell.gammas,
                    "gap": _finite(cell.gap),
                    "optimum": tuple(map(_finite, cell.interval)),
                }
                for cell in self.cells
            ],
        }


def certified_map(
    problem: MarginProblem,
    lambdas: Sequence[float],
    gammas: Sequence[float],
    eps: float = 1e-2,
    max_solves: int = 10_000,
    time_limit: float | None = None,
) -> CertifiedMap:
    """Return cells of proven relative gaps up to eps that cover a rectangle.

    Parameters
    ----------
    problem : MarginProblem
        Problem with an RBF kernel and finite weights; its C and gamma are ignored.
    lambdas : sequence of two floats
        Lowest and highest lambda = 1 / C, positive, with a finite C.
    gammas : sequence of two floats
        Lowest and highest gamma, positive.
    eps : float
        Relative gap, from 1e-6 to 0.5.
    max_solves : int
        Maximum number of problems to solve, at least 4.
    time_limit : float or None
        Time limit in seconds.

    Returns
    -------
    CertifiedMap
        Map of the whole rectangle. At a limit some of its cells have larger gaps, or the gap
        inf, which proves nothing, and it is not `complete`.

    Raises
    ------
    ValueError
        If the problem has another kernel, hard rows or implicit pairs, or an argument is out
        of its range.
    """
    lams, gams = _range(lambdas, "lambdas"), _range(gammas, "gammas")
    if 1 / lams[0] == np.inf:
        raise ValueError(f"lambdas[0] must have a finite cost 1 / lambda, not {lams[0]:g}")
    eps = check_number(eps, "eps", "a number from 1e-6 to 0.5", lambda v: 1e-6 <= v <= 0.5)
    refusal = _refusal(problem)
    if refusal:
        family = getattr(problem, "family", None)
        what = format_value(problem) if family is None else f"this {family} problem"
        raise ValueError(f"certified_map does not take {what}: {refusal}")
    if check_count(max_solves, "max_solves") < 4:
        raise ValueError(f"max_solves must be at least 4, the corners, not {max_solves}")
    maker = _MapMaker(problem, eps, max_solves, optional_limit(time_limit, "time_limit"))
    cells = maker.cover((1 / lams[1], 1 / lams[0]), gams)
    return CertifiedMap(
        problem, lams, gams, eps, tuple(cells), len(maker.solved), maker.stopped, maker.seconds
    )


class _MapMaker:
    """Subdivision of a rectangle, with the solved problems and the limits."""

    def __init__(
        self, problem: MarginProblem, eps: float, max_solves: int, time_limit: float | None
    ) -> None:
        self.problem, self.eps = problem, eps
        self.max_solves, self.time_limit = max_solves, time_limit
        self.started = run_seconds()
        self.solved: dict[Range, CellCorner] = {}
        self.strip: GammaStrip | None = None
        self.rough: set[CellCorner] = set()
        self.is_late = False
        self.stopped = "every cell is proven"

    @property
    def seconds(self) -> float:
        """Seconds of wall time since the start."""
        return run_seconds() - self.started

    def cover(self, costs: Range, gammas: Range) -> list[MapCell]:
        """Return the cells of a rectangle."""
        start: CellCorner | None = None
        corners = []
        for gamma in gammas:
            for C in costs:
                start = self._corner(C, gamma, start, start)
                corners.append(start)
        # The cell with the largest gap is next; a number orders equal gaps.
        numbers, done = count(), list[MapCell]()
        whole = self._cell(costs, gammas, tuple(corners))
        queue = [(-whole.gap, next(numbers), whole)]
        while queue:
            cell = heappop(queue)[2]
            if cell.gap <= self.eps or self._is_over() or not self._can_halve(cell):
                done.append(cell)
            else:
                halves = self._halves(cell)
                # Halves whose bounds the time limit ended prove less than the cell.
                if self.is_late:
                    done.append(cell)
                    continue
                for half in halves:
                    heappush(queue, (-half.gap, next(numbers), half))
        return done

    def _is_over(self) -> bool:
        """Return True if a limit is reached, and note which."""
        if len(self.solved) + 2 > self.max_solves:
            self.stopped = "the limit of solves ended the map early"
            return True
        return self._time_is_up()

    def _time_is_up(self) -> bool:
        """Return True if the time limit is reached, and note it."""
        self.is_late = self.time_limit is not None and self.seconds > self.time_limit
        if self.is_late:
            self.stopped = "the time limit ended the map early"
        return self.is_late

    def _corner(
        self, C: float, gamma: float, one: CellCorner | None, other: CellCorner | None
    ) -> CellCorner:
        """Return the corner at C and gamma, solved from the mean of two others."""
        if (C, gamma) not in self.solved:
            problem = replace(self.problem.with_cost(C), kernel=RBF(gamma))
            start = None if one is None or other is None else Point(alpha=C * (one.a + other.a) / 2)
            left = self.time_limit and max(self.time_limit - self.seconds, SHORTEST_LIMIT)
            solution = solve(
                problem, tol=self.eps * SHARE_OF_CORNERS, time_limit=left, warm_start=start
            )
            point = problem.own_point(solution.point)
            alpha = recover_multipliers(problem, point) if point.alpha is None else point.alpha
            corner = CellCorner(
                problem, np.zeros(problem.p) if alpha is None else np.asarray(alpha)
            )
            self.solved[C, gamma] = corner
            if not solution.interval.relative_width <= self.eps:
                self.rough.add(corner)
        return self.solved[C, gamma]

    def _can_halve(self, cell: MapCell) -> bool:
        """Return True if halving a cell may help; otherwise note the reason."""
        wide = any(high / low > LEAST_RATIO for low, high in (cell.costs, cell.gammas))
        if wide and not self.rough.issuperset(cell.corners):
            return True
        self.stopped = "the accuracy of the solutions ended the map early"
        return False

    def _halves(self, cell: MapCell) -> list[MapCell]:
        """Return both halves of a cell, split in the direction with the larger gap."""
        (low, high), (narrow, wide), k = cell.costs, cell.gammas, cell.corners
        can_cost, can_gamma = high / low > LEAST_RATIO, wide / narrow > LEAST_RATIO
        if can_gamma and (cell.bound.along_gamma >= cell.bound.along_cost or not can_cost):
            gamma = _middle(cell.gammas)
            a, b = (self._corner(C, gamma, k[i], k[i + 2]) for i, C in enumerate(cell.costs))
            return [
                self._cell(cell.costs, (gamma, wide), (a, b, k[2], k[3])),
                self._cell(cell.costs, (narrow, gamma), (k[0], k[1], a, b)),
            ]
        C = _middle(cell.costs)
        a, b = (self._corner(C, g, k[2 * i], k[2 * i + 1]) for i, g in enumerate(cell.gammas))
        return [
            self._cell((C, high), cell.gammas, (a, k[1], b, k[3])),
            self._cell((low, C), cell.gammas, (k[0], a, k[2], b)),
        ]

    def _cell(self, costs: Range, gammas: Range, corners: Any) -> MapCell:
        """Return a cell with its bound."""
        if gammas[1] > WIDEST_STRIP * gammas[0]:
            return MapCell(costs, gammas, corners, UNKNOWN)
        # Both halves of a range of costs share the kernels of their range of gamma.
        if self.strip is None or (self.strip.low, self.strip.high) != gammas:
            self.strip = GammaStrip(self.problem, *gammas)
        slices = cost_slices(*costs, self.eps)
        bound = cell_bound(self.strip, slices, corners, self._time_is_up)
        return MapCell(costs, gammas, corners, bound)


def _finite(value: float) -> float | None:
    """Return a number for JSON, which has no infinite ones: None for these."""
    return value if np.isfinite(value) else None


def _middle(ends: Range) -> float:
    """Return the geometric mean of two positive numbers."""
    return float(np.sqrt(ends[0]) * np.sqrt(ends[1]))


def _range(ends: Sequence[float], name: str) -> Range:
    """Return a range of positive numbers; ValueError if it is none."""
    try:
        count = len(ends)
    except TypeError:
        count = -1
    if count != 2:
        shown = format_value(ends) if count < 0 else count
        raise ValueError(f"{name} must be two numbers, lowest and highest, not {shown}")
    low, high = (
        check_number(end, f"{name}[{k}]", "positive and finite", lambda v: 0 < v < np.inf)
        for k, end in enumerate(ends)
    )
    if not low * LEAST_RATIO < high:
        raise ValueError(f"{name} must increase, not from {low:g} to {high:g}")
    return low, high


def _inside(value: float, name: str, ends: Range, slack: float = 0.0) -> float:
    """Return a number of a range; ValueError if it is outside by more than a relative slack."""
    low, high = ends[0] * (1 - slack), ends[1] * (1 + slack)
    return check_number(value, name, f"from {ends[0]:g} to {ends[1]:g}", lambda v: low <= v <= high)


def _refusal(problem: MarginProblem) -> str:
    """Return the reason why a problem has no map, or an empty string."""
    if not isinstance(problem, MarginProblem) or not isinstance(problem.kernel, RBF):
        return "its kernel must be rbf(gamma), of a margin problem"
    if problem.hard.any():
        return "its weights must be finite"
    if problem.rows.many:
        return "its pairs are too many to list; pass fewer points"
    return ""
