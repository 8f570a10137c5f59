"""What a run came past: the bounds of every point that it checked, a score of the point, and the CPU seconds of the run until then."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from equimargin.formulations.problem.point import CanonicalPoint


class Check(NamedTuple):
    """A check of the gap.

    Parameters
    ----------
    iterations : int
        Of the solver so far.
    seconds : float
        Of CPU time of the run so far.
    lower, upper : float
        Bounds in float64.
    score : float
        Of the point; NaN where no score was asked for.
    """

    iterations: int
    seconds: float
    lower: float
    upper: float
    score: float


class Trace:
    """A callback that keeps every check of one run.

        trace = Trace(score)
        solve(problem, "tron", callback=trace)
        trace.checks[-1].seconds

    Its clock counts CPU seconds of the process, and begins when the trace is made. It stands still while the trace itself is called: a
    score may take its time. It does count the compilation of kernels, which a run on a small problem of the same kind gets done before.

    Parameters
    ----------
    score : Callable[[CanonicalPoint], float] | None
        Of a point; None for no score.

    Attributes
    ----------
    checks : list[Check]
        List of Check, in their order.

    Source: document K, section 4.4, which compares methods by test performance over training time.
    """

    def __init__(self, score: Callable[[CanonicalPoint], float] | None = None) -> None:
        self.score = score
        self.checks: list[Check] = []
        self._begun = time.process_time()

    def __call__(self, iterations: int, lower: float, upper: float, point: CanonicalPoint) -> None:
        """Keep a check."""
        called = time.process_time()
        score = math.nan if self.score is None else self.score(point)
        self.checks.append(Check(iterations, called - self._begun, lower, upper, score))
        self._begun += time.process_time() - called
