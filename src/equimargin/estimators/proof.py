"""How near to the optimum a fit is, and by which multipliers: computed when it is asked for, because that may take as long as the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from equimargin.solvers import Solution


class Proof:
    """What the solutions of a fit prove.

    It keeps problems and points, and the training data with them, but no Gram matrix. A pickle of it has the bounds and the gap alone.

    Parameters
    ----------
    solutions : one or several.
    """

    def __init__(self, solutions: Sequence[Solution]) -> None:
        self._solutions = [replace(solution, problem=replace(solution.problem)) for solution in solutions]  # without what they have cached

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Proven bounds of the optimum of all problems together."""
        lower, upper = (math.fsum(ends) for ends in zip(*((one.lower, one.upper) for one in self._solutions), strict=True))
        if len(self._solutions) == 1:
            return lower, upper
        return float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf))  # the sums are rounded to nearest

    @cached_property
    def gap(self) -> float:
        """The largest relative gap, in float64."""
        return max(solution.relative_gap for solution in self._solutions)

    @property
    def duals(self) -> list[Any]:
        """The multipliers of every problem.

        Raises
        ------
        AttributeError : after a pickle, which has none.
        """
        if not hasattr(self, "_solutions"):
            raise AttributeError("dual_ is left out of a pickled or copied estimator, because there is a multiplier for every row or pair")
        return [solution.dual for solution in self._solutions]

    def __getstate__(self) -> dict[str, Any]:
        return {"bounds": self.bounds, "gap": self.gap}
