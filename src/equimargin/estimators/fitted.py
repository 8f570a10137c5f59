"""Fitted state of an estimator: decision functions, and proofs of optimality.

The functions store no problem. Bounds and gaps are computed at first use, because that
may take as long as the fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from equimargin.formulations import Kernel
from equimargin.formulations.kernels.features import explicit
from equimargin.formulations.numeric.arrays import Array, Features, Index
from equimargin.formulations.rows.levels import Levels
from equimargin.solvers import Solution
from equimargin.solvers.joint import JointSolution
from equimargin.solvers.sparse_weights.solution import SparseWeightSolution

ProvenSolution = Solution | JointSolution | SparseWeightSolution
"""Solution whose point proves an interval of its optimum."""
EVALUATED = 2**22
"""Kernel values per block, 32 MiB, to bound the memory of a prediction."""


@dataclass(frozen=True, eq=False)
class Functions:
    """Decision functions f_k + b_k, k = 1, ..., K, with a common kernel.

    f_k(x) = sum_i coefficients_ki k(x, x_i), or w_k.x for a linear kernel.

    Parameters
    ----------
    kernel : Kernel
        Kernel k.
    support : ndarray of shape (s,)
        Training points i with a nonzero coefficient of some f_k, ascending.
    points : ndarray or sparse array of shape (s, d), or None
        Training points of `support`; None for a linear or a precomputed kernel.
    coefficients : ndarray of shape (K, s)
        Coefficients of the points; for a linear kernel w, shape (K, d).
    biases : ndarray of shape (K,)
        Intercepts b_k.
    """

    kernel: Kernel
    support: Index
    points: Features | None
    coefficients: Array
    biases: Array

    @property
    def linear(self) -> bool:
        """True if the coefficients belong to the features."""
        return self.points is None and not self.kernel.given

    def __neg__(self) -> Functions:
        return replace(self, coefficients=-self.coefficients, biases=-self.biases)

    def __call__(self, X: Features) -> Array:
        """Return f_k(x_i) + b_k, shape (n, K).

        X holds points, (n, d), or for a precomputed kernel the (n, m) kernel values
        with all training points.
        """
        if self.linear:
            return np.asarray(X @ self.coefficients.T + self.biases)
        values = np.tile(self.biases, (X.shape[0], 1))
        if not len(self.support):
            return values
        step = EVALUATED // len(self.support) + 1
        for start in range(0, X.shape[0], step):
            block = X[start : start + step]
            columns = block[:, self.support] if self.kernel.given else block
            values[start : start + step] += (
                self.kernel.block(columns, self.points) @ self.coefficients.T
            )
        return values


def make_functions(solutions: Sequence[Solution], parts: Sequence[Index], X: Features) -> Functions:
    """Return the decision functions of solved problems with a common kernel.

    For ordinal regression the thresholds are excluded.

    Parameters
    ----------
    solutions : sequence of Solution
        K solutions.
    parts : sequence of ndarray of int
        Rows of X that are a problem's points, one array per solution.
    X : ndarray or sparse array of shape (m, d)
        All training points.

    Returns
    -------
    Functions
        Functions of the solutions.

    Raises
    ------
    ValueError
        If a solution has no point.
    """
    kernel, beta = solutions[0].problem.kernel, make_coefficients(solutions, parts, X.shape[0])
    support = np.flatnonzero(beta.any(axis=0))
    ordinal = isinstance(solutions[0].problem.rows, Levels)
    biases = (
        np.zeros(len(solutions)) if ordinal else np.array([solution.bias for solution in solutions])
    )
    if explicit(kernel, X) is None:
        points = None if kernel.given else X[support]
        return Functions(kernel, support, points, beta[:, support], biases)
    # The last entry of w is the constant of f if the intercept is penalised.
    w = np.array([solution.w for solution in solutions])
    d = X.shape[1]
    return Functions(kernel, support, None, w[:, :d], biases + w[:, d:].sum(axis=1))


def make_coefficients(solutions: Sequence[Solution], parts: Sequence[Index], m: int) -> Array:
    """Return the coefficients of the functions for all points, shape (K, m).

    Parameters
    ----------
    solutions, parts
        As in `make_functions`.
    m : int
        Number of training points.

    Raises
    ------
    ValueError
        If a solution has no point.
    """
    beta = np.zeros((len(solutions), m))
    for row, solution, part in zip(beta, solutions, parts, strict=True):
        if solution.beta is None:
            raise ValueError(
                f"the solver found no function: {solution.status.sentence} "
                f"({solution.solver}: {solution.reason})"
            )
        row[part] = solution.beta
    return beta


class Proof:
    """Bounds, gap and multipliers of the solutions of a fit.

    Problems, points and the training data are stored, and only a given Gram matrix. A
    pickle has the bounds and the gap alone, which are computed for it.

    Parameters
    ----------
    solutions : sequence of ProvenSolution
        One or several solutions.
    """

    def __init__(self, solutions: Sequence[ProvenSolution]) -> None:
        # A replaced problem has no cached Gram matrix.
        self.solutions = [
            replace(solution, problem=replace(solution.problem))
            if isinstance(solution, Solution)
            else solution
            for solution in solutions
        ]

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Proven bounds of the sum of all problems' optima."""
        lower, upper = (
            math.fsum(ends)
            for ends in zip(
                *((solution.lower, solution.upper) for solution in self.solutions), strict=True
            )
        )
        if len(self.solutions) == 1:
            return lower, upper
        # `fsum` rounds to nearest, so the next float outwards is a bound.
        return float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf))

    @cached_property
    def gap(self) -> float:
        """Largest relative gap, in float64."""
        return max(solution.relative_gap for solution in self.solutions)

    @property
    def duals(self) -> list[Any]:
        """Multipliers of every problem.

        Raises
        ------
        AttributeError
            If the object was pickled, since a pickle has no multipliers.
        """
        if not hasattr(self, "solutions"):
            raise AttributeError(
                "dual_ is excluded from a pickled or copied estimator, because there is a "
                "multiplier for every row or pair"
            )
        return [solution.dual for solution in self.solutions]

    def __getstate__(self) -> dict[str, Any]:
        return {"bounds": self.bounds, "gap": self.gap}
