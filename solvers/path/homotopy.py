"""One solution as the end of a path: from lambda = infinity, where alpha is known, down to lambda = 1 / C.

    alpha(lambda) in [0, weight] at the last breakpoint, times C, are multipliers of the problem at C

are optimal if the path comes as far as 1 / C, and feasible wherever it is ended before. All solutions of smaller C are passed on the way:
an answer to compare with, reached as no other solver reaches its own.

Source: document P, section 5; Hastie, Rosset, Tibshirani, Zhu (2004); Gunter, Zhu (2007).
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import Problem
from equimargin.formulations.problem.point import Point
from equimargin.solvers.path import follow as path
from equimargin.solvers.path.result import SMALLEST, RegularizationPath
from equimargin.solvers.progress import Progress
from equimargin.solvers.solution import Limits, Solution, Status

LARGEST = 2_000_000_000
"""Rows times numbers that an event looks at, m^2 + p: some fifteen seconds to the end of the path."""


def refusal(problem: Problem) -> str | None:
    """Why this problem has no path that ends at its C, or none that is short enough, in a sentence, or None."""
    if isinstance(problem, MarginProblem) and np.isinf(problem.C):
        return "lambda = 1 / C is 0 for a hard margin"
    if isinstance(problem, MarginProblem) and not SMALLEST <= 1 / problem.C < np.inf:
        return f"lambda = 1 / C = {1 / problem.C:g} is on no path: they are followed from {SMALLEST:g} to what float64 holds"
    reason = path.refusal(problem)
    if reason is None and problem.p * (problem.m**2 + problem.p) > LARGEST:
        return f"too large for an answer among others: {problem.m:,} points and {problem.p:,} rows; regularization_path follows them"
    return reason


def _solve(problem: Problem, limits: Limits, warm_start: Point | None) -> Solution:
    """The path down to 1 / C. It begins where alpha is known: a warm start is of no use."""
    assert isinstance(problem, MarginProblem)
    progress = Progress("homotopy", problem, limits, limits.max_iter or sys.maxsize)
    asked = False

    def listen(breakpoints: int, lam: float, gap: float) -> bool:
        nonlocal asked
        asked = limits.callback is not None and bool(limits.callback(breakpoints, 0.0, problem.scale))  # of C nothing more is known yet
        return asked

    followed = path.regularization_path(problem, 1 / problem.C, limits.max_iter, limits.time_limit, listen)
    if asked:
        progress.limits = replace(limits, callback=None)
    if not progress.show(multipliers(followed, problem), len(followed)):
        status = Status.ITERATION_LIMIT if asked else Status.NUMERICAL_FAILURE
        reached = f"relative gap {progress.gap:.2e} at C after {len(followed):,} breakpoints"
        progress.end(status, f"{followed.stopped}: {reached}, {limits.tol:.0e} was asked")
    return progress.solution()


def multipliers(followed: RegularizationPath, problem: MarginProblem) -> Array:
    """Those of the path at C, or those of its last breakpoint times C, or zeros: all of them feasible, (p,)."""
    lambdas, C = followed.lambdas, problem.C
    if not len(lambdas):
        return np.zeros(problem.p)
    if lambdas[-1] > 1 / C:
        return followed.alphas[-1] * C
    alpha = followed.at(1 / C).dual
    assert alpha is not None
    return alpha
