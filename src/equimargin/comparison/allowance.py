"""Time limits of answers, and the reasons of answers that exceed them or are not begun."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

LEAST_ALLOWANCE = 2.0
"""CPU seconds that every backend may take, however fast others were."""
ALLOWED_RATIO = 20.0
"""Multiple of the slowest agreeing answer at the proof that a later answer may take."""
TOGETHER = 7.0
"""CPU seconds of all answers of a comparison, compiling excluded, while no verdict waits.

With the start of Python, libraries and kernels that are loaded, it is less than ten
seconds: further answers repeat what the answers so far have shown.
"""
LAST_ALLOWANCE = 0.5
"""Minimum CPU seconds of an answer that is begun: less would stop most of them early."""
COMPILED_AT_ONCE = 3.0
"""Maximum seconds of compiling in a comparison; kernels of a pending verdict are exempt."""
SHORTEST_LIMIT = 0.01
"""Minimum time limit of an answer, in seconds, at the end of the total time."""
STOPPED = "stopped"
"""Opening of the reason of an answer stopped otherwise than by the time limit of one answer."""
OVER = f"the family agrees, and its share of {TOGETHER:g} s of CPU time for further answers is over"
"""Reason why answers are stopped or not begun once no verdict waits for them."""
STOPPED_TOGETHER = f"{STOPPED}: {OVER} (--patient waits)"
"""Reason of an answer that exhausts the share of its family."""
NOT_BEGUN = f"{OVER}; --patient runs them"
"""Reason of the answers that are not begun then."""
NOT_COMPILED = "its code is not compiled yet; type `equimargin warm-up`, once, and compare again"
"""Reason for a solver whose code would take longer than COMPILED_AT_ONCE.

It says code, because a kernel would be taken for one of the problem.
"""
PROCESS_ENDED = "the process that ran it ended: it crashed, was killed, or quit by itself"
"""Reason of an answer whose process ended, also when it ran alone."""
OUT_OF_TIME = "stopped as the total time was over"
"""Reason of an answer that is stopped at the end of the total time."""


@dataclass(frozen=True)
class Allowance:
    """Time limits of one answer.

    Attributes
    ----------
    seconds : float
        Seconds of solving.
    reason : str
        Reason of an answer that is stopped then; empty for the usual word on a time limit.
    left : float
        Seconds in which declaring and compiling count, too.
    late : str
        Reason of an answer that is stopped at their end.
    compiling : float
        Seconds in which kernels of a specialised solver are compiled.
    """

    seconds: float
    reason: str = ""
    left: float = inf
    late: str = OUT_OF_TIME
    compiling: float = inf

    def within(self, left: float, late: str = OUT_OF_TIME) -> Allowance:
        """Return the allowance when a number of seconds is left in all.

        The shortest of the times ends an answer, with its own reason.

        Parameters
        ----------
        left : float
            Seconds left.
        late : str
            Reason of an answer that is stopped then.
        """
        if left >= self.left:
            return self
        if left >= self.seconds:
            return replace(self, left=left, late=late)
        return Allowance(max(left, SHORTEST_LIMIT), late, left, late, self.compiling)
