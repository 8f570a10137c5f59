"""Callback that records bounds, a score and CPU seconds at every gap check."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from equimargin.formulations.problem.point import CanonicalPoint


class Check(NamedTuple):
    """Check of the gap.

    Parameters
    ----------
    iterations : int
        Iterations of the solver so far.
    seconds : float
        CPU seconds of the run so far.
    lower : float
        Lower bound in float64.
    upper : float
        Upper bound in float64.
    score : float
        Score of the point; NaN without a score function.
    """

    iterations: int
    seconds: float
    lower: float
    upper: float
    score: float


class Trace:
    """Callback that records every check of one run.

        trace = Trace(score)
        solve(problem, "tron", callback=trace)
        trace.checks[-1].seconds

    Its clock counts CPU seconds of the process from the construction of the trace. It
    stops while the trace itself is called, so that a score may be slow. It includes the
    compilation of functions, unless an earlier run has solved a small problem of the
    same kind.

    Parameters
    ----------
    score : callable, optional
        Maps a CanonicalPoint to a float; None for no score.

    Attributes
    ----------
    checks : list of Check
        Checks in their order.

    References
    ----------
    Document K, section 4.4, which compares methods by test performance over training
    time.
    """

    def __init__(self, score: Callable[[CanonicalPoint], float] | None = None) -> None:
        self.score = score
        self.checks: list[Check] = []
        self._begun = time.process_time()

    def __call__(self, iterations: int, lower: float, upper: float, point: CanonicalPoint) -> None:
        """Record a check."""
        called = time.process_time()
        score = math.nan if self.score is None else self.score(point)
        self.checks.append(Check(iterations, called - self._begun, lower, upper, score))
        self._begun += time.process_time() - called
