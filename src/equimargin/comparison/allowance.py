"""How long an answer may take, and what is said of one that takes longer or is not begun."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

LEAST_ALLOWANCE = 2.0
"""CPU seconds that every backend may take, however fast others were."""
ALLOWED_RATIO = 20.0
"""Multiple of the slowest answer that agreed when the optimum was proven: a backend may take as long as that."""
TOGETHER = 7.0
"""CPU seconds that all answers of a comparison may take, beside kernels that are compiled, as long as no verdict waits for any of them.
With the start of Python, libraries and kernels that are loaded, it is less than ten seconds: the
answers so far have said what there is to say, and nobody waits longer for others who say it, too.
"""
LAST_ALLOWANCE = 0.5
"""CPU seconds that an answer may take, once it is begun, however little its family has left: less would stop most of them for nothing."""
COMPILED_AT_ONCE = 3.0
"""Maximum compilation time of a comparison, in seconds; kernels of a pending verdict are exempt."""
SHORTEST_LIMIT = 0.01
"""Seconds: the shortest limit that an answer is asked for with, where hardly any time is left in all."""
STOPPED = "stopped"
"""Opening of the reason of an answer stopped otherwise than by the time limit of one answer."""
OVER = f"the family agrees, and its share of {TOGETHER:g} s of CPU time for further answers is over"
"""Reason why answers are stopped or not begun once no verdict waits for them."""
STOPPED_TOGETHER = f"{STOPPED}: {OVER} (--patient waits)"
"""What is said of an answer that takes what its family has left."""
NOT_BEGUN = f"{OVER}; --patient runs them"
"""What is said of the answers that are not begun then."""
NOT_COMPILED = "its code is not compiled yet; type `equimargin warm-up`, once, and compare again"
"""Reason for a solver whose code would take longer than COMPILED_AT_ONCE.

It says code, because a kernel would be taken for one of the problem.
"""
OUT_OF_TIME = "stopped as the total time was over"
"""What is said of the answer that was at work then."""


@dataclass(frozen=True)
class Allowance:
    """How long an answer may take.

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
        """Return the allowance when so many seconds are left in all: the shortest of the times ends an answer, in its own words."""
        if left >= self.left:
            return self
        if left >= self.seconds:
            return replace(self, left=left, late=late)
        return Allowance(max(left, SHORTEST_LIMIT), late, left, late, self.compiling)
