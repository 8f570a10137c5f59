"""The load by others: times of a loaded machine are not published.

A fit computes in one thread that is bound to one processor. What the clock on the wall
says beyond its CPU seconds is time in which it waited for its processor, because others
had it. The measure is the share of the wall time of all fits that went by in waiting.
"""

from __future__ import annotations

LIMIT_SHARE = 0.05
"""Share of the time of the fits that others may take; the system itself needs some."""
LEAST_SECONDS = 0.1
"""Waiting on the wall below which a few fits say nothing of the machine."""


def share(cpu: float, wall: float) -> float:
    """Return the share of the wall time that was waited; 0 where that is too little."""
    return (wall - cpu) / wall if wall - cpu > LEAST_SECONDS else 0.0


def refuse_load(cpu: float, wall: float, do: str) -> None:
    """End the program where others took more than `LIMIT_SHARE`.

    Parameters
    ----------
    cpu, wall : float
        Seconds of all fits.
    do : str
        The advice that ends the message.
    """
    if (taken := share(cpu, wall)) > LIMIT_SHARE:
        words = (
            f"fits waited for their processors {taken:.0%} of their time, not at most "
            f"{LIMIT_SHARE:.0%}"
        )
        raise SystemExit(f"the machine is loaded: {words}; its times are not published: {do}")
