"""One problem solved at many costs and for many folds of its points; all these runs share the blocks of its kernel matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.numeric.arguments import check_number
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.dual import smo
from equimargin.solvers.solution import Solution, checked


def solve_grid(
    problem: MarginProblem,
    costs: Sequence[float],
    held_out: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    time_limit: float | None = None,
    n_jobs: int = 1,
) -> list[Solution]:
    """Solve a problem at every cost C, without the points of one fold after another; each run starts where the one before it ended.

        alpha(C)  from  C / C_before  alpha(C_before),      weight_r = 0 where the point of row r is held out

    Multipliers scaled like this stay in their box whether C grows or shrinks. Runs start nearest to their ends where the costs are sorted.
    One-against-one classes are problems of their own: their rows differ.

    Parameters
    ----------
    problem : MarginProblem
        One entry a row, with a bias: classification or regression.
    costs : Sequence[float] of shape (c,)
        In (0, inf), in the order in which they are solved.
    held_out : ArrayLike | None of shape (k, m)
        Or (m,), true where a point takes no part in a fold; None is one fold with all
        points.
    tol, max_iter, time_limit, n_jobs
        Of every run, as in `solve`.

    Returns
    -------
    k c solutions: those of the first fold at every cost, then those of the second. The problem of each has its own C and weights.

    Raises
    ------
    ValueError
        A problem that SMO does not take, a cost that is not positive and finite, hard
        rows, parts of another number of points.
    """
    refusal = smo.REQUIREMENTS.refusal(problem)
    if refusal is not None:
        raise ValueError(f"solve_grid does not take this {problem.family} problem: {refusal}")
    if problem.hard.any():
        raise ValueError("solve_grid: no row may be hard")
    prices = [
        check_number(C, f"costs[{at}]", "positive and finite", lambda c: 0 < c < np.inf)
        for at, C in enumerate(costs)
    ]
    folds = (
        np.zeros((1, problem.m), dtype=bool)
        if held_out is None
        else np.atleast_2d(np.asarray(held_out, dtype=bool))
    )
    if folds.ndim != 2 or folds.shape[1] != problem.m:
        raise ValueError(
            f"solve_grid: held_out must be of shape (k, {problem.m}), not {folds.shape}"
        )
    limits = checked(tol, max_iter, time_limit, None, n_jobs)
    parts = [_without(problem, fold) for fold in folds]
    return list(smo._solve_grid([part.with_cost(C) for part in parts for C in prices], limits))


def _without(problem: MarginProblem, held_out: NDArray[np.bool_]) -> MarginProblem:
    """The problem in which rows of these points, (m,), cost nothing."""
    if not held_out.any():
        return problem
    rows = problem.rows.absolute_dot(held_out.astype(np.float64)) > 0
    return replace(problem, weights=np.where(rows, 0.0, problem.unit_weights))
