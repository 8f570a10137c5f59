"""Solver for one C: the end of a regularisation path from lambda = infinity to 1 / C.

    C alpha(lambda), with alpha in [0, weight] from the last breakpoint, are multipliers
    of the problem at C

alpha is known at lambda = infinity. The multipliers are optimal if the path reaches 1 /
C, and feasible if it ends before. The path passes the solutions of all smaller C on its
way. No other solver works like this, so that it is a reference for the other solvers.

Source: document P, section 5; Hastie, Rosset, Tibshirani, Zhu (2004); Gunter, Zhu
(2007).
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.problem.refusal import Refusal
from equimargin.solvers.path import follow as path
from equimargin.solvers.path.quadratic import steps
from equimargin.solvers.path.result import SMALLEST_LAMBDA, RegularizationPath
from equimargin.solvers.progress import DualConvergenceMonitor
from equimargin.solvers.registry import solver
from equimargin.solvers.requirements import Requirements
from equimargin.solvers.solution import Limits, Solution, Status

LONGEST_PATH = 2_000_000_000
"""Maximum estimate of the numbers read along a path, which take about fifteen seconds.

The estimate is p breakpoints that read m^2 + p numbers each.
"""


def _no_path_to_C(problem: MarginProblem) -> Refusal | None:
    """Return the refusal of a problem whose lambda = 1 / C is on no path, or None.

    It is refused, too, if its path is too long for a comparison with other solvers.
    """
    if np.isinf(problem.C):
        return Refusal("lambda = 1 / C is 0 for a hard margin")
    if not SMALLEST_LAMBDA <= 1 / problem.C < np.inf:
        return Refusal(
            f"lambda = 1 / C = {1 / problem.C:g} is on no path: a path begins at the "
            f"largest float64 and ends at {SMALLEST_LAMBDA:g}"
        )
    refusal = path.refusal(problem)
    if refusal is None and problem.p * (problem.m**2 + problem.p) > LONGEST_PATH:
        size = f"{problem.m:,} points and {problem.p:,} rows"
        return Refusal(
            f"too large for a comparison of solvers: {size}",
            instead="regularization_path follows them",
            too_large=True,
        )
    return refusal


REQUIREMENTS = Requirements(
    MarginProblem,
    losses=("hinge",),
    why={"squared_hinge": "has no piecewise linear path: paths exist for the hinge loss only"},
    also=_no_path_to_C,
)


@solver(
    "homotopy",
    "svm.soft",
    "svr.l1",
    "rank.l1",
    algorithm="the whole regularisation path from lambda = infinity down to 1 / C, for the hinge",
    requires=REQUIREMENTS,
    reference=True,
    kernel=steps.walk,
)
def _solve(problem: MarginProblem, limits: Limits, warm_start: Point | None) -> Solution:
    """Follow the path down to 1 / C; the initial alpha is known, a warm start unused."""
    progress = DualConvergenceMonitor("homotopy", problem, limits, limits.max_iter or sys.maxsize)
    asked = False

    def listen(breakpoints: int, lam: float, gap: float) -> bool:
        nonlocal asked
        # Along the path the only known point at C is f = 0, of value P(0).
        asked = limits.callback is not None and bool(
            limits.callback(breakpoints, 0.0, problem.scale, problem.origin)
        )
        return asked

    heard = None if limits.callback is None else listen
    followed = path.regularization_path(
        problem, 1 / problem.C, limits.max_iter, limits.time_limit, heard
    )
    if asked:
        # The callback ended the path, and is the reason whatever limit has passed since.
        progress.limits = replace(limits, callback=None, time_limit=None)
        progress.max_iter = sys.maxsize
    if not progress.show(multipliers(followed, problem), len(followed)):
        status = Status.CALLBACK if asked else Status.NUMERICAL_FAILURE
        reached = f"relative gap {progress.gap:.2e} at C after {len(followed):,} breakpoints"
        progress.end(status, f"{followed.stopped}: {reached}, {limits.tol:.2g} was requested")
    return progress.solution()


def multipliers(followed: RegularizationPath, problem: MarginProblem) -> Array:
    """Return feasible multipliers at C, shape (p,).

    These are the path's at 1 / C. If the path ends before, they are C times those of
    its last breakpoint, or zeros.

    Parameters
    ----------
    followed : RegularizationPath
        Path.
    problem : MarginProblem
        Problem with its C.
    """
    lambdas, C = followed.lambdas, problem.C
    if not len(lambdas):
        return np.zeros(problem.p)
    if lambdas[-1] > 1 / C:
        return followed.alphas[-1] * C
    alpha = followed.at(1 / C).dual
    assert alpha is not None
    return np.asarray(alpha)
