"""What a fitted estimator keeps: the functions that it evaluates, without the problems that they came from, and what the solutions prove.

How near to the optimum a fit is, is computed when it is asked for, because that may
take as long as the fit.
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

EVALUATED = 2**22
"""Kernel values at a time: 32 MiB, so that any number of points can be evaluated."""


@dataclass(frozen=True, eq=False)
class Functions:
    """f_k(x) + b_k = sum_i coefficients_ki k(x, x_i) + b_k, or w_k.x + b_k for a linear kernel, k = 1, ..., K.

    Parameters
    ----------
    kernel : Kernel
        k.
    support : Index of shape (s,)
        The training points i that some f_k has a coefficient of, ascending.
    points : Features | None of shape (s, d)
        These points; None where they are not needed, for a linear or a precomputed
        kernel.
    coefficients : ndarray of shape (K, s)
        Or w, (K, d), for a linear kernel.
    biases : ndarray of shape (K,)
    """

    kernel: Kernel
    support: Index
    points: Features | None
    coefficients: Array
    biases: Array

    @property
    def linear(self) -> bool:
        """Whether the coefficients are those of the features."""
        return self.points is None and not self.kernel.given

    def __neg__(self) -> Functions:
        return replace(self, coefficients=-self.coefficients, biases=-self.biases)

    def __call__(self, X: Features) -> Array:
        """f_k(x_i) + b_k, (n, K), for X (n, d), or (n, m) kernel values with all training points where the kernel is precomputed."""
        if self.linear:
            return np.asarray(X @ self.coefficients.T + self.biases)
        values = np.tile(self.biases, (X.shape[0], 1))
        step = EVALUATED // len(self.support) + 1 if len(self.support) else 0
        for start in range(0, X.shape[0] if step else 0, max(step, 1)):
            here = X[start : start + step]
            near = here[:, self.support] if self.kernel.given else here
            values[start : start + step] += (
                self.kernel.block(near, self.points) @ self.coefficients.T
            )
        return values


def make_functions(solutions: Sequence[Solution], parts: Sequence[Index], X: Features) -> Functions:
    """The functions of solutions of problems with the same kernel: of an ordinal regression f alone, without thresholds.

    Parameters
    ----------
    solutions : Sequence[Solution]
        K of them.
    parts : Sequence[Index]
        For each, the rows of X that its points are.
    X : Features of shape (m, d)
        All training points.

    Raises
    ------
    ValueError
        A solution without a point.
    """
    kernel = solutions[0].problem.kernel
    beta = np.zeros((len(solutions), X.shape[0]))
    for row, solution, part in zip(beta, solutions, parts, strict=True):
        if solution.beta is None:
            raise ValueError(
                f"the solver found no function: {solution.status.sentence} "
                f"({solution.solver}: {solution.reason})"
            )
        row[part] = solution.beta
    support = np.flatnonzero(beta.any(axis=0))
    ordinal = isinstance(solutions[0].problem.rows, Levels)
    biases = (
        np.zeros(len(solutions)) if ordinal else np.array([solution.bias for solution in solutions])
    )
    if explicit(kernel, X) is None:
        points = None if kernel.given else X[support]
        return Functions(kernel, support, points, beta[:, support], biases)
    w = np.array(
        [solution.w for solution in solutions]
    )  # with the constant of f at its end where the bias is penalised
    d = X.shape[1]
    return Functions(kernel, support, None, w[:, :d], biases + w[:, d:].sum(axis=1))


class Proof:
    """What the solutions of a fit prove.

    It keeps problems and points, and the training data with them, but no Gram matrix. A pickle of it has the bounds and the gap alone.

    Parameters
    ----------
    solutions : Sequence[Solution]
        One or several.
    """

    def __init__(self, solutions: Sequence[Solution]) -> None:
        self.solutions = [
            replace(solution, problem=replace(solution.problem)) for solution in solutions
        ]  # without what they have cached

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Proven bounds of the optimum of all problems together."""
        lower, upper = (
            math.fsum(ends)
            for ends in zip(*((one.lower, one.upper) for one in self.solutions), strict=True)
        )
        if len(self.solutions) == 1:
            return lower, upper
        return float(np.nextafter(lower, -np.inf)), float(
            np.nextafter(upper, np.inf)
        )  # the sums are rounded to nearest

    @cached_property
    def gap(self) -> float:
        """The largest relative gap, in float64."""
        return max(solution.relative_gap for solution in self.solutions)

    @property
    def duals(self) -> list[Any]:
        """The multipliers of every problem.

        Raises
        ------
        AttributeError
            After a pickle, which has none.
        """
        if not hasattr(self, "solutions"):
            raise AttributeError(
                "dual_ is left out of a pickled or copied estimator, because there is a "
                "multiplier for every row or pair"
            )
        return [solution.dual for solution in self.solutions]

    def __getstate__(self) -> dict[str, Any]:
        return {"bounds": self.bounds, "gap": self.gap}
