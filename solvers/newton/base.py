"""Newton's method on a smooth loss of the rows, whatever the unknowns of f are.

    min over v   1/2 |f|^2 + sum_r c_r phi(u_r),    u = t - A g,    g = f + b

A run goes from a `NewtonIterate`, unknowns with the slacks there, to a `LossAtIterate`,
what a loss makes of it: values, multipliers, the gradient; and from there by a `step`
to the next iterate. Both are immutable. What depends on the unknowns is asked of
`Unknowns`: features of f (`in_features.py`) or coefficients of the kernel
(`in_kernel.py`).

The objective is piecewise quadratic along any line. Its minimum there is therefore the
root of an increasing, piecewise linear derivative.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.loss import Loss
from equimargin.formulations.rows.slacks import Expansion, Line, Slacks
from equimargin.solvers.progress import DualConvergenceMonitor

WORTHWHILE_FALL = 1e-12
"""Relative fall of the objective below which a step is no progress: rounding may be as large."""
LINE_SEARCH_LOOKS = 100
"""Evaluations of the derivative in one line search; fewer than ten are usual."""
FULL_STEP_SLOPE = 0.1
"""Share of the first derivative that may be left at the full Newton step, which is then taken without a search."""
SLOPE_LEFT = 1e-3
"""Share of the first derivative that may be left where a line search ends."""
MOST_PRODUCTS = 500
"""Products with the Hessian after which conjugate gradients end in any case."""
RESIDUAL_SHARE = 0.1
"""Share of the gradient's norm at which conjugate gradients end; the share shrinks as the gradient does, so that steps get more exact."""


@dataclass(frozen=True, eq=False)
class NewtonIterate:
    """Where a run is.

    Parameters
    ----------
    v : ndarray of shape (n,)
        unknowns.
    image : ndarray of shape (n,)
        The vector with v'image = |f|^2: R v in features, K v in coefficients.
    slacks : Slacks
        Of the rows there.
    steps : int
        Taken so far.
    moved : bool
        Whether the last of them was worth taking.
    """

    v: Array
    image: Array
    slacks: Slacks
    steps: int = 0
    moved: bool = True

    @property
    def half_norm2(self) -> float:
        """1/2 |f|^2."""
        return float(self.image @ self.v) / 2


@dataclass(frozen=True, eq=False)
class LossAtIterate:
    """What a loss makes of an iterate.

    Parameters
    ----------
    at : NewtonIterate
        The iterate.
    phi : Loss
        The loss.
    rows : Expansion
        Its sum over the rows, its conjugate's, its multipliers and curvatures.
    pull : ndarray of shape (n,)
        The unknowns of the multipliers' f = A'alpha.
    G : ndarray of shape (n,)
        The gradient, for coefficients in the inner product of K.
    image : ndarray of shape (n,)
        The vector with G'image = |G|^2 in the norm of f: G itself in features, K G in
        coefficients.
    """

    at: NewtonIterate
    phi: Loss
    rows: Expansion
    pull: Array
    G: Array
    image: Array

    def smoothing_share(self) -> float:
        """What a smoothed hinge adds to the gap: sum_r c_r (u_r)_+ - alpha_r u_r."""
        return self.at.slacks.hinge() - self.rows.loss - self.rows.conjugate


@dataclass(frozen=True, eq=False)
class Move:
    """A direction of the unknowns, and what the objective does along it.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Of the unknowns.
    h : ndarray of shape (m,)
        Of the decision values.
    vs, ss : float
        Products of f and of the direction with the direction, in the norm of f.
    first : float
        The derivative of the objective at the start.
    """

    s: Array
    h: Array
    vs: float
    ss: float
    first: float


@dataclass(frozen=True, eq=False)
class Unknowns(ABC):
    """What f is made of.

    Parameters
    ----------
    problem : MarginProblem
        Any margin problem.
    by_row : bool
        Whether pairs of labels are looked at one by one.
    """

    problem: MarginProblem
    by_row: bool

    @abstractmethod
    def start(self, point: Point) -> NewtonIterate:
        """The iterate of a point: its function, or that of its multipliers, or 0; and its b, or the best one."""

    @abstractmethod
    def look(self, at: NewtonIterate, phi: Loss) -> LossAtIterate:
        """What a loss makes of an iterate."""

    @abstractmethod
    def show(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        """Judge an iterate and the multipliers of a loss there; true if the run is over."""

    @abstractmethod
    def move(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Move:
        """Newton's direction, or nearly."""

    @abstractmethod
    def arrive(self, v: Array, line: Line, t: float) -> tuple[Array, Slacks]:
        """The image of v and the slacks there; v lies at t on a line of slacks."""

    @abstractmethod
    def gradient_share(self, seen: LossAtIterate, unit: float) -> float:
        """What the gradient adds to the gap: half its square, and multipliers that are not balanced for a free bias, times `unit`."""

    @property
    @abstractmethod
    def mean_square(self) -> float:
        """The mean of K_ii over the points."""

    def settle(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        """Solve for the rows on the curved piece of a loss, the others held, where there is a way; true if that ends the run."""
        return False

    def slacks_at(self, g: Array) -> Slacks:
        """The slacks at decision values g (m,)."""
        rows = self.problem.rows
        return (rows.slacks_by_row if self.by_row else rows.slacks)(g, self.problem.group_costs)

    def sums(self, seen: LossAtIterate) -> tuple[float, float]:
        """The sum of the problem's own loss over the rows, and of its conjugate at the multipliers."""
        if self.problem.loss == "hinge":
            return seen.at.slacks.hinge(), 0.0
        return seen.rows.loss, seen.rows.conjugate


def step(
    unknowns: Unknowns, seen: LossAtIterate, progress: DualConvergenceMonitor
) -> NewtonIterate:
    """One Newton step, to the minimum along its direction; none when time is out."""
    at, move = seen.at, unknowns.move(seen, progress)
    if progress.out_of_time:
        return at
    line = at.slacks.along(move.h)
    t = _least(seen.phi, move, line, progress)
    moved = -t * move.first > WORTHWHILE_FALL * (seen.rows.loss + at.half_norm2)
    v = at.v + t * move.s
    return NewtonIterate(v, *unknowns.arrive(v, line, t), at.steps + 1, moved)


class Exactness:
    """How exactly conjugate gradients solve Newton's systems of a run: the more so, the more the gradient has fallen.

    first : squared norm of the run's first gradient, 0 before there is one.
    """

    def __init__(self) -> None:
        self.first = 0.0

    def residual(self, square: float, progress: DualConvergenceMonitor) -> float:
        """The square of the residual that is near enough to 0, for a gradient of that squared norm."""
        self.first = self.first or square
        fallen = float(np.sqrt(max(square, 0.0) / self.first)) if self.first > 0 else 0.0
        last = (
            0.5 * progress.limits.tol * abs(progress.primal)
        )  # half of the residual's square is what it adds to the gap
        return max(last, min(RESIDUAL_SHARE**2, fallen) * square)


def _least(phi: Loss, move: Move, line: Line, progress: DualConvergenceMonitor) -> float:
    """The minimum of the objective along a direction: the root of its derivative, which is piecewise linear and increasing.

    It is found by Newton's method in a bracket. A step that would leave the bracket is replaced by the secant's, and every third time by
    one to the middle of the bracket. As long as the bracket has no upper end, t doubles instead.
    """
    low, below, high, above = 0.0, move.first, np.inf, np.inf
    t = 1.0
    for look in range(LINE_SEARCH_LOOKS):
        d1 = move.vs + t * move.ss + line.slope(phi, t)
        if abs(d1) <= (FULL_STEP_SLOPE if look == 0 else SLOPE_LEFT) * abs(move.first):
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
            t = (
                2 * low
                if high == np.inf
                else (low + high) / 2
                if look % 3 == 2
                else low - below * (high - low) / (above - below)
            )
    return low
