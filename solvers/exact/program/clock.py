"""Time limit for every loop of exact arithmetic."""

from __future__ import annotations

import time
from math import inf


class OutOfTime(Exception):
    """Time limit exceeded; the message names the work."""


class OutOfPivots(Exception):
    """Pivot limit reached."""


class Clock:
    """Time limit and pivot limit.

    Parameters
    ----------
    seconds : float
        Time limit in seconds from now on.
    pivots : float
        Maximum number of pivots.
    """

    def __init__(self, seconds: float, pivots: float = inf) -> None:
        self.seconds, self.pivots = seconds, pivots
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Remaining seconds, at least 0."""
        return max(self._end - time.monotonic(), 0.0)

    def ask(self, work: str, ahead: float = 0.0) -> None:
        """Raise OutOfTime if the time is up.

        Parameters
        ----------
        work : str
            Next step, for the message, such as "the exact pivots".
        ahead : float
            Seconds that the step is expected to take without another check.
        """
        if self.left <= ahead:
            expected = f" (about {ahead:.2g} s)" if ahead > 0 else ""
            raise OutOfTime(
                f"the time limit of {self.seconds:.3g} s does not suffice for {work}{expected}"
            )

    def ask_pivot(self, done: int) -> None:
        """Raise OutOfPivots or OutOfTime if no further pivot is allowed.

        Parameters
        ----------
        done : int
            Number of pivots made.
        """
        if done >= self.pivots:
            raise OutOfPivots(f"{done:,} pivots have been made, which is the limit")
        self.ask("the next exact pivot")
