"""Newton's method for the hinge, smoothed around the current multipliers.

    min over v = (w, b)   1/2 v'R v + sum_r c_r phi_r(u_r),    u = t - A Z v,
    c_r phi_r'(u) = min((a_r + sigma_r u)_+, c_r)

with R of `in_features.py`. At its minimum, found by Newton steps, the alpha_r = c_r
phi_r'(u_r) are feasible multipliers. There R v = Z'A'alpha, up to the gradient, and

    gap(v, alpha) = 1/2 |R v - Z'A'alpha|^2  +  sum_r c_r (u_r)_+ - alpha_r u_r

is the sum of the gradient's part and of the smoothing's. Initially a are the
multipliers of a warm start, or c_r / 2, which makes phi_r Huber's function. When the
gradient's part becomes the smaller one, alpha replaces a, and sigma increases: this is
the method of multipliers. The smoothing's part converges to 0 although the curved piece
does not shrink to nothing, and the rows on that piece are nearly the same at the next
minimum. Newton's method on ever narrower functions around 0 stalls instead.

References
----------
O. Chapelle. Training a support vector machine in the primal. Neural Computation 19
(2007), section 2, for Huber's function.

R. T. Rockafellar. Augmented Lagrangians and applications of the proximal point
algorithm in convex programming. Mathematics of Operations Research 1 (1976).
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
from equimargin.solvers.products.few_points import through_gram
from equimargin.solvers.progress import DualConvergenceMonitor, initial_multipliers
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution

CURVED_ROWS_PER_COLUMN = 10
"""Number of rows per feature on the first curved piece.

Several times as many as can lie on the margin.
"""
MOST_GROWTH = 8.0
"""Maximum growth of sigma between two minima if the multipliers are implicit.

The next minimum is then still close enough for a few steps.
"""
SMOOTHING_LEFT = 0.5
"""Share of the requested gap left to the smoothing if the multipliers are implicit."""
SWEPT_PAIRS_PER_POINT = 10
"""Pairs of labels per point from which sums over all pairs are taken by sweeps.

The sweep of a point costs as much as this many pairs.
"""
SWEPT_TOL = 1e-7
"""Minimum requested gap at which sums over all pairs are taken by sweeps.

Sweeps allow only narrower functions around 0, which take ever more steps; with listed
multipliers the loss is centred at them instead.
"""
STIFFEST_START = 1e3
"""Maximum initial sigma_r times the mean K_ii.

Huge costs do not imply huge multipliers."""
SIGMA_GROWTH = 2.0
"""Factor by which sigma grows from one minimum to the next."""
COLUMNS_PER_SWEEP = 20
"""Number of features per initial sweep of coordinate descent, for one row per point.

All sweeps in total cost about as much as one or two Newton steps.
"""
FEWEST_START_SWEEPS = 10
"""Minimum number of sweeps for an initial coordinate descent; fewer have no effect."""
NEAR_START_GAP = 0.01
"""Maximum relative gap of coordinate descent's result that is used as the start."""
SETTLING_GAP = 1e-3
"""Relative gap from which the rows on the curved piece are solved for, others fixed."""
MOST_START_WIDTHS = 10
"""Maximum number of initial widths of Huber's function, each half of the previous one."""
HINGE_SUBSAMPLE = Subsample(entries=100_000, points_per_feature=20)
"""Subsample of the points that is solved first for a hinge.

The hinge takes many steps, so that a subsample pays earlier than for a squared hinge.
With 20 to 60 points per feature classifications take the same time within a tenth;
rankings of few pairs per point take the least time with 20.
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
    algorithm="Newton's method on a hinge whose kink is smoothed less and less, in the features "
    "of f",
    requires=REQUIREMENTS,
    first=suits_newton,
)
@through_gram
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Take Newton steps, and centre the smoothing anew at every minimum."""
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
    stops = unknowns.show(seen, progress)
    while not stops:
        if unknowns.gradient_share(seen, unit) <= seen.smoothing_share():
            if progress.gap <= SETTLING_GAP and unknowns.settle(seen, progress):
                break
            seen = unknowns.look(seen.at, _sharper(problem, seen, progress), seen)
        seen = unknowns.look(step(unknowns, seen, progress), seen.phi, seen)
        stops = unknowns.show(seen, progress)
    return progress.solution()


def _by_sweeps(problem: MarginProblem, progress: DualConvergenceMonitor) -> Point | None:
    """Return the result of initial sweeps of coordinate descent, or None.

    They cost as much as one or two Newton steps. None if the result is not close to the
    optimum.
    """
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
    """Return True if pairs of labels are better swept than listed.

    They are if pairs per point are many and the requested gap is wide.
    """
    rows = problem.rows
    counted = isinstance(rows, LabelledPairs) and problem.explicit is not None and tol >= SWEPT_TOL
    return counted and problem.p >= SWEPT_PAIRS_PER_POINT * problem.m


def _usual_slack(problem: MarginProblem, at: NewtonIterate) -> float:
    """Return the mean initial |u_r|; 0 without a bias.

    It weights the sum-to-zero violation of multipliers with a free bias.
    """
    slacks = at.slacks.listed()
    return float(np.abs(slacks.u).mean()) if problem.bias and slacks is not None else 0.0


def _first(unknowns: Unknowns, at: NewtonIterate, start: Point) -> Loss:
    """Return the first loss: Huber's function, or a centred loss of its slope.

    The centre is the multipliers of the start.
    """
    problem, slacks = unknowns.problem, at.slacks.listed()
    if slacks is None:
        return _of_least_gap(unknowns, at)
    phi = _of_width(slacks, len(at.v), problem.mean_diagonal)
    return (
        phi
        if start.alpha is None
        else _centred(
            problem.repaired(initial_multipliers(start, problem)), problem.costs, phi.slope
        )
    )


def _of_width(slacks: RowSlacks, columns: int, mean_diagonal: float) -> Loss:
    """Return Huber's function with the wanted number of rows on its curved piece.

    It is flatter if the costs would make it too stiff.
    """
    sizes = np.abs(slacks.u[slacks.c > 0])
    if not len(sizes):
        return huberised_hinge(1.0)
    wanted = CURVED_ROWS_PER_COLUMN * columns
    last = min(wanted, len(sizes) - 1)
    width = (float(np.partition(sizes, last)[last]) or float(sizes.mean()) or 1.0) * max(
        1.0, wanted / len(sizes)
    )
    stiffness = float(slacks.c.max()) * mean_diagonal
    slope = 1 / (2 * width)
    return replace(
        huberised_hinge(width),
        slope=min(slope, STIFFEST_START / stiffness) if stiffness > 0 else slope,
    )


def _of_least_gap(unknowns: Unknowns, at: NewtonIterate) -> Loss:
    """Return Huber's function of the width with the least initial gap, by halving."""
    phi, least = huberised_hinge(1.0), np.inf
    for k in range(MOST_START_WIDTHS):
        seen = unknowns.look(at, huberised_hinge(SIGMA_GROWTH**-k))
        gap = unknowns.gradient_share(seen, 0.0) + seen.smoothing_share()
        if gap >= least:
            break
        phi, least = seen.phi, gap
    return phi


def _sharper(problem: MarginProblem, seen: LossAtIterate, progress: DualConvergenceMonitor) -> Loss:
    """Return the next loss: centred at new multipliers, or narrower if implicit.

    The smoothing's part of the gap decreases with the square of the width, which
    determines the wanted width.
    """
    if seen.at.slacks.listed() is not None:
        return _centred(seen.rows.alpha, problem.costs, SIGMA_GROWTH * seen.phi.slope)
    wanted = SMOOTHING_LEFT * progress.limits.tol * progress.primal
    growth = float(np.sqrt(seen.smoothing_share() / wanted)) if wanted > 0 else MOST_GROWTH
    return huberised_hinge(1 / (2 * min(max(growth, SIGMA_GROWTH), MOST_GROWTH) * seen.phi.slope))


def _centred(alpha: Array, c: Array, slope: float) -> Loss:
    """Return the smooth hinge whose derivative at u_r = 0 is alpha_r / c_r."""
    width = np.zeros_like(alpha)
    np.divide(alpha, slope * c, out=width, where=c > 0)
    return Loss("huberised_hinge", slope, width, 1.0)
