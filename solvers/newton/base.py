"""Newton's method on a smooth loss of the rows, for any choice of variables of f.

    min over v   1/2 |f|^2 + sum_r c_r phi(u_r),    u = t - A g,    g = f + b

A run alternates two immutable states: a `NewtonIterate` (variables and slacks) and a
`LossAtIterate` (values, multipliers and gradient of a loss there). `step` computes the
next iterate. `Unknowns` has the part that depends on the variables: features of f
(`in_features.py`) or coefficients of the kernel (`in_kernel.py`).

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
"""Minimum relative decrease of the objective that counts as progress, not rounding."""
LINE_SEARCH_LOOKS = 100
"""Maximum number of derivatives in one line search; fewer than ten are usual."""
FULL_STEP_SLOPE = 0.1
"""Share of the initial derivative that may be left by a full Newton step.

If less is left, the step needs no line search.
"""
SLOPE_LEFT = 1e-3
"""Share of the initial derivative at which a line search ends."""
MOST_PRODUCTS = 500
"""Maximum number of Hessian products of conjugate gradients."""
RESIDUAL_SHARE = 0.1
"""Maximum residual of conjugate gradients, relative to the gradient's norm.

It decreases with the gradient, so that steps become more exact.
"""


@dataclass(frozen=True, eq=False)
class NewtonIterate:
    """Variables of a run and the slacks there.

    Parameters
    ----------
    v : ndarray of shape (n,)
        Variables.
    image : ndarray of shape (n,)
        Vector with v'image = |f|^2: R v in features, K v in coefficients.
    slacks : Slacks
        Slacks of the rows at v.
    steps : int
        Number of steps so far.
    moved : bool
        True if the last step made progress.
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
    """Value, multipliers and gradient of a loss at an iterate.

    Parameters
    ----------
    at : NewtonIterate
        Iterate.
    phi : Loss
        Loss.
    rows : Expansion
        Sums of the loss and its conjugate over the rows, multipliers and curvatures.
    pull : ndarray of shape (n,)
        Variables v of the function A'alpha of the multipliers.
    G : ndarray of shape (n,)
        Gradient; for coefficients in the inner product of K.
    image : ndarray of shape (n,)
        Vector with G'image = |G|^2 in the norm of f: G itself in features, K G in
        coefficients.
    """

    at: NewtonIterate
    phi: Loss
    rows: Expansion
    pull: Array
    G: Array
    image: Array

    def smoothing_share(self) -> float:
        """Return the smoothing's part of the gap: sum_r c_r (u_r)_+ - alpha_r u_r."""
        return self.at.slacks.hinge() - self.rows.loss - self.rows.conjugate


@dataclass(frozen=True, eq=False)
class Move:
    """Direction of the variables, and the quadratic part of the objective along it.

    Parameters
    ----------
    s : ndarray of shape (n,)
        Direction of the variables.
    h : ndarray of shape (m,)
        Direction of the decision values.
    vs : float
        Inner product of f and the direction, in the norm of f.
    ss : float
        Square of the direction's norm, in the norm of f.
    first : float
        Initial derivative of the objective.
    """

    s: Array
    h: Array
    vs: float
    ss: float
    first: float


@dataclass(frozen=True, eq=False)
class Unknowns(ABC):
    """Variables of f: features or coefficients.

    Parameters
    ----------
    problem : MarginProblem
        Problem to solve.
    by_row : bool
        True to evaluate pairs of labels one by one.
    """

    problem: MarginProblem
    by_row: bool

    @abstractmethod
    def start(self, point: Point) -> NewtonIterate:
        """Return the iterate of a point.

        f is the point's own function, or that of its multipliers, or 0; b is the
        point's own, or optimal for f.

        Parameters
        ----------
        point : Point
            Initial point.
        """

    @abstractmethod
    def look(
        self, at: NewtonIterate, phi: Loss, last: LossAtIterate | None = None
    ) -> LossAtIterate:
        """Evaluate a loss at an iterate.

        Parameters
        ----------
        at : NewtonIterate
            Iterate.
        phi : Loss
            Loss.
        last : LossAtIterate or None
            Evaluation before, whose products may be updated.
        """

    @abstractmethod
    def show(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        """Pass an iterate to the monitor with multipliers; True if the run is over.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate.
        progress : DualConvergenceMonitor
            Convergence monitor.
        """

    @abstractmethod
    def move(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Move:
        """Return an exact or approximate Newton direction.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate.
        progress : DualConvergenceMonitor
            Convergence monitor.
        """

    @abstractmethod
    def arrive(self, v: Array, line: Line, t: float) -> tuple[Array, Slacks]:
        """Return the image of v and the slacks at v.

        Parameters
        ----------
        v : ndarray of shape (n,)
            Variables.
        line : Line
            Line of slacks.
        t : float
            Position of v on the line.
        """

    @abstractmethod
    def gradient_share(self, seen: LossAtIterate, unit: float) -> float:
        """Return the gradient's part of the gap.

        It is half the squared norm of the gradient, plus the sum-to-zero violation of
        the multipliers times `unit` for a free bias.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate.
        unit : float
            Slack per unit of violation.
        """

    def settle(self, seen: LossAtIterate, progress: DualConvergenceMonitor) -> bool:
        """Solve for rows on the loss's curved piece, others fixed; True if the run ends.

        Without effect unless a subclass implements it.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate.
        progress : DualConvergenceMonitor
            Convergence monitor.
        """
        return False

    def slacks_at(self, g: Array) -> Slacks:
        """Return the slacks at decision values.

        Parameters
        ----------
        g : ndarray of shape (m,)
            Decision values.
        """
        rows = self.problem.rows
        return (rows.slacks_by_row if self.by_row else rows.slacks)(g, self.problem.group_costs)

    def sums(self, seen: LossAtIterate) -> tuple[float, float]:
        """Return the sums of the problem's own loss and of its conjugate over the rows.

        Parameters
        ----------
        seen : LossAtIterate
            Loss at the iterate, with the multipliers.
        """
        if self.problem.loss == "hinge":
            return seen.at.slacks.hinge(), 0.0
        return seen.rows.loss, seen.rows.conjugate


def step(
    unknowns: Unknowns, seen: LossAtIterate, progress: DualConvergenceMonitor
) -> NewtonIterate:
    """Take one Newton step, to the minimum along its direction.

    Parameters
    ----------
    unknowns : Unknowns
        Variables.
    seen : LossAtIterate
        Loss at the iterate.
    progress : DualConvergenceMonitor
        Convergence monitor.

    Returns
    -------
    NewtonIterate
        Next iterate; the present one if time is out.
    """
    at, move = seen.at, unknowns.move(seen, progress)
    if progress.out_of_time:
        return at
    line = at.slacks.along(move.h)
    t = _least(seen.phi, move, line, progress)
    moved = -t * move.first > WORTHWHILE_FALL * (seen.rows.loss + at.half_norm2)
    v = at.v + t * move.s
    return NewtonIterate(v, *unknowns.arrive(v, line, t), at.steps + 1, moved)


class Exactness:
    """Tolerance of conjugate gradients, which decreases with the gradient of a run.

    Attributes
    ----------
    first : float
        Squared norm of the run's first gradient; 0 before there is one.
    """

    def __init__(self) -> None:
        self.first = 0.0

    def residual(self, square: float, progress: DualConvergenceMonitor) -> float:
        """Return the squared residual at which conjugate gradients may stop.

        Parameters
        ----------
        square : float
            Squared norm of the gradient.
        progress : DualConvergenceMonitor
            Convergence monitor, for tolerance and primal value.
        """
        self.first = self.first or square
        fallen = float(np.sqrt(max(square, 0.0) / self.first)) if self.first > 0 else 0.0
        # A residual r adds |r|^2 / 2 to the gap.
        last = 0.5 * progress.limits.tol * abs(progress.primal)
        return max(last, min(RESIDUAL_SHARE**2, fallen) * square)


def _least(phi: Loss, move: Move, line: Line, progress: DualConvergenceMonitor) -> float:
    """Return the minimiser along a direction, the root of the derivative.

    The derivative is piecewise linear and increasing.

    Newton's method in a bracket. A step out of the bracket is replaced by the secant
    step; every third time, and if the derivative does not increase, by bisection. While
    the bracket has no upper end, t doubles.
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
            # Along an ascent, which rounding can cause, `below` may equal `above`.
            t = (
                2 * low
                if high == np.inf
                else (low + high) / 2
                if look % 3 == 2 or not below < above
                else low - below * (high - low) / (above - below)
            )
    return low
