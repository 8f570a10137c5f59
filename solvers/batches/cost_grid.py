"""One problem at many costs and for folds of its points, with shared kernel blocks.

On the processor the runs follow each other. On a device they run in lock-step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.bounds.evaluate import resolve_shift
from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.device.lockstep import solve_together
from equimargin.solvers.device.method import ON_A_DEVICE, begin, proved_on, use_device
from equimargin.solvers.dual import smo
from equimargin.solvers.solution import PROCESSOR, Solution, checked


def solve_grid(
    problem: MarginProblem,
    costs: Sequence[float],
    held_out: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = 1,
    device: str = PROCESSOR,
) -> list[Solution]:
    """Solve a problem at every cost C and for every fold, with warm starts.

    Within a fold, a run on the processor starts from the result of the previous cost:

        alpha(C)  from  C / C_before  alpha(C_before),
        weight_r = 0 where the point of row r is held out

    Multipliers scaled in this way stay in their box, also if C decreases. Runs start
    closest to their optima if the costs are sorted. Each pair of classes needs a grid
    of its own, as its rows differ (`one_vs_one`).

    Parameters
    ----------
    problem : MarginProblem
        Problem with one entry per row and a bias: classification or regression.
    costs : sequence of float of shape (c,)
        Costs in (0, inf), in the order of solution.
    held_out : array-like of shape (k, m) or (m,), optional
        True for points excluded from a fold; by default one fold with all points.
    tol : float
        Relative gap of every run.
    max_iter : int or None
        Iteration limit of every run.
    time_limit : float or None
        Time limit of every run in seconds.
    n_jobs : int
        Threads of every run.
    device : str
        Device of the runs, as in `solve`. On a card with memory for K, 8 bytes per
        entry, as many as it has memory for run together, each from 0: the clock of a
        run goes on while the others take steps, and its bits do not depend on them.
        Otherwise they run in turn.

    Returns
    -------
    list of Solution
        k c solutions: those of the first fold at every cost, then those of the second.
        The problem of each has its own C and weights.

    Raises
    ------
    ValueError
        If SMO does not support the problem on the device, a cost is not positive and
        finite, rows are hard, or `held_out` has another number of points.
    """
    limits = checked(tol, max_iter, time_limit, None, n_jobs, device)
    requires = smo.REQUIREMENTS if limits.device == PROCESSOR else ON_A_DEVICE
    refusal = requires.refusal(problem)
    # All runs share the points and the blocks of K: one refusal is that of all.
    if refusal is not None:
        elsewhere = "" if limits.device == PROCESSOR else "; leave out device to use the processor"
        raise ValueError(
            f"solve_grid does not take this {problem.family} problem: {refusal}{elsewhere}"
        )
    if problem.hard.any():
        raise ValueError("solve_grid: no row may be hard")
    checked_costs = [
        check_number(C, f"costs[{k}]", "positive and finite", lambda c: 0 < c < np.inf)
        for k, C in enumerate(costs)
    ]
    problem = resolve_shift(problem.with_cost(max(checked_costs, default=1.0)), limits.tol)
    folds = (
        np.zeros((1, problem.m), dtype=bool)
        if held_out is None
        else np.atleast_2d(np.asarray(held_out, dtype=bool))
    )
    if folds.ndim != 2 or folds.shape[1] != problem.m:
        raise ValueError(
            f"solve_grid: held_out must be of shape (k, {problem.m}), not {folds.shape}"
        )
    parts = [_without(problem, fold) for fold in folds]
    problems = [part.with_cost(C) for part in parts for C in checked_costs]
    if limits.device == PROCESSOR:
        return list(smo.solve_in_turn(problems, limits, smo.Descent.of))
    with use_device(limits.device) as card:
        found = solve_together(card, problems, limits) or list(
            smo.solve_in_turn(problems, limits, partial(begin, card))
        )
    return [proved_on(limits.device, solution) for solution in found]


def _without(problem: MarginProblem, held_out: NDArray[np.bool_]) -> MarginProblem:
    """Return the problem in which rows of these points, (m,), have no cost."""
    if not held_out.any():
        return problem
    rows = problem.rows.absolute_dot(held_out.astype(np.float64)) > 0
    return replace(problem, weights=np.where(rows, 0.0, problem.unit_weights))
