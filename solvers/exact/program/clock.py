"""The time limit that every loop of exact arithmetic asks."""

from __future__ import annotations

import time
from math import inf


class OutOfTime(Exception):
    """The time is up; the message is a sentence that says during what."""


class OutOfPivots(Exception):
    """As many pivots have been made as may be."""


class Clock:
    """A time limit, and a limit on pivots.

    Parameters
    ----------
    seconds : float
        Time from now on.
    pivots : float
        Largest number of pivots.
    """

    def __init__(self, seconds: float, pivots: float = inf) -> None:
        self.seconds, self.pivots = seconds, pivots
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(self._end - time.monotonic(), 0.0)

    def ask(self, work: str, ahead: float = 0.0) -> None:
        """Raise OutOfTime where the time is up.

        Parameters
        ----------
        work : str
            What is about to be done, as in "the exact pivots".
        ahead : float
            Seconds that it is expected to take without another look.
        """
        if self.left <= ahead:
            expected = f" (about {ahead:.2g} s)" if ahead > 0 else ""
            raise OutOfTime(
                f"the time limit of {self.seconds:.3g} s does not suffice for {work}{expected}"
            )

    def ask_pivot(self, done: int) -> None:
        """Raise OutOfPivots or OutOfTime where no pivot may follow those that are done."""
        if done >= self.pivots:
            raise OutOfPivots(f"{done:,} pivots have been made, which is the limit")
        self.ask("the next exact pivot")
