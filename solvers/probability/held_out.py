"""Decision values of rows by functions that were not trained on them: what probabilities are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.solvers.registry import solve
from equimargin.solvers.solution import Solution

FOLDS = 5
"""Folds, at most: as many as LIBSVM takes for its probabilities."""


class HeldOut(NamedTuple):
    """The rows whose values are known.  of_first : (n,) whether a row is of the first class.  weight : (n,) its factor of C."""

    of_first: NDArray[np.bool_]
    weight: Array


def held_out_values(
    solution: Solution, names: tuple[str, str], **limits: Any
) -> tuple[Array, HeldOut]:
    """The values of all rows that cost anything, each by the optimum of the folds that it is not in.

    Rows go to folds in turn, class by class, in their order: nothing is drawn at random.

    Parameters
    ----------
    solution : Solution
        Of a classification, for its problem.
    names : tuple[str, str]
        What its classes are called, the first one being +1.
    limits : Any
        Of every run, as in `solve`.

    Returns
    -------
    Values (n,) in the sense of `solution`, positive for the first class, and what rows they are of.

    Raises
    ------
    ValueError
        A class with fewer than two rows of positive weight.
    """
    problem = solution.problem
    if not isinstance(problem, MarginProblem):
        raise TypeError("held-out values are those of a classification")
    used = np.flatnonzero(problem.unit_weights > 0)
    of_first = problem.rows.s[used] > 0
    counts = int(of_first.sum()), int((~of_first).sum())
    for name, count in zip(names, counts, strict=True):
        if count < 2:
            rows = f"{count} row of positive weight" if count == 1 else "no row of positive weight"
            raise ValueError(
                f"probabilities are made of values held out, and class {name} has {rows}: "
                f"two are the fewest"
            )
    folds = min(FOLDS, *counts)
    fold = np.empty(len(used), dtype=np.int64)
    fold[of_first], fold[~of_first] = np.arange(counts[0]) % folds, np.arange(counts[1]) % folds
    values = np.empty(len(used))
    for number in range(folds):
        out = used[fold == number]
        weights = problem.unit_weights.copy()
        weights[out] = 0.0
        fitted = solve(replace(problem, weights=weights), **limits)
        values[fold == number] = fitted.decision_function(problem.X[out])
    return values, HeldOut(of_first, problem.unit_weights[used])
