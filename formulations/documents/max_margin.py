"""From a max-margin form, whose unknown is the margin t, to the family's value and point."""

from __future__ import annotations

import numpy as np

from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point

SMALLEST_MARGIN = 1e-6
"""Margin over the root of the mean K_ii, without a unit: a smaller one cannot be told from 0, and counts as no separation."""


def value_of_margin(problem: MarginProblem, t: float) -> float:
    """Return 1/2 |w|^2 = 1 / (2 t^2) of the largest margin t; inf where none was found."""
    return 0.5 / t / t if t > _resolved(problem) else np.inf


def point_of_margin(problem: MarginProblem, u: Array, b: float, t: float, mu: Array | None) -> Point:
    """Return the point w = u / t, b / t, alpha = mu / t^2; u itself where no margin was found."""
    t = t if t > _resolved(problem) else 1.0
    return problem.point_of_w(u / t, b / t, None if mu is None else mu / t / t)


def _resolved(problem: MarginProblem) -> float:
    return SMALLEST_MARGIN * float(np.sqrt(problem.gram.diagonal.mean()))


def length(w: Array) -> float:
    """Return |w|, or 1e-300 where it is less: it is a divisor."""
    return max(float(np.linalg.norm(w)), 1e-300)
