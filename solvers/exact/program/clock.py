"""The time limit that every loop of exact arithmetic asks."""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The time is up; the message is a sentence that says during what."""


class Clock:
    """A time limit.

    Parameters
    ----------
    seconds : from now on.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left, at least 0."""
        return max(self._end - time.monotonic(), 0.0)

    def ask(self, work: str, ahead: float = 0.0) -> None:
        """Raise OutOfTime where the time is up.

        Parameters
        ----------
        work : what is about to be done, as in "the exact pivots".  ahead : seconds that it is expected to take without another look.
        """
        if self.left <= ahead:
            expected = f" (about {ahead:.2g} s)" if ahead > 0 else ""
            raise OutOfTime(f"the time limit of {self.seconds:.3g} s does not suffice for {work}{expected}")
