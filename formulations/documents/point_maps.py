"""Maps between variables of printed problems and canonical points."""

from __future__ import annotations

from typing import Any

from equimargin.formulations.problem.point import Point

WITH_SLACKS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], alpha=v.multiplier("margin")),
    "from_canonical": lambda at, d: {"w": at.w, "xi": at.xi},
}
"""Of variables w and xi."""
WITH_BIAS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: d.point(v["w"], -v["b"], v.multiplier("margin")),
    "from_canonical": lambda at, d: {"w": at.w, "b": -at.b, "xi": at.xi},
}
"""Of variables w, b and xi with F(x) = w.x - b, where b is minus the canonical one."""
MULTIPLIERS: dict[str, Any] = {
    "carries": "multipliers",
    "to_canonical": lambda v, d: Point(alpha=v["alpha"]),
    "from_canonical": lambda at, d: {"alpha": at.alpha},
}
"""Of the variable alpha."""
COEFFICIENTS: dict[str, Any] = {
    "carries": "function",
    "to_canonical": lambda v, d: Point(beta=v["beta"], b=0.0),
    "from_canonical": lambda at, d: {"beta": at.beta},
}
"""Of the variable beta, the coefficients of f = sum_i beta_i k(x_i, .)."""
