"""Multiclass classification by one binary problem per pair of classes.

All binary problems are parts of one problem of all points, which is validated once. On
a device they are machines on all points, in lock-step; the points of other classes have
no cost.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equimargin.formulations.kernels.kernel import Kernel
from equimargin.formulations.numeric.arguments import check_choice
from equimargin.formulations.problem.choices import LOSSES, Bias, LossName
from equimargin.formulations.problem.class_pairs import restrict_to_pair
from equimargin.formulations.problem.construct import classification
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point
from equimargin.formulations.rows.listed import Signed
from equimargin.solvers.device.lockstep import solve_together
from equimargin.solvers.device.method import ON_A_DEVICE, proved_on, use_device
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import PROCESSOR, Limits, RunOptions, Solution, checked

Pair = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Points of the class -1 and of the class +1."""


def one_vs_one(
    X: Any,
    y: ArrayLike,
    C: float = 1.0,
    kernel: Kernel | None = None,
    loss: LossName = "hinge",
    sample_weight: ArrayLike | None = None,
    solver: str = "auto",
    bias: Bias = True,
    **limits: Unpack[RunOptions],
) -> list[Solution]:
    """Solve the classification problem of every two classes on the points of these two.

        min 1/2 |f_kl|^2 + C sum_{i in k or l} weight_i loss(1 - s_i (f_kl(x_i) + b_kl)),
        s_i = 1 in class k, -1 in class l,    k < l

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features, or (m, m) Gram for `precomputed()`.
    y : array-like of shape (m,)
        Classes, of any type that can be sorted.
    C : float
        As in `classification`.
    kernel : Kernel or None
        As in `classification`.
    loss : str
        "hinge" or "squared_hinge".
    sample_weight : array-like of shape (m,), optional
        As in `classification`.
    solver : str
        Solver of every run, as in `solve`.
    bias : Bias
        As in `classification`.
    **limits : Unpack[RunOptions]
        tol, max_iter, time_limit, n_jobs and device of every run, as in `solve`. Three
        classes or more run together on a card with memory for K, as in `solve_grid`.

    Returns
    -------
    list of Solution
        n (n - 1) / 2 solutions for n classes, in the order (0, 1), (0, 2), ..., (1, 2),
        ... of the sorted classes; a positive decision value is a vote for the first of
        the two. The points of each problem are in the order of X. With a given Gram
        matrix, each problem has the diagonal shift of the whole matrix.

    Raises
    ------
    ValueError
        If there are fewer than two classes; otherwise as in `classification` and
        `solve`.

    References
    ----------
    S. Knerr, L. Personnaz, G. Dreyfus. Single-layer learning revisited (1990).
    """
    labels = np.asarray(y)
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError("one_vs_one: there must be at least two classes")
    problem_of_all = classification(
        X, np.ones(labels.shape), C, kernel, check_choice(loss, "loss", LOSSES), bias, sample_weight
    )
    pairs = [(labels == second, labels == first) for first, second in combinations(classes, 2)]
    device = limits.get("device", PROCESSOR)
    if device != PROCESSOR and len(pairs) > 1 and solver in ("auto", "smo"):
        together = _solve_together(problem_of_all, pairs, checked(**limits))
        if together is not None:
            return together
    problems = (restrict_to_pair(problem_of_all, *pair) for pair in pairs)
    return [solve(problem, solver, **limits) for problem in problems]


def _solve_together(
    whole: MarginProblem, pairs: list[Pair], limits: Limits
) -> list[Solution] | None:
    """Return the solutions of all pairs; None if the device cannot run them together."""
    if ON_A_DEVICE.refusal(whole) is not None:
        return None
    problems = [
        replace(
            whole,
            rows=Signed(np.where(positive, 1.0, -1.0)),
            weights=np.where(negative | positive, whole.unit_weights, 0.0),
        )
        for negative, positive in pairs
    ]
    with use_device(limits.device) as card:
        found = solve_together(card, problems, limits)
    return found and [
        proved_on(limits.device, _of_pair(solution, restrict_to_pair(whole, *pair), *pair))
        for solution, pair in zip(found, pairs, strict=True)
    ]


def _of_pair(
    solution: Solution,
    problem: MarginProblem,
    negative: NDArray[np.bool_],
    positive: NDArray[np.bool_],
) -> Solution:
    """Return a solution on all points as that of a pair's problem."""
    inside, point = negative | positive, solution.point
    assert isinstance(point, Point)
    parts = {
        name: np.asarray(values)[inside]
        for name, values in (("alpha", point.alpha), ("beta", point.beta))
        if values is not None
    }
    return replace(solution, problem=problem, point=replace(point, **parts))
