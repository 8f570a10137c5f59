"""Newton's method for margin problems with the hinge, whose kink is smoothed around the multipliers found so far.

    min over v = (w, b)   1/2 v'R v + sum_r c_r phi_r(u_r),    c_r phi_r'(u) = min((a_r + sigma_r u)_+, c_r),    u = t - A Z v

At its minimum (`newton.py`) alpha_r = c_r phi_r'(u_r) are feasible multipliers. There
v = Z'A'alpha but for the gradient, and

    gap(v, alpha) = 1/2 |R v - Z'A'alpha|^2  +  sum_r c_r (u_r)_+ - alpha_r u_r

is the sum of the gradient's share and of the smoothing's. At first a are the
multipliers of a warm start, or c_r / 2, which makes phi_r Huber's function. Whenever
the gradient's share has become the smaller one, alpha takes the place of a, and sigma
grows: this is the method of multipliers. The smoothing's share goes to 0 although the
curved piece does not shrink to nothing, and the rows on that piece are nearly the same
at the next minimum. Newton's method on narrower and narrower functions around 0 stalls
instead.

Source: O. Chapelle, Training a support vector machine in the primal, Neural Computation
19 (2007), section 2, for Huber's function; R. T. Rockafellar, Augmented Lagrangians and
applications of the proximal point algorithm in convex programming, Mathematics of
Operations Research 1 (1976).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.labelled import LabelledPairs
from equimargin.formulations.rows.loss import Loss, huberised_hinge
from equimargin.formulations.rows.slacks import RowSlacks
from equimargin.solvers.dual import coordinate_descent
from equimargin.solvers.newton.base import LossAtIterate, NewtonIterate, Unknowns, step
from equimargin.solvers.newton.hessian import MOST_COLUMNS
from equimargin.solvers.newton.start import (
    Subsample,
    on_a_part,
    suits_newton,
    unknowns_for,
    unsuited_bias,
)
from equimargin.solvers.progress import DualConvergenceMonitor, initial_multipliers
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution

CURVED_ROWS_PER_COLUMN = 10
"""Rows on the first curved piece, for every feature: several times as many as can lie
on the margin.
"""
MOST_GROWTH = 8.0
"""The same at most where the multipliers are not listed: the next minimum is then still
near enough for a few steps.
"""
SMOOTHING_LEFT = 0.5
"""Share of the gap asked for that the smoothing is to leave where the multipliers are
not listed.
"""
SWEPT_PAIRS_PER_POINT = 10
"""Pairs of labels a point from which on sums over all pairs are taken by sweeps: the
sweep of a point costs as much as this many pairs.
"""
SWEPT_TOL = 1e-7
"""Smallest relative gap for which that is done: narrower functions around 0 take ever
more steps, and listed multipliers do not.
"""
STIFFEST_START = 1e3
"""Largest sigma_r at the start, times the mean K_ii: where costs are huge, multipliers are not."""
SIGMA_GROWTH = 2.0
"""Factor by which sigma grows from one minimum to the next."""
COLUMNS_PER_SWEEP = 20
"""Features for every sweep of coordinate descent at the start, of one row a point: all
sweeps together cost about as much as a Newton step or two.
"""
FEWEST_START_SWEEPS = 10
"""Sweeps below which coordinate descent is not tried for a start, because fewer lead nowhere."""
NEAR_START_GAP = 0.01
"""Relative gap up to which the point where the sweeps of coordinate descent end is
taken as the start.
"""
SETTLING_GAP = 1e-3
"""Relative gap from which on the rows on the curved piece are solved for with the others held."""
MOST_START_WIDTHS = 10
"""Widths of Huber's function that are tried at a start, each half of the one before."""
HINGE_SUBSAMPLE = Subsample(entries=100_000, points_per_feature=20)
"""The part of the points that is solved first for a hinge.

It takes many steps, so that a part pays earlier than for a squared hinge. With 20 to 60
points a feature classifications take the same time within a tenth; rankings of few
pairs a point take least with 20.
"""


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge",),
    why={"squared_hinge": "has no kink to smooth"},
    no_hard_rows="whose loss has no derivative",
    convex=True,
    also=unsuited_bias,
)


@solver(
    "huber",
    "svm.soft",
    "svm.nobias",
    "svr.l1",
    "rank.l1",
    algorithm="Newton's method on a hinge whose kink is smoothed less and less, in the features of f",
    requires=REQUIREMENTS,
    first=suits_newton,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Take Newton steps, with the smoothing centred anew at every minimum, until the gap is small enough."""
    progress = DualConvergenceMonitor("huber", problem, limits, limits.max_iter or 10_000)
    start = (
        warm_start
        or _by_sweeps(problem, progress)
        or on_a_part(problem, _solve, limits, HINGE_SUBSAMPLE)
        or Point()
    )
    unknowns = unknowns_for(
        problem, by_row=not (problem.rows.many or _by_sweeps_over_pairs(problem, limits.tol))
    )
    at = unknowns.start(start)
    unit = _usual_slack(problem, at)
    seen = unknowns.look(at, _first(unknowns, at, start))
    over = unknowns.show(seen, progress)
    while not over:
        if unknowns.gradient_share(seen, unit) <= seen.smoothing_share():
            if progress.gap <= SETTLING_GAP and unknowns.settle(seen, progress):
                break
            seen = unknowns.look(seen.at, _sharper(problem, seen, progress))
        seen = unknowns.look(step(unknowns, seen, progress), seen.phi)
        over = unknowns.show(seen, progress)
    return progress.solution()


def _by_sweeps(problem: MarginProblem, progress: DualConvergenceMonitor) -> Point | None:
    """The point where sweeps of coordinate descent end that cost as much as a Newton step or two; None if it is not near the optimum."""
    Z = problem.explicit
    sweeps = (
        0 if Z is None else Z.m * min(Z.q, MOST_COLUMNS) // (COLUMNS_PER_SWEEP * max(problem.p, 1))
    )
    if sweeps < FEWEST_START_SWEEPS or coordinate_descent.REQUIREMENTS.refusal(problem):
        return None
    alpha = coordinate_descent.after_sweeps(problem, sweeps, progress)
    progress.show(alpha, 0)
    shown = progress.shown
    return (
        Point(w=shown.w, b=shown.b, alpha=shown.alpha) if progress.gap <= NEAR_START_GAP else None
    )


def _by_sweeps_over_pairs(problem: MarginProblem, tol: float) -> bool:
    """Whether pairs of labels are better swept than listed: there are many of them a point, and the gap that is asked for is wide."""
    rows = problem.rows
    counted = isinstance(rows, LabelledPairs) and problem.explicit is not None and tol >= SWEPT_TOL
    return counted and problem.p >= SWEPT_PAIRS_PER_POINT * problem.m


def _usual_slack(problem: MarginProblem, at: NewtonIterate) -> float:
    """The mean |u_r| at the start, by which multipliers count that a free bias finds unbalanced; 0 without a bias."""
    slacks = at.slacks.listed()
    return float(np.abs(slacks.u).mean()) if problem.bias and slacks is not None else 0.0


def _first(unknowns: Unknowns, at: NewtonIterate, start: Point) -> Loss:
    """The first loss: Huber's function, or one of the same slope that is centred at the multipliers of the start."""
    problem, slacks = unknowns.problem, at.slacks.listed()
    if slacks is None:
        return _of_least_gap(unknowns, at)
    phi = _of_width(slacks, len(at.v), unknowns.mean_square)
    return (
        phi
        if start.alpha is None
        else _centred(
            problem.repaired(initial_multipliers(start, problem)), problem.costs, phi.slope
        )
    )


def _of_width(slacks: RowSlacks, columns: int, mean_square: float) -> Loss:
    """Huber's function on as many rows as are wanted on its curved piece, or a flatter one where the costs would make it too stiff."""
    sizes = np.abs(slacks.u[slacks.c > 0])
    if not len(sizes):
        return huberised_hinge(1.0)
    wanted = CURVED_ROWS_PER_COLUMN * columns
    last = min(wanted, len(sizes) - 1)
    width = (float(np.partition(sizes, last)[last]) or float(sizes.mean()) or 1.0) * max(
        1.0, wanted / len(sizes)
    )
    stiffness = float(slacks.c.max()) * mean_square
    slope = 1 / (2 * width)
    return replace(
        huberised_hinge(width),
        slope=min(slope, STIFFEST_START / stiffness) if stiffness > 0 else slope,
    )


def _of_least_gap(unknowns: Unknowns, at: NewtonIterate) -> Loss:
    """Huber's function of the width that makes the gap at the start least, found by halving."""
    phi, least = huberised_hinge(1.0), np.inf
    for k in range(MOST_START_WIDTHS):
        seen = unknowns.look(at, huberised_hinge(SIGMA_GROWTH**-k))
        gap = unknowns.gradient_share(seen, 0.0) + seen.smoothing_share()
        if gap >= least:
            break
        phi, least = seen.phi, gap
    return phi


def _sharper(problem: MarginProblem, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Loss:
    """The next loss: centred at the multipliers found, or narrower around 0 where these are not listed.

    What the smoothing adds to the gap falls with the square of the width, so that one
    knows which width would leave little enough.
    """
    if seen.at.slacks.listed() is not None:
        return _centred(seen.rows.alpha, problem.costs, SIGMA_GROWTH * seen.phi.slope)
    wanted = SMOOTHING_LEFT * progress.limits.tol * progress.primal
    growth = float(np.sqrt(seen.smoothing_share() / wanted)) if wanted > 0 else MOST_GROWTH
    return huberised_hinge(1 / (2 * min(max(growth, SIGMA_GROWTH), MOST_GROWTH) * seen.phi.slope))


def _centred(alpha: Array, c: Array, slope: float) -> Loss:
    """The smooth hinge whose derivative at u_r = 0 is alpha_r / c_r."""
    width = np.zeros_like(alpha)
    np.divide(alpha, slope * c, out=width, where=c > 0)
    return Loss("huberised_hinge", slope, width, 1.0)
