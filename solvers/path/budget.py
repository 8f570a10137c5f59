"""Limits of a path, and the reasons for its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from equimargin.formulations.numeric.jit import run_seconds

MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS = 20_000_000
"""Multiplications of compiled steps between two checks of the time limit: about 10 ms."""


class PathStop(StrEnum):
    """Reason for the end of a path, as a sentence about the last breakpoint."""

    REACHED = "lambda_min was reached"
    END = "lambda = 0 was reached"
    ZERO = "lambda = 0 was reached: f is constant from the last positive breakpoint to 0"
    CONSTANT = "f is the same constant at every lambda"
    NO_ROWS = "there are no rows, and x = 0 at every lambda"
    CALLBACK = "the callback ended the path early"
    LIMIT = "the limit of events ended the path early"
    TIME = "the time limit ended the path early"
    PRECISION = "double precision ended the path early"
    GAP = "double precision ended the path early: gaps no longer stay below 1e-9"
    STUCK = "events too close for double precision ended the path early"

    @property
    def complete(self) -> bool:
        """True if no part of the path is missing."""
        return self in (
            PathStop.REACHED,
            PathStop.END,
            PathStop.ZERO,
            PathStop.CONSTANT,
            PathStop.NO_ROWS,
        )


class StepLimit(Exception):
    """Signal that the limits were reached inside a step."""


@dataclass(frozen=True, eq=False)
class Budget:
    """Limits of a path.

    Parameters
    ----------
    lambda_min : float
        Lambda at which the path ends.
    most : int | None
        Maximum number of breakpoints, or None.
    time_limit : float | None
        Seconds, or None.
    callback : Callable[[int, float, float], Any] | None
        Called with (breakpoints, lambda, gap) at every breakpoint; a true return value
        ends the path.
    unit : float
        Unit of `lambda_min`, in units of the problem's lambda.
    started : float
        Value of `run_seconds` at the start.
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
        """True if the time limit has passed."""
        return self.time_limit is not None and self.seconds > self.time_limit

    def look(self) -> None:
        """Check the clock inside a step.

        Raises
        ------
        StepLimit
            If the time limit has passed.
        """
        if self.over:
            raise StepLimit

    def spent(self, breakpoints: int, lam: float, gap: float) -> PathStop | None:
        """Return the reason to end at a breakpoint, or None.

        Parameters
        ----------
        breakpoints : int
            Number of breakpoints so far.
        lam : float
            Lambda of the breakpoint, in units of `unit`.
        gap : float
            Relative gap of the breakpoint.
        """
        callback_stops = self.callback is not None and self.callback(
            breakpoints, lam * self.unit, gap
        )
        if lam <= self.lambda_min:
            return PathStop.REACHED
        if callback_stops:
            return PathStop.CALLBACK
        if breakpoints == self.most:
            return PathStop.LIMIT
        return PathStop.TIME if self.over else None

    def next_look(self, breakpoints: int, work: int) -> int:
        """Return the number of breakpoints after which to check the limits next.

        The limits are checked at the first breakpoint, and with a callback at every
        one.

        Parameters
        ----------
        breakpoints : int
            Number of breakpoints so far.
        work : int
            Maximum number of multiplications per breakpoint.
        """
        if self.callback is not None or not breakpoints:
            return breakpoints + 1
        ahead = breakpoints + max(1, MULTIPLICATIONS_BETWEEN_CLOCK_CHECKS // work)
        return ahead if self.most is None else min(ahead, self.most)
