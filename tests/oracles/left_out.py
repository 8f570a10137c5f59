"""Leave-one-out error from its definition, by one exact optimum per excluded point."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from equimargin.formulations.kernels.kernel import Precomputed
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.rows.listed import Signed
from equimargin.solvers import exact_optimum
from oracles.rationals import entry, fractions


def mistakes(problem: MarginProblem) -> tuple[int, int]:
    """Return the minimum and the maximum number of leave-one-out mistakes.

    The minimum counts points misclassified with every optimal bias, the maximum also
    points misclassified or at f + b = 0 with some optimal bias.
    """
    sides = [side(problem, i) for i in range(problem.m)]
    return sum(least for least, _ in sides), sum(most for _, most in sides)


def side(problem: MarginProblem, i: int) -> tuple[bool, bool]:
    """Return two flags of point i at the optimum without it.

    The first is True if it is misclassified with every optimal bias, the second if it
    is misclassified or at f + b = 0 with some optimal bias.
    """
    assert isinstance(problem.rows, Signed)
    y, others = problem.rows.y, [j for j in range(problem.m) if j != i]
    X: Any = problem.X
    kept = X[np.ix_(others, others)] if isinstance(problem.kernel, Precomputed) else X[others]
    weights = None if problem.weights is None else problem.weights[others]
    found = exact_optimum(replace(problem, X=kept, rows=Signed(y[others]), weights=weights))
    f = sum(
        (b * value(problem, i, j) for b, j in zip(found.beta, others, strict=True)), Fraction(0)
    )
    low, high = found.bias
    if y[i] > 0:
        return high is not None and f + high < 0, low is None or f + low <= 0
    return low is not None and f + low > 0, high is None or f + high >= 0


def value(problem: MarginProblem, i: int, j: int) -> Fraction:
    """Return k(x_i, x_j) of two different points."""
    X: Any = problem.X
    return (
        Fraction(float(X[i, j]))
        if isinstance(problem.kernel, Precomputed)
        else entry(problem.kernel, fractions(X[i]), fractions(X[j]))
    )
