"""Votes of the compared problems of all pairs of classes on their training points."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import isqrt

import numpy as np

from equimargin.formulations.problem.base import AnyProblem
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.proofs import FamilyVerdict, Verdict
from equimargin.proofs.certificates.problem import best_point
from equimargin.solvers.batches.votes import count_votes
from equimargin.solvers.solution import Solution, Status


def voted_right(
    problems: Sequence[AnyProblem], families: Sequence[FamilyVerdict]
) -> tuple[int, int] | None:
    """Return the number of points whose class has the most votes, and of all points.

    Each problem votes by its best point. A point of a class belongs to the problems of
    all pairs with this class.

    Parameters
    ----------
    problems : sequence of AnyProblem
        Problems of the pairs of classes (0, 1), (0, 2), ..., (1, 2), ... of a family.
    families : sequence of FamilyVerdict
        Verdicts on them.

    Returns
    -------
    tuple of int, or None
        None if a problem is undecided or infeasible, or its functions have no values at
        the points of the others.
    """
    k = (1 + isqrt(1 + 8 * len(problems))) // 2
    if (
        k < 3
        or k * (k - 1) // 2 != len(problems)
        or any(family.verdict is not Verdict.AGREE or not family.feasible for family in families)
    ):
        return None
    solutions, of_class = [], {}
    for (first, second), problem, family in zip(
        combinations(range(k), 2), problems, families, strict=True
    ):
        if not isinstance(problem, MarginProblem) or problem.kernel.given:
            return None
        point = best_point(problem, family)
        solutions.append(
            Solution(problem, "", point, Status.FINISHED, "", iterations=None, seconds=0.0)
        )
        of_class[first], of_class[second] = (
            problem.X[problem.rows.s < 0],
            problem.X[problem.rows.s > 0],
        )
    right, m = 0, 0
    for own, X in of_class.items():
        f = np.column_stack([solution.decision_function(X) for solution in solutions])
        right += int((count_votes(f, k).argmax(axis=1) == own).sum())
        m += X.shape[0]
    return right, m
