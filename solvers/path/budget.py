"""How far a path may go, and why it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from equimargin.formulations.numeric.jit import run_seconds

MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS = 20_000_000
"""Multiplications that compiled steps may do before the time limit is looked at: about 10 ms."""


class PathStop(StrEnum):
    """Why a path ended, as a sentence about the last breakpoint."""

    REACHED = "lambda_min was reached"
    END = "lambda = 0 was reached"
    ZERO = "lambda = 0 was reached: f is constant from the last positive breakpoint to 0"
    CONSTANT = "f is the same constant at every lambda"
    NO_ROWS = "there are no rows, and x = 0 at every lambda"
    CALLBACK = "the callback ended the path early"
    LIMIT = "the limit of events ended the path early"
    TIME = "the time limit ended the path early"
    PRECISION = "double precision ended the path early"
    GAP = "double precision ended the path early: gaps of 1e-9 can no longer be held below"
    STUCK = "events too close for double precision ended the path early"

    @property
    def complete(self) -> bool:
        """Whether nothing of the path is missing."""
        return self in (
            PathStop.REACHED,
            PathStop.END,
            PathStop.ZERO,
            PathStop.CONSTANT,
            PathStop.NO_ROWS,
        )


class StepLimit(Exception):
    """The limits were reached inside a step."""


@dataclass(frozen=True, eq=False)
class Budget:
    """How far a path may go.

    Parameters
    ----------
    lambda_min : float
        Where it ends.
    most : int | None
        Breakpoints at most, or None.
    time_limit : float | None
        seconds, or None.
    callback : Callable[[int, float, float], Any] | None
        Called with (breakpoints, lambda, gap) at every breakpoint, where true ends the
        path; or None.
    unit : float
        Of lambda here, in that of the problem.
    started : float
        Reading of `run_seconds`.
    """

    lambda_min: float
    most: int | None
    time_limit: float | None
    callback: Callable[[int, float, float], Any] | None
    unit: float = 1.0
    started: float = field(default_factory=run_seconds)

    @property
    def seconds(self) -> float:
        """Seconds of wall time since the start."""
        return run_seconds() - self.started

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self.time_limit is not None and self.seconds > self.time_limit

    def look(self) -> None:
        """Look at the clock inside a step.

        Raises
        ------
        StepLimit
            The time is over.
        """
        if self.over:
            raise StepLimit

    def spent(self, breakpoints: int, lam: float, gap: float) -> PathStop | None:
        """Why to end at a breakpoint, or None."""
        asked = self.callback is not None and self.callback(breakpoints, lam * self.unit, gap)
        if lam <= self.lambda_min:
            return PathStop.REACHED
        if asked:
            return PathStop.CALLBACK
        if breakpoints == self.most:
            return PathStop.LIMIT
        return PathStop.TIME if self.over else None

    def next_look(self, breakpoints: int, work: int) -> int:
        """The number of breakpoints after which to look next: all of them are looked at where there is a callback, and the first one is.

        Parameters
        ----------
        work : int
            Multiplications that a breakpoint may take.
        """
        if self.callback is not None or not breakpoints:
            return breakpoints + 1
        ahead = breakpoints + max(1, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // work)
        return ahead if self.most is None else min(ahead, self.most)
