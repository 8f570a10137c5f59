"""Decision values of rows by functions that were not trained on them.

Probabilities are computed from these values.
"""

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
"""Maximum number of folds, as in LIBSVM for its probabilities."""


class HeldOut(NamedTuple):
    """Rows for which held-out values are computed.

    Parameters
    ----------
    of_first : ndarray of shape (n,)
        True for rows of the first class.
    weight : ndarray of shape (n,)
        Weights of the rows, factors of C.
    """

    of_first: NDArray[np.bool_]
    weight: Array


def held_out_values(
    solution: Solution, names: tuple[str, str], **limits: Any
) -> tuple[Array, HeldOut]:
    """Compute the values of all rows of positive weight by cross-validation.

    The value of a row is that of the optimum on all folds except the row's own. The
    rows of each class are assigned to the folds in turn: nothing is random.

    Parameters
    ----------
    solution : Solution
        Solution of a classification; only its problem is used.
    names : tuple[str, str]
        Names of its classes, the first one being +1.
    **limits : Any
        Limits of every run, as in `solve`.

    Returns
    -------
    values : ndarray of shape (n,)
        Decision values, with the sign of `solution`, positive for the first class.
    held_out : HeldOut
        Rows of these values.

    Raises
    ------
    ValueError
        If a class has fewer than two rows of positive weight.
    TypeError
        If the problem is no classification.
    """
    problem = solution.problem
    if not isinstance(problem, MarginProblem):
        raise TypeError("held-out values exist for classifications only")
    used = np.flatnonzero(problem.unit_weights > 0)
    of_first = problem.rows.s[used] > 0
    counts = int(of_first.sum()), int((~of_first).sum())
    for name, count in zip(names, counts, strict=True):
        if count < 2:
            rows = f"{count} row of positive weight" if count == 1 else "no row of positive weight"
            raise ValueError(
                f"class {name} has {rows}; probabilities need at least two per "
                f"class, to compute held-out values"
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
