"""Problems that exact arithmetic supports: rational kernel values and limited size.

A float is a rational number, and so are sums and products of floats. The exponential of
a rational number is irrational, except at 0.
"""

from __future__ import annotations

from equimargin.formulations.kernels.kernel import (
    Intercept,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
)
from equimargin.formulations.problem.choices import LOSSES
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.one_norm import OneNormProblem, Problem
from equimargin.formulations.problem.refusal import Refusal
from equimargin.formulations.rows.listed import Pairs

EXACT_POINTS = 1500
"""Maximum number of points: their Gram matrix is formed in Python's integers."""
EXACT_PAIRS = 100_000
"""Maximum number of preference pairs: they are listed one by one."""
EXACT_ENTRIES = 4_000_000
"""Maximum number of entries, rows times variables, of the matrix of a linear program."""


def rational_kernel(kernel: Kernel) -> bool:
    """Return True if k(x, z) is a rational number for all floats x and z.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    """
    return isinstance(kernel, Linear | Polynomial | Precomputed) or (
        isinstance(kernel, Intercept) and rational_kernel(kernel.kernel)
    )


def refusal(problem: Problem) -> Refusal | None:
    """Return the reason why exact arithmetic does not support this problem, or None.

    Parameters
    ----------
    problem : Problem
        Problem to solve.
    """
    # Conditions on the kind of problem come before those on its size.
    if isinstance(problem, MarginProblem) and problem.loss not in LOSSES:
        return Refusal(
            f"exact_optimum needs the hinge or the squared hinge, and the loss is the "
            f"{problem.phi.words}"
        )
    if isinstance(problem, MarginProblem) and problem.T > 1:
        return Refusal(f"there are {problem.T} thresholds, and this method supports one bias")
    if not rational_kernel(problem.kernel):
        return Refusal(
            f"the {problem.kernel.name} kernel is not computed in fractions: give its float "
            f"Gram matrix (`given_gram`)"
        )
    if problem.m > EXACT_POINTS:
        return _too_large(f"{problem.m:,} points", f"{EXACT_POINTS:,}")
    if isinstance(problem.rows, Pairs) and problem.p > EXACT_PAIRS:
        return _too_large(f"{problem.p:,} pairs", f"{EXACT_PAIRS:,}")
    if isinstance(problem, OneNormProblem) and problem.p * problem.size > EXACT_ENTRIES:
        return _too_large(
            f"{problem.p:,} rows x {problem.size:,} variables", f"{EXACT_ENTRIES:,} entries"
        )
    return None


def _too_large(counted: str, limit: str) -> Refusal:
    return Refusal(
        f"too large: {counted}, the limit of exact arithmetic is {limit}", too_large=True
    )
