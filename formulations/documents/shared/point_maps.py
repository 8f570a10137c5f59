"""Maps between variables of published problems and canonical points.

In a max-margin form the variable is the margin t, and u is a function of length 1:
w = u / t, and the family's value is 1 / (2 t^2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equimargin.formulations.declarations.symbols import DeclarationValues, Symbols
from equimargin.formulations.numeric.arrays import Array
from equimargin.formulations.problem.margin import MarginProblem
from equimargin.formulations.problem.point import Point

SMALLEST_MARGIN = 1e-6
"""Minimum margin over the root of the mean K_ii, without a unit.

A smaller one is indistinguishable from 0, and counts as no separation.
"""


def _value_at_margin(t: float, d: Symbols) -> float:
    """Return 1/2 |w|^2 = 1 / (2 t^2) at the maximum margin t; inf without a margin."""
    return 0.5 / t / t if t > _resolved(d.margin_problem) else np.inf


def _point_at_margin(v: DeclarationValues, d: Symbols, b: float = 0.0) -> Point:
    """Return the point w = u / t, b / t, alpha = mu / t^2; u itself without a margin."""
    t, mu = float(v["t"]), v.multiplier("margin")
    t = t if t > _resolved(d.margin_problem) else 1.0
    return d.point(v["u"] / t, b / t, None if mu is None else mu / t / t)


def _resolved(problem: MarginProblem) -> float:
    return SMALLEST_MARGIN * float(np.sqrt(problem.gram.diagonal.mean()))


def _length(w: Array) -> float:
    """Return |w|, at least 1e-300, for use as a divisor."""
    return max(float(np.linalg.norm(w)), 1e-300)


WITH_SLACKS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], alpha=v.multiplier("margin")),
    "from_canonical": lambda at, d: {"w": at.w, "xi": at.xi},
}
"""Maps of the variables w and xi."""
WITH_BIAS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], -v["b"], v.multiplier("margin")),
    "from_canonical": lambda at, d: {"w": at.w, "b": -at.b, "xi": at.xi},
}
"""Maps of the variables w, b and xi with F(x) = w.x - b: b is minus the canonical one.
"""
MULTIPLIERS: dict[str, Any] = {
    "carries": "multipliers",
    "to_canonical": lambda v, d: Point(alpha=v["alpha"]),
    "from_canonical": lambda at, d: {"alpha": at.alpha},
}
"""Maps of the variable alpha."""
COEFFICIENTS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: Point(beta=v["beta"], b=0.0),
    "from_canonical": lambda at, d: {"beta": at.beta},
}
"""Maps of the variable beta, the coefficients of f = sum_i beta_i k(x_i, .)."""
MARGIN: dict[str, Any] = {
    "carries": "function",
    "value": _value_at_margin,
    "to_canonical": _point_at_margin,
    "from_canonical": lambda at, d: {
        "u": at.w / _length(at.w),
        "t": (1 - at.u).min(initial=np.inf) / _length(at.w),
    },
}
"""Maps of the variables u and t."""
MARGIN_WITH_BIAS = MARGIN | {
    "to_canonical": lambda v, d: _point_at_margin(v, d, -float(v["b"])),
    "from_canonical": lambda at, d: MARGIN["from_canonical"](at, d) | {"b": -at.b / _length(at.w)},
}
"""Maps of the variables u, b and t with F(x) = u.x - b: b is minus the canonical one.
"""
