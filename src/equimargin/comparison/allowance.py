"""Time limits of answers, and the messages for answers that exceed them or are skipped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

LEAST_ALLOWANCE = 2.0
"""Minimum time limit of a backend in CPU seconds, however fast others were."""
ALLOWED_RATIO = 20.0
"""Time limit of an answer after the proof, as a multiple of the slowest agreeing one."""
TOGETHER = 7.0
"""CPU budget, in seconds without compilation, of all answers that no verdict needs.

With the start of Python, its libraries and compiled functions a comparison then takes
less than ten seconds. Further answers only repeat earlier results.
"""
LAST_ALLOWANCE = 0.5
"""Minimum time limit of a started answer in CPU seconds; less would stop most of them."""
COMPILED_AT_ONCE = 3.0
"""Maximum compilation time of a comparison in seconds; pending verdicts are exempt."""
SHORTEST_LIMIT = 0.01
"""Minimum time limit of an answer, in seconds, at the end of the total time."""
STOPPED = "stopped"
"""First word of the reason of an answer stopped by any limit except its own time limit."""
OVER = f"the family agrees, and its share of {TOGETHER:g} s of CPU time for further answers is over"
"""Reason for answers that are stopped or skipped because no verdict needs them."""
STOPPED_TOGETHER = f"{STOPPED}: {OVER} (--patient waits)"
"""Reason for an answer that exhausts the budget of its family."""
NOT_BEGUN = f"{OVER}; --patient runs them"
"""Reason for the answers that are skipped because the budget is exhausted."""
NOT_COMPILED = "its code is not compiled yet; type `equimargin warm-up`, once, and compare again"
"""Reason for a solver whose compilation would take longer than COMPILED_AT_ONCE.

The text says "code", as "kernel" would be taken for the kernel of the problem.
"""
PROCESS_ENDED = "the process that ran it ended: it crashed, was killed, or quit by itself"
"""Reason for an answer whose process ended, also when it ran alone."""
OUT_OF_TIME = "stopped as the total time was over"
"""Reason for an answer that is stopped at the end of the total time."""


@dataclass(frozen=True)
class Allowance:
    """Time limits of one answer.

    Parameters
    ----------
    seconds : float
        Time limit of the solver in seconds.
    reason : str, default ""
        Message if `seconds` stops the answer; empty for the default message.
    left : float, default inf
        Time limit in seconds that includes declaration and compilation.
    late : str, default OUT_OF_TIME
        Message if `left` stops the answer.
    compiling : float, default inf
        Time limit in seconds for compiling functions of a specialised solver.
    """

    seconds: float
    reason: str = ""
    left: float = inf
    late: str = OUT_OF_TIME
    compiling: float = inf

    def within(self, left: float, late: str = OUT_OF_TIME) -> Allowance:
        """Return the allowance capped by a remaining time.

        The shortest limit stops an answer, with its own message.

        Parameters
        ----------
        left : float
            Remaining seconds.
        late : str, default OUT_OF_TIME
            Message if the remaining time stops the answer.
        """
        if left >= self.left:
            return self
        if left >= self.seconds:
            return replace(self, left=left, late=late)
        return Allowance(max(left, SHORTEST_LIMIT), late, left, late, self.compiling)
