"""Which problems exact arithmetic takes: those of rational kernel values, and of no more rows than it can carry.

Floats are rationals, and sums and products of rationals are; an exponential of one is none.
"""

from __future__ import annotations

from equimargin.formulations.kernels.kernel import Intercept, Kernel, Linear, Polynomial, Precomputed
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.rows.listed import Pairs

POINTS = 1500
"""Largest number of points: their Gram matrix is formed in Python's integers."""
PAIRS = 100_000
"""Largest number of preference pairs: each is looked at by itself."""
ENTRIES = 4_000_000
"""Largest number of entries, pairs times unknowns, of the matrix of a linear program."""


def rational_kernel(kernel: Kernel) -> bool:
    """Whether k(x, z) is a rational number for all floats x and z."""
    return isinstance(kernel, Linear | Polynomial | Precomputed) or (isinstance(kernel, Intercept) and rational_kernel(kernel.kernel))


def refusal(problem: Problem) -> str | None:
    """Why this problem has no exact optimum here, in a sentence, or None."""
    if not rational_kernel(problem.kernel):
        return f"the {problem.kernel.name} kernel has no rational values: give its float Gram matrix (`given_gram`)"
    if problem.m > POINTS:
        return f"too large: {problem.m:,} points, the limit of exact arithmetic is {POINTS:,}"
    if isinstance(problem.rows, Pairs) and problem.p > PAIRS:
        return f"too large: {problem.p:,} pairs, the limit of exact arithmetic is {PAIRS:,}"
    if isinstance(problem, OneNormProblem) and problem.p * problem.size > ENTRIES:
        return f"too large: {problem.p:,} pairs x {problem.size:,} unknowns, the limit of exact arithmetic is {ENTRIES:,} entries"
    return None
