"""Newton's method on a smooth loss of the rows, whatever the unknowns of f are: a direction, the minimum along it, the gap.

    min over v   1/2 |f|^2 + sum_r c_r phi(u_r),    u = t - A g,    g = f + b

The objective is piecewise quadratic along any line, so that its minimum there is the root of an increasing, piecewise linear derivative.
How f is held, what a direction costs and what the gap is made of is a matter of the unknowns: features (`in_features.py`) or
coefficients of the kernel (`in_kernel.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.losses import Smooth
from equimargin.formulations.rows.slacks import Line, Slacks
from equimargin.solvers.progress import Progress

NOISE = 1e-12
"""A step that lowers the objective by less, over itself, is not worth taking."""
SEARCH = 100
"""Looks at the objective along a direction, at most."""


@dataclass(frozen=True, eq=False)
class Move:
    """A direction of the unknowns and what the objective does along it.

    s : of the unknowns.  h : (m,) of the decision values.  vs, ss : products of f and of the direction with it, in the norm of f.
    first : the derivative of the objective.
    """

    s: Array
    h: Array
    vs: float
    ss: float
    first: float


class Descent(ABC):
    """Unknowns v on their way down, and what follows from them.

    slacks : of the rows there.  steps : so far.  moved : whether the last one was worth taking.
    loss, conjugate : sums over the rows.  alpha : multipliers.  D : curvatures over phi's slope, all of the loss last looked at.

    Parameters
    ----------
    problem : any margin problem.  start : a point to start from.  by_row : whether pairs of labels are looked at one by one.
    """

    v: Array
    slacks: Slacks
    loss: float
    conjugate: float
    alpha: Any
    D: Any

    def __init__(self, problem: MarginProblem, start: Point | None, by_row: bool) -> None:
        self.problem, self.rows, self.by_row = problem, problem.rows, by_row
        self.steps, self.moved = 0, True
        self.start(start or Point())

    @abstractmethod
    def start(self, point: Point) -> None:
        """v and the slacks of a point: f = A'alpha where it has no function, and the best b where it has none."""

    @abstractmethod
    def look(self, phi: Smooth) -> None:
        """The sums, alpha and D of a loss, and the gradient."""

    @abstractmethod
    def show(self, progress: Progress, phi: Smooth) -> bool:
        """Judge v with the multipliers of a loss; true if the run is over."""

    @abstractmethod
    def move(self, slope: float, progress: Progress) -> Move:
        """Newton's direction for the loss last looked at, or nearly."""

    @abstractmethod
    def gradient_share(self, unit: float) -> float:
        """What the gradient adds to the gap: half its square, and for a free bias multipliers not balanced, at a slack of `unit`."""

    @abstractmethod
    def half_norm2(self) -> float:
        """1/2 |f|^2."""

    @property
    @abstractmethod
    def mean_square(self) -> float:
        """K_ii of a point, on average."""

    def slacks_at(self, g: Array) -> Slacks:
        """The rows at decision values g (m,)."""
        return (self.rows.slacks_by_row if self.by_row else self.rows.slacks)(g, self.problem.group_costs)

    def expand(self, phi: Smooth) -> None:
        """What the rows make of a loss."""
        seen = self.slacks.expanded(phi)
        self.loss, self.conjugate, self.alpha, self.D = seen.loss, seen.conjugate, seen.alpha, seen.D

    def smoothing_share(self) -> float:
        """What a smoothed hinge adds to the gap: sum_r c_r (u_r)_+ - alpha_r u_r."""
        return self.slacks.hinge() - self.loss - self.conjugate

    def step(self, phi: Smooth, progress: Progress) -> None:
        """One Newton step for the loss last looked at, to the minimum along its direction."""
        move = self.move(phi.slope, progress)
        if progress.out_of_time:
            return
        line = self.slacks.along(move.h)
        t = self._least(phi, move, line, progress)
        self.moved = -t * move.first > NOISE * (self.loss + self.half_norm2())
        self.v = self.v + t * move.s
        self.slacks = line.to(t)
        self.steps += 1

    def _least(self, phi: Smooth, move: Move, line: Line, progress: Progress) -> float:
        """The minimum of the objective along a direction: the root of its derivative, which is piecewise linear and increasing.

        Newton's method in a bracket, or the secant, or the middle of the bracket where the one before would leave it or is slow.
        """
        low, below, high, above = 0.0, move.first, np.inf, np.inf
        t = 1.0
        for look in range(SEARCH):
            d1 = move.vs + t * move.ss + line.slope(phi, t)
            if abs(d1) <= (0.1 if look == 0 else 1e-3) * abs(move.first):
                return t
            if progress.out_of_time:
                break
            d2 = move.ss + line.curvature(phi, t)
            if d1 < 0:
                low, below = t, d1
            else:
                high, above = t, d1
            t = t - d1 / d2 if d2 > 0 else np.inf
            if not low < t < high:
                t = 2 * low if high == np.inf else (low + high) / 2 if look % 3 == 2 else low - below * (high - low) / (above - below)
        return low
