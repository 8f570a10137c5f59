"""Load of the machine: times of a loaded machine are not published.

A fit computes in one thread that is bound to one processor. Wall time beyond its CPU
seconds is time in which it waited for its processor, which ran other work. The measure
is the share of waiting in the wall time of all fits.
"""

from __future__ import annotations

LIMIT_SHARE = 0.05
"""Largest share of waiting in the time of the fits; the system itself needs some."""
LEAST_SECONDS = 0.1
"""Waiting in wall seconds below which a few fits give no evidence of load."""


def share(cpu: float, wall: float) -> float:
    """Return the share of waiting in the wall time; 0 if the waiting is too short."""
    return (wall - cpu) / wall if wall - cpu > LEAST_SECONDS else 0.0


def refuse_load(cpu: float, wall: float, do: str) -> None:
    """End the program if the share of waiting exceeds `LIMIT_SHARE`.

    Parameters
    ----------
    cpu, wall : float
        Seconds of all fits.
    do : str
        Advice that ends the message.
    """
    if (taken := share(cpu, wall)) > LIMIT_SHARE:
        words = (
            f"fits waited for their processors {taken:.0%} of their time, not at most "
            f"{LIMIT_SHARE:.0%}"
        )
        raise SystemExit(f"the machine is loaded: {words}; its times are not published: {do}")
